"""The boundary to Python: decorators, dispatcher objects, signatures, fallback, threads. What a function computes is for the mdtests."""

import copy
import functools
import gc
import inspect
import pickle
import subprocess
import sys
import threading
import warnings
import weakref

import numpy as np
import pytest
from harness.processes import HANG

tierup = pytest.importorskip("tierup")
pytestmark = pytest.mark.isolated


@tierup.njit
def add(a, b=2):
    """Adds."""
    return a + b


class Adder:
    @tierup.jit
    def method(self, x):
        return x + 1

    @staticmethod
    @tierup.njit
    def static(x):
        return x * 2


# -- decorators ----------------------------------------------------------------------------------------------------------------------------------


def test_decorator_forms():
    def f(x):
        return x + 1
    for g in (tierup.njit(f), tierup.njit()(f), tierup.jit(f), tierup.jit()(f), tierup.jit(nopython=True)(f), tierup.njit(cache=True)(f), tierup.njit(fastmath=True)(f),
              tierup.njit(boundscheck=False)(f), tierup.njit(nogil=True)(f), tierup.njit(error_model="numpy")(f)):
        assert g(1) == 2


def test_unknown_option_is_refused():
    with pytest.raises((TypeError, KeyError), match="no_such_option"):
        tierup.njit(no_such_option=True)(lambda x: x)(1)


def test_looks_like_the_function():
    assert add.__name__ == "add" and add.__doc__ == "Adds." and add.__module__ == __name__ and add.__qualname__ == "add"
    assert add.py_func(1, 2) == 3 and add.__wrapped__ is add.py_func
    assert str(inspect.signature(add)) == "(a, b=2)"
    assert "add" in repr(add)


def test_attributes_survive_functools_wraps():
    @functools.wraps(add)
    def wrapper(*args):
        return add(*args)
    assert wrapper.__name__ == "add" and wrapper(1, 5) == 6


def test_decorating_twice_is_refused_or_harmless():
    try:
        again = tierup.njit(add)
    except TypeError:
        return
    assert again(1, 2) == 3


def test_non_functions_are_refused():
    for thing in (5, len, int, object()):
        with pytest.raises(TypeError):
            tierup.njit(thing)


def test_static_method():
    assert Adder.static(4) == 8 and Adder().static(2.5) == 5.0


def test_method():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an object of a Python class is not compiled: Python runs it
        assert Adder().method(4) == 5 and Adder.method(Adder(), 1.5) == 2.5


# -- signatures ----------------------------------------------------------------------------------------------------------------------------------


def test_signature_as_text():
    @tierup.njit("float64(float64, int64)")
    def f(a, b):
        return a * b
    assert f(2.0, 3) == 6.0 and len(f.signatures) == 1


def test_list_of_signatures():
    @tierup.njit(["int64(int64)", "float64(float64)"])
    def f(a):
        return a + a
    assert f(2) == 4 and f(1.5) == 3.0 and len(f.signatures) == 2


def test_signature_of_types():
    @tierup.njit(tierup.types.float64(tierup.types.float64[:]))
    def f(a):
        return a.sum()
    assert f(np.arange(3.0)) == 3.0


def test_contiguous_signature():
    @tierup.njit("f8(f8[:,::1])")
    def f(a):
        return a[0, 1]
    assert f(np.arange(4.0).reshape(2, 2)) == 1.0
    with pytest.raises(TypeError):
        f(np.array(["a"]))


def test_argument_tuple_signature():
    @tierup.njit((tierup.types.int64, tierup.types.int64))
    def f(a, b):
        return a - b
    assert f(5, 3) == 2


def test_bad_signature():
    with pytest.raises(Exception, match="nonsense|bad-signature"):
        tierup.njit("nonsense(8")(lambda x: x)(1)


def test_overloads_and_signatures_grow():
    @tierup.njit
    def f(x):
        return x
    assert f.signatures == [] or len(f.signatures) == 0
    f(1)
    f(2)
    assert len(f.signatures) == 1
    f(2.5)
    f(np.zeros(2))
    assert len(f.signatures) == 3 and len(f.overloads) == 3


def test_disable_compile():
    @tierup.njit
    def f(x):
        return x + 1
    f(1)
    f.disable_compile()
    assert f(2) == 3
    with pytest.raises(TypeError):
        f("text")


