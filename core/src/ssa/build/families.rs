//! Inner functions that call themselves or each other.
//!
//! `def even(n): … odd(n - 1)` beside `def odd(n): … even(n - 1)`: neither captures the other, for a value
//! cannot hold itself. Where one names another (or itself) it makes that function anew, out of what all of
//! them captured and of their defaults, which is why each function of a family takes all of that. A family's
//! definitions stand in one block, so that nothing can come between them but straight code; names that are
//! bound there between two definitions are cells like any that are bound after they were captured.

use super::cells::{block_of, code_of, inner_functions, rebinds};
use super::family::{Family, Member};
use super::flow::Flow;
use crate::bytecode::inst::function;
use crate::bytecode::{Code, Constant, Opcode, Variable};
use crate::ssa::FuncId;
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
}

/// The families among the functions that `code` makes.
pub(crate) fn find_families(code: &Code, flow: &Flow) -> Vec<Family> {
    let all = candidates(code);
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
            members: group.iter().map(|c| Member { made: c.made, local: c.local }).collect(),
            names,
        });
    }
    families
}

/// Functions that are stored under a name of their own at once, and nowhere else.
fn candidates(code: &Code) -> Vec<Candidate<'_>> {
    let names = code.local_names();
    (1..code.insts.len())
        .filter_map(|made| {
            if code.insts[made].op != Opcode::MakeFunction {
                return None;
            }
            let store = code.insts.get(made + 1).filter(|i| i.op == Opcode::StoreCell)?;
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
            Some(Candidate { made, local: local as usize, name, code: code_of(code, made)?, settled })
        })
        .collect()
}

/// The positional defaults of the function made there, where they are constants: below them lie the captured
/// variables and the code.
pub(crate) fn constant_defaults(code: &Code, made: usize) -> Option<&[Const]> {
    let closure = code.insts.get(made.checked_sub(2)?).filter(|i| i.op == Opcode::BuildTuple)?;
    let load =
        code.insts.get(made.checked_sub(3 + closure.arg as usize)?).filter(|i| i.op == Opcode::LoadConst)?;
    if let Constant::Value(Const::Tuple(c)) = code.consts.get(load.arg as usize)? { Some(c) } else { None }
}
