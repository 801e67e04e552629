# Seed 10753, tier0: the process died: a view in a generator's frame was released twice.
@njit
def generator0(p0, p1, p2):
    b1_1_1 = np.concatenate((np.any([[False]], axis=1), [True]))[:6]
    yield 1
    b1_1_1[0] = 0

@njit
def main(a0):
    int_10 = [0 for u, v in enumerate(generator0(1, 0, p2=None))]
    return int_10
ARGUMENTS = [(0,)]
