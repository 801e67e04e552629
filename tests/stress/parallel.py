"""Eight threads run nested parallel loops, raise from them, are interrupted by signals and fork, all at once; every answer is checked.

    python tests/stress/parallel.py --seconds 600

Prints one line every now and then, and ends with status 1 if an answer was wrong. A hang shows as one: nothing more is printed.
"""

import argparse
import faulthandler
import os
import random
import signal
import sys
import threading
import time

# More than there are processors: it is read when the package is.
os.environ.setdefault("TIERUP_NUM_THREADS", "4")

import numpy as np

from tierup import njit, prange, set_num_threads


@njit(parallel=True)
def inner(a, bad):
    s = 0.0
    for i in prange(len(a)):
        if i == bad:
            raise IndexError(i)
        s += a[i] * 0.1
    return s


@njit(parallel=True)
def outer(m, bad):
    t = 0.0
    out = np.empty(len(m))
    names = []
    for i in prange(len(m)):
        out[i] = inner(m[i], bad if i % 5 == 3 else -1)
        t += out[i]
        if i % 4 == 0:
            names.append(str(i))
    return t, out.sum(), "".join(names)


@njit(parallel=True, nogil=True)
def without_gil(m):
    acc = np.zeros(m.shape[1])
    best, at = -1.0, 0
    for i in prange(len(m)):
        acc += m[i]
        for j in range(m.shape[1]):
            x = (m[i, j] * 7919.0) % 101.0
            if x > best:
                best, at = x, i
    return acc.sum(), best, at


@njit(parallel=True)
def histogram(m):
    h, names = np.zeros(97, np.int64), ["" for _ in range(97)]
    for i in prange(len(m)):
        for j in range(m.shape[1]):
            h[int(m[i, j])] += i + j
        names[i] = str(i) + names[i]
    return (h * h).sum(), "".join(names)


@njit(parallel=True, nogil=True)
def races(n):
    """What comes out is nobody's business, but nothing may break."""
    rows, texts = [[0] for _ in range(3)], ["a" for _ in range(3)]
    for i in prange(n):
        for k in range(20):
            j = (i + k) % 3
            rows[j].append(k)
            if k != i:  # in every iteration it would be an error
                texts[j] = "b" * (k + len(texts[(j + 1) % 3]) % 5)
            if len(rows[j]) > 30:
                rows[j].clear()
    return len(rows) + len(texts)


@njit(parallel=True)
def endless(n):
    for i in prange(n):
        while n > 0:
            pass


def work(seed, until, wrong, counts, expected, m):
    r = random.Random(seed)
    while time.monotonic() < until and not wrong:
        set_num_threads(r.randint(1, 4))
        kind = r.randrange(6)
        try:
            if kind == 0:
                if outer(m, -1) != expected[0]:
                    wrong.append("outer")
            elif kind == 1:
                outer(m, 5)
                wrong.append("nothing was raised")
            elif kind == 2:
                if without_gil(m) != expected[1]:
                    wrong.append("without_gil")
            elif kind == 4:
                if histogram(m) != expected[2]:
                    wrong.append("histogram")
            elif kind == 5:
                if races(200) != 6:
                    wrong.append("races")
            else:
                a = m[r.randrange(len(m))][:r.randrange(1, 300)]
                if abs(inner(a, -1) - 0.1 * a.sum()) > 1e-6:
                    wrong.append("inner")
        except IndexError as e:
            if kind != 1 or e.args != (5,):
                wrong.append(repr(e))
        except Exception as e:
            wrong.append(repr(e))
        counts[kind] += 1


def fork(expected, m):
    """Whether a child gets the right answers."""
    child = os.fork()
    if child == 0:
        faulthandler.dump_traceback_later(30, exit=True)
        os._exit(0 if outer(m, -1) == expected[0] and without_gil(m) == expected[1] and histogram(m) == expected[2] and races(50) == 6 else 1)
    return os.waitpid(child, 0)[1] == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    options = parser.parse_args()
    m = np.arange(30 * 300.0).reshape(30, 300) % 97
    expected = outer(m, -1), without_gil(m), histogram(m)
    races(1)
    endless(0)
    until, wrong, counts = time.monotonic() + options.seconds, [], [0] * 6
    threads = [threading.Thread(target=work, args=(options.seed + k, until, wrong, counts, expected, m)) for k in range(options.threads)]
    for t in threads:
        t.start()
    forks = interrupts = 0
    said = time.monotonic()
    while time.monotonic() < until and not wrong:
        if not fork(expected, m):
            wrong.append("a child")
        forks += 1
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.1)
            endless(100)
            wrong.append("an endless loop ended")
        except KeyboardInterrupt:
            interrupts += 1
        if time.monotonic() - said > 10:
            said = time.monotonic()
            print(f"{counts} calls, {forks} forks, {interrupts} interrupts", flush=True)
    for t in threads:
        t.join()
    print(f"{counts} calls, {forks} forks, {interrupts} interrupts, seed {options.seed}: {'wrong: ' + str(wrong[:3]) if wrong else 'all right'}")
    return 1 if wrong else 0


if __name__ == "__main__":
    def interrupt(*_):
        raise KeyboardInterrupt
    signal.signal(signal.SIGALRM, interrupt)
    sys.exit(main())
