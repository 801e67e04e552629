//! Arrays as values of LIR: exploded views, element addresses, elements in memory, allocation.

use super::cx::{LowerCx, Val};
use crate::diag::{Diagnostic, Result};
use crate::lir::{Alias, Op, Ty, Value};
use crate::offset;
use crate::ops::object;
use crate::types::record::RecordField;
use crate::types::{Access, ArrayType, Kind, Layout, Type};

/// An exploded array: every stride is at hand, computed from the shape where the type implies it.
#[derive(Clone, Debug)]
pub struct ArrayVal {
    pub ty: ArrayType,
    pub owner: Value,
    pub data: Value,
    pub shape: Vec<Value>,
    pub strides: Vec<Value>,
    /// Whether it is read-only, where the type leaves that open.
    pub frozen: Option<Value>,
}

impl ArrayVal {
    /// From the machine values of a value of array type.
    pub(crate) fn new(cx: &mut LowerCx<'_>, val: &[Value], ty: Type) -> Result<ArrayVal> {
        let Kind::Array(a) = *ty else { return Err(Diagnostic::internal(format!("{ty} is no array"))) };
        let n = a.ndim();
        let shape = val[2..2 + n].to_vec();
        let strides = if a.layout == Layout::A {
            val[2 + n..2 + 2 * n].to_vec()
        } else {
            contiguous_strides(cx, &shape, a.itemsize(), a.layout)
        };
        let flag = 2 + if a.layout == Layout::A { 2 * n } else { n };
        let frozen = if a.access == Access::Either { Some(val[flag]) } else { None };
        Ok(ArrayVal { ty: a, owner: val[0], data: val[1], shape, strides, frozen })
    }

    /// Machine values in the order of the type's leaves.
    pub(crate) fn pack(&self) -> Val {
        if self.ty.layout == Layout::A {
            return self.pack_strided();
        }
        [self.owner, self.data].into_iter().chain(self.shape.iter().copied()).chain(self.flag()).collect()
    }
    /// Machine values for layout `A`.
    pub(crate) fn pack_strided(&self) -> Val {
        [self.owner, self.data]
            .into_iter()
            .chain(self.shape.iter().copied())
            .chain(self.strides.iter().copied())
            .chain(self.flag())
            .collect()
    }
    fn flag(&self) -> Option<Value> {
        self.frozen.filter(|_| self.ty.access == Access::Either)
    }

    /// Address of the element at in-range, non-negative indices; fewer indices than dimensions give the start
    /// of a sub-array.
    pub(crate) fn address(&self, cx: &mut LowerCx<'_>, index: &[Value]) -> Value {
        let mut p = self.data;
        for (i, s) in index.iter().zip(&self.strides) {
            let off = cx.b.bin(Op::Imul, *i, *s);
            p = cx.b.ptr_add(p, off);
        }
        p
    }

    pub(crate) fn load(&self, cx: &mut LowerCx<'_>, index: &[Value]) -> Val {
        let p = self.address(cx, index);
        load_element(cx, p, self.ty.dtype)
    }
    pub(crate) fn store(&self, cx: &mut LowerCx<'_>, index: &[Value], val: &[Value]) {
        let p = self.address(cx, index);
        store_element(cx, p, self.ty.dtype, val);
    }

    /// Number of elements.
    pub(crate) fn size(&self, cx: &mut LowerCx<'_>) -> Value {
        product(cx, &self.shape)
    }

    /// A new array, uninitialised or zeroed; ValueError for a negative member of the shape, MemoryError when
    /// it is too large.
    pub(crate) fn alloc(
        cx: &mut LowerCx<'_>,
        dtype: Type,
        shape: &[Value],
        layout: Layout,
        zeroed: bool,
    ) -> Result<ArrayVal> {
        let Kind::Array(ty) = *Type::array(dtype, shape.len(), layout) else {
            return Err(Diagnostic::internal("array type"));
        };
        let bytes = array_bytes(cx, shape, ty.itemsize());
        let owner =
            cx.helper_value(if zeroed { &object::mem_alloc_zeroed } else { &object::mem_alloc }, &[bytes]);
        let data = cx.b.load(Ty::Ptr, owner, offset!(MemBlock.data), Alias::Const);
        // A negative one has raised.
        for n in shape {
            cx.assume_not_negative(*n);
        }
        let strides = contiguous_strides(cx, shape, ty.itemsize(), ty.layout);
        Ok(ArrayVal { ty, owner, data, shape: shape.to_vec(), strides, frozen: None })
    }

    /// The same elements under another layout type; strides stay as they are.
    pub(crate) fn with_layout(&self, layout: Layout) -> ArrayVal {
        ArrayVal { ty: ArrayType { layout, ..self.ty }, ..self.clone() }
    }

    /// The address of every element in C order, and nothing that the loop has to compute for it but
    /// additions.
    pub(crate) fn stream(&self) -> Stream {
        Stream { data: self.data, strides: self.strides.clone() }
    }

    /// Whether the elements lie without gaps in that order, as NumPy's flags say: dimensions of length 1 and
    /// empty arrays do not count.
    pub(crate) fn is_contiguous(&self, cx: &mut LowerCx<'_>, order: Layout) -> Value {
        if self.ty.layout == order || self.shape.is_empty() {
            return cx.b.bool(true);
        }
        let mut step = cx.b.i64(self.ty.itemsize());
        let mut fits = cx.b.bool(true);
        let dims: Vec<usize> = if order == Layout::F {
            (0..self.shape.len()).collect()
        } else {
            (0..self.shape.len()).rev().collect()
        };
        for (i, d) in dims.iter().enumerate() {
            let exact = cx.b.bin(Op::IcmpEq, self.strides[*d], step);
            let one = cx.b.bin_imm(Op::IcmpEq, self.shape[*d], 1);
            let ok = cx.or(exact, one);
            fits = cx.and(fits, ok);
            if i + 1 < dims.len() {
                step = cx.b.bin(Op::Imul, step, self.shape[*d]);
            }
        }
        let size = self.size(cx);
        let empty = cx.b.bin_imm(Op::IcmpEq, size, 0);
        cx.or(fits, empty)
    }
}

