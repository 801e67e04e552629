"""What tests of ufuncs and of generalised ones share."""

import numpy as np
from tierup import guvectorize


@guvectorize(["void(float64[:], float64, float64[:])"], "(n),()->(n)")
def add_to_all(a, b, out):
    for i in range(len(a)):
        out[i] = a[i] + b


def same(got, want):
    assert type(got) is type(want), (type(got), type(want))
    np.testing.assert_array_equal(got, want, strict=True)
