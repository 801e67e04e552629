"""Built-in functions and methods whose meaning is naturally Python."""

import operator
import sys

# Integers in these functions are the caller's: where overflow is checked, it is checked here too.
_origin = "checked"

# What differs from one version of Python to the next.
_NOTHING_TO_COMPARE = "() iterable argument is empty" if sys.version_info >= (3, 12) else "() arg is an empty sequence"
# Whole texts: a kernel, which has no memory for new ones, leaves them out.
_NO_MINIMUM, _NO_MAXIMUM = "min" + _NOTHING_TO_COMPARE, "max" + _NOTHING_TO_COMPARE
_COMPENSATED_SUMS = sys.version_info >= (3, 12)
_COMPENSATED_COMPLEX = sys.version_info >= (3, 14)


def list_sort_key(values, key, reverse):
    """``values.sort(key=key, reverse=reverse)``: stable, each key computed once. As in Python the list is empty meanwhile, whatever `key` does to it is lost, and what it puts in is an error."""
    items = values.copy()
    values.clear()
    try:
        keys = [key(v) for v in items]
    except:  # noqa: E722  (whatever it is, the list has its elements again)
        values.clear()
        values.extend(items)
        raise
    changed = len(values) > 0
    values.clear()
    values.extend(items)
    values.sort_by_keys(keys, reverse)
    if changed:
        raise ValueError("list modified during sort")


def sort_order(keys, reverse):
    """Positions of ``keys`` in ascending order (merge sort; stable, in reverse order too)."""
    n = len(keys)
    order = [i for i in range(n)]
    spare = order.copy()
    if reverse:
        order.reverse()
    width = 1
    while width < n:
        for low in range(0, n, 2 * width):
            middle, high = min(low + width, n), min(low + 2 * width, n)
            i, j = low, middle
            for k in range(low, high):
                if i < middle and (j >= high or not (operator._orders("<", keys[order[j]], keys[order[i]]) and keys[order[j]] < keys[order[i]])):
                    spare[k] = order[i]
                    i += 1
                else:
                    spare[k] = order[j]
                    j += 1
        order, spare = spare, order
        width *= 2
    if reverse:
        order.reverse()
    return order


def list_sort_by_keys(values, keys, reverse):
    """Sorts ``values`` by the list of their keys."""
    old = values.copy()
    for i, k in enumerate(sort_order(keys, reverse)):
        values[i] = old[k]


def list_sort(values, key, reverse):
    """``values.sort()`` of elements that only compiled code can compare."""
    list_sort_by_keys(values, values.copy(), reverse)


def optional_repr(x):
    if x is None:
        return "None"
    return repr(x)


def list_repr(values):
    """``repr`` of a list."""
    return operator._text_in_ring(_list_text, values, "[...]") if operator._leads_back(values) else _list_text(values)


def _list_text(values):
    return "[" + ", ".join([repr(v) for v in values]) + "]"


def text_in_ring(text, x, again):
    """What `text` says of something that may lead back to itself: `again` where that is being shown already."""
    if operator._begin_text(x):
        return again
    try:
        return text(x)
    finally:
        operator._end_text(x)


def property_or_asked(x, get, ask, name):
    """A property of a class with a ``__getattr__``, which is asked where the property raises AttributeError."""
    try:
        return get(x)
    except AttributeError:
        pass
    return ask(x, name)


def join(sep, parts):
    """``sep.join(parts)`` of any iterable of strings."""
    return sep.join([p for p in parts])


def join_checked(sep, parts):
    """The same of a list in which not everything needs to be a string."""
    texts = []
    for i, p in enumerate(parts):
        if not isinstance(p, str):
            raise TypeError(f"sequence item {i}: expected str instance, {type(p).__name__} found")
        texts.append(p)
    return sep.join(texts)




def power(base, exp, mod):
    if mod is None:
        return base ** exp
    return operator._pow_modular(base, exp, mod)


def int_power(base, exp):
    """Numba's `base ** exp` of two int64: a fraction is 0."""
    if exp >= 0:
        return base ** exp
    if base == 0:
        if operator._numpy_errors():
            return base - 9223372036854775807 - 1
        raise ZeroDivisionError("0 cannot be raised to a negative power")
    if base == 1:
        return base
    if base == -1:
        return base if exp & 1 else -base
    return base - base


