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


def cache(user_function):
    known = {}

    def remembers(*args):
        if args in known:
            return known[args]
        value = user_function(*args)
        known[args] = value
        return value

    return remembers


def lru_cached(user_function):
    return last_calls(user_function, 128)


def lru_cache(maxsize, typed):
    if maxsize is None:
        return lambda user_function: cache(user_function)
    return lambda user_function: last_calls(user_function, maxsize)


def last_calls(user_function, maxsize):
    known = collections.OrderedDict()

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
