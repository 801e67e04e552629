"""Generated NumPy tests of corners: Python numbers that an element does not hold, casting rules, indices that are bools or empty, methods of ufuncs, overlap,
types of ranges. `numpy_cases.py` reads this file."""

import numpy as np
from harness.inputs import Array, Value, arrays
from numpy_cases import CLOSE, DTYPES, INT_DTYPES, LOOSE, REAL_DTYPES, add, mild, one

INTS = [0, 1, -1, 3, 127, 128, 200, 255, 256, -128, -129, 40000, -40000, 2**31 - 1, 2**31, -2**31 - 1, 2**32, 2**40, -2**40]
FLOATS = [0.0, -0.0, 0.5, -0.5, -2.5, 127.9, 128.0, 300.7, 65536.5, 3e9, 1e18, 1e19, -1e19, 1e300, float("inf"), float("-inf"), float("nan")]


def beside(values, dtypes=INT_DTYPES):
    """An array and a Python number, which it may not hold."""
    return lambda: [(Array(t, (5,)), Value(v)) for t in dtypes for v in values]


# -- Python numbers beside narrow arrays -------------------------------------------------------------------------------------------------------

for expression in ("a + b", "b - a", "a * b", "a // (b or 1)", "a % (b or 1)", "a & b", "a | b", "a ^ b", "np.maximum(a, b)", "np.minimum(b, a)", "np.add(a, b)", "np.fmod(a, b or 1)", "np.gcd(a, b)", "a == b, a != b", "a < b, b < a, a >= b",
                   "np.greater(a, b)", "a / (b or 1)", "(b or 1) / (a + 7)", "np.true_divide(a, b or 1)", "np.where(a > 1, a, b)", "np.clip(a, b, None)", "np.clip(a, None, b)", "np.clip(a, b, 100)", "np.clip(a, -5, b)", "a.clip(b)", "a.clip(max=b)",
                   "np.searchsorted(np.sort(a), b)", "np.isin(a, b)", "b in a", "np.full(3, b, a.dtype)", "np.full_like(a, b)", "np.array(b, a.dtype)", "np.array([b, 1], a.dtype)", "np.asarray((b, 1), a.dtype)", "np.array([[b], [2]], a.dtype)",
                   "np.insert(a, 0, b)", "np.append(a, b)"):
    add(f"Python int {expression}", "a, b", expression, beside(INTS), CLOSE)
for statement in ("a += b", "a -= b", "a *= b", "a[0] = b", "a[1:3] = b", "a[...] = b", "a[a > 1] = b", "a[[0, 2]] = b", "a[np.array([1, -1])] = b", "a[:2] = [b, 1]", "a[:2] = (1, b)", "a[[0, 1]] = [b, 2]", "a.fill(b)", "np.put(a, [1], b)", "np.copyto(a, b)",
                  "np.fill_diagonal(a[:4].reshape(2, 2), b)", "np.add(a, b, out=a)"):
    add(f"Python int {statement}", "a, b", "a", beside(INTS), body=[statement])
for expression in ("np.array(b, a.dtype)", "np.array([b, 1], a.dtype)", "np.full(3, b, a.dtype)", "np.full_like(a, b)", "np.where(a > 1, a, b)", "a + b, a * b"):
    add(f"Python float {expression}", "a, b", expression, beside(FLOATS, ["i1", "i4", "i8", "u2", "u8", "f4"]))
for statement in ("a[0] = b", "a[1:3] = b", "a[a > 1] = b", "a[[0, 2]] = b", "a[:2] = [b, 1]", "a.fill(b)"):
    add(f"Python float {statement}", "a, b", "a", beside(FLOATS, ["?", "i1", "i4", "i8", "u2", "u8", "f4"]), body=[statement])
for statement in ("a[:] = x", "a[[0, 1]] = x[:2]", "a[a > 0] = x[0:1]"):
    # Arrays of integers wrap. So do NumPy's numbers in compiled code: `a[0] = x[0] * 5` was computed in 64 bits, and NumPy would have wrapped it earlier.
    add(f"wrapping {statement}", "a, x", "a", lambda: [(Array(t, (5,)), Value(np.full(5, v))) for t in INT_DTYPES for v in (300, -1, 70000, 2**40)], body=[statement])

# -- casting rules -----------------------------------------------------------------------------------------------------------------------------

for rule in ("no", "equiv", "safe", "same_kind", "unsafe"):
    for t in ("int8", "uint16", "int64", "float32", "float64", "complex64"):
        add(f"astype {t} {rule}", "a", f"a.astype(np.{t}, casting='{rule}')", one(lambda: [Array(s, (3,)) for s in DTYPES]), raises=True)
add("np.copyto casts", "a, b", "a", lambda: [(Array(s, (3,)), Array(t, (3,))) for s in REAL_DTYPES for t in REAL_DTYPES], body=["np.copyto(a, b)"])
add("np.copyto unsafe", "a, b", "a", lambda: [(Array(s, (3,)), Array(t, (3,))) for s in ("i4", "f4") for t in REAL_DTYPES], body=["np.copyto(a, b, casting='unsafe')"])
add("a ** 2 keeps the type", "a", "a ** 2, a ** 3, np.power(a, 2), np.square(a)", mild(REAL_DTYPES, [(5,)]), CLOSE, 1e-6)

