"""Loops of functions that Python runs, in every form of code that may stand in them or around them: inner functions, generators, coroutines, handlers for everything, `match`, walrus,
`with`, `del`. They are compiled where that is right, and stay where it is not; what the function gives is always what CPython gives."""

import ast
import asyncio
import contextlib
import gc
import io
import os
import subprocess
import sys
import tempfile

import numpy as np
import pytest
from harness.lifted import loops, same
from tierup import _lifting, _lines, _source, _tierup, jit

pytestmark = pytest.mark.filterwarnings("ignore::tierup.errors.TierupWarning")


# ---------------------------------------------------------------- inner functions

def test_what_inner_functions_read_is_set_behind_a_loop():
    @jit
    def by_lambda(out, n):
        s = 0
        f = lambda: s  # noqa: E731
        for i in range(n):
            s += i
        return f(), out.getvalue()

    @jit
    def by_generator(out, n):
        s = 0
        g = (v + s for v in range(3))
        for i in range(n):
            s += i
        return list(g), out.getvalue()

    @jit
    def by_nonlocal(out, n):
        s = 0

        def add(k):
            nonlocal s
            s += k

        add(5)
        for i in range(n):
            s += i * 2
        add(1)
        return s, out.getvalue()

    same(by_lambda, io.StringIO(), 4, compiled=[4])
    same(by_generator, io.StringIO(), 4, compiled=[4])
    same(by_nonlocal, io.StringIO(), 4, compiled=[9])


def test_what_inner_functions_read_is_set_where_a_loop_raises():
    def work(out, a, n):
        s = 0
        out.append(lambda: s)
        for i in range(n):
            s += a[i]

    for f in (work, jit(work)):
        out = []
        with pytest.raises(IndexError):
            f(out, np.arange(4), 9)
        assert out[0]() == 6


def test_loops_that_call_inner_functions_stay():
    @jit
    def work(out, n):
        s = 0

        def add(k):
            nonlocal s
            s += k

        for i in range(n):
            s += i
            add(1)
        return s, out.getvalue()

    same(work, io.StringIO(), 4, compiled=[])


def test_operators_of_objects_may_read_variables_that_a_loop_sets():
    def by_class(out, n):
        s = 0

        class Reads:
            def __add__(self, other):
                return s + other

        r = Reads()
        for i in range(n):
            s += i
            s = r + 1
        return s, out.getvalue()

    same(jit(by_class), io.StringIO(), 4, compiled=[])


def test_variables_of_the_function_around_it():
    def make():
        s = 0

        def work(out, n):
            nonlocal s
            for i in range(n):
                s += i
            return s, out.getvalue()

        return work, lambda: s

    (plain, read), (other, seen) = make(), make()
    work = jit(other)
    for _ in range(3):
        assert work(io.StringIO(), 5) == plain(io.StringIO(), 5) and seen() == read()
    assert loops(work) == [2]


def test_functions_inside_a_loop():
    @jit
    def work(out, xs, n):
        s = 0
        for i in range(n):
            def scaled(k):
                return k * i

            s += scaled(2) + min(xs, key=lambda v: (v - i) ** 2)
        return s, i, out.getvalue()

    @jit
    def gives(out, n):
        for i in range(n):
            def scaled(k):
                return k * i
        return scaled(3), out.getvalue()

    same(work, io.StringIO(), [5, 1, 2], 4, compiled=[3])
    same(gives, io.StringIO(), 4)
    assert same(gives, io.StringIO(), 0)[0] == "UnboundLocalError"


# ---------------------------------------------------------------- generators and coroutines

def test_loops_of_generators():
    def totals(out, a, n):
        for k in range(3):
            s = 0
            for i in range(n):
                s += a[i] * k
            out.write("x")
            yield s

    f = jit(totals)
    for n in (0, 4):
        assert list(f(io.StringIO(), np.arange(4), n)) == list(totals(io.StringIO(), np.arange(4), n))
    with pytest.raises(IndexError) as e:
        list(f(io.StringIO(), np.arange(4), 5))
    assert e.traceback[-1].name == "totals" and loops(f) == [3]


