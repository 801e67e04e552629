# Seed 2000161, tier0, TypingError: + does not take (list(list(int)), list(?47)) [no-matching-operation].
@njit
def main(n, x, b, s, a, k, xs, ys, t, m):
    if [q for q in xs]:
        llist_2 = [[1]]
    for y in (n for q in ''):
        pass
    try:
        int_12 = [q for q in xs if q]
        try:
            bool_13 = [q for q in xs]
        except LookupError:
            box_14 = (':', sorted([n]), [5, 5][2] * ('a', [1, 2], np.array([0.0, 1.0, 2.0, 3.0]))[2])
        except LookupError:
            ys = [q for q in ys]
        llist_17 = [[q, 0] for q in range(2)]
        for int_18 in '':
            pass
        else:
            llist_17 = [[q, 97] for q in range(2)]
        if b:
            pass
        else:
            pair_26 = [q for q in xs if q]
            n = len([[1, 2], [3]])
        llist_30 = [xs, [[5, 1, 2], [7, 7], [0, 0]][n]]
        if [q for q in xs]:
            return k
        else:
            try:
                opt_32 = n
            except IndexError:
                slist_33 = list([c for c in s])
                ys = [q for q in '']
                opt_34 = [q for q in xs]
            slist_36 = ['xyz'][True:sum([u for u, v in zip(xs, xs)])] + ['', 'xyz', 'a']
            match n:
                case 0:
                    slist_38 = list('')
    except IndexError:
        x = ['xyz', 'xyz', '']
        bool_42 = [q for q in xs]
        llist_43 = sorted([[1, 2], [3]]) + [q for q in [[0]]]
    finally:
        box_53 = ('xyz', [2, 7], np.array([1.5, 0.5, 2.0]))
ARGUMENTS = [(2, 0.0, False, '', 0, 0, [0], '', 1, 0)]
