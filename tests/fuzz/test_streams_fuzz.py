"""Random streams of fixed seeds and of the day's: results, order of effects, exceptions and references of plain Python, in each tier."""

import pytest
from harness import sampling
from harness.build import LLVM

pytest.importorskip("tierup")
import streams_fuzz  # noqa: E402

COUNT = 400 if sampling.ALL else 40
PART = 20
TIERS = ["0", "1"] if LLVM else ["0"]


@pytest.mark.parametrize("first", [pytest.param(seed, id=name) for name, seed in sampling.batches(COUNT, PART, "streams")])
def test_streams_of_fixed_seeds(first):
    wrong = streams_fuzz.run(first, first + PART, TIERS)
    assert not wrong, "\n".join(f"seed {s}: {what}\n{streams_fuzz.Program(s).text()}" for s, what in wrong.items())


def test_a_wrong_result_is_found(monkeypatch):
    import tierup
    right, before = streams_fuzz.outcome, tierup.config.tier

    def wrong(f, args, name):
        out, log, left = right(f, args, name)
        return (out, log + [1], left) if hasattr(f, "py_func") else (out, log, left)
    try:
        assert streams_fuzz.check(1, ["0"]) is None
        monkeypatch.setattr(streams_fuzz, "outcome", wrong)
        assert "expected" in streams_fuzz.check(1, ["0"])
    finally:
        tierup.config.tier = before
