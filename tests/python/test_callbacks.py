"""`cfunc`, `carray`, `farray`, and functions of C in compiled code. What C does is the oracle: ctypes calls from Python, the C library, SciPy."""

import array
import ctypes
import ctypes.util
import gc
import math
import os
import pickle
import shutil
import subprocess
import sys
import threading

import numpy as np
import pytest

tierup = pytest.importorskip("tierup")
from harness.build import LLVM, needs, needs_llvm
from harness.processes import until
from harness.tiers import on_tier  # noqa: F401
from tierup import carray, cfunc, farray, njit, types, vectorize

pytestmark = pytest.mark.isolated


libm = ctypes.CDLL(ctypes.util.find_library("m"))
libc = ctypes.CDLL(None)


def c_function(name, result, *args, lib=libm):
    # An object of its own: those of a library are shared.
    return ctypes.CFUNCTYPE(result, *args)((name, lib))


@cfunc("float64(float64, int32)")
def at_module(x, n):
    """Adds."""
    return x + n


# -- callbacks -----------------------------------------------------------------------------------------------------------------------------------


def test_numbers_of_every_width(tier):
    for name in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"):
        f = cfunc(f"{name}({name}, {name})")(lambda x, y: x + y)
        info = np.iinfo(name)
        for a, b in ((1, 2), (info.max, 0), (info.min, 0), (info.max, 1), (info.min + 3, 5)):
            want = np.array([a], name) + np.array([b], name)
            assert f.ctypes(a, b) == want[0], (name, a, b)
    for name in ("float32", "float64"):
        assert cfunc(f"{name}({name}, {name})")(lambda x, y: x / y).ctypes(1.0, 4.0) == 0.25
    assert cfunc("bool_(int64)")(lambda x: x > 3).ctypes(4) is True
    mixed = cfunc("float64(int32, float32, bool_, float64, int64, uint8, float32)")(lambda a, b, c, d, e, f, g: a + b * 10 + c * 100 + d * 1000 + e * 10000 + f * 100000 + g * 1e6)
    assert mixed.ctypes(-1, 0.5, True, 2.0, -3, 4, 0.25) == -1 + 5 + 100 + 2000 - 30000 + 400000 + 250000


def test_many_arguments_go_over_the_stack(tier):
    f = cfunc("int64(" + ", ".join(["int64"] * 9) + ")")(lambda a, b, c, d, e, f, g, h, i: a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i)
    assert f.ctypes(*range(9)) == sum((k + 1) * k for k in range(9))
    g = cfunc("float64(" + ", ".join(["float64"] * 10) + ")")(lambda a, b, c, d, e, f, g, h, i, j: a - b + c - d + e - f + g - h + i - 2 * j)
    assert g.ctypes(*map(float, range(10))) == 0 - 1 + 2 - 3 + 4 - 5 + 6 - 7 + 8 - 18


def test_results_are_converted_as_declared(tier):
    assert cfunc("float64(int64)")(lambda x: x + 1).ctypes(2) == 3.0
    assert cfunc("int32(float64)")(lambda x: math.floor(x)).ctypes(2.9) == 2
    assert cfunc("void(int64)")(lambda x: None).ctypes(2) is None
    assert cfunc("void(int64)")(lambda x: x + 1).ctypes(2) is None


def test_pointers_and_carray(tier):
    @cfunc(types.void(types.CPointer(types.float64), types.CPointer(types.float64), types.intc, types.intc))
    def scaled(inp, out, m, n):
        a = carray(inp, (m, n))
        b = carray(out, (m, n))
        f = farray(out, (n, m))
        for i in range(m):
            for j in range(n):
                b[i, j] = a[i, j] * 2
        f[1, 0] += 100
        out[0] = inp[1]
    a, out = np.arange(6.0).reshape(2, 3), np.zeros((2, 3))
    p = lambda x: x.ctypes.data_as(ctypes.POINTER(ctypes.c_double))
    scaled.ctypes(p(a), p(out), 2, 3)
    assert out.tolist() == [[1, 102, 4], [6, 8, 10]]

    @cfunc("int32(voidptr, int64)")
    def total(data, n):
        return carray(data, n, np.int32).sum() + carray(data, (n,), dtype=np.dtype("int16")).shape[0]
    b = np.arange(5, dtype=np.int32)
    assert total.ctypes(b.ctypes.data, 5) == 15


