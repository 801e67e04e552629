"""Classes that are defined inside of a function. A class statement that uses nothing of the function's own runs once, when
the function is compiled, and what it makes takes its place. Loaded for the first function that has one."""

import ast
import builtins
import copy
import types

from . import _variables
from ._source import compiled, definition, surrounded

_CAPTURED = {"__class__", "__classdict__", "__classdictcell__"}
# Calls that make the same each time, decorators that do nothing else, and where metaclasses and `__init_subclass__` do nothing
# else either.
_NOTHING_NEW = {"auto", "field"}
_OF_CLASSES = {"dataclass", "total_ordering", "unique", "final", "runtime_checkable"}
_OF_METHODS = {"property", "staticmethod", "classmethod", "abstractmethod", "cached_property", "setter", "getter", "deleter", "override", "final"}
_KNOWN = {"builtins", "abc", "enum", "typing", "collections", "contextlib", "dataclasses", "numbers", "collections.abc"}
_NESTED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_EXPRESSIONS = (ast.Constant, ast.Tuple, ast.UnaryOp, ast.BinOp, ast.Compare, ast.keyword, ast.expr_context, ast.operator, ast.unaryop, ast.cmpop)


def expanded(function):
    """The function with its classes made; itself where one of them depends on more than on what is outside of it."""
    known = function.__dict__.get("_tierup_classes_")
    if known is None or known[0] is not function.__code__:
        known = function._tierup_classes_ = function.__code__, _expanded(function)
    return known[1]


def _expanded(function):
    try:
        node = definition(function)
    except (SyntaxError, ValueError):
        return function
    found = [] if node is None else [s for s in _within(node) if isinstance(s, ast.ClassDef)]
    names = [s.name for s in found]
    if not found or not all(_made_alone(s, node, function, names) for s in found):
        return function
    maker = copy.copy(node)
    maker.args, maker.decorator_list, maker.returns = ast.parse("def f(): pass").body[0].args, [], None
    given = ast.Return(ast.Tuple([ast.Name(name, ast.Load()) for name in names], ast.Load()))
    maker.body = [*found, ast.copy_location(given, found[-1])]
    code = compiled(ast.fix_missing_locations(maker), function, ())
    if code is None:
        return function
    classes = surrounded(code, function, {}, defaults=False)()
    for cls in classes:
        _named(cls, f"{function.__qualname__}.<locals>.", function.__code__.co_filename)
        _variables.LOCAL.add(cls)
    cells = {f".class{k}": types.CellType(cls) for k, cls in enumerate(classes)}
    new = _Replaced(dict(zip(names, cells, strict=True))).visit(copy.deepcopy(node))
    made = surrounded(compiled(ast.fix_missing_locations(new), function, (*cells,)), function, cells)
    made.__dict__.update(function.__dict__)
    return made


def _within(node):
    """Statements and expressions of a function itself."""
    for child in ast.iter_child_nodes(node):
        yield child
        if not isinstance(child, _NESTED):
            yield from _within(child)


def _made_alone(s, node, function, names):
    """Whether a class is the same whenever its statement runs, and making it does nothing else: it reads no variable of the
    function, and holds nothing that may change."""
    code = function.__code__
    body = [c for c in code.co_consts if isinstance(c, types.CodeType) and c.co_name == s.name and not c.co_flags & 3]
    if len(body) != 1 or getattr(s, "type_params", None) or names.count(s.name) > 1 or _bindings(node, s.name) > 0:
        return False
    if not {*body[0].co_freevars} <= {*names, *code.co_freevars} | _CAPTURED:
        return False
    own = {*code.co_varnames, *code.co_cellvars} - {*names}
    outside = [*s.bases, *s.decorator_list]
    if s.keywords or any(isinstance(n, ast.Name) and n.id in own for e in outside for n in ast.walk(e)):
        return False
    return all(_decorates_alone(d, function) for d in s.decorator_list) and all(_is_quiet(b, function, names) for b in s.bases) and all(_is_constant(t, function) for t in s.body)


def _decorates_alone(d, function):
    if not isinstance(d, ast.Call):
        return _last_name(d) in _OF_CLASSES
    return _last_name(d.func) in _OF_CLASSES and not d.args and all(_is_value(k.value, function) for k in d.keywords)


