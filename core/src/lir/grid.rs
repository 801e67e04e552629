//! Instructions of kernels: what a thread of a grid asks about itself, how the threads of a block wait for
//! each other, and how threads change memory that others change too.
//!
//! The grid is a box of blocks, a block a box of threads; both are counted along `x` first. The interpreter
//! defines the rest ([`crate::interp::grid`]); on a CPU [`on_cpu`] turns them into accesses of a
//! [`GridThread`].

use super::builder::Builder;
use super::func::*;
use super::grid_op::{GridOp, GridShape};
use super::half;
use super::inst::Op;
use super::ty::Ty;
use crate::layout::GridThread;

/// What [`on_cpu`] found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OnCpu {
    /// Bytes of shared memory that a block has whatever the launch says.
    pub shared_bytes: usize,
    /// Whether threads wait for each other, so that each needs a stack of its own.
    pub waits: bool,
    /// Whether threads wait for the whole grid, so that all blocks run at once.
    pub waits_for_grid: bool,
}

/// Makes of a kernel code for a CPU on which one thread of a block runs at a time: parameter 0 of every
/// function is a [`GridThread`] instead of a thread's context, updates are plain, and a barrier calls a
/// helper that lets the others run.
pub fn on_cpu(module: &mut Module) -> OnCpu {
    let mut found = OnCpu::default();
    for func in &mut module.funcs {
        let ctx = func.blocks[func.entry().index()].params.first().copied();
        let places: Vec<Option<usize>> = func
            .slots
            .iter_mut()
            .map(|s| {
                if !std::mem::take(&mut s.shared) {
                    return None;
                }
                let at = found.shared_bytes;
                found.shared_bytes += (s.bytes as usize).next_multiple_of(16);
                s.bytes = 0;
                Some(at)
            })
            .collect();
        for b in func.layout.clone() {
            let old = std::mem::take(&mut func.blocks[b.index()].insts);
            for i in old {
                let node = func.insts[i.index()].clone();
                let mut put = Put { func, block: b, loc: node.loc };
                match (&node.data, ctx) {
                    (InstData::Grid { op, ty, args }, Some(ctx)) => {
                        found.waits |= op.waits();
                        found.waits_for_grid |= *op == GridOp::GridBarrier;
                        put.grid(*op, *ty, args, ctx, i, &node.results);
                    }
                    (InstData::StackAddr { slot }, Some(ctx)) if places[slot.index()].is_some() => {
                        let at = places[slot.index()].unwrap_or(0);
                        let offset = std::mem::offset_of!(GridThread, shared) as i32;
                        let base =
                            put.value(InstData::Load { ty: Ty::Ptr, addr: ctx, offset, alias: Alias::Const });
                        let at = put.value(InstData::Const { ty: Ty::I64, bits: at as u64 });
                        put.again(i, InstData::Op { op: Op::PtrAdd, ty: Ty::Ptr, args: vec![base, at] });
                    }
                    (
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
                        | InstData::Jump(_)
                        | InstData::Brif { .. }
                        | InstData::Switch { .. }
                        | InstData::Return(_)
                        | InstData::Unreachable,
                        _,
                    ) => put.func.blocks[b.index()].insts.push(i),
                }
            }
        }
    }
    found
}

/// Puts instructions at the end of a block.
pub(super) struct Put<'a> {
    pub(super) func: &'a mut Func,
    pub(super) block: Block,
    pub(super) loc: Loc,
}

