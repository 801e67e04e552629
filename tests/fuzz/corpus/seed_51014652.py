# Seed 51014652, tier0, mismatch, ValueError.
@njit
def main(a0, a1, a2, a3, a4):
    float_14 = float(f':{a4:.0f}')
ARGUMENTS = [(1, '', 1, 2, 1e+300)]
