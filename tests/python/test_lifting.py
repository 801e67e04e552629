"""Functions that do not compile whole: Python runs them, and their loops are compiled for the types that their variables have then."""

import contextlib
import io
import json
import linecache
import logging
import random
import re
import sys
import traceback

import numpy as np
import pytest
import tierup
from harness.lifted import loops, same
from tierup import _lifting, _tierup, jit

pytestmark = pytest.mark.filterwarnings("ignore::tierup.errors.TierupWarning")


def test_a_loop_behind_code_that_does_not_compile():
    @jit
    def total(text, n):
        values = np.array(json.loads(text)["values"], dtype=float)
        s = 0.0
        for k in range(n):
            for v in values:
                s += v * k
        return {"total": s, "n": n}

    same(total, '{"values": [1, 2, 3.5]}', 10, compiled=[4])


def test_types_are_those_of_the_loops_variables_when_it_is_reached():
    @jit
    def largest(rows):
        found = {}
        for name, values in rows:
            best = values[0]
            for i in range(len(values)):
                if values[i] > best:
                    best = values[i]
            found[name] = best
        return found

    rows = [("ints", np.array([3, 1, 7])), ("floats", np.array([0.5, 2.5])), ("small", np.array([1, 2], np.int8)), ("text", "abc")]
    same(largest, rows, compiled=[5])
    assert len(_lifting.loops_of(_tierup.in_python(largest))[1].dispatcher.signatures) == 4


def test_numbers_of_numpys_stay_numpys():
    @jit
    def mean(out, a):
        s = a[0]
        for i in range(1, len(a)):
            s += a[i]
        out.write(str(s.dtype))
        return s, s.item(), (s / 2).round(1), np.float32(s)

    for dtype in (np.float32, np.int64, np.float64, np.uint64, np.complex64):
        same(mean, io.StringIO(), np.array([1, 2, 3], dtype), compiled=[3])


def test_variables_that_a_loop_may_leave_unset():
    @jit
    def last(out, n):
        out.write("x")
        for i in range(n):
            if i % 2:
                odd = i
        try:
            return i, odd
        except NameError as e:
            return str(e)

    for n in (0, 1, 2, 5):
        same(last, io.StringIO(), n)
    assert loops(last) == [3]


def test_a_variable_that_a_loop_leaves_alone_keeps_its_value():
    @jit
    def kept(out, n, flag):
        if flag:
            odd = out
        for i in range(n):
            if i % 2:
                odd = i
        return [odd is out, i]

    for n in (1, 4):
        same(kept, io.StringIO(), n, True)
        same(kept, io.StringIO(), n, False)
    assert loops(kept) == [4]


def test_a_variable_that_is_not_set_yet_is_pythons_error():
    @jit
    def early(out, n):
        if out is None:
            s = 1
        for i in range(n):
            s = s + i
        return s

    assert same(early, io.StringIO(), 3)[0] == "UnboundLocalError"
    assert same(early, io.StringIO(), 0)[0] == "UnboundLocalError"


@pytest.mark.parametrize("n", [0, 3, 30])
def test_ways_out_of_a_loop(n):
    @jit
    def found(out, xs, x):
        where = "nowhere"
        for i, y in enumerate(xs):
            if y == x:
                break
            if y > 20:
                return out.getvalue(), i
            if y == 15:
                return None
        else:
            where = "end"
        out.write(where)
        return where, i

    for x in (0, 2, 15, 25, 99):
        same(found, io.StringIO("a"), list(range(n)), x)


def test_a_return_of_several_types_is_left_to_python():
    @jit
    def find(out, a, x):
        for i in range(len(a)):
            if a[i] == x:
                return i
            if a[i] > 5:
                return "large"
        return out.getvalue()

    for x in (1, 4, 9):
        same(find, io.StringIO("a"), np.arange(4), x)
        same(find, io.StringIO("a"), np.arange(9), x)


def test_a_loop_inside_try_hands_out_its_variables():
    @jit
    def tried(out, a, n):
        s = k = 0
        try:
            for i in range(n):
                k = i
                s += a[i]
                if s > 1000:
                    raise ValueError(s)
        except IndexError as e:
            out.write(str(e))
        finally:
            out.write(f"{k} {s}")
        return s, k

    for n in (0, 3, 20):
        same(tried, io.StringIO(), np.arange(5), n)
    assert same(tried, io.StringIO(), np.arange(5) * 900, 5)[0] == "ValueError"
    assert loops(tried) == [4]


