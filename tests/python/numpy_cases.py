"""The table of generated NumPy tests: one row per expression, with the arguments it is tried on.

To cover a new function add a row to the table it belongs to; `inputs.py` holds the dtypes, shapes, layouts and values that rows choose from.
"""

from itertools import product

import numpy as np
from harness.generated import Case
from harness.inputs import (DTYPES, FLOAT_DTYPES, INT_DTYPES, LAYOUTS, REAL_DTYPES, Array, Scalar, Value, arrays, scalars)

SOME_SHAPES = [(), (0,), (1,), (5,), (2, 3), (3, 0), (2, 3, 2)]
NONEMPTY = [(1,), (5,), (33,), (2, 3), (1, 4), (2, 3, 2)]
BROADCAST = [((5,), (5,)), ((2, 3), (3,)), ((2, 1), (1, 3)), ((), (4,)), ((0,), (1,)), ((2, 3), ()), ((3,), (4,)), ((2, 3, 2), (3, 1)), ((), ())]
CLOSE, LOOSE = 4e-15, 1e-12
# Exact, but that zeros of both signs are equal: which of them NumPy finds first depends on the length.
ZEROS = 1e-300
CASES = []


def add(name, parameters, expression, inputs, rtol=0.0, rtol32=None, body=None, raises=False):
    CASES.append(Case(name, parameters, expression, inputs, rtol, rtol32, body, raises))


def one(specs):
    """Inputs of a function of one argument."""
    return lambda: [(s,) for s in specs()]


def edge(dtypes=DTYPES, shapes=SOME_SHAPES):
    return one(lambda: arrays(dtypes, shapes, LAYOUTS, "edge"))


def mild(dtypes=DTYPES, shapes=SOME_SHAPES):
    return one(lambda: arrays(dtypes, shapes, LAYOUTS, "mild"))


def pairs(dtypes=DTYPES, values="edge", layouts=LAYOUTS):
    """Two arrays of every two dtypes, in shapes that broadcast and one that does not."""
    def inputs():
        for s, t in product(dtypes, dtypes):
            for (left, right), layout in product(BROADCAST, layouts):
                if layout == "C" or (left and right and (layout != "F" or len(left) > 1)):
                    yield Array(s, left, layout, values), Array(t, right, "C", "mild" if values == "mild" else values)
    return inputs


def with_scalars(dtypes=DTYPES, kinds=("int", "float", "complex", "bool", *DTYPES)):
    """An array and a scalar: the weak Python numbers and NumPy's own."""
    def inputs():
        for t in dtypes:
            for s in scalars(kinds):
                if not (s.kind == "int" and t != "?" and int(s.build()) < 0 and t[0] == "u"):
                    yield Array(t, (5,), "C", "mild"), s
    return inputs


def two_scalars():
    for s, t in product(scalars(), scalars()):
        # NumPy raises for a Python int that a NumPy scalar's type cannot hold; compiled code cannot know the value.
        if not (s.kind == "int" and t.kind[0] == "u" or t.kind == "int" and s.kind[0] == "u"):
            if not (s.kind in ("int", "bool", "float") and t.kind in ("int", "bool", "float")):
                yield s, t


# -- ufuncs ------------------------------------------------------------------------------------------------------------------------------------

EXACT_UNARY = ("absolute ceil conjugate fabs floor invert isfinite isinf isnan logical_not negative positive reciprocal rint sign signbit sqrt "
               "square trunc").split()
CLOSE_UNARY = ("arccos arccosh arcsin arcsinh arctan arctanh cbrt cos cosh deg2rad degrees exp exp2 expm1 log log10 log1p log2 rad2deg radians sin sinh "
               "tan tanh").split()
EXACT_BINARY = ("add bitwise_and bitwise_or bitwise_xor copysign equal floor_divide fmax fmin fmod greater greater_equal less less_equal "
                "logical_and logical_or logical_xor maximum minimum multiply nextafter not_equal remainder subtract").split()
CLOSE_BINARY = "arctan2 divide float_power hypot logaddexp logaddexp2".split()
INT_BINARY = "gcd lcm left_shift right_shift".split()

for name in EXACT_UNARY:
    # The square root of a complex number is not one instruction.
    add(f"np.{name}", "a", f"np.{name}(a)", edge(REAL_DTYPES if name == "sqrt" else DTYPES))
# Of small integers NumPy takes the spacing in float16, which has no like here.
add("np.spacing", "a", "np.spacing(a)", edge(["i2", "i8", "u4", "f4", "f8"]))
add("np.sqrt complex", "a", "np.sqrt(a)", mild(["c8", "c16"]), CLOSE, 1e-6)
for name in CLOSE_UNARY:
    add(f"np.{name}", "a", f"np.{name}(a)", mild(), CLOSE, 1e-6)
    add(f"np.{name} edge", "a", f"np.{name}(a)", edge(REAL_DTYPES, [(), (11,), (22,)]), CLOSE, 1e-6)
for name in EXACT_BINARY:
    # Which of two zeros of different sign wins an extreme depends on the length, in NumPy.
    add(f"np.{name}", "a, b", f"np.{name}(a, b)", pairs(), ZEROS if name in ("fmax", "fmin", "maximum", "minimum") else 0.0, ZEROS if name in ("fmax", "fmin", "maximum", "minimum") else 0.0)
for name in CLOSE_BINARY:
    add(f"np.{name}", "a, b", f"np.{name}(a, b)", pairs(values="mild"), CLOSE, 1e-6)
for name in INT_BINARY:
    add(f"np.{name}", "a, b", f"np.{name}(a, b)", pairs(["?", *INT_DTYPES, "f8"], "mild"))
for name in EXACT_UNARY:
    add(f"np.{name} scalar", "a", f"np.{name}(a)", one(scalars if name != "sqrt" else lambda: scalars(("int", "float", "bool", *REAL_DTYPES))))
for name in CLOSE_UNARY:
    add(f"np.{name} scalar", "a", f"np.{name}(a)", one(lambda: scalars(("int", "float", "bool", *REAL_DTYPES))), CLOSE, 1e-6)
for alias in "abs acos acosh asin asinh atan atanh conj bitwise_not bitwise_invert".split():
    if hasattr(np, alias):
        add(f"np.{alias}", "a", f"np.{alias}(a)", mild(["i4", "f8"], [(5,)]), CLOSE)
for alias in "atan2 mod pow true_divide bitwise_left_shift bitwise_right_shift".split():
    if hasattr(np, alias):
        add(f"np.{alias}", "a, b", f"np.{alias}(a, b)", lambda: [(Array(t, (5,), "C", "mild"), Value(3)) for t in ("i4", "i8", "f8")], CLOSE)
add("np.divmod", "a, b", "np.divmod(a, b)", pairs(REAL_DTYPES))
add("np.power", "a, b", "np.power(a, abs(b))", pairs(["?", *INT_DTYPES, *FLOAT_DTYPES], "mild"), CLOSE, 1e-6)
add("np.ldexp", "a, b", "np.ldexp(a, b)", lambda: [(Array(t, (5,), "C", "mild"), Array(i, (5,), "C", "mild")) for t in REAL_DTYPES for i in INT_DTYPES])

