"""Blocks of `with objmode(...)`: ways out of them, exceptions that are caught around them, and containers that go in and come out."""

import collections
import gc
import math
import sys

import numpy as np
import pytest
import tierup
from harness.tiers import on_tier  # noqa: F401
from tierup import njit, objmode, prange, python

LOG = []


def same(f, *calls):
    """What a compiled function gives, raises and changes is what Python does, types included."""
    compiled = njit(f)
    for args in calls:
        seen = []
        for g in (f, compiled):
            LOG.clear()
            given = [a.copy() if hasattr(a, "copy") else a for a in args]
            try:
                answer = g(*given)
            except Exception as e:
                answer = type(e), e.args
            seen.append((repr(answer), repr(given), repr(LOG)))
        assert seen[0] == seen[1], args


# ---------------------------------------------------------------- ways out

def test_a_block_returns(tier):
    def found(n):
        for i in range(n):
            with objmode(y="float64"):
                y = math.sqrt(i)
                if y == 3.0:
                    return y
            if y > 100:
                return y
        return -1.0

    def computed(n):
        with objmode(y="float64", k="int64"):
            y, k = float(str(n)), len(str(n))
            if n > 100:
                return y * 2, k
            if n > 50:
                return -y, 0
        return y, k

    def nothing(n):
        with objmode():
            LOG.append(n)
            if n > 3:
                return
        with objmode():
            LOG.append("behind")

    def arrays(a):
        with objmode(b="float64[::1]"):
            b = np.array(sorted(a.tolist()))
            if len(a) > 3:
                return b
        return b + 1

    same(found, (5,), (12,))
    same(computed, (5,), (60,), (120,))
    same(nothing, (5,), (1,))
    same(arrays, (np.arange(3.0)[::-1],), (np.arange(5.0),))


def test_a_block_leaves_the_loop_around_it_or_begins_its_next_turn(tier):
    def broken(n):
        s = 0.0
        for i in range(n):
            with objmode(y="float64"):
                if i == 4:
                    break
                y = float(str(i))
            s += y
        return s, y

    def continued(n):
        s, y = 0.0, -1.0
        for i in range(n):
            with objmode(y="float64"):
                if i % 2:
                    continue
                y = float(str(i))
            s += y
        return s, y

    def loops_of_its_own(n):
        s = k = 0
        while True:
            with objmode(k="int64"):
                k = 0
                for j in range(100):
                    if j > n:
                        break
                    if j % 2:
                        continue
                    k += j
                else:
                    return -5, k
                if k > 10:
                    break
            s += k
            n += 1
        return s, k

    def several(n):
        for i in range(n):
            with objmode(a="float64", b="unicode_type"):
                if i == 5:
                    break
                a = i / 2
                if i == 3:
                    continue
                b = str(i)
            LOG_ALL = len(b)
            if LOG_ALL > 1:
                return -1.0
        return a

    same(broken, (3,), (9,))
    same(continued, (3,), (9,))
    same(loops_of_its_own, (0,), (200,))
    same(several, (2,), (8,))


def test_what_is_set_before_an_exception_is_seen_where_it_is_caught(tier):
    def before(n):
        y = 0.5
        try:
            with objmode(y="float64"):
                y = float(n)
                if n > 3:
                    raise ValueError(n)
                y = y + 100
        except ValueError:
            return y
        return -y

    def perhaps(n):
        try:
            with objmode(y="float64"):
                if n > 3:
                    raise ValueError(n)
                y = 100.0
                if n > 2:
                    raise KeyError(n)
        except KeyError:
            y += 1
        except ValueError:
            y = -1.0
        return y

    def finally_seen(n):
        y = 0.0
        try:
            with objmode(y="float64"):
                y = 1.0
                if n > 3:
                    return y
                if n > 2:
                    raise KeyError(n)
                y = 2.0
        finally:
            y += 10
            with objmode():
                LOG.append(y)
        return y

    for f in (before, perhaps, finally_seen):
        same(f, (1,), (3,), (5,))


