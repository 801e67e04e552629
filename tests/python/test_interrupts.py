"""Ctrl-C stops what runs, wherever it is: loops, recursion, generators, array kernels, the run-time's own functions, other threads."""

import signal
import subprocess
import sys

import pytest
from harness.processes import HANG, interrupted, seconds_run, until

pytest.importorskip("tierup")

LOOPS = {
    "a loop": "def f(n):\n    while n == 1:\n        pass",
    "a counted loop": "def f(n):\n    s = 0.0\n    for i in range(10**15):\n        s += i\n    return s",
    "a short loop in a loop": "def f(n):\n    s = 0.0\n    while n == 1:\n        for i in range(4):\n            s += i\n    return s",
    "a handler that takes Exception": "def f(n):\n    i = 0\n    while n == 1:\n        try:\n            for k in range(100):\n                i += k\n        except Exception:\n            i = 0",
    "finally": "def f(n):\n    i = 0\n    while n == 1:\n        try:\n            i += 1\n        finally:\n            i += 2",
    "recursion without loops": "def fib(n):\n    return n if n < 2 else fib(n - 1) + fib(n - 2)\n@njit\ndef f(n):\n    return fib(n + 90)",
    "mutual recursion": "def a(n):\n    return n if n < 2 else b(n - 1) + b(n - 2)\ndef b(n):\n    return n if n < 2 else a(n - 1) + a(n - 2)\n@njit\ndef f(n):\n    return a(n + 90)",
    "a generator": "def g():\n    i = 0\n    while True:\n        i += 1\n        if i < 0:\n            yield i\n@njit\ndef f(n):\n    for x in g():\n        return x\n    return 0",
    "a generator that Python drives": "def g():\n    i = 0\n    while True:\n        i += 1\n        if i < 0:\n            yield i\ndef f(n):\n    return next(g())",
    "a generator expression": "def f(n):\n    return sum(i for i in range(10**15))",
    "filters one behind the other": "def few(xs):\n    for x in xs:\n        if x < 0:\n            yield x\n@njit\ndef f(n):\n    return sum(few(few(i for i in range(10**15))))",
    "a comprehension": "def f(n):\n    return len([i for i in range(10**15) if i < n])",
    "map": "def f(n):\n    return any(map(lambda x: x < 0, range(10**15)))",
    "small array operations": "def f(n):\n    a = np.ones(3)\n    while n == 1:\n        a = a * 1.0\n    return a",
    "printing": "def f(n):\n    while n == 1:\n        print(end='')",
    "sleeping": "def f(n):\n    time.sleep(1000)",
}
# One call of these runs for many seconds.
KERNELS = {
    "an array expression": "def f(n):\n    a = np.full(20_000_000, 1.5)\n    return np.arctan(np.sin(np.tan(np.exp(np.log(np.sin(np.arctan(np.sin(np.tan(np.exp(a)))))))))).sum()",
    "a broadcast one": "def f(n):\n    a = np.full((5000, 1), 1.5)\n    b = np.full((1, 5000), 1.5)\n    return np.arctan(np.sin(np.tan(np.exp(np.log(np.sin(np.arctan(np.sin(np.tan(np.exp(a + b)))))))))).sum()",
    "a product of matrices": "def f(n):\n    a = np.ones((5000, 5000))\n    return (a @ a @ a)[0, 0]",
    "a gather": "def f(n):\n    i = np.arange(20_000_000) * 48271 % 20_000_000\n    return i[i][i][i][i][i][i][i][i][i][i].sum()",
    "a search": "def f(n):\n    a = np.arange(10_000_000.0)\n    return np.searchsorted(a, np.searchsorted(a, a * 48271 % 10_000_000) * 48271 % 10_000_000).sum()",
    "a sort": "def f(n):\n    a = (np.arange(60_000_000) * 48271 % 60_000_001).astype(np.float64)\n    a.sort()\n    return a[0]",
    "an order": "def f(n):\n    a = (np.arange(20_000_000) * 48271 % 60_000_001).astype(np.float64)\n    return np.argsort(a)[0]",
    "a sort of a list": "def f(n):\n    xs = [float(i * 48271 % 60_000_001) for i in range(10_000_000)]\n    xs.sort()\n    return xs[0]",
    "a sort by keys": "def f(n):\n    xs = [(i * 48271 % 60_000_001, str(i)) for i in range(4_000_000)]\n    xs.sort(key=lambda x: -x[0])\n    return xs[0]",
    "running sums": "def f(n):\n    a = np.full(100_000_000, 1.5)\n    return np.cumsum(np.cumsum(np.cumsum(a)))[0]",
    "copies against the grain": "def f(n):\n    a = np.ones((9000, 9000))\n    return a.T.copy().T.copy().T.astype(np.float32)[0, 0]",
    "a full correlation": "def f(n):\n    a = np.ones(1_000_000)\n    return np.convolve(a, a)[0]",
}
OPTIONS = {"nogil": "(nogil=True)", "no bounds checks": "(boundscheck=False)", "overflow checks": "(overflow='raise')"}

HEAD = "import sys, threading, time\nimport numpy as np\nfrom tierup import njit\n"
CALL = """
print("ready", flush=True)
try:
    f(1)
    print("finished")
except KeyboardInterrupt as e:
    import traceback
    print("stopped", *{t.name for t in traceback.extract_tb(e.__traceback__)} & {"f"})
"""


