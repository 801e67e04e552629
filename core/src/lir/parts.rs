//! Vectors as a back end with vectors of 128 bits takes them: in parts of that width where it has the
//! instruction, lane by lane where it has not.
//!
//! A vector of less than 128 bits is its lanes. What a value is held as, parts or lanes, is decided where it is
//! made; the other form is made where it is asked for, once in a block.

use super::cfg::Cfg;
use super::opt::edit::{Defs, FastMap, Subst, for_each_call_mut, remove_unreachable};
use super::{Alias, Block, Func, Inst, InstData, Loc, Op, Shape, Ty, Value, Vector};

/// Bytes of a part.
const PART: u32 = 16;

/// The type of the parts of a vector; none of one that is narrower than a part.
fn part_of(v: Vector) -> Option<Ty> {
    let lanes = (PART / v.lane().bytes()) as usize;
    (lanes <= v.lanes()).then(|| v.lane().vector(lanes)).flatten()
}

/// Rewrites the function so that its vectors are of 128 bits, and that `has` says of every operation on such
/// vectors, given with its printed type, that the back end has it. Changes nothing where there are no vectors.
pub fn split_vectors(func: &mut Func, has: &dyn Fn(Op, Ty) -> bool) {
    if !func.has_vectors() || func.layout.is_empty() {
        return;
    }
    let cfg = Cfg::new(func);
    remove_unreachable(func, &cfg);
    let (subst, defs) = (Subst::new(func), Defs::new(func));
    let (held, here, spilled) = (FastMap::default(), FastMap::default(), FastMap::default());
    let mut s = Split { func, has, defs, held, here, spilled, subst, out: vec![], loc: Loc(0) };
    for &b in cfg.rpo() {
        s.params(b);
    }
    for &b in cfg.rpo() {
        s.block(b);
    }
    let Split { mut subst, func, .. } = s;
    subst.apply(func);
}

/// What stands for a vector.
#[derive(Clone, Default)]
struct Held {
    lanes: Option<Vec<Value>>,
    parts: Option<Vec<Value>>,
}

struct Split<'a> {
    func: &'a mut Func,
    has: &'a dyn Fn(Op, Ty) -> bool,
    defs: Defs,
    held: FastMap<Value, Held>,
    /// The other forms, as far as this block has made them.
    here: FastMap<Value, Held>,
    /// Where vectors lie in the frame, as far as this block has put them there.
    spilled: FastMap<Value, Value>,
    subst: Subst,
    out: Vec<Inst>,
    loc: Loc,
}

