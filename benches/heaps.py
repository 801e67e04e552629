"""Heaps: shortest paths, and a million elements through a heap, beside Numba and CPython's own `heapq`.

    python benches/heaps.py [--numba PYTHON] [--rounds 5]

Each side runs in a process of its own, one after the other in every round; what is printed is the median of processor time, in milliseconds.
"""

import heapq
import time

import sides


def through_heap(values):
    heap = [values[0]]
    for i in range(1, len(values)):
        heapq.heappush(heap, values[i])
    out = [values[0]]
    for i in range(len(values)):
        out.append(heapq.heappop(heap))
    return len(out)


def pairs_through_heap(values):
    heap = [(values[0], 0)]
    for i in range(1, len(values)):
        heapq.heappush(heap, (values[i], i))
    last = 0
    for i in range(len(values)):
        last = heapq.heappop(heap)[1]
    return last


def heapified(values):
    heap = [x for x in values]
    heapq.heapify(heap)
    last = heap[0]
    for i in range(len(values)):
        last = heapq.heappop(heap)
    return last


def shortest_paths(first, to, weight, found):
    found[0] = 0.0
    heap = [(0.0, 0)]
    while len(heap) > 0:
        d, at = heapq.heappop(heap)
        if d > found[at]:
            continue
        for e in range(first[at], first[at + 1]):
            b = to[e]
            x = d + weight[e]
            if x < found[b]:
                found[b] = x
                heapq.heappush(heap, (x, b))
    return found[1]


def cases(size):
    import numpy as np

    rng = np.random.default_rng(1)
    nodes, degree = size // 10, 8
    edges = nodes * degree
    graph = np.arange(0, edges + 1, degree), rng.integers(0, nodes, edges), rng.random(edges), np.full(nodes, np.inf)
    floats, ints = rng.random(size), rng.integers(0, size, size)
    return [
        ("shortest paths", shortest_paths, graph),
        ("floats", through_heap, (floats,)),
        ("ints", through_heap, (ints,)),
        ("pairs", pairs_through_heap, (floats,)),
        ("heapify", heapified, (floats,)),
    ]


def run(side, size):
    compiled = sides.decorator(side)
    times = {}
    for name, f, args in cases(size):
        f = compiled(f) if compiled else f
        for k in range(3 if compiled else 1):
            # Lists are what CPython is fast with.
            given = [a.copy() if compiled else a.tolist() for a in args]
            begin = time.process_time()
            f(*given)
            times[name] = 1000 * (time.process_time() - begin)
            if compiled and k < 2:
                # The background compiles what was hot.
                time.sleep(0.5)
    return times


def main():
    for name, times in sides.medians(__doc__, __file__, run).items():
        print(f"{name:16}" + "".join(f"{side} {t:7.0f}   " for side, t in times.items()))


if __name__ == "__main__":
    main()
