//! The function through which the Python side calls an overload of any signature: `(ctx, args, results) ->
//! status`.
//!
//! `args` points to one 8-byte slot for each leaf of the arguments, in the order of [`crate::types::leaves`];
//! a narrower leaf lies in the low bytes of its slot. `results` receives the leaves of the result the same
//! way, and only when the status is 0. In front of the first argument stands nothing: the `ThreadCtx` is a
//! parameter of its own.

use crate::lir::builder::Builder;
use crate::lir::{Alias, Func, Op, Signature, Ty};
use crate::types::Type;
use crate::types::leaves::Leaf;

/// Bytes of one slot of either buffer.
pub const SLOT: i32 = 8;

/// The machine signature of every wrapper.
pub(crate) fn wrapper_signature() -> Signature {
    Signature { params: vec![Ty::Ptr, Ty::Ptr, Ty::Ptr], results: vec![Ty::I64] }
}

/// The name of the wrapper of `entry`.
pub fn wrapper_name(entry: &str) -> String {
    format!("{entry}.wrapper")
}

/// Makes the wrapper of the function `entry` whose signature, before legalisation, is `sig`, and whose
/// arguments have these types; it goes into the same module. The lengths of arrays come out of a maximum with
/// 0, which tells every pass and every back end that they are not negative.
pub fn make_wrapper(entry: &str, sig: &Signature, params: &[Type]) -> Func {
    let leaves: Vec<Leaf> = params.iter().flat_map(|t| t.leaves()).collect();
    let is_length = |i: usize| leaves.len() + 1 == sig.params.len() && leaves[i].is_length;
    let mut func = Func::new(wrapper_name(entry), wrapper_signature());
    func.wraps = Some(entry.to_owned());
    let mut b = Builder::start(&mut func);
    let first = b.block;
    let params = b.params(first);
    let (ctx, args, results) = (params[0], params[1], params[2]);
    let mut operands = vec![ctx];
    for (i, ty) in sig.params.iter().skip(1).enumerate() {
        let v = b.load(*ty, args, i as i32 * SLOT, Alias::Stack);
        operands.push(if is_length(i) {
            let zero = b.i64(0);
            b.bin(Op::Smax, v, zero)
        } else {
            v
        });
    }
    let answers = b.call(entry, sig, &operands);
    if answers.len() > 1 {
        // The results of a call that failed mean nothing, and a slot that is not written may hold anything:
        // both are fine, so no branch.
        for (i, v) in answers[1..].iter().enumerate() {
            b.store(*v, results, i as i32 * SLOT, Alias::Stack);
        }
    }
    b.ret(vec![answers[0]]);
    func
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lir::InstData;

    #[test]
    #[expect(clippy::wildcard_enum_match_arm, reason = "a wrapper consists of loads, stores and its call")]
    fn every_leaf_has_its_slot() {
        let sig = Signature {
            params: vec![Ty::Ptr, Ty::I8, Ty::F32, Ty::I64],
            results: vec![Ty::I64, Ty::F64, Ty::Ptr],
        };
        let f = make_wrapper("f", &sig, &[]);
        assert_eq!(f.name, "f.wrapper");
        assert_eq!(f.sig, wrapper_signature());
        let mut loads = vec![];
        let mut stores = vec![];
        for node in &f.insts {
            match &node.data {
                InstData::Load { ty, offset, .. } => loads.push((*ty, *offset)),
                InstData::Store { value, offset, .. } => stores.push((f.value_type(*value), *offset)),
                other => assert!(
                    matches!(other, InstData::Call { .. } | InstData::Return(_)),
                    "unexpected {other:?}"
                ),
            }
        }
        assert_eq!(loads, [(Ty::I8, 0), (Ty::F32, 8), (Ty::I64, 16)]);
        assert_eq!(stores, [(Ty::F64, 0), (Ty::Ptr, 8)]);
    }
}
