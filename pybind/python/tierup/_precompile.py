"""`python -m tierup precompile PACKAGE`: compiles the declared signatures of a package ahead of time, into a folder `__tierup__` that its wheel ships.

The package and all of its modules are imported, once for each level of x86-64, by a process that has tier 1 compile everything and put it into a cache of its own;
the entries of the package's functions are then copied. At run time they are found beside the package, without LLVM and without writing anything
(`_jit.ask_packages`, `runtime/src/engine/cache/shipped.rs`).
"""

import argparse
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from . import _tierup, config
from ._info import _LEVELS

FOLDER = "__tierup__"


def _parser():
    parser = argparse.ArgumentParser("python -m tierup precompile", description="Compiles the declared signatures of a package ahead of time, into a folder that its wheel ships.")
    parser.add_argument("package", help="a package that can be imported")
    parser.add_argument("--into", type=Path, metavar="FOLDER", help=f"where entries go; the folder {FOLDER} of the package, where nothing is said, is where they are found at run time")
    parser.add_argument("--signature", action="append", default=[], metavar="NAME=SIGNATURE", help="declares one more: 'package.module.function=float64(float64[::1])'")
    parser.add_argument("--cpu", default=None, metavar="LEVELS", help=f"processors, separated by commas: {', '.join(reversed(_LEVELS))}, native; all levels that this machine has, where nothing is said")
    parser.add_argument("--add", action="store_true", help="keeps entries that are there already, of another Python for instance")
    parser.add_argument("--as-numba", action="store_true", help="the package is written for Numba: Tierup stands in for it")
    return parser


def _fail(text):
    print(f"precompile: {text}", file=sys.stderr)
    return 2


def main(args):
    """Ends with 1 where something does not compile or nothing is declared, with 2 where it is asked for what is not there."""
    options = _parser().parse_args(args)
    if not _tierup.has_llvm():
        return _fail("this build of Tierup has no LLVM, which makes the code that packages ship")
    # As for `python -m`, what is in the current directory is found.
    sys.path.insert(0, os.getcwd())
    try:
        spec = importlib.util.find_spec(options.package)
    except (ImportError, ValueError):
        spec = None
    if spec is None:
        return _fail(f"there is no package {options.package}")
    if not spec.submodule_search_locations:
        return _fail(f"{options.package} is a module: only a package has a folder to ship code in")
    signatures = []
    for text in options.signature:
        name, equals, signature = text.partition("=")
        if not equals or not (name + ".").startswith(options.package + "."):
            return _fail(f"--signature {text!r} is not NAME=SIGNATURE with the name of a function of {options.package}")
        signatures.append((name, signature))
    try:
        levels = levels_of(options.cpu)
    except ValueError as e:
        return _fail(f"--cpu: {e}")
    into = options.into or Path(next(iter(spec.submodule_search_locations))) / FOLDER
    with tempfile.TemporaryDirectory() as folder:
        made = []
        for level in levels:
            order = {"package": options.package, "signatures": signatures, "numba": options.as_numba}
            made.append(compiled_for(level, "from tierup._precompile import work", order, Path(folder, level)))
            if isinstance(made[-1], str):
                return _fail(f"{options.package} cannot be precompiled for {level}: {made[-1]}")
        count, size = _ship(made, into, options.add)
    bad = _say(made[0])
    missing = [level for level in _LEVELS if options.cpu is None and level not in levels]
    if missing:
        print(f"{', '.join(missing)}: not made, since this machine does not have it")
    print(f"{count} entries, {size / 1024:.0f} KB, for {', '.join(levels)}: {into}")
    return int(bad or not count)


def levels_of(text):
    """Processors that code is made for, named with commas between them; all levels that this machine has, where nothing is said. ValueError for others."""
    there = [level for level in reversed(_LEVELS) if _tierup.uses_cpu(level)]
    levels = there if text is None else text.split(",")
    for level in levels:
        if level not in (*there, "native"):
            raise ValueError(f"this machine makes no code for {level!r}; it does for {', '.join([*there, 'native'])}")
    if not levels:
        raise ValueError("code for this machine is for no level of x86-64, only for native")
    return levels


def compiled_for(level, imports, order, cache):
    """What `work(order, path)`, which `imports` gets, writes down in a process of its own that compiles everything for a level; the text of what is wrong, where that process fails. Entries are in `cache`."""
    cache.mkdir()
    settings = {"TIERUP_TIER": "1", "TIERUP_CPU": level, "TIERUP_CACHE": "1", "TIERUP_CACHE_DIR": str(cache), "TIERUP_CACHE_MB": "100000", "TIERUP_PRECOMPILED": "0", "TIERUP_OSR": "on"}
    answer = str(cache / "made.json")
    program = f"import sys; sys.path[:0] = {[p for p in sys.path if p]!r}; {imports}; work({json.dumps(order)!r}, {answer!r})"
    done = subprocess.run([sys.executable, "-c", program], env={**os.environ, **settings})
    if done.returncode:
        return f"the process that compiles it ended with {done.returncode}"
    return json.loads(Path(answer).read_text(encoding="utf-8"))


