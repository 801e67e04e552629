"""What stands for a variable of a class or a module that compiled code assigns to: an object whose attributes are the
names in the dictionary that the variable lies in."""

import weakref

_OBJECTS = "_tierup_variables_"
# Classes inside of functions, which are made once for all calls.
LOCAL = weakref.WeakSet()


class Variables:
    """Derived for each variable: of the class that an object has it is known which of its names is assigned to."""


def _made(variables, owner, name, module):
    kind = type(name, (Variables,), {"__module__": module, "__qualname__": name, "_owner_": owner, "_variables_": variables})
    made = kind()
    made.__dict__ = variables
    return made


def of_class(cls, variables, name):
    """The object for a variable of a class with that dictionary. A ``ValueError`` says why there is none."""
    if type(cls).__setattr__ is not type.__setattr__:
        raise ValueError("its metaclass has a __setattr__ of its own")
    if name.startswith("__") and name.endswith("__"):
        raise ValueError("names with two underscores on both sides mean something to Python")
    if any(name in meta.__dict__ for meta in type(cls).__mro__):
        raise ValueError("its metaclass has something of that name")
    if cls in LOCAL:
        raise ValueError("the class is defined inside of a function")
    if name not in variables:
        raise ValueError(f"the class has no '{name}' of its own: give it one in its body")
    if hasattr(type(variables[name]), "__get__"):
        raise ValueError("a function or a descriptor has that name")
    if _OBJECTS not in variables:
        # Where they live as long as the class does, and no longer.
        type.__setattr__(cls, _OBJECTS, {})
    made = _made(variables, cls, cls.__qualname__, cls.__module__)
    return variables[_OBJECTS].setdefault(name, made)


def of_globals(variables, name):
    """The object for a variable of a module, by its dictionary."""
    module = str(variables.get("__name__", "a module"))
    return variables.setdefault(_OBJECTS, {}).setdefault(name, _made(variables, None, module, module))
