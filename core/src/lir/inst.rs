//! The instruction table of LIR.
//!
//! One row per pure instruction: mnemonic, operand class and meaning as a Rust expression. The enum, printer,
//! parser, verifier, interpreter, constant folder and fuzz generator all expand from [`for_each_lir_op`].
//! Every meaning is total: division, shifts and conversions have an answer for every input, and a back end
//! must give the same one.
//!
//! Inside a meaning the operands have the signed type `S` of the operand class; `U` is its unsigned twin,
//! `BITS` its width.

use super::ty::{Bits, Ty, Vector};

/// Groups rows by shape. `int` operands range over i8 … i64 (and `ptr` for comparisons), `float` over f32 and
/// f64.
#[macro_export]
macro_rules! for_each_lir_op {
    ($mac:ident) => {
        $mac! {
            int_binary {
                /// Wrapping addition.
                Iadd = "iadd" |a, b| a.wrapping_add(b);
                /// Wrapping subtraction.
                Isub = "isub" |a, b| a.wrapping_sub(b);
                /// Wrapping multiplication.
                Imul = "imul" |a, b| a.wrapping_mul(b);
                /// Truncating signed division; `x / 0` is 0 and `MIN / -1` is `MIN`.
                Sdiv = "sdiv" |a, b| if b == 0 { 0 } else { a.wrapping_div(b) };
                /// Unsigned division; `x / 0` is 0.
                Udiv = "udiv" |a, b| if b == 0 { 0 } else { ((a as U) / (b as U)) as S };
                /// Remainder of truncating signed division; `x % 0` is 0.
                Srem = "srem" |a, b| if b == 0 { 0 } else { a.wrapping_rem(b) };
                /// Unsigned remainder; `x % 0` is 0.
                Urem = "urem" |a, b| if b == 0 { 0 } else { ((a as U) % (b as U)) as S };
                /// Bitwise and.
                Band = "band" |a, b| a & b;
                /// Bitwise or.
                Bor = "bor" |a, b| a | b;
                /// Bitwise exclusive or.
                Bxor = "bxor" |a, b| a ^ b;
                /// Shift left; the amount is taken modulo the width.
                Ishl = "ishl" |a, b| a.wrapping_shl(b as u32 & (BITS - 1));
                /// Arithmetic shift right; the amount is taken modulo the width.
                Sshr = "sshr" |a, b| a.wrapping_shr(b as u32 & (BITS - 1));
                /// Logical shift right; the amount is taken modulo the width.
                Ushr = "ushr" |a, b| (a as U).wrapping_shr(b as u32 & (BITS - 1)) as S;
                /// Signed minimum.
                Smin = "smin" |a, b| a.min(b);
                /// Signed maximum.
                Smax = "smax" |a, b| a.max(b);
                /// Unsigned minimum.
                Umin = "umin" |a, b| (a as U).min(b as U) as S;
                /// Unsigned maximum.
                Umax = "umax" |a, b| (a as U).max(b as U) as S;
            }
            int_unary {
                /// Wrapping negation.
                Ineg = "ineg" |a| a.wrapping_neg();
                /// Bitwise not.
                Bnot = "bnot" |a| !a;
                /// Number of one bits.
                Popcnt = "popcnt" |a| a.count_ones() as S;
                /// Leading zero bits; the width for 0.
                Clz = "clz" |a| a.leading_zeros() as S;
                /// Trailing zero bits; the width for 0.
                Ctz = "ctz" |a| a.trailing_zeros() as S;
            }
            int_compare {
                /// Equal.
                IcmpEq = "icmp_eq" |a, b| a == b;
                /// Not equal.
                IcmpNe = "icmp_ne" |a, b| a != b;
                /// Signed less than.
                IcmpSlt = "icmp_slt" |a, b| a < b;
                /// Signed less than or equal.
                IcmpSle = "icmp_sle" |a, b| a <= b;
                /// Signed greater than.
                IcmpSgt = "icmp_sgt" |a, b| a > b;
                /// Signed greater than or equal.
                IcmpSge = "icmp_sge" |a, b| a >= b;
                /// Unsigned less than.
                IcmpUlt = "icmp_ult" |a, b| (a as U) < (b as U);
                /// Unsigned less than or equal.
                IcmpUle = "icmp_ule" |a, b| (a as U) <= (b as U);
                /// Signed addition overflows.
                SaddOverflows = "sadd_overflows" |a, b| a.checked_add(b).is_none();
                /// Signed subtraction overflows.
                SsubOverflows = "ssub_overflows" |a, b| a.checked_sub(b).is_none();
                /// Signed multiplication overflows.
                SmulOverflows = "smul_overflows" |a, b| a.checked_mul(b).is_none();
            }
            float_binary {
                /// IEEE addition.
                Fadd = "fadd" |a, b| a + b;
                /// IEEE subtraction.
                Fsub = "fsub" |a, b| a - b;
                /// IEEE multiplication.
                Fmul = "fmul" |a, b| a * b;
                /// IEEE division.
                Fdiv = "fdiv" |a, b| a / b;
                /// Magnitude of the first, sign of the second.
                Fcopysign = "fcopysign" |a, b| a.copysign(b);
            }
            float_ternary {
                /// First times second plus third, rounded once.
                Fma = "fma" |a, b, c| a.mul_add(b, c);
            }
            float_unary {
                /// Sign flip, NaN included.
                Fneg = "fneg" |a| -a;
                /// Sign cleared.
                Fabs = "fabs" |a| a.abs();
                /// IEEE square root.
                Fsqrt = "fsqrt" |a| a.sqrt();
                /// Round towards minus infinity.
                Ffloor = "ffloor" |a| a.floor();
                /// Round towards plus infinity.
                Fceil = "fceil" |a| a.ceil();
                /// Round towards zero.
                Ftrunc = "ftrunc" |a| a.trunc();
                /// Round to nearest, ties to even.
                Fnearest = "fnearest" |a| a.round_ties_even();
            }
            float_compare {
                /// Ordered and equal.
                FcmpEq = "fcmp_eq" |a, b| a == b;
                /// Unordered or not equal.
                FcmpNe = "fcmp_ne" |a, b| a != b;
                /// Ordered and less.
                FcmpLt = "fcmp_lt" |a, b| a < b;
                /// Ordered and less or equal.
                FcmpLe = "fcmp_le" |a, b| a <= b;
                /// Ordered and greater.
                FcmpGt = "fcmp_gt" |a, b| a > b;
                /// Ordered and greater or equal.
                FcmpGe = "fcmp_ge" |a, b| a >= b;
                /// At least one is NaN.
                FcmpUno = "fcmp_uno" |a, b| a.is_nan() || b.is_nan();
            }
            int_to_wider_int {
                /// Sign extension.
                Sext = "sext" |a| a as D;
                /// Zero extension.
                Zext = "zext" |a| a as U as D;
            }
            int_to_narrower_int {
                /// Keeps the low bits.
                Itrunc = "itrunc" |a| a as D;
            }
            int_to_float {
                /// Signed integer to float, rounding to nearest even.
                SintToF = "sint_to_f" |a| a as D;
                /// Unsigned integer to float, rounding to nearest even.
                UintToF = "uint_to_f" |a| a as U as D;
            }
            float_to_int {
                /// Truncation to a signed integer, saturating; NaN gives 0.
                FToSint = "f_to_sint" |a| a as D;
                /// Truncation to an unsigned integer, saturating; NaN gives 0.
                FToUint = "f_to_uint" |a| a as DU as D;
                /// Truncation to a signed integer; what the type does not hold, NaN too, gives its most
                /// negative number.
                FToSintOrMin = "f_to_sint_or_min" |a| if (a as i128) == i128::from(a as D) && !a.is_nan() { a as D } else { D::MIN };
            }
            float_to_float {
                /// f32 to f64 or f64 to f32, rounding to nearest even.
                Fconvert = "fconvert" |a| a as D;
            }
            bitcast {
                /// Same bits, other class: i64 ↔ f64 ↔ ptr, i32 ↔ f32.
                Bitcast = "bitcast";
            }
            ptr_offset {
                /// Byte offset from a pointer; wraps.
                PtrAdd = "ptr_add";
            }
            any_select {
                /// Second operand where the first (i8) is non-zero, else the third; both are evaluated.
                Select = "select";
            }
            splat {
                /// A vector with the operand in every lane.
                Splat = "splat";
            }
            lanes {
                /// A vector of its lanes, the first one first.
                Lanes = "lanes";
            }
            lane {
                /// One lane of a vector; its number is taken modulo the number of lanes.
                Lane = "lane";
            }
            lane_truth {
                /// Whether a lane is not 0.
                AnyLane = "any_lane";
                /// Whether no lane is 0.
                EveryLane = "every_lane";
            }
        }
    };
}

