//! Vectors: a number in each of a power of two of lanes.
//!
//! To the compiler a vector is its lanes, as a tuple is its members: that is how it is passed, kept in memory and
//! carried round loops. Instructions that compute with it take the lanes together ([`crate::emit::vector`]), and
//! [`crate::lir::opt`] leaves no more of the taking apart than crosses functions.

use super::{Kind, Type};
use crate::lir::{Ty, Vector};

impl Type {
    /// A vector; none of what has no vectors: complex numbers, and numbers of lanes that are no power of two from 2
    /// to 64.
    pub fn simd(element: Type, lanes: usize) -> Option<Type> {
        let element = element.strong();
        Vector::new(element.scalar_ty()?, lanes)?;
        Some(Type::new(Kind::Simd(element, lanes as u8)))
    }
    /// The type of the lanes of a vector, and how many there are.
    pub fn as_simd(self) -> Option<(Type, usize)> {
        if let Kind::Simd(t, n) = *self { Some((t, n as usize)) } else { None }
    }
    /// The tuple of the lanes of a vector.
    pub(crate) fn tuple_of_lanes(self) -> Option<Type> {
        self.as_simd().map(|(t, n)| Type::tuple(vec![t; n]))
    }
    /// The machine type of a vector.
    pub(crate) fn vector_ty(self) -> Option<Ty> {
        let (element, lanes) = self.as_simd()?;
        element.scalar_ty()?.vector(lanes)
    }
}
