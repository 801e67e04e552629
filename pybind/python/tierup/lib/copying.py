"""The module ``copy``: containers and arrays."""

import numpy as np


def shallow(x):
    if isinstance(x, np.ndarray):
        return of_array(x)
    if x is None:
        return None
    return x.copy()


def of_array(x):
    return np.array(x)
