//! `tierup.par`: functions over many values, in Python in `tierup/lib/par.py`.

use super::{Body, OpDef};

pub(crate) static OPS: &[OpDef] = &[
    OpDef::new(&["tierup.par.map"], "f, xs, *more", Body::Py("par.map_"))
        .raises()
        .doc("`f` of each value, in pieces: an array of numbers that come of arrays, else a list."),
    OpDef::new(&["tierup.par.reduce"], "f, xs, initial=...", Body::Py("par.reduce_"))
        .raises()
        .doc("All values put together by an associative `f`, in a tree that their number fixes."),
    OpDef::new(&["tierup.par.scan"], "f, xs, initial=...", Body::Py("par.scan_"))
        .raises()
        .doc("What `reduce` gives of the first value, of the first two, and so on."),
    OpDef::new(&["tierup.par.filter"], "f, xs", Body::Py("par.filter_"))
        .raises()
        .doc("The values for which `f` is true; with None those that are true themselves."),
    OpDef::new(&["tierup.par.zip"], "*iterables", Body::Py("par.zip_"))
        .raises()
        .doc("A list of tuples of the values side by side."),
    OpDef::new(&["tierup.par.vmap"], "f, in_axes=0, out_axes=0", Body::Py("par.vmap_"))
        .raises()
        .doc("A function that maps `f` along an axis of its arguments."),
];
