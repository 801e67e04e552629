"""Threads that use the same functions, lists and generators at once. With a GIL they take turns; without one they do not, and nothing may be lost or freed under anybody's hands."""

import collections
import gc
import subprocess
import sys
import threading

import numpy as np
import pytest

tierup = pytest.importorskip("tierup")
from harness.processes import HANG  # noqa: E402

njit = tierup.njit
List = pytest.importorskip("tierup.typed").List

THREADS = 4
ROUNDS = 2_000


def at_once(*bodies):
    """Runs every body in a thread of its own, all from the same moment on, and raises what one of them raised."""
    start, failures = threading.Barrier(len(bodies)), []

    def run(body):
        start.wait()
        try:
            body()
        except BaseException as e:  # noqa: BLE001
            failures.append(e)
    threads = [threading.Thread(target=run, args=(b,)) for b in bodies]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    if failures:
        raise failures[0]


def test_first_calls_of_one_function():
    for _ in range(20):
        @njit
        def f(x):
            return x * 2 + 1
        got = [None] * THREADS

        def call(k):
            got[k] = f(k), f(k + 0.5)
        at_once(*[lambda k=k: call(k) for k in range(THREADS)])
        assert got == [(2 * k + 1, 2 * (k + 0.5) + 1) for k in range(THREADS)]


def test_lists_are_copied_as_they_are_at_one_moment():
    """The list holds a run of equal numbers at every moment; a call sees one of these moments."""
    @njit
    def alike(xs):
        for x in xs:
            if x != xs[0]:
                return False
        return True
    xs, over = [0] * 50, threading.Event()
    alike(xs)

    def change():
        try:
            for k in range(ROUNDS):
                xs[:] = [k] * (20 + k % 50)
        finally:
            over.set()

    def look():
        while not over.is_set():
            assert alike(xs)
    at_once(change, look, look)


def test_strings_in_lists_outlive_their_list():
    @njit
    def total(xs):
        n = 0
        for x in xs:
            n += len(x)
        return n
    xs, over = ["one", "three"], threading.Event()
    total(xs)

    def change():
        try:
            for k in range(ROUNDS):
                xs[:] = [str(k) + "x" * (k % 7) for _ in range(k % 13 + 1)]
        finally:
            over.set()

    def look():
        while not over.is_set():
            assert total(xs) > 0
    at_once(change, look, look)


def _changed_meanwhile():
    """Containers, what a thread does to them, and functions of them: each walks through all, so one that saw half of a change would give another number."""
    def exchange(of, k):
        # Never fewer than two.
        of[f"b{k}"] = f"b{k}"
        of.pop(f"b{k - 1}", None)

    def add(of, k):
        of.add(f"b{k}")
        of.discard(f"b{k - 1}")

    def push(of, k):
        of.append(f"b{k}")
        if len(of) > 3:
            of.popleft()

    def first(xs):
        n = 0
        for x in xs:
            n += x[0] == "a"
        return n

    def any_at_all(xs):
        n = 0
        for x in xs:
            n += len(x) > 0
        return n >= 1
    return {"dict": ({"a": "a", "b0": "b0"}, exchange, first), "defaultdict": (collections.defaultdict(str, a="a", b0="b0"), exchange, first),
            "set": ({"a", "b0"}, add, first), "deque": (collections.deque(["b"]), push, any_at_all)}


@pytest.mark.parametrize("name", _changed_meanwhile())
def test_containers_are_copied_as_they_are_at_one_moment(name):
    of, change, plain = _changed_meanwhile()[name]
    look, over, want = njit(plain), threading.Event(), plain(of)

    def changes():
        try:
            for k in range(1, ROUNDS):
                change(of, k)
        finally:
            over.set()

    def looks():
        while not over.is_set():
            assert look(of) == want
    at_once(changes, looks, looks)


def test_nested_lists_that_are_exchanged():
    @njit
    def total(rows):
        n = 0
        for r in rows:
            n += len(r)
        return n
    rows, over = [[1], [2, 3]], threading.Event()
    total(rows)

    def change():
        try:
            for k in range(ROUNDS):
                rows[k % 2] = [k] * 3
                rows.append([k])
                rows.pop()
        finally:
            over.set()

    def look():
        while not over.is_set():
            assert 3 <= total(rows) <= 7
    at_once(change, look, look)


def test_typed_lists_lose_nothing():
    """Who comes while another one changes the list is told, and what was done is there."""
    xs = List([0])
    done = [0] * THREADS

    def add(k):
        for i in range(ROUNDS):
            try:
                xs.append(i)
                done[k] += 1
            except RuntimeError as e:
                assert "in use" in str(e)
    at_once(*[lambda k=k: add(k) for k in range(THREADS)])
    assert len(xs) == 1 + sum(done) and sum(done) > 0


def test_typed_lists_in_compiled_code_and_outside():
    @njit
    def push(xs, x):
        xs.append(x)
        return len(xs)
    xs = List([0])
    done = [0] * THREADS

    def add(k):
        for i in range(ROUNDS):
            try:
                if k % 2:
                    push(xs, i)
                else:
                    xs.append(i)
                done[k] += 1
                xs[-1]
            except RuntimeError as e:
                assert "in use" in str(e)
    push(xs, 1)
    at_once(*[lambda k=k: add(k) for k in range(THREADS)])
    assert len(xs) == 2 + sum(done)


