//! What passes share: replacing values, finding definitions, rebuilding parameter lists.

use crate::lir::{Block, BlockCall, Func, Inst, InstData, Loc, Op, Ty, Value};

/// Values to be replaced by others. Chains are followed, so the order of registration is free; cycles are the
/// caller's bug.
pub(crate) struct Subst {
    to: Vec<u32>,
    any: bool,
}

impl Subst {
    pub(crate) fn new(func: &Func) -> Subst {
        Subst { to: (0..func.value_types.len() as u32).collect(), any: false }
    }

    /// Replaces `from` by `to`, both values of the same type.
    pub(crate) fn set(&mut self, from: Value, to: Value) {
        let len = self.to.len().max(from.index().max(to.index()) + 1);
        self.to.extend(self.to.len() as u32..len as u32);
        debug_assert_ne!(self.get(to), from, "a value cannot stand for itself");
        self.to[from.index()] = to.0;
        self.any = true;
    }

    pub(crate) fn get(&mut self, v: Value) -> Value {
        let mut at = v.0;
        while let Some(&next) = self.to.get(at as usize) {
            if next == at {
                break;
            }
            // Path halving keeps long chains cheap.
            if let Some(&after) = self.to.get(next as usize) {
                self.to[at as usize] = after;
            }
            at = next;
        }
        Value(at)
    }

    /// Rewrites every use in the function.
    pub(crate) fn apply(&mut self, func: &mut Func) {
        if !self.any {
            return;
        }
        for b in &func.layout {
            for i in &func.blocks[b.index()].insts {
                func.insts[i.index()].data.map_uses(|v| self.get(v));
            }
        }
    }
}

/// Which instruction defines a value, where that is an instruction and no block parameter.
pub(crate) struct Defs {
    inst: Vec<u32>,
}

const NONE: u32 = u32::MAX;

impl Defs {
    pub(crate) fn new(func: &Func) -> Defs {
        let mut defs = Defs { inst: vec![NONE; func.value_types.len()] };
        for b in &func.layout {
            for i in &func.blocks[b.index()].insts {
                defs.add(func, *i);
            }
        }
        defs
    }
    /// Records the results of an instruction made since.
    pub(crate) fn add(&mut self, func: &Func, i: Inst) {
        for r in &func.insts[i.index()].results {
            if r.index() >= self.inst.len() {
                self.inst.resize(r.index() + 1, NONE);
            }
            self.inst[r.index()] = i.0;
        }
    }
    pub(crate) fn inst(&self, v: Value) -> Option<Inst> {
        self.inst.get(v.index()).copied().filter(|i| *i != NONE).map(Inst)
    }
    pub(crate) fn data<'f>(&self, func: &'f Func, v: Value) -> Option<&'f InstData> {
        self.inst(v).map(|i| &func.insts[i.index()].data)
    }
    /// Bits of a constant.
    pub(crate) fn constant(&self, func: &Func, v: Value) -> Option<u64> {
        let InstData::Const { bits, .. } = self.data(func, v)? else { return None };
        Some(*bits)
    }
}

/// How often each value is used.
pub(crate) fn use_counts(func: &Func) -> Vec<u32> {
    let mut uses = vec![0u32; func.value_types.len()];
    for i in func.layout.iter().flat_map(|b| &func.blocks[b.index()].insts) {
        func.insts[i.index()].data.for_each_use(|v| uses[v.index()] += 1);
    }
    uses
}

/// Appends instructions to blocks.
pub(crate) struct Writer<'f> {
    pub func: &'f mut Func,
    pub loc: Loc,
}

impl Writer<'_> {
    pub(crate) fn put(&mut self, block: Block, data: InstData) -> Vec<Value> {
        let i = self.func.make_inst(data, self.loc);
        self.func.blocks[block.index()].insts.push(i);
        self.func.insts[i.index()].results.clone()
    }
    pub(crate) fn value(&mut self, block: Block, data: InstData) -> Value {
        self.put(block, data)[0]
    }
    pub(crate) fn int(&mut self, block: Block, ty: Ty, x: i64) -> Value {
        self.value(block, InstData::Const { ty, bits: x as u64 })
    }
    pub(crate) fn bin(&mut self, block: Block, op: Op, a: Value, b: Value) -> Value {
        let ty = self.func.value_type(a);
        self.value(block, InstData::Op { op, ty, args: vec![a, b] })
    }
}

