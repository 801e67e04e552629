//! Encodings that several versions share: what becomes of instructions that stand for more than one thing, or
//! whose argument says more than one thing.

use super::Writer;
use crate::bytecode::Opcode::*;
use crate::bytecode::inst::{common, function, special};
use crate::diag::Result;

/// Conditional jumps and `not` find the truth of any value.
const TESTS: [&str; 3] = ["POP_JUMP_IF_FALSE", "POP_JUMP_IF_TRUE", "UNARY_NOT"];

/// Bit 0: NULL comes first, for a call of this or of an attribute of it.
pub(crate) fn null_global(w: &mut Writer<'_>, arg: u32) -> Result<()> {
    if arg & 1 != 0 {
        w.push(PushNull, 0);
    }
    w.push(LoadGlobal, arg >> 1);
    Ok(())
}

/// Bit 0: a call follows that has no object before its operands.
pub(crate) fn global(w: &mut Writer<'_>, arg: u32) -> Result<()> {
    w.push(LoadGlobal, arg >> 1);
    if arg & 1 != 0 {
        w.push(PushNull, 0);
    }
    Ok(())
}

/// Bit 0: a method, which a call follows. Bound, it is a callable like any.
pub(crate) fn attr(w: &mut Writer<'_>, arg: u32) -> Result<()> {
    w.push(LoadAttr, arg >> 1);
    if arg & 1 != 0 {
        w.push(PushNull, 0);
    }
    Ok(())
}

/// Bit 0: a call follows; bit 1: `super` was called with two arguments, which lie there either way.
pub(crate) fn super_attr(w: &mut Writer<'_>, arg: u32) -> Result<()> {
    w.push(LoadSuperAttr, arg >> 2);
    if arg & 1 != 0 {
        w.push(PushNull, 0);
    }
    Ok(())
}

pub(crate) fn assertion_error(w: &mut Writer<'_>, _: u32) -> Result<()> {
    w.push(LoadCommon, common::ASSERTION_ERROR);
    Ok(())
}

pub(crate) fn return_const(w: &mut Writer<'_>, arg: u32) -> Result<()> {
    w.push(LoadConst, arg);
    w.push(Return, 0);
    Ok(())
}

/// The argument only concerns the interpreter.
pub(crate) fn yield_value(w: &mut Writer<'_>, _: u32) -> Result<()> {
    w.push(Yield, 0);
    Ok(())
}

pub(crate) fn end_async_for(w: &mut Writer<'_>, _: u32) -> Result<()> {
    w.push(EndAsyncFor, 0);
    Ok(())
}

// ---- two local variables in one argument: the first in the upper bits ----

pub(crate) fn load_load(w: &mut Writer<'_>, arg: u32) -> Result<()> {
    w.push(LoadLocal, arg >> 4);
    w.push(LoadLocal, arg & 15);
    Ok(())
}

pub(crate) fn store_load(w: &mut Writer<'_>, arg: u32) -> Result<()> {
    w.push(StoreLocal, arg >> 4);
    w.push(LoadLocal, arg & 15);
    Ok(())
}

pub(crate) fn store_store(w: &mut Writer<'_>, arg: u32) -> Result<()> {
    w.push(StoreLocal, arg >> 4);
    w.push(StoreLocal, arg & 15);
    Ok(())
}

// ---- truth ----

fn is_tested(w: &Writer<'_>) -> bool {
    w.following(0).is_some_and(|u| TESTS.contains(&u.row.name))
}

/// The jump is written along with it, for it is here that finding the truth may fail: the jump itself need
/// not lie in the protected range.
pub(crate) fn to_bool(w: &mut Writer<'_>, _: u32) -> Result<()> {
    if is_tested(w) {
        w.take()?;
        return w.translate();
    }
    w.push(Truth, 0);
    Ok(())
}

