"""`tierup.extending.lir`: functions for which compiled code runs a text of LIR, and `tierup.testing.agree`, which holds that against their bodies."""

import types as python_types

from . import _tierup, types

#: They live for ever: compiled code knows each by its object.
_known = {}


def lir(text):
    if not isinstance(text, str):
        raise TypeError(f"lir takes the text of a function's blocks, not {text!r}")

    def decorate(function):
        if not isinstance(function, python_types.FunctionType):
            raise TypeError(f"an opaque function is a function of Python's, which says what it means, not {function!r}")
        params, result = _types(function)
        stub = _stub(function)
        _tierup.opaque_function(function, stub, text, [t._tierup_type_ for t in params], result._tierup_type_)
        _known[function] = stub, params, result
        return function

    return decorate


def is_opaque(function):
    return isinstance(function, python_types.FunctionType) and function in _known


def _types(function):
    """The types of parameters and of the result, as the annotations say them."""
    import inspect
    import typing
    hints = typing.get_type_hints(function)
    found = []
    for p in inspect.signature(function).parameters.values():
        if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD):
            raise TypeError(f"{function.__name__}() takes any number of arguments, and LIR is over the leaves of so many")
        if p.name not in hints:
            raise TypeError(f"{function.__name__}() does not say the type of its parameter '{p.name}', which its LIR is over")
        found.append(_type(hints[p.name], function))
    if "return" not in hints:
        raise TypeError(f"{function.__name__}() does not say the type of its result, which its LIR gives")
    return found, _type(hints["return"], function)


def _type(a, function):
    import typing
    weak = {int: types.py_int, float: types.py_float, complex: types.py_complex}
    if isinstance(a, type) and a in weak:
        return weak[a]
    if typing.get_origin(a) is tuple and Ellipsis not in typing.get_args(a):
        return types.BaseTuple.from_types([_type(m, function) for m in typing.get_args(a)])
    try:
        t = types.as_type(a)
    except Exception:
        t = None
    if isinstance(t, (types.Number, types.NoneType)) or isinstance(t, types.BaseTuple) and all(_type(m, function) for m in t.types):
        return t
    from ._annotations import show
    raise TypeError(f"{function.__name__}(): LIR is over numbers, bools and tuples of these, not over {show(a)}")


def _stub(function):
    """A function with the same parameters that does nothing: its place in the compiler."""
    code = function.__code__
    names = [*code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]]
    positional = names[: code.co_argcount]
    if code.co_posonlyargcount:
        positional.insert(code.co_posonlyargcount, "/")
    params = ", ".join([*positional, *(["*", *names[code.co_argcount :]] if code.co_kwonlyargcount else [])])
    scope = {}
    exec(compile(f"def stub({params}):\n    pass\n", code.co_filename, "exec"), scope)
    stub = scope["stub"]
    stub.__code__ = stub.__code__.replace(co_name=code.co_name, co_firstlineno=code.co_firstlineno)
    stub.__name__, stub.__qualname__, stub.__module__ = function.__name__, function.__qualname__, function.__module__
    stub.__defaults__, stub.__kwdefaults__ = function.__defaults__, function.__kwdefaults__
    return stub


# ---------------------------------------------------------------- testing.agree

_FLOATS = (0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.0, -2.5, 3.0, 1e-300, 5e-324, 1e16, 1e300, 0.1, float("inf"), float("-inf"), float("nan"))


