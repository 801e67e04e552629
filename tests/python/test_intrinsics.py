"""`tierup.extending.intrinsic`: what generators write on the builder, in all tiers."""

import ctypes
import operator
import pickle
import struct

import numpy as np
import pytest
from tierup import TypingError, config, njit, types
from tierup.extending import intrinsic
from tierup.llvm import cgutils, ir

WHERE = __file__


@pytest.fixture(autouse=True)
def in_each_tier(request):
    if "tier" in request.fixturenames:
        tier = request.getfixturevalue("tier")
        config.tier = {"tier0": "0", "tier1": "1"}.get(tier, "interp" if tier == "interp" else "auto")


def makes(sig):
    """An intrinsic of one signature; the decorated function gives what the generator gives of builder and arguments."""
    def decorate(write):
        def typed(typingctx, *args):
            return sig, lambda context, builder, sig, args: write(builder, *args)

        typed.__name__ = write.__name__
        return intrinsic(typed)

    return decorate


i32, i64, f32, f64, u8, boolean = types.int32, types.int64, types.float32, types.float64, types.uint8, types.boolean


def test_sums_and_bits(tier):
    @intrinsic
    def add(typingctx, a, b):
        def codegen(context, builder, sig, args):
            assert sig == types.int64(types.int64, types.int64)
            return builder.add(*args)

        return types.int64(types.int64, types.int64), codegen

    @intrinsic
    def bits(typingctx, x):
        def codegen(context, builder, sig, args):
            return builder.bitcast(args[0], ir.IntType(64))

        return types.int64(types.float64), codegen

    f = njit(lambda a, b, x: (add(a, b), bits(x), add(b=a, a=b)))
    assert f(2, 3, 1.5) == (5, struct.unpack("q", struct.pack("d", 1.5))[0], 5)
    assert f(2**63 - 1, 1, -0.0) == (-(2**63), -(2**63), -(2**63))


def test_an_intrinsic_is_one_in_python():
    @intrinsic
    def nothing(typingctx, a: int):
        """What it does."""
        return types.void(types.int32), lambda context, builder, sig, args: None

    assert (nothing.__name__, nothing.__doc__, nothing.__annotations__) == ("nothing", "What it does.", {"a": int})
    with pytest.raises(NotImplementedError, match="<intrinsic nothing> is not usable in pure-python"):
        nothing(1)
    assert njit(lambda: nothing(1))() is None
