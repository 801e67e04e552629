//! Values of complex functions where an argument is infinite or NaN, as C99's annex G gives them.
//!
//! Rows are the real part, columns the imaginary part: -inf, negative, -0, +0, positive, +inf, NaN. `U` is
//! never looked up: both parts are finite.

const I: f64 = f64::INFINITY;
const N: f64 = f64::NAN;
const P: f64 = std::f64::consts::PI;
const P12: f64 = std::f64::consts::FRAC_PI_2;
const P14: f64 = std::f64::consts::FRAC_PI_4;
const P34: f64 = 3.0 * P14;
const U: (f64, f64) = (N, N);

pub(crate) type Table = [[(f64, f64); 7]; 7];

fn class(x: f64) -> usize {
    match (x.is_nan(), x.is_infinite(), x == 0.0, x.is_sign_negative()) {
        (true, ..) => 6,
        (_, true, _, negative) => {
            if negative {
                0
            } else {
                5
            }
        }
        (_, _, true, negative) => {
            if negative {
                2
            } else {
                3
            }
        }
        (_, _, _, negative) => {
            if negative {
                1
            } else {
                4
            }
        }
    }
}
pub(crate) fn lookup(table: &Table, re: f64, im: f64) -> (f64, f64) {
    table[class(re)][class(im)]
}