impl Put<'_> {
    pub(super) fn value(&mut self, data: InstData) -> Value {
        let i = self.func.make_inst(data, self.loc);
        self.func.blocks[self.block.index()].insts.push(i);
        self.func.insts[i.index()].results[0]
    }

    /// Where the instruction stands in the program, copies of it being one: the line in the high half, below
    /// it the column and a digest of the file, since functions of several files may wait in one kernel.
    fn site(&mut self) -> Value {
        let bits = self.func.place(self.loc).map_or(0, |l| {
            let file = l.file.bytes().fold(0u32, |h, b| h.wrapping_mul(31).wrapping_add(b.into()));
            u64::from(l.line) << 32 | u64::from(file << 12 | l.col & 0xfff)
        });
        self.value(InstData::Const { ty: Ty::I64, bits })
    }

    /// The instruction `i` as a call of a helper that waits here.
    fn wait(&mut self, helper: &'static crate::rt::RtFn, mut args: Vec<Value>, i: Inst) {
        args.push(self.site());
        self.again(i, InstData::CallHelper { helper, args });
    }

    /// The instruction `i` with its results, now another one.
    fn again(&mut self, i: Inst, data: InstData) {
        self.func.insts[i.index()].data = data;
        self.func.blocks[self.block.index()].insts.push(i);
    }

    fn grid(&mut self, op: GridOp, ty: Ty, args: &[Value], ctx: Value, i: Inst, results: &[Value]) {
        if let Some(offset) = op.field() {
            return self
                .again(i, InstData::Load { ty, addr: ctx, offset: offset as i32, alias: Alias::Const });
        }
        if op == GridOp::Barrier {
            return self.wait(&crate::ops::grid::grid_barrier, vec![ctx], i);
        }
        if op == GridOp::WarpBarrier {
            return self.wait(&crate::ops::grid::grid_warp_barrier, vec![ctx, args[0]], i);
        }
        if op == GridOp::Ballot {
            return self.wait(&crate::ops::grid::grid_ballot, vec![ctx, args[0], args[1]], i);
        }
        if op == GridOp::Shuffle {
            return self.shuffle(ty, args, ctx, i);
        }
        if op == GridOp::Match {
            return self.matching(ty, args, ctx, i);
        }
        if op == GridOp::BarrierCount {
            return self.wait(&crate::ops::grid::grid_barrier_count, vec![ctx, args[0]], i);
        }
        if op == GridOp::GridBarrier {
            return self.wait(&crate::ops::grid::grid_grid_barrier, vec![ctx], i);
        }
        if op == GridOp::ActiveMask {
            let offset = GridOp::LaneIndex.field().unwrap_or(0) as i32;
            let lane = self.value(InstData::Load { ty: Ty::I32, addr: ctx, offset, alias: Alias::Const });
            let one = self.value(InstData::Const { ty: Ty::I32, bits: 1 });
            return self.again(i, InstData::Op { op: Op::Ishl, ty: Ty::I32, args: vec![one, lane] });
        }
        if op == GridOp::Nanosleep {
            return;
        }
        if matches!(op.shape(), GridShape::Widen | GridShape::Narrow) {
            return self.half(op, args[0], i);
        }
        // One thread runs at a time, in the order of its program.
        if results.is_empty() {
            return;
        }
        let addr = args[0];
        self.again(i, InstData::Load { ty, addr, offset: 0, alias: Alias::Volatile });
        let old = results[0];
        let new = match op.combines(ty) {
            Some(combine) => self.value(InstData::Op { op: combine, ty, args: vec![old, args[1]] }),
            None if op == GridOp::AtomicCas => {
                let same = self.value(InstData::Op { op: Op::IcmpEq, ty, args: vec![old, args[1]] });
                self.value(InstData::Op { op: Op::Select, ty, args: vec![same, args[2], old] })
            }
            None => args[1],
        };
        let store = self
            .func
            .make_inst(InstData::Store { value: new, addr, offset: 0, alias: Alias::Volatile }, self.loc);
        self.func.blocks[self.block.index()].insts.push(store);
    }
}

