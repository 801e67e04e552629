//! Frames of generators.

use super::OpDef;
use crate::layout::Frame;
use crate::rt::Ctx;

crate::runtime_fns! {
    /// Frames.
    trait Helpers;
    /// A frame with room for `words` 8-byte words, all zero, that starts at the beginning; `ref_mask` as in
    /// `layout::Frame`.
    fn frame_new(ctx: Ctx, words: i64, ref_mask: i64) -> *mut Frame [Allocates, Pending];
    /// Claims a generator that several threads may resume; ValueError where one of them is in it.
    fn frame_enter(ctx: Ctx, f: *mut Frame) [Writes, Pending];
    /// Gives it back.
    fn frame_leave(f: *mut Frame) [Writes, Never];
}

pub static OPS: &[OpDef] = &[];
