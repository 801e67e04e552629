//! Universal functions: one scalar loop, broadcast over arrays. A row gives the scalar loop; this file gives
//! everything else.

use super::kernel::{Map, array_map};
use super::{OpDef, UfuncRule, laned};
use crate::diag::{Code, Diagnostic, Result};
use crate::emit::arrays::{
    ArrayVal, Kernel, Whole, element_code, elementwise_or, load_element, shape_text, store_element,
};
use crate::emit::blockwise::by_kernels;
use crate::emit::cast;
use crate::emit::chunked_loops::SLOW;
use crate::emit::cx::{LowerCx, OpCall, Val, split_leaves};
use crate::emit::lazy::{Lazy, Operand, Step};
use crate::emit::writing::{broadcasts_to, write_apart};
use crate::exc::Class;
use crate::lir::{Op, Value};
use crate::ops::dtype::dtype_arg;
use crate::types::{Access, ArrayType, Const, Int, Kind, Layout, NumberType, Type};
use crate::typing::{Answer, Arg, no_match};

/// Number of inputs: a last parameter called `out` is no input, nor is what says how to convert.
pub(crate) fn inputs(op: &OpDef) -> usize {
    if op.converts { 1 } else { op.spec().params.len() - op.has_out() as usize }
}

/// What stands behind the parameters of the row where a call has `where=` or `dtype=`: both, in this order.
#[derive(Clone, Copy, Default)]
struct Options<'a> {
    mask: Option<&'a Arg>,
    dtype: Option<Type>,
}

impl<'a> Options<'a> {
    fn of(op: &'static OpDef, args: &'a [Arg]) -> Result<Options<'a>> {
        let [mask, dtype] = &args[op.spec().params.len().min(args.len())..] else {
            return Ok(Options::default());
        };
        let known = matches!(mask.konst, Some(Const::Bool(true)));
        let element = mask.ty.as_array().map_or(mask.ty, |a| a.dtype);
        if *element != Kind::Bool {
            return Err(Diagnostic::new(
                Code::NoMatchingOperation,
                format!("where of {} must be bool, not {element}", op.name()),
            ));
        }
        let dtype = if dtype.is_none() {
            None
        } else {
            Some(dtype_arg(dtype).ok_or_else(|| no_match("dtype", std::slice::from_ref(dtype)))?)
        };
        Ok(Options { mask: (!known).then_some(mask), dtype })
    }
    fn mask_array(&self) -> Option<ArrayType> {
        self.mask.and_then(|m| m.ty.as_array())
    }
}

/// The scalar loop for operands, chosen by `dtype` where it is given.
fn chosen_loop(
    op: &'static OpDef,
    rule: UfuncRule,
    operands: &[Arg],
    elementwise: bool,
    dtype: Option<Type>,
) -> Result<Answer> {
    let usual = rule(operands, elementwise).ok_or_else(|| no_match(op.name(), operands));
    let Some(d) = dtype else { return usual };
    if let Ok(a) = &usual
        && a.ret == d
    {
        return usual;
    }
    let asked: Vec<Arg> = operands.iter().map(|_| Arg::of(d)).collect();
    let answer = rule(&asked, true).filter(|a| {
        a.ret == d && !a.args.is_empty() && operands.iter().zip(&a.args).all(|(o, t)| same_kind(o.ty, *t))
    });
    answer.ok_or_else(|| {
        Diagnostic::new(
            Code::NoMatchingOperation,
            format!("{} has no loop for these operands that gives {d}", op.name()),
        )
    })
}

/// Types a call on scalars and arrays.
pub(crate) fn type_call(op: &'static OpDef, rule: UfuncRule, args: &[Arg]) -> Result<Answer> {
    let options = Options::of(op, args)?;
    let mut answer = type_operands(op, rule, &args[..op.spec().params.len().min(args.len())], options)?;
    // Where operands are converted, the options stay as they are.
    if !answer.args.is_empty() {
        for a in &args[answer.args.len()..] {
            answer.args.push(a.ty);
        }
    }
    Ok(answer)
}

