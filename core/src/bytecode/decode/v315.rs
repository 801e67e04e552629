//! Bytecode of CPython 3.15: iterators take two places on the stack ([`pairs`]), generator expressions make
//! their iterators themselves, and frequent constants have numbers of their own.
//!
//! [`pairs`]: super::pairs

use super::Meaning::{Backward, By, Extend, Forward, Plain, Skip};
use super::pairs::SECOND;
use super::{Row, Version, Writer, row, shapes};
use crate::bytecode::Opcode::*;
use crate::bytecode::{Instr, Opcode};
use crate::diag::Result;

pub(crate) static VERSION: Version = Version::new((3, 15), &ROWS).with_pairs();

#[rustfmt::skip]
static ROWS: [Row; 117] = [
    row(0, "CACHE", 0, Skip),
    row(1, "BINARY_SLICE", 0, By(shapes::slice)),
    row(2, "BUILD_TEMPLATE", 0, By(shapes::template)),
    row(4, "CALL_FUNCTION_EX", 1, By(shapes::call_spread)),
    row(5, "CHECK_EG_MATCH", 0, Plain(MatchGroup)),
    row(6, "CHECK_EXC_MATCH", 0, Plain(MatchException)),
    row(7, "CLEANUP_THROW", 0, Plain(EndDelegation)),
    row(8, "DELETE_SUBSCR", 0, Plain(DeleteSubscript)),
    row(9, "END_FOR", 0, By(shapes::end_loop)),
    row(10, "END_SEND", 0, Skip),
    row(12, "FORMAT_SIMPLE", 0, By(shapes::format_simple)),
    row(13, "FORMAT_WITH_SPEC", 0, By(shapes::format_with_spec)),
    row(14, "GET_AITER", 0, By(get_aiter)),
    row(15, "GET_ANEXT", 0, Plain(GetAsyncNext)),
    row(16, "GET_LEN", 0, Plain(Length)),
    row(19, "LOAD_BUILD_CLASS", 0, Plain(LoadBuildClass)),
    row(20, "LOAD_LOCALS", 0, Plain(LoadNames)),
    row(21, "MAKE_FUNCTION", 0, Plain(MakeFunction)),
    row(22, "MATCH_KEYS", 0, Plain(MatchKeys)),
    row(23, "MATCH_MAPPING", 0, Plain(MatchMapping)),
    row(24, "MATCH_SEQUENCE", 0, Plain(MatchSequence)),
    row(25, "NOP", 0, Skip),
    row(26, "NOT_TAKEN", 0, Skip),
    row(27, "POP_EXCEPT", 0, Plain(PopHandled)),
    row(28, "POP_ITER", 0, By(pop_iter)),
    row(29, "POP_TOP", 0, Plain(Pop)),
    row(30, "PUSH_EXC_INFO", 0, Plain(PushHandled)),
    row(31, "PUSH_NULL", 0, By(push_null)),
    row(32, "RETURN_GENERATOR", 0, Plain(MakeGenerator)),
    row(33, "RETURN_VALUE", 0, Plain(Return)),
    row(34, "SETUP_ANNOTATIONS", 0, Plain(SetupAnnotations)),
    row(35, "STORE_SLICE", 0, By(shapes::store_slice)),
    row(36, "STORE_SUBSCR", 1, Plain(StoreSubscript)),
    row(37, "TO_BOOL", 3, By(shapes::to_bool)),
    row(38, "UNARY_INVERT", 0, Plain(Invert)),
    row(39, "UNARY_NEGATIVE", 0, Plain(Negative)),
    row(40, "UNARY_NOT", 0, Plain(Not)),
    row(41, "WITH_EXCEPT_START", 0, By(shapes::call_exit_above_null)),
    row(42, "BINARY_OP", 5, By(shapes::binary)),
    row(43, "BUILD_INTERPOLATION", 0, By(shapes::interpolation)),
    row(44, "BUILD_LIST", 0, By(list)),
    row(45, "BUILD_MAP", 0, By(map)),
    row(46, "BUILD_SET", 0, By(set)),
    row(47, "BUILD_SLICE", 0, Plain(BuildSlice)),
    row(48, "BUILD_STRING", 0, Plain(BuildString)),
    row(49, "BUILD_TUPLE", 0, Plain(BuildTuple)),
    row(50, "CALL", 3, Plain(Call)),
    row(51, "CALL_INTRINSIC_1", 0, By(shapes::intrinsic_1)),
    row(52, "CALL_INTRINSIC_2", 0, By(shapes::intrinsic_2)),
    row(53, "CALL_KW", 3, Plain(CallNamed)),
    row(54, "COMPARE_OP", 1, By(shapes::compare)),
    row(55, "CONTAINS_OP", 1, Plain(Contains)),
    row(56, "CONVERT_VALUE", 0, By(shapes::convert)),
    row(57, "COPY", 0, Plain(Copy)),
    row(58, "COPY_FREE_VARS", 0, Skip),
    row(59, "DELETE_ATTR", 0, Plain(DeleteAttr)),
    row(60, "DELETE_DEREF", 0, Plain(DeleteCell)),
    row(61, "DELETE_FAST", 0, Plain(DeleteLocal)),
    row(62, "DELETE_GLOBAL", 0, Plain(DeleteGlobal)),
    row(63, "DELETE_NAME", 0, Plain(DeleteName)),
    row(64, "DICT_MERGE", 0, Plain(MapMerge)),
    row(65, "DICT_UPDATE", 0, Plain(MapUpdate)),
    row(66, "END_ASYNC_FOR", 0, By(shapes::end_async_for)),
    row(67, "EXTENDED_ARG", 0, Extend),
    row(68, "FOR_ITER", 1, Forward(ForIter)),
    row(69, "GET_AWAITABLE", 0, Plain(GetAwaitable)),
    row(70, "GET_ITER", 1, By(get_iter)),
    row(71, "IMPORT_FROM", 0, Plain(ImportFrom)),
    row(72, "IMPORT_NAME", 0, By(import)),
    row(73, "IS_OP", 0, Plain(Is)),
    row(74, "JUMP_BACKWARD", 1, Backward(Jump)),
    row(75, "JUMP_BACKWARD_NO_INTERRUPT", 0, Backward(Jump)),
    row(76, "JUMP_FORWARD", 0, Forward(Jump)),
    row(77, "LIST_APPEND", 0, Plain(ListAppend)),
    row(78, "LIST_EXTEND", 0, Plain(ListExtend)),
    row(79, "LOAD_ATTR", 9, By(shapes::attr)),
    row(80, "LOAD_COMMON_CONSTANT", 0, By(common)),
    row(81, "LOAD_CONST", 0, Plain(LoadConst)),
    row(82, "LOAD_DEREF", 0, Plain(LoadCell)),
    row(83, "LOAD_FAST", 0, Plain(LoadLocal)),
    row(84, "LOAD_FAST_AND_CLEAR", 0, By(save)),
    row(85, "LOAD_FAST_BORROW", 0, Plain(LoadLocal)),
    row(86, "LOAD_FAST_BORROW_LOAD_FAST_BORROW", 0, By(shapes::load_load)),
    row(87, "LOAD_FAST_CHECK", 0, Plain(LoadLocal)),
    row(88, "LOAD_FAST_LOAD_FAST", 0, By(shapes::load_load)),
    row(89, "LOAD_FROM_DICT_OR_DEREF", 0, Plain(LoadNameOrCell)),
    row(90, "LOAD_FROM_DICT_OR_GLOBALS", 0, Plain(LoadNameOrGlobal)),
    row(91, "LOAD_GLOBAL", 4, By(shapes::global)),
    row(92, "LOAD_NAME", 0, Plain(LoadName)),
    row(93, "LOAD_SMALL_INT", 0, Plain(LoadInt)),
    row(94, "LOAD_SPECIAL", 0, By(shapes::special_and_null)),
    row(95, "LOAD_SUPER_ATTR", 1, By(shapes::super_attr)),
    row(96, "MAKE_CELL", 0, Plain(MakeCell)),
    row(97, "MAP_ADD", 0, Plain(MapAdd)),
    row(98, "MATCH_CLASS", 0, Plain(MatchClass)),
    row(99, "POP_JUMP_IF_FALSE", 1, Forward(BranchFalse)),
    row(100, "POP_JUMP_IF_NONE", 1, Forward(BranchNone)),
    row(101, "POP_JUMP_IF_NOT_NONE", 1, Forward(BranchNotNone)),
    row(102, "POP_JUMP_IF_TRUE", 1, Forward(BranchTrue)),
    row(103, "RAISE_VARARGS", 0, Plain(Raise)),
    row(104, "RERAISE", 0, Plain(Reraise)),
    row(105, "SEND", 1, Forward(Send)),
    row(106, "SET_ADD", 0, Plain(SetAdd)),
    row(107, "SET_FUNCTION_ATTRIBUTE", 0, By(shapes::function_attribute)),
    row(108, "SET_UPDATE", 0, Plain(SetUpdate)),
    row(109, "STORE_ATTR", 4, Plain(StoreAttr)),
    row(110, "STORE_DEREF", 0, Plain(StoreCell)),
    row(111, "STORE_FAST", 0, Plain(StoreLocal)),
    row(112, "STORE_FAST_LOAD_FAST", 0, By(shapes::store_load)),
    row(113, "STORE_FAST_STORE_FAST", 0, By(shapes::store_store)),
    row(114, "STORE_GLOBAL", 0, Plain(StoreGlobal)),
    row(115, "STORE_NAME", 0, Plain(StoreName)),
    row(116, "SWAP", 0, Plain(Swap)),
    row(117, "UNPACK_EX", 0, Plain(UnpackRest)),
    row(118, "UNPACK_SEQUENCE", 1, Plain(Unpack)),
    row(119, "YIELD_VALUE", 0, By(shapes::yield_value)),
    row(128, "RESUME", 1, Skip),
];

