"""Rays against spheres, tuples as vectors."""
import math

import numpy as np
from peer import njit


def make(n):
    t = np.arange(n)
    return np.stack((t % 7 - 3.0, t % 5 - 2.0, 5.0 + t % 3, 0.5 + 0.1 * (t % 4)), 1)


def small():
    return make(2), 3


def full():
    return make(20), 120


@njit
def dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@njit
def hit(direction, sphere):
    centre = (sphere[0], sphere[1], sphere[2])
    b = dot(direction, centre)
    d = b * b - dot(centre, centre) + sphere[3] * sphere[3]
    return b - math.sqrt(d) if d > 0 else -1.0


@njit
def run(spheres, size):
    image = np.zeros((size, size))
    for y in range(size):
        for x in range(size):
            dx, dy = 2.0 * x / size - 1.0, 2.0 * y / size - 1.0
            length = math.sqrt(dx * dx + dy * dy + 1.0)
            direction = (dx / length, dy / length, 1.0 / length)
            nearest = 1e30
            for k in range(len(spheres)):
                t = hit(direction, spheres[k])
                if 0 < t < nearest:
                    nearest = t
            image[y, x] = nearest
    return image