def test_a_loop_inside_with():
    @jit
    def within(lines, path):
        s = 0
        with contextlib.closing(io.StringIO(lines)) as f:
            values = np.array([float(x) for x in f.read().split()])
            for v in values:
                if v > 9.0:
                    raise ValueError("large")
                s += v
        return s, path

    same(within, "1 2 3.5", io.StringIO(), compiled=[5])
    assert same(within, "1 20 3.5", io.StringIO()) == ("ValueError", "large")


def test_what_a_manager_swallows():
    @jit
    def within(a, n, path):
        s = 0
        with contextlib.suppress(IndexError):
            for i in range(n):
                s += a[i]
        return s, i, path

    same(within, np.arange(3), 10, io.StringIO(), compiled=[4])


def test_the_traceback_has_the_line():
    @jit
    def fails(out, a, n):
        out.write("x")
        for i in range(n):
            a[i] += 1
        return out

    with pytest.raises(IndexError) as e:
        fails(io.StringIO(), np.zeros(3), 5)
    frames = traceback.extract_tb(e.value.__traceback__)
    assert (frames[-1].name, frames[-1].line) == ("fails", "a[i] += 1")


def test_integers_of_any_size_where_nothing_was_written():
    @jit
    def power(out, n):
        x = s = 1
        for i in range(n):
            x *= 7
            s += x % 10
        return x, s, str(out)

    same(power, {1, 2.5}, 10)
    same(power, {1, 2.5}, 300)
    assert loops(power) == [3]


def test_integers_that_are_too_large_after_something_was_written_are_an_error():
    @jit
    def power(out, a, n):
        x = 1
        for i in range(n):
            a[0] = i
            x *= 7
        return x, str(out)

    with pytest.raises(OverflowError, match="64 bits"):
        power({1, 2.5}, np.zeros(1), 300)


def test_an_overflow_that_is_the_programs_own():
    @jit
    def grows(out, xs):
        s = 0.0
        for x in xs:
            s += np.exp(0.0) * 10.0 ** x
        return s, out

    assert same(grows, {1, 2.5}, [1.0, 400.0])[0] == "OverflowError"


def test_lists_are_written_back_and_arrays_that_have_changed_are_not_changed_twice():
    @jit
    def work(out, xs, n):
        x = 1
        for i in range(n):
            xs += [i]
            x *= 1000
        return x, str(out)

    same(work, {1, 2.5}, [5], 4, compiled=[3])
    # A list is a copy until the loop has ended.
    xs = [5]
    assert work({1, 2.5}, xs, 40)[0] == 1000**40 and xs == [5, *range(40)]

    @jit
    def store(out, a, n):
        x = 1
        for i in range(n):
            a[i] += 1
            x *= 1000
        return x, str(out)

    same(store, {1, 2.5}, np.zeros(9), 4, compiled=[3])
    a = np.zeros(40)
    with pytest.raises(OverflowError, match="64 bits"):
        store({1, 2.5}, a, 40)
    assert 0 < a.sum() < 40 and a.max() == 1


def test_loops_in_loops_of_python_do_not_copy_lists():
    @jit
    def work(out, xs, a):
        s = 0
        for k in range(30):
            out.write("x")
            for i in range(3):
                xs[i] += 1
            for v in a:
                s += v
        return s

    same(work, io.StringIO(), [1, 2, 3], np.arange(4), compiled=[7])
    assert "not copied" in str(work.explain())


def test_methods_closures_defaults_and_names_of_classes():
    class Model:
        scale = 3

        def __init__(self, log):
            self.log = log

        @jit
        def fit(self, a, *more, power=2, **rest):
            self.log.write(str(sorted(rest)))
            s = 0
            for v in a:
                s += v ** power
            return s * self.scale, more, power

    factor = 3

    def inner():
        return factor

    @jit
    def scaled(out, a):
        """With a doc string."""
        out.write(str(inner()))
        s = 0
        for v in a:
            s += v * factor
        return s

    a, model = np.arange(5), Model(io.StringIO())
    assert model.fit(a, 1, 2, power=3, z=1) == (300, (1, 2), 3) and model.log.getvalue() == "['z']"
    assert loops(Model.fit) == [4]
    for _ in range(2):
        assert scaled(io.StringIO(), a) == 10 * factor
        factor += 1
    assert loops(scaled) == [5] and scaled.__doc__ == "With a doc string."


