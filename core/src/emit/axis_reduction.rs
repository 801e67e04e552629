//! Reductions of a chain along one axis: its elements are put together as they are computed, and never are an
//! array.
//!
//! Along the last axis each row is reduced as a chain of one dimension is ([`super::chain_reduction`]). Along
//! the one before it, rows are added to a row of accumulators, a few columns at a time that stay in the
//! nearest cache: the order in which NumPy adds. The results have the bits that an array in memory would
//! give.

use super::arrays::{ArrayVal, Stream, broadcast_strides, nest, product};
use super::cast;
use super::chain_reduction::{ChainReduction, InLoop, reduce_some};
use super::chunked_loops::{SLOW, in_chunks};
use super::cx::LowerCx;
use super::lazy::Elements;
use crate::diag::Result;
use crate::lir::{Alias, Op, Ty, Value};
use crate::ops::kernel::Reduce;
use crate::types::{Kind, Layout, Type};

/// Columns that are done together.
const COLUMNS: i64 = 256;

/// A reduction that can be done so: of which axis, and how.
#[derive(Clone, Copy)]
pub(crate) struct AxisReduction {
    axis: usize,
    how: ChainReduction,
    /** What results are stored as. */
    acc: Type,
}

/// How a column takes an element.
#[derive(Clone, Copy)]
enum Put {
    Add,
    Multiply,
    Smaller,
    Larger,
    InLoop(InLoop),
}

impl AxisReduction {
    /// None where an array is needed, or better: few columns are one thread's work, which several can make
    /// the elements for.
    pub(crate) fn of(
        cx: &LowerCx<'_>,
        e: &Elements,
        axis: usize,
        how: ChainReduction,
        acc: Type,
    ) -> Option<AxisReduction> {
        let n = e.shape.len();
        let this = AxisReduction { axis, how, acc };
        let columns =
            n >= 2 && axis == n - 2 && this.put().is_some() && !(cx.chunks.wanted() && e.lazy.cost() >= SLOW);
        (n >= 2 && e.kept.is_none() && e.layout == Layout::C && (axis == n - 1 || columns)).then_some(this)
    }

    /// Whether it is about rows that lie one after the other.
    fn is_rows(self, e: &Elements) -> bool {
        self.axis == e.shape.len() - 1
    }

    fn put(self) -> Option<Put> {
        let real = self.acc.is_float() || self.acc.is_int();
        match self.how {
            ChainReduction::Sum => Some(Put::Add),
            ChainReduction::InLoop(what, _) => Some(Put::InLoop(what)),
            ChainReduction::Blocks(Reduce::Min) if real => Some(Put::Smaller),
            ChainReduction::Blocks(Reduce::Max) if real => Some(Put::Larger),
            ChainReduction::Blocks(Reduce::Prod) if self.acc.is_float() => Some(Put::Multiply),
            ChainReduction::Blocks(_) => None,
        }
    }

    /// Where an array is needed after all: NumPy takes a single column as one row.
    pub(crate) fn only_if(self, cx: &mut LowerCx<'_>, e: &Elements) -> Option<Value> {
        if self.is_rows(e) {
            return None;
        }
        let columns = e.shape[e.shape.len() - 1];
        Some(cx.b.bin_imm(Op::IcmpSgt, columns, 1))
    }

    /// Writes the results to `out`, an array in C order of the axes that stay; the axis that goes has
    /// elements, or its reduction begins with something.
    pub(crate) fn emit(self, cx: &mut LowerCx<'_>, e: &Elements, out: Value, alike: bool) -> Result<()> {
        let reduced = self.axis;
        let streams: Vec<Stream> = e
            .lazy
            .arrays
            .iter()
            .map(|a| Stream {
                data: a.data,
                strides: if alike { a.strides.clone() } else { broadcast_strides(cx, a, &e.shape) },
            })
            .collect();
        if self.is_rows(e) {
            self.rows(cx, e, out, &streams)
        } else if reduced == 0 {
            self.columns_in_chunks(cx, e, out, &streams)
        } else {
            self.columns_of_each(cx, e, out, &streams)
        }
    }

    /// The levels in front of the reduced axis, each stream's address of the first element in front of it:
    /// the result's first.
    fn outer(
        self,
        cx: &mut LowerCx<'_>,
        e: &Elements,
        out: Value,
        streams: &[Stream],
        row: Value,
    ) -> Vec<Stream> {
        let mut steps = vec![row];
        for n in e.shape[1..self.axis].iter().rev() {
            let last = steps[steps.len() - 1];
            steps.push(cx.b.bin(Op::Imul, last, *n));
        }
        steps.reverse();
        std::iter::once(Stream { data: out, strides: steps })
            .chain(streams.iter().map(|s| Stream { data: s.data, strides: s.strides[..self.axis].to_vec() }))
            .collect()
    }

