"""What the compiler asks of enumerations: how many members they have, and functions that are written for them.

A member is its number, in the order of definition. What it has under a name, its text and its hash are tables that are read
off the members once; a function that takes a member looks up its number there."""

import builtins
import enum
import operator
import sys

from ._kept import KeptNames
from ._paths import WRITTEN

#: Python's own classes, whose methods are written anew where a class does not define them.
OURS = [enum.Enum, enum.Flag, *(c for name in ("ReprEnum", "IntEnum", "IntFlag", "StrEnum") if (c := getattr(enum, name, None)))]
#: What members may be beside, with the operations of these.
BASES = (int, str)
#: What a table may hold: constants of compiled code.
CONSTANTS = (bool, int, float, complex, str, bytes, type(None))
#: Names in the texts of such constants.
NUMBERS = {"nan": float("nan"), "inf": float("inf")}


class Mark(type):
    """The class of classes that stand for one object of ``object`` itself, which is nothing but itself."""

    def __iter__(cls):
        return iter((cls._only_,))

    def __len__(cls):
        return 1


#: Such classes by the addresses of the objects, which live as long as they do: for ever, as names of modules do.
MARKS = {}


def mark(thing):
    """The class that stands for an object."""
    found = MARKS.get(id(thing))
    if found is None:
        name = f"object {len(MARKS) + 1}"
        found = MARKS[id(thing)] = Mark(name, (), {"_only_": thing, "_member_map_": {}})
    return found


def is_mark(cls):
    return type(cls) is Mark


def members(cls):
    """How many members a class has, and whether they compare as Enum's do; None where they are no values."""
    if is_mark(cls):
        return 1, True
    if len(cls) == 0 or all(cls.__getattribute__ is not c.__getattribute__ for c in (object, *BASES)):
        return None
    if issubclass(cls, enum.Flag) and flags(cls) is None:
        return None
    # A metaclass of the program's own may have other members, or find them otherwise.
    if type(cls) is not enum.EnumMeta:
        return None
    if values(cls) is not None:
        return len(cls), True
    # With the values of another class, and that class's operations, a member is taken for one of those.
    if any(c not in OURS and not isinstance(c, enum.EnumMeta) and _has_data(c) for c in cls.__mro__):
        return None
    plain = cls.__eq__ is object.__eq__ and cls.__ne__ is object.__ne__ and cls.__hash__ is enum.Enum.__hash__
    return len(cls), plain


def flags(cls):
    """The flags of one bit of a class whose values are what its flags can be put together to; None of any other class."""
    if is_mark(cls) or not issubclass(cls, enum.Flag) or type(cls) is not enum.EnumMeta:
        return None
    whole = issubclass(cls, int)
    if whole and _base(cls) is None:
        return None
    single = [m._value_ for m in cls]
    bits = all(type(v) is int and 0 < v < 2**31 and v & (v - 1) == 0 for v in single)
    # What is undefined stays in the numbers of an IntFlag, and is an error in others.
    boundary = enum.KEEP if whole else enum.STRICT
    strict = cls._boundary_ is boundary and all(_ours(_found(cls, name), name, whole) for name in (*FLAGGED, *(REFLECTED if whole else ()), "_missing_"))
    known = all(type(m._value_) is int and 0 <= m._value_ and m._value_ | cls._flag_mask_ == cls._flag_mask_ for m in cls._member_map_.values())
    return single if bits and strict and known and cls._flag_mask_ == sum(single) else None


def _base(cls):
    """The class of numbers or texts that members are instances of beside; None where they compare in ways of their own."""
    base = next((b for b in BASES if issubclass(cls, b)), None)
    if base is None or issubclass(cls, bool):
        return None
    data = [c for c in cls.__mro__ if c not in OURS and c is not base and not isinstance(c, enum.EnumMeta) and _has_data(c)]
    compared = ("__eq__", "__ne__", "__hash__")
    return None if data or any(getattr(cls, name) is not getattr(base, name) for name in compared) else base


def values(cls):
    """The values of members that are numbers or texts beside, in their order; None of any other class."""
    if is_mark(cls) or type(cls) is not enum.EnumMeta or not len(cls):
        return None
    base = _base(cls)
    if base is None:
        return None
    all_values = [m._value_ for m in cls._member_map_.values()]
    if not all(type(v) is base and _is_constant(v) for v in all_values):
        return None
    if not all(base.__eq__(m, m._value_) for m in cls) or base is int and not all(-(2**63) <= v < 2**63 for v in all_values):
        return None
    if issubclass(cls, enum.Flag) and flags(cls) is None:
        return None
    return [m._value_ for m in cls]


