"""Code of parallel loops that runs only where something is found, or only where nothing is: it raises where the plain loop does, and nowhere else."""

import linecache

import numpy as np
import pytest

tierup = pytest.importorskip("tierup")
pytestmark = pytest.mark.filterwarnings("ignore")

N = 1000


def made(text, prange):
    name = f"<decided {abs(hash(text))}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    space = {"np": np, "prange": prange, "half": tierup.njit(lambda x: 1 // (x % 2)) if prange is not range else (lambda x: 1 // (x % 2))}
    exec(compile(text, name, "exec"), space)
    return space["f"]


def plain_numbers(x):
    """Results without the types of NumPy's scalars."""
    if isinstance(x, (tuple, list, np.ndarray)):
        return [plain_numbers(v) for v in x]
    return x if x is None else bool(x) if isinstance(x, (bool, np.bool_)) else float(x).hex()


def outcome(f, args):
    args = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
    try:
        got = f(*args)
    except (ZeroDivisionError, IndexError, OverflowError, TypeError) as e:
        return type(e).__name__, str(e), None, None
    return "ok", "", plain_numbers(got), [a.tobytes() for a in args if isinstance(a, np.ndarray)]


def program(start, body, result):
    return f"def f(a, z, w, h, n):\n    {start}\n    for i in prange(n):\n" + "".join(f"        {line}\n" for line in body.split("\n")) + f"    return {result}\n"


def inputs():
    """Arrays whose zeros come where the plain loop does not look, where it does, and nowhere."""
    rng = np.random.default_rng(3)
    up, down = np.arange(1.0, N + 1), np.arange(N, 0, -1.0)
    for a in (up, down, rng.permutation(up), np.where(np.arange(N) == 3, 2000.0, rng.permutation(up)), np.where(np.arange(N) < 9, np.nan, up), np.full(N, -5.0)):
        for zeros in ((), (0,), (N - 1,), (500,), tuple(range(4, N)), tuple(range(400, 600)), (int(np.argmax(np.nan_to_num(a, nan=-1.0))),)):
            z = np.ones(N, np.int64)
            z[list(zeros)] = 0
            yield a.copy(), z, np.zeros(N), np.zeros(5), N


FORMS = [
    ("s = True", "s = s and 1 // z[i] > 0", "s"),
    ("s = True", "s = s and a[i] < 500 and 1 // z[i] > 0", "s"),
    ("s = False", "s = s or (a[i] > 900 and 1 // z[i] > 5)", "s"),
    ("s = False; k = -1", "if not s and a[i] > 700:\n    s, k = True, i // z[i]", "s, k"),
    ("s = False; k = -1", "if not s:\n    if a[i] > 700:\n        s, k = True, i // z[i]", "s, k"),
    ("s = None", "if s is None:\n    s = 100 // z[i]", "s"),
    ("m = -1.0; k = 0", "if a[i] > m:\n    m, k = a[i], i // z[i]", "m, k"),
    ("m = -1.0; k = 0", "if a[i] >= m:\n    m, k = a[i], i // z[i]", "m, k"),
    ("m = 1e9; k = 0", "if a[i] < m:\n    k = i // z[i]\n    m = a[i]", "m, k"),
    ("m = -1.0; k = 0", "if not a[i] <= m:\n    m, k = a[i], i // z[i]", "m, k"),
    ("m = None; k = 0", "if m is None or a[i] > m:\n    m, k = a[i], i // z[i]", "m, k"),
    ("m = None; k = 0", "if m is None or not a[i] <= m:\n    m, k = a[i], i // z[i]", "m, k"),
    ("m = (-1.0, 0)", "if a[i] > m[0]:\n    m = (a[i], i // z[i])", "m"),
    ("m = -1.0; k = 0; t = 0", "t += i\nif a[i] > m:\n    m, k = a[i], h[z[i] * 7 - 7]", "m, k, t"),
    ("m = -1.0; k = 0", "if a[i] > m:\n    m, k = a[i], half(z[i])", "m, k"),
    # What the loop writes is not read: it may run again.
    ("m = -1.0; k = 0", "w[i] = a[i] * 2\nif a[i] > m:\n    m, k = a[i], i // z[i]", "m, k, w"),
    # What is read and written must not be done twice.
    ("m = -1.0; k = 0", "w[i] += a[i]\nif a[i] > m:\n    m, k = a[i], i // z[i]", "m, k, w"),
    ("m = -1.0; k = 0; xs = [0.0]", "xs.append(a[i])\nif a[i] > m:\n    m, k = a[i], i // z[i]", "m, k, sum(xs)"),
    # What runs where nothing is found.
    ("m = -1.0", "if a[i] > m:\n    m = a[i]\nelse:\n    q = 1 // z[i]", "m"),
    ("s = True", "if s:\n    s = a[i] < 300\nelse:\n    q = 1 // z[i]", "s"),
    # Elements that are the best.
    ("k = 0", "if a[i] > h[i % 5]:\n    h[i % 5] = a[i]\n    q = 1 // z[i]", "h"),
    ("k = 0", "if a[i] >= h[i % 5]:\n    h[i % 5] = a[i]\n    q = 1 // z[i]", "h"),
    ("g = np.zeros(5)", "if a[i] > h[i % 5]:\n    h[i % 5] = a[i]\n    g[i % 5] = i // z[i]", "h, g"),
    ("g = [0.0] * 5", "if a[i] >= g[i % 5]:\n    g[i % 5] = a[i]\n    q = 1 // z[i]", "g"),
    # In an inner loop.
    ("m = -1.0; k = 0", "for j in range(3):\n    if a[i] + j > m:\n        m, k = a[i] + j, i // z[i]", "m, k"),
]


