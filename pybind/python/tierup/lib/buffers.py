"""Objects with memory of their own as compiled code has them: `memoryview` and `array.array`. Each is an instance of a class here while it is in compiled
code; what an instance does is what Python's object does, and what is not here is refused."""

import operator
from array import array
from dataclasses import dataclass

import numpy as np


def seen(obj):
    """What compiled code has of an object; None where it cannot have it."""
    try:
        a = np.asarray(obj)
    except (TypeError, ValueError, NotImplementedError):
        return None
    if isinstance(obj, memoryview):
        # A view that was released is an object to NumPy.
        return None if a.dtype == object else MemoryView(a, obj.format)
    return PyArray(a, obj.typecode)


def _of_array(a):
    """The object of Python's whose memory an array is all of; None where there is none."""
    base = a.base
    return base if isinstance(base, memoryview) and base.nbytes == a.nbytes and base.shape == a.shape and base.strides == a.strides else None


def _whole(value, dtype):
    """Whether an integer has room."""
    info = np.iinfo(dtype)
    return info.min <= value and value <= info.max


def _out_of_room(code, value):
    if (code == "I" or code == "L" or code == "Q") and value < 0:
        return "can't convert negative int to unsigned" if code == "Q" else "can't convert negative value to unsigned int"
    name = {"b": "signed char", "B": "unsigned byte integer", "h": "signed short integer", "H": "unsigned short", "i": "signed integer", "I": "unsigned int"}.get(code, "integer")
    return name + (" is greater than maximum" if value > 0 else " is less than minimum")


def _texts(code, values):
    """``repr`` of an array."""
    return "array('" + code + "'" + (", " + str(values) if len(values) > 0 else "") + ")"


# ---------------------------------------------------------------- memoryview

@dataclass(frozen=True, eq=False, repr=False)
class MemoryView:
    _array: np.ndarray
    format: str

    _tierup_class_ = memoryview

    def _tierup_python_(self):
        known = _of_array(self._array)
        return memoryview(self._array) if known is None else known

    def __len__(self):
        if self._array.ndim == 0:
            raise TypeError("0-dim memory has no length")
        return len(self._array)

    def __getitem__(self, i):
        if isinstance(i, (int, np.integer)) and self._array.ndim == 1 and not -len(self._array) <= i < len(self._array):
            raise IndexError("index out of bounds on dimension 1")
        x = self._array[i]
        if isinstance(x, np.ndarray):
            if x.ndim < self._array.ndim:
                raise NotImplementedError("multi-dimensional sub-views are not implemented")
            return MemoryView(x, self.format)
        return x.item()

    def __setitem__(self, i, value):
        if not self._array.flags.writeable:
            raise TypeError("cannot modify read-only memory")
        if isinstance(value, MemoryView):
            self._array[i] = value._array
        elif isinstance(value, (bytes, bytearray)):
            part = self._array[i]
            if len(part) != len(value) or part.itemsize != 1:
                raise ValueError("memoryview assignment: lvalue and rvalue have different structures")
            for k in range(len(value)):
                part[k] = value[k]
        else:
            if isinstance(i, (int, np.integer)) and self._array.ndim == 1 and not -len(self._array) <= i < len(self._array):
                raise IndexError("index out of bounds on dimension 1")
            if self._array.dtype.kind == "i" or self._array.dtype.kind == "u":
                if not isinstance(value, (int, np.integer)):
                    raise TypeError("memoryview: invalid type for format '" + self.format + "'")
                if not _whole(value, self._array.dtype):
                    raise ValueError("memoryview: invalid value for format '" + self.format + "'")
            self._array[i] = value

    def __iter__(self):
        if self._array.ndim != 1:
            raise NotImplementedError("multi-dimensional sub-views are not implemented")
        for x in self._array.ravel():
            yield x.item()

    def __eq__(self, other):
        return _same_memory(self, other)

    def __ne__(self, other):
        return not _same_memory(self, other)

    @property
    def ndim(self):
        return self._array.ndim

    @property
    def shape(self):
        return self._array.shape

    @property
    def strides(self):
        return self._array.strides

    @property
    def itemsize(self):
        return self._array.itemsize

    @property
    def nbytes(self):
        return self._array.nbytes

    @property
    def readonly(self):
        return not self._array.flags.writeable

    @property
    def c_contiguous(self):
        return self._array.flags.c_contiguous

    @property
    def f_contiguous(self):
        return self._array.flags.f_contiguous

    @property
    def contiguous(self):
        return self._array.flags.c_contiguous or self._array.flags.f_contiguous

    def tobytes(self):
        return self._array.tobytes()

    def tolist(self):
        return self._array.tolist()

    def hex(self):
        return self._array.tobytes().hex()

    def cast(self, format):
        if not self._array.flags.c_contiguous:
            raise TypeError("memoryview: casts are restricted to C-contiguous views")
        if format not in "bB" and self.format not in "bBc":
            raise TypeError("memoryview: cannot cast between two non-byte formats")
        flat = self._array.reshape(-1)
        if format == "B":
            return MemoryView(flat.view(np.uint8), format)
        if format == "b":
            return MemoryView(flat.view(np.int8), format)
        if format == "h":
            return MemoryView(_cast(flat, np.int16), format)
        if format == "H":
            return MemoryView(_cast(flat, np.uint16), format)
        if format == "i":
            return MemoryView(_cast(flat, np.int32), format)
        if format == "I":
            return MemoryView(_cast(flat, np.uint32), format)
        if format == "l" or format == "q":
            return MemoryView(_cast(flat, np.int64), format)
        if format == "L" or format == "Q":
            return MemoryView(_cast(flat, np.uint64), format)
        if format == "f":
            return MemoryView(_cast(flat, np.float32), format)
        return MemoryView(_cast(flat, np.float64), format)


