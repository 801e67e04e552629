"""What is declared of a function holds wherever it is called from: signatures, ambiguity, results, variables with types, changes of the world around."""

import warnings

import numpy as np
import pytest

import tierup
from tierup import cfunc, jit, njit, types, vectorize


def both(declared, *args):
    """What a call from Python and one from compiled code give."""
    def call(f, *args):
        return f(*args)
    return declared(*args), njit(call)(declared, *args)


def test_compiled_code_calls_what_is_declared():
    add = njit("int32(int32, int32)")(lambda x, y: x + y)
    for args, right in (((2**31 - 1, 1), -(2**31)), ((2.7, 1), 3), ((2**40, 1), 1)):
        assert both(add, *args) == (right, right)
    assert njit(lambda a: add(a, 1))(2.7) == 3
    assert njit(lambda a: [add(a, k) for k in range(3)])(2.7) == [2, 3, 4]

    def loop(a):
        r = 0
        for f in (add, add):
            r += f(a, 1)
        return r
    assert njit(loop)(2.7) == 6
    assert njit(lambda a, f=add: f(a, 1))(2.7) == 3


def test_results_are_of_the_declared_type():
    assert both(njit("int64(float64)")(lambda x: x), 2.75) == (2, 2)
    assert both(njit("int8(int64)")(lambda x: x), 300) == (44, 44)
    small = njit("float32(float64)")(lambda x: x)
    assert njit(lambda x: small(x) + np.float32(0))(0.1) == np.float32(0.1)
    pair = njit(types.Tuple((types.int64, types.float32))(types.UniTuple(types.float64, 2)))(lambda t: t)
    assert both(pair, (1, 0.1)) == ((1, float(np.float32(0.1))),) * 2
    maybe = njit(types.int64(types.optional(types.int64)))(lambda x: x)
    assert both(maybe, 3) == (3, 3)
    for call in (maybe, njit(lambda x: maybe(x))):
        with pytest.raises(TypeError, match="expected int64, got None"):
            call(None)


def test_members_and_arrays_are_converted():
    pair = njit(types.UniTuple(types.int32, 2)(types.UniTuple(types.int32, 2)))(lambda t: t)
    assert both(pair, (2**33 + 1, 2.5)) == ((1, 2), (1, 2))
    first = njit("float64(float64[:])")(lambda a: a[0])
    assert both(first, np.arange(3.0)) == (0.0, 0.0) and both(first, np.arange(6.0)[::2]) == (0.0, 0.0)
    fixed = np.arange(3.0)
    fixed.flags.writeable = False
    for wrong in (fixed, np.arange(3), np.ones((2, 2)), [1.0]):
        for call in (first, njit(lambda a: first(a))):
            with pytest.raises(TypeError, match="No matching definition"):
                call(wrong)
    floats = njit(types.float64(types.List(types.float64)))(lambda z: z[0])
    assert both(floats, [1.5]) == (1.5, 1.5)
    for call in (floats, njit(lambda z: floats(z))):
        with pytest.raises(TypeError, match="No matching definition"):
            call([1])


def test_python_refuses_numbers_that_do_not_fit():
    for sig, value, error in (("uint64(uint64)", -1, "can't convert negative int to unsigned"), ("uint8(uint8)", -1, "negative"), ("int64(int64)", 2**63, "too big"), ("int64(int64)", 2**70, "too"), ("int64(int64)", 1e300, "too big")):
        for decorate in (njit, jit):
            with pytest.raises(OverflowError, match=error):
                decorate(sig)(lambda x: x)(value)
    with pytest.raises(ValueError, match="NaN"):
        njit("int64(int64)")(lambda x: x)(float("nan"))
    assert njit("complex128(complex128)")(lambda x: x)(10**36) == 1e36
    # Whether the signature is for all the arguments comes first.
    with pytest.raises(TypeError, match="No matching definition"):
        njit("int64(int64, float64)")(lambda x, y: x)(float("inf"), "text")


def test_the_best_signature_is_chosen_and_ties_are_errors():
    f = njit(["float32(float32, float32)", "float64(float64, float64)"])(lambda x, y: x + y)
    assert both(f, 1, 2**-25) == (1 + 2**-25,) * 2
    assert f(np.float32(1), np.float32(2**-25)) == 1.0
    g = njit(["float64(float64, int64)", "float64(int64, float64)"])(lambda x, y: x + y)
    assert both(g, 1.5, 2) == (3.5, 3.5)
    for call in (g, njit(lambda x, y: g(x, y))):
        with pytest.raises(TypeError, match=r"Ambiguous overloading for .*\(float64, int64\), \(int64, float64\)"):
            call(1, 2)


