//! Places in the source of a function.

/// Where in the source: line counts from 1, columns from 0; line 0 is unknown. The file is the function's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Loc {
    pub line: u32,
    pub col: u32,
    pub end_col: u32,
    /// Index + 1 into [`super::Func::inlined`] when the code came from another function.
    pub inlined: u32,
}
