"""Generated NumPy tests of keyword arguments, of sequences in the place of arrays, and of arrays without dimensions. `numpy_cases.py` reads this file."""

from harness.inputs import Array, Scalar, Value, arrays
from numpy_cases import CLOSE, DTYPES, LOOSE, REAL_DTYPES, add, edge, mild, one

RANKS = [(), (0,), (5,), (2, 3), (3, 0), (2, 3, 2), (2, 1, 2, 2)]
SOME = ["?", "i1", "u4", "i8", "f4", "f8", "c16"]

# -- reductions --------------------------------------------------------------------------------------------------------------------------------

for name in "sum prod min max mean var std any all".split():
    for options in ("axis=None", "axis=(0,)", "axis=(-1, 0)", "axis=()", "axis=7", "axis=(0, 0)", "keepdims=True", "axis=(0, -1), keepdims=True"):
        # Some of them raise for every input, which a case may not: so each stands beside one that does not.
        add(f"np.{name} with {options}", "a, ok", f"np.{name}(a) if ok else np.{name}(a, {options})" if "7" in options or "0, 0" in options else f"np.{name}(a, {options})",
            lambda: [(a, Value(ok)) for a in arrays(SOME, RANKS) for ok in (False, True)], LOOSE, 1e-5)
    add(f"np.{name} axis at run time", "a, k", f"np.{name}(a, axis=k), a.{name}(axis=k, keepdims=True)",
        lambda: [(a, Value(k)) for a in arrays(["i4", "f8"], [(5,), (2, 3)]) for k in (0, 1, -1, 2, -3)], LOOSE)
    add(f"np.{name} where", "a, m", f"np.{name}(a, axis=0, where=m{', initial=3' if name in ('min', 'max') else ''}), a.{name}(where=m{', initial=3' if name in ('min', 'max') else ''})",
        lambda: [(a, Array("?", m)) for a in arrays(["i2", "i8", "f4", "f8"], [(5,), (2, 3), (4, 3)], ["C", "F", "reversed"]) for m in (a.shape, a.shape[-1:])], LOOSE, 1e-5)
for name in "sum prod min max".split():
    add(f"np.{name} initial", "a", f"np.{name}(a, initial=5), np.{name}(a, initial=2, axis=0), a.{name}(initial=3, axis=-1, keepdims=True)", mild(["i2", "i8", "f4", "f8"], RANKS[1:]), LOOSE, 1e-5)
    add(f"np.{name} of none", "a", f"np.{name}(a)" + (", np.nan" + name + "(a)" if name in ("min", "max") else ""), edge(["i4", "f8"], [(0,), (3, 0), (4,)]), LOOSE)
add("np.min where without initial", "a, m", "np.min(a, where=m) if a.size > 4 else 0", lambda: [(Array("f8", s), Array("?", s)) for s in [(5,), (4,)]])
for name in "nansum nanprod nanmean".split():
    add(f"np.{name} where", "a", f"np.{name}(a, where=a > 1), np.{name}(a, axis=0, where=a < 2)", edge(["i4", "f8"], [(11,), (3, 11)]), LOOSE)
for name in "nanmin nanmax".split():
    add(f"np.{name} where", "a", f"np.{name}(a, where=a > 1, initial=3), np.{name}(a, axis=0, initial=1)", edge(["f4", "f8"], [(11,), (3, 11)]), LOOSE)
for name in "nanvar nanstd".split():
    add(f"np.{name} edge", "a", f"np.{name}(a), np.{name}(a, axis=0)", edge(["f4", "f8"], [(5,), (11,), (2, 3), (3, 11)]), LOOSE, 1e-5)
