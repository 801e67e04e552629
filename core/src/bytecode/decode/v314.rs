//! Bytecode of CPython 3.14: variables that are borrowed, small integers in the argument, `with` in parts,
//! and loops for `all`, `any` and `tuple`.

use super::Meaning::{Backward, By, Extend, Forward, Plain, Skip};
use super::{Row, Version, Writer, row, shapes};
use crate::bytecode::Opcode::*;
use crate::diag::Result;

pub(crate) static VERSION: Version = Version::new((3, 14), &ROWS);

#[rustfmt::skip]
static ROWS: [Row; 118] = [
    row(0, "CACHE", 0, Skip),
    row(1, "BINARY_SLICE", 0, By(shapes::slice)),
    row(2, "BUILD_TEMPLATE", 0, By(template)),
    row(4, "CALL_FUNCTION_EX", 0, By(call_spread)),
    row(5, "CHECK_EG_MATCH", 0, Plain(MatchGroup)),
    row(6, "CHECK_EXC_MATCH", 0, Plain(MatchException)),
    row(7, "CLEANUP_THROW", 0, Plain(EndDelegation)),
    row(8, "DELETE_SUBSCR", 0, Plain(DeleteSubscript)),
    row(9, "END_FOR", 0, By(end_for)),
    row(10, "END_SEND", 0, Skip),
    row(12, "FORMAT_SIMPLE", 0, By(shapes::format_simple)),
    row(13, "FORMAT_WITH_SPEC", 0, By(shapes::format_with_spec)),
    row(14, "GET_AITER", 0, Plain(GetAsyncIter)),
    row(15, "GET_ANEXT", 0, Plain(GetAsyncNext)),
    row(16, "GET_ITER", 0, Plain(GetIter)),
    row(18, "GET_LEN", 0, Plain(Length)),
    row(19, "GET_YIELD_FROM_ITER", 0, Plain(GetYieldIter)),
    row(21, "LOAD_BUILD_CLASS", 0, Plain(LoadBuildClass)),
    row(22, "LOAD_LOCALS", 0, Plain(LoadNames)),
    row(23, "MAKE_FUNCTION", 0, Plain(MakeFunction)),
    row(24, "MATCH_KEYS", 0, Plain(MatchKeys)),
    row(25, "MATCH_MAPPING", 0, Plain(MatchMapping)),
    row(26, "MATCH_SEQUENCE", 0, Plain(MatchSequence)),
    row(27, "NOP", 0, Skip),
    row(28, "NOT_TAKEN", 0, Skip),
    row(29, "POP_EXCEPT", 0, Plain(PopHandled)),
    row(30, "POP_ITER", 0, Plain(Pop)),
    row(31, "POP_TOP", 0, Plain(Pop)),
    row(32, "PUSH_EXC_INFO", 0, Plain(PushHandled)),
    row(33, "PUSH_NULL", 0, Plain(PushNull)),
    row(34, "RETURN_GENERATOR", 0, Plain(MakeGenerator)),
    row(35, "RETURN_VALUE", 0, Plain(Return)),
    row(36, "SETUP_ANNOTATIONS", 0, Plain(SetupAnnotations)),
    row(37, "STORE_SLICE", 0, By(shapes::store_slice)),
    row(38, "STORE_SUBSCR", 1, Plain(StoreSubscript)),
    row(39, "TO_BOOL", 3, By(shapes::to_bool)),
    row(40, "UNARY_INVERT", 0, Plain(Invert)),
    row(41, "UNARY_NEGATIVE", 0, Plain(Negative)),
    row(42, "UNARY_NOT", 0, Plain(Not)),
    row(43, "WITH_EXCEPT_START", 0, By(call_exit)),
    row(44, "BINARY_OP", 5, By(binary)),
    row(45, "BUILD_INTERPOLATION", 0, By(interpolation)),
    row(46, "BUILD_LIST", 0, Plain(BuildList)),
    row(47, "BUILD_MAP", 0, Plain(BuildMap)),
    row(48, "BUILD_SET", 0, Plain(BuildSet)),
    row(49, "BUILD_SLICE", 0, Plain(BuildSlice)),
    row(50, "BUILD_STRING", 0, Plain(BuildString)),
    row(51, "BUILD_TUPLE", 0, Plain(BuildTuple)),
    row(52, "CALL", 3, Plain(Call)),
    row(53, "CALL_INTRINSIC_1", 0, By(shapes::intrinsic_1)),
    row(54, "CALL_INTRINSIC_2", 0, By(shapes::intrinsic_2)),
    row(55, "CALL_KW", 3, Plain(CallNamed)),
    row(56, "COMPARE_OP", 1, By(shapes::compare)),
    row(57, "CONTAINS_OP", 1, Plain(Contains)),
    row(58, "CONVERT_VALUE", 0, By(shapes::convert)),
    row(59, "COPY", 0, Plain(Copy)),
    row(60, "COPY_FREE_VARS", 0, Skip),
    row(61, "DELETE_ATTR", 0, Plain(DeleteAttr)),
    row(62, "DELETE_DEREF", 0, Plain(DeleteCell)),
    row(63, "DELETE_FAST", 0, Plain(DeleteLocal)),
    row(64, "DELETE_GLOBAL", 0, Plain(DeleteGlobal)),
    row(65, "DELETE_NAME", 0, Plain(DeleteName)),
    row(66, "DICT_MERGE", 0, Plain(MapMerge)),
    row(67, "DICT_UPDATE", 0, Plain(MapUpdate)),
    row(68, "END_ASYNC_FOR", 0, By(shapes::end_async_for)),
    row(69, "EXTENDED_ARG", 0, Extend),
    row(70, "FOR_ITER", 1, Forward(ForIter)),
    row(71, "GET_AWAITABLE", 0, Plain(GetAwaitable)),
    row(72, "IMPORT_FROM", 0, Plain(ImportFrom)),
    row(73, "IMPORT_NAME", 0, Plain(ImportName)),
    row(74, "IS_OP", 0, Plain(Is)),
    row(75, "JUMP_BACKWARD", 1, Backward(Jump)),
    row(76, "JUMP_BACKWARD_NO_INTERRUPT", 0, Backward(Jump)),
    row(77, "JUMP_FORWARD", 0, Forward(Jump)),
    row(78, "LIST_APPEND", 0, Plain(ListAppend)),
    row(79, "LIST_EXTEND", 0, Plain(ListExtend)),
    row(80, "LOAD_ATTR", 9, By(shapes::attr)),
    row(81, "LOAD_COMMON_CONSTANT", 0, By(common)),
    row(82, "LOAD_CONST", 0, Plain(LoadConst)),
    row(83, "LOAD_DEREF", 0, Plain(LoadCell)),
    row(84, "LOAD_FAST", 0, Plain(LoadLocal)),
    row(85, "LOAD_FAST_AND_CLEAR", 0, Plain(SaveLocal)),
    row(86, "LOAD_FAST_BORROW", 0, Plain(LoadLocal)),
    row(87, "LOAD_FAST_BORROW_LOAD_FAST_BORROW", 0, By(shapes::load_load)),
    row(88, "LOAD_FAST_CHECK", 0, Plain(LoadLocal)),
    row(89, "LOAD_FAST_LOAD_FAST", 0, By(shapes::load_load)),
    row(90, "LOAD_FROM_DICT_OR_DEREF", 0, Plain(LoadNameOrCell)),
    row(91, "LOAD_FROM_DICT_OR_GLOBALS", 0, Plain(LoadNameOrGlobal)),
    row(92, "LOAD_GLOBAL", 4, By(shapes::global)),
    row(93, "LOAD_NAME", 0, Plain(LoadName)),
    row(94, "LOAD_SMALL_INT", 0, Plain(LoadInt)),
    row(95, "LOAD_SPECIAL", 0, By(special)),
    row(96, "LOAD_SUPER_ATTR", 1, By(shapes::super_attr)),
    row(97, "MAKE_CELL", 0, Plain(MakeCell)),
    row(98, "MAP_ADD", 0, Plain(MapAdd)),
    row(99, "MATCH_CLASS", 0, Plain(MatchClass)),
    row(100, "POP_JUMP_IF_FALSE", 1, Forward(BranchFalse)),
    row(101, "POP_JUMP_IF_NONE", 1, Forward(BranchNone)),
    row(102, "POP_JUMP_IF_NOT_NONE", 1, Forward(BranchNotNone)),
    row(103, "POP_JUMP_IF_TRUE", 1, Forward(BranchTrue)),
    row(104, "RAISE_VARARGS", 0, Plain(Raise)),
    row(105, "RERAISE", 0, Plain(Reraise)),
    row(106, "SEND", 1, Forward(Send)),
    row(107, "SET_ADD", 0, Plain(SetAdd)),
    row(108, "SET_FUNCTION_ATTRIBUTE", 0, By(shapes::function_attribute)),
    row(109, "SET_UPDATE", 0, Plain(SetUpdate)),
    row(110, "STORE_ATTR", 4, Plain(StoreAttr)),
    row(111, "STORE_DEREF", 0, Plain(StoreCell)),
    row(112, "STORE_FAST", 0, Plain(StoreLocal)),
    row(113, "STORE_FAST_LOAD_FAST", 0, By(shapes::store_load)),
    row(114, "STORE_FAST_STORE_FAST", 0, By(shapes::store_store)),
    row(115, "STORE_GLOBAL", 0, Plain(StoreGlobal)),
    row(116, "STORE_NAME", 0, Plain(StoreName)),
    row(117, "SWAP", 0, Plain(Swap)),
    row(118, "UNPACK_EX", 0, Plain(UnpackRest)),
    row(119, "UNPACK_SEQUENCE", 1, Plain(Unpack)),
    row(120, "YIELD_VALUE", 0, By(shapes::yield_value)),
    row(128, "RESUME", 0, Skip),
];

