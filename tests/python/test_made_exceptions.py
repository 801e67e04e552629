"""Exceptions that Python makes or raises while compiled code runs: their class, arguments and attributes in compiled code and behind it, and that they go away."""

import gc
import sys
import threading
import traceback
import weakref

import pytest
import tierup
from tierup import njit, prange

ALIVE = weakref.WeakSet()


class Coded(Exception):
    def __init__(self, code, where="here"):
        super().__init__(f"{code} {where}")
        self.code = code
        ALIVE.add(self)


class Below(Coded):
    pass


@njit
def raises(code):
    raise Below(code)


def test_attributes_that_init_gives_are_there_behind_compiled_code():
    with pytest.raises(Below) as caught:
        raises(7)
    e = caught.value
    assert (e.code, e.args, str(e)) == (7, ("7 here",), "7 here")
    assert [f.name for f in traceback.extract_tb(e.__traceback__)][-1] == "raises"


def test_the_context_is_what_the_caller_handles():
    with pytest.raises(Below) as caught:
        try:
            raise KeyError("outer")
        except KeyError as outer:
            kept = outer
            raises(1)
    assert caught.value.__context__ is kept
    with pytest.raises(Below) as caught:
        raises(1)
    assert caught.value.__context__ is None


def test_what_init_raises_has_the_line_that_made_the_exception():
    class Refuses(Exception):
        def __init__(self):
            raise KeyError("no")

    @njit
    def f(k):
        try:
            return 1 // k
        except ZeroDivisionError:
            raise Refuses

    with pytest.raises(KeyError) as caught:
        f(0)
    assert [t.name for t in traceback.extract_tb(caught.value.__traceback__)][-2:] == ["f", "__init__"]
    assert type(caught.value.__context__) is ZeroDivisionError


def test_exceptions_that_were_made_go_away():
    @njit
    def handled(n):
        found = 0
        for i in range(n):
            try:
                raises(i)
            except Coded as e:
                found += len(e.args)
        return found

    def leaves():
        try:
            raises(1)
        except Below as e:
            return len(e.args)

    gc.collect()
    before = len(ALIVE)
    assert handled(100) == 100 and leaves() == 1
    gc.collect()
    assert len(ALIVE) == before


def test_threads_make_exceptions():
    @njit(parallel=True)
    def loop(n):
        total = 0
        for i in prange(n):
            try:
                if i % 10 == 3:
                    raise Below(i)
                total += 1
            except Coded as e:
                total += 100 * len(e.args)
        return total

    @njit(parallel=True)
    def leaves(n):
        total = 0
        for i in prange(n):
            if i == 77:
                raise Below(i, "there")
            total += i
        return total

    @njit(nogil=True)
    def without_the_lock(n):
        total = 0
        for i in range(n):
            try:
                raise OSError(2, "text")
            except FileNotFoundError as e:
                total += len(e.args)
        return total

    assert loop(100) == 90 + 10 * 100
    with pytest.raises(Below, match="77 there"):
        leaves(100)
    got = []
    threads = [threading.Thread(target=lambda: got.append(without_the_lock(200))) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert got == [400] * 4


class Broken:
    """A place to write to that raises."""

    def __init__(self, error):
        self.error = error

    def write(self, text):
        raise self.error

    def flush(self):
        pass


@pytest.mark.parametrize("error", [FileNotFoundError(2, "text", "file"), Below(3), ValueError(1, 2.5, None, True, "text"), KeyError("k"), ValueError(1 << 80)], ids=repr)
def test_exceptions_of_python_keep_class_and_arguments(error, monkeypatch):
    @njit
    def f():
        try:
            print("text")
        except FileNotFoundError as e:
            return "not found", len(e.args), str(e), repr(e)
        except Coded as e:
            return "coded", len(e.args), str(e), repr(e)
        except (ValueError, LookupError) as e:
            return "other", len(e.args), str(e), repr(e)
        return "", 0, "", ""

    @njit
    def second():
        try:
            print("text")
        except Exception as e:
            return e.args[1]

    monkeypatch.setattr(sys, "stdout", Broken(error))
    got = f()
    assert got[1:] == (len(error.args), str(error), repr(error))
    assert got[0] == ("not found" if isinstance(error, FileNotFoundError) else "coded" if isinstance(error, Coded) else "other")
    if len(error.args) > 1:
        assert second() == error.args[1]
    monkeypatch.undo()


def test_a_metaclass_may_make_the_instances():
    class Meta(type):
        def __call__(cls, *args):
            return super().__call__(*args, "more")

    class E(ValueError, metaclass=Meta):
        pass

    @njit
    def f(x):
        try:
            raise E(x)
        except ValueError as e:
            return len(e.args), str(e)

    assert f(3) == (2, "(3, 'more')")


def test_only_python_can_make_some_exceptions_on_a_gpu():
    from tierup import cuda

    @cuda.jit
    def kernel(a):
        if a[0] > 0:
            raise OSError(2, 3)

    import numpy as np

    with pytest.raises(tierup.TierupError, match="only Python can make this exception"):
        kernel[1, 1](np.ones(1))
