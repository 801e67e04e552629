"""`a[mask] = x` against NumPy: masks as arrays and as expressions, targets that share memory with what is read, views, stretched operands, NaN, nothing chosen, nothing there, wrong shapes;
alone and with several threads, in every tier."""

import pytest

pytest.importorskip("tierup")
from test_parallel import run  # noqa: E402

PROGRAM = """
    import itertools
    import warnings
    warnings.simplefilter("ignore")

    def given(a, b, m, x, y): a[m] = x
    def not_given(a, b, m, x, y): a[~m] = x
    def own(a, b, m, x, y): a[a > x] = y
    def own_twice(a, b, m, x, y):
        a[a > x] = y
        a[(a <= y) & (a != x)] = x
    def both(a, b, m, x, y): a[(a > x) & (b < y)] = y
    def either(a, b, m, x, y): a[(b >= x) | m] = x
    def other(a, b, m, x, y): a[b > x] = y
    def clear(a, b, m, x, y): a[np.isnan(a)] = 0
    def computed(a, b, m, x, y): a[a * 2 - b > b.mean()] = x + y
    def kept(a, b, m, x, y):
        k = a > b
        a[k] = x
        b[k] = y
        return k
    def copied(a, b, m, x, y): a[m] = b[m]
    def copied_where(a, b, m, x, y): a[a < b] = b[a < b]
    def through(a, b, m, x, y):
        k = b > x
        a[k] = b[k] * 2 + a[k] - y
    def added(a, b, m, x, y): a[m] += 1
    def added_other(a, b, m, x, y): a[m] -= b[m]
    def scaled(a, b, m, x, y): a[a > b] *= 3
    def limited(a, b, m, x, y):
        a[a < x] = x
        a[a > y] = y
        return a.sum()
    def sum_after(a, b, m, x, y):
        a[m] = x
        return (a * b).sum(), a[m].sum(), a[~m].size
    def read_after(a, b, m, x, y):
        before = a[m]
        a[m] = x
        b[m] = before
        return before
    def changed_between(a, b, m, x, y):
        v = b[m] + 1
        b[m] = y
        a[m] = v
    def mask_changed(a, b, m, x, y):
        v = b[m]
        n = m.sum()
        m[:] = True
        m[:1] = n > 3
        a[m] = x
        return v
    def out_of_place(a, b, m, x, y):
        np.add(a, b, out=a)
        np.multiply(a, b, out=b, where=m)
        a[...] = a * b - a
        a[1:] = a[1:] - b[1:] * a[1:]
        a[1:] += a[:-1]

    FORMS = [f for f in list(globals().values()) if getattr(f, "__code__", None) and f.__code__.co_varnames[:5] == ("a", "b", "m", "x", "y")]

    def numbers(rng, n, dtype):
        if dtype == "b": return rng.random(n) > 0.5
        v = rng.integers(-5, 6, n)
        if dtype in "fd":
            v = v / 2
            if n: v[rng.integers(0, n, n // 5 + 1)] = np.nan
        return v.astype(dtype)

    def views(base, n, how):
        # Targets and what is read, as views of one base of numbers: apart, shifted by one, the same, reversed, every second, of two dimensions.
        if how == "apart": return base[:n], base[n:2 * n]
        if how == "shifted": return base[:n], base[1:n + 1]
        if how == "same": return base[:n], base[:n]
        if how == "reversed": return base[:n], base[:n][::-1]
        if how == "stepped": return base[:2 * n:2], base[1:2 * n + 1:2]
        k = max(1, round(n ** 0.5))
        square = base[:k * k].reshape(k, k), base[n:n + k * k].reshape(k, k)
        if how == "square": return square
        if how == "row": return square[0], square[0][0]
        if how == "transposed": return square[0], square[0].T
        if how == "fortran": return np.asfortranarray(square[0]), np.asfortranarray(square[1])

    def arguments(seed, n, dtype, other, how, wrong):
        rng = np.random.default_rng(seed)
        base = numbers(rng, 2 * n + 2, dtype)
        a, b = views(base, n, how)
        if other != dtype: b = numbers(rng, b.size, other).reshape(b.shape)
        shape = a.shape
        if wrong: shape = (shape[0] + 1,) + shape[1:]
        m = rng.random(shape) > rng.choice([-1, 0.5, 0.9, 2])
        x, y = (1, 2) if dtype in "bliq" else (0.5, 1.5)
        return base, (a, b, m, x, y)

    def outcome(f, case):
        base, args = arguments(*case)
        try:
            got = f(*args)
        except Exception as e:
            got = type(e).__name__, str(e) if isinstance(e, IndexError) else None
            return got, None
        got = got if isinstance(got, tuple) else (got,)
        shown = [v.tobytes() if isinstance(v, np.ndarray) else round(float(v), 6) for v in got if v is not None]
        return shown, [v.tobytes() for v in (base, *args[:3])]

    count = bad = 0
    for f in FORMS:
        g = njit(parallel=PARALLEL)(f)
        for how, (dtype, other), n in itertools.product(("apart", "shifted", "same", "reversed", "stepped", "square", "row", "transposed", "fortran"), TYPES, SIZES):
            for wrong in (False, True) if n == 40 else (False,):
                if n < 2 and how in ("row", "transposed"): continue
                case = count, n, dtype, other, how, wrong
                count += 1
                want, got = outcome(f, case), outcome(g, case)
                # What the types alone tell is said when it is compiled; texts of ValueErrors are tested elsewhere.
                if want[1] is None and got[1] is None and (got[0][0] == "TypingError" or want[0][0] == got[0][0] == "ValueError"): continue
                if repr(want) != repr(got):
                    bad += 1
                    if bad < 20: print(f.__name__, case, repr(want)[:300], repr(got)[:300])
    print(count > 150, bad)
"""


@pytest.mark.parametrize("level, parallel", [("0", False), ("0", True), ("1", True)])
def test_assigning_through_masks_is_as_in_numpy(level, parallel):
    for types, sizes in (([("d", "d"), ("l", "l")], (0, 1, 40)), ([("f", "d"), ("i", "d")], (40,)), ([("d", "d")], (20000,))):
        text = PROGRAM.replace("PARALLEL", str(parallel)).replace("TYPES", repr(types)).replace("SIZES", repr(sizes))
        assert run(text, 3, TIERUP_TIER=level).split()[-2:] == ["True", "0"]


def test_what_masks_choose_on_both_sides_is_one_loop():
    text = """
    def both(a, b, m): a[m] = b[m]
    def more(a, b, m): a[m] += b[m] * 2
    def computed(a, b, m):
        k = a > b
        a[k] = b[k] + 1
    # Here something else would see the difference.
    def kept(a, b, m):
        v = b[m]
        a[m] = v
        return v
    def between(a, b, m):
        v = b[m]
        b[0] = 7.0
        a[m] = v
    def other(a, b, m): a[m] = b[~m]
    def slow(a, b, m): a[m] = np.exp(b[m])
    for f in (both, more, computed, kept, between, other, slow):
        g = njit(f)
        a, b = np.arange(6.0), np.array([3.0, 1, 4, 1, 5, 9])
        m = np.array([True, False] * 3)
        c, d = a.copy(), b.copy()
        g(a, b, m); f(c, d, m)
        print(f.__name__, "getitem, setitem" in str(g.explain()), np.array_equal(a, c) and np.array_equal(b, d))
    """
    assert run(text).split() == "both True True more True True computed True True kept False True between False True other False True slow False True".split()
