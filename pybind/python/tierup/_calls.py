"""Functions that stand in compiled code for ufuncs, and for what else is called there in another form than in Python.

Each is ordinary Python in a file of the library, so that what goes wrong in one goes wrong in the user's line.
"""

import builtins
import functools
import importlib
import itertools
import keyword
import operator
import re
import string

import numpy

from . import _tierup, types
from ._jit import prange
from ._paths import WRITTEN


def maker(source, name, names, kind):
    """The function of these parameters that gives the function `name` of a text, which captures them; a library function, as is what it gives."""
    body = "".join(f"    {line}\n" for line in source.splitlines())
    text = f"def make({', '.join(names)}):\n{body}    return {name}\n"
    from .lib import elementwise, folds, stencils, ufunc
    module = {"np": numpy, "operator": operator, "elementwise": elementwise, "folds": folds, "prange": prange, "ufunc": ufunc, "stencils": stencils, "__name__": "tierup.lib.made", "__builtins__": builtins}
    if kind == "stencil":
        module["_origin"] = kind
    exec(compile(text, WRITTEN % kind, "exec"), module)
    return module["make"]


def made(source, name, space, kind="made"):
    """The function `name` of a text, as a library function; `space` is what it captures."""
    return maker(source, name, space, kind)(*space.values())


def library_function(source, name, space, engine):
    """A dispatcher for a function made of a text."""
    return _tierup.make_dispatcher(made(source, name, space), False, engine)


def python_caller(function, names, result, changes=False):
    """The function that calls a function of Python with these parameters, and takes what it gives for a value of that type. One that changes nothing, or is not called for that, may be
    called less often."""
    key = numpy.array([_tierup.register_python(function)], numpy.int64)
    name, call = _identifier(function.__name__.lstrip("_")), "_python_call" if changes else "_ask_python"
    given = f", {names}" if names else ""
    return made(f"def {name}({names}):\n    return np.{call}(_key_[0], {result!r}{given})", name, {"_key_": key})


def _scalar_kernel(b, args, ret, k):
    """A declared loop: operands are converted to what it was declared for."""
    names = [f"x{j}" for j in range(b.nin)]
    value = f"function({', '.join(f't{j}({n})' for j, n in enumerate(names))})"
    space = {"function": b.called(None if ret is None else ret._tierup_type_), **{f"t{j}": _dtype(t) for j, t in enumerate(args)}}
    if ret is not None:
        space["t"] = _dtype(ret)
        value = f"t({value})"
    return made(f"def loop{k}({', '.join(names)}):\n    return {value}", f"loop{k}", space)


def _identifier(name):
    return name if name.isidentifier() else "call"


def _dtype(t):
    return getattr(numpy, types._NUMPY.get(t.key, t.key))


# What a call of a ufunc becomes. Names are those of `lib.elementwise`; {xs} are the operands, {each} puts each of them through something.
_CALL = """
def first({xs}):
    return {name}({one})

def row(y, {xs}):
    for k in prange(len(y)):
        y[k] = {name}({at})

def fill(y, {xs}):
    if y.ndim == 0:
        y[()] = {name}({one})
    elif y.ndim == 1:
        row(y, {spread})
    elif elementwise.without_gaps(elementwise.arrays(({xs},)), y):
        row(y.reshape(-1), {flat})
    else:
        rows(y, {spread})

def rows(y, {xs}):
    for i in np.ndindex(y.shape[:-1]):
        row(y[i], {part})

def function{k}({xs}):
    all = elementwise.arrays(({xs},))
    if len(all) == 0:
        return {name}({xs})
    y = elementwise.allocate(all, np._result_dtype(first, {xs}))
    fill(y, {xs})
    return elementwise.given(y)
"""


def _call_source(nin, name, k):
    xs = [f"x{j}" for j in range(nin)]
    each = lambda form: ", ".join(form.format(x) for x in xs)
    return _CALL.format(xs=", ".join(xs), name=name, k=k, one=each("elementwise.one({})"), at=each("elementwise.at({}, k)"), spread=each("elementwise.spread({}, y)"),
                        flat=each("elementwise.flat({})"), part=each("elementwise.part({}, i)"))