def _cast(flat, dtype):
    if len(flat) * flat.itemsize % np.dtype(dtype).itemsize != 0:
        raise TypeError("memoryview: length is not a multiple of itemsize")
    return flat.view(dtype)


def _same_memory(a, b):
    """Whether elements are equal, by their values."""
    if isinstance(b, (bytes, bytearray)):
        if a._array.ndim != 1 or len(a._array) != len(b) or a._array.dtype.kind != "i" and a._array.dtype.kind != "u":
            return False
        for k in range(len(b)):
            if a._array[k] != b[k]:
                return False
        return True
    if isinstance(b, (MemoryView, PyArray)):
        if a._array.shape != b._array.shape:
            return False
        return bool(np.all(a._array == b._array))
    return False


def memory_view(object):
    if isinstance(object, MemoryView):
        return MemoryView(object._array, object.format)
    if isinstance(object, PyArray):
        return MemoryView(object._array, object.typecode)
    if isinstance(object, bytes):
        return MemoryView(np.frombuffer(object, np.uint8), "B")
    return MemoryView(object, _code(object))


def array_of(buffer, dtype, count, offset):
    return np.frombuffer(buffer._array, dtype, count, offset)


def _code(a):
    """How the module `struct` calls the type of elements."""
    size = a.itemsize
    if a.dtype.kind == "i":
        return "b" if size == 1 else "h" if size == 2 else "i" if size == 4 else "l"
    if a.dtype.kind == "u":
        return "B" if size == 1 else "H" if size == 2 else "I" if size == 4 else "L"
    if a.dtype.kind == "f":
        return "f" if size == 4 else "d"
    if a.dtype.kind == "c":
        return "Zf" if size == 8 else "Zd"
    return "?"


# ---------------------------------------------------------------- array.array, as an argument

