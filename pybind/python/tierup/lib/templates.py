"""Python's `string.Template` as compiled code has it."""

import string
from dataclasses import dataclass

from .._jit import unroll

_PATTERN = string.Template.pattern


def seen(obj):
    """What compiled code has of a template; None for an object of another class of that name."""
    return Template(obj.template) if type(obj) is string.Template else None


@dataclass(frozen=True, eq=False, repr=False)
class Template:
    template: str

    _tierup_class_ = string.Template

    def _tierup_python_(self):
        return string.Template(self.template)

    def substitute(self, mapping=None, /, **kws):
        def text(m):
            name = _name(m)
            if name is not None:
                return str(_value(mapping, kws, name))
            if m.group("escaped") is not None:
                return "$"
            return _invalid(self.template, m.start("invalid"))
        return _PATTERN.sub(text, self.template)

    def safe_substitute(self, mapping=None, /, **kws):
        def text(m):
            name = _name(m)
            if name is not None:
                return str(_value(mapping, kws, name)) if _has(mapping, kws, name) else m.group()
            if m.group("escaped") is not None:
                return "$"
            return m.group()
        return _PATTERN.sub(text, self.template)


def _name(m):
    named = m.group("named")
    return m.group("braced") if named is None else named


def _invalid(template, i):
    lines = template[:i].splitlines(keepends=True)
    if len(lines) == 0:
        column, line = 1, 1
    else:
        column, line = i - len("".join(lines[:-1])), len(lines)
    raise ValueError("Invalid placeholder in string: line " + str(line) + ", col " + str(column))


def _has(mapping, kws, name):
    if len(kws) > 0 and name in kws:
        return True
    return mapping is not None and name in mapping


def _value(mapping, kws, name):
    if len(kws) > 0:
        for key, value in unroll(kws.items()):
            if key == name:
                return str(value)
    if mapping is None:
        raise KeyError(name)
    return str(mapping[name])


def template(template):
    return Template(template)
