"""Promotion: hot loops and hot functions reach tier 1, in the background and in the middle of a call, and nothing that can end a process ends it badly."""

import os
import subprocess
import sys
import time

import numpy as np
import pytest

from harness.build import needs_llvm
from harness.processes import HANG, until

tierup = pytest.importorskip("tierup")
from tierup import _tierup

pytestmark = [
    pytest.mark.isolated,
    needs_llvm,
]


# Linux alone lets a process choose its processors.
can_be_alone = pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system does not let a process choose its processors")


def tier(f, index=0):
    return _tierup.history(f, index)[0]


def test_a_running_loop_goes_over():
    @tierup.njit
    def g(a, n):
        s = 0.0
        for k in range(n):
            for i in range(a.shape[0]):
                a[i] = a[i] * 0.5 + k
            s += a[0]
        return s

    def python(a, n):
        s = 0.0
        for k in range(n):
            a[:] = a * 0.5 + k
            s += a[0]
        return s

    n = 200_000
    for _ in range(5):
        assert g(np.arange(1000.0), n) == python(np.arange(1000.0), n)
        if _tierup.history(g, 0)[2]:
            break
        n *= 2
    loops = _tierup.history(g, 0)[2]
    assert loops and loops[0][0].startswith("g"), loops
    until(lambda: tier(g) == 1)
    assert g(np.arange(1000.0), n) == python(np.arange(1000.0), n)


def test_a_nest_goes_over_at_its_outermost_loop_where_its_turns_are_short():
    def made():
        @tierup.njit
        def g(n):
            s = 0
            for k in range(n):
                for i in range(20):
                    for j in range(20):
                        s = (s + i * j + k) % 1_000_003
            return s
        return g

    # A turn that the machine interrupts is a long one.
    for _ in range(5):
        g = made()
        # Long enough for a busy machine, where the ticker gets its turn late.
        g(200_000)
        until(lambda: _tierup.history(g, 0)[2])
        lines = [line - g.py_func.__code__.co_firstlineno for _, line, *_ in _tierup.history(g, 0)[2]]
        if lines == [3]:
            break
    assert lines == [3]
    assert g(50) == g.py_func(50)


def test_a_long_inner_loop_goes_over_itself():
    @tierup.njit
    def g(n, m):
        s = 0
        for k in range(n):
            for i in range(m):
                s = (s + i * k) % 1_000_003
        return s

    first = g.py_func.__code__.co_firstlineno

    def goes_over():
        g(3, 60_000_000)
        return 4 in [line - first for _, line, *_ in _tierup.history(g, 0)[2]]

    until(goes_over)
    assert g(3, 50) == g.py_func(3, 50)


@can_be_alone
def test_on_one_processor_a_long_call_goes_over_and_can_be_stopped():
    code = """
import os, signal, threading, time
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
import tierup
from tierup import _tierup

@tierup.njit
def g(n):
    s = 0
    for i in range(n):
        s = (s * 3 + i) % 1_000_003
    return s

assert g(1000) == g.py_func(1000)
while not _tierup.history(g, 0)[2]:
    g(100_000_000)
threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    g(10**15)
except KeyboardInterrupt:
    print("stopped")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=HANG)
    assert done.stdout == "stopped\n", done.stderr


@can_be_alone
def test_on_one_processor_a_forked_child_does_not_wait_for_what_its_parent_had_queued():
    code = """
import os, threading, time
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
import tierup

def make(k):
    @tierup.njit
    def g(n):
        s = k
        for i in range(n):
            s = (s * 3 + i) % 1_000_003
        return s
    return g

# More than is compiled meanwhile, so that some are still waiting at the fork.
functions = [make(k) for k in range(6)]
for g in functions:
    g(3_000_000)
def spent():
    "Nanoseconds in which this thread slept, and in which other threads ran or wanted to: a machine that does other work makes both longer."
    own = threading.get_native_id()
    times = dict((int(t), sum(map(int, open("/proc/self/task/" + t + "/schedstat").read().split()[:2]))) for t in os.listdir("/proc/self/task"))
    return time.monotonic_ns() - times.pop(own), sum(times.values())
child = os.fork()
if child == 0:
    before = spent()
    for g in functions:
        g(20_000_000)
    asleep, others = (b - a for a, b in zip(before, spent()))
    # It may wait for what its own threads compile, but for nothing else.
    os._exit(0 if asleep < 1.2 * others + 300_000_000 else 1)
assert os.waitpid(child, 0)[1] == 0, "the child waited for what nobody does"
print("done")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=HANG)
    assert done.stdout == "done\n", done.stderr


def test_a_recursion_under_way_is_promoted():
    @tierup.njit
    def fib(n):
        return n if n < 2 else fib(n - 1) + fib(n - 2)

    def right(n):
        a, b = 0, 1
        for _ in range(n):
            a, b = b, a + b
        return a

    for n in range(30, 40):
        assert fib(n) == right(n)
        if tier(fib) == 1:
            break
    assert tier(fib) == 1, "ten calls from Python are too few, so it was the recursion"
    assert fib(25) == right(25)