for name in "var std".split():
    add(f"np.{name} mean", "a", f"np.{name}(a, mean=np.mean(a)), np.{name}(a, axis=0, mean=np.mean(a, axis=0, keepdims=True)), np.{name}(a, correction=1), a.{name}(ddof=1)", mild(["i4", "f4", "f8"], [(5,), (2, 3)]), LOOSE, 1e-5)
    add(f"np.{name} dtype", "a", f"np.{name}(a, dtype=np.float32), np.{name}(a, dtype='f8'), np.{name}(a, axis=0, dtype=np.complex128)", mild(["i4", "f4", "f8"], [(5,), (2, 3)]), 1e-6, 1e-5)
for name in "argmin argmax nanargmin nanargmax".split():
    add(f"np.{name} options", "a, out", f"np.{name}(a, axis=0, out=out), out, np.{name}(a, keepdims=True), np.{name}(a, axis=-1, keepdims=True)",
        lambda: [(a, Array("i8", (3,))) for a in arrays(["i4", "f8"], [(2, 3)])])
add("np.median of several axes", "a", "np.median(a, axis=(0, 1)), np.median(a, axis=(0, -1), keepdims=True), np.nanmedian(a, axis=(0, 1, 2)), np.median(a, axis=(0, 1, 2, 3)), np.quantile(a, 0.3, axis=(0, 1))",
    mild(["i4", "f4", "f8"], [(2, 3, 2, 2), (1, 2, 3, 2)]), CLOSE, 1e-6)
add("sums in NumPy's order", "a", "np.sum(a), np.sum(a, axis=0), np.sum(a, axis=1), np.sum(a, axis=(0, 1)), np.sum(a, axis=-1, keepdims=True), np.mean(a, axis=0), np.mean(a)",
    one(lambda: arrays(["f4", "f8", "c8", "c16"], [(17, 300), (300, 17), (40, 5, 60), (3, 4, 5, 50)], ["C", "F", "strided", "reversed", "misaligned"], "rough")))
add("variances in NumPy's order", "a", "np.var(a), np.var(a, axis=0), np.std(a, axis=-1), np.var(a, axis=(0, 1))", one(lambda: arrays(["f4", "f8"], [(17, 300), (40, 5, 60)], ["C", "F", "strided"], "rough")))
for method in "inverted_cdf averaged_inverted_cdf closest_observation interpolated_inverted_cdf hazen weibull median_unbiased normal_unbiased".split():
    add(f"np.quantile {method}", "a, q", f"np.quantile(a, q, method='{method}'), np.percentile(a, 100 * q, axis=0, method='{method}')",
        lambda: [(a, Value(q)) for a in arrays(["i4", "f8"], [(5,), (2, 3), (10,)], ["C", "reversed"]) for q in (0.0, 0.1, 0.25, 0.5, 0.77, 1.0)], CLOSE)

# -- ufuncs ------------------------------------------------------------------------------------------------------------------------------------

add("ufunc where", "a, m", "np.add(a, 2, where=m, out=a), np.sqrt(np.abs(a), where=m, out=np.ones(a.shape)), a",
    lambda: [(a, Array("?", m)) for a in arrays(["i4", "f4", "f8"], [(5,), (2, 3), (3, 4)], ["C", "F", "strided", "reversed"]) for m in (a.shape, a.shape[-1:])], CLOSE)
add("ufunc where overlap", "a", "np.add(a[1:], a[:-1], where=a[1:] > 1, out=a[1:]), a", mild(["i4", "f8"], [(5,), (3, 2)]))
add("ufunc dtype", "a", "np.add(a, a, dtype=np.float64), np.multiply(a, 2, dtype='f4'), np.exp(a, dtype=np.float64), np.divide(a, 2, dtype=np.float32)", mild(["i1", "i2", "f4"], RANKS), CLOSE, 1e-6)
add("ufunc out", "a, out", "np.add(a, 1, out=(out,)), np.negative(a, out=out), np.sin(a, out=None), out", lambda: [(a, Array(t, a.shape)) for a in arrays(["i2", "f4", "f8"], [(5,), (2, 3)]) for t in ("f8", "c16")], CLOSE, 1e-6)
for name in "arctan2 hypot copysign nextafter logaddexp heaviside".split():
    add(f"np.{name} of small integers", "a, b", f"np.{name}(a, b), np.{name}(a, 2), np.{name}(1.5, b), np.{name}(True, b)", lambda: [(Array(s, (5,)), Array(t, (5,), "strided")) for s in DTYPES[:9] for t in DTYPES[:9]], CLOSE, 1e-6)
