//! Arithmetic on Python's ints that wraps, since only the low 64 bits of its results count.
//!
//! `(h ^ c) * P & 0xFFFFFFFFFFFFFFFF`, as hashes and random numbers are written: what is behind the mask has no bits
//! beyond 64, and the low bits of sums, products and their like come of the low bits of the operands alone. Where
//! nothing else asks for such a result its overflow is none.

use crate::emit::cx::Overflow;
use crate::infer::state::Session;
use crate::ops::{Body, OpDef, OpId, id};
use crate::ssa::{Func, InstNode, Op, Value, analysis};
use crate::types::{Const, Type};
use std::collections::HashMap;
use std::sync::LazyLock;

/// An operation whose low bits come of those of its operands: of the first alone, where another says how far it is
/// shifted.
struct Ring {
    row: &'static OpDef,
    wraps: Option<&'static OpDef>,
    first_alone: bool,
}

static RING: LazyLock<Vec<Ring>> = LazyLock::new(|| {
    let checked = |of: OpId, wraps: OpId| {
        let wraps = wraps.rows().first().copied();
        of.checked().map(|row| Ring { row, wraps, first_alone: of == id::LSHIFT })
    };
    let plain = |of: OpId| {
        let row = of.rows().iter().find(|row| matches!(row.body, Body::Ufunc(..))).copied();
        row.map(|row| Ring { row, wraps: None, first_alone: false })
    };
    let all = [
        checked(id::ADD, id::LOW_ADD),
        checked(id::SUB, id::LOW_SUB),
        checked(id::MUL, id::LOW_MUL),
        checked(id::LSHIFT, id::LOW_LSHIFT),
        checked(id::OR, id::LOW_OR),
        checked(id::XOR, id::LOW_XOR),
        checked(id::NEG, id::LOW_NEG),
        checked(id::INVERT, id::LOW_INVERT),
        plain(id::AND),
        plain(id::OR),
        plain(id::XOR),
        plain(id::INVERT),
    ];
    all.into_iter().flatten().collect()
});

fn is_int_of_python(t: Type) -> bool {
    t.is_int() && t.is_weak()
}

fn ring(op: &Op) -> Option<&'static Ring> {
    let Op::Apply(row) = op else { return None };
    RING.iter().find(|r| std::ptr::eq(r.row, *row))
}

fn is_remainder(row: &'static OpDef) -> bool {
    row.means(id::MOD) || id::MOD.checked().is_some_and(|c| std::ptr::eq(c, row))
}

/// What makes values whose low bits alone may count.
fn makes_low_bits(f: &Func, node: &InstNode) -> bool {
    let ints = |v: &Value| is_int_of_python(f.types[v.index()]);
    node.result.as_ref().is_some_and(ints)
        && (ring(&node.op).is_some() || node.op == Op::Cast && node.args.iter().all(ints))
}

/// Has arithmetic wrap of which no more than the low bits is asked for.
pub(crate) fn wrap(f: &mut Func, session: &Session<'_>) {
    if session.overflow != Overflow::Python {
        return;
    }
    let insts = || f.blocks.iter().flat_map(|b| &b.insts).map(|i| f.inst(*i));
    let overflows = |n: &InstNode| ring(&n.op).is_some_and(|r| r.wraps.is_some());
    let masks = |n: &InstNode| matches!(n.op, Op::Apply(op) if op.means(id::AND) || is_remainder(op));
    if !insts().any(overflows) || !insts().any(masks) {
        return;
    }
    let defs: HashMap<Value, &InstNode> = insts().filter_map(|n| Some((n.result?, n))).collect();
    let made = |v: Value| defs.get(&v).is_some_and(|n| makes_low_bits(f, n));
    // Those of which all bits count, and what is still to be asked because of them.
    let mut whole = vec![false; f.values as usize];
    let mut todo = vec![];
    let mut count = |v: Value, todo: &mut Vec<Value>| {
        if made(v) && !std::mem::replace(&mut whole[v.index()], true) {
            todo.push(v);
        }
    };
    for node in insts() {
        for (k, v) in node.args.iter().enumerate() {
            if !takes_low_bits(f, node, k, &|v| made(v), &defs) {
                count(*v, &mut todo);
            }
        }
        node.unwind.iter().flat_map(|u| &u.args).for_each(|v| count(*v, &mut todo));
    }
    for b in &f.blocks {
        analysis::uses_of_term(&b.term, &mut |v| count(v, &mut todo));
    }
    while let Some(v) = todo.pop() {
        let Some(node) = defs.get(&v) else { continue };
        // A mask cuts its operand off, whatever its result is for.
        for (k, v) in node.args.iter().enumerate() {
            if !is_masked(f, node, k, &|v| made(v), &defs) {
                count(*v, &mut todo);
            }
        }
    }
    let wraps: Vec<_> = f
        .blocks
        .iter()
        .flat_map(|b| &b.insts)
        .filter_map(|i| {
            let node = f.inst(*i);
            let row = ring(&node.op)?.wraps?;
            node.result.filter(|v| made(*v) && !whole[v.index()]).map(|_| (*i, row))
        })
        .collect();
    for (i, row) in wraps {
        f.insts[i.index()].op = Op::Apply(row);
    }
}

/// Whether an operand's low bits are all that an instruction asks for, if they are all that is asked of its result.
fn takes_low_bits(
    f: &Func,
    node: &InstNode,
    k: usize,
    made: &dyn Fn(Value) -> bool,
    defs: &HashMap<Value, &InstNode>,
) -> bool {
    let first_alone = ring(&node.op).is_some_and(|r| r.first_alone);
    makes_low_bits(f, node) && !(first_alone && k > 0) || is_masked(f, node, k, made, defs)
}

/// Whether an operand's low bits are all that an instruction asks for: it has a mask of bits for it, or a power of two
/// that it is divided by.
fn is_masked(
    f: &Func,
    node: &InstNode,
    k: usize,
    made: &dyn Fn(Value) -> bool,
    defs: &HashMap<Value, &InstNode>,
) -> bool {
    let (Op::Apply(op), [a, b, ..]) = (&node.op, &node.args[..]) else { return false };
    let ints = [*a, *b].iter().all(|v| is_int_of_python(f.types[v.index()]));
    let constant = |v: Value| {
        if let Op::Const(Const::Int(n)) = defs.get(&v)?.op { Some(n) } else { None }
    };
    if op.means(id::AND) {
        let mut mask = if k == 0 { *b } else { *a };
        while let Some(cast) = defs.get(&mask).filter(|n| n.op == Op::Cast) {
            mask = cast.args[0];
        }
        let big = f.types[mask.index()] == Type::big_int() && !made(mask);
        return ints && k < 2 && (big || constant(mask).is_some_and(|n| n >= 0));
    }
    let power = |n: i64| n > 0 && n & (n - 1) == 0;
    is_remainder(op) && ints && k == 0 && constant(*b).is_some_and(power)
}
