"""What threads of a kernel find out together: votes of blocks, matches of warps, barriers of the grid; and functions of bits."""

import subprocess

import numpy as np
import pytest

from harness.build import needs_llvm
from harness.processes import HANG
from test_ptx import PTXAS

tierup = pytest.importorskip("tierup")
from tierup import cuda  # noqa: E402

FULL = 0xFFFFFFFF


@cuda.jit
def votes(x, out):
    i = cuda.grid(1)
    out[i, 0] = cuda.syncthreads_count(x[i] > 5)
    out[i, 1] = cuda.syncthreads_and(x[i] >= 0)
    out[i, 2] = cuda.syncthreads_and(x[i] < 40)
    out[i, 3] = cuda.syncthreads_or(x[i] == 7)
    out[i, 4] = cuda.syncthreads_or(x[i] > 100)


def test_the_threads_of_a_block_vote():
    out = np.full((96, 5), -1)
    votes[2, 48](np.arange(96), out)
    np.testing.assert_array_equal(out[0], [42, 1, 0, 1, 0])
    np.testing.assert_array_equal(out[95], [48, 1, 0, 0, 0])
    assert (out[:48] == out[0]).all() and (out[48:] == out[95]).all()


@cuda.jit
def matches(x, out):
    i = cuda.grid(1)
    out[i, 0] = cuda.match_any_sync(FULL, x[i] % 3)
    mask, alike = cuda.match_all_sync(FULL, x[i] // 32)
    out[i, 1], out[i, 2] = mask, alike
    mask, alike = cuda.match_all_sync(FULL, x[i])
    out[i, 3], out[i, 4] = mask, alike
    out[i, 5] = cuda.eq_sync(FULL, x[i] >= 0)
    out[i, 6] = cuda.eq_sync(FULL, x[i] > 40)
    out[i, 7] = cuda.lanemask_lt()
    out[i, 8] = (cuda.activemask() >> cuda.laneid) & 1


@pytest.mark.parametrize("dtype", ["int32", "int64", "float32", "float64"])
def test_threads_of_a_warp_find_those_that_are_alike(dtype):
    out = np.full((64, 9), -1, np.int64)
    matches[1, 64](np.arange(64).astype(dtype), out)
    k = np.arange(64)
    same = [sum(1 << lane for lane in range(32) if (32 * (i // 32) + lane) % 3 == i % 3) for i in k]
    np.testing.assert_array_equal(out[:, 0], same)
    np.testing.assert_array_equal(out[:, 1:6], np.tile([FULL, 1, 0, 0, 1], (64, 1)))
    np.testing.assert_array_equal(out[:, 6], k < 32)
    np.testing.assert_array_equal(out[:, 7], (1 << k % 32) - 1)
    np.testing.assert_array_equal(out[:, 8], 1)


@cuda.jit
def bits(x, out):
    i = cuda.grid(1)
    if i < x.shape[0]:
        out[i, 0] = cuda.popc(x[i])
        out[i, 1] = cuda.clz(x[i])
        out[i, 2] = cuda.ffs(x[i])
        out[i, 3] = cuda.brev(x[i])
        out[i, 4] = cuda.selp(x[i] > 5, 1, 2)


@pytest.mark.parametrize("dtype, width", [("uint32", 32), ("uint64", 64)])
def test_functions_of_bits(dtype, width):
    x = np.array([0, 1, 2, 6, 255, 1 << 31, (1 << width) - 1, 1 << width - 1, 0x12345678], dtype)
    out = np.zeros((x.size, 5), np.uint64)
    bits[1, 32](x, out)
    for got, n in zip(out.tolist(), x.tolist()):
        assert got == [n.bit_count(), width - n.bit_length(), (n & -n).bit_length(), int(f"{n:0{width}b}"[::-1], 2), 1 if n > 5 else 2]


def test_one_rounding_and_cube_roots():
    @cuda.jit
    def numbers(x, out):
        out[0] = cuda.fma(x[0], x[1], x[2])
        out[1] = cuda.cbrt(x[3])
        cuda.nanosleep(20)

    for kind, e in ((np.float64, 2.0**-60), (np.float32, 2.0**-30)):
        half = np.sqrt(e)
        out = np.zeros(2, kind)
        numbers[1, 1](np.array([1 + half, 1 - half, -1, 27], kind), out)
        np.testing.assert_array_equal(out, [-e, 3])


@cuda.jit
def everybody(x, out):
    i = cuda.grid(1)
    grid = cuda.cg.this_grid()
    for step in range(3):
        x[i] = 10 * i + step
        grid.sync()
        out[i] += x[cuda.gridsize(1) - 1 - i]
        grid.sync()


@pytest.mark.parametrize("blocks, threads", [(1, 1), (1, 40), (7, 64), ((2, 3), 8)])
def test_all_threads_of_a_grid_wait_for_each_other(blocks, threads):
    if isinstance(blocks, tuple):
        @cuda.jit
        def kernel(x, out):
            i = cuda.threadIdx.x + cuda.blockDim.x * (cuda.blockIdx.x + cuda.gridDim.x * cuda.blockIdx.y)
            x[i] = i
            cuda.cg.this_grid().sync()
            out[i] = x[x.size - 1 - i]

        n = 48
    else:
        kernel, n = everybody, blocks * threads
    x, out = cuda.to_device(np.zeros(n, np.int64)), cuda.to_device(np.zeros(n, np.int64))
    for _ in range(2):
        kernel[blocks, threads](x, out)
    back = np.arange(n)[::-1]
    np.testing.assert_array_equal(out.copy_to_host(), back if isinstance(blocks, tuple) else 2 * (30 * back + 3))


@needs_llvm
@pytest.mark.skipif(PTXAS is None, reason="ptxas is not installed (requirements/gpu.txt)")
@pytest.mark.parametrize("capability", [75, 80, 90, 100])
def test_ptxas_takes_them(capability, tmp_path):
    for kernel, types in [(votes, "(int64[::1], int64[:, ::1])"), (matches, "(float32[::1], int64[:, ::1])"), (matches, "(int64[::1], int64[:, ::1])"), (bits, "(uint64[::1], uint64[:, ::1])"), (everybody, "(int64[::1], int64[::1])")]:
        source = tmp_path / "kernel.ptx"
        source.write_text(kernel.ptx(types, capability))
        done = subprocess.run([PTXAS, f"-arch=sm_{capability}", "-o", str(tmp_path / "kernel.cubin"), str(source)], capture_output=True, text=True, timeout=HANG)
        assert done.returncode == 0, f"{kernel}{types}: {done.stdout}{done.stderr}\n{source.read_text()}"


@needs_llvm
def test_what_the_hardware_has_is_one_instruction():
    assert "barrier.red.popc" in votes.ptx("(int64[::1], int64[:, ::1])", 90)
    text = matches.ptx("(int64[::1], int64[:, ::1])", 90)
    assert "match.any.sync.b64" in text and "activemask.b32" in text
    text = bits.ptx("(uint32[::1], uint64[:, ::1])", 90)
    assert "popc.b32" in text and "clz.b32" in text and "brev.b32" in text
