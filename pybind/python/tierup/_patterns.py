"""Patterns of `re` in terms of automata, for the run-time's own engine. Python parses them and says which characters each of their parts matches, so no meaning is written down twice: what is not the
same by construction has no program, and Python's engine keeps it."""

import re
from re import _compiler, _constants, _parser

# What the numbers of a program mean (`runtime/src/regexes/program.rs`).
SET, CONCAT, BRANCH, REPEAT, GROUP, LOOK = range(6)
START, END, START_OF_LINE, END_OF_LINE, END_OR_NEWLINE, ASCII_WORD, NOT_ASCII_WORD, WORD, NOT_WORD = range(9)
ENDLESS = -1

_TYPES = re.ASCII | re.LOCALE | re.UNICODE
_SINGLE = {_constants.LITERAL, _constants.NOT_LITERAL, _constants.ANY, _constants.IN}
_REPEATS = {_constants.MAX_REPEAT: 1, _constants.MIN_REPEAT: 0}
_BYTES = bytes(range(256))
_CHARACTERS = "".join(map(chr, _BYTES))


class _OnlyPython(Exception):
    """A part that automata do not have, or have otherwise."""


def program(pattern, flags):
    """The number of groups and the numbers of a program for texts whose characters have one byte; None of a pattern that has none."""
    try:
        parsed = _parser.parse(pattern, flags)
        flags = parsed.state.flags
        if flags & (re.LOCALE | re.DEBUG):
            return None
        return [parsed.state.groups - 1, *_Program(isinstance(pattern, bytes)).sequence(parsed, flags)]
    except (_OnlyPython, re.error, RecursionError):
        return None


class _Program:
    def __init__(self, of_bytes):
        self.of_bytes = of_bytes

    def sequence(self, items, flags):
        return [CONCAT, len(items), *[x for op, what in items for x in self.part(op, what, flags)]]

    def part(self, op, what, flags):
        if op in _SINGLE:
            return [SET, *self.characters((op, what), flags)]
        if op is _constants.BRANCH:
            return [BRANCH, len(what[1]), *[x for one in what[1] for x in self.sequence(one, flags)]]
        if op in _REPEATS:
            return self.repeat(op, what, flags)
        if op is _constants.SUBPATTERN:
            group, added, removed, inner = what
            if added & _TYPES:
                flags &= ~_TYPES
            inner = self.sequence(inner, (flags | added) & ~removed)
            return inner if group is None else [GROUP, group, *inner]
        if op is _constants.AT:
            return [LOOK, self.place(what, flags)]
        # Assertions, references to groups, atomic groups and what comes with later versions.
        raise _OnlyPython

    def repeat(self, op, what, flags):
        least, most, inner = what
        # What matches nothing again and again ends in each engine by its own rule, and so does which turn of a repetition a group keeps.
        if most != 1 and (inner.getwidth()[0] == 0 or _has_groups(inner)):
            raise _OnlyPython
        return [REPEAT, least, ENDLESS if most is _constants.MAXREPEAT else most, _REPEATS[op], *self.sequence(inner, flags)]

    def place(self, where, flags):
        lines = flags & re.MULTILINE
        ascii_only = self.of_bytes or flags & re.ASCII
        return {
            _constants.AT_BEGINNING: START_OF_LINE if lines else START,
            _constants.AT_BEGINNING_STRING: START,
            _constants.AT_END: END_OF_LINE if lines else END_OR_NEWLINE,
            _constants.AT_END_STRING: END,
            _constants.AT_BOUNDARY: ASCII_WORD if ascii_only else WORD,
            _constants.AT_NON_BOUNDARY: NOT_ASCII_WORD if ascii_only else NOT_WORD,
        }[where]

    def characters(self, part, flags):
        """The characters that a part matches, as Python says: four words of a set of 256."""
        state = _parser.State()
        state.flags = flags
        matched = _compiler.compile(_parser.SubPattern(state, [part]), flags).findall(_BYTES if self.of_bytes else _CHARACTERS)
        words = [0] * 4
        for c in map(ord, matched):
            words[c // 64] |= 1 << c % 64
        return [w - (w >> 63 << 64) for w in words]


def _has_groups(items):
    """Whether a group is among what the parser gives, which nests tuples, lists and parts of patterns."""
    if isinstance(items, tuple) and items and items[0] is _constants.SUBPATTERN and items[1][0] is not None:
        return True
    return isinstance(items, (tuple, list, _parser.SubPattern)) and any(map(_has_groups, items))
