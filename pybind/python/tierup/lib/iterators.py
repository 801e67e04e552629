"""Python's module `itertools`.

What Python's constructors do at the call (they ask for iterators and copy pools) happens at the call here too; the rest is a generator.
"""

import itertools
import operator
from dataclasses import dataclass

import numpy as np

# Integers in these functions are the caller's: where overflow is checked, it is checked here too.
_origin = "checked"


def _iterators(iterables):
    if len(iterables) == 0:
        return ()
    return (iter(operator._iterator(iterables[0])),) + _iterators(iterables[1:])


# -- without an end ----------------------------------------------------------------------------------------------------------------------------


def count(start, step):
    n = start
    while True:
        yield n
        n += step


# What Python has in place of the instances of this class, by their keys.
_counts = {}


@dataclass(frozen=True)
class Counted:
    """A global count, on which Python counts: `key` holds the number of its `__next__`."""

    key: object

    _tierup_class_ = itertools.count

    def _tierup_python_(self):
        return _counts[self.key[0]]

    def __iter__(self):
        return self

    def __next__(self):
        return np._python_call(self.key[0], "int")


def cycle(iterable):
    return _cycle(iter(operator._iterator(iterable)))


def _cycle(it):
    saved = []
    for x in it:
        saved.append(x)
        yield x
    while len(saved) > 0:
        for x in saved:
            yield x


def repeat(x, times):
    if times is ...:
        while True:
            yield x
    else:
        for _ in range(times):
            yield x


# -- one after the other -----------------------------------------------------------------------------------------------------------------------


def accumulate(iterable, func, initial):
    return _accumulate(iter(operator._iterator(iterable)), func, initial)


def _accumulate(it, func, initial):
    if initial is None:
        for first in it:
            total = first
            yield total
            break
        else:
            return
    else:
        total = initial
        yield total
    for x in it:
        if func is None:
            total = total + x
        else:
            total = func(total, x)
        yield total


def chain(iterables):
    return _chain(iterables)


def _chain(iterables):
    if len(iterables) > 0:
        for x in iterables[0]:
            yield x
    if len(iterables) > 1:
        for x in iterables[1]:
            yield x
    if len(iterables) > 2:
        for x in iterables[2]:
            yield x
    if len(iterables) > 3:
        for x in _chain(iterables[3:]):
            yield x


def chain_from_iterable(iterables):
    return _chain_from_iterable(operator._iterator(iterables))


def _chain_from_iterable(iterables):
    for iterable in iterables:
        for x in iterable:
            yield x


def compress(data, selectors):
    return _compress(operator._iterator(data), operator._iterator(selectors))


def _compress(data, selectors):
    for x, chosen in zip(data, selectors):
        if chosen:
            yield x


def dropwhile(predicate, iterable):
    return _dropwhile(predicate, operator._iterator(iterable))


def _dropwhile(predicate, iterable):
    dropping = True
    for x in iterable:
        if dropping and predicate(x):
            continue
        dropping = False
        yield x


def takewhile(predicate, iterable):
    return _takewhile(predicate, operator._iterator(iterable))


def _takewhile(predicate, iterable):
    for x in iterable:
        if not predicate(x):
            break
        yield x


def filterfalse(predicate, iterable):
    return _filterfalse(predicate, operator._iterator(iterable))


def _filterfalse(predicate, iterable):
    for x in iterable:
        if predicate is None:
            if not x:
                yield x
        elif not predicate(x):
            yield x


def starmap(f, iterable):
    return _starmap(f, operator._iterator(iterable))


def _starmap(f, iterable):
    for args in iterable:
        yield f(*args)


def pairwise(iterable):
    return _pairwise(iter(operator._iterator(iterable)))


def _pairwise(it):
    for before in it:
        for x in it:
            yield before, x
            before = x


def islice(iterable, start, stop, step):
    if stop is ...:
        first, last, by = 0, start, 1
        if last is not None and last < 0:
            raise ValueError("Stop argument for islice() must be None or an integer: 0 <= x <= sys.maxsize.")
    else:
        first, last, by = 0 if start is None else start, stop, 1 if step is None else step
        if first < 0 or (last is not None and last < 0):
            raise ValueError("Indices for islice() must be None or an integer: 0 <= x <= sys.maxsize.")
        if by < 1:
            raise ValueError("Step for islice() must be a positive integer or None.")
    if last is None:
        return _islice(iter(operator._iterator(iterable)), first, 0x7FFFFFFFFFFFFFFF, by)
    return _islice(iter(operator._iterator(iterable)), first, last, by)


