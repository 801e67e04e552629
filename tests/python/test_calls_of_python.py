"""Calls in a compiled loop that Python makes: their results nobody reads, and they stand under a condition."""

import io
import logging
import sys
import traceback

import numpy as np
import pytest
import tierup
from harness.lifted import loops, same
from tierup import jit

pytestmark = pytest.mark.filterwarnings("ignore::tierup.errors.TierupWarning")

LOG = logging.getLogger("tierup.test")


class Seen:
    """Notes its calls; a logger is no value of compiled code, so it is Python's."""

    def __init__(self, raises=None):
        self.calls, self.raises = [], raises

    def __call__(self, *args):
        LOG.debug("called")
        self.calls.append(args)
        if self.raises is not None and len(self.calls) == 3:
            raise self.raises

    def note(self, *args):
        self(*args)

    def __deepcopy__(self, memo):
        return Seen(self.raises)

    def __repr__(self):
        return repr([[(type(x).__name__, x) for x in args] for args in self.calls])


def test_calls_under_a_condition_are_pythons_in_a_compiled_loop():
    @jit
    def hits(n, seen):
        state, found = 42, 0
        for i in range(n):
            state = (state * 1103515245 + 12345) % 2147483648
            if state % 100 == 0:
                found += 1
                seen.note("hit", found, i)
        return found, state

    same(hits, 2000, Seen(), compiled=[3])


def test_python_gets_the_numbers_that_it_would_have():
    @jit
    def partial_sums(a, seen):
        s = 0.0
        for i in range(len(a)):
            s += a[i]
            if i % 2 == 0:
                seen(i, s, a[i], i > 2, (i, a[i]), "text", None, a)
        return s

    same(partial_sums, np.linspace(0, 1, 9), Seen(), compiled=[3])
    same(partial_sums, np.arange(9, dtype=np.int8), Seen())
    same(partial_sums, np.linspace(0, 1, 9, dtype=np.float32), Seen())


def test_lists_of_mixed_values_are_filled_by_python():
    @jit
    def large(a, out):
        for i, x in enumerate(a):
            if x > 0.5:
                out.append((i, "large", x))
            else:
                out.extend([None])
        return len(out)

    same(large, np.linspace(0, 1, 9), [1, "a"], compiled=[2])


@pytest.mark.parametrize("raised", [KeyError("k"), ValueError(3), KeyboardInterrupt()], ids=repr)
def test_exceptions_of_such_calls_go_on(raised):
    @jit
    def caught(n, seen):
        total = 0
        try:
            for i in range(n):
                total += i
                if i % 2:
                    seen.note(i)
        except KeyError as e:
            return total, str(e)
        finally:
            seen.note("end")
        return total, i

    def outcome(f):
        seen = Seen(raised)
        try:
            return repr(f(9, seen)), repr(seen)
        except BaseException as e:
            return repr(e), [t.lineno for t in traceback.extract_tb(e.__traceback__)][-2:], repr(seen)

    want = outcome(caught.py_func)
    for _ in range(3):
        assert outcome(caught) == want
    assert loops(caught) == [4]


def test_records_name_the_line_and_the_function():
    @jit
    def logged(n):
        for i in range(n):
            if i == 3:
                LOG.warning("at %d of %d", i, n)

    def records(f):
        out = io.StringIO()
        handler = logging.StreamHandler(out)
        handler.setFormatter(logging.Formatter("%(funcName)s:%(lineno)d %(message)s"))
        LOG.addHandler(handler)
        try:
            f(5)
        finally:
            LOG.removeHandler(handler)
        return out.getvalue()

    assert records(logged) == records(logged.py_func)
    assert loops(logged) == [2]


def test_a_list_that_the_loop_reads_is_not_shown_to_python():
    @jit
    def grown(out, n):
        total = 0
        for i in range(n):
            total += len(out)
            if i % 2:
                out.append(None)
        return total

    same(grown, [1, "a"], 6, compiled=[])


STEP = 1


def test_what_python_may_set_is_not_taken_for_constant():
    def more():
        global STEP
        STEP += 1

    class Object:
        call = staticmethod(more)

    @jit
    def counted(n, o):
        total = 0
        for i in range(n):
            total += STEP
            if i % 2:
                o.call()
        return total

    def run(f):
        global STEP
        STEP = 1
        return f(6, Object())

    assert run(counted) == run(counted.py_func)
    assert loops(counted) == []


def test_such_calls_leave_nothing_behind():
    @jit
    def kept(n, seen):
        for i in range(n):
            if i % 2:
                seen.note(i)

    seen = Seen()
    before = sys.getrefcount(seen)
    for _ in range(5):
        kept(6, seen)
    assert loops(kept) == [2]
    assert sys.getrefcount(seen) == before


def test_calls_of_one_loop_inside_another():
    @jit
    def nested(n, seen):
        total = 0.0
        for i in range(n):
            for j in range(n):
                total += i * j
                if j == i:
                    seen.note(i, j, total)
            if i % 3 == 0:
                seen(i)
        return total

    same(nested, 7, Seen(), compiled=[3])
