"""What kernels compute with beside plain numbers: floats of 16 bits, vectors, records, constants that callers know, `libdevice`; each against NumPy or CPython, and its PTX through `ptxas`."""

import cmath
import inspect
import math
import operator
import subprocess

import numpy as np
import pytest

from harness.build import needs_llvm
from harness.processes import HANG
from test_ptx import PTXAS

tierup = pytest.importorskip("tierup")
from tierup import cuda, float16, float32, float64, int32, njit  # noqa: E402
from tierup.types import from_dtype  # noqa: E402

HALF = np.float16


def assembled(ptx, capability, folder, call=()):
    (folder / "code.ptx").write_text(ptx)
    done = subprocess.run([PTXAS, *call, f"-arch=sm_{capability}", "-o", str(folder / "code.cubin"), str(folder / "code.ptx")], capture_output=True, text=True, timeout=HANG)
    assert done.returncode == 0, done.stderr + ptx


def halves(seed, n=2048):
    rng = np.random.default_rng(seed)
    with np.errstate(over="ignore"):
        x = (rng.standard_normal(n) * 10.0 ** rng.integers(-7, 5, n)).astype(HALF)
    x[:8] = [np.nan, np.inf, -np.inf, 0.0, -0.0, 6e-8, 65504, 1]
    return x


def same_bits(got, want):
    both_nan = np.isnan(got) & np.isnan(want)
    np.testing.assert_array_equal(np.where(both_nan, 0, got.view(np.uint16)), np.where(both_nan, 0, want.view(np.uint16)))


BINARY = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}


