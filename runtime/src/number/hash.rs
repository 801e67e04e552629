//! `hash` of numbers and tuples, as CPython defines it: numbers that are equal hash alike, whatever their
//! type.

/// `hash(None)` of the Python that runs; what 3.12 and later have until it says so.
pub(crate) static NONE: std::sync::atomic::AtomicI64 = std::sync::atomic::AtomicI64::new(0xfca8_6420);

/// Says what `hash(None)` is.
pub fn set_none(hash: i64) {
    NONE.store(hash, std::sync::atomic::Ordering::Relaxed);
}

/// Numbers hash to their value modulo this prime.
const MODULUS: u64 = (1 << 61) - 1;

fn finish(h: i64) -> i64 {
    if h == -1 { -2 } else { h }
}

pub(crate) fn int(n: i64) -> i64 {
    let m = (n.unsigned_abs() % MODULUS) as i64;
    finish(if n < 0 { -m } else { m })
}
pub(crate) fn uint(n: u64) -> i64 {
    (n % MODULUS) as i64
}

pub(crate) fn float(x: f64) -> i64 {
    if x.is_nan() {
        return 0;
    }
    if x.is_infinite() {
        return if x > 0.0 { 314159 } else { -314159 };
    }
    if x == 0.0 {
        return 0;
    }
    // |x| = m · 2^e with an integral m below 2⁵³; 2⁶¹ is 1 modulo the prime, so a power of two is a rotation.
    let (mantissa, exp) = libm::frexp(x.abs());
    let (m, e) = ((mantissa * 9007199254740992.0) as u64, (exp - 53).rem_euclid(61) as u32);
    let h = (((m << e) & MODULUS) | (m >> (61 - e))) % MODULUS;
    finish(if x < 0.0 { -(h as i64) } else { h as i64 })
}

pub(crate) fn complex(re: f64, im: f64) -> i64 {
    finish(float(re).wrapping_add(1000003i64.wrapping_mul(float(im))))
}

/// xxHash over the members' hashes.
pub(crate) fn tuple(hashes: &[i64]) -> i64 {
    const P1: u64 = 11400714785074694791;
    const P2: u64 = 14029467366897019727;
    const P5: u64 = 2870177450012600261;
    let acc = hashes
        .iter()
        .fold(P5, |acc, h| acc.wrapping_add((*h as u64).wrapping_mul(P2)).rotate_left(31).wrapping_mul(P1));
    match acc.wrapping_add(hashes.len() as u64 ^ (P5 ^ 3527539)) {
        u64::MAX => 1546275796,
        h => h as i64,
    }
}
