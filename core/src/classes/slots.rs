//! Special methods: which operation asks for which, and what is made of the answer.
//!
//! One table says it for operators, built-in functions, loops, `in` and `with`. A class of the user's that has
//! such a method answers by itself; for the classes below, the operation itself is the method.

use crate::ops::{OpId, id};
use crate::types::class::ClassId;
use std::collections::HashMap;
use std::sync::LazyLock;

/// What is done with the answer of a special method: it is the operation's, or a function of
/// `tierup.lib.special` asks and makes one of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    Direct,
    Library(&'static str),
}

/// A row of the table.
struct Row {
    slot: Slot,
    name: &'static str,
    /// What the right operand has in its place.
    reflected: Option<Slot>,
    /// The operations that ask for it; the first one is the method of built-in classes.
    asked: &'static [(OpId, How)],
    /// The built-in classes that have it as an attribute, with what is derived from them.
    of: &'static [ClassId],
}

macro_rules! slots {
    ($($Slot:ident $(/ $Reflected:ident)? = $name:literal: [$($op:ident $($lib:literal)?),*] $(of $of:ident)?;)*) => {
        /// A special method.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub(crate) enum Slot { $($Slot),* }
        /// In the order in which an operation asks that has several.
        static SLOTS: &[Row] = &[$(Row {
            slot: Slot::$Slot,
            name: $name,
            reflected: { let all: &[Slot] = &[$(Slot::$Reflected)?]; if all.is_empty() { None } else { Some(all[0]) } },
            asked: &[$((id::$op, { let all: &[&'static str] = &[$($lib)?]; if all.is_empty() { How::Direct } else { How::Library(all[0]) } })),*],
            of: { let all: &[&'static [ClassId]] = &[$($of)?]; if all.is_empty() { &[] } else { all[0] } },
        }),*];
    };
}

const NUMBERS: &[ClassId] = &[ClassId::INT, ClassId::FLOAT, ClassId::COMPLEX, ClassId::NUMBER];
const REALS: &[ClassId] = &[ClassId::INT, ClassId::FLOAT];
const WHOLE: &[ClassId] = &[ClassId::INT, ClassId::INTEGER];
const SIZED: &[ClassId] = &[ClassId::STR, ClassId::LIST, ClassId::TUPLE, ClassId::RANGE, ClassId::NDARRAY];
const HASHED: &[ClassId] =
    &[ClassId::INT, ClassId::FLOAT, ClassId::COMPLEX, ClassId::GENERIC, ClassId::STR, ClassId::TUPLE];
const SHOWN: &[ClassId] = &[
    ClassId::INT,
    ClassId::FLOAT,
    ClassId::COMPLEX,
    ClassId::GENERIC,
    ClassId::STR,
    ClassId::LIST,
    ClassId::TUPLE,
];
const REVERSED: &[ClassId] = &[ClassId::LIST, ClassId::RANGE];
const ASSIGNED: &[ClassId] = &[ClassId::LIST, ClassId::NDARRAY];
const ADVANCED: &[ClassId] = &[ClassId::GENERATOR];
const LISTS: &[ClassId] = &[ClassId::LIST];

slots! {
    Neg = "__neg__": [NEG] of NUMBERS;
    Pos = "__pos__": [POS] of NUMBERS;
    Invert = "__invert__": [INVERT, INV] of WHOLE;
    Abs = "__abs__": [BUILTINS_ABS, ABS] of NUMBERS;
    Bool = "__bool__": [BUILTINS_BOOL "special.truth", TRUTH "special.truth", NOT "special.falsehood"] of NUMBERS;
    Len = "__len__": [
        BUILTINS_LEN "special.length", BUILTINS_BOOL "special.has_length", TRUTH "special.has_length",
        NOT "special.has_no_length"
    ] of SIZED;
    Hash = "__hash__": [BUILTINS_HASH "special.hashed"] of HASHED;
    Complex = "__complex__": [BUILTINS_COMPLEX "special.complex_number"];
    Int = "__int__": [BUILTINS_INT "special.integer"] of REALS;
    Float = "__float__": [BUILTINS_FLOAT "special.floating", BUILTINS_COMPLEX "special.complex_of_float"] of REALS;
    Index = "__index__": [
        INDEX "special.index", BUILTINS_INT "special.index", BUILTINS_FLOAT "special.floating_index",
        BUILTINS_COMPLEX "special.complex_of_index"
    ] of WHOLE;
    Trunc = "__trunc__": [MATH_TRUNC, BUILTINS_INT] of REALS;
    Floor = "__floor__": [MATH_FLOOR] of REALS;
    Ceil = "__ceil__": [MATH_CEIL] of REALS;
    Round = "__round__": [BUILTINS_ROUND] of REALS;
    Format = "__format__": [];
    Str = "__str__": [BUILTINS_STR "special.text"] of SHOWN;
    Repr = "__repr__": [BUILTINS_REPR "special.representation", BUILTINS_STR "special.representation"] of SHOWN;
    Iter = "__iter__": [ITER_OBJECT, BUILTINS_ITER, ITERATOR] of SIZED;
    Next = "__next__": [BUILTINS_NEXT] of ADVANCED;
    Reversed = "__reversed__": [BUILTINS_REVERSED] of REVERSED;
    GetItem = "__getitem__": [GETITEM] of SIZED;
    SetItem = "__setitem__": [SETITEM] of ASSIGNED;
    DelItem = "__delitem__": [DELITEM] of LISTS;
    Contains = "__contains__": [CONTAINS "special.contains"] of SIZED;
    Call = "__call__": [];
    Add / RAdd = "__add__": [ADD];
    RAdd = "__radd__": [];
    Sub / RSub = "__sub__": [SUB];
    RSub = "__rsub__": [];
    Mul / RMul = "__mul__": [MUL];
    RMul = "__rmul__": [];
    TrueDiv / RTrueDiv = "__truediv__": [TRUEDIV];
    RTrueDiv = "__rtruediv__": [];
    FloorDiv / RFloorDiv = "__floordiv__": [FLOORDIV];
    RFloorDiv = "__rfloordiv__": [];
    Mod / RMod = "__mod__": [MOD];
    RMod = "__rmod__": [];
    DivMod / RDivMod = "__divmod__": [BUILTINS_DIVMOD];
    RDivMod = "__rdivmod__": [];
    Pow / RPow = "__pow__": [POW, BUILTINS_POW];
    RPow = "__rpow__": [];
    MatMul / RMatMul = "__matmul__": [MATMUL];
    RMatMul = "__rmatmul__": [];
    And / RAnd = "__and__": [AND];
    RAnd = "__rand__": [];
    Or / ROr = "__or__": [OR];
    ROr = "__ror__": [];
    Xor / RXor = "__xor__": [XOR];
    RXor = "__rxor__": [];
    LShift / RLShift = "__lshift__": [LSHIFT];
    RLShift = "__rlshift__": [];
    RShift / RRShift = "__rshift__": [RSHIFT];
    RRShift = "__rrshift__": [];
    Eq / Eq = "__eq__": [EQ];
    Ne / Ne = "__ne__": [NE];
    Lt / Gt = "__lt__": [LT];
    Le / Ge = "__le__": [LE];
    Gt / Lt = "__gt__": [GT];
    Ge / Le = "__ge__": [GE];
    IAdd = "__iadd__": [IADD];
    ISub = "__isub__": [ISUB];
    IMul = "__imul__": [IMUL];
    ITrueDiv = "__itruediv__": [ITRUEDIV];
    IFloorDiv = "__ifloordiv__": [IFLOORDIV];
    IMod = "__imod__": [IMOD];
    IPow = "__ipow__": [IPOW];
    IMatMul = "__imatmul__": [IMATMUL];
    IAnd = "__iand__": [IAND];
    IOr = "__ior__": [IOR];
    IXor = "__ixor__": [IXOR];
    ILShift = "__ilshift__": [ILSHIFT];
    IRShift = "__irshift__": [IRSHIFT];
    Enter = "__enter__": [];
    Exit = "__exit__": [];
    // How instances are made and attributes computed.
    New = "__new__": [];
    Init = "__init__": [];
    GetAttr = "__getattr__": [];
    // What NumPy asks of an operand.
    Array = "__array__": [];
    ArrayUfunc = "__array_ufunc__": [];
    ArrayFunction = "__array_function__": [];
    ArrayInterface = "__array_interface__": [];
    ArrayStruct = "__array_struct__": [];
    ArrayPriority = "__array_priority__": [];
}

/// What an operation asks for.
#[derive(Default)]
struct Asked {
    of_first: Vec<(Slot, How)>,
    of_two: Option<(Slot, Slot)>,
}

static ASKED: LazyLock<HashMap<OpId, Asked>> = LazyLock::new(|| {
    let mut all: HashMap<OpId, Asked> = HashMap::new();
    for row in SLOTS {
        for (op, how) in row.asked {
            let asked = all.entry(*op).or_default();
            match row.reflected {
                Some(reflected) => asked.of_two = Some((row.slot, reflected)),
                None => asked.of_first.push((row.slot, *how)),
            }
        }
    }
    all
});

/// Methods of the first operand, the first of which is asked that its class has.
pub(crate) fn of_first(op: OpId) -> &'static [(Slot, How)] {
    ASKED.get(&op).map_or(&[], |a| &a.of_first)
}

/// The method of the left operand of an operator and that of the right one.
pub(crate) fn of_two(op: OpId) -> Option<(Slot, Slot)> {
    ASKED.get(&op)?.of_two
}

/// Special methods of built-in classes, with the operation that is each.
pub(super) fn of_builtin() -> impl Iterator<Item = (ClassId, &'static str, OpId)> {
    let rows = SLOTS.iter().filter_map(|row| Some((row, row.asked.first()?.0)));
    rows.flat_map(|(row, op)| row.of.iter().map(move |class| (*class, row.name, op)))
}

impl Slot {
    fn row(self) -> &'static Row {
        &SLOTS[self as usize]
    }
    pub(crate) fn name(self) -> &'static str {
        self.row().name
    }
    /// Whether it compares: each of two operands may answer for the other.
    pub(crate) fn compares(self) -> bool {
        self.row().reflected.is_some_and(|r| r.row().reflected.is_some())
    }
}
