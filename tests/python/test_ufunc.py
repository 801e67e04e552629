"""`vectorize`: NumPy's own ufuncs are the oracle for what calls do, CPython for what kernels compute, calls from Python for calls from compiled code."""

import copy
import gc
import math
import os
import operator
import pickle
import subprocess
import sys
import threading
import traceback

import numpy as np
import pytest

tierup = pytest.importorskip("tierup")
from harness.build import needs, needs_llvm
from harness.processes import HANG, until
from harness.tiers import on_tier  # noqa: F401
from harness.ufuncs import add_to_all, same
from tierup import guvectorize, njit, vectorize

pytestmark = pytest.mark.isolated


@vectorize
def at_module(x, y):
    """Adds twice."""
    return x + 2 * y


# -- calls ---------------------------------------------------------------------------------------------------------------------------------------

BINARY = {"add": (operator.add, np.add), "multiply": (operator.mul, np.multiply), "subtract": (operator.sub, np.subtract)}
DTYPES = [np.int8, np.uint8, np.int16, np.int32, np.uint32, np.int64, np.uint64, np.float32, np.float64, np.complex64, np.complex128]


def operands(dtype):
    rng = np.random.default_rng(7)
    a = rng.integers(0, 20, (4, 6)).astype(dtype)
    return [(a, a), (a, a[0]), (a.T, a[:, 0]), (a[::2, ::-1], a[0, 0]), (a[:, :1], a[:1]), (a[0, 0], a[1, 1]), (a[:0], a[:0]), (np.asfortranarray(a), a), (a[None], a[:, None])]


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: d.__name__)
def test_broadcasting_layouts_and_scalars(tier, dtype):
    @vectorize([f"{np.dtype(dtype).name}({np.dtype(dtype).name}, {np.dtype(dtype).name})"])
    def f(x, y):
        return x + y
    for a, b in operands(dtype):
        same(f(a, b), np.add(a, b))


def test_dynamic_types_follow_the_function(tier):
    calls = {name: (vectorize(eval(f"lambda x, y: x {op} y")), ref) for name, op, ref in (("+", "+", np.add), ("*", "*", np.multiply), ("/", "/", np.true_divide), ("<", "<", np.less))}
    for name, (f, ref) in calls.items():
        for d in (np.int64, np.float32, np.float64, np.complex64):
            if name == "<" and d is np.complex64:
                continue
            a = np.arange(1, 7).astype(d).reshape(2, 3)
            same(f(a, a[0]), ref(a, a[0]))
            # Python's own numbers take the type of what they meet.
            same(f(a, 2), ref(a, 2))
    f = calls["*"][0]
    assert f(np.arange(3, dtype=np.float32), 2.5).dtype == np.float32
    assert f(2, 3) == 6 and f(2, 3.0) == 6.0 and f(2j, 3) == 6j


def test_order_of_calls_does_not_matter(tier):
    first, second = vectorize(lambda x: x * 2), vectorize(lambda x: x * 2)
    ints, floats = np.arange(3), np.arange(3.0)
    assert [first(ints).dtype, first(floats).dtype] == [second(floats).dtype, second(ints).dtype][::-1] == [np.int64, np.float64]


def test_python_ints_stay_ints_inside(tier):
    @vectorize
    def power(z, n):
        r = z
        for _ in range(n - 1):
            r = r * z
        return r
    z = np.array([1j, 2.0, 1 + 1j])
    np.testing.assert_allclose(power(z, 3), z ** 3)
    np.testing.assert_allclose(power(z, np.array([1, 2, 3])), z ** np.array([1, 2, 3]))


def test_signatures_choose_by_safe_casts(tier):
    @vectorize(["float32(float32, float32)", "float64(float64, float64)", "complex128(complex128, complex128)"])
    def f(x, y):
        return x * y + 1
    assert f.types == ["ff->f", "dd->d", "DD->D"]
    for a, dtype in ((np.arange(3, dtype=np.int16), np.float32), (np.arange(3, dtype=np.int32), np.float64), (np.arange(3, dtype=np.complex64), np.complex128)):
        same(f(a, a), (a.astype(dtype) * a + 1).astype(dtype))
    with pytest.raises(TypeError, match="could not be safely coerced"):
        f("a", 1)
    with pytest.raises(TypeError):
        f(np.zeros(2, object), 1)


