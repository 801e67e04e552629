"""Parallel loops beyond what mdtests compare: the same bits at any number of threads, which exception wins, Ctrl-C, forks, Python threads, settings."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from harness import sampling
from harness.processes import HANG

pytest.importorskip("tierup")
HEAD = "import math, os, signal, sys, threading, time, traceback\nimport numpy as np\nimport tierup\nfrom tierup import njit, prange\n"


def run(text, threads=4, timeout=HANG, **environment):
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
    runs = 25 if sampling.ALL else 5
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
        try:
            f(10**13)
        except KeyboardInterrupt as e:
            assert "f" in [t.name for t in traceback.extract_tb(e.__traceback__)]
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
    """)


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
    done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, timeout=HANG)
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
        for bad, kind, text in ((2**70, ValueError, "The number of threads must be between 1 and 4"), (1.5, TypeError, "The number of threads specified must be an integer"), ("2", TypeError, "The number of threads specified must be an integer")):
            try:
                tierup.set_num_threads(bad)
            except kind as e:
                assert str(e) == text
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
        try:
            tierup.set_parallel_chunksize(1.5)
        except TypeError as e:
            assert str(e) == "The parallel chunksize must be an integer"
        else:
            assert False
    """)


def test_numbas_names(tmp_path):
    program = tmp_path / "program.py"
    program.write_text("import numba\nfrom numba import njit, prange, get_num_threads, set_num_threads, get_thread_id, threading_layer\n@njit(parallel=True)\ndef f(n):\n    s = 0\n"
                       "    for i in numba.prange(n):\n        s += i + 0 * get_thread_id()\n    return s\nset_num_threads(1)\nassert f(1000) == 499500 and get_num_threads() == 1\n"
                       "with numba.parallel_chunksize(8):\n    assert f(1000) == 499500\nprint(threading_layer())\n")
    done = subprocess.run([sys.executable, "-m", "tierup", "--as-numba", str(program)], capture_output=True, text=True, timeout=HANG)
    assert done.returncode == 0 and done.stdout == "tierup\n", done.stderr


@pytest.mark.parametrize("asked, named", [
    ({"NUMBA_THREADING_LAYER": "omp"}, "omp"), ({"NUMBA_THREADING_LAYER": "default"}, "tierup"), ({"NUMBA_THREADING_LAYER": "safe"}, "tierup"), ({"NUMBA_THREADING_LAYER_PRIORITY": "workqueue tbb omp"}, "workqueue"),
    ({"NUMBA_THREADING_LAYER_PRIORITY": "omp workqueue tbb", "NUMBA_THREADING_LAYER": "tbb"}, "tbb"), ({"NUMBA_THREADING_LAYER_PRIORITY": "omp other tbb"}, None),
])
def test_the_layer_that_a_program_asks_for_by_name(tmp_path, asked, named):
    program = tmp_path / "program.py"
    program.write_text("import os, numba\norder = os.environ.get('NUMBA_THREADING_LAYER_PRIORITY')\nassert not order or numba.config.THREADING_LAYER_PRIORITY == order.split()\n"
                       "@numba.njit(parallel=True)\ndef f(x):\n    return x + 1\nassert f(3) == 4\nprint(numba.threading_layer())\n")
    done = subprocess.run([sys.executable, "-m", "tierup", "--as-numba", str(program)], capture_output=True, text=True, timeout=HANG, env={**os.environ, **asked})
    if named is None:
        assert done.returncode != 0 and "THREADING_LAYER_PRIORITY invalid: omp other tbb. It must be a permutation of" in done.stderr
    else:
        assert done.returncode == 0 and done.stdout == named + "\n", done.stderr


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
    done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, timeout=HANG)
    assert done.returncode == 0 and "Parallel code in f" in done.stdout, done.stdout + done.stderr


def test_the_long_stress_test_runs_shortly():
    script = Path(__file__).resolve().parents[1] / "stress" / "parallel.py"
    seconds = 60 if sampling.ALL else 5
    done = subprocess.run([sys.executable, str(script), "--seconds", str(seconds)], capture_output=True, text=True, timeout=HANG, env={**os.environ, "TIERUP_NUM_THREADS": "4"})
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
