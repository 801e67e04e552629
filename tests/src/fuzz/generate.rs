//! Random LIR: verified, terminating modules with the same answer on every correct target.
//!
//! What keeps the answer unique: slots are written before anything reads them; addresses of memory never
//! become values; a NaN is made canonical before its bits can be seen (bitcast, store, sign of `fcopysign`);
//! accesses of one alias class stay in memory of that class. What keeps programs short: loops count to at
//! most 7, control-flow soups carry a fuel counter, and a call is made only where the callee's estimated cost
//! fits.

use tierup_core::lir::builder::Builder;
use tierup_core::lir::*;
use tierup_core::rt::RtFn;

use super::rng::Rng;
use crate::exec::MEMORY;
use crate::helpers;

/// Estimated instructions that one call of a function may execute.
const MAX_COST: u64 = 20_000;

struct Callee {
    name: String,
    sig: Signature,
    cost: u64,
}

/// The module of a seed.
pub fn module(seed: u64) -> Module {
    if seed % 3 == 2 {
        return super::loops::module(seed);
    }
    let mut rng = Rng::new(seed);
    let mut callees: Vec<Callee> = vec![];
    let mut funcs = vec![];
    for i in 0..1 + rng.below(4) {
        let mut sig = Signature { params: vec![Ty::Ptr], results: vec![] };
        let (most_params, most_results) = if rng.chance(10) { (20, 9) } else { (6, 4) };
        for _ in 0..rng.below(most_params) {
            sig.params.push(*rng.choose(Ty::ALL));
        }
        for _ in 0..rng.below(most_results) {
            sig.results.push(*rng.choose(Ty::ALL));
        }
        let mut func = Func::new(format!("f{i}"), sig.clone());
        func.always_inline = rng.chance(20);
        let cost = body(&mut func, &mut rng, &callees);
        callees.push(Callee { name: func.name.clone(), sig, cost });
        funcs.push(func);
    }
    Module { funcs }
}

/// Arguments for a call: edges of the types more often than not. The first is the test's buffer.
pub fn arguments(sig: &Signature, rng: &mut Rng, buf: u64) -> Vec<u64> {
    sig.params.iter().enumerate().map(|(i, t)| if i == 0 { buf } else { constant(*t, rng) }).collect()
}

/// Bits of a type; edges more often than not.
pub fn constant(ty: Ty, rng: &mut Rng) -> u64 {
    const INTS: [i64; 14] = [0, 1, -1, 2, 3, 5, 7, 8, 10, 16, 31, 63, 100, 255];
    const FLOATS: [f64; 20] = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        2.5,
        -3.5,
        1e10,
        -1e19,
        1e300,
        127.0,
        128.0,
        2147483648.0,
        9.3e18,
        1.9e19,
        5e-324,
        f64::MAX,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
    ];
    let bits = 8 * ty.bytes();
    let raw = match ty {
        Ty::I8 | Ty::I16 | Ty::I32 | Ty::I64 | Ty::Ptr => match rng.below(10) {
            0..=5 => *rng.choose(&INTS) as u64,
            6 => 1 << (bits - 1),
            7 => (1 << (bits - 1)) - 1,
            8 => 1 << rng.below(bits as usize),
            9.. => rng.next(),
        },
        Ty::F32 => {
            if rng.chance(80) {
                (*rng.choose(&FLOATS) as f32).to_bits() as u64
            } else {
                rng.next()
            }
        }
        Ty::F64 => {
            if rng.chance(80) {
                rng.choose(&FLOATS).to_bits()
            } else {
                rng.next()
            }
        }
        Ty::Vector(_) => 0,
    };
    ty.canonical(canonical_nan(ty, raw))
}

fn canonical_nan(ty: Ty, bits: u64) -> u64 {
    if !crate::exec::is_nan(ty, ty.canonical(bits)) {
        return bits;
    }
    if ty == Ty::F32 { f32::NAN.to_bits() as u64 } else { f64::NAN.to_bits() }
}

