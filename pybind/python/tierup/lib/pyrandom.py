"""What Python's module `random` does with sequences and ranges, draw for draw."""

import math
import random
import sys
from dataclasses import dataclass

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


# -- integers, choices, shuffles: of the module `random` or an object of `random.Random`, which is the source -------------------------------------


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


def randrange_of(source, start, stop, step):
    if stop is None:
        if start > 0:
            return source._below(start)
        raise ValueError("empty range for randrange()")
    width = stop - start
    if step == 1:
        # The width may be more than a signed number holds: its bits are right.
        if stop > start:
            return start + source._below(width)
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
    return start + step * source._below(n)


def randint_of(source, a, b):
    if b >= a:
        # Of all integers there are 2**64, whose bits are those of 0.
        return a + source._below(b - a + 1)
    if _RANGE_OF_RANDINT:
        raise ValueError(f"empty range in randint({a}, {b})")
    _empty_range(a, b + 1)


def choice_of(source, seq):
    if len(seq) == 0:
        raise IndexError("Cannot choose from an empty sequence")
    return seq[source._below(len(seq))]


def shuffle_of(source, x):
    for i in range(len(x) - 1, 0, -1):
        j = source._below(i + 1)
        x[i], x[j] = x[j], x[i]


def choices_of(source, population, weights, cum_weights, k):
    n = len(population)
    if weights is None and cum_weights is None:
        return [population[int(math.floor(source.random() * n))] for _ in range(k)]
    if weights is None:
        return _by_sums(source, population, [w for w in cum_weights], k)
    if cum_weights is None:
        sums = [w for w in weights]
        for i in range(1, len(sums)):
            sums[i] += sums[i - 1]
        return _by_sums(source, population, sums, k)
    raise TypeError("Cannot specify both weights and cumulative weights")


def _by_sums(source, population, sums, k):
    if len(sums) != len(population):
        raise ValueError("The number of weights does not match the population")
    total = sums[-1] + 0.0
    if total <= 0.0:
        raise ValueError("Total of weights must be greater than zero")
    if not math.isfinite(total):
        raise ValueError("Total of weights must be finite")
    return [population[_first_above(sums, source.random() * total, len(sums) - 1)] for _ in range(k)]


def _first_above(sums, x, high):
    low = 0
    while low < high:
        middle = (low + high) // 2
        if x < sums[middle]:
            high = middle
        else:
            low = middle + 1
    return low


def sample_of_counted_of(source, population, k, counts):
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
    return [population[_first_above(ends, at, len(ends) - 1)] for at in sample_of(source, range(total), k)]


def sample_of(source, population, k):
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
            j = source._below(n - i)
            result[i] = pool[j]
            pool[j] = pool[n - i - 1]
        return result
    taken = [False] * n
    result = [population[0]] * k
    for i in range(k):
        j = source._below(n)
        while taken[j]:
            j = source._below(n)
        taken[j] = True
        result[i] = population[j]
    return result