@dataclass(frozen=True, eq=False, repr=False)
class PyArray:
    _array: np.ndarray
    typecode: str

    _tierup_class_ = array

    def _tierup_python_(self):
        known = _of_array(self._array)
        return known.obj if known is not None and isinstance(known.obj, array) else array(self.typecode, self._array.tobytes())

    def __len__(self):
        return len(self._array)

    def __getitem__(self, i):
        if isinstance(i, (int, np.integer)):
            if not -len(self._array) <= i < len(self._array):
                raise IndexError("array index out of range")
            return self._array[i].item()
        return PyArray(self._array[i].copy(), self.typecode)

    def __setitem__(self, i, value):
        if not -len(self._array) <= i < len(self._array):
            raise IndexError("array assignment index out of range")
        if self._array.dtype.kind == "i" or self._array.dtype.kind == "u":
            if not isinstance(value, (int, np.integer)):
                raise TypeError("'float' object cannot be interpreted as an integer")
            if not _whole(value, self._array.dtype):
                raise OverflowError(_out_of_room(self.typecode, value))
        self._array[i] = value

    def __iter__(self):
        for x in self._array:
            yield x.item()

    def __eq__(self, other):
        return isinstance(other, (PyArray, OwnArray)) and self.tolist() == other.tolist()

    def __ne__(self, other):
        return not (isinstance(other, (PyArray, OwnArray)) and self.tolist() == other.tolist())

    def __add__(self, other):
        if self.typecode != other.typecode:
            raise TypeError("bad argument type for built-in operation")
        return PyArray(np.concatenate((self._array, other._array)), self.typecode)

    def __mul__(self, n):
        return PyArray(np.tile(self._array, max(n, 0)), self.typecode)

    def __repr__(self):
        return _texts(self.typecode, self.tolist())

    @property
    def itemsize(self):
        return self._array.itemsize

    def index(self, x, start=0, stop=9223372036854775807):
        return _index(self.tolist(), x, start, stop)

    def count(self, x):
        return _count(self.tolist(), x)

    def reverse(self):
        self._array[:] = self._array[::-1].copy()

    def tobytes(self):
        return self._array.tobytes()

    def tolist(self):
        return self._array.tolist()


# ---------------------------------------------------------------- array.array, made in compiled code

@dataclass(frozen=True, eq=False, repr=False)
class OwnArray:
    """What all of them have; a class below says the code of the elements (`tierup._arrays`), which are numbers of NumPy's."""

    _items: list

    _tierup_class_ = array

    def _tierup_python_(self):
        return array(self.typecode, self._items)

    def __len__(self):
        return len(self._items)

    def __getitem__(self, i):
        if isinstance(i, (int, np.integer)):
            if not -len(self._items) <= i < len(self._items):
                raise IndexError("array index out of range")
            return self._items[i].item()
        return self._of(self._items[i])

    def __setitem__(self, i, value):
        if isinstance(i, (int, np.integer)):
            if not -len(self._items) <= i < len(self._items):
                raise IndexError("array assignment index out of range")
            self._items[i] = element(self, value)
        else:
            if not isinstance(value, OwnArray):
                raise TypeError("can only assign array (not \"" + type(value).__name__ + "\") to array slice")
            if value.typecode != self.typecode:
                raise TypeError("bad argument type for built-in operation")
            self._items[i] = value._items[:]

    def __delitem__(self, i):
        if isinstance(i, (int, np.integer)) and not -len(self._items) <= i < len(self._items):
            raise IndexError("array assignment index out of range")
        del self._items[i]

    def __iter__(self):
        k = 0
        while k < len(self._items):
            yield self._items[k].item()
            k += 1

    def __eq__(self, other):
        return isinstance(other, (PyArray, OwnArray)) and self.tolist() == other.tolist()

    def __ne__(self, other):
        return not (isinstance(other, (PyArray, OwnArray)) and self.tolist() == other.tolist())

    def __lt__(self, other):
        return self.tolist() < other.tolist()

    def __le__(self, other):
        return self.tolist() <= other.tolist()

    def __gt__(self, other):
        return self.tolist() > other.tolist()

    def __ge__(self, other):
        return self.tolist() >= other.tolist()

    def __add__(self, other):
        if not isinstance(other, OwnArray):
            raise TypeError("can only append array (not \"" + type(other).__name__ + "\") to array")
        if other.typecode != self.typecode:
            raise TypeError("bad argument type for built-in operation")
        return self._of(self._items + other._items)

    def __iadd__(self, other):
        if not isinstance(other, (OwnArray, PyArray)):
            raise TypeError("can only extend array with array (not \"" + type(other).__name__ + "\")")
        self.extend(other)
        return self

    def __mul__(self, n):
        return self._of(self._items * n)

    def __rmul__(self, n):
        return self._of(self._items * n)

    def __repr__(self):
        return _texts(self.typecode, self.tolist())

    def append(self, x):
        self._items.append(element(self, x))

    def extend(self, values):
        if isinstance(values, (OwnArray, PyArray)):
            if values.typecode != self.typecode:
                raise TypeError("can only extend with array of same kind")
            for x in values.tolist():
                self._items.append(element(self, x))
        else:
            for x in values:
                self._items.append(element(self, x))

    def fromlist(self, values):
        # All of them, or none.
        new = [element(self, x) for x in values]
        self._items.extend(new)

    def frombytes(self, buffer):
        self._items.extend(_of_bytes(self, buffer))

    def insert(self, i, x):
        self._items.insert(i, element(self, x))

    def pop(self, i=-1):
        if len(self._items) == 0:
            raise IndexError("pop from empty array")
        if not -len(self._items) <= i < len(self._items):
            raise IndexError("pop index out of range")
        return self._items.pop(i).item()

    def remove(self, x):
        for k in range(len(self._items)):
            if self._items[k].item() == x:
                del self._items[k]
                return
        raise ValueError("array.remove(x): x not in array")

    def index(self, x, start=0, stop=9223372036854775807):
        return _index(self.tolist(), x, start, stop)

    def count(self, x):
        return _count(self.tolist(), x)

    def reverse(self):
        self._items.reverse()

    def tobytes(self):
        return np.array(self._items, self._dtype).tobytes()

    def tolist(self):
        return [x.item() for x in self._items]


