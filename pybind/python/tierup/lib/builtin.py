"""Built-in functions and methods whose meaning is naturally Python."""

import operator


def list_sort_key(values, key, reverse):
    """``values.sort(key=key, reverse=reverse)``: stable, each key computed once."""
    keys = [key(v) for v in values]
    values.sort_by_keys(keys, reverse)


def list_repr(values):
    """``repr`` of a list."""
    return "[" + ", ".join([repr(v) for v in values]) + "]"


def join(sep, parts):
    """``sep.join(parts)`` of any iterable of strings."""
    return sep.join([p for p in parts])




def power(base, exp, mod):
    if mod is None:
        return base ** exp
    return operator._pow_modular(base, exp, mod)


def smallest(values, key, default):
    found = False
    for v in values:
        if key is None:
            rank = v
        else:
            rank = key(v)
        if not found or rank < best_rank:  # noqa: F821
            best, best_rank, found = v, rank, True
    if found:
        return best
    if default is ...:
        raise ValueError("min() arg is an empty sequence")
    return default


def largest(values, key, default):
    found = False
    for v in values:
        if key is None:
            rank = v
        else:
            rank = key(v)
        if not found or rank > best_rank:  # noqa: F821
            best, best_rank, found = v, rank, True
    if found:
        return best
    if default is ...:
        raise ValueError("max() arg is an empty sequence")
    return default


def smallest_of(key, values):
    return smallest(values, key, ...)


def largest_of(key, values):
    return largest(values, key, ...)


def sum_(values, start):
    if isinstance(values, tuple) and len(values) == 0:
        return start
    total = start
    for v in values:
        total = total + v
    return total


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


def next_(it, default):
    """One step of a generator, which remembers where it is."""
    for v in it:
        return v
    if default is ...:
        raise StopIteration
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


def count_of(values, x):
    n = 0
    for v in values:
        if v == x:
            n += 1
    return n


def index_of(values, x):
    for i, v in enumerate(values):
        if v == x:
            return i
    raise ValueError("sequence.index(x): x not in sequence")


def zip_strict(strict, xs):
    """``zip(*xs, strict=True)`` of sequences: the lengths are compared when the shortest has ended."""
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
