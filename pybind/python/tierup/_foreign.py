"""Functions of C in compiled code: those of ctypes, of cffi, and what Cython modules export (`scipy.special.cython_special`).

Each becomes a Python function that calls its address, which it captures in an array: code in the cache then holds no address.
"""

import re
import sys

import numpy

from . import types
from ._calls import _identifier, made

# With two more, as many as CPython passes without making a tuple of them.
_MOST = 28

# What was made, by address and signature, with what keeps the address good.
_made = {}


def function_for(obj):
    """The Python function that compiled code calls in the place of `obj`; None where it is no function of C. Raises TypeError for one that cannot be called."""
    class_ = type(obj)
    if class_.__module__ == "tierup._python_calls":
        # `objmode` itself is none: its blocks are taken out where a function is decorated.
        return obj.stub() if hasattr(obj, "stub") else None
    if "_ctypes" in sys.modules and isinstance(obj, sys.modules["_ctypes"].CFuncPtr):
        return _of_ctypes(obj)
    if class_.__module__ == "_cffi_backend" and class_.__name__.lstrip("_").startswith("CData"):
        return _of_cffi(obj)
    if class_.__name__ == "builtin_function_or_method":
        import _cffi_backend as backend
        return _of_cffi(backend.FFI().addressof(obj.__self__, obj.__name__))
    if class_.__module__ in ("_cffi_backend", "cffi.api") and class_.__name__ == "FFI":
        return _with_members("ffi", obj, _Ffi)
    if class_.__module__ in ("_cffi_backend", "cffi.api") and (class_.__name__ == "Lib" or class_.__name__.startswith("FFILibrary")) or "ctypes" in sys.modules and isinstance(obj, sys.modules["ctypes"].CDLL):
        return _with_members("library", obj, _Library)
    if class_.__name__ in ("cython_function_or_method", "fused_cython_function"):
        return _of_cython(obj)
    return None


def _function(name, address, result, args, keeps, hidden=()):
    """`args` and `result` are texts: types, "pointer", or "none". `hidden` are constants passed behind the arguments: (type, value)."""
    if len(args) + len(hidden) > _MOST:
        raise TypeError(f"compiled code passes at most {_MOST} arguments to a C function, and {name} takes {len(args)}: write one that takes a pointer to them")
    signature = f"{result}({', '.join([*args, *(t for t, _ in hidden)])})"
    key = address, signature
    if key not in _made:
        names = ", ".join(f"x{k}" for k in range(len(args)))
        values = ", ".join([f"x{k}" for k in range(len(args))] + [str(v) for _, v in hidden])
        name = _identifier(name)
        call = f"np._c_call(address[0], {signature!r}{', ' if values else ''}{values})"
        source = f"def {name}({names}):\n    {'' if result == 'none' else 'return '}{call}"
        _made[key] = made(source, name, {"address": numpy.array([address], numpy.int64)}), keeps
    return _made[key][0]


def at_address(name, address, signature, keeps):
    """The function that calls a function of C of that signature, of types."""
    args, result = types.signatures(signature)[0]
    if result is None:
        raise TypeError(f"the signature of {name} says nothing of its result")
    if not int(address):
        raise ValueError(f"{name} gives the address 0, where no function is")

    def text(t):
        if isinstance(t, (types.RawPointer, types.CPointer)):
            return "pointer"
        if isinstance(t, types.Number):
            return types._text(t, strong=True)
        raise TypeError(f"compiled code cannot pass {t} to a C function: it passes numbers and pointers")

    return _function(name, int(address), "none" if result == types.none else text(result), [text(t) for t in args], keeps)


class _Library:
    """What a library of C functions has under its names."""

    def __init__(self, library):
        self.library = library

    def __getitem__(self, name):
        try:
            return getattr(self.library, name)
        except AttributeError:
            raise KeyError(name) from None


class _Ffi:
    """What compiled code finds under the names of an FFI object of cffi."""

    def __init__(self, ffi):
        self.ffi = ffi

    def __getitem__(self, name):
        from .lib import foreign
        return {"from_buffer": foreign.from_buffer, "NULL": None}[name]


def _with_members(name, obj, members):
    """A function that stands for an object whose members are what compiled code wants."""
    key = name, id(obj)
    if key not in _made:
        f = made(f"def {name}():\n    raise TypeError({type(obj).__name__ + ' object is not callable'!r})", name, {})
        f._tierup_attributes_ = members(obj)
        _made[key] = f, obj
    return _made[key][0]


# ---------------------------------------------------------------- ctypes


