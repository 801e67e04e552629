"""`python -m tierup precompile`: code that a package ships is found without LLVM, without a cache and without writing; whatever does not fit is as if it were not there."""

import json
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from harness.build import needs_llvm
from harness.processes import HANG

tierup = pytest.importorskip("tierup")

pytestmark = needs_llvm

LEVELS = [level for level in ("x86-64-v2", "x86-64-v3", "x86-64-v4") if tierup._tierup.uses_cpu(level)]

PACKAGE = """
import numpy as np
from tierup import cfunc, guvectorize, jit, njit, types, vectorize

@njit("float64(float64[::1])")
def total(a):
    s = 0.0
    for i in range(a.shape[0]):
        s += np.sin(a[i]) * 0.5
    return s

@njit(["int64(int64)", "float64(float64)"])
def square(x):
    return x * x

@vectorize(["float64(float64)"])
def doubled(x):
    return x * 2

@guvectorize(["void(float64[:], float64[:])"], "(n)->()")
def summed(a, out):
    out[0] = a.sum()

@cfunc("float64(float64)")
def callback(x):
    return x + 1

@cfunc(types.void(types.CPointer(types.double)))
def writes(p):
    p[0] = 1.0

@njit
def lazy(x):
    return x + 1
"""

# What programs print at their end.
PROGRAM = """
import json, sys
import numpy as np
from tierup import _tierup
import shipping as s
values = [s.total(np.arange(100.0)), s.square(3), s.square(1.5), s.doubled(np.ones(2)).sum(), s.summed(np.arange(4.0)), s.callback.ctypes(1.0)]
with open("/proc/self/maps") as maps:
    llvm = "libtierup_tier1" in maps.read()
print(json.dumps({"values": values, "counts": _tierup.cache_counts(), "llvm": llvm, "made for": _tierup.history(s.total, 0)[5], "tier": _tierup.history(s.total, 0)[0], "shown": str(s.total.explain())}))
"""
VALUES = [0.5 * sum(__import__("math").sin(k) for k in range(100)), 9, 2.25, 4.0, 6.0, 2.0]
# Overloads of the package: both of `square`, one of every other declared function.
DECLARED = 7


def python(*args, place, **environment):
    env = {**os.environ, "TIERUP_TIER": "auto", "TIERUP_CPU": "native", "TIERUP_CACHE": "0", "PYTHONPATH": os.pathsep.join([str(place), os.environ.get("PYTHONPATH", "")]), **environment}
    return subprocess.run([sys.executable, *map(str, args)], capture_output=True, text=True, timeout=HANG, env=env, cwd=place)


def precompile(place, *args, package="shipping", **environment):
    return python("-m", "tierup", "precompile", package, *args, place=place, **environment)


def run(place, **environment):
    done = python("-c", PROGRAM, place=place, **environment)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    found = json.loads(done.stdout)
    assert found["values"] == pytest.approx(VALUES, rel=1e-14)
    return found