/// How operands and result of a row are typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// `(T, T) -> T`, T an integer.
    IntBinary,
    /// `T -> T`, T an integer.
    IntUnary,
    /// `(T, T) -> i8`, T an integer or `ptr`.
    IntCompare,
    /// `(T, T) -> T`, T a float.
    FloatBinary,
    /// `(T, T, T) -> T`, T a float.
    FloatTernary,
    /// `T -> T`, T a float.
    FloatUnary,
    /// `(T, T) -> i8`, T a float.
    FloatCompare,
    IntToWiderInt,
    IntToNarrowerInt,
    IntToFloat,
    FloatToInt,
    FloatToFloat,
    Bitcast,
    /// `(ptr, i64) -> ptr`.
    PtrOffset,
    /// `(i8, T, T) -> T`.
    AnySelect,
    /// `T -> TxN`.
    Splat,
    /// `(T, …) -> TxN`.
    Lanes,
    /// `(TxN, i64) -> T`.
    Lane,
    /// `i8xN -> i8`.
    LaneTruth,
}

macro_rules! shape_of {
    (int_binary) => {
        Shape::IntBinary
    };
    (int_unary) => {
        Shape::IntUnary
    };
    (int_compare) => {
        Shape::IntCompare
    };
    (float_binary) => {
        Shape::FloatBinary
    };
    (float_ternary) => {
        Shape::FloatTernary
    };
    (float_unary) => {
        Shape::FloatUnary
    };
    (float_compare) => {
        Shape::FloatCompare
    };
    (int_to_wider_int) => {
        Shape::IntToWiderInt
    };
    (int_to_narrower_int) => {
        Shape::IntToNarrowerInt
    };
    (int_to_float) => {
        Shape::IntToFloat
    };
    (float_to_int) => {
        Shape::FloatToInt
    };
    (float_to_float) => {
        Shape::FloatToFloat
    };
    (bitcast) => {
        Shape::Bitcast
    };
    (ptr_offset) => {
        Shape::PtrOffset
    };
    (any_select) => {
        Shape::AnySelect
    };
    (splat) => {
        Shape::Splat
    };
    (lanes) => {
        Shape::Lanes
    };
    (lane) => {
        Shape::Lane
    };
    (lane_truth) => {
        Shape::LaneTruth
    };
}

