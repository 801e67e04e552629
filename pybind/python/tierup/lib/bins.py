"""What the pieces of a parallel loop begin with that adds to the elements of an array or a list, and how they become one.

``h`` is the whole, ``part`` what one piece has; both have the same shape. Parts come in the order of the pieces.
"""

import numpy as np


def zero_list(h):
    return [np._zero_of(x) for x in h]


def one_list(h):
    return [np._one_of(x) for x in h]


def own_list(h):
    return h.copy()


def add(h, part):
    if isinstance(h, list):
        for k in range(len(part)):
            h[k] += part[k]
    else:
        h += part


def multiply(h, part):
    if isinstance(h, list):
        for k in range(len(part)):
            h[k] *= part[k]
    else:
        h *= part


def and_(h, part):
    if isinstance(h, list):
        for k in range(len(part)):
            h[k] &= part[k]
    else:
        h &= part


def or_(h, part):
    if isinstance(h, list):
        for k in range(len(part)):
            h[k] |= part[k]
    else:
        h |= part


def xor(h, part):
    if isinstance(h, list):
        for k in range(len(part)):
            h[k] ^= part[k]
    else:
        h ^= part


def choose(h, part, function):
    if isinstance(h, list):
        for k in range(len(part)):
            h[k] = function(h[k], part[k])
    else:
        for k in np.ndindex(h.shape):
            h[k] = function(h[k], part[k])


def lesser(h, part):
    if isinstance(h, list):
        for k in range(len(part)):
            if part[k] < h[k]:
                h[k] = part[k]
    else:
        for k in np.ndindex(h.shape):
            if part[k] < h[k]:
                h[k] = part[k]


def greater(h, part):
    if isinstance(h, list):
        for k in range(len(part)):
            if part[k] > h[k]:
                h[k] = part[k]
    else:
        for k in np.ndindex(h.shape):
            if part[k] > h[k]:
                h[k] = part[k]


def with_lesser(w, mine, h, part):
    if isinstance(h, list) or isinstance(w, list):
        for k in range(len(part)):
            if part[k] < h[k]:
                w[k] = mine[k]
    else:
        for k in np.ndindex(h.shape):
            if part[k] < h[k]:
                w[k] = mine[k]


def with_greater(w, mine, h, part):
    if isinstance(h, list) or isinstance(w, list):
        for k in range(len(part)):
            if part[k] > h[k]:
                w[k] = mine[k]
    else:
        for k in np.ndindex(h.shape):
            if part[k] > h[k]:
                w[k] = mine[k]


def as_list(x):
    return [v for v in x]


def indices(x):
    return range(len(x))
