"""Functions by the names of NVIDIA's libdevice, as `numba.cuda.libdevice` has them; what they compute is Tierup's own. A name that ends in `f` is for float32. Rounding is to nearest: functions that round in another direction are not there."""

import math

import numpy as np

from .._jit import njit
from ..types import float32, float64, int32, int64, uint32, uint64
from . import _intrinsics

#: Of one float: for float64 by the name, for float32 with an f behind it.
_ONE = {
    "acos": "np.arccos(x)", "acosh": "np.arccosh(x)", "asin": "np.arcsin(x)", "asinh": "np.arcsinh(x)", "atan": "np.arctan(x)", "atanh": "np.arctanh(x)", "cbrt": "np.cbrt(x)", "ceil": "np.ceil(x)",
    "cos": "np.cos(x)", "cosh": "np.cosh(x)", "cospi": "np.cos(kind(math.pi) * (x % kind(2)))", "erf": "kind(math.erf(x))", "erfc": "kind(math.erfc(x))", "exp": "np.exp(x)", "exp10": "np.power(kind(10), x)",
    "exp2": "np.exp2(x)", "expm1": "np.expm1(x)", "fabs": "np.fabs(x)", "floor": "np.floor(x)", "lgamma": "kind(math.lgamma(x))", "log": "np.log(x)", "log10": "np.log10(x)", "log1p": "np.log1p(x)",
    "log2": "np.log2(x)", "nearbyint": "np.rint(x)", "rcbrt": "kind(1) / np.cbrt(x)", "rint": "np.rint(x)", "round": "np.copysign(np.floor(np.fabs(x) + kind(0.5)), x)", "rsqrt": "kind(1) / np.sqrt(x)",
    "sin": "np.sin(x)", "sinh": "np.sinh(x)", "sinpi": "np.sin(kind(math.pi) * (x % kind(2)))", "sqrt": "np.sqrt(x)", "tan": "np.tan(x)", "tanh": "np.tanh(x)", "tgamma": "kind(math.gamma(x))",
    "trunc": "np.trunc(x)", "sincos": "(np.sin(x), np.cos(x))", "modf": "(x - np.trunc(x), np.trunc(x))", "logb": "np.floor(np.log2(np.fabs(x)))",
}
#: Of two.
_TWO = {
    "atan2": "np.arctan2(x, y)", "copysign": "np.copysign(x, y)", "fdim": "np.fmax(x - y, kind(0))", "fmax": "np.fmax(x, y)", "fmin": "np.fmin(x, y)", "fmod": "np.fmod(x, y)", "hypot": "np.hypot(x, y)",
    "nextafter": "np.nextafter(x, y)", "pow": "np.power(x, y)", "remainder": "x - np.rint(x / y) * y",
}
#: Others: parameters with their types, and what they give.
_REST = {
    "abs": ("x: int32", "np.absolute(x)"), "llabs": ("x: int64", "np.absolute(x)"), "brev": ("x: uint32", "brev(x)"), "brevll": ("x: uint64", "brev(x)"), "clz": ("x: int32", "clz(x)"), "clzll": ("x: int64", "clz(x)"),
    "ffs": ("x: int32", "ffs(x)"), "ffsll": ("x: int64", "ffs(x)"), "popc": ("x: uint32", "popc(x)"), "popcll": ("x: uint64", "popc(x)"), "max": ("x: int32, y: int32", "max(x, y)"), "min": ("x: int32, y: int32", "min(x, y)"),
    "umax": ("x: uint32, y: uint32", "max(x, y)"), "umin": ("x: uint32, y: uint32", "min(x, y)"), "llmax": ("x: int64, y: int64", "max(x, y)"), "llmin": ("x: int64, y: int64", "min(x, y)"),
    "ullmax": ("x: uint64, y: uint64", "max(x, y)"), "ullmin": ("x: uint64, y: uint64", "min(x, y)"), "hadd": ("x: int64, y: int64", "int32((x + y) >> 1)"), "rhadd": ("x: int64, y: int64", "int32((x + y + 1) >> 1)"),
    "uhadd": ("x: int64, y: int64", "uint32((x + y) >> 1)"), "urhadd": ("x: int64, y: int64", "uint32((x + y + 1) >> 1)"), "mulhi": ("x: int64, y: int64", "int32((x * y) >> 32)"), "umulhi": ("x: uint64, y: uint64", "uint32((x * y) >> uint64(32))"),
    "sad": ("x: int64, y: int64, z: int64", "int32(np.absolute(x - y) + z)"), "usad": ("x: int64, y: int64, z: int64", "uint32(np.absolute(x - y) + z)"),
    "fma": ("x: float64, y: float64, z: float64", "fma(x, y, z)"), "fmaf": ("x: float32, y: float32, z: float32", "fma(x, y, z)"), "fma_rn": ("x: float64, y: float64, z: float64", "fma(x, y, z)"),
    "fmaf_rn": ("x: float32, y: float32, z: float32", "fma(x, y, z)"), "dadd_rn": ("x: float64, y: float64", "x + y"), "fadd_rn": ("x: float32, y: float32", "x + y"), "dmul_rn": ("x: float64, y: float64", "x * y"),
    "fmul_rn": ("x: float32, y: float32", "x * y"), "ddiv_rn": ("x: float64, y: float64", "np.divide(x, y)"), "fdiv_rn": ("x: float32, y: float32", "np.divide(x, y)"), "dsqrt_rn": ("x: float64", "np.sqrt(x)"),
    "fsqrt_rn": ("x: float32", "np.sqrt(x)"), "frcp_rn": ("x: float32", "np.divide(float32(1), x)"), "drcp_rn": ("x: float64", "np.divide(1.0, x)"), "frsqrt_rn": ("x: float32", "np.divide(float32(1), np.sqrt(x))"),
    "ldexp": ("x: float64, y: int32", "math.ldexp(x, y)"), "ldexpf": ("x: float32, y: int32", "float32(math.ldexp(x, y))"), "scalbn": ("x: float64, y: int32", "math.ldexp(x, y)"), "scalbnf": ("x: float32, y: int32", "float32(math.ldexp(x, y))"),
    "powi": ("x: float64, y: int32", "np.power(x, float64(y))"), "powif": ("x: float32, y: int32", "np.power(x, float32(y))"), "frexp": ("x: float64", "_split(x)"), "frexpf": ("x: float32", "_split_single(x)"),
    "isnand": ("x: float64", "int32(np.isnan(x))"), "isnanf": ("x: float32", "int32(np.isnan(x))"), "isinfd": ("x: float64", "int32(np.isinf(x))"), "isinff": ("x: float32", "int32(np.isinf(x))"),
    "isfinited": ("x: float64", "int32(np.isfinite(x))"), "finitef": ("x: float32", "int32(np.isfinite(x))"), "signbitd": ("x: float64", "int32(np.signbit(x))"), "signbitf": ("x: float32", "int32(np.signbit(x))"),
    "saturatef": ("x: float32", "np.fmin(np.fmax(x, float32(0)), float32(1))"), "double2float_rn": ("x: float64", "float32(x)"), "int2double_rn": ("x: int32", "float64(x)"), "int2float_rn": ("x: int32", "float32(x)"),
    "uint2double_rn": ("x: uint32", "float64(x)"), "uint2float_rn": ("x: uint32", "float32(x)"), "ll2double_rn": ("x: int64", "float64(x)"), "ll2float_rn": ("x: int64", "float32(x)"), "ull2double_rn": ("x: uint64", "float64(x)"), "ull2float_rn": ("x: uint64", "float32(x)"),
}
#: Conversions of floats to integers: which way they round.
_WAYS = {"rn": "np.rint(x)", "rd": "np.floor(x)", "ru": "np.ceil(x)", "rz": "np.trunc(x)"}
_KINDS = {"double": "float64", "float": "float32"}
_INTEGERS = {"int": "int32", "uint": "uint32", "ll": "int64", "ull": "uint64"}
#: Less exact on NVIDIA's library; here as exact as the others.
_FAST = {"fast_cosf": "cosf", "fast_exp10f": "exp10f", "fast_expf": "expf", "fast_fdividef": "fdiv_rn", "fast_log10f": "log10f", "fast_log2f": "log2f", "fast_logf": "logf", "fast_powf": "powf", "fast_sincosf": "sincosf", "fast_sinf": "sinf", "fast_tanf": "tanf"}