/// FOR_ITER goes on behind this one and the POP_ITER that follows, its iterator dropped.
fn end_for(w: &mut Writer<'_>, _: u32) -> Result<()> {
    if !w.follows(&["POP_ITER"]) {
        return Err(w.malformed("no POP_ITER follows"));
    }
    w.take().map(drop)
}

fn binary(w: &mut Writer<'_>, arg: u32) -> Result<()> {
    match arg {
        26 => w.push(Subscript, 0),
        _ => w.push(Binary, arg),
    }
    Ok(())
}

/// `all(… for …)`, `any` and `tuple` are a loop where the name means the built-in function, else a call. The
/// call does the same in both cases, and is what the other versions have: COPY, this, IS_OP,
/// POP_JUMP_IF_FALSE and the loop behind them vanish.
fn common(w: &mut Writer<'_>, arg: u32) -> Result<()> {
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
fn call_spread(w: &mut Writer<'_>, _: u32) -> Result<()> {
    let none = w.last().is_some_and(|i| i.op == PushNull);
    if none {
        w.insts.pop();
    }
    w.push(CallSpread, !none as u32);
    Ok(())
}

fn special(w: &mut Writer<'_>, arg: u32) -> Result<()> {
    w.push(LoadSpecial, arg);
    w.push(PushNull, 0);
    Ok(())
}

/// As elsewhere, but a NULL lies above `__exit__`.
fn call_exit(w: &mut Writer<'_>, _: u32) -> Result<()> {
    w.push(CallExit, 5);
    Ok(())
}

fn template(w: &mut Writer<'_>, _: u32) -> Result<()> {
    w.push(BuildTemplate, 0);
    Ok(())
}

fn interpolation(w: &mut Writer<'_>, arg: u32) -> Result<()> {
    w.push(BuildTemplate, 1 + arg);
    Ok(())
}
