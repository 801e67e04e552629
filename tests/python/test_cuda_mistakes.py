"""Mistakes that the simulator finds in kernels: races on shared memory, barriers that only some threads reach, indices out of bounds; and that kernels without mistakes are left alone."""

import numpy as np
import pytest

tierup = pytest.importorskip("tierup")
from tierup import cuda  # noqa: E402

pytestmark = pytest.mark.skipif(not cuda.is_simulated(), reason="only the simulator looks")


def found(kernel, error, *args, grid=1, block=64, shared=0):
    """The mistake that a launch is told of, with the lines of the two threads counted from the kernel's own."""
    kernel[grid, block, 0, shared](*args)
    with pytest.raises(error) as e:
        cuda.synchronize()
    cuda.synchronize()
    first = kernel.py_func.__code__.co_firstlineno
    assert e.value.place.kernel == kernel.__qualname__ and e.value.place.kernel in str(e.value)
    other = e.value.other.line
    return e.value, e.value.place.line - first, other and other - first


def fine(kernel, *args, grid=1, block=64, shared=0):
    kernel[grid, block, 0, shared](*args)
    cuda.synchronize()


def device(n=64, dtype=np.float64):
    return cuda.to_device(np.ones(n, dtype))


# ---------------------------------------------------------------- races


def test_a_missing_barrier_is_a_race_with_both_lines():
    @cuda.jit
    def reversed_(x):
        part = cuda.shared.array(64, np.float64)
        t = cuda.threadIdx.x
        part[t] = x[t]
        x[t] = part[63 - t]

    e, line, other = found(reversed_, cuda.SharedMemoryRace, device())
    assert {line, other} == {4, 5} and e.place.block == (0, 0, 0)
    assert e.place.thread[0] + e.other.thread[0] == 63
    assert "syncthreads" in str(e) and isinstance(e, RuntimeError)

    @cuda.jit
    def repaired(x):
        part = cuda.shared.array(64, np.float64)
        t = cuda.threadIdx.x
        part[t] = x[t]
        cuda.syncthreads()
        x[t] = part[63 - t]

    fine(repaired, device())


def test_a_barrier_that_is_missing_in_a_loop_is_found():
    @cuda.jit
    def total(x):
        part = cuda.shared.array(64, np.float64)
        t = cuda.threadIdx.x
        part[t] = x[t]
        cuda.syncthreads()
        n = 32
        while n > 0:
            if t < n:
                part[t] += part[t + n]
            n //= 2
        x[0] = part[0]

    _, line, other = found(total, cuda.SharedMemoryRace, device())
    assert {line, other} <= {9, 11}


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.float32, np.float64, np.complex128])
def test_neighbours_are_no_race_whatever_the_size_of_an_element(dtype):
    @cuda.jit
    def turned(x):
        part = cuda.shared.array(64, dtype)
        t = cuda.threadIdx.x
        part[t] = x[t]
        part[t] = part[t] + part[t]
        cuda.syncthreads()
        x[t] = part[63 - t]

    x = cuda.to_device(np.arange(64).astype(dtype))
    fine(turned, x)
    np.testing.assert_array_equal(x.copy_to_host(), (2 * np.arange(63, -1, -1)).astype(dtype))

    @cuda.jit
    def shifted(x):
        part = cuda.shared.array(65, dtype)
        t = cuda.threadIdx.x
        part[t] = x[t]
        part[t + 1] = x[t] + x[t]

    assert found(shifted, cuda.SharedMemoryRace, x)[1:] in [(4, 5), (5, 4)]


def test_elements_of_unlike_sizes_in_one_memory():
    @cuda.jit
    def kernel(x, step):
        wide, narrow = cuda.shared.array(0, np.float64), cuda.shared.array(0, np.int8)
        t = cuda.threadIdx.x
        wide[t] = x[t]
        narrow[step * t] = t

    fine(kernel, device(), 8, shared=512)
    assert set(found(kernel, cuda.SharedMemoryRace, device(), 1, shared=512)[1:]) == {4, 5}

    @cuda.jit
    def bytes_alone(x):
        narrow = cuda.shared.array(0, np.int8)
        narrow[cuda.threadIdx.x] = x[cuda.threadIdx.x]

    fine(bytes_alone, device(), shared=512)


def test_memory_of_the_launch_is_looked_at():
    @cuda.jit
    def shifted(x):
        part = cuda.shared.array(0, np.float32)
        t = cuda.threadIdx.x
        part[t] = x[t]
        x[t] = part[(t + 1) % 64]

    assert {4, 5} == set(found(shifted, cuda.SharedMemoryRace, device(dtype=np.float32), shared=256)[1:])


