"""Arrays so small that no kernel is called and no order of axes is planned: what is computed is what NumPy computes, to the bit where it adds, on both sides of every bound."""

import numpy as np
import pytest

from harness.build import LLVM

tierup = pytest.importorskip("tierup")

pytestmark = [pytest.mark.isolated]

TIERS = ("interp", "0", "1") if LLVM else ("interp", "0")
DTYPES = [np.float64, np.float32, np.int64, np.int8, np.uint16, np.bool_, np.complex128, np.complex64]
SHAPES = [(0,), (1,), (3,), (63,), (64,), (65,), (1100,), (0, 3), (3, 0), (1, 1), (1, 5), (5, 1), (2, 3), (8, 9), (16, 16), (17, 16), (31, 33), (33, 32), (2, 600), (600, 2), (2, 3, 4)]


def filled(shape, dtype):
    n = int(np.prod(shape))
    rng = np.random.default_rng(n)
    with np.errstate(all="ignore"):
        a = (rng.standard_normal(n) * 50).astype(dtype).reshape(shape)
        if np.issubdtype(dtype, np.complexfloating): a = a + (rng.standard_normal(shape) * 1j).astype(dtype)
    if np.issubdtype(dtype, np.inexact) and n > 2:
        a.flat[n // 2] = np.nan if n % 2 else -0.0
        a.flat[n // 3] = -0.0
    return a


def views(a):
    yield a
    yield np.asfortranarray(a)
    yield a.T
    yield a[::-1]
    yield a[..., ::-1]
    wide = np.zeros(tuple(2 * n for n in a.shape), a.dtype)
    view = wide[tuple(slice(None, None, 2) for _ in a.shape)]
    view[...] = a
    yield view
    odd = np.zeros(a.nbytes + 1, np.uint8)[1:].view(a.dtype).reshape(a.shape)
    odd[...] = a
    yield odd


def outcome(f, *args):
    try:
        with np.errstate(all="ignore"): return f(*args)
    except ValueError as e:
        return str(e)


def alike(got, want):
    if isinstance(want, str) or isinstance(got, str): return got == want
    got, want = np.asarray(got), np.asarray(want)
    if got.shape != want.shape or got.dtype != want.dtype: return False
    parts = [(got.real, want.real), (got.imag, want.imag)] if got.dtype.kind == "c" else [(got, want)]
    return all(np.array_equal(g, w, equal_nan=g.dtype.kind == "f") and (g.dtype.kind != "f" or np.array_equal(np.signbit(g[w == 0]), np.signbit(w[w == 0]))) for g, w in parts)


def agree(text, arrays, skip=lambda a: False):
    plain = eval(f"lambda a: {text}", {"np": np})
    for tier in TIERS:
        tierup.config.tier = tier
        compiled = tierup.njit(plain)
        for a in arrays:
            if skip(a): continue
            # What Tierup returns of a number is Python's; its type is checked in the mdtests.
            got, want = outcome(compiled, a), outcome(plain, a)
            if not isinstance(want, (str, np.ndarray)): got = got if isinstance(got, str) else np.asarray(got).astype(np.asarray(want).dtype)
            assert alike(got, want), f"{text} of {a.dtype} {a.shape} {a.strides} in tier {tier}: {got!r}, not {want!r}"


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("text", ["a.sum()", "a.max()", "a.min()", "a.prod()", "a.any()", "a.all()", "np.count_nonzero(a)"])
def test_whole_reductions(text, dtype):
    agree(text, [v for s in SHAPES for v in views(filled(s, dtype))], lambda a: "prod" in text and (a.dtype.kind == "c" or a.dtype.kind == "f" and a.size > 64))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("text", ["a.sum(axis=0)", "a.sum(axis=1)", "a.max(axis=0)", "a.min(axis=1)", "a.prod(axis=0)", "a.any(axis=1)", "a.all(axis=0)", "a.sum(axis=1, keepdims=True)", "a.cumsum(axis=1)"])
def test_reductions_along_axes(text, dtype):
    shapes = [s for s in SHAPES if len(s) == 2]
    agree(text, [v for s in shapes for v in views(filled(s, dtype))], lambda a: "prod" in text and (a.dtype.kind == "c" or a.dtype.kind == "f" and a.shape[0] > 60))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("text", ["a.copy()", "a.T.copy()", "np.ascontiguousarray(a)", "np.asfortranarray(a)", "a.astype(np.float64)", "a.astype(np.complex64)", "np.full(a.shape, 3)", "np.full_like(a, 1)", "a.flatten()", "np.nonzero(a)[0]"])
def test_copies(text, dtype):
    agree(text, [v for s in SHAPES for v in views(filled(s, dtype))], lambda a: "float64" in text and a.dtype.kind == "c")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("text", ["a + a", "a * 2", "a == a", "a != 1", "np.abs(a)", "np.square(a)", "np.maximum(a, 1)", "np.sqrt(np.abs(a))", "np.abs(a).max()", "a[1:] + a[:-1]"])
def test_operations_on_both_sides_of_a_short_loop(text, dtype):
    # NumPy's magnitudes and squares of complex numbers are rounded elsewhere, and roots of its bytes have sixteen bits.
    agree(text, [v for s in SHAPES for v in views(filled(s, dtype))], lambda a: a.dtype.kind == "c" and ("abs" in text or "square" in text) or "sqrt" in text and a.dtype.itemsize == 1)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
@pytest.mark.parametrize("text", ["np.linalg.norm(a, 1)", "np.linalg.norm(a, np.inf)", "np.linalg.norm(a, -1)", "np.linalg.norm(a, -np.inf)"])
def test_norms_of_sums(text, dtype):
    shapes = [(1, 1), (1, 5), (5, 1), (2, 3), (7, 7), (7, 8), (8, 7), (8, 9), (16, 16)]
    arrays = [v for s in shapes for v in views(filled(s, dtype))]
    if dtype != np.int64:
        for x in (np.inf, -np.inf, np.nan, 1e-320):
            for at in ((0, 0), (1, 2), (4, 4)):
                a = filled((5, 5), np.float64).astype(dtype)
                a[at] = x
                arrays.append(a)
    agree(text, arrays)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.complex128, np.int64])
