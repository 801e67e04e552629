"""`python -m tierup --as-numba program.py [args]`, `python -m tierup --as-numba -m module [args]`: runs a program written for Numba on Tierup.

`python -m tierup info`: versions, machine and settings, to paste into an issue.
`python -m tierup check FILE...`: runs programs once, and says what of them compiles.
`python -m tierup explain FILE...`: runs programs once, and says what became of their functions.
`python -m tierup cache [list | size | clear | verify | path]`: looks after the code cache.
`python -m tierup precompile PACKAGE`: compiles the declared signatures of a package ahead of time, into a folder that its wheel ships.
`python -m tierup header MODULE`: prints a C header for the cfuncs of a module.

Without a program: shows versions and settings.
"""

import runpy
import sys

USAGE = "usage: python -m tierup [--as-numba] [-m module | -c code | program.py] [argument ...]\n       python -m tierup info\n       python -m tierup check FILE...\n       python -m tierup explain FILE...\n       python -m tierup cache [list | size | clear | verify | path]\n       python -m tierup precompile PACKAGE [option ...]\n       python -m tierup header MODULE [-o FILE]"


def main(args):
    if args and args[0] in ("-h", "--help"):
        print(f"{USAGE}\n\n{__doc__}")
        return 0
    if args and args[0] == "cache":
        from ._cache import main
        return main(args[1:])
    if args and args[0] == "precompile":
        from ._precompile import main
        return main(args[1:])
    if args and args[0] == "header":
        from ._header import main
        return main(args[1:])
    if args and args[0] == "info":
        from ._info import main
        return main(args[1:])
    if args and args[0] in ("check", "explain"):
        from ._check import explain, main
        return (main if args[0] == "check" else explain)(args[1:])
    if args and args[0] == "--as-numba":
        from .compat import install
        install()
        args = args[1:]
    if not args:
        import tierup
        print(f"tierup {tierup.__version__}, Python {sys.version.split()[0]}\n\n{tierup.config.describe()}")
        return 0
    if args[0] in ("-m", "-c"):
        if len(args) < 2:
            print(USAGE, file=sys.stderr)
            return 2
        sys.argv = args[1:]
        if args[0] == "-m":
            sys.path.insert(0, "")
            runpy.run_module(args[1], run_name="__main__", alter_sys=True)
        else:
            sys.argv = ["-c", *args[2:]]
            sys.path.insert(0, "")
            exec(compile(args[1], "<string>", "exec"), {"__name__": "__main__"})
        return 0
    if args[0].startswith("-"):
        print(f"unknown option {args[0]}\n{USAGE}", file=sys.stderr)
        return 2
    import os
    sys.argv = args
    sys.path.insert(0, os.path.dirname(os.path.abspath(args[0])))
    runpy.run_path(args[0], run_name="__main__")
    return 0


if __name__ == "__main__":
    import os
    # `-m` has put the current directory in front; a program expects its own there.
    if sys.path and sys.path[0] in ("", os.getcwd()):
        del sys.path[0]
    sys.exit(main(sys.argv[1:]))
