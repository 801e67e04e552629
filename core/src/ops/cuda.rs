//! Kernels: where a thread is in the grid, how threads of a block wait for each other, memory that they
//! share, and changes of memory that many threads make at once. What the threads of a warp do together is in
//! [`super::cuda_warp`].
//!
//! Everything here is refused outside of kernels, at its line.

use super::index::element_address;
use super::{Body, OpDef};
use crate::diag::{Code, Diagnostic, Result};
use crate::emit::arrays::ArrayVal;
use crate::emit::cast;
use crate::emit::cx::{LowerCx, OpCall, Val};
use crate::lir::grid_op::GridOp;
use crate::lir::{Alias, InstData, Op, Ty, Value};
use crate::ops::dtype::dtype_arg;
use crate::types::{ArrayType, Const, Float, Int, Kind, Layout, NumberType, Type};
use crate::typing::{Answer, Arg, TyCx, no_match};

/// A number of the thread's place as a property of a module's object: `cuda.threadIdx.x`.
macro_rules! place {
    ($path:literal, $op:ident, $doc:literal) => {
        OpDef::new(
            &[concat!("tierup.cuda.", $path)],
            "",
            Body::Lir(int_rule, |cx, _| Ok(vec![number(cx, GridOp::$op)?])),
        )
        .property()
        .doc($doc)
    };
}

/// An update of an element: `cuda.atomic.add(a, i, x)`.
macro_rules! update {
    ($name:literal, $update:expr, $doc:literal) => {
        OpDef::new(
            &[concat!("tierup.cuda.atomic.", $name)],
            "ary, idx, val",
            Body::Lir(|cx, a| update_rule(cx, a, $update), |cx, c| emit_update(cx, c, $update)),
        )
        .raises()
        .writes()
        .doc($doc)
    };
}