/// The comparison from bit 5 on; bit 4: its truth is wanted.
pub(crate) fn compare(w: &mut Writer<'_>, arg: u32) -> Result<()> {
    w.push(Compare, arg >> 5);
    if arg & 16 != 0 { to_bool(w, 0) } else { Ok(()) }
}

// ---- slices ----

pub(crate) fn slice(w: &mut Writer<'_>, _: u32) -> Result<()> {
    w.push(BuildSlice, 2);
    w.push(Subscript, 0);
    Ok(())
}

pub(crate) fn store_slice(w: &mut Writer<'_>, _: u32) -> Result<()> {
    w.push(BuildSlice, 2);
    w.push(StoreSubscript, 0);
    Ok(())
}

// ---- formatted strings ----

/// A conversion together with the format behind it, where nothing runs between them.
pub(crate) fn convert(w: &mut Writer<'_>, arg: u32) -> Result<()> {
    if w.follows(&["FORMAT_SIMPLE"]) {
        w.take()?;
        w.push(Format, arg);
    } else if w.follows(&["LOAD_CONST", "FORMAT_WITH_SPEC"]) {
        let format = w.take()?;
        w.push(LoadConst, format.arg);
        w.take()?;
        w.push(Format, arg | 4);
    } else {
        w.push(Format, arg);
    }
    Ok(())
}

pub(crate) fn format_simple(w: &mut Writer<'_>, _: u32) -> Result<()> {
    w.push(Format, 0);
    Ok(())
}

pub(crate) fn format_with_spec(w: &mut Writer<'_>, _: u32) -> Result<()> {
    w.push(Format, 4);
    Ok(())
}

// ---- calls and functions ----

/// The names of keywords are put aside for the next call.
pub(crate) fn keywords(w: &mut Writer<'_>, arg: u32) -> Result<()> {
    w.push(LoadConst, arg);
    w.keywords = true;
    Ok(())
}

pub(crate) fn call_after_keywords(w: &mut Writer<'_>, arg: u32) -> Result<()> {
    let named = std::mem::take(&mut w.keywords);
    w.push(if named { CallNamed } else { Call }, arg);
    Ok(())
}

/// One attribute of the function that was just made: the flag of MAKE_FUNCTION that older versions have for
/// it. Cells that the function takes were read as if they were variables.
pub(crate) fn function_attribute(w: &mut Writer<'_>, arg: u32) -> Result<()> {
    match w.insts.last_mut() {
        Some(made) if made.op == MakeFunction => made.arg |= arg,
        _ => return Err(w.malformed("an attribute of something that is no new function")),
    }
    let made = w.insts.len() - 1;
    if arg == function::CAPTURED && made >= 2 && w.insts[made - 2].op == BuildTuple {
        let (tuple, count) = (made - 2, w.insts[made - 2].arg as usize);
        for i in &mut w.insts[tuple.saturating_sub(count)..tuple] {
            if i.op == LoadLocal {
                i.op = Capture;
            }
        }
    }
    Ok(())
}

// ---- `with` ----

/// The manager becomes its `__exit__` and what its `__enter__` gives.
pub(crate) fn with(w: &mut Writer<'_>, _: u32) -> Result<()> {
    enter(w, special::ENTER, special::EXIT)
}

pub(crate) fn async_with(w: &mut Writer<'_>, _: u32) -> Result<()> {
    enter(w, special::ASYNC_ENTER, special::ASYNC_EXIT)
}

fn enter(w: &mut Writer<'_>, enter: u32, exit: u32) -> Result<()> {
    let steps = [
        (Copy, 1),
        (LoadSpecial, enter),
        (Swap, 2),
        (LoadSpecial, exit),
        (Swap, 2),
        (PushNull, 0),
        (Call, 0),
    ];
    steps.into_iter().for_each(|(op, arg)| w.push(op, arg));
    Ok(())
}

