"""Parallel loops beyond what mdtests compare: the same bits at any number of threads, which exception wins, Ctrl-C, forks, Python threads, settings."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

pytest.importorskip("tierup")
HEAD = "import math, os, signal, sys, threading, time\nimport numpy as np\nimport tierup\nfrom tierup import njit, prange\n"


def run(text, threads=4, timeout=60, **environment):
    """What a program prints, in a process with so many threads for parallel loops."""
    done = subprocess.run([sys.executable, "-c", HEAD + textwrap.dedent(text)], capture_output=True, text=True, timeout=timeout, env={**os.environ, "TIERUP_NUM_THREADS": str(threads), **environment})
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout


BITS = """
    @njit(parallel=True)
    def sums(a, n):
        s, p, m = 0.0, 1.0, a[0]
        total, h, w = np.zeros(7), np.zeros(50), np.zeros((50, 3))
        where = (a * 25).astype(np.int64)
        xs = []
        for i in prange(n):
            t = math.sin(a[i % len(a)] * 1e3) * 10.0 ** (i % 9 - 4)
            for k in range(i % 50):
                t += 1e-3 / (k + 1)
            s += t
            p *= 1.0 + t * 1e-6
            m = max(m, t)
            total += a[:7] * t
            h[where[i % len(a)]] += t
            w[where[i % len(a)], i % 3] = max(w[where[i % len(a)], i % 3], t)
            if i % 97 == 0:
                xs.append(t)
        return s, p, m, total, xs, h, w

    a = np.linspace(0.1, 1.9, 1001)
    seen = set()
    for _ in range(RUNS):
        for n in (1, 5, 1000, 30000):
            seen.add((n, repr([x.tolist() if isinstance(x, np.ndarray) else x for x in sums(a, n)])))
    assert len(seen) == 4, len(seen)
    import hashlib
    print(hashlib.sha256(repr(sorted(seen)).encode()).hexdigest())
