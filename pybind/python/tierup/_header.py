"""C headers for callbacks: `f.header()` of a `cfunc`, and `python -m tierup header MODULE`.

A callback is no symbol that a linker finds, but an address that a program is given. So a header has a type for a pointer to each function, and a `struct` for each type of
records that it reads by name; what C makes of it is checked by the C compiler (`_Static_assert`).
"""

import argparse
import importlib
import keyword
import os
import sys

import numpy as np

from . import types
from ._cfunc import CFunc

_KEYWORDS = frozenset("""
    alignas alignof auto bool break case catch char class const constexpr continue default delete do double else enum explicit export extern false float for friend goto if inline
    int long mutable namespace new nullptr operator private protected public register restrict return short signed sizeof static struct switch template this throw true try typedef
    typename typeof union unsigned using virtual void volatile wchar_t while and or not xor
""".split())

# NumPy's kinds with the bytes of an element.
_NUMBERS = {"b1": "bool", "f4": "float", "f8": "double", "c8": "struct tierup_complex64", "c16": "struct tierup_complex128", "M8": "int64_t", "m8": "int64_t", "f2": "uint16_t"}
_NUMBERS |= {f"{k}{n}": f"{'u' * (k == 'u')}int{8 * n}_t" for k in "iu" for n in (1, 2, 4, 8)}

_COMPLEX = {"struct tierup_complex64": "struct tierup_complex64 { float real, imag; };", "struct tierup_complex128": "struct tierup_complex128 { double real, imag; };"}


def _number(dtype):
    """C's type for a dtype; None where it is of another kind."""
    return _NUMBERS.get(f"{dtype.kind}{dtype.itemsize}")


def _name(name, what):
    """A name as C may have it. ValueError for one that it cannot have."""
    if not (name.isidentifier() and name.isascii()):
        raise ValueError(f"{what} {name!r} has no name that C could have")
    return name + "_" if name in _KEYWORDS else name


