"""`stencil`: a slow stencil in plain Python is the oracle."""

import itertools
import pickle
import re

import numpy as np
import pytest

tierup = pytest.importorskip("tierup")
from harness.build import needs_llvm
from harness.tiers import on_tier  # noqa: F401
from tierup import njit, stencil

pytestmark = pytest.mark.isolated


class Near:
    def __init__(self, a, at):
        self.a, self.at = a, at

    def __getitem__(self, k):
        k = k if isinstance(k, tuple) else (k,)
        moved = tuple(slice(j.start + i, j.stop + i) if isinstance(j, slice) else j + i for i, j in zip(self.at, k))
        return self.a[moved if len(moved) > 1 else moved[0]]


def slow(s, *args, out=None):
    """What a stencil is, from its parts."""
    kernel, reach = s.py_func, s.neighborhood
    standard = s.options.get("standard_indexing", ())
    names = kernel.__code__.co_varnames
    near = lambda at: [Near(x, at) if isinstance(x, np.ndarray) and n not in standard else x for x, n in zip(args, names)]
    places = list(itertools.product(*(range(max(0, -lo), n - max(0, hi)) for (lo, hi), n in zip(reach, args[0].shape))))
    values = [kernel(*near(at)) for at in places]
    if out is None:
        out = np.full(args[0].shape, s.options.get("cval", 0), np.result_type(*values) if values else float)
    elif "cval" in s.options:
        out[...] = s.options["cval"]
    for at, v in zip(places, values):
        out[at] = v
    return out


@stencil
def five(a):
    return 0.25 * (a[0, 1] + a[1, 0] + a[0, -1] + a[-1, 0])


@stencil(cval=-1.5)
def three(a):
    return a[-1] + 2 * a[0] - a[1]


@stencil(neighborhood=((-3, 1),), cval=7)
def window(a, w):
    s = 0.0
    for i in range(-3, 2):
        s += a[i] * w
    return s


@stencil(standard_indexing=("w",))
def weighted(a, w):
    return a[-1] * w[0] + a[0] * w[1] + a[2] * w[2]


@stencil
def two_arrays(a, b, k):
    if b[0, 0] > k:
        return a[0, 1] - a[0, 0]
    return a[-1, 0] + 0.5


@stencil
def cube(a):
    return a[0, 0, 0] + a[-1, 0, 1] * a[0, 1, 0]


@stencil
def four(a):
    return a[0, 0, 0, -1] - a[0, 0, 0, 1] + a[-1, 0, 0, 0] + a[0, 1, 0, 0]


@stencil
def ahead(a):
    return a[1] + a[2]


@stencil(neighborhood=((-1, 1), (0, 1)))
def sliced(a):
    return a[-1:2, 0:2].sum()


def arrays(*shape):
    a = np.random.default_rng(3).integers(0, 50, shape)
    for x in (a, a.astype(np.float64), a.astype(np.float32), np.asfortranarray(a.astype(float)), a.astype(float)[::-1], np.repeat(a, 2, axis=-1)[..., ::2].astype(float)):
        yield x


CASES = [(five, (6, 7), ()), (three, (9,), ()), (window, (9,), (2.0,)), (weighted, (8,), (np.array([1.0, 2.0, 3.0]),)), (cube, (4, 3, 5), ()), (four, (3, 3, 2, 5), ()), (ahead, (6,), ()), (sliced, (5, 6), ())]


@pytest.mark.parametrize("s, shape, rest", CASES, ids=lambda c: getattr(c, "__name__", ""))
def test_it_is_the_slow_one(tier, s, shape, rest):
    @njit
    def compiled(a, rest):
        return s(a, *rest)

    @njit
    def compiled_into(a, rest, out):
        return s(a, *rest, out=out)
    for a in arrays(*shape):
        want = slow(s, a, *rest)
        got = s(a, *rest)
        np.testing.assert_allclose(got, want, rtol=1e-6)
        assert got.shape == want.shape
        np.testing.assert_array_equal(compiled(a, rest), got, strict=True)
        for out in (np.full(shape, 99.0), np.full(shape, 99.0).T.copy().T):
            want = slow(s, a, *rest, out=out.copy())
            mine = out.copy()
            assert s(a, *rest, out=mine) is mine
            np.testing.assert_allclose(mine, want, rtol=1e-6)
            np.testing.assert_array_equal(compiled_into(a, rest, out), mine)


