"""Functions for a device, `njit(target="cuda")`: operations on arrays become kernels, one for each chain of them; what they give is NumPy's, in the simulator as on a GPU; and their PTX through `ptxas`."""

import subprocess

import numpy as np
import pytest

from harness.build import needs_llvm
from harness.processes import HANG
from test_ptx import PTXAS

tierup = pytest.importorskip("tierup")
from tierup import cuda, njit, prange  # noqa: E402
from tierup.cuda import _nodes  # noqa: E402

RNG = np.random.default_rng(7)
DTYPES = ["bool", "int8", "uint8", "int32", "uint32", "int64", "uint64", "float32", "float64", "complex128"]


def data(dtype, shape=(1000,)):
    x = RNG.integers(0, 2 if dtype == "bool" else 60, shape).astype(dtype)
    if np.dtype(dtype).kind in "fc":
        x += RNG.random(shape).astype(dtype)
    return x


def same(made, want, exact=True):
    """Compares what a function gave with what NumPy gives, types included."""
    if want is None:
        assert made is None
    elif isinstance(want, tuple):
        assert len(made) == len(want)
        for m, w in zip(made, want):
            same(m, w, exact)
    elif isinstance(want, np.ndarray) and want.ndim:
        got = made.copy_to_host() if isinstance(made, cuda.DeviceNDArray) else made
        assert (got.dtype, got.shape) == (want.dtype, want.shape)
        np.testing.assert_array_equal(got, want) if exact else np.testing.assert_allclose(got, want, rtol={2: 2e-3, 4: 1e-5}.get(want.dtype.itemsize, 1e-12))
    else:
        assert not isinstance(made, (cuda.DeviceNDArray, np.generic))
        np.testing.assert_allclose(made, want, rtol={2: 1e-3, 4: 1e-5}.get(np.asarray(want).dtype.itemsize, 1e-12))


def check(f, *args, exact=True):
    """Runs a function by NumPy and for the device, and compares results and what it did to its arguments."""
    mine = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
    theirs = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
    there = [cuda.to_device(a) if isinstance(a, np.ndarray) else a for a in mine]
    with np.errstate(all="ignore"):
        want = f(*theirs)
    same(njit(target="cuda")(f)(*there), want, exact)
    for a, d in zip(theirs, there):
        if isinstance(a, np.ndarray):
            same(d, a, exact)


class launches:
    """How many kernels are started in a block."""

    def __enter__(self):
        self.names, self.real = [], _nodes.launch
        def counted(made, *rest):
            self.names.append(made.__name__)
            return self.real(made, *rest)
        for module in (_nodes, tierup.cuda._folds):
            module.launch = counted
        return self.names

    def __exit__(self, *_):
        for module in (_nodes, tierup.cuda._folds):
            module.launch = self.real


# ---------------------------------------------------------------- elementwise


def chain(a, b, c):
    d = a * 2 + b
    e = np.sqrt(abs(d - c)) / (1 + b * b)
    return np.where(e > 0.5, e, -e)


def test_a_chain_is_one_kernel():
    a, b, c = (data("float64") for _ in range(3))
    check(chain, a, b, c)
    f = njit(target="cuda")(chain)
    args = [cuda.to_device(x) for x in (a, b, c)]
    with launches() as names:
        f(*args)
    assert names == ["elementwise"]
    known = len(_nodes._kernels)
    f(*args)
    assert len(_nodes._kernels) == known


