"""Dicts and sets: a million updates, look-ups and steps of an iteration with keys that are ints, pairs and strings, and the operations of sets, beside Numba and CPython.

    python benches/dicts.py [--numba PYTHON] [--rounds 5] [--size 1000000]

Tables are made inside of the call. Each side runs in a process of its own, one after the other in every round; what is printed is the median of processor time, in milliseconds, and the ratio of Tierup's to each of the others, with the geometric mean of those.
"""

import statistics
import time

import sides


def updates(keys, n):
    d = dict()
    for _ in range(n // len(keys)):
        for k in keys:
            d[k] = 1
    return len(d)


def counts(keys, n):
    d = dict()
    for _ in range(n // len(keys)):
        for k in keys:
            if k in d:
                d[k] += 1
            else:
                d[k] = 1
    return len(d)


def lookups(keys, n):
    d = dict()
    for k in keys:
        d[k] = 2
    total = 0
    for _ in range(n // len(keys)):
        for k in keys:
            if k in d:
                total += d[k]
    return total


def iterations(keys, n):
    d = dict()
    for k in keys:
        d[k] = 3
    total = 0
    for _ in range(n // len(keys)):
        for v in d.values():
            total += v
    return total


def pair_updates(side, n):
    d = dict()
    for _ in range(n // (side * side)):
        for i in range(side):
            for j in range(side):
                d[(i, j)] = 0.5
    return len(d)


def pair_lookups(side, n):
    d = dict()
    for i in range(side):
        for j in range(side):
            d[(i, j)] = i + 0.5
    total = 0.0
    for _ in range(n // (side * side)):
        for i in range(side):
            for j in range(side):
                if (i, j + 1) in d:
                    total += d[(i, j)]
    return total


def pair_iterations(side, n):
    d = dict()
    for i in range(side):
        for j in range(side):
            d[(i, j)] = i + 0.5
    total = 0.0
    for _ in range(n // (side * side)):
        for (i, j), v in d.items():
            total += v * i + j
    return total


def set_operations(a, b, n):
    s, t = set(a), set(b)
    total = 0
    for _ in range(n // (len(a) * 4)):
        total += len(s | t) + len(s & t) + len(s - t) + len(s ^ t)
    return total


def set_members(a, b, n):
    s = set()
    total = 0
    for _ in range(n // (len(a) * 2)):
        for x in a:
            s.add(x)
        for x in b:
            if x in s:
                total += 1
    return total


def cases(n):
    import numpy as np

    rng = np.random.default_rng(1)
    few, many = rng.integers(0, 1000, 10_000), rng.integers(0, 1 << 60, n // 5)
    row = np.arange(n // 10)
    words = [f"word{k}" for k in rng.integers(0, 5000, 10_000)]
    ints = [(f"int {what}", f, (keys, n)) for what, keys in (("few", few), ("many", many), ("row", row)) for f in (updates, counts, lookups, iterations)]
    strings = [("str", f, (words, n)) for f in (updates, counts, lookups, iterations)]
    pairs = [("pair", f, (100, n)) for f in (pair_updates, pair_lookups, pair_iterations)]
    sets = [("set", f, (few, few + 500, n)) for f in (set_operations, set_members)]
    return [(f"{kind} {f.__name__}", f, args) for kind, f, args in ints + pairs + strings + sets]


def timed(f, args):
    begin = time.process_time()
    f(*args)
    return 1000 * (time.process_time() - begin)


def run(side, n):
    import numpy as np

    compiled = sides.decorator(side)
    if side == "numba":
        from numba.typed import List
    times = {}
    for name, f, args in cases(n):
        f = compiled(f) if compiled else f
        # Lists are what CPython is fast with, and lists of its own what Numba is.
        given = [a.tolist() if isinstance(a, np.ndarray) and not compiled else List(a) if side == "numba" and isinstance(a, list) else a for a in args]
        if compiled:
            for _ in range(2):
                # The background compiles what was hot.
                f(*given)
                time.sleep(0.5)
        times[name] = min(timed(f, given) for _ in range(3 if compiled else 1))
    return times


def main():
    groups = {}
    for name, times in sides.medians(__doc__, __file__, run).items():
        text = f"{name:24}tierup {times['tierup']:8.2f}   "
        for side, t in times.items():
            if side != "tierup":
                ratio = times["tierup"] / t
                text += f"{side} {t:8.2f} ({ratio:5.2f} x)   "
                groups.setdefault((name.split()[0], side), []).append(ratio)
        print(text)
    for (kind, side), ratios in groups.items():
        print(f"{kind}: {statistics.geometric_mean(ratios):.3f} of {side}'s time")


if __name__ == "__main__":
    main()
