"""Kernels of `tierup.cuda`, on a GPU where there is one and else in the simulator: indices, memory, updates, streams, errors; and their PTX through `ptxas`."""

import os
import subprocess
import sys
import threading

import numpy as np
import pytest

from harness.build import needs_llvm
from harness.processes import HANG
from test_ptx import PTXAS

tierup = pytest.importorskip("tierup")
from tierup import cuda, float32  # noqa: E402

TILE = 16
SIMULATED = cuda.is_simulated()


@cuda.jit
def add(a, b, c):
    i = cuda.grid(1)
    if i < c.shape[0]:
        c[i] = a[i] + b[i]


@cuda.jit
def saxpy(a, x, y):
    for i in range(cuda.grid(1), y.size, cuda.gridsize(1)):
        y[i] = a * x[i] + y[i]


@cuda.jit
def product(a, b, c):
    rows, columns = cuda.shared.array((TILE, TILE), np.float32), cuda.shared.array((TILE, TILE), float32)
    x, y = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    s = np.float32(0)
    for k in range((a.shape[1] + TILE - 1) // TILE):
        rows[ty, tx] = 0
        columns[ty, tx] = 0
        if y < a.shape[0] and tx + k * TILE < a.shape[1]:
            rows[ty, tx] = a[y, tx + k * TILE]
        if x < b.shape[1] and ty + k * TILE < b.shape[0]:
            columns[ty, tx] = b[ty + k * TILE, x]
        cuda.syncthreads()
        for j in range(TILE):
            s += rows[ty, j] * columns[j, tx]
        cuda.syncthreads()
    if y < c.shape[0] and x < c.shape[1]:
        c[y, x] = s


@cuda.jit
def total(x, out):
    part = cuda.shared.array(0, np.float64)
    t = cuda.threadIdx.x
    s = 0.0
    for i in range(cuda.grid(1), x.shape[0], cuda.gridsize(1)):
        s += x[i]
    part[t] = s
    cuda.syncthreads()
    n = cuda.blockDim.x // 2
    while n > 0:
        if t < n:
            part[t] += part[t + n]
        cuda.syncthreads()
        n //= 2
    if t == 0:
        cuda.atomic.add(out, 0, part[0])


@cuda.jit
def place(out):
    i = cuda.threadIdx.x + cuda.blockDim.x * (cuda.threadIdx.y + cuda.blockDim.y * cuda.threadIdx.z)
    block = cuda.blockIdx.x + cuda.gridDim.x * (cuda.blockIdx.y + cuda.gridDim.y * cuda.blockIdx.z)
    k = block * cuda.blockDim.x * cuda.blockDim.y * cuda.blockDim.z + i
    x, y, z = cuda.grid(3)
    w, h, d = cuda.gridsize(3)
    out[k, 0], out[k, 1], out[k, 2] = x, y, z
    out[k, 3] = w * h * d


@cuda.jit
def beyond(x):
    i = cuda.grid(1)
    x[i] = 1


KERNELS = [
    (add, "(float64[::1], float64[::1], float64[::1])"), (add, "(int32[:], int32[:], int32[:])"), (saxpy, "(float32, float32[::1], float32[::1])"), (saxpy, "(float64, float64[::1], float64[::1])"),
    (product, "(float32[:, ::1], float32[:, ::1], float32[:, ::1])"), (total, "(float64[::1], float64[::1])"), (place, "(int64[:, ::1],)"), (beyond, "(float32[::1],)"),
]


def test_the_device_says_what_it_is():
    assert bool(cuda.is_available()) == (cuda.why_unavailable() is None)
    if SIMULATED:
        assert cuda.get_current_device().name == "simulator"
    else:
        assert cuda.get_current_device().compute_capability >= (7, 5) and cuda.get_current_device().MULTIPROCESSOR_COUNT > 0
        assert 0 < cuda.current_context().get_memory_info()[0]


def test_import_needs_no_driver_and_says_why_there_is_none():
    code = "from tierup import cuda; cuda.jit(lambda x: None); print(bool(cuda.is_available()), cuda.is_simulated(), cuda.why_unavailable())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=HANG, env={**os.environ, "TIERUP_CUDASIM": "1"})
    assert done.returncode == 0, done.stderr
    available, simulated, why = done.stdout.strip().split(" ", 2)
    assert simulated == "True" and (available == "True") == (why == "None")


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int32", "int64", "float32", "float64", "complex64", "complex128"])
def test_arrays_of_the_host_are_copied_to_and_fro(dtype):
    a, b = (np.arange(1000) % 50).astype(dtype), (np.arange(1000) % 7).astype(dtype)
    c = np.zeros(1000, dtype)
    add[4, 256](a, b, c)
    np.testing.assert_array_equal(c, a + b)


def test_in_and_out_say_what_is_copied():
    a, b, c = np.arange(10.0), np.ones(10), np.zeros(10)
    add[1, 32](cuda.In(a), cuda.In(b), cuda.Out(c))
    np.testing.assert_array_equal(c, a + 1)
    saxpy[1, 32](2.0, a, cuda.In(c))
    np.testing.assert_array_equal(c, a + 1)
    saxpy[1, 32](2.0, a, cuda.InOut(c))
    np.testing.assert_array_equal(c, 3 * a + 1)


def test_strided_and_fortran_arrays():
    a = np.arange(40.0)[::4]
    d = cuda.to_device(np.arange(40.0))
    c = cuda.device_array(10)
    add[1, 32](d[::4], d[1::4], c)
    np.testing.assert_array_equal(c.copy_to_host(), 2 * a + 1)
    m = np.asfortranarray(np.random.default_rng(1).random((33, 20), np.float32))
    n = np.random.default_rng(2).random((20, 50), np.float32)
    out = np.zeros((33, 50), np.float32)
    product[(4, 3), (TILE, TILE)](m, n, out)
    np.testing.assert_allclose(out, m @ n, rtol=1e-5)


@pytest.mark.parametrize("shape", [(1, 1, 1), (16, 16, 16), (33, 70, 50), (64, 1, 100)])
def test_a_product_with_shared_memory(shape):
    m, k, n = shape
    rng = np.random.default_rng(0)
    a, b, c = rng.random((m, k), np.float32), rng.random((k, n), np.float32), np.zeros((m, n), np.float32)
    product[(-(-n // TILE), -(-m // TILE)), (TILE, TILE)](a, b, c)
    np.testing.assert_allclose(c, a @ b, rtol=1e-5)


@pytest.mark.parametrize("block", [32, 256, 1024])
def test_a_reduction_with_memory_of_the_launch(block):
    x, out = np.random.default_rng(0).random(5000), np.zeros(1)
    total[4, block, 0, 8 * block](x, out)
    np.testing.assert_allclose(out[0], x.sum(), rtol=1e-12)


def test_shared_memory_of_the_launch_has_its_size():
    with pytest.raises(IndexError) as e:
        total[1, 64, 0, 8 * 32](np.ones(10), np.zeros(1))
    assert e.value.place.kernel == "total" and max(e.value.place.thread) >= 32


@pytest.mark.parametrize("blocks, threads", [(5, 7), ((2, 3), (4, 5)), ((2, 3, 4), (3, 2, 5))])
def test_every_thread_has_a_place_of_its_own(blocks, threads):
    three = lambda v: tuple(np.atleast_1d(v)) + (1,) * (3 - len(np.atleast_1d(v)))  # noqa: E731
    blocks3, threads3 = three(blocks), three(threads)
    out = np.full((np.prod(blocks3) * np.prod(threads3), 4), -1)
    place[blocks, threads](out)
    size = [int(b * t) for b, t in zip(blocks3, threads3)]
    assert sorted(map(tuple, out[:, :3].tolist())) == sorted((x, y, z) for x in range(size[0]) for y in range(size[1]) for z in range(size[2]))
    assert (out[:, 3] == np.prod(size)).all()


@cuda.jit
def count(h, x, low, high, seen):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.add(h, int(x[i]), 1)
        cuda.atomic.min(low, 0, x[i])
        cuda.atomic.max(high, 0, x[i])
        cuda.atomic.sub(seen, (0, 1), 1)
        cuda.atomic.or_(seen, (1, 0), 1 << int(x[i]))


@pytest.mark.parametrize("dtype", ["int32", "uint32", "int64", "uint64", "float32", "float64"])
def test_updates_lose_nothing(dtype):
    x = np.random.default_rng(3).integers(2, 30, 3000).astype(dtype)
    h, low, high, seen = np.zeros(32, np.int32), np.full(1, 100, dtype), np.zeros(1, dtype), np.zeros((2, 2), np.int64)
    count[12, 256](h, x, low, high, seen)
    np.testing.assert_array_equal(h, np.bincount(x.astype(int), minlength=32))
    assert (low[0], high[0], seen[0, 1]) == (x.min(), x.max(), -3000)
    assert seen[1, 0] == np.bitwise_or.reduce(1 << np.unique(x.astype(np.int64)))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", ["max", "min", "nanmax", "nanmin"])
def test_nan_in_updates(name, dtype):
    update = getattr(cuda.atomic, name)

    @cuda.jit
    def one(a, x):
        update(a, 0, x[0])

    nan, got = np.nan, {}
    for old, new in [(nan, 1.0), (1.0, nan), (1.0, 2.0), (2.0, 1.0), (nan, nan)]:
        a = np.array([old], dtype)
        one[1, 1](a, np.array([new], dtype))
        got[old, new] = a[0]
    better = max if name.endswith("max") else min
    want = {(nan, 1.0): 1.0 if name.startswith("nan") else nan, (1.0, nan): 1.0, (1.0, 2.0): better(1.0, 2.0), (2.0, 1.0): better(1.0, 2.0), (nan, nan): nan}
    np.testing.assert_array_equal(list(got.values()), list(want.values()))


@cuda.jit
def others(a, old):
    old[0] = cuda.atomic.exch(a, 0, 9)
    old[1] = cuda.atomic.and_(a, 1, 0b110)
    old[2] = cuda.atomic.xor(a, 2, 0b101)
    old[3] = cuda.atomic.inc(a, 3, 3)
    old[4] = cuda.atomic.inc(a, 4, 3)
    old[5] = cuda.atomic.dec(a, 5, 7)
    old[6] = cuda.atomic.dec(a, 6, 7)
    old[7] = cuda.atomic.cas(a, 7, 5, 8)
    old[8] = cuda.atomic.cas(a, 8, 4, 8)
    old[9] = cuda.atomic.compare_and_swap(a, 9, 1)


@pytest.mark.parametrize("dtype", ["int32", "uint32", "int64", "uint64"])
def test_other_updates_and_what_they_give(dtype):
    a, old = np.array([5, 3, 6, 2, 3, 0, 4, 5, 5, 5], dtype), np.zeros(10, dtype)
    others[1, 1](a, old)
    np.testing.assert_array_equal(a, [1, 2, 3, 3, 0, 7, 3, 8, 5, 5])
    np.testing.assert_array_equal(old, [5, 3, 6, 2, 3, 0, 4, 5, 5, 9])


def test_arrays_of_a_thread():
    @cuda.jit
    def reverse(x, out):
        mine = cuda.local.array((2, 4), np.int64)
        i = cuda.grid(1)
        for k in range(8):
            mine[k // 4, k % 4] = x[i, k]
        for k in range(8):
            out[i, k] = mine[1 - k // 4, 3 - k % 4]

    x = np.random.default_rng(0).integers(0, 1000, (64, 8))
    out = np.zeros_like(x)
    reverse[2, 32](x, out)
    np.testing.assert_array_equal(out, x[:, ::-1])


def test_functions_of_the_device_and_mathematics():
    @cuda.jit(device=True)
    def bell(x, width):
        return np.exp(-(x / width) ** 2)

    @cuda.jit
    def fill(x, out, width):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = bell(x[i], width) + np.sqrt(abs(np.sin(x[i])))

    x = np.linspace(-3, 3, 500)
    out = np.zeros_like(x)
    fill.forall(x.size)(x, out, 1.5)
    np.testing.assert_allclose(out, np.exp(-(x / 1.5) ** 2) + np.sqrt(abs(np.sin(x))), rtol=1e-14)


def test_products_are_fused_with_sums_unless_asked_not_to():
    def f(x, out):
        out[0] = x[0] * x[1] + x[2]
        out[1] = x[0] * x[1] - x[2]
        out[2] = x[2] - x[0] * x[1]

    x, e = np.array([1 + 2**-30, 1 - 2**-30, -1.0]), 2.0**-60
    fused, plain = np.zeros(3), np.zeros(3)
    cuda.jit(f)[1, 1](x, fused)
    cuda.jit(fma=False)(f)[1, 1](x, plain)
    np.testing.assert_array_equal(fused, [-e, 2.0, -2.0])
    np.testing.assert_array_equal(plain, [0, 2, -2])


def test_scalars_and_tuples_as_arguments():
    @cuda.jit
    def mix(out, n, f, flag, z, pair):
        i = cuda.grid(1)
        if flag:
            out[i] = n + f + z.real * z.imag + pair[0] * pair[1][i]

    d = cuda.to_device(np.arange(4.0))
    out = cuda.device_array(4)
    mix[1, 4](out, np.int8(3), np.float32(0.5), True, 2 + 3j, (10, d))
    np.testing.assert_array_equal(out.copy_to_host(), 9.5 + 10 * np.arange(4.0))
    assert len(mix.signatures) == 1


def test_threads_that_have_ended_are_not_waited_for():
    @cuda.jit
    def early(out):
        t = cuda.threadIdx.x
        if t >= 40:
            return
        part = cuda.shared.array(64, np.int32)
        part[t] = t
        cuda.syncthreads()
        out[t] = part[39 - t]

    out = np.zeros(64, np.int32)
    early[1, 64](out)
    np.testing.assert_array_equal(out, [*range(39, -1, -1)] + [0] * 24)


def test_an_index_out_of_bounds_is_raised_at_the_next_synchronisation():
    x = cuda.to_device(np.zeros(10, np.float32))
    beyond[3, 8](x)
    with pytest.raises(IndexError) as e:
        cuda.synchronize()
    place_ = e.value.place
    assert place_.kernel == "beyond" and place_.line == beyond.py_func.__code__.co_firstlineno + 3
    assert 8 * place_.block[0] + place_.thread[0] >= 10 and place_.block[1:] == place_.thread[1:] == (0, 0)
    cuda.synchronize()
    np.testing.assert_array_equal(x.copy_to_host(), np.ones(10))


def test_exceptions_have_their_class_and_line():
    @cuda.jit
    def picky(x, y):
        i = cuda.grid(1)
        if x[i] < 0:
            raise ValueError("negative")
        y[i] = 10 // x[i]

    y = np.zeros(4, np.int64)
    picky[1, 4](np.array([1, 2, 5, 10]), y)
    np.testing.assert_array_equal(y, [10, 5, 2, 1])
    for values, error, line in [([1, -1, 1, 1], ValueError, 4), ([1, 1, 1, 0], ZeroDivisionError, 5)]:
        with pytest.raises(error) as e:
            picky[1, 4](np.array(values), y)
        assert e.value.place.line == picky.py_func.__code__.co_firstlineno + line


def test_what_a_kernel_cannot_do_is_said_at_its_line():
    def returns(x):
        return x[0]

    def makes(x):
        y = np.zeros(int(x[0]))
        x[0] = y[0]

    def wrong_shape(x):
        n = int(x[0])
        y = cuda.shared.array(n, np.float32)
        x[0] = y[0]

    def narrow(x):
        cuda.atomic.add(x, 0, 1)

    d = cuda.to_device(np.zeros(4))
    for f, argument, text, line in [(returns, d, "gives nothing back", None), (makes, d, "new object", 1), (wrong_shape, d, "must be a constant", 2), (narrow, cuda.to_device(np.zeros(4, np.int8)), "32 or 64-bit", 1)]:
        with pytest.raises(tierup.TierupError) as e:
            cuda.jit(f)[1, 1](argument)
        assert text in str(e.value), e.value
        assert line is None or f"line {f.__code__.co_firstlineno + line}," in str(e.value), e.value


def test_outside_of_kernels_it_is_refused():
    def f(x):
        y = x
        return cuda.grid(1) + y

    with pytest.raises(tierup.UnsupportedError, match="only in a kernel") as e:
        tierup.njit(f)(1)
    assert f"line {f.__code__.co_firstlineno + 2}," in str(e.value)
    for use in [lambda: cuda.grid(1), lambda: cuda.threadIdx.x + 1, lambda: cuda.syncthreads(), lambda: cuda.atomic.add(np.zeros(1), 0, 1)]:
        with pytest.raises(RuntimeError, match="only in a kernel"):
            use()


def test_launches_that_make_no_sense():
    with pytest.raises(ValueError, match="size of its grid"):
        add(1, 2, 3)
    for grid, block, error in [((1, 1, 1, 1), 1, ValueError), (1, 0, ValueError), (1, 2000, ValueError), (2**31, 1, ValueError), ((1, 65536), 1, ValueError), (1, (1, 1, 65), ValueError), ("a", 1, TypeError)]:
        with pytest.raises(error):
            add[grid, block]
    with pytest.raises(TypeError, match="takes 3 arguments"):
        add[1, 1](np.zeros(1))
    with pytest.raises(TypeError):
        cuda.jit(strange=1)
    with pytest.raises(ValueError):
        cuda.to_device(np.zeros(3)).copy_to_host(np.zeros(4))


@pytest.mark.parametrize("option", [{"device": True, "link": ["a.ptx"]}, {"device": True, "max_registers": 32}, {"device": True, "fastmath": True}], ids=str)
def test_what_is_not_honoured_is_refused(option):
    with pytest.raises(NotImplementedError, match=list(option)[-1]):
        cuda.jit(**option)


def test_a_changed_global_is_seen():
    space = {"cuda": cuda, "K": 2}
    exec("def scale(x):\n    i = cuda.grid(1)\n    x[i] *= K\n", space)
    kernel, x = cuda.jit(space["scale"]), np.ones(4)
    kernel[1, 4](x)
    space["K"] = 5
    kernel[1, 4](x)
    np.testing.assert_array_equal(x, np.full(4, 10.0))


def test_signatures_compile_at_once():
    @cuda.jit("void(float32[::1], float32)")
    def scale(x, a):
        x[cuda.grid(1)] *= a

    assert len(scale.signatures) == 1
    x = np.ones(8, np.float32)
    scale[1, 8](x, np.float32(3))
    assert (x == 3).all() and len(scale.signatures) == 1


# ---------------------------------------------------------------- warps


@cuda.jit
def lanes(x, out, votes):
    i, lane = cuda.grid(1), cuda.laneid
    full = 0xFFFFFFFF
    out[i, 0] = cuda.shfl_sync(full, x[i], 5)
    out[i, 1] = cuda.shfl_up_sync(full, x[i], 2)
    out[i, 2] = cuda.shfl_down_sync(full, x[i], 3)
    out[i, 3] = cuda.shfl_xor_sync(full, x[i], 1)
    votes[i, 0] = cuda.ballot_sync(full, lane % 3 == 0)
    votes[i, 1] = cuda.any_sync(full, i == 40)
    votes[i, 2] = cuda.all_sync(full, i < 32)
    votes[i, 3] = lane + cuda.warpsize


@pytest.mark.parametrize("dtype", ["int32", "uint32", "int64", "float32", "float64"])
def test_lanes_exchange_values_and_vote(dtype):
    x = (np.arange(64) * 3 - 50).astype(dtype) if dtype != "uint32" else np.arange(64, dtype=dtype) + 2**31
    out, votes = np.zeros((64, 4), dtype), np.zeros((64, 4), np.int64)
    lanes[1, 64](x, out, votes)
    k = np.arange(64)
    lane, first = k % 32, k // 32 * 32
    np.testing.assert_array_equal(out[:, 0], x[first + 5])
    np.testing.assert_array_equal(out[:, 1], x[np.where(lane >= 2, k - 2, k)])
    np.testing.assert_array_equal(out[:, 2], x[np.where(lane < 29, k + 3, k)])
    np.testing.assert_array_equal(out[:, 3], x[k ^ 1])
    np.testing.assert_array_equal(votes[:, 0], np.full(64, sum(1 << n for n in range(0, 32, 3))))
    np.testing.assert_array_equal(votes[:, 1:], np.stack([k >= 32, k < 32, lane + 32], 1))


@cuda.jit
def warp_total(x, out):
    part = cuda.shared.array(32, np.float64)
    t = cuda.threadIdx.x
    s = 0.0
    for i in range(cuda.grid(1), x.shape[0], cuda.gridsize(1)):
        s += x[i]
    step = 16
    while step > 0:
        s += cuda.shfl_down_sync(0xFFFFFFFF, s, step)
        step //= 2
    if t % 32 == 0:
        part[t // 32] = s
    cuda.syncthreads()
    if t < 32:
        s = part[t] if t < cuda.blockDim.x // 32 else 0.0
        cuda.syncwarp()
        step = 16
        while step > 0:
            s += cuda.shfl_down_sync(0xFFFFFFFF, s, step)
            step //= 2
        if t == 0:
            cuda.atomic.add(out, 0, s)
    cuda.syncthreads()


def test_one_warp_goes_on_while_others_wait_for_the_block():
    x, out = np.random.default_rng(5).random(10_000), np.zeros(1)
    warp_total[3, 256](x, out)
    np.testing.assert_allclose(out[0], x.sum(), rtol=1e-12)


@pytest.mark.skipif(not SIMULATED, reason="a GPU would hang, or go on with wrong values")
def test_waiting_at_places_that_never_meet_is_found():
    @cuda.jit
    def apart(x):
        if cuda.threadIdx.x == 0:
            cuda.syncwarp()
        else:
            cuda.syncthreads()
        x[0] = 1

    x = cuda.to_device(np.zeros(1))
    apart[1, 4](x)
    with pytest.raises(RuntimeError, match="never meet"):
        cuda.synchronize()


# ---------------------------------------------------------------- arrays, streams, events


@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_on_the_device(order):
    a = np.asarray(np.random.default_rng(0).random((5, 7, 3)), order=order)
    d = cuda.to_device(a)
    assert (d.shape, d.dtype, d.size, d.nbytes, d.strides) == (a.shape, a.dtype, a.size, a.nbytes, a.strides)
    np.testing.assert_array_equal(d.copy_to_host(), a)
    for index in [2, (slice(None), 1), (slice(1, 4), slice(None, None, -2)), (..., 0), (None, 3), (slice(4, 0, -1), 2, 1)]:
        np.testing.assert_array_equal(d[index].copy_to_host(), a[index])
    assert d[1, 2, 0] == a[1, 2, 0]
    np.testing.assert_array_equal(d.T.copy_to_host(), a.T)
    d[1:3, 0] = 7
    a[1:3, 0] = 7
    np.testing.assert_array_equal(d.copy_to_host(), a)
    like = cuda.device_array_like(d)
    like.copy_to_device(d)
    np.testing.assert_array_equal(np.asarray(like), a)
    with pytest.raises(IndexError):
        d[9]


def test_reshape_and_views():
    d = cuda.to_device(np.arange(12))
    np.testing.assert_array_equal(d.reshape(3, -1).copy_to_host(), np.arange(12).reshape(3, 4))
    np.testing.assert_array_equal(d.reshape((2, 6)).ravel().copy_to_host(), np.arange(12))
    np.testing.assert_array_equal(d.view(np.uint64).copy_to_host(), np.arange(12))
    np.testing.assert_array_equal(cuda.to_device(np.asfortranarray(np.arange(12).reshape(3, 4))).ravel(order="F").copy_to_host(), np.arange(12).reshape(3, 4).ravel(order="F"))
    with pytest.raises(ValueError):
        d.reshape(5, 2)
    assert cuda.to_device(np.zeros((0, 3))).copy_to_host().shape == (0, 3)


def test_the_interface_of_arrays_on_a_device():
    class Foreign:
        """What other libraries give."""

        def __init__(self, array):
            self.array, self.__cuda_array_interface__ = array, array.__cuda_array_interface__

    d = cuda.to_device(np.arange(10.0))
    interface = d.__cuda_array_interface__
    assert (interface["version"], interface["shape"], interface["typestr"], interface["strides"]) == (3, (10,), "<f8", None)
    assert d[::2].__cuda_array_interface__["strides"] == (16,)
    out = cuda.device_array(5)
    add[1, 8](Foreign(d[::2]), Foreign(d[1::2]), Foreign(out))
    np.testing.assert_array_equal(out.copy_to_host(), np.arange(1.0, 20.0, 4))
    assert cuda.is_cuda_array(Foreign(d)) and not cuda.is_cuda_array(np.zeros(1))
    assert cuda.as_cuda_array(Foreign(d))._address == d._address


def test_streams_and_events():
    s, start, end = cuda.stream(), cuda.event(), cuda.event()
    x, y = cuda.to_device(np.ones(1000), stream=s), cuda.to_device(np.zeros(1000), stream=s)
    start.record(s)
    for _ in range(5):
        saxpy[4, 256, s](2.0, x, y)
    end.record(s)
    end.synchronize()
    assert end.query() and start.elapsed_time(end) >= 0 and cuda.event_elapsed_time(start, end) >= 0
    with s.auto_synchronize():
        saxpy[4, 256, s](2.0, x, y)
    assert s.query()
    np.testing.assert_array_equal(y.copy_to_host(stream=s), np.full(1000, 12.0))


def test_launches_from_many_threads():
    errors = []

    def work(k):
        try:
            y = cuda.to_device(np.zeros(500))
            for _ in range(10):
                saxpy[2, 256](float(k), cuda.to_device(np.ones(500)), y)
            np.testing.assert_array_equal(y.copy_to_host(), np.full(500, 10.0 * k))
        except BaseException as e:
            errors.append(e)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert not errors, errors


# ---------------------------------------------------------------- PTX


@needs_llvm
@pytest.mark.skipif(PTXAS is None, reason="ptxas is not installed (requirements/gpu.txt)")
@pytest.mark.parametrize("capability", [75, 80, 90, 100])
def test_ptxas_takes_kernels(capability, tmp_path):
    more = [(count, "(int32[::1], float32[::1], float32[::1], float32[::1], int64[:, ::1])"), (count, "(int32[::1], uint64[::1], uint64[::1], uint64[::1], int64[:, ::1])"), (others, "(uint32[::1], uint32[::1])"), (others, "(int64[::1], int64[::1])"), (lanes, "(float64[::1], float64[:, ::1], int64[:, ::1])"), (lanes, "(float32[::1], float32[:, ::1], int64[:, ::1])"), (warp_total, "(float64[::1], float64[::1])"), (recursive, "(int64[::1], int64[::1])")]
    for kernel, types in KERNELS + more:
        text = kernel.ptx(types, capability)
        assert f".target sm_{capability}" in text and f".visible .entry {kernel.__name__}(" in text
        source = tmp_path / "kernel.ptx"
        source.write_text(text)
        done = subprocess.run([PTXAS, f"-arch=sm_{capability}", "-o", str(tmp_path / "kernel.cubin"), str(source)], capture_output=True, text=True, timeout=HANG)
        assert done.returncode == 0, f"{kernel}{types}: {done.stdout}{done.stderr}\n{text}"


@needs_llvm
def test_checks_leave_the_fast_way_alone():
    text = saxpy.ptx("(float32, float32[::1], float32[::1])", 90)
    assert "%tid.x" in text and "ld.global" in text and "st.global" in text and "atom.relaxed.gpu.global.cas.b64" in text
    tile = product.ptx("(float32[:, ::1], float32[:, ::1], float32[:, ::1])", 90)
    assert tile.count("barrier.sync") == 2 and "ld.shared" in tile and "ld.b32" not in tile
    # IndexError is class 10 of core/src/exc.rs.
    status, types = str((10 + 1) << 32 | beyond.py_func.__code__.co_firstlineno + 3), "(float32[::1],)"
    assert status in beyond.ptx(types, 90) and status not in cuda.jit(boundscheck=False)(beyond.py_func).ptx(types, 90)


def test_arrays_of_kernels_say_how_they_are_aligned():
    @cuda.jit
    def kernel(x):
        a, b = cuda.shared.array(8, np.float32, alignment=16), cuda.local.array(4, np.int8, 8)
        a[cuda.threadIdx.x] = cuda.threadIdx.x
        b[0] = 1
        x[cuda.threadIdx.x] = a[cuda.threadIdx.x] + b[0]

    x = np.zeros(8, np.float32)
    kernel[1, 8](x)
    np.testing.assert_array_equal(x, np.arange(1, 9))

    def wide(x):
        x[0] = cuda.shared.array(4, np.float32, alignment=64)[0]

    def odd(x):
        x[0] = cuda.shared.array(4, np.float32, alignment=3)[0]

    for f in (wide, odd):
        with pytest.raises(tierup.TierupError, match="power of two up to 16"):
            cuda.jit(f)[1, 1](x)


@cuda.jit
def twice(x, i):
    x[i] = 2 * x[i]


def test_a_kernel_calls_another_as_a_function():
    @cuda.jit
    def outer(x):
        i = cuda.grid(1)
        if i < x.shape[0]:
            twice(x, i)
            twice(x, i)

    x = np.arange(5.0)
    outer[1, 32](x)
    np.testing.assert_array_equal(x, 4 * np.arange(5.0))
    twice[1, 1](x, 3)
    assert x[3] == 24


def test_overloads_for_kernels_hold_there_alone():
    from tierup.extending import overload

    def both():
        pass

    def there():
        pass

    @overload(both, target="generic")
    def both_anywhere(x):
        return lambda x: x + 1

    @overload(both, target="cuda")
    def both_there(x):
        return lambda x: x + 10

    @overload(there, target="cuda")
    def only_there(x):
        return lambda x: both(x) * 2

    def kernel(x):
        x[0] = both(x[0])
        x[1] = there(x[1])

    x = np.ones(2)
    cuda.jit(kernel)[1, 1](x)
    np.testing.assert_array_equal(x, [11, 22])

    assert tierup.njit(lambda x: both(x))(1) == 2
    with pytest.raises(tierup.TypingError):
        tierup.njit(lambda x: there(x))(1)
    with pytest.raises(ValueError, match="'cuda'"):
        overload(both, target="gpu")


@cuda.jit(device=True)
def fib(n):
    if n < 2:
        return n
    return fib(n - 1) + fib(n - 2)


@cuda.jit(device=True)
def deeper(n):
    return deeper(n + 1) + n if n >= 0 else 0


@cuda.jit
def recursive(x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = fib(x[i])


def test_device_functions_call_themselves():
    x, y = np.arange(12), np.zeros(12, np.int64)
    recursive[1, 32](x, y)
    np.testing.assert_array_equal(y, [0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89])


class Refusal(Exception):
    pass


def test_exceptions_of_the_programs_own_classes():
    @cuda.jit(device=True)
    def positive(v):
        if v < 0:
            raise Refusal("negative")
        return v

    @cuda.jit
    def f(x):
        x[cuda.grid(1)] = positive(x[cuda.grid(1)])

    with pytest.raises(Refusal) as caught:
        f[1, 4](np.array([1.0, 2.0, -1.0, -1.0]))
    assert caught.value.place.line == positive.py_func.__code__.co_firstlineno + 3
    assert caught.value.place.thread in [(2, 0, 0), (3, 0, 0)]


def test_debug_has_a_launch_raise_itself():
    @cuda.jit(debug=True)
    def f(n):
        if n > 0:
            raise ValueError

    launch = f[1, 1]
    launch(0)
    with pytest.raises(ValueError, match="kernel"):
        launch(1)
    cuda.synchronize()


@pytest.mark.skipif(not SIMULATED, reason="a GPU does not know how much stack there is")
@pytest.mark.parametrize("waits", [False, True])
def test_a_stack_that_is_used_up_is_an_exception(waits):
    @cuda.jit
    def kernel(x):
        if waits:
            cuda.syncthreads()
        x[0] = deeper(x[1])

    x = cuda.to_device(np.zeros(2, np.int64))
    for _ in range(2):
        kernel[1, 2](x)
        with pytest.raises(RecursionError) as e:
            cuda.synchronize()
        assert e.value.place.line == deeper.py_func.__code__.co_firstlineno and "stack" in str(e.value)
