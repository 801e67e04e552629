//! Algebraic identities: what an operation may be replaced by, given what its operands are.
//!
//! Only exact identities stand here. Floats obey IEEE: `x + 0.0` is not `x` (it turns -0.0 into 0.0), `x *
//! 1.0` is. Rules are optional, so a default arm here means "no rule": a new row of the table is right
//! without one.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "identities are optional: an operation without one is right"
)]

use super::edit::Defs;
use crate::lir::{Func, InstData, Op, Shape, Ty, Value, eval};

/// An operand of a replacement.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Operand {
    Old(Value),
    Const(Ty, u64),
}
use Operand::{Const, Old};

/// What an operation may be replaced by.
#[derive(Debug)]
pub(crate) enum Better {
    Same(Value),
    Const(u64),
    Op(Op, Ty, Vec<Operand>),
}

/// The function around an operation. Operands must have been simplified before.
pub(crate) struct View<'a> {
    pub func: &'a Func,
    pub defs: &'a Defs,
}

impl View<'_> {
    pub(super) fn constant(&self, v: Value) -> Option<u64> {
        self.defs.constant(self.func, v)
    }
    fn int(&self, v: Value) -> Option<i64> {
        self.constant(v).map(|b| b as i64)
    }
    fn ty(&self, v: Value) -> Ty {
        self.func.value_type(v)
    }
    /// The operation that makes `v`.
    fn op(&self, v: Value) -> Option<(Op, &[Value])> {
        match self.defs.data(self.func, v)? {
            InstData::Op { op, args, .. } => Some((*op, args)),
            _ => None,
        }
    }
    /// The operands, if `v` is made by `op`.
    pub(super) fn made_by(&self, v: Value, op: Op) -> Option<&[Value]> {
        self.op(v).filter(|(o, _)| *o == op).map(|(_, args)| args)
    }
    /// `(x, c)` if `v` is `x op c`.
    fn with_constant(&self, v: Value, op: Op) -> Option<(Value, u64)> {
        let args = self.made_by(v, op)?;
        Some((args[0], self.constant(args[1])?))
    }

    /// Whether `v` is 0 or 1 always.
    pub(crate) fn is_bool(&self, v: Value, depth: u32) -> bool {
        if let Some(c) = self.constant(v) {
            return c <= 1;
        }
        let Some((op, args)) = self.op(v) else { return false };
        match op.shape() {
            Shape::IntCompare | Shape::FloatCompare | Shape::LaneTruth => true,
            // A lane of a comparison is one; others may be.
            Shape::Lane => self
                .op(args[0])
                .is_some_and(|(op, _)| matches!(op.shape(), Shape::IntCompare | Shape::FloatCompare)),
            Shape::Splat | Shape::Lanes => false,
            Shape::IntBinary => {
                matches!(op, Op::Band | Op::Bor | Op::Bxor)
                    && depth > 0
                    && args.iter().all(|a| self.is_bool(*a, depth - 1))
            }
            Shape::AnySelect => depth > 0 && args[1..].iter().all(|a| self.is_bool(*a, depth - 1)),
            Shape::IntUnary
            | Shape::FloatBinary
            | Shape::FloatTernary
            | Shape::FloatUnary
            | Shape::IntToWiderInt
            | Shape::IntToNarrowerInt
            | Shape::IntToFloat
            | Shape::FloatToInt
            | Shape::FloatToFloat
            | Shape::Bitcast
            | Shape::PtrOffset => false,
        }
    }
    /// `x`, if `v` is true exactly where the boolean (or any i8, for a comparison with 0) `x` is zero.
    pub(crate) fn negated(&self, v: Value) -> Option<Value> {
        if let Some((x, 0)) = self.with_constant(v, Op::IcmpEq)
            && self.ty(x) == Ty::I8
        {
            return Some(x);
        }
        if let Some((x, 1)) = self.with_constant(v, Op::Bxor)
            && self.ty(x) == Ty::I8
            && self.is_bool(x, 2)
        {
            return Some(x);
        }
        None
    }
    /// A comparison that holds exactly where the comparison `v` does not.
    fn inverse(&self, v: Value) -> Option<Better> {
        let (op, args) = self.op(v)?;
        let ty = self.ty(args[0]);
        let (op, swap) = match op {
            Op::IcmpEq => (Op::IcmpNe, false),
            Op::IcmpNe => (Op::IcmpEq, false),
            Op::IcmpSlt => (Op::IcmpSge, false),
            Op::IcmpSle => (Op::IcmpSgt, false),
            Op::IcmpSgt => (Op::IcmpSle, false),
            Op::IcmpSge => (Op::IcmpSlt, false),
            Op::IcmpUlt => (Op::IcmpUle, true),
            Op::IcmpUle => (Op::IcmpUlt, true),
            Op::FcmpEq => (Op::FcmpNe, false),
            Op::FcmpNe => (Op::FcmpEq, false),
            // `not (a < b)` holds for NaN, and no comparison but FcmpNe and FcmpUno does.
            _ => return None,
        };
        let (a, b) = if swap { (args[1], args[0]) } else { (args[0], args[1]) };
        Some(Better::Op(op, ty, vec![Old(a), Old(b)]))
    }
}

