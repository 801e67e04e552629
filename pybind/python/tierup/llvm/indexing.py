"""How generators find elements of arrays: what Numba has in `np.arrayobj` and `core.typing.arraydecl` for indices that are numbers."""

from typing import NamedTuple

from .. import types
from . import cgutils


class Indexing(NamedTuple):
    """What an index of an array gives: its own type, that of the result, and whether it needs an array of indices."""

    index: object
    result: object
    advanced: bool


def get_array_index_type(ary, idx):
    """The types of an index of an array type and of what it gives; None where it is none of as many integers as the array has dimensions."""
    parts = tuple(idx.types) if isinstance(idx, types.BaseTuple) else (idx,)
    if len(parts) != ary.ndim or not all(isinstance(t, types.Integer) for t in parts):
        return None
    return Indexing(idx, ary.dtype, False)


def normalize_index(context, builder, idxty, idx):
    """An integer index as one of the width of an address."""
    to = types.intp if getattr(idxty, "signed", True) else types.uintp
    return to, context.cast(builder, idx, idxty, to)


def normalize_indices(context, builder, index_types, indices):
    """The same of several: their types, and themselves."""
    found = [normalize_index(context, builder, t, i) for t, i in zip(index_types, indices, strict=True)]
    return tuple(t for t, _ in found), [i for _, i in found]


def basic_indexing(context, builder, aryty, ary, index_types, indices, boundscheck=None):
    """Where an element is, with the shape and the strides of what lies there, which are those of one element. An index may be negative."""
    if len(indices) != aryty.ndim or not all(isinstance(t, types.Integer) for t in index_types):
        raise NotImplementedError("generated code finds elements of arrays by as many integers as they have dimensions: cut arrays in a Python function (context.compile_internal)")
    at = cgutils.get_item_pointer(context, builder, aryty, ary, indices, wraparound=any(t.signed for t in index_types), boundscheck=boundscheck is not False)
    return at, (), ()
