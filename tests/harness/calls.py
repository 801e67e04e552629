"""Calls under `jit` beside CPython's."""

import copy

from tierup import jit


def same(f, *args):
    """What a function gives or raises, and its arguments afterwards, as under CPython: at the first call and at later ones."""
    compiled = jit(f)
    for _ in range(4):
        seen = []
        for g in (f, compiled):
            given = copy.deepcopy(args)
            try:
                seen.append((repr(g(*given)), repr(given)))
            except Exception as e:
                seen.append((repr(e), repr(given)))
        assert seen[0] == seen[1]