def test_the_object_of_a_list_is_found_again_or_made_anew():
    rows = List([List([1]), List([2])])

    def look():
        for i in range(ROUNDS):
            try:
                assert list(rows[i % 2]) == [i % 2 + 1]
            except RuntimeError as e:
                assert "in use" in str(e)
    at_once(*[look] * THREADS)


def test_an_empty_list_is_given_its_type_once():
    for _ in range(100):
        xs, failures = List(), []

        def add(x):
            try:
                xs.append(x)
            except (RuntimeError, TypeError) as e:
                failures.append(e)
        at_once(lambda: add(1), lambda: add(2), lambda: add(3))
        assert len(xs) + len(failures) == 3 and len(xs) >= 1


def test_a_generator_runs_in_one_thread_at_a_time():
    @njit
    def count(n):
        for i in range(n):
            yield i
    n = 5_000
    g, seen = count(n), [[] for _ in range(THREADS)]

    def take(k):
        while True:
            try:
                seen[k].append(next(g))
            except StopIteration:
                return
            except ValueError as e:
                assert "already executing" in str(e)
    at_once(*[lambda k=k: take(k) for k in range(THREADS)])
    assert sorted(i for s in seen for i in s) == list(range(n))


def test_closing_a_generator_that_another_thread_runs():
    @njit
    def count(xs):
        for x in xs:
            yield x + 1
    for _ in range(300):
        g = count([1, 2, 3])

        def run():
            try:
                list(g)
            except ValueError:
                pass

        def close():
            try:
                g.close()
            except ValueError:
                pass
        at_once(run, close)


def test_a_global_that_is_changed_meanwhile():
    space = {"scale": 1}
    exec("def f(x):\n    return x * scale", space)
    f, over = njit(space["f"]), threading.Event()
    f(3)

    def change():
        try:
            for k in range(200):
                space["scale"] = k % 2 + 1
                space["other"] = k
        finally:
            over.set()

    def look():
        while not over.is_set():
            assert f(3) in (3, 6)
    at_once(change, look, look)


def test_a_captured_variable_that_is_changed_meanwhile():
    def make():
        factor = 1

        def inner(x):
            return x * factor

        def change(k):
            nonlocal factor
            factor = k
        return njit(inner), change
    (f, change), over = make(), threading.Event()
    f(5)

    def write():
        try:
            for k in range(200):
                change(k % 2 + 1000)
                change(k % 2 + 1)
        finally:
            over.set()

    def look():
        while not over.is_set():
            assert f(5) in (5, 10, 5000, 5005)
    at_once(write, look, look)


@pytest.mark.skipif(not getattr(sys, "_is_gil_enabled", lambda: True)(), reason="without a GIL Python's own functions do not bear it")
def test_defaults_that_are_set_meanwhile():
    @njit
    def f(x, y=1):
        return x + y
    f(1)
    over = threading.Event()

    def change():
        try:
            for k in range(200):
                f.__wrapped__.__defaults__ = (k % 2 + 1,)
        finally:
            over.set()

    def look():
        while not over.is_set():
            assert f(1) in (2, 3)
    at_once(change, look, look)


def test_functions_that_are_passed_and_dropped():
    @njit
    def apply(g, x):
        return g(x)

    def make(k):
        return njit(lambda x: x + k)

    def run():
        for k in range(30):
            assert apply(make(k), 1) == k + 1
    at_once(run, run, run)
    gc.collect()


def test_arrays_that_threads_write_side_by_side():
    @njit
    def fill(a, k, n):
        for i in range(k, a.size, n):
            a[i] = i * 2.0
    a = np.zeros(100_000)
    at_once(*[lambda k=k: fill(a, k, THREADS) for k in range(THREADS)])
    assert np.array_equal(a, np.arange(100_000) * 2.0)


def test_exceptions_of_threads_are_their_own():
    @njit
    def f(k):
        if k % 2:
            raise ValueError("odd", k)
        return k

    def run(k):
        for _ in range(500):
            if k % 2:
                with pytest.raises(ValueError) as e:
                    f(k)
                assert e.value.args == ("odd", k)
            else:
                assert f(k) == k
    at_once(*[lambda k=k: run(k) for k in range(THREADS)])


def test_parallel_loops_of_several_threads():
    @njit(parallel=True)
    def total(a):
        s = 0.0
        for i in tierup.prange(a.size):
            s += a[i]
        return s
    a = np.ones(20_000)

    def run():
        for _ in range(50):
            assert total(a) == 20_000
    at_once(*[run] * THREADS)


def test_no_gil_comes_back():
    """Where Python runs without a GIL it goes on so when the extension is loaded: none is turned on for its sake."""
    program = "import sys, warnings; warnings.simplefilter('error'); before = sys._is_gil_enabled() if hasattr(sys, '_is_gil_enabled') else True; import numpy, tierup; print(before == (sys._is_gil_enabled() if hasattr(sys, '_is_gil_enabled') else True))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=HANG)
    assert done.stdout == "True\n", done.stderr


def test_ufuncs_learn_loops_from_several_threads():
    """Python numbers beside arrays have loops of their own, which NumPy must not take for those of arrays, whichever thread comes first."""
    for _ in range(3):
        @tierup.vectorize
        def h(x, y):
            return x * y + 1
        seen = []

        def run():
            for t in ("f4", "i2", "u1", "c8"):
                x = np.ones(3, t)
                seen.append((t, h(x, 2).dtype, h(x, np.full(3, 2)).dtype, h(x, 2.5).dtype))
        at_once(*[run] * THREADS)
        assert len(seen) == 4 * THREADS and len(set(seen)) == 4
