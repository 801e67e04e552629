"""Decorators by their names in the stand-in for Numba: numbers in what they decorate mean what they mean to Numba, unless `meaning=` says something else."""

import tierup
from tierup import _jit

_MEANING = {"meaning": "numba"}


def njit(signature_or_function=None, /, locals=None, **options):
    return tierup.njit(signature_or_function, locals=locals, **_MEANING | options)


def jit(signature_or_function=None, /, locals=None, **options):
    """As in Numba: `njit`, unless object mode is asked for."""
    if options.get("nopython") is False:
        _jit._no_longer("jit: Numba compiles or raises, Tierup lets Python run what does not compile")
    if options.get("forceobj") or options.get("nopython") is False:
        # Integers wrap there as well.
        return tierup.jit(signature_or_function, locals=locals, **_MEANING | {"overflow": "wrap"} | options)
    options.pop("nopython", None)
    return njit(signature_or_function, locals=locals, **options)


jit.__pandas_udf__ = njit.__pandas_udf__ = tierup.njit.__pandas_udf__


def vectorize(*given, **options):
    return tierup.vectorize(*given, **_MEANING | options)


def guvectorize(*given, **options):
    return tierup.guvectorize(*given, **_MEANING | options)


def stencil(*given, **options):
    return tierup.stencil(*given, **_MEANING | options)


def cfunc(signature, locals=None, cache=False, **options):
    return tierup.cfunc(signature, locals=locals, cache=cache, **_MEANING | options)


def jit_module(**options):
    import sys

    from tierup.extending import decorate_module
    decorate_module(sys._getframe(1).f_globals, jit, options)


def jitclass(cls_or_spec=None, spec=None):
    from tierup import experimental
    return experimental.decorated(cls_or_spec, spec, njit)