def test_recompile_sees_new_globals():
    @tierup.njit
    def f(x):
        return x + 1
    f(1)
    f.recompile()
    assert f(1) == 2


def test_inspect_levels():
    @tierup.njit
    def f(x):
        return x * 2 + 1
    f(3)
    for level in ("bytecode", "ssa", "typed", "lir"):
        assert f.inspect(level), level
    with pytest.raises(ValueError, match="lir"):
        f.inspect("no such level")


# -- copies --------------------------------------------------------------------------------------------------------------------------------------


def test_pickling():
    assert pickle.loads(pickle.dumps(add))(1, 5) == 6


def test_copying():
    assert copy.copy(add)(1) == 3 and copy.deepcopy(add)(1) == 3


def test_weak_references_and_lifetime():
    def make():
        @tierup.njit
        def f(x):
            return x + 1
        f(1)
        return f
    f = make()
    ref = weakref.ref(f)
    assert f(2) == 3
    del f
    gc.collect()
    assert ref() is None


# -- calls ---------------------------------------------------------------------------------------------------------------------------------------


def test_keywords_and_defaults():
    assert add(1) == 3 and add(a=1) == 3 and add(b=5, a=1) == 6 and add(1, b=0) == 1
    with pytest.raises(TypeError, match="add"):
        add()


def test_reference_counts_stay():
    @tierup.njit
    def f(a, xs, s):
        return a, s
    a, xs, s = np.arange(5.0), [1, 2], "some text é"
    f(a, xs, s)
    before = sys.getrefcount(a), sys.getrefcount(xs), sys.getrefcount(s)
    for _ in range(100):
        f(a, xs, s)
    gc.collect()
    assert (sys.getrefcount(a), sys.getrefcount(xs), sys.getrefcount(s)) == before


@pytest.mark.parametrize("where", ["0", "1"])
def test_memory_does_not_grow(where):
    tierup.config.tier = where

    @tierup.njit
    def f(n):
        a = np.ones(n)
        xs = [np.zeros(n) for _ in range(3)]
        s = ""
        for i in range(5):
            s += str(i)
        try:
            if len(xs) == 3:
                raise ValueError(s)
        except ValueError:
            pass
        return a[1:], s, xs

    def resident():
        return int(open("/proc/self/statm").read().split()[1])
    for _ in range(200):
        f(10_000)
    before = resident()
    for _ in range(2000):
        f(10_000)
    assert (resident() - before) * 4096 < 20 << 20


# -- fallback ------------------------------------------------------------------------------------------------------------------------------------


class Thing:
    value = 4

    def __setattr__(self, name, value):
        object.__setattr__(self, name, value)


def test_jit_falls_back_and_says_so_once():
    @tierup.jit
    def f(thing):
        return thing.value + 1
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert f(Thing()) == 5 and f(Thing()) == 5
    assert len(caught) == 1, [str(w.message) for w in caught]


def test_note_of_a_fallback_names_the_line():
    @tierup.jit
    def f(x):
        class Local:
            pass
        return x
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert f(3) == 3
    assert len(caught) == 1 and "class Local" in str(caught[0].message)


# -- threads and signals -------------------------------------------------------------------------------------------------------------------------


def test_many_threads_call_and_compile():
    @tierup.njit
    def f(x):
        s = x
        for i in range(100):
            s = s + i * x
        return s

    arguments = [1, 2.5, np.int64(3), np.float32(0.5), np.arange(4), np.arange(3.0), 1j, True]
    expected = [f.py_func(a) for a in arguments[:6]]
    failures = []
    start = threading.Barrier(8)

    def work(k):
        start.wait()
        for turn in range(50):
            i = (k + turn) % 6
            got = f(arguments[i])
            if not np.all(got == expected[i]):
                failures.append((arguments[i], got))
    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not failures


