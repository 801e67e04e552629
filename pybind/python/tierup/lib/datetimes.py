"""Python's `datetime`: texts in formats. All else is instructions and calls of the run-time."""

import datetime

import numpy as np


def format_value(x, conversion, spec):
    if conversion == 2 or conversion == 3:
        text = repr(x)
    elif conversion == 1 or spec is None:
        text = str(x)
    else:
        return formatted(x, spec)
    if spec is None:
        return text
    return format(text, spec)


def formatted(x, spec):
    if isinstance(x, datetime.timedelta):
        if spec != "":
            raise TypeError("unsupported format string passed to datetime.timedelta.__format__")
        return str(x)
    if spec == "":
        return str(x)
    return x.strftime(spec)


def item(x):
    """What `x.item()` is of units for which Python has dates or spans."""
    return None if np.isnat(x) else datetime._from_count(x)


def count_item(x):
    """The same of units for which it has none."""
    return None if np.isnat(x) else int(x.astype(np.int64))


def as_object(x, dtype):
    return x.item()


def tolist(a):
    if a.ndim == 0:
        return a[()].item()
    if a.ndim == 1:
        return [x.item() for x in a]
    return [tolist(row) for row in a]
