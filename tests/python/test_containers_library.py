"""`heapq`, `bisect`, `itertools` and `statistics` in compiled code, over random inputs, beside CPython's own."""

import bisect
import heapq
import itertools
import math
import random
import statistics
import subprocess
import sys
from test.support.import_helper import import_fresh_module

import pytest

tierup = pytest.importorskip("tierup")
njit = tierup.njit

SEED = 20261123


def same(a, b):
    """Equal, NaN to NaN, zeros by their signs."""
    if isinstance(a, (list, tuple)):
        return isinstance(b, (list, tuple)) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, float) and isinstance(b, float):
        return a != a and b != b or a == b and math.copysign(1, a) == math.copysign(1, b)
    return a == b


def outcome(f, args):
    try:
        return "value", f(*args), args
    except Exception as e:
        return type(e).__name__, str(e), args


def copied(x):
    return [copied(v) for v in x] if isinstance(x, list) else x


def agree(f, compiled, *args):
    want, got = outcome(f, [copied(a) for a in args]), outcome(compiled, [copied(a) for a in args])
    assert same(list(want), list(got)), (args, want, got)


def lists(r):
    """A list of each kind: ints with many ties, floats with NaN, infinities and both zeros, strings, tuples, bools.

    Every NaN is an object of its own: one that comes twice is equal to itself in Python's tuples, and no NaN is in compiled ones."""
    n = r.choice([1, 2, 3, 5, 8, 17, 40])

    def some():
        return float(r.choice(["0", "-0", "1.5", "nan", "inf", "-inf", "2"]))

    return [
        [r.randrange(-4, 5) for _ in range(n)],
        [r.random() for _ in range(n)],
        [some() for _ in range(n)],
        ["".join(r.choice("abé") for _ in range(r.randrange(4))) for _ in range(n)],
        [(some(), r.randrange(3)) for _ in range(n)],
        [r.random() < 0.5 for _ in range(n)],
    ]


def without_nan(values):
    return [v for v in values if "nan" not in repr(v)] or [values[0]]


