"""What annotations say: which values fit one, which types of compiled code do, and which of two says more.

Three questions are asked of an annotation. :func:`fits` asks a value, as plain Python has it. :func:`allows` asks a
:class:`Form`, which is what compiled code knows of a value before there is one. :func:`below` asks another annotation. All
three have the same rules, so that a program means the same with and without the compiler.
"""

import collections.abc
import types
import typing

#: Answers of :func:`allows`. ``EMPTY`` says that only an empty container of that type fits: nothing in it contradicts.
YES, NO, MAYBE, EMPTY = "yes", "no", "maybe", "empty"
#: Containers whose elements are looked at.
ELEMENTS = (list, set, frozenset, collections.deque)
#: What may be gone through. What is in a generator is not looked at, and nobody can say that it fits.
ITERABLES = (
    collections.abc.Iterable, collections.abc.Collection, collections.abc.Container, collections.abc.Sequence, collections.abc.MutableSequence,
    collections.abc.Reversible, collections.abc.Set, collections.abc.MutableSet,
)  # fmt: skip


class Unchecked(TypeError):
    """An annotation that says something that nobody can check."""


class Form:
    """What is known of a value when code is compiled: the classes that it may have (several where compiled code does not tell them
    apart), whether it is of exactly that class, and what is in it: forms of the elements (`kind` ``"list"``), of the members
    (``"tuple"``), of keys and values (``"dict"``), the names of the fields (``"object"``), the function that it is (``"function"``), the class of an array's elements and the number of its axes (``"array"``), or the forms that it may be of
    (``"union"``). ``"unknown"`` is what nothing is known of yet. `empty` is set of containers that are known to be empty, or not to be."""

    __slots__ = ("classes", "empty", "exact", "inside", "kind")

    def __init__(self, kind, classes=(), exact=True, inside=(), empty=None):
        self.kind, self.classes, self.exact, self.inside, self.empty = kind, classes, exact, inside, empty

    def when(self, empty):
        """The same where the container is known to be empty, or not to be."""
        return Form(self.kind, self.classes, self.exact, self.inside, empty)


def hints(function):
    """The annotations of a function, with names in text looked up."""
    function = getattr(function, "py_func", function)
    if isinstance(function, (staticmethod, classmethod)):
        function = function.__func__
    if not getattr(function, "__annotations__", None):
        return {}
    return typing.get_type_hints(function)


def is_anything(a):
    return a is object or a is typing.Any


def members(a):
    """The annotations that a union is made of; of anything else itself."""
    if isinstance(a, types.UnionType) or typing.get_origin(a) is typing.Union:
        return [m for part in typing.get_args(a) for m in members(part)]
    return [a]


def plain(a):
    """An annotation without what says nothing of values; TypeError for one that cannot be checked."""
    if a is None:
        return type(None)
    if is_anything(a) or isinstance(a, type) and typing.get_origin(a) is None:
        return object if is_anything(a) else a
    if isinstance(a, typing.TypeVar):
        return a
    if isinstance(a, typing.NewType):
        return plain(a.__supertype__)
    if type(a).__name__ == "TypeAliasType":
        return plain(a.__value__)
    origin = typing.get_origin(a)
    if origin is typing.Annotated:
        return plain(typing.get_args(a)[0])
    if isinstance(a, types.UnionType) or origin is typing.Union:
        return a
    if origin in (*ELEMENTS, *ITERABLES, dict, tuple, collections.abc.Callable):
        return a
    if _is_array(origin):
        _array_element(a)
        return a
    if isinstance(origin, type) and _says_nothing(typing.get_args(a)):
        return origin
    raise Unchecked(f"{show(a)} says something that cannot be checked")


def known(a):
    """The same, with what stands in it looked at as well."""
    a = plain(a)
    # Of what can be called only the number of arguments is looked at.
    if typing.get_origin(a) is collections.abc.Callable:
        return a
    inside = (bound_of(a),) if isinstance(a, typing.TypeVar) else members(a) if len(members(a)) > 1 else typing.get_args(a)
    if not _is_array(typing.get_origin(a)):
        for x in inside:
            if x is not Ellipsis and x != ():
                known(x)
    return a


def _says_nothing(args):
    return all(is_anything(x) for x in args)


