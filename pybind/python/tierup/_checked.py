"""Functions whose annotations are checked: `njit(checked=True)`, and what rows of `tierup.dispatch` give.

An argument fits its annotation, is converted (by a rule of `tierup.rules`, or a number to a wider one), or is refused. The compiler asks
:func:`argument` and :func:`result` with what it knows of types, plain Python with values.
"""

import functools
import numbers
import typing

from . import _annotations as annotations
from . import rules
from ._annotations import EMPTY, MAYBE, YES, show
from ._dispatch import Refused, Row


class _Value:
    """An argument or result of plain Python, asked as a form is."""

    def __init__(self, value):
        self.value, self.given = value, type(value)

    def fits(self, a):
        return annotations.fits(self.value, a)

    def fields(self):
        return getattr(self.value, "__dict__", ())

    def inside(self, a):
        """Elements, with what is declared of them."""
        return [(_Value(v), e) for e in _elements(self.given, a) for v in self.value]

    def name(self):
        return show(self.given)


class _Known:
    """What compiled code knows of one. What it cannot tell is refused."""

    def __init__(self, form, what):
        self.form, self.what = form, what
        self.given = form.classes[0] if form.classes else object

    def fits(self, a):
        answer = annotations.allows(self.form, a)
        if answer == EMPTY:
            # Nothing was put into it yet.
            return all(f.kind == "unknown" for f in self.form.inside)
        if answer == MAYBE:
            raise Refused("unsupported-argument", f"{self.what} must be {show(a)}, which only the value can tell of {self.name()}")
        return answer == YES

    def fields(self):
        return self.form.inside if self.form.kind == "object" else ()

    def inside(self, a):
        return [(_Known(f, self.what), e) for e in _elements(self.given, a) for f in self.form.inside if f.kind != "unknown"]

    def name(self):
        return annotations.name_of(self.form)


def _elements(given, a):
    """What an annotation says of the elements of a container of that class."""
    a = annotations.plain(a)
    origin = typing.get_origin(a)
    return typing.get_args(a) if origin in annotations.ELEMENTS and issubclass(given, origin) else ()


def _step(of, declared, what, by_rules=lambda: None):
    """How a value becomes what is declared: None where it is that, else a function. `what` begins the message of a refusal; `by_rules` is
    called where the answer depends on rules of the program."""
    if of.fits(declared):
        return _to_python(of, declared)
    by_rules()
    found = rules.conversion(of.fits, of.given, declared) or _wider(of, declared)
    if found is not None:
        return found[1]
    raise _refusal(of, declared, what)


def _refusal(of, declared, what):
    lacking = _lacking(of, declared)
    if lacking is None:
        inside = next((f" of {x.name()}" for x, a in of.inside(declared) if not x.fits(a)), "")
        return Refused("bad-call", f"{what} must be {show(declared)}{_bounds(declared)}, not {of.name()}{inside}")
    return Refused("unsatisfied-bound", _lacks(what, *lacking))


def _bounds(declared):
    """What the type variables of an annotation stand for."""
    said = [f"{show(v)}: {show(v.__bound__)}" for v in dict.fromkeys(_variables(declared)) if v.__bound__ is not None]
    return f" ({', '.join(said)})" if said else ""


def _lacks(what, of, protocol, bound):
    name = annotations.lacks(of.given, protocol, of.fields())
    return f"{what}: {of.name()} has no '{name}', which {show(protocol)} asks for {_where(protocol, name)}{bound}"


def _to_python(of, declared):
    """A number of NumPy's that is also one of Python's becomes one of Python's."""
    if of.given.__module__ != "numpy" or not issubclass(of.given, (float, complex)):
        return None
    parts = _parts(declared)
    return next((to for to in (float, complex) if to in parts and issubclass(of.given, to) and of.given not in parts), None)


def _wider(of, declared):
    """A number of a narrower kind becomes what is declared; bool is an int, and NumPy's numbers are numbers."""
    kinds = [(int, numbers.Integral), (float, numbers.Real), (complex, numbers.Complex)]
    parts = _parts(declared)
    return next(((1, to) for to, takes in kinds if to in parts and _is_number(of.given) and issubclass(of.given, takes)), None)


def _parts(declared):
    a = annotations.plain(declared)
    return annotations.members(annotations.plain(annotations.bound_of(a)) if isinstance(a, typing.TypeVar) else a)


def _is_number(c):
    return c in (bool, int, float, complex) or c.__module__ == "numpy"


def _lacking(of, declared):
    """What lacks something of a protocol that is declared, the protocol, and the end of a message that names the type variable."""
    a = annotations.plain(declared)
    bound = ""
    if isinstance(a, typing.TypeVar):
        bound, a = f", the bound of {show(a)}", annotations.plain(annotations.bound_of(a))
    for p in annotations.members(a):
        if annotations.is_protocol(p) and annotations.lacks(of.given, p, of.fields()) is not None:
            return of, p, bound
    found = (_lacking(x, e) for x, e in of.inside(declared) if not x.fits(e))
    return next(filter(None, found), None)


