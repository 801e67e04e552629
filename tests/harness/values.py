"""Copies of arguments, snapshots of results, and the comparison of two snapshots.

A snapshot (`freeze`) is plain data that later mutation cannot change. Floats compare bit for bit, except that all NaN are equal;
`rtol` loosens finite floats only. A NumPy scalar and the Python scalar of the same kind and value are the same answer, because a
compiled function may return either; an array's dtype and shape must always agree.
"""

import copy
import struct
from collections import deque

import numpy as np
from numpy.lib.array_utils import byte_bounds


def _is_generator(value):
    """A `numpy.random.Generator`; asking NumPy for the class would load it."""
    return type(value).__module__ == "numpy.random._generator"


def _is_typed(value):
    """A container of `tierup.typed`."""
    return type(value).__module__ == "tierup.typed"


def is_object(value):
    """An instance of a class that a test defines, which Python makes as it makes all objects."""
    cls = type(value)
    heap = cls.__flags__ & 1 << 9
    return bool(heap) and cls.__new__ is object.__new__ and cls.__module__.split(".")[0] not in ("tierup", "numpy", "functools", "typing", "types")


def fields_of(value):
    """What an object holds by name, in its `__dict__` or in slots."""
    names = [n for c in type(value).__mro__ for n, d in vars(c).items() if type(d).__name__ == "member_descriptor"]
    return {**getattr(value, "__dict__", {}), **{n: getattr(value, n) for n in names if hasattr(value, n)}}


def clone(value, memo=None):
    """A copy with the same layout, alignment, flags and sharing: what `copy.deepcopy` would lose."""
    memo = {} if memo is None else memo
    if id(value) in memo:
        return memo[id(value)][0]
    if isinstance(value, np.ndarray):
        out = _clone_array(value, memo)
    elif isinstance(value, list):
        out = []
        memo[id(value)] = (out, value)
        out.extend(clone(v, memo) for v in value)
    elif isinstance(value, tuple):
        members = [clone(v, memo) for v in value]
        out = type(value)(*members) if hasattr(value, "_fields") else tuple(members)
    elif isinstance(value, dict):
        out = value.copy()  # of its class, in its order
        for k, v in value.items():
            dict.__setitem__(out, k, clone(v, memo))
    elif isinstance(value, set):
        out = set(value)
    elif isinstance(value, deque):
        out = deque((clone(v, memo) for v in value), value.maxlen)
    elif _is_generator(value) or _is_typed(value):
        out = copy.deepcopy(value)
    elif is_object(value):
        out = object.__new__(type(value))
        memo[id(value)] = (out, value)
        for name, v in fields_of(value).items():
            object.__setattr__(out, name, clone(v, memo))
    else:
        out = value
    memo[id(value)] = (out, value)  # the original is kept so that its id stays taken
    return out


def _clone_array(a, memo):
    if a.dtype.hasobject or type(a) is not np.ndarray:
        return a.copy()
    root = a
    while isinstance(root.base, np.ndarray):
        root = root.base
    low, high = byte_bounds(root)
    start = min(low, byte_bounds(a)[0])  # as_strided may reach outside its base; tests do not
    key = ("memory", start, high)
    if key not in memo:
        size = high - start
        room = np.empty(size + 128, np.uint8)
        shift = (start - room.ctypes.data) % 64
        block = room[shift:shift + size]
        if size:
            source = np.ndarray((size,), np.uint8, _Memory(start, size))
            block[:] = source
        memo[key] = (block, root)
    block = memo[key][0]
    offset = a.__array_interface__["data"][0] - start
    if a.size == 0:
        offset, block = 0, np.empty(max(a.itemsize, 1), np.uint8)
    out = np.ndarray(a.shape, a.dtype, block, offset, a.strides)
    out.flags.writeable = a.flags.writeable
    return out


class _Memory:
    """Raw memory as something NumPy can wrap."""

    def __new__(cls, address, size):
        import ctypes
        return (ctypes.c_char * size).from_address(address)


