"""What annotations say of generators, for the values that Python sends them."""

import collections.abc
import types
import typing

from . import _annotations
from ._struct import WORDS
from .types import Type


def sent(function):
    """What a generator function says that it is sent, `-> Generator[Yields, Sent, Returns]`, in the words of the compiler; None where it
    says nothing that the compiler knows."""
    said = _annotations.hints(function).get("return")
    arguments = typing.get_args(said)
    if typing.get_origin(said) is not collections.abc.Generator or len(arguments) < 2:
        return None
    return word(arguments[1])


def word(what):
    if isinstance(what, Type):
        return what._tierup_type_
    if isinstance(what, type) and what in WORDS:
        return WORDS[what]
    inside = [word(a) for a in typing.get_args(what) if a is not type(None)]
    if None in inside:
        return None
    if typing.get_origin(what) in (typing.Union, types.UnionType) and len(inside) == 1:
        return "optional", *inside
    if typing.get_origin(what) is tuple and Ellipsis not in typing.get_args(what):
        return "tuple", *inside
    return None
