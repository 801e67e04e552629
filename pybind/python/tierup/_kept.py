"""What was found out about a class and is kept in its dictionary, where it lives as long as the class does. A class that is pickled by value goes without it."""


def _nothing():
    return None


class Kept(tuple):
    __slots__ = ()

    def __reduce__(self):
        return _nothing, ()


class KeptNames(dict):
    __slots__ = ()

    def __reduce__(self):
        return _nothing, ()
