"""Python code that compiled code calls: functions that say of what type their result is (`tierup.python`), and the blocks of `with objmode(...)`, which become such functions.
Loaded at the first use of one of these names."""

import ast
import copy
import inspect
from functools import update_wrapper, wraps
from types import CellType, ModuleType

from . import _tierup, config, types
from ._calls import _identifier, made
from ._lifting import compiled, definition, surrounded
from ._liveness import Liveness, loads, own, stores


class PythonFunction:
    """A Python function that compiled code calls where it stands: `tierup.python`. To Python it is the function."""

    def __init__(self, function, result):
        self.function, self.result = function, result
        update_wrapper(self, function)
        self._stub = None

    def __call__(self, *args, **kwargs):
        return self.function(*args, **kwargs)

    def __get__(self, instance, owner=None):
        return self if instance is None else self.function.__get__(instance, owner)

    def __repr__(self):
        return f"<python function {self.__qualname__}>"

    def stub(self):
        """The function that compiled code calls in its place. TypeError where it takes what compiled code cannot pass."""
        if self._stub is None:
            import numpy
            parameters = inspect.signature(self.function).parameters.values()
            if any(p.kind not in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters):
                raise TypeError(f"compiled code passes arguments by position: {self.__qualname__} takes *args, **kwargs or parameters that go by keyword alone")
            name, names = _identifier(self.__name__), [p.name for p in parameters]
            key = numpy.array([_tierup.register_python(self.function)], numpy.int64)
            source = f"def {name}({', '.join(names)}):\n    return np._python_call(_key_[0], {self.result!r}{''.join(', ' + n for n in names)})"
            self._stub = made(source, name, {"_key_": key})
            self._stub.__defaults__ = self.function.__defaults__
        return self._stub


def python(signature_or_function=None, /, *, returns=None):
    """Declares a function as Python code: compiled code calls it where it stands, with the GIL, and goes on with what it gives as a value of the declared type.

    Use as `@python` on a function whose result is annotated, `@python("float64(int64)")`, or `@python(returns="float64[:]")`. Arguments become Python objects: numbers, strs, arrays
    and tuples of them can be passed, lists and other containers that Python could change cannot. A result of another type is a TypeError, what the function raises goes on as in
    Python. Raises TypeError where no result type is given.
    """
    if isinstance(signature_or_function, str) or isinstance(signature_or_function, types.Signature):
        args, result = types.signatures(signature_or_function)[0]
        if result is None:
            raise TypeError("python() needs the type of the result: 'float64(int64)'")
        return lambda function: PythonFunction(function, result._tierup_type_)
    if returns is not None:
        return lambda function: PythonFunction(function, _type(returns))
    if signature_or_function is None:
        raise TypeError("python() needs the type of the result: @python('float64(int64)'), @python(returns='float64'), or an annotation")
    return PythonFunction(signature_or_function, _annotated(signature_or_function))


def _type(what):
    """The text of a type that is given as a text, a type or a class; Python's own numbers stay Python's."""
    return {int: "int", float: "float", complex: "complex"}.get(what) or types.as_type(what)._tierup_type_


def _annotated(function):
    from typing import get_type_hints
    hints = get_type_hints(function)
    if "return" not in hints:
        raise TypeError(f"python() needs the type of what {function.__qualname__}() gives: annotate it, or write @python('float64(int64)')")
    return _type(hints["return"])


# ---------------------------------------------------------------- with objmode(...)

class _ObjMode:
    """`with objmode(y="float64[:]", k=types.int64):` in a compiled function: Python runs the block. What the block sets and the code behind it uses is declared: each variable with its
    type, as a text, a type or a class. To Python the block is a plain one."""

    def __call__(self, *args, **variables):
        if args:
            raise TypeError("objmode() takes variables with their types, such as objmode(y='float64[:]')")
        return self

    def __enter__(self):
        return self

    def __exit__(self, kind, value, traceback):
        return None

    def __repr__(self):
        return "objmode"


objmode = _ObjMode()


def expanded(function):
    """A function whose blocks of `with objmode(...)` are calls of Python functions; itself where it has none. UnsupportedError where one cannot be such a call."""
    code = function.__code__
    space = dict(function.__globals__)
    space.update((name, cell.cell_contents) for name, cell in zip(code.co_freevars, function.__closure__ or ()) if _is_set(cell))
    known = [space.get(name) for name in (*code.co_names, *code.co_freevars)]
    of_module = "objmode" in code.co_names and any(isinstance(x, ModuleType) and getattr(x, "objmode", None) is objmode for x in known)
    if not of_module and all(x is not objmode for x in known):
        return function
    node = definition(function)
    if node is None:
        _refuse(function, code.co_firstlineno, "the source of a function with objmode blocks is not at hand", "write it to a file")
    blocks = _Blocks(function, node, space)
    new = copy.copy(node)
    new.body = blocks.block(node.body)
    if not blocks.cells:
        return function
    return surrounded(compiled(new, function, blocks.cells), function, blocks.cells)


def _is_set(cell):
    try:
        cell.cell_contents
    except ValueError:
        return False
    return True


def _refuse(function, line, text, help):
    from .errors import UnsupportedError
    raise UnsupportedError(f"{function.__code__.co_filename}:{line}: {text} [unsupported-syntax]\n  help: {help}")


