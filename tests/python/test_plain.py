"""`TIERUP_TIER=off`: what is decorated runs as plain Python, whatever it is, and gives what compiled code gives."""

import ctypes
import pickle
import sys

import numpy as np
import pytest

tierup = pytest.importorskip("tierup")
from tierup import types  # noqa: E402

A = np.arange(12.0).reshape(3, 4)


@pytest.fixture
def off():
    before = tierup.config.tier
    tierup.config.tier = "off"
    yield
    tierup.config.tier = before


def larger(x, y):
    if x > y:
        return x
    return y


def total(a, out):
    out[0] = 0
    for v in a:
        out[0] += v


def scaled(a, k, out):
    for i in range(len(a)):
        out[i] = a[i] * k


def both(make):
    """What `make` gives compiled, and in plain Python."""
    compiled = make()
    before = tierup.config.tier
    tierup.config.tier = "off"
    try:
        return compiled, make()
    finally:
        tierup.config.tier = before


def same(got, want):
    assert type(got) is type(want), (type(got), type(want))
    np.testing.assert_array_equal(got, want)
    assert np.asarray(got).dtype == np.asarray(want).dtype


CALLS = {
    "call": lambda f: f(A, 5), "scalars": lambda f: f(1.5, 2.5), "broadcast": lambda f: f(A, A[:, :1]), "reduce": lambda f: f.reduce(A), "reduce all": lambda f: f.reduce(A, axis=None),
    "keepdims": lambda f: f.reduce(A, axis=1, keepdims=True), "accumulate": lambda f: f.accumulate(A, axis=1), "reduceat": lambda f: f.reduceat(A[0], [0, 2]),
    "outer": lambda f: f.outer(A[0], A[:, 0]), "float32": lambda f: f(A.astype(np.float32), 5), "integers": lambda f: f(A.astype(np.int32), A.astype(np.int32)), "empty": lambda f: f(A[:0], A[:0]),
    "initial": lambda f: f.reduce(A, initial=7.0),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize("signatures", [[], [["float64(float64, float64)"]], [["int64(int64, int64)", "float64(float64, float64)"]]], ids=["dynamic", "one", "two"])
def test_ufuncs(signatures, call):
    compiled, plain = both(lambda: tierup.vectorize(*signatures, identity="reorderable")(larger))
    same(call(plain), call(compiled))
    assert (plain.nin, plain.nout, plain.nargs, plain.__name__, plain.signature) == (2, 1, 3, "larger", None)


def test_ufuncs_write_where_they_are_told(off):
    f = tierup.vectorize(larger)
    out = np.full((3, 4), -1.0)
    assert f(A, 5, out=out) is out and (out == np.maximum(A, 5)).all()
    f(A, 8, out=out, where=A > 5)
    assert (out == np.where(A > 5, np.maximum(A, 8), np.maximum(A, 5))).all()
    a = np.zeros(3)
    f.at(a, [0, 0, 2], [1.0, 3.0, 2.0])
    assert a.tolist() == [3, 0, 2]
    with pytest.raises(TypeError, match="not supported for the input types"):
        tierup.vectorize(["int32(int32, int32)"])(larger)(A, A)
    with pytest.raises(TypeError):
        f(A)
    with pytest.raises(ValueError, match="not reorderable"):
        f.reduce(A, axis=None)
    with pytest.raises(ValueError, match="no identity"):
        f.reduce([])
    assert tierup.vectorize(larger, identity=-1.0).reduce([]) == -1
    with pytest.raises(TypeError):
        f(A, 1, casting="unsafe")


def test_ufuncs_in_the_hands_of_others(off):
    pd = pytest.importorskip("pandas")
    f = tierup.vectorize(larger)
    pd.testing.assert_series_equal(f(pd.Series([1.0, 9.0], name="s"), 5.0), pd.Series([5.0, 9.0], name="s"))


@pytest.mark.parametrize("call", [lambda f: f(A), lambda f: f(A[0]), lambda f: f(A, axis=0), lambda f: f(A.T, axes=[0, ()]), lambda f: f(A.astype(np.int32)), lambda f: f(A, np.empty(3)), lambda f: f(A[:0])])
def test_kernels(call):
    compiled, plain = both(lambda: tierup.guvectorize(["void(float64[:], float64[:])"], "(n)->()")(total))
    same(call(plain), call(compiled))
    compiled, plain = both(lambda: tierup.guvectorize(["void(float64[:], float64, float64[:])"], "(n),()->(n)")(scaled))
    for more in ((2.0,), (np.arange(3.0),)):
        same(plain(A, *more), compiled(A, *more))
    with pytest.raises(ValueError):
        plain(A, np.arange(2.0))


def test_kernels_without_signatures(off):
    f = tierup.guvectorize("(n)->()")(total)
    out = np.zeros(3, np.int32)
    assert f(A.astype(np.int32), out) is out and out.tolist() == [6, 22, 38]
    with pytest.raises(TypeError, match="too few arguments"):
        f(A)

    @tierup.guvectorize(["void(float64[:])"], "(n)")
    def bump(a):
        a += 1

    a = np.zeros((2, 3))
    bump(a)
    assert (a == 1).all()


def test_stencils():
    kernels = [(lambda a: a[-1] + 2 * a[1], {}), (lambda a: a[-1] + a[1], {"cval": 9.0}), (lambda a, w: a[0] * w[0] + a[1] * w[1], {"standard_indexing": ("w",)})]
    for kernel, options in kernels:
        compiled, plain = both(lambda: tierup.stencil(**options)(kernel))
        more = (np.array([2.0, 3.0]),) if options.get("standard_indexing") else ()
        same(plain(A[0], *more), compiled(A[0], *more))
        out = [np.full(4, -1.0), np.full(4, -1.0)]
        plain(A[0], *more, out=out[0]), compiled(A[0], *more, out=out[1])
        same(*out)
    compiled, plain = both(lambda: tierup.stencil(lambda a: a[-1, 0] + a[0, 1]))
    same(plain(A), compiled(A))
    with pytest.raises(ValueError, match="dimensional neighborhood"):
        plain(A[0])


def test_functions_for_c(off):
    f = tierup.cfunc("float64(float64)")(lambda x: x * 2)
    assert f.ctypes(2.0) == 4 == f(2.0) and f.address

    @tierup.cfunc(types.intc(types.CPointer(types.int64), types.intp, types.voidptr))
    def fill(p, n, data):
        tierup.carray(p, n)[:] = tierup.carray(data, 1, np.int64)[0]
        return np.int32(7)

    a, value = np.zeros(3, np.int64), np.array([5])
    assert fill.ctypes(a.ctypes.data_as(ctypes.POINTER(ctypes.c_int64)), 3, value.ctypes.data) == 7 and a.tolist() == [5, 5, 5]


module_level = None


def test_pickles(off):
    global module_level
    module_level = tierup.vectorize(["float64(float64, float64)"])(larger)
    assert pickle.loads(pickle.dumps(module_level))(1, 2) == 2


def test_a_debugger_sees_lines(off):
    seen = set()

    def tracer(frame, event, arg):
        if frame.f_code is larger.__code__:
            seen.add(frame.f_lineno - larger.__code__.co_firstlineno)
        return tracer

    before = sys.gettrace()
    sys.settrace(tracer)
    try:
        tierup.vectorize(larger)([1.0, 3.0], 2.0)
    finally:
        sys.settrace(before)
    assert {1, 2, 3} <= seen
