"""Python code that compiled code calls: functions that say of what type their result is (`tierup.python`), and the blocks of `with objmode(...)`, which become such functions.
Loaded at the first use of one of these names."""

import ast
import copy
import inspect
from functools import update_wrapper, wraps
from itertools import count
from types import CellType, ModuleType

from . import _tierup, config, types
from ._calls import _identifier, made
from ._source import compiled, definition, surrounded
from ._liveness import Assigned, Liveness, loads, own, stores


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
    """The text of a type that is given as a text, a type, a class, or as an annotation such as `list[int]`; Python's own numbers stay Python's."""
    if isinstance(what, str):
        try:
            return types.as_type(what)._tierup_type_
        except Exception:
            # Containers have no other names in texts than in annotations.
            names = {**_PLAIN_NAMES, **{n: getattr(types, n) for n in dir(types) if n not in _PLAIN_NAMES}}
            try:
                what = eval(what, {"__builtins__": {}}, names)
            except Exception:
                what = None
            if what is None or isinstance(what, str):
                raise
    origin, args = getattr(what, "__origin__", None), getattr(what, "__args__", None)
    if origin in _CONTAINERS and args:
        if origin is tuple and args[-1] is ...:
            raise TypeError(f"{what} does not say how long it is")
        return f"{origin.__name__}({', '.join(map(_type, args))})"
    if args and type(None) in args and len(args) == 2:
        return f"optional({_type(args[args[0] is type(None)])})"
    if what in _CONTAINERS:
        raise TypeError(f"{what.__name__} does not say what is in it: write {what.__name__}[{'str, int' if what in (dict, tuple) else 'int'}]")
    return {int: "int", float: "float", complex: "complex"}.get(what) or types.as_type(what)._tierup_type_


_CONTAINERS = (list, dict, set, frozenset, tuple)
_PLAIN_NAMES = {c.__name__: c for c in (*_CONTAINERS, int, float, complex, bool, str, bytes)}


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
    space.update((name, cell.cell_contents) for name, cell in zip(code.co_freevars, function.__closure__ or ()) if is_set(cell))
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


def is_set(cell):
    try:
        cell.cell_contents
    except ValueError:
        return False
    return True


def _refuse(function, line, text, help, code="unsupported-syntax"):
    from . import errors
    reports = errors.UnsupportedError if code == "unsupported-syntax" else errors.TypingError
    raise reports(f"{function.__code__.co_filename}:{line}: {text} [{code}]\n  help: {help}")


