"""What programs written for Numba find under its names, continued: types and dtypes, modules, signatures, object mode."""

import warnings

import numpy as np
import pytest
import tierup
from harness.processes import as_numba
from tierup import errors, njit, types


def test_types_of_scalars_make_scalars():
    assert types.NPDatetime("D")("2020-01-01") == np.datetime64("2020-01-01") and types.NPTimedelta("s")(3) == np.timedelta64(3, "s")
    for t in (types.NPDatetime("Y"), types.NPTimedelta("ns"), types.NPTimedelta("")):
        assert np.isnat(t("NaT")) and t("NaT").dtype == types.as_dtype(t)
    assert types.int8("3") == 3 and type(types.float32(1)) is np.float32
    for t in (types.NPDatetime("D"), types.int8):
        assert isinstance(t(types.int64), types.Signature) and isinstance(t(), types.Signature)


def test_dtypes_and_types():
    for letter in "hiqfdFD":
        with pytest.raises(errors.NumbaNotImplementedError):
            types.from_dtype(np.dtype(">" + letter))
    assert types.from_dtype(np.dtype("O")) is types.pyobject and types.as_dtype(types.pyobject) == np.dtype("O")
    import enum
    Three = enum.Enum("Three", "a b c")
    assert types.as_dtype(types.EnumMember(Three, types.float64)) == np.float64
    said = [("n", {"type": types.int32, "offset": 0}), ("xs", {"type": types.NestedArray(types.float64, (2, 3)), "offset": 8, "title": "values"})]
    dtype = np.dtype({"names": ["n", "xs"], "formats": ["i4", ("f8", (2, 3))], "offsets": [0, 8], "titles": [None, "values"], "itemsize": 64})
    record = types.Record(fields=said, size=64, aligned=False)
    assert record == types.from_dtype(dtype) and record.dtype == dtype and record.fields["values"][:2] == (types.NestedArray(types.float64, (2, 3)), 8)


def test_numpy_support():
    from tierup.compat.numba import look_up
    scalar_type, contiguous, fortran, layout = (look_up("numba.np.numpy_support", n) for n in ("map_arrayscalar_type", "is_contiguous", "is_fortran", "map_layout"))
    assert scalar_type(1) == types.int64 and scalar_type(np.float32(1)) == types.float32 and scalar_type(np.timedelta64(3, "s")) == types.NPTimedelta("s") and scalar_type(2j) == types.complex128
    a = np.arange(24)
    for b in (a, a[::2], a.reshape(3, 8), a.reshape(3, 8).T, a.reshape(2, 3, 4)[:, ::3], a.reshape(2, 3, 4)[::2], a.reshape(1, 24)[:, ::2], a.reshape(4, 3, 2)[..., :1], np.zeros(()), a.reshape(2, 3, 4).transpose(1, 0, 2)):
        asked = b.shape, b.strides, b.itemsize
        assert contiguous(*asked) == b.flags.c_contiguous and fortran(*asked) == b.flags.f_contiguous
        assert layout(b) == ("C" if b.flags.c_contiguous else "F" if b.flags.f_contiguous else "A")


def test_jitclass_is_a_module_too(tmp_path):
    assert as_numba(tmp_path, """
from numba.experimental.jitclass.base import JitClassType
import numba.experimental.jitclass
from numba.experimental import jitclass
from numba.experimental.jitclass import jitclass as same
from numba import types, extending
made = []
for decorate in (jitclass, same, numba.experimental.jitclass, numba.experimental.jitclass([("x", types.int64)])):
    @decorate
    class A:
        x: int
        ys: list[float]
        def __init__(self): self.x = 3
    assert isinstance(A, JitClassType) and A().x == 3 and A.class_type.class_name == "A"
    assert A.class_type.struct == {"x": types.int64, "ys": types.List(types.float64)} and extending.as_numba_type(A) == A.class_type.instance_type
assert not isinstance(int, JitClassType) and not isinstance(A(), JitClassType)
print("done")
""") == "done\n"


def test_options_that_numba_no_longer_has():
    from tierup.compat.decorators import jit as jit_as_numba
    for decorate, what in ((lambda: jit_as_numba(nopython=False), "jit"), (lambda: tierup.vectorize(nopython=False)(lambda x: x), "vectorize"), (lambda: tierup.vectorize(["f8(f8)"], target="parallel", nopython=False)(lambda x: x), "vectorize")):
        with pytest.warns(errors.NumbaDeprecationWarning, match=f"'nopython=False' was supplied to {what}") as found:
            decorate()
        assert len(found) == 1
    with pytest.warns(RuntimeWarning, match="nopython is set for njit and is ignored"):
        assert njit(nopython=False)(lambda x: x)(3) == 3
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        jit_as_numba(nopython=True)(lambda x: x)
        tierup.jit(nopython=False)(lambda x: x)


