"""Conway's game on a torus."""
import numpy as np
from peer import njit


def make(n):
    return ((np.arange(n * n) * 7919) % 5 < 2).astype(np.int8).reshape(n, n),


def small():
    return *make(4), 2


def full():
    return *make(200), 10


@njit
def run(board, steps):
    n, m = board.shape
    for _ in range(steps):
        new = np.zeros_like(board)
        for i in range(n):
            for j in range(m):
                alive = 0
                for di in range(-1, 2):
                    for dj in range(-1, 2):
                        if di != 0 or dj != 0:
                            alive += board[(i + di) % n, (j + dj) % m]
                if alive == 3 or (alive == 2 and board[i, j] == 1):
                    new[i, j] = 1
        board = new
    return board.sum()
