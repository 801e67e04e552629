"""`numba.misc.timsort` and `quicksort`: each piece, in Python; whole sorts also compiled."""

import numpy as np
import pytest
from tierup.compat import quicksort, timsort

PYTHON = timsort.make_py_timsort(lambda keys, n: [keys[0]] * n)


def kinds(n, seed=3):
    rng = np.random.default_rng(seed)
    some = rng.integers(0, max(n // 2, 1), n)
    yield from (some, np.sort(some), np.sort(some)[::-1].copy(), np.concatenate([np.sort(some[: n // 3]), np.sort(some[n // 3:])]), np.zeros(n, np.int64))


@pytest.mark.parametrize("n", [0, 1, 2, 40, 700])
def test_timsort_is_stable(n):
    for keys in kinds(n):
        sorted_keys, values = keys.tolist(), list(range(n))
        PYTHON.run_timsort_with_values(sorted_keys, values)
        assert sorted_keys == sorted(keys.tolist()) and values == np.argsort(keys, kind="stable").tolist()
        alone = keys.tolist()
        PYTHON.run_timsort(alone)
        assert alone == sorted_keys


def test_compiled_timsort():
    sort = timsort.make_jit_timsort(lambda keys, n: np.empty(n, keys.dtype))
    for keys in kinds(500):
        given, values = keys.copy(), np.arange(500)
        sort.run_timsort_with_values(given, values)
        assert np.array_equal(given, np.sort(keys)) and np.array_equal(values, np.argsort(keys, kind="stable"))
    assert sort.merge_compute_minrun(2**20) == 32


@pytest.mark.parametrize("merge", ["merge_lo", "merge_hi"])
def test_merges_move_nothing_around_them(merge):
    for a, b in ((3, 40), (40, 3), (60, 60)):
        left, right = sorted(range(0, 3 * a, 3)), sorted(range(1, 2 * b + 1, 2))
        keys = [99, *left, *right, -99]
        state = getattr(PYTHON, merge)(PYTHON.merge_init(keys), keys, keys, 1, a, a + 1, b)
        assert keys == [99, *sorted(left + right), -99] and state.min_gallop >= 1


def test_runs_and_places():
    assert PYTHON.count_run([1, 1, 2, 0], 0, 4) == (3, False) and PYTHON.count_run([3, 2, 1, 1], 0, 4) == (3, True) and PYTHON.count_run([1], 0, 1) == (1, False)
    a = [1, 2, 2, 2, 5, 9]
    for hint in range(6):
        assert [PYTHON.gallop_left(k, a, 0, 6, hint) for k in (0, 2, 3, 9, 10)] == [0, 1, 4, 5, 6]
        assert [PYTHON.gallop_right(k, a, 0, 6, hint) for k in (0, 2, 3, 9, 10)] == [0, 4, 4, 6, 6]


def test_quicksort():
    plain, compiled = quicksort.make_py_quicksort(), quicksort.make_jit_quicksort(lt=lambda a, b: a > b)
    for keys in kinds(300):
        given = keys.tolist()
        assert plain.run_quicksort(given) is given and given == sorted(keys.tolist())
        falling = keys.copy()
        compiled.run_quicksort(falling)
        assert np.array_equal(falling, np.sort(keys)[::-1])
    places = quicksort.make_py_quicksort(is_argsort=True, is_list=True)
    given = [5, 3, 4, 1]
    assert places.run_quicksort(given) == [3, 1, 2, 0] and given == [5, 3, 4, 1]
    # No order is none that leads out of what is sorted.
    strange = quicksort.make_py_quicksort(lt=lambda a, b: b != b or a < b)
    given = [np.nan, 2.0, np.nan, 1.0, 0.0] * 20
    strange.run_quicksort(given)
    assert given[:60] == sorted(given[:60])
    parts = [4, 1, 4, 9, 4, 0]
    low, high = plain.partition3(parts, 0, 5)
    assert max(parts[:low]) < parts[low] == parts[high] < min(parts[high + 1:])


def test_quicksort_of_rows():
    rows = np.random.default_rng(0).random((3, 2, 40))
    sort = quicksort.make_py_quicksort(is_np_array=True)
    given = rows.copy()
    sort.run_quicksort(given)
    assert np.array_equal(given, np.sort(rows))
