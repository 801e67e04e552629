//! Polynomials as arrays of coefficients.

use super::{Body, OpDef};
use crate::types::Const;
use crate::typing::Arg;

const FIT: &str = "x, y, deg, rcond=None, full=False, w=None, cov=False";

fn is_false(a: &Arg) -> bool {
    matches!(a.konst, Some(Const::Bool(false)))
}

pub(crate) static OPS: &[OpDef] = &[
    OpDef::new(&["numpy.roots"], "p", Body::Py("polynomial.roots"))
        .raises()
        .reads()
        .doc("Zeros of a polynomial, those that are 0 last."),
    OpDef::new(&["numpy.poly"], "seq_of_zeros", Body::Py("polynomial.poly"))
        .only_if(|a| !crate::ops::sequence::nested(a[0].ty).is_some_and(|(_, e)| e.is_complex()))
        .raises()
        .reads()
        .doc("Coefficients of the polynomial with these real zeros."),
    OpDef::new(&["numpy.polyfit"], FIT, Body::Py("polynomial.polyfit"))
        .only_if(|a| is_false(&a[4]) && is_false(&a[6]))
        .raises()
        .reads()
        .doc("The polynomial nearest to points. Nothing warns of a poor condition."),
    OpDef::new(&["numpy.polyfit"], FIT, Body::Py("polynomial.polyfit_cov"))
        .only_if(|a| is_false(&a[4]) && a[6].konst.is_some())
        .raises()
        .reads()
        .doc("The polynomial nearest to points, and the covariance of its coefficients. `cov` is a constant."),
    OpDef::new(&["numpy.polyfit"], FIT, Body::Py("polynomial.polyfit_full"))
        .only_if(|a| matches!(a[4].konst, Some(Const::Bool(true))))
        .raises()
        .reads()
        .doc("The polynomial nearest to points, and what the solver of least squares says. `full` is a constant."),
    OpDef::new(&["numpy.polyval"], "p, x", Body::Py("polynomial.polyval"))
        .raises()
        .reads()
        .doc("Values of a polynomial."),
    OpDef::new(&["numpy.polyadd"], "a1, a2", Body::Py("polynomial.polyadd"))
        .raises()
        .reads()
        .doc("Sum of two polynomials."),
    OpDef::new(&["numpy.polysub"], "a1, a2", Body::Py("polynomial.polysub"))
        .raises()
        .reads()
        .doc("Difference of two polynomials."),
    OpDef::new(&["numpy.polymul"], "a1, a2", Body::Py("polynomial.polymul"))
        .raises()
        .reads()
        .doc("Product of two polynomials."),
    OpDef::new(&["numpy.polydiv"], "u, v", Body::Py("polynomial.polydiv"))
        .raises()
        .reads()
        .doc("Quotient and remainder of two polynomials."),
    OpDef::new(&["numpy.polyder"], "p, m=1", Body::Py("polynomial.polyder"))
        .raises()
        .reads()
        .doc("Derivative of a polynomial, `m` times."),
    OpDef::new(&["numpy.polyint"], "p, m=1, k=None", Body::Py("polynomial.polyint"))
        .raises()
        .reads()
        .doc("Integral of a polynomial, `m` times."),
    // Those of `numpy.polynomial` begin with the constant.
    OpDef::new(&["numpy.polynomial.polyutils.trimseq"], "seq", Body::Py("series.trimseq"))
        .raises()
        .reads()
        .doc("The coefficients without zeros at the end."),
    OpDef::new(&["numpy.polynomial.polynomial.polyadd"], "c1, c2", Body::Py("series.polyadd"))
        .raises()
        .reads()
        .doc("The sum of two polynomials."),
    OpDef::new(&["numpy.polynomial.polynomial.polysub"], "c1, c2", Body::Py("series.polysub"))
        .raises()
        .reads()
        .doc("The difference of two polynomials."),
    OpDef::new(&["numpy.polynomial.polynomial.polymul"], "c1, c2", Body::Py("series.polymul"))
        .raises()
        .reads()
        .doc("The product of two polynomials."),
    OpDef::new(&["numpy.polynomial.polynomial.polydiv"], "c1, c2", Body::Py("series.polydiv"))
        .raises()
        .reads()
        .doc("Quotient and remainder of two polynomials."),
    OpDef::new(&["numpy.polynomial.polynomial.polyval"], "x, c, tensor=True", Body::Py("series.polyval"))
        .raises()
        .reads()
        .doc("The values of a polynomial."),
    OpDef::new(&["numpy.polynomial.polynomial.polyint"], "c, m=1", Body::Py("series.polyint"))
        .raises()
        .reads()
        .doc("The integral of a polynomial that is 0 at 0, `m` times."),
];
