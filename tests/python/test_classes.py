"""Classes as compiled code knows them, against Python's own: who derives from whom, which values are instances of what, and classes that come and go."""

import abc
from collections import namedtuple

import numpy as np
import pytest
import tierup
from tierup import njit

CLASSES = {
    "object": object, "type": type, "int": int, "bool": bool, "float": float, "complex": complex, "str": str, "list": list, "tuple": tuple, "range": range, "slice": slice,
    "None": type(None), "ndarray": np.ndarray, "generic": np.generic, "number": np.number, "integer": np.integer, "signed": np.signedinteger, "unsigned": np.unsignedinteger,
    "inexact": np.inexact, "floating": np.floating, "complexfloating": np.complexfloating, "int8": np.int8, "int64": np.int64, "uint16": np.uint16, "float32": np.float32,
    "float64": np.float64, "complex64": np.complex64, "complex128": np.complex128, "numpy_bool": np.bool_, "BaseException": BaseException, "KeyError": KeyError, "ValueError": ValueError,
    "LookupError": LookupError, "AxisError": np.exceptions.AxisError,
}
VALUES = [
    1, True, 2.5, 1j, "a", [1], (1, "a"), range(3), slice(1, 2), None, np.zeros(2), np.int8(1), np.uint16(2), np.int64(3), np.float32(1), np.float64(1), np.complex64(1), np.complex128(1),
    np.random.default_rng(0),
]


def test_every_class_derives_from_what_python_says():
    names = list(CLASSES)
    scope = {f"C{k}": c for k, c in enumerate(CLASSES.values())}
    rows = ",\n".join("(" + ", ".join(f"issubclass(C{i}, C{j})" for j in range(len(names))) + ")" for i in range(len(names)))
    exec(f"def f():\n    return (\n{rows}\n)", scope)
    got = njit(scope["f"])()
    wrong = [
        (a, b) for a, row in zip(names, got) for b, answer in zip(names, row) if answer != issubclass(CLASSES[a], CLASSES[b])
    ]
    assert not wrong


@pytest.mark.parametrize("value", VALUES, ids=lambda v: type(v).__name__)
def test_every_value_is_an_instance_of_what_python_says(value):
    scope = {f"C{k}": c for k, c in enumerate(CLASSES.values())}
    exec(f"def f(x):\n    return ({', '.join(f'isinstance(x, C{j})' for j in range(len(CLASSES)))})", scope)
    got = njit(scope["f"])(value)
    if isinstance(value, bool):
        # Compiled code does not tell NumPy's bools from Python's.
        got = tuple(answer for name, answer in zip(CLASSES, got) if name != "numpy_bool")
        value_of = {name: isinstance(value, c) for name, c in CLASSES.items() if name != "numpy_bool"}
        assert got == tuple(value_of.values())
        return
    assert dict(zip(CLASSES, got)) == {name: isinstance(value, c) for name, c in CLASSES.items()}


def test_exceptions_of_classes_with_several_bases_are_caught_by_each():
    class A(ValueError):
        pass

    class B(A, KeyError):
        pass

    def raises(k):
        if k == 0:
            raise A("a", k)
        if k == 1:
            raise B("b")
        raise KeyError("k")

    def f(k):
        try:
            raises(k)
        except B as e:
            return "B", isinstance(e, A), isinstance(e, LookupError), isinstance(e, ValueError), isinstance(e, OSError)
        except A as e:
            return "A", isinstance(e, B), isinstance(e, LookupError), isinstance(e, ValueError), isinstance(e, OSError)
        except LookupError as e:
            return "other", isinstance(e, B), isinstance(e, KeyError), isinstance(e, ValueError), isinstance(e, OSError)

    scope_of = njit(f)
    for k in range(3):
        assert scope_of(k) == f(k)


def test_an_exception_of_python_is_caught_by_the_class_that_it_derives_from():
    class Mine(ConnectionError):
        pass

    @njit
    def f(k):
        try:
            if k:
                raise Mine("m")
            raise BrokenPipeError("p")
        except Mine:
            return "mine"
        except ConnectionError:
            return "connection"

    assert f(1) == "mine" and f(0) == "connection"


def test_a_method_that_changes_is_seen():
    P = namedtuple("P", "x")

    class Q(P):
        def value(self):
            return self.x

    @njit
    def f(q):
        return q.value()

    assert f(Q(3)) == 3
    Q.value = lambda self: self.x * 10
    assert f(Q(3)) == 30