def test_calls_from_compiled_code_are_signatures(tmp_path):
    """As in Numba, in whose place the program runs; Tierup's own are what can be called from Python."""
    program = """
from collections import namedtuple
import numpy as np
from numba import njit, types, literally, optional
P = namedtuple("P", "x y")
@njit
def inner(x, y): return x if y is None else x + y
@njit
def outer(x, flag):
    return inner(x, 2.5 if flag else None)
outer(1.0, True)
assert [len(s) for s in inner.signatures] == [2] and isinstance(inner.signatures[0][1], types.Optional), inner.signatures
assert inner.nopython_signatures[0].return_type == types.float64 and not inner.overloads
inner(np.zeros(2), 3)
outer(1, True)
outer(1.0, False)
assert [s[0] for s in inner.signatures] == [types.float64, types.float64[::1], types.int64], inner.signatures
assert len(inner.overloads) == 1

@njit
def doubled(x): return literally(x) * 2
@njit
def with_literal(x): return doubled(x) + 1
with_literal(3)
assert doubled.signatures == [(types.literal(3),)] and with_literal.signatures == [(types.literal(3),)]

@njit
def same(x): return x
@njit
def calls_itself(n): return 1 if n < 2 else n * calls_itself(n - 1)
point = P(1, 2.5)
same(point)
calls_itself(5)
from numba import typeof
assert same.signatures == [(typeof(point),)] and same.nopython_signatures[0].args[0] == typeof(point) != typeof((1, 2.5))
assert len(calls_itself.signatures) == 1
print("done")
"""
    assert as_numba(tmp_path, program) == "done\n"
    plain = njit(lambda x: x)
    assert njit(lambda x: plain(x))(3) == 3 and plain.signatures == []


def test_results_of_object_mode_are_cut_off(tmp_path):
    """Numba takes a float where an integer is declared; Tierup's own `objmode` does not."""
    program = """
import numpy as np
from numba import njit, objmode, types
@njit
def one():
    with objmode(n=types.intp): n = 12.9
    return n
@njit
def several():
    with objmode(x="float64", n="int8", a="int32[:]"):
        x = -793.5
        n = -3.5
        a = np.arange(3).astype(np.int32)
    return x, n, a
assert one() == 12 and type(one()) is int
x, n, a = several()
assert (x, n, list(a)) == (-793.5, -3, [0, 1, 2])
print("done")
"""
    assert as_numba(tmp_path, program) == "done\n"

    @njit
    def one():
        with tierup.objmode(n="int64"):
            n = 12.9
        return n
    with pytest.raises(TypeError, match="no result of type int64"):
        one()


def test_whether_a_text_is_ascii_under_numbas_name():
    f = njit(lambda s: (s._is_ascii, s[1:]._is_ascii, (s + "b")._is_ascii))
    assert f("xyz") == (True, True, True) and f("äz") == (False, True, False)


def test_what_may_not_be_compiled_is_not_compiled():
    @njit(["float32(float32)"])
    def declared(x):
        return x

    @njit
    def closed(x):
        return x

    closed.compile("(float32,)")
    closed.disable_compile()
    for f in (declared, closed):
        f.compile("(float32,)")
        with pytest.raises(RuntimeError, match="compilation disabled"):
            f.compile("(complex64,)")
        assert len(f.signatures) == 1


def test_recompiling_in_numbas_meaning_is_done_at_once():
    n = 1

    def plus(x):
        return x + n

    f, later = njit(plus, meaning="numba"), njit(plus)
    assert (f(1), f(1.5), later(1)) == (2, 2.5, 2)
    n = 2
    assert f(1) == 2
    f.recompile()
    later.recompile()
    assert len(f.signatures) == 2 and later.signatures == []
    assert (f(1), f(1.5), later(1)) == (3, 3.5, 3)


