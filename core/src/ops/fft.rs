//! Discrete Fourier transforms. NumPy's own inner loops do the lines; which of them, how results are scaled
//! and how several axes are gone through is the library's.

use super::{Body, OpDef};
use crate::diag::Result;
use crate::emit::arrays::ArrayVal;
use crate::emit::cast;
use crate::emit::cx::{LowerCx, OpCall, Val};
use crate::lir::Value;
use crate::rt::{Ctx, P};
use crate::types::{Float, Kind, Type};
use crate::typing::{Answer, Arg, no_match};

crate::runtime_fns! {
    /// Fourier transforms.
    trait Helpers;
    /// Transforms each line along the last axis of the array at `a` into one of that at `out`, times
    /// `factor`, by a loop of NumPy's ([`LOOPS`]) in single or double precision. `dims` holds the rank, the
    /// shape of `out`, the length of a line of `a`, then the strides of `a` and of `out` in bytes.
    fn fft_lines(ctx: Ctx, which: i64, single: i64, dims: *const i64, a: P, factor: f64, out: P) [Writes, Pending];
}

/// The loops, as NumPy names them (`numpy.fft._pocketfft_umath`): of complex numbers there and back, of reals
/// with an even and an odd number of points, and back to reals.
pub const LOOPS: [&str; 5] = ["fft", "ifft", "rfft_n_even", "rfft_n_odd", "irfft"];

pub(crate) static OPS: &[OpDef] = &[
    along_one(&["numpy.fft.fft"], "fft.fft", "Fourier transform along an axis."),
    along_one(&["numpy.fft.ifft"], "fft.ifft", "The inverse of `fft`."),
    along_one(&["numpy.fft.rfft"], "fft.rfft", "The half of the transform of reals that says it all."),
    along_one(&["numpy.fft.irfft"], "fft.irfft", "The inverse of `rfft`, with `n` points."),
    along_one(
        &["numpy.fft.hfft"],
        "fft.hfft",
        "Transform of a line that equals its conjugate, backwards: reals.",
    ),
    along_one(&["numpy.fft.ihfft"], "fft.ihfft", "The inverse of `hfft`."),
    along_two(&["numpy.fft.fft2"], "fft.fftn", "`fft` along two axes."),
    along_two(&["numpy.fft.ifft2"], "fft.ifft2", "`ifft` along two axes."),
    along_two(&["numpy.fft.rfft2"], "fft.rfftn", "`rfft` along the last of two axes, `fft` along the other."),
    along_two(&["numpy.fft.irfft2"], "fft.irfft2", "The inverse of `rfft2`."),
    along_several(&["numpy.fft.fftn"], "fft.fftn", "`fft` along several axes, or all."),
    along_several(&["numpy.fft.ifftn"], "fft.ifftn", "`ifft` along several axes, or all."),
    along_several(
        &["numpy.fft.rfftn"],
        "fft.rfftn",
        "`rfft` along the last axis, then `fft` along the others.",
    ),
    along_several(&["numpy.fft.irfftn"], "fft.irfftn", "The inverse of `rfftn`."),
    OpDef::new(&["numpy.fft.fftfreq"], "n, d=1.0, device=None", Body::Py("fft.fftfreq"))
        .raises()
        .doc("Frequencies of what `fft` gives, with points `d` apart."),
    OpDef::new(&["numpy.fft.rfftfreq"], "n, d=1.0, device=None", Body::Py("fft.rfftfreq"))
        .raises()
        .doc("Frequencies of what `rfft` gives, with points `d` apart."),
    OpDef::new(&["numpy.fft.fftshift"], "x, axes=None", Body::Py("fft.fftshift"))
        .raises()
        .reads()
        .doc("The frequency 0 moved to the middle, along some axes or all."),
    OpDef::new(&["numpy.fft.ifftshift"], "x, axes=None", Body::Py("fft.ifftshift"))
        .raises()
        .reads()
        .doc("The inverse of `fftshift`."),
    OpDef::new(&["numpy.fft._lines"], "which, a, factor, out", Body::Lir(|_, a| lines_rule(a), emit_lines))
        .raises()
        .writes()
        .doc("Transforms along the last axis into an array of the loop's own type."),
];

const fn along_one(paths: &'static [&'static str], body: &'static str, doc: &'static str) -> OpDef {
    transform(paths, "a, n=None, axis=-1, norm=None, out=None", body, doc)
}

const fn along_two(paths: &'static [&'static str], body: &'static str, doc: &'static str) -> OpDef {
    transform(paths, "a, s=None, axes=(-2, -1), norm=None, out=None", body, doc)
}

const fn along_several(paths: &'static [&'static str], body: &'static str, doc: &'static str) -> OpDef {
    transform(paths, "a, s=None, axes=None, norm=None, out=None", body, doc)
}

const fn transform(
    paths: &'static [&'static str],
    params: &'static str,
    body: &'static str,
    doc: &'static str,
) -> OpDef {
    OpDef::new(paths, params, Body::Py(body)).raises().writes().doc(doc)
}

/// Operands of one loop: arrays of the same rank, in one precision.
fn lines_rule(args: &[Arg]) -> Result<Answer> {
    let fits = match (args[1].ty.as_array(), args[3].ty.as_array()) {
        (Some(a), Some(out)) => {
            a.ndim() == out.ndim() && a.ndim() > 0 && is_single(a.dtype) == is_single(out.dtype)
        }
        _ => false,
    };
    if fits && args[0].ty.is_index() && args[2].ty.is_float() {
        Ok(Answer::of(Type::none()))
    } else {
        Err(no_match("a Fourier transform along the last axis", args))
    }
}

fn is_single(t: Type) -> bool {
    t == Type::float_of(Float::F32) || t == Type::new(Kind::Complex(Float::F32))
}

fn emit_lines(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let a = ArrayVal::new(cx, &c.args[1], c.types[1])?;
    let out = ArrayVal::new(cx, &c.args[3], c.types[3])?;
    let which = cast::cast(cx, &c.args[0], c.types[0], Type::int())?[0];
    let factor = cast::cast(cx, &c.args[2], c.types[2], Type::f64())?[0];
    let rank = cx.b.i64(out.shape.len() as i64);
    let points = *a.shape.last().unwrap_or(&rank);
    let dims: Vec<Value> = [&[rank][..], &out.shape, &[points], &a.strides, &out.strides].concat();
    let (single, dims) = (cx.b.i64(is_single(out.ty.dtype) as i64), cx.spill(&dims));
    cx.helper(&fft_lines, &[which, single, dims, a.data, factor, out.data]);
    Ok(vec![])
}
