//! Deep copies: a container is copied with the containers in it, and what was one object stays one object.

use crate::Native;
use crate::counted::{release, retain};
use crate::deque::drop_deque;
use crate::dict::drop_dict;
use crate::exc::{Res, or_raise};
use crate::list::drop_list;
use crate::{deque, dict, list};
use std::collections::HashMap;
use tierup_core::desc::TypeDesc;
use tierup_core::layout::{Deque, Dict, List, Obj};
use tierup_core::ops::copying::Helpers;
use tierup_core::rt::Ctx;

/// Copies by what they are copies of.
type Made = HashMap<*mut Obj, *mut Obj>;

/// How deep containers may hold containers; types are no deeper.
const DEEPEST: usize = 1000;

impl Helpers for Native {
    unsafe fn deep_copies(ctx: Ctx, at: *mut *mut Obj, n: i64) -> i64 {
        // SAFETY: the caller has `n` references there.
        let refs = unsafe { std::slice::from_raw_parts_mut(at, n as usize) };
        let mut made = Made::new();
        let copied: Res<Vec<*mut Obj>> = (|| {
            let mut all = Vec::with_capacity(refs.len());
            for r in refs.iter() {
                // SAFETY: references of the caller are live or null.
                match unsafe { copy(*r, &mut made, DEEPEST) } {
                    Ok(new) => all.push(new),
                    Err(e) => {
                        // SAFETY: these copies are owned.
                        all.into_iter().for_each(|o| unsafe { release(o) });
                        return Err(e);
                    }
                }
            }
            Ok(all)
        })();
        // SAFETY: `ctx` is this thread's.
        unsafe {
            or_raise(
                ctx,
                copied.map(|all| {
                    refs.copy_from_slice(&all);
                    0
                }),
            )
        }
    }
}

/// An owned copy of an object; what never changes is its own.
///
/// # Safety
/// A live object or null; nobody changes it meanwhile.
unsafe fn copy(o: *mut Obj, made: &mut Made, levels: usize) -> Res<*mut Obj> {
    // SAFETY: as required of the caller. What an object is, its destructor says.
    unsafe {
        if o.is_null() {
            return Ok(o);
        }
        if let Some(known) = made.get(&o) {
            retain(*known);
            return Ok(*known);
        }
        let drop = (*o).drop as usize;
        let new = if drop == drop_list as *const () as usize {
            list::slice(o.cast(), 0, 1, (*o.cast::<List>()).len)?.cast::<Obj>()
        } else if drop == drop_dict as *const () as usize {
            dict::copy(o.cast())?.cast()
        } else if drop == drop_deque as *const () as usize {
            deque::copy(o.cast())?.cast()
        } else {
            retain(o);
            return Ok(o);
        };
        made.insert(o, new);
        if levels > 0
            && let Err(e) = inside(new, drop, made, levels - 1)
        {
            made.remove(&o);
            release(new);
            return Err(e);
        }
        Ok(new)
    }
}

/// Puts copies in the place of what a new container shares with what it is a copy of.
///
/// # Safety
/// A container that nobody else knows, with that destructor.
unsafe fn inside(new: *mut Obj, drop: usize, made: &mut Made, levels: usize) -> Res<()> {
    // SAFETY: as required of the caller.
    unsafe {
        if drop == drop_list as *const () as usize {
            let l = new.cast::<List>();
            values((*l).data, (*l).len, (*l).desc, made, levels)
        } else if drop == drop_dict as *const () as usize {
            let d = new.cast::<Dict>();
            // Where an entry was removed all references are null.
            values((*d).entries, (*d).used, (*d).entry, made, levels)
        } else {
            let d = new.cast::<Deque>();
            // A copy begins at the start of its ring.
            values((*d).data, (*d).len, (*d).desc, made, levels)
        }
    }
}

/// # Safety
/// So many live values of the description lie there, in memory that nobody else knows.
unsafe fn values(at: *mut u8, n: i64, desc: &TypeDesc, made: &mut Made, levels: usize) -> Res<()> {
    for k in 0..n.max(0) as usize {
        for offset in desc.refs.iter() {
            // SAFETY: as required of the caller: references of live values are live or null.
            unsafe {
                let place = at.add(k * desc.size as usize + *offset as usize).cast::<*mut Obj>();
                let old = place.read();
                let new = copy(old, made, levels)?;
                place.write(new);
                release(old);
            }
        }
    }
    Ok(())
}
