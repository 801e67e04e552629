"""What tests of code generators are written with: intrinsics of one signature, and each tier."""

import pytest
from tierup import config, types
from tierup.extending import intrinsic

i32, i64, f32, f64, u8, boolean = types.int32, types.int64, types.float32, types.float64, types.uint8, types.boolean


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


def makes_with_context(sig):
    """The same of context, builder and the one argument."""
    def decorate(write):
        @intrinsic
        def typed(typingctx, x):
            return sig, lambda context, builder, sig, args: write(context, builder, *args)

        return typed

    return decorate
