"""What the host has of `tierup.cuda` beside kernels: how they are built, ufuncs, reductions, random states, memory that host and device share, streams, devices."""

import collections
import dataclasses
import math
import os
import subprocess
import sys
import threading
import types

import numpy as np
import pytest

from harness.build import needs_llvm
from harness.processes import HANG
from test_ptx import PTXAS

tierup = pytest.importorskip("tierup")
from tierup import cuda, float64, guvectorize, int64, vectorize  # noqa: E402
from tierup.cuda import random as states  # noqa: E402

SIMULATED = cuda.is_simulated()


def scale(x, a):
    i = cuda.grid(1)
    if i < x.shape[0]:
        x[i] = x[i] * a


# ---------------------------------------------------------------- the first launch of a process


@pytest.mark.parametrize("before", ["", "cuda.is_simulated()", "cuda.is_available(); cuda.is_simulated(); cuda.select_device(0)"])
def test_the_first_launch_copies_arrays_of_the_host_whatever_was_asked_before(before):
    program = f"""
import numpy as np
from tierup import cuda
from tierup.cuda import _kernel
copied, plain = [], _kernel.to_device
_kernel.to_device = lambda value, *more, **named: copied.append(value) or plain(value, *more, **named)
{before}
@cuda.jit
def kernel(x):
    x[cuda.grid(1)] = 1.0
x = np.zeros(32)
kernel[1, 32](x)
assert len(copied) == 1 and copied[0] is x and x.all(), copied
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=HANG)
    assert done.returncode == 0, done.stdout + done.stderr


# ---------------------------------------------------------------- how kernels are built


@pytest.mark.parametrize("options", [{"max_registers": 32}, {"launch_bounds": 256}, {"launch_bounds": (256, 2)}, {"lineinfo": True}, {"debug": True}, {"opt": False}, {"cache": True}], ids=str)
def test_kernels_of_every_build_give_the_same(options):
    kernel, x = cuda.jit(**options)(scale), np.arange(100.0)
    kernel[1, 128](x, 2.0)
    np.testing.assert_array_equal(x, 2 * np.arange(100.0))
    assert kernel.targetoptions == options


@needs_llvm
@pytest.mark.skipif(PTXAS is None, reason="ptxas is not installed (requirements/gpu.txt)")
@pytest.mark.parametrize("options, directive", [({"launch_bounds": 256}, ".maxntid 256\n{"), ({"launch_bounds": (512, 2)}, ".maxntid 512\n.minnctapersm 2\n{"), ({"lineinfo": True}, ".loc\t"), ({"debug": True}, ".loc\t"), ({"opt": False}, ".visible .entry")])
def test_what_a_build_says_stands_in_the_ptx(options, directive, tmp_path):
    text = cuda.jit(**options)(scale).ptx("(float64[::1], float64)", 90)
    assert directive in text, text
    if ".loc" in directive:
        assert __file__ in text
    (tmp_path / "kernel.ptx").write_text(text)
    done = subprocess.run([PTXAS, "-arch=sm_90", "-o", str(tmp_path / "kernel.cubin"), str(tmp_path / "kernel.ptx")], capture_output=True, text=True, timeout=HANG)
    assert done.returncode == 0, f"{done.stdout}{done.stderr}\n{text}"


@pytest.mark.parametrize("options, error", [({"launch_bounds": 2000}, ValueError), ({"launch_bounds": (128, 2, 4)}, NotImplementedError), ({"max_registers": 1000}, ValueError)], ids=str)
def test_builds_that_make_no_sense(options, error):
    with pytest.raises(error):
        cuda.jit(**options)(scale)


@needs_llvm
def test_signatures_as_types_and_what_is_compiled():
    kernel = cuda.jit((float64[::1], float64))(scale)
    assert [len(types) for types in kernel.signatures] == [2] == [len(types) for types in kernel.overloads]
    overload = kernel.overloads[float64[::1], float64]
    assert kernel.inspect_asm((float64[::1], float64)) == list(kernel.inspect_asm().values())[0]
    with pytest.raises(KeyError):
        kernel.overloads[(int64,)]
    assert overload.max_cooperative_grid_blocks(128) >= 1
    assert overload.regs_per_thread >= (0 if SIMULATED else 1) and kernel.get_const_mem_size() >= 0
    x = np.ones(4)
    cuda.jit([(float64[::1], float64), (int64[::1], int64)])(scale).specialize(x, 2.0)[1, 4](x, 2.0)
    assert (x == 2).all()


@needs_llvm
@pytest.mark.skipif(SIMULATED, reason="the simulator keeps nothing")
def test_machine_code_is_kept_on_disk(tmp_path):
    (tmp_path / "program.py").write_text("import numpy as np\nfrom tierup import cuda\n@cuda.jit\ndef kernel(x):\n    x[cuda.grid(1)] *= 3\nx = np.ones(4)\nkernel[1, 4](x)\nassert (x == 3).all()\n")
    for _ in range(2):
        done = subprocess.run([sys.executable, str(tmp_path / "program.py")], capture_output=True, text=True, timeout=HANG, env={**os.environ, "TIERUP_CACHE": "1", "TIERUP_CACHE_DIR": str(tmp_path / "cache")})
        assert done.returncode == 0, done.stderr
    listed = subprocess.run([sys.executable, "-m", "tierup", "cache", "list"], capture_output=True, text=True, timeout=HANG, env={**os.environ, "TIERUP_CACHE_DIR": str(tmp_path / "cache")}).stdout
    assert listed.count("kernel (kernel)") == 1, listed


# ---------------------------------------------------------------- ufuncs


@vectorize(["float32(float32, float32)", "float64(float64, float64)"], target="cuda")
def weighed(a, b):
    return a * b + 1


def test_a_ufunc_of_the_device():
    a, b = np.arange(12.0).reshape(3, 4), np.arange(4.0)
    np.testing.assert_array_equal(weighed(a, b), a * b + 1)
    np.testing.assert_array_equal(weighed(a, 2), 2 * a + 1)
    np.testing.assert_array_equal(weighed(a[:, :1], b), a[:, :1] * b + 1)
    np.testing.assert_array_equal(weighed(a.T, a.T), a.T**2 + 1)
    assert weighed(a.astype(np.float32), np.float32(2)).dtype == np.float32 and weighed(a.astype(np.int16), 1.5).dtype == np.float64
    assert weighed(3.0, 4.0) == 13 and weighed.types == ["ff->f", "dd->d"]
    assert weighed(np.zeros((0, 3)), 1.0).shape == (0, 3)
    with pytest.raises(TypeError, match="no loop"):
        weighed(a.astype(complex), 1)
    with pytest.raises(TypeError):
        weighed(a)


def test_a_ufunc_leaves_arrays_of_the_device_there():
    a = np.arange(10.0)
    d, out = cuda.to_device(a), cuda.device_array(10)
    got = weighed(d, a)
    assert isinstance(got, cuda.DeviceNDArray)
    np.testing.assert_array_equal(got.copy_to_host(), a * a + 1)
    assert weighed(d[::-1], 2.0, out=out) is out
    np.testing.assert_array_equal(out.copy_to_host(), 2 * a[::-1] + 1)
    host = np.zeros(10)
    assert weighed(a, 3.0, out=host) is host
    np.testing.assert_array_equal(host, 3 * a + 1)
    with pytest.raises(ValueError, match="out has"):
        weighed(a, 3.0, out=np.zeros(9))


def test_a_ufunc_without_signatures_and_its_reduction():
    @vectorize(target="cuda")
    def larger(a, b):
        return a if a > b else b

    a = np.random.default_rng(0).random(5000)
    np.testing.assert_array_equal(larger(a, 0.5), np.maximum(a, 0.5))
    np.testing.assert_array_equal(larger(np.arange(5), 2), np.maximum(np.arange(5), 2))
    assert larger.reduce(a) == a.max()
    with pytest.raises(NotImplementedError, match="identity"):
        vectorize(target="cuda", identity=0)(lambda a, b: a + b)


@guvectorize(["void(float64[:, :], float64[:, :], float64[:, :])"], "(m,n),(n,p)->(m,p)", target="cuda")
def products(a, b, c):
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            s = 0.0
            for k in range(a.shape[1]):
                s += a[i, k] * b[k, j]
            c[i, j] = s


def test_a_generalised_ufunc_of_the_device():
    rng = np.random.default_rng(1)
    a, b = rng.random((5, 3, 4)), rng.random((5, 4, 2))
    np.testing.assert_allclose(products(a, b), a @ b)
    np.testing.assert_allclose(products(a, b[0]), a @ b[0])
    np.testing.assert_allclose(products(a[0], b[0]), a[0] @ b[0])
    np.testing.assert_allclose(products(a.astype(np.float32), b), a.astype(np.float32) @ b, rtol=1e-6)
    got = products(cuda.to_device(a), cuda.to_device(b))
    assert isinstance(got, cuda.DeviceNDArray)
    np.testing.assert_allclose(got.copy_to_host(), a @ b)
    out = np.zeros((5, 3, 2))
    assert products(a, b, out=out) is out
    with pytest.raises(ValueError, match="dimension"):
        products(a, a)


def test_numbers_and_results_without_dimensions():
    @guvectorize(["void(float64[:], float64, float64[:])"], "(n),()->()", target="cuda")
    def total(a, start, out):
        s = start
        for x in a:
            s += x
        out[0] = s

    a = np.arange(12.0).reshape(3, 4)
    np.testing.assert_array_equal(total(a, 1.0), a.sum(1) + 1)
    np.testing.assert_array_equal(total(a, np.arange(3.0)), a.sum(1) + np.arange(3.0))
    assert total(a[0], 1.0) == 7

    @guvectorize("(n)->(n)", target="cuda")
    def doubled(a, out):
        for i in range(a.shape[0]):
            out[i] = 2 * a[i]

    out = np.zeros((3, 4))
    doubled(a, out)
    np.testing.assert_array_equal(out, 2 * a)
    with pytest.raises(TypeError, match="pass the arrays"):
        doubled(a)


# ---------------------------------------------------------------- reductions, random numbers


@pytest.mark.parametrize("n", [1, 7, 255, 256, 257, 5000, 300_000])
def test_reductions(n):
    total, most = cuda.reduce(lambda a, b: a + b), cuda.Reduce(lambda a, b: max(a, b))
    x = np.random.default_rng(n).integers(-1000, 1000, n)
    assert total(x) == x.sum() and total(x, init=5) == x.sum() + 5 and most(x, init=x[0]) == x.max()
    assert total(cuda.to_device(x), size=(n + 1) // 2) == x[:(n + 1) // 2].sum()
    res = cuda.to_device(np.zeros(3, np.int64))
    assert total(x, res=res) is None and res.copy_to_host().tolist() == [x.sum(), 0, 0]


def test_reductions_of_nothing_and_of_too_much():
    total = cuda.reduce(lambda a, b: a + b)
    assert total(np.zeros(0), init=3) == 3
    with pytest.raises(TypeError):
        total(np.zeros((2, 2)))
    with pytest.raises(ValueError):
        total(np.zeros(3), size=4)


def reference(seed, n, count):
    """xoroshiro128+ with SplitMix64 and jumps, in Python's integers."""
    mask = 2**64 - 1
    rotated = lambda x, k: (x << k | x >> 64 - k) & mask  # noqa: E731

    def step(s):
        result = (s[0] + s[1]) & mask
        s1 = s[0] ^ s[1]
        return result, (rotated(s[0], 55) ^ s1 ^ s1 << 14 & mask, rotated(s1, 36))

    def jumped(s):
        a = b = 0
        for word in (0xBEAC0467EBA5FACB, 0xD86B048B86AA9922):
            for k in range(64):
                if word >> k & 1:
                    a, b = a ^ s[0], b ^ s[1]
                s = step(s)[1]
        return a, b

    z = (seed + 0x9E3779B97F4A7C15) & mask
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & mask
    z = (z ^ z >> 27) * 0x94D049BB133111EB & mask
    z ^= z >> 31
    s, out = (z, z), []
    for _ in range(n):
        mine, row = s, []
        for _ in range(count):
            got, mine = step(mine)
            row.append(got)
        out.append(row)
        s = jumped(s)
    return np.array(out, np.uint64)