def _has_data(c):
    """Whether instances of a class are more than attributes in a dictionary."""
    return c is not object and (c.__new__ is not object.__new__ or c.__basicsize__ > object.__basicsize__ + 16)


def attribute(cls, name):
    """What is under a name: ``("member", n)``, ``("computed", function)`` of a member, ``("method", function)``; None of what
    any class may have."""
    if is_mark(cls):
        return ("hidden", None) if hasattr(cls._only_, name) else None
    if name in cls._member_map_:
        return "member", _number(cls, cls._member_map_[name])
    found = _found(cls, name)
    data = values(cls) is not None
    if found is not None and not _ours(found, name, data):
        return None
    if data and name in REFLECTED and flags(cls) is not None:
        return _known(cls, name, lambda: ("method", REFLECTED[name](cls, name)))
    # What numbers and texts do is done with these.
    if data and name not in SHOWN and name not in FLAGGED and any(hasattr(c, name) for c in BASES if issubclass(cls, c)):
        return "hidden", None
    if (write := FLAGGED.get(name) or FLAG_NAMES.get(name)) and flags(cls) is not None:
        kind = "computed" if name in FLAG_NAMES else "method"
        return _known(cls, name, lambda: (kind, write(cls, name)))
    if found is not None and name not in ("name", "value", "_name_", "_value_"):
        write = {"__repr__": _text, "__str__": _text, "__hash__": _hash, "__format__": _format}.get(name)
        return ("hidden", None) if write is None else _known(cls, name, lambda: ("method", write(cls, name)))
    if data and name in ("value", "_value_"):
        return _known(cls, name, lambda: ("computed", _flag_value(cls, name)))
    return _known(cls, name, lambda: _table(cls, name))


def _found(cls, name):
    """What the dictionaries of a class and its bases have."""
    return next((c.__dict__[name] for c in cls.__mro__ if c is not object and name in c.__dict__), None)


def _ours(found, name, based=False):
    return any(found is c.__dict__.get(name) for c in (*OURS, *(BASES if based else ()))) or isinstance(found, enum.property) and name in ("name", "value")


def _number(cls, member):
    if flags(cls) is not None:
        return member._value_
    return next(k for k, m in enumerate(cls) if m is member)


def _flag_operator(sign):
    def write(cls, name):
        text = f"if isinstance(other, cls):\n    return operator._make_member(cls, operator._number_of(self) {sign} operator._number_of(other))\n"
        if values(cls) is not None:
            text += f"if isinstance(other, int):\n    return cls(operator._number_of(self) {sign} other)\n"
        return _made(name, "self, other", text + "return NotImplemented", {"cls": cls})

    return write


def _flag_inverse(cls, name):
    if values(cls) is not None:
        return _made(name, "self", "return cls(~operator._number_of(self))", {"cls": cls})
    every = (~cls(0))._value_
    return _made(name, "self", f"return operator._make_member(cls, {every} & ~operator._number_of(self))", {"cls": cls})


def _flag_truth(cls, name):
    return _made(name, "self", "return operator._number_of(self) != 0", {})


def _flag_count(cls, name):
    return _made(name, "self", "return operator._number_of(self).bit_count()", {})


def _flag_members(cls, name):
    lines = ["n = operator._number_of(self)"]
    for m in cls:
        lines += [f"if n & {m._value_}:", f"    yield operator._make_member(cls, {m._value_})"]
    return _made(name, "self", "\n".join(lines), {"cls": cls})


def _flag_contains(cls, name):
    text = f"""\
if not isinstance(other, cls):
    raise TypeError("unsupported operand type(s) for 'in': " + repr(operator._class_name(other)) + {" and " + repr(cls.__qualname__)!r})
n = operator._number_of(other)
return n & operator._number_of(self) == n"""
    return _made(name, "self, other", text, {"cls": cls})


def _flag_value(cls, name):
    return _made(name, "self", "return operator._number_of(self)", {})


