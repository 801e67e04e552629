"""Figures of kernels on a GPU, for Tierup with and without its checks, and where they are installed for the same kernels in CUDA C (through CuPy) and under numba-cuda; the driver alone through `nvcc`.

    python benches/gpu.py                 # prints one JSON object a line (figure, who, value, unit), then a table of ratios
    python benches/gpu.py --small         # sizes for the simulator, to see that everything runs and is right
    python benches/gpu.py --only stencil  # figures whose name has the text

Every result is compared with NumPy's before it is timed. A time is the median of seven, each of enough launches in a row that the device waits for none, between two events.
"""

import json
import math
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from gpu_kernels import python

SMALL = "--small" in sys.argv
ONLY = sys.argv[sys.argv.index("--only") + 1] if "--only" in sys.argv else ""
ROUNDS = 2 if SMALL else 7
LAUNCHES = 20 if SMALL else 500
HERE = Path(__file__).parent
F32, F64 = np.float32, np.float64
FOUND = {}


def size(small, large):
    return small if SMALL else large


def say(figure, who, value, unit):
    FOUND[figure, who] = value
    print(json.dumps({"figure": figure, "who": who, "value": round(value, 4), "unit": unit}), flush=True)


class Figure:
    """A kernel, what it is given and what it must give: `arguments` are numbers and arrays of NumPy's, those in `results` are changed. `work` is bytes moved or operations done."""

    def __init__(self, name, kernel, grid, block, arguments, results, wanted, work, unit, compiled, tolerance=1e-5, n=None):
        self.name, self.kernel, self.grid, self.block, self.arguments, self.results, self.wanted, self.work, self.unit, self.compiled, self.tolerance, self.n = name, kernel, grid, block, arguments, results, wanted, work, unit, compiled, tolerance, n