def test_carray_in_python_is_the_same():
    a = np.arange(6.0)
    p = a.ctypes.data_as(ctypes.POINTER(ctypes.c_double))
    assert carray(p, (2, 3)).tolist() == a.reshape(2, 3).tolist() and farray(p, (2, 3)).tolist() == a.reshape(3, 2).T.tolist()
    assert carray(ctypes.c_void_p(a.ctypes.data), 6, np.float64).tolist() == a.tolist() and carray(p, 3, types.float64).base is not None
    carray(p, 6)[0] = 9
    assert a[0] == 9
    with pytest.raises(TypeError, match="explicit dtype required"):
        carray(ctypes.c_void_p(a.ctypes.data), 6)
    with pytest.raises(TypeError, match="mismatching dtype"):
        carray(p, 6, np.float32)
    with pytest.raises(TypeError, match="expected a ctypes pointer"):
        carray(5, 6)
    assert pickle.loads(pickle.dumps(carray)) is carray


def test_exceptions_are_shown_and_c_gets_zero(tier, capfd):
    @cfunc("int64(int64)")
    def f(x):
        if x < 0:
            raise ValueError("negative")
        return 10 // x
    seen = []
    hook, sys.unraisablehook = sys.unraisablehook, lambda e: seen.append((e.exc_type, str(e.exc_value)))
    try:
        assert [f.ctypes(5), f.ctypes(-1), f.ctypes(0), f.ctypes(2)] == [2, 0, 0, 5]
    finally:
        sys.unraisablehook = hook
    assert seen[0] == (ValueError, "negative") and seen[1][0] is ZeroDivisionError


def test_objects():
    f = at_module
    assert f(1, 2) == 3 and f.__wrapped__(1, 2) == 3 and f.__name__ == "at_module" and "Adds" in f.__doc__ and "at_module" in repr(f) and isinstance(f.address, int)
    assert f.ctypes(1.5, 2) == 3.5 and f.ctypes is f.ctypes and "at_module" in f.native_name and f.cache_hits == 0
    if LLVM:
        assert "define" in f.inspect_llvm()
    assert pickle.loads(pickle.dumps(f)) is f
    offset = 7
    again = pickle.loads(pickle.dumps(cfunc("int64(int64)")(lambda x: x + offset)))
    assert again.ctypes(1) == 8
    assert types.CPointer(types.float64) == types.CPointer(types.float64) != types.CPointer(types.float32) and types.voidptr != types.CPointer(types.uint8)
    assert pickle.loads(pickle.dumps(types.voidptr)) == types.voidptr


def test_functions_of_c_by_their_names(tier):
    copy = types.ExternalFunction("memcpy", types.voidptr(types.voidptr, types.voidptr, types.size_t))
    to = np.zeros(3)
    njit(lambda a, b: copy(b.ctypes, a.ctypes, a.nbytes) != 0)(np.arange(3.0), to)
    assert to.tolist() == [0, 1, 2]
    assert pickle.loads(pickle.dumps(copy)) == copy != types.ExternalFunction("memmove", copy.sig)
    missing = types.ExternalFunction("no_such_function", types.float64(types.float64))
    with pytest.raises(RuntimeError, match="no function of C named 'no_such_function'"):
        njit(lambda x: missing(x))(1.0)


