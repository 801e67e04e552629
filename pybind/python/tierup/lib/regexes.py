"""Python's module `re`: patterns and matches as compiled code has them. What a pattern finds, `re._find` says, which asks Python where the run-time's engine does not know; a match is its
places in the text, and all that it gives is computed from them."""

import operator
import re
from dataclasses import dataclass

from .. import _regexes

_flags = _regexes.callers("str")["flags"]
_names = _regexes.callers("str")["names"]
_subn_of_text = _regexes.callers("str")["subn"]
_subn_of_bytes = _regexes.callers("bytes")["subn"]
_expand_text = _regexes.callers("str")["expand"]
_expand_bytes = _regexes.callers("bytes")["expand"]
_escape_text = _regexes.callers("str")["escape"]
_escape_bytes = _regexes.callers("bytes")["escape"]

_END = 9223372036854775807


def seen(obj):
    """What compiled code has of a pattern or a match; None where it cannot have it."""
    if isinstance(obj, re.Pattern):
        return Pattern(obj.pattern, obj.flags, _regexes.shape(obj)) if isinstance(obj.pattern, (str, bytes)) and not obj.flags & re.DEBUG else None
    pattern = seen(obj.re)
    if pattern is None or not isinstance(obj.string, (str, bytes)):
        return None
    return Match(pattern, obj.string, obj.pos, obj.endpos, -1 if obj.lastindex is None else obj.lastindex, tuple([x for place in obj.regs for x in place]))


@dataclass(frozen=True, eq=False)
class Pattern:
    pattern: str
    flags: int
    _tierup_shape_: tuple

    _tierup_class_ = re.Pattern

    def _tierup_python_(self):
        return re.compile(self.pattern, self.flags)

    def match(self, string, pos=0, endpos=_END):
        return _found(self, 0, string, pos, endpos)

    def search(self, string, pos=0, endpos=_END):
        return _found(self, 1, string, pos, endpos)

    def fullmatch(self, string, pos=0, endpos=_END):
        return _found(self, 2, string, pos, endpos)

    def finditer(self, string, pos=0, endpos=_END):
        m = _found(self, 1, string, pos, endpos)
        while m is not None:
            yield m
            m = _next(m)

    def findall(self, string, pos=0, endpos=_END):
        subject = _subject(string)
        if self._tierup_shape_ is not None:
            if _is_ours(self, subject, pos, endpos):
                return _all(self, subject, pos, endpos)
        return _said(re._all(self._tierup_shape_, isinstance(self.pattern, bytes), False)(self.pattern, self.flags, subject, pos, endpos))

    def split(self, string, maxsplit=0):
        subject = _subject(string)
        if self._tierup_shape_ is not None and len(self._tierup_shape_) == 0:
            if _is_ours(self, subject, 0, _END):
                return _split(self, subject, maxsplit)
        return _said(re._all(self._tierup_shape_, isinstance(self.pattern, bytes), True)(self.pattern, self.flags, subject, maxsplit))

    def sub(self, repl, string, count=0):
        return self.subn(repl, string, count)[0]

    def subn(self, repl, string, count=0):
        subject = _subject(string)
        if isinstance(repl, str):
            if self._tierup_shape_ is not None and isinstance(subject, str):
                if _is_ours(self, subject, 0, _END):
                    if "\\" not in repl:
                        return _replaced(self, lambda m: repl, subject, count)
                    texts, groups = _parts(self, repl)
                    if len(groups) > 0:
                        return _expanded(self, texts, groups, subject, count)
            return _subn_of_text(self.pattern, self.flags, repl, subject, count)
        if isinstance(repl, bytes):
            if self._tierup_shape_ is not None and isinstance(subject, bytes):
                if b"\\" not in repl and _is_ours(self, subject, 0, _END):
                    return _replaced(self, lambda m: repl, subject, count)
            return _subn_of_bytes(self.pattern, self.flags, repl, subject, count)
        return _replaced(self, repl, subject, count)

    @property
    def groups(self):
        re._needs(self._tierup_shape_)
        return len(self._tierup_shape_)

    def __eq__(self, other):
        return isinstance(other, Pattern) and self.flags == other.flags and isinstance(self.pattern, str) == isinstance(other.pattern, str) and self.pattern == other.pattern

    def __hash__(self):
        return hash((self.flags, self.pattern))

    def __repr__(self):
        names = []
        flags = self.flags
        if isinstance(self.pattern, str) and flags & 292 == 32:
            flags -= 32
        for bit, name in ((2, "re.IGNORECASE"), (4, "re.LOCALE"), (8, "re.MULTILINE"), (16, "re.DOTALL"), (32, "re.UNICODE"), (64, "re.VERBOSE"), (256, "re.ASCII")):
            if flags & bit:
                names.append(name)
        return "re.compile(" + repr(self.pattern)[:200] + (", " if len(names) > 0 else "") + "|".join(names) + ")"


