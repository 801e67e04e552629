"""Kernels that call functions of another compiler's: their PTX, linked by NVIDIA's `nvlink`; what the simulator says; which files are taken."""

import subprocess
from pathlib import Path

import numpy as np
import pytest

from harness.build import needs_llvm
from harness.processes import HANG
from test_ptx import PTXAS

tierup = pytest.importorskip("tierup")
from tierup import cuda, types  # noqa: E402

NVLINK = Path(PTXAS).with_name("nvlink") if PTXAS else None

LIBRARY = """
.version 7.0
.target sm_75
.address_size 64
.visible .func (.param .b32 status) doubled(.param .b64 result, .param .b32 x)
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [result];
    ld.param.u32 %r1, [x];
    add.s32 %r2, %r1, %r1;
    st.u32 [%rd1], %r2;
    mov.u32 %r1, 0;
    st.param.b32 [status], %r1;
    ret;
}
.visible .func (.param .b32 status) scaled(.param .b64 result, .param .b64 values, .param .b64 factor)
{
    .reg .b32 %r<2>;
    mov.u32 %r1, 0;
    st.param.b32 [status], %r1;
    ret;
}
"""


def kernel(path, **simulate):
    doubled = cuda.declare_device("doubled", "int32(int32)", **simulate)
    scaled = cuda.declare_device("scaled", types.void(types.CPointer(types.float32), types.float64), **{k: lambda values, factor: None for k in simulate})

    @cuda.jit(link=[path])
    def f(x, y):
        i = cuda.grid(1)
        x[i] = doubled(x[i])
        scaled(y, 2)

    return f


@pytest.fixture
def library(tmp_path):
    path = tmp_path / "library.ptx"
    path.write_text(LIBRARY)
    return path


@needs_llvm
@pytest.mark.skipif(NVLINK is None or not NVLINK.exists(), reason="nvlink is not installed (requirements/gpu.txt)")
def test_nvlink_joins_a_kernel_and_what_it_calls(library, tmp_path):
    (tmp_path / "kernel.ptx").write_text(kernel(library).ptx("(int32[::1], float32[::1])", 75))
    for name in "kernel", "library":
        subprocess.run([PTXAS, "-c", "-arch=sm_75", tmp_path / f"{name}.ptx", "-o", tmp_path / f"{name}.o"], check=True, timeout=HANG)
    subprocess.run([NVLINK, "-arch=sm_75", tmp_path / "kernel.o", tmp_path / "library.o", "-o", tmp_path / "whole"], check=True, timeout=HANG)
    # Without the library a function is missing.
    assert subprocess.run([NVLINK, "-arch=sm_75", tmp_path / "kernel.o", "-o", tmp_path / "part"], capture_output=True, timeout=HANG).returncode != 0


@pytest.mark.skipif(not cuda.is_simulated(), reason="a GPU runs it")
def test_the_simulator_runs_what_is_named_in_the_place(library):
    with pytest.raises(TypeError, match=r"made for a GPU, such as doubled\(\)"):
        kernel(library)[1, 4](np.arange(4, dtype=np.int32), np.zeros(4, np.float32))
    x = np.arange(4, dtype=np.int32)
    kernel(library, simulate=lambda x: 2 * x)[1, 4](x, np.zeros(4, np.float32))
    np.testing.assert_array_equal(x, [0, 2, 4, 6])


@pytest.mark.skipif(cuda.is_simulated(), reason="the simulator runs no code for a GPU")
def test_a_gpu_runs_what_is_linked(library):
    x = np.arange(4, dtype=np.int32)
    kernel(library)[1, 4](x, np.zeros(4, np.float32))
    np.testing.assert_array_equal(x, [0, 2, 4, 6])


def test_which_files_are_linked(tmp_path):
    for name, error, text in [("a.cuh", RuntimeError, "extension .cuh"), ("a", RuntimeError, "no extension"), ("a.cu", NotImplementedError, "NVIDIA's compiler"), ("a.ptx", FileNotFoundError, "a.ptx")]:
        with pytest.raises(error, match=text):
            cuda.jit(link=[tmp_path / name])


def _of_array(f):
    def kernel(x):
        f(x)

    return kernel


def test_what_declarations_say(library):
    for signature, error in [("(int32,)", TypeError), ((types.int32,), TypeError)]:
        with pytest.raises(error):
            cuda.declare_device("f", signature)
    with pytest.raises(ValueError):
        cuda.declare_device("no name", "int32(int32)")
    with pytest.raises(TypeError, match=r"CPointer\(dtype\)"):
        cuda.jit("(float64[::1],)")(_of_array(cuda.declare_device("f", types.int32(types.float64[:]))))
    f = cuda.declare_device("f", "int32(int32)")
    assert (f.name, f.sig) == ("f", types.int32(types.int32))
    with pytest.raises(RuntimeError, match="call it in a kernel"):
        f(1)
    for body, text in ("f(1.5)", "takes int32"), ("f(x)", "takes int32"), ("f()", "missing required argument"):
        space = {"cuda": cuda, "f": f}
        exec(f"def kernel(x):\n    x[0] = {body}\n", space)
        with pytest.raises(TypeError, match=text):
            cuda.jit("(int32[::1],)")(space["kernel"])
