//! Bits in bytes, and digits in texts.

use super::{Body, OpDef};

pub(crate) static OPS: &[OpDef] = &[
    OpDef::new(&["numpy.packbits"], "a, /, axis=None, bitorder='big'", Body::Py("bits.packbits"))
        .raises()
        .reads()
        .doc("Bytes whose bits say what is not zero; TypeError."),
    OpDef::new(
        &["numpy.unpackbits"],
        "a, /, axis=None, count=None, bitorder='big'",
        Body::Py("bits.unpackbits"),
    )
    .raises()
    .reads()
    .doc("The bits of bytes; TypeError, ValueError."),
    OpDef::new(&["numpy.base_repr"], "number, base=2, padding=0", Body::Py("bits.base_repr"))
        .only_if(|a| a[0].ty.is_index())
        .raises()
        .doc("Digits of an integer; ValueError of a base that is not from 2 to 36."),
    OpDef::new(&["numpy.binary_repr"], "num, width=None", Body::Py("bits.binary_repr"))
        .only_if(|a| a[0].ty.is_index())
        .raises()
        .doc("Binary digits of an integer, the two's complement where a width is given; ValueError."),
];
