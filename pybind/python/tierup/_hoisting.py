"""What is evaluated before a loop that is cut out of a function (`_lifting`): what it only reads of objects that compiled code may not be able to hold, and what it iterates over.

A loop that reads `self.rate` and `self.grid` takes a number and an array, not `self`; `for i in range(settings["n"])` takes no `settings`. Compiled code runs no Python code,
so what the loop does not set itself stays as it was read before it. Only plain reads move: of values in an object's or a class's dictionary, in slots, and in dicts, where
reading runs no code of the program.
"""

import ast
import copy
import types

from ._again import OWN, plain

# Functions that make an iterable of others; they are better compiled than called before the loop.
_ITERABLES = ("range", "enumerate", "zip", "reversed")
# Attributes of arrays and numbers: what has them is passed itself.
_OF_ARRAYS = {"shape", "size", "ndim", "dtype", "T", "flat", "real", "imag", "strides", "itemsize", "nbytes", "flags", "base"}
# Methods whose results compiled code iterates over and Python could not hand to it.
_VIEWS = {"items", "keys", "values"}


def hoisted(s, prefix, local, stores):
    """(the loop without them, [(variable, expression)] that it iterates over, [(variable, name, path)] that are read); None where it has none. `prefix` begins the names of the
    variables, `local` are variables of the function, `stores` those that the loop sets."""
    new = copy.deepcopy(s)
    # What a function of the program does to objects is not seen here.
    calls = {n.func.id for n in ast.walk(s) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}
    reads = _Reads(new, local - stores if calls <= OWN - local else set(), prefix)
    evaluated = _header(new, s, prefix) if isinstance(s, ast.For) else []
    new = reads.replaced(new)
    return (new, evaluated, reads.found(new)) if evaluated or reads.names else None


def _header(new, s, prefix):
    """Takes what a loop iterates over out of it, argument by argument."""
    found = []

    def put(e, of):
        if _is_simple(of) or isinstance(of, ast.Call) and isinstance(of.func, ast.Attribute) and of.func.attr in _VIEWS and not of.args:
            return e
        found.append((f"{prefix}in{len(found)}", of))
        return ast.copy_location(ast.Name(found[-1][0], ast.Load()), of)

    e = s.iter
    if isinstance(e, ast.Call) and isinstance(e.func, ast.Name) and e.func.id in _ITERABLES and not e.keywords and not any(isinstance(a, ast.Starred) for a in e.args):
        new.iter.args = [put(*pair) for pair in zip(new.iter.args, e.args)]
    else:
        new.iter = put(new.iter, e)
    return found


def _is_simple(e):
    """Whether an expression has but numbers and variables, what is computed of them, and what variables read of objects."""
    if isinstance(e, ast.Call):
        return isinstance(e.func, ast.Name) and e.func.id in (*_ITERABLES, "len", "min", "max", "abs") and not e.keywords and all(map(_is_simple, e.args))
    if isinstance(e, (ast.Attribute, ast.Subscript)):
        return _chain(e) is not None
    below = [n for n in ast.iter_child_nodes(e) if isinstance(n, ast.expr)]
    return isinstance(e, (ast.Name, ast.Constant, ast.BinOp, ast.UnaryOp, ast.Tuple, ast.List)) and all(map(_is_simple, below))


def _chain(e):
    """(name, path) of `name.attribute["key"]` and its like; None for anything else."""
    path = []
    while not isinstance(e, ast.Name):
        if isinstance(e, ast.Attribute) and isinstance(e.ctx, ast.Load) and e.attr not in _OF_ARRAYS and not e.attr.startswith("__"):
            path.append(("attribute", e.attr))
        elif isinstance(e, ast.Subscript) and isinstance(e.ctx, ast.Load) and isinstance(e.slice, ast.Constant) and isinstance(e.slice.value, str):
            path.append(("item", e.slice.value))
        else:
            return None
        e = e.value
    return e.id, tuple(reversed(path))


class _Reads:
    """What a loop reads of objects. `names` maps what is read, (name, path), to the variable that stands for it."""

    def __init__(self, s, bases, prefix):
        hidden = {n.id for c in ast.walk(s) if isinstance(c, ast.comprehension) for n in ast.walk(c.target) if isinstance(n, ast.Name)}
        hidden |= {a.arg for a in ast.walk(s) if isinstance(a, ast.arg)}
        self.used, self.set = {}, set()
        self._look(s)
        self.names = {}
        for base, paths in self.used.items():
            if base in bases - hidden:
                for path in self._cut(paths, ()):
                    self.names[base, path] = f"{prefix}{len(self.names)}"

    def _look(self, node):
        if isinstance(node, ast.expr) and (found := _chain(node)) is not None:
            self.used.setdefault(found[0], []).append(found[1])
            return
        if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
            self.set.add(("attribute", node.attr))
        if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load) and isinstance(node.slice, ast.Constant):
            self.set.add(("item", node.slice.value))
        for child in ast.iter_child_nodes(node):
            # The method of a call is no value that is read.
            if isinstance(node, ast.Call) and child is node.func and isinstance(child, ast.Attribute):
                self._look(child.value)
            else:
                self._look(child)

    def _cut(self, paths, before):
        """Where reading stops: at what the loop uses itself."""
        if any(len(p) == len(before) for p in paths) or any(p[len(before)] in self.set for p in paths):
            return [before] if before else []
        cuts = []
        for step in dict.fromkeys(p[len(before)] for p in paths):
            cuts += self._cut([p for p in paths if p[len(before)] == step], (*before, step))
        return cuts

    def replaced(self, node):
        """The loop with variables for what is read."""
        if isinstance(node, ast.expr) and (found := _chain(node)) is not None and (name := self.names.get(found)):
            return ast.copy_location(ast.Name(name, ast.Load()), node)
        for field, old in ast.iter_fields(node):
            if isinstance(old, list):
                setattr(node, field, [self.replaced(n) if isinstance(n, ast.AST) else n for n in old])
            elif isinstance(old, ast.AST):
                setattr(node, field, self.replaced(old))
        return node

    def found(self, node):
        """(variable, name, path) of what is read in the loop as it is now."""
        used = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
        return [(variable, *read) for read, variable in self.names.items() if variable in used]


# ---------------------------------------------------------------- when the function runs

_MISSING = object()


def read(passed, *wanted):
    """Values for pairs of an object and a path, if all of them are plain reads and nothing that the loop is given beside them leads to objects, which could change what was read;
    else None."""
    values = []
    if not all(map(plain, passed)):
        return None
    for x, path in zip(wanted[::2], wanted[1::2]):
        for how, name in path:
            x = _attribute(x, name) if how == "attribute" else x.get(name, _MISSING) if type(x) is dict else _MISSING
            if x is _MISSING:
                return None
        # A generator of random numbers is one of NumPy's own.
        if not plain(x) and type(x).__module__ != "numpy.random._generator":
            return None
        values.append(x)
    return values


def _attribute(x, name):
    """An attribute whose reading runs no code of the program."""
    cls = type(x)
    if cls.__getattribute__ is not object.__getattribute__ and not isinstance(x, types.ModuleType):
        return _MISSING
    held = next((c.__dict__[name] for c in cls.__mro__ if name in c.__dict__), _MISSING)
    if isinstance(held, types.MemberDescriptorType):
        try:
            return held.__get__(x)
        except AttributeError:
            return _MISSING
    if held is not _MISSING and hasattr(type(held), "__set__"):
        return _MISSING
    own = getattr(x, "__dict__", None)
    if own is not None and name in own:
        return own[name]
    return _MISSING if hasattr(type(held), "__get__") else held