# -- indices -----------------------------------------------------------------------------------------------------------------------------------

for expression in ("a[True]", "a[False]", "a[b]", "a[b, 1:]", "a[None, b]", "a[..., b]", "a[b, b]", "a[0, b]", "a[b, :, 1]", "a[np.array(b)]", "a[[]]", "a[:, []]", "a[[], 1]", "a[[], []]", "a[:, [], None]", "a[np.zeros(0, np.int64)]"):
    add(f"index {expression}", "a, b", expression, lambda: [(a, Value(b)) for a in arrays(["i2", "f8", "c16"], [(2, 3), (2, 3, 2)], ["C", "F", "reversed"]) for b in (True, False)])
for statement in ("a[b] = 7", "a[False] = 7", "a[True, 0] = 7", "a[[]] = 7", "a[:, []] = 7", "a[[]] += 1", "a[b] += 1", "a[b] = a[0]"):
    add(f"index {statement}", "a, b", "a", lambda: [(a, Value(b)) for a in arrays(["i2", "f8"], [(2, 3), (3, 3)], ["C", "F", "strided"]) for b in (True, False)], body=[statement])
for statement in ("a[a] = 0", "a[a] = a", "a[a[::-1]] = a", "a[np.flip(a)] = 0", "a[a] += 1", "a[[2, 0, 1, 3]] = a", "a[a > 1] = a[a < 2]"):
    add(f"array as its own index {statement}", "a", "a", one(lambda: [Value(np.array(v)) for v in ([3, 1, 2, 0], [1, 1, 0, 3], [0, 0, 0, 0], [-1, 2, -3, 1])]), body=[statement])

# -- a read-only and a writable array in one variable --------------------------------------------------------------------------------------------

EITHER = lambda: [(Array(t, s, "readonly"), Array(t, s, k), Value(c)) for t in ("i2", "f8") for s in [(4,), (2, 3)] for k in ("C", "F", "strided", "reversed") for c in (True, False)]  # noqa: E731
for statement in ("x[0] = 5", "x[1:] = 5", "x += 1", "np.add(x, 1, out=x)", "x.sort()", "x.fill(2)", "x[x > 1] = 2", "x.flat[1] = 2", "x[[0, 1]] = 2", "x[...] = x[::-1]", "y = x[::-1]\ny[0] = 7", "y = x.reshape(-1)\ny[0] = 7", "y = x.ravel()\ny[0] = 7", "y = x.T\ny[1:] = 7",
                  "np.put(x, [1], 3)", "np.copyto(x, 1)", "y = np.asarray(x)\ny[0] = 1", "y = np.ascontiguousarray(x)\ny[0] = 1", "for i in range(2):\n    x[i] = i", "y = np.expand_dims(x, 0)\ny[0, 0] = 1", "y = x.copy()\ny[0] = 1", "y = x.real\ny[0] = 1", "np.cumsum(x, 0, out=x[0:])"):
    add(f"either {statement}".replace("\n", "; "), "a, b, c", "x", EITHER, body=["x = a if c else b", *statement.split("\n")])
add("either is asked", "a, b, c", "x.flags.writeable, x[::2].flags.writeable, x.T.flags.writeable, x.copy().flags.writeable, x.sum(), np.sort(x), x + x, [y for y in x.flat], np.flip(x).flags.writeable, np.expand_dims(x, 0).flags.writeable, x.view(x.dtype).flags.writeable, x",
    EITHER, body=["x = a if c else b"])
add("either in a list", "a, b, c", "lists, lists[1].flags.writeable", EITHER, body=["lists = [a, b]", "lists[0 if c else 1][0] = 1"])
add("either in a loop", "a, b, n", "x, x.flags.writeable", lambda: [(Array("f8", (3,)), Value(0), Value(n)) for n in (0, 1, 3)], body=["x = a", "for i in range(n):", "    x = np.broadcast_to(x, (3,))"])
add("views of read-only arrays", "a", "a.ravel().flags.writeable, a[::1].ravel().flags.writeable, a.T.ravel().flags.writeable, a.T.reshape(-1).flags.writeable, a.reshape(-1).flags.writeable, np.asarray(a.T, order='C').flags.writeable, np.ascontiguousarray(a.T).flags.writeable, "
    "np.asfortranarray(a).flags.writeable, np.ascontiguousarray(a[::1]).flags.writeable, np.array(a).flags.writeable", one(lambda: arrays(["i2", "f8"], [(4,), (2, 3), (1, 3)], ["readonly"])))

# -- overlap -----------------------------------------------------------------------------------------------------------------------------------

