//! What holds of everything that a module or a class of Python's has. An operation of which something else
//! holds says so with its identity (`op_ids!`).

use super::effects::{Facts, Keywords, Scalars};

const PYTHONS: Facts = Facts::NONE.scalars(Scalars::Pythons);
const OF_ARRAYS: Facts = Facts::NONE.scalars(Scalars::Numpys).list_may_be_tuple();
const NUMPYS: Facts = OF_ARRAYS.makes_arrays();

/// By what names begin with; the first one that fits.
const MODULES: &[(&str, Facts)] = &[
    ("builtins.", PYTHONS.takes_array_as_number()),
    ("math.", PYTHONS.takes_array_as_number().computes()),
    ("cmath.", PYTHONS),
    ("str.", PYTHONS),
    ("bytes.", PYTHONS),
    ("bytearray.", PYTHONS),
    ("struct.", PYTHONS),
    ("int.", PYTHONS),
    ("float.", PYTHONS),
    ("complex.", PYTHONS),
    ("itertools.", Facts::NONE.keeps()),
    ("heapq.", Facts::NONE.keeps()),
    ("set.", PYTHONS),
    ("frozenset.", PYTHONS),
    ("deque.", PYTHONS),
    ("array.", OF_ARRAYS),
    // Generators are there too.
    ("numpy.random.", NUMPYS.draws()),
    ("numpy.", NUMPYS),
    ("kwargs.", Facts::NONE.keywords(Keywords::Takes)),
];

/// Whether a text begins with another one, at compile time.
const fn begins(text: &str, with: &str) -> bool {
    let (text, with) = (text.as_bytes(), with.as_bytes());
    if text.len() < with.len() {
        return false;
    }
    let mut k = 0;
    while k < with.len() {
        if text[k] != with[k] {
            return false;
        }
        k += 1;
    }
    true
}

impl Facts {
    /// What an operation has from its module or class.
    pub(super) const fn of(name: &str) -> Facts {
        let mut k = 0;
        while k < MODULES.len() {
            if begins(name, MODULES[k].0) {
                return MODULES[k].1;
            }
            k += 1;
        }
        Facts::NONE
    }
}
