"""Random programs on whole arrays of fixed seeds: the results of NumPy, to the bit, in both tiers, alone and on three threads."""

import os

import pytest
from harness.build import LLVM

pytest.importorskip("tierup")
import array_fuzz  # noqa: E402

# Nearly all the time is LLVM's, one program after the other.
COUNT, PART = (400, array_fuzz.BATCH) if os.environ.get("TIERUP_TESTS") == "all" else (5, 5)


@pytest.mark.parametrize("mode", [m for m in array_fuzz.MODES if LLVM or m[-1] == "0"])
@pytest.mark.parametrize("first", range(0, COUNT, PART))
def test_array_programs_of_fixed_seeds(mode, first):
    reports, refused = array_fuzz.batch(mode, first, PART)
    assert not reports and refused == 0, "\n".join(reports) or f"{refused} programs are refused"


def test_a_wrong_result_is_found():
    def wrong(f):
        return lambda **arrays: (arrays["x"].__setitem__(slice(None), 7.0), f(**arrays))[1]

    assert any(array_fuzz.compare(seed, wrong) for seed in range(3))