def test_a_declared_result_type_converts(tier):
    @vectorize(["int32(float64)"])
    def whole(x):
        return math.floor(x)
    same(whole(np.array([1.5, -1.5])), np.array([1, -2], dtype=np.int32))


def test_out_where_dtype_casting_order_subok(tier):
    f = vectorize(["float64(float64, float64)"])(lambda x, y: x + y)
    a = np.arange(6.0).reshape(2, 3)
    out = np.full((2, 3), -1.0)
    assert f(a, a, out) is out and f(a, 1, out=(out,)) is out
    same(out, a + 1)
    out[:] = -1
    same(f(a, a, where=a > 2, out=out), np.add(a, a, where=a > 2, out=np.full((2, 3), -1.0)))
    same(f(a, a, out=np.empty((2, 3), np.float32), casting="same_kind"), (2 * a).astype(np.float32))
    with pytest.raises(TypeError, match="Cannot cast"):
        f(a, a, out=np.empty((2, 3), np.int64))
    with pytest.raises(ValueError, match="non-broadcastable output"):
        f(a, a, out=np.empty(3))
    assert f(a, a, order="F").flags.f_contiguous
    # Where memory overlaps NumPy copies; in place is in place.
    b = np.arange(10.0)
    want = b[:-1] + b[1:]
    f(b[:-1], b[1:], b[1:])
    same(b[1:], want)
    f(b, b, b)

    class Mine(np.ndarray):
        pass
    assert type(f(a.view(Mine), a)) is Mine and type(f(a.view(Mine), a, subok=False)) is np.ndarray


def test_dtype_and_signature_choose_a_loop(tier):
    f = vectorize(lambda x, y: x + y)
    a = np.arange(3)
    assert f(a, a, dtype=np.float32).dtype == np.float32
    assert f(a, a, signature="dd->d").dtype == np.float64
    with pytest.raises(TypeError, match="has no loop that gives"):
        vectorize(lambda x: x > 0)(a, dtype=np.float64)


def test_methods_are_numpys(tier):
    f = vectorize(["float64(float64, float64)", "int64(int64, int64)"], identity=0)(lambda x, y: x + y)
    for a in (np.arange(24.0).reshape(2, 3, 4), np.arange(24).reshape(2, 3, 4)):
        for kwargs in ({}, {"axis": 1}, {"axis": -1, "keepdims": True}, {"axis": None}, {"axis": (0, 2)}, {"initial": 5}, {"where": a > 3}, {"axis": 0, "dtype": np.float64}):
            same(f.reduce(a, **kwargs), np.add.reduce(a, **kwargs))
        for axis in range(3):
            same(f.accumulate(a, axis), np.add.accumulate(a, axis))
            same(f.reduceat(a, [0, 1, 0], axis), np.add.reduceat(a, [0, 1, 0], axis))
        same(f.outer(a[0, 0], a[1]), np.add.outer(a[0, 0], a[1]))
        b, c = a[0, 0].copy(), a[0, 0].copy()
        f.at(b, [0, 0, 2], 1)
        np.add.at(c, [0, 0, 2], 1)
        same(b, c)
    assert f.reduce([]) == 0 and f.identity == 0
    plain = vectorize(lambda x, y: x + y)
    assert plain.identity is None and plain.reduce(np.arange(5)) == 10
    with pytest.raises(ValueError, match="no identity"):
        plain.reduce(np.zeros(0))
    with pytest.raises(ValueError, match="not reorderable"):
        plain.reduce(np.ones((2, 2)), axis=None)
    assert vectorize(identity="reorderable")(lambda x, y: x + y).reduce(np.ones((2, 2)), axis=None) == 4


def test_division_by_zero_is_numpys(tier):
    f = vectorize(["float64(float64, float64)"])(lambda x, y: x / y)
    with np.errstate(divide="ignore", invalid="ignore"):
        same(f(np.array([1.0, -1.0, 0.0]), 0.0), np.array([np.inf, -np.inf, np.nan]))
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
        f(np.ones(3), np.zeros(3))
    strict = vectorize(["float64(float64, float64)"], error_model="python")(lambda x, y: x / y)
    with pytest.raises(ZeroDivisionError):
        strict(np.ones(3), np.zeros(3))