impl Put<'_> {
    /// A CPU may know no floats of 16 bits.
    fn half(&mut self, op: GridOp, x: Value, i: Inst) {
        let put = std::cell::RefCell::new(self);
        let mut write = half::Write {
            op: &mut |op, ty, args| put.borrow_mut().value(InstData::Op { op, ty, args: args.to_vec() }),
        };
        let mut n = |bits: u32| {
            put.borrow_mut().value(InstData::Const { ty: Ty::I32, bits: Ty::I32.canonical(bits.into()) })
        };
        let (made, last, ty) = if op == GridOp::HalfToFloat {
            (write.to_float(x, &mut n), Op::Bitcast, Ty::F32)
        } else {
            (write.from_float(x, &mut n), Op::Itrunc, Ty::I16)
        };
        put.borrow_mut().again(i, InstData::Op { op: last, ty, args: vec![made] });
    }

    /// The helper takes 64 bits.
    fn matching(&mut self, ty: Ty, args: &[Value], ctx: Value, i: Inst) {
        let bits = if ty == Ty::I64 {
            args[1]
        } else {
            self.value(InstData::Op { op: Op::Zext, ty: Ty::I64, args: vec![args[1]] })
        };
        self.wait(&crate::ops::grid::grid_match, vec![ctx, args[0], bits], i);
    }

    /// The helper takes and gives 64 bits.
    fn shuffle(&mut self, ty: Ty, args: &[Value], ctx: Value, i: Inst) {
        let helper = &crate::ops::grid::grid_shuffle;
        let conv = |op: Op, ty: Ty, v: Value| InstData::Op { op, ty, args: vec![v] };
        let bits = match ty {
            Ty::F32 => {
                let narrow = self.value(conv(Op::Bitcast, Ty::I32, args[1]));
                self.value(conv(Op::Zext, Ty::I64, narrow))
            }
            Ty::F64 => self.value(conv(Op::Bitcast, Ty::I64, args[1])),
            Ty::I32 => self.value(conv(Op::Zext, Ty::I64, args[1])),
            Ty::I8 | Ty::I16 | Ty::I64 | Ty::Ptr | Ty::Vector(_) => args[1],
        };
        let site = self.site();
        let call = InstData::CallHelper { helper, args: vec![ctx, args[0], bits, args[2], site] };
        match ty {
            Ty::I64 | Ty::I8 | Ty::I16 | Ty::Ptr | Ty::Vector(_) => self.again(i, call),
            Ty::F64 => {
                let got = self.value(call);
                self.again(i, conv(Op::Bitcast, ty, got));
            }
            Ty::I32 => {
                let got = self.value(call);
                self.again(i, conv(Op::Itrunc, ty, got));
            }
            Ty::F32 => {
                let got = self.value(call);
                let narrow = self.value(conv(Op::Itrunc, Ty::I32, got));
                self.again(i, conv(Op::Bitcast, ty, narrow));
            }
        }
    }
}

/// An array of the host that a kernel has as a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Constant {
    pub addr: usize,
    pub bytes: usize,
}

const CONSTANT: &str = "constant array";

/// The symbol of a constant.
pub(crate) fn constant_name(addr: usize, bytes: u64) -> String {
    format!("{CONSTANT} {addr} {bytes}")
}

fn constant_of(symbol: &SymbolData) -> Option<Constant> {
    let bytes = symbol.name.strip_prefix(CONSTANT)?.rsplit(' ').next()?.parse().ok()?;
    Some(Constant { addr: symbol.addr, bytes })
}

/// Words of the buffer in which threads leave what they print, after the one that counts them.
pub const PRINT_WORDS: i64 = (1 << 17) - 1;
/// In the form of what is printed: a letter follows, which says what a word is (`i u b d f h`, and `D F` of two
/// words), that a text begins whose `repr` is meant and where it ends (`r e`), or itself.
pub const VALUE: char = '\u{1}';
const PRINT_FORM: &str = "printed form ";

/// The symbol of that buffer: memory that a kernel has of its own, zeros at first.
pub(crate) fn print_buffer() -> String {
    constant_name(0, 8 * (PRINT_WORDS as u64 + 1))
}

/// The symbol of a form.
pub(crate) fn print_form(form: &str) -> String {
    format!("{PRINT_FORM}{form}")
}

