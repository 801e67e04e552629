//! Kernels over strided memory: copying, casting, reducing, scanning, sorting, sums of products.
//!
//! `elem` is an [`Elem`](crate::elem::Elem) code. Strides are in bytes; any alignment is fine. Results go to
//! memory that the caller has allocated. Arrays may have zero elements. Operands of a kernel must not overlap
//! unless they are the same (see `array_overlap`).

use super::OpDef;
use crate::rt::{Ctx, P};
use crate::types::{Kind, Type};

/// What `array_reduce` computes. The number is what compiled code passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i64)]
pub enum Reduce {
    /// Pairwise for floats, exactly as NumPy; wraps for integers.
    Sum = 0,
    Prod = 1,
    /// NaN propagates.
    Min = 2,
    Max = 3,
    /// Result is bool.
    Any = 4,
    All = 5,
    /// Result is int64.
    CountNonzero = 6,
    /// NaN is left out; NaN where nothing is left.
    NanMin = 7,
    NanMax = 8,
    /// NaN counts as 0.
    NanSum = 9,
    /// NaN counts as 1.
    NanProd = 10,
    /// Result is int64.
    CountNotNan = 11,
}
impl Reduce {
    pub const ALL: &'static [Reduce] = &[
        Reduce::Sum,
        Reduce::Prod,
        Reduce::Min,
        Reduce::Max,
        Reduce::Any,
        Reduce::All,
        Reduce::CountNonzero,
        Reduce::NanMin,
        Reduce::NanMax,
        Reduce::NanSum,
        Reduce::NanProd,
        Reduce::CountNotNan,
    ];
    /// The name that NumPy's error has where there is nothing to begin with.
    pub fn no_identity(self) -> Option<&'static str> {
        match self {
            Reduce::Min => Some("minimum"),
            Reduce::Max => Some("maximum"),
            Reduce::NanMin => Some("fmin"),
            Reduce::NanMax => Some("fmax"),
            Reduce::Sum
            | Reduce::Prod
            | Reduce::Any
            | Reduce::All
            | Reduce::CountNonzero
            | Reduce::NanSum
            | Reduce::NanProd
            | Reduce::CountNotNan => None,
        }
    }
    pub fn from_number(n: i64) -> Option<Reduce> {
        usize::try_from(n).ok().and_then(|i| Reduce::ALL.get(i).copied())
    }
}

