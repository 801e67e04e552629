"""`guvectorize`: NumPy's generalised ufuncs are the oracle for what calls do, CPython for what kernels compute, calls from Python for calls from compiled code."""

import copy

import numpy as np
import pytest

tierup = pytest.importorskip("tierup")
from harness.tiers import on_tier  # noqa: F401
from harness.ufuncs import add_to_all, same
from tierup import guvectorize, njit

pytestmark = pytest.mark.isolated


@guvectorize(["void(float64[:,:], float64[:,:], float64[:,:])", "void(int64[:,:], int64[:,:], int64[:,:])"], "(m,n),(n,p)->(m,p)")
def matrix_product(a, b, c):
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            s = 0
            for k in range(a.shape[1]):
                s += a[i, k] * b[k, j]
            c[i, j] = s


def test_gufuncs_are_numpys(tier):
    f = guvectorize(["void(float64[:,:], float64[:,:], float64[:,:])", "void(int64[:,:], int64[:,:], int64[:,:])"], "(m,n),(n,p)->(m,p)")(matrix_product.py_func)
    a, b = np.arange(24.0).reshape(2, 3, 4), np.arange(20.0).reshape(4, 5)
    same(f(a, b), np.matmul(a, b))
    same(f(a.astype(int), b.astype(int)), np.matmul(a.astype(int), b.astype(int)))
    same(f(a[0].T, a[0]), np.matmul(a[0].T, a[0]))
    out = np.zeros((2, 3, 5))
    assert f(a, b, out) is out
    same(f(a, b, axes=[(-2, -1), (-2, -1), (-1, -2)]), np.matmul(a, b, axes=[(-2, -1), (-2, -1), (-1, -2)]))
    assert f.signature == "(m,n),(n,p)->(m,p)" and f.types == ["dd->d", "ll->l"]
    with pytest.raises(ValueError, match="mismatch in its core dimension"):
        f(a, a)


def test_gufunc_scalars_several_outputs_and_axes(tier):
    @guvectorize(["void(float64[:], float64, float64[:], float64[:])"], "(n),()->(),(n)")
    def f(a, k, total, scaled):
        s = 0.0
        for i in range(a.shape[0]):
            s += a[i]
            scaled[i] = a[i] * k
        total[0] = s
    a = np.arange(12.0).reshape(3, 4)
    total, scaled = f(a, [1.0, 2.0, 3.0])
    same(total, a.sum(1))
    same(scaled, a * np.array([[1.0], [2.0], [3.0]]))
    one = guvectorize(["void(float64[:], float64[:])"], "(n)->()")(lambda a, r: total_of(a, r))
    for x in (a, a.T, a[::2, ::-1]):
        same(one(x), x.sum(-1))
        same(one(x, axis=0), x.sum(0))
        same(one(x, keepdims=True), x.sum(-1, keepdims=True))
    assert one(a[0]) == 6.0 and isinstance(one(a[0]), np.float64)
    boxed = guvectorize(["void(complex64[:], int8[:], complex64[:])"], "(),()->()")(lambda x, k, r: product_of(x, k, r))
    same(boxed(np.array([1j, 2], np.complex64), np.int8(3)), np.array([3j, 6], np.complex64))


@njit
def total_of(a, r):
    r[0] = a.sum()


@njit
def product_of(x, k, r):
    r[0] = x[0] * k[0]


def test_gufunc_complex_and_bool_scalars(tier):
    @guvectorize(["void(complex128, bool_, float32, complex128[:])"], "(),(),()->()")
    def f(z, b, x, r):
        r[0] = z * x if b else -z
    same(f(np.array([1j, 2 + 1j]), [True, False], np.float32(2.5)), np.array([2.5j, -2 - 1j]))


def test_gufunc_writable_inputs(tier):
    f = guvectorize(["void(float64[:], float64, float64[:])"], "(n),()->()", writable_args=(0,))(lambda a, b, r: changed(a, b, r))
    for dtype in (np.float64, np.float32):
        a = np.zeros((2, 3), dtype)
        f(a, 2.0)
        same(a, np.full((2, 3), 2, dtype))
    with pytest.raises(ValueError, match="writable_args"):
        guvectorize(["void(float64[:], float64[:])"], "(n)->()", writable_args=(5,))(lambda a, r: None)


