# Seed 120027226, tier0, mismatch.
@njit
def helper0(p0, *r):
    stream_2 = (False for q in '' if False)
    int_1 = next(stream_2)

@njit
def main(a0, a1):
    point_21 = all((helper0(1j) for q in [1, 2, 3]))
ARGUMENTS = [(1, 1)]
