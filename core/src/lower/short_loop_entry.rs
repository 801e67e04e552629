//! The inner loop of a ufunc for short loops: `(pointers, lengths, strides) -> 0`, as NumPy enters it,
//! without a `ThreadCtx`.
//!
//! NumPy enters an inner loop once for each segment of `reduceat`, for each index of `at` and for each row
//! that is not side by side with the next. With a handful of turns, finding the thread's context and laying
//! arguments out took several times as long as the turns. Here is a second entry for those: the wrapper with
//! what it reads of its slots taken from where NumPy has it, and without its poll. What could still need the
//! context (an exception, a helper that writes, a loop inside that polls) has no such entry.

use crate::emit::wrapper::SLOT;
use crate::lir::cfg::{Cfg, Dominators, Loops};
use crate::lir::opt::clean_up;
use crate::lir::opt::edit::Defs;
use crate::lir::{Alias, Func, InstData, Signature, Ty, Value};
use crate::rt::{Effect, Raises};

/// What the name of such an entry ends in.
pub const SHORT_SUFFIX: &str = ".short";
/// Slots of one operand: an array of one dimension is its owner, the address of its elements, its length, its
/// stride.
const PARTS: usize = 4;
/// What runs once the slots are gone.
const CLEAN_UP: [&str; 7] = ["fold", "simplify-cfg", "cse", "fold", "simplify-cfg", "thread", "dce"];

pub(crate) fn entry_signature() -> Signature {
    Signature { params: vec![Ty::Ptr; 3], results: vec![Ty::I64] }
}

/// Makes the entry `name` of an optimised wrapper whose operands are arrays of one dimension, all of the
/// length of the first; none where its code needs more than their elements.
pub fn short_loop_entry(wrapper: &Func, name: &str) -> Option<Func> {
    let mut func = wrapper.clone();
    (func.name, func.sig) = (name.to_owned(), entry_signature());
    let entry = func.entry();
    let old = std::mem::take(&mut func.blocks[entry.index()].params);
    let &[ctx, slots, _] = &old[..] else { return None };
    let given: Vec<Value> = (0..3).map(|_| func.add_param(entry, Ty::Ptr)).collect();
    for node in &mut func.insts {
        let InstData::Load { ty, addr, offset, alias } = node.data.clone() else { continue };
        let from = |addr: Value, at: usize| InstData::Load {
            ty,
            addr,
            offset: at as i32 * SLOT,
            alias: Alias::Stack,
        };
        let (operand, part) = ((offset / SLOT) as usize / PARTS, (offset / SLOT) as usize % PARTS);
        node.data = match part {
            _no_slot if addr == ctx && alias == Alias::Volatile && ty == Ty::I32 => {
                InstData::Const { ty, bits: 0 }
            }
            1 if addr == slots => from(given[0], operand),
            2 if addr == slots => from(given[1], 0),
            3 if addr == slots => from(given[2], operand),
            _nothing_of_numpy_s => continue,
        };
    }
    clean_up(&mut func, &CLEAN_UP);
    is_free(&func, &old).then(|| {
        mark_short(&mut func);
        func
    })
}

/// Whether the code needs nothing of what the wrapper was given, cannot fail, and has no loop but that over
/// the turns.
fn is_free(func: &Func, old: &[Value]) -> bool {
    let cfg = Cfg::new(func);
    let defs = Defs::new(func);
    let loops = Loops::new(func, &cfg, &Dominators::new(func, &cfg));
    let mut free = loops.all.len() <= 1;
    for i in func.layout.iter().flat_map(|b| &func.blocks[b.index()].insts) {
        let data = &func.insts[i.index()].data;
        data.for_each_use(|v| free &= !old.contains(&v));
        free &= match data {
            InstData::Return(values) => values.iter().all(|v| defs.constant(func, *v) == Some(0)),
            InstData::CallHelper { helper, .. } => {
                helper.effect == Effect::Pure && helper.raises == Raises::Never
            }
            InstData::Call { .. } | InstData::CallIndirect { .. } | InstData::Grid { .. } => false,
            InstData::Const { .. }
            | InstData::Op { .. }
            | InstData::Load { .. }
            | InstData::Store { .. }
            | InstData::StackAddr { .. }
            | InstData::SymbolAddr { .. }
            | InstData::Jump(_)
            | InstData::Brif { .. }
            | InstData::Switch { .. }
            | InstData::Unreachable => true,
        };
    }
    free
}

