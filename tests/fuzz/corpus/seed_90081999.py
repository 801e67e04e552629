# Seed 90081999, tier0, [backend-error].
@njit
def generator1(p0, p1, p2, *r):
    try:
        yield 0
    except (IndexError, ZeroDivisionError):
        pass

@njit
def main(a0, a1, a2, a3):
    for float_13, ilist_14 in '':
        for float_16 in generator1(a0, 0, ''):
            a0 = None
ARGUMENTS = [(4, 'a', '', 3.0)]