@pytest.mark.parametrize("dtype", DTYPES)
def test_types_of_operations_are_those_of_numpy(dtype):
    other = data("int16")
    for f in [lambda a, b: a + b, lambda a, b: a * b, lambda a, b: a == b, lambda a, b: (a + 1, a * 2.5, a + True), lambda a, b: (np.add(a, b, dtype=np.complex128), a.astype(np.float32))]:
        check(f, data(dtype), other)
    if dtype != "complex128":
        check(lambda a, b: (np.maximum(a, b), a < b, a / (b + 1)), data(dtype), other)
    if np.dtype(dtype).kind in "iu":
        check(lambda a, b: (a & 5, a | 3, ~a, a << 1, a >> 2, a ^ a), data(dtype), other)
    if dtype not in ("bool", "complex128"):
        check(lambda a, b: (-a, abs(a), a // 3, a % 7, a ** 2), data(dtype), other)
        check(lambda a, b: (a ** 5, a ** (b % 4), 2 ** (a % 4)), data(dtype), other, exact=np.dtype(dtype).kind != "f")


def test_the_order_of_complex_numbers_with_parts_that_are_no_numbers():
    parts = [0.0, 1.0, np.inf, -np.inf, np.nan]
    z = np.array([complex(a, b) for a in parts for b in parts])
    check(lambda a: (a[:, None] < a, a[:, None] <= a, a[:, None] > a, a[:, None] >= a, a[:, None] == a, a[:, None] != a), z)


def test_a_number_that_does_not_fit_is_refused_as_numpy_does():
    with pytest.raises(OverflowError):
        njit(target="cuda")(lambda a: a + 300)(cuda.to_device(data("int8")))
    with pytest.raises(TypeError):
        njit(target="cuda")(lambda a: a << 1.5)(cuda.to_device(data("int8")))


@pytest.mark.parametrize("name", ["exp", "log", "sin", "cos", "tan", "arcsin", "arctan", "sinh", "tanh", "log1p", "expm1", "floor", "ceil", "trunc", "rint", "sign", "square", "isnan", "isfinite", "signbit", "cbrt", "exp2", "log2", "log10"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_functions_of_elements(name, dtype):
    x = (RNG.random(200) * 1.8 - 0.9).astype(dtype)
    check(lambda a: getattr(np, name)(a), x, exact=name not in ("exp", "log", "sin", "cos", "tan", "arcsin", "arctan", "sinh", "tanh", "log1p", "expm1", "cbrt", "exp2", "log2", "log10"))


def test_shapes_are_broadcast():
    a, b, c = data("float64", (5, 7)), data("float64", (7,)), data("float64", (5, 1))
    check(lambda a, b, c: a + b * c - 1, a, b, c)
    check(lambda a, b: a[:, None] * b[None, :], data("float64", (6,)), data("int64", (4,)))
    check(lambda a, b: a + b, np.asfortranarray(a), np.asfortranarray(a))
    check(lambda a, b: a + b, np.asfortranarray(a), a)
    check(lambda a: a[::2, 1:].T * 2 + a[::2, 1:].T, a)
    check(lambda a: a + 1, data("float64", (0, 3)))
    with pytest.raises(ValueError):
        njit(target="cuda")(lambda a, b: a + b)(cuda.to_device(np.ones(3)), cuda.to_device(np.ones(4)))


def test_results_of_one_shape_are_one_kernel():
    def f(a, b):
        c = a * b
        return c + 1, c - 1, np.exp(c)

    with launches() as names:
        made = njit(target="cuda")(f)(cuda.to_device(data("float64")), cuda.to_device(data("float64")))
    assert names == ["elementwise"] and len(made) == 3


def test_a_long_chain_is_cut():
    def f(a):
        for k in range(300):
            a = a * 0.5 + k
        return a

    check(f, data("float64"))


def test_a_value_that_is_used_again_is_computed_once():
    def f(a):
        b, s = np.exp(a), 0.0
        for k in range(6):
            s = s + (b * k).sum()
        return s

    check(f, data("float64", (100,)) / 60, exact=False)
    with launches() as names:
        njit(target="cuda")(f)(cuda.to_device(data("float64", (100,))))
    assert names.count("elementwise") <= 8


def test_new_arrays():
    def f(a, n):
        z, o, f, r, q = np.zeros(n), np.ones((n, 2), np.float32), np.full(n, 3), np.arange(n), np.arange(0.5, n, 0.25)
        return z + a, o, f, r * 2, q, np.zeros_like(a), np.ones_like(a), np.full_like(a, 7), np.linspace(0, 1, n) + a

    check(f, data("int64", (9,)), 9)


# ---------------------------------------------------------------- in place


def test_what_is_put_off_is_computed_before_its_operands_change():
    def f(a, b):
        c = a + b
        a[:] = 0
        d = a + 1
        a += 5
        b[1:3] = 9
        return c, d, a

    check(f, data("float64", (10,)), data("float64", (10,)))


def test_overlapping_parts_and_views():
    def f(a):
        a[1:] = a[:-1] + a[1:]
        b = a[2:6]
        b *= 2
        c = a[::-1] + a
        a[::2] = -1
        return b, c, a.sum()

    check(f, data("float64", (10,)))


def test_an_element_is_what_was_there():
    def f(a):
        t = a[3]
        a[3] = a[0] + 1
        a[0], a[1] = a[1], a[0]
        a[5] += t
        return t, a[-1], a.sum()

    check(f, data("float64", (10,)))


def test_an_array_of_the_host_that_is_read_only_stays_so():
    x = np.arange(5.0)
    x.flags.writeable = False

    def f(a):
        a[1] = 3

    with pytest.raises(ValueError, match="read-only"):
        njit(target="cuda")(f)(x)


def test_a_name_that_stands_for_another_is_changed_with_it():
    def f(a):
        b = a + 1
        c = b
        e = b * 3
        c += 2
        return b, c, e

    check(f, data("float64", (10,)))


def test_masks_and_fills():
    def f(a):
        a[a > 30] = 0
        b = a.copy()
        b.fill(4)
        b[3] = 7
        return b, a[5] + 1

    check(f, data("int64", (50,)))


def test_assignments_are_converted_or_refused_as_numpy_does():
    check(lambda a, b: a.__setitem__(slice(None), b), data("int32", (10,)), data("float64", (10,)))
    with pytest.raises(TypeError, match="same_kind"):
        def f(a):
            a += 0.5
        njit(target="cuda")(f)(cuda.to_device(data("int32")))
    with pytest.raises(ValueError):
        def g(a, b):
            a[:] = b
        njit(target="cuda")(g)(cuda.to_device(np.ones(3)), cuda.to_device(np.ones(4)))


# ---------------------------------------------------------------- reductions


@pytest.mark.parametrize("n", [1, 31, 33, 2049, 70_000])
@pytest.mark.parametrize("dtype", ["bool", "int32", "uint8", "float32", "float64"])
def test_reductions(dtype, n):
    x = data(dtype, (n,))
    check(lambda a: (a.sum(), a.min(), a.max(), a.mean(), a.any(), a.all(), a.argmin(), a.argmax()), x)
    check(lambda a: ((a % 2 + 1).prod(), np.ptp(a * 1), np.count_nonzero(a)) if a.dtype != bool else a.prod(), x)


def test_reductions_along_axes():
    for shape in [(3, 40), (40, 3), (5, 6, 7), (2, 3000), (1, 1)]:
        x = data("float64", shape)
        for axis in [0, -1, *([(0, 2), 1] if len(shape) == 3 else [])]:
            check(lambda a: (a.sum(axis), a.max(axis=axis), np.mean(a * 2, axis=axis, keepdims=True), np.std(a, axis)), x, exact=False)
        check(lambda a: (a.argmax(0), np.argmin(-a, axis=1), (a > 30).any(axis=0), a.T.sum(0)), x, exact=False)


def test_a_reduction_takes_its_operand_along():
    with launches() as names:
        got = njit(target="cuda")(lambda a, b: ((a - b) ** 2).sum())(cuda.to_device(np.arange(100.0)), cuda.to_device(np.ones(100)))
    assert names == ["fold"] and got == ((np.arange(100.0) - 1) ** 2).sum()


def test_bits_of_a_sum_follow_from_the_shape_alone():
    x = RNG.random(100_003).astype(np.float32)
    f = njit(target="cuda")(lambda a: a.sum())
    d = cuda.to_device(x)
    assert len({f(d) for _ in range(3)} | {f(cuda.to_device(x))}) == 1


def test_nan_and_nothing():
    x = np.array([3.0, np.nan, 1.0, np.nan] * 100)
    check(lambda a: (a.min(), a.max(), a.argmin(), a.argmax(), a.sum()), x)
    check(lambda a: (a.sum(), a.prod(), a.any(), a.all()), np.ones(0))
    check(lambda a: (a.sum(axis=0), a.sum(axis=1)), np.ones((0, 3)))
    for f in [lambda a: a.min(), lambda a: a.argmax()]:
        with pytest.raises(ValueError):
            njit(target="cuda")(f)(cuda.to_device(np.ones(0)))


def test_extremes_of_complex_numbers():
    z = RNG.integers(0, 4, 500) + 1j * RNG.integers(0, 4, 500)
    check(lambda a: (a.min(), a.max(), a.argmin(), a.argmax(), a.reshape(5, 100).argmax(axis=0), a.reshape(5, 100).min(axis=1)), z)
    z[300], z[200] = complex(np.nan, 1), complex(1, np.nan)
    check(lambda a: (a.argmin(), a.argmax()), z)


def test_control_follows_what_was_reduced():
    def f(x, tolerance):
        turns = 0
        while True:
            new = 0.5 * (x + 2 / x)
            turns += 1
            if abs(new - x).max() < tolerance:
                return new, turns
            x = new

    check(f, data("float64", (100,)) + 1, 1e-9)


@pytest.mark.parametrize("dtype", ["int32", "float32", "float64", "complex128"])
def test_products_of_vectors_and_matrices(dtype):
    for m, k, n in [(1, 1, 1), (33, 17, 5), (4, 0, 3)]:
        a, b, c = data(dtype, (m, k)), data(dtype, (k, n)), data(dtype, (k,))
        check(lambda a, b, c: (a @ b, a @ c, c @ b, c @ c, np.dot(a * 2, b), a[:0] @ b, np.outer(c, c)), a, b, c, exact=False)
    with pytest.raises(ValueError):
        njit(target="cuda")(lambda a: a @ a)(cuda.to_device(np.ones((2, 3))))


def test_what_is_made_of_reductions():
    x = data("float64", (4, 100))
    x[0, 3] = np.nan
    check(lambda a: (np.nansum(a), np.nanmin(a), np.nanmax(a, axis=0), np.nanmean(a, axis=1), np.allclose(a, a), np.allclose(a[1:], a[1:] + 1e-12), np.isclose(a, a + 1, equal_nan=True)), x, exact=False)
    check(lambda a: (np.linalg.norm(a), np.linalg.norm(a[0] * 1j), np.average(a.mean()), divmod(a, 7)), data("float64", (4, 10)), exact=False)


def test_floats_of_16_bits():
    x = (data("int32", (300,)) / 8).astype(np.float16)
    check(lambda a: (a * 2 + 1, np.maximum(a, 1), np.sqrt(a), a > 2, a.sum(), a.max(), a.argmax(), a.astype(np.float64)), x)
    check(lambda a: (a.mean(), a.cumsum()), x[:20], exact=False)


# ---------------------------------------------------------------- running sums, sorting


@pytest.mark.parametrize("n", [1, 255, 257, 70_000])
def test_running_sums(n):
    check(lambda a: (a.cumsum(), np.cumsum(a * 2), np.cumprod(a % 2 + 1) if n < 30 else 0), data("int64", (n,)))
    check(lambda a: a.cumsum(), data("float64", (n,)), exact=False)
    check(lambda a: (a.cumsum(axis=0), a.cumsum(axis=1), a.cumsum()), data("int32", (n % 50 + 1, 7)))


@pytest.mark.parametrize("n", [0, 1, 2, 33, 1000])
def test_sorting(n):
    x = data("float64", (n,))
    x[n // 2:n // 2 + 2] = np.nan
    check(lambda a: np.sort(a), x)
    check(lambda a: (np.sort(a), a.sort()), data("int8", (n,)))
    same(njit(target="cuda")(lambda a: a.argsort())(cuda.to_device(data("int8", (n,)) * 0)), np.arange(n))
    y = data("uint8", (n,))
    same(njit(target="cuda")(lambda a: np.argsort(a))(cuda.to_device(y)), np.argsort(y, kind="stable"))
    check(lambda a: (np.sort(a, axis=0), np.sort(a, axis=1), np.sort(a, axis=None)), data("int32", (n, 5)))


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_places_that_sort_along_an_axis(axis):
    x = data("uint8", (7, 9, 3)) % 5
    same(njit(target="cuda")(lambda a: np.argsort(a, axis=axis))(cuda.to_device(x)), np.argsort(x, axis=axis, kind="stable"))


MADE = ["np.arange(4)", "np.arange(1)", "np.arange(1.0, 3.0, 0.5)", "np.linspace(0, 1, 4)", "np.arange(3).reshape(3, 1)", "np.arange(4)[::-1]", "np.full(4, 2)", "np.ones((3, 1))", "np.arange(12).reshape(3, 4)", "np.arange(4) * np.arange(1)"]


@pytest.mark.parametrize("made", MADE)
@pytest.mark.parametrize("order", "CF")
def test_what_a_function_makes_is_repeated_along_other_axes(made, order):
    space = {"np": np}
    exec(f"def f(x):\n    m = {made}\n    y = x + m\n    z = np.zeros((2, 3, 4)) + m\n    x[:] = m\n    x[1] += x[2]\n"
         f"    return y, z, (y * m).sum(axis=0), (y * m).sum(axis=1), (y * m).sum(), (y - m).argmax(axis=1), m + 0, m * 2 + np.arange(4), x.T + np.arange(3)\n", space)
    check(space["f"], np.asarray(data("float64", (3, 4)), order=order), exact=False)


# ---------------------------------------------------------------- loops over prange


def test_loops_over_prange_are_kernels():
    def f(x, y, k):
        for i in prange(1, x.shape[0] - 1):
            s = 0.0
            for j in range(-1, 2):
                s += x[i + j]
            y[i] = s * k if s > 1 else -s
        return y * 2

    check(f, data("float64", (500,)), np.zeros(500), 3)


def test_variables_of_loops_over_prange_are_reduced():
    def f(x):
        s, p, low, high = 0, 1.0, 1e9, -1e9
        for i in prange(len(x)):
            if x[i] > 3:
                s += x[i]
            s -= 1
            p *= 1 + x[i] * 1e-6
            low = min(low, x[i])
            high = max(x[i], high)
        return s, p, low, high

    check(f, data("float64", (5000,)))
    check(f, data("int32", (10,)))
    check(f, data("int32", (0,)))


def test_a_loop_over_prange_sees_what_was_put_off():
    def f(x, n):
        y = x * 2
        z = y + x
        for i in prange(0, n, 2):
            y[i] += x[i]
        return y, z

    check(f, data("float64", (100,)), 100)


def test_what_a_loop_over_prange_cannot_be_is_said_at_its_line():
    def carried(x):
        t = 0.0
        for i in prange(len(x)):
            x[i] = t
            t = x[i] + 1

    def last(x):
        for i in prange(len(x)):
            t = x[i]
        return t

    def ends(x):
        for i in prange(len(x)):
            if x[i] > 3:
                break

    for f, line, text in [(carried, 2, "goes from one to the next"), (last, 1, "no turn is the last"), (ends, 3, "none can end the others")]:
        with pytest.raises(tierup.UnsupportedError, match=text) as e:
            njit(target="cuda")(f)(cuda.to_device(np.ones(5)))
        assert e.value.line == f.__code__.co_firstlineno + line + (0 if f is not last else 0), e.value


def test_an_index_out_of_bounds_in_a_loop_over_prange():
    def f(x):
        for i in prange(len(x)):
            x[i + 1] = 0
        return x.sum()

    with pytest.raises(IndexError) as e:
        njit(target="cuda")(f)(cuda.to_device(np.ones(5)))
        cuda.synchronize()
    assert e.value.place.line == f.__code__.co_firstlineno + 2


# ---------------------------------------------------------------- calls


def test_arrays_of_the_host_are_copied_to_and_fro():
    def f(a, b):
        a += b
        return a * 2

    a, b = np.arange(5.0), np.ones(5)
    made = njit(target="cuda")(f)(a, b)
    assert isinstance(made, np.ndarray)
    np.testing.assert_array_equal(made, 2 * (np.arange(5.0) + 1))
    np.testing.assert_array_equal(a, np.arange(5.0) + 1)
    d = cuda.to_device(b)
    assert isinstance(njit(target="cuda")(f)(a, d), cuda.DeviceNDArray)
    assert njit(target="cuda")(lambda x: x)(d) is d


@njit
def helper(x, k):
    return x * k + 1


def test_functions_and_kernels_that_are_called():
    @cuda.jit
    def double(x):
        i = cuda.grid(1)
        if i < x.shape[0]:
            x[i] *= 2

    def f(a, n):
        b = helper(a, n)
        c = a - 1
        double[1, 64](a)
        return b, c, helper(n, 2), a + 0

    a = data("float64", (20,))
    made = njit(target="cuda")(f)(cuda.to_device(a), 3)
    same(made, (a * 3 + 1, a - 1, 7, a * 2))


def test_what_does_not_run_on_a_device_is_said_at_its_line():
    def product(a):
        b = np.stack([a, a])
        return b

    def spectrum(a):
        return np.fft.fft(a)

    def gather(a):
        return a[a.argsort()]

    def attribute(a):
        return a.flat

    for f, line, text in [(product, 1, "np.stack"), (spectrum, 1, "np.fft.fft"), (gather, 1, "an array as an index"), (attribute, 1, "attribute flat")]:
        with pytest.raises(tierup.UnsupportedError, match=text) as e:
            njit(target="cuda")(f)(cuda.to_device(np.ones((3, 3))))
        assert e.value.line == f.__code__.co_firstlineno + line and "help:" in str(e.value)
    with pytest.raises(NotImplementedError):
        njit("float64(float64)", target="cuda")
    with pytest.raises(NotImplementedError, match="fastmath"):
        njit(target="cuda", fastmath=True)(product)


@needs_llvm
@pytest.mark.skipif(PTXAS is None, reason="ptxas is not installed (requirements/gpu.txt)")
@pytest.mark.parametrize("capability", [75, 80, 90, 100])
def test_ptxas_takes_the_kernels(capability, tmp_path):
    def f(x, y):
        s = 0.0
        for i in prange(len(x)):
            s += x[i] * 2
        z = np.where(x > y, np.exp(x), y)
        return s, z, z.sum(), (z * 2).argmax(), z.mean(axis=0), np.sort(x), np.argsort(x), x.cumsum(), np.arange(5) * 2, x.astype(np.int8).any()

    before = set(_nodes._kernels)
    x = cuda.to_device(RNG.random(5000))
    njit(target="cuda")(f)(x, x)
    made = [_nodes._kernels[s] for s in set(_nodes._kernels) - before] + [k for k in _nodes._kernels.values() if k.overloads][:10]
    for kernel in made:
        for types in kernel.signatures:
            source = tmp_path / "kernel.ptx"
            source.write_text(kernel.ptx(list(types), capability))
            done = subprocess.run([PTXAS, f"-arch=sm_{capability}", "-o", str(tmp_path / "kernel.cubin"), str(source)], capture_output=True, text=True, timeout=HANG)
            assert done.returncode == 0, f"{kernel}{types}: {done.stdout}{done.stderr}"