def smallest(values, key, default):
    found = False
    for v in values:
        if key is None:
            rank = v
        else:
            rank = key(v)
        if not found or operator._orders("<", rank, best_rank) and rank < best_rank:  # noqa: F821
            best, best_rank, found = v, rank, True
    if found:
        return best
    if default is ...:
        raise ValueError(_NO_MINIMUM)
    return default


def largest(values, key, default):
    found = False
    for v in values:
        if key is None:
            rank = v
        else:
            rank = key(v)
        if not found or operator._orders(">", rank, best_rank) and rank > best_rank:  # noqa: F821
            best, best_rank, found = v, rank, True
    if found:
        return best
    if default is ...:
        raise ValueError(_NO_MAXIMUM)
    return default


def smallest_of(key, values):
    return smallest(values, key, ...)


def largest_of(key, values):
    return largest(values, key, ...)


def sum_(values, start):
    if isinstance(start, (str, bytes, bytearray)):
        if isinstance(start, str):
            raise TypeError("sum() can't sum strings [use ''.join(seq) instead]")
        if isinstance(start, bytes):
            raise TypeError("sum() can't sum bytes [use b''.join(seq) instead]")
        raise TypeError("sum() can't sum bytearray [use b''.join(seq) instead]")
    if isinstance(values, tuple) and len(values) == 0:
        return start
    if operator._holds_instances(values) and isinstance(start, int):
        return _sum_of_instances(values, start)
    if _COMPENSATED_SUMS:
        return _compensated_sum(values, start)
    total = start
    for v in values:
        total = total + v
    return total


def _sum_of_instances(values, start):
    """The sum of what adds itself to the number that the sum begins with, which is the sum of nothing."""
    nothing = True
    for v in values:
        total = start + v if nothing else total + v
        nothing = False
    if nothing:
        return operator._or_result(start, _begun, values, start)
    return operator._beside(total, start)


def _begun(values, start):
    for v in values:
        return start + v
    raise ValueError("never called")


def _lost(a, b, total):
    """What an addition of floats has lost, exactly."""
    if abs(a) >= abs(b):
        return (a - total) + b
    return (b - total) + a


def _with_lost(total, lost):
    # Where the sum overflowed what was lost is no number.
    return total + lost if lost != 0.0 and lost - lost == 0.0 else total


def _compensated_sum(values, start):
    """As Python adds its own floats from 3.12 on, and complex numbers from 3.14 on: what each addition has lost is added in the end (Neumaier)."""
    if isinstance(values, tuple) and len(values) <= 8:
        return _compensated_members(values, start, 0.0)
    total = start
    lost, lost_imag = 0.0, 0.0
    # Whether the additions so far were Python's own of two floats, or of complex numbers: the first one never is where the start is an int.
    of_floats, of_complex = type(start) is float, _COMPENSATED_COMPLEX and type(start) is complex
    for v in values:
        before, total = total, total + v
        if type(v) is float:
            if of_floats:
                lost += _lost(before, v, total)
        elif type(v) is complex:
            if of_complex:
                lost += _lost(before.real, v.real, total.real)
                lost_imag += _lost(before.imag, v.imag, total.imag)
        of_floats = type(total) is float
        of_complex = _COMPENSATED_COMPLEX and type(total) is complex
    if type(total) is float:
        return _with_lost(total, lost)
    if type(total) is complex:
        return complex(_with_lost(total.real, lost), _with_lost(total.imag, lost_imag))
    return total


def _compensated_members(values, total, lost):
    """The same of a tuple, whose members have types of their own."""
    if len(values) == 0:
        return _with_lost(total, lost) if type(total) is float else total
    v, rest = values[0], values[1:]
    if type(total) is float:
        if type(v) is float:
            return _compensated_members(rest, total + v, lost + _lost(total, v, total + v))
        if isinstance(v, int):
            # Ints among floats count from the version on that compensates complex numbers.
            return _compensated_members(rest, total + v, lost + _lost(total, float(v), total + v) if _COMPENSATED_COMPLEX else lost)
        return _compensated_members(rest, _with_lost(total, lost) + v, 0.0)
    return _compensated_members(rest, total + v, 0.0)


