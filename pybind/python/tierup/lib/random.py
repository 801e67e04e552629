"""Integers, choices and shuffles of `np.random`, by NumPy's own recipes, so that streams stay the same. `rng` is None for the thread's stream, or a generator."""

import math

import numpy as np
from numpy.exceptions import AxisError

from .versions import NUMPY


def randint(low, high, size, dtype):
    return _integers(None, low, high, size, dtype, False)


def random_integers(low, high, size):
    return _integers(None, 1 if high is None else low, low if high is None else high, size, None, True)


def integers(rng, low, high, size, dtype, endpoint):
    if endpoint:
        return _integers(rng, low, high, size, dtype, True)
    return _integers(rng, low, high, size, dtype, False)


def _integers(rng, low, high, size, dtype, closed):
    if not (isinstance(low, (int, np.integer)) or isinstance(low, float)) or not (high is None or isinstance(high, (int, np.integer)) or isinstance(high, float)):
        if high is None:
            return _between_each(rng, np.asarray(0), np.asarray(low), size, dtype, closed)
        return _between_each(rng, np.asarray(low), np.asarray(high), size, dtype, closed)
    if high is None:
        return _bounded(rng, 0, _end(low), size, dtype, closed)
    return _bounded(rng, _end(low), _end(high), size, dtype, closed)


def _end(x):
    """One end as an integer, and of 64 bits without a sign as it is: it may be larger than others can be."""
    if isinstance(x, np.uint64):
        return x
    return int(x)


def _between_each(rng, lows, highs, size, dtype, closed):
    """An integer for each pair of ends."""
    if lows.dtype.kind == "c" or highs.dtype.kind == "c":
        raise TypeError("int() argument must be a string, a bytes-like object or a real number, not 'complex'")
    shape = np.broadcast_shapes(lows.shape, highs.shape)
    if size is None:
        return _between_each_of(rng, np.broadcast_to(lows, shape), np.broadcast_to(highs, shape), dtype, closed)
    # What does not fit together is said as of three operands.
    np.broadcast_shapes(lows.shape, highs.shape, _shape(size))
    return _between_each_of(rng, np.broadcast_to(lows, _shape(size)), np.broadcast_to(highs, _shape(size)), dtype, closed)


def _shape(size):
    return (size,) if isinstance(size, (int, np.integer)) else size


def _between_each_of(rng, lows, highs, dtype, closed):
    out = np.empty(lows.shape, np.int64 if dtype is None else dtype)
    low, high = _ends(np.ravel(lows)), _ends(np.ravel(highs))
    if dtype is not None or low.dtype.kind == "u" or high.dtype.kind == "u":
        for i in range(len(low)):
            _check_bounds(low[i], high[i], out.dtype, closed)
    for i in range(len(low)):
        if low[i] > high[i] or (low[i] == high[i] and not closed):
            raise ValueError("low > high" if closed else "low >= high")
    first, last = low.astype(np.int64), high.astype(np.int64)
    np.random._integers_each(rng, first, last - first if closed else last - first - 1, out)
    return out


def _ends(x):
    if x.dtype.kind == "u" and x.dtype.itemsize == 8:
        return x
    return x.astype(np.int64)


def _bounded(rng, low, high, size, dtype, closed):
    if dtype is not None:
        _check_bounds(low, high, np.dtype(dtype), closed)
    elif isinstance(low, np.uint64) or isinstance(high, np.uint64):
        _check_bounds(low, high, np.dtype(np.int64), closed)
    if size is not None:
        if _count(size) == 0:
            return np.empty(size, np.int64 if dtype is None else dtype)
    if low > high or (low == high and not closed):
        if low == 0:
            raise ValueError("high < 0" if closed else "high <= 0")
        raise ValueError("low > high" if closed else "low >= high")
    # Differences of 64 bits, whatever their sign.
    first, last = np.int64(low), np.int64(high)
    return np.random._integers(rng, first, last - first if closed else last - first - 1, size, dtype)