impl Constant {
    /// Whether it is the buffer for what is printed.
    pub fn is_print_buffer(&self) -> bool {
        self.addr == 0
    }
}

/// Puts numbers from 1 in place of the forms of what a kernel prints; the forms in the order of their numbers.
pub fn take_print_forms(module: &mut Module) -> Vec<String> {
    let mut forms: Vec<String> = vec![];
    for func in &mut module.funcs {
        for inst in &mut func.insts {
            let InstData::SymbolAddr { symbol } = inst.data else { continue };
            let Some(form) = func.symbols[symbol.index()].name.strip_prefix(PRINT_FORM) else { continue };
            let number = forms.iter().position(|f| f == form).unwrap_or_else(|| {
                forms.push(form.to_owned());
                forms.len() - 1
            });
            inst.data = InstData::Const { ty: Ty::Ptr, bits: number as u64 + 1 };
        }
    }
    forms
}

/// Makes parameters of the constants of a kernel, its last ones; what they stand for.
pub fn take_constants(module: &mut Module, kernel: &str) -> Vec<Constant> {
    let Some(func) = module.funcs.iter_mut().find(|f| f.name == kernel) else { return vec![] };
    let (mut found, mut params): (Vec<Constant>, Vec<Value>) = (vec![], vec![]);
    let mut renamed = std::collections::HashMap::new();
    for i in 0..func.insts.len() {
        let InstData::SymbolAddr { symbol } = func.insts[i].data else { continue };
        let Some(constant) = constant_of(&func.symbols[symbol.index()]) else { continue };
        let k = found.iter().position(|c| *c == constant).unwrap_or_else(|| {
            let entry = func.entry();
            params.push(func.add_param(entry, Ty::Ptr));
            func.sig.params.push(Ty::Ptr);
            found.push(constant);
            found.len() - 1
        });
        renamed.insert(func.insts[i].results[0], params[k]);
    }
    let dead = |i: &Inst| matches!(func.insts[i.index()].data, InstData::SymbolAddr { symbol } if constant_of(&func.symbols[symbol.index()]).is_some());
    for b in func.layout.clone() {
        let kept: Vec<Inst> = func.blocks[b.index()].insts.iter().copied().filter(|i| !dead(i)).collect();
        func.blocks[b.index()].insts = kept;
    }
    for inst in &mut func.insts {
        inst.data.map_uses(|v| renamed.get(&v).copied().unwrap_or(v));
    }
    found
}

/// Has the code of a CPU use copies of its constants, which `copy` makes.
pub fn move_constants(module: &mut Module, copy: &mut dyn FnMut(Constant) -> usize) {
    let mut made: Vec<(Constant, usize)> = vec![];
    for symbol in module.funcs.iter_mut().flat_map(|f| &mut f.symbols) {
        let Some(constant) = constant_of(symbol) else { continue };
        let at = match made.iter().find(|m| m.0 == constant) {
            Some((_, at)) => *at,
            None => {
                let at = copy(constant);
                made.push((constant, at));
                at
            }
        };
        symbol.addr = at;
    }
}

/// Has functions that call themselves not ask how much stack there is: a GPU does not know.
pub fn without_stack_checks(module: &mut Module) {
    let at = std::mem::offset_of!(GridThread, stack_limit) as i32;
    for func in &mut module.funcs {
        let ctx = func.blocks[func.entry().index()].params.first().copied();
        for inst in &mut func.insts {
            if let InstData::Load { ty, addr, offset, alias: Alias::Volatile } = inst.data
                && offset == at
                && Some(addr) == ctx
            {
                inst.data = InstData::Const { ty, bits: 0 };
            }
        }
    }
}

/// Whether threads wait for the whole grid.
pub fn waits_for_grid(module: &Module) -> bool {
    let insts = module.funcs.iter().flat_map(|f| &f.insts);
    insts.map(|i| &i.data).any(|d| matches!(d, InstData::Grid { op: GridOp::GridBarrier, .. }))
}

const GRID_BARRIER: &str = "tierup_grid_barrier";