/// Whether the operands may change places.
pub(crate) fn is_commutative(op: Op) -> bool {
    matches!(
        op,
        Op::Iadd
            | Op::Imul
            | Op::Band
            | Op::Bor
            | Op::Bxor
            | Op::Smin
            | Op::Smax
            | Op::Umin
            | Op::Umax
            | Op::IcmpEq
            | Op::IcmpNe
            | Op::SaddOverflows
            | Op::SmulOverflows
            | Op::Fadd
            | Op::Fmul
            | Op::FcmpEq
            | Op::FcmpNe
            | Op::FcmpUno
    )
}

/// The comparison with its operands exchanged.
fn mirrored(op: Op) -> Option<Op> {
    Some(match op {
        Op::IcmpSlt => Op::IcmpSgt,
        Op::IcmpSle => Op::IcmpSge,
        Op::IcmpSgt => Op::IcmpSlt,
        Op::IcmpSge => Op::IcmpSle,
        Op::FcmpLt => Op::FcmpGt,
        Op::FcmpLe => Op::FcmpGe,
        Op::FcmpGt => Op::FcmpLt,
        Op::FcmpGe => Op::FcmpLe,
        _ => return None,
    })
}

/// A replacement that is simpler, or nothing. Operations on constants alone are not looked at: `fold`
/// evaluates them before.
pub(crate) fn simplify(view: &View<'_>, op: Op, ty: Ty, args: &[Value]) -> Option<Better> {
    match op.shape() {
        Shape::Splat | Shape::Lanes | Shape::Lane | Shape::LaneTruth => None,
        Shape::IntBinary | Shape::IntCompare | Shape::FloatBinary | Shape::FloatCompare => {
            // Constants go to the right, where the rules look for them.
            if view.constant(args[0]).is_some() && view.constant(args[1]).is_none() {
                let swapped = vec![Old(args[1]), Old(args[0])];
                if is_commutative(op) {
                    return Some(Better::Op(op, ty, swapped));
                }
                if let Some(op) = mirrored(op) {
                    return Some(Better::Op(op, ty, swapped));
                }
            }
            match op.shape() {
                Shape::IntBinary => int_binary(view, op, ty, args[0], args[1]),
                Shape::IntCompare => int_compare(view, op, ty, args[0], args[1]),
                Shape::FloatBinary => float_binary(view, op, ty, args[0], args[1]),
                _ => None,
            }
        }
        Shape::IntUnary | Shape::FloatUnary => unary(view, op, ty, args[0]),
        Shape::IntToWiderInt | Shape::IntToNarrowerInt | Shape::FloatToFloat | Shape::Bitcast => {
            conversion(view, op, ty, args[0])
        }
        Shape::IntToFloat | Shape::FloatToInt | Shape::FloatTernary => None,
        Shape::PtrOffset => {
            let c = view.int(args[1])?;
            if c == 0 {
                return Some(Better::Same(args[0]));
            }
            let (p, d) = view.with_constant(args[0], Op::PtrAdd)?;
            Some(Better::Op(Op::PtrAdd, ty, vec![Old(p), Const(Ty::I64, (c as u64).wrapping_add(d))]))
        }
        Shape::AnySelect => select(view, ty, args),
    }
}

