"""What programs written for Numba find under its names: types, errors, settings, the stand-in's modules."""

import gc
import pickle
import subprocess
import sys
import warnings
import weakref

import numpy as np
import pytest
import tierup
from harness.processes import as_numba
from tierup import errors, njit, types


def test_kinds_of_numbers():
    assert types.integer_domain == types.signed_domain | types.unsigned_domain
    assert types.number_domain == types.integer_domain | types.real_domain | types.complex_domain
    for kind, of in (("i", types.signed_domain), ("u", types.unsigned_domain), ("f", types.real_domain), ("c", types.complex_domain)):
        assert {np.dtype(types.as_dtype(t)).kind for t in of} == {kind}
        assert {t.bitwidth for t in of} == {types.as_dtype(t).itemsize * 8 for t in of}
    assert types.Integer.from_bitwidth(32) is types.int32 and types.Integer.from_bitwidth(8, signed=False) is types.uint8
    with pytest.raises(ValueError):
        types.Integer.from_bitwidth(12)


def test_types_of_one_kind_are_ordered_by_width():
    for chain in (["int8", "int16", "int32", "int64"], ["uint8", "uint64"], ["float32", "float64"], ["complex64", "complex128"]):
        chain = [getattr(types, n) for n in chain]
        assert sorted(reversed(chain)) == chain
        assert chain[0] <= chain[0] and not chain[0] < chain[0] and chain[-1] > chain[0]
    for a, b in ((types.int8, types.uint16), (types.int8, types.float32), (types.float32, types.complex128)):
        with pytest.raises(TypeError):
            a <= b


def every_kind():
    t = types
    return [t.int16[:], t.int16[::1], t.int16[:, ::1], t.Array(t.int16, 0, "C"), t.Array(t.float64, 2, "F", readonly=True), t.Array(t.int8, 1, "A", aligned=False), t.Optional(t.int32),
            t.UniTuple(t.int32, 3), t.Tuple((t.int32, t.float64)), t.List(t.int32), t.CPointer(t.float32), t.voidptr, t.pyobject, t.none, t.Dummy("something"), t.FunctionType(t.int32(t.int8))]


def test_there_is_one_object_for_each_type():
    first, second = every_kind(), every_kind()
    for a, b in zip(first, second):
        assert a is b and a._code == b._code >= 0
    assert len({t._code for t in first}) == len(first)
    assert types.Array(types.int8, 1, "A") is not types.Array(types.int8, 1, "A", aligned=False)
    for t in first:
        if getattr(t, "aligned", True):
            assert pickle.loads(pickle.dumps(t)) is t, t


def test_types_that_nobody_holds_go_and_their_numbers_do_not_come_back():
    a = types.Dummy("xyzzy")
    code, seen = a._code, weakref.ref(a)
    del a
    gc.collect()
    assert seen() is None and types.Dummy("xyzzy")._code != code


def test_types_of_values_equal_those_that_signatures_name():
    typeof = tierup.typeof
    assert typeof((1, 2)) == types.UniTuple(types.int64, 2) and typeof((1, (2.0, 3))) == types.Tuple((types.int64, types.Tuple((types.float64, types.int64))))
    assert typeof([1.0]) == types.List(types.float64) != types.List(types.int64)
    assert types.BaseTuple.from_types([types.int8, types.int8]) == types.UniTuple(types.int8, 2)
    assert types.List(types.int64)[0] is types.int64
    nothing = types.Tuple(())
    assert nothing and njit(nothing(types.UniTuple(types.int32, 0)))(lambda x: x)(()) == ()
    assert isinstance(typeof(None), types.NoneType)
    assert typeof(np.dtype("int64")) == types.DType(types.int64) == types.NumberClass(np.int64) == typeof(np.int64) != typeof(np.float64)
    assert types.DType(types.int32)[:, ::1] is types.int32[:, ::1]
    with pytest.raises(errors.TypingError, match="not iterable"):
        types.Tuple(types.int32)


