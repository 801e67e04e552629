# Seed 90087658, tier0, [backend-error].
@njit
def generator3(p0):
    try:
        yield '|'
    except (IndexError, ZeroDivisionError):
        pass

@njit
def main(a0, a1, a2, a3, a4, a5):
    int_15 = 0
    while True:
        int_15 += 1
        if int_15 > 1:
            return 0
        for str_16 in generator3(a2):
            a2 = 0
ARGUMENTS = [(0, 3, None, 5, 'q', None)]
