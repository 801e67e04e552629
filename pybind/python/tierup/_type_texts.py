"""Types out of the texts that the compiler prints, and texts of the dtypes of records."""


def from_text(text):
    """The type that the compiler prints as `text`."""
    from . import types
    if text in types._SCALARS:
        return types._SCALARS[text]
    if text.startswith(("datetime64", "timedelta64")):
        return types._time(text)
    if text.startswith(("<U", "|S")):
        import numpy
        return types.from_dtype(numpy.dtype(text))
    head, _, rest = text.partition("(")
    if rest.endswith(")"):
        parts = _split(rest[:-1])
        if head == "record":
            return types.Record(text, dtype_of(parts))
        if head == "array" and parts[0].startswith("record(") and parts[1] == "0d" and isinstance(record := from_text(parts[0]), types.Record):
            return record
        if head == "array":
            return types.Array(from_text(parts[0]), int(parts[1][:-1]), parts[2], "readonly" in parts[3:])
        if head == "tuple":
            return types.BaseTuple.from_types([from_text(p) for p in parts])
        if head == "list":
            return types.List(from_text(parts[0]))
        if head == "dict":
            return types.DictType(*map(from_text, parts))
        if head == "set":
            return types.Set(from_text(parts[0]))
        if head == "optional":
            return types.Optional(from_text(parts[0]))
        if head == "dtype":
            return types.DType(from_text(parts[0]))
    return types.Opaque(text)


def record_text(dtype):
    """What the compiler calls the records of a dtype."""
    import json

    import numpy

    from . import types
    said = (" aligned" if dtype.isalignedstruct else "") + (" attributes" if dtype.type is numpy.record else "")
    fields = []
    for name in dtype.names:
        inner, offset, *title = dtype.fields[name]
        base, shape = inner.subdtype or (inner, ())
        if base.names is not None:
            text = record_text(base)
        elif base.name in types._SCALARS:
            text = types._text(types._SCALARS[base.name], strong=True)
        elif types._time(base.name) and base.isnative:
            text = base.name
        elif base.hasobject:
            raise types._bad(f"the field '{name}' of {dtype} is of dtype {base}, which compiled code cannot hold")
        elif base.str.startswith(("<U", "|S")):
            text = base.str
        else:
            text = f"record({base.itemsize} as {json.dumps(base.str)})"
        fields.append(f", {' '.join(json.dumps(n, ensure_ascii=False) for n in (name, *title) if isinstance(n, str))} {offset} {text}{list(shape) if shape else ''}")
    return f"record({dtype.itemsize}{said}{''.join(fields)})"


def dtype_of(parts):
    """The dtype of a record's text: its size, then name, offset and type of each field."""
    import json

    import numpy

    from . import types
    head, _, opaque = parts[0].partition(" as ")
    if opaque:
        return numpy.dtype(json.loads(opaque))
    size, *said = head.split()
    names, titles, offsets, formats = [], [], [], []
    for part in parts[1:]:
        name, end = json.JSONDecoder().raw_decode(part)
        rest, title = part[end:].strip(), None
        if rest.startswith('"'):
            title, end = json.JSONDecoder().raw_decode(rest)
            rest = rest[end:].strip()
        offset, _, of = rest.partition(" ")
        shape = ""
        # Behind dates and spans stands their unit.
        if of.endswith("]") and types._time(of) is None:
            of, _, shape = of.rpartition("[")
        t = from_text(of)
        dtype = types.as_dtype(t)
        names.append(name)
        titles.append(title)
        offsets.append(int(offset))
        formats.append((dtype, tuple(map(int, shape[:-1].split(",")))) if shape else dtype)
    said_of_all = {"names": names, "formats": formats, "offsets": offsets, "itemsize": int(size)}
    if any(t is not None for t in titles):
        said_of_all["titles"] = titles
    dtype = numpy.dtype(said_of_all, "aligned" in said)
    return numpy.dtype((numpy.record, dtype)) if "attributes" in said else dtype


def _split(text):
    parts, depth, start, quoted = [], 0, 0, False
    for i, c in enumerate(text):
        # Names of fields stand between quotes, with \\" for those in them.
        quoted ^= c == '"' and text[i - 1 : i] != "\\"
        if quoted:
            continue
        depth += (c in "([") - (c in ")]")
        if c == "," and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    return [*parts, text[start:].strip()] if text.strip() else []
