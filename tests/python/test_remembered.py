"""What compiled code remembers for functions behind `functools.lru_cache`: how it forgets, and whose it is. What the functions give is in `mdtest/language/functools.md`."""

import functools
import gc
import threading
from pathlib import Path

import pytest

pytest.importorskip("tierup")
import tierup  # noqa: E402
from tierup import jit, njit, prange  # noqa: E402

@functools.lru_cache(maxsize=None)
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def test_what_python_clears_compiled_code_forgets():
    scale = [1]

    @functools.cache
    def scaled(x):
        return x * scale[0]

    @njit
    def f(x):
        return scaled(x)

    assert f(3) == 3
    scale[0] = 2
    assert f(3) == 3 and f(4) == 8
    scaled.cache_clear()
    assert f(3) == 6 and scaled.cache_info().currsize == 1


def test_functions_made_at_one_place_remember_for_themselves():
    def maker(k):
        @functools.cache
        def plus(x):
            return x + k
        return plus

    results = []
    for k in range(20):
        plus = maker(k)
        results.append(njit(lambda x: plus(x))(1))
        del plus
        gc.collect()
    assert results == [k + 1 for k in range(20)]


def test_each_type_of_arguments_has_results_of_its_own():
    @functools.cache
    def half(x):
        return x / 2, x

    @njit
    def f(x):
        return half(x)

    assert repr([f(3), f(3.0), f(True), f(3)]) == "[(1.5, 3), (1.5, 3.0), (0.5, True), (1.5, 3)]"


def test_threads_and_parallel_loops_may_call_them():
    @njit
    def f(n):
        return fib(n)

    @njit(parallel=True)
    def total(n):
        t = 0
        for i in prange(n):
            t += fib(i % 40)
        return t

    want = [fib.__wrapped__(k) for k in range(20)]
    got = []
    threads = [threading.Thread(target=lambda: got.append([f(k) for k in range(20)])) for _ in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert got == [want] * 4
    assert total(400) == sum(fib(i % 40) for i in range(400))


@pytest.mark.isolated
def test_a_thread_that_ends_gives_back_what_it_remembered():
    @functools.cache
    def row(n):
        return [float(n)] * 1000

    @njit
    def f(n):
        return sum([len(row(k)) for k in range(n)])

    def run():
        t = threading.Thread(target=f, args=(250,))
        t.start()
        t.join()

    def pages():
        return int(Path("/proc/self/statm").read_text().split()[1])

    for _ in range(5):
        run()
    before = pages()
    for _ in range(60):
        run()
    # 2 MB each.
    assert (pages() - before) * 4096 < 40 << 20


def test_an_inner_function_that_remembers_may_call_itself():
    @njit
    def f(n):
        @functools.cache
        def fib(x):
            return x if x < 2 else fib(x - 1) + fib(x - 2)
        return fib(n)

    assert [f(n) for n in (5, 50)] == [5, 12586269025]


def test_a_function_that_is_compiled_itself_is_remembered():
    @functools.lru_cache(maxsize=None)
    @njit
    def own(n):
        return n if n < 2 else own(n - 1) + own(n - 2)

    assert njit(lambda n: own(n))(50) == own(50) == 12586269025


@pytest.mark.filterwarnings("ignore::tierup.TierupWarning")
def test_options_that_are_no_names_of_the_function_stay_with_python():
    @functools.cache
    def named(**options):
        return len(options)

    with pytest.raises(tierup.TypingError, match="_lru_cache_wrapper"):
        njit(lambda: named(a=1))()
    assert jit(lambda: named(a=1))() == 1


def test_what_python_and_compiled_code_have_found_is_added_up():
    @functools.cache
    def square(n):
        return n * n

    @njit
    def f(n):
        return square(n) + square(n), square.cache_info()

    square(5)
    assert f(3) == (18, (1, 2, None, 2)) and square.cache_info() == (1, 2, None, 2)

    @njit
    def forgets(n):
        square.cache_clear()
        return square(n)

    assert forgets(4) == 16 and square.cache_info() == (0, 1, None, 1)
    square(5)
    assert square.cache_info().misses == 2


def test_a_changed_default_is_seen():
    @functools.cache
    def plus(x, y=1):
        return x + y

    def caller():
        return njit(lambda x: plus(x))

    assert caller()(1) == 2
    plus.__wrapped__.__defaults__ = (5,)
    assert caller()(2) == 7


def test_objects_that_are_only_themselves_are_refused_as_arguments():
    class Scaled:
        def __init__(self, by):
            self.by = by

        @functools.cache
        def of(self, x):
            return self.by * x

    f = njit(lambda scaled, x: scaled.of(x))
    with pytest.raises(tierup.TypingError, match="equal to nothing but themselves"):
        f(Scaled(2), 3)
    python = jit(lambda scaled, x: scaled.of(x))
    scaled = Scaled(2)
    with pytest.warns(tierup.TierupWarning):
        assert python(scaled, 3) == 6
    scaled.by = 5
    assert python(scaled, 3) == 6