@cuda.jit
def draw(s, bits, narrow, wide):
    i = cuda.grid(1)
    if i < s.shape[0]:
        bits[i] = states.xoroshiro128p_next(s, i)
        narrow[i] = states.xoroshiro128p_uniform_float32(s, i)
        wide[i] = states.xoroshiro128p_uniform_float64(s, i)


def test_random_numbers_are_those_of_the_algorithm():
    s = states.create_xoroshiro128p_states(40, seed=12345)
    bits, narrow, wide = np.zeros(40, np.uint64), np.zeros(40, np.float32), np.zeros(40)
    draw[2, 32](s, bits, narrow, wide)
    want = reference(12345, 40, 3)
    np.testing.assert_array_equal(bits, want[:, 0])
    np.testing.assert_array_equal(narrow, ((want[:, 1] >> np.uint64(11)) / 2.0**53).astype(np.float32))
    np.testing.assert_array_equal(wide, (want[:, 2] >> np.uint64(11)) / 2.0**53)
    later = states.create_xoroshiro128p_states(3, seed=12345, subsequence_start=37)
    again = np.zeros(3, np.uint64)
    draw[1, 32](later, again, np.zeros(3, np.float32), np.zeros(3))
    np.testing.assert_array_equal(again, want[37:, 0])


@cuda.jit
def normal(s, narrow, wide):
    i = cuda.grid(1)
    for k in range(narrow.shape[1]):
        narrow[i, k] = states.xoroshiro128p_normal_float32(s, i)
        wide[i, k] = states.xoroshiro128p_normal_float64(s, i)


