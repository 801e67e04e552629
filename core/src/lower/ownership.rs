//! Makes references explicit: inserts `Retain` and `Release` by liveness.
//!
//! Rules: arguments of a function are borrowed; a result, a block parameter and a handled exception are
//! owned; passing to a block, returning and operations that [`Own::Consumes`] move a reference where the
//! value dies there, else they take a new one. A value that aliases another (a member, a view, a cast) keeps
//! the other alive instead of holding references. In generators nothing moves, so that a frame's slots are
//! emptied at explicit releases only.
//!
//! Exceptional paths get landing blocks that release what was live and then go to the handler or out.

use crate::ops::Own;
use crate::ssa::{Block, BlockCall, BlockData, Func, Inst, InstNode, Loc, Op, Term, Value};
use crate::types::Type;
use std::collections::HashMap;

/// How a value relates to the references it shows.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Root {
    /// No references, or those of a borrowed argument: nothing to do.
    Borrowed,
    /// Holds references of its own.
    Owned,
    /// Shows all (`full`) or some of the references of another value.
    Alias { of: Value, full: bool },
}

pub(crate) fn insert_references(func: &mut Func) {
    destructure(func);
    let roots = find_roots(func);
    if !roots.iter().any(|r| *r == Root::Owned) && !needs_retains(func) {
        drop_idle_handlers(func);
        return;
    }
    let live = Liveness::new(func, &roots);
    Inserter { roots, live, landings: HashMap::new(), func }.run();
}

fn counted(func: &Func, v: Value) -> bool {
    func.types[v.index()].is_counted()
}

/// Even without owned values, a borrowed one may be returned or passed on.
fn needs_retains(func: &Func) -> bool {
    func.types.iter().any(|t| t.is_counted())
}

/// Whether an instruction of typed code may raise.
pub(crate) fn may_raise(func: &Func, node: &InstNode) -> bool {
    match &node.op {
        Op::Apply(op) => {
            let mut types = node.args.iter().map(|a| func.types[a.index()]);
            op.raises
                || types.clone().any(crate::types::promote::step_may_raise)
                || crate::ops::ufunc::may_raise(op, &mut types)
        }
        Op::CallInstance(_)
        | Op::Region(_)
        | Op::Task(_)
        | Op::CheckBound { .. }
        | Op::Fused(_)
        | Op::Cast => true,
        // The shape of one array is what it is.
        Op::Broadcast => {
            node.args
                .iter()
                .filter(|a| {
                    func.types[a.index()].as_array().is_some() || func.types[a.index()].parts().is_some()
                })
                .count()
                > 1
        }
        Op::Const(_)
        | Op::Undef
        | Op::Global(_)
        | Op::Free(_)
        | Op::Table(_)
        | Op::Call { .. }
        | Op::CallSpread { .. }
        | Op::Attr(_)
        | Op::SetAttr(_)
        | Op::MakeFunction { .. }
        | Op::Member(_)
        | Op::Narrow(_)
        | Op::PushHandled
        | Op::PopHandled
        | Op::Retain
        | Op::Release => false,
        // The generator is closed while it is suspended here.
        Op::Yield => func.side.closes,
    }
}

fn drop_idle_handlers(func: &mut Func) {
    for i in 0..func.insts.len() {
        if !may_raise(func, &func.insts[i]) {
            func.insts[i].unwind = None;
        }
    }
}

/// Ownership of an instruction's result.
fn ownership(func: &Func, node: &InstNode) -> Own {
    match &node.op {
        Op::Apply(op) => {
            let types: Vec<Type> = node.args.iter().map(|a| func.types[a.index()]).collect();
            (op.own)(&types, node.result.map_or_else(Type::none, |r| func.types[r.index()]))
        }
        Op::MakeFunction { .. } | Op::Yield => Own::Consumes,
        Op::Cast | Op::CheckBound { .. } | Op::Member(_) | Op::Narrow(_) => Own::Aliases,
        Op::Const(_)
        | Op::Undef
        | Op::Global(_)
        | Op::Free(_)
        | Op::Table(_)
        | Op::Call { .. }
        | Op::CallSpread { .. }
        | Op::Attr(_)
        | Op::SetAttr(_)
        | Op::PushHandled
        | Op::PopHandled
        | Op::CallInstance(_)
        | Op::Region(_)
        | Op::Task(_)
        | Op::Fused(_)
        | Op::Broadcast
        | Op::Retain
        | Op::Release => Own::Fresh,
    }
}