def _is_array(origin):
    return isinstance(origin, type) and (origin.__module__, origin.__name__) == ("numpy", "ndarray")


def _array_element(a):
    """The number of axes and the class of elements that ``ndarray[shape, dtype[element]]`` asks for; None of any."""
    shape, dtype = typing.get_args(a)
    axes = typing.get_args(shape)
    if is_anything(shape) or axes[1:] == (Ellipsis,):
        count = None
    elif typing.get_origin(shape) is tuple and Ellipsis not in axes and all(x is int or is_anything(x) for x in axes):
        count = len(axes)
    else:
        raise Unchecked(f"{show(a)} says something that cannot be checked")
    element = (typing.get_args(dtype) or (object,))[0]
    if isinstance(element, typing.TypeVar):
        raise Unchecked(f"{show(a)} says something that cannot be checked")
    return count, None if is_anything(element) else element


def bound_of(v):
    """What a type variable stands for: its bound, one of its constraints, or anything."""
    if v.__constraints__:
        return typing.Union[v.__constraints__]  # noqa: UP007: they are not known when this is written
    return object if v.__bound__ is None else v.__bound__


def show(a):
    """An annotation as a program writes it."""
    if a is type(None) or a is None:
        return "None"
    if isinstance(a, list):
        return f"[{', '.join(map(show, a))}]"
    if isinstance(a, type) and typing.get_origin(a) is None:
        return a.__qualname__.rsplit("<locals>.", 1)[-1]
    if len(parts := members(a)) > 1:
        return " | ".join(show(p) for p in parts)
    if isinstance(a, typing.TypeVar):
        return a.__name__
    origin, args = typing.get_origin(a), typing.get_args(a)
    if isinstance(origin, type) and args:
        args = [list(args[:-1]), args[-1]] if origin is collections.abc.Callable and args[:1] != (Ellipsis,) and not isinstance(args[0], list) else args
        return f"{show(origin)}[{', '.join('...' if x is Ellipsis else show(x) for x in args)}]"
    return str(a).removeprefix("typing.")


# ---------------------------------------------------------------- protocols


def is_protocol(c):
    return getattr(c, "_is_protocol", False) is True and c is not typing.Protocol


def asked_by(protocol):
    """The names of what a protocol asks for, in the order of their definition."""
    names = {}
    for c in reversed(protocol.__mro__):
        if is_protocol(c):
            names.update(dict.fromkeys((*getattr(c, "__annotations__", ()), *(n for n in vars(c) if _is_asked(n)))))
    return list(names)


def _is_asked(name):
    return not name.startswith("_abc_") and name not in _OF_CLASSES


#: What any protocol has.
_OF_CLASSES = {
    "__abstractmethods__", "__annotations__", "__dict__", "__doc__", "__init__", "__module__", "__new__", "__parameters__", "__slots__",
    "__subclasshook__", "__weakref__", "__class_getitem__", "__match_args__", "__orig_bases__", "__protocol_attrs__", "__callable_proto_members_only__",
    "__non_callable_proto_members__", "__type_params__", "__static_attributes__", "__firstlineno__", "__annotate__", "__annotate_func__",
    "__annotations_cache__", "_is_protocol", "_is_runtime_protocol", "__qualname__", "_MutableMapping__marker",
}  # fmt: skip


def lacks(c, protocol, fields=()):
    """What a class does not have of what a protocol asks for, the first of it; `fields` are what its instances have beside."""
    if protocol in c.__mro__:
        return None
    # Fields are known by the class where it names them.
    named = {*fields} | {n for base in c.__mro__ for n in (*getattr(base, "__annotations__", ()), *getattr(base, "__slots__", ()))}
    return next((n for n in asked_by(protocol) if n not in named and getattr(c, n, None) is None), None)


def is_below(c, of, fields=()):
    """Whether a class is one of what another class or protocol names."""
    if is_protocol(of):
        return lacks(c, of, fields) is None
    return issubclass(c, of)


# ---------------------------------------------------------------- values


