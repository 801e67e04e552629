"""Random programs over all element types and layouts, of fixed seeds and of the day's: the results of NumPy, in both tiers, alone and on three threads."""

import pytest
from harness import sampling
from harness.build import LLVM

pytest.importorskip("tierup")
import differential  # noqa: E402
import types_fuzz  # noqa: E402

# Nearly all the time is LLVM's, one program after the other.
COUNT, PART = (400, 20) if sampling.ALL else (10, 5)


@pytest.mark.parametrize("mode", [m for m in differential.MODES if LLVM or m[-1] == "0"])
@pytest.mark.parametrize("first", [pytest.param(seed, id=name) for name, seed in sampling.batches(COUNT, PART, "types")])
def test_programs_over_types_of_fixed_seeds(mode, first):
    wrong, refused = differential.batch(types_fuzz.__file__, mode, first, PART)
    assert not wrong + refused, "\n".join(wrong + refused)


def test_a_wrong_type_and_a_wrong_value_are_found():
    def narrowed(f):
        return lambda **arguments: tuple(v.astype("float32") if hasattr(v, "astype") else v for v in f(**arguments))

    def moved(f):
        return lambda **arguments: tuple(v + 1 for v in f(**arguments))

    for wrong in (narrowed, moved):
        assert sum(types_fuzz.compare(seed, wrong) is not None for seed in range(8)) > 4