def test_an_integer_that_is_too_large_leaves_a_generator_as_an_overflow_error():
    @jit
    def powers(out, a, n):
        x = 1
        try:
            for i in range(n):
                a[i] = i
                x *= 1000
        except Exception:
            yield -1
        yield x, out.getvalue()

    assert list(powers(io.StringIO(), np.zeros(40), 3)) == [(10**9, "")]
    with pytest.raises(OverflowError, match="64 bits") as e:
        list(powers(io.StringIO(), np.zeros(40), 30))
    assert "cannot be taken back" in e.value.__notes__[0]


def test_a_generator_that_is_left_early_runs_its_finally():
    @jit
    def steps(out, n):
        s = 0
        try:
            while True:
                for i in range(n):
                    s += i
                yield s
        finally:
            out.write(str(s))

    out = io.StringIO()
    g = steps(out, 4)
    assert [next(g), next(g)] == [6, 12]
    g.close()
    assert out.getvalue() == "12" and loops(steps) == [5]


def test_loops_of_coroutines():
    @jit
    async def work(out, n):
        s = 0
        for i in range(n):
            s += i
        await asyncio.sleep(0)
        for i in range(2):
            await asyncio.sleep(0)
            s += i
        out.write("x")
        return s, out.getvalue()

    assert asyncio.run(work(io.StringIO(), 5)) == (11, "x")
    assert loops(work) == [3]


# ---------------------------------------------------------------- handlers

def test_handlers_for_everything_are_not_for_integers_that_are_too_large():
    def bare(n):
        x = 1
        try:
            for _ in range(n):
                x *= 1000
        except:  # noqa: E722
            x = -1
        return x

    def base(n):
        x = 1
        try:
            for _ in range(n):
                x *= 1000
        except BaseException:
            x = -1
        return x

    def among_others(n):
        x = 1
        try:
            for _ in range(n):
                x *= 1000
        except (KeyError, BaseException) as e:
            raise KeyError("none") from e
        return x

    def raises_another(n):
        x = 1
        try:
            for _ in range(n):
                x *= 1000
        except:  # noqa: E722
            raise ValueError("large") from None
        return x

    def inside(n):
        s = 1
        for _ in range(n):
            try:
                s *= 1000
            except:  # noqa: E722
                s = 0
        return s

    for f in (bare, base, among_others, raises_another, inside):
        for compiled in (jit(f), jit(forceobj=True)(f)):
            for n in (3, 30, 30, 3, 30):
                assert compiled(n) == 1000**n, f.__name__


def test_handlers_for_everything_around_a_loop_that_has_written():
    @jit
    def bare(out, a, n):
        x = 1
        try:
            for i in range(n):
                a[i] = i
                x *= 1000
        except:  # noqa: E722
            x = -1
        return x, out.getvalue()

    @jit
    def base(out, a, n):
        x = 1
        try:
            for i in range(n):
                a[i] = i
                x *= 1000
        except BaseException:
            x = -1
        return x, out.getvalue()

    for f in (bare, base):
        same(f, io.StringIO(), np.zeros(40), 3)
        same(f, io.StringIO(), np.zeros(4), 6)
        with pytest.raises(OverflowError, match="64 bits"):
            f(io.StringIO(), np.zeros(40), 30)


def test_handlers_for_everything_catch_all_else():
    @jit
    def work(out, a, n):
        s = 0
        for i in range(n):
            try:
                s += a[i]
            except:  # noqa: E722
                s += 100
            try:
                s += a[i + 1]
            except BaseException:
                s += 1000
        return s, out.getvalue()

    same(work, io.StringIO(), np.arange(3), 5, compiled=[3])


def test_a_finally_that_goes_elsewhere_and_groups_of_exceptions_keep_their_loops():
    @jit
    def goes_on(out, a, n):
        x = 1
        try:
            for i in range(n):
                a[i] = i
                x *= 1000
        finally:
            return x, out.getvalue()  # noqa: B012

    @jit
    def grouped(out, a, n):
        x = 1
        try:
            for i in range(n):
                a[i] = i
                x *= 1000
        except* BaseException:
            x = -1
        return x, out.getvalue()

    same(goes_on, io.StringIO(), np.zeros(40), 30, compiled=[])
    same(grouped, io.StringIO(), np.zeros(40), 30, compiled=[])


