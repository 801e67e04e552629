//! Elementary functions against what they are to more digits (`elementary.txt`, by
//! `tests/tools/elementary_reference.py`), and at special values.
//!
//! `ELEMENTARY_REFERENCE` names another file; then the greatest errors are printed.

use tierup_core::interp::Interp;
use tierup_core::lir::{Module, Ty, legalise, verify};
use tierup_core::math::definition;
use tierup_core::ops::mathfn::{HELPERS, Helpers};
use tierup_runtime::Native;

type One = unsafe fn(f64) -> f64;
type Single = unsafe fn(f32) -> f32;

/// Functions of one number in both widths, and how many units in the last place they may be wrong.
static ONE: &[(&str, One, Single, f64)] = &[
    ("exp", Native::f64_exp, Native::f32_exp, 1.0),
    ("exp2", Native::f64_exp2, Native::f32_exp2, 1.0),
    ("expm1", Native::f64_expm1, Native::f32_expm1, 1.0),
    ("log", Native::f64_log, Native::f32_log, 1.0),
    ("log2", Native::f64_log2, Native::f32_log2, 1.0),
    ("log10", Native::f64_log10, Native::f32_log10, 1.0),
    ("log1p", Native::f64_log1p, Native::f32_log1p, 1.0),
    ("sin", Native::f64_sin, Native::f32_sin, 1.0),
    ("cos", Native::f64_cos, Native::f32_cos, 1.0),
    ("tan", Native::f64_tan, Native::f32_tan, 1.0),
    ("asin", Native::f64_asin, Native::f32_asin, 1.0),
    ("acos", Native::f64_acos, Native::f32_acos, 1.0),
    ("atan", Native::f64_atan, Native::f32_atan, 1.0),
    ("sinh", Native::f64_sinh, Native::f32_sinh, 1.0),
    ("cosh", Native::f64_cosh, Native::f32_cosh, 1.0),
    ("tanh", Native::f64_tanh, Native::f32_tanh, 1.0),
    ("asinh", Native::f64_asinh, Native::f32_asinh, 1.0),
    ("acosh", Native::f64_acosh, Native::f32_acosh, 1.0),
    ("atanh", Native::f64_atanh, Native::f32_atanh, 1.0),
    ("cbrt", Native::f64_cbrt, Native::f32_cbrt, 1.0),
    ("erf", Native::f64_erf, Native::f32_erf, 1.0),
    ("erfc", Native::f64_erfc, Native::f32_erfc, 1.0),
    ("gamma", Native::f64_gamma, Native::f32_gamma, 4.0),
    ("lgamma", Native::f64_lgamma, Native::f32_lgamma, 4.0),
];
type Two = unsafe fn(f64, f64) -> f64;
type TwoSingle = unsafe fn(f32, f32) -> f32;
static TWO: &[(&str, Two, TwoSingle, f64)] = &[
    ("pow", Native::f64_pow, Native::f32_pow, 4.0),
    ("atan2", Native::f64_atan2, Native::f32_atan2, 1.0),
    ("hypot", Native::f64_hypot, Native::f32_hypot, 1.0),
];

/// The distance of `got` from `hi + lo` in units of the last place that a float with `digits` bits and that
/// least exponent has there.
fn units(got: f64, hi: f64, lo: f64, digits: i32, least: i32) -> f64 {
    let most = if digits == 53 { f64::MAX } else { f64::from(f32::MAX) };
    let unit = |x: f64| {
        let (_, e) = libm::frexp(x);
        (e - digits).max(least)
    };
    if got.is_nan() {
        return f64::INFINITY;
    }
    if got.is_infinite() || hi.abs() > most {
        // Rounding may go to either side of the greatest number.
        let near = |x: f64| if x.is_infinite() { most.copysign(x) } else { x };
        if got == hi || digits == 24 && got.is_infinite() && hi.abs() >= most {
            return 0.0;
        }
        return libm::ldexp(near(got) - near(hi), -unit(most)).abs() + 1.0;
    }
    let e = unit(hi);
    // Scaled first, or the smallest differences vanish.
    (libm::ldexp(libm::ldexp(got - hi, -e / 2), -(e - e / 2))
        - libm::ldexp(libm::ldexp(lo, -e / 2), -(e - e / 2)))
    .abs()
}

