"""Arrays of other libraries: what is taken as it lies, and how the refusal of the others says to pass them without a copy."""

import array
import ctypes
import mmap

import numpy as np
import pytest

from harness.build import needs

tierup = pytest.importorskip("tierup")


@tierup.njit
def total(x):
    s = 0.0
    for i in range(len(x)):
        s += x[i]
    return s


@tierup.njit
def put(x, v):
    x[0] = v


@pytest.mark.parametrize("make", [
    lambda: memoryview(np.arange(4.0)), lambda: array.array("d", [0, 1, 2, 3]), lambda: memoryview(array.array("i", [0, 1, 2, 3])), lambda: bytearray([0, 1, 2, 3]),
], ids=["memoryview", "array.array", "memoryview of one", "bytearray"])
def test_buffers_are_taken_as_they_lie(make):
    x = make()
    assert total(x) == total.py_func(x) == 6
    put(x, 7)
    assert x[0] == 7 and total(x) == 13


def test_arrays_on_memory_of_others():
    memory = (ctypes.c_double * 4)(0, 1, 2, 3)
    x = np.ctypeslib.as_array(memory)
    put(x, 7.0)
    assert memory[0] == 7 and total(x) == 13
    pages = mmap.mmap(-1, 32)
    y = np.frombuffer(pages, np.float64)
    put(y, 5.0)
    assert pages[:8] == np.float64(5).tobytes() and total(y) == 5


class Exports:
    """An object of another library's, which is no object of the program: its class has its own way to set attributes."""

    def __init__(self, a):
        object.__setattr__(self, "a", a)

    def __setattr__(self, name, value):
        raise AttributeError(name)


class Capsule(Exports):
    def __dlpack__(self, **how):
        return self.a.__dlpack__(**how)

    def __dlpack_device__(self):
        return self.a.__dlpack_device__()


class Interface(Exports):
    @property
    def __array_interface__(self):
        return self.a.__array_interface__


class Converts(Exports):
    def __array__(self, dtype=None, copy=None):
        return self.a


class Tensor(Exports):
    __module__, __qualname__ = "torch", "Tensor"

    def detach(self):
        return self

    cpu = detach

    def numpy(self):
        return self.a


WAYS = {
    Capsule: ("np.from_dlpack(x), which copies nothing", np.from_dlpack), Interface: ("np.asarray(x)", np.asarray), Converts: ("np.asarray(x)", np.asarray),
    Tensor: ("x.detach().cpu().numpy(), which copies nothing of a tensor on the CPU", lambda x: x.detach().cpu().numpy()),
}


@pytest.mark.parametrize("cls", WAYS, ids=lambda cls: cls.__name__)
def test_refusals_say_how_to_pass_them(cls):
    words, way = WAYS[cls]
    a = np.arange(4.0)
    x = cls(a)
    with pytest.raises(tierup.TypingError, match="compiled code cannot take") as refused:
        total(x)
    assert str(refused.value).endswith(f"help: pass {words}")
    put(way(x), 7.0)
    assert a[0] == 7 and total(way(x)) == 13


def test_a_class_that_fails_when_it_is_asked():
    class Odd(Exports):
        @property
        def __dlpack__(self):
            raise ZeroDivisionError
    with pytest.raises(tierup.TypingError, match="from_dlpack"):
        total(Odd(1))


@needs("pyarrow")
def test_arrow():
    import pyarrow as pa
    whole = pa.array([1.0, 2.0])
    with pytest.raises(tierup.TypingError, match=r"x\.to_numpy\(zero_copy_only=False\), which copies nothing of numbers without nulls"):
        total(whole)
    seen = whole.to_numpy(zero_copy_only=False)
    assert total(seen) == 3 and seen.__array_interface__["data"][0] == whole.buffers()[1].address
    # What Arrow has given away is not to be changed.
    with pytest.raises(ValueError, match="read-only"):
        put(seen, 1.0)
    assert np.isnan(total(pa.array([1.0, None]).to_numpy(zero_copy_only=False)))
    for x, words in [(pa.chunked_array([[1.0], [2.0]]), r"pass x\.to_numpy\(\)"), (pa.table({"a": [1]}), "pass its columns")]:
        with pytest.raises(tierup.TypingError, match=words):
            total(x)
    assert total(pa.chunked_array([[1.0], [2.0]]).to_numpy()) == 3


@needs("awkward")
def test_awkward():
    import awkward as ak
    ragged = ak.Array([[1.0], [2.0, 3.0]])
    with pytest.raises(tierup.TypingError, match=r"ak\.to_numpy\(ak\.flatten\(x\)\) and ak\.to_numpy\(ak\.num\(x\)\)"):
        total(ragged)
    assert total(ak.to_numpy(ak.flatten(ragged))) == 6 and total(ak.to_numpy(ak.num(ragged))) == 3

    @tierup.vectorize
    def more(x):
        return x + 1
    assert more(ragged).to_list() == [[2.0], [3.0, 4.0]]


@needs("torch")
def test_torch():
    import torch
    t = torch.arange(4.0, dtype=torch.float64)
    with pytest.raises(tierup.TypingError, match=r"x\.detach\(\)\.cpu\(\)\.numpy\(\)"):
        total(t)
    put(t.detach().cpu().numpy(), 7.0)
    assert t[0] == 7 and total(np.from_dlpack(t)) == 13
