# Seed 2000009, tier0, TypingError: this variable is generator(int) on one path and generator(int) on another [cannot-unify].
@njit
def main(n, x, b, s, a, k, xs, ys, t, m):
    for y in (m.shape[1] for q in ''):
        pass
    m = m[::1]
ARGUMENTS = [(3, 1.5, True, 'abc', 0, 4, 5, 0.5, 2, np.arange(6.0).reshape(2, 3))]
