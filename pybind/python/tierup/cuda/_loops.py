"""Loops over `prange` in functions for a device: each is a kernel whose threads take its turns.

The function is made anew from its source, with a call in place of each loop. What the loop reads of the function's variables goes into the kernel; what it sets is its own, but for reductions (`s += x[i]`), which threads keep for themselves and whose results are combined in an order that the number of turns gives.
"""

import ast
import copy
import types

import numpy as np

from .. import _tierup
from .._jit import njit
from .._lifting import compiled, definition, surrounded
from .._liveness import Liveness, own, stores
from . import _folds
from ._arrays import device_array
from ._intrinsics import blockIdx, grid, gridsize, shared, syncthreads, threadIdx
from ._kernel import jit, type_of
from ._lazy import Array, Run, refused
from ._nodes import BLOCKS, THREADS, in_memory

_SPACE = {".grid": grid, ".gridsize": gridsize, ".shared": shared, ".syncthreads": syncthreads, ".thread": threadIdx, ".block": blockIdx}
_FOLDS = {ast.Add: "sum", ast.Sub: "sum", ast.Mult: "prod", "max": "max", "min": "min"}


def _error(node, function, what, help):
    from ..errors import UnsupportedError
    error = UnsupportedError(f"{what}, in {function.__qualname__}(), line {node.lineno}\n  help: {help}")
    error.line, error.file, error.code, error.msg = node.lineno, function.__code__.co_filename, "gpu-unsupported", what
    return error


def _names_prange(f):
    return isinstance(f, ast.Name) and f.id == "prange" or isinstance(f, ast.Attribute) and f.attr == "prange"


def with_kernels(function):
    """A function whose loops over `prange` are kernels; itself where it has none."""
    if not {"prange", "pndindex"} & {*function.__code__.co_names, *function.__code__.co_freevars, *function.__code__.co_varnames}:
        return function
    try:
        node = definition(function)
    except (SyntaxError, OSError, ValueError, RecursionError):
        node = None
    if node is None:
        from ..errors import UnsupportedError
        raise UnsupportedError(f"loops over prange are made kernels by their source, and that of {function.__qualname__}() is not there\n  help: put it into a file, or write a kernel with @cuda.jit")
    cut = _Cut(node, function)
    node.body = cut.block(node.body)
    cells = {name: types.CellType(loop) for name, loop in cut.loops.items()}
    return surrounded(compiled(node, function, tuple(cells)), function, cells)


