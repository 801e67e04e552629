//! Bytecode of CPython 3.11.

use super::Meaning::{Backward, By, Extend, Forward, ForwardBy, Plain, Skip};
use super::{Row, Version, Writer, row, shapes};
use crate::bytecode::Opcode::*;
use crate::diag::Result;

pub(crate) static VERSION: Version = Version::new((3, 11), &ROWS);

#[rustfmt::skip]
static ROWS: [Row; 110] = [
    row(0, "CACHE", 0, Skip),
    row(1, "POP_TOP", 0, Plain(Pop)),
    row(2, "PUSH_NULL", 0, Plain(PushNull)),
    row(9, "NOP", 0, Skip),
    row(10, "UNARY_POSITIVE", 0, Plain(Positive)),
    row(11, "UNARY_NEGATIVE", 0, Plain(Negative)),
    row(12, "UNARY_NOT", 0, Plain(Not)),
    row(15, "UNARY_INVERT", 0, Plain(Invert)),
    row(25, "BINARY_SUBSCR", 4, Plain(Subscript)),
    row(30, "GET_LEN", 0, Plain(Length)),
    row(31, "MATCH_MAPPING", 0, Plain(MatchMapping)),
    row(32, "MATCH_SEQUENCE", 0, Plain(MatchSequence)),
    row(33, "MATCH_KEYS", 0, Plain(MatchKeys)),
    row(35, "PUSH_EXC_INFO", 0, Plain(PushHandled)),
    row(36, "CHECK_EXC_MATCH", 0, Plain(MatchException)),
    row(37, "CHECK_EG_MATCH", 0, Plain(MatchGroup)),
    row(49, "WITH_EXCEPT_START", 0, By(shapes::call_exit)),
    row(50, "GET_AITER", 0, Plain(GetAsyncIter)),
    row(51, "GET_ANEXT", 0, Plain(GetAsyncNext)),
    row(52, "BEFORE_ASYNC_WITH", 0, By(shapes::async_with)),
    row(53, "BEFORE_WITH", 0, By(shapes::with)),
    row(54, "END_ASYNC_FOR", 0, By(shapes::end_async_for)),
    row(60, "STORE_SUBSCR", 1, Plain(StoreSubscript)),
    row(61, "DELETE_SUBSCR", 0, Plain(DeleteSubscript)),
    row(68, "GET_ITER", 0, Plain(GetIter)),
    row(69, "GET_YIELD_FROM_ITER", 0, Plain(GetYieldIter)),
    row(70, "PRINT_EXPR", 0, Plain(PrintResult)),
    row(71, "LOAD_BUILD_CLASS", 0, Plain(LoadBuildClass)),
    row(74, "LOAD_ASSERTION_ERROR", 0, By(shapes::assertion_error)),
    row(75, "RETURN_GENERATOR", 0, Plain(MakeGenerator)),
    row(82, "LIST_TO_TUPLE", 0, Plain(ListToTuple)),
    row(83, "RETURN_VALUE", 0, Plain(Return)),
    row(84, "IMPORT_STAR", 0, Plain(ImportStar)),
    row(85, "SETUP_ANNOTATIONS", 0, Plain(SetupAnnotations)),
    row(86, "YIELD_VALUE", 0, By(shapes::yield_value)),
    row(87, "ASYNC_GEN_WRAP", 0, Plain(WrapAsyncValue)),
    row(88, "PREP_RERAISE_STAR", 0, Plain(JoinGroup)),
    row(89, "POP_EXCEPT", 0, Plain(PopHandled)),
    row(90, "STORE_NAME", 0, Plain(StoreName)),
    row(91, "DELETE_NAME", 0, Plain(DeleteName)),
    row(92, "UNPACK_SEQUENCE", 1, Plain(Unpack)),
    row(93, "FOR_ITER", 0, Forward(ForIter)),
    row(94, "UNPACK_EX", 0, Plain(UnpackRest)),
    row(95, "STORE_ATTR", 4, Plain(StoreAttr)),
    row(96, "DELETE_ATTR", 0, Plain(DeleteAttr)),
    row(97, "STORE_GLOBAL", 0, Plain(StoreGlobal)),
    row(98, "DELETE_GLOBAL", 0, Plain(DeleteGlobal)),
    row(99, "SWAP", 0, Plain(Swap)),
    row(100, "LOAD_CONST", 0, Plain(LoadConst)),
    row(101, "LOAD_NAME", 0, Plain(LoadName)),
    row(102, "BUILD_TUPLE", 0, Plain(BuildTuple)),
    row(103, "BUILD_LIST", 0, Plain(BuildList)),
    row(104, "BUILD_SET", 0, Plain(BuildSet)),
    row(105, "BUILD_MAP", 0, Plain(BuildMap)),
    row(106, "LOAD_ATTR", 4, Plain(LoadAttr)),
    row(107, "COMPARE_OP", 2, Plain(Compare)),
    row(108, "IMPORT_NAME", 0, Plain(ImportName)),
    row(109, "IMPORT_FROM", 0, Plain(ImportFrom)),
    row(110, "JUMP_FORWARD", 0, Forward(Jump)),
    row(111, "JUMP_IF_FALSE_OR_POP", 0, ForwardBy(false_or_pop)),
    row(112, "JUMP_IF_TRUE_OR_POP", 0, ForwardBy(true_or_pop)),
    row(114, "POP_JUMP_FORWARD_IF_FALSE", 0, Forward(BranchFalse)),
    row(115, "POP_JUMP_FORWARD_IF_TRUE", 0, Forward(BranchTrue)),
    row(116, "LOAD_GLOBAL", 5, By(shapes::null_global)),
    row(117, "IS_OP", 0, Plain(Is)),
    row(118, "CONTAINS_OP", 0, Plain(Contains)),
    row(119, "RERAISE", 0, Plain(Reraise)),
    row(120, "COPY", 0, Plain(Copy)),
    row(122, "BINARY_OP", 1, Plain(Binary)),
    row(123, "SEND", 0, Forward(Send)),
    row(124, "LOAD_FAST", 0, Plain(LoadLocal)),
    row(125, "STORE_FAST", 0, Plain(StoreLocal)),
    row(126, "DELETE_FAST", 0, Plain(DeleteLocal)),
    row(128, "POP_JUMP_FORWARD_IF_NOT_NONE", 0, Forward(BranchNotNone)),
    row(129, "POP_JUMP_FORWARD_IF_NONE", 0, Forward(BranchNone)),
    row(130, "RAISE_VARARGS", 0, Plain(Raise)),
    row(131, "GET_AWAITABLE", 0, Plain(GetAwaitable)),
    row(132, "MAKE_FUNCTION", 0, Plain(MakeFunction)),
    row(133, "BUILD_SLICE", 0, Plain(BuildSlice)),
    row(134, "JUMP_BACKWARD_NO_INTERRUPT", 0, Backward(Jump)),
    row(135, "MAKE_CELL", 0, Plain(MakeCell)),
    row(136, "LOAD_CLOSURE", 0, Plain(Capture)),
    row(137, "LOAD_DEREF", 0, Plain(LoadCell)),
    row(138, "STORE_DEREF", 0, Plain(StoreCell)),
    row(139, "DELETE_DEREF", 0, Plain(DeleteCell)),
    row(140, "JUMP_BACKWARD", 0, Backward(Jump)),
    row(142, "CALL_FUNCTION_EX", 0, Plain(CallSpread)),
    row(144, "EXTENDED_ARG", 0, Extend),
    row(145, "LIST_APPEND", 0, Plain(ListAppend)),
    row(146, "SET_ADD", 0, Plain(SetAdd)),
    row(147, "MAP_ADD", 0, Plain(MapAdd)),
    row(148, "LOAD_CLASSDEREF", 0, By(class_cell)),
    row(149, "COPY_FREE_VARS", 0, Skip),
    row(151, "RESUME", 0, Skip),
    row(152, "MATCH_CLASS", 0, Plain(MatchClass)),
    row(155, "FORMAT_VALUE", 0, Plain(Format)),
    row(156, "BUILD_CONST_KEY_MAP", 0, Plain(BuildKeyedMap)),
    row(157, "BUILD_STRING", 0, Plain(BuildString)),
    row(160, "LOAD_METHOD", 10, By(method)),
    row(162, "LIST_EXTEND", 0, Plain(ListExtend)),
    row(163, "SET_UPDATE", 0, Plain(SetUpdate)),
    row(164, "DICT_MERGE", 0, Plain(MapMerge)),
    row(165, "DICT_UPDATE", 0, Plain(MapUpdate)),
    row(166, "PRECALL", 1, Skip),
    row(171, "CALL", 4, By(shapes::call_after_keywords)),
    row(172, "KW_NAMES", 0, By(shapes::keywords)),
    row(173, "POP_JUMP_BACKWARD_IF_NOT_NONE", 0, Backward(BranchNotNone)),
    row(174, "POP_JUMP_BACKWARD_IF_NONE", 0, Backward(BranchNone)),
    row(175, "POP_JUMP_BACKWARD_IF_FALSE", 0, Backward(BranchFalse)),
    row(176, "POP_JUMP_BACKWARD_IF_TRUE", 0, Backward(BranchTrue)),
];

/// A method, which a call follows. Bound, it is a callable like any.
fn method(w: &mut Writer<'_>, arg: u32) -> Result<()> {
    w.push(LoadAttr, arg);
    w.push(PushNull, 0);
    Ok(())
}

fn class_cell(w: &mut Writer<'_>, arg: u32) -> Result<()> {
    w.push(LoadNames, 0);
    w.push(LoadNameOrCell, arg);
    Ok(())
}

/// `x and y`: `x` stays where the jump leads, and is dropped here.
fn false_or_pop(w: &mut Writer<'_>, target: usize) -> Result<()> {
    w.push(Copy, 1);
    w.jump(BranchFalse, target)?;
    w.push(Pop, 0);
    Ok(())
}

fn true_or_pop(w: &mut Writer<'_>, target: usize) -> Result<()> {
    w.push(Copy, 1);
    w.jump(BranchTrue, target)?;
    w.push(Pop, 0);
    Ok(())
}
