//! The axes that a reduction puts together: what the call says of them, what they raise, and the shape of what
//! is left.

use crate::diag::{Code, Diagnostic, Result};
use crate::emit::arrays::{contiguous_strides, product};
use crate::emit::cast;
use crate::emit::cx::LowerCx;
use crate::exc::Class;
use crate::lir::{Op, Value};
use crate::ops::shape::{bad_axis, normal_axis};
use crate::types::{Const, Kind, Layout, Type};
use crate::typing::{Arg, no_match};

/// The axes that a reduction puts together.
#[derive(Clone, Debug)]
pub(super) enum Axes {
    All,
    Known(Vec<i64>),
    /// One that is known when the program runs.
    Run,
    /// So many that are.
    RunMany(usize),
}

pub(super) fn axes_of(arg: &Arg, what: &str) -> Result<Axes> {
    Ok(match (arg.ty.kind(), &arg.konst) {
        (Kind::None, _) => Axes::All,
        (_, Some(Const::Tuple(m))) => Axes::Known(
            m.iter()
                .map(Const::as_int)
                .collect::<Option<_>>()
                .ok_or_else(|| no_match(what, std::slice::from_ref(arg)))?,
        ),
        (_, Some(c)) if c.as_int().is_some() => Axes::Known(c.as_int().into_iter().collect()),
        _ if arg.ty.is_index() => Axes::Run,
        (Kind::Tuple(m), _) if m.iter().all(|t| t.is_index()) => match m.len() {
            0 => Axes::Known(vec![]),
            1 => Axes::Run,
            n => Axes::RunMany(n),
        },
        (Kind::Optional(_), _) => {
            return Err(Diagnostic::new(
                Code::RequiresConstant,
                "which axes are reduced must be known when the function is compiled",
            )
            .help("write the axes in the call"));
        }
        _ => return Err(no_match("axis", std::slice::from_ref(arg))),
    })
}

impl Axes {
    /// How many of `n` dimensions go.
    pub(super) fn count(&self, n: usize) -> usize {
        match self {
            Axes::All => n,
            Axes::Known(m) => m.len().min(n),
            Axes::Run => n.min(1),
            Axes::RunMany(m) => n.min(*m),
        }
    }
}

/// What constant axes of `n` dimensions raise, if they do. A single axis of an array without dimensions
/// passes, as in NumPy, where `lenient`.
pub(super) fn axes_error(axes: &Axes, ty: Type, n: usize, lenient: bool) -> Option<(Class, String)> {
    let Axes::Known(m) = axes else { return None };
    let mut seen = vec![];
    for x in m {
        match normal_axis(*x, n) {
            Some(k) => seen.push(k),
            None if n == 0 && (*x == 0 || *x == -1) && ty.members().is_none() && lenient => {}
            None => return Some(bad_axis("", *x, n)),
        }
    }
    let twice = seen.iter().enumerate().any(|(i, k)| seen[..i].contains(k));
    twice.then(|| (Class::ValueError, TWICE.into()))
}

const TWICE: &str = "duplicate value in 'axis'";

/// Raises what constant axes raise; the rule has said that nothing comes of it.
pub(super) fn raise_axes(cx: &mut LowerCx<'_>, axes: &Axes, ty: Type, n: usize, lenient: bool) -> bool {
    let Some((class, text)) = axes_error(axes, ty, n, lenient) else { return false };
    cx.raise_and_continue(class, &text);
    true
}

/// Which axes go, for code: a flag for each dimension of the source, and a mask of all.
pub(super) struct Chosen {
    reduced: Vec<Value>,
    /// How many go.
    count: usize,
    pub(super) known: Option<Vec<bool>>,
    pub(super) axis: Option<Value>,
    pub(super) mask: Value,
}

