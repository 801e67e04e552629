"""Linear algebra, sorting and random numbers in the iterations of parallel loops, and whole in parallel functions: beside plain Python, and with the same bits for any pieces and any number of threads."""

import linecache

import numpy as np
import pytest

tierup = pytest.importorskip("tierup")
pytestmark = pytest.mark.filterwarnings("ignore")


def made(text, parallel):
    name = f"<numerics {text}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    space = {"np": np, "prange": tierup.prange if parallel else range}
    exec(compile(text, name, "exec"), space)
    return tierup.njit(parallel=True)(space["f"]) if parallel else space["f"]


def loop(body, out="np.zeros(n)", over="n"):
    return f"def f(m, v, k, g, n):\n    out = {out}\n    for i in prange({over}):\n" + "".join(f"        {line}\n" for line in body.split("\n")) + "    return out\n"


def inputs(seed, n):
    r = np.random.default_rng(seed)
    m = r.standard_normal((n, 4, 4)) + 4 * np.eye(4)
    return m, r.standard_normal((n, 4)), r.integers(-20, 20, (n, 40)), r, n


def bits(x):
    """Arrays as bytes, so that NaN and -0.0 are what they are."""
    if isinstance(x, (tuple, list)):
        return [bits(y) for y in x]
    return (x.dtype.str, x.shape, x.tobytes()) if isinstance(x, np.ndarray) else repr(x)


def at_every_width(compiled, args, seen=bits):
    """What a function gives on any number of threads and in any pieces: one thing, of which this is the first."""
    most, before, found = tierup.config.num_threads, tierup.get_num_threads(), []
    try:
        for threads in sorted({min(t, most) for t in (1, 2, 3, 8)}):
            tierup.set_num_threads(threads)
            for chunk in (0, 1, 7):
                with tierup.parallel_chunksize(chunk):
                    try:
                        found.append(compiled(*args()))
                    except Exception as e:  # noqa: BLE001
                        found.append((type(e).__name__, str(e)))
    finally:
        tierup.set_num_threads(before)
    assert all(seen(x) == seen(found[0]) for x in found), found
    return found[0]


LOOPS = [
    loop("out[i] = m[i] @ v[i]", "np.zeros((n, 4))"), loop("out[i] = m[i] @ m[i].T", "np.zeros((n, 4, 4))"), loop("out[i] = np.dot(v[i], v[i]) + np.vdot(v[i], m[i, 0])"),
    loop("np.dot(m[i], m[i], out[i])", "np.zeros((n, 4, 4))"), loop("out[i] = np.linalg.multi_dot((v[i], m[i], m[i].T, m[i], v[i]))"), loop("out[i] = np.einsum('ij,j->i', m[i], v[i])", "np.zeros((n, 4))"),
    loop("out[i] = np.linalg.solve(m[i], v[i])", "np.zeros((n, 4))"), loop("out[i] = np.linalg.inv(m[i])", "np.zeros((n, 4, 4))"), loop("out[i] = np.linalg.det(m[i])"),
    loop("out[i] = np.linalg.slogdet(m[i])[1]"), loop("h = m[i] @ m[i].T\nout[i] = np.linalg.cholesky(h)", "np.zeros((n, 4, 4))"), loop("out[i] = np.linalg.eigvalsh(m[i] + m[i].T)", "np.zeros((n, 4))"),
    loop("out[i] = abs(np.linalg.eigvals(m[i])).max()"), loop("out[i] = np.linalg.svd(m[i])[1]", "np.zeros((n, 4))"), loop("q, r = np.linalg.qr(m[i])\nout[i] = q @ r", "np.zeros((n, 4, 4))"),
    loop("out[i] = np.linalg.lstsq(m[i, :, :2], v[i])[0]", "np.zeros((n, 2))"), loop("out[i] = np.linalg.pinv(m[i, :, :3])", "np.zeros((n, 3, 4))"), loop("out[i] = np.linalg.norm(m[i]) + np.linalg.cond(m[i])"),
    loop("out[i] = np.linalg.matrix_power(m[i], 3)", "np.zeros((n, 4, 4))"), loop("out[i] = np.linalg.tensorsolve(m[i].reshape(2, 2, 2, 2), v[i].reshape(2, 2)).ravel()", "np.zeros((n, 4))"),
    loop("a = m[i].copy()\nif i == n // 2 or i == n - 1:\n    a[i % 4] = 0\nout[i] = np.linalg.solve(a, v[i])", "np.zeros((n, 4))"), loop("a = m[i]\nif i > 2:\n    a = -a @ a.T\nout[i] = np.linalg.cholesky(a @ a.T if i < 3 else a)[0, 0]"),
]
EXACT = [
    loop("out[i] = np.sort(k[i])", "np.zeros((n, 40), np.int64)"), loop("k[i].sort()\nout[i] = k[i]", "np.zeros((n, 40), np.int64)"), loop("out[i] = np.argsort(k[i], kind='stable')", "np.zeros((n, 40), np.int64)"),
    loop("out[i] = np.sort(v[i])[::-1]", "np.zeros((n, 4))"), loop("out[i] = np.partition(k[i], 7)[7]", "np.zeros(n, np.int64)"), loop("out[i] = k[i, np.argpartition(k[i], 7)[7]]", "np.zeros(n, np.int64)"),
    loop("out[i] = len(np.unique(k[i]))", "np.zeros(n, np.int64)"), loop("out[i] = np.searchsorted(np.sort(k[i]), i)", "np.zeros(n, np.int64)"), loop("out[i] = np.median(k[i])"), loop("a = k[i].reshape(8, 5)\nout[i] = np.sort(a, 0).ravel()", "np.zeros((n, 40), np.int64)"),
    loop("a = sorted([int(x) for x in k[i]])\nout[i] = a[3]", "np.zeros(n, np.int64)"), loop("out[i] = np.lexsort((k[i], k[i] % 3))", "np.zeros((n, 40), np.int64)"),
]


