//! Inner functions that call themselves or each other.
//!
//! `def even(n): … odd(n - 1)` beside `def odd(n): … even(n - 1)`: neither captures the other, for a value
//! cannot hold itself. Where one names another (or itself) it makes that function anew, out of what all of
//! them captured and of their defaults, which is why each function of a family takes all of that. A family's
//! definitions stand in one block, so that nothing can come between them but straight code; names that are
//! bound there between two definitions are cells like any that are bound after they were captured.
//!
//! One that `functools.cache` or `lru_cache` decorates is known by what that made of it: who names it makes that anew as
//! well, around the memory that all of them share.

use super::cells::{block_of, code_of, inner_functions, rebinds};
use super::family::{Family, Member, Memory};
use super::flow::Flow;
use crate::bytecode::inst::function;
use crate::bytecode::{Code, Constant, Opcode, Variable};
use crate::ops::{OpId, id};
use crate::ssa::FuncId;
use crate::ssa::names::{Meaning, Names, Root};
use crate::types::Const;
use std::sync::Arc;

const ANY_DEFAULTS: u32 = function::DEFAULTS | function::KWDEFAULTS;

/// A function of a family, as its relatives know it. Its defaults are free values from `first_default` on,
/// positional ones first.
pub(crate) struct Relative {
    pub name: Arc<str>,
    pub id: FuncId,
    pub defaults: u32,
    pub kwdefaults: Arc<[Arc<str>]>,
    pub first_default: u32,
    /// Its results are remembered, in the free value of that number.
    pub memory: Option<(u32, Memory)>,
}

/// What the functions of a family share: each of them, and the names of the free values that all of them
/// take.
pub(crate) struct Relatives {
    pub all: Vec<Relative>,
    pub free: Vec<Arc<str>>,
}

/// A definition that may belong to a family.
struct Candidate<'a> {
    made: usize,
    local: usize,
    name: &'a Arc<str>,
    code: &'a Code,
    settled: bool,
    memory: Option<Memory>,
}

/// The families among the functions that `code` makes.
pub(crate) fn find_families(code: &Code, flow: &Flow, known: &dyn Names) -> Vec<Family> {
    let all = candidates(code, known);
    let n = all.len();
    let mut reaches: Vec<Vec<bool>> =
        all.iter().map(|a| all.iter().map(|b| a.code.freevars.contains(b.name)).collect()).collect();
    for k in 0..n {
        for i in 0..n {
            for j in 0..n {
                if reaches[i][k] && reaches[k][j] {
                    reaches[i][j] = true;
                }
            }
        }
    }
    let mut families = vec![];
    for i in 0..n {
        let group: Vec<&Candidate<'_>> =
            (0..n).filter(|j| reaches[i][*j] && reaches[*j][i]).map(|j| &all[j]).collect();
        // Each family once, when its first member comes.
        if group.first().is_none_or(|f| f.made != all[i].made) {
            continue;
        }
        let together =
            group.iter().all(|c| c.settled && block_of(flow, c.made) == block_of(flow, group[0].made));
        if group.len() > 1 && !together {
            continue;
        }
        let mut names: Vec<Arc<str>> = vec![];
        for f in group.iter().flat_map(|c| &c.code.freevars) {
            if !names.contains(f) && !group.iter().any(|c| c.name == f) {
                names.push(f.clone());
            }
        }
        families.push(Family {
            members: group
                .iter()
                .map(|c| Member { made: c.made, local: c.local, memory: c.memory })
                .collect(),
            names,
        });
    }
    families
}

/// Functions that are stored under a name of their own at once, and nowhere else.
fn candidates<'a>(code: &'a Code, known: &dyn Names) -> Vec<Candidate<'a>> {
    let names = code.local_names();
    (1..code.insts.len())
        .filter_map(|made| {
            if code.insts[made].op != Opcode::MakeFunction {
                return None;
            }
            let decorator = decorator(code, made);
            let memory = decorator.and_then(|below| memory(code, below, known));
            let decorated = memory.is_some() || decorator.is_some_and(|below| compiles(code, below, known));
            let behind = made + 1 + usize::from(decorated);
            let store = code.insts.get(behind).filter(|i| i.op == Opcode::StoreCell)?;
            let Variable::Local(local) = code.variable(store.arg) else { return None };
            let stores = |op: Opcode| op == Opcode::StoreCell || op == Opcode::DeleteCell;
            let once = code
                .insts
                .iter()
                .filter(|i| stores(i.op) && code.variable(i.arg) == Variable::Local(local))
                .count()
                == 1;
            let name = code.cellvars.iter().find(|c| Some(*c) == names.get(local as usize))?;
            if !once
                || (local as usize) < code.param_count()
                || inner_functions(code, name).any(|f| rebinds(f, name))
            {
                return None;
            }
            let flags = code.insts[made].arg;
            let settled = flags & ANY_DEFAULTS == 0
                || flags & ANY_DEFAULTS == function::DEFAULTS && constant_defaults(code, made).is_some();
            Some(Candidate { made, local: local as usize, name, code: code_of(code, made)?, settled, memory })
        })
        .collect()
}

