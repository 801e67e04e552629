//! Elements that are yet to be computed: a chain of elementwise operations as whoever takes its result sees
//! it. What is in the middle of the chain is never in memory.

use super::arrays::{ArrayVal, Stream, elementwise, load_element, same_shapes, store_element};
use super::cast;
use super::cx::{Emit, LowerCx, OpCall, Val};
use crate::diag::{Diagnostic, Result};
use crate::lir::Value;
use crate::ops::kernel::Map;
use crate::types::{Const, Layout, Type};

/// What a step reads: a number, the element of an array, what an earlier step gave.
#[derive(Clone)]
pub enum Operand {
    Scalar(Val),
    Array(usize),
    Step(usize),
}

/// One operation on elements.
#[derive(Clone)]
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
pub struct Lazy {
    pub arrays: Vec<ArrayVal>,
    pub steps: Vec<Step>,
}

/// A chain and the array that its last step would make.
pub struct Elements {
    pub lazy: Lazy,
    pub shape: Vec<Value>,
    pub dtype: Type,
    pub layout: Layout,
    /// An array that is to hold them afterwards, whatever is done with them.
    pub kept: Option<ArrayVal>,
}

impl Lazy {
    /// The place of an array among those that are read.
    pub(crate) fn read(&mut self, a: ArrayVal) -> usize {
        let same = |b: &ArrayVal| {
            (a.data, &a.shape, &a.strides, a.ty.dtype) == (b.data, &b.shape, &b.strides, b.ty.dtype)
        };
        if let Some(k) = self.arrays.iter().position(same) {
            return k;
        }
        self.arrays.push(a);
        self.arrays.len() - 1
    }

    /// The arrays as streams with one level, if that may read their elements in the order in which a result
    /// of that shape and layout lies in memory; it does where the second result holds, or always where there
    /// is none.
    pub(crate) fn streams(
        &self,
        cx: &mut LowerCx<'_>,
        shape: &[Value],
        layout: Layout,
    ) -> Option<(Vec<Stream>, Option<Value>)> {
        if self
            .arrays
            .iter()
            .any(|a| a.shape.len() != shape.len() || shape.len() > 1 && a.ty.layout != layout)
        {
            return None;
        }
        let streams = self
            .arrays
            .iter()
            .map(|a| Stream {
                data: a.data,
                strides: vec![if shape.len() == 1 { a.strides[0] } else { cx.b.i64(a.ty.itemsize()) }],
            })
            .collect();
        Some((streams, same_shapes(cx, shape, &self.arrays)))
    }

    /// About how many simple operations an element is.
    pub(crate) fn cost(&self) -> i64 {
        self.steps.iter().map(|s| s.cost).sum::<i64>().max(1)
    }

    /// What each step gives for one element, before it is converted to the type of its array, from the
    /// addresses of the arrays' elements.
    pub(crate) fn compute(&self, cx: &mut LowerCx<'_>, at: &[Value]) -> Result<Vec<Val>> {
        let mut loaded: Vec<Option<Val>> = vec![None; self.arrays.len()];
        let mut done: Vec<Val> = vec![];
        let mut converted: Vec<Option<Val>> = vec![None; self.steps.len()];
        for step in &self.steps {
            let mut vals = vec![];
            for (o, want) in step.operands.iter().zip(&step.types) {
                vals.push(match o {
                    Operand::Scalar(v) => v.clone(),
                    Operand::Array(k) => {
                        let dtype = self.arrays[*k].ty.dtype;
                        let v = match &loaded[*k] {
                            Some(v) => v.clone(),
                            None => load_element(cx, at[*k], dtype),
                        };
                        loaded[*k] = Some(v.clone());
                        cast::cast(cx, &v, dtype, *want)?
                    }
                    Operand::Step(k) => {
                        let before = &self.steps[*k];
                        let v = match &converted[*k] {
                            Some(v) => v.clone(),
                            None => cast::cast(cx, &done[*k], before.ret, before.dtype)?,
                        };
                        converted[*k] = Some(v.clone());
                        cast::cast(cx, &v, before.dtype, *want)?
                    }
                });
            }
            done.push((step.emit)(
                cx,
                &OpCall {
                    args: &vals,
                    types: &step.types,
                    consts: &step.consts,
                    ret: step.ret,
                    elementwise: true,
                },
            )?);
        }
        Ok(done)
    }

