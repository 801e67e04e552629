"""PTX of scalar and array functions: assembled by `ptxas` for three generations of GPUs, and refused at the line where a GPU cannot follow."""

import importlib.util
import os
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from harness.build import needs_llvm
from harness.processes import HANG

tierup = pytest.importorskip("tierup")



def find_ptxas():
    """The one of the PyPI package nvidia-cuda-nvcc, or one on the PATH."""
    spec = importlib.util.find_spec("nvidia")
    found = [p for root in (spec.submodule_search_locations if spec else []) for p in Path(root).glob("*/bin/ptxas")]
    return str(found[0]) if found else shutil.which("ptxas")


PTXAS = find_ptxas()


def scalar(x, y):
    return x * y + 1.0


def integers(a, b):
    return a // b + a % b


def loop(n):
    s = 0
    for i in range(n):
        if i % 3 == 0:
            s += i * i
    return s


def saxpy(a, x, y):
    for i in range(x.shape[0]):
        y[i] = a * x[i] + y[i]


def total(a):
    s = 0.0
    for x in a:
        s += x
    return s


def matmul(a, b, c):
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            s = 0.0
            for k in range(a.shape[1]):
                s += a[i, k] * b[k, j]
            c[i, j] = s


def helper(z, c):
    return z * z + c


def mandelbrot(c, out):
    z = 0j
    n = 0
    while abs(z.real) + abs(z.imag) < 4.0 and n < 100:
        z = helper(z, c)
        n += 1
    out[0] = n


def narrow(a, flag):
    if flag:
        a[0] = a[1]
    return a[0] + 1


def raises(x):
    if x < 0:
        raise ValueError("negative")
    return x ** 0.5 if x > 100 else x


def pair(x):
    return x, x + 1


def elementary(x, y):
    for i in range(x.shape[0]):
        y[i] = np.exp(x[i]) + np.log(x[i]) + np.sin(x[i]) * np.cos(x[i]) + np.tan(x[i]) + np.expm1(x[i]) + np.log1p(x[i])


FUNCTIONS = [
    (scalar, "(float64, float64)"), (scalar, "(float32, float32)"), (integers, "(int64, int64)"), (integers, "(int32, int32)"), (loop, "(int64,)"),
    (saxpy, "(float64, float64[::1], float64[::1])"), (saxpy, "(float32, float32[:], float32[:])"), (total, "(float64[:],)"), (total, "(int8[::1],)"),
    (matmul, "(float64[:, ::1], float64[:, ::1], float64[:, ::1])"), (matmul, "(float32[:, :], float32[:, :], float32[:, :])"),
    (mandelbrot, "(complex128, int64[::1])"), (narrow, "(uint8[::1], boolean)"), (pair, "(int64,)"), (elementary, "(float64[::1], float64[::1])"), (elementary, "(float32[::1], float32[::1])"),
]


def ptx(f, types, capability=90, **options):
    if f is mandelbrot:
        f.__globals__["helper"] = tierup.njit(getattr(helper, "py_func", helper))
    d = tierup.njit(**options)(f)
    d.compile(types)
    return d.inspect("ptx", capability=capability)


@needs_llvm
@pytest.mark.skipif(PTXAS is None, reason="ptxas is not installed (requirements/gpu.txt)")
@pytest.mark.parametrize("capability", [75, 90, 100])
def test_ptxas_takes_it(capability, tmp_path):
    for f, types in FUNCTIONS:
        text = ptx(f, types, capability)
        assert f".target sm_{capability}" in text and f".visible .entry {f.__name__}(" in text
        source = tmp_path / "kernel.ptx"
        source.write_text(text)
        done = subprocess.run([PTXAS, f"-arch=sm_{capability}", "-o", str(tmp_path / "kernel.cubin"), str(source)], capture_output=True, text=True, timeout=HANG)
        assert done.returncode == 0, f"{f.__name__}{types}: {done.stdout}{done.stderr}\n{text}"
        assert (tmp_path / "kernel.cubin").stat().st_size > 500


@needs_llvm
def test_arithmetic_is_strict_without_fastmath():
    assert "fma" not in ptx(scalar, "(float64, float64)") and "mul.rn.f64" in ptx(scalar, "(float64, float64)")
    assert "fma.rn.f64" in ptx(scalar, "(float64, float64)", fastmath={"contract"})


@needs_llvm
def test_parameters_are_the_arguments_without_owners():
    text = ptx(saxpy, "(float64, float64[::1], float64[::1])")
    kernel = text[text.index(".visible .entry"):text.index(")", text.index(".visible .entry"))]
    kinds = re.findall(r"\.param \.(\w+)", kernel)
    # a; data and length of x and of y; results; status.
    assert len(kinds) == 7 and kinds[0] == "f64" and set(kinds[1:]) <= {"u64", "b64"}, kinds


@needs_llvm
def test_a_bounds_error_becomes_a_status():
    def get(a, i, out):
        out[0] = a[i]

    text = ptx(get, "(float64[::1], int64, float64[::1])")
    line = get.__code__.co_firstlineno + 1
    # IndexError is class 10 of core/src/exc.rs.
    assert str((10 + 1) << 32 | line) in text, text
    # Whole words are loaded: arrays of a kernel are aligned.
    assert "ld.global.b64" in text and ".b8" not in text, text


def test_no_such_capability():
    f = tierup.njit("float64(float64, float64)")(scalar)
    with pytest.raises(ValueError, match="capability must be one of"):
        f.inspect("ptx", capability=33)


def alloc(n):
    m = n + 1
    return np.zeros(m).sum()


def handles(x):
    try:
        return 1 // x
    except ZeroDivisionError:
        return 0


def logarithm(x):
    y = x + 1.0
    return np.logaddexp(y, y)


def prints(x):
    y = x
    print(y)


def returns_array(a):
    return a


TABLE = np.arange(10.0)


def uses_global(i):
    j = i + 1
    return TABLE[j]


@pytest.mark.parametrize("f, types, line, text", [
    (alloc, "(int64,)", 2, "new object"), (handles, "(int64,)", None, "handled"), (logarithm, "(float64,)", 2, "f64_logaddexp"), (prints, "(int64,)", 2, ""),
    (returns_array, "(float64[::1],)", 0, "cannot return"), (uses_global, "(int64,)", 2, "memory of the host"),
    (len, None, 0, ""),
])
def test_what_a_gpu_cannot_do_is_said_at_its_line(f, types, line, text):
    if f is len:
        f, types, text = (lambda s: len(s)), "(unicode_type,)", "takes numbers and arrays"
    d = tierup.njit(f)
    d.compile(types)
    with pytest.raises(tierup.UnsupportedError) as e:
        d.inspect("ptx")
    message = str(e.value)
    assert "[gpu-unsupported]" in message and text in message, message
    if line is not None:
        assert f"line {f.__code__.co_firstlineno + line}, " in message, message
