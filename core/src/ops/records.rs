//! Fields of structured arrays and of their records: `a["x"]`, `a[i]["x"]`, `a[i].x`, read and written; whole
//! records assigned.
//!
//! A field of an array is a view of it, in steps of whole records; of a record by itself it is its value.

use super::chars::{self, load_value};
use super::index::{assign, assignable, fitted, refuse_readonly, result_type, target, written};
use super::{Body, OpDef, Own};
use crate::diag::{Code, Diagnostic, Result};
use crate::emit::arrays::{
    ArrayVal, contiguous_strides, elementwise, load_element, shape_text, store_element,
};
use crate::emit::cast;
use crate::emit::cx::{LowerCx, OpCall, Val, split_leaves};
use crate::emit::writing::check_writable;
use crate::exc::Class;
use crate::lir::Value;
use crate::types::record::{Chars, RecordDef, RecordField};
use crate::types::{ArrayType, Const, Kind, Layout, Type};
use crate::typing::{Answer, Arg, TyCx, no_match};

super::identity::op_ids! {
    RECORD_FIELD = "operator._record_field" [lists(Passes)],
    RECORD_SET = "operator._set_record_field" [keeps, lists(Keeps)],
}

pub(crate) static OPS: &[OpDef] = &[
    OpDef::new(&["operator.getitem", "operator._record_field"], "a, name", Body::Lir(get_rule, emit_get))
        .records()
        .reads()
        .owned_by(|_, ret| if ret.as_array().is_some() { Own::Aliases } else { Own::Fresh })
        .doc("`a[\"x\"]`: a field of a record, or of each of an array."),
    OpDef::new(
        &["operator.setitem", "operator._set_record_field"],
        "a, name, value",
        Body::Lir(set_rule, emit_set),
    )
    .records()
    .raises()
    .writes()
    .doc("`a[\"x\"] = value`: gives a field values, with broadcasting."),
    OpDef::new(&["operator.setitem"], "a, index, value", Body::Lir(whole_rule, emit_whole))
        .records()
        .raises()
        .writes()
        .doc("`a[i] = record` and `a[i] = (1, 2.0)`: gives records all of their fields."),
];

/// The field that a constant names, of the records of an array.
fn field(a: ArrayType, name: &Arg) -> Result<&'static RecordField> {
    let Some(records) = a.dtype.record() else { return Err(no_match("[]", std::slice::from_ref(name))) };
    if let Some(k) = name.konst.as_ref().and_then(Const::as_int).filter(|_| a.ndim == 0 && name.ty.is_int()) {
        let text = "invalid index: this record has no field of that number";
        return numbered(records, k).ok_or_else(|| Diagnostic::new(Code::NoMatchingOperation, text));
    }
    let Some(text) = name.text() else {
        if *name.ty != Kind::Str {
            return Err(no_match("[]", std::slice::from_ref(name)));
        }
        let text = "the name of a field must be a constant: its type is that of the result";
        return Err(Diagnostic::new(Code::RequiresConstant, text)
            .help(format!("write the name itself; the fields are {}", names(records))));
    };
    records.field(text).ok_or_else(|| {
        Diagnostic::new(Code::NoMatchingOperation, format!("no field of name {text}"))
            .help(format!("the fields are {}", names(records)))
    })
}

/// The field of that number, from the last one where it is negative.
fn numbered(records: &RecordDef, k: i64) -> Option<&RecordField> {
    let at = if k < 0 { k + records.fields.len() as i64 } else { k };
    records.fields.get(usize::try_from(at).ok()?)
}

fn names(records: &RecordDef) -> String {
    records.fields.iter().map(|f| f.name.as_str()).collect::<Vec<_>>().join(", ")
}

/// What a field is: a value of a record by itself, else a view.
fn field_type(a: ArrayType, f: &RecordField) -> Type {
    let value = if a.ndim == 0 && f.shape.is_empty() { f.ty.element_value() } else { None };
    value.unwrap_or_else(|| Type::new(Kind::Array(a.field(f))))
}

