"""What the compiler asks of functions whose types choose: `functools.singledispatch`, `singledispatchmethod`, `tierup.dispatch`.

Answers are ``("call", what)``, what is called in place of the function, or ``("refused", code, text)``; behind them stands what they
depend on: objects whose code was chosen, dictionaries that hold the rows, and whether classes may join an abstract one. Where a
call needs more than a row, such as a conversion, a function is written for it.
"""

import builtins
import gc

from . import _annotations as annotations
from . import rules
from ._annotations import Form
from ._dispatch import Refused
from ._paths import WRITTEN


class _Kept:
    """What an answer depends on."""

    def __init__(self):
        self.functions, self.dicts, self.abstract = [], [], False

    def by_rules(self):
        self.dicts += [rules._conversions, rules._distances]

    def ask(self, declared):
        """It was asked whether something is one of these."""
        self.abstract |= any(map(annotations.uses_abc, declared))


def choose(of, kind, given, names):
    """What a call of `of` with arguments of these forms comes to; the last of them are named."""
    kept = _Kept()
    given = [_form(g) for g in given]
    choose = {"single": _single, "method": _method, "rows": _several, "checked": _checked, "bounded": _bounded}[kind]
    return _answer(kept, lambda: choose(of, given, names, kept))


def result(of, given):
    """What is called with what a function gives, for it to be what the function declares; the function itself where it is that already."""
    from . import _checked
    kept = _Kept()

    def find():
        row = _checked.row_of(getattr(of, "py_func", of))
        kept.ask([row.hints.get("return", object)])
        return _checked.result(row, _form(given), kept.by_rules) or of

    return _answer(kept, find)


def _answer(kept, find):
    try:
        answer = ("call", find())
    except Refused as e:
        answer = ("refused", e.code, str(e))
    return answer, kept.functions, kept.dicts, kept.abstract


def _form(told):
    """A form out of what the compiler says of a type."""
    kind, classes, exact, inside = told
    return Form(kind, classes, exact, inside if kind in ("array", "object", "function") else [_form(x) for x in inside])


# ---------------------------------------------------------------- functools


def _method(of, given, names, kept):
    """A method: the argument behind the instance chooses."""
    return _single(of.dispatcher, given, names, kept, 1)


def _single(of, given, names, kept, first=0):
    if len(given) - len(names) <= first:
        raise Refused("bad-call", f"{of.__name__} requires at least 1 positional argument")
    registry = gc.get_referents(of.registry)[0]
    kept.dicts.append(registry)
    form = given[first]
    kept.abstract |= any(hasattr(c, "__abstractmethods__") for c in registry)
    if form.kind == "unknown":
        raise _undecided(of.__name__, form, "one of those that have rows")
    try:
        rows = [of.dispatch(c) for c in form.classes]
    except RuntimeError as e:
        # Two abstract classes are equally close: Python says so when the call comes.
        known = of.__dict__.setdefault("_tierup_written_", {})
        return _written(known, of.__name__, "*args, **kwargs", f"raise RuntimeError({str(e)!r})", {})
    if any(r is not rows[0] for r in rows):
        raise _undecided(of.__name__, form, "the class")
    if form.classes == (BaseException,) and not form.exact and not kept.abstract:
        return _of_exception(of, registry, len(given), names, first, kept)
    # A value of a class below came in as its base: that may have another row.
    for c in registry if not form.exact or form.classes == (bool,) else ():
        if c is not object and any(of.dispatch(s) is not rows[0] for k in form.classes for s in annotations.common(k, c)):
            raise _undecided(of.__name__, form, annotations.show(c))
    return _function(rows[0], kept)


def _function(row, kept):
    row = row.__func__ if isinstance(row, (classmethod, staticmethod)) else row
    kept.functions.append(row)
    return row