def _ship(made, into, add):
    """Copies entries; how many, and their bytes."""
    into.mkdir(parents=True, exist_ok=True)
    compilers = {m["compiler"] for m in made}
    if add and (into / "compiler").exists():
        compilers.update((into / "compiler").read_text(encoding="ascii").split())
    elif not add:
        for old in into.glob("*.tierup"):
            old.unlink()
    for m in made:
        for path in m["entries"]:
            # Whoever may read the package may read them.
            shutil.copyfile(path, into / Path(path).name)
    (into / "compiler").write_text("".join(f"{c}\n" for c in sorted(compilers)), encoding="ascii")
    entries = list(into.glob("*.tierup"))
    return len(entries), sum(path.stat().st_size for path in entries)


def _say(made):
    """Prints what became of each function; whether anything was refused."""
    for name, why in made["modules"]:
        print(f"{name}: not imported: {why}")
    for line, _ in made["functions"]:
        print(line)
    if not made["functions"]:
        print("no function of the package is decorated")
    return any(refused for _, refused in made["functions"])


# ---------------------------------------------------------------- in the process that imports the package


def work(order, answer):
    """Imports the package, compiles, and writes down what came of it. Ends the process with what went wrong."""
    order = json.loads(order)
    if order["numba"]:
        from .compat import install
        install()
    modules = _import(order["package"])
    declared = [_declare(name, signature) for name, signature in order["signatures"]]
    if any(declared):
        sys.exit("\n".join(filter(None, declared)))
    made = [row for name, d in _dispatchers(order["package"]) for row in entries_of(name, d)]
    Path(answer).write_text(json.dumps({
        "modules": modules, "functions": [row[:2] for row in made], "entries": sorted({path for _, _, path in made if path}), "compiler": _tierup.compiler_id(),
    }), encoding="utf-8")


def _import(package):
    """Imports a package with all of its modules; those that cannot be imported, with the reason."""
    import pkgutil
    found, refused = importlib.import_module(package), []
    waiting = [found]
    for module in waiting:
        for info in pkgutil.iter_modules(module.__path__, module.__name__ + "."):
            if info.name.endswith(".__main__"):
                continue
            try:
                imported = importlib.import_module(info.name)
            except Exception as e:
                refused.append((info.name, f"{type(e).__name__}: {e}"))
                continue
            if info.ispkg:
                waiting.append(imported)
    return refused


def _declare(name, signature):
    """Compiles for a signature that was listed; what is wrong with it."""
    import operator
    parts = name.split(".")
    module = next((m for k in range(len(parts), 0, -1) if (m := sys.modules.get(".".join(parts[:k])))), None)
    try:
        function = operator.attrgetter(name[len(module.__name__) + 1:])(module)
        (function.compile if hasattr(function, "compile") else function.add)(signature)
    except Exception as e:
        return f"--signature {name}={signature}: {type(e).__name__}: {e}"


def _dispatchers(package):
    """(name, dispatcher) of everything of the package that compiles, in the order of names: loops of ufuncs and callbacks for C among it, whose code is made of texts."""
    import gc

    from . import _jit
    found = {id(d): (d.__module__, d.__qualname__, d) for d in (r() for r in list(_jit._live.values())) if d is not None}
    builder = getattr(sys.modules.get("tierup._ufunc"), "Builder", ())
    callback = getattr(sys.modules.get("tierup._cfunc"), "CFunc", ())
    for o in gc.get_objects():
        # By its class alone: some objects answer for others.
        if issubclass(type(o), callback):
            # What its code calls is a function of its own, which nobody declared.
            found = {k: one for k, one in found.items() if getattr(one[2], "py_func", None) is not o.py_func}
            found[id(o._dispatcher)] = o.__module__, o.__qualname__, o._dispatcher
        elif issubclass(type(o), builder):
            found.update((id(d), (o.function.__module__, o.function.__qualname__, d)) for d in o.kept)
            if not o.kept:
                found[id(o)] = o.function.__module__, o.function.__qualname__, None
    own = [(f"{module}.{name}", d) for module, name, d in found.values() if isinstance(module, str) and (module + ".").startswith(package + ".")]
    return sorted(own, key=lambda one: one[0])


def entries_of(name, d):
    """(line for people, whether it is refused, file or None) of each overload, in a process that compiles everything at once."""
    out, where = [], Path(_tierup.cache_path(config.cache_dir)[0])
    for k, (args, _, why) in enumerate(_tierup.overloads(d) if d is not None else ()):
        found, history, path = _tierup.cache_key(d, k), _tierup.history(d, k), None
        if d.__dict__.get("targetoptions", {}).get("forceobj"):
            said, refused = "Python runs it, as forceobj=True asks", False
        else:
            said = why.splitlines()[0] if why else history and history[3] or found is None and "there is nothing of it to keep"
            if not said and not (path := where / f"{found[0]}.tierup").exists():
                said, path = "its code is too large for the cache", None
            said, refused = (f"not kept: {said}", True) if said else ("compiled", False)
        out.append((f"{name}({', '.join(args)}): {said}", refused, path and str(path)))
    return out or [(f"{name}: no declared signature, so it compiles at its first call", False, None)]
