"""Global lists, dicts and objects, which calls are given beside their arguments: threads, calls inside one another,
what is kept alive, and what is compiled anew."""

import gc
import threading
import warnings
import weakref

import numpy as np
import pytest
import tierup
from harness.processes import HANG
from tierup import jit, njit

count = [0]
table = {"a": 1}
fresh = []


@njit
def bump(n):
    for _ in range(n):
        count[0] += 1
    return count[0]


@njit(nogil=True)
def bump_without_the_gil(n):
    for _ in range(n):
        count[0] += 1
    return count[0]


@pytest.mark.parametrize("f", [bump, bump_without_the_gil])
def test_threads_lose_no_change(f):
    count[0] = 0
    threads = [threading.Thread(target=lambda: [f(3) for _ in range(200)]) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert count == [2400]


def test_one_overload_serves_all_contents_of_a_type():
    @njit
    def get(k):
        return table[k]

    table.clear()
    table.update({"a": 1})
    assert get("a") == 1
    for n in range(50):
        table[f"k{n}"] = n
        assert get(f"k{n}") == n
    assert len(get.signatures) == 1
    table.clear()
    with pytest.raises(KeyError):
        get("a")
    assert len(get.signatures) == 1


class Tally:
    n = 0


@njit
def tally(k):
    for _ in range(k):
        Tally.n += 1
    return Tally.n


@njit(nogil=True)
def tally_without_the_gil(k):
    for _ in range(k):
        Tally.n += 1
    return Tally.n


number = 0


@njit
def numbered():
    global number
    number += 1
    return number


def test_threads_lose_no_assignment_to_a_class():
    Tally.n = 0
    both = [tally, tally_without_the_gil] * 2
    threads = [threading.Thread(target=lambda f=f: [f(3) for _ in range(200)]) for f in both]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert Tally.n == 2400


def test_an_assignment_that_another_thread_meets_meanwhile_is_none_of_a_constant(monkeypatch):
    from tierup import _variables
    space, met, done = {"njit": njit}, threading.Event(), threading.Event()
    exec("class T:\n    n = 0\n" + "".join(f"@njit\ndef f{k}(n):\n    for _ in range(n):\n        T.n += 1\n    return T.n\n" for k in (1, 2)), space)
    original = _variables.of_class

    def of_class(*args):
        made = original(*args)
        # The first one, which has read the variable, waits here.
        if not met.is_set():
            met.set()
            done.wait(HANG)
        return made

    monkeypatch.setattr(_variables, "of_class", of_class)
    first = threading.Thread(target=space["f1"], args=(3,))
    first.start()
    assert met.wait(HANG)
    assert space["f2"](3) == 3
    done.set()
    first.join()
    assert space["T"].n == 6
    assert space["f1"](3) == 9 and space["f2"](3) == 12


def test_one_overload_serves_all_values_of_a_variable():
    global number
    for value in (0, 7, -1):
        number = value
        assert [numbered() for _ in range(20)] == list(range(value + 1, value + 21))
    assert len(numbered.signatures) == 1
    number = 0.5
    assert numbered() == 1.5 and number == 1.5
    number = "a"
    with pytest.raises(TypeError):
        numbered()
    number = 1
    assert numbered() == 2


def test_a_variable_does_not_concern_code_that_has_none_of_it():
    space = {"njit": njit}
    exec("a = 1\nb = 1\n@njit\ndef f(n):\n    global a\n    a = n\n    return a\n@njit\ndef g(n):\n    global b\n    b = n\n    return b\n", space)
    assert space["f"](2) == 2 and space["g"](3) == 3
    space["a"] = {1, 2.5}
    assert space["g"](4) == 4 and space["b"] == 4
    with pytest.raises(TypeError):
        space["f"](1)
    space["a"] = 5
    assert space["f"](6) == 6 and len(space["g"].signatures) == 1


def test_classes_that_were_passed_and_assigned_to_go():
    @njit
    def up(cls):
        cls.n += 1
        return cls.n
    gone = []
    for k in range(20):
        class Short:
            n = k
        assert up(Short) == k + 1 and Short.n == k + 1
        gone.append(weakref.ref(Short))
    del Short
    gc.collect()
    gc.collect()
    assert not any(r() for r in gone) and len(up.signatures) == 0


def test_a_call_inside_another_one_sees_and_leaves_what_python_holds():
    space = {"njit": njit}
    exec(
        "hits = 0\n@njit\ndef f(n):\n    global hits\n    hits += n\n    return hits\ndef both(n):\n    return f(n), hits, f(n), hits\n",
        space,
    )
    assert space["both"](2) == (2, 2, 4, 4)
    del space["hits"]
    with pytest.raises((TypeError, NameError)):
        space["f"](1)
    space["hits"] = 10
    assert space["f"](1) == 11


def test_a_declared_signature_assigns_to_a_variable():
    space = {"njit": njit}
    exec("x = 0\nclass C:\n    n = 0\n@njit('int64(int64)')\ndef f(n):\n    global x\n    x = n\n    C.n += n\n    return x\n", space)
    assert space["f"](4) == 4 and space["x"] == 4 and space["C"].n == 4


def test_other_types_are_compiled_for_and_back():
    values = [1]

    @njit
    def first():
        return values[0]

    for _ in range(3):
        for value in (1, 2.5, "x", (1, 2), np.arange(3)):
            values[0] = value
            assert first() is value if isinstance(value, np.ndarray) else first() == value


def test_what_cannot_be_converted_is_an_error_and_then_fine_again():
    values = [1]

    @njit
    def first():
        return values[0]

    assert first() == 1
    values[0] = 2**70
    with pytest.raises(OverflowError):
        first()
    values[0] = 5
    assert first() == 5
    values[0] = memoryview(b"").release
    with pytest.raises(TypeError):
        first()
    values[0] = 6
    assert first() == 6


def test_jit_leaves_what_is_refused_to_python():
    big = list(range(20_000))

    @jit
    def f(i):
        return big[i]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert f(19_999) == 19_999
    with pytest.raises(TypeError, match="20000 entries, too many for each call to copy"):
        njit(lambda i: big[i])(0)


def test_a_call_inside_a_call_leaves_the_outer_one_what_it_has():
    log = [0]

    @njit
    def push(n):
        log.append(n)
        return len(log)

    class Noisy(dict):
        def __missing__(self, key):
            return push(key)

    @njit
    def length():
        return len(log)

    assert push(1) == 2 and length() == 2
    assert Noisy()[7] == 3 and length() == 3 and log == [0, 1, 7]
    assert [push(n) + length() for n in range(3)] == [8, 10, 12]


def test_an_overload_does_not_keep_its_function_alive():
    class Value:
        def __init__(self):
            self.x = 1

    def make():
        value = Value()

        @njit
        def f():
            value.x += 1
            return value.x

        value.f = None
        return f, weakref.ref(value)

    f, value = make()
    assert f() == 2 and f() == 3 and value().x == 3
    del f
    gc.collect()
    assert value() is None


def test_a_list_that_holds_the_function_goes_with_it():
    def make():
        values = [1]

        @njit
        def f():
            return values[0]

        assert f() == 1
        return f, weakref.ref(f)

    f, alive = make()
    table["f"] = f
    del f, table["f"]
    gc.collect()
    assert alive() is None


def test_arguments_of_declared_functions_are_converted():
    factor = {"x": 1}

    @njit("int64(int64)")
    def f(n):
        return n + factor["x"]

    assert f(1.5) == 2 and f(True) == 2 and f(np.int32(4)) == 5
    factor["x"] = 2.5
    assert f(1.5) == 3
    with pytest.raises(TypeError):
        f("x")


def test_functions_with_the_same_code_have_values_of_their_own():
    def make(values):
        @njit
        def bump(i):
            values[i] += 1
            return values[i]

        return bump

    all = [[n, n] for n in range(0, 50, 10)]
    functions = [make(values) for values in all]
    for _ in range(2):
        for n, f in enumerate(functions):
            assert f(0) == all[n][0]
    assert all == [[n + 2, n] for n in range(0, 50, 10)]


def test_a_new_object_under_the_name_is_read():
    global fresh
    fresh = [1, 2]

    @njit
    def total():
        s = 0
        for x in fresh:
            s += x
        return s

    assert total() == 3
    fresh = [10]
    assert total() == 10
    fresh.append(5)
    assert total() == 15


def test_numbers_that_were_not_changed_stay_the_objects_they_were():
    big = 10**6
    values = [big, True, 2.5]
    mixed = {"a": [big], "b": [7]}

    @njit
    def touch():
        mixed["b"][0] += 1
        return len(mixed)

    assert touch() == 2 and mixed["a"][0] is big and mixed == {"a": [big], "b": [8]}
    assert values == [big, True, 2.5]


def test_what_a_struct_call_reads_waits_for_no_one():
    @tierup.struct
    class Box:
        x: int

    box, log = Box(1), [0]

    @njit
    def f(b):
        log.append(b.x)
        b.x += len(log)
        return b.x

    assert f(box) == 3 and f(box) == 6 and log == [0, 1, 3]