def test_objects_in_signatures_are_for_functions_that_python_runs():
    class Thing:
        pass

    for signature in ((types.pyobject,), types.pyobject(types.pyobject), "pyobject(pyobject)", (types.Dummy("list"),), ()):
        def mark(x):
            x.seen = True
            return x
        f = tierup.jit(signature, forceobj=True)(mark)
        thing = Thing()
        assert f(thing) is thing and thing.seen
    f = tierup.jit((types.int64,), forceobj=True)(lambda x: x is None)
    assert f.overloads[f.signatures[0]].objectmode and not f(3)
    assert not njit((types.int64,))(lambda x: x).overloads[(types.int64,)].objectmode
    with pytest.raises(errors.TypingError, match="pyobject"):
        njit((types.pyobject,))(lambda x: x)


def test_warnings_have_classes_of_their_own():
    names = [n for n in dir(errors) if n.endswith("Warning") and n.startswith("Numba") and n != "NumbaWarning"]
    classes = {getattr(errors, n) for n in names}
    assert len(classes) == len(names) > 8 and all(issubclass(c, errors.NumbaWarning) for c in classes)
    assert issubclass(errors.NumbaDeprecationWarning, DeprecationWarning) and issubclass(errors.NumbaPendingDeprecationWarning, PendingDeprecationWarning)
    with warnings.catch_warnings():
        warnings.simplefilter("error", errors.TierupWarning)
        warnings.simplefilter("ignore", errors.NumbaDeprecationWarning)
        warnings.warn(errors.NumbaDeprecationWarning("not seen"))
        with pytest.raises(errors.NumbaPerformanceWarning):
            warnings.warn(errors.NumbaPerformanceWarning("seen"))


def test_errors_are_caught_by_numbas_names():
    def bad():
        return "a" + 1

    for name in ("TypingError", "NumbaTypeError", "NumbaError"):
        with pytest.raises(getattr(errors, name)):
            njit(bad)()
    for name in ("UnsupportedError", "UnsupportedBytecodeError", "NumbaError"):
        with pytest.raises(getattr(errors, name)):
            njit(lambda: 1 << 70)()
    for name in dir(errors):
        if isinstance(getattr(errors, name), type) and issubclass(getattr(errors, name), errors.TierupError):
            assert getattr(errors, name) in (errors.TierupError, errors.TypingError, errors.UnsupportedError, errors.CompilerError)


def test_settings_are_those_of_tierup_however_they_are_reached(tmp_path):
    assert as_numba(tmp_path, """
import numba, numba.core.config, numba.errors
from numba.core import config
import tierup.config, tierup.errors
assert config is numba.config is numba.core.config is tierup.config and numba.errors is tierup.errors
def f(x): return x
config.DISABLE_JIT = True
assert tierup.config.tier == "off" and numba.jit(f) is f and numba.njit(nopython=True)(f) is f and numba.jit("int64(int64)")(f) is f
config.DISABLE_JIT = False
assert numba.njit(f) is not f
print("done")
""") == "done\n"


def test_a_variable_disables_compiling(tmp_path):
    text = "import numba\ndef f(x): return x\nprint(numba.njit(f) is f, numba.config.DISABLE_JIT)\n"
    assert as_numba(tmp_path, text, NUMBA_DISABLE_JIT="1") == "True 1\n" and as_numba(tmp_path, text, NUMBA_DISABLE_JIT="0") == "False 0\n"


def test_names_of_the_stand_in(tmp_path):
    assert as_numba(tmp_path, """
import numba, tierup
assert {"njit", "int32", "TypingError", "NumbaPerformanceWarning", "prange"} <= set(numba.__all__) and "__version__" not in numba.__all__
assert all(hasattr(numba, n) for n in numba.__all__)
assert numba.TypingError is numba.core.errors.TypingError is tierup.TypingError
from numba.misc.special import typeof, prange, literal_unroll
from numba.np.ufunc.parallel import get_thread_id, get_num_threads, set_num_threads
from numba.core.typing.templates import Signature
assert typeof is numba.typeof
@numba.njit(parallel=True)
def who(n):
    seen = 0
    for i in prange(n):
        seen = max(seen, get_thread_id())
    return seen
assert 0 <= who(1000) < get_num_threads()
print("done")
""") == "done\n"


def test_literally_and_literal_unroll_are_static_and_unroll(tmp_path):
    assert as_numba(tmp_path, """
import numba, tierup
from numba import literally, literal_unroll, njit
from numba.misc.special import literally as also
assert literally is also is tierup.static and literal_unroll is tierup.unroll
@njit
def power(x, n):
    if literally(n) == 0:
        return 1
    r = x
    for i in literal_unroll(range(literally(n) - 1)):
        r *= x
    return r
@njit
def caller(x):
    return power(x, 2), power(x, 3)
print(power(2, 5), power(2, 0), caller(3))
""") == "32 1 (9, 27)\n"