@njit
def _split(x):
    return math.frexp(x)


@njit
def _split_single(x):
    mantissa, exponent = math.frexp(x)
    return float32(mantissa), exponent


_SPACE = {
    "np": np, "math": math, "float32": float32, "float64": float64, "int32": int32, "int64": int64, "uint32": uint32, "uint64": uint64, **{n: getattr(_intrinsics, n) for n in ("brev", "clz", "ffs", "fma", "popc")}, "_split": _split,
    "_split_single": _split_single,
}


def _recipe(name):
    """Parameters with their types, and the result, of a function; None of an unknown one."""
    if name in _REST:
        return _REST[name]
    for kind, plain in (("float64", name), ("float32", name.removesuffix("f") if name.endswith("f") else "")):
        if plain in _ONE:
            return f"x: {kind}", _ONE[plain].replace("kind(", f"{kind}(")
        if plain in _TWO:
            return f"x: {kind}, y: {kind}", _TWO[plain].replace("kind(", f"{kind}(")
    source, _, rest = name.partition("2")
    target, _, way = rest.partition("_")
    if source in _KINDS and target in _INTEGERS and way in _WAYS:
        return f"x: {_KINDS[source]}", f"{_INTEGERS[target]}({_WAYS[way]})"
    return None


def __getattr__(name):
    if name in _FAST:
        made = __getattr__(_FAST[name])
    else:
        recipe = None if name.startswith("__") else _recipe(name)
        if recipe is None:
            raise AttributeError(f"tierup.cuda.libdevice has no {name}")
        params, result = recipe
        pairs = [p.split(": ") for p in params.split(", ")]
        body = "".join(f"    {p} = {t}({p})\n" for p, t in pairs)
        source = f"def libdevice_{name}({', '.join(p for p, _ in pairs)}):\n{body}    return {result}\n"
        space = dict(_SPACE)
        exec(compile(source, f"<libdevice.{name}>", "exec"), space)
        function = space[f"libdevice_{name}"]
        function.__module__, function.__name__, function.__qualname__ = __name__, name, name
        made = njit(function)
    globals()[name] = made
    return made


def __dir__():
    conversions = [f"{a}2{b}_{w}" for a in _KINDS for b in _INTEGERS for w in _WAYS]
    return sorted([*_ONE, *(n + "f" for n in _ONE), *_TWO, *(n + "f" for n in _TWO), *_REST, *_FAST, *conversions])
