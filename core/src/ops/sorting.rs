//! Sorting, searching, sets and counts. Kernels of the run-time sort memory; the rest is Python in
//! `tierup/lib/sorting.py`.

use super::kernel as k;
use super::reduce::{checked_axis, element_code};
use super::{Body, OpDef};
use crate::diag::Result;
use crate::emit::arrays::ArrayVal;
use crate::emit::cast;
use crate::emit::cx::{LowerCx, OpCall, Val};
use crate::exc::Class;
use crate::lir::{Op, Value};
use crate::types::{ArrayType, Kind, Layout, Type};
use crate::typing::{Answer, Arg, TyCx, no_match};

pub(crate) static OPS: &[OpDef] = &[
    OpDef::new(&["numpy._sort"], "a, axis, stable", Body::Lir(|_, a| sort_rule(a), |cx, c| {
        let stable = cx.b.bin_imm(Op::IcmpNe, c.args[2][0], 0);
        sort_call(cx, c, "sort", |cx, a, elem, n, shape, strides, axis| { cx.helper(&k::array_sort, &[elem, n, shape, a.data, strides, axis, stable]); Ok(vec![]) })
    })).raises().writes().alone("it is sorted by one thread").doc("Sorts along an axis, in place; NaN last (library use)."),
    OpDef::new(&["array.sort"], "a, axis=-1, kind=None, order=None, *, stable=None", Body::Py("sorting.sort_in_place")).only_if(has_no_fields).raises().writes().doc("Sorts along an axis, in place; NaN last."),
    OpDef::new(&["numpy.sort"], "a, axis=-1, kind=None, order=None, *, stable=None", Body::Py("sorting.sort")).only_if(has_no_fields).raises().doc("A sorted copy."),
    OpDef::new(&["numpy.sort_complex"], "a", Body::Py("sorting.sort_complex")).raises().doc("A sorted copy of complex numbers."),
    OpDef::new(&["numpy._argsort"], "a, axis", Body::Lir(|_, a| order_rule(a), |cx, c| {
        sort_call(cx, c, "sort", |cx, a, elem, n, shape, strides, axis| {
            let out = ArrayVal::alloc(cx, Type::i64(), &a.shape, Layout::C, false)?;
            cx.guarded(&[out.owner], |cx| { cx.helper(&k::array_argsort, &[elem, n, shape, a.data, strides, axis, out.data]); Ok(()) })?;
            Ok(out.pack())
        })
    })).raises().reads().alone("it is sorted by one thread").doc("The stable order that sorts along an axis (library use)."),
    OpDef::new(&["numpy.argsort", "array.argsort"], "a, axis=-1, kind=None, order=None, *, stable=None", Body::Py("sorting.argsort")).only_if(has_no_fields).raises().doc("The order that sorts."),
    OpDef::new(&["numpy._partition"], "a, kth, axis", Body::Lir(|_, a| in_place_rule(a, 2), |cx, c| {
        let kth = cast::to_i64(cx, c.args[1][0], c.types[1]);
        let moved = [0, 2].map(|i| (c.args[i].clone(), c.types[i]));
        let call = OpCall { args: &moved.clone().map(|m| m.0), types: &moved.map(|m| m.1), ..*c };
        sort_call(cx, &call, "partition", |cx, a, elem, n, shape, strides, axis| { cx.helper(&k::array_partition, &[elem, n, shape, a.data, strides, axis, kth]); Ok(vec![]) })
    })).raises().writes().alone("it is sorted by one thread").doc("Puts element `kth` of the sorted order in its place (library use)."),
    OpDef::new(&["array.partition"], "a, kth, axis=-1, kind='introselect', order=None", Body::Py("sorting.partition_in_place")).only_if(has_no_fields).raises().writes().doc("Puts element `kth` of the sorted order in its place, smaller ones before it."),
    OpDef::new(&["numpy.partition"], "a, kth, axis=-1, kind='introselect', order=None", Body::Py("sorting.partition")).only_if(has_no_fields).raises().doc("A partitioned copy."),
    OpDef::new(&["numpy._argpartition"], "a, axis, kth", Body::Lir(|_, a| order_rule(a), |cx, c| {
        let kth = cast::to_i64(cx, c.args[2][0], c.types[2]);
        sort_call(cx, c, "sort", |cx, a, elem, n, shape, strides, axis| {
            let out = ArrayVal::alloc(cx, Type::i64(), &a.shape, Layout::C, false)?;
            cx.guarded(&[out.owner], |cx| { cx.helper(&k::array_argpartition, &[elem, n, shape, a.data, strides, axis, kth, out.data]); Ok(()) })?;
            Ok(out.pack())
        })
    })).raises().reads().alone("it is sorted by one thread").doc("The order that a partition gives (library use)."),
    OpDef::new(&["numpy.argpartition", "array.argpartition"], "a, kth, axis=-1, kind='introselect', order=None", Body::Py("sorting.argpartition")).only_if(has_no_fields).raises().doc("The order that a partition gives."),
    OpDef::new(&["numpy._searchsorted"], "a, v, right", Body::Lir(search_rule, emit_search)).raises().reads().doc("Positions of a 1-d array's values in a sorted one of the same type (library use)."),
    OpDef::new(&["numpy.searchsorted", "array.searchsorted"], "a, v, side='left', sorter=None", Body::Py("sorting.searchsorted")).raises().doc("Where values belong in a sorted array."),
    OpDef::new(&["numpy.digitize"], "x, bins, right=False", Body::Py("sorting.digitize")).raises().doc("Which bin each value is in; ValueError."),
    OpDef::new(&["numpy.unique"], "ar, return_index=False, return_inverse=False, return_counts=False, axis=None, *, equal_nan=True, sorted=True", Body::Py("sorting.unique")).raises().doc("Sorted values without repetitions."),
    OpDef::new(&["numpy.bincount"], "x, /, weights=None, minlength=0", Body::Py("sorting.bincount")).raises().doc("How often each small integer occurs; ValueError of a negative one."),
    OpDef::new(&["numpy.histogram"], "a, bins=10, range=None, density=None, weights=None", Body::Py("sorting.histogram")).raises().doc("Counts in bins, and the bins' edges; ValueError."),
    OpDef::new(&["numpy.histogram_bin_edges"], "a, bins=10, range=None, weights=None", Body::Py("sorting.histogram_bin_edges")).raises().doc("The edges of the bins of a histogram; ValueError."),
    OpDef::new(&["numpy.histogram2d"], "x, y, bins=10, range=None, density=None, weights=None", Body::Py("sorting.histogram2d")).raises().doc("Counts in bins of two dimensions, and the bins' edges; ValueError."),
    OpDef::new(&["numpy.interp"], "x, xp, fp, left=None, right=None, period=None", Body::Py("sorting.interp")).raises().doc("Values between points on lines; ValueError."),
    OpDef::new(&["numpy.union1d"], "ar1, ar2", Body::Py("sorting.union1d")).raises().doc("Sorted values of either."),
    OpDef::new(&["numpy.intersect1d"], "ar1, ar2, assume_unique=False, return_indices=False", Body::Py("sorting.intersect1d")).raises().doc("Sorted values of both."),
    OpDef::new(&["numpy.setdiff1d"], "ar1, ar2, assume_unique=False", Body::Py("sorting.setdiff1d")).raises().doc("Values of the first that are not in the second."),
    OpDef::new(&["numpy.setxor1d"], "ar1, ar2, assume_unique=False", Body::Py("sorting.setxor1d")).raises().doc("Sorted values of exactly one."),
    OpDef::new(&["numpy.isin", "numpy.in1d"], "element, test_elements, assume_unique=False, invert=False", Body::Py("sorting.isin")).raises().doc("Whether each value is among others."),
    OpDef::new(&["numpy.lexsort"], "keys, axis=-1", Body::Py("sorting.lexsort")).raises().doc("The order by the last key, then the one before it."),
    // Signals and statistics of two.
    OpDef::new(&["numpy.cov"], "m, y=None, rowvar=True, bias=False, ddof=None", Body::Py("statistics.cov")).raises().doc("Covariance matrix."),
    OpDef::new(&["numpy.corrcoef"], "x, y=None, rowvar=True", Body::Py("statistics.corrcoef")).raises().doc("Matrix of correlation coefficients."),
    OpDef::new(&["numpy.convolve"], "a, v, mode='full'", Body::Py("statistics.convolve")).raises().doc("Convolution; ValueError of nothing."),
    OpDef::new(&["numpy.correlate"], "a, v, mode='valid'", Body::Py("statistics.correlate")).raises().doc("Cross-correlation; ValueError of nothing."),
    OpDef::new(&["numpy.cross"], "a, b", Body::Py("statistics.cross")).raises().doc("Vector product; ValueError."),
    OpDef::new(&["numpy.trapezoid", "numpy.trapz"], "y, x=None, dx=1.0, axis=-1", Body::Py("statistics.trapezoid")).raises().doc("Integral by the trapezoidal rule."),
    OpDef::new(&["numpy.gradient"], "f, *varargs, axis=None, edge_order=1", Body::Py("gradients.gradient")).raises().doc("Slopes along one dimension, or a tuple of those along several, central inside; ValueError."),
];

