"""Pi by throwing darts, with a linear congruential generator of its own."""
from peer import njit

ARRAYS = False


def small():
    return 3,


def full():
    return 2_000_000,


@njit
def draw(state):
    return (1103515245 * state + 12345) % 2147483648


@njit
def run(n):
    state, inside = 42, 0
    for _ in range(n):
        state = draw(state)
        x = state / 2147483648.0
        state = draw(state)
        y = state / 2147483648.0
        if x * x + y * y < 1.0:
            inside += 1
    return 4.0 * inside / n