def freeze(value, seen=None):
    """A snapshot: nested tuples of a kind and plain data. `seen` numbers the objects that were met, so that one met again is that one."""
    seen = {} if seen is None else seen
    if value is None or value is Ellipsis:
        return ("none", repr(value))
    if isinstance(value, (bool, np.bool_)):
        return ("bool", bool(value))
    if isinstance(value, (np.datetime64, np.timedelta64)):  # before the integers, of which spans are
        return ("time", str(value.dtype), value.astype(np.int64).item())
    if isinstance(value, (int, np.integer)):
        return ("int", int(value))
    if isinstance(value, np.float16):
        return ("half", float(value))
    if isinstance(value, (float, np.floating)):
        return ("float", float(value))
    if isinstance(value, (complex, np.complexfloating)):
        return ("complex", complex(value))
    if isinstance(value, str):
        return ("str", str(value))
    if isinstance(value, (bytes, bytearray)):
        return ("bytes" if isinstance(value, bytes) else "bytearray", bytes(value))
    if isinstance(value, np.ndarray):
        return ("array", value.dtype.str, value.shape, np.array(value, order="C", copy=True))
    if isinstance(value, tuple):
        kind = "tuple" if not hasattr(value, "_fields") else f"{type(value).__name__}({', '.join(value._fields)})"
        return (kind, tuple(freeze(v, seen) for v in value))
    if isinstance(value, list):
        return ("list", tuple(freeze(v, seen) for v in value))
    if _is_typed(value):
        return (type(value).__name__, tuple(freeze(v, seen) for v in value))
    if type(value).__module__ == "tierup.simd":
        return ("tuple", (("str", "Vec"), freeze(value._lanes, seen)))
    if isinstance(value, (set, frozenset)):
        # Their order is not to be seen, nor what was met before what.
        return ("set", tuple(sorted((freeze(v, dict(seen)) for v in value), key=repr)))
    if isinstance(value, deque):
        return ("deque", tuple(freeze(v, seen) for v in [value.maxlen, *value]))
    if isinstance(value, dict):
        factory = getattr(value, "default_factory", None)
        kind = type(value).__name__ + (f"({factory.__qualname__})" if factory else "")
        return ("dict", tuple((freeze(k, seen), freeze(v, seen)) for k, v in value.items()), kind)
    if hasattr(type(value), "__next__"):
        items = []  # iterators of every kind: a compiled generator is of a class of its own
        for item in value:
            items.append(freeze(item, seen))
            if len(items) >= 1000:
                break
        return ("generator", tuple(items))
    if _is_generator(value):
        return ("random", repr(value.bit_generator.state))
    if isinstance(value, (range, slice, np.dtype, type)):
        return ("constant", repr(value))
    if isinstance(value, BaseException):
        return ("exception", type(value).__name__, str(value))
    if is_object(value):
        declared = getattr(value, "__dataclass_fields__", {})
        if declared and value.__dataclass_params__.frozen:
            # A value of its fields: which object it is says nothing.
            return ("dict", tuple((("str", name), freeze(getattr(value, name, None), seen)) for name in declared), type(value).__qualname__)
        if id(value) in seen:
            return ("again", seen[id(value)][0])
        seen[id(value)] = (len(seen), value)  # kept so that its id stays taken
        return ("dict", tuple((("str", name), freeze(v, seen)) for name, v in sorted(fields_of(value).items())), type(value).__qualname__)
    if callable(value):
        return ("function", getattr(value, "__name__", "?"))
    return ("other", type(value).__name__)


def same_float(x, y, rtol):
    """Bit for bit, all NaN equal; within `rtol` of each other where both are finite."""
    if x != x or y != y:
        return x != x and y != y
    if struct.pack("<d", x) == struct.pack("<d", y):
        return True
    if rtol == 0 or abs(x) == float("inf") or abs(y) == float("inf"):
        return False
    return abs(x - y) <= rtol * max(abs(x), abs(y)) or (x == y and rtol > 0) or max(abs(x), abs(y)) < 1e-300


def difference(want, got, rtol=0.0, path="result"):
    """None when two snapshots agree, else one line that says where they do not."""
    if want[0] == "half" and got[0] == "float":
        return _half_difference(np.float16(want[1]), got[1], path)
    if want[0] != got[0]:
        return f"{path}: expected {show(want)}, got {show(got)}"
    kind = want[0]
    if kind == "dict" and want[2] != got[2]:
        return f"{path}: expected a {want[2]}, got a {got[2]}"
    if kind == "float":
        return None if same_float(want[1], got[1], rtol) else f"{path}: expected {want[1]!r}, got {got[1]!r}"
    if kind == "complex":
        ok = same_complex(want[1], got[1], rtol)
        return None if ok else f"{path}: expected {want[1]!r}, got {got[1]!r}"
    if kind == "array":
        return _array_difference(want, got, rtol, path)
    if len(want) > 1 and isinstance(want[1], tuple) and kind != "constant":
        if len(want[1]) != len(got[1]):
            return f"{path}: expected {len(want[1])} members, got {len(got[1])}: expected {show(want)}, got {show(got)}"
        for i, (a, b) in enumerate(zip(want[1], got[1])):
            if kind == "dict":
                inner = difference(a[0], b[0], rtol, f"{path} key {i}") or difference(a[1], b[1], rtol, f"{path} value {i}")
            else:
                inner = difference(a, b, rtol, f"{path}[{i}]")
            if inner:
                return inner
        return None
    return None if want == got else f"{path}: expected {show(want)}, got {show(got)}"