def test_loops_over_tuples_are_unrolled():
    @njit
    def total(t):
        n = 0.0
        for x in tierup.literal_unroll(t):
            if isinstance(x, str):
                n += len(x)
            elif isinstance(x, np.ndarray):
                n += x.sum()
            else:
                n += x
        return n
    t = (1, "abc", 2.5, np.ones(4))
    assert total(t) == total.py_func(t) == 10.5


def test_memory_tells_how_many_hold_it():
    @njit
    def make(n):
        return np.ones(n)

    @njit
    def pair(n):
        a = np.ones(n)
        return a, a[1:]

    assert make(4).base.refcount == 1
    a, b = pair(4)
    assert a.base.refcount == 2
    del b
    assert a.base.refcount == 1
    with pytest.raises(AttributeError):
        a.base.refcount = 3


def test_a_dynamic_gufunc_needs_no_building():
    from tierup._builders import GUVectorize

    def double(x, out):
        for i in range(len(x)):
            out[i] = x[i] * 2
    f = GUVectorize(double, "(n)->(n)", is_dynamic=True)
    out = np.empty(3)
    f(np.arange(3.0), out)
    assert out.tolist() == [0, 2, 4] and f.build_ufunc() is f


@pytest.mark.parametrize("call, words", [
    (lambda g: g.normal("a"), "Argument loc is not one of the expected type\\(s\\): a number or an array of numbers, not str"),
    (lambda g: g.random("a"), "Argument size is not one of the expected type\\(s\\)"),
    (lambda g: tierup.set_num_threads("a"), "The number of threads specified must be an integer, not str"),
    (lambda g: tierup.set_parallel_chunksize(1.5), "The parallel chunksize must be an integer, not float"),
])
def test_words_that_programs_look_for(call, words):
    with pytest.raises(errors.TypingError, match=words):
        njit(call)(np.random.default_rng(1))


def test_stats_tell_what_the_cache_did(tmp_path):
    text = """
import numpy as np
from tierup import njit, types
@njit
def f(a, n):
    s = 0.0
    for k in range(n):
        s += a[k % 8]
    return s
f(np.ones(8), 20)
f(np.ones(8, np.int32), 10)
s = f.stats
print(sorted(s.cache_hits.values()), sorted(s.cache_misses.values()), s.cache_path)
"""
    import os
    from harness.build import LLVM
    program = tmp_path / "program.py"
    program.write_text(text)
    env = {**os.environ, "TIERUP_CACHE": "1", "TIERUP_CACHE_DIR": str(tmp_path / "cache"), "TIERUP_TIER": "1" if LLVM else "auto"}
    first, second = (subprocess.run([sys.executable, str(program)], capture_output=True, text=True, timeout=60, env=env) for _ in range(2))
    assert first.returncode == second.returncode == 0, first.stderr + second.stderr
    # Without LLVM nothing is kept.
    (seen, where), (again, _) = (done.stdout.rsplit(" ", 1) for done in (first, second))
    assert (seen, again) == (("[] [1, 1]", "[1, 1] []") if LLVM else ("[] []", "[] []")) and where.startswith(str(tmp_path / "cache"))


@pytest.mark.parametrize("value, checked", [("", (True, False)), ("1", (True, True)), ("0", (False, False))])
def test_a_variable_of_numba_decides_about_bounds_whatever_the_decorator_says(tmp_path, value, checked):
    assert as_numba(tmp_path, """
import numba, numpy as np
def get(a, i):
    return a[i]
def raises(f):
    try: f(np.ones(4)[:2], 3)
    except IndexError: return True
    return False
print(numba.config.BOUNDSCHECK, raises(numba.njit(boundscheck=True)(get)), raises(numba.njit(boundscheck=False)(get)))
""", NUMBA_BOUNDSCHECK=value) == f"{None if not value else value == '1'} {checked[0]} {checked[1]}\n"


