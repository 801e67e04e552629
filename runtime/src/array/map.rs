//! Element-wise arithmetic over contiguous memory: what compiled loops would do one element at a time, in
//! vectors.
//!
//! Results have the bits of the loops that `core/src/ops` emits for the same rows. Elements are taken in
//! blocks that are read whole before any of them is written, so the result may be one of the operands; it may
//! not overlap them otherwise.

use super::item::Bool;
use super::simd;
use crate::mathfn::{elementary, power};
use tierup_core::elem::Elem;
use tierup_core::ops::kernel::Map;

/// Elements of a block of comparisons, whose results are bytes.
const BLOCK: usize = 32;
/// Elements of a block whose results are as large as the operands: one vector register full, or blocks go
/// through the stack.
const fn register<T>() -> usize {
    32 / size_of::<T>()
}

/// One element's result.
trait Apply<S: Copy, R: Copy> {
    fn apply(a: S, b: S) -> R;
}

simd! {
    /// In blocks of `N` elements.
    unsafe fn run<S: Copy, R: Copy, F: Apply<S, R>; const N: usize>(n: usize, out: *mut u8, a: *const u8, a_step: usize, b: *const u8, b_step: usize) {
        let (out, a, b) = (out.cast::<R>(), a.cast::<S>(), b.cast::<S>());
        let whole = n - n % N;
        // A step is 1 or, for one number beside all elements, 0.
        if a_step == 1 && b_step == 1 {
            for i in (0..whole).step_by(N) {
                let (x, y) = (a.add(i).cast::<[S; N]>().read_unaligned(), b.add(i).cast::<[S; N]>().read_unaligned());
                out.add(i).cast::<[R; N]>().write_unaligned(std::array::from_fn(|k| F::apply(x[k], y[k])));
            }
        } else if a_step == 1 {
            let y = b.read_unaligned();
            for i in (0..whole).step_by(N) {
                let x = a.add(i).cast::<[S; N]>().read_unaligned();
                out.add(i).cast::<[R; N]>().write_unaligned(std::array::from_fn(|k| F::apply(x[k], y)));
            }
        } else {
            let x = a.read_unaligned();
            for i in (0..whole).step_by(N) {
                let y = b.add(i * b_step).cast::<[S; N]>().read_unaligned();
                out.add(i).cast::<[R; N]>().write_unaligned(std::array::from_fn(|k| F::apply(x, y[k])));
            }
        }
        for i in whole..n {
            let (x, y) = (a.add(i * a_step).read_unaligned(), b.add(i * b_step).read_unaligned());
            out.add(i).write_unaligned(F::apply(x, y));
        }
    }
}

/// Elementary functions of float64.
macro_rules! elementary { ($($name:ident $all:ident),*) => { $(
    unsafe fn $name(n: usize, out: *mut u8, a: *const u8, _a_step: usize, _b: *const u8, _b_step: usize) {
        // SAFETY: as for every loop of this table: room for `n` results, and as many operands.
        unsafe { elementary::$all(n, out.cast(), a.cast()) }
    }
)* }; }
elementary!(exp exp_all, log log_all, sin sin_all, cos cos_all, tan tan_all, asin asin_all, acos acos_all, atan atan_all, sinh sinh_all, cosh cosh_all, tanh tanh_all, exp2 exp2_all, expm1 expm1_all, log2 log2_all, log10 log10_all, log1p log1p_all, cbrt cbrt_all);

unsafe fn pow(n: usize, out: *mut u8, a: *const u8, a_step: usize, b: *const u8, b_step: usize) {
    // SAFETY: as for every loop of this table; steps are 0 or 1, and an operand with step 0 is one element.
    unsafe { power::pow_all(n, out.cast(), (a.cast(), a_step), (b.cast(), b_step)) }
}

/// Operations by name; each is implemented for the types that it takes.
macro_rules! operations { ($($Name:ident)*) => { $(struct $Name;)* }; }
operations!(Add Sub Mul Div Max Min Fmax Fmin And Or Xor Eq Ne Lt Le Gt Ge Neg Abs Not Square Sqrt Floor Ceil Trunc Rint IsNan IsFinite IsInf);