def test_normal_numbers_are_normal():
    s, narrow, wide = states.create_xoroshiro128p_states(64, seed=1), np.zeros((64, 300), np.float32), np.zeros((64, 300))
    normal[2, 32](s, narrow, wide)
    for x in (narrow, wide):
        assert abs(x.mean()) < 0.03 and abs(x.std() - 1) < 0.03 and abs((x**3).mean()) < 0.1


# ---------------------------------------------------------------- memory


@pytest.mark.parametrize("make", [cuda.pinned_array, cuda.mapped_array, cuda.managed_array])
def test_arrays_in_memory_of_both(make):
    x = make((3, 5), np.float32)
    assert isinstance(x, np.ndarray) and x.flags.c_contiguous and x.dtype == np.float32
    x[:] = np.arange(15).reshape(3, 5)
    assert make(4, order="F").shape == (4,) and make((2, 3), order="F").flags.f_contiguous
    with pytest.raises(ValueError):
        make(3, order="X")
    with pytest.raises(NotImplementedError):
        make((2, 3), strides=(8, 80))
    flat = x.reshape(-1)
    kernel = cuda.jit(scale)
    kernel[1, 32](flat, np.float32(2))
    cuda.synchronize()
    np.testing.assert_array_equal(x, 2 * np.arange(15, dtype=np.float32).reshape(3, 5))
    assert cuda.is_cuda_array(x) == (make is not cuda.pinned_array)


