"""The API reference, made of docstrings: `text()` is the generated part of `docs/reference/api.md`, `undocumented()` names what says nothing of itself.

Tierup is imported for this, from the tree. Public are the names of `__all__` of each module, or those without an underscore.
"""

import functools
import importlib
import inspect
import re
import sys
import types
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "pybind/python"
MODULES = ("tierup", "tierup.types", "tierup.typed", "tierup.par", "tierup.simd", "tierup.rules", "tierup.extending", "tierup.experimental", "tierup.experimental.structref", "tierup.errors",
           "tierup.testing", "tierup.cuda")


def modules():
    if str(PACKAGE) not in sys.path:
        sys.path.insert(0, str(PACKAGE))
    return [importlib.import_module(name) for name in MODULES]


def public(module):
    """(name, object) of what a module has for others."""
    names = getattr(module, "__all__", None)
    if names is None:
        names = [n for n, v in vars(module).items() if not n.startswith("_") and getattr(v, "__module__", module.__name__).startswith("tierup") and not inspect.ismodule(v)]
    return [(n, getattr(module, n)) for n in sorted(names, key=str.lower)]


def said(value):
    """What an object says of itself: its docstring, not one that it has from a class that says it of all."""
    if inspect.ismodule(value) or inspect.isroutine(value):
        return value.__doc__
    if isinstance(value, type):
        return value.__dict__.get("__doc__") or next((c.__dict__["__doc__"] for c in value.__mro__[1:-1] if c.__module__.startswith("tierup") and c.__dict__.get("__doc__")), None)
    own = getattr(value, "__doc__", None)
    if isinstance(own, str) and own != type(value).__doc__:
        return own
    return _of_instance(value)


def _of_instance(value):
    """The same for values that have no docstring."""
    from tierup import types as kinds
    if isinstance(value, kinds.Type):
        return f"The type `{value}`." + (f" NumPy's dtype `{kinds.as_dtype(value)}`." if isinstance(value, kinds.Number) else "")
    if isinstance(value, (frozenset, set)):
        return f"The types {', '.join(sorted(f'`{t}`' for t in value))}."
    if type(value).__module__.startswith("tierup") and type(value).__doc__:
        return type(value).__doc__
    return None


def _first(text):
    """The first paragraphs in one line, up to what is indented."""
    lines = []
    for line in inspect.cleandoc(text).splitlines():
        if line.startswith("    "):
            break
        lines.append(line.strip())
    found = " ".join(filter(None, lines)).rstrip(":")
    # Outside of code, what would be a link or markup is text.
    parts = re.split(r"(`[^`]+`)", found)
    parts[::2] = [re.sub(r"([\[\]<*])", r"\\\1", part) for part in parts[::2]]
    return "".join(parts).replace("|", "\\|")


def _call(name, value):
    if isinstance(value, type) or not callable(value):
        return name
    try:
        given = str(inspect.signature(value))
    except (TypeError, ValueError):
        return name
    return name + re.sub(r"<(?:function|class|object) [^>]*>", "...", given).replace("'", '"')


def _source(value):
    """A link to the file, where Python code of this package defines it."""
    try:
        path = Path(inspect.getsourcefile(inspect.unwrap(value))).resolve()
        path = path.relative_to(PACKAGE.resolve())
    except (TypeError, ValueError):
        return ""
    return f"[`{path.relative_to('tierup')}`](../../pybind/python/{path})"


def members(value):
    """(name, object) of what a class of this package adds for others."""
    for name, member in sorted(vars(value).items()):
        member = inspect.unwrap(member.__func__) if isinstance(member, (staticmethod, classmethod)) else member
        if not name.startswith("_") and (inspect.isroutine(member) or isinstance(member, (property, functools.cached_property))):
            yield name, member


def _classes(found):
    return [(n, v) for n, v in found if isinstance(v, type) and v.__module__.startswith("tierup") and not issubclass(v, BaseException)]


def undocumented():
    """Public names, and members of public classes, that say nothing of themselves."""
    missing = []
    for module in modules():
        found = public(module)
        missing += [f"{module.__name__}.{n}" for n, v in found if not said(v)]
        missing += [f"{module.__name__}.{n}.{m}" for n, v in _classes(found) for m, member in members(v) if not (member.__doc__ or _inherited(v, m))]
    return missing


def _inherited(value, name):
    return next((c.__dict__[name].__doc__ for c in value.__mro__[1:] if name in c.__dict__), None)


def text():
    """The tables, module by module."""
    out = []
    for module in modules():
        out.append(f"\n## `{module.__name__}`\n\n| name | what it is | source |\n|---|---|---|\n")
        found = public(module)
        for name, value in found:
            shown = "a module" if isinstance(value, types.ModuleType) and not value.__doc__ else _first(said(value) or "")
            out.append(f"| `{_call(name, value)}` | {shown} | {_source(value)} |\n".replace("|  |", "| |"))
        for name, value in _classes(found):
            rows = [f"| `{_call(m, member)}` | {_first(member.__doc__ or _inherited(value, m) or '')} |\n" for m, member in members(value)]
            if rows:
                out += [f"\n### `{module.__name__}.{name}`\n\n| member | what it is |\n|---|---|\n", *rows]
    return "".join(out) + "\n"


if __name__ == "__main__":
    print("\n".join(undocumented()))