def fits(value, a):
    """Whether a value is what an annotation says."""
    a = plain(a)
    if a is object:
        return True
    if isinstance(a, type) and typing.get_origin(a) is None:
        return isinstance(value, a) if not is_protocol(a) else is_below(type(value), a, getattr(value, "__dict__", ()))
    if isinstance(a, typing.TypeVar):
        return fits(value, bound_of(a))
    if len(parts := members(a)) > 1:
        return any(fits(value, p) for p in parts)
    origin, args = typing.get_origin(a), typing.get_args(a)
    if not isinstance(value, origin):
        return False
    if origin is collections.abc.Callable:
        return takes(value, args[0])
    if origin is tuple:
        if args == ((),) or not args:
            return len(value) == 0
        if args[-1] is Ellipsis:
            return all(fits(x, args[0]) for x in value)
        return len(value) == len(args) and all(map(fits, value, args))
    if origin is dict:
        return all(fits(k, args[0]) and fits(v, args[1]) for k, v in value.items())
    if origin in ELEMENTS:
        return all(fits(x, args[0]) for x in value)
    if origin in ITERABLES:
        if is_anything(plain(args[0])):
            return True
        if not isinstance(value, (*ELEMENTS, dict, tuple, range, str, bytes)) and not _is_array(type(value)):
            raise Unchecked(f"what is in a value of the class {show(type(value))} cannot be checked to be {show(args[0])}")
        return all(fits(x, args[0]) for x in value)
    count, element = _array_element(a)
    return count in (None, value.ndim) and (element is None or issubclass(value.dtype.type, element))


def takes(function, parameters):
    """Whether a function takes arguments for so many parameters; of what is not written in Python nothing is known."""
    function = getattr(function, "py_func", function)
    if not isinstance(function, types.FunctionType) or parameters is Ellipsis:
        return True
    from ._dispatch import Row
    return Row(function).parameters_of(len(parameters), ()) is not None


def looks_inside(a):
    """Whether more than the class of a value decides."""
    a = plain(a)
    if isinstance(a, typing.TypeVar):
        return looks_inside(bound_of(a))
    if len(parts := members(a)) > 1:
        return any(map(looks_inside, parts))
    return typing.get_origin(a) is not None or is_protocol(a)


def uses_abc(a):
    """Whether classes may become one of it without being changed (``Number.register(C)``)."""
    a = plain(a)
    if isinstance(a, typing.TypeVar):
        return uses_abc(bound_of(a))
    if len(parts := members(a)) > 1:
        return any(map(uses_abc, parts))
    origin = typing.get_origin(a)
    if _is_array(origin) or origin is collections.abc.Callable:
        return False
    return any(uses_abc(x) for x in typing.get_args(a) if x not in (Ellipsis, ())) or hasattr(origin or a, "__abstractmethods__")


# ---------------------------------------------------------------- types of compiled code


def allows(form, a):
    """Whether values of a form are what an annotation says."""
    a = plain(a)
    if a is object:
        return YES
    if form.kind == "union":
        return _together([allows(f, a) for f in form.inside])
    if isinstance(a, typing.TypeVar):
        return allows(form, bound_of(a))
    if len(parts := members(a)) > 1:
        answers = [allows(form, p) for p in parts]
        return next((x for x in (YES, MAYBE, EMPTY) if x in answers), NO)
    if form.kind == "unknown":
        return MAYBE
    origin, args = typing.get_origin(a), typing.get_args(a)
    of_class = _together([_class_allows(c, form, origin or a) for c in form.classes])
    if of_class != YES or origin is None:
        return of_class
    if origin is collections.abc.Callable:
        return YES if form.kind != "function" or takes(form.inside[0], args[0]) else NO
    if origin is tuple:
        if form.kind != "tuple":
            return MAYBE
        if args == ((),) or not args:
            return NO if form.inside else YES
        wanted = [args[0]] * len(form.inside) if args[-1] is Ellipsis else args
        return NO if len(wanted) != len(form.inside) else _all(map(allows, form.inside, wanted))
    if origin is dict or origin in ELEMENTS or origin in ITERABLES and form.kind == "list":
        return _elements_allow(form, args)
    if origin in ITERABLES:
        inside = _gone_through(form)
        return MAYBE if inside is None else _all(allows(f, args[0]) for f in inside)
    if form.kind != "array":
        return MAYBE
    count, element = _array_element(a)
    return YES if count in (None, form.inside[1]) and (element is None or issubclass(form.inside[0], element)) else NO


