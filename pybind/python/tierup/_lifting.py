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
import types
from functools import partial

from ._again import OWN, again, all_plain, can_run_again, changed_in_place
from ._asides import drop, hold, stub, taken
from ._hoisting import hoisted, read
from ._tierup import outgrown
from .errors import IntegerOverflow
from ._liveness import Assigned, Liveness, _bound_by, _deleted, _targets, loads, own, stores
from ._source import compiled, definition, surrounded

# In `code.co_flags`: a generator, a coroutine, an asynchronous generator.
_SUSPENDED = 0x20 | 0x80 | 0x200
# Functions that see the variables of their caller.
_LOOKING = {"locals", "vars", "eval", "exec", "dir", "super", "__class__"}
# Calls that go through a generator before they end.
_GO_THROUGH = {"all", "any", "dict", "extend", "frozenset", "join", "list", "max", "min", "set", "sorted", "sum", "tuple", "update"}
# After so many calls in a row for whose types a loop did not compile it is left to Python for good.
_TRIES = 8


class Loop:
    """A loop that was cut out: its `line`, the `last` one of it, `dispatcher` its compiled function, `inner` whether it stands in a loop that Python may run, `doubtful` whether it may read a
    variable that is not set, `asides` the calls in it that Python makes, `whole` the places of arguments that it goes through and does nothing else with."""

    def __init__(self, node, inner, parts, asides=()):
        self.line, self.last, self.inner, self.doubtful, self.asides = node.lineno, node.end_lineno, inner, parts.doubtful, asides
        self.whole = [k for k, name in enumerate(parts.read) if name in _gone_through(node)]
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
    if options.get("looplift") is False or _LOOKING & {*code.co_names, *code.co_freevars}:
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


class _Known:
    """What was made of a function's code, which is kept, in a module's globals: its new code, and the cells and loops that belong to it."""

    def __init__(self, code, space, options, new, cells, loops):
        self.code, self.globals, self.options, self.new, self.cells, self.loops = code, space, options, new, cells, loops


# By the identity of the code.
_cut = {}
_MOST = 4096


def _cut_anew(function, options):
    if (node := definition(function)) is None:
        return None
    code = function.__code__
    cut = _Cut(node, code, options.get("overflow", "python") == "python")
    whole = copy.copy(node)
    whole.body = cut.block(node.body, False)
    if not cut.loops:
        return None
    cells = {name: types.CellType() for _, name, _ in cut.loops}
    helpers = {".again": partial(again, function.__globals__), ".read": read, ".plain": all_plain, ".hold": partial(hold, function.__globals__), ".drop": drop, ".IntegerOverflow": IntegerOverflow,
               ".outgrown": outgrown}
    if cut.checked and code.co_flags & _SUSPENDED:
        whole.body = _suspended(whole)
    helpers |= {name: _alone(compiled(inner_node, function, ()), function, function.__qualname__) for name, inner_node in cut.asides}
    new = compiled(whole, function, (*cells, *helpers))
    for loop, name, inner_node in cut.loops:
        _compile(loop, cells[name], inner_node, function, options)
    return _Known(code, function.__globals__, options, new, cells | {n: types.CellType(f) for n, f in helpers.items()}, [loop for loop, _, _ in cut.loops])


