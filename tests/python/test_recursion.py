"""Endless recursion is a RecursionError on every way that calls can lead back, from every thread. Each program runs in a process of its own: what fails here crashes."""

import subprocess
import sys
import textwrap

import pytest
from harness.processes import HANG

pytest.importorskip("tierup")

PROGRAMS = {
    "itself": "@njit\ndef f(n):\n    return f(n + 1) + 1 if n >= 0 else 0",
    "each other": "@njit\ndef f(n):\n    return g(n + 1) + 1\n@njit\ndef g(n):\n    return 0 if n < 0 else f(n + 1) + 1",
    "plain Python callees": "def g(n):\n    return f(n) if n >= 0 else 0\n@njit\ndef f(n):\n    return g(n + 1)",
    "a function argument": "@njit\ndef via(f, n):\n    return 0 if n < 0 else f(f, n + 1) + 1\n@njit\ndef f(n):\n    return via(via, n)",
    "a closure": "@njit\ndef f(n):\n    def inner(m):\n        return f(m + 1) if m >= 0 else 0\n    return inner(n)",
    "a generator": "@njit\ndef g(n):\n    if n < 0:\n        yield 0\n    for x in g(n + 1):\n        yield x + 1\n@njit\ndef f(n):\n    s = 0\n    for x in g(n):\n        s += x\n    return s",
    "a generator that Python drives": "@njit\ndef g(n):\n    if n < 0:\n        yield 0\n    for x in g(n + 1):\n        yield x + 1\ndef f(n):\n    return list(g(n))",
    "a generator expression": "@njit\ndef f(n):\n    return sum(f(n + 1) for _ in range(1)) if n >= 0 else 0",
    "map": "@njit\ndef f(n):\n    return sum(map(f, [n + 1])) if n >= 0 else 0",
    "a sort key": "@njit\ndef g(xs):\n    def key(x):\n        return g(xs)\n    return sorted(xs, key=key)[0]\n@njit\ndef f(n):\n    return g([n, n])",
    "with a list alive": "@njit\ndef f(n):\n    xs = [n, n]\n    return len(xs) + f(n + 1) if n >= 0 else 0",
    "with an array alive": "@njit\ndef f(n):\n    a = np.zeros(10)\n    a[0] = f(n + 1) if n >= 0 else 0.0\n    return a[0]",
    "in try and finally": "@njit\ndef f(n):\n    try:\n        return f(n + 1) if n >= 0 else 0\n    finally:\n        n = 0",
    "with defaults": "@njit\ndef f(n, k=None):\n    return f(n + 1) if n >= 0 else 0",
}

# Python gives threads of 32 KiB at least; the compiler needs more and must find it.
CALLS = """
def call():
    try:
        return f(0)
    except RecursionError as e:
        return str(e)
answers = []
if sys.argv[1] == "main":
    answers.append(call())
else:
    threading.stack_size(int(sys.argv[1]))
    for _ in range(2):
        t = threading.Thread(target=lambda: answers.append(call()))
        t.start()
        t.join()
print(set(answers), f(-5) if "g" not in globals() else "")
"""


def run(program, *arguments):
    source = "import sys, threading\nimport numpy as np\nfrom tierup import njit\n" + program
    done = subprocess.run([sys.executable, "-c", source, *arguments], capture_output=True, text=True, timeout=HANG)
    assert done.returncode == 0, f"exit status {done.returncode}: {done.stdout}{done.stderr}"
    return done.stdout


@pytest.mark.parametrize("thread", ["main", str(64 << 10), str(1 << 20), str(256 << 20)])
@pytest.mark.parametrize("name", PROGRAMS)
def test_endless_recursion_is_an_error(name, thread):
    assert run(PROGRAMS[name] + "\n" + CALLS, thread).startswith("{'maximum recursion depth exceeded'}")


def test_the_error_has_a_traceback_and_can_be_handled():
    program = PROGRAMS["itself"] + textwrap.dedent("""
        import traceback
        @njit
        def handles(n):
            try:
                return f(n)
            except RecursionError:
                return -1
        try:
            f(0)
        except RecursionError as e:
            frames = traceback.extract_tb(e.__traceback__)
            print({t.name for t in frames[1:]}, len(frames) <= 1200, handles(0), f(-1))
    """)
    assert run(program) == "{'f'} True -1 0\n"


@pytest.mark.parametrize("depth", [50, 5000])
def test_deeply_nested_arguments(depth):
    program = f"""
import tierup
@njit
def f(x):
    return 1
x = 1
for _ in range({depth}):
    x = (x,)
itself = []
itself.append(itself)
for value in (x, itself):
    try:
        print(f(value))
    except tierup.TypingError as e:
        print("refused" if "that is more than" in str(e) else e)
"""
    assert run(program).split() == (["1"] if depth == 50 else ["refused"]) + ["refused"]


def test_a_deep_chain_of_suspended_generators_is_dropped():
    program = """
@njit
def g(n):
    if n == 0:
        yield 0
    else:
        for x in g(n - 1):
            yield x + 1
threading.stack_size(64 << 10)
for depth in (10, 1000, 20000):
    its = [g(depth)]
    print(next(its[0]))
    dropper = threading.Thread(target=its.clear)
    dropper.start()
    dropper.join()
"""
    assert run(program).split() == ["10", "1000", "20000"]


def test_a_long_chain_of_exceptions_is_raised_and_dropped():
    program = """
@njit
def f(n):
    e = ValueError("first")
    for i in range(n):
        try:
            raise ValueError("next") from e
        except ValueError as again:
            e = again
    raise e
for n in (10, 200000):
    try:
        f(n)
    except ValueError as e:
        print(e)
"""
    assert run(program).split() == ["next", "next"]