fn array(args: &[Arg]) -> Result<ArrayType> {
    args[0].ty.as_array().ok_or_else(|| no_match("[]", args))
}

fn get_rule(_: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let a = array(args)?;
    let f = field(a, &args[1])?;
    if let Some(text) = f.ty.record().filter(|r| r.chars().is_none()).and_then(|r| r.opaque.as_ref()) {
        let text =
            format!("the field '{}' is of dtype {text}, which compiled code copies and cannot read", f.name);
        return Err(
            Diagnostic::new(Code::NoMatchingOperation, text).help("read it before, or pass what it says")
        );
    }
    Ok(Answer::of(field_type(a, f)))
}

/// The view that a field is.
fn view(a: &ArrayVal, f: &RecordField, cx: &mut LowerCx<'_>) -> ArrayVal {
    let offset = cx.b.i64(f.offset as i64);
    let data = cx.b.ptr_add(a.data, offset);
    let (mut shape, mut strides) = (a.shape.clone(), a.strides.clone());
    let own: Vec<Value> = f.shape.iter().map(|n| cx.b.i64(i64::from(*n))).collect();
    strides.extend(contiguous_strides(cx, &own, f.ty.itemsize(), Layout::C));
    shape.extend(own);
    ArrayVal { ty: a.ty.field(f), data, shape, strides, ..a.clone() }
}

fn field_of(c: &OpCall<'_>) -> Result<&'static RecordField> {
    let (name, records) = (c.consts[1].as_ref(), c.types[0].records());
    let find = |n: &Const, r: &'static RecordDef| match n.as_str() {
        Some(name) => r.field(name),
        None => numbered(r, n.as_int()?),
    };
    name.zip(records)
        .and_then(|(n, r)| find(n, r))
        .ok_or_else(|| Diagnostic::internal("a field that there is not"))
}

fn emit_get(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let f = field_of(c)?;
    let a = ArrayVal::new(cx, &c.args[0], c.types[0])?;
    let part = view(&a, f, cx);
    Ok(if c.ret.as_array().is_some() { part.pack() } else { load_value(cx, part.data, f.ty) })
}

fn set_rule(_: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let a = array(args)?;
    let f = field(a, &args[1])?;
    if f.ty.record().is_some() {
        takes_record(a.field(f), f.ty, args[2].ty)?;
    } else {
        assignable(a.field(f), field_type(a, f), args[2].ty)?;
    }
    Ok(Answer::of(written(a)))
}

fn emit_set(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let f = field_of(c)?;
    if refuse_readonly(cx, c) {
        return Ok(vec![]);
    }
    let a = ArrayVal::new(cx, &c.args[0], c.types[0])?;
    check_writable(cx, &a, "assignment destination is read-only");
    let part = view(&a, f, cx);
    put(cx, &part, &c.args[2], c.types[2])?;
    Ok(vec![])
}

/// An error unless a value may be assigned to records of type `records` of an array: records of that type, or a
/// tuple of a value for each field.
fn takes_record(a: ArrayType, records: Type, value: Type) -> Result<()> {
    let refused = || {
        let text = format!("cannot assign a value of type {value} to {records}");
        Err(Diagnostic::new(Code::NoMatchingOperation, text)
            .help("assign a record of the same type, or a tuple with a value for each field"))
    };
    if let Some(v) = value.as_array() {
        let of_another_width = v.dtype.chars().map(Chars::ty) == records.chars().map(Chars::ty);
        let fits = lie_alike(v.dtype, records) || of_another_width && records.chars().is_some();
        return if fits { Ok(()) } else { refused() };
    }
    if let Some(chars) = records.chars() {
        let text = || {
            let text = format!("cannot assign a value of type {value} to elements that are {}", chars.ty());
            Diagnostic::new(Code::NoMatchingOperation, text)
        };
        return if value == chars.ty() { Ok(()) } else { Err(text()) };
    }
    let (Some(fields), Some(members)) = (records.record(), value.members()) else { return refused() };
    if fields.fields.len() != members.len() {
        return refused();
    }
    for (f, m) in fields.fields.iter().zip(members) {
        if !f.shape.is_empty() {
            assignable(a.field(f), Type::new(Kind::Array(a.field(f))), *m)?;
            continue;
        }
        match f.ty.record() {
            Some(_) => takes_record(a.field(f), f.ty, *m)?,
            None if m.is_element() => assignable(a.field(f), f.ty, *m)?,
            None => return refused(),
        }
    }
    Ok(())
}

