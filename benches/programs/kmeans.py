"""Lloyd's iterations over points in a plane."""
import numpy as np
from peer import njit


def make(n):
    t = np.arange(n)
    return np.stack(((t * 0.6180339887) % 1.0, (t * 0.7548776662) % 1.0), 1)


def small():
    return make(6), 2, 2


def full():
    return make(20_000), 8, 5


@njit
def run(points, k, rounds):
    n = len(points)
    centres = points[:k].copy()
    label = np.zeros(n, np.int64)
    for _ in range(rounds):
        for i in range(n):
            best = 1e300
            for c in range(k):
                dx = points[i, 0] - centres[c, 0]
                dy = points[i, 1] - centres[c, 1]
                d = dx * dx + dy * dy
                if d < best:
                    best, label[i] = d, c
        sums = np.zeros((k, 2))
        counts = np.zeros(k)
        for i in range(n):
            c = label[i]
            sums[c, 0] += points[i, 0]
            sums[c, 1] += points[i, 1]
            counts[c] += 1
        for c in range(k):
            if counts[c] > 0:
                centres[c] = sums[c] / counts[c]
    return centres
