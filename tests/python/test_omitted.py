"""None is no stand-in for an argument that was left out, unless Python takes it for one."""

import cmath
import math

import pytest

tierup = pytest.importorskip("tierup")

EXPRESSIONS = """
range(1, None); range(None); range(1, 5, None); list(range(2, None, -1)); "ab".center(5, None); "ab".ljust(5, None); "ab".rjust(5, None); "ab".zfill(None); "a b".split(None); "a b".split(None, None)
"a b".split(" ", None); "ab".strip(None); "ab".find("b", None); "ab".find("b", None, None); "ab".count("a", None); "ab".startswith("a", None); "ab".replace("a", "b", None); "ab".splitlines(None)
"ab".expandtabs(None); [1, 2].pop(None); [1, 2].index(1, None); [1, 2].insert(None, 1); sum([1, 2], None); round(2.5, None); round(2, None); pow(2, 3, None); int("5", None); complex(1, None); complex(1.0, None)
list(enumerate([1], None)); max([1, 2], key=None); max([1], default=None); sorted([2, 1], key=None); sorted([2, 1], reverse=None); (1, 2).index(1, None); [1, 2].count(3); math.log(2, None); math.log(2.0, None)
cmath.log(2j, None); math.isclose(1, 1, rel_tol=None); math.prod([1, 2], start=None); math.comb(3, None); math.perm(3, None); list(range(5)); list(range(1, 5)); list(range(5, 1, -2)); "ab".center(5); "ab".ljust(5, "*")
complex(1); complex(1, 2); math.log(2.0); math.log(8.0, 2.0); cmath.log(2j); cmath.log(2j, 3)
"""


@pytest.mark.parametrize("text", [t.strip() for line in EXPRESSIONS.strip().splitlines() for t in line.split(";")])
def test_as_in_python(text):
    space = {"math": math, "cmath": cmath}
    exec(f"def f():\n    return {text}\n", space)
    try:
        plain = space["f"]()
    except TypeError:
        with pytest.raises(TypeError):
            tierup.njit(space["f"])()
        return
    assert repr(tierup.njit(space["f"])()) == repr(plain)


@pytest.mark.parametrize("parallel", [False, True])
def test_prange_takes_none_for_no_bound(parallel):
    @tierup.njit(parallel=parallel)
    def f(n):
        s = 0
        for i in tierup.prange(0, n):
            s += i
        return s

    assert f(5) == 10
    with pytest.raises(TypeError):
        f(None)
