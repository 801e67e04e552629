"""Comprehensions in comprehensions whose elements go to one array, row behind row; `level` counts from 1."""

import numpy as np

# More elements than this are made room for as they come.
AT_ONCE = 1 << 27


def space(flat, base, places, outer, *sizes):
    end = base + len(places)
    total = len(places)
    for n in (len(outer),) + sizes:
        total = AT_ONCE + 1 if total > AT_ONCE else total * min(n, AT_ONCE + 1)
    new = np.empty(total if end <= total <= AT_ONCE else max(2 * len(flat), end), flat.dtype)
    np._take_over(new, flat, base)
    return new


def nested(flat, ragged, base, outer, *sizes):
    shape = (len(outer),) + known(sizes)
    if ragged:
        refuse(ragged, shape[:-1])
    return np._shaped(flat, shape)


def known(sizes):
    """Where there was no row there is nothing in it."""
    if len(sizes) == 0:
        return ()
    return (max(sizes[0], 0),) + known(sizes[1:])


def refuse(ragged, shape):
    if ragged == len(shape):
        raise ValueError(
            "setting an array element with a sequence. The requested array has an inhomogeneous shape after "
            f"{ragged} dimensions. The detected shape was {shape} + inhomogeneous part."
        )
    if len(shape) > 1:
        refuse(ragged, shape[:-1])
