"""``json.dumps``: what a value is says its type, so there is an encoder for each."""

import json

_NAMES_NUMBERS = False
try:
    json.dumps(float("inf"), allow_nan=False)
except ValueError as _refused:
    # From 3.12 on the message has the number.
    _NAMES_NUMBERS = str(_refused).endswith(": inf")



def dumps(obj, skipkeys, ensure_ascii, allow_nan, indent, separators, sort_keys):
    if separators is None:
        item, colon = ", ", ": "
        if indent is not None:
            item = ","
    else:
        item, colon = separators
    if indent is None:
        unit = ""
    elif isinstance(indent, str):
        unit = indent
    else:
        unit = " " * indent
    parts = []
    _write(parts, obj, item, colon, indent is not None, unit, "\n", bool(skipkeys), bool(ensure_ascii), bool(allow_nan), bool(sort_keys))
    return "".join(parts)


def _write(parts, obj, item, colon, lines, unit, end, skip, ascii_only, nan, ordered):
    """`end` is what a line ends with, the place of the next one included."""
    if obj is None:
        parts.append("null")
    elif isinstance(obj, str):
        _text(parts, obj, ascii_only)
    elif isinstance(obj, bool):
        parts.append("true" if obj else "false")
    elif isinstance(obj, int):
        parts.append(str(obj))
    elif isinstance(obj, float):
        parts.append(_number(obj, nan))
    elif isinstance(obj, (list, tuple)):
        if len(obj) == 0:
            parts.append("[]")
            return
        inner = end + unit
        first = True
        for x in obj:
            parts.append("[" if first else item)
            first = False
            if lines:
                parts.append(inner)
            _write(parts, x, item, colon, lines, unit, inner, skip, ascii_only, nan, ordered)
        if lines:
            parts.append(end)
        parts.append("]")
    elif isinstance(obj, dict):
        _write_dict(parts, obj, item, colon, lines, unit, end, skip, ascii_only, nan, ordered)
    else:
        raise TypeError(f"Object of type {type(obj).__name__} is not JSON serializable")


def _write_dict(parts, obj, item, colon, lines, unit, end, skip, ascii_only, nan, ordered):
    if len(obj) == 0:
        parts.append("{}")
        return
    inner = end + unit
    first = True
    # Keys are there once, so the values behind them decide nothing.
    for key in sorted(obj) if ordered else list(obj):
        name = _key(key, nan)
        if name is None:
            if not skip:
                raise TypeError(f"keys must be str, int, float, bool or None, not {type(key).__name__}")
            continue
        parts.append("{" if first else item)
        first = False
        if lines:
            parts.append(inner)
        _text(parts, name, ascii_only)
        parts.append(colon)
        _write(parts, obj[key], item, colon, lines, unit, inner, skip, ascii_only, nan, ordered)
    if first:
        parts.append("{")
    if lines and not first:
        parts.append(end)
    parts.append("}")


def _key(key, nan):
    if isinstance(key, str):
        return key
    if key is None:
        return "null"
    if isinstance(key, bool):
        return "true" if key else "false"
    if isinstance(key, int):
        return str(key)
    if isinstance(key, float):
        return _number(key, nan)
    return None


def _number(x, nan):
    if x - x == 0:
        return repr(x)
    if not nan:
        text = "Out of range float values are not JSON compliant"
        raise ValueError(text + ": " + repr(x) if _NAMES_NUMBERS else text)
    return "NaN" if x != x else "Infinity" if x > 0 else "-Infinity"


def _text(parts, text, ascii_only):
    plain = True
    for c in text:
        if c < " " or c == '"' or c == "\\" or ascii_only and c > "~":
            plain = False
            break
    if plain:
        parts.append('"' + text + '"')
        return
    parts.append('"')
    for c in text:
        parts.append(_escaped(c, ascii_only))
    parts.append('"')


def _escaped(c, ascii_only):
    if c == '"':
        return '\\"'
    if c == "\\":
        return "\\\\"
    n = ord(c)
    if n >= 32 and (n < 127 or not ascii_only):
        return c
    if c == "\n":
        return "\\n"
    if c == "\r":
        return "\\r"
    if c == "\t":
        return "\\t"
    if c == "\f":
        return "\\f"
    if c == "\b":
        return "\\b"
    if n < 0x10000:
        return f"\\u{n:04x}"
    n -= 0x10000
    return f"\\u{0xD800 | n >> 10:04x}\\u{0xDC00 | n & 0x3FF:04x}"
