"""Functions that mix objects of Python with loops (`harness.mixed_programs`): what they give, what they raise and in which order they do what others see is as under CPython, and nothing is kept.

`TIERUP_TESTS=all` makes a thousand calls of each in the leak check.
"""

import gc
import sys
import weakref

import numpy as np
import pytest
from harness import mixed_programs, sampling
from tierup import jit

pytestmark = pytest.mark.filterwarnings("ignore::tierup.errors.TierupWarning")
NAMED = {f.__name__: (f, calls) for f, calls in mixed_programs.PROGRAMS}
CALLS = 1000 if sampling.ALL else 20


def shown(x):
    """A value with the types of all that it holds."""
    if isinstance(x, (list, tuple)):
        return type(x), [shown(v) for v in x]
    if isinstance(x, dict):
        return type(x), [(shown(k), shown(v)) for k, v in x.items()]
    if isinstance(x, np.ndarray):
        return x.dtype, repr(x.tolist())
    return type(x), type(x) if callable(x) else repr(x)


def outcome(f, call):
    """What a function gives or raises, and its arguments afterwards: what they note is among them."""
    args = call()
    try:
        given = shown(f(*args))
    except Exception as e:
        given = type(e), str(e)
    return given, shown(args)


@pytest.fixture
def as_itself(monkeypatch):
    """Makes a compiled function be what the module calls by its name: some call themselves."""
    def put(f):
        monkeypatch.setattr(mixed_programs, f.__name__, f)
        return f
    return put


@pytest.mark.parametrize("forced", [False, True], ids=["compiled where it can be", "run by Python with its loops lifted"])
@pytest.mark.parametrize("name", NAMED)
def test_programs_do_what_they_do_under_cpython(name, forced, as_itself):
    f, calls = NAMED[name]
    want = [outcome(f, call) for call in calls]
    for order in (1, -1):
        compiled = as_itself(jit(forceobj=True)(f) if forced else jit(f))
        for _ in range(3):
            for call, wanted in [*zip(calls, want, strict=True)][::order]:
                assert outcome(compiled, call) == wanted
        as_itself(f)


def kept(call):
    """A weak reference to what of the arguments can have one."""
    found = []
    for x in call:
        try:
            found.append(weakref.ref(x))
        except TypeError:
            pass
    return found


@pytest.mark.isolated
@pytest.mark.parametrize("name", NAMED)
def test_programs_keep_nothing(name, as_itself):
    f, calls = NAMED[name]
    compiled = as_itself(jit(f))

    def turn():
        for call in calls:
            outcome(compiled, call)

    def objects():
        gc.collect()
        return len(gc.get_objects()), sys.getallocatedblocks()

    grown = []
    for _ in range(3):
        before = objects()
        for _ in range(CALLS):
            turn()
        grown.append([a - b for a, b in zip(objects(), before, strict=True)])
    # What is made once is made early; blocks of memory tell of strs and numbers as well, but a compilation takes some.
    assert min(tracked for tracked, _ in grown[1:]) < CALLS // 2, grown
    assert not sampling.ALL or min(all for _, all in grown[1:]) < CALLS, grown
    for call in calls:
        args = call()
        alive = kept(args)
        try:
            compiled(*args)
        except Exception:
            pass
        del args
        gc.collect()
        assert not [r() for r in alive if r() is not None and not isinstance(r(), type) and not callable(r())]
