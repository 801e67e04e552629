//! Which helpers are defined in this module, and their definitions as LIR functions.

use super::emit::Node;
use super::{Rare, Real, error, exp, gamma, hyperbolic, inverse, log, power, roots, single, trig};
use crate::lir::builder::Builder;
use crate::lir::{Func, Op, Signature, Ty, Value};
use crate::ops::mathfn as m;
use crate::rt::RtFn;
use std::cell::RefCell;

type Write = fn(&[Node<'_, '_>]) -> Value;

/// A helper, and what writes its body; and what has the same bits with less to do where numbers come one by
/// one and each is waited for: what it does not reach is left to the helper.
pub struct Definition {
    pub helper: &'static RtFn,
    write: Write,
    alone: Option<Write>,
    /// Whether a function of float32 is computed in float64 and rounded.
    widened: bool,
}

macro_rules! one {
    ($helper:ident, $($f:ident)::+) => { Definition { helper: &m::$helper, write: |a| $($f)::+(a[0]).value, alone: None, widened: true } };
    ($helper:ident, $($f:ident)::+, $Alone:ty) => { Definition { helper: &m::$helper, write: |a| $($f)::+(a[0]).value, alone: Some(|a| Real::rare::<$Alone>(a[0]).value), widened: true } };
}
macro_rules! two {
    ($helper:ident, $($f:ident)::+) => { Definition { helper: &m::$helper, write: |a| $($f)::+(a[0], a[1]).value, alone: None, widened: true } };
    ($helper:ident, $($f:ident)::+, $reaches:expr, $alone:expr) => { Definition {
        helper: &m::$helper, write: |a| $($f)::+(a[0], a[1]).value,
        alone: Some(|a| a[0].or_from_helper(!$reaches(a[0], a[1]), &m::$helper, &[a[0].value, a[1].value], || $alone(a[0], a[1])).value),
        widened: true,
    } };
}
/// A definition of float32's own.
macro_rules! single {
    ($helper:ident, $($f:ident)::+) => { Definition { helper: &m::$helper, write: |a| $($f)::+(a[0]).value, alone: None, widened: false } };
    ($helper:ident, $($f:ident)::+, $Alone:ty) => { Definition { helper: &m::$helper, write: |a| $($f)::+(a[0]).value, alone: Some(|a| Real::rare::<$Alone>(a[0]).value), widened: false } };
}
macro_rules! rare {
    ($helper:ident, $F:ty) => {
        Definition {
            helper: &m::$helper,
            write: |a| <$F as Rare>::rare(a[0]).value,
            alone: None,
            widened: true,
        }
    };
}

