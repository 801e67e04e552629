"""Containers compared element by element, as far as compiled code has nothing faster.

As in Python an element is the other one if it is the same object or equal to it, the first elements that differ decide the order, and only those have to have one. (Where these are arrays of one element the answer is a bool, of Python's an array.)
"""

import operator
import sys

# Integers in these functions are the caller's: where overflow is checked, it is checked here too.
_origin = "checked"

_NAMES_WHAT_IS_MISSING = sys.version_info < (3, 14)


def list_contains(values, x):
    for v in values:
        if operator._one_object(v, x) or v == x:
            return True
    return False


def list_index(values, x, start, stop):
    """``values.index(x, start, stop)``."""
    n = len(values)
    if start < 0:
        start = max(start + n, 0)
    if stop < 0:
        stop += n
    for i in range(start, min(stop, n)):
        # An `__eq__` may have made the list shorter.
        if i >= len(values):
            break
        if operator._one_object(values[i], x) or values[i] == x:
            return i
    if _NAMES_WHAT_IS_MISSING:
        raise ValueError(repr(x) + " is not in list")
    raise ValueError("list.index(x): x not in list")


def list_remove(values, x):
    for i in range(len(values)):
        # An `__eq__` may have made the list shorter.
        if i >= len(values):
            break
        if operator._one_object(values[i], x) or values[i] == x:
            if i < len(values):
                del values[i]
            return
    raise ValueError("list.remove(x): x not in list")


def count_of(values, x):
    n = 0
    for v in values:
        if operator._one_object(v, x) or v == x:
            n += 1
    return n


def index_of(values, x):
    for i, v in enumerate(values):
        if operator._one_object(v, x) or v == x:
            return i
    raise ValueError("sequence.index(x): x not in sequence")


def list_equal(a, b):
    if a is b:
        return True
    if len(a) != len(b):
        return False
    for i in range(len(a)):
        if not (operator._one_object(a[i], b[i]) or a[i] == b[i]):
            return False
    return True


def list_unequal(a, b):
    return not list_equal(a, b)


def list_less(a, b):
    for i in range(min(len(a), len(b))):
        if not (operator._one_object(a[i], b[i]) or a[i] == b[i]):
            return operator._orders("<", a[i], b[i]) and bool(a[i] < b[i])
    return len(a) < len(b)


def list_less_equal(a, b):
    for i in range(min(len(a), len(b))):
        if not (operator._one_object(a[i], b[i]) or a[i] == b[i]):
            return operator._orders("<=", a[i], b[i]) and bool(a[i] <= b[i])
    return len(a) <= len(b)


def list_greater(a, b):
    for i in range(min(len(a), len(b))):
        if not (operator._one_object(a[i], b[i]) or a[i] == b[i]):
            return operator._orders(">", a[i], b[i]) and bool(a[i] > b[i])
    return len(a) > len(b)


def list_greater_equal(a, b):
    for i in range(min(len(a), len(b))):
        if not (operator._one_object(a[i], b[i]) or a[i] == b[i]):
            return operator._orders(">=", a[i], b[i]) and bool(a[i] >= b[i])
    return len(a) >= len(b)


def tuple_contains(t, x):
    if len(t) == 0:
        return False
    if operator._one_object(t[0], x) or t[0] == x:
        return True
    return tuple_contains(t[1:], x)


def tuple_index(t, x):
    return _position(t, x, 0)


def _position(t, x, at):
    if len(t) == 0:
        raise ValueError("tuple.index(x): x not in tuple")
    if operator._one_object(t[0], x) or t[0] == x:
        return at
    return _position(t[1:], x, at + 1)


def tuple_count(t, x):
    if len(t) == 0:
        return 0
    if operator._one_object(t[0], x) or t[0] == x:
        return 1 + tuple_count(t[1:], x)
    return tuple_count(t[1:], x)


def tuple_equal(a, b):
    if len(a) != len(b):
        return False
    if len(a) == 0:
        return True
    if operator._one_object(a[0], b[0]) or a[0] == b[0]:
        return tuple_equal(a[1:], b[1:])
    return False


def tuple_unequal(a, b):
    return not tuple_equal(a, b)


def tuple_less(a, b):
    if len(a) == 0 or len(b) == 0:
        return len(a) < len(b)
    if operator._one_object(a[0], b[0]) or a[0] == b[0]:
        return tuple_less(a[1:], b[1:])
    return operator._orders("<", a[0], b[0]) and bool(a[0] < b[0])