/// A fast hash for small keys made of numbers; not for keys that an attacker chooses.
#[derive(Default)]
pub(crate) struct FastHasher(u64);
impl std::hash::Hasher for FastHasher {
    fn finish(&self) -> u64 {
        self.0.rotate_left(26)
    }
    fn write(&mut self, bytes: &[u8]) {
        for b in bytes {
            self.write_u64(*b as u64);
        }
    }
    fn write_u8(&mut self, x: u8) {
        self.write_u64(x as u64);
    }
    fn write_u32(&mut self, x: u32) {
        self.write_u64(x as u64);
    }
    fn write_u64(&mut self, x: u64) {
        self.0 = (self.0.rotate_left(5) ^ x).wrapping_mul(0x517c_c1b7_2722_0a95);
    }
    fn write_usize(&mut self, x: usize) {
        self.write_u64(x as u64);
    }
    fn write_isize(&mut self, x: isize) {
        self.write_u64(x as u64);
    }
    fn write_i32(&mut self, x: i32) {
        self.write_u64(x as u64);
    }
}
pub(crate) type FastMap<K, V> = std::collections::HashMap<K, V, std::hash::BuildHasherDefault<FastHasher>>;

/// Removes block parameters for which `drop` says so, and the arguments passed for them on every edge.
pub(crate) fn remove_params(func: &mut Func, mut drop: impl FnMut(&Func, Value) -> bool) -> bool {
    let mut dropped: Vec<Option<Vec<bool>>> = vec![None; func.blocks.len()];
    let mut any = false;
    for &b in func.layout.iter().skip(1) {
        let flags: Vec<bool> = func.blocks[b.index()].params.iter().map(|p| drop(func, *p)).collect();
        if !flags.contains(&true) {
            continue;
        }
        any = true;
        keep_unflagged(&mut func.blocks[b.index()].params, &flags);
        dropped[b.index()] = Some(flags);
    }
    if !any {
        return false;
    }
    let edit = |to: &mut BlockCall| {
        if let Some(flags) = &dropped[to.block.index()] {
            keep_unflagged(&mut to.args, flags);
        }
    };
    for b in &func.layout {
        let Some(&t) = func.blocks[b.index()].insts.last() else { continue };
        for_each_call_mut(&mut func.insts[t.index()].data, edit);
    }
    true
}

fn keep_unflagged(list: &mut Vec<Value>, flags: &[bool]) {
    let mut flags = flags.iter();
    list.retain(|_| !flags.next().is_some_and(|f| *f));
}

/// Jump targets that carry arguments.
pub(crate) fn for_each_call_mut(data: &mut InstData, mut f: impl FnMut(&mut BlockCall)) {
    match data {
        InstData::Jump(to) => f(to),
        InstData::Brif { then_to, else_to, .. } => {
            f(then_to);
            f(else_to)
        }
        InstData::Const { .. }
        | InstData::Op { .. }
        | InstData::Load { .. }
        | InstData::Store { .. }
        | InstData::StackAddr { .. }
        | InstData::SymbolAddr { .. }
        | InstData::Call { .. }
        | InstData::CallIndirect { .. }
        | InstData::CallHelper { .. }
        | InstData::Grid { .. }
        | InstData::Switch { .. }
        | InstData::Return(_)
        | InstData::Unreachable => {}
    }
}

/// Drops unreachable blocks from the layout.
pub(crate) fn remove_unreachable(func: &mut Func, cfg: &crate::lir::cfg::Cfg) -> bool {
    let before = func.layout.len();
    func.layout.retain(|b| cfg.is_reachable(*b));
    func.layout.len() != before
}
