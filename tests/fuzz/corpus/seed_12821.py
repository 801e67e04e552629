# Seed 12821, tier0: errors that say something else than Python and NumPy.
@njit
def main(k, m, v):
    if k == 0:
        if len(v) > 100:
            float_2 = 1.0
        xs = [lambda: float_2]
        float_2 /= 2
        float_2 = xs[0]()
    if k == 1:
        m.reshape(-1, 7)
    if k == 2:
        m.reshape(7, -1)
    if k == 3:
        m.reshape((-1, 2, 7))
    if k == 4:
        np.where(v > 0, m, 0.0)
    if k == 5:
        v[:1] += v
    if k == 6:
        v[:2] += v
    if k == 7:
        np.array([[1.0], [1.0, 2.0]])
    if k == 8:
        np.array([[[1, 2], [3, k]], [[k, 1], [3]]])
    return 0
ARGUMENTS = [(k, np.arange(6.0).reshape(2, 3), np.ones(4)) for k in range(9)]