@pytest.mark.parametrize("n", [1, 3, 9])
def test_linear_algebra_on_both_sides_of_a_small_matrix(dtype, n):
    rng = np.random.default_rng(n)
    a = (rng.standard_normal((n, n)) * 5 + 9 * np.eye(n)).astype(dtype)
    if np.issubdtype(dtype, np.complexfloating): a = a + 1j * rng.standard_normal((n, n))
    h, b = a @ a.conj().T, (rng.standard_normal((n, 3)) * 9).astype(dtype)
    stack = np.stack([a, a.T + 2 * np.eye(n, dtype=dtype)])
    cases = {"np.linalg.det(a)": (a, stack), "np.linalg.inv(a)": (a, stack), "np.linalg.solve(a, b)": (a, stack), "np.linalg.solve(a, b[:, 0])": (a,), "np.linalg.slogdet(a)[1]": (a, stack), "np.linalg.cholesky(a)": (h, np.stack([h, h])),
             "np.linalg.eigvalsh(a)": (h, np.stack([h, h])), "np.abs(np.linalg.eigh(a)[1])": (h, np.stack([h, h])), "np.linalg.svd(a)[1]": (a, stack), "np.abs(np.linalg.qr(a)[1])": (a, stack), "np.abs(np.linalg.qr(a)[0])": (a, stack),
             "np.linalg.cond(a)": (a, stack), "np.linalg.pinv(a)": (a, stack), "np.trace(a)": (a, stack), "np.trace(a, 1)": (a, stack), "np.linalg.matrix_rank(a)": (a, stack), "np.linalg.norm(a, 1)": (a,), "np.linalg.norm(a)": (a,)}
    for text, operands in cases.items():
        f = eval(f"lambda a, b: {text}", {"np": np})
        for tier in TIERS:
            tierup.config.tier = tier
            compiled = tierup.njit(f)
            for x in operands:
                for form in (x, np.asfortranarray(x), x[..., ::-1, ::-1]):
                    got, want = compiled(form, b), f(form, b)
                    assert np.asarray(got).dtype == np.asarray(want).dtype or np.ndim(want) == 0, (text, np.asarray(got).dtype, np.asarray(want).dtype)
                    np.testing.assert_allclose(got, want, rtol=1e-4 if dtype == np.float32 else 1e-10, atol=1e-4 if dtype == np.float32 else 1e-9, err_msg=f"{text} in tier {tier}")
