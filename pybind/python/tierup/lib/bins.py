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


def own(h, again):
    return h.copy()


def nan_of(h):
    part = h.copy()
    part[...] = np.nan
    return part


def low_of(h, again):
    part = h.copy()
    if not again:
        part[...] = -np.inf
    return part


def high_of(h, again):
    part = h.copy()
    if not again:
        part[...] = np.inf
    return part


def nan_list(h):
    return [np._if_float(x, np.nan) for x in h]


def low_list(h, again):
    if again:
        return h.copy()
    return [np._if_float(x, -np.inf) for x in h]


def high_list(h, again):
    if again:
        return h.copy()
    return [np._if_float(x, np.inf) for x in h]


def first(a, b):
    return a


def second(a, b):
    return b


def no_resets(h):
    if isinstance(h, list):
        return np.zeros(len(h), np.bool_)
    return np.zeros(h.shape, np.bool_)


def note_reset(resets, k, x):
    if np._is_nan(x):
        resets[k] = True


def is_nan(x):
    return bool(x != x)


def begins_with_nan(x):
    return np._is_nan(x[0])


def either(first, a, b):
    return a if first else b


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


def choose_any(h, part, function):
    if np._keeps_order(part, False):
        # There is one part only.
        for k in range(len(part)):
            h[k] = part[k]
    else:
        choose(h, part, function)


def choose_last(h, part, resets, function):
    # What is NaN and was not taken was never changed.
    if isinstance(h, list):
        for k in range(len(part)):
            if resets[k]:
                h[k] = part[k]
            elif not np._is_nan(part[k]):
                h[k] = function(part[k], h[k])
    else:
        for k in np.ndindex(h.shape):
            if resets[k]:
                h[k] = part[k]
            elif not np._is_nan(part[k]):
                h[k] = function(part[k], h[k])


def least(h, part):
    if isinstance(h, list):
        for k in range(len(part)):
            if part[k] <= h[k]:
                h[k] = part[k]
    else:
        for k in np.ndindex(h.shape):
            if part[k] <= h[k]:
                h[k] = part[k]


def greatest(h, part):
    if isinstance(h, list):
        for k in range(len(part)):
            if part[k] >= h[k]:
                h[k] = part[k]
    else:
        for k in np.ndindex(h.shape):
            if part[k] >= h[k]:
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


def with_least(w, mine, h, part, changed):
    # What a piece has not taken is what it began with.
    if isinstance(h, list) or isinstance(w, list):
        for k in range(len(part)):
            if changed[k] and part[k] <= h[k]:
                w[k] = mine[k]
    else:
        for k in np.ndindex(h.shape):
            if changed[k] and part[k] <= h[k]:
                w[k] = mine[k]


def with_greatest(w, mine, h, part, changed):
    # What a piece has not taken is what it began with.
    if isinstance(h, list) or isinstance(w, list):
        for k in range(len(part)):
            if changed[k] and part[k] >= h[k]:
                w[k] = mine[k]
    else:
        for k in np.ndindex(h.shape):
            if changed[k] and part[k] >= h[k]:
                w[k] = mine[k]


def as_list(x):
    return [v for v in x]


def indices(x):
    return range(len(x))


def places(shape):
    if isinstance(shape, tuple):
        n = 1
        for s in shape:
            if s < 0:
                raise ValueError("negative dimensions are not allowed")
            n *= s
        return range(n)
    if shape < 0:
        raise ValueError("negative dimensions are not allowed")
    return range(shape)


def place(shape, k):
    if not isinstance(shape, tuple):
        return (k,)
    if len(shape) == 0:
        return ()
    if len(shape) == 1:
        return (k,)
    return place(shape[:-1], k // shape[-1]) + (k % shape[-1],)
