"""Random programs over sets, of fixed seeds and of the day's: what plain Python gives, and few refused."""

import pytest
from harness import sampling

pytest.importorskip("tierup")
import sets_fuzz  # noqa: E402

COUNT = 3000 if sampling.ALL else 120
PART = 30


@pytest.fixture(autouse=True)
def tier0():
    import tierup
    before = tierup.config.tier
    tierup.config.tier = "0"
    yield
    tierup.config.tier = before


@pytest.mark.parametrize("first", [pytest.param(seed, id=name) for name, seed in sampling.batches(COUNT, PART, "sets")])
def test_programs_of_fixed_seeds(first):
    found = sets_fuzz.run(first, first + PART)
    wrong = {seed: what for seed, what in found.items() if not what.startswith("refused")}
    assert not wrong, "\n".join(f"seed {s}: {what}" for s, what in wrong.items())
    assert len(found) < PART / 3, "\n".join(f"seed {s}: {what}" for s, what in found.items())


def test_a_wrong_set_is_found():
    """A set that is two where it should be one, and one with another element."""
    def copied(f):
        return lambda s, t, n, c: f(set(s), t, n, c)

    def larger(f):
        def g(s, t, n, c):
            first, *rest = f(s, t, n, c)
            return first | {"more"}, *rest
        return g

    for wrong in (copied, larger):
        assert sum(sets_fuzz.check(seed, wrong) is not None for seed in range(20)) > 5
