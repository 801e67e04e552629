//! NumPy's functions that call a function of the user's.

use super::{Body, OpDef};

pub(crate) static OPS: &[OpDef] = &[
    OpDef::new(&["numpy.apply_along_axis"], "func1d, axis, arr, *args", Body::Py("applied.apply_along_axis"))
        .raises()
        .doc("What a function gives of each line along a dimension; ValueError, AxisError."),
    OpDef::new(&["numpy.fromfunction"], "function, shape, *, dtype=None", Body::Py("applied.fromfunction"))
        .raises()
        .doc("What a function gives of the indices of a grid."),
];