class _Cut:
    def __init__(self, node, function):
        self.function, self.loops, self.liveness = function, {}, Liveness(node.body)
        self.local = {*function.__code__.co_varnames, *function.__code__.co_cellvars}

    def block(self, body):
        return [self.statement(s) for s in body]

    def statement(self, s):
        if isinstance(s, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            return s
        for n in own(s) if not hasattr(s, "body") else ():
            if isinstance(n, ast.Call) and _names_prange(n.func):
                raise _error(n, self.function, "prange() in an expression is not a loop", "write for i in prange(n): ...")
        if isinstance(s, ast.For) and isinstance(s.iter, ast.Call):
            if _names_prange(s.iter.func):
                return self.loop(s)
            f = s.iter.func
            if "pndindex" in (getattr(f, "id", None), getattr(f, "attr", None)):
                raise _error(s, self.function, "a loop over pndindex is no kernel", "write a loop over prange for the first axis, and loops over range in it")
        for field in ("body", "orelse", "finalbody"):
            if isinstance(getattr(s, field, None), list):
                setattr(s, field, self.block(getattr(s, field)))
        for field in ("handlers", "cases"):
            for part in getattr(s, field, None) or ():
                part.body = self.block(part.body)
        return s

    def loop(self, s):
        """The statement that runs a loop as a kernel."""
        wrong = lambda n, what, help: _error(n, self.function, what, help)
        if not isinstance(s.target, ast.Name) or s.iter.keywords or not 1 <= len(s.iter.args) <= 3 or s.orelse:
            raise wrong(s, "a loop over prange has one variable, one to three numbers, and no else", "write for i in prange(n): ...")
        for n in (n for b in s.body for n in own(b)):
            if isinstance(n, (ast.Return, ast.Yield, ast.YieldFrom, ast.Await, ast.Global, ast.Nonlocal)) or isinstance(n, ast.Break) and _leaves(s, n):
                raise wrong(n, "turns of a loop over prange run at the same time, and none can end the others", "write a loop over range, or let every turn decide for itself")
        set_here = set().union(*map(stores, s.body))
        folds = {}
        for name in sorted(set_here):
            kind = _reduction(s, name)
            if kind is not None:
                folds[name] = kind
        bare = ast.For(s.target, ast.Constant(0), s.body, [])
        live = self.liveness.after[s] | self.liveness.caught[s]
        read = self.liveness.before(bare, set()) & self.local - set(folds)
        carried = sorted(read & set_here)
        if carried:
            raise wrong(s, f"turns of a loop over prange run at the same time, and {carried[0]} goes from one to the next", f"update it as in {carried[0]} += x, or keep it in an array with an element for each turn")
        left = sorted((set_here | {s.target.id}) & live - set(folds))
        if left:
            raise wrong(s, f"{left[0]} is set in a loop over prange and read after it, and no turn is the last one", "store it in an array, or compute it after the loop")
        params = sorted(read - {s.target.id})
        name = f".loop{len(self.loops)}"
        self.loops[name] = Region(self.function, s, params, folds)
        tuple_of = lambda names: ast.Tuple([ast.Name(n, ast.Load()) for n in names], ast.Load())
        run = ast.Call(ast.Name(name, ast.Load()), [ast.Tuple(s.iter.args, ast.Load()), tuple_of(params), tuple_of(folds)], [])
        made = ast.Assign([ast.Tuple([ast.Name(n, ast.Store()) for n in folds], ast.Store())], run) if folds else ast.Expr(run)
        return ast.fix_missing_locations(ast.copy_location(made, s))


def _leaves(loop, node):
    """Whether a `break` ends the loop itself, and no loop in it."""
    inside = [n for b in loop.body for n in own(b) if isinstance(n, (ast.For, ast.While))]
    return not any(node in own(b) for n in inside for b in n.body)


def _reduction(loop, name):
    """How a variable that a loop sets is reduced; none where it is set or read in another way."""
    kinds, used = set(), 0
    for n in (n for b in loop.body for n in own(b)):
        if isinstance(n, ast.Name) and n.id == name:
            used += 1
        if isinstance(n, ast.AugAssign) and isinstance(n.target, ast.Name) and n.target.id == name:
            kinds.add(_FOLDS.get(type(n.op)))
            used -= 1
        elif isinstance(n, ast.Assign) and len(n.targets) == 1 and isinstance(n.targets[0], ast.Name) and n.targets[0].id == name:
            own_first = lambda e: isinstance(e, ast.Name) and e.id == name
            v = n.value
            if isinstance(v, ast.BinOp) and (own_first(v.left) or own_first(v.right) and not isinstance(v.op, ast.Sub)):
                kinds.add(_FOLDS.get(type(v.op)))
                used -= 2
            elif isinstance(v, ast.Call) and isinstance(v.func, ast.Name) and v.func.id in ("max", "min") and len(v.args) == 2 and any(map(own_first, v.args)):
                kinds.add(v.func.id)
                used -= 2
    return kinds.pop() if len(kinds) == 1 and None not in kinds and used == 0 else None




def _written(loop):
    """Names of arrays that a loop may write: it assigns to their elements, or gives them to a function of the program."""
    found = set()
    for n in (n for b in loop.body for n in own(b)):
        if isinstance(n, (ast.Subscript, ast.Attribute)) and not isinstance(n.ctx, ast.Load):
            while isinstance(n, (ast.Subscript, ast.Attribute)):
                n = n.value
            found |= {n.id} if isinstance(n, ast.Name) else set()
        elif isinstance(n, ast.Call):
            found.update(a.id for a in n.args if isinstance(a, ast.Name))
    return found


class Region:
    """A loop as a kernel: `params` are variables that it reads, `folds` says how those are reduced that it updates."""

    def __init__(self, function, loop, params, folds):
        self.function, self.loop, self.params, self.folds = function, loop, params, folds
        self.written, self.kernels = _written(loop), {}

    def __call__(self, turns, given, starts):
        numbers = range(*(int(n) for n in turns))
        values = [self.value(name, v) for name, v in zip(self.params, given)]
        starts = [self.value(name, v) for name, v in zip(self.folds, starts)]
        for name, v in zip(self.params, given):
            if isinstance(v, Array) and name in self.written:
                Run.now().settle(v._memory)
        if not numbers:
            return tuple(starts)
        n = len(numbers)
        blocks = min(BLOCKS, -(-n // THREADS))
        if not self.folds:
            self.kernel(())[blocks, THREADS](numbers.start, numbers.step, n, *values)
            return ()
        blocks = min(_folds._PIECES, -(-n // _folds._PIECE))
        dtypes = self.types(values, starts)
        parts = [device_array(blocks, d) for d in dtypes]
        neutral = [_neutral(kind, d) for kind, d in zip(self.folds.values(), dtypes)]
        self.kernel(dtypes)[blocks, THREADS](numbers.start, numbers.step, n, *values, *neutral, *parts)
        return tuple(self.joined(kind, start, part) for kind, start, part in zip(self.folds.values(), starts, parts))

    def joined(self, kind, start, part):
        whole = Array(_folds.reduced(kind, in_memory(part), (0,), part.dtype))
        f = {"sum": np.add, "prod": np.multiply, "max": np.maximum, "min": np.minimum}[kind]
        return f(part.dtype.type(start), whole)

    def value(self, name, value):
        if isinstance(value, Array):
            return value._memory if value.shape else value.copy_to_host()[()]
        if isinstance(value, np.ndarray):
            raise refused(f"{name}, an array of the host in a loop over prange,", "pass it as an argument of the function")
        return value

    def types(self, values, starts):
        """Types that the reduced variables have in the end: a number may meet one of another type in the loop."""
        kinds = tuple(str(type_of(v)._tierup_type_) for v in (*values, *starts))
        if kinds not in self.kernels:
            self.kernels[kinds] = [np.dtype(_tierup.result_type(self.probe(name), ["int64", *kinds])) for name in self.folds]
        return self.kernels[kinds]

    def probe(self, name):
        """A function of the loop for the type of what it gives."""
        names = ["turns", *self.params, *self.folds]
        loop = ast.For(self.loop.target, ast.Call(ast.Name("range", ast.Load()), [ast.Name(".turns", ast.Load())], []), self.loop.body, [])
        return njit(self.made([".turns", *names[1:]], [loop, ast.Return(ast.Name(name, ast.Load()))], {}))

    def made(self, params, body, cells):
        """A function with that body, in the place of the loop."""
        args = ast.arguments([], [ast.arg(p) for p in params], None, [], [], None, [])
        node = ast.FunctionDef(self.function.__name__, args, [copy.deepcopy(s) for s in body], [])
        ast.copy_location(node, self.loop)
        for s in node.body:
            ast.copy_location(s, self.loop)
        ast.fix_missing_locations(node)
        made = surrounded(compiled(node, self.function, tuple(cells)), self.function, {n: types.CellType(v) for n, v in cells.items()}, defaults=False)
        return made

    def kernel(self, dtypes):
        dtypes = tuple(dtypes)
        if dtypes not in self.kernels:
            name = lambda n: ast.Name(n, ast.Load())
            parse = lambda text: ast.parse(text).body
            turn = ast.parse("a = b + c * d").body[0]
            turn.targets, turn.value.left, turn.value.right.left, turn.value.right.right = [self.loop.target], name(".first"), name(".turn"), name(".step")
            loop = parse("for _ in a(b(1), c, d(1)): pass")[0]
            loop.target, loop.body = ast.Name(".turn", ast.Store()), [turn, *self.loop.body]
            loop.iter.func, loop.iter.args[0].func, loop.iter.args[1], loop.iter.args[2].func = name("range"), name(".grid"), name(".turns"), name(".gridsize")
            outs = [f".out{k}" for k in range(len(self.folds))]
            body, space = [loop], dict(_SPACE)
            for k, (variable, kind) in enumerate(self.folds.items()):
                space[f".dtype{k}"] = dtypes[k].type
                body += _tree(variable, kind, k)
            params = [".first", ".step", ".turns", *self.params, *self.folds, *outs]
            self.kernels[dtypes] = jit(self.made(params, body, space), fma=False)
        return self.kernels[dtypes]


_COMBINED = {"sum": "a + b", "prod": "a * b", "max": "max(a, b)", "min": "min(a, b)"}
_TREE = """
part = shared.array({threads}, dtype)
t = thread.x
part[t] = value
syncthreads()
half = {half}
while half > 0:
    if t < half:
        a, b = part[t], part[t + half]
        part[t] = {combined}
    syncthreads()
    half //= 2
if t == 0:
    out[block.x] = part[0]
"""


def _tree(variable, kind, k):
    """Statements that combine what the threads of a block have kept for a variable."""
    tree = ast.parse(_TREE.format(threads=THREADS, half=THREADS // 2, combined=_COMBINED[kind]))
    renamed = {"value": variable, "dtype": f".dtype{k}", "out": f".out{k}", "part": f".part{k}"} | {n: f".{n}" for n in ("shared", "thread", "t", "half", "syncthreads", "a", "b", "block")}
    for n in ast.walk(tree):
        if isinstance(n, ast.Name):
            n.id = renamed.get(n.id, n.id)
    return tree.body


def _neutral(kind, dtype):
    if kind in ("sum", "prod"):
        return dtype.type(kind == "prod")
    if dtype.kind == "f":
        return dtype.type(np.inf if kind == "min" else -np.inf)
    return np.bool_(kind == "min") if dtype.kind == "b" else dtype.type(getattr(np.iinfo(dtype), "max" if kind == "min" else "min"))
