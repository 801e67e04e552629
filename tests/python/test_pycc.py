"""`CC` of `numba.pycc`: extension modules that are built ahead of time, and what goes into them."""

import os
import re
import subprocess
import sys
import sysconfig
import textwrap
from pathlib import Path

import pytest

from harness.build import needs_llvm
from harness.processes import HANG

tierup = pytest.importorskip("tierup")

from tierup import _pycc  # noqa: E402

HEADER = Path(sysconfig.get_path("include"), "Python.h")
pytestmark = [needs_llvm, pytest.mark.skipif(_pycc._compiler() is None or not HEADER.exists(), reason="this machine has no C compiler, or no headers of Python")]

SOURCE = """
import math
import numpy as np
from numba import njit
from numba.pycc import CC

cc = CC("built")
SCALE = 3
TABLE = np.arange(4.0)

@njit
def helper(x):
    return x * SCALE

@njit("int64(int64)")
def factorial(n):
    return 1 if n < 2 else n * factorial(n - 1)

def plain(x):
    return helper(x) + math.sqrt(4.0)

@cc.export("multf", "f8(f8, f8)")
@cc.export("multi", "i4(i4, i4)")
def mult(a, b):
    return a * b

@cc.export("centdiff_1d", "f8[:](f8[:], f8)")
def centdiff_1d(u, dx):
    D = np.empty_like(u)
    D[0] = 0
    D[-1] = 0
    for i in range(1, len(D) - 1):
        D[i] = (u[i + 1] - 2 * u[i] + u[i - 1]) / dx ** 2
    return D

@cc.export("uses", "f8(f8)")
def uses(x):
    return plain(x) + TABLE.sum() + factorial(4)

if __name__ == "__main__":
    cc.compile()
"""

CALLS = """
import json, sys
import numpy as np
import built
from tierup import _tierup
found = [built.multf(2.5, 2), built.multi(3, 4), built.centdiff_1d(np.array([0., 1., 4., 9.]), 1.0).tolist(), built.uses(2.0), built.multf.__module__, built.multf.__name__]
with open("/proc/self/maps") as maps:
    found += ["libtierup_tier1" in maps.read(), _tierup.cache_counts(), "source" in sys.modules, built.__file__.endswith(".so")]
print(json.dumps(found))
"""


def python(place, *args, **environment):
    env = {**os.environ, "TIERUP_TIER": "auto", "TIERUP_CPU": "native", "TIERUP_CACHE": "0", **environment}
    return subprocess.run([sys.executable, *map(str, args)], capture_output=True, text=True, timeout=HANG, env=env, cwd=place)


def write(place, text, name="source.py"):
    (place / name).write_text(textwrap.dedent(text), encoding="utf-8")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    place = tmp_path_factory.mktemp("built")
    write(place, SOURCE)
    done = python(place, "-m", "tierup", "--as-numba", "source.py")
    assert done.returncode == 0 and done.stderr == "", done.stderr
    (place / "source.py").rename(place / "elsewhere.txt")
    return place


def test_the_module_has_the_functions_compiled(place):
    import json
    done = python(place, "-c", CALLS)
    assert done.returncode == 0, done.stderr
    want = [5.0, 12, [0.0, 2.0, 2.0, 0.0], 6.0 + 2.0 + 6.0 + 24, "built", "multf", False, [5, 0, 0, 0], False, True]
    assert json.loads(done.stdout) == want
    # Where nothing that was made fits, it compiles.
    assert json.loads(python(place, "-c", CALLS, TIERUP_PRECOMPILED="0").stdout)[:4] == want[:4]
    assert json.loads(python(place, "-c", CALLS, TIERUP_TIER="0").stdout)[:4] == want[:4]


def test_arguments_are_converted_to_declared_types_and_others_refused(place):
    done = python(place, "-c", "import built\nprint(built.multf(True, 3), built.multi(2, 5))\nfor bad in ('a', 1j, None):\n    try: built.multf(bad, 1)\n    except TypeError: print('refused')")
    assert done.stdout.split() == ["3.0", "10", "refused", "refused", "refused"], done.stdout + done.stderr


