//! Objects of the user's classes. Rings of them are found by [`crate::cycles`].

use crate::exc::Res;
use crate::object::count;
use std::sync::atomic::AtomicI64;
use tierup_core::desc::TypeDesc;
use tierup_core::layout::{INSTANCE_HEADER, Instance, Obj};

/// A list of nodes is as deep as it is long.
pub(crate) unsafe extern "C" fn drop_instance(o: *mut Obj) {
    // SAFETY: called once, with an object that `instance_new` made, when nobody holds a reference any more.
    unsafe { crate::drops::with_little_stack(o, free_instance) }
}

/// # Safety
/// `o` is an object of `instance_new` that nobody refers to.
unsafe fn free_instance(o: *mut Obj) {
    // SAFETY: as required of the caller. The fields follow the header.
    unsafe {
        let object = o.cast::<Instance>();
        (*object).desc.release(fields(object), 1);
        if crate::ring_members::forget(object) {
            give_back(object);
        }
    }
}

/// Frees the memory of an object.
///
/// # Safety
/// Nobody refers to it, and its fields have been released.
pub(crate) unsafe fn give_back(object: *mut Instance) {
    count(-1);
    // SAFETY: as required of the caller.
    unsafe { libc::free(object.cast()) }
}

/// Where the fields of an object lie.
///
/// # Safety
/// It is live.
pub unsafe fn fields(object: *mut Instance) -> *mut u8 {
    // SAFETY: as required of the caller; they are in the same allocation.
    unsafe { object.cast::<u8>().add(INSTANCE_HEADER as usize) }
}

pub(crate) fn made(desc: &'static TypeDesc) -> Res<*mut Instance> {
    let object = crate::object::try_zeroed(INSTANCE_HEADER as usize + desc.size as usize)?.cast::<Instance>();
    count(1);
    let obj = Obj { refs: AtomicI64::new(1), drop: drop_instance };
    // SAFETY: there is room for the header.
    unsafe { object.write(Instance { obj, desc, place: 0, owner: 0 }) };
    Ok(object)
}

/// Another object with the same fields.
///
/// # Safety
/// It is live.
pub(crate) unsafe fn copy(object: *mut Instance) -> Res<*mut Instance> {
    // SAFETY: as required of the caller; both have as many bytes of fields.
    unsafe {
        let desc = (*object).desc;
        let new = made(desc)?;
        if (*object).place != 0 {
            crate::ring_members::know(new);
        }
        std::ptr::copy_nonoverlapping(fields(object), fields(new), desc.size as usize);
        desc.retain(fields(new), 1);
        Ok(new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Native;
    use crate::object::release;
    use tierup_core::desc;
    use tierup_core::ops::fields::Helpers;
    use tierup_core::types::Type;

    #[test]
    fn a_long_list_of_objects_needs_little_stack() {
        let chain = || {
            let desc = desc::of(Type::tuple(vec![Type::float(), Type::list(Type::int())]));
            let before = crate::object::live();
            crate::testing::with_ctx(|ctx| {
                // SAFETY: objects made here are used as the helper documents; the second field is a reference.
                unsafe {
                    let mut last: *mut Instance = std::ptr::null_mut();
                    for _ in 0..100_000 {
                        let next = Native::instance_new(ctx, desc);
                        fields(next).add(8).cast::<*mut Obj>().write(last.cast());
                        last = next;
                    }
                    release(last.cast());
                }
            });
            assert_eq!(crate::object::live(), before);
        };
        let thread = std::thread::Builder::new().stack_size(128 << 10).spawn(chain).expect("a thread");
        assert!(thread.join().is_ok());
    }
}
