//! A reference that is added and dropped in one block, with nothing between that could drop another, is not counted.
//!
//! ```python
//! for i in range(n): s += f((a, i))       # the tuple holds a reference to `a` while `f`, which is inlined, looks into it
//! ```
//!
//! Without calls in its body such a loop vectorises. The object lives before the first of the two and after the second, and nothing between can end it.

use crate::lir::{Func, Inst, InstData, Value};
use crate::ops::object::{obj_release, obj_retain};
use crate::rt::Effect;

pub fn drop_counts(func: &mut Func) {
    for b in func.layout.clone() {
        let gone = pairs(func, &func.blocks[b.index()].insts);
        if gone.is_empty() { continue; }
        func.blocks[b.index()].insts.retain(|i| !gone.contains(i));
    }
}

/// Both instructions of each pair.
fn pairs(func: &Func, insts: &[Inst]) -> Vec<Inst> {
    let mut gone = vec![];
    // References that were added, and nothing has been dropped since.
    let mut added: Vec<(Value, Inst)> = vec![];
    for i in insts {
        match &func.insts[i.index()].data {
            InstData::CallHelper { helper, args } if **helper == obj_retain => added.push((args[0], *i)),
            InstData::CallHelper { helper, args } if **helper == obj_release => match added.iter().rposition(|(v, _)| *v == args[0]) {
                Some(at) => gone.extend([added.remove(at).1, *i]),
                None => added.clear(),
            },
            // A helper that only reads may look at a count.
            InstData::CallHelper { helper, .. } => if helper.effect != Effect::Pure { added.clear() },
            InstData::Call { .. } | InstData::CallIndirect { .. } => added.clear(),
            InstData::Const { .. } | InstData::Op { .. } | InstData::Load { .. } | InstData::Store { .. } | InstData::StackAddr { .. } | InstData::SymbolAddr { .. }
            | InstData::Jump(_) | InstData::Brif { .. } | InstData::Switch { .. } | InstData::Return(_) | InstData::Unreachable => {}
        }
    }
    gone
}
