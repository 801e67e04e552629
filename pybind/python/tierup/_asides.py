"""Calls that Python makes for a loop that is cut out of a function (`_lifting`): `log.info("%d", i)`, `callback(i, s)`, `rows.append((i, name))`, whose results nobody reads. The loop is
compiled, and calls Python where such a call stands.

Only calls under a condition are taken: one at every turn costs more than a turn of a short loop in CPython. Each becomes a function of its own, which is given the variables that
the loop sets; all other variables are given when the loop is reached. Python may do anything in it but change what the loop works with: so the loop has no lists or objects of its
own, which would be copies, and reads no variables of modules.
"""

import ast
import builtins
import copy
import types

from . import _tierup
from ._again import plain
from ._liveness import loads, stores

_REFUSED = (ast.NamedExpr, ast.Yield, ast.YieldFrom, ast.Await, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Starred)


class Aside:
    """A call that was taken out: `handle` the variable of its number, `set_here` the variables that it reads and the loop sets, `given` those that are given before it, `node` the tree of
    its function, `stub` the name of what calls it."""

    def __init__(self, handle, stub, s, set_here, given, name):
        self.handle, self.stub, self.set_here, self.given = handle, stub, set_here, given
        self.first, self.last = s.lineno, s.end_lineno
        node = ast.parse("def f(): pass").body[0]
        node.name = name
        node.args.args = [ast.arg(arg=n) for n in (*given, *set_here)]
        node.body = [copy.deepcopy(s)]
        for n in (node, *node.args.args):
            ast.copy_location(n, s)
        self.node = ast.fix_missing_locations(node)


class _Taken(ast.NodeTransformer):
    """A loop without such calls: `asides` are what was taken."""

    def __init__(self, prefix, name, variables, set_here, known):
        self.prefix, self.name, self.variables, self.set_here, self.known = prefix, name, variables, set_here, known
        self.asides, self.depends, self.fits = [], False, True

    def _inside(self, s, depends):
        before, self.depends = self.depends, depends
        for field in ("body", "orelse", "finalbody", "handlers"):
            if isinstance(below := getattr(s, field, None), list):
                setattr(s, field, [self.visit(x) for x in below])
        self.depends = before
        return s

    def visit_For(self, s):
        return self._inside(s, False)

    def visit_If(self, s):
        return self._inside(s, True)

    def generic_visit(self, s):
        return self._inside(s, self.depends)

    visit_While = visit_For

    def visit_ExceptHandler(self, s):
        return self._inside(s, True)

    def visit_Expr(self, s):
        if not self.depends or not isinstance(s.value, ast.Call):
            return s
        names = loads(s)
        set_here, given = names & self.set_here, (names & self.variables) - self.set_here
        # A variable that may not be set yet: Python says so where it is read.
        if stores(s) or not given <= self.known or any(isinstance(n, _REFUSED) for n in ast.walk(s)):
            self.fits = False
            return s
        k = len(self.asides)
        aside = Aside(f"{self.prefix}{k}", f"{self.prefix}{k}.stub", s, sorted(set_here), sorted(given), self.name)
        self.asides.append(aside)
        call = ast.Call(ast.Name(aside.stub, ast.Load()), [ast.Name(n, ast.Load()) for n in (aside.handle, *aside.set_here)], [])
        return ast.fix_missing_locations(ast.copy_location(ast.Expr(ast.copy_location(call, s)), s))


def taken(s, prefix, name, variables, known):
    """(the loop without them, the asides); None where it has none. `prefix` begins the names of variables, `name` is the function's, `variables` are those of the function, `known` those that
    are surely set before the loop."""
    new = copy.deepcopy(s)
    take = _Taken(prefix, name, variables, stores(s), known)
    new = take.visit(new)
    return (new, take.asides) if take.asides and take.fits else None


def stub(count):
    """What compiled code calls with the number of a function and `count` values."""
    if count not in _stubs:
        from ._calls import made
        names = [f"x{k}" for k in range(count)]
        _stubs[count] = made(f"def aside({', '.join(['key', *names])}):\n    return np._python_call({', '.join(['key', repr('discard'), *names])})", "aside", {})
    return _stubs[count]


_stubs = {}


# ---------------------------------------------------------------- when the function runs

def hold(space, names, passed, *asides):
    """Numbers for pairs of a function and what it is given before the loop, until `drop`; None where Python could change what the loop works with: `passed`, and the `names` of its
    module that it reads."""
    if not all(map(_is_value, passed)) or not _are_fixed(space, names):
        return None
    return [_tierup.register_python(_bound(f, given)) for f, given in zip(asides[::2], asides[1::2])]


def drop(numbers):
    """Forgets them."""
    for n in numbers:
        _tierup.release_python(n)


def _bound(function, given):
    if not given:
        return function
    from functools import partial
    return partial(function, *given)


def _is_value(x):
    cls = type(x)
    return all(map(_is_value, x)) if cls is tuple else plain(x) and cls not in (list, set, dict, frozenset, bytearray) and cls.__module__ != "collections"


def _are_fixed(space, names, depth=4):
    """Whether names mean what nobody sets anew: builtins, modules, and functions that use nothing else."""
    return all(_is_fixed(space[n], depth) if n in space else n in builtins.__dict__ for n in names)


def _is_fixed(x, depth):
    function = getattr(x, "py_func", x)
    if not isinstance(function, types.FunctionType):
        return isinstance(x, (types.ModuleType, types.BuiltinFunctionType, type)) or type(x).__module__ == "numpy"
    code = function.__code__
    space = function.__globals__
    return depth > 0 and not function.__closure__ and _are_fixed(space, [n for n in code.co_names if n in space], depth - 1)