macro_rules! apply {
    ($Op:ident, $S:ty => $R:ty, |$a:ident, $b:pat_param| $e:expr) => {
        impl Apply<$S, $R> for $Op {
            #[inline(always)]
            fn apply($a: $S, $b: $S) -> $R {
                $e
            }
        }
    };
}
macro_rules! compare { ($($T:ty)*) => { $(
    apply!(Eq, $T => Bool, |a, b| Bool((a == b) as u8));
    apply!(Ne, $T => Bool, |a, b| Bool((a != b) as u8));
    apply!(Lt, $T => Bool, |a, b| Bool((a < b) as u8));
    apply!(Le, $T => Bool, |a, b| Bool((a <= b) as u8));
    apply!(Gt, $T => Bool, |a, b| Bool((a > b) as u8));
    apply!(Ge, $T => Bool, |a, b| Bool((a >= b) as u8));
)* }; }
macro_rules! integers { ($($T:ty)*) => { $(
    apply!(Add, $T => $T, |a, b| a.wrapping_add(b));
    apply!(Sub, $T => $T, |a, b| a.wrapping_sub(b));
    apply!(Mul, $T => $T, |a, b| a.wrapping_mul(b));
    apply!(Max, $T => $T, |a, b| a.max(b));
    apply!(Min, $T => $T, |a, b| a.min(b));
    apply!(And, $T => $T, |a, b| a & b);
    apply!(Or, $T => $T, |a, b| a | b);
    apply!(Xor, $T => $T, |a, b| a ^ b);
    apply!(Neg, $T => $T, |a, _| a.wrapping_neg());
    apply!(Not, $T => $T, |a, _| !a);
    apply!(Square, $T => $T, |a, _| a.wrapping_mul(a));
)* }; }
macro_rules! floats { ($($T:ident)*) => { $(
    apply!(Add, $T => $T, |a, b| a + b);
    apply!(Sub, $T => $T, |a, b| a - b);
    apply!(Mul, $T => $T, |a, b| a * b);
    apply!(Div, $T => $T, |a, b| a / b);
    // Of equal values the second, of a NaN and a number the NaN.
    apply!(Max, $T => $T, |a, b| if a > b || a.is_nan() { a } else { b });
    apply!(Min, $T => $T, |a, b| if a < b || a.is_nan() { a } else { b });
    // Of a NaN and a number the number.
    apply!(Fmax, $T => $T, |a, b| if a > b || b.is_nan() { a } else { b });
    apply!(Fmin, $T => $T, |a, b| if a < b || b.is_nan() { a } else { b });
    apply!(Neg, $T => $T, |a, _| -a);
    apply!(Abs, $T => $T, |a, _| a.abs());
    apply!(Square, $T => $T, |a, _| a * a);
    apply!(Sqrt, $T => $T, |a, _| a.sqrt());
    apply!(Floor, $T => $T, |a, _| a.floor());
    apply!(Ceil, $T => $T, |a, _| a.ceil());
    apply!(Trunc, $T => $T, |a, _| a.trunc());
    apply!(Rint, $T => $T, |a, _| a.round_ties_even());
    apply!(IsNan, $T => Bool, |a, _| Bool(a.is_nan() as u8));
    apply!(IsFinite, $T => Bool, |a, _| Bool((a.abs() < $T::INFINITY) as u8));
    apply!(IsInf, $T => Bool, |a, _| Bool((a.abs() == $T::INFINITY) as u8));
)* }; }
integers!(i8 i16 i32 i64 u8 u16 u32 u64);
floats!(f32 f64);
compare!(i8 i16 i32 i64 u8 u16 u32 u64 f32 f64);
apply!(And, Bool => Bool, |a, b| Bool(a.0 & b.0));
apply!(Or, Bool => Bool, |a, b| Bool(a.0 | b.0));
apply!(Xor, Bool => Bool, |a, b| Bool(a.0 ^ b.0));
apply!(Not, Bool => Bool, |a, _| Bool(a.0 ^ 1));

