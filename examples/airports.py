"""Airports of the United States, a real data set: the neighbour that is farthest from its own nearest neighbour, on a sphere."""

import math

import numpy as np
from data import rows
from numpy.typing import NDArray
from tierup import njit

Floats = NDArray[np.float64]


@njit
def distance(a: tuple[float, float], b: tuple[float, float]) -> float:
    """Kilometres between two (latitude, longitude) pairs in radians."""
    x = math.sin((b[0] - a[0]) / 2) ** 2 + math.cos(a[0]) * math.cos(b[0]) * math.sin((b[1] - a[1]) / 2) ** 2
    return 2 * 6371.0 * math.asin(math.sqrt(x))


@njit
def run(names: list[str], places: Floats) -> tuple[str, float]:
    loneliest, best = "", 0.0
    for i in range(len(places)):
        nearest = math.inf
        for j in range(len(places)):
            if i != j:
                nearest = min(nearest, distance((places[i, 0], places[i, 1]), (places[j, 0], places[j, 1])))
        if nearest > best:
            loneliest, best = names[i], nearest
    return loneliest, best


def arguments() -> tuple[list[str], Floats]:
    airports = rows("airports.csv")[::4]
    return [a["iata"] for a in airports], np.radians([[float(a["latitude"]), float(a["longitude"])] for a in airports])