@needs("cffi")
def test_structures_of_cffi_are_records(tier):
    import cffi
    from tierup._foreign import map_type
    ffi = cffi.FFI()
    ffi.cdef("""
        typedef struct { int n; float f; double d; float some[9]; struct { short a, b; } inside; } big;
        typedef struct { int bits : 4; } packed;
        typedef double (*over)(big *, size_t);
    """)
    big, over = map_type(ffi.typeof("big"), use_record_dtype=True), map_type(ffi.typeof("over"), use_record_dtype=True)
    assert over == types.float64(types.CPointer(big), types.uint64) and big.size == ffi.sizeof("big")
    assert [big.offset(name) for name in ("n", "f", "d", "some", "inside")] == [0, 4, 8, 16, 52]
    with pytest.raises(ValueError, match="'bits' has bitshift"):
        map_type(ffi.typeof("packed"), use_record_dtype=True)
    with pytest.raises(TypeError):
        map_type(ffi.typeof("big"))

    @njit
    def total(all):
        sum = 0.0
        for k in range(len(all)):
            one = all[k]
            sum += one.n * one.f / one.d + one.some.sum() + one.inside.b
        return sum

    callback = cfunc(over)(lambda p, n: total(carray(p, n)))
    memory = ffi.new("big[3]")
    for k in range(3):
        memory[k].n, memory[k].f, memory[k].d, memory[k].inside.b = k * 123, k * 2.5, k + 1, k
        memory[k].some = [k * 10 + j for j in range(9)]
    array = np.frombuffer(ffi.buffer(memory), types.as_dtype(big))
    assert callback.ctypes(int(ffi.cast("size_t", memory)), 3) == ffi.cast("over", callback.address)(memory, 3) == total(array)


@needs("cffi")
def test_callbacks_as_pointers_of_cffi():
    import cffi
    assert cffi.FFI().cast("double(*)(double, int)", at_module.cffi)(1.5, 2) == 3.5


def test_what_is_no_callback_is_refused():
    def refused(text, sig, f=lambda x: x):
        with pytest.raises(TypeError, match=text):
            cfunc(sig)(f)
    refused("explicit return type", "(float64,)")
    refused("numbers and pointers", "float64(float64[:])")
    refused("numbers and pointers", "float64(complex128)")
    refused("gives a number or nothing", "complex128(float64)")
    refused("gives a number or nothing", "voidptr(float64)")
    refused("1 arguments", "float64(float64)", lambda x, y: x)
    refused("one signature", ["float64(float64)", "int64(int64)"])
    with pytest.raises(tierup.TypingError):
        cfunc("float64(float64)")(lambda x: "text" + x)
    with pytest.raises(TypeError, match="Unrecognized options"):
        cfunc("float64(float64)", speed=1)
    with pytest.raises(TypeError, match="pointers to numbers"):
        types.CPointer(types.float64[:])


def test_callbacks_are_sorted_by_c(tier):
    @cfunc(types.intc(types.CPointer(types.int64), types.CPointer(types.int64)))
    def by_value(a, b):
        return (a[0] > b[0]) - (a[0] < b[0])
    a = np.random.default_rng(2).integers(0, 1000, 500)
    libc.qsort(ctypes.c_void_p(a.ctypes.data), ctypes.c_size_t(len(a)), ctypes.c_size_t(8), by_value.ctypes)
    assert (np.diff(a) >= 0).all()


@needs("scipy")
def test_callbacks_of_scipy(tier):
    from scipy import LowLevelCallable, integrate, ndimage
    f = cfunc("float64(float64)")(lambda x: math.exp(-x * x))
    got, _ = integrate.quad(LowLevelCallable(f.ctypes), -5, 5)
    assert abs(got - math.sqrt(math.pi)) < 1e-8
    g = cfunc(types.float64(types.intc, types.CPointer(types.float64)))(lambda n, x: x[0] * x[1])
    assert abs(integrate.nquad(LowLevelCallable(g.ctypes), [[0, 1], [0, 2]])[0] - 1) < 1e-8

    @cfunc(types.intc(types.CPointer(types.float64), types.intp, types.CPointer(types.float64), types.voidptr))
    def largest(values, n, result, data):
        result[0] = carray(values, n).max()
        return 1
    a = np.random.default_rng(1).random((9, 9))
    # The C signature as SciPy spells it: `npy_intp` and `void *`.
    np.testing.assert_array_equal(ndimage.generic_filter(a, LowLevelCallable(largest.ctypes, signature="int (double *, npy_intp, double *, void *)"), 3), ndimage.maximum_filter(a, 3))


