"""Tells `threadpoolctl` of the threads of parallel loops, so that who limits the threads of a process (scikit-learn, joblib, Dask) limits these too."""

import sys


def _register(module):
    if not hasattr(module, "register"):
        return
    from . import _tierup

    class Controller(module.LibController):
        """As with OpenMP, a limit holds for the thread that sets it."""

        user_api = internal_api = "tierup"
        filename_prefixes = ("_tierup",)

        def get_num_threads(self):
            return _tierup.get_num_threads()

        def set_num_threads(self, num_threads):
            from . import config
            _tierup.set_num_threads(max(1, min(num_threads, config.num_threads)))

        def get_version(self):
            from . import __version__
            return __version__

    module.register(Controller)


class _Waiting:
    """Among the finders of modules until somebody imports `threadpoolctl`."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name != "threadpoolctl":
            return None
        import importlib.util
        sys.meta_path.remove(_Waiting)
        spec = importlib.util.find_spec(name)
        if spec is not None and hasattr(spec.loader, "exec_module"):
            run = spec.loader.exec_module

            def exec_module(module):
                run(module)
                _register(module)

            spec.loader.exec_module = exec_module
        return spec


def tell():
    """Once a function has loops that may be parallel."""
    known = sys.modules.get("threadpoolctl")
    if known is not None:
        _register(known)
    else:
        sys.meta_path.insert(0, _Waiting)
