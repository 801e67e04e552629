//! Grids: a kernel run once for each thread. The threads of a block take turns, each up to its end or to the
//! next barrier; blocks run one after another. Any order would do: what depends on it is a race.

use super::{Interp, Pause, Stop, Thread, load, store};
use crate::grid::{WARP, Wait, release};
use crate::lir::{GridOp, Slot, Ty, half};
use std::cell::RefCell;
use std::collections::HashMap;

/// How large a grid is.
#[derive(Clone, Copy, Debug)]
pub struct Grid {
    /// Blocks along x, y and z.
    pub blocks: [u32; 3],
    /// Threads of a block.
    pub threads: [u32; 3],
    /// Bytes of shared memory of a block beside what the kernel declares.
    pub shared_bytes: u32,
}

/// Where a thread is, and what it shares with its block.
pub(super) struct Place<'b> {
    thread: [u32; 3],
    block: [u32; 3],
    grid: Grid,
    memory: &'b BlockMemory,
}

/// What the threads of a block share: slots by function and number, and the memory of the launch.
struct BlockMemory {
    slots: RefCell<HashMap<(usize, Slot), Vec<u128>>>,
    sizes: HashMap<(usize, Slot), usize>,
    dynamic: Vec<u128>,
}

pub(super) enum Stepped {
    Value(u64),
    Nothing,
    Wait(Wait),
}

fn units(bytes: u32) -> usize {
    (bytes as usize).div_ceil(16)
}

pub(super) fn shared_slot(at: Option<&Place<'_>>, func: usize, slot: Slot) -> Result<u64, Stop> {
    let memory = at.ok_or_else(|| Stop::Grid("shared memory outside of a grid".into()))?.memory;
    let mut slots = memory.slots.borrow_mut();
    let piece = slots
        .entry((func, slot))
        .or_insert_with(|| vec![0; memory.sizes.get(&(func, slot)).copied().unwrap_or(0)]);
    Ok(piece.as_ptr() as u64)
}

/// What an instruction of kernels gives to a thread.
pub(super) fn step(op: GridOp, ty: Ty, args: &[u64], at: Option<&Place<'_>>) -> Result<Stepped, Stop> {
    let place = at.ok_or_else(|| Stop::Grid(format!("{} outside of a grid", op.mnemonic())))?;
    let Place { thread, block, grid, memory } = place;
    if let Some(k) = op.number() {
        let [x, y, z] = *thread;
        let lane = (x + grid.threads[0] * (y + grid.threads[1] * z)) % WARP as u32;
        let rest = [grid.shared_bytes, lane];
        let numbers = [thread.as_slice(), block, &grid.threads, &grid.blocks, &rest].concat();
        return Ok(Stepped::Value(Ty::I32.canonical(numbers[k].into())));
    }
    if op == GridOp::SharedMemory {
        return Ok(Stepped::Value(memory.dynamic.as_ptr() as u64));
    }
    let mask = args.first().map_or(0, |m| *m as u32);
    match op {
        GridOp::Barrier => return Ok(Stepped::Wait(Wait::Block)),
        GridOp::WarpBarrier => return Ok(Stepped::Wait(Wait::Warp { mask })),
        GridOp::Shuffle => {
            return Ok(Stepped::Wait(Wait::Shuffle { mask, bits: args[1], lane: args[2] as u32 }));
        }
        GridOp::Ballot => return Ok(Stepped::Wait(Wait::Ballot { mask, vote: args[1] != 0 })),
        GridOp::Match => return Ok(Stepped::Wait(Wait::Match { mask, bits: args[1] })),
        GridOp::BarrierCount => return Ok(Stepped::Wait(Wait::Count { vote: args[0] != 0 })),
        // One thread runs at a time.
        GridOp::ActiveMask => {
            let [x, y, z] = *thread;
            let lane = (x + grid.threads[0] * (y + grid.threads[1] * z)) % WARP as u32;
            return Ok(Stepped::Value(Ty::I32.canonical(1 << lane)));
        }
        GridOp::Nanosleep => return Ok(Stepped::Nothing),
        GridOp::HalfToFloat => return Ok(Stepped::Value(half::to_float(args[0] as u16).to_bits().into())),
        GridOp::FloatToHalf => {
            let bits = half::from_float(f32::from_bits(args[0] as u32));
            return Ok(Stepped::Value(Ty::I16.canonical(bits.into())));
        }
        GridOp::GridBarrier if grid.blocks == [1; 3] => return Ok(Stepped::Wait(Wait::Block)),
        GridOp::GridBarrier => return Err(Stop::Grid("blocks run one after another here".into())),
        GridOp::ThreadIndexX
        | GridOp::ThreadIndexY
        | GridOp::ThreadIndexZ
        | GridOp::BlockIndexX
        | GridOp::BlockIndexY
        | GridOp::BlockIndexZ
        | GridOp::BlockSizeX
        | GridOp::BlockSizeY
        | GridOp::BlockSizeZ
        | GridOp::GridSizeX
        | GridOp::GridSizeY
        | GridOp::GridSizeZ
        | GridOp::SharedBytes
        | GridOp::LaneIndex
        | GridOp::SharedMemory
        | GridOp::FenceBlock
        | GridOp::FenceDevice
        | GridOp::FenceSystem
        | GridOp::AtomicAdd
        | GridOp::AtomicExchange
        | GridOp::AtomicAnd
        | GridOp::AtomicOr
        | GridOp::AtomicXor
        | GridOp::AtomicSmin
        | GridOp::AtomicSmax
        | GridOp::AtomicUmin
        | GridOp::AtomicUmax
        | GridOp::AtomicCas => {}
    }
    let Some((addr, operands)) = args.split_first() else { return Ok(Stepped::Nothing) };
    // SAFETY: as for loads and stores.
    let old = unsafe { load(ty, *addr) };
    // SAFETY: as above.
    unsafe { store(ty, *addr, op.updated(ty, old, operands)) };
    Ok(Stepped::Value(old))
}

