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

/// How an iterator starts: at the first entry, or behind the last. It remembers how many there are, and how
/// many are left; of an ordered dict, how many are left, and its state.
fn start(cx: &mut LowerCx<'_>, v: &[Value], c: Container, reversed: bool) -> Val {
    let n = cx.b.load(Ty::I64, v[0], offset!(Dict.len), Alias::Length);
    let used = cx.b.load(Ty::I64, v[0], offset!(Dict.used), Alias::Object);
    let at = if reversed { used } else { cx.b.i64(0) };
    let last = if c == Container::OrderedDict { state(cx, n, used) } else { n };
    vec![v[0], at, n, last]
}

/// What changes with an ordered dict: how many entries there are and have been. A key that is put in has a
/// place of its own, also one that was there before.
fn state(cx: &mut LowerCx<'_>, len: Value, used: Value) -> Value {
    let high = cx.b.bin_imm(Op::Ishl, used, 32);
    cx.b.bin(Op::Bor, high, len)
}

/// RuntimeError where a container has changed as CPython notices it.
fn check_unchanged(cx: &mut LowerCx<'_>, c: Container, [len, used]: [Value; 2], [had, last]: [Value; 2]) {
    if c == Container::OrderedDict {
        let now = state(cx, len, used);
        let same = cx.b.bin(Op::IcmpEq, now, last);
        // Behind the last entry nothing is looked at any more.
        let ended = cx.b.bin_imm(Op::IcmpEq, had, 0);
        let ok = cx.or(same, ended);
        return cx.check(ok, Class::RuntimeError, "OrderedDict mutated during iteration");
    }
    let same = cx.b.bin(Op::IcmpEq, len, had);
    let is_set = matches!(c, Container::Set | Container::FrozenSet);
    let changed =
        if is_set { "Set changed size during iteration" } else { "dictionary changed size during iteration" };
    cx.check(same, Class::RuntimeError, changed);
}

/// One step of an iterator; RuntimeError where the dict, or the set, has changed as CPython notices it.
fn step(cx: &mut LowerCx<'_>, v: &[Value], t: Type, reversed: bool) -> Result<(Val, Value, Val)> {
    let [dict, at, had, left] = *v else { return Err(Diagnostic::internal("an iterator over a dict")) };
    let (container, m) = t.container().ok_or_else(|| Diagnostic::internal("no container"))?;
    let is_set = matches!(container, Container::Set | Container::FrozenSet);
    let is_ordered = container == Container::OrderedDict;
    let n = cx.b.load(Ty::I64, dict, offset!(Dict.len), Alias::Length);
    let used = cx.b.load(Ty::I64, dict, offset!(Dict.used), Alias::Object);
    check_unchanged(cx, container, [n, used], [had, left]);
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
    let has = if is_ordered {
        let some_left = cx.b.bin_imm(Op::IcmpNe, had, 0);
        cx.and(has, some_left)
    } else {
        has
    };
    if !reversed && !is_set && !is_ordered {
        let (ends, comes) = (cx.not(has), cx.b.bin_imm(Op::IcmpNe, left, 0));
        let ok = cx.or(ends, comes);
        cx.check(ok, Class::RuntimeError, "dictionary keys changed during iteration");
    }
    let gives = container.gives(m);
    let entry = Entry::of(t)?;
    let leaves = match container {
        Container::Dict
        | Container::DefaultDict
        | Container::Counter
        | Container::OrderedDict
        | Container::Keys
        | Container::Set
        | Container::FrozenSet => entry.key(),
        Container::Values => entry.value(),
        Container::Items => entry.both(),
        Container::Deque | Container::ByteArray | Container::Tuple => {
            return Err(Diagnostic::internal(format!("{t} is no dict")));
        }
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
    let one_less = cx.b.bin_imm(Op::Isub, if is_ordered { had } else { left }, 1);
    let counts = if is_ordered { [one_less, left] } else { [had, one_less] };
    Ok(([vec![dict, next], counts.to_vec()].concat(), has, value))
}