def _islice(it, start, stop, step):
    end = max(start, stop)
    if end > 0:
        at, wanted = 0, start
        for x in it:
            if at == wanted and at < stop:
                wanted = stop if step > stop - wanted else wanted + step
                yield x
            at += 1
            if at == end:
                break


def zip_longest(fillvalue, iterables):
    return _zip_longest(_iterators(iterables), fillvalue)


def _zip_longest(its, fill):
    if len(its) > 0:
        going = [True] * len(its)
        while True:
            row = _row(its, going, 0, fill)
            if True not in going:
                break
            yield row


def _row(its, going, at, fill):
    if len(its) == 0:
        return ()
    return (_next_or(its[0], going, at, fill),) + _row(its[1:], going, at + 1, fill)


def _next_or(it, going, at, fill):
    if going[at]:
        for x in it:
            return x
        going[at] = False
    return fill


# -- groups and copies -------------------------------------------------------------------------------------------------------------------------


def groupby(iterable, key):
    return _groups(iter(operator._iterator(iterable)), key)


def _key_of(x, key):
    if key is None:
        return x
    return key(x)


def _groups(it, key):
    # What groups share: the value that has been read last and its key, and the number of the group that may read on.
    for first in it:
        values, keys, number = [first], [_key_of(first, key)], [0]
        while True:
            wanted = keys[0]
            yield wanted, _group(it, key, values, keys, number, number[0], wanted)
            # From here on the group is over, also where nothing comes after it.
            number[0] += 1
            while operator._one_object(keys[0], wanted) or keys[0] == wanted:
                if not _read_on(it, key, values, keys):
                    return


def _group(it, key, values, keys, number, own, wanted):
    while number[0] == own and (operator._one_object(keys[0], wanted) or wanted == keys[0]):
        yield values[0]
        # What comes next is another group's where that one has begun in the meantime.
        if number[0] != own or not _read_on(it, key, values, keys):
            break


def _read_on(it, key, values, keys):
    for x in it:
        values[0] = x
        keys[0] = _key_of(x, key)
        return True
    return False


def tee(iterable, n):
    if n < 0:
        raise ValueError("n must be >= 0")
    read = []
    return _branches(iter(operator._iterator(iterable)), read, n)


def _branches(it, read, n):
    if n == 0:
        return ()
    return (_branch(it, read),) + _branches(it, read, n - 1)


def _branch(it, read):
    at = 0
    while True:
        if at == len(read):
            for x in it:
                read.append(x)
                break
            else:
                return
        yield read[at]
        at += 1


# -- combinations ------------------------------------------------------------------------------------------------------------------------------


def product(repeat, iterables):
    if repeat < 0:
        raise ValueError("repeat argument cannot be negative")
    return _product(_pools(iterables) * repeat)


def _pools(iterables):
    if len(iterables) == 0:
        return ()
    return ([x for x in iterables[0]],) + _pools(iterables[1:])


def _product(pools):
    if len(pools) == 0:
        yield ()
    elif len(pools) == 1:
        for a in pools[0]:
            yield (a,)
    elif len(pools) == 2:
        for a in pools[0]:
            for b in pools[1]:
                yield a, b
    else:
        for a in pools[0]:
            for b in pools[1]:
                for rest in _product(pools[2:]):
                    yield (a, b) + rest


def zip_of_list(iterable):
    """``zip(*iterable)``."""
    return operator._columns([r for r in iterable])


def columns_of_iterators(its):
    """One of them may be there several times: ``zip(*[iter(xs)] * n)``."""
    while len(its) > 0:
        row = []
        for it in its:
            try:
                row.append(next(it))
            except StopIteration:
                return
        yield operator._as_tuple(row)


def columns(rows):
    k = 0
    while len(rows) > 0:
        for r in rows:
            if k >= len(r):
                return
        yield operator._as_tuple([r[k] for r in rows])
        k += 1


def batched(iterable, n, strict):
    if n < 1:
        raise ValueError("n must be at least one")
    return _batched(operator._iterator(iterable), n, strict)