type Run = unsafe fn(usize, *mut u8, *const u8, usize, *const u8, usize);

/// `$Op` over operands of a type; the result is of the same type or, behind `=>`, of another.
macro_rules! runs {
    ($op:expr, $T:ty; same: $($Same:ident)*; flags: $($Flag:ident)*) => {
        match $op {
            $(Map::$Same => Some(run::<$T, $T, $Same, { register::<$T>() }> as Run),)*
            $(Map::$Flag => Some(run::<$T, Bool, $Flag, BLOCK> as Run),)*
            #[allow(unreachable_patterns)]
            Map::Add | Map::Sub | Map::Mul | Map::Div | Map::Max | Map::Min | Map::Fmax | Map::Fmin | Map::And | Map::Or | Map::Xor | Map::Eq | Map::Ne | Map::Lt
            | Map::Le | Map::Gt | Map::Ge | Map::Neg | Map::Abs | Map::Not | Map::Square | Map::Sqrt | Map::Floor | Map::Ceil | Map::Trunc | Map::Rint | Map::IsNan
            | Map::IsFinite | Map::IsInf | Map::Exp | Map::Log | Map::Sin | Map::Cos | Map::Pow | Map::Tan | Map::Asin | Map::Acos | Map::Atan | Map::Sinh | Map::Cosh | Map::Tanh | Map::Exp2 | Map::Expm1 | Map::Log2 | Map::Log10 | Map::Log1p | Map::Cbrt => None,
        }
    };
}

fn chosen(op: Map, elem: Elem) -> Option<Run> {
    macro_rules! of_integers { ($T:ty) => { runs!(op, $T; same: Add Sub Mul Max Min And Or Xor Neg Not Square; flags: Eq Ne Lt Le Gt Ge) }; }
    macro_rules! of_floats { ($T:ty) => {
        runs!(op, $T; same: Add Sub Mul Div Max Min Fmax Fmin Neg Abs Square Sqrt Floor Ceil Trunc Rint; flags: Eq Ne Lt Le Gt Ge IsNan IsFinite IsInf)
    }; }
    match (op, elem) {
        (Map::Exp, Elem::F64) => return Some(exp),
        (Map::Log, Elem::F64) => return Some(log),
        (Map::Sin, Elem::F64) => return Some(sin),
        (Map::Cos, Elem::F64) => return Some(cos),
        (Map::Pow, Elem::F64) => return Some(pow),
        (Map::Tan, Elem::F64) => return Some(tan),
        (Map::Asin, Elem::F64) => return Some(asin),
        (Map::Acos, Elem::F64) => return Some(acos),
        (Map::Atan, Elem::F64) => return Some(atan),
        (Map::Sinh, Elem::F64) => return Some(sinh),
        (Map::Cosh, Elem::F64) => return Some(cosh),
        (Map::Tanh, Elem::F64) => return Some(tanh),
        (Map::Exp2, Elem::F64) => return Some(exp2),
        (Map::Expm1, Elem::F64) => return Some(expm1),
        (Map::Log2, Elem::F64) => return Some(log2),
        (Map::Log10, Elem::F64) => return Some(log10),
        (Map::Log1p, Elem::F64) => return Some(log1p),
        (Map::Cbrt, Elem::F64) => return Some(cbrt),
        (_, _) => {}
    }
    match elem {
        Elem::Bool => runs!(op, Bool; same: And Or Xor Not; flags: ),
        Elem::I8 => of_integers!(i8),
        Elem::I16 => of_integers!(i16),
        Elem::I32 => of_integers!(i32),
        Elem::I64 => of_integers!(i64),
        Elem::U8 => of_integers!(u8),
        Elem::U16 => of_integers!(u16),
        Elem::U32 => of_integers!(u32),
        Elem::U64 => of_integers!(u64),
        Elem::F32 => of_floats!(f32),
        Elem::F64 => of_floats!(f64),
        Elem::C64 | Elem::C128 | Elem::Str | Elem::Tuple => None,
    }
}

