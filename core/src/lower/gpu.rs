//! GPU kernels: what a GPU does in the host's place ([`Gpu`]), and how kernels are entered.
//!
//! A kernel runs the function once, in one thread: `(arguments…, results, status)`, the arguments exploded as
//! everywhere but without the owners of arrays; or once in every thread of a grid: `(arguments…, failure)`,
//! see [`make_grid_kernel`]. Nothing polls, since nobody can interrupt it, and nothing counts references,
//! since the host holds the arrays while it runs. An exception that leaves the function becomes a status, see
//! [`status`]; the object, its message and its trail do not exist.

use super::{Target, gpu_integers};
use crate::diag::{Code, Diagnostic, Result};
use crate::emit::platform::{Host, NewException, Platform};
use crate::emit::wrapper::SLOT;
use crate::layout::GridThread;
use crate::lir::builder::Builder;
use crate::lir::{Alias, Func, GridOp, InstData, Op, Signature, Ty, Value};
use crate::math::definition;
use crate::ops::object::mem_array_bytes;
use crate::ops::raising::{about_exceptions, exc_new_python};
use crate::rt::{Effect, RtFn};
use crate::source::Frame;
use crate::types::leaves::Leaf;
use crate::types::{Kind, Type};

/// What a kernel stores when an exception leaves it: the line in the low half, above it the handle of the
/// class ([`crate::types::class::ClassDef::handle`]) plus 1.
pub fn status(handle: u64, line: u32) -> u64 {
    (handle + 1) << 32 | u64::from(line)
}

fn refuse(message: impl Into<String>) -> Diagnostic {
    Diagnostic::new(Code::GpuUnsupported, message)
}

const ELSEWHERE: &str = "do this part on the CPU, before or after the kernel";

/// Whether values of this type consist of numbers, or of arrays of them where `arrays` allows those.
fn fits(t: Type, arrays: bool) -> bool {
    match t.kind() {
        Kind::None
        | Kind::Ellipsis
        | Kind::Bool
        | Kind::Int(_)
        | Kind::Float(_)
        | Kind::Complex(_)
        | Kind::Time(_)
        | Kind::Member(_)
        | Kind::Range(_)
        | Kind::Builtin(_)
        | Kind::Module(_)
        | Kind::DType(_)
        | Kind::NamedTupleClass(_)
        | Kind::ExcClass(_)
        | Kind::Class(_) => true,
        Kind::Array(a) => {
            arrays && (a.dtype.is_number() || a.dtype.record().is_some() || matches!(*a.dtype, Kind::Time(_)))
        }
        Kind::Tuple(m) | Kind::NamedTuple(_, m) | Kind::Frozen(_, m) => m.iter().all(|t| fits(*t, arrays)),
        Kind::Optional(t) | Kind::Super(_, t) => fits(*t, arrays),
        Kind::Slice(parts) => parts.iter().all(|t| fits(*t, arrays)),
        Kind::Function(_) => t.leaf_count() == 0,
        Kind::Never
        | Kind::Undef
        | Kind::MaybeUndef(_)
        | Kind::Str
        | Kind::Bytes
        | Kind::List(_)
        | Kind::Container(..)
        | Kind::Object(..)
        | Kind::Outer(_)
        | Kind::Record(_)
        | Kind::Simd(..)
        | Kind::Var(_)
        | Kind::Iter(_)
        | Kind::Method(..)
        | Kind::Exception
        | Kind::Variant(_)
        | Kind::Conflict(..)
        | Kind::Generator(..)
        | Kind::Random => false,
    }
}