def _check_bounds(low, high, dtype, closed):
    if dtype.kind == "b":
        _check_between(low, high, 0, 1, "bool", closed)
    elif dtype.kind == "u" and dtype.itemsize == 8:
        # No end is too high.
        if low < 0:
            raise ValueError("low is out of bounds for uint64")
    else:
        _check_between(low, high, int(np.iinfo(dtype).min), int(np.iinfo(dtype).max), dtype.name, closed)


def _check_between(low, high, least, most, name, closed):
    if low < least:
        raise ValueError(f"low is out of bounds for {name}")
    if high > most and (closed or high - 1 > most):
        raise ValueError(f"high is out of bounds for {name}")


# -- seeds and streams -------------------------------------------------------------------------------------------------------------------------


def seed_by_words(seed):
    if not isinstance(seed, np.ndarray):
        words = np.asarray(seed)
        _seed_by_words(words.ravel(), words.ndim == 1)
    elif seed.size == 1 and (seed.dtype.kind == "i" or seed.dtype.kind == "u"):
        np.random.seed(seed.ravel()[0])
    else:
        # Dimensions of length one do not count.
        long = 0
        for n in seed.shape:
            long += n != 1
        _seed_by_words(seed.ravel(), long == 1)


def _seed_by_words(words, one_dimensional):
    if words.size == 0:
        raise ValueError("Seed must be non-empty")
    if words.dtype.kind != "i" and words.dtype.kind != "u" and words.dtype.kind != "b" or words.dtype.kind == "u" and words.dtype.itemsize == 8:
        raise TypeError(f"Cannot cast array data from dtype('{words.dtype.name}') to dtype('int64') according to the rule 'safe'")
    if not one_dimensional:
        raise ValueError("Seed array must be 1-d")
    for x in words:
        if x < 0 or x > 4294967295:
            raise ValueError("Seed must be between 0 and 2**32 - 1")
    np.random._seed_by_words(words.astype(np.uint32))


def generator_spawn(rng, n_children):
    if NUMPY >= (2, 5) and n_children < 0:
        raise ValueError("n_children must be non-negative")
    # Whether there can be any is also asked where none are.
    np.random._child(rng, 0)
    if n_children < 0:
        raise OverflowError("can't convert negative value to uint32_t")
    return [np.random._child(rng, 1) for _ in range(int(n_children))]


# -- shuffles ----------------------------------------------------------------------------------------------------------------------------------


def shuffle(x):
    _shuffle(None, x)


def generator_shuffle(rng, x, axis):
    if isinstance(x, list):
        if axis != 0:
            raise NotImplementedError("Axis argument is only supported on ndarray objects")
        _shuffle(rng, x)
    elif isinstance(x, tuple):
        if axis != 0:
            raise NotImplementedError("Axis argument is only supported on ndarray objects")
        raise TypeError("'tuple' object does not support item assignment")
    elif np.ndim(x) == 0:
        raise TypeError("len() of unsized object")
    else:
        _check_axis(axis, x.ndim)
        _shuffle(rng, np.swapaxes(x, 0, axis))


def _check_axis(axis, ndim):
    if axis is None:
        raise TypeError("'NoneType' object cannot be interpreted as an integer")
    if not -ndim <= axis < ndim:
        raise AxisError(axis, ndim, None)


def _shuffle(rng, x):
    if isinstance(x, list) or x.ndim == 1:
        for i in range(len(x) - 1, 0, -1):
            j = np.random._interval(rng, i)
            x[i], x[j] = x[j], x[i]
    elif x.ndim == 0:
        raise TypeError("len() of unsized object")
    else:
        row = np.empty_like(x[0])
        for i in range(len(x) - 1, 0, -1):
            j = np.random._interval(rng, i)
            if i != j:
                row[...] = x[j]
                x[j] = x[i]
                x[i] = row


def permuted(rng, x, axis):
    a = np.asarray(x)
    return _permuted(rng, a.copy("K"), axis)


def permuted_into(rng, x, axis, out):
    if out is None:
        return rng.permuted(x, axis=axis)
    a = np.asarray(x)
    if out.shape != a.shape:
        raise ValueError("out must have the same shape as x")
    np.copyto(out, a, casting="safe")
    return _permuted(rng, out, axis)


