//! Writes what stands in the place of a parallel loop: the region, and a loop over what its pieces gave, which takes
//! each into the variables.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "only globals and their attributes are made again: any other value is at hand"
)]

use super::find::Found;
use super::repair::repair;
use super::shared::{Kind, Missing, Shared, Step, What, group};
use crate::diag::Result;
use crate::ops::id;
use crate::ssa::analysis::Definitions;
use crate::ssa::{Block, BlockCall, Func, FuncId, Narrow, Op, Term, Value};
use crate::types::Const;
use std::collections::HashMap;

/// Writes into the outer function, in the place of the loop.
struct Writer<'a> {
    func: &'a mut Func,
    found: &'a Found,
    at: Block,
    unwind: Option<BlockCall>,
    defs: Definitions,
}

impl Writer<'_> {
    fn push(&mut self, op: Op, args: Vec<Value>) -> Value {
        let unwind = if op.never_raises() { None } else { self.unwind.clone() };
        self.func.push(self.at, op, args, self.found.loc, unwind)
    }
    fn end(&mut self, term: Term) {
        let block = &mut self.func.blocks[self.at.index()];
        (block.term, block.term_loc) = (term, self.found.loc);
    }
    /// `truth(cond) ? a : b`, pair by pair.
    fn select(&mut self, cond: Value, pairs: &[(Value, Value)]) -> Vec<Value> {
        let join = self.func.make_block();
        let out: Vec<Value> = pairs.iter().map(|_| self.func.add_param(join)).collect();
        let to = |args: Vec<Value>| BlockCall { block: join, args };
        self.end(Term::Branch {
            cond,
            then_to: to(pairs.iter().map(|p| p.0).collect()),
            else_to: to(pairs.iter().map(|p| p.1).collect()),
        });
        self.at = join;
        out
    }
    /// The best of two, with what belongs to it: of each pair the first value where that of the part is
    /// taken, else the second.
    fn better(
        &mut self,
        kind: &Kind,
        (new, acc): (Value, Value),
        said: &Said,
        pairs: &[(Value, Value)],
    ) -> Vec<Value> {
        let Kind::Select { path, via, swapped, taken, missing, .. } = kind else {
            return pairs.iter().map(|p| p.1).collect();
        };
        let join = self.func.make_block();
        let out: Vec<Value> = pairs.iter().map(|_| self.func.add_param(join)).collect();
        let to = |args: Vec<Value>| BlockCall { block: join, args };
        let (take, keep) = (to(pairs.iter().map(|p| p.0).collect()), to(pairs.iter().map(|p| p.1).collect()));
        if let Some(found) = said.changed {
            self.unless(found, true, keep.clone());
        }
        if let Some(reset) = said.reset {
            self.unless(reset, false, take.clone());
        }
        let (mut new, mut acc) = (new, acc);
        if *missing != Missing::Never {
            // What no iteration can set, as behind a condition that is never true, has the type of None alone:
            // nothing behind this test is typed then.
            let (still, answer) = self.is_missing(new, *missing);
            self.unless(still, !answer, keep.clone());
            let (is_missing, answer) = self.is_missing(acc, *missing);
            if let Some(first) = said.first.first() {
                // The very first one stays where it is NaN.
                let (there, alone) = (self.func.make_block(), self.func.make_block());
                let [on, aside] = [there, alone].map(|block| BlockCall { block, args: vec![] });
                let (then_to, else_to) = if answer { (aside, on) } else { (on, aside) };
                self.end(Term::Branch { cond: is_missing, then_to, else_to });
                self.at = alone;
                let first = self.not_missing(*first, *missing);
                // The plain loop does not ask what an index of nothing leads to unless another value comes.
                let handler = self.func.make_block();
                self.func.add_param(handler);
                self.func.blocks[handler.index()].term = Term::Jump(take.clone());
                let outer =
                    std::mem::replace(&mut self.unwind, Some(BlockCall { block: handler, args: vec![] }));
                let shown = self.shown(first, via);
                self.unwind = outer;
                let nan = self.push(Op::Table(id::PARALLEL_IS_NAN), vec![shown]);
                self.end(Term::Branch { cond: nan, then_to: to(said.first.clone()), else_to: take.clone() });
                self.at = there;
            } else {
                self.unless(is_missing, !answer, take.clone());
            }
            [new, acc] = [new, acc].map(|v| self.not_missing(v, *missing));
        }
        if let Some(path) = path {
            [new, acc] = [new, acc].map(|v| self.shown(v, via));
            let compared =
                self.push(Op::Table(*path), if *swapped { vec![acc, new] } else { vec![new, acc] });
            let cond = self.push(Op::Table(id::TRUTH), vec![compared]);
            let (then_to, else_to) = if *taken { (take, keep) } else { (keep, take) };
            self.end(Term::Branch { cond, then_to, else_to });
        } else {
            self.end(Term::Jump(keep));
        }
        self.at = join;
        out
    }
    /// Whether a variable has no value yet: a condition, and its answer where that is so.
    fn is_missing(&mut self, v: Value, missing: Missing) -> (Value, bool) {
        match missing {
            Missing::Marked { test, with, swapped, answer } => {
                let with = self.again(with);
                let args = if swapped { vec![with, v] } else { vec![v, with] };
                let compared = self.push(Op::Table(test), args);
                (self.push(Op::Table(id::TRUTH), vec![compared]), answer)
            }
            Missing::None | Missing::Never => {
                let nothing = self.push(Op::Const(Const::None), vec![]);
                (self.push(Op::Table(id::IS), vec![v, nothing]), true)
            }
        }
    }
    /// A value that was found to be there.
    fn not_missing(&mut self, v: Value, missing: Missing) -> Value {
        if missing == Missing::None { self.push(Op::Narrow(Narrow::NotNone), vec![v]) } else { v }
    }
    /// Goes elsewhere where a condition is not `as_said`, and on in a new block.
    fn unless(&mut self, cond: Value, as_said: bool, elsewhere: BlockCall) {
        let block = self.func.make_block();
        let here = BlockCall { block, args: vec![] };
        let (then_to, else_to) = if as_said { (here, elsewhere) } else { (elsewhere, here) };
        self.end(Term::Branch { cond, then_to, else_to });
        self.at = block;
    }
    /// What is compared of a value.
    fn shown(&mut self, v: Value, via: &[Step]) -> Value {
        via.iter().fold(v, |v, step| match step {
            Step::Part(k) => {
                let k = self.again(*k);
                self.push(Op::Table(id::GETITEM), vec![v, k])
            }
            Step::Of(a) => self.push(Op::Table(id::GETITEM), vec![*a, v]),
            Step::Applied(f) => {
                let f = self.again(*f);
                self.push(Op::Call { keywords: [].into() }, vec![f, v])
            }
        })
    }
    /// What a value inside the loop is made of, made again here: a constant, a global, or an attribute of
    /// one.
    fn again(&mut self, v: Value) -> Value {
        let Some(node) = self.defs.inst(v).map(|i| self.func.inst(i).clone()) else { return v };
        match node.op {
            Op::Global(_) | Op::Const(_) => self.push(node.op, vec![]),
            Op::Attr(_) => {
                let of = self.again(node.args[0]);
                self.push(node.op, vec![of])
            }
            _ => v,
        }
    }
}