def test_arrays_are_like_others():
    a = np.asfortranarray(np.zeros((3, 4), np.int16))
    for like in (cuda.pinned_array_like, cuda.mapped_array_like):
        x = like(a)
        assert (x.shape, x.dtype, x.strides) == (a.shape, a.dtype, a.strides)


def test_arrays_of_numpy_are_pinned_and_mapped_for_a_while():
    a, b = np.arange(1000.0), np.ones(500)
    with cuda.pinned(a, b):
        d = cuda.to_device(a)
        np.testing.assert_array_equal(d.copy_to_host(), a)
    with cuda.mapped(a) as d:
        cuda.jit(scale)[4, 256](d, 3.0)
    np.testing.assert_array_equal(a, 3 * np.arange(1000.0))
    with cuda.mapped(a, b) as (d, e):
        assert d.shape == (1000,) and e.shape == (500,)
    with pytest.raises(ValueError, match="gaps"), cuda.pinned(a[::2]):
        pass


# ---------------------------------------------------------------- streams, devices


@pytest.mark.parametrize("stream", [cuda.default_stream, cuda.legacy_default_stream, cuda.per_thread_default_stream, cuda.stream])
def test_every_kind_of_stream(stream):
    s, kernel = stream(), cuda.jit(scale)
    x = cuda.to_device(np.ones(100), stream=s)
    kernel[1, 128, s](x, 2.0)
    s.synchronize()
    np.testing.assert_array_equal(x.copy_to_host(stream=s), np.full(100, 2.0))


def test_the_devices_there_are():
    assert len(cuda.gpus) == 1 == len(list(cuda.list_devices())) and cuda.gpus[0] is cuda.get_current_device() is cuda.gpus.current
    assert cuda.select_device(0).get_memory_info() == cuda.current_context().get_memory_info()
    with cuda.gpus[0]:
        assert cuda.device_array(3).shape == (3,)
    with pytest.raises(NotImplementedError):
        cuda.select_device(1)
    cuda.close()


def test_doubles_of_mathematics_in_ufuncs():
    @vectorize(["float64(float64)"], target="cuda")
    def f(x):
        return math.exp(-x) + math.sqrt(x)

    x = np.linspace(0, 3, 50)
    np.testing.assert_allclose(f(x), np.exp(-x) + np.sqrt(x), rtol=1e-15)


# ---------------------------------------------------------------- constants


TABLE, GRID = np.arange(4.0), np.arange(6, dtype=np.int32).reshape(2, 3)


@cuda.jit(device=True)
def looked_up(k):
    table = cuda.const.array_like(TABLE)
    return table[k % table.shape[0]]


@cuda.jit
def with_constants(x):
    i, grid = cuda.grid(1), cuda.const.array_like(GRID)
    if i < x.shape[0]:
        x[i] = looked_up(i) + grid[1, i % 3]


def test_global_arrays_as_constants():
    x = np.zeros(8)
    with_constants[1, 32](x)
    want = np.arange(8) % 4 + 3.0 + np.arange(8) % 3
    np.testing.assert_array_equal(x, want)
    # What was in them when the kernel was compiled.
    GRID[1] += 100
    try:
        with_constants[1, 32](x)
        np.testing.assert_array_equal(x, want)
    finally:
        GRID[1] -= 100


def test_arrays_of_enclosing_functions_as_constants():
    def make(table):
        @cuda.jit
        def kernel(x):
            x[cuda.grid(1)] = cuda.const.array_like(table)[cuda.grid(1)]

        return kernel

    for table in (np.arange(4.0), np.asfortranarray([[1.0, 2.0], [3.0, 4.0]])[:, 0].copy() ** 2):
        x = np.zeros(table.size)
        make(table)[1, table.size](x)
        np.testing.assert_array_equal(x, table)


def test_constants_are_not_written_and_no_arguments():
    def writes(x):
        cuda.const.array_like(TABLE)[0] = 1

    def argument(x):
        x[0] = cuda.const.array_like(x)[0]

    with pytest.raises(ValueError):
        cuda.jit(writes)[1, 1](np.zeros(1))
    with pytest.raises(tierup.TierupError, match="takes a global array"):
        cuda.jit(argument)[1, 1](np.zeros(1))


