# Seed 10246, tier0: lists of lists did not unify.
@njit
def helper1(p0, p1):
    if p0:
        return [[0]]
    llist_7 = helper1(p0 + 1, 0)
    return llist_7

@njit
def main(a0):
    if a0[0] < a0[1]:
        a0 = [[q, 1] for q in range(2)]
    ilist_3 = sorted([7, 3], key=lambda q: q)

    def inner_4(q):
        nonlocal ilist_3
        if q:
            ilist_3 = [u + v & 255 for u in ilist_3[:2] for v in ilist_3[:2]]
        return sum(ilist_3)
    a = inner_4(0)
    return a0.copy(), helper1(0, 1), a, inner_4(1), ilist_3
ARGUMENTS = [([[5, 1, 2], [7, 7], [0, 0]],), ([[7], [5]],)]
