"""Functions that do not compile whole: Python runs them, and their loops are compiled.

`lifted(function, options)` gives the same function with each loop that can be cut out replaced by a call of it as a function of its own, which takes the variables that
the loop reads and gives those that it sets:

    if (result := loop(a, n, s)) is None:
        for i in range(n): ...          # as it was written, with its inner loops cut out in the same way
    else:
        s, = result

What a loop is compiled for are the types that its variables have when it is reached, so nothing has to be known of the Python code around it. A loop that does not
compile for them gives None, and Python runs it where it stands. Before that, what it reads of objects is read in front of it (`_hoisting`), or calls in it are left to Python
(`_asides`). The function is made from its source, which is compared with its code first. Loaded at the first use.
"""

import ast
import copy
import dis
import inspect
import linecache
import types
from functools import partial
from typing import NamedTuple

from ._again import OWN, again, can_run_again, changed_in_place
from ._asides import drop, hold, stub, taken
from ._hoisting import hoisted, read
from .errors import IntegerOverflow
from ._liveness import Assigned, Liveness, loads, own, stores

# In `code.co_flags`: `from __future__ import` this and that.
_FUTURE = 0x1FE_0000
# Functions that see the variables of their caller.
_LOOKING = {"locals", "vars", "eval", "exec", "dir", "super", "__class__"}
# After so many calls in a row for whose types a loop did not compile it is left to Python for good.
_TRIES = 8


class Loop:
    """A loop that was cut out: its `line`, `dispatcher` its compiled function, `inner` whether it stands in a loop that Python may run, `doubtful` whether it may read a
    variable that is not set, `asides` the calls in it that Python makes."""

    def __init__(self, node, inner, doubtful, asides=()):
        self.line, self.inner, self.doubtful, self.asides = node.lineno, inner, doubtful, asides
        self.dispatcher = None
        self.failed = 0


def lifted(function, options):
    """What Python runs in place of `function`: it with its loops cut out, or `function` itself where that cannot be done or it has none. `loops_of` gives the loops."""
    try:
        return _lifted(function, options) or function
    except (SyntaxError, OSError, ValueError, RecursionError):
        # The source is not that of the function, or too deep: it stays as it is.
        return function


def loops_of(function):
    """The loops that were cut out of what `lifted` gave, in their order."""
    return getattr(function, "__tierup_loops__", [])


def _lifted(function, options):
    code = function.__code__
    if options.get("looplift") is False or _LOOKING & {*code.co_names, *code.co_freevars} or code.co_flags & (inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR | inspect.CO_GENERATOR):
        return None
    # A function that is made anew at each call of another one is cut once.
    known = _cut.get(id(code))
    if known is None or known.globals is not function.__globals__ or known.options != options:
        if (known := _cut_anew(function, options)) is None:
            return None
        if len(_cut) >= _MOST:
            _cut.clear()
        _cut[id(code)] = known
    made = surrounded(known.new, function, known.cells)
    made.__tierup_loops__ = known.loops
    return made


class _Known(NamedTuple):
    """What was made of a function's code, which is kept, in a module's globals: its new code, and the cells and loops that belong to it."""

    code: types.CodeType
    globals: dict
    options: dict
    new: types.CodeType
    cells: dict
    loops: list


# By the identity of the code.
_cut = {}
_MOST = 4096


def _cut_anew(function, options):
    if (node := definition(function)) is None:
        return None
    cut = _Cut(node, function.__code__, options.get("overflow", "python") == "python")
    whole = copy.copy(node)
    whole.body = cut.block(node.body, False)
    if not cut.loops:
        return None
    cells = {name: types.CellType() for _, name, _ in cut.loops}
    helpers = {".again": partial(again, function.__globals__), ".read": read, ".hold": partial(hold, function.__globals__), ".drop": drop, ".IntegerOverflow": IntegerOverflow}
    helpers |= {name: _alone(compiled(inner_node, function, ()), function, function.__qualname__) for name, inner_node in cut.asides}
    new = compiled(whole, function, (*cells, *helpers))
    for loop, name, inner_node in cut.loops:
        _compile(loop, cells[name], inner_node, function, options)
    return _Known(function.__code__, function.__globals__, options, new, cells | {n: types.CellType(f) for n, f in helpers.items()}, [loop for loop, _, _ in cut.loops])