fn body(func: &mut Func, rng: &mut Rng, callees: &[Callee]) -> u64 {
    let locs = (0..rng.below(3)).map(|i| LocData {
        file: "fuzz.py".into(),
        func: "f".into(),
        line: i as u32 + 1,
        col: 4,
        inlined_at: Loc(i as u32),
    });
    let locs: Vec<Loc> = locs.map(|l| func.add_loc(l)).collect();
    let mut g = Gen {
        b: Builder::start(func),
        rng,
        callees,
        pool: Default::default(),
        slots: vec![],
        locs,
        weight: 1,
        cost: 0,
        buf: Value(0),
        left: 0,
    };
    let params = g.b.params(g.b.block);
    g.buf = params[0];
    for p in &params[1..] {
        g.add(*p);
    }
    let most = if g.rng.chance(10) { 300 } else { 60 };
    g.left = 5 + g.rng.below(most);
    g.make_slots();
    if g.rng.chance(25) {
        g.soup()
    } else if !g.statements(0) {
        g.ret();
    }
    g.cost
}

struct Gen<'a> {
    b: Builder<'a>,
    rng: &'a mut Rng,
    callees: &'a [Callee],
    /// Values in scope, by type.
    pool: [Vec<Value>; 7],
    slots: Vec<(Slot, u32)>,
    locs: Vec<Loc>,
    /// How often the current place is executed at most, in one call.
    weight: u64,
    cost: u64,
    buf: Value,
    /// Statements that the function may still get.
    left: usize,
}

type Scope = [usize; 7];