for statement in ("a[1:] = a[:-1]", "a[:-1] = a[1:]", "a[::2] = a[::-2]", "a[::-1] = a", "a[:] = a[::-1]", "a[1:, 1:] = a[:-1, :-1]", "a[...] = a[0]", "a[:] = a[:, ::-1]", "a[0] = a[:, 0]", "a[:, 0] = a[0]", "a[:] = a.T", "a += a.T", "a -= a[0]", "a *= a[:, :1]",
                  "np.add(a[:, 1:], a[:, :-1], out=a[:, 1:])", "np.multiply(a, a[0], out=a)", "np.subtract(a[::-1], a, out=a)", "np.negative(a[:-1], out=a[1:])", "np.maximum(a.T, a, a)", "a.flat[2:5] = a.flat[0:3]",
                  "np.cumsum(a, axis=0, out=a)", "np.copyto(a[1:], a[:-1])", "np.add(a, a[1], out=a[0:])", "a[[0, 1]] = a[[1, 0]]", "a[a > 0] = a[a > 0][::-1]", "a.sort(axis=0)", "np.add(a, 1, out=a[::-1])"):
    add(f"overlap {statement}", "a", "a", one(lambda: arrays(["i2", "i8", "f4", "f8"], [(4, 4)], ["C", "F", "strided", "reversed", "misaligned"])), body=[statement])
for statement in ("b[1:] = a[:-1]", "a[:] = b[::-1]", "np.add(a, 1, out=b)", "b += a"):
    add(f"overlap of views {statement}", "a", "a, b", one(lambda: [Array("i8", (6,)), Array("u8", (6,)), Array("f8", (6,))]), body=["b = a.view(np.int64)", statement])
add("broadcast arrays as operands", "a, shape", "b + b, b.sum(), b.sum(axis=0), np.sort(b), np.cumsum(b), b.reshape(-1), b.copy(), np.max(b), np.unique(b), np.roll(b, 1), np.where(b > 0), np.median(b), b[::-1], np.concatenate((b, b)), b.T",
    lambda: [(Array(t, s), Value(g)) for t in ("i2", "f8") for s, g in [((3,), (2, 3)), ((1,), (4, 3)), ((2, 1), (2, 3)), ((), (3, 2))]], LOOSE, body=["b = np.broadcast_to(a, shape)"])

# -- methods of universal functions ------------------------------------------------------------------------------------------------------------

SHAPES = [(0,), (5,), (2, 3), (3, 0), (2, 3, 2)]
for f in ("add", "multiply", "maximum", "minimum", "logical_and", "logical_or", "subtract", "fmax", "hypot", "bitwise_or", "bitwise_and", "bitwise_xor", "gcd"):
    dtypes = INT_DTYPES if f.startswith("bit") or f == "gcd" else ["i2", "u1", "i8", "f4", "f8"]
    shapes = SHAPES if f in ("add", "multiply", "bitwise_or", "gcd") else [(5,), (2, 3), (2, 3, 2)]
    add(f"np.{f}.reduce", "a", f"np.{f}.reduce(a), np.{f}.reduce(a, axis=-1), np.{f}.reduce(a, 0, keepdims=True)", mild(dtypes, shapes), LOOSE, 1e-5)
    add(f"np.{f}.reduce of all", "a", f"np.{f}.reduce(a, axis=None)", mild(dtypes, [(5,), (2, 3)]), LOOSE, 1e-5)
    add(f"np.{f}.accumulate", "a", f"np.{f}.accumulate(a), np.{f}.accumulate(a, axis=-1)", mild(dtypes, [(5,), (2, 3), (2, 3, 2)]), LOOSE, 1e-5)
    add(f"np.{f}.outer", "a, b", f"np.{f}.outer(a, b), np.{f}.outer(a, 2), np.{f}.outer([1, 2], a)", lambda dtypes=dtypes: [(Array(t, s), Array(t, (3,), "strided")) for t in dtypes for s in ((4,), (2, 3), ())], CLOSE, 1e-6)
    add(f"np.{f}.at", "a, i, b", "a", lambda dtypes=dtypes: [(Array(t, (5,)), Value(np.array(i)), Array(t, (3,))) for t in dtypes if f not in ("hypot", "logical_and", "logical_or") or t[0] == "f" for i in ([0, 0, 2], [-1, 4, 1], [1, 2, 7])], CLOSE, 1e-6, body=[f"np.{f}.at(a, i, b)"])
for statement in ("np.add.at(a, [0, 0, 1], 1)", "np.add.at(a, 1, 2)", "np.multiply.at(a, ([0, 1, 0], [1, 2, 1]), 3)", "np.negative.at(a, [1, 0])", "np.add.at(a, [1], [[5, 6, 7]])", "np.maximum.at(a, a > 1, 4)", "np.add.at(a, ([0, 9], 0), 1)"):
    add(f"at {statement}", "a", "a", one(lambda: arrays(["i4", "f8"], [(2, 3)], ["C", "F", "reversed"])), body=[statement], raises=True)
add("reduce with options", "a, out", "np.add.reduce(a, dtype=np.float64), np.add.reduce(a, 0, None, out), out, np.maximum.reduce(a, initial=2), np.add.reduce([1, 2, 3]), np.add.reduce(a, where=a > 1)", lambda: [(Array(t, (2, 3)), Array("f8", (3,))) for t in ("i4", "f4", "f8")], LOOSE, 1e-5)

# -- ranges ------------------------------------------------------------------------------------------------------------------------------------

