"""What sets do beyond holding, finding and going through elements.

Other operands are iterables, as in Python; where one has to be looked into it becomes a set first.
"""

import operator

_origin = "checked"


def of_iterable(values):
    s = set()
    s._add_all(values)
    return s


def frozen_of_iterable(values):
    return operator._frozen(set(values))


def add_all(s, values):
    for x in values:
        s.add(x)


def update(s, others):
    if not isinstance(others, tuple):
        for other in others:
            s._add_all(other)
    elif len(others) > 0:
        s._add_all(others[0])
        update(s, others[1:])


def updated(s, other):
    """``s |= other``."""
    s._add_all(other)
    return s


def union(s, others):
    r = set(s)
    update(r, others)
    return r


def frozen_union(s, others):
    return operator._frozen(union(s, others))


def union_of(a, b):
    r = set(a)
    r._add_all(b)
    return r


def frozen_union_of(a, b):
    return operator._frozen(union_of(a, b))


def _common(s, other):
    """What both have, out of ``other``; out of the smaller one where that is a set as well."""
    r = set()
    if isinstance(other, (set, frozenset)) and len(other) > len(s):
        for x in s:
            if x in other:
                r.add(x)
    else:
        for x in other:
            if x in s:
                r.add(x)
    return r


def intersection(s, others):
    if not isinstance(others, tuple):
        r = set(s)
        for other in others:
            r = _common(r, other)
        return r
    if len(others) == 0:
        return set(s)
    return _all_common(s, others)


def _all_common(s, others):
    if len(others) == 1:
        return _common(s, others[0])
    return _all_common(_common(s, others[0]), others[1:])


def frozen_intersection(s, others):
    return operator._frozen(intersection(s, others))


def intersection_of(a, b):
    if isinstance(a, (set, frozenset)):
        return _common(a, b)
    return _common(set(a), b)


def frozen_intersection_of(a, b):
    return operator._frozen(intersection_of(a, b))


def _discard_all(s, values):
    for x in values:
        s.discard(x)


def _discard_members(s, others):
    if not isinstance(others, tuple):
        for other in others:
            _discard_all(s, other)
    elif len(others) > 0:
        _discard_all(s, others[0])
        _discard_members(s, others[1:])


def difference(s, others):
    r = set(s)
    _discard_members(r, others)
    return r


def frozen_difference(s, others):
    return operator._frozen(difference(s, others))


def difference_of(a, b):
    r = set(a)
    _discard_all(r, b)
    return r


def frozen_difference_of(a, b):
    return operator._frozen(difference_of(a, b))


def symmetric_difference(s, other):
    r = set(s)
    _toggle(r, set(other))
    return r


def _toggle(s, other):
    for x in other:
        if x in s:
            s.discard(x)
        else:
            s.add(x)


def frozen_symmetric_difference(s, other):
    return operator._frozen(symmetric_difference(s, other))


def intersection_update(s, others):
    _keep(s, intersection(s, others))


def intersection_updated(s, other):
    _keep(s, intersection_of(s, other))
    return s


def _keep(s, kept):
    s.clear()
    s._add_all(kept)


def difference_update(s, others):
    if len(others) > 0:
        if others[0] is s:
            s.clear()
        else:
            _discard_all(s, others[0])
        difference_update(s, others[1:])


def difference_updated(s, other):
    if other is s:
        s.clear()
    else:
        _discard_all(s, other)
    return s


def symmetric_difference_update(s, other):
    _toggle(s, set(other))


def symmetric_difference_updated(s, other):
    _toggle(s, set(other))
    return s


def isdisjoint(s, other):
    for x in other:
        if x in s:
            return False
    return True


def issubset(s, other):
    return is_within(s, set(other))


def issuperset(s, other):
    for x in other:
        if x not in s:
            return False
    return True


def equal(a, b):
    return len(a) == len(b) and is_within(a, b)


def unequal(a, b):
    return not equal(a, b)


def is_within(a, b):
    if len(a) > len(b):
        return False
    for x in a:
        if x not in b:
            return False
    return True


def is_properly_within(a, b):
    return len(a) < len(b) and is_within(a, b)


def holds_all(a, b):
    return is_within(b, a)


def holds_all_and_more(a, b):
    return is_properly_within(b, a)


def text(s):
    if operator._leads_back(s):
        return operator._text_in_ring(_text, s, operator._view_name(s) + "(...)")
    return _text(s)


def _text(s):
    if len(s) == 0:
        return "frozenset()" if operator._view_name(s) == "frozenset" else "set()"
    inside = "{" + ", ".join([repr(x) for x in s]) + "}"
    return "frozenset(" + inside + ")" if operator._view_name(s) == "frozenset" else inside
