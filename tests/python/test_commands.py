"""`python -m tierup info`, `check` and `explain`."""

import subprocess
import sys
import textwrap

import pytest

pytest.importorskip("tierup")


def command(*arguments, **more):
    return subprocess.run([sys.executable, "-m", "tierup", *map(str, arguments)], capture_output=True, text=True, **more)


@pytest.fixture
def program(tmp_path):
    def write(text, name="program.py"):
        path = tmp_path / name
        path.write_text(textwrap.dedent(text), encoding="utf-8")
        return path
    return write


def test_info_names_what_an_issue_needs():
    run = command("info")
    assert run.returncode == 0 and run.stderr == ""
    said = dict(line.split("  ", 1) for line in run.stdout.splitlines())
    assert {"tierup", "Python", "NumPy", "SciPy", "system", "processor", "tier 1 (LLVM)", "GPU", "code cache", "settings"} == {what.strip() for what in said}
    assert sys.executable in said["Python"] if "Python" in said else sys.executable in run.stdout


def test_check_says_of_each_function_what_compiles(program):
    path = program("""
        from tierup import jit, njit

        @njit
        def good(x):
            return x + 1

        @njit
        def bad(x):
            return x.nothing_of_the_kind

        @njit("float64(float64)")
        def declared(x):
            return x * 2

        @jit
        def never(x):
            return x

        def local():
            @njit
            def inside(a, b):
                return a * b
            return inside(2, 2.5)

        good(1), good(1.5), local()
        try:
            bad(1)
        except AttributeError:
            print("as Python has it")
    """)
    run = command("check", path)
    assert run.returncode == 1 and run.stderr == ""
    lines = run.stdout.splitlines()
    assert lines[0] == str(path) and lines[1] == "as Python has it"
    assert lines[2:4] == ["  line 4: good(int): compiles, and gives int", "  line 4: good(float): compiles, and gives float"]
    assert lines[4] == "  line 8: bad(int): does not compile" and "unknown-attribute" in lines[5] and "line 10" in lines[6]
    assert "  line 12: declared(float64): compiles, and gives float64" in lines
    assert "  line 16: never: not known: it has no declared types, and the run does not call it with values of types that compile" in lines
    assert lines[-1] == "  line 21: local.<locals>.inside(int, float): compiles, and gives float"


def test_check_of_a_program_in_order_ends_with_0(program):
    run = command("check", program("import tierup\n\n@tierup.njit\ndef f():\n    return 1\n\nf()\n"), program("x = 1\n", "other.py"))
    assert run.returncode == 0 and run.stderr == ""
    assert "compiles, and gives int" in run.stdout and run.stdout.endswith("other.py\n  no function is decorated with jit or njit\n")


@pytest.mark.parametrize("last, said", [("1 / 0", "ZeroDivisionError: division by zero (line 7)"), ("raise SystemExit(3)", "it exits with 3"), ("raise KeyboardInterrupt", "KeyboardInterrupt (line 7)")])
def test_check_says_where_a_program_ends_early(program, last, said):
    run = command("check", program(f"import tierup\n\n@tierup.njit\ndef f():\n    return 1\n\n{last}\n"))
    assert run.returncode == 1 and run.stderr == ""
    assert run.stdout.splitlines()[1:] == ["  line 3: f: not known: it has no declared types, and the run does not call it with values of types that compile", f"  the program did not run to its end: {said}"]


def test_check_goes_on_behind_declared_types_that_do_not_compile(program):
    run = command("check", program("""
        from tierup import njit

        @njit("int64(int64)")
        def bad(x):
            return {x}

        @njit
        def good(x):
            return x

        good(1)
    """))
    assert run.returncode == 1 and run.stderr == ""
    assert run.stdout.splitlines()[1] == "  line 4: bad: does not compile for its declared types" and "line 6" in run.stdout
    assert run.stdout.splitlines()[-1] == "  line 8: good(int): compiles, and gives int"


def test_explain_shows_what_became_of_functions(program):
    run = command("explain", program("import tierup\n\n@tierup.njit\ndef f(n):\n    s = 0\n    for i in range(n):\n        s += i\n    return s\n\nf(10)\n"))
    assert run.returncode == 0 and run.stderr == ""
    assert "f(int)" in run.stdout and "first compilation" in run.stdout


@pytest.mark.parametrize("arguments, said", [(["check"], "usage: python -m tierup check FILE..."), (["explain", "-x"], "usage: python -m tierup explain FILE..."), (["check", "no_such_file.py"], "no_such_file.py: no such file"), (["info", "x"], "usage: python -m tierup info")])
def test_wrong_arguments_are_named(arguments, said):
    run = command(*arguments)
    assert run.returncode == 2 and run.stdout == "" and run.stderr.strip() == said


def test_annotations_that_cannot_be_evaluated_yet_are_left_alone(program):
    path = program("""
        from __future__ import annotations
        import tierup

        @tierup.njit
        def f(x: Later) -> Later:
            return x

        print(f(1), f.__annotations__)
    """)
    run = subprocess.run([sys.executable, str(path)], capture_output=True, text=True)
    assert run.stdout == "1 {'x': 'Later', 'return': 'Later'}\n", run.stderr
    if sys.version_info >= (3, 14):
        path = program("import tierup\n\n@tierup.njit\ndef f(x: Later):\n    return x\n\nprint(f(1))\nLater = int\nprint(f.__annotations__)\n")
        run = subprocess.run([sys.executable, str(path)], capture_output=True, text=True)
        assert run.stdout == "1\n{'x': <class 'int'>}\n", run.stderr
