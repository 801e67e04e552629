"""Records code objects of any CPython from 3.11 on, in the text form that core/src/bytecode/recorded.rs reads.

Usage: dump_bytecode.py FILE.py … > FILE.raw     every function of the files
       dump_bytecode.py --whole PATH … > ALL.raw modules and classes too; folders stand for the modules in them
       dump_bytecode.py --opcodes > opcodes.txt  the instruction set of this Python

What is recorded are the attributes of code objects as they stand, and of the instructions a checksum of what `dis`
says about them, so that a recording checks the decoder.
"""

import dis
import opcode
import os
import sys
import types
import zlib


def quote(text):
    out = []
    for ch in text:
        if ch in '"\\':
            out.append("\\" + ch)
        elif ch == "\n":
            out.append("\\n")
        elif ord(ch) < 32 or ord(ch) == 127:
            out.append("\\u{%x}" % ord(ch))
        elif 0xD800 <= ord(ch) < 0xE000:
            out.append("\ufffd")
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


def dump_constant(value, indent):
    pad = " " * indent
    slices = isinstance(value, tuple) and any(isinstance(m, (slice, tuple)) for m in value) and constant(value) is None
    if isinstance(value, types.CodeType):
        dump(value, indent)
    elif isinstance(value, slice) and constant((value.start, value.stop, value.step)) is not None:
        print(f"{pad}slice {constant((value.start, value.stop, value.step))}")
    elif slices and all(constant(m) is not None or isinstance(m, (slice, tuple)) for m in value):
        print(f"{pad}index")
        for member in value:
            dump_constant(member, indent + 2)
        print(f"{pad}end")
    elif constant(value) is None:
        print(f"{pad}unsupported {quote('a constant of type ' + type(value).__name__)}")
    else:
        print(f"{pad}const {constant(value)}")


def listing(code):
    """What `dis` says: of each instruction the offset, number, argument, offset of the jump's target and place; of each protected range its ends, handler and depth."""
    out = []
    for inst in dis.get_instructions(code):
        if inst.opname == "CACHE":
            continue
        # END_ASYNC_FOR names the instruction of which it is the handler: it does not jump there.
        jumps = (inst.opcode in dis.hasjrel or inst.opcode in dis.hasjabs) and inst.opname != "END_ASYNC_FOR"
        target = inst.argval if jumps else "-"
        at = inst.positions
        line, col = at.lineno or 0, at.col_offset or 0
        end = (at.end_col_offset or 0) if at.end_lineno == at.lineno else 0
        out.append(f"{inst.offset} {inst.opcode} {inst.arg or 0} {target} {line}:{col}-{end}\n")
    for entry in dis._parse_exception_table(code):
        out.append(f"{entry.start}..{entry.end} {entry.target} {entry.depth} {int(entry.lasti)}\n")
    return "".join(out)


def dump(code, indent=0):
    pad = " " * indent
    print(f"{pad}code {quote(code.co_name)} {quote(code.co_qualname)} {quote(code.co_filename)} {code.co_firstlineno}")
    print(f"{pad}  args {code.co_argcount} {code.co_posonlyargcount} {code.co_kwonlyargcount} flags {code.co_flags}")
    for what in ("varnames", "cellvars", "freevars", "names"):
        names = getattr(code, "co_" + what)
        if names:
            print(f"{pad}  {what} " + " ".join(quote(n) for n in names))
    for value in code.co_consts:
        dump_constant(value, indent + 2)
    checksum = zlib.crc32(listing(code).encode())
    tables = (code.co_code, code.co_linetable, code.co_exceptiontable)
    print(f"{pad}  raw " + " ".join('"' + t.hex() + '"' for t in tables) + f" {checksum}")
    print(f"{pad}end")


def functions(module):
    """Code objects of the module's functions; methods too."""
    for value in module.co_consts:
        if isinstance(value, types.CodeType):
            if value.co_flags & 2:
                yield value
            else:
                yield from functions(value)


def files(path):
    if not os.path.isdir(path):
        return [path]
    found = []
    for folder, _, names in os.walk(path):
        found += [os.path.join(folder, n) for n in names if n.endswith(".py")]
    return sorted(path for path in found if os.path.isfile(path))


def opcodes():
    """Instructions with their numbers and inline caches, then operators and helper functions by argument. Specialised and instrumented instructions do not occur in `co_code`, pseudo-instructions in no code object."""
    caches = opcode._inline_cache_entries
    for name, number in sorted(opcode.opmap.items(), key=lambda item: item[1]):
        if number < 256 and not name.startswith("INSTRUMENTED_"):
            count = caches[number] if isinstance(caches, list) else caches.get(name, 0)
            print("opcode", number, name, count)
    for kind in ("_nb_ops", "_intrinsic_1_descs", "_intrinsic_2_descs", "_common_constants", "_special_method_names"):
        for index, what in enumerate(getattr(opcode, kind, ())):
            what = what[0] if isinstance(what, tuple) else getattr(what, "__name__", repr(what) if not isinstance(what, str) else what)
            print(kind.strip("_"), index, what)


def main(args):
    sys.stdout.reconfigure(encoding="utf-8", newline="\n")
    version = "python %d.%d" % sys.version_info[:2]
    if args == ["--opcodes"]:
        print(version)
        return opcodes()
    whole = args[:1] == ["--whole"]
    paths = args[whole:]
    if not paths or sys.version_info < (3, 11):
        sys.exit(__doc__)
    print(version)
    for path in (file for p in paths for file in files(p)):
        with open(path, "rb") as file:
            source = file.read()
        name = path if whole else os.path.basename(path)
        try:
            module = compile(source, name, "exec", dont_inherit=True)
        except (SyntaxError, ValueError) as e:
            if not whole:
                raise
            print(f"skipped {path}: {e}", file=sys.stderr)
            continue
        for code in [module] if whole else functions(module):
            dump(code)


main(sys.argv[1:])