def test_several_arrays_of_different_types(tier):
    for a in arrays(5, 6):
        for b in (np.arange(30).reshape(5, 6), np.arange(42.0).reshape(6, 7) / 2, np.arange(30).reshape(5, 6) > 14):
            for k in (3, 0.5):
                np.testing.assert_allclose(two_arrays(a, b, k), slow(two_arrays, a, b, k))


def test_small_arrays_are_all_border(tier):
    for shape in ((0, 0), (1, 1), (2, 5), (5, 2), (3, 3)):
        a = np.ones(shape)
        want = np.zeros(shape)
        want[1:-1, 1:-1] = 1
        np.testing.assert_array_equal(five(a), want)
    assert three(np.ones(1)).tolist() == [-1.5] and window(np.ones(2), 1.0).tolist() == [7, 7]


def test_types_of_results_follow_the_kernel(tier):
    assert stencil(lambda a: a[0] > a[-1])(np.arange(4)).dtype == np.bool_
    assert stencil(lambda a: a[0] + a[-1])(np.arange(4)).dtype == np.int64
    assert stencil(lambda a: a[0] + a[-1])(np.arange(4, dtype=np.float32)).dtype == np.float32
    assert stencil(cval=2j)(lambda a: a[-1] * 1j)(np.arange(4)).tolist() == [2j, 0j, 1j, 2j]


def test_numbers_around_the_border(tier):
    for cval in (np.nan, np.inf, -np.inf, 3, np.float32(2.5), True):
        s = stencil(cval=cval)(lambda a: a[-1] + a[1] * 0.5)
        np.testing.assert_array_equal(s(np.arange(5.0)), slow(s, np.arange(5.0)))


def test_a_complex_number_around_real_results_is_refused(tier):
    s = stencil(cval=1j)(lambda a: a[-1] + a[1])
    compiled, into = njit(lambda a: s(a)), njit(lambda a, y: s(a, out=y))
    for call in (lambda: s(np.arange(4.0)), lambda: compiled(np.arange(4)), lambda: s(np.arange(4.0), out=np.ones(4)), lambda: into(np.arange(4.0), np.ones(4))):
        with pytest.raises(ValueError, match="cval type does not match stencil return type"):
            call()
    assert s(np.arange(4) * 1j).tolist() == [1j, 2j, 4j, 1j]
    y = np.zeros(4, complex)
    assert s(np.arange(4.0), out=y) is y and y.tolist() == [1j, 2, 4, 1j]


def test_kernels_capture_and_call(tier):
    @njit
    def twice(x):
        return 2 * x

    @njit(parallel=True)
    def more(x):
        return x + 1
    offset, table = 2, (1.0, 4.0)

    def kernel(a, k):
        step = 1
        if a[0] > k:
            return twice(a[-step]) + table[1]
        return more(a[step]) - offset
    s = stencil(kernel)
    a = np.arange(9.0)[::-1]
    want = slow(s, a, 3)
    assert s.neighborhood == ((-1, 1),)
    for call in (s, njit(lambda a, k: s(a, k)), njit(parallel=True)(lambda a, k: s(a, k))):
        np.testing.assert_array_equal(call(a, 3), want)


def test_kernels_know_how_large_their_arrays_are(tier):
    a = np.arange(6.0).reshape(2, 3)
    assert stencil(lambda a: a[0, 0] * a.shape[1] + len(a))(a).tolist() == (a * 3 + 2).tolist()
    assert stencil(lambda a: a[0] + len(a))(a[0]).tolist() == [3, 4, 5]


def test_kernels_have_their_whole_arrays_but_for_indices(tier):
    """As in Numba: an index counts from the element, everything else is done with the array."""
    a = np.arange(12.0).reshape(3, 4)
    @njit
    def corner(a):
        return a[0, 0] + a[-1, -1]
    s = stencil(lambda a: a[0, 1] + a.size + 10 * a.ndim + a.T[1, 2] + np.sum(a) + (100 if a.dtype == np.float64 else 0) + corner(a))
    want = np.zeros((3, 4))
    want[:, :3] = a[:, 1:] + 12 + 20 + a.T[1, 2] + a.sum() + 100 + 11
    for call in (s, njit(lambda a: s(a)), njit(parallel=True)(lambda a: s(a))):
        np.testing.assert_array_equal(call(a), want)


