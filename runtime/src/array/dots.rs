//! What a product of a matrix and a vector is asked for.

/// Products of rows with a vector of `n` elements; steps are in bytes.
#[derive(Clone, Copy)]
pub(crate) struct Dots {
    pub rows: isize,
    pub n: isize,
    pub a: *const u8,
    pub row: isize,
    pub step: isize,
    pub b: *const u8,
    pub b_step: isize,
    pub out: *mut u8,
    pub out_step: isize,
}
