"""Gravitation on columns: one body against all others at once."""
import numpy as np
from peer import array_njit


def make(n, turns):
    return np.sin(np.arange(n * 3.0)).reshape(3, n), np.zeros((3, n)), 1.0 + np.cos(np.arange(n * 1.0)) ** 2, turns


def small():
    return make(4, 2)


def full():
    return make(1000, 3)


@array_njit
def run(pos, vel, mass, turns):
    pos, vel = pos.copy(), vel.copy()
    x, y, z = pos[0], pos[1], pos[2]
    for _ in range(turns):
        for i in range(len(mass)):
            dx, dy, dz = x - x[i], y - y[i], z - z[i]
            r2 = dx * dx + dy * dy + dz * dz + 0.01
            f = mass / (r2 * np.sqrt(r2))
            vel[0, i] += 0.001 * (f * dx).sum()
            vel[1, i] += 0.001 * (f * dy).sum()
            vel[2, i] += 0.001 * (f * dz).sum()
        pos += 0.001 * vel
    return pos
