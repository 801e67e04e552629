//! Expected values are CPython 3.11's.

use super::*;
use crate::testing::{Raised, call, has_raised, with_ctx};

fn run(f: impl FnOnce(Ctx) -> f64) -> Result<f64, String> {
    with_ctx(|ctx| {
        let v = f(ctx);
        if !has_raised(ctx) {
            return Ok(v);
        }
        let r = Raised::take(ctx);
        Err(format!("{}: {}", r.class, r.text))
    })
}
fn domain() -> Result<f64, String> {
    Err("ValueError: math domain error".into())
}
fn range() -> Result<f64, String> {
    Err("OverflowError: math range error".into())
}
const INF: f64 = f64::INFINITY;

#[test]
fn errors_are_those_of_the_math_module() {
    // SAFETY: `run` passes a live context, and the helpers take nothing but numbers beside it.
    unsafe {
        let one: [(unsafe fn(Ctx, f64) -> f64, f64, Result<f64, String>); 17] = [
            (Native::math_sin, INF, domain()),
            (Native::math_acos, 1.5, domain()),
            (Native::math_atanh, 1.0, domain()),
            (Native::math_acosh, -58885918.9, domain()),
            (Native::math_exp, 710.0, range()),
            (Native::math_expm1, 710.0, range()),
            (Native::math_cosh, -711.0, range()),
            (Native::math_exp, -INF, Ok(0.0)),
            (Native::math_log, 0.0, domain()),
            (Native::math_log1p, -1.0, domain()),
            (Native::math_log2, 8.0, Ok(3.0)),
            (Native::math_log10, 1e15, Ok(15.0)),
            (Native::math_gamma, -2.0, domain()),
            (Native::math_gamma, 172.0, range()),
            (Native::math_gamma, 5.0, Ok(24.0)),
            (Native::math_lgamma, 0.0, domain()),
            (Native::math_lgamma, -INF, Ok(INF)),
        ];
        for (i, (f, x, expected)) in one.into_iter().enumerate() {
            assert_eq!(run(|c| f(c, x)), expected, "case {i}, {x}");
        }
        assert!(run(|c| Native::math_sqrt(c, f64::NAN)).unwrap().is_nan());
        assert_eq!(run(|c| Native::math_sqrt(c, -1.0)), domain());
        assert_eq!(run(|c| Native::math_log_base(c, 8.0, 2.0)), Ok(3.0));
        assert_eq!(
            run(|c| Native::math_log_base(c, 8.0, 1.0)),
            Err("ZeroDivisionError: float division by zero".into())
        );
        for (a, b, expected) in [
            (0.0, -1.0, domain()),
            (-1.0, 0.5, domain()),
            (1e300, 2.0, range()),
            (2.0, -1.0, Ok(0.5)),
            (-INF, 3.0, Ok(-INF)),
        ] {
            assert_eq!(run(|c| Native::math_pow(c, a, b)), expected, "pow({a}, {b})");
        }
        for (a, b, expected) in
            [(1.0, 0.0, domain()), (INF, 1.0, domain()), (5.5, INF, Ok(5.5)), (-7.0, 3.0, Ok(-1.0))]
        {
            assert_eq!(run(|c| Native::math_fmod(c, a, b)), expected);
        }
        for (a, b, expected) in [
            (5.0, 2.0, Ok(1.0)),
            (7.0, 2.0, Ok(-1.0)),
            (-5.5, 2.0, Ok(0.5)),
            (1.0, 0.0, domain()),
            (1.0, INF, Ok(1.0)),
        ] {
            assert_eq!(run(|c| Native::math_remainder(c, a, b)), expected);
        }
        assert_eq!(run(|c| Native::math_ldexp(c, 0.5, 1025)), range());
        assert_eq!(run(|c| Native::math_ldexp(c, 1.0, i64::MIN)), Ok(0.0));
        assert_eq!(
            run(|c| {
                Native::math_check(c, 1.0, INF, 0);
                0.0
            }),
            domain()
        );
        assert_eq!(
            run(|c| {
                Native::math_check(c, INF, INF, 0);
                0.0
            }),
            Ok(0.0)
        );
    }
}

