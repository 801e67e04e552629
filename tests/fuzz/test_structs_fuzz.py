"""Random programs over objects in native memory, of fixed seeds and of the day's: what the same program with dataclasses gives in CPython."""

import copy

import pytest
from harness import sampling

pytest.importorskip("tierup")
import structs_fuzz  # noqa: E402
from tierup import njit  # noqa: E402

COUNT = 1500 if sampling.ALL else 120
PART = 30


@pytest.fixture(autouse=True)
def tier0():
    import tierup
    tierup.config.tier = "0"


@pytest.mark.parametrize("first", [pytest.param(seed, id=name) for name, seed in sampling.batches(COUNT, PART, "structs")])
def test_programs_of_fixed_seeds(first):
    wrong = structs_fuzz.run(first, first + PART)
    assert not wrong, "\n".join(f"seed {s}: {what}" for s, what in wrong.items())


def test_objects_that_are_copied_are_found():
    def copied(f):
        compiled = njit(f)
        return lambda *args: compiled(*copy.deepcopy(args))
    assert sum(structs_fuzz.check(seed, copied) is not None for seed in range(20)) > 5
