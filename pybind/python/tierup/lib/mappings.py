"""`collections.defaultdict`, `Counter` and `OrderedDict`: what Python defines by other operations."""

import collections
import operator

# Integers in these functions are the caller's: where overflow is checked, it is checked here too.
_origin = "checked"


# ---- defaultdict


def default_item(d, key):
    at = operator._find(d, key)
    if at >= 0:
        return operator._value_at(d, at)
    make = d.default_factory
    if make is None:
        raise KeyError(key)
    value = make()
    d[key] = value
    return value


def defaultdict_of(factory, entries):
    d = collections.defaultdict(factory)
    d.update(entries)
    return d


def default_repr(d):
    around = operator._mapping_text(d)
    if operator._leads_back(d):
        return around[0][:-1] + operator._text_in_ring(_braced, d, "{...}") + around[1][1:]
    return around[0] + _pairs(d) + around[1]


def _braced(d):
    return "{" + _pairs(d) + "}"


def _pairs(d):
    return ", ".join([repr(k) + ": " + repr(v) for k, v in d.items()])


def union(a, b):
    d = a.copy()
    d.update(b)
    return d


def union_as_right(a, b):
    d = b.copy()
    d.clear()
    d.update(a)
    d.update(b)
    return d


# ---- Counter


def count_of(c, key):
    at = operator._find(c, key)
    if at < 0:
        return 0
    return operator._value_at(c, at)


def absent(d, key):
    """``d[key]`` and ``del d[key]`` of a dict that never has such keys."""
    raise KeyError(key)


def holds_absent(d, key):
    return False


def absent_count(c, key):
    return 0


def absent_in_counter(c, key):
    pass


def counted(values):
    c = collections.Counter()
    count_all(c, values)
    return c


def counter_of(counts):
    c = collections.Counter()
    for x, n in counts.items():
        c[x] = n
    return c


def count_all(c, values):
    # A mapping of the program's own has counts.
    if hasattr(values, "keys") and isinstance(values, collections.abc.Mapping):
        for x in values.keys():
            c[x] = values.__getitem__(x) + c[x]
    else:
        for x in values:
            c[x] = c[x] + 1


def uncount_all(c, values):
    if hasattr(values, "keys") and isinstance(values, collections.abc.Mapping):
        for x in values.keys():
            c[x] = c[x] - values.__getitem__(x)
    else:
        for x in values:
            c[x] = c[x] - 1


def add_counts(c, counts):
    for x, n in counts.items():
        c[x] = n + c[x]


def subtract_counts(c, counts):
    for x, n in counts.items():
        c[x] = c[x] - n


def count_delete(c, key):
    if key in c:
        c.pop(key)


def most_common(c, n):
    if n is None:
        return list(operator._by_count(c).items())
    return list(operator._by_count(c).items())[: max(n, 0)]


def elements(c):
    for x, n in c.items():
        for _ in range(n):
            yield x


def total(c):
    return sum(c.values())


def counter_add(a, b):
    c = collections.Counter()
    for x, n in a.items():
        m = n + b[x]
        if m > 0:
            c[x] = m
    for x, n in b.items():
        if x not in a and n > 0:
            c[x] = n
    return c


def counter_sub(a, b):
    c = collections.Counter()
    for x, n in a.items():
        m = n - b[x]
        if m > 0:
            c[x] = m
    for x, n in b.items():
        if x not in a and n < 0:
            c[x] = 0 - n
    return c


def counter_or(a, b):
    c = collections.Counter()
    for x, n in a.items():
        other = b[x]
        m = other if n < other else n
        if m > 0:
            c[x] = m
    for x, n in b.items():
        if x not in a and n > 0:
            c[x] = n
    return c


def counter_and(a, b):
    c = collections.Counter()
    for x, n in a.items():
        other = b[x]
        m = n if n < other else other
        if m > 0:
            c[x] = m
    return c


def _keep_positive(c):
    for x in [x for x, n in c.items() if not n > 0]:
        c.pop(x)
    return c


def counter_iadd(a, b):
    for x, n in b.items():
        a[x] = a[x] + n
    return _keep_positive(a)


def counter_isub(a, b):
    if a is b:
        # As Python goes through what it changes: every count becomes 0.
        a.clear()
        return a
    for x, n in b.items():
        a[x] = a[x] - n
    return _keep_positive(a)


def counter_ior(a, b):
    for x, n in b.items():
        if n > a[x]:
            a[x] = n
    return _keep_positive(a)


def counter_iand(a, b):
    for x, n in a.items():
        other = b[x]
        if other < n:
            a[x] = other
    return _keep_positive(a)


def counter_pos(c):
    new = collections.Counter()
    for x, n in c.items():
        if n > 0:
            new[x] = n
    return new


def counter_neg(c):
    new = collections.Counter()
    for x, n in c.items():
        if n < 0:
            new[x] = 0 - n
    return new


def counter_eq(a, b):
    for x, n in a.items():
        if not n == b[x]:
            return False
    for x, n in b.items():
        if not a[x] == n:
            return False
    return True


def counter_ne(a, b):
    return not counter_eq(a, b)


def counter_le(a, b):
    for x, n in a.items():
        if not n <= b[x]:
            return False
    for x, n in b.items():
        if not a[x] <= n:
            return False
    return True


def counter_lt(a, b):
    return counter_le(a, b) and not counter_eq(a, b)


def counter_ge(a, b):
    return counter_le(b, a)


def counter_gt(a, b):
    return counter_lt(b, a)


def counter_repr(c):
    if len(c) == 0:
        return "Counter()"
    return "Counter({" + _pairs(operator._by_count(c)) + "})"


# ---- OrderedDict


def ordered_of(entries):
    d = collections.OrderedDict()
    d.update(entries)
    return d


def move_to_end(d, key, last):
    at = operator._find(d, key)
    if at < 0:
        raise KeyError(key)
    own = operator._key_at(d, at)
    if last:
        value = d.pop(key)
        d[own] = value
    else:
        pairs = list(d.items())
        first = operator._value_at(d, at)
        d.clear()
        d[own] = first
        for k, v in pairs:
            d[k] = v


def ordered_popitem(d, last):
    if len(d) == 0:
        raise KeyError("dictionary is empty")
    key = next(iter(d))
    if last:
        for k in reversed(d):
            key = k
            break
    return key, d.pop(key)


def ordered_eq(a, b):
    if len(a) != len(b):
        return False
    for x, y in zip(a.items(), b.items()):
        if not x == y:
            return False
    return True


def ordered_ne(a, b):
    return not ordered_eq(a, b)


def ordered_repr(d):
    return operator._text_in_ring(_ordered_text, d, "...") if operator._leads_back(d) else _ordered_text(d)


def _ordered_text(d):
    if len(d) == 0:
        return "OrderedDict()"
    around = operator._mapping_text(d)
    if around[0] == "OrderedDict([":
        return around[0] + ", ".join([repr(pair) for pair in d.items()]) + around[1]
    return around[0] + _pairs(d) + around[1]


def ordered_fromkeys(keys, value):
    d = collections.OrderedDict()
    for k in keys:
        d[k] = value
    return d
