"""A package written for Numba by somebody else, unmodified: choclo's gravity of rectangular prisms, on a grid of points above two buried blocks.

This file too is written for Numba; it runs as `python -m tierup --as-numba examples/gravity.py`.
"""

# Neither Numba nor choclo says of which types its functions are.
# pyright: reportUnknownVariableType=false, reportUntypedFunctionDecorator=false

from typing import Any

import numpy as np
from choclo.prism import gravity_u
from numba import jit
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@jit(nopython=True)
def run(easting: Floats, northing: Floats, height: float, prisms: Floats, density: Floats) -> Any:
    out = np.zeros((northing.size, easting.size))
    for i in range(northing.size):
        for j in range(easting.size):
            for k in range(prisms.shape[0]):
                out[i, j] += gravity_u(easting[j], northing[i], height, prisms[k, 0], prisms[k, 1], prisms[k, 2], prisms[k, 3], prisms[k, 4], prisms[k, 5], density[k])
    return out


def arguments() -> tuple[Floats, Floats, float, Floats, Floats]:
    prisms = np.array([[-400.0, -100.0, -300.0, 200.0, -600.0, -150.0], [150.0, 500.0, -100.0, 350.0, -900.0, -200.0]])
    return np.linspace(-1000, 1000, 120), np.linspace(-1000, 1000, 100), 10.0, prisms, np.array([400.0, -250.0])


if __name__ == "__main__":
    field = run(*arguments())
    print(f"between {field.min() * 1e5:.3f} and {field.max() * 1e5:.3f} mGal")
