"""Random programs over dicts, of fixed seeds and of the day's: what plain Python gives, and few refused."""

import pytest
from harness import sampling

pytest.importorskip("tierup")
import dicts_fuzz  # noqa: E402

COUNT = 3000 if sampling.ALL else 120
PART = 30


@pytest.fixture(autouse=True)
def tier0():
    import tierup
    before = tierup.config.tier
    tierup.config.tier = "0"
    yield
    tierup.config.tier = before


@pytest.mark.parametrize("first", [pytest.param(seed, id=name) for name, seed in sampling.batches(COUNT, PART, "dicts")])
def test_programs_of_fixed_seeds(first):
    found = dicts_fuzz.run(first, first + PART)
    wrong = {seed: what for seed, what in found.items() if not what.startswith("refused")}
    assert not wrong, "\n".join(f"seed {s}: {what}" for s, what in wrong.items())
    assert len(found) < PART / 3, "\n".join(f"seed {s}: {what}" for s, what in found.items())


def test_a_wrong_dict_is_found():
    """A dict that is two where it should be one, and one in another order."""
    def copied(f):
        return lambda d, n, c: f(dict(d), n, c)

    def turned(f):
        def g(d, n, c):
            first, *rest = f(d, n, c)
            return dict(reversed(first.items())), *rest
        return g

    for wrong in (copied, turned):
        assert sum(dicts_fuzz.check(seed, wrong) is not None for seed in range(20)) > 5
