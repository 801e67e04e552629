"""Random functions on vectors, of fixed seeds and of the day's: the results of plain Python, to the bit, in each tier."""

import pytest
from harness import sampling

pytest.importorskip("tierup")
import simd_fuzz  # noqa: E402

COUNT = 300 if sampling.ALL else 20
PART = 10


@pytest.mark.parametrize("first", [pytest.param(seed, id=name) for name, seed in sampling.batches(COUNT, PART, "simd")])
def test_vectors_of_fixed_seeds(first):
    wrong = simd_fuzz.run(first, first + PART)
    assert not wrong, "\n".join(f"seed {s}: {what}\n{simd_fuzz.Case(s).text()}" for s, what in wrong.items())


def test_a_wrong_result_is_found(monkeypatch):
    import tierup
    right, before = simd_fuzz.plain, tierup.config.tier
    try:
        assert simd_fuzz.check(1) is None
        monkeypatch.setattr(simd_fuzz, "plain", lambda np, f, args: (right(np, f, args), "and more"))
        assert "expected" in simd_fuzz.check(1)
    finally:
        tierup.config.tier = before
