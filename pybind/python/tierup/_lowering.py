"""Functions and attributes that a program types by templates and implements by code generators: `type_callable`, `infer_global`, `infer_getattr` with
`lower_builtin`, `lower_getattr`, `lower_setattr`, `lower_cast` and `lower_constant`.

Each is an overload that answers with generated code, like an intrinsic: a template says the signature of a call, and of the generators for what is called
the one is taken whose declared types are closest.
"""

import inspect

from . import _kinds, _tierup, types
from ._intrinsics import answered
from ._overloads import Overload

#: What types and what implements calls, by what is called: objects are kept, so that their numbers stay theirs.
_typers, _generators, _called = {}, {}, {}
#: The same of attributes, by name; conversions; constants by type.
_attributes, _resolvers, casts, constants = {}, [], [], []


# ---------------------------------------------------------------- templates


class Template:
    """What templates derive from: `key` is what they are for."""

    key = None

    def __init__(self, context):
        self.context = context


class AbstractTemplate(Template):
    """`generic(args, kws)` gives the signature of a call, or None."""


class ConcreteTemplate(Template):
    """`cases` are the signatures that there are."""

    cases = ()


class CallableTemplate(Template):
    """`generic()` gives a function of the types, which gives the type of the result."""


class AttributeTemplate(Template):
    """`resolve_NAME(type)` gives the type of an attribute, `generic_resolve(type, name)` that of any."""


class OverloadAttributeTemplate(AttributeTemplate):
    """What Numba makes of an overload of an attribute; one of a method where `is_method` is set."""

    is_method = False


class OverloadMethodTemplate(OverloadAttributeTemplate):
    is_method = True


def make_overload_attribute_template(typ, attr, overload_func, inline="never", prefer_literal=False, base=OverloadAttributeTemplate, **options):
    """The class that `infer_getattr` registers such an overload by."""
    said = dict(key=typ, _attr=attr, _inline=inline, _prefer_literal=prefer_literal, _overload_func=staticmethod(overload_func))
    return type(f"OverloadAttributeTemplate_{typ}_{attr}", (base,), said)


def _signature(of, context, args, kws):
    """What a template, or the maker of a typing function, says of a call."""
    if isinstance(of, type) and issubclass(of, ConcreteTemplate):
        return None if kws else next((s for s in of.cases if len(s.args) == len(args) and all(map(_converts, args, s.args))), None)
    if isinstance(of, type) and issubclass(of, AbstractTemplate):
        return of(context).generic(args, kws)
    typer = of(context).generic() if isinstance(of, type) else of(context)
    pysig = inspect.signature(typer)
    try:
        pysig.bind(*args, **kws)
    except TypeError:
        return None
    found = typer(*args, **kws)
    if found is None or isinstance(found, types.Signature):
        return found
    bound = pysig.bind(*args, **kws)
    return types.Signature(found, bound.args).replace(pysig=pysig)


def _converts(given, to):
    number = types.Number | types.Boolean
    given = getattr(given, "literal_type", given)
    return given == to or isinstance(given, number) and isinstance(to, number) and not (isinstance(given, types.Complex) and not isinstance(to, types.Complex))


def fold_arguments(pysig, args, kws, normal_handler, default_handler, stararg_handler):
    """The arguments of a call in the order of the parameters, each through one of the functions."""
    bound = pysig.bind(*args, **kws)
    made = []
    for k, p in enumerate(pysig.parameters.values()):
        if p.kind is p.VAR_POSITIONAL:
            made.append(stararg_handler(k, p, bound.arguments.get(p.name, ())))
        elif p.name in bound.arguments:
            made.append(normal_handler(k, p, bound.arguments[p.name]))
        else:
            made.append(default_handler(k, p, p.default))
    return made


# ---------------------------------------------------------------- calls


def type_callable(function):
    """`@type_callable(f)`: the decorated function gives, for a typing context, a function of the types of a call's arguments that gives the type of its
    result, or None."""
    def register(maker):
        _typed(function, maker)
        return maker

    return register


def infer_global(function, t=None, **options):
    """Says which template types calls of a function: the decorated class, or that of `types.Function(template)`."""
    if t is not None:
        template = getattr(t, "typing_key", None)
        if isinstance(template, type) and issubclass(template, Template):
            _typed(function, template)
        return None

    def register(template):
        _typed(function, template)
        return template

    return register