def test_callbacks_from_threads_that_python_does_not_know():
    f = cfunc(types.int64(types.int64))(lambda x: x * 2)
    results = []
    threads = [threading.Thread(target=lambda: results.extend(f.ctypes(k) for k in range(200))) for _ in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert sorted(results) == sorted(2 * k for k in range(200) for _ in range(4))

    @cfunc(types.void(types.CPointer(types.int64)))
    def body(p):
        p[0] = 42 + p[1] // (p[1] - 7)
    # A thread of C: it has no Python thread state, and the second one fails.
    for divisor, want in ((8, 50), (7, 0)):
        memory = np.array([0, divisor])
        thread = ctypes.c_ulong()
        libc.pthread_create.argtypes = [ctypes.c_void_p] * 4
        assert libc.pthread_create(ctypes.addressof(thread), None, body.address, memory.ctypes.data) == 0
        libc.pthread_join(thread, None)
        assert memory[0] == want


def test_callbacks_outlive_their_objects():
    f = cfunc("int64(int64)")(lambda x: x + 5)
    address = f.address
    del f
    gc.collect()
    assert ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(address)(1) == 6


@needs_llvm
def test_callbacks_are_promoted():
    f = cfunc("float64(float64)")(lambda x: x + 1)
    until(lambda: all(f.ctypes(1.0) == 2 for _ in range(1000)) and tierup._tierup.history(f._dispatcher, 0)[0] == 1)
    assert f.ctypes(1.0) == 2


def test_compiled_code_calls_callbacks(tier):
    assert njit(lambda x: at_module(x, 2))(1.5) == 3.5
    assert njit(lambda f, x: f(x, 3))(at_module, 1.0) == 4.0


# -- functions of C ------------------------------------------------------------------------------------------------------------------------------


def test_ctypes_functions(tier):
    d, i = ctypes.c_double, ctypes.c_int
    sin, hypot, ldexp, abs_ = c_function("sin", d, d), c_function("hypot", d, d, d), c_function("ldexp", d, d, i), c_function("abs", i, i, lib=libc)
    fabsf, labs = c_function("fabsf", ctypes.c_float, ctypes.c_float), c_function("labs", ctypes.c_long, ctypes.c_long, lib=libc)

    @njit
    def f(x, n):
        return sin(x) + hypot(x, 2.0), ldexp(x, n), abs_(-n), fabsf(-x), labs(-n)
    got = f(1.5, 3)
    assert got[:3] == (sin(1.5) + hypot(1.5, 2.0), 12.0, 3) and got[3:] == (1.5, 3)
    assert njit(lambda x: sin(x))(2) == sin(2.0) and njit(lambda g, x: g(x))(sin, 0.5) == math.sin(0.5)

    @vectorize
    def all_of(x):
        return sin(x)
    np.testing.assert_allclose(all_of(np.arange(5.0)), np.sin(np.arange(5.0)))


def test_ctypes_functions_take_memory(tier):
    memset = c_function("memset", ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t, lib=libc)
    memcmp = c_function("memcmp", ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(ctypes.c_byte), ctypes.c_size_t, lib=libc)

    @njit
    def fill(a, b):
        memset(a, 1, 8)
        memset(a.ctypes, 2, 2)
        memset(a.ctypes.data + 4, 3, 1)
        return memcmp(a, b, 8), a.ctypes.data
    a, b = np.zeros(8, np.uint8), np.ones(8, np.uint8)
    order, address = fill(a, b)
    assert order > 0 and a.tolist() == [2, 2, 1, 1, 3, 1, 1, 1] and address == a.ctypes.data
    free = c_function("free", None, ctypes.c_void_p, lib=libc)
    assert njit(lambda: free(None))() is None


def test_pointers_to_callbacks_go_through_compiled_code(tier):
    apply = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double, ctypes.c_int32)(at_module.address)
    assert njit(lambda x: apply(x, 4))(1.0) == 5.0
    python = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(lambda x: x * 3)
    assert njit(lambda x: python(x))(2.0) == 6.0