/// # Safety
/// `n` elements of the operands, or one where a step is 0, and room for as many results, which are an operand
/// or do not overlap them.
pub(crate) unsafe fn map(
    op: Map,
    elem: Elem,
    n: i64,
    out: *mut u8,
    (a, a_step): (*const u8, i64),
    (b, b_step): (*const u8, i64),
) {
    if let (Some(run), Ok(n)) = (chosen(op, elem), usize::try_from(n)) {
        // SAFETY: as required of the caller.
        unsafe { run(n, out, a, a_step as usize, b, b_step as usize) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every length, with numbers on either side, and into an operand.
    #[test]
    fn blocks_and_rests_give_what_one_element_gives() {
        for n in 0..150usize {
            let a: Vec<f64> =
                (0..n).map(|i| if i % 13 == 5 { f64::NAN } else { ((i * 37) % 11) as f64 - 5.0 }).collect();
            let b: Vec<f64> =
                (0..n).map(|i| if i % 17 == 3 { f64::NAN } else { ((i * 53) % 7) as f64 - 3.0 }).collect();
            type One = fn(f64, f64) -> f64;
            let table: [(Map, One); 7] = [
                (Map::Add, |x, y| x + y),
                (Map::Div, |x, y| x / y),
                (Map::Max, <Max as Apply<f64, f64>>::apply),
                (Map::Fmin, <Fmin as Apply<f64, f64>>::apply),
                (Map::Pow, power::pow),
                (Map::Log, |x, _| elementary::log(x)),
                (Map::Sin, |x, _| elementary::sin(x)),
            ];
            for (op, one) in table {
                for (a_step, b_step) in [(1, 1), (1, 0), (0, 1)] {
                    if n == 0 && a_step * b_step == 0 || a_step == 0 && matches!(op, Map::Log | Map::Sin) {
                        continue;
                    }
                    let want: Vec<u64> =
                        (0..n).map(|i| one(a[i * a_step], b[i * b_step])).map(f64::to_bits).collect();
                    let mut out = if a_step == 1 { a.clone() } else { b.clone() };
                    let (x, y) = if a_step == 1 {
                        (out.as_ptr().cast(), b.as_ptr().cast())
                    } else {
                        (a.as_ptr().cast(), out.as_ptr().cast())
                    };
                    // SAFETY: as many elements as said.
                    unsafe {
                        map(
                            op,
                            Elem::F64,
                            n as i64,
                            out.as_mut_ptr().cast(),
                            (x, a_step as i64),
                            (y, b_step as i64),
                        )
                    }
                    let same = out
                        .iter()
                        .zip(&want)
                        .all(|(o, w)| o.to_bits() == *w || o.is_nan() && f64::from_bits(*w).is_nan());
                    assert!(same, "{op:?} of {n} elements, steps {a_step} and {b_step}");
                }
            }
            let mut flags = vec![9u8; n];
            // SAFETY: as many elements as said.
            unsafe {
                map(
                    Map::Lt,
                    Elem::F64,
                    n as i64,
                    flags.as_mut_ptr(),
                    (a.as_ptr().cast(), 1),
                    (b.as_ptr().cast(), 1),
                )
            }
            assert!(flags.iter().enumerate().all(|(i, f)| *f == (a[i] < b[i]) as u8));
        }
    }

    #[test]
    #[expect(clippy::wildcard_enum_match_arm, reason = "four types stand for their kinds")]
    fn every_operation_that_rows_may_ask_for_is_there() {
        use tierup_core::types::{Int, Type};
        let of = |e: Elem| match e {
            Elem::F64 => Some(Type::f64()),
            Elem::I64 => Some(Type::i64()),
            Elem::U8 => Some(Type::int_of(Int::U8)),
            Elem::Bool => Some(Type::bool()),
            _ => None,
        };
        for op in Map::ALL {
            for e in [Elem::F64, Elem::I64, Elem::U8, Elem::Bool] {
                let Some(t) = of(e) else { continue };
                if op.takes(t, t) || op.takes(t, Type::bool()) {
                    assert!(chosen(*op, e).is_some(), "{op:?} of {t}");
                }
            }
        }
    }
}
