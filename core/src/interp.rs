//! The LIR interpreter: what LIR means. A back end that disagrees is wrong.
//!
//! Values are `u64` in the canonical form of their type ([`Ty::canonical`]); pointers are real addresses, so
//! interpreted code, helpers and compiled code share memory. Takes verified LIR, legalised or not. Dangers: a
//! wrong address in the LIR is a wrong access here too; frames live on the heap, so code that compares the
//! address of a slot with `ThreadCtx::stack_limit` needs a limit of 0; a helper that calls back through a
//! function pointer cannot call an interpreted function.

pub(crate) mod grid;
mod vectors;

use std::collections::HashMap;

use crate::backend::HelperAddress;
use crate::diag::{Code, Diagnostic};
use crate::lir::*;

/// Why interpretation stopped before the function returned.
#[derive(Clone, Debug, PartialEq)]
pub enum Stop {
    /// More instructions than allowed.
    OutOfFuel,
    /// More nested calls than allowed.
    TooDeep,
    /// `unreachable` was reached.
    Unreachable(String),
    /// An indirect call of something that is no interpreted function.
    ForeignAddress(u64),
    /// A call of a function that no module defines.
    UnknownFunction(String),
    /// A helper without an address.
    UnknownHelper(&'static str),
    /// Arguments that do not fit the function's parameters.
    BadArguments(String),
    /// An instruction of kernels outside of a grid, or in a way that a grid does not allow.
    Grid(String),
}

impl std::fmt::Display for Stop {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Stop::OutOfFuel => f.write_str("out of fuel"),
            Stop::TooDeep => f.write_str("too many nested calls"),
            Stop::Unreachable(func) => write!(f, "unreachable code was reached in {func}"),
            Stop::ForeignAddress(a) => write!(f, "indirect call of {a:#x}, which is no interpreted function"),
            Stop::UnknownFunction(name) => write!(f, "no module defines the function {name}"),
            Stop::UnknownHelper(name) => write!(f, "the helper {name} has no address"),
            Stop::BadArguments(text) | Stop::Grid(text) => f.write_str(text),
        }
    }
}
impl From<Stop> for Diagnostic {
    fn from(s: Stop) -> Diagnostic {
        Diagnostic::new(Code::InternalError, format!("interpreter: {s}"))
    }
}

/// A function with what would otherwise be looked up at every call.
struct Prepared {
    func: Func,
    /// Index of each declared callee, or none where no module defines it yet.
    callees: Vec<Option<usize>>,
    /// Where each slot starts, in units of 16 bytes, and how many units a frame has.
    slots: Vec<usize>,
    slot_units: usize,
    /// Whether it computes with vectors.
    vectors: bool,
    /// Stands for the function's code: its address is unique and is what an indirect call takes.
    address: Box<u8>,
}

/// Interpreted modules. Functions of all modules see each other by name.
pub struct Interp<'a> {
    helpers: HelperAddress<'a>,
    funcs: Vec<Prepared>,
    by_name: HashMap<String, usize>,
    by_address: HashMap<u64, usize>,
    /// Instructions that one [`Interp::call`] may execute.
    pub fuel: u64,
    /// Calls that may be active at once.
    pub max_depth: usize,
}

struct Frame {
    func: usize,
    block: Block,
    /// Next instruction of the block.
    at: usize,
    values: Vec<u64>,
    /// The lanes of values that are vectors.
    lanes: HashMap<Value, Vec<u64>>,
    slots: Vec<u128>,
}

/// What one instruction does to the control flow.
enum Step {
    Next,
    Goto(Block, Vec<u64>),
    Call(usize, Vec<u64>),
    Return(Vec<u64>),
    /// The thread waits for others here.
    Wait(crate::grid::Wait),
}

/// A thread of execution: the frames of active calls, innermost last.
struct Thread {
    stack: Vec<Frame>,
    fuel: u64,
    /// What it learns where it goes on after it has waited.
    learned: Option<u64>,
}

/// Why a thread does not go on for now.
enum Pause {
    Done(Vec<u64>),
    Waits(crate::grid::Wait),
}

