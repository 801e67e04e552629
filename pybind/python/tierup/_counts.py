"""What compiled code has in place of a global ``itertools.count``: Python counts, so that every number comes once, whoever asks."""

import re

import numpy

from . import _tierup
from .lib.iterators import Counted, _counts

# By the object's address, with the object, which so lives as long as code that was compiled for it.
_known = {}


def counted(count):
    """The stand-in of a count of ints; None of any other one."""
    if not re.fullmatch(r"count\(-?\d+(, -?\d+)?\)", repr(count)):
        return None
    known = _known.get(id(count))
    if known is None:
        key = numpy.array([_tierup.register_python(count.__next__)], numpy.int64)
        known = _known[id(count)] = count, Counted(key)
        _counts[key[0]] = count
    return known[1]
