"""Replays the programs that fuzzing once found a mismatch with, and runs a few fresh ones."""

from pathlib import Path

import pytest
from harness import expect, sampling

import generator

HERE = Path(__file__).resolve().parent
CORPUS = sorted((HERE / "corpus").glob("*.py"))


def judge(ask, name, source, tier):
    failures = ask({"suite": "program", "source": source, "name": f"<{name}>", "tier": None if tier == "cpython" else tier})
    failure = "\n".join(failures) or None
    if tier != "cpython":
        failure = expect.settle("fuzz", name, tier, failure)
    assert not failure, f"{failure}\n{source}"


@pytest.mark.parametrize("path", CORPUS, ids=[p.stem for p in CORPUS])
def test_corpus(path, tier, ask):
    judge(ask, path.stem, path.read_text(), tier)


@pytest.mark.parametrize("seed", [pytest.param(seed, id=name) for name, seed in sampling.batches(100, 1, "programs")])
def test_fresh(seed, tier, ask):
    source = generator.Generator(seed).program()
    if ask({"suite": "program", "source": source, "name": "<fresh>", "tier": None}):
        return  # the generator made something that is wrong in Python too; `test_most_programs_are_sound` bounds how often
    judge(ask, f"fresh_{seed}", source, tier)


def test_most_programs_are_sound(ask):
    bad = sum(bool(ask({"suite": "program", "source": generator.Generator(seed).program(), "name": "<fresh>", "tier": None})) for seed in range(200))
    assert bad < 10
