//! `np.pad`: a larger array around an array.

use super::{Body, OpDef};
use crate::types::Kind;

pub(crate) static OPS: &[OpDef] = &[OpDef::new(
    &["numpy.pad"],
    "array, pad_width, mode='constant', *, constant_values=None, end_values=None, stat_length=None, reflect_type=None",
    Body::Py("padding.pad"),
)
.only_if(|a| *a[2].ty == Kind::Str)
.raises()
.reads()
.doc("A larger array around an array, filled as `mode` says; ValueError. A function for `mode` is refused.")];
