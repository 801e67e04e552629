# Seed 11270, tier0: the process died: a view in a generator's frame was released twice.
@njit
def generator1(p0, p1, *r):
    i8_1_4 = np.array([9, 3, 3, 8], np.int64)[0:4:1]
    for g in p1:
        i8_1_5 = np.flip(i8_1_4)
        yield i8_1_5[0]

@njit
def main(a0):
    t = 0
    for y in generator1(False, a0, 0, 0):
        t += y
    for y in generator1(False, a0, 0, 0):
        break
    return int(t)
ARGUMENTS = [('',), ('ab',), ('a',)]
