"""Random signatures of fixed seeds, called from everywhere: what the rule says."""

import os

import pytest
from harness.build import LLVM

pytest.importorskip("tierup")
import declare_fuzz  # noqa: E402
import differential  # noqa: E402

COUNT, PART = (400, 40) if os.environ.get("TIERUP_TESTS") == "all" else (40, 20)


@pytest.mark.parametrize("mode", ["tier0", "tier1"] if LLVM else ["tier0"])
@pytest.mark.parametrize("first", range(0, COUNT, PART))
def test_declared_functions_of_fixed_seeds(mode, first):
    wrong, refused = differential.batch(declare_fuzz.__file__, mode, first, PART)
    assert not wrong + refused, "\n".join(wrong + refused)


def test_a_call_that_forgets_a_declaration_is_found():
    import tierup

    class Careless:
        __name__, types, cfunc = "tierup", tierup.types, staticmethod(tierup.cfunc)

        @staticmethod
        def njit(signatures=None, **options):
            return lambda f: tierup.njit(f)

    assert sum(declare_fuzz.compare(seed, tierup.njit, Careless) is not None for seed in range(12)) > 6
