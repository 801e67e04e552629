"""Python code that compiled code calls: `tierup.python`, and the blocks of `with objmode(...)`."""

import gc
import json
import math
import threading
import traceback
import weakref

import numpy as np
import pytest
import tierup
from harness.tiers import on_tier  # noqa: F401
from tierup import jit, njit, objmode, prange, python, types


@python
def value(text: str) -> float:
    return json.loads(text)["x"]


@python(returns=types.Tuple((types.int64, types.unicode_type)))
def described(k, name="k"):
    return k * 2, f"{name}={k}"


def test_a_declared_function_is_called_where_it_stands(tier):
    @njit
    def total(text, n):
        s = 0.0
        for i in range(n):
            s += value(text) * i
        return s, described(n), described(n, "m")[1]

    assert total('{"x": 1.5}', 4) == total.py_func('{"x": 1.5}', 4) == (9.0, (8, "k=4"), "m=4")


def test_python_calls_it_as_the_function_it_is():
    assert value('{"x": 2}') == 2 and described(3) == (6, "k=3") and value.__name__ == "value"


def test_arrays_are_the_same_memory_both_ways(tier):
    kept = []

    @python(returns="float64[::1]")
    def keep(a):
        kept.append(a)
        a[0] = 7.0
        return a

    @njit
    def through(a):
        b = keep(a)
        b[1] = 8.0
        return a, b

    a = np.zeros(3)
    x, y = through(a)
    assert a.tolist() == [7.0, 8.0, 0.0] and x is a and np.shares_memory(y, a) and np.shares_memory(kept[0], a)
    assert [v.tolist() for v in through(np.ones(2))] == [[7.0, 8.0]] * 2


def test_what_it_raises_goes_on_as_in_python(tier):
    @python(returns="int64")
    def fails(k):
        if k == 2:
            raise KeyError("two", k)
        return k

    @njit
    def caught(n):
        s = 0
        for i in range(n):
            try:
                s += fails(i)
            except KeyError:
                s += 100
        return s

    @njit
    def passed(n):
        s = 0
        for i in range(n):
            s += fails(i)
        return s

    assert caught(4) == 104
    with pytest.raises(KeyError) as e:
        passed(4)
    assert e.value.args == ("two", 2)
    assert [f.name for f in traceback.extract_tb(e.value.__traceback__)][-2:] == ["passed", "fails"]


@pytest.mark.parametrize("given, wanted", [("a", "float64"), (2.5, "int64"), (None, "float64[:]"), ([1.0], "float64[:]")], ids=repr)
def test_a_result_of_another_type_is_an_error(given, wanted):
    @python(returns=wanted)
    def gives():
        return given

    with pytest.raises(TypeError):
        njit(lambda: gives())()


def test_what_cannot_be_passed_is_refused():
    @python(returns="int64")
    def takes(x):
        return 1

    with pytest.raises(tierup.TypingError, match="copies of what is in a list"):
        njit(lambda x: takes(x))([[1], [2]])
    with pytest.raises(tierup.TypingError, match="copies of what is in a tuple"):
        njit(lambda x: takes(x))(([1], 2))

    @python(returns="int64")
    def by_keyword(*, x):
        return x

    with pytest.raises(TypeError, match="by position"):
        njit(lambda: by_keyword(x=1))()
    with pytest.raises(TypeError, match="annotate it"):
        python(lambda x: x)


def test_many_threads_call_it_at_once():
    seen = set()

    @python(returns="int64")
    def note(k):
        seen.add((threading.get_ident(), int(k)))
        return k

    @njit(nogil=True)
    def work(first, n):
        s = 0
        for i in range(first, first + n):
            s += note(i)
        return s

    @njit(parallel=True)
    def spread(n):
        s = 0
        for i in prange(n):
            s += note(i)
        return s

    work(0, 1)
    answers = []
    threads = [threading.Thread(target=lambda k=k: answers.append(work(1000 * k, 200))) for k in range(4)]
    [t.start() for t in threads], [t.join() for t in threads]
    assert sorted(answers) == sorted(sum(range(1000 * k, 1000 * k + 200)) for k in range(4))
    assert spread(500) == sum(range(500)) and {k for _, k in seen} >= set(range(500))


