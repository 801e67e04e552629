"""Numba's builders of ufuncs: signatures are added one by one before the ufunc is there."""

from ._ufunc import guvectorize, vectorize


class _Builder:
    """Gathers signatures; `make` takes them and gives the ufunc."""

    def __init__(self, make):
        self._make, self._signatures, self._may_compile = make, [], True

    def add(self, sig):
        self._signatures.append(sig)

    def disable_compile(self):
        """The ufunc takes only types that are compiled when it is built."""
        self._may_compile = False

    def build_ufunc(self):
        ufunc = self._make(self._signatures)
        if not self._may_compile:
            ufunc.disable_compile()
        return ufunc


# What Numba calls identities of ufuncs.
PyUFunc_None, PyUFunc_Zero, PyUFunc_One, PyUFunc_ReorderableNone = None, 0, 1, "reorderable"


class Vectorize(_Builder):
    """`Vectorize(function)`, `add(signature)` for each loop, `build_ufunc()`: what `vectorize(signatures)(function)` gives."""

    def __init__(self, func, target="cpu", identity=None, cache=False, targetoptions=None):
        super().__init__(lambda signatures: vectorize(signatures, target=target, identity=identity, cache=cache, **(targetoptions or {}))(func))


class GUVectorize(_Builder):
    """`GUVectorize(kernel, layout)`, `add(signature)` for each loop, `build_ufunc()`: what `guvectorize(signatures, layout)(kernel)` gives.

    With `is_dynamic` it is the gufunc already, which has these methods too.
    """

    def __new__(cls, func, signature, target="cpu", identity=None, cache=False, is_dynamic=False, targetoptions=None, writable_args=()):
        if is_dynamic:
            options = {"target": target, "identity": identity, "cache": cache, "writable_args": writable_args, **(targetoptions or {})}
            return guvectorize(signature, is_dynamic=True, **options)(func)
        return super().__new__(cls)

    def __init__(self, func, signature, target="cpu", identity=None, cache=False, is_dynamic=False, targetoptions=None, writable_args=()):
        options = {"target": target, "identity": identity, "cache": cache, "writable_args": writable_args, **(targetoptions or {})}
        super().__init__(lambda signatures: guvectorize(signatures, signature, is_dynamic=is_dynamic, **options)(func))


class GUFuncBuilder(_Builder):
    """`GUFuncBuilder(kernel, layout)`: as `GUVectorize`, and `add` compiles the loop at once, so that what is wrong with it is said there."""

    def __init__(self, py_func, signature, identity=None, cache=False, targetoptions=None, writable_args=()):
        options = {"identity": identity, "cache": cache, "writable_args": writable_args, **(targetoptions or {})}
        self._loops = guvectorize(signature, is_dynamic=True, **options)(py_func)
        super().__init__(lambda signatures: guvectorize(signatures, signature, **options)(py_func))

    def add(self, sig):
        loop = self._loops.add(sig)
        super().add(sig)
        return loop