def test_globals_are_those_of_the_module():
    @jit
    def scaled(out, a):
        s = 0
        for v in a:
            s += v * SCALE
        return s, str(out)

    global SCALE
    for SCALE in (2, 5, 2.5):
        same(scaled, {1, 2.5}, np.arange(4))
    assert loops(scaled) == [3]


SCALE = 1


def test_generators_keep_their_yields():
    @jit
    def totals(out, a):
        for k in range(3):
            s = 0
            for v in a:
                s += v * k
            out.write("x")
            yield s

    assert list(totals(io.StringIO(), np.arange(4))) == [0, 6, 12]


def test_object_mode_lifts_loops_unless_told_otherwise():
    def work(n):
        s = 0
        for i in range(n):
            s += i
        return s

    lifted, plain = jit(forceobj=True)(work), jit(forceobj=True, looplift=False)(work)
    assert lifted(10) == plain(10) == 45
    assert loops(lifted) == [2] and _tierup.in_python(plain) is work


class Model:
    steps = 4

    def __init__(self):
        self.out, self.rate, self.grid, self.asked = io.StringIO(), 0.5, np.linspace(0.0, 1.0, 6), 0
        self.inner = Inner()

    @property
    def scale(self):
        self.asked += 1
        return 2.0

    def turns(self):
        self.asked += 1
        return 3

    def __deepcopy__(self, memo):
        new = Model()
        new.grid = self.grid.copy()
        return new


class Inner:
    __slots__ = ("bias", "weights")

    def __init__(self):
        self.bias, self.weights = 0.25, np.arange(6)


def test_a_loop_takes_what_it_reads_of_objects_and_not_the_objects():
    @jit
    def run(m, config):
        s = 0.0
        for step in range(m.steps):
            for i in range(len(m.grid)):
                m.grid[i] += m.rate * m.inner.weights[i] + m.inner.bias + config["shift"]
                s += m.grid[i]
        return s, m.grid

    config = {"shift": 0.125, "name": "x", "out": io.StringIO()}
    m = Model()
    assert run(m, config)[0] == run.py_func(Model(), config)[0] and run(m, config)[1] is m.grid
    assert loops(run) == [3]


def test_what_a_loop_iterates_over_is_evaluated_once():
    @jit
    def run(m, log):
        s = 0
        for i in range(m.turns()):
            s += i
        for i in range(m.turns()):
            log.append((i, "x"))
        for v in m.grid.tolist():
            s += v
        return s, m.asked

    m, log = Model(), []
    assert run(m, log)[1] == 2 and run(m, log)[1] == 4 and run(m, log) == (6.0, 6)
    assert len(log) == 9 and loops(run) == [3, 5, 7]


def test_reads_that_run_code_stay_in_the_loop():
    @jit
    def run(m, n):
        s = 0.0
        for i in range(n):
            s += m.scale
        return s

    m = Model()
    assert run(m, 3) == 6.0 and run(m, 0) == 0.0 and m.asked == 3 and not loops(run)


def test_what_a_loop_sets_itself_is_not_read_before_it():
    @jit
    def run(m, n):
        for i in range(n):
            m.rate = m.rate * 0.5
            m.out.write("x")
        return m.rate

    assert run(Model(), 3) == 0.0625


def test_a_read_that_fails_fails_where_it_stands():
    @jit
    def run(m, config, n):
        for i in range(n):
            m.grid[i] = 7.0
            m.grid[i] += m.missing
        for i in range(config["none"]):
            pass

    m, config = Model(), {"out": io.StringIO()}
    with pytest.raises(AttributeError, match="missing"):
        run(m, config, 2)
    assert m.grid[0] == 7.0 and m.grid[1] == 0.2
    with pytest.raises(KeyError, match="none"):
        run(m, config, 0)