def test_ctypes_functions_that_are_refused():
    d = ctypes.c_double
    loose = ctypes.CDLL(ctypes.util.find_library("m")).cos
    loose.restype = d

    def refused(text, f, *args):
        with pytest.raises(TypeError, match=text):
            njit(lambda *a: f(*a))(*args)
    refused("doesn't define its argument types", loose, 1.0)
    sin = c_function("sin", d, d)
    refused("takes float64 here, not str", sin, "a")
    refused("takes float64 here, not complex", sin, 1j)
    refused("1 arguments is called with 2|takes 1 positional", sin, 1.0, 2.0)
    refused("takes int32 here, not float", c_function("abs", ctypes.c_int, ctypes.c_int, lib=libc), 1.5)
    refused("takes a pointer here, not float", c_function("free", None, ctypes.c_void_p, lib=libc), 1.5)
    refused("cannot pass py_object", ctypes.CFUNCTYPE(d, ctypes.py_object)(("sin", libm)), 1.0)
    refused("at most 28 arguments to a C function, and call takes 29", ctypes.CFUNCTYPE(d, *[ctypes.c_int] * 29)(("sin", libm)), *range(29))


def test_ctypes_functions_of_many_arguments(tier):
    """What finds no register goes over the stack, integers and floats mixed."""
    kinds = {"int64": ctypes.c_int64, "float64": ctypes.c_double, "int32": ctypes.c_int32, "float32": ctypes.c_float, "uint8": ctypes.c_uint8}
    lists = [["int64"] * 7, ["float64"] * 9, ["int64"] * 8 + ["float64"] * 8 + ["int32", "float64", "float32", "uint8"], ["float32", "int32"] * 10, ["int64"] * 19 + ["float64"] * 9, ["int64"] * 28]
    for names in lists:
        parameters = ", ".join(f"x{k}" for k in range(len(names)))
        body = " + ".join(f"x{k} * {k + 1}" for k in range(len(names)))
        space = {}
        exec(f"def f({parameters}): return {body}\ndef call({parameters}): return c({parameters})", space)
        callback = cfunc(f"float64({', '.join(names)})")(space["f"])
        space["c"] = ctypes.CFUNCTYPE(ctypes.c_double, *[kinds[n] for n in names])(callback.address)
        values = [k + 0.5 if "float" in n else -k if n != "uint8" else 200 for k, n in enumerate(names)]
        want = sum(v * (k + 1) for k, v in enumerate(values))
        assert space["c"](*values) == want and njit(space["call"])(*values) == want, names


@needs("scipy")
def test_blas_through_ctypes(tier):
    from tierup.extending import get_cython_function_address
    pointer, whole = ctypes.POINTER(ctypes.c_double), ctypes.POINTER(ctypes.c_int)
    dgemm = ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_char_p, whole, whole, whole, pointer, pointer, whole, pointer, whole, pointer, pointer, whole)(
        get_cython_function_address("scipy.linalg.cython_blas", "dgemm"))

    @njit
    def product(a, b, c):
        letter = np.array([ord("N")], np.uint8)
        m, k, n = np.array([a.shape[0]], np.int32), np.array([a.shape[1]], np.int32), np.array([b.shape[1]], np.int32)
        one, zero = np.ones(1), np.zeros(1)
        dgemm(letter, letter, n, m, k, one, b, n, a, k, zero, c, n)
    a, b, c = np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(3, 4) - 5, np.empty((2, 4))
    product(a, b, c)
    np.testing.assert_array_equal(c, a @ b)


def test_pointers_are_to_what_they_are_declared_for():
    d = ctypes.c_double
    takes = ctypes.CFUNCTYPE(d, ctypes.POINTER(d), ctypes.c_int)(cfunc(types.float64(types.CPointer(types.float64), types.intc))(lambda p, n: carray(p, n).sum()).address)
    f, g = njit(lambda a: takes(a, 3)), njit(lambda a: takes(a.ctypes, 3))
    for h in (f, g):
        assert h(np.arange(3.0)) == 3.0
        for wrong in (np.zeros(3, np.float32), np.zeros(3, np.int64), np.zeros(3, np.complex128)):
            with pytest.raises(TypeError, match="takes a pointer to float64 here, not"):
                h(wrong)
    # An address says nothing about what is there, and integers of one width are read as declared.
    a = np.arange(3.0)
    assert njit(lambda at: takes(at, 3))(a.ctypes.data) == 3.0
    memcpy = c_function("memcpy", ctypes.c_void_p, ctypes.POINTER(ctypes.c_int64), ctypes.c_void_p, ctypes.c_size_t, lib=libc)
    to = np.zeros(3, np.uint64)
    njit(lambda x, y: memcpy(x, y, 24))(to, a)
    assert to.view(np.float64).tolist() == [0, 1, 2]


