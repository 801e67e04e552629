"""Random numbers in kernels: xoroshiro128+ of Blackman and Vigna, a state for each thread, as `numba.cuda.random` has them; the same seeds give the same numbers.

    states = create_xoroshiro128p_states(1024, seed=1)

    @cuda.jit
    def fill(states, out):
        i = cuda.grid(1)
        out[i] = xoroshiro128p_uniform_float32(states, i)
"""

import math

import numpy as np

from .._jit import njit
from ._arrays import to_device
from ._streams import handle_of

#: A state: records of two words, `s0` and `s1`.
xoroshiro128p_dtype = np.dtype([("s0", np.uint64), ("s1", np.uint64)], align=True)

_SHIFT_11, _SHIFT_14, _SHIFT_27, _SHIFT_30, _SHIFT_31, _SHIFT_36, _SHIFT_55 = (np.uint64(n) for n in (11, 14, 27, 30, 31, 36, 55))
_SHIFT_28, _SHIFT_9, _ONE = np.uint64(28), np.uint64(9), np.uint64(1)
_STEP, _FIRST, _SECOND = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_JUMP_LOW, _JUMP_HIGH = np.uint64(0xBEAC0467EBA5FACB), np.uint64(0xD86B048B86AA9922)
_UNIT = 1.0 / (1 << 53)
_TWO_PI_32, _MINUS_TWO_32 = np.float32(2 * math.pi), np.float32(-2)
_TWO_PI = 2 * math.pi


@njit
def init_xoroshiro128p_state(states, index, seed):
    """Sets a state by a seed, which SplitMix64 spreads."""
    z = np.uint64(seed) + _STEP
    z = (z ^ (z >> _SHIFT_30)) * _FIRST
    z = (z ^ (z >> _SHIFT_27)) * _SECOND
    z = z ^ (z >> _SHIFT_31)
    states[index]["s0"] = z
    states[index]["s1"] = z


@njit
def xoroshiro128p_next(states, index):
    """The next 64 bits of a state."""
    s0, s1 = states[index]["s0"], states[index]["s1"]
    result = s0 + s1
    s1 ^= s0
    states[index]["s0"] = ((s0 << _SHIFT_55) | (s0 >> _SHIFT_9)) ^ s1 ^ (s1 << _SHIFT_14)
    states[index]["s1"] = (s1 << _SHIFT_36) | (s1 >> _SHIFT_28)
    return result


@njit
def xoroshiro128p_jump(states, index):
    """Moves a state 2^64 numbers on."""
    s0, s1 = np.uint64(0), np.uint64(0)
    for half in range(2):
        bits = _JUMP_LOW if half == 0 else _JUMP_HIGH
        for b in range(64):
            if (bits >> np.uint64(b)) & _ONE:
                s0 ^= states[index]["s0"]
                s1 ^= states[index]["s1"]
            xoroshiro128p_next(states, index)
    states[index]["s0"] = s0
    states[index]["s1"] = s1


@njit
def xoroshiro128p_uniform_float64(states, index):
    """A float64 from 0 up to 1, which is not reached."""
    return (xoroshiro128p_next(states, index) >> _SHIFT_11) * _UNIT


@njit
def xoroshiro128p_uniform_float32(states, index):
    """A float32 from 0 up to 1."""
    return np.float32((xoroshiro128p_next(states, index) >> _SHIFT_11) * _UNIT)


@njit
def xoroshiro128p_normal_float32(states, index):
    """A float32 of the standard normal distribution, by Box and Muller."""
    u1 = xoroshiro128p_uniform_float32(states, index)
    u2 = xoroshiro128p_uniform_float32(states, index)
    return np.sqrt(_MINUS_TWO_32 * np.log(u1)) * np.cos(_TWO_PI_32 * u2)


@njit
def xoroshiro128p_normal_float64(states, index):
    """A float64 of the standard normal distribution."""
    u1 = xoroshiro128p_uniform_float32(states, index)
    u2 = xoroshiro128p_uniform_float64(states, index)
    return np.sqrt(-2.0 * np.log(np.float64(u1))) * np.cos(_TWO_PI * u2)


@njit
def _fill(states, seed, start):
    init_xoroshiro128p_state(states, 0, seed)
    for _ in range(start):
        xoroshiro128p_jump(states, 0)
    for k in range(1, states.shape[0]):
        states[k]["s0"] = states[k - 1]["s0"]
        states[k]["s1"] = states[k - 1]["s1"]
        xoroshiro128p_jump(states, k)


def init_xoroshiro128p_states_cpu(states, seed, subsequence_start):
    """Fills an array of states on the host, each 2^64 numbers behind the one before."""
    if len(states):
        _fill(states, np.uint64(seed), subsequence_start)


def init_xoroshiro128p_states(states, seed, subsequence_start=0, stream=0):
    """The same for an array on the device."""
    host = np.empty(states.shape, xoroshiro128p_dtype)
    init_xoroshiro128p_states_cpu(host, seed, subsequence_start)
    states.copy_to_device(host, handle_of(stream))


def create_xoroshiro128p_states(n, seed, subsequence_start=0, stream=0):
    """`n` states on the device, for as many threads: an array of `xoroshiro128p_dtype`."""
    host = np.empty(n, xoroshiro128p_dtype)
    init_xoroshiro128p_states_cpu(host, seed, subsequence_start)
    return to_device(host, stream)


__all__ = [
    "create_xoroshiro128p_states", "init_xoroshiro128p_state", "init_xoroshiro128p_states", "init_xoroshiro128p_states_cpu", "xoroshiro128p_dtype", "xoroshiro128p_jump", "xoroshiro128p_next", "xoroshiro128p_normal_float32", "xoroshiro128p_normal_float64",
    "xoroshiro128p_uniform_float32", "xoroshiro128p_uniform_float64",
]