def test_gufunc_without_outputs(tier):
    f = guvectorize(["void(float64[:], int64[:], float64[:])"], "(a),(a),(z)", writable_args=(2,))(add_up)

    @njit
    def compiled(v, labels, out):
        f(v, labels, out)

    assert (f.nin, f.nout) == (3, 0)
    values, labels = np.arange(10.).reshape(2, 5), np.array([0, 1, 2, 0, 1])
    for call in (f, compiled):
        for dtype in (np.float64, np.float32, np.int64):
            out = np.ones((2, 3), dtype)
            call(values, labels, out)
            same(out, np.array([[4, 6, 3], [14, 16, 8]], dtype))
    with pytest.raises(ValueError, match="is no layout"):
        guvectorize(["void(float64[:])"], "->(n)")(lambda a: None)


def test_gufunc_refuses_outputs_of_another_kind(tier):
    f = guvectorize(["void(float64[:], float64[:])"], "(n)->()")(lambda a, r: total_of(a, r))
    compiled = njit(lambda a, r: f(a, r))
    for call in (f, compiled):
        out = np.zeros(2, np.float32)
        call(np.ones((2, 3)), out)
        same(out, np.full(2, 3, np.float32))
        with pytest.raises(TypeError, match="same_kind"):
            call(np.ones((2, 3)), np.zeros(2, np.int64))


def add_up(values, labels, out):
    for i in range(len(values)):
        out[labels[i]] += values[i]


@njit
def changed(a, b, r):
    for i in range(len(a)):
        a[i] += b
    r[0] = 0


def test_dynamic_gufuncs_learn_types_from_their_outputs(tier):
    f = guvectorize("(m,n),(n,p)->(m,p)")(matrix_product.py_func)
    a = np.arange(6).reshape(2, 3)
    for dtype in (np.int64, np.float64, np.float32):
        out = np.zeros((2, 2), dtype)
        f(a, a.T.copy(), out)
        same(out, (a @ a.T).astype(dtype))
        f(a.astype(np.float32), a.T, out=np.zeros((2, 2)))
    assert {t for t in f.types} >= {"ll->l", "ll->d", "ll->f", "fl->d"}
    with pytest.raises(TypeError, match="too few arguments"):
        f(a, a.T)


def test_dynamic_gufuncs_have_results_without_dimensions(tier):
    @guvectorize("(n)->()")
    def total(a, out):
        out[0] = a.sum()
    a = np.arange(12).reshape(3, 4)
    for t in (np.int64, np.float64, np.complex64):
        same(total(a, np.zeros(3, t)), a.sum(axis=1).astype(t))
    out = np.zeros((), np.float32)
    assert total(a[0], out) is out and out == 6

    @guvectorize("(),()->()")
    def added(x, y, out):
        out[()] = x + y
    same(added(a, 1, np.zeros((3, 4))), a + 1.0)

    @njit
    def inside(a, out):
        total(a, out)
    out = np.zeros(3)
    inside(a, out)
    assert out.tolist() == [6, 22, 38]


def test_gufunc_errors(tier):
    with pytest.raises(ValueError, match="layout"):
        guvectorize(["void(float64[:], float64[:])"], "(n)(n)")(lambda a, b: None)
    with pytest.raises(ValueError, match="layout"):
        guvectorize(["void(float64[:], float64[:])"], "(3)->()")(lambda a, b: None)
    with pytest.raises(NameError, match="dimension m"):
        guvectorize(["void(float64[:], float64[:])"], "(n)->(m)")(lambda a, b: None)
    with pytest.raises(TypeError, match="operand 0"):
        guvectorize(["void(float64[:,:], float64[:])"], "(n)->()")(lambda a, b: None)
    with pytest.raises(TypeError, match="returns nothing"):
        guvectorize(["void(float64[:], float64[:])"], "(n)->()")(lambda a, b: a[0])
    with pytest.raises(TypeError, match="takes 1 arguments"):
        guvectorize(["void(float64[:], float64[:])"], "(n)->()")(lambda a: None)

    @guvectorize(["void(float64[:], float64[:])"], "(n)->()")
    def f(a, r):
        if a[0] > 3:
            raise ValueError("no")
        r[0] = a[5]
    with pytest.raises(ValueError, match="no"):
        f(np.arange(60.0).reshape(10, 6))
    with pytest.raises(IndexError):
        f(np.zeros((2, 3)))