def test_another_version_of_tierup_is_an_import_error(place):
    done = python(place, "-c", "import tierup; tierup.__version__ = '9.9'; import built")
    assert done.returncode == 1 and f"ImportError: built was compiled by tierup {tierup.__version__}" in done.stderr and "and this is tierup 9.9" in done.stderr


def test_the_example_of_the_guide_works(tmp_path):
    page = (Path(__file__).resolve().parents[2] / "docs/guide/ahead-of-time.md").read_text(encoding="utf-8")
    program, calls, said = re.search(r"\$ cat build_it.py\n(.*?)\$ python -m tierup --as-numba build_it.py\n\$ python -c '(.*?)'\n(.*?)```", page, re.S).groups()
    write(tmp_path, program, "build_it.py")
    done = python(tmp_path, "-m", "tierup", "--as-numba", "build_it.py")
    assert done.returncode == 0, done.stderr
    assert python(tmp_path, "-c", calls).stdout == said


def test_setuptools_builds_it(tmp_path):
    pytest.importorskip("setuptools")
    (tmp_path / "pack").mkdir()
    write(tmp_path, "", "pack/__init__.py")
    write(tmp_path, SOURCE, "pack/source.py")
    write(tmp_path, "from setuptools import setup\nfrom pack.source import cc\nsetup(name='pack', version='1', packages=['pack'], ext_modules=[cc.distutils_extension()])\n", "setup.py")
    done = python(tmp_path, "-m", "tierup", "--as-numba", "setup.py", "build_ext", "--inplace")
    assert done.returncode == 0, done.stdout + done.stderr
    assert python(tmp_path, "-c", "from pack import built; print(built.multi(3, 5))").stdout == "15\n"


@pytest.mark.parametrize(("text", "said"), [
    ("class C: pass\n@cc.export('f', 'i8(i8)')\ndef f(x):\n    C\n    return x\n", "TypeError: the class C is of the module that is compiled"),
    ("import sys\nme = sys.modules[__name__]\n@cc.export('f', 'i8(i8)')\ndef f(x):\n    me\n    return x\n", "TypeError: a function reads its own module"),
    ("@cc.export('f', 'i8(i8)')\ndef f(x):\n    return eval('x')\n", "RuntimeError: UnsupportedError: `eval` is not compiled|RuntimeError: TypingError: `eval` is not compiled"),
    ("", "ValueError: nothing is exported from built"),
    ("cc.target_cpu = 'ivybridge'\n@cc.export('f', 'i8(i8)')\ndef f(x):\n    return x\n", "ValueError: this machine makes no code for 'ivybridge'"),
    ("@cc.export('f', 'i8(i8)')\n@cc.export('f', 'f8(f8)')\ndef f(x):\n    return x\n", "KeyError: 'duplicated export symbol f'"),
    ("@cc.export('f', ['i8(i8)', 'f8(f8)'])\ndef f(x):\n    return x\n", "TypeError: export takes one signature"),
    ("CC('not a name')", "ValueError: an extension module is named by an identifier"),
])
def test_what_cannot_go_into_a_module_is_refused(tmp_path, text, said):
    write(tmp_path, "from numba.pycc import CC\ncc = CC('built')\n" + text + "\ncc.compile()\n")
    done = python(tmp_path, "-m", "tierup", "--as-numba", "-c", "import source")
    assert done.returncode == 1 and re.search(said, done.stderr), done.stderr
    assert not list(tmp_path.glob("*.so*"))


def test_without_a_c_compiler_it_says_so(monkeypatch):
    cc = _pycc.CC("built", sys.modules[__name__])
    cc.export("f", "int64(int64)")(lambda x: x)
    monkeypatch.setattr(_pycc, "_compiler", lambda: None)
    with pytest.raises(RuntimeError, match="there is no C compiler"):
        cc.compile()
    assert cc.name == "built" and cc.output_file.startswith("built.") and cc.output_dir == os.path.dirname(__file__)
