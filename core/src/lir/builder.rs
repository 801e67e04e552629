//! Appends instructions at the end of a block and stamps each with the current location.

use super::func::*;
use super::inst::Op;
use super::ty::Ty;
use crate::rt::RtFn;

/// A cursor at the end of one block of `func`.
pub struct Builder<'a> {
    pub func: &'a mut Func,
    pub block: Block,
    pub loc: Loc,
}

impl<'a> Builder<'a> {
    /// Starts `func`: makes the entry block with one parameter for each of the signature's.
    pub fn start(func: &'a mut Func) -> Builder<'a> {
        let entry = func.make_block();
        func.layout.push(entry);
        for ty in func.sig.params.clone() {
            func.add_param(entry, ty);
        }
        Builder { func, block: entry, loc: Loc(0) }
    }

    pub fn params(&self, b: Block) -> Vec<Value> {
        self.func.blocks[b.index()].params.clone()
    }

    /// A new block with parameters of the given types.
    pub fn new_block(&mut self, params: &[Ty]) -> Block {
        let b = self.func.make_block();
        for t in params {
            self.func.add_param(b, *t);
        }
        b
    }
    /// A new block that is rarely reached.
    pub fn new_cold_block(&mut self, params: &[Ty]) -> Block {
        let b = self.new_block(params);
        self.func.blocks[b.index()].cold = true;
        b
    }

    /// Continues at the end of `b`; appends it to the layout at the first visit.
    pub fn switch_to(&mut self, b: Block) {
        if self.func.blocks[b.index()].insts.is_empty() && !self.func.layout.contains(&b) {
            self.func.layout.push(b);
        }
        self.block = b;
    }

    /// Whether the current block already ends in a terminator.
    pub(crate) fn is_filled(&self) -> bool {
        self.func.terminator(self.block).is_some_and(|i| self.func.insts[i.index()].data.is_terminator())
    }

    pub fn inst(&mut self, data: InstData) -> Inst {
        debug_assert!(!self.is_filled(), "instruction after the terminator of {}: {data:?}", self.block);
        let inst = self.func.make_inst(data, self.loc);
        self.func.blocks[self.block.index()].insts.push(inst);
        inst
    }
    pub fn value(&mut self, data: InstData) -> Value {
        let inst = self.inst(data);
        self.func.insts[inst.index()].results[0]
    }
    pub fn ty(&self, v: Value) -> Ty {
        self.func.value_type(v)
    }

    pub fn constant(&mut self, ty: Ty, bits: u64) -> Value {
        if ty.is_vector() {
            let x = self.constant(ty.lane(), bits);
            return self.splat(ty, x);
        }
        self.value(InstData::Const { ty, bits: ty.canonical(bits) })
    }
    pub fn iconst(&mut self, ty: Ty, x: i64) -> Value {
        self.constant(ty, x as u64)
    }
    pub fn i64(&mut self, x: i64) -> Value {
        self.constant(Ty::I64, x as u64)
    }
    pub(crate) fn bool(&mut self, x: bool) -> Value {
        self.constant(Ty::I8, x as u64)
    }
    pub fn f64(&mut self, x: f64) -> Value {
        self.constant(Ty::F64, x.to_bits())
    }
    pub fn f32(&mut self, x: f32) -> Value {
        self.constant(Ty::F32, x.to_bits() as u64)
    }
    pub(crate) fn null(&mut self) -> Value {
        self.constant(Ty::Ptr, 0)
    }

    /// A vector with `x` in every lane.
    pub fn splat(&mut self, ty: Ty, x: Value) -> Value {
        self.value(InstData::Op { op: Op::Splat, ty, args: vec![x] })
    }
    /// A vector of these.
    pub fn lanes(&mut self, ty: Ty, lanes: &[Value]) -> Value {
        self.value(InstData::Op { op: Op::Lanes, ty, args: lanes.to_vec() })
    }
    /// Lane `k` of a vector.
    pub fn lane(&mut self, v: Value, k: usize) -> Value {
        let (ty, k) = (self.ty(v), self.i64(k as i64));
        self.value(InstData::Op { op: Op::Lane, ty, args: vec![v, k] })
    }
    /// A scalar among vectors is one of as many lanes as they have, so that what is written for scalars computes
    /// with vectors.
    fn alike<const N: usize>(&mut self, values: [Value; N]) -> [Value; N] {
        let Some(v) = values.iter().find_map(|v| self.ty(*v).as_vector()) else { return values };
        values.map(|x| match self.ty(x).vector(v.lanes()) {
            Some(ty) => self.splat(ty, x),
            None => x,
        })
    }

    /// Unary instruction; the type is the operand's.
    pub fn un(&mut self, op: Op, a: Value) -> Value {
        let ty = self.ty(a);
        self.value(InstData::Op { op, ty, args: vec![a] })
    }
    /// Binary instruction or comparison; the type is the first operand's.
    pub fn bin(&mut self, op: Op, a: Value, b: Value) -> Value {
        let [a, b] = self.alike([a, b]);
        let ty = self.ty(a);
        self.value(InstData::Op { op, ty, args: vec![a, b] })
    }
    /// Conversion to `to`.
    pub fn conv(&mut self, op: Op, to: Ty, a: Value) -> Value {
        let to = self.ty(a).as_vector().and_then(|v| to.vector(v.lanes())).unwrap_or(to);
        self.value(InstData::Op { op, ty: to, args: vec![a] })
    }
    pub fn bin_imm(&mut self, op: Op, a: Value, b: i64) -> Value {
        let ty = self.ty(a);
        let b = self.iconst(ty, b);
        self.bin(op, a, b)
    }
    pub fn select(&mut self, cond: Value, a: Value, b: Value) -> Value {
        let [cond, a, b] = self.alike([cond, a, b]);
        let ty = self.ty(a);
        self.value(InstData::Op { op: Op::Select, ty, args: vec![cond, a, b] })
    }
    pub(crate) fn ternary(&mut self, op: Op, a: Value, b: Value, c: Value) -> Value {
        let [a, b, c] = self.alike([a, b, c]);
        let ty = self.ty(a);
        self.value(InstData::Op { op, ty, args: vec![a, b, c] })
    }
    pub fn ptr_add(&mut self, p: Value, bytes: Value) -> Value {
        self.value(InstData::Op { op: Op::PtrAdd, ty: Ty::Ptr, args: vec![p, bytes] })
    }

    pub fn load(&mut self, ty: Ty, addr: Value, offset: i32, alias: Alias) -> Value {
        self.value(InstData::Load { ty, addr, offset, alias })
    }
    pub fn store(&mut self, value: Value, addr: Value, offset: i32, alias: Alias) {
        self.inst(InstData::Store { value, addr, offset, alias });
    }
    pub fn slot_addr(&mut self, bytes: u32) -> Value {
        let slot = self.func.add_slot(bytes);
        self.value(InstData::StackAddr { slot })
    }
    /// Values in consecutive 8-byte words of a stack slot; gives its address.
    pub(crate) fn spill(&mut self, values: &[Value]) -> Value {
        let slot = self.slot_addr(8 * values.len().max(1) as u32);
        for (i, v) in values.iter().enumerate() {
            self.store(*v, slot, 8 * i as i32, Alias::Stack);
        }
        slot
    }
    pub fn symbol_addr(&mut self, name: &str, addr: usize) -> Value {
        let symbol = self.func.symbol(name, addr);
        self.value(InstData::SymbolAddr { symbol })
    }

    pub fn helper(&mut self, helper: &'static RtFn, args: &[Value]) -> Option<Value> {
        let inst = self.inst(InstData::CallHelper { helper, args: args.to_vec() });
        self.func.insts[inst.index()].results.first().copied()
    }
    /// Direct call; the results include the status.
    pub fn call(&mut self, name: &str, sig: &Signature, args: &[Value]) -> Vec<Value> {
        let func = self.func.func_ref(name, sig);
        let inst = self.inst(InstData::Call { func, args: args.to_vec() });
        self.func.insts[inst.index()].results.clone()
    }
    pub fn call_indirect(&mut self, sig: &Signature, addr: Value, args: &[Value]) -> Vec<Value> {
        let inst = self.inst(InstData::CallIndirect { sig: sig.clone(), addr, args: args.to_vec() });
        self.func.insts[inst.index()].results.clone()
    }

    pub fn jump(&mut self, block: Block, args: &[Value]) {
        self.inst(InstData::Jump(BlockCall { block, args: args.to_vec() }));
    }
    pub fn brif(
        &mut self,
        cond: Value,
        then_to: Block,
        then_args: &[Value],
        else_to: Block,
        else_args: &[Value],
    ) {
        let cold = match (self.func.blocks[then_to.index()].cold, self.func.blocks[else_to.index()].cold) {
            (true, false) => Cold::Then,
            (false, true) => Cold::Else,
            (true, true) | (false, false) => Cold::Neither,
        };
        let then_to = BlockCall { block: then_to, args: then_args.to_vec() };
        let else_to = BlockCall { block: else_to, args: else_args.to_vec() };
        self.inst(InstData::Brif { cond, then_to, else_to, cold });
    }
    pub fn switch(&mut self, index: Value, cases: Vec<Block>, default: Block) {
        self.inst(InstData::Switch { index, cases, default });
    }
    pub fn ret(&mut self, values: Vec<Value>) {
        self.inst(InstData::Return(values));
    }
    pub fn unreachable(&mut self) {
        self.inst(InstData::Unreachable);
    }
}
