//! What became of parallel loops, for reports.

use super::loc::Loc;
use crate::handle::FuncId;
use std::sync::Arc;

/// A store that may go to one element in several iterations, and what is doubtful about it.
pub(crate) type Doubt = (Loc, Arc<str>);

/// What became of a loop over `prange`, for reports.
#[derive(Clone, Debug, PartialEq)]
pub struct LoopNote {
    pub loc: Loc,
    /// Why it runs as an ordinary loop; none for a parallel one.
    pub serial: Option<Arc<str>>,
    /// What its iterations share, a phrase for each: `sum`, `greatest value, with 1 that goes with it`.
    pub shares: Vec<String>,
    /// Stores that may be races, with what is doubtful about them.
    pub doubts: Vec<Doubt>,
    /// The body, when it is parallel.
    pub body: Option<FuncId>,
    /// The loop that it has become a part of.
    pub into: Option<Loc>,
    /// The loop before it that it has not become a part of, and why.
    pub apart: Option<(Loc, Arc<str>)>,
}

impl LoopNote {
    /// Nothing said of the loop there yet.
    pub(crate) fn at(loc: Loc) -> LoopNote {
        LoopNote { loc, serial: None, shares: vec![], doubts: vec![], body: None, into: None, apart: None }
    }
    pub(crate) fn serial(loc: Loc, why: &str) -> LoopNote {
        LoopNote { serial: Some(why.into()), ..LoopNote::at(loc) }
    }
}
