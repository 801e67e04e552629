"""Dataclasses: what generated methods do where fields are lists, arrays or the like. Objects of no class but `object`."""

import copy
import dataclasses
import operator


class Plain:
    """What ``object()`` makes: an object that is nothing but itself."""


Plain.__name__ = Plain.__qualname__ = "object"


def plain():
    return Plain()


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


def text_of_object(x):
    of = type(x)
    return "<" + of.__module__ + "." + of.__qualname__ + " object at " + hex(operator._address(x)) + ">"


# ---- asdict, astuple


def part_of_dict(x):
    if x is None:
        return None
    if dataclasses.is_dataclass(x):
        return dataclasses.asdict(x)
    if isinstance(x, list):
        return [operator._part_of_dict(v) for v in x]
    if isinstance(x, dict):
        return {operator._part_of_dict(k): operator._part_of_dict(v) for k, v in x.items()}
    if isinstance(x, tuple):
        return _dict_parts(x)
    return copy.deepcopy(x)


def _dict_parts(x):
    if len(x) == 0:
        return ()
    return (operator._part_of_dict(x[0]),) + _dict_parts(x[1:])


def part_of_tuple(x):
    if x is None:
        return None
    if dataclasses.is_dataclass(x):
        return dataclasses.astuple(x)
    if isinstance(x, list):
        return [operator._part_of_tuple(v) for v in x]
    if isinstance(x, dict):
        return {operator._part_of_tuple(k): operator._part_of_tuple(v) for k, v in x.items()}
    if isinstance(x, tuple):
        return _tuple_parts(x)
    return copy.deepcopy(x)


def _tuple_parts(x):
    if len(x) == 0:
        return ()
    return (operator._part_of_tuple(x[0]),) + _tuple_parts(x[1:])
