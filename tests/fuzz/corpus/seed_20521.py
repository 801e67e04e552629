# Seed 20521, tier0: a generator expression whose captured variable changes its type.
@njit
def main(a0, a5, m):
    try:
        int_13 = [1 for u, v in enumerate(q for q in range(4) if a5)]
        for y in (0 for q in 'ab' if a0 == 4503599627370498.0):
            pass
        for y in (m.shape[1] for q in 'a'):
            int_13.append(y)
        m = m[:, ::2]
        if int_13:
            raise KeyError(1)
    except (ValueError, KeyError):
        a5 = None
        a0 = 0
    return len(int_13), a5, a0, m
ARGUMENTS = [(None, 4, np.ones((2, 3))), (None, 0, np.ones((2, 3)))]