def _permuted(rng, a, axis):
    if axis is None:
        _shuffle_all(rng, a)
    else:
        _check_axis(axis, a.ndim)
        # To the end, one step at a time, since the others stay in order.
        at_end = axis % a.ndim
        lines = np.swapaxes(a, at_end, at_end)
        for k in range(at_end, a.ndim - 1):
            lines = np.swapaxes(lines, k, k + 1)
        for at in np.ndindex(lines.shape[:-1]):
            _shuffle(rng, lines[at])
    return a


def _shuffle_all(rng, a):
    """All elements among each other, in the order in which they lie in memory if they lie side by side."""
    if a.ndim == 1:
        _shuffle(rng, a)
    elif a.ndim == 0:
        raise TypeError("len() of unsized object")
    elif a.flags.c_contiguous:
        _shuffle(rng, a.reshape(-1))
    elif a.flags.f_contiguous:
        _shuffle(rng, a.T.reshape(-1))
    else:
        flat = a.flatten()
        _shuffle(rng, flat)
        a[...] = flat.reshape(a.shape)


def permutation(x):
    return _permutation(None, x, 0)


def generator_permutation(rng, x, axis):
    if isinstance(x, (int, np.integer)):
        return _permutation(rng, x, 0)
    a = np.asarray(x)
    if axis is None:
        raise TypeError("'NoneType' object cannot be interpreted as an integer")
    if axis + a.ndim < 0 or axis >= a.ndim:
        raise AxisError(axis, a.ndim, None)
    return _permutation(rng, a, axis)


def _permutation(rng, x, axis):
    if isinstance(x, (int, np.integer)):
        order = np.arange(x)
        _shuffle(rng, order)
        return order
    a = np.asarray(x)
    if a.ndim == 0:
        raise IndexError("x must be an integer or at least 1-dimensional")
    if a.ndim == 1:
        copy = a.copy()
        _shuffle(rng, copy)
        return copy
    order = np.arange(a.shape[axis])
    _shuffle(rng, order)
    return np.take(a, order, axis)


# -- choices -----------------------------------------------------------------------------------------------------------------------------------


def choice(a, size, replace, p):
    if isinstance(a, (int, np.integer)):
        if a <= 0 and _count(size) != 0:
            raise ValueError("a must be greater than 0 unless no samples are taken")
        return _chosen(None, a, size, replace, p, True)
    if size is None and isinstance(a, tuple) and len(a) > 0 and isinstance(a[0], str):
        return a[_chosen(None, len(a), size, replace, p, True)]
    x = np.asarray(a)
    if x.ndim == 0:
        if x.dtype.kind == "i" or x.dtype.kind == "u":
            return choice(int(x), size, replace, p)
        raise ValueError("a must be 1-dimensional or an integer")
    if x.ndim != 1:
        raise ValueError("a must be 1-dimensional")
    if len(x) == 0 and _count(size) != 0:
        raise ValueError("'a' cannot be empty unless no samples are taken")
    return x[_chosen(None, len(x), size, replace, p, True)]


def generator_choice(rng, a, size, replace, p, axis, shuffle):
    if isinstance(a, (int, np.integer)):
        if a <= 0 and _count(size) != 0:
            raise ValueError("a must be a positive integer unless no samples are taken")
        return _chosen(rng, a, size, replace, p, shuffle)
    # Strings make no array: one of them is chosen as it is.
    if size is None and isinstance(a, tuple) and len(a) > 0 and isinstance(a[0], str):
        return a[_chosen(rng, len(a), size, replace, p, shuffle)]
    x = np.asarray(a)
    if x.ndim == 0:
        if x.dtype.kind == "i" or x.dtype.kind == "u":
            return generator_choice(rng, int(x), size, replace, p, axis, shuffle)
        raise ValueError("a must be a sequence or an integer, not <class '" + ("float" if isinstance(a, float) else "numpy.ndarray") + "'>")
    if x.shape[axis] == 0 and _count(size) != 0:
        raise ValueError("a cannot be empty unless no samples are taken")
    if x.ndim == 1:
        return x[_chosen(rng, x.shape[axis], size, replace, p, shuffle)]
    return np.take(x, _chosen(rng, x.shape[axis], size, replace, p, shuffle), axis)


