"""Functions of several rows in compiled code: rows that come later, classes that change, what is compiled again and what is not."""

import abc
import functools
import gc
import subprocess
import sys
import weakref

import numpy as np
import pytest
from tierup import dispatch, njit


class Base:
    def __init__(self, v):
        self.v = v


class Below(Base):
    pass


def single():
    @functools.singledispatch
    def f(x):
        return "any"

    @njit
    def call(x):
        return f(x)

    return f, call


def test_a_row_that_comes_later_is_taken():
    f, call = single()
    assert call(1) == "any"
    f.register(int, lambda x: "int")
    assert (call(1), call("a")) == ("int", "any")
    f.register(int, lambda x: "another")
    assert call(1) == "another"


def test_a_row_between_two_classes_is_taken_for_the_one_below():
    f, call = single()
    f.register(Base, lambda x: "base")
    assert call(Below(1)) == "base"
    f.register(Below, lambda x: "below")
    assert (call(Below(1)), call(Base(1))) == ("below", "base")


def test_a_class_that_joins_an_abstract_one_has_its_row():
    class Sizeable(abc.ABC):
        pass

    class Thing:
        def __init__(self):
            self.v = 1

    f, call = single()
    f.register(Sizeable, lambda x: "sizeable")
    assert call(Thing()) == "any"
    Sizeable.register(Thing)
    assert call(Thing()) == "sizeable"


def test_isinstance_sees_a_class_that_joins_an_abstract_one():
    class Sizeable(abc.ABC):
        pass

    class Thing:
        def __init__(self):
            self.v = 1

    @njit
    def f(x):
        return isinstance(x, Sizeable), issubclass(Thing, Sizeable)

    assert f(Thing()) == (False, False)
    Sizeable.register(Thing)
    assert f(Thing()) == (True, True)


def test_a_class_with_other_bases_has_another_row():
    class A:
        pass

    class B:
        pass

    class C(A):
        pass

    f, call = single()
    f.register(A, lambda x: "a")
    f.register(B, lambda x: "b")
    assert call(C()) == "a"
    C.__bases__ = (B,)
    assert call(C()) == f(C())


def test_plain_python_sees_other_bases_too():
    class A:
        pass

    class B:
        pass

    class C(A):
        pass

    @dispatch
    def f(x: A):
        return "a"

    @f.register
    def _(x: B):
        return "b"

    call = njit(lambda x: f(x))
    assert f(C()) == call(C()) == "a"
    C.__bases__ = (B,)
    assert f(C()) == call(C()) == "b"


def test_two_abstract_classes_that_are_equally_close_are_pythons_error():
    class A(abc.ABC):
        pass

    class B(abc.ABC):
        pass

    class C:
        def __init__(self):
            self.v = 1

    A.register(C)
    B.register(C)
    f, call = single()
    f.register(A, lambda x: "a")
    f.register(B, lambda x: "b")
    with pytest.raises(RuntimeError) as e:
        f(C())
    with pytest.raises(RuntimeError, match="Ambiguous dispatch") as compiled:
        call(C())
    assert str(compiled.value) == str(e.value)


def test_rows_of_a_dispatched_function_come_later_and_replace_others():
    @dispatch
    def f(a, b):
        return 0

    @njit
    def pairs(xs):
        t = 0
        for x in xs:
            for y in xs:
                t = t * 10 + f(x, y)
        return t

    xs = [Base(1), Below(2)]
    assert pairs(xs) == pairs.py_func(xs) == 0

    @f.register
    def _(a: Base, b: Below):
        return 1

    assert pairs(xs) == pairs.py_func(xs) == 101

    @f.register
    def _(a: Base, b: Below):
        return 2

    assert pairs(xs) == pairs.py_func(xs) == 202


def test_what_numpy_derives_from_python_classes_is_told_apart_or_refused():
    f, call = single()
    f.register(float, lambda x: "float")
    f.register(np.float64, lambda x: "float64")
    f.register(int, lambda x: "int")
    for x in (1.5, np.float64(1.5), np.float32(1.5), 1, np.int64(1), True):
        assert call(x) == f(x)
    f.register(np.bool_, lambda x: "bool of NumPy")
    f.register(np.str_, lambda x: "str of NumPy")
    for x in (True, np.bool_(True), "a", np.str_("a")):
        with pytest.raises(TypeError, match="which only the value can tell"):
            call(x)


def test_only_rows_that_may_fit_are_asked_of_the_value():
    class Small(int):
        pass

    @dispatch
    def f(a: int, b: int):
        return "ints"

    @f.register
    def _(a: Small, b: str):
        return "small"

    @njit
    def call(x, y):
        return f(x, y)

    assert call(1, 2) == f(1, 2) == "ints"
    with pytest.raises(TypeError, match="a value of type int is Small, which only the value can tell"):
        call(1, "a")


def test_a_guard_of_rows_runs_no_python_code():
    hashed = []

    class Meta(type):
        def __hash__(cls):
            hashed.append(cls)
            return type.__hash__(cls)

    class A(metaclass=Meta):
        pass

    f, call = single()
    f.register(A, lambda x: "a")
    f.register(int, lambda x: "int")
    assert call(1) == "int"
    f.register(str, lambda x: "str")
    del hashed[:]
    f.registry.get(float)
    assert (call(1), call("a"), hashed) == ("int", "str", [])


def test_a_row_keeps_to_the_code_that_it_has_now():
    f, call = single()

    def row(x):
        return "old"

    f.register(int, row)
    assert call(1) == "old"
    row.__code__ = (lambda x: "new").__code__
    assert call(1) == "new"


def test_a_name_in_text_is_looked_up_when_it_is_needed():
    @dispatch
    def f(a: "Later"):
        return "later"

    @njit
    def call(x):
        return f(x)

    class Later:
        def __init__(self):
            self.v = 1

    globals()["Later"] = Later
    try:
        assert call(Later()) == f(Later()) == "later"
    finally:
        del globals()["Later"]


def test_a_dispatched_function_goes_when_nobody_has_it():
    @dispatch
    def f(a: list[int]):
        return 1

    f.register(lambda a: 2)

    @njit
    def call(x):
        return f(x)

    assert call([1]) == 1
    gone = weakref.ref(f)
    del f, call
    gc.collect()
    assert gone() is None


def test_plain_python_does_not_load_numpy_to_dispatch():
    program = """
import sys
from tierup import dispatch

@dispatch
def f(a: int):
    return 1

assert f(2) == 1
assert "numpy" not in sys.modules
"""
    done = subprocess.run([sys.executable, "-c", program], env={"TIERUP_TIER": "off", "PYTHONPATH": ":".join(sys.path)}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