def _where(protocol, name):
    """The line on which a protocol asks for something."""
    home = next(c for c in protocol.__mro__ if name in vars(c) or name in getattr(c, "__annotations__", ()))
    found = vars(home).get(name)
    found = getattr(found, "fget", found)
    code = getattr(getattr(found, "__func__", found), "__code__", None)
    if code is not None:
        return f"at line {code.co_firstlineno}"
    import inspect
    try:
        return f"at line {inspect.getsourcelines(home)[1]}"
    except (OSError, TypeError):
        return f"in {show(home)}"


def says_result(function):
    """Whether a function says what it gives."""
    try:
        return "return" in (getattr(function, "__annotations__", None) or ())
    except NameError:
        # From Python 3.14 on names are looked up when annotations are asked for.
        import annotationlib
        return "return" in annotationlib.get_annotations(function, format=annotationlib.Format.FORWARDREF)


def row_of(function):
    """What a function says of its parameters; it lives as long as the function does."""
    known = function.__dict__.get("_tierup_row_")
    if known is None or known.code is not function.__code__:
        known = Row(function)
        known.code = function.__code__
        function.__dict__["_tierup_row_"] = known
    return known


# ---------------------------------------------------------------- the compiler


def argument(row, p, name, form, by_rules):
    """How an argument of that form, given under that name if any, becomes what its parameter declares."""
    what = _argument(row, p, name)
    return _step(_Known(form, what), row.annotation(p), what, by_rules)


def result(row, form, by_rules):
    """The same of what the function gives."""
    what = f"the result of {row.of.__name__}()"
    return _step(_Known(form, what), row.hints.get("return", object), what, by_rules)


def _argument(row, p, name):
    return f"{row.of.__name__}() argument '{name or p.name}'"


def bounds_of(row):
    """The annotations of parameters that have type variables with bounds in them. The others mean nothing, and may be anything."""
    try:
        found = annotations.hints(row.of)
    except Exception:  # noqa: BLE001: text is evaluated, which may do anything
        return {}
    return {name: a for name, a in found.items() if name != "return" and any(v.__bound__ is not None for v in _variables(a)) and _is_known(a)}


def _is_known(a):
    try:
        annotations.known(a)
    except annotations.Unchecked:
        return False
    return True


def bound(row, p, name, declared, form):
    """Refuses an argument that does not satisfy what is said of a type variable. Where only the value can tell nothing is said."""
    what = _argument(row, p, name)
    of = _Known(form, what)
    if annotations.allows(form, declared) in (annotations.NO, EMPTY) and not of.fits(declared) and _wider(of, declared) is None:
        raise _refusal(of, declared, what)


def _variables(a):
    if isinstance(a, typing.TypeVar):
        return [a]
    return [v for x in typing.get_args(a) for v in _variables(x)]


# ---------------------------------------------------------------- plain Python


def given(row, args, keywords):
    """Arguments as the parameters declare them; as they are where the function does not take them, which Python says."""
    parameters = row.parameters_of(len(args), tuple(keywords))
    if parameters is None:
        return args, keywords
    out = []
    for p, n, v in zip(parameters, [*[None] * len(args), *keywords], [*args, *keywords.values()], strict=True):
        step = _step(_Value(v), row.annotation(p), _argument(row, p, n))
        out.append(v if step is None else step(v))
    return out[:len(args)], dict(zip(keywords, out[len(args):], strict=True))


def returned(row, value):
    """What the function gives, as it declares it."""
    declared = row.hints.get("return", object)
    if declared is object:
        return value
    step = _step(_Value(value), declared, f"the result of {row.of.__name__}()")
    return value if step is None else step(value)


def wrap(function):
    """The function in plain Python."""
    row = row_of(function)

    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        try:
            args, kwargs = given(row, args, kwargs)
        except Refused as e:
            raise TypeError(str(e)) from None
        value = function(*args, **kwargs)
        try:
            return returned(row, value)
        except Refused as e:
            raise TypeError(str(e)) from None

    return wrapper


def refuse(function, signatures, options, fallback):
    """ValueError for what annotations cannot be checked of."""
    name = function.__name__
    if fallback:
        raise ValueError(f"checked=True is for njit, or jit with nopython=True: {name}() would run unchecked in Python where it does not compile")
    if signatures is not None:
        raise ValueError(f"{name}() declares its types twice, by signatures and by checked=True")
    if function.__code__.co_flags & 0x2A0 and says_result(function):
        raise ValueError(f"checked=True cannot check what {name}() gives, which is a generator: leave its result without an annotation")
