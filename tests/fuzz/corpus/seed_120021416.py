# Seed 120021416, tier0, mismatch, ZeroDivisionError.
@njit
def main(a0, a1, a2, a3, a4, a5):
    maybe_8 = 0 if [1e+300] else None
    float_9 = maybe_8
    float_10 = divmod(0.001, float_9)
ARGUMENTS = [('q', 1.5, 1, 1, 0, 0)]