def test_keywords(tier):
    @stencil
    def scaled(a, w):
        return a[-1] * w
    a, want = np.arange(4), [0, 0, 3, 6]
    assert scaled(a, w=3).tolist() == scaled(w=3, a=a).tolist() == njit(lambda a: scaled(w=3, a=a))(a).tolist() == want
    y = np.ones(4)
    assert scaled(a=a, out=y, w=3) is y and y.tolist() == [1, 0, 3, 6]
    for wrong, text in ((lambda: scaled(a), "scaled.. missing 1 required positional argument: 'w'"), (lambda: scaled(a, 3, y), "takes 2 positional arguments but 3 were given"),
                        (lambda: scaled(a, 3, w=3), "multiple values for argument 'w'"), (lambda: scaled(a, v=3), "unexpected keyword argument 'v'")):
        with pytest.raises(TypeError, match=text):
            wrong()


# -- made in compiled code -----------------------------------------------------------------------------------------------------------------------


def forward(a):
    return a[1] - a[0]


@pytest.mark.parametrize("parallel", [False, True])
def test_compiled_code_makes_stencils(tier, parallel):
    jit = njit(parallel=parallel)

    @jit
    def of_lambda(a):
        out = np.full(a.shape, 9.0)
        tierup.stencil(lambda a: 0.25 * (a[0, 1] + a[1, 0] + a[0, -1] + a[-1, 0]))(a, out=out)
        return out

    @jit
    def of_function(a):
        def mean(a):
            return 0.25 * (a[0, 1] + a[1, 0] + a[0, -1] + a[-1, 0])
        return stencil(mean)(a), stencil(mean, cval=-1.5)(a)
    a = np.arange(30.0).reshape(5, 6) ** 2
    np.testing.assert_array_equal(of_lambda(a), five(a, out=np.full(a.shape, 9.0)))
    plain, around = of_function(a)
    np.testing.assert_array_equal(plain, five(a))
    np.testing.assert_array_equal(around, stencil(cval=-1.5)(five.py_func)(a))

    @jit
    def of_globals(a):
        return stencil(forward)(a), stencil(twice_of)(a)

    @njit
    def twice_of(a):
        return 2 * a[0]
    x = np.arange(6) ** 2
    assert [r.tolist() for r in of_globals(x)] == [[1, 3, 5, 7, 9, 0], (2 * x).tolist()]

    @jit
    def decorated(a, w):
        @stencil
        def back(a):
            c = 2
            return a[-c + 1]

        @stencil(standard_indexing=("w",), cval=7)
        def weighted(a, w):
            return a[-1] * w[0] + a[1] * w[1]

        @stencil("constant", standard_indexing="w", neighborhood=((-1, 0),))
        def earlier(a, w):
            return a[-1] * w[1]
        return back(a), weighted(a, w), earlier(a, w)
    got = decorated(np.arange(5), np.array([1, 2]))
    assert [r.tolist() for r in got] == [[0, 0, 1, 2, 3], [7, 4, 7, 10, 7], [0, 0, 2, 4, 6]]


@pytest.mark.parametrize("parallel", [False, True])
def test_neighborhoods_are_computed_in_compiled_code(tier, parallel):
    @njit(parallel=parallel)
    def window(a, w, scale):
        def mean(a, w):
            s = a[-w]
            for i in range(-w + 1, w + 1):
                s += a[i]
            return scale * s
        return stencil(mean, neighborhood=((-w, w),))(a, w)

    @njit(parallel=parallel)
    def sliced(a, w):
        return stencil(lambda a, w: np.sum(a[-w:w + 1, 0:w]), neighborhood=((-w, w), (0, w)), cval=-1)(a, w)
    a = np.arange(40.0) ** 1.5
    b = a.reshape(5, 8)
    for w in (1, 2, 5, 19, 20, 30):
        want = np.zeros(40)
        for i in range(w, 40 - w):
            s = a[i - w]
            for j in range(i - w + 1, i + w + 1):
                s += a[j]
            want[i] = 0.3 * s
        np.testing.assert_array_equal(window(a, w, 0.3), want)
        want = np.full((5, 8), -1.0)
        for i in range(w, 5 - w):
            for j in range(8 - w):
                want[i, j] = b[i - w:i + w + 1, j:j + w].sum()
        np.testing.assert_allclose(sliced(b, w), want, rtol=1e-12)