@needs_llvm
@pytest.mark.skipif(PTXAS is None, reason="ptxas is not installed (requirements/gpu.txt)")
def test_ptxas_takes_constants(tmp_path):
    text = with_constants.ptx("(float64[::1],)", 90)
    # The array's address and length, where failures go, two constants.
    assert text[text.index(".entry"):text.index(")")].count(".param") == 5
    (tmp_path / "kernel.ptx").write_text(text)
    done = subprocess.run([PTXAS, "-arch=sm_90", "-o", str(tmp_path / "kernel.cubin"), str(tmp_path / "kernel.ptx")], capture_output=True, text=True, timeout=HANG)
    assert done.returncode == 0, f"{done.stdout}{done.stderr}\n{text}"


# ---------------------------------------------------------------- arrays of other libraries


class Foreign:
    """What other libraries give."""

    def __init__(self, array, **more):
        self.array, self.__cuda_array_interface__ = array, {**array.__cuda_array_interface__, **more}


def test_arrays_of_other_libraries_are_taken_as_they_are():
    kernel, d, other = cuda.jit(scale), cuda.to_device(np.arange(12.0)), cuda.stream()
    for stream in (None, 1, 2, other.handle or 1):
        kernel[1, 32](Foreign(d[::2], stream=stream), 2.0)
    np.testing.assert_array_equal(d.copy_to_host(), np.where(np.arange(12) % 2, 1, 16) * np.arange(12.0))
    for wrong, error in [({"mask": d}, NotImplementedError), ({"typestr": ">f8"}, TypeError), ({"strides": (8, 8)}, ValueError), ({"data": None}, TypeError)]:
        with pytest.raises(error):
            kernel[1, 32](Foreign(d, **wrong), 2.0)


# ---- what kernels are called with, and names that programs written for Numba use

def test_arguments_are_converted_to_the_signature():
    @cuda.jit(["(float64[:], float32, int64)", "(int64[::1], int64, int64)"])
    def f(out, a, b):
        out[0], out[1] = a, b

    x = np.zeros((2, 2))
    f[1, 1](x[:, 0], np.float32(0.1), 3)
    f[1, 1](x[1], 0.1, np.int8(4))
    assert x[0, 0] == np.float32(0.1) and x.tolist()[1] == [np.float32(0.1), 4] and len(f.overloads) == 2
    with pytest.raises(TypeError, match="No matching definition"):
        f[1, 1](x[0], 1j, 3)
    with pytest.raises(TypeError, match="No matching definition"):
        f[1, 1](x, 1, 3)


def test_specialised_kernels():
    @cuda.jit
    def f(x, n):
        x[0] = n

    one = f.specialize(float64[::1], int64)
    assert one is f.specialize(np.zeros(3), np.int64(2)) and len(f.specializations) == 1 and one.specialized and not f.specialized
    x = np.zeros(1)
    one[1, 1](x, 7)
    assert x[0] == 7 and isinstance(one.get_shared_mem_per_block(), int)
    with pytest.raises(RuntimeError, match="already specialized"):
        one.specialize(float64[::1], int64)


def test_extensions_see_arguments_first():
    calls = []

    class Doubled:
        def prepare_args(self, ty, value, stream, retr):
            retr.append(lambda: calls.append(str(ty)))
            return ty, 2 * value if isinstance(value, int) else value

    @cuda.jit(extensions=[Doubled()])
    def f(x, n):
        x[0] = n

    x = np.zeros(1)
    f[1, 1](x, 4)
    assert x[0] == 8 and len(calls) == 2


def test_forall_of_nothing():
    @cuda.jit
    def f(x):
        x[0] = 1

    x = np.zeros(1)
    f.forall(0)(x)
    assert x[0] == 0
    with pytest.raises(ValueError, match="negative task count"):
        f.forall(-1)


@cuda.jit
def pickled(x):
    x[0] = 5


def test_kernels_in_pickles():
    import pickle

    assert pickle.loads(pickle.dumps(pickled)) is pickled
    n = 3

    @cuda.jit("(float64[::1],)")
    def f(x):
        x[0] = n

    x = np.zeros(1)
    copy = pickle.loads(pickle.dumps(f))
    copy[1, 1](x)
    assert x[0] == 3 and len(copy.overloads) == 1


def test_launches_ufuncs_and_functions_of_a_device_in_pickles():
    import pickle

    n = 3

    @cuda.jit
    def f(x):
        x[cuda.grid(1)] = n

    @tierup.vectorize(["int64(int64)", "float64(float64)"], target="cuda")
    def times(x):
        return x * n

    @tierup.guvectorize([(tierup.float64[:], tierup.float64[:])], "(n)->(n)", target="cuda")
    def running(x, y):
        s = 0.0
        for i in range(x.shape[0]):
            s += x[i]
            y[i] = s

    @tierup.njit(target="cuda")
    def more(x):
        return x + n

    x, launch = np.zeros(6), pickle.loads(pickle.dumps(f[2, 3, 0, 16]))
    assert (launch.griddim, launch.blockdim, launch.stream, launch.sharedmem) == ((2, 1, 1), (3, 1, 1), 0, 16)
    launch(x)
    np.testing.assert_array_equal(x, np.full(6, 3.0))
    for g, want in [(times, [0, 3, 6]), (running, [0, 1, 3]), (more, [3, 4, 5])]:
        copy = pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(g))))
        np.testing.assert_array_equal(copy(np.arange(3.0)), want)


