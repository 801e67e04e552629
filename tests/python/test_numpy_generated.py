"""Every NumPy function that Tierup compiles, over dtypes, shapes, layouts and edge values, against NumPy itself.

`make test` takes a sample of each case's inputs (`harness/sampling.py`); `make test-all` takes all of them.
The cases run in the process that also runs mdtests, so that a crash is one failed test.
"""

import pytest
from harness import expect
from numpy_cases import CASES


def test_names_are_unique():
    names = [case.name for case in CASES]
    assert sorted(set(names)) == sorted(names)


# Nearly all of the time goes to LLVM, which compiles each case for each type of its inputs.
@pytest.mark.daily(tier1=2, osr=4)
@pytest.mark.parametrize("index", range(len(CASES)), ids=[case.name.replace(" ", "_") for case in CASES])
def test_numpy(index, tier, ask):
    failures = ask({"suite": "numpy", "index": index, "tier": tier})
    failure = "\n".join(failures) or None
    if tier != "cpython":
        failure = expect.settle("numpy", CASES[index].name, tier, failure)
    assert not failure, failure
