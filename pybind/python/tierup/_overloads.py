"""What a program says of calls with functions of its own (`tierup.extending.overload` and its like), and what the compiler asks of that.

A :class:`Target` has all overloads of a function, class or operation, or all of the methods or attributes of one name. The compiler
asks it with the types of a call's operands (:func:`offer`), one :class:`Overload` after the other, each with types as they are and,
where constants are among the operands, with types that say their values too.
"""

import inspect
import sys
import threading
import types as python_types

from . import _kinds, _tierup, types

_UNKNOWN = object()
#: Targets of overloads are never taken back: what is overloaded lives for ever.
_functions, _members = {}, {}


class Overload:
    """A typing function with its options."""

    def __init__(self, function, typ, strict, inline, prefer_literal, jit_options, target):
        self.function, self.typ, self.strict, self.inline, self.target = function, typ, strict, inline, target
        self.orders = (True, False) if prefer_literal else (False, True)
        self.jit_options = jit_options
        self._answers = {}

    @property
    def where(self):
        code = getattr(self.function, "__code__", None)
        place = f" ({code.co_filename}:{code.co_firstlineno})" if code else ""
        return f"the overload {getattr(self.function, '__qualname__', self.function)}{place}"

    def answer(self, given, names):
        """The implementation for operands of these types, of which the last are named; None where there is none."""
        # Types are equal whatever was in a list or a dict when it was made.
        key = tuple(given), names, tuple(repr(getattr(t, "initial_value", None)) for t in given)
        if key in self._answers:
            return self._answers[key]
        with _Asking((self, key)):
            found = self._ask(given, names)
        # An implementation belongs to its types for good: what was compiled with it is found again, and nothing else keeps it.
        self._answers[key] = found
        return found

    def _ask(self, given, names):
        split = len(given) - len(names)
        return self._checked(self.function(*given[:split], **dict(zip(names, given[split:], strict=True))))

    def _checked(self, found):
        if isinstance(found, tuple) and len(found) == 2 and isinstance(found[0], types.Signature):
            found = _converted(*found)
        if found is None:
            return None
        function = found.py_func if isinstance(found, _tierup.Dispatcher) else found
        if not isinstance(function, python_types.FunctionType):
            raise AssertionError(f"Implementation function returned by `@overload` has an unexpected type.  Got {found}")
        if self.strict and not _same_parameters(self.function, function):
            _validate(inspect.signature(self.function), inspect.signature(function))
        if found is not function:
            return found
        if self.jit_options:
            from ._jit import njit
            return njit(**{"meaning": "caller", **self.jit_options})(function)
        blocks = sys.modules.get("tierup._python_calls")
        return function if blocks is None else blocks.expanded(function)


#: Typing functions that are being asked within each other: they may compile, and so ask further ones.
_DEEPEST = 30


class _Asking:
    """While a typing function is asked. One that is asked for the same again, or one of too many, would never answer."""

    _now = threading.local()

    def __init__(self, what):
        self._what = what

    def __enter__(self):
        now = self._now.__dict__.setdefault("all", [])
        if self._what in now or len(now) >= _DEEPEST:
            from .errors import TypingError
            raise TypingError("to answer for these types it compiles a call that asks it again")
        now.append(self._what)

    def __exit__(self, *error):
        self._now.all.pop()


def _converted(signature, function):
    from ._jit import njit
    return njit(signature, meaning="caller")(function)


class Target:
    """What is overloaded. `stand_in` is the function that stands for it in compiled code."""

    def __init__(self, name, of):
        self.name, self.of, self.overloads = name, of, ()

        def stand_in(*args, **kwargs):
            raise TypeError(f"{name} has overloads for compiled code alone")

        stand_in.__name__ = stand_in.__qualname__ = name
        stand_in.__code__ = stand_in.__code__.replace(co_name=name)
        self.stand_in = stand_in

    def ways(self, given, kernel):
        """Each overload that may be for these operands, with whether it is asked with values too. Those for kernels come first there, and nowhere else."""
        overloads = [o for o in self.overloads if kernel or o.target != "cuda"]
        overloads.sort(key=lambda o: o.target != "cuda")
        if self.of is None:
            close = {id(o): k for o in overloads if (k := _closeness(given[0], o.typ)) is not None}
            overloads = sorted((o for o in overloads if id(o) in close), key=lambda o: close[id(o)])
        return [(o, values) for o in overloads for values in o.orders]