def any_(values):
    if isinstance(values, tuple) and len(values) == 0:
        return False
    for v in values:
        if v:
            return True
    return False


def all_(values):
    if isinstance(values, tuple) and len(values) == 0:
        return True
    for v in values:
        if not v:
            return False
    return True


def sorted_(values, key, reverse):
    out = list(values)
    out.sort(key=key, reverse=reverse)
    return out


def list_(values):
    return [v for v in values]


def iter_(values):
    for v in values:
        yield v


def iter_of_container(values):
    return _second(enumerate(values))


def _second(pairs):
    """A generator begins when it is first asked for a value; what it goes through has begun before."""
    for _, v in pairs:
        yield v


def next_(it, default):
    """One step of a generator, which remembers where it is."""
    for v in it:
        return v
    if default is ...:
        raise operator._stopped(it)
    return default


def len_of_scalar(x):
    raise TypeError("len() of unsized object")


def map_(f, iterables):
    if len(iterables) == 1:
        for v in iterables[0]:
            yield f(v)
    else:
        for t in zip(*iterables):
            yield f(*t)


def filter_(f, values):
    for v in values:
        if f is None:
            if v:
                yield v
        elif f(v):
            yield v


def concat(a, b):
    return a + b


def zip_strict(strict, xs):
    """``zip(*xs, strict=True)`` of sequences: the lengths are compared when the shortest has ended."""
    return _zip_strict(_iterators(xs))


def _iterators(xs):
    if len(xs) == 0:
        return ()
    return (operator._iterator(xs[0]),) + _iterators(xs[1:])


def _zip_strict(xs):
    for t in zip(*xs):
        yield t
    _same_lengths(xs)


def _same_lengths(xs):
    if len(xs) >= 2:
        _same_length(xs[0], xs[1], 2)
    if len(xs) >= 3:
        _same_length(xs[0], xs[2], 3)
    if len(xs) >= 4:
        _same_length(xs[0], xs[3], 4)


def _same_length(a, b, position):
    if len(a) < len(b):
        raise ValueError(f"zip() argument {position} is longer than argument 1")
    if len(a) > len(b):
        raise ValueError(f"zip() argument {position} is shorter than argument 1")


def range_repr(r):
    if r.step == 1:
        return f"range({r.start}, {r.stop})"
    return f"range({r.start}, {r.stop}, {r.step})"


def slice_repr(s):
    return f"slice({s.start!r}, {s.stop!r}, {s.step!r})"


def tuple_repr(t):
    """``repr`` of a tuple whose members are lists, arrays or the like."""
    parts = [repr(v) for v in t]
    if hasattr(t, "_fields"):
        return type(t).__name__ + "(" + ", ".join([t._fields[k] + "=" + parts[k] for k in range(len(parts))]) + ")"
    if len(parts) == 1:
        return "(" + parts[0] + ",)"
    return "(" + ", ".join(parts) + ")"


def starts_with_any(s, prefixes, start, end):
    for p in prefixes:
        if s.startswith(p, start, end):
            return True
    return False


def ends_with_any(s, suffixes, start, end):
    for p in suffixes:
        if s.endswith(p, start, end):
            return True
    return False


def reduce(f, values, start):
    """``functools.reduce``."""
    if start is ...:
        found = False
        for v in values:
            if found:
                total = f(total, v)
            else:
                total, found = v, True
        if not found:
            raise TypeError("reduce() of empty iterable with no initial value")
        return total
    total = start
    for v in values:
        total = f(total, v)
    return total


def itemgetter(item, items):
    """``operator.itemgetter``."""
    if len(items) == 0:
        return lambda x: x[item]
    return lambda x: (x[item],) + _items(x, items)


def _items(x, items):
    if len(items) == 0:
        return ()
    return (x[items[0]],) + _items(x, items[1:])


def match_class(x, cls, names):
    """What a class pattern looks at: None where ``x`` is no ``cls``, or has no such attribute."""
    if not isinstance(x, cls):
        return None
    try:
        return _attributes(x, names)
    except AttributeError:
        return None


