"""What dicts and sets do without a key that is None, asked for one that may be."""


def get(d, key, default):
    if key is None:
        return default
    return d.get(key, default)


def contains(d, key):
    if key is None:
        return False
    return key in d


def item(d, key):
    if key is None:
        raise KeyError(None)
    return d[key]


def count(d, key):
    if key is None:
        return 0
    return d[key]


def delete(d, key):
    if key is None:
        raise KeyError(None)
    del d[key]


def pop(d, key, default):
    if key is None:
        if default is ...:
            raise KeyError(None)
        return default
    if default is ...:
        return d.pop(key)
    return d.pop(key, default)


def discard(s, x):
    if x is not None:
        s.discard(x)


def remove(s, x):
    if x is None:
        raise KeyError(None)
    s.remove(x)
