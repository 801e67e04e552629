"""Prints runtime/tests/elementary.txt: what the elementary functions are, to more digits than doubles have.

Usage: elementary_reference.py [COUNT [FUNCTION...]] > runtime/tests/elementary.txt      needs mpmath; COUNT random numbers for each function and kind of interval

A line is a function, its operands, and the result as the sum of two doubles, all in hexadecimal bits. Beside random numbers stand hard ones: neighbours of zeros and
of poles, of multiples of π/2, of powers of two, and of where results overflow or lose bits.
"""

import math
import random
import struct
import sys

import mpmath as mp

mp.mp.prec = 1400
INF = math.inf


def bits(x):
    return struct.unpack("<Q", struct.pack("<d", x))[0]


def single(x):
    try:
        return struct.unpack("<f", struct.pack("<f", x))[0]
    except OverflowError:
        return math.copysign(INF, x)


def nearby(x, n=3):
    """`x` and its neighbours."""
    out, up, down = [x], x, x
    for _ in range(n):
        up, down = math.nextafter(up, INF), math.nextafter(down, -INF)
        out += [up, down]
    return out


TINY = [5e-324, 1e-320, 2.2250738585072014e-308, 1e-300, 1e-160, 1e-20, 1e-9, 3e-5]
# The double nearest to a multiple of π/2, and others that come close; from the literature on argument reduction (Kahan, Muller).
ANGLES = [6381956970095103 * 2.0**797, 1.633123935319537e16, 3.7e19, 1e22, 1e300, 1.7976931348623157e308, 2.0**30, 2.0**30 - 1, 2.0**60, 5.319372648326541e255]
ANGLES += [float(k * mp.pi / 2) for k in list(range(1, 20)) + [100, 1001, 65536, 1234567, 99999999, 683565275, 683565276]]
ANGLES += [float(k * mp.pi / 4) for k in (1, 3, 5, 7, 9, 1001)]


def span(low, high):
    """Random numbers between; evenly, or evenly by logarithm where both have one sign and are far apart."""
    if low > 0 and high / low > 1e4:
        a, b = math.log(low), math.log(high)
        return lambda: min(max(math.exp(random.uniform(a, b)), low), high)
    return lambda: random.uniform(low, high)


def both(low, high):
    f = span(low, high)
    return lambda: random.choice((-1, 1)) * f()