def test_tuples_of_host_arrays_come_back():
    @cuda.jit
    def f(pair, one):
        pair[0][0], pair[1][0] = 1, 2
        one[0] = 3

    a, b, c = np.zeros(1), np.zeros(1), np.zeros(1)
    f[1, 1]((a, b), cuda.In(c))
    assert (a[0], b[0], c[0]) == (1, 2, 0)


Pair = collections.namedtuple("Pair", "values factor")


@dataclasses.dataclass(frozen=True)
class Table:
    values: object
    factor: float


def test_arrays_in_named_tuples_and_dataclasses():
    @cuda.jit
    def f(pair, table, out):
        i = cuda.grid(1)
        out[i] = pair.values[i] * pair.factor
        table.values[i] = table.factor * i

    x, out, made = np.arange(4.0), np.zeros(4), np.zeros(4)
    f[1, 4](Pair(x, 3.0), Table(made, 2.5), out)
    np.testing.assert_array_equal([out, made], [3 * x, 2.5 * x])
    f[1, 4](Pair(cuda.to_device(x), 2.0), Table(cuda.to_device(x), 1.0), out)
    np.testing.assert_array_equal(out, 2 * x)


def test_ufuncs_of_the_device_refuse_what_they_do_not_know():
    for options, text in ({"what": True}, "not supported: 'what'"), ({"nopython": False}, "must be True"), ({"device": True}, "'device'"):
        with pytest.raises(TypeError, match=text):
            vectorize(["int32(int32)"], target="cuda", **options)(lambda a: a)
        with pytest.raises(TypeError, match=text):
            guvectorize(["void(int32[:], int32[:])"], "(n)->(n)", target="cuda", **options)(lambda a, b: None)
    with pytest.raises(TypeError, match="cannot return values"):
        guvectorize(["int32(int32[:], int32[:])"], "(n)->(n)", target="cuda")(lambda a, b: None)
    for function, args in (weighed, (1.0, 2.0)), (products, (np.ones((1, 1)), np.ones((1, 1)))):
        out = np.zeros((1, 1))
        with pytest.raises(ValueError, match="both positional and keyword"):
            function(*args, out, out=out)


def test_numbers_of_pythons_own_go_with_any_loop_of_their_kind():
    twice = guvectorize(["void(int32, int32[:])"], "()->()", target="cuda")(_twice)
    assert twice(10) == 20 and twice(10).dtype == np.int32
    product = vectorize(["int16(int16, int16)", "float32(float32, float32)"], target="cuda")(lambda a, b: a * b)
    for value, dtype in (3, np.int16), (1.5, np.float32):
        got = product(np.arange(4, dtype=np.int16), value)
        assert got.dtype == dtype
        np.testing.assert_array_equal(got, np.arange(4) * value)
    with pytest.raises(TypeError, match="no loop"):
        product(np.arange(4, dtype=np.int16), np.int64(3))


def _twice(a, out):
    out[0] = 2 * a


def test_ufuncs_of_the_device_divide_as_numpys_do():
    quotient = vectorize(["float64(float64, float64)"], target="cuda")(lambda a, b: a / b)
    np.testing.assert_array_equal(quotient(np.array([0.0, 1.0, -1.0]), 0.0), [np.nan, np.inf, -np.inf])


def test_arrays_like_others_are_in_the_nearer_order():
    for view, order in (np.zeros((10, 12), order="F")[::2, ::2], "F"), (np.zeros((10, 12))[::2, ::2], "C"), (np.zeros(9)[::3], "C"):
        for like in cuda.device_array_like, cuda.pinned_array_like, cuda.mapped_array_like:
            made = like(view)
            assert (made.shape, made.strides) == (view.shape, np.zeros_like(view, order="A" if order == "C" else "F").strides)
    x = np.arange(10)
    np.testing.assert_array_equal(cuda.to_device(x).reshape(2, 5, order="F").copy_to_host(), x.reshape(2, 5, order="F"))
    with pytest.raises(NotImplementedError, match="F-contiguous"):
        cuda.to_device(x.reshape(2, 5)).reshape(10, order="F")


