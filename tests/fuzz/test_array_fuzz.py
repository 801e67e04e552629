"""Random programs on whole arrays of fixed seeds and of the day's: the results of NumPy, to the bit, in both tiers, alone and on three threads."""

import pytest
from harness import sampling
from harness.build import LLVM

pytest.importorskip("tierup")
import array_fuzz  # noqa: E402
import differential  # noqa: E402

# Nearly all the time is LLVM's, one program after the other.
COUNT, PART = (400, differential.BATCH) if sampling.ALL else (6, 3)


@pytest.mark.parametrize("mode", [m for m in differential.MODES if LLVM or m[-1] == "0"])
@pytest.mark.parametrize("first", [pytest.param(seed, id=name) for name, seed in sampling.batches(COUNT, PART, "arrays")])
def test_array_programs_of_fixed_seeds(mode, first):
    wrong, refused = differential.batch(array_fuzz.__file__, mode, first, PART)
    assert not wrong + refused, "\n".join(wrong + refused)


def test_a_wrong_result_is_found():
    def wrong(f):
        return lambda **arrays: (arrays["x"].__setitem__(slice(None), 7.0), f(**arrays))[1]

    assert any(array_fuzz.compare(seed, wrong) for seed in range(3))