@pytest.mark.parametrize("symbol", BINARY)
def test_arithmetic_of_float16_is_rounded_once(symbol):
    space = {"cuda": cuda}
    exec(f"def f(a, b, out):\n    i = cuda.grid(1)\n    out[0, i] = a[i] {symbol} b[i]\n    out[1, i] = a[i] {symbol} 3\n    out[2, i] = 0.1 {symbol} b[i]\n", space)
    a, b = halves(1), halves(2)
    out = np.zeros((3, a.size), HALF)
    cuda.jit(error_model="numpy")(space["f"])[a.size // 64, 64](a, b, out)
    op = BINARY[symbol]
    with np.errstate(all="ignore"):
        for got, want in zip(out, (op(a, b), op(a, HALF(3)), op(HALF(0.1), b))):
            same_bits(got, want)


@pytest.mark.parametrize("other", [np.float32, np.float64, np.int8, np.int16, np.int32, np.int64, np.uint8, np.bool_])
def test_what_float16_and_another_number_make(other):
    @cuda.jit
    def f(a, b, out):
        i = cuda.grid(1)
        out[i] = a[i] + b[i]

    a, b = halves(3)[8:72], np.arange(64).astype(other)
    want = a + b
    out = np.zeros(64, want.dtype)
    f[1, 64](a, b, out)
    np.testing.assert_array_equal(out, want)


def test_comparisons_and_signs_of_float16():
    @cuda.jit
    def f(a, b, out, signs):
        i = cuda.grid(1)
        out[0, i], out[1, i], out[2, i] = a[i] < b[i], a[i] <= b[i], a[i] > b[i]
        out[3, i], out[4, i], out[5, i] = a[i] >= b[i], a[i] == b[i], a[i] != b[i]
        out[6, i], out[7, i] = cuda.fp16.hlt(a[i], b[i]), cuda.fp16.hne(a[i], b[i])
        signs[0, i], signs[1, i], signs[2, i] = -a[i], abs(a[i]), +a[i]

    a, b = halves(4), halves(5)
    b[::3] = a[::3]
    out, signs = np.zeros((8, a.size), np.bool_), np.zeros((3, a.size), HALF)
    f[a.size // 64, 64](a, b, out, signs)
    np.testing.assert_array_equal(out, [a < b, a <= b, a > b, a >= b, a == b, a != b, a < b, a != b])
    for got, want in zip(signs, (-a, abs(a), a)):
        same_bits(got, want)


UNARY = {"hsin": np.sin, "hcos": np.cos, "hlog": np.log, "hlog2": np.log2, "hlog10": np.log10, "hexp": np.exp, "hexp2": np.exp2, "hexp10": lambda x: np.power(np.float64(10), x), "hsqrt": np.sqrt, "hrsqrt": lambda x: 1 / np.sqrt(x),
         "hceil": np.ceil, "hfloor": np.floor, "hrcp": lambda x: 1 / x, "hrint": np.rint, "htrunc": np.trunc, "hneg": operator.neg, "habs": np.abs}


@pytest.mark.parametrize("name", UNARY)
def test_functions_of_float16(name):
    space = {"cuda": cuda}
    exec(f"def f(x, out):\n    i = cuda.grid(1)\n    out[i] = cuda.fp16.{name}(x[i])\n", space)
    x = halves(6)
    out = np.zeros_like(x)
    cuda.jit(error_model="numpy")(space["f"])[x.size // 64, 64](x, out)
    with np.errstate(all="ignore"):
        want = UNARY[name](x.astype(np.float64)).astype(HALF)
        off = np.abs(out.view(np.int16).astype(int) - want.view(np.int16).astype(int))
    assert (off[~(np.isnan(out) & np.isnan(want))] <= 1).all()


@pytest.mark.parametrize("name, op", [("hadd", operator.add), ("hsub", operator.sub), ("hmul", operator.mul), ("hdiv", operator.truediv), ("hmax", np.fmax), ("hmin", np.fmin)])
def test_functions_of_two_float16(name, op):
    space = {"cuda": cuda}
    exec(f"def f(a, b, out):\n    i = cuda.grid(1)\n    out[i] = cuda.fp16.{name}(a[i], b[i])\n", space)
    a, b = halves(7), halves(8)
    a[:8][a[:8] == 0], b[b == 0] = 1, 1
    out = np.zeros_like(a)
    cuda.jit(error_model="numpy")(space["f"])[a.size // 64, 64](a, b, out)
    with np.errstate(all="ignore"):
        same_bits(out, op(a, b))


def test_conversions_to_and_from_float16():
    @cuda.jit
    def f(x, n, h, a, b, c, d):
        i = cuda.grid(1)
        a[i], b[i], c[i], d[i] = x[i], n[i], h[i], float16(x[i])

    rng = np.random.default_rng(9)
    x = rng.standard_normal(1024) * 10.0 ** rng.integers(-9, 6, 1024)
    # Halfway between two of them but for the last bits of 64.
    x[:512] = np.nextafter((np.arange(512) * 2 + 1) / 4096 + 1, rng.choice([0.0, 9.0], 512))
    n, h = rng.integers(-70000, 70000, 1024), halves(10, 1024)
    a, b, c, d = np.zeros(1024, HALF), np.zeros(1024, HALF), np.zeros(1024), np.zeros(1024, HALF)
    f[16, 64](x, n, h, a, b, c, d)
    with np.errstate(over="ignore"):
        same_bits(a, x.astype(HALF))
        same_bits(b, n.astype(HALF))
        same_bits(d, x.astype(HALF))
    np.testing.assert_array_equal(c, h.astype(np.float64))


def test_float16_as_arguments_and_in_signatures():
    @cuda.jit("void(f2[:], f2, float32)")
    def f(out, a, b):
        out[0], out[1] = a, float(a) + b

    out = np.zeros(2, HALF)
    f[1, 1](out, HALF(1.5), 2)
    f[1, 1](out, 1.5, 2)
    assert out.tolist() == [1.5, 3.5]
    assert njit(lambda x: x * HALF(3))(HALF(1.1)) == float(HALF(1.1) * HALF(3))


def test_what_knows_nothing_of_float16_says_so():
    @cuda.jit
    def f(x):
        x[0] = np.arctan2(x[0], x[1])

    with pytest.raises(tierup.TypingError, match="float16"):
        f[1, 1](np.zeros(2, HALF))


@needs_llvm
def test_float16_is_computed_by_hardware():
    @cuda.jit
    def f(a, b, c):
        i = cuda.grid(1)
        c[i] = (a[i] + b[i]) * a[i] - b[i]

    ptx = f.ptx((float16[::1],) * 3, 90)
    assert "add.rn.f16" in ptx or "fma.rn.f16" in ptx, ptx


@needs_llvm
@pytest.mark.skipif(PTXAS is None, reason="ptxas is not installed (requirements/gpu.txt)")
@pytest.mark.parametrize("capability", [75, 80, 90, 100])
def test_float16_assembles(capability, tmp_path):
    @cuda.jit
    def f(a, b, out):
        i = cuda.grid(1)
        h = cuda.fp16
        x, y = a[i], b[i]
        out[i] = h.hfma(h.hadd(x, y), h.hsub(x, y), h.hmul(x, y)) + h.hdiv(x, y) + h.hsin(x) + h.hcos(x) + h.hlog(x) + h.hexp(x) + h.hsqrt(x) + h.hrsqrt(y) + h.hrcp(y) + h.hmax(x, y) - h.hmin(x, y) + h.hceil(x) + h.htrunc(y)

    assembled(f.ptx((float16[::1],) * 3, capability), capability, tmp_path)


# ---- vectors

def test_vectors():
    @cuda.jit
    def f(out):
        v = cuda.float32x2(1, 2)
        w = cuda.int4(v, 3, cuda.char1(4))
        u = cuda.double3(w.w, v)
        out[0], out[1], out[2], out[3], out[4], out[5] = v.x, w.y, w.z, w.w, u.x, u.z

    out = np.zeros(6)
    f[1, 1](out)
    assert out.tolist() == [1, 2, 3, 4, 4, 2] and cuda.float2 is cuda.float32x2


def test_every_type_of_vectors():
    from tierup.cuda.vector_types import vector_types
    assert len(vector_types) == 40
    for v in vector_types.values():
        made = v.user_facing_object(*range(v.num_elements))
        assert [getattr(made, name) for name in "xyzw"[:v.num_elements]] == list(range(v.num_elements))
        for alias in v.user_facing_object.aliases:
            assert getattr(cuda, alias) is v.user_facing_object


def test_vectors_of_another_length_are_refused():
    @cuda.jit
    def f(out):
        out[0] = cuda.float3(1, 2).x

    with pytest.raises(Exception, match="float32x3|takes 3 numbers|raised"):
        f[1, 1](np.zeros(1))
        cuda.synchronize()


# ---- libdevice

def test_functions_of_libdevice():
    from tierup.cuda import libdevice
    want = {"sin": math.sin, "cosf": math.cos, "atan2": math.atan2, "hypotf": math.hypot, "erf": math.erf, "tgamma": math.gamma, "fmod": math.fmod, "remainder": math.remainder, "copysign": math.copysign, "expm1": math.expm1,
            "sincos": lambda x: (math.sin(x), math.cos(x)), "frexp": math.frexp, "modf": math.modf, "saturatef": lambda x: x, "double2int_rd": math.floor, "float2ll_ru": math.ceil, "double2int_rn": round, "fma": lambda x, y, z: x * y + z}
    for name, function in want.items():
        given = [0.75, 0.5, 0.25][:len(inspect.signature(getattr(libdevice, name).py_func).parameters)]
        np.testing.assert_allclose(getattr(libdevice, name)(*given), function(*given), rtol=1e-6)
    assert libdevice.sad(3, 10, 5) == 12 and libdevice.umulhi(2**31, 6) == 3 and libdevice.popcll(2**40 - 1) == 40 and libdevice.clz(1) == 31 and libdevice.hadd(7, 4) == 5
    with pytest.raises(AttributeError, match="libdevice has no dadd_ru"):
        libdevice.dadd_ru


@needs_llvm
@pytest.mark.skipif(PTXAS is None, reason="ptxas is not installed (requirements/gpu.txt)")
def test_libdevice_in_kernels(tmp_path):
    from tierup.cuda import libdevice

    @cuda.jit
    def f(x, out):
        i = cuda.grid(1)
        s, c = libdevice.sincosf(x[i])
        out[i] = s * s + c * c + libdevice.fast_expf(x[i]) + libdevice.rsqrtf(x[i])

    x, out = np.linspace(1, 2, 32).astype(np.float32), np.zeros(32, np.float32)
    f[1, 32](x, out)
    np.testing.assert_allclose(out, 1 + np.exp(x) + 1 / np.sqrt(x), rtol=1e-6)
    assembled(f.ptx((float32[::1], float32[::1]), 80), 80, tmp_path)


# ---- records, parts of arrays, constants

def test_records_in_kernels():
    point = np.dtype([("x", np.float32), ("n", np.int32), ("m", np.float64, (2, 2))], align=True)

    @cuda.jit
    def f(points, one, out):
        i = cuda.grid(1)
        points[i]["x"] *= 2
        points[i].n += i
        points[i]["m"][1, 0] = points[i].x
        out[i] = points[i].x + one["n"]

    points, one, out = np.zeros(4, point), np.zeros(1, point)[0], np.zeros(4)
    points["x"], one["n"] = np.arange(4), 10
    f[1, 4](points, one, out)
    assert points["x"].tolist() == [0, 2, 4, 6] and points["n"].tolist() == [0, 1, 2, 3] and points["m"][:, 1, 0].tolist() == [0, 2, 4, 6] and out.tolist() == [10, 12, 14, 16]
    for dtype in point, from_dtype(point):
        @cuda.jit
        def turned(points):
            part, own = cuda.shared.array(4, dtype), cuda.local.array(2, dtype)
            t = cuda.threadIdx.x
            part[t] = points[t]
            own[1] = points[t]
            cuda.syncthreads()
            points[t].n = part[3 - t].n + own[1].n

        points["n"] = [1, 20, 300, 4000]
        turned[1, 4](points)
        assert points["n"].tolist() == [4001, 320, 320, 4001]
    record = cuda.to_device(one)
    record["n"] = 7
    record["m"][1] = 3
    many = cuda.to_device(np.zeros(3, point))
    many[1]["x"] = 4
    many[1]["m"][0, 1] = 5
    assert many[1]["x"] == 4 and many.copy_to_host()["m"][1, 0, 1] == 5 and record["m"].copy_to_host().tolist() == [[0, 0], [3, 3]]
    assert record["n"] == 7 and record.shape == () and one["n"] == 10 and record.copy_to_host()["n"] == 7


REAL = ["a[i].sum()", "a[:, i].mean()", "a.sum()", "a.max()", "np.sum(a[i] * 2)", "(a[i] + a[:, :1]).sum()", "a[i].max()", "np.min(a[i] - a[0])", "a[i].argmax()", "np.argmin(a[i])", "a[i].prod()", "np.dot(a[i], a[0])", "a[i] @ a[i]", "(a[i] > 1).any()",
        "np.all(a[i] < 3)", "np.count_nonzero(a[i])", "np.ptp(a[i])", "np.var(a[i])", "a[i, ::-2].sum()", "a[:, ::2].min()", "np.sum(a[i, 1:3])", "np.nanmax(a[i])", "np.nansum(a[i])"]
WITHOUT_ORDER = ["a[i].sum()", "a[i].prod()", "np.dot(a[i], a[0])", "np.count_nonzero(a[i])", "np.sum(a[i] * a[0])"]


@pytest.mark.parametrize("dtype, bodies", [("float64", REAL), ("float32", REAL), ("int64", REAL), ("uint8", ["a[i].sum()", "a[:, i].mean()", "a.sum()", "a.max()", "a[i].max()", "a[i].argmax()", "a[i].prod()", "np.dot(a[i], a[0])", "a[i, ::-2].sum()", "np.count_nonzero(a[i])"]), ("bool", ["a[i].sum()", "a[i].any()", "a.max()", "a[i].min()", "np.dot(a[i], a[0])"]), ("complex128", WITHOUT_ORDER)])
@pytest.mark.parametrize("columns", [7, 150])
def test_reductions_of_parts_of_arrays(dtype, bodies, columns):
    lines = "".join(f"    out[i, {k}] = {body}\n" for k, body in enumerate(bodies))
    space = {"cuda": cuda, "np": np}
    exec(f"def one(i, a, out):\n{lines}\ndef kernel(a, out):\n    i = cuda.grid(1)\n{lines}", space)
    a = np.random.default_rng(3).integers(0, 2 if dtype == "bool" else 3, (7, columns)).astype(dtype)
    if dtype in ("float32", "float64"):
        a = a * 1.5
        a[2, 3:5] = np.nan
    out, want = np.zeros((7, len(bodies)), np.complex128 if dtype == "complex128" else np.float64), np.zeros((7, len(bodies)), np.complex128 if dtype == "complex128" else np.float64)
    cuda.jit(space["kernel"])[1, 7](a, out)
    with np.errstate(all="ignore"):
        for i in range(7):
            space["one"](i, a, want)
    for k, body in enumerate(bodies):
        np.testing.assert_allclose(out[:, k], want[:, k], rtol=1e-5 if dtype == "float32" else 1e-13, err_msg=body)


def test_integers_that_have_helpers_on_the_host():
    @cuda.jit
    def f(a, b, out):
        i = cuda.grid(1)
        x, y = a[i], b[i]
        out[i, 0], out[i, 1], out[i, 2], out[i, 3] = math.gcd(x, y), math.lcm(x, y), x ** (y & 31), np.gcd(x, y)
        out[i, 4], out[i, 5], out[i, 6] = min((x, y)), max(a), min(b)

    a = np.array([0, 0, 12, -18, 7, -(2**40), 3**20, -1, 1, 2], np.int64)
    b = np.array([0, -5, 18, 24, 13, 2**33, 6**15, 7, 31, 62], np.int64)
    out = np.zeros((10, 7), np.int64)
    f[1, 10](a, b, out)
    for x, y, got in zip(a.tolist(), b.tolist(), out.tolist()):
        power = (x ** (y & 31) + 2**63) % 2**64 - 2**63
        assert got == [math.gcd(x, y), math.lcm(x, y), power, math.gcd(x, y), min(x, y), max(a), min(b)], (x, y)


@pytest.mark.parametrize("body", ["min(a[i:i])", "max(a[i:i])", "a[i:i].max()", "a[i:i].argmin()", "(a[i:i] + 1).min()", "np.nanmin(a[i:i])"])
def test_extremes_of_nothing(body):
    space = {"cuda": cuda, "np": np}
    exec(f"def kernel(a):\n    i = cuda.grid(1)\n    a[0] = {body}\n", space)
    with pytest.raises(ValueError):
        cuda.jit(space["kernel"])[1, 1](np.ones(4))


def test_parts_of_arrays_are_assigned_without_copies():
    @cuda.jit
    def f(x, y, z):
        y[1:3] = x[:2]
        z[:, 1] = x[1:]
        z[0] = 7
        np.multiply(x, 2, y[3:])

    x, y, z = np.arange(3.0), np.zeros(6), np.zeros((2, 3))
    f[1, 1](x, y, z)
    assert y.tolist() == [0, 0, 1, 0, 2, 4] and z.tolist() == [[7, 7, 7], [0, 2, 0]]


def test_arrays_that_overlap_are_no_silent_mistake():
    @cuda.jit
    def f(x):
        x[1:] = x[:-1]

    with pytest.raises(BufferError, match="overlap") as e:
        f[1, 1](np.arange(4.0))
    assert e.value.place.line == f.py_func.__code__.co_firstlineno + 2


@njit
def through_shared(x, n, dtype, shape):
    tile, own = cuda.shared.array(n, dtype), cuda.local.array(shape, dtype)
    t = cuda.threadIdx.x
    own[0, 1] = x[t]
    tile[t] = own[0, 1]
    cuda.syncthreads()
    x[t] = tile[n - 1 - t]


def test_shapes_are_constants_that_callers_know():
    @cuda.jit
    def f(x):
        through_shared(x, 8, float64, (1, 2))

    x = np.arange(8.0)
    f[1, 8](x)
    assert x.tolist() == list(range(7, -1, -1))

    @cuda.jit
    def g(x, n):
        through_shared(x, n, float64, (1, 2))

    with pytest.raises(tierup.TypingError, match="must be a constant"):
        g[1, 8](x, 8)


# ---- rounding

@pytest.mark.parametrize("n", [-22, -3, -1, 0, 1, 2, 7, 15, 22])
def test_round_is_cpythons(n):
    @cuda.jit
    def f(x, n, out):
        i = cuda.grid(1)
        if i < x.size:
            out[i] = round(x[i], n)

    rng = np.random.default_rng(abs(n))
    x = np.concatenate([rng.standard_normal(500) * 10.0 ** rng.integers(-25, 25, 500), np.round(rng.standard_normal(200) * 1000) / 2, (np.arange(100) + 0.5) * 10.0 ** -n, 2.0**52 / 10.0**n * (1 + 4 * rng.random(200)), [0.0, -0.0, np.inf, np.nan]])
    out = np.zeros_like(x)
    f[-(-x.size // 64), 64](x, n, out)
    want = np.array([round(v, n) for v in x.tolist()])
    np.testing.assert_array_equal(out, want)
    np.testing.assert_array_equal(np.signbit(out), np.signbit(want))


def test_more_decimals_than_are_known():
    @cuda.jit
    def f(x, n, out):
        out[0] = round(x[0], n)

    out = np.zeros(1)
    f[1, 1](np.array([123.456]), 300, out)
    assert out[0] == 123.456
    f[1, 1](np.array([123.456]), -300, out)
    assert out[0] == 0
    with pytest.raises(NotImplementedError):
        f[1, 1](np.array([1.23456e-20]), 25, out)


def test_remainder_is_cpythons():
    @cuda.jit
    def f(x, y, out):
        i = cuda.grid(1)
        out[i] = math.remainder(x[i], y[i])

    rng = np.random.default_rng(3)
    x, y = rng.standard_normal(512) * 10.0 ** rng.integers(-300, 300, 512), rng.standard_normal(512) * 10.0 ** rng.integers(-300, 300, 512)
    x[:64], y[:64] = np.arange(64), 2
    out = np.zeros(512)
    f[8, 64](x, y, out)
    np.testing.assert_array_equal(out, list(map(math.remainder, x.tolist(), y.tolist())))
    with pytest.raises(ValueError):
        f[1, 1](np.ones(1), np.zeros(1), out)


# ---- functions for others

@needs_llvm
@pytest.mark.skipif(PTXAS is None, reason="ptxas is not installed (requirements/gpu.txt)")
def test_device_functions_as_ptx(tmp_path):
    def add(x, y):
        return x + y

    ptx, ret = cuda.compile(add, int32(int32, int32), cc=(8, 0))
    assert ret == int32 and ".func  (.param .b32 func_retval0) add(" in ptx and ".entry" not in ptx
    assembled(ptx, 80, tmp_path, ["-c"])
    ptx, ret = cuda.compile_ptx(add, (float32, float32), device=True, abi="c", abi_info={"abi_name": "_Z3addff"})
    assert ret == float32 and " _Z3addff(" in ptx

    def fill(x):
        x[cuda.grid(1)] = 1

    ptx, ret = cuda.compile_ptx(fill, (float32[::1],), cc=(9, 0))
    assert ret == tierup.types.none and ".entry fill(" in ptx
    assembled(ptx, 90, tmp_path)


def test_what_compile_refuses():
    def add(x, y):
        return x + y

    with pytest.raises(TypeError, match="must have void return type"):
        cuda.compile_ptx(add, (int32, int32))
    for options, text in (({"abi": "fastcall"}, "Unsupported ABI"), ({"output": "ltoir"}, "no LTO-IR"), ({"output": "x"}, "Unsupported output")):
        with pytest.raises(NotImplementedError, match=text):
            cuda.compile(add, int32(int32, int32), **options)
    with pytest.raises(NotImplementedError, match="not supported for kernels"):
        cuda.compile_ptx(add, (int32, int32), abi="c")
    with pytest.raises(TypeError, match="Return type must be provided"):
        cuda.declare_device("f", (float32[:],))


@needs_llvm
def test_fast_math_is_approximate_on_a_device():
    def f(x, y, z):
        return x / y + z

    exact, fast = (cuda.compile_ptx(f, (float32,) * 3, device=True, fastmath=m)[0] for m in (False, True))
    assert "div.rn.f32" in exact and "div.approx.ftz.f32" in fast


# ---- complex numbers

COMPLEX = "exp exp2 log log2 log10 sqrt sin cos tan sinh cosh tanh arcsin arccos arctan arcsinh arccosh arctanh".split()


@pytest.mark.parametrize("kind", [np.complex64, np.complex128])
@pytest.mark.parametrize("name", COMPLEX)
def test_functions_of_complex_numbers(name, kind):
    space = {"cuda": cuda, "np": np}
    exec(f"def f(z, out):\n    i = cuda.grid(1)\n    out[i] = np.{name}(z[i])\n", space)
    rng = np.random.default_rng(11)
    z = (rng.standard_normal(512) + 1j * rng.standard_normal(512)) * np.repeat([1e-4, 1, 3, 40], 128)
    z[:9] = [0, 1, -1, 1j, -1j, 2, -2, 0.5, 1 + 1e-9j]
    z = z.astype(kind)
    out = np.zeros_like(z)
    cuda.jit(error_model="numpy")(space["f"])[8, 64](z, out)
    with np.errstate(all="ignore"):
        want = getattr(np, name)(z.astype(np.complex128)).astype(kind)
    # Poles aside, where one part is infinite and the other one of several.
    finite = np.isfinite(want)
    np.testing.assert_array_equal(np.isfinite(out), finite)
    np.testing.assert_allclose(out[finite], want[finite], rtol=2e-6 if kind is np.complex64 else 2e-15)


def test_powers_of_complex_numbers():
    @cuda.jit
    def f(a, b, out):
        i = cuda.grid(1)
        out[0, i], out[1, i] = a[i] ** b[i], pow(a[i], 2)

    rng = np.random.default_rng(12)
    a, b = rng.standard_normal(64) + 1j * rng.standard_normal(64), rng.standard_normal(64) + 1j * rng.standard_normal(64)
    a[0], b[0], a[1], b[1] = 0, 2, 3, 0
    out = np.zeros((2, 64), np.complex128)
    f[1, 64](a, b, out)
    np.testing.assert_allclose(out[0], a**b, rtol=1e-14)
    np.testing.assert_allclose(out[1], a**2, rtol=1e-15)


@pytest.mark.parametrize("body, value", [("cmath.log(z)", 0j), ("cmath.exp(z)", 1000 + 0j), ("cmath.atanh(z)", 1 + 0j), ("cmath.sqrt(z)", -4 + 0j), ("cmath.acosh(z)", 2j), ("cmath.polar(z)[0]", 3 + 4j), ("cmath.rect(z.real, z.imag)", 2 + 1j), ("cmath.log(z, 2)", 8 + 1j), ("cmath.polar(z)[0]", 1e308 + 1e308j)])
def test_cmath_in_kernels(body, value):
    import cmath
    space = {"cuda": cuda, "cmath": cmath}
    exec(f"def f(x, out):\n    z = x[0]\n    out[0] = {body}\n", space)
    out = np.zeros(1, np.complex128)
    try:
        want = eval(body, {"cmath": cmath, "z": value})
    except (ValueError, OverflowError) as e:
        with pytest.raises(type(e)):
            cuda.jit(space["f"])[1, 1](np.array([value]), out)
        return
    cuda.jit(space["f"])[1, 1](np.array([value]), out)
    np.testing.assert_allclose(out[0], want, rtol=1e-15)


PARTS = [-math.inf, -2.0, -0.0, 0.0, 2.0, math.inf, math.nan]


@pytest.mark.parametrize("name", ["exp", "log", "log10", "sqrt", "cos", "cosh", "sin", "sinh", "tan", "tanh", "acos", "asin", "asinh", "atan", "atanh", "rect"])
def test_infinities_and_nan_in_cmath(name):
    points = [complex(x, y) for x in PARTS for y in PARTS if not (math.isfinite(x) and math.isfinite(y))]
    given = "z.real, z.imag" if name == "rect" else "z"
    space = {"cuda": cuda, "cmath": cmath}
    exec(f"def kernel(x, out):\n    i = cuda.grid(1)\n    z = x[i]\n    out[i] = cmath.{name}({given})\n", space)
    x, out = cuda.to_device(np.array(points)), cuda.to_device(np.full(len(points), 77j))
    launch = cuda.jit(space["kernel"])[1, len(points)]
    launch(x, out)
    try:
        cuda.synchronize()
    except ValueError:
        pass
    for z, got in zip(points, out.copy_to_host().tolist()):
        try:
            want = cmath.rect(z.real, z.imag) if name == "rect" else getattr(cmath, name)(z)
        except ValueError:
            want = 77j
        for a, b in (got.real, want.real), (got.imag, want.imag):
            assert math.isnan(a) and math.isnan(b) or a == pytest.approx(b, rel=1e-15) and math.copysign(1, a) == math.copysign(1, b), (z, got, want)


@needs_llvm
@pytest.mark.skipif(PTXAS is None, reason="ptxas is not installed (requirements/gpu.txt)")
def test_functions_of_complex_numbers_assemble(tmp_path):
    space = {"cuda": cuda, "np": np}
    exec("def f(z, out):\n    i = cuda.grid(1)\n    x = z[i]\n    out[i] = " + " + ".join(f"np.{name}(x)" for name in COMPLEX) + " + x ** x\n", space)
    assembled(cuda.jit(space["f"]).ptx((tierup.complex128[::1],) * 2, 80), 80, tmp_path)


def test_dates_in_kernels():
    @cuda.jit
    def kernel(start, end, gap, step):
        i = cuda.grid(1)
        if i < gap.size:
            gap[i] = end[i] - start[i] + step

    start, end = np.arange("2005-02", "2006-02", dtype="datetime64[D]"), np.arange("2005-02", "2006-02", dtype="datetime64[D]") + np.timedelta64(3, "D")
    gap = np.zeros(start.shape, "timedelta64[D]")
    kernel[2, 256](start, end, gap, np.timedelta64(1, "D"))
    np.testing.assert_array_equal(gap, end - start + np.timedelta64(1, "D"))
    d = cuda.to_device(start)
    assert d.dtype == start.dtype and d[3] == start[3]
