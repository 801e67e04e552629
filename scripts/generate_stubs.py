"""Writes the stubs of modules whose names say enough of themselves: `generate_stubs.py [--check]`. Others (`__init__.pyi`, `par.pyi` and more) are written by hand.

A stub has what is public, with the parameters that functions have, so that type checkers know every name and no more is promised. Types are `Any` where no annotation
says one. With `--check` nothing is written, and stubs that are out of date are named (`tests/python/test_stubs.py` asks the same).
"""

import builtins
import importlib
import inspect
import sys
from pathlib import Path

import api_docs

MODULES = ("config", "cuda", "errors", "extending", "testing", "types")
HEAD = "# Written by scripts/generate_stubs.py.\n"
#: What of a class's own protocol callers use.
PROTOCOL = ("__init__", "__call__", "__getitem__", "__setitem__", "__len__", "__iter__", "__contains__", "__enter__", "__exit__")


def path(module):
    folder = api_docs.PACKAGE / "tierup"
    return folder / module / "__init__.pyi" if (folder / module).is_dir() else folder / f"{module}.pyi"


def text(module):
    """The stub of a module of `tierup`."""
    api_docs.modules()
    if module == "config":
        return _settings()
    found = importlib.import_module(f"tierup.{module}")
    return Stub(found).text()


def _settings():
    from tierup import config
    plain = {bool: "bool", int: "int"}
    lines = [f"{name}: {plain.get(type(default), 'Any') if reader.__name__ != '_trace' else 'Any'}" for name, (_, reader, default, _, _) in config._TABLE.items()]
    return f"{HEAD}from typing import Any\n\n" + "\n".join(lines) + "\n\ndef reload() -> None: ...\ndef describe() -> str: ...\n"


class Stub:
    def __init__(self, module):
        self.module, self.public = module, dict(api_docs.public(module))
        self.classes = {v: n for n, v in reversed(self.public.items()) if isinstance(v, type)}

    def text(self):
        # A class stands behind its bases.
        ordered = sorted(self.public.items(), key=lambda nv: (not isinstance(nv[1], type), len(nv[1].__mro__) if isinstance(nv[1], type) else 0, nv[0].lower()))
        body = "\n".join(self._of(name, value) for name, value in ordered)
        return f"{HEAD}from typing import Any\n\n{body}\n"

    def _of(self, name, value):
        if isinstance(value, type):
            return self._class(name, value)
        if inspect.isroutine(value):
            return _function(name, value)
        if isinstance(value, frozenset):
            return f"{name}: frozenset[Any]"
        return f"{name}: {self.classes.get(type(value), 'Any')}"

    def _class(self, name, cls):
        if self.classes[cls] != name:
            return f"{name} = {self.classes[cls]}"
        bases = [self.classes.get(b) or (b.__name__ if vars(builtins).get(b.__name__) is b and b is not object else None) for b in cls.__bases__]
        bases = [{"tuple": "tuple[Any, ...]"}.get(b, b) for b in bases if b is not None and b != name]
        known = {n for b in cls.__mro__[1:-1] if b in self.classes or vars(builtins).get(b.__name__) is b for n in vars(b)}
        members = [(n, v) for n, v in vars(cls).items() if n in PROTOCOL or not n.startswith("_") and n not in known]
        if issubclass(cls, BaseException):
            members = [(n, v) for n, v in members if n != "__init__"]
        lines = [_member(n, v) for n, v in members if n not in known or n == "__init__"]
        if not issubclass(cls, BaseException) and "__getattr__" not in known and not any(b in self.classes for b in cls.__mro__[1:]):
            # What instances are given when they are made.
            lines.append("    def __getattr__(self, name: str, /) -> Any: ...")
        return f"class {name}{'(' + ', '.join(bases) + ')' if bases else ''}:" + ("\n" + "\n".join(lines) if lines else " ...")


def _member(name, value):
    if isinstance(value, staticmethod | classmethod):
        kind = "staticmethod" if isinstance(value, staticmethod) else "classmethod"
        return f"    @{kind}\n    {_function(name, value.__func__)}"
    if isinstance(value, property) or inspect.isdatadescriptor(value):
        return f"    @property\n    def {name}(self) -> Any: ..."
    if inspect.isroutine(value):
        return "    " + _function(name, value, "self")
    return f"    {name}: Any"


def _function(name, value, first=None):
    try:
        given = list(inspect.signature(value).parameters.values())
    except (TypeError, ValueError):
        given = None
    result = "None" if name in ("__init__", "__setitem__") else "int" if name == "__len__" else "bool" if name == "__contains__" else "Any"
    if given is None:
        return f"def {name}({first + ', ' if first else ''}*args: Any, **kwargs: Any) -> {result}: ..."
    parts, kind = [], None
    for k, p in enumerate(given):
        if kind is p.POSITIONAL_ONLY and p.kind is not p.POSITIONAL_ONLY:
            parts.append("/")
        if p.kind is p.KEYWORD_ONLY and kind not in (p.KEYWORD_ONLY, p.VAR_POSITIONAL):
            parts.append("*")
        stars = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
        bare = k == 0 and p.name in ("self", "cls")
        parts.append(f"{stars}{p.name}" + ("" if bare else ": Any") + (" = ..." if p.default is not p.empty else ""))
        kind = p.kind
    if kind is inspect.Parameter.POSITIONAL_ONLY:
        parts.append("/")
    return f"def {name}({', '.join(parts)}) -> {result}: ..."


def outdated():
    """Modules whose stubs are not what this writes."""
    return [m for m in MODULES if not path(m).exists() or path(m).read_text(encoding="utf-8") != text(m)]


def main():
    for module in outdated():
        print(path(module).relative_to(api_docs.ROOT))
        if "--check" not in sys.argv:
            path(module).write_text(text(module), encoding="utf-8")
    sys.exit("--check" in sys.argv and bool(outdated()))


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent))
    main()
