"""Random programs over lists, dicts, sets, tuples, deques, bytes, instances and objects whose types inference finds out, of fixed seeds and of the day's: what plain Python gives, and few refused."""

import pytest
from harness import sampling

pytest.importorskip("tierup")
import bytes_fuzz  # noqa: E402
import deques_fuzz  # noqa: E402
import dicts_fuzz  # noqa: E402
import driver  # noqa: E402
import instances_fuzz  # noqa: E402
import lists_fuzz  # noqa: E402
import mappings_fuzz  # noqa: E402
import objects_fuzz  # noqa: E402
import sets_fuzz  # noqa: E402
import tuples_fuzz  # noqa: E402

# Programs, how many run in one test, and which part of them may be refused: in lists of ints from outside floats are put, and the like.
KINDS = {"lists": (lists_fuzz, 240, 60, 2), "dicts": (dicts_fuzz, 120, 30, 3), "sets": (sets_fuzz, 120, 30, 3), "tuples": (tuples_fuzz, 120, 30, 3), "mappings": (mappings_fuzz, 120, 30, 2), "deques": (deques_fuzz, 120, 30, 3), "bytes": (bytes_fuzz, 120, 30, 10), "instances": (instances_fuzz, 120, 30, 10), "objects": (objects_fuzz, 120, 30, 4)}


@pytest.fixture(autouse=True)
def tier0():
    import tierup
    tierup.config.tier = "0"


def batches():
    for kind, (_, count, part, _) in KINDS.items():
        for name, seed in sampling.batches(3000 if sampling.ALL else count, part, kind):
            yield pytest.param(kind, seed, id=f"{kind}-{name}")


@pytest.mark.parametrize("kind, first", list(batches()))
def test_programs_of_fixed_seeds(kind, first):
    fuzz, _, part, may_be_refused = KINDS[kind]
    found = fuzz.run(first, first + part)
    wrong, _ = driver.told_apart(found)
    assert not wrong, "\n".join(f"seed {s}: {what}" for s, what in wrong.items())
    assert len(found) < part / may_be_refused, "\n".join(f"seed {s}: {what}" for s, what in found.items())


def first_copied(f):
    """What is two objects where it should be one."""
    return lambda x, *rest: f(x.copy(), *rest)


def longer_list(f):
    return lambda *args: (*f(*args), [])


def turned_tuples(f):
    def g(*args):
        tuples, *rest = f(*args)
        return [t[::-1] for t in tuples], *rest
    return g


def turned_dict(f):
    def g(*args):
        first, *rest = f(*args)
        return dict(reversed(first.items())), *rest
    return g


def larger_set(f):
    def g(*args):
        first, *rest = f(*args)
        return first | {"more"}, *rest
    return g


def turned_deque(f):
    def g(*args):
        first, *rest = f(*args)
        first.rotate(1)
        first.append(first[0])
        return first, *rest
    return g


def turned_bytes(f):
    def g(*args):
        first, *rest = f(*args)
        first.reverse()
        return first, *rest
    return g


def turned_log(f):
    return lambda *args: f(*args)[::-1]


@pytest.mark.parametrize("kind, wrong", [(k, first_copied) for k in KINDS if k not in ("instances", "objects", "tuples")] + [("lists", longer_list), ("tuples", turned_tuples), ("dicts", turned_dict), ("mappings", turned_dict), ("sets", larger_set), ("deques", turned_deque), ("bytes", turned_bytes), ("instances", turned_log), ("objects", turned_log)])
def test_a_wrong_container_is_found(kind, wrong):
    assert sum(KINDS[kind][0].check(seed, wrong) is not None for seed in range(20)) > 5
