//! `a[m] = b[m] * 2 + a[m]` is a loop over all elements that computes and writes where the mask says so: what
//! is chosen in the same way everywhere need not be put together first, for elementwise operations do the
//! same to the chosen elements of arrays as to the arrays. Each `x[m]` becomes all of `x` (a view, whose
//! making checks the mask), the operations are done with these, and [`fancy::PUT`] writes what the mask
//! chooses.

use super::fuse::{Pass, assigns, is_slow, step};
use crate::ops::fancy::{CHOSEN, PART, PUT};
use crate::ops::{Body, OpDef, id, ufunc};
use crate::ssa::{Block, Func, Inst, InstNode, Op, Value};
use crate::types::{Const, Layout, Type};
use crate::typing::Arg;
use std::collections::HashMap;

/// Operations between what is read and what is written; with more, computing them for elements that are not
/// chosen costs too much.
const MOST: usize = 6;

/// What a chain of chosen elements consists of, in the order of the block.
struct Chain {
    mask: Value,
    parts: Vec<Inst>,
    steps: Vec<Inst>,
}

impl Pass<'_, '_> {
    /// Rewrites what a block writes through masks.
    pub(crate) fn masks(&mut self, b: Block) {
        for root in self.func.block(b).insts.clone() {
            let Some(chain) = self.chosen(b, root) else { continue };
            let Some(types) = self.types_of_all(&chain) else { continue };
            self.unchoose(b, root, &chain, &types);
            self.recount();
        }
    }

    /// The chain that an assignment through a mask ends, if all of it may move to the assignment.
    fn chosen(&mut self, b: Block, root: Inst) -> Option<Chain> {
        let node = self.func.inst(root);
        let (mask, value, ndim) = assigns(self.func, node)?;
        let mut chain = Chain { mask, parts: vec![], steps: vec![] };
        self.collect(value, 1, ndim, &mut chain)?;
        if chain.parts.is_empty() {
            return None;
        }
        let insts = &self.func.block(b).insts;
        let place = |i: &Inst| insts.iter().position(|k| k == i);
        let (first, last) = (
            chain
                .parts
                .iter()
                .chain(&chain.steps)
                .map(place)
                .collect::<Option<Vec<_>>>()?
                .into_iter()
                .min()?,
            place(&root)?,
        );
        let between: Vec<InstNode> = insts[first..last]
            .iter()
            .filter(|i| !chain.steps.contains(i))
            .map(|i| self.func.inst(*i).clone())
            .collect();
        // A handler sees nothing of the chain, but what others write must be there, and the mask before it is
        // read.
        if between.iter().any(|n| self.writes(n)) {
            return None;
        }
        let insts = &self.func.block(b).insts;
        let place = |i: &Inst| insts.iter().position(|k| k == i);
        chain.parts.sort_by_key(place);
        chain.steps.sort_by_key(place);
        Some(chain)
    }

    /// Takes what makes a value into the chain; none where that cannot be.
    fn collect(&self, v: Value, reads: u32, ndim: u8, chain: &mut Chain) -> Option<()> {
        let func = &*self.func;
        let i = *self.defs.get(&v)?;
        let node = func.inst(i);
        let Op::Apply(op) = node.op else { return None };
        if self.uses[v.index()] != reads || chain.steps.len() >= MOST {
            return None;
        }
        if op.is(id::GETITEM) {
            let x = func.types[node.args[0].index()].as_array()?;
            if node.args[1] != chain.mask || x.ndim != ndim || x.dtype.is_complex() {
                return None;
            }
            chain.parts.push(i);
            return Some(());
        }
        let own = self.computes(op, node)?;
        chain.steps.push(i);
        for (k, a) in node.args[..ufunc::inputs(op)].iter().enumerate() {
            if func.types[a.index()].as_array().is_none() {
                continue;
            }
            self.collect(*a, if own && k == 0 { 2 } else { 1 }, ndim, chain)?;
        }
        Some(())
    }

