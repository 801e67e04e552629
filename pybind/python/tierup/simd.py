"""Vectors: a number in each of 2, 4, 8, 16, 32 or 64 lanes, computed with at once.

    from tierup import njit, simd

    @njit
    def dot(a, b):
        s = simd.splat(0.0, 8)
        for i in range(0, len(a) // 8 * 8, 8):
            s = s + simd.load(a, i, 8) * simd.load(b, i, 8)
        return s.sum()

Compiled code keeps a vector in registers. Here is what it means, with NumPy's arrays: each operation is NumPy's on arrays of that many elements.
"""

import numbers

import numpy as np

__all__ = ["Vec", "splat", "arange", "load", "store", "gather", "scatter", "select", "shuffle", "permute", "fma"]

_DTYPES = frozenset(np.dtype(t) for t in (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64"))
_WIDTHS = (2, 4, 8, 16, 32, 64)


class Vec:
    """A vector of its lanes: `Vec(1.0, 2.0, 3.0, 4.0)`. `Vec[float, Literal[4]]` says so in an annotation."""

    __slots__ = ("_lanes",)
    # Ufuncs ask `__array_ufunc__`; operators of NumPy's scalars leave the operation to it as well.
    __array_priority__ = 1000.0

    def __init__(self, *lanes):
        if len(lanes) not in _WIDTHS:
            raise TypeError(f"a vector has 2, 4, 8, 16, 32 or 64 lanes, not {len(lanes)}")
        if not all(isinstance(x, (bool, int, float, np.bool_, np.integer, np.floating)) for x in lanes):
            raise TypeError("the lanes of a vector are numbers")
        self._lanes = _frozen(np.array([np.asarray(x) for x in lanes], dtype=np.result_type(*[np.asarray(x).dtype for x in lanes])))

    def __class_getitem__(cls, item):
        import types
        return types.GenericAlias(cls, item)

    # ---- one lane, all lanes

    def __len__(self):
        return len(self._lanes)

    def __getitem__(self, i):
        return self._lanes[_lane(i, len(self._lanes))]

    def __iter__(self):
        return iter(self.lanes())

    def replace(self, i, x):
        """The vector with another lane `i`."""
        lanes = self._lanes.copy()
        lanes[_lane(i, len(lanes))] = x
        return _vec(lanes)

    def lanes(self):
        """The lanes as a tuple."""
        return tuple(self._lanes)

    def astype(self, dtype):
        """The lanes converted as NumPy converts elements."""
        with np.errstate(all="ignore"):
            return _vec(self._lanes.astype(dtype))

    def __repr__(self):
        return f"Vec({', '.join(str(x) for x in self._lanes)})"

    def __bool__(self):
        raise ValueError("the truth of a vector is that of none of its lanes: ask any() or all()")

    __hash__ = None

    # ---- what all lanes come to, the second half folded into the first until one is left

    def sum(self):
        """All lanes added up; the true ones of a mask counted."""
        return _halves(np.add, self._lanes)

    def prod(self):
        """All lanes multiplied."""
        return _halves(np.multiply, self._lanes)

    def min(self):
        """The smallest lane; NaN where one is NaN."""
        return _halves(np.minimum, self._lanes, count=False)

    def max(self):
        """The largest lane; NaN where one is NaN."""
        return _halves(np.maximum, self._lanes, count=False)

    def any(self):
        """Whether a lane of a mask is true."""
        return bool(_mask(self).any())

    def all(self):
        """Whether all lanes of a mask are true."""
        return bool(_mask(self).all())

    # ---- lane by lane

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        if method != "__call__" or options:
            return NotImplemented
        if len({len(x._lanes) for x in inputs if isinstance(x, Vec)}) > 1:
            a, b = (len(x._lanes) for x in inputs if isinstance(x, Vec))
            raise TypeError(f"vectors of {a} and {b} lanes do not go together")
        if not all(isinstance(x, (Vec, bool, int, float, np.bool_, np.integer, np.floating)) for x in inputs):
            return NotImplemented
        with np.errstate(all="ignore"):
            return _vec(ufunc(*[x._lanes if isinstance(x, Vec) else x for x in inputs]))

    def __add__(self, x):
        return _binary(np.add, self, x)

    def __radd__(self, x):
        return _binary(np.add, x, self)

    def __sub__(self, x):
        return _binary(np.subtract, self, x)

    def __rsub__(self, x):
        return _binary(np.subtract, x, self)

    def __mul__(self, x):
        return _binary(np.multiply, self, x)

    def __rmul__(self, x):
        return _binary(np.multiply, x, self)

    def __truediv__(self, x):
        return _binary(np.true_divide, self, x)

    def __rtruediv__(self, x):
        return _binary(np.true_divide, x, self)

    def __floordiv__(self, x):
        return _binary(np.floor_divide, self, x)

    def __rfloordiv__(self, x):
        return _binary(np.floor_divide, x, self)

    def __mod__(self, x):
        return _binary(np.remainder, self, x)

    def __rmod__(self, x):
        return _binary(np.remainder, x, self)

    def __pow__(self, x):
        return _binary(np.power, self, x)

    def __rpow__(self, x):
        return _binary(np.power, x, self)

    def __and__(self, x):
        return _binary(np.bitwise_and, self, x)

    def __rand__(self, x):
        return _binary(np.bitwise_and, x, self)

    def __or__(self, x):
        return _binary(np.bitwise_or, self, x)

    def __ror__(self, x):
        return _binary(np.bitwise_or, x, self)

    def __xor__(self, x):
        return _binary(np.bitwise_xor, self, x)

    def __rxor__(self, x):
        return _binary(np.bitwise_xor, x, self)

    def __lshift__(self, x):
        return _binary(np.left_shift, self, x)

    def __rlshift__(self, x):
        return _binary(np.left_shift, x, self)

    def __rshift__(self, x):
        return _binary(np.right_shift, self, x)

    def __rrshift__(self, x):
        return _binary(np.right_shift, x, self)

    def __eq__(self, x):
        return _binary(np.equal, self, x)

    def __ne__(self, x):
        return _binary(np.not_equal, self, x)

    def __lt__(self, x):
        return _binary(np.less, self, x)

    def __le__(self, x):
        return _binary(np.less_equal, self, x)

    def __gt__(self, x):
        return _binary(np.greater, self, x)

    def __ge__(self, x):
        return _binary(np.greater_equal, self, x)

    def __neg__(self):
        return _vec(np.negative(self._lanes))

    def __pos__(self):
        return _vec(np.positive(self._lanes))

    def __invert__(self):
        return _vec(np.invert(self._lanes))

    def __abs__(self):
        return _vec(np.absolute(self._lanes))


def splat(x, n):
    """A vector of `n` lanes, each `x`."""
    _width(n)
    return _vec(np.full(n, x, dtype=np.asarray(x).dtype))


def arange(n):
    """0, 1, 2 … in `n` lanes of int64."""
    _width(n)
    return _vec(np.arange(n, dtype=np.int64))


def load(a, i, n, step=1, mask=None, fill=0):
    """`a[i]`, `a[i + step]` … in `n` lanes; `fill` in lanes where `mask` is false, whose elements need not exist."""
    _width(n)
    _array(a)
    return _read(a, i + step * np.arange(n, dtype=np.int64), mask, fill, _outside(i, len(a)))


def store(a, i, v, step=1, mask=None):
    """The lanes of `v` to `a[i]`, `a[i + step]` …, those where `mask` is true."""
    _array(a)
    _write(a, i + step * np.arange(len(v), dtype=np.int64), v, mask, _outside(i, len(a)))


def gather(a, indices, mask=None, fill=0):
    """`a[k]` for each lane `k` of `indices`."""
    _array(a)
    return _read(a, _wrapped(indices, len(a)), mask, fill, _lanes_outside(len(a)))


def scatter(a, indices, v, mask=None):
    """`a[k] = x` for the lanes of `indices` and `v`, one after the other."""
    _array(a)
    _write(a, _wrapped(indices, len(a)), v, mask, _lanes_outside(len(a)))


def select(mask, a, b):
    """The lanes of `a` where `mask` is true, else those of `b`."""
    a, b = (x._lanes if isinstance(x, Vec) else x for x in (a, b))
    return _vec(np.where(_mask(mask), a, b))


def shuffle(a, b, places):
    """The lanes of `a` and, counted on, of `b` at these constant places."""
    if a._lanes.dtype != b._lanes.dtype or len(a) != len(b):
        raise TypeError("simd.shuffle() takes two vectors of one type")
    return _vec(np.concatenate((a._lanes, b._lanes))[list(places)])


def permute(v, places):
    """`v[k]` for each lane `k` of `places`."""
    return _vec(np.array([v[int(k)] for k in places._lanes], dtype=v._lanes.dtype))


def fma(a, b, c):
    """`a * b + c`, rounded once."""
    from fractions import Fraction
    like = next(x for x in (a, b, c) if isinstance(x, Vec))
    dtype, n = like._lanes.dtype, len(like)
    columns = [(x._lanes if isinstance(x, Vec) else np.full(n, x, dtype)).tolist() for x in (a, b, c)]

    def one(x, y, z):
        if not np.isfinite([x, y, z]).all():
            return dtype.type(x) * dtype.type(y) + dtype.type(z)
        exact = Fraction(x) * Fraction(y) + Fraction(z)
        if exact == 0:
            # The sign of a zero is that of the sum of the product, which is a zero or no float, and `z`.
            return dtype.type(x) * dtype.type(y) + dtype.type(z)
        return _rounded(exact, dtype)

    with np.errstate(all="ignore"):
        return _vec(np.array([one(*row) for row in zip(*columns)], dtype=dtype))


# ---------------------------------------------------------------- parts


def _rounded(exact, dtype):
    """The number of a type nearest to a fraction, ties to even."""
    if dtype == np.float64:
        try:
            return exact.numerator / exact.denominator
        except OverflowError:
            return np.inf if exact > 0 else -np.inf
    # Twice rounded would be wrong: to a float64 that is no tie first.
    wide = exact.numerator / exact.denominator
    from fractions import Fraction
    if Fraction(wide) != exact and wide != 0 and np.isfinite(wide):
        near = np.float32(wide)
        for other in (np.nextafter(near, np.float32(-np.inf)), np.nextafter(near, np.float32(np.inf))):
            if np.isfinite(other) and np.isfinite(near) and abs(Fraction(float(other)) - exact) < abs(Fraction(float(near)) - exact):
                near = other
        return near
    return np.float32(wide)


def _frozen(lanes):
    lanes.flags.writeable = False
    return lanes


def _vec(lanes):
    """The vector of a new array."""
    if lanes.dtype not in _DTYPES:
        raise TypeError(f"a vector has no lanes of {lanes.dtype}")
    _width(len(lanes))
    v = object.__new__(Vec)
    v._lanes = _frozen(np.ascontiguousarray(lanes))
    return v


def _made(lanes, dtype):
    """The vector of bytes that compiled code gives."""
    return _vec(np.frombuffer(lanes, dtype=dtype))


def _width(n):
    if n not in _WIDTHS:
        raise TypeError(f"a vector has 2, 4, 8, 16, 32 or 64 lanes, not {n}")


def _lane(i, n):
    k = i + n if i < 0 else i
    if not 0 <= k < n:
        raise IndexError("lane out of range")
    return k


def _mask(v):
    if not isinstance(v, Vec) or v._lanes.dtype != np.bool_:
        raise TypeError("a mask is a vector of bools")
    return v._lanes


def _binary(ufunc, a, b):
    if not all(isinstance(x, (Vec, numbers.Real, np.bool_)) for x in (a, b)):
        return NotImplemented
    return (a if isinstance(a, Vec) else b).__array_ufunc__(ufunc, "__call__", a, b)


def _halves(ufunc, lanes, count=True):
    if count and lanes.dtype == np.bool_:
        lanes = lanes.astype(np.int64)
    with np.errstate(all="ignore"):
        while len(lanes) > 1:
            half = len(lanes) // 2
            lanes = ufunc(lanes[:half], lanes[half:])
    return lanes[0]


def _array(a):
    if not isinstance(a, np.ndarray) or a.ndim != 1 or a.dtype not in _DTYPES:
        raise TypeError("a vector lies in an array of numbers with one dimension")


def _outside(i, n):
    return f"a vector from index {i} on does not lie in an array of {n} elements"


def _lanes_outside(n):
    return f"an index of a lane is out of bounds for an array of {n} elements"


def _wrapped(indices, n):
    places = indices._lanes.astype(np.int64)
    return np.where(places < 0, places + n, places)


def _active(a, places, mask, message):
    """Lanes that count, all of which lie in the array."""
    active = np.ones(len(places), bool) if mask is None else _mask(mask)
    if len(active) != len(places):
        raise TypeError(f"vectors of {len(active)} and {len(places)} lanes do not go together")
    if (active & ((places < 0) | (places >= len(a)))).any():
        raise IndexError(message)
    return active


def _read(a, places, mask, fill, message):
    active = _active(a, places, mask, message)
    lanes = np.full(len(places), fill if mask is not None else 0, dtype=a.dtype)
    lanes[active] = a[places[active]]
    return _vec(lanes)


def _write(a, places, v, mask, message):
    if not a.flags.writeable:
        raise ValueError("assignment destination is read-only")
    if np.result_type(a.dtype, v._lanes.dtype) != a.dtype:
        raise TypeError(f"lanes of {v._lanes.dtype} do not go into an array of {a.dtype}")
    active = _active(a, places, mask, message)
    for k in np.flatnonzero(active):
        a[places[k]] = v._lanes[k]
