"""`cfunc`: compiled functions that C calls; and `carray`, `farray`, arrays over memory that C hands over."""

import itertools
from functools import cached_property

from . import _tierup, config, types
from ._calls import _identifier, made
from ._foreign import to_ctypes
from ._jit import _OPTIONS, _check_options, _make, declare

_numbers = itertools.count()


class CFunc:
    """A C callback: `address`, `ctypes` and `cffi` are what C takes; called from Python it is the Python function."""

    # The compiler looks at the class before it asks an object for its function.
    _tierup_function_ = None

    def __init__(self, function, args, ret, options, locals=None):
        self.py_func = self.__wrapped__ = function
        for name in ("__module__", "__name__", "__qualname__", "__doc__"):
            setattr(self, name, getattr(function, name))
        self._args, self._ret, self._options, self._locals, self._not_for_c = args, ret, options, locals, _not_for_c(args, ret)
        self._sig = types.Signature(ret, args)
        self._check()
        chosen = {k: v for k, v in options.items() if k in _OPTIONS}
        if ret == types.void:
            # Whatever it gives is dropped.
            names = ", ".join(function.__code__.co_varnames[:len(args)])
            function = made(f"def {_identifier(self.__name__)}({names}):\n    function({names})", _identifier(self.__name__), {"function": _make(function, None, chosen, False, locals)})
            locals = None
        self._tierup_function_ = self._dispatcher = _make(function, None, chosen, False, locals)
        # C converts nothing that would lose a number, and compiled code does not either where it calls what is made for C.
        _tierup.set_careful(self._dispatcher)
        declare(self._dispatcher, [([t._tierup_type_ for t in args], ret._tierup_type_)], False)
        if self._not_for_c is None:
            self.address = _tierup.callback_address(self._dispatcher)
        self.native_name = f"tierup.cfunc.{self.__qualname__}.{next(_numbers)}"
        self.cache_hits = 0

    def _check(self):
        """The function must take what the signature gives."""
        code = self.py_func.__code__
        if code.co_flags & 0x0C or code.co_kwonlyargcount or code.co_argcount != len(self._args):
            raise TypeError(f"the signature {self._sig} gives {len(self._args)} arguments, and {self.__qualname__}() must take exactly these, by position")

    def __getattr__(self, name):
        if name == "address":
            raise TypeError(self._not_for_c)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @property
    def _wrapper_address(self):
        # Programs that hand addresses of C functions around have it under this name of Numba's.
        return self.address

    @property
    def _pyfunc(self):
        return self.py_func

    @cached_property
    def ctypes(self):
        """As a function of ctypes."""
        import ctypes
        address = self.address
        return ctypes.CFUNCTYPE(to_ctypes(self._ret), *map(to_ctypes, self._args))(address)

    @cached_property
    def cffi(self):
        """As a pointer of cffi, of type `void *`."""
        import cffi
        return cffi.FFI().cast("void *", self.address)

    def inspect_llvm(self):
        """LLVM's IR of the function."""
        return self._dispatcher.inspect("llvm")

    def inspect(self, level="typed"):
        return self._dispatcher.inspect(level)

    def header(self):
        """A C header as text: a type for pointers to the function, and a `struct` for each type of records that it reads by name. ValueError for records that C has no form for."""
        from ._header import of_function
        return of_function(self)

    def __call__(self, *args, **kwargs):
        return self.py_func(*args, **kwargs)

    def __reduce__(self):
        from ._pickle import reduce_cfunc
        return reduce_cfunc(self)

    def __repr__(self):
        return f"<tierup C callback {self.__qualname__!r}>"


class _PlainCFunc(CFunc):
    """The same where nothing is compiled: ctypes calls Python."""

    def __init__(self, function, args, ret, options, locals=None):
        self.py_func = self.__wrapped__ = function
        for name in ("__module__", "__name__", "__qualname__", "__doc__"):
            setattr(self, name, getattr(function, name))
        self._args, self._ret, self._options, self._locals = args, ret, options, locals
        self._sig = types.Signature(ret, args)
        self._check()
        import ctypes

        def called(*given):
            # ctypes hands over what is behind `void *` as a number.
            found = function(*(ctypes.c_void_p(x) if isinstance(t, types.RawPointer) else x for t, x in zip(args, given)))
            return None if ret == types.void else getattr(found, "item", lambda: found)()

        self._called = ctypes.CFUNCTYPE(to_ctypes(ret), *map(to_ctypes, args))(called)
        self.address = ctypes.cast(self._called, ctypes.c_void_p).value
        self.native_name = f"tierup.cfunc.{self.__qualname__}.{next(_numbers)}"
        self.cache_hits = 0

    def inspect_llvm(self):
        return ""

    def inspect(self, level="typed"):
        return ""


