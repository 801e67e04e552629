"""Loops over `prange` that follow each other: which become one, what keeps others apart, and that the results and the exceptions are those of two loops."""

import linecache
import os
import sys

import numpy as np
import pytest

tierup = pytest.importorskip("tierup")
from test_parallel import run  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")

N = 1000


def made(body, prange, arguments="a, b, z, n"):
    text = f"def f({arguments}):\n" + "".join(f"    {line}\n" for line in body.strip("\n").split("\n"))
    name = f"<fusion {abs(hash(text))}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    space = {"np": np, "prange": prange}
    exec(compile(text, name, "exec"), space)
    return space["f"]


def args():
    return np.arange(1.0, N + 1), np.cos(np.arange(N)), np.ones(N, np.int64), N


def plain(x):
    return [plain(v) for v in x] if isinstance(x, (tuple, list)) else x.tobytes() if isinstance(x, np.ndarray) else float(x).hex()


def compiled(body, **parallel):
    return tierup.njit(parallel=parallel or True)(made(body, tierup.prange))


def loops(f):
    """(into, why apart) of each loop but the first."""
    report = f.parallel_report()
    return [(loop["into"], loop["apart"] and loop["apart"][1]) for loop in sorted(report.loops, key=lambda loop: loop["line"])[1:]]


JOINED = [
    "c = np.empty(n)\nd = np.empty(n)\nfor i in prange(n):\n    c[i] = a[i] * 2\nfor i in prange(n):\n    d[i] = c[i] + b[i]\nreturn c, d",
    "c = np.empty(n)\nfor i in prange(n):\n    c[i] = a[i] * 2\nd = np.zeros(n)\nfor i in prange(n):\n    d[i] += c[i] + b[i]\nreturn d",
    "c = np.empty_like(a)\nfor i in prange(len(a)):\n    c[i] = a[i] * 2\nd = np.zeros(len(c))\nfor j in prange(c.shape[0]):\n    d[j] += c[j] * c[j]\nreturn d",
    "s = 0.0\nt = 0.0\nfor i in prange(n):\n    s += a[i]\nfor i in prange(n):\n    t = max(t, b[i])\nreturn s, t",
    "c = np.empty(n)\ns = 0.0\nfor i in prange(n):\n    c[i] = np.sqrt(a[i])\nfor i in prange(n):\n    s += c[i]\nreturn c, s",
    "c = np.zeros((n, 3))\ns = 0.0\nfor i in prange(n):\n    for j in range(3):\n        c[i, j] = a[i] * j\nfor i in prange(n):\n    s += c[i, 1]\nreturn c, s",
    "c = np.empty(n)\ns = 0.0\nfor i in prange(n):\n    if b[i] > 0:\n        c[i] = b[i]\n        continue\n    c[i] = -a[i]\nfor i in prange(n):\n    if c[i] < 0:\n        continue\n    s += c[i]\nreturn c, s",
    "c = np.empty(n)\nd = np.empty(n)\nfor i in prange(0, n, 2):\n    c[i] = a[i]\nfor i in prange(0, n, 2):\n    d[i] = c[i]\nfor i in prange(0, n, 2):\n    c[i] = d[i] * 3\nreturn c[::2], d[::2]",
]


@pytest.mark.parametrize("body", JOINED)
def test_loops_that_need_the_same_iteration_alone_are_one(body):
    f, apart = compiled(body), compiled(body, fusion=False)
    want = plain(made(body, range)(*args()))
    assert plain(f(*args())) == plain(apart(*args()))
    if "s +=" not in body:
        assert plain(f(*args())) == want
    first = min(loop["line"] for loop in f.parallel_report().loops)
    assert all(into == first and why is None for into, why in loops(f)) and loops(f), f.parallel_report()
    assert all(into is None and why is None for into, why in loops(apart)), apart.parallel_report()
    assert f"part of the loop of line {first}" in str(f.parallel_report()) and "one loop</text>" in f.parallel_report()._repr_html_()
    assert "over prange; after it 1" in f.parallel_report().diagnostics(2)