# ---------------------------------------------------------------- source and code

def definition(function):
    """The syntax tree of a function, with the lines of its file; None where there is no source or it is not what was loaded. Raises as `ast.parse` and `compile` do."""
    code = function.__code__
    lines = linecache.getlines(code.co_filename, function.__globals__)
    first = code.co_firstlineno
    if not 0 < first <= len(lines):
        return None
    block = inspect.getblock(lines[first - 1:])
    indented = block[0][:1].isspace()
    tree = ast.parse("".join((["if 1:\n"] if indented else []) + block))
    node = tree.body[0].body[0] if indented else tree.body[0]
    if not isinstance(node, ast.FunctionDef) or node.name != code.co_name:
        return None
    ast.increment_lineno(node, first - 1 - indented)
    return node if _same(compiled(node, function, ()), code) else None


def compiled(node, function, cells):
    """The code of a function's tree, which reads the variables `cells` beside those that the function itself reads from outside of it."""
    code = function.__code__
    wanted = node.name, (node.decorator_list or [node])[0].lineno
    outside = [name for name in code.co_freevars if name != "__class__"]
    path = code.co_qualname.split(".")
    if len(path) > 1 and path[-2] != "<locals>":
        # Names that begin with two underscores are those of the class.
        owner = ast.parse("class C: pass").body[0]
        owner.name, owner.body = path[-2], [node]
        node = owner
    around = ast.parse("def around(): pass").body[0]
    around.args.args = [ast.arg(arg=name, lineno=1, col_offset=0) for name in [*outside, *cells]]
    around.body = [node]
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
    if any(getattr(made, f) != getattr(code, f) for f in facts) or (made.co_flags ^ code.co_flags) & ~inspect.CO_NESTED:
        return False
    steps = [list(_steps(c)) for c in (made, code)]
    return len(steps[0]) == len(steps[1]) and all(map(_alike, *steps))


def _steps(code):
    """What code does, one instruction after the other. How a call finds its function depends on whether the module imports the name of it, which is seen only in the module."""
    for i in dis.get_instructions(code):
        name = i.opname.replace("LOAD_METHOD", "LOAD_ATTR")
        if name not in ("PUSH_NULL", "EXTENDED_ARG", "NOP"):
            yield name, None if i.opcode in dis.hasjabs or i.opcode in dis.hasjrel else i.argval


def _alike(a, b):
    if a[0] != b[0]:
        return False
    if isinstance(a[1], types.CodeType) and isinstance(b[1], types.CodeType):
        return _same(a[1], b[1])
    return type(a[1]) is type(b[1]) and repr(a[1]) == repr(b[1])


def surrounded(code, function, cells, defaults=True):
    """A function with that code and the surroundings of another one, its defaults included where they are wanted."""
    around = dict(zip(function.__code__.co_freevars, function.__closure__ or ())) | cells
    code = code.replace(co_qualname=function.__code__.co_qualname)
    made = types.FunctionType(code, function.__globals__, function.__name__, function.__defaults__ if defaults else None, tuple(around[name] for name in code.co_freevars))
    made.__kwdefaults__ = function.__kwdefaults__ if defaults else None
    made.__module__, made.__qualname__, made.__doc__ = function.__module__, function.__qualname__, function.__doc__
    return made


def _compile(loop, cell, node, function, options):
    """Puts a dispatcher for a loop, given as a function's tree, into the cell that the code around it calls."""
    from ._jit import _make

    def python(*_):
        loop.failed += 1
        if loop.failed >= _TRIES:
            cell.cell_contents = _nothing

    stubs = {aside.stub: types.CellType(stub(len(aside.set_here))) for aside in loop.asides}
    alone = _alone(compiled(node, function, stubs), function, f"{function.__qualname__}, loop at line {loop.line}", stubs)
    kept = {k: v for k, v in options.items() if k in ("boundscheck", "error_model", "nogil", "parallel", "fastmath", "cache")}
    loop.dispatcher = _make(alone, None, kept | {"overflow": options.get("overflow", "python")}, True, alone={"instead": python, "by_reference": loop.inner})
    cell.cell_contents = loop.dispatcher


