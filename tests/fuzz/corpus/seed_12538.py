# Seed 12538, tier0: a mask without elements fits every dimension.
@njit
def main(a5, a0):
    a5[np.array([False], np.bool_)[3:]] += 1
    return a5, a5[a0], a5[np.array([False, True])[:0]]
ARGUMENTS = [(np.array([0, 1, 0, 4294967296], np.int64), np.array([], np.bool_)), (np.array([7], np.int64), np.array([True]))]