def _of_exception(of, registry, count, names, first, kept):
    """An exception may be of any class: a function that asks for each that has a row, those below first. Of one that is of two of them, neither
    below the other, the order of its own bases would decide, which compiled code does not know."""
    classes = sorted((c for c in registry if issubclass(c, BaseException)), key=lambda c: -len(c.__mro__))
    params, call = _operands(count, names)
    scope, lines = {}, []
    for k, c in enumerate(classes):
        scope |= {f"class_{k}": c, f"row_{k}": _function(registry[c], kept)}
        lines.append(f"if isinstance({params[first]}, class_{k}):")
        for j, other in enumerate(classes[k + 1:], k + 1):
            if not issubclass(c, other) and registry[c] is not registry[other]:
                text = f"{of.__name__}(): of an exception of both classes {c.__name__} and {other.__name__} compiled code does not know whose row to take"
                lines += [f"    if isinstance({params[first]}, class_{j}):", f"        raise TypeError({text!r})"]
        lines.append(f"    return row_{k}({call})")
    scope["other"] = _function(of.dispatch(BaseException), kept)
    lines.append(f"return other({call})")
    known = of.__dict__.setdefault("_tierup_written_", {})
    return _written(known, of.__name__, ", ".join(params), "\n".join(lines), scope)


def method_kind(of):
    """What a `singledispatchmethod` makes: ``"method"``, ``"classmethod"`` or ``"staticmethod"``, or ``"mixed"``."""
    kinds = {classmethod: "classmethod", staticmethod: "staticmethod"}
    found = {kinds.get(type(f), "method") for f in of.dispatcher.registry.values()}
    return found.pop() if len(found) == 1 else "mixed"


def _undecided(name, form, what):
    text = f"which row {name}() takes depends on whether a value of type {annotations.name_of(form)} is {what}, which only the value can tell"
    return Refused("unsupported-argument", text)


# ---------------------------------------------------------------- tierup.dispatch


def _several(of, given, names, kept):
    rows = of._tierup_rows_
    candidates = rows.candidates(len(given) - len(names), names)
    kept.dicts.append(rows.rows)
    kept.ask(a for _, w in candidates for a in w)
    return _chosen(rows, candidates, given, names, kept)


def _chosen(rows, candidates, given, names, kept):
    # An empty list fits whatever is said of its elements.
    for k, form in enumerate(given):
        if form.empty is None and any(annotations.allows(form, w[k]) == annotations.EMPTY for _, w in candidates):
            ways = [_way(rows, candidates, [*given[:k], form.when(empty), *given[k + 1:]], names, kept) for empty in (True, False)]
            return ways[0] if ways[0] == ways[1] else _by_length(rows, ways, k, len(given), names)

    def test(k, a):
        answer = annotations.allows(given[k], a)
        if answer == annotations.MAYBE:
            raise _undecided(rows.name, given[k], annotations.show(a))
        return answer == annotations.YES

    classes = [f.classes[0] if f.classes else object for f in given]
    possible = [(r, w) for r, w in candidates if all(annotations.allows(f, a) != annotations.NO for f, a in zip(given, w, strict=True))]
    row, conversions = rows.choose(candidates, test, lambda: ", ".join(map(annotations.name_of, given)), classes, kept.by_rules, possible)
    kept.functions += [row.function, *filter(None, conversions)]
    if any(conversions) or any(f.empty is not None for f in given):
        return _converted(rows.written, rows.name, row.function, conversions, names, row.hints.get("return", object))
    return row.function


def _way(rows, candidates, given, names, kept):
    try:
        return _chosen(rows, candidates, given, names, kept)
    except Refused as e:
        return _written(rows.written, rows.name, "*args, **kwargs", f"raise TypeError({str(e)!r})", {})


def _by_length(rows, ways, k, count, names):
    params, call = _operands(count, names)
    asked = [*params][k]
    body = f"if len({asked}) == 0:\n    return empty({call})\nreturn full({call})"
    return _written(rows.written, rows.name, ", ".join(params), body, {"empty": ways[0], "full": ways[1]})