def _suspended(node):
    """The body of a function that suspends: no call that could be made once more stands around its steps, so an integer that is too large leaves it as an OverflowError."""
    raised = ast.Raise(ast.Call(_get(".outgrown"), [_get(".e")], []), ast.Constant(None))
    body = [ast.Try(node.body, [ast.ExceptHandler(_get(".IntegerOverflow"), ".e", [raised])], [], [])]
    return [ast.fix_missing_locations(ast.copy_location(s, node.body[-1])) for s in body]


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
    loop.dispatcher = _make(alone, None, kept | {"overflow": options.get("overflow", "python")}, True, alone={"instead": python} | ({"by_reference": loop.whole} if loop.inner else {}))
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
        # What runs at any time: functions in it, with what they read and what they set.
        self.inner = [(f, *_at_any_time(f)) for f in _later(node) if f is not node]
        self.swallows = False
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
        if isinstance(s, (ast.Try, ast.TryStar)) and self.checked:
            return [self.tried(s, inner)]
        return [self.below(s, inner)]

    def tried(self, s, inner):
        """The same for `try`, whose handlers are not for an integer that is too large: Python would go on."""
        before, count = self.swallows, len(self.loops)
        self.swallows |= isinstance(s, ast.TryStar) or any(map(_goes_elsewhere, s.finalbody))
        new = self.below(s, inner)
        self.swallows = before
        if len(self.loops) > count and isinstance(s, ast.Try) and s.handlers:
            passes = ast.ExceptHandler(_get(".IntegerOverflow"), None, [ast.Raise()])
            new.handlers.insert(0, ast.fix_missing_locations(ast.copy_location(passes, s.handlers[0])))
        return new

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
        if known is None or not _can_stand_alone(loop) or set_here - self.variables or self.swallows and not can_run_again([loop]):
            return None
        shared, rebound, quiet = self.others(s)
        # What other functions read is handed on however the loop ends, and they do not run while it does.
        shown = set_here & (shared | rebound | self.variables - self.local)
        alone = bool(shown or loads(loop) & rebound)
        if alone and not (quiet and _is_quiet(loop)):
            return None
        out = set_here & (after | caught | shown)
        if out & _deleted(loop):
            return None
        read = self.liveness.before(loop, out & known) & (self.variables | given) & (loads(loop) | out)
        if any(name.startswith("__") and not name.endswith("__") for name in loads(loop) | set_here):
            return None
        by_place = lambda names: sorted(names, key=lambda name: self.order.get(name, -1))
        returns = any(isinstance(n, ast.Return) for n in own(loop))
        return _Parts(by_place(read), by_place(out), out - read, bool(read - known - given), returns, bool(set_here & (caught | shown)), alone)

    def others(self, s):
        """What functions around a loop may read and set at any time, and whether they are no classes, whose operators may run in it."""
        own = {id(n) for n in ast.walk(s)}
        found = [(f, read, bound) for f, read, bound in self.inner if id(f) not in own]
        return set().union(*(r for _, r, _ in found)), set().union(*(b for _, _, b in found)), not any(isinstance(f, ast.ClassDef) for f, *_ in found)

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
        self.loops.append((Loop(s, inner, parts, asides), name, node))
        arguments = [_get(n) for n in parts.read]
        call = ast.Call(_get(name), arguments, [])
        if parts.doubtful:
            # A variable that is not set yet: Python's loop says so where it is read.
            call.args = [ast.Starred(_get(name + ".given"), ast.Load())]
        run = [ast.Assign([_set(result)], call)]
        if parts.alone:
            run = [ast.If(ast.Call(_get(".plain"), [ast.Tuple(arguments, ast.Load())], []), run, [_forget(result)])]
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
        if self.others(s)[1] & set().union(*(loads(a.node) for a in asides)):
            return []
        parts = self.parts(s, new, values | frozenset(handles))
        if not parts or parts.doubtful or parts.alone or (run := self.attempt(new, parts, inner, result, asides)) is None:
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


class _Parts:
    """Variables that a loop reads, variables that it hands on, those of these that it may leave unset; whether one that it reads may be unset, whether the loop returns,
    whether what it sets is read where its exceptions are caught, and whether it is right as long as no other code runs in it. It hands on the way out where there are several, then the variables, then whether it began a turn (before
    that, those that were set keep their objects), then which of the unsure ones are set."""

    def __init__(self, read, out, unsure, doubtful, returns, caught, alone):
        self.read, self.out, self.unsure, self.doubtful = read, out, unsure, doubtful
        self.returns, self.caught, self.alone = returns, caught, alone

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
    """Whether a loop can be a function: it holds no suspension and no class, declares and imports nothing, and leaves by its end or `return` alone."""
    refused = (ast.Yield, ast.YieldFrom, ast.Await, ast.AsyncFor, ast.AsyncWith, ast.AsyncFunctionDef, ast.ClassDef, ast.Global, ast.Import, ast.ImportFrom)
    if any(isinstance(n, refused) or isinstance(n, ast.comprehension) and n.is_async for n in ast.walk(s)) or any(isinstance(n, ast.Nonlocal) for n in own(s)):
        return False
    return (isinstance(s, ast.While) or not stores(s.iter)) and not any(map(_leaves, s.orelse))


