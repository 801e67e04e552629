"""Prints core/src/math/coefficients.rs: the polynomials of the elementary functions, computed here and taken from nowhere.

Usage: elementary.py > core/src/math/coefficients.rs      needs mpmath; a minute

Each is the polynomial through the Chebyshev nodes of an interval, which is within a small factor of the best one, computed with 60 digits and
rounded. The function that is approximated is what is left when the leading terms, which the definitions add exactly, are taken away.
"""

import struct

import mpmath as mp

mp.mp.dps = 60


def fit(f, low, high, n):
    """Coefficients, constant first, of the polynomial of degree n - 1, and the greatest error at points in between."""
    low, high = mp.mpf(low), mp.mpf(high)
    coefficients = mp.chebyfit(f, [low, high], n)
    points = [low + (high - low) * (i + mp.mpf(1) / 3) / 200 for i in range(200)]
    error = max(abs(mp.polyval(coefficients, x) - f(x)) for x in points)
    return coefficients[::-1], error


def series(terms):
    """A power series as a function, for arguments near 0, where the closed form cancels."""
    return lambda x: mp.polyval(terms[::-1], x)


def near_zero(closed, terms, below=mp.mpf(10) ** -8):
    s = series(terms)
    return lambda x: s(x) if abs(x) < below else closed(x)


def show(name, what, f, low, high, n):
    coefficients, error = fit(f, low, high, n)
    print(f"/// {what}; error {mp.nstr(error, 2)}.")
    print(f"pub const {name}: [f64; {n}] = [")
    for c in coefficients:
        print(f"    {float(c)!r},")
    print("];")


def parts(name, what, x, bits=None):
    """A number as the sum of doubles; the first with so many bits that small multiples of it are exact."""
    with mp.workprec(bits or 53):
        first = +x
    second = float(x - first)
    third = float(x - first - mp.mpf(second))
    print(f"/// {what}, in three parts.")
    print(f"pub const {name}: [f64; 3] = [{float(first)!r}, {second!r}, {third!r}];")


def single(x):
    return struct.unpack("<f", struct.pack("<f", float(x)))[0]


def single_parts(name, what, x, count, bits=24):
    """A number as the sum of float32 numbers, the first with so many bits."""
    with mp.workprec(bits):
        out = [float(+x)]
    while len(out) < count:
        out.append(single(x - sum(map(mp.mpf, out))))
    print(f"/// {what}, in parts for float32.")
    print(f"pub const {name}: [f64; {count}] = {out!r};")


def terms(name, what, values):
    print(f"/// {what}.")
    print(f"pub const {name}: [f64; {len(values)}] = [")
    for c in values:
        print(f"    {float(c)!r},")
    print("];")


def sqrt_of(f):
    """`f` of the square root: for series in the square of the argument."""
    return lambda z: f(mp.sqrt(z))


