"""`tierup.par` beyond what mdtests compare: the same bits at any number of threads, calls from Python, Ctrl-C, many tasks and threads at once, what is
left behind, forks, the public names."""

import ast
import inspect
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from harness.processes import HANG, interrupted

tierup = pytest.importorskip("tierup")
HEAD = "import operator, os, sys, threading\nimport numpy as np\nimport tierup\nfrom tierup import njit, par, prange\n"
TIERS = ["0", "1", "off"]


def run(text, threads=4, tier="0", **environment):
    """What a program prints, in a process with so many threads for parallel loops."""
    environment = {**os.environ, "TIERUP_NUM_THREADS": str(threads), "TIERUP_TIER": tier, **environment}
    done = subprocess.run([sys.executable, "-c", HEAD + textwrap.dedent(text)], capture_output=True, text=True, timeout=HANG, env=environment)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout


BITS = """
    import hashlib
    def put(a, b):
        return a + b * 1.0000001

    @njit(parallel=True)
    def results(a, xs):
        return (par.map(lambda x: x * x * x + 1e-3, a), par.reduce(operator.add, a), par.reduce(put, a, 0.5), par.scan(put, a),
                par.scan(operator.add, a, 0.25), par.filter(lambda x: x > 0.1, a), np.array(par.scan(operator.add, xs)), par.reduce(operator.add, xs))

    found = hashlib.sha256()
    for n in (1, 100, 128, 129, 1000, 50_003):
        a = (np.arange(n) * 48271 % 65537 / 65537 - 0.5) * 10.0 ** (np.arange(n) % 9 - 4)
        for r in results(a, a.tolist()):
            found.update(np.asarray(r, np.float64).tobytes())
    print(found.hexdigest())
"""


def test_the_bits_are_the_same_at_any_number_of_threads_and_in_python():
    assert len({run(BITS, threads, tier) for threads, tier in ((1, "0"), (2, "0"), (5, "0"), (4, "1"), (1, "off"))}) == 1


def test_a_sum_has_the_bits_of_a_parallel_loop():
    assert run("""
        @njit(parallel=True)
        def loop(a):
            s = 0.0
            for i in prange(len(a)):
                s += a[i]
            return s

        @njit
        def total(a):
            return par.reduce(operator.add, a, 0.0)

        for n in (0, 1, 128, 129, 10_007):
            a = np.sin(np.arange(float(n))) * 10.0 ** (np.arange(n) % 7)
            print(total(a) == loop(a) == par.reduce(operator.add, a, 0.0))
    """).split() == ["True"] * 5


def test_python_calls_compiled_functions():
    assert run("""
        @njit
        def square(x):
            return x * x

        @njit
        def add(x, y):
            return x + y

        @njit
        def fails(x):
            if x > 1:
                raise ValueError("at " + str(x))
            return x

        a = np.arange(300.0)
        print(par.map(square, a)[:3], par.map(square, [1, 2]), par.map(add, a, a)[:2], par.reduce(add, range(1000)), par.reduce(add, [], 3))
        print(par.scan(add, np.arange(4)), par.scan(add, [1, 2], 0), par.filter(square, [0, 1, 2]), par.map(square, {1: 2}))
        try:
            par.map(fails, list(range(500)))
        except ValueError as e:
            print(e)
        try:
            par.reduce(add, [])
        except TypeError as e:
            print(e)
        # What no list of compiled code holds is passed one by one.
        print(par.map(square, [1, np.arange(3)]), par.map(str, [object]))
    """).splitlines() == ["[0. 1. 4.] [1, 4] [0. 2.] 499500 3", "[0 1 3 6] [0, 1, 3] [1, 2] [1]", "at 2",
                          "reduce() of empty iterable with no initial value", "[1, array([0, 1, 4])] [\"<class 'object'>\"]"]


WAITING = """
def spins(ch):
    x = 0.0
    while x >= 0.0:
        x += 1.0
    ch.send(1)

def waits(ch):
    ch.receive()

@njit
def f(n):
    ch = par.Channel[int]()
    if n == 0:
        ch.send(1)
    with par.tasks() as t:
        t.spawn(spins, ch)
        t.spawn(waits, ch)
        {block}

print("ready", flush=True)
try:
    f(1)
    print("finished")
except KeyboardInterrupt:
    print("stopped")
"""


@pytest.mark.parametrize("mode", ["0", "1"])
@pytest.mark.parametrize("block", ["ch.receive()", "pass", "spins(ch)"])
def test_ctrl_c_stops_tasks(mode, block):
    out, err = interrupted(HEAD + f"tierup.config.tier = {mode!r}\n" + WAITING.format(block=block), after=0.2)
    assert out.split()[-1] == "stopped", out + err


def test_ctrl_c_stops_tasks_that_wait_in_python():
    waits_for_an_event = WAITING.replace("    x = 0.0\n    while x >= 0.0:\n        x += 1.0\n", "    event.wait(5)\n").format(block="ch.receive()")
    out, err = interrupted(HEAD + "tierup.config.tier = 'off'\nevent = threading.Event()\n" + waits_for_an_event, after=None)
    assert out.split()[-1] == "stopped", out + err