def same_complex(x, y, rtol):
    if same_float(x.real, y.real, rtol) and same_float(x.imag, y.imag, rtol):
        return True
    if rtol and all(abs(v) < float("inf") for v in (x.real, x.imag, y.real, y.imag)):
        return abs(x - y) <= rtol * max(abs(x), abs(y))
    return False


def _half_difference(want, got, path):
    """What NumPy computes in float16 is float32 in compiled code: rounded to float16 it is the same but for the last bits."""
    with np.errstate(all="ignore"):
        rounded = np.asarray(got).astype(np.float16)
        ok = np.isclose(np.asarray(want, np.float32), np.asarray(rounded, np.float32), rtol=5e-3, atol=1e-6, equal_nan=True)
    return None if np.all(ok) else f"{path}: expected about {want!r:.200}, got {got!r:.200}"


def _array_difference(want, got, rtol, path):
    if want[1] == "<f2" and got[1] == "<f4" and want[2] == got[2]:
        return _half_difference(want[3], got[3], path)
    if want[1] != got[1]:
        return f"{path}: expected dtype {want[1]}, got {got[1]}"
    if want[2] != got[2]:
        return f"{path}: expected shape {want[2]}, got {got[2]}"
    a, b = want[3], got[3]
    if a.dtype.names is not None:
        # What lies between fields is nobody's.
        if a.dtype != b.dtype:
            return f"{path}: expected dtype {a.dtype}, got {b.dtype}"
        parts = ((n, [(*w[:1], x[n].dtype.str, x[n].shape, x[n]) for w, x in ((want, a), (got, b))]) for n in a.dtype.names)
        return next((d for n, (x, y) in parts if (d := _array_difference(x, y, rtol, f"{path}[{n!r}]"))), None)
    if a.dtype.kind in "fc":
        flat_a, flat_b = np.atleast_1d(a).ravel(), np.atleast_1d(b).ravel()
        same = (flat_a.view(f"V{a.itemsize}") == flat_b.view(f"V{a.itemsize}")) if a.size else np.ones(0, bool)
        test = same_complex if a.dtype.kind == "c" else same_float
        item = complex if a.dtype.kind == "c" else float
        for i in np.flatnonzero(~same):
            if not test(item(flat_a[i]), item(flat_b[i]), rtol):
                at = tuple(int(k) for k in np.unravel_index(i, want[2])) if want[2] else ()
                return f"{path}{list(at)}: expected {flat_a[i]!r}, got {flat_b[i]!r}"
        return None
    if a.tobytes() == b.tobytes():
        return None
    where = np.argwhere(np.atleast_1d(a != b))
    return f"{path}{where[0].tolist() if len(where) else ''}: expected {a.tolist()!r:.200}, got {b.tolist()!r:.200}"


def show(frozen):
    """A snapshot for a person."""
    kind = frozen[0]
    if kind == "array":
        return f"array({frozen[3].tolist()!r:.120}, dtype={frozen[1]}, shape={frozen[2]})"
    if kind in ("tuple", "list", "generator", "set") or (len(frozen) > 1 and isinstance(frozen[1], tuple) and kind not in ("dict", "constant")):
        return f"{kind}({', '.join(show(v) for v in frozen[1])})"
    return f"{kind} {frozen[1]!r:.200}" if len(frozen) > 1 else kind


def layouts(a):
    """The same values in every layout an argument can have."""
    a = np.asarray(a)
    yield np.array(a, order="C")
    if a.ndim > 1:
        yield np.array(a, order="F")
    spread = np.zeros(tuple(2 * n + 1 for n in a.shape), a.dtype)
    strided = spread[tuple(slice(1, None, 2) for _ in a.shape)]
    strided[...] = a
    if a.ndim:
        yield strided
        backwards = np.array(a[tuple(slice(None, None, -1) for _ in a.shape)], order="C")
        yield backwards[tuple(slice(None, None, -1) for _ in a.shape)]
    frozen = np.array(a, order="C")
    frozen.flags.writeable = False
    yield frozen
    if a.itemsize > 1:
        room = np.zeros(a.nbytes + 16, np.uint8)
        odd = np.ndarray(a.shape, a.dtype, room, 1 + (-room.ctypes.data) % 8)
        odd[...] = a
        yield odd