pub(super) fn replace(
    func: &mut Func,
    found: &Found,
    shared: &Shared,
    body: FuncId,
    captured: Vec<Value>,
) -> Result<()> {
    let before: HashMap<Value, Value> = shared.carried.iter().map(|c| (c.param, c.init)).collect();
    let renamed = |to: &BlockCall, now: &HashMap<Value, Value>| BlockCall {
        block: to.block,
        args: to.args.iter().map(|a| now.get(a).copied().unwrap_or(*a)).collect(),
    };
    let handler = func.inst(found.next).unwind.clone();
    func.blocks[found.pre.index()].insts.retain(|i| *i != found.iter);
    let defs = Definitions::new(func);
    let mut w =
        Writer { at: found.pre, unwind: handler.as_ref().map(|u| renamed(u, &before)), func, found, defs };

    let function = w.push(Op::MakeFunction { func: body, defaults: 0, kwdefaults: [].into() }, captured);
    let mut bound = w.push(Op::Const(Const::Int(0)), vec![]);
    for b in &shared.privatised {
        let size = w.push(Op::Table(id::PARALLEL_SIZE), vec![b.of]);
        bound = w.push(Op::Table(id::ADD), vec![bound, size]);
    }
    let mut args = vec![function, found.range, bound];
    args.extend(shared.carried.iter().map(|c| c.init));
    let parts = w.push(Op::Table(id::PARALLEL_REGION), args);
    if shared.carried.is_empty() && shared.lists.is_empty() && shared.privatised.is_empty() {
        w.end(Term::Jump(found.exit.clone()));
        return Ok(());
    }

    // for part in parts: ...
    let iterator = w.push(Op::Table(id::BUILTINS_ITER), vec![parts]);
    let head = w.func.make_block();
    let mut now: HashMap<Value, Value> = HashMap::new();
    let state = w.func.add_param(head);
    for c in &shared.carried {
        let p = w.func.add_param(head);
        now.insert(c.param, p);
    }
    let start = [iterator].into_iter().chain(shared.carried.iter().map(|c| c.init)).collect();
    w.end(Term::Jump(BlockCall { block: head, args: start }));
    w.at = head;
    w.unwind = handler.as_ref().map(|u| renamed(u, &now));
    let next = w.push(Op::Table(id::ITER_NEXT), vec![state]);
    let more = w.push(Op::Member(1), vec![next]);
    let inside = w.func.make_block();
    w.end(Term::Branch {
        cond: more,
        then_to: BlockCall { block: inside, args: vec![] },
        else_to: renamed(&found.exit, &now),
    });
    w.at = inside;
    let (state, part) = (w.push(Op::Member(0), vec![next]), w.push(Op::Member(2), vec![next]));
    let merged = merge(&mut w, shared, part, &now);
    let first_list = shared.carried.len() + shared.flags().len();
    for (k, list) in shared.lists.iter().enumerate() {
        let of = w.push(Op::Member((first_list + k) as u32), vec![part]);
        w.push(Op::Table(id::LIST_EXTEND), vec![*list, of]);
    }
    let first_privatised = first_list + shared.lists.len();
    let own: Vec<Value> = (0..shared.privatised.len())
        .map(|k| w.push(Op::Member((first_privatised + k) as u32), vec![part]))
        .collect();
    let noting: Vec<Value> = shared.privatised.iter().filter(|b| b.notes()).map(|b| b.of).collect();
    let notes: Vec<Value> = (0..noting.len())
        .map(|k| w.push(Op::Member((first_privatised + shared.privatised.len() + k) as u32), vec![part]))
        .collect();
    let note_of = |of: Value| noting.iter().position(|n| *n == of).map(|k| notes[k]);
    for (b, part) in shared.privatised.iter().zip(&own) {
        let mut args = vec![b.of, *part];
        if b.resets {
            args.extend(note_of(b.of));
        }
        args.extend(b.choose.map(|c| w.again(c)));
        if let Some(k) = shared.privatised.iter().position(|x| Some(x.of) == b.follows) {
            args.extend([shared.privatised[k].of, own[k]]);
            if shared.privatised[k].changes {
                args.extend(note_of(shared.privatised[k].of));
            }
        }
        w.push(Op::Table(b.merge), args);
    }
    w.end(Term::Jump(BlockCall { block: head, args: [state].into_iter().chain(merged).collect() }));
    repair(func, head, found, shared, now);
    Ok(())
}