def test_the_parallel_target_is_the_serial_one(tier):
    kernel = lambda x, y: x * 2 + y
    f, g = (vectorize(["float64(float64, float64)", "int64(int64, int64)"], target=t, identity=0)(kernel) for t in ("parallel", "cpu"))
    add, serial_add = (vectorize(identity=0, target=t)(lambda x, y: x + y) for t in ("parallel", "cpu"))
    for n in (0, 1, 10, 5000, 200_000):
        for a in (np.arange(n), np.arange(n) / 7):
            same(f(a, a[::-1]), g(a, a[::-1]))
            same(f(a, 3), g(a, 3))
            same(f(3, a), g(3, a))
            same(add.accumulate(a), serial_add.accumulate(a))
            assert add.reduce(a) == serial_add.reduce(a)
            # What a turn writes and another reads: in place, and in other places.
            for out in (slice(None), slice(None, None, -1)):
                b, c = a.copy(), a.copy()
                f(b, b[::-1], b[out])
                g(c, c[::-1], c[out])
                same(b, c)
            b, c = a.copy(), a.copy()
            f(b[:-1], b[:-1], b[1:])
            g(c[:-1], c[:-1], c[1:])
            same(b, c)
            b, c = np.zeros(10), np.zeros(10)
            add.at(b, np.arange(n) % 10, a)
            serial_add.at(c, np.arange(n) % 10, a)
            same(b, c)
    m = np.arange(600_000.0).reshape(1000, 600)
    for axis in (0, 1, None):
        assert np.array_equal(add.reduce(m, axis=axis), serial_add.reduce(m, axis=axis)) and np.array_equal(add.accumulate(m, axis or 0), serial_add.accumulate(m, axis or 0))
    same(f(m.T, m[0, 0]), g(m.T, m[0, 0]))

    @vectorize(["float64(float64)"], target="parallel")
    def picky(x):
        if x > 5:
            raise ValueError(x)
        return x
    for n in (10, 100_000):
        with pytest.raises(ValueError, match="^6.0$"):
            picky(np.arange(float(n)))


# -- exceptions ----------------------------------------------------------------------------------------------------------------------------------


def test_exceptions_come_out_of_every_kind_of_call(tier):
    @vectorize(["float64(float64, float64)"], identity=0)
    def f(x, y):
        if x > 100:
            raise ValueError("too big", x)
        return x + y
    n = np.arange
    calls = [lambda: f(101.0, 1), lambda: f(n(200.0), 1), lambda: f(n(20000.0), 1), lambda: f(n(20000.0).reshape(100, 200)[::2, ::2], 1), lambda: f(n(20000), 1), lambda: f(n(20000.0)[::-1], 1),
             lambda: f.reduce(n(2000.0)), lambda: f.reduce(n(2000.0).reshape(2, 1000), axis=1), lambda: f.accumulate(n(2000.0)), lambda: f.reduceat(n(2000.0), [0, 5, 7]),
             lambda: f.outer(n(2000.0), n(10.0)), lambda: f.at(n(200.0), n(200), 1.0), lambda: f(n(2000.0), 1, where=n(2000) > 50, out=np.zeros(2000))]
    for call in calls:
        with pytest.raises(ValueError, match="too big") as e:
            call()
        last = traceback.extract_tb(e.value.__traceback__)[-1]
        assert last.name == "f" and "raise ValueError" in last.line
        assert e.value.args == ("too big", 101.0) or e.value.args[1] > 100


def test_what_cannot_be_compiled_says_so(tier):
    with pytest.raises(TypeError, match="no type for dtype"):
        at_module(np.longdouble(1), 2)
    with pytest.raises(tierup.TypingError, match="returns a number"):
        vectorize(lambda x: "text")(1.0)
    with pytest.raises(ValueError, match="targets cpu, parallel, cuda"):
        vectorize(["f8(f8)"], target="tpu")
    with pytest.raises(TypeError, match="positional parameters only"):
        vectorize(lambda *a: 1)
    with pytest.raises(TypeError, match="takes 1"):
        vectorize(["f8(f8, f8)"])(lambda x: x)
    with pytest.raises(ValueError, match="identity"):
        vectorize(["f8(f8, f8)"], identity="zero")(lambda x, y: x)
    with pytest.raises(TypeError, match="Unrecognized options"):
        vectorize(["f8(f8)"], speed=1)(lambda x: x)


