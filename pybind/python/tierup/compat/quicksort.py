"""Quicksort in pieces, as `numba.misc.quicksort` has it: `make_py_quicksort(lt=None)` for Python, `make_jit_quicksort(lt=None)` the same compiled.

With `is_argsort` the places of elements are sorted in the place of these, which stay as they are; `is_list` says that they are in a list, `is_np_array` that `run_quicksort` takes arrays of
any number of dimensions and sorts along the last one. An order that is none, as that of floats with NaN among them, sorts them somehow and goes nowhere else.
"""

import collections

import numpy as np

QuicksortImplementation = collections.namedtuple("QuicksortImplementation", ("compile", "partition", "partition3", "insertion_sort", "run_quicksort"))

# Fewer elements than that are sorted by insertion.
SMALL_QUICKSORT = 15
# Enough for more elements than there is memory: the larger part waits.
MAX_STACK = 100


def make_quicksort_impl(wrap, lt=None, is_argsort=False, is_list=False, is_np_array=False):
    """The pieces, each of them `wrap`ped. They take the elements `A` and what is sorted, `R`: `A` itself, or places in it."""
    if is_argsort and is_list:
        @wrap
        def make_res(A):
            return [x for x in range(len(A))]
    elif is_argsort:
        @wrap
        def make_res(A):
            return np.arange(A.size)
    else:
        @wrap
        def make_res(A):
            return A

    if is_argsort:
        @wrap
        def GET(A, at):
            return A[at]
    else:
        @wrap
        def GET(A, value):
            return value

    if lt is None:
        @wrap
        def LT(a, b):
            return a < b
    else:
        LT = wrap(lt)

    @wrap
    def insertion_sort(A, R, low, high):
        """Sorts from `low` to `high`, this one included."""
        for i in range(low + 1, high + 1):
            moved = R[i]
            value = GET(A, moved)
            j = i
            while j > low and LT(value, GET(A, R[j - 1])):
                R[j] = R[j - 1]
                j -= 1
            R[j] = moved

    @wrap
    def partition(A, R, low, high):
        """Puts what is less than some element in front of it and what is greater behind it; gives its place."""
        middle = (low + high) >> 1
        # The second of first, middle and last.
        if LT(GET(A, R[middle]), GET(A, R[low])):
            R[low], R[middle] = R[middle], R[low]
        if LT(GET(A, R[high]), GET(A, R[middle])):
            R[high], R[middle] = R[middle], R[high]
        if LT(GET(A, R[middle]), GET(A, R[low])):
            R[low], R[middle] = R[middle], R[low]
        R[high], R[middle] = R[middle], R[high]
        pivot = GET(A, R[high])
        i, j = low, high - 1
        while True:
            # No order that is none leads out of the range.
            while i < high and LT(GET(A, R[i]), pivot):
                i += 1
            while j >= low and LT(pivot, GET(A, R[j])):
                j -= 1
            if i >= j:
                break
            R[i], R[j] = R[j], R[i]
            i += 1
            j -= 1
        R[i], R[high] = R[high], R[i]
        return i

    @wrap
    def partition3(A, low, high):
        """Three parts: less than some element, equal to it, greater; gives the first and the last place of the second."""
        middle = (low + high) >> 1
        if LT(A[middle], A[low]):
            A[low], A[middle] = A[middle], A[low]
        if LT(A[high], A[middle]):
            A[high], A[middle] = A[middle], A[high]
        if LT(A[middle], A[low]):
            A[low], A[middle] = A[middle], A[low]
        pivot = A[middle]
        A[low], A[middle] = A[middle], A[low]
        less, greater, i = low, high, low + 1
        while i <= greater:
            if LT(A[i], pivot):
                A[less], A[i] = A[i], A[less]
                less += 1
                i += 1
            elif LT(pivot, A[i]):
                A[greater], A[i] = A[i], A[greater]
                greater -= 1
            else:
                i += 1
        return less, greater

    @wrap
    def run_quicksort1(A):
        R = make_res(A)
        if len(A) < 2:
            return R
        stack = [(0, 0)] * MAX_STACK
        stack[0] = (0, len(R) - 1)
        n = 1
        while n > 0:
            n -= 1
            low, high = stack[n]
            while high - low >= SMALL_QUICKSORT and n < MAX_STACK:
                i = partition(A, R, low, high)
                # The larger part waits.
                if high - i > i - low:
                    if high > i:
                        stack[n] = (i + 1, high)
                        n += 1
                    high = i - 1
                else:
                    if i > low:
                        stack[n] = (low, i - 1)
                        n += 1
                    low = i + 1
            insertion_sort(A, R, low, high)
        return R

    if is_np_array:
        @wrap
        def run_quicksort(A):
            if A.ndim == 1:
                return run_quicksort1(A)
            for at in np.ndindex(A.shape[:-1]):
                run_quicksort1(A[at])
            return A
    else:
        run_quicksort = run_quicksort1

    return QuicksortImplementation(wrap, partition, partition3, insertion_sort, run_quicksort)


def make_py_quicksort(*args, **kwargs):
    return make_quicksort_impl(lambda f: f, *args, **kwargs)


def make_jit_quicksort(*args, **kwargs):
    from .decorators import njit
    return make_quicksort_impl(njit, *args, **kwargs)
