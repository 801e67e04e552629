"""Containers that live in native memory: compiled code takes them as they are, and what either side changes the other sees."""

from collections.abc import ItemsView, KeysView, MutableMapping, MutableSequence, MutableSet, ValuesView

from ._tierup import Dict, List, Set

__all__ = ["Dict", "List", "Set"]

MutableSequence.register(List)
MutableMapping.register(Dict)
MutableSet.register(Set)


class _View:
    """What going through a view of a dict gives, and its text."""

    __slots__ = ()

    def __iter__(self):
        return self._mapping._entries(*self._gives, False)

    def __reversed__(self):
        return self._mapping._entries(*self._gives, True)

    def __repr__(self):
        return f"dict_{type(self).__name__[1:].lower()}([{', '.join(map(repr, self))}])"


class _Keys(_View, KeysView):
    __slots__ = ()
    _gives = True, False


class _Values(_View, ValuesView):
    __slots__ = ()
    _gives = False, True

    def __contains__(self, value):
        return any(v is value or v == value for v in self)


class _Items(_View, ItemsView):
    __slots__ = ()
    _gives = True, True


def _new_dict(key, value, n_keys=0):
    """Numba's name for `Dict.empty`, where compiled code uses it."""
    return Dict.empty(key, value, n_keys)


def _new_set(key, n_keys=0):
    """Numba's name for `Set.empty`, where compiled code uses it."""
    return Set.empty(key, n_keys)


def _list(cls, text, items):
    """A list out of a pickle: elements of the type `text`, or of none."""
    from . import types
    new = cls.__new__(cls)
    if text is None:
        List.__init__(new)
    else:
        List.__init__(new, lsttype=types.List(types.from_text(text)))
        new.extend(items)
    return new


def _dict(cls, text, items):
    """A dict out of a pickle: entries of the types in `text`, or of none."""
    from . import types
    new = cls.__new__(cls)
    if text is None:
        Dict.__init__(new)
    else:
        Dict.__init__(new, dcttype=types.from_text(text))
        new.update(items)
    return new


def _set(cls, text, items):
    """A set out of a pickle: elements of the type `text`, or of none."""
    from . import types
    new = cls.__new__(cls)
    if text is None:
        Set.__init__(new)
    else:
        Set.__init__(new, settype=types.from_text(text))
        new.update(items)
    return new