for symbol in "+ - * / // % < <= == != > >= & | ^".split():
    rtol = CLOSE if symbol == "/" else 0.0
    add(f"a {symbol} b", "a, b", f"a {symbol} b", pairs(), rtol, 1e-6 if rtol else None)
    add(f"a {symbol} scalar", "a, b", f"a {symbol} b", with_scalars(), rtol, 1e-6 if rtol else None)
    add(f"scalar {symbol} a", "a, b", f"b {symbol} a", with_scalars(), rtol, 1e-6 if rtol else None)
for symbol in "< == >=".split():
    add(f"scalar {symbol} scalar", "a, b", f"a {symbol} b", two_scalars)
for symbol in "+ - *".split():
    # Integer scalars are computed in 64 bits, as in Numba; NumPy wraps them at their width.
    add(f"scalar {symbol} scalar", "a, b", f"a {symbol} b",
        lambda: (p for p in two_scalars() if not all(s.kind in ("int", "bool", "?") or s.kind[0] in "iu" for s in p)))
for symbol in "<< >>".split():
    add(f"a {symbol} b", "a, b", f"a {symbol} b", pairs(["?", *INT_DTYPES], "mild"))
for symbol in "- + ~ abs".split():
    add(f"{symbol} a", "a", f"{symbol}(a)", edge())
for symbol in "+ - * / // %".split():
    add(f"a {symbol}= b", "a, b", "a", pairs(REAL_DTYPES, "mild", [k for k in LAYOUTS if k != "readonly"]), CLOSE, 1e-6, body=[f"a {symbol}= b"])
add("a ** scalar", "a, b", "a ** b", lambda: [(Array(t, (5,)), Scalar("int", i)) for t in FLOAT_DTYPES for i in range(4)], CLOSE, 1e-6)
add("fused", "a, b", "(a + b) * a - b / 2", pairs(REAL_DTYPES, "mild"), CLOSE, 1e-6)

for name in ("add", "multiply", "maximum"):
    add(f"np.{name} out", "a, out", f"np.{name}(a, a, out=out)",
        lambda: [(a, Array(t, a.shape, "strided" if a.shape else "C", "mild")) for a in arrays(["i4", "f4", "f8"], NONEMPTY, ["C", "reversed"]) for t in ("f4", "f8", "c16")])

# -- reductions --------------------------------------------------------------------------------------------------------------------------------

EXACT_REDUCTIONS = "min max any all argmin argmax ptp count_nonzero".split()
SUMS = "sum prod mean var std nansum nanprod nanmean nanvar nanstd median nanmedian".split()
ACCUMULATIONS = "cumsum cumprod nancumsum nancumprod".split()
NAN_EXTREMES = "nanmin nanmax nanargmin nanargmax".split()
AXES = {"": None, ", axis=0": 1, ", axis=-1": 1, ", axis=1": 2, ", axis=(0, 1)": 2}
METHODS = "sum prod mean var std min max any all argmin argmax cumsum cumprod".split()

for name, (axis, rank) in product(EXACT_REDUCTIONS + SUMS + ACCUMULATIONS + NAN_EXTREMES, AXES.items()):
    if axis == ", axis=(0, 1)" and (name.startswith(("arg", "nanarg", "cum", "nancum")) or name in ("ptp",)):
        continue
    shapes = [s for s in SOME_SHAPES if rank is None or len(s) >= rank]
    exact = name in EXACT_REDUCTIONS + NAN_EXTREMES
    dtypes = REAL_DTYPES[1:] if name == "ptp" else REAL_DTYPES if name in ("median", "nanmedian", *NAN_EXTREMES) else DTYPES
    add(f"np.{name}{axis}", "a", f"np.{name}(a{axis})", (edge if exact else mild)(dtypes, shapes), ZEROS if exact else LOOSE, ZEROS if exact else 1e-5)
add("reductions over several axes known at run time", "a, axes", "np.sum(a, axes), np.max(a, axis=axes, keepdims=True), np.any(a, axes), a.mean(axis=axes), np.var(a, axes), np.count_nonzero(a, axes)",
    lambda: [(a, Value(x)) for a in arrays(["i4", "f4", "f8"], [(2, 3), (2, 3, 2), (1, 4)], LAYOUTS, "mild") for x in [(0, 1), (1, 0), (-1, 0), (1,), (), (0, 0), (0, 5), (-1, 0, 1), (0, 0, 5)]], LOOSE, 1e-5, raises=True)
for name, axis in product(METHODS, ["", "axis=0"]):
    exact = name in EXACT_REDUCTIONS
    shapes = [s for s in SOME_SHAPES if not axis or s]
    add(f".{name}({axis})", "a", f"a.{name}({axis})", (edge if exact else mild)(DTYPES, shapes), ZEROS if exact else LOOSE, ZEROS if exact else 1e-5)
for name in "sum prod mean var std min max any all".split():
    exact = name in EXACT_REDUCTIONS
    for options in ("keepdims=True", "axis=0, keepdims=True", "axis=-1, keepdims=True"):
        add(f"np.{name} {options}", "a", f"np.{name}(a, {options})", mild(REAL_DTYPES, [s for s in NONEMPTY if len(s) > 1]), 0.0 if exact else LOOSE, 1e-5)
for name, t in product(("sum", "prod", "cumsum", "mean"), ("float64", "int64", "float32", "complex128")):
    dtypes = REAL_DTYPES if t != "complex128" else DTYPES
    add(f"np.{name} dtype={t}", "a", f"np.{name}(a, dtype=np.{t})", mild([d for d in dtypes if not (t == "int64" and d[0] == "f")], NONEMPTY), LOOSE, 1e-5)
for name in ("var", "std", "nanvar", "nanstd"):
    add(f"np.{name} ddof", "a", f"np.{name}(a, ddof=1), np.{name}(a, axis=0, ddof=1)", mild(REAL_DTYPES, [(5,), (2, 3), (33,)]), LOOSE, 1e-5)
add("pairwise sum", "a", "a.sum(), np.mean(a)", one(lambda: [Array(t, (n,), "C", "distinct") for t in FLOAT_DTYPES for n in (1, 7, 8, 9, 127, 128, 129, 1000, 8193)]))

# -- shape -------------------------------------------------------------------------------------------------------------------------------------

for expression in ("a.reshape(-1)", "a.reshape((-1, 1))", "np.ravel(a)", "a.flatten()", "a.ravel()", "a.T", "a.transpose()", "np.transpose(a)", "np.expand_dims(a, 0)", "np.expand_dims(a, -1)",
                   "a.copy()", "np.copy(a)", "np.atleast_1d(a)", "np.atleast_2d(a)", "np.ascontiguousarray(a)", "np.asfortranarray(a)",
                   "a.shape, a.ndim, a.size, a.itemsize, a.nbytes, len(a.shape)", "np.shape(a), np.size(a)", "a[...]", "a[None]", "a[..., None]", "a.real, a.imag", "np.real(a), np.imag(a)",
                   "np.zeros_like(a), np.ones_like(a), np.full_like(a, 2)", "np.array(a), np.asarray(a)", "np.flip(a)", "np.roll(a, 1)", "np.roll(a, -3)", "np.tile(a, 2)", "np.repeat(a, 2)",
                   "np.nonzero(a)", "np.argwhere(a)", "np.flatnonzero(a)", "a.tolist()"):
    add(expression, "a", expression, mild())
