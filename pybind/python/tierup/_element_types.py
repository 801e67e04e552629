"""Types of elements of arrays that are no numbers: records and their fields, fixed-width text, dates and spans of time."""

import typing as _typing

from . import types
from ._type_texts import from_text, record_text
from .types import Hashable, Type


class _Time(Hashable):
    """Dates or spans of time of NumPy's, with the unit that they are counted in; "" is the unit of spans that take that of what they meet."""

    def __init__(self, unit):
        unit = "" if unit == "generic" else unit
        if unit not in _UNITS:
            raise ValueError(f"{unit!r} is no unit of time: they are {', '.join(u for u in _UNITS if u)}")
        self.unit = unit
        super().__init__(f"{self._name}[{unit}]" if unit else self._name)

    def cast_python_value(self, value):
        import numpy
        return getattr(numpy, self._name)(value, self.unit or "generic")

    @property
    def unit_code(self):
        """NumPy's number of the unit."""
        return 14 if self.unit == "" else _UNITS.index(self.unit) - (self.unit in ("Y", "M", "W"))

    def __reduce__(self):
        return type(self), (self.unit,)


_UNITS = "", "Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as"


class NPDatetime(_Time):
    """`numpy.datetime64`: `NPDatetime("ns")`."""

    _name = "datetime64"


class NPTimedelta(_Time):
    """`numpy.timedelta64`: `NPTimedelta("s")`."""

    _name = "timedelta64"


def _time(name):
    """The type of times that a dtype's name says; None of other names."""
    kind, _, unit = name.partition("[")
    made = {"datetime64": NPDatetime, "timedelta64": NPTimedelta}.get(kind)
    unit = unit.removesuffix("]")
    return made(unit) if made and unit in _UNITS else None


class _Field(_typing.NamedTuple):
    """A field of records."""

    type: object
    offset: int
    alignment: int
    title: object


class Record(Type):
    """The elements of a structured array, by its dtype: `from_dtype(np.dtype([("x", "f8"), ("n", "i4")]))`; `[:]` behind it is the type of such arrays. As an argument it is a record by itself."""

    def __init__(self, text=None, dtype=None, *, fields=None, size=None, aligned=False):
        if fields is not None:
            # Numba's own way to make one: pairs of a name and a dict of its type, offset and title.
            dtype = _dtype_of_fields(fields, size, aligned)
            text = record_text(dtype)
        self._text, self.dtype = text, dtype

    def _parts(self):
        return (self._text,)

    @property
    def _tierup_type_(self):
        # What compiled code has of it is a view of its place.
        return f"array({self._text}, 0d, C)"

    @property
    def key(self):
        # Whether NumPy gives them attributes changes nothing about their memory.
        return self._text.replace(" attributes", "", 1) if self.dtype.type.__name__ == "record" else self._text

    @property
    def name(self):
        return self._text

    def __repr__(self):
        return self._text

    def __reduce__(self):
        return from_text, (self._text,)

    @classmethod
    def of(cls, dtype):
        """The type of records of a NumPy dtype."""
        return cls(record_text(dtype), dtype)

    @classmethod
    def make_c_struct(cls, name_types):
        """Records of these fields, pairs of a name and a type, as C lays them out."""
        import numpy
        return cls.of(numpy.dtype([(name, _dtype_of(t)) for name, t in name_types], align=True))

    @property
    def size(self):
        """Bytes of a record."""
        return self.dtype.itemsize

    @property
    def aligned(self):
        """Whether fields lie as a C compiler places them."""
        return self.dtype.isalignedstruct

    @property
    def members(self):
        """Pairs of names and types, in order."""
        return [(name, self.typeof(name)) for name in self.dtype.names]

    def typeof(self, name):
        """What the field of that name holds."""
        return types.from_dtype(self.dtype.fields[name][0])

    def offset(self, name):
        """Where a field begins, in bytes."""
        return self.dtype.fields[name][1]

    @property
    def fields(self):
        """What is known of each field, by its name and, where it has one, by its title."""
        return {name: _Field(types.from_dtype(of), offset, None, title[0] if title else None) for name, (of, offset, *title) in self.dtype.fields.items()}

    def is_title(self, name):
        """Whether it is a field's title, and not its name."""
        return name in self.dtype.fields and name not in self.dtype.names

    def __len__(self):
        return len(self.dtype.names)


def _dtype_of(t):
    """The dtype of a field of a type."""
    import numpy
    return numpy.dtype((_dtype_of(t.dtype), t.shape)) if isinstance(t, NestedArray) else types.as_dtype(types.as_type(t))


def _dtype_of_fields(fields, size, aligned):
    import numpy
    said = [dict(f) for _, f in fields]
    return numpy.dtype({
        "names": [name for name, _ in fields], "formats": [_dtype_of(f["type"]) for f in said], "offsets": [f["offset"] for f in said],
        "titles": [f.get("title") for f in said], "itemsize": size,
    }, align=aligned)


class CharSeq(Hashable):
    """Fixed-width text of so many bytes as elements of arrays: NumPy's dtype `S`. As an argument it is bytes."""

    _letter, _value, _width = "|S", "bytes", 1

    def __init__(self, count):
        self.count = count

    def _parts(self):
        return (self.count,)

    @property
    def dtype(self):
        """NumPy's dtype."""
        import numpy
        return numpy.dtype(f"{self._letter}{self.count}")

    @property
    def _tierup_type_(self):
        return self._value

    @property
    def key(self):
        return f"{self._letter}{self.count}"

    @property
    def name(self):
        return f"[{'char' if self._width == 1 else 'unichr'} x {self.count}]"

    def __repr__(self):
        return self.name

    def __reduce__(self):
        return type(self), (self.count,)


class UnicodeCharSeq(CharSeq):
    """The same of characters: NumPy's dtype `U`. As an argument it is a str."""

    _letter, _value, _width = "<U", "str", 4


class NestedArray(Type):
    """A field of records that is an array."""

    def __init__(self, dtype, shape):
        self.dtype, self.shape = types.as_type(dtype), tuple(shape)
        self.ndim = len(self.shape)
        super().__init__(f"array({types._text(self.dtype, strong=True)}, {self.ndim}d, C)")

    def _parts(self):
        return self.dtype.key, self.shape

    @property
    def key(self):
        return f"{types._text(self.dtype, strong=True)}[{', '.join(map(str, self.shape))}]"

    def __reduce__(self):
        return NestedArray, (self.dtype, self.shape)
