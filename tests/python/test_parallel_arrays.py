"""Array code in functions with `parallel=True`: the same bits as serial code at any number of threads, what its reports say, and Ctrl-C, exceptions, threads and forks in it."""

import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest

tierup = pytest.importorskip("tierup")
from test_parallel import HEAD, run  # noqa: E402
from harness.processes import HANG


ARRAYS = """
    @njit(parallel=True)
    def work(a, b, m):
        c = np.exp(a) * b + np.sin(b) / (a + 2)
        c[1:-1] = c[2:] * 0.5 + c[:-2]
        c += a
        d = m * a[:m.shape[1]] + m[:, :1]
        d[::2] -= d[1::2]
        return c, d, c > d.sum(), np.where(c > 1, c, -b)

    a, b = np.linspace(0, 1, 100_003), np.cos(np.arange(100_003))
    m = np.arange(600_000.0).reshape(600, 1000)
    serial = njit(work.py_func)(a, b, m)
    import hashlib
    for _ in range(3):
        got = work(a, b, m)
        assert all((x == y).all() and x.dtype == y.dtype for x, y in zip(got, serial))
    print(hashlib.sha256(b"".join(x.tobytes() for x in got)).hexdigest())
"""


def test_array_code_gives_the_bits_of_serial_code_at_any_number_of_threads_and_in_any_tier():
    seen = {run(ARRAYS, threads) for threads in (1, 2, 3, 8)}
    seen |= {run(ARRAYS, 4, TIERUP_TIER=tier) for tier in ("0", "1")}
    assert len(seen) == 1, seen


def test_array_code_uses_several_threads():
    text = """
        @njit(parallel=PARTS)
        def f(a):
            return np.tan(np.tan(np.tan(a)))

        # Threads of the pool exist once a region has called for them.
        a = np.linspace(0, 1, 3_000_000)
        f(a)
        print(len(os.listdir("/proc/self/task")), any("tierup-parallel" in open(f"/proc/self/task/{t}/comm").read() for t in os.listdir("/proc/self/task")))
    """
    assert run(text.replace("PARTS", "True"), 3).split()[1] == "True"
    assert run(text.replace("PARTS", '{"numpy": False}'), 3).split()[1] == "False"


REDUCTIONS = """
    @njit(parallel=True)
    def work(a, m):
        return a.sum(), (a * a + 1).sum(), a.mean(), a.std(), a.min(), a.argmax(), m.sum(axis=0), m.sum(axis=1), (m * 2).mean(axis=0), m.var(axis=1), (a > 0.3).sum(), a.astype(np.float32).sum(), m @ m[:, :100], m[0] @ m, m[:, :7] @ m[:7], m @ m[3], m.astype(np.float32) @ m.T.astype(np.float32)

    a = np.sin(np.arange(1_000_003.0)) * 10.0 ** (np.arange(1_000_003) % 9 - 4)
    m = a[:1_000_000].reshape(1000, 1000)
    serial = njit(work.py_func)(a, m)
    for _ in range(3):
        got = work(a, m)
        assert all(np.array_equal(x, y) for x, y in zip(got, serial)), (got, serial)
    print([np.asarray(x).tobytes() for x in got])
"""


def test_reductions_give_the_bits_of_serial_code_at_any_number_of_threads_and_in_any_tier():
    seen = {run(REDUCTIONS, threads) for threads in (1, 2, 3, 8)}
    seen |= {run(REDUCTIONS, 4, TIERUP_TIER=tier) for tier in ("0", "1")}
    assert len(seen) == 1


JOINED = """
    @njit(parallel=FUSION)
    def statistics(a):
        d = a * 2 - 1
        return a.mean(), a.std(), a.min(), a.max(), np.ptp(d), d.sum(), ((a - 0.5) ** 2).mean(), (a * a).std(), (d + a).var(ddof=1)

    @njit(parallel=FUSION)
    def chosen(a, b):
        a[(a > 0.5) & (b < 0.25)] = 0.125
        a[1:][a[:-1] > b[1:]] = 7
        return a

    rng, seen = np.random.default_rng(9), []
    for n in (1, 100, 8191, 16384, 50_001, 400_000):
        for dtype in (np.float64, np.float32, np.int64):
            a = (rng.standard_normal(n) * 50).astype(dtype)
            a[n // 2:n // 2 + 3] = 0
            seen.append([float(x).hex() for x in statistics(a)])
            assert seen[-1] == [float(x).hex() for x in statistics.py_func(a)] or dtype != np.float64, n
            seen.append(chosen(a.astype(np.float64), rng.random(n)).tobytes().hex()[-4000:])
        z = np.zeros(n)
        z[n // 2:] = -0.0
        z[n // 3] = -0.0
        seen.append([math.copysign(1, x) for x in (z.min(), z.max())])
        z[n // 2] = np.nan
        seen.append(repr(statistics(z)))
    import hashlib
    print(hashlib.sha256(repr(seen).encode()).hexdigest())
"""


