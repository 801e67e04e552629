"""The front end means what Python means: the SSA of every fixture, run on Python objects, does what the function does."""

import importlib.util
import pathlib
import re
import subprocess
import sys
import types

import pytest

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TESTS / "tools"))
import run_ssa  # noqa: E402


class Thing:
    """Something with attributes, methods and a context that can be logged and can fail."""

    def __init__(self, **attributes):
        self.__dict__.update(attributes)
        self.log = []

    def __repr__(self):
        return f"Thing({self.__dict__})"

    def __enter__(self):
        self.log.append("enter")
        return self.__dict__.get("token", 1)

    def __exit__(self, kind, value, traceback):
        self.log.append(("exit", kind))
        return self.__dict__.get("swallow", False)

    def __bool__(self):
        return self.__dict__.get("truth", True)

    def go(self):
        self.log.append("go")
        if "fails" in self.__dict__:
            raise self.fails


def failing(error):
    def f(*args):
        raise error

    return f


class Matrix:
    def __init__(self, rows):
        self.rows, self.shape = rows, (len(rows), len(rows[0]))

    def __getitem__(self, key):
        return self.rows[key[0]][key[1]]


class Indexed:
    """Takes any index and remembers everything."""

    def __init__(self):
        self.log = []

    def __getitem__(self, key):
        self.log.append(("get", key))
        return Indexed() if isinstance(key, (int, slice)) else 1

    def __setitem__(self, key, value):
        self.log.append(("set", key, type(value)))

    def __repr__(self):
        return f"Indexed({self.log})"


class Mul(int):
    def __matmul__(self, other):
        return int(self) * 100 + other

    def __imatmul__(self, other):
        return Mul(int(self) * 100 + other)


def recorder(*args, **kwargs):
    return (lambda *more: more) if len(args) == 1 and args[0] == "b" else (args, tuple(sorted(kwargs.items())))


class Recorder:
    def method(self, *args, **kwargs):
        return recorder(*args, **kwargs)


