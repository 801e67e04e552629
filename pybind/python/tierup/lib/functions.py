"""What functions make of functions: of `functools` and `operator`."""

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
