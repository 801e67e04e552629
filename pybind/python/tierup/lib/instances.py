"""Dataclasses: what generated methods do where fields are lists, arrays or the like."""

import operator


def equal(a, b):
    return operator._fields(a) == operator._fields(b)


def unequal(a, b):
    return not operator._fields(a) == operator._fields(b)


def less(a, b):
    return operator._fields(a) < operator._fields(b)


def less_equal(a, b):
    return operator._fields(a) <= operator._fields(b)


def greater(a, b):
    return operator._fields(a) > operator._fields(b)


def greater_equal(a, b):
    return operator._fields(a) >= operator._fields(b)


def text(x):
    leads = operator._leads(x)
    parts = [repr(v) for v in operator._fields(x)]
    out = leads[0]
    for k in range(len(parts)):
        out += leads[k + 1] + parts[k]
    return out + ")"


def hash_of_tuple(x):
    return operator._combined_hash([hash(v) for v in x])


def hash_of_fields(x):
    return hash_of_tuple(operator._fields(x))
