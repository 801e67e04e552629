//! Frames of generators.

use super::OpDef;
use crate::layout::Frame;
use crate::rt::Ctx;

crate::runtime_fns! {
    /// Frames.
    trait Helpers;
    /// A frame with room for `words` 8-byte words, all zero, that starts at the beginning; `ref_mask` as in `layout::Frame`.
    fn frame_new(ctx: Ctx, words: i64, ref_mask: i64) -> *mut Frame [Allocates, Pending];
}

pub static OPS: &[OpDef] = &[];