def _last_name(e):
    return e.attr if isinstance(e, ast.Attribute) else getattr(e, "id", None)


def _is_quiet(base, function, names):
    """Whether nothing of the program's runs when a class is derived from another one."""
    if isinstance(base, ast.Name) and base.id in names:
        return True
    if not all(isinstance(n, (ast.Name, ast.Attribute, ast.Subscript, ast.Tuple, ast.Constant, ast.expr_context)) for n in ast.walk(base)):
        return False
    try:
        cls = eval(compile(ast.Expression(base), function.__code__.co_filename, "eval"), function.__globals__)
    except Exception:
        return False
    if not isinstance(cls, type):
        # `NamedTuple` is a function, `Generic[T]` an alias.
        return getattr(cls, "__module__", None) in _KNOWN
    makers = [c for c in cls.__mro__ if "__init_subclass__" in vars(c)]
    return type(cls).__module__ in _KNOWN and all(c.__module__ in _KNOWN for c in makers)


def _bindings(node, name):
    """How often a function binds a name by anything but a class statement."""
    count = 0
    for n in _within(node):
        if isinstance(n, (ast.Global, ast.Nonlocal)):
            count += name in n.names
        elif isinstance(n, ast.Name):
            count += n.id == name and not isinstance(n.ctx, ast.Load)
        elif isinstance(n, (ast.arg, ast.alias, ast.ExceptHandler, ast.FunctionDef, ast.MatchAs, ast.MatchStar)):
            count += name in (getattr(n, "arg", None), getattr(n, "asname", None), getattr(n, "name", None))
    nested = (n for f in _within(node) if isinstance(f, _NESTED) for n in ast.walk(f) if isinstance(n, ast.Nonlocal))
    return count + sum(name in n.names for n in nested)


def _is_constant(s, function):
    """Whether a statement of a class body does the same each time."""
    if isinstance(s, ast.FunctionDef):
        values = [*s.args.defaults, *(d for d in s.args.kw_defaults if d is not None)]
        decorated = all(_last_name(d) in _OF_METHODS for d in s.decorator_list)
        return decorated and s.name != "__init_subclass__" and all(_is_value(v, function) for v in values)
    if isinstance(s, (ast.Assign, ast.AnnAssign)):
        return s.value is None or _is_value(s.value, function)
    return isinstance(s, ast.Pass) or isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant)


def _is_value(e, function):
    """Whether an expression reads nothing that may be something else later, and makes nothing that may change."""
    if isinstance(e, ast.Call):
        named = all(_is_value(k.value, function) or _is_builtin(k.value, function) for k in e.keywords)
        return _last_name(e.func) in _NOTHING_NEW and not e.args and named
    return all(isinstance(n, _EXPRESSIONS) for n in ast.walk(e))


def _is_builtin(e, function):
    return isinstance(e, ast.Name) and hasattr(builtins, e.id) and e.id not in function.__globals__


def _named(cls, prefix, filename):
    """Gives a class and its functions the names that the statement would have given them."""
    old, new = cls.__qualname__, prefix + cls.__name__
    type.__setattr__(cls, "__qualname__", new)
    for found in vars(cls).values():
        for f in (found, *(getattr(found, part, None) for part in ("__func__", "fget", "fset", "fdel"))):
            if isinstance(f, types.FunctionType) and f.__qualname__.startswith(old + "."):
                f.__qualname__ = new + f.__qualname__[len(old):]
                if f.__code__.co_filename == filename:
                    f.__code__ = f.__code__.replace(co_qualname=f.__qualname__)


class _Replaced(ast.NodeTransformer):
    def __init__(self, cells):
        self.cells = cells

    def visit_ClassDef(self, s):
        new = ast.Assign([ast.Name(s.name, ast.Store())], ast.Name(self.cells[s.name], ast.Load()))
        return ast.copy_location(new, s)

    def visit_FunctionDef(self, s):
        # A function inside of it stays as it is.
        return s if getattr(self, "inside", False) else self._first(s)

    def _first(self, s):
        self.inside = True
        return self.generic_visit(s)

    def visit_Lambda(self, s):
        return s
