"""`tierup.dispatch`: a function of several rows, of which a call takes the one whose annotations its arguments fit best.

Plain Python chooses here, when the call comes; the compiler asks the same functions with what it knows of the arguments
(`_rows.py`), so both choose alike. Nothing of NumPy is imported.
"""

import abc
import functools
import types

from . import _annotations as annotations
from . import rules
from ._annotations import show

#: Choices that are remembered for the classes of arguments.
_REMEMBERED = 500
#: Kinds of parameters: those of `inspect`, which takes long to load and may run annotations.
_ONLY, _EITHER, _REST, _KEYWORD, _MORE = range(5)


class Parameter:
    """A parameter as a call sees it."""

    __slots__ = ("kind", "name", "optional")

    def __init__(self, name, kind, optional):
        self.name, self.kind, self.optional = name, kind, optional


def _parameters(function):
    code = function.__code__
    count, defaults = code.co_argcount, function.__defaults__ or ()
    names = iter(code.co_varnames)
    found = [Parameter(next(names), _ONLY if k < code.co_posonlyargcount else _EITHER, k >= count - len(defaults)) for k in range(count)]
    keyword = [Parameter(name, _KEYWORD, name in (function.__kwdefaults__ or ())) for name, _ in zip(names, range(code.co_kwonlyargcount), strict=False)]
    # They stand behind the named ones among the variables.
    rest = [code.co_varnames[count + len(keyword):][k] for k in range(bool(code.co_flags & 4) + bool(code.co_flags & 8))]
    if code.co_flags & 4:
        found.append(Parameter(rest.pop(0), _REST, True))
    return [*found, *keyword, *(Parameter(name, _MORE, True) for name in rest)]


class Row:
    """A function of a dispatched one, with what it says of its parameters."""

    def __init__(self, function):
        self.function = function
        self.of = getattr(function, "py_func", function)
        if not isinstance(self.of, types.FunctionType):
            raise TypeError(f"a row is a function with annotations, not {function!r}")
        self._known = None, []

    @property
    def parameters(self):
        of = self.of
        state = of.__code__, of.__defaults__, of.__kwdefaults__
        if self._known[0] is None or any(a is not b for a, b in zip(state, self._known[0], strict=True)):
            self._known = state, _parameters(of)
        return self._known[1]

    @functools.cached_property
    def hints(self):
        """Annotations by the names of parameters. Names in text are looked up at the first call, when classes that follow are known."""
        found = {}
        for name, a in annotations.hints(self.of).items():
            try:
                found[name] = annotations.known(a)
            except annotations.Unchecked as e:
                what = "its result" if name == "return" else f"parameter '{name}'"
                raise annotations.Unchecked(f"{what} of {self.of.__name__}() is declared in a way that cannot be checked: {e}") from None
        return found

    def annotation(self, p):
        return self.hints.get(p.name, object)

    def parameters_of(self, count, names):
        """The parameters for `count` positional arguments and these keyword arguments; None where the function does not take them."""
        positional = [p for p in self.parameters if p.kind in (_ONLY, _EITHER)]
        rest = next((p for p in self.parameters if p.kind == _REST), None)
        more = next((p for p in self.parameters if p.kind == _MORE), None)
        if count > len(positional) and rest is None:
            return None
        taken = positional[:count]
        out = taken + [rest] * (count - len(taken))
        by_name = {p.name: p for p in self.parameters if p.kind == _KEYWORD}
        by_name.update((p.name, p) for p in positional[count:] if p.kind == _EITHER)
        for name in names:
            p = by_name.pop(name, more)
            if p is None or p is more and any(name == q.name for q in taken if q.kind == _EITHER):
                return None
            out.append(p)
        missing = [*positional[count:], *(p for p in self.parameters if p.kind == _KEYWORD)]
        return None if any(not p.optional and p.name not in names for p in missing) else out

    def bound(self, count, names):
        """The annotations of these parameters."""
        parameters = self.parameters_of(count, names)
        return None if parameters is None else [self.annotation(p) for p in parameters]

    def __str__(self):
        shown, stars = [], {_REST: "*", _MORE: "**"}
        for k, p in enumerate(self.parameters):
            if p.kind == _KEYWORD and all(q.kind not in (_KEYWORD, _REST) for q in self.parameters[:k]):
                shown.append("*")
            declared = f": {show(self.hints[p.name])}" if p.name in self.hints else ""
            shown.append(f"{stars.get(p.kind, '')}{p.name}{declared}")
        return f"({', '.join(shown)}) at line {self.of.__code__.co_firstlineno}"

    def same_as(self, other):
        """Whether both take the same."""
        return [(p.kind, self.annotation(p)) for p in self.parameters] == [(p.kind, other.annotation(p)) for p in other.parameters]


class Refused(TypeError):
    """No row is the one for a call; `code` says why."""

    def __init__(self, code, text):
        super().__init__(text)
        self.code = code


