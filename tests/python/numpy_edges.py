"""Generated NumPy tests of sizes, ranks and options at their edges: negative sizes, arrays without dimensions, NaN and infinities, `copy=`. `numpy_cases.py` reads this file."""

import numpy as np
from harness.inputs import Array, Value, arrays
from numpy_cases import CLOSE, LOOSE, add, one

NAN, INF = float("nan"), float("inf")
SIZES = [(n, m, k) for n in (-2, -1, 0, 1, 3) for m in (-1, 0, 1, 4) for k in (-7, -1, 0, 2, 9)]


def of(*values):
    return one(lambda: [Value(v) for v in values])


# -- sizes ---------------------------------------------------------------------------------------------------------------------------------------

for expression in ("np.tri(n)", "np.tri(n, m)", "np.tri(n, m, k)", "np.tri(n, k=k, dtype=np.int32)", "np.tril_indices(n, k, m)", "np.triu_indices(n, k, m)", "np.tril_indices(n)", "np.triu_indices(n, k)", "np.eye(n, m, k)", "np.identity(n)",
                   "np.tril(np.ones((abs(n), abs(m))), k)", "np.triu(np.ones(abs(n)), k)", "np.diag(np.ones((abs(n), abs(m))), k)", "np.vander(np.arange(abs(n)), m)"):
    add(f"sizes {expression}", "n, m, k", expression, lambda: [tuple(map(Value, s)) for s in SIZES])
add("np.fill_diagonal with nothing", "a, v", "a", lambda: [(Array("f8", (3, 3)), Array("f8", s)) for s in [(0,), (1,), (5,)]], body=["np.fill_diagonal(a, v)"])

# -- ranges --------------------------------------------------------------------------------------------------------------------------------------

ENDS = [(-3, 3), (3, -3), (1, 1000), (-1, -1000), (-2.5, 7), (0, 1), (1e-3, 1e3), (1j, -1), (1 + 1j, 8), (-2 + 0j, 8j), (np.float64(2), 32)]
for options in ("", ", num=n", ", num=n, endpoint=False", ", n, dtype=np.complex128", ", n, axis=-1"):
    add(f"np.geomspace ends{options}", "a, b, n", f"np.geomspace(a, b{options})", lambda: [(Value(a), Value(b), Value(n)) for a, b in ENDS for n in (0, 1, 2, 4, 7)], LOOSE)
for name in ("linspace", "logspace", "geomspace"):
    add(f"np.{name} of arrays", "a, b", f"np.{name}(a, b, 4), np.{name}(a, b, 3, endpoint=False), np.{name}(a, b, 3, axis=-1)",
        lambda: [(Value(a), Value(b)) for a in (np.array([1.0, 2]), np.array([[1.0, 2]]), np.array([1, 2])) for b in (8.0, np.array([8.0, 3]), np.array([8.0]), [4, 5])], LOOSE)
    add(f"np.{name} of arrays without dimensions", "a, b", f"np.{name}(a, b, 4), np.{name}(a, 5, 3)", lambda: [(Value(np.array(a)), Value(np.array(b))) for a, b in ((1.0, 2.0), (1, 8), (2.5, 3))], LOOSE)

# -- the rank of results -------------------------------------------------------------------------------------------------------------------------

DATA = [np.array([1.0, 5, 2]), np.array([[1.0, 5, 2], [3, NAN, 4]]), np.array([3, 1, 2]), np.array(3.0), np.array([INF, 1, -INF]), [1, 2, 4]]
QS = [0.5, np.array(0.5), np.array([0.5]), [0.25, 0.5], np.array([[0.1, 0.2], [0.3, 0.4]]), 0, np.array(1), np.float64(0.3), np.float32(0.3), 1.5, np.array(NAN)]
for name in ("quantile", "percentile", "nanquantile", "nanpercentile"):
    for options in ("", ", axis=0", ", keepdims=True", ", axis=-1, keepdims=True", ", method='lower'"):
        add(f"np.{name} ranks{options}", "a, q", f"np.{name}(a, q{options})", lambda options=options: [(Value(a), Value(q)) for a in DATA for q in QS], LOOSE, 1e-6)
