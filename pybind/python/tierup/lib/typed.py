"""Containers that Python sees where they lie."""

from tierup.typed import List


def list_of(values):
    out = List()
    for v in values:
        out.append(v)
    return out