class _Blocks:
    """Replaces the blocks of a function by calls: `cells` holds the functions called, by the names that the function knows them by."""

    def __init__(self, function, node, space):
        self.function, self.node, self.space, self.cells = function, node, space, {}
        self.liveness = Liveness(node.body)
        # What the function captures the blocks capture too: Python has the objects themselves.
        self.variables = {*function.__code__.co_varnames, *function.__code__.co_cellvars}

    def block(self, body):
        return [self.statement(s) for s in body]

    def statement(self, s):
        if isinstance(s, ast.With) and (call := self.asks(s)) is not None:
            return self.call(s, call)
        new = copy.copy(s)
        for field in ("body", "orelse", "finalbody"):
            if isinstance(getattr(s, field, None), list) and not isinstance(s, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                setattr(new, field, self.block(getattr(s, field)))
        for field in ("handlers", "cases"):
            if isinstance(getattr(s, field, None), list):
                setattr(new, field, [self.statement(part) for part in getattr(s, field)])
        return new

    def asks(self, s):
        """The call `objmode(...)` of a `with` statement, or `objmode` alone; None for others."""
        call = s.items[0].context_expr
        if self.value(call.func if isinstance(call, ast.Call) else call) is not objmode:
            return None
        if len(s.items) > 1 or s.items[0].optional_vars is not None:
            _refuse(self.function, s.lineno, "a with statement has objmode() and something else", "write two, one inside the other")
        return call

    def value(self, e):
        if isinstance(e, ast.Name):
            return self.space.get(e.id)
        return getattr(self.value(e.value), e.attr, None) if isinstance(e, ast.Attribute) else None

    def call(self, s, call):
        found = self.declared(call)
        self.check(s, found)
        body = ast.Module(body=s.body, type_ignores=[])
        read = self.variables & loads(body) & self.before(s, set(found))
        read = sorted(read | self.variables & {n for n in found if not self.sets_surely(s, n)})
        names = list(found)
        node = ast.parse("def f(): pass").body[0]
        node.name = self.node.name
        node.args.args = [ast.arg(arg=n) for n in read]
        give = [ast.Name(n, ast.Load()) for n in names]
        node.body = [*s.body, ast.Return(give[0] if len(give) == 1 else ast.Tuple(give, ast.Load()) if give else None)]
        for n in (node, node.body[-1]):
            ast.copy_location(n, s)
        node.lineno = node.end_lineno = s.lineno
        inner = surrounded(compiled(ast.fix_missing_locations(node), self.function, ()), self.function, {}, defaults=False)
        result = next(iter(found.values())) if len(found) == 1 else f"tuple({', '.join(found.values())})" if found else "none"
        name = f".python{len(self.cells)}"
        if config._numba:
            inner = _truncating(inner, list(found.values()))
        self.cells[name] = CellType(PythonFunction(inner, result))
        called = ast.Call(ast.Name(name, ast.Load()), [ast.Name(n, ast.Load()) for n in read], [])
        if not names:
            new = ast.Expr(called)
        else:
            targets = [ast.Name(n, ast.Store()) for n in names]
            new = ast.Assign([targets[0] if len(targets) == 1 else ast.Tuple(targets, ast.Store())], called)
        return ast.fix_missing_locations(ast.copy_location(new, s))

    def declared(self, call):
        """The variables that a block declares, with the texts of their types."""
        found = {}
        for k in call.keywords if isinstance(call, ast.Call) else ():
            try:
                found[k.arg] = _type(eval(compile(ast.Expression(k.value), self.function.__code__.co_filename, "eval"), self.space))
            except Exception as e:
                _refuse(self.function, call.lineno, f"the type of {k.arg!r} in objmode() is not known: {type(e).__name__}: {e}", "give it as a text, such as 'float64[:]', or as a global type")
        return found

    def check(self, s, found):
        for n in (n for t in s.body for n in own(t)):
            if isinstance(n, (ast.Return, ast.Yield, ast.YieldFrom, ast.Global, ast.Nonlocal)):
                what = {ast.Return: "return", ast.Yield: "yield", ast.YieldFrom: "yield from", ast.Global: "global", ast.Nonlocal: "nonlocal"}[type(n)]
                _refuse(self.function, n.lineno, f"`{what}` stands in an objmode block", "set a variable in the block, and do it behind")
        for t in s.body:
            if line := _leaves(t):
                _refuse(self.function, line, "a block of objmode is left by `break` or `continue`", "set a variable in the block, and test it behind")
        missing = {n for t in s.body for n in stores(t)} & self.liveness.after[s] - set(found)
        if missing:
            name = sorted(missing)[0]
            _refuse(self.function, s.lineno, f"{name!r} is set in an objmode block and used behind it", f"declare its type: objmode({name}='float64[:]')")
        for name in found:
            if name not in {n for t in s.body for n in stores(t)}:
                _refuse(self.function, s.lineno, f"objmode() declares {name!r}, which the block does not set", "leave it out")

    def before(self, s, after):
        live = set(after)
        for t in reversed(s.body):
            live = self.liveness.before(t, live)
        return live

    def sets_surely(self, s, name):
        return name not in self.before(s, {name})


def _truncating(function, results):
    """The function of a block whose results are of these types, with floats cut off where integers are declared: Numba's meaning."""
    whole = [isinstance(types.from_text(t), types.Integer) for t in results]
    if not any(whole):
        return function

    def fit(x, whole):
        return int(x) if whole and isinstance(x, float) else x

    @wraps(function)
    def truncate(*args):
        given = function(*args)
        return fit(given, True) if len(whole) == 1 else tuple(map(fit, given, whole))

    return truncate


def _leaves(s):
    """The line where a statement leaves a loop around it; None where it does not."""
    if isinstance(s, (ast.Break, ast.Continue)):
        return s.lineno
    if isinstance(s, (ast.For, ast.While, ast.FunctionDef, ast.ClassDef)):
        return next((line for t in getattr(s, "orelse", ()) if (line := _leaves(t))), None)
    return next((line for n in ast.iter_child_nodes(s) if isinstance(n, (ast.stmt, ast.ExceptHandler, ast.match_case)) and (line := _leaves(n))), None)
