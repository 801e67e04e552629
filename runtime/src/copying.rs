//! Deep copies: a container is copied with the containers in it, and what was one object stays one object.

use crate::Native;
use crate::counted::{release, retain};
use crate::deque::drop_deque;
use crate::dict::drop_dict;
use crate::exc::{Res, or_raise};
use crate::instance::drop_instance;
use crate::list::drop_list;
use crate::object::mem_block;
use crate::{deque, dict, instance, list};
use std::collections::HashMap;
use tierup_core::desc::{ArrayPart, TypeDesc};
use tierup_core::layout::{Deque, Dict, Instance, List, MemBlock, Obj};
use tierup_core::ops::copying::Helpers;
use tierup_core::rt::Ctx;
use tierup_core::types::Layout;

/// What was copied.
#[derive(Default)]
struct Made {
    /// Copies by what they are copies of.
    objects: HashMap<*mut Obj, *mut Obj>,
    /// Memory of copies of arrays by the data, shape and strides of these, which have no other identity.
    arrays: HashMap<(*mut u8, Vec<i64>), *mut MemBlock>,
}

impl Helpers for Native {
    unsafe fn deep_copies(ctx: Ctx, at: *mut *mut Obj, n: i64) -> i64 {
        // SAFETY: the caller has `n` references there.
        let refs = unsafe { std::slice::from_raw_parts_mut(at, n as usize) };
        let mut made = Made::default();
        let copied: Res<Vec<*mut Obj>> = (|| {
            let mut all = Vec::with_capacity(refs.len());
            for r in refs.iter() {
                // SAFETY: references of the caller are live or null.
                match unsafe { copy(*r, &mut made) } {
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

/// An owned copy of an object with copies of all that it leads to; what never changes is its own.
///
/// # Safety
/// A live object or null; nobody changes it meanwhile.
unsafe fn copy(o: *mut Obj, made: &mut Made) -> Res<*mut Obj> {
    // A list of objects is as deep as it is long: what a copy shares with the original waits.
    let mut shares = vec![];
    // SAFETY: as required of the caller; what waits is a copy that is held by another one, or by the first.
    unsafe {
        let first = copy_of(o, made, &mut shares)?;
        while let Some(new) = shares.pop() {
            if let Err(e) = inside(new, made, &mut shares) {
                made.objects.clear();
                made.arrays.clear();
                release(first);
                return Err(e);
            }
        }
        Ok(first)
    }
}

/// An owned copy that shares what is in it with the original, and waits; or one that there is already.
///
/// # Safety
/// As for [`copy`].
unsafe fn copy_of(o: *mut Obj, made: &mut Made, shares: &mut Vec<*mut Obj>) -> Res<*mut Obj> {
    // SAFETY: as required of the caller. What an object is, its destructor says.
    unsafe {
        if o.is_null() {
            return Ok(o);
        }
        if let Some(known) = made.objects.get(&o) {
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
        } else if drop == drop_instance as *const () as usize {
            instance::copy(o.cast())?.cast()
        } else {
            retain(o);
            return Ok(o);
        };
        made.objects.insert(o, new);
        shares.push(new);
        Ok(new)
    }
}

/// Puts copies in the place of what a new container shares with what it is a copy of.
///
/// # Safety
/// A container or an object that nobody else knows.
unsafe fn inside(new: *mut Obj, made: &mut Made, shares: &mut Vec<*mut Obj>) -> Res<()> {
    // SAFETY: as required of the caller.
    unsafe {
        let drop = (*new).drop as usize;
        if drop == drop_instance as *const () as usize {
            let object = new.cast::<Instance>();
            values(instance::fields(object), 1, (*object).desc, made, shares)
        } else if drop == drop_list as *const () as usize {
            let l = new.cast::<List>();
            values((*l).data, (*l).len, (*l).desc, made, shares)
        } else if drop == drop_dict as *const () as usize {
            let d = new.cast::<Dict>();
            // Where an entry was removed all references are null.
            values((*d).entries, (*d).used, (*d).entry, made, shares)?;
            dict::keys_changed(d);
            Ok(())
        } else {
            let d = new.cast::<Deque>();
            // A copy begins at the start of its ring.
            values((*d).data, (*d).len, (*d).desc, made, shares)
        }
    }
}

/// # Safety
/// So many live values of the description lie there, in memory that nobody else knows.
unsafe fn values(
    at: *mut u8,
    n: i64,
    desc: &TypeDesc,
    made: &mut Made,
    shares: &mut Vec<*mut Obj>,
) -> Res<()> {
    for k in 0..n.max(0) as usize {
        for offset in desc.refs.iter() {
            // SAFETY: as required of the caller: references of live values are live or null.
            unsafe {
                let place = at.add(k * desc.size as usize + *offset as usize).cast::<*mut Obj>();
                let old = place.read();
                let new = copy_of(old, made, shares)?;
                place.write(new);
                release(old);
            }
        }
        for part in desc.arrays.iter() {
            // SAFETY: as required of the caller: the leaves of an array follow one another.
            unsafe { array(at.add(k * desc.size as usize), part, desc, made)? };
        }
    }
    Ok(())
}

/// Gives an array in a new value memory of its own, which is as its layout says, or in C order.
///
/// # Safety
/// As for [`values`]; `part` is one of the value's.
unsafe fn array(value: *mut u8, part: &ArrayPart, desc: &TypeDesc, made: &mut Made) -> Res<()> {
    let (first, ndim) = (part.leaf as usize, part.ndim as usize);
    let place = |leaf: usize| value.wrapping_add(desc.leaves[first + leaf].offset as usize);
    // SAFETY: as required of the caller.
    unsafe {
        let data = place(1).cast::<*mut u8>().read();
        // None, or a field that is not set.
        if data.is_null() {
            return Ok(());
        }
        let length = |k: usize| place(2 + k).cast::<i64>();
        let shape: Vec<i64> = (0..ndim).map(|k| length(k).read()).collect();
        let dense = dense_strides(&shape, i64::from(part.itemsize), part.layout == Layout::F);
        let strided = part.layout == Layout::A;
        let strides: Vec<i64> =
            if strided { (0..ndim).map(|k| length(ndim + k).read()).collect() } else { dense.clone() };
        let key = (data, shape.iter().chain(&strides).copied().collect());
        let block = match made.arrays.get(&key) {
            Some(known) => *known,
            None => {
                let bytes = shape.iter().product::<i64>() * i64::from(part.itemsize);
                let block = mem_block(bytes, false)?;
                if dense == strides {
                    std::ptr::copy_nonoverlapping(data, (*block).data, bytes.max(0) as usize);
                } else {
                    elements(data, (*block).data, &shape, &strides, part.itemsize as usize);
                }
                made.arrays.insert(key, block);
                // The place below has a reference of its own.
                release(std::mem::replace(&mut *place(0).cast::<*mut Obj>(), block.cast()));
                return written(place(1), (*block).data, part, &dense, |k| place(2 + ndim + k));
            }
        };
        retain(block.cast());
        release(std::mem::replace(&mut *place(0).cast::<*mut Obj>(), block.cast()));
        written(place(1), (*block).data, part, &dense, |k| place(2 + ndim + k))
    }
}

/// # Safety
/// The places of an array's leaves: its data, and those behind its shape.
unsafe fn written(
    data: *mut u8,
    to: *mut u8,
    part: &ArrayPart,
    dense: &[i64],
    behind: impl Fn(usize) -> *mut u8,
) -> Res<()> {
    // SAFETY: as required of the caller.
    unsafe {
        data.cast::<*mut u8>().write(to);
        let mut rest = 0;
        if part.layout == Layout::A {
            dense.iter().enumerate().for_each(|(k, s)| behind(k).cast::<i64>().write(*s));
            rest = dense.len();
        }
        if part.either {
            // It is not read-only.
            behind(rest).write(0);
        }
    }
    Ok(())
}

/// Strides in bytes of an array without gaps.
fn dense_strides(shape: &[i64], itemsize: i64, fortran: bool) -> Vec<i64> {
    let (mut out, mut step) = (vec![0; shape.len()], itemsize);
    let mut axis = |k: usize| {
        out[k] = step;
        step *= shape[k];
    };
    if fortran {
        (0..shape.len()).for_each(&mut axis)
    } else {
        (0..shape.len()).rev().for_each(&mut axis)
    }
    out
}

/// Copies elements in C order.
///
/// # Safety
/// An array of that shape lies at `from`, and there is room for its elements at `to`.
unsafe fn elements(from: *const u8, to: *mut u8, shape: &[i64], strides: &[i64], itemsize: usize) {
    let mut index = vec![0; shape.len()];
    for n in 0..shape.iter().product::<i64>().max(0) as usize {
        let offset: i64 = index.iter().zip(strides).map(|(i, s)| i * s).sum();
        // SAFETY: as required of the caller.
        unsafe {
            std::ptr::copy_nonoverlapping(from.offset(offset as isize), to.add(n * itemsize), itemsize);
        }
        for k in (0..shape.len()).rev() {
            index[k] += 1;
            if index[k] < shape[k] {
                break;
            }
            index[k] = 0;
        }
    }
}
