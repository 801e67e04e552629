"""For test suites: what the compiler has noted."""

from . import _tierup


def take_revealed():
    """(file, line, type) of every `reveal_type` that was compiled since the last call."""
    return _tierup.take_revealed()