/// float32 has definitions of its own, or those of float64, but for `pow`, which needs far less for it.
static ALL: &[Definition] = &[
    one!(f64_exp, exp::exp, exp::Alone),
    single!(f32_exp, single::exp, single::ExpAlone),
    one!(f64_exp2, exp::exp2),
    single!(f32_exp2, single::exp2),
    one!(f64_expm1, exp::expm1),
    single!(f32_expm1, single::expm1),
    one!(f64_log, log::log, log::Alone),
    single!(f32_log, single::log, single::LogAlone),
    one!(f64_log2, log::log2),
    single!(f32_log2, single::log2),
    one!(f64_log10, log::log10),
    single!(f32_log10, single::log10),
    one!(f64_log1p, log::log1p),
    single!(f32_log1p, single::log1p),
    one!(f64_sin, trig::sin),
    single!(f32_sin, single::sin),
    rare!(f64_sin_large, trig::Sin),
    one!(f64_cos, trig::cos),
    single!(f32_cos, single::cos),
    rare!(f64_cos_large, trig::Cos),
    one!(f64_tan, trig::tan),
    one!(f32_tan, trig::tan),
    rare!(f64_tan_large, trig::Tan),
    one!(f32_sin_large, trig::sin),
    one!(f32_cos_large, trig::cos),
    one!(f64_asin, inverse::asin),
    one!(f32_asin, inverse::asin),
    one!(f64_acos, inverse::acos),
    one!(f32_acos, inverse::acos),
    one!(f64_atan, inverse::atan),
    one!(f32_atan, inverse::atan),
    one!(f64_sinh, hyperbolic::sinh),
    one!(f32_sinh, hyperbolic::sinh),
    one!(f64_cosh, hyperbolic::cosh),
    one!(f32_cosh, hyperbolic::cosh),
    one!(f64_tanh, hyperbolic::tanh),
    single!(f32_tanh, single::tanh),
    one!(f64_asinh, hyperbolic::asinh),
    one!(f32_asinh, hyperbolic::asinh),
    one!(f64_acosh, hyperbolic::acosh),
    one!(f32_acosh, hyperbolic::acosh),
    one!(f64_atanh, hyperbolic::atanh),
    one!(f32_atanh, hyperbolic::atanh),
    one!(f64_erf, error::erf, error::Alone),
    one!(f32_erf, error::erf),
    one!(f64_erfc, error::erfc),
    one!(f32_erfc, error::erfc),
    one!(f64_gamma, gamma::gamma),
    one!(f32_gamma, gamma::gamma),
    one!(f64_lgamma, gamma::lgamma),
    one!(f32_lgamma, gamma::lgamma),
    one!(f64_cbrt, roots::cbrt),
    one!(f32_cbrt, roots::cbrt),
    two!(f64_pow, power::pow, power::is_ordinary, power::pow_ordinary),
    two!(f32_pow, power::pow_single),
    two!(f64_atan2, inverse::atan2),
    two!(f32_atan2, inverse::atan2),
    two!(f64_hypot, roots::hypot),
    two!(f32_hypot, roots::hypot),
];

/// Helpers that nothing but definitions calls.
static HIDDEN: [&RtFn; 5] =
    [&m::f64_sin_large, &m::f64_cos_large, &m::f64_tan_large, &m::f32_sin_large, &m::f32_cos_large];

pub fn hidden() -> &'static [&'static RtFn] {
    &HIDDEN
}

/// The definition of a helper that has one.
pub fn definition(helper: &RtFn) -> Option<&'static Definition> {
    ALL.iter().find(|d| *d.helper == *helper)
}

impl Definition {
    /// Whether it stands on a way that is hardly ever taken, and should not be copied anywhere.
    pub fn is_rare(&self) -> bool {
        HIDDEN.contains(&self.helper)
    }

    pub fn has_form_alone(&self) -> bool {
        self.alone.is_some()
    }

    /// The definition as a function of its operands, with the helper's name behind `math.`.
    pub fn func(&self) -> Func {
        self.written("", self.write)
    }

    /// The form for numbers that come one by one, where there is one.
    pub fn alone(&self) -> Option<Func> {
        self.alone.map(|write| self.written(".alone", write))
    }

    fn written(&self, suffix: &str, write: Write) -> Func {
        let helper = self.helper;
        let result = helper.ret.ty().into_iter().collect();
        let mut func = Func::new(
            format!("math.{}{suffix}", helper.name),
            Signature { params: helper.params.to_vec(), results: result },
        );
        let to = RefCell::new(Builder::start(&mut func));
        let widened = self.widened && helper.params[0] == Ty::F32;
        let params = {
            let b = to.borrow();
            b.params(b.block)
        };
        let args: Vec<Node<'_, '_>> = params
            .into_iter()
            .map(|p| {
                let value = if widened { to.borrow_mut().conv(Op::Fconvert, Ty::F64, p) } else { p };
                Node { value, to: &to }
            })
            .collect();
        let value = write(&args);
        let mut b = to.borrow_mut();
        let value = if widened { b.conv(Op::Fconvert, Ty::F32, value) } else { value };
        b.ret(vec![value]);
        drop(b);
        drop(args);
        drop(to);
        func
    }
}
