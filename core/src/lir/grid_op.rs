//! The instructions that only kernels have: what a thread of a grid asks about itself, how threads wait for
//! each other, how they change memory that others change too. The interpreter says what they mean
//! ([`crate::interp::grid`]), [`super::grid`] what becomes of them on a CPU.

use super::inst::{Op, eval};
use super::ty::Ty;
use crate::layout::GridThread;

/// How operands and result of a row are typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GridShape {
    /// `() -> i32`.
    Index,
    /// `() -> ptr`.
    Memory,
    /// `() -> ()`.
    Order,
    /// `(ptr, T) -> T`, T of 4 or 8 bytes.
    Update,
    /// `(ptr, T) -> T`, T an integer of 4 or 8 bytes.
    IntUpdate,
    /// `(ptr, T, T) -> T`, T an integer of 4 or 8 bytes.
    Exchange,
    /// `(i32) -> ()`.
    Warp,
    /// `(i32, T, i32) -> T`, T of 4 or 8 bytes.
    Shuffle,
    /// `(i32, i8) -> i32`.
    Vote,
    /// `(i32, T) -> i32`, T an integer of 4 or 8 bytes.
    Match,
    /// `(i8) -> i32`.
    Count,
    /// `() -> i32`, which differs from one time to the next.
    Now,
    /// `(ptr) -> ()`.
    Grid,
    /// `(i32) -> ()`.
    Pause,
    /// `(i16) -> f32`.
    Widen,
    /// `(f32) -> i16`.
    Narrow,
}

