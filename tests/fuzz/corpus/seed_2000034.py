# Seed 2000034, tier0, TypingError: + does not take (list(list(int)), list(?1)) [no-matching-operation].
@njit
def main(n, x, b, s, a, k, xs, ys, t, m):
    match s:
        case 'é€' | 'a':
            llist_9 = [[u for u in xs for v in xs], xs] + (sorted([[1, 2], [3]]) + [xs])
ARGUMENTS = [(3, 1.5, True, 'abc', 0, 0, [5, 1], 0.5, 2, 2)]