def test_functions_that_call_each_other_change_tier_together():
    @tierup.njit
    def even(n, a):
        if n == 0:
            return a[0]
        return odd(n - 1, a) + 1.0

    @tierup.njit
    def odd(n, a):
        if n < 0:
            raise ValueError(n)
        return even(n - 1, a) - 0.5

    @tierup.njit
    def total(k, a):
        s = 0.0
        for i in range(k):
            try:
                s += even(2 * (i % 300), a)
                s += odd(i % 2 - 1, a)
            except ValueError:
                s -= 1.0
        return s

    a = np.ones(3)
    with pytest.raises(ValueError):
        odd(0, a)  # even(-1), odd(-2)
    k = 2000
    # odd(0) calls even(-1), which calls odd(-2), which raises: both ways an exception crosses the frames.
    assert total(0, a) == 0.0
    while tier(total) == 0:
        assert total(k, a) == sum(i % 300 * 0.5 + 1.0 - 1.0 for i in range(k))
    assert total(k, a) == sum(i % 300 * 0.5 for i in range(k))


def test_calls_promote():
    @tierup.njit
    def add(a, b):
        return a + b

    add(1, 2)
    assert tier(add) == 0
    for k in range(5000):
        assert add(k, 1) == k + 1
    until(lambda: tier(add) == 1)
    assert add(2, 3) == 5


def test_a_generator_is_promoted_between_resumptions():
    @tierup.njit
    def squares(n):
        for i in range(n):
            yield i * i

    assert sum(squares(10)) == 285
    held = squares(10)
    assert next(held) == 0
    for _ in range(5000):
        next(squares(3))
    until(lambda: tier(squares) == 1)
    assert list(held) == [1, 4, 9, 16, 25, 36, 49, 64, 81]


def test_tier_1_alone():
    tierup.config.tier = "1"

    @tierup.njit
    def f(a):
        return a.sum() + len(a)

    assert f(np.ones(3)) == 6.0
    assert tier(f) == 1


def test_promotion_can_be_off():
    tierup.config.tier = "0"
    before = _tierup.promotions()

    @tierup.njit
    def f(x):
        return x + 1

    for _ in range(5000):
        f(1)
    time.sleep(0.1)
    assert tier(f) == 0 and _tierup.promotions() == before


def run(program, **environment):
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=HANG, env={**os.environ, **environment})
    assert done.returncode == 0, f"exit status {done.returncode}: {done.stdout}{done.stderr}"
    return done.stdout


def test_a_running_loop_finds_its_code_in_the_cache(tmp_path):
    program = """
import sys, time, tierup
from tierup import _tierup
@tierup.njit
def f(n, m):
    s = 0
    for i in range(n):
        s += i % m
    return s
n = 20_000_000
f(1, 7)
while not _tierup.history(f, 0)[2]:
    assert f(n, 7) == n // 7 * 21 + sum(range(n % 7))
print(_tierup.cache_counts()[0])
while WAIT and (_tierup.history(f, 0)[0] == 0 or _tierup.cache_counts()[2] < 2): time.sleep(0.005)
"""
    environment = {"TIERUP_CACHE": "1", "TIERUP_CACHE_DIR": str(tmp_path)}
    assert run(program.replace("WAIT", "True"), **environment) == "0\n"
    entries = _tierup.cache_entries(str(tmp_path))
    whole = [name for name, label, *_ in entries if "from a loop on" not in label]
    assert len(whole) == 1 and len(entries) == 2, entries
    for path in tmp_path.rglob(whole[0]):
        path.unlink()
    assert run(program.replace("WAIT", "False"), **environment) == "1\n", "the loop's own entry"


def test_a_process_may_end_while_something_is_compiled():
    program = """
import tierup
def make(k):
    scope = {}
    exec(f"def f(n):\\n    s = 0.0\\n    for i in range(n):\\n        s += i * {k}.5\\n    return s", scope)
    return tierup.njit(scope["f"])
fs = [make(k) for k in range(12)]
for f in fs:
    for _ in range(1001): f(3)
"""
    for _ in range(5):
        run(program)


def test_a_fork_while_something_is_compiled():
    program = """
import os, tierup
def make(k):
    scope = {}
    exec(f"def f(n):\\n    s = 0.0\\n    for i in range(n):\\n        s += i * {k}.5\\n    return s", scope)
    return tierup.njit(scope["f"])
for k in range(6):
    f = make(k)
    for _ in range(1001): f(3)
    child = os.fork()
    if child == 0:
        g = make(k + 100)
        for _ in range(3000): g(3)
        assert g(3) == 3 * (k + 100.5)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
print("done")
"""
    assert run(program) == "done\n"
