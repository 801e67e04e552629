//! Containers whose entries are found by hash, views of them, deques and bytearrays: what makes one different from the
//! other wherever types are walked over. A value of one is a reference to an object that begins as
//! [`crate::layout::Counted`] does. Its operations are rows (`core/src/ops/dict.rs`).
//!
//! A new container is a family here; what lists containers elsewhere is made of this table.

use super::class::ClassId;
use super::{IterType, Kind, Type};
use std::ffi::CStr;

/// The table. It begins with the kinds of objects: the name by which their helpers are found (`core/src/ops/`,
/// `runtime/src/`), and their struct ([`crate::layout`]). A family of containers has a name, by which its
/// operations (`core/src/ops/`) and its conversions (`pybind/src/convert/`) are found, the kind of its objects,
/// and members: the container itself and views of it. Of each it says the class, what that and its types are
/// called, which is also what paths of its methods begin with, where Python has the class, and which class of
/// the table it is derived from; how many types stand in one of its types; Python's expression for an empty one;
/// and what stands around the entries in its text.
///
/// The table is passed to the macro `$then`, behind what that is given of its own.
#[macro_export]
macro_rules! containers {
    ($then:ident! { $($own:tt)* }) => {
        $then! {
            { $($own)* }
            objects { dict: Dict, deque: Deque, bytearray: List, var_tuple: List }
            dict of dict {
                /// Of keys and values.
                Dict = (DICT = "dict" at "builtins.dict", 2, c"{}", ["{", "}"]);
                /// Views: the same object, seen as its keys, its values, its pairs.
                Keys = (DICT_KEYS = "dict_keys", 2, c"{}.keys()", ["dict_keys([", "])"]);
                Values = (DICT_VALUES = "dict_values", 2, c"{}.values()", ["dict_values([", "])"]);
                Items = (DICT_ITEMS = "dict_items", 2, c"{}.items()", ["dict_items([", "])"]);
            }
            mapping of dict {
                /// A dict with what its third argument, a class or a function, gives for keys that are missing.
                DefaultDict = (DEFAULT_DICT = "defaultdict" at "collections.defaultdict" is DICT, 3, c"__import__('collections').defaultdict()", ["defaultdict(", "})"]);
                Counter = (COUNTER = "Counter" at "collections.Counter" is DICT, 2, c"__import__('collections').Counter()", ["Counter({", "})"]);
                OrderedDict = (ORDERED_DICT = "OrderedDict" at "collections.OrderedDict" is DICT, 2, c"__import__('collections').OrderedDict()", ["OrderedDict({", "})"]);
            }
            set of dict {
                /// Of keys alone: the object is a dict whose values are empty tuples.
                Set = (SET = "set" at "builtins.set", 1, c"set()", ["{", "}"]);
                /// One that nobody changes.
                FrozenSet = (FROZENSET = "frozenset" at "builtins.frozenset", 1, c"frozenset()", ["frozenset({", "})"]);
            }
            deque of deque {
                /// Of elements, which are added and taken at both ends. Its text ends with its greatest length,
                /// where it has one.
                Deque = (DEQUE = "deque" at "collections.deque", 1, c"__import__('collections').deque()", ["deque([", "])"]);
            }
            bytearray of bytearray {
                /// Of bytes: the object is a list of them.
                ByteArray = (BYTEARRAY = "bytearray" at "builtins.bytearray", 0, c"bytearray()", ["bytearray(", ")"]);
            }
            var_tuple of var_tuple {
                /// A tuple whose length only the run knows, of members of one type: the object is a list of them
                /// that nobody changes.
                Tuple = (TUPLE = "tuple" at "builtins.tuple", 1, c"()", ["(", ")"]);
            }
        }
    };
}