@pytest.mark.parametrize("mode", TIERS)
def test_many_tasks_and_threads_at_once(mode):
    assert run("""
        def worker(jobs, done, k):
            for x in jobs:
                done.send((k, x * x))

        @njit(nogil=True)
        def squares(n, workers, room):
            jobs, done = par.Channel[int](room), par.Channel[tuple[int, int]](room)
            total = 0
            with par.tasks() as t:
                for k in range(workers):
                    t.spawn(worker, jobs, done, k)
                t.spawn(feed, jobs, n)
                for _ in range(n):
                    k, x = done.receive()
                    total += x
            return total

        def feed(jobs, n):
            for i in range(n):
                jobs.send(i)
            jobs.close()

        def many():
            for room in (1, 2, 50):
                for workers in (1, 3, 8):
                    found.append(squares(200, workers, room))

        found = []
        threads = [threading.Thread(target=many) for _ in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        print(len(found), set(found))
    """, tier=mode).strip() == "36 {2646700}"


@pytest.mark.parametrize("mode", TIERS)
def test_deadlocks_are_found_wherever_they_come_about(mode):
    """A task may be the last that waits, or the last that could have woken others."""
    assert run("""
        def waits(a, b):
            b.send(a.receive())

        def ends(a, n):
            for _ in range(n):
                pass

        @njit
        def ring(n, last):
            a, b = par.Channel[int](1), par.Channel[int](1)
            if n < 0:
                a.send(1)
                b.send(1)
            with par.tasks() as t:
                for _ in range(n):
                    t.spawn(waits, a, b)
                    t.spawn(waits, b, a)
                if last == 0:
                    t.spawn(ends, a, 100_000)
                elif last == 1:
                    a.receive()

        for n in (1, 2, 5):
            for last in (0, 1, 2):
                for _ in range(5):
                    try:
                        ring(n, last)
                        print("no")
                    except RuntimeError as e:
                        assert str(e).startswith("deadlock"), e
        print("all")
    """, tier=mode).strip() == "all"


def test_tasks_run_parallel_loops():
    assert run("""
        @njit(parallel=True)
        def total(n, out):
            s = 0
            for i in prange(n):
                s += i
            out.send(s)

        @njit(parallel=True)
        def all_of(k, n):
            out = par.Channel[int]()
            with par.tasks() as t:
                for _ in range(k):
                    t.spawn(total, n, out)
            return [out.receive() for _ in range(k)]

        print(set(all_of(8, 10_000)), len(all_of(8, 1000)))
    """).strip() == "{49995000} 8"


def test_nothing_is_left_behind():
    """Values that nobody received, those of tasks that failed, and exceptions that nobody saw are dropped."""
    assert run("""
        from tierup import _tierup
        def take(ch, out, n):
            for _ in range(n):
                out.send(ch.receive() + "!")
            if n > 2:
                raise ValueError(out.receive())

        @njit
        def f(a, n):
            ch, out, arrays = par.Channel[str](), par.Channel[str](), par.Channel[np.ndarray]()
            with par.tasks() as t:
                t.spawn(take, ch, out, n)
                t.spawn(take, ch, out, n)
                for k in range(9):
                    ch.send("text " + str(k))
                    arrays.send(par.move(a * k))
                    arrays.send(par.borrow(a))
            return len(ch)

        def call(n):
            try:
                f(a, n)
            except ValueError:
                pass

        def memory():
            return int(open("/proc/self/statm").read().split()[1]) * 4096

        a = np.ones(2000)
        for n in (1, 3):
            for _ in range(200):
                call(n)
        before, references = memory(), sys.getrefcount(a)
        for n in (1, 3):
            for _ in range(400):
                call(n)
        # One array that is kept for each call would be 13 MB.
        print(sys.getrefcount(a) - references, memory() - before < 6_000_000)
    """).strip() == "0 True"


def test_a_forked_child_has_tasks_of_its_own():
    assert run("""
        def one(out, x):
            out.send(x + 1)

        @njit
        def f(x):
            out = par.Channel[int]()
            with par.tasks() as t:
                t.spawn(one, out, x)
            return out.receive()

        print(f(1), flush=True)
        pid = os.fork()
        if pid == 0:
            os._exit(f(5))
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), f(2))
    """).split() == ["2", "6", "3"]


def test_what_may_change_is_refused_in_python():
    from tierup import par
    ch = par.Channel[object]()
    for value in ([1], {}, (1, [2]), lambda x=[]: x, bytearray(b"a"), object()):
        with pytest.raises(TypeError, match="cannot be sent as it is"):
            ch.send(value)
    for value in (1, "a", None, (1, 2.5), ch, len, par.move([1]), par.borrow([2]), int, range(3)):
        ch.send(value)
    assert len(ch) == 10


def test_channels_stay_on_their_side():
    from tierup import njit, par

    @njit
    def take(ch):
        return len(ch)

    @njit
    def give():
        ch = par.Channel[int]()
        ch.send(1)
        return ch

    if tierup.config.tier == "off":
        pytest.skip("plain Python has one side")
    with pytest.raises(TypeError, match="tierup.par.Channel"):
        take(par.Channel())
    with pytest.raises(TypeError, match="a channel cannot be returned to Python"):
        give()


def test_the_stub_says_what_there_is():
    """Names and parameters of `par.pyi` are those of the module."""
    from tierup import par
    stub = ast.parse(Path(par.__file__).with_suffix(".pyi").read_text())
    declared = {}
    for node in stub.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            declared.setdefault(node.name, []).append(node)
    assert set(declared) == set(par.__all__)
    for name, nodes in declared.items():
        for node in nodes:
            if isinstance(node, ast.FunctionDef):
                parameters = [a.arg for a in [*node.args.posonlyargs, *node.args.args]]
                real = [p.name for p in inspect.signature(getattr(par, name)).parameters.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
                assert parameters == real, name
            else:
                methods = {m.name for m in node.body if isinstance(m, ast.FunctionDef)}
                assert all(hasattr(getattr(par, name), m) for m in methods), name