#[test]
fn errors_are_within_the_promised_units() {
    let (path, show) = match std::env::var("ELEMENTARY_REFERENCE") {
        Ok(p) => (p, true),
        Err(_) => (concat!(env!("CARGO_MANIFEST_DIR"), "/tests/elementary.txt").into(), false),
    };
    let text = std::fs::read_to_string(path).expect("the reference is there");
    let mut worst: std::collections::BTreeMap<String, (f64, String)> = std::collections::BTreeMap::new();
    let mut wrong = vec![];
    for line in text.lines() {
        let mut parts = line.split(' ');
        let name = parts.next().expect("a name");
        let v: Vec<f64> = parts.map(|p| f64::from_bits(u64::from_str_radix(p, 16).expect("bits"))).collect();
        let (hi, lo) = (v[v.len() - 2], v[v.len() - 1]);
        let plain = name.strip_suffix('f').filter(|n| *n != "er");
        let base = match plain {
            Some(n) if ONE.iter().any(|r| r.0 == n) || TWO.iter().any(|r| r.0 == n) => n,
            _ => name,
        };
        let single = base != name;
        // SAFETY: functions of numbers.
        let (got, limit) = unsafe {
            if let Some(r) = ONE.iter().find(|r| r.0 == base) {
                (if single { f64::from(r.2(v[0] as f32)) } else { r.1(v[0]) }, r.3)
            } else {
                let r = TWO.iter().find(|r| r.0 == base).expect("a known function");
                (if single { f64::from(r.2(v[0] as f32, v[1] as f32)) } else { r.1(v[0], v[1]) }, r.3)
            }
        };
        let off = if single { units(got, hi, lo, 24, -149) } else { units(got, hi, lo, 53, -1074) };
        let text = format!("{name}({:?}) is {got:e}, not {hi:e}: {off:.3} units", &v[..v.len() - 2]);
        if off > limit {
            wrong.push(text.clone());
        }
        let w = worst.entry(name.to_owned()).or_default();
        if off > w.0 {
            *w = (off, text);
        }
    }
    if show {
        for (_, text) in worst.values() {
            eprintln!("{text}");
        }
    }
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.iter().take(40).cloned().collect::<Vec<_>>().join("\n")
    );
}

/// float32 against float64, over its whole range; every thirteenth was tried once, see `core::math::single`.
#[test]
fn float32_is_within_one_unit_of_float64() {
    let own = ["exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tanh"];
    let bits = (0..=u32::MAX).step_by(40_961).chain([0x7f2a_aaab, 0x7f7f_ffff, 0x3faa_bf9d, 0x8000_0000]);
    for (name, wide, single, _) in ONE.iter().filter(|r| own.contains(&r.0)) {
        for b in bits.clone() {
            let x = f32::from_bits(b);
            // SAFETY: functions of numbers.
            let (got, want) = unsafe { (single(x), wide(f64::from(x))) };
            let rounded = want as f32;
            if !rounded.is_finite() || rounded == 0.0 {
                let same = got == rounded && got.is_sign_negative() == rounded.is_sign_negative();
                assert!(same || got.is_nan() && want.is_nan(), "{name}({x:e}) is {got:e}, not {want:e}");
                continue;
            }
            let off = units(f64::from(got), want, 0.0, 24, -149);
            assert!(off < 1.0, "{name}({x:e}) is {got:e}, not {want:e}: {off} units");
        }
    }
}

/// What compiled loops and GPUs get has the bits of the helper, and so has the form for numbers that come one
/// by one.
#[test]
fn definitions_as_lir_have_the_bits_of_the_helpers() {
    let defined: Vec<_> = HELPERS.iter().filter_map(|h| definition(h)).collect();
    assert!(defined.len() >= 20);
    let mut module =
        Module { funcs: defined.iter().flat_map(|d| [Some(d.func()), d.alone()]).flatten().collect() };
    legalise::legalise(&mut module);
    verify::verify_module(&module).expect("definitions are LIR");
    let mut interp = Interp::new(&tierup_runtime::helper_address);
    interp.add(&module);
    let specials = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        2.0,
        1e-310,
        5e-324,
        -1e-300,
        710.0,
        -745.5,
        1e9,
        2e9,
        -1e22,
        1e300,
        f64::MAX,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
    ];
    let mut seed = 7u64;
    let mut random = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let x = (seed >> 11) as f64 / (1u64 << 53) as f64;
        libm::ldexp(x - 0.5, (seed % 24) as i32 - 10)
    };
    let numbers: Vec<f64> = specials.into_iter().chain((0..300).map(|_| random())).collect();
    for d in defined {
        let address = tierup_runtime::helper_address(d.helper);
        let single = d.helper.params[0] == Ty::F32;
        let bits = |x: f64| if single { u64::from((x as f32).to_bits()) } else { x.to_bits() };
        let is_nan =
            |b: u64| if single { f32::from_bits(b as u32).is_nan() } else { f64::from_bits(b).is_nan() };
        for (k, x) in numbers.iter().enumerate() {
            // The second operand runs through all numbers against the first.
            let others: Vec<f64> = if d.helper.params.len() == 1 {
                vec![0.0]
            } else {
                numbers.iter().copied().skip(k % 7).step_by(7).collect()
            };
            for y in others {
                let args: Vec<u64> = [*x, y][..d.helper.params.len()].iter().map(|v| bits(*v)).collect();
                // SAFETY: the address is the helper's.
                let want = unsafe { (d.helper.call)(address, &args) };
                for form in ["", ".alone"].into_iter().take(1 + usize::from(d.has_form_alone())) {
                    let got = interp.call(&format!("math.{}{form}", d.helper.name), &args).expect("runs")[0];
                    assert!(
                        got == want || is_nan(got) && is_nan(want),
                        "{}{form}({x:e}, {y:e}): {got:#x} and {want:#x}",
                        d.helper.name
                    );
                }
            }
        }
    }
}
