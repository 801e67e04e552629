"""What can be run once more: code that has changed nothing but its own variables, read off its syntax. Compiled code raises where an integer outgrows its 64 bits; Python, whose
integers have no end, runs such code again from its beginning."""

import ast
import builtins
import collections
import types

# What it may call: functions that change nothing.
_HARMLESS = {"range", "len", "abs", "min", "max", "int", "float", "bool", "complex", "str", "round", "pow", "divmod", "sum", "enumerate", "zip", "reversed", "sorted", "ord", "chr", "tuple"}
_HARMLESS_MODULES = {"math", "cmath", "np", "numpy", "operator"}
# What makes something new, which may be changed while nobody else has it.
_MAKERS = {"list", "dict", "set", "bytearray", "deque", "defaultdict", "Counter", "zeros", "ones", "empty", "full", "array", "arange", "linspace", "zeros_like", "ones_like", "empty_like", "full_like"}
# Names that a function had better not have for variables of its own.
OWN = _HARMLESS | _MAKERS | _HARMLESS_MODULES


def can_run_again(nodes, fresh=frozenset(), itself=None):
    """Whether code that was left by an exception has changed nothing but its own variables and the objects in the variables `fresh`. `itself` is the name of its function."""
    return all(_is_harmless(n, fresh, itself) for top in nodes for n in ast.walk(top))


def _is_harmless(n, fresh, itself):
    if isinstance(n, (ast.Subscript, ast.Attribute)) and not isinstance(n.ctx, ast.Load):
        return isinstance(n, ast.Subscript) and isinstance(n.value, ast.Name) and n.value.id in fresh
    if isinstance(n, (ast.Global, ast.Nonlocal, ast.Yield, ast.YieldFrom, ast.Await, ast.Import, ast.ImportFrom, ast.With, ast.FunctionDef, ast.ClassDef, ast.Lambda)):
        return False
    if not isinstance(n, ast.Call):
        return True
    f = n.func
    if any(k.arg in ("out", None) for k in n.keywords):
        return False
    if isinstance(f, ast.Attribute) and isinstance(f.value, ast.Name):
        return f.value.id in _HARMLESS_MODULES and f.attr not in ("copyto", "put", "place", "seterr") or f.value.id in fresh
    return isinstance(f, ast.Name) and (f.id in _HARMLESS or f.id in _MAKERS or f.id == itself)


def changed_in_place(s):
    """Variables that `+=` and its like change in place if they are lists or arrays."""
    return {n.target.id for n in ast.walk(s) if isinstance(n, ast.AugAssign) and isinstance(n.target, ast.Name)}


def immutable(*values):
    """Whether `+=` gives new objects for all of these."""
    return all(isinstance(x, (int, float, complex, str, bytes, tuple, frozenset)) for x in values)


_PLAIN = {int, float, complex, bool, str, bytes, type(None), range, slice}
_HOLDERS = {list, tuple, set, frozenset, dict, collections.deque}


def plain(x):
    """Whether no code of the program stands behind what is done with a value: a number, a text, an array, or a container of such. Objects have operators and attributes of their own."""
    cls = type(x)
    if cls in _PLAIN or cls.__module__ == "numpy" and (cls.__name__ != "ndarray" or not x.dtype.hasobject):
        return True
    if cls not in _HOLDERS:
        return False
    inside = [*x, *x.values()] if cls is dict else x
    return set(map(type, inside)) <= _PLAIN or all(map(plain, inside))


def all_plain(values):
    """The same of all of these."""
    return all(map(plain, values))


def means_what_it_says(space, names):
    """Whether these names of a module are the builtins and modules that code with them was taken for, or plain values."""
    for name in names:
        x = space.get(name, builtins.__dict__.get(name))
        known = x is getattr(builtins, name, None) if name not in space else False
        if not (known or isinstance(x, types.ModuleType) and name in _HARMLESS_MODULES and x.__name__ in ("math", "cmath", "numpy", "operator") or getattr(collections, name, None) is x is not None or plain(x)):
            return False
    return True


def again(space, changed, read, names):
    """Whether a loop can be run once more: what it changes in place, what it reads, and the names of its module that it uses."""
    return immutable(*changed) and all(map(plain, read)) and means_what_it_says(space, names)


def _fresh(node):
    """Variables of a function that hold nothing but what was made in it."""
    given, other = {}, {a.arg for a in ast.walk(node.args) if isinstance(a, ast.arg)}
    for n in ast.walk(node):
        if isinstance(n, ast.Assign):
            for target in n.targets:
                _assign(target, n.value, given, other)
        elif isinstance(n, (ast.For, ast.comprehension, ast.NamedExpr)):
            _assign(n.target, None, given, other)
    return {name for name, values in given.items() if name not in other and all(map(_makes, values))}


def _assign(target, value, given, other):
    """Notes which variables an assignment sets: to an expression, or to what is not known."""
    if isinstance(target, ast.Name) and value is not None:
        given.setdefault(target.id, []).append(value)
    elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        for pair in zip(target.elts, value.elts):
            _assign(*pair, given, other)
    else:
        other |= {t.id for t in ast.walk(target) if isinstance(t, ast.Name) and isinstance(t.ctx, ast.Store)}


def _makes(e):
    if isinstance(e, ast.Call):
        name = e.func.attr if isinstance(e.func, ast.Attribute) and isinstance(e.func.value, ast.Name) and e.func.value.id in _HARMLESS_MODULES else getattr(e.func, "id", None)
        return name in _MAKERS
    if isinstance(e, ast.BinOp) and isinstance(e.op, ast.Mult):
        return _makes(e.left) or _makes(e.right)
    return isinstance(e, (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp))


def runs_again(function, args):
    """Whether a call of a function, with one argument for each parameter, has changed nothing that is seen outside of it when an exception left it."""
    from ._source import definition
    try:
        node = definition(function)
    except (SyntaxError, OSError, ValueError, RecursionError):
        return False
    if node is None or not can_run_again(node.body, _fresh(node), node.name):
        return False
    code = function.__code__
    changed = changed_in_place(node)
    local = {*code.co_varnames, *code.co_cellvars, *code.co_freevars, code.co_name}
    names = {n.id for n in ast.walk(ast.Module(node.body, [])) if isinstance(n, ast.Name)} - local
    around = [c.cell_contents for name, c in zip(code.co_freevars, function.__closure__ or ()) if name != code.co_name]
    own = {*code.co_varnames, *code.co_freevars} & OWN
    if own or not means_what_it_says(function.__globals__, names) or not all(map(plain, [*args, *around])):
        return False
    return all(immutable(x) for name, x in zip(code.co_varnames, args) if name in changed) and not changed & {*code.co_freevars}