/// The axes that go; those known at run time are checked here, constants by [`axes_error`].
pub(super) fn choose(cx: &mut LowerCx<'_>, axes: &Axes, arg: &[Value], ty: Type, n: usize) -> Chosen {
    let known = |cx: &mut LowerCx<'_>, flags: Vec<bool>| {
        let mask = flags.iter().enumerate().fold(0i64, |m, (k, f)| m | (*f as i64) << k);
        Chosen {
            reduced: flags.iter().map(|f| cx.b.bool(*f)).collect(),
            mask: cx.b.i64(mask),
            count: axes.count(n),
            axis: None,
            known: Some(flags),
        }
    };
    match axes {
        Axes::All => known(cx, vec![true; n]),
        Axes::Known(m) => {
            let mut flags = vec![false; n];
            for k in m.iter().filter_map(|x| normal_axis(*x, n)) {
                flags[k] = true;
            }
            known(cx, flags)
        }
        Axes::Run => {
            let elem = ty.members().map_or(ty, |m| m[0]);
            let axis = checked_axis(cx, arg[0], elem, n);
            let one = cx.b.i64(1);
            let mask = cx.b.bin(Op::Ishl, one, axis);
            let reduced = (0..n).map(|k| cx.b.bin_imm(Op::IcmpEq, axis, k as i64)).collect();
            Chosen { reduced, count: axes.count(n), known: None, axis: Some(axis), mask }
        }
        Axes::RunMany(_) => {
            let members = ty.members().unwrap_or_default();
            let (one, mut mask) = (cx.b.i64(1), cx.b.i64(0));
            let all: Vec<Value> =
                arg.iter().zip(members).map(|(at, t)| checked_axis(cx, *at, *t, n)).collect();
            for axis in all {
                let bit = cx.b.bin(Op::Ishl, one, axis);
                let both = cx.b.bin(Op::Band, mask, bit);
                let new = cx.b.bin_imm(Op::IcmpEq, both, 0);
                cx.check(new, Class::ValueError, TWICE);
                mask = cx.b.bin(Op::Bor, mask, bit);
            }
            let flags = (0..n).map(|k| {
                let bit = cx.b.bin_imm(Op::Band, mask, 1 << k);
                cx.b.bin_imm(Op::IcmpNe, bit, 0)
            });
            Chosen { reduced: flags.collect(), count: axes.count(n), known: None, axis: None, mask }
        }
    }
}

/// An axis counted from 0; ValueError out of bounds.
pub(crate) fn checked_axis(cx: &mut LowerCx<'_>, v: Value, ty: Type, n: usize) -> Value {
    let given = cast::to_i64(cx, v, ty);
    let count = cx.b.i64(n as i64);
    let at = cx.wrap_index(given, count);
    let ok = cx.b.bin(Op::IcmpUlt, at, count);
    cx.check_format(
        ok,
        Class::AxisError,
        &format!("axis {{}} is out of bounds for array of dimension {n}"),
        &[given],
    );
    at
}

impl Chosen {
    /// Shape of the result, and for each dimension of the source the stride of the result along it.
    pub(super) fn target(
        &self,
        cx: &mut LowerCx<'_>,
        shape: &[Value],
        itemsize: i64,
        keepdims: bool,
    ) -> (Vec<Value>, Vec<Value>) {
        let (zero, one) = (cx.b.i64(0), cx.b.i64(1));
        let kept: Vec<Value> =
            shape.iter().zip(&self.reduced).map(|(n, r)| cx.b.select(*r, one, *n)).collect();
        let full = contiguous_strides(cx, &kept, itemsize, Layout::C);
        // Reduced dimensions have length 1, so that dropping them changes no stride.
        let strides = full.iter().zip(&self.reduced).map(|(s, r)| cx.b.select(*r, zero, *s)).collect();
        if keepdims {
            return (kept, strides);
        }
        let out = match (&self.known, self.axis) {
            (Some(flags), _) => shape.iter().zip(flags).filter(|(_, f)| !**f).map(|(n, _)| *n).collect(),
            (None, Some(axis)) => (0..shape.len().saturating_sub(1))
                .map(|k| {
                    let before = cx.b.i64(k as i64);
                    let before = cx.b.bin(Op::IcmpSlt, before, axis);
                    cx.b.select(before, shape[k], shape[k + 1])
                })
                .collect(),
            (None, None) => self.left(cx, shape),
        };
        (out, strides)
    }

    /// The lengths of the axes that stay, where which ones these are is known at run time.
    fn left(&self, cx: &mut LowerCx<'_>, shape: &[Value]) -> Vec<Value> {
        let (zero, one) = (cx.b.i64(0), cx.b.i64(1));
        let mut before = zero;
        let mut out = vec![zero; shape.len() - self.count];
        for (n, reduced) in shape.iter().zip(&self.reduced) {
            for (k, length) in out.iter_mut().enumerate() {
                let here = cx.b.bin_imm(Op::IcmpEq, before, k as i64);
                let kept = cx.b.select(*reduced, *length, *n);
                *length = cx.b.select(here, kept, *length);
            }
            let counted = cx.b.select(*reduced, zero, one);
            before = cx.b.bin(Op::Iadd, before, counted);
        }
        out
    }

    /// Product of the lengths of the axes that go.
    pub(super) fn size(&self, cx: &mut LowerCx<'_>, shape: &[Value]) -> Value {
        let one = cx.b.i64(1);
        let lengths: Vec<Value> =
            shape.iter().zip(&self.reduced).map(|(n, r)| cx.b.select(*r, *n, one)).collect();
        product(cx, &lengths)
    }
}

pub(super) fn result_type(dtype: Type, n: usize, axes: &Axes, keepdims: bool) -> Type {
    let left = if keepdims { n } else { n - axes.count(n) };
    if left == 0 { dtype.strong() } else { Type::array(dtype, left, Layout::C) }
}
