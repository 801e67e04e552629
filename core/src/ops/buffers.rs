//! Memory of arrays as bytes, and bytes as arrays.

use super::bytes::like::is_array;
use super::bytes::{bytes_of_memory, refused};
use super::{Body, OpDef, dtype, object};
use crate::diag::{Code, Diagnostic, Result};
use crate::emit::arrays::ArrayVal;
use crate::emit::cast;
use crate::emit::cx::{LowerCx, OpCall, Val};
use crate::emit::length::length;
use crate::exc::Class;
use crate::lir::{Alias, Op, Ty};
use crate::offset;
use crate::types::{Access, ArrayType, Kind, Layout, Type};
use crate::typing::{Answer, Arg, TyCx, no_match};

super::identity::op_ids! {
    ARRAYS_ARRAY = "arrays.array",
}

/// What copies the memory of an instance of a class of the library.
macro_rules! view_as {
    ($path:literal, $function:literal, $doc:literal) => {
        OpDef::new(&[$path], "source", Body::Py($function))
            .only_if(|a| matches!(*a[0].ty, Kind::Frozen(..)))
            .raises()
            .reads()
            .doc($doc)
    };
}

pub(crate) static OPS: &[OpDef] = &[
    OpDef::new(&["arrays.array"], "typecode, initializer=()", Body::Py("buffers.own"))
        .raises()
        .doc("`array.array`: numbers of one code, which is a constant."),
    OpDef::new(&["operator._new_array"], "typecode", Body::Lir(array_rule, |_, _| Ok(vec![])))
        .internal()
        .doc("The function that makes an empty array of a code (library use)."),
    view_as!("builtins.bytes", "buffers.as_bytes", "The bytes of the memory of an object."),
    view_as!("builtins.bytearray", "buffers.as_bytearray", "The same as a bytearray."),
    OpDef::new(&["builtins.memoryview"], "object", Body::Py("buffers.memory_view"))
        .only_if(|a| {
            *a[0].ty == Kind::Bytes || a[0].ty.as_array().is_some() || matches!(*a[0].ty, Kind::Frozen(..))
        })
        .raises()
        .reads()
        .doc("A view of bytes, which are copied, of an array or of another view."),
    OpDef::new(
        &["numpy.frombuffer"],
        "buffer, dtype=..., count=-1, offset=0",
        Body::Lir(from_rule, emit_from),
    )
    .raises()
    .reads()
    .makes()
    .doc("A read-only array of what bytes hold, copied; ValueError."),
    OpDef::new(
        &["numpy.frombuffer"],
        "buffer, dtype=None, count=-1, offset=0",
        Body::Py("structs.from_array"),
    )
    .only_if(|a| a[0].ty.as_array().is_some())
    .raises()
    .doc("The memory of a contiguous array as a 1-d array, a view; ValueError."),
    OpDef::new(&["numpy.frombuffer"], "buffer, dtype=None, count=-1, offset=0", Body::Py("buffers.array_of"))
        .only_if(|a| matches!(*a[0].ty, Kind::Frozen(..)))
        .raises()
        .doc("The memory that a memoryview or an `array.array` shows, as a 1-d array, a view; ValueError."),
    OpDef::new(&["array.tobytes"], "a, order='C'", Body::Py("structs.array_bytes"))
        .only_if(|a| {
            let known = a[1].is_none() || matches!(a[1].text(), Some("C" | "F"));
            known && a[0].ty.as_array().is_some()
        })
        .raises()
        .reads()
        .doc("The bytes of all elements."),
    OpDef::new(
        &["operator._memory_bytes"],
        "a",
        Body::Lir(
            |_, a| match a[0].ty.as_array() {
                Some(t) if t.ndim == 1 && t.layout == Layout::C => Ok(Answer::of(Type::bytes())),
                _ => Err(no_match("tobytes()", a)),
            },
            |cx, c| {
                let a = ArrayVal::new(cx, &c.args[0], c.types[0])?;
                let bytes = cx.b.bin_imm(Op::Imul, a.shape[0], a.ty.itemsize());
                Ok(vec![cx.helper_value(&bytes_of_memory, &[a.data, bytes])])
            },
        ),
    )
    .raises()
    .reads()
    .internal()
    .doc("The bytes of an array whose elements lie one behind the other."),
];

fn array_rule(cx: &mut TyCx<'_, '_>, a: &[Arg]) -> Result<Answer> {
    let Some(code) = &a[0].konst else {
        return Err(Diagnostic::new(
            Code::RequiresConstant,
            "the code of an array's elements is not known here",
        )
        .help("write it in the call"));
    };
    cx.written("_arrays.maker", &[code.clone()])
}

fn from_rule(_: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    if is_array(args[0].ty) {
        return Err(refused("numpy.frombuffer() of memory that can change is not compiled".into())
            .help("bytes(a) is a copy whose memory does not"));
    }
    if *args[0].ty != Kind::Bytes || !args[2].ty.is_index() || !args[3].ty.is_index() {
        return Err(no_match("numpy.frombuffer()", args));
    }
    let of = if args[1].is_omitted() { Some(Type::f64()) } else { dtype::dtype_arg(&args[1]) };
    let of = of.ok_or_else(|| no_match("numpy.frombuffer()", args))?.strong();
    Ok(Answer::of(ArrayType { dtype: of, ndim: 1, layout: Layout::C, access: Access::Read }.ty()))
}

fn emit_from(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let Some(ty) = c.ret.as_array() else { return Err(Diagnostic::internal("frombuffer")) };
    let size = ty.itemsize();
    let total = length(cx, &c.args[0], c.types[0])?;
    let [count, offset] = [2, 3].map(|k| cast::to_i64(cx, c.args[k][0], c.types[k]));
    let inside = cx.b.bin(Op::IcmpUle, offset, total);
    let text = "offset must be non-negative and no greater than buffer length ({})";
    cx.check_format(inside, Class::ValueError, text, &[total]);
    let left = cx.b.bin(Op::Isub, total, offset);
    let by = cx.b.i64(size);
    let there = cx.b.bin(Op::Udiv, left, by);
    let all = cx.b.bin_imm(Op::IcmpSlt, count, 0);
    let n = cx.if_else(
        all,
        |cx| {
            let rest = cx.b.bin(Op::Urem, left, by);
            let whole = cx.b.bin_imm(Op::IcmpEq, rest, 0);
            cx.check(whole, Class::ValueError, "buffer size must be a multiple of element size");
            Ok(vec![there])
        },
        |cx| {
            let enough = cx.b.bin(Op::IcmpSle, count, there);
            cx.check(enough, Class::ValueError, "buffer is smaller than requested size");
            Ok(vec![count])
        },
    )?[0];
    let bytes = cx.b.bin_imm(Op::Imul, n, size);
    let owner = cx.helper_value(&object::mem_alloc, &[bytes]);
    let data = cx.b.load(Ty::Ptr, owner, offset!(MemBlock.data), Alias::Object);
    let from = cx.b.load(Ty::Ptr, c.args[0][0], offset!(Str.data), Alias::Const);
    let from = cx.b.ptr_add(from, offset);
    cx.helper(&object::mem_copy, &[data, from, bytes]);
    Ok(vec![owner, data, n])
}