def _closeness(t, of):
    """How far up in the classes of a type what an overload is for stands; None where it is for others."""
    t = _kinds.unliteral(t)
    if isinstance(of, types.Type):
        return 0 if t == of else None
    return next((k for k, c in enumerate(type(t).__mro__, 1) if c is of), None)


# ---------------------------------------------------------------- registration


_registering = threading.Lock()


def of_function(function, overload):
    with _registering:
        target = _functions.get(id(function))
        if target is None:
            target = _functions[id(function)] = Target(getattr(function, "__name__", None) or type(function).__name__, function)
        target.overloads = (*target.overloads, overload)
    _tierup.overload_function(function, target.stand_in, target)


def of_member(name, kind, overload):
    with _registering:
        target = _members.get((name, kind))
        if target is None:
            target = _members[name, kind] = Target(name, None)
        target.overloads = (*target.overloads, overload)
    _tierup.overload_member(name, target.stand_in, target)


# ---------------------------------------------------------------- what the compiler asks


def added(name, t):
    """What a program has added to values of a type under a name: ``("method", stand_in)`` or ``("attribute", stand_in)``, or None."""
    for kind in ("method", "attribute"):
        stand_in = _added(name, kind, t)
        if stand_in is not None:
            return kind, stand_in
    return None


def added_setter(name, t):
    """The function that is called with a value of a type and what is assigned to its attribute of that name; None where a program has said nothing of that."""
    return _added(name, "setter", t)


#: What gives overloads for attributes of any name, by what is done with these: functions of a type and a name.
generic = {"attribute": [], "setter": []}


def _added(name, kind, t):
    target = _members.get((name, kind))
    if target is None or all(_closeness(t, o.typ) is None for o in target.overloads):
        made = next((o for find in generic.get(kind, ()) if (o := find(t, name)) is not None), None)
        if made is None:
            return None
        of_member(name, kind, made)
        target = _members[name, kind]
    return target.stand_in


def offer(target, n, operands, names, kernel=False):
    """The `n`th answer to a call: ``("call", function, parameters, values)``, whose code is for the values of these parameters if `values`,
    ``("wanted", operands)`` where it wants the values of these, ``("refused", text)``, ``("failed", text)`` where its code cannot be written, ``()`` where an overload says nothing, or None where
    there are no more. Operands are pairs of a type and, where it is known, a value."""
    given = [_kinds.written_out(*o) if len(o) > 1 else o[0] for o in operands]
    ways = target.ways(given, kernel)
    if n >= len(ways):
        return None
    overload, values = ways[n]
    valued = [_kinds.valued(t, *o[1:]) if len(o) > 1 else t for t, o in zip(given, operands, strict=True)]
    if values and all(a is b for a, b in zip(given, valued, strict=True)):
        return ()
    asked = valued if values else given
    try:
        found = overload.answer(asked, names)
    except Exception as e:
        from .errors import TierupError
        if hasattr(e, "generator_failed"):
            return "failed", e.generator_failed
        if hasattr(e, "literals_wanted"):
            places = _places(overload.function, given, names, e.literals_wanted)
            # Where all are known they are told next, and what is said then holds.
            if not values and places:
                return "wanted", places
        said = e.msg or e if isinstance(e, TierupError) else f"{type(e).__name__}: {e}"
        return "refused", f"{overload.where} says: {said}"
    if found is None:
        why = next((t.without_own for t in given if getattr(t, "without_own", None)), None)
        return ("refused", why) if why else ()
    return "call", found, _parameters(found, asked, names) if values else [], values


