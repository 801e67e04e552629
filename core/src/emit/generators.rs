//! Generators as values of the function that uses them: a step of one, what it is sent, what is thrown in, and what
//! it has returned.

use super::cast;
use super::cx::{LowerCx, Resume, Val, split_leaves};
use crate::diag::{Code, Diagnostic, Result};
use crate::exc::Class;
use crate::lir::{self, Alias, Op, Ty};
use crate::offset;
use crate::ops::generator::{frame_enter, frame_leave};
use crate::ops::raising;
use crate::types::{Kind, Type};

/// One step of a generator: (the generator, whether there was a value, the value).
pub(crate) fn step(cx: &mut LowerCx<'_>, id: u32, state: &[lir::Value]) -> Result<(Val, lir::Value, Val)> {
    let g = resume(cx, id)?;
    if !cx.guard.is_some_and(|g| g.generators) {
        let r = cx.call(&g.name, &g.sig, &[cx.ctx, state[0]]);
        return Ok((state.to_vec(), r[0], r[1..].to_vec()));
    }
    // Another iteration may be in the middle of it.
    cx.helper(&frame_enter, &[state[0]]);
    let r = cx.b.call(&g.name, &g.sig, &[cx.ctx, state[0]]);
    cx.helper(&frame_leave, &[state[0]]);
    cx.check_status(r[0]);
    Ok((state.to_vec(), r[1], r[2..].to_vec()))
}

fn resume<'a>(cx: &LowerCx<'a>, id: u32) -> Result<&'a Resume> {
    cx.generators.get(&id).ok_or_else(|| {
        let text = "a generator made elsewhere cannot be resumed in this function";
        Diagnostic::new(Code::UnsupportedArgument, text).help("make the generator where it is used")
    })
}

/// A step of a generator that is sent a value, of which it takes references of its own. Only None can be sent to one
/// that has not begun; what is sent to one that has ended is lost.
pub(crate) fn send(
    cx: &mut LowerCx<'_>,
    id: u32,
    frame: lir::Value,
    val: &[lir::Value],
    ty: Type,
) -> Result<(Val, lir::Value, Val)> {
    let g = resume(cx, id)?;
    let place = &g.places.sent;
    if *ty == Kind::None || place.leaves.is_empty() {
        return step(cx, id, &[frame]);
    }
    if cx.guard.is_some_and(|g| g.generators) {
        let text = "iterations of a parallel loop share this generator, so none can send it anything";
        return Err(Diagnostic::new(Code::UnsupportedSyntax, text).help("make a generator in each iteration"));
    }
    let val = cast::cast(cx, val, ty, place.ty)?;
    // An optional value says first whether there is one.
    let (some, waits, on) = (cx.b.new_block(&[]), cx.b.new_block(&[]), cx.b.new_block(&[]));
    cx.b.brif(val[0], some, &[], on, &[]);
    cx.b.switch_to(some);
    let at = cx.b.load(Ty::I64, frame, offset!(Frame.resume), Alias::Frame);
    let begun = cx.b.bin_imm(Op::IcmpNe, at, 0);
    cx.check(begun, Class::TypeError, "can't send non-None value to a just-started generator");
    let suspended = cx.b.bin_imm(Op::IcmpSgt, at, 0);
    cx.b.brif(suspended, waits, &[], on, &[]);
    cx.b.switch_to(waits);
    cx.retain(&val, place.ty);
    place.store(&mut cx.b, frame, &val);
    cx.b.jump(on, &[]);
    cx.b.switch_to(on);
    step(cx, id, &[frame])
}

