# Seed 2000075, tier0, TypingError: + does not take (list(?10), list(list(int))) [no-matching-operation].
@njit
def main(n, x, b, s, a, k, xs, ys, t, m):
    if ('xyz', [7, 7], 0)[0].endswith(['xyz'][n]):
        if n:
            llist_23 = [0]
        else:
            m = [q for q in xs if q]
            llist_25 = [[1, 2], [3]]
    else:
        str_21 = (s, sorted(xs), [4, 1])
        llist_26 = [[0]] + sorted([[0]])
ARGUMENTS = [(3, 1.5, True, 'abc', 1.0, 0, '', 0.5, 2, '')]
