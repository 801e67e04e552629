"""Text that is made of values, and of other text."""

import operator

import numpy as np

from .._calls import python_caller

_encode = python_caller(str.encode, "text, encoding, errors", "bytes")
_decode = python_caller(bytes.decode, "data, encoding, errors", "str")
_percent = python_caller(bytes.__mod__, "format, values", "bytes")


def _format(text, args, names, values):
    return text.format(*args, **dict(zip(names, values)))


_format_in_python = python_caller(_format, "text, args, names, values", "str")
_percent_in_python = python_caller(str.__mod__, "format, values", "str")


def ascii_of_parts(x):
    """``ascii`` of a value whose text is put together in Python."""
    return operator._escaped(repr(x))


def format_value(x, conversion, spec):
    """A field of an f-string whose value has no text of its own, or takes no specification."""
    if conversion == 2:
        s = repr(x)
    elif conversion == 3:
        s = ascii(x)
    elif conversion == 1 or spec is None:
        s = str(x)
    else:
        return formatted(x, spec)
    if spec is None:
        return s
    return format(s, spec)


def formatted(x, spec):
    """``format`` as `object` has it: of no specification, or an error."""
    if x is None:
        return _formatted(None, spec)
    return _formatted(x, spec)


def _formatted(x, spec):
    if isinstance(x, (int, float, complex, str)):
        return format(x, spec)
    if isinstance(x, np.ndarray) and x.ndim == 0 and x.dtype.kind != "V":
        return _formatted(x[()], spec)
    if spec != "":
        raise TypeError("unsupported format string passed to " + operator._class_name(x) + ".__format__")
    return str(x)


def converted_optional(x, how, width, precision):
    """A conversion of ``%`` of a value that may be None."""
    if x is None:
        return operator._converted(None, how, width, precision)
    return operator._converted(x, how, width, precision)


def star_optional(x):
    """A width or a precision that may be None."""
    if x is None:
        raise TypeError("* wants int")
    return operator._star(x)


def maketrans(x, y, z):
    """``str.maketrans``: codes of characters, and what stands for each."""
    if y is ...:
        if not isinstance(x, dict):
            raise TypeError("if you give only one argument to maketrans it must be a dict")
        return _table(x)
    if not isinstance(x, str):
        raise TypeError("first maketrans argument must be a string if there is a second argument")
    if len(x) != len(y):
        raise ValueError("the first two maketrans arguments must have equal length")
    table = {}
    for i in range(len(x)):
        table[ord(x[i])] = ord(y[i])
    if z is not ...:
        for c in z:
            table[ord(c)] = None
    return table


def _table(x):
    table = {}
    for k, v in x.items():
        if isinstance(k, str):
            if len(k) != 1:
                raise ValueError("string keys in translate table must be of length 1")
            table[ord(k)] = v
        elif isinstance(k, int):
            table[k] = v
        else:
            raise TypeError("keys in translate table must be strings or integers")
    return table


def translate(s, table):
    """``s.translate(table)`` of a dict, or of a sequence that is indexed by codes."""
    out = []
    for c in s:
        code = ord(c)
        if isinstance(table, dict):
            if code in table:
                out.append(_translated(table[code]))
            else:
                out.append(c)
        elif code < len(table):
            out.append(_translated(table[code]))
        else:
            out.append(c)
    return "".join(out)


def _translated(v):
    if v is None:
        return ""
    if isinstance(v, str):
        return v
    if not isinstance(v, int):
        raise TypeError("character mapping must return integer, None or str")
    if v < 0 or v >= 0x110000:
        raise ValueError("character mapping must be in range(0x110000)")
    return chr(v)


def print_texts(sep, end, flush, *values):
    """``print`` of values that have texts of their own."""
    texts = [str(v) for v in values]
    print((" " if sep is None else sep).join(texts), end=end, flush=flush)


def encoded(text, encoding, errors):
    return _encode(text, encoding, errors)


def decoded(data, encoding, errors):
    return _decode(bytes(data), encoding, errors)


def percent_of_bytes(format, values):
    return _percent(format, values)


def format_in_python(format, args, names, values):
    return _format_in_python(format, args, names, values)


def format_spread_in_python(format, args):
    return _format_in_python(format, tuple(args), (), ())


def format_of_mapping(format, mapping):
    return format.format_map(dict(mapping))


def format_of_mapping_in_python(format, mapping):
    return _format_in_python(format, (), list(mapping), list(mapping.values()))


def percent_in_python(format, values):
    return _percent_in_python(format, values)
