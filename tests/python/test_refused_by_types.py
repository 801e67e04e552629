"""What the library raises for types alone is an error when a function with Numba's meaning is compiled: one of typing, and the one that Python raises."""

import pickle

import numpy as np
import pytest
import tierup
from numpy.exceptions import AxisError
from tierup import errors, njit

GIVEN = {"meaning": "numba"}


def raised(f, *args, **options):
    with pytest.raises(Exception) as e:
        njit(f, **options)(*args)
    return e.value


@pytest.mark.parametrize("f, args, of", [
    (lambda x: np.diff(x), (1.0,), ValueError),
    (lambda x: np.polynomial.polynomial.polyadd(x, x), (np.ones((2, 2)),), ValueError),
    (lambda x: missing_name(x), (1,), NameError),  # noqa: F821
    (lambda x: x.missing_attribute, (1.0,), AttributeError),
], ids=["diff", "polyadd", "name", "attribute"])
def test_both_errors(f, args, of):
    error = raised(f, *args, **GIVEN)
    assert isinstance(error, tierup.TypingError) and isinstance(error, of) and type(error).__name__ == "TypingError"
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error) and (str(again), again.code, again.line) == (str(error), error.code, error.line)
    plain = raised(f, *args)
    # What is refused when it is compiled, a handler of the program's must not take for its own.
    assert isinstance(plain, of) != isinstance(plain, tierup.TypingError)


def test_what_is_caught_or_not_reached_is_compiled():
    @njit(**GIVEN)
    def caught(x):
        try:
            return np.diff(x)[0]
        except ValueError:
            return -1.0

    assert caught(1.0) == -1.0

    @njit(**GIVEN)
    def one_of_two(x, n):
        y = x if n else None
        return 0 if y is None else len(y)

    assert one_of_two("ab", 1) == 2 and one_of_two("ab", 0) == 0


def test_values_are_no_matter_of_types():
    error = raised(lambda x, n: x.reshape(n), np.ones(4), 3, **GIVEN)
    assert type(error) is ValueError
    # A text that is put together when it is raised says more than the types do.
    assert type(raised(lambda x: np.take(x, [0], axis=7), np.ones(3), **GIVEN)) is AxisError


def test_classes_of_both():
    for name in ("ValueError", "IndexError", "AxisError", "NameError"):
        both = errors._also(errors.TypingError, name)
        assert both is errors._also(errors.TypingError, name) and str(both("said")) == "said"
    assert errors._also(errors.TypingError, "TypeError") is errors.TypingError