def _ctype_text(t):
    import ctypes
    if t is None:
        return "none"
    if t in (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_wchar_p) or isinstance(t, type) and issubclass(t, ctypes._CFuncPtr):
        return "pointer"
    if isinstance(t, type) and issubclass(t, ctypes._Pointer):
        to = t._type_
        return f"pointer({_ctype_text(to)})" if issubclass(to, ctypes._SimpleCData) and to not in (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_wchar_p, ctypes.py_object) else "pointer"
    if isinstance(t, type) and issubclass(t, ctypes._SimpleCData) and t is not ctypes.py_object:
        try:
            return types.from_dtype(numpy.dtype(t))._tierup_type_
        except TypeError:
            pass
    raise TypeError(f"compiled code cannot pass {getattr(t, '__name__', t)} to a C function: it passes numbers and pointers")


def _of_ctypes(f):
    import ctypes
    if f.argtypes is None:
        raise TypeError(f"ctypes function {getattr(f, '__name__', f)!r} doesn't define its argument types; consider setting the `argtypes` attribute")
    if getattr(f, "errcheck", None) is not None:
        raise TypeError(f"ctypes function {getattr(f, '__name__', f)!r} has an errcheck, which compiled code does not call")
    address = ctypes.cast(f, ctypes.c_void_p).value
    return _function(getattr(f, "__name__", "call"), address, _result(_ctype_text(f.restype)), [_ctype_text(t) for t in f.argtypes], f)


def _result(text):
    """Of a pointer that a function gives compiled code knows the address."""
    return "pointer" if text.startswith("pointer") else text


def from_ctypes(ctype):
    """The type of compiled code for one of ctypes; `None` is `void`. Raises TypeError where there is none."""
    import ctypes
    if ctype is None:
        return types.void
    if ctype is ctypes.c_void_p:
        return types.voidptr
    if isinstance(ctype, type) and issubclass(ctype, ctypes._Pointer):
        return types.CPointer(from_ctypes(ctype._type_))
    if isinstance(ctype, type) and issubclass(ctype, ctypes._SimpleCData):
        try:
            return types.from_dtype(numpy.dtype(ctype))
        except (TypeError, ValueError):
            pass
    raise TypeError(f"Unsupported ctypes type: {ctype}")


def to_ctypes(t):
    """The type of ctypes for one of compiled code; `void` is None. Raises TypeError where there is none."""
    import ctypes
    if t == types.void:
        return None
    if t == types.voidptr or isinstance(t, types.CPointer) and isinstance(t.dtype, types.Record):
        return ctypes.c_void_p
    if isinstance(t, types.CPointer):
        return ctypes.POINTER(to_ctypes(t.dtype))
    if isinstance(t, types.Number) and not isinstance(t, types.Complex):
        return numpy.ctypeslib.as_ctypes_type(types.as_dtype(t))
    raise TypeError(f"Cannot convert Numba type '{'...' if t == types.ellipsis else t}' to ctypes type")


def is_ctypes_funcptr(obj):
    """Whether an object is a function of ctypes."""
    import ctypes
    return isinstance(obj, ctypes._CFuncPtr)


def get_pointer(function):
    """Where a function of ctypes lies."""
    import ctypes
    return ctypes.cast(function, ctypes.c_void_p).value


# ---------------------------------------------------------------- cffi


# What `register_type` was told, by the text of the cffi type.
_registered = {}


def register_type(cffi_type, numba_type):
    """Has compiled code take memory of a cffi type, a structure of two doubles for one, for numbers: `register_type(ffi.typeof("struct complex"), types.complex128)`."""
    _registered[cffi_type.cname] = types.as_type(numba_type)


def register_module(module):
    """Numba wants modules that cffi has compiled to be registered; compiled code knows their functions anyway. Raises TypeError for what is no such module."""
    if not (hasattr(module, "ffi") and hasattr(module, "lib")):
        raise TypeError(f"expected a module that cffi has compiled, which has `ffi` and `lib`, not {module!r}")


def map_type(cffi_type, use_record_dtype=False):
    """The type of compiled code for a type of cffi; of a function its signature, which `cfunc` takes. Structures are records where `use_record_dtype` says so,
    and have no type otherwise, unless they are registered: TypeError."""
    if cffi_type.kind == "pointer" and cffi_type.item.kind == "function":
        cffi_type = cffi_type.item
    if cffi_type.kind == "function":
        return types.Signature(map_type(cffi_type.result, use_record_dtype), tuple(map_type(t, use_record_dtype) for t in cffi_type.args))
    if cffi_type.kind == "pointer":
        to = cffi_type.item
        known = to.kind in ("primitive", "enum") and to.cname != "char" or to.cname in _registered or to.kind == "struct" and use_record_dtype
        return types.CPointer(map_type(to, use_record_dtype)) if known else types.voidptr
    if cffi_type.cname in _registered:
        return _registered[cffi_type.cname]
    if use_record_dtype and cffi_type.kind == "struct":
        return types.from_dtype(_struct_dtype(cffi_type))
    text = _cffi_text(cffi_type)
    return types.void if text == "none" else types.from_text(text)


