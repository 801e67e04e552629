"""What Python's module `random` does with sequences and ranges, draw for draw."""

import math
import random
import sys

import numpy as np


# -- seeds -------------------------------------------------------------------------------------------------------------------------------------


def seed_by_float(a, version):
    random.seed(np.uint64(_hash_of_float(a)))


def _hash_of_float(x):
    """Python's hash: the number modulo 2**61 - 1, for which numbers with a fraction have a remainder too."""
    if x - x != 0:
        if x != x:
            raise ValueError("a seed that is NaN is its object's address in Python: pass a number")
        return 314159 if x > 0 else -314159
    mantissa, exponent = math.frexp(abs(x))
    bits = 0
    while mantissa != 0:
        # 28 bits at a time; the remainder is turned, since 2**61 leaves 1.
        bits = ((bits << 28) & 0x1FFFFFFFFFFFFFFF) | bits >> 33
        mantissa *= 268435456.0
        exponent -= 28
        whole = int(mantissa)
        mantissa -= whole
        bits += whole
        if bits >= 0x1FFFFFFFFFFFFFFF:
            bits -= 0x1FFFFFFFFFFFFFFF
    exponent = exponent % 61 if exponent >= 0 else 60 - (-1 - exponent) % 61
    bits = ((bits << exponent) & 0x1FFFFFFFFFFFFFFF) | bits >> (61 - exponent)
    return -bits if x < 0 else bits


# -- integers, choices, shuffles -----------------------------------------------------------------------------------------------------------------


# What differs from one version of Python to the next.
_RANGE_WITH_WIDTH = sys.version_info < (3, 12)
_RANGE_OF_RANDINT = sys.version_info >= (3, 14)


def _draws_nothing_of_nothing():
    """Whether no members can be drawn of a population whose counts are zero: so from 3.14 on, and in later patches of earlier versions."""
    try:
        return random.Random(0).sample("a", 0, counts=[0]) == []
    except ValueError:
        return False


_NOTHING_OF_NOTHING = _draws_nothing_of_nothing()


def _empty_range(start, stop):
    if _RANGE_WITH_WIDTH:
        raise ValueError(f"empty range for randrange() ({start}, {stop}, {stop - start})")
    raise ValueError(f"empty range in randrange({start}, {stop})")


def randrange(start, stop, step):
    if stop is None:
        if start > 0:
            return random._below(start)
        raise ValueError("empty range for randrange()")
    width = stop - start
    if step == 1:
        # The width may be more than a signed number holds: its bits are right.
        if stop > start:
            return start + random._below(width)
        _empty_range(start, stop)
    if step > 0:
        n = (width + step - 1) // step
    elif step < 0:
        n = (width + step + 1) // step
    else:
        raise ValueError("zero step for randrange()")
    if n <= 0:
        if _RANGE_WITH_WIDTH:
            raise ValueError("empty range for randrange()")
        raise ValueError(f"empty range in randrange({start}, {stop}, {step})")
    return start + step * random._below(n)


def randint(a, b):
    if b >= a:
        # Of all integers there are 2**64, whose bits are those of 0.
        return a + random._below(b - a + 1)
    if _RANGE_OF_RANDINT:
        raise ValueError(f"empty range in randint({a}, {b})")
    _empty_range(a, b + 1)


def choice(seq):
    if len(seq) == 0:
        raise IndexError("Cannot choose from an empty sequence")
    return seq[random._below(len(seq))]


def shuffle(x):
    for i in range(len(x) - 1, 0, -1):
        j = random._below(i + 1)
        x[i], x[j] = x[j], x[i]


def choices(population, weights, cum_weights, k):
    n = len(population)
    if weights is None and cum_weights is None:
        return [population[int(math.floor(random.random() * n))] for _ in range(k)]
    if weights is None:
        return _by_sums(population, [w for w in cum_weights], k)
    if cum_weights is None:
        sums = [w for w in weights]
        for i in range(1, len(sums)):
            sums[i] += sums[i - 1]
        return _by_sums(population, sums, k)
    raise TypeError("Cannot specify both weights and cumulative weights")


def _by_sums(population, sums, k):
    if len(sums) != len(population):
        raise ValueError("The number of weights does not match the population")
    total = sums[-1] + 0.0
    if total <= 0.0:
        raise ValueError("Total of weights must be greater than zero")
    if not math.isfinite(total):
        raise ValueError("Total of weights must be finite")
    return [population[_first_above(sums, random.random() * total, len(sums) - 1)] for _ in range(k)]


def _first_above(sums, x, high):
    low = 0
    while low < high:
        middle = (low + high) // 2
        if x < sums[middle]:
            high = middle
        else:
            low = middle + 1
    return low


def sample_of_counted(population, k, *, counts):
    """As if each member stood there as often as its count says."""
    ends = [c for c in counts]
    for i in range(1, len(ends)):
        ends[i] += ends[i - 1]
    if len(ends) != len(population):
        raise ValueError("The number of counts does not match the population")
    total = ends[-1] if len(ends) > 0 else 0
    if _NOTHING_OF_NOTHING:
        if total < 0:
            raise ValueError("Counts must be non-negative")
    elif total <= 0:
        raise ValueError("Total of counts must be greater than zero")
    return [population[_first_above(ends, at, len(ends) - 1)] for at in sample(range(total), k, counts=None)]


def sample(population, k, *, counts):
    n = len(population)
    if not 0 <= k <= n:
        raise ValueError("Sample larger than population or is negative")
    few = 21
    if k > 5:
        few += 4 ** math.ceil(math.log(k * 3) / math.log(4))
    if n <= few:
        pool = [x for x in population]
        result = [x for x in pool[:k]]
        for i in range(k):
            j = random._below(n - i)
            result[i] = pool[j]
            pool[j] = pool[n - i - 1]
        return result
    taken = [False] * n
    result = [population[0]] * k
    for i in range(k):
        j = random._below(n)
        while taken[j]:
            j = random._below(n)
        taken[j] = True
        result[i] = population[j]
    return result


def randbytes(n):
    if n < 0:
        raise ValueError("number of bits must be non-negative")
    out = bytearray()
    for _ in range(n // 4):
        out += random.getrandbits(32).to_bytes(4, "little")
    if n % 4:
        out += random.getrandbits(n % 4 * 8).to_bytes(n % 4, "little")
    return bytes(out)
