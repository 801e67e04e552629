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
