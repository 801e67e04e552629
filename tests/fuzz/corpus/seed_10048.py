# Seed 10048, tier0: list(float64) and list(float) did not unify.
@njit
def main(a0, a1):
    try:
        a0 = np.asarray(np.array([1.0, 0.5, 1e+300, 0.5], np.float64).tolist()).tolist()
        if a1:
            raise ValueError
    except ValueError:
        pass
    flist_21 = np.array([0, 0, 1e+300, 3.75], np.float64).tolist() if a1 else [0.0, 1.0]
    for row_17 in np.ones((2, 2)):
        a0 = a0 + row_17.tolist()
    a0.append(row_17[0])
    return a0, min(flist_21)
ARGUMENTS = [([0.0, 0.5], 0), ([0.0, 0.5], 1)]
