"""What dicts and sets do with a key that may be None, where it is not of the type of their keys."""

import operator


def get(d, key, default):
    if key is None:
        return d.get(None, default) if operator._may_be_key(d, None) else default
    return d.get(key, default)


def contains(d, key):
    if key is None:
        return None in d if operator._may_be_key(d, None) else False
    return key in d


def item(d, key):
    if key is None:
        if operator._may_be_key(d, None):
            return d[None]
        raise KeyError(None)
    return d[key]


def count(d, key):
    if key is None:
        return d[None] if operator._may_be_key(d, None) else 0
    return d[key]


def delete(d, key):
    if key is None:
        if not operator._may_be_key(d, None):
            raise KeyError(None)
        del d[None]
    else:
        del d[key]


def pop(d, key, default):
    if key is None:
        if operator._may_be_key(d, None):
            return d.pop(None, default) if default is not ... else d.pop(None)
        if default is ...:
            raise KeyError(None)
        return default
    if default is ...:
        return d.pop(key)
    return d.pop(key, default)


def discard(s, x):
    if x is not None:
        s.discard(x)
    elif operator._may_be_key(s, None):
        s.discard(None)


def remove(s, x):
    if x is None:
        if not operator._may_be_key(s, None):
            raise KeyError(None)
        s.remove(None)
    else:
        s.remove(x)