# ---------------------------------------------------------------- statements

def test_variables_that_a_loop_deletes():
    @jit
    def inside(out, n):
        s = 0
        for i in range(n):
            t = i * 2
            s += t
            del t
        del out
        for i in range(n):
            s += i
        return s

    @jit
    def behind(out, n):
        s = t = 0
        for i in range(n):
            t = i * 2
            s += t
            del t
        return s, t, out.getvalue()

    same(inside, io.StringIO(), 4, compiled=[3, 8])
    same(behind, io.StringIO(), 0, compiled=[])
    assert same(behind, io.StringIO(), 4)[0] == "UnboundLocalError"


def test_match_in_a_loop():
    @jit
    def counted(out, n):
        found = [0, 0, 0]
        for i in range(n):
            match i % 3:
                case 0:
                    found[0] += 1
                case 1 if i > 3:
                    found[1] += 1
                case x:
                    found[2] += x
        return found, x, out.getvalue()

    @jit
    def guarded(out, n):
        for i in range(n):
            match i:
                case y if y > 5:
                    pass
        return y, out.getvalue()

    for n in (20, 2):
        same(counted, io.StringIO(), n, compiled=[3])
    assert same(counted, io.StringIO(), 1)[0] == "UnboundLocalError"
    same(guarded, io.StringIO(), 3)
    assert same(guarded, io.StringIO(), 0)[0] == "UnboundLocalError"


def test_walrus_in_a_loop():
    @jit
    def in_a_test(out, n):
        s = 0
        for i in range(n):
            if i > 1 and (y := i * i) > 10:
                s += y
            elif (z := i + 1) > 0:
                s += z
        return s, y, z, out.getvalue()

    @jit
    def in_a_comprehension(out, n):
        s = 0
        for i in range(n):
            t = [(z := j) for j in range(i)]
            s += len(t)
        return s, z, out.getvalue()

    @jit
    def before_the_first_turn(out, n):
        s = 0
        while (k := n - 1) > 0:
            n = k
            s += k
        return s, k, n, out.getvalue()

    same(in_a_test, io.StringIO(), 9, compiled=[3])
    assert same(in_a_test, io.StringIO(), 1)[0] == "UnboundLocalError"
    same(in_a_comprehension, io.StringIO(), 5, compiled=[3])
    assert same(in_a_comprehension, io.StringIO(), 1)[0] == "UnboundLocalError"
    for n in (0, 5):
        same(before_the_first_turn, io.StringIO(), n, compiled=[3])


class Doubles:
    def __init__(self, x):
        self.x = x

    def __enter__(self):
        return self.x * 2

    def __exit__(self, kind, value, traceback):
        return False


def test_with_in_a_loop():
    @jit
    def work(out, a, n):
        s = 0
        for i in range(n):
            with contextlib.suppress(IndexError):
                s += a[i]
            with Doubles(i) as d:
                s += d
        return s, d, out.getvalue()

    same(work, io.StringIO(), np.arange(3), 5, compiled=[3])
    assert same(work, io.StringIO(), np.arange(3), 0)[0] == "UnboundLocalError"


# ---------------------------------------------------------------- loops in loops

def test_lists_of_numbers_are_copied_for_inner_loops_that_go_through_them():
    @jit
    def work(out, pairs, xs, names, n):
        s = t = 0
        for k in range(n):
            out.write("x")
            for x, y in pairs:
                s += x * y * k
            for i, x in enumerate(xs):
                s += x * i
            for name in names:
                t += len(name)
            for x in xs:
                t += xs[0]
        return s, t

    same(work, io.StringIO(), [(1.0, 2), (3.0, 4)], [1, 2, 3], ["a", "bc"], 5, compiled=[5, 7])
    assert same(work, io.StringIO(), [(1.0, 2), (3.0, "x")], [1, 2, 3], [], 5)[0] == "TypeError"