def test_settings_are_read_again(tmp_path):
    assert as_numba(tmp_path, """
import os
from numba.core import config
os.environ["NUMBA_BOUNDSCHECK"], os.environ["NUMBA_OPT"] = "1", "2"
config.reload_config()
print(config.BOUNDSCHECK, config.OPT)
del os.environ["NUMBA_BOUNDSCHECK"]
config.reload_config()
print(config.BOUNDSCHECK)
""") == "True 2\nNone\n"


def test_ufuncs_that_compile_no_more_say_so():
    f = tierup.vectorize(lambda a, b: a + b)
    assert not f._frozen
    f._frozen = True
    assert f._frozen
    with pytest.raises(ValueError):
        f._frozen = False
    with pytest.raises(TypeError):
        f(np.ones(2), np.ones(2))


def test_modes_exclude_each_other():
    with pytest.raises(ValueError, match="Only one of 'nopython' or 'forceobj'"):
        tierup.jit(nopython=True, forceobj=True)
    with pytest.warns(errors.NumbaWarning, match="forceobj is set for njit and is ignored"):
        njit(forceobj=True)


def test_a_module_decorates_its_functions(tmp_path, monkeypatch):
    (tmp_path / "whole_module.py").write_text("""
from math import sin
import tierup
from tierup import jit_module
def inc(x): return x + 1
@tierup.jit(nogil=True)
def own(x): return x
class Thing: pass
mean = sum
jit_module(nopython=True, error_model="numpy")
def later(x): return x
""")
    monkeypatch.syspath_prepend(tmp_path)
    import whole_module as m
    assert isinstance(m.inc, tierup.Dispatcher) and m.inc.targetoptions == {"nopython": True, "error_model": "numpy"} and m.inc(1) == 2
    assert m.own.targetoptions["nogil"] and not m.own.targetoptions["nopython"]
    assert isinstance(m.Thing, type) and m.mean is sum and not isinstance(m.later, tierup.Dispatcher)


def test_which_argument_is_no_array_or_no_constant():
    for f, argument, words in ((lambda x: np.round(x), "a", 'The argument "a" must be array-like, not str'), (lambda x: np.diag(x), None, 'The argument "v" must be array-like'),
                               (lambda x: np.ones(3, x), "f8", "If np.ones dtype is a string it must be a string constant."),
                               (lambda x: np.full_like(np.ones(2), 1, dtype=x), "f8", "If np.full_like dtype is a string")):
        with pytest.raises(errors.TypingError, match=words):
            njit(f)(argument)
    with pytest.raises(errors.TypingError) as caught:
        njit(lambda x: np.einsum("i,i", np.ones(2), x))("a")
    assert "subscripts" not in str(caught.value)


def test_options_and_flags_that_do_not_exist():
    for make in (lambda: njit(nonsense=1), lambda: tierup.vectorize(nonsense=1)(abs_of), lambda: tierup.guvectorize("(n)->(n)", nonsense=1)(abs_of), lambda: tierup.cfunc("int64(int64)", nonsense=1)):
        for kind in (TypeError, KeyError):
            with pytest.raises(kind, match="Unrecognized options: 'nonsense'") as caught:
                make()
        assert "fastmath" in str(caught.value)
    for flags in ({"spqr"}, {"spqr": False, "nnan": True}):
        with pytest.raises(ValueError, match="Unrecognized fastmath flags: 'spqr'"):
            njit(fastmath=flags)(abs_of)


def abs_of(x):
    return abs(x)