def test_compiled_code_calls_gufuncs(tier):
    product = guvectorize(["void(float64[:,:], float64[:,:], float64[:,:])"], "(m,n),(n,p)->(m,p)")(matrix_product.py_func)
    dynamic = guvectorize("(m,n),(n,p)->(m,p)")(matrix_product.py_func)
    a, b = np.arange(24.0).reshape(2, 3, 4), np.arange(20.0).reshape(4, 5)
    for f in (product, dynamic):
        @njit
        def call(a, b, out):
            f(a, b, out)
            return out
        same(call(a, b, np.zeros((2, 3, 5))), a @ b)
        same(call(a[0], b, np.zeros((3, 5))), a[0] @ b)
        same(call(a, b, np.zeros((2, 3, 5), np.float32)), (a @ b).astype(np.float32))
        with pytest.raises(ValueError, match=r"Input operand 1 has a mismatch in its core dimension 0, with gufunc signature .* \(size 3 is different from 4\)"):
            call(a, a, np.zeros((2, 3, 3)))
        with pytest.raises(ValueError, match="does not have enough dimensions"):
            call(a, b[0], np.zeros((2, 3, 5)))
    add = add_to_all

    @njit
    def spread(a, k, out):
        add(a, k, out)
        return out
    a = np.arange(6.0).reshape(2, 3)
    same(spread(a, 1.0, np.zeros((2, 3))), a + 1)
    same(spread(a, np.array([1.0, 2.0]), np.zeros((2, 3))), a + np.array([[1.0], [2.0]]))
    same(spread(a.T, np.array([[1.0], [2.0]]), np.zeros((2, 3, 2))), a.T + np.array([[[1.0]], [[2.0]]]))
    same(spread(np.arange(3), 1, np.zeros(3)), np.arange(3) + 1.0)
    total = guvectorize(["void(float64[:], float64[:])"], "(n)->()")(lambda a, r: total_of(a, r))

    @njit
    def totals(a, r):
        total(a, r)
        return r
    same(totals(a, np.zeros(2)), a.sum(1))
    assert totals(a[0], np.zeros(())) == 3
    with pytest.raises(ValueError):
        totals(a, np.zeros(3))
    assert njit(lambda: (add.nin, add.nout, add.signature))() == (2, 1, "(n),()->(n)")


@pytest.mark.parametrize("dims", [(), (3,), (2, 3), (2, 1, 3)])
def test_compiled_code_calls_gufuncs_over_any_number_of_dimensions(tier, dims):
    g = guvectorize(["void(float64[:], float64[:], float64[:], float64[:])"], "(n),(n)->(n),()")(running)
    inside = njit(lambda x, y, z, s: g(x, y, z, s))
    rng = np.random.default_rng(5)
    for n in (0, 1, 4):
        for x, y in ((rng.random((*dims, n)), rng.random((*dims, n))), (rng.random((*dims, n)), rng.random(n)), (rng.random((*dims, n))[..., ::-1], rng.random((*dims[:-1], 1, n) if dims else n))):
            got, want = (np.zeros((*dims, n)), np.zeros(dims)), (np.zeros((*dims, n)), np.zeros(dims))
            inside(x, y, *got)
            g(x, y, *want)
            np.testing.assert_array_equal(got[0], want[0])
            np.testing.assert_array_equal(got[1], want[1])


def running(a, b, c, total):
    s = 0.0
    for i in range(len(a)):
        s = s * 0.5 + a[i] * b[i]
        c[i] = s
    total[0] = s


def test_writable_arguments_go_by_number_or_name(tier):
    for which in (0, "x"):
        @guvectorize(["void(float64[:], float64)"], "(n),()", writable_args=(which,))
        def add(x, k):
            for i in range(len(x)):
                x[i] += k
        a = np.arange(6.0).reshape(2, 3)
        add(a, 2.0)
        assert a.tolist() == [[2, 3, 4], [5, 6, 7]]
    for wrong in ("y", 2, -1):
        with pytest.raises(ValueError, match="numbers of inputs, 0 to 1, or their names"):
            guvectorize(["void(float64[:], float64)"], "(n),()", writable_args=(wrong,))(lambda x, k: None)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.float32, np.float64, np.int64])
def test_what_a_kernel_leaves_alone_stays_in_outputs_that_are_converted(dtype, tier):
    @guvectorize(["void(float64[:], uint8[:], int64[:])"], "(n)->(n),(n)")
    def every_fourth(x, small, large):
        for i in range(x.size):
            if i % 4 == 0:
                small[i] = 1
                large[i] = 2

    def through(x, small, large):
        every_fourth(x, small, large)

    for call in (every_fourth, njit(through)):
        for order in (slice(None), slice(None, None, -1)):
            small, large = (np.full((3, 10), k, dtype)[:, order] for k in (7, 9))
            try:
                call(np.zeros((3, 10)), small, large)
            except TypeError:
                # What NumPy does not cast.
                assert not np.can_cast(np.int64, dtype, "same_kind") or not np.can_cast(np.uint8, dtype, "same_kind")
                continue
            assert (small[:, ::4] == 1).all() and (large[:, ::4] == 2).all()
            assert (np.delete(small, [0, 4, 8], 1) == 7).all() and (np.delete(large, [0, 4, 8], 1) == 9).all()