/// A barrier at which the threads of the block vote.
macro_rules! count {
    ($name:literal, $ret:expr, $emit:expr, $doc:literal) => {
        OpDef::new(
            &[concat!("tierup.cuda.", $name)],
            "predicate",
            Body::Lir(
                |_, a| {
                    if !a[0].ty.is_number() || a[0].ty.is_complex() {
                        return Err(no_match(concat!("cuda.", $name, "()"), a));
                    }
                    Ok(Answer::of($ret))
                },
                |cx, c| {
                    in_kernel(cx, concat!("cuda.", $name, "()"))?;
                    let emit: fn(&mut LowerCx<'_>, Value) -> Value = $emit;
                    let truth = cast::truth(cx, c.args[0][0], c.types[0]);
                    Ok(vec![emit(cx, truth)])
                },
            ),
        )
        .writes()
        .doc($doc)
    };
}

/// A barrier or a fence.
macro_rules! order {
    ($name:literal, $op:ident, $doc:literal) => {
        OpDef::new(
            &[concat!("tierup.cuda.", $name)],
            "",
            Body::Lir(none_rule, |cx, _| {
                in_kernel(cx, concat!("cuda.", $name, "()"))?;
                cx.b.grid(GridOp::$op, GridOp::$op.own_type(), &[]);
                Ok(vec![])
            }),
        )
        .writes()
        .doc($doc)
    };
}

pub(crate) static OPS: &[OpDef] = &[
    place!("threadIdx.x", ThreadIndexX, "Which thread of its block this is, along x."),
    place!("threadIdx.y", ThreadIndexY, "The same along y."),
    place!("threadIdx.z", ThreadIndexZ, "The same along z."),
    place!("blockIdx.x", BlockIndexX, "Which block of the grid this is, along x."),
    place!("blockIdx.y", BlockIndexY, "The same along y."),
    place!("blockIdx.z", BlockIndexZ, "The same along z."),
    place!("blockDim.x", BlockSizeX, "Threads of a block along x."),
    place!("blockDim.y", BlockSizeY, "The same along y."),
    place!("blockDim.z", BlockSizeZ, "The same along z."),
    place!("gridDim.x", GridSizeX, "Blocks of the grid along x."),
    place!("gridDim.y", GridSizeY, "The same along y."),
    place!("gridDim.z", GridSizeZ, "The same along z."),
    OpDef::new(
        &["tierup.cuda.grid"],
        "ndim",
        Body::Lir(|_, a| box_rule("grid", a), |cx, c| emit_box(cx, c, grid_index)),
    )
    .wants_constants()
    .doc("Which thread of the whole grid this is: a number, or one for each of 2 or 3 axes."),
    OpDef::new(
        &["tierup.cuda.gridsize"],
        "ndim",
        Body::Lir(|_, a| box_rule("gridsize", a), |cx, c| emit_box(cx, c, grid_threads)),
    )
    .wants_constants()
    .doc("Threads of the whole grid: a number, or one for each of 2 or 3 axes."),
    order!(
        "syncthreads",
        Barrier,
        "Waits for all threads of the block; what they wrote before, all see after."
    ),
    count!(
        "syncthreads_count",
        Type::int_of(Int::I32),
        |cx, truth| counted(cx, truth),
        "Waits as `syncthreads` does; how many threads of the block have a predicate that holds."
    ),
    count!(
        "syncthreads_and",
        Type::bool(),
        |cx, truth| {
            let against = cx.not(truth);
            let votes = counted(cx, against);
            let zero = cx.b.iconst(Ty::I32, 0);
            cx.b.bin(Op::IcmpEq, votes, zero)
        },
        "Waits likewise; whether the predicates of all threads hold."
    ),
    count!(
        "syncthreads_or",
        Type::bool(),
        |cx, truth| {
            let votes = counted(cx, truth);
            let zero = cx.b.iconst(Ty::I32, 0);
            cx.b.bin(Op::IcmpNe, votes, zero)
        },
        "Waits likewise; whether the predicate of any thread holds."
    ),
    OpDef::new(
        &["tierup.cuda.cg._sync_grid"],
        "",
        Body::Lir(none_rule, |cx, _| {
            in_kernel(cx, "a barrier of the grid")?;
            let ctx = cx.ctx;
            cx.b.grid(GridOp::GridBarrier, GridOp::GridBarrier.own_type(), &[ctx]);
            Ok(vec![])
        }),
    )
    .writes()
    .doc("Waits for all threads of the grid, whose blocks must all run at once."),
    OpDef::new(
        &["tierup.cuda.nanosleep"],
        "ns",
        Body::Lir(
            |_, a| {
                if a[0].ty.is_int() {
                    Ok(Answer::of(Type::none()))
                } else {
                    Err(no_match("cuda.nanosleep()", a))
                }
            },
            |cx, c| {
                in_kernel(cx, "cuda.nanosleep()")?;
                let wide = cast::to_i64(cx, c.args[0][0], c.types[0]);
                let ns = cx.b.conv(Op::Itrunc, Ty::I32, wide);
                cx.b.grid(GridOp::Nanosleep, GridOp::Nanosleep.own_type(), &[ns]);
                Ok(vec![])
            },
        ),
    )
    .writes()
    .doc("Waits about so many nanoseconds."),
    order!(
        "threadfence_block",
        FenceBlock,
        "What this thread wrote before, its block sees before what it writes after."
    ),
    order!("threadfence", FenceDevice, "The same for all threads of the device."),
    order!("threadfence_system", FenceSystem, "The same for the device and the host."),
    OpDef::new(
        &["tierup.cuda.shared.array"],
        "shape, dtype, alignment=None",
        Body::Lir(|_, a| array_rule("shared", a), emit_shared),
    )
    .wants_constants()
    .writes()
    .doc("An array that the threads of a block share; of the shape 0 the memory that the launch gives."),
    OpDef::new(
        &["tierup.cuda.local.array"],
        "shape, dtype, alignment=None",
        Body::Lir(|_, a| array_rule("local", a), emit_local),
    )
    .wants_constants()
    .writes()
    .doc("An array of this thread's own."),
    update!("add", Update::Whole(GridOp::AtomicAdd), "Adds to an element; gives what was there."),
    update!("sub", Update::Subtract, "Subtracts from an element; gives what was there."),
    update!(
        "exch",
        Update::Whole(GridOp::AtomicExchange),
        "Puts a value into an element; gives what was there."
    ),
    update!("and_", Update::Integers(GridOp::AtomicAnd), "Bitwise and; gives what was there."),
    update!("or_", Update::Integers(GridOp::AtomicOr), "Bitwise or; gives what was there."),
    update!("xor", Update::Integers(GridOp::AtomicXor), "Bitwise exclusive or; gives what was there."),
    update!(
        "max",
        Update::Choice { less: false, skip_nan: false },
        "The greater of element and value; an element that is NaN stays, a value that is NaN is nothing. Gives what was there."
    ),
    update!("min", Update::Choice { less: true, skip_nan: false }, "The same with the lesser."),
    update!(
        "nanmax",
        Update::Choice { less: false, skip_nan: true },
        "The greater of element and value, where NaN is nothing; gives what was there."
    ),
    update!("nanmin", Update::Choice { less: true, skip_nan: true }, "The same with the lesser."),
    update!(
        "inc",
        Update::Count { down: false },
        "Adds 1 to an element, or makes it 0 where it has reached the value; unsigned. Gives what was there."
    ),
    update!(
        "dec",
        Update::Count { down: true },
        "Subtracts 1 from an element, or makes it the value where it is 0 or greater than the value; unsigned. Gives what was there."
    ),
    OpDef::new(&["tierup.cuda.atomic.cas"], "ary, idx, old, val", Body::Lir(cas_rule, emit_cas))
        .raises()
        .writes()
        .doc("Puts `val` into an element where `old` is there; gives what was there."),
    OpDef::new(&["tierup.cuda.atomic.compare_and_swap"], "ary, old, val", Body::Lir(swap_rule, emit_swap))
        .raises()
        .writes()
        .doc("The same for the first element."),
];

/// What an update does to an element.
#[derive(Clone, Copy)]
enum Update {
    /// An instruction for integers and floats.
    Whole(GridOp),
    Subtract,
    /// An instruction for integers.
    Integers(GridOp),
    /// The lesser or the greater of element and value.
    Choice {
        less: bool,
        skip_nan: bool,
    },
    /// Counts and wraps.
    Count {
        down: bool,
    },
}

/// An error outside of a kernel: a thread of the host has no place in a grid.
pub(super) fn in_kernel(cx: &LowerCx<'_>, what: &str) -> Result<()> {
    if cx.options.kernel {
        return Ok(());
    }
    Err(Diagnostic::new(Code::GpuUnsupported, format!("{what} has a meaning only in a kernel"))
        .help("decorate the function that is launched with @cuda.jit"))
}

pub(super) fn none_rule(_: &mut TyCx<'_, '_>, _: &[Arg]) -> Result<Answer> {
    Ok(Answer::of(Type::none()))
}
pub(super) fn int_rule(_: &mut TyCx<'_, '_>, _: &[Arg]) -> Result<Answer> {
    Ok(Answer::of(Type::int()))
}

pub(super) fn number(cx: &mut LowerCx<'_>, op: GridOp) -> Result<Value> {
    in_kernel(cx, "a thread's place in the grid")?;
    let narrow = cx.b.value(InstData::Grid { op, ty: Ty::I32, args: vec![] });
    let wide = cx.b.conv(Op::Zext, Ty::I64, narrow);
    // What the hardware allows, so that everybody knows that sums and products of these do not wrap.
    let most = if THREAD_INDEX.contains(&op) || op == GridOp::LaneIndex {
        1023
    } else if BLOCK_SIZE.contains(&op) {
        2047
    } else {
        i64::from(i32::MAX)
    };
    Ok(cx.b.bin_imm(Op::Band, wide, most))
}

fn counted(cx: &mut LowerCx<'_>, truth: Value) -> Value {
    cx.b.value(InstData::Grid { op: GridOp::BarrierCount, ty: Ty::I32, args: vec![truth] })
}

const THREAD_INDEX: [GridOp; 3] = [GridOp::ThreadIndexX, GridOp::ThreadIndexY, GridOp::ThreadIndexZ];
const BLOCK_INDEX: [GridOp; 3] = [GridOp::BlockIndexX, GridOp::BlockIndexY, GridOp::BlockIndexZ];
const BLOCK_SIZE: [GridOp; 3] = [GridOp::BlockSizeX, GridOp::BlockSizeY, GridOp::BlockSizeZ];
const GRID_SIZE: [GridOp; 3] = [GridOp::GridSizeX, GridOp::GridSizeY, GridOp::GridSizeZ];

fn grid_index(cx: &mut LowerCx<'_>, axis: usize) -> Result<Value> {
    let (block, size, thread) =
        (number(cx, BLOCK_INDEX[axis])?, number(cx, BLOCK_SIZE[axis])?, number(cx, THREAD_INDEX[axis])?);
    let first = cx.b.bin(Op::Imul, block, size);
    Ok(cx.b.bin(Op::Iadd, first, thread))
}

fn grid_threads(cx: &mut LowerCx<'_>, axis: usize) -> Result<Value> {
    let (blocks, threads) = (number(cx, GRID_SIZE[axis])?, number(cx, BLOCK_SIZE[axis])?);
    Ok(cx.b.bin(Op::Imul, blocks, threads))
}

fn box_rule(name: &str, args: &[Arg]) -> Result<Answer> {
    match args[0].int() {
        Some(1) => Ok(Answer::of(Type::int())),
        Some(n @ 2..=3) => Ok(Answer::of(Type::tuple(vec![Type::int(); n as usize]))),
        Some(_) | None => Err(Diagnostic::new(
            Code::RequiresConstant,
            format!("cuda.{name}() takes the number of axes: the constant 1, 2 or 3"),
        )),
    }
}

fn emit_box(
    cx: &mut LowerCx<'_>,
    c: &OpCall<'_>,
    one: fn(&mut LowerCx<'_>, usize) -> Result<Value>,
) -> Result<Val> {
    let axes = c.ret.members().map_or(1, <[Type]>::len);
    (0..axes).map(|axis| one(cx, axis)).collect()
}

// ---- memory

/// A constant shape: an integer or a tuple of them.
fn shape_of(konst: Option<&Const>) -> Option<Vec<i64>> {
    let konst = konst?;
    if let Const::Tuple(parts) = konst {
        parts.iter().map(Const::as_int).collect()
    } else {
        konst.as_int().map(|n| vec![n])
    }
}

fn array_rule(memory: &str, args: &[Arg]) -> Result<Answer> {
    let needs = |what: &str, help: &str| {
        Err(Diagnostic::new(
            Code::RequiresConstant,
            format!("the {what} of cuda.{memory}.array() must be a constant"),
        )
        .help(help.to_string()))
    };
    let Some(shape) = shape_of(args[0].konst.as_ref()) else {
        return needs("shape", "write it as a number, or a tuple of numbers, or a global variable");
    };
    let record =
        if let Kind::DType(t) = *args[1].ty { Some(t).filter(|t| t.record().is_some()) } else { None };
    let Some(dtype) = dtype_arg(&args[1]).or(record) else {
        return needs("dtype", "write it as np.float32, float32 or \"float32\"");
    };
    if !args[2].is_none() {
        // Every such array is aligned to 16 bytes.
        let fits = args[2].int().map(|n| (1..=16).contains(&n) && n.count_ones() == 1);
        match fits {
            Some(true) => {}
            Some(false) => {
                return Err(Diagnostic::new(
                    Code::BadCall,
                    format!("the alignment of cuda.{memory}.array() is a power of two up to 16"),
                ));
            }
            None => return needs("alignment", "write it as a number, or a global variable"),
        }
    }
    let dynamic = memory == "shared" && shape == [0];
    if shape.is_empty() || !dynamic && shape.iter().any(|n| *n <= 0) {
        return Err(Diagnostic::new(
            Code::BadCall,
            format!("cuda.{memory}.array() cannot have the shape {shape:?}"),
        ));
    }
    Ok(Answer::of(Type::array(dtype, shape.len(), Layout::C)))
}

/// An array at `data`, with lengths.
fn array_at(cx: &mut LowerCx<'_>, ty: ArrayType, data: Value, shape: Vec<Value>) -> Val {
    let owner = cx.b.null();
    ArrayVal { ty, owner, data, shape, strides: vec![], frozen: None }.pack()
}

/// Type, constant shape and bytes of the array that a call makes.
fn declared(c: &OpCall<'_>) -> Result<(ArrayType, Vec<i64>, u32)> {
    let (Some(ty), Some(shape)) = (c.ret.as_array(), shape_of(c.consts[0].as_ref())) else {
        return Err(Diagnostic::internal("an array of a kernel without a shape"));
    };
    let bytes = shape
        .iter()
        .try_fold(ty.itemsize(), |n, d| n.checked_mul(*d))
        .and_then(|n| u32::try_from(n).ok())
        .filter(|n| *n <= i32::MAX as u32);
    let bytes = bytes.ok_or_else(|| {
        Diagnostic::new(
            Code::BadCall,
            format!("an array of the shape {shape:?} does not fit into the memory of a thread or a block"),
        )
    })?;
    Ok((ty, shape, bytes))
}

fn constants(cx: &mut LowerCx<'_>, shape: &[i64]) -> Vec<Value> {
    shape.iter().map(|n| cx.b.i64(*n)).collect()
}

fn emit_shared(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    in_kernel(cx, "cuda.shared.array()")?;
    let (ty, shape, bytes) = declared(c)?;
    if shape == [0] {
        let data = cx.b.value(InstData::Grid { op: GridOp::SharedMemory, ty: Ty::Ptr, args: vec![] });
        let bytes = number(cx, GridOp::SharedBytes)?;
        let item = cx.b.i64(ty.itemsize());
        let n = cx.b.bin(Op::Udiv, bytes, item);
        return Ok(array_at(cx, ty, data, vec![n]));
    }
    let slot = cx.b.func.add_shared_slot(bytes);
    let data = cx.b.value(InstData::StackAddr { slot });
    let shape = constants(cx, &shape);
    Ok(array_at(cx, ty, data, shape))
}

fn emit_local(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    in_kernel(cx, "cuda.local.array()")?;
    let (ty, shape, bytes) = declared(c)?;
    let data = cx.b.slot_addr(bytes);
    let shape = constants(cx, &shape);
    Ok(array_at(cx, ty, data, shape))
}

// ---- updates

/// The machine type in which an element is changed, and whether it has a sign; none for elements that the
/// hardware cannot change at once.
pub(super) fn cell(dtype: Type) -> Option<(Ty, bool)> {
    match dtype.number()? {
        NumberType::Int(i) => {
            let ty = cast::int_ty(i);
            (ty.bytes() >= 4).then_some((ty, i.signed()))
        }
        NumberType::Float(Float::F16) => None,
        NumberType::Float(f) => Some((cast::float_ty(f), true)),
        NumberType::Bool | NumberType::Complex(_) => None,
    }
}

/// The array that is changed, where an index finds one of its elements and the element is of a type that can
/// be.
fn changed(args: &[Arg], index: Type, integers: bool) -> Result<ArrayType> {
    let a = args[0].ty.as_array().ok_or_else(|| no_match("cuda.atomic", args))?;
    let no = |text: String| Err(Diagnostic::new(Code::NoMatchingOperation, text));
    if super::index::result_type(a, index) != Some(a.dtype) {
        return no(format!(
            "an atomic operation takes the index of one element, and {index} is none of {}",
            args[0].ty
        ));
    }
    let fits = cell(a.dtype).is_some_and(|(ty, _)| ty.is_int() || !integers);
    if !fits {
        let kinds = if integers { "32 or 64-bit integers" } else { "32 or 64-bit integers and floats" };
        return no(format!("this atomic operation is for arrays of {kinds}, not of {}", a.dtype));
    }
    Ok(a)
}

fn update_rule(_: &mut TyCx<'_, '_>, args: &[Arg], update: Update) -> Result<Answer> {
    let integers = matches!(update, Update::Integers(_) | Update::Count { .. });
    let a = changed(args, args[1].ty, integers)?;
    if !args[2].ty.is_number() || args[2].ty.is_complex() || a.dtype.is_int() && args[2].ty.is_float() {
        return Err(no_match("cuda.atomic", args));
    }
    Ok(Answer::of(a.dtype))
}

/// The address of the element, and a value as one of its type.
fn place(cx: &mut LowerCx<'_>, c: &OpCall<'_>, index: (&Val, Type)) -> Result<(Value, ArrayType)> {
    in_kernel(cx, "an atomic operation")?;
    let a = ArrayVal::new(cx, &c.args[0], c.types[0])?;
    let at = element_address(cx, &a, index.0, index.1)?;
    Ok((at, a.ty))
}

pub(super) fn operand(cx: &mut LowerCx<'_>, c: &OpCall<'_>, k: usize, to: Type) -> Result<Value> {
    Ok(cast::element(cx, &c.args[k], c.types[k], to)?[0])
}

fn emit_update(cx: &mut LowerCx<'_>, c: &OpCall<'_>, update: Update) -> Result<Val> {
    let (at, a) = place(cx, c, (&c.args[1], c.types[1]))?;
    let x = operand(cx, c, 2, a.dtype)?;
    let (ty, signed) = cell(a.dtype).ok_or_else(|| Diagnostic::internal("an update of a strange element"))?;
    let whole =
        |cx: &mut LowerCx<'_>, op: GridOp, x: Value| cx.b.value(InstData::Grid { op, ty, args: vec![at, x] });
    let old = match update {
        Update::Whole(op) | Update::Integers(op) => whole(cx, op, x),
        Update::Subtract => {
            let minus = cx.b.un(if ty.is_float() { Op::Fneg } else { Op::Ineg }, x);
            whole(cx, GridOp::AtomicAdd, minus)
        }
        Update::Choice { less, .. } if ty.is_int() => {
            let op = match (less, signed) {
                (true, true) => GridOp::AtomicSmin,
                (true, false) => GridOp::AtomicUmin,
                (false, true) => GridOp::AtomicSmax,
                (false, false) => GridOp::AtomicUmax,
            };
            whole(cx, op, x)
        }
        Update::Choice { less, skip_nan } => looped(cx, at, ty, &mut |cx, old| {
            let better = cx.b.bin(if less { Op::FcmpLt } else { Op::FcmpGt }, x, old);
            if !skip_nan {
                return cx.b.select(better, x, old);
            }
            let nothing = cx.b.bin(Op::FcmpUno, old, old);
            let take = cx.or(better, nothing);
            cx.b.select(take, x, old)
        })?,
        Update::Count { down } => looped(cx, at, ty, &mut |cx, old| {
            let (zero, one) = (cx.b.iconst(ty, 0), cx.b.iconst(ty, 1));
            if down {
                let less = cx.b.bin(Op::Isub, old, one);
                let (none, above) = (cx.b.bin(Op::IcmpEq, old, zero), cx.b.bin(Op::IcmpUlt, x, old));
                let wraps = cx.or(none, above);
                return cx.b.select(wraps, x, less);
            }
            let more = cx.b.bin(Op::Iadd, old, one);
            let wraps = cx.b.bin(Op::IcmpUle, x, old);
            cx.b.select(wraps, zero, more)
        })?,
    };
    Ok(vec![old])
}

/// An update that no instruction makes: computed from what is there, and put there unless another thread was
/// faster; then once more.
fn looped(
    cx: &mut LowerCx<'_>,
    at: Value,
    ty: Ty,
    new: &mut dyn FnMut(&mut LowerCx<'_>, Value) -> Value,
) -> Result<Value> {
    let bits = if ty.bytes() == 4 { Ty::I32 } else { Ty::I64 };
    // Others may change it now; it is a part of the update and no read of its own.
    let first = cx.b.load(bits, at, 0, Alias::Volatile);
    let again = cx.b.bool(true);
    let last = cx.while_loop(
        &[first, again],
        |_, state| Ok(state[1]),
        |cx, state| {
            let expected = state[0];
            let old = if ty == bits { expected } else { cx.b.conv(Op::Bitcast, ty, expected) };
            let made = new(cx, old);
            let made = if ty == bits { made } else { cx.b.conv(Op::Bitcast, bits, made) };
            let found = cx.b.value(InstData::Grid {
                op: GridOp::AtomicCas,
                ty: bits,
                args: vec![at, expected, made],
            });
            let differs = cx.b.bin(Op::IcmpNe, found, expected);
            Ok(vec![found, differs])
        },
    )?;
    Ok(if ty == bits { last[0] } else { cx.b.conv(Op::Bitcast, ty, last[0]) })
}

fn swapped_rule(args: &[Arg], index: Type, values: &[Arg]) -> Result<Answer> {
    let a = changed(args, index, true)?;
    if !values.iter().all(|v| v.ty.is_int()) {
        return Err(no_match("cuda.atomic", args));
    }
    Ok(Answer::of(a.dtype))
}

fn cas_rule(_: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    swapped_rule(args, args[1].ty, &args[2..])
}
fn swap_rule(_: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    swapped_rule(args, Type::int(), &args[1..])
}

fn emit_cas(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    exchange(cx, c, (&c.args[1], c.types[1]), 2)
}
fn emit_swap(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let first = vec![cx.b.i64(0)];
    exchange(cx, c, (&first, Type::int()), 1)
}

fn exchange(cx: &mut LowerCx<'_>, c: &OpCall<'_>, index: (&Val, Type), k: usize) -> Result<Val> {
    let (at, a) = place(cx, c, index)?;
    let (old, new) = (operand(cx, c, k, a.dtype)?, operand(cx, c, k + 1, a.dtype)?);
    let (ty, _) = cell(a.dtype).ok_or_else(|| Diagnostic::internal("an update of a strange element"))?;
    Ok(vec![cx.b.value(InstData::Grid { op: GridOp::AtomicCas, ty, args: vec![at, old, new] })])
}
