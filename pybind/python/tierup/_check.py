"""`python -m tierup check FILE...` and `python -m tierup explain FILE...`: what of a program compiles, and what became of it.

Each file runs once, as `python FILE` would, with no arguments. Functions compile for their declared types and for what the run calls them with. Where one does not compile it runs as plain Python, so
that the run goes on and finds the others.
"""

import os
import runpy
import sys
import traceback
import warnings

from . import _jit, _tierup
from .errors import TierupWarning

_USAGE = "usage: python -m tierup {} FILE..."


def _run(path):
    """Runs a program; gives its dispatchers in the order of their lines, and the text of what it ended by where it did not end well."""
    made, path = [], os.path.realpath(path)
    sys.argv, ended = [path], None
    sys.path.insert(0, os.path.dirname(path))
    _jit._watchers.append(made.append)
    try:
        with warnings.catch_warnings():
            # Why a function runs as plain Python is said in the end, of all of them.
            warnings.simplefilter("ignore", TierupWarning)
            runpy.run_path(path, run_name="__main__")
    except SystemExit as e:
        ended = None if e.code in (None, 0) else f"it exits with {e.code!r}"
    except BaseException as e:  # noqa: BLE001  (a program may end by anything, KeyboardInterrupt included)
        frames = [f for f in traceback.extract_tb(e.__traceback__) if os.path.realpath(f.filename) == path]
        ended = "".join(traceback.format_exception_only(e)).strip() + (f" (line {frames[-1].lineno})" if frames else "")
    finally:
        _jit._watchers.remove(made.append)
        sys.path.remove(os.path.dirname(path))
    own = [d for d in made if os.path.realpath(d.__code__.co_filename) == path]
    return sorted(own, key=lambda d: d.__code__.co_firstlineno), ended


def _of_file(path, describe):
    print(path)
    found, ended = _run(path)
    for d in found:
        describe(d)
    if not found:
        print("  no function is decorated with jit or njit")
    if ended:
        print(f"  the program did not run to its end: {ended}")
    return ended


def _check(d):
    """Prints what of a function compiles; gives whether anything does not."""
    head, bad = f"  line {d.__code__.co_firstlineno}: {d.__qualname__}", False
    overloads = _tierup.overloads(d)
    if refused := d.__dict__.get("_refused"):
        bad = True
        print(f"{head}: does not compile for its declared types")
        print("\n".join("    " + line for line in str(refused).splitlines()))
    elif not overloads:
        print(f"{head}: not known: it has no declared types, and the run does not call it with values of types that compile")
    for args, ret, why in overloads:
        call = f"({', '.join(args)})"
        if why is None:
            print(f"{head}{call}: compiles, and gives {ret}")
        elif why:
            bad = True
            print(f"{head}{call}: does not compile")
            print("\n".join("    " + line for line in why.splitlines()))
    return bad


def _main(name, args, describe):
    if not args or args[0].startswith("-"):
        print(_USAGE.format(name), file=sys.stderr)
        return 2
    for path in args:
        if not os.path.isfile(path):
            print(f"{path}: no such file", file=sys.stderr)
            return 2
    bad = False

    def note(d):
        nonlocal bad
        bad |= bool(describe(d))

    for path in args:
        ended = _of_file(path, note)
        bad |= bool(ended)
    return int(bad)


def main(args):
    """Ends with 1 where something does not compile or a program fails, with 2 where there is no such file."""
    return _main("check", args, _check)


def explain(args):
    def show(d):
        print("\n".join("  " + line for line in str(d.explain()).splitlines()))

    return _main("explain", args, show)