add("np.squeeze", "a", "np.squeeze(a, axis=0), a.squeeze(0)", mild(DTYPES, [(1,), (1, 4), (2, 3), (1, 2, 2)]))
for expression in ("np.swapaxes(a, 0, 1)", "a.swapaxes(0, -1)", "np.moveaxis(a, 0, -1)", "np.flip(a, 0)", "np.flip(a, axis=1)", "np.roll(a, 1, axis=0)", "np.repeat(a, 2, axis=1)", "np.tile(a, (2, 1))",
                   "np.split(a, [1], axis=1)", "np.concatenate((a, a), axis=1)", "np.stack((a, a), axis=1)", "np.hstack((a, a))", "a[:, 0]", "a[0]", "a[-1, ::-1]", "a[::2, 1:]", "a[1:, :-1]", "a.sum(0), a[0].max()",
                   "np.diff(a, axis=0)", "np.take(a, np.array([1, 0]), axis=0)", "np.sort(a, axis=0)", "np.fliplr(a), np.flipud(a)"):
    add(f"{expression} 2-d", "a", expression, mild(DTYPES, [(2, 3), (3, 2), (4, 1), (1, 2), (2, 3, 2)]))
for expression in ("np.tril(a)", "np.triu(a, 1)", "np.diag(a)", "np.diag(a, -1)", "np.trace(a)"):
    add(f"{expression} matrix", "a", expression, mild(DTYPES, [(3, 3), (2, 4), (4, 2), (1, 1)]), LOOSE)
for expression in ("np.concatenate((a, b))", "np.vstack((a, b))", "np.hstack((a, b))", "np.stack((a, b))", "np.append(a, b)", "np.outer(a, b)", "np.where(a, a, b)", "np.array_equal(a, b)"):
    add(expression, "a, b", expression, lambda: [(Array(s, shape, k), Array(t, shape)) for s, t in product(DTYPES, DTYPES) for shape in [(5,), (2, 3), (0,)] for k in ("C", "strided")])
for expression in ("np.allclose(a, b)", "np.isclose(a, b)", "np.isclose(a, b, equal_nan=True)", "np.allclose(a, b, rtol=0.5, atol=1.0)"):
    add(expression, "a, b", expression, pairs(["i4", "u1", "f4", "f8", "c16"]))
for expression in ("np.atleast_3d(a)", "np.ravel(a, 'F')", "a.flatten('F')", "a.copy('F')", "a.reshape(-1, order='F')", "np.rollaxis(a, a.ndim - 1)", "np.array(a, order='F', ndmin=3)", "np.asarray(a, np.float64)",
                   "np.trim_zeros(a.ravel())", "np.extract(a > 1, a)", "np.delete(a, 0)", "np.delete(a, slice(0, 2))", "np.delete(a, [0, -1])", "np.insert(a, 0, 5)", "np.insert(a, 1, [1, 0, 1])", "np.resize(a, (2, 3))",
                   "np.ediff1d(a)", "a.flags.c_contiguous, a.flags.f_contiguous, a.flags.writeable, a.flags.aligned", "a.dtype.itemsize, a.dtype.kind, a.dtype.name, a.dtype.char", "np.diagflat(a)",
                   "np.broadcast_arrays(a, 1)[0]", "np.full(3, a[(0,) * a.ndim])", "np.array([a, a]), np.array((a, [a][0]))", "2.5 in a, 1 in a", "np.zeros_like(a).strides, np.copy(a).strides"):
    add(expression, "a", expression, mild(REAL_DTYPES, [s for s in NONEMPTY if s != (33,)]))
for expression in ("np.rot90(a)", "np.rot90(a, 2)", "np.rot90(a, -1)", "np.dsplit(np.atleast_3d(a), 1)[0]", "np.hsplit(a, 1)[0]", "np.vsplit(a, [1])[1]", "np.array_split(a, 2)", "np.array_split(a, 3, axis=1)", "np.column_stack((a, a[:, 0]))",
                   "np.dstack((a, a))", "np.delete(a, 0, axis=1)", "np.delete(a, [0, 1], 0)", "np.insert(a, 1, 7, axis=1)", "np.insert(a, 0, a[0], axis=0)", "np.take_along_axis(a, np.argsort(a, 1), 1)",
                   "np.compress([True, False], a, axis=1)", "np.tril(a, -1), np.triu(a, -1)", "np.diagonal(a), np.diagonal(a, 1)", "np.kron(a, a)", "np.concatenate([a, a + 1.5], axis=-1)", "np.stack([a, a, a], -1)",
                   "np.moveaxis(a, [0, 1], [1, 0])", "a.transpose(1, 0), np.transpose(a, (-1, 0))", "a[:, ::-1].reshape(-1)", "a[::-1].T.reshape(2, -1)", "a[:, 1:].ravel()", "a.T.reshape(a.shape, order='F')", "np.asfortranarray(a) + a.T.T"):
    add(f"{expression} matrix", "a", expression, mild(REAL_DTYPES[1:], [(2, 2), (2, 4), (4, 3)]))
for expression in ("a[i, j]", "a[:, i]", "a[i, 1]", "a[1, i]", "a[..., i]", "a[i, ::-1]", "a[i[:, None], j]", "a[i, j[0]]", "a[[1, 0], i[:2]]", "a[None, i]", "np.take(a, i, axis=1)", "np.take(a, i, 0)", "np.take(a, 1, axis=1)", "a[a > 1], a[:, a[0] > 1]",
                   "a[a[:, 0] > 1, i[0]]", "a[a[:, 0] > -9, 1:]", "a[i.astype(np.uint8)]", "a[[True, False, True]]", "a[i, i]"):
    add(f"indices {expression}", "a, i, j", expression, lambda: [(Array(t, s, lay), Value(np.array(i)), Value(np.array(j))) for t in ("i2", "f8", "c16") for s in [(3, 3), (3, 4)] for lay in ("C", "F", "reversed", "strided")
                                                                 for i, j in [([0, 2], [1, 1]), ([1, -1], [-3, 2]), ([0, 1], [0, 3])] if t != "c16" or ">" not in expression])
for statement in ("a[i, j] = v", "a[:, i] = v", "a[i, 1] = v", "a[1, i] = v", "a[i] = v", "a[a > 1] = v", "a[:, a[0] > 1] = v", "a[i, ::-1] = v", "a[i] += v", "a[a > 0] *= v", "a[i, j] += v", "a.flat = v", "a.fill(v[0])", "a.flat[1] = v[0]", "a[[0, 2]] = v", "a[a[:, 0] > 1] = a[0]",
                  "a[i] = a[j]", "a[1:] += a[:-1]", "a[:-1] -= a[1:]", "a[:] = a[::-1]", "a[:, 1:] *= a[:, :-1]", "a[::-1] += a", "a += a[::-1]", "a.T[...] = a[:, :3][:3].T[..., ::-1] if False else a.T", "np.add(a[1:], a[:-1], out=a[1:])", "np.fill_diagonal(a, 9)",
                  "np.put(a, i, v)", "np.place(a, a > 1, v)", "np.putmask(a, a > 1, v)", "np.copyto(a, a[0])", "np.put_along_axis(a, i[:, None][:, :1].repeat(3, 0)[:3], 9, 1)"):
    add(statement, "a, i, j, v", "a", lambda: [(Array(t, (3, 3), lay), Value(np.array(i)), Value(np.array(j)), Value(np.array(v))) for t in ("i2", "i8", "f8") for lay in ("C", "F", "reversed", "strided")
                                               for i, j in [([0, 2], [1, 1]), ([1, -1], [-3, 2]), ([0, 1], [0, 5])] for v in ([7, 9], [5], [1, 2, 3])], body=[statement])
