"""Figures of kernels on a GPU: the cost of a launch, bandwidth, products of matrices; for Tierup and, where it is installed, for the same kernels in CUDA C through CuPy.

    python benches/gpu.py            # prints one JSON object a line: figure, who, value, unit
    python benches/gpu.py --small    # sizes for the simulator, to see that everything runs

Whoever is not importable is left out, so two Pythons may each take their part.
"""

import json
import statistics
import sys
import time

import numpy as np

SMALL = "--small" in sys.argv
N = 10_000 if SMALL else 100_000_000
SIDE = 64 if SMALL else 2048
LAUNCHES = 20 if SMALL else 2000
ROUNDS = 2 if SMALL else 7


def say(figure, who, value, unit):
    print(json.dumps({"figure": figure, "who": who, "value": round(value, 4), "unit": unit}), flush=True)


def launch_cost(launch, synchronise):
    """Microseconds of a launch that is not waited for: the least of some rounds of as many launches as the device queues."""
    found = []
    for _ in range(ROUNDS):
        synchronise()
        begin = time.perf_counter()
        for _ in range(LAUNCHES // 4):
            launch()
        found.append((time.perf_counter() - begin) / (LAUNCHES // 4))
        synchronise()
    return 1e6 * min(found)


def seconds(launch, synchronise, event):
    """The median of a kernel's time by events."""
    launch()
    found = []
    for _ in range(ROUNDS):
        synchronise()
        found.append(event(launch))
    return statistics.median(found)


def figures(who, kernels, arrays, synchronise, event):
    """Takes all figures for one implementation; `kernels` has a launcher by name, `arrays` makes arrays on the device."""
    for count in (1, 4, 16):
        if f"nothing{count}" in kernels:
            given = [arrays(np.zeros(16, np.float32)) for _ in range(count)]
            say(f"launch, {count} arrays", who, launch_cost(lambda: kernels[f"nothing{count}"](*given), synchronise), "us")
    for dtype in (np.float32, np.float64):
        x, y = arrays(np.ones(N, dtype)), arrays(np.ones(N, dtype))
        t = seconds(lambda: kernels[f"saxpy {dtype.__name__}"](dtype(0.5), x, y), synchronise, event)
        say(f"saxpy {dtype.__name__}", who, 3 * N * x.dtype.itemsize / t / 1e9, "GB/s")
        del x, y
    rng = np.random.default_rng(0)
    a, b = rng.random((SIDE, SIDE), np.float32), rng.random((SIDE, SIDE), np.float32)
    for tile in (16, 32):
        given = [arrays(a), arrays(b), arrays(np.zeros_like(a))]
        t = seconds(lambda: kernels[f"product {tile}"](*given), synchronise, event)
        say(f"matrix product, tiles of {tile}", who, 2 * SIDE**3 / t / 1e9, "GFLOP/s")
        got = np.asarray(given[2].get() if hasattr(given[2], "get") else given[2])
        np.testing.assert_allclose(got, a @ b, rtol=1e-3)
    x, out = arrays(np.ones(N)), arrays(np.zeros(1))
    t = seconds(lambda: kernels["sum"](x, out), synchronise, event)
    say("sum float64", who, 8 * N / t / 1e9, "GB/s")


def of_tierup(check):
    from tierup import cuda

    jit = cuda.jit(boundscheck=check)

    def saxpy(a, x, y):
        i = cuda.grid(1)
        if i < y.shape[0]:
            y[i] = a * x[i] + y[i]

    def product(tile):
        shape = (tile, tile)

        @jit
        def product(a, b, c):
            rows, columns = cuda.shared.array(shape, np.float32), cuda.shared.array(shape, np.float32)
            x, y = cuda.grid(2)
            tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
            s = np.float32(0)
            for k in range(a.shape[1] // tile):
                rows[ty, tx] = a[y, k * tile + tx]
                columns[ty, tx] = b[k * tile + ty, x]
                cuda.syncthreads()
                for j in range(tile):
                    s += rows[ty, j] * columns[j, tx]
                cuda.syncthreads()
            c[y, x] = s

        return product[(SIDE // tile, SIDE // tile), (tile, tile)]

    @jit
    def total(x, out):
        part = cuda.shared.array(256, np.float64)
        t = cuda.threadIdx.x
        s = 0.0
        for i in range(cuda.grid(1), x.shape[0], cuda.gridsize(1)):
            s += x[i]
        part[t] = s
        cuda.syncthreads()
        n = 128
        while n > 0:
            if t < n:
                part[t] += part[t + n]
            cuda.syncthreads()
            n //= 2
        if t == 0:
            cuda.atomic.add(out, 0, part[0])

    def event(launch):
        start, end = cuda.event(), cuda.event()
        start.record()
        launch()
        end.record()
        end.synchronize()
        return start.elapsed_time(end) / 1e3

    @jit
    def nothing1(a):
        a[0] = 1

    @jit
    def nothing4(a, b, c, d):
        a[0] = 1

    @jit
    def nothing16(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p):  # noqa: E741
        a[0] = 1

    add = jit(saxpy)[-(-N // 256), 256]
    kernels = {"nothing1": nothing1[1, 32], "nothing4": nothing4[1, 32], "nothing16": nothing16[1, 32], "saxpy float32": add, "saxpy float64": add, "product 16": product(16), "product 32": product(32), "sum": total[2048 if not SMALL else 8, 256]}
    begin = time.perf_counter()
    kernels["nothing1"](cuda.to_device(np.zeros(16, np.float32)))
    cuda.synchronize()
    say("first launch in a warm process" if check else "the same without checks", "tierup", 1e3 * (time.perf_counter() - begin), "ms")
    figures("tierup" if check else "tierup, no checks", kernels, cuda.to_device, cuda.synchronize, event)


CUDA = r"""
extern "C" {
__global__ void nothing1(float *a, long long n) { a[0] = 1; }
__global__ void saxpy_f(float a, const float *x, float *y, long long n) { long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; if (i < n) y[i] = a * x[i] + y[i]; }
__global__ void saxpy_d(double a, const double *x, double *y, long long n) { long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; if (i < n) y[i] = a * x[i] + y[i]; }
__global__ void total(const double *x, double *out, long long n) {
    __shared__ double part[256];
    int t = threadIdx.x; double s = 0;
    for (long long i = blockIdx.x * (long long)blockDim.x + t; i < n; i += (long long)gridDim.x * blockDim.x) s += x[i];
    part[t] = s; __syncthreads();
    for (int k = 128; k > 0; k /= 2) { if (t < k) part[t] += part[t + k]; __syncthreads(); }
    if (t == 0) atomicAdd(out, part[0]);
}
#define PRODUCT(NAME, TILE) __global__ void NAME(const float *a, const float *b, float *c, long long n) { \
    __shared__ float rows[TILE][TILE], columns[TILE][TILE]; \
    int tx = threadIdx.x, ty = threadIdx.y; long long x = blockIdx.x * TILE + tx, y = blockIdx.y * TILE + ty; float s = 0; \
    for (long long k = 0; k < n / TILE; k++) { rows[ty][tx] = a[y * n + k * TILE + tx]; columns[ty][tx] = b[(k * TILE + ty) * n + x]; __syncthreads(); \
        for (int j = 0; j < TILE; j++) s += rows[ty][j] * columns[j][tx]; __syncthreads(); } \
    c[y * n + x] = s; }
PRODUCT(product16, 16)
PRODUCT(product32, 32)
}
"""


def of_cupy():
    import cupy
    module = cupy.RawModule(code=CUDA)
    f = module.get_function
    n, side = np.int64(N), np.int64(SIDE)
    kernels = {
        "nothing1": lambda a: f("nothing1")((1,), (32,), (a, n)), "saxpy float32": lambda a, x, y: f("saxpy_f")((-(-N // 256),), (256,), (a, x, y, n)), "saxpy float64": lambda a, x, y: f("saxpy_d")((-(-N // 256),), (256,), (a, x, y, n)),
        "product 16": lambda a, b, c: f("product16")((SIDE // 16, SIDE // 16), (16, 16), (a, b, c, side)), "product 32": lambda a, b, c: f("product32")((SIDE // 32, SIDE // 32), (32, 32), (a, b, c, side)), "sum": lambda x, out: f("total")((2048,), (256,), (x, out, n)),
    }
    one = f("nothing1")
    kernels["nothing1"] = lambda a: one((1,), (32,), (a, n))

    def event(launch):
        start, end = cupy.cuda.Event(), cupy.cuda.Event()
        start.record()
        launch()
        end.record()
        end.synchronize()
        return cupy.cuda.get_elapsed_time(start, end) / 1e3

    figures("CUDA C through CuPy", kernels, cupy.asarray, cupy.cuda.Device().synchronize, event)


if __name__ == "__main__":
    for take in (lambda: of_tierup(True), lambda: of_tierup(False), of_cupy):
        try:
            take()
        except ImportError as e:
            print(f"# left out: {e}", file=sys.stderr)