/// The points of a box, along x first.
fn points(size: [u32; 3]) -> impl Iterator<Item = [u32; 3]> {
    let [x, y, z] = size;
    (0..z).flat_map(move |k| (0..y).flat_map(move |j| (0..x).map(move |i| [i, j, k])))
}

impl Interp<'_> {
    /// Runs a function once for each thread of a grid, always with these arguments; gives what each gave, in
    /// the order of blocks and threads along x first.
    pub fn call_grid(&self, name: &str, grid: Grid, args: &[u64]) -> Result<Vec<Vec<u64>>, Stop> {
        let func = *self.by_name.get(name).ok_or_else(|| Stop::UnknownFunction(name.into()))?;
        let mut all = vec![];
        for block in points(grid.blocks) {
            let memory = BlockMemory {
                slots: RefCell::default(),
                sizes: self.shared_sizes(),
                dynamic: vec![0; units(grid.shared_bytes)],
            };
            all.extend(self.run_block(func, block, grid, &memory, args)?);
        }
        Ok(all)
    }

    fn shared_sizes(&self) -> HashMap<(usize, Slot), usize> {
        let slots = |(f, p): (usize, &super::Prepared)| -> Vec<((usize, Slot), usize)> {
            let all = p.func.slots.iter().enumerate();
            all.filter(|(_, s)| s.shared).map(|(k, s)| ((f, Slot::new(k)), units(s.bytes))).collect()
        };
        self.funcs.iter().enumerate().flat_map(slots).collect()
    }

    fn run_block(
        &self,
        func: usize,
        block: [u32; 3],
        grid: Grid,
        memory: &BlockMemory,
        args: &[u64],
    ) -> Result<Vec<Vec<u64>>, Stop> {
        let mut threads: Vec<(Place<'_>, Thread)> = points(grid.threads)
            .map(|thread| Ok((Place { thread, block, grid, memory }, self.thread(func, args)?)))
            .collect::<Result<_, Stop>>()?;
        let (mut waits, mut results) = (vec![None; threads.len()], vec![vec![]; threads.len()]);
        let mut ready: Vec<usize> = (0..threads.len()).collect();
        loop {
            for k in ready {
                let (place, thread) = &mut threads[k];
                match self.resume(thread, Some(place))? {
                    Pause::Done(given) => (waits[k], results[k]) = (None, given),
                    Pause::Waits(wait) => waits[k] = Some(wait),
                }
            }
            if waits.iter().all(Option::is_none) {
                return Ok(results);
            }
            let released = release(&waits);
            if released.is_empty() {
                return Err(Stop::Grid("threads wait for each other at places that never meet".into()));
            }
            ready = released.iter().map(|(k, _)| *k).collect();
            for (k, learned) in released {
                threads[k].1.learned = Some(learned);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lir::parse_module;

    fn helpers(_: &'static crate::rt::RtFn) -> *const u8 {
        std::ptr::null()
    }

    /// Threads of a block reverse what each has put into shared memory, and count themselves.
    const REVERSE: &str = "func @reverse(ptr, ptr) -> i64 {\n slot0 = slot 64 shared\nblock0(v0: ptr, v1: ptr):
 v2 = stack_addr slot0\n v3 = thread_index_x\n v4 = zext.i64 v3\n v5 = const.i64 3\n v6 = ishl.i64 v4, v5\n v7 = ptr_add.ptr v2, v6\n v8 = block_index_x\n v9 = zext.i64 v8
 v10 = const.i64 100\n v11 = imul.i64 v9, v10\n v12 = iadd.i64 v11, v4\n store.i64 array v12, v7\n barrier\n v13 = const.i64 56\n v14 = isub.i64 v13, v6\n v15 = ptr_add.ptr v2, v14
 v16 = load.i64 array v15\n v17 = const.i64 1\n v18 = atomic_add.i64 v1, v17\n return v16\n}";

    #[test]
    fn threads_wait_for_each_other_and_share() {
        let module = parse_module(REVERSE, &[]).expect("parses");
        crate::lir::verify_module(&module).expect("is right");
        let mut interp = Interp::new(&helpers);
        interp.add(&module);
        let mut count = 0u64;
        let grid = Grid { blocks: [2, 1, 1], threads: [8, 1, 1], shared_bytes: 0 };
        let got = interp.call_grid("reverse", grid, &[0, &raw mut count as u64]).expect("runs");
        let want: Vec<Vec<u64>> = (0..16).map(|k| vec![100 * (k / 8) + 7 - k % 8]).collect();
        assert_eq!((got, count), (want, 16));
        assert!(matches!(interp.call("reverse", &[0, 0]), Err(Stop::Grid(_))));
    }

    #[test]
    fn lanes_of_a_warp_exchange_values() {
        let text = "func @next(ptr) -> i64, i64 {\nblock0(v0: ptr):\n v1 = lane_index\n v2 = const.i32 -1\n v3 = zext.i64 v1\n v4 = const.i32 1\n v5 = iadd.i32 v1, v4
 v6 = shuffle.i64 v2, v3, v5\n v7 = itrunc.i8 v1\n v8 = const.i8 1\n v9 = band.i8 v7, v8\n v10 = ballot v2, v9\n v11 = zext.i64 v10\n warp_barrier v2\n return v6, v11\n}";
        let module = parse_module(text, &[]).expect("parses");
        crate::lir::verify_module(&module).expect("is right");
        let mut interp = Interp::new(&helpers);
        interp.add(&module);
        let grid = Grid { blocks: [1, 1, 1], threads: [8, 5, 1], shared_bytes: 0 };
        let got = interp.call_grid("next", grid, &[0]).expect("runs");
        // A warp of 32 threads, and one of 8, whose last finds nobody after it.
        let want =
            |k: u64| if k < 32 { vec![(k + 1) % 32, 0xaaaa_aaaa] } else { vec![(k - 31).min(7), 0xaa] };
        assert_eq!(got, (0..40).map(want).collect::<Vec<_>>());
    }
}
