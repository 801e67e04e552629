# Seed 2000053, tier0, TypingError: + does not take (list(list(int)), list(?10)) [no-matching-operation].
@njit
def main(n, x, b, s, a, k, xs, ys, t, m):
    match 1.0:
        case 7:
            llist_4 = sorted([[1, 2], [3]]) + [[5, 1, 2], [7, 7], [0, 0]].copy()

    def inner_18(v):
        if int_1:
            pass
    if n:
        pass
    elif '':
        pass
    else:
        int_1 = n
ARGUMENTS = [(3, 1.5, True, 'abc', 0, 0, 5, 0.5, 2, 0)]