def compiled_ufunc(b):
    """The function that compiled code calls in place of a ufunc; what the ufunc has under other names are its attributes."""
    xs = [f"x{j}" for j in range(b.nin)]
    listed = ", ".join(xs)
    name = _identifier(b.function.__name__)
    lines = [f"def {name}({listed}, out=None):"]
    lines += [f"    if isinstance({x}, (list, tuple)):\n        return {name}({', '.join(f'elementwise.operand({y})' for y in xs)}, out)" for x in xs]
    lines += ["    if out is not None:", f"        return elementwise.into(out, {name}({listed}))"]
    space = {}
    if b.dynamic:
        space["every"] = _whole(b, "loop", b.called(None))
        lines.append(f"    return every({listed})")
    else:
        exactly, start = [], len(lines)
        for k, (args, ret) in enumerate(b.declared):
            loop = _scalar_kernel(b, args, ret, k)
            space |= {f"every{k}": _whole(b, f"loop{k}", loop)} | {f"d{k}_{j}": _dtype(t) for j, t in enumerate(args)}
            test = " and ".join(f"np._takes(d{k}_{j}, {x}, {listed})" for j, x in enumerate(xs))
            exact = " and ".join(f"np.result_type({x}) == d{k}_{j}" for j, x in enumerate(xs))
            exactly += [f"    if {exact}:", f"        return every{k}({listed})"]
            lines += [f"    if {test}:", f"        return every{k}({listed})"]
        lines[start:start] = exactly
        lines.append(f"    raise TypeError(\"ufunc '{b.function.__name__}' not supported for the input types, and the inputs could not be safely coerced to any supported types "
                     "according to the casting rule ''safe''\")")
    f = made("\n".join(lines), name, space)
    f._tierup_attributes_ = _attributes(b, f)
    return f


def _whole(b, name, loop):
    """Goes through all elements of operands with a scalar function."""
    return made(_call_source(b.nin, name, "_whole"), "function_whole", {name: loop})


_METHODS = {
    "reduce": "array, axis=0, dtype=None, out=None, keepdims=False, initial=None, where=True",
    "accumulate": "array, axis=0, dtype=None, out=None",
    "reduceat": "array, indices, axis=0, dtype=None, out=None",
    "outer": "A, B",
    "at": "a, indices, b=None",
}


def _attributes(b, f):
    values = {"nin": b.nin, "nout": b.nout, "nargs": b.nin + b.nout, "identity": None if isinstance(b.identity, str) else b.identity, "signature": None}
    for method, params in _METHODS.items():
        if b.nin == 2 or b.nin == 1 and method == "at":
            names = [p.split("=")[0] for p in params.split(", ")]
            home, extra = ("ufunc.at", "f, ") if method == "at" else (f"folds.{method}", "f, identity, " if method == "reduce" else "f, ")
            source = f"def {method}({params}):\n    return {home}({extra}{', '.join(names)})"
            values[method] = made(source, method, {"f": f, "identity": b.identity})
    return values


_GUFUNC = """
def loop{k}({operands}):
    ({operands},) = ({typed},)
    {checks}
    shape = elementwise.leading(({operands},), ({ndims},))
    if len(shape) == 0:
        function({plain})
    else:
        every{k}(shape, {views})

def every{k}(shape, {operands}):
    if len(shape) == 1:
        for i in {counted}(shape[0]):
            function({parts})
        return
    for first in {counted}(shape[0]):
        for rest in np.ndindex(shape[1:]):
            i = (first,) + rest
            function({parts})
"""


