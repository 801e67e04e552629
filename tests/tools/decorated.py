"""Runs the tests of a package with every function of it decorated by `tierup.jit`: what they say must not change.

    python tests/tools/decorated.py --decorate configparser unittest test.test_configparser
    python tests/tools/decorated.py --decorate networkx --not networkx.drawing pytest --pyargs networkx
    python tests/tools/decorated.py --compare plain.json decorated.json

The decorator is put into the syntax tree of a module when it is imported, innermost, so that whatever stands around a function (properties, class methods, caches, registries) has
the compiled one. Inner functions stay as they are unless `--closures` asks for them: a function is cut from its source, which has none of these decorators.
"""

import argparse
import ast
import builtins
import importlib.machinery
import json
import sys
import time
import unittest


class _Decorate(ast.NodeTransformer):
    """Puts the decorator to functions outside of others, or to all."""

    def __init__(self, closures):
        self.closures, self.inside, self.count = closures, False, 0

    def visit_FunctionDef(self, node):
        if not self.inside or self.closures:
            line = node.lineno
            node.decorator_list.append(ast.Name("__tierup_jit__", ast.Load(), lineno=line, col_offset=0, end_lineno=line, end_col_offset=0))
            self.count += 1
        around, self.inside = self.inside, True
        self.generic_visit(node)
        self.inside = around
        return node

    visit_AsyncFunctionDef = visit_FunctionDef


def _chosen(name, names):
    return any(name == n or name.startswith(n + ".") for n in names)


def install(names, left, closures=False, options=None):
    """From now on modules of these packages are decorated when they are imported; those that are here already are imported anew."""
    # What loads later would use the decorated modules while these are loaded.
    import tierup
    import tierup._again
    import tierup._lifting
    from tierup import errors
    errors.warn_fallback = lambda *_: None
    made = {"modules": 0, "functions": 0}
    jit = tierup.jit(**options) if options else tierup.jit
    builtins.__tierup_jit__ = jit

    def source_to_code(self, data, path, *, _optimize=-1):
        if not _chosen(self.name, names) or _chosen(self.name, left):
            return plain(self, data, path, _optimize=_optimize)
        decorate = _Decorate(closures)
        tree = decorate.visit(ast.parse(data, path))
        made["modules"] += 1
        made["functions"] += decorate.count
        return compile(tree, path, "exec", dont_inherit=True, optimize=_optimize)

    def get_code(self, name):
        if not _chosen(name, names) or _chosen(name, left):
            return cached(self, name)
        path = self.get_filename(name)
        return self.source_to_code(self.get_data(path), path)

    loader = importlib.machinery.SourceFileLoader
    plain, cached = loader.source_to_code, loader.get_code
    loader.source_to_code, loader.get_code = source_to_code, get_code
    return made


def forget(names):
    """Modules of these packages are imported anew."""
    for name in [n for n in sys.modules if _chosen(n, names)]:
        del sys.modules[name]


class _Result(unittest.TextTestResult):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.outcomes = {}

    def _note(self, test, what, err=None):
        text = "" if err is None else self._exc_info_to_string(err, test)
        if what == "passed" and self.outcomes.get(test.id(), ("passed",))[0] != "passed":
            return
        self.outcomes[test.id()] = what, text

    def addSuccess(self, test):
        super().addSuccess(test)
        self._note(test, "passed")

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self._note(test, "failed", err)

    def addError(self, test, err):
        super().addError(test, err)
        self._note(test, "error", err)

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            self._note(subtest, "failed", err)

    def addExpectedFailure(self, test, err):
        super().addExpectedFailure(test, err)
        self._note(test, "xfailed")

    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test)
        self._note(test, "xpassed")


def _with_unittest(names):
    suite = unittest.defaultTestLoader.loadTestsFromNames(names)
    result = unittest.TextTestRunner(resultclass=_Result, verbosity=0, warnings="ignore").run(suite)
    return result.outcomes


class _Plugin:
    def __init__(self):
        self.outcomes = {}

    def pytest_runtest_logreport(self, report):
        if report.when == "call" or report.outcome != "passed":
            text = "" if report.outcome == "passed" else str(report.longrepr)
            what = f"x{report.outcome}" if hasattr(report, "wasxfail") else report.outcome
            self.outcomes[report.nodeid] = what, text

    def pytest_collectreport(self, report):
        if report.failed:
            self.outcomes[report.nodeid] = "error", str(report.longrepr)


def _with_pytest(args):
    import pytest
    plugin = _Plugin()
    pytest.main(["-p", "no:cacheprovider", "-q", "--no-header", "--tb=short", "-W", "ignore", *args], plugins=[plugin])
    return plugin.outcomes


def compare(first, second):
    """What the tests of two runs say differently: a line for each test, with the end of what it says."""
    (a, b), worse = (json.load(open(f))["outcomes"] for f in (first, second)), 0
    for test in dict.fromkeys([*a, *b]):
        want, got = a.get(test, ("not run", "")), b.get(test, ("not run", ""))
        if want[0] != got[0]:
            worse += 1
            text = (got[1] or want[1]).strip().splitlines()
            print(f"{test}: {want[0]} -> {got[0]}\n    " + "\n    ".join(text[-12:]))
    print(f"{len(a)} tests, {worse} different")
    return worse


def main(argv):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--decorate", action="append", default=[], help="a package or module whose functions are decorated")
    parser.add_argument("--not", dest="left", action="append", default=[], help="one in it that is left alone")
    parser.add_argument("--closures", action="store_true", help="decorate inner functions too")
    parser.add_argument("--plain", action="store_true", help="decorate nothing")
    parser.add_argument("--options", type=json.loads, default=None, help="options of the decorator, as JSON")
    parser.add_argument("--out", help="a file for the outcomes, as JSON")
    parser.add_argument("--compare", nargs=2, help="two such files")
    parser.add_argument("with_", nargs="?", choices=("unittest", "pytest"))
    parser.add_argument("args", nargs=argparse.REMAINDER)
    given = parser.parse_args(argv)
    if given.compare:
        return compare(*given.compare) > 0
    if not given.plain:
        made = install(given.decorate, given.left, given.closures, given.options)
    forget(given.decorate)
    start = time.perf_counter()
    outcomes = (_with_unittest if given.with_ == "unittest" else _with_pytest)(given.args)
    seconds = time.perf_counter() - start
    counts = {}
    for what, _ in outcomes.values():
        counts[what] = counts.get(what, 0) + 1
    print("decorated:", "nothing" if given.plain else made, "outcomes:", counts, f"{seconds:.1f} s")
    if given.out:
        with open(given.out, "w") as f:
            json.dump({"outcomes": outcomes, "seconds": seconds}, f)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