def randbytes_of(source, n):
    if n < 0:
        raise ValueError("number of bits must be non-negative")
    out = bytearray()
    for _ in range(n // 4):
        out += source.getrandbits(32).to_bytes(4, "little")
    if n % 4:
        out += source.getrandbits(n % 4 * 8).to_bytes(n % 4, "little")
    return bytes(out)


# -- the same of the module ----------------------------------------------------------------------------------------------------------------------


def randrange(start, stop, step):
    return randrange_of(random, start, stop, step)


def randint(a, b):
    return randint_of(random, a, b)


def choice(seq):
    return choice_of(random, seq)


def shuffle(x):
    shuffle_of(random, x)


def choices(population, weights, cum_weights, k):
    return choices_of(random, population, weights, cum_weights, k)


def sample_of_counted(population, k, *, counts):
    return sample_of_counted_of(random, population, k, counts)


def sample(population, k, *, counts):
    return sample_of(random, population, k)


def randbytes(n):
    return randbytes_of(random, n)


# -- objects of `random.Random` ------------------------------------------------------------------------------------------------------------------

# As the run-time keeps a stream (`Kept`): the place of the next word, words that are ready, the key, and whether there is
# a second number of a pair of normal ones, with that.
_WORDS = 627
_READY = 624


def random_object(x):
    words = np.zeros(_WORDS, np.int64)
    rng = Random(words, words.view(np.uint32)[2:2 + _READY])
    rng.seed(x)
    return rng


@dataclass(frozen=True, eq=False, repr=False)
class Random:
    _words: np.ndarray
    _ready: np.ndarray

    _tierup_class_ = random.Random

    def _tierup_python_(self):
        key = self._words.view(np.uint32)[2 + _READY:2 + 2 * _READY]
        spare = float(self._words[-1:].view(np.float64)[0]) if self._words[-2] else None
        rng = random.Random()
        rng.setstate((3, (*key.tolist(), int(self._words[0])), spare))
        return rng

    # A copy is a stream of its own, which those made of fields would not be.
    __copy__ = __deepcopy__ = None

    def seed(self, a=None, version=2):
        random._swap(self._words)
        try:
            random.seed(a, version)
        finally:
            random._swap(self._words)

    def _word(self):
        at = self._words[0]
        if at < _READY:
            self._words[0] = at + 1
            return int(self._ready[at])
        random._swap(self._words)
        word = random.getrandbits(32)
        random._swap(self._words)
        return word

    def _bits(self, k):
        if k <= 32:
            return self._word() >> (32 - k)
        low = self._word()
        return low | self._word() >> (64 - k) << 32

    def _below(self, n):
        # What has more than 63 bits is left to the run-time.
        if n <= 0:
            random._swap(self._words)
            x = random._below(n)
            random._swap(self._words)
            return x
        k = n.bit_length()
        x = self._bits(k)
        while x >= n:
            x = self._bits(k)
        return x

    def random(self):
        at = self._words[0]
        if at < _READY - 1:
            self._words[0] = at + 2
            a, b = int(self._ready[at]), int(self._ready[at + 1])
        else:
            a, b = self._word(), self._word()
        return ((a >> 5) * 67108864.0 + (b >> 6)) * (1.0 / 9007199254740992.0)

    def getrandbits(self, k):
        random._swap(self._words)
        try:
            return random.getrandbits(k)
        finally:
            random._swap(self._words)

    def randbytes(self, n):
        return randbytes_of(self, n)

    def randrange(self, start, stop=None, step=1):
        return randrange_of(self, start, stop, step)

    def randint(self, a, b):
        return randint_of(self, a, b)

    def choice(self, seq):
        return choice_of(self, seq)

    def choices(self, population, weights=None, *, cum_weights=None, k=1):
        return choices_of(self, population, weights, cum_weights, k)

    def sample(self, population, k, *, counts=None):
        if counts is None:
            return sample_of(self, population, k)
        return sample_of_counted_of(self, population, k, counts)

    def shuffle(self, x):
        shuffle_of(self, x)

    def uniform(self, a, b):
        return a + (b - a) * self.random()

    def triangular(self, low=0.0, high=1.0, mode=None):
        random._swap(self._words)
        try:
            return random.triangular(low, high, mode)
        finally:
            random._swap(self._words)

    def normalvariate(self, mu=0.0, sigma=1.0):
        random._swap(self._words)
        try:
            return random.normalvariate(mu, sigma)
        finally:
            random._swap(self._words)

    def gauss(self, mu=0.0, sigma=1.0):
        random._swap(self._words)
        try:
            return random.gauss(mu, sigma)
        finally:
            random._swap(self._words)

    def lognormvariate(self, mu, sigma):
        random._swap(self._words)
        try:
            return random.lognormvariate(mu, sigma)
        finally:
            random._swap(self._words)

    def expovariate(self, lambd):
        random._swap(self._words)
        try:
            return random.expovariate(lambd)
        finally:
            random._swap(self._words)

    def vonmisesvariate(self, mu, kappa):
        random._swap(self._words)
        try:
            return random.vonmisesvariate(mu, kappa)
        finally:
            random._swap(self._words)

    def gammavariate(self, alpha, beta):
        random._swap(self._words)
        try:
            return random.gammavariate(alpha, beta)
        finally:
            random._swap(self._words)

    def betavariate(self, alpha, beta):
        random._swap(self._words)
        try:
            return random.betavariate(alpha, beta)
        finally:
            random._swap(self._words)

    def paretovariate(self, alpha):
        random._swap(self._words)
        try:
            return random.paretovariate(alpha)
        finally:
            random._swap(self._words)

    def weibullvariate(self, alpha, beta):
        random._swap(self._words)
        try:
            return random.weibullvariate(alpha, beta)
        finally:
            random._swap(self._words)