def _struct_dtype(t):
    """The structure of NumPy that lies in memory as one of cffi does."""
    import _cffi_backend as backend
    names, formats, offsets = [], [], []
    for name, field in t.fields:
        if field.bitshift != -1:
            raise ValueError(f"field {name!r} has bitshift, this is not supported")
        if field.flags != 0:
            raise ValueError(f"field {name!r} has flags, this is not supported")
        names.append(name)
        formats.append(_field_dtype(field.type))
        offsets.append(field.offset)
    return numpy.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": backend.sizeof(t)}, align=False)


def _field_dtype(t):
    if t.kind == "array":
        return numpy.dtype((_field_dtype(t.item), (t.length,)))
    if t.kind == "struct" and t.cname not in _registered:
        return _struct_dtype(t)
    if t.kind == "pointer":
        return numpy.dtype(numpy.uintp)
    return types.as_dtype(map_type(t))


def _cffi_text(t):
    if t.kind == "void":
        return "none"
    if t.cname in _registered and t.kind not in ("struct", "union"):
        return _registered[t.cname]._tierup_type_
    if t.kind in ("pointer", "array"):
        to = t.item
        if to.cname in _registered:
            return f"pointer({types._STRONG.get(_registered[to.cname]._tierup_type_, _registered[to.cname]._tierup_type_)})"
        complexes = {"_cffi_double_complex_t": "complex128", "_cffi_float_complex_t": "complex64"}
        if to.cname in complexes:
            return f"pointer({complexes[to.cname]})"
        return f"pointer({_cffi_text(to)})" if to.kind in ("primitive", "enum") and to.cname not in ("char", "wchar_t", "char16_t", "char32_t", "long double") else "pointer"
    if t.kind == "function":
        return "pointer"
    name = t.cname
    if t.kind == "enum":
        return "int32"
    if t.kind == "primitive" and "complex" not in name.lower() and name != "long double":
        if name in ("float", "double"):
            return {"float": "float32", "double": "float64"}[name]
        if name in ("bool", "_Bool"):
            return "bool"
        import _cffi_backend as backend
        signed = int(backend.cast(t, -1)) < 0
        return f"{'' if signed else 'u'}int{8 * backend.sizeof(t)}"
    raise TypeError(f"compiled code cannot pass {name} to a C function: it passes numbers and pointers")


def _of_cffi(f):
    import _cffi_backend as backend
    t = backend.typeof(f)
    if t.kind == "pointer" and t.item.kind == "function":
        t = t.item
    if t.kind != "function":
        return None
    if t.ellipsis:
        raise TypeError(f"{f} takes any number of arguments, which compiled code cannot pass")
    address = int(backend.cast(backend.new_primitive_type("uintptr_t"), f))
    return _function("call", address, _result(_cffi_text(t.result)), [_cffi_text(a) for a in t.args], f)


# ---------------------------------------------------------------- Cython

_CYTHON = {"double": "float64", "float": "float32", "int": "int32", "long": "int64", "void": "none"}


def capsule(module, name):
    """Address and C signature of a function that a Cython module exports."""
    import ctypes
    api = ctypes.pythonapi
    get_name = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.py_object)(("PyCapsule_GetName", api))
    get_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_GetPointer", api))
    exported = module.__pyx_capi__[name]
    text = get_name(exported)
    return get_pointer(exported, text), text.decode()


def _of_cython(f):
    module = sys.modules.get(getattr(f, "__module__", None) or "")
    exported = getattr(module, "__pyx_capi__", {})
    name = f.__name__
    candidates = [n for n in exported if n == name or re.fullmatch(rf"__pyx_fuse(_\d+)+{re.escape(name)}", n)]
    if not candidates:
        return None
    found = []
    for candidate in candidates:
        address, text = capsule(module, candidate)
        ret, inside = re.fullmatch(r"(.*?)\s*\((.*)\)", text).groups()
        args, hidden = [a.strip() for a in inside.split(",")], ()
        if args and args[-1].endswith("__pyx_skip_dispatch"):
            args, hidden = args[:-1], (("int32", 0),)
        if ret in _CYTHON and all(a in _CYTHON for a in args):
            found.append((address, _CYTHON[ret], [_CYTHON[a] for a in args], hidden))
    # Of several, the one of doubles.
    found.sort(key=lambda c: sum(a != "float64" for a in c[2]) + (c[1] != "float64"))
    if not found:
        raise TypeError(f"{name} of {getattr(module, '__name__', '?')} exports no C function of numbers that compiled code can call")
    address, ret, args, hidden = found[0]
    return _function(name, address, ret, args, module, hidden)