def test_members_of_libraries(tier):
    from ctypes import CDLL
    lib = CDLL(ctypes.util.find_library("m"))
    lib.cbrt.argtypes, lib.cbrt.restype = [ctypes.c_double], ctypes.c_double
    assert njit(lambda x: lib.cbrt(x))(27.0) == lib.cbrt(27.0)
    with pytest.raises(TypeError, match="nowhere"):
        njit(lambda x: lib.nowhere(x))(27.0)
    with pytest.raises(TypeError, match="CDLL object is not callable"):
        njit(lambda: lib())()


@needs("cffi")
def test_cffi_functions(tier):
    import cffi
    ffi = cffi.FFI()
    ffi.cdef("double sin(double); int abs(int); float fabsf(float); void *memset(void *, int, size_t); int printf(const char *, ...);")
    lib = ffi.dlopen(None)
    sin, abs_, memset, fabsf, printf = lib.sin, lib.abs, lib.memset, lib.fabsf, lib.printf

    @njit
    def f(x, a):
        memset(a, 1, 3)
        return sin(x), abs_(-4), fabsf(-x)
    a = np.zeros(4, np.uint8)
    assert f(0.5, a) == (math.sin(0.5), 4, 0.5) and a.tolist() == [1, 1, 1, 0]
    with pytest.raises(TypeError, match="any number of arguments"):
        njit(lambda x: printf(x))(1)
    cast = ffi.cast("double(*)(double, int)", at_module.address)
    assert njit(lambda x: cast(x, 2))(1.0) == 3.0


@needs("cffi")
def test_cffi_libraries_and_buffers(tier):
    import cffi
    ffi = cffi.FFI()
    ffi.cdef("double hypot(double, double); void *memcpy(double *, const void *, size_t);")
    lib = ffi.dlopen(ctypes.util.find_library("m"))

    @njit
    def f(x, a, b):
        lib.memcpy(ffi.from_buffer(a), ffi.from_buffer(b), 16)
        return lib.hypot(x, 4.0)
    a, b = np.zeros((2, 2)), np.arange(4.0)
    assert f(3.0, a, b) == 5.0 and a.tolist() == [[0, 1], [0, 0]]
    own = array.array("d", [0.0, 0.0])
    assert f(3.0, own, memoryview(b)) == 5.0 and own.tolist() == [0.0, 1.0]
    for wrong in (np.arange(8.0)[::2], np.arange(4.0).reshape(2, 2).T):
        with pytest.raises(ValueError, match="ndarray is not C-contiguous"):
            f(3.0, wrong, b)
    with pytest.raises(TypeError, match="takes a pointer to float64 here"):
        f(3.0, np.zeros(4, np.float32), b)
    with pytest.raises(TypeError, match="addressof"):
        njit(lambda: ffi.addressof(3))()


