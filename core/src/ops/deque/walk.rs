//! How deques are gone through.

use super::ring::{element, len};
use crate::diag::{Diagnostic, Result};
use crate::emit::constants::absent;
use crate::emit::cx::{LowerCx, Val};
use crate::exc::Class;
use crate::lir::{Alias, Op, Ty, Value};
use crate::offset;
use crate::ops::iter::Walk;
use crate::types::{Container, Kind, Type};

pub(crate) static WALK: Walk = Walk { start, step };

fn changes(cx: &mut LowerCx<'_>, deque: Value) -> Value {
    cx.b.load(Ty::I64, deque, offset!(Deque.changes), Alias::Object)
}

/// How an iterator starts: at the first element, or behind the last; with what the deque was like, and how many
/// elements are to come.
fn start(cx: &mut LowerCx<'_>, v: &[Value], _: Container, reversed: bool) -> Val {
    let n = len(cx, v[0]);
    let at = if reversed { n } else { cx.b.i64(0) };
    vec![v[0], at, changes(cx, v[0]), n]
}

/// One step of an iterator; RuntimeError where the deque has changed as CPython notices it: behind the last
/// element as well, but not where it is gone through from its end.
fn step(cx: &mut LowerCx<'_>, v: &[Value], t: Type, reversed: bool) -> Result<(Val, Value, Val)> {
    let [deque, at, had, left] = *v else { return Err(Diagnostic::internal("an iterator over a deque")) };
    let (container, m) = t.container().ok_or_else(|| Diagnostic::internal("no container"))?;
    let gives = container.gives(m);
    let has = cx.b.bin_imm(Op::IcmpSgt, left, 0);
    let now = changes(cx, deque);
    let mut ok = cx.b.bin(Op::IcmpEq, now, had);
    if reversed {
        let ends = cx.not(has);
        ok = cx.or(ok, ends);
    }
    cx.check(ok, Class::RuntimeError, "deque mutated during iteration");
    let here = if reversed { cx.b.bin_imm(Op::Isub, at, 1) } else { at };
    let value = if *gives == Kind::Never {
        vec![]
    } else {
        cx.if_else(has, |cx| Ok(element(cx, deque, gives, here)), |cx| Ok(absent(&mut cx.b, gives)))?
    };
    let next = if reversed { here } else { cx.b.bin_imm(Op::Iadd, at, 1) };
    let left = cx.b.bin_imm(Op::Isub, left, 1);
    Ok((vec![deque, next, had, left], has, value))
}
