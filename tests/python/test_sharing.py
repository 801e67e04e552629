"""Whether a result shows the memory of an argument, and whether it may be written to, as NumPy has it."""

import numpy as np
import pytest

tierup = pytest.importorskip("tierup")

EXPRESSIONS = ["np.ascontiguousarray(a)", "np.asfortranarray(a)", "np.ascontiguousarray(a, np.float64)", "np.asarray(a)", "np.asarray(a, order='C')", "np.asarray(a, order='F')", "np.asarray(a, copy=True)", "np.array(a, copy=None)",
               "np.array(a, copy=None, ndmin=3)", "np.array(a, np.float64, copy=None)", "np.array(a, order='F', copy=None)", "np.array(a, ndmin=3)", "a.astype(np.float64, copy=False)", "a.astype(np.float64, order='F', copy=False)", "a.astype(np.float64)",
               "np.ravel(a)", "a.ravel('F')", "a.ravel('K')", "a.reshape(-1)", "a.reshape(-1, order='F')", "a.flatten()", "np.atleast_1d(a)", "np.atleast_3d(a)", "np.expand_dims(a, 0)", "a.T", "np.moveaxis(a, 0, -1)", "np.flip(a)", "a.real", "a.imag",
               "np.imag(a)", "a.conj()", "a[...]", "a[None]", "a.copy()", "np.broadcast_to(a, (2,) + a.shape)", "np.diagonal(a)", "np.nan_to_num(a, copy=False)", "np.nan_to_num(a)", "np.meshgrid(a)[0]"]
ROOM = np.arange(6.0).reshape(2, 3)
ARRAYS = {"C": ROOM, "F": np.asfortranarray(ROOM), "reversed": ROOM[::-1], "strided": ROOM[:, ::2], "float32": ROOM.astype("f4"), "complex": ROOM + 1j, "integers": ROOM.astype(int), "no-dimensions": np.array(3.0)}


@pytest.mark.parametrize("layout", ARRAYS)
@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_results_share_memory_as_in_numpy(expression, layout):
    f = eval(f"lambda a: {expression}", {"np": np})
    a = ARRAYS[layout]
    try:
        with np.errstate(all="ignore"):
            plain = f(a)
    except ValueError as e:
        with pytest.raises((ValueError, TypeError)):
            tierup.njit(f)(a)
        assert "dimension" in str(e) or "axis" in str(e)
        return
    except Exception as e:  # noqa: BLE001
        with pytest.raises(type(e)):
            tierup.njit(f)(a)
        return
    got = tierup.njit(f)(a)
    if not isinstance(plain, np.ndarray):
        assert not isinstance(got, np.ndarray) and got == plain
        return
    assert isinstance(got, np.ndarray) and got.dtype == plain.dtype and np.array_equal(got, plain)
    assert (np.shares_memory(got, a), got.flags.writeable) == (np.shares_memory(plain, a), plain.flags.writeable)


def test_imaginary_parts_of_reals_are_not_written_to():
    def f(a):
        b = a.imag
        b[0] = 1
        return a

    with pytest.raises((ValueError, TypeError), match="read-only"):
        tierup.njit(f)(np.arange(3.0))
    assert tierup.njit(f)(np.zeros(3, complex)).tolist() == [1j, 0, 0]


def test_whether_to_copy_is_known_when_it_compiles():
    with pytest.raises(TypeError, match="copy must be a constant"):
        tierup.njit(lambda a, c: np.array(a, copy=c))(np.ones(2), True)