/// Whether records are of one type but for what they and their fields are called.
fn lie_alike(a: Type, b: Type) -> bool {
    a == b || a.record().zip(b.record()).is_some_and(|(a, b)| a.lies_as(b))
}

fn whole_rule(_: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let a = array(args)?;
    let part = result_type(a, args[1].ty).filter(|_| a.dtype.record().is_some());
    let Some(_) = part else { return Err(no_match("[]", args)) };
    takes_record(a, a.dtype, args[2].ty)?;
    Ok(Answer::of(written(a)))
}

fn emit_whole(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    if let Some(part) = target(cx, c)? {
        put(cx, &part, &c.args[2], c.types[2])?;
    }
    Ok(vec![])
}

/// Writes a value into each element of a view: a number, a record, or a tuple with a value for each field.
fn put(cx: &mut LowerCx<'_>, part: &ArrayVal, value: &[Value], t: Type) -> Result<()> {
    let Some(records) = part.ty.dtype.record().filter(|_| t.as_array().is_none()) else {
        return match t.as_array() {
            Some(v) if v.dtype != part.ty.dtype && lie_alike(v.dtype, part.ty.dtype) => {
                put(cx, part, value, ArrayType { dtype: part.ty.dtype, ..v }.ty())
            }
            Some(v) if v.dtype != part.ty.dtype && v.dtype.chars().is_some() => {
                let source = ArrayVal::new(cx, value, t)?;
                store_elements(cx, part, &source)
            }
            // One record that lies where it is written to stays what it is.
            Some(v) if v.ndim == 0 && part.ty.ndim == 0 => {
                let source = ArrayVal::new(cx, value, t)?;
                let x = load_element(cx, source.data, v.dtype);
                let x = cast::cast(cx, &x, v.dtype, part.ty.dtype)?;
                store_element(cx, part.data, part.ty.dtype, &x);
                Ok(())
            }
            _ => assign(cx, part, value, t),
        };
    };
    if let Some(chars) = records.chars() {
        return store_everywhere(cx, part, value[0], chars);
    }
    let members = t.members().unwrap_or_default();
    let values = split_leaves(value, members);
    for ((f, m), v) in records.fields.iter().zip(members).zip(&values) {
        let field = view(part, f, cx);
        put(cx, &field, v, *m)?;
    }
    Ok(())
}

/// Writes a text into every element of a view.
fn store_everywhere(cx: &mut LowerCx<'_>, part: &ArrayVal, text: Value, of: Chars) -> Result<()> {
    elementwise(cx, part, &[], of.count, &mut |cx, p, _| {
        chars::store(cx, text, p, of);
        Ok(())
    })
}

/// Writes the texts of an array of another width into a view, broadcast.
fn store_elements(cx: &mut LowerCx<'_>, part: &ArrayVal, from: &ArrayVal) -> Result<()> {
    let Some(of) = part.ty.dtype.chars() else { return Err(Diagnostic::internal("texts")) };
    let from = &fitted(cx, from, &part.shape, |cx, fits| {
        let text = format!(
            "could not broadcast input array from shape {} into shape {}",
            shape_text(from.shape.len()),
            shape_text(part.shape.len())
        );
        cx.check_format(fits, Class::ValueError, &text, &[from.shape.as_slice(), &part.shape].concat());
    });
    elementwise(cx, part, std::slice::from_ref(from), of.count, &mut |cx, p, at| {
        let text = load_value(cx, at[0], from.ty.dtype);
        chars::store(cx, text[0], p, of);
        cx.release_object(text[0]);
        Ok(())
    })
}
