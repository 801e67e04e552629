"""`np.array([f(x) for x in a])` fills the array: what Python gives, with every dtype, with and without `dtype=`, exceptions of any iteration, in every tier and in parallel; and where a list is needed after all."""

import numpy as np
import pytest

tierup = pytest.importorskip("tierup")
pytestmark = pytest.mark.filterwarnings("ignore")

DTYPES = ("bool", "int8", "uint8", "int16", "int32", "int64", "uint64", "float32", "float64", "complex64", "complex128")


def outcome(f, *args):
    try:
        return f(*args)
    except (ValueError, OverflowError, IndexError, ZeroDivisionError, TypeError, RuntimeError) as e:
        return type(e).__name__, str(e)


def same(f, *args, parallel=(False, True)):
    expected = outcome(f, *args)
    for p in parallel:
        got = outcome(tierup.njit(parallel=p)(f), *args)
        if isinstance(expected, np.ndarray):
            assert isinstance(got, np.ndarray) and got.dtype == expected.dtype and got.shape == expected.shape and got.tobytes() == expected.tobytes(), (p, got, expected)
        else:
            assert got == expected, (p, got, expected)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [1, 7, 3000])
def test_elements_of_every_dtype(dtype, n):
    a = (np.arange(n) % 100).astype(dtype)
    same(lambda a: np.array([x for x in a]), a)
    same(lambda a: np.asarray([x for x in a]), a[::2])
    same(lambda a: np.array([x for x in a[::-1]]), a)
    if np.dtype(dtype).itemsize >= 8 or np.dtype(dtype).kind == "f":
        same(lambda a: np.array([x + x for x in a[::-1]]), a)
    same(lambda a: np.array([x == 3 for x in a]), a)
    for to in DTYPES:
        if not (np.dtype(dtype).kind == "c" and np.dtype(to).kind != "c"):
            same(eval(f"lambda a: np.array([x for x in a], dtype=np.{'bool_' if to == 'bool' else to})", {"np": np}), a)
            same(eval(f"lambda a: np.array([x for x in a], np.{'bool_' if to == 'bool' else to})", {"np": np}), a)


def test_numbers_of_python_and_ranges():
    for n in (0, 1, 10, 5000):
        same(lambda n: np.array([i * i for i in range(n)] + [1]), n)
        if n:
            same(lambda n: np.array([i * i for i in range(n)]), n)
            same(lambda n: np.array([1.5 * i for i in range(n, 0, -1)]), n)
            same(lambda n: np.array([i for i in range(3, 3 + 2 * n, 2)], dtype="f4"), n)
            same(lambda n: np.array([True for _ in range(n)]), n)
            same(lambda n: np.array([1j * i for i in range(n)]), n)
            same(lambda n: np.array([float(i) if i % 2 else 0.5 for i in range(n)]), n)
            same(lambda n: np.array([np.float32(i) for i in range(n)]), n)
    assert tierup.njit(lambda a: np.array([x * 2 for x in a]))(np.zeros(0)).shape == (0,)


def test_what_does_not_fit_raises():
    same(lambda n: np.array([i * 50 for i in range(n)], dtype=np.int8), 10)
    same(lambda n: np.array([i * 10 for i in range(n)], dtype=np.int8), 10)
    same(lambda n: np.array([i - 1 for i in range(n)], dtype=np.uint8), 10)
    same(lambda n: np.array([i / 2 for i in range(n)], dtype=np.int64), 10)