/// Where a composite result is only taken apart, its members become values of their own right after it.
fn destructure(func: &mut Func) {
    let mut uses: HashMap<Value, (u32, Vec<Inst>)> = HashMap::new();
    for b in &func.blocks {
        for i in &b.insts {
            let node = &func.insts[i.index()];
            for a in &node.args {
                let e = uses.entry(*a).or_default();
                e.0 += 1;
                if matches!(node.op, Op::Member(_)) {
                    e.1.push(*i);
                }
            }
            for a in node.unwind.iter().flat_map(|u| &u.args) {
                uses.entry(*a).or_default().0 += 1;
            }
        }
        for a in b.term.targets().iter().flat_map(|t| &t.args) {
            uses.entry(*a).or_default().0 += 1;
        }
        match &b.term {
            Term::Branch { cond: v, .. } | Term::Return(v) | Term::Raise { exc: v, .. } => {
                uses.entry(*v).or_default().0 += 1
            }
            Term::None | Term::Jump(_) | Term::Unreachable => {}
        }
    }
    let mut moved: HashMap<Value, Vec<Inst>> = HashMap::new();
    for b in 0..func.blocks.len() {
        for i in func.blocks[b].insts.clone() {
            let node = &func.insts[i.index()];
            let Some(r) = node.result else { continue };
            if !counted(func, r) || ownership(func, node) == Own::Aliases {
                continue;
            }
            let Some((total, members)) = uses.get(&r) else { continue };
            let mut ks: Vec<u32> = members
                .iter()
                .filter_map(|m| if let Op::Member(k) = func.insts[m.index()].op { Some(k) } else { None })
                .collect();
            ks.sort_unstable();
            if members.len() as u32 == *total && ks.windows(2).all(|w| w[0] != w[1]) {
                moved.insert(r, members.clone());
            }
        }
    }
    if moved.is_empty() {
        return;
    }
    let gone: std::collections::HashSet<Inst> = moved.values().flatten().copied().collect();
    for b in 0..func.blocks.len() {
        let mut out = vec![];
        for i in std::mem::take(&mut func.blocks[b].insts) {
            if gone.contains(&i) {
                continue;
            }
            out.push(i);
            let Some(r) = func.insts[i.index()].result else { continue };
            let Some(members) = moved.get(&r) else { continue };
            out.extend(members);
            // Members that nobody takes still hold references.
            let count = func.types[r.index()].member_count();
            for k in 0..count as u32 {
                if members.iter().any(|m| func.insts[m.index()].op == Op::Member(k)) {
                    continue;
                }
                let Some(ty) = func.types[r.index()].member(k).filter(|t| t.is_counted()) else {
                    continue;
                };
                let v = func.make_value();
                func.types.push(ty);
                let loc = func.insts[i.index()].loc;
                func.insts.push(InstNode {
                    op: Op::Member(k),
                    args: vec![r],
                    result: Some(v),
                    loc,
                    unwind: None,
                });
                out.push(Inst::new(func.insts.len() - 1));
            }
        }
        func.blocks[b].insts = out;
    }
    func.side.destructured = moved.into_keys().collect();
}