fn bits(ty: Ty) -> u32 {
    ty.bytes() * 8
}

/// `log2(c)` for a power of two, seen as unsigned in its width.
fn power_of_two(ty: Ty, c: i64) -> Option<u32> {
    let c = c as u64 & (u64::MAX >> (64 - bits(ty)));
    c.is_power_of_two().then(|| c.trailing_zeros())
}

fn int_binary(view: &View<'_>, op: Op, ty: Ty, a: Value, b: Value) -> Option<Better> {
    let c = view.int(b);
    let same = a == b;
    // `(x op d) op c` is `x op (d op c)` for the operations that ask.
    let combine = |d: u64| Const(ty, eval(op, ty, ty, &[d, c.unwrap_or(0) as u64]));
    let zero = Some(Better::Const(0));
    let left = Some(Better::Same(a));
    match op {
        Op::Iadd => {
            if c == Some(0) {
                return left;
            }
            if c.is_some()
                && let Some((x, d)) = view.with_constant(a, Op::Iadd)
            {
                return Some(Better::Op(Op::Iadd, ty, vec![Old(x), combine(d)]));
            }
            for (x, y) in [(a, b), (b, a)] {
                if let Some(args) = view.made_by(x, Op::Isub)
                    && args[1] == y
                {
                    return Some(Better::Same(args[0]));
                }
                if let Some(args) = view.made_by(x, Op::Ineg) {
                    return Some(Better::Op(Op::Isub, ty, vec![Old(y), Old(args[0])]));
                }
            }
            None
        }
        Op::Isub => {
            if same {
                return zero;
            }
            if let Some(c) = c {
                return Some(Better::Op(
                    Op::Iadd,
                    ty,
                    vec![Old(a), Const(ty, ty.canonical(c.wrapping_neg() as u64))],
                ));
            }
            if view.int(a) == Some(0) {
                return Some(Better::Op(Op::Ineg, ty, vec![Old(b)]));
            }
            if let Some(args) = view.made_by(a, Op::Iadd) {
                if args[0] == b {
                    return Some(Better::Same(args[1]));
                }
                if args[1] == b {
                    return Some(Better::Same(args[0]));
                }
            }
            if let Some(args) = view.made_by(b, Op::Ineg) {
                return Some(Better::Op(Op::Iadd, ty, vec![Old(a), Old(args[0])]));
            }
            None
        }
        Op::Imul => match c {
            Some(0) => zero,
            Some(1) => left,
            Some(-1) => Some(Better::Op(Op::Ineg, ty, vec![Old(a)])),
            Some(_) => view
                .with_constant(a, Op::Imul)
                .map(|(x, d)| Better::Op(Op::Imul, ty, vec![Old(x), combine(d)])),
            None => None,
        },
        Op::Sdiv => match c {
            Some(0) => zero,
            Some(1) => left,
            Some(-1) => Some(Better::Op(Op::Ineg, ty, vec![Old(a)])),
            Some(_) | None => None,
        },
        Op::Srem => {
            if matches!(c, Some(0 | 1 | -1)) || same {
                zero
            } else {
                None
            }
        }
        Op::Udiv => match c {
            Some(0) => zero,
            Some(c) => {
                power_of_two(ty, c).map(|k| Better::Op(Op::Ushr, ty, vec![Old(a), Const(ty, k as u64)]))
            }
            None => None,
        },
        Op::Urem => match c {
            Some(0) => zero,
            Some(c) => power_of_two(ty, c).map(|_| {
                Better::Op(Op::Band, ty, vec![Old(a), Const(ty, ty.canonical((c as u64).wrapping_sub(1)))])
            }),
            None => {
                if same {
                    zero
                } else {
                    None
                }
            }
        },
        Op::Band => {
            if same || c == Some(-1) {
                return left;
            }
            if c == Some(0) {
                return zero;
            }
            if c == Some(1) && view.is_bool(a, 2) {
                return left;
            }
            if c.is_some()
                && let Some((x, d)) = view.with_constant(a, Op::Band)
            {
                return Some(Better::Op(Op::Band, ty, vec![Old(x), combine(d)]));
            }
            None
        }
        Op::Bor => {
            if same || c == Some(0) {
                return left;
            }
            if c == Some(-1) {
                return Some(Better::Const(u64::MAX));
            }
            if c.is_some()
                && let Some((x, d)) = view.with_constant(a, Op::Bor)
            {
                return Some(Better::Op(Op::Bor, ty, vec![Old(x), combine(d)]));
            }
            None
        }
        Op::Bxor => {
            if same {
                return zero;
            }
            if c == Some(0) {
                return left;
            }
            if c == Some(-1) {
                return Some(Better::Op(Op::Bnot, ty, vec![Old(a)]));
            }
            if c == Some(1) && ty == Ty::I8 && view.is_bool(a, 2) {
                if let Some(x) = view.negated(a)
                    && view.is_bool(x, 2)
                {
                    return Some(Better::Same(x));
                }
                return view.inverse(a);
            }
            if c.is_some()
                && let Some((x, d)) = view.with_constant(a, Op::Bxor)
            {
                return Some(Better::Op(Op::Bxor, ty, vec![Old(x), combine(d)]));
            }
            None
        }
        Op::Ishl | Op::Sshr | Op::Ushr => {
            let k = c? & (bits(ty) as i64 - 1);
            if k == 0 {
                return left;
            }
            // A shift of a shift the same way, as long as the sum stays below the width.
            let (x, d) = view.with_constant(a, op)?;
            let sum = k + (d as i64 & (bits(ty) as i64 - 1));
            (sum < bits(ty) as i64).then(|| Better::Op(op, ty, vec![Old(x), Const(ty, sum as u64)]))
        }
        Op::Smin | Op::Smax | Op::Umin | Op::Umax => {
            if same {
                left
            } else {
                None
            }
        }
        _ => None,
    }
}