/// `__exit__`, the index of the raising instruction, what was handled before, the exception.
pub(crate) fn call_exit(w: &mut Writer<'_>, _: u32) -> Result<()> {
    w.push(CallExit, 4);
    Ok(())
}

// ---- functions of the interpreter, by number ----

pub(crate) fn intrinsic_1(w: &mut Writer<'_>, arg: u32) -> Result<()> {
    match arg {
        // These give None, which is dropped.
        1 | 2 => {
            w.push(if arg == 1 { PrintResult } else { ImportStar }, 0);
            if !w.follows(&["POP_TOP"]) {
                return Err(w.malformed("a result that is none is used"));
            }
            w.take()?;
        }
        3 => w.push(EndGenerator, 0),
        4 => w.push(WrapAsyncValue, 0),
        5 => w.push(Positive, 0),
        6 => w.push(ListToTuple, 0),
        7..=11 => w.push(TypeParameter, arg),
        _ => return Err(w.malformed(&format!("function {arg} is not known"))),
    }
    Ok(())
}

pub(crate) fn intrinsic_2(w: &mut Writer<'_>, arg: u32) -> Result<()> {
    match arg {
        1 => w.push(JoinGroup, 0),
        2..=5 => w.push(TypeParameter, 16 + arg),
        _ => return Err(w.malformed(&format!("function {arg} is not known"))),
    }
    Ok(())
}

// ---- since 3.14 ----

/// FOR_ITER goes on behind this one and the POP_ITER that follows, its iterator dropped.
pub(crate) fn end_loop(w: &mut Writer<'_>, _: u32) -> Result<()> {
    if !w.follows(&["POP_ITER"]) {
        return Err(w.malformed("no POP_ITER follows"));
    }
    w.take().map(drop)
}

pub(crate) fn binary(w: &mut Writer<'_>, arg: u32) -> Result<()> {
    match arg {
        26 => w.push(Subscript, 0),
        _ => w.push(Binary, arg),
    }
    Ok(())
}

/// `all(… for …)`, `any` and `tuple` are a loop where the name means the built-in function, else a call. The
/// call does the same in both cases, and is what the other versions have: COPY, this, IS_OP,
/// POP_JUMP_IF_FALSE and the loop behind them vanish.
pub(crate) fn builtin(w: &mut Writer<'_>, arg: u32) -> Result<()> {
    let copied = w.last().is_some_and(|i| (i.op, i.arg) == (Copy, 1));
    if !copied || !w.follows(&["IS_OP", "POP_JUMP_IF_FALSE"]) {
        w.push(LoadCommon, arg);
        return Ok(());
    }
    w.insts.pop();
    w.take()?;
    let jump = w.take()?;
    let Some(target) = jump.target() else { return Err(w.malformed("a jump without a target")) };
    let target = target?;
    if w.skip_to(target) { Ok(()) } else { w.jump(Jump, target) }
}

/// Keywords always lie on top: NULL where there are none.
pub(crate) fn call_spread(w: &mut Writer<'_>, _: u32) -> Result<()> {
    let none = w.last().is_some_and(|i| i.op == PushNull);
    if none {
        w.insts.pop();
    }
    w.push(CallSpread, !none as u32);
    Ok(())
}

pub(crate) fn special_and_null(w: &mut Writer<'_>, arg: u32) -> Result<()> {
    w.push(LoadSpecial, arg);
    w.push(PushNull, 0);
    Ok(())
}

/// As elsewhere, but a NULL lies above `__exit__`.
pub(crate) fn call_exit_above_null(w: &mut Writer<'_>, _: u32) -> Result<()> {
    w.push(CallExit, 5);
    Ok(())
}

pub(crate) fn template(w: &mut Writer<'_>, _: u32) -> Result<()> {
    w.push(BuildTemplate, 0);
    Ok(())
}

pub(crate) fn interpolation(w: &mut Writer<'_>, arg: u32) -> Result<()> {
    w.push(BuildTemplate, 1 + arg);
    Ok(())
}