/// The argument says for whom: 0 a loop, 3 `yield from`.
fn get_iter(w: &mut Writer<'_>, arg: u32) -> Result<()> {
    if is_first_of_generator(w) {
        return begin_generator(w, true);
    }
    match arg {
        0 if has_iterator(w) => {}
        0 => w.push(GetIter, 0),
        3 => w.push(GetYieldIter, 0),
        _ => return Err(w.malformed(&format!("an iterator for {arg}"))),
    }
    w.push(PushNull, SECOND);
    Ok(())
}

// A comprehension makes its iterator when its variables are put aside and its container is there; before it
// was the other way round, and is so in the neutral instructions.

/// Units before the GET_ITER of a comprehension that put its variables aside.
const SAVES: [&str; 3] = ["LOAD_FAST_AND_CLEAR", "MAKE_CELL", "SWAP"];

/// Makes the iterator here if this is the first instruction of a comprehension.
fn begin_comprehension(w: &mut Writer<'_>) {
    // This unit or a later one.
    let unit = |n: usize| if n == 0 { Some(&w.units[w.at]) } else { w.following(n - 1) };
    let is = |n: usize, names: &[&str]| unit(n).is_some_and(|u| names.contains(&u.row.name));
    let Some(container) = (0..).find(|n| !is(*n, &SAVES)) else { return };
    let begins = is(container, &["BUILD_LIST", "BUILD_SET", "BUILD_MAP"])
        && unit(container).is_some_and(|u| u.arg == 0)
        && is(container + 1, &["SWAP"])
        && is(container + 2, &["GET_ITER"]);
    if begins && !is_iterated(&w.insts) {
        w.push(GetIter, 0);
    }
}

