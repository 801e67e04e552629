"""Random classes and rows of fixed seeds: compiled code calls the rows that Python calls."""

import os

import pytest

pytest.importorskip("tierup")
import differential  # noqa: E402
import dispatch_fuzz  # noqa: E402

COUNT, PART = (200, 40) if os.environ.get("TIERUP_TESTS") == "all" else (20, 20)


@pytest.mark.parametrize("first", range(0, COUNT, PART))
def test_rows_of_fixed_seeds(first):
    wrong, refused = differential.batch(dispatch_fuzz.__file__, "tier0", first, PART)
    assert not wrong + refused, "\n".join(wrong + refused)


def test_a_choice_that_is_out_of_date_is_found():
    import tierup

    def careless(f):
        # What a call gave first it gives for ever.
        known, compiled = [], tierup.njit(f)

        def call(*args):
            if not known:
                known.append(compiled(*args))
            return known[0]
        return call

    assert sum(dispatch_fuzz.compare(seed, careless) is not None for seed in range(8)) > 3
