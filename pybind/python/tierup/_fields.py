"""Functions that do what those of the module ``dataclasses`` do, for instances of one class.

Each takes an instance in place of any dataclass's, and is compiled where compiled code calls ``replace``, ``asdict``
or ``astuple``."""

import builtins
import dataclasses
import operator

from ._classes import Missing, is_given
from ._kept import Kept
from ._paths import WRITTEN


def _kept(write):
    """Keeps what is written for a class with it, as long as it has these fields."""

    def function(cls):
        fields = getattr(cls, "__dataclass_fields__", None)
        if fields is None:
            raise ValueError(f"{write.__name__}() takes instances of dataclasses, and {cls.__name__} is none")
        known = cls.__dict__.get("_tierup_fields_")
        if known is None or known[0] is not fields:
            known = Kept((fields, {}))
            type.__setattr__(cls, "_tierup_fields_", known)
        if write.__name__ not in known[1]:
            known[1][write.__name__] = write(cls)
        return known[1][write.__name__]

    return function


@_kept
def replace(cls):
    """The class is called with the fields that stay as they are. An ``InitVar`` without a default has to be given."""
    scope = {"__builtins__": builtins, "_tierup_class": cls, "_tierup_missing": Missing}
    params, given = [], []
    for f in cls.__dataclass_fields__.values():
        if f._field_type is dataclasses._FIELD_CLASSVAR or not f.init:
            continue
        if f._field_type is dataclasses._FIELD_INITVAR and not is_given(f.default):
            params.append(f.name)
            given.append(f"{f.name}={f.name}")
            continue
        params.append(f"{f.name}=_tierup_missing")
        given.append(f"{f.name}=_tierup_x.{f.name} if {f.name} is _tierup_missing else {f.name}")
    lines = [f"return _tierup_class({', '.join(given)})"]
    return _written(cls, "replace", ["_tierup_x", "/", *(["*", *params] if params else [])], lines, scope)


@_kept
def asdict(cls):
    """A dict of fixed names: what each holds keeps its type."""
    scope = {"__builtins__": builtins, "_tierup_operator": operator}
    exec(compile("def _tierup_dict(**fields):\n    return fields\n", WRITTEN % "asdict", "exec"), scope)
    parts = (f"{name}=_tierup_operator._part_of_dict(_tierup_x.{name})" for name in _names(cls))
    return _written(cls, "asdict", ["_tierup_x"], [f"return _tierup_dict({', '.join(parts)})"], scope)


@_kept
def astuple(cls):
    scope = {"__builtins__": builtins, "_tierup_operator": operator}
    parts = (f"_tierup_operator._part_of_tuple(_tierup_x.{name}), " for name in _names(cls))
    return _written(cls, "astuple", ["_tierup_x"], [f"return ({''.join(parts)})"], scope)


def _names(cls):
    return [name for name, f in cls.__dataclass_fields__.items() if f._field_type is dataclasses._FIELD]


def _written(cls, name, params, lines, scope):
    text = f"def {name}({', '.join(params)}):\n" + "".join(f"    {line}\n" for line in lines)
    exec(compile(text, WRITTEN % "dataclasses", "exec"), scope)
    return scope[name]