fn type_operands(op: &'static OpDef, rule: UfuncRule, args: &[Arg], options: Options<'_>) -> Result<Answer> {
    let n = inputs(op);
    let out = args.get(n).filter(|a| !a.is_none());
    let operands = &args[..n];
    if laned::is_laned(operands.iter().map(|a| a.ty)) {
        let others = if options.mask.is_some() || options.dtype.is_some() { args } else { &args[n..] };
        return laned::type_call(op, rule, operands, others);
    }
    let arrays: Vec<ArrayType> =
        operands.iter().filter_map(|a| a.ty.as_array()).chain(options.mask_array()).collect();
    if arrays.is_empty() && out.is_none() {
        let mut answer = chosen_loop(op, rule, operands, false, options.dtype)?;
        if !answer.args.is_empty() {
            // What is checked when it is converted stays as it is until then.
            for (t, a) in answer.args.iter_mut().zip(operands) {
                if checks(op, a.ty, *t) {
                    *t = a.ty;
                }
            }
            answer.args.extend(args[n..].iter().map(|a| a.ty));
        }
        return Ok(answer);
    }
    let answer = chosen_loop(op, rule, &element_args(operands), true, options.dtype)?;
    // Scalars are converted once, in front of the loop; Python's own where it is checked that they fit.
    let mut coerce: Vec<Type> = operands
        .iter()
        .enumerate()
        .map(|(i, a)| match a.ty.as_array() {
            None if !(a.ty.is_weak() && op.takes_what_fits()) => answer.args.get(i).copied().unwrap_or(a.ty),
            _ => a.ty,
        })
        .collect();
    coerce.extend(args[n..].iter().map(|a| a.ty));
    if let Some(o) = out {
        let a = o.ty.as_array().ok_or_else(|| no_match(op.name(), args))?;
        let deepest = arrays.iter().map(|a| a.ndim).max().unwrap_or(0);
        if !same_kind(answer.ret, a.dtype) {
            return Err(Diagnostic::new(
                Code::NoMatchingOperation,
                format!(
                    "cannot cast {}'s result from {} to {} with casting rule 'same_kind'",
                    op.name(),
                    answer.ret,
                    a.dtype
                ),
            ));
        }
        // Too few dimensions in the output, or no leave to write there: always an error, which is raised when
        // the call runs.
        return Ok(Answer::coerced(
            if deepest > a.ndim || a.access == Access::Read { Type::never() } else { o.ty },
            coerce,
        ));
    }
    let ndim = arrays.iter().map(|a| a.ndim()).max().unwrap_or(0);
    // Rows and numbers have no say in the order.
    let all_f = ndim > 1 && arrays.iter().all(|a| a.layout == Layout::F && a.ndim() == ndim || a.ndim() <= 1);
    let shaped = |t: Type| {
        if ndim == 0 { t.strong() } else { Type::array(t, ndim, if all_f { Layout::F } else { Layout::C }) }
    };
    let ret = match answer.ret.members() {
        Some(m) => Type::tuple(m.iter().map(|t| shaped(*t)).collect()),
        None => shaped(answer.ret),
    };
    Ok(Answer::coerced(ret, coerce))
}

/// Whether a Python int beside NumPy's numbers has to be one that their type holds: in NumPy's functions, not
/// for operators, whose integers have 64 bits.
fn checks(op: &OpDef, from: Type, to: Type) -> bool {
    op.name().starts_with("numpy.")
        && op.takes_what_fits()
        && match (from.kind(), to.kind()) {
            (Kind::Int(Int::Py), Kind::Int(to)) => *to != Int::Py && *to != Int::I64,
            (Kind::Int(Int::Big), Kind::Int(to)) => to.signed() || to.bits() < 64,
            _ => false,
        }
}

