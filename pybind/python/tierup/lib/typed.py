"""Containers that Python sees where they lie."""

from tierup.typed import Dict, List, Set


def list_of(values):
    out = List()
    for v in values:
        out.append(v)
    return out


def dict_of(entries):
    out = Dict()
    out.update(entries)
    return out


def set_of(values):
    out = Set()
    for v in values:
        out.add(v)
    return out
