"""Random programs over lists whose elements inference finds out, of fixed seeds and of the day's: what plain Python gives, and few refused."""

import pytest
from harness import sampling

pytest.importorskip("tierup")
import lists_fuzz  # noqa: E402

COUNT = 3000 if sampling.ALL else 240
PART = 60


@pytest.fixture(autouse=True)
def tier0():
    import tierup
    before = tierup.config.tier
    tierup.config.tier = "0"
    yield
    tierup.config.tier = before


@pytest.mark.parametrize("first", [pytest.param(seed, id=name) for name, seed in sampling.batches(COUNT, PART, "lists")])
def test_programs_of_fixed_seeds(first):
    found = lists_fuzz.run(first, first + PART)
    wrong = {seed: what for seed, what in found.items() if not what.startswith("refused")}
    assert not wrong, "\n".join(f"seed {s}: {what}" for s, what in wrong.items())
    # Ints in a list from outside that floats are put into, and the like.
    assert len(found) < PART / 2, "\n".join(f"seed {s}: {what}" for s, what in found.items())


def test_a_wrong_list_is_found():
    """A list that is two where it should be one, and one with another element."""
    def copied(f):
        return lambda p, n, c: f(p[:], n, c)

    def longer(f):
        return lambda p, n, c: (*f(p, n, c), [])

    for wrong in (copied, longer):
        assert sum(lists_fuzz.check(seed, wrong) is not None for seed in range(20)) > 5