    fn work(self, cx: &mut LowerCx<'_>, e: &Elements) -> Value {
        let total = product(cx, &e.shape);
        cx.b.bin_imm(Op::Imul, total, e.lazy.cost())
    }

    fn rows(self, cx: &mut LowerCx<'_>, e: &Elements, out: Value, streams: &[Stream]) -> Result<()> {
        let item = cx.b.i64(self.acc.itemsize());
        let (outer, work) = (self.outer(cx, e, out, streams, item), self.work(cx, e));
        let n = e.shape[self.axis];
        in_chunks(cx, e.shape[0], work, |cx, first, end| {
            nest(cx, &e.shape[..self.axis], &outer, (first, end), &mut |cx, at| {
                let row: Vec<Stream> = at[1..]
                    .iter()
                    .zip(streams)
                    .map(|(p, s)| Stream { data: *p, strides: vec![s.strides[self.axis]] })
                    .collect();
                let x = reduce_some(cx, e, &row, n, self.how)?;
                let size = self.acc.itemsize() as i32 / x.len() as i32;
                for (k, v) in x.iter().enumerate() {
                    cx.b.store(*v, at[0], k as i32 * size, Alias::Array);
                }
                Ok(())
            })
        })
    }

    /// Columns of the only matrix, a group of them for each piece.
    fn columns_in_chunks(
        self,
        cx: &mut LowerCx<'_>,
        e: &Elements,
        out: Value,
        streams: &[Stream],
    ) -> Result<()> {
        let (rows, columns, work) = (e.shape[0], e.shape[1], self.work(cx, e));
        let up = cx.b.bin_imm(Op::Iadd, columns, COLUMNS - 1);
        let groups = cx.b.bin_imm(Op::Sshr, up, COLUMNS.trailing_zeros().into());
        in_chunks(cx, groups, work, |cx, first, end| {
            self.groups(cx, e, (first, end), (rows, columns), out, streams)
        })
    }

    /// Columns of each matrix in a stack of them.
    fn columns_of_each(
        self,
        cx: &mut LowerCx<'_>,
        e: &Elements,
        out: Value,
        streams: &[Stream],
    ) -> Result<()> {
        let (rows, columns, work) = (e.shape[self.axis], e.shape[self.axis + 1], self.work(cx, e));
        let row = cx.b.bin_imm(Op::Imul, columns, self.acc.itemsize());
        let outer = self.outer(cx, e, out, streams, row);
        in_chunks(cx, e.shape[0], work, |cx, first, end| {
            nest(cx, &e.shape[..self.axis], &outer, (first, end), &mut |cx, at| {
                let matrix: Vec<Stream> = at[1..]
                    .iter()
                    .zip(streams)
                    .map(|(p, s)| Stream { data: *p, strides: s.strides[self.axis..].to_vec() })
                    .collect();
                let up = cx.b.bin_imm(Op::Iadd, columns, COLUMNS - 1);
                let groups = cx.b.bin_imm(Op::Sshr, up, COLUMNS.trailing_zeros().into());
                let zero = cx.b.i64(0);
                self.groups(cx, e, (zero, groups), (rows, columns), at[0], &matrix)
            })
        })
    }