def _count(size):
    if size is None:
        return 1
    if isinstance(size, (int, np.integer)):
        return size
    n = 1
    for k in size:
        n *= k
    return n


def _uniform(rng, size):
    if rng is None:
        return np.random.random_sample(size)
    return rng.random(size)


def _chosen(rng, n, size, replace, p, shuffle):
    """Indices below `n`."""
    if p is None:
        if replace:
            return _bounded(rng, 0, n, size, None, False)
        return _in_shape(_some_of(rng, n, _count(size), shuffle), size)
    weights = np.asarray(p).astype(np.float64)
    if rng is None:
        _check_weights(weights, n, _tolerance(np.asarray(p)), "'a'", "'p'", "p", "")
    else:
        _check_weights(weights, n, _tolerance(np.asarray(p)), "a", "p", "P", ". See Notes section of docstring for more information.")
    if replace:
        steps = np.cumsum(weights)
        steps /= steps[-1]
        return _steps_before(steps, _uniform(rng, size))
    return _in_shape(_some_of_weighted(rng, n, _count(size), weights), size)


def _steps_before(steps, u):
    if isinstance(u, float):
        return int(np.searchsorted(steps, u, "right"))
    return np.searchsorted(steps, u, "right")


def _in_shape(found, size):
    if size is None:
        return int(found[0])
    return found.reshape(size)


def _tolerance(p):
    least = math.sqrt(2.220446049250313e-16)
    if p.dtype.kind == "f":
        return max(least, math.sqrt(float(np.finfo(p.dtype).eps)))
    return least


def _check_weights(p, n, tolerance, a_name, p_name, letter, end):
    if p.ndim != 1:
        raise ValueError(f"{p_name} must be 1-dimensional")
    if len(p) != n:
        raise ValueError(f"{a_name} and {p_name} must have same size")
    total = exact_sum(p, len(p))
    if math.isnan(total):
        raise ValueError(f"{letter}robabilities contain NaN")
    for x in p:
        if x < 0:
            raise ValueError(f"{letter}robabilities are not non-negative")
    if abs(total - 1.0) > tolerance:
        raise ValueError(f"{letter}robabilities do not sum to 1{end}")


def exact_sum(p, n):
    """The sum of the first `n`, rounded a few times only (Kahan)."""
    if n <= 0:
        return 0.0
    total = p[0]
    lost = 0.0
    for i in range(1, n):
        y = p[i] - lost
        t = total + y
        lost = (t - total) - y
        total = t
    return total


def _some_of(rng, n, k, shuffle):
    if k > n:
        if rng is None:
            raise ValueError("Cannot take a larger sample than population when 'replace=False'")
        raise ValueError("Cannot take a larger sample than population when replace is False")
    if k < 0:
        raise ValueError("negative dimensions are not allowed")
    if rng is None:
        order = np.arange(n)
        _shuffle(rng, order)
        return order[:k].copy()
    if n > 10000 and k > n // (50 if shuffle else 20):
        # The end of a shuffle.
        order = np.arange(n)
        for i in range(n - 1, max(n - k, 1) - 1, -1):
            j = np.random._integers(rng, 0, i, None, None)
            order[i], order[j] = order[j], order[i]
        return order[n - k :].copy()
    found = _floyd(rng, n, k)
    if shuffle:
        for i in range(k - 1, 0, -1):
            j = np.random._integers(rng, 0, i, None, None)
            found[i], found[j] = found[j], found[i]
    return found


def _floyd(rng, n, k):
    """Floyd's method, with a table of what has been drawn."""
    mask = 0
    while mask < int(1.2 * k):
        mask = 2 * mask + 1
    taken = np.full(mask + 1, -1)
    found = np.empty(k, np.int64)
    for j in range(n - k, n):
        value = np.random._integers(rng, 0, j, None, None)
        at = value & mask
        while taken[at] != -1 and taken[at] != value:
            at = (at + 1) & mask
        if taken[at] != -1:
            value = j
            at = j & mask
            while taken[at] != -1:
                at = (at + 1) & mask
        taken[at] = value
        found[j - n + k] = value
    return found


