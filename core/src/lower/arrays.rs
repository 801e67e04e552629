//! Arrays in LIR: exploded views, element addresses, allocation, loops over all elements.

use super::cx::{LowerCx, Val};
use crate::diag::{Diagnostic, Result};
use crate::lir::{Alias, Op, Ty, Value};
use crate::offset;
use crate::ops::object;
use crate::types::{ArrayType, Kind, Layout, Type};

/// An exploded array: every stride is at hand, computed from the shape where the type implies it.
#[derive(Clone, Debug)]
pub struct ArrayVal { pub ty: ArrayType, pub owner: Value, pub data: Value, pub shape: Vec<Value>, pub strides: Vec<Value> }

impl ArrayVal {
    /// From the machine values of a value of array type.
    pub fn new(cx: &mut LowerCx<'_>, val: &[Value], ty: Type) -> Result<ArrayVal> {
        let Kind::Array(a) = *ty else { return Err(Diagnostic::internal(format!("{ty} is no array"))) };
        let n = a.ndim();
        let shape = val[2..2 + n].to_vec();
        let strides = if a.layout == Layout::A { val[2 + n..2 + 2 * n].to_vec() } else { contiguous_strides(cx, &shape, a.itemsize(), a.layout) };
        Ok(ArrayVal { ty: a, owner: val[0], data: val[1], shape, strides })
    }

    /// Machine values in the order of the type's leaves.
    pub fn pack(&self) -> Val {
        if self.ty.layout == Layout::A { return self.pack_strided(); }
        [self.owner, self.data].into_iter().chain(self.shape.iter().copied()).collect()
    }
    /// Machine values for layout `A`.
    pub fn pack_strided(&self) -> Val { [self.owner, self.data].into_iter().chain(self.shape.iter().copied()).chain(self.strides.iter().copied()).collect() }

    /// Address of the element at in-range, non-negative indices; fewer indices than dimensions give the start of a sub-array.
    pub fn address(&self, cx: &mut LowerCx<'_>, index: &[Value]) -> Value {
        let mut p = self.data;
        for (i, s) in index.iter().zip(&self.strides) {
            let off = cx.b.bin(Op::Imul, *i, *s);
            p = cx.b.ptr_add(p, off);
        }
        p
    }

    pub fn load(&self, cx: &mut LowerCx<'_>, index: &[Value]) -> Val {
        let p = self.address(cx, index);
        load_element(cx, p, self.ty.dtype)
    }
    pub fn store(&self, cx: &mut LowerCx<'_>, index: &[Value], val: &[Value]) {
        let p = self.address(cx, index);
        store_element(cx, p, self.ty.dtype, val);
    }

    /// Number of elements.
    pub fn size(&self, cx: &mut LowerCx<'_>) -> Value { product(cx, &self.shape) }

    /// A new array, uninitialised or zeroed; ValueError for a negative member of the shape, MemoryError when it is too large.
    pub fn alloc(cx: &mut LowerCx<'_>, dtype: Type, shape: &[Value], layout: Layout, zeroed: bool) -> Result<ArrayVal> {
        let Kind::Array(ty) = *Type::array(dtype, shape.len(), layout) else { return Err(Diagnostic::internal("array type")) };
        let spilled = cx.spill(shape);
        let (n, item) = (cx.b.i64(shape.len() as i64), cx.b.i64(ty.itemsize()));
        let bytes = cx.helper_value(&object::mem_array_bytes, &[n, spilled, item]);
        let owner = cx.helper_value(if zeroed { &object::mem_alloc_zeroed } else { &object::mem_alloc }, &[bytes]);
        let data = cx.b.load(Ty::Ptr, owner, offset!(MemBlock.data), Alias::Const);
        let strides = contiguous_strides(cx, shape, ty.itemsize(), ty.layout);
        Ok(ArrayVal { ty, owner, data, shape: shape.to_vec(), strides })
    }

    /// Runs `body` for the index of every element, in C order.
    pub fn for_each(&self, cx: &mut LowerCx<'_>, body: &mut dyn FnMut(&mut LowerCx<'_>, &[Value]) -> Result<()>) -> Result<()> {
        for_each_index(cx, &self.shape.clone(), body)
    }
}

/// Nested loops over all indices of a shape, in C order.
pub fn for_each_index(cx: &mut LowerCx<'_>, shape: &[Value], body: &mut dyn FnMut(&mut LowerCx<'_>, &[Value]) -> Result<()>) -> Result<()> {
    fn nest(cx: &mut LowerCx<'_>, shape: &[Value], index: &mut Vec<Value>, body: &mut dyn FnMut(&mut LowerCx<'_>, &[Value]) -> Result<()>) -> Result<()> {
        let Some(n) = shape.get(index.len()) else { return body(cx, index) };
        cx.for_range(*n, &[], |cx, i, _| {
            index.push(i);
            nest(cx, shape, index, body)?;
            index.pop();
            Ok(vec![])
        })?;
        Ok(())
    }
    nest(cx, shape, &mut vec![], body)
}

pub fn product(cx: &mut LowerCx<'_>, shape: &[Value]) -> Value {
    match shape.split_first() {
        None => cx.b.i64(1),
        Some((first, rest)) => rest.iter().fold(*first, |p, n| cx.b.bin(Op::Imul, p, *n)),
    }
}

/// Strides of a contiguous array in bytes.
pub fn contiguous_strides(cx: &mut LowerCx<'_>, shape: &[Value], itemsize: i64, layout: Layout) -> Vec<Value> {
    let mut strides = vec![];
    let mut step = cx.b.i64(itemsize);
    let mut dims: Vec<Value> = shape.to_vec();
    if layout != Layout::F { dims.reverse(); }
    for n in &dims {
        strides.push(step);
        if strides.len() < dims.len() { step = cx.b.bin(Op::Imul, step, *n); }
    }
    if layout != Layout::F { strides.reverse(); }
    strides
}

/// Loads an element of a scalar type.
pub fn load_element(cx: &mut LowerCx<'_>, p: Value, dtype: Type) -> Val {
    element_parts(dtype).into_iter().map(|(ty, off)| cx.b.load(ty, p, off, Alias::Array)).collect()
}
pub fn store_element(cx: &mut LowerCx<'_>, p: Value, dtype: Type, val: &[Value]) {
    for ((_, off), v) in element_parts(dtype).into_iter().zip(val) { cx.b.store(*v, p, off, Alias::Array); }
}
fn element_parts(dtype: Type) -> Vec<(Ty, i32)> {
    match *dtype {
        Kind::Complex(f) => if f.bits() == 32 { vec![(Ty::F32, 0), (Ty::F32, 4)] } else { vec![(Ty::F64, 0), (Ty::F64, 8)] },
        _ => vec![(dtype.scalar_ty().unwrap_or(Ty::I64), 0)],
    }
}