def figures():
    """Makes the figures one by one, since together their arrays would not fit."""
    rng = np.random.default_rng(0)
    n = size(10_000, 100_000_000)
    blocks = lambda n: (-(-n // 256),)  # noqa: E731
    for kind in (F32, F64):
        x, y = rng.random(n, kind), rng.random(n, kind)
        yield Figure(f"saxpy {kind.__name__}", python.saxpy, blocks(n), (256,), [kind(0.5), x, y], [2], lambda x=x, y=y: [0.5 * x + y], 3 * x.nbytes, "GB/s", f"saxpy_{kind.__name__}")
    x = rng.random(n)
    yield Figure("sum float64", python.total, (size(8, 2048),), (256,), [x, np.zeros(1)], [1], lambda: [[x.sum()]], x.nbytes, "GB/s", "total")
    side = size(64, 2048)
    a, b = rng.random((side, side), F32), rng.random((side, side), F32)
    wanted = a @ b
    for tile in (16, 32):
        yield Figure(f"product, tiles of {tile}", lambda cuda, jit, m, tile=tile: python.product(cuda, jit, m, tile), (side // tile,) * 2, (tile, tile), [a, b, np.zeros_like(a)], [2], lambda: [wanted], 2 * side**3, "GFLOP/s", f"product_{tile}", 1e-4, side)
    n = size(512, 65_536)
    x, y, z, m = (rng.random(n, F32) for _ in range(4))

    def attraction():
        few = slice(0, 64)
        d = [c - c[few, None] for c in (x, y, z)]
        s = m / (d[0] ** 2 + d[1] ** 2 + d[2] ** 2 + F32(1e-3)).astype(F64) ** 1.5
        return [(s * c).sum(1) for c in d]

    yield Figure("bodies", python.bodies, (n // 256,), (256,), [x, y, z, m, *(np.zeros(n, F32) for _ in range(3))], [4, 5, 6], attraction, 20 * n**2, "GFLOP/s", "bodies", 1e-3)
    n = size(10_000, 10_000_000)
    for kind in (F32, F64):
        given = [rng.uniform(low, high, n).astype(kind) for low, high in ((5, 30), (1, 100), (0.25, 10))]
        yield Figure(f"options {kind.__name__}", lambda cuda, jit, m, kind=kind: python.options(cuda, jit, m, kind), blocks(n), (256,), [*given, np.zeros(n, kind), np.zeros(n, kind)], [3, 4], lambda given=given: prices(*(g.astype(F64) for g in given)), 5 * given[0].nbytes, "GB/s", f"options_{kind.__name__}", 1e-3 if kind is F32 else 1e-9)
    n = size(10_000, 100_000_000)
    x = rng.integers(0, 256, n, np.uint8)
    yield Figure("histogram", python.histogram, (size(8, 1056),), (256,), [x, np.zeros(256, np.int32)], [1], lambda: [np.bincount(x, minlength=256)], x.nbytes, "GB/s", "histogram")
    side = size(64, 8192)
    a = rng.random((side, side), F32)
    yield Figure("transposition", python.transposition, (side // 32,) * 2, (32, 8), [a, np.zeros_like(a)], [1], lambda: [a.T], 2 * a.nbytes, "GB/s", "transposition", 0, side)

    def smooth():
        out = np.zeros_like(a)
        out[1:-1, 1:-1] = F32(0.5) * a[1:-1, 1:-1] + F32(0.125) * (a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:])
        return [out]

    yield Figure("stencil", python.stencil, (side // 32, side // 8), (32, 8), [a, np.zeros_like(a)], [1], smooth, 2 * a.nbytes, "GB/s", "stencil", n=side)


def prices(s, x, t):
    """Black-Scholes in float64, with the kernels' polynomial."""
    def normal(d):
        k = 1 / (1 + 0.2316419 * abs(d))
        c = 0.39894228040143267794 * np.exp(-0.5 * d * d) * (k * (0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429)))))
        return np.where(d > 0, 1 - c, c)

    d1 = (np.log(s / x) + (0.02 + 0.5 * 0.3 * 0.3) * t) / (0.3 * np.sqrt(t))
    d2 = d1 - 0.3 * np.sqrt(t)
    later = x * np.exp(-0.02 * t)
    return [s * normal(d1) - later * normal(d2), later * (1 - normal(d2)) - s * (1 - normal(d1))]


class Python:
    """Tierup or numba-cuda."""

    def __init__(self, name, cuda, jit, functions=np):
        self.name, self.cuda, self.jit, self.functions = name, cuda, jit, functions
        self.synchronise = cuda.synchronize

    def array(self, x):
        return self.cuda.to_device(x) if isinstance(x, np.ndarray) else self.cuda.as_cuda_array(x)

    def host(self, x):
        return x.copy_to_host()

    def launcher(self, figure):
        kernel = figure.kernel(self.cuda, self.jit, self.functions)
        return kernel[figure.grid, figure.block]

    def nothing(self):
        return {n: k[1, 32] for n, k in python.launches(self.cuda, self.jit, self.functions).items()}

    def seconds(self, launch, times):
        start, end = self.cuda.event(), self.cuda.event()
        start.record()
        for _ in range(times):
            launch()
        end.record()
        end.synchronize()
        return start.elapsed_time(end) / 1e3 / times


class CudaC:
    """CUDA C through CuPy."""

    name = "CUDA C"

    def __init__(self, cupy):
        self.cupy = cupy
        self.module = cupy.RawModule(code=(HERE / "gpu_kernels/kernels.cu").read_text())
        self.synchronise = cupy.cuda.Device().synchronize

    def array(self, x):
        return self.cupy.asarray(x)

    def host(self, x):
        return x.get()

    def launcher(self, figure):
        f = self.module.get_function(figure.compiled)
        longest = np.int64(figure.n or max(len(a) for k, a in enumerate(figure.arguments) if isinstance(a, np.ndarray)))
        return lambda *args: f(figure.grid, figure.block, (*args, longest))

    def nothing(self):
        out, n = {}, np.int64(16)
        for count, name in ((1, "one"), (4, "four"), (16, "sixteen")):
            f = self.module.get_function(name)
            out[count] = lambda *args, f=f: f((1,), (32,), tuple(v for a in args for v in (a, n)))
        return out

    def seconds(self, launch, times):
        start, end = self.cupy.cuda.Event(), self.cupy.cuda.Event()
        start.record()
        for _ in range(times):
            launch()
        end.record()
        end.synchronize()
        return self.cupy.cuda.get_elapsed_time(start, end) / 1e3 / times


def contestants():
    from tierup import cuda
    out = [Python("tierup", cuda, cuda.jit), Python("tierup, no checks", cuda, cuda.jit(boundscheck=False, error_model="numpy"))]
    cupy = None
    try:
        import cupy
        cupy.cuda.Device().synchronize()
        out.append(CudaC(cupy))
    except Exception as e:
        print(f"# no CUDA C: {e}", file=sys.stderr)
        cupy = None
    if not SMALL:
        try:
            # Numba asks for a function that NumPy has dropped.
            np.row_stack = getattr(np, "row_stack", np.vstack)
            from numba import cuda as theirs
            theirs.current_context()
            import logging
            logging.getLogger("numba").setLevel(logging.ERROR)
            out.append(Python("numba-cuda", theirs, theirs.jit, math))
        except Exception as e:
            print(f"# no numba-cuda: {e}", file=sys.stderr)
    return out, cupy


def measure(figure, everybody, cupy):
    shared = [cupy.asarray(a) if cupy and isinstance(a, np.ndarray) and k not in figure.results else a for k, a in enumerate(figure.arguments)]
    wanted = figure.wanted()
    for who in everybody:
        try:
            one(figure, who, shared, wanted)
        except Exception as e:
            print(f"# {figure.name}, {who.name}: {type(e).__name__}: {str(e).strip().splitlines()[:1]}", file=sys.stderr)
            if who.name.startswith("tierup"):
                raise


def one(figure, who, shared, wanted):
    launch = who.launcher(figure)
    given = [a if np.ndim(a) == 0 else who.array(a) for a in shared]
    launch(*given)
    who.synchronise()
    for k, right in zip(figure.results, wanted):
        got = who.host(given[k])
        np.testing.assert_allclose(got[tuple(slice(0, n) for n in np.shape(right))], right, rtol=figure.tolerance, atol=figure.tolerance, err_msg=f"{who.name}: {figure.name}")
    once = who.seconds(lambda: launch(*given), 1)
    times = 1 if SMALL else max(1, min(50, int(0.02 / max(once, 1e-6))))
    took = statistics.median(who.seconds(lambda: launch(*given), times) for _ in range(ROUNDS))
    say(figure.name, who.name, figure.work / took / 1e9, figure.unit)


def launch_cost(launch, synchronise):
    """Microseconds of a launch that is not waited for: the least of some rounds of as many launches as the device queues."""
    found = []
    for _ in range(ROUNDS):
        synchronise()
        begin = time.perf_counter()
        for _ in range(LAUNCHES):
            launch()
        found.append((time.perf_counter() - begin) / LAUNCHES)
        synchronise()
    return 1e6 * min(found)


def launches(everybody, cupy):
    for who in everybody:
        if who.name == "tierup, no checks":
            continue
        kernels = who.nothing()
        for count, kernel in kernels.items():
            for foreign in (False, True) if cupy and who.name != "CUDA C" else (False,):
                given = [cupy.zeros(16, F32) if foreign else who.array(np.zeros(16, F32)) for _ in range(count)]
                kernel(*given)
                text = f"launch, {count} arrays{' of CuPy' if foreign else ''}"
                say(text, who.name, launch_cost(lambda: kernel(*given), who.synchronise), "us")


COLD = {
    "tierup": "import numpy as np\nfrom tierup import cuda",
    "numba-cuda": "import numpy as np\nnp.row_stack = np.vstack\nfrom numba import cuda",
}
BEGIN = """
import time
@cuda.jit{options}
def saxpy(a, x, y):
    i = cuda.grid(1)
    if i < y.shape[0]:
        y[i] = a * x[i] + y[i]
begin = time.perf_counter()
x, y = cuda.to_device(np.ones(1000, np.float32)), cuda.to_device(np.ones(1000, np.float32))
made = time.perf_counter()
saxpy[4, 256](np.float32(2), x, y)
cuda.synchronize()
end = time.perf_counter()
assert (y.copy_to_host() == 3).all()
print(1e3 * (end - begin), 1e3 * (end - made))
"""


def cold():
    """A fresh process to the end of its first kernel, imports left out; and the part of it that is behind the context. Once to fill the cache, then the least of three from it."""
    for who, imports in COLD.items():
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder) / "program.py"
            program.write_text(imports + BEGIN.format(options="(cache=True)"))
            environment = {**os.environ, "TIERUP_CACHE": "1", "TIERUP_CACHE_DIR": folder, "NUMBA_CACHE_DIR": folder, "CUDA_CACHE_DISABLE": "1"}
            found = []
            for _ in range(4):
                done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, env=environment)
                if done.returncode:
                    print(f"# no cold start of {who}: {done.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
                    break
                found.append(tuple(map(float, done.stdout.split())))
            for state, times in (("", found[:1]), (", from the cache", found[1:])):
                if times:
                    whole, launch = map(min, zip(*times))
                    say(f"cold process to the first kernel{state}", who, whole, "ms")
                    say(f"the same behind the context{state}", who, launch, "ms")


def driver_alone():
    nvcc = shutil.which("nvcc")
    if nvcc is None:
        return
    with tempfile.TemporaryDirectory() as folder:
        program = f"{folder}/launch"
        done = subprocess.run([nvcc, "-O3", "-o", program, str(HERE / "gpu_kernels/launch.cu"), "-lcuda"], capture_output=True, text=True)
        if done.returncode == 0:
            done = subprocess.run([program], capture_output=True, text=True)
        if done.returncode:
            print(f"# the driver alone: {done.stdout[-500:]}{done.stderr[-500:]}", file=sys.stderr)
            return
        cost, first = map(float, done.stdout.split())
        say("launch, 16 arrays", "driver", cost, "us")
        say("cold process to the first kernel", "nvcc", first, "ms")


def table():
    """Ratios of speeds: of what is compiled without checks to CUDA C, of what is checked to that, of numba-cuda to CUDA C."""
    print(f"\n{'figure':34}{'no checks / CUDA C':>20}{'checked / unchecked':>20}{'numba / CUDA C':>18}")
    checked = []
    for figure in dict.fromkeys(f for f, who in FOUND if who == "tierup, no checks"):
        ratio = lambda a, b: FOUND[figure, a] / FOUND[figure, b] if (figure, a) in FOUND and (figure, b) in FOUND else float("nan")  # noqa: E731
        checked.append(ratio("tierup", "tierup, no checks"))
        print(f"{figure:34}{ratio('tierup, no checks', 'CUDA C'):20.3f}{checked[-1]:20.3f}{ratio('numba-cuda', 'CUDA C'):18.3f}")
    if checked:
        print(f"{'geometric mean of checked':54}{statistics.geometric_mean(checked):20.3f}")


def main():
    from tierup import cuda
    print(f"# {'simulator' if cuda.is_simulated() else cuda.get_current_device()}, Python {sys.version.split()[0]}", flush=True)
    wants = lambda text: ONLY in text  # noqa: E731
    if not SMALL and wants("cold"):
        cold()
        driver_alone()
    everybody, cupy = contestants()
    if wants("launch"):
        launches(everybody, cupy)
    for figure in figures():
        if wants(figure.name):
            measure(figure, everybody, cupy)
            if cupy:
                cupy.get_default_memory_pool().free_all_blocks()
    table()


if __name__ == "__main__":
    main()