impl Gen<'_> {
    fn add(&mut self, v: Value) {
        let ty = self.b.ty(v);
        self.pool[usize::from(ty.code())].push(v);
    }
    fn enter(&self) -> Scope {
        std::array::from_fn(|i| self.pool[i].len())
    }
    fn leave(&mut self, scope: Scope) {
        for (p, n) in self.pool.iter_mut().zip(scope) {
            p.truncate(n);
        }
    }

    fn emit(&mut self, data: InstData) -> Option<Value> {
        self.cost += self.weight;
        if !self.locs.is_empty() {
            self.b.loc = if self.rng.chance(50) { Loc(0) } else { *self.rng.choose(&self.locs) };
        }
        let inst = self.b.inst(data);
        let results = self.b.func.insts[inst.index()].results.clone();
        for r in &results {
            self.add(*r);
        }
        results.first().copied()
    }
    fn op(&mut self, op: Op, ty: Ty, args: Vec<Value>) -> Value {
        self.cost += self.weight;
        self.b.value(InstData::Op { op, ty, args })
    }
    fn pick(&mut self, ty: Ty) -> Value {
        let all = &self.pool[usize::from(ty.code())];
        if all.is_empty() || self.rng.chance(25) {
            return self.b.constant(ty, constant(ty, self.rng));
        }
        // Recent values more often, so that chains grow.
        let near = all.len().min(4);
        if self.rng.chance(50) { all[all.len() - 1 - self.rng.below(near)] } else { *self.rng.choose(all) }
    }
    fn picks(&mut self, types: &[Ty]) -> Vec<Value> {
        types.iter().map(|t| self.pick(*t)).collect()
    }
    fn types(&mut self, most: usize) -> Vec<Ty> {
        (0..self.rng.below(most + 1)).map(|_| *self.rng.choose(Ty::ALL)).collect()
    }

    /// The same value, with one NaN instead of many; by its bits, since an optimiser may take all NaNs for
    /// one.
    fn canonical(&mut self, v: Value) -> Value {
        let ty = self.b.ty(v);
        let (int, infinity, nan) = match ty {
            Ty::F32 => (Ty::I32, f32::INFINITY.to_bits() as u64, f32::NAN.to_bits() as u64),
            Ty::F64 => (Ty::I64, f64::INFINITY.to_bits(), f64::NAN.to_bits()),
            Ty::I8 | Ty::I16 | Ty::I32 | Ty::I64 | Ty::Ptr | Ty::Vector(_) => return v,
        };
        let bits = self.op(Op::Bitcast, int, vec![v]);
        let magnitude = self.b.constant(int, !(1u64 << (8 * ty.bytes() - 1)));
        let magnitude = self.op(Op::Band, int, vec![bits, magnitude]);
        let infinity = self.b.constant(int, infinity);
        let unordered = self.op(Op::IcmpUlt, int, vec![infinity, magnitude]);
        let nan = self.b.constant(int, nan);
        let bits = self.op(Op::Select, int, vec![unordered, nan, bits]);
        self.op(Op::Bitcast, ty, vec![bits])
    }

    fn make_slots(&mut self) {
        for _ in 0..self.rng.below(3) {
            let bytes = 8 * (1 + self.rng.below(10)) as u32;
            let slot = self.b.func.add_slot(bytes);
            let addr = self.b.value(InstData::StackAddr { slot });
            for at in 0..bytes / 8 {
                let v = self.b.constant(Ty::I64, constant(Ty::I64, self.rng));
                self.b.store(v, addr, 8 * at as i32, Alias::Stack);
            }
            self.slots.push((slot, bytes));
        }
    }

    /// An address with 8 accessible bytes at the offset.
    fn address(&mut self, writable: bool) -> (Value, i32, Alias) {
        let half = MEMORY as u32 / 2;
        let (base, start, size, alias) = match self.rng.below(4) {
            0 if !self.slots.is_empty() => {
                let (slot, bytes) = *self.rng.choose(&self.slots);
                (self.b.value(InstData::StackAddr { slot }), 0, bytes, Alias::Stack)
            }
            1 if !writable => (self.b.symbol_addr("data", 0), 0, MEMORY as u32, Alias::Const),
            2 => (self.buf, half, half, Alias::Object),
            0.. => (self.buf, 0, half, Alias::Array),
        };
        if size >= 48 && self.rng.chance(50) {
            let index = self.pick(Ty::I64);
            let mask = self.b.i64(31);
            let index = self.op(Op::Band, Ty::I64, vec![index, mask]);
            let p = self.op(Op::PtrAdd, Ty::Ptr, vec![base, index]);
            return (p, (start + self.rng.below((size - 39) as usize) as u32) as i32, alias);
        }
        (base, (start + self.rng.below((size - 7) as usize) as u32) as i32, alias)
    }

    /// An operation on scalars, with its type and those of its operands.
    fn form(&mut self) -> (Op, Ty, Vec<Ty>) {
        loop {
            let op = *self.rng.choose(Op::ALL);
            let forms = op.forms();
            if !forms.is_empty() {
                let (ty, types) = self.rng.choose(&forms).clone();
                return (op, ty, types);
            }
        }
    }

    /// The same operation on vectors of what there is, and some lanes of what it gives.
    fn vector(&mut self) {
        let (op, ty, types) = self.form();
        let n = 2 << self.rng.below(4);
        let Some(vector) = ty.vector(n).filter(|_| !types.contains(&Ty::Ptr)) else { return self.pure() };
        let mut args = vec![];
        for (k, t) in types.iter().enumerate() {
            let whole = self.rng.chance(30);
            let mut lanes: Vec<Value> = (0..if whole { 1 } else { n }).map(|_| self.pick(*t)).collect();
            if matches!(op, Op::Bitcast | Op::Fcopysign) && k + 1 == types.len() {
                lanes = lanes.into_iter().map(|l| self.canonical(l)).collect();
            }
            let (make, ty) = (if whole { Op::Splat } else { Op::Lanes }, t.vector(n).unwrap_or(vector));
            args.push(self.op(make, ty, lanes));
        }
        let made = self.op(op, vector, args);
        let ty = self.b.ty(made);
        for _ in 0..1 + self.rng.below(2) {
            let place = self.pick(Ty::I64);
            self.emit(InstData::Op { op: Op::Lane, ty, args: vec![made, place] });
        }
        if ty.lane() == Ty::I8 {
            let op = if self.rng.chance(50) { Op::AnyLane } else { Op::EveryLane };
            self.emit(InstData::Op { op, ty, args: vec![made] });
        }
    }

    fn pure(&mut self) {
        let (op, ty, types) = self.form();
        let mut args = self.picks(&types);
        if matches!(op, Op::Bitcast | Op::Fcopysign) {
            let last = args.len() - 1;
            args[last] = self.canonical(args[last]);
        }
        self.emit(InstData::Op { op, ty, args });
    }

    fn simple(&mut self) {
        match self.rng.below(100) {
            0..=9 => {
                let (addr, offset, alias) = self.address(false);
                // A pointer or float in memory may have any bits: loads of them would be values of any NaN,
                // which is allowed.
                let ty = *self.rng.choose(Ty::ALL);
                self.emit(InstData::Load { ty, addr, offset, alias });
            }
            10..=19 => {
                let ty = *self.rng.choose(Ty::ALL);
                let value = self.pick(ty);
                let value = self.canonical(value);
                let (addr, offset, alias) = self.address(true);
                self.emit(InstData::Store { value, addr, offset, alias });
            }
            20..=25 => self.call(),
            26..=29 => self.helper(),
            30..=34 => {
                let ty = *self.rng.choose(Ty::ALL);
                let bits = constant(ty, self.rng);
                self.emit(InstData::Const { ty, bits });
            }
            35 if self.weight < 50 => self.observe(),
            36..=41 => self.vector(),
            35.. => self.pure(),
        }
    }

    fn call(&mut self) {
        let (weight, room) = (self.weight, MAX_COST.saturating_sub(self.cost));
        let fitting: Vec<&Callee> =
            self.callees.iter().filter(|c| c.cost.saturating_mul(weight) < room).collect();
        if fitting.is_empty() {
            return self.pure();
        }
        let c = *self.rng.choose(&fitting);
        let mut args = self.picks(&c.sig.params);
        args[0] = self.buf;
        self.cost += c.cost * weight;
        if self.rng.chance(70) {
            let func = self.b.func.func_ref(&c.name, &c.sig);
            self.emit(InstData::Call { func, args });
        } else {
            let cell = self.b.symbol_addr(&format!("cell:{}", c.name), 0);
            let addr = self.b.load(Ty::Ptr, cell, 0, Alias::Const);
            self.emit(InstData::CallIndirect { sig: c.sig.clone(), addr, args });
        }
    }

    fn helper(&mut self) {
        use tierup_core::rt::Effect;
        let pure: Vec<&'static RtFn> =
            helpers::HELPERS.iter().copied().filter(|h| h.effect == Effect::Pure).collect();
        match self.rng.below(6) {
            0 => {
                let value = self.pick(Ty::I64);
                let offset = self.b.i64(self.rng.below(MEMORY / 2 - 8) as i64);
                let p = self.b.ptr_add(self.buf, offset);
                self.emit(InstData::CallHelper { helper: &helpers::test_store, args: vec![p, value] });
            }
            1 => {
                let n = self.b.i64(self.rng.below(17) as i64);
                self.emit(InstData::CallHelper { helper: &helpers::test_sum, args: vec![self.buf, n] });
            }
            2.. => {
                let helper = *self.rng.choose(&pure);
                let args = self.picks(helper.params);
                self.emit(InstData::CallHelper { helper, args });
            }
        }
    }

    /// Structured statements up to the end of the current block's region; true where they ended in a return.
    fn statements(&mut self, depth: usize) -> bool {
        for _ in 0..2 + self.rng.below(12) {
            if self.left == 0 || self.cost > MAX_COST {
                return false;
            }
            self.left -= 1;
            match self.rng.below(100) {
                0..=7 if depth < 4 => self.branch(depth),
                8..=13 if depth < 3 => self.counted_loop(depth),
                14..=16 if depth < 3 => self.switch(depth),
                18..=20 => self.guarded_division(),
                17 if depth > 0 => {
                    self.ret();
                    return true;
                }
                0.. => self.simple(),
            }
        }
        depth == 0 && self.left > 0 && self.statements(depth)
    }

    /// Mixes recent values into a word of the buffer, so that a wrong one is seen although no result depends
    /// on it.
    fn observe(&mut self) {
        let mut sum = self.b.i64(17);
        for ty in Ty::ALL {
            for back in 1..=3 {
                let all = &self.pool[usize::from(ty.code())];
                let Some(&v) = all.len().checked_sub(back).and_then(|i| all.get(i)) else { continue };
                let v = self.canonical(v);
                let word = match ty {
                    Ty::I8 | Ty::I16 | Ty::I32 => self.op(Op::Zext, Ty::I64, vec![v]),
                    Ty::I64 | Ty::Vector(_) => v,
                    Ty::F64 | Ty::Ptr => self.op(Op::Bitcast, Ty::I64, vec![v]),
                    Ty::F32 => {
                        let bits = self.op(Op::Bitcast, Ty::I32, vec![v]);
                        self.op(Op::Sext, Ty::I64, vec![bits])
                    }
                };
                let factor = self.b.i64(0x100_0193);
                let mixed = self.op(Op::Bxor, Ty::I64, vec![sum, word]);
                sum = self.op(Op::Imul, Ty::I64, vec![mixed, factor]);
            }
        }
        let at = (MEMORY / 2 - 8 * (1 + self.rng.below(4))) as i32;
        self.b.store(sum, self.buf, at, Alias::Array);
    }

    fn ret(&mut self) {
        if self.rng.chance(60) {
            self.observe();
        }
        let types = self.b.func.sig.results.clone();
        let values = self.picks(&types);
        self.b.ret(values);
    }

    fn block(&mut self, params: &[Ty]) -> Block {
        if self.rng.chance(15) { self.b.new_cold_block(params) } else { self.b.new_block(params) }
    }
    fn open(&mut self, block: Block) {
        self.b.switch_to(block);
        for p in self.b.params(block) {
            self.add(p);
        }
    }

    fn branch(&mut self, depth: usize) {
        let merged = self.types(3);
        let (then_types, else_types) = (self.types(2), self.types(1));
        let (then_to, else_to, merge) =
            (self.block(&then_types), self.block(&else_types), self.block(&merged));
        let cond = self.pick(Ty::I8);
        let (then_args, else_args) = (self.picks(&then_types), self.picks(&else_types));
        self.b.brif(cond, then_to, &then_args, else_to, &else_args);
        let mut reached = false;
        for arm in [then_to, else_to] {
            let scope = self.enter();
            self.open(arm);
            if !self.statements(depth + 1) {
                let args = self.picks(&merged);
                self.b.jump(merge, &args);
                reached = true;
            }
            self.leave(scope);
        }
        // Where both arms return, what follows is unreachable code, which must do no harm either.
        let _ = reached;
        self.open(merge);
    }

    /// A check of a divisor and a division behind it, as programs have them: back ends leave out guards that
    /// such checks make superfluous.
    fn guarded_division(&mut self) {
        let ty = *self.rng.choose(&[Ty::I8, Ty::I16, Ty::I32, Ty::I64]);
        let (a, b) = (self.pick(ty), self.pick(ty));
        let limit = self.b.iconst(ty, self.rng.below(4) as i64 - 2);
        let compares = [
            Op::IcmpEq,
            Op::IcmpNe,
            Op::IcmpSlt,
            Op::IcmpSle,
            Op::IcmpSgt,
            Op::IcmpSge,
            Op::IcmpUlt,
            Op::IcmpUle,
        ];
        let compare = *self.rng.choose(&compares);
        let args = if self.rng.chance(80) { vec![b, limit] } else { vec![limit, b] };
        let cond = self.op(compare, ty, args);
        let (checked, join) = (self.block(&[]), self.block(&[ty]));
        if self.rng.chance(50) {
            self.b.brif(cond, checked, &[], join, &[a])
        } else {
            self.b.brif(cond, join, &[a], checked, &[])
        }
        self.b.switch_to(checked);
        let divide = *self.rng.choose(&[Op::Sdiv, Op::Udiv, Op::Srem, Op::Urem]);
        let result = self.op(divide, ty, vec![a, b]);
        self.b.jump(join, &[result]);
        self.open(join);
    }

    fn switch(&mut self, depth: usize) {
        let merged = self.types(2);
        let merge = self.block(&merged);
        let arms: Vec<Block> = (0..1 + self.rng.below(4)).map(|_| self.block(&[])).collect();
        let mut index = self.pick(Ty::I64);
        if self.rng.chance(60) {
            let mask = self.b.i64(3);
            index = self.op(Op::Band, Ty::I64, vec![index, mask]);
        }
        let cases: Vec<Block> = (0..self.rng.below(6)).map(|_| *self.rng.choose(&arms)).collect();
        let default = *self.rng.choose(&arms);
        self.b.switch(index, cases, default);
        for arm in arms {
            let scope = self.enter();
            self.open(arm);
            if !self.statements(depth + 1) {
                let args = self.picks(&merged);
                self.b.jump(merge, &args);
            }
            self.leave(scope);
        }
        self.open(merge);
    }

    fn counted_loop(&mut self, depth: usize) {
        let carried = self.types(3);
        let mut types = vec![Ty::I64];
        types.extend(&carried);
        let exits = self.types(2);
        let (header, body, exit) = (self.block(&types), self.block(&[]), self.block(&exits));
        let trips = if self.rng.chance(50) {
            self.b.i64(self.rng.below(8) as i64)
        } else {
            let (n, mask) = (self.pick(Ty::I64), self.b.i64(7));
            self.op(Op::Band, Ty::I64, vec![n, mask])
        };
        let mut start = vec![self.b.i64(0)];
        start.extend(self.picks(&carried));
        self.b.jump(header, &start);
        self.open(header);
        let outer = self.weight;
        self.weight *= 7;
        let i = self.b.params(header)[0];
        let less = *self.rng.choose(&[Op::IcmpSlt, Op::IcmpUlt]);
        let more = self.op(less, Ty::I64, vec![i, trips]);
        let exit_args = self.picks(&exits);
        self.b.brif(more, body, &[], exit, &exit_args);
        let scope = self.enter();
        self.open(body);
        if !self.statements(depth + 1) {
            let one = self.b.i64(1);
            let mut again = vec![self.op(Op::Iadd, Ty::I64, vec![i, one])];
            again.extend(self.picks(&carried));
            if self.rng.chance(25) {
                let cond = self.pick(Ty::I8);
                let exit_args = self.picks(&exits);
                self.b.brif(cond, header, &again, exit, &exit_args);
            } else {
                self.b.jump(header, &again);
            }
        }
        self.leave(scope);
        self.weight = outer;
        self.open(exit);
    }

    /// Blocks that jump anywhere, irreducible loops among them; each takes a fuel counter and leaves when it
    /// is used up.
    fn soup(&mut self) {
        let n = 2 + self.rng.below(6);
        let params: Vec<Vec<Ty>> = (0..n).map(|_| self.types(3)).collect();
        let with_fuel = |p: &[Ty]| [&[Ty::I64], p].concat();
        let heads: Vec<Block> = params.iter().map(|p| self.block(&with_fuel(p))).collect();
        let exit = self.b.new_cold_block(&[]);
        let fuel = 1 + self.rng.below(40) as i64;
        let start = self.b.i64(fuel);
        let first = self.rng.below(n);
        self.jump_to(start, heads[first], &params[first]);
        let scope = self.enter();
        self.weight *= fuel as u64;
        for head in &heads {
            self.open(*head);
            let fuel = self.b.params(*head)[0];
            let zero = self.b.i64(0);
            let empty = self.op(Op::IcmpSle, Ty::I64, vec![fuel, zero]);
            let body = self.block(&[]);
            self.b.brif(empty, exit, &[], body, &[]);
            self.b.switch_to(body);
            for _ in 0..self.rng.below(6) {
                if self.cost < MAX_COST {
                    self.simple();
                }
            }
            let one = self.b.i64(1);
            let fuel = self.op(Op::Isub, Ty::I64, vec![fuel, one]);
            let (x, y) = (self.rng.below(n), self.rng.below(n));
            if self.rng.chance(70) {
                let cond = self.pick(Ty::I8);
                let (mut to_x, mut to_y) = (vec![fuel], vec![fuel]);
                to_x.extend(self.picks(&params[x]));
                to_y.extend(self.picks(&params[y]));
                self.b.brif(cond, heads[x], &to_x, heads[y], &to_y);
            } else if self.rng.chance(30) {
                self.ret();
            } else {
                self.jump_to(fuel, heads[x], &params[x]);
            }
            self.leave(scope);
        }
        self.b.switch_to(exit);
        self.ret();
    }

    fn jump_to(&mut self, fuel: Value, head: Block, params: &[Ty]) {
        let mut args = vec![fuel];
        args.extend(self.picks(params));
        self.b.jump(head, &args);
    }
}