def stopped(program, after=0.2):
    """What is said of an interrupt once the program has run for that long, or (`after=None`) sleeps. What would go on for ever was stopped if it ended at all."""
    out, err = interrupted(HEAD + program, after=after)
    return out or err


def check(program, after=0.2):
    # The exception comes out of `f`, not out of what runs behind it.
    assert stopped(program, after) == "stopped f"


@pytest.mark.parametrize("name", LOOPS)
def test_ctrl_c_stops(name):
    check("@njit\n" + LOOPS[name] + CALL, None if name == "sleeping" else 0.2)


# A kernel that did not look for signals would end, and the exception be raised behind it.
@pytest.mark.parametrize("name", KERNELS)
def test_ctrl_c_stops_long_kernels(name):
    assert stopped("@njit\n" + KERNELS[name] + CALL) in ("stopped f", "finished")


@pytest.mark.parametrize("option", OPTIONS)
def test_ctrl_c_stops_code_with_options(option):
    check(f"@njit{OPTIONS[option]}\n" + LOOPS["a loop"] + CALL)


def test_ctrl_c_reaches_the_main_thread_while_another_computes():
    check("@njit\ndef g(n):\n    i = 0\n    while True:\n        i = (i + n) % 7\nthreading.Thread(target=g, args=(1,), daemon=True).start()\ndef f(n):\n    while True:\n        time.sleep(0.01)" + CALL)


def test_ctrl_c_stops_the_main_thread_while_others_compute():
    check("@njit\ndef f(n):\n    i = 0\n    while True:\n        i = (i + n) % 7\nfor _ in range(3):\n    threading.Thread(target=f, args=(1,), daemon=True).start()" + CALL)


def test_other_threads_run_while_compiled_code_runs():
    program = ("@njit\ndef f(n):\n    i = 0\n    while n == 1:\n        i = (i + n) % 7\n"
               "def late():\n    time.sleep(0.2)\n    print('ran', flush=True)\n    import os, signal\n    os.kill(os.getpid(), signal.SIGINT)\nthreading.Thread(target=late).start()\n"
               "try:\n    f(1)\nexcept KeyboardInterrupt:\n    print('stopped')\n")
    done = subprocess.run([sys.executable, "-c", HEAD + program], capture_output=True, text=True, timeout=HANG)
    assert done.stdout.split() == ["ran", "stopped"], done.stdout + done.stderr


def test_a_signal_handler_runs_and_the_loop_goes_on():
    program = """
import signal
seen = []
signal.signal(signal.SIGALRM, lambda *a: seen.append(1))
signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
@njit
def f(n):
    i = 0
    for k in range(n):
        i = (i + k) % 7
    return i
while len(seen) < 3:
    f(20_000_000)
signal.setitimer(signal.ITIMER_REAL, 0)
print(f(3))
"""
    done = subprocess.run([sys.executable, "-c", HEAD + program], capture_output=True, text=True, timeout=HANG)
    assert done.stdout.strip() == "3", done.stdout + done.stderr


def test_a_handler_of_the_users_decides_what_is_raised():
    program = """
import signal
class Stop(Exception):
    pass
def handler(*a):
    raise Stop("enough")
signal.signal(signal.SIGINT, handler)
@njit
def f(n):
    while n == 1:
        pass
print("ready", flush=True)
try:
    f(1)
except Stop as e:
    import traceback
    print("stopped", e, [t.name for t in traceback.extract_tb(e.__traceback__)][:2])
"""
    assert stopped(program) == "stopped enough ['<module>', 'f']"


def test_nothing_is_lost_by_an_interrupt():
    # What was alive is released, and everything works afterwards.
    program = """
@njit
def f(a, xs, n):
    b = a + 1
    ys = [a, b]
    while n == 1:
        b = b + ys[0]
        xs[0] += 1
    return b.sum() + len(ys)
a, xs = np.ones(100), [1, 2]
f(a, xs, 0)
before = sys.getrefcount(a), sys.getrefcount(xs)
print("ready", flush=True)
try:
    f(a, xs, 1)
except KeyboardInterrupt:
    pass
print("stopped", (sys.getrefcount(a), sys.getrefcount(xs)) == before, xs[0] > 1, f(a, [1], 0))
"""
    assert stopped(program) == "stopped True True 202.0"


def test_a_program_that_starts_with_ctrl_c_ignored_ignores_it():
    # As Python does: `program &` in a script, and nohup, mean it.
    program = """
import signal
class Stop(Exception):
    pass
def stop(*a):
    raise Stop
signal.signal(signal.SIGUSR1, stop)
@njit
def f(n):
    while n == 1:
        pass
f(0)
print("ready", flush=True)
try:
    f(1)
except Stop:
    print("stopped by the other signal")
"""
    child = subprocess.Popen([sys.executable, "-c", HEAD + program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
    try:
        assert child.stdout.readline() == "ready\n"
        for _ in range(3):
            begin = seconds_run(child.pid)
            child.send_signal(signal.SIGINT)
            until(lambda: seconds_run(child.pid) - begin > 0.1 or child.poll() is not None)
        child.send_signal(signal.SIGUSR1)
        assert child.communicate(timeout=HANG) == ("stopped by the other signal\n", "")
    finally:
        child.kill()
        child.wait()
