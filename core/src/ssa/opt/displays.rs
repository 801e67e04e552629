//! What becomes of dicts that are written out, where inference has found that their values keep their types.

use crate::ops::id;
use crate::ssa::{Block, Func, Inst, Loc, Op, Value};
use crate::types::Const;

/// A display, or a call of `dict` with names, keeps a type for each value.
pub(super) fn keep_types(func: &mut Func, display: Inst) {
    if let Op::Call { keywords } = func.inst(display).op.clone() {
        let (Some((block, at)), loc) = (place_of(func, display), func.inst(display).loc) else { return };
        let values = func.inst(display).args[1..].to_vec();
        let mut entries = vec![];
        for (k, (name, value)) in keywords.iter().zip(values).enumerate() {
            let key = func.push(block, Op::Const(Const::Str(name.clone())), vec![], loc, None);
            let insts = &mut func.blocks[block.index()].insts;
            if let Some(made) = insts.pop() {
                insts.insert(at + k, made);
            }
            entries.extend([key, value]);
        }
        func.insts[display.index()].args = entries;
    }
    let mut entries: Vec<Value> = vec![];
    for entry in func.inst(display).args.clone().chunks(2) {
        put(func, &mut entries, entry[0], entry[1]);
    }
    func.insts[display.index()].args = entries;
    func.insts[display.index()].op = Op::Table(id::KWARGS_BUILD);
}

/// A dict is made where the last of these stores into it was, and holds what they put into it.
pub(super) fn gather(func: &mut Func, dict: Inst, stores: &[Inst]) {
    let (Some((block, _)), Some(last)) = (place_of(func, dict), stores.last()) else { return };
    let mut entries = func.inst(dict).args.clone();
    for store in stores {
        let [_, key, value] = func.inst(*store).args[..] else { continue };
        put(func, &mut entries, key, value);
    }
    func.insts[dict.index()].args = entries;
    let insts = &mut func.blocks[block.index()].insts;
    insts.retain(|i| *i != dict);
    if let Some(at) = insts.iter().position(|i| i == last) {
        insts[at] = dict;
    }
    insts.retain(|i| !stores.contains(i));
}

/// What the function takes as `**kwargs` becomes a dict where it begins, which all that read it read instead.
pub(super) fn keywords_as_dict(func: &mut Func, keywords: Value) {
    let entry = Block::new(0);
    let loc = Loc { line: func.first_line, ..Loc::default() };
    let dict = func.push(entry, Op::Table(id::BUILTINS_DICT), vec![keywords], loc, None);
    let insts = &mut func.blocks[entry.index()].insts;
    let made = insts.pop();
    insts.splice(..0, made);
    let read = |v: &mut Value| {
        if *v == keywords {
            *v = dict;
        }
    };
    for node in func.insts.iter_mut().filter(|n| n.result != Some(dict)) {
        node.args.iter_mut().for_each(read);
        node.unwind.iter_mut().flat_map(|u| &mut u.args).for_each(read);
    }
    for block in &mut func.blocks {
        block.term.operand_mut().into_iter().for_each(read);
        block.term.targets_mut().into_iter().flat_map(|t| &mut t.args).for_each(read);
    }
}

/// An entry more: a key stays where it was first.
fn put(func: &Func, entries: &mut Vec<Value>, key: Value, value: Value) {
    match entries.chunks_mut(2).find(|e| text(func, e[0]).is_some() && text(func, e[0]) == text(func, key)) {
        Some(entry) => entry[1] = value,
        None => entries.extend([key, value]),
    }
}

fn place_of(func: &Func, i: Inst) -> Option<(Block, usize)> {
    (0..func.blocks.len())
        .map(Block::new)
        .find_map(|b| func.block(b).insts.iter().position(|x| *x == i).map(|at| (b, at)))
}

/// The constant string that a value is.
fn text(func: &Func, v: Value) -> Option<&str> {
    let node = func.insts.iter().find(|n| n.result == Some(v))?;
    if let Op::Const(Const::Str(s)) = &node.op { Some(s) } else { None }
}
