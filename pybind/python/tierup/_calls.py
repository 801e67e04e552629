"""Functions that stand in compiled code for ufuncs, and for what else is called there in another form than in Python.

Each is ordinary Python in a file of the library, so that what goes wrong in one goes wrong in the user's line.
"""

import builtins
import os

import numpy

from . import _tierup, types

_PATH = os.path.join(os.path.dirname(__file__), "lib", "<made>")


def made(source, name, space):
    """The function `name` of a text, as a library function; `space` is what it captures."""
    names = list(space)
    body = "".join(f"    {line}\n" for line in source.splitlines())
    text = f"def make({', '.join(names)}):\n{body}    return {name}\n"
    from .lib import elementwise
    module = {"np": numpy, "elementwise": elementwise, "__name__": "tierup.lib.made", "__builtins__": builtins}
    exec(compile(text, _PATH, "exec"), module)
    return module["make"](*space.values())


def library_function(source, name, space, engine):
    """A dispatcher for a function made of a text."""
    return _tierup.make_dispatcher(made(source, name, space), False, engine)


def compiled_ufunc(b):
    raise NotImplementedError


def compiled_gufunc(b):
    raise NotImplementedError
