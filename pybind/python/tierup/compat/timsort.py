"""Timsort in pieces, as `numba.misc.timsort` has it: `make_py_timsort(make_temp_area)` for Python's lists and arrays, `make_jit_timsort(make_temp_area)` the same compiled.

Timsort is Tim Peters' (`Objects/listsort.txt` of CPython). Values that go with keys lie in a container of their own; where there are none, keys are passed in their place. What moves both
reads all that it moves before it writes, so that this does no harm.
"""

import collections

TimsortImplementation = collections.namedtuple("TimsortImplementation", (
    "compile", "count_run", "binarysort", "gallop_left", "gallop_right", "merge_init", "merge_append", "merge_pop", "merge_compute_minrun", "merge_lo", "merge_hi", "merge_at",
    "merge_force_collapse", "merge_collapse", "run_timsort", "run_timsort_with_values"))

#: `keys` and `values` are memory for merges, of which `values` is empty where there are none; of the stack `pending` the first `n` runs count.
MergeState = collections.namedtuple("MergeState", ("min_gallop", "keys", "values", "pending", "n"))
MergeRun = collections.namedtuple("MergeRun", ("start", "size"))

# Enough for more elements than there is memory.
MAX_MERGE_PENDING = 85
# As often as one run wins in a row before its next elements are looked for in steps that double.
MIN_GALLOP = 7
MERGESTATE_TEMP_SIZE = 256


