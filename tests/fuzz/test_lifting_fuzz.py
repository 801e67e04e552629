"""Random functions that Python runs with their loops compiled, of fixed seeds and of the day's: what CPython gives."""

import pytest
from harness import sampling

pytest.importorskip("tierup")
import driver  # noqa: E402
import lifting_fuzz  # noqa: E402
import tierup  # noqa: E402
from tierup import _lifting, _tierup  # noqa: E402

COUNT = 2000 if sampling.ALL else 200
PART = 50


@pytest.fixture(autouse=True)
def tier0():
    tierup.config.tier = "0"


@pytest.mark.parametrize("first", [pytest.param(seed, id=name) for name, seed in sampling.batches(COUNT, PART, "lifting")])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_programs_of_fixed_seeds(first):
    wrong, large = driver.told_apart(lifting_fuzz.run(first, first + PART))
    assert not wrong, "\n".join(f"seed {s}: {what}" for s, what in wrong.items())
    assert len(large) < PART / 5


def compiled_loops(dispatcher):
    return [loop.line for loop in _lifting.loops_of(_tierup.in_python(dispatcher)) if any(why is None for _, _, why in _tierup.overloads(loop.dispatcher))]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_loops_of_most_programs_are_compiled():
    made = []

    def decorate(f):
        made.append(tierup.jit(f))
        return made[-1]

    lifting_fuzz.run(0, 40, decorate=decorate)
    assert sum(bool(compiled_loops(d)) for d in made) > 10


def test_a_variable_that_is_not_handed_on_is_found(monkeypatch):
    parts = _lifting._Cut.parts

    def forgets(self, s):
        found = parts(self, s)
        return found and found._replace(out=found.out[:-1])

    monkeypatch.setattr(_lifting._Cut, "parts", forgets)
    assert len(driver.told_apart(lifting_fuzz.run(0, 60))[0]) > 5