def test_threads_define_functions():
    results = []

    def work(k):
        space = {"njit": tierup.njit}
        exec(f"@njit\ndef f(x):\n    return x * {k} + {k}\n", space)
        results.append(space["f"](10) == 11 * k)
    threads = [threading.Thread(target=work, args=(k,)) for k in range(16)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert results == [True] * 16


ENDLESS = """
import os, signal, threading
from tierup import njit
@njit
def endless(n):
    i = 0
    while n == 1:
        i = (i + 1) % 1000
    return i
endless(0)
threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    endless(1)
except KeyboardInterrupt:
    print("stopped")
"""

ENDLESS_NESTED = ENDLESS.replace("    i = 0\n    while n == 1:\n        i = (i + 1) % 1000\n", "    i = 0\n    while n == 1:\n        for j in range(1000):\n            i = (i ^ j) + 1\n")


@pytest.mark.parametrize("program", [ENDLESS, ENDLESS_NESTED], ids=["plain", "nested"])
def test_interrupt_stops_an_endless_loop(program):
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=HANG)
    assert done.stdout.strip() == "stopped", done.stdout + done.stderr


def test_fork_after_compiling():
    program = ("import os\nfrom tierup import njit\n@njit\ndef f(x):\n    return x + 1\nf(1)\npid = os.fork()\nif pid == 0:\n    os._exit(0 if f(1) == 2 and f(1.5) == 2.5 else 1)\n"
               "print(os.waitpid(pid, 0)[1])")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=HANG)
    assert done.stdout.strip() == "0", done.stderr


# -- configuration -------------------------------------------------------------------------------------------------------------------------------


def python(program, **environment):
    import os
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=HANG, env={**os.environ, **environment})


@pytest.mark.parametrize("setting", ["auto", "0", "interp", "off"])
def test_every_tier_gives_the_same(setting):
    done = python("from tierup import njit\n@njit\ndef f(n):\n    s = 0.5\n    for i in range(n):\n        s = s * 0.5 + i\n    return s\nprint(f(50))", TIERUP_TIER=setting)
    assert done.stdout.strip() == "96.0", done.stderr


def test_unknown_value_is_refused_with_the_known_ones():
    done = python("import tierup", TIERUP_TIER="no-such-tier")
    assert done.returncode != 0 and "interp" in done.stderr and "no-such-tier" in done.stderr, done.stderr


def test_unknown_setting_is_refused():
    with pytest.raises(AttributeError):
        tierup.config.no_such_setting = 1


def test_import_loads_little_and_compiles_nothing():
    # How long it takes is for the benchmark of imports to say.
    done = python("import sys, numpy\nbefore = set(sys.modules)\nimport tierup\nprint(*sorted(set(sys.modules) - before))\nprint(tierup.report().rows, tierup._tierup.promotions())")
    modules, compiled = done.stdout.splitlines()
    assert {m.split(".")[0] for m in modules.split()} == {"tierup"} and len(modules.split()) < 12 and compiled == "[] 0", done.stdout + done.stderr


def test_a_first_call_loads_nothing_of_others():
    # NumPy loads some of its modules when somebody asks for them, which takes as long as several compilations.
    done = python("import sys, numpy as np\nfrom tierup import njit\n@njit\ndef dot(a, b):\n    s = 0.0\n    for i in range(len(a)):\n        s += a[i] * b[i]\n    return s\n"
                  "before = set(sys.modules)\nprint(dot(np.ones(3), np.ones(3)), *{m.split('.')[0] for m in set(sys.modules) - before})")
    result, *loaded = done.stdout.split()
    assert result == "3.0" and set(loaded) <= {"tierup"}, done.stdout + done.stderr


def test_as_numba_alias(tmp_path):
    program = tmp_path / "program.py"
    program.write_text("import numba\nfrom numba import njit, jit, types, prange\nimport numpy as np\n@njit('f8(f8[:])')\ndef f(a):\n    return a.sum()\n@jit(nopython=True)\ndef g(x):\n    return x * 2\n"
                       "import sys\nprint(f(np.arange(4.0)), g(4), sys.argv[1:], numba.__name__)\n")
    done = subprocess.run([sys.executable, "-m", "tierup", "--as-numba", str(program), "x", "-y"], capture_output=True, text=True, timeout=HANG)
    assert done.stdout.split("\n")[0] == "6.0 8 ['x', '-y'] numba", done.stdout + done.stderr


