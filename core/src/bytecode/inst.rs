//! The neutral instruction set: what the bytecode of every Python becomes, named by what it does.
//!
//! An instruction here does one thing that a Python programmer could name. Superinstructions have become the
//! instructions they stand for; flags that select one of two effects have become two instructions; caches,
//! prefixes and what only serves the interpreter are gone. No version of Python is known here: a decoder of
//! [`super::decode`] translates each, and nobody else sees its opcodes.
//!
//! Below, the stack is written with the top on the right.

use crate::types::Const;
use std::sync::LazyLock;

/// What the argument of an instruction indexes.
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
    /// [`super::Code::varnames`], then cells that are not among them, then captured variables.
    Local,
    /// The same, for a variable that inner functions share ([`super::Code::variable`]).
    Deref,
}

macro_rules! opcodes {
    (@arg) => { Arg::Plain };
    (@arg $arg:ident) => { Arg::$arg };
    ($($(#[doc = $doc:literal])* $Name:ident = $text:literal $(: $arg:ident)?;)+) => {
        /// What an instruction does.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Opcode { $($(#[doc = $doc])* $Name),+ }
        impl Opcode {
            pub fn name(self) -> &'static str { match self { $(Opcode::$Name => $text),+ } }
            /// What the argument indexes.
            pub fn arg(self) -> Arg { match self { $(Opcode::$Name => opcodes!(@arg $($arg)?)),+ } }
            pub(crate) fn from_name(name: &str) -> Option<Opcode> { match name { $($text => Some(Opcode::$Name),)+ _ => None } }
        }
    };
}

opcodes! {
    Pop = "pop";
    /// The mark that a callable has no object before its operands; it may lie on either side of the callable.
    PushNull = "push_null";
    /// The n-th value from the top, which is number 1.
    Copy = "copy";
    /// The top and the n-th value change places.
    Swap = "swap";

    LoadConst = "load_const": Const;
    /// The argument itself.
    LoadInt = "load_int";
    /// The n-th of [`LITERALS`].
    LoadLiteral = "load_literal";
    /// A class or function that needs no look-up: see [`common`].
    LoadCommon = "load_common";
    LoadLocal = "load_local": Local;
    StoreLocal = "store_local": Local;
    DeleteLocal = "delete_local": Local;
    /// Pushes the variable, bound or not, and unbinds it: a comprehension starts that has a variable of that
    /// name. The `store_local` that takes it from the stack puts it back as it was.
    SaveLocal = "save_local": Local;
    /// The variable becomes a cell; it holds what the variable held if that is a parameter.
    MakeCell = "make_cell": Deref;
    /// The cell itself, for an inner function.
    Capture = "capture": Deref;
    LoadCell = "load_cell": Deref;
    StoreCell = "store_cell": Deref;
    DeleteCell = "delete_cell": Deref;
    LoadGlobal = "load_global": Name;
    StoreGlobal = "store_global": Name;
    DeleteGlobal = "delete_global": Name;
    /// Variables of a module or of a class body.
    LoadName = "load_name": Name;
    StoreName = "store_name": Name;
    DeleteName = "delete_name": Name;
    /// The variables of a class body as a mapping.
    LoadNames = "load_names";
    /// `names → value`: from the mapping, else a global variable.
    LoadNameOrGlobal = "load_name_or_global": Name;
    /// `names → value`: from the mapping, else the captured variable.
    LoadNameOrCell = "load_name_or_cell": Deref;

    LoadAttr = "load_attr": Name;
    StoreAttr = "store_attr": Name;
    DeleteAttr = "delete_attr": Name;
    /// `super, class, object → attribute` of what follows the class.
    LoadSuperAttr = "load_super_attr": Name;
    /// The method that a statement calls: see [`special`].
    LoadSpecial = "load_special";

    Positive = "positive";
    Negative = "negative";
    Invert = "invert";
    Not = "not";
    /// The value's truth, a bool.
    Truth = "truth";
    /// The argument is an index into [`BINARY`].
    Binary = "binary";
    /// 0 `<`, 1 `<=`, 2 `==`, 3 `!=`, 4 `>`, 5 `>=`.
    Compare = "compare";
    /// 0 `is`, 1 `is not`.
    Is = "is";
    /// 0 `in`, 1 `not in`.
    Contains = "contains";
    Subscript = "subscript";
    StoreSubscript = "store_subscript";
    DeleteSubscript = "delete_subscript";

    BuildTuple = "build_tuple";
    BuildList = "build_list";
    BuildSet = "build_set";
    /// As many pairs of key and value.
    BuildMap = "build_map";
    /// As many values, then the tuple of their keys, a constant.
    BuildKeyedMap = "build_keyed_map";
    BuildString = "build_string";
    BuildSlice = "build_slice";
    /// Conversion in the lowest two bits (1 `str`, 2 `repr`, 3 `ascii`); 4: the format lies on top.
    Format = "format";
    /// A template string, or an interpolation in one.
    BuildTemplate = "build_template";
    /// These take the top and change the container that then lies n deep.
    ListAppend = "list_append";
    ListExtend = "list_extend";
    SetAdd = "set_add";
    SetUpdate = "set_update";
    MapAdd = "map_add";
    MapUpdate = "map_update";
    /// Keywords of a call: those that are there already are refused.
    MapMerge = "map_merge";
    ListToTuple = "list_to_tuple";
    Unpack = "unpack";
    /// Before the rest in the low byte, after it above.
    UnpackRest = "unpack_rest";

    Jump = "jump": Jump;
    BranchFalse = "branch_false": Jump;
    BranchTrue = "branch_true": Jump;
    BranchNone = "branch_none": Jump;
    BranchNotNone = "branch_not_none": Jump;
    GetIter = "get_iter";
    /// Pushes the next value; without one, drops the iterator and jumps.
    ForIter = "for_iter": Jump;
    GetYieldIter = "get_yield_iter";
    /// `iterator, value → iterator, yielded`; at the iterator's end `result`, and a jump.
    Send = "send": Jump;
    Yield = "yield";
    MakeGenerator = "make_generator";
    Return = "return";

    /// Flags: 1 defaults, 2 keyword-only defaults, 4 annotations, 16 a function that makes them, 8 captured
    /// variables; what they name lies below the code, in this order.
    MakeFunction = "make_function";
    /// `callable, object or NULL, operands`; or `NULL, callable, operands`.
    Call = "call";
    /// The same with the names of the last operands, a constant tuple, on top.
    CallNamed = "call_named";
    /// One tuple of operands; 1: then a mapping of keywords.
    CallSpread = "call_spread";

    /// 0 again, 1 `raise e`, 2 `raise e from c`.
    Raise = "raise";
    Reraise = "reraise";
    /// `exception → what was handled before, exception`: it is being handled now.
    PushHandled = "push_handled";
    PopHandled = "pop_handled";
    MatchException = "match_exception";
    MatchGroup = "match_group";
    JoinGroup = "join_group";
    /// Calls the `__exit__` that lies n deep with the exception on top, and pushes what it gives.
    CallExit = "call_exit";

    Length = "length";
    MatchMapping = "match_mapping";
    MatchSequence = "match_sequence";
    MatchKeys = "match_keys";
    MatchClass = "match_class";

    ImportName = "import_name": Name;
    ImportFrom = "import_from": Name;
    ImportStar = "import_star";

    LoadBuildClass = "load_build_class";
    SetupAnnotations = "setup_annotations";
    PrintResult = "print_result";
    /// Type parameters and type aliases: the argument only tells them apart.
    TypeParameter = "type_parameter";

    GetAwaitable = "get_awaitable";
    GetAsyncIter = "get_async_iter";
    GetAsyncNext = "get_async_next";
    EndAsyncFor = "end_async_for";
    WrapAsyncValue = "wrap_async_value";
    /// Start handlers of the interpreter's own, which [`super::decode`] takes out of the exception table.
    EndDelegation = "end_delegation";
    EndGenerator = "end_generator";
}

/// Operators by the argument of [`Opcode::Binary`], then the same in place.
pub(crate) const BINARY: [&str; 26] = [
    "+", "&", "//", "<<", "@", "*", "%", "|", "**", ">>", "-", "/", "^", "+=", "&=", "//=", "<<=", "@=",
    "*=", "%=", "|=", "**=", ">>=", "-=", "/=", "^=",
];

/// Constants that are in no table of the function, by the argument of [`Opcode::LoadLiteral`].
pub(crate) static LITERALS: LazyLock<[Const; 5]> = LazyLock::new(|| {
    [Const::None, Const::Str("".into()), Const::Bool(true), Const::Bool(false), Const::Int(-1)]
});

/// What [`Opcode::LoadCommon`] pushes, by argument.
pub(crate) mod common {
    pub(crate) const NAMES: [&str; 7] =
        ["AssertionError", "NotImplementedError", "tuple", "all", "any", "list", "set"];
    pub(crate) const ASSERTION_ERROR: u32 = 0;
}

/// Which method [`Opcode::LoadSpecial`] pushes, by argument.
pub(crate) mod special {
    pub(crate) const NAMES: [&str; 4] = ["__enter__", "__exit__", "__aenter__", "__aexit__"];
    pub(crate) const ENTER: u32 = 0;
    pub(crate) const EXIT: u32 = 1;
    pub(crate) const ASYNC_ENTER: u32 = 2;
    pub(crate) const ASYNC_EXIT: u32 = 3;
}

/// Flags of [`Opcode::MakeFunction`].
pub(crate) mod function {
    pub(crate) const DEFAULTS: u32 = 1;
    pub(crate) const KWDEFAULTS: u32 = 2;
    pub(crate) const ANNOTATIONS: u32 = 4;
    pub(crate) const CAPTURED: u32 = 8;
    pub(crate) const ANNOTATE: u32 = 16;
}

impl Opcode {
    /// The argument is the index of an instruction.
    pub fn jumps(self) -> bool {
        self.arg() == Arg::Jump
    }
    /// Control never goes on to the next instruction.
    pub fn ends(self) -> bool {
        matches!(self, Opcode::Jump | Opcode::Return | Opcode::Raise | Opcode::Reraise)
    }
}