ONE = {
    "exp": (mp.exp, [span(-745, 710), span(-2, 2), both(1e-18, 1)], [709.782712893384, -708.3964185322641, -744.4400719213812, -745.1332191019411, 0.34657359, -0.34657359]),
    "exp2": (lambda x: mp.mpf(2) ** x, [span(-1074, 1024), span(-2, 2), both(1e-18, 1)], [1023.5, -1022.0, -1074.0, 0.5, -0.5, 10.0]),
    "expm1": (mp.expm1, [span(-40, 709), span(-1, 1), both(1e-18, 1)], [709.782712893384, -37.4, 0.34657359, -0.34657359, 0.5, -0.5, -1.0]),
    "log": (mp.log, [span(1e-308, 1e308), span(0.5, 2), span(5e-324, 1e-300)], [1.0, 2.0, 0.5, 0.7071067811865476, 1.4142135623730951, 2.718281828459045, 1.7976931348623157e308]),
    "log2": (lambda x: mp.log(x, 2), [span(1e-308, 1e308), span(0.5, 2), span(5e-324, 1e-300)], [1.0, 2.0, 0.5, 0.7071067811865476, 1.4142135623730951, 1024.0, 2.0**-1074]),
    "log10": (mp.log10, [span(1e-308, 1e308), span(0.5, 2), span(5e-324, 1e-300)], [1.0, 10.0, 1000.0, 1e15, 1e22, 0.7071067811865476, 0.1]),
    "log1p": (mp.log1p, [span(1e-300, 1e300), span(-0.9999999, 2), both(1e-18, 1)], [-0.2928932188134524, 0.4142135623730951, 1.0, -0.5, 1e16, -0.9999999999999999]),
    "sin": (mp.sin, [span(-10, 10), both(1e-18, 1), both(1, 1e9), both(1e9, 1e308)], ANGLES),
    "cos": (mp.cos, [span(-10, 10), both(1e-18, 1), both(1, 1e9), both(1e9, 1e308)], ANGLES),
    "tan": (mp.tan, [span(-10, 10), both(1e-18, 1), both(1, 1e9), both(1e9, 1e308)], ANGLES),
    "asin": (mp.asin, [span(-1, 1), both(1e-18, 1)], [0.5, -0.5, 0.7071067811865476]),
    "acos": (mp.acos, [span(-1, 1), both(1e-18, 1), lambda: 1 - span(1e-16, 0.5)()], [0.5, -0.5, 0.7071067811865476, 0.9999999999999999, -0.9999999999999999]),
    "atan": (mp.atan, [span(-3, 3), both(1e-18, 1e18)], [0.41421356237309503, 2.414213562373095, 1.0, -1.0, 1e300]),
    "sinh": (mp.sinh, [span(-710, 710), span(-1, 1), both(1e-18, 1)], [710.4758600739439, -710.4758600739439, 0.34657359, 22.0]),
    "cosh": (mp.cosh, [span(-710, 710), span(-1, 1), both(1e-18, 1)], [710.4758600739439, -710.4758600739439, 0.34657359, 22.0]),
    "tanh": (mp.tanh, [span(-25, 25), span(-1, 1), both(1e-18, 1)], [0.17328679, 0.5493061443340549, 19.0, 22.0]),
    "asinh": (mp.asinh, [span(-3, 3), both(1e-18, 1e300)], [0.41421356, 1.0, 1e155, 1e308]),
    "acosh": (mp.acosh, [span(1, 3), span(1, 1e300), lambda: 1 + span(1e-16, 1)()], [1.0000000000000002, 1.25, 1e155, 1e308]),
    "atanh": (mp.atanh, [span(-1, 1), both(1e-18, 1), lambda: 1 - span(1e-16, 0.5)()], [0.5, -0.5, 0.9999999999999999, 0.17157287525380988]),
    "cbrt": (lambda x: mp.sign(x) * mp.cbrt(abs(x)), [both(1e-308, 1e308), span(0.5, 8), span(5e-324, 1e-300)], [1.0, 8.0, 27.0, -64.0, 1e300, 1.7976931348623157e308]),
    "erf": (mp.erf, [span(-6, 6), both(1e-18, 1)], [0.5, 0.84375, 1.0, 1.25, 2.857142857142857, 5.9]),
    "erfc": (mp.erfc, [span(-6, 6), span(0, 26.6), both(1e-18, 1)], [0.5, 0.84375, 1.25, 26.5, 27.2, 0.4769362762044699]),
    "gamma": (mp.gamma, [span(0.01, 171), span(-20, 20), both(1e-300, 1e-3), span(-180, -20)], [171.624, 0.5, 1.0, 1.5, 2.0, 3.0, 20.0, 50.5, 100.25]),
    "lgamma": (lambda x: mp.log(abs(mp.gamma(x))) if abs(x) < 1e5 else mp.loggamma(x), [span(1e-10, 50), span(1e-300, 1e3), span(50, 1e6), span(0.5, 3)], [1.0, 2.0, 1.4616321449683622, 0.5, 1.5, 2.5, 1e15]),
}
TWO = {
    "pow": (lambda x, y: x**y, [
        lambda: (span(0.01, 100)(), span(-50, 50)()), lambda: (1 + span(-1e-3, 1e-3)(), span(-1e5, 1e5)()), lambda: (span(1e-300, 1e300)(), span(-1, 1)()),
        lambda: (-span(0.1, 100)(), float(random.randint(-40, 40))), lambda: (span(5e-324, 1e-300)(), span(-1, 3)()), lambda: (span(0, 2)(), both(300, 1100)())],
        [(2.0, 0.5), (10.0, 22.0), (1.0000000000000002, 1e18), (0.9999999999999999, 3e17), (2.0, -1074.0), (2.0, 1023.5), (3.0, 33.0), (-2.0, 3.0)]),
    "atan2": (mp.atan2, [
        lambda: (span(-10, 10)(), span(-10, 10)()), lambda: (both(1e-300, 1e300)(), both(1e-300, 1e300)()), lambda: (both(5e-324, 1e-300)(), both(5e-324, 1e-300)())],
        [(1.0, 1.0), (1.0, -1.0), (1e-310, 2e-310), (1e308, 1e308), (-1e308, -1.7e308), (1e-300, 1e10), (5e-324, -5e-324)]),
    "hypot": (lambda x, y: mp.sqrt(x * x + y * y), [
        lambda: (span(-10, 10)(), span(-10, 10)()), lambda: (both(1e-300, 1e300)(), both(1e-300, 1e300)()), lambda: (span(5e-324, 1e-300)(), span(5e-324, 1e-300)()),
        lambda: (span(1, 2)(), span(1e-9, 1)())],
        [(3.0, 4.0), (1e308, 1e308), (3e-320, 4e-320), (1e300, 1e-300), (5.0, 12.0)]),
}


def finite(x):
    return not (math.isnan(x) or math.isinf(x))


def show(name, f, operands):
    try:
        exact = f(*map(mp.mpf, operands))
    except (ValueError, ZeroDivisionError):
        return
    if isinstance(exact, mp.mpc) or not mp.isfinite(exact):
        return
    high = float(exact)
    # Beyond the range of doubles the first of the two is infinite: only an overflow that rounding decides is of interest.
    low = 0.0 if math.isinf(high) else float(exact - mp.mpf(high))
    print(name, *(f"{bits(v):x}" for v in (*operands, high, low)))


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    wanted = sys.argv[2:] or [*ONE, *TWO]
    for name in wanted:
        random.seed(name)
        if name in ONE:
            f, spans, hard = ONE[name]
            values = [x for h in hard for x in nearby(h)] + TINY + [-x for x in TINY] + [s() for s in spans for _ in range(count)]
            tuples = [(x,) for x in values]
        else:
            f, spans, hard = TWO[name]
            tuples = [(x, y) for a, b in hard for x, y in zip(nearby(a, 1), nearby(b, 1))] + [s() for s in spans for _ in range(count)]
        for operands in tuples:
            if not all(map(finite, operands)):
                continue
            show(name, f, operands)
            if name not in ("gamma", "lgamma") or random.random() < 0.5:
                rounded = tuple(map(single, operands))
                # The reference has no negative zero.
                if all(map(finite, rounded)) and (len(rounded) == 1 or 0.0 not in rounded):
                    show(name + "f", f, rounded)


if __name__ == "__main__":
    main()
