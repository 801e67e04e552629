//! Random numbers: NumPy's and Python's algorithms, so that a seed gives the same numbers here and there.
//!
//! [`bits`] is where bits come from, [`state`] each thread's streams; [`normal`] and what builds on it are
//! the distributions: [`continuous`] and [`discrete`] as methods of `Generator` draw them, [`legacy`] as the
//! older functions do, [`python`] as the module `random`.

mod params;

mod bits;
mod bounded;
mod continuous;
mod discrete;
mod factorials;
pub mod held;
mod legacy;
mod memory;
mod normal;
mod python;
pub(crate) mod state;
mod whole;
mod ziggurat;

use crate::Native;
use crate::exc::{Error, Res, or_raise};
use crate::host::callbacks;
use crate::parallel::native::{self, Shared};
use crate::poll::Poll;
use bits::{Bits, Own, Source};
use held::Held;
use normal::Legacy;
use params::{LARGEST_LAM, Params, check};
use std::cell::Cell;
use tierup_core::draw::{Draw, Gives, Must, Param};
use tierup_core::elem::Elem;
use tierup_core::exc::Class;
use tierup_core::layout::{BitSource, Layer, WordStream};
use tierup_core::ops::kernel::IN_PIECES;
use tierup_core::ops::random::Helpers;
use tierup_core::rt::{Ctx, P};

/// In a forked child: streams begin anew, and what other threads of the parent held is free.
pub fn after_fork() {
    state::after_fork();
    held::after_fork();
}

