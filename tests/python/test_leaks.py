"""Nothing is kept: reference counts of arguments and the size of the process stay what they were, whatever a call does and however it ends.

`TIERUP_TESTS=all` makes a hundred thousand calls of each kind instead of a thousand.
"""

import array
import gc
import io
import re
import struct
import sys
import warnings
from collections import namedtuple

import numpy as np
import pytest
from harness import sampling

tierup = pytest.importorskip("tierup")
pytestmark = pytest.mark.isolated
njit, jit = tierup.njit, tierup.jit


@pytest.fixture(autouse=True)
def tier_0_alone():
    """Promotion in the background loads LLVM, which is larger than what these tests look for; `test_memory_does_not_grow` looks at tier 1."""
    tierup.config.tier = "0"


CALLS = 100_000 if sampling.ALL else 1000
Point = namedtuple("Point", "x y")


class Thing:
    def __del__(self):
        pass


@njit
def same(x):
    return x


@njit
def gen(x):
    y = (x, x)
    for _ in range(10):
        yield y


@njit
def gen_that_raises(x):
    yield x
    raise KeyError("k")


@njit
def gen_that_only_raises(x):
    if x is None:
        yield x
    raise KeyError("k")


@njit
def zip_that_raises(x):
    return [y for y, z in zip([x], gen_that_only_raises(1))]


@njit
def zip_with_a_dict_that_grows(x):
    d = {1: x}
    for y, z in zip([x, x], d):
        d[z + 1] = y


@njit
def unpacked_dict(x):
    a, b = {1: x}.values()
    return a


@njit
def int_among_floats(x):
    d = {0.5: x}
    d[2**53 + 1] = x


@njit
def out_of_range(x):
    ys = [x]
    return ys[3]


@njit
def caught(x):
    try:
        ys = [x]
        return ys[5]
    except IndexError:
        return x


@njit
def chained(x):
    y = (x, 1)
    try:
        raise ValueError("a")
    except ValueError as e:
        raise KeyError("b") from e


@njit
def default(x, y=None):
    return x if y is None else y


@njit
def tuples_of_any_length(x):
    grown = ()
    for _ in range(3):
        grown = (*grown, x)
    all_of_them = [(), grown, (x, x)]
    all_of_them.append((x,))
    all_of_them[0] = (x, x, x)
    found = {1: grown}
    found[2] = (x,)
    longer = ((x,), (x, x))[len(grown) % 2]
    return grown[1:], all_of_them, found.pop(3, (x, x)), found.setdefault(4, ()), longer, list(zip(*[[x], [x]]))


@njit
def missing_tuple(x):
    found = {("a",): x}
    found[("b", "c")] = x
    return found[("d", "e", "f")], found[()]


@jit
def interpreted(x, thing):
    return x


def fails(f, kind, *more):
    def call(x):
        try:
            f(x, *more)
        except kind:
            return
        raise AssertionError("no exception")
    return call


def half(x):
    it = gen(x)
    next(it)
    next(it)


def closed(x):
    it = gen(x)
    next(it)
    it.close()