fn find_roots(func: &Func) -> Vec<Root> {
    let mut roots = vec![Root::Borrowed; func.values as usize];
    for (b, data) in func.blocks.iter().enumerate() {
        for p in &data.params {
            if b != 0 && counted(func, *p) {
                roots[p.index()] = Root::Owned;
            }
        }
        for i in &data.insts {
            let node = func.inst(*i);
            let Some(r) = node.result else { continue };
            if !counted(func, r) {
                continue;
            }
            roots[r.index()] = match (&node.op, ownership(func, node)) {
                (Op::Member(_), _) if func.side.destructured.contains(&node.args[0]) => Root::Owned,
                (_, Own::Aliases) if !counted(func, node.args[0]) => Root::Borrowed,
                (op, Own::Aliases) => Root::Alias {
                    of: node.args[0],
                    full: matches!(op, Op::Cast | Op::CheckBound { .. } | Op::Narrow(_)),
                },
                // Constants and globals live for ever.
                (Op::Const(_) | Op::Undef | Op::Global(_), _) => Root::Borrowed,
                (_, Own::Fresh | Own::Consumes) => Root::Owned,
            };
        }
    }
    for v in &func.side.destructured {
        roots[v.index()] = Root::Borrowed;
    }
    roots
}

/// Which values hold references of their own, rather than show those of another.
pub(crate) fn holders(func: &Func) -> Vec<bool> {
    find_roots(func).iter().map(|r| *r == Root::Owned).collect()
}

/// The owned value behind `v`, and whether `v` shows all of its references.
fn owner(roots: &[Root], mut v: Value) -> Option<(Value, bool)> {
    let mut all = true;
    loop {
        match roots[v.index()] {
            Root::Borrowed => return None,
            Root::Owned => return Some((v, all)),
            Root::Alias { of, full } => {
                all &= full;
                v = of;
            }
        }
    }
}

type Set = std::collections::BTreeSet<Value>;

/// Owned values that are live at the start of each block.
struct Liveness {
    live_in: Vec<Set>,
}

impl Liveness {
    fn new(func: &Func, roots: &[Root]) -> Liveness {
        let mut l = Liveness { live_in: vec![Set::new(); func.blocks.len()] };
        let order: Vec<Block> = func.reverse_post_order();
        loop {
            let mut changed = false;
            for b in order.iter().rev() {
                let mut live = l.live_out(func, *b, roots);
                for i in func.block(*b).insts.iter().rev() {
                    l.step_back(func, *i, roots, &mut live);
                }
                for p in &func.block(*b).params {
                    live.remove(p);
                }
                if live != l.live_in[b.index()] {
                    l.live_in[b.index()] = live;
                    changed = true;
                }
            }
            if !changed {
                return l;
            }
        }
    }

    /// Live just before the terminator, its own uses included.
    fn live_out(&self, func: &Func, b: Block, roots: &[Root]) -> Set {
        let term = &func.block(b).term;
        let mut live = Set::new();
        for t in term.targets() {
            self.add_edge(t, roots, &mut live);
        }
        match term {
            Term::Branch { cond: v, .. } | Term::Return(v) | Term::Raise { exc: v, .. } => {
                add(roots, *v, &mut live)
            }
            Term::None | Term::Jump(_) | Term::Unreachable => {}
        }
        live
    }

    fn add_edge(&self, to: &BlockCall, roots: &[Root], live: &mut Set) {
        live.extend(self.live_in[to.block.index()].iter().copied());
        for a in &to.args {
            add(roots, *a, live);
        }
    }

    /// From live after an instruction to live before it.
    fn step_back(&self, func: &Func, i: Inst, roots: &[Root], live: &mut Set) {
        let node = func.inst(i);
        if let Some(r) = node.result {
            live.remove(&r);
        }
        for a in &node.args {
            add(roots, *a, live);
        }
        if let Some(u) = &node.unwind {
            self.add_edge(u, roots, live);
        }
    }
}

fn add(roots: &[Root], v: Value, live: &mut Set) {
    if let Some((r, _)) = owner(roots, v) {
        live.insert(r);
    }
}

struct Inserter<'a> {
    func: &'a mut Func,
    roots: Vec<Root>,
    live: Liveness,
    landings: HashMap<(Option<(Block, Vec<Value>)>, Vec<Value>, Vec<Value>), Block>,
}

