"""The kernels in Python, for `tierup.cuda` and for `numba.cuda`, which read the same text; `m` is the module with the elementary functions."""

import numpy as np

HALF, ONE, SOFT, CENTRE, SIDEWAYS = np.float32(0.5), np.float32(1), np.float32(1e-3), np.float32(0.5), np.float32(0.125)


def launches(cuda, jit, m):
    """Kernels that do next to nothing, of 1, 4 and 16 arrays."""

    @jit
    def one(a):
        a[0] = 1

    @jit
    def four(a, b, c, d):
        a[0] = 1

    @jit
    def sixteen(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p):  # noqa: E741
        a[0] = 1

    return {1: one, 4: four, 16: sixteen}


def saxpy(cuda, jit, m):
    @jit
    def saxpy(a, x, y):
        i = cuda.grid(1)
        if i < y.shape[0]:
            y[i] = a * x[i] + y[i]

    return saxpy


def total(cuda, jit, m):
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

    return total


def product(cuda, jit, m, tile):
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

    return product


def bodies(cuda, jit, m):
    @jit
    def bodies(x, y, z, mass, ax, ay, az):
        sx, sy, sz, sm = cuda.shared.array(256, np.float32), cuda.shared.array(256, np.float32), cuda.shared.array(256, np.float32), cuda.shared.array(256, np.float32)
        i, t = cuda.grid(1), cuda.threadIdx.x
        px, py, pz = x[i], y[i], z[i]
        fx, fy, fz = np.float32(0), np.float32(0), np.float32(0)
        for tile in range(x.shape[0] // 256):
            k = tile * 256 + t
            sx[t], sy[t], sz[t], sm[t] = x[k], y[k], z[k], mass[k]
            cuda.syncthreads()
            for j in range(256):
                dx, dy, dz = sx[j] - px, sy[j] - py, sz[j] - pz
                d = dx * dx + dy * dy + dz * dz + SOFT
                r = ONE / m.sqrt(d)
                s = sm[j] * r * r * r
                fx += s * dx
                fy += s * dy
                fz += s * dz
            cuda.syncthreads()
        ax[i], ay[i], az[i] = fx, fy, fz

    return bodies


def options(cuda, jit, m, kind):
    """Black-Scholes with the polynomial for the normal distribution."""
    a1, a2, a3, a4, a5, scale, step, one, half = (kind(c) for c in (0.31938153, -0.356563782, 1.781477937, -1.821255978, 1.330274429, 0.39894228040143267794, 0.2316419, 1, 0.5))
    rate, spread = kind(0.02), kind(0.30)

    @cuda.jit(device=True)
    def normal(d):
        k = one / (one + step * abs(d))
        c = scale * m.exp(-half * d * d) * (k * (a1 + k * (a2 + k * (a3 + k * (a4 + k * a5)))))
        return one - c if d > 0 else c

    @jit
    def options(price, strike, years, call, put):
        i = cuda.grid(1)
        if i < price.shape[0]:
            s, x, t = price[i], strike[i], years[i]
            root = m.sqrt(t)
            d1 = (m.log(s / x) + (rate + half * spread * spread) * t) / (spread * root)
            d2 = d1 - spread * root
            n1, n2 = normal(d1), normal(d2)
            later = x * m.exp(-rate * t)
            call[i] = s * n1 - later * n2
            put[i] = later * (one - n2) - s * (one - n1)

    return options


def histogram(cuda, jit, m):
    @jit
    def histogram(x, out):
        bins = cuda.shared.array(256, np.int32)
        t = cuda.threadIdx.x
        bins[t] = 0
        cuda.syncthreads()
        for i in range(cuda.grid(1), x.shape[0], cuda.gridsize(1)):
            cuda.atomic.add(bins, x[i], 1)
        cuda.syncthreads()
        cuda.atomic.add(out, t, bins[t])

    return histogram


def transposition(cuda, jit, m):
    @jit
    def transposition(a, b):
        tile = cuda.shared.array((32, 33), np.float32)
        tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
        x, y = cuda.blockIdx.x * 32 + tx, cuda.blockIdx.y * 32 + ty
        for k in range(0, 32, 8):
            tile[ty + k, tx] = a[y + k, x]
        cuda.syncthreads()
        x, y = cuda.blockIdx.y * 32 + tx, cuda.blockIdx.x * 32 + ty
        for k in range(0, 32, 8):
            b[y + k, x] = tile[tx, ty + k]

    return transposition


def stencil(cuda, jit, m):
    @jit
    def stencil(a, b):
        x, y = cuda.grid(2)
        if 0 < x < a.shape[1] - 1 and 0 < y < a.shape[0] - 1:
            b[y, x] = CENTRE * a[y, x] + SIDEWAYS * (a[y - 1, x] + a[y + 1, x] + a[y, x - 1] + a[y, x + 1])

    return stencil