/// What `array_map` computes, with the results that the scalar loop of the same row gives. The number is what
/// compiled code passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i64)]
pub enum Map {
    Add,
    Sub,
    Mul,
    Div,
    Max,
    Min,
    Fmax,
    Fmin,
    And,
    Or,
    Xor,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    /// Of one operand from here on.
    Neg,
    Abs,
    Not,
    Square,
    Sqrt,
    Floor,
    Ceil,
    Trunc,
    Rint,
    IsNan,
    IsFinite,
    IsInf,
    Exp,
    Log,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Sinh,
    Cosh,
    Tanh,
    Exp2,
    Expm1,
    Log2,
    Log10,
    Log1p,
    Cbrt,
    /// Of two again.
    Pow,
}
impl Map {
    pub const ALL: &'static [Map] = &[
        Map::Add,
        Map::Sub,
        Map::Mul,
        Map::Div,
        Map::Max,
        Map::Min,
        Map::Fmax,
        Map::Fmin,
        Map::And,
        Map::Or,
        Map::Xor,
        Map::Eq,
        Map::Ne,
        Map::Lt,
        Map::Le,
        Map::Gt,
        Map::Ge,
        Map::Neg,
        Map::Abs,
        Map::Not,
        Map::Square,
        Map::Sqrt,
        Map::Floor,
        Map::Ceil,
        Map::Trunc,
        Map::Rint,
        Map::IsNan,
        Map::IsFinite,
        Map::IsInf,
        Map::Exp,
        Map::Log,
        Map::Sin,
        Map::Cos,
        Map::Tan,
        Map::Asin,
        Map::Acos,
        Map::Atan,
        Map::Sinh,
        Map::Cosh,
        Map::Tanh,
        Map::Exp2,
        Map::Expm1,
        Map::Log2,
        Map::Log10,
        Map::Log1p,
        Map::Cbrt,
        Map::Pow,
    ];
    pub fn from_number(n: i64) -> Option<Map> {
        usize::try_from(n).ok().and_then(|i| Map::ALL.get(i).copied())
    }

    /// Whether it is an elementary function: an element takes longer than it takes to read one from memory,
    /// and alone several times as long as in vectors.
    pub(crate) fn is_slow(self) -> bool {
        matches!(
            self,
            Map::Exp
                | Map::Log
                | Map::Sin
                | Map::Cos
                | Map::Pow
                | Map::Tan
                | Map::Asin
                | Map::Acos
                | Map::Atan
                | Map::Sinh
                | Map::Cosh
                | Map::Tanh
                | Map::Exp2
                | Map::Expm1
                | Map::Log2
                | Map::Log10
                | Map::Log1p
                | Map::Cbrt
        )
    }

    /// Whether its results are truth values.
    pub fn gives_bools(self) -> bool {
        self.takes(Type::f64(), Type::bool())
    }

    /// Whether there is a loop for operands of that type that gives results of the other.
    pub fn takes(self, t: Type, ret: Type) -> bool {
        match self {
            Map::Add | Map::Sub | Map::Mul | Map::Max | Map::Min | Map::Neg | Map::Square => {
                t == ret && (t.is_int() || t.is_float())
            }
            Map::Div
            | Map::Fmax
            | Map::Fmin
            | Map::Abs
            | Map::Sqrt
            | Map::Floor
            | Map::Ceil
            | Map::Trunc
            | Map::Rint => t == ret && t.is_float(),
            Map::And | Map::Or | Map::Xor | Map::Not => t == ret && t.is_index(),
            Map::Eq | Map::Ne | Map::Lt | Map::Le | Map::Gt | Map::Ge => {
                *ret == Kind::Bool && (t.is_int() || t.is_float())
            }
            Map::Exp
            | Map::Log
            | Map::Sin
            | Map::Cos
            | Map::Pow
            | Map::Tan
            | Map::Asin
            | Map::Acos
            | Map::Atan
            | Map::Sinh
            | Map::Cosh
            | Map::Tanh
            | Map::Exp2
            | Map::Expm1
            | Map::Log2
            | Map::Log10
            | Map::Log1p
            | Map::Cbrt => t == ret && t == Type::f64(),
            Map::IsNan | Map::IsFinite | Map::IsInf => *ret == Kind::Bool && t.is_float(),
        }
    }
}

/// Elements that a sum, or another reduction, whose elements are yet to be computed takes at a time. Of a sum
/// it is a subtree, which a kernel adds up.
pub const SUM_BLOCK: i64 = 1024;
/// Elements at most in a leaf of a pairwise sum's tree, which are added by eight accumulators; where a leaf
/// is cut in two, each half has 64 at least.
pub const LEAF: i64 = 128;
/// Elements that a sum without a buffer takes at a time: a subtree, leaf by leaf.
pub const SUM_LEAVES: i64 = 2048;
/// The most leaves in such a subtree. Their table holds the numbers of their elements, up to seven elements
/// that are left of the last of all, and a row of eight accumulators for each.
pub const LEAVES: i64 = SUM_LEAVES / (LEAF / 2);
pub const LEAVES_REST: i64 = 8 * LEAVES;
pub const LEAVES_LANES: i64 = LEAVES_REST + 64;
pub const LEAVES_ROW: i64 = 64;
pub const LEAVES_BYTES: i64 = LEAVES_LANES + LEAVES_ROW * LEAVES;
/// Bytes of the state of a pairwise sum: a tree of 2^63 elements in blocks of [`SUM_BLOCK`] has fewer than 60
/// levels, of two words each; and the leaves of blocks of two sizes.
pub const SUMS: usize = 1600;
/// The most subtrees of a pairwise sum that is done in parts.
pub const SUBTREES: i64 = 128;

/// Beside the first number that a kernel takes: pieces of the work may be done at the same time (copying,
/// filling, converting, reducing, positions).
pub const IN_PIECES: i64 = 1 << 32;

