"""C headers for callbacks: a C compiler takes them, and what C fills by them compiled code reads."""

import ctypes
import os
import shutil
import subprocess
import sys
import types as python_types

import numpy as np
import pytest

tierup = pytest.importorskip("tierup")

from harness.processes import HANG  # noqa: E402
from tierup import _header, carray, cfunc, types  # noqa: E402

COMPILER = shutil.which("cc") or shutil.which("gcc")
needs_c = pytest.mark.skipif(COMPILER is None, reason="this machine has no C compiler")

inner = np.dtype([("a", np.int8), ("b", np.float64)], align=True)
point = np.dtype([("x", np.float64), ("class", np.int32), ("tag", "S3"), ("text", "U2"), ("grid", np.int16, (2, 3)), ("z", np.complex128), ("ok", np.bool_), ("in_", inner), ("many", inner, (2,)), ("when", "M8[s]")], align=True)
tight = np.dtype([("c", np.uint8), ("d", np.float64), ("e", np.int16)])
spread = np.dtype({"names": ["a", "b"], "formats": [np.int32, np.int32], "offsets": [4, 16], "itemsize": 40})

if tierup.config.tier != "off":
    @cfunc("float64(float64)")
    def integrand(x):
        """What is */ integrated.

        More of it.
        """
        return x * x

    @cfunc(types.float64(types.CPointer(types.float64), types.intp))
    def sums(p, register):
        total = np.zeros(1, tight)
        for x in carray(p, register):
            total[0].d += x
        return total[0].d

    @cfunc(types.void(types.CPointer(types.complex64), types.uint8, types.boolean))
    def writes(p, n, double):
        p[0] = n + 1j if double else 1j

    @cfunc("int64()")
    def nothing():
        return 7


def module():
    made = python_types.ModuleType("my.module")
    vars(made).update({k: v for k, v in globals().items() if isinstance(v, _header.CFunc)}, spread=spread, point=point, tight=tight, _hidden=np.dtype([("o", object)]))
    return made


def built(tmp_path, text, program, language="c"):
    (tmp_path / "module.h").write_text(text)
    source, library = tmp_path / f"program.{language}", tmp_path / "program.so"
    source.write_text('#include "module.h"\n#include "module.h"\n' + program)
    done = subprocess.run([COMPILER, *(["-x", "c++"] if language == "cpp" else ["-std=c11"]), "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o", str(library), str(source)], capture_output=True, text=True, timeout=HANG)
    assert done.returncode == 0, done.stderr + text
    return ctypes.CDLL(str(library))


@needs_c
def test_c_calls_what_the_header_declares(tmp_path):
    lib = built(tmp_path, _header.of_module(module())[0], """
double call(integrand_fn f, double x) { return f(x); }
double call_sums(sums_fn f) {
    double p[3] = {1.0, 10.0, 100.0};
    return f(p, 3);
}
void fill(struct point *p, struct tight *t, struct spread *s) {
    p[1].x = 1.0; p[1].class_ = 3; p[1].grid[1][2] = 10; p[1].in_.b = 100.0; p[1].z.imag = 1000.0; p[1].tag[2] = 'x'; p[1].text[1] = 'y'; p[1].many[1].a = 1; p[1].when = 5; p[1].ok = true;
    t[1] = (struct tight){4, 50.0, 600};
    s[1].a = 1; s[1].b = 2;
}
float call_writes(writes_fn f) {
    struct tierup_complex64 z;
    f(&z, 255, true);
    return z.real + z.imag;
}
int64_t call_nothing(nothing_fn f) { return f() + (int64_t)sizeof(struct spread); }
""")
    for name, f, *args, want in (("call", integrand, ctypes.c_double(3), 9.0), ("call_sums", sums, 111.0)):
        function = getattr(lib, name)
        function.restype = ctypes.c_double
        assert function(ctypes.c_void_p(f.address), *args) == want
    lib.call_writes.restype, lib.call_nothing.restype = ctypes.c_float, ctypes.c_int64
    assert lib.call_writes(ctypes.c_void_p(writes.address)) == 256.0
    assert lib.call_nothing(ctypes.c_void_p(nothing.address)) == 47
    p, t, s = np.zeros(2, point), np.zeros(2, tight), np.zeros(2, spread)
    lib.fill(*(ctypes.c_void_p(a.ctypes.data) for a in (p, t, s)))
    want = np.zeros(2, point)
    want[1] = (1.0, 3, b"\0\0x", "\0y", np.array([[0, 0, 0], [0, 0, 10]]), 1000j, True, (0, 100.0), [(0, 0.0), (1, 0.0)], np.datetime64(5, "s"))
    assert (p == want).all() and t[1].tolist() == (4, 50.0, 600) and s[1].tolist() == (1, 2)
    read = tierup.njit(lambda t: t[1].c + t[1].d + t[1].e)
    assert read(t) == 654.0