def test_lists_that_inner_loops_change_are_not_copied():
    @jit
    def work(out, xs, ys, n):
        for k in range(n):
            out.write("x")
            for x in xs:
                ys[0] += x
            for y in ys:
                xs[0] = y
        return xs, ys

    same(work, io.StringIO(), [1, 2], [3, 4], 3, compiled=[])


# ---------------------------------------------------------------- sources

class Itself:
    """Methods that name their class, and functions that call themselves, have loops too."""

    def __init__(self, x):
        self.x = x

    @jit
    def twice(self, out, n):
        s = 0
        for i in range(n):
            s += i
        return Itself(s + self.x).x, out.getvalue()


@jit(forceobj=True)
def depth(node, n):
    s = 0
    for i in range(n):
        s += i
    return s + (depth(node[0], n) if node else 0)


def test_methods_that_name_their_class_and_functions_that_name_themselves():
    assert Itself(1).twice(io.StringIO(), 4) == (7, "") and loops(Itself.twice) == [3]
    assert depth([[[]]], 4) == 18 and loops(depth) == [3]


def test_the_tree_of_a_function_is_found_whatever_stands_around_it():
    text = "import math\r\n\r\nclass C:\r\n    @staticmethod\r\n    def f(x,\r\n          y=(1,\r\n             2)):\r\n        '''A text\r\nwith lines'''\r\n        # ä\r\n        if x:\r\n            return [x,\r\n                    y\r\n\r\n                    ]\r\n        # behind\r\n    z = 1\r\n"
    with tempfile.NamedTemporaryFile("wb", suffix=".py") as f:
        f.write(text.encode())
        f.flush()
        space = {}
        exec(compile(text, f.name, "exec"), space)
        node = _source.definition(space["C"].f)
        assert node.lineno == 5 and ast.unparse(node.body[-1]) == "if x:\n    return [x, y]"
        for known in (sys.modules["linecache"], None):
            assert [ast.dump(_source.definition(space["C"].f))] == [ast.dump(node)], known


def test_the_first_lifted_loop_loads_no_tools_for_source_code():
    # What `ast` loads itself depends on the version.
    code = """
import ast
import sys
known = {*sys.modules}
from tierup import jit
import warnings
warnings.simplefilter("ignore")
@jit
def work(x, n):
    s = 0
    for i in range(n):
        s += i
    return s, x
assert work(object(), 5)[0] == 10
print(*sorted({"inspect", "dis", "tokenize", "linecache", "typing", "re"} & {*sys.modules} - known))
"""
    with tempfile.TemporaryDirectory() as where:
        path = os.path.join(where, "lean.py")
        with open(path, "w") as f:
            f.write(code)
        done = subprocess.run([sys.executable, path], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == []


def test_every_form_that_stays_is_left_whole():
    @jit
    def work(out, n):
        s = 0
        for i in range(n):
            import math
            s += math.floor(i)
        for i in range(n):
            class C:
                x = i
            s += C.x
        return s, out.getvalue()

    same(work, io.StringIO(), 4, compiled=[])
    assert not _lifting.loops_of(_tierup.in_python(work))


def test_functions_that_get_a_new_class_at_every_call_are_not_asked_each_time(monkeypatch):
    asked, line = [0], _lines.line

    def counted(path, number):
        asked[-1] = 1
        return line(path, number)

    @jit
    def work(cls):
        y = cls.x
        gc.isenabled()
        return y

    monkeypatch.setattr(_lines, "line", counted)
    for k in range(400):
        asked.append(0)
        assert work(type("Made", (), {"x": k})) == k
    assert 0 < sum(asked) < 100


def test_what_was_compiled_for_a_function_that_is_gone_is_not_asked():
    """The cells of that function are freed, and other objects lie where they were."""
    @jit
    def f(n):
        log = []

        def g():
            for i in range(n):
                yield i
            id(None)  # not compiled: Python runs f, and a loop in it is cut out
            log.append(-1)

        for x in g():
            log.append(x)
        return log

    held = [(f(n), [(i,) for i in range(50)]) for n in (0, 1, 2, 3, 9) * 30]
    assert [log for log, _ in held[:3]] == [[-1], [0, -1], [0, 1, -1]]
