//! Instructions of kernels, for NVIDIA GPUs.

use super::{Emitter, bug, built};
use inkwell::module::Linkage;
use inkwell::types::AsTypeRef;
use inkwell::values::{AsValueRef, BasicValueEnum, PointerValue};
use inkwell::{AddressSpace, AtomicOrdering, llvm_sys};
use tierup_core::diag::Result;
use tierup_core::lir::grid_op::GridOp;
use tierup_core::lir::{Ty, Value};

/// Where the memory of a block lies.
const SHARED: u16 = 3;

impl<'c> Emitter<'c, '_, '_> {
    /// The result, where the instruction has one.
    pub(super) fn grid(&self, op: GridOp, ty: Ty, args: &[Value]) -> Result<Option<BasicValueEnum<'c>>> {
        if !self.shared.options.target.is_gpu() {
            return Err(bug(format!("{} in code for a CPU", op.mnemonic())));
        }
        if let Some(name) = register(op) {
            return self.called(name, &[]).map(Some);
        }
        Ok(match op {
            GridOp::SharedBytes => Some(self.shared_bytes()?),
            GridOp::SharedMemory => Some(self.shared_memory(None)?.into()),
            // Not the form for threads that are all at one place: loops may stand twice.
            GridOp::Barrier => {
                let zero = self.shared.context.i32_type().const_zero();
                let wait = self.shared.intrinsic("llvm.nvvm.barrier.cta.sync.all", &[])?;
                built(self.b.build_call(wait, &[zero.into()], ""))?;
                None
            }
            GridOp::WarpBarrier => {
                let mask = self.value(args[0])?;
                let wait = self.shared.intrinsic("llvm.nvvm.bar.warp.sync", &[])?;
                built(self.b.build_call(wait, &[mask.into()], ""))?;
                None
            }
            GridOp::Ballot => {
                let (mask, vote) = (self.value(args[0])?, self.truth(args[1])?);
                Some(self.called("llvm.nvvm.vote.ballot.sync", &[mask, vote.into()])?)
            }
            GridOp::Shuffle => Some(self.shuffle(ty, args)?),
            GridOp::Match => {
                let name = if ty == Ty::I64 {
                    "llvm.nvvm.match.any.sync.i64"
                } else {
                    "llvm.nvvm.match.any.sync.i32"
                };
                Some(self.called(name, &self.list(args)?)?)
            }
            GridOp::BarrierCount => {
                let zero = self.shared.context.i32_type().const_zero().into();
                let vote = self.truth(args[0])?.into();
                Some(self.called("llvm.nvvm.barrier.cta.red.popc.all", &[zero, vote])?)
            }
            GridOp::ActiveMask => Some(self.called("llvm.nvvm.activemask", &[])?),
            GridOp::Nanosleep => {
                let pause = self.shared.intrinsic("llvm.nvvm.nanosleep", &[])?;
                built(self.b.build_call(pause, &[self.value(args[0])?.into()], ""))?;
                None
            }
            GridOp::HalfToFloat | GridOp::FloatToHalf => Some(self.half(op, args[0])?),
            // Written out where it is called, see `core::ops::cuda`.
            GridOp::GridBarrier => return Err(bug("a barrier of the grid on a GPU")),
            GridOp::FenceBlock => self.fence("llvm.nvvm.membar.cta")?,
            GridOp::FenceDevice => self.fence("llvm.nvvm.membar.gl")?,
            GridOp::FenceSystem => self.fence("llvm.nvvm.membar.sys")?,
            GridOp::AtomicCas => {
                let [at, old, new] = self.list(args)?[..] else { return Err(bug("operands of atomic_cas")) };
                let order = AtomicOrdering::Monotonic;
                let made = built(self.b.build_cmpxchg(
                    at.into_pointer_value(),
                    old.into_int_value(),
                    new.into_int_value(),
                    order,
                    order,
                ))?;
                self.of_device(made.as_value_ref());
                Some(built(self.b.build_extract_value(made, 0, ""))?)
            }
            GridOp::AtomicAdd
            | GridOp::AtomicExchange
            | GridOp::AtomicAnd
            | GridOp::AtomicOr
            | GridOp::AtomicXor
            | GridOp::AtomicSmin
            | GridOp::AtomicSmax
            | GridOp::AtomicUmin
            | GridOp::AtomicUmax => Some(self.update(op, ty, args)?),
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
            | GridOp::LaneIndex => return Err(bug("a number of a thread that no register holds")),
        })
    }

    /// What an intrinsic gives.
    fn called(&self, name: &str, args: &[BasicValueEnum<'c>]) -> Result<BasicValueEnum<'c>> {
        let callee = self.shared.intrinsic(name, &[])?;
        let args: Vec<_> = args.iter().map(|a| (*a).into()).collect();
        built(self.b.build_call(callee, &args, ""))?
            .try_as_basic_value()
            .basic()
            .ok_or_else(|| bug(format!("{name} gives nothing")))
    }

    /// A float of 16 bits, which is its bits elsewhere, from or to one of 32.
    fn half(&self, op: GridOp, x: Value) -> Result<BasicValueEnum<'c>> {
        let (context, x) = (self.shared.context, self.value(x)?);
        if op == GridOp::HalfToFloat {
            let half = built(self.b.build_bit_cast(x, context.f16_type(), ""))?.into_float_value();
            return Ok(built(self.b.build_float_ext(half, context.f32_type(), ""))?.into());
        }
        let half = built(self.b.build_float_trunc(x.into_float_value(), context.f16_type(), ""))?;
        built(self.b.build_bit_cast(half, context.i16_type(), ""))
    }

    /// The hardware exchanges 32 bits at a time.
    fn shuffle(&self, ty: Ty, args: &[Value]) -> Result<BasicValueEnum<'c>> {
        let [mask, value, lane] = self.list(args)?[..] else { return Err(bug("operands of shuffle")) };
        let (i32, i64) = (self.shared.context.i32_type(), self.shared.context.i64_type());
        // The whole warp is one segment.
        let clamp = i32.const_int(31, false).into();
        let half =
            |x: BasicValueEnum<'c>| self.called("llvm.nvvm.shfl.sync.idx.i32", &[mask, x, lane, clamp]);
        let target = self.shared.ty(ty);
        if ty.bytes() == 4 {
            let bits = built(self.b.build_bit_cast(value, i32, ""))?;
            return built(self.b.build_bit_cast(half(bits)?, target, ""));
        }
        let bits = built(self.b.build_bit_cast(value, i64, ""))?.into_int_value();
        let by = i64.const_int(32, false);
        let low = built(self.b.build_int_truncate(bits, i32, ""))?;
        let shifted = built(self.b.build_right_shift(bits, by, false, ""))?;
        let high = built(self.b.build_int_truncate(shifted, i32, ""))?;
        let widen = |x: BasicValueEnum<'c>| built(self.b.build_int_z_extend(x.into_int_value(), i64, ""));
        let (low, high) = (widen(half(low.into())?)?, widen(half(high.into())?)?);
        let high = built(self.b.build_left_shift(high, by, ""))?;
        let whole = built(self.b.build_or(low, high, ""))?;
        built(self.b.build_bit_cast(whole, target, ""))
    }

    fn fence(&self, name: &str) -> Result<Option<BasicValueEnum<'c>>> {
        built(self.b.build_call(self.shared.intrinsic(name, &[])?, &[], ""))?;
        Ok(None)
    }

    /// The register that holds it has no intrinsic.
    fn shared_bytes(&self) -> Result<BasicValueEnum<'c>> {
        let context = self.shared.context;
        let ty = context.i32_type().fn_type(&[], false);
        let asm = context.create_inline_asm(
            ty,
            "mov.u32 $0, %dynamic_smem_size;".into(),
            "=r".into(),
            false,
            false,
            None,
            false,
        );
        built(self.b.build_indirect_call(ty, asm, &[], ""))?
            .try_as_basic_value()
            .basic()
            .ok_or_else(|| bug("a register without a value"))
    }

    /// An address of memory of the block: a piece of that many bytes, or without a number what the launch
    /// gives, of which there is one for a module.
    pub(super) fn shared_memory(&self, bytes: Option<u32>) -> Result<PointerValue<'c>> {
        const DYNAMIC: &str = "tierup_dynamic_shared";
        let (context, module) = (self.shared.context, self.shared.module);
        let add = |name: &str| {
            let ty = context.i8_type().array_type(bytes.unwrap_or(0));
            let global = module.add_global(ty, Some(AddressSpace::from(SHARED)), name);
            global.set_alignment(16);
            if bytes.is_some() {
                global.set_linkage(Linkage::Internal);
                global.set_initializer(&ty.get_undef());
            }
            global
        };
        let global = match bytes {
            Some(_) => add("shared"),
            None => module.get_global(DYNAMIC).unwrap_or_else(|| add(DYNAMIC)),
        };
        let generic = context.ptr_type(AddressSpace::default());
        built(self.b.build_address_space_cast(global.as_pointer_value(), generic, ""))
    }

    fn update(&self, op: GridOp, ty: Ty, args: &[Value]) -> Result<BasicValueEnum<'c>> {
        use llvm_sys::LLVMAtomicOrdering::LLVMAtomicOrderingMonotonic;
        use llvm_sys::LLVMAtomicRMWBinOp as Bin;
        let [at, x] = self.list(args)?[..] else { return Err(bug("operands of an update")) };
        let kind = match op {
            GridOp::AtomicAdd if ty.is_float() => Bin::LLVMAtomicRMWBinOpFAdd,
            GridOp::AtomicAdd => Bin::LLVMAtomicRMWBinOpAdd,
            GridOp::AtomicExchange => Bin::LLVMAtomicRMWBinOpXchg,
            GridOp::AtomicAnd => Bin::LLVMAtomicRMWBinOpAnd,
            GridOp::AtomicOr => Bin::LLVMAtomicRMWBinOpOr,
            GridOp::AtomicXor => Bin::LLVMAtomicRMWBinOpXor,
            GridOp::AtomicSmin => Bin::LLVMAtomicRMWBinOpMin,
            GridOp::AtomicSmax => Bin::LLVMAtomicRMWBinOpMax,
            GridOp::AtomicUmin => Bin::LLVMAtomicRMWBinOpUMin,
            GridOp::AtomicUmax => Bin::LLVMAtomicRMWBinOpUMax,
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
            | GridOp::Barrier
            | GridOp::FenceBlock
            | GridOp::FenceDevice
            | GridOp::FenceSystem
            | GridOp::WarpBarrier
            | GridOp::Shuffle
            | GridOp::Ballot
            | GridOp::Match
            | GridOp::BarrierCount
            | GridOp::GridBarrier
            | GridOp::ActiveMask
            | GridOp::Nanosleep
            | GridOp::HalfToFloat
            | GridOp::FloatToHalf
            | GridOp::AtomicCas => return Err(bug(format!("{} is no update", op.mnemonic()))),
        };
        // SAFETY: a builder in a block, and two values of this context; the result is an instruction of the
        // operand's type. inkwell's own function takes no floats.
        unsafe {
            let made = llvm_sys::core::LLVMBuildAtomicRMW(
                self.b.as_mut_ptr(),
                kind,
                at.as_value_ref(),
                x.as_value_ref(),
                LLVMAtomicOrderingMonotonic,
                0,
            );
            self.of_device(made);
            Ok(BasicValueEnum::new(made))
        }
    }

    /// Threads of other devices and of the host do not take part.
    fn of_device(&self, inst: llvm_sys::prelude::LLVMValueRef) {
        const SCOPE: &[u8] = b"device";
        // SAFETY: an atomic instruction of this context, and a name with its length.
        unsafe {
            let context = llvm_sys::core::LLVMGetTypeContext(self.shared.context.i8_type().as_type_ref());
            let scope = llvm_sys::core::LLVMGetSyncScopeID(context, SCOPE.as_ptr().cast(), SCOPE.len());
            llvm_sys::core::LLVMSetAtomicSyncScopeID(inst, scope);
        }
    }
}