KINDS = [np.int8(3), np.uint8(5), np.int32(4), np.int64(6), np.uint64(4), np.float32(2.5), np.float64(3.25), 4, 2.5, True]
add("np.arange of NumPy numbers", "a", "np.arange(a), np.arange(1, a), np.arange(0, a, 1), np.arange(a, a + 3)", one(lambda: [Value(v) for v in KINDS]))
add("np.arange complex", "a, b", "np.arange(a, b), np.arange(a, b, 1)", lambda: [(Value(a), Value(b)) for a in (0j, 1j, 1 + 1j) for b in (3 + 0j, 3 + 3j, 1 + 4j)])
add("np.arange bool", "n", "np.arange(n, dtype=np.bool_), np.arange(0, n, dtype=bool)", one(lambda: [Value(n) for n in (0, 1, 2, 3)]))
add("np.linspace of NumPy numbers", "a, b", "np.linspace(a, b, 5), np.linspace(a, b, 4, endpoint=False, retstep=True), np.linspace(a, b, 1)", lambda: [(Value(a), Value(b)) for a in KINDS for b in KINDS], 1e-15, 1e-7)
add("np.linspace rounds as NumPy", "a, b, n", "np.linspace(a, b, n), np.linspace(a, b, n, False), np.linspace(a, b, n, dtype=np.int64)", lambda: [(Value(a), Value(b), Value(n)) for a in (0, 0.1, -1, 1e-300) for b in (1, 0.3, 1.1, 10, -7, 5e-324) for n in (3, 10, 49, 50, 101)])
add("np.linspace axis", "a, b", "np.linspace(a, b, 4, axis=1), np.linspace(a, b, 4, axis=-1), np.linspace(a, 3, 3, axis=0)", lambda: [(Array(t, (3,)), Array("f8", (3,), "reversed")) for t in ("i4", "f8")], CLOSE)
add("limits", "a", "np.iinfo(a.dtype).min, np.iinfo(a.dtype).max, np.iinfo(a.dtype).bits", mild(INT_DTYPES, [(1,)]))
add("limits of floats", "a", "np.finfo(a.dtype).eps, np.finfo(a.dtype).max, np.finfo(a.dtype).min, np.finfo(a.dtype).tiny, np.finfo(a.dtype).bits, np.finfo(a.dtype).resolution, np.finfo(a.dtype).smallest_subnormal", mild(["f4", "f8", "c8", "c16"], [(1,)]))

# -- shapes ------------------------------------------------------------------------------------------------------------------------------------

for expression in ("np.roll(a, (1, 2, 3), axis=(0, 1, 2))", "np.roll(a, 1, (0, 1, 2))", "np.roll(a, (1, 2), axis=1)", "np.roll(a, (1, 2))", "np.roll(a, (2,), (0, 2))", "np.roll(a, (), ())", "np.roll(a, (-1, 7), (2, 2))", "np.repeat(a, np.int64(2), axis=1)", "np.repeat(a, np.array(2), 0)",
                   "np.tile(a, (2, 1, 2, 1))", "np.tile(a, (0, 1))", "np.tile(a, ())", "np.flip(a, (0, 2))", "np.expand_dims(a, (0, -1))", "np.moveaxis(a, (0, 1), (2, 0))", "np.take(a, [[0, 1], [-1, 0]], axis=0)", "np.take(a, [[0], [5]])", "np.split(a, np.int64(2))",
                   "np.array_split(a, np.int8(3), axis=1)", "np.delete(a, np.int64(1), 0)", "np.percentile(a, np.float32(50)), np.quantile(a, np.float64(0.25), axis=1)"):
    add(f"cube {expression}", "a", expression, mild(["i2", "f8"], [(2, 3, 4)]), CLOSE)
for expression in ("np.insert(a, [1, 3], 9)", "np.insert(a, 1, [5, 6])", "np.insert(a, [0, 2], [[1], [2], [3]], axis=1)", "np.insert(a, 1, [5, 6, 7], axis=1)", "np.insert(a, 1, np.ones((2, 4)), axis=0)", "np.insert(a, [1], np.ones((2, 4)), axis=0)",
                   "np.insert(a, 1, np.ones((3, 2)).T, axis=1)", "np.insert(a, [0, 0, 3], a[0, :3], axis=1)", "np.insert(a, np.array([2, 0]), 7, axis=-1)", "np.insert(a, [], 7)", "np.delete(a, [])", "np.delete(a, [], axis=0)", "np.insert(a, -1, 3)", "np.insert(a, [2, 1], [[1, 2, 3, 4], [5, 6, 7, 8]], 0)"):
    add(f"put in or out {expression}", "a", expression, mild(["i2", "f8", "c16"], [(3, 4)]))
for expression in ("np.insert(a, 1, 5, axis=1)", "np.insert(a, [0, 2], 5, axis=2)", "np.insert(a, 1, a[0], axis=0)", "np.insert(a, 1, a[:, 0], axis=1)", "np.delete(a, [0, 1], axis=1)"):
    add(f"put in or out of a cube {expression}", "a", expression, mild(["i2", "f8"], [(2, 3, 4), (2, 2, 2)]), raises=True)
