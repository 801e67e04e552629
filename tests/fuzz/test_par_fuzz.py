"""Random compositions of `tierup.par`, and random tasks, of fixed seeds and of the day's: the values and exceptions of plain Python, in each tier and on several threads."""

import pytest
from harness import sampling
from harness.build import LLVM

pytest.importorskip("tierup")
import par_fuzz  # noqa: E402

COUNT = 400 if sampling.ALL else 40
PART = 20
TIERS = ["0", "1"] if LLVM else ["0"]


@pytest.mark.parametrize("first", [pytest.param(seed, id=name) for name, seed in sampling.batches(COUNT, PART, "par")])
def test_programs_of_fixed_seeds(first):
    wrong = par_fuzz.run(first, first + PART, TIERS)
    assert not wrong, "\n".join(f"seed {s}: {what}\n{par_fuzz.Program(s).text()}" for s, what in wrong.items())


def test_a_wrong_result_is_found(monkeypatch):
    import tierup
    right, before, threads = par_fuzz.outcome, tierup.config.tier, tierup.get_num_threads()
    try:
        monkeypatch.setattr(par_fuzz, "THREADS", (1,))
        assert par_fuzz.check(1, ["0"]) is None
        monkeypatch.setattr(par_fuzz, "outcome", lambda f, args: right(f, args) + "!" * hasattr(f, "py_func"))
        assert "expected" in par_fuzz.check(1, ["0"])
    finally:
        tierup.config.tier = before
        tierup.set_num_threads(threads)
