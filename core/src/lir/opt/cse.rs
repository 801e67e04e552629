//! Dominator-based value numbering: what a dominating block has computed is not computed again.
//!
//! Covers operations, constants (which all move to the entry block), addresses, loads whose memory has not
//! changed in between, loads of what was just stored, and helpers that only compute or read. On the way down
//! it remembers which way dominating branches went, so that the same condition is not asked twice.

use super::edit::{Defs, FastMap, Subst};
use super::memory::{self, ANY, Versions};
use super::simplify::is_commutative;
use crate::lir::cfg::{Analyses, Cfg};
use crate::lir::{Alias, Block, BlockCall, Func, Inst, InstData, Op, Slot, Symbol, Ty, Value};
use crate::ops::dict;
use crate::rt::{Effect, Raises, RtFn};

/// What makes two instructions the same.
#[derive(PartialEq, Eq, Hash, Clone)]
enum Key {
    Const(Ty, u64),
    /// With the type of the first operand, because a conversion's own type is the result's.
    Op(Op, Ty, Ty, [u32; 3]),
    Load {
        ty: Ty,
        addr: Value,
        offset: i32,
        alias: Alias,
        version: u32,
    },
    StackAddr(Slot),
    SymbolAddr(Symbol),
    Grid(crate::lir::GridOp, Vec<Value>),
    Helper(*const RtFn, Vec<Value>, u32),
    /// The value is known to be zero or not: see [`Cse::truth`].
    Truth(Value),
}

pub(crate) fn reuse_values(func: &mut Func, analyses: &mut Analyses) {
    if func.layout.is_empty() {
        return;
    }
    let (cfg, doms) = (analyses.cfg(func), analyses.dominators(func));
    let versions = memory::versions_at_entry(func, cfg, doms);
    let (subst, defs) = (Subst::new(func), Defs::new(func));
    let mut cse = Cse {
        func,
        subst,
        defs,
        known: FastMap::default(),
        undo: vec![],
        constants: vec![],
        recent: vec![],
        decided: false,
    };
    // Scopes of the blocks on the path from the root: where each begins in the undo log.
    let mut path: Vec<(Block, usize)> = vec![];
    for &b in doms.preorder() {
        while let Some((top, start)) = path.last()
            && Some(*top) != doms.idom(b)
        {
            cse.leave(*start);
            path.pop();
        }
        path.push((b, cse.undo.len()));
        cse.block(b, cfg, versions[b.index()]);
    }
    let Cse { mut subst, constants, decided, .. } = cse;
    let entry = func.entry();
    func.blocks[entry.index()].insts.splice(0..0, constants);
    subst.apply(func);
    if decided {
        analyses.invalidate();
    }
}

struct Cse<'a> {
    func: &'a mut Func,
    subst: Subst,
    defs: Defs,
    known: FastMap<Key, Value>,
    undo: Vec<(Key, Option<Value>)>,
    /// Constants for the start of the entry block.
    constants: Vec<Inst>,
    /// Loads and stores of the current block that a store to another offset of the same base leaves valid.
    recent: Vec<(Ty, Value, i32, Alias, Value)>,
    /// Whether a branch was decided.
    decided: bool,
}

/// More would make straight-line code quadratic.
const MAX_RECENT: usize = 16;

