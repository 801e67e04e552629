"""`if x > m: m = int(x)` in parallel loops: what is kept of the best of all when that is not the very value that was compared. Accepted where the pieces of a loop give what the plain loop gives, else an error
that says what to write. And the points of `pndindex`, steps of zero, names that are not Python's, chunk sizes inside of loops."""

import linecache
import math

import numpy as np
import pytest

tierup = pytest.importorskip("tierup")
pytestmark = pytest.mark.filterwarnings("ignore")


def made(text, **space):
    name = f"<kept {hash(text)} {sorted(space)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    space = {"np": np, "math": math, "prange": tierup.prange, **space}
    exec(compile(text, name, "exec"), space)
    return space["f"]


def outcome(f, *args):
    try:
        r = f(*args)
    except (ValueError, OverflowError, IndexError) as e:
        return type(e).__name__, str(e)
    return [float(x) if isinstance(x, (float, np.floating, int, np.integer)) else x for x in (r if isinstance(r, tuple) else (r,))]


def everywhere(f):
    """What a function does at any number of threads and with any pieces."""
    compiled = tierup.njit(parallel=True)(f)

    def check(*args):
        expected = outcome(f, *args)
        most, before = tierup.config.num_threads, tierup.get_num_threads()
        try:
            for threads in sorted({min(t, most) for t in (1, 2, 8)}):
                tierup.set_num_threads(threads)
                for chunk in (0, 1, 7):
                    with tierup.parallel_chunksize(chunk):
                        assert outcome(compiled, *args) == expected, (args, threads, chunk)
        finally:
            tierup.set_num_threads(before)
    return check


def values(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.choice([0, 1, 5, 60, 300]))
    x = rng.normal(size=n) * 10 ** rng.integers(0, 3)
    x[rng.random(n) < 0.1] = np.nan
    x[rng.random(n) < 0.2] = rng.integers(-3, 3)
    if seed % 4 == 3 and n:
        x[rng.integers(n)] = rng.choice([np.inf, -np.inf, 1e300])
    return x


LOOP = "def f(a):\n    m = START\n    for i in prange(len(a)):\n        x = a[i]\n        STEP\n    return m\n"


@pytest.mark.parametrize("op", [">", ">=", "<", "<="])
@pytest.mark.parametrize("start, kept", [
    ("0", "int(x)"), ("-2", "math.floor(x)"), ("3", "math.ceil(x)"), ("0", "math.trunc(x)"), ("0", "round(x)"), ("int(2.7)", "int(x)"), ("-np.inf", "np.floor(x)"), ("np.inf", "np.ceil(x)"),
    ("2.0", "np.rint(x)"), ("0.5", "np.float32(x)"), ("-np.inf", "np.float32(x)"), ("0", "int(round(x))"), ("1", "int(np.float32(x))"), ("0.1", "float(x)"), ("0", "np.float64(x)"), ("len(a)", "int(x)"),
])
def test_conversions_that_keep_order(op, start, kept):
    for step in (f"if x {op} m: m = {kept}", f"if m {op} x: m = {kept}", f"m = {kept} if x {op} m else m", f"y = {kept} if x {op} m else m\n        m = y"):
        check = everywhere(made(LOOP.replace("START", start).replace("STEP", step)))
        for seed in range(8):
            check(values(seed))


@pytest.mark.parametrize("kept", ["int(x)", "np.int64(x)", "float(x)", "np.float64(x)", "round(x)", "x"])
def test_conversions_of_integers(kept):
    for start, step in (("0", f"if x > m: m = {kept}"), ("2.5", f"if x < m: m = {kept}"), ("0", f"if x >= m: m = {kept}")):
        check = everywhere(made(LOOP.replace("START", start).replace("STEP", step)))
        for seed in range(4):
            check(np.random.default_rng(seed).integers(-100, 100, 200).astype((np.int64, np.int8, np.int32, np.int16)[seed]))


def test_what_is_not_less_and_what_may_be_none():
    for start, step in (("0", "if not x <= m: m = int(x)"), ("None", "if m is None or x > m: m = int(x)"), ("0.5", "if not x >= m: m = np.float32(x)")):
        check = everywhere(made(LOOP.replace("START", start).replace("STEP", step)))
        for seed in range(12):
            x = values(seed)
            check(x if seed % 2 else x[np.isfinite(x)])


@pytest.mark.parametrize("start, step, help", [
    ("0.5", "if x > m: m = int(x)", True),             # 0.7 > 0.5 gives 0, which is less
    ("0.1", "if x > m: m = np.float32(x)", True),      # 0.1 is no float32
    ("a[0]", "if x > m: m = math.floor(x)", True),
    ("0", "if x > m: m = np.int64(x)", True),          # what does not fit is something else
    ("0", "if x > m: m = int(-x)", False),
    ("0", "if x > m: m = g(x)", True),
    ("0", "if x > m: m = x + 1", False),
])
def test_what_is_not_ordered_alike_is_refused(start, step, help):
    f = made(LOOP.replace("START", start).replace("STEP", step), g=tierup.njit(lambda x: 1.0 / x))
    with pytest.raises(tierup.TypingError, match="parallel-race") as e:
        tierup.njit(parallel=True)(f)(np.arange(5.0))
    assert not help or "y = int(x); if y > m: m = y" in str(e.value)