def _edges(t):
    """Values of a type at which functions have corners."""
    if isinstance(t, types.NoneType):
        return [None]
    if isinstance(t, types.Boolean):
        return [False, True]
    if isinstance(t, types.Integer):
        near = [0, 1, 2, 3, 7, 8, 10, 63, 64, 100, 1 << t.bitwidth // 2, t.maxval - 1, t.maxval]
        return [x for x in [*near, *([-x for x in near[1:]] if t.signed else []), t.minval] if t.minval <= x <= t.maxval]
    if isinstance(t, types.Float):
        return list(_FLOATS)
    if isinstance(t, types.Complex):
        return [complex(a, b) for a in _FLOATS[:6] for b in _FLOATS[::3]]
    import itertools
    return list(itertools.islice(itertools.product(*(_edges(m) for m in t.types)), 400))


def _any(t, draw):
    """A value of a type by chance."""
    if isinstance(t, types.NoneType):
        return None
    if isinstance(t, types.Boolean):
        return draw.random() < 0.5
    if isinstance(t, types.Integer):
        x = draw.getrandbits(draw.randint(1, t.bitwidth - t.signed))
        return -x if t.signed and draw.random() < 0.5 else x
    if isinstance(t, types.Float):
        return draw.choice((-1, 1)) * draw.random() * 10.0 ** draw.randint(-12, 12)
    if isinstance(t, types.Complex):
        return complex(_any(types.float64, draw), _any(types.float64, draw))
    return tuple(_any(m, draw) for m in t.types)


def _as(t, value):
    """A value as the program has it: a scalar of NumPy's where the type is one of NumPy's."""
    if isinstance(t, types.BaseTuple):
        return tuple(_as(m, v) for m, v in zip(t.types, value, strict=True))
    if isinstance(t, (types.NoneType, types.Boolean)) or t._tierup_type_ in types._STRONG:
        return value
    return types.as_dtype(t).type(value)


def _same(t, a, b):
    """Whether both are the same value of a type: integers as the type has them, floats bit by bit, any NaN as any other."""
    if isinstance(t, types.BaseTuple):
        return isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b) == t.count and all(map(_same, t.types, a, b))
    if isinstance(t, types.NoneType):
        return a is None and b is None
    if isinstance(t, types.Boolean):
        return bool(a) == bool(b)
    if isinstance(t, types.Integer):
        return (int(a) - int(b)) % (1 << t.bitwidth) == 0
    import numpy
    dtype = types.as_dtype(t)
    a, b = dtype.type(a), dtype.type(b)
    parts = [(a.real, b.real), (a.imag, b.imag)] if isinstance(t, types.Complex) else [(a, b)]
    return all(x == y and numpy.signbit(x) == numpy.signbit(y) or x != x and y != y for x, y in parts)


def inputs(params, count, seed):
    """Tuples of arguments: corners of each type with each other, as many as there is room for, and others by chance."""
    import itertools
    import random
    draw = random.Random(seed)
    edges = [_edges(t) for t in params]
    corners = list(itertools.islice(itertools.product(*edges), 1 << 16))
    chosen = corners if len(corners) <= count else draw.sample(corners, count)
    return [*chosen, *(tuple(draw.choice(e) if draw.random() < 0.3 else _any(t, draw) for t, e in zip(params, edges, strict=True)) for _ in range(count if params else 0))]


def agree(function, count, seed):
    if not is_opaque(function):
        raise TypeError(f"agree takes a function that was decorated with tierup.extending.lir, not {function!r}")
    _, params, result = _known[function]
    from . import config
    from ._jit import njit
    names = [f"x{k}" for k in range(len(params))]
    kwonly = function.__code__.co_kwonlyargcount
    given = [*names[: len(names) - kwonly], *(f"{n}={x}" for n, x in zip(function.__code__.co_varnames[len(names) - kwonly : len(names)], names[len(names) - kwonly :], strict=True))]
    scope = {"function_": function}
    exec(f"def call({', '.join(names)}):\n    return function_({', '.join(given)})", scope)
    call = scope["call"]
    compiled = call if config.tier == "off" else njit(call)
    for values in inputs(params, count, seed):
        args = tuple(map(_as, params, values))
        try:
            want = call(*args)
        except Exception as e:
            raise AssertionError(f"{function.__name__}{_shown(args)} raises {type(e).__name__}: {e}; its LIR raises nothing") from e
        got = compiled(*args)
        if not _same(result, want, got):
            raise AssertionError(f"{function.__name__}{_shown(args)} is {want!r}, and its LIR gives {got!r}")


def _shown(args):
    return f"({', '.join(map(repr, args))})"