for expression in ("np.roll(a, 1, axis=K)", "np.repeat(a, 2, axis=K)", "np.median(a, axis=K)", "np.diff(a, axis=K)", "np.sort(a, axis=K)", "np.argsort(a, axis=K, kind='stable')", "np.cumsum(a, axis=K)", "np.flip(a, K)", "np.sum(a, axis=K)",
                   "np.argmax(a, axis=K)", "np.concatenate((a, a), K)", "np.stack((a, a), K)", "np.expand_dims(a, K)", "np.swapaxes(a, 0, K)", "np.moveaxis(a, 0, K)", "np.take(a, [1, 0], K)", "np.delete(a, 0, K)", "np.insert(a, 0, 1, K)",
                   "np.percentile(a, 40, axis=K)", "np.maximum.reduce(a, K)", "np.linspace(a, 1, 3, axis=K)", "np.count_nonzero(a, axis=K)", "np.ptp(a, axis=K)", "np.nanmax(a, axis=K)", "np.unique(a, axis=K)"):
    for k in (0, 1, -1, -2, 2, -3, 3):
        text = expression.replace("K", str(k))
        add(f"axis {text}", "a", text, mild(["i4", "f8"], [(2, 3)]), CLOSE, raises=True)
for statement in ("a.reshape(5, -1)", "a.reshape(-1, -1)", "np.split(a, 0)", "np.split(a, 5)", "np.array_split(a, 0)", "np.roll(a, (1, 2), (0, 1, 1))", "np.concatenate((a, a[0]))", "np.stack((a, a[:1]))", "a @ a", "np.dot(a, a)", "np.broadcast_to(a, (3, 2))",
                  "np.repeat(a, [1, 2, 3], axis=0)", "np.repeat(a, -1)", "np.repeat(a, np.array([1.0, 2.0]), axis=0)", "np.tile(a, -1)", "np.linspace(0, 1, -1)", "np.arange(0, 1, 0)", "np.zeros((2, -1))", "np.full(-1, 1.0)", "np.eye(-1)", "np.squeeze(a, 0)", "np.max(a[:0])", "np.argmin(a[:0])",
                  "np.ptp(a[:0])", "np.nanmin(a[:, :0])", "np.maximum.reduce(a[:0])", "a[:0].max(axis=0)", "np.percentile(a, 101)", "np.quantile(a, -0.1)", "np.moveaxis(a, (0, 1), (1, 1))", "np.take(a, 9)", "np.take(a, [0, -9], axis=1)", "np.take(a, 1, mode='no')",
                  "np.diff(a, -1)", "np.histogram(a, 0)", "np.interp(1.0, a[0, :0], a[0, :0])", "np.bincount(np.array([-1]))", "np.searchsorted(a[0], 1, side='no')", "np.clip(a, None, None) + a[:, :2]", "np.fromiter(range(2), np.int64, 5)", "np.insert(a, 9, 1)",
                  "np.delete(a, 9)", "np.partition(a, 9)", "np.average(a, weights=a * 0)", "np.cross(a, a[0, :2])", "np.median(a, axis=(0, 5))", "np.where(a > 1, a, a[:, :2])", "np.outer(a, a) + a", "np.add(a, a, out=a[0])", "np.sum(a, axis=(0, 0))"):
    add(f"raises {statement}", "a, b", statement, lambda: [(Array(t, (2, 3)), Value(0)) for t in ("i4", "f8")], CLOSE, raises=True)

# -- what the other tables leave out -----------------------------------------------------------------------------------------------------------

EVERY = [(), (0,), (5,), (2, 3), (3, 0), (2, 3, 2)]
for t in DTYPES:
    add(f"empty arrays of {t}", "a", f"np.empty_like(a, dtype='{t}').shape, np.empty_like(a, '{t}', 'F').strides, np.empty(a.shape[:1], '{t}').dtype.name, np.zeros(3, dtype='{t}'), np.ones((2, 2), '{t}', order='F'), np.full(2, True, dtype='{t}'), np.identity(2, '{t}'), "
        f"np.eye(2, 3, 1, dtype='{t}', order='F'), np.tri(2, 3, 1, '{t}'), np.asarray(a, dtype='{t}'), np.array(a, dtype='{t}', order='F', ndmin=1), np.indices((2, 2), dtype='{t}')",
        one(lambda: arrays(["?", "i2", "f4"], [(2, 3), (3,)])))
    if t != "?":
        add(f"ranges of {t}", "n", f"np.arange(n, dtype='{t}'), np.arange(1, n, 2, dtype='{t}'), np.linspace(0, n, 4, dtype='{t}'), np.fromiter(range(n), dtype='{t}'), np.fromiter([1, 2, 3], '{t}', count=2)", one(lambda: [Value(n) for n in (0, 1, 5, 9)]))
add("bools from numbers", "n", "np.fromiter([0, 1, n], dtype='?'), np.linspace(0, n, 4, dtype='?'), np.fromiter((i % 2 == n for i in range(4)), bool)", one(lambda: [Value(n) for n in (0, 1)]))
add("order= of new arrays", "a", "np.zeros(a.shape, order='F').strides, np.ones(a.shape, order='C').strides, np.full(a.shape, 3, order='F').strides, np.empty(a.shape, np.int8, order='F').strides, np.zeros_like(a, order='K').strides, np.ones_like(a, order='C').strides, "
    "np.full_like(a, 2, order='F').strides, np.zeros_like(a, order='A').strides, np.array(a, order='C').strides, np.array(a, order='A').strides, np.asarray(a, order='F').strides, np.asarray(a, order='C').strides, np.copy(a, order='A').strides, a.copy('F').strides, a.astype(np.complex64, order='F').strides",
    mild(["i2", "f8"], [(3,), (2, 3), (2, 3, 4)]))
