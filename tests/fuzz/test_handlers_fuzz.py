"""Random `try` statements, of fixed seeds and of the day's: Python's results, exceptions and contexts."""

import pytest
from harness import sampling

pytest.importorskip("tierup")
import driver  # noqa: E402
import handlers_fuzz  # noqa: E402

COUNT = 2_000 if sampling.ALL else 40
PART = 20


@pytest.mark.parametrize("first", [pytest.param(seed, id=name) for name, seed in sampling.batches(COUNT, PART, "handlers")])
def test_programs_of_fixed_seeds(first):
    found = driver.here(handlers_fuzz.check, first, first + PART)
    assert not found, "\n".join(f"seed {s}: {what}\n{handlers_fuzz.Program(s).text}" for s, what in found.items())


def test_programs_raise_and_return():
    told = [p.told(p.function(), *handlers_fuzz.ARGUMENTS[2]) for p in map(handlers_fuzz.Program, range(60))]
    assert sum(isinstance(t, tuple) for t in told) > 5
    assert sum(isinstance(t, list) and len(t) > 1 for t in told) > 2


def test_a_wrong_result_is_found(monkeypatch):
    assert handlers_fuzz.check(1) is None
    answers = iter(range(20))
    monkeypatch.setattr(handlers_fuzz.Program, "told", lambda *args: next(answers))
    assert "expected 0, got 1" in handlers_fuzz.check(1)