# -- objects -------------------------------------------------------------------------------------------------------------------------------------


def test_it_is_a_ufunc():
    f = at_module
    assert isinstance(f, np.ufunc) and repr(f) == "<ufunc 'at_module'>" and f.__name__ == "at_module" and f.__module__ == __name__ and "Adds twice." in f.__doc__
    assert (f.nin, f.nout, f.nargs, f.signature) == (2, 1, 3, None) and f.ufunc is f and f.py_func(1, 2) == 5 and f.__wrapped__ is f.py_func
    assert copy.copy(f) is f and copy.deepcopy(f) is f and f.targetoptions["nopython"]
    assert "f" in f.inspect() or f.ntypes == 0


def test_signatures_close_a_ufunc_and_add_opens_loops():
    f = vectorize(lambda x: x + 1)
    f.add("float32(float32)")
    assert f.types == ["f->f"]
    f.disable_compile()
    assert f(np.float32(1)) == 2
    with pytest.raises(TypeError, match="may not compile more"):
        f(np.arange(3))


def test_pickles(tmp_path):
    assert pickle.loads(pickle.dumps(at_module)) is at_module and pickle.loads(pickle.dumps(add_to_all)) is add_to_all
    offset = 10
    local = vectorize(["float64(float64)"], identity=None)(lambda x: x + offset)
    again = pickle.loads(pickle.dumps(local))
    assert again is not local and again.types == ["d->d"] and again(1) == 11 and pickle.loads(pickle.dumps(local)) is again
    text = pickle.dumps(vectorize(lambda x, y: x * y + offset))
    code = f"import pickle, numpy as np; f = pickle.loads({text!r}); print(f(np.arange(3), 2), pickle.loads(pickle.dumps(f)) is f)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[10 12 14] True\n"
    dynamic = guvectorize("(n)->(n)")(lambda a, r: None)
    assert pickle.loads(pickle.dumps(dynamic)).signature == "(n)->(n)"


def test_ufuncs_are_freed():
    import weakref
    def kernel(x):
        return x + 1
    alive = weakref.ref(kernel)
    f = vectorize(["float64(float64)"])(kernel)
    assert f(1.0) == 2.0
    njit(lambda x: f(x))(1.0)
    del f, kernel
    gc.collect()
    assert alive() is None


def test_many_loops_in_one_ufunc():
    f = vectorize(lambda x, y, z: x + y + z)
    values = [np.ones(2, d) for d in (np.int64, np.float32, np.float64, np.complex64, np.complex128)]
    for a in values:
        for b in values:
            for c in values:
                same(f(a, b, c), a + b + c)
    assert f.ntypes == len(f.types) == 125