@pytest.mark.parametrize("text", LOOPS + EXACT)
def test_iterations_compute_what_python_computes(text):
    plain, compiled = made(text, False), made(text, True)
    for seed, n in ((1, 0), (2, 1), (3, 5), (4, 60)):
        def args(seed=seed, n=n):
            return inputs(seed, n)
        got = at_every_width(compiled, args)
        try:
            want = plain(*args())
        except np.linalg.LinAlgError as e:
            assert got == (type(e).__name__, str(e))
            continue
        assert not isinstance(got, tuple), got
        assert got.dtype == want.dtype and (np.array_equal(got, want) if text in EXACT else np.allclose(got, want, rtol=1e-9, atol=1e-12)), (want, got)


WHOLE = {
    "products": "m[:, 0] @ m[0], m @ v[0], m @ m, np.dot(m[:, 1], m[1]), np.tensordot(m, m[0], 1)", "systems": "np.linalg.solve(m, v[..., np.newaxis]), np.linalg.inv(m), np.linalg.det(m)",
    "factors": "np.linalg.cholesky(m @ m.transpose(0, 2, 1)), np.linalg.qr(m)[1], np.linalg.svd(m)[1], np.linalg.eigvalsh(m + m.transpose(0, 2, 1))", "norms": "np.linalg.norm(m), np.linalg.norm(m, axis=0), np.linalg.norm(v, axis=1), np.linalg.vector_norm(m, axis=(0, 2))",
    "sorts": "np.sort(k), np.sort(k, 0), np.sort(k, None), np.argsort(k, 0, kind='stable'), np.unique(k), np.partition(k, 3, 0)[3], np.median(k, 0)",
}


@pytest.mark.parametrize("name", WHOLE)
def test_whole_arrays_in_parallel_functions(name):
    text = f"def f(m, v, k, g, n):\n    return {WHOLE[name]}\n"
    plain, compiled = made(text, False), made(text, True)
    for seed, n in ((1, 4), (2, 400)):
        got, want = at_every_width(compiled, lambda: inputs(seed, n)), plain(*inputs(seed, n))  # noqa: B023
        for x, y in zip(got, want):
            x, y = np.asarray(x), np.asarray(y)
            assert x.dtype == y.dtype and x.shape == y.shape and (np.array_equal(x, y) if name == "sorts" else np.allclose(x, y, rtol=1e-9, atol=1e-9)), (y, x)


