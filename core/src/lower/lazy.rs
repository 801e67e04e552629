//! Elements that are yet to be computed: a chain of elementwise operations as whoever takes its result sees it. What is in the middle of the chain
//! is never in memory.

use super::arrays::{ArrayVal, Stream, elementwise, load_element, same_shapes, store_element};
use super::cast;
use super::cx::{LowerCx, OpCall, Val};
use crate::diag::{Diagnostic, Result};
use crate::lir::Value;
use crate::ops::Emit;
use crate::ops::kernel::Map;
use crate::types::{Const, Layout, Type};

/// What a step reads: a number, the element of an array, what an earlier step gave.
pub enum Operand { Scalar(Val), Array(usize), Step(usize) }

/// One operation on elements.
pub struct Step {
    pub operands: Vec<Operand>,
    /// What the operands are converted to, and what `emit` gives.
    pub types: Vec<Type>,
    pub ret: Type,
    pub consts: Vec<Option<Const>>,
    pub emit: Emit,
    /// Element type of the array that its result would be.
    pub dtype: Type,
    /// About how many simple operations it is.
    pub cost: i64,
    /// The kernel that does the same over contiguous memory.
    pub kernel: Option<Map>,
}

/// The arrays that a chain reads, and its steps; a step reads earlier ones only.
#[derive(Default)]
pub struct Lazy { pub arrays: Vec<ArrayVal>, pub steps: Vec<Step> }

/// A chain and the array that its last step would make.
pub struct Elements { pub lazy: Lazy, pub shape: Vec<Value>, pub dtype: Type, pub layout: Layout }

impl Lazy {
    /// The place of an array among those that are read.
    pub fn read(&mut self, a: ArrayVal) -> usize {
        let same = |b: &ArrayVal| (a.data, &a.shape, &a.strides, a.ty.dtype) == (b.data, &b.shape, &b.strides, b.ty.dtype);
        if let Some(k) = self.arrays.iter().position(same) { return k; }
        self.arrays.push(a);
        self.arrays.len() - 1
    }

    /// The arrays as streams with one level, if that may read their elements in the order in which a result of that shape and layout lies in memory; it
    /// does where the second result holds, or always where there is none.
    pub fn streams(&self, cx: &mut LowerCx<'_>, shape: &[Value], layout: Layout) -> Option<(Vec<Stream>, Option<Value>)> {
        if self.arrays.iter().any(|a| a.shape.len() != shape.len() || shape.len() > 1 && a.ty.layout != layout) { return None; }
        let streams = self.arrays.iter().map(|a| Stream { data: a.data, strides: vec![if shape.len() == 1 { a.strides[0] } else { cx.b.i64(a.ty.itemsize()) }] }).collect();
        Some((streams, same_shapes(cx, shape, &self.arrays)))
    }

    /// About how many simple operations an element is.
    pub fn cost(&self) -> i64 { self.steps.iter().map(|s| s.cost).sum::<i64>().max(1) }

    /// One element: what the last step gives, from the addresses of the arrays' elements.
    pub fn element(&self, cx: &mut LowerCx<'_>, at: &[Value]) -> Result<Val> {
        let mut loaded: Vec<Option<Val>> = vec![None; self.arrays.len()];
        let mut done: Vec<Val> = vec![];
        for (n, step) in self.steps.iter().enumerate() {
            let mut vals = vec![];
            for (o, want) in step.operands.iter().zip(&step.types) {
                vals.push(match o {
                    Operand::Scalar(v) => v.clone(),
                    Operand::Array(k) => {
                        let dtype = self.arrays[*k].ty.dtype;
                        let v = match &loaded[*k] { Some(v) => v.clone(), None => load_element(cx, at[*k], dtype) };
                        loaded[*k] = Some(v.clone());
                        cast::cast(cx, &v, dtype, *want)?
                    }
                    Operand::Step(k) => cast::cast(cx, &done[*k], self.steps[*k].dtype, *want)?,
                });
            }
            let v = (step.emit)(cx, &OpCall { args: &vals, types: &step.types, consts: &step.consts, ret: step.ret, elementwise: true })?;
            done.push(if n + 1 < self.steps.len() { cast::cast(cx, &v, step.ret, step.dtype)? } else { v });
        }
        done.pop().ok_or_else(|| Diagnostic::internal("a chain without steps"))
    }
}

impl Elements {
    /// One element, in its type.
    pub fn element(&self, cx: &mut LowerCx<'_>, at: &[Value]) -> Result<Val> {
        let ret = self.lazy.steps.last().map_or(self.dtype, |s| s.ret);
        let v = self.lazy.element(cx, at)?;
        cast::cast(cx, &v, ret, self.dtype)
    }

    /// A new array of the elements.
    pub fn array(&self, cx: &mut LowerCx<'_>) -> Result<ArrayVal> {
        let out = ArrayVal::alloc(cx, self.dtype, &self.shape, self.layout, false)?;
        cx.guarded(&[out.owner], |cx| elementwise(cx, &out, &self.lazy.arrays, self.lazy.cost(), &mut |cx, p, at| {
            let v = self.element(cx, at)?;
            store_element(cx, p, self.dtype, &v);
            Ok(())
        }))?;
        Ok(out)
    }
}