def test_what_is_no_stencil_is_refused_in_compiled_code(tier):
    def refused(f, text, *args):
        with pytest.raises(tierup.TypingError, match=text) as e:
            njit(f)(*args)
        assert "test_stencil.py" in str(e.value), "it says where"
    a = np.arange(4.0)
    refused(lambda a, i: stencil(lambda a: a[i])(a), "index is not constant, 'neighborhood' option required", a, 1)
    refused(lambda a: stencil(3)(a), "a kernel that is a Python function, not int", a)
    refused(lambda a: stencil(lambda a: 1)(a), "no accesses to relatively indexed", a)
    refused(lambda a: stencil(lambda a: a[0], standard_indexing=("b",))(a), "not present in the stencil kernel definition", a)
    refused(lambda a, n: stencil(lambda a: a[0], neighborhood=n)(a), "pair of the lowest and the highest index", a, 3)
    refused(lambda a: stencil(lambda a: a[0], cval="zero")(a), "cval is a number", a)
    for call, text in ((lambda a: stencil("wrap")(a), "Unsupported mode style wrap"), (lambda a: stencil(lambda a: a[0, 1])(a), "2 dimensional neighborhood specified for 1 dimensional")):
        with pytest.raises(ValueError, match=text):
            njit(call)(a)


def test_results_may_go_where_operands_lie_apart_in_one_array(tier):
    a = np.arange(24.0).reshape(4, 6)
    both = np.concatenate([a, np.zeros_like(a)])
    want = slow(five, a, out=np.zeros_like(a))
    five(both[:4], out=both[4:])
    np.testing.assert_array_equal(both[4:], want)


def test_lists_and_tuples_under_standard_indexing(tier):
    a = np.arange(6.0)
    want = a[:-3] * 0
    for w in ([1.0, 2.0, 3.0], (1.0, 2.0, 3.0)):
        compiled = njit(lambda a: weighted(a, w)) if isinstance(w, tuple) else njit(lambda a: weighted(a, [1.0, 2.0, 3.0]))
        want = slow(weighted, a, np.array(w))
        np.testing.assert_array_equal(compiled(a), want)
        np.testing.assert_array_equal(weighted(a, np.array(w)), want)


@needs_llvm
def test_checks_leave_the_loop_over_an_inlined_kernel():
    """Where the kernel reads several arrays, or one by ordinary indices, rows lie between bounds that one test knows; so the loop becomes vectors."""
    @stencil
    def several(a, b):
        return a[0, 1] - b[0, -1] + a[1, 0] * b[0, 0]
    a = np.ones((9, 9))
    before, tierup.config.tier = tierup.config.tier, "1"
    try:
        for f, args in ((njit(lambda a, b: several(a, b)), (a, a)), (njit(lambda a, w: weighted(a, w)), (a[0], a[1]))):
            f(*args)
            text = f.inspect("llvm")
            assert re.search(r"<[248] x double>", text if isinstance(text, str) else "".join(text.values())), f
    finally:
        tierup.config.tier = before


def test_exceptions_come_out(tier):
    @stencil
    def picky(a):
        if a[0] > 3:
            raise ValueError("four")
        return a[-1]
    with pytest.raises(ValueError, match="four"):
        picky(np.arange(9))
    with pytest.raises(IndexError):
        stencil(neighborhood=((0, 0),))(lambda a: a[1])(np.arange(4))


def test_what_is_no_stencil_is_refused():
    def refused(text, kernel, *args, **options):
        with pytest.raises(ValueError, match=text):
            stencil(**options)(kernel)
    refused("'neighborhood' option required", lambda a, i: a[i])
    refused("no accesses to relatively indexed", lambda a: 1)
    refused("does not match array dimensionality", lambda a: a[0] + a[0, 1])
    refused("reserved word 'out'", lambda a, out: a[0])
    refused("Standard indexing requested for an array name not present", lambda a: a[0], standard_indexing=("b",))
    refused("must use relative indexing", lambda a, b: a[0], standard_indexing=("a",))
    refused("one to 4 dimensions", lambda a: a[0, 0, 0, 0, 1])
    refused("pair of the lowest", lambda a: a[0], neighborhood=(1, 2))
    refused("pair of the lowest", lambda a: a[0], neighborhood=((1, -1),))
    refused("Unknown stencil option", lambda a: a[0], size=3)
    refused("cval is a number", lambda a: a[0], cval="zero")

    def writes(a):
        a[0] = 1
        return a[-1]
    refused("Assignments to arrays", writes)
    with pytest.raises(ValueError, match="Unsupported mode style"):
        stencil("wrap")
    with pytest.raises(ValueError, match="2 dimensional neighborhood specified for 1 dimensional"):
        five(np.arange(5.0))
    with pytest.raises(TypeError, match="must be an array"):
        three(5)
    with pytest.raises(ValueError, match="same number  of dimensions"):
        two_arrays(np.ones((3, 3)), np.ones(3), 1)
    with pytest.raises(ValueError, match="some dimension smaller"):
        two_arrays(np.ones((3, 3)), np.ones((3, 2)), 1)
    with pytest.raises(ValueError, match="output of a stencil"):
        five(np.ones((3, 3)), out=np.ones((2, 3)))
    with pytest.raises(ValueError, match="output of a stencil"):
        five(np.ones((3, 3)), out=np.ones(3))
    with pytest.raises(TypeError, match="unexpected keyword argument 'mode'"):
        five(np.ones((3, 3)), mode=1)


