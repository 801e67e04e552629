"""Planets that attract each other, positions and speeds in small arrays."""
import numpy as np
from peer import njit


def planets():
    position = np.array([[0.0, 0.0, 0.0], [4.84, -1.16, -0.10], [8.34, 4.12, -0.4], [12.89, -15.11, -0.22], [15.37, -25.9, 0.17]])
    speed = np.array([[0.0, 0.0, 0.0], [0.6, 2.8, -0.02], [-1.01, 1.82, 0.008], [1.08, 0.86, -0.01], [0.97, 0.59, -0.03]])
    return position, speed, np.array([39.47, 0.037, 0.011, 0.0017, 0.002])


def small():
    return *planets(), 2


def full():
    return *planets(), 10_000


@njit
def run(position, speed, mass, steps):
    n, dt = len(mass), 0.01
    for _ in range(steps):
        for i in range(n):
            for j in range(i + 1, n):
                dx = position[i, 0] - position[j, 0]
                dy = position[i, 1] - position[j, 1]
                dz = position[i, 2] - position[j, 2]
                d2 = dx * dx + dy * dy + dz * dz
                f = dt / (d2 * np.sqrt(d2))
                speed[i, 0] -= dx * mass[j] * f
                speed[i, 1] -= dy * mass[j] * f
                speed[i, 2] -= dz * mass[j] * f
                speed[j, 0] += dx * mass[i] * f
                speed[j, 1] += dy * mass[i] * f
                speed[j, 2] += dz * mass[i] * f
        for i in range(n):
            for k in range(3):
                position[i, k] += dt * speed[i, k]
    return position.sum()
