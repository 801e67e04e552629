"""Types of a program's own that have a data model and no instances in Python: only compiled code has their values."""

import numpy as np
import pytest
from generators import in_each_tier  # noqa: F401
from tierup import njit, types
from tierup import extending as ext
from tierup.extending import intrinsic
from tierup.llvm import cgutils


class QuotientType(types.Type):
    def __init__(self, data):
        self.data = data
        super().__init__(name=f"Quotient({data})")


@ext.register_model(QuotientType)
class QuotientModel(ext.models.StructModel):
    def __init__(self, dmm, fe_type):
        super().__init__(dmm, fe_type, [("data", fe_type.data)])


ext.make_attribute_wrapper(QuotientType, "data", "_data")


@intrinsic
def new_quotient(typingctx, data):
    def codegen(context, builder, sig, args):
        made = cgutils.create_struct_proxy(sig.return_type)(context, builder)
        made.data = args[0]
        context.nrt.incref(builder, sig.args[0], args[0])
        return made._getvalue()

    return types.signature(QuotientType(data), data), codegen


@ext.overload_method(QuotientType, "div")
def _(self, other):
    return lambda self, other: self._data / other._data


class LayoutType(types.Type):
    def __init__(self, n):
        self.n = n
        super().__init__(name=f"Layout({n})")


@ext.register_model(LayoutType)
class LayoutModel(ext.models.OpaqueModel):
    pass


@ext.overload_attribute(LayoutType, "dims")
def _(layout):
    n = layout.n
    return lambda layout: n


class VectorType(types.Type):
    def __init__(self, layout, value):
        self.layout_type, self.value_type = layout, value
        super().__init__(name=f"Vector({layout}, {value})")


@ext.register_model(VectorType)
class VectorModel(ext.models.StructModel):
    def __init__(self, dmm, fe_type):
        super().__init__(dmm, fe_type, [("layout", fe_type.layout_type), ("value", fe_type.value_type)])


ext.make_attribute_wrapper(VectorType, "layout", "layout")
ext.make_attribute_wrapper(VectorType, "value", "value")


@intrinsic(prefer_literal=True)
def layout(typingctx, n):
    if isinstance(n, types.IntegerLiteral):
        return LayoutType(n.literal_value)(n), lambda context, builder, sig, args: context.get_dummy_value()


@intrinsic
def vector(typingctx, layout, value):
    def codegen(context, builder, sig, args):
        made = context.make_helper(builder, sig.return_type)
        made.layout, made.value = args
        return cgutils.impl_ret_borrowed(context, builder, sig.return_type, made._getvalue())

    return VectorType(layout, value)(layout, value), codegen


def test_values_are_structures_of_their_members(tier):
    @njit
    def f(a, b):
        return new_quotient(a).div(new_quotient(b))

    assert f(5.0, 2.0) == 2.5 and f(4, 8) == 0.5
    assert f(np.arange(3.0), np.full(3, 2.0)).tolist() == [0.0, 0.5, 1.0]


def test_models_within_models(tier):
    @njit
    def f(a):
        v = vector(layout(3), a)
        vs = [v, vector(layout(3), a + 1)]
        w = vs[1] if len(a) > 2 else vs[0]
        return v.layout.dims, v.value.sum(), w.value.sum(), vector(layout(2), a[1:]).layout.dims

    assert f(np.arange(4.0)) == (3, 6.0, 10.0, 2) and f(np.arange(2.0)) == (3, 1.0, 1.0, 2)


def test_a_type_that_is_boxed_is_that_of_instances_alone(tier):
    class Boxed:
        def __init__(self, x):
            self.x = x

    class BoxedType(types.Type):
        def __init__(self):
            super().__init__(name="Boxed")

    @ext.register_model(BoxedType)
    class BoxedModel(ext.models.StructModel):
        def __init__(self, dmm, fe_type):
            super().__init__(dmm, fe_type, [("x", types.float64)])

    ext.box(BoxedType)(lambda typ, val, c: None)
    ext.typeof_impl.register(Boxed)(lambda val, c: BoxedType())

    @intrinsic
    def new(typingctx, x):
        def codegen(context, builder, sig, args):
            made = context.make_helper(builder, sig.return_type)
            made.x = args[0]
            return made._getvalue()

        return BoxedType()(x), codegen

    with pytest.raises(Exception, match="a value of type Boxed: compiled code has met no instance"):
        njit(lambda x: new(x))(1.5)

    @intrinsic
    def meet(typingctx, b):
        return types.float64(b), lambda context, builder, sig, args: context.make_helper(builder, sig.args[0], args[0]).x

    out = njit(lambda b: new(meet(b) * 2))(Boxed(1.5))
    assert type(out) is Boxed and out.x == 3.0


def test_what_comes_out_has_the_members(tier):
    out = njit(lambda a: vector(layout(3), a))(np.arange(2.0))
    assert type(out).__name__ == "VectorType" and out.value.tolist() == [0.0, 1.0]
    with pytest.raises(AttributeError):
        out.value = None