fn int_compare(view: &View<'_>, op: Op, ty: Ty, a: Value, b: Value) -> Option<Better> {
    if a == b {
        match op {
            Op::IcmpEq | Op::IcmpSle | Op::IcmpSge | Op::IcmpUle => return Some(Better::Const(1)),
            Op::IcmpNe | Op::IcmpSlt | Op::IcmpSgt | Op::IcmpUlt | Op::SsubOverflows => {
                return Some(Better::Const(0));
            }
            _ => {}
        }
    }
    let c = view.int(b)?;
    let equality = matches!(op, Op::IcmpEq | Op::IcmpNe);
    match (op, c) {
        (Op::IcmpUlt, 0) => return Some(Better::Const(0)),
        (Op::SaddOverflows | Op::SsubOverflows, 0) | (Op::SmulOverflows, 0 | 1) => {
            return Some(Better::Const(0));
        }
        (Op::IcmpUlt, 1) => return Some(Better::Op(Op::IcmpEq, ty, vec![Old(a), Const(ty, 0)])),
        _ => {}
    }
    if equality && ty == Ty::I8 && view.is_bool(a, 2) {
        let keeps = (op == Op::IcmpNe && c == 0) || (op == Op::IcmpEq && c == 1);
        if keeps {
            return Some(Better::Same(a));
        }
        if c > 1 || c < 0 {
            return Some(Better::Const((op == Op::IcmpNe) as u64));
        }
        if let Some(x) = view.negated(a)
            && view.is_bool(x, 2)
        {
            return Some(Better::Same(x));
        }
        if let Some(better) = view.inverse(a) {
            return Some(better);
        }
        if (op, c) == (Op::IcmpNe, 1) {
            return Some(Better::Op(Op::IcmpEq, ty, vec![Old(a), Const(ty, 0)]));
        }
        return None;
    }
    if equality && let Some((x, d)) = view.with_constant(a, Op::Iadd) {
        // Wrapping addition is a bijection.
        return Some(Better::Op(op, ty, vec![Old(x), Const(ty, eval(Op::Isub, ty, ty, &[c as u64, d]))]));
    }
    // A widened value against a constant that fits: compare in the narrow type.
    for (ext, signed_ok) in [(Op::Zext, false), (Op::Sext, true)] {
        let Some(args) = view.made_by(a, ext) else { continue };
        let narrow = view.ty(args[0]);
        let signed = matches!(op, Op::IcmpSlt | Op::IcmpSle | Op::IcmpSgt | Op::IcmpSge);
        let fits = if signed_ok {
            narrow.canonical(c as u64) as i64 == c
        } else {
            c >= 0 && c < 1i64 << (bits(narrow) - 1)
        };
        if fits && (equality || (signed && signed_ok)) {
            return Some(Better::Op(op, narrow, vec![Old(args[0]), Const(narrow, c as u64)]));
        }
    }
    None
}