@dataclass(frozen=True, eq=False)
class Match:
    re: Pattern
    string: str
    pos: int
    endpos: int
    _last: int
    _places: tuple

    _tierup_class_ = re.Match

    def _tierup_python_(self):
        places = self._places
        return _regexes.match(self.re, self.string, self.pos, self.endpos, tuple([(places[k], places[k + 1]) for k in range(0, len(places), 2)]))

    def group(self, group=0, *others):
        if len(others) == 0:
            return _group(self, group)
        return (_group(self, group),) + _several(self, others)

    def __getitem__(self, group):
        return _group(self, group)

    def start(self, group=0):
        return self._places[2 * _number(self, group)]

    def end(self, group=0):
        return self._places[2 * _number(self, group) + 1]

    def span(self, group=0):
        k = _number(self, group)
        return self._places[2 * k], self._places[2 * k + 1]

    def groups(self, default=None):
        re._needs(self.re._tierup_shape_)
        return _from(self, 1, default)

    def groupdict(self, default=None):
        found = {}
        if self.re._tierup_shape_ is None:
            for name, k in _names(self.re.pattern, self.re.flags).items():
                x = _group(self, k)
                found[name] = default if x is None else x
            return found
        k = 0
        for name in re._names(self.re._tierup_shape_):
            k += 1
            if name != "":
                if re._sure(self.re._tierup_shape_, None):
                    found[name] = _text(self, k)
                else:
                    x = _group(self, k)
                    found[name] = default if x is None else x
        return found

    def expand(self, template):
        if isinstance(template, str):
            return _expand_text(self.re.pattern, self.re.flags, template, self.string, self.pos, self.endpos, self.regs)
        return _expand_bytes(self.re.pattern, self.re.flags, template, self.string, self.pos, self.endpos, self.regs)

    @property
    def regs(self):
        re._needs(self.re._tierup_shape_)
        return _pairs(self._places)

    @property
    def lastindex(self):
        return None if self._last < 0 else self._last

    @property
    def lastgroup(self):
        if self._last < 0:
            return None
        if self.re._tierup_shape_ is None:
            for name, k in _names(self.re.pattern, self.re.flags).items():
                if k == self._last:
                    return name
            return None
        name = re._names(self.re._tierup_shape_)[self._last - 1]
        return None if name == "" else name

    def __repr__(self):
        return "<re.Match object; span=(" + str(self._places[0]) + ", " + str(self._places[1]) + "), match=" + repr(self.group())[:50] + ">"


def _said(found):
    """A list of texts; of a pattern that is not known until the function runs there may be none."""
    if found is None:
        operator._not_said("the groups of a pattern that is computed decide what findall() and split() give: without groups, or with one for findall(), it is a list of texts; otherwise go through finditer()")
        raise ValueError("groups")
    return found


def _subject(string):
    """What is found in a bytearray are bytes; Python's `re` is given no container of ours."""
    if isinstance(string, bytearray):
        return bytes(string)
    return string