def test_a_stream_comes_with_the_array_of_another_library():
    stream = cuda.stream()
    array = cuda.device_array(10, stream=stream)
    other = cuda.as_cuda_array(types.SimpleNamespace(__cuda_array_interface__=array.__cuda_array_interface__))
    assert other.stream.external and int(other.stream) == int(stream) and not stream.external
    assert repr(cuda.default_stream()) == "<Default CUDA stream>" and repr(other.stream).startswith("<External CUDA stream")
    assert cuda.device_array((0, 3)).__cuda_array_interface__["data"] == (0, False)
    for make in cuda.mapped_array, cuda.managed_array, cuda.device_array:
        assert make(3, stream=stream).__cuda_array_interface__["stream"] == int(stream) and make(3).__cuda_array_interface__["stream"] is None
    kept = cuda.to_device(np.arange(3.0))
    np.testing.assert_array_equal(weighed(types.SimpleNamespace(__cuda_array_interface__=kept.__cuda_array_interface__), 2.0).copy_to_host(), [1, 3, 5])


@pytest.mark.skipif(not SIMULATED, reason="NumPy takes arrays of the host alone")
@pytest.mark.parametrize("dtype", ["bool", "uint8", "int64", "float16", "float32", "complex128"])
def test_arrays_go_to_other_libraries_by_dlpack_and_back(dtype):
    from tierup.cuda import _dlpack
    x, there = np.arange(24).reshape(2, 3, 4).astype(dtype), len(_dlpack._given)
    for d, want in [(cuda.to_device(x), x), (cuda.to_device(x)[:, ::-1, 1:3], x[:, ::-1, 1:3]), (cuda.to_device(x).T, x.T)]:
        seen = np.from_dlpack(d)
        np.testing.assert_array_equal(seen, want)
        assert seen.dtype == want.dtype and seen.strides == d.strides and seen.__array_interface__["data"][0] == d._address
        assert len(_dlpack._given) == there + 1
        del seen
        assert len(_dlpack._given) == there
        source = x.copy().transpose(2, 0, 1)[::-1]
        back = cuda.from_dlpack(source)
        assert (back.dtype, back.shape, back.strides, back._address) == (source.dtype, source.shape, source.strides, source.__array_interface__["data"][0])
        np.testing.assert_array_equal(back.copy_to_host(), source)
    # A capsule that nobody takes leaves nothing behind.
    capsule = cuda.to_device(x).__dlpack__()
    assert len(_dlpack._given) == there + 1
    del capsule
    assert len(_dlpack._given) == there


def test_what_dlpack_cannot_carry():
    d = cuda.to_device(np.zeros(3, [("a", "i4"), ("b", "i8")]))
    with pytest.raises(BufferError):
        d.__dlpack__()
    with pytest.raises(BufferError):
        cuda.to_device(np.zeros(3)).__dlpack__(copy=True)

    class Taken:
        def __dlpack__(self, **options):
            return capsule

    capsule = np.zeros(3).__dlpack__()
    if SIMULATED:
        assert cuda.from_dlpack(Taken()).shape == (3,)
        with pytest.raises(ValueError):
            cuda.from_dlpack(Taken())


def test_more_of_arrays_on_devices():
    x = np.arange(24.0).reshape(2, 3, 4)
    d = cuda.to_device(x)
    assert d.flags["C_CONTIGUOUS"] and not d.T.flags.c_contiguous and d.flags.c_contiguous
    assert [p.shape[0] for p in cuda.to_device(np.arange(7)).split(3)] == [3, 3, 1]
    assert cuda.to_device(x[:1]).squeeze().shape == (3, 4) and cuda.to_device(x[:1, :1]).squeeze(0).shape == (1, 4)
    np.testing.assert_array_equal(d.view(np.int32).copy_to_host(), x.view(np.int32))
    np.testing.assert_array_equal(d.ravel("A").copy_to_host(), x.ravel())
    d[0, 0, 0] = 7
    assert d[0, 0, 0] == 7 and d.getitem((0, 0, 1)) == 1 and d.bind(0).shape == d.shape
    with pytest.raises(ValueError):
        cuda.to_device(np.zeros((4, 3), np.int16)).view(np.int32)
    with pytest.raises(ValueError, match="Can't assign 3-D array to 1-D self"):
        cuda.to_device(np.zeros(3))[:] = np.ones((1, 1, 3))
    with pytest.raises(ValueError, match="size 2 to array axis 0 with dimension 3"):
        cuda.to_device(np.zeros(3))[:] = [1, 2]
    made = cuda.cudadrv.devicearray.DeviceNDArray((2, 3), (24, 8), np.float64)
    made[:] = x[0, :2, :3]
    np.testing.assert_array_equal(made.copy_to_host(), x[0, :2, :3])
    assert cuda.device_array_like(cuda.to_device(np.asfortranarray(x[0]))[::2, ::2]).flags.f_contiguous
    assert d._numba_type_ == float64[:, :, ::1] and d.T._numba_type_.layout == "F"
    with pytest.raises(NotImplementedError, match="between processes"):
        d.get_ipc_handle()


def test_callbacks_of_streams():
    done, got, stream = threading.Event(), [], cuda.stream()

    def callback(s, status, arg):
        got.append((s is stream, status, arg))
        done.set()

    stream.add_callback(callback, 5)
    assert done.wait(20) and got == [(True, 0, 5)]


