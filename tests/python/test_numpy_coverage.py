"""What the generated NumPy tests must cover: each function with each keyword, kind of axis, dtype, layout, rank and shape without elements.

The lists are the promise that users are given. A function is covered by every case whose source calls it; what a case is tried on is read from the
specs of its inputs. What a list asks for and no case has is an error, so a row cannot be deleted or narrowed by mistake.
"""

import ast
from collections import defaultdict

import numpy as np
import pytest
from harness.inputs import DTYPES, LAYOUTS, Array, Scalar
from numpy_cases import CASES

UFUNCS = """absolute add arccos arccosh arcsin arcsinh arctan arctan2 arctanh bitwise_and bitwise_or bitwise_xor cbrt ceil conjugate copysign cos cosh deg2rad degrees divide divmod
equal exp exp2 expm1 fabs float_power floor floor_divide fmax fmin fmod gcd greater greater_equal hypot invert isfinite isinf isnan lcm ldexp left_shift less less_equal log log10 log1p
log2 logaddexp logaddexp2 logical_and logical_not logical_or logical_xor maximum minimum multiply negative nextafter not_equal positive power rad2deg radians reciprocal remainder
right_shift rint sign signbit sin sinh spacing sqrt square subtract tan tanh trunc""".split()
CREATION = {"array": "dtype order", "asarray": "dtype order", "empty": "order", "zeros": "dtype order", "ones": "order", "full": "dtype order", "zeros_like": "order", "ones_like": "order", "full_like": "order", "empty_like": "",
            "arange": "dtype", "linspace": "dtype endpoint retstep axis", "eye": "dtype order", "identity": "", "diag": "", "tri": "", "tril": "", "triu": "", "meshgrid": "indexing sparse copy", "indices": "dtype sparse",
            "copy": "order", "fromiter": "dtype count"}
REDUCTIONS = {"sum": "dtype out initial where", "prod": "dtype initial where", "min": "initial where", "max": "out initial where", "mean": "dtype where", "var": "dtype ddof where", "std": "dtype ddof where", "any": "where", "all": "where",
              "argmin": "out", "argmax": "out", "cumsum": "dtype", "cumprod": "dtype", "count_nonzero": "", "ptp": "", "median": "", "nansum": "dtype where", "nanprod": "dtype where", "nanmin": "initial where",
              "nanmax": "initial where", "nanmean": "dtype where", "nanvar": "ddof dtype", "nanstd": "ddof dtype", "nanmedian": "", "nanargmin": "out", "nanargmax": "out", "nancumsum": "dtype", "nancumprod": "dtype"}
OTHERS = {"reshape": "order", "ravel": "order", "flatten": "order", "transpose": "", "T": "", "swapaxes": "", "moveaxis": "", "squeeze": "axis", "expand_dims": "", "broadcast_to": "", "concatenate": "axis", "stack": "axis", "hstack": "",
          "vstack": "", "split": "axis", "where": "", "clip": "min max a_min a_max", "diff": "axis prepend append", "sort": "axis", "argsort": "axis kind stable", "searchsorted": "side sorter",
          "unique": "return_index return_inverse return_counts axis", "nonzero": "", "argwhere": "", "take": "axis mode", "repeat": "axis", "tile": "", "flip": "axis", "roll": "axis", "dot": "", "MatMult": "", "outer": "", "inner": "",
          "trace": "offset dtype", "allclose": "rtol atol", "isclose": "rtol atol equal_nan", "array_equal": "", "ndenumerate": "", "ndindex": "", "nditer": "order op_flags", "flat": "", "astype": "casting order", "view": ""}
METHODS = set("sum prod min max mean var std any all argmin argmax cumsum cumprod reshape ravel flatten transpose T swapaxes squeeze copy clip sort argsort searchsorted take repeat flat astype view round".split())
# Where NumPy itself has nothing: no loop for the type, float16 that compiled code computes in float32, no dimension to work along.
NO_COMPLEX = set("arctan2 cbrt ceil copysign deg2rad degrees divmod fabs floor floor_divide fmod gcd hypot lcm ldexp left_shift right_shift".split())
NOT_TRIED = {"spacing": {"?", "i1", "i4", "u1", "u2", "u8", "c8", "c16"}, "gcd": {"f4", "c8", "c16"}, "lcm": {"f4", "c8", "c16"}, "left_shift": {"f4", "c8", "c16"}, "right_shift": {"f4", "c8", "c16"}, "ldexp": {"c8", "c16"},
             "divmod": {"c8", "c16"}, "ptp": {"?"}, "clip": set()}