def _gufunc_loop(b, k, args):
    """One loop of a gufunc: operands of the types that it was declared for, and with all dimensions that it needs."""
    dims = b.core[0] + b.core[1]
    names = [f"x{j}" for j in range(len(dims))]
    # A declared number without dimensions is one; outputs without dimensions, and inputs declared as arrays, are arrays of one element.
    boxed = [not d and (j >= b.nin or args is not None and isinstance(args[j], types.Array)) for j, d in enumerate(dims)]
    typed = [n if args is None or j >= b.nin else f"elementwise.of_type({n}, t{j})" for j, n in enumerate(names)]
    of = {}
    for n, d in zip(names, dims):
        for axis, name in enumerate(d):
            of.setdefault(name, []).append((n, axis - len(d)))
    checks = [f"elementwise.check_core({first[0]}.shape[{first[1]}], {n}.shape[{axis}], {b.function.__name__!r}, {names.index(n)}, {b.nin}, {axis + len(dims[names.index(n)])}, {b.layout!r})"
              for first, *others in of.values() for n, axis in others]
    view = lambda n, d, box: f"elementwise.boxed({n})" if box else n
    every = [f"elementwise.{'outer_output' if j >= b.nin or j in b.writable else 'outer_view'}({view(n, d, x)}, shape, {len(d) or int(x)})" for j, (n, d, x) in enumerate(zip(names, dims, boxed))]
    plain = [view(n, d, x) if d or x else f"elementwise.one({n})" for n, d, x in zip(names, dims, boxed)]
    # Views that are made where they are passed count no references.
    parts = [f"{n}[i]" if d or x else f"elementwise.part({n}, i)" for n, d, x in zip(names, dims, boxed)]
    source = _GUFUNC.format(k=k, operands=", ".join(names), typed=", ".join(typed), checks="\n    ".join(checks) or "pass", ndims=", ".join(str(len(d)) for d in dims),
                            counted="range" if b.writable else "prange", plain=", ".join(plain), views=", ".join(every), parts=", ".join(parts))
    space = {"function": b.called("none")}
    if args is not None:
        space |= {f"t{j}": _dtype(t.dtype if isinstance(t, types.Array) else t) for j, t in enumerate(args)}
    return made(source, f"loop{k}", space)


def compiled_gufunc(b):
    """The function that compiled code calls in place of a gufunc, with all operands."""
    name, count = _identifier(b.function.__name__), b.nin + b.nout
    names = [f"x{j}" for j in range(count)]
    listed, ins = ", ".join(names), ", ".join(names[:b.nin])
    lines, space = [f"def {name}({listed}):"], {}
    dims = b.core[0] + b.core[1]
    lines += [f"    if isinstance({x}, (list, tuple)):\n        return {name}({', '.join(f'elementwise.operand({y})' if j < b.nin else y for j, y in enumerate(names))})" for x in names[:b.nin]]
    lines += [f"    elementwise.check_dimensions({n}, {len(d)}, {name!r}, {j}, {b.nin}, {b.layout!r})" for j, (n, d) in enumerate(zip(names, dims))]
    if b.dynamic:
        space["loop"] = _gufunc_loop(b, "", None)
        lines.append(f"    loop({listed})")
    else:
        exactly, start = [], len(lines)
        for k, (args, _) in enumerate(b.declared):
            element = [_dtype(t.dtype if isinstance(t, types.Array) else t) for t in args]
            space |= {f"loop{k}": _gufunc_loop(b, k, args)} | {f"d{k}_{j}": t for j, t in enumerate(element)}
            test = " and ".join(f"np._takes(d{k}_{j}, {x}, {ins})" for j, x in enumerate(names[:b.nin]))
            outs = ", ".join(f"elementwise.output({n}, d{k}_{b.nin + j}, ({ins},))" for j, n in enumerate(names[b.nin:]))
            made_outs = [f"y{j}" for j in range(b.nout)]
            exact = " and ".join(f"np.result_type({x}) == d{k}_{j}" for j, x in enumerate(names[:b.nin]))
            body = [f"        ({', '.join(made_outs)},) = ({outs},)"] if made_outs else []
            # Inputs that are written to come back like outputs, whatever their type: so NumPy does it.
            changed = {j: f"w{j}" for j in sorted(set(b.writable))}
            body += [f"        {w} = elementwise.of_type(x{j}, d{k}_{j})" for j, w in changed.items()]
            body += [f"        loop{k}({', '.join([changed.get(j, x) for j, x in enumerate(names[:b.nin])] + made_outs)})"]
            back = [*zip(names[b.nin:], made_outs), *((names[j], w) for j, w in changed.items())]
            body += [f"        elementwise.written({n}, {y})" for n, y in back] + ["        return"]
            exactly += [f"    if {exact}:", *body]
            lines += [f"    if {test}:", *body]
        lines[start:start] = exactly
        lines.append(f"    raise TypeError(\"ufunc '{name}' not supported for the input types, and the inputs could not be safely coerced to any supported types "
                     "according to the casting rule ''safe''\")")
    f = made("\n".join(lines), name, space)
    f._tierup_attributes_ = {"nin": b.nin, "nout": b.nout, "nargs": count, "identity": None if isinstance(b.identity, str) else b.identity, "signature": b.layout}
    return f


