//! Places of elements: numbers for indices and back, indices of diagonals and grids, and `np.choose`.

use super::{Body, OpDef};

pub(crate) static OPS: &[OpDef] = &[
    OpDef::new(&["numpy.unravel_index"], "indices, shape, order='C'", Body::Py("places.unravel_index"))
        .raises()
        .reads()
        .doc("Indices of the elements with these numbers, one for each dimension; ValueError."),
    OpDef::new(
        &["numpy.ravel_multi_index"],
        "multi_index, dims, mode='raise', order='C'",
        Body::Py("places.ravel_multi_index"),
    )
    .raises()
    .reads()
    .doc("Numbers of the elements with these indices; ValueError."),
    OpDef::new(&["numpy.diag_indices"], "n, ndim=2", Body::Py("places.diag_indices"))
        .only_if(|a| a[1].konst.is_some())
        .raises()
        .doc("Indices of the main diagonal; how many dimensions it has is a constant."),
    OpDef::new(&["numpy.diag_indices_from"], "arr", Body::Py("places.diag_indices_from"))
        .only_if(|a| a[0].ty.as_array().is_some())
        .raises()
        .doc("Indices of the main diagonal of an array; ValueError."),
    OpDef::new(&["numpy.mask_indices"], "n, mask_func, k=0", Body::Py("places.mask_indices"))
        .raises()
        .doc("Where a function such as `np.triu` leaves ones."),
    OpDef::new(&["numpy.ix_"], "*args", Body::Py("places.ix_"))
        .raises()
        .reads()
        .doc("Sequences, each along a dimension of its own, that choose a grid; ValueError."),
    OpDef::new(&["numpy.choose"], "a, choices, out=None, mode='raise'", Body::Py("places.choose"))
        .raises()
        .reads()
        .doc("Elements of the array that `a` numbers among `choices`; ValueError."),
];