def test_what_parallel_comes_to_nothing_for_is_said(tmp_path):
    program = """
import warnings
import numba, numpy as np
from numba import njit, prange
def told(f, *args):
    with warnings.catch_warnings(record=True) as w:
        warnings.simplefilter("always")
        f(*args)
    return [x for x in w if issubclass(x.category, numba.errors.NumbaPerformanceWarning)]
@njit(parallel=True)
def plain(x): return x + 1
@njit(parallel=True)
def loop(a):
    s = 0.0
    for i in prange(len(a)): s += a[i]
    return s
@njit(parallel=True)
def arrays(a): return a * 2 + 1
@njit(parallel=True)
def leaves(n):
    for i in prange(n):
        if i == 3: return i
        if i == n: break
    return 0
@njit(parallel=True)
def caught(a):
    out = a.copy()
    try:
        for i in prange(len(a)):
            if i == 2: raise ValueError
            out[i] = i
    except Exception:
        out[i] = -1
    return out
@njit(parallel=True)
def in_chunks(n):
    out = np.zeros(n)
    with numba.parallel_chunksize(3):
        for i in prange(n): out[i] = i
    return out
assert not told(in_chunks, 5)
a = np.ones(4)
found = told(plain, 1)
assert len(found) == 1 and "no transformation for parallel execution was possible" in str(found[0].message) and found[0].lineno == 11, found
assert not told(plain, 1) and not told(loop, a) and not told(arrays, a)
assert "will not be executed in parallel" in str(told(leaves, 5)[0].message) and leaves(5) == 3 and leaves(2) == 0
assert "will not be executed in parallel" in str(told(caught, a)[0].message) and caught(a).tolist() == [0, 1, -1, 1]
numba.config.DISABLE_PERFORMANCE_WARNINGS = 1
assert not told(plain, 1.0)
print("done")
"""
    assert as_numba(tmp_path, program) == "done\n"


def test_aids_for_warnings():
    @errors.deprecated("other()")
    def old():
        return 3

    with pytest.warns(DeprecationWarning, match="old.*\n.*other"):
        assert old() == 3
    gathered = errors.WarningsFixer(errors.NumbaWarning)
    with gathered.catch_warnings("file.py", 7):
        for _ in range(2):
            warnings.warn(errors.NumbaPerformanceWarning("slow"))
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        gathered.flush()
        gathered.flush()
    assert [(w.category, w.filename, w.lineno, str(w.message)) for w in found] == [(errors.NumbaPerformanceWarning, "file.py", 7, "slow")]


def test_vectors_in_the_plane_and_types_of_memory(tmp_path):
    program = """
import numpy as np
from numba import errors, njit, typeof, types
from numba.core.typing.asnumbatype import AsNumbaTypeRegistry
from numba.np.extensions import cross2d
a, b = np.array([[1, 2], [4, 5]]), np.array([3.0, 7.0])
f = njit(lambda a, b: cross2d(a, b))
assert f(a, b).tolist() == [1.0, 13.0] and f(b, np.array([1, 1])) == -4.0 and f((1, 2), (3, 4)) == -2
try:
    f(np.ones(3), np.ones(3))
except ValueError as e:
    assert "Incompatible dimensions for 2D cross product" in str(e)
assert typeof(b"x") == types.Bytes(types.uint8, 1, "C")
import numba.core.types
import numba.types.misc
from numba.types.containers import Sequence
assert numba.types.misc is numba.core.types.misc and Sequence is types.Sequence
mine = AsNumbaTypeRegistry()
mine.register(float, types.float32)
assert mine(float) == types.float32 and AsNumbaTypeRegistry()(float) == types.float64
for wrong in (lambda: types.int32[0], lambda: types.int32[:, 4], lambda: list(types.int32)):
    try:
        wrong()
    except KeyError as e:
        assert "Can only index numba types with slices" in str(e)
    else:
        raise AssertionError
f(a, b)
told = f.get_annotation_info()
assert len(told) == len(f.signatures) and all("cross2d" in text for text in told.values())
print("done")
"""
    assert as_numba(tmp_path, program) == "done\n"


def test_callbacks_that_only_compiled_code_can_call(tmp_path):
    program = """
import pickle
import numpy as np
from numba import cfunc, int64, njit, types
@cfunc("intp(intp[:], float64[:])")
def of_arrays(x, y): return x[0] + y[0]
@cfunc(int64(types.none))
def of_none(i): return 1
call = njit(lambda f, a, b: f(a, b))
assert call(of_arrays, np.array([10]), np.array([2.5])) == 12 and njit(lambda f: f(None))(of_none) == 1
for address in (lambda: of_arrays.address, lambda: of_arrays.ctypes):
    try:
        address()
    except TypeError as e:
        assert "a C callback takes numbers and pointers, not array" in str(e)
    else:
        raise AssertionError
assert not hasattr(of_arrays, "anything")
print("done")
"""
    assert as_numba(tmp_path, program) == "done\n"
    with pytest.raises(TypeError, match="a C callback takes"):
        tierup.cfunc("intp(intp[:])")(len)


def test_records_with_attributes_are_of_the_type_of_those_without():
    dtype = np.dtype([("m", np.int32), ("n", "S5")])
    of = tierup.typeof(np.recarray(4, dtype=dtype)).dtype
    assert of == types.from_dtype(dtype) and hash(of) == hash(types.from_dtype(dtype)) and of != types.from_dtype(np.dtype([("m", np.int32)]))
