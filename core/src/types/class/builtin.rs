//! Classes of Python and NumPy that compiled code has values of, with their bases. What they have is not
//! listed here: rows of the operation table say it by their paths (`list.append`).

use super::ClassId;

/// A class of the table.
pub struct Row {
    pub name: &'static str,
    /// The Python path of the class object, where the operation table has it.
    pub object: Option<&'static str>,
    pub bases: &'static [ClassId],
    /// What stands before the names of its methods and attributes in paths of the operation table; several
    /// where classes share methods that their common base in Python does not have.
    pub paths: &'static [&'static str],
    /// What values of it consist of, if these are values that never change: whole numbers, which nobody but the
    /// compiler's library asks for by these names.
    pub fields: &'static [&'static str],
}

macro_rules! builtin_classes {
    ($($(#[doc = $doc:literal])* $NAME:ident = $name:literal $(at $object:literal)?, [$($base:ident),*], [$($path:literal),*] $(of $fields:tt)?;)*) => {
        #[allow(non_camel_case_types, clippy::upper_case_acronyms, reason = "numbers of the constants below")]
        #[repr(u32)]
        enum Number { $($NAME),* }
        impl ClassId {
            $($(#[doc = $doc])* pub const $NAME: ClassId = ClassId(Number::$NAME as u32);)*
        }
        /// Every class of the table, by number; bases come before what is derived from them.
        pub static BUILTIN: &[Row] = &[
            $(Row {
                name: $name,
                object: { let at: &[&'static str] = &[$($object)?]; if at.is_empty() { None } else { Some(at[0]) } },
                bases: &[$(ClassId::$base),*],
                paths: &[$($path),*],
                fields: { let all: &[&[&'static str]] = &[$(&$fields)?]; if all.is_empty() { &[] } else { all[0] } },
            }),*
        ];
    };
}

/// The classes `before` those of containers, these, and those `after` them.
macro_rules! with_containers {
    ({ before { $($before:tt)* } after { $($after:tt)* } } objects $objects:tt $($family:ident of $object:ident { $(
        $(#[doc = $doc:literal])*
        $Name:ident = ($class:ident = $text:literal $(at $path:literal)? $(is $base:ident)?, $($rest:tt)*);
    )* })*) => {
        builtin_classes! {
            $($before)*
            $($($class = $text $(at $path)?, [$($base,)? OBJECT], [$text];)*)*
            $($after)*
        }
    };
}

crate::containers!(with_containers! {
    before {
        OBJECT = "object" at "builtins.object", [], [];
        TYPE = "type" at "builtins.type", [OBJECT], [];
        NONE_TYPE = "NoneType" at "types.NoneType", [OBJECT], [];
        ELLIPSIS = "ellipsis", [OBJECT], [];
        INT = "int" at "builtins.int", [OBJECT], ["int", "number"];
        /// NumPy's bools are bools of Python's to compiled code: it does not tell them apart.
        BOOL = "bool" at "builtins.bool", [INT], ["bool", "generic"];
        FLOAT = "float" at "builtins.float", [OBJECT], ["float", "number"];
        COMPLEX = "complex" at "builtins.complex", [OBJECT], ["complex", "number"];
        STR = "str" at "builtins.str", [OBJECT], ["str"];
        BYTES = "bytes" at "builtins.bytes", [OBJECT], ["bytes"];
        LIST = "list" at "builtins.list", [OBJECT], ["list"];
        TYPED_LIST = "List" at "tierup.typed.List", [LIST], ["typed_list"];
    }
    after {
        /// What every class of named tuples has; Python puts it into each of them.
        NAMED_TUPLE = "namedtuple", [TUPLE], ["namedtuple"];
        /// What a function takes as `**kwargs`.
        KEYWORDS = "dict", [DICT], ["kwargs"];
        TYPED_DICT = "Dict" at "tierup.typed.Dict", [DICT], ["typed_dict"];
        TYPED_SET = "Set" at "tierup.typed.Set", [SET], ["typed_set"];
        RANGE = "range" at "builtins.range", [OBJECT], ["range"];
        SLICE = "slice" at "builtins.slice", [OBJECT], ["slice"];
        ITERATOR = "iterator", [OBJECT], [];
        GENERATOR = "generator", [ITERATOR], ["generator"];
        CHAIN = "itertools.chain" at "itertools.chain", [ITERATOR], ["chain"];
        FUNCTION = "function", [OBJECT], [];
        METHOD = "method", [OBJECT], [];
        BUILTIN_FUNCTION = "builtin_function_or_method", [OBJECT], [];
        MODULE = "module", [OBJECT], [];
        /// The class of an exception as a value: which one it is, is known at run time.
        EXCEPTION_CLASS = "type", [TYPE], ["exception.__class__"];
        NDARRAY = "numpy.ndarray" at "numpy.ndarray", [OBJECT], ["array"];
        SIMD = "Vec" at "tierup.simd.Vec", [OBJECT], ["simd"];
        FLAGS = "flagsobj", [OBJECT], ["array.flags"];
        CTYPES = "_ctypes", [OBJECT], ["array.ctypes"];
        FLAT_ITERATOR = "flatiter", [ITERATOR], ["flat"];
        DTYPE = "dtype" at "numpy.dtype", [OBJECT], ["dtype"];
        FINFO = "finfo" at "numpy.finfo", [OBJECT], ["numpy.finfo"];
        IINFO = "iinfo" at "numpy.iinfo", [OBJECT], ["numpy.iinfo"];
        UFUNC = "ufunc", [OBJECT], ["ufunc"];
        RANDOM = "Generator", [OBJECT], ["numpy.random.Generator"];
        /// NumPy's scalars: what is computed of arrays without dimensions.
        GENERIC = "numpy.generic" at "numpy.generic", [OBJECT], ["number", "generic"];
        /// `np.bool_` as a class; its values are bools.
        NUMPY_BOOL = "numpy.bool", [GENERIC], ["bool"];
        NUMBER = "numpy.number" at "numpy.number", [GENERIC], [];
        INTEGER = "numpy.integer" at "numpy.integer", [NUMBER], ["int"];
        SIGNED_INTEGER = "numpy.signedinteger" at "numpy.signedinteger", [INTEGER], [];
        UNSIGNED_INTEGER = "numpy.unsignedinteger" at "numpy.unsignedinteger", [INTEGER], [];
        INEXACT = "numpy.inexact" at "numpy.inexact", [NUMBER], [];
        FLOATING = "numpy.floating" at "numpy.floating", [INEXACT], ["float"];
        COMPLEX_FLOATING = "numpy.complexfloating" at "numpy.complexfloating", [INEXACT], ["complex"];
        INT8 = "numpy.int8", [SIGNED_INTEGER], [];
        INT16 = "numpy.int16", [SIGNED_INTEGER], [];
        INT32 = "numpy.int32", [SIGNED_INTEGER], [];
        INT64 = "numpy.int64", [SIGNED_INTEGER], [];
        UINT8 = "numpy.uint8", [UNSIGNED_INTEGER], [];
        UINT16 = "numpy.uint16", [UNSIGNED_INTEGER], [];
        UINT32 = "numpy.uint32", [UNSIGNED_INTEGER], [];
        UINT64 = "numpy.uint64", [UNSIGNED_INTEGER], [];
        FLOAT16 = "numpy.float16", [FLOATING], [];
        FLOAT32 = "numpy.float32", [FLOATING], [];
        FLOAT64 = "numpy.float64", [FLOATING, FLOAT], [];
        DATETIME64 = "numpy.datetime64" at "numpy.datetime64", [GENERIC], ["time"];
        TIMEDELTA64 = "numpy.timedelta64" at "numpy.timedelta64", [SIGNED_INTEGER], ["time"];
        /// Days from the start of 1970 on.
        DATE = "datetime.date" at "datetime.date", [OBJECT], ["datetime.date"] of ["days since 1970"];
        /// Microseconds from the start of 1970 on, as clocks on the wall show them.
        DATETIME = "datetime.datetime" at "datetime.datetime", [DATE], ["datetime.datetime"] of ["microseconds since 1970"];
        CLOCK_TIME = "datetime.time" at "datetime.time", [OBJECT], ["datetime.time"] of ["microseconds of the day"];
        TIMEDELTA = "datetime.timedelta" at "datetime.timedelta", [OBJECT], ["datetime.timedelta"] of ["whole days", "microseconds of the day"];
        TIMEZONE = "datetime.timezone" at "datetime.timezone", [OBJECT], ["datetime.timezone"];
        COMPLEX64 = "numpy.complex64", [COMPLEX_FLOATING], [];
        COMPLEX128 = "numpy.complex128", [COMPLEX_FLOATING, COMPLEX], [];
    }
});