crate::runtime_fns! {
    /// Arrays as memory. What may take seconds looks for Ctrl-C now and then, and then leaves its result half
    /// done.
    trait Helpers;
    /// Copies an array, element by element as bytes; a source stride may be 0.
    fn array_copy(ctx: Ctx, itemsize: i64, ndim: i64, shape: *const i64, to: P, to_strides: *const i64, from: P, from_strides: *const i64) [Writes, Pending];
    /// Copies the `itemsize` bytes at `value` into every element.
    fn array_fill(ctx: Ctx, itemsize: i64, value: P, ndim: i64, shape: *const i64, to: P, to_strides: *const i64) [Writes, Pending];
    /// Copies and converts: as `astype` does.
    fn array_cast(ctx: Ctx, to_elem: i64, from_elem: i64, ndim: i64, shape: *const i64, to: P, to_strides: *const i64, from: P, from_strides: *const i64) [Writes, Pending];
    /// Computes `n` elements (`op` is a `Map`) from contiguous operands of one element type; a step is 1, or
    /// 0 for one number beside all elements. `out` is an operand or does not overlap any.
    fn array_map(ctx: Ctx, op: i64, elem: i64, n: i64, out: P, a: P, a_step: i64, b: P, b_step: i64) [Writes, Pending];
    /// Whether chains of operations go through kernels a block at a time: 1. A tier whose own loops are as
    /// fast has the answer 0 before its code is made.
    fn array_in_blocks() -> i8 [Pure, Never];
    /// Reduces (`op` is a `Reduce`) the axes that `axes` has a bit for. `elem` is what the source holds,
    /// `acc` what is computed in and stored; the source is converted to it first (but not for any, all and
    /// the counts). `out_strides` has an entry for every axis of the source, 0 for the reduced ones.
    /// ValueError for the minimum or maximum of nothing.
    fn array_reduce(ctx: Ctx, op: i64, elem: i64, acc: i64, ndim: i64, shape: *const i64, data: P, strides: *const i64, axes: i64, out: P, out_strides: *const i64) [Writes, Pending];
    /// Several reductions of a whole array, each to a number of the array's own type: bit `k` of `ops` asks
    /// for `Reduce` number `k`. The results go to places of 16 bytes, in the order of the bits; a minimum or
    /// maximum of nothing is 0.
    fn array_reduce_several(ctx: Ctx, ops: i64, elem: i64, ndim: i64, shape: *const i64, data: P, strides: *const i64, out: P) [Writes, Pending];
    /// Reduces `n` elements that lie side by side (`op` is a `Reduce` whose result has the elements' type),
    /// going on from the number at `out`; where none have been before (`done` is 0) from what the operation
    /// begins with, which is written where `n` is 0 if there is one.
    fn array_fold(op: i64, elem: i64, data: P, n: i64, done: i64, out: P) [Writes, Never];
    /// Sum of `n` float64, pairwise as NumPy.
    fn array_sum_f64(data: P, n: i64, stride: i64) -> f64 [Reads, Never];
    /// Sum of `n` float32, pairwise as NumPy.
    fn array_sum_f32(data: P, n: i64, stride: i64) -> f32 [Reads, Never];
    /// A pairwise sum of `n` elements, block by block of at most so many: gives the number of blocks. `state`
    /// has room for [`SUMS`] bytes.
    fn array_sums_begin(state: P, n: i64, most: i64) -> i64 [Writes, Never];
    /// How many elements the next block has.
    fn array_sums_next(state: P) -> i64 [Writes, Never];
    /// Takes the sum of a block; adds in float32 where `single` is 1.
    fn array_sums_push(state: P, sum: f64, single: i8) [Writes, Never];
    /// Writes how many elements the leaves of the next block have to a table of [`LEAVES_BYTES`]; gives the
    /// number of leaves.
    fn array_sums_leaves(state: P, leaves: P) -> i64 [Writes, Never];
    /// Takes a block's leaves; adds in float32 where `single` is 1.
    fn array_sums_join_leaves(state: P, leaves: P, single: i8) [Writes, Never];
    /// The sum of the only leaf, of `n` elements.
    fn array_sums_leaf(leaves: P, n: i64, single: i8) -> f64 [Reads, Never];
    /// The best of the accumulators in the first row of such a table, the largest where `max` is 1; NaN where
    /// those in the second add up to NaN.
    fn array_lanes_extreme(table: P, max: i8, single: i8) -> f64 [Reads, Never];
    /// The sum of all blocks.
    fn array_sums_end(state: P) -> f64 [Reads, Never];
    /// How many subtrees a pairwise sum of `n` elements is divided into, to be added up at the same time: 2
    /// to the power of what the length alone says, at most [`SUBTREES`].
    fn array_sums_parts(n: i64) -> i64 [Reads, Never];
    /// The first element of subtree `k` (one behind the last subtree: `n`).
    fn array_sums_part(n: i64, k: i64) -> i64 [Reads, Never];
    /// The sum of the sums of `count` subtrees, which are overwritten.
    fn array_sums_join(parts: P, count: i64, single: i8) -> f64 [Writes, Never];
    /// Positions of the minima (`max` 0) or maxima (1) along an axis, or of the whole array in C order when
    /// `axis` is -1, into `out`: int64 in C order. The first NaN wins where `nan` is 0; where it is 1 NaN is
    /// left out, and ValueError "All-NaN slice encountered". ValueError for nothing.
    fn array_arg(ctx: Ctx, max: i8, nan: i8, elem: i64, ndim: i64, shape: *const i64, data: P, strides: *const i64, axis: i64, out: *mut i64) [Writes, Pending];
    /// Running sums (`op` 0), products (1), minima (2) or maxima (3) along an axis; source and result have
    /// the same element type and may be the same.
    fn array_accumulate(ctx: Ctx, op: i64, elem: i64, ndim: i64, shape: *const i64, data: P, strides: *const i64, axis: i64, out: P, out_strides: *const i64) [Writes, Pending];
    /// Number of elements that are true.
    fn array_count_nonzero(ctx: Ctx, elem: i64, ndim: i64, shape: *const i64, data: P, strides: *const i64) -> i64 [Reads, Pending];
    /// Indices of the first `count` elements that are true, in C order: index along axis `k` of the `i`-th
    /// goes to `out[i * item_step + k * axis_step]`.
    fn array_nonzero(ctx: Ctx, elem: i64, ndim: i64, shape: *const i64, data: P, strides: *const i64, out: *mut i64, count: i64, item_step: i64, axis_step: i64) [Writes, Pending];
    /// How many of `n` bytes of a mask are true.
    fn array_mask_count(mask: P, n: i64) -> i64 [Reads, Never];
    /// Copies those of `n` elements side by side that a mask of as many bytes chooses, the first `most` of
    /// them; elements have a power of two of bytes, up to 16. `out` has room for one more.
    fn array_mask_take(ctx: Ctx, itemsize: i64, mask: P, from: P, n: i64, out: P, most: i64) [Writes, Pending];
    /// Sorts along an axis in place; NaN last. Zeros of both signs and NaN of all kinds keep their order
    /// where `stable` is 1.
    fn array_sort(ctx: Ctx, elem: i64, ndim: i64, shape: *const i64, data: P, strides: *const i64, axis: i64, stable: i8) [Writes, Pending];
    /// The order that sorts along an axis, stably, into `out`: int64 of the same shape in C order.
    fn array_argsort(ctx: Ctx, elem: i64, ndim: i64, shape: *const i64, data: P, strides: *const i64, axis: i64, out: *mut i64) [Writes, Pending];
    /// Puts element `kth` of the sorted order along an axis in its place, smaller ones before it; ValueError
    /// out of bounds.
    fn array_partition(ctx: Ctx, elem: i64, ndim: i64, shape: *const i64, data: P, strides: *const i64, axis: i64, kth: i64) [Writes, Pending];
    /// The order that `array_partition` would give, into `out`: int64 of the same shape in C order.
    fn array_argpartition(ctx: Ctx, elem: i64, ndim: i64, shape: *const i64, data: P, strides: *const i64, axis: i64, kth: i64, out: *mut i64) [Writes, Pending];
    /// Where each of `n` keys belongs in `len` sorted elements, before equal ones (`right` 0) or after them
    /// (1), into `out`.
    fn array_searchsorted(ctx: Ctx, elem: i64, data: P, len: i64, stride: i64, keys: P, n: i64, key_stride: i64, right: i8, out: *mut i64) [Writes, Pending];
    /// Reverses `n` elements in place.
    fn array_reverse(itemsize: i64, data: P, n: i64, stride: i64) [Writes, Never];
    /// Sum of products of `n` elements into `out`; the first is conjugated where `conj` is 1.
    fn array_dot(elem: i64, n: i64, a: P, a_stride: i64, b: P, b_stride: i64, conj: i8, out: P) [Writes, Never];
    /// Whether two arrays may share memory: exact for extents and for two arrays that interleave with one
    /// common stride.
    fn array_overlap(itemsize: i64, ndim: i64, shape: *const i64, data: P, strides: *const i64, itemsize2: i64, ndim2: i64, shape2: *const i64, data2: P, strides2: *const i64) -> i8 [Reads, Never];
}

pub(crate) static OPS: &[OpDef] = &[];