def _index(values, x, start, stop):
    n = len(values)
    if start < 0:
        start = max(start + n, 0)
    if stop < 0:
        stop += n
    for k in range(start, min(stop, n)):
        if values[k] == x:
            return k
    raise ValueError("array.index(x): x not in array")


def _count(values, x):
    n = 0
    for y in values:
        if y == x:
            n += 1
    return n


def element(a, x):
    """A value as an element of an array."""
    if a.typecode == "f" or a.typecode == "d":
        if not isinstance(x, (int, float, np.integer, np.floating)):
            raise TypeError("must be real number, not " + type(x).__name__)
        return a._dtype(x)
    if not isinstance(x, (int, np.integer)):
        raise TypeError("'" + type(x).__name__ + "' object cannot be interpreted as an integer")
    if not _whole(x, a._dtype):
        raise OverflowError(_out_of_room(a.typecode, x))
    return a._dtype(x)


def _of_bytes(a, buffer):
    if len(buffer) % a.itemsize != 0:
        raise ValueError("bytes length not a multiple of item size")
    return [x for x in np.frombuffer(bytes(buffer), a._dtype)]


def own(typecode, initializer=()):
    new = operator._new_array(typecode)()
    if isinstance(initializer, tuple) and len(initializer) == 0:
        return new
    if isinstance(initializer, (bytes, bytearray)):
        new.frombytes(initializer)
    else:
        new.extend(initializer)
    return new


# ---------------------------------------------------------------- memory of any of these

def size(buffer):
    """How many bytes it has."""
    if isinstance(buffer, (MemoryView, PyArray)):
        return buffer._array.nbytes
    if isinstance(buffer, OwnArray):
        return len(buffer._items) * buffer.itemsize
    if isinstance(buffer, np.ndarray):
        return buffer.nbytes
    return len(buffer)


def piece(buffer, at, n):
    """So many bytes of it."""
    if isinstance(buffer, (MemoryView, PyArray)):
        if not buffer._array.flags.c_contiguous:
            raise BufferError("ndarray is not C-contiguous" if isinstance(buffer, PyArray) else "memoryview: underlying buffer is not C-contiguous")
        return buffer._array.reshape(-1).view(np.uint8)[at:at + n].tobytes()
    if isinstance(buffer, OwnArray):
        first = at // buffer.itemsize
        return np.array(buffer._items[first:(at + n - 1) // buffer.itemsize + 1], buffer._dtype).tobytes()[at - first * buffer.itemsize:][:n]
    return buffer[at:at + n]


def writable(buffer):
    return buffer._array.flags.writeable if isinstance(buffer, MemoryView) else True


def memory(buffer):
    """It as an array of bytes."""
    a = buffer._array if isinstance(buffer, (MemoryView, PyArray)) else buffer
    return a.reshape(-1).view(np.uint8)


def as_bytes(source):
    if not isinstance(source, (MemoryView, PyArray, OwnArray)):
        raise TypeError("cannot convert '" + type(source).__name__ + "' object to bytes")
    return source.tobytes()


def as_bytearray(source):
    return bytearray(as_bytes(source))
