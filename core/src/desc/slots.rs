//! The functions in the slots of descriptors.

use super::hash::{key_part, leaf_part, with_part};
use super::order::{Order, keys_order, leaf_order};
use super::{Field, Key, Slots, TypeDesc};
use crate::elem::Elem;
use crate::layout::object::{Obj, release, retain};

/// The functions for values that lie and compare like this: the only place that fills slots.
pub(crate) fn of(leaves: &[Field], keys: Option<&[Key]>) -> Slots {
    let counted = leaves.iter().any(|l| l.is_ref);
    Slots {
        retain: if counted { retain_values } else { nothing },
        release: if counted { release_values } else { nothing },
        compare: keys.map(|keys| match keys {
            [only] if only.ways.is_empty() => scalar_order(only.elem),
            _ => lexicographic,
        }),
        hash: keys.map(|keys| match keys {
            [only] if only.ways.is_empty() => scalar_hash(only.elem),
            _ => combined_hash,
        }),
    }
}

unsafe extern "C" fn nothing(_: *const TypeDesc, _: *const u8, _: i64) {}

/// Calls `f` on every reference of `count` values.
unsafe fn each_reference(desc: *const TypeDesc, at: *const u8, count: i64, f: impl Fn(*mut Obj)) {
    // SAFETY: descriptors live for ever; the caller has so many live values.
    unsafe {
        let (refs, size) = (&(*desc).refs, (*desc).size as usize);
        for k in 0..count.max(0) as usize {
            let value = at.add(k * size);
            for offset in refs.iter() {
                f(value.add(*offset as usize).cast::<*mut Obj>().read());
            }
        }
    }
}
unsafe extern "C" fn retain_values(desc: *const TypeDesc, at: *const u8, count: i64) {
    // SAFETY: references of live values are live or null.
    unsafe { each_reference(desc, at, count, |o| retain(o)) }
}
unsafe extern "C" fn release_values(desc: *const TypeDesc, at: *const u8, count: i64) {
    // SAFETY: the caller gives these references up.
    unsafe { each_reference(desc, at, count, |o| release(o)) }
}

unsafe extern "C" fn lexicographic(desc: *const TypeDesc, a: *const u8, b: *const u8) -> Order {
    // SAFETY: descriptors live for ever, and keys lie within values.
    unsafe { keys_order(&(*desc).keys, a, b) }
}

/// A function of its own for each code, so that comparing scalars asks for none.
fn scalar_order(elem: Elem) -> unsafe extern "C" fn(*const TypeDesc, *const u8, *const u8) -> Order {
    macro_rules! functions {
        ($($Name:ident),*) => {
            match elem {
                $(Elem::$Name => {
                    unsafe extern "C" fn order(_: *const TypeDesc, a: *const u8, b: *const u8) -> Order {
                        // SAFETY: the only leaf is the whole value.
                        unsafe { leaf_order(Elem::$Name, a, b) }
                    }
                    order
                })*
            }
        };
    }
    functions!(Bool, I8, I16, I32, I64, U8, U16, U32, U64, F32, F64, C64, C128, Str, Tuple)
}

unsafe extern "C" fn combined_hash(desc: *const TypeDesc, at: *const u8) -> u64 {
    // SAFETY: descriptors live for ever, and keys lie within values.
    unsafe { (*desc).keys.iter().fold(0, |sum, key| with_part(sum, key_part(key, at))) }
}

/// A function of its own for each code.
fn scalar_hash(elem: Elem) -> unsafe extern "C" fn(*const TypeDesc, *const u8) -> u64 {
    macro_rules! functions {
        ($($Name:ident),*) => {
            match elem {
                $(Elem::$Name => {
                    unsafe extern "C" fn hash(_: *const TypeDesc, at: *const u8) -> u64 {
                        // SAFETY: the only leaf is the whole value.
                        unsafe { with_part(0, leaf_part(Elem::$Name, at)) }
                    }
                    hash
                })*
            }
        };
    }
    functions!(Bool, I8, I16, I32, I64, U8, U16, U32, U64, F32, F64, C64, C128, Str, Tuple)
}