def test_objects():
    assert five.neighborhood == ((-1, 1), (-1, 1)) and ahead.neighborhood == ((0, 2),) and five.__name__ == "five" and "five" in repr(five)
    assert pickle.loads(pickle.dumps(five)) is five
    offset = 2
    local = stencil(cval=9)(lambda a: a[-1] + offset)
    assert pickle.loads(pickle.dumps(local))(np.arange(3)).tolist() == [9, 2, 3]
    assert njit(lambda: five.neighborhood)() == five.neighborhood


def test_named_tuples_with_a_length_of_their_own(tier):
    from typing import NamedTuple

    class Sized(NamedTuple):
        values: tuple
        more: int

        def __len__(self):
            return len(self.values) + self.more

    @njit
    def f(t, k):
        return len(Sized(t, k))
    assert f((1, 2, 3), 4) == f.py_func((1, 2, 3), 4) == 7


def test_named_tuples_with_an_index_of_their_own(tier):
    from typing import NamedTuple

    class Shifted(NamedTuple):
        values: tuple
        by: int

        def __getitem__(self, k):
            return self.values[k + self.by] * 10

    @njit
    def f(t, k):
        s = Shifted(t, 1)
        return s[k], s.values
    assert f((1, 2, 3), 1) == f.py_func((1, 2, 3), 1) == (30, (1, 2, 3))


@pytest.mark.parametrize("parallel", [False, True])
def test_results_may_go_to_an_operand(tier, parallel):
    """They are of what was there before, at any number of threads."""
    wide = stencil(neighborhood=((-3, 3),))(lambda a, w: a[-3] * w[0] + a[3] * w[1])
    filled = stencil(cval=7.0)(lambda a: a[-1] * 0.5 + a[1])
    near = stencil(lambda a: a[-1] * 0.5 + a[1])
    both = stencil(lambda a, b: a[-1] + b[1] * 2)
    square = stencil(lambda a: a[0, -1] + a[1, 0] * 3)

    def itself(a): return near(a, out=a)
    def with_border(a): return filled(a, out=a)
    def shifted(a): return near(a[:-1], out=a[1:])
    def back(a): return near(a[1:], out=a[:-1])
    def reversed_(a): return near(a[::-1], out=a)
    def second(a): return both(a * 2, a, out=a)
    def far(a): return wide(a, a, out=a)
    def turned(a): return square(a[:9].reshape(3, 3).T, out=a[:9].reshape(3, 3))
    for f, apart in ((itself, lambda a: near(a.copy(), out=a)), (with_border, lambda a: filled(a.copy(), out=a)), (shifted, lambda a: near(a[:-1].copy(), out=a[1:])), (back, lambda a: near(a[1:].copy(), out=a[:-1])),
                     (reversed_, lambda a: near(a[::-1].copy(), out=a)), (second, lambda a: both(a * 2, a.copy(), out=a)), (far, lambda a: wide(a.copy(), a.copy(), out=a)), (turned, lambda a: square(a[:9].reshape(3, 3).T.copy(), out=a[:9].reshape(3, 3)))):
        for n in (9, 50, 40_000):
            start = np.random.default_rng(n).random(n)
            want, got, plain = start.copy(), start.copy(), start.copy()
            apart(want)
            njit(parallel=parallel)(f)(got)
            f(plain)
            np.testing.assert_array_equal(got, want, err_msg=f.__name__)
            np.testing.assert_array_equal(plain, want, err_msg=f.__name__)