def test_a_base_that_gets_a_method_is_seen():
    P = namedtuple("P", "x")

    class Q(P):
        pass

    @njit
    def f(q):
        return hasattr(q, "value"), getattr(q, "value", 5)

    assert f(Q(3)) == (False, 5)
    P.value = 7
    assert f(Q(3)) == (True, 7)


def test_a_getter_that_is_no_python_function_is_refused():
    class Q(namedtuple("Q", "x y")):
        x = property(len)

    @njit
    def f(q):
        return q.x

    with pytest.raises(tierup.TypingError, match="Q.x is a descriptor"):
        f(Q(3, 4))


def test_a_field_under_another_name_is_that_field():
    import operator

    P = namedtuple("P", "x y")

    class Q(P):
        x = P.y
        first = P.x
        second = property(operator.itemgetter(1))
        y = property(operator.itemgetter(0))
        both = property(operator.itemgetter(0, 1))

    def f(q):
        return q.x, q.y, q.first, q.second, q[0], q[1]

    assert njit(f)(Q(3, 4.5)) == f(Q(3, 4.5)) == (4.5, 3, 3, 4.5, 3, 4.5)

    @njit
    def refused(q):
        return q.both

    with pytest.raises(tierup.TypingError, match="Q.both is a descriptor"):
        refused(Q(3, 4))


def test_keywords_are_a_dict():
    def inner(**kw):
        return isinstance(kw, dict), isinstance(kw, tuple), isinstance(kw, object), len(kw)

    def f(x):
        return inner(a=x, b=1)

    assert njit(f)(2) == f(2)


def test_methods_of_abstract_classes_are_found_through_their_order():
    class Base(abc.ABC):
        K = 3

        @staticmethod
        def twice(x):
            return 2 * x

        @classmethod
        def times(cls, x):
            return cls.K * x

    class Sub(Base):
        K = 4

    @njit
    def f(x):
        return Base.twice(x), Sub.twice(x), Base.times(x), Sub.times(x), Sub.K

    assert f(5) == (10, 10, 15, 20, 4)


@pytest.mark.parametrize("text", [
    "int.conjugate([x, x])", "int.conjugate((1, 2))", "float.conjugate('ab')", "bool.conjugate([x])", "int.bit_length('ab')", "int.bit_length([x])", "int.bit_length(None)", "int.bit_count('ab')", "int.bit_length(1j)",
    "float.is_integer('ab')", "float.is_integer(None)", "np.float64.item([x])", "np.float64.conjugate((1, 2))", "np.float64.is_integer('ab')", "(int.conjugate if x else int.conjugate)([x])",
])
def test_methods_of_numbers_taken_from_a_class_want_a_number(text):
    space = {"np": np}
    exec(f"def f(x):\n    return {text}\n", space)
    with pytest.raises(TypeError):
        space["f"](3)
    with pytest.raises(tierup.TypingError):
        tierup.njit(space["f"])(3)


class Longer(namedtuple("Longer", "x y")):
    def __len__(self):
        return tuple.__len__(self) + 5


@pytest.mark.parametrize("text", ["len(v)", "tuple.__len__(v)", "int.__repr__(True)", "int.__str__('ab')"])
def test_special_methods_of_a_base_are_refused_and_never_the_overriding_ones(text):
    space = {"tuple": tuple}
    exec(f"def f(v):\n    return {text}\n", space)
    with pytest.raises(tierup.TierupError):
        tierup.njit(space["f"])(Longer(1, 2))


CHANGES = {
    "grows": "l.append(t); return t", "counts": "m[0] += len(l); return -t", "clears": "l.clear(); return -t", "raises": "l.append(9); return 1 // (t - 2)", "reverses": "return -t",
}


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize("reverse", [False, True])
def test_a_list_is_empty_while_keys_sort_it(name, reverse):
    space = {}
    exec(f"def f(l, reverse):\n    m = [0]\n    def key(t):\n        {CHANGES[name]}\n    l.sort(key=key, reverse=reverse)\n    return m[0]\n", space)

    def outcome(f):
        values = [3, 1, 2, 5]
        try:
            return f(values, reverse), values
        except (ValueError, ZeroDivisionError) as e:
            return str(e), values

    assert outcome(tierup.njit(space["f"])) == outcome(space["f"])