def _converted(known, name, row, conversions, names, result=object):
    params, _ = _operands(len(conversions), names)
    scope = {f"conversion_{k}": f for k, f in enumerate(conversions) if f is not None}
    values = [p if f is None else f"conversion_{k}({p})" for k, (p, f) in enumerate(zip(params, conversions, strict=True))]
    first = len(values) - len(names)
    call = ", ".join([*values[:first], *(f"{n}={v}" for n, v in zip(names, values[first:], strict=True))])
    return _written(known, name, ", ".join(params), f"return row({call})", {"row": row, **scope}, result)


# ---------------------------------------------------------------- njit(checked=True)


def _checked(of, given, names, kept):
    from . import _checked
    row = _checked.row_of(of.py_func)
    parameters = row.parameters_of(len(given) - len(names), names)
    if parameters is None:
        # Python's words for that are the compiler's as well.
        return of
    kept.ask(row.annotation(p) for p in parameters)
    named = [*[None] * (len(given) - len(names)), *names]
    conversions = [_checked.argument(row, p, n, form, kept.by_rules) for p, n, form in zip(parameters, named, given, strict=True)]
    if not any(conversions):
        return of
    kept.functions += filter(None, conversions)
    return _converted(of.__dict__.setdefault("_tierup_written_", {}), of.__name__, of, conversions, names)


def _bounded(of, given, names, kept):
    from . import _checked
    row = _checked.row_of(getattr(of, "py_func", of))
    parameters = row.parameters_of(len(given) - len(names), names)
    named = [*[None] * (len(given) - len(names)), *names]
    bounds = _checked.bounds_of(row)
    for p, n, form in zip(parameters or (), named, given, strict=False):
        if p.name in bounds:
            kept.ask([bounds[p.name]])
            _checked.bound(row, p, n, bounds[p.name], form)
    return of


# ---------------------------------------------------------------- functions that are written


def _operands(count, names):
    """Parameters for so many arguments, of which the last are named, and the arguments of a call that passes them on."""
    params = [f"_{k}" for k in range(count - len(names))]
    return [*params, *names], ", ".join([*params, *(f"{n}={n}" for n in names)])


def _written(known, name, params, body, scope, result=object):
    """A library function out of a text, which gives what `result` declares; `known` has those that were written before: the compiler asks
    again and again, and knows a function by its identity."""
    key = (name, params, body, *map(id, scope.values()))
    if key in known:
        return known[key]
    scope = {"__builtins__": builtins, **scope}
    text = f"def made({params}):\n" + "".join(f"    {line}\n" for line in body.splitlines())
    exec(compile(text, WRITTEN % "rows", "exec"), scope)
    made = scope["made"]
    made.__name__ = made.__qualname__ = name
    made.__code__ = made.__code__.replace(co_name=name, co_qualname=name)
    if result is not object:
        made.__annotations__, made._tierup_result_ = {"return": result}, True
    known[key] = made
    return made


def entry(of):
    """A function that calls `of` and nothing else: what is compiled where that is decorated itself."""
    code = getattr(of, "py_func", of).__code__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    params, call = [*names[: code.co_argcount]], [*names[: code.co_argcount]]
    rest = iter(code.co_varnames[len(names):])
    if code.co_flags & 4:
        params.append(f"*{(name := next(rest))}")
        call.append(f"*{name}")
    elif code.co_kwonlyargcount:
        params.append("*")
    params += names[code.co_argcount:]
    call += [f"{n}={n}" for n in names[code.co_argcount:]]
    if code.co_flags & 8:
        params.append(f"**{(name := next(rest))}")
        call.append(f"**{name}")
    known = of.__dict__.setdefault("_tierup_written_", {})
    return _written(known, of.__name__, ", ".join(params), f"return chosen_({', '.join(call)})", {"chosen_": of})