class Header:
    """What is written into one header."""

    def __init__(self):
        self.structs, self.functions, self.complex = {}, [], set()

    def _plain(self, dtype):
        found = _number(dtype)
        if found in _COMPLEX:
            self.complex.add(found)
        return found

    def of_type(self, t):
        """C's type of an argument or a result."""
        if t == types.void:
            return "void"
        if isinstance(t, types.RawPointer):
            return "void *"
        if isinstance(t, types.CPointer):
            return f"{self.of_type(t.dtype)} *"
        return self._plain(types.as_dtype(t))

    def add_struct(self, name, dtype):
        """Defines `struct NAME` for records. ValueError for what C has no form for, and for two of one name."""
        name = _name(name, "a record")
        if name in self.structs:
            if self.structs[name][0] != dtype:
                raise ValueError(f"two records are called {name!r}")
            return
        rows, at, widest, packed = [], 0, 1, False
        for field, (of, offset) in sorted(((n, dtype.fields[n][:2]) for n in dtype.names), key=lambda one: one[1][1]):
            if offset < at:
                raise ValueError(f"fields of {name!r} overlap at {field!r}")
            text, width = self._field(name, field, of)
            if offset > at:
                rows.append((f"unsigned char _pad{at}[{offset - at}];", None, 0))
            packed |= offset % width != 0
            widest = max(widest, width)
            rows.append((text, _name(field, "the field"), offset))
            at = offset + of.itemsize
        if dtype.itemsize > at:
            rows.append((f"unsigned char _pad{at}[{dtype.itemsize - at}];", None, 0))
        packed |= dtype.itemsize % widest != 0
        self.structs[name] = dtype, rows, packed

    def _field(self, name, field, of):
        """The declaration of a field, and what its address is a multiple of in C."""
        base, shape = of.subdtype or (of, ())
        called = _name(field, "the field")
        if not base.isnative:
            raise ValueError(f"the field {field!r} of {name!r} has its bytes in the other order, for which C has no type")
        if base.names:
            self.add_struct(f"{name}_{field}", base)
            _, rows, packed = self.structs[_name(f"{name}_{field}", "a record")]
            element, width, within = f"struct {name}_{field}", 1 if packed else self._width(base), ""
        elif base.kind in "SVU":
            element, width, count = {"S": ("char", 1, base.itemsize), "V": ("unsigned char", 1, base.itemsize), "U": ("uint32_t", 4, base.itemsize // 4)}[base.kind]
            within = f"[{count}]"
        elif plain := self._plain(base):
            element, width, within = plain, base.itemsize // (2 if base.kind == "c" else 1), ""
        else:
            raise ValueError(f"the field {field!r} of {name!r} has the dtype {base}, for which C has no type")
        return f"{element} {called}{''.join(f'[{n}]' for n in shape)}{within};", width

    def _width(self, dtype):
        """What the address of a record is a multiple of in C."""
        widths = [1]
        for of, *_ in dtype.fields.values():
            base, _ = of.subdtype or (of, ())
            widths.append(self._width(base) if base.names else {"S": 1, "V": 1, "U": 4}.get(base.kind) or base.itemsize // (2 if base.kind == "c" else 1))
        return max(widths)

    def add(self, name, f):
        """Declares a type for pointers to a callback, and the records that it reads by name."""
        for called, dtype in _records(f.py_func):
            self.add_struct(called, dtype)
        parameters = [_name(n, "the parameter") for n in f.py_func.__code__.co_varnames[:len(f._args)]]
        given = ", ".join(f"{self.of_type(t)} {n}".replace("* ", "*") for t, n in zip(f._args, parameters, strict=True))
        text = f"typedef {self.of_type(f._ret)} (*{_name(name, 'the function')}_fn)({given or 'void'});"
        said = (f.__doc__ or "").strip().splitlines()[:1]
        note = f"/* {name}: {f._sig}{'. ' + said[0] if said else ''} */".replace("\n", " ")
        self.functions.append(note[:2] + note[2:-2].replace("*/", "* /") + note[-2:] + "\n" + text)

    def text(self, guard):
        parts = ["/* Written by Tierup: what it describes is changed in Python. */", f"#ifndef {guard}\n#define {guard}", "#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>",
                 "#ifdef __cplusplus\n#define TIERUP_CHECK static_assert\nextern \"C\" {\n#else\n#define TIERUP_CHECK _Static_assert\n#endif"]
        parts += [_COMPLEX[c] for c in sorted(self.complex)]
        for name, (dtype, rows, packed) in self.structs.items():
            body = "".join(f"    {row}\n" for row, _, _ in rows)
            checks = [f'TIERUP_CHECK(sizeof(struct {name}) == {dtype.itemsize}, "{name}");']
            checks += [f'TIERUP_CHECK(offsetof(struct {name}, {field}) == {offset}, "{name}.{field}");' for _, field, offset in rows if field]
            text = f"struct {name} {{\n{body}}};"
            parts.append((f"#pragma pack(push, 1)\n{text}\n#pragma pack(pop)" if packed else text) + "\n" + "\n".join(checks))
        parts += self.functions
        parts.append("#undef TIERUP_CHECK\n#ifdef __cplusplus\n}\n#endif\n#endif")
        return "\n\n".join(parts) + "\n"


def _record(value):
    """The dtype of records that an object stands for; None where it does not."""
    if isinstance(value, types.Record):
        return value.dtype
    return value if isinstance(value, np.dtype) and value.names else None


def _records(function):
    """(name, dtype) of the types of records that a function reads from globals and from around it."""
    from ._fingerprint import names_in
    code, space = function.__code__, function.__globals__
    seen = {n: space[n] for n in sorted(names_in(code) & space.keys())}
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
        try:
            seen[name] = cell.cell_contents
        except ValueError:
            pass
    return [(name, dtype) for name, value in seen.items() if (dtype := _record(value)) is not None]


def _guard(name):
    return "".join(c if c.isalnum() and c.isascii() else "_" for c in name).upper() + "_H"


def of_function(f):
    """The header of one callback."""
    header = Header()
    header.add(f.__name__, f)
    return header.text(_guard(f.__name__))


def of_module(module):
    """The header of all callbacks and types of records that a module has under public names."""
    header, seen = Header(), []
    public = {n: v for n, v in vars(module).items() if not n.startswith("_") and not keyword.iskeyword(n)}
    for name, value in public.items():
        if (dtype := _record(value)) is not None:
            header.add_struct(name, dtype)
    for name, value in public.items():
        if isinstance(value, CFunc):
            header.add(name, value)
            seen.append(name)
    return header.text(_guard(module.__name__)), seen


def main(args):
    """Ends with 1 where a module has no callbacks or one that C has no form for, with 2 where there is no such module."""
    parser = argparse.ArgumentParser("python -m tierup header", description="Prints a C header for the cfuncs of a module: types of pointers to them, and of their records.")
    parser.add_argument("module", help="a module that can be imported")
    parser.add_argument("-o", "--output", metavar="FILE", help="writes it there")
    options = parser.parse_args(args)
    sys.path.insert(0, os.getcwd())
    try:
        module = importlib.import_module(options.module)
    except ModuleNotFoundError as e:
        if e.name is None or not (options.module + ".").startswith(e.name + "."):
            raise
        print(f"header: there is no module {options.module}", file=sys.stderr)
        return 2
    try:
        text, seen = of_module(module)
    except ValueError as e:
        print(f"header: {e}", file=sys.stderr)
        return 1
    if not seen:
        print(f"header: {options.module} has no function that is decorated with cfunc", file=sys.stderr)
        return 1
    if options.output is None:
        print(text, end="")
    else:
        with open(options.output, "w", encoding="utf-8") as f:
            f.write(text)
    return 0
