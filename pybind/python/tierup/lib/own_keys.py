"""Dicts and sets of objects that have ``__hash__`` and ``__eq__`` of their own.

Both may do anything, and change the dict too: a place is asked about again after they ran, and the search
begins anew where it is no longer that key's, as CPython does.
"""

import dataclasses
import operator

_origin = "checked"


def find(table, key):
    return _find(table, hash(key), key)


def _find(table, h, key):
    at = operator._with_hash(table, h, -1)
    while at >= 0:
        other = operator._key_at(table, at)
        if _are_one(other, key):
            return at
        same = other == key
        if operator._with_hash(table, h, at - 1) != at or not _still_there(table, at, other):
            at = operator._with_hash(table, h, -1)
        elif same:
            return at
        else:
            at = operator._with_hash(table, h, at)
    return -1


def _are_one(a, b):
    # Tuples ask that of their members; instances that never change are what their parts are.
    if isinstance(a, tuple):
        return False
    if dataclasses.is_dataclass(a):
        return False
    return a is b


def _still_there(table, at, key):
    if isinstance(key, tuple):
        return True
    if dataclasses.is_dataclass(key):
        return True
    return operator._key_at(table, at) is key


def contains(table, key):
    return find(table, key) >= 0


# ---- dicts


def item(d, key):
    at = find(d, key)
    if at < 0:
        raise KeyError(key)
    return operator._value_at(d, at)


def get(d, key, default):
    at = find(d, key)
    if at < 0:
        return default
    return operator._value_at(d, at)


def set_item(d, key, value):
    h = hash(key)
    at = _find(d, h, key)
    if at >= 0:
        operator._put(d, at, value)
    else:
        operator._append(d, h, key, value)


def setdefault(d, key, default):
    h = hash(key)
    at = _find(d, h, key)
    if at >= 0:
        return operator._value_at(d, at)
    operator._append(d, h, key, default)
    return default


def delete(d, key):
    at = find(d, key)
    if at < 0:
        raise KeyError(key)
    operator._remove_at(d, at)


def pop(d, key):
    at = find(d, key)
    if at < 0:
        raise KeyError(key)
    value = operator._value_at(d, at)
    operator._remove_at(d, at)
    return value


def pop_or(d, key, default):
    at = find(d, key)
    if at < 0:
        return default
    value = operator._value_at(d, at)
    operator._remove_at(d, at)
    return value


def update(d, other):
    if d is not other:
        for key, value in other.items():
            d[key] = value


def updated(d, other):
    update(d, other)
    return d


def build(items):
    d = {}
    _build(d, items)
    return d


def _build(d, items):
    if len(items) > 0:
        d[items[0]] = items[1]
        _build(d, items[2:])


# ---- sets


def add(s, x):
    h = hash(x)
    if _find(s, h, x) < 0:
        operator._append(s, h, x)


def discard(s, x):
    at = find(s, x)
    if at >= 0:
        operator._remove_at(s, at)


def remove(s, x):
    at = find(s, x)
    if at < 0:
        raise KeyError(x)
    operator._remove_at(s, at)


def add_members(s, members):
    if len(members) > 0:
        s.add(members[0])
        add_members(s, members[1:])


def build_set(items):
    s = set()
    add_members(s, items)
    return s