def test_joined_reductions_and_computed_masks_give_the_same_bits_with_any_number_of_threads_and_without_fusion():
    seen = {run(JOINED.replace("FUSION", "True"), threads) for threads in (1, 2, 3, 8)}
    seen |= {run(JOINED.replace("FUSION", "True"), 4, TIERUP_TIER=tier) for tier in ("0", "1")}
    seen |= {run(JOINED.replace("FUSION", text)) for text in ("False", "{'fusion': False}", "{'reduction': False, 'setitem': False}")}
    assert len(seen) == 1, seen


COMPREHENSIONS = """
    @njit(parallel=True)
    def f(a, n):
        x = np.array([math.sin(i) * a[i % len(a)] for i in range(n)])
        y = np.array([v + np.exp(v) for v in x if v > 0])
        return x, y, (x * y[0]).sum()

    @njit(parallel=True)
    def g(a, b):
        t = a * 2.0 + b
        u = t + 1.0
        v = t * 3.0
        c = u - v
        return u, v, c, c.sum(), t.sum(), np.array([q * 2 for q in c]).mean()

    seen = []
    for n in (0, 1, 100, 40_000):
        a = np.cos(np.arange(n + 3.0))
        seen += [f(a, n + 2), g(a, a + 1)]
        for got, want in zip(seen[-1], g.py_func(a, a + 1)):
            assert np.array_equal(got, want), n
    import hashlib
    print(hashlib.sha256(repr([[np.asarray(x).tobytes() for x in s] for s in seen]).encode()).hexdigest())
"""


def test_comprehensions_and_neighbours_give_the_same_bits_at_any_number_of_threads_and_in_any_tier():
    seen = {run(COMPREHENSIONS, threads) for threads in (1, 2, 3, 8)}
    seen |= {run(COMPREHENSIONS, 4, TIERUP_TIER=tier) for tier in ("0", "1")}
    assert len(seen) == 1


def test_the_report_says_what_was_joined_and_why_the_rest_was_not():
    run("""
        def drop(xs):
            return xs.pop()

        @njit(parallel=True)
        def f(a, b, m, z, xs):
            t = a * 2.0 + b
            u = t + 1.0
            v = t * 3.0
            c = a * b
            s = c.sum()
            w = np.array([x * 2 for x in a])
            y = np.array([drop(xs) for _ in range(2)])
            p = a.prod()
            q = (a + 1).prod()
            k = m.argmin(axis=0)
            l = m.argmax()
            o = np.nanargmin(a)
            r = z.sum()
            d = np.dot(a, m)
            e = m[:, ::2].sum()
            x = np.array([xs.pop() for _ in range(1)])
            return u, v, c, s, w, y, p, q, k, l, o, r, d, e, x

        f(np.ones(4), np.ones(4), np.ones((4, 4)), np.ones(3) + 1j, [1.0, 2.0, 3.0])
        report = f.parallel_report()
        first = f.__code__.co_firstlineno
        notes = {}
        for a in report.arrays:
            notes.setdefault(a["line"] - first - 1, []).append(a)
        def at(k):
            return [(", ".join(n for n, _ in a["steps"]), a["parallel"], a["why"] or a["only"], a["with"] and a["with"] - first - 1) for a in notes[k]]
        assert at(3) == [("mul, add, add, mul", True, None, None)], at(3)
        assert at(2) == [("add", True, None, 3)], at(2)
        assert 1 not in notes
        assert at(5) == [("mul, sum", True, None, None)] and at(4) == [("mul", True, None, 5)], (at(4), at(5))
        assert ("comprehension", True, None, None) in at(6) and ("comprehension", False, "its iterations do more than compute, and run in order", None) in at(7)
        assert at(8) == [("prod", False, "floats are multiplied in order", None)]
        assert at(9) == [("add", True, None, None), ("prod", False, "floats are multiplied in order", None)]
        assert at(10) == [("argmin", False, "positions along the first axis are found by one thread", None)]
        assert at(11) == [("argmax", False, "positions in an array of several dimensions are found by one thread", None)]
        assert at(12) == [("nanargmin", False, "what is NaN is left out one element after the other", None)]
        assert at(13) == [("sum", False, "the parts of a complex sum would not add up to the same bits", None)]
        assert at(14) == [("dot", True, "where there are 128 columns or more", None)]
        assert [n for n in at(15) if n[0] == "sum"] == [("sum", True, "where its rows lie side by side, for floats are added up in order", None)]
        assert [(l["line"] - first - 1, l["why"]) for l in report.loops if not l["parallel"]] == [(16, "an iteration of the comprehension may need what another one does")], report.loops
        assert "<svg" in report._repr_html_()
    """)


