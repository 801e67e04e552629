"""Functions of NumPy at what is rarely given to them: bools, sequences, nothing at all."""

import math

import numpy as np
import pytest

tierup = pytest.importorskip("tierup")
from tierup import jit, njit

pytestmark = [pytest.mark.isolated, pytest.mark.filterwarnings("ignore::tierup.errors.TierupWarning")]

BOOLS, BYTES, INTS = np.array([True, False]), np.arange(3, dtype=np.int8), np.arange(3)


def described(x):
    if isinstance(x, tuple):
        return tuple(described(m) for m in x)
    return (x.dtype, x.shape, x.tolist()) if isinstance(x, np.ndarray) else x


def outcome(f, *args):
    try:
        return described(f(*args))
    except (TypeError, IndexError, ValueError) as e:
        # NumPy has a class of its own for what a universal function does not cast.
        return next(c for c in (TypeError, IndexError, ValueError) if isinstance(e, c)), str(e)


CASES = {
    "angle of bools": (lambda a: np.angle(a), BOOLS),
    "angle in degrees": (lambda a: np.angle(a, deg=True), BOOLS),
    "angle of float32": (lambda a: np.angle(a), np.array([1.0, -0.0], np.float32)),
    "angle of complex": (lambda a: np.angle(a), np.array([1j, -1])),
    "round of bools": (lambda a: np.round(a, 1), BOOLS),
    "round of bools to tens": (lambda a: a.round(-1), BOOLS),
    "bincount of a list of floats": (lambda a: np.bincount([3.0, 1.0]), INTS),
    "real part of a bool": (lambda a: (np.real(True), np.imag(True), True.real, True.imag), INTS),
    "take of nothing": (lambda a: np.take(a[:0], 0), INTS),
    "take of nothing by a list": (lambda a: a[:0].take([0, 1]), INTS),
    "take nothing of nothing": (lambda a: np.take(a[:0], a[:0]), INTS),
    "nanmax of an empty list": (lambda a: np.nanmax([]), INTS),
    "nanmin of an empty list": (lambda a: np.nanmin([]), INTS),
    "nanmax of an empty array": (lambda a: np.nanmax(a[:0] * 1.0), INTS),
    "item beyond the end": (lambda a: a.item(7), INTS),
    "item before the beginning": (lambda a: a.item(-7), INTS),
    "item of a matrix": (lambda a: a.reshape(1, 3).item(9), INTS),
    "item": (lambda a: (a.item(-1), a.item(0)), INTS),
    "clip of a list": (lambda a: np.clip([0, 1.5, 5], 1, 2), INTS),
    "clip of a list of ints": (lambda a: np.clip([0, 1, 5], 1, 2), INTS),
    "atleast_1d of a list": (lambda a: np.atleast_1d([1, 2]), INTS),
    "atleast_2d of a list": (lambda a: np.atleast_2d([1, 2]), INTS),
    "atleast_3d of a tuple": (lambda a: np.atleast_3d((1, 2)), INTS),
    "array_equiv of a number": (lambda a: (np.array_equiv(a, 1), np.array_equiv(0, a * 0)), INTS),
    "array_equiv": (lambda a: (np.array_equiv(a, a.reshape(1, 3)), np.array_equiv(a, a[:2])), INTS),
}


@pytest.mark.parametrize("name", CASES)
def test_the_answer_is_that_of_numpy(name):
    f, a = CASES[name]
    for decorator in (njit, jit):
        assert outcome(decorator(f), a) == outcome(f, a)


@pytest.mark.parametrize("name", ["sqrt", "rint", "fabs", "exp"])
def test_under_jit_functions_of_small_integers_give_float16(name):
    f = getattr(np, name)
    for a in (BOOLS, BYTES, BYTES.astype(np.uint8)):
        assert described(jit(lambda a: f(a))(a)) == described(f(a))
        assert njit(lambda a: f(a))(a).dtype == np.float32
    assert jit(lambda a: f(a, dtype=np.float32))(BYTES).dtype == np.float32
    assert math.isclose(jit(lambda x: f(x))(2.0), f(2.0))
    assert described(jit(lambda a: np.hypot(a, a))(BYTES)) == described(np.hypot(BYTES, BYTES))
