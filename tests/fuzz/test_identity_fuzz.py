"""Random programs of fixed seeds and of the day's that make, pass, change and drop functions, classes, modules and dtypes: what plain Python gives, and the very objects."""

import pytest
from harness import sampling

pytest.importorskip("tierup")
import driver  # noqa: E402
import identity_fuzz  # noqa: E402

COUNT = 600 if sampling.ALL else 60
PART = 30


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("first", [pytest.param(seed, id=name) for name, seed in sampling.batches(COUNT, PART, "identities")])
def test_programs_of_fixed_seeds(first, threads):
    wrong, _ = driver.told_apart(identity_fuzz.run(first, first + PART, threads))
    assert not wrong, "\n".join(f"seed {s}: {what}" for s, what in wrong.items())


def test_a_wrong_object_is_found():
    """An object that is taken for the one that lay there before, and one that comes back as another."""
    steps = ["o1 = adder(1)", "result(using('def c(u, x):\\n    return u(x)\\n', lambda c, o, x: c(o, x), o1, None, 1))"]
    before = identity_fuzz.Run.using
    assert identity_fuzz.check(1, steps) is None
    other = identity_fuzz.Run(True)
    other.step("o1 = adder(5)")

    def wrong(self, text, call, o, p, x):
        return before(self, text, call, other.space["o1"] if self.compiled else o, p, x)
    identity_fuzz.Run.using = wrong
    try:
        assert "expected" in identity_fuzz.check(1, steps)
        assert "expected" in identity_fuzz.check(1, [steps[0], steps[1].replace("return u(x)", "return u")])
    finally:
        identity_fuzz.Run.using = before
