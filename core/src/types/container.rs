//! Containers whose entries are found by hash, and views of them: what makes one different from the other
//! wherever types are walked over. A value of one is a reference to an object that begins as
//! [`crate::layout::Counted`] does. Its operations are rows (`core/src/ops/dict.rs`).
//!
//! A new container is a member here.

use super::class::ClassId;
use super::{IterType, Type};
use std::ffi::CStr;

macro_rules! containers {
    ($($(#[doc = $doc:literal])* $Name:ident = $text:literal, $class:ident, $arguments:literal, $empty:literal, $around:expr;)*) => {
        /// Which container, or view.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Container { $($(#[doc = $doc])* $Name),* }
        impl Container {
            pub const ALL: &'static [Container] = &[$(Container::$Name),*];
            /// What its types are called.
            pub(crate) fn name(self) -> &'static str { match self { $(Container::$Name => $text),* } }
            pub(crate) fn class(self) -> ClassId { match self { $(Container::$Name => ClassId::$class),* } }
            /// How many types stand in one of its types.
            pub(crate) fn arguments(self) -> usize { match self { $(Container::$Name => $arguments),* } }
            /// Python's expression for an empty one.
            pub fn empty(self) -> &'static CStr { match self { $(Container::$Name => $empty),* } }
            /// What stands around the entries in its text.
            pub(crate) fn around(self) -> [&'static str; 2] { match self { $(Container::$Name => $around),* } }
        }
    };
}

containers! {
    /// Of keys and values.
    Dict = "dict", DICT, 2, c"{}", ["{", "}"];
    /// Views: the same object, seen as its keys, its values, its pairs.
    Keys = "dict_keys", DICT_KEYS, 2, c"{}.keys()", ["dict_keys([", "])"];
    Values = "dict_values", DICT_VALUES, 2, c"{}.values()", ["dict_values([", "])"];
    Items = "dict_items", DICT_ITEMS, 2, c"{}.items()", ["dict_items([", "])"];
}

impl Container {
    /// What going through one gives, made of its arguments.
    pub(crate) fn gives(self, arguments: &[Type]) -> Type {
        match self {
            Container::Dict | Container::Keys => arguments[0],
            Container::Values => arguments[1],
            Container::Items if arguments.iter().any(|t| *t == Type::never()) => Type::never(),
            Container::Items => Type::tuple(arguments.to_vec()),
        }
    }
    /// What its text shows: the pairs of a dict, of others what going through them gives.
    pub(crate) fn shown(self) -> Container {
        match self {
            Container::Dict => Container::Items,
            Container::Keys | Container::Values | Container::Items => self,
        }
    }
    /// Whether it is a view of another one.
    pub(crate) fn is_view(self) -> bool {
        match self {
            Container::Dict => false,
            Container::Keys | Container::Values | Container::Items => true,
        }
    }
    /// The iterator over one, from its end where it is reversed.
    pub(crate) fn iterator(self, t: Type, reversed: bool) -> Type {
        Type::iter(if reversed { IterType::Reversed(t) } else { IterType::Container(t) })
    }
}
