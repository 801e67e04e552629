"""What deques do beyond holding, finding and going through elements."""

import operator
import sys

_origin = "checked"

_NAMES_WHAT_IS_MISSING = sys.version_info < (3, 14)


def index(d, x, start, stop):
    """``d.index(x, start, stop)``."""
    n = len(d)
    if start < 0:
        start = max(start + n, 0)
    if stop < 0:
        stop += n
    for i in range(start, min(stop, n)):
        if operator._one_object(d[i], x) or d[i] == x:
            return i
    if _NAMES_WHAT_IS_MISSING:
        raise ValueError(repr(x) + " is not in deque")
    raise ValueError("deque.index(x): x not in deque")


def remove(d, x):
    for i in range(len(d)):
        if operator._one_object(d[i], x) or d[i] == x:
            del d[i]
            return
    if _NAMES_WHAT_IS_MISSING:
        raise ValueError(repr(x) + " is not in deque")
    raise ValueError("deque.remove(x): x not in deque")


def text(d):
    return operator._text_in_ring(_text, d, "[...]") if operator._leads_back(d) else _text(d)


def _text(d):
    inside = "deque([" + ", ".join([repr(x) for x in d]) + "]"
    if d.maxlen is None:
        return inside + ")"
    return inside + ", maxlen=" + str(d.maxlen) + ")"
