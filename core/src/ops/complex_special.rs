//! What functions of complex numbers give where a part is infinite or NaN: CPython's tables (`cmathmodule.c`), by the
//! kinds of both parts.
//!
//! A table has a row for each kind of the real part and a letter in it for each kind of the imaginary part: minus
//! infinity, negative, -0, 0, positive, infinity, NaN. `0 o` are 0 and -0, `1 m` 1 and -1, `I i` the infinities, `n`
//! NaN, `H h` ±π/2, `Q q` ±π/4, `T t` ±3π/4, `P p` ±π; at a point the formula holds.

use crate::emit::cx::LowerCx;
use crate::exc::Class;
use crate::lir::{Op, Ty, Value};
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};

/// Kinds of a part.
const KINDS: usize = 7;
const LETTERS: &[u8; 16] = b".0o1mIinHhQqTtPp";
const VALUES: [f64; 16] = [
    0.0,
    0.0,
    -0.0,
    1.0,
    -1.0,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
    FRAC_PI_2,
    -FRAC_PI_2,
    FRAC_PI_4,
    -FRAC_PI_4,
    3.0 * FRAC_PI_4,
    -3.0 * FRAC_PI_4,
    PI,
    -PI,
];

/// A function's tables: four bits for each pair of kinds, a word for each kind of the real part.
pub(super) struct Special {
    parts: [[u32; KINDS]; 2],
    /// Bit by bit, for which kinds of the real part an infinite imaginary part is an error of `cmath`.
    errors: i64,
}

const fn words(text: &str) -> [u32; KINDS] {
    let (text, mut out, mut k) = (text.as_bytes(), [0; KINDS], 0);
    assert!(text.len() == KINDS * (KINDS + 1) - 1, "seven rows of seven letters");
    while k < text.len() {
        let (row, column) = (k / (KINDS + 1), k % (KINDS + 1));
        if column < KINDS {
            let mut code = 0;
            while LETTERS[code] != text[k] {
                code += 1;
            }
            out[row] |= (code as u32) << (4 * column);
        }
        k += 1;
    }
    out
}

const fn special(re: &str, im: &str, errors: i64) -> Special {
    Special { parts: [words(re), words(im)], errors }
}

pub(super) static EXP: Special = special(
    "0.00.00 n....nn n....nn n....nn n....nn I.II.II nnnnnnn",
    "0.o0.00 n....nn n....nn n....nn n....nn n.o0.nn nno0nnn",
    0b011_1110,
);
pub(super) static LOG: Special = special(
    "IIIIIII I....In I....In I....In I....In IIIIIII InnnnIn",
    "tppPPTn h....Hn h....Hn h....Hn h....Hn qoo00Qn nnnnnnn",
    0b000_0000,
);
pub(super) static SQRT: Special = special(
    "I0000In I....In I....In I....In I....In IIIIIII InnnnIn",
    "iiiIIII i....In i....In i....In i....In ioo00In innnnIn",
    0b000_0000,
);
pub(super) static COSH: Special = special(
    "I.II.II n....nn n....nn n....nn n....nn I.II.II nnnnnnn",
    "n.0o.nn n....nn 0....00 0....00 n....nn n.o0.nn nn00nnn",
    0b011_1111,
);
pub(super) static SINH: Special = special(
    "I.ii.II n....nn o....o0 0....00 n....nn I.II.II nnnnnnn",
    "n.o0.nn n....nn n....nn n....nn n....nn n.o0.nn nno0nnn",
    0b011_1111,
);
pub(super) static TANH: Special = special(
    "m.mm.mm n....nn o....on 0....0n n....nn 1.11.11 nnnnnnn",
    "0.o0.00 n....nn n....nn n....nn n....nn 0.o0.00 nno0nnn",
    0b001_1110,
);
pub(super) static ASINH: Special = special(
    "iiiiiii i....in i....in I....In I....In IIIIIII InnnnIn",
    "qoo00Qn h....Hn h....Hn h....Hn h....Hn qoo00Qn nno0nnn",
    0b000_0000,
);
pub(super) static ACOSH: Special = special(
    "IIIIIII I....In I....In I....In I....In IIIIIII InnnnIn",
    "tppPPTn h....Hn h....Hn h....Hn h....Hn qoo00Qn nnnnnnn",
    0b000_0000,
);
pub(super) static ACOS: Special = special(
    "TPPPPTn H....Hn H....HH H....HH H....Hn Q0000Qn nnnnnnn",
    "IIIiiiI I....in I....in I....in I....in IIIiiiI Innnnin",
    0b000_0000,
);
pub(super) static ATANH: Special = special(
    "ooooooo o....on o....oo 0....00 0....0n 0000000 0nnnn0n",
    "hhhHHHn h....Hn h....Hn h....Hn h....Hn hhhHHHn hnnnnHn",
    0b000_0000,
);
pub(super) static RECT: Special = special(
    "I.ii.II n....nn 0....00 0....00 n....nn I.II.II nnnnnnn",
    "n.0o.nn n....nn 0....00 0....00 n....nn n.o0.nn nn00nnn",
    0b011_0011,
);