for order in "CFAK":
    add(f"order {order}", "a", f"a.ravel('{order}'), np.ravel(a, order='{order}'), a.flatten(order='{order}'), a.copy('{order}'), a.T.ravel('{order}'), a.T.flatten('{order}')", mild(DTYPES, EVERY))
for order in "CFA":
    add(f"reshape in order {order}", "a", f"a.reshape(-1, order='{order}'), np.reshape(a, (3, -1), order='{order}'), a.T.reshape((2, 3, -1), order='{order}')", mild(DTYPES, [(2, 3), (6,), (2, 3, 2)]))
for t in DTYPES:
    for u in ("i1", "i4", "u8", "f4", "f8", "c16"):
        if np.dtype(t).itemsize == np.dtype(u).itemsize or u == "i1":
            add(f"view of {t} as {u}", "a", f"a.view('{u}').shape, a.view('{u}')" if np.dtype(u).kind in "iu" else f"a.view('{u}').shape", one(lambda t=t: arrays([t], [(5,), (2, 3), (0,)], ["C", "strided", "reversed", "readonly"])), raises=True)
add("view of the same type", "a", "a.view(), a.view(a.dtype), a[::2].view()", mild(DTYPES, [(5,), (4, 2)]))
for expression in ("np.vstack((a, b))", "np.outer(a, b)", "np.inner(a, b)", "np.array_equal(a, b)", "np.array_equal(a, a), np.array_equal(a, b[::-1])", "np.dot(a, b)", "a @ b", "np.hstack((a, b))", "np.concatenate((b, a))", "np.stack((a, b))"):
    add(f"{expression} layouts", "a, b", expression, lambda: [(a, b) for a in arrays(DTYPES, [(4,), (3, 3)]) for b in (Array("f8", a.shape, "reversed"), Array("u1", a.shape, "F" if len(a.shape) > 1 else "strided"), Array("c8", a.shape, "readonly"))], LOOSE, 1e-5)
for expression in ("np.allclose(a, b)", "np.isclose(a, b)", "np.isclose(a, b, rtol=0.3, atol=0.1, equal_nan=True)"):
    add(f"{expression} dtypes", "a, b", expression, lambda: [(Array(s, (2, 3), k, "edge"), Array(t, (3,), "C", "edge")) for s in DTYPES for t in DTYPES for k in ("C", "readonly", "misaligned") if "?" not in (s, t) or "?" == s == t])
add("complex statistics", "a", "np.ptp(a), np.ptp(a, axis=0), np.median(a), np.median(a, axis=0), np.nanmin(a), np.nanmax(a), np.nanmedian(a), np.nanargmin(a), np.nanargmax(a), np.argsort(a, kind='stable'), np.unique(a), np.sort(a, axis=0)", mild(["c8", "c16"], [(5,), (2, 3)]), CLOSE, 1e-6)
add("complex np.searchsorted", "a, v", "np.searchsorted(np.sort(a), v), np.searchsorted(np.sort(a), v, side='right')", lambda: [(Array(s, (7,), k), Array(t, (4,))) for s in ("c8", "c16") for t in ("c8", "c16", "f8") for k in ("C", "reversed")])
add("complex np.power", "a, b", "np.power(a, b), a ** 2, a ** -1, a ** 0.5", lambda: [(Array(s, (5,)), Array(t, (5,))) for s in ("c8", "c16") for t in ("i2", "f4", "f8", "c16")], 2e-14, 1e-5)
add("np.clip dtypes", "a", "np.clip(a, 1, 3), np.clip(a, None, 2), np.clip(a, a_min=0, a_max=None)", mild(DTYPES, EVERY), raises=True)
add("np.diff of bool", "a", "np.diff(a), np.diff(a, axis=0)", mild(["?", "c8", "c16"], [(5,), (2, 3)]))
add("np.broadcast_to dtypes", "a", "np.broadcast_to(a, (4, 2, 3)), np.broadcast_to(a, a.shape), np.broadcast_to(a[..., :1], (2, 3))", mild(DTYPES, [(3,), (2, 3), (1, 3)]))
add("np.nditer dtypes", "a", "[x.item() for x in np.nditer(a)]", mild(DTYPES, [(), (5,), (2, 3), (2, 3, 2)]))
add("np.ndindex forms", "a", "[i for i in np.ndindex(a.shape)], [i for i in np.ndindex(*a.shape)], [x for i, x in np.ndenumerate(a)]", mild(DTYPES, [(5,), (2, 3), (3, 0), (2, 1, 3)]))
add("flat dtypes", "a", "a.flat[0], a.flat[-1], a.flat[1:3], [x for x in a.flat], len(a.flat)", mild(DTYPES, [(5,), (2, 3), (2, 3, 2)]))
add("np.ldexp shapes", "a, b", "np.ldexp(a, b)", lambda: [(a, Array(t, a.shape[-1:])) for a in arrays(["f4", "f8"], [(), (0,), (5,), (2, 3), (2, 3, 2)]) for t in ("i1", "i4", "i8", "u1", "u4", "?")])
add("np.meshgrid options", "a, b", "np.meshgrid(a, b, sparse=True)[1], np.meshgrid(a, b, indexing='ij', copy=True)[0], np.meshgrid(a, b, a)[2]", lambda: [(Array(s, (3,), k), Array(t, (2,))) for s in DTYPES for t in ("i4", "c16") for k in ("C", "reversed", "readonly", "misaligned")])
add("np.diag dtypes", "a", "np.diag(a), np.diag(a, 1), np.diag(a, -2)", mild(DTYPES, [(0,), (3,), (2, 3), (3, 0)]))
add("np.tril dtypes", "a", "np.tril(a), np.triu(a), np.tril(a, k=1), np.triu(a, -1)", mild(DTYPES, [(3,), (2, 3), (3, 0), (2, 3, 2)]))
add("np.trace dtypes", "a", "np.trace(a), np.trace(a, offset=1), np.trace(a, -1, dtype=np.complex128)", mild(DTYPES, [(2, 3), (3, 3), (3, 0), (2, 3, 2)]), LOOSE, 1e-5)
add("np.take dtypes", "a", "np.take(a, 0), np.take(a, [0, -1]), a.take([1, 0], axis=0), np.take(a, [[0], [1]], axis=-1), np.take(a, [7, -9], mode='wrap'), np.take(a, [70, -90], mode='clip')", mild(DTYPES, [(5,), (2, 3), (2, 3, 2)]))
add("np.argsort methods", "a", "a.argsort(kind='stable'), a.argsort(axis=0, kind='stable'), np.argsort(a, axis=None, stable=True), a.searchsorted(a[0]) if a.ndim == 1 else 0", mild(DTYPES, [(5,), (0,), (2, 3)]), raises=True)
add("np.count_nonzero options", "a", "np.count_nonzero(a), np.count_nonzero(a, axis=0, keepdims=True), np.count_nonzero(a, axis=(-1,))", mild(DTYPES, [(5,), (0,), (2, 3), (2, 3, 2)]))
for name in "nansum nanprod nanmean nanvar nanstd nanmin nanmax nanmedian ptp median count_nonzero".split():
    add(f"np.{name} keepdims", "a", f"np.{name}(a, keepdims=True), np.{name}(a, axis=-1, keepdims=True)" + (f", np.{name}(a, axis=(0, -1), keepdims=True)" if name not in ("ptp",) else ""), mild(REAL_DTYPES[1:], [(2, 3), (2, 3, 2)]), LOOSE, 1e-5)
