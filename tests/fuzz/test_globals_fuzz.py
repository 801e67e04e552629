"""Random programs over global lists, dicts, sets, deques and objects, of fixed seeds and of the day's: what CPython gives."""

import copy

import pytest
from harness import sampling

pytest.importorskip("tierup")
import driver  # noqa: E402
import globals_fuzz  # noqa: E402
from tierup import njit  # noqa: E402

COUNT = 2000 if sampling.ALL else 200
PART = 50


@pytest.fixture(autouse=True)
def tier0():
    import tierup
    tierup.config.tier = "0"


@pytest.mark.parametrize("first", [pytest.param(seed, id=name) for name, seed in sampling.batches(COUNT, PART, "globals")])
def test_programs_of_fixed_seeds(first):
    wrong, refused = driver.told_apart(globals_fuzz.run(first, first + PART))
    assert not wrong, "\n".join(f"seed {s}: {what}" for s, what in wrong.items())
    assert len(refused) < PART / 2


def test_changes_that_are_lost_are_found():
    def forgets(f):
        compiled = njit(f)

        def call(*args):
            values = {k: v for k, v in f.__globals__.items() if k[-2:-1] == "_" and k[0] != "_"}
            kept = copy.deepcopy(values)
            answer = compiled(*args)
            f.__globals__.update(kept)
            return answer

        return call

    def check(seed):
        try:
            return globals_fuzz.check(seed, forgets) is not None
        except Exception:
            return False

    assert sum(check(seed) for seed in range(20)) > 5
