"""Pools of processes and threads, Dask and Ray: what a program's main module defines runs in all of them."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from harness.build import needs

pytest.importorskip("tierup")

EXAMPLE = Path(__file__).parents[2] / "examples" / "cluster.py"

PROGRAM = """
    import sys
    import numpy as np
    import tierup
    from tierup import guvectorize, njit, struct, vectorize
    from tierup.experimental import jitclass

    def plain(x):
        return x * 2.0

    @njit
    def total(x):
        s = 0.0
        for v in x:
            s += plain(v)
        return s

    @njit(parallel=True)
    def parallel(x):
        s = 0.0
        for i in tierup.prange(len(x)):
            s += x[i]
        return s

    @vectorize(["float64(float64, float64)"])
    def declared(a, b):
        return a + 2 * b

    @vectorize
    def open(a, b):
        return a + 2 * b

    @guvectorize(["void(float64[:], float64[:])"], "(n)->(n)")
    def sums(x, out):
        s = 0.0
        for i in range(len(x)):
            s += x[i]
            out[i] = s

    def made(k):
        @njit
        def scaled(x):
            return x.sum() * k
        return scaled

    @struct
    class Point:
        x: float
        y: float
        def norm(self):
            return self.x * self.x + self.y * self.y

    @jitclass([("n", tierup.types.int64)])
    class Number:
        def __init__(self, n):
            self.n = n
        def norm(self):
            return self.n * 2

    def norm(o):
        return o.norm()

    A = np.arange(50.0)

    def calls():
        return [(total, A), (parallel, A), (declared, A, A), (open, A, A), (sums, A), (made(3.0), A), (norm, Point(3.0, 4.0)), (norm, Number(4))]

    def call(task):
        f, *args = task
        return f(*args)

    def check(answers):
        for (f, *args), answer in zip(calls(), answers, strict=True):
            assert np.array_equal(answer, f(*args)), (f, answer)
        print("right")

    if __name__ == "__main__":
"""

WAYS = {f"multiprocessing, {method}": (f"""
    import multiprocessing
    with multiprocessing.get_context({method!r}).Pool(2) as pool:
        check(pool.map(call, calls()))
""", "tierup") for method in ("fork", "spawn", "forkserver")} | {f"concurrent.futures, {method}": (f"""
    import concurrent.futures, multiprocessing
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=multiprocessing.get_context({method!r})) as pool:
        check(list(pool.map(call, calls())))
""", "tierup") for method in ("fork", "spawn", "forkserver")} | {
    "threads": ("""
    import concurrent.futures
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        check(list(pool.map(call, calls())))
""", "tierup"),
    "joblib, loky": ("""
    import joblib
    check(joblib.Parallel(n_jobs=2)(joblib.delayed(call)(task) for task in calls()))
""", "joblib"),
    "joblib, threads": ("""
    import joblib
    check(joblib.Parallel(n_jobs=2, backend="threading")(joblib.delayed(call)(task) for task in calls()))
""", "joblib"),
    "Dask, delayed": ("""
    import dask
    for scheduler in ("processes", "threads", "synchronous"):
        check(dask.compute(*[dask.delayed(f)(*args) for f, *args in calls()], scheduler=scheduler, num_workers=2))
""", "dask"),
    "Dask, arrays": ("""
    import dask.array
    x = dask.array.from_array(A, chunks=10)
    assert np.array_equal(x.map_blocks(sums).compute(), np.concatenate([sums(A[k : k + 10]) for k in range(0, 50, 10)]))
    assert np.array_equal(declared(x, x).compute(), declared(A, A)) and np.array_equal(open(x, 1.0).compute(scheduler="processes"), open(A, 1.0))
    print("right")
""", "dask"),
    "Dask, distributed": ("""
    from distributed import Client, LocalCluster
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        check(client.gather([client.submit(call, task, pure=False) for task in calls()]))
""", "distributed"),
    "Ray": ("""
    import ray
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    remote = ray.remote(call)
    check(ray.get([remote.remote(task) for task in calls()]))

    @ray.remote
    class Actor:
        def __init__(self, point):
            self.point = point
        def norm(self):
            return self.point.norm()
    assert ray.get(Actor.remote(Point(3.0, 4.0)).norm.remote()) == 25.0
    ray.shutdown()
""", "ray"),
}


@pytest.mark.parametrize("way, package", [pytest.param(way, package, marks=needs(package)) for way, package in WAYS.values()], ids=WAYS)
def test_main_modules(way, package, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(textwrap.dedent(PROGRAM) + textwrap.indent(textwrap.dedent(way), "    "))
    ran = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, env={**os.environ, "PYTHONWARNINGS": "ignore"})
    assert ran.returncode == 0 and {*ran.stdout.split()} == {"right"}, ran.stdout + ran.stderr


@pytest.mark.parametrize("name", [pytest.param("dask", marks=needs("distributed")), pytest.param("ray", marks=needs("ray"))])
def test_the_example(name, tmp_path):
    ran = subprocess.run([sys.executable, str(EXAMPLE), "--small", "--on", name, "--workers", "1", "2"], capture_output=True, text=True, env={**os.environ, "TIERUP_CACHE": "1", "TIERUP_CACHE_DIR": str(tmp_path)})
    assert ran.returncode == 0, ran.stdout + ran.stderr
    places = [(" ".join(line[23:].split()[:3])) for line in ran.stdout.splitlines()]
    assert places == [f"{place} {n} process{'es' * (n > 1)}" for place, n in [("here", 1), (name, 1), (name, 2)] for _ in range(2)] and "WRONG" not in ran.stdout