/// What a piece says of a variable beside its value.
#[derive(Default)]
struct Said {
    changed: Option<Value>,
    reset: Option<Value>,
    first: Vec<Value>,
}

/// Takes one part into the variables.
fn merge(w: &mut Writer<'_>, shared: &Shared, part: Value, now: &HashMap<Value, Value>) -> Vec<Value> {
    let all = &shared.carried;
    let of: Vec<Value> = (0..all.len()).map(|k| w.push(Op::Member(k as u32), vec![part])).collect();
    let mut said: Vec<Said> = all.iter().map(|_| Said::default()).collect();
    for (n, (k, what)) in shared.flags().into_iter().enumerate() {
        let v = w.push(Op::Member((all.len() + n) as u32), vec![part]);
        match what {
            What::Changed => said[k].changed = Some(v),
            What::Reset => said[k].reset = Some(v),
            What::First(_) => said[k].first.push(v),
        }
    }
    let mut out: Vec<Value> = all.iter().map(|c| now[&c.param]).collect();
    for (k, c) in all.iter().enumerate() {
        let (acc, new) = (now[&c.param], of[k]);
        match &c.kind {
            Kind::Binary { path, swapped, .. } => {
                out[k] = w.push(Op::Table(*path), if *swapped { vec![new, acc] } else { vec![acc, new] })
            }
            Kind::Choose { callee, swapped, .. } => {
                let callee = w.again(*callee);
                out[k] = w.push(
                    Op::Call { keywords: [].into() },
                    if *swapped { vec![callee, new, acc] } else { vec![callee, acc, new] },
                );
                if let Some(reset) = said[k].reset {
                    out[k] = w.select(reset, &[(new, out[k])])[0];
                }
                if let Some(changed) = said[k].changed {
                    out[k] = w.select(changed, &[(out[k], acc)])[0];
                }
            }
            Kind::Truth { and } => {
                let group = group(all, k);
                let mine: Vec<Value> = group.iter().map(|j| now[&all[*j].param]).collect();
                let t = w.push(Op::Table(id::TRUTH), vec![acc]);
                let pairs: Vec<(Value, Value)> = group
                    .iter()
                    .zip(&mine)
                    .map(|(j, acc)| if *and { (of[*j], *acc) } else { (*acc, of[*j]) })
                    .collect();
                let chosen = w.select(t, &pairs);
                let changed = said[k].changed.unwrap_or(t);
                for (j, b) in
                    group.iter().zip(w.select(changed, &chosen.into_iter().zip(mine).collect::<Vec<_>>()))
                {
                    out[*j] = b;
                }
            }
            Kind::Select { .. } => {
                let group = group(all, k);
                let pairs: Vec<(Value, Value)> =
                    group.iter().map(|j| (of[*j], now[&all[*j].param])).collect();
                for (j, b) in group.iter().zip(w.better(&c.kind, (new, acc), &said[k], &pairs)) {
                    out[*j] = b;
                }
            }
            Kind::Follow { .. } => {}
            Kind::Last { flag: true } => {
                if let Some(changed) = said[k].changed {
                    out[k] = w.select(changed, &[(new, acc)])[0]
                }
            }
            Kind::Last { flag: false } => out[k] = new,
        }
    }
    // Where there is one piece only, it knows all.
    for (k, tuples) in shared.in_order().into_iter().filter(|o| (o.0 as usize) < all.len()) {
        let (k, group) = (k as usize, group(all, k as usize));
        let tuples = w.push(Op::Const(Const::Bool(tuples)), vec![]);
        let one = w.push(Op::Table(id::PARALLEL_KEEPS_ORDER), vec![of[k], tuples]);
        let pairs: Vec<(Value, Value)> = group.iter().map(|j| (of[*j], out[*j])).collect();
        for (j, b) in group.iter().zip(w.select(one, &pairs)) {
            out[*j] = b;
        }
    }
    out
}
