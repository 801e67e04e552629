# Seed 64073, interp: searching a list that stays empty.
@njit
def main(a2, s):
    ilist_13 = sorted((q for q in s if False))
    try:
        ilist_13.remove(a2)
    except ValueError as e:
        print(str(e))
    return ilist_13.count(a2), a2 in ilist_13, ilist_13.index(a2)
ARGUMENTS = [(3, "ab"), (0, "")]
