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
}

/// Threads of a warp.
pub const WARP: usize = 32;

impl Wait {
    fn mask(self) -> Option<u32> {
        match self {
            Wait::Block => None,
            Wait::Warp { mask } | Wait::Shuffle { mask, .. } | Wait::Ballot { mask, .. } => Some(mask),
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
        Wait::Block | Wait::Warp { .. } => 0,
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
    }
}