def test_as_numba_config(tmp_path):
    program = tmp_path / "program.py"
    program.write_text("""
import numba
from numba.core import config
assert (config.THREADING_LAYER, config.DISABLE_JIT, numba.config.MACHINE_BITS) == ("default", 0, 64)
config.THREADING_LAYER = "threadsafe"
assert numba.config.THREADING_LAYER == "threadsafe"
assert config.NUMBA_NUM_THREADS >= 1
numba.config.DISABLE_JIT = True
assert config.DISABLE_JIT and config.tier == "off"
numba.config.DISABLE_JIT = 0
assert not config.DISABLE_JIT and config.tier == "auto"
try: config.NO_SUCH_THING
except AttributeError as e: assert "NO_SUCH_THING" in str(e)
else: raise SystemExit(1)
""")
    done = subprocess.run([sys.executable, "-m", "tierup", "--as-numba", str(program)], capture_output=True, text=True, timeout=HANG)
    assert done.returncode == 0, done.stderr


def test_as_numba_module():
    done = subprocess.run([sys.executable, "-m", "tierup", "--as-numba", "-m", "timeit", "-n", "1", "-r", "1", "import numba; numba.njit(lambda x: x)(1)"], capture_output=True, text=True, timeout=HANG)
    assert done.returncode == 0 and "loop" in done.stdout, done.stdout + done.stderr


def test_numbas_inspect_methods():
    import io
    from harness.build import LLVM

    @tierup.njit
    def f(a, x):
        return a[0] + x
    f(np.ones(2), 1)
    f(np.ones(2), 1.5)
    types = tierup.types
    whole = f.inspect_asm()
    assert list(whole) == f.signatures and all("ret" in text for text in whole.values())
    assert f.inspect_asm((types.float64[::1], types.int64)) == whole[f.signatures[0]]
    with pytest.raises(KeyError):
        f.inspect_asm((types.float32,))
    if LLVM:
        assert all("define" in text for text in f.inspect_llvm().values())
    assert "b0 (" in f.inspect_cfg(f.signatures[0]) and "return" in f.inspect_cfg(f.signatures[0])
    out = io.StringIO()
    f.inspect_types(file=out)
    text = out.getvalue()
    assert text.count("f (array(float64, 1d, C), ") == 2 and "return a[0] + x" in text and "float64" in text
    out = io.StringIO()
    f.inspect_types(file=out, signature=f.signatures[1], pretty=False)
    assert out.getvalue().count("-" * 80) == 1 and "float)" in out.getvalue()


def test_function_types_in_signatures():
    types = tierup.types
    njit = tierup.njit
    double, half = njit(lambda x: x * 2), njit(lambda x: x / 2)
    for signature in ("float64(FunctionType(float64(float64)), float64)", types.float64(types.FunctionType(types.float64(types.float64)), types.float64),
                      types.float64(types.float64(types.float64), types.float64)):
        g = njit(signature)(lambda f, x: f(x) + 1)
        assert g(double, 3.0) == 7 and g(half, 3.0) == 2.5
    assert types.FunctionType("float64(float64)") == types.FunctionType(types.float64(types.float64)) != types.FunctionType(types.int64(types.float64))
    assert repr(types.FunctionType(types.float64(types.float64))) == "function((float64) -> float64)"
    many = njit([types.int64(types.int64), types.int64(types.FunctionType(types.int64(types.int64)))])(lambda x: 1)
    assert many(3) == many(double) == 1


WORKER = """
import pickle
from tierup import njit
SCALE = 2
@njit
def f(x):
    return x * SCALE
@njit
def g(x, k=1):
    return g(x - 1) + k if x > 0 else 0
for name in ("f", "g"):
    globals()[name].__module__ = globals()[name].py_func.__module__ = "__main__"
print(f(2), pickle.loads(pickle.dumps(f)) is f, pickle.loads(pickle.dumps(g)) is g)
sent = [pickle.dumps(f), pickle.dumps(f), pickle.dumps(g)]
SCALE = 3
sent.append(pickle.dumps(f))
import sys
open(sys.argv[1], "wb").write(pickle.dumps(sent))
"""


def test_a_worker_knows_a_function_again(tmp_path):
    done = subprocess.run([sys.executable, "-c", WORKER, str(tmp_path / "sent")], capture_output=True, text=True, timeout=HANG)
    assert done.stdout == "4 True True\n", done.stderr
    sent = pickle.loads((tmp_path / "sent").read_bytes())
    first, again, g, changed = map(pickle.loads, sent)
    assert first is again and first(5) == 10 and len(first.signatures) == 1
    # A changed global makes another function.
    assert changed is not first and changed(5) == 15 and g(4) == 4
    assert pickle.loads(pickle.dumps(first)) is first
