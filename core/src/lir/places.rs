//! Where code of a function came from, as its user sees it: without the library's files, and under the names
//! that the user gave.

use super::{Func, Loc, LocData};

impl Func {
    /// The innermost place that is the user's: where code of the library was inlined, the place that called
    /// it.
    pub fn place(&self, loc: Loc) -> Option<&LocData> {
        self.loc(self.users(loc))
    }

    /// The user's places, from the outermost on: each but the last is a call of the function that the next one
    /// lies in. Also the numbers of these places.
    pub fn calls_to(&self, loc: Loc) -> Vec<(Loc, &LocData)> {
        let mut found = vec![];
        let mut at = self.users(loc);
        while let Some(place) = self.loc(at) {
            found.push((at, place));
            at = self.users(place.inlined_at);
        }
        found.reverse();
        found
    }

    /// `loc`, or what called the library there.
    fn users(&self, mut at: Loc) -> Loc {
        while let Some(place) = self.loc(at)
            && place.file.is_library()
            && self.loc(place.inlined_at).is_some()
        {
            at = place.inlined_at;
        }
        at
    }

    /// The name of the Python function that it was made of: without what the compiler adds.
    pub fn plain_name(&self) -> &str {
        let name = self.wraps.as_deref().unwrap_or(&self.name);
        let name = name.split_once("@osr").map_or(name, |n| n.0);
        name.rsplit_once('.').filter(|n| n.1.bytes().all(|b| b.is_ascii_digit())).map_or(name, |n| n.0)
    }

    /// Its first place, of those that have its own name.
    pub fn first_place(&self) -> Option<&LocData> {
        let name = self.plain_name();
        self.locs.iter().filter(|l| *l.func == *name).min_by_key(|l| l.line)
    }
}