def test_what_belongs_to_a_rounded_best():
    """Each value that rounds to the same takes the place of the one before it; which one is last depends on the order."""
    text = "def f(a):\n    m, k = 0, -1\n    for i in prange(len(a)):\n        if a[i] > m: m, k = int(a[i]), i\n    return m, k\n"
    with pytest.raises(tierup.TypingError, match="y = int"):
        tierup.njit(parallel=True)(made(text))(np.arange(5.0))
    check = everywhere(made(text))
    for seed in range(4):
        check(np.random.default_rng(seed).integers(-9, 99, 300))
    check = everywhere(made(text.replace("if a[i] > m: m, k = int(a[i]), i", "y = int(a[i])\n        if y > m: m, k = y, i")))
    for seed in range(4):
        check(np.random.default_rng(seed).normal(size=300) * 9)


def test_functions_of_the_program_that_are_called_max():
    check = everywhere(made("def f(a):\n    m = 0.0\n    for i in prange(len(a)):\n        m = max(m, a[i])\n    return m\n"))
    check(np.array([1.0, 5.0, 3.0]))
    text = "def f(a):\n    m = 0.0\n    for i in prange(len(a)):\n        m = NAME(m, a[i])\n    return m\n"

    @tierup.njit
    def less(x, y):
        return x - y

    class Own:
        maximum = less
    for name, space in (("max", {"max": less}), ("min", {"min": less}), ("own.maximum", {"own": Own})):
        with pytest.raises(tierup.TypingError, match="parallel-race"):
            tierup.njit(parallel=True)(made(text.replace("NAME", name), **space))(np.arange(5.0))
    everywhere(made("def f(a):\n    import numpy as xp\n    m = 0.0\n    for i in prange(len(a)):\n        m = xp.maximum(m, a[i])\n    return m\n"))(np.array([1.0, 5.0, 3.0]))


@pytest.mark.parametrize("counted", ["range", "prange"])
@pytest.mark.parametrize("parallel", [False, True])
def test_a_step_of_zero_is_an_error_of_the_run(counted, parallel):
    f = made(f"def f(n):\n    s = 0\n    try:\n        for i in {counted}(0, n, 0): s += i\n    except ValueError:\n        s = -1\n    if n > 5:\n        for i in {counted}(n, 0, 0): s += 1\n    return s\n")
    compiled = tierup.njit(parallel=parallel)(f)
    assert compiled(3) == f(3) == -1
    with pytest.raises(ValueError, match=r"arg 3 must not be zero"):
        compiled(6)


def test_points_of_a_shape():
    text = "def f(a):\n    out = np.zeros(a.shape)\n    s = 0.0\n    for p in pndindex(SHAPE):\n        out[p] = a[p] * 2\n        s += a[p]\n    return out.sum(), s\n"
    for shape, arrays in (("a.shape", [np.arange(24.0).reshape(2, 3, 4), np.arange(6.0), np.zeros((0, 3)), np.arange(12.0).reshape(4, 3)[:, ::2]]), ("len(a)", [np.arange(5.0)]),
                          ("len(a), 1", [np.arange(5.0).reshape(5, 1)]), ("(a.shape[0], a.shape[1])", [np.arange(6.0).reshape(3, 2)])):
        f = made(text.replace("SHAPE", shape), pndindex=tierup.pndindex)
        for a in arrays:
            everywhere(f)(a)
            assert outcome(tierup.njit(f), a) == outcome(f, a)
            assert outcome(tierup.njit(parallel={"prange": False})(f), a) == outcome(f, a)
    compiled = tierup.njit(parallel=True)(made("def f(n):\n    c = 0\n    for i, j in pndindex((n, 3)):\n        for k in tierup.pndindex(2):\n            c += i * j + k[0]\n    return c\n", pndindex=tierup.pndindex, tierup=tierup))
    assert compiled(40) == sum(i * j + k for i in range(40) for j in range(3) for k in range(2))
    assert [loop["parallel"] for loop in compiled.parallel_report().loops] == [True, True]
    with pytest.raises(ValueError, match="negative dimensions"):
        compiled(-1)
    f = made("def f():\n    c = 0\n    for p in pndindex(()): c += 1\n    return c\n", pndindex=tierup.pndindex)
    assert tierup.njit(parallel=True)(f)() == f() == 1


def test_loops_inside_have_pieces_of_the_usual_size():
    f = made("def f(n):\n    inside = np.full(n, -1)\n    tierup.set_parallel_chunksize(3)\n    for i in prange(n): inside[i] = tierup.get_parallel_chunksize()\n    after = tierup.get_parallel_chunksize()\n"
             "    tierup.set_parallel_chunksize(0)\n    return inside, after\n", tierup=tierup)
    inside, after = tierup.njit(parallel=True)(f)(50)
    assert (inside == 0).all() and after == 3
    g = made("def f(n):\n    for i in prange(n):\n        if i == 7: raise ValueError('seven')\n", tierup=tierup)
    with tierup.parallel_chunksize(4):
        with pytest.raises(ValueError, match="seven"):
            tierup.njit(parallel=True)(g)(50)
        assert tierup.get_parallel_chunksize() == 4