add("np.broadcast_to", "a, shape", "np.broadcast_to(a, shape)",
    lambda: [(Array(t, s), Value(g)) for t in ("i1", "f8") for s in [(), (3,), (1,), (2, 1), (1, 3)] for g in [(2, 3), (3,), (4, 2, 3), (2, 2)]])
add("reshape to", "a, shape", "a.reshape(shape)",
    lambda: [(a, Value(g)) for a in arrays(["i4", "f8"], [(6,), (2, 3), (3, 2), (0, 6)]) for g in [(6,), (3, 2), (1, 6), (2, -1), (-1, 1), (4, 2), (2, 3, 1)]])

for mode in ("constant", "edge", "linear_ramp", "maximum", "mean", "median", "minimum", "reflect", "symmetric", "wrap"):
    add(f"np.pad {mode}", "a, w", f"np.pad(a, w, {mode!r})", lambda: [(a, Value(w)) for a in arrays(["u1", "i8", "f4", "f8"], [(1,), (5,), (2, 3)], ["C", "F", "reversed"], "mild") for w in (0, 2, (3, 11))], LOOSE, 1e-6)
add("np.pad options", "a", "np.pad(a, ((1, 2), (0, 3)), constant_values=((5, 6), (7, 8))), np.pad(a, 3, 'linear_ramp', end_values=(4, -1)), np.pad(a, 7, 'reflect', reflect_type='odd'), "
    "np.pad(a, (6, 5), 'symmetric', reflect_type='odd'), np.pad(a, 2, 'mean', stat_length=2), np.pad(a, 2, 'maximum', stat_length=((1, 2), (2, 1))), np.pad(a, {-1: 2}), np.pad(a, {0: (1, 2)})", mild(["i4", "f8"], [(2, 3), (4, 2)]), LOOSE)
add("np.block", "a", "np.block([[a, a], [a, a]]), np.block([a, a[:, :1]]), np.block([a[0], 3]), np.block([[a[0], 1], [a[1], 2]])", mild(REAL_DTYPES, [(2, 2), (3, 3)]))
add("np.packbits", "a", "np.packbits(a), np.packbits(a, -1), np.packbits(a, 0, 'little')", mild(["?", *INT_DTYPES], [(5,), (9,), (2, 3), (17, 2), (0,)]))
add("np.unpackbits", "a", "np.unpackbits(a), np.unpackbits(a, -1), np.unpackbits(a, 0, bitorder='little'), np.unpackbits(a, 0, 11), np.unpackbits(a, count=-3)", edge(["u1"], [(5,), (2, 3), (3, 2, 2)]))
add("np.unwrap", "a", "np.unwrap(a), np.unwrap(a * 3, 4), np.unwrap(a, axis=0), np.unwrap(a, period=6), np.unwrap(a, period=5)", mild(["i4", "i8", "f8"], [(5,), (33,), (3, 4)]), LOOSE)
add("np.cumulative_sum", "a", "np.cumulative_sum(a, axis=0), np.cumulative_prod(a, axis=-1), np.cumulative_sum(a, axis=-1, include_initial=True), np.cumulative_prod(a, axis=0, include_initial=True)", mild(REAL_DTYPES, [(0,), (5,), (2, 3)]), LOOSE, 1e-5)
add("np.apply_along_axis", "a", "np.apply_along_axis(np.sum, 0, a), np.apply_along_axis(np.sort, -1, a), np.apply_along_axis(np.diff, 0, a), np.apply_along_axis(np.diag, -1, a), np.apply_along_axis(lambda x, k: x * k, 0, a, 3)",
    mild(REAL_DTYPES[1:], [(5,), (2, 3), (3, 2, 2)]), LOOSE, 1e-5)
add("np.choose", "a, b", "np.choose(i, (a, b)), np.choose(i, [a, b]), np.choose(i * 5, (a, b), mode='wrap'), np.choose(i - 3, [a, b], mode='clip'), np.choose(i, (a, 1.5))",
    lambda: [(Array(s, (5,)), Array(t, (5,))) for s, t in product(["i4", "f4", "f8"], repeat=2)], body=["i = np.array([0, 1, 1, 0, 1])"])
add("np.unravel_index", "i", "np.unravel_index(i, (3, 4)), np.unravel_index(i, (3, 4), 'F'), np.unravel_index(i, (2, 3, 2)), np.unravel_index(i, 12)", lambda: [(Value(np.array(i, t)),) for i in (0, [1, 5, 11], [[3], [7]]) for t in ("i4", "u1", "i8")])
add("np.ravel_multi_index", "i, j", "np.ravel_multi_index((i, j), (3, 4)), np.ravel_multi_index((i, j), (3, 4), order='F'), np.ravel_multi_index((i, j), (2, 2), mode='wrap'), np.ravel_multi_index((i, j), (2, 2), ('clip', 'wrap'))",
    lambda: [(Value(np.array(i, t)), Value(np.array(j))) for i, j in ([[0, 2, 1], [3, 0, 1]], [[[0], [2]], [1, 3]]) for t in ("i4", "u1", "i8")])
add("np.ix_", "i, j", "np.ix_(i, j), np.arange(12).reshape(3, 4)[np.ix_(i, j)], np.ix_(i > 0, j), np.ix_([0, 1], [2], i)", lambda: [(Value(np.array(i)), Value(np.array(j))) for i, j in ([[0, 2], [1, 3, 0]], [[1], [2]])])
add("np.diag_indices", "a", "np.diag_indices(3), np.diag_indices(2, 3), np.diag_indices_from(a), np.mask_indices(3, np.triu), np.mask_indices(3, np.tril, -1), np.mask_indices(4, np.triu, 2)", mild(["f8"], [(3, 3), (2, 2, 2), (0, 0)]))
add("np.fromfunction", "n", "np.fromfunction(lambda i, j: i * 10 + j, (n, 3)), np.fromfunction(lambda i: i * i, (n,), dtype=np.int64), np.fromfunction(np.equal, (n, n))", lambda: [(Value(n),) for n in (0, 1, 4)])
add("np.base_repr", "n", "np.base_repr(n), np.base_repr(n, 16), np.base_repr(n, 3, 2), np.binary_repr(n), np.binary_repr(n, 12)", lambda: [(Value(n),) for n in (0, 1, 5, 255, -1, -8, -255, 1023)])
add("np.i0", "a", "np.i0(a), np.i0(a * 4)", mild(["i4", "u1", "f4", "f8"]), LOOSE, 1e-5)
add("np.kaiser", "n", "np.kaiser(n, 14), np.kaiser(n, 0.5)", lambda: [(Value(n),) for n in (-1, 0, 1, 2, 12)], LOOSE)
add("np.histogram2d", "a, b", "np.histogram2d(a, b), np.histogram2d(a, b, 3, weights=a), np.histogram2d(a, b, (2, 3), density=True), np.histogram2d(a, b, [2, 3], ((-1, 2), (0, 1))), np.histogram2d(a, b, e), np.histogram2d(a, b, (e, 4))",
    lambda: [(Array(s, (n,)), Array(t, (n,))) for s, t in (("f8", "f8"), ("i4", "f8"), ("u1", "i8")) for n in (5, 33)], LOOSE, body=["e = np.array([-1.5, 0.0, 1.0, 4.0])"])