/// Whether a call may raise although its row says nothing of it: operands that do not go together, no memory,
/// a Python int that does not fit.
pub(crate) fn may_raise(op: &OpDef, types: &mut dyn Iterator<Item = Type>) -> bool {
    if !matches!(op.body, super::Body::Ufunc(..)) {
        return false;
    }
    let (mut python, mut big, mut narrow, numpy) = (false, false, false, op.name().starts_with("numpy."));
    for t in types {
        if t.as_array().is_some() || t.as_simd().is_some() {
            return true;
        }
        python |= t.is_int() && t.is_weak();
        big |= *t == Kind::Int(Int::Big);
        narrow |= t.is_int() && !t.is_weak() && *t != Kind::Int(Int::I64);
    }
    numpy && python && (narrow || big)
}

/// NumPy's casting rule `same_kind`.
pub(crate) fn same_kind(from: Type, to: Type) -> bool {
    let rank = |t: Type| match t.number() {
        Some(NumberType::Bool) => 0,
        Some(NumberType::Int(i)) if !i.signed() => 1,
        Some(NumberType::Int(_)) => 2,
        Some(NumberType::Float(_)) => 3,
        Some(NumberType::Complex(_)) | None => 4,
    };
    // uint to int of any width is allowed, int to uint is not.
    rank(from.strong()) <= rank(to)
}

/// Operands as the scalar loop sees them.
fn element_args(operands: &[Arg]) -> Vec<Arg> {
    operands
        .iter()
        .map(|a| match a.ty.as_array() {
            Some(t) => Arg::of(t.dtype),
            None => Arg { ty: a.ty, konst: a.konst.clone() },
        })
        .collect()
}

/// The scalar loop of a call: what computes one element, and where it runs.
struct Loop<'a> {
    lazy: Lazy,
    call: &'a OpCall<'a>,
    /// The shape of each operand that has one.
    shapes: Vec<Option<Vec<Value>>>,
    /// What the last step gives.
    ret: Type,
    /// Which elements are computed; none for all.
    mask: Option<Mask>,
    /// The kernel that does the same over contiguous memory.
    kernel: Option<Map>,
}

enum Mask {
    Scalar(Val),
    Array(ArrayVal),
}