/// Makes the kernel `name`, which calls `target`.
pub fn make_kernel(name: &str, target: &Target) -> Result<Func> {
    if let Some(t) = target.params.iter().find(|t| !fits(**t, true)) {
        return Err(refuse(format!("a GPU kernel takes numbers and arrays, no {t}")));
    }
    if !fits(target.ret, false) {
        return Err(refuse(format!("a GPU kernel cannot return {}", target.ret))
            .help("pass an array for the results and store them there"));
    }
    let leaves: Vec<_> = target.params.iter().flat_map(|t| t.leaves()).collect();
    let params: Vec<Ty> =
        leaves.iter().filter(|l| !l.is_ref).map(|l| l.ty).chain([Ty::Ptr, Ty::Ptr]).collect();
    let mut func = Func::new(name, Signature { params, results: vec![] });
    let mut b = Builder::start(&mut func);
    let params = b.params(b.block);
    let (given, last) = params.split_at(params.len() - 2);
    let mut given = given.iter();
    let null = b.constant(Ty::Ptr, 0);
    let args: Vec<_> = std::iter::once(null)
        .chain(leaves.iter().map(|l| if l.is_ref { null } else { given.next().copied().unwrap_or(null) }))
        .collect();
    let answers = b.call(&target.name, &target.sig, &args);
    for (i, v) in answers[1..].iter().enumerate() {
        b.store(*v, last[0], i as i32 * SLOT, Alias::Stack);
    }
    // Only what went wrong is stored, so that threads that share the word leave what one of them found.
    let zero = b.i64(0);
    let failed = b.bin(Op::IcmpNe, answers[0], zero);
    let (bad, done) = (b.new_cold_block(&[]), b.new_block(&[]));
    b.brif(failed, bad, &[], done, &[]);
    b.switch_to(bad);
    b.store(answers[0], last[1], 0, Alias::Stack);
    b.jump(done, &[]);
    b.switch_to(done);
    b.ret(vec![]);
    Ok(func)
}

/// Makes the kernel `name` that calls `target` in every thread of a grid. The last parameter points to what
/// the first thread that fails leaves: a status of 8 bytes, then six numbers of 4, its block and its place in
/// that. Nothing is left where the status is not 0 any more. Where threads wait for the whole grid, the one
/// before it points to the word by which they do ([`crate::lir::grid::on_gpu`]). Constants may follow
/// ([`crate::lir::grid::take_constants`]).
pub fn make_grid_kernel(name: &str, target: &Target, waits_for_grid: bool) -> Result<Func> {
    let leaves = check_grid_kernel(target)?;
    let last = vec![Ty::Ptr; 1 + usize::from(waits_for_grid)];
    let params: Vec<Ty> = leaves.iter().filter(|l| !l.is_ref).map(|l| l.ty).chain(last).collect();
    let mut func = Func::new(name, Signature { params, results: vec![] });
    let mut b = Builder::start(&mut func);
    let params = b.params(b.block);
    let failure = params[params.len() - 1];
    let (null, zero) = (b.constant(Ty::Ptr, 0), b.i64(0));
    let word = if waits_for_grid { params[params.len() - 2] } else { null };
    let (mut args, mut given) = (vec![word], params.iter());
    for leaf in &leaves {
        args.push(match given.as_slice().first() {
            Some(v) if !leaf.is_ref => {
                given.next();
                // No length is negative or above 2^48, which tells every pass that an index is right or wrong
                // at once, and that sums and products of them do not wrap.
                if leaf.is_length { b.bin_imm(Op::Band, *v, (1 << 48) - 1) } else { *v }
            }
            Some(_) | None => null,
        });
    }
    let answers = b.call(&target.name, &target.sig, &args);
    let failed = b.bin(Op::IcmpNe, answers[0], zero);
    let (bad, first, done) = (b.new_cold_block(&[]), b.new_cold_block(&[]), b.new_block(&[]));
    b.brif(failed, bad, &[], done, &[]);
    b.switch_to(bad);
    let was =
        b.value(InstData::Grid { op: GridOp::AtomicCas, ty: Ty::I64, args: vec![failure, zero, answers[0]] });
    let mine = b.bin(Op::IcmpEq, was, zero);
    b.brif(mine, first, &[], done, &[]);
    b.switch_to(first);
    for (k, op) in PLACE.into_iter().enumerate() {
        let number = b.value(InstData::Grid { op, ty: Ty::I32, args: vec![] });
        b.store(number, failure, 8 + 4 * k as i32, Alias::Stack);
    }
    b.jump(done, &[]);
    b.switch_to(done);
    b.ret(vec![]);
    Ok(func)
}