def _attributes(x, names):
    if len(names) == 0:
        return ()
    if len(names) == 1:
        return (getattr(x, names[0]),)
    if len(names) == 2:
        return getattr(x, names[0]), getattr(x, names[1])
    if len(names) == 3:
        return getattr(x, names[0]), getattr(x, names[1]), getattr(x, names[2])
    if len(names) == 4:
        return getattr(x, names[0]), getattr(x, names[1]), getattr(x, names[2]), getattr(x, names[3])
    if len(names) == 5:
        return getattr(x, names[0]), getattr(x, names[1]), getattr(x, names[2]), getattr(x, names[3]), getattr(x, names[4])
    return getattr(x, names[0]), getattr(x, names[1]), getattr(x, names[2]), getattr(x, names[3]), getattr(x, names[4]), getattr(x, names[5])


def has_attribute(x, name):
    if x is None:
        return hasattr(None, name)
    try:
        getattr(x, name)
    except AttributeError:
        return False
    return True


def attribute_or(x, name, default):
    if x is None:
        return getattr(None, name, default)
    try:
        return getattr(x, name)
    except AttributeError:
        return default


def split_group(exc, condition):
    """``exc.split(condition)``: what ``contextlib.suppress`` asks of groups from 3.12 on."""
    if isinstance(exc, BaseExceptionGroup):
        raise RuntimeError("compiled code splits no groups of exceptions: handle them in Python")
    raise AttributeError(f"'{type(exc).__name__}' object has no attribute 'split'")


def exception_args(args):
    for i in range(len(args)):
        yield args[i]


def same_args(args, other):
    if not isinstance(other, tuple) or len(args) != len(other):
        return False
    i = 0
    for x in other:
        if not (operator._one_object(args[i], x) or args[i] == x):
            return False
        i += 1
    return True


def other_args(args, other):
    return not same_args(args, other)


def list_set_slice(xs, s, other):
    xs[s] = list(other)


def in_iterator(it, x):
    for v in it:
        if operator._one_object(v, x) or v == x:
            return True
    return False


def unpack_iterator(it, count):
    """``a, b = it``: as in Python one value more than wanted is taken, to see that there is none."""
    xs = [x for x in _first(it, count)]
    if len(xs) < count:
        raise ValueError(f"not enough values to unpack (expected {count}, got {len(xs)})")
    return _members(xs, 0, count)


def _first(it, count):
    taken = 0
    for x in it:
        if taken == count:
            raise ValueError(f"too many values to unpack (expected {count})")
        yield x
        taken += 1


def unpack_rest(it, before, after):
    """``a, *b, c = it``."""
    xs = list(it)
    if len(xs) < before + after:
        raise ValueError(f"not enough values to unpack (expected at least {before + after}, got {len(xs)})")
    return _members(xs, 0, before) + (xs[before:len(xs) - after],) + _members(xs, 0 - after, 0)


def _members(xs, at, end):
    """Elements of a list as a tuple; the positions are known when this is compiled."""
    if at == end:
        return ()
    return (xs[at],) + _members(xs, at + 1, end)


def unpack_args(args, count):
    if len(args) > count:
        raise ValueError(f"too many values to unpack (expected {count})")
    if len(args) < count:
        raise ValueError(f"not enough values to unpack (expected {count}, got {len(args)})")
    if count == 1:
        return (args[0],)
    if count == 2:
        return args[0], args[1]
    return args[0], args[1], args[2]


def reversed_object(x):
    return _each(reversed(x))


def enumerate_object(x, start):
    return _each(enumerate(x, start))


def zip_object(strict, *xs):
    if strict:
        return _each(zip(*xs, strict=True))
    return _each(zip(*xs))


def _each(values):
    for v in values:
        yield v


def largest_of_numbers(xs):
    _require_two(xs, "max")
    return max(xs)


def smallest_of_numbers(xs):
    _require_two(xs, "min")
    return min(xs)


def _require_two(xs, name):
    if len(xs) == 0:
        raise TypeError(name + " expected at least 1 argument, got 0")
    if len(xs) == 1:
        raise TypeError("'" + operator._class_name(xs[0]) + "' object is not iterable")