add("np.ldexp of a number", "a", "np.ldexp(2, a), np.ldexp(a, 2)", mild(["?", "i1", "i2", "i8"], [(5,)]))
for expression in ("a + [1, 2, 3]", "[1, 2, 3] * a", "a == [1, 2, 3]", "[1.5, 2.5, 0.5] < a", "a - (1, 2, 3)", "np.add(a, [1, 2, 3])", "np.maximum((1, 5, 2), a)", "np.hypot([1.0, 2.0, 3.0], [4, 5, 6])", "a @ [1, 2, 3]", "np.where([True, False, True], a, 0)"):
    add(f"sequence {expression}", "a", expression, mild(["i4", "f4", "f8", "c16"] if "<" not in expression and "max" not in expression else ["i4", "f8"], [(3,), (2, 3)]))
for statement in ("a += [1, 2, 3]", "a *= (1, 2, 3)", "a[:] = [1, 2, 3]", "a[...] = range(3)", "a[:2] = [[1, 2, 3], [4, 5, 6]]", "a.flat = [1, 2]", "a.flat[1:4] = 7", "a.flat[[0, 2]] = [8, 9]", "a @= np.ones((3, 3), a.dtype)",
                  "np.copyto(a, 7, where=a > 1)", "np.place(a, a > 0, [1, 2])", "np.putmask(a, a > 0, 9)"):
    add(statement + " sequence", "a", "a", one(lambda: arrays(["i4", "f4", "f8"], [(2, 3)], ["C", "F", "strided", "reversed"])), body=[statement])

# -- shapes and choices ------------------------------------------------------------------------------------------------------------------------

MATRICES = mild(["i4", "f8"], [(2, 3), (3, 2)])
for expression in ("np.diff(a, prepend=0)", "np.diff(a, append=a[:, :1], axis=1)", "np.diff(a, 2, 0, prepend=1.5)", "np.take(a, [5, 70, -8], mode='wrap')", "np.take(a, [5, 70, -8], mode='clip')", "a.take([1, 0], axis=1, mode='wrap')",
                   "np.trace(a, 0, 1, 0)", "np.trace(a, offset=1, dtype=np.float64)", "np.meshgrid(a[0], a[:, 0], sparse=True)", "np.meshgrid([1, 2], a[0], indexing='ij')", "np.meshgrid(a[0])", "np.unique(a, axis=0)", "np.unique(a, axis=-1)",
                   "np.unique(a, axis=0, return_index=True, return_inverse=True, return_counts=True)", "np.unique(a % 2, axis=1, return_counts=True)", "a.mT", "a.flat[1:3]", "a.flat[[0, -1]]", "a.flat.copy()", "np.array(a.flat)", "np.kron(a, a[None])",
                   "a.transpose([1, 0])", "a.reshape([-1, 1])", "np.dot(a, 2)", "np.dot(2, a)", "np.copy([1, 2])", "np.zeros_like([1, 2.5])", "np.full((2, 3), [1, 2, 3])", "np.linspace(a[0], 10, 4)", "np.linspace(0, 5, 4, dtype=int)",
                   "np.linspace(a, a + 1, 3, endpoint=False, retstep=True)", "np.arange(stop=4)", "np.indices((2, 3), sparse=True)", "np.eye(2, 3, 1, order='F')", "np.triu_indices_from(a, 1), np.tril_indices_from(a)"):
    add(f"option {expression}", "a", expression, MATRICES, LOOSE)
