"""Stands in for `numba.core.cgutils`, which code generators for LLVM are written in: they can be imported, and are refused when they are run."""


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)

    def refused(*args, **kwargs):
        raise NotImplementedError(f"{name} writes code for LLVM, which Tierup does not run: write an overload, or LIR (tierup.extending.lir)")

    refused.__name__ = name
    return refused