class Rows:
    """The rows of one function. They are numbered; a later one of the same annotations takes the place of the earlier."""

    def __init__(self, name):
        self.name, self.rows, self.remembered, self.token, self.simple = name, {}, {}, None, None
        # Functions that were written for the compiler.
        self.written = {}

    def add(self, function):
        self.rows[len(self.rows)] = Row(function)
        self.remembered, self.simple = {}, None

    def candidates(self, count, names):
        """Rows that take so many arguments, with the annotations for these; of equal rows the last."""
        found = []
        for row in self.rows.values():
            wanted = row.bound(count, names)
            if wanted is not None:
                found = [(r, w) for r, w in found if not row.same_as(r)]
                found.append((row, wanted))
        return found

    def choose(self, candidates, test, given, classes, by_rules, possible=None):
        """The row, and a conversion for each argument (None: as it is). `test(k, annotation)` says whether argument `k` fits; `given()` how
        a message calls the arguments, `classes` what they are. `by_rules` is called where the answer depends on rules of the program.
        `possible` are the candidates that may fit, where some are known not to."""
        fitting = [(r, w) for r, w in (candidates if possible is None else possible) if all(test(k, a) for k, a in enumerate(w))]
        best = _closest(fitting)
        if len(best) == 1:
            return best[0][0], [None] * len(classes)
        by_rules()
        if fitting:
            best = _nearest(best, classes)
            if len(best) == 1:
                return best[0][0], [None] * len(classes)
            raise _ambiguous(self.name, given(), [r for r, _ in best])
        ways = []
        for r, w in candidates:
            steps = [(0, None) if test(k, a) else rules.conversion(functools.partial(test, k), classes[k], a) for k, a in enumerate(w)]
            if None not in steps:
                ways.append((sum(d for d, _ in steps), r, [f for _, f in steps]))
        if not ways:
            known = "; ".join(f"{self.name}{r}" for r in self.rows.values())
            raise Refused("no-matching-operation", f"{self.name}({given()}): no row takes these arguments; there are {known}")
        least = min(d for d, _, _ in ways)
        nearest = [(r, f) for d, r, f in ways if d == least]
        if len(nearest) == 1:
            return nearest[0]
        raise _ambiguous(self.name, given(), [r for r, _ in nearest])

    def find(self, args, keywords):
        """The row for a call in plain Python, and its conversions."""
        key = tuple(map(type, args))
        token = abc.get_cache_token()
        if token != self.token:
            self.token, self.remembered = token, {}
        found = None if keywords else self.remembered.get(key)
        if found is not None:
            orders, choice = found
            for v, order in zip(args, orders, strict=False):
                if type(v).__mro__ is not order:
                    break
            else:
                return choice
        values = [*args, *keywords.values()]
        by_rules = []
        choice = self.choose(
            self.candidates(len(args), tuple(keywords)), lambda k, a: annotations.fits(values[k], a),
            lambda: ", ".join(show(type(v)) for v in values), [type(v) for v in values], lambda: by_rules.append(True),
        )  # fmt: skip
        if not keywords and not by_rules and self.is_simple():
            if len(self.remembered) >= _REMEMBERED:
                self.remembered = {}
            # Another tuple is made where the bases of a class change.
            self.remembered[key] = [type(v).__mro__ for v in args], choice
        return choice

    def is_simple(self):
        """Whether the classes of arguments decide, and nothing that may change."""
        if self.simple is None:
            self.simple = not any(annotations.looks_inside(r.annotation(p)) for r in self.rows.values() for p in r.parameters)
        return self.simple


def _closest(fitting):
    """Of the rows that fit those that no other one is closer than."""
    def closer(a, b):
        return all(map(annotations.below, a, b)) and not all(map(annotations.below, b, a))

    return [(r, w) for r, w in fitting if not any(closer(v, w) for _, v in fitting)]


def _nearest(best, classes):
    """Of rows that are equally close the one with the smallest distance, where there is one; all of them otherwise."""
    differ = [k for k in range(len(classes)) if any(w[k] != best[0][1][k] for _, w in best)]
    told = [rules.total([w[k] for k in differ], [classes[k] for k in differ]) for _, w in best]
    if None in told or told.count(min(told)) != 1:
        return best
    return [best[told.index(min(told))]]


def _returned(row, value):
    from ._checked import returned
    try:
        return returned(row, value)
    except Refused as e:
        raise TypeError(str(e)) from None


def _ambiguous(name, given, rows):
    text = " and ".join(f"{name}{r}" for r in rows)
    return Refused("ambiguous-dispatch", f"{name}({given}) is ambiguous: {text} fit, and none is closer")


def dispatch(function):
    """A function of several rows: a call takes the one whose annotations its arguments fit best, all of them together.

    `function` is the first row, `f.register` adds another one. The closest row is that whose every annotation is below (a subclass, a
    member of a union, elements of it) those of the others; a parameter without an annotation takes anything. Where two fit and none is
    closer, the distances of `tierup.rules` decide; otherwise a call is a TypeError that shows both. Inside compiled code the row is chosen
    when the call is compiled, and by tests where several classes may come."""
    rows = Rows(getattr(function, "__name__", "?"))

    def wrapper(*args, **kwargs):
        try:
            row, conversions = rows.find(args, kwargs)
        except Refused as e:
            raise TypeError(str(e)) from None
        if any(conversions):
            given = [v if f is None else f(v) for f, v in zip(conversions, [*args, *kwargs.values()], strict=True)]
            args, kwargs = given[:len(args)], dict(zip(kwargs, given[len(args):], strict=True))
        value = row.function(*args, **kwargs)
        return value if row.hints.get("return", object) is object else _returned(row, value)

    def register(row):
        """Adds a row: a function with annotations, which it gives back."""
        rows.add(row)
        return row

    functools.update_wrapper(wrapper, getattr(function, "py_func", function))
    # What the rows say is no annotation of this one.
    wrapper.__annotations__ = {}
    del wrapper.__wrapped__
    wrapper.register, wrapper._tierup_rows_ = register, rows
    rows.add(function)
    return wrapper