def test_device_functions_tell_their_own_line():
    @cuda.jit(device=True)
    def put(part, t, x):
        part[t // 2] = x

    @cuda.jit
    def kernel(x):
        part = cuda.shared.array(64, np.float64)
        t = cuda.threadIdx.x
        put(part, t, x[t] + t)

    kernel[1, 64](device())
    with pytest.raises(cuda.SharedMemoryRace) as e:
        cuda.synchronize()
    line = put.py_func.__code__.co_firstlineno + 2
    assert (e.value.place.line, e.value.other.line) == (line, line)


def test_threads_that_write_the_same_are_no_race():
    @cuda.jit
    def flag(x):
        seen = cuda.shared.array(1, np.int32)
        seen[0] = 0
        cuda.syncthreads()
        if x[cuda.threadIdx.x] > 0:
            seen[0] = 1
        cuda.syncthreads()
        x[cuda.threadIdx.x] = seen[0]

    fine(flag, device())


def test_updates_are_no_race_with_each_other_but_with_plain_accesses():
    @cuda.jit
    def histogram(x):
        count = cuda.shared.array(4, np.int32)
        t = cuda.threadIdx.x
        if t < 4:
            count[t] = 0
        cuda.syncthreads()
        cuda.atomic.add(count, t % 4, 1)
        cuda.syncthreads()
        x[t] = count[t % 4]

    x = device()
    fine(histogram, x)
    assert (x.copy_to_host() == 16).all()

    @cuda.jit
    def early(x):
        count = cuda.shared.array(4, np.int32)
        t = cuda.threadIdx.x
        if t < 4:
            count[t] = 0
        cuda.syncthreads()
        cuda.atomic.add(count, t % 4, 1)
        x[t] = count[t % 4]

    assert {7, 8} == set(found(early, cuda.SharedMemoryRace, x)[1:])


@pytest.mark.parametrize("dtype", [np.int32, np.uint64, np.float32, np.float64])
def test_every_kind_of_update_is_no_race_with_itself(dtype):
    names = ["add", "sub", "exch", "max", "min", "nanmax", "nanmin"] + (["and_", "or_", "xor", "inc", "dec"] if np.dtype(dtype).kind in "iu" else [])
    for name in names:
        update = getattr(cuda.atomic, name)

        @cuda.jit
        def kernel(x):
            part = cuda.shared.array(1, dtype)
            if cuda.threadIdx.x == 0:
                part[0] = 5
            cuda.syncthreads()
            update(part, 0, x[cuda.threadIdx.x])
            cuda.syncthreads()
            x[cuda.threadIdx.x] = part[0]

        fine(kernel, device(dtype=dtype))

    @cuda.jit
    def swaps(x):
        part = cuda.shared.array(1, np.int32)
        if cuda.threadIdx.x == 0:
            part[0] = 5
        cuda.syncthreads()
        cuda.atomic.cas(part, 0, 5, cuda.threadIdx.x)
        cuda.atomic.compare_and_swap(part, 6, 7)
        cuda.syncthreads()
        x[cuda.threadIdx.x] = part[0]

    fine(swaps, device())


def test_a_barrier_of_the_warp_orders_its_threads_alone():
    @cuda.jit
    def warps(x):
        part = cuda.shared.array(64, np.float64)
        t = cuda.threadIdx.x
        part[t] = x[t]
        cuda.syncwarp()
        x[t] = part[t ^ 1]

    fine(warps, device())

    @cuda.jit
    def others(x):
        part = cuda.shared.array(64, np.float64)
        t = cuda.threadIdx.x
        part[t] = x[t]
        cuda.syncwarp()
        x[t] = part[t ^ 32]

    assert {4, 6} == set(found(others, cuda.SharedMemoryRace, device())[1:])

    @cuda.jit
    def halves(x, far):
        part = cuda.shared.array(32, np.float64)
        t = cuda.threadIdx.x
        part[t] = x[t]
        if t < 16:
            cuda.syncwarp(0xFFFF)
        else:
            cuda.syncwarp(0xFFFF0000)
        x[t] = part[t ^ far]

    fine(halves, device(), 1, block=32)
    found(halves, cuda.SharedMemoryRace, device(), 16, block=32)


def test_what_follows_a_fence_is_ordered_by_the_program():
    @cuda.jit
    def handed(x):
        part, turn = cuda.shared.array(1, np.float64), cuda.shared.array(1, np.int32)
        t = cuda.threadIdx.x
        if t == 0:
            turn[0] = 0
        cuda.syncthreads()
        if t == 0:
            part[0] = x[0] + 4
            cuda.threadfence_block()
            cuda.atomic.exch(turn, 0, 1)
        elif cuda.atomic.add(turn, 0, 0) == 1:
            x[t] = part[0]

    x = device()
    fine(handed, x)
    assert x.copy_to_host()[1] == 5


def test_blocks_do_not_share():
    @cuda.jit
    def each(x):
        part = cuda.shared.array(1, np.float64)
        part[0] = x[cuda.blockIdx.x]
        x[cuda.blockIdx.x] = part[0] + 1

    fine(each, device(), grid=8, block=1)


def test_a_race_in_a_later_block_is_found():
    @cuda.jit
    def late(x):
        part = cuda.shared.array(64, np.float64)
        t = cuda.threadIdx.x
        part[t] = x[t]
        if cuda.blockIdx.x == 5:
            x[t] = part[63 - t]

    assert found(late, cuda.SharedMemoryRace, device(), grid=8)[0].place.block == (5, 0, 0)


def test_races_are_not_looked_for_where_that_is_said():
    @cuda.jit(racecheck=False)
    def reversed_(x):
        part = cuda.shared.array(64, np.float64)
        t = cuda.threadIdx.x
        part[t] = x[t]
        x[t] = part[63 - t]

    fine(reversed_, device())


# ---------------------------------------------------------------- barriers


def test_a_barrier_that_only_some_threads_reach_is_found():
    @cuda.jit
    def some(x):
        t = cuda.threadIdx.x
        if t < 16:
            x[t] = 2
            cuda.syncthreads()
            x[t] = 3

    e, line, other = found(some, cuda.DivergentBarrier, device())
    assert (line, other) == (5, None) and e.place.thread == (0, 0, 0) and e.other.thread == (16, 0, 0) and "has ended" in str(e)


def test_barriers_at_two_places_do_not_stand_for_each_other():
    @cuda.jit
    def two(x):
        t = cuda.threadIdx.x
        if t < 32:
            cuda.syncthreads()
        x[t] = 2
        cuda.syncthreads()
        x[t] = 3

    assert found(two, cuda.DivergentBarrier, device())[1:] == (4, 6)

    @cuda.jit
    def counted(x):
        t = cuda.threadIdx.x
        if t % 2:
            x[t] = cuda.syncthreads_count(True)
        else:
            cuda.syncthreads()

    assert set(found(counted, cuda.DivergentBarrier, device())[1:]) == {4, 6}


def test_threads_with_unlike_numbers_of_turns_are_found():
    @cuda.jit
    def turns(x):
        t = cuda.threadIdx.x
        for k in range(t // 32 + 1):
            x[t] += k
            cuda.syncthreads()

    assert found(turns, cuda.DivergentBarrier, device())[1:] == (5, None)


def test_threads_that_return_need_not_come():
    @cuda.jit
    def early(x):
        t = cuda.threadIdx.x
        if t >= 40:
            return
        x[t] = 2
        cuda.syncthreads()
        x[t] += x[39 - t]

    fine(early, device())


def test_barriers_in_a_device_function_and_in_every_turn_are_fine():
    @cuda.jit(device=True)
    def meet():
        cuda.syncthreads()

    @cuda.jit
    def kernel(x, n):
        part = cuda.shared.array(64, np.float64)
        t = cuda.threadIdx.x
        for k in range(n):
            part[t] = x[t] + k
            meet()
            x[t] = part[63 - t]
            meet()

    fine(kernel, device(), 5)


def test_threads_that_wait_for_unlike_things_are_told_with_both_lines():
    @cuda.jit
    def apart(x):
        if cuda.threadIdx.x == 0:
            cuda.syncwarp()
        else:
            cuda.syncthreads()
        x[0] = 1

    e, line, other = found(apart, cuda.DivergentBarrier, device(), block=4)
    assert "never meet" in str(e) and {line, other} == {3, 5}


def test_an_exception_is_told_before_what_follows_from_it():
    @cuda.jit
    def beyond(x):
        t = cuda.threadIdx.x
        x[t + 1] = 0
        cuda.syncthreads()
        x[t] = 1

    beyond[1, 64](device())
    with pytest.raises(IndexError) as e:
        cuda.synchronize()
    assert e.value.place.line == beyond.py_func.__code__.co_firstlineno + 3 and e.value.place.thread == (63, 0, 0)


# ---------------------------------------------------------------- indices


def test_indices_of_shared_and_local_arrays_are_checked():
    @cuda.jit
    def wide(x):
        part = cuda.shared.array((4, 4), np.float64)
        part[cuda.threadIdx.x, 1] = x[0]

    @cuda.jit
    def own(x):
        mine = cuda.local.array(4, np.float64)
        mine[cuda.threadIdx.x] = x[0]
        x[1] = mine[0]

    for kernel, line in [(wide, 3), (own, 3)]:
        kernel[2, 5](device())
        with pytest.raises(IndexError) as e:
            cuda.synchronize()
        place = e.value.place
        assert (place.kernel, place.line) == (kernel.__qualname__, kernel.py_func.__code__.co_firstlineno + line) and (place.block, place.thread) == ((0, 0, 0), (4, 0, 0))
