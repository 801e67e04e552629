"""Escape times over a grid, in real arithmetic."""
import numpy as np
from peer import njit


def small():
    return 4, 3, 10


def full():
    return 200, 150, 200


@njit
def run(width, height, limit):
    out = np.zeros((height, width), np.int32)
    for py in range(height):
        for px in range(width):
            x0, y0 = -2.0 + 3.0 * px / width, -1.0 + 2.0 * py / height
            x = y = 0.0
            n = 0
            while x * x + y * y <= 4.0 and n < limit:
                x, y = x * x - y * y + x0, 2.0 * x * y + y0
                n += 1
            out[py, px] = n
    return out
