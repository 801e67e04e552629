//! Python's module `bisect`: Python in `tierup/lib/bisection.py`.

use super::{Body, OpDef};

macro_rules! search {
    ($paths:expr, $body:literal, $doc:literal) => {
        OpDef::new($paths, "a, x, lo=0, hi=None, *, key=None", Body::Py($body)).raises().doc($doc)
    };
}

pub(crate) static OPS: &[OpDef] = &[
    search!(
        &["bisect.bisect_right", "bisect.bisect", "_bisect.bisect_right", "_bisect.bisect"],
        "bisection.bisect_right",
        "Where to insert behind equal elements of a sorted sequence; ValueError."
    ),
    search!(
        &["bisect.bisect_left", "_bisect.bisect_left"],
        "bisection.bisect_left",
        "Where to insert before equal elements of a sorted sequence; ValueError."
    ),
    search!(
        &["bisect.insort_right", "bisect.insort", "_bisect.insort_right", "_bisect.insort"],
        "bisection.insort_right",
        "Inserts behind equal elements of a sorted list; ValueError."
    )
    .writes(),
    search!(
        &["bisect.insort_left", "_bisect.insort_left"],
        "bisection.insort_left",
        "Inserts before equal elements of a sorted list; ValueError."
    )
    .writes(),
];
