//! Expected values are CPython 3.11's, or NumPy's where a helper is NumPy's.

use super::cmath::{Complex, Trouble, complex};
use super::*;
use crate::Native;
use crate::testing::{Raised, call, has_raised, with_ctx};
use tierup_core::ops::number::Helpers;
use tierup_core::rt::Ctx;

/// What a helper gives, or the class and text of what it raises.
fn run<T>(f: impl FnOnce(Ctx) -> T) -> Result<T, (String, String)> {
    with_ctx(|ctx| {
        let v = f(ctx);
        if !has_raised(ctx) {
            return Ok(v);
        }
        let r = Raised::take(ctx);
        Err((r.class, r.text))
    })
}
fn raises<T>(class: &str, text: &str) -> Result<T, (String, String)> {
    Err((class.into(), text.into()))
}

#[test]
fn integer_powers_wrap() {
    for (b, e, r) in [
        (2, 10, 1024),
        (-3, 3, -27),
        (2, 64, 0),
        (3, 41, 3u64.wrapping_pow(41) as i64),
        (0, 0, 1),
        (2, -1, 0),
        (1, -5, 1),
        (-1, -3, -1),
        (-1, -4, 1),
        (0, -1, 0),
    ] {
        assert_eq!(int_pow(b, e), r, "{b} ** {e}");
    }
    assert_eq!(
        run(|c| call!(int_pow_checked(c, 2, -1))),
        raises("ValueError", "Integers to negative integer powers are not allowed.")
    );
    assert_eq!(call!(uint_pow(3, -1)), uint_pow(3, u64::MAX) as i64);
}

#[test]
fn modular_powers() {
    for (b, e, m, r) in [
        (3, 200, 13, 9),
        (3, -1, 7, 5),
        (-7, 3, 10, 7),
        (7, 3, -10, -7),
        (5, 0, 1, 0),
        (i64::MAX, i64::MAX, i64::MIN, -1),
        (2, 5, -1, 0),
    ] {
        assert_eq!(run(|c| call!(int_pow_mod(c, b, e, m))), Ok(r), "pow({b}, {e}, {m})");
    }
    assert_eq!(
        run(|c| call!(int_pow_mod(c, 2, 1, 0))),
        raises("ValueError", "pow() 3rd argument cannot be 0")
    );
    assert_eq!(
        run(|c| call!(int_pow_mod(c, 2, -1, 4))),
        raises("ValueError", "base is not invertible for the given modulus")
    );
}

#[test]
fn quotients_are_rounded_once() {
    // SAFETY: the helper takes nothing but numbers.
    let quotient = |a, b| unsafe { Native::int_true_div(a, b) };
    let (odd, most) = ((1 << 53) + 1, i64::MAX);
    assert_eq!((quotient(odd, 3), quotient(-odd, 3)), (3002399751580331.0, -3002399751580331.0));
    assert_eq!((quotient(1, odd), quotient(64, -odd)), (1.1102230246251564e-16, -7.105427357601001e-15));
    assert_eq!((quotient(1 << 62, odd), quotient(most, 1)), (511.99999999999994, 9.223372036854775807e18));
    assert_eq!((quotient(most, most), quotient(i64::MIN, -1)), (1.0, 9.223372036854775808e18));
    assert_eq!((quotient(0, 7), quotient(0, -7).to_bits()), (0.0, (-0.0f64).to_bits()));
    assert_eq!((quotient(1, most), quotient(most, i64::MIN)), (1.0842021724855044e-19, -1.0));
}