/// The intrinsic that reads a number of the thread's place.
fn register(op: GridOp) -> Option<&'static str> {
    Some(match op {
        GridOp::ThreadIndexX => "llvm.nvvm.read.ptx.sreg.tid.x",
        GridOp::ThreadIndexY => "llvm.nvvm.read.ptx.sreg.tid.y",
        GridOp::ThreadIndexZ => "llvm.nvvm.read.ptx.sreg.tid.z",
        GridOp::BlockIndexX => "llvm.nvvm.read.ptx.sreg.ctaid.x",
        GridOp::BlockIndexY => "llvm.nvvm.read.ptx.sreg.ctaid.y",
        GridOp::BlockIndexZ => "llvm.nvvm.read.ptx.sreg.ctaid.z",
        GridOp::BlockSizeX => "llvm.nvvm.read.ptx.sreg.ntid.x",
        GridOp::BlockSizeY => "llvm.nvvm.read.ptx.sreg.ntid.y",
        GridOp::BlockSizeZ => "llvm.nvvm.read.ptx.sreg.ntid.z",
        GridOp::GridSizeX => "llvm.nvvm.read.ptx.sreg.nctaid.x",
        GridOp::GridSizeY => "llvm.nvvm.read.ptx.sreg.nctaid.y",
        GridOp::GridSizeZ => "llvm.nvvm.read.ptx.sreg.nctaid.z",
        GridOp::LaneIndex => "llvm.nvvm.read.ptx.sreg.laneid",
        GridOp::SharedBytes
        | GridOp::SharedMemory
        | GridOp::Barrier
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
        | GridOp::WarpBarrier
        | GridOp::Shuffle
        | GridOp::Ballot
        | GridOp::Match
        | GridOp::BarrierCount
        | GridOp::GridBarrier
        | GridOp::ActiveMask
        | GridOp::Nanosleep
        | GridOp::HalfToFloat
        | GridOp::FloatToHalf
        | GridOp::AtomicCas => return None,
    })
}
