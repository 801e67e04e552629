"""Random patterns of `re` on random texts, of fixed seeds and of the day's: Python's matches; and most of them are found without Python."""

import pytest
from harness import sampling

pytest.importorskip("tierup")
import driver  # noqa: E402
import regexes_fuzz  # noqa: E402
from tierup import _patterns  # noqa: E402

COUNT = 20_000 if sampling.ALL else 400
PART = 200


@pytest.mark.parametrize("first", [pytest.param(seed, id=name) for name, seed in sampling.batches(COUNT, PART, "regexes")])
def test_programs_of_fixed_seeds(first):
    found = driver.here(regexes_fuzz.check, first, first + PART)
    assert not found, "\n".join(f"seed {s}: {what}\n{regexes_fuzz.Program(s).text()}" for s, what in found.items())


def test_most_patterns_have_a_program():
    programs = [_patterns.program(p.pattern, p.flags) for p in map(regexes_fuzz.Program, range(300))]
    assert sum(p is not None for p in programs) > 150


def test_a_wrong_result_is_found(monkeypatch):
    assert regexes_fuzz.check(1) is None
    monkeypatch.setattr(regexes_fuzz, "places", lambda *args: [])
    monkeypatch.setattr(regexes_fuzz, "compiled", lambda f: lambda *args: [1])
    assert "expected" in regexes_fuzz.check(1)