/// Writes barriers of the grid out for a GPU, which has no instruction for them: their operand is the address
/// of a word of the device's, 0 before the first launch.
pub fn on_gpu(module: &mut Module) {
    if !waits_for_grid(module) {
        return;
    }
    let signature = Signature { params: vec![Ty::Ptr], results: vec![] };
    for func in &mut module.funcs {
        let barrier = func.func_ref(GRID_BARRIER, &signature);
        for inst in &mut func.insts {
            if let InstData::Grid { op: GridOp::GridBarrier, args, .. } = &inst.data {
                inst.data = InstData::Call { func: barrier, args: args.clone() };
            }
        }
    }
    let mut func = Func::new(GRID_BARRIER, signature);
    write_grid_barrier(&mut func);
    module.funcs.push(func);
}

/// One thread of each block adds 1 to the word, but for the first block's, which adds what is missing to
/// 2^31. So the highest bit changes when the last one comes, and the others stay as they were.
fn write_grid_barrier(func: &mut Func) {
    const HIGHEST: i64 = i32::MIN as i64;
    let mut b = Builder::start(func);
    let word = b.params(b.block)[0];
    let (lead, wait, out, done) = (b.new_block(&[]), b.new_block(&[]), b.new_block(&[]), b.new_block(&[]));
    let number = |b: &mut Builder<'_>, op: GridOp| b.value(InstData::Grid { op, ty: Ty::I32, args: vec![] });
    let is_origin = |b: &mut Builder<'_>, ops: [GridOp; 3]| {
        let [x, y, z] = ops.map(|op| number(b, op));
        let any = b.bin(Op::Bor, x, y);
        let any = b.bin(Op::Bor, any, z);
        b.bin_imm(Op::IcmpEq, any, 0)
    };
    b.grid(GridOp::Barrier, Ty::I32, &[]);
    let first = is_origin(&mut b, [GridOp::ThreadIndexX, GridOp::ThreadIndexY, GridOp::ThreadIndexZ]);
    b.brif(first, lead, &[], done, &[]);
    b.switch_to(lead);
    b.grid(GridOp::FenceDevice, Ty::I32, &[]);
    let [x, y, z] = [GridOp::GridSizeX, GridOp::GridSizeY, GridOp::GridSizeZ].map(|op| number(&mut b, op));
    let blocks = b.bin(Op::Imul, x, y);
    let blocks = b.bin(Op::Imul, blocks, z);
    let (one, highest) = (b.iconst(Ty::I32, 1), b.iconst(Ty::I32, HIGHEST));
    let others = b.bin(Op::Isub, blocks, one);
    let missing = b.bin(Op::Isub, highest, others);
    let chief = is_origin(&mut b, [GridOp::BlockIndexX, GridOp::BlockIndexY, GridOp::BlockIndexZ]);
    let add = b.select(chief, missing, one);
    let old = b.value(InstData::Grid { op: GridOp::AtomicAdd, ty: Ty::I32, args: vec![word, add] });
    b.jump(wait, &[]);
    b.switch_to(wait);
    let now = b.load(Ty::I32, word, 0, Alias::Volatile);
    let changed = b.bin(Op::Bxor, old, now);
    let same = b.bin_imm(Op::IcmpSge, changed, 0);
    b.brif(same, wait, &[], out, &[]);
    b.switch_to(out);
    b.grid(GridOp::FenceDevice, Ty::I32, &[]);
    b.jump(done, &[]);
    b.switch_to(done);
    b.grid(GridOp::Barrier, Ty::I32, &[]);
    b.ret(vec![]);
}

impl Builder<'_> {
    /// An instruction of kernels for memory of type `ty`; its result, where it has one.
    pub(crate) fn grid(&mut self, op: GridOp, ty: Ty, args: &[Value]) -> Option<Value> {
        let inst = self.inst(InstData::Grid { op, ty, args: args.to_vec() });
        self.func.insts[inst.index()].results.first().copied()
    }
}
