# Seed 2125, tier0, TypingError: a list argument and a list made here met in the iterator of a loop in a handler.
@njit
def main(n, x, b, s, a, k, xs, ys, t, m):
    try:
        xs = [n for q in '']
        for int_12 in range(5):
            pass
    except IndexError:
        for int_17 in xs:
            pass
    while 0:
        pass
    else:
        ys = [q for q in [n, n, n] + xs]
    return ys
ARGUMENTS = [(3, 1.5, True, 'abc', 1.0, 0, [5, 1], 0.5, 2, 2)]
