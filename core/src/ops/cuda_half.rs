//! Floats of 16 bits, which kernels have: `np.float16`, `float16`, arrays of them. Every operation is NumPy's:
//! computed in float32 and rounded once, which for `+ - * /` and square roots is what hardware gives, so that LLVM
//! makes it that. A number of Python's, a bool and an integer of 8 bits become one of them; with anything wider
//! they are widened themselves.

use super::{Body, OpDef};
use crate::emit::cast;
use crate::types::{Float, Int, Kind, Type};
use crate::typing::{Answer, Arg};

fn is_half(t: Type) -> bool {
    *t == Kind::Float(Float::F16)
}

/// A float of 16 bits, or what becomes one.
fn fits(a: &Arg) -> bool {
    is_half(a.ty)
        || matches!(*a.ty, Kind::Bool | Kind::Int(Int::I8 | Int::U8 | Int::Py) | Kind::Float(Float::Py))
}

fn narrow(args: &[Arg]) -> bool {
    args.iter().any(|a| is_half(a.ty)) && args.iter().all(fits)
}

fn wide(args: &[Arg]) -> bool {
    args.iter().any(|a| is_half(a.ty)) && args.iter().all(|a| a.ty.is_number())
}

/// A function of one float of 16 bits.
macro_rules! one {
    ([$($path:literal),+], $body:literal, $doc:literal) => {
        OpDef::new(&[$($path),+], "x", Body::Py($body)).only_if(narrow).halves().doc($doc)
    };
}
/// An operation on two of them, or on one and what becomes one.
macro_rules! two {
    ([$($path:literal),+ $(,)?], $body:expr, $doc:literal) => {
        OpDef::new(&[$($path),+], "a, b", Body::Py($body)).only_if(narrow).halves().raises().doc($doc)
    };
}
/// An operation on one of them and a wider number, or one whose result is none of them.
macro_rules! beside {
    ([$($path:literal),+ $(,)?], $body:expr, $doc:literal) => {
        OpDef::new(&[$($path),+], "a, b", Body::Py($body)).only_if(wide).halves().raises().doc($doc)
    };
}

/// The rows. Of a pair the first paths take any two numbers, and compute in the wider type where there is one; those
/// behind them take floats of 16 bits, and what becomes one, alone.
macro_rules! rows {
    (pairs { $([$($path:literal),+], [$($narrow:literal),*], $body:literal, $doc:literal;)+ } others { $($row:expr,)+ }) => {
        pub(crate) static OPS: &[OpDef] = &[
            $(two!([$($path,)+ $($narrow),*], $body, $doc), beside!([$($path),+], concat!($body, "_widened"), $doc),)+
            $($row,)+
        ];
    };
}

