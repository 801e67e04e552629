# Seed 90078872, tier0, [internal-error].
@njit
def main(a0, a1, a2, a3, a4, a5):
    if 0:
        pass
    else:
        try:
            for int_42 in range(0, 6, 2):
                a5 = 0
        except ZeroDivisionError:
            pass
    if False:
        pass
    elif a5:
        pass
ARGUMENTS = [(4, 4, 0, 2147483647, 0, None)]