def main():
    print("//! Coefficients of the elementary functions, constant terms first. Written by `tests/tools/elementary.py`, which says how.")
    print()
    print("#![allow(clippy::excessive_precision, clippy::approx_constant, clippy::unreadable_literal)]")
    print()
    half = mp.log(2) / 2 * mp.mpf("1.0001")
    parts("LN2", "log 2, the first with 32 bits", mp.log(2), 32)
    parts("HALF_PI", "π/2", mp.pi / 2)
    parts("LOG2_E", "1 / log 2", 1 / mp.log(2))
    parts("LOG10_E", "1 / log 10", 1 / mp.log(10))
    parts("LOG10_2", "log 2 / log 10, the first with 32 bits", mp.log(2) / mp.log(10), 32)
    exp_rest = near_zero(lambda x: (mp.expm1(x) - x) / x**2, [1 / mp.factorial(k + 2) for k in range(8)])
    show("EXP", "(exp x - 1 - x) / x² for |x| below half of log 2", exp_rest, -half, half, 11)
    ratio = (mp.sqrt(2) - 1) / (mp.sqrt(2) + 1) * mp.mpf("1.0001")
    log_rest = near_zero(sqrt_of(lambda s: (2 * mp.atanh(s) - 2 * s) / s**3), [mp.mpf(2) / (2 * k + 3) for k in range(8)])
    show("LOG", "(2 atanh s - 2 s) / s³ by s², where s is (m - 1) / (m + 1) for m from √½ to √2", log_rest, 0, ratio**2, 7)
    quarter = (mp.pi / 4 * mp.mpf("1.00001")) ** 2
    show("SIN", "(sin x - x) / x³ by x² for |x| below π/4",
         near_zero(sqrt_of(lambda x: (mp.sin(x) - x) / x**3), [(-1) ** (k + 1) / mp.factorial(2 * k + 3) for k in range(8)]), 0, quarter, 6)
    show("COS", "(cos x - 1 + x²/2) / x⁴ by x² for |x| below π/4",
         near_zero(sqrt_of(lambda x: (mp.cos(x) - 1 + x**2 / 2) / x**4), [(-1) ** k / mp.factorial(2 * k + 4) for k in range(8)]), 0, quarter, 6)
    with mp.workprec(1500):
        two_over_pi = int(mp.floor(2 / mp.pi * mp.mpf(2) ** 1344))
    print("/// π/4, π/2, 3π/4 and π as sums of two.")
    multiples = [mp.pi / 4, mp.pi / 2, 3 * mp.pi / 4, +mp.pi]
    print(f"pub const QUARTERS: [[f64; 2]; 4] = [{', '.join(f'[{float(m)!r}, {float(m - mp.mpf(float(m)))!r}]' for m in multiples)}];")
    print("/// The bits of 2/π, after a word of zeros.")
    print("pub const TWO_OVER_PI: [u64; 22] = [")
    print("    0x0,")
    for k in range(21):
        print(f"    0x{(two_over_pi >> (64 * (20 - k))) & (2**64 - 1):016x},")
    print("];")
    tan_eighth = ((mp.sqrt(2) - 1) * mp.mpf("1.00001")) ** 2
    show("ATAN", "(atan x - x) / x³ by x² for |x| below tan(π/8)",
         near_zero(sqrt_of(lambda x: (mp.atan(x) - x) / x**3), [(-1) ** (k + 1) / mp.mpf(2 * k + 3) for k in range(8)]), 0, tan_eighth, 11)
    asin_terms = [mp.factorial(2 * k + 2) / (mp.mpf(4) ** (k + 1) * mp.factorial(k + 1) ** 2 * (2 * k + 3)) for k in range(8)]
    show("ASIN", "(asin x - x) / x³ by x² for |x| up to ½", near_zero(sqrt_of(lambda x: (mp.asin(x) - x) / x**3), asin_terms), 0, mp.mpf("0.2501"), 13)
    show("CBRT", "x to the power -1/3 from 1 to 8, roughly", lambda x: x ** (-mp.mpf(1) / 3), 1, 8, 6)

    parts("TWO_OVER_ROOT_PI", "2 / √π", 2 / mp.sqrt(mp.pi))
    erf_terms = [2 / mp.sqrt(mp.pi) * (-1) ** (k + 1) / (mp.factorial(k + 1) * (2 * k + 3)) for k in range(8)]
    show("ERF", "(erf x - 2 x / √π) / x³ by x² for |x| up to 0.7", near_zero(sqrt_of(lambda x: (mp.erf(x) - 2 * x / mp.sqrt(mp.pi)) / x**3), erf_terms), 0, mp.mpf("0.491"), 10)
    low, high = 1 / mp.mpf(31), 1 / mp.mpf("3.699")
    middle = mp.mpf(float((low + high) / 2))
    print("/// Halfway between 1 / 31 and 1 / 3.7.")
    print(f"pub const ERFC_MIDDLE: f64 = {float(middle)!r};")
    def even(w):
        x = 1 / (w + middle) - 3
        return (1 + 2 * x) * mp.exp(x * x) * mp.erfc(x)
    show("ERFC", "(1 + 2 x) e^(x²) erfc x by 1 / (x + 3) less that, for x from 0.7 to 28", even, low - middle, high - middle, 23)
    # Powers: of what the three factors leave.
    widest = mp.mpf("0.0745")
    log2_rest = near_zero(sqrt_of(lambda s: (2 * mp.atanh(s) - 2 * s) / s**3 / mp.log(2)), [mp.mpf(2) / (2 * k + 3) / mp.log(2) for k in range(8)])
    show("LOG2_SERIES", "(2 atanh s - 2 s) / s³ / log 2 by s² for |s| up to 0.0745", log2_rest, 0, widest**2, 6)
    parts("LOG2_TWO", "2 / log 2", 2 / mp.log(2))
    logs = [-mp.log(mp.mpf(c), 2) for c in ("1.25", "1", "0.75")]
    firsts = [mp.nint(x * 2**38) / 2**38 for x in logs]
    print("/// What the factors of `pow` take away from the logarithm to base 2, with 38 bits behind the point, and the rest.")
    print(f"pub const LOG2_FACTORS: [[f64; 3]; 2] = [[{', '.join(repr(float(x)) for x in firsts)}], [{', '.join(repr(float(x - y)) for x, y in zip(logs, firsts))}]];")
    near_half = mp.mpf("0.5001")
    parts("LN_2", "log 2", mp.log(2))
    exp2_rest = near_zero(lambda x: (mp.mpf(2) ** x - 1 - x * mp.log(2)) / x**2, [mp.log(2) ** (k + 2) / mp.factorial(k + 2) for k in range(8)])
    show("EXP2", "(2^x - 1 - x log 2) / x² for |x| up to ½", exp2_rest, -near_half, near_half, 11)
    show("EXP2_SINGLE", "2^x for |x| up to ½, for float32", lambda x: mp.mpf(2) ** x, -near_half, near_half, 8)
    parts("PI", "π", mp.pi)
    parts("HALF_LOG2_TWO_PI", "Half of log 2π / log 2", mp.log(2 * mp.pi, 2) / 2)
    terms("STIRLING", "Stirling's series of log Γ by 1 / x², times 1 / x", [mp.bernoulli(2 * k) / (2 * k * (2 * k - 1)) for k in range(1, 11)])
    terms("LOG_GAMMA_1", "log Γ(1 + x) / x for |x| up to 1/8", [-mp.euler] + [(-1) ** k * mp.zeta(k) / k for k in range(2, 20)])
    terms("LOG_GAMMA_2", "log Γ(2 + x) / x for |x| up to 1/8", [1 - mp.euler] + [(-1) ** k * (mp.zeta(k) - 1) / k for k in range(2, 17)])
    singles(half)