def _flag_name(cls, name):
    lines = ["n = operator._number_of(self)"]
    for m in dict.fromkeys(cls._member_map_.values()):
        lines += [f"if n == {m._value_}:", f"    return {m._name_!r}"]
    if cls(0)._name_ is None:
        lines += ["if n == 0:", "    return None"]
    lines.append("names = ''")
    for m in cls:
        lines += [f"if n & {m._value_}:", f"    names += {'|' + m._name_!r}"]
    if values(cls) is not None:
        # Beside what is not defined Python names the members of several bits too.
        unknown, single = f"n & ~{cls._flag_mask_}", flags(cls)
        for m in cls._member_map_.values():
            if m._value_ and m._value_ not in single:
                lines += [f"if {unknown} and n & {m._value_} == {m._value_}:", f"    names += {'|' + m._name_!r}"]
        lines += [f"if {unknown} and names:", f"    names += '|' + str({unknown})", "if not names:", "    return None"]
    lines.append("return names[1:]")
    return _made(name, "self", "\n".join(lines), {})


def _flag_text(cls, name):
    if cls.__str__ in (int.__repr__, int.__str__):
        return _made(name, "self", "return str(operator._number_of(self))", {})
    return _flag_shown(cls, name, cls.__name__ + "(", ")", cls.__name__ + ".", "''")


def _flag_representation(cls, name):
    return _flag_shown(cls, name, f"<{cls.__name__}: ", ">", f"<{cls.__name__}.", "': ' + str(operator._number_of(self)) + '>'")


def _flag_shown(cls, name, before, after, lead, tail):
    """A text of a value with a name, and of one without."""
    text = f"""\
name = self.name
if name is None:
    return {before!r} + str(operator._number_of(self)) + {after!r}
return {lead!r} + name + {tail}"""
    return _made(name, "self", text, {})


#: What values of a `Flag` have, and how it is written for them.
FLAGGED = {
    "__or__": _flag_operator("|"), "__and__": _flag_operator("&"), "__xor__": _flag_operator("^"), "__invert__": _flag_inverse,
    "__bool__": _flag_truth, "__len__": _flag_count, "__iter__": _flag_members, "__contains__": _flag_contains, "__str__": _flag_text, "__repr__": _flag_representation,
}  # fmt: skip
#: What values of an `IntFlag` have beside.
REFLECTED = {"__ror__": _flag_operator("|"), "__rand__": _flag_operator("&"), "__rxor__": _flag_operator("^")}
#: What is not done with the numbers or texts that members are beside.
SHOWN = ("name", "value", "_name_", "_value_", "__repr__", "__str__", "__format__")
FLAG_NAMES = {"value": _flag_value, "_value_": _flag_value, "name": _flag_name, "_name_": _flag_name}

_FLAG_CALL = """\
if isinstance(value, cls):
    return value
if not isinstance(value, int):
    raise ValueError(repr(value) + " is not a valid {name}")
if not ~{every} <= value <= {every} or value & ({every} ^ {mask}):
    bits = max(value.bit_length(), ({mask}).bit_length())
    raise ValueError("{shown} invalid value " + repr(value) + "\\n    given " + binary(value, bits) + "\\n  allowed " + binary({mask}, bits))
return operator._make_member(cls, value if value >= 0 else value + {every} + 1)"""


_KEPT = """\
if isinstance(value, cls):
    return value
if not isinstance(value, int):
    raise ValueError(repr(value) + " is not a valid {name}")
kept = value + 0
if kept < 0:
    if ~{every} <= kept and not kept & ({every} ^ {mask}):
        kept += {every} + 1
    else:
        kept += max({every} + 1, 1 << kept.bit_length())
return operator._make_member(cls, kept)"""


def _binary(n, bits):
    """A number as `enum.bin` writes it."""
    sign = "0b0 " if n >= 0 else "0b1 "
    digits = bin((1 << bits) + n if n < 0 else n)[2:]
    while len(digits) < bits:
        digits = "0" + digits
    return sign + digits


def _known(cls, name, make):
    """What was written for a class before; it lives as long as the class does."""
    known = cls.__dict__.get("_tierup_written_")
    if known is None:
        known = KeptNames()
        type.__setattr__(cls, "_tierup_written_", known)
    if name not in known:
        known[name] = make()
    return known[name]


def _is_constant(value):
    if type(value) is tuple:
        return all(_is_constant(v) for v in value)
    return type(value) in CONSTANTS and (type(value) is not int or -(2**63) <= value < 2**64)


def _table(cls, name):
    """The function that gives an attribute which each member has itself."""
    if name in ("value", "_value_", "name", "_name_"):
        all_values = [getattr(m, "_value_" if "value" in name else "_name_") for m in cls]
    elif all(name in m.__dict__ for m in cls):
        all_values = [m.__dict__[name] for m in cls]
    else:
        return None
    if not all(_is_constant(v) for v in all_values):
        return "hidden", None
    return "computed", _of_member(name, all_values, values(cls))