/// Throws an exception in where a generator is suspended; gives whether there was another value, and the value. One
/// that handles nothing there, has not begun or has ended raises it at once, and has ended.
pub(crate) fn throw(
    cx: &mut LowerCx<'_>,
    (id, yields): (u32, Type),
    frame: lir::Value,
    exc: lir::Value,
) -> Result<(lir::Value, Val)> {
    let g = resume(cx, id)?;
    cx.retain_object(exc);
    let status = cx.b.conv(Op::Bitcast, Ty::I64, exc);
    let at = cx.b.load(Ty::I64, frame, offset!(Frame.resume), Alias::Frame);
    let mut given = vec![Ty::I8];
    given.extend(yields.leaves().iter().map(|l| l.ty));
    let (ends, resumes, done) = (cx.b.new_cold_block(&[]), cx.b.new_block(&[]), cx.b.new_block(&given));
    if g.close.is_some() {
        let begun = cx.b.bin_imm(Op::IcmpSgt, at, 0);
        cx.b.brif(begun, resumes, &[], ends, &[]);
    } else {
        cx.b.jump(ends, &[]);
    }
    cx.b.switch_to(ends);
    let finished = cx.b.i64(-1);
    cx.b.store(finished, frame, offset!(Frame.resume), Alias::Frame);
    cx.check_status(status);
    let nothing: Val = given.iter().map(|ty| cx.zero(*ty)).collect();
    cx.b.jump(done, &nothing);
    cx.b.switch_to(resumes);
    cx.b.store(status, frame, offset!(Frame.closing), Alias::Frame);
    let r = cx.call(&g.name, &g.sig, &[cx.ctx, frame]);
    cx.b.jump(done, &r);
    cx.b.switch_to(done);
    let r = cx.b.params(done).to_vec();
    Ok((r[0], r[1..].to_vec()))
}

/// Throws an exception into what a generator delegates to. One that is told to end must not go on, and who delegates to
/// it ends with it.
pub(crate) fn throw_on(
    cx: &mut LowerCx<'_>,
    of: (u32, Type),
    frame: lir::Value,
    exc: lir::Value,
) -> Result<(lir::Value, Val)> {
    // Who delegates stands in the traceback behind the other one, once it leaves that.
    let sites = cx.helper_value(&raising::exc_trail, &[exc]);
    let without = cx.b.bin_imm(Op::Isub, sites, 1);
    cx.helper(&raising::exc_cut_trail, &[exc, without]);
    let (has, value) = throw(cx, of, frame, exc)?;
    let class = cx.b.i64(Class::GeneratorExit as i64);
    let exits = cx.helper_value(&raising::exc_matches, &[exc, class]);
    let (ends, goes_on, ended, on) =
        (cx.b.new_cold_block(&[]), cx.b.new_cold_block(&[]), cx.b.new_cold_block(&[]), cx.b.new_block(&[]));
    cx.b.brif(exits, ends, &[], on, &[]);
    cx.b.switch_to(ends);
    cx.b.brif(has, goes_on, &[], ended, &[]);
    cx.b.switch_to(goes_on);
    cx.release(&value, of.1);
    cx.raise(Class::RuntimeError, "generator ignored GeneratorExit");
    cx.b.switch_to(ended);
    cx.retain_object(exc);
    let landing = cx.landing();
    cx.b.jump(landing, &[exc]);
    cx.b.switch_to(on);
    Ok((has, value))
}

/// What a generator has returned, if nobody has taken it yet: an optional value, whose references the caller owns.
pub(crate) fn result(cx: &mut LowerCx<'_>, id: u32, frame: lir::Value) -> Result<(Val, Type)> {
    let kept = &resume(cx, id)?.places.result;
    Ok((kept.take(&mut cx.b, frame), kept.ty))
}

/// What `with` gives for whichever of several generators it is: all give the same machine types.
pub(crate) fn of_several(
    cx: &mut LowerCx<'_>,
    val: &[lir::Value],
    members: &[Type],
    with: &Resumes<'_>,
) -> Result<Val> {
    let parts = split_leaves(&val[1..], members);
    one_of_several(cx, val[0], (&parts, members), 0, with)
}

/// What is done with a generator of a type.
type Resumes<'a> = dyn Fn(&mut LowerCx<'_>, Type, &[lir::Value]) -> Result<Val> + 'a;

fn one_of_several(
    cx: &mut LowerCx<'_>,
    which: lir::Value,
    (parts, members): (&[Val], &[Type]),
    k: usize,
    with: &Resumes<'_>,
) -> Result<Val> {
    if k + 1 == members.len() {
        return with(cx, members[k], &parts[k]);
    }
    let is = cx.b.bin_imm(Op::IcmpEq, which, k as i64);
    cx.if_else(
        is,
        |cx| with(cx, members[k], &parts[k]),
        |cx| one_of_several(cx, which, (parts, members), k + 1, with),
    )
}