@functools.cache
def spread(needed, bound, names, keywords, called, before=0):
    """``f(*xs)`` of a function whose parameters by place have these names, the first `needed` of them without a default; `bound` is 1 for a method. `before` values stand in front of what is
    spread, which is then the last member of a tuple of all."""
    places, lines = len(names), _spread_lines("[*{}]", before)
    for n in range(max(needed, before), places + 1):
        operands = [_spread_item(k, before) for k in range(n)] + [f"{k}={k}_" for k in keywords]
        lines += [f"if n == {n}:", f"    return f({', '.join(operands)})"]
    for n in range(before, needed):
        lines += [f"if n == {n}:", f"    raise TypeError({called + '() ' + _missing(names[n:needed])!r})"]
    most = places + bound
    takes = f"from {needed + bound} to {most} positional arguments" if needed < places else f"{most} positional argument" + "s" * (most != 1)
    lines.append(f"raise TypeError({called + '() takes ' + takes + ' but '!r} + str(n + {bound}) + ' were given')")
    source = f"def spread({', '.join(['f', 'given', *(k + '_' for k in keywords)])}):\n" + "\n".join("    " + line for line in lines)
    return made(source, "spread", {})


@functools.cache
def spread_with_rest(needed, bound, names, keywords, called, before=0):
    """The same of a function with ``*args``, which gets what is left as a tuple."""
    places, lines = len(names), _spread_lines("tuple({})", before)
    given = [f"{k}={k}_" for k in keywords]
    for n in range(before, needed):
        lines += [f"if n == {n}:", f"    raise TypeError({called + '() ' + _missing(names[n:needed])!r})"]
    for n in range(max(needed, before), places):
        lines += [f"if n == {n}:", f"    return f({', '.join([_spread_item(k, before) for k in range(n)] + given)})"]
    operands = ["f", f"xs[{places - before}:]", *(_spread_item(k, before) for k in range(places)), *given]
    lines.append(f"return operator._with_rest({', '.join(operands)})")
    source = f"def spread_with_rest({', '.join(['f', 'given', *(k + '_' for k in keywords)])}):\n" + "\n".join("    " + line for line in lines)
    return made(source, "spread_with_rest", {})


def _spread_lines(taken, before):
    return ["xs = " + taken.format("given" if before == 0 else f"given[{before}]"), "n = len(xs)" + f" + {before}" * (before > 0)]


def _spread_item(k, before):
    return f"given[{k}]" if k < before else f"xs[{k - before}]"


@functools.cache
def unpacked(before, count):
    """``a, b, c = x, *xs``: `before` values, and what is spread behind them as the last member of the tuple."""
    lines = _spread_lines("[*{}]", before)
    lines += [f"if n < {count}:", f"    raise ValueError('not enough values to unpack (expected {count}, got ' + str(n) + ')')"]
    lines += [f"if n > {count}:", f"    raise ValueError('too many values to unpack (expected {count})')"]
    lines.append(f"return ({''.join(_spread_item(k, before) + ', ' for k in range(count))})" if count else "return ()")
    return made("def unpacked(given):\n" + "\n".join("    " + line for line in lines), "unpacked", {})


@functools.cache
def spread_by_count(name, most, taken):
    """``f(*xs)`` of the operation of that name, for the numbers of operands that it takes; what Python says of others, it says itself."""
    module, _, attribute = name.rpartition(".")
    function = getattr(importlib.import_module(module), attribute)
    lines = ["xs = [*given]", "n = len(xs)"]
    for n in range(most + 1):
        done = f"return f({', '.join(f'xs[{k}]' for k in range(n))})" if n in taken else f"raise TypeError({_refusal(function, n)!r})"
        lines += [f"if n == {n}:", f"    {done}"]
    before, found, after = _refusal(function, most + 1).rpartition(str(most + 1))
    lines.append(f"raise TypeError({before!r} + str(n) + {after!r})" if found else f"raise TypeError({after!r})")
    return made("def spread(f, given):\n" + "\n".join("    " + line for line in lines), "spread", {})