APART = [
    ("c = np.empty(n)\nfor i in prange(n):\n    c[i] = a[i]\nfor i in prange(n - 1):\n    c[i] = b[i]\nreturn c", "its range is another one"),
    ("c = np.empty(n)\nd = np.empty(n)\nfor i in prange(n):\n    c[i] = a[i]\nfor i in prange(n):\n    d[i] = c[n - 1 - i]\nreturn d", "an iteration may need elements that other iterations use (lines 5 and 7)"),
    ("c = np.empty(n + 1)\nd = np.empty(n)\nfor i in prange(n):\n    c[i] = a[i]\nfor i in prange(n):\n    d[i] = c[i + 1]\nreturn d[:0]", "an iteration may need elements"),
    ("c = np.zeros(n)\nd = np.zeros(n)\nfor i in prange(n):\n    c[i] = a[i]\nfor i in prange(n):\n    d[z[i]] = 1.0\n    c[i] = 2.0\nreturn c, d", None),
    ("s = 0.0\nc = np.empty(n)\nfor i in prange(n):\n    s += a[i]\nfor i in prange(n):\n    c[i] = s\nreturn c", "it needs a variable that the loop before leaves"),
    ("s = 0.0\nfor i in prange(n):\n    s += a[i]\nfor i in prange(n):\n    s += b[i]\nreturn s", "it needs a variable that the loop before leaves"),
    ("for i in prange(n):\n    a[i] = a[i] * 2\nfor i in prange(n):\n    b[i] = a[i]\nreturn a, b", "may share memory with others"),
    ("c = np.empty(n)\nd = c[::-1]\ne = np.empty(n)\nfor i in prange(n):\n    c[i] = a[i]\nfor i in prange(n):\n    e[i] = d[i]\nreturn e", "has another name"),
    ("c = np.empty(n)\nfor i in prange(n):\n    c[i] = a[i]\nc[0] = c.sum()\nd = np.empty(n)\nfor i in prange(n):\n    d[i] = c[i]\nreturn d", "between the two stands code"),
    ("c = np.empty(n)\nd = np.empty(n)\nfor i in prange(n):\n    c[i] = a[i]\nfor i in prange(n):\n    d[i] = c.sum()\nreturn d", None),
    ("c = np.zeros(n)\nd = np.empty(n)\nfor i in prange(n):\n    c[i] += a[i]\nfor i in prange(n):\n    d[i] = c[i]\nreturn d", "the one before it changes elements that it reads"),
    ("c = np.empty(n)\nd = np.empty(n)\ntry:\n    for i in prange(n):\n        c[i] = a[i]\n    for i in prange(n):\n        d[i] = c[i]\nexcept IndexError:\n    pass\nreturn c, d", None),
]


@pytest.mark.parametrize("body, why", APART)
def test_what_keeps_loops_apart(body, why):
    f = compiled(body)
    want = plain(made(body, range)(*args()))
    got = plain(f(*args()))
    assert got == want or "s +=" in body
    (into, reason), = loops(f)
    assert into is None and reason and (why is None or why in reason), f.parallel_report()
    assert f"not part of the loop of line" in str(f.parallel_report()) and "stroke-dasharray" in f.parallel_report()._repr_html_()


ERRORS = """
c = np.empty(n)
d = np.empty(n)
for i in prange(n):
    c[i] = 1.0 / (a[i] - x)
for i in prange(n):
    d[i] = 1 // z[i] + c[i]
return d
"""


def test_an_exception_of_the_first_loop_comes_before_all_of_the_second_one():
    f = tierup.njit(parallel=True)(made(ERRORS, tierup.prange, "a, b, z, n, x"))
    a, b, z, n = args()
    most, before = tierup.config.num_threads, tierup.get_num_threads()
    try:
        for threads in {1, most}:
            tierup.set_num_threads(threads)
            for zeros in ([], [0], [3, 500], [N - 1]):
                for x in (0.0, 1.0, 4.0, 999.0):
                    z[:] = 1
                    z[zeros] = 0
                    if not zeros and x == 0.0:
                        assert np.isfinite(f(a, b, z, n, x)).all()
                        continue
                    with pytest.raises(ZeroDivisionError) as e:
                        f(a, b, z, n, x)
                    line = e.traceback[-1].lineno + 1
                    assert line == (7 if x == 0.0 else 5), (zeros, x, line)
                    # Python 3.14 has the same words for both.
                    if sys.version_info < (3, 14):
                        assert "float division" in str(e.value) if x else "integer" in str(e.value), e.value
    finally:
        tierup.set_num_threads(before)
    assert [into for into, _ in loops(f)] == [4]


def test_indices_that_are_out_of_range_in_either_loop():
    body = "c = np.empty(n)\nd = np.empty(n)\nfor i in prange(n):\n    c[i] = a[i]\nfor i in prange(n):\n    d[i] = c[i] + b[i]\nreturn d"
    f = compiled(body)
    a, b, z, n = args()
    for a_, b_, line in ((a[:10], b[:3], 5), (a, b[:3], 7), (a[:990], b, 5)):
        with pytest.raises(IndexError) as e:
            f(a_, b_, z, n)
        assert e.traceback[-1].lineno + 1 == line
    assert [into for into, _ in loops(f)] == [4]


def test_ctrl_c_ends_joined_loops_at_once():
    run("""
        @njit(parallel=True)
        def f(a, n):
            c = np.empty(n)
            s = 0.0
            for i in prange(n):
                x = a[i]
                for k in range(100_000_000):
                    x = x * 0.5 + k
                c[i] = x
            for i in prange(n):
                s += c[i]
            return s

        assert f(np.ones(0), 0) == 0.0
        assert [loop["into"] is None for loop in f.parallel_report().loops].count(False) == 1, f.parallel_report()
        # One loop of them takes minutes.
        threading.Timer(1.0, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        try:
            f(np.ones(1000), 1000)
            raise SystemExit("nobody was interrupted")
        except KeyboardInterrupt as e:
            assert "f" in [t.name for t in traceback.extract_tb(e.__traceback__)]
    """, threads=2)
