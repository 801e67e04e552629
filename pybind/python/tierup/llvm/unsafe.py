"""Intrinsics that Numba has for itself, and packages use."""

from .. import types
from .._intrinsics import intrinsic
from ..errors import RequireLiteralValue, TypingError
from . import cgutils


@intrinsic
def tuple_setitem(typingctx, tup, idx, val):
    """The tuple with another member in one place; nobody looks whether there is such a place."""
    if not isinstance(tup, types.UniTuple) or not isinstance(idx, types.Integer):
        return None

    def codegen(context, builder, sig, args):
        tup, idx, val = args
        at = cgutils.alloca_once_value(builder, tup)
        builder.store(val, builder.gep(at, [idx.type(0), idx]))
        return builder.load(at)

    return tup(tup, idx, tup.dtype), codegen


@intrinsic
def to_fixed_tuple(typingctx, array, length):
    """The first elements of an array as a tuple; nobody looks whether there are so many."""
    if not isinstance(length, types.IntegerLiteral):
        raise RequireLiteralValue("*length* argument must be a constant")
    if array.ndim != 1:
        raise TypingError(f"Not supported on array.ndim={array.ndim}")

    def codegen(context, builder, sig, args):
        of = context.make_array(sig.args[0])(context, builder, args[0])
        places = [cgutils.get_item_pointer(context, builder, sig.args[0], of, [cgutils.intp_t(k)]) for k in range(length.literal_value)]
        return context.make_tuple(builder, sig.return_type, [context.unpack_value(builder, array.dtype, at) for at in places])

    return types.UniTuple(array.dtype, length.literal_value)(array, length), codegen


@intrinsic
def viewer(typingctx, val, viewty):
    """The bits of a number as another one of its size."""
    return viewty.dtype(val, viewty), lambda context, builder, sig, args: builder.bitcast(args[0], context.get_value_type(sig.return_type))


def _of_integers(name):
    def typed(typingctx, src):
        if not isinstance(src, types.Integer):
            raise TypingError(f"{name} is only defined for integers, but value passed was '{src}'.")
        return src(src), lambda context, builder, sig, args: getattr(builder, "cttz" if name == "trailing_zeros" else "ctlz")(args[0], cgutils.false_bit)

    typed.__name__ = typed.__qualname__ = name
    return intrinsic(typed)


trailing_zeros, leading_zeros = _of_integers("trailing_zeros"), _of_integers("leading_zeros")