def test_objects_are_freed(tier):
    alive = []

    @python(returns="float64[:]")
    def make(n):
        a = np.ones(n)
        alive.append(weakref.ref(a))
        return a

    @njit
    def total(n):
        s = 0.0
        for i in range(5):
            s += make(n)[0]
        return s

    assert total(3) == 5.0
    gc.collect()
    assert not [r for r in alive if r() is not None]


def test_a_block_that_python_runs(tier):
    @njit
    def work(a, n):
        s = 0.0
        for i in range(n):
            with objmode(b="float64[::1]", k=types.int64):
                b = np.array(sorted(a.tolist(), reverse=True)) + i
                k = len(json.dumps(list(range(i))))
            s += b[0] * k
        return s

    a = np.arange(4.0)
    assert work(a, 3) == work.py_func(a, 3)


def test_blocks_without_results_and_with_what_is_set_before(tier):
    log = []

    @njit
    def work(n):
        y = 0.5
        for i in range(n):
            with tierup.objmode:
                log.append((i, y))
            with objmode(y=float):
                if i % 2:
                    y = y + len(log)
        return y

    assert work(4) == 0.5 + 2 + 4 and log == [(0, 0.5), (1, 0.5), (2, 2.5), (3, 2.5)]


def test_a_block_that_raises_has_its_line(tier):
    @njit
    def work(x):
        with objmode(y="float64"):
            y = math.sqrt(x)
            raise LookupError(y)
        return y

    with pytest.raises(LookupError) as e:
        work(4.0)
    assert e.value.args == (2.0,) and traceback.extract_tb(e.value.__traceback__)[-1].line == "raise LookupError(y)"


def test_blocks_in_closures_and_parallel_loops():
    def outer(factor):
        @njit(parallel=True)
        def work(n):
            found = np.zeros(n)
            for i in prange(n):
                with objmode(y="float64"):
                    y = float(str(i)) * factor
                found[i] = y
            return found

        return work

    assert outer(3)(4).tolist() == [0.0, 3.0, 6.0, 9.0] and outer(5)(3).tolist() == [0.0, 5.0, 10.0]


@pytest.mark.parametrize("body, says", [
    ("with objmode():\n    return str(x)", "`return` in an objmode block gives what is not declared"),
    ("with objmode():\n    y = 3\n    return y", "'y' is set in an objmode block and used where it is left"),
    ("for i in range(3):\n    with objmode():\n        y = 3\n        break\nreturn y", "'y' is set in an objmode block and used"),
    ("try:\n    with objmode():\n        y = 3\nexcept ValueError:\n    return y", "'y' is set in an objmode block and used where its exceptions are caught"),
    ("with objmode():\n    yield 3", "`yield` stands in an objmode block"),
    ("with objmode(y='list'):\n    y = [3]\nreturn y", "list does not say what is in it"),
    ("with objmode():\n    y = 3\nreturn y", "'y' is set in an objmode block and used behind it"),
    ("with objmode(y='float64'):\n    pass", "declares 'y', which the block does not set"),
    ("with objmode(y='nothing'):\n    y = 3", "the type of 'y' in objmode"),
    ("with objmode(), open('x'):\n    pass", "objmode.. and something else"),
], ids=["return of a call", "return", "break", "caught", "yield", "list", "undeclared", "unset", "no type", "two managers"])  # fmt: skip
def test_blocks_that_are_refused(body, says, tmp_path):
    path = tmp_path / "blocks.py"
    path.write_text("from tierup import njit, objmode\n@njit\ndef work(x):\n" + "".join(f"    {line}\n" for line in body.splitlines()))
    with pytest.raises((tierup.UnsupportedError, tierup.TypingError), match=says) as e:
        exec(compile(path.read_text(), str(path), "exec"), {"__name__": "blocks"})
    assert str(path) in str(e.value)


def test_jit_and_the_stand_in_have_blocks_too():
    @jit
    def work(x):
        with objmode(y="int64"):
            y = len(str(x))
        return y + 1

    assert work(12345) == 6 and work.nopython_signatures
    from tierup.compat import numba
    assert numba.MODULES["numba"]["objmode"] == "tierup:objmode"


def test_functions_that_name_the_module_have_no_blocks():
    space = {"tierup": tierup}
    exec("def threads():\n    return tierup.get_num_threads()", space)
    assert njit(space["threads"])() == tierup.get_num_threads() == njit(lambda: tierup.get_num_threads())()