#[test]
fn divisors_roots_and_choices() {
    // SAFETY: these helpers take nothing but numbers, and a live context where they raise.
    unsafe {
        assert_eq!(
            (
                Native::int_gcd(-12, 18),
                Native::int_gcd(0, -5),
                Native::int_gcd(0, 0),
                Native::int_gcd(i64::MIN, 6)
            ),
            (6, 5, 0, 2)
        );
        assert_eq!((Native::int_lcm(-4, 6), Native::int_lcm(0, 3), Native::uint_gcd(-2, 4)), (12, 0, 2));
        assert_eq!(
            (Native::int_bit_length(0), Native::int_bit_length(-8), Native::int_bit_length(i64::MIN)),
            (0, 4, 64)
        );
    }
    assert_eq!((isqrt(i64::MAX).ok(), isqrt(24).ok(), isqrt(25).ok()), (Some(3037000499), Some(4), Some(5)));
    assert_eq!(
        run(|c| call!(int_isqrt(c, -1))),
        raises("ValueError", "isqrt() argument must be nonnegative")
    );
    assert_eq!((factorial(0).ok(), factorial(20).ok()), (Some(1), Some(2432902008176640000)));
    assert_eq!(
        run(|c| call!(int_factorial(c, 21))),
        raises("OverflowError", "integer result does not fit in 64 bits")
    );
    assert_eq!(
        run(|c| call!(int_factorial(c, -1))),
        raises("ValueError", "factorial() not defined for negative values")
    );
    assert_eq!(
        (comb(66, 33).ok(), comb(5, 7).ok(), comb(i64::MAX, 1).ok(), comb(i64::MAX, i64::MAX - 1).ok()),
        (Some(7219428434016265740), Some(0), Some(i64::MAX), Some(i64::MAX))
    );
    assert_eq!(
        run(|c| call!(int_comb(c, 68, 34))),
        raises("OverflowError", "integer result does not fit in 64 bits")
    );
    assert_eq!(run(|c| call!(int_comb(c, 1, -1))), raises("ValueError", "k must be a non-negative integer"));
    assert_eq!(
        (perm(i64::MAX, 0).ok(), perm(20, 20).ok(), perm(2, 3).ok()),
        (Some(1), Some(2432902008176640000), Some(0))
    );
    assert_eq!(run(|c| call!(int_perm(c, -1, 1))), raises("ValueError", "n must be a non-negative integer"));
}

#[test]
fn rounding_is_correct_for_the_exact_value() {
    for (x, n, r) in [
        (2.675, 2, 2.67),
        (2.55, 1, 2.5),
        (0.5, 0, 0.0),
        (2.5, 0, 2.0),
        (-1.5, 0, -2.0),
        (1234.5, -2, 1200.0),
        (1250.0, -2, 1200.0),
        (1350.0, -2, 1400.0),
        (1250.0000001, -2, 1300.0),
        (999.0, -3, 1000.0),
        (499.0, -3, 0.0),
        (1e300, -299, 1e300),
        (5e-324, 400, 5e-324),
        (1e22, -400, 0.0),
        (9.995, 2, 9.99),
    ] {
        assert_eq!(run(|c| call!(float_round(c, x, n))), Ok(r), "round({x}, {n})");
    }
    assert!(round::decimals(-0.1, 0).unwrap().is_sign_negative());
    assert!(round::decimals(f64::NAN, 2).unwrap().is_nan());
    assert_eq!(
        run(|c| call!(float_round(c, 1.7e308, -308))),
        raises("OverflowError", "rounded value too large to represent")
    );
    for (n, d, r) in
        [(125, -1, 120), (135, -1, 140), (-125, -1, -120), (7, 3, 7), (6, -1, 10), (i64::MAX, -25, 0)]
    {
        assert_eq!(round::int(n, d).ok(), Some(r));
    }
    assert_eq!(
        run(|c| call!(int_round(c, i64::MAX, -19))),
        raises("OverflowError", "Python int too large to convert to C long")
    );
    // SAFETY: these helpers take nothing but numbers.
    unsafe {
        assert_eq!(
            (Native::np_round_f64(2.675, 2), Native::np_round_f64(1250.0, -2), Native::np_round_f32(0.5, 0)),
            (2.68, 1200.0, 0.0)
        );
    }
}

#[test]
fn floats_become_ints_or_raise() {
    // SAFETY: `run` passes a live context; beside it there are only numbers.
    unsafe {
        assert_eq!(run(|c| Native::float_to_int(c, -2.9)), Ok(-2));
        assert_eq!(run(|c| Native::float_round_to_int(c, 2.5)), Ok(2));
        assert_eq!(run(|c| Native::float_floor_to_int(c, -0.5)), Ok(-1));
        assert_eq!(run(|c| Native::float_ceil_to_int(c, 0.5)), Ok(1));
        assert_eq!(run(|c| Native::float_to_int(c, -9223372036854775808.0)), Ok(i64::MIN));
        assert_eq!(
            run(|c| Native::float_to_int(c, 9223372036854775808.0)),
            raises("OverflowError", "Python int too large to convert to C long")
        );
        assert_eq!(
            run(|c| Native::float_to_int(c, f64::NAN)),
            raises("ValueError", "cannot convert float NaN to integer")
        );
        assert_eq!(
            run(|c| Native::float_ceil_to_int(c, f64::INFINITY)),
            raises("OverflowError", "cannot convert float infinity to integer")
        );
    }
}