"""


def test_results_are_the_same_bits_at_any_number_of_threads_and_in_any_tier():
    runs = 25 if os.environ.get("TIERUP_TESTS") == "all" else 5
    seen = {run(BITS.replace("RUNS", str(runs)), threads) for threads in (1, 2, 3, 8)}
    seen |= {run(BITS.replace("RUNS", "2"), 4, TIERUP_TIER=tier) for tier in ("0", "1")}
    assert len(seen) == 1, seen


def test_random_numbers_belong_to_pieces_not_to_threads():
    text = """
        @njit(parallel=True)
        def draws(n):
            np.random.seed(7)
            out = np.empty(n)
            s = 0.0
            for i in prange(n):
                out[i] = np.random.random()
                s += np.random.normal(0.0, 1.0)
            return out, s, np.random.random()
        out, s, after = draws(5000)
        assert len(set(out.tolist())) == 5000
        again = draws(5000)
        assert (again[0] == out).all() and again[1:] == (s, after)
        print(out.sum().hex(), float(s).hex(), float(after).hex())
    """
    assert len({run(text, threads) for threads in (1, 2, 8)}) == 1


def test_the_exception_of_the_first_iteration_wins():
    run("""
        @njit(parallel=True)
        def f(n, first, out):
            for i in prange(n):
                x = 0.0
                for k in range((i * 7919) % 500):
                    x += k
                if i >= first and i % 3 == first % 3:
                    raise ValueError("iteration", i)
                out[i] = x + 1
        for first in (0, 1, 77, 5000, 9999):
            for _ in range(20):
                out = np.zeros(10000)
                try:
                    f(10000, first, out)
                except ValueError as e:
                    assert e.args == ("iteration", first), (e.args, first)

                else:
                    assert False
                assert (out[:first] != 0).all()
    """, threads=8)


def test_later_pieces_are_stopped_when_an_earlier_one_fails():
    run("""
        @njit(parallel=True)
        def f(n):
            for i in prange(n):
                if i == 0:
                    x = 0.0
                    for k in range(3_000_000):
                        x += math.sqrt(k)
                    if x > 0:
                        raise KeyError(i)
                while i > 0:
                    pass
        try:
            f(8)
        except KeyError as e:
            assert e.args == (0,)
    """)


@pytest.mark.parametrize("what", ["while True:\n                    x += 1.0", "x += math.sqrt(i)"])
def test_ctrl_c(what):
    run(f"""
        @njit(parallel=True)
        def f(n):
            s = 0.0
            for i in prange(n):
                x = 0.0
                {what}
                s += x
            return s
        f(0)
        threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        begin = time.perf_counter()
        try:
            f(10**13)
        except KeyboardInterrupt:
            took = time.perf_counter() - begin
            assert took < 2, took
        else:
            assert False
        assert f(0) == 0
    """)


def test_ctrl_c_while_the_caller_waits_for_another_thread():
    run("""
        @njit(parallel=True)
        def f(n, k):
            for i in prange(n):
                x = 0.0
                for j in range(50_000_000):
                    x += math.sqrt(j)
                while tierup.get_thread_id() != k or x < 0:
                    pass
        # The caller's iteration ends, and it waits for the other one, which does not.
        threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        try:
            f(2, 0)
        except KeyboardInterrupt:
            pass
        else:
            assert False
    """, threads=2)


def test_a_worker_may_need_the_gil():
    out = run("""
        @njit(parallel=True)
        def f(n):
            for i in prange(n):
                print("iteration", i)
        f(200)
    """)
    assert sorted(out.split("\n")) == sorted([f"iteration {i}" for i in range(200)] + [""])


def test_many_python_threads_nested_loops_and_exceptions():
    run("""
        @njit(parallel=True)
        def inner(a, bad):
            s = 0.0
            for i in prange(len(a)):
                if i == bad:
                    raise IndexError(i)
                s += a[i]
            return s

        @njit(parallel=True)
        def outer(m, bad):
            t = 0.0
            for i in prange(len(m)):
                t += inner(m[i], bad if i == 3 else -1)
            return t

        m = np.arange(6000.0).reshape(20, 300)
        expected, wrong = outer(m, -1), []
        def work():
            for k in range(60):
                try:
                    if outer(m, 7 if k % 3 == 0 else -1) != expected or k % 3 == 0:
                        wrong.append(k)
                except IndexError as e:
                    if k % 3 or e.args != (7,):
                        wrong.append((k, e))
        threads = [threading.Thread(target=work) for _ in range(8)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert not wrong, wrong[:3]
    """, timeout=120)


def test_a_forked_child_has_threads_of_its_own():
    run("""
        @njit(parallel=True)
        def f(n):
            s = 0.0
            for i in prange(n):
                for k in range(1000):
                    s += i * k
            return s
        expected = f(10000)
        for _ in range(5):
            child = os.fork()
            if child == 0:
                os._exit(0 if f(10000) == expected else 1)
            assert f(10000) == expected
            assert os.waitpid(child, 0)[1] == 0
    """)


def run_file(folder, text):
    """A program in a file of its own, which other processes can import."""
    program = folder / "program.py"
    program.write_text(HEAD + textwrap.dedent(text))
    done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-2000:]


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_multiprocessing(method, tmp_path):
    run_file(tmp_path, """
        import multiprocessing
        @njit(parallel=True)
        def f(n):
            s = 0
            for i in prange(n):
                s += i * i
            return s
        if __name__ == "__main__":
            expected = [f(n) for n in range(0, 100000, 5000)]
            with multiprocessing.get_context(METHOD).Pool(2) as pool:
                assert pool.map(f, range(0, 100000, 5000)) == expected
    """.replace("METHOD", repr(method)))


@pytest.mark.parametrize("backend", ["threading", "loky", "multiprocessing"])
def test_joblib(backend, tmp_path):
    pytest.importorskip("joblib")
    run_file(tmp_path, """
        from joblib import Parallel, delayed
        @njit(parallel=True)
        def f(n):
            s, h = 0, np.zeros(10, np.int64)
            k = np.arange(n) % 10
            for i in prange(n):
                s += i * i
                h[k[i]] += i
            return s, h.sum()
        if __name__ == "__main__":
            expected = [f(n) for n in range(0, 50000, 5000)]
            assert Parallel(n_jobs=3, backend=BACKEND)(delayed(f)(n) for n in range(0, 50000, 5000)) == expected
    """.replace("BACKEND", repr(backend)))


@pytest.mark.parametrize("processes", [False, True])
def test_dask(processes, tmp_path):
    pytest.importorskip("distributed")
    run_file(tmp_path, """
        from distributed import Client, LocalCluster
        @njit(parallel=True)
        def f(n):
            s = 0
            for i in prange(n):
                s += i * i
            return s
        if __name__ == "__main__":
            expected = [f(n) for n in range(0, 50000, 5000)]
            with LocalCluster(n_workers=2, threads_per_worker=2, processes=PROCESSES, dashboard_address=None) as cluster, Client(cluster) as client:
                assert client.gather(client.map(f, range(0, 50000, 5000))) == expected
    """.replace("PROCESSES", repr(processes)))


def test_settings():
    run("""
        assert tierup.get_num_threads() == 4 and tierup.get_thread_id() == 0 and tierup.threading_layer() == "tierup"
        tierup.set_num_threads(2)
        assert tierup.get_num_threads() == 2
        for bad in (0, 5, -1):
            try:
                tierup.set_num_threads(bad)
            except ValueError as e:
                assert str(e) == "The number of threads must be between 1 and 4"
            else:
                assert False
        other = []
        t = threading.Thread(target=lambda: other.append(tierup.get_num_threads()))
        t.start(); t.join()
        assert other == [4]

        @njit(parallel=True)
        def ids(n, seen):
            for i in prange(n):
                x = 0.0
                for k in range(20000):
                    x += math.sqrt(k)
                seen[tierup.get_thread_id()] += x > 0
            return tierup.get_num_threads()
        seen = np.zeros(4, np.int64)
        assert ids(400, seen) == 2
        assert seen[:2].sum() == 400 and seen[2:].sum() == 0, seen

        @njit
        def inside(n):
            before = tierup.set_parallel_chunksize(n)
            k = tierup.get_parallel_chunksize()
            tierup.set_parallel_chunksize(before)
            tierup.set_num_threads(3)
            return before, k
        assert inside(17) == (0, 17) and tierup.get_num_threads() == 3
        with tierup.parallel_chunksize(10):
            assert tierup.get_parallel_chunksize() == 10
            assert ids(25, np.zeros(4, np.int64)) == 3
        assert tierup.get_parallel_chunksize() == 0
        assert tierup.set_parallel_chunksize(3) == 0
        try:
            tierup.set_parallel_chunksize(-1)
        except ValueError as e:
            assert "greater than or equal to zero" in str(e)
    """)


def test_numbas_names(tmp_path):
    program = tmp_path / "program.py"
    program.write_text("import numba\nfrom numba import njit, prange, get_num_threads, set_num_threads, get_thread_id, threading_layer\n@njit(parallel=True)\ndef f(n):\n    s = 0\n"
                       "    for i in numba.prange(n):\n        s += i + 0 * get_thread_id()\n    return s\nset_num_threads(1)\nassert f(1000) == 499500 and get_num_threads() == 1\n"
                       "with numba.parallel_chunksize(8):\n    assert f(1000) == 499500\nprint(threading_layer())\n")
    done = subprocess.run([sys.executable, "-m", "tierup", "--as-numba", str(program)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and done.stdout == "tierup\n", done.stderr


def test_both_versions_of_a_function_stand_side_by_side():
    run("""
        def f(n):
            x = 1.0
            for i in prange(n):
                x += i
            return x
        def g(n):
            x = 1.0
            for i in prange(n):
                x = x * 0.5 + i
            return x
        serial, parallel = njit(f), njit(parallel=True)(f)
        assert serial(1000) == parallel(1000) == f(1000)
        assert "parallel.region" in parallel.inspect("ssa") and "parallel.region" not in serial.inspect("ssa")
        assert njit(g)(10) == g(10)
        h = njit(parallel=True)(g)
        try:
            h(10)
        except tierup.TypingError as e:
            assert "[parallel-race]" in str(e)
        # A function that is called keeps its own way.
        @njit
        def caller(n):
            return serial(n) + parallel(n)
        assert caller(100) == 2 * f(100)
        assert njit(parallel=True)(lambda n: serial(n) + 1)(100) == f(100) + 1
    """)


def test_a_shared_list_keeps_its_length():
    run("""
        def grow(xs, x):
            xs.append(x)
        @njit(parallel=True)
        def f(n):
            xs = [0.0]
            rows = [[0] for k in range(n)]
            for i in prange(n):
                rows[i].append(i + len(xs))
            for i in prange(n):
                grow(xs, 1.0)
            return xs
        for n in (1, 1000):
            try:
                f(n)
            except RuntimeError as e:
                assert str(e) == "list changed size while it was in use"
            else:
                assert False

        @njit(parallel=True)
        def g(n):
            rows = [[0] for k in range(n)]
            for i in prange(n):
                rows[i].append(i)
            rows.append([7])
            return rows
        assert g(100) == [[0, i] for i in range(100)] + [[7]]
    """)


def test_the_report_and_doubts(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(HEAD + textwrap.dedent("""
        import warnings
        @njit(parallel=True)
        def f(a, h, flag):
            s = 0.0
            for i in prange(len(a)):
                s += a[i]
                h[int(a[i])] += 1 + 0 * h[0]
                if a[i] > 5:
                    flag[0] = 1
                for j in prange(3):
                    s += j
            return s
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            f(np.arange(8.0), np.zeros(8), np.zeros(1))
        assert [w.lineno for w in caught] == [12, 14], [str(w.message) for w in caught]
        assert all(issubclass(w.category, tierup.TierupWarning) for w in caught) and "changes be lost" in str(caught[0].message) and "[parallel-race]" in str(caught[0].message)
        text = str(f.parallel_report())
        assert "line 10: for i in prange(len(a)):" in text and "parallel loop; its iterations share a sum" in text and "line 15: for j in prange(3):" in text, text
        assert "line 14: flag[0] = 1" in text and "<table>" in f.parallel_report()._repr_html_()
        f.parallel_diagnostics(level=4)
        @njit(parallel=True)
        def g(k, h):
            for i in prange(len(k)):
                h[k[i]] += 1
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            g(np.arange(5), np.zeros(5))
        assert "its iterations share elements that are added up" in str(g.parallel_report()), str(g.parallel_report())
        assert "without parallel=True" in str(njit(lambda x: x).parallel_report())
    """))
    done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and "Parallel code in f" in done.stdout, done.stdout + done.stderr


def test_the_long_stress_test_runs_shortly():
    script = Path(__file__).resolve().parents[1] / "stress" / "parallel.py"
    seconds = 60 if os.environ.get("TIERUP_TESTS") == "all" else 5
    done = subprocess.run([sys.executable, str(script), "--seconds", str(seconds)], capture_output=True, text=True, timeout=seconds + 60, env={**os.environ, "TIERUP_NUM_THREADS": "4"})
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]


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
    done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, timeout=60)
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
        g = njit(parallel={"numpy": False})(lambda a: a + 1)
        g(np.ones(3))
        assert "add: not in parallel, switched off by the dictionary" in str(g.parallel_report())
    """))
    done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, timeout=60)
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
        begin = time.monotonic()
        try:
            long(np.ones(200_000))
            raise AssertionError
        except KeyboardInterrupt:
            assert time.monotonic() - begin < 20
        assert power(base, np.abs(exponents)) > 0
    """, threads=4)
