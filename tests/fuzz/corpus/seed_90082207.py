# Seed 90082207, tier0, [internal-error].
from collections import namedtuple
Point = namedtuple('Point', 'x y')

@njit
def main(a0, a1, a2, a3):
    match Point(y=1.5, x=4):
        case Point(int_12, float_13):
            ilist_19 = (0 for q in '' if 0)
            float_13 %= np.array([q for q in ilist_19])
ARGUMENTS = [('q', 0, 0, 0)]