for name in ("cov", "corrcoef"):
    add(f"np.{name} ranks", "x", f"np.{name}(x), np.{name}(x, rowvar=False)", of(np.array([1.0, 2, 4]), np.array([[1.0, 2, 4], [3, 3, 1]]), np.array([1, 2, 4]), [1, 2, 3.5], (1, 2, 4), np.array([1 + 2j, 3, 1j])), LOOSE)
add("np.cov of a row by columns", "x", "np.cov(x, rowvar=False)", of(np.array([[1.0, 2, 4]])), LOOSE)
add("np.median over no axes", "a", "np.median(a, axis=()), np.nanmedian(a, axis=())", of(*DATA[:3]))

# -- NaN and infinities --------------------------------------------------------------------------------------------------------------------------

ENDLESS = [np.array(v, t) for v in ([NAN, INF], [NAN, -INF], [INF, NAN, -INF], [NAN, NAN], [INF, INF], [-INF], [NAN, INF, 1], [[NAN, INF], [1, NAN]], [[NAN, NAN], [1, NAN]]) for t in ("f4", "f8")]
for name in ("nanargmin", "nanargmax", "argmin", "argmax", "nanmin", "nanmax"):
    for axis in ("", ", axis=0", ", axis=-1", ", keepdims=True"):
        add(f"np.{name} endless{axis}", "a", f"np.{name}(a{axis})", of(*ENDLESS, *(a.T for a in ENDLESS if a.ndim == 2)))
add("positions along several axes", "a", "np.argmax(a, axis=(0,))", of(np.ones((2, 3))), raises=True)

# -- `copy=` -------------------------------------------------------------------------------------------------------------------------------------

HOLES = [np.array([NAN, 1.0, INF, -INF]), np.array([[NAN, 1], [INF, 2]], "f4"), np.array([1, 2]), np.array([complex(NAN, 1), complex(INF, -INF), 2]), np.array(NAN), np.array([1.0, NAN, 2, NAN])[::2]]
for options in ("copy=False", "False, 5.0", "copy=False, nan=1, posinf=2, neginf=3", "copy=c", "copy=True", "nan=2.5"):
    add(f"np.nan_to_num {options}", "a, c", f"np.nan_to_num(a, {options}), a", lambda: [(Value(a), Value(c)) for a in HOLES for c in (False, True)])
add("np.nan_to_num of a part", "a", "np.nan_to_num(a.real, copy=False), a", of(HOLES[3]))
for x in ("1.5", "[1.0, 2.0]"):
    add(f"np.nan_to_num of {x} is a copy", "a", f"np.nan_to_num({x}, copy=False)", of(0), raises=True)
add("copies that are refused", "a", "np.asarray(a, np.float64, copy=False), np.array(a, np.float64, copy=False)", one(lambda: arrays(["i4", "f4", "f8"], [(3,), (2, 3)], ["C", "F", "reversed"])), raises=True)
add("np.array of what fits", "a", "a", one(lambda: arrays(["i4", "f8"], [(3,), (2, 3), ()], ["C", "F", "reversed", "strided"])), body=["np.array(a, copy=None)[...] = 7", "np.array(a, copy=None, ndmin=3)[..., 0:1] = 8", "np.asarray(a, order='K')[...] += 1"])
add("astype to an order", "a", "a", one(lambda: arrays(["f8"], [(3,), (2, 3)], ["C", "F", "strided"])), body=["a.astype(np.float64, order='F', copy=False)[...] = 7", "a.astype(np.float64, 'C', copy=False)[0] = 8"])
add("np.meshgrid copy", "a, b", "a, b", lambda: [(Array("f8", (3,)), Array("i4", (2,)))], body=["np.meshgrid(a)[0][0] = 9", "np.meshgrid(a, b)[0][0] = 9"])
add("np.meshgrid without copies", "a, b", "np.meshgrid(a, b, copy=False), tuple(np.meshgrid(a, b, sparse=True, copy=False))", lambda: [(Array("f8", (3,)), Array("i4", (2,)))])

# -- indices along an axis -----------------------------------------------------------------------------------------------------------------------

PLACES = [((3, 4, 1), (1, 2, 5), 1), ((3, 4), (3, 2), 1), ((3, 4), (1, 2), -1), ((3, 4), (2, 1), 0), ((3, 1), (3, 2), 0), ((1, 4), (5, 2), 1), ((1, 3, 1), (4, 2, 5), -2), ((2, 3, 1, 1), (1, 1, 2, 2), 1), ((3, 4), (4, 2), 1), ((3, 4), (2,), 1), ((0, 3), (0, 2), 1)]


