// The kernels of python.py.
typedef long long I;
extern "C" {
__global__ void one(float *a, I na) { a[0] = 1; }
__global__ void four(float *a, I na, float *b, I nb, float *c, I nc, float *d, I nd) { a[0] = 1; }
#define A(x) float *x, I n##x
__global__ void sixteen(A(a), A(b), A(c), A(d), A(e), A(f), A(g), A(h), A(i), A(j), A(k), A(l), A(m), A(n), A(o), A(p)) { a[0] = 1; }

#define SAXPY(NAME, T) __global__ void NAME(T a, const T *x, T *y, I n) { \
    I i = blockIdx.x * (I)blockDim.x + threadIdx.x; if (i < n) y[i] = a * x[i] + y[i]; }
SAXPY(saxpy_float32, float)
SAXPY(saxpy_float64, double)

__global__ void total(const double *x, double *out, I n) {
    __shared__ double part[256];
    int t = threadIdx.x; double s = 0;
    for (I i = blockIdx.x * (I)blockDim.x + t; i < n; i += (I)gridDim.x * blockDim.x) s += x[i];
    part[t] = s; __syncthreads();
    for (int k = 128; k > 0; k /= 2) { if (t < k) part[t] += part[t + k]; __syncthreads(); }
    if (t == 0) atomicAdd(out, part[0]);
}

#define PRODUCT(NAME, TILE) __global__ void NAME(const float *a, const float *b, float *c, I n) { \
    __shared__ float rows[TILE][TILE], columns[TILE][TILE]; \
    int tx = threadIdx.x, ty = threadIdx.y; I x = blockIdx.x * TILE + tx, y = blockIdx.y * TILE + ty; float s = 0; \
    for (I k = 0; k < n / TILE; k++) { rows[ty][tx] = a[y * n + k * TILE + tx]; columns[ty][tx] = b[(k * TILE + ty) * n + x]; __syncthreads(); \
        for (int j = 0; j < TILE; j++) s += rows[ty][j] * columns[j][tx]; __syncthreads(); } \
    c[y * n + x] = s; }
PRODUCT(product_16, 16)
PRODUCT(product_32, 32)

__global__ void bodies(const float *x, const float *y, const float *z, const float *m, float *ax, float *ay, float *az, I n) {
    __shared__ float sx[256], sy[256], sz[256], sm[256];
    I i = blockIdx.x * (I)blockDim.x + threadIdx.x; int t = threadIdx.x;
    float px = x[i], py = y[i], pz = z[i], fx = 0, fy = 0, fz = 0;
    for (I tile = 0; tile < n / 256; tile++) {
        I k = tile * 256 + t;
        sx[t] = x[k]; sy[t] = y[k]; sz[t] = z[k]; sm[t] = m[k]; __syncthreads();
        for (int j = 0; j < 256; j++) {
            float dx = sx[j] - px, dy = sy[j] - py, dz = sz[j] - pz, d = dx * dx + dy * dy + dz * dz + 1e-3f;
            float r = 1.0f / sqrtf(d), s = sm[j] * r * r * r;
            fx += s * dx; fy += s * dy; fz += s * dz;
        }
        __syncthreads();
    }
    ax[i] = fx; ay[i] = fy; az[i] = fz;
}

#define OPTIONS(NAME, T, SQRT, EXP, LOG, ABS) \
__device__ T normal_##NAME(T d) { \
    T k = (T)1 / ((T)1 + (T)0.2316419 * ABS(d)); \
    T c = (T)0.39894228040143267794 * EXP(-(T)0.5 * d * d) * (k * ((T)0.31938153 + k * ((T)-0.356563782 + k * ((T)1.781477937 + k * ((T)-1.821255978 + k * (T)1.330274429))))); \
    return d > 0 ? (T)1 - c : c; } \
__global__ void NAME(const T *price, const T *strike, const T *years, T *call, T *put, I n) { \
    I i = blockIdx.x * (I)blockDim.x + threadIdx.x; \
    if (i < n) { T s = price[i], x = strike[i], t = years[i], rate = (T)0.02, spread = (T)0.30, root = SQRT(t); \
        T d1 = (LOG(s / x) + (rate + (T)0.5 * spread * spread) * t) / (spread * root), d2 = d1 - spread * root; \
        T n1 = normal_##NAME(d1), n2 = normal_##NAME(d2), later = x * EXP(-rate * t); \
        call[i] = s * n1 - later * n2; put[i] = later * ((T)1 - n2) - s * ((T)1 - n1); } }
OPTIONS(options_float32, float, sqrtf, expf, logf, fabsf)
OPTIONS(options_float64, double, sqrt, exp, log, fabs)

__global__ void histogram(const unsigned char *x, int *out, I n) {
    __shared__ int bins[256];
    int t = threadIdx.x; bins[t] = 0; __syncthreads();
    for (I i = blockIdx.x * (I)blockDim.x + t; i < n; i += (I)gridDim.x * blockDim.x) atomicAdd(&bins[x[i]], 1);
    __syncthreads();
    atomicAdd(&out[t], bins[t]);
}

__global__ void transposition(const float *a, float *b, I n) {
    __shared__ float tile[32][33];
    int tx = threadIdx.x, ty = threadIdx.y; I x = blockIdx.x * 32 + tx, y = blockIdx.y * 32 + ty;
    for (int k = 0; k < 32; k += 8) tile[ty + k][tx] = a[(y + k) * n + x];
    __syncthreads();
    x = blockIdx.y * 32 + tx; y = blockIdx.x * 32 + ty;
    for (int k = 0; k < 32; k += 8) b[(y + k) * n + x] = tile[tx][ty + k];
}

__global__ void stencil(const float *a, float *b, I n) {
    I x = blockIdx.x * (I)blockDim.x + threadIdx.x, y = blockIdx.y * (I)blockDim.y + threadIdx.y;
    if (0 < x && x < n - 1 && 0 < y && y < n - 1)
        b[y * n + x] = 0.5f * a[y * n + x] + 0.125f * (a[(y - 1) * n + x] + a[(y + 1) * n + x] + a[y * n + x - 1] + a[y * n + x + 1]);
}
}
