//! Single numbers without a call, or with one of a function that does little: the streams of a thread are
//! read where the code stands, and distributions that are a formula of one number are that formula. What a
//! parameter may not be, and what happens once in a thousand draws, is left to the helper that knows all of
//! it.

use super::*;
use crate::diag::Result;
use crate::layout::STREAM_WORDS;
use crate::lir::Alias;
use crate::offset;
use crate::rt::RtFn;

/// Streams of a thread.
pub(crate) const NUMPY: i64 = 0;
pub(crate) const PYTHON: i64 = 1;

/// The next `count` words of a stream as bits of one number, the first lowest, where they are ready; else
/// what `empty` gives for the whole number that `ready` makes of them.
fn read(
    cx: &mut LowerCx<'_>,
    which: i64,
    count: i64,
    ready: impl FnOnce(&mut LowerCx<'_>, Value) -> Value,
    empty: impl FnOnce(&mut LowerCx<'_>) -> Value,
) -> Value {
    let which = cx.b.i64(which);
    let stream = cx.helper_value(&random_stream, &[which]);
    let at = cx.b.load(Ty::I64, stream, offset!(WordStream.at), Alias::Object);
    let enough = cx.b.bin_imm(Op::IcmpSle, at, STREAM_WORDS - count);
    let (full, cold) = (cx.b.new_block(&[]), cx.b.new_cold_block(&[]));
    cx.b.brif(enough, full, &[], cold, &[]);
    cx.b.switch_to(full);
    let bytes = cx.b.bin_imm(Op::Ishl, at, 2);
    let place = cx.b.ptr_add(stream, bytes);
    let word = cx.b.load(
        if count == 2 { Ty::I64 } else { Ty::I32 },
        place,
        offset!(WordStream.ready),
        Alias::Object,
    );
    let next = cx.b.bin_imm(Op::Iadd, at, count);
    cx.b.store(next, stream, offset!(WordStream.at), Alias::Object);
    let x = ready(cx, word);
    let ty = cx.b.ty(x);
    let join = cx.b.new_block(&[ty]);
    cx.b.jump(join, &[x]);
    cx.b.switch_to(cold);
    let x = empty(cx);
    cx.b.jump(join, &[x]);
    cx.b.switch_to(join);
    cx.b.params(join)[0]
}

/// A number of [0, 1): 27 bits of a word, then 26 of the next.
pub(crate) fn uniform(cx: &mut LowerCx<'_>, which: i64) -> Value {
    let ready = |cx: &mut LowerCx<'_>, words: Value| {
        let high = cx.b.bin_imm(Op::Band, words, 0xffff_ffe0);
        let high = cx.b.bin_imm(Op::Ishl, high, 21);
        let low = cx.b.bin_imm(Op::Ushr, words, 38);
        let all = cx.b.bin(Op::Bor, high, low);
        let x = cx.b.conv(Op::SintToF, Ty::F64, all);
        let step = cx.b.f64(1.0 / 9_007_199_254_740_992.0);
        cx.b.bin(Op::Fmul, x, step)
    };
    read(cx, which, 2, ready, |cx| {
        if which == PYTHON {
            return cx.helper_value(&random_python, &[]);
        }
        let none = cx.b.null();
        cx.helper_value(&random_uniform, &[none])
    })
}

/// The next 32 bits.
fn word(cx: &mut LowerCx<'_>, which: i64) -> Value {
    read(
        cx,
        which,
        1,
        |cx, w| cx.b.conv(Op::Zext, Ty::I64, w),
        |cx| {
            let which = cx.b.i64(which);
            cx.helper_value(&random_word, &[which])
        },
    )
}

/// What `few` makes of words while `test` refuses it, where `small` holds; else what `helper` gives.
fn until(
    cx: &mut LowerCx<'_>,
    small: Value,
    few: impl FnOnce(&mut LowerCx<'_>) -> Value,
    test: impl FnOnce(&mut LowerCx<'_>, Value) -> Value,
    helper: impl FnOnce(&mut LowerCx<'_>) -> Value,
) -> Result<Value> {
    let x = cx.if_else(
        small,
        |cx| {
            let (again, done) = (cx.b.new_block(&[]), cx.b.new_block(&[]));
            cx.b.jump(again, &[]);
            cx.b.switch_to(again);
            let x = few(cx);
            let fits = test(cx, x);
            cx.b.brif(fits, done, &[], again, &[]);
            cx.b.switch_to(done);
            Ok(vec![x])
        },
        |cx| Ok(vec![helper(cx)]),
    )?;
    Ok(x[0])
}

/// An integer of `low` to `low + range`, as the legacy functions draw it: as many bits as `range` has, until
/// they do not exceed it.
pub(crate) fn masked(cx: &mut LowerCx<'_>, low: Value, range: Value) -> Result<Value> {
    // Of one word, and not of none.
    let below = cx.b.bin_imm(Op::Isub, range, 1);
    let limit = cx.b.i64(0xffff_ffff);
    let small = cx.b.bin(Op::IcmpUlt, below, limit);
    let zeros = cx.b.un(Op::Clz, range);
    let all = cx.b.i64(-1);
    let mask = cx.b.bin(Op::Ushr, all, zeros);
    let x = until(
        cx,
        small,
        |cx| {
            let w = word(cx, NUMPY);
            cx.b.bin(Op::Band, w, mask)
        },
        |cx, x| cx.b.bin(Op::IcmpUle, x, range),
        |cx| {
            let none = cx.b.null();
            cx.helper_value(&random_interval, &[none, range])
        },
    )?;
    Ok(cx.b.bin(Op::Iadd, low, x))
}

/// `random._randbelow(n)`.
pub(crate) fn below(cx: &mut LowerCx<'_>, n: Value) -> Result<Value> {
    let less = cx.b.bin_imm(Op::Isub, n, 1);
    let limit = cx.b.i64(0xffff_ffff);
    let small = cx.b.bin(Op::IcmpUlt, less, limit);
    let zeros = cx.b.un(Op::Clz, n);
    let unwanted = cx.b.bin_imm(Op::Isub, zeros, 32);
    until(
        cx,
        small,
        |cx| {
            let w = word(cx, PYTHON);
            cx.b.bin(Op::Ushr, w, unwanted)
        },
        |cx, x| cx.b.bin(Op::IcmpUlt, x, n),
        |cx| cx.helper_value(&random_below, &[n]),
    )
}

/// `random.getrandbits(k)`, for `k` of 0 to 64.
pub(crate) fn some_bits(cx: &mut LowerCx<'_>, k: Value) -> Result<Value> {
    let less = cx.b.bin_imm(Op::Isub, k, 1);
    let limit = cx.b.i64(32);
    let small = cx.b.bin(Op::IcmpUlt, less, limit);
    let x = cx.if_else(
        small,
        |cx| {
            let w = word(cx, PYTHON);
            let unwanted = cx.b.bin(Op::Isub, limit, k);
            Ok(vec![cx.b.bin(Op::Ushr, w, unwanted)])
        },
        |cx| Ok(vec![cx.helper_value(&random_bits, &[k])]),
    )?;
    Ok(x[0])
}

/// Where single numbers come from.
#[derive(Clone, Copy)]
enum From {
    Numpy,
    Python,
    Generator(Value),
}

impl From {
    fn uniform(self, cx: &mut LowerCx<'_>) -> Value {
        match self {
            From::Numpy => uniform(cx, NUMPY),
            From::Python => uniform(cx, PYTHON),
            From::Generator(g) => cx.helper_value(&random_uniform, &[g]),
        }
    }
    fn normal(self, cx: &mut LowerCx<'_>) -> Value {
        let From::Generator(g) = self else { return cx.helper_value(&random_normal, &[]) };
        ziggurat(cx, g, 0, &random_normal_from)
    }
    /// By the ziggurat method; others take a logarithm.
    fn exponential(self, cx: &mut LowerCx<'_>) -> Value {
        if let From::Generator(g) = self {
            return ziggurat(cx, g, 1, &random_exponential_from);
        }
        let u = self.uniform(cx);
        let rest = f(cx, 1.0).minus(cx, u);
        let log = cx.helper_value(&random_log, &[rest]);
        cx.b.un(Op::Fneg, log)
    }
}

/// A number of the normal (0) or exponential (1) distribution by the ziggurat method: nearly all 64 bits are
/// accepted at once, and `rest` goes on with those that are not.
fn ziggurat(cx: &mut LowerCx<'_>, g: Value, which: i64, rest: &'static RtFn) -> Value {
    let first = cx.helper_value(&random_next, &[g]);
    let normal = which == 0;
    let which = cx.b.i64(which);
    let layers = cx.helper_value(&random_layers, &[which]);
    let low = if normal { first } else { cx.b.bin_imm(Op::Ushr, first, 3) };
    let layer = cx.b.bin_imm(Op::Band, low, 0xff);
    let offset = cx.b.bin_imm(Op::Ishl, layer, 4);
    let layer = cx.b.ptr_add(layers, offset);
    let size = cx.b.bin_imm(Op::Ushr, low, if normal { 9 } else { 8 });
    let size = if normal { cx.b.bin_imm(Op::Band, size, 0xf_ffff_ffff_ffff) } else { size };
    // Aliases an object's words, which nobody writes while this runs.
    let below = cx.b.load(Ty::I64, layer, offset!(Layer.below), Alias::Object);
    let width = cx.b.load(Ty::F64, layer, offset!(Layer.width), Alias::Object);
    let number = cx.b.conv(Op::SintToF, Ty::F64, size);
    let x = number.times(cx, width);
    let x = if normal {
        let (word, sign) = (cx.b.conv(Op::Bitcast, Ty::I64, x), cx.b.bin_imm(Op::Ushr, first, 8));
        let sign = cx.b.bin_imm(Op::Ishl, sign, 63);
        let word = cx.b.bin(Op::Bxor, word, sign);
        cx.b.conv(Op::Bitcast, Ty::F64, word)
    } else {
        x
    };
    let accepted = cx.b.bin(Op::IcmpUlt, size, below);
    super::super::quick::or_slowly(cx, accepted, x, |cx| cx.helper_value(rest, &[g, first]))
}

/// Arithmetic that reads from left to right.
trait Float64 {
    fn plus(self, cx: &mut LowerCx<'_>, x: Value) -> Value;
    fn minus(self, cx: &mut LowerCx<'_>, x: Value) -> Value;
    fn times(self, cx: &mut LowerCx<'_>, x: Value) -> Value;
    fn by(self, cx: &mut LowerCx<'_>, x: Value) -> Value;
}
impl Float64 for Value {
    fn plus(self, cx: &mut LowerCx<'_>, x: Value) -> Value {
        cx.b.bin(Op::Fadd, self, x)
    }
    fn minus(self, cx: &mut LowerCx<'_>, x: Value) -> Value {
        cx.b.bin(Op::Fsub, self, x)
    }
    fn times(self, cx: &mut LowerCx<'_>, x: Value) -> Value {
        cx.b.bin(Op::Fmul, self, x)
    }
    fn by(self, cx: &mut LowerCx<'_>, x: Value) -> Value {
        cx.b.bin(Op::Fdiv, self, x)
    }
}
fn f(cx: &mut LowerCx<'_>, x: f64) -> Value {
    cx.b.f64(x)
}

/// What a distribution's helper does about parameters, as the condition under which nothing needs to be done;
/// none where this draws the distribution not at all. What is in doubt goes to the helper, which knows what
/// NumPy says.
fn fine(cx: &mut LowerCx<'_>, draw: Draw, from: From, p: &[Value]) -> Option<Value> {
    let at_least = |cx: &mut LowerCx<'_>, x: Value, least: f64| {
        let least = cx.b.f64(least);
        cx.b.bin(Op::FcmpGe, x, least)
    };
    // NumPy refuses -0.0 and lets NaN pass.
    let unsigned = |cx: &mut LowerCx<'_>, x: Value| {
        let word = cx.b.conv(Op::Bitcast, Ty::I64, x);
        cx.b.bin_imm(Op::IcmpSge, word, 0)
    };
    let above = |cx: &mut LowerCx<'_>, x: Value, least: f64| {
        let least = cx.b.f64(least);
        cx.b.bin(Op::FcmpGt, x, least)
    };
    let always = |cx: &mut LowerCx<'_>| Some(cx.b.bool(true));
    match draw {
        Draw::Uniform01 | Draw::Normal01 | Draw::Exponential1 | Draw::PyUniform => always(cx),
        Draw::Uniform => {
            let range = p[1].minus(cx, p[0]);
            let size = if matches!(from, From::Generator(_)) { range } else { cx.b.un(Op::Fabs, range) };
            let infinite = cx.b.f64(f64::INFINITY);
            let (some, finite) =
                (at_least(cx, size, f64::MIN_POSITIVE), cx.b.bin(Op::FcmpLt, size, infinite));
            Some(cx.and(some, finite))
        }
        Draw::Normal | Draw::Lognormal | Draw::Laplace | Draw::Gumbel | Draw::Logistic => {
            Some(unsigned(cx, p[1]))
        }
        Draw::Exponential | Draw::Rayleigh => Some(unsigned(cx, p[0])),
        Draw::Weibull | Draw::Pareto | Draw::Power => Some(above(cx, p[0], 0.0)),
        Draw::PyExponential | Draw::PyPareto => {
            let zero = cx.b.f64(0.0);
            Some(cx.b.bin(Op::FcmpNe, p[0], zero))
        }
        Draw::PyTriangular => always(cx),
        Draw::PyTriangularMode => Some(cx.b.bin(Op::FcmpNe, p[0], p[1])),
        Draw::PyWeibull => {
            let zero = cx.b.f64(0.0);
            Some(cx.b.bin(Op::FcmpNe, p[1], zero))
        }
        Draw::Triangular => {
            let (a, b, c) = (
                cx.b.bin(Op::FcmpLe, p[0], p[1]),
                cx.b.bin(Op::FcmpLe, p[1], p[2]),
                cx.b.bin(Op::FcmpLt, p[0], p[2]),
            );
            let ab = cx.and(a, b);
            Some(cx.and(ab, c))
        }
        Draw::Uniform01F32
        | Draw::Normal01F32
        | Draw::Exponential1F32
        | Draw::Inverse
        | Draw::InverseF32
        | Draw::Gamma1
        | Draw::Gamma1F32
        | Draw::Gamma
        | Draw::Beta
        | Draw::Chisquare
        | Draw::NoncentralChisquare
        | Draw::F
        | Draw::NoncentralF
        | Draw::Student
        | Draw::Cauchy
        | Draw::Vonmises
        | Draw::Wald
        | Draw::Binomial
        | Draw::Share
        | Draw::NegativeBinomial
        | Draw::Poisson
        | Draw::Zipf
        | Draw::Geometric
        | Draw::Hypergeometric
        | Draw::Logseries
        | Draw::PyNormal
        | Draw::PyGauss
        | Draw::PyLognormal
        | Draw::PyVonmises
        | Draw::PyGamma
        | Draw::PyBeta => None,
    }
}

/// One number of a distribution that is little more than a formula; none of another. `words` are the bits of
/// the parameters; `called` asks the helper.
pub(crate) fn simple(
    cx: &mut LowerCx<'_>,
    draw: Draw,
    generator: Option<Value>,
    words: &[Value],
    called: impl FnOnce(&mut LowerCx<'_>) -> Value,
) -> Result<Option<Value>> {
    let from = match generator {
        Some(g) => From::Generator(g),
        None if draw.is_pythons() => From::Python,
        None => From::Numpy,
    };
    let p: Vec<Value> = draw
        .params()
        .iter()
        .zip(words)
        .filter(|(p, _)| !p.int)
        .map(|(_, w)| cx.b.conv(Op::Bitcast, Ty::F64, *w))
        .collect();
    let Some(ok) = fine(cx, draw, from, &p) else { return Ok(None) };
    let (good, bad, join) = (cx.b.new_block(&[]), cx.b.new_cold_block(&[]), cx.b.new_block(&[Ty::F64]));
    cx.b.brif(ok, good, &[], bad, &[]);
    cx.b.switch_to(good);
    let x = if matches!(draw, Draw::Laplace | Draw::Gumbel | Draw::Logistic) {
        of_a_logarithm(cx, draw, from, (p[0], p[1]), bad)
    } else if matches!(draw, Draw::Triangular) {
        triangular(cx, from, &p)?
    } else if matches!(draw, Draw::PyTriangular | Draw::PyTriangularMode) {
        pythons_triangular(cx, from, &p)
    } else {
        formula(cx, draw, from, &p)
    };
    cx.b.jump(join, &[x]);
    cx.b.switch_to(bad);
    let x = called(cx);
    cx.b.jump(join, &[x]);
    cx.b.switch_to(join);
    Ok(Some(cx.b.params(join)[0]))
}

#[expect(clippy::wildcard_enum_match_arm, reason = "any other is an exponential number")]
fn formula(cx: &mut LowerCx<'_>, draw: Draw, from: From, p: &[Value]) -> Value {
    let modern = matches!(from, From::Generator(_));
    if let Draw::Uniform | Draw::PyUniform = draw {
        let range = p[1].minus(cx, p[0]);
        let u = from.uniform(cx);
        let x = range.times(cx, u);
        return p[0].plus(cx, x);
    }
    if let Draw::Normal | Draw::Lognormal = draw {
        let z = from.normal(cx);
        let z = p[1].times(cx, z);
        let x = p[0].plus(cx, z);
        return if draw == Draw::Normal { x } else { cx.helper_value(&random_exp, &[x]) };
    }
    if draw == Draw::Uniform01 {
        return from.uniform(cx);
    }
    if draw == Draw::Normal01 {
        return from.normal(cx);
    }
    if draw == Draw::Rayleigh && !modern {
        let u = from.uniform(cx);
        let rest = cx.b.un(Op::Fneg, u);
        let log = cx.helper_value(&random_log1p, &[rest]);
        let square = f(cx, -2.0).times(cx, log);
        let root = cx.b.un(Op::Fsqrt, square);
        return p[0].times(cx, root);
    }
    let one = cx.b.f64(1.0);
    if draw == Draw::PyPareto {
        let u = from.uniform(cx);
        let (rest, power) = (one.minus(cx, u), f(cx, -1.0).by(cx, p[0]));
        return cx.helper_value(&random_pow, &[rest, power]);
    }
    let e = from.exponential(cx);
    // `exp(x) - 1`, which the legacy functions round twice.
    let exp_minus_1 = |cx: &mut LowerCx<'_>, x: Value| {
        if modern {
            cx.helper_value(&random_expm1, &[x])
        } else {
            cx.helper_value(&random_exp, &[x]).minus(cx, one)
        }
    };
    match draw {
        Draw::Exponential => p[0].times(cx, e),
        Draw::PyExponential => e.by(cx, p[0]),
        Draw::Rayleigh => {
            let square = f(cx, 2.0).times(cx, e);
            let root = cx.b.un(Op::Fsqrt, square);
            p[0].times(cx, root)
        }
        Draw::PyWeibull => {
            let power = one.by(cx, p[1]);
            let x = cx.helper_value(&random_pow, &[e, power]);
            p[0].times(cx, x)
        }
        Draw::Weibull => {
            let power = one.by(cx, p[0]);
            cx.helper_value(&random_pow, &[e, power])
        }
        Draw::Pareto => {
            let x = e.by(cx, p[0]);
            exp_minus_1(cx, x)
        }
        Draw::Power => {
            let x = cx.b.un(Op::Fneg, e);
            let x = if modern {
                let x = exp_minus_1(cx, x);
                cx.b.un(Op::Fneg, x)
            } else {
                let x = cx.helper_value(&random_exp, &[x]);
                one.minus(cx, x)
            };
            let power = one.by(cx, p[0]);
            cx.helper_value(&random_pow, &[x, power])
        }
        _ => e,
    }
}

/// What is a logarithm of a number that may be none: `again` draws another.
fn of_a_logarithm(
    cx: &mut LowerCx<'_>,
    draw: Draw,
    from: From,
    (loc, scale): (Value, Value),
    again: crate::lir::Block,
) -> Value {
    let u = from.uniform(cx);
    let zero = cx.b.f64(0.0);
    let (some, on) = (cx.b.bin(Op::FcmpGt, u, zero), cx.b.new_block(&[]));
    cx.b.brif(some, on, &[], again, &[]);
    cx.b.switch_to(on);
    let rest = f(cx, 1.0).minus(cx, u);
    if draw == Draw::Laplace {
        let half = cx.b.f64(0.5);
        let upper = cx.b.bin(Op::FcmpGe, u, half);
        let (twice, left) = (u.plus(cx, u), f(cx, 2.0).minus(cx, u));
        let left = left.minus(cx, u);
        let x = cx.b.select(upper, left, twice);
        let log = cx.helper_value(&random_log, &[x]);
        let x = scale.times(cx, log);
        let (above, below) = (loc.minus(cx, x), loc.plus(cx, x));
        return cx.b.select(upper, above, below);
    }
    if draw == Draw::Gumbel {
        let log = cx.helper_value(&random_log, &[rest]);
        let x = cx.b.un(Op::Fneg, log);
        let log = cx.helper_value(&random_log, &[x]);
        let x = scale.times(cx, log);
        return loc.minus(cx, x);
    }
    // The logistic distribution.
    let odds = u.by(cx, rest);
    let log = cx.helper_value(&random_log, &[odds]);
    let x = scale.times(cx, log);
    loc.plus(cx, x)
}

fn triangular(cx: &mut LowerCx<'_>, from: From, p: &[Value]) -> Result<Value> {
    let (left, mode, right) = (p[0], p[1], p[2]);
    let (base, leftbase, rightbase) = (right.minus(cx, left), mode.minus(cx, left), right.minus(cx, mode));
    let (ratio, leftprod, rightprod) =
        (leftbase.by(cx, base), leftbase.times(cx, base), rightbase.times(cx, base));
    let u = from.uniform(cx);
    let rising = cx.b.bin(Op::FcmpLe, u, ratio);
    let rest = f(cx, 1.0).minus(cx, u);
    let (a, b) = (u.times(cx, leftprod), rest.times(cx, rightprod));
    let square = cx.b.select(rising, a, b);
    let root = cx.b.un(Op::Fsqrt, square);
    let (a, b) = (left.plus(cx, root), right.minus(cx, root));
    Ok(cx.b.select(rising, a, b))
}

/// `random.triangular`: with NaN or no mode, as it has been checked that the limits differ.
fn pythons_triangular(cx: &mut LowerCx<'_>, from: From, p: &[Value]) -> Value {
    let (low, high) = (p[0], p[1]);
    let u = from.uniform(cx);
    let range = high.minus(cx, low);
    let c = match p.get(2) {
        Some(mode) => mode.minus(cx, low).by(cx, range),
        None => f(cx, 0.5),
    };
    let falling = cx.b.bin(Op::FcmpGt, u, c);
    let (u_rest, c_rest, back) = (f(cx, 1.0).minus(cx, u), f(cx, 1.0).minus(cx, c), low.minus(cx, high));
    let (u, c) = (cx.b.select(falling, u_rest, u), cx.b.select(falling, c_rest, c));
    let (start, range) = (cx.b.select(falling, high, low), cx.b.select(falling, back, range));
    let root = u.times(cx, c);
    let root = cx.b.un(Op::Fsqrt, root);
    let x = range.times(cx, root);
    start.plus(cx, x)
}

/// A number of the geometric distribution from a parameter of a third on: how many terms of the series it
/// takes to reach a uniform number.
fn geometric_search(cx: &mut LowerCx<'_>, from: From, p: Value) -> Value {
    let u = from.uniform(cx);
    let (one, q) = (cx.b.i64(1), f(cx, 1.0).minus(cx, p));
    let (step, next, done) =
        (cx.b.new_block(&[Ty::I64, Ty::F64, Ty::F64]), cx.b.new_block(&[]), cx.b.new_block(&[]));
    cx.b.jump(step, &[one, p, p]);
    cx.b.switch_to(step);
    let [x, sum, product] = [0, 1, 2].map(|k| cx.b.params(step)[k]);
    let beyond = cx.b.bin(Op::FcmpGt, u, sum);
    cx.b.brif(beyond, next, &[], done, &[]);
    cx.b.switch_to(next);
    let product = product.times(cx, q);
    let (sum, after) = (sum.plus(cx, product), cx.b.bin(Op::Iadd, x, one));
    cx.b.jump(step, &[after, sum, product]);
    cx.b.switch_to(done);
    x
}

/// A number of the geometric distribution; its helper knows what NumPy says of other parameters. Below a
/// third it is a logarithm, and that of the parameter is the same for a whole loop.
pub(crate) fn geometric(
    cx: &mut LowerCx<'_>,
    generator: Option<Value>,
    p: Value,
    called: impl FnOnce(&mut LowerCx<'_>) -> Value,
) -> Result<Value> {
    let p = cx.b.conv(Op::Bitcast, Ty::F64, p);
    let (zero, third) = (cx.b.f64(0.0), cx.b.f64(0.333333333333333333333333));
    let (above, below) = (cx.b.bin(Op::FcmpGt, p, zero), cx.b.bin(Op::FcmpLt, p, third));
    let rare = cx.and(above, below);
    let one = cx.b.f64(1.0);
    let (often, at_most) = (cx.b.bin(Op::FcmpGe, p, third), cx.b.bin(Op::FcmpLe, p, one));
    let likely = cx.and(often, at_most);
    let from = generator.map_or(From::Numpy, From::Generator);
    let x = cx.if_else(
        rare,
        |cx| {
            if let Some(g) = generator {
                let minus = cx.b.un(Op::Fneg, p);
                let log = cx.helper_value(&random_log1p, &[minus]);
                let e = From::Generator(g).exponential(cx);
                let e = cx.b.un(Op::Fneg, e);
                let turns = e.by(cx, log);
                let whole = cx.b.un(Op::Fceil, turns);
                return Ok(vec![cx.b.conv(Op::FToSint, Ty::I64, whole)]);
            }
            let rest = f(cx, 1.0).minus(cx, p);
            let log = cx.helper_value(&random_log, &[rest]);
            let u = From::Numpy.uniform(cx);
            let rest = f(cx, 1.0).minus(cx, u);
            let e = cx.helper_value(&random_log, &[rest]);
            let turns = e.by(cx, log);
            let whole = cx.b.un(Op::Fceil, turns);
            Ok(vec![cx.b.conv(Op::FToSintOrMin, Ty::I64, whole)])
        },
        |cx| cx.if_else(likely, |cx| Ok(vec![geometric_search(cx, from, p)]), |cx| Ok(vec![called(cx)])),
    )?;
    Ok(x[0])
}