for name in "nansum nanprod nancumsum nancumprod nanmean nanvar nanstd cumprod cumsum sum prod mean var std".split():
    add(f"np.{name} dtype=", "a", f"np.{name}(a, dtype=np.float64), np.{name}(a, axis=0, dtype=np.complex128)", mild(["?", "i2", "u4", "f4", "f8"], [(5,), (2, 3)]), LOOSE, 1e-5)
for method in "sum prod mean var std min max any all argmin argmax cumsum cumprod".split():
    for option in ("axis=1", "axis=-1", "axis=None") + (("axis=(0, 1)", "axis=(0, 1), keepdims=True", "axis=0, keepdims=True") if method[0] != "c" and method[:3] != "arg" else ()) + (("dtype=np.float64",) if method in ("sum", "prod", "mean", "var", "std", "cumsum", "cumprod") else ()):
        add(f"a.{method}({option})", "a", f"a.{method}({option})", mild(DTYPES[:11], [(2, 3), (2, 3, 2), (3, 4)]), LOOSE, 1e-5)
for ddof in (0, 1, 2, 5, 0.5, 3.5):
    add(f"ddof {ddof}", "a", f"np.var(a, ddof={ddof}), np.std(a, axis=0, ddof={ddof}), a.var(ddof={ddof}), a.std(axis=-1, ddof={ddof}, keepdims=True), np.nanvar(a, ddof={ddof}), np.nanstd(a, axis=0, ddof={ddof})", mild(["?", "i2", "u8", "f4", "f8", "c16"], [(3,), (1,), (2, 3), (4, 1)]), LOOSE, 1e-5)
add("Python numbers from arrays", "a", "np.asarray(a.tolist()), np.array([x.item() for x in a.flat]), np.asarray([x.tolist() for x in a.flat]), a.flat[0].astype(np.float32), [x.astype(np.complex128) for x in a.flat]", mild([t for t in REAL_DTYPES if t != "u8"], [(3,), (2, 3)]))
for f in ("add", "multiply", "maximum", "subtract", "true_divide", "logical_or", "less", "hypot", "power"):
    add(f"np.{f} of numbers into an array", "a, x, y", "a", lambda: [(Array(t, s, k), Value(x), Value(y)) for t in ("f4", "f8", "c16") for s in [(5,), (2, 3), (0,)] for k in ("C", "strided", "misaligned") for x in (3, 2.5, np.float32(1.5)) for y in (2, 0.5)], CLOSE, 1e-6,
        body=[f"np.{f}(x, y, out=a)"])
