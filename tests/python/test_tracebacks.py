"""Tracebacks of compiled code: every frame that Python has, comprehensions and lambdas included, and no others."""

import traceback

import numpy as np
import pytest

tierup = pytest.importorskip("tierup")

from harness import mdtest  # noqa: E402

SOURCE = '''
def h(x):
    if x == 2:
        raise ValueError(
            f"bad {x}"
        )
    return x

def comp(xs):
    return [
        h(x)
        for x in xs
    ]

def gen(xs):
    for x in xs:
        yield h(
            x)

def use_gen(xs):
    s = 0
    for v in gen(xs):
        s += v
    return s

def genexp(xs):
    return sum(
        h(x) for x in xs
    )

def lam(xs):
    f = lambda x: (
        h(x))
    return list(map(f, xs))

def inner(xs):
    def g(i):
        return xs[
            i]
    a = 1
    return (a +
            g(7))

def chain(xs):
    try:
        comp(xs)
    except ValueError as e:
        try:
            1 // 0
        except ZeroDivisionError:
            raise KeyError("k") from e
    return 0

def reraise(xs):
    try:
        comp(xs)
    except ValueError:
        xs.append(1)
        raise
    return 0

def fin(xs):
    try:
        return comp(xs)
    finally:
        xs.append(3)
        if len(xs) == 4:
            h(2)

def rec(xs, n=2):
    if n == 0:
        return comp(xs)[0]
    return (rec(xs,
        n - 1) + 1)

def stored(xs):
    try:
        comp(xs)
    except ValueError as e:
        err = e
    raise err

def srt(xs):
    xs.sort(key=lambda v:
        h(v))
    return 1

def nested(xs):
    return [[h(y) for y in xs if
        y > 0] for x in xs]

def cls(xs):
    raise IndexError

def deflt(xs, *, k=h):
    return k(xs[1])

def kw(xs):
    return deflt(
        xs,
        k=lambda q: h(
            q),
    )

def asrt(xs):
    assert xs[0] == 5, (
        "text")

def unb(xs):
    if xs[0] == 9:
        z = 1
    return (1 +
        z)

def arr(xs):
    a = np.zeros(3)
    a[
      len(xs) + 5] = 1
    return 0

def closgen(xs):
    k = 2
    def g():
        for x in xs:
            yield h(x * k)
    return [v
            for v in g()]
'''
NAMES = [line.split("(")[0][4:] for line in SOURCE.splitlines() if line.startswith("def ") and line[4:].split("(")[0] not in ("h", "gen")]


def frames(e, depth=0):
    """Class, frames, cause and context of an exception."""
    if e is None or depth > 3:
        return None
    shown = [(f.name, f.lineno, f.filename) for f in traceback.extract_tb(e.__traceback__)][1:]
    return type(e).__name__, shown, frames(e.__cause__, depth + 1), None if e.__suppress_context__ else frames(e.__context__, depth + 1)


def raised_by(name, decorate):
    space = {"np": np}
    exec(compile(SOURCE, "program.py", "exec"), space)
    try:
        decorate(space[name])([1, 2, 3])
    except Exception as e:  # noqa: BLE001  (whatever it raises is what is compared)
        return frames(e)
    return None


@pytest.mark.parametrize("name", NAMES)
def test_traceback(name, tier):
    expected = raised_by(name, lambda f: f)
    assert expected and len(expected[1]) > 0
    mdtest.set_tier(tier)
    assert raised_by(name, tierup.njit) == expected
