"""Iterators over the elements of arrays."""

import numpy as np


def nditer(op):
    if isinstance(op, tuple):
        first, second = np.broadcast_arrays(op[0], op[1])
        for index in np.ndindex(first.shape):
            yield first[index + (...,)], second[index + (...,)]
    elif op.flags.f_contiguous and not op.flags.c_contiguous:
        turned = op.T
        for index in np.ndindex(turned.shape):
            yield turned[index + (...,)]
    else:
        for index in np.ndindex(op.shape):
            yield op[index + (...,)]
