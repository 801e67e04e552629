"""Prints every function of a Python file (or its raw tables) in the text form that core/src/bytecode/text.rs reads.

Usage: dump_bytecode.py FILE.py > FILE.bc          normalised bytecode
       dump_bytecode.py --raw FILE.py > FILE.raw   one line a function: qualname, then the raw tables in hexadecimal

Written against `dis`, not against the Rust decoder, so that the two check each other. Needs CPython 3.11.
"""

import dis
import sys
import types

SKIPPED = {"CACHE", "NOP", "COPY_FREE_VARS", "RESUME", "PRECALL", "EXTENDED_ARG"}


def quote(text):
    out = []
    for ch in text:
        if ch in '"\\':
            out.append("\\" + ch)
        elif ch == "\n":
            out.append("\\n")
        elif ord(ch) < 32 or ord(ch) == 127:
            out.append("\\u{%x}" % ord(ch))
        else:
            out.append(ch)
    return '"' + "".join(out) + '"'


def real(x):
    if x != x:
        return "NaN"
    return repr(x)


def constant(value):
    """Text of a constant, or None when compiled code cannot hold it."""
    if value is None or value is True or value is False:
        return repr(value)
    if value is ...:
        return "..."
    if isinstance(value, int):
        return repr(value) if -(2**63) <= value < 2**64 else None
    if isinstance(value, float):
        return real(value)
    if isinstance(value, complex):
        return f"complex({real(value.real)}, {real(value.imag)})"
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            return None
        return quote(value)
    if isinstance(value, (tuple, frozenset)):
        members = [constant(m) for m in value]
        return None if None in members else "(" + "".join(m + ", " for m in members) + ")"
    return None


def normalise(name):
    if name.startswith("JUMP_BACKWARD") or name == "JUMP_FORWARD":
        return "JUMP"
    return name.replace("POP_JUMP_FORWARD_", "POP_JUMP_").replace("POP_JUMP_BACKWARD_", "POP_JUMP_")


def instructions(code):
    """(offset, name, argument, positions, target offset or None) without what the compiler ignores."""
    for inst in dis.get_instructions(code):
        if inst.opname in SKIPPED:
            continue
        name, arg = normalise(inst.opname), inst.arg or 0
        target = inst.argval if inst.opcode in dis.hasjrel or inst.opcode in dis.hasjabs else None
        if name == "LOAD_GLOBAL":
            if arg & 1:
                yield inst.offset, "PUSH_NULL", 0, inst.positions, None
            arg >>= 1
        yield inst.offset, name, arg, inst.positions, target


def dump(code, indent=0):
    pad = " " * indent
    print(f"{pad}code {quote(code.co_name)} {quote(code.co_qualname)} {quote(code.co_filename)} {code.co_firstlineno}")
    print(f"{pad}  args {code.co_argcount} {code.co_posonlyargcount} {code.co_kwonlyargcount} flags {code.co_flags}")
    for what in ("varnames", "cellvars", "freevars", "names"):
        names = getattr(code, "co_" + what)
        if names:
            print(f"{pad}  {what} " + " ".join(quote(n) for n in names))
    for value in code.co_consts:
        if isinstance(value, types.CodeType):
            dump(value, indent + 2)
        elif constant(value) is None:
            print(f"{pad}  unsupported {quote('a constant of type ' + type(value).__name__)}")
        else:
            print(f"{pad}  const {constant(value)}")
    listing = list(instructions(code))
    offsets = [entry[0] for entry in listing]

    def index(offset):
        return next((i for i, o in enumerate(offsets) if o >= offset), len(offsets))

    for i, (_, name, arg, at, target) in enumerate(listing):
        line, col = at.lineno or 0, at.col_offset or 0
        end = (at.end_col_offset or 0) if at.end_lineno == at.lineno else 0
        print(f"{pad}  {i}: {name} {arg if target is None else index(target)} @{line}:{col}-{end}")
    for entry in dis._parse_exception_table(code):
        start, end = index(entry.start), index(entry.end)
        if start < end:
            lasti = " lasti" if entry.lasti else ""
            print(f"{pad}  except {start}..{end} -> {index(entry.target)} depth {entry.depth}{lasti}")
    print(f"{pad}end")


def raw(code):
    print(code.co_qualname, code.co_firstlineno, code.co_code.hex(), code.co_linetable.hex(), code.co_exceptiontable.hex() or "-")
    for value in code.co_consts:
        if isinstance(value, types.CodeType):
            raw(value)


def functions(module):
    """Code objects of the module's functions; methods too."""
    for value in module.co_consts:
        if isinstance(value, types.CodeType):
            if value.co_flags & 2:
                yield value
            else:
                yield from functions(value)


def main(args):
    show = dump
    if args[:1] == ["--raw"]:
        args, show = args[1:], raw
    if len(args) != 1 or sys.version_info[:2] != (3, 11):
        sys.exit(__doc__)
    path = args[0]
    with open(path, encoding="utf-8") as file:
        module = compile(file.read(), path.rsplit("/", 1)[-1], "exec")
    for code in functions(module):
        show(code)


main(sys.argv[1:])
