"""`vectorize` and `guvectorize`: NumPy ufuncs and generalised ufuncs of Python functions.

What the decorators give is a `numpy.ufunc`, of a class below it, so everything that NumPy does with ufuncs is NumPy's own. A `Builder` stands behind each: it
says which loop a call needs, and has it compiled. In compiled code a ufunc is a Python function of `tierup.lib.elementwise`, made by `_calls`.
"""

import typing

import numpy as np

from . import _tierup, config, types
from ._calls import compiled_gufunc, compiled_ufunc, library_function
from ._jit import _asked, _check_options, _engine_options, _fast_math, _no_longer, ask_packages, local_types
from .errors import TierupWarning  # noqa: F401

_TARGETS = ("cpu", "parallel", "cuda")
# The dtypes that compiled code holds, by NumPy's type numbers; two numbers may mean one type.
_TEXT = {np.dtype(getattr(np, n)).num: n for n in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64", "complex64", "complex128")}
_TEXT[np.dtype(np.bool_).num] = "bool"
_TEXT |= {np.dtype(c).num: np.dtype(c).name for c in "lLqQ"}
_NUMBER = {text: np.dtype(text).num for text in _TEXT.values()}
# Python's own numbers, by the kind that NumPy marks them with: the type in memory, what converts an element of it, the type in compiled code.
_WEAK = {1: ("int64", "int", "int"), 2: ("float64", "float", "float"), 3: ("complex128", "complex", "complex")}


def _parameters(function, what):
    """Names of the parameters of a function that is called element by element."""
    code = function.__code__
    if code.co_flags & 0x0C or code.co_kwonlyargcount:
        raise TypeError(f"{what} takes functions with positional parameters only, not *args, **kwargs or keyword-only ones")
    return code.co_varnames[:code.co_argcount]


def _options(options, what):
    _check_options(what, options)
    if options.get("nopython") is False:
        _no_longer(f"{what}: it compiles or raises; forceobj=True has Python compute each element")
    # As in Numba, and as NumPy's own ufuncs do: division by zero gives inf or nan.
    return _engine_options({"error_model": "numpy", **{k: v for k, v in options.items() if k != "forceobj"}})


def _target(target, what):
    if target not in _TARGETS:
        raise ValueError(f"{what} has the targets {', '.join(_TARGETS)}, not {target!r}")


def _identity(identity):
    if identity is None or isinstance(identity, (int, float, complex)) or identity == "reorderable":
        return identity
    raise ValueError(f"identity must be None, a number or 'reorderable', not {identity!r}")


class Builder:
    """What stands behind one ufunc."""

    def __init__(self, function, signatures, target, identity, options, what):
        if (module := getattr(function, "__module__", None)) not in _asked:
            ask_packages(module)
        self.function, self.options, self.what = function, options, what
        self.target, self.identity, self.engine = target, _identity(identity), _options(options, what)
        self.names = _parameters(function, what)
        # Python runs the function; the loops that call it are compiled.
        self.by_python, self._python = bool(options.get("forceobj")), {}
        self.locals = local_types(function, options.get("locals") or {})
        # Loops by the types of inputs (texts; Python's own numbers under their weak names) and by type numbers.
        self.loops, self.dynamic, self.can_compile, self.kept = {}, not signatures, True, []
        self.declared, self.dispatcher, self._in_compiled_code = [], None, None
        # What makes the same again, for pickles.
        self.recipe = (target, identity, options, self.dynamic)

    def kernel(self):
        """A dispatcher for the function itself."""
        if self.dispatcher is None:
            self.dispatcher = _tierup.make_dispatcher(self.function, False, {**self.engine, "locals": self.locals})
        return self.dispatcher

    def called(self, result):
        """What loops call: the function, with the types that its variables were given and the meaning of its numbers, or what has Python run it, whose result is of a type, given as text."""
        if not self.by_python:
            return self.kernel() if self.locals or self.engine["meaning"] == "numba" else self.function
        if result is None:
            raise TypeError(f"{self.what}(forceobj=True) needs signatures that say the types of results, such as 'float64(float64)'")
        if result not in self._python:
            from ._python_calls import PythonFunction
            self._python[result] = PythonFunction(self.function, result)
        return self._python[result]

    def in_compiled_code(self):
        """The function that compiled code calls in the ufunc's place."""
        if self._in_compiled_code is None:
            self._in_compiled_code = self._make_compiled()
        return self._in_compiled_code

    def _loop(self, ufunc, inputs):
        key = tuple(inputs)
        if key in self.loops:
            return self.loops[key]
        if not self.can_compile:
            raise TypeError(f"ufunc '{ufunc.__name__}' has no loop for {', '.join(inputs)} and may not compile more")
        return self.add(ufunc, inputs)

    def _dtypes(self, ufunc, operands):
        """The type of each operand: text, or a weak kind; None where it is not known."""
        found = []
        for number, weak in operands:
            if weak:
                found.append(_WEAK[weak][2])
            elif number < 0:
                found.append(None)
            elif number in _TEXT:
                found.append(_TEXT[number])
            else:
                dtype = _named(number)
                raise TypeError(f"ufunc '{ufunc.__name__}' is compiled, and compiled code has no type for dtype {dtype}")
        return found


def _named(number):
    names = {np.dtype(c).num: np.dtype(c).name for c in np.typecodes["All"]}
    return names.get(number, f"number {number}")


def _asked_types(asked, nargs):
    """What `dtype=` or `signature=` asked for: a text or None for each operand."""
    if asked is None:
        return [None] * nargs
    out = []
    for a in asked:
        if a is None:
            out.append(None)
            continue
        number = np.dtype(a).num if not isinstance(a, type) or not issubclass(a, np.dtype) else a().num
        if number not in _TEXT:
            raise TypeError(f"compiled code has no type for dtype {np.dtype(a)}")
        out.append(_TEXT[number])
    return out


class _Elementwise(Builder):
    """Behind a ufunc of `vectorize`."""

    def __init__(self, function, signatures, target, identity, options):
        super().__init__(function, signatures, target, identity, options, "vectorize")
        self.nin = len(self.names)
        if self.nin == 0:
            raise TypeError("vectorize takes functions with at least one parameter")
        self.nout = 1
        self.settled = set()

    def _make_compiled(self):
        return compiled_ufunc(self)

    def add(self, ufunc, inputs, result=None):
        """Compiles the loop for inputs of these types; `result` is a declared type. Gives the types of results."""
        key = tuple(inputs)
        if key in self.loops:
            return self.loops[key]
        strong = [types._STRONG.get(t, t) for t in inputs]
        if not self.by_python:
            given = types.from_text(_tierup.result_type(self.kernel(), list(inputs)))
            outs = _results(given, self.nout, self.function)
        if result is not None:
            outs = [result]
        called = self.called(result)
        weak = [t if t in types._STRONG else None for t in inputs]
        made = []
        # Loops of reductions and others that read what they write stay serial under target="parallel" as well.
        for counted in ("range", "prange")[:1 + (self.target == "parallel" and not self.by_python)]:
            d = library_function(loop_source(weak, len(outs), counted), "loop", {"function": called}, {**self.engine, "parallel": counted == "prange", "inner_loop": counted == "range"})
            _tierup.compile_for(d, [f"array({t}, 1d, A)" for t in strong + outs])
            made.append(d)
        numbers = [_NUMBER[t] for t in strong + outs]
        _tierup.add_loop(ufunc, made[0], numbers, False, *made[1:])
        self.loops[key] = outs
        self.kept += made
        return outs

    def _resolve(self, ufunc, operands, asked):
        given = self._dtypes(ufunc, operands)
        asked = _asked_types(asked, len(operands))
        if all(weak for _, weak in operands[:self.nin]):
            given = [types._STRONG.get(t, t) for t in given]
        elif any(weak for _, weak in operands[:self.nin]) and not any(asked):
            self._settle(ufunc, [types._STRONG.get(t, t) for t in given[:self.nin]])
        if self.nin == 2 and asked[0] and not asked[1] and asked[2] in (None, asked[0]) and self._folds(ufunc, asked[0], given[1]):
            return [_NUMBER[asked[0]]] * 3
        inputs = [a or g for a, g in zip(asked[:self.nin], given)]
        wanted = asked[self.nin:]
        if any(t is None for t in inputs):
            known = next((t for t in inputs + wanted + given if t is not None), None)
            inputs = [t or known for t in inputs]
        outs = self._loop(ufunc, inputs)
        if any(w and w != o for w, o in zip(wanted, outs)):
            # `dtype=` names the type of the result: the loop that computes in that type.
            inputs = [a or wanted[0] for a in asked[:self.nin]]
            outs = self._loop(ufunc, inputs)
            if any(w and w != o for w, o in zip(wanted, outs)):
                raise TypeError(f"ufunc '{ufunc.__name__}' has no loop that gives {wanted[0]}: for {', '.join(inputs)} it gives {', '.join(outs)}")
        return [_NUMBER[types._STRONG.get(t, t)] for t in inputs + outs]


    def _settle(self, ufunc, inputs):
        """Has NumPy learn the loop for arrays of these types, before one for a Python number in the place of an array is there: NumPy knows loops by what is in memory, would find that one
        for arrays as well, and asks us no more. What it is doing now comes to an end first."""
        if tuple(inputs) not in self.settled:
            raise _tierup.ToLearn(ufunc, inputs)

    def learn(self, ufunc, inputs):
        """Where an exception has said that NumPy has to learn this."""
        try:
            ufunc(*(np.empty(0, t) for t in inputs))
        except TypeError:
            # There is no such loop, so a call with arrays would raise.
            pass
        self.settled.add(tuple(inputs))

    def _folds(self, ufunc, t, element):
        """Whether elements can be put together in one type, which NumPy asks for by the type of the first operand alone; accumulations must be."""
        return np.can_cast(element, t) and self._loop(ufunc, [t, t]) == [t]


class _Generalised(Builder):
    """Behind a gufunc of `guvectorize`."""

    def __init__(self, function, signatures, layout, target, identity, options, writable_args, dynamic):
        super().__init__(function, signatures, target, identity, options, "guvectorize")
        self.layout = layout
        self.core = core_dimensions(layout)
        self.nin, self.nout = len(self.core[0]), len(self.core[1])
        self.dynamic = dynamic
        self.writable = [_position(k, self.names[:self.nin]) for k in writable_args]
        self.recipe = (layout, target, identity, options, tuple(writable_args), dynamic)
        if len(self.names) != self.nin + self.nout:
            raise TypeError(f"{function.__qualname__}() takes {len(self.names)} arguments, but the layout {layout} has {self.nin} inputs and {self.nout} outputs")

    def _make_compiled(self):
        return compiled_gufunc(self)

    def declare(self, ufunc, args, ret):
        if len(args) != self.nin + self.nout:
            raise TypeError(f"the signature gives types of {len(args)} arguments, but the layout {self.layout} has {self.nin + self.nout} operands")
        if ret is not None and ret != types.none:
            raise TypeError(f"a kernel of guvectorize writes its results and returns nothing; the signature says {ret}")
        texts = []
        for k, (t, dims) in enumerate(zip(args, self.core[0] + self.core[1])):
            ndim = t.ndim if isinstance(t, types.Array) else 0
            # A number is handed over as one, or as an array of one element.
            if ndim != len(dims) and not (ndim == 1 and not dims) or k >= self.nin and not ndim:
                wanted = f"an array of {len(dims)} dimensions" if dims else "an array of one dimension" if k >= self.nin else "a number"
                raise TypeError(f"operand {k} of the layout {self.layout} is {wanted}; the signature says {t}")
            texts.append((_scalar(t.dtype if ndim else t, "guvectorize"), ndim))
        self._add(ufunc, texts)
        self.declared.append((args, None))
        if texts == self._operands([t for t, _ in texts]):
            # Calls that ask by dtypes find it too.
            self.loops[tuple(t for t, _ in texts)] = [t for t, _ in texts]

    def _add(self, ufunc, operands):
        args = [f"array({t}, {n}d, A)" if n else t for t, n in operands]
        ret = "none" if self.by_python else _tierup.result_type(self.kernel(), args)
        if ret not in ("none", "never"):
            raise TypeError(f"a kernel of guvectorize writes its results and returns nothing; {self.function.__qualname__}() gives {ret}")
        core = self.core[0] + self.core[1]
        boxed = [bool(n and not dims) for (_, n), dims in zip(operands, core)]
        # Kernels that change inputs may hand something on from turn to turn.
        made = []
        for counted in ("range", "prange")[:1 + (self.target == "parallel" and not self.writable and self.nout > 0 and not self.by_python)]:
            loop = library_function(turns_source(len(core), counted), "loop", {"function": self.called("none")}, {**self.engine, "parallel": counted == "prange"})
            _tierup.compile_for(loop, [f"array({t}, {1 + len(dims) + box}d, A)" for (t, _), dims, box in zip(operands, core, boxed)])
            made.append(loop)
        _tierup.add_loop(ufunc, made[0], [_NUMBER[t] for t, _ in operands], True, *made[1:])
        self.kept += made

    def _operands(self, dtypes):
        """What the kernel takes for operands of these dtypes: each with its dimensions."""
        return [(t, len(dims) or int(k >= self.nin)) for k, (t, dims) in enumerate(zip(dtypes, self.core[0] + self.core[1]))]

    def add(self, ufunc, inputs):
        operands = self._operands(inputs)
        self._add(ufunc, operands)
        # So that pickles have it too.
        self.declared.append((tuple(types.from_text(f"array({t}, {n}d, A)" if n else t) for t, n in operands), None))
        self.loops[tuple(inputs)] = list(inputs)
        return self.loops[tuple(inputs)]

    def _resolve(self, ufunc, operands, asked):
        given = [types._STRONG.get(t, t) for t in self._dtypes(ufunc, operands)]
        texts = [a or g for a, g in zip(_asked_types(asked, len(operands)), given)]
        if None in texts:
            raise TypeError(f"too few arguments for {ufunc.__name__}(): a gufunc without signatures learns the types of its results from the arrays that they go to, so pass "
                            f"all {self.nin + self.nout} operands")
        return [_NUMBER[t] for t in self._loop(ufunc, texts)]


    @property
    def _sigs(self):
        return [args for args, _ in self.declared]


class Loop(typing.NamedTuple):
    """A loop of a ufunc that was added to it."""

    args: tuple
    return_type: object
    #: Whether Python runs the function.
    objectmode: bool

    @property
    def signature(self):
        return types.Signature(self.return_type, self.args)


def _position(k, inputs):
    if isinstance(k, str) and k in inputs:
        return list(inputs).index(k)
    if not isinstance(k, int) or not 0 <= k < len(inputs):
        raise ValueError(f"writable_args are numbers of inputs, 0 to {len(inputs) - 1}, or their names, not {k!r}")
    return k


def core_dimensions(layout):
    """Names of the core dimensions of inputs and of outputs of a layout such as `(m,n),(n)->(m)`; `(n),(m)` has no outputs, its kernel writes to inputs."""
    ins, _, outs = "".join(layout.split()).partition("->")
    sides = []
    for side in (ins, outs):
        parts, rest = [], side
        while rest:
            inside, closed, after = rest[1:].partition(")")
            names = [n for n in inside.split(",") if n]
            if rest[0] != "(" or not closed or not all(n.isidentifier() for n in names) or after and (after[0] != "," or after == ","):
                raise ValueError(f"{layout!r} is no layout: write the core dimensions of each operand in parentheses, as in (m,n),(n)->(m)")
            parts.append(tuple(names))
            rest = after[1:]
        sides.append(parts)
    if not sides[0]:
        raise ValueError(f"{layout!r} is no layout: write the core dimensions of each operand in parentheses, as in (m,n),(n)->(m)")
    unknown = {n for p in sides[1] for n in p} - {n for p in sides[0] for n in p}
    if unknown:
        raise NameError(f"the layout {layout} has results of the dimension {sorted(unknown)[0]}, which no input has")
    return sides


def _results(given, nout, function):
    """Texts of the result types, as they lie in memory."""
    parts = list(given.types) if isinstance(given, types.BaseTuple) else [given]
    texts = [types._STRONG.get(t._tierup_type_, t._tierup_type_) for t in parts]
    if len(texts) != nout or any(t not in _NUMBER for t in texts):
        from .errors import TypingError
        wanted = "a number" if nout == 1 else f"a tuple of {nout} numbers"
        raise TypingError(f"a function for vectorize returns {wanted}; {function.__qualname__}() gives {given}")
    return texts


def loop_source(weak, nout, counted):
    """An inner loop: one-dimensional arrays in, one-dimensional arrays out; `counted` is range or prange."""
    ins, outs = [f"x{k}" for k in range(len(weak))], [f"y{k}" for k in range(nout)]
    elements = ", ".join(f"{w}({x}[i])" if w else f"{x}[i]" for x, w in zip(ins, weak))
    left = ", ".join(f"{y}[i]" for y in outs)
    return _rows(ins + outs, f"{left} = function({elements})", counted)


def _rows(names, turn, counted):
    """A loop along the first axis of all arrays. NumPy gives them the same length there; that it is said leaves the loop without checks of `i`."""
    lines, indent = ["n = len(x0)"], "    "
    for x in names[1:]:
        lines += [f"{indent[4:]}if len({x}) == n:"]
        indent += "    "
    lines += [f"{indent[4:]}for i in {counted}(n):", f"{indent}{turn}"]
    return f"def loop({', '.join(names)}):\n" + "".join(f"    {line}\n" for line in lines)


def turns_source(count, counted):
    """The inner loop of a gufunc: arrays with one axis more than the kernel's. What the kernel takes as an array of one element has an axis of length 1 for it."""
    names = [f"x{k}" for k in range(count)]
    return _rows(names, f"function({', '.join(f'{x}[i]' for x in names)})", counted)


# ---------------------------------------------------------------- the class


def _make_class():
    class DUFunc(np.ufunc):
        __slots__ = ()
        # Of an instance, NumPy's text with the function's own; a class without this would have a text of its own for all.
        __doc__ = np.ufunc.__dict__["__doc__"]

        def __new__(cls, py_func, identity=None, cache=False, targetoptions=None):
            return vectorize(identity=identity, cache=cache, **(targetoptions or {}))(py_func)

        @property
        def _builder(self):
            return _tierup.ufunc_builder(self)

        @property
        def _tierup_function_(self):
            return self._builder.in_compiled_code()

        @property
        def py_func(self):
            """The Python function."""
            return self._builder.function

        __wrapped__ = py_func

        @property
        def ufunc(self):
            """The ufunc itself."""
            return self

        @property
        def targetoptions(self):
            return {"nopython": True, **self._builder.options}

        @property
        def is_dynamic(self):
            return self._builder.dynamic

        def add(self, sig):
            """Compiles a loop for a signature, or for several; what is known of the last one."""
            signatures = types.signatures(sig)
            _declare(self, signatures)
            return Loop(*signatures[-1], self._builder.by_python)

        def build_ufunc(self):
            return self

        @property
        def _frozen(self):
            """Whether it takes only types that are compiled already."""
            return not (self._builder.dynamic and self._builder.can_compile)

        @_frozen.setter
        def _frozen(self, value):
            if not value and self._frozen:
                raise ValueError("a ufunc that compiles no more stays so")
            if value:
                self.disable_compile()

        def disable_compile(self):
            """From now on only types that are compiled already are taken."""
            self._builder.can_compile = False

        def resolve_dtypes(self, *args, **options):
            while True:
                try:
                    return super().resolve_dtypes(*args, **options)
                except _tierup.ToLearn as e:
                    asked = e.args
                self._builder.learn(*asked)

        resolve_dtypes.__doc__ = np.ufunc.resolve_dtypes.__doc__

        def inspect(self, level="typed"):
            """The code of all loops at one level; see `Dispatcher.inspect`."""
            from ._jit import inspect
            return "\n".join(inspect(d, level) for d in self._builder.kept)

        def __reduce__(self):
            from ._pickle import reduce_ufunc
            return reduce_ufunc(self)

        def __copy__(self):
            return self

        def __deepcopy__(self, memo):
            return self

    DUFunc.__qualname__ = "DUFunc"
    return DUFunc


DUFunc = _tierup.below_ufunc(_make_class)


# A generalised ufunc.
class GUFunc(DUFunc):
    __slots__ = ()
    # NumPy's text would begin with parameters that say nothing of the layout.
    __doc__ = property(lambda self: self.py_func.__doc__)

    @property
    def gufunc_builder(self):
        """What holds the signatures of all loops: `gufunc_builder._sigs`."""
        return self._builder


# One without signatures: the arrays that results go to say their types.
class DynamicGUFunc(GUFunc):
    __slots__ = ()
    __doc__ = GUFunc.__doc__

    def __call__(self, *args, **kwargs):
        if "signature" not in kwargs and "dtype" not in kwargs:
            outs = args[self.nin:] if len(args) > self.nin else kwargs.get("out", ())
            outs = outs if isinstance(outs, tuple) else (outs,)
            if len(outs) == self.nout and all(isinstance(o, np.ndarray) for o in outs):
                kwargs["signature"] = (None,) * self.nin + tuple(o.dtype for o in outs)
        return super().__call__(*args, **kwargs)


def _declare(ufunc, signatures):
    b = ufunc._builder
    for args, ret in signatures:
        b.declare(ufunc, args, ret)


def _declare_elementwise(self, ufunc, args, ret):
    if len(args) != self.nin:
        raise TypeError(f"the signature gives types of {len(args)} arguments, but {self.function.__name__}() takes {self.nin}")
    texts = [_scalar(t, "vectorize") for t in args]
    self.add(ufunc, texts, None if ret is None else _scalar(ret, "vectorize"))
    self.declared.append((args, ret))


_Elementwise.declare = _declare_elementwise


def _scalar(t, what):
    text = types._STRONG.get(t._tierup_type_, t._tierup_type_)
    if text not in _NUMBER:
        raise TypeError(f"signatures of {what} name numbers, not {t}")
    return text


def _is_function(what):
    return hasattr(what, "__code__") or hasattr(what, "py_func")


def _plain(function):
    return getattr(function, "py_func", function)


def vectorize(ftylist_or_function=(), /, target="cpu", identity=None, **options):
    """Makes a NumPy ufunc of a function of numbers: `@vectorize`, `@vectorize(["float64(float64, float64)", ...])`, `@vectorize(options)`.

    Without signatures a loop is compiled for each combination of dtypes when it is first called. `identity` is what reductions of nothing give: a number, None,
    or "reorderable" for none although the order does not matter. Options are those of `jit`; division by zero gives inf or nan as in NumPy,
    unless `error_model="python"` is asked for.
    """
    _target(target, "vectorize")
    if _is_function(ftylist_or_function):
        return _vectorized(_plain(ftylist_or_function), [], target, identity, options)
    signatures = _signature_list(ftylist_or_function)
    return lambda function: _vectorized(_plain(function), signatures, target, identity, options)


def _signature_list(what):
    """Signatures of one, or of a list or tuple of them."""
    if isinstance(what, tuple) and all(isinstance(t, types.Type) for t in what) and what:
        return types.signatures(what)
    return types.signatures(list(what) if isinstance(what, (list, tuple)) else what)


def _only_options(what, given):
    """Refuses what ufuncs of a device do not have."""
    for name, value in given.items():
        if value is not None and value != ():
            raise NotImplementedError(f"{what}(target='cuda') has no {name}=")


def _vectorized(function, signatures, target, identity, options):
    if target == "cuda":
        from .cuda._ufuncs import vectorized
        _only_options("vectorize", {"identity": identity})
        return vectorized(function, signatures, options)
    b = _Elementwise(function, signatures, target, identity, options)
    if config.tier == "off":
        from ._plain_ufuncs import PlainUFunc
        return PlainUFunc(b, signatures)
    f = _tierup.make_ufunc(DUFunc, b, b.nin, b.nout, function.__name__, function.__doc__ or "", b.identity, None, b.dynamic)
    _label(f, function)
    _declare(f, signatures)
    return f


def guvectorize(*args, target="cpu", identity=None, writable_args=(), is_dynamic=None, **options):
    """Makes a generalised ufunc: `@guvectorize(["void(float64[:], float64, float64[:])"], "(n),()->(n)")`, or `@guvectorize("(n),()->(n)")` without signatures.

    The kernel takes its inputs and then its outputs, which it fills; it returns nothing. An output without dimensions is an array of one element. Without signatures loops
    are compiled for the arrays at hand, outputs included, which calls then pass. `writable_args` are numbers or names of inputs that the kernel changes.
    """
    _target(target, "guvectorize")
    if len(args) not in (1, 2) or not isinstance(args[-1], str):
        raise TypeError("guvectorize takes signatures and a layout such as '(m,n),(n)->(m)', or the layout alone")
    signatures = [] if len(args) == 1 else _signature_list(args[0])
    dynamic = not signatures if is_dynamic is None else is_dynamic
    return lambda function: _generalised(_plain(function), signatures, args[-1], target, identity, options, writable_args, dynamic)


def _generalised(function, signatures, layout, target, identity, options, writable_args, dynamic):
    if target == "cuda":
        from .cuda._ufuncs import generalised
        _only_options("guvectorize", {"identity": identity, "writable_args": writable_args})
        return generalised(function, signatures, core_dimensions(layout), options)
    b = _Generalised(function, signatures, layout, target, identity, options, writable_args, dynamic)
    if config.tier == "off":
        from ._plain_ufuncs import PlainGUFunc
        return PlainGUFunc(b, signatures)
    class_ = DynamicGUFunc if dynamic else GUFunc
    f = _tierup.make_ufunc(class_, b, b.nin, b.nout, function.__name__, function.__doc__ or "", b.identity, layout, dynamic)
    _tierup.set_writable(f, b.writable + list(range(b.nin, b.nin + b.nout)))
    _label(f, function)
    _declare(f, signatures)
    return f


def _guvectorize_again(function, recipe, declared):
    """The gufunc of a pickle."""
    layout, target, identity, options, writable, dynamic = recipe
    return _generalised(function, declared, layout, target, identity, options, writable, dynamic)


def _vectorize_again(function, recipe, declared):
    """The ufunc of a pickle."""
    target, identity, options, dynamic = recipe
    f = _vectorized(function, [] if dynamic else declared, target, identity, options)
    if dynamic:
        _declare(f, declared)
    return f


def _label(ufunc, function):
    """Where the ufunc comes from, for those who read; before NumPy 2.2 ufuncs have no attributes of their own."""
    for name in ("__module__", "__qualname__"):
        try:
            setattr(ufunc, name, getattr(function, name))
        except AttributeError:
            pass
