//! What generators are sent, and what they return.
//!
//! Nothing in a generator says what `x = yield` gives: those who go on with it say it, and they are typed after it.
//! Until one has, such a `yield` gives nothing, so that what comes after it is not looked at. Where more was said
//! than had been known, all is typed again, with that known from the start. What nobody has said anything about by
//! then is sent None.
//!
//! The first step of a generator delivers nothing. Where it is seen to be the first, it is none that says None.

use crate::diag::{Code, Diagnostic, Result};
use crate::handle::FuncId;
use crate::types::{Kind, Type};
use std::collections::{BTreeSet, HashMap, HashSet};

/// How often all is typed again: what is sent settles after a few rounds, or its type has no end.
const MOST_ROUNDS: u32 = 32;

/// Of the generators of a session, by the numbers of their types.
#[derive(Default)]
pub(crate) struct Channels {
    pub(super) sent: HashMap<u32, Type>,
    /// The generators of each function that have been typed.
    pub(super) of: HashMap<FuncId, BTreeSet<u32>>,
    pub(super) returned: HashMap<u32, Type>,
    /// Whose results somebody has asked for.
    pub(super) asked: HashSet<u32>,
    /// Whose results StopIteration carries, and whether somebody has asked for the value of one.
    pub(super) stopped: BTreeSet<u32>,
    pub(super) asked_of_stopped: bool,
    /// More is known than what somebody was told.
    pub(super) grown: bool,
    /// Somebody was told that nothing is sent, since nobody has sent anything yet.
    waits: bool,
    /// Nobody else will.
    closed: bool,
    rounds: u32,
}

impl Channels {
    /// What `yield` gives, to a generator that looks at it or to one that only passes it on.
    pub(super) fn received(&mut self, id: u32, looked_at: bool) -> Type {
        if looked_at && !self.closed && *self.sent(id) == Kind::None {
            self.waits = true;
            return Type::never();
        }
        self.sent(id)
    }

    pub(crate) fn sent(&self, id: u32) -> Type {
        self.sent.get(&id).copied().unwrap_or_else(Type::none)
    }

    /// What a generator is sent, where a frame keeps it: None as well, which is there where nothing was sent.
    pub(crate) fn place_of_sent(&self, id: u32) -> Type {
        Type::optional(self.sent(id))
    }

    /// What a generator returns, for somebody who looks at it.
    pub(crate) fn result(&mut self, id: u32) -> Type {
        self.asked.insert(id);
        self.returned(id)
    }

    /// The end of a generator is raised as StopIteration, with its result.
    pub(crate) fn stops(&mut self, id: u32) -> Type {
        self.grown |= self.stopped.insert(id) && self.asked_of_stopped;
        self.result(id)
    }

    pub(crate) fn returned(&self, id: u32) -> Type {
        self.returned.get(&id).copied().unwrap_or_else(Type::never)
    }

    /// Whether all must be typed again; from now on with what is known. An error where that has no end.
    pub(crate) fn settle(&mut self) -> Result<bool> {
        let grown = std::mem::take(&mut self.grown);
        let waits = std::mem::take(&mut self.waits);
        if !grown && !waits {
            return Ok(false);
        }
        self.closed |= !grown;
        self.rounds += 1;
        if self.rounds <= MOST_ROUNDS {
            return Ok(true);
        }
        let text = "the types of what generators are sent and return do not settle";
        Err(Diagnostic::new(Code::CannotUnify, text)
            .help("send values of one type, and return values of one type"))
    }
}