VALUES = {
    "int": 2**40, "float": 2.5, "complex": 1j, "str": "hällo wörld", "array": np.arange(5.0), "strided array": np.arange(12).reshape(3, 4)[:, ::2],
    "read-only array": np.broadcast_to(np.zeros(1), (3,)), "list": [1.5, 2.5], "list of str": ["à", "bb"], "list of arrays": [np.ones(2), np.zeros(3)], "nested list": [[1], [2, 3]],
    "tuple": (2**40, "ab", np.ones(2)), "named tuple": Point(1, np.ones(2)), "list of tuples": [(1.5, "ab"), (2.5, "bc")], "list of tuples of several lengths": [("ab",), ("bc", "d")], "NumPy scalar": np.float32(2),
}
CALLED = {
    "result": same, "tuple result": njit(lambda x: (x, x, 1)), "list result": njit(lambda x: [x, x]), "caught": caught, "an index error": fails(out_of_range, IndexError),
    "a chained error": fails(chained, KeyError), "a generator to the end": lambda x: list(gen(x)), "a generator half-way": half, "a closed generator": closed,
    "a generator that raises": fails(lambda x: list(gen_that_raises(x)), KeyError), "keywords": lambda x: njit_keywords(x, k=x), "defaults": lambda x: default(x, y=x),
    "a zip that raises": fails(zip_that_raises, KeyError), "a zip with a dict that grows": fails(zip_with_a_dict_that_grows, RuntimeError),
    "a dict that is too short to unpack": fails(unpacked_dict, ValueError), "an int that is no key among floats": fails(int_among_floats, OverflowError),
    "tuples of any length": tuples_of_any_length, "a tuple of any length that is no key": fails(missing_tuple, KeyError),
    "plain Python": lambda x: interpreted(x, Thing()), "too many arguments": fails(same, TypeError, 1), "an argument that is refused": fails(njit(lambda x, y: 1), TypeError, Thing()),
}


@njit
def njit_keywords(*a, **k):
    return a[0]


def counts(v):
    return [sys.getrefcount(v), *(sys.getrefcount(m) for m in (v if isinstance(v, (list, tuple)) else ()))]


def kilobytes():
    return int(open("/proc/self/statm").read().split()[1]) * 4


@pytest.mark.parametrize("value", VALUES)
def test_nothing_is_kept(value):
    warnings.simplefilter("ignore")
    v, grown = VALUES[value], []
    for name, call in CALLED.items():
        for _ in range(50):
            call(v)
        gc.collect()
        before, size = counts(v), kilobytes()
        for _ in range(CALLS):
            call(v)
        gc.collect()
        if counts(v) != before or kilobytes() - size > 2000:
            grown.append((name, before, counts(v), kilobytes() - size))
    assert not grown


def test_array_operations_keep_nothing():
    @njit
    def f(a):
        b = a[1:]
        return b, a.T, a + 1, a.sum(), np.sort(a), a[a > 0], [a, b], f"{a.size}"
    a = np.arange(5.0)
    f(a)
    before, size = sys.getrefcount(a), kilobytes()
    for _ in range(CALLS):
        f(a)
    gc.collect()
    assert sys.getrefcount(a) == before and kilobytes() - size < 2000


def test_dropped_functions_free_their_code():
    def one(k):
        space = {"njit": njit}
        exec(f"@njit\ndef f(x):\n    s = 0\n    for i in range(x):\n        s += i * {k}\n    return s\n", space)
        space["f"](10)
        space["f"](2)
    for k in range(100):
        one(k)
    gc.collect()
    size = kilobytes()
    for k in range(400):
        one(1000 + k)
    gc.collect()
    # Names and types are interned; machine code is a page or more for each function.
    assert (kilobytes() - size) / 400 < 24


def test_objects_of_the_library_keep_nothing():
    pattern = re.compile(r"(?P<a>\w+)=(\d+)?")

    @njit
    def f(text):
        m = pattern.search(text)
        out, numbers = io.StringIO(), array.array("i", [1, 2])
        for q in pattern.finditer(text * 50):
            out.write(q["a"])
        try:
            m.group(7)
        except IndexError:
            numbers.append(len(pattern.findall(text)))
        return m, out, numbers, pattern, pattern.sub(lambda m: m[1], text), pattern.split(text), memoryview(text.encode("utf-16")), struct.pack("<hi", 1, 2)

    text = "a=1 b="
    f(text)
    before, size = [sys.getrefcount(text), sys.getrefcount(pattern)], kilobytes()
    for _ in range(CALLS):
        f(text)
    gc.collect()
    # The last long text that was searched is kept.
    assert [sys.getrefcount(text), sys.getrefcount(pattern)] == before and kilobytes() - size < 2000
