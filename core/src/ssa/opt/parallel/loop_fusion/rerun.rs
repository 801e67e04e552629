//! After an exception of joined loops: it is raised unless one of the earlier loops, of which the plain
//! program would have run all iterations by then, raises another one.
//!
//! The earlier loops run again as plain ones, in their order. That gives what it gave the first time, since
//! what they read they have not written, or an earlier one of them writes it anew.

use super::Found;
use crate::ops::id;
use crate::ssa::analysis::Definitions;
use crate::ssa::{Block, BlockCall, Func, Inst, InstNode, Op, Term, Value};
use std::collections::HashMap;

/// Writes the handler; it takes the exception.
pub(crate) fn write(func: &mut Func, earlier: &[&Found]) -> Block {
    let handler = func.make_block();
    let exc = func.add_param(handler);
    let loc = earlier[0].loc;
    // Who asks for it to end waits for nothing.
    let class = func.push(handler, Op::Global("KeyboardInterrupt".into()), vec![], loc, None);
    let asked = func.push(handler, Op::Table(id::EXC_MATCHES), vec![exc, class], loc, None);
    let raise = func.make_block();
    (func.blocks[raise.index()].term, func.blocks[raise.index()].term_loc) =
        (Term::Raise { exc, unwind: None }, loc);
    let mut at = func.make_block();
    let to = |block: Block| BlockCall { block, args: vec![] };
    (func.blocks[handler.index()].term, func.blocks[handler.index()].term_loc) =
        (Term::Branch { cond: asked, then_to: to(raise), else_to: to(at) }, loc);
    for f in earlier {
        at = copy(func, f, at);
    }
    (func.blocks[at.index()].term, func.blocks[at.index()].term_loc) = (Term::Jump(to(raise)), loc);
    handler
}

/// Writes a loop once more, as a plain one that begins in `at`; the block behind it.
fn copy(func: &mut Func, f: &Found, at: Block) -> Block {
    let defs = Definitions::new(func);
    let bounds: Vec<Value> = defs.inst(f.range).map_or(vec![], |i| func.inst(i).args[1..].to_vec());
    let range = func.push(at, Op::Table(id::BUILTINS_RANGE), bounds, f.loc, None);
    let iterator = func.push(at, Op::Table(id::BUILTINS_ITER), vec![range], f.loc, None);
    let behind = func.make_block();
    let inside: Vec<Block> = [f.header].into_iter().chain(f.blocks.iter().copied()).collect();
    let (mut blocks, mut values) = (HashMap::new(), HashMap::new());
    for b in &inside {
        let new = func.make_block();
        blocks.insert(*b, new);
        for p in func.block(*b).params.clone() {
            let v = func.add_param(new);
            values.insert(p, v);
        }
        for i in func.block(*b).insts.clone() {
            if let Some(r) = func.inst(i).result {
                let v = func.make_value();
                values.insert(r, v);
            }
        }
    }
    let value = |v: Value| values.get(&v).copied().unwrap_or(v);
    let call = |to: &BlockCall| match blocks.get(&to.block) {
        Some(b) => BlockCall { block: *b, args: to.args.iter().map(|a| value(*a)).collect() },
        None => BlockCall { block: behind, args: vec![] },
    };
    for b in &inside {
        let data = func.block(*b).clone();
        let new = blocks[b];
        for i in &data.insts {
            let node = func.inst(*i).clone();
            func.insts.push(InstNode {
                args: node.args.iter().map(|a| value(*a)).collect(),
                result: node.result.map(value),
                unwind: node.unwind.as_ref().map(call),
                ..node
            });
            let made = Inst::new(func.insts.len() - 1);
            func.blocks[new.index()].insts.push(made);
        }
        let mut term = data.term;
        if let Some(v) = term.operand_mut() {
            *v = value(*v);
        }
        for t in term.targets_mut() {
            *t = call(t);
        }
        (func.blocks[new.index()].term, func.blocks[new.index()].term_loc) = (term, data.term_loc);
    }
    let mut args = if let Term::Jump(to) = &func.block(f.pre).term { to.args.clone() } else { vec![] };
    if let Some(a) = args.get_mut(f.state) {
        *a = iterator;
    }
    (func.blocks[at.index()].term, func.blocks[at.index()].term_loc) =
        (Term::Jump(BlockCall { block: blocks[&f.header], args }), f.loc);
    behind
}
