"""The module ``copy``: containers and arrays."""

import copy

import numpy as np


def shallow(x):
    if isinstance(x, np.ndarray):
        return of_array(x)
    if x is None:
        return None
    return x.copy()


def of_array(x):
    return np.array(x)


def of_parts(x):
    """A copy of what has arrays in it, which are found where they lie in memory."""
    return copy.deepcopy([x])[0]
