"""Types that a program gives its own classes (`tierup.extending.typeof_impl`), and what is written for LLVM."""

import numpy as np
import pytest
from tierup import TypingError, njit, types
from tierup import extending as ext


class Interval:
    def __init__(self, lo, hi):
        self.lo, self.hi = lo, hi

    @property
    def width(self):
        return self.hi - self.lo


class IntervalType(types.Type):
    def __init__(self, dtype):
        self.dtype = dtype
        super().__init__(name=f"Interval({dtype})")


@ext.typeof_impl.register(Interval)
def _(val, c):
    return IntervalType(ext.typeof_impl(val.lo, c))


@ext.register_model(IntervalType)
class IntervalModel(ext.models.StructModel):
    def __init__(self, dmm, fe_type):
        ext.models.StructModel.__init__(self, dmm, fe_type, [("lo", types.float64), ("hi", types.float64)])


@ext.unbox(IntervalType)
def _(typ, obj, c):
    raise AssertionError("no code is generated for LLVM")


@ext.box(IntervalType)
def _(typ, val, c):
    raise AssertionError("no code is generated for LLVM")


@ext.type_callable(Interval)
def _(context):
    return lambda lo, hi: IntervalType(types.float64)


@ext.lower_builtin(Interval, types.Float, types.Float)
def _(context, builder, sig, args):
    raise AssertionError("no code is generated for LLVM")


ext.make_attribute_wrapper(IntervalType, "lo", "lo")
ext.make_attribute_wrapper(IntervalType, "lo", "low")


@ext.overload_attribute(IntervalType, "middle")
def _(i):
    return lambda i: (i.lo + i.hi) / 2


@ext.overload_method(IntervalType, "scaled")
def _(i, k):
    if isinstance(i.dtype, types.Integer):
        return lambda i, k: Interval(i.lo * k, i.hi * k)
    return lambda i, k: Interval(i.lo * k, i.hi * (k + 0.0))


def shift(i, by):
    raise NotImplementedError


@ext.overload(shift)
def _(i, by):
    if isinstance(i, IntervalType):
        return lambda i, by: Interval(i.lo + by, i.hi + by)


def test_the_example_of_numbas_documentation():
    @njit
    def inside(i, x):
        return i.lo <= x < i.hi

    @njit
    def grown(i):
        return Interval(i.low - 1, i.hi + 1)

    i = Interval(1.0, 3.0)
    assert inside(i, 2.0) and not inside(i, 3.0)
    g = grown(i)
    assert type(g) is Interval and (g.lo, g.hi) == (0.0, 4.0)


def test_overloads_see_the_type_of_the_program():
    @njit
    def call(i, k):
        j = shift(i.scaled(k), 1)
        return i.middle, i.width, j.lo, j.hi, j

    *numbers, j = call(Interval(1.0, 4.0), 2)
    assert numbers == [2.5, 3.0, 3.0, 9.0] and (j.lo, j.hi) == (3.0, 9.0)
    assert call(Interval(1, 4), 2)[:4] == (2.5, 3, 3, 9)


def test_types_out_of_objects():
    assert types.typeof(Interval(1.0, 2.0)) == IntervalType(types.float64) == IntervalType(types.float64)
    assert IntervalType(types.float64) is IntervalType(types.float64) and IntervalType(types.float64) != IntervalType(types.int64)
    assert types.typeof(1.5) == types.float64 == ext.typeof_impl(1.5)


def test_a_type_may_depend_on_the_types_of_fields():
    class Series:
        def __init__(self, values):
            self._values = values

    class SeriesType(types.ArrayCompatible):
        def __init__(self, dtype, layout):
            self.dtype, self.layout = dtype, layout
            super().__init__(f"Series({dtype}, {layout})")

    @ext.typeof_impl.register(Series)
    def _(val, c):
        t = ext.typeof_impl(val._values, c)
        assert t.ndim == 1 == val._values.ndim and val._values.dtype == types.as_dtype(t.dtype)
        return SeriesType(t.dtype, t.layout)

    @ext.overload(len)
    def _(x):
        if isinstance(x, SeriesType):
            return lambda x: len(x._values)

    @ext.overload_method(SeriesType, "clip")
    def _(x, lo, hi):
        return lambda x, lo, hi: Series(np.minimum(np.maximum(x._values, lo), hi))

    @njit
    def call(s):
        return len(s), s.clip(1.0, 2.0)

    n, s = call(Series(np.array([0.0, 1.5, 3.0])))
    assert n == 3 and s._values.tolist() == [1.0, 1.5, 2.0]


def test_a_type_that_needs_values_is_refused_where_it_is_wanted():
    class Counted:
        def __init__(self, n):
            self.n = n

    class CountedType(types.Opaque):
        pass

    @ext.typeof_impl.register(Counted)
    def _(val, c):
        return CountedType(f"counted {val.n + 1}")

    def of(x):
        raise NotImplementedError

    @ext.overload(of)
    def _(x):
        if isinstance(x, CountedType):
            return lambda x: x.n

    with pytest.raises(TypingError, match="typeof_impl has for .*Counted cannot tell"):
        njit(lambda c: of(c))(Counted(3))
    assert njit(lambda c: c.n)(Counted(3)) == 3