impl Inserter<'_> {
    fn run(&mut self) {
        for b in 0..self.func.blocks.len() {
            self.block(Block::new(b));
        }
    }

    fn emit(&mut self, out: &mut Vec<Inst>, op: Op, v: Value, loc: Loc) {
        self.func.insts.push(InstNode { op, args: vec![v], result: None, loc, unwind: None });
        out.push(Inst::new(self.func.insts.len() - 1));
    }

    /// References that `args` need when they are handed over: values to retain, and owned values that simply
    /// move.
    fn hand_over(&self, args: &[Value], stays: &Set) -> (Vec<Value>, Vec<Value>) {
        let (mut retain, mut moved) = (vec![], vec![]);
        for a in args {
            if !counted(self.func, *a) {
                continue;
            }
            match owner(&self.roots, *a) {
                Some((r, true)) if !stays.contains(&r) && !moved.contains(&r) && !self.func.is_generator => {
                    moved.push(r)
                }
                _ => retain.push(*a),
            }
        }
        (retain, moved)
    }

    fn block(&mut self, b: Block) {
        let insts = self.func.block(b).insts.clone();
        let mut after = self.live.live_out(self.func, b, &self.roots);
        let mut lives = vec![Set::new(); insts.len()];
        for (k, i) in insts.iter().enumerate().rev() {
            lives[k] = after.clone();
            self.live.step_back(self.func, *i, &self.roots, &mut after);
        }
        let mut out = Vec::with_capacity(insts.len());
        // A parameter that nobody uses dies at once.
        for p in self.func.block(b).params.clone() {
            if b != Block(0) && self.roots[p.index()] == Root::Owned && !after.contains(&p) {
                let loc = self.func.block(b).term_loc;
                self.emit(&mut out, Op::Release, p, loc);
            }
        }
        let mut before = after;
        for (k, i) in insts.iter().enumerate() {
            self.inst(*i, &before, &lives[k], &mut out);
            before = lives[k].clone();
        }
        self.term(b, &before, &mut out);
        self.func.blocks[b.index()].insts = out;
    }

    fn inst(&mut self, i: Inst, before: &Set, after: &Set, out: &mut Vec<Inst>) {
        let node = self.func.inst(i).clone();
        let (retain, moved) = match ownership(self.func, &node) {
            Own::Consumes => {
                let mut stays = after.clone();
                if let Some(u) = &node.unwind {
                    stays.extend(self.live.live_in[u.block.index()].iter().copied());
                }
                self.hand_over(&node.args, &stays)
            }
            Own::Fresh | Own::Aliases => (vec![], vec![]),
        };
        for v in &retain {
            self.emit(out, Op::Retain, *v, node.loc);
        }
        if may_raise(self.func, &node) {
            // What was made last goes first, as Python empties its stack.
            let mut cleanup: Vec<Value> = before.iter().rev().copied().collect();
            // What was yielded is gone before the generator is closed.
            if node.op != Op::Yield {
                cleanup.extend(&retain);
            }
            self.func.insts[i.index()].unwind = self.landing(node.unwind.clone(), cleanup, node.loc);
        } else {
            self.func.insts[i.index()].unwind = None;
        }
        out.push(i);
        let mut dying: Vec<Value> =
            before.iter().filter(|v| !after.contains(v) && !moved.contains(v)).copied().collect();
        if let Some(r) = node.result
            && self.roots[r.index()] == Root::Owned
            && !after.contains(&r)
        {
            dying.push(r);
        }
        for v in dying {
            self.emit(out, Op::Release, v, node.loc);
        }
    }

    /// Where an exception goes that finds `cleanup` live.
    fn landing(&mut self, handler: Option<BlockCall>, cleanup: Vec<Value>, loc: Loc) -> Option<BlockCall> {
        let live_in =
            handler.as_ref().map(|h| self.live.live_in[h.block.index()].clone()).unwrap_or_default();
        let args = handler.as_ref().map(|h| h.args.clone()).unwrap_or_default();
        let (retain, moved) = self.hand_over(&args, &live_in);
        let mut release = vec![];
        let mut kept: Vec<Value> = moved.clone();
        for v in cleanup {
            if live_in.contains(&v) {
                continue;
            }
            // A value that moves to the handler is not released once.
            if let Some(at) = kept.iter().position(|m| *m == v) {
                kept.swap_remove(at);
                continue;
            }
            release.push(v);
        }
        if retain.is_empty() && release.is_empty() {
            return handler;
        }
        let key = (handler.as_ref().map(|h| (h.block, h.args.clone())), retain.clone(), release.clone());
        if let Some(b) = self.landings.get(&key) {
            return Some(BlockCall { block: *b, args: vec![] });
        }
        let b = self.func.make_block();
        self.live.live_in.push(Set::new());
        let exc = self.func.add_param(b);
        self.func.types.push(Type::new(crate::types::Kind::Exception));
        self.roots.push(Root::Owned);
        let mut insts = vec![];
        for v in retain {
            self.emit(&mut insts, Op::Retain, v, loc);
        }
        for v in release {
            self.emit(&mut insts, Op::Release, v, loc);
        }
        let term = match handler {
            Some(h) => {
                Term::Jump(BlockCall { block: h.block, args: std::iter::once(exc).chain(h.args).collect() })
            }
            None => Term::Raise { exc, unwind: None },
        };
        let BlockData { insts: i, term: t, term_loc, .. } = &mut self.func.blocks[b.index()];
        (*i, *t, *term_loc) = (insts, term, loc);
        self.landings.insert(key, b);
        Some(BlockCall { block: b, args: vec![] })
    }

    fn term(&mut self, b: Block, before: &Set, out: &mut Vec<Inst>) {
        let loc = self.func.block(b).term_loc;
        match self.func.block(b).term.clone() {
            Term::Jump(to) => {
                let (retain, release) = self.edge(&to, before);
                for v in retain {
                    self.emit(out, Op::Retain, v, loc);
                }
                for v in release {
                    self.emit(out, Op::Release, v, loc);
                }
            }
            Term::Branch { cond, then_to, else_to } => {
                let then_to = self.split_edge(then_to, before, loc);
                let else_to = self.split_edge(else_to, before, loc);
                self.func.blocks[b.index()].term = Term::Branch { cond, then_to, else_to };
            }
            Term::Return(v) | Term::Raise { exc: v, .. } => {
                let (retain, moved) = self.hand_over(&[v], &Set::new());
                for v in retain {
                    self.emit(out, Op::Retain, v, loc);
                }
                for v in before.iter().rev() {
                    if !moved.contains(v) {
                        self.emit(out, Op::Release, *v, loc);
                    }
                }
            }
            Term::None | Term::Unreachable => {}
        }
    }

    fn edge(&self, to: &BlockCall, before: &Set) -> (Vec<Value>, Vec<Value>) {
        let live_in = &self.live.live_in[to.block.index()];
        let (retain, moved) = self.hand_over(&to.args, live_in);
        let release =
            before.iter().rev().filter(|v| !live_in.contains(v) && !moved.contains(v)).copied().collect();
        (retain, release)
    }

    fn split_edge(&mut self, to: BlockCall, before: &Set, loc: Loc) -> BlockCall {
        let (retain, release) = self.edge(&to, before);
        if retain.is_empty() && release.is_empty() {
            return to;
        }
        let b = self.func.make_block();
        self.live.live_in.push(Set::new());
        let mut insts = vec![];
        for v in retain {
            self.emit(&mut insts, Op::Retain, v, loc);
        }
        for v in release {
            self.emit(&mut insts, Op::Release, v, loc);
        }
        let data = &mut self.func.blocks[b.index()];
        (data.insts, data.term, data.term_loc) = (insts, Term::Jump(to), loc);
        BlockCall { block: b, args: vec![] }
    }
}
