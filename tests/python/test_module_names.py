"""A program has no more names of a module than Python's module has, whatever the table of operations calls its rows."""

import array
import math
import operator
import string
import subprocess
import sys

import numpy as np
import pytest

tierup = pytest.importorskip("tierup")
from tierup import njit  # noqa: E402

NAMES = [
    # Rows of the library, under names of modules that there are.
    "operator._frozen({1})",
    "operator._view_name({1: 2}.keys())",
    "operator._one_object(1, 1)",
    "operator._orders(1, 2)",
    "operator._pow_modular(2, 3, 5)",
    "operator._dict_of({1: 2}.items())",
    "np._sort(np.ones(3), -1)",
    "np._is_nan(1.0)",
    "np._clip(1.0, 0.0, 2.0)",
    "np._one_of(1, 2)",
    "np.random._choice(3)",
    "math._x(1.0)",
    # Rows of types whose name is that of a module.
    "array.sort(np.ones(3))",
    "array.sum(np.ones(3))",
    "string.upper('a')",
    "string.split('a b')",
]


def made(text):
    space = {"array": array, "math": math, "operator": operator, "string": string, "np": np}
    exec(f"def f():\n    return {text}\n", space)
    return space["f"]


@pytest.mark.parametrize("text", NAMES)
def test_what_a_module_lacks_is_no_name(text):
    f = made(text)
    with pytest.raises(AttributeError):
        f()
    with pytest.raises(tierup.errors.TypingError, match="is not compiled by Tierup, or does not exist"):
        njit(f)()


@pytest.mark.parametrize("module, name", [("operator", "_frozen"), ("array", "sort"), ("np", "_sort")])
def test_nor_is_it_one_when_it_is_asked_for_by_text(module, name):
    f = made(f"hasattr({module}, '{name}')")
    assert njit(f)() is f() is False
    with pytest.raises(tierup.errors.TypingError):
        njit(made(f"getattr({module}, '{name}')"))()


def test_names_that_there_are_stay():
    f = made("operator.add(1, 2), math.floor(2.5), np.sort(np.array([2, 1])).sum(), np.random.randint(1)")
    assert njit(f)() == f()


def test_a_loop_over_numbers_loads_nothing_but_the_compiler(tmp_path):
    path = tmp_path / "program.py"
    path.write_text("""
import sys
import tierup

@tierup.njit
def total(n):
    s = 0
    for i in range(n):
        s += i
    return s

assert total(10) == 45
loaded = {m for m in sys.modules if m.startswith(("numpy", "tierup."))} - {"tierup._tierup", "tierup._jit", "tierup.config"}
assert not loaded, loaded
from tierup import stencil, typed
import numpy as np

@stencil
def mean(a):
    return (a[-1] + a[1]) / 2

@tierup.njit
def smooth(a):
    xs = typed.List()
    xs.append(1.5)
    return mean(a)[1] + xs[0]

assert smooth(np.arange(4.0)) == 2.5
""")
    done = subprocess.run([sys.executable, str(path)], env={"PYTHONPATH": ":".join(sys.path), "TIERUP_CACHE": "0"}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
