"""Random stencils of fixed seeds and of the day's: the results of plain Python, to the bit, alone, in compiled code, in parallel and into `out=`, in each tier."""

import pytest
from harness import sampling

pytest.importorskip("tierup")
import stencil_fuzz  # noqa: E402

COUNT = 300 if sampling.ALL else 30
PART = 15


@pytest.mark.parametrize("first", [pytest.param(seed, id=name) for name, seed in sampling.batches(COUNT, PART, "stencils")])
def test_stencils_of_fixed_seeds(first):
    wrong = stencil_fuzz.run(first, first + PART)
    assert not wrong, "\n".join(f"seed {s}: {what}\n{stencil_fuzz.Case(s).text()}" for s, what in wrong.items())


def test_a_wrong_result_is_found(monkeypatch):
    import tierup
    right, before = stencil_fuzz.slow, tierup.config.tier

    def wrong(np, *rest):
        y = right(np, *rest)
        y[y.shape[0] // 2:] = 77
        return y
    try:
        assert stencil_fuzz.check(1) is None
        monkeypatch.setattr(stencil_fuzz, "slow", wrong)
        assert "expected" in stencil_fuzz.check(1)
    finally:
        tierup.config.tier = before
