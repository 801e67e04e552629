"""`print` in kernels: the text that Python would print, when the device is next waited for."""

import subprocess

import numpy as np
import pytest

from harness.build import needs_llvm
from harness.processes import HANG
from test_ptx import PTXAS

tierup = pytest.importorskip("tierup")
from tierup import cuda  # noqa: E402

SEP = " | "


def printed(capfd, kernel, *args, grid=1, block=1):
    """What a launch writes, once it is waited for."""
    cuda.synchronize()
    capfd.readouterr()
    kernel[grid, block](*args)
    if cuda.is_simulated():
        assert capfd.readouterr().out == ""
    cuda.synchronize()
    out = capfd.readouterr().out
    cuda.synchronize()
    assert capfd.readouterr().out == ""
    return out


@cuda.jit
def values(i, f, d, flag, z, w):
    print(i[0], f[0], d[0], flag, z[0], w[0])
    print()
    print("hop!", (i[0], (d[0],)), ("it's", 1), None, 2.5, True)
    print(i[0], d[0], sep=SEP, end="\x01.\n")


def test_numbers_texts_and_tuples_are_printed_as_by_python(capfd):
    for i, f, d, flag, z, w in [(np.int8(-3), 0.1, 1e300, True, 1 - 2j, 0.1j), (np.uint64(2**64 - 1), np.inf, -0.0, False, complex(np.nan, 1), 3), (np.int32(7), 1e-9, 1.0, True, 0, 1e20)]:
        i, f, d, z, w = np.array([i]), np.array([f], np.float32), np.array([d]), np.array([z], np.complex128), np.array([w], np.complex64)
        want = f"{i[0]} {str(f[0])} {d[0]} {flag} {complex(z[0])} {str(w[0])}\n\nhop! {(int(i[0]), (float(d[0]),))} (\"it's\", 1) None 2.5 True\n{i[0]}{SEP}{d[0]}\x01.\n"
        assert printed(capfd, values, *map(cuda.to_device, (i, f, d)), flag, *map(cuda.to_device, (z, w))) == want


def test_every_thread_prints_and_calls_are_not_mixed(capfd):
    @cuda.jit(device=True)
    def tell(i):
        print("thread", i)

    @cuda.jit
    def kernel(x):
        i = cuda.grid(1)
        if i % 2:
            tell(i)
        else:
            print(x[i], "from", i)

    out = printed(capfd, kernel, cuda.to_device(np.arange(64) * 10), grid=2, block=32)
    assert sorted(out.splitlines()) == sorted(f"thread {i}" if i % 2 else f"{10 * i} from {i}" for i in range(64))


def test_floats_of_16_bits(capfd):
    @cuda.jit
    def kernel(x):
        print(x[0], x[1])

    x = np.array([0.1, 2], np.float16)
    assert printed(capfd, kernel, cuda.to_device(x)) == f"{str(x[0])} {str(x[1])}\n"


def test_what_does_not_fit_is_told(capfd):
    @cuda.jit
    def kernel(n):
        for k in range(n):
            print(k, k + 1)

    with pytest.warns(RuntimeWarning, match="lost"):
        out = printed(capfd, kernel, 50_000)
    lines = out.splitlines()
    assert 40_000 < len(lines) < 50_000 and lines == [f"{k} {k + 1}" for k in range(len(lines))]
    assert printed(capfd, kernel, 2) == "0 1\n1 2\n"


def test_a_launch_with_arrays_of_the_host_waits(capfd):
    @cuda.jit
    def kernel(x):
        print(x[0])

    capfd.readouterr()
    kernel[1, 1](np.ones(1))
    assert capfd.readouterr().out == "1.0\n"


def test_what_is_printed_comes_before_the_exception(capfd):
    @cuda.jit
    def kernel(x):
        print("before", x[0])
        x[5] = 1

    kernel[1, 1](cuda.to_device(np.ones(1)))
    with pytest.raises(IndexError):
        cuda.synchronize()
    assert capfd.readouterr().out == "before 1.0\n"


def test_what_kernels_do_not_print_is_said_at_its_line():
    def array(x):
        y = x[0]
        print(y, x)

    def chosen(x):
        print(x[0], sep="a" if x[0] > 1 else "bc")

    for f, line in [(array, 2), (chosen, 1)]:
        with pytest.raises(tierup.TierupError) as e:
            cuda.jit(f)[1, 1](cuda.to_device(np.ones(1)))
        assert f"line {f.__code__.co_firstlineno + line}," in str(e.value), e.value
    with pytest.raises(tierup.UnsupportedError, match="prints nothing"):
        cuda.compile_ptx(lambda x: print(x), "(int64,)", device=True)


@needs_llvm
@pytest.mark.skipif(PTXAS is None, reason="ptxas is not installed (requirements/gpu.txt)")
@pytest.mark.parametrize("capability", [75, 80, 90, 100])
def test_ptxas_takes_it(capability, tmp_path):
    source = tmp_path / "kernel.ptx"
    source.write_text(values.ptx("(int64[::1], float32[::1], float64[::1], boolean, complex128[::1], complex64[::1])", capability))
    done = subprocess.run([PTXAS, f"-arch=sm_{capability}", "-o", str(tmp_path / "kernel.cubin"), str(source)], capture_output=True, text=True, timeout=HANG)
    assert done.returncode == 0, f"{done.stdout}{done.stderr}"