@pytest.mark.parametrize("body", [
    "for i in range(n):\n    locals()\n    s += i",
    "for i in range(n):\n    yield i",
    "f = lambda: s\nfor i in range(n):\n    s += f()",
    "def f():\n    nonlocal s\n    s += 1\nfor i in range(n):\n    f()\n    t = s",
    "for i in range(n):\n    del s\n    s = i",
    "for i in range(n):\n    global SCALE\n    SCALE = i",
], ids=["locals", "yield", "a lambda that reads", "nonlocal", "del", "global"])  # fmt: skip
def test_loops_that_stay(body):
    name = f"<loop that stays {body!r}>"
    source = "def work(out, n):\n    s = 0\n    out.write('x')\n" + "".join(f"    {line}\n" for line in body.splitlines()) + "    return s\n"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    space = {"SCALE": 0}
    exec(compile(source, name, "exec"), space)
    f = jit(space["work"])
    want, got = (list(g(io.StringIO(), 3)) if "yield" in body else g(io.StringIO(), 3) for g in (space["work"], f))
    assert got == want and not _lifting.loops_of(_tierup.in_python(f))


def test_source_that_is_not_the_functions_is_not_used():
    name = "<changed source>"
    source = "def work(out, n):\n    s = 0\n    for i in range(n):\n        s += i\n    return s, out\n"
    space = {}
    exec(compile(source, name, "exec"), space)
    changed = source.replace("s += i", "s -= i")
    linecache.cache[name] = (len(changed), None, changed.splitlines(keepends=True), name)
    f = jit(space["work"])
    assert f({1, 2.5}, 4)[0] == 6 and _tierup.in_python(f) is space["work"]


def test_overloads_know_their_loops():
    @jit(forceobj=True)
    def work(n):
        s = 0
        for i in range(n):
            s += i
        return s

    assert work(4) == 6
    (overload,) = work.overloads.values()
    assert overload.objectmode and [len(loop.signatures) for loop in overload.lifted] == [1]


def test_the_note_names_the_loops():
    @jit
    def work(out, n):
        out.write("x")
        s = 0
        for i in range(n):
            s += i
        for i in range(n):
            s += i * 2
        return s

    first = work.py_func.__code__.co_firstlineno
    with pytest.warns(tierup.errors.TierupWarning, match=f"work\\(\\) runs as plain Python, its loops at lines {first + 4}, {first + 6} compiled where types allow: "):
        work(io.StringIO(), 3)
    text = str(work.explain())
    assert f"loop at line {first + 4}: compiled for (int, int), tier 0" in text and "compiled code cannot take a _io.StringIO" in text
    assert f"loop at line {first + 6}" in work.explain()._repr_html_()


def test_a_log_in_a_loop(caplog):
    log = logging.getLogger("tierup.tests.lifting")

    @jit
    def simulate(x, steps):
        for k in range(steps):
            for i in range(1, len(x) - 1):
                x[i] += 0.1 * (x[i - 1] - 2 * x[i] + x[i + 1])
            if k % 10 == 0:
                log.warning("step %d: %.3f", k, x.max())
        return x

    with caplog.at_level(logging.WARNING):
        same(simulate, np.linspace(0.0, 1.0, 20) ** 2, 30, compiled=[3])
    assert len(caplog.messages) == 12


def test_text_in_and_numbers_out():
    @jit
    def histogram(text):
        words = json.loads(text)["words"]
        lengths = np.array([len(w) for w in words])
        counts = np.zeros(12, np.int64)
        for n in lengths:
            counts[min(n, 11)] += 1
        return {k: int(c) for k, c in enumerate(counts) if c}

    same(histogram, '{"words": ["the", "quick", "brown", "fox", "and", "a", "dog"]}', compiled=[5])


def test_no_references_are_kept():
    @jit
    def work(out, a, n):
        out.write("x")
        s = a[0]
        try:
            for i in range(n):
                s += a[i]
        except IndexError:
            pass
        b = a * s
        return b

    out, a = io.StringIO(), np.arange(4.0)
    work(out, a, 3), work(out, a, 9)
    before = sys.getrefcount(out), sys.getrefcount(a)
    for _ in range(50):
        work(out, a, 3), work(out, a, 9)
    assert (sys.getrefcount(out), sys.getrefcount(a)) == before