def test_threads_use_one_ufunc():
    f = vectorize(lambda x, y: x * 2.0 + y)
    a = np.arange(100_000.0)
    wrong = []

    def work(dtype):
        for _ in range(30):
            x = a.astype(dtype)
            if not np.array_equal(f(x, x), x * 2.0 + x):
                wrong.append(dtype)
    threads = [threading.Thread(target=work, args=(d,)) for d in (np.float64, np.float32, np.int64, np.float64)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert not wrong


def test_array_ufunc_protocol():
    class Logged:
        def __init__(self, a):
            self.a = a

        def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
            values = [i.a if isinstance(i, Logged) else i for i in inputs]
            return ufunc, method, getattr(ufunc, method)(*values, **kwargs)
    ufunc, method, result = at_module(Logged(np.arange(3)), 1)
    assert ufunc is at_module and method == "__call__" and list(result) == [2, 3, 4]
    assert at_module.reduce(Logged(np.arange(3)))[1] == "reduce" and add_to_all(Logged(np.arange(3.0)), 1)[0] is add_to_all


@needs("dask")
def test_dask_arrays():
    import dask.array as da
    x = da.arange(1000, chunks=100)
    f = vectorize(lambda x, y: x * x + y)
    for scheduler in ("synchronous", "threads"):
        lazy = f(x, 1.5)
        assert isinstance(lazy, da.Array)
        np.testing.assert_array_equal(lazy.compute(scheduler=scheduler), np.arange(1000) ** 2 + 1.5)
        np.testing.assert_array_equal(at_module(x, x).compute(scheduler=scheduler), 3 * np.arange(1000))
    g = da.apply_gufunc(add_to_all, "(n),()->(n)", da.ones((6, 4), chunks=(2, 4)), 2.0, output_dtypes=float)
    np.testing.assert_array_equal(g.compute(scheduler="synchronous"), np.full((6, 4), 3.0))


@needs("xarray", "pandas")
def test_xarray_and_pandas():
    import pandas as pd
    import xarray as xr
    d = xr.DataArray(np.arange(6.0).reshape(2, 3), dims=("a", "b"), coords={"a": [1, 2]})
    assert at_module(d, 1).identical(d + 2) and xr.apply_ufunc(at_module, d, d).identical(d + 2 * d)
    assert xr.apply_ufunc(add_to_all, d, 2.0, input_core_dims=[["b"], []], output_core_dims=[["b"]]).identical(d + 2)
    s = pd.Series([1.0, 2.0], index=["x", "y"])
    pd.testing.assert_series_equal(at_module(s, 1), s + 2)


def test_ctrl_c_ends_a_loop():
    code = """if 1:
        import os, signal, threading, time, numpy as np, tierup
        @tierup.vectorize(["float64(float64)"])
        def slow(x):
            s = 0.0
            for i in range(200_000_000):
                s += x / (i + 1)
            return s
        threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        try:
            slow(np.ones(10000))
        except KeyboardInterrupt:
            print("interrupted")
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=HANG)
    assert done.stdout == "interrupted\n"


def test_loops_without_the_gil_let_others_run():
    # The loop reads from a pipe that another thread, which needs the GIL for it, writes to. For up to 500 elements NumPy keeps the GIL.
    TURNS = 1000
    import ctypes
    read = ctypes.CDLL(None).read
    read.argtypes, read.restype = [ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t], ctypes.c_ssize_t
    room = ctypes.create_string_buffer(1)
    at = ctypes.addressof(room)
    f = vectorize(["int64(int32)"])(lambda fd: read(fd, at, 1))
    reader, writer = os.pipe()

    def write():
        for _ in range(TURNS):
            assert os.write(writer, b"x") == 1
    t = threading.Thread(target=write)
    try:
        os.write(writer, b"x")
        assert f(np.full(1, reader, np.int32)).tolist() == [1]
        t.start()
        assert (f(np.full(TURNS, reader, np.int32)) == 1).all()
        t.join()
    finally:
        os.close(reader)
        os.close(writer)


@needs_llvm
def test_hot_loops_are_promoted():
    f = vectorize(["float64(float64, float64)"])(lambda x, y: x * y + 1.0)
    d = f._builder.kept[0]
    a = np.ones(10_000)
    until(lambda: (f(a, a) == 2).all() and tierup._tierup.history(d, 0)[0] == 1)
    assert (f(a, a) == 2).all()


def put_together(kernel, a, start, stop):
    """What `reduceat` gives of one segment."""
    s = a[start]
    for x in a[start + 1:stop]:
        s = kernel(s, x)
    return s


@pytest.mark.parametrize("dtype", [np.float64, np.int64, np.float32, np.uint8], ids=lambda d: d.__name__)
def test_segments_of_any_length(tier, dtype):
    """Inner loops of few turns have an entry of their own in tier 1; outputs that stay where they are, and every stride."""
    name = np.dtype(dtype).name
    kernel = (lambda x, y: x + y if y > 3 else x - y) if dtype is not np.uint8 else (lambda x, y: x ^ y)
    f = vectorize([f"{name}({name}, {name})"])(kernel)
    rng = np.random.default_rng(11)
    a = rng.integers(0, 9, 400).astype(dtype)
    starts = np.cumsum(rng.integers(1, 14, 40))
    starts = starts[starts < 390]
    for x in (a, a[::-1], np.repeat(a, 3)[::3]):
        want = np.array([put_together(kernel, x, i, j) for i, j in zip(starts, [*starts[1:], len(x)])], dtype)
        same(f.reduceat(x, starts), want)
    table = a[:396].reshape(-1, 12)
    for n in range(1, 13):
        rows = table[:, :n]
        same(f.reduce(rows, axis=1), np.array([put_together(kernel, r, 0, n) for r in rows], dtype))
        same(f.reduce(rows.T, axis=0), f.reduce(rows, axis=1))
        same(f.accumulate(rows, axis=1)[:, -1], f.reduce(rows, axis=1))
        same(f(rows, rows[::-1, ::-1]), np.array([[kernel(x, y) for x, y in zip(r, q)] for r, q in zip(rows, rows[::-1, ::-1])], dtype))
    assert f(a[:0], a[:0]).shape == (0,)
    places = rng.integers(0, 50, 300)
    want, got = a[:50].copy(), a[:50].copy()
    for k, i in enumerate(places):
        want[i] = kernel(want[i], a[k])
    f.at(got, places, a[:300])
    same(got, want)


@needs_llvm
def test_which_loops_have_an_entry_for_few_turns():
    def entries(kernel, *signature):
        return vectorize(list(signature))(kernel).inspect("llvm").count(".short(")
    table = np.arange(8.0)

    def inner(x):
        s = 0.0
        for i in range(int(x)):
            s += i
        return s

    def refused(x):
        if x < 0:
            raise ValueError("negative")
        return x
    two = "float64(float64, float64)"
    assert entries(lambda x, y: x + 2 * y, two) == 1 and entries(lambda x, y: np.exp(x) if y > 0 else y, two) == 1
    # A loop inside polls, and an exception needs to know its thread.
    assert entries(inner, "float64(float64)") == 0 and entries(refused, "float64(float64)") == 0
    assert entries(lambda x: table[int(x)], "float64(float64)") == 0


def test_short_segments_raise(tier):
    @vectorize(["int64(int64, int64)"])
    def picky(x, y):
        if y == 13:
            raise ValueError("thirteen")
        return x + y
    a = np.arange(20)
    with pytest.raises(ValueError, match="thirteen"):
        picky.reduceat(a, np.arange(0, 20, 2))
    with pytest.raises(ValueError, match="thirteen"):
        picky.at(a.copy(), np.arange(20), a)
    assert picky.reduceat(a[:12], [0, 5]).tolist() == [10, 56]


# -- from compiled code --------------------------------------------------------------------------------------------------------------------------


def test_compiled_code_calls_ufuncs(tier):
    f = vectorize(lambda x, y: x * 3 + y)
    g = vectorize(["float32(float32, float32)", "float64(float64, float64)"])(lambda x, y: x * 3 + y)
    for u in (f, g):
        call = njit(lambda a, b: u(a, b))
        for dtype in (np.float32, np.float64, np.int16, np.int64):
            for a, b in operands(dtype):
                got, want = call(a, b), u(a, b)
                np.testing.assert_array_equal(got, want)
                assert np.asarray(got).dtype == np.asarray(want).dtype or not isinstance(want, np.ndarray)
        assert call(2, 3) == 9 and call([1, 2], np.ones(2)).tolist() == [4.0, 7.0]
        with pytest.raises(ValueError, match=r"could not be broadcast together with shapes \(2,\) \(3,\)"):
            call(np.ones(2), np.ones(3))

        @njit
        def into(a, out):
            u(a, 1, out)
            u(out, 1, out=out)
            return out
        a = np.arange(6.0).reshape(2, 3)
        same(into(a, np.zeros((2, 3))), u(u(a, 1), 1))
        same(into(a[:1], np.zeros((2, 3))), np.broadcast_to(u(u(a[:1], 1), 1), (2, 3)).copy())
        with pytest.raises(ValueError, match=r"non-broadcastable output operand with shape \(3,\) doesn't match the broadcast shape \(2,3\)"):
            into(a, np.zeros(3))

        @njit
        def shifted(a):
            return u(a[:-1], a[1:], a[1:])
        b, c = np.arange(8.0), np.arange(8.0)
        shifted(b)
        u(c[:-1], c[1:], c[1:])
        same(b, c)


def test_compiled_code_reduces_with_ufuncs(tier):
    f = vectorize(["float64(float64, float64)", "int64(int64, int64)"], identity=0)(lambda x, y: x + y)
    methods = [lambda a: f.reduce(a), lambda a: f.reduce(a, axis=1), lambda a: f.reduce(a, axis=None), lambda a: f.reduce(a, axis=(0, 1)), lambda a: f.reduce(a, axis=-1, keepdims=True),
               lambda a: f.reduce(a, initial=4), lambda a: f.accumulate(a), lambda a: f.accumulate(a, 1), lambda a: f.outer(a, a[0]), lambda a: f.reduceat(a, np.array([0, 2, 1])),
               lambda a: f.reduce(a[:0]), lambda a: f.reduce(a, dtype=np.float64), lambda a: f.reduce(a, axis=(0, 1), initial=5), lambda a: f.reduce(a, axis=(1,), initial=5, keepdims=True),
               lambda a: f.reduce(a, where=a > 3), lambda a: f.reduce(a, 1, where=a > 3), lambda a: f.reduce(a, None, where=a > 3), lambda a: f.reduce(a, (0, 1), where=a > 3), lambda a: f.reduce(a, where=a[0] > 1),
               lambda a: f.reduce(a, initial=7, where=a > 3), lambda a: f.reduce(a, where=False), lambda a: f.reduceat(a, [1, 3, 0], 1), lambda a: f.reduceat(a, [0], -1, np.float64)]
    for m in methods:
        for a in (np.arange(12.0).reshape(3, 4), np.arange(12).reshape(3, 4), np.asfortranarray(np.arange(12.0).reshape(3, 4))):
            got, want = njit(m)(a), m(a)
            np.testing.assert_array_equal(got, want)
            assert np.asarray(got).dtype == np.asarray(want).dtype

    @njit
    def at(a):
        f.at(a, np.array([0, 0, 1]), 2)
        return a
    assert at(np.zeros(3)).tolist() == [4.0, 2.0, 0.0]
    assert njit(lambda: (f.nin, f.nout, f.nargs, f.identity, f.signature))() == (2, 1, 3, 0, None)
    plain = vectorize(lambda x, y: x - y)
    for wrong in (lambda a: plain.reduce(a, axis=None), lambda a: plain.reduce(a[:0]), lambda a: plain.reduce(a, where=a > 1), lambda a: plain.reduceat(a, [0, 2]), lambda a: plain.reduceat(a, [-1], 1),
                  lambda a: plain.accumulate(a[0, 0])):
        with pytest.raises((ValueError, IndexError, TypeError)) as want:
            wrong(np.ones((2, 2)))
        with pytest.raises(want.type) as got:
            njit(wrong)(np.ones((2, 2)))
        assert str(got.value) == str(want.value).replace("<lambda>", "call")
    larger = vectorize(["float64(float64, float64)"])(lambda x, y: x if x > y else y)
    masked = lambda a: larger.reduce(a, 1, initial=-1.0, where=a > 3)  # noqa: E731
    np.testing.assert_array_equal(njit(masked)(np.arange(12.0).reshape(3, 4)), masked(np.arange(12.0).reshape(3, 4)))


def test_ufuncs_are_arguments_and_raise(tier):
    @vectorize
    def f(x):
        if x < 0:
            raise ValueError("negative")
        return math.sqrt(x)
    apply = njit(lambda g, a: g(a))
    np.testing.assert_array_equal(apply(f, np.array([4.0, 9.0])), [2.0, 3.0])
    with pytest.raises(ValueError, match="negative"):
        apply(f, np.array([4.0, -9.0]))
    eager = vectorize(["float64(float64)"])(lambda x: x)
    with pytest.raises(TypeError, match="could not be safely coerced"):
        apply(eager, 1j)


def test_programs_written_for_numba(tmp_path):
    program = tmp_path / "program.py"
    program.write_text("""if 1:
        import numba, numpy as np
        from numba import carray, cfunc, float64, guvectorize, int64, njit, stencil, types, vectorize
        from numba.extending import get_cython_function_address
        from numba.np.ufunc.dufunc import DUFunc
        @vectorize([float64(float64, float64)], nopython=True, cache=True)
        def add(x, y):
            return x + y
        @guvectorize([(float64[:], float64[:])], "(n)->(n)", target="parallel")
        def total(a, r):
            s = 0.0
            for i in range(a.shape[0]):
                s += a[i]
                r[i] = s
        @stencil
        def mean(a):
            return (a[-1] + a[1]) / 2
        @cfunc(types.double(types.CPointer(types.double), types.intc))
        def first(p, n):
            return carray(p, (n,))[0]
        @njit
        def f(a):
            out = np.empty_like(a)
            total(add(a, a), out)
            return mean(out)
        print(f(np.arange(5.0)), isinstance(add, DUFunc), add.reduce(np.arange(4.0)), first.address > 0)
        """)
    done = subprocess.run([sys.executable, "-m", "tierup", "--as-numba", str(program)], capture_output=True, text=True)
    assert (done.stdout, done.returncode) == ("[ 0.  3.  7. 13.  0.] True 6.0 True\n", 0), done.stderr


def test_numbas_builders(tmp_path):
    program = tmp_path / "program.py"
    program.write_text("""if 1:
        import numpy as np
        from numba import float32, float64
        from numba.np.ufunc import GUVectorize, Vectorize
        builder = Vectorize(lambda x, y: x - y, target="parallel", identity=0)
        builder.add(float64(float64, float64))
        builder.add("float32(float32, float32)")
        f = builder.build_ufunc()
        def double(a, out):
            for i in range(len(a)):
                out[i] = a[i] * 2
        kernels = GUVectorize(double, "(n)->(n)", targetoptions={"nopython": True})
        kernels.add("void(float64[:], float64[:])")
        g = kernels.build_ufunc()
        print(f.types, f.identity, f(5.0, np.arange(3.0)), g(np.arange(3)))
        closed = Vectorize(lambda x: x + 1)
        closed.disable_compile()
        try:
            closed.build_ufunc()(1)
        except TypeError as e:
            print(e)
        """)
    done = subprocess.run([sys.executable, "-m", "tierup", "--as-numba", str(program)], capture_output=True, text=True)
    assert done.stdout.splitlines() == ["['dd->d', 'ff->f'] 0 [5. 4. 3.] [0. 2. 4.]", "ufunc '<lambda>' has no loop for int64 and may not compile more"], done.stderr


def test_python_computes_elements_where_object_mode_is_asked_for():
    seen = []

    def shown(x):
        seen.append(object())
        return eval("x + 1")
    f = vectorize(["float64(float64)", "int32(int32)"], forceobj=True)(shown)
    assert isinstance(f, np.ufunc) and f(np.arange(3.0)).tolist() == [1.0, 2.0, 3.0] and f(np.arange(2, dtype="i4")).dtype == np.int32 and f(2.5) == 3.5 and len(seen) == 6
    assert njit(lambda a: f(a))(np.arange(3.0)).tolist() == [1.0, 2.0, 3.0] and f.add("float32(float32)").objectmode and f(np.float32(1)).dtype == np.float32
    added = vectorize("float64(float64, float64)", forceobj=True, target="parallel")(lambda a, b: eval("a + b"))
    assert added.reduce(np.arange(4.0)) == 6.0 and added(np.arange(2.0)[:, None], np.arange(3.0)).tolist() == [[0.0, 1.0, 2.0], [1.0, 2.0, 3.0]]

    def refuse(x):
        raise ValueError("not this one")
    with pytest.raises(ValueError, match="not this one"):
        vectorize("float64(float64)", forceobj=True)(refuse)(np.zeros(2))
    with pytest.raises(tierup.TypingError, match="no result of type float64"):
        vectorize("float64(float64)", forceobj=True)(lambda x: "text")(np.zeros(2))
    with pytest.raises(TypeError, match="needs signatures"):
        vectorize(forceobj=True)(lambda x: x)(np.zeros(2))