impl<'a> Interp<'a> {
    pub fn new(helpers: HelperAddress<'a>) -> Interp<'a> {
        Interp {
            helpers,
            funcs: vec![],
            by_name: HashMap::new(),
            by_address: HashMap::new(),
            fuel: u64::MAX,
            max_depth: 10_000,
        }
    }

    /// Adds the functions of a verified module. A later function of the same name replaces an earlier one for
    /// callers by name.
    pub fn add(&mut self, module: &Module) {
        for func in &module.funcs {
            let mut slot_units = 0;
            let mut slots = vec![];
            for s in &func.slots {
                slots.push(slot_units);
                slot_units += (s.bytes as usize).div_ceil(16);
            }
            let address = Box::new(0);
            self.by_address.insert(&raw const *address as u64, self.funcs.len());
            self.by_name.insert(func.name.clone(), self.funcs.len());
            let vectors = func.has_vectors();
            self.funcs.push(Prepared {
                func: func.clone(),
                callees: vec![],
                slots,
                slot_units,
                vectors,
                address,
            });
        }
        for p in &mut self.funcs {
            p.callees = p.func.funcs.iter().map(|f| self.by_name.get(&f.name).copied()).collect();
        }
    }

    /// The address that an indirect call of the function takes.
    pub fn address(&self, name: &str) -> Option<u64> {
        self.by_name.get(name).map(|i| &raw const *self.funcs[*i].address as u64)
    }

    /// Whether that is the address of one of its functions.
    pub fn has_address(&self, address: u64) -> bool {
        self.by_address.contains_key(&address)
    }

    pub fn signature(&self, name: &str) -> Option<&Signature> {
        self.by_name.get(name).map(|i| &self.funcs[*i].func.sig)
    }

    /// Calls a function by name; gives all its results.
    pub fn call(&self, name: &str, args: &[u64]) -> Result<Vec<u64>, Stop> {
        self.run(*self.by_name.get(name).ok_or_else(|| Stop::UnknownFunction(name.into()))?, args)
    }

    /// Calls a function by its [`Interp::address`]; gives all its results.
    pub fn call_address(&self, address: u64, args: &[u64]) -> Result<Vec<u64>, Stop> {
        self.run(*self.by_address.get(&address).ok_or(Stop::ForeignAddress(address))?, args)
    }

    fn run(&self, func: usize, args: &[u64]) -> Result<Vec<u64>, Stop> {
        match self.resume(&mut self.thread(func, args)?, None)? {
            Pause::Done(results) => Ok(results),
            Pause::Waits(_) => Err(Stop::Grid("a barrier outside of a grid".into())),
        }
    }

    fn thread(&self, func: usize, args: &[u64]) -> Result<Thread, Stop> {
        Ok(Thread { stack: vec![self.enter(func, args)?], fuel: self.fuel, learned: None })
    }

    /// Runs a thread to its end or to the next barrier; `at` says where in a grid it is.
    fn resume(&self, thread: &mut Thread, at: Option<&grid::Place>) -> Result<Pause, Stop> {
        let Thread { stack, fuel, learned } = thread;
        loop {
            let depth = stack.len();
            let Some(frame) = stack.last_mut() else { return Err(Stop::BadArguments("no frame".into())) };
            let p = &self.funcs[frame.func];
            let Some(&inst) = p.func.blocks[frame.block.index()].insts.get(frame.at) else {
                return Err(Stop::Unreachable(p.func.name.clone()));
            };
            if *fuel == 0 {
                return Err(Stop::OutOfFuel);
            }
            *fuel -= 1;
            let node = &p.func.insts[inst.index()];
            if let Some(x) = learned.take() {
                if let [result] = node.results[..] {
                    frame.values[result.index()] = p.func.value_type(result).canonical(x);
                }
                frame.at += 1;
                continue;
            }
            match self.step(p, frame, node, at)? {
                Step::Next => frame.at += 1,
                Step::Wait(wait) => return Ok(Pause::Waits(wait)),
                Step::Goto(block, args) => {
                    frame.block = block;
                    frame.at = 0;
                    for (v, x) in p.func.blocks[block.index()].params.iter().zip(args) {
                        frame.values[v.index()] = x;
                    }
                }
                Step::Call(callee, args) => {
                    if depth >= self.max_depth {
                        return Err(Stop::TooDeep);
                    }
                    let callee = self.enter(callee, &args)?;
                    stack.push(callee);
                }
                Step::Return(results) => {
                    stack.pop();
                    let Some(caller) = stack.last_mut() else { return Ok(Pause::Done(results)) };
                    let p = &self.funcs[caller.func];
                    let call = &p.func.insts[p.func.blocks[caller.block.index()].insts[caller.at].index()];
                    for (v, x) in call.results.iter().zip(results) {
                        caller.values[v.index()] = x;
                    }
                    caller.at += 1;
                }
            }
        }
    }

    fn enter(&self, func: usize, args: &[u64]) -> Result<Frame, Stop> {
        let p = &self.funcs[func];
        let params = &p.func.sig.params;
        if args.len() != params.len() {
            return Err(Stop::BadArguments(format!(
                "{} takes {} arguments, got {}",
                p.func.name,
                params.len(),
                args.len()
            )));
        }
        let entry = p.func.entry();
        let mut values = vec![0; p.func.value_types.len()];
        for ((v, t), x) in p.func.blocks[entry.index()].params.iter().zip(params).zip(args) {
            values[v.index()] = t.canonical(*x);
        }
        Ok(Frame { func, block: entry, at: 0, values, lanes: HashMap::new(), slots: vec![0; p.slot_units] })
    }

    fn step(
        &self,
        p: &Prepared,
        frame: &mut Frame,
        node: &InstNode,
        at: Option<&grid::Place>,
    ) -> Result<Step, Stop> {
        if p.vectors && vectors::step(&p.func, frame, node) {
            return Ok(Step::Next);
        }
        let value = |v: &Value| frame.values[v.index()];
        let values = |vs: &[Value]| vs.iter().map(value).collect::<Vec<u64>>();
        let result = match &node.data {
            InstData::Const { bits, .. } => *bits,
            InstData::Op { op, ty, args } => {
                let from = if op.shape().suffix_is_result() { p.func.value_type(args[0]) } else { *ty };
                let mut operands = [0; 3];
                for (x, v) in operands.iter_mut().zip(args) {
                    *x = value(v);
                }
                eval(*op, from, *ty, &operands[..args.len()])
            }
            // SAFETY: LIR computes only addresses of memory that it may access; this is the contract of
            // whoever makes LIR.
            InstData::Load { ty, addr, offset, .. } => unsafe {
                load(*ty, value(addr).wrapping_add_signed(*offset as i64))
            },
            InstData::Store { value: v, addr, offset, .. } => {
                // SAFETY: as for loads.
                unsafe {
                    store(p.func.value_type(*v), value(addr).wrapping_add_signed(*offset as i64), value(v))
                };
                return Ok(Step::Next);
            }
            InstData::StackAddr { slot } if p.func.slots[slot.index()].shared => {
                grid::shared_slot(at, frame.func, *slot)?
            }
            InstData::Grid { op, ty, args } => match grid::step(*op, *ty, &values(args), at)? {
                grid::Stepped::Value(x) => x,
                grid::Stepped::Nothing => return Ok(Step::Next),
                grid::Stepped::Wait(wait) => return Ok(Step::Wait(wait)),
            },
            InstData::StackAddr { slot } => frame.slots.as_ptr() as u64 + 16 * p.slots[slot.index()] as u64,
            InstData::SymbolAddr { symbol } => p.func.symbols[symbol.index()].addr as u64,
            InstData::Call { func, args } => {
                let callee = p.callees[func.index()]
                    .ok_or_else(|| Stop::UnknownFunction(p.func.funcs[func.index()].name.clone()))?;
                return Ok(Step::Call(callee, values(args)));
            }
            InstData::CallIndirect { sig, addr, args } => {
                let callee = *self.by_address.get(&value(addr)).ok_or(Stop::ForeignAddress(value(addr)))?;
                let real = &self.funcs[callee].func;
                if real.sig != *sig {
                    return Err(Stop::BadArguments(format!(
                        "indirect call of {}{} as {sig}",
                        real.name, real.sig
                    )));
                }
                return Ok(Step::Call(callee, values(args)));
            }
            InstData::CallHelper { helper, args } => {
                let addr = (self.helpers)(helper);
                if addr.is_null() {
                    return Err(Stop::UnknownHelper(helper.name));
                }
                // SAFETY: the lookup gives the address bound to this declaration; the verifier checked the
                // arguments.
                let x = unsafe { (helper.call)(addr, &values(args)) };
                if node.results.is_empty() {
                    return Ok(Step::Next);
                }
                x
            }
            InstData::Jump(to) => return Ok(Step::Goto(to.block, values(&to.args))),
            InstData::Brif { cond, then_to, else_to, .. } => {
                let to = if value(cond) != 0 { then_to } else { else_to };
                return Ok(Step::Goto(to.block, values(&to.args)));
            }
            InstData::Switch { index, cases, default } => {
                let to = usize::try_from(value(index)).ok().and_then(|i| cases.get(i)).unwrap_or(default);
                return Ok(Step::Goto(*to, vec![]));
            }
            InstData::Return(vs) => return Ok(Step::Return(values(vs))),
            InstData::Unreachable => return Err(Stop::Unreachable(p.func.name.clone())),
        };
        frame.values[node.results[0].index()] = result;
        Ok(Step::Next)
    }
}

/// # Safety
/// `addr` must point to readable memory of the type's size.
unsafe fn load(ty: Ty, addr: u64) -> u64 {
    let p = addr as usize as *const u8;
    // SAFETY: the caller's; `read_unaligned` needs no alignment.
    let bits = unsafe {
        match ty {
            Ty::I8 => p.read() as u64,
            Ty::I16 => p.cast::<u16>().read_unaligned() as u64,
            Ty::I32 | Ty::F32 => p.cast::<u32>().read_unaligned() as u64,
            Ty::I64 | Ty::F64 | Ty::Ptr => p.cast::<u64>().read_unaligned(),
            Ty::Vector(_) => unreachable!("vectors are read lane by lane"),
        }
    };
    ty.canonical(bits)
}

/// # Safety
/// `addr` must point to writable memory of the type's size.
unsafe fn store(ty: Ty, addr: u64, bits: u64) {
    let p = addr as usize as *mut u8;
    // SAFETY: the caller's; `write_unaligned` needs no alignment.
    unsafe {
        match ty {
            Ty::I8 => p.write(bits as u8),
            Ty::I16 => p.cast::<u16>().write_unaligned(bits as u16),
            Ty::I32 | Ty::F32 => p.cast::<u32>().write_unaligned(bits as u32),
            Ty::I64 | Ty::F64 | Ty::Ptr => p.cast::<u64>().write_unaligned(bits),
            Ty::Vector(_) => unreachable!("vectors are written lane by lane"),
        }
    }
}
