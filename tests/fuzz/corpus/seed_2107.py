# Seed 2107, tier0, TypingError: a list argument and a list made here met in the iterator of a comprehension.
@njit
def main(n, x, b, s, a, k, xs, ys, t, m):
    int_2 = 2
    while int_2:
        int_2 -= 1
        try:
            m = x / x
        except ArithmeticError:
            xs = [sum([101 for q in xs if q]) for q in '']
ARGUMENTS = [(3, 1.5, True, 'abc', 0, 0, [5, 1], 2.0, 2, 2), (3, 0.0, True, 'abc', 0, 0, [5, 1], 2.0, 2, 2)]
