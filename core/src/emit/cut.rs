//! Blocks cut out of the function in which they were written, as a function of their own: constants that they
//! use are made again, other values of the function become arguments.

use crate::lir::{Block, BlockData, Func, Inst, InstData, InstNode, Loc, Signature, Slot, Ty, Value};
use std::collections::HashMap;

/// How long a function's tables were.
pub(crate) struct Mark {
    blocks: usize,
    layout: usize,
    insts: usize,
    values: usize,
    slots: usize,
}

impl Mark {
    pub(crate) fn here(f: &Func) -> Mark {
        Mark {
            blocks: f.blocks.len(),
            layout: f.layout.len(),
            insts: f.insts.len(),
            values: f.value_types.len(),
            slots: f.slots.len(),
        }
    }
}

/// Takes everything made since `mark` out of a function; gives it as a function, and the values that it takes
/// behind its three own parameters.
pub(crate) fn cut(from: &mut Func, mark: Mark, ctx: Value, name: String) -> (Func, Vec<Value>) {
    let mut out = Func::new(name, Signature { params: vec![], results: vec![Ty::I64] });
    let (blocks, insts) = (from.blocks.split_off(mark.blocks), from.insts.split_off(mark.insts));
    out.value_types = from.value_types.split_off(mark.values);
    out.slots = from.slots.split_off(mark.slots);
    out.layout =
        from.layout.split_off(mark.layout).into_iter().map(|b| Block::new(b.index() - mark.blocks)).collect();
    let value = |v: &Value| Value::new(v.index() - mark.values);
    out.blocks = blocks
        .into_iter()
        .map(|b| BlockData {
            params: b.params.iter().map(value).collect(),
            insts: b.insts.iter().map(|i| Inst::new(i.index() - mark.insts)).collect(),
            ..b
        })
        .collect();
    let mut cutter = Cutter {
        from,
        mark: &mark,
        known: HashMap::new(),
        consts: HashMap::new(),
        head: vec![],
        taken: vec![],
        locs: HashMap::new(),
        out,
    };
    let own_ctx = cutter.out.blocks[0].params[0];
    cutter.known.insert(ctx, own_ctx);
    cutter.find_consts(&insts);
    for node in insts {
        cutter.inst(node);
    }
    let Cutter { mut out, taken, head, .. } = cutter;
    let first = out.insts.len();
    out.insts.extend(head);
    let made: Vec<Inst> = (first..out.insts.len()).map(Inst::new).collect();
    out.blocks[0].insts.splice(0..0, made);
    out.sig.params = out.blocks[0].params.iter().map(|p| out.value_types[p.index()]).collect();
    (out, taken)
}

struct Cutter<'a> {
    from: &'a Func,
    mark: &'a Mark,
    out: Func,
    /// Values of the outer function, and what they are in the new one.
    known: HashMap<Value, Value>,
    /// Those of them that are made anew.
    consts: HashMap<Value, InstData>,
    head: Vec<InstNode>,
    taken: Vec<Value>,
    locs: HashMap<Loc, Loc>,
}

impl Cutter<'_> {
    fn find_consts(&mut self, insts: &[InstNode]) {
        let mut used = std::collections::HashSet::new();
        for n in insts {
            n.data.for_each_use(|v| {
                if v.index() < self.mark.values {
                    used.insert(v);
                }
            });
        }
        for n in &self.from.insts {
            if let ([v], InstData::Const { .. } | InstData::SymbolAddr { .. }) =
                (n.results.as_slice(), &n.data)
                && used.contains(v)
            {
                self.consts.insert(*v, n.data.clone());
            }
        }
    }

    fn value(&mut self, v: Value) -> Value {
        if v.index() >= self.mark.values {
            return Value::new(v.index() - self.mark.values);
        }
        if let Some(known) = self.known.get(&v) {
            return *known;
        }
        let new = match self.consts.get(&v).cloned() {
            Some(mut data) => {
                if let InstData::SymbolAddr { symbol } = &mut data {
                    let s = &self.from.symbols[symbol.index()];
                    *symbol = self.out.symbol(&s.name, s.addr);
                }
                let v = self.out.make_value(self.from.value_type(v));
                self.head.push(InstNode { data, results: vec![v], loc: Loc(0) });
                v
            }
            None => {
                self.taken.push(v);
                self.out.add_param(Block(0), self.from.value_type(v))
            }
        };
        self.known.insert(v, new);
        new
    }

    fn loc(&mut self, loc: Loc) -> Loc {
        if let Some(l) = self.locs.get(&loc) {
            return *l;
        }
        let Some(mut data) = self.from.loc(loc).cloned() else { return Loc(0) };
        data.inlined_at = self.loc(data.inlined_at);
        let new = self.out.add_loc(data);
        self.locs.insert(loc, new);
        new
    }

    fn inst(&mut self, mut node: InstNode) {
        let mark = self.mark;
        let mut uses = vec![];
        node.data.for_each_use(|v| uses.push(v));
        for v in uses {
            self.value(v);
        }
        node.data.map_uses(|v| {
            if v.index() >= mark.values { Value::new(v.index() - mark.values) } else { self.known[&v] }
        });
        node.data.map_targets(|b| Block::new(b.index() - mark.blocks));
        match &mut node.data {
            InstData::StackAddr { slot } => *slot = Slot::new(slot.index() - mark.slots),
            InstData::SymbolAddr { symbol } => {
                let s = &self.from.symbols[symbol.index()];
                *symbol = self.out.symbol(&s.name, s.addr);
            }
            InstData::Call { func, .. } => {
                let f = &self.from.funcs[func.index()];
                *func = self.out.func_ref(&f.name, &f.sig);
            }
            InstData::Const { .. }
            | InstData::Op { .. }
            | InstData::Load { .. }
            | InstData::Store { .. }
            | InstData::CallIndirect { .. }
            | InstData::CallHelper { .. }
            | InstData::Grid { .. }
            | InstData::Jump(_)
            | InstData::Brif { .. }
            | InstData::Switch { .. }
            | InstData::Return(_)
            | InstData::Unreachable => {}
        }
        for r in &mut node.results {
            *r = Value::new(r.index() - mark.values);
        }
        node.loc = self.loc(node.loc);
        self.out.insts.push(node);
    }
}