def _refusal(function, count):
    """What a function says of so many arguments."""
    try:
        function(*[1] * count)
    except TypeError as e:
        return str(e)
    raise ValueError(f"{function} takes {count} arguments")


@functools.cache
def format_spread(text):
    """``text.format(*xs)``."""
    wanted = [*_fields(text, itertools.count())]
    lines = ["xs = [*given]", "n = len(xs)"]
    most = max(wanted, default=-1) + 1
    for n in range(most):
        first = next(k for k in wanted if k >= n)
        lines += [f"if n == {n}:", f"    raise IndexError('Replacement index {first} out of range for positional args tuple')"]
    lines.append(f"return {text!r}.format({', '.join(f'xs[{k}]' for k in range(most))})")
    return made("def spread(given):\n" + "\n".join("    " + line for line in lines), "spread", {})


def _fields(text, auto):
    """The operands that a format wants, in the order in which it does."""
    for _, name, spec, _ in string.Formatter().parse(text):
        if name is None:
            continue
        first = re.match(r"[^.\[]*", name).group()
        yield int(first) if first else next(auto)
        yield from _fields(spec, auto)


@functools.cache
def columns(count):
    """``a, b = zip(*rows)`` of tuples with so many members."""
    missing = f"not enough values to unpack (expected {count}, got 0)"
    taken = "".join(f"tuple([r[{k}] for r in rows]), " for k in range(count))
    return made(f"def columns(rows):\n    if len(rows) == 0:\n        raise ValueError({missing!r})\n    return ({taken})", "columns", {})


@functools.cache
def made_of(count):
    """``Class._make(values)`` of a class of named tuples with so many fields."""
    given = ", ".join(f"xs[{k}]" for k in range(count))
    return made(f"def made_of(f, values):\n    xs = [*values]\n    if len(xs) != {count}:\n        raise TypeError('Expected {count} arguments, got ' + str(len(xs)))\n    return f({given})", "made_of", {})


def _missing(names):
    quoted = [repr(n) for n in names]
    text = quoted[0] if len(quoted) == 1 else " and ".join(quoted) if len(quoted) == 2 else ", ".join(quoted[:-1]) + ", and " + quoted[-1]
    return f"missing {len(names)} required positional argument{'s' * (len(names) > 1)}: {text}"


@functools.cache
def print_spread(keywords):
    """``print(*xs)`` with these keywords."""
    sep = "' '" if "sep" not in keywords else "(' ' if sep is None else sep)"
    rest = "".join(f", {k}={k}" for k in keywords if k != "sep")
    source = f"def print_spread({', '.join(['xs', *keywords])}):\n    print({sep}.join([str(x) for x in xs]){rest})"
    return made(source, "print_spread", {})


@functools.cache
def unbound(path, name):
    """``set.union(*sets)``: a method of the first; `path` is that of the function that takes the others as a list."""
    source = "def unbound(given):\n    xs = [*given]\n    if len(xs) == 0:\n"
    source += f"        raise TypeError({f'unbound method {name}() needs an argument'!r})\n    return of(xs[0], xs[1:])"
    module, function = path.split(".")
    of = getattr(importlib.import_module(f"{__package__}.lib.{module}"), function)
    return made(source, "unbound", {"of": of})


@functools.cache
def attributes(names):
    """What ``operator.attrgetter`` gives for these names."""
    _check("attribute name", [part for name in names for part in name.split(".")])
    taken = [f"x.{name}" for name in names]
    return made("def attrgetter(x):\n    return " + (taken[0] if len(taken) == 1 else f"({', '.join(taken)})"), "attrgetter", {})


@functools.cache
def method(names):
    """What calls the method of that name."""
    _check("method name", names)
    return made(f"def methodcaller(x, *args):\n    return x.{names[0]}(*args)", "methodcaller", {})


def _check(what, names):
    for name in names:
        if not name.isidentifier() or keyword.iskeyword(name):
            raise ValueError(f"{name!r} is no {what}")