def tuple_less_equal(a, b):
    if len(a) == 0 or len(b) == 0:
        return len(a) <= len(b)
    if operator._one_object(a[0], b[0]) or a[0] == b[0]:
        return tuple_less_equal(a[1:], b[1:])
    return operator._orders("<=", a[0], b[0]) and bool(a[0] <= b[0])


def tuple_greater(a, b):
    if len(a) == 0 or len(b) == 0:
        return len(a) > len(b)
    if operator._one_object(a[0], b[0]) or a[0] == b[0]:
        return tuple_greater(a[1:], b[1:])
    return operator._orders(">", a[0], b[0]) and bool(a[0] > b[0])


def tuple_greater_equal(a, b):
    if len(a) == 0 or len(b) == 0:
        return len(a) >= len(b)
    if operator._one_object(a[0], b[0]) or a[0] == b[0]:
        return tuple_greater_equal(a[1:], b[1:])
    return operator._orders(">=", a[0], b[0]) and bool(a[0] >= b[0])


def no_order(sign, a, b):
    what = "' not supported between instances of '" + type(a).__name__ + "' and '" + type(b).__name__ + "'"
    raise TypeError("'" + sign + what)


def slice_equal(a, b):
    return (a.start, a.stop, a.step) == (b.start, b.stop, b.step)


def slice_unequal(a, b):
    return (a.start, a.stop, a.step) != (b.start, b.stop, b.step)


def slice_less(a, b):
    return (a.start, a.stop, a.step) < (b.start, b.stop, b.step)


def slice_less_equal(a, b):
    return (a.start, a.stop, a.step) <= (b.start, b.stop, b.step)


def slice_greater(a, b):
    return (a.start, a.stop, a.step) > (b.start, b.stop, b.step)


def slice_greater_equal(a, b):
    return (a.start, a.stop, a.step) >= (b.start, b.stop, b.step)


def range_equal(a, b):
    n = len(a)
    if n != len(b):
        return False
    return n == 0 or (a[0] == b[0] and (n == 1 or a.step == b.step))


def range_unequal(a, b):
    return not range_equal(a, b)


def range_contains(r, x):
    for v in r:
        if v == x:
            return True
    return False


def range_index(r, value):
    if value in r:
        return int((value - r.start) // r.step)
    if _NAMES_WHAT_IS_MISSING:
        raise ValueError(f"{value} is not in range")
    raise ValueError("range.index(x): x not in range")


def range_count(r, value):
    return 1 if value in r else 0


def dict_of_pairs(pairs):
    """``dict(pairs)``."""
    d = {}
    dict_update(d, pairs)
    return d


def dict_update(d, pairs):
    # A mapping of the program's own.
    if hasattr(pairs, "keys"):
        for k in pairs.keys():
            d[k] = pairs.__getitem__(k)
    else:
        for k, v in pairs:
            d[k] = v


def dict_updated(d, pairs):
    """``d |= pairs``."""
    dict_update(d, pairs)
    return d


def dict_union(a, b):
    d = a.copy()
    d.update(b)
    return d


def dict_equal(a, b):
    if len(a) != len(b):
        return False
    for k, v in a.items():
        if not operator._may_be_key(b, k):
            return False
        if k not in b:
            return False
        if not (operator._one_object(v, b[k]) or v == b[k]):
            return False
    return True


def dict_unequal(a, b):
    return not dict_equal(a, b)


def dict_repr(d):
    return operator._text_in_ring(_dict_text, d, "{...}") if operator._leads_back(d) else _dict_text(d)


def _dict_text(d):
    return "{" + ", ".join([repr(k) + ": " + repr(v) for k, v in d.items()]) + "}"


def view_repr(view):
    return operator._view_name(view) + "([" + ", ".join([repr(x) for x in view]) + "])"


def items_contains(items, pair):
    key, value = pair
    d = operator._dict_of(items)
    if operator._may_be_key(d, key):
        if key in d:
            # Alone in tuples, where a value is equal if it is the same.
            return (d[key],) == (value,)
    return False


def view_contains(view, x):
    for v in view:
        if operator._one_object(v, x) or v == x:
            return True
    return False


def dict_fromkeys(keys, value):
    d = {}
    for k in keys:
        d[k] = value
    return d