def test_diagnostics_have_numbas_levels(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(HEAD + textwrap.dedent("""
        import contextlib, io
        @njit(parallel=True)
        def f(a, b):
            lo = a.min()
            hi = a.max()
            return ((a - b) ** 2).mean(), a.mean(), lo, hi

        f(np.ones(10), np.ones(10))
        def text(g, *args, **options):
            with contextlib.redirect_stdout(io.StringIO()) as out:
                g.parallel_diagnostics(*args, **options)
            return out.getvalue()
        one, two, three, four = (text(f, level=level) for level in (1, 2, 3, 4))
        assert text(f) == one and two.startswith(one[:-1]) and three.startswith(two[:-1]) and four.startswith(three[:-1])
        assert len({one, two, three, four}) == 4
        assert "in parallel: sub, power, mean (one loop over 3 operations)" in one or "in parallel: sub, pow, mean (one loop over 3 operations)" in one, one
        assert "in parallel: max, in the pass of line 9" in one, one
        assert "Before fusion: 6 loops over arrays; after it 2" in two and "Before" not in one, two
        assert "Fused: 2 loops" in three and "Allocations:" in three, three
        assert "reads 0" in four and "reads 0" not in three, four
        plain = njit(lambda a: a + 1)
        plain(np.ones(3))
        for g, level in ((f, 0), (f, 5), (plain, 1)):
            try:
                g.parallel_diagnostics(level=level)
            except ValueError as e:
                assert str(e) in ("Report level unknown, should be one of 1, 2, 3, 4", "No parfors diagnostic available, is 'parallel=True' set?")
            else:
                raise AssertionError((g, level))
        apart = njit(parallel={"fusion": False})(f.py_func)
        apart(np.ones(10), np.ones(10))
        assert "in the pass of" not in str(apart.parallel_report())
    """))
    done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, timeout=HANG)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_report_lists_operations_on_arrays(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(HEAD + textwrap.dedent("""
        @njit(parallel=True)
        def f(a, b):
            c = a * b + 1
            c[1:] = a[1:] * 2
            s = (c - a).sum() + c.mean()
            d = np.cumsum(c)
            return s, d

        assert "known once it has been called" in str(f.parallel_report())
        f(np.ones(10), np.ones(10))
        text = str(f.parallel_report())
        lines = text.splitlines()
        def at(source):
            k = next(k for k, line in enumerate(lines) if line.endswith(source))
            return lines[k + 1:k + 3]
        assert at("c = a * b + 1")[0] == "    in parallel: mul, add (one loop over 2 operations)", text
        assert at("c[1:] = a[1:] * 2")[0] == "    in parallel: mul, setitem (one loop over 2 operations)", text
        assert at("s = (c - a).sum() + c.mean()") == ["    in parallel: mean", "    in parallel: sub, sum (one loop over 2 operations)"], text
        assert at("d = np.cumsum(c)")[0] == "    cumsum: not in parallel, each element needs the one before it", text
        page = f.parallel_report()._repr_html_()
        assert page.count("<svg") == 3 and ">mul</text>" in page, page
        @njit(parallel=True)
        def inside(a):
            out = np.zeros(len(a))
            for i in prange(len(a)):
                out[i] = (a * 2).sum()
            return out
        inside(np.ones(10))
        assert "mul, sum: not in parallel, its loop is (one loop over 2 operations)" in str(inside.parallel_report())
        g = njit(parallel={"numpy": False})(lambda a: a + 1)
        g(np.ones(3))
        assert "add: not in parallel, switched off by the dictionary" in str(g.parallel_report())
    """))
    done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, timeout=HANG)
    assert done.returncode == 0, done.stderr


def test_stencils_and_random_fills_in_parallel_code():
    text = """
        from tierup import stencil
        @stencil
        def smooth(a):
            return 0.25 * (a[0, 1] + a[0, -1] + a[1, 0] + a[-1, 0])
        a = np.sin(np.arange(300_000.0)).reshape(500, 600)
        f = njit(parallel=True)(lambda a: smooth(a))
        alone = njit(parallel={"stencil": False})(lambda a: smooth(a))
        assert np.array_equal(f(a), njit(lambda a: smooth(a))(a)) and np.array_equal(alone(a), f(a))
        assert "in parallel: smooth" in str(f.parallel_report())

        @njit(parallel=True)
        def numbers(n):
            np.random.seed(3)
            return np.random.rand(n), np.random.normal(1.0, 2.0, (n, 2)), np.random.randn(5), np.random.poisson(4.0, n)
        few = numbers(100)
        # Few numbers are the stream's own.
        assert all(np.array_equal(x, y) for x, y in zip(few, njit(numbers.py_func)(100)))
        import hashlib
        many = [numbers(100_000) for _ in range(3)]
        assert len(set(np.unique(many[0][0]))) > 99_990 and abs(many[0][0].mean() - 0.5) < 0.01 and abs(many[0][1].std() - 2) < 0.02 and abs(many[0][3].mean() - 4) < 0.05
        print({hashlib.sha256(b"".join(x.tobytes() for x in m)).hexdigest() for m in many})
    """
    seen = {run(text, threads) for threads in (1, 2, 8)}
    assert len(seen) == 1 and seen.pop().count("'") == 2


