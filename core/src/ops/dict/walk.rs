//! How dicts, their views and sets are gone through.

use super::entries::{Entry, load};
use super::{dict_live, dict_live_before};
use crate::diag::{Diagnostic, Result};
use crate::emit::constants::absent;
use crate::emit::cx::{LowerCx, Val};
use crate::exc::Class;
use crate::lir::{Alias, Op, Ty, Value};
use crate::offset;
use crate::ops::iter::Walk;
use crate::types::{Container, Kind, Type};

pub(crate) static WALK: Walk = Walk { start, step };

/// How an iterator starts: at the first entry, or behind the last.
fn start(cx: &mut LowerCx<'_>, v: &[Value], reversed: bool) -> Val {
    let n = cx.b.load(Ty::I64, v[0], offset!(Dict.len), Alias::Object);
    let at = if reversed { cx.b.load(Ty::I64, v[0], offset!(Dict.used), Alias::Object) } else { cx.b.i64(0) };
    vec![v[0], at, n, n]
}

/// One step of an iterator; RuntimeError where the dict, or the set, has changed as CPython notices it.
fn step(cx: &mut LowerCx<'_>, v: &[Value], t: Type, reversed: bool) -> Result<(Val, Value, Val)> {
    let [dict, at, had, left] = *v else { return Err(Diagnostic::internal("an iterator over a dict")) };
    let (container, m) = t.container().ok_or_else(|| Diagnostic::internal("no container"))?;
    let is_set = matches!(container, Container::Set | Container::FrozenSet);
    let n = cx.b.load(Ty::I64, dict, offset!(Dict.len), Alias::Object);
    let same = cx.b.bin(Op::IcmpEq, n, had);
    let changed =
        if is_set { "Set changed size during iteration" } else { "dictionary changed size during iteration" };
    cx.check(same, Class::RuntimeError, changed);
    let used = cx.b.load(Ty::I64, dict, offset!(Dict.used), Alias::Object);
    let dense = cx.b.bin(Op::IcmpEq, n, used);
    let (here, has) = if reversed {
        let here = cx.if_else(
            dense,
            |cx| {
                let first = cx.b.bin(Op::Smin, at, used);
                Ok(vec![cx.b.bin_imm(Op::Isub, first, 1)])
            },
            |cx| Ok(vec![cx.helper_value(&dict_live_before, &[dict, at])]),
        )?[0];
        (here, cx.b.bin_imm(Op::IcmpSge, here, 0))
    } else {
        let here =
            cx.if_else(dense, |_| Ok(vec![at]), |cx| Ok(vec![cx.helper_value(&dict_live, &[dict, at])]))?[0];
        (here, cx.b.bin(Op::IcmpSlt, here, used))
    };
    if !reversed && !is_set {
        let (ends, comes) = (cx.not(has), cx.b.bin_imm(Op::IcmpNe, left, 0));
        let ok = cx.or(ends, comes);
        cx.check(ok, Class::RuntimeError, "dictionary keys changed during iteration");
    }
    let gives = container.gives(m);
    let entry = Entry::of(t)?;
    let leaves = match container {
        Container::Dict | Container::Keys | Container::Set | Container::FrozenSet => entry.key(),
        Container::Values => entry.value(),
        Container::Items => entry.both(),
    };
    let value = if *gives == Kind::Never {
        vec![]
    } else {
        cx.if_else(
            has,
            |cx| {
                let p = entry.address(cx, dict, here);
                let x = load(cx, p, leaves);
                cx.retain(&x, gives);
                Ok(x)
            },
            |cx| Ok(absent(&mut cx.b, gives)),
        )?
    };
    let next = if reversed { here } else { cx.b.bin_imm(Op::Iadd, here, 1) };
    let left = cx.b.bin_imm(Op::Isub, left, 1);
    Ok((vec![dict, next, had, left], has, value))
}