def places():
    return [(Array(t, s), Array(u, i), Value(k)) for s, i, k in PLACES for t in ("i4", "f8") for u in ("i8", "u1")]


add("np.take_along_axis broadcast", "a, i, k", "np.take_along_axis(a, i % max(a.shape[k], 1), k)", places)
add("np.put_along_axis broadcast", "a, i, k", "a", places, body=["np.put_along_axis(a, i % max(a.shape[k], 1), 7, k)"])
add("np.take_along_axis of no axis", "a, i", "np.take_along_axis(a, i, None)", lambda: [(Array("f8", (2, 3)), Value(i)) for i in (np.array([0, 5, -6]), np.array([6]), np.array([[0]]))])
add("np.put_along_axis of no axis", "a, i", "a", lambda: [(Array("f8", (2, 3)), Value(i)) for i in (np.array([0, 5, -6]), np.array([6]), np.array([[0]]))], body=["np.put_along_axis(a, i, 7, None)"])
add("np.take_along_axis of flags", "a, i", "np.take_along_axis(a, i, 0)", lambda: [(Array("f8", (3,)), Array("?", (2,)))], raises=True)

# -- what a type says ----------------------------------------------------------------------------------------------------------------------------

for name in ("iscomplexobj", "isrealobj", "isscalar", "ndim", "shape", "size"):
    add(f"np.{name} of anything", "x", f"np.{name}(x)", of(1j, 1.0, 1, True, None, "a", np.array(1.0), np.array([1j]), np.float32(1), (1, 2), (1j, 2), [1, 2], [1j], [[1, 2], [3, 4]], ((1, 2), (3, 4))))
for name in ("iscomplexobj", "isrealobj", "isscalar"):
    add(f"np.{name} of what may be None", "x, c", f"np.{name}(x if c else None)", lambda: [(Value(x), Value(c)) for x in (1j, 1.0, 1, True, "a", np.array([1j]), np.array([1.0]), (1j, 2)) for c in (True, False)])

# -- polynomials ---------------------------------------------------------------------------------------------------------------------------------

COEFFICIENTS = [np.array([1.0, -3, 2]), np.array([0.0, 0, 2, 1, 0, 0]), np.array([1, 0, 1]), [1, -6, 11, -6], np.array([2.0]), np.array([0.0, 0]), np.array([1 + 1j, 2, 3]), np.array([1, 2, 1], "f4"), np.array([])]
add("np.roots", "p", "np.sort_complex(np.roots(p) + 0j)", of(*COEFFICIENTS), LOOSE, 1e-3)
add("np.roots of a matrix", "p", "np.roots(p)", of(np.ones((2, 2))), raises=True)
for name in ("polyadd", "polysub", "polymul"):
    add(f"np.{name}", "p, q", f"np.{name}(p, q)", lambda: [(Value(p), Value(q)) for p in COEFFICIENTS[:8] for q in COEFFICIENTS[:8]], CLOSE, 1e-6)
add("np.polydiv", "p, q", "np.polydiv(p, q)", lambda: [(Value(p), Value(q)) for p in COEFFICIENTS[:4] for q in (np.array([1.0, -1]), [2, 1, 3], np.array([4.0]))], LOOSE)
add("np.polyval", "p, x", "np.polyval(p, x)", lambda: [(Value(p), Value(x)) for p in COEFFICIENTS[:8] for x in (2, 1.5, np.array([1, 2]), np.array([[0.5, 1.0]]), [1, 2], 1j)], CLOSE, 1e-6)
add("np.polyder", "p, m", "np.polyder(p), np.polyder(p, m)", lambda: [(Value(p), Value(m)) for p in COEFFICIENTS[:8] for m in (1, 2, 5, -1)])
add("np.polyint", "p, m", "np.polyint(p), np.polyint(p, m)", lambda: [(Value(p), Value(m)) for p in COEFFICIENTS[:6] for m in (1, 2, -1)], CLOSE)
add("np.poly", "z", "np.poly(z)", of(np.array([1.0, 2, 3]), [1, -2], np.array([0.5], "f4")), CLOSE, 1e-6)