    /// The chain that ends in step `last`: what that one needs, directly or not.
    pub(crate) fn up_to(&self, last: usize) -> Lazy {
        let mut needed = vec![false; last + 1];
        needed[last] = true;
        let mut at = last + 1;
        while at > 0 {
            at -= 1;
            if !needed[at] {
                continue;
            }
            for o in &self.steps[at].operands {
                if let Operand::Step(k) = o {
                    needed[*k] = true;
                }
            }
        }
        let mut out = Lazy::default();
        let mut place = vec![0; last + 1];
        for (k, step) in self.steps[..=last].iter().enumerate().filter(|(k, _)| needed[*k]) {
            let operands = step
                .operands
                .iter()
                .map(|o| match o {
                    Operand::Array(a) => Operand::Array(out.read(self.arrays[*a].clone())),
                    Operand::Step(j) => Operand::Step(place[*j]),
                    Operand::Scalar(v) => Operand::Scalar(v.clone()),
                })
                .collect();
            place[k] = out.steps.len();
            out.steps.push(Step { operands, ..step.clone() });
        }
        out
    }

    /// One element: what the last step gives, from the addresses of the arrays' elements.
    pub(crate) fn element(&self, cx: &mut LowerCx<'_>, at: &[Value]) -> Result<Val> {
        self.compute(cx, at)?.pop().ok_or_else(|| Diagnostic::internal("a chain without steps"))
    }

    /// New arrays of what some steps give, each with its shape: in one loop where they have the same one.
    pub(crate) fn arrays(
        &self,
        cx: &mut LowerCx<'_>,
        wanted: &[(usize, Vec<Value>, Layout)],
    ) -> Result<Vec<ArrayVal>> {
        let mut made: Vec<ArrayVal> = vec![];
        for (k, shape, layout) in wanted {
            let owners: Vec<Value> = made.iter().map(|a| a.owner).collect();
            made.push(
                cx.guarded(&owners, |cx| ArrayVal::alloc(cx, self.steps[*k].dtype, shape, *layout, false))?,
            );
        }
        let owners: Vec<Value> = made.iter().map(|a| a.owner).collect();
        let store = |cx: &mut LowerCx<'_>, p: Value, done: &[Val], k: usize| {
            let step = &self.steps[k];
            let v = cast::cast(cx, &done[k], step.ret, step.dtype)?;
            store_element(cx, p, step.dtype, &v);
            Ok(())
        };
        let together = |cx: &mut LowerCx<'_>| {
            let all: Vec<ArrayVal> = self.arrays.iter().chain(&made[1..]).cloned().collect();
            elementwise(cx, &made[0], &all, self.cost(), &mut |cx, p, at| {
                let (read, to) = at.split_at(self.arrays.len());
                let done = self.compute(cx, read)?;
                for (p, (k, ..)) in std::iter::once(&p).chain(to).zip(wanted) {
                    store(cx, *p, &done, *k)?;
                }
                Ok(())
            })
        };
        let apart = |cx: &mut LowerCx<'_>| {
            for (out, (k, ..)) in made.iter().zip(wanted) {
                elementwise(cx, out, &self.arrays, self.cost(), &mut |cx, p, at| {
                    let done = self.compute(cx, at)?;
                    store(cx, p, &done, *k)
                })?;
            }
            Ok(())
        };
        let same = same_shapes(cx, &made[0].shape, &made[1..]);
        cx.guarded(&owners, |cx| match same {
            None => together(cx),
            Some(same) => cx
                .if_else(same, |cx| together(cx).map(|()| vec![]), |cx| apart(cx).map(|()| vec![]))
                .map(|_| ()),
        })?;
        Ok(made)
    }
}

impl Elements {
    /// One element, in its type.
    pub(crate) fn element(&self, cx: &mut LowerCx<'_>, at: &[Value]) -> Result<Val> {
        let ret = self.lazy.steps.last().map_or(self.dtype, |s| s.ret);
        let v = self.lazy.element(cx, at)?;
        cast::cast(cx, &v, ret, self.dtype)
    }

    /// A new array of the elements, or the one that is to hold them.
    pub(crate) fn array(&self, cx: &mut LowerCx<'_>) -> Result<ArrayVal> {
        let out = match &self.kept {
            Some(kept) => kept.clone(),
            None => ArrayVal::alloc(cx, self.dtype, &self.shape, self.layout, false)?,
        };
        let own: Vec<Value> = if self.kept.is_some() { vec![] } else { vec![out.owner] };
        cx.guarded(&own, |cx| {
            elementwise(cx, &out, &self.lazy.arrays, self.lazy.cost(), &mut |cx, p, at| {
                let v = self.element(cx, at)?;
                store_element(cx, p, self.dtype, &v);
                Ok(())
            })
        })?;
        Ok(out)
    }
}