def _batched(iterable, n, strict):
    batch = []
    for x in iterable:
        batch.append(x)
        if len(batch) == n:
            yield operator._as_tuple(batch)
            batch = []
    if len(batch) > 0:
        if strict:
            raise ValueError("batched(): incomplete batch")
        yield operator._as_tuple(batch)


def product_of_list(iterables):
    """``itertools.product(*iterables)``."""
    return _product_of_pools([[x for x in it] for it in iterables])


def product_repeated(repeat, iterables):
    if repeat < 0:
        raise ValueError("repeat argument cannot be negative")
    pools = []
    for _ in range(repeat):
        _add_pools(pools, iterables)
    return _product_of_pools(pools)


def _add_pools(pools, iterables):
    if len(iterables) > 0:
        pools.append([x for x in iterables[0]])
        _add_pools(pools, iterables[1:])


def _product_of_pools(pools):
    for pool in pools:
        if len(pool) == 0:
            return
    n = len(pools)
    at = [0] * n
    while True:
        yield operator._as_tuple([pools[k][at[k]] for k in range(n)])
        k = n - 1
        while k >= 0 and at[k] == len(pools[k]) - 1:
            at[k] = 0
            k -= 1
        if k < 0:
            return
        at[k] += 1


def combinations_of_any_length(iterable, r):
    if r < 0:
        raise ValueError("r must be non-negative")
    return _combinations([x for x in iterable], r, _picked)


def combinations_with_replacement_of_any_length(iterable, r):
    if r < 0:
        raise ValueError("r must be non-negative")
    return _combinations_with_replacement([x for x in iterable], r, _picked)


def permutations_of_any_length(iterable, r):
    pool = [x for x in iterable]
    if r is None:
        return _permutations(pool, len(pool), _picked)
    if r < 0:
        raise ValueError("r must be non-negative")
    return _permutations(pool, r, _picked)


def _picked(pool, indices, at, r):
    """What lies at so many places, as a tuple of any length."""
    return operator._as_tuple([pool[indices[k]] for k in range(r)])


def _chosen(pool, indices, at, r):
    if at == r:
        return ()
    return (pool[indices[at]],) + _chosen(pool, indices, at + 1, r)


def combinations(iterable, r):
    if r < 0:
        raise ValueError("r must be non-negative")
    return _combinations([x for x in iterable], r, _chosen)


def _combinations(pool, r, pick):
    n = len(pool)
    if r <= n:
        indices = [i for i in range(r)]
        while True:
            yield pick(pool, indices, 0, r)
            i = r - 1
            while i >= 0 and indices[i] == i + n - r:
                i -= 1
            if i < 0:
                break
            indices[i] += 1
            for j in range(i + 1, r):
                indices[j] = indices[j - 1] + 1


def combinations_with_replacement(iterable, r):
    if r < 0:
        raise ValueError("r must be non-negative")
    return _combinations_with_replacement([x for x in iterable], r, _chosen)


def _combinations_with_replacement(pool, r, pick):
    n = len(pool)
    if n > 0 or r == 0:
        indices = [0] * r
        while True:
            yield pick(pool, indices, 0, r)
            i = r - 1
            while i >= 0 and indices[i] == n - 1:
                i -= 1
            if i < 0:
                break
            following = indices[i] + 1
            for j in range(i, r):
                indices[j] = following


def permutations(iterable, r):
    if r is None:
        return _permutations([x for x in iterable], len(iterable), _chosen)
    if r < 0:
        raise ValueError("r must be non-negative")
    return _permutations([x for x in iterable], r, _chosen)


def _permutations(pool, r, pick):
    n = len(pool)
    if r <= n:
        indices = [i for i in range(n)]
        cycles = [i for i in range(n, n - r, -1)]
        yield pick(pool, indices, 0, r)
        i = r - 1
        while i >= 0:
            cycles[i] -= 1
            if cycles[i] == 0:
                first = indices[i]
                for j in range(i, n - 1):
                    indices[j] = indices[j + 1]
                indices[n - 1] = first
                cycles[i] = n - i
                i -= 1
            else:
                j = n - cycles[i]
                indices[i], indices[j] = indices[j], indices[i]
                yield pick(pool, indices, 0, r)
                i = r - 1