#[test]
fn float_division_floors() {
    for (a, b, q, r) in [
        (7.0, 2.0, 3.0, 1.0),
        (-7.0, 2.0, -4.0, 1.0),
        (7.0, -2.0, -4.0, -1.0),
        (1.0, 0.1, 9.0, 0.09999999999999995),
        (5e-324, f64::INFINITY, 0.0, 5e-324),
    ] {
        assert_eq!(divmod_f64(a, b), (q, r), "divmod({a}, {b})");
    }
    let (q, r) = divmod_f64(-0.0, 3.0);
    assert!(q.is_sign_negative() && r.is_sign_positive());
    // SAFETY: `run` passes a live context; beside it there are only numbers.
    unsafe {
        assert_eq!(
            run(|c| Native::float_floordiv(c, 1.0, 0.0)),
            raises("ZeroDivisionError", "float floor division by zero")
        );
        assert_eq!(run(|c| Native::float_mod(c, 1.0, -0.0)), raises("ZeroDivisionError", "float modulo"));
        assert_eq!(
            (Native::np_floordiv_f64(1.0, 0.0), Native::np_floordiv_f32(-1.0, 0.0)),
            (f64::INFINITY, f32::NEG_INFINITY)
        );
        assert!(Native::np_mod_f64(1.0, 0.0).is_nan());
        assert_eq!(Native::np_mod_f32(-7.0, 2.0), 1.0);
    }
}

#[test]
fn float_powers_raise_what_python_raises() {
    // SAFETY: `run` passes a live context; beside it there are only numbers.
    unsafe {
        assert_eq!(run(|c| Native::float_pow(c, 2.0, 0.5)), Ok(std::f64::consts::SQRT_2));
        assert_eq!(run(|c| Native::float_pow(c, f64::NAN, 0.0)), Ok(1.0));
        assert_eq!(
            run(|c| Native::float_pow(c, -0.0, -1.0)),
            raises("ZeroDivisionError", "0.0 cannot be raised to a negative power")
        );
        assert!(run(|c| Native::float_pow(c, -8.0, 0.5)).unwrap().is_nan());
        with_ctx(|ctx| {
            Native::float_pow(ctx, 2.0, 5000.0);
            let e = crate::exc::take_pending(ctx).unwrap();
            assert!(
                matches!(e.args.as_slice(), [Arg::Int(34), Arg::Text(t)] if t == "Numerical result out of range")
            );
        });
    }
}

#[test]
fn equal_numbers_hash_alike() {
    for (x, h) in [
        (1.0, 1),
        (-1.0, -2),
        (0.5, 1152921504606846976),
        (1e300, 1224995262755759164),
        (5e-324, 16777216),
        (f64::NEG_INFINITY, -314159),
    ] {
        assert_eq!(hash::float(x), h, "{x}");
    }
    for n in [0, 1, -1, 1 << 53, -(1 << 60), 1 << 62] {
        assert_eq!(hash::int(n), hash::float(n as f64), "{n}");
    }
    assert_eq!(
        (hash::uint(u64::MAX), hash::complex(1.0, 2.0), hash::tuple(&[1, 2]), hash::tuple(&[])),
        (7, 2000007, -3550055125485641917, 5740354900026072187)
    );
}

fn answer(f: impl FnOnce(Ctx, *mut f64)) -> Result<Complex, (String, String)> {
    run(|c| {
        let mut out = [0.0; 2];
        f(c, out.as_mut_ptr());
        complex(out[0], out[1])
    })
}

