//! Values that are the same because they are computed in the same way, known before any pass has run. Loops
//! that are cut out as pieces of a range get what they use as arguments, and nothing behind that can tell
//! that two of them are one: two addresses of the same array would keep LLVM from making vectors.

use super::arrays::ArrayVal;
use crate::lir::{Alias, Func, InstData, Value};
use crate::types::Layout;
use std::collections::HashMap;

/// Comparisons after which two values count as different.
const FUEL: u32 = 128;

/// How the values of a function are made.
pub(crate) struct Made<'a> {
    func: &'a Func,
    by: HashMap<Value, &'a InstData>,
}

impl<'a> Made<'a> {
    pub(crate) fn new(func: &'a Func) -> Made<'a> {
        let by = func
            .insts
            .iter()
            .filter_map(|n| if let [v] = n.results.as_slice() { Some((*v, &n.data)) } else { None })
            .collect();
        Made { func, by }
    }

    /// Whether two values are the same for sure.
    pub(crate) fn same(&self, v: Value, w: Value) -> bool {
        self.compare(v, w, &mut FUEL.clone())
    }

    fn compare(&self, v: Value, w: Value, fuel: &mut u32) -> bool {
        if v == w {
            return true;
        }
        let Some(left) = fuel.checked_sub(1) else { return false };
        *fuel = left;
        if self.func.value_type(v) != self.func.value_type(w) {
            return false;
        }
        match (self.by.get(&v), self.by.get(&w)) {
            (Some(InstData::Const { bits: a, .. }), Some(InstData::Const { bits: b, .. })) => a == b,
            (Some(InstData::Op { op, ty, args }), Some(InstData::Op { op: other, ty: to, args: others })) => {
                op == other
                    && ty == to
                    && args.len() == others.len()
                    && args.iter().zip(others).all(|(a, b)| self.compare(*a, *b, fuel))
            }
            (
                Some(InstData::Load { addr, offset, alias: Alias::Const, .. }),
                Some(InstData::Load { addr: other, offset: at, alias: Alias::Const, .. }),
            ) => offset == at && self.compare(*addr, *other, fuel),
            (Some(_) | None, Some(_) | None) => false,
        }
    }

    /// Whether two arrays are the same elements in the same order for sure.
    pub(crate) fn same_view(&self, a: &ArrayVal, b: &ArrayVal) -> bool {
        let all = |v: &[Value], w: &[Value]| v.iter().zip(w).all(|(x, y)| self.same(*x, *y));
        a.ty.dtype == b.ty.dtype
            && a.shape.len() == b.shape.len()
            && self.same(a.data, b.data)
            && all(&a.shape, &b.shape)
            && (a.ty.layout == b.ty.layout && a.ty.layout != Layout::A || all(&a.strides, &b.strides))
    }
}