def test_annotations_have_types():
    t = ext.as_numba_type
    assert t(int) is types.int64 and t(float) is types.float64 and t(None) is types.none and t(types.int8) is types.int8
    assert t(list[int]) == types.List(types.int64) and t(dict[str, float]) == types.DictType(types.unicode_type, types.float64)
    assert t(tuple[int, float]) == types.Tuple((types.int64, types.float64)) and t(int | None) == types.Optional(types.int64)
    assert t.register(Interval, IntervalType(types.float64)) is t(Interval) is IntervalType(types.float64)
    with pytest.raises(TypingError, match="Cannot infer"):
        t(object())


def generated(x):
    raise NotImplementedError


def test_a_function_with_a_type_and_no_code_is_refused_where_it_is_called():
    @ext.type_callable(generated)
    def _(context):
        return lambda x: x

    @ext.lower_builtin(generated, types.Float)
    def _(context, builder, sig, args):
        return builder.fadd(args[0], args[0])

    assert njit(lambda x: generated(x))(1.5) == 3.0
    with pytest.raises(TypingError, match=r"No implementation of function generated\(\) takes \(int\): .* no code generator \(lower_builtin\)"):
        njit(lambda x: generated(x))(1)
    # An overload says it in the language.
    ext.overload(generated)(lambda x: lambda x: x + 1)
    assert njit(lambda x: generated(x))(1) == 2


def test_the_values_of_operands_may_be_wanted():
    def component(t, k):
        return t[k]

    @ext.overload(component)
    def of(t, k):
        n = ext.SentryLiteralArgs(["k"]).for_function(of).bind(t, k).arguments["k"].literal_value
        return lambda t, k: t[n]

    @njit
    def call(t, k):
        return component(t, k)

    assert call((1, "a"), 0) == 1 and call((1, "a"), 1) == "a"
    assert njit(lambda t: component(t, 1))((1, "a")) == "a"
    with pytest.raises(TypingError, match="constant"):
        njit(lambda t, ks: [component(t, k) for k in ks])((1, 2), [0, 1])


def test_an_implementation_that_wants_a_value_is_asked_for_with_it():
    def power(x, n):
        return x**n

    @ext.overload(power)
    def _(x, n):
        if isinstance(n, types.IntegerLiteral):
            text = " * ".join(["x"] * n.literal_value) or "1.0"
            scope = {}
            exec(f"def impl(x, n):\n    return ({text}, 'written out')", scope)
            return scope["impl"]
        from tierup import literally
        return lambda x, n: literally(n)

    @njit
    def call(x, n):
        return power(x, n)

    assert call(3.0, 3) == (27.0, "written out") and call(3.0, 2) == (9.0, "written out")
    assert njit(lambda x: power(x, 2))(2.0) == (4.0, "written out")


def test_an_object_that_says_where_a_function_of_c_lies_is_one():
    import ctypes

    import tierup
    address = ctypes.cast(ctypes.CDLL(None).labs, ctypes.c_void_p).value

    class Magnitude(types.WrapperAddressProtocol):
        def __wrapper_address__(self):
            return address

        def signature(self):
            return types.int64(types.int64)

    magnitude = Magnitude()
    assert njit(lambda x: magnitude(x) + 1)(-7) == 8
    assert njit(lambda f, x: f(x))(magnitude, -7) == 7
    with pytest.raises(tierup.TypingError):
        njit(lambda x: magnitude(x))("a")


def test_signatures_tell_the_values_that_code_is_for():
    from tierup import literally

    @njit
    def call(x, n):
        return x + literally(n)

    assert call(1.5, 2) == 3.5 and call(1.5, 3) == 4.5
    assert [s[1].literal_value for s in call.signatures] == [2, 3] and call.signatures[0] == (types.float64, types.literal(2))
    assert set(call.overloads) == set(call.signatures) and "float" in call.inspect("typed", call.signatures[0])


def test_what_a_model_does_not_name_is_left_alone():
    """Instances may hold what compiled code has no values of, as functions that unbox take the members of the model alone."""
    import threading

    from tierup import TypingError
    from tierup.extending import make_attribute_wrapper, models, overload_method, register_model, typeof_impl

    class Meter:
        def __init__(self, name):
            self.counts = np.zeros(2, np.uint64)
            self._event = threading.Event()
            self._thread = threading.current_thread()
            self.name = name

    class MeterType(types.Type):
        def __init__(self):
            super().__init__(name="Meter")

    @typeof_impl.register(Meter)
    def _(val, c):
        return MeterType()

    @register_model(MeterType)
    class _(models.StructModel):
        def __init__(self, dmm, fe_type):
            super().__init__(dmm, fe_type, [("hook", types.uint64[::1])])

    make_attribute_wrapper(MeterType, "hook", "counts")

    @overload_method(MeterType, "add")
    def _(self, k):
        def add(self, k):
            self.counts[0] += np.uint64(k)
        return add

    @njit
    def f(meters):
        for m in meters:
            m.add(len(m.name))
        return meters[0]

    a, b = Meter("one"), Meter("seven")
    event = a._event
    assert f([a, b, a]) is a and a.counts[0] == 6 and b.counts[0] == 5
    assert a._event is event and a._thread is threading.current_thread()
    with pytest.raises(TypingError, match="_event"):
        njit(lambda m: m._event)(a)

    class Unknown:
        def __init__(self):
            self._event = threading.Event()

    with pytest.raises(TypingError, match="in the field"):
        njit(lambda m: 1)(Unknown())