def test_code_generators_run_under_the_names_of_numba_and_llvmlite(tmp_path):
    text = """
import ctypes
import numba, numpy as np
from llvmlite import ir
import llvmlite.binding as ll
from numba import njit, types
from numba.core import cgutils
from numba.core.imputils import impl_ret_borrowed, lower_builtin
from numba.core.typing import signature
from numba.core.typing.templates import AbstractTemplate, infer_global
from numba.extending import intrinsic
from numba.np.arrayobj import make_array
from numba.np.unsafe.ndarray import to_fixed_tuple
from numba.cpython.unsafe.tuple import tuple_setitem

triple = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(lambda x: 3 * x)
ll.add_symbol("my_triple", ctypes.cast(triple, ctypes.c_void_p).value)

@intrinsic
def popcount(typingctx, val):
    def impl(context, builder, sig, args):
        fnty = ir.FunctionType(args[0].type, [args[0].type])
        return builder.call(cgutils.get_or_insert_function(builder.module, fnty, "llvm.ctpop.i8"), args)
    return types.uint8(types.uint8), impl

@intrinsic
def tripled(typingctx, x):
    def impl(context, builder, sig, args):
        f = ir.Function(builder.module, ir.FunctionType(ir.DoubleType(), [ir.DoubleType()]), name="my_triple")
        return builder.call(f, args)
    return signature(types.float64, types.float64), impl

def head(a): raise NotImplementedError

@infer_global(head)
class Head(AbstractTemplate):
    def generic(self, args, kws):
        if isinstance(args[0], types.Array):
            return signature(args[0].dtype, args[0])

@lower_builtin(head, types.Array)
def _(context, builder, sig, args):
    return builder.load(make_array(sig.args[0])(context, builder, args[0]).data)

@njit
def f(a, n, x):
    return popcount(n), tripled(x), head(a), to_fixed_tuple(a, 2), tuple_setitem((1, 2), 0, 5)

print(f(np.arange(3.0) + 1, np.uint8(7), 1.5), numba.__version__ != "", str(ir.IntType(8)))
"""
    assert as_numba(tmp_path, text) == "(3, 4.5, 1.0, (1.0, 2.0), (5, 2)) True i8\n"


def test_lapack_of_numbas_inside(tmp_path):
    pytest.importorskip("scipy")
    out = as_numba(tmp_path, """
import numpy as np
from numba import njit, types
from numba.extending import overload
from numba.np.linalg import _LAPACK

def solve(a, b):
    pass

@overload(solve)
def _(a, b):
    gesv = _LAPACK().numba_xgesv(a.dtype)

    def impl(a, b):
        n = a.shape[-1]
        ipiv = np.empty(n, dtype=np.int32)
        return gesv(100, n, 1, a.ctypes, n, ipiv.ctypes, b.ctypes, n)

    return impl

for t in (np.float32, np.float64, np.complex64, np.complex128):
    a, b = np.array([[2, 1], [1, 3]], t, order="F"), np.array([3, 5], t)
    print(njit(lambda a, b: solve(a, b))(a, b), np.round(b, 4).tolist())
print(njit(lambda a, b: solve(a, b))(np.zeros((2, 2)), np.ones(2)))
try:
    _LAPACK().numba_ez_rgeev
except AttributeError as e:
    print(str(e)[:52])
""")
    assert out.splitlines() == ["0 [0.8, 1.4]".replace("0.8, 1.4", s) for s in ("0.800000011920929, 1.399999976158142", "0.8, 1.4", "(0.800000011920929+0j), (1.399999976158142+0j)", "(0.8+0j), (1.4+0j)")] + [
        "1", "Tierup does not stand in for numba_ez_rgeev of Numba"]


def test_objmode_by_the_name_of_its_module(tmp_path):
    out = as_numba(tmp_path, """
import numba as nb

@nb.njit
def f(x):
    with nb.objmode(y="float64"):
        y = float(str(x))
    return y

print(f(2.5))
""")
    assert out == "2.5\n"


def test_names_of_drivers_and_of_what_makes_overloads(tmp_path):
    """Names of Numba's inside that packages import: they say the truth where there is no device, and register what they are given."""
    out = as_numba(tmp_path, """
from numba import cuda, njit, types
import numba.core.serialize as serialize
from numba.core.typing.templates import _OverloadMethodTemplate, _OverloadAttributeTemplate, make_overload_attribute_template
from numba.extending import infer_getattr
import numpy as np

try:
    found = cuda.cudadrv.devices.gpus.current is not None
except cuda.cudadrv.error.CudaSupportError as e:
    found = False
    from numba.cuda.cudadrv.driver import _raise_driver_not_found
    try:
        _raise_driver_not_found()
    except ImportError as e2:
        assert str(e) == str(e2)
print(found == cuda.is_available(), hasattr(serialize, "_rebuild_function"))

infer_getattr(make_overload_attribute_template(types.Array, "twice", lambda a: lambda a: a * 2))
infer_getattr(make_overload_attribute_template(types.Array, "times", lambda a, k: lambda a, k: a * k, base=_OverloadMethodTemplate))
print(njit(lambda a: (a.twice, a.times(3)))(np.ones(1)))

class Says:
    def __init__(self, x):
        self.x = x

    @property
    def _numba_type_(self):
        return SaysType(self.x.dtype, self.x.flags.c_contiguous)

class SaysType(types.Type):
    def __init__(self, dtype, contiguous):
        self.of = dtype, contiguous
        super().__init__(name=f"Says({dtype}, {contiguous})")

infer_getattr(make_overload_attribute_template(SaysType, "said", lambda s: (lambda of: lambda s: of)(s.name)))
print(njit(lambda s: s.said)(Says(np.ones(2))), njit(lambda s: s.said)(Says(np.ones(4)[::2])))
""", TIERUP_CUDASIM="0")
    assert out.splitlines() == ["True False", "(array([2.]), array([3.]))", "Says(float64, True) Says(float64, False)"]


