//! Methods of numbers that are written in Python: what NumPy's scalars have of arrays without dimensions
//! beside functions of NumPy ([`OpDef::of_scalars`]), and what floats have of their own.

use super::{Body, OpDef};
use crate::types::{Float, Kind};

const fn method(path: &'static [&'static str], params: &'static str, body: &'static str) -> OpDef {
    OpDef::new(path, params, Body::Py(body)).raises()
}

const fn attribute(path: &'static [&'static str], body: &'static str) -> OpDef {
    OpDef::new(path, "x", Body::Py(body)).property()
}

pub(crate) static OPS: &[OpDef] = &[
    attribute(&["generic.T"], "scalar.itself").doc("The number: it has no dimensions to reverse."),
    attribute(&["generic.ndim"], "scalar.ndim").doc("0: a number has no dimensions."),
    attribute(&["generic.shape", "generic.strides"], "scalar.shape").doc("The empty tuple."),
    attribute(&["generic.size"], "scalar.size").doc("1: a number is one element."),
    attribute(&["generic.itemsize", "generic.nbytes"], "scalar.itemsize").doc("Its size in bytes."),
    attribute(&["generic.base"], "scalar.base").doc("None: a number owns its bytes."),
    attribute(&["generic.device"], "scalar.device").doc("`\"cpu\"`."),
    method(&["number.item"], "x, *index", "scalar.item")
        .only_if(|a| !a[0].ty.is_weak() && a.len() > 1)
        .doc("The number as Python's own, by its position or by no indices."),
    method(&["generic.reshape"], "x, *shape, order='C'", "scalar.reshape").doc("An array of one element."),
    method(&["generic.flatten"], "x, order='C'", "scalar.flatten").doc("An array of one element."),
    method(&["generic.copy"], "x, order='C'", "scalar.copy").doc("The number."),
    method(&["generic.squeeze"], "x, axis=None", "scalar.squeeze").doc("The number."),
    method(&["generic.transpose"], "x, *axes", "scalar.transpose").doc("The number."),
    method(&["generic.take"], "x, indices, axis=None, out=None, mode='raise'", "scalar.take")
        .doc("The number, as often as there are indices."),
    method(&["generic.byteswap"], "x, inplace=False", "scalar.byteswap")
        .doc("The number with its bytes in the other order."),
    method(&["generic.argsort"], "x, axis=-1, kind=None, order=None", "scalar.argsort").doc("An array of 0."),
    method(&["generic.nonzero"], "x", "scalar.nonzero").doc("ValueError, as of arrays without dimensions."),
    method(&["generic.fill"], "x, value", "scalar.fill").doc("Nothing: a number does not change."),
    method(&["float.as_integer_ratio"], "x", "scalar.float_ratio")
        .doc("Numerator and denominator; OverflowError where they have more than 64 bits."),
    method(&["int.as_integer_ratio"], "x", "scalar.int_ratio")
        .only_if(|a| a[0].ty.is_weak())
        .doc("The integer and 1."),
    method(&["float.hex"], "x", "scalar.hex_")
        .only_if(|a| matches!(*a[0].ty, Kind::Float(Float::F64 | Float::Py)))
        .doc("Its hexadecimal digits."),
];