def test_nan_becomes_an_integer_with_numpys_warning(tier):
    @guvectorize(["void(float64[:], int64[:])"], "(n)->(n)")
    def whole(x, out):
        for i in range(x.size):
            out[i] = x[i]

    x = np.array([np.nan, 2.5])
    with np.errstate(invalid="ignore"):
        assert whole(x).tolist() == [np.iinfo(np.int64).min, 2]
        same(whole(x), x.astype(np.int64))
    # NumPy reads the processor's flags, which the interpreter does not set.
    if tier != "interp":
        with pytest.warns(RuntimeWarning, match="invalid value"):
            whole(x)
        with np.errstate(invalid="raise"), pytest.raises(FloatingPointError):
            whole(x)


def test_an_output_that_is_an_input_as_well_is_written_behind_the_kernel():
    @guvectorize(["(float64[:], float64[:])"], "(n)->(n)")
    def sums(a, out):
        s = 0.0
        for i in range(a.shape[0]):
            s += a[i]
            out[i] = s + a[a.shape[0] - 1 - i]

    @njit
    def inside(a, out):
        sums(a, out)

    base = np.arange(40.0)
    for call in (lambda a, out: sums(a, out=out), sums, inside):
        for first, second in ((slice(8), slice(8)), (slice(8), slice(1, 9)), (slice(1, 9), slice(8)), (slice(8), slice(8, 16)), (slice(8, 0, -1), slice(1, 9))):
            x = base.copy()
            expected = sums(base[first].copy())
            call(x[first], x[second])
            assert np.array_equal(x[second], expected), (first, second)
        m = base.reshape(5, 8).copy()
        expected = sums(m.copy())
        call(m, m)
        assert np.array_equal(m, expected)


def test_the_text_of_a_gufunc_is_its_kernels():
    @guvectorize(["void(int64[:], int64, int64[:])"], "(n),()->(n)")
    def add(x, y, out):
        """Adds y."""
        out[:] = x + y
    assert add.__doc__ == "Adds y."


def test_pickles_have_the_loops_that_calls_made():
    import pickle

    @guvectorize("()->()")
    def double(x, out):
        out[:] = x * 2
    for a in (np.arange(3.0), np.arange(4)):
        double(a, np.zeros_like(a))
    again = pickle.loads(pickle.dumps(double))
    assert again.gufunc_builder._sigs == double.gufunc_builder._sigs and len(again.gufunc_builder._sigs) == 2
    again.disable_compile()
    for a in (np.arange(3.0), np.arange(4)):
        out = np.zeros_like(a)
        again(a, out)
        assert list(out) == list(a * 2)
    with pytest.raises(TypeError, match="may not compile more"):
        again(np.zeros(2, np.float32), np.zeros(2, np.float32))


def test_a_builder_says_what_it_compiled():
    from tierup._builders import GUFuncBuilder

    def add(x, y, out):
        for i in range(len(x)):
            out[i] = x[i] + y[i]
    b = GUFuncBuilder(add, "(n),(n)->(n)")
    loop = b.add("void(int32[:], int32[:], int32[:])")
    assert not loop.objectmode and str(loop.signature.args[0]) == "array(int32, 1d, A)"
    with pytest.raises(TypeError):
        b.add("void(int32[:], int32[:])")
    f = b.build_ufunc()
    assert list(f(np.arange(3, dtype="i4"), np.arange(3, dtype="i4"))) == [0, 2, 4]
    assert tierup.vectorize(lambda x, y: x + y).add("int64(int64, int64)").return_type == tierup.types.int64


def test_a_kernel_may_always_raise():
    @guvectorize(["void(int32[:], int32[:])"], "(n)->(n)")
    def refuse(x, out):
        raise ValueError("never")
    with pytest.raises(ValueError, match="never"):
        refuse(np.zeros(2, "i4"))


def test_python_runs_kernels_where_object_mode_is_asked_for():
    @guvectorize("void(float64[:], float64[:])", "(n)->(n)", forceobj=True)
    def shown(a, out):
        out[:] = [float(str(x)) + 1 for x in a]
    a = np.arange(6.0).reshape(2, 3)
    assert shown(a).tolist() == (a + 1).tolist()

    @guvectorize("(n)->()", forceobj=True)
    def width(a, out):
        out[0] = len(repr(a.tolist()))
    out = np.zeros(2)
    assert width(a, out).tolist() == [15.0, 15.0]