def test_options_that_do_not_exist_are_refused_when_a_function_is_compiled(tmp_path):
    """As in Numba, whose packages decorate functions with options of other versions and never call them."""
    out = as_numba(tmp_path, """
from numba import njit
from numba.core.datamodel.models import StructModel
from numba.extending import models

@njit(device=True)
def f(x):
    return x

print(f.py_func(3), StructModel is models.StructModel)
for call in (lambda: f(3), lambda: njit("int64(int64)", device=True)(f.py_func)):
    try:
        call()
    except KeyError as e:
        print(str(e)[:30])
""")
    assert out.splitlines() == ["3 True", "Unrecognized options: 'device'", "Unrecognized options: 'device'"]
    with pytest.raises(TypeError, match="Unrecognized options"):
        njit(device=True)


def test_subclasses_of_arrays_are_arrays(tmp_path):
    text = """
import numpy as np
from {} import njit

class Field(np.ndarray):
    def __add__(self, other):
        return "another meaning"

    def __repr__(self):
        return "Field"

f = njit("int64[:](int64[:], int64[:])")(lambda a, b: a + b)
x = np.arange(3).view(Field)
for given in (x, np.ma.masked_array(np.arange(3))):
    try:
        print(f(given, np.ones(3, np.int64)), x + 1)
    except TypeError as e:
        print("refused")
"""
    assert as_numba(tmp_path, text.format("numba")).splitlines() == ["[1 2 3] another meaning", "refused"]
    program = tmp_path / "plain.py"
    program.write_text(text.format("tierup"))
    assert subprocess.run([sys.executable, str(program)], capture_output=True, text=True, check=True).stdout.splitlines() == ["refused"] * 2
def test_typeof_of_the_stand_in(tmp_path):
    """Numba's `typeof` gives what typing functions see: numbers that are not weak, slices, members of enums."""
    assert as_numba(tmp_path, """
import enum
from collections import namedtuple
import numpy as np
from numba import njit, typeof, types

class Color(enum.Enum):
    red = 1
    blue = 2

class Level(enum.IntEnum):
    low = 1

class Mixed(enum.Enum):
    a = 1
    b = 2.0

Point = namedtuple("Point", "x y")
assert typeof(1) is types.int64 and typeof(1.0) is types.float64 and typeof(1j) is types.complex128
assert typeof([1.0]) == types.List(types.float64) and typeof({1.0}) == types.Set(types.float64)
assert typeof(slice(1, 2)) is types.slice2_type and typeof(slice(1, 2, 2)) is types.slice3_type
assert typeof(Color.red) == types.EnumMember(Color, types.int64) and typeof(Color) == types.EnumClass(Color, types.int64)
assert typeof(Level.low) == types.IntEnumMember(Level, types.int64)
assert typeof(Point(1, 2)) == types.NamedUniTuple(types.int64, 2, Point)
assert typeof(np.random.default_rng().bit_generator) == types.npy_bitgen
try:
    typeof(Mixed.a)
except ValueError as e:
    print(e)

class Own:
    _numba_type_ = types.UniTuple(types.boolean, 2)

assert typeof(Own()) == types.UniTuple(types.boolean, 2)

@njit((typeof(Level.low), typeof(1.0)))
def f(n, x):
    return n + x

print(f(Level.low, 0.5))
""") == "Cannot type heterogeneous enum: got value types float64, int64\n1.5\n"


