//! Which Python and which NumPy compiled code answers as. From one version to the next a few functions compute
//! something else, and exceptions use other words.

use std::sync::atomic::{AtomicU8, AtomicU16, Ordering};

static MINOR: AtomicU8 = AtomicU8::new(11);
static NUMPY: AtomicU16 = AtomicU16::new(numpy(2, 4));

const fn numpy(major: u8, minor: u8) -> u16 {
    u16::from_be_bytes([major, minor])
}

/// Python 3.`minor` it is. The host says so once, before anything is compiled.
pub fn is(minor: u8) {
    MINOR.store(minor, Ordering::Relaxed);
}

/// Whether it is Python 3.`minor` or a later one.
pub fn since(minor: u8) -> bool {
    MINOR.load(Ordering::Relaxed) >= minor
}

/// NumPy `major.minor` it is. The host says so before anything of NumPy is compiled.
pub fn numpy_is(major: u8, minor: u8) {
    NUMPY.store(numpy(major, minor), Ordering::Relaxed);
}

/// Whether it is NumPy `major.minor` or a later one.
pub fn numpy_since(major: u8, minor: u8) -> bool {
    NUMPY.load(Ordering::Relaxed) >= numpy(major, minor)
}

/// Messages as 3.11 has them, then from which version on they are what.
const CHANGED: &[(&str, &[(u8, &str)])] = &[
    ("integer division or modulo by zero", &[(14, "division by zero")]),
    ("integer modulo by zero", &[(14, "division by zero")]),
    ("float division by zero", &[(14, "division by zero")]),
    ("float floor division by zero", &[(14, "division by zero")]),
    ("float modulo", &[(13, "float modulo by zero"), (14, "division by zero")]),
    ("float divmod()", &[(14, "division by zero")]),
    ("complex division by zero", &[(14, "division by zero")]),
    ("0.0 cannot be raised to a negative power", &[(14, "zero to a negative power")]),
    ("0.0 to a negative or complex power", &[(14, "zero to a negative or complex power")]),
    ("{} is not in list", &[(14, "list.index(x): x not in list")]),
    ("number of bits must be non-negative", &[(14, "Cannot convert negative int")]),
];

/// What this Python says where 3.11 says `text`.
pub fn words(text: &str) -> &str {
    let changes = CHANGED.iter().find(|(old, _)| *old == text).map_or(&[][..], |(_, changes)| changes);
    changes.iter().rev().find(|(from, _)| since(*from)).map_or(text, |(_, new)| new)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_stand_in_order() {
        for (text, changes) in CHANGED {
            assert!(changes.is_sorted_by_key(|(from, _)| *from), "{text}");
            assert!(changes.iter().all(|(from, new)| *from > 11 && new != text), "{text}");
        }
        assert_eq!(words("float modulo"), "float modulo");
        assert_eq!(words("of no interest"), "of no interest");
    }
}