def _alone(code, function, qualname, cells=()):
    """A function of that code among those of another one's module."""
    code = code.replace(co_qualname=function.__code__.co_qualname)
    made = types.FunctionType(code, function.__globals__, function.__name__, None, tuple(cells[name] for name in code.co_freevars))
    made.__module__, made.__qualname__ = function.__module__, qualname
    return made


def _nothing(*_):
    return None


# ---------------------------------------------------------------- cutting

class _Cut:
    """Cuts loops out of a function's body: `loops` holds what was cut, with the name of each in the code around it and the function's tree that it became, `asides` the same of calls in
    loops."""

    def __init__(self, node, code, checked):
        self.code, self.loops, self.asides, self.node, self.checked = code, [], [], node, checked
        self.liveness = Liveness(node.body)
        args = node.args
        parameters = [a.arg for a in (*args.posonlyargs, *args.args, *args.kwonlyargs, *filter(None, (args.vararg, args.kwarg)))]
        self.assigned = Assigned(node.body, parameters).before
        inner = [f for f in ast.walk(node) if isinstance(f, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)) and f is not node]
        # What inner functions may read at any time, and what they may set.
        self.shared = set().union(*(loads(n) for f in inner for n in ast.iter_child_nodes(f)))
        self.rebound = {name for f in inner for n in ast.walk(f) if isinstance(n, ast.Nonlocal) for name in n.names}
        self.local = {*code.co_varnames, *code.co_cellvars}
        self.variables = self.local | {*code.co_freevars}
        self.order = {}
        for n in ast.walk(node):
            if isinstance(n, ast.Name):
                self.order.setdefault(n.id, len(self.order))

    def block(self, body, inner):
        """The same statements, with loops cut out; `inner` in a loop that Python may run."""
        return [t for s in body for t in self.statement(s, inner)]

    def statement(self, s, inner):
        if isinstance(s, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            return [s]
        if isinstance(s, (ast.For, ast.While)) and (parts := self.parts(s)) is not None:
            return self.call(s, parts, inner)
        return [self.below(s, inner)]

    def below(self, s, inner):
        """A statement whose blocks have their loops cut out."""
        new = copy.copy(s)
        within = inner or isinstance(s, (ast.For, ast.While, ast.AsyncFor))
        for field in ("body", "orelse", "finalbody"):
            if isinstance(getattr(s, field, None), list):
                setattr(new, field, self.block(getattr(s, field), within))
        for field in ("handlers", "cases"):
            if isinstance(getattr(s, field, None), list):
                setattr(new, field, [self.below(part, within) for part in getattr(s, field)])
        return new

    def parts(self, s, loop=None, given=frozenset()):
        """What goes into a loop and comes out; None where it stays. `loop` is what stands for it where values of it are read before it, into the variables `given`."""
        loop = loop or s
        after, caught = self.liveness.after[s], self.liveness.caught[s]
        known, set_here = self.assigned.get(s), stores(loop)
        # A handler for everything is for an integer that is too large as well.
        if self.checked and any(isinstance(h, ast.ExceptHandler) and (h.type is None or "BaseException" in loads(h.type)) for h in own(loop)):
            return None
        if known is None or not _can_stand_alone(loop) or set_here & (self.shared | self.rebound) or set_here - self.local:
            return None
        out = set_here & (after | caught)
        read = self.liveness.before(loop, out & known) & (self.variables | given) & (loads(loop) | out)
        if read & self.rebound or any(name.startswith("__") and not name.endswith("__") for name in loads(loop) | set_here):
            return None
        by_place = lambda names: sorted(names, key=lambda name: self.order.get(name, -1))
        returns = any(isinstance(n, ast.Return) for n in own(loop))
        return _Parts(by_place(read), by_place(out), out - read, bool(read - known - given), returns, bool(set_here & caught))

    def call(self, s, parts, inner):
        """Statements that do what a loop does, compiled where that can be."""
        result = f".result{len(self.loops)}"
        if (run := self.attempt(s, parts, inner, result)) is None:
            return [self.below(s, inner)]
        missing = lambda: ast.Compare(_get(result), [ast.Is()], [ast.Constant(None)])
        stays, values = s, []
        if (moved := hoisted(s, f"{result}.read", self.variables, stores(s))) is not None:
            again, stays, values = self.attempt_again(s, moved, inner, result)
            run += [ast.If(missing(), again, [])] if again else []
        if aside := self.attempt_asides(s, stays, frozenset(values), inner, result):
            run.append(ast.If(missing(), aside, []))
        run.append(ast.If(missing(), [self.below(stays, inner)], _take(result, parts)))
        run += map(_forget, values)
        return [ast.fix_missing_locations(ast.copy_location(n, s)) for n in run]

    def attempt(self, s, parts, inner, result, asides=()):
        """Statements that call a loop as a function, or leave None in `result`; None where it cannot be written as one."""
        if (node := _as_function(s, self.node, parts)) is None:
            return None
        name = f".loop{len(self.loops)}"
        self.loops.append((Loop(s, inner, parts.doubtful, asides), name, node))
        arguments = [_get(n) for n in parts.read]
        call = ast.Call(_get(name), arguments, [])
        if parts.doubtful:
            # A variable that is not set yet: Python's loop says so where it is read.
            call.args = [ast.Starred(_get(name + ".given"), ast.Load())]
        run = [ast.Assign([_set(result)], call)]
        if self.checked and not asides and can_run_again([s]) and not self.variables & OWN:
            # Integers of any size are Python's: nothing but the loop's own variables has changed.
            used = {n.id for n in ast.walk(s) if isinstance(n, ast.Name)} - self.variables
            changed = ast.Tuple([_get(n) for n in sorted(changed_in_place(s) & set(parts.read))], ast.Load())
            ask = ast.Call(_get(".again"), [changed, ast.Tuple(arguments, ast.Load()), ast.Constant(tuple(sorted(used - set(parts.read))))], [])
            run = [_try(run, ".IntegerOverflow", [ast.If(ask, [_forget(result)], [ast.Raise()])])]
        if parts.doubtful:
            take = ast.Assign([_set(name + ".given")], ast.Tuple(arguments, ast.Load()))
            run = [_try([take], "UnboundLocalError", [_forget(result)], [*run, _forget(name + ".given")])]
        return run

    def attempt_again(self, s, moved, inner, result):
        """The same for a loop with what it reads of objects read before it: (the statements, what Python runs where they leave None, the variables that they set)."""
        new, evaluated, reads = moved
        values = [v for v, *_ in (*evaluated, *reads)]
        parts = self.parts(s, new, frozenset(values))
        run = parts and self.attempt(new, parts, inner, result)
        if not run:
            return [], s, []
        if reads:
            got = result + ".reads"
            values.append(got)
            passed = ast.Tuple([_get(n) for n in parts.read if n in self.variables], ast.Load())
            wanted = [passed, *(x for _, base, path in reads for x in (_get(base), ast.Constant(path)))]
            ask = _try([ast.Assign([_set(got)], ast.Call(_get(".read"), wanted, []))], "UnboundLocalError", [_forget(got)])
            unpack = ast.Assign([ast.Tuple([_set(v) for v, *_ in reads], ast.Store())], _get(got))
            run = [ask, ast.If(ast.Compare(_get(got), [ast.IsNot()], [ast.Constant(None)]), [unpack, *run], [])]
        stays = s
        if evaluated:
            # It is evaluated once, also where Python runs the loop then.
            stands = {e: _get(v) for v, e in evaluated}
            stays = copy.copy(s)
            stays.iter = stands.get(s.iter) or copy.copy(s.iter)
            if stays.iter.__class__ is ast.Call:
                stays.iter.args = [stands.get(a, a) for a in s.iter.args]
        return [*(ast.Assign([_set(v)], e) for v, e in evaluated), *run], stays, values


    def attempt_asides(self, s, stays, values, inner, result):
        """The same for a loop, as Python would run it with the variables `values` set before it, in which Python makes calls whose results nobody reads."""
        known = self.assigned.get(s)
        if known is None or (found := taken(stays, f"{result}.aside", self.node.name, self.variables, known)) is None:
            return []
        new, asides = found
        handles = [a.handle for a in asides]
        if self.rebound & set().union(*(loads(a.node) for a in asides)):
            return []
        parts = self.parts(s, new, values | frozenset(handles))
        if not parts or parts.doubtful or (run := self.attempt(new, parts, inner, result, asides)) is None:
            return []
        held = f"{result}.held"
        names = loads(new) - self.variables - values - {*handles} - {a.stub for a in asides}
        passed = ast.Tuple([_get(n) for n in parts.read if n not in handles], ast.Load())
        wanted = [ast.Constant(tuple(sorted(names))), passed]
        for a in asides:
            self.asides.append((f".aside{len(self.asides)}", a.node))
            wanted += [_get(self.asides[-1][0]), ast.Tuple([_get(n) for n in a.given], ast.Load())]
        numbers = ast.Assign([ast.Tuple([_set(h) for h in handles], ast.Store())], _get(held))
        drops = [ast.Expr(ast.Call(_get(".drop"), [_get(held)], [])), _forget(held)]
        ask = ast.If(ast.Compare(_get(held), [ast.IsNot()], [ast.Constant(None)]), [ast.Try([numbers, *run], [], [], drops)], [])
        return [ast.Assign([_set(held)], ast.Call(_get(".hold"), wanted, [])), ask]


class _Parts(NamedTuple):
    """Variables that a loop reads, variables that it hands on, those of these that it may leave unset; whether one that it reads may be unset, whether the loop returns,
    and whether what it sets is read where its exceptions are caught. It hands on the way out where there are several, then the variables, then whether it began a turn (before
    that, those that were set keep their objects), then which of the unsure ones are set."""

    read: list
    out: list
    unsure: set
    doubtful: bool
    returns: bool
    caught: bool

    def ways(self):
        """What it hands on before its variables."""
        return ["ends"] * (self.returns or self.caught) + ["value"] * self.returns + ["error"] * self.caught

    def marks(self):
        """What it hands on behind them: names of variables that mark what was done."""
        marked = [f"{n}.set" for n in self.out if n in self.unsure]
        return [".turn", *marked] if len(marked) < len(self.out) else marked


# Ways out of a loop: by its end, by `return`, by an exception.
_END, _RETURN, _RAISE = range(3)


def _take(result, parts):
    """Statements that hand on what a loop gave."""
    held = {n: f"{result}.{n}" for n in parts.out}
    way = {w: f"{result}.{w}" for w in parts.ways()}
    marks = {m: f"{result}{m if m[0] == '.' else '.' + m}" for m in parts.marks()}
    names = [*way.values(), *held.values(), *marks.values()]
    new = [ast.Assign([ast.Tuple([_set(n) for n in names], ast.Store())], _get(result))] if names else []
    new.append(_forget(result))
    kept = [n for n in parts.out if n not in parts.unsure]
    for mark, variables in [(".turn", kept)] * bool(kept) + [(f"{n}.set", [n]) for n in parts.out if n in parts.unsure]:
        new.append(ast.If(_get(marks[mark]), [ast.Assign([_set(n)], _get(held[n])) for n in variables], []))
    if held:
        new.append(ast.Assign([_set(h) for h in held.values()], ast.Constant(None)))
    left = lambda how: ast.Compare(_get(way["ends"]), [ast.Eq()], [ast.Constant(how)])
    if parts.returns:
        new.append(ast.If(left(_RETURN), [ast.Return(_get(way["value"]))], []))
    if parts.caught:
        # An exception leads to its frames, and so to the variable.
        leave = ast.Try([ast.Raise(_get(way["error"]))], [], [], [_forget(way["error"])])
        new.append(ast.If(left(_RAISE), [leave], []))
    return new


def _get(name):
    return ast.Name(name, ast.Load())


def _set(name):
    return ast.Name(name, ast.Store())


def _forget(name):
    return ast.Assign([_set(name)], ast.Constant(None))


def _try(body, what, otherwise, then=()):
    return ast.Try(body, [ast.ExceptHandler(_get(what), None, otherwise)], list(then), [])


def _can_stand_alone(s):
    """Whether a loop can be a function: it holds no suspension, no inner function and no `del`, sets no variable before its first turn, and leaves by its end or `return`
    alone."""
    refused = (ast.Yield, ast.YieldFrom, ast.Await, ast.AsyncFor, ast.AsyncWith, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Global, ast.Nonlocal, ast.Import, ast.ImportFrom)
    for n in ast.walk(s):
        if isinstance(n, refused) or isinstance(n, ast.Name) and isinstance(n.ctx, ast.Del) or isinstance(n, ast.comprehension) and n.is_async:
            return False
    return not stores(s.test if isinstance(s, ast.While) else s.iter) and not any(map(_leaves, s.orelse))


def _leaves(s):
    """Whether a statement leaves the loop around it, or begins its next turn."""
    if isinstance(s, (ast.Break, ast.Continue)):
        return True
    if isinstance(s, (ast.For, ast.While)):
        return any(map(_leaves, s.orelse))
    return any(_leaves(n) for n in ast.iter_child_nodes(s) if isinstance(n, (ast.stmt, ast.ExceptHandler, ast.match_case)))


class _Marked(ast.NodeTransformer):
    """A loop as a function's body: a variable that it may leave unset is marked where it is set, and `return` gives what the loop hands on as well."""

    def __init__(self, unsure, leave):
        self.unsure, self.leave, self.refused = unsure, leave, False

    def visit_Return(self, s):
        return ast.copy_location(ast.Return(self.leave(_RETURN, value=s.value or ast.Constant(None))), s)

    def visit_Lambda(self, s):
        return s

    def marks(self, s, names):
        return [ast.fix_missing_locations(ast.copy_location(ast.Assign([_set(f"{n}.set")], ast.Constant(True)), s)) for n in sorted(names & self.unsure)]

    def generic_visit(self, s):
        super().generic_visit(s)
        if isinstance(s, ast.For):
            s.body[:0] = self.marks(s, stores(s.target))
        elif isinstance(s, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
            return [s, *self.marks(s, stores(s))]
        elif isinstance(s, (ast.NamedExpr, ast.withitem, ast.ExceptHandler, ast.pattern)):
            bound = {s.name} if isinstance(s, ast.ExceptHandler) else stores(s)
            self.refused = self.refused or bool(bound & self.unsure)
        return s


def _as_function(s, around, parts):
    """A loop as the tree of a function that takes the variables which it reads and gives a tuple of the way out and of those that it hands on; None where that cannot be written."""
    marks = parts.marks()

    def leave(how, **given):
        values = [ast.IfExp(_get(f"{n}.set"), _get(n), ast.Constant(None)) if n in parts.unsure else _get(n) for n in parts.out]
        way = [ast.Constant(how) if w == "ends" else given.get(w, ast.Constant(None)) for w in parts.ways()]
        return ast.Tuple([*way, *values, *map(_get, marks)] or [ast.Constant(True)], ast.Load())

    marked = _Marked(parts.unsure, leave)
    loop = marked.visit(copy.deepcopy(s))
    if marked.refused:
        return None
    if ".turn" in marks:
        for block in (loop.body, loop.orelse):
            block[:0] = [ast.fix_missing_locations(ast.copy_location(ast.Assign([_set(".turn")], ast.Constant(True)), s))] if block else []
    if parts.caught:
        # Not for an integer that is too large: Python would go on.
        every = ast.Tuple([_get(name) for name in ("Exception", "KeyboardInterrupt", "SystemExit", "GeneratorExit")], ast.Load())
        loop = ast.Try([loop], [ast.ExceptHandler(every, ".error", [ast.Return(leave(_RAISE, error=_get(".error")))])], [], [])
    node = ast.parse("def f(): pass").body[0]
    node.name = around.name
    node.args.args = [ast.arg(arg=n) for n in parts.read]
    begin = [ast.Assign([_set(m)], ast.Constant(False)) for m in marks]
    node.body = [*begin, loop, ast.Return(leave(_END))]
    for n in (node, *node.body):
        ast.copy_location(n, s)
    node.lineno = node.end_lineno = s.lineno
    return ast.fix_missing_locations(node)
