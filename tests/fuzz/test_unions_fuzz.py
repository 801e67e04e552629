"""Random programs on values of several types, of fixed seeds and of the day's: results, what is written down on the way, exceptions with their texts."""

import pytest
from harness import sampling

pytest.importorskip("tierup")
import unions_fuzz  # noqa: E402

COUNT = 200 if sampling.ALL else 20
PART = 10


@pytest.mark.parametrize("first", [pytest.param(seed, id=name) for name, seed in sampling.batches(COUNT, PART, "unions")])
def test_values_of_several_types(first):
    found = unions_fuzz.run(first, first + PART)
    wrong = {s: what for s, what in found.items() if not what.startswith("refused")}
    assert not wrong, "\n".join(f"seed {s}: {what}\n{unions_fuzz.Program(s).text()}" for s, what in wrong.items())
    assert len(found) < PART


def test_a_wrong_result_is_found(monkeypatch):
    right, asked = unions_fuzz.outcome, []

    def wrong(f, *args):
        asked.append(f)
        return right(f, *args) if len(asked) % 2 else ("gives", "something else")
    monkeypatch.setattr(unions_fuzz, "outcome", wrong)
    assert "expected" in unions_fuzz.check(1)