fn float_binary(view: &View<'_>, op: Op, ty: Ty, a: Value, b: Value) -> Option<Better> {
    let value = |v: Value| {
        view.constant(v)
            .map(|c| if ty == Ty::F32 { f32::from_bits(c as u32) as f64 } else { f64::from_bits(c) })
    };
    let c = value(b)?;
    let left = Some(Better::Same(a));
    match op {
        Op::Fmul if c == 1.0 => left,
        Op::Fmul if c == -1.0 => Some(Better::Op(Op::Fneg, ty, vec![Old(a)])),
        Op::Fdiv if c == 1.0 => left,
        Op::Fdiv if c == -1.0 => Some(Better::Op(Op::Fneg, ty, vec![Old(a)])),
        Op::Fdiv => {
            // Exact where divisor and reciprocal are normal powers of two.
            let (mantissa, normal) = match ty {
                Ty::F32 => (
                    (c as f32).to_bits() as u64 & 0x7f_ffff,
                    (c as f32).is_normal() && (1.0 / c as f32).is_normal(),
                ),
                Ty::F64 | Ty::I8 | Ty::I16 | Ty::I32 | Ty::I64 | Ty::Ptr | Ty::Vector(_) => {
                    (c.to_bits() & 0xf_ffff_ffff_ffff, c.is_normal() && (1.0 / c).is_normal())
                }
            };
            let reciprocal =
                if ty == Ty::F32 { (1.0 / c as f32).to_bits() as u64 } else { (1.0 / c).to_bits() };
            (mantissa == 0 && normal).then(|| Better::Op(Op::Fmul, ty, vec![Old(a), Const(ty, reciprocal)]))
        }
        Op::Fsub if c == 0.0 && c.is_sign_positive() => left,
        Op::Fadd if c == 0.0 && c.is_sign_negative() => left,
        Op::Fcopysign if !c.is_nan() => {
            // `fabs`, or its negation.
            if c.is_sign_positive() {
                return Some(Better::Op(Op::Fabs, ty, vec![Old(a)]));
            }
            None
        }
        _ => None,
    }
}