def _places(function, given, names, wanted):
    """Which operands are given for parameters of these names."""
    code, split = function.__code__, len(given) - len(names)
    positional = code.co_varnames[: min(split, code.co_argcount)]
    return [k for k, name in enumerate([*positional, *[None] * (split - len(positional)), *names]) if name in wanted]


def asked(target, given):
    """The first overloads that were asked about a call, for an error."""
    found = dict.fromkeys(o.where for o, _ in target.ways(given, True))
    return [f"{where} has no implementation for these types" for where in list(found)[:3]]


def _parameters(found, asked, names):
    """The parameters, by number, that are given literals."""
    code = found.__code__
    known = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    split = len(asked) - len(names)
    places = [*range(min(split, code.co_argcount)), *(known.index(n) for n in names if n in known)]
    given = [*asked[: min(split, code.co_argcount)], *(t for n, t in zip(names, asked[split:], strict=True) if n in known)]
    return [k for k, t in zip(places, given, strict=True) if _has_value(t)]


def _has_value(t):
    return isinstance(t, _kinds.Literal) or any(map(_has_value, getattr(t, "types", ())))


# ---------------------------------------------------------------- parameters


def _same_parameters(typing, implementation):
    """Whether both say the same of their parameters, without a long look."""
    a, b = typing.__code__, implementation.__code__
    count = a.co_argcount
    if count != b.co_argcount or a.co_kwonlyargcount or b.co_kwonlyargcount or (a.co_flags | b.co_flags) & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS):
        return False
    return a.co_varnames[:count] == b.co_varnames[:count] and typing.__defaults__ is implementation.__defaults__


def _parts(signature):
    from .errors import TypingError
    args, keywords, rest = [], [], None
    for p in signature.parameters.values():
        if p.default is not inspect.Parameter.empty:
            keywords.append(p)
            continue
        args.append(p)
        if p.kind is inspect.Parameter.VAR_POSITIONAL:
            rest = p
        elif p.kind is inspect.Parameter.VAR_KEYWORD:
            raise TypingError(f"The use of VAR_KEYWORD (e.g. **kwargs) is unsupported. (offending argument name is '{p}')")
    return args, keywords, rest


def _validate(typing, implementation):
    """Raises TypingError where an implementation has other parameters than its typing function, in Numba's words."""
    from .errors import TypingError
    of_typing, of_implementation = _parts(typing), _parts(implementation)
    both = f"Typing signature:         {typing}\nImplementation signature: {implementation}"
    differ = "Typing and implementation arguments differ in "

    def difference(a, b):
        return f"Difference: { {*a} ^ {*b} }"

    a, b = of_typing[0], of_implementation[0]
    if of_typing[2] and not of_implementation[2]:
        raise TypingError(
            f"VAR_POSITIONAL (e.g. *args) argument kind (offending argument name is '{of_typing[2]}') found in the typing function signature, but is not in the implementing function signature.\n{both}"
        )
    if of_implementation[2] and not of_typing[2]:
        # What stands before `*args` must be there; that takes the rest.
        b = b[: b.index(of_implementation[2])]
        if b and b[-1] not in a:
            raise TypingError(f"{differ}argument names.\n{both}\nFirst difference: '{b[-1]}'")
        a = a[: len(b) and a.index(b[-1]) + 1]
    if a != b:
        raise TypingError(f"{differ}argument names.\n{both}\n{difference(a, b)}")
    a, b = of_typing[1], of_implementation[1]
    if [p.name for p in a] != [p.name for p in b]:
        raise TypingError(f"{differ}keyword argument names.\n{both}\n{difference(a, b)}")
    if [p.default for p in a] != [p.default for p in b]:
        raise TypingError(f"{differ}keyword argument default values.\n{both}\n{difference(a, b)}")