/// An array in a loop: the address of its first element and a stride for each level of the loop.
#[derive(Clone, Debug)]
pub(crate) struct Stream {
    pub data: Value,
    pub strides: Vec<Value>,
}

impl Stream {
    /// The address of element `i` of each of some streams with one level.
    pub(crate) fn at(streams: &[Stream], cx: &mut LowerCx<'_>, i: Value) -> Vec<Value> {
        streams
            .iter()
            .map(|s| {
                let off = cx.b.bin(Op::Imul, i, s.strides[0]);
                cx.b.ptr_add(s.data, off)
            })
            .collect()
    }
}

pub(crate) fn product(cx: &mut LowerCx<'_>, shape: &[Value]) -> Value {
    match shape.split_first() {
        None => cx.b.i64(1),
        Some((first, rest)) => rest.iter().fold(*first, |p, n| cx.b.bin(Op::Imul, p, *n)),
    }
}

/// Bytes of an array. Ordinary lengths of one or two dimensions are multiplied here; the run-time says what is
/// wrong with others.
fn array_bytes(cx: &mut LowerCx<'_>, shape: &[Value], itemsize: i64) -> Value {
    // Such products stay below 2^62.
    let limit = match shape.len() {
        1 => 1 << 56,
        2 => 1 << 28,
        _ => 0,
    };
    let ordinary = limit > 0 && itemsize <= 64 && cx.options.platform.slow_ways();
    if !ordinary {
        return asked_bytes(cx, shape, itemsize);
    }
    let most = cx.b.i64(limit);
    let fits: Vec<Value> = shape.iter().map(|n| cx.b.bin(Op::IcmpUlt, *n, most)).collect();
    let fits = fits.into_iter().reduce(|a, b| cx.and(a, b)).unwrap_or(most);
    let (odd, ready) = (cx.b.new_cold_block(&[]), cx.b.new_block(&[Ty::I64]));
    let count = product(cx, shape);
    let bytes = cx.b.bin_imm(Op::Imul, count, itemsize);
    cx.b.brif(fits, ready, &[bytes], odd, &[]);
    cx.b.switch_to(odd);
    let asked = asked_bytes(cx, shape, itemsize);
    cx.b.jump(ready, &[asked]);
    cx.b.switch_to(ready);
    cx.b.params(ready)[0]
}

fn asked_bytes(cx: &mut LowerCx<'_>, shape: &[Value], itemsize: i64) -> Value {
    let spilled = cx.spill(shape);
    let (n, item) = (cx.b.i64(shape.len() as i64), cx.b.i64(itemsize));
    cx.helper_value(&object::mem_array_bytes, &[n, spilled, item])
}

/// Strides of a contiguous array in bytes.
pub(crate) fn contiguous_strides(
    cx: &mut LowerCx<'_>,
    shape: &[Value],
    itemsize: i64,
    layout: Layout,
) -> Vec<Value> {
    let mut strides = vec![];
    let mut step = cx.b.i64(itemsize);
    let mut dims: Vec<Value> = shape.to_vec();
    if layout != Layout::F {
        dims.reverse();
    }
    for n in &dims {
        strides.push(step);
        if strides.len() < dims.len() {
            step = cx.b.bin(Op::Imul, step, *n);
        }
    }
    if layout != Layout::F {
        strides.reverse();
    }
    strides
}

/// Loads an element of a scalar type.
pub(crate) fn load_element(cx: &mut LowerCx<'_>, p: Value, dtype: Type) -> Val {
    element_parts(dtype).into_iter().map(|(ty, off)| cx.b.load(ty, p, off, Alias::Array)).collect()
}

pub(crate) fn store_element(cx: &mut LowerCx<'_>, p: Value, dtype: Type, val: &[Value]) {
    for ((_, off), v) in element_parts(dtype).into_iter().zip(val) {
        cx.b.store(*v, p, off, Alias::Array);
    }
}

/// The machine values of an element, with their places: of a record, those of all fields.
fn element_parts(dtype: Type) -> Vec<(Ty, i32)> {
    if let Some(records) = dtype.record() {
        if records.opaque.is_some() {
            return bytes(records.size as i32);
        }
        let of = |f: &RecordField| {
            let (parts, item) = (element_parts(f.ty), f.ty.itemsize() as i32);
            let places = (0..f.size() as i32 / item.max(1)).map(|k| f.offset as i32 + k * item);
            places
                .flat_map(|at| parts.iter().map(move |(t, k)| (*t, at + k)).collect::<Vec<_>>())
                .collect::<Vec<_>>()
        };
        records.fields.iter().flat_map(of).collect()
    } else if let Kind::Complex(f) = *dtype {
        if f.bits() == 32 { vec![(Ty::F32, 0), (Ty::F32, 4)] } else { vec![(Ty::F64, 0), (Ty::F64, 8)] }
    } else {
        vec![(dtype.scalar_ty().unwrap_or(Ty::I64), 0)]
    }
}

/// So many bytes in as few pieces as they need.
fn bytes(size: i32) -> Vec<(Ty, i32)> {
    let (mut out, mut at) = (vec![], 0);
    for (ty, width) in [(Ty::I64, 8), (Ty::I32, 4), (Ty::I16, 2), (Ty::I8, 1)] {
        while size - at >= width {
            out.push((ty, at));
            at += width;
        }
    }
    out
}