impl Split<'_> {
    fn put(&mut self, data: InstData) -> Value {
        let i = self.func.make_inst(data, self.loc);
        self.out.push(i);
        self.func.insts[i.index()].results[0]
    }
    fn op(&mut self, op: Op, ty: Ty, args: Vec<Value>) -> Value {
        self.put(InstData::Op { op, ty, args })
    }
    fn not_zero(&mut self, v: Value) -> Value {
        let zero = self.put(InstData::Const { ty: Ty::I8, bits: 0 });
        self.op(Op::IcmpNe, Ty::I8, vec![v, zero])
    }
    fn number(&mut self, k: usize) -> Value {
        self.put(InstData::Const { ty: Ty::I64, bits: k as u64 })
    }
    fn vector(&self, v: Value) -> Option<Vector> {
        self.func.value_type(v).as_vector()
    }

    fn params(&mut self, b: Block) {
        let old = std::mem::take(&mut self.func.blocks[b.index()].params);
        let mut new = vec![];
        for p in old {
            let Some(v) = self.vector(p) else {
                new.push(p);
                continue;
            };
            let mut held = Held::default();
            let (ty, n, parts) = match part_of(v) {
                Some(part) => (part, v.lanes() * v.lane().bytes() as usize / PART as usize, true),
                None => (v.lane(), v.lanes(), false),
            };
            let values: Vec<Value> = (0..n).map(|_| self.func.make_value(ty)).collect();
            new.extend(&values);
            *(if parts { &mut held.parts } else { &mut held.lanes }) = Some(values);
            self.held.insert(p, held);
        }
        self.func.blocks[b.index()].params = new;
    }

    fn block(&mut self, b: Block) {
        self.here.clear();
        self.spilled.clear();
        for i in std::mem::take(&mut self.func.blocks[b.index()].insts) {
            self.loc = self.func.insts[i.index()].loc;
            self.inst(i);
        }
        self.func.blocks[b.index()].insts = std::mem::take(&mut self.out);
    }

    fn inst(&mut self, i: Inst) {
        let node = &self.func.insts[i.index()];
        let (data, result) = (node.data.clone(), node.results.first().copied());
        match (&data, result) {
            (InstData::Op { op, ty: Ty::Vector(v), args }, Some(result)) => {
                self.operation(*op, *v, args, result)
            }
            (InstData::Load { ty: Ty::Vector(v), addr, offset, alias }, Some(result)) => {
                let (ty, n) = self.pieces(*v);
                let piece = |k: usize| InstData::Load {
                    ty,
                    addr: *addr,
                    offset: offset.wrapping_add((k as u32 * ty.bytes()) as i32),
                    alias: *alias,
                };
                let values = (0..n).map(|k| self.put(piece(k))).collect();
                self.hold(result, values, ty);
            }
            (InstData::Store { value, addr, offset, alias }, _) if self.vector(*value).is_some() => {
                let Some(v) = self.vector(*value) else { return };
                self.write(*value, v, *addr, *offset, *alias);
            }
            (_, _) => {
                let mut data = data;
                for_each_call_mut(&mut data, |to| {
                    let old = std::mem::take(&mut to.args);
                    for a in old {
                        match self.vector(a) {
                            Some(v) => {
                                let (ty, _) = self.pieces(v);
                                let new =
                                    if ty.is_vector() { self.parts(a, v, ty) } else { self.lanes(a, v) };
                                to.args.extend(new);
                            }
                            None => to.args.push(a),
                        }
                    }
                });
                self.func.insts[i.index()].data = data;
                self.out.push(i);
            }
        }
    }

    /// What a vector lies in memory as, and how many of them.
    fn pieces(&self, v: Vector) -> (Ty, usize) {
        match part_of(v) {
            Some(part) => (part, (v.lanes() as u32 * v.lane().bytes() / PART) as usize),
            None => (v.lane(), v.lanes()),
        }
    }

    fn hold(&mut self, v: Value, values: Vec<Value>, ty: Ty) {
        let held = if ty.is_vector() {
            Held { parts: Some(values), lanes: None }
        } else {
            Held { lanes: Some(values), parts: None }
        };
        self.held.insert(v, held);
    }

    fn known(&self, v: Value) -> Held {
        let held = self.held.get(&v).cloned().unwrap_or_default();
        let here = self.here.get(&v).cloned().unwrap_or_default();
        Held { lanes: held.lanes.or(here.lanes), parts: held.parts.or(here.parts) }
    }

    fn lanes(&mut self, value: Value, v: Vector) -> Vec<Value> {
        let known = self.known(value);
        if let Some(lanes) = known.lanes {
            return lanes;
        }
        let parts = known.parts.unwrap_or_default();
        let mut lanes = Vec::with_capacity(v.lanes());
        for part in parts {
            let ty = self.func.value_type(part);
            for k in 0..ty.as_vector().map_or(0, |p| p.lanes()) {
                let number = self.number(k);
                lanes.push(self.op(Op::Lane, ty, vec![part, number]));
            }
        }
        self.here.entry(value).or_default().lanes = Some(lanes.clone());
        lanes
    }

    fn parts(&mut self, value: Value, v: Vector, part: Ty) -> Vec<Value> {
        let known = self.known(value);
        if let Some(parts) = known.parts {
            return parts;
        }
        let lanes = known.lanes.unwrap_or_default();
        let per = part.as_vector().map_or(1, |p| p.lanes());
        let mut parts: Vec<Value> = Vec::with_capacity(v.lanes() / per);
        let mut last: Option<(&[Value], Value)> = None;
        for group in lanes.chunks(per) {
            let made = match last {
                Some((same, made)) if same == group => made,
                _ if group.iter().all(|x| *x == group[0]) => self.op(Op::Splat, part, vec![group[0]]),
                _ => self.op(Op::Lanes, part, group.to_vec()),
            };
            last = Some((group, made));
            parts.push(made);
        }
        self.here.entry(value).or_default().parts = Some(parts.clone());
        parts
    }

    fn operation(&mut self, op: Op, v: Vector, args: &[Value], result: Value) {
        match op.shape() {
            Shape::Splat => self.hold(result, vec![args[0]; v.lanes()], v.lane()),
            Shape::Lanes => self.hold(result, args.to_vec(), v.lane()),
            Shape::Lane => {
                let lane = self.lane(args[0], v, args[1]);
                self.subst.set(result, lane);
            }
            Shape::LaneTruth => {
                let lanes = self.lanes(args[0], v);
                let truths: Vec<Value> = lanes.iter().map(|l| self.not_zero(*l)).collect();
                let op = if op == Op::AnyLane { Op::Bor } else { Op::Band };
                let mut all = truths[0];
                for t in &truths[1..] {
                    all = self.op(op, Ty::I8, vec![all, *t]);
                }
                self.subst.set(result, all);
            }
            Shape::IntBinary
            | Shape::IntUnary
            | Shape::IntCompare
            | Shape::FloatBinary
            | Shape::FloatTernary
            | Shape::FloatUnary
            | Shape::FloatCompare
            | Shape::IntToWiderInt
            | Shape::IntToNarrowerInt
            | Shape::IntToFloat
            | Shape::FloatToInt
            | Shape::FloatToFloat
            | Shape::Bitcast
            | Shape::PtrOffset
            | Shape::AnySelect => self.lane_by_lane(op, v, args, result),
        }
    }

    fn lane_by_lane(&mut self, op: Op, v: Vector, args: &[Value], result: Value) {
        let vectors: Vec<Vector> = args.iter().chain([&result]).filter_map(|a| self.vector(*a)).collect();
        let widths: Vec<Option<Ty>> = vectors.iter().map(|w| part_of(*w)).collect();
        let alike = vectors.iter().all(|w| w.lane().bytes() == v.lane().bytes());
        // What is held as lanes alone is not put together for one operation.
        let together = args.iter().any(|a| self.known(*a).parts.is_some());
        if let (true, Some(part), Some(made)) =
            (alike && together, part_of(v), widths.last().copied().flatten())
            && (self.has)(op, part)
        {
            let operands: Vec<Vec<Value>> = args
                .iter()
                .zip(&vectors)
                .zip(&widths)
                .map(|((a, w), part)| part.map_or(vec![], |part| self.parts(*a, *w, part)))
                .collect();
            let n = operands[0].len();
            let parts = (0..n).map(|k| self.op(op, part, operands.iter().map(|o| o[k]).collect())).collect();
            self.hold(result, parts, made);
            return;
        }
        let operands: Vec<Vec<Value>> = args.iter().zip(&vectors).map(|(a, w)| self.lanes(*a, *w)).collect();
        let lanes =
            (0..v.lanes()).map(|k| self.op(op, v.lane(), operands.iter().map(|o| o[k]).collect())).collect();
        self.hold(result, lanes, v.lane());
    }

    /// One lane; which one need not be known.
    fn lane(&mut self, value: Value, v: Vector, number: Value) -> Value {
        let constant = self.constant(number);
        let known = self.known(value);
        if let (Some(k), None, Some(parts)) = (constant, &known.lanes, &known.parts) {
            let ty = self.func.value_type(parts[0]);
            let per = ty.as_vector().map_or(1, |p| p.lanes());
            let k = k as usize % v.lanes();
            let number = self.number(k % per);
            return self.op(Op::Lane, ty, vec![parts[k / per], number]);
        }
        if let Some(k) = constant {
            return self.lanes(value, v)[k as usize % v.lanes()];
        }
        let memory = self.in_memory(value, v);
        let last = self.put(InstData::Const { ty: Ty::I64, bits: v.lanes() as u64 - 1 });
        let number = self.op(Op::Band, Ty::I64, vec![number, last]);
        let size = self.put(InstData::Const { ty: Ty::I64, bits: u64::from(v.lane().bytes()) });
        let offset = self.op(Op::Imul, Ty::I64, vec![number, size]);
        let addr = self.op(Op::PtrAdd, Ty::Ptr, vec![memory, offset]);
        self.put(InstData::Load { ty: v.lane(), addr, offset: 0, alias: Alias::Stack })
    }

    /// The address of a piece of the frame with the lanes, written once in a block.
    fn in_memory(&mut self, value: Value, v: Vector) -> Value {
        if let Some(known) = self.spilled.get(&value) {
            return *known;
        }
        let slot = self.func.add_slot(v.lane().bytes() * v.lanes() as u32);
        let addr = self.put(InstData::StackAddr { slot });
        self.write(value, v, addr, 0, Alias::Stack);
        self.spilled.insert(value, addr);
        addr
    }

    fn write(&mut self, value: Value, v: Vector, addr: Value, offset: i32, alias: Alias) {
        let (ty, _) = self.pieces(v);
        let values = if ty.is_vector() { self.parts(value, v, ty) } else { self.lanes(value, v) };
        for (k, value) in values.into_iter().enumerate() {
            let offset = offset.wrapping_add((k as u32 * ty.bytes()) as i32);
            let made = self.func.make_inst(InstData::Store { value, addr, offset, alias }, self.loc);
            self.out.push(made);
        }
    }

    fn constant(&self, v: Value) -> Option<u64> {
        self.defs.constant(self.func, v)
    }
}
