"""What LLVM makes of loops that poll."""

import pytest
from harness.build import needs_llvm

tierup = pytest.importorskip("tierup")

pytestmark = [pytest.mark.isolated, needs_llvm]


def insertion_sort(a):
    for i in range(1, len(a)):
        key = a[i]
        j = i - 1
        while j >= 0 and a[j] > key:
            a[j + 1] = a[j]
            j -= 1
        a[j + 1] = key


def test_a_loop_that_ends_in_its_middle_checks_nothing_and_is_unrolled():
    f = tierup.njit("void(int64[::1])")(insertion_sort)
    text = f.inspect("llvm")
    # One for the element behind the loop.
    assert text.count("rt.exc_index") <= 2 and text.count("store i64") >= 4, text
