"""Random programs that are given empty containers, of fixed seeds and of the day's: what CPython gives."""

import pytest
from harness import sampling

pytest.importorskip("tierup")
import driver  # noqa: E402
import empty_fuzz  # noqa: E402
from tierup import njit  # noqa: E402

COUNT = 2000 if sampling.ALL else 200
PART = 50


@pytest.fixture(autouse=True)
def tier0():
    import tierup
    tierup.config.tier = "0"


@pytest.mark.parametrize("first", [pytest.param(seed, id=name) for name, seed in sampling.batches(COUNT, PART, "empty")])
def test_programs_of_fixed_seeds(first):
    wrong, refused = driver.told_apart(empty_fuzz.run(first, first + PART))
    assert not wrong, "\n".join(f"seed {s}: {what}" for s, what in wrong.items())
    assert len(refused) < PART / 10, "\n".join(f"seed {s}: {what}" for s, what in refused.items())


def test_what_earlier_calls_change_is_found():
    def takes_any(f):
        compiled = njit(f)
        last = {}

        # An empty list is given what the last one held.
        def call(n, *args):
            for k, x in enumerate(args):
                if isinstance(x, list) and not x and last.get(k):
                    x.append(last[k][0])
                elif isinstance(x, list) and x:
                    last[k] = list(x)
            return compiled(n, *args)

        return call

    def check(seed):
        try:
            return empty_fuzz.check(seed, takes_any) is not None
        except Exception:
            return False

    assert sum(check(seed) for seed in range(60)) > 5