def _gone_through(form):
    """What a loop over a value that is no list finds; None where nobody knows."""
    if form.kind == "tuple":
        return form.inside
    if form.kind == "array":
        # Rows of an array are arrays.
        return [Form("other", form.inside[:1])] if form.inside[1] == 1 else None
    found = {range: int, bytes: int, str: str}.get(form.classes[0])
    return None if found is None else [Form("other", (found,))]


def _elements_allow(form, args):
    if form.empty:
        return YES
    # Nothing was put into it so far.
    if all(f.kind == "unknown" for f in form.inside) and form.inside:
        return NO if form.empty is False else EMPTY
    if form.kind not in ("list", "dict"):
        return MAYBE
    inside = _all(map(allows, form.inside, args))
    # What no element can be is fitted by a container without any.
    return inside if inside in (YES, MAYBE) else NO if form.empty is False else EMPTY


def _together(answers):
    """The answer for a value that may be any of several."""
    return answers[0] if answers and all(x == answers[0] and x != EMPTY for x in answers) else MAYBE if len(answers) != 1 else answers[0]


def _all(answers):
    """The answer for values that all have to fit."""
    answers = list(answers)
    if NO in answers:
        return NO
    return YES if all(x == YES for x in answers) else MAYBE


def _class_allows(c, form, of):
    if is_below(c, of, form.inside if form.kind == "object" else ()):
        return YES
    # A value of a class below came in as its base.
    return NO if form.exact and c is not bool or not common(c, of) else MAYBE


def common(c, of):
    """The classes below both. bool, the scalars of NumPy and named tuples have types of their own; what a class below happens to be able to do
    is not looked at, as `isinstance` in compiled code does not."""
    if is_protocol(of) or hasattr(of, "__abstractmethods__") or issubclass(c, of):
        return []
    # NumPy's bool is one type with Python's.
    if c is bool and of.__module__ == "numpy" and of.__name__ in ("bool", "bool_"):
        return [of]
    return [s for s in _all_below(c) if issubclass(s, of) and not _has_own_type(s)]


def _has_own_type(c):
    return c is bool or c.__module__ == "numpy" and not issubclass(c, (str, bytes)) or issubclass(c, tuple) and hasattr(c, "_fields")


def _all_below(c):
    for s in type.__subclasses__(c):
        yield s
        yield from _all_below(s)


def name_of(form):
    """What stands for a value of a form in a message: the name of its class, as Python would have it."""
    if form.kind == "union":
        return " | ".join(map(name_of, form.inside))
    return show(form.classes[0]) if form.classes else "?"


# ---------------------------------------------------------------- which says more


def below(a, b):
    """Whether everything that fits one annotation fits the other."""
    a, b = plain(a), plain(b)
    if b is object or a is b:
        return True
    if isinstance(a, typing.TypeVar):
        return below(bound_of(a), b)
    if isinstance(b, typing.TypeVar):
        return below(a, bound_of(b))
    if len(parts := members(a)) > 1:
        return all(below(p, b) for p in parts)
    if len(parts := members(b)) > 1:
        return any(below(a, p) for p in parts)
    if a is object:
        return False
    origin, of = typing.get_origin(a), typing.get_origin(b)
    if not is_below(origin or a, of or b):
        return False
    if of is None:
        return True
    x, y = typing.get_args(a), typing.get_args(b)
    if origin is None:
        return False
    if of is collections.abc.Callable:
        return x == y
    if of is tuple:
        if y and y[-1] is Ellipsis:
            return all(below(p, y[0]) for p in x if p is not Ellipsis and p != ())
        return len(x) == len(y) and Ellipsis not in x and all(p == q or below(p, q) for p, q in zip(x, y, strict=True))
    if of in ITERABLES and origin is tuple:
        return all(below(p, y[0]) for p in x if p is not Ellipsis and p != ())
    if of in ITERABLES and origin is dict:
        return below(x[0], y[0])
    if _is_array(of):
        (many, want), (count, have) = _array_element(b), _array_element(a)
        return many in (None, count) and (want is None or have is not None and issubclass(have, want))
    return all(map(below, x, y))
