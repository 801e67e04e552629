"""Assignment of points to centres, and new centres, with rows as small arrays."""
import numpy as np
from peer import array_njit, prange


def make(n, k):
    t = np.arange(n * 3.0).reshape(n, 3)
    return np.sin(t), np.cos(np.arange(k * 3.0)).reshape(k, 3), 5


def small():
    return make(10, 2)


def full():
    return make(60_000, 8)


@array_njit
def nearest(points, centres, labels):
    for i in prange(len(points)):
        best, at = 1e300, 0
        for k in range(len(centres)):
            d = points[i] - centres[k]
            dist = (d * d).sum()
            if dist < best:
                best, at = dist, k
        labels[i] = at


@array_njit
def run(points, centres, turns):
    centres = centres.copy()
    labels = np.zeros(len(points), np.int64)
    for _ in range(turns):
        nearest(points, centres, labels)
        sums = np.zeros_like(centres)
        counts = np.zeros(len(centres))
        for i in range(len(points)):
            sums[labels[i]] += points[i]
            counts[labels[i]] += 1.0
        for k in range(len(centres)):
            if counts[k] > 0.0:
                centres[k] = sums[k] / counts[k]
    return centres