add("np.histogram_bin_edges", "a", "np.histogram_bin_edges(a), np.histogram_bin_edges(a, 3, (0.0, 2.0)), np.histogram_bin_edges(a, [0.0, 1.0, 5.0])", mild(["i4", "f8"], [(5,), (2, 3)]), CLOSE)
add("np.polyfit", "a", "np.polyfit(x, a, 1), np.polyfit(x, a, 3, w=x + 1.0), np.polyfit(x, np.stack((a, a[::-1]), 1), 2), np.polyfit(x, a, 2, full=True), np.polyfit(x, a, 2, cov=True), np.polyfit(x, a, 1, cov='unscaled')",
    mild(["f8"], [(11,)]), 1e-9, body=["x = np.arange(11.0)"])

# -- indexing ----------------------------------------------------------------------------------------------------------------------------------

INDICES = [0, 1, -1, 4, 5, -5, -6, 100]
SLICES = ["a[1:]", "a[:2]", "a[::2]", "a[::-1]", "a[3:0:-1]", "a[-2:]", "a[10:]", "a[:-10]", "a[2:2]", "a[1:4:3]", "a[::-3]"]
add("a[i]", "a, i", "a[i]", lambda: [(a, Value(i)) for a in arrays(DTYPES, [(5,), (5, 2), (5, 2, 2), (0,)], values="edge") for i in INDICES])
add("a[i, j]", "a, i, j", "a[i, j]", lambda: [(a, Value(i), Value(j)) for a in arrays(DTYPES, [(5, 3), (2, 5, 2)]) for i in INDICES for j in (0, -1, 2, 3, -4)])
for expression in SLICES:
    add(expression, "a", expression, mild(DTYPES, [(5,), (0,), (1,), (5, 2), (2, 3, 2)]))
add("a[i:j:k]", "a, i, j, k", "a[i:j:k]", lambda: [(Array(t, s, lay), Value(i), Value(j), Value(k)) for t in ("i4", "f8") for s in [(5,), (4, 2)] for lay in ("C", "reversed")
                                                   for i in (0, -2, 9, -9) for j in (3, -1, 9, -9) for k in (1, 2, -1, -2, 7, 0)])
add("a[mask]", "a, m", "a[m]", lambda: [(a, Array("?", m)) for a in arrays(DTYPES, [(5,), (2, 3), (2, 3, 2), (0,)]) for m in {a.shape, a.shape[:1], (3,)}])
add("a[index array]", "a, i", "a[i]", lambda: [(a, Array(t, s)) for a in arrays(["i2", "f8", "c16"], [(11,), (11, 2)]) for t in ("i1", "i4", "i8", "u1", "u8") for s in [(4,), (2, 2), (0,)]])
add("a[list]", "a", "a[[1, 0, -1]]", mild(DTYPES, [(5,), (2, 3), (2, 3, 2)]))
add("a[i] = scalar", "a, i, v", "a", lambda: [(a, Value(i), Scalar(k, 0)) for a in arrays(DTYPES, [(5,), (5, 2), (0,)], ["C", "strided", "reversed", "readonly", "misaligned"]) for i in INDICES
                                             for k in ("int", "float", "bool", "i8", "f4") if not (a.layout == "readonly" and i)], body=["a[i] = v"])
add("a[1:4] = b", "a, b", "a", lambda: [(a, Array(t, s)) for a in arrays(REAL_DTYPES, [(5,), (5, 3)], ["C", "strided", "reversed", "misaligned"]) for t in ("i1", "i8", "f8") for s in [(3,), (1,), (3, 1), (3, 3), (2,), ()]], body=["a[1:4] = b"])
add("a[::-2] = v", "a, v", "a", lambda: [(a, Scalar(k, 0)) for a in arrays(DTYPES, [(5,), (4, 2)], ["C", "strided", "reversed", "misaligned"]) for k in ("int", "bool", "f4")], body=["a[::-2] = v"])
add("a[mask] = v", "a, m, v", "a", lambda: [(a, Array("?", m), Scalar(k, 0)) for a in arrays(REAL_DTYPES, [(5,), (2, 3)], ["C", "strided", "reversed"]) for m in {a.shape, a.shape[:1]} for k in ("int", "float")], body=["a[m] = v"])
add("a[index array] = b", "a, i, b", "a", lambda: [(a, Array(t, (4,)), Array(u, s)) for a in arrays(REAL_DTYPES, [(11,)], ["C", "strided"]) for t in ("i1", "i8") for u in ("i4", "f8") for s in [(4,), (1,), ()]], body=["a[i] = b"])
add("a[...] = b", "a, b", "a", lambda: [(a, Array(t, s)) for a in arrays(DTYPES, [(2, 3), (5,), ()], ["C", "F", "strided"]) for t in ("i4", "f8") for s in [(), (3,), (2, 1), (2, 3), (4,)]], body=["a[...] = b"])
add("a[:, ::-1] = a", "a", "a", mild(DTYPES, [(2, 3), (3, 3)]), body=["a = a.copy()", "a[:, ::-1] = a"])

# -- sorting, searching, selecting -------------------------------------------------------------------------------------------------------------

add("np.sort", "a", "np.sort(a)", edge(DTYPES, [(0,), (1,), (5,), (33,), (2, 3), (300,)]), ZEROS, ZEROS)
add(".sort()", "a", "a", edge(REAL_DTYPES, [(5,), (33,), (2, 3)]), ZEROS, ZEROS, body=["a = a.copy()", "a.sort()"])
add("np.argsort", "a", "np.argsort(a)", one(lambda: [a for a in arrays(REAL_DTYPES[1:], [(0,), (1,), (5,), (33,), (300,)], values="distinct") if a.shape != (300,) or a.dtype[1] != "1"]))
add("np.argsort stable", "a", "np.argsort(a, kind='stable')", edge(REAL_DTYPES, [(0,), (5,), (33,), (300,)]))
add("np.searchsorted", "a, v", "np.searchsorted(a, v), np.searchsorted(a, v, side='right')",
    lambda: [(a, v) for a in arrays(REAL_DTYPES, [(5,), (33,)], values="mild") for v in (Array("f8", (4,)), Array("i4", (2, 2)), Scalar("int", 0), Scalar("float", 0))], body=["a = np.sort(a)"])