/// Makes the function `name` of C's, which code of a device calls: `(arguments…) -> results`, arrays exploded
/// as everywhere but without their owners. A thread in which an exception leaves it stores to no address, which
/// ends its kernel.
pub fn make_device_function(name: &str, target: &Target) -> Result<Func> {
    if let Some(t) = target.params.iter().find(|t| !fits(**t, true)) {
        return Err(refuse(format!("a device function takes numbers and arrays, no {t}")));
    }
    if !fits(target.ret, false) {
        return Err(refuse(format!("a device function for others cannot return {}", target.ret)));
    }
    let leaves: Vec<_> = target.params.iter().flat_map(|t| t.leaves()).collect();
    let params: Vec<Ty> = leaves.iter().filter(|l| !l.is_ref).map(|l| l.ty).collect();
    let mut func = Func::new(name, Signature { params, results: target.sig.results[1..].to_vec() });
    let mut b = Builder::start(&mut func);
    let params = b.params(b.block);
    let (mut given, null) = (params.iter(), b.constant(Ty::Ptr, 0));
    let args: Vec<_> = std::iter::once(null)
        .chain(leaves.iter().map(|l| if l.is_ref { null } else { given.next().copied().unwrap_or(null) }))
        .collect();
    let answers = b.call(&target.name, &target.sig, &args);
    let zero = b.i64(0);
    let failed = b.bin(Op::IcmpNe, answers[0], zero);
    let (bad, done) = (b.new_cold_block(&[]), b.new_block(&[]));
    b.brif(failed, bad, &[], done, &[]);
    b.switch_to(bad);
    b.store(answers[0], null, 0, Alias::Volatile);
    b.jump(done, &[]);
    b.switch_to(done);
    b.ret(answers[1..].to_vec());
    Ok(func)
}

/// What is left of a thread that fails, beside the status.
const PLACE: [GridOp; 6] = [
    GridOp::BlockIndexX,
    GridOp::BlockIndexY,
    GridOp::BlockIndexZ,
    GridOp::ThreadIndexX,
    GridOp::ThreadIndexY,
    GridOp::ThreadIndexZ,
];

/// The leaves of a grid kernel's arguments, where it takes and gives what one can.
pub fn check_grid_kernel(target: &Target) -> Result<Vec<Leaf>> {
    if let Some(t) = target.params.iter().find(|t| !fits(**t, true)) {
        return Err(refuse(format!("a GPU kernel takes numbers and arrays, no {t}")));
    }
    if !matches!(target.ret.kind(), Kind::None | Kind::Never) {
        return Err(refuse(format!("a kernel gives nothing back, and this one returns {}", target.ret))
            .help("pass an array for the results and store them there"));
    }
    Ok(target.params.iter().flat_map(|t| t.leaves()).collect())
}

