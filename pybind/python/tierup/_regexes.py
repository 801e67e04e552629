"""What is known of a pattern of `re` when a function is compiled, and functions that have Python find all of its matches."""

import collections
import functools
import re
from re import _constants, _parser

from ._calls import made, python_caller


def shape(compiled):
    """A member for each group of a pattern: `()` for one that is set in every match, None for any other. Where groups have names, fields say them."""
    sure = [False] * (compiled.groups + 1)
    try:
        _find_sure(_parser.parse(compiled.pattern, compiled.flags & ~re.DEBUG), sure)
    except Exception:
        sure = [False] * len(sure)
    members = [() if s else None for s in sure[1:]]
    if not compiled.groupindex:
        return tuple(members)
    names = {k: name for name, k in compiled.groupindex.items()}
    return _named(tuple(f"group_{names[k]}" if k in names else f"other_{k}" for k in range(1, len(sure))))(*members)


@functools.cache
def _named(fields):
    return collections.namedtuple("Shape", fields)


def _find_sure(items, sure):
    """Marks the groups that stand one behind or inside the other: no alternative, repetition or assertion is around them."""
    for op, what in items:
        if op is _constants.SUBPATTERN:
            group, inner = what[0], what[-1]
            if group is not None:
                sure[group] = True
            _find_sure(inner, sure)


def _function(flags, found):
    return made("def known():\n    return flags, found", "known", {"flags": flags, "found": found})


@functools.cache
def unknown():
    """Of a pattern that is not known."""
    return _function(-1, None)


@functools.lru_cache(512, typed=True)
def known(pattern, flags):
    """The function that gives flags and shape of a pattern. One that is none is as if it were not known: Python says so where it is used."""
    if flags & re.DEBUG:
        raise ValueError("re.DEBUG is not compiled: it prints")
    try:
        compiled = re.compile(pattern, flags)
    except Exception:
        return unknown()
    return _function(compiled.flags, shape(compiled))


# ---------------------------------------------------------------- calls of Python

# What `re` itself keeps is behind a function of Python's.
_compiled = functools.lru_cache(512)(re.compile)


def _findall(pattern, flags, string, pos, endpos):
    return _compiled(pattern, flags).findall(string, pos, endpos)


def _split(pattern, flags, string, maxsplit):
    return _compiled(pattern, flags).split(string, maxsplit)


def _subn(pattern, flags, repl, string, count):
    return _compiled(pattern, flags).subn(repl, string, count)


def _expand(pattern, flags, template, string, pos, endpos, regs):
    return match(_compiled(pattern, flags), string, pos, endpos, regs).expand(template)


def _flags(pattern, flags):
    return _compiled(pattern, flags).flags


def _names(pattern, flags):
    """The groups of a pattern by name."""
    return dict(_compiled(pattern, flags).groupindex)


def match(pattern, string, pos, endpos, regs):
    """The match with these places."""
    for find in (pattern.match, pattern.search, pattern.fullmatch):
        found = find(string, pos, endpos)
        if found is not None and found.regs == regs:
            return found
    for found in pattern.finditer(string, pos, endpos):
        if found.regs == regs:
            return found
    raise RuntimeError("there is no such match")


@functools.cache
def all_of(sure, of_bytes, split):
    """The function that has Python find all matches of a pattern with such groups, or split a text by them."""
    text = "bytes" if of_bytes else "str"
    if split:
        return python_caller(_split, "pattern, flags, string, maxsplit", f"list({text})" if all(sure) else f"list(optional({text}))")
    return python_caller(_findall, "pattern, flags, string, pos, endpos", f"list({text})" if len(sure) < 2 else f"list(tuple({', '.join([text] * len(sure))}))")


def _findall_texts(pattern, flags, string, pos, endpos):
    compiled = _compiled(pattern, flags)
    return compiled.findall(string, pos, endpos) if compiled.groups < 2 else None


def _split_texts(pattern, flags, string, maxsplit):
    compiled = _compiled(pattern, flags)
    return compiled.split(string, maxsplit) if compiled.groups == 0 else None


@functools.cache
def all_of_unknown(of_bytes, split):
    """The same of a pattern that is not known: None where it has more groups than lists of texts can say."""
    text = f"optional(list({'bytes' if of_bytes else 'str'}))"
    if split:
        return python_caller(_split_texts, "pattern, flags, string, maxsplit", text)
    return python_caller(_findall_texts, "pattern, flags, string, pos, endpos", text)


@functools.cache
def callers(text):
    """The functions that call Python, of patterns of str or bytes."""
    return {
        "flags": python_caller(_flags, "pattern, flags", "int"),
        "names": python_caller(_names, "pattern, flags", "dict(str, int)"),
        "subn": python_caller(_subn, "pattern, flags, repl, string, count", f"tuple({text}, int)"),
        "expand": python_caller(_expand, "pattern, flags, template, string, pos, endpos, regs", text),
        "escape": python_caller(re.escape, "pattern", text),
    }