@needs_c
def test_a_cpp_compiler_takes_it(tmp_path):
    if subprocess.run([COMPILER, "-x", "c++", "-fsyntax-only", "-"], input="int f();", capture_output=True, text=True).returncode:
        pytest.skip("the C compiler of this machine compiles no C++")
    built(tmp_path, _header.of_module(module())[0], "extern \"C\" double call(integrand_fn f, double x) { return f(x); }", "cpp")


def test_a_header_of_one_function_has_the_records_that_it_names():
    text = sums.header()
    assert "typedef double (*sums_fn)(double *p, int64_t register_);" in text and "struct tight {" in text and "#pragma pack(push, 1)" in text and "point" not in text
    assert "typedef double (*integrand_fn)(double x);" in integrand.header() and "What is * / integrated. */" in integrand.header() and "struct" not in integrand.header()
    assert "(struct tierup_complex64 *p, uint8_t n, bool double_)" in writes.header() and "(*nothing_fn)(void)" in nothing.header()
    assert "pack" not in aligned()


def aligned():
    header = _header.Header()
    header.add_struct("point", point)
    return header.text("H")


@pytest.mark.parametrize(("dtype", "said"), [
    (np.dtype([("o", object)]), "has the dtype object"), (np.dtype([("x", ">f8")]), "bytes in the other order"), (np.dtype([("a b", np.int8)]), "has no name that C could have"),
    (np.dtype({"names": ["a", "b"], "formats": [np.int32, np.int32], "offsets": [0, 2]}), "overlap at 'b'"), (np.dtype([("x", np.longdouble)]), "has the dtype"),
])
def test_records_that_c_has_no_form_for_are_refused(dtype, said):
    with pytest.raises(ValueError, match=said):
        _header.Header().add_struct("r", dtype)


def test_two_records_of_one_name_are_refused():
    header = _header.Header()
    header.add_struct("r", tight)
    header.add_struct("r", tight)
    with pytest.raises(ValueError, match="two records are called 'r'"):
        header.add_struct("r", point)


def test_the_command(tmp_path):
    (tmp_path / "callbacks.py").write_text("from tierup import cfunc\n@cfunc('float64(float64)')\ndef f(x):\n    return x\n")
    (tmp_path / "empty.py").write_text("")

    def command(*args):
        return subprocess.run([sys.executable, "-m", "tierup", "header", *args], capture_output=True, text=True, timeout=HANG, cwd=tmp_path, env={**os.environ, "TIERUP_TIER": "0"})

    done = command("callbacks")
    assert done.returncode == 0 and "typedef double (*f_fn)(double x);" in done.stdout and "#ifndef CALLBACKS_H" in done.stdout
    assert command("callbacks", "-o", "f.h").stdout == "" and (tmp_path / "f.h").read_text() == done.stdout
    assert command("empty").returncode == 1 and command("nothing_there").returncode == 2 and "there is no module nothing_there" in command("nothing_there").stderr