def same(text, values):
    # Elements of arrays are NumPy's numbers in Python, which do not raise.
    plain, compiled = made(text.replace("z[i]", "int(z[i])"), range), tierup.njit(parallel=True)(made(text, tierup.prange))
    most, before = tierup.config.num_threads, tierup.get_num_threads()
    seen = set()
    try:
        for k, args in enumerate(values):
            want = outcome(plain, args)
            seen.add(want[0])
            for threads in {1, most}:
                tierup.set_num_threads(threads)
                for chunk in (0, 7):
                    with tierup.parallel_chunksize(chunk):
                        got = outcome(compiled, args)
                        assert got[0] == want[0] and (want[0] != "ok" or got[2:] == want[2:]), (k, threads, chunk, got, want)
    finally:
        tierup.set_num_threads(before)
    return seen


@pytest.mark.parametrize("start, body, result", FORMS)
def test_what_is_found_decides_what_raises(start, body, result):
    assert same(program(start, body, result), inputs()) == {"ok", "IndexError" if "* 7" in body else "ZeroDivisionError"}


def test_arrays_that_share_memory_are_not_written_twice():
    text = "def f(x, z, n):\n    a, w = x[1:], x[:-1]\n    m, k = -1.0, 0\n    for i in prange(n):\n        w[2 * i] = a[2 * i] * 3\n        if a[2 * i] > m:\n            m, k = a[2 * i], i // z[i]\n    return m, k, x\n"
    values = [(np.arange(2.0 * N)[::step], z, N // 2) for step in (1, -1) for z in (np.ones(N, np.int64), np.where(np.arange(N) > 300, 0, 1))]
    assert same(text, [(x.copy(), z, n) for x, z, n in values]) == {"ok", "ZeroDivisionError"}
    text = "def f(x, z, n):\n    a, w = x, x\n    m, k = -1.0, 0\n    for i in prange(n):\n        v = a[i]\n        w[i] = v * 3\n        if v > m:\n            m, k = v, i // z[i]\n    return m, k, x\n"
    assert same(text, [(x.copy(), z, n) for x, z, n in values]) == {"ok", "ZeroDivisionError"}


def test_an_exception_of_the_plain_loop_keeps_its_line_and_ends_the_loop():
    text = "def f(a, z, n):\n    m, k = -1.0, 0\n    for i in prange(n):\n        if a[i] > m:\n            m = a[i]\n            k = i // z[i]\n    return m, k\n"
    compiled = tierup.njit(parallel=True)(made(text, tierup.prange))
    z = np.ones(N, np.int64)
    z[700:] = 0
    with pytest.raises(ZeroDivisionError) as e:
        compiled(np.arange(float(N)), z, N)
    assert e.traceback[-1].lineno + 1 == 6


def test_the_report_says_what_must_be_one_piece():
    def f(a, z, w):
        m, k = -1.0, 0
        for i in tierup.prange(len(a)):
            w[i] += a[i]
            if a[i] > m:
                m, k = a[i], i // z[i]
        return m, k

    compiled = tierup.njit(parallel=True)(f)
    compiled(np.ones(4), np.ones(4, np.int64), np.zeros(4))
    assert "one thread runs all iterations in order" in str(compiled.parallel_report()), compiled.parallel_report()

    def g(a, w):
        m, k = -1.0, 0
        for i in tierup.prange(len(a)):
            w[i] += a[i]
            if a[i] > m:
                m, k = a[i], i * 2 + 1
        return m, k

    compiled = tierup.njit(parallel=True)(g)
    compiled(np.ones(4), np.zeros(4))
    assert "in order" not in str(compiled.parallel_report()), compiled.parallel_report()