macro_rules! define {
    ({} objects $objects:tt $($family:ident of $object:ident { $(
        $(#[doc = $doc:literal])*
        $Name:ident = (
            $class:ident = $text:literal $(at $path:literal)? $(is $base:ident)?, $arguments:literal, $empty:literal, $around:expr
        );
    )* })*) => {
        /// Which container, or view.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Container { $($($(#[doc = $doc])* $Name,)*)* }
        impl Container {
            pub const ALL: &'static [Container] = &[$($(Container::$Name,)*)*];
            /// What its types are called.
            pub(crate) fn name(self) -> &'static str { match self { $($(Container::$Name => $text,)*)* } }
            pub(crate) fn class(self) -> ClassId { match self { $($(Container::$Name => ClassId::$class,)*)* } }
            /// How many types stand in one of its types.
            pub(crate) fn arguments(self) -> usize { match self { $($(Container::$Name => $arguments,)*)* } }
            /// Python's expression for an empty one.
            pub fn empty(self) -> &'static CStr { match self { $($(Container::$Name => $empty,)*)* } }
            /// What stands around the entries in its text.
            pub(crate) fn around(self) -> [&'static str; 2] { match self { $($(Container::$Name => $around,)*)* } }
        }
    };
}
containers!(define! {});

impl Type {
    pub fn dict(key: Type, value: Type) -> Type {
        Type::new(Kind::Container(Container::Dict, vec![key, value]))
    }
    /// A tuple of any length whose members are of this type.
    pub fn tuple_of(member: Type) -> Type {
        Type::new(Kind::Container(Container::Tuple, vec![member]))
    }
    /// Whether values are tuples of any length.
    pub(crate) fn is_tuple_of_any_length(self) -> bool {
        matches!(self.kind(), Kind::Container(Container::Tuple, _))
    }
    pub fn bytearray() -> Type {
        Type::new(Kind::Container(Container::ByteArray, vec![]))
    }
}

impl Container {
    /// What going through one gives, made of its arguments.
    pub(crate) fn gives(self, arguments: &[Type]) -> Type {
        match self {
            Container::Dict
            | Container::DefaultDict
            | Container::Counter
            | Container::OrderedDict
            | Container::Keys
            | Container::Set
            | Container::FrozenSet
            | Container::Deque
            | Container::Tuple => arguments[0],
            Container::ByteArray => Type::int(),
            Container::Values => arguments[1],
            Container::Items if arguments.iter().any(|t| *t == Type::never()) => Type::never(),
            Container::Items => Type::tuple(arguments[..2].to_vec()),
        }
    }
    /// What its text shows: the pairs of a dict, of others what going through them gives.
    pub(crate) fn shown(self) -> Container {
        match self {
            Container::Dict | Container::DefaultDict | Container::Counter | Container::OrderedDict => {
                Container::Items
            }
            Container::Keys
            | Container::Values
            | Container::Items
            | Container::Set
            | Container::FrozenSet
            | Container::Deque
            | Container::ByteArray
            | Container::Tuple => self,
        }
    }
    /// Whether it is a view of another one.
    pub(crate) fn is_view(self) -> bool {
        match self {
            Container::Dict
            | Container::DefaultDict
            | Container::Counter
            | Container::OrderedDict
            | Container::Set
            | Container::FrozenSet
            | Container::Deque
            | Container::ByteArray
            | Container::Tuple => false,
            Container::Keys | Container::Values | Container::Items => true,
        }
    }
    /// Whether it is a dict, of whatever class.
    pub fn is_mapping(self) -> bool {
        match self {
            Container::Dict | Container::DefaultDict | Container::Counter | Container::OrderedDict => true,
            Container::Keys
            | Container::Values
            | Container::Items
            | Container::Set
            | Container::FrozenSet
            | Container::Deque
            | Container::ByteArray
            | Container::Tuple => false,
        }
    }
    /// Whether it answers for keys that it does not have.
    pub(crate) fn has_defaults(self) -> bool {
        matches!(self, Container::DefaultDict | Container::Counter)
    }
    /// Whether it is compared as sets are, with any of these.
    pub(crate) fn is_set_like(self) -> bool {
        match self {
            Container::Set | Container::FrozenSet | Container::Keys | Container::Items => true,
            Container::Dict
            | Container::DefaultDict
            | Container::Counter
            | Container::OrderedDict
            | Container::Values
            | Container::Deque
            | Container::ByteArray
            | Container::Tuple => false,
        }
    }
    /// The text of an empty one, where it is not what stands around the entries.
    pub(crate) fn text_when_empty(self) -> Option<&'static str> {
        match self {
            Container::Set => Some("set()"),
            Container::FrozenSet => Some("frozenset()"),
            Container::Counter => Some("Counter()"),
            Container::OrderedDict => Some("OrderedDict()"),
            Container::Dict
            | Container::DefaultDict
            | Container::Keys
            | Container::Values
            | Container::Items
            | Container::Deque
            | Container::ByteArray
            | Container::Tuple => None,
        }
    }
    /// Whether its entries are numbered, so that patterns of sequences look into it.
    pub(crate) fn is_sequence(self) -> bool {
        match self {
            Container::Deque | Container::Tuple => true,
            // What patterns see as a whole, as they see a text.
            Container::ByteArray
            | Container::Dict
            | Container::DefaultDict
            | Container::Counter
            | Container::OrderedDict
            | Container::Keys
            | Container::Values
            | Container::Items
            | Container::Set
            | Container::FrozenSet => false,
        }
    }
    /// Whether going through one from its end is defined.
    pub(crate) fn is_reversible(self) -> bool {
        match self {
            Container::Dict
            | Container::DefaultDict
            | Container::Counter
            | Container::OrderedDict
            | Container::Keys
            | Container::Values
            | Container::Items
            | Container::Deque
            | Container::ByteArray
            | Container::Tuple => true,
            Container::Set | Container::FrozenSet => false,
        }
    }
    /// What Python calls the class in messages.
    pub(crate) fn full_name(self) -> &'static str {
        match self {
            Container::Deque => "collections.deque",
            Container::DefaultDict => "collections.defaultdict",
            Container::OrderedDict => "collections.OrderedDict",
            Container::Dict
            | Container::Counter
            | Container::Keys
            | Container::Values
            | Container::Items
            | Container::Set
            | Container::FrozenSet
            | Container::ByteArray
            | Container::Tuple => self.name(),
        }
    }
    /// The iterator over one, from its end where it is reversed.
    pub(crate) fn iterator(self, t: Type, reversed: bool) -> Type {
        Type::iter(if reversed { IterType::Reversed(t) } else { IterType::Container(t) })
    }
}