def _found(pattern, how, string, pos, endpos):
    if isinstance(string, bytearray):
        return _found(pattern, how, bytes(string), pos, endpos)
    n = len(string)
    pos = min(max(pos, 0), n)
    endpos = min(max(endpos, 0), n)
    if pattern._tierup_shape_ is None:
        return _of_numbers(pattern, string, pos, endpos, re._find_list(pattern.pattern, pattern.flags, how, string, pos, endpos))
    found, last, places = re._find(pattern.pattern, pattern.flags, how, string, pos, endpos, pattern._tierup_shape_)
    return Match(pattern, string, pos, endpos, last, places) if found else None


def _of_numbers(pattern, string, pos, endpos, numbers):
    """The match of a pattern whose groups are not known."""
    return Match(pattern, string, pos, endpos, numbers[0], numbers[1:]) if len(numbers) > 0 else None


def _next(m):
    """The match behind another one, as `finditer` goes on."""
    end = m._places[1]
    how = 3 if m._places[0] == end else 1
    if m.re._tierup_shape_ is None:
        return _of_numbers(m.re, m.string, m.pos, m.endpos, re._find_list(m.re.pattern, m.re.flags, how, m.string, end, m.endpos))
    found, last, places = re._find(m.re.pattern, m.re.flags, how, m.string, end, m.endpos, m.re._tierup_shape_)
    return Match(m.re, m.string, m.pos, m.endpos, last, places) if found else None


def _number(m, group):
    if group is None:
        raise IndexError("no such group")
    if isinstance(group, str):
        k = re._index(m.re._tierup_shape_, group)
        if k == -2:
            k = _by_name(m.re, group)
    else:
        k = group
    if not 0 <= k < len(m._places) // 2:
        raise IndexError("no such group")
    return k


def _by_name(pattern, name):
    if pattern._tierup_shape_ is None:
        return _names(pattern.pattern, pattern.flags).get(name, -1)
    k = 0
    for n in re._names(pattern._tierup_shape_):
        k += 1
        if n == name and n != "":
            return k
    return -1


def _group(m, group):
    k = _number(m, group)
    if re._sure(m.re._tierup_shape_, group):
        return _text(m, k)
    start = m._places[2 * k]
    return None if start < 0 else m.string[start:m._places[2 * k + 1]]


def _text(m, k):
    """What a group is that is set in every match."""
    start = m._places[2 * k]
    if start < 0:
        raise RuntimeError("a group that is set in every match is not set")
    return m.string[start:m._places[2 * k + 1]]


def _several(m, groups):
    if len(groups) == 0:
        return ()
    return (_group(m, groups[0]),) + _several(m, groups[1:])


def _from(m, k, default):
    if k > len(m.re._tierup_shape_):
        return ()
    x = _group(m, k)
    return (default if x is None else x,) + _from(m, k + 1, default)


def _pairs(places):
    if len(places) == 0:
        return ()
    return (places[:2],) + _pairs(places[2:])


def _is_ours(pattern, string, pos, endpos):
    """Whether all matches are found without Python. Its own loops are faster than a call of it for each match."""
    return re._finds_all(pattern.pattern, pattern.flags, 1, string, pos, endpos)


def _all(pattern, string, pos, endpos):
    found = []
    m = _found(pattern, 1, string, pos, endpos)
    while m is not None:
        found.append(_of_all(m))
        m = _next(m)
    return found


def _of_all(m):
    """What `findall` gives of a match."""
    if len(m.re._tierup_shape_) == 0:
        return _text(m, 0)
    if len(m.re._tierup_shape_) == 1:
        return _filled(m, 1)
    return _filled_from(m, 1)


def _filled(m, k):
    start = m._places[2 * k]
    return m.string[:0] if start < 0 else m.string[start:m._places[2 * k + 1]]


def _filled_from(m, k):
    if k > len(m.re._tierup_shape_):
        return ()
    return (_filled(m, k),) + _filled_from(m, k + 1)