rows! {
    pairs {
        ["operator.add", "numpy.add"], ["tierup.cuda.fp16.hadd"], "half.add", "The sum.";
        ["operator.sub", "numpy.subtract"], ["tierup.cuda.fp16.hsub"], "half.sub", "The difference.";
        ["operator.mul", "numpy.multiply"], ["tierup.cuda.fp16.hmul"], "half.mul", "The product.";
        ["operator.truediv", "numpy.divide"], ["tierup.cuda.fp16.hdiv"], "half.truediv", "The quotient.";
        ["operator.floordiv", "numpy.floor_divide"], [], "half.floordiv", "The quotient, rounded down.";
        ["operator.mod", "numpy.remainder"], [], "half.mod", "What floor division leaves.";
        ["operator.pow", "numpy.power"], [], "half.pow", "The power.";
        ["operator.lt", "numpy.less", "tierup.cuda.fp16.hlt"], [], "half.lt", "Whether the first is less.";
        ["operator.le", "numpy.less_equal", "tierup.cuda.fp16.hle"], [], "half.le", "Whether the first is not greater.";
        ["operator.gt", "numpy.greater", "tierup.cuda.fp16.hgt"], [], "half.gt", "Whether the first is greater.";
        ["operator.ge", "numpy.greater_equal", "tierup.cuda.fp16.hge"], [], "half.ge", "Whether the first is not less.";
        ["operator.eq", "numpy.equal", "tierup.cuda.fp16.heq"], [], "half.eq", "Whether both are equal.";
        ["operator.ne", "numpy.not_equal", "tierup.cuda.fp16.hne"], [], "half.ne", "Whether they differ.";
    }
    others {
        OpDef::new(
            &["numpy._widened"],
            "x",
            Body::Lir(
                |_, a| Ok(Answer::of(if is_half(a[0].ty) { Type::float_of(Float::F32) } else { a[0].ty })),
                |cx, c| cast::cast(cx, &c.args[0], c.types[0], c.ret),
            ),
        )
        .halves()
        .internal()
        .doc("A float of 16 bits as one of 32; any other value as it is."),
        OpDef::new(&["tierup.cuda.fp16.hfma"], "a, b, c", Body::Py("half.fma"))
            .only_if(narrow)
            .halves()
            .doc("`a * b + c`, rounded once."),
        one!(["operator.neg", "numpy.negative", "tierup.cuda.fp16.hneg"], "half.neg", "The number with the other sign."),
        one!(["operator.pos", "numpy.positive"], "half.pos", "The number itself."),
        one!(["builtins.abs", "numpy.absolute", "numpy.fabs", "math.fabs", "tierup.cuda.fp16.habs"], "half.magnitude", "Magnitude."),
        two!(["tierup.cuda.fp16.hmax", "numpy.fmax"], "half.greater", "The greater of two numbers, where NaN is nothing."),
        two!(["tierup.cuda.fp16.hmin", "numpy.fmin"], "half.lesser", "The lesser of two numbers, where NaN is nothing."),
        two!(["builtins.max"], "half.maximum", "Python's greater of two numbers."),
        two!(["builtins.min"], "half.minimum", "Python's lesser of two numbers."),
        one!(["tierup.cuda.fp16.hrcp"], "half.reciprocal", "1 divided by the number."),
        one!(["tierup.cuda.fp16.hrsqrt"], "half.inverse_root", "1 divided by the square root."),
        one!(["tierup.cuda.fp16.hexp10"], "half.exp10", "`10 ** x`."),
        one!(["numpy.sin", "tierup.cuda.fp16.hsin"], "half.sin", "Sine."),
        one!(["numpy.cos", "tierup.cuda.fp16.hcos"], "half.cos", "Cosine."),
        one!(["numpy.tan"], "half.tan", "Tangent."),
        one!(["numpy.arcsin"], "half.arcsin", "Arc sine."),
        one!(["numpy.arccos"], "half.arccos", "Arc cosine."),
        one!(["numpy.arctan"], "half.arctan", "Arc tangent."),
        one!(["numpy.sinh"], "half.sinh", "Hyperbolic sine."),
        one!(["numpy.cosh"], "half.cosh", "Hyperbolic cosine."),
        one!(["numpy.tanh"], "half.tanh", "Hyperbolic tangent."),
        one!(["numpy.arcsinh"], "half.arcsinh", "Inverse hyperbolic sine."),
        one!(["numpy.arccosh"], "half.arccosh", "Inverse hyperbolic cosine."),
        one!(["numpy.arctanh"], "half.arctanh", "Inverse hyperbolic tangent."),
        one!(["numpy.exp", "tierup.cuda.fp16.hexp"], "half.exp", "`e ** x`."),
        one!(["numpy.exp2", "tierup.cuda.fp16.hexp2"], "half.exp2", "`2 ** x`."),
        one!(["numpy.expm1"], "half.expm1", "`e ** x - 1`."),
        one!(["numpy.log", "tierup.cuda.fp16.hlog"], "half.log", "Natural logarithm."),
        one!(["numpy.log2", "tierup.cuda.fp16.hlog2"], "half.log2", "Logarithm to base 2."),
        one!(["numpy.log10", "tierup.cuda.fp16.hlog10"], "half.log10", "Logarithm to base 10."),
        one!(["numpy.log1p"], "half.log1p", "Logarithm of `1 + x`."),
        one!(["numpy.sqrt", "tierup.cuda.fp16.hsqrt"], "half.sqrt", "Square root."),
        one!(["numpy.cbrt"], "half.cbrt", "Cube root."),
        one!(["numpy.ceil", "tierup.cuda.fp16.hceil"], "half.ceil", "The least whole number that is not less."),
        one!(["numpy.floor", "tierup.cuda.fp16.hfloor"], "half.floor", "The greatest whole number that is not greater."),
        one!(["numpy.trunc", "tierup.cuda.fp16.htrunc"], "half.trunc", "The whole number towards zero."),
        one!(["numpy.rint", "tierup.cuda.fp16.hrint"], "half.rint", "The nearest whole number."),
        one!(["numpy.isnan", "math.isnan"], "half.isnan", "Whether it is NaN."),
        one!(["numpy.isinf", "math.isinf"], "half.isinf", "Whether it is infinite."),
        one!(["numpy.isfinite", "math.isfinite"], "half.isfinite", "Whether it is neither infinite nor NaN."),
        one!(["math.ceil"], "half.whole_ceil", "The least integer that is not less; ValueError, OverflowError."),
        one!(["math.floor"], "half.whole_floor", "The greatest integer that is not greater; ValueError, OverflowError."),
        one!(["math.trunc"], "half.whole_trunc", "The integer towards zero; ValueError, OverflowError."),
        one!(["builtins.int"], "half.integer", "Integer part; ValueError, OverflowError."),
        one!(["math.sqrt"], "half.root", "Square root as a float; ValueError."),
    }
}