def test_a_change_around_a_declared_function_compiles_it_anew():
    y = 10
    add = njit("int32(int32)")(lambda x: x + y)
    call = njit(lambda x: add(x))
    assert (add(1), call(1)) == (11, 11)
    y = 12
    assert (add(1), call(1)) == (13, 13)
    y = 2.75
    assert (add(1), call(1)) == (3, 3) and add.signatures == [(types.int32,)]


def test_functions_call_themselves_as_declared():
    def make():
        @njit("int64(int64)")
        def fac(n):
            return 1 if n < 2 else n * fac(n - 1)
        return fac
    assert make()(5) == 120 and make()(5.9) == 120

    @njit("int64(int64)")
    def down(n):
        return n if n < 1 else down(n - 0.5)
    assert down(5) == 0


def test_more_signatures_are_noticed_by_callers():
    half = njit(lambda x: x / 2)
    call = njit(lambda x: half(x))
    assert call(2.5) == 1.25
    assert callable(half.compile("int64(int64)"))
    assert (half(3), call(3), half(3.0), call(3.0)) == (1, 1, 1.5, 1.5)
    assert types.Signature(types.int64, (types.int64,)) in half.nopython_signatures
    half.disable_compile()
    assert half(np.float32(5)) == call(np.float32(5)) == 2.5


def test_an_overload_is_called_by_its_types():
    f = njit(lambda x: x + 1)
    f(1), f(1.5), f(np.arange(3))
    for signature in f.signatures[:2]:
        assert f.get_overload(signature)(2) == 3
    assert type(f.get_overload(f.signatures[1])(2)) is float
    assert f.get_overload("(int64[::1],)")(np.arange(2)).tolist() == [1, 2]
    with pytest.raises(KeyError):
        f.get_overload("(float32,)")


def test_callbacks_take_no_float_for_an_integer():
    c = cfunc("int64(int64)")(lambda x: x + 1)
    assert njit(lambda x: c(x))(2) == 3 and njit(lambda f, x: f(x))(c, np.int8(2)) == 3
    for call in (njit(lambda x: c(x)), lambda x: njit(lambda f, x: f(x))(c, x)):
        with pytest.raises(TypeError, match="narrower kind"):
            call(2.5)


def test_python_runs_what_it_is_told_to_run():
    assert jit("int32(int32)", forceobj=True)(lambda x: x)("a") == "a"


def test_variables_have_the_types_that_locals_gives():
    def thirds(x, z):
        y = x / z
        return y
    assert jit(nopython=True, locals={"y": types.int32})(thirds)(8, 3) == 2
    assert njit(locals={"x": types.float32})(lambda x: x)(0.1) == float(np.float32(0.1))

    def steps(x):
        y = x
        for i in range(3):
            y = y + 0.75
        return y, i
    assert njit(locals={"y": types.int32, "i": types.float32})(steps)(8.9) == (8, 2.0)

    def half(x):
        y = x
        y = y + 0.5
        return y
    assert cfunc("float64(float64)", locals={"y": types.int32})(half).ctypes(2.5) == 2.0
    v = vectorize(["float64(float64)"], locals={"y": types.int32})(half)
    assert v(2.5) == 2.0 and njit(lambda x: v(x))(2.5) == 2.0
    copy = njit(locals={"y": types.int32})(thirds).__reduce__()
    assert copy[0](*copy[1])(8, 3) == 2


def test_what_locals_cannot_mean_is_refused():
    def text(x):
        y = "abc"
        return y
    with pytest.raises(tierup.TypingError, match="no conversion from str to int32 for 'y'"):
        njit(locals={"y": types.int32})(text)(3)
    for wrong in ("int32", int, types.pyobject):
        with pytest.raises(TypeError, match="locals="):
            njit(locals={"y": wrong})(text)
    with pytest.warns(tierup.TierupWarning, match="no variable 'z'"):
        njit(locals={"z": types.int32})(text)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        njit(locals={"y": types.unicode_type})(text)(1)
