"""Special methods of named tuple classes whose answers Python makes something of: a length is not negative, a truth value is a bool. Python's ``~`` of a bool."""

import operator

import numpy as np

# Answers are the caller's numbers.
_origin = "special"


def length(x):
    n = x.__len__()
    if not isinstance(n, (int, np.integer)):
        raise TypeError("'" + type(n).__name__ + "' object cannot be interpreted as an integer")
    if n < 0:
        raise ValueError("__len__() should return >= 0")
    return int(n)


def has_length(x):
    return length(x) != 0


def has_no_length(x):
    return length(x) == 0


def truth(x):
    answer = x.__bool__()
    if isinstance(answer, bool):
        return answer
    raise TypeError("__bool__ should return bool, returned " + type(answer).__name__)


def falsehood(x):
    return not truth(x)


def hashed(x):
    h = x.__hash__()
    if isinstance(h, int):
        return -2 if h == -1 else int(h)
    raise TypeError("__hash__ method should return an integer")


def integer(x):
    n = x.__int__()
    if isinstance(n, int):
        return int(n)
    raise TypeError("__int__ returned non-int (type " + type(n).__name__ + ")")


def index(x):
    n = x.__index__()
    if isinstance(n, int):
        return int(n)
    raise TypeError("__index__ returned non-int (type " + type(n).__name__ + ")")


def floating(x):
    f = x.__float__()
    if isinstance(f, float):
        return float(f)
    raise TypeError(type(x).__name__ + ".__float__ returned non-float (type " + type(f).__name__ + ")")


def floating_index(x):
    return float(index(x))


def complex_number(x):
    z = x.__complex__()
    if isinstance(z, complex):
        return complex(z)
    raise TypeError(type(x).__name__ + ".__complex__ returned non-complex (type " + type(z).__name__ + ")")


def complex_of_float(x):
    return complex(floating(x))


def complex_of_index(x):
    return complex(index(x))


def text(x):
    s = x.__str__()
    if isinstance(s, str):
        return s
    raise TypeError("__str__ returned non-string (type " + type(s).__name__ + ")")


def representation(x):
    s = x.__repr__()
    if isinstance(s, str):
        return s
    raise TypeError("__repr__ returned non-string (type " + type(s).__name__ + ")")


def contains(x, v):
    return bool(x.__contains__(v))


def gives(x, v):
    for member in x:
        if operator._one_object(member, v) or member == v:
            return True
    return False


def answer_of_one(method, x, y, a, b, sign):
    """What a special method gives, which may be NotImplemented, as the operation of ``a`` and ``b``."""
    return operator._answer(method(x, y), a, b, sign)


def answer_of_two(method, x, y, other, v, w, a, b, sign):
    """The same where the method of the other operand is asked then."""
    return operator._answer(operator._answer_or(method(x, y), other, v, w), a, b, sign)


def assigned(method, x, y, plain):
    """The same of ``x += y``, which is ``x = x + y`` then."""
    return operator._answer_or(method(x, y), plain, x, y)


def inverted(b):
    return ~int(b)


def unequal(a, b):
    return not a == b


def formatted_text(x, spec):
    return format(str(x), spec)


def formatted_representation(x, spec):
    return format(repr(x), spec)


def steps(x):
    """What a loop goes through where ``__iter__`` gives an object with ``__next__``: it is asked at once, as by ``iter()``."""
    return _steps(x.__iter__())


def _steps(it):
    while True:
        try:
            v = it.__next__()
        except StopIteration:
            return
        yield v


def through(f, before, x, after):
    """What ``f`` goes through, in place of an instance of a class that says how: its iterator, asked for at the call."""
    return f(*before, operator._iterator(x), *after)


def unpacked(f, x, count):
    return f(operator._iterator(x), count)


def unpacked_with_rest(f, x, before, after):
    """The first values come from the iterator; the list of the others asks that for its own, as Python's does."""
    it = iter(x)
    values = []
    for _ in range(before):
        try:
            values.append(next(it))
        except StopIteration:
            return f(values, before, after)
    for v in it:
        values.append(v)
    return f(values, before, after)


def by_index(x):
    """What a loop goes through where a class has ``__getitem__`` alone."""
    i = 0
    while True:
        try:
            v = x.__getitem__(i)
        except IndexError:
            return
        yield v
        i += 1


def next_or(x, default):
    try:
        return x.__next__()
    except StopIteration:
        return default