/// Which kind a part is of.
fn kind(cx: &mut LowerCx<'_>, x: Value) -> Value {
    let zero = cx.b.f64(0.0);
    let bits = cx.b.conv(Op::Bitcast, Ty::I64, x);
    let negative = cx.b.bin_imm(Op::IcmpSlt, bits, 0);
    let pick = |cx: &mut LowerCx<'_>, plus: i64, minus: i64| {
        let (plus, minus) = (cx.b.i64(plus), cx.b.i64(minus));
        cx.b.select(negative, minus, plus)
    };
    let (naught, plain, endless, nan) = (pick(cx, 3, 2), pick(cx, 4, 1), pick(cx, 5, 0), cx.b.i64(6));
    let size = cx.b.un(Op::Fabs, x);
    let infinity = cx.b.f64(f64::INFINITY);
    let (is_naught, is_endless) = (cx.b.bin(Op::FcmpEq, x, zero), cx.b.bin(Op::FcmpEq, size, infinity));
    let is_nan = cx.b.bin(Op::FcmpUno, x, x);
    let found = cx.b.select(is_naught, naught, plain);
    let found = cx.b.select(is_endless, endless, found);
    cx.b.select(is_nan, nan, found)
}

/// The value that a table has for a pair of kinds; `made` where it has none.
fn looked_up(cx: &mut LowerCx<'_>, table: &[u32; KINDS], kinds: [Value; 2], made: Value) -> Value {
    let mut row = cx.b.i64(i64::from(table[0]));
    for (k, word) in table.iter().enumerate().skip(1) {
        let (word, is) = (cx.b.i64(i64::from(*word)), cx.b.bin_imm(Op::IcmpEq, kinds[0], k as i64));
        row = cx.b.select(is, word, row);
    }
    let shift = cx.b.bin_imm(Op::Ishl, kinds[1], 2);
    let code = cx.b.bin(Op::Ushr, row, shift);
    let code = cx.b.bin_imm(Op::Band, code, 15);
    let mut out = made;
    for (k, value) in VALUES.into_iter().enumerate().skip(1) {
        if !table.iter().any(|word| (0..KINDS).any(|at| (word >> (4 * at) & 15) as usize == k)) {
            continue;
        }
        let (value, is) = (cx.b.f64(value), cx.b.bin_imm(Op::IcmpEq, code, k as i64));
        out = cx.b.select(is, value, out);
    }
    out
}

impl Special {
    /// What a function gives at `z`, for which its formula has `made`. With `raises` the errors of `cmath`.
    pub(super) fn at(
        &self,
        cx: &mut LowerCx<'_>,
        z: [Value; 2],
        made: [Value; 2],
        raises: bool,
    ) -> [Value; 2] {
        let infinity = cx.b.f64(f64::INFINITY);
        let [finite, y_finite] = z.map(|part| {
            let size = cx.b.un(Op::Fabs, part);
            cx.b.bin(Op::FcmpLt, size, infinity)
        });
        let plain = cx.and(finite, y_finite);
        let (odd, join) = (cx.b.new_cold_block(&[]), cx.b.new_block(&[Ty::F64, Ty::F64]));
        cx.b.brif(plain, join, &made, odd, &[]);
        cx.b.switch_to(odd);
        let kinds = z.map(|part| kind(cx, part));
        if raises && self.errors != 0 {
            let errors = cx.b.i64(self.errors);
            let bit = cx.b.bin(Op::Ushr, errors, kinds[0]);
            let row = cx.b.bin_imm(Op::Band, bit, 1);
            let size = cx.b.un(Op::Fabs, z[1]);
            let (row, endless) = (cx.b.bin_imm(Op::IcmpNe, row, 0), cx.b.bin(Op::FcmpEq, size, infinity));
            let wrong = cx.and(row, endless);
            let fine = cx.not(wrong);
            cx.check(fine, Class::ValueError, "math domain error");
        }
        let found: Vec<_> =
            self.parts.iter().zip(made).map(|(table, made)| looked_up(cx, table, kinds, made)).collect();
        cx.b.jump(join, &found);
        cx.b.switch_to(join);
        let found = cx.b.params(join);
        [found[0], found[1]]
    }
}