class _Blocks:
    """Replaces the blocks of a function by calls: `cells` holds the functions called, by the names that the function knows them by."""

    def __init__(self, function, node, space):
        self.function, self.node, self.space, self.cells = function, node, space, {}
        self.liveness = Liveness(node.body)
        # What the function captures the blocks capture too: Python has the objects themselves.
        self.variables = {*function.__code__.co_varnames, *function.__code__.co_cellvars}

    def block(self, body):
        return [t for s in body for t in self.statement(s)]

    def statement(self, s):
        if isinstance(s, ast.With) and (call := self.asks(s)) is not None:
            return self.call(s, call)
        new = copy.copy(s)
        for field in ("body", "orelse", "finalbody"):
            if isinstance(getattr(s, field, None), list) and not isinstance(s, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                setattr(new, field, self.block(getattr(s, field)))
        for field in ("handlers", "cases"):
            if isinstance(getattr(s, field, None), list):
                setattr(new, field, [t for part in getattr(s, field) for t in self.statement(part)])
        return [new]

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
        leaves = _Leaves(self, s, found)
        self.check(s, found)
        body = ast.Module(body=s.body, type_ignores=[])
        read = self.variables & loads(body) & self.before(s, set(found))
        read = sorted(read | self.variables & {n for n in found if not self.sets_surely(s, n)})
        caught = {n for t in s.body for n in stores(t)} & self.liveness.caught[s]
        if caught - {*found}:
            self.undeclared(s, caught - {*found}, "where its exceptions are caught")
        node = ast.parse("def f(): pass").body[0]
        node.name = self.node.name
        node.args.args = [ast.arg(arg=n) for n in read]
        name = f".python{len(self.cells)}"
        if caught or leaves.ways:
            return self.leaving(s, node, name, found, leaves, read, bool(caught))
        names = list(found)
        give = [_get(n) for n in names]
        node.body = [*s.body, ast.Return(give[0] if len(give) == 1 else ast.Tuple(give, ast.Load()) if give else None)]
        self.define(s, node, name, list(found.values()), next(iter(found.values()), "none") if len(found) < 2 else f"tuple({', '.join(found.values())})")
        called = ast.Call(_get(name), [_get(n) for n in read], [])
        if not names:
            new = ast.Expr(called)
        else:
            targets = [_set(n) for n in names]
            new = ast.Assign([targets[0] if len(targets) == 1 else ast.Tuple(targets, ast.Store())], called)
        return [ast.fix_missing_locations(ast.copy_location(new, s))]

    def define(self, s, node, name, results, result, cells=()):
        """Makes the function of a block, which the function knows by that name; `results` are the types of what it gives, `result` the type of all of it."""
        for n in (node, *node.body):
            if not hasattr(n, "lineno"):
                ast.copy_location(n, s)
        node.lineno = node.end_lineno = s.lineno
        code = compiled(ast.fix_missing_locations(node), self.function, (*cells,))
        inner = surrounded(code, self.function, dict(cells), defaults=False)
        if config._numba:
            inner = _truncating(inner, results, result not in results)
        self.cells[name] = CellType(PythonFunction(inner, result))

    def leaving(self, s, node, name, found, leaves, read, caught):
        """The call of a block that has several ways out: it gives a number for the way, then its variables, None for those that may not be set there."""
        unsure = {n for n in found if caught or any(n not in known for known in leaves.known)}
        give = lambda way, known: ast.Return(ast.Tuple([ast.Constant(way), *(_get(n) if n in known else ast.Constant(None) for n in found), *([ast.Constant(0)] * caught)], ast.Load()))
        body = [*leaves.replaced(s.body, give), give(0, found)]
        cells = {}
        if caught:
            # What is set by then is seen where the exception is caught.
            cells = {".seen": CellType(locals), ".keep": CellType(_keep)}
            values = [ast.Call(ast.Attribute(ast.Call(_get(".seen"), [], []), "get", ast.Load()), [ast.Constant(n)], []) for n in found]
            error = ast.Return(ast.Tuple([ast.Constant(_RAISE), *values, ast.Call(_get(".keep"), [_get(".e")], [])], ast.Load()))
            body = [ast.Try(body, [ast.ExceptHandler(_get(".Base"), ".e", [error])], [], [])]
            cells[".Base"] = CellType(BaseException)
            self.cells.setdefault(".raise", CellType(PythonFunction(_raise, "none")))
        node.body = body
        types = [f"optional({t})" if n in unsure and not t.startswith("optional(") else t for n, t in found.items()]
        results = ["int", *types, *["int"] * caught]
        self.define(s, node, name, results, f"tuple({', '.join(results)})", cells)
        result = f"{name}.result"
        part = lambda k: ast.Subscript(_get(result), ast.Constant(k), ast.Load())
        take = []
        for k, n in enumerate(found, 1):
            if n in unsure:
                held = f"{name}.{n}"
                take.append(ast.Assign([_set(held)], part(k)))
                take.append(ast.If(ast.Compare(_get(held), [ast.IsNot()], [ast.Constant(None)]), [ast.Assign([_set(n)], _get(held))], []))
            else:
                take.append(ast.Assign([_set(n)], part(k)))
        new = [ast.Assign([_set(result)], ast.Call(_get(name), [_get(n) for n in read], [])), *take]
        by_way = lambda way: ast.Compare(part(0), [ast.Eq()], [ast.Constant(way)])
        if caught:
            new.append(ast.If(by_way(_RAISE), [ast.Expr(ast.Call(_get(".raise"), [part(len(found) + 1)], []))], []))
        new += [ast.If(by_way(way), [leave], []) for way, leave in leaves.ways.items()]
        return [ast.fix_missing_locations(ast.copy_location(n, s)) for n in new]

    def declared(self, call):
        """The variables that a block declares, with the texts of their types."""
        found = {}
        for k in call.keywords if isinstance(call, ast.Call) else ():
            try:
                found[k.arg] = _type(eval(compile(ast.Expression(k.value), self.function.__code__.co_filename, "eval"), self.space))
            except Exception as e:
                _refuse(self.function, call.lineno, f"the type of {k.arg!r} in objmode() is not known: {type(e).__name__}: {e}", "give it as a text, such as 'float64[:]', or as a global type", "bad-signature")
        return found

    def check(self, s, found):
        for n in (n for t in s.body for n in own(t)):
            if isinstance(n, (ast.Yield, ast.YieldFrom, ast.Global, ast.Nonlocal)):
                what = {ast.Yield: "yield", ast.YieldFrom: "yield from", ast.Global: "global", ast.Nonlocal: "nonlocal"}[type(n)]
                _refuse(self.function, n.lineno, f"`{what}` stands in an objmode block", "set a variable in the block, and do it behind")
        set_here = {n for t in s.body for n in stores(t)}
        self.undeclared(s, set_here & self.liveness.after[s] - set(found), "behind it")
        for name in found:
            if name not in set_here:
                _refuse(self.function, s.lineno, f"objmode() declares {name!r}, which the block does not set", "leave it out", "bad-signature")

    def undeclared(self, s, names, where):
        if names:
            name = min(names)
            _refuse(self.function, s.lineno, f"{name!r} is set in an objmode block and used {where}", f"declare its type: objmode({name}='float64[:]')", "bad-signature")

    def before(self, s, after):
        live = set(after)
        for t in reversed(s.body):
            live = self.liveness.before(t, live)
        return live

    def sets_surely(self, s, name):
        return name not in self.before(s, {name})


def _truncating(function, results, whole):
    """The function of a block whose results are of these types, with floats cut off where integers are declared: Numba's meaning. `whole` says that it gives a tuple of them."""
    cut = [isinstance(types.from_text(t), types.Integer) for t in results]
    if not any(cut):
        return function

    def fit(x, cut):
        return int(x) if cut and isinstance(x, float) else x

    @wraps(function)
    def truncate(*args):
        given = function(*args)
        return tuple(map(fit, given, cut)) if whole else fit(given, True)

    return truncate


# The way out of a block by an exception that is caught in the function around it; the others count from 1.
_RAISE = -1
# Such exceptions by number, until they are raised again.
_kept = {}
_numbers = count(1)


def _keep(e):
    number = next(_numbers)
    _kept[number] = e
    return number


def _raise(number):
    e = _kept.pop(number)
    try:
        raise e
    finally:
        # An exception leads to its frames.
        del e


class _Leaves:
    """`return`, `break` and `continue` that leave a block: `ways` holds by number what the function around it does then, `known` which variables are surely set at each."""

    def __init__(self, blocks, s, found):
        self.blocks, self.s, self.found = blocks, s, found
        self.ways, self.known, self.numbers = {}, [], {}
        parameters = {n for n in blocks.variables if n not in found} | {n for n in found if not blocks.sets_surely(s, n)}
        self.assigned = Assigned(s.body, parameters).before
        self.set_here = {n for t in s.body for n in stores(t)}
        for t in s.body:
            self.find(t, False)

    def find(self, s, inside):
        """Notes what leaves in a statement, which stands in a loop of the block or not."""
        if isinstance(s, ast.Return) or isinstance(s, (ast.Break, ast.Continue)) and not inside:
            self.note(s)
        elif not isinstance(s, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            loop = isinstance(s, (ast.For, ast.While, ast.AsyncFor))
            for field in ("body", "orelse", "finalbody", "handlers", "cases"):
                for t in getattr(s, field, ()):
                    if isinstance(t, (ast.stmt, ast.ExceptHandler, ast.match_case)):
                        self.find(t, inside or loop and field == "body")

    def note(self, s):
        known = self.assigned.get(s) or set()
        used = self.set_here & (loads(s) if isinstance(s, ast.Return) else self.blocks.liveness.after[s])
        self.blocks.undeclared(self.s, used - {*self.found}, "where it is left")
        if isinstance(s, ast.Return) and s.value is not None and any(isinstance(n, _OF_PYTHON) for n in ast.walk(s.value)):
            _refuse(self.blocks.function, s.lineno, "`return` in an objmode block gives what is not declared", "set a variable with a declared type, and return that")
        self.numbers[s] = len(self.numbers) + 1
        self.ways[self.numbers[s]] = s
        self.known.append(known)

    def replaced(self, body, give):
        """The same statements with a `return` of what `give` gives in each place."""
        leave = self.numbers

        class Replace(ast.NodeTransformer):
            def visit_Return(this, s):
                return ast.fix_missing_locations(ast.copy_location(give(leave[s], self.assigned.get(s) or set()), s)) if s in leave else s

            visit_Break = visit_Continue = visit_Return

            def visit_FunctionDef(this, s):
                return s

            visit_AsyncFunctionDef = visit_ClassDef = visit_Lambda = visit_FunctionDef

        return [Replace().visit(t) for t in body]


# What the function around a block may not be able to compute.
_OF_PYTHON = (ast.Call, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.JoinedStr, ast.NamedExpr, ast.Dict, ast.Set, ast.Yield, ast.YieldFrom, ast.Await)


def _get(name):
    return ast.Name(name, ast.Load())


def _set(name):
    return ast.Name(name, ast.Store())