add("np.unique", "a", "np.unique(a)", edge(REAL_DTYPES, [(0,), (1,), (5,), (33,), (2, 3)]), ZEROS, ZEROS)
add("np.take", "a, i", "np.take(a, i)", lambda: [(a, Array(t, s)) for a in arrays(DTYPES, [(11,), (4, 3)]) for t in ("i1", "i8") for s in [(4,), (2, 2)]])
add("np.clip", "a, lo, hi", "np.clip(a, lo, hi)", lambda: [(a, Value(1), Value(4)) for a in arrays([t for t in REAL_DTYPES if t != "?"], NONEMPTY)])
add("np.clip float", "a, lo, hi", "np.clip(a, lo, hi)", lambda: [(a, Value(-0.5), Value(1.25)) for a in arrays(["f4", "f8"], NONEMPTY, values="edge")])
add("np.diff", "a", "np.diff(a), np.diff(a, 2)", mild(REAL_DTYPES[1:], [(0,), (1,), (5,), (2, 3)]))
add("np.where(mask)", "a", "np.where(a > 1)", mild(REAL_DTYPES))
add("np.round", "a", "np.round(a), np.round(a, 1)", mild(FLOAT_DTYPES, NONEMPTY), 0.0)
add("np.sort axis", "a", "np.sort(a, axis=0), np.sort(a, axis=None), np.argsort(a, axis=0, kind='stable'), np.argsort(a, axis=None, kind='stable')", mild(REAL_DTYPES, [(5,), (2, 3), (3, 0)]))
add("np.partition", "a, k", "np.partition(a, k)[k], np.partition(a, k)[..., k], a[..., np.argpartition(a, k)[k]]", lambda: [(a, Value(k)) for a in arrays(REAL_DTYPES, [(5,), (33,)], values="distinct") for k in (0, 2, -1, 4)])
add("np.lexsort", "a, b", "np.lexsort((a, b))", lambda: [(Array(s, (11,)), Array(t, (11,))) for s in ("i4", "f8") for t in ("i1", "f4")])
add("np.searchsorted sorter", "a, v", "np.searchsorted(a, v, sorter=np.argsort(a, kind='stable'))", lambda: [(a, Array("f8", (4,))) for a in arrays(["i4", "f8"], [(5,), (33,)])])
add("np.searchsorted nan", "a, v", "np.searchsorted(a, v), np.searchsorted(a, v, 'right')", lambda: [(a, v) for a in arrays(["f8", "f4"], [(33,)], values="edge") for v in (Array("f8", (11,), "C", "edge"), Scalar("float", 5), Scalar("float", 4))], body=["a = np.sort(a)"])
add("np.digitize", "x, right", "np.digitize(x, bins, right=right), np.digitize(x, bins[::-1], right)", lambda: [(x, Value(r)) for x in [*arrays(["i4", "f8"], [(11,), (2, 3)]), Scalar("float", 1)] for r in (False, True)], body=["bins = np.array([-1.0, 0.5, 1.0, 2.5])"])
add("np.unique parts", "a", "np.unique(a, return_index=True), np.unique(a, return_inverse=True), np.unique(a, return_counts=True), np.unique(a, True, True, True)", mild(REAL_DTYPES, [(0,), (1,), (5,), (33,), (2, 3)]))
for name in "union1d intersect1d setdiff1d setxor1d isin".split():
    add(f"np.{name}", "a, b", f"np.{name}(a, b)", lambda: [(Array(s, shape), Array(t, (4,))) for s, t in product(REAL_DTYPES, ("i4", "f8", "u1")) for shape in [(5,), (33,), (2, 3), (0,)]])
add("np.isin options", "a, b", "np.isin(a, b, invert=True), np.intersect1d(a, b, return_indices=True), np.setdiff1d(a, b, assume_unique=True)", lambda: [(Array(t, (7,), "C", "distinct"), Array(t, (4,), "C", "distinct")) for t in ("i4", "f8")])
add("np.bincount", "x, w", "np.bincount(x), np.bincount(x, w), np.bincount(x, minlength=30), np.bincount(x, w, 3)", lambda: [(Array(t, (n,)), Array(u, (n,))) for t in ("u1", "u2", "i8", "?") for u in ("f8", "i4", "f4") for n in (1, 11)])
add("np.bincount of nothing", "x", "np.bincount(x), np.bincount(x, minlength=2)", lambda: [(Array("i8", (0,)),)])
add("np.histogram", "a, bins", "np.histogram(a, bins)", lambda: [(a, Value(n)) for a in arrays(["i4", "u1", "f4", "f8"], [(0,), (1,), (33,), (2, 3)]) for n in (1, 3, 10)], CLOSE, 1e-6)
add("np.histogram range", "a", "np.histogram(a, 4, (-1.0, 2.0)), np.histogram(a, 4, (-1, 2), density=True), np.histogram(a, bins=5, range=(0.0, 0.0))", mild(["i4", "f8"], [(11,), (33,)]), CLOSE)
add("np.histogram edges", "a, w", "np.histogram(a, edges), np.histogram(a, edges, weights=w), np.histogram(a, 3, weights=w)", lambda: [(a, Array("f8", a.shape)) for a in arrays(["i4", "f8"], [(11,), (33,)])], LOOSE, body=["edges = np.array([-2.0, 0.0, 0.5, 1.0, 3.0])"])
add("np.interp", "x", "np.interp(x, xp, fp), np.interp(x, xp, fp, left=-1.0, right=9.5), np.interp(x, xp, fp, period=3.0)", lambda: [(x,) for x in [*arrays(["i4", "f4", "f8"], [(0,), (11,), (2, 3)], values="mild"), Array("f8", (11,), "C", "edge"), Scalar("float", 0), Scalar("int", 1)]], CLOSE, 1e-6,
    body=["xp = np.array([-1.0, 0.0, 0.5, 2.0])", "fp = np.array([3.0, -1.0, 4.0, 0.25])"])
add("dtypes called with arrays and sequences", "a", "np.int8((1, 2, 3)), np.float32([1.5, 2]), np.complex64(((1, 2), (3, 4))), np.float64(a), np.complex128(a), np.bool_([0, 2])", mild(["i4", "f4", "f8"], [(5,), (2, 3)]))
add("np.interp of points in any order", "x", "np.interp(x, xp, fp), np.interp(x, xp, fp + 1j), np.interp(x, holes, fp), np.interp(x, xp[:4], fp[:4])", lambda: [(x,) for x in arrays(["f4", "f8"], [(33,), (2, 3), (200,)], ("C",), "mild")] + [(Array("f8", (11,), "C", "edge"),)], CLOSE, 1e-6,
    body=["xp = np.sin(np.arange(40.0) * 7.0)", "fp = np.arange(40.0) * 1.5", "holes = np.where(np.arange(40) % 7 == 3, np.nan, xp)"])
add("np.sum along an axis that is not there", "a", "np.sum(a, axis=(0, 0, 5))", lambda: [(Array("f8", (2, 3)),)], raises=True)
add("np.broadcast_shapes of several", "a, b, c", "np.broadcast_shapes(a, b, c)",
    lambda: [(Value(a), Value(b), Value(c)) for a in ((1, 3), (2, 1), 3) for b in ((3,), (2, 3), (4, 1)) for c in ((1,), (5, 1, 1), (2, 2), (-1,))], raises=True)
add("np.broadcast_arrays of several", "a, b, c", "np.broadcast_arrays(a, b, c), np.broadcast_arrays((1, 2, 3), b, [[1.5]])",
    lambda: [(Array("f8", a), Array("i4", b), Array("f4", c)) for a in ((1, 3), (2, 1)) for b in ((3,), (2, 3), (4, 1)) for c in ((1,), (5, 1, 1), (2, 2))], raises=True)
for q in ("0.0", "1.0", "0.3", "0.5", "0.95"):
    for name, factor in (("quantile", 1), ("nanquantile", 1), ("percentile", 100), ("nanpercentile", 100)):
        add(f"np.{name} {q}", "a", f"np.{name}(a, {float(q) * factor}), np.{name}(a, {float(q) * factor}, axis=-1), np.{name}(a, {float(q) * factor}, axis=0, keepdims=True)",
            one(lambda: arrays(REAL_DTYPES[1:], NONEMPTY)), CLOSE, 1e-6)
add("np.percentile of several", "a", "np.percentile(a, [0, 25, 50, 100]), np.quantile(a, np.array([0.1, 0.9])), np.percentile(a, (10.0, 20.0), axis=0)", one(lambda: arrays(["i4", "f4", "f8"], NONEMPTY)), CLOSE, 1e-6)
for method in ("lower", "higher", "nearest", "midpoint"):
    add(f"np.percentile {method}", "a", ", ".join(f"np.percentile(a, {q}, method='{method}')" for q in (0, 10, 50, 75, 100)), one(lambda: arrays(["i4", "f4", "f8"], NONEMPTY)), CLOSE, 1e-6)