macro_rules! grid_ops {
    ($( $shape:ident { $( $(#[doc = $doc:expr])+ $Op:ident = $mnemonic:literal; )+ } )+) => {
        /// An instruction that only kernels have.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum GridOp { $($( $(#[doc = $doc])+ $Op, )+)+ }

        impl GridOp {
            /// Every instruction of the table, in its order.
            pub const ALL: &'static [GridOp] = &[$($(GridOp::$Op),+),+];
            pub fn mnemonic(self) -> &'static str { match self { $($(GridOp::$Op => $mnemonic),+),+ } }
            pub fn doc(self) -> &'static str { match self { $($(GridOp::$Op => concat!($($doc),+)),+),+ } }
            pub fn shape(self) -> GridShape { match self { $($(GridOp::$Op => GridShape::$shape),+),+ } }
        }
    };
}
grid_ops! {
    Index {
        /// Which thread of its block this is, along x.
        ThreadIndexX = "thread_index_x";
        /// The same along y.
        ThreadIndexY = "thread_index_y";
        /// The same along z.
        ThreadIndexZ = "thread_index_z";
        /// Which block of the grid this is, along x.
        BlockIndexX = "block_index_x";
        /// The same along y.
        BlockIndexY = "block_index_y";
        /// The same along z.
        BlockIndexZ = "block_index_z";
        /// Threads of a block along x.
        BlockSizeX = "block_size_x";
        /// The same along y.
        BlockSizeY = "block_size_y";
        /// The same along z.
        BlockSizeZ = "block_size_z";
        /// Blocks of the grid along x.
        GridSizeX = "grid_size_x";
        /// The same along y.
        GridSizeY = "grid_size_y";
        /// The same along z.
        GridSizeZ = "grid_size_z";
        /// Bytes of the block's shared memory whose size is said at the launch.
        SharedBytes = "shared_bytes";
        /// Which thread of its warp this is, 0 to 31.
        LaneIndex = "lane_index";
    }
    Memory {
        /// The block's shared memory whose size is said at the launch; 16 bytes aligned.
        SharedMemory = "shared_memory";
    }
    Order {
        /// Waits until all threads of the block that have not ended wait here; what any wrote before, all see
        /// after.
        Barrier = "barrier";
        /// What this thread wrote before, the block sees before what it writes after.
        FenceBlock = "fence_block";
        /// The same for the whole device.
        FenceDevice = "fence_device";
        /// The same for the device and the host.
        FenceSystem = "fence_system";
    }
    Update {
        /// Adds to memory, at once for all threads; gives what was there.
        AtomicAdd = "atomic_add";
        /// Puts a value into memory; gives what was there.
        AtomicExchange = "atomic_exchange";
    }
    IntUpdate {
        /// Bitwise and.
        AtomicAnd = "atomic_and";
        /// Bitwise or.
        AtomicOr = "atomic_or";
        /// Bitwise exclusive or.
        AtomicXor = "atomic_xor";
        /// Signed minimum.
        AtomicSmin = "atomic_smin";
        /// Signed maximum.
        AtomicSmax = "atomic_smax";
        /// Unsigned minimum.
        AtomicUmin = "atomic_umin";
        /// Unsigned maximum.
        AtomicUmax = "atomic_umax";
    }
    Warp {
        /// Waits for the threads of the warp that the bits name, as `barrier` does for the block.
        WarpBarrier = "warp_barrier";
    }
    Shuffle {
        /// Waits likewise, then takes the second operand of the lane that the third names, modulo 32; its own
        /// where the bits do not name that lane or its thread has ended.
        Shuffle = "shuffle";
    }
    Vote {
        /// Waits likewise; a bit for each thread that the first operand names and whose second is not 0.
        Ballot = "ballot";
    }
    Match {
        /// Waits likewise; a bit for each thread that the first operand names and whose second is this one's.
        Match = "match";
    }
    Count {
        /// Waits as `barrier` does; how many of the threads have an operand that is not 0.
        BarrierCount = "barrier_count";
    }
    Grid {
        /// Waits as `barrier` does for all threads of the grid, whose blocks must all run at once. The operand
        /// is the function's context; on a GPU the word by which threads wait.
        GridBarrier = "grid_barrier";
    }
    Now {
        /// A bit for each thread of the warp that is here at this moment, which promises nothing.
        ActiveMask = "active_mask";
    }
    Pause {
        /// Waits about so many nanoseconds.
        Nanosleep = "nanosleep";
    }
    Widen {
        /// The float with the value of these bits of a float of 16 bits.
        HalfToFloat = "half_to_float";
    }
    Narrow {
        /// The bits of the nearest float of 16 bits, ties to even.
        FloatToHalf = "float_to_half";
    }
    Exchange {
        /// Puts the third operand into memory where the second is there; gives what was there.
        AtomicCas = "atomic_cas";
    }
}

impl GridOp {
    /// Depends on nothing but the thread, and does nothing.
    pub(crate) fn is_pure(self) -> bool {
        match self.shape() {
            GridShape::Index | GridShape::Memory | GridShape::Widen | GridShape::Narrow => true,
            GridShape::Order
            | GridShape::Update
            | GridShape::IntUpdate
            | GridShape::Exchange
            | GridShape::Warp
            | GridShape::Shuffle
            | GridShape::Vote
            | GridShape::Match
            | GridShape::Count
            | GridShape::Grid
            | GridShape::Now
            | GridShape::Pause => false,
        }
    }

    /// Whether threads wait for others there.
    pub(crate) fn waits(self) -> bool {
        match self.shape() {
            GridShape::Warp
            | GridShape::Shuffle
            | GridShape::Vote
            | GridShape::Match
            | GridShape::Grid
            | GridShape::Count => true,
            GridShape::Order => self == GridOp::Barrier,
            GridShape::Index
            | GridShape::Memory
            | GridShape::Update
            | GridShape::IntUpdate
            | GridShape::Exchange
            | GridShape::Now
            | GridShape::Widen
            | GridShape::Narrow
            | GridShape::Pause => false,
        }
    }

    /// Whether the text names a type, that of the memory that is changed.
    pub fn has_suffix(self) -> bool {
        match self.shape() {
            GridShape::Index
            | GridShape::Memory
            | GridShape::Order
            | GridShape::Warp
            | GridShape::Vote
            | GridShape::Count
            | GridShape::Grid
            | GridShape::Now
            | GridShape::Widen
            | GridShape::Narrow
            | GridShape::Pause => false,
            GridShape::Update
            | GridShape::IntUpdate
            | GridShape::Exchange
            | GridShape::Shuffle
            | GridShape::Match => true,
        }
    }

    /// The type that stands in an instruction whose text names none.
    pub(crate) fn own_type(self) -> Ty {
        if self.shape() == GridShape::Memory { Ty::Ptr } else { Ty::I32 }
    }

    pub(crate) fn result(self, ty: Ty) -> Option<Ty> {
        match self.shape() {
            GridShape::Index | GridShape::Vote | GridShape::Match | GridShape::Count | GridShape::Now => {
                Some(Ty::I32)
            }
            GridShape::Memory => Some(Ty::Ptr),
            GridShape::Widen => Some(Ty::F32),
            GridShape::Narrow => Some(Ty::I16),
            GridShape::Order | GridShape::Warp | GridShape::Pause | GridShape::Grid => None,
            GridShape::Update | GridShape::IntUpdate | GridShape::Exchange | GridShape::Shuffle => Some(ty),
        }
    }

    /// Types of the operands where the instruction is for memory of type `ty`; an error where it is for none
    /// such.
    pub fn operands(self, ty: Ty) -> Result<Vec<Ty>, String> {
        let wide = ty.bytes() >= 4 && ty != Ty::Ptr;
        let (ok, operands) = match self.shape() {
            GridShape::Index | GridShape::Memory | GridShape::Order | GridShape::Now => {
                (ty == self.own_type(), vec![])
            }
            GridShape::Update => (wide, vec![Ty::Ptr, ty]),
            GridShape::IntUpdate => (wide && ty.is_int(), vec![Ty::Ptr, ty]),
            GridShape::Exchange => (wide && ty.is_int(), vec![Ty::Ptr, ty, ty]),
            GridShape::Warp | GridShape::Pause => (ty == self.own_type(), vec![Ty::I32]),
            GridShape::Grid => (ty == self.own_type(), vec![Ty::Ptr]),
            GridShape::Match => (wide && ty.is_int(), vec![Ty::I32, ty]),
            GridShape::Count => (ty == self.own_type(), vec![Ty::I8]),
            GridShape::Shuffle => (wide, vec![Ty::I32, ty, Ty::I32]),
            GridShape::Vote => (ty == self.own_type(), vec![Ty::I32, Ty::I8]),
            GridShape::Widen => (ty == self.own_type(), vec![Ty::I16]),
            GridShape::Narrow => (ty == self.own_type(), vec![Ty::F32]),
        };
        if ok { Ok(operands) } else { Err(format!("{} has no form for {ty}", self.mnemonic())) }
    }

    /// The pure instruction by which an update makes the new value of the old one; none where it takes the
    /// operand itself.
    pub(super) fn combines(self, ty: Ty) -> Option<Op> {
        Some(match self {
            GridOp::AtomicAdd => {
                if ty.is_float() {
                    Op::Fadd
                } else {
                    Op::Iadd
                }
            }
            GridOp::AtomicAnd => Op::Band,
            GridOp::AtomicOr => Op::Bor,
            GridOp::AtomicXor => Op::Bxor,
            GridOp::AtomicSmin => Op::Smin,
            GridOp::AtomicSmax => Op::Smax,
            GridOp::AtomicUmin => Op::Umin,
            GridOp::AtomicUmax => Op::Umax,
            GridOp::AtomicExchange
            | GridOp::AtomicCas
            | GridOp::ThreadIndexX
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
            | GridOp::SharedMemory
            | GridOp::SharedBytes
            | GridOp::LaneIndex
            | GridOp::WarpBarrier
            | GridOp::Shuffle
            | GridOp::Ballot
            | GridOp::Match
            | GridOp::Barrier
            | GridOp::BarrierCount
            | GridOp::GridBarrier
            | GridOp::ActiveMask
            | GridOp::Nanosleep
            | GridOp::HalfToFloat
            | GridOp::FloatToHalf
            | GridOp::FenceBlock
            | GridOp::FenceDevice
            | GridOp::FenceSystem => return None,
        })
    }

    /// What an update puts into memory where `old` is; all as canonical bits of `ty`.
    pub(crate) fn updated(self, ty: Ty, old: u64, operands: &[u64]) -> u64 {
        match self.combines(ty) {
            Some(op) => eval(op, ty, ty, &[old, operands[0]]),
            None if self == GridOp::AtomicCas => {
                if old == operands[0] {
                    operands[1]
                } else {
                    old
                }
            }
            None => operands[0],
        }
    }

    /// Which of the numbers of a thread's place answers a question, counted as the fields of a
    /// [`GridThread`] lie; none for what is no question.
    pub(crate) fn number(self) -> Option<usize> {
        if self.shape() == GridShape::Index { self.field().map(|at| at / 4) } else { None }
    }

    /// Where a [`GridThread`] holds the answer to a question.
    pub(crate) fn field(self) -> Option<usize> {
        use std::mem::offset_of;
        let at = |base: usize, axis: usize| Some(base + 4 * axis);
        match self {
            GridOp::ThreadIndexX => at(offset_of!(GridThread, thread), 0),
            GridOp::ThreadIndexY => at(offset_of!(GridThread, thread), 1),
            GridOp::ThreadIndexZ => at(offset_of!(GridThread, thread), 2),
            GridOp::BlockIndexX => at(offset_of!(GridThread, block), 0),
            GridOp::BlockIndexY => at(offset_of!(GridThread, block), 1),
            GridOp::BlockIndexZ => at(offset_of!(GridThread, block), 2),
            GridOp::BlockSizeX => at(offset_of!(GridThread, block_size), 0),
            GridOp::BlockSizeY => at(offset_of!(GridThread, block_size), 1),
            GridOp::BlockSizeZ => at(offset_of!(GridThread, block_size), 2),
            GridOp::GridSizeX => at(offset_of!(GridThread, grid_size), 0),
            GridOp::GridSizeY => at(offset_of!(GridThread, grid_size), 1),
            GridOp::GridSizeZ => at(offset_of!(GridThread, grid_size), 2),
            GridOp::SharedMemory => Some(offset_of!(GridThread, dynamic_shared)),
            GridOp::SharedBytes => Some(offset_of!(GridThread, dynamic_bytes)),
            GridOp::LaneIndex => Some(offset_of!(GridThread, lane)),
            GridOp::Barrier
            | GridOp::BarrierCount
            | GridOp::GridBarrier
            | GridOp::ActiveMask
            | GridOp::Nanosleep
            | GridOp::HalfToFloat
            | GridOp::FloatToHalf
            | GridOp::WarpBarrier
            | GridOp::Shuffle
            | GridOp::Ballot
            | GridOp::Match
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
            | GridOp::AtomicCas => None,
        }
    }
}