fn unary(view: &View<'_>, op: Op, ty: Ty, a: Value) -> Option<Better> {
    match op {
        Op::Ineg | Op::Bnot | Op::Fneg => {
            if let Some(args) = view.made_by(a, op) {
                return Some(Better::Same(args[0]));
            }
            if op == Op::Ineg
                && let Some(args) = view.made_by(a, Op::Isub)
            {
                return Some(Better::Op(Op::Isub, ty, vec![Old(args[1]), Old(args[0])]));
            }
            None
        }
        Op::Fabs => {
            if view.made_by(a, Op::Fabs).is_some() {
                return Some(Better::Same(a));
            }
            let args = view.made_by(a, Op::Fneg)?;
            Some(Better::Op(Op::Fabs, ty, vec![Old(args[0])]))
        }
        Op::Ffloor | Op::Fceil | Op::Ftrunc | Op::Fnearest => {
            // Rounding what is rounded already.
            let (inner, _) = view.op(a)?;
            matches!(inner, Op::Ffloor | Op::Fceil | Op::Ftrunc | Op::Fnearest | Op::SintToF | Op::UintToF)
                .then_some(Better::Same(a))
        }
        _ => None,
    }
}

fn conversion(view: &View<'_>, op: Op, ty: Ty, a: Value) -> Option<Better> {
    let (inner, args) = view.op(a)?;
    let x = args[0];
    let from = view.ty(x);
    match (op, inner) {
        (Op::Sext, Op::Sext) | (Op::Zext, Op::Zext) => Some(Better::Op(op, ty, vec![Old(x)])),
        // The sign bit of a zero-extended value is clear.
        (Op::Sext, Op::Zext) => Some(Better::Op(Op::Zext, ty, vec![Old(x)])),
        (Op::Sext, _) if view.ty(a) == Ty::I8 && view.is_bool(a, 2) => {
            Some(Better::Op(Op::Zext, ty, vec![Old(a)]))
        }
        (Op::Itrunc, Op::Itrunc) => Some(Better::Op(Op::Itrunc, ty, vec![Old(x)])),
        (Op::Itrunc, Op::Sext | Op::Zext) => Some(match bits(from).cmp(&bits(ty)) {
            std::cmp::Ordering::Equal => Better::Same(x),
            std::cmp::Ordering::Less => Better::Op(inner, ty, vec![Old(x)]),
            std::cmp::Ordering::Greater => Better::Op(Op::Itrunc, ty, vec![Old(x)]),
        }),
        (Op::Bitcast, Op::Bitcast) => {
            Some(if from == ty { Better::Same(x) } else { Better::Op(Op::Bitcast, ty, vec![Old(x)]) })
        }
        // Every f32 is an f64.
        (Op::Fconvert, Op::Fconvert) if ty == Ty::F32 && from == Ty::F32 => Some(Better::Same(x)),
        _ => None,
    }
}

fn select(view: &View<'_>, ty: Ty, args: &[Value]) -> Option<Better> {
    let [cond, yes, no] = *args else { return None };
    if let Some(c) = view.constant(cond) {
        return Some(Better::Same(if c as i8 != 0 { yes } else { no }));
    }
    if yes == no {
        return Some(Better::Same(yes));
    }
    if let Some(x) = view.negated(cond) {
        return Some(Better::Op(Op::Select, ty, vec![Old(x), Old(no), Old(yes)]));
    }
    if let Some((x, 0)) = view.with_constant(cond, Op::IcmpNe)
        && view.ty(x) == Ty::I8
    {
        return Some(Better::Op(Op::Select, ty, vec![Old(x), Old(yes), Old(no)]));
    }
    if ty == Ty::I8 && view.is_bool(cond, 2) {
        match (view.constant(yes), view.constant(no)) {
            (Some(1), Some(0)) => return Some(Better::Same(cond)),
            (Some(0), Some(1)) => return Some(Better::Op(Op::Bxor, ty, vec![Old(cond), Const(Ty::I8, 1)])),
            // `a and b`, `a or b`.
            (None, Some(0)) if view.is_bool(yes, 2) => {
                return Some(Better::Op(Op::Band, ty, vec![Old(cond), Old(yes)]));
            }
            (Some(1), None) if view.is_bool(no, 2) => {
                return Some(Better::Op(Op::Bor, ty, vec![Old(cond), Old(no)]));
            }
            _ => {}
        }
    }
    None
}