def test_exceptions_are_those_of_the_loop():
    def f(n):
        return np.array([1 // (x - 5) for x in range(n)])
    same(f, 10)
    same(f, 5)
    same(lambda a: np.array([a[i + 1] for i in range(len(a))]), [1.0, 2.0])

    def caught(n):
        try:
            return np.array([1 // (x - 5) for x in range(n)])
        except ZeroDivisionError:
            return np.array([x - 1 for x in range(n)])
    same(caught, 10)
    same(caught, 5)


def test_bodies_of_all_kinds():
    @tierup.njit
    def g(x):
        return x * x if x > 0 else -x

    def calls(a): return np.array([g(x) for x in a])

    def nested(a): return np.array([np.array([x * y for y in a]).sum() for x in a])

    def conditions(a): return np.array([x if x > 1 else (2.0 if x > 0 else 3.0) for x in a])

    def rows(a):
        m = np.empty((len(a), 3))
        m[:] = a.reshape(-1, 1)
        return np.array([row.sum() + k for row, k in zip(m, a)]) + np.array([row.sum() for row in m])

    def captured(a):
        k = a[0]
        f = lambda x: x + k
        return np.array([f(x) for x in a])

    def twice(a):
        x = np.array([x + 1 for x in a])
        y = np.array([v * 2 for v in x])
        return x + y

    def loops(a):
        s = np.zeros(len(a))
        for k in range(3):
            s += np.array([x * k for x in a])
        return s

    def random(a):
        np.random.seed(3)
        return np.array([np.random.random() for _ in range(len(a))])

    def writes(a):
        b = a.copy()
        return np.array([b[i - 1] for i in range(1, len(b))]) + b[0]

    def changes(a):
        b = a.copy()

        def step(i):
            b[i] += b[i - 1]
            return b[i]
        return np.array([step(i) for i in range(len(b))])

    def appends(a):
        seen = [0.0]

        def note(x):
            seen.append(x)
            return seen[-2]
        r = np.array([note(x) for x in a])
        return r + len(seen)

    def kept(a):
        xs = [x * 2 for x in a]
        r = np.array(xs)
        return r + len(xs)

    def named(a):
        xs = [x * 2 for x in a]
        return np.array(xs, dtype=np.float32)

    def handled(a):
        k = 1.0
        try:
            xs = [x * 2 for x in a]
            k = 5.0
            r = np.array(xs)
            return r + r[len(a)]
        except IndexError:
            return np.array([x + k for x in a])

    def filtered(a): return np.array([x for x in a if x > 1])
    a = np.arange(8.0)
    for f in (calls, nested, conditions, rows, captured, twice, loops, random, writes, changes, appends, kept, named, handled, filtered):
        same(f, a)


def test_where_a_list_is_needed():
    same(lambda a: np.array([[x, x + 1] for x in a]), np.arange(5.0))
    same(lambda a: np.array([np.array([x, x]) for x in a]), np.arange(5.0))
    same(lambda a: np.array([(x, 2.0) for x in a]), np.arange(5.0))
    same(lambda a: np.array([x for x in a]), [1.0, 2.0])
    same(lambda a: np.array([x for x in a]), (1.0, 2.0, 3.0))
    same(lambda a: np.array([x for _, x in enumerate(a)]), np.arange(5.0))
    same(lambda n: np.array([[i * j for j in range(n)] for i in range(n)]), 6)
    same(lambda n: np.array([[[i * j * k for k in range(n)] for j in range(n)] for i in range(n)]), 4)

    def shrinks(a):
        xs = [1.0, 2.0, 3.0, 4.0]
        return np.array([xs.pop() for x in xs])
    same(shrinks, 0)


def test_names_that_are_not_numpys():
    class own:
        @staticmethod
        @tierup.njit
        def array(xs):
            return len(xs)
    same(lambda a: own.array([x for x in a]), np.arange(3.0))


def test_no_list_is_made():
    @tierup.njit
    def f(a): return np.array([x * 2 for x in a])
    f(np.arange(3.0))
    assert "mem_alloc" in str(f.explain()) and "list_new" not in str(f.explain())


def test_reports():
    @tierup.njit(parallel=True)
    def f(a): return np.array([x * 2 for x in a])
    f(np.arange(3.0))
    assert [(note["steps"][0][0], note["parallel"]) for note in f.parallel_report().arrays] == [("comprehension", True)]

    @tierup.njit(parallel={"comprehension": False})
    def off(a): return np.array([x * 2 for x in a])
    off(np.arange(3.0))
    assert not any(note["parallel"] for note in off.parallel_report().arrays)

    @tierup.njit(parallel=True)
    def ordered(a):
        b = np.zeros(1)

        def step(x):
            b[0] += x
            return b[0]
        return np.array([step(x) for x in a])
    assert (ordered(np.arange(5.0)) == np.cumsum(np.arange(5.0))).all()
    assert "in order" in str(ordered.parallel_report()) or "may need what another one does" in str(ordered.parallel_report())


def test_recursion():
    def f(n):
        if n == 0:
            return 1.0
        return np.array([f(n - 1) + i for i in range(2)]).sum()
    c = {"np": np}
    exec("import tierup\n@tierup.njit\ndef f(n):\n    if n == 0: return 1.0\n    return np.array([f(n - 1) + i for i in range(2)]).sum()\n", c)
    assert c["f"](4) == f(4)