/// The last instruction of what decorates the function made there, if anything does.
fn decorator(code: &Code, made: usize) -> Option<usize> {
    code.insts.get(made + 1).filter(|i| i.op == Opcode::Call)?;
    if code.insts[made].arg & !function::CAPTURED & !function::DEFAULTS != 0 {
        return None;
    }
    // Below the function's code lie the captured variables and the defaults, then what decorates it.
    let mut below = made.checked_sub(2)?;
    if code.insts[made].arg & function::CAPTURED != 0 {
        below = below.checked_sub(1 + code.insts[below].arg as usize)?;
    }
    if code.insts[made].arg & function::DEFAULTS != 0 {
        constant_defaults(code, made)?;
        below = below.checked_sub(1)?;
    }
    if code.insts[below].op == Opcode::PushNull {
        below = below.checked_sub(1)?;
    }
    Some(below)
}

/// Whether a decorator is `@jit` or `@njit`, which give the function itself; their options are constants.
fn compiles(code: &Code, below: usize, known: &dyn Names) -> bool {
    let (op, n) = (code.insts[below].op, code.insts[below].arg as usize);
    if op != Opcode::CallNamed && (op, n) != (Opcode::Call, 0) {
        return is_compiler(code, below, known);
    }
    // The names of options, and a value for each.
    let options = if op == Opcode::CallNamed { 1 + n } else { 0 };
    let constants = below.saturating_sub(options)..below;
    let Some(mut at) = constants.start.checked_sub(1) else { return false };
    if !constants.into_iter().all(|at| code.insts[at].op == Opcode::LoadConst) {
        return false;
    }
    if code.insts[at].op == Opcode::PushNull && at > 0 {
        at -= 1;
    }
    is_compiler(code, at, known)
}

fn is_compiler(code: &Code, at: usize, known: &dyn Names) -> bool {
    matches!(meaning(code, at, known), Some(id::TIERUP_JIT | id::TIERUP_NJIT))
}

/// What remembers results, if that is what a decorator is: `@cache`, `@lru_cache`, and the latter called with a
/// constant.
fn memory(code: &Code, below: usize, known: &dyn Names) -> Option<Memory> {
    let op = |at: usize| code.insts[at].op;
    let constant = |at: usize| {
        let Constant::Value(c) = code.consts.get(code.insts[at].arg as usize)? else { return None };
        (op(at) == Opcode::LoadConst).then_some(c)
    };
    let called = |at: usize| {
        let at = if op(at) == Opcode::PushNull { at.checked_sub(1)? } else { at };
        (meaning(code, at, known)? == id::FUNCTOOLS_LRU_CACHE).then_some(())
    };
    let bounded = |at: usize| {
        let most = constant(at)?;
        if let Const::Int(n) = most {
            return Some(Memory::Last((*n).max(0)));
        }
        (*most == Const::None).then_some(Memory::All)
    };
    match (op(below), code.insts[below].arg) {
        (Opcode::Call, 0) => called(below.checked_sub(1)?).map(|()| Memory::Last(128)),
        (Opcode::Call, 1) => {
            called(below.checked_sub(2)?)?;
            bounded(below - 1)
        }
        (Opcode::CallNamed, 1) => {
            called(below.checked_sub(3)?)?;
            let named = *constant(below - 1)? == Const::Tuple(vec![Const::Str("maxsize".into())]);
            if named { bounded(below - 2) } else { None }
        }
        _ => match meaning(code, below, known)? {
            id::FUNCTOOLS_CACHE => Some(Memory::All),
            id::FUNCTOOLS_LRU_CACHE => Some(Memory::Last(128)),
            _ => None,
        },
    }
}

/// The operation that is loaded by the instruction there: by its name, or as an attribute of a module.
fn meaning(code: &Code, at: usize, known: &dyn Names) -> Option<OpId> {
    let name = |at: usize| code.names.get(code.insts[at].arg as usize).map(|n| &**n);
    let found = if code.insts[at].op == Opcode::LoadGlobal {
        known.meaning(Root::Global(name(at)?), &[])?
    } else {
        let module = at.checked_sub(1).filter(|m| code.insts[*m].op == Opcode::LoadGlobal)?;
        let attribute = Some(at).filter(|at| code.insts[*at].op == Opcode::LoadAttr)?;
        known.meaning(Root::Global(name(module)?), &[name(attribute)?])?
    };
    if let Meaning::Operation(op) = found { Some(op) } else { None }
}

/// The positional defaults of the function made there, where they are constants: below them lie the captured
/// variables and the code.
pub(crate) fn constant_defaults(code: &Code, made: usize) -> Option<&[Const]> {
    let closure = code.insts.get(made.checked_sub(2)?).filter(|i| i.op == Opcode::BuildTuple)?;
    let load =
        code.insts.get(made.checked_sub(3 + closure.arg as usize)?).filter(|i| i.op == Opcode::LoadConst)?;
    if let Constant::Value(Const::Tuple(c)) = code.consts.get(load.arg as usize)? { Some(c) } else { None }
}