@needs("cffi")
@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
def test_modules_that_cffi_has_compiled(tmp_path):
    import cffi
    ffi = cffi.FFI()
    ffi.cdef("""
        typedef struct { double re, im; } pair;
        int foo(int a, int b, int c);
        double cos(double);
        bool yes(void);
        void reals(pair *z, double *out, int n);
    """)
    ffi.set_source("tierup_test_compiled", """
        #include <math.h>
        #include <stdbool.h>
        typedef struct { double re, im; } pair;
        static int foo(int a, int b, int c) { return a + b * c; }
        static bool yes(void) { return true; }
        static void reals(pair *z, double *out, int n) { for (int i = 0; i < n; i++) out[i] = z[i].re; }
    """)
    ffi.compile(tmpdir=str(tmp_path))
    sys.path.insert(0, str(tmp_path))
    import tierup_test_compiled as m
    sys.path.pop(0)
    foo, cos, yes, reals, lib, inner = m.lib.foo, m.lib.cos, m.lib.yes, m.lib.reals, m.lib, m.ffi
    f = njit(lambda n, x: (foo(1, n, 3), cos(x), yes(), lib.foo(n, n, n)))
    assert f(2, 0.5) == (7, math.cos(0.5), True, 6) and f(2, 0.5)[2] is True
    assert njit(lambda g, x: g(x))(cos, 0.25) == math.cos(0.25)

    @njit
    def real_parts(z, out):
        reals(inner.from_buffer(z), inner.from_buffer(out), len(z))
    z, out = np.arange(3) + 5j, np.zeros(3)
    real_parts(z, out)
    assert out.tolist() == [0, 1, 2]

    from tierup._foreign import map_type, register_module, register_type
    register_module(m)
    with pytest.raises(TypeError, match="cffi has compiled"):
        register_module(math)
    assert map_type(m.ffi.typeof("int(*)(double, float *, unsigned char)")) == types.int32(types.float64, types.CPointer(types.float32), types.uint8)
    assert map_type(m.ffi.typeof("void(*)(void *, pair *)")) == types.void(types.voidptr, types.voidptr)
    with pytest.raises(TypeError, match="cannot pass pair"):
        map_type(m.ffi.typeof("pair"))
    register_type(m.ffi.typeof("pair"), types.complex128)
    assert map_type(m.ffi.typeof("void(*)(pair *)")) == types.void(types.CPointer(types.complex128))
    again = m.ffi.cast("void(*)(pair *, double *, int)", m.ffi.addressof(m.lib, "reals"))
    with pytest.raises(TypeError, match="takes a pointer to complex128 here"):
        njit(lambda a, b: again(a, b, 1))(np.zeros(2), out)
    callback = cfunc(map_type(m.ffi.typeof("double(*)(double *, int)")))(lambda p, n: carray(p, n).sum())
    assert m.ffi.cast("double(*)(double *, int)", callback.address)(m.ffi.from_buffer("double[]", np.arange(4.0)), 4) == 6.0


@needs("scipy")
def test_cython_special(tier):
    from scipy import special
    from scipy.special import cython_special
    from tierup.extending import get_cython_function_address
    j0, gammaln, betainc, jv = cython_special.j0, cython_special.gammaln, cython_special.betainc, cython_special.jv

    @njit
    def f(x):
        return j0(x), gammaln(x), betainc(x, 2.0, 0.3), jv(2.0, x)
    np.testing.assert_array_equal(f(1.25), [special.j0(1.25), special.gammaln(1.25), special.betainc(1.25, 2.0, 0.3), special.jv(2.0, 1.25)])
    address = get_cython_function_address("scipy.special.cython_special", "j1")
    j1 = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(address)
    assert njit(lambda x: j1(x))(0.5) == special.j1(0.5)
    with pytest.raises(ValueError, match="No function 'nothing'"):
        get_cython_function_address("scipy.special.cython_special", "nothing")

    @vectorize
    def all_of(x):
        return j0(x)
    np.testing.assert_array_equal(all_of(np.linspace(0, 9, 50)), special.j0(np.linspace(0, 9, 50)))


@needs_llvm
def test_cached_code_finds_the_functions_of_this_process(tmp_path):
    code = """if 1:
        import ctypes, ctypes.util, tierup, sys
        libm = ctypes.CDLL(ctypes.util.find_library("m"))
        # Callbacks lie elsewhere in each process.
        ballast = [bytearray(int(sys.argv[1])) for _ in range(3)]
        cos = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(("cos", libm))
        python = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(lambda x: x + int(sys.argv[1]))
        @tierup.njit
        def f(x):
            return cos(x) + python(x)
        print(f(0.0), "cached" if tierup._tierup.history(f, 0)[4] else "new")
    """
    env = {**os.environ, "TIERUP_CACHE": "1", "TIERUP_CACHE_DIR": str(tmp_path), "TIERUP_TIER": "1"}
    out = [subprocess.run([sys.executable, "-c", code, n], capture_output=True, text=True, check=True, env=env).stdout for n in ("1", "70000")]
    assert out == ["2.0 new\n", "70001.0 cached\n"]
