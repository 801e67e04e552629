"""Stands in for the part of `llvmlite.binding` that names functions of C."""

from . import CannotCarry
from .calls import _symbols


def add_symbol(name, address):
    """Says where a function of C is that generated code calls by its name."""
    _symbols[name] = int(address)


def address_of_symbol(name):
    from .calls import address_of
    try:
        return address_of(name)
    except CannotCarry:
        return None


def load_library_permanently(filename):
    """Loads a library, whose functions generated code then calls by their names."""
    import ctypes
    try:
        ctypes.CDLL(filename, mode=ctypes.RTLD_GLOBAL)
    except OSError as e:
        raise RuntimeError(str(e)) from None


def initialize():
    """There is nothing to do."""


initialize_native_target = initialize_native_asmprinter = initialize


def get_host_cpu_name():
    """What programs that tell cached code apart ask for: Tierup does so itself, and tells nobody a name."""
    return "generic"


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(f"Tierup does not stand in for llvmlite.binding.{name}: there is no LLVM behind it")