# Arguments by function, made anew for every run because functions change them. A string is evaluated here.
INPUTS = {
    "straight": ["Mul(7), Mul(3)", "Mul(0), Mul(1)"],
    "augmented": ["Mul(7), Mul(2)"],
    "compare": ["1, 2, [1, 5]", "3, 3, (3,)", "5, 2, {1}"],
    "logic": ["0, 1, None", "1, 0, 2", "None, None, None", "'', [], 'x'"],
    "if_chain": ["-1", "0", "5", "None"],
    "while_else": ["3", "10", "6", "0"],
    "for_else": ["[(1, 2), (3, 4)]", "[(-1, 2), (3, 4)]", "[(1, 200)]", "[]", "[(1,)]"],
    "nested_loops": ["Matrix([[1, 2], [3, -1], [2, 2]])"],
    "forever": ["3"],
    "maybe_unbound": ["3", "0", "-1"],
    "deleted": ["0", "1"],
    "deleted_in_loop": ["2", "3", "4"],
    "subscripts": ["Indexed(), 1, 2"],
    "attributes": ["Thing(y=Thing(z=2), sum=lambda: 3, T=Thing(sum=lambda axis: axis), mean=4)"],
    "unpacking": ["((1, 2), 3)", "(((1, 2), [3, 4, 5, 6, 7]), 3)", "([(1, 2), [0, 1, 2, 3, 4, 5]], 0)"],
    "displays": ["1, {}", "(1, 2), {'a': 3}", "[1, 2], {'b': 0}"],
    "calls": ["recorder, Recorder(), 'b'", "recorder, Recorder(), 'b', 1, 2, k=5, w=3", "recorder, Recorder(), 'b', z=3", "recorder, 'b', 1"],
    "strings": ["'abc', 5", "'z', 1", "1, 9"],
    "walrus": ["[1, 2, 3, 4]", "[1]", "[0, 1, 2, 3, 4]"],
    "asserts": ["1", "0", "11"],
    "match_literals": ["1", "2", "3", "-1.5", "'s'", "None", "True", "101", "99", "[]"],
    "match_structure": ["(0, 0)", "(5, 0)", "(0, 6)", "[1, 1, 2, 3]", "[1, 2, 3]", "7", "{'k': 1, 'z': 2}", "'text'", "{}", "1.5"],
    "imports": ["2.0"],
    "globals_used": ["[1]"],
    "defaults": ["1, e=2", "1, 2, c=3, d=4, e=5", "1"],
    "nothing": [""],
    "constants": [""],
    "big_constant": ["1", "0"],
    "many_locals": ["1"],
    "long_jump": ["3, 1", "9, 1"],
    "raises": ["0, None", "1, 2", "2, KeyError('cause')", "2, KeyError", "3, None", "4, 0", "2, 5"],
    "try_except": ["[1, 2], 1", "[1], 5", "{}, 5", "[1], None"],
    "except_types": ["[1, 2], 1", "[1], 5", "{}, 1", "[0], 0", "['x'], 1", "None, 1"],
    "finally_simple": ["[]", "None", "()"],
    "all_clauses": ["[5], 0", "[5], 1", "{}, 1"],
    "return_in_finally": ["[1]", "[]"],
    "loop_in_try": ["[5, 5]", "[0, 5]", "[5, 1, 5]", "[5, 2, 5]", "[5, 3, 11, 'x']", "[]"],
    "try_in_loop": ["[1, 2]", "{0: 1, 1: 5}", "[1, 'x']"],
    "break_in_finally": ["[Thing(), Thing()]", "[Thing(fails=ValueError()), Thing()]", "[Thing(truth=False), Thing(truth=False)]", "[]"],
    "nested": ["{1: 2}, 1", "{1: 2}, 2", "[], 0", "{3: 1, 1: 0}, 2", "None, 1"],
    "reraise_bare": ["Thing()", "Thing(fails=ValueError(1))", "Thing(fails=ValueError(1), truth=False)", "Thing(fails=KeyError(2))"],
    "unbound_after": ["[1, 2]", "[1]", "[]"],
    "handler_sees_progress": ["[1, 2]", "[1]", "[]"],
    "with_block": [
        "Thing(), Thing(x=5)", "Thing(token=0), Thing(y=lambda: 1)", "Thing(token=0), Thing(y=failing(ValueError()))",
        "Thing(token=0, swallow=True), Thing(y=failing(ValueError()))", "Thing(token=0), Thing(swallow=True, y=failing(ValueError()))",
    ],
    "name_gone": ["lambda: 1", "failing(ValueError())"],
    "exception_value": ["lambda: 1", "failing(ValueError('v'))", "failing(KeyError('k'))"],
    "expression_in_try": ["lambda *a: sum(a), []", "lambda *a: a, (1, 2)", "failing(KeyError()), [1]"],
    "list_comp": ["[1, 2, 3], 1"],
    "nested_comp": ["3, 4"],
    "double_comp": ["[[1, 2, 0], [3]]"],
    "comp_in_loop": ["[1, 2]"],
    "comp_in_try": ["[1, 2], 2", "[1], 0", "['x'], 1"],
    "comp_with_condition": ["[1, -2, 3, 0], [1]", "[1, -2, 3, 0], []"],
    "other_comps": ["[1, 2]"],
    "lambda_called": ["3"],
    "lambda_passed": ["[3, 1, 2], -1"],
    "inner": ["3", "-1"],
    "inner_in_try": ["[1]"],
    "recursive_inner": ["5"],
    "mutual_inner": ["4", "5"],
    "counter": ["5"],
    "rebound_later": ["1"],
    "captured_late": [""],
    "captured_in_loop": ["3"],
    "lambda_at_once": ["[1, -2, 3]"],
    "lazily_mapped": ["[1, 2]"],
    "maybe_captured": ["2", "0"],
    "three_deep": ["1"],
    "cell_three_deep": ["4"],
    "deleted_captured": ["1"],
    "argument_function": ["lambda x: x + 1, 2"],
    "higher_order": ["4"],
    "args_inner": ["", "1, 2, 3"],
    "gen_expr": ["[1, 2, 0], 1"],
    "generator": ["3"],
    "generator_send": ["3"],
    "delegating": ["[1, 2, 3]"],
    "generator_try": ["[1, 0, 2]", "[0]"],
    "local_generator": ["3"],
    "defaults_captured": ["3"],
    "same_name_twice": ["3"],
    "endless": ["0", "5"],
    "two_variables": ["1, 2, 3"],
    "many_variables": ["1"],
    "small_integers": ["3", "2.5"],
    "truth": ["0, 1", "1, 0", "0, 0", "1, 5", "2, 2"],
    "slices": ["Indexed(), 1, 2", "[1, 2, 3, 4], 1, 3"],
    "formats": ["1.25, 7", "'a', 3", "-2.5, 9"],
    "keywords": ["lambda *a, **k: recorder, Recorder()", "recorder, [1]"],
    "module_functions": ["2.0, 1", "2.0, 0"],
    "dictionaries": ["1, {(1, 2): 3, (3, 4): 5}"],
    "consumers": ["[1, 2, 3]", "[0]", "[]"],
    "consumed_in_branches": ["[1, 2, 3], 2", "[1, 2, 3], 4", "[1, 2], 0", "[0], 1"],
    "managers": ["Thing(token=Thing()), Thing()", "Thing(token=Thing(fails=KeyError(1))), Thing(swallow=True)", "Thing(token=Thing(fails=KeyError(1))), Thing()"],
    "manager_in_loop": ["[1, 0, 2], lambda x: Thing(token=x)", "[0, 5], lambda x: Thing(token=0)", "[0], lambda x: Thing(token=0)", "[1], 5"],
    "loops": ["[1, 2, 3]", "[1, 5, 2]", "[-1]", "[]"],
    "conditions": ["None, 1", "2, [1]", "2, [2]", "3, None", "True, {5}"],
    "comprehension_names": ["5, [1, 2, 0]"],
    "comprehension_unbound": ["[1], True", "[1], False"],
    "comprehension_raises": ["[1, 2], 5", "[1, 0], 5", "['x'], 5"],
    "comprehension_captures": ["[1, 2], 3"],
    "comprehension_of_captured": ["[1, 2], 3"],
    "comprehension_in_generator": ["[1, 2]"],
    "comprehension_in_loop": ["[1, 2], 3", "[], 2"],
    "comprehension_twice": ["4"],
    "delegating": ["[1, 2]"],
    "generator_in_try": ["[1, 2]"],
    "generator_of_generator": ["[1, 2, 0], 3"],
    "inner_functions": ["1", "2, 5"],
    "assertion": ["2", "1", "0"],
    "error": ["2", "0", "'x'"],
    "patterns": ["[1, 2, 3]", "{'k': 4}", "1", "2", "3", "'s'"],
    "spread": ["(1, 2, 3), (4,)", "(1, 2), (4, 5)", "(1,), ()"],
}


