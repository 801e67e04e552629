"""Arguments for generated NumPy tests: small descriptions that are cheap to list and sample, and are built only when used.

A spec is `Array(dtype, shape, layout, values)` or `Scalar(kind, index)`. `values` names a table: "edge" has the extremes of the dtype, "mild" small
numbers whose sums and products stay exact or close to it, "distinct" no ties, "rough" numbers whose sums depend on the order.
"""

from typing import NamedTuple

import numpy as np

DTYPES = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8", "c8", "c16"]
INT_DTYPES = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]
REAL_DTYPES = [t for t in DTYPES if t[0] != "c"]
FLOAT_DTYPES = ["f4", "f8"]
SHAPES = [(), (0,), (1,), (5,), (33,), (2, 3), (3, 0), (1, 4), (2, 3, 2)]
LAYOUTS = ["C", "F", "strided", "reversed", "readonly", "misaligned"]


class Array(NamedTuple):
    dtype: str
    shape: tuple
    layout: str = "C"
    values: str = "mild"

    def build(self):
        return lay_out(numbers(self.dtype, self.shape, self.values), self.layout)


class Scalar(NamedTuple):
    """A Python number ("int", "float", "complex", "bool") or a NumPy scalar (a dtype)."""

    kind: str
    index: int

    def build(self):
        if self.kind in PYTHON_SCALARS:
            table = PYTHON_SCALARS[self.kind]
            return table[self.index % len(table)]
        return numbers(self.kind, (7,), "edge")[self.index % 7]


class Value(NamedTuple):
    """A given object: an axis, a shape, an index."""

    value: object

    def build(self):
        return self.value


PYTHON_SCALARS = {"int": [3, 0, -1, 7, 100], "float": [0.5, -2.25, 3.0, 0.0, float("inf"), float("nan")], "complex": [1 + 2j, -0.5j, 0j], "bool": [True, False]}


def numbers(dtype, shape, values):
    """An array of the table `values`, C order."""
    t = np.dtype(dtype)
    size = int(np.prod(shape, dtype=int))
    if t.kind == "b":
        flat = np.arange(size) % 3 != 1
    elif values == "distinct":
        flat = ((np.arange(size) * 37 + 11) % max(size, 1) - (size // 2 if t.kind != "u" else 0)).astype(t)
    elif values == "rough":
        flat = (((np.arange(size) * 7919 + 13) % 10007) / 7 * 10.0 ** (np.arange(size) % 7 - 3)).astype(t)
        if t.kind == "c":
            flat = flat + t.type(1j) * flat[::-1]
    elif values == "edge":
        flat = np.resize(edge_values(t), size) if size else np.zeros(0, t)
    else:
        flat = ((np.arange(size) * 7 + 3) % 11 - (5 if t.kind != "u" else 0)).astype(t)
        if t.kind in "fc":
            flat = flat * t.type(0.5)
        if t.kind == "c":
            flat = flat + t.type(1j) * ((np.arange(size) * 5) % 7 - 3)
    return flat.astype(t).reshape(shape)


def edge_values(t):
    if t.kind in "iu":
        info = np.iinfo(t)
        return np.array([0, 1, info.max, info.min, 7, info.max // 3, 2] + ([-1, -5] if t.kind == "i" else []), t)
    info = np.finfo(t)
    reals = np.array([0.0, -0.0, 1.0, -1.5, np.inf, -np.inf, np.nan, 0.3, info.tiny, 30.75, -2.0], info.dtype)
    with np.errstate(all="ignore"):
        return reals if t.kind == "f" else (reals + 1j * np.roll(reals, 3)).astype(t)


def lay_out(a, layout):
    """The same values in another layout."""
    if layout == "F":
        return np.array(a, order="F")
    if layout == "strided":
        spread = np.zeros(tuple(2 * n + 1 for n in a.shape), a.dtype)
        view = spread[tuple(slice(1, None, 2) for _ in a.shape)]
        view[...] = a
        return view
    if layout == "reversed":
        turn = tuple(slice(None, None, -1) for _ in a.shape)
        return np.array(a[turn], order="C")[turn] if a.ndim else a
    if layout == "readonly":
        a.flags.writeable = False
        return a
    if layout == "misaligned":
        room = np.zeros(a.nbytes + 16, np.uint8)
        odd = np.ndarray(a.shape, a.dtype, room, 1 + (-room.ctypes.data) % 8)
        odd[...] = a
        return odd
    return a


def arrays(dtypes=DTYPES, shapes=SHAPES, layouts=LAYOUTS, values="mild"):
    """All combinations; layouts that say nothing new for a shape are left out."""
    for t in dtypes:
        for shape in shapes:
            for layout in layouts:
                if (layout == "F" and len(shape) < 2) or (layout in ("strided", "reversed") and not shape):
                    continue
                if layout == "misaligned" and np.dtype(t).itemsize == 1:
                    continue
                yield Array(t, shape, layout, values)


def scalars(kinds=("int", "float", "bool", *DTYPES)):
    for kind in kinds:
        for index in range(7 if kind not in PYTHON_SCALARS else len(PYTHON_SCALARS[kind])):
            yield Scalar(kind, index)