add("np.percentile nan", "a", "np.percentile(a, 40), np.nanpercentile(a, 40), np.nanmedian(a), np.median(a)", one(lambda: [Array(t, (11,), "C", "edge") for t in FLOAT_DTYPES] + [Array("f8", (3, 11), "C", "edge")]), CLOSE, 1e-6)
add("np.average", "a, w", "np.average(a), np.average(a, axis=0), np.average(a, weights=w), np.average(a, axis=-1, weights=w)", lambda: [(Array(t, s), Array(u, s, "C", "distinct")) for t in ("i4", "f4", "f8", "c16") for u in ("u1", "f8") for s in [(5,), (2, 3)]], LOOSE, 1e-5)
add("np.average along", "a, w", "np.average(a, axis=1, weights=w), np.average(a, axis=1, weights=w, returned=True)", lambda: [(Array(t, (2, 3)), Array(u, (3,), "C", "distinct")) for t in ("i4", "f8") for u in ("u1", "f8")], LOOSE)
add("np.cov", "a, b", "np.cov(a), np.cov(a, b), np.cov(a, ddof=0), np.cov(a, bias=True), np.corrcoef(a, b)", lambda: [(Array(t, (n,)), Array(u, (n,), "C", "distinct")) for t in ("i4", "f4", "f8") for u in ("i4", "f8") for n in (5, 33)], LOOSE)
add("np.cov matrix", "a", "np.cov(a), np.cov(a, rowvar=False), np.corrcoef(a), np.corrcoef(a, rowvar=False)", one(lambda: arrays(["i4", "f8"], [(3, 5), (4, 7)])), LOOSE)
for mode in ("full", "same", "valid"):
    for name in ("convolve", "correlate"):
        add(f"np.{name} {mode}", "a, v", f"np.{name}(a, v, '{mode}')", lambda: [(Array(s, (n,), k), Array(t, (m,))) for s, t in product(("i4", "f4", "f8", "c16"), ("i4", "f8", "c16")) for n, m in ((5, 3), (3, 5), (4, 4), (1, 3), (0, 2)) for k in ("C", "reversed")], LOOSE, 1e-5)
add("np.cross", "a, b", "np.cross(a, b)", lambda: [(Array(s, sa), Array(t, sb)) for s, t in product(("i4", "f8", "c16"), ("i4", "f8")) for sa, sb in (((3,), (3,)), ((4, 3), (4, 3)), ((4, 3), (3,)), ((2,), (3,)), ((4, 3), (4, 2)))], LOOSE)
add("np.trapezoid", "y", "np.trapezoid(y), np.trapezoid(y, dx=0.5), np.trapezoid(y, np.arange(5.0) ** 2), np.trapezoid(y, axis=0)", mild(["i4", "f4", "f8"], [(5,), (3, 5)]), LOOSE, 1e-5)
add("np.gradient", "y", "np.gradient(y), np.gradient(y, 0.5), np.gradient(y, np.arange(len(y)) * 2), np.gradient(y, np.arange(len(y)) ** 2.0), np.gradient(y, axis=0), np.gradient(y, axis=(-1,))", mild(["i4", "u1", "f4", "f8", "c16"], [(5,), (2,), (1,)]), LOOSE, 1e-5)
add("np.gradient edges", "y", "np.gradient(y, edge_order=2), np.gradient(y, 0.5, edge_order=2), np.gradient(y, np.arange(len(y)) ** 1.5, edge_order=2)", mild(["i4", "f4", "f8"], [(5,), (3,), (2,)]), LOOSE, 1e-5)
add("np.gradient of several dimensions", "y", "np.gradient(y), np.gradient(y, 2), np.gradient(y, 2.0, np.arange(y.shape[1]) ** 2, axis=(0, 1)), np.gradient(y, axis=1), np.gradient(y, axis=-2), np.gradient(y, 0.5, axis=(1, 0), edge_order=2)",
    mild(["u1", "i8", "f8"], [(3, 4), (5, 3)]), LOOSE)
add("np.rot90 axes", "a, k", "np.rot90(a, k, (1, 2)), np.rot90(a, k, (2, 0)), np.rot90(a, k, (-1, 0)), np.rot90(a, k)", lambda: [(a, Value(k)) for a in arrays(["i4", "f8"], [(2, 3, 2)], ["C", "F", "reversed"]) for k in (-1, 0, 1, 2, 3, 7)])
add("np.frexp and np.modf", "a", "np.frexp(a), np.modf(a)", edge(["i2", "i8", "f4", "f8"], [(), (11,)]))
add("np.sinc and np.angle", "a", "np.sinc(a), np.angle(a)", mild(["f8", "c16"], [(5,), (2, 3)]), LOOSE)
add("np.nan_to_num", "a", "np.nan_to_num(a), np.nan_to_num(a, nan=1.5, posinf=9.0, neginf=-9.0)", edge(["i4", "f4", "f8", "c16"], [(), (11,), (2, 3)]))
add("np.heaviside", "a", "np.heaviside(a, 0.5)", edge(["i4", "f4", "f8"], [(11,)]))
add("np.isclose family", "a", "np.isposinf(a), np.isneginf(a)", edge(FLOAT_DTYPES, [(11,)]))
add("np.isreal", "a", "np.isreal(a), np.iscomplex(a)", edge(["i4", "f8", "c8", "c16"], [(11,)]))
add("np.bitwise_count", "a", "np.bitwise_count(a)", edge(INT_DTYPES, [(9,)]))
add("a.clip and a.round", "a", "a.clip(1, 3), a.clip(max=2), a.clip(min=1), a.round(), a.round(1)", mild(["i4", "f4", "f8"], [(5,), (2, 3)]))
add("reduction out", "a, out", "np.sum(a, axis=0, out=out), np.max(a, axis=0, out=out), out", lambda: [(Array(t, (2, 3)), Array(u, (3,))) for t in ("i4", "f4", "f8") for u in ("f8", "c16")], LOOSE)
add("reductions of sequences", "a", "np.sum([1.5, 2.5]), np.max((1, 5, 2)), np.mean([1, 2, 4]), np.median([3.0, 1.0]), np.cumsum([1, 2]), np.argmax([1, 9, 3]), np.sort([3, 1, 2]), np.std((1.0, 2.0))", one(lambda: [Array("f8", (1,))]), LOOSE)

# -- creation and conversion -------------------------------------------------------------------------------------------------------------------

TYPES = "bool_ int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 complex64 complex128".split()
for t in TYPES:
    real = REAL_DTYPES if not t.startswith("complex") else DTYPES
    add(f"astype {t}", "a", f"a.astype(np.{t})", mild([d for d in real if not (t.startswith("u") and d[0] in "if")]))
    add(f"np.{t}(x)", "x", f"np.{t}(x)", one(lambda: [Scalar(k, 0) for k in ("int", "float", "bool", "i1", "u4", "f4", "f8")]))
    add(f"zeros {t}", "n", f"np.zeros(n, np.{t}), np.ones((2, n), dtype=np.{t}), np.full(n, 1, np.{t}), np.empty((0, n), np.{t})", one(lambda: [Value(n) for n in (0, 1, 5, -1)]))
    if t != "bool_":
        add(f"arange {t}", "n", f"np.arange(n, dtype=np.{t})", one(lambda: [Value(n) for n in (0, 1, 5, -2)]))
