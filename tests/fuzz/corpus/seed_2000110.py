# Seed 2000110, tier0, TypingError: + does not take (list(?23), list(list(int))) [no-matching-operation].
@njit
def main(n, x, b, s, a, k, xs, ys, t, m):
    if [[5, 1, 2], [7, 7], [0, 0]]:
        slist_9 = ['é€', '']
        if b:
            try:
                int_10 = [n for q in '']
            except ZeroDivisionError as e:
                box_15 = [0 for q in '']
        else:
            try:
                int_17 = [[5, 1, 2], [7, 7], [0, 0]]
            except ZeroDivisionError:
                box_19 = [n, sum([q for q in xs if q])]
            except LookupError:
                n = sum([u for u, v in zip(xs, xs)])
            else:
                llist_22 = [[q, n] for q in range(3)]
            slist_24 = sorted(['a', 'é€'].copy())
            llist_28 = [('é€', [1], np.array([0.0, 1.0, 2.0, 3.0]))[1], [n]] + sorted([xs])
ARGUMENTS = [(0, 10000000000.0, True, 'zé€', 0, 0, [1, 2, 3, 4], 0.0, 7, 2)]
