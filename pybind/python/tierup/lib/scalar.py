"""Methods of numbers: of NumPy's scalars, which have those of arrays without dimensions, and of floats."""

import math

import numpy as np


def itself(x):
    return x


def ndim(x):
    return 0


def shape(x):
    return ()


def size(x):
    return 1


def itemsize(x):
    return x.dtype.itemsize


def base(x):
    return None


def device(x):
    return "cpu"


def item(x, index):
    return np.array([x]).item(*index)


def reshape(x, order, shape):
    # One element has but one order.
    if len(shape) == 1:
        return np.array([x]).reshape(shape[0])
    return np.array([x]).reshape(shape)


def flatten(x, order):
    return np.array([x])


def copy(x, order):
    return x


def squeeze(x, axis):
    if axis is None:
        return x
    return np.squeeze(np.array(x), axis)[()]


def transpose(x, axes):
    if len(axes) == 0:
        return x
    return np.transpose(np.array(x), axes)[()]


def take(x, indices, axis, out, mode):
    return np.take(np.array([x]), indices, axis, out, mode)


def byteswap(x, inplace):
    if inplace:
        raise ValueError("cannot byteswap a scalar in-place")
    a = np.array([x])
    parts = 2 if np.iscomplexobj(a) else 1
    return a.view(np.uint8).reshape(parts, -1)[:, ::-1].copy().reshape(-1).view(a.dtype)[0]


def argsort(x, axis, kind, order):
    return np.zeros(1, np.int64)


def nonzero(x):
    raise ValueError(
        "Calling nonzero on 0d arrays is not allowed. Use np.atleast_1d(scalar).nonzero() instead. "
        "If the context of this error is of the form `arr[nonzero(cond)]`, just use `arr[cond]`."
    )


def fill(x, value):
    return None


# -- Python's numbers ----------------------------------------------------------------------------------------------------------------------------


def int_ratio(x):
    return x, 1


def float_ratio(x):
    if math.isinf(x):
        raise OverflowError("cannot convert Infinity to integer ratio")
    if math.isnan(x):
        raise ValueError("cannot convert NaN to integer ratio")
    mantissa, exponent = math.frexp(x)
    while mantissa != math.floor(mantissa):
        mantissa *= 2
        exponent -= 1
    if mantissa == 0:
        return 0, 1
    n, d = int(mantissa), 1
    if exponent > 0:
        if n.bit_length() + exponent > 63:
            raise OverflowError("the numerator does not fit in 64 bits")
        n <<= exponent
    else:
        if exponent < -62:
            raise OverflowError("the denominator does not fit in 64 bits")
        d <<= -exponent
    return n, d


def hex_(x):
    if math.isnan(x):
        return "nan"
    sign = "-" if math.copysign(1.0, x) < 0 else ""
    if math.isinf(x):
        return sign + "inf"
    mantissa, exponent = math.frexp(abs(x))
    if mantissa == 0:
        return sign + "0x0.0p+0"
    # The leading digit is 1, or 0 below the smallest normal number.
    shift = max(exponent - 1, -1022)
    mantissa = math.ldexp(mantissa, exponent - shift)
    text = sign + "0x" + ("1" if mantissa >= 1 else "0") + "."
    rest = mantissa - math.floor(mantissa)
    for _ in range(13):
        rest *= 16
        digit = int(rest)
        rest -= digit
        text += "0123456789abcdef"[digit]
    return text + "p" + ("+" if shift >= 0 else "-") + str(abs(shift))
