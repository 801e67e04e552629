//! Bytecode of CPython 3.13: two local variables in one instruction, the truth of a value as an instruction
//! of its own, keywords on the stack, and NULL behind the callable.

use super::Meaning::{Backward, By, Extend, Forward, Plain, Skip};
use super::{Row, Version, Writer, row, shapes};
use crate::bytecode::Instr;
use crate::bytecode::Opcode::*;
use crate::diag::Result;

pub(crate) static VERSION: Version = Version::new((3, 13), &ROWS);

#[rustfmt::skip]
static ROWS: [Row; 115] = [
    row(0, "CACHE", 0, Skip),
    row(1, "BEFORE_ASYNC_WITH", 0, By(shapes::async_with)),
    row(2, "BEFORE_WITH", 0, By(shapes::with)),
    row(4, "BINARY_SLICE", 0, By(shapes::slice)),
    row(5, "BINARY_SUBSCR", 1, Plain(Subscript)),
    row(6, "CHECK_EG_MATCH", 0, Plain(MatchGroup)),
    row(7, "CHECK_EXC_MATCH", 0, Plain(MatchException)),
    row(8, "CLEANUP_THROW", 0, Plain(EndDelegation)),
    row(9, "DELETE_SUBSCR", 0, Plain(DeleteSubscript)),
    row(10, "END_ASYNC_FOR", 0, By(shapes::end_async_for)),
    row(11, "END_FOR", 0, By(end_for)),
    row(12, "END_SEND", 0, Skip),
    row(14, "FORMAT_SIMPLE", 0, By(shapes::format_simple)),
    row(15, "FORMAT_WITH_SPEC", 0, By(shapes::format_with_spec)),
    row(16, "GET_AITER", 0, Plain(GetAsyncIter)),
    row(18, "GET_ANEXT", 0, Plain(GetAsyncNext)),
    row(19, "GET_ITER", 0, By(get_iter)),
    row(20, "GET_LEN", 0, Plain(Length)),
    row(21, "GET_YIELD_FROM_ITER", 0, Plain(GetYieldIter)),
    row(23, "LOAD_ASSERTION_ERROR", 0, By(shapes::assertion_error)),
    row(24, "LOAD_BUILD_CLASS", 0, Plain(LoadBuildClass)),
    row(25, "LOAD_LOCALS", 0, Plain(LoadNames)),
    row(26, "MAKE_FUNCTION", 0, Plain(MakeFunction)),
    row(27, "MATCH_KEYS", 0, Plain(MatchKeys)),
    row(28, "MATCH_MAPPING", 0, Plain(MatchMapping)),
    row(29, "MATCH_SEQUENCE", 0, Plain(MatchSequence)),
    row(30, "NOP", 0, Skip),
    row(31, "POP_EXCEPT", 0, Plain(PopHandled)),
    row(32, "POP_TOP", 0, Plain(Pop)),
    row(33, "PUSH_EXC_INFO", 0, Plain(PushHandled)),
    row(34, "PUSH_NULL", 0, Plain(PushNull)),
    row(35, "RETURN_GENERATOR", 0, Plain(MakeGenerator)),
    row(36, "RETURN_VALUE", 0, Plain(Return)),
    row(37, "SETUP_ANNOTATIONS", 0, Plain(SetupAnnotations)),
    row(38, "STORE_SLICE", 0, By(shapes::store_slice)),
    row(39, "STORE_SUBSCR", 1, Plain(StoreSubscript)),
    row(40, "TO_BOOL", 3, By(shapes::to_bool)),
    row(41, "UNARY_INVERT", 0, Plain(Invert)),
    row(42, "UNARY_NEGATIVE", 0, Plain(Negative)),
    row(43, "UNARY_NOT", 0, Plain(Not)),
    row(44, "WITH_EXCEPT_START", 0, By(shapes::call_exit)),
    row(45, "BINARY_OP", 1, Plain(Binary)),
    row(46, "BUILD_CONST_KEY_MAP", 0, Plain(BuildKeyedMap)),
    row(47, "BUILD_LIST", 0, Plain(BuildList)),
    row(48, "BUILD_MAP", 0, Plain(BuildMap)),
    row(49, "BUILD_SET", 0, Plain(BuildSet)),
    row(50, "BUILD_SLICE", 0, Plain(BuildSlice)),
    row(51, "BUILD_STRING", 0, Plain(BuildString)),
    row(52, "BUILD_TUPLE", 0, Plain(BuildTuple)),
    row(53, "CALL", 3, Plain(Call)),
    row(54, "CALL_FUNCTION_EX", 0, Plain(CallSpread)),
    row(55, "CALL_INTRINSIC_1", 0, By(shapes::intrinsic_1)),
    row(56, "CALL_INTRINSIC_2", 0, By(shapes::intrinsic_2)),
    row(57, "CALL_KW", 0, Plain(CallNamed)),
    row(58, "COMPARE_OP", 1, By(shapes::compare)),
    row(59, "CONTAINS_OP", 1, Plain(Contains)),
    row(60, "CONVERT_VALUE", 0, By(shapes::convert)),
    row(61, "COPY", 0, Plain(Copy)),
    row(62, "COPY_FREE_VARS", 0, Skip),
    row(63, "DELETE_ATTR", 0, Plain(DeleteAttr)),
    row(64, "DELETE_DEREF", 0, Plain(DeleteCell)),
    row(65, "DELETE_FAST", 0, Plain(DeleteLocal)),
    row(66, "DELETE_GLOBAL", 0, Plain(DeleteGlobal)),
    row(67, "DELETE_NAME", 0, Plain(DeleteName)),
    row(68, "DICT_MERGE", 0, Plain(MapMerge)),
    row(69, "DICT_UPDATE", 0, Plain(MapUpdate)),
    row(71, "EXTENDED_ARG", 0, Extend),
    row(72, "FOR_ITER", 1, Forward(ForIter)),
    row(73, "GET_AWAITABLE", 0, Plain(GetAwaitable)),
    row(74, "IMPORT_FROM", 0, Plain(ImportFrom)),
    row(75, "IMPORT_NAME", 0, Plain(ImportName)),
    row(76, "IS_OP", 0, Plain(Is)),
    row(77, "JUMP_BACKWARD", 1, Backward(Jump)),
    row(78, "JUMP_BACKWARD_NO_INTERRUPT", 0, Backward(Jump)),
    row(79, "JUMP_FORWARD", 0, Forward(Jump)),
    row(80, "LIST_APPEND", 0, Plain(ListAppend)),
    row(81, "LIST_EXTEND", 0, Plain(ListExtend)),
    row(82, "LOAD_ATTR", 9, By(shapes::attr)),
    row(83, "LOAD_CONST", 0, Plain(LoadConst)),
    row(84, "LOAD_DEREF", 0, Plain(LoadCell)),
    row(85, "LOAD_FAST", 0, Plain(LoadLocal)),
    row(86, "LOAD_FAST_AND_CLEAR", 0, Plain(SaveLocal)),
    row(87, "LOAD_FAST_CHECK", 0, Plain(LoadLocal)),
    row(88, "LOAD_FAST_LOAD_FAST", 0, By(shapes::load_load)),
    row(89, "LOAD_FROM_DICT_OR_DEREF", 0, Plain(LoadNameOrCell)),
    row(90, "LOAD_FROM_DICT_OR_GLOBALS", 0, Plain(LoadNameOrGlobal)),
    row(91, "LOAD_GLOBAL", 4, By(shapes::global)),
    row(92, "LOAD_NAME", 0, Plain(LoadName)),
    row(93, "LOAD_SUPER_ATTR", 1, By(shapes::super_attr)),
    row(94, "MAKE_CELL", 0, Plain(MakeCell)),
    row(95, "MAP_ADD", 0, Plain(MapAdd)),
    row(96, "MATCH_CLASS", 0, Plain(MatchClass)),
    row(97, "POP_JUMP_IF_FALSE", 1, Forward(BranchFalse)),
    row(98, "POP_JUMP_IF_NONE", 1, Forward(BranchNone)),
    row(99, "POP_JUMP_IF_NOT_NONE", 1, Forward(BranchNotNone)),
    row(100, "POP_JUMP_IF_TRUE", 1, Forward(BranchTrue)),
    row(101, "RAISE_VARARGS", 0, Plain(Raise)),
    row(102, "RERAISE", 0, Plain(Reraise)),
    row(103, "RETURN_CONST", 0, By(shapes::return_const)),
    row(104, "SEND", 1, Forward(Send)),
    row(105, "SET_ADD", 0, Plain(SetAdd)),
    row(106, "SET_FUNCTION_ATTRIBUTE", 0, By(shapes::function_attribute)),
    row(107, "SET_UPDATE", 0, Plain(SetUpdate)),
    row(108, "STORE_ATTR", 4, Plain(StoreAttr)),
    row(109, "STORE_DEREF", 0, Plain(StoreCell)),
    row(110, "STORE_FAST", 0, Plain(StoreLocal)),
    row(111, "STORE_FAST_LOAD_FAST", 0, By(shapes::store_load)),
    row(112, "STORE_FAST_STORE_FAST", 0, By(shapes::store_store)),
    row(113, "STORE_GLOBAL", 0, Plain(StoreGlobal)),
    row(114, "STORE_NAME", 0, Plain(StoreName)),
    row(115, "SWAP", 0, Plain(Swap)),
    row(116, "UNPACK_EX", 0, Plain(UnpackRest)),
    row(117, "UNPACK_SEQUENCE", 1, Plain(Unpack)),
    row(118, "YIELD_VALUE", 0, By(shapes::yield_value)),
    row(149, "RESUME", 0, Skip),
];

/// FOR_ITER goes on behind this one and the POP_TOP that follows, its iterator dropped.
fn end_for(w: &mut Writer<'_>, _: u32) -> Result<()> {
    if !w.follows(&["POP_TOP"]) {
        return Err(w.malformed("no POP_TOP follows"));
    }
    w.take().map(drop)
}

/// Later releases of 3.13 make an iterator of an iterator once more, in comprehensions and generator
/// expressions.
fn get_iter(w: &mut Writer<'_>, _: u32) -> Result<()> {
    let generator = w.last().is_some_and(|i| i.op == LoadLocal && i.arg == 0)
        && w.varnames.first().is_some_and(|n| &**n == ".0");
    let comprehension = matches!(
        w.insts[..],
        [.., Instr { op: BuildList | BuildSet | BuildMap, arg: 0, .. }, Instr { op: Swap, arg: 2, .. }]
    );
    let again = w.last().is_some_and(|i| i.op == GetIter);
    if !generator && !comprehension && !again {
        w.push(GetIter, 0);
    }
    Ok(())
}
