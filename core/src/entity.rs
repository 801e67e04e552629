//! Small typed indices and the arenas they index.

/// An index type made by [`entity`](crate::entity), for code that is generic over what it indexes.
pub trait Entity: Copy + Eq {
    fn from_index(i: usize) -> Self;
    fn to_index(self) -> usize;
}

/// Declares a `u32` index type that prints with a prefix (`v3`, `block0`).
#[macro_export]
macro_rules! entity {
    ($(#[$doc:meta])* $vis:vis $Name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        $vis struct $Name(pub u32);
        impl $Name {
            $vis fn new(i: usize) -> Self { $Name(i as u32) }
            $vis fn index(self) -> usize { self.0 as usize }
        }
        impl $crate::entity::Entity for $Name {
            fn from_index(i: usize) -> Self { $Name(i as u32) }
            fn to_index(self) -> usize { self.0 as usize }
        }
        impl std::fmt::Display for $Name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result { write!(f, concat!($prefix, "{}"), self.0) }
        }
        impl std::fmt::Debug for $Name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result { write!(f, concat!($prefix, "{}"), self.0) }
        }
    };
}