impl Loop<'_> {
    /// The arrays that the loop passes: operands, and last the mask.
    fn arrays(&self) -> Vec<ArrayVal> {
        let mask = if let Some(Mask::Array(a)) = &self.mask { Some(a.clone()) } else { None };
        self.lazy.arrays.iter().cloned().chain(mask).collect()
    }

    /// Takes others in the place of [`Loop::arrays`].
    fn read_instead(&mut self, arrays: &[ArrayVal]) {
        let n = self.lazy.arrays.len();
        self.lazy.arrays.clone_from_slice(&arrays[..n]);
        if let (Some(Mask::Array(m)), Some(a)) = (&mut self.mask, arrays.get(n)) {
            m.clone_from(a);
        }
    }

    /// How contiguous arrays are done other than by a loop over elements.
    fn whole(&self, cx: &mut LowerCx<'_>, to: &ArrayVal) -> Option<Whole<'static>> {
        if self.mask.is_some() {
            return None;
        }
        if self.lazy.steps.len() > 1 {
            return by_kernels(cx, &self.lazy, to).map(Whole::InBlocks);
        }
        self.by_kernel(cx, to).map(Whole::Kernel)
    }

    /// A call of the kernel, if there is one for operands and results as they are in memory.
    fn by_kernel(&self, cx: &mut LowerCx<'_>, to: &ArrayVal) -> Option<Box<Kernel<'static>>> {
        let [step] = self.lazy.steps.as_slice() else { return None };
        let t = step.types[0];
        let map = self.kernel.filter(|m| to.ty.dtype == self.ret && m.takes(t, self.ret))?;
        // A kernel passes over one array at least.
        if step.types.iter().any(|other| *other != t)
            || self.lazy.arrays.iter().any(|a| a.ty.dtype != t)
            || self.lazy.arrays.is_empty()
        {
            return None;
        }
        let mut operands = vec![];
        for o in &step.operands {
            operands.push(match o {
                Operand::Array(k) => (self.lazy.arrays[*k].data, 1),
                Operand::Step(_) => return None,
                Operand::Scalar(v) => {
                    let place = cx.b.slot_addr(16);
                    store_element(cx, place, t, v);
                    (place, 0)
                }
            });
        }
        let (a, b) = (*operands.first()?, *operands.get(1).or(operands.first())?);
        let (out, made) = (to.data, to.ty.itemsize());
        Some(Box::new(move |cx: &mut LowerCx<'_>, first: Value, n: Value| {
            let (op, elem, steps) =
                (cx.b.i64(map as i64), element_code(cx, t)?, [a.1, b.1].map(|s| cx.b.i64(s)));
            let [out, a, b] =
                [(out, made), (a.0, a.1 * t.itemsize()), (b.0, b.1 * t.itemsize())].map(|(p, step)| {
                    let off = cx.b.bin_imm(Op::Imul, first, step);
                    cx.b.ptr_add(p, off)
                });
            cx.helper(&array_map, &[op, elem, n, out, a, steps[0], b, steps[1]]);
            Ok(())
        }))
    }

    /// Runs `body` where the mask is true; `at` are the addresses of the elements of [`Loop::arrays`].
    fn where_chosen(
        &self,
        cx: &mut LowerCx<'_>,
        at: &[Value],
        body: &mut dyn FnMut(&mut LowerCx<'_>) -> Result<()>,
    ) -> Result<()> {
        match &self.mask {
            None => body(cx),
            Some(Mask::Scalar(m)) => cx.if_then(m[0], body),
            Some(Mask::Array(a)) => {
                let m = load_element(cx, at[self.lazy.arrays.len()], a.ty.dtype);
                cx.if_then(m[0], body)
            }
        }
    }
}

/// The results of operations that this one reads although they were never in memory: the chain so far, and
/// for each operand the step and the shape.
#[derive(Default)]
pub(crate) struct Chain {
    pub lazy: Lazy,
    pub operands: Vec<Option<(usize, Vec<Value>)>>,
}

impl Chain {
    /// Puts a step at its end; gives the shape of each operand that has one.
    fn add(
        &mut self,
        cx: &mut LowerCx<'_>,
        op: &'static OpDef,
        typed: &Answer,
        emit: super::Emit,
        args: &[Val],
        types: &[Type],
        consts: &[Option<Const>],
        result: Type,
    ) -> Result<Vec<Option<Vec<Value>>>> {
        let (mut operands, mut wanted, mut shapes) = (vec![], vec![], vec![]);
        for (i, (v, t)) in args.iter().zip(types).enumerate() {
            let array = t.as_array();
            let want = typed.args.get(i).copied().unwrap_or_else(|| array.map_or(*t, |a| a.dtype));
            let (operand, shape) = match (self.operands.get(i).cloned().flatten(), array) {
                (Some((step, shape)), _) => (Operand::Step(step), Some(shape)),
                (None, Some(_)) => {
                    let a = ArrayVal::new(cx, v, *t)?;
                    let shape = a.shape.clone();
                    (Operand::Array(self.lazy.read(a)), Some(shape))
                }
                (None, None) if op.takes_what_fits() => {
                    (Operand::Scalar(cast::element(cx, v, *t, want)?), None)
                }
                (None, None) => (Operand::Scalar(cast::cast(cx, v, *t, want)?), None),
            };
            operands.push(operand);
            wanted.push(want);
            shapes.push(shape);
        }
        let dtype = result.as_array().map_or(typed.ret, |a| a.dtype);
        self.lazy.steps.push(Step {
            operands,
            types: wanted,
            ret: typed.ret,
            consts: consts.to_vec(),
            emit,
            dtype,
            cost: if op.kernel.is_some_and(Map::is_slow) { SLOW } else { 1 },
            kernel: op.kernel,
        });
        Ok(shapes)
    }

    /// A step in the middle of a chain: an operation that makes an array of type `result`.
    pub(crate) fn step(
        &mut self,
        cx: &mut LowerCx<'_>,
        op: &'static OpDef,
        args: &[Val],
        types: &[Type],
        consts: &[Option<Const>],
        result: Type,
    ) -> Result<()> {
        let n = inputs(op);
        if let (true, Some(to)) = (op.converts, result.as_array()) {
            let typed = Answer { args: vec![to.dtype], ..Answer::of(to.dtype) };
            self.add(
                cx,
                op,
                &typed,
                |_, c| Ok(c.args[0].clone()),
                &args[..n],
                &types[..n],
                &consts[..n],
                result,
            )?;
            return Ok(());
        }
        let super::Body::Ufunc(rule, emit) = op.body else {
            return Err(Diagnostic::internal("a chain of what is not elementwise"));
        };
        let all: Vec<Arg> =
            types[..n].iter().zip(consts).map(|(t, c)| Arg { ty: *t, konst: c.clone() }).collect();
        let typed = chosen_loop(op, rule, &element_args(&all), true, None)?;
        self.add(cx, op, &typed, emit, &args[..n], &types[..n], &consts[..n], result)?;
        Ok(())
    }
}

/// The shape of operands together, for [`crate::ssa::Op::Broadcast`]: arrays and shapes; numbers have none.
pub(crate) fn emit_broadcast(cx: &mut LowerCx<'_>, args: &[Val], types: &[Type], ndim: usize) -> Result<Val> {
    let named = args.len() == 3;
    let shapes: Vec<Vec<Value>> = args
        .iter()
        .zip(types)
        .filter_map(|(v, t)| match t.as_array() {
            Some(a) => Some(v[2..2 + a.ndim()].to_vec()),
            None if t.members().is_some() => Some(v.clone()),
            None => named.then(Vec::new),
        })
        .collect();
    broadcast_shapes(cx, &shapes, ndim)
}

/// Emits a call on scalars and arrays.
pub(crate) fn emit_call(
    cx: &mut LowerCx<'_>,
    call: &OpCall<'_>,
    op: &'static OpDef,
    rule: UfuncRule,
    emit: super::Emit,
    mut chain: Chain,
) -> Result<Val> {
    let n = inputs(op);
    if laned::is_laned(call.types[..n].iter().copied()) {
        let operands =
            OpCall { args: &call.args[..n], types: &call.types[..n], consts: &call.consts[..n], ..*call };
        return laned::emit_call(cx, op, rule, emit, &operands);
    }
    let all: Vec<Arg> =
        call.types.iter().zip(call.consts).map(|(t, c)| Arg { ty: *t, konst: c.clone() }).collect();
    let options = Options::of(op, &all)?;
    let out = (n < op.spec().params.len().min(call.args.len()) && *call.types[n] != Kind::None)
        .then(|| call.args[n].clone());
    let any_array = call.types[..n].iter().any(|t| t.as_array().is_some()) || options.mask_array().is_some();
    if !any_array && out.is_none() {
        let plain = OpCall {
            args: &call.args[..n],
            types: &call.types[..n],
            consts: &call.consts[..n],
            ret: call.ret,
            elementwise: false,
        };
        if !may_raise(op, &mut call.types[..n].iter().copied()) {
            return emit(cx, &plain);
        }
        let typed = chosen_loop(op, rule, &all[..n], false, options.dtype)?;
        let (mut values, mut types) = (vec![], vec![]);
        for (i, (v, t)) in plain.args.iter().zip(plain.types).enumerate() {
            let to = typed.args.get(i).copied().filter(|to| checks(op, *t, *to));
            values.push(match to {
                Some(to) => cast::element(cx, v, *t, to)?,
                None => v.clone(),
            });
            types.push(to.unwrap_or(*t));
        }
        return emit(cx, &OpCall { args: &values, types: &types, ..plain });
    }
    let typed = chosen_loop(op, rule, &element_args(&all[..n]), true, options.dtype)?;
    let shapes =
        chain.add(cx, op, &typed, emit, &call.args[..n], &call.types[..n], &call.consts[..n], call.ret)?;
    let mask = match options.mask {
        None => None,
        Some(m) => {
            let v = &call.args[op.spec().params.len()];
            Some(if m.ty.as_array().is_some() {
                Mask::Array(ArrayVal::new(cx, v, m.ty)?)
            } else {
                Mask::Scalar(v.clone())
            })
        }
    };
    let body = Loop { lazy: chain.lazy, call, shapes, ret: typed.ret, mask, kernel: op.kernel };
    match out {
        Some(v) => into(cx, body, &v),
        None => fresh(cx, &body),
    }
}

/// A call that makes its results: scalars where all operands have no dimensions, else arrays of the broadcast
/// shape.
fn fresh(cx: &mut LowerCx<'_>, body: &Loop<'_>) -> Result<Val> {
    let arrays = body.arrays();
    let of = |t: Type| -> Vec<Type> { t.members().map_or_else(|| vec![t], <[Type]>::to_vec) };
    let (elements, results) = (of(body.ret), of(body.call.ret));
    let Some(first) = results.first().and_then(|t| t.as_array()) else {
        let at: Vec<Value> = arrays.iter().map(|a| a.data).collect();
        let v = body.lazy.element(cx, &at)?;
        return cast::cast(cx, &v, body.ret, body.call.ret);
    };
    // The message of `np.where(mask, a, 0.0)` and `np.clip` names scalars too. What has more operands is no
    // ufunc in NumPy.
    let named = body.shapes.len() == 3;
    let shapes: Vec<Vec<Value>> =
        body.shapes.iter().filter_map(|s| s.clone().or_else(|| named.then(Vec::new))).collect();
    let shape = broadcast_shapes(cx, &shapes, first.ndim())?;
    let mut made: Vec<ArrayVal> = vec![];
    for t in &elements {
        let owners: Vec<Value> = made.iter().map(|m| m.owner).collect();
        made.push(
            cx.guarded(&owners, |cx| ArrayVal::alloc(cx, *t, &shape, first.layout, body.mask.is_some()))?,
        );
    }
    let owners: Vec<Value> = made.iter().map(|m| m.owner).collect();
    // Further results are written at the places that the loop over the first one passes.
    let others: Vec<ArrayVal> = arrays.iter().chain(&made[1..]).cloned().collect();
    let whole = body.whole(cx, &made[0]);
    cx.guarded(&owners, |cx| {
        elementwise_or(
            cx,
            &made[0],
            &others,
            body.lazy.cost(),
            &mut |cx, p, at| {
                body.where_chosen(cx, &at[..arrays.len()], &mut |cx| {
                    let v = body.lazy.element(cx, at)?;
                    let places = std::iter::once(&p).chain(&at[arrays.len()..]);
                    for (((v, t), m), p) in
                        split_leaves(&v, &elements).iter().zip(&elements).zip(&made).zip(places)
                    {
                        let v = cast::cast(cx, v, *t, m.ty.dtype)?;
                        store_element(cx, *p, m.ty.dtype, &v);
                    }
                    Ok(())
                })
            },
            whole.as_ref(),
        )
    })?;
    Ok(made.iter().flat_map(ArrayVal::pack).collect())
}

/// A call with `out`. Where an input shares memory with it, results go to a temporary first.
fn into(cx: &mut LowerCx<'_>, mut body: Loop<'_>, out: &[Value]) -> Result<Val> {
    let out_type = body.call.types[body.shapes.len()];
    let target = ArrayVal::new(cx, out, out_type)?;
    let arrays = body.arrays();
    crate::emit::writing::check_writable(cx, &target, "output array is read-only");
    if target.ty.access == Access::Read {
        cx.raise_and_continue(Class::ValueError, "output array is read-only");
        return Ok(vec![]);
    }
    if *body.call.ret == Kind::Never {
        return too_few_dimensions(cx, &body, &target);
    }
    check_output(cx, &body, &target);
    write_apart(cx, &target, &arrays, body.mask.is_some(), &mut |cx, to, read| {
        body.read_instead(read);
        let whole = body.whole(cx, to);
        elementwise_or(
            cx,
            to,
            read,
            body.lazy.cost(),
            &mut |cx, p, at| {
                body.where_chosen(cx, at, &mut |cx| {
                    let v = body.lazy.element(cx, at)?;
                    let v = cast::cast(cx, &v, body.ret, to.ty.dtype)?;
                    store_element(cx, p, to.ty.dtype, &v);
                    Ok(())
                })
            },
            whole.as_ref(),
        )
    })?;
    cx.retain(out, out_type);
    Ok(out.to_vec())
}

fn too_few_dimensions(cx: &mut LowerCx<'_>, body: &Loop<'_>, target: &ArrayVal) -> Result<Val> {
    let mask = if let Some(Mask::Array(a)) = &body.mask { Some(a.shape.clone()) } else { None };
    let shapes: Vec<Vec<Value>> =
        body.shapes.iter().flatten().cloned().chain(mask).chain([target.shape.clone()]).collect();
    let ndim = shapes[..shapes.len() - 1].iter().map(Vec::len).max().unwrap_or(0);
    let shape = broadcast_shapes(cx, &shapes, ndim)?;
    let text = format!(
        "non-broadcastable output operand with shape {} doesn't match the broadcast shape {}",
        shape_text(target.shape.len()),
        shape_text(ndim)
    );
    let exc = cx.formatted(Class::ValueError, &text, &[target.shape.as_slice(), &shape].concat());
    cx.raise_made(exc);
    Ok(vec![])
}

/// ValueError unless the operands broadcast to exactly the shape of the output.
fn check_output(cx: &mut LowerCx<'_>, body: &Loop<'_>, target: &ArrayVal) {
    let mask = body.mask.iter().map(|m| match m {
        Mask::Array(a) => a.shape.clone(),
        Mask::Scalar(_) => vec![],
    });
    let shapes: Vec<Vec<Value>> = body
        .shapes
        .iter()
        .map(|s| s.clone().unwrap_or_default())
        .chain(mask)
        .chain([target.shape.clone()])
        .collect();
    let text = format!(
        "operands could not be broadcast together with shapes {} ",
        shapes.iter().map(|s| shape_text(s.len())).collect::<Vec<_>>().join(" ")
    );
    for shape in shapes[..shapes.len() - 1].iter().filter(|s| !s.is_empty()) {
        let Some(fits) = broadcasts_to(cx, shape, &target.shape) else { continue };
        let (ok, bad) = (cx.b.new_block(&[]), cx.b.new_cold_block(&[]));
        cx.b.brif(fits, ok, &[], bad, &[]);
        cx.b.switch_to(bad);
        // All shapes may go together and yet stretch the output.
        if let Some(together) = broadcasts_together(cx, shape, &target.shape) {
            cx.check_format(together, Class::ValueError, &text, &shapes.concat());
        }
        let wide = stretched(cx, &shapes, target.shape.len());
        let text = format!(
            "non-broadcastable output operand with shape {} doesn't match the broadcast shape {}",
            shape_text(target.shape.len()),
            shape_text(wide.len())
        );
        let exc = cx.formatted(Class::ValueError, &text, &[target.shape.as_slice(), &wide].concat());
        cx.end_raising(exc);
        cx.b.switch_to(ok);
    }
}

/// For each dimension the length that is not 1, of shapes that go together.
fn stretched(cx: &mut LowerCx<'_>, shapes: &[Vec<Value>], ndim: usize) -> Vec<Value> {
    let mut out: Vec<Option<Value>> = vec![None; ndim];
    for shape in shapes {
        let lead = ndim.saturating_sub(shape.len());
        for (to, n) in out[lead..].iter_mut().zip(shape) {
            *to = Some(match *to {
                None => *n,
                Some(m) => {
                    let one = cx.b.bin_imm(Op::IcmpEq, m, 1);
                    cx.b.select(one, *n, m)
                }
            });
        }
    }
    out.into_iter().flatten().collect()
}

/// Whether each of two dimensions that meet are the same or one of them is 1; none where that is known.
fn broadcasts_together(cx: &mut LowerCx<'_>, a: &[Value], b: &[Value]) -> Option<Value> {
    let lead = b.len().saturating_sub(a.len());
    let mut all = None;
    for (m, n) in a.iter().zip(&b[lead..]) {
        if m == n {
            continue;
        }
        let (same, m_one, n_one) =
            (cx.b.bin(Op::IcmpEq, *m, *n), cx.b.bin_imm(Op::IcmpEq, *m, 1), cx.b.bin_imm(Op::IcmpEq, *n, 1));
        let one = cx.or(m_one, n_one);
        let ok = cx.or(same, one);
        all = Some(match all {
            Some(x) => cx.and(x, ok),
            None => ok,
        });
    }
    all
}

/// The shape that the given shapes broadcast to; ValueError where they do not.
pub(crate) fn broadcast_shapes(
    cx: &mut LowerCx<'_>,
    shapes: &[Vec<Value>],
    ndim: usize,
) -> Result<Vec<Value>> {
    let full = shapes.iter().find(|s| s.len() == ndim);
    // Most arrays that meet are of one shape: then nothing is computed but that.
    if let Some(first) = full.filter(|_| ndim > 0 && shapes.iter().all(|s| s.len() == ndim || s.is_empty())) {
        let mut same = None;
        for (m, n) in shapes.iter().flat_map(|s| s.iter().zip(first)) {
            if m == n {
                continue;
            }
            let eq = cx.b.bin(Op::IcmpEq, *m, *n);
            same = Some(match same {
                Some(s) => cx.and(s, eq),
                None => eq,
            });
        }
        let Some(same) = same else { return Ok(first.clone()) };
        return cx.if_else(same, |_| Ok(first.clone()), |cx| Ok(stretched_shape(cx, shapes, ndim)));
    }
    Ok(stretched_shape(cx, shapes, ndim))
}

fn stretched_shape(cx: &mut LowerCx<'_>, shapes: &[Vec<Value>], ndim: usize) -> Vec<Value> {
    let text = format!(
        "operands could not be broadcast together with shapes {} ",
        shapes.iter().map(|s| shape_text(s.len())).collect::<Vec<_>>().join(" ")
    );
    let all = shapes.concat();
    let mut out: Vec<Option<Value>> = vec![None; ndim];
    for shape in shapes {
        let lead = ndim - shape.len();
        for (k, n) in shape.iter().enumerate() {
            out[lead + k] = Some(match out[lead + k] {
                None => *n,
                Some(m) if m == *n => m,
                Some(m) => {
                    let same = cx.b.bin(Op::IcmpEq, m, *n);
                    let m_one = cx.b.bin_imm(Op::IcmpEq, m, 1);
                    let n_one = cx.b.bin_imm(Op::IcmpEq, *n, 1);
                    let ok = cx.or(same, m_one);
                    let ok = cx.or(ok, n_one);
                    cx.check_format(ok, Class::ValueError, &text, &all);
                    cx.b.select(m_one, *n, m)
                }
            });
        }
    }
    out.into_iter()
        .map(|n| match n {
            Some(n) => n,
            None => cx.b.i64(1),
        })
        .collect()
}

pub(crate) static OPS: &[OpDef] = &[];