def test_ufuncs_in_parallel_code():
    run("""
        from tierup import guvectorize, vectorize
        @vectorize
        def weighted(x, y):
            return x * x + y / (abs(x) + 1)

        @guvectorize(["void(float64[:], float64[:])"], "(n)->(n)")
        def running(x, r):
            s = 0.0
            for i in range(len(x)):
                s += x[i]
                r[i] = s

        def mapped(a, b):
            return weighted(a, b), weighted(a, 2.0), weighted(a[:3], b[:3])

        def scanned(a):
            out = np.empty_like(a)
            running(a, out)
            return out

        for shape in ((9000,), (70, 90), (0, 5), (3, 4, 5), (7, 1, 2000)):
            a = np.arange(float(np.prod(shape))).reshape(shape) - 30
            assert all(np.array_equal(x, y) for x, y in zip(njit(parallel=True)(mapped)(a, a[::-1]), njit(mapped)(a, a[::-1]))), shape
            assert np.array_equal(njit(parallel=True)(scanned)(a), np.cumsum(a, axis=-1)), shape
        f = njit(parallel=True)(scanned)
        f(a)
        assert "in parallel: running" in str(f.parallel_report()), f.parallel_report()

        @vectorize(["float64(float64)"])
        def picky(x):
            if x > 5000:
                raise ValueError(f"{int(x)} is too much")
            return x
        try:
            njit(parallel=True)(lambda a: picky(a))(np.arange(20_000.0))
        except ValueError as e:
            assert str(e) == "5001 is too much", e
        else:
            raise AssertionError
    """)


def test_ctrl_c_exceptions_threads_and_forks_in_array_code():
    run("""
        @njit(parallel=True)
        def power(a, b):
            return (a ** b).sum()

        @njit(parallel=True)
        def nested(m, b):
            out = np.zeros(len(m))
            for i in prange(len(m)):
                out[i] = ((m[i] + 1) * b).sum() + m.max()
            return out

        @njit(parallel=True)
        def long(a):
            for _ in range(100_000):
                a[:] = np.tan(a) * 0.5 + np.sqrt(np.abs(a))
            return a

        base, exponents = np.full(50_000, 2), np.arange(50_000) % 30
        good = power(base, exponents)
        exponents[40_000] = exponents[9_000] = -1
        m, b = np.arange(400_000.0).reshape(20, 20_000) % 7, np.ones(20_000)
        expected = njit(nested.py_func)(m, b)
        failures = []

        def work():
            for _ in range(20):
                try:
                    power(base, exponents)
                    failures.append("no exception")
                except ValueError as e:
                    if "negative" not in str(e):
                        failures.append(str(e))
                if not np.array_equal(nested(m, b), expected):
                    failures.append("wrong")

        threads = [threading.Thread(target=work) for _ in range(6)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert not failures, failures[:3]

        if (child := os.fork()) == 0:
            os._exit(0 if np.array_equal(nested(m, b), expected) else 1)
        assert os.waitpid(child, 0)[1] == 0

        threading.Timer(1.0, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        try:
            long(np.ones(200_000))
            raise AssertionError
        except KeyboardInterrupt as e:
            assert "long" in [t.name for t in traceback.extract_tb(e.__traceback__)]
        assert power(base, np.abs(exponents)) > 0
    """, threads=4)


def test_columns_are_divided_by_the_line_and_few_of_them_not_at_all():
    @tierup.njit(parallel=True)
    def f(x):
        return x.sum(axis=0), x.max(axis=0), x.mean(axis=0), x.std(axis=0), x.prod(axis=0), x.sum(axis=1)

    random = np.random.default_rng(3)
    for shape in ((20000, 10), (3000, 127), (3000, 128), (3000, 129), (20, 30, 200), (100000, 1)):
        x = random.standard_normal(shape)
        for a in (x, np.asfortranarray(x), x[::-1], x[..., ::2]):
            for got, want in zip(f(a), f.py_func(a)):
                assert np.allclose(got, want, rtol=1e-12, equal_nan=True), (shape, a.strides)
            assert np.array_equal(f(a)[0], a.sum(axis=0)) and np.array_equal(f(a)[1], a.max(axis=0)), (shape, a.strides)
