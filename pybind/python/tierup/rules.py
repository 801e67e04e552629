"""A program's own typing rules: how a value becomes one of another class, and how far apart two classes are.

    @rules.convert
    def fixed_from(x: int) -> Fixed: ...

    rules.distance(int, Fixed, 2)

Conversions are used where a parameter or a result is declared and a value does not fit: in calls of functions with `checked=True`,
their returns, and calls of a function of several rows (`tierup.dispatch`) that no row fits. Distances choose among rows that
are equally close, and among conversions. `rules.typeof` and `rules.unify` tell what types compiled code gives.
"""

from . import _annotations as annotations
from ._annotations import show

__all__ = ["convert", "distance", "typeof", "unify"]

# Both are looked at by guards of compiled code: what was compiled holds as long as nothing in them changes.
_conversions = {}
_distances = {}


def convert(function):
    """Says how a value becomes one of another class: a function of one annotated parameter with an annotated result. Gives it back."""
    from ._dispatch import Row
    row = Row(function)
    if len(row.parameters) != 1 or row.parameters[0].name not in row.hints or "return" not in row.hints:
        raise TypeError(f"rules.convert takes a function of one parameter, annotated like its result; {function.__name__}{row} is none")
    source, target = row.annotation(row.parameters[0]), row.hints["return"]
    if not isinstance(target, type):
        raise TypeError(f"rules.convert gives values of a class, not {show(target)}")
    _conversions[source, target] = function
    return function


def distance(given, declared, n):
    """Says how far a value of one class is from a parameter that declares another: an int from 0 on."""
    if type(n) is not int or n < 0:
        raise ValueError(f"a distance is an int from 0 on, not {n!r}")
    _distances[annotations.plain(given), annotations.plain(declared)] = n


def typeof(obj):
    """The type that compiled code gives an object: `tierup.typeof`."""
    from . import types
    return types.typeof(obj)


def unify(a, b):
    """The type that compiled code gives a variable which holds one object or the other. TypeError where it has no such variable."""
    from . import _tierup, types
    found = _tierup.unify_text(a, b)
    if found is None:
        raise TypeError(f"no variable of compiled code holds both {typeof(a)} and {typeof(b)}")
    return types.from_text(found)


def conversion(test, given, declared):
    """How an argument becomes one that was declared: the distance and the function; None where nothing does. `test(annotation)` says whether
    the argument fits; `given` is its class."""
    found = [(source, f) for (source, target), f in _conversions.items() if annotations.below(target, declared) and test(source)]
    if not found:
        return None
    # The one that says most of the argument.
    source, f = next(((s, f) for s, f in found if all(annotations.below(s, other) for other, _ in found)), (None, None))
    if f is None:
        return None
    told = told_distance(given, declared)
    return (1 if told is None else told), f


def told_distance(given, declared):
    """The distance that was said for a class, or for the nearest of its bases."""
    return next((_distances[c, declared] for c in given.__mro__ if (c, declared) in _distances), None)


def total(declared, given):
    """How far arguments of these classes are from what a row declares; None where that was not said of one of them."""
    each = [0 if c is a else told_distance(c, a) for c, a in zip(given, declared, strict=True)]
    return None if None in each else sum(each)
