"""Three by three blur of an image of bytes."""
import numpy as np
from peer import njit


def make(n):
    return ((np.arange(n * n) * 7919) % 256).astype(np.uint8).reshape(n, n),


def small():
    return make(4)


def full():
    return make(400)


@njit
def run(image):
    n, m = image.shape
    out = np.zeros_like(image)
    for i in range(1, n - 1):
        for j in range(1, m - 1):
            s = 0
            for di in range(-1, 2):
                for dj in range(-1, 2):
                    s += int(image[i + di, j + dj])
            out[i, j] = s // 9
    return out
