"""Signatures, and what is known of code that was compiled for one."""

from . import _tierup
from ._type_texts import from_text


class Signature:
    """Argument types and the result type, which may be None for "whatever it gives"."""

    #: The parameters that the arguments are for, and what a method is of, where that is said.
    pysig = recvr = None

    def __init__(self, return_type, args):
        self.return_type, self.args = return_type, tuple(args)

    def replace(self, **changed):
        """The same signature with other parts: `return_type`, `args`, `pysig`, `recvr`."""
        made = Signature(changed.get("return_type", self.return_type), changed.get("args", self.args))
        made.pysig, made.recvr = changed.get("pysig", self.pysig), changed.get("recvr", self.recvr)
        return made

    def as_type(self):
        """The type of functions of this signature."""
        from .types import FunctionType
        return FunctionType(self)

    def __repr__(self):
        return f"({', '.join(map(repr, self.args))}) -> {self.return_type}"

    def __eq__(self, other):
        return isinstance(other, Signature) and (self.return_type, self.args) == (other.return_type, other.args)

    def __hash__(self):
        return hash((self.return_type, self.args))

    def __iter__(self):
        return iter((self.return_type, self.args))


class Overload:
    """What is known of one compiled combination of argument types."""

    def __init__(self, dispatcher, index, args, ret, why):
        self._dispatcher, self._index = dispatcher, index
        self.signature = Signature(from_text(ret), [from_text(t) for t in args])
        self.fallback_reason = why

    @property
    def objectmode(self):
        """Whether Python runs it."""
        return self.fallback_reason is not None

    @property
    def lifted(self):
        """The functions of the loops that were compiled, where Python runs it."""
        from ._lifting import loops_of
        loops = loops_of(_tierup.in_python(self._dispatcher)) if self.objectmode else []
        return tuple(loop.dispatcher for loop in loops if any(why is None for _, _, why in _tierup.overloads(loop.dispatcher)))

    @property
    def entry_point(self):
        """What can be called with such arguments: the function, which chooses by what it is given."""
        return self._dispatcher.__call__

    @property
    def compile_times(self):
        """Seconds by phase."""
        found = _tierup.compile_times(self._dispatcher, self._index)
        return dict(zip(("infer", "lower", "optimise", "backend"), found[0])) if found else {}

    @property
    def code_size(self):
        found = _tierup.compile_times(self._dispatcher, self._index)
        return found[1] if found else 0

    def inspect(self, level="typed"):
        return _tierup.inspect(self._dispatcher, self._index, level)

    def __repr__(self):
        return f"<overload {self.signature}{'' if self.fallback_reason is None else ', plain Python'}>"


def signature(return_type, *args):
    """The signature of functions that take arguments of these types and give `return_type`: `signature(types.float64, types.int64)`."""
    return Signature(return_type, args)