def write(place, text=PACKAGE, name="shipping"):
    folder = place / name
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text(textwrap.dedent(text), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    place = tmp_path_factory.mktemp("made")
    write(place)
    done = precompile(place)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    return place, done.stdout


@pytest.fixture
def installed(made, tmp_path):
    """The package with its code, as an installer puts it there: only for reading."""
    shutil.copytree(made[0] / "shipping", tmp_path / "shipping", ignore=shutil.ignore_patterns("__pycache__"))
    folder = tmp_path / "shipping" / "__tierup__"
    for path in folder.iterdir():
        path.chmod(0o444)
    folder.chmod(0o555)
    yield tmp_path
    folder.chmod(0o755)


def test_nothing_is_compiled_and_nothing_is_written(installed):
    before = sorted(installed.rglob("*"))
    for cache in ("0", "1"):
        found = run(installed, TIERUP_CACHE=cache, TIERUP_CACHE_DIR=str(installed / "cache"), PYTHONDONTWRITEBYTECODE="1")
        assert found["counts"] == [DECLARED, 0, 0, 0] and not found["llvm"] and found["tier"] == 1
        assert found["made for"] == LEVELS[-1] and f"from its package, made for {LEVELS[-1]}" in found["shown"]
    assert sorted(installed.rglob("*")) == before


def test_a_build_without_llvm_takes_it(installed, tmp_path):
    slim = tmp_path / "slim"
    (slim / "tierup").mkdir(parents=True)
    for path in Path(tierup.__file__).parent.iterdir():
        if path.name not in ("libtierup_tier1.so", "__pycache__"):
            (slim / "tierup" / path.name).symlink_to(path)
    env = {"PYTHONPATH": os.pathsep.join([str(slim), str(installed)]), "PYTHONDONTWRITEBYTECODE": "1"}
    assert python("-c", "from tierup import _tierup; print(_tierup.has_llvm())", place=installed, **env).stdout == "False\n"
    found = run(installed, **env)
    assert found["counts"] == [DECLARED, 0, 0, 0] and found["tier"] == 1
    assert run(installed, TIERUP_PRECOMPILED="0", **env)["tier"] == 0
    done = precompile(installed, **env)
    assert done.returncode == 2 and "this build of Tierup has no LLVM" in done.stderr


def test_the_command_says_what_became_of_each_function(made):
    lines = made[1].splitlines()
    assert lines[0] == "shipping.callback(float64): compiled"
    assert "shipping.lazy: no declared signature, so it compiles at its first call" in lines
    assert {"shipping.square(int64): compiled", "shipping.square(float64): compiled", "shipping.total(array(float64, 1d, C)): compiled"} <= set(lines)
    assert sum(line.endswith(": compiled") for line in lines) == DECLARED
    assert f"for {', '.join(LEVELS)}" in lines[-1] and f"{len(LEVELS) * DECLARED} entries" in lines[-1]


def test_a_changed_source_is_compiled_anew(installed):
    path = installed / "shipping/__init__.py"
    path.write_text(path.read_text().replace("* 0.5", "* 0.25 * 2.0"))
    found = run(installed)
    assert found["made for"] is None and found["counts"][0] == DECLARED - 1


@pytest.mark.parametrize("text", ["00ff\n", "no digits\n", "", None])
def test_code_of_another_build_is_not_taken(installed, text):
    folder = installed / "shipping/__tierup__"
    folder.chmod(0o755)
    (folder / "compiler").unlink()
    if text is not None:
        (folder / "compiler").write_text(text)
    found = run(installed)
    assert found["made for"] is None and found["counts"][0] == 0 and found["counts"][3] == 0


def test_damaged_entries_are_not_taken_and_stay(installed):
    entries = list((installed / "shipping/__tierup__").glob("*.tierup"))
    for path in entries:
        path.chmod(0o644)
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 1
        path.write_bytes(data)
    found = run(installed)
    assert found["made for"] is None and found["counts"][0] == 0 and found["counts"][3] == DECLARED * len(LEVELS)
    assert all(path.exists() for path in entries)


def test_it_is_trusted_as_far_as_its_package(installed):
    folder = installed / "shipping/__tierup__"
    taken = lambda: run(installed)["made for"] is not None
    folder.chmod(0o777)
    assert not taken()
    # Who may write the package may run code anyway.
    folder.parent.chmod(0o777)
    assert taken()
    # There others may add a folder and not change what is there.
    folder.parent.chmod(0o1777)
    assert not taken()
    folder.parent.chmod(0o755)
    folder.chmod(0o755)
    # Installers link what they have unpacked once.
    for path in list(folder.iterdir()):
        os.link(path, installed / path.name)
    assert taken()
    folder.rename(installed / "elsewhere")
    folder.symlink_to(installed / "elsewhere")
    assert not taken()
    folder.unlink()
    (installed / "elsewhere").rename(folder)
    if os.geteuid() == 0:
        os.chown(folder / "compiler", 12345, -1)
        assert not taken()
        os.chown(folder.parent, 12345, -1)
        assert taken()


def test_of_several_levels_the_best_that_the_processor_has_is_taken(installed):
    for level in LEVELS:
        assert run(installed, TIERUP_CPU=level)["made for"] == level
    done = precompile(installed, "--cpu", "x86-64-v2")
    assert done.returncode == 0, done.stderr
    assert run(installed)["made for"] == "x86-64-v2"
    assert run(installed, TIERUP_PRECOMPILED="0")["made for"] is None
    if len(LEVELS) > 1:
        precompile(installed, "--cpu", LEVELS[-1])
        assert run(installed, TIERUP_CPU="x86-64-v2")["made for"] is None
        precompile(installed, "--cpu", "x86-64-v2", "--add")
        assert run(installed, TIERUP_CPU="x86-64-v2")["made for"] == "x86-64-v2" and run(installed)["made for"] == LEVELS[-1]


def test_code_for_this_very_processor_comes_first(installed):
    cache = {"TIERUP_CACHE": "1", "TIERUP_CACHE_DIR": str(installed / "cache")}
    run(installed, TIERUP_TIER="1", TIERUP_PRECOMPILED="0", **cache)
    found = run(installed, **cache)
    assert found["tier"] == 1 and found["made for"] is None and found["counts"] == [DECLARED, 0, 0, 0]
    precompile(installed, "--cpu", "native")
    assert run(installed, **cache)["made for"] == "native"


def test_other_functions_compile_as_ever(installed):
    program = "import shipping, tierup\n@tierup.njit\ndef f(x): return shipping.lazy(x) + shipping.square(x)\nprint(f(3), shipping.lazy(1), shipping.square(2.5), shipping.square(4))"
    assert python("-c", program, place=installed).stdout == "13 2 6.25 16\n"


def test_signatures_are_listed_and_modules_that_do_not_import_are_named(tmp_path):
    folder = write(tmp_path, "from tierup import jit, njit\n@njit\ndef lazy(x):\n    return x + 1\n@jit('float64(float64)', forceobj=True)\ndef object(x):\n    return eval('x')\n@jit\ndef refused(x):\n    return eval('x')\nimport warnings\nwith warnings.catch_warnings():\n    warnings.simplefilter('ignore')\n    refused(1.5)\n")
    (folder / "other.py").write_text("from tierup import njit\nclass C:\n    @staticmethod\n    @njit('int64(int64)')\n    def method(x):\n        return x\n")
    (folder / "broken.py").write_text("import nothing_of_the_kind\n")
    (folder / "__main__.py").write_text("raise SystemExit(7)\n")
    done = precompile(tmp_path, "--cpu", "x86-64-v2", "--signature", "shipping.lazy=int64(int64)", "--into", tmp_path / "into")
    assert done.returncode == 1, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "shipping.broken: not imported: ModuleNotFoundError: No module named 'nothing_of_the_kind'"
    assert lines[1] == "shipping.lazy(int64): compiled" and lines[3] == "shipping.other.C.method(int64): compiled"
    assert lines[2] == "shipping.object(float64): Python runs it, as forceobj=True asks"
    assert lines[4].startswith("shipping.refused(float): not kept: `eval` is not compiled")
    assert len(list((tmp_path / "into").glob("*.tierup"))) == 2 and not (folder / "__tierup__").exists()
    shutil.copytree(tmp_path / "into", folder / "__tierup__")
    program = "import shipping.other; from tierup import _tierup; print(shipping.lazy(2), shipping.other.C.method(3), _tierup.cache_counts()[0])"
    assert python("-c", program, place=tmp_path).stdout == "3 3 2\n"


def test_a_package_in_a_package_and_one_written_for_numba(tmp_path):
    write(tmp_path, "", "outer")
    write(tmp_path / "outer", "from numba import njit\n@njit('int64(int64)')\ndef f(x):\n    return x + 1\n", "inner")
    assert "0 entries" in precompile(tmp_path, package="outer").stdout.splitlines()[-1]
    done = precompile(tmp_path, "--as-numba", package="outer.inner")
    assert done.returncode == 0 and done.stdout.startswith("outer.inner.f(int64): compiled"), done.stdout + done.stderr
    (tmp_path / "program.py").write_text("from outer.inner import f; from tierup import _tierup; print(f(1), _tierup.cache_counts()[0])")
    assert python("-m", "tierup", "--as-numba", "program.py", place=tmp_path).stdout == "2 1\n"


@pytest.mark.parametrize(("args", "said"), [
    (["nothing_there"], "there is no package nothing_there"), (["json.decoder"], "json.decoder is a module"), (["shipping", "--signature", "os.f=int64(int64)"], "with the name of a function of shipping"),
    (["shipping", "--signature", "shipping.g=int64(int64)"], "cannot be precompiled"), (["shipping", "--cpu", "i386"], "makes no code for"), (["--nothing"], "unrecognized arguments|required"),
])
def test_what_is_not_there_is_refused(tmp_path, args, said):
    import re
    write(tmp_path, "from tierup import njit\n")
    done = python("-m", "tierup", "precompile", *args, place=tmp_path)
    assert done.returncode == 2 and re.search(said, done.stderr), done.stderr


def test_a_package_that_declares_nothing_ships_nothing(tmp_path):
    write(tmp_path, "")
    done = precompile(tmp_path)
    assert done.returncode == 1 and done.stdout.startswith("no function of the package is decorated\n0 entries")