def _of_member(name, values, numbers=None):
    if all(type(v) is type(values[0]) and v == values[0] for v in values):
        return _made(name, "self", f"return {values[0]!r}", {})
    if numbers is not None:
        lines = ["n = operator._number_of(self)"]
        for number, value in zip(numbers[:-1], values):
            lines += [f"if n == {number!r}:", f"    return {value!r}"]
        return _made(name, "self", "\n".join([*lines, f"return {values[-1]!r}"]), NUMBERS)
    return _made(name, "self", "return table[operator._number_of(self)]", {"table": tuple(values)})


def _made(name, params, body, scope):
    """A library function out of a text."""
    scope = {"__builtins__": builtins, "operator": operator, **scope}
    text = f"def made({params}):\n" + "".join(f"    {line}\n" for line in body.splitlines())
    exec(compile(text, WRITTEN % "enum", "exec"), scope)
    made = scope["made"]
    made.__name__ = made.__qualname__ = name
    made.__code__ = made.__code__.replace(co_name=name, co_qualname=name)
    return made


def _text(cls, name):
    return _of_member(name, [getattr(m, name)() for m in cls], values(cls))


def _hash(cls, name):
    if flags(cls) is not None:
        return _made(name, "self", "return hash(self.name)", {})
    return _made(name, "self", "return hash(table[operator._number_of(self)])", {"table": tuple(m._name_ for m in cls)})


def _format(cls, name):
    if any(cls.__format__ is c.__format__ for c in BASES):
        return _made(name, "self, spec", "if spec == '':\n    return str(self)\nreturn format(operator._number_of(self), spec)", {})
    return _made(name, "self, spec", "return format(str(self), spec)", {})


def call(cls):
    """``cls(value)``."""
    if flags(cls) is not None and values(cls) is not None:
        text = _KEPT.format(name=cls.__qualname__, every=cls._all_bits_, mask=cls._flag_mask_)
        return _known(cls, "call()", lambda: _made(cls.__name__, "cls, value", text, {}))
    if flags(cls) is not None:
        text = _FLAG_CALL.format(name=cls.__qualname__, every=cls._all_bits_, mask=cls._flag_mask_, shown=repr(cls))
        return _known(cls, "call()", lambda: _made(cls.__name__, "cls, value", text, {"binary": _binary}))
    if not _ours(_found(cls, "_missing_"), "_missing_"):
        raise ValueError(f"{cls.__name__} has its own _missing_, which is not compiled: look the member up outside")
    if not all(_is_constant(m._value_) for m in cls):
        raise ValueError(f"{cls.__name__} has members whose values compiled code cannot hold: take them by name")
    lines = ["if isinstance(value, cls):", "    return value"]
    for k, m in enumerate(cls):
        lines += [f"if value == {m._value_!r}:", f"    return operator._make_member(cls, {k})"]
    lines.append(f"raise ValueError(repr(value) + {f' is not a valid {cls.__qualname__}'!r})")
    return _known(cls, "call()", lambda: _made(cls.__name__, "cls, value", "\n".join(lines), NUMBERS))


def item(cls):
    """``cls[name]``."""
    lines = []
    for name, member in cls._member_map_.items():
        lines += [f"if name == {name!r}:", f"    return operator._make_member(cls, {_number(cls, member)})"]
    lines.append("raise KeyError(name)")
    return _known(cls, "item()", lambda: _made("__getitem__", "cls, name", "\n".join(lines), {}))


def contains(cls):
    """``x in cls``: members, and from Python 3.12 on values of members."""
    if flags(cls) is not None and sys.version_info >= (3, 12):
        raise ValueError(f"`in` {cls.__name__} is not compiled: ask isinstance(x, {cls.__name__})")
    lines = ["if isinstance(x, cls):", "    return True", "if isinstance(x, enum.Enum):", "    return False"]
    if sys.version_info >= (3, 12):
        if not all(_is_constant(m._value_) for m in cls):
            raise ValueError(f"{cls.__name__} has members whose values compiled code cannot hold")
        lines += [f"if x == {m._value_!r}:\n    return True" for m in cls]
        lines.append("return False")
    else:
        text = f"' and '{type(cls).__name__}'"
        lines.append(f"raise TypeError(\"unsupported operand type(s) for 'in': '\" + operator._class_name(x) + {text!r})")
    return _known(cls, "in()", lambda: _made("__contains__", "cls, x", "\n".join(lines), {"enum": enum, **NUMBERS}))
