//! Who goes on in a block of threads that wait for each other: what the interpreter and the simulator share.

/// What a thread of a block waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// All threads of the block that have not ended.
    Block,
    /// The threads of its warp that `mask` names.
    Warp { mask: u32 },
    /// The same; then it takes the bits that another lane has brought.
    Shuffle { mask: u32, bits: u64, lane: u32 },
    /// The same; then it knows which lanes have voted yes.
    Ballot { mask: u32, vote: bool },
    /// The same; then it knows which lanes have brought the same bits.
    Match { mask: u32, bits: u64 },
    /// All threads of the block, as `Block`; then it knows how many have voted yes.
    Count { vote: bool },
    /// All threads of the grid that have not ended.
    Grid,
}

/// Threads of a warp.
pub const WARP: usize = 32;

impl Wait {
    /// Whether it is for every thread of the block at least.
    pub fn is_for_all(self) -> bool {
        match self {
            Wait::Block | Wait::Count { .. } | Wait::Grid => true,
            Wait::Warp { .. } | Wait::Shuffle { .. } | Wait::Ballot { .. } | Wait::Match { .. } => false,
        }
    }

    fn mask(self) -> Option<u32> {
        match self {
            Wait::Block | Wait::Count { .. } | Wait::Grid => None,
            Wait::Warp { mask }
            | Wait::Shuffle { mask, .. }
            | Wait::Ballot { mask, .. }
            | Wait::Match { mask, .. } => Some(mask),
        }
    }
}

/// Which threads of a block go on, and what each learns, where all wait or have ended (none). Nobody does
/// where threads wait for each other at places that never meet.
pub fn release(threads: &[Option<Wait>]) -> Vec<(usize, u64)> {
    let live = || threads.iter().enumerate().filter_map(|(k, w)| w.map(|w| (k, w)));
    if live().all(|(_, w)| w == Wait::Block) {
        return live().map(|(k, _)| (k, 0)).collect();
    }
    if live().all(|(_, w)| matches!(w, Wait::Count { .. })) {
        let yes = live().filter(|(_, w)| *w == Wait::Count { vote: true }).count();
        return live().map(|(k, _)| (k, yes as u64)).collect();
    }
    live().filter_map(|(k, wait)| answer(threads, k, wait).map(|a| (k, a))).collect()
}

/// What a thread that waits for its warp learns; none where another lane is still to come.
fn answer(threads: &[Option<Wait>], k: usize, wait: Wait) -> Option<u64> {
    let (mask, first) = (wait.mask()?, k / WARP * WARP);
    let lanes = &threads[first..threads.len().min(first + WARP)];
    let named =
        || lanes.iter().enumerate().filter(|(lane, _)| mask >> lane & 1 != 0).map(|(lane, w)| (lane, *w));
    if named().any(|(_, w)| w.is_some_and(|w| w.mask() != Some(mask))) {
        return None;
    }
    Some(match wait {
        Wait::Block | Wait::Warp { .. } | Wait::Count { .. } | Wait::Grid => 0,
        Wait::Match { bits, .. } => named()
            .filter(|(_, w)| matches!(w, Some(Wait::Match { bits: b, .. }) if *b == bits))
            .fold(0, |same, (lane, _)| same | 1 << lane),
        Wait::Shuffle { bits, lane, .. } => {
            let source = named().find(|(l, _)| *l == lane as usize % WARP);
            match source {
                Some((_, Some(Wait::Shuffle { bits, .. }))) => bits,
                Some(_) | None => bits,
            }
        }
        Wait::Ballot { .. } => named()
            .filter(|(_, w)| matches!(w, Some(Wait::Ballot { vote: true, .. })))
            .fold(0, |votes, (lane, _)| votes | 1 << lane),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_waits_for_whom() {
        let (block, warp) = (Some(Wait::Block), Some(Wait::Warp { mask: 3 }));
        assert_eq!(release(&[block, None, block]), [(0, 0), (2, 0)]);
        // A warp's threads go on while the others wait for the block.
        assert_eq!(release(&[warp, warp, block]), [(0, 0), (1, 0)]);
        assert_eq!(release(&[warp, None, block]), [(0, 0)]);
        // At places that never meet.
        assert_eq!(release(&[warp, block]), []);
        let shuffle = |bits, lane| Some(Wait::Shuffle { mask: 7, bits, lane });
        assert_eq!(release(&[shuffle(10, 1), shuffle(11, 2), shuffle(12, 5)]), [(0, 11), (1, 12), (2, 12)]);
        let ballot = |vote| Some(Wait::Ballot { mask: 7, vote });
        assert_eq!(release(&[ballot(true), ballot(false), ballot(true)]), [(0, 5), (1, 5), (2, 5)]);
        let same = |bits| Some(Wait::Match { mask: 7, bits });
        assert_eq!(release(&[same(4), same(9), same(4)]), [(0, 5), (1, 2), (2, 5)]);
        let count = |vote| Some(Wait::Count { vote });
        assert_eq!(release(&[count(true), None, count(false), count(true)]), [(0, 2), (2, 2), (3, 2)]);
        assert_eq!(release(&[count(true), block]), []);
        // Who waits for the grid is let go by whoever runs all of its blocks.
        assert_eq!(release(&[Some(Wait::Grid), Some(Wait::Grid)]), []);
    }
}