def infer(template):
    """The same for a template whose `key` says what it is for."""
    if callable(template.key):
        _typed(template.key, template)
    return template


def lower_builtin(function, *signature, **options):
    """`@lower_builtin(f, *types)`: the decorated function, `(context, builder, sig, args)`, writes the code of a call with arguments of such types, which may
    be classes of types, `types.Any` and, at the end, `types.VarArg(types.Any)`."""
    def register(generator):
        _generators.setdefault(_known(function), []).insert(0, (signature, generator))
        return generator

    return register


def _known(function):
    if isinstance(function, str):
        return function
    _called[id(function)] = function
    return id(function)


def _typed(function, typer):
    known = _known(function)
    first = known not in _typers
    _typers.setdefault(known, []).insert(0, typer)
    # Constructors mean what they mean in Python, and so do calls that Numba knows by texts.
    if first and not isinstance(function, type | str):
        from ._overloads import of_function
        of_function(function, _Lowered(function))


def _rate(formal, args):
    """How far the types of a call are from those that a generator is for; None where it is for others."""
    formal, total = list(formal), 0
    if formal and isinstance(formal[-1], _kinds.VarArg):
        rest = formal.pop().dtype
        if len(args) < len(formal):
            return None
        formal += [rest] * (len(args) - len(formal))
        total = 1
    if len(formal) != len(args):
        return None
    for f, a in zip(formal, args, strict=True):
        a = getattr(a, "literal_type", a)
        if f is _kinds.Any:
            total += 100
        elif isinstance(f, type):
            if not isinstance(a, f):
                return None
            total += type(a).__mro__.index(f) + 1 if f in type(a).__mro__ else 50
        elif f != a:
            return None
    return total


def generator_for(function, args):
    """The generator for a call with arguments of these types; None where there is none."""
    return closest(_generators.get(function if isinstance(function, str) else id(function), ()), args)


class _Lowered(Overload):
    """The overload that a function with templates has."""

    def __init__(self, function):
        first = _typers[_known(function)][0]
        super().__init__(first, None, False, "never", False, {}, "generic")
        self._called = function
        self.jit_options = {}

    @property
    def where(self):
        return super().where.replace("the overload", "the template", 1)

    def _ask(self, given, names):
        from .llvm.context import typing_context
        split = len(given) - len(names)
        args, kws = tuple(given[:split]), dict(zip(names, given[split:], strict=True))
        name = getattr(self._called, "__name__", str(self._called))
        for typer in _typers[_known(self._called)]:
            sig = _signature(typer, typing_context, args, kws)
            if sig is None:
                continue
            generator = generator_for(self._called, sig.args)
            if generator is None and sig.pysig is not None:
                # Parameters that a call leaves out may be arguments too, which say their defaults.
                folded = fold_arguments(sig.pysig, args, kws, lambda i, p, v: v, lambda i, p, d: _kinds.Omitted(d), lambda i, p, v: types.BaseTuple.from_types(v))
                sig = sig.replace(args=tuple(folded))
                generator = generator_for(self._called, folded)
            if generator is None:
                from .errors import TypingError
                raise TypingError(f"{name}() has a type for these arguments, {sig}, and no code generator (lower_builtin)")
            return answered(name, generator, sig, given, names, _places(sig, split, names))
        return None


def _places(sig, split, names):
    """Which operand is the argument at each place of a signature; None for one that is left out, a tuple for several."""
    pysig = getattr(sig, "pysig", None)
    if pysig is None:
        if names:
            raise TypeError("a call by keyword of a function whose signature does not name its parameters")
        return list(range(split))
    kws = {n: split + k for k, n in enumerate(names)}
    places = fold_arguments(pysig, range(split), kws, lambda i, p, v: v, lambda i, p, d: None, lambda i, p, v: tuple(v))
    if len(places) != len(sig.args):
        # What is left out is no argument, and what stands for `*args` is several.
        places = [n for p in places if p is not None for n in (p if isinstance(p, tuple) else (p,))]
    return places


# ---------------------------------------------------------------- attributes


