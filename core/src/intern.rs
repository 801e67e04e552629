//! Constants that compiled code points to: texts of source locations and string objects. Interned and never
//! freed, so their addresses stay valid whatever becomes of the code.

use crate::layout::{IMMORTAL, Obj, Str, Text};
use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, AtomicU64};
use std::sync::{LazyLock, Mutex};

#[derive(Default)]
struct Table {
    texts: HashMap<&'static str, usize>,
    strings: HashMap<&'static str, usize>,
}
static TABLE: LazyLock<Mutex<Table>> = LazyLock::new(Default::default);

/// A `(ptr, len)` pair of UTF-8 that lives for ever.
pub fn text(s: &str) -> *const Text {
    let mut t = TABLE.lock().unwrap_or_else(|e| e.into_inner());
    if let Some(p) = t.texts.get(s) {
        return *p as *const Text;
    }
    let copy: &'static str = Box::leak(s.to_owned().into_boxed_str());
    let p: &'static Text = Box::leak(Box::new(Text { ptr: copy.as_ptr(), len: copy.len() }));
    t.texts.insert(copy, p as *const Text as usize);
    p
}

unsafe extern "C" fn never_freed(_: *mut Obj) {}

/// A string object that lives for ever, as a constant of compiled code needs it; retain and release leave it
/// alone.
pub fn string(s: &str) -> *mut Str {
    let mut t = TABLE.lock().unwrap_or_else(|e| e.into_inner());
    if let Some(p) = t.strings.get(s) {
        return *p as *mut Str;
    }
    let copy: &'static str = Box::leak(s.to_owned().into_boxed_str());
    let max = copy.chars().max().map_or(0, |c| c as u32);
    let (len, kind) = (
        copy.chars().count() as i64,
        if max < 0x100 {
            1
        } else if max < 0x10000 {
            2
        } else {
            4
        },
    );
    let units: Vec<u8> =
        copy.chars().flat_map(|c| (c as u32).to_le_bytes().into_iter().take(kind as usize)).collect();
    // Code units are read as aligned integers, so the memory is made of u32.
    let mut words = vec![0u32; units.len().div_ceil(4).max(1)].into_boxed_slice();
    // SAFETY: `words` has room for `units`, and the two do not overlap.
    unsafe { std::ptr::copy_nonoverlapping(units.as_ptr(), words.as_mut_ptr().cast::<u8>(), units.len()) };
    let data = Box::leak(words).as_mut_ptr().cast::<u8>();
    let p = Box::into_raw(Box::new(Str {
        obj: Obj { refs: AtomicI64::new(IMMORTAL), drop: never_freed },
        len,
        kind,
        data,
        hash: AtomicU64::new(0),
    }));
    t.strings.insert(copy, p as usize);
    p
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interned_once_with_the_narrowest_kind() {
        assert_eq!(text("a.py"), text("a.py"));
        assert_eq!(string("x"), string("x"));
        for (s, kind, len) in [("", 1, 0), ("é", 1, 1), ("aж", 2, 2), ("a😀", 4, 2)] {
            // SAFETY: interned strings live for ever.
            let o = unsafe { &*string(s) };
            assert_eq!((o.kind, o.len), (kind, len), "{s}");
        }
    }
}
