"""The sun and four planets for forty years: positions and speeds in small arrays, energy kept."""

import math

import numpy as np
from numpy.typing import NDArray
from tierup import njit

Floats = NDArray[np.float64]


@njit
def energy(position: Floats, speed: Floats, mass: Floats) -> float:
    e = 0.0
    for i in range(len(mass)):
        e += 0.5 * mass[i] * (speed[i] ** 2).sum()
        for j in range(i + 1, len(mass)):
            d = position[i] - position[j]
            e -= mass[i] * mass[j] / math.sqrt((d * d).sum())
    return e


@njit
def step(position: Floats, speed: Floats, mass: Floats, dt: float) -> None:
    for i in range(len(mass)):
        for j in range(i + 1, len(mass)):
            dx = position[i, 0] - position[j, 0]
            dy = position[i, 1] - position[j, 1]
            dz = position[i, 2] - position[j, 2]
            squared = dx * dx + dy * dy + dz * dz
            f = dt / (squared * math.sqrt(squared))
            for k, d in enumerate((dx, dy, dz)):
                speed[i, k] -= d * mass[j] * f
                speed[j, k] += d * mass[i] * f
    position += dt * speed


@njit
def run(position: Floats, speed: Floats, mass: Floats, steps: int) -> tuple[float, float]:
    before = energy(position, speed, mass)
    for _ in range(steps):
        step(position, speed, mass, 0.01)
    return before, energy(position, speed, mass)


def arguments() -> tuple[Floats, Floats, Floats, int]:
    position = np.array([[0.0, 0.0, 0.0], [4.84, -1.16, -0.10], [8.34, 4.12, -0.4], [12.89, -15.11, -0.22], [15.37, -25.9, 0.17]])
    speed = np.array([[0.0, 0.0, 0.0], [0.6, 2.8, -0.02], [-1.01, 1.82, 0.008], [1.08, 0.86, -0.01], [0.97, 0.59, -0.03]])
    return position, speed, np.array([39.47, 0.037, 0.011, 0.0017, 0.002]), 20_000