pub(crate) static ACOS: Table = [
    [(P34, I), (P, I), (P, I), (P, -I), (P, -I), (P34, -I), (N, I)],
    [(P12, I), U, U, U, U, (P12, -I), (N, N)],
    [(P12, I), U, U, U, U, (P12, -I), (P12, N)],
    [(P12, I), U, U, U, U, (P12, -I), (P12, N)],
    [(P12, I), U, U, U, U, (P12, -I), (N, N)],
    [(P14, I), (0.0, I), (0.0, I), (0.0, -I), (0.0, -I), (P14, -I), (N, I)],
    [(N, I), (N, N), (N, N), (N, N), (N, N), (N, -I), (N, N)],
];
pub(crate) static ACOSH: Table = [
    [(I, -P34), (I, -P), (I, -P), (I, P), (I, P), (I, P34), (I, N)],
    [(I, -P12), U, U, U, U, (I, P12), (N, N)],
    [(I, -P12), U, U, U, U, (I, P12), (N, N)],
    [(I, -P12), U, U, U, U, (I, P12), (N, N)],
    [(I, -P12), U, U, U, U, (I, P12), (N, N)],
    [(I, -P14), (I, -0.0), (I, -0.0), (I, 0.0), (I, 0.0), (I, P14), (I, N)],
    [(I, N), (N, N), (N, N), (N, N), (N, N), (I, N), (N, N)],
];
pub(crate) static ASINH: Table = [
    [(-I, -P14), (-I, -0.0), (-I, -0.0), (-I, 0.0), (-I, 0.0), (-I, P14), (-I, N)],
    [(-I, -P12), U, U, U, U, (-I, P12), (N, N)],
    [(-I, -P12), U, U, U, U, (-I, P12), (N, N)],
    [(I, -P12), U, U, U, U, (I, P12), (N, N)],
    [(I, -P12), U, U, U, U, (I, P12), (N, N)],
    [(I, -P14), (I, -0.0), (I, -0.0), (I, 0.0), (I, 0.0), (I, P14), (I, N)],
    [(I, N), (N, N), (N, -0.0), (N, 0.0), (N, N), (I, N), (N, N)],
];
pub(crate) static ATANH: Table = [
    [(-0.0, -P12), (-0.0, -P12), (-0.0, -P12), (-0.0, P12), (-0.0, P12), (-0.0, P12), (-0.0, N)],
    [(-0.0, -P12), U, U, U, U, (-0.0, P12), (N, N)],
    [(-0.0, -P12), U, U, U, U, (-0.0, P12), (-0.0, N)],
    [(0.0, -P12), U, U, U, U, (0.0, P12), (0.0, N)],
    [(0.0, -P12), U, U, U, U, (0.0, P12), (N, N)],
    [(0.0, -P12), (0.0, -P12), (0.0, -P12), (0.0, P12), (0.0, P12), (0.0, P12), (0.0, N)],
    [(0.0, -P12), (N, N), (N, N), (N, N), (N, N), (0.0, P12), (N, N)],
];
pub(crate) static COSH: Table = [
    [(I, N), (I, I), (I, 0.0), (I, -0.0), (I, -I), (I, N), (I, N)],
    [(N, N), U, U, U, U, (N, N), (N, N)],
    [(N, 0.0), U, U, U, U, (N, 0.0), (N, 0.0)],
    [(N, 0.0), U, U, U, U, (N, 0.0), (N, 0.0)],
    [(N, N), U, U, U, U, (N, N), (N, N)],
    [(I, N), (I, -I), (I, -0.0), (I, 0.0), (I, I), (I, N), (I, N)],
    [(N, N), (N, N), (N, 0.0), (N, 0.0), (N, N), (N, N), (N, N)],
];
pub(crate) static EXP: Table = [
    [(0.0, 0.0), (0.0, -0.0), (0.0, -0.0), (0.0, 0.0), (0.0, 0.0), (0.0, 0.0), (0.0, 0.0)],
    [(N, N), U, U, U, U, (N, N), (N, N)],
    [(N, N), U, U, U, U, (N, N), (N, N)],
    [(N, N), U, U, U, U, (N, N), (N, N)],
    [(N, N), U, U, U, U, (N, N), (N, N)],
    [(I, N), (I, -I), (I, -0.0), (I, 0.0), (I, I), (I, N), (I, N)],
    [(N, N), (N, N), (N, -0.0), (N, 0.0), (N, N), (N, N), (N, N)],
];
pub(crate) static LOG: Table = [
    [(I, -P34), (I, -P), (I, -P), (I, P), (I, P), (I, P34), (I, N)],
    [(I, -P12), U, U, U, U, (I, P12), (N, N)],
    [(I, -P12), U, U, U, U, (I, P12), (N, N)],
    [(I, -P12), U, U, U, U, (I, P12), (N, N)],
    [(I, -P12), U, U, U, U, (I, P12), (N, N)],
    [(I, -P14), (I, -0.0), (I, -0.0), (I, 0.0), (I, 0.0), (I, P14), (I, N)],
    [(I, N), (N, N), (N, N), (N, N), (N, N), (I, N), (N, N)],
];
pub(crate) static SINH: Table = [
    [(I, N), (-I, -I), (-I, -0.0), (-I, 0.0), (-I, I), (I, N), (I, N)],
    [(N, N), U, U, U, U, (N, N), (N, N)],
    [(-0.0, N), U, U, U, U, (-0.0, N), (0.0, N)],
    [(0.0, N), U, U, U, U, (0.0, N), (0.0, N)],
    [(N, N), U, U, U, U, (N, N), (N, N)],
    [(I, N), (I, -I), (I, -0.0), (I, 0.0), (I, I), (I, N), (I, N)],
    [(N, N), (N, N), (N, -0.0), (N, 0.0), (N, N), (N, N), (N, N)],
];
pub(crate) static SQRT: Table = [
    [(I, -I), (0.0, -I), (0.0, -I), (0.0, I), (0.0, I), (I, I), (N, I)],
    [(I, -I), U, U, U, U, (I, I), (N, N)],
    [(I, -I), U, U, U, U, (I, I), (N, N)],
    [(I, -I), U, U, U, U, (I, I), (N, N)],
    [(I, -I), U, U, U, U, (I, I), (N, N)],
    [(I, -I), (I, -0.0), (I, -0.0), (I, 0.0), (I, 0.0), (I, I), (I, N)],
    [(I, -I), (N, N), (N, N), (N, N), (N, N), (I, I), (N, N)],
];
pub(crate) static TANH: Table = [
    [(-1.0, 0.0), (-1.0, -0.0), (-1.0, -0.0), (-1.0, 0.0), (-1.0, 0.0), (-1.0, 0.0), (-1.0, 0.0)],
    [(N, N), U, U, U, U, (N, N), (N, N)],
    [(-0.0, N), U, U, U, U, (-0.0, N), (N, N)],
    [(0.0, N), U, U, U, U, (0.0, N), (N, N)],
    [(N, N), U, U, U, U, (N, N), (N, N)],
    [(1.0, 0.0), (1.0, -0.0), (1.0, -0.0), (1.0, 0.0), (1.0, 0.0), (1.0, 0.0), (1.0, 0.0)],
    [(N, N), (N, N), (N, -0.0), (N, 0.0), (N, N), (N, N), (N, N)],
];
pub(crate) static RECT: Table = [
    [(I, N), (-I, I), (-I, 0.0), (-I, -0.0), (-I, -I), (I, N), (I, N)],
    [(N, N), U, U, U, U, (N, N), (N, N)],
    [(0.0, 0.0), U, U, U, U, (0.0, 0.0), (0.0, 0.0)],
    [(0.0, 0.0), U, U, U, U, (0.0, 0.0), (0.0, 0.0)],
    [(N, N), U, U, U, U, (N, N), (N, N)],
    [(I, N), (I, -I), (I, -0.0), (I, 0.0), (I, I), (I, N), (I, N)],
    [(N, N), (N, N), (N, 0.0), (N, 0.0), (N, N), (N, N), (N, N)],
];