def make_timsort_impl(wrap, make_temp_area):
    """The pieces, each of them `wrap`ped; `make_temp_area(keys, n)` makes a container like `keys` of `n` elements."""
    make_temp_area = wrap(make_temp_area)

    @wrap
    def merge_init(keys):
        size = min(len(keys) // 2 + 1, MERGESTATE_TEMP_SIZE)
        return MergeState(MIN_GALLOP, make_temp_area(keys, size), make_temp_area(keys, 0), [MergeRun(0, 0)] * MAX_MERGE_PENDING, 0)

    @wrap
    def merge_init_with_values(keys, values):
        size = min(len(keys) // 2 + 1, MERGESTATE_TEMP_SIZE)
        return MergeState(MIN_GALLOP, make_temp_area(keys, size), make_temp_area(values, size), [MergeRun(0, 0)] * MAX_MERGE_PENDING, 0)

    @wrap
    def merge_append(ms, run):
        ms.pending[ms.n] = run
        return MergeState(ms.min_gallop, ms.keys, ms.values, ms.pending, ms.n + 1)

    @wrap
    def merge_pop(ms):
        return MergeState(ms.min_gallop, ms.keys, ms.values, ms.pending, ms.n - 1)

    @wrap
    def merge_getmem(ms, need):
        """The state with room for as many elements."""
        if need <= len(ms.keys):
            return ms
        keys = make_temp_area(ms.keys, need)
        values = make_temp_area(ms.values, need) if len(ms.values) > 0 else ms.values
        return MergeState(ms.min_gallop, keys, values, ms.pending, ms.n)

    @wrap
    def merge_adjust_gallop(ms, new_gallop):
        return MergeState(new_gallop, ms.keys, ms.values, ms.pending, ms.n)

    @wrap
    def binarysort(keys, values, lo, hi, start):
        """Sorts `lo` to `hi`, of which what is before `start` is sorted, by insertion."""
        for k in range(max(start, lo + 1), hi):
            key, value = keys[k], values[k]
            left, right = lo, k
            while left < right:
                middle = (left + right) >> 1
                if key < keys[middle]:
                    right = middle
                else:
                    left = middle + 1
            for p in range(k, left, -1):
                keys[p], values[p] = keys[p - 1], values[p - 1]
            keys[left] = key
            values[left] = value

    @wrap
    def count_run(keys, lo, hi):
        """How many elements from `lo` on ascend, or descend strictly, and whether they descend."""
        if lo + 1 == hi:
            return 1, False
        k = lo + 2
        if keys[lo + 1] < keys[lo]:
            while k < hi and keys[k] < keys[k - 1]:
                k += 1
            return k - lo, True
        while k < hi and not keys[k] < keys[k - 1]:
            k += 1
        return k - lo, False

    @wrap
    def gallop_left(key, a, start, stop, hint):
        """The place in front of all that equals the key in what is sorted; searched from `hint` in steps that double."""
        last, step = 0, 1
        if a[hint] < key:
            while hint + step < stop and a[hint + step] < key:
                last, step = step, 2 * step + 1
            left, right = hint + last + 1, min(hint + step, stop)
        else:
            while hint - step >= start and not a[hint - step] < key:
                last, step = step, 2 * step + 1
            left, right = max(hint - step + 1, start), hint - last
        while left < right:
            middle = (left + right) >> 1
            if a[middle] < key:
                left = middle + 1
            else:
                right = middle
        return left

    @wrap
    def gallop_right(key, a, start, stop, hint):
        """The place behind all that equals the key."""
        last, step = 0, 1
        if key < a[hint]:
            while hint - step >= start and key < a[hint - step]:
                last, step = step, 2 * step + 1
            left, right = max(hint - step + 1, start), hint - last
        else:
            while hint + step < stop and not key < a[hint + step]:
                last, step = step, 2 * step + 1
            left, right = hint + last + 1, min(hint + step, stop)
        while left < right:
            middle = (left + right) >> 1
            if key < a[middle]:
                right = middle
            else:
                left = middle + 1
        return left

    @wrap
    def merge_compute_minrun(n):
        """The least length of a run: such that the number of runs is a power of two, or a little less."""
        rest = 0
        while n >= 64:
            rest |= n & 1
            n >>= 1
        return n + rest

    @wrap
    def copy_up(to, at, source, start, n):
        """Copies `n` elements, the first one first."""
        for k in range(n):
            to[at + k] = source[start + k]

    @wrap
    def copy_down(to, at, source, start, n):
        """The same, the last one first."""
        for k in range(n - 1, -1, -1):
            to[at + k] = source[start + k]

    @wrap
    def merge_lo(ms, keys, values, ssa, na, ssb, nb):
        """Merges the runs at `ssa` and behind it at `ssb`; the first one is copied out of the way."""
        ms = merge_getmem(ms, na)
        a_keys, a_values, has_values, gallop = ms.keys, ms.values, len(ms.values) > 0, ms.min_gallop
        copy_up(a_keys, 0, keys, ssa, na)
        if has_values:
            copy_up(a_values, 0, values, ssa, na)
        a, b, b_end, dest = 0, ssb, ssb + nb, ssa
        while a < na and b < b_end:
            a_won = b_won = 0
            while a < na and b < b_end and a_won < gallop and b_won < gallop:
                if keys[b] < a_keys[a]:
                    keys[dest] = keys[b]
                    if has_values:
                        values[dest] = values[b]
                    a_won, b_won, b = 0, b_won + 1, b + 1
                else:
                    keys[dest] = a_keys[a]
                    if has_values:
                        values[dest] = a_values[a]
                    a_won, b_won, a = a_won + 1, 0, a + 1
                dest += 1
            while a < na and b < b_end:
                n = gallop_right(keys[b], a_keys, a, na, a) - a
                copy_up(keys, dest, a_keys, a, n)
                if has_values:
                    copy_up(values, dest, a_values, a, n)
                a, dest, a_won = a + n, dest + n, n
                if a == na:
                    break
                n = gallop_left(a_keys[a], keys, b, b_end, b) - b
                copy_up(keys, dest, keys, b, n)
                if has_values:
                    copy_up(values, dest, values, b, n)
                b, dest, b_won = b + n, dest + n, n
                if a_won < MIN_GALLOP and b_won < MIN_GALLOP:
                    gallop += 1
                    break
                gallop = max(gallop - 1, 1)
        copy_up(keys, dest, a_keys, a, na - a)
        if has_values:
            copy_up(values, dest, a_values, a, na - a)
        return merge_adjust_gallop(ms, gallop)

    @wrap
    def merge_hi(ms, keys, values, ssa, na, ssb, nb):
        """The same from behind; the second run is copied."""
        ms = merge_getmem(ms, nb)
        b_keys, b_values, has_values, gallop = ms.keys, ms.values, len(ms.values) > 0, ms.min_gallop
        copy_up(b_keys, 0, keys, ssb, nb)
        if has_values:
            copy_up(b_values, 0, values, ssb, nb)
        # What is left of either run, and the end of what is not filled.
        a, b, dest = ssa + na, nb, ssb + nb
        while a > ssa and b > 0:
            a_won = b_won = 0
            while a > ssa and b > 0 and a_won < gallop and b_won < gallop:
                dest -= 1
                if b_keys[b - 1] < keys[a - 1]:
                    a_won, b_won, a = a_won + 1, 0, a - 1
                    keys[dest] = keys[a]
                    if has_values:
                        values[dest] = values[a]
                else:
                    a_won, b_won, b = 0, b_won + 1, b - 1
                    keys[dest] = b_keys[b]
                    if has_values:
                        values[dest] = b_values[b]
            while a > ssa and b > 0:
                n = a - gallop_right(b_keys[b - 1], keys, ssa, a, a - 1)
                a, dest, a_won = a - n, dest - n, n
                copy_down(keys, dest, keys, a, n)
                if has_values:
                    copy_down(values, dest, values, a, n)
                if a == ssa:
                    break
                n = b - gallop_left(keys[a - 1], b_keys, 0, b, b - 1)
                b, dest, b_won = b - n, dest - n, n
                copy_down(keys, dest, b_keys, b, n)
                if has_values:
                    copy_down(values, dest, b_values, b, n)
                if a_won < MIN_GALLOP and b_won < MIN_GALLOP:
                    gallop += 1
                    break
                gallop = max(gallop - 1, 1)
        copy_down(keys, dest - b, b_keys, 0, b)
        if has_values:
            copy_down(values, dest - b, b_values, 0, b)
        return merge_adjust_gallop(ms, gallop)

    @wrap
    def merge_at(ms, keys, values, i):
        """Merges the runs `i` and `i + 1` of the stack, the last two or those before the last one."""
        ssa, na = ms.pending[i]
        ssb, nb = ms.pending[i + 1]
        ms.pending[i] = MergeRun(ssa, na + nb)
        if i == ms.n - 3:
            ms.pending[i + 1] = ms.pending[i + 2]
        ms = merge_pop(ms)
        # What is in its place already stays.
        k = gallop_right(keys[ssb], keys, ssa, ssa + na, ssa)
        na -= k - ssa
        ssa = k
        if na == 0:
            return ms
        nb = gallop_left(keys[ssa + na - 1], keys, ssb, ssb + nb, ssb + nb - 1) - ssb
        if na <= nb:
            return merge_lo(ms, keys, values, ssa, na, ssb, nb)
        return merge_hi(ms, keys, values, ssa, na, ssb, nb)

    @wrap
    def merge_collapse(ms, keys, values):
        """Merges until each run of the stack is longer than the next two together, and than the next one."""
        while ms.n > 1:
            n = ms.n - 2
            p = ms.pending
            if n > 0 and p[n - 1].size <= p[n].size + p[n + 1].size or n > 1 and p[n - 2].size <= p[n - 1].size + p[n].size:
                ms = merge_at(ms, keys, values, n - 1 if p[n - 1].size < p[n + 1].size else n)
            elif p[n].size <= p[n + 1].size:
                ms = merge_at(ms, keys, values, n)
            else:
                break
        return ms

    @wrap
    def merge_force_collapse(ms, keys, values):
        """Merges all runs of the stack."""
        while ms.n > 1:
            n = ms.n - 2
            if n > 0 and ms.pending[n - 1].size < ms.pending[n + 1].size:
                n -= 1
            ms = merge_at(ms, keys, values, n)
        return ms

    @wrap
    def reverse_slice(keys, values, start, stop):
        i, j = start, stop - 1
        while i < j:
            first, last, first_value, last_value = keys[i], keys[j], values[i], values[j]
            keys[i], keys[j], values[i], values[j] = last, first, last_value, first_value
            i += 1
            j -= 1

    @wrap
    def run_timsort_with_mergestate(ms, keys, values):
        n = len(keys)
        minrun = merge_compute_minrun(n)
        at = 0
        while at < n:
            size, descends = count_run(keys, at, n)
            if descends:
                reverse_slice(keys, values, at, at + size)
            if size < minrun:
                forced = min(minrun, n - at)
                binarysort(keys, values, at, at + forced, at + size)
                size = forced
            ms = merge_append(ms, MergeRun(at, size))
            ms = merge_collapse(ms, keys, values)
            at += size
        merge_force_collapse(ms, keys, values)

    @wrap
    def run_timsort(keys):
        """Sorts a container in its place."""
        if len(keys) > 1:
            run_timsort_with_mergestate(merge_init(keys), keys, keys)

    @wrap
    def run_timsort_with_values(keys, values):
        """The same; what lies at the same places in `values` goes with it."""
        if len(keys) > 1:
            run_timsort_with_mergestate(merge_init_with_values(keys, values), keys, values)

    return TimsortImplementation(wrap, count_run, binarysort, gallop_left, gallop_right, merge_init, merge_append, merge_pop, merge_compute_minrun, merge_lo, merge_hi, merge_at, merge_force_collapse,
                                 merge_collapse, run_timsort, run_timsort_with_values)


def make_py_timsort(*args):
    return make_timsort_impl(lambda f: f, *args)


def make_jit_timsort(*args):
    from .decorators import njit
    return make_timsort_impl(njit, *args)
