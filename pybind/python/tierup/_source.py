"""Functions as syntax trees: the tree of one from its source, which is compared with its code, and the code of a tree that was changed. Loaded at the first use, so it loads little itself.
"""

import ast
import types

from ._lines import lines as lines_of

# In `code.co_flags`: `from __future__ import` this and that; code inside of a function.
_FUTURE = 0x1FE_0000
_NESTED = 0x10
# So many lines may belong to a function behind the last one that its code speaks of: ends of brackets and comments.
_MORE = 64


def definition(function):
    """The syntax tree of a function, with the lines of its file; None where there is no source or it is not what was loaded. Raises as `ast.parse` and `compile` do."""
    code = function.__code__
    lines, first = lines_of(code.co_filename, function.__globals__), code.co_firstlineno
    last = max(_last(code), first)
    if not 0 < first <= last <= len(lines):
        return None
    tree = _block(lines, first, last)
    indented = lines[first - 1][:1].isspace()
    node = tree.body[0].body[0] if indented else tree.body[0]
    if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) or node.name != code.co_name:
        return None
    ast.increment_lineno(node, first - 1 - indented)
    return node if _same(compiled(node, function, ()), code) else None


def _last(code):
    """The last line that code says something of."""
    ends = [end or 0 for _, end, *_ in code.co_positions()]
    starts = [line or 0 for *_, line in code.co_lines()]
    return max(*ends, *starts, 0, *(_last(c) for c in code.co_consts if isinstance(c, types.CodeType)))


def _block(lines, first, last):
    """What stands from the line `first` to `last`, and as much behind it as belongs to the last statement."""
    indented = lines[first - 1][:1].isspace()
    for end in range(last, len(lines) + 1):
        try:
            return ast.parse("".join((["if 1:\n"] if indented else []) + lines[first - 1:end]))
        except SyntaxError:
            if end >= min(last + _MORE, len(lines)):
                raise


def compiled(node, function, cells):
    """The code of a function's tree, which reads the variables `cells` beside those that the function itself reads from outside of it."""
    code = function.__code__
    wanted = node.name, (node.decorator_list or [node])[0].lineno
    outside = [name for name in code.co_freevars if name != "__class__"]
    path, body = code.co_qualname.split("."), [node]
    if len(path) > 1 and path[-2] != "<locals>":
        # Names that begin with two underscores are those of the class.
        owner = ast.parse("class C: pass").body[0]
        owner.name, owner.body = path[-2], [node]
        body = [owner]
    if body[0].name not in outside:
        # What it says of itself, or of its class, is said of the module's.
        body.insert(0, ast.Global([body[0].name]))
    around = ast.parse("def around(): pass").body[0]
    around.args.args = [ast.arg(arg=name, lineno=1, col_offset=0) for name in [*outside, *cells]]
    around.body = body
    module = ast.fix_missing_locations(ast.Module(body=[around], type_ignores=[]))
    whole = compile(module, code.co_filename, "exec", flags=code.co_flags & _FUTURE, dont_inherit=True)
    return _find(whole, *wanted)


def _find(code, name, line):
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            if const.co_name == name and const.co_firstlineno == line:
                return const
            if (found := _find(const, name, line)) is not None:
                return found
    return None


def _same(made, code):
    """Whether two pieces of code do the same: source may have changed since it was loaded, and import hooks may have changed what was loaded."""
    if made is None:
        return False
    facts = ("co_varnames", "co_cellvars", "co_freevars", "co_firstlineno")
    if any(getattr(made, f) != getattr(code, f) for f in facts) or (made.co_flags ^ code.co_flags) & ~_NESTED:
        return False
    if (made.co_code, made.co_names, made.co_exceptiontable) == (code.co_code, code.co_names, code.co_exceptiontable) and len(made.co_consts) == len(code.co_consts):
        return all(map(_alike, made.co_consts, code.co_consts))
    steps = [list(_steps(c)) for c in (made, code)]
    return len(steps[0]) == len(steps[1]) and all(a[0] == b[0] and _alike(a[1], b[1]) for a, b in zip(*steps, strict=True))


def _steps(code):
    """What code does, one instruction after the other. How a call finds its function depends on whether the module imports the name of it, which is seen only in the module."""
    import dis
    for i in dis.get_instructions(code):
        name = i.opname.replace("LOAD_METHOD", "LOAD_ATTR")
        if name not in ("PUSH_NULL", "EXTENDED_ARG", "NOP"):
            yield name, None if i.opcode in dis.hasjabs or i.opcode in dis.hasjrel else i.argval


def _alike(a, b):
    if isinstance(a, types.CodeType) and isinstance(b, types.CodeType):
        return _same(a, b)
    return type(a) is type(b) and repr(a) == repr(b)


def surrounded(code, function, cells, defaults=True):
    """A function with that code and the surroundings of another one, its defaults included where they are wanted."""
    around = dict(zip(function.__code__.co_freevars, function.__closure__ or ())) | cells
    code = code.replace(co_qualname=function.__code__.co_qualname)
    made = types.FunctionType(code, function.__globals__, function.__name__, function.__defaults__ if defaults else None, tuple(around[name] for name in code.co_freevars))
    made.__kwdefaults__ = function.__kwdefaults__ if defaults else None
    made.__module__, made.__qualname__, made.__doc__ = function.__module__, function.__qualname__, function.__doc__
    return made