    /// Whether an operation is elementwise, costs little and never fails; if so, whether it writes to its
    /// first operand.
    fn computes(&self, op: &'static OpDef, node: &InstNode) -> Option<bool> {
        let (Body::Ufunc(..), false) = (op.body, op.converts || is_slow(op)) else { return None };
        let n = ufunc::inputs(op);
        if step(self.func, node).is_some() {
            return Some(false);
        }
        // `v += x`, where the elements are floats and cannot raise.
        let float = self.func.types[node.result?.index()].as_array()?.dtype.is_float();
        (node.args.len() == n + 1
            && op.spec().params.len() == n + 1
            && node.args[n] == node.args[0]
            && float
            && node.args[..n].iter().all(|a| {
                let t = self.func.types[a.index()];
                t.as_array().is_some() || t.is_number()
            }))
        .then_some(true)
    }

    /// Types of the chain's results as arrays of all elements; none where one would have another element
    /// type.
    fn types_of_all(&self, chain: &Chain) -> Option<HashMap<Value, Type>> {
        let func = &*self.func;
        let mut types = HashMap::new();
        for i in &chain.parts {
            types.insert(func.inst(*i).result?, func.types[func.inst(*i).args[0].index()]);
        }
        for i in &chain.steps {
            let node = func.inst(*i);
            let (Op::Apply(op), Some(result)) = (&node.op, node.result) else { return None };
            let Body::Ufunc(rule, _) = op.body else { return None };
            let mut args: Vec<Arg> = node.args[..ufunc::inputs(op)]
                .iter()
                .map(|a| Arg::of(types.get(a).copied().unwrap_or(func.types[a.index()])))
                .collect();
            if op.spec().params.len() > args.len() {
                args.push(Arg::of(Type::none()));
            }
            let made = ufunc::type_call(op, rule, &args).ok()?.ret;
            if made.as_array()?.dtype != func.types[result.index()].as_array()?.dtype {
                return None;
            }
            types.insert(result, made);
        }
        Some(types)
    }

    /// Puts arrays of all elements in the place of chosen ones, and an assignment that chooses in that of the
    /// one at the end.
    fn unchoose(&mut self, b: Block, root: Inst, chain: &Chain, types: &HashMap<Value, Type>) {
        let shape_of = |func: &Func| {
            Type::tuple(vec![Type::int(); func.types[chain.mask.index()].as_array().map_or(0, |a| a.ndim())])
        };
        for i in &chain.parts {
            let node = self.func.inst(*i).clone();
            let ty = shape_of(self.func);
            let shape =
                self.add(b, *i, Op::Apply(crate::ops::array::shape_of()), vec![chain.mask], ty, &node);
            self.func.insts[i.index()] =
                InstNode { op: Op::Apply(&PART), args: vec![node.args[0], shape], ..node };
        }
        for i in &chain.steps {
            let Op::Apply(op) = self.func.inst(*i).op else { continue };
            let n = ufunc::inputs(op);
            if self.func.inst(*i).args.len() == n {
                continue;
            }
            let node = self.func.inst(*i).clone();
            let none = self.add(b, *i, Op::Const(Const::None), vec![], Type::none(), &node);
            self.func.insts[i.index()].args[n] = none;
        }
        for (v, t) in types {
            self.func.types[v.index()] = *t;
        }
        let node = self.func.inst(root).clone();
        let (value, mask) = (self.func.types[node.args[2].index()], self.func.types[chain.mask.index()]);
        let (Some(value), Some(mask)) = (value.as_array(), mask.as_array()) else { return };
        let layout = if value.layout == Layout::F && mask.layout == Layout::F && mask.ndim > 1 {
            Layout::F
        } else {
            Layout::C
        };
        let chosen = self.add(
            b,
            root,
            Op::Apply(&CHOSEN),
            vec![chain.mask, node.args[2]],
            Type::array(value.dtype, value.ndim(), layout),
            &node,
        );
        self.func.insts[root.index()] =
            InstNode { op: Op::Apply(&PUT), args: vec![node.args[0], chosen], ..node };
    }

    /// A new instruction in front of another.
    pub(crate) fn add(
        &mut self,
        b: Block,
        before: Inst,
        op: Op,
        args: Vec<Value>,
        ty: Type,
        like: &InstNode,
    ) -> Value {
        let v = self.func.make_value();
        self.func.types.push(ty);
        let unwind = if op.never_raises() { None } else { like.unwind.clone() };
        self.func.insts.push(InstNode { op, args, result: Some(v), loc: like.loc, unwind });
        let made = Inst::new(self.func.insts.len() - 1);
        let insts = &mut self.func.blocks[b.index()].insts;
        let at = insts.iter().position(|i| *i == before).unwrap_or(insts.len());
        insts.insert(at, made);
        v
    }
}