#[test]
fn plain_functions_never_raise() {
    // SAFETY: these helpers take nothing but numbers.
    unsafe {
        assert!(
            Native::f64_log(-1.0).is_nan()
                && Native::f32_acosh(-478.0).is_nan()
                && Native::f64_sin(INF).is_nan()
        );
        assert_eq!((Native::f64_log(0.0), Native::f64_exp(1000.0), Native::f32_exp2(3.0)), (-INF, INF, 8.0));
        assert_eq!(
            (
                Native::f64_frexp_mantissa(-6.0),
                Native::f64_frexp_exponent(-6.0),
                Native::f32_frexp_exponent(0.0),
                Native::f64_frexp_exponent(INF)
            ),
            (-0.75, 3, 0, 0)
        );
        assert_eq!((Native::f32_ldexp(0.75, 3), Native::f64_ldexp(1.0, 1 << 40)), (6.0, INF));
        assert_eq!(
            (
                Native::f64_heaviside(0.0, 0.5),
                Native::f32_heaviside(-1.0, 0.5),
                Native::f64_heaviside(2.0, 0.5)
            ),
            (0.5, 0.0, 1.0)
        );
        assert_eq!(
            (
                Native::f64_logaddexp(1000.0, 1000.0),
                Native::f64_logaddexp2(3.0, 3.0),
                Native::f64_logaddexp(-INF, 2.0)
            ),
            (1000.0 + std::f64::consts::LN_2, 4.0, 2.0)
        );
        assert_eq!(
            (Native::f64_spacing(-1.0), Native::f64_spacing(-0.0), Native::f32_spacing(1.0)),
            (-f64::EPSILON, 5e-324, f32::EPSILON)
        );
        assert_eq!(
            (Native::f64_ulp(1.0), Native::f64_ulp(f64::MAX), Native::f64_ulp(0.0), Native::f64_ulp(-INF)),
            (f64::EPSILON, 1.99584030953472e+292, 5e-324, INF)
        );
    }
}

#[test]
fn sums_are_exact() {
    let fsum = |v: &[f64]| run(|c| call!(math_fsum(c, v.as_ptr(), v.len() as i64, 8)));
    assert_eq!(fsum(&[]), Ok(0.0));
    assert_eq!(fsum(&[0.1; 10]), Ok(1.0));
    assert_eq!(fsum(&[1e100, 1.0, -1e100, 1e-100]), Ok(1.0));
    // Half a unit, decided by a partial far below.
    assert_eq!(fsum(&[1.0, f64::EPSILON / 2.0, 1e-100]), Ok(1.0 + f64::EPSILON));
    assert_eq!(fsum(&[INF, 1.0]), Ok(INF));
    assert_eq!(fsum(&[INF, -INF]), Err("ValueError: -inf + inf in fsum".into()));
    assert_eq!(fsum(&[1e308, 1e308]), Err("OverflowError: intermediate overflow in fsum".into()));
    assert!(fsum(&[f64::NAN, 1.0]).unwrap().is_nan());
    let interleaved = [1.0, 9.0, 2.0, 9.0, 3.0];
    assert_eq!(run(|c| call!(math_fsum(c, interleaved.as_ptr(), 3, 16))), Ok(6.0));
}

#[test]
fn norms_neither_overflow_nor_underflow() {
    let norm = |a: f64, b: f64| call!(math_hypot_n([a, b].as_ptr(), 2));
    // SAFETY: arrays have the lengths given.
    unsafe {
        assert_eq!(norm(3e200, 4e200), 4.9999999999999995e200);
        assert_eq!(norm(3e-320, 4e-320), 5e-320);
        assert_eq!(norm(f64::NAN, -INF), INF);
        assert!(norm(f64::NAN, 1.0).is_nan());
        let (p, q) = ([1.0, 2.0, 3.0], [3.0, 4.0, 4.0]);
        assert_eq!(
            (
                Native::math_dist(p.as_ptr(), q.as_ptr(), 3),
                Native::math_hypot_n(p.as_ptr(), 3),
                Native::math_hypot_n(p.as_ptr(), 0)
            ),
            (3.0, 3.7416573867739413, 0.0)
        );
    }
}