def test_python_is_asked_less_and_less_often_and_types_that_compile_are_found():
    @jit
    def count(xs):
        return len(xs)

    assert [count([1, [2]]) for _ in range(40)] == [2] * 40
    assert not count.nopython_signatures
    for _ in range(100):
        assert count([1, 2, 3]) == 3
    assert len(count.nopython_signatures) == 1


def test_what_is_set_before_the_first_turn_or_without_one():
    @jit
    def work(out, n):
        k, x = 0.5, n
        for i in range(n):
            pass
        else:
            k = 7
        while (x := x // 2) > 0:
            k += 1
        return k, x, out.getvalue()

    same(work, io.StringIO(), 0)
    same(work, io.StringIO(), 40, compiled=[3, 7])


def test_a_variable_that_is_not_set_where_the_loop_returns():
    @jit
    def work(out, n):
        t = (n, 0.5)
        for i in range(n + 1):
            if i == 3:
                return None
        else:
            t = (n, 2.0)
        return t, out.getvalue()

    for n in (0, 3):
        same(work, io.StringIO(), n, compiled=[3])


def test_handlers_around_a_loop_are_not_for_integers_that_are_too_large():
    @jit
    def work(out, a, n):
        x = 1
        try:
            for i in range(n):
                x *= 1000
        except Exception:
            x = -1
        try:
            y = 1
            for i in range(n):
                a[i] = i
                y *= 1000
        except Exception:
            return -2
        return x, y, str(out)

    same(work, {1, 2.5}, np.zeros(30), 3)
    assert work({1, 2.5}, np.zeros(30), 3)[:2] == (10**9, 10**9)
    with pytest.raises(OverflowError, match="64 bits") as e:
        work({1, 2.5}, np.zeros(30), 30)
    assert "cannot be taken back" in e.value.__notes__[0]


def test_a_function_that_is_made_anew_is_cut_once():
    def make(k):
        @jit
        def scaled(out, a):
            s = 0
            for v in a:
                s += v * k
            return s, out.getvalue()

        return scaled

    made = [make(k) for k in range(1, 4)]
    for k, f in enumerate(made, 1):
        assert f(io.StringIO(), np.arange(4)) == (6 * k, "")
    first, *others = [_lifting.loops_of(_tierup.in_python(f)) for f in made]
    assert len(first) == 1 and all(o is first for o in others) and len(first[0].dispatcher.signatures) == 1


def test_random_numbers_are_those_of_the_python_code_around():
    def dice():
        return random.randrange(6)

    @jit
    def work(out, n):
        random.seed(1), np.random.seed(2)
        s = 0.0
        for i in range(n):
            s += random.random() + np.random.random() + dice()
        out.write("x")
        return s, random.random(), np.random.random()

    same(work, io.StringIO(), 10, compiled=[])
    assert "streams of `random`" in str(work.explain())

    @jit
    def generated(out, n):
        rng = np.random.default_rng(3)
        s = 0.0
        for i in range(n):
            s += rng.random()
        out.write("x")
        return s, rng.random()

    same(generated, io.StringIO(), 10, compiled=[4])


class Reader:
    def __init__(self):
        self.rate = 1.0


class Doubler:
    def __init__(self, reader):
        self.reader = reader

    def double(self):
        self.reader.rate *= 2.0


def twice(doubler):
    doubler.double()


@pytest.mark.parametrize("by_method", [True, False])
def test_what_a_loop_reads_of_objects_may_be_changed_by_what_it_calls(by_method):
    @jit
    def by_method_of_another(reader, other, config, n):
        s = 0.0
        for i in range(n):
            s += reader.rate * config["x"]
            other.double()
        return s

    @jit
    def by_function(reader, other, config, n):
        s = 0.0
        for i in range(n):
            s += reader.rate * config["x"]
            twice(other)
        return s

    f, reader = by_method_of_another if by_method else by_function, Reader()
    assert f(reader, Doubler(reader), {"x": 2, "out": io.StringIO()}, 4) == 30.0


def test_a_generator_that_python_runs_keeps_its_loops():
    @jit
    def powers(out, n):
        x, seen = 1, [0]
        for i in range(n):
            x *= 1000
            seen[0] = i
        out.write("x")
        yield x

    assert list(powers(io.StringIO(), 30)) == [10**90]