def singles(half):
    """Of the functions that float32 has for its own."""
    single_parts("LN2_SINGLE", "log 2, the first with 15 bits", mp.log(2), 2, 15)
    single_parts("LN_2_SINGLE", "log 2", mp.log(2), 2)
    single_parts("LOG2_E_SINGLE", "1 / log 2", 1 / mp.log(2), 2)
    single_parts("LOG10_E_SINGLE", "1 / log 10", 1 / mp.log(10), 2)
    single_parts("LOG10_2_SINGLE", "log 2 / log 10, the first with 15 bits", mp.log(2) / mp.log(10), 2, 15)
    single_parts("HALF_PI_SINGLE", "π/2", mp.pi / 2, 3)
    print("/// 2 / π.")
    print(f"pub const TWO_OVER_PI_SINGLE: f64 = {float(2 / mp.pi)!r};")
    show("EXP_SINGLE", "(exp x - 1 - x) / x² for |x| below half of log 2, for float32", near_zero(lambda x: (mp.expm1(x) - x) / x**2, [1 / mp.factorial(k + 2) for k in range(8)]), -half, half, 6)
    near_half = mp.mpf("0.5001")
    show("EXP2_REST_SINGLE", "(2^x - 1 - x log 2) / x² for |x| up to ½, for float32", near_zero(lambda x: (mp.mpf(2) ** x - 1 - x * mp.log(2)) / x**2, [mp.log(2) ** (k + 2) / mp.factorial(k + 2) for k in range(8)]), -near_half, near_half, 5)
    third = mp.mpf("0.33334")
    for name, what, base in (("LOG_SINGLE", "log(1 + x)", 1), ("LOG2_REST_SINGLE", "log2(1 + x)", mp.log(2)), ("LOG10_REST_SINGLE", "log10(1 + x)", mp.log(10))):
        rest = near_zero(lambda x: (mp.log1p(x) - x) / x**2 / base, [(-1) ** (k + 1) / mp.mpf(k + 2) / base for k in range(8)])
        show(name, f"{what} less its first term, / x² for |x| up to 1/3, for float32", rest, -third, third, 9)
    quarter = (mp.pi / 4 * mp.mpf("1.0001")) ** 2
    show("SIN_SINGLE", "(sin x - x) / x³ by x² for |x| below π/4, for float32", near_zero(sqrt_of(lambda x: (mp.sin(x) - x) / x**3), [(-1) ** (k + 1) / mp.factorial(2 * k + 3) for k in range(8)]), 0, quarter, 3)
    show("COS_SINGLE", "(cos x - 1 + x²/2) / x⁴ by x² for |x| below π/4, for float32", near_zero(sqrt_of(lambda x: (mp.cos(x) - 1 + x**2 / 2) / x**4), [(-1) ** k / mp.factorial(2 * k + 4) for k in range(8)]), 0, quarter, 3)


if __name__ == "__main__":
    main()
