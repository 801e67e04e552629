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


def frames_below(f, *args):
    """(name, first line of the code, line) of all frames below the call."""
    try:
        f(*args)
    except ZeroDivisionError as e:
        found, tb = [], e.__traceback__.tb_next
        while tb is not None:
            found.append((tb.tb_frame.f_code.co_name, tb.tb_frame.f_code.co_firstlineno, tb.tb_lineno, tb.tb_frame.f_lineno))
            tb = tb.tb_next
        return found
    raise AssertionError("nothing was raised")


def divided(x):
    y = 1

    return y // x


def tagged(f):
    return f


@tagged
@tierup.njit
def calls(x):
    def divided(z):
        return z + 1

    u = divided(x)
    for _ in range(3):
        u += divided_by(x)
    return u


divided_by = tagged(divided)


# Viewers of tracebacks (IPython's, `inspect.getinnerframes`) read off a code object where its function begins.
def test_frames_begin_where_their_functions_do():
    first, inner = calls.__code__.co_firstlineno, divided.__code__.co_firstlineno
    assert frames_below(calls, 0) == [("calls", first, first + 8, first + 8), ("divided", inner, inner + 3, inner + 3)]
    assert frames_below(calls, 0) == frames_below(calls.py_func, 0)


def test_frames_of_long_functions_and_of_lambdas():
    space, pad = {"tierup": tierup}, "    y += 1\n" * 5000
    text = f"@tierup.njit\ndef long(x):\n    y = 0\n{pad}    return y // x\n\nlam = tierup.njit(lambda x:\n    1 // x)\n"
    path = linecache_entry(text)
    exec(compile(text, path, "exec"), space)
    assert frames_below(space["long"], 0) == [("long", 1, 5004, 5004)]
    assert [(name, line) for name, _, line, _ in frames_below(space["lam"], 0)] == [("<lambda>", 5007)]


def linecache_entry(text):
    import linecache
    path = "<a cell>"
    linecache.cache[path] = len(text), None, text.splitlines(True), path
    return path
