"""For test suites: what the compiler has noted, and whether opaque functions are what they say."""

from . import _tierup


def take_revealed():
    """(file, line, type) of every `reveal_type` that was compiled since the last call."""
    return _tierup.take_revealed()


def agree(function, count=200, seed=1):
    """Runs the body and the LIR of an opaque function (`tierup.extending.lir`) on arguments that are generated for its types, `count` at their corners
    and as many by chance, and raises AssertionError with the first on which they differ. Integers are compared as compiled code has them,
    floats bit by bit. What was run in which tier is as always: with `TIERUP_TIER=off` there is only the body."""
    from ._opaque import agree
    agree(function, count, seed)
