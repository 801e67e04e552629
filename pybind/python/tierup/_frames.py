"""Code objects that stand for a line of compiled code in tracebacks. Viewers of tracebacks, IPython's among them, read off a code object where its function begins, and show the source from there."""

import re

from ._lines import lines


def placed(code, line):
    """`code`, made for the line alone, as one of a function that begins further up; itself where no beginning is found."""
    first = _beginning(code.co_filename, code.co_name, line)
    return code if first is None else code.replace(co_firstlineno=first, co_linetable=_table(len(code.co_code) // 2, line - first))


def _beginning(path, name, line):
    """The line where the function begins that has this line in it, with its decorators."""
    if not name.isidentifier():
        return None
    source, head = lines(path), re.compile(rf"\s*(async\s+)?def\s+{name}\b")
    found = next((n for n in range(min(line, len(source)), 0, -1) if head.match(source[n - 1])), None)
    while found is not None and found > 1 and source[found - 2].lstrip().startswith("@"):
        found -= 1
    return found


def _table(units, delta):
    """Python's table of lines in which all instructions have one line, `delta` lines below the first: entries of up to eight units, without columns."""
    entry, table = 0x80 | 13 << 3, bytearray()
    while units > 0:
        n = min(units, 8)
        table += bytes([entry | n - 1]) + _number(delta << 1)
        units, delta = units - n, 0
    return bytes(table)


def _number(x):
    """Six bits a byte, the lowest first; all but the last have a mark."""
    found = bytearray()
    while x >= 64:
        found.append(64 | x & 63)
        x >>= 6
    found.append(x)
    return found
