"""Python's module `heapq`: the algorithms of its C version, so that elements lie where they lie in Python, also where they have no total order.

A heap of ``_max`` functions has its largest element first.
"""

import operator

# Integers in these functions are the caller's: where overflow is checked, it is checked here too.
_origin = "checked"


def heappush(heap, item):
    _push(heap, item, False)


def heappop(heap):
    return _pop(heap, False)


def heapreplace(heap, item):
    return _replace(heap, item, False)


def heappushpop(heap, item):
    return _push_pop(heap, item, False)


def heapify(heap):
    _arrange(heap, False)


def heappush_max(heap, item):
    _push(heap, item, True)


def heappop_max(heap):
    return _pop(heap, True)


def heapreplace_max(heap, item):
    return _replace(heap, item, True)


def heappushpop_max(heap, item):
    return _push_pop(heap, item, True)


def heapify_max(heap):
    _arrange(heap, True)


# -- of both kinds: `largest` says which element is first --------------------------------------------------------------------------------------


def _before(a, b, largest):
    if largest:
        return operator._orders("<", b, a) and b < a
    return operator._orders("<", a, b) and a < b


def _push(heap, item, largest):
    heap.append(item)
    _down(heap, 0, len(heap) - 1, largest)


def _pop(heap, largest):
    if len(heap) == 0:
        raise IndexError("index out of range")
    last = heap.pop()
    if len(heap) == 0:
        return last
    first = heap[0]
    heap[0] = last
    _up(heap, 0, largest)
    return first


def _replace(heap, item, largest):
    if len(heap) == 0:
        raise IndexError("index out of range")
    first = heap[0]
    heap[0] = item
    _up(heap, 0, largest)
    return first


def _push_pop(heap, item, largest):
    if len(heap) == 0 or not _before(heap[0], item, largest):
        return item
    first = heap[0]
    heap[0] = item
    _up(heap, 0, largest)
    return first


def _arrange(heap, largest):
    for pos in range(len(heap) // 2 - 1, -1, -1):
        _up(heap, pos, largest)


def _down(heap, start, pos, largest):
    """Moves the element at `pos` towards `start` until its parent does not come behind it."""
    item = heap[pos]
    while pos > start:
        above = (pos - 1) >> 1
        parent = heap[above]
        if not _before(item, parent, largest):
            break
        heap[pos] = parent
        pos = above
    heap[pos] = item


def _up(heap, pos, largest):
    """Moves the first of two children up as far as there are any, then the element from there to its place."""
    start, end = pos, len(heap)
    item = heap[pos]
    child = 2 * pos + 1
    while child < end:
        if child + 1 < end and not _before(heap[child], heap[child + 1], largest):
            child += 1
        heap[pos] = heap[child]
        pos = child
        child = 2 * pos + 1
    heap[pos] = item
    _down(heap, start, pos, largest)


# -- the best of many --------------------------------------------------------------------------------------------------------------------------


def nsmallest(n, iterable, key):
    if n == 1:
        return _only_smallest(iterable, key)
    if hasattr(iterable, "__len__") and n >= len(iterable):
        return sorted(iterable, key=key)[:n]
    # Of equal elements the first ones: the positions decide.
    if key is None:
        best = []
        at = 0
        for x in iterable:
            if at < n:
                best.append((x, at))
                if at == n - 1:
                    heapify_max(best)
            elif n <= 0:
                break
            elif operator._orders("<", x, best[0][0]) and x < best[0][0]:
                heapreplace_max(best, (x, at))
            at += 1
        if at < n:
            heapify_max(best)
        best.sort()
        return [x for x, _ in best]
    keyed = []
    at = 0
    for x in iterable:
        if at < n:
            keyed.append((key(x), at, x))
            if at == n - 1:
                heapify_max(keyed)
        elif n <= 0:
            break
        else:
            k = key(x)
            if operator._orders("<", k, keyed[0][0]) and k < keyed[0][0]:
                heapreplace_max(keyed, (k, at, x))
        at += 1
    if at < n:
        heapify_max(keyed)
    return [x for _, _, x in sorted(keyed)]


def nlargest(n, iterable, key):
    if n == 1:
        return _only_largest(iterable, key)
    if hasattr(iterable, "__len__") and n >= len(iterable):
        return sorted(iterable, key=key, reverse=True)[:n]
    if key is None:
        best = []
        at = 0
        for x in iterable:
            if at < n:
                best.append((x, -at))
                if at == n - 1:
                    heapify(best)
            elif n <= 0:
                break
            elif operator._orders("<", best[0][0], x) and best[0][0] < x:
                heapreplace(best, (x, -at))
            at += 1
        if at < n:
            heapify(best)
        best.sort(reverse=True)
        return [x for x, _ in best]
    keyed = []
    at = 0
    for x in iterable:
        if at < n:
            keyed.append((key(x), -at, x))
            if at == n - 1:
                heapify(keyed)
        elif n <= 0:
            break
        else:
            k = key(x)
            if operator._orders("<", keyed[0][0], k) and keyed[0][0] < k:
                heapreplace(keyed, (k, -at, x))
        at += 1
    if at < n:
        heapify(keyed)
    return [x for _, _, x in sorted(keyed, reverse=True)]


def _only_smallest(iterable, key):
    found = []
    for x in iterable:
        if key is None:
            rank = x
        else:
            rank = key(x)
        if len(found) == 0:
            found.append(x)
            best = rank
        elif operator._orders("<", rank, best) and rank < best:
            found[0] = x
            best = rank
    return found


def _only_largest(iterable, key):
    found = []
    for x in iterable:
        if key is None:
            rank = x
        else:
            rank = key(x)
        if len(found) == 0:
            found.append(x)
            best = rank
        elif operator._orders(">", rank, best) and rank > best:
            found[0] = x
            best = rank
    return found


# -- merging -----------------------------------------------------------------------------------------------------------------------------------


def merge(key, reverse, iterables):
    """Takes the best of the next values again and again; what is equal comes from the first iterable that has it."""
    its = _iterators(iterables)
    # Rank, number of the iterable, value. The numbers differ, so the values themselves are not compared.
    heads = _heads(its, key, reverse)
    if reverse:
        heapify_max(heads)
    else:
        heapify(heads)
    while len(heads) > 0:
        _, at, value = heads[0]
        yield value
        number = -at if reverse else at
        more, value = _advance(its, number, value)
        if more:
            head = (_rank(value, key), at, value)
            if reverse:
                heapreplace_max(heads, head)
            else:
                heapreplace(heads, head)
        elif reverse:
            heappop_max(heads)
        else:
            heappop(heads)


def _iterators(iterables):
    if len(iterables) == 0:
        return ()
    return (iter(iterables[0]),) + _iterators(iterables[1:])


def _rank(value, key):
    if key is None:
        return value
    return key(value)


def _heads(its, key, reverse):
    heads = []
    _add_heads(heads, its, 0, key, -1 if reverse else 1)
    return heads


def _add_heads(heads, its, number, key, direction):
    if len(its) > 0:
        for value in its[0]:
            heads.append((_rank(value, key), direction * number, value))
            break
        _add_heads(heads, its[1:], number + 1, key, direction)


def _advance(its, number, value):
    """The next value of an iterator: whether there is one, and it."""
    if len(its) > 1 and number > 0:
        return _advance(its[1:], number - 1, value)
    for v in its[0]:
        return True, v
    return False, value