macro_rules! define_ops {
    ($( $shape:ident { $( $(#[doc = $doc:expr])+ $Op:ident = $mnemonic:literal $(|$($p:ident),+| $sem:expr)?; )+ } )+) => {
        /// A pure instruction.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Op { $($( $(#[doc = $doc])+ $Op, )+)+ }

        impl Op {
            /// Every instruction of the table, in its order.
            pub const ALL: &'static [Op] = &[$($(Op::$Op),+),+];
            pub fn mnemonic(self) -> &'static str { match self { $($(Op::$Op => $mnemonic),+),+ } }
            pub fn doc(self) -> &'static str { match self { $($(Op::$Op => concat!($($doc),+)),+),+ } }
            pub fn shape(self) -> Shape { match self { $($(Op::$Op => shape_of!($shape)),+),+ } }
        }

        /// The meaning of `op` on constants: operands of type `from`, result of type `to`, both as raw bits
        /// (integers sign-extended to 64 bits, f32 in the low half). Of vectors it is what one lane is computed to
        /// of a lane of each operand: [`eval_lanes`] is all of it.
        pub fn eval(op: Op, from: Ty, to: Ty, args: &[u64]) -> u64 {
            match op { $($(Op::$Op => meaning!($shape, from, to, args $(, |$($p),+| $sem)?)),+),+ }
        }
    };
}

macro_rules! with_int {
    ($ty:expr, $S:ident, $U:ident, $body:expr) => {
        match $ty {
            Ty::I8 => {
                #[allow(dead_code)]
                type $S = i8;
                #[allow(dead_code)]
                type $U = u8;
                $body
            }
            Ty::I16 => {
                #[allow(dead_code)]
                type $S = i16;
                #[allow(dead_code)]
                type $U = u16;
                $body
            }
            Ty::I32 => {
                #[allow(dead_code)]
                type $S = i32;
                #[allow(dead_code)]
                type $U = u32;
                $body
            }
            Ty::I64 | Ty::Ptr => {
                #[allow(dead_code)]
                type $S = i64;
                #[allow(dead_code)]
                type $U = u64;
                $body
            }
            Ty::F32 | Ty::F64 | Ty::Vector(_) => unreachable!("verifier admits integers only"),
        }
    };
}
macro_rules! with_float {
    ($ty:expr, $S:ident, $body:expr) => {
        match $ty {
            Ty::F32 => {
                type $S = f32;
                $body
            }
            Ty::F64 => {
                type $S = f64;
                $body
            }
            Ty::I8 | Ty::I16 | Ty::I32 | Ty::I64 | Ty::Ptr | Ty::Vector(_) => {
                unreachable!("verifier admits floats only")
            }
        }
    };
}

#[rustfmt::skip]
#[allow(unused_macro_rules)]
macro_rules! meaning {
    (int_binary, $from:ident, $to:ident, $args:ident, |$a:ident, $b:ident| $e:expr) => { with_int!($from, S, U, {
        #[allow(dead_code)] const BITS: u32 = S::BITS;
        let ($a, $b) = (S::from_bits64($args[0]), S::from_bits64($args[1])); let r: S = $e; r.to_bits64() }) };
    (int_unary, $from:ident, $to:ident, $args:ident, |$a:ident| $e:expr) => { with_int!($from, S, U, {
        let $a = S::from_bits64($args[0]); let r: S = $e; r.to_bits64() }) };
    (int_compare, $from:ident, $to:ident, $args:ident, |$a:ident, $b:ident| $e:expr) => { with_int!($from, S, U, {
        let ($a, $b) = (S::from_bits64($args[0]), S::from_bits64($args[1])); let r: bool = $e; r as u64 }) };
    (float_binary, $from:ident, $to:ident, $args:ident, |$a:ident, $b:ident| $e:expr) => { with_float!($from, S, {
        let ($a, $b) = (S::from_bits64($args[0]), S::from_bits64($args[1])); let r: S = $e; r.to_bits64() }) };
    (float_ternary, $from:ident, $to:ident, $args:ident, |$a:ident, $b:ident, $c:ident| $e:expr) => { with_float!($from, S, {
        let ($a, $b, $c) = (S::from_bits64($args[0]), S::from_bits64($args[1]), S::from_bits64($args[2])); let r: S = $e; r.to_bits64() }) };
    (float_unary, $from:ident, $to:ident, $args:ident, |$a:ident| $e:expr) => { with_float!($from, S, {
        let $a = S::from_bits64($args[0]); let r: S = $e; r.to_bits64() }) };
    (float_compare, $from:ident, $to:ident, $args:ident, |$a:ident, $b:ident| $e:expr) => { with_float!($from, S, {
        let ($a, $b) = (S::from_bits64($args[0]), S::from_bits64($args[1])); let r: bool = $e; r as u64 }) };
    (int_to_wider_int, $from:ident, $to:ident, $args:ident, |$a:ident| $e:expr) => { with_int!($from, S, U, with_int!($to, D, DU, {
        let $a = S::from_bits64($args[0]); let r: D = $e; r.to_bits64() })) };
    (int_to_narrower_int, $from:ident, $to:ident, $args:ident, |$a:ident| $e:expr) => { with_int!($from, S, U, with_int!($to, D, DU, {
        let $a = S::from_bits64($args[0]); let r: D = $e; r.to_bits64() })) };
    (int_to_float, $from:ident, $to:ident, $args:ident, |$a:ident| $e:expr) => { with_int!($from, S, U, with_float!($to, D, {
        let $a = S::from_bits64($args[0]); let r: D = $e; r.to_bits64() })) };
    (float_to_int, $from:ident, $to:ident, $args:ident, |$a:ident| $e:expr) => { with_float!($from, S, with_int!($to, D, DU, {
        let $a = S::from_bits64($args[0]); let r: D = $e; r.to_bits64() })) };
    (float_to_float, $from:ident, $to:ident, $args:ident, |$a:ident| $e:expr) => { with_float!($from, S, with_float!($to, D, {
        let $a = S::from_bits64($args[0]); let r: D = $e; r.to_bits64() })) };
    (bitcast, $from:ident, $to:ident, $args:ident) => { match $to {
        Ty::I32 => $args[0] as i32 as i64 as u64, Ty::F32 => $args[0] as u32 as u64,
        Ty::I8 | Ty::I16 | Ty::I64 | Ty::F64 | Ty::Ptr => $args[0],
        Ty::Vector(_) => unreachable!("lanes are evaluated one by one") } };
    (ptr_offset, $from:ident, $to:ident, $args:ident) => { $args[0].wrapping_add($args[1]) };
    (any_select, $from:ident, $to:ident, $args:ident) => { if $args[0] as i8 != 0 { $args[1] } else { $args[2] } };
    (splat, $from:ident, $to:ident, $args:ident) => { $args[0] };
    (lanes, $from:ident, $to:ident, $args:ident) => { $args[0] };
    (lane, $from:ident, $to:ident, $args:ident) => { $args[0] };
    (lane_truth, $from:ident, $to:ident, $args:ident) => { u64::from($args[0] as i8 != 0) };
}

for_each_lir_op!(define_ops);

/// The meaning of an operation that takes or gives vectors: the lanes of its result, of those of its operands.
/// `ty` is the printed suffix; a scalar has one lane.
pub fn eval_lanes(op: Op, ty: Ty, types: &[Ty], args: &[&[u64]]) -> Vec<u64> {
    match (op, ty) {
        (Op::Splat, Ty::Vector(v)) => vec![args[0][0]; v.lanes()],
        (Op::Lanes, _) => args.iter().map(|a| a[0]).collect(),
        (Op::AnyLane, _) => vec![u64::from(args[0].iter().any(|x| *x != 0))],
        (Op::EveryLane, _) => vec![u64::from(args[0].iter().all(|x| *x != 0))],
        (Op::Lane, Ty::Vector(v)) => vec![args[0][args[1][0] as usize % v.lanes()]],
        (_, _) => {
            let from = if op.shape().suffix_is_result() { types[0] } else { ty }.lane();
            let lanes = args.iter().map(|a| a.len()).max().unwrap_or(1);
            let of_lane = |k: usize| args.iter().map(|a| a[k]).collect::<Vec<u64>>();
            (0..lanes).map(|k| eval(op, from, ty.lane(), &of_lane(k))).collect()
        }
    }
}

fn list(types: &[Ty]) -> String {
    format!("({})", types.iter().map(|t| t.name()).collect::<Vec<_>>().join(", "))
}

impl Shape {
    /// How many operands there are, with a result of type `ty`.
    pub(crate) fn arity(self, ty: Ty) -> usize {
        match self {
            Shape::Splat | Shape::LaneTruth => 1,
            Shape::Lane => 2,
            Shape::Lanes => ty.as_vector().map_or(0, |v| v.lanes()),
            Shape::IntBinary
            | Shape::IntCompare
            | Shape::FloatBinary
            | Shape::FloatCompare
            | Shape::PtrOffset => 2,
            Shape::IntUnary | Shape::FloatUnary | Shape::Bitcast => 1,
            Shape::IntToWiderInt
            | Shape::IntToNarrowerInt
            | Shape::IntToFloat
            | Shape::FloatToInt
            | Shape::FloatToFloat => 1,
            Shape::AnySelect | Shape::FloatTernary => 3,
        }
    }

    /// Whether the printed suffix is the result type (conversions) rather than the operand type.
    pub fn suffix_is_result(self) -> bool {
        match self {
            Shape::IntToWiderInt
            | Shape::IntToNarrowerInt
            | Shape::IntToFloat
            | Shape::FloatToInt
            | Shape::FloatToFloat
            | Shape::Bitcast
            | Shape::Splat
            | Shape::Lanes => true,
            Shape::Lane
            | Shape::LaneTruth
            | Shape::IntBinary
            | Shape::IntUnary
            | Shape::IntCompare
            | Shape::FloatBinary
            | Shape::FloatTernary
            | Shape::FloatUnary
            | Shape::FloatCompare
            | Shape::PtrOffset
            | Shape::AnySelect => false,
        }
    }

    /// Checks operand types against the shape. `ty` is the printed suffix; the answer is the result type.
    pub fn check(self, ty: Ty, args: &[Ty]) -> Result<Ty, String> {
        if args.len() != self.arity(ty) {
            return Err(format!("expects {} operands, got {}", self.arity(ty), args.len()));
        }
        match ty.as_vector() {
            Some(v) => self.check_vector(v, args),
            None if args.iter().any(|a| a.is_vector()) => {
                Err(format!("operands {} are vectors, {ty} is not", list(args)))
            }
            None => self.check_scalar(ty, args),
        }
    }

    /// The same where the suffix is a vector: each lane by itself.
    fn check_vector(self, v: Vector, args: &[Ty]) -> Result<Ty, String> {
        let ty = Ty::Vector(v);
        match self {
            Shape::Splat | Shape::Lanes => {
                let ok = args.iter().all(|a| *a == v.lane());
                if ok { Ok(ty) } else { Err(format!("lanes {} are not all {}", list(args), v.lane())) }
            }
            Shape::Lane if args == [ty, Ty::I64] => Ok(v.lane()),
            Shape::LaneTruth if v.lane() == Ty::I8 && args == [ty] => Ok(Ty::I8),
            Shape::LaneTruth => Err(format!("expects a vector of i8, got {}", list(args))),
            Shape::Lane => Err(format!("expects ({ty}, i64), got {}", list(args))),
            Shape::PtrOffset => Err("addresses have no lanes".into()),
            Shape::IntBinary
            | Shape::IntUnary
            | Shape::IntCompare
            | Shape::FloatBinary
            | Shape::FloatTernary
            | Shape::FloatUnary
            | Shape::FloatCompare
            | Shape::IntToWiderInt
            | Shape::IntToNarrowerInt
            | Shape::IntToFloat
            | Shape::FloatToInt
            | Shape::FloatToFloat
            | Shape::Bitcast
            | Shape::AnySelect => {
                if args.iter().any(|a| a.as_vector().map(|w| w.lanes()) != Some(v.lanes())) {
                    return Err(format!("operands {} do not all have {} lanes", list(args), v.lanes()));
                }
                let lanes: Vec<Ty> = args.iter().map(|a| a.lane()).collect();
                let lane = self.check_scalar(v.lane(), &lanes)?;
                lane.vector(v.lanes()).ok_or_else(|| format!("no vector of {lane}"))
            }
        }
    }

    fn check_scalar(self, ty: Ty, args: &[Ty]) -> Result<Ty, String> {
        let same = |ok: bool, r: Ty| {
            if !ok {
                return Err(format!("operand class does not admit {ty}"));
            }
            if args.iter().any(|a| *a != ty) {
                return Err(format!("operands {} are not all {ty}", list(args)));
            }
            Ok(r)
        };
        let conv =
            |ok: bool| if ok { Ok(ty) } else { Err(format!("no conversion from {} to {ty}", args[0])) };
        match self {
            Shape::IntBinary | Shape::IntUnary => same(ty.is_int(), ty),
            Shape::IntCompare => same(ty.is_int() || ty == Ty::Ptr, Ty::I8),
            Shape::FloatBinary | Shape::FloatTernary | Shape::FloatUnary => same(ty.is_float(), ty),
            Shape::FloatCompare => same(ty.is_float(), Ty::I8),
            Shape::IntToWiderInt => conv(args[0].is_int() && ty.is_int() && ty.bytes() > args[0].bytes()),
            Shape::IntToNarrowerInt => conv(args[0].is_int() && ty.is_int() && ty.bytes() < args[0].bytes()),
            Shape::IntToFloat => conv(args[0].is_int() && ty.is_float()),
            Shape::FloatToInt => conv(args[0].is_float() && ty.is_int()),
            Shape::FloatToFloat => conv(args[0].is_float() && ty.is_float() && ty != args[0]),
            Shape::Bitcast => conv(ty != args[0] && ty.bytes() == args[0].bytes() && ty.bytes() >= 4),
            Shape::PtrOffset => {
                if args == [Ty::Ptr, Ty::I64] {
                    Ok(Ty::Ptr)
                } else {
                    Err(format!("expects (ptr, i64), got {}", list(args)))
                }
            }
            Shape::AnySelect => {
                if args == [Ty::I8, ty, ty] {
                    Ok(ty)
                } else {
                    Err(format!("expects (i8, {ty}, {ty}), got {}", list(args)))
                }
            }
            Shape::Splat | Shape::Lanes | Shape::Lane | Shape::LaneTruth => Err(format!("{ty} is no vector")),
        }
    }
    /// The result's type, if the operands are as they must be.
    pub(crate) fn result(self, ty: Ty) -> Ty {
        let of = |lane: Ty| ty.as_vector().and_then(|v| lane.vector(v.lanes())).unwrap_or(lane);
        match self {
            Shape::IntCompare | Shape::FloatCompare => of(Ty::I8),
            Shape::PtrOffset => Ty::Ptr,
            Shape::LaneTruth => Ty::I8,
            Shape::Lane => ty.lane(),
            Shape::IntBinary
            | Shape::IntUnary
            | Shape::FloatBinary
            | Shape::FloatTernary
            | Shape::FloatUnary
            | Shape::IntToWiderInt
            | Shape::IntToNarrowerInt
            | Shape::IntToFloat
            | Shape::FloatToInt
            | Shape::FloatToFloat
            | Shape::Bitcast
            | Shape::AnySelect
            | Shape::Splat
            | Shape::Lanes => ty,
        }
    }
}

impl Op {
    /// Every admitted combination of printed type and operand types, of scalars.
    pub fn forms(self) -> Vec<(Ty, Vec<Ty>)> {
        let shape = self.shape();
        let operands = |ty: Ty| -> Vec<Vec<Ty>> {
            match shape {
                Shape::IntBinary | Shape::IntCompare | Shape::FloatBinary | Shape::FloatCompare => {
                    vec![vec![ty, ty]]
                }
                Shape::FloatTernary => vec![vec![ty; 3]],
                Shape::IntUnary | Shape::FloatUnary => vec![vec![ty]],
                Shape::IntToWiderInt
                | Shape::IntToNarrowerInt
                | Shape::IntToFloat
                | Shape::FloatToInt
                | Shape::FloatToFloat
                | Shape::Bitcast => Ty::ALL.iter().map(|from| vec![*from]).collect(),
                Shape::PtrOffset => {
                    if ty == Ty::Ptr {
                        vec![vec![Ty::Ptr, Ty::I64]]
                    } else {
                        vec![]
                    }
                }
                Shape::AnySelect => vec![vec![Ty::I8, ty, ty]],
                Shape::Splat | Shape::Lanes | Shape::Lane | Shape::LaneTruth => vec![],
            }
        };
        let all = Ty::ALL.iter().flat_map(|ty| operands(*ty).into_iter().map(|args| (*ty, args)));
        all.filter(|(ty, args)| shape.check(*ty, args).is_ok()).collect()
    }
}
