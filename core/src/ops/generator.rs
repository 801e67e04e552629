//! Frames of generators.

use crate::desc::TypeDesc;
use crate::layout::Frame;
use crate::rt::Ctx;

crate::runtime_fns! {
    /// Frames.
    trait Helpers;
    /// A frame that keeps what `desc` describes, all zero, and starts at the beginning.
    fn frame_new(ctx: Ctx, desc: *const TypeDesc) -> *mut Frame [Allocates, Pending];
    /// Claims a generator that several threads may resume; ValueError where one of them is in it.
    fn frame_enter(ctx: Ctx, f: *mut Frame) [Writes, Pending];
    /// Gives it back.
    fn frame_leave(f: *mut Frame) [Writes, Never];
}