# -- random numbers ----------------------------------------------------------------------------------------------------------------------------

# Streams of `np.random` belong to pieces of a loop, which are the same at any number of threads; who sets their size has other pieces.
DRAWN = ["np.random.random()", "np.random.normal()", "np.random.standard_gamma(2.5)", "np.random.randint(0, 1000)", "np.random.binomial(20, 0.3)", "np.random.choice(10)", "np.random.random(3).sum()", "np.random.permutation(9)[0]", "np.random.zipf(2.5)"]


@pytest.mark.parametrize("draw", DRAWN)
def test_streams_of_parallel_loops_depend_on_the_seed_alone(draw):
    text = f"def f(seed, n):\n    np.random.seed(seed)\n    out = np.zeros(n)\n    for i in prange(n):\n        out[i] = {draw}\n    return out, np.random.random()\n"
    compiled = made(text, True)
    most, before, found = tierup.config.num_threads, tierup.get_num_threads(), []
    try:
        for threads in sorted({min(t, most) for t in (1, 2, 3, 8)}) * 2:
            tierup.set_num_threads(threads)
            found.append(bits(compiled(5, 1000)))
        assert all(x == found[0] for x in found)
        assert bits(compiled(6, 1000)) != found[0]
    finally:
        tierup.set_num_threads(before)
    # Pieces have streams of their own: no two draw the same numbers.
    if draw in ("np.random.random()", "np.random.normal()"):
        assert len(np.unique(compiled(5, 1000)[0])) == 1000


# What needs the same bits whatever is drawn: threads that share a generator draw in any order, and nobody gets half a number or one that another has.
SHARED = ["g.random()", "g.uniform(1.0, 3.0)", "float(g.integers(0, 2**40))"]


@pytest.mark.parametrize("draw", SHARED)
@pytest.mark.parametrize("bit_generator", [np.random.PCG64, np.random.MT19937, np.random.Philox, np.random.SFC64])
def test_threads_that_share_a_generator_divide_its_numbers(draw, bit_generator):
    text = loop(f"out[i] = {draw}")
    plain, compiled = made(text, False), made(text, True)
    wanted = np.random.Generator(bit_generator(3))
    want = np.sort(plain(None, None, None, wanted, 3000))

    def args():
        return np.zeros((1, 1, 1)), np.zeros((1, 1)), np.zeros((1, 1), np.int64), np.random.Generator(bit_generator(3)), 3000
    got = at_every_width(compiled, args, lambda out: bits(np.sort(out)))
    assert bits(np.sort(got)) == bits(want)
    shared = args()
    compiled(*shared)
    assert shared[3].random() == wanted.random()


@pytest.mark.parametrize("draw", ["g.normal(0.0, 2.0)", "g.standard_exponential()", "g.gamma(2.5)", "g.poisson(3.5)", "g.zipf(2.5)", "g.random(5).sum()", "g.choice(7)", "g.permutation(6)[0]", "g.binomial(20, 0.3)"])
def test_a_generator_for_each_iteration_gives_numpys_numbers(draw):
    text = f"def f(gs, n):\n    out = np.zeros(n)\n    for i in prange(n):\n        g = gs[i]\n        out[i] = {draw} + {draw}\n    return out\n"
    plain, compiled = made(text, False), made(text, True)
    want = plain(np.random.default_rng(4).spawn(40), 40)
    assert bits(at_every_width(compiled, lambda: (np.random.default_rng(4).spawn(40), 40))) == bits(want)


def test_generators_spawned_in_compiled_code():
    text = "def f(g, n):\n    gs = g.spawn(n)\n    out = np.zeros(n)\n    for i in prange(n):\n        out[i] = gs[i].normal() + gs[i].random()\n    return out, [h.random() for h in g.spawn(2)], g.random()\n"
    want = made(text, False)(np.random.default_rng(9), 30)
    assert bits(at_every_width(made(text, True), lambda: (np.random.default_rng(9), 30))) == bits(want)