def test_types_of_fixed_width_text():
    text, raw = types.from_dtype(np.dtype("U5")), types.from_dtype(np.dtype("S3"))
    assert text == types.UnicodeCharSeq(5) and raw == types.CharSeq(3) and text != types.UnicodeCharSeq(4)
    assert types.as_dtype(text) == np.dtype("U5") and pickle.loads(pickle.dumps(raw)) == raw
    assert types.from_dtype(np.dtype([("a", "U5")])).typeof("a") == text

    @njit((types.Array(text, 1, "C"), types.int64))
    def f(a, i):
        return a[i]

    assert f(np.array(["hello", "x"]), 1) == "x"
    with pytest.raises(TypeError):
        f(np.array(["hi"]), 0)
    assert types.typeof(np.array(["hello"])) == types.Array(text, 1, "C")


def test_titles_and_fields_of_records():
    t = types.from_dtype(np.dtype([(("title", "a"), "f8"), ("b", "i4", (2,))]))
    assert set(t.fields) == {"a", "title", "b"} and t.fields["a"].title == "title" and t.fields["b"].offset == 8
    assert t.is_title("title") and not t.is_title("a") and not t.is_title("b")
    assert types.from_dtype(types.as_dtype(t)) == t

    @njit((t[:],))
    def f(a):
        return a["title"].sum() + a[0]["a"]

    assert f(np.ones(3, types.as_dtype(t))) == 4.0


def test_records_with_more_fields_go_where_those_of_the_signature_lie():
    small, large = np.dtype([("a", "f8")]), np.dtype([("a", "f8"), ("b", "i8")])
    other = np.dtype([("b", "i8"), ("a", "f8")])

    @njit
    def f(r):
        return r["a"]

    assert f(np.array([(1.5,)], small)[0]) == 1.5
    f.disable_compile()
    assert f(np.array([(2.5, 1)], large)[0]) == 2.5
    with pytest.raises(TypeError):
        f(np.array([(1, 2.5)], other)[0])
    with pytest.raises(TypeError):
        f(np.array([(2.5, 1)], large))


def test_addresses_of_callbacks_and_entry_points():
    @tierup.cfunc("int64(int64)")
    def double(x):
        return 2 * x

    class Wrapped(types.WrapperAddressProtocol):
        def __wrapper_address__(self):
            return double._wrapper_address

        def signature(self):
            return types.int64(types.int64)

    @njit
    def call(f, x):
        return f(x) + 1

    class Nowhere(Wrapped):
        def __wrapper_address__(self):
            return 0

    with pytest.raises((TypeError, ValueError)):
        call(Nowhere(), 4)
    assert call(Wrapped(), 4) == 9 and types.int64(types.int64).as_type() == types.FunctionType(types.int64(types.int64))

    @njit((types.int64,))
    def one(x):
        return x + 1

    entry = one.overloads[(types.int64,)].entry_point
    assert entry(3) == 4 and entry.__self__ is one


def test_objmode_in_implementations_of_overloads():
    from tierup import objmode
    from tierup.extending import overload

    def shown(x):
        raise NotImplementedError

    @overload(shown)
    def ol_shown(x):
        of = types.int64

        def impl(x):
            with objmode(out=of):
                out = len(repr(x))
            return out
        return impl

    @njit
    def f(x):
        return shown(x) + 1

    assert f(1234) == 5


def test_typing_functions_see_what_lists_and_dicts_are_written_out_with():
    from tierup.extending import overload
    met = []

    def look(x):
        raise NotImplementedError

    @overload(look)
    def ol_look(x):
        met.append((type(x), getattr(x, "initial_value", "none"), getattr(x, "literal_value", "none")))
        return lambda x: len(x) if hasattr(x, "__len__") else 0

    @overload(look)
    def ol_never(x):
        return None

    @njit
    def lists(n):
        a = [1, 2, 3]
        a.append(n)
        return look(a) + look([n, n]) + look(["x", "y"])

    assert lists(7) == 8
    assert {repr(m) for m in met} == {repr((types.List, v, "none")) for v in ([1, 2, 3], None, ["x", "y"])}
    met.clear()

    @njit
    def dicts(n):
        return look({"a": 1, "b": 2}) + look({1: n})

    assert dicts(3) == 3 and [m[1] for m in met] == [{"a": 1, "b": 2}, None]
    met.clear()

    @overload(look, inline="always")
    def ol_keyed(x):
        if isinstance(x, types.LiteralStrKeyDict):
            met.append(x.literal_value)
            return lambda x: 1

    @njit
    def keyed(n, y):
        d = {"a": 1, "b": y, "c": "d", "n": n}
        return look(d)

    try:
        keyed(2, 2.5)
    except errors.TypingError:
        pass
    found = next(m if isinstance(m, dict) else m[2] for m in met)
    assert found == {types.literal("a"): types.literal(1), types.literal("b"): types.float64, types.literal("c"): types.literal("d"), types.literal("n"): types.int64}


