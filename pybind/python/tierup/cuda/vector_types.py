"""CUDA's vectors of 1 to 4 numbers, as `numba.cuda` has them: `cuda.float32x3(1, 2, 3)` or `cuda.float3(1, 2, 3)` has the fields x, y and z. Vectors among the operands of a constructor stand for what they hold: `cuda.float3(v, 1)`."""

import dataclasses

from .. import unroll
from .._jit import njit
from ..types import float32, float64, int8, int16, int32, int64, uint8, uint16, uint32, uint64

_BASES = {
    "int8": (int8, ["char"]), "int16": (int16, ["short"]), "int32": (int32, ["int"]), "int64": (int64, ["long", "longlong"]), "uint8": (uint8, ["uchar"]), "uint16": (uint16, ["ushort"]),
    "uint32": (uint32, ["uint"]), "uint64": (uint64, ["ulong", "ulonglong"]), "float32": (float32, ["float"]), "float64": (float64, ["double"]),
}


@dataclasses.dataclass(frozen=True)
class _One:
    x: object

    def _parts(self):
        return (self.x,)


@dataclasses.dataclass(frozen=True)
class _Two:
    x: object
    y: object

    def _parts(self):
        return (self.x, self.y)


@dataclasses.dataclass(frozen=True)
class _Three:
    x: object
    y: object
    z: object

    def _parts(self):
        return (self.x, self.y, self.z)


@dataclasses.dataclass(frozen=True)
class _Four:
    x: object
    y: object
    z: object
    w: object

    def _parts(self):
        return (self.x, self.y, self.z, self.w)


_CLASSES = _One, _Two, _Three, _Four


@njit
def _flat(given):
    """The numbers of all operands."""
    out = ()
    for part in unroll(given):
        if isinstance(part, (_One, _Two, _Three, _Four)):
            out = out + part._parts()
        else:
            out = out + (part,)
    return out


def _constructor(name, base, n, aliases):
    """The function that makes vectors of `n` numbers of a type."""
    made = _CLASSES[n - 1]
    values = ", ".join(f"base(all_[{k}])" for k in range(n))
    source = (f"def {name}(*parts):\n    all_ = flat(parts)\n    if len(all_) != {n}:\n        raise TypeError('{name}() takes {n} numbers')\n    return made({values})\n")
    space = {"base": base, "made": made, "flat": _flat}
    exec(compile(source, f"<{name}>", "exec"), space)
    function = space[name]
    function.__module__, function.__qualname__ = __name__, name
    function.__doc__ = f"A vector of {n} numbers of type {base}: numbers, or vectors that hold some of them."
    constructor = njit(function)
    constructor.aliases = aliases
    return constructor


@dataclasses.dataclass(frozen=True)
class VectorType:
    """What a type of vectors is: its name, the type of its numbers, how many there are, and what makes one."""

    name: str
    base_type: object
    num_elements: int
    user_facing_object: object


vector_types = {}
for _base, (_type, _names) in _BASES.items():
    for _n in range(1, 5):
        _name = f"{_base}x{_n}"
        vector_types[_name] = VectorType(_name, _type, _n, _constructor(_name, _type, _n, [f"{a}{_n}" for a in _names]))

#: Constructors by all of their names.
constructors = {name: v.user_facing_object for v in vector_types.values() for name in (v.name, *v.user_facing_object.aliases)}

__all__ = ["constructors", "vector_types", "VectorType"]