add("np.arange", "a, b, c", "np.arange(a, b, c)", lambda: [(Value(a), Value(b), Value(c)) for a in (0, 1.5, -3) for b in (0, 5, 2.25) for c in (1, -1, 0.5, 2, 0)])
add("np.linspace", "a, b, n", "np.linspace(a, b, n), np.linspace(a, b, n, endpoint=False)", lambda: [(Value(a), Value(b), Value(n)) for a in (0, -1.5, 3) for b in (1, 10.5) for n in (0, 1, 2, 7, 50)])
add("np.eye", "n, m, k", "np.eye(n, m, k), np.tri(n, m, k)", lambda: [(Value(n), Value(m), Value(k)) for n in (0, 1, 3) for m in (1, 3, 4) for k in (-1, 0, 1, 5)])
add("np.logspace", "a, b, n", "np.logspace(a, b, n), np.logspace(a, b, num=n, base=2.0), np.geomspace(1.5, 10 ** b, n)", lambda: [(Value(a), Value(b), Value(n)) for a in (0, -1.5) for b in (1, 2.5) for n in (0, 1, 5)], CLOSE)
add("np.vander", "a, n", "np.vander(a), np.vander(a, n), np.vander(a, n, increasing=True)", lambda: [(Array(t, (4,)), Value(n)) for t in ("i4", "f8", "c16") for n in (1, 3)])
add("np.fromiter", "n", "np.fromiter(range(n), np.float32), np.fromiter([1, 2, 3], np.int8), np.fromiter((i * 2 for i in range(n)), np.int64)", one(lambda: [Value(n) for n in (0, 1, 20)]))
add("np.array nested", "x, y", "np.array([[x, y], [y, x]]), np.array([x, 2.5, y]), np.array(((x,), (y,))), np.array([[[x]]]), np.asarray([x, y], np.float32)", lambda: [(Scalar(a, 0), Scalar(b, 0)) for a in ("int", "float", "bool", "i2", "f4") for b in ("int", "float", "u1", "c8")])
add("np.array lists", "n, m", "np.array([[i * j for i in range(n)] for j in range(m)])", lambda: [(Value(n), Value(m)) for n in (1, 3) for m in (1, 2)])
add("np.identity", "n", "np.identity(n), np.indices((n, 2)), np.tril_indices(n), np.triu_indices(n)", one(lambda: [Value(n) for n in (0, 1, 4)]))
add("np.meshgrid", "a, b", "np.meshgrid(a, b)[0], np.meshgrid(a, b, indexing='ij')[1]", lambda: [(Array(s, (3,)), Array(t, (2,))) for s, t in product(DTYPES, DTYPES)])
add("view", "a", "a.view(np.uint8)", mild(["i1", "i4", "f8"], [(5,), (2, 3)]))

# -- linear algebra ----------------------------------------------------------------------------------------------------------------------------

MATRICES = [((3,), (3,)), ((2, 3), (3, 2)), ((2, 3), (3,)), ((3,), (3, 2)), ((1, 1), (1, 1)), ((0, 3), (3, 2)), ((2, 3), (2, 3)), ((4, 5), (5, 3))]
for expression in ("np.dot(a, b)", "a @ b"):
    add(expression, "a, b", expression, lambda: [(Array(s, m, lay), Array(t, n, lay)) for s, t in product(DTYPES, DTYPES) for m, n in MATRICES for lay in ("C", "F", "strided") if lay != "F" or len(m) == 2 == len(n)], LOOSE, 1e-5)
for expression in ("np.inner(a, b)", "np.vdot(a, b)"):
    add(expression, "a, b", expression, lambda: [(Array(s, (n,)), Array(t, (n,))) for s, t in product(DTYPES, DTYPES) for n in (0, 1, 5)], LOOSE, 1e-5)

for expression in ("np.kron(a, b)", "np.inner(a, b)", "np.dot(a, b)", "np.matmul(a, b)", "np.outer(a, b)"):
    add(f"{expression} shapes", "a, b", expression, lambda: [(Array(s, m, "strided"), Array("f8", n)) for s in ("i4", "f8") for m, n in [((2, 3), (4, 3)), ((2, 3, 2), (2, 2, 4)), ((3,), (2, 3, 2)), ((2, 2, 3), (3,)), ((2, 1, 2, 3), (3, 3, 2)), ((2, 2), (2, 2))]
                                                             if len(m) == len(n) == 2 or not expression.startswith("np.kron")], LOOSE)
add("large @", "a, b", "a @ b, a.T @ a, a[::2] @ b[:, ::2]", lambda: [(Array(t, (40, 70), lay, "mild"), Array(t, (70, 33), lay, "mild")) for t in ("f4", "f8", "i8", "c16", "?") for lay in ("C", "F", "reversed")], LOOSE, 1e-5)

# -- Fourier transforms ------------------------------------------------------------------------------------------------------------------------

LINES = [(1,), (8,), (9,), (3, 5), (2, 3, 4), (0, 3)]
for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"):
    kinds = [t for t in DTYPES if name not in ("rfft", "ihfft") or t[0] != "c"]
    # Of lines without elements NumPy gives what lies in memory.
    shapes = [s for s in LINES if s[-1] > 1 and 0 not in s] if name in ("irfft", "hfft") else LINES
    add(f"np.fft.{name}", "a", f"np.fft.{name}(a), np.fft.{name}(a, 6), np.fft.{name}(a, axis=0, n=3, norm='ortho'), np.fft.{name}(a, norm='forward')", mild(kinds, shapes))
for name in ("fft", "ifft", "rfft", "irfft"):
    kinds = [t for t in DTYPES if name != "rfft" or t[0] != "c"]
    add(f"np.fft.{name}n", "a", f"np.fft.{name}n(a), np.fft.{name}2(a), np.fft.{name}n(a, (3, 4), (-1, 0)), np.fft.{name}2(a, axes=(0, 1), norm='ortho')", mild(kinds, [(3, 5), (2, 3, 4)]))
add("np.fft.fftshift", "a", "np.fft.fftshift(a), np.fft.ifftshift(a), np.fft.fftshift(a, 0), np.fft.ifftshift(a, axes=(-1,))", mild(DTYPES, LINES))

# -- iterating ---------------------------------------------------------------------------------------------------------------------------------

add("for x in a", "a", "out", mild(DTYPES, [(5,), (0,)]), body=["out = []", "for x in a:", "    out.append(x)"])
add("ndenumerate", "a", "out", mild(DTYPES, [(2, 3), (3, 0)]), body=["out = []", "for (i, j), x in np.ndenumerate(a):", "    out.append((i, j, x))"])
add("ndindex", "a", "out", mild(["i4"], [(2, 3), (3, 0)]), body=["out = []", "for i, j in np.ndindex(a.shape):", "    out.append((i * 10 + j, a[i, j]))"])
add("flat", "a", "out", mild(DTYPES, [(), (5,), (2, 3), (2, 3, 2)]), body=["out = []", "for x in a.flat:", "    out.append(x)"])

import numpy_options  # noqa: E402, F401  (adds its rows)
import numpy_corners  # noqa: E402, F401, I001
import numpy_edges  # noqa: E402, F401, I001
