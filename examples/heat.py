"""Heat spreads over a plate: sweeps over a two-dimensional array until it settles."""

import numpy as np
from numpy.typing import NDArray
from tierup import njit

Floats = NDArray[np.float64]


@njit
def sweep(old: Floats, new: Floats) -> float:
    change = 0.0
    for i in range(1, old.shape[0] - 1):
        for j in range(1, old.shape[1] - 1):
            new[i, j] = 0.25 * (old[i - 1, j] + old[i + 1, j] + old[i, j - 1] + old[i, j + 1])
            change = max(change, abs(new[i, j] - old[i, j]))
    return change


@njit
def run(size: int, tolerance: float) -> tuple[int, float, float]:
    old = np.zeros((size, size))
    old[0] = 100.0
    old[:, -1] = 50.0
    new = old.copy()
    sweeps = 0
    while True:
        change = sweep(old, new)
        old, new = new, old
        sweeps += 1
        if change < tolerance:
            return sweeps, old[size // 2, size // 2], old.mean()


def arguments() -> tuple[int, float]:
    return 50, 0.02
