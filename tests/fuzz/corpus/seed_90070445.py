# Seed 90070445, tier0, [internal-error].
@njit
def main(a0, a1, a2):
    if 0:
        pass
    elif 0:
        pass
    else:
        ilist_69 = (0 for q in '' if False)
        match str(0):
            case 'a':
                f8_1_56 = np.array([q for q in ilist_69])
ARGUMENTS = [(2147483647, 0, 7.75)]
