# Seed 21886, tier0: generators that never yield.
@njit
def main(a1, a2):
    def made_17(count):
        for g in '':
            break
            yield 0
    for pair_18 in made_17(2):
        a1 = ['' for q in a2] == pair_18
    int_2 = sum([u for u, v in enumerate(0 for q in a2 if False)])
    ilist_28 = sorted((q for q in a2 if False))
    return a1, int_2, len(ilist_28)
ARGUMENTS = [(True, ''), (False, 'abc')]
