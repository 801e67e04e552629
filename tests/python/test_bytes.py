"""Bytes and bytearrays at the edge to Python: whose objects stay, which are new, who sees changes, and that nothing is kept."""

import gc
import pickle
import sys

import numpy as np
import pytest
from harness import memory

tierup = pytest.importorskip("tierup")
pytestmark = pytest.mark.isolated
njit = tierup.njit


@njit
def same(b):
    return b


@njit
def put(a, x):
    a.append(x)


@njit
def assign(a, i, x):
    a[i] = x


@njit
def grown(b, n):
    out = bytearray()
    for _ in range(n):
        out += b
        out = out[: len(out) // 2 + 1]
    return bytes(out), out


def test_arguments_come_back_as_themselves():
    class Named(bytes):
        pass

    b, a, n = b"a longer one", bytearray(b"abc"), Named(b"abc")
    assert same(b) is b and same(a) is a and same(n) is n
    assert njit(lambda b: [b, b])(b)[1] is b
    assert njit(lambda b: {b: b})(b).popitem()[0] is b
    assert njit(lambda a, c: [a, c])(a, a) == [a, a]
    x, y = njit(lambda a: (a, a))(a)
    assert x is a and y is a
    assert same(np.bytes_(b"ab")) == b"ab"


def test_classes_with_meanings_of_their_own_are_refused():
    class Array(bytearray):
        pass

    class Long(bytes):
        def __len__(self):
            return 100

    with pytest.raises(TypeError, match="cannot take"):
        same(Array(b"a"))
    with pytest.raises(TypeError, match="__len__ of its own"):
        same(Long(b"a"))


def test_bytes_that_are_kept_outlive_their_arguments():
    @njit
    def kept(words):
        out = []
        for w in words:
            out.append(w)
            out.append(w + b"!")
        return out

    words = [bytes([k]) * 100 for k in range(50)]
    got = kept(words)
    assert got[0] is words[0]
    expected = [x for w in words for x in (w, w + b"!")]
    del words
    gc.collect()
    assert got == expected


def test_who_looks_at_the_memory_of_a_bytearray_sees_what_changes():
    a = bytearray(b"abc")
    view = memoryview(a)
    assign(a, 1, 120)
    assert bytes(view) == b"axc"
    with pytest.raises(BufferError):
        put(a, 1)
    assert a == b"axc"
    view.release()
    put(a, 1)
    assert a == b"axc\x01"


def test_generators_see_changes_and_show_theirs():
    @njit
    def each(a):
        for k in range(len(a)):
            a[k] += 1
            yield a[k], len(a)
        a.append(0)
        yield 0, len(a)

    a = bytearray(b"ab")
    g = each(a)
    assert next(g) == (98, 2) and a == b"bb"
    a.append(100)
    a[1] = 50
    assert next(g) == (51, 3) and a == b"b3d"
    assert list(g) == [(0, 4)] and a == b"b3d\x00"

    @njit
    def over(b):
        for x in b:
            yield bytes([x]) + b

    b = b"a longer one"
    g = over(b)
    del b
    gc.collect()
    assert list(g) == [bytes([x]) + b"a longer one" for x in b"a longer one"]


def test_globals_and_captured_bytes_are_constants_until_they_change():
    namespace = {"njit": njit, "WORD": b"one"}
    exec("@njit\ndef f():\n    return WORD + b'!', len(WORD)", namespace)
    assert namespace["f"]() == (b"one!", 3)
    namespace["WORD"] = b"three"
    assert namespace["f"]() == (b"three!", 5)
    word = b"\xff"
    assert njit(lambda: word)() == b"\xff"
    assert pickle.loads(pickle.dumps(same))(b"x") == b"x"


def test_exceptions_carry_bytes():
    @njit
    def decoded(b):
        return b.decode()

    @njit
    def encoded(s):
        return s.encode("latin-1")

    @njit
    def raised(b):
        raise ValueError(b, [b])

    b = b"ab\xff"
    with pytest.raises(UnicodeDecodeError) as e:
        decoded(b)
    assert e.value.args == ("utf-8", b, 2, 3, "invalid start byte") and e.value.object is b
    with pytest.raises(UnicodeEncodeError) as e:
        encoded("a\u0436b")
    assert e.value.args == ("latin-1", "a\u0436b", 1, 2, "ordinal not in range(256)")
    with pytest.raises(ValueError) as e:
        raised(b)
    assert e.value.args == (b, [b])

    @njit
    def made(b):
        try:
            raise UnicodeDecodeError("mine", b, 0, 1, "why")
        except UnicodeDecodeError as e:
            return str(e)

    assert made(b"a") == "'mine' codec can't decode byte 0x61 in position 0: why"


def test_empty_arguments_have_types():
    assert same(b"") == b"" and same(bytearray()) == bytearray()
    assert njit(lambda a: (a.upper(), a + a, list(a)))(bytearray()) == (bytearray(), bytearray(), [])


def test_nothing_is_kept():
    b, a = b"x" * 1000, bytearray(b"y" * 1000)
    def once():
        grown(b, 20)
        same(b), same(a)
        put(a, 1)
        a.pop()
        with pytest.raises(IndexError):
            assign(a, 5000, 1)
    # What compiles hot code again takes memory.
    tierup.config.tier = "0"
    for _ in range(100):
        once()
    before = sys.getrefcount(b), sys.getrefcount(a)
    size = memory.resident()
    for _ in range(2000):
        once()
    assert (sys.getrefcount(b), sys.getrefcount(a)) == before
    assert memory.resident() - size < 20_000


def test_arrays_of_bytes_are_their_own():
    @njit
    def of(b):
        return np.frombuffer(b, np.uint8)

    b = bytes(range(100))
    x = of(b)
    del b
    gc.collect()
    assert x.tolist() == list(range(100)) and not x.flags.writeable


def test_a_bytearray_beside_a_view_of_its_memory_is_refused():
    @tierup.njit
    def f(b, m):
        m[0] = 5
        return b[0]
    b, other = bytearray(3), bytearray(3)
    assert f(b, memoryview(other)) == 0 and other[0] == 5
    for view in (memoryview(b), np.frombuffer(b, np.uint8)):
        with pytest.raises(TypeError, match="cannot take a bytearray while a memoryview or an array shows its memory"):
            f(b, view)
    del view
    assert f(b, memoryview(other)) == 0 and b == bytes(3)
