"""What bad input gets at the boundary: a clear Python exception, nothing left behind. Programs that could crash run in processes of their own."""

import gc
import pickle
import subprocess
import sys
import textwrap
import threading
import types
import warnings

import numpy as np
import pytest
from harness.processes import HANG

tierup = pytest.importorskip("tierup")
pytestmark = pytest.mark.isolated
njit, jit = tierup.njit, tierup.jit


@njit
def same(x):
    return x


def run(program, *arguments, timeout=HANG):
    source = "import os, sys, threading, time\nimport numpy as np\nimport tierup\nfrom tierup import njit, jit\n" + textwrap.dedent(program)
    done = subprocess.run([sys.executable, "-c", source, *arguments], capture_output=True, text=True, timeout=timeout)
    assert done.returncode == 0, f"exit status {done.returncode}: {done.stdout}{done.stderr}"
    return done.stdout.strip()


# -- arguments -----------------------------------------------------------------------------------------------------------------------------------


class HostileMeta(type):
    def __getattribute__(cls, name):
        raise RuntimeError("no " + name)


class HostileClass(metaclass=HostileMeta):
    pass


REFUSED = [
    {1: 2, 1.5: 3}, {1, 2.5}, HostileClass(), (x for x in [1]), sys.stdout, np.longdouble(1), np.zeros(2, np.float16),
    np.zeros(2, ">f8"), np.array([None]), np.array(["a"], ">U1"), np.array(["2020-01-01"], "M8[7D]"), np.zeros(1, "m8[10s]")[0], np.zeros(2, [("a", "i4"), ("b", "O")]),
    np.zeros(2, [("a", "O")])[0], np.void(b"abc"), np.matrix([[1, 2]]), np.ma.array([1, 2], mask=[0, 1]), [1, [2]], [None, HostileClass()],
    slice("a"), [].append, ValueError("x"),
]


@pytest.mark.parametrize("value", REFUSED, ids=lambda v: type(v).__name__ if type(v) is not HostileClass else "HostileClass")
def test_what_cannot_be_taken_is_a_type_error_that_names_it(value):
    with pytest.raises(tierup.TypingError) as caught:
        same(value)
    text = str(caught.value)
    assert "argument 'x' of same()" in text and "def same(x):" in text and "help:" in text, text
    # The same function takes other arguments afterwards.
    assert same(3) == 3


@pytest.mark.parametrize("value", [2**64, -2**63 - 1, [2**70], (1, -2**64), range(2**70), slice(2**70)])
def test_ints_of_more_than_64_bits_overflow(value):
    with pytest.raises(OverflowError):
        same(value)


class Sub(np.ndarray):
    pass


@pytest.mark.parametrize("value", [np.zeros(3).view(Sub), np.zeros((1,) * 64), np.zeros((3, 0, 2)), np.array(5), np.broadcast_to(np.zeros(1), (3,)), np.arange(5)[::-1],
                                   np.frombuffer(b"\0" * 17, np.uint8)[1:].view(np.float64), np.zeros(2, np.longlong), np.zeros(2, np.intc)], ids=repr)
def test_unusual_arrays_come_back_as_themselves(value):
    assert same(value) is value


def test_a_view_keeps_the_array_alive_and_has_it_as_base():
    @njit
    def tail(a):
        return a[1:]
    a = np.arange(5.0)
    v = tail(a)
    assert v.base is a
    del a
    gc.collect()
    assert v.tolist() == [1, 2, 3, 4]
    owned = njit(lambda n: np.arange(n) * 2)(4)
    assert owned.base is None or owned.base is not None and owned.flags.writeable
    gc.collect()
    assert owned.tolist() == [0, 2, 4, 6]


# -- code ----------------------------------------------------------------------------------------------------------------------------------------

