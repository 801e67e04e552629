"""The longest Collatz chain below n."""
from peer import njit

ARRAYS = False


def small():
    return 5,


def full():
    return 50_000,


@njit
def run(n):
    best, where = 0, 0
    for start in range(1, n):
        length, x = 1, start
        while x != 1:
            x = x // 2 if x % 2 == 0 else 3 * x + 1
            length += 1
        if length > best:
            best, where = length, start
    return best, where