WITHOUT_ARRAYS = {"empty", "zeros", "identity", "tri", "fromiter", "arange", "linspace", "eye", "indices", "full", "ones"}
NO_AXIS = {"ptp": "tuple", "argmin": "tuple", "argmax": "tuple", "cumsum": "tuple", "cumprod": "tuple", "nanargmin": "tuple", "nanargmax": "tuple", "nancumsum": "tuple", "nancumprod": "tuple"}


class Use:
    """What the cases try of one function."""

    def __init__(self):
        self.dtypes, self.layouts, self.ranks, self.keywords, self.axes = set(), set(), set(), set(), set()
        self.function = self.method = self.empty = self.scalar = False


def kind_of_axis(node):
    try:
        value = ast.literal_eval(node)
    except ValueError:
        return "variable"
    return "none" if value is None else "tuple" if isinstance(value, tuple) else "int"


def calls(tree):
    """(name, whether a function of NumPy, keywords, kind of axis or None) of every call, attribute and operator of a case."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            yield node.attr, isinstance(node.value, ast.Name) and node.value.id == "np", set(), None
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            axis = [kind_of_axis(k.value) for k in node.keywords if k.arg == "axis"]
            yield node.func.attr, isinstance(node.func.value, ast.Name) and node.func.value.id == "np", {k.arg for k in node.keywords}, axis[0] if axis else None
        elif isinstance(node, (ast.BinOp, ast.AugAssign)):
            yield type(node.op).__name__, True, set(), None


def named_dtypes(source):
    """Dtypes that a case names: `np.zeros(3, 'i2')`, `np.int16`."""
    found = {t for t in DTYPES if f"'{t}'" in source}
    return found | {t for t in DTYPES if f"np.{np.dtype(t).name}" in source}


@pytest.fixture(scope="module")
def uses():
    out = defaultdict(Use)
    for case in CASES:
        specs = {s for inputs in case.inputs() for s in inputs if isinstance(s, (Array, Scalar))}
        arrays = [s for s in specs if isinstance(s, Array)]
        for name, of_numpy, keywords, axis in calls(ast.parse(case.source)):
            use = out[name]
            use.function |= of_numpy
            use.method |= not of_numpy
            use.keywords |= keywords
            use.axes |= {axis} if axis else set()
            use.dtypes |= {a.dtype for a in arrays} | named_dtypes(case.source)
            use.layouts |= {a.layout for a in arrays}
            use.ranks |= {len(a.shape) for a in arrays}
            use.empty |= any(0 in a.shape for a in arrays)
            use.scalar |= len(specs) > len(arrays)
    return out


def lacking(name, use, keywords=""):
    """What the cases do not try of a function, as texts."""
    out = []
    if dtypes := set(DTYPES) - use.dtypes - NOT_TRIED.get(name, set()):
        out.append(f"dtypes {sorted(dtypes)}")
    if name not in WITHOUT_ARRAYS and (layouts := set(LAYOUTS) - use.layouts):
        out.append(f"layouts {sorted(layouts)}")
    if missing := set(keywords.split()) - use.keywords:
        out.append(f"keywords {sorted(missing)}")
    if name in METHODS and not use.method:
        out.append("the method")
    return out


@pytest.mark.parametrize("name", UFUNCS)
def test_ufunc(name, uses):
    use = uses[name]
    lacks = lacking(name, use)
    if not {0, 1, 2, 3} <= use.ranks:
        lacks.append("ranks")
    if not use.empty:
        lacks.append("arrays without elements")
    assert use.function and not lacks, lacks


@pytest.mark.parametrize("name", CREATION)
def test_creation(name, uses):
    assert uses[name].function and not (lacks := lacking(name, uses[name], CREATION[name])), lacks


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reduction(name, uses):
    use = uses[name]
    lacks = lacking(name, use, REDUCTIONS[name])
    axes = {"int", "tuple"} - {NO_AXIS.get(name)}
    if axes - use.axes:
        lacks.append(f"axis {sorted(axes - use.axes)}")
    if not name.startswith(("cum", "nancum")) and "keepdims" not in use.keywords:
        lacks.append("keepdims")
    if not {0, 1, 2, 3} <= use.ranks or not use.empty:
        lacks.append("ranks or arrays without elements")
    assert use.function and not lacks, lacks


@pytest.mark.parametrize("name", OTHERS)
def test_other(name, uses):
    assert (uses[name].function or uses[name].method) and not (lacks := lacking(name, uses[name], OTHERS[name])), lacks


@pytest.mark.parametrize("operator", "Add Sub Mult Div FloorDiv Mod Pow LShift RShift BitAnd BitOr BitXor MatMult".split())
def test_operator(operator, uses):
    assert {"C", "F", "strided", "reversed"} <= uses[operator].layouts


def test_lists_are_numpy():
    assert all(hasattr(np, name) for name in [*UFUNCS, *CREATION, *REDUCTIONS])
    assert len(UFUNCS) == 81  # 82 with isnat, which is about dates