CODE = (lambda x: x + 1.5).__code__
# 255 stands for code of CPython's own tiers in later versions, which it looks up where it gives the bytes of a code object.
UNKNOWN = 255 if sys.version_info < (3, 13) else 126
BROKEN = {
    "unknown opcodes": dict(co_code=bytes([UNKNOWN, 0]) * 4), "nothing": dict(co_code=b""), "no end": dict(co_code=CODE.co_code[:-2]), "junk exception table": dict(co_exceptiontable=b"\xff\x01\x02\x03"),
    "no constants": dict(co_consts=()),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_bytecode_is_refused(name):
    f = njit(types.FunctionType(CODE.replace(**BROKEN[name]), {}))
    with pytest.raises(tierup.UnsupportedError, match="unsupported-bytecode"):
        f(1)


@pytest.mark.parametrize("lines", [b"", b"\xff\x01\x02"])
def test_code_without_lines_works(lines):
    assert njit(types.FunctionType(CODE.replace(co_linetable=lines), {}))(1) == 2.5


@pytest.mark.parametrize("thing", [5, len, int, np.sin, property(lambda s: 1), "a".upper, pytest], ids=lambda v: type(v).__name__)
def test_only_functions_are_compiled(thing):
    with pytest.raises(TypeError, match="cannot compile"):
        njit(thing)


# -- signatures ----------------------------------------------------------------------------------------------------------------------------------

BAD = ["nonsense(8", "foo(i8)", "i8", "", "f8[:]", "i8(i8))", "f8(f8[1])", "f8(f8[::2])", "f8(f8[::1, ::1])", "i8(i8); import os", "__import__('os')", "i8(int128)", "object(object)",
       "1", "i8(1)", "[i8]", "f8(f8).x", "i8(i8, i8)", "i8()", "unicode_type(i8)", tierup.types.int64, ["i8(i8)", 5]]


@pytest.mark.parametrize("signature", BAD, ids=repr)
def test_a_bad_signature_says_what_is_wrong(signature):
    with pytest.raises(tierup.TypingError, match=r"\[bad-signature\]"):
        njit(signature)(lambda a: a)


T = tierup.types
GOOD = [
    ("f8(f8)", 3, 3.0), ("(f8,)", 3, 3.0), ("int64(int64,)", 1, 1), ("UniTuple(i8, 2)(UniTuple(i8, 2))", (1, 2), (1, 2)), ("optional(i8)(optional(i8))", None, None),
    (T.float64(T.float64), 2, 2.0), (T.unicode_type(T.unicode_type), "x", "x"), (T.UniTuple(T.int64, 2)(T.UniTuple(T.int64, 2)), (3, 4), (3, 4)),
    (T.Tuple((T.int64, T.float64))(T.Tuple((T.int64, T.float64))), (1, 2), (1, 2.0)), (["i8(i8)", "f8(f8)"], 2.5, 2.5), (["f8(f8)", "i8(i8)"], 2, 2),
    ([T.int64(T.int64), (T.float64,)], 2.5, 2.5), ("boolean(boolean)", True, True), ("c16(c16)", 1, 1 + 0j), ("List(i8)(List(i8))", [1, 2], [1, 2]),
]


@pytest.mark.parametrize("signature, argument, result", GOOD, ids=repr)
def test_signatures_as_numba_writes_them(signature, argument, result):
    f = njit(signature)(lambda a: a)
    assert f(argument) == result and type(f(argument)) is type(result)
    # It travels with copies, and survives `recompile`.
    for g in (pickle.loads(pickle.dumps(f)), f):
        g.recompile()
        assert g.signatures == f.signatures and g(argument) == result
        with pytest.raises(TypeError, match="No matching definition|positional"):
            g(np.zeros((2, 2), np.float32))


def test_a_read_only_signature_takes_both():
    frozen = np.arange(3.0)
    frozen.flags.writeable = False
    f = njit(T.float64(T.Array(T.float64, 1, "C", readonly=True)))(lambda a: a.sum())
    assert f(frozen) == f(np.arange(3.0)) == 3.0
    g = njit("f8(f8[:])")(lambda a: a.sum())
    with pytest.raises(TypeError, match="readonly"):
        g(frozen)


def test_a_declared_result_type_survives_recompiling():
    f = njit("f8(i8)")(lambda a: a)
    f.recompile()
    assert isinstance(f(3), float)


# -- settings ------------------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name, value", [("tier", "9"), ("calls", "-1"), ("calls", "many"), ("boundscheck", "perhaps"), ("dump", "lirr"), ("num_threads", "0")])
def test_unknown_values_of_settings_are_refused(name, value):
    before = getattr(tierup.config, name)
    with pytest.raises(ValueError, match=name):
        setattr(tierup.config, name, value)
    assert getattr(tierup.config, name) == before


def test_an_unknown_variable_is_refused_by_import():
    import os
    done = subprocess.run([sys.executable, "-c", "import tierup"], capture_output=True, text=True, timeout=HANG, env={**os.environ, "TIERUP_TEIR": "0"})
    assert done.returncode == 1 and "TIERUP_TEIR is no setting" in done.stderr and "TIERUP_TIER" in done.stderr


# -- where it cannot run -------------------------------------------------------------------------------------------------------------------------


def test_a_subinterpreter_is_refused_by_import():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if sys.version_info >= (3, 13):
            import _interpreters as interpreters
            said = interpreters.run_string(interpreters.create(), "import tierup").formatted
        else:
            import _xxsubinterpreters as interpreters
            with pytest.raises(interpreters.RunFailedError) as failed:
                interpreters.run_string(interpreters.create(), "import tierup")
            said = str(failed.value)
    # Some versions look themselves whether an extension can be loaded there.
    assert "ImportError" in said and "subinterpreters" in said


def test_an_extension_module_for_another_python_is_named_as_the_reason(tmp_path):
    import shutil
    from pathlib import Path
    shutil.copytree(Path(tierup.__file__).parent, tmp_path / "tierup", ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    (tmp_path / "tierup" / "_tierup.cpython-399-x86_64-linux-gnu.so").write_bytes(b"")
    done = subprocess.run([sys.executable, "-S", "-c", f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import tierup"], capture_output=True, text=True, timeout=HANG)
    assert "ImportError: tierup cannot be loaded by cpython 3." in done.stderr and "was not built for this one" in done.stderr, done.stderr


# -- bugs of our own -----------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("raises", [True, False])
def test_a_panic_of_the_run_time_is_a_system_error(raises):
    @njit
    def f(a):
        xs = [a, a + 1]
        tierup._panic(raises)
        return xs[0].sum()

    @njit
    def g(n):
        yield n
        tierup._panic(raises)
        yield n
    a = np.ones(3)
    before = sys.getrefcount(a)
    for _ in range(3):
        with pytest.raises(SystemError, match="panicked: as the test asked"):
            f(a)
        it = g(1)
        assert next(it) == 1
        with pytest.raises(SystemError):
            next(it)
        # Nothing is pending or locked.
        assert same(4) == 4 and njit(lambda x: x + 2)(1) == 3
    # A helper that cannot raise returns to code that goes on; what that made is given up.
    if raises:
        gc.collect()
        assert sys.getrefcount(a) == before


# -- processes and threads -----------------------------------------------------------------------------------------------------------------------


def test_children_compile_and_call_while_other_threads_compile():
    program = """
    import signal
    def compile_all_the_time():
        k = 0
        while True:
            k += 1
            space = {"njit": njit, "np": np}
            exec(f"@njit\\ndef f(x):\\n    return np.arange(x).sum() * {k}\\n", space)
            space["f"](k)
    for _ in range(3):
        threading.Thread(target=compile_all_the_time, daemon=True).start()
    bad = 0
    for i in range(25):
        time.sleep(0.002 * (i % 7))
        child = os.fork()
        if child == 0:
            signal.alarm(600)
            good = False
            try:
                space = {"njit": njit, "np": np}
                exec("@njit\\ndef f(x):\\n    return len(np.zeros(x)) + 3\\n@njit\\ndef g(n):\\n    for i in range(n):\\n        yield i\\n", space)
                good = space["f"](4) == 7 and space["f"](np.int64(4)) == 7 and list(space["g"](3)) == [0, 1, 2]
            finally:
                os._exit(not good)
        bad += os.waitpid(child, 0)[1] != 0
    print("bad", bad, flush=True)
    os._exit(0)
    """
    assert run(program) == "bad 0"


def test_a_forked_child_can_be_interrupted():
    program = """
    import signal
    @njit
    def f(n):
        while n == 1:
            pass
        return n
    f(0)
    child = os.fork()
    if child == 0:
        threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        try:
            f(1)
        except KeyboardInterrupt:
            os._exit(7)
        os._exit(1)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """
    assert run(program) == "7"


@pytest.mark.parametrize("method", ["fork", "forkserver", "spawn"])
def test_multiprocessing(method, tmp_path):
    (tmp_path / "program.py").write_text("import multiprocessing\nfrom tierup import njit\n@njit\ndef f(x):\n    return x * 2 + 1\nf(1)\ndef g(x):\n    return f(x) + f(x * 1.5)\n"
                                         f"if __name__ == '__main__':\n    with multiprocessing.get_context({method!r}).Pool(2) as pool:\n        print(pool.map(g, range(4)), pool.map(f, range(3)))\n")
    done = subprocess.run([sys.executable, str(tmp_path / "program.py")], capture_output=True, text=True, timeout=HANG)
    assert done.stdout.strip() == "[2.0, 7.0, 12.0, 17.0] [1, 3, 5]", done.stderr


@pytest.mark.parametrize("options", ["", "(nogil=True)"])
def test_the_interpreter_ends_while_daemon_threads_run_and_compile(options):
    program = f"""
    @njit{options}
    def f(n):
        i = 0
        while n == 1:
            a = np.ones(100)
            try:
                i = (i + 1) % 7 + int(a[0])
                if i > 3:
                    raise ValueError(str(i))
            except ValueError:
                i = 0
        return i
    def compile_all_the_time():
        k = 0
        while True:
            k += 1
            space = {{"njit": njit}}
            exec(f"@njit\\ndef f(x):\\n    return x * {{k}}\\n", space)
            space["f"](k)
    for _ in range(2):
        threading.Thread(target=f, args=(1,), daemon=True).start()
        threading.Thread(target=compile_all_the_time, daemon=True).start()
    time.sleep(0.5)
    print("end")
    """
    assert run(program) == "end"


def test_many_threads_make_call_and_drop_functions():
    failures, functions = [], []

    def make(k):
        space = {"njit": njit, "np": np}
        exec(f"@njit\ndef g(x):\n    return x + {k}\n@njit\ndef f(x):\n    return g(x) * 2 + np.arange(3).sum()\n", space)
        return space["f"], k

    def work(seed):
        choose = np.random.default_rng(seed)
        try:
            for _ in range(40):
                what = choose.random()
                if what < 0.3 or not functions:
                    functions.append(make(int(choose.integers(100))))
                elif what < 0.5:
                    functions.pop()
                elif what < 0.55:
                    gc.collect()
                else:
                    f, k = functions[-1]
                    if what < 0.6:
                        f.recompile()
                    x = [1, 2.5, np.float32(2), np.arange(3.0)][int(choose.integers(4))]
                    if not np.all(f(x) == (x + k) * 2 + 3):
                        failures.append((x, k))
        except IndexError:
            pass  # another thread took the last one
        except BaseException as e:  # noqa: BLE001
            failures.append(e)
    threads = [threading.Thread(target=work, args=(i,)) for i in range(16)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not failures