impl Cse<'_> {
    fn leave(&mut self, start: usize) {
        for (key, old) in self.undo.drain(start..).rev() {
            match old {
                Some(v) => self.known.insert(key, v),
                None => self.known.remove(&key),
            };
        }
    }
    fn learn(&mut self, key: Key, v: Value) {
        let old = self.known.insert(key.clone(), v);
        self.undo.push((key, old));
    }

    fn block(&mut self, b: Block, cfg: &Cfg, mut versions: Versions) {
        self.recent.clear();
        self.learn_from_branch(b, cfg);
        let old = std::mem::take(&mut self.func.blocks[b.index()].insts);
        let mut out = Vec::with_capacity(old.len());
        for i in old {
            let subst = &mut self.subst;
            self.func.insts[i.index()].data.map_uses(|v| subst.get(v));
            if self.visit(i, &versions) {
                out.push(i);
            }
            memory::step(&mut versions, i, &self.func.insts[i.index()].data);
            self.after_store(i, &versions);
        }
        self.func.blocks[b.index()].insts = out;
    }

    /// A block with one way in knows how the branch that led here went.
    fn learn_from_branch(&mut self, b: Block, cfg: &Cfg) {
        let [p] = cfg.preds(b) else { return };
        let Some(t) = self.func.terminator(*p) else { return };
        let InstData::Brif { cond, then_to, .. } = &self.func.insts[t.index()].data else { return };
        let (cond, holds) = (*cond, then_to.block == b);
        let answer = self.constant(Ty::I8, holds as u64);
        self.learn(Key::Truth(cond), answer);
        // The opposite comparison is decided, too.
        let Some(InstData::Op { op, ty, args }) = self.defs.data(self.func, cond) else { return };
        let Some((op, swap)) = opposite(*op) else { return };
        let (a, b) = if swap { (args[1], args[0]) } else { (args[0], args[1]) };
        let key = self.op_key(op, *ty, &[a, b]);
        let answer = self.constant(Ty::I8, !holds as u64);
        self.learn(key, answer);
    }

    /// A constant in the entry block.
    fn constant(&mut self, ty: Ty, bits: u64) -> Value {
        if let Some(v) = self.known.get(&Key::Const(ty, bits)) {
            return *v;
        }
        let i = self.func.make_inst(InstData::Const { ty, bits }, crate::lir::Loc(0));
        self.keep_constant(i, ty, bits)
    }
    /// Constants are known everywhere, so they have no scope to leave.
    fn keep_constant(&mut self, i: Inst, ty: Ty, bits: u64) -> Value {
        self.defs.add(self.func, i);
        self.constants.push(i);
        let v = self.func.insts[i.index()].results[0];
        self.known.insert(Key::Const(ty, bits), v);
        v
    }

    fn op_key(&self, op: Op, ty: Ty, args: &[Value]) -> Key {
        let mut list = [0; 3];
        for (l, a) in list.iter_mut().zip(args) {
            *l = a.0;
        }
        if is_commutative(op) && list[0] > list[1] {
            list.swap(0, 1);
        }
        Key::Op(op, ty, self.func.value_type(args[0]), list)
    }

    /// Looks at one instruction, its operands replaced already. False if it goes.
    fn visit(&mut self, i: Inst, versions: &Versions) -> bool {
        let node = &self.func.insts[i.index()];
        let key = match &node.data {
            InstData::Const { ty, bits } => {
                let (ty, bits) = (*ty, *bits);
                match self.known.get(&Key::Const(ty, bits)).copied() {
                    Some(v) => self.subst.set(node.results[0], v),
                    None => {
                        self.keep_constant(i, ty, bits);
                    }
                }
                return false;
            }
            InstData::Op { op: Op::Select, args, .. } if let Some(holds) = self.truth(args[0]) => {
                let (result, chosen) = (node.results[0], args[if holds { 1 } else { 2 }]);
                self.subst.set(result, chosen);
                return false;
            }
            InstData::Op { args, .. } if args.len() > 3 => return true,
            InstData::Op { op, ty, args } => self.op_key(*op, *ty, args),
            InstData::Load { ty, addr, offset, alias } => match alias {
                Alias::Volatile => return true,
                Alias::Array
                | Alias::Object
                | Alias::Length
                | Alias::Element
                | Alias::Frame
                | Alias::Stack
                | Alias::Ctx
                | Alias::Const => Key::Load {
                    ty: *ty,
                    addr: *addr,
                    offset: *offset,
                    alias: *alias,
                    version: memory::class(*alias).map_or(0, |c| versions[c]),
                },
            },
            InstData::StackAddr { slot } => Key::StackAddr(*slot),
            InstData::SymbolAddr { symbol } => Key::SymbolAddr(*symbol),
            InstData::CallHelper { helper, args } => match (helper.effect, helper.raises) {
                (Effect::Pure, Raises::Never) => Key::Helper(*helper, args.clone(), 0),
                (Effect::Reads, Raises::Never) => Key::Helper(*helper, args.clone(), versions[ANY]),
                (Effect::Writes, Raises::Pending) => {
                    self.tell_place(i, versions);
                    return true;
                }
                (Effect::Pure | Effect::Reads, Raises::Pending) | (Effect::Allocates | Effect::Writes, _) => {
                    return true;
                }
            },
            InstData::Grid { op, args, .. } if op.is_pure() => Key::Grid(*op, args.clone()),
            InstData::Brif { .. } => {
                self.decide(i);
                return true;
            }
            InstData::Store { .. }
            | InstData::Call { .. }
            | InstData::CallIndirect { .. }
            | InstData::Grid { .. }
            | InstData::Jump(_)
            | InstData::Switch { .. }
            | InstData::Return(_)
            | InstData::Unreachable => return true,
        };
        let Some(&result) = node.results.first() else { return true };
        if let Some(v) = self.known.get(&key).copied() {
            self.subst.set(result, v);
            return false;
        }
        if let Key::Load { ty, addr, offset, alias, .. } = key {
            self.remember((ty, addr, offset, alias, result));
        }
        self.learn(key, result);
        true
    }

    /// Tells what makes an entry for a key where the key was found just before: `d[k] = d.get(k, 0) + 1`.
    fn tell_place(&mut self, i: Inst, versions: &Versions) {
        let InstData::CallHelper { helper, args } = &self.func.insts[i.index()].data else { return };
        let Some(twins) = dict::LOOK_UPS.iter().find(|l| l.place == *helper) else { return };
        let key = Key::Helper(twins.find, args[1..args.len() - 1].to_vec(), versions[ANY]);
        if let Some(place) = self.known.get(&key).copied()
            && let InstData::CallHelper { args, .. } = &mut self.func.insts[i.index()].data
            && let Some(known) = args.last_mut()
        {
            *known = place;
        }
    }

    fn truth(&self, cond: Value) -> Option<bool> {
        let v = self.known.get(&Key::Truth(cond))?;
        self.defs.constant(self.func, *v).map(|c| c != 0)
    }

    fn decide(&mut self, i: Inst) {
        let InstData::Brif { cond, then_to, else_to, .. } = &self.func.insts[i.index()].data else { return };
        let holds = match self.defs.constant(self.func, *cond) {
            Some(c) => Some(c as i8 != 0),
            None => self.truth(*cond),
        };
        let Some(holds) = holds else { return };
        let to: BlockCall = if holds { then_to.clone() } else { else_to.clone() };
        self.func.insts[i.index()].data = InstData::Jump(to);
        self.decided = true;
    }

    fn remember(&mut self, access: (Ty, Value, i32, Alias, Value)) {
        if self.recent.len() == MAX_RECENT {
            self.recent.remove(0);
        }
        self.recent.push(access);
    }

    /// Past a store: what it wrote is known, and so is what lies beside it in the same object.
    fn after_store(&mut self, i: Inst, versions: &Versions) {
        let data = &self.func.insts[i.index()].data;
        let set = memory::clobbers(data);
        if set == 0 {
            return;
        }
        let InstData::Store { value, addr, offset, alias } = *data else {
            self.recent.retain(|r| memory::class(r.3).is_none_or(|c| set >> c & 1 == 0));
            return;
        };
        let Some(class) = memory::class(alias) else { return };
        let ty = self.func.value_type(value);
        let beside = |r: &(Ty, Value, i32, Alias, Value)| {
            r.1 == addr && (r.2 + r.0.bytes() as i32 <= offset || offset + ty.bytes() as i32 <= r.2)
        };
        self.recent.retain(|r| r.3 != alias || beside(r));
        self.remember((ty, addr, offset, alias, value));
        for (ty, addr, offset, _, value) in
            self.recent.iter().filter(|r| r.3 == alias).copied().collect::<Vec<_>>()
        {
            self.learn(Key::Load { ty, addr, offset, alias, version: versions[class] }, value);
        }
    }
}

/// The comparison that holds exactly where this one does not, and whether its operands are exchanged.
fn opposite(op: Op) -> Option<(Op, bool)> {
    use Op::*;
    let pairs = [
        (IcmpEq, IcmpNe, false),
        (IcmpNe, IcmpEq, false),
        (IcmpSlt, IcmpSge, false),
        (IcmpSge, IcmpSlt, false),
        (IcmpSgt, IcmpSle, false),
        (IcmpSle, IcmpSgt, false),
        (IcmpUlt, IcmpUle, true),
        (IcmpUle, IcmpUlt, true),
        (FcmpEq, FcmpNe, false),
        (FcmpNe, FcmpEq, false),
    ];
    pairs.iter().find(|p| p.0 == op).map(|p| (p.1, p.2))
}