def normal(value):
    """Something that can be compared: generators run, functions are called."""
    if isinstance(value, types.GeneratorType):
        return ["generator", *(normal(v) for v in value)]
    if isinstance(value, (map, filter, zip)):
        return [type(value).__name__, *(normal(v) for v in value)]
    if isinstance(value, (types.FunctionType, run_ssa.Callable)):
        return outcome(value, ("1, 2",))
    if isinstance(value, (tuple, list)):
        return [type(value).__name__, *(normal(v) for v in value)]
    return text(value)


def text(value):
    return re.sub(" at 0x[0-9a-f]+", "", repr(value))


def outcome(function, sources):
    out = []
    for source in sources:
        args, kwargs = eval(f"(lambda *a, **k: (a, k))({source})", globals())
        try:
            out.append(normal(function(*args, **kwargs)))
        except Exception as e:
            # Where Python names the variable or the wrong length, the interpreter of SSA need not.
            out.append([type(e).__name__, repr(e.__cause__)] + ([repr(e.args)] if isinstance(e, (AssertionError, KeyError)) else []))
        out.append(text((args, kwargs)))
    return out


FIXTURES = ["statements", "exceptions", "closures", "encodings"]
VERSIONS = sorted(folder.name for folder in (TESTS / "bytecode").glob("py3*"))


def load(name, version):
    path = TESTS / "bytecode" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"fixture_{name}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    command = ["cargo", "run", "-q", "-p", "tierup-tests", "--bin", "jitc", "--", "ssa", str(TESTS / "bytecode" / version / f"{name}.raw")]
    text = subprocess.run(command, cwd=TESTS.parent, capture_output=True, text=True, check=True).stdout
    return module, run_ssa.load(text, vars(module))


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", FIXTURES)
def test_ssa_does_what_python_does(name, version):
    """What another Python compiled does what this one does."""
    module, functions = load(name, version)
    expected = {n for n, f in vars(module).items() if isinstance(f, types.FunctionType)}
    # `grow` is a method.
    assert functions.keys() - {"grow"} == expected, "a recording in tests/bytecode is out of date"
    assert not expected - INPUTS.keys(), "functions without inputs"
    wrong = []
    for function in sorted(expected):
        want, got = outcome(getattr(module, function), INPUTS[function]), outcome(functions[function], INPUTS[function])
        if want != got:
            wrong.append(f"{function}\n  python {want}\n  ssa    {got}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("name", FIXTURES)
def test_recordings_are_current(name):
    version = "py%d%d" % sys.version_info[:2]
    assert version in VERSIONS, "record this version as docs/adding-a-python.md says"
    path = TESTS / "bytecode" / f"{name}.py"
    fresh = subprocess.run([sys.executable, TESTS / "tools" / "dump_bytecode.py", path], capture_output=True, text=True, check=True).stdout
    assert fresh == (path.parent / version / f"{name}.raw").read_text(), f"record {name}.py again with tests/tools/dump_bytecode.py"


def test_specialised_and_traced_code_reads_as_it_was_compiled():
    def loop(xs):
        total = 0
        for x in xs:
            total += x * 2 if x > 1 else len(xs)
        return total

    before = loop.__code__.co_code
    for _ in range(100):
        loop([1, 2, 3])
    sys.settrace(lambda *args: None)
    try:
        loop([1, 2, 3])
        traced = loop.__code__.co_code
    finally:
        sys.settrace(None)
    assert before == traced == loop.__code__.co_code