fn array(args: &[Arg]) -> Result<ArrayType> {
    args[0].ty.as_array().ok_or_else(|| no_match("sorting", args))
}

fn in_place_rule(args: &[Arg], axis: usize) -> Result<Answer> {
    let a = array(args)?;
    if !args[1..=axis].iter().all(|a| a.ty.is_index()) {
        return Err(no_match("sorting", args));
    }
    Ok(Answer::of(super::index::written(a)))
}

fn sort_rule(args: &[Arg]) -> Result<Answer> {
    if *args[2].ty != Kind::Bool {
        return Err(no_match("sorting", args));
    }
    in_place_rule(args, 1)
}

/// Records have an order by their fields, which is not there.
fn has_no_fields(a: &[Arg]) -> bool {
    a[0].ty.records().is_none()
}

fn order_rule(args: &[Arg]) -> Result<Answer> {
    let a = array(args)?;
    if !args[1..].iter().all(|a| a.ty.is_index()) {
        return Err(no_match("sorting", args));
    }
    Ok(Answer::of(Type::array(Type::i64(), a.ndim(), Layout::C)))
}

/// Spills what the kernels want to know of an array: element code, number of dimensions, shape, strides and
/// the axis, which is operand 1.
fn sort_call(
    cx: &mut LowerCx<'_>,
    c: &OpCall<'_>,
    what: &str,
    call: impl FnOnce(&mut LowerCx<'_>, &ArrayVal, Value, Value, Value, Value, Value) -> Result<Val>,
) -> Result<Val> {
    if *c.ret == Kind::Never {
        cx.raise_and_continue(Class::ValueError, &format!("{what} array is read-only"));
        return Ok(vec![]);
    }
    let a = ArrayVal::new(cx, &c.args[0], c.types[0])?;
    if *c.ret == Kind::None {
        crate::emit::writing::check_writable(cx, &a, &format!("{what} array is read-only"));
    }
    let axis = checked_axis(cx, c.args[1][0], c.types[1], a.shape.len());
    let (elem, n) = (element_code(cx, a.ty.dtype)?, cx.b.i64(a.shape.len() as i64));
    let (shape, strides) = (cx.spill(&a.shape), cx.spill(&a.strides));
    call(cx, &a, elem, n, shape, strides, axis)
}

fn search_rule(_: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    match (args[0].ty.as_array(), args[1].ty.as_array()) {
        (Some(a), Some(v))
            if a.ndim == 1 && v.ndim == 1 && a.dtype == v.dtype && *args[2].ty == Kind::Bool =>
        {
            Ok(Answer::of(Type::array(Type::i64(), 1, Layout::C)))
        }
        _ => Err(no_match("searchsorted()", args)),
    }
}

fn emit_search(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let (a, v) = (ArrayVal::new(cx, &c.args[0], c.types[0])?, ArrayVal::new(cx, &c.args[1], c.types[1])?);
    let elem = element_code(cx, a.ty.dtype)?;
    let out = ArrayVal::alloc(cx, Type::i64(), &v.shape, Layout::C, false)?;
    let right = cx.b.bin_imm(Op::IcmpNe, c.args[2][0], 0);
    cx.guarded(&[out.owner], |cx| {
        cx.helper(
            &k::array_searchsorted,
            &[elem, a.data, a.shape[0], a.strides[0], v.data, v.shape[0], v.strides[0], right, out.data],
        );
        Ok(())
    })?;
    Ok(out.pack())
}
