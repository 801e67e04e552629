"""What functions make of functions: of `functools` and `operator`."""

import collections
import operator

# Integers in these functions are the caller's: where overflow is checked, it is checked here too.
_origin = "checked"


def partial(func, args):
    return lambda *rest: func(*args, *rest)


def call(obj, args):
    return obj(*args)


def methodcaller(name, args):
    call = operator._method_named(name)
    return lambda x: call(x, *args)


def length_hint(obj, default):
    if hasattr(obj, "__len__"):
        return len(obj)
    return default


def memory(maxsize):
    """What remembers results: all, or so many."""
    if maxsize is None:
        return {}
    return collections.OrderedDict()


def remembering(user_function, known, maxsize):
    if maxsize is None:
        return _all_calls(user_function, known)
    return _last_calls(user_function, known, maxsize)


def _all_calls(user_function, known):
    def remembers(*args):
        if args in known:
            return known[args]
        value = user_function(*args)
        known[args] = value
        return value

    return remembers


def _last_calls(user_function, known, maxsize):
    def remembers(*args):
        if args in known:
            known.move_to_end(args)
            return known[args]
        value = user_function(*args)
        known[args] = value
        if len(known) > maxsize:
            known.popitem(last=False)
        return value

    return remembers


def cache(user_function):
    return remembering(user_function, memory(None), None)


def lru_cached(user_function):
    return remembering(user_function, memory(128), 128)


def lru_cache(maxsize, typed):
    if maxsize is None:
        return lambda user_function: cache(user_function)
    return lambda user_function: remembering(user_function, memory(maxsize), maxsize)


class Key:
    """What ``functools.cmp_to_key`` makes of a value."""

    __hash__ = None

    def __init__(self, mycmp, obj):
        self.mycmp = mycmp
        self.obj = obj

    def __lt__(self, other):
        return self.mycmp(self.obj, other.obj) < 0

    def __gt__(self, other):
        return self.mycmp(self.obj, other.obj) > 0

    def __eq__(self, other):
        return self.mycmp(self.obj, other.obj) == 0

    def __le__(self, other):
        return self.mycmp(self.obj, other.obj) <= 0

    def __ge__(self, other):
        return self.mycmp(self.obj, other.obj) >= 0


def cmp_to_key(mycmp):
    return lambda obj: Key(mycmp, obj)