def test_types_of_ctypes_and_memory():
    import array
    import ctypes

    from tierup._foreign import from_ctypes, to_ctypes
    from tierup._kinds import typeof
    for c, t in ((ctypes.c_double, types.float64), (ctypes.c_uint16, types.uint16), (ctypes.c_void_p, types.voidptr), (None, types.void), (ctypes.POINTER(ctypes.c_float), types.CPointer(types.float32))):
        assert from_ctypes(c) == t and to_ctypes(t) == c
    twice = types.CPointer(types.CPointer(types.float32))
    assert from_ctypes(ctypes.POINTER(ctypes.POINTER(ctypes.c_float))) == twice and to_ctypes(twice) == ctypes.POINTER(ctypes.POINTER(ctypes.c_float))
    for convert, of in ((from_ctypes, ctypes.c_wchar_p), (to_ctypes, types.ellipsis), (to_ctypes, types.complex128)):
        with pytest.raises(TypeError):
            convert(of)
    view = types.MemoryView(types.uint8, 1, "C")
    assert typeof(memoryview(bytearray(b"xyz"))) == view == pickle.loads(pickle.dumps(view)) and not types.MemoryView(types.uint8, 1, "C", readonly=True).mutable
    assert typeof(memoryview(b"xyz")) != view and typeof(memoryview(np.ones((2, 3))[:, ::2])) == types.MemoryView(types.float64, 2, "A")
    assert typeof(array.array("i", [1])) == types.PyArray(types.int32, 1, "C") and isinstance(view, types.Buffer)
    given = memoryview(bytearray(b"xyz"))
    assert njit((view,))(lambda x: x[1])(given) == 121
    assert njit((types.UniTuple(view, 2),))(lambda x: x[1][0])((given, given)) == 120 and njit((types.Optional(view),))(lambda x: x is None)(None)


def test_defaults_that_were_left_out():
    from tierup._kinds import OmittedArg, typeof
    assert typeof(OmittedArg(1.0)) == types.Omitted(1.0) and len({types.Omitted(1), types.Omitted(1.0), types.Omitted(True), types.Omitted(0.0)}) == 4
    assert types.Omitted([]) != types.Omitted([])


def test_signatures_are_taken_apart():
    from tierup.compat.support import is_signature, normalize_signature
    f8, i8 = types.float64, types.int64
    for given in ("float64(int64)", f8(i8), types.signature(f8, i8)):
        assert is_signature(given) and normalize_signature(given) == ((i8,), f8)
    assert normalize_signature((i8, f8)) == ((i8, f8), None) and normalize_signature("(int64, float64)") == ((i8, f8), None)
    for given in (3, [], (types.Integer,), (None,)):
        with pytest.raises(TypeError):
            normalize_signature(given)


def test_compiled_code_as_a_function_of_c():
    @njit(meaning="numba")
    def add(x, y):
        return x + y

    assert add(1, 2) == 3 and add(1.5, 2.0) == 3.5
    of_ints, of_floats = map(types.CompileResultWAP, add.overloads.values())
    apply = njit(lambda f, x, y: f(x, y), meaning="numba")
    assert apply(of_ints, 3, 4) == 7 and apply(of_floats, 3.5, 4.0) == 7.5 and of_ints(1, 1) == 2


def test_overloads_answer_values_that_callers_know(tmp_path):
    assert as_numba(tmp_path, """
from numba import njit, types
from numba.extending import overload

def known(x):
    raise NotImplementedError

@overload(known)
def _known(x):
    if isinstance(x, types.Literal):
        value = x.literal_value
        return lambda x: value

@njit
def through(x="default"):
    return known(x)

print(njit(lambda: through())(), njit(lambda: through("given"))(), njit(lambda: through(7))())
""") == "default given 7\n"
