"""Arrays of fixed-width text: comparisons, and functions of `numpy.strings` whose results have the width of their operands, or are no text."""

import operator

import numpy as np


def _each(a, function, dtype):
    out = np.empty(a.shape, dtype)
    for at in np.ndindex(a.shape):
        out[at] = function(a[at])
    return _value(out)


def _value(out):
    """What has no dimensions is a value by itself."""
    if out.ndim == 0:
        return out[()]
    return out


def _pairs(a, b, function, dtype):
    if isinstance(b, (str, bytes, int, np.integer)):
        return _each(a, lambda x: function(x, b), dtype)
    if isinstance(a, (str, bytes)):
        return _each(b, lambda y: function(a, y), dtype)
    shape = np.broadcast_shapes(a.shape, b.shape)
    x, y = np.broadcast_to(a, shape), np.broadcast_to(b, shape)
    out = np.empty(shape, dtype)
    for at in np.ndindex(shape):
        out[at] = function(x[at], y[at])
    return _value(out)


def equal(x1, x2):
    return _pairs(x1, x2, operator.eq, np.bool_)


def not_equal(x1, x2):
    return _pairs(x1, x2, operator.ne, np.bool_)


def less(x1, x2):
    return _pairs(x1, x2, operator.lt, np.bool_)


def less_equal(x1, x2):
    return _pairs(x1, x2, operator.le, np.bool_)


def greater(x1, x2):
    return _pairs(x1, x2, operator.gt, np.bool_)


def greater_equal(x1, x2):
    return _pairs(x1, x2, operator.ge, np.bool_)


def truths(a):
    out = np.empty(a.shape, np.bool_)
    for at in np.ndindex(a.shape):
        out[at] = len(a[at]) > 0
    return out


def nonzero(a):
    return np.nonzero(truths(a))


def str_len(x):
    return _each(x, lambda s: len(s), np.int64)


def find(a, sub):
    return _pairs(a, sub, lambda s, part: s.find(part), np.int64)


def rfind(a, sub):
    return _pairs(a, sub, lambda s, part: s.rfind(part), np.int64)


def count(a, sub):
    return _pairs(a, sub, lambda s, part: s.count(part), np.int64)


def startswith(a, prefix):
    return _pairs(a, prefix, lambda s, part: s.startswith(part), np.bool_)


def endswith(a, suffix):
    return _pairs(a, suffix, lambda s, part: s.endswith(part), np.bool_)


def isalpha(x):
    return _each(x, lambda s: s.isalpha(), np.bool_)


def isdigit(x):
    return _each(x, lambda s: s.isdigit(), np.bool_)


def isalnum(x):
    return _each(x, lambda s: s.isalnum(), np.bool_)


def isspace(x):
    return _each(x, lambda s: s.isspace(), np.bool_)


def isupper(x):
    return _each(x, lambda s: s.isupper(), np.bool_)


def islower(x):
    return _each(x, lambda s: s.islower(), np.bool_)


def istitle(x):
    return _each(x, lambda s: s.istitle(), np.bool_)


def isdecimal(x):
    return _each(x, lambda s: s.isdecimal(), np.bool_)


def isnumeric(x):
    return _each(x, lambda s: s.isnumeric(), np.bool_)


def upper(a):
    return _each(a, lambda s: s.upper(), a.dtype)


def lower(a):
    return _each(a, lambda s: s.lower(), a.dtype)


def swapcase(a):
    return _each(a, lambda s: s.swapcase(), a.dtype)


def capitalize(a):
    return _each(a, lambda s: s.capitalize(), a.dtype)


def title(a):
    return _each(a, lambda s: s.title(), a.dtype)


def strip(a, chars):
    return _each(a, lambda s: s.strip(chars), a.dtype)


def lstrip(a, chars):
    return _each(a, lambda s: s.lstrip(chars), a.dtype)


def rstrip(a, chars):
    return _each(a, lambda s: s.rstrip(chars), a.dtype)
