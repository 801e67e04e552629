//! What compiled code asks of objects of the user's classes: to be made, and copied.

use crate::exc::or_raise;
use crate::instance::{copy, made};
use crate::{Native, cycles, ring_members};
use tierup_core::desc::TypeDesc;
use tierup_core::layout::Instance;
use tierup_core::ops::fields::Helpers;
use tierup_core::rt::Ctx;

impl Helpers for Native {
    unsafe fn instance_new(ctx: Ctx, desc: *const TypeDesc) -> *mut Instance {
        // SAFETY: descriptors live for ever; `ctx` is this thread's.
        unsafe { or_raise(ctx, made(&*desc)) }
    }
    unsafe fn instance_copy(ctx: Ctx, object: *mut Instance) -> *mut Instance {
        // SAFETY: as required of the caller.
        unsafe { or_raise(ctx, copy(object)) }
    }
    unsafe fn instance_new_in_ring(ctx: Ctx, desc: *const TypeDesc) -> *mut Instance {
        // SAFETY: as required of the caller. Before there is another one, rings are looked for if there are many.
        unsafe {
            cycles::look_now_and_then();
            let object = Native::instance_new(ctx, desc);
            if !object.is_null() {
                ring_members::know(object);
            }
            object
        }
    }
}
