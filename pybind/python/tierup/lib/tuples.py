"""Tuples whose length only the run knows: what is put together of operations on the lists that they are."""

import operator

_origin = "checked"


def of_iterable(values):
    return operator._as_tuple(list(values))


def with_one(t, x):
    return t + (x,)


def with_all(t, other):
    return t + tuple(other)


def contains(t, x):
    return x in operator._members(t)


def count(t, value):
    return operator._members(t).count(value)


def index(t, value, start, stop):
    n = len(t)
    if start < 0:
        start = max(start + n, 0)
    if stop < 0:
        stop += n
    for i in range(start, min(stop, n)):
        if operator._one_object(t[i], value) or t[i] == value:
            return i
    raise ValueError("tuple.index(x): x not in tuple")


def text(t):
    if len(t) == 1:
        return "(" + repr(t[0]) + ",)"
    return "(" + ", ".join([repr(v) for v in t]) + ")"


# ---- comparison of members that helpers do not compare


def equal(a, b):
    return operator._members(a) == operator._members(b)


def unequal(a, b):
    return not equal(a, b)


def less(a, b):
    return operator._members(a) < operator._members(b)


def less_equal(a, b):
    return operator._members(a) <= operator._members(b)


def greater(a, b):
    return operator._members(a) > operator._members(b)


def greater_equal(a, b):
    return operator._members(a) >= operator._members(b)


# ---- with tuples whose length their type says, of other types of members


def equals_fixed(a, b):
    return len(a) == len(b) and _same_from(a, b, 0)


def differs_from_fixed(a, b):
    return not equals_fixed(a, b)


def fixed_equals(a, b):
    return equals_fixed(b, a)


def fixed_differs(a, b):
    return not equals_fixed(b, a)


def _same_from(a, b, i):
    if len(b) == 0:
        return True
    if operator._one_object(a[i], b[0]) or a[i] == b[0]:
        return _same_from(a, b[1:], i + 1)
    return False