for expression in ("np.ravel([[1, 2], [3, 4]])", "np.transpose([[1, 2], [3, 4]])", "np.flip([1, 2, 3])", "np.squeeze([[1, 2]], 0)", "np.nonzero([0, 1, 2])", "np.where([0, 1, 2])", "np.tile([1, 2], 2)", "np.repeat((1, 2), 2)", "np.dot([1, 2], [3, 4])",
                   "np.inner([1, 2], [3, 4])", "np.outer([1, 2], (3, 4))", "np.kron([1, 2], [3, 4])", "np.matmul([[1, 2], [3, 4]], [[1, 0], [0, 1]])", "np.diag([1, 2], 1)", "np.tril([[1, 2], [3, 4]])", "np.trace([[1, 2], [3, 4]])",
                   "np.diff([1, 4, 9])", "np.roll([1, 2, 3], 1)", "np.rot90([[1, 2], [3, 4]])", "np.lexsort(([1, 2, 0], [0, 0, 0]))", "np.full_like([1, 2], 7)", "np.vander([1, 2, 3])", "np.searchsorted([1, 2, 3], 2)", "np.broadcast_to([1, 2], (2, 2))"):
    add(f"sequence {expression}", "n", expression, one(lambda: [Value(0)]))
add("windows", "n", "np.bartlett(n), np.hanning(n), np.hamming(n), np.blackman(n)", one(lambda: [Value(n) for n in (-1, 0, 1, 2, 5, 12)]), CLOSE)
add("nditer", "a", "[float(x) for x in np.nditer(a)], [float(x) for x in np.nditer(a.T)], [int(x) for x in np.nditer(a, order='C')]", mild(["i4", "f8"], RANKS))
add("nditer of several", "a, b", "[(float(x), float(y), int(z)) for x, y, z in np.nditer((a, b, b))]", lambda: [(a, Array("i4", a.shape[-1:])) for a in arrays(["f4", "f8"], [(5,), (2, 3)])])
add("nditer writes", "a", "a", one(lambda: arrays(["i4", "f8"], [(5,), (2, 3)], ["C", "F", "strided"])), body=["for x in np.nditer(a, op_flags=['readwrite']):", "    x[...] = 2 * x"])
add("float to int", "a", "a.astype(np.int64), a.astype(np.int32), a.astype(np.int16), a.astype(np.int8), a.astype(np.bool_)", edge(["f8"], [(), (11,), (2, 3)]))
add("large float to int", "x", "np.array([x]).astype(np.int32), np.array([x, 1.0]).astype(np.int8), np.array([x]).astype(np.int64), np.array([[x, x], [x, x]]).astype(np.int16)", one(lambda: [Value(x) for x in (3e9, -3e9, 1e19, -1e19, 300.7, 2147483647.5, -2147483648.5)]))

# -- arrays without dimensions -----------------------------------------------------------------------------------------------------------------

for expression in ("a + 1, a * a, -a, a < 2", "np.add(a, 1.5), np.sqrt(abs(a))", "a[()], a[...], a[None]", "a.T, a.ravel(), a.reshape(1, 1)", "a.copy(), a.astype(np.float64), np.array(a)", "a.item(), float(a), int(a), bool(a), abs(a)", "a.ndim, a.size, a.shape, a.strides",
                   "np.zeros_like(a), np.full_like(a, 3)", "np.broadcast_to(a, (2, 2))", "np.where(a > 1, a, 0) * 1", "np.nan_to_num(a)", "np.atleast_1d(a)", "np.isclose(a, a)", "np.clip(a, 0, 2)", "[x for x in a.flat]", "np.argwhere(a)", "np.cumsum(a)", "np.sort(a, None)"):
    add(f"0-d {expression}", "a", expression, mild(REAL_DTYPES[1:], [()]), CLOSE, 1e-6)
for symbol in "+= -= *= //= %=".split():
    add(f"0-d a {symbol} b", "a, b", "a", lambda: [(Array(s, ()), t) for s in ("i4", "f4", "f8") for t in (Scalar("int", 0), Array("i4", ()), Array("f4", ()), Array("i4", (3,)))], CLOSE, 1e-6, body=[f"a {symbol} b"])
