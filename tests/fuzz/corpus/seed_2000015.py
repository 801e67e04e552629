# Seed 2000015, tier0, TypingError: + does not take (list(list(int)), list(?18)) [no-matching-operation].
@njit
def main(n, x, b, s, a, k, xs, ys, t, m):
    box_1 = sorted([n for q in ''])
    try:
        slist_4 = [c for c in '-'.join('').replace(s, s)]
    except ZeroDivisionError:
        llist_9 = [q for q in [[1, 2], [3]]] + [q for q in [[1, 2], [3]]]
    else:
        iarr_24 = np.array([0, 1, 2, 3])
        llist_25 = sorted([xs, xs]) + [[5, 1, 2], [7, 7], [0, 0]]
ARGUMENTS = [(3, 1.5, True, 'abc', 0, 0, [5, 1], 0.5, 2, 2)]