/// Runs `f` with the thread's stream as the legacy functions see it.
fn with_legacy<R>(f: impl FnOnce(&Legacy<'_>) -> R) -> R {
    state::with(state::NUMPY, |s| {
        f(&Legacy { bits: Own::new(&mut s.twister), spare: Cell::from_mut(&mut s.spare) })
    })
}

/// Room for results of one kind.
enum Out {
    Float(*mut f64),
    Float32(*mut f32),
    Int(*mut i64),
}

/// Writes `n` numbers, `at` elements behind the start.
///
/// # Safety
/// There is room for them.
macro_rules! fill {
    ($out:expr, $at:expr, $n:expr, $Kind:ident, $each:expr) => {
        if let Out::$Kind(p) = $out {
            for i in $at..$at + $n {
                p.add(i).write($each);
            }
        }
    };
}

/// A method of `Generator`.
///
/// # Safety
/// `out` has room for the numbers `at` to `at + n`, of the distribution's kind.
#[inline(always)]
unsafe fn modern(b: &Bits, draw: Draw, p: Params<'_>, out: &Out, at: usize, n: usize) {
    use {continuous as c, discrete as d, normal as g};
    // SAFETY: as required of the caller.
    unsafe {
        match draw {
            Draw::Uniform01 => fill!(*out, at, n, Float, b.f64()),
            Draw::Uniform01F32 => fill!(*out, at, n, Float32, b.f32()),
            Draw::Normal01 => fill!(*out, at, n, Float, g::normal(b)),
            Draw::Normal01F32 => fill!(*out, at, n, Float32, g::normal_f32(b)),
            Draw::Exponential1 => fill!(*out, at, n, Float, g::exponential(b)),
            Draw::Exponential1F32 => fill!(*out, at, n, Float32, g::exponential_f32(b)),
            Draw::Inverse => fill!(*out, at, n, Float, g::exponential_inverse(b)),
            Draw::InverseF32 => fill!(*out, at, n, Float32, g::exponential_inverse_f32(b)),
            Draw::Gamma1 => fill!(*out, at, n, Float, g::gamma(b, p.f(0))),
            Draw::Gamma1F32 => fill!(*out, at, n, Float32, g::gamma_f32(b, p.f(0) as f32)),
            Draw::Uniform => {
                let (low, range) = (p.f(0), p.f(1) - p.f(0));
                fill!(*out, at, n, Float, low + range * b.f64())
            }
            Draw::Normal => {
                let (loc, scale) = (p.f(0), p.f(1));
                fill!(*out, at, n, Float, loc + scale * g::normal(b))
            }
            Draw::Lognormal => {
                let (loc, scale) = (p.f(0), p.f(1));
                fill!(*out, at, n, Float, (loc + scale * g::normal(b)).exp())
            }
            Draw::Exponential => {
                let scale = p.f(0);
                fill!(*out, at, n, Float, scale * g::exponential(b))
            }
            Draw::Gamma => {
                let (shape, scale) = (p.f(0), p.f(1));
                fill!(*out, at, n, Float, scale * g::gamma(b, shape))
            }
            Draw::Beta => fill!(*out, at, n, Float, c::beta(b, p.f(0), p.f(1))),
            Draw::Chisquare => fill!(*out, at, n, Float, c::chisquare(b, p.f(0))),
            Draw::NoncentralChisquare => {
                fill!(*out, at, n, Float, c::noncentral_chisquare(b, p.f(0), p.f(1)))
            }
            Draw::F => fill!(*out, at, n, Float, c::f(b, p.f(0), p.f(1))),
            Draw::NoncentralF => fill!(*out, at, n, Float, c::noncentral_f(b, p.f(0), p.f(1), p.f(2))),
            Draw::Student => fill!(*out, at, n, Float, c::student(b, p.f(0))),
            Draw::Cauchy => fill!(*out, at, n, Float, c::cauchy(b)),
            Draw::Vonmises => {
                fill!(*out, at, n, Float, c::vonmises(b, p.f(0), p.f(1), Some(|b: &Bits| g::normal(b))))
            }
            Draw::Pareto => fill!(*out, at, n, Float, c::pareto(b, p.f(0))),
            Draw::Weibull => fill!(*out, at, n, Float, c::weibull(b, p.f(0))),
            Draw::Power => fill!(*out, at, n, Float, c::power(b, p.f(0))),
            Draw::Laplace => fill!(*out, at, n, Float, c::laplace(b, p.f(0), p.f(1))),
            Draw::Gumbel => fill!(*out, at, n, Float, c::gumbel(b, p.f(0), p.f(1))),
            Draw::Logistic => fill!(*out, at, n, Float, c::logistic(b, p.f(0), p.f(1))),
            Draw::Rayleigh => fill!(*out, at, n, Float, c::rayleigh(b, p.f(0))),
            Draw::Wald => fill!(*out, at, n, Float, c::wald(b, p.f(0), p.f(1))),
            Draw::Triangular => fill!(*out, at, n, Float, c::triangular(b, p.f(0), p.f(1), p.f(2))),
            Draw::Binomial => fill!(*out, at, n, Int, d::binomial(b, p.i(0), p.f(1))),
            Draw::NegativeBinomial => fill!(*out, at, n, Int, d::negative_binomial(b, p.f(0), p.f(1))),
            Draw::Share => fill!(*out, at, n, Int, d::binomial(b, p.i(0), p.f(1))),
            Draw::Poisson => fill!(*out, at, n, Int, d::poisson(b, p.f(0))),
            Draw::Zipf => fill!(*out, at, n, Int, d::zipf(b, p.f(0))),
            Draw::Geometric => fill!(*out, at, n, Int, d::geometric(b, p.f(0))),
            Draw::Hypergeometric => fill!(*out, at, n, Int, d::hypergeometric(b, p.i(0), p.i(1), p.i(2))),
            Draw::Logseries => fill!(*out, at, n, Int, d::logseries(b, p.f(0))),
            Draw::PyUniform
            | Draw::PyTriangular
            | Draw::PyTriangularMode
            | Draw::PyNormal
            | Draw::PyGauss
            | Draw::PyLognormal
            | Draw::PyExponential
            | Draw::PyVonmises
            | Draw::PyGamma
            | Draw::PyBeta
            | Draw::PyPareto
            | Draw::PyWeibull => {}
        }
    }
}

/// A legacy function.
///
/// # Safety
/// As for [`modern`].
#[inline(always)]
unsafe fn old(l: &Legacy<'_>, draw: Draw, p: Params<'_>, out: &Out, at: usize, n: usize) {
    use {continuous as c, discrete as d};
    // SAFETY: as required of the caller.
    unsafe {
        match draw {
            Draw::Uniform01 => fill!(*out, at, n, Float, l.f64()),
            Draw::Normal01 => fill!(*out, at, n, Float, l.normal()),
            Draw::Exponential1 => fill!(*out, at, n, Float, l.exponential()),
            Draw::Gamma1 => fill!(*out, at, n, Float, l.gamma(p.f(0))),
            Draw::Uniform => {
                let (low, range) = (p.f(0), p.f(1) - p.f(0));
                fill!(*out, at, n, Float, low + range * l.f64())
            }
            Draw::Normal => {
                let (loc, scale) = (p.f(0), p.f(1));
                fill!(*out, at, n, Float, loc + scale * l.normal())
            }
            Draw::Lognormal => {
                let (loc, scale) = (p.f(0), p.f(1));
                fill!(*out, at, n, Float, (loc + scale * l.normal()).exp())
            }
            Draw::Exponential => {
                let scale = p.f(0);
                fill!(*out, at, n, Float, scale * l.exponential())
            }
            Draw::Gamma => {
                let (shape, scale) = (p.f(0), p.f(1));
                fill!(*out, at, n, Float, scale * l.gamma(shape))
            }
            Draw::Beta => fill!(*out, at, n, Float, l.beta(p.f(0), p.f(1))),
            Draw::Chisquare => fill!(*out, at, n, Float, l.chisquare(p.f(0))),
            Draw::NoncentralChisquare => fill!(*out, at, n, Float, l.noncentral_chisquare(p.f(0), p.f(1))),
            Draw::F => fill!(*out, at, n, Float, l.f(p.f(0), p.f(1))),
            Draw::NoncentralF => fill!(*out, at, n, Float, l.noncentral_f(p.f(0), p.f(1), p.f(2))),
            Draw::Student => fill!(*out, at, n, Float, l.student(p.f(0))),
            Draw::Cauchy => fill!(*out, at, n, Float, l.cauchy()),
            Draw::Vonmises => fill!(*out, at, n, Float, l.vonmises(p.f(0), p.f(1))),
            Draw::Pareto => fill!(*out, at, n, Float, l.pareto(p.f(0))),
            Draw::Weibull => fill!(*out, at, n, Float, l.weibull(p.f(0))),
            Draw::Power => fill!(*out, at, n, Float, l.power(p.f(0))),
            Draw::Laplace => fill!(*out, at, n, Float, c::laplace(&l.bits, p.f(0), p.f(1))),
            Draw::Gumbel => fill!(*out, at, n, Float, c::gumbel(&l.bits, p.f(0), p.f(1))),
            Draw::Logistic => fill!(*out, at, n, Float, c::logistic(&l.bits, p.f(0), p.f(1))),
            Draw::Rayleigh => fill!(*out, at, n, Float, l.rayleigh(p.f(0))),
            Draw::Wald => fill!(*out, at, n, Float, l.wald(p.f(0), p.f(1))),
            Draw::Triangular => fill!(*out, at, n, Float, c::triangular(&l.bits, p.f(0), p.f(1), p.f(2))),
            Draw::Binomial => fill!(*out, at, n, Int, d::binomial_legacy(&l.bits, p.i(0), p.f(1))),
            Draw::NegativeBinomial => fill!(*out, at, n, Int, l.negative_binomial(p.f(0), p.f(1))),
            Draw::Share => fill!(*out, at, n, Int, d::binomial(&l.bits, p.i(0), p.f(1))),
            Draw::Poisson => fill!(*out, at, n, Int, d::poisson(&l.bits, p.f(0))),
            Draw::Zipf => fill!(*out, at, n, Int, l.zipf(p.f(0))),
            Draw::Geometric => fill!(*out, at, n, Int, l.geometric(p.f(0))),
            Draw::Hypergeometric => fill!(*out, at, n, Int, l.hypergeometric(p.i(0), p.i(1), p.i(2))),
            Draw::Logseries => fill!(*out, at, n, Int, l.logseries(p.f(0))),
            // The legacy functions know one precision, and those of `random` go elsewhere.
            Draw::Uniform01F32
            | Draw::Normal01F32
            | Draw::Exponential1F32
            | Draw::Inverse
            | Draw::InverseF32
            | Draw::Gamma1F32
            | Draw::PyUniform
            | Draw::PyTriangular
            | Draw::PyTriangularMode
            | Draw::PyNormal
            | Draw::PyGauss
            | Draw::PyLognormal
            | Draw::PyExponential
            | Draw::PyVonmises
            | Draw::PyGamma
            | Draw::PyBeta
            | Draw::PyPareto
            | Draw::PyWeibull => {}
        }
    }
}

/// A function of the module `random`; none where it is no such distribution.
#[inline(always)]
#[expect(clippy::wildcard_enum_match_arm, reason = "any other distribution is NumPy's")]
fn python_draw(draw: Draw, p: Params<'_>) -> Option<Res<f64>> {
    let with = |f: &dyn Fn(&mut python::Python<'_>) -> f64| {
        state::with(state::PYTHON, |s| {
            f(&mut python::Python { twister: &mut s.twister, spare: &mut s.spare })
        })
    };
    let divides =
        |by: f64, x: f64| if by == 0.0 { Err(Error::zero_division("float division by zero")) } else { Ok(x) };
    let finite =
        |x: f64, text: &'static str| if x.is_infinite() { Err(Error::overflow(text)) } else { Ok(x) };
    let positive = || {
        if p.f(0) <= 0.0 || p.f(1) <= 0.0 {
            Err(Error::value("gammavariate: alpha and beta must be > 0.0"))
        } else {
            Ok(())
        }
    };
    Some(match draw {
        Draw::PyUniform => Ok(with(&|r| r.uniform(p.f(0), p.f(1)))),
        Draw::PyTriangular => Ok(with(&|r| r.triangular(p.f(0), p.f(1), 0.0, false))),
        Draw::PyTriangularMode => Ok(with(&|r| r.triangular(p.f(0), p.f(1), p.f(2), true))),
        Draw::PyNormal => Ok(with(&|r| r.normalvariate(p.f(0), p.f(1)))),
        Draw::PyGauss => Ok(with(&|r| r.gauss(p.f(0), p.f(1)))),
        Draw::PyLognormal => finite(with(&|r| r.lognormvariate(p.f(0), p.f(1))), "math range error"),
        Draw::PyExponential => divides(p.f(0), with(&|r| r.expovariate(p.f(0)))),
        Draw::PyVonmises => Ok(with(&|r| r.vonmisesvariate(p.f(0), p.f(1)))),
        Draw::PyGamma => positive().map(|()| with(&|r| r.gammavariate(p.f(0), p.f(1)))),
        Draw::PyBeta => positive().map(|()| with(&|r| r.betavariate(p.f(0), p.f(1)))),
        Draw::PyPareto => divides(p.f(0), with(&|r| r.paretovariate(p.f(0)))),
        Draw::PyWeibull => divides(p.f(1), with(&|r| r.weibullvariate(p.f(0), p.f(1)))),
        _of_numpy => return None,
    })
}

/// Numbers from which on an array is filled from several streams, where that may be: about as many as each
/// gives.
const STREAM: i64 = 1 << 13;

/// # Safety
/// As `random_draw` says.
unsafe fn draw(ctx: Ctx, source: *mut BitSource, what: i64, params: *const i64, n: i64, out: P) -> Res<()> {
    let (what, team) = (what & !IN_PIECES, what & IN_PIECES != 0 && source.is_null() && n >= STREAM);
    let draw =
        Draw::from_number(what).ok_or_else(|| Error::new(Class::SystemError, "no such distribution"))?;
    // SAFETY: as required of the caller.
    unsafe {
        let p = Params(crate::raw_slice(params, draw.params().len() as i64));
        if let Some(x) = python_draw(draw, p) {
            out.cast::<f64>().write(x?);
            return Ok(());
        }
        check(draw, !source.is_null(), p, false)?;
        let out = match draw.gives() {
            Gives::Float => Out::Float(out.cast()),
            Gives::Float32 => Out::Float32(out.cast()),
            Gives::Int => Out::Int(out.cast()),
        };
        if team {
            // Pieces are large, since each begins a stream.
            let (count, out, params) =
                (n / STREAM + 1, Shared((&raw const out).cast_mut()), Shared(p.0.as_ptr().cast_mut()));
            let (bound, len) = (|k: i64| (k as i128 * n as i128 / count as i128) as usize, p.0.len());
            return native::drawing(ctx, count, 8 * STREAM, &|first, end| {
                let p = Params(std::slice::from_raw_parts(params.get(), len));
                for k in first..end {
                    with_legacy(|l| old(l, draw, p, &*out.get(), bound(k), bound(k + 1) - bound(k)));
                }
            });
        }
        // Nothing is held while somebody looks for Ctrl-C, which may run Python.
        Poll::new(ctx).in_pieces(n.max(0) as usize, |at, len| {
            if source.is_null() {
                with_legacy(|l| old(l, draw, p, &out, at, len))
            } else {
                modern(&Held::new(source), draw, p, &out, at, len)
            }
        });
    }
    Ok(())
}

/// What the parameter `k` of a distribution must be.
const fn parameter(draw: usize, k: usize) -> Option<Param> {
    let all = Draw::ALL[draw].params();
    if k < all.len() { Some(all[k]) } else { None }
}

/// Whether [`check`] has surely nothing against a parameter.
#[inline(always)]
fn fits(param: Option<Param>, p: Params<'_>, k: usize) -> bool {
    let Some(param) = param else { return true };
    let x = if param.int { p.i(k) as f64 } else { p.f(k) };
    match param.must {
        Must::Any => true,
        Must::NonNegative => x >= 0.0 && x.is_sign_positive(),
        Must::Positive => x > 0.0,
        Must::Fraction => (0.0..=1.0).contains(&x),
        Must::FractionNotZero => x > 0.0 && x <= 1.0,
        Must::FractionNotOne => (0.0..1.0).contains(&x),
        Must::AboveOne => x > 1.0,
        Must::Poisson => (0.0..=LARGEST_LAM).contains(&x),
    }
}

/// One number of a distribution that is known where this is compiled, as bits: of a float64 where it gives
/// floats.
///
/// # Safety
/// As `random_one` says.
unsafe fn one<const DRAW: usize>(source: *mut BitSource, params: [i64; 3]) -> Res<i64> {
    let draw = const { Draw::ALL[DRAW] };
    let p = Params(&params);
    if draw.is_pythons() {
        return python_draw(draw, p).unwrap_or(Ok(0.0)).map(|x| x.to_bits() as i64);
    }
    // Each of these is known here but for the number.
    let fits = fits(const { parameter(DRAW, 0) }, p, 0)
        && fits(const { parameter(DRAW, 1) }, p, 1)
        && fits(const { parameter(DRAW, 2) }, p, 2);
    if !fits
        || matches!(draw, Draw::Uniform | Draw::Triangular | Draw::Hypergeometric | Draw::NegativeBinomial)
    {
        check(draw, !source.is_null(), p, false)?;
    }
    let (mut float, mut single, mut int) = (0f64, 0f32, 0i64);
    let out = match draw.gives() {
        Gives::Float => Out::Float(&mut float),
        Gives::Float32 => Out::Float32(&mut single),
        Gives::Int => Out::Int(&mut int),
    };
    // SAFETY: as required of the caller; there is room for one.
    unsafe {
        if source.is_null() {
            with_legacy(|l| old(l, draw, p, &out, 0, 1))
        } else {
            modern(&Held::new(source), draw, p, &out, 0, 1)
        }
    }
    Ok(match draw.gives() {
        Gives::Float => float.to_bits() as i64,
        Gives::Float32 => (single as f64).to_bits() as i64,
        Gives::Int => int,
    })
}

/// One number of any distribution: loops ask for one at a time, so each has a function of its own.
///
/// # Safety
/// As `random_one` says.
unsafe fn one_of(source: *mut BitSource, what: i64, params: [i64; 3]) -> Res<i64> {
    macro_rules! each_its_own {
        ($($Draw:ident)*) => {
            match Draw::from_number(what) {
                // SAFETY: as required of the caller.
                $(Some(Draw::$Draw) => unsafe { one::<{ Draw::$Draw as usize }>(source, params) },)*
                None => Err(Error::new(Class::SystemError, "no such distribution")),
            }
        };
    }
    each_its_own! {
        Uniform01 Uniform01F32 Normal01 Normal01F32 Exponential1 Exponential1F32 Inverse InverseF32 Gamma1 Gamma1F32 Uniform Normal Lognormal Exponential Gamma Beta Chisquare
        NoncentralChisquare F NoncentralF Student Cauchy Vonmises Pareto Weibull Power Laplace Gumbel Logistic Rayleigh Wald Triangular Binomial Share NegativeBinomial Poisson Zipf
        Geometric Hypergeometric Logseries PyUniform PyTriangular PyTriangularMode PyNormal PyGauss PyLognormal PyExponential PyVonmises PyGamma PyBeta PyPareto PyWeibull
    }
}

/// Numbers with parameters of their own; all are looked at before the first is drawn.
///
/// # Safety
/// As `random_each` says.
unsafe fn each(ctx: Ctx, source: *mut BitSource, what: i64, params: *const i64, n: i64, out: P) -> Res<()> {
    let draw =
        Draw::from_number(what).ok_or_else(|| Error::new(Class::SystemError, "no such distribution"))?;
    let count = draw.params().len();
    // SAFETY: as required of the caller.
    unsafe {
        let places = crate::raw_slice(params, 2 * count as i64);
        let at = |i: usize| {
            let mut p = [0i64; 3];
            for (k, p) in p.iter_mut().enumerate().take(count) {
                *p = (places[2 * k] as usize as *const u8)
                    .wrapping_add(i * places[2 * k + 1] as usize)
                    .cast::<i64>()
                    .read();
            }
            p
        };
        for i in 0..n.max(0) as usize {
            check(draw, !source.is_null(), Params(&at(i)), true)?;
        }
        let out = match draw.gives() {
            Gives::Float => Out::Float(out.cast()),
            Gives::Float32 => Out::Float32(out.cast()),
            Gives::Int => Out::Int(out.cast()),
        };
        Poll::new(ctx).in_pieces(n.max(0) as usize, |start, len| {
            if source.is_null() {
                with_legacy(|l| {
                    for i in start..start + len {
                        old(l, draw, Params(&at(i)), &out, i, 1)
                    }
                })
            } else {
                let bits = Held::new(source);
                for i in start..start + len {
                    modern(&bits, draw, Params(&at(i)), &out, i, 1)
                }
            }
        });
    }
    Ok(())
}

#[cold]
fn next_of_many(source: *mut BitSource) -> i64 {
    // SAFETY: as for whoever calls it.
    unsafe { Held::new(source) }.u64() as i64
}

impl Helpers for Native {
    unsafe fn random_one(ctx: Ctx, source: *mut BitSource, what: i64, a: i64, b: i64, c: i64) -> i64 {
        // SAFETY: compiled code passes a live generator or none.
        match unsafe { one_of(source, what, [a, b, c]) } {
            Ok(x) => x,
            Err(e) => {
                // SAFETY: compiled code passes the live context of its thread.
                unsafe { or_raise(ctx, Err(e)) }
                0
            }
        }
    }
    unsafe fn random_each(ctx: Ctx, source: *mut BitSource, what: i64, params: *const i64, n: i64, out: P) {
        // SAFETY: the source is null or live; there are `n` numbers of each parameter's, and room for as many
        // results.
        unsafe { or_raise(ctx, each(ctx, source, what, params, n, out)) }
    }
    unsafe fn random_draw(ctx: Ctx, source: *mut BitSource, what: i64, params: *const i64, n: i64, out: P) {
        // SAFETY: as in `random_each`.
        unsafe { or_raise(ctx, draw(ctx, source, what, params, n, out)) }
    }
    unsafe fn random_uniform(source: *mut BitSource) -> f64 {
        if source.is_null() {
            return state::with(state::NUMPY, |s| s.twister.f64());
        }
        // SAFETY: compiled code holds a reference to the generator.
        unsafe { Held::new(source) }.f64()
    }
    unsafe fn random_normal() -> f64 {
        with_legacy(|l| l.normal())
    }
    unsafe fn random_next(source: *mut BitSource) -> i64 {
        // Nothing is left to do behind the call, so it is a jump.
        if held::is_locked() {
            // SAFETY: compiled code passes a live generator.
            let bits = unsafe { &*(*source).bits.cast::<Bits>() };
            // SAFETY: the functions go with the state, which the lock of all generators keeps for this
            // thread.
            return unsafe { (bits.next_u64)(bits.state) } as i64;
        }
        next_of_many(source)
    }
    unsafe fn random_layers(which: i64) -> *mut Layer {
        (if which == 0 { &raw const ziggurat::NORMAL } else { &raw const ziggurat::EXPONENTIAL })
            .cast_mut()
            .cast()
    }
    unsafe fn random_normal_from(source: *mut BitSource, first: i64) -> f64 {
        // SAFETY: compiled code holds a reference to the generator.
        normal::normal_from(&*unsafe { Held::new(source) }, first as u64)
    }
    unsafe fn random_exponential_from(source: *mut BitSource, first: i64) -> f64 {
        // SAFETY: compiled code holds a reference to the generator.
        normal::exponential_from(&*unsafe { Held::new(source) }, first as u64)
    }
    unsafe fn random_log(x: f64) -> f64 {
        x.ln()
    }
    unsafe fn random_log1p(x: f64) -> f64 {
        normal::libm_log1p(x)
    }
    unsafe fn random_exp(x: f64) -> f64 {
        x.exp()
    }
    unsafe fn random_expm1(x: f64) -> f64 {
        normal::libm_expm1(x)
    }
    unsafe fn random_pow(x: f64, y: f64) -> f64 {
        x.powf(y)
    }
    unsafe fn random_integers(
        ctx: Ctx,
        source: *mut BitSource,
        elem: i64,
        low: i64,
        range: i64,
        n: i64,
        out: P,
    ) {
        let Some(elem) = Elem::from_number(elem) else { return };
        let (low, range, legacy) = (low as u64, range as u64, source.is_null());
        // SAFETY: compiled code gives room for the elements.
        unsafe {
            let fill = |at: usize, len: usize| {
                let out = out.add(at * elem.bytes());
                if legacy {
                    with_legacy(|l| bounded::fill(&l.bits, elem, |_| (low, range), true, len, out))
                } else {
                    bounded::fill(&*Held::new(source), elem, |_| (low, range), false, len, out)
                }
            };
            // Small integers share words of bits, so they are drawn in one go.
            if elem.bytes() < 4 || n == 1 {
                fill(0, n.max(0) as usize)
            } else {
                Poll::new(ctx).in_pieces(n.max(0) as usize, fill)
            }
        }
    }
    unsafe fn random_integers_each(
        source: *mut BitSource,
        elem: i64,
        lows: *const i64,
        ranges: *const i64,
        n: i64,
        out: P,
    ) {
        let Some(elem) = Elem::from_number(elem) else { return };
        // SAFETY: compiled code passes as many ends, and room for the elements.
        unsafe {
            let (legacy, n) = (source.is_null(), n.max(0) as usize);
            let ends = |i: usize| (*lows.add(i) as u64, *ranges.add(i) as u64);
            if legacy {
                with_legacy(|l| bounded::fill(&l.bits, elem, ends, true, n, out))
            } else {
                bounded::fill(&*Held::new(source), elem, ends, false, n, out)
            }
        }
    }
    unsafe fn random_interval(source: *mut BitSource, max: i64) -> i64 {
        if source.is_null() {
            return with_legacy(|l| bounded::masked(&l.bits, max as u64) as i64);
        }
        // SAFETY: compiled code holds a reference to the generator.
        let bits = unsafe { Held::new(source) };
        bounded::masked(&*bits, max as u64) as i64
    }
    unsafe fn random_stream(which: i64) -> *mut WordStream {
        state::stream(which as usize & 1)
    }
    unsafe fn random_word(which: i64) -> i64 {
        state::with(which as usize & 1, |s| s.twister.u32() as i64)
    }
    unsafe fn random_python() -> f64 {
        state::with(state::PYTHON, |s| s.twister.f64())
    }
    unsafe fn random_below(n: i64) -> i64 {
        state::with(state::PYTHON, |s| {
            python::Python { twister: &mut s.twister, spare: &mut s.spare }.below(n as u64) as i64
        })
    }
    unsafe fn random_bits(k: i64) -> i64 {
        state::with(state::PYTHON, |s| {
            python::Python { twister: &mut s.twister, spare: &mut s.spare }.bits(k.clamp(0, 64) as u32) as i64
        })
    }
    unsafe fn random_seed(which: i64, seed: i64) {
        let of = which as usize & 1;
        if which & 2 == 0 { state::seed(of, Some(seed)) } else { state::seed_as_numpy(of, seed as u32) }
    }
    unsafe fn random_seed_by_words(which: i64, words: P, n: i64) {
        // SAFETY: compiled code passes so many words.
        state::seed_by_words(which as usize & 1, unsafe {
            std::slice::from_raw_parts(words.cast::<u32>(), n.max(1) as usize)
        });
    }
    unsafe fn random_swap(words: P) {
        // SAFETY: compiled code passes the words of a stream that it keeps.
        state::swap(unsafe { &mut *words.cast::<state::Kept>() });
    }
    unsafe fn random_spawn(ctx: Ctx, source: *mut BitSource, count: i64) -> *mut BitSource {
        // SAFETY: compiled code passes a live generator.
        match (callbacks().spawn)(unsafe { (*source).py }, count != 0) {
            Ok(child) if !child.is_null() => child,
            result => {
                // SAFETY: as above; one reference more to the generator, for whoever gets it.
                unsafe {
                    or_raise(ctx, result.map(|_| ()));
                    crate::object::retain(source.cast());
                }
                source
            }
        }
    }
    unsafe fn random_seed_from_system(which: i64) {
        state::seed(which as usize & 1, None);
    }
}