def _later(node):
    """Functions, classes and generators that may run later than where they stand; generators that the call around them goes through at once are none."""
    at_once = set()
    for n in ast.walk(node):
        if isinstance(n, ast.Call) and len(n.args) == 1 and (n.func.id if isinstance(n.func, ast.Name) else getattr(n.func, "attr", "")) in _GO_THROUGH:
            at_once.add(n.args[0])
        if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)) or isinstance(n, ast.GeneratorExp) and n not in at_once:
            yield n


def _at_any_time(f):
    """What such a one may read at any time, and what it may set."""
    below = [*f.generators[1:], *f.generators[0].ifs, f.elt] if isinstance(f, ast.GeneratorExp) else ast.iter_child_nodes(f)
    bound = {name for n in ast.walk(f) if isinstance(n, ast.Nonlocal) for name in n.names}
    bound |= {n.target.id for n in ast.walk(f) if isinstance(n, ast.NamedExpr)} if isinstance(f, ast.GeneratorExp) else set()
    return set().union(*map(loads, below)), bound


def _goes_elsewhere(s):
    """Whether a statement of a `finally` block may go on as if there were no exception."""
    return isinstance(s, (ast.Return, ast.Break, ast.Continue)) or any(_goes_elsewhere(n) for n in ast.iter_child_nodes(s) if isinstance(n, (ast.stmt, ast.ExceptHandler, ast.match_case)) and not isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)))


def _gone_through(s):
    """Variables that a loop goes through as they are, and does nothing else with."""
    if not isinstance(s, ast.For):
        return set()
    e = s.iter
    of = e.args if isinstance(e, ast.Call) and isinstance(e.func, ast.Name) and e.func.id in ("enumerate", "zip", "reversed") else [e]
    names = [n.id for n in ast.walk(s) if isinstance(n, ast.Name)]
    return {n.id for n in of if isinstance(n, ast.Name) and names.count(n.id) == 1}


def _is_quiet(s):
    """Whether a loop over plain values runs no code but its own."""
    calls = [n.func for n in ast.walk(s) if isinstance(n, ast.Call)]
    return all(f.id in OWN if isinstance(f, ast.Name) else isinstance(f, ast.Attribute) and isinstance(f.value, ast.Name) and f.value.id in OWN for f in calls)


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

    def visit_FunctionDef(self, s):
        return [s, *self.marks(s, {s.name})]

    def visit_NamedExpr(self, s):
        self.generic_visit(s)
        if s.target.id not in self.unsure:
            return s
        mark = ast.NamedExpr(_set(f"{s.target.id}.set"), ast.Constant(True))
        both = ast.Subscript(ast.Tuple([s, mark], ast.Load()), ast.Constant(0), ast.Load())
        return ast.fix_missing_locations(ast.copy_location(both, s))

    def marks(self, s, names):
        return [ast.fix_missing_locations(ast.copy_location(ast.Assign([_set(f"{n}.set")], ast.Constant(True)), s)) for n in sorted(names & self.unsure)]

    def bound(self, s):
        """Names that are set where the body of a statement begins."""
        if isinstance(s, ast.For):
            return _targets(s.target)
        if isinstance(s, ast.With) and len(s.items) == 1 and isinstance(s.items[0].optional_vars, ast.Name):
            return {s.items[0].optional_vars.id}
        return stores(s.pattern) if isinstance(s, ast.match_case) and s.guard is None else set()

    def generic_visit(self, s):
        bound = self.bound(s)
        super().generic_visit(s)
        if isinstance(s, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
            return [s, *self.marks(s, stores(s))]
        if bound:
            s.body[:0] = self.marks(s, bound)
        if isinstance(s, (ast.For, ast.With, ast.match_case, ast.ExceptHandler)):
            sets = _bound_by(s) if isinstance(s, ast.ExceptHandler) else stores(s.target) if isinstance(s, ast.For) else set().union(*map(stores, getattr(s, "items", None) or [s.pattern]))
            self.refused = self.refused or bool({*sets} & self.unsure - bound)
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
    # The test of `while` may set something before the first turn.
    early = isinstance(s, ast.While) and stores(s.test)
    begin = [ast.Assign([_set(m)], ast.Constant(bool(early) and m == ".turn")) for m in marks]
    node.body = [*begin, loop, ast.Return(leave(_END))]
    for n in (node, *node.body):
        ast.copy_location(n, s)
    node.lineno = node.end_lineno = s.lineno
    return ast.fix_missing_locations(node)