/// Whether nothing has been done with an iterator but to put variables aside.
fn is_iterated(insts: &[Instr]) -> bool {
    insts.iter().rev().find(|i| !matches!(i.op, SaveLocal | MakeCell | Swap)).is_some_and(|i| i.op == GetIter)
}

/// The same, and the container was made.
fn has_iterator(w: &Writer<'_>) -> bool {
    let Some(at) = w.insts.len().checked_sub(2) else { return false };
    let built = matches!(w.insts[at], Instr { op: BuildList | BuildSet | BuildMap, arg: 0, .. });
    built && w.insts[at + 1].op == Swap && is_iterated(&w.insts[..at])
}

fn save(w: &mut Writer<'_>, arg: u32) -> Result<()> {
    begin_comprehension(w);
    w.push(SaveLocal, arg);
    Ok(())
}

fn list(w: &mut Writer<'_>, arg: u32) -> Result<()> {
    container(w, BuildList, arg)
}
fn set(w: &mut Writer<'_>, arg: u32) -> Result<()> {
    container(w, BuildSet, arg)
}
fn map(w: &mut Writer<'_>, arg: u32) -> Result<()> {
    container(w, BuildMap, arg)
}
fn container(w: &mut Writer<'_>, op: Opcode, arg: u32) -> Result<()> {
    if arg == 0 {
        begin_comprehension(w);
    }
    w.push(op, arg);
    Ok(())
}

// ----

fn get_aiter(w: &mut Writer<'_>, _: u32) -> Result<()> {
    if is_first_of_generator(w) {
        return begin_generator(w, false);
    }
    w.push(GetAsyncIter, 0);
    Ok(())
}

fn is_first_of_generator(w: &Writer<'_>) -> bool {
    w.last().is_some_and(|i| (i.op, i.arg) == (LoadLocal, 0)) && w.follows(&["RETURN_GENERATOR", "POP_TOP"])
}

/// A generator expression makes the iterator of its operand before it returns the generator. Elsewhere, and
/// in the neutral instructions, who calls it has done that; [`super::pairs`] puts it there.
fn begin_generator(w: &mut Writer<'_>, pair: bool) -> Result<()> {
    w.insts.pop();
    w.take()?;
    w.push(MakeGenerator, 0);
    w.take()?;
    w.push(Pop, 0);
    w.push(LoadLocal, 0);
    if pair {
        w.push(PushNull, SECOND);
    }
    Ok(())
}

/// Beside a callable; or beside an iterator that no GET_ITER made.
fn push_null(w: &mut Writer<'_>, _: u32) -> Result<()> {
    let beside_iterator = w.follows(&["FOR_ITER"]) || w.follows(&["LOAD_COMMON_CONSTANT", "SEND"]);
    w.push(PushNull, if beside_iterator { SECOND } else { 0 });
    Ok(())
}

fn pop_iter(w: &mut Writer<'_>, _: u32) -> Result<()> {
    w.push(Pop, 0);
    w.push(Pop, 0);
    Ok(())
}

/// The lowest bits say whether the module is loaded when it is first used, which modules alone may ask for.
fn import(w: &mut Writer<'_>, arg: u32) -> Result<()> {
    w.push(ImportName, arg >> 2);
    Ok(())
}

/// Classes and functions, then literals.
fn common(w: &mut Writer<'_>, arg: u32) -> Result<()> {
    const FIRST_LITERAL: u32 = 7;
    match arg.checked_sub(FIRST_LITERAL) {
        Some(literal) => {
            w.push(LoadLiteral, literal);
            Ok(())
        }
        None => shapes::builtin(w, arg),
    }
}