#[test]
fn complex_arithmetic() {
    // SAFETY: results have room for two numbers, and contexts are live.
    unsafe {
        assert_eq!(answer(|c, o| Native::complex_div(c, 1.0, 2.0, 3.0, -4.0, o)), Ok(complex(-0.2, 0.4)));
        assert_eq!(
            answer(|c, o| Native::complex_div(c, 1.0, 2.0, 0.0, 0.0, o)),
            raises("ZeroDivisionError", "complex division by zero")
        );
        assert_eq!(answer(|c, o| Native::complex_pow(c, 0.0, 1.0, 2.0, 0.0, o)), Ok(complex(-1.0, 0.0)));
        assert_eq!(answer(|c, o| Native::complex_pow(c, 2.0, 0.0, -2.0, 0.0, o)), Ok(complex(0.25, 0.0)));
        assert_eq!(
            answer(|c, o| Native::complex_pow(c, 0.0, 0.0, -1.0, 0.0, o)),
            raises("ZeroDivisionError", "0.0 to a negative or complex power")
        );
        assert_eq!(
            answer(|c, o| Native::complex_pow(c, 1e300, 0.0, 1.5, 0.0, o)),
            raises("OverflowError", "complex exponentiation")
        );
        assert_eq!(run(|c| Native::complex_abs(c, 3.0, -4.0)), Ok(5.0));
        assert_eq!(run(|c| Native::complex_abs(c, f64::NAN, f64::INFINITY)), Ok(f64::INFINITY));
        assert_eq!(
            run(|c| Native::complex_abs(c, 1.7e308, 1.7e308)),
            raises("OverflowError", "absolute value too large")
        );
        assert_eq!(
            run(|c| Native::cmath_modulus(c, 1.7e308, 1.7e308)),
            raises("OverflowError", "math range error")
        );
    }
    let inf = cmath::np_div(complex(1.0, -1.0), complex(0.0, 0.0));
    assert_eq!((inf.re, inf.im), (f64::INFINITY, f64::NEG_INFINITY));
    assert_eq!(cmath::np_pow(complex(0.0, 2.0), complex(3.0, 0.0)), complex(-0.0, -8.0));
}

#[test]
fn complex_functions_keep_their_branches() {
    let near = |z: Complex, re: f64, im: f64| {
        assert!(
            (z.re - re).abs() <= 1e-15 * re.abs().max(1.0) && (z.im - im).abs() <= 1e-15 * im.abs().max(1.0),
            "{z:?}"
        )
    };
    near(cmath::sqrt(complex(-4.0, -0.0)).0, 0.0, -2.0);
    near(cmath::log_complex(complex(-1.0, 0.0)).0, 0.0, std::f64::consts::PI);
    near(cmath::acos(complex(2.0, 0.0)).0, 0.0, -1.3169578969248166);
    near(cmath::atanh(complex(2.0, -0.0)).0, 0.5493061443340548, -std::f64::consts::FRAC_PI_2);
    near(cmath::tan(complex(1.0, 400.0)).0, 0.0, 1.0);
    near(cmath::asin(complex(0.5, 1.5)).0, 0.2734872901415568, 1.226456871251406);
    assert_eq!(cmath::exp(complex(f64::NEG_INFINITY, 1.0)).0, complex(0.0, 0.0));
    assert_eq!(cmath::cosh(complex(f64::INFINITY, 3.0)).0, complex(f64::NEG_INFINITY, f64::INFINITY));
    assert_eq!(cmath::atanh(complex(1.0, 0.0)), (complex(f64::INFINITY, 0.0), Trouble::Domain));
    // The product does not overflow although cosh(710.5) does.
    assert_eq!(cmath::cosh(complex(710.5, 0.785)).1, Trouble::None);
    // SAFETY: results have room for two numbers, and contexts are live.
    unsafe {
        assert_eq!(
            answer(|c, o| Native::cmath_log(c, 0.0, 0.0, o)),
            raises("ValueError", "math domain error")
        );
        assert_eq!(
            answer(|c, o| Native::cmath_exp(c, 1000.0, 1.0, o)),
            raises("OverflowError", "math range error")
        );
        assert_eq!(
            answer(|c, o| Native::cmath_rect(c, 1.0, f64::INFINITY, o)),
            raises("ValueError", "math domain error")
        );
        let mut out = [0.0; 2];
        Native::np_complex_exp(1000.0, 0.0, out.as_mut_ptr());
        assert_eq!(out, [f64::INFINITY, 0.0]);
    }
}