def test_exceptions_that_are_raised_again_keep_their_tracebacks_and_nothing_else(tier):
    class Noted(Exception):
        pass

    @njit
    def work(n):
        y = 0
        try:
            with objmode(y="int64"):
                y = n
                raise Noted(n)
        finally:
            y += 1
        return y

    for _ in range(3):
        with pytest.raises(Noted) as e:
            work(5)
    assert e.value.args == (5,) and str(e.traceback[-1].statement).strip() == "raise Noted(n)"
    del e
    gc.collect()
    assert not [x for x in gc.get_objects() if type(x) is Noted] and not sys.modules["tierup._python_calls"]._kept


# ---------------------------------------------------------------- containers

@pytest.mark.parametrize("declared, made", [
    (list[int], [1, 2]), ("list[float]", [0.5]), (dict[str, int], {"a": 1}), (set[int], {3}), (frozenset[str], frozenset({"x"})), (tuple[int, str], (3, "a")), (str, "text"), ("bytes", b"ab"),
    (list[list[int]], [[1], [2, 3]]), ("dict[str, list[float]]", {"a": [1.5]}), (list[tuple[int, str]], [(1, "a")]), (int | None, None), ("int | None", 7),
], ids=str)  # fmt: skip
def test_containers_that_a_block_sets(declared, made):
    @njit
    def work():
        with objmode(y=declared):
            y = made_by()
        return y

    def made_by():
        return made

    # What the block captures is Python's.
    assert work() == made and type(work()) is type(made)


def test_lists_dicts_and_sets_that_a_block_changes(tier):
    def changes(n):
        xs, d, s, words = [1, 2, 3], {"a": 1}, {5}, ["x"]
        for i in range(n):
            with objmode():
                xs.append(len(str(i)))
                xs[0] = -i
                d[f"k{i}"] = i
                d.pop("a", None)
                s.add(i)
                words.extend([str(i)] * 2)
            xs.append(100 + i)
            d["b"] = len(words)
        return xs, sorted(d.items()), sorted(s), words

    def sorts(xs, d):
        with objmode(best="str"):
            xs.sort(reverse=True)
            best = max(d, key=d.get)
            d.clear()
        return xs[0], best, len(d)

    def of_collections(n):
        c = collections.Counter([1, 1, 2])
        with objmode():
            c.update(range(n))
        return sorted(c.items())

    same(changes, (0,), (3,))
    same(sorts, ([3, 1, 2], {"a": 1, "b": 5}))
    same(of_collections, (3,))


def test_a_container_that_is_passed_twice_is_one():
    def work(xs):
        ys = xs
        with objmode():
            ys.append(7)
            LOG.append((xs is ys, list(xs)))
        xs.append(8)
        return xs, ys, len(ys)

    same(work, ([1],))


def test_what_a_block_changes_before_it_raises():
    def work(xs):
        try:
            with objmode():
                xs.append(7)
                raise KeyError(1)
        except KeyError:
            xs.append(8)
        return xs

    same(work, ([1],))


def test_a_list_that_gets_what_it_cannot_hold_is_an_error():
    @njit
    def work(xs):
        with objmode():
            xs.append("text")
        return xs

    with pytest.raises(TypeError, match="is no argument of type list"):
        work([1, 2])


def test_containers_of_iterations_that_run_at_once_are_refused():
    @njit(parallel=True)
    def work(n):
        xs = [0]
        for i in prange(n):
            with objmode():
                xs.append(i)
        return xs

    with pytest.raises((tierup.UnsupportedError, tierup.TypingError)):
        work(10)


def test_declared_functions_take_and_give_containers(tier):
    @python
    def words(text: str, seen: dict) -> list[str]:
        seen[text] = len(seen)
        return text.split()

    @njit
    def total(texts):
        seen, n = {"": 0}, 0
        for text in texts:
            n += len(words(text, seen))
        return n, len(seen), seen["c"]

    assert total(["a b", "c", "a b"]) == (5, 3, 2)


def test_containers_that_go_in_and_out_are_freed(tier):
    @njit
    def work(n):
        xs = [str(k) for k in range(n)]
        with objmode(d="dict[str, list[int]]"):
            xs.append("x")
            d = {x: [len(x)] for x in xs}
        return len(d) + len(xs)

    work(10)
    gc.collect()
    before = sys.getallocatedblocks()
    for _ in range(200):
        assert work(10) == 22
    gc.collect()
    assert sys.getallocatedblocks() - before < 100
