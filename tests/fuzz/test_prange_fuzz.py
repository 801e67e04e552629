"""Random parallel loops of fixed seeds and of the day's: the results of plain Python, to the bit, on 1, 2 and 4 threads."""

import pytest
from harness import sampling

pytest.importorskip("tierup")
import driver  # noqa: E402
import prange_fuzz  # noqa: E402

COUNT = 1000 if sampling.ALL else 100
PART = 50


@pytest.mark.parametrize("first", [pytest.param(seed, id=name) for name, seed in sampling.batches(COUNT, PART, "loops")])
def test_parallel_loops_of_fixed_seeds(first):
    wrong, refused = driver.told_apart(prange_fuzz.run(first, first + PART))
    assert all("[parallel-race]" in what for what in refused.values()) and len(refused) <= PART // 10, refused
    assert not wrong, "\n".join(f"seed {s}: {what}\n{prange_fuzz.Program(s).text()}" for s, what in wrong.items())


def test_a_wrong_result_is_found():
    text = "def main(a, b, m, n, s):\n    t = 0\n    for i in prange(n):\n        t += i\n    return (t if prange is range else t + 1,)\n"
    assert "got" in prange_fuzz.check(0, text)
    assert prange_fuzz.check(0, text.replace("t + 1", "t")) is None