add("np.sqrt of a number into an array", "a, x, m", "np.sqrt(x, out=a), np.negative(x, a), np.add(x, x, where=m, out=a)", lambda: [(Array("f8", s), Value(x), Array("?", s[-1:])) for s in [(5,), (2, 3)] for x in (2, 2.5)])
add("integers of numbers into an array", "a, x, y", "np.add(x, y, out=a), np.bitwise_and(x, y, out=a), a", lambda: [(Array(t, (5,)), Value(x), Value(y)) for t in ("i8", "f8") for x in (3, np.int8(5), True) for y in (2, np.int16(9))])
add("np.clip of numbers", "a, x", "np.clip(np.sum(a), x, None), np.clip(np.max(a), None, x), np.clip(a[0], x, 3)", lambda: [(Array(t, (5,)), Value(x)) for t in INT_DTYPES for x in (-1, 0, 3, 300, -40000)])
for f in ("add", "subtract", "multiply", "floor_divide", "remainder", "maximum", "minimum", "fmin", "bitwise_and", "bitwise_or", "gcd", "true_divide", "fmod", "greater", "equal"):
    # NumPy's functions of NumPy's numbers; operators compute with 64 bits.
    add(f"np.{f} of a NumPy number and an int", "a, x", f"np.{f}(a[0], x), np.{f}(x, a[1])", lambda: [(Array(t, (2,)), Value(x)) for t in INT_DTYPES for x in (1, 2, -1, -3, 100, 200, 300, -129, 70000, 2**40)], CLOSE, 1e-6)
add("np.searchsorted of an array without dimensions", "a, v", "np.searchsorted(a, v), np.searchsorted(a, v, 'right'), a.searchsorted(v)", lambda: [(Array(t, (5,)), Array(u, ())) for t in ("i4", "f8") for u in ("i4", "f8", "u1")], body=["a = np.sort(a)"])

# -- what methods of ufuncs put together ---------------------------------------------------------------------------------------------------------

for f in ("np.add", "np.multiply", "np.maximum", "np.subtract", "np.logical_or", "np.fmin"):
    types = {"np.subtract": ["i1", "u2", "f8"], "np.logical_or": ["?", "i2"]}.get(f, ["?", "i1", "u2", "i8", "f4", "f8"])
    single = "" if f == "np.logical_or" else ", 0, np.float64"
    for indices in ([0, 2], [1, 1, 0], [2], [], [3], [-1]):
        add(f"{f}.reduceat {indices}", "a", f"{f}.reduceat(a, np.array({indices}, np.int64)), {f}.reduceat(a, np.array({indices}, np.int64){single})", one(lambda types=types: arrays(types, [(3,), (3, 2)], ["C", "strided"])), raises=True)
    add(f"{f}.reduceat axes", "a", f"{f}.reduceat(a, [1, 0, 1], axis=1), {f}.reduceat(a, [0], -1), {f}.reduceat(a, (0, 1), 0)", one(lambda: arrays(["i2", "f8"], [(2, 3), (2, 3, 2)], ["C", "F", "reversed"])))
for f in ("np.bitwise_and", "np.bitwise_or", "np.gcd", "np.subtract", "np.logical_xor", "np.hypot", "np.fmax"):
    types = ["f4", "f8"] if f in ("np.hypot", "np.fmax") else ["i1", "u2", "i8"]
    for options in ("axis=(0, 1)", "initial=3", "initial=3, axis=1", "initial=3, axis=(0, 1)", "where=a > 2, initial=1", "where=a > 2", "where=a[:1] > 2, initial=0, axis=None", "keepdims=True, initial=1"):
        add(f"{f}.reduce {options}", "a", f"{f}.reduce(a, {options})", one(lambda types=types: arrays(types, [(2, 3), (0, 3)], ["C", "F"])), CLOSE, raises=True)

# -- NumPy's names of the array standard ---------------------------------------------------------------------------------------------------------

for expression in ("np.linalg.matmul(a, b)", "np.vecdot(a, b.mT)", "np.linalg.vecdot(a, a)", "np.matvec(a, b[..., 0])", "np.vecmat(a[..., 0, :], b)", "np.linalg.trace(a), np.linalg.trace(a, offset=1)",
                   "np.linalg.diagonal(a), np.linalg.diagonal(a, offset=-1)", "np.linalg.matrix_transpose(a)", "np.linalg.cross(a, b.mT)", "np.linalg.outer(a[..., 0], b[0])"):
    add(expression, "a, b", expression, lambda: [(Array(t, (*s, 2, 3), k), Array(t, (*s, 3, 2), k)) for t in ("i2", "f8", "c16") for s in ((), (2,)) for k in ("C", "F")], CLOSE, raises=True)
for expression in ("np.linalg.vector_norm(a), np.linalg.vector_norm(a, axis=0), np.linalg.vector_norm(a, axis=-1, keepdims=True, ord=1), np.linalg.vector_norm(a, keepdims=True, ord=np.inf)",
                   "np.linalg.matrix_norm(a), np.linalg.matrix_norm(a, keepdims=True), np.linalg.matrix_norm(a, ord=1), np.linalg.matrix_norm(a, ord=np.inf)"):
    add(expression, "a", expression, one(lambda: arrays(["i2", "f4", "f8", "c16"], [(2, 3), (2, 2, 3)], ["C", "F"])), CLOSE, 1e-5)
add("np.searchsorted is refused", "a", "np.searchsorted(a, 1)", one(lambda: arrays(["f8"], [(), (2, 2)], ["C"])), raises=True)