    /// Groups of columns, one after the other.
    fn groups(
        self,
        cx: &mut LowerCx<'_>,
        e: &Elements,
        (first, end): (Value, Value),
        (rows, columns): (Value, Value),
        out: Value,
        streams: &[Stream],
    ) -> Result<()> {
        let Some(put) = self.put() else { return Ok(()) };
        let count = cx.b.bin(Op::Isub, end, first);
        let item = self.acc.itemsize();
        let sums = cx.b.slot_addr((COLUMNS * item) as u32);
        cx.for_range(count, &[], |cx, i, _| {
            let group = cx.b.bin(Op::Iadd, first, i);
            let at = cx.b.bin_imm(Op::Imul, group, COLUMNS);
            let (left, most) = (cx.b.bin(Op::Isub, columns, at), cx.b.i64(COLUMNS));
            let width = cx.b.bin(Op::Smin, left, most);
            let here: Vec<Stream> = streams
                .iter()
                .map(|s| {
                    let off = cx.b.bin(Op::Imul, at, s.strides[1]);
                    Stream { data: cx.b.ptr_add(s.data, off), strides: s.strides.clone() }
                })
                .collect();
            let place = |cx: &mut LowerCx<'_>, base: Value, j: Value| {
                let off = cx.b.bin_imm(Op::Imul, j, item);
                cx.b.ptr_add(base, off)
            };
            cx.for_range(width, &[], |cx, j, _| {
                let x = self.start(cx, e, put, &here, j)?;
                let p = place(cx, sums, j);
                cx.b.store(x, p, 0, Alias::Stack);
                Ok(vec![])
            })?;
            cx.for_range_polling(rows, &[], |cx, i, _| {
                let row: Vec<Stream> = here
                    .iter()
                    .map(|s| {
                        let off = cx.b.bin(Op::Imul, i, s.strides[0]);
                        Stream { data: cx.b.ptr_add(s.data, off), strides: vec![s.strides[1]] }
                    })
                    .collect();
                cx.for_range(width, &[], |cx, j, _| {
                    let p = place(cx, sums, j);
                    let at = Stream::at(&row, cx, j);
                    let x = e.element(cx, &at)?;
                    let x = cast::cast(cx, &x, e.dtype, self.taken(e))?;
                    let ty = self.ty();
                    let so_far = cx.b.load(ty, p, 0, Alias::Stack);
                    let next = self.next(cx, put, so_far, &x);
                    cx.b.store(next, p, 0, Alias::Stack);
                    Ok(vec![])
                })?;
                Ok(vec![])
            })?;
            let to = {
                let off = cx.b.bin_imm(Op::Imul, at, item);
                cx.b.ptr_add(out, off)
            };
            cx.for_range(width, &[], |cx, j, _| {
                let (p, q) = (place(cx, sums, j), place(cx, to, j));
                let x = cx.b.load(self.ty(), p, 0, Alias::Stack);
                cx.b.store(x, q, 0, Alias::Array);
                Ok(vec![])
            })?;
            Ok(vec![])
        })?;
        Ok(())
    }

    fn ty(self) -> Ty {
        self.acc.scalar_ty().unwrap_or(Ty::I64)
    }

    /// What an element is converted to.
    fn taken(self, e: &Elements) -> Type {
        if let ChainReduction::InLoop(_, ty) = self.how { ty } else { e.dtype }
    }

    /// What a column begins with.
    fn start(
        self,
        cx: &mut LowerCx<'_>,
        e: &Elements,
        put: Put,
        streams: &[Stream],
        column: Value,
    ) -> Result<Value> {
        let number = |cx: &mut LowerCx<'_>, x: f64| {
            if self.acc.itemsize() == 4 { cx.b.f32(x as f32) } else { cx.b.f64(x) }
        };
        Ok(match put {
            Put::Add => number(cx, 0.0),
            Put::Multiply => number(cx, 1.0),
            Put::InLoop(what) => what.start(cx),
            Put::Smaller | Put::Larger => {
                let at: Vec<Value> = streams
                    .iter()
                    .map(|s| {
                        let off = cx.b.bin(Op::Imul, column, s.strides[1]);
                        cx.b.ptr_add(s.data, off)
                    })
                    .collect();
                e.element(cx, &at)?[0]
            }
        })
    }

    fn next(self, cx: &mut LowerCx<'_>, put: Put, so_far: Value, x: &[Value]) -> Value {
        let float = cx.b.ty(so_far).is_float();
        let signed = matches!(*self.acc, Kind::Int(i) if i.signed());
        let op = match (put, float) {
            (Put::Add, _) => return cx.b.bin(Op::Fadd, so_far, x[0]),
            (Put::Multiply, _) => return cx.b.bin(Op::Fmul, so_far, x[0]),
            (Put::InLoop(what), _) => return what.put(cx, so_far, x),
            (Put::Smaller, true) => Op::FcmpLt,
            (Put::Larger, true) => Op::FcmpGt,
            (Put::Smaller | Put::Larger, false) => {
                if signed {
                    Op::IcmpSlt
                } else {
                    Op::IcmpUlt
                }
            }
        };
        let mut wins = if matches!(put, Put::Larger) && !float {
            cx.b.bin(op, so_far, x[0])
        } else {
            cx.b.bin(op, x[0], so_far)
        };
        if float {
            let nan = cx.b.bin(Op::FcmpUno, x[0], x[0]);
            wins = cx.or(wins, nan);
        }
        cx.b.select(wins, x[0], so_far)
    }
}

/// Whether all arrays of a chain lie as its result would, in C order and without stretching; none when that
/// is known, and an error of false when it is known that they do not.
pub(crate) fn alike(cx: &mut LowerCx<'_>, e: &Elements) -> std::result::Result<Option<Value>, ()> {
    if e.lazy.arrays.iter().any(|a: &ArrayVal| a.shape.len() != e.shape.len() || a.ty.layout != Layout::C) {
        return Err(());
    }
    Ok(super::arrays::same_shapes(cx, &e.shape, &e.lazy.arrays))
}