def test_streams_can_be_awaited():
    import asyncio

    async def all_done():
        streams = [cuda.stream() for _ in range(3)]
        return await asyncio.gather(*(s.async_done() for s in streams)) == streams

    assert asyncio.run(all_done())


def test_names_of_the_host():
    from tierup.cuda.cudadrv import devices, driver, error
    assert cuda.current_context().get_memory_info().total > 0 and len(cuda.get_current_device().uuid) == 40
    assert devices.get_context().device is cuda.gpus[0] and driver.Stream is cuda.Stream and issubclass(cuda.CudaAPIError, error.CudaDriverError)
    assert cuda.is_float16_supported() and cuda.is_supported_version() and cuda.runtime.get_version() >= (11, 2)
    assert cuda.cuda_error() is None or isinstance(cuda.cuda_error(), cuda.CudaSupportError)
    with cuda.defer_cleanup():
        x = cuda.to_device(np.ones(3))
        del x

    @cuda.require_context
    def two():
        return 2

    assert two() == 2
    x = np.arange(35.0).reshape(5, 7)
    np.testing.assert_array_equal(cuda.kernels.transpose.transpose(cuda.to_device(x)).copy_to_host(), x.T)


def test_memory_by_its_address():
    from tierup.cuda.cudadrv import driver
    context = cuda.current_context()
    memory, host, back = context.memalloc(400), np.arange(100, dtype=np.uint32), np.zeros(100, np.uint32)
    driver.host_to_device(memory, host, 400)
    driver.device_to_host(back, memory.view(4), 396)
    assert (back[:99] == host[1:]).all() and memory.refct == 1 and driver.is_device_memory(memory)
    memory.memset(0xAB)
    driver.device_to_host(back, memory, 400)
    assert (back == 0xABABABAB).all()
    shared = context.memhostalloc(32, mapped=True)
    driver.device_memset(shared, 7, 32)
    assert np.ndarray(32, np.uint8, shared).sum() == 7 * 32 == driver.device_memory_size(shared) * 7
    with pytest.raises(RuntimeError):
        memory.view(401)
    with pytest.raises(TypeError):
        driver.require_device_memory(host)
    done = []
    pointer = driver.MemoryPointer(context, 0x1000, 40, finalizer=lambda: done.append(1))
    view = pointer.view(8)
    assert view.handle.value == 0x1008 and pointer.refct == 2 and view.size == 32
    del view
    assert done == [] and pointer.refct == 1
    del pointer
    assert done == [1]


class Counted(cuda.HostOnlyCUDAMemoryManager):
    """Takes memory of the driver, and counts it."""

    sizes, version = [], 1
    interface_version = property(lambda self: self.version)

    def initialize(self):
        self.ready = True

    def memalloc(self, size):
        assert self.ready
        memory = tierup._tierup.DeviceMemory(size)
        self.sizes.append(size)
        pointer = cuda.MemoryPointer(self.context, memory.address, size, finalizer=lambda: self.sizes.remove(size) or memory)
        return pointer

    def get_memory_info(self):
        return cuda.MemoryInfo(1, 2)

    def get_ipc_handle(self, memory):
        return memory.size


def test_another_manager_of_memory():
    cuda.set_memory_manager(Counted)
    try:
        x = cuda.to_device(np.arange(5.0))
        x[0] = 3
        assert Counted.sizes == [40] and x.copy_to_host().tolist() == [3, 1, 2, 3, 4] and x[1:].get_ipc_handle() == 40
        assert cuda.current_context().get_memory_info().total == 2 and isinstance(cuda.current_context().memory_manager, Counted)
        del x
        assert Counted.sizes == []
        with pytest.raises(RuntimeError, match="version 1 required"):
            cuda.set_memory_manager(type("Other", (Counted,), {"version": 2}))
    finally:
        cuda.set_memory_manager(None)
    assert cuda.current_context().get_memory_info().total > 2


def test_warnings_where_tierup_stands_in_for_numba():
    program = """
import warnings
import tierup.compat
tierup.compat.install()
import numpy as np
from numba import cuda
from numba.core import config
from numba.core.errors import NumbaPerformanceWarning
from numba.cuda.random import create_xoroshiro128p_states

@cuda.jit
def f(x):
    x[0] = 1

def caught(run):
    with warnings.catch_warnings(record=True) as w:
        warnings.simplefilter("always")
        run()
    return [str(x.message).split()[0] for x in w if x.category is NumbaPerformanceWarning]

print(caught(lambda: f[1, 1](np.zeros(1))))
print(caught(lambda: f[200, 1](cuda.to_device(np.zeros(1)))))
config.CUDA_LOW_OCCUPANCY_WARNINGS = config.CUDA_WARN_ON_IMPLICIT_COPY = 0
print(caught(lambda: f[1, 1](np.zeros(1))))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=HANG)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n")[:3] == ["['Grid', 'Host']", "[]", "[]"]