def _split(pattern, string, maxsplit):
    parts = []
    n = end = 0
    m = _found(pattern, 1, string, 0, _END)
    while m is not None and (maxsplit == 0 or n < maxsplit):
        parts.append(string[end:m._places[0]])
        end = m._places[1]
        n += 1
        m = _next(m)
    parts.append(string[end:])
    return parts


def _parts(pattern, template):
    """The texts of a template, and the groups that stand between them: none where it has escapes that Python reads."""
    texts, groups = [], []
    start = 0
    k = template.find("\\")
    while k >= 0:
        group, end = _reference(pattern, template, k + 1)
        if group < 0:
            return texts, groups[:0]
        texts.append(template[start:k])
        groups.append(group)
        start = end
        k = template.find("\\", start)
    texts.append(template[start:])
    return texts, groups


def _reference(pattern, template, k):
    """The number of the group that stands behind a backslash, and where it ends; -1 for anything else."""
    n = len(template)
    c = template[k:k + 1]
    group, end = -1, k + 1
    if "1" <= c <= "9":
        if not "0" <= template[end:end + 1] <= "9":
            group = ord(c) - 48
    elif template[k:k + 2] == "g<":
        end = template.find(">", k)
        name = template[k + 2:end]
        if "0" <= name <= "9" and len(name) == 1:
            group = ord(name) - 48
        elif end > 0:
            group = _by_name(pattern, name)
        end += 1
    return (group, end) if group <= len(pattern._tierup_shape_) else (-1, n)


def _expanded(pattern, texts, groups, string, count):
    """A text with matches replaced by their groups and what stands between them."""
    parts = []
    n = end = 0
    m = _found(pattern, 1, string, 0, _END)
    while m is not None and (count == 0 or n < count):
        parts.append(string[end:m._places[0]])
        for k in range(len(groups)):
            parts.append(texts[k])
            start = m._places[2 * groups[k]]
            if start >= 0:
                parts.append(string[start:m._places[2 * groups[k] + 1]])
        parts.append(texts[-1])
        end = m._places[1]
        n += 1
        m = _next(m)
    parts.append(string[end:])
    return "".join(parts), n


def _replaced(pattern, repl, string, count):
    parts = []
    n = end = 0
    m = _found(pattern, 1, string, 0, _END)
    while m is not None and (count == 0 or n < count):
        parts.append(string[end:m._places[0]])
        x = repl(m)
        if x is not None:
            parts.append(x)
        end = m._places[1]
        n += 1
        m = _next(m)
    parts.append(string[end:])
    return string[:0].join(parts), n


# ---------------------------------------------------------------- functions of the module

def compile(pattern, flags=0):
    if isinstance(pattern, Pattern):
        if flags != 0:
            raise ValueError("cannot process flags argument with a compiled pattern")
        return pattern
    known, shape = re._known(pattern, flags)()
    return Pattern(pattern, _flags(pattern, flags) if known < 0 else known, shape)


def match(pattern, string, flags=0):
    return compile(pattern, flags).match(string)


def search(pattern, string, flags=0):
    return compile(pattern, flags).search(string)


def fullmatch(pattern, string, flags=0):
    return compile(pattern, flags).fullmatch(string)


def findall(pattern, string, flags=0):
    return compile(pattern, flags).findall(string)


def finditer(pattern, string, flags=0):
    return compile(pattern, flags).finditer(string)


def split(pattern, string, maxsplit=0, flags=0):
    return compile(pattern, flags).split(string, maxsplit)


def sub(pattern, repl, string, count=0, flags=0):
    return compile(pattern, flags).sub(repl, string, count)


def subn(pattern, repl, string, count=0, flags=0):
    return compile(pattern, flags).subn(repl, string, count)


def escape(pattern):
    if isinstance(pattern, str):
        return _escape_text(pattern)
    return _escape_bytes(pattern)