def infer_getattr(template):
    """Registers a class that says the types of attributes of values of a type, its `key`: `resolve_NAME`, or `generic_resolve`."""
    if issubclass(template, OverloadAttributeTemplate):
        from . import extending
        add = extending.overload_method if template.is_method else extending.overload_attribute
        add(template.key, template._attr, prefer_literal=template._prefer_literal)(template._overload_func)
        return template
    _resolvers.insert(0, template)
    return template


def lower_getattr(t, name):
    """`@lower_getattr(type, "name")`: the decorated function, `(context, builder, type, value)`, writes the code that reads an attribute."""
    def register(generator):
        from ._overloads import of_member
        _attributes.setdefault(name, []).insert(0, (t, generator))
        of_member(name, "attribute", _Attribute(t, name, generator))
        return generator

    return register


def lower_getattr_generic(t):
    """The same for attributes of any name that a template types: `(context, builder, type, value, name)`."""
    return _of_any_name("attribute", t, lambda name, write: _Attribute(t, name, lambda context, builder, of, value: write(context, builder, of, value, name)))


def lower_setattr(t, name):
    """`@lower_setattr(type, "name")`: the decorated function, `(context, builder, sig, args)`, writes the code of an assignment to an attribute. It is given a
    value of the type that a template says of the attribute, or the one that is assigned."""
    def register(generator):
        from ._overloads import of_member
        of_member(name, "setter", _Setter(t, name, generator))
        return generator

    return register


def lower_setattr_generic(t):
    """The same for attributes of any name that a template types: `(context, builder, sig, args, name)`."""
    return _of_any_name("setter", t, lambda name, write: _Setter(t, name, lambda context, builder, sig, args: write(context, builder, sig, args, name)))


def _of_any_name(kind, t, make):
    """Registers a generator for all names; `make` makes the overload for one of them."""
    def register(generator):
        from ._overloads import generic

        def find(of, name):
            fits = _rate((t,), (of,)) is not None and resolved(of, name) is not None
            return make(name, generator) if fits else None

        generic[kind].insert(0, find)
        _tierup.overload_any_member()
        return generator

    return register


def resolved(t, name):
    """The type of an attribute, as templates say it; None where none does."""
    from .llvm.context import typing_context
    for template in _resolvers:
        if _rate((template.key,), (t,)) is None:
            continue
        asked = template(typing_context)
        method = getattr(asked, f"resolve_{name}", None)
        found = method(t) if method is not None else asked.generic_resolve(t, name) if hasattr(asked, "generic_resolve") else None
        if found is not None:
            return found
    return None


class _Attribute(Overload):
    def __init__(self, t, name, generator):
        super().__init__(generator, t, False, "never", False, {}, "generic")
        self._name = name

    @property
    def where(self):
        return super().where.replace("the overload", "the code generator", 1)

    def _ask(self, given, names):
        of = resolved(given[0], self._name)
        if of is None:
            return None
        write = self.function
        return answered(self._name, lambda context, builder, sig, args: write(context, builder, sig.args[0], args[0]), of(given[0]), given, names, [0])


class _Setter(_Attribute):
    def _ask(self, given, names):
        of, value = given
        sig = types.void(of, resolved(of, self._name) or types.unliteral(value))
        return answered(self._name, self.function, sig, given, names, [0, 1])


# ---------------------------------------------------------------- conversions and constants


def lower_cast(fromty, toty):
    """`@lower_cast(a, b)`: the decorated function, `(context, builder, from, to, value)`, writes the code of a conversion that generators ask for
    (`context.cast`). Conversions of the language stay what they are."""
    def register(generator):
        casts.insert(0, ((fromty, toty), generator))
        return generator

    return register


def lower_constant(t):
    """`@lower_constant(type)`: the decorated function, `(context, builder, type, value)`, writes a constant that generators ask for."""
    def register(generator):
        constants.insert(0, ((t,), generator))
        return generator

    return register


def closest(registered, args):
    """The generator of a list of them that is for these types; None where there is none."""
    rated = [(r, k, g) for k, (formal, g) in enumerate(registered) if (r := _rate(formal, args)) is not None]
    return min(rated, key=lambda x: x[:2])[2] if rated else None
