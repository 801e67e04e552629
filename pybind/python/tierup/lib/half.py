"""Floats of 16 bits: computed in float32, and rounded once. `np._widened` makes a float32 of one, and leaves other numbers as they are."""

import math

import numpy as np


def add(a, b):
    return np.float16(np.float32(np.float16(a)) + np.float32(np.float16(b)))


def add_widened(a, b):
    return np._widened(a) + np._widened(b)


def sub(a, b):
    return np.float16(np.float32(np.float16(a)) - np.float32(np.float16(b)))


def sub_widened(a, b):
    return np._widened(a) - np._widened(b)


def mul(a, b):
    return np.float16(np.float32(np.float16(a)) * np.float32(np.float16(b)))


def mul_widened(a, b):
    return np._widened(a) * np._widened(b)


def truediv(a, b):
    return np.float16(np.float32(np.float16(a)) / np.float32(np.float16(b)))


def truediv_widened(a, b):
    return np._widened(a) / np._widened(b)


def floordiv(a, b):
    return np.float16(np.float32(np.float16(a)) // np.float32(np.float16(b)))


def floordiv_widened(a, b):
    return np._widened(a) // np._widened(b)


def mod(a, b):
    return np.float16(np.float32(np.float16(a)) % np.float32(np.float16(b)))


def mod_widened(a, b):
    return np._widened(a) % np._widened(b)


def pow(a, b):
    return np.float16(np.float32(np.float16(a)) ** np.float32(np.float16(b)))


def pow_widened(a, b):
    return np._widened(a) ** np._widened(b)


def lt(a, b):
    return np.float32(np.float16(a)) < np.float32(np.float16(b))


def lt_widened(a, b):
    return np._widened(a) < np._widened(b)


def le(a, b):
    return np.float32(np.float16(a)) <= np.float32(np.float16(b))


def le_widened(a, b):
    return np._widened(a) <= np._widened(b)


def gt(a, b):
    return np.float32(np.float16(a)) > np.float32(np.float16(b))


def gt_widened(a, b):
    return np._widened(a) > np._widened(b)


def ge(a, b):
    return np.float32(np.float16(a)) >= np.float32(np.float16(b))


def ge_widened(a, b):
    return np._widened(a) >= np._widened(b)


def eq(a, b):
    return np.float32(np.float16(a)) == np.float32(np.float16(b))


def eq_widened(a, b):
    return np._widened(a) == np._widened(b)


def ne(a, b):
    return np.float32(np.float16(a)) != np.float32(np.float16(b))


def ne_widened(a, b):
    return np._widened(a) != np._widened(b)


def neg(x):
    return np.float16(-np.float32(x))


def pos(x):
    return np.float16(x)


def magnitude(x):
    return np.float16(abs(np.float32(x)))


def greater(a, b):
    return np.float16(np.fmax(np.float32(np.float16(a)), np.float32(np.float16(b))))


def lesser(a, b):
    return np.float16(np.fmin(np.float32(np.float16(a)), np.float32(np.float16(b))))


def maximum(a, b):
    return np.float16(max(np.float32(np.float16(a)), np.float32(np.float16(b))))


def minimum(a, b):
    return np.float16(min(np.float32(np.float16(a)), np.float32(np.float16(b))))


def fma(a, b, c):
    # Products of two are exact in 32 bits, and the sum of 64 bits is rounded but once where that shows.
    return np.float16(np.float64(np.float16(a)) * np.float64(np.float16(b)) + np.float64(np.float16(c)))


def reciprocal(x):
    return np.float16(np.float32(1) / np.float32(x))


def inverse_root(x):
    return np.float16(np.float32(1) / np.sqrt(np.float32(x)))


def exp10(x):
    return np.float16(np.power(np.float32(10), np.float32(x)))


def sin(x):
    return np.float16(np.sin(np.float32(x)))


def cos(x):
    return np.float16(np.cos(np.float32(x)))


def tan(x):
    return np.float16(np.tan(np.float32(x)))


def arcsin(x):
    return np.float16(np.arcsin(np.float32(x)))


def arccos(x):
    return np.float16(np.arccos(np.float32(x)))


def arctan(x):
    return np.float16(np.arctan(np.float32(x)))


def sinh(x):
    return np.float16(np.sinh(np.float32(x)))


def cosh(x):
    return np.float16(np.cosh(np.float32(x)))


def tanh(x):
    return np.float16(np.tanh(np.float32(x)))


def arcsinh(x):
    return np.float16(np.arcsinh(np.float32(x)))


def arccosh(x):
    return np.float16(np.arccosh(np.float32(x)))


def arctanh(x):
    return np.float16(np.arctanh(np.float32(x)))


def exp(x):
    return np.float16(np.exp(np.float32(x)))


def exp2(x):
    return np.float16(np.exp2(np.float32(x)))


def expm1(x):
    return np.float16(np.expm1(np.float32(x)))


def log(x):
    return np.float16(np.log(np.float32(x)))


def log2(x):
    return np.float16(np.log2(np.float32(x)))


def log10(x):
    return np.float16(np.log10(np.float32(x)))


def log1p(x):
    return np.float16(np.log1p(np.float32(x)))


def sqrt(x):
    return np.float16(np.sqrt(np.float32(x)))


def cbrt(x):
    return np.float16(np.cbrt(np.float32(x)))


def ceil(x):
    return np.float16(np.ceil(np.float32(x)))


def floor(x):
    return np.float16(np.floor(np.float32(x)))


def trunc(x):
    return np.float16(np.trunc(np.float32(x)))


def rint(x):
    return np.float16(np.rint(np.float32(x)))


def isnan(x):
    return np.isnan(np.float32(x))


def isinf(x):
    return np.isinf(np.float32(x))


def isfinite(x):
    return np.isfinite(np.float32(x))


def whole_ceil(x):
    return math.ceil(np.float32(x))


def whole_floor(x):
    return math.floor(np.float32(x))


def whole_trunc(x):
    return math.trunc(np.float32(x))


def integer(x):
    return int(np.float32(x))


def root(x):
    return math.sqrt(np.float32(x))