def _some_of_weighted(rng, n, k, weights):
    if k > n:
        if rng is None:
            raise ValueError("Cannot take a larger sample than population when 'replace=False'")
        raise ValueError("Cannot take a larger sample than population when replace is False")
    if np.count_nonzero(weights > 0) < k:
        raise ValueError("Fewer non-zero entries in p than size")
    found = np.empty(k, np.int64)
    done = 0
    while done < k:
        u = _uniform(rng, k - done)
        for i in range(done):
            weights[found[i]] = 0
        steps = np.cumsum(weights)
        steps /= steps[-1]
        start = done
        for x in u:
            value = int(np.searchsorted(steps, x, "right"))
            known = False
            for i in range(start, done):
                known = known or found[i] == value
            if not known:
                found[done] = value
                done += 1
    return found


# -- numbers that are written into an array --------------------------------------------------------------------------------------------------------


def random_into(rng, size, dtype, out):
    if out is None:
        return rng.random(size, dtype)
    np.random._random_into(rng, _place(out, size, dtype))
    return out


def standard_normal_into(rng, size, dtype, out):
    if out is None:
        return rng.standard_normal(size, dtype)
    np.random._standard_normal_into(rng, _place(out, size, dtype))
    return out


def standard_exponential_into(rng, size, dtype, method, out):
    if out is None:
        return rng.standard_exponential(size, dtype, method)
    if method == "zig":
        np.random._standard_exponential_into(rng, _place(out, size, dtype))
    else:
        np.random._inverse_exponential_into(rng, _place(out, size, dtype))
    return out


def standard_gamma_into(rng, shape, size, dtype, out):
    if out is None:
        return rng.standard_gamma(shape, size, dtype)
    if not out.flags.writeable or not out.flags.c_contiguous:
        raise ValueError("Supplied output array must be C-contiguous, writable, aligned, and in machine byte-order.")
    _check_out(out, size, dtype)
    if isinstance(shape, (int, np.integer)) or isinstance(shape, float):
        np.random._standard_gamma_into(rng, out, shape)
    else:
        out[...] = rng.standard_gamma(np.asarray(shape), out.shape, dtype)
    return out


def _check_out(out, size, dtype):
    if out.dtype != np.dtype(np.float64 if dtype is None else dtype):
        raise TypeError("Supplied output array has the wrong type. Expected " + np.dtype(np.float64 if dtype is None else dtype).name + ", got " + out.dtype.name)
    if size is not None:
        if _shape(size) != out.shape:
            raise ValueError("size must match out.shape when used together")


def _place(out, size, dtype):
    """`out`, whose elements must lie side by side: they are written in the order in which they do."""
    if not out.flags.writeable or not (out.flags.c_contiguous or out.flags.f_contiguous):
        raise ValueError("Supplied output array must be contiguous, writable, aligned, and in machine byte-order.")
    _check_out(out, size, dtype)
    return out


# -- distributions whose parameters are lists or tuples -------------------------------------------------------------------------------------------


def _parameter(x):
    return np.asarray(x) if isinstance(x, (list, tuple)) else x


def of_sequences_1(f, a, size):
    return f(_parameter(a), size)


def of_sequences_2(f, a, b, size):
    return f(_parameter(a), _parameter(b), size)


def of_sequences_3(f, a, b, c, size):
    return f(_parameter(a), _parameter(b), _parameter(c), size)


def drawn_of_sequences_1(f, rng, a, size):
    return f(rng, _parameter(a), size)


def drawn_of_sequences_2(f, rng, a, b, size):
    return f(rng, _parameter(a), _parameter(b), size)


def drawn_of_sequences_3(f, rng, a, b, c, size):
    return f(rng, _parameter(a), _parameter(b), _parameter(c), size)


def bytes_(length):
    return _words(None, length).tobytes()[:length]


def generator_bytes(rng, length):
    return _words(rng, length).tobytes()[:length]


def _words(rng, length):
    """As many words of 32 bits as NumPy draws for so many bytes: one also where there are none."""
    n = (length - 1) // 4 + 1 if length > 0 else 1 - (1 - length) // 4
    return _integers(rng, 0, 4294967296, n, np.uint32, False)
