//! Opcodes: the normalised instruction set that the SSA builder sees, and how each CPython version encodes
//! it.
//!
//! Only this file and [`super::decode`] know Python versions. A version is a column of [`ROWS`]: number and
//! inline cache entries of the opcode, or [`ABSENT`]. Several rows may mean one normalised opcode
//! (`JUMP_FORWARD` and `JUMP_BACKWARD` are both `Jump`).

/// The versions of CPython whose bytecode is known; columns of [`ROWS`] are in this order.
pub const VERSIONS: [(u8, u8); 1] = [(3, 11)];

/// What the argument of an opcode indexes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arg {
    /// Nothing: a count, a flag, or not used.
    Plain,
    /// Instructions.
    Jump,
    /// [`super::Code::consts`].
    Const,
    /// [`super::Code::names`].
    Name,
    /// [`super::Code::varnames`].
    Local,
    /// Local variables, then cells, then captured variables ([`super::Code::variable`]).
    Deref,
}

macro_rules! opcodes {
    (@arg) => { Arg::Plain };
    (@arg $arg:ident) => { Arg::$arg };
    ($($(#[doc = $doc:literal])* $Name:ident = $text:literal $(: $arg:ident)?;)+) => {
        /// A normalised opcode; the argument has CPython's meaning unless its line says otherwise.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Opcode { $($(#[doc = $doc])* $Name),+ }
        impl Opcode {
            pub const ALL: &'static [Opcode] = &[$(Opcode::$Name),+];
            pub fn name(self) -> &'static str { match self { $(Opcode::$Name => $text),+ } }
            /// What the argument indexes.
            pub fn arg(self) -> Arg { match self { $(Opcode::$Name => opcodes!(@arg $($arg)?)),+ } }
            pub fn from_name(name: &str) -> Option<Opcode> { match name { $($text => Some(Opcode::$Name),)+ _ => None } }
        }
    };
}

opcodes! {
    PopTop = "POP_TOP";
    PushNull = "PUSH_NULL";
    Copy = "COPY";
    Swap = "SWAP";
    UnaryPositive = "UNARY_POSITIVE";
    UnaryNegative = "UNARY_NEGATIVE";
    UnaryNot = "UNARY_NOT";
    UnaryInvert = "UNARY_INVERT";
    BinaryOp = "BINARY_OP";
    BinarySubscr = "BINARY_SUBSCR";
    StoreSubscr = "STORE_SUBSCR";
    DeleteSubscr = "DELETE_SUBSCR";
    /// 0 `<`, 1 `<=`, 2 `==`, 3 `!=`, 4 `>`, 5 `>=`.
    CompareOp = "COMPARE_OP";
    IsOp = "IS_OP";
    ContainsOp = "CONTAINS_OP";
    GetLen = "GET_LEN";
    MatchMapping = "MATCH_MAPPING";
    MatchSequence = "MATCH_SEQUENCE";
    MatchKeys = "MATCH_KEYS";
    MatchClass = "MATCH_CLASS";
    PushExcInfo = "PUSH_EXC_INFO";
    PopExcept = "POP_EXCEPT";
    CheckExcMatch = "CHECK_EXC_MATCH";
    CheckEgMatch = "CHECK_EG_MATCH";
    PrepReraiseStar = "PREP_RERAISE_STAR";
    Reraise = "RERAISE";
    RaiseVarargs = "RAISE_VARARGS";
    BeforeWith = "BEFORE_WITH";
    WithExceptStart = "WITH_EXCEPT_START";
    GetIter = "GET_ITER";
    ForIter = "FOR_ITER": Jump;
    GetYieldFromIter = "GET_YIELD_FROM_ITER";
    Send = "SEND": Jump;
    YieldValue = "YIELD_VALUE";
    ReturnGenerator = "RETURN_GENERATOR";
    ReturnValue = "RETURN_VALUE";
    LoadConst = "LOAD_CONST": Const;
    LoadFast = "LOAD_FAST": Local;
    StoreFast = "STORE_FAST": Local;
    DeleteFast = "DELETE_FAST": Local;
    MakeCell = "MAKE_CELL": Deref;
    LoadClosure = "LOAD_CLOSURE": Deref;
    LoadDeref = "LOAD_DEREF": Deref;
    StoreDeref = "STORE_DEREF": Deref;
    DeleteDeref = "DELETE_DEREF": Deref;
    LoadClassderef = "LOAD_CLASSDEREF": Deref;
    /// The argument is the index of the name alone; a NULL is pushed by an instruction of its own.
    LoadGlobal = "LOAD_GLOBAL": Name;
    StoreGlobal = "STORE_GLOBAL": Name;
    DeleteGlobal = "DELETE_GLOBAL": Name;
    LoadName = "LOAD_NAME": Name;
    StoreName = "STORE_NAME": Name;
    DeleteName = "DELETE_NAME": Name;
    LoadAttr = "LOAD_ATTR": Name;
    /// Replaces the object by NULL and its attribute.
    LoadMethod = "LOAD_METHOD": Name;
    StoreAttr = "STORE_ATTR": Name;
    DeleteAttr = "DELETE_ATTR": Name;
    LoadAssertionError = "LOAD_ASSERTION_ERROR";
    LoadBuildClass = "LOAD_BUILD_CLASS";
    ImportName = "IMPORT_NAME": Name;
    ImportFrom = "IMPORT_FROM": Name;
    ImportStar = "IMPORT_STAR";
    BuildTuple = "BUILD_TUPLE";
    BuildList = "BUILD_LIST";
    BuildSet = "BUILD_SET";
    BuildMap = "BUILD_MAP";
    BuildConstKeyMap = "BUILD_CONST_KEY_MAP";
    BuildString = "BUILD_STRING";
    BuildSlice = "BUILD_SLICE";
    FormatValue = "FORMAT_VALUE";
    ListAppend = "LIST_APPEND";
    ListExtend = "LIST_EXTEND";
    ListToTuple = "LIST_TO_TUPLE";
    SetAdd = "SET_ADD";
    SetUpdate = "SET_UPDATE";
    MapAdd = "MAP_ADD";
    DictMerge = "DICT_MERGE";
    DictUpdate = "DICT_UPDATE";
    UnpackSequence = "UNPACK_SEQUENCE";
    UnpackEx = "UNPACK_EX";
    Jump = "JUMP": Jump;
    PopJumpIfFalse = "POP_JUMP_IF_FALSE": Jump;
    PopJumpIfTrue = "POP_JUMP_IF_TRUE": Jump;
    PopJumpIfNone = "POP_JUMP_IF_NONE": Jump;
    PopJumpIfNotNone = "POP_JUMP_IF_NOT_NONE": Jump;
    JumpIfFalseOrPop = "JUMP_IF_FALSE_OR_POP": Jump;
    JumpIfTrueOrPop = "JUMP_IF_TRUE_OR_POP": Jump;
    MakeFunction = "MAKE_FUNCTION";
    KwNames = "KW_NAMES": Const;
    Call = "CALL";
    CallFunctionEx = "CALL_FUNCTION_EX";
    GetAwaitable = "GET_AWAITABLE";
    GetAiter = "GET_AITER";
    GetAnext = "GET_ANEXT";
    EndAsyncFor = "END_ASYNC_FOR";
    BeforeAsyncWith = "BEFORE_ASYNC_WITH";
    AsyncGenWrap = "ASYNC_GEN_WRAP";
    PrintExpr = "PRINT_EXPR";
    SetupAnnotations = "SETUP_ANNOTATIONS";
}

/// What the decoder does with an encoded opcode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// Nothing a compiler needs: dropped.
    Skip,
    /// Upper bits of the next argument.
    Extend,
    Plain(Opcode),
    /// The argument counts code units from the end of the instruction.
    Forward(Opcode),
    Backward(Opcode),
    /// `LOAD_GLOBAL` with the flag "push NULL first" in the lowest bit.
    GlobalWithNull,
}

/// The opcode does not exist in that version.
pub const ABSENT: (i16, u8) = (-1, 0);

/// One CPython opcode: its meaning, then number and inline cache entries in each of [`VERSIONS`].
pub struct Row(pub Meaning, pub [(i16, u8); VERSIONS.len()]);

use Meaning::{Backward, Extend, Forward, GlobalWithNull, Plain, Skip};
use Opcode::*;

#[rustfmt::skip]
pub static ROWS: &[Row] = &[
    Row(Skip, [(0, 0)]), // CACHE
    Row(Skip, [(9, 0)]), // NOP
    Row(Skip, [(149, 0)]), // COPY_FREE_VARS
    Row(Skip, [(151, 0)]), // RESUME
    Row(Skip, [(166, 1)]), // PRECALL
    Row(Extend, [(144, 0)]), // EXTENDED_ARG
    Row(Plain(PopTop), [(1, 0)]),
    Row(Plain(PushNull), [(2, 0)]),
    Row(Plain(UnaryPositive), [(10, 0)]),
    Row(Plain(UnaryNegative), [(11, 0)]),
    Row(Plain(UnaryNot), [(12, 0)]),
    Row(Plain(UnaryInvert), [(15, 0)]),
    Row(Plain(BinarySubscr), [(25, 4)]),
    Row(Plain(GetLen), [(30, 0)]),
    Row(Plain(MatchMapping), [(31, 0)]),
    Row(Plain(MatchSequence), [(32, 0)]),
    Row(Plain(MatchKeys), [(33, 0)]),
    Row(Plain(PushExcInfo), [(35, 0)]),
    Row(Plain(CheckExcMatch), [(36, 0)]),
    Row(Plain(CheckEgMatch), [(37, 0)]),
    Row(Plain(WithExceptStart), [(49, 0)]),
    Row(Plain(GetAiter), [(50, 0)]),
    Row(Plain(GetAnext), [(51, 0)]),
    Row(Plain(BeforeAsyncWith), [(52, 0)]),
    Row(Plain(BeforeWith), [(53, 0)]),
    Row(Plain(EndAsyncFor), [(54, 0)]),
    Row(Plain(StoreSubscr), [(60, 1)]),
    Row(Plain(DeleteSubscr), [(61, 0)]),
    Row(Plain(GetIter), [(68, 0)]),
    Row(Plain(GetYieldFromIter), [(69, 0)]),
    Row(Plain(PrintExpr), [(70, 0)]),
    Row(Plain(LoadBuildClass), [(71, 0)]),
    Row(Plain(LoadAssertionError), [(74, 0)]),
    Row(Plain(ReturnGenerator), [(75, 0)]),
    Row(Plain(ListToTuple), [(82, 0)]),
    Row(Plain(ReturnValue), [(83, 0)]),
    Row(Plain(ImportStar), [(84, 0)]),
    Row(Plain(SetupAnnotations), [(85, 0)]),
    Row(Plain(YieldValue), [(86, 0)]),
    Row(Plain(AsyncGenWrap), [(87, 0)]),
    Row(Plain(PrepReraiseStar), [(88, 0)]),
    Row(Plain(PopExcept), [(89, 0)]),
    Row(Plain(StoreName), [(90, 0)]),
    Row(Plain(DeleteName), [(91, 0)]),
    Row(Plain(UnpackSequence), [(92, 1)]),
    Row(Forward(ForIter), [(93, 0)]),
    Row(Plain(UnpackEx), [(94, 0)]),
    Row(Plain(StoreAttr), [(95, 4)]),
    Row(Plain(DeleteAttr), [(96, 0)]),
    Row(Plain(StoreGlobal), [(97, 0)]),
    Row(Plain(DeleteGlobal), [(98, 0)]),
    Row(Plain(Swap), [(99, 0)]),
    Row(Plain(LoadConst), [(100, 0)]),
    Row(Plain(LoadName), [(101, 0)]),
    Row(Plain(BuildTuple), [(102, 0)]),
    Row(Plain(BuildList), [(103, 0)]),
    Row(Plain(BuildSet), [(104, 0)]),
    Row(Plain(BuildMap), [(105, 0)]),
    Row(Plain(LoadAttr), [(106, 4)]),
    Row(Plain(CompareOp), [(107, 2)]),
    Row(Plain(ImportName), [(108, 0)]),
    Row(Plain(ImportFrom), [(109, 0)]),
    Row(Forward(Jump), [(110, 0)]),
    Row(Forward(JumpIfFalseOrPop), [(111, 0)]),
    Row(Forward(JumpIfTrueOrPop), [(112, 0)]),
    Row(Forward(PopJumpIfFalse), [(114, 0)]),
    Row(Forward(PopJumpIfTrue), [(115, 0)]),
    Row(GlobalWithNull, [(116, 5)]),
    Row(Plain(IsOp), [(117, 0)]),
    Row(Plain(ContainsOp), [(118, 0)]),
    Row(Plain(Reraise), [(119, 0)]),
    Row(Plain(Copy), [(120, 0)]),
    Row(Plain(BinaryOp), [(122, 1)]),
    Row(Forward(Send), [(123, 0)]),
    Row(Plain(LoadFast), [(124, 0)]),
    Row(Plain(StoreFast), [(125, 0)]),
    Row(Plain(DeleteFast), [(126, 0)]),
    Row(Forward(PopJumpIfNotNone), [(128, 0)]),
    Row(Forward(PopJumpIfNone), [(129, 0)]),
    Row(Plain(RaiseVarargs), [(130, 0)]),
    Row(Plain(GetAwaitable), [(131, 0)]),
    Row(Plain(MakeFunction), [(132, 0)]),
    Row(Plain(BuildSlice), [(133, 0)]),
    Row(Backward(Jump), [(134, 0)]), // JUMP_BACKWARD_NO_INTERRUPT
    Row(Plain(MakeCell), [(135, 0)]),
    Row(Plain(LoadClosure), [(136, 0)]),
    Row(Plain(LoadDeref), [(137, 0)]),
    Row(Plain(StoreDeref), [(138, 0)]),
    Row(Plain(DeleteDeref), [(139, 0)]),
    Row(Backward(Jump), [(140, 0)]),
    Row(Plain(CallFunctionEx), [(142, 0)]),
    Row(Plain(ListAppend), [(145, 0)]),
    Row(Plain(SetAdd), [(146, 0)]),
    Row(Plain(MapAdd), [(147, 0)]),
    Row(Plain(LoadClassderef), [(148, 0)]),
    Row(Plain(MatchClass), [(152, 0)]),
    Row(Plain(FormatValue), [(155, 0)]),
    Row(Plain(BuildConstKeyMap), [(156, 0)]),
    Row(Plain(BuildString), [(157, 0)]),
    Row(Plain(LoadMethod), [(160, 10)]),
    Row(Plain(ListExtend), [(162, 0)]),
    Row(Plain(SetUpdate), [(163, 0)]),
    Row(Plain(DictMerge), [(164, 0)]),
    Row(Plain(DictUpdate), [(165, 0)]),
    Row(Plain(Call), [(171, 4)]),
    Row(Plain(KwNames), [(172, 0)]),
    Row(Backward(PopJumpIfNotNone), [(173, 0)]),
    Row(Backward(PopJumpIfNone), [(174, 0)]),
    Row(Backward(PopJumpIfFalse), [(175, 0)]),
    Row(Backward(PopJumpIfTrue), [(176, 0)]),
];

/// Meaning and inline caches by opcode number of one version.
pub type Decoder = [Option<(Meaning, u8)>; 256];

/// The decoding table of a Python version, if it is known.
pub fn decoder(version: (u8, u8)) -> Option<&'static Decoder> {
    static TABLES: std::sync::LazyLock<Vec<Decoder>> =
        std::sync::LazyLock::new(|| (0..VERSIONS.len()).map(table).collect());
    VERSIONS.iter().position(|v| *v == version).map(|i| &TABLES[i])
}

fn table(column: usize) -> Decoder {
    let mut out = [None; 256];
    for Row(meaning, columns) in ROWS {
        let (number, caches) = columns[column];
        if let Ok(n) = u8::try_from(number) {
            out[n as usize] = Some((*meaning, caches));
        }
    }
    out
}
