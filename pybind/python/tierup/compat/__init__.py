"""Stands in for other packages: `install()` makes `import numba`, and every submodule of it that is known here, give Tierup's objects."""

import importlib.abc
import importlib.machinery
import sys
import types


#: What generators for LLVM import belongs to what they are extensions of.
_STANDS_FOR = "numba", "llvmlite"


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, fullname, path=None, target=None):
        if fullname.partition(".")[0] not in _STANDS_FOR:
            return None
        from . import numba
        if fullname not in numba.MODULES:
            raise ModuleNotFoundError(f"Tierup does not stand in for {fullname} yet", name=fullname)
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec):
        from . import numba
        return (_Called if spec.name in numba.CALLED else _Module)(spec.name)

    def exec_module(self, module):
        from . import numba
        module.__path__ = []
        table = numba.MODULES[module.__name__]
        if isinstance(table, str):
            # The module itself, so that what is set in it is set.
            itself = sys.modules[module.__name__] = importlib.import_module(table)
            # It finds no submodules of Numba's when they are asked for.
            for name in numba.MODULES:
                parent, _, leaf = name.rpartition(".")
                if parent == module.__name__ and not hasattr(itself, leaf):
                    setattr(itself, leaf, importlib.import_module(name))


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


class _Called(_Module):
    """A module that its package has something under the name of, which importing the module hides: it is called in the place of that."""

    def __call__(self, *args, **kwargs):
        from . import numba
        parent, _, name = self.__name__.rpartition(".")
        return numba.look_up(parent, name)(*args, **kwargs)


def install():
    """Makes `numba` mean Tierup in this process, Numba's environment variables included."""
    import tierup
    if any(isinstance(f, _Finder) for f in sys.meta_path):
        return
    if "numba" in sys.modules:
        raise ImportError("numba has been imported already; Tierup can only take its place before")
    from .numba import SETTINGS
    tierup.config.use_numba_names({name: list(value) if isinstance(value, list) else value for name, value in SETTINGS.items()})
    # What a subclass of arrays does otherwise means nothing to Numba's compiled code.
    tierup._tierup.take_array_subclasses()
    # Calls from compiled code are signatures of what is called.
    tierup._tierup.keep_called()
    sys.meta_path.insert(0, _Finder())
    from tierup import _jit
    _jit._starters.append(_load_extensions)


# Entry points that wait until their package is imported; None before they are looked for.
_waiting = None


def _load_extensions():
    """Calls what installed packages have as entry points of the group `numba_extensions`, before the first function is decorated; those of a package that
    is just being imported before the first one behind that. Whether any still waits."""
    global _waiting
    if _waiting is None:
        if not any(map(_has_extensions, sys.path)):
            return False
        from importlib.metadata import entry_points
        _waiting = [*entry_points(group="numba_extensions", name="init")]
    now = [p for p in _waiting if not _is_being_imported(p.module)]
    _waiting = [p for p in _waiting if p not in now]
    for point in now:
        try:
            point.load()()
        except Exception as e:
            import warnings

            from tierup.errors import NumbaWarning
            warnings.warn(f"Numba extension module '{point.module}' failed to load due to '{type(e).__name__}({e})'.", NumbaWarning, stacklevel=4)
    return bool(_waiting)


def _is_being_imported(name):
    """Whether a module, or a package that it is in, has been begun and not ended."""
    parts = name.split(".")
    found = (sys.modules.get(".".join(parts[: k + 1])) for k in range(len(parts)))
    return any(getattr(getattr(m, "__spec__", None), "_initializing", False) for m in found if m is not None)


def _has_extensions(folder):
    """Whether a package of a folder names any: few do, and what reads all of this properly takes long to load."""
    import os
    try:
        with os.scandir(folder or ".") as entries:
            found = [e.path for e in entries if e.name.endswith((".dist-info", ".egg-info"))]
    except OSError:
        return False
    for path in found:
        try:
            with open(os.path.join(path, "entry_points.txt"), encoding="utf-8") as f:
                if "[numba_extensions]" in f.read():
                    return True
        except OSError:
            pass
    return False
