# Seed 12701, tier0: arrays of a list argument that is written back were freed too early.
@njit
def main(a0, a1):
    a0.reverse()
    if a1 == 1:
        return round(float('inf'))
    if a1 == 2:
        return len(a0.pop())
    del a0[0]
    return 0
ARGUMENTS = [([np.arange(3.0), np.ones(2)], 1), ([np.arange(3.0), np.ones(2), np.zeros(1)], 0), ([np.arange(3.0), np.ones(2)], 2), ([np.arange(3.0)], 2)]