fn mark_short(func: &mut Func) {
    let cfg = Cfg::new(func);
    let headers: Vec<_> =
        Loops::new(func, &cfg, &Dominators::new(func, &cfg)).all.iter().map(|l| l.header).collect();
    for header in headers {
        func.blocks[header.index()].short = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lir::text::parse_module;

    fn entry(text: &str) -> Option<String> {
        let module = parse_module(text, &crate::ops::helpers().collect::<Vec<_>>()).expect("the text is LIR");
        short_loop_entry(&module.funcs[0], "f.short").map(|f| f.renumbered().to_string())
    }

    /// A wrapper of a loop over two arrays, with what is computed and what happens behind the store.
    fn wrapper(body: &str) -> String {
        format!(
            "func @f.wrapper(ptr, ptr, ptr) -> i64 {{
block0(v0: ptr, v1: ptr, v2: ptr):
    v3 = const.i64 0
    v4 = const.i64 1
    v5 = const.i32 0
    v6 = load.ptr stack v1+8
    v7 = load.i64 stack v1+16
    v8 = smax.i64 v7, v3
    v9 = load.i64 stack v1+24
    v10 = load.ptr stack v1+40
    v11 = load.i64 stack v1+48
    v12 = smax.i64 v11, v3
    v13 = load.i64 stack v1+56
    v14 = icmp_eq.i64 v12, v8
    brif v14, block1(v3), block4(v3)
block1(v15: i64):
    v16 = icmp_slt.i64 v15, v8
    brif v16, block2, block4(v3)
block2:
    v17 = imul.i64 v15, v9
    v18 = ptr_add.ptr v6, v17
    v19 = load.f64 array v18
    v20 = imul.i64 v15, v13
    v21 = ptr_add.ptr v10, v20
    {body}
    v30 = iadd.i64 v15, v4
    v31 = load.i32 volatile v0+24
    v32 = icmp_ne.i32 v31, v5
    brif v32, cold block3, block1(v30)
block3 cold:
    call_helper @poll_interrupt(v0)
    jump block1(v30)
block4(v33: i64):
    return v33
}}
"
        )
    }

    #[test]
    fn a_loop_over_elements_is_entered_as_numpy_does() {
        let text = entry(&wrapper("v22 = fadd.f64 v19, v19\n    store.f64 array v22, v21"))
            .expect("nothing needs the context");
        assert!(text.contains("func @f.short(ptr, ptr, ptr) -> i64"), "{text}");
        assert!(text.contains("short:") && !text.contains("volatile") && !text.contains("poll"), "{text}");
        // One length for all, and no test whether they are equal.
        assert_eq!(text.matches("load.i64 stack v1").count(), 1, "{text}");
        assert_eq!(text.matches("brif").count(), 1, "{text}");
        for word in ["load.ptr stack v0", "load.ptr stack v0+8", "load.i64 stack v2", "load.i64 stack v2+8"] {
            assert!(text.contains(word), "{word}: {text}");
        }
    }

    #[test]
    fn what_needs_the_context_or_fails_has_no_such_entry() {
        assert_eq!(
            entry(&wrapper(
                "v22 = load.ptr stack v1\n    call_helper @obj_retain(v22)\n    store.f64 array v19, v21"
            )),
            None
        );
        assert_eq!(
            entry(&wrapper(
                "store.f64 array v19, v21\n    v22 = icmp_slt.i64 v15, v9\n    brif v22, block5, block4(v4)\nblock5:"
            )),
            None
        );
    }
}