def cfunc(sig, locals=None, cache=False, pipeline_class=None, **options):
    """Makes a function that C calls: `@cfunc("float64(float64, voidptr)")`. The signature is compiled at once.

    Arguments are numbers and pointers (`types.CPointer(types.float64)`, `types.voidptr`; see `carray`), the result is a number or nothing. An exception has nobody to go to: it is
    shown on standard error, and C gets 0. Raises TypeError for other signatures.
    """
    _check_options("cfunc", options)
    known = types.signatures(sig)
    if len(known) != 1:
        raise TypeError("cfunc takes one signature, as in @cfunc('float64(float64)')")
    args, ret = known[0]
    if ret is None:
        raise TypeError("C callback needs an explicit return type")
    not_for_c = _not_for_c(args, ret)
    # Numba's programs pass such functions to compiled code, which may call them.
    if not_for_c is not None and (options.get("meaning") != "numba" or any(map(types.holds_function, (*args, ret)))):
        raise TypeError(not_for_c)

    def decorated(function):
        made = _PlainCFunc if config.tier == "off" else CFunc
        return made(getattr(function, "py_func", function), args, ret, options, locals)
    return decorated


def _not_for_c(args, ret):
    """Why C cannot call a function of these types."""
    for t in args:
        if not isinstance(t, (types.Number, types.CPointer, types.RawPointer)) or isinstance(t, types.Complex):
            return f"a C callback takes numbers and pointers, not {t}: pass a pointer to it, types.CPointer(...)"
    if ret != types.void and (not isinstance(ret, types.Number) or isinstance(ret, types.Complex)):
        return f"a C callback gives a number or nothing, not {ret}: write through a pointer that is passed"
    return None


class _MemoryView:
    """`carray` or `farray`: in compiled code a function of the library."""

    _tierup_function_ = None

    def __init__(self, name, order, text):
        self.__name__ = self.__qualname__ = name
        self.__doc__, self._order = text, order

    @property
    def __signature__(self):
        import inspect
        return inspect.signature(lambda ptr, shape, dtype=None: None)

    def __call__(self, ptr, shape, dtype=None):
        import ctypes

        import numpy
        shape = (shape,) if isinstance(shape, int) else tuple(shape)
        if isinstance(ptr, ctypes.c_void_p):
            if dtype is None:
                raise TypeError("explicit dtype required for void* argument")
            address = ptr.value
        elif isinstance(ptr, ctypes._Pointer):
            own = numpy.dtype(ptr._type_)
            if dtype is not None and types.as_dtype(types.as_type(dtype)) != own:
                raise TypeError(f"mismatching dtype '{types.as_dtype(types.as_type(dtype))}' for pointer {ptr!r}")
            address, dtype = ctypes.cast(ptr, ctypes.c_void_p).value, own
        else:
            raise TypeError(f"expected a ctypes pointer, got {ptr!r}")
        dtype = types.as_dtype(types.as_type(dtype))
        memory = (ctypes.c_byte * (dtype.itemsize * int(numpy.prod(shape, dtype=numpy.int64)))).from_address(address)
        return numpy.ndarray(shape, dtype, memory, order=self._order)

    def __reduce__(self):
        return self.__name__


def _views():
    from .lib import foreign
    a = _MemoryView("carray", "C", "An array over the memory behind a pointer, its last index the fastest. `dtype` is needed for `void *`. Raises TypeError for what is no pointer.")
    b = _MemoryView("farray", "F", "An array over the memory behind a pointer, its first index the fastest. `dtype` is needed for `void *`. Raises TypeError for what is no pointer.")
    a._tierup_function_, b._tierup_function_ = foreign.carray, foreign.farray
    return a, b


carray, farray = _views()
