"""Stands in for other packages: `install()` makes `import numba`, and every submodule of it that is known here, give Tierup's objects."""

import importlib.abc
import importlib.machinery
import sys
import types


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, fullname, path=None, target=None):
        if fullname != "numba" and not fullname.startswith("numba."):
            return None
        from . import numba
        if fullname not in numba.MODULES:
            raise ModuleNotFoundError(f"Tierup does not stand in for {fullname} yet", name=fullname)
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec):
        return _Module(spec.name)

    def exec_module(self, module):
        from . import numba
        module.__path__ = []
        if isinstance(numba.MODULES[module.__name__], str):
            # The module itself, so that what is set in it is set.
            sys.modules[module.__name__] = importlib.import_module(numba.MODULES[module.__name__])


class _Module(types.ModuleType):
    """One module of Numba's tree; its names are looked up when they are asked for."""

    def __getattr__(self, name):
        from . import numba
        value = numba.look_up(self.__name__, name)
        self.__dict__[name] = value
        return value

    def __dir__(self):
        from . import numba
        return sorted({*self.__dict__, *numba.names(self.__name__)})


def install():
    """Makes `numba` mean Tierup in this process, Numba's environment variables included."""
    import tierup
    if any(isinstance(f, _Finder) for f in sys.meta_path):
        return
    if "numba" in sys.modules:
        raise ImportError("numba has been imported already; Tierup can only take its place before")
    from .numba import SETTINGS
    tierup.config.use_numba_names({name: list(value) if isinstance(value, list) else value for name, value in SETTINGS.items()})
    sys.meta_path.insert(0, _Finder())