/// A GPU, on which one thread of a grid runs.
pub struct Gpu;
impl Platform for Gpu {
    fn name(&self) -> &'static str {
        "gpu"
    }
    fn polls(&self) -> bool {
        false
    }
    fn stack_limit(&self) -> Option<usize> {
        Some(std::mem::offset_of!(GridThread, stack_limit))
    }
    fn array_kernels(&self) -> bool {
        false
    }
    fn slow_ways(&self) -> bool {
        false
    }
    fn allocates(&self) -> bool {
        false
    }
    fn retain(&self, _: &mut Builder<'_>, _: Value) {}
    fn release(&self, _: &mut Builder<'_>, _: Value) {}

    fn exception(&self, b: &mut Builder<'_>, new: &NewException<'_>) -> Value {
        let line = b.func.loc(b.loc).map_or(0, |l| l.line);
        b.constant(Ty::Ptr, status(new.handle(), line))
    }
    fn add_argument(&self, _: &mut Builder<'_>, _exc: Value, _kind: Value, _bits: Value) {}
    fn set_context(&self, _: &mut Builder<'_>, _ctx: Value, _exc: Value) {}
    fn set_cause(&self, _: &mut Builder<'_>, _exc: Value, _cause: Value) {}
    fn add_site(&self, _: &mut Builder<'_>, _exc: Value, _: &Frame) {}

    fn helper(&self, b: &mut Builder<'_>, helper: &'static RtFn, args: &[Value]) -> Option<Value> {
        gpu_integers::written(b, helper, args).or_else(|| Host.helper(b, helper, args))
    }

    fn objection(&self, to: &InstData) -> Option<Diagnostic> {
        let d = match to {
            InstData::CallHelper { helper, .. } => {
                if definition(helper).is_some() {
                    return None;
                }
                about(helper)
            }
            InstData::CallIndirect { .. } => {
                refuse("a GPU kernel cannot call a function that is only known when it runs")
            }
            InstData::SymbolAddr { .. } => {
                refuse("a GPU kernel cannot reach memory of the host, such as a global array or a string")
                    .help("pass the array as an argument, or write cuda.const.array_like(array)")
            }
            InstData::Load { alias: Alias::Ctx, .. } | InstData::Store { alias: Alias::Ctx, .. } => {
                refuse("exceptions cannot be handled on a GPU")
            }
            InstData::Load { .. }
            | InstData::Store { .. }
            | InstData::Const { .. }
            | InstData::Op { .. }
            | InstData::StackAddr { .. }
            | InstData::Call { .. }
            | InstData::Grid { .. }
            | InstData::Jump(_)
            | InstData::Brif { .. }
            | InstData::Switch { .. }
            | InstData::Return(_)
            | InstData::Unreachable => return None,
        };
        Some(d.help(ELSEWHERE))
    }
}

/// Why a GPU cannot call a helper.
fn about(helper: &RtFn) -> Diagnostic {
    if *helper == exc_new_python {
        return refuse("only Python can make this exception, and a GPU cannot ask it")
            .help("raise one whose class makes nothing of its arguments, such as ValueError(2)");
    }
    if about_exceptions(helper) {
        return refuse("exceptions cannot be handled on a GPU: one that is raised ends the kernel");
    }
    let new_object = || {
        refuse("this makes a new object, and a GPU kernel has no memory for it")
            .help("pass an array for the results and store them there")
    };
    if *helper == mem_array_bytes {
        return new_object();
    }
    match helper.effect {
        Effect::Allocates => new_object(),
        Effect::Pure => refuse(format!("a GPU has no version of `{}` yet", helper.name)),
        Effect::Reads | Effect::Writes => {
            refuse(format!("a GPU kernel cannot do this: it needs the host's `{}`", helper.name))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::emit::platform::check;
    use crate::lir::text::parse_module;

    #[test]
    fn what_needs_the_host_is_refused_at_its_line() {
        let refused = |body: &str| {
            let text = format!(
                "func @f(ptr, i64) -> i64 {{\n sym0 = symbol \"s\" 0x10\nblock0(v0: ptr, v1: i64):\n{body}\n return v1\n !1 = \"x.py\" \"f\" 9:4\n}}"
            );
            let m = parse_module(&text, &crate::ops::helpers().collect::<Vec<_>>()).expect("parses");
            let d = check(&m, &Gpu).expect_err("is refused");
            assert_eq!((d.code, d.span.as_ref().map(|s| s.line)), (Code::GpuUnsupported, Some(9)), "{d}");
            assert!(d.help.is_some(), "{d}");
            d.message
        };
        assert!(refused("v2 = call_helper @mem_alloc(v0, v1) !1").contains("new object"));
        assert!(refused("v2 = symbol_addr sym0 !1").contains("memory of the host"));
        assert!(refused("v2 = call_helper @exc_matches(v0, v1) !1").contains("handled"));
        assert!(refused("v2 = bitcast.f64 v1\n v3 = call_helper @f64_ulp(v2) !1").contains("f64_ulp"));
        assert!(refused("v2 = load.ptr ctx v0 !1").contains("handled"));
    }
}
