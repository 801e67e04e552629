//! References to strings that are dropped at the end of a scope.

use super::Chars;
use crate::exc::Res;
use tierup_core::layout::Str;

/// An owned reference to a live string.
pub(crate) struct Owned(*mut Str);

impl Owned {
    /// # Safety
    /// `s` must be a live string, and the reference to it the caller's to give away.
    #[cfg(test)]
    pub(crate) unsafe fn new(s: *mut Str) -> Owned {
        Owned(s)
    }
    /// A new string of UTF-8 text.
    #[cfg(test)]
    pub(crate) fn of_text(text: &str) -> Res<Owned> {
        super::from_text(text).map(Owned)
    }
    /// The characters, so often.
    pub(super) fn repeated(chars: Chars<'_>, n: i64) -> Res<Owned> {
        super::repeat(chars, n).map(Owned)
    }
    pub(crate) fn chars(&self) -> Chars<'_> {
        // SAFETY: the reference keeps the string alive as long as this is borrowed.
        unsafe { Chars::of(self.0) }
    }
    /// The string, whose reference stays here.
    #[cfg(test)]
    pub(crate) fn get(&self) -> *mut Str {
        self.0
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: the reference is owned, and this is its end.
        unsafe { crate::object::release(self.0.cast()) }
    }
}
