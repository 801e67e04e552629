"""Built-in functions and methods whose meaning is naturally Python."""


def list_sort_key(values, key, reverse):
    """``values.sort(key=key, reverse=reverse)``: stable, each key computed once."""
    keys = [key(v) for v in values]
    values.sort_by_keys(keys, reverse)


def list_repr(values):
    """``repr`` of a list."""
    return "[" + ", ".join([repr(v) for v in values]) + "]"


def join(sep, parts):
    """``sep.join(parts)`` of any iterable of strings."""
    return sep.join([p for p in parts])


def list_extend(values, other):
    """``values.extend(other)`` of a generator."""
    for v in other:
        values.append(v)
    return values


def enumerate_any(values, start):
    """``enumerate`` of a generator."""
    for v in values:
        yield start, v
        start += 1