def heap_steps(values, steps):
    heap = values[: len(values) // 2]
    heapq.heapify(heap)
    seen = heap[:]
    for k, x in zip(steps, values):
        if k == 0:
            heapq.heappush(heap, x)
        elif k == 1:
            seen.append(heapq.heappop(heap) if len(heap) > 0 else x)
        elif k == 2:
            seen.append(heapq.heappushpop(heap, x))
        elif len(heap) > 0:
            seen.append(heapq.heapreplace(heap, x))
        seen.extend(heap)
    return seen


def largest_first(values, x):
    heapq._heapify_max(values)
    a = heapq._heapreplace_max(values, x)
    b = heapq._heappop_max(values)
    return a, b


def best(n, values):
    return heapq.nsmallest(n, values), heapq.nlargest(n, values)


def best_by_key(n, values):
    return heapq.nsmallest(n, values, key=lambda x: x[1]), heapq.nlargest(n, values, key=lambda x: x[1])


def merged(a, b, c):
    up = list(heapq.merge(a, b, c))
    return up, list(heapq.merge(a, b, reverse=True)), list(heapq.merge(c, key=lambda x: x))


def places(values, x, lo, hi):
    inserted = values[:]
    bisect.insort_left(inserted, x)
    bisect.insort_right(inserted, x, lo)
    return bisect.bisect_left(values, x, lo, hi), bisect.bisect(values, x, lo, hi), inserted


def iterated(a, b, start, stop, step):
    groups = [(k, list(g)) for k, g in itertools.groupby(a)]
    sliced = list(itertools.islice(a, start, stop, step))
    one, two = itertools.tee(a)
    mixed = [x for pair in zip(two, itertools.islice(one, 1, None)) for x in pair]
    return groups, sliced, mixed, list(itertools.chain(a, b)), list(itertools.pairwise(b)), list(itertools.zip_longest(a, b))


def combined(a):
    pairs = list(itertools.combinations(a, 2)), list(itertools.combinations_with_replacement(a, 3))
    return pairs, list(itertools.permutations(a, 2)), list(itertools.product(a, repeat=2))


@pytest.mark.parametrize("kind", range(6))
def test_heaps_and_bisection_of_random_lists(kind):
    r = random.Random(SEED + kind)
    compiled = {f: njit(f) for f in (heap_steps, best, merged, places)}
    for _ in range(40):
        values, others, thirds = (lists(r)[kind] for _ in range(3))
        agree(heap_steps, compiled[heap_steps], values, [r.randrange(4) for _ in values])
        # NaN in tuples are one object or several, and sorting by them ends as the algorithm likes: not so in heaps.
        values, others, thirds = (without_nan(v) for v in (values, others, thirds))
        agree(best, compiled[best], r.randrange(-1, len(values) + 2), values)
        agree(merged, compiled[merged], sorted(values), others, sorted(thirds))
        agree(places, compiled[places], sorted(values), r.choice(others), r.randrange(3), r.choice([None, len(values)]))


@pytest.mark.skipif(not hasattr(heapq, "_heappop_max"), reason="the names are those of Python before 3.14")
def test_heaps_with_the_largest_first():
    r = random.Random(SEED)
    compiled = njit(largest_first)
    for _ in range(60):
        values = lists(r)[r.randrange(3)]
        agree(largest_first, compiled, values, values[0])


def test_the_best_by_a_key_with_ties():
    r = random.Random(SEED)
    compiled = njit(best_by_key)
    for _ in range(60):
        values = lists(r)[4]
        agree(best_by_key, compiled, r.randrange(-1, len(values) + 2), values)


@pytest.mark.parametrize("kind", [0, 1, 3])
def test_iterators_of_random_lists(kind):
    r = random.Random(SEED + kind)
    slices, tuples = njit(iterated), njit(combined)
    for _ in range(30):
        a, b = lists(r)[kind], lists(r)[kind]
        agree(iterated, slices, a, b, r.randrange(6), r.choice([None, 0, 3, 9]), r.randrange(1, 5))
        agree(combined, tuples, a[:6])


STATISTICS = """mean(d) fmean(d) harmonic_mean(d) median_low(d) median_grouped(d) mode(d) variance(d) pvariance(d) stdev(d) pstdev(d)
quantiles(d,n=5) quantiles(d,method='inclusive') covariance(d,d[::-1]) correlation(d,d[::-1]) linear_regression(d,d[::-1]) variance(d,0.5) pstdev(d,d[0])""".split()


@pytest.mark.parametrize("call", STATISTICS)
def test_statistics_have_the_same_bits(call):
    names = {"statistics": statistics}
    exec(f"def f(d):\n    return statistics.{call}", names)
    f, compiled = names["f"], njit(names["f"])
    if sys.version_info >= (3, 12) and call.startswith(("correlation", "linear_regression", "covariance")):
        pytest.skip("from 3.12 on Python adds products in another way")
    r = random.Random(SEED)
    for k in range(40):
        n = r.choice([1, 2, 3, 5, 9, 30])
        data = [
            [r.random() for _ in range(n)],
            [r.gauss(0, 1e6) for _ in range(n)],
            [r.randrange(-99, 99) for _ in range(n)],
            [r.uniform(-1, 1) * 10.0 ** r.randrange(-300, 150) for _ in range(n)],
            [r.choice([0.0, 5e-324, 3e-320, 1e-310]) for _ in range(n)],
            [1.0 + r.randrange(4) * 2.0**-52 for _ in range(n)],
        ][k % 6]
        agree(f, compiled, data)


def test_heaps_without_the_c_version_of_the_module():
    pure = import_fresh_module("heapq", blocked=["_heapq"])

    def steps(values, x):
        heapify(values)
        heappush(values, x)
        return heappop(values), heapreplace(values, x), heappushpop(values, x)

    heapify, heappush, heappop = pure.heapify, pure.heappush, pure.heappop
    heapreplace, heappushpop = pure.heapreplace, pure.heappushpop
    compiled = njit(steps)
    r = random.Random(SEED)
    for kind in (0, 1, 2, 3, 4):
        for _ in range(10):
            values = lists(r)[kind]
            agree(steps, compiled, values, values[0])


def test_a_module_is_imported_where_the_code_says_so():
    code = """
import sys
from tierup import njit

@njit
def f(xs):
    import heapq
    import statistics
    heapq.heapify(xs)
    return heapq.heappop(xs), statistics.mean(xs)

before = "statistics" in sys.modules
print(before, f([3.0, 1.0, 2.0]))
"""
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert out.stdout == "False (1.0, 2.5)\n", out.stdout + out.stderr


def test_a_name_of_the_modules_that_is_another_function_is_that_function():
    def mean(data):
        return "mine"

    other = type(statistics)("other")
    other.mean = mean

    @njit
    def f(data):
        return other.mean(data), heappush(data, 1.0)

    def heappush(heap, x):
        return len(heap) + x

    assert f([1.0, 2.0]) == ("mine", 3.0)
