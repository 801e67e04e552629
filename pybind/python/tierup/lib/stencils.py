"""What stencil kernels see of their arrays: `a[-1, 0]` is the element above the one that is being computed."""

from typing import NamedTuple

import numpy as np


class Near1(NamedTuple):
    array: np.ndarray
    i: int

    def __getitem__(self, k):
        return self.array[shifted(k, self.i)]

    def __len__(self):
        return len(self.array)

    @property
    def shape(self):
        return self.array.shape


class Near2(NamedTuple):
    array: np.ndarray
    i: int
    j: int

    def __getitem__(self, k):
        return self.array[shifted(k[0], self.i), shifted(k[1], self.j)]

    def __len__(self):
        return len(self.array)

    @property
    def shape(self):
        return self.array.shape


class Near3(NamedTuple):
    array: np.ndarray
    i: int
    j: int
    k: int

    def __getitem__(self, at):
        return self.array[shifted(at[0], self.i), shifted(at[1], self.j), shifted(at[2], self.k)]

    def __len__(self):
        return len(self.array)

    @property
    def shape(self):
        return self.array.shape


class Near4(NamedTuple):
    array: np.ndarray
    i: int
    j: int
    k: int
    m: int

    def __getitem__(self, at):
        return self.array[shifted(at[0], self.i), shifted(at[1], self.j), shifted(at[2], self.k), shifted(at[3], self.m)]

    def __len__(self):
        return len(self.array)

    @property
    def shape(self):
        return self.array.shape


def shifted(k, by):
    """An index, or a slice with both ends, from the element that is being computed."""
    if isinstance(k, slice):
        return slice(k.start + by, k.stop + by)
    return k + by


def check_value(y, value):
    if np.iscomplexobj(value):
        if not np.iscomplexobj(y):
            raise ValueError("cval type does not match stencil return type.")


def fill(y, value):
    """Before the results are written."""
    check_value(y, value)
    y[...] = value


def border(y, axis, low, high, value):
    """Fills what lies too near to the ends of an axis."""
    check_value(y, value)
    rows = np.moveaxis(y, axis, 0)
    if low > 0:
        rows[:low] = value
    if high > 0:
        rows[max(rows.shape[0] - high, 0):] = value


def check_sizes(first, other):
    if isinstance(other, np.ndarray):
        if other.ndim != first.ndim:
            raise ValueError("Secondary stencil array does not have same number  of dimensions as the first stencil input.")
        for k in range(first.ndim):
            if other.shape[k] < first.shape[k]:
                raise ValueError("Secondary stencil array has some dimension smaller the same dimension in the first stencil input.")


def check_output(out, shape):
    for k in range(len(shape)):
        if out.shape[k] < shape[k]:
            raise ValueError("the output of a stencil is smaller than its first array")


def near1(x, i):
    return Near1(x, i) if isinstance(x, np.ndarray) else x


def near2(x, i, j):
    return Near2(x, i, j) if isinstance(x, np.ndarray) else x


def near3(x, i, j, k):
    return Near3(x, i, j, k) if isinstance(x, np.ndarray) else x


def near4(x, i, j, k, m):
    return Near4(x, i, j, k, m) if isinstance(x, np.ndarray) else x
