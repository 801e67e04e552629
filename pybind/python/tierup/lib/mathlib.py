"""Functions of ``math`` and ``cmath`` that are made of others."""

import math

# Integers in these functions are the caller's: where overflow is checked, it is checked here too.
_origin = "checked"


def isclose(a, b, rel_tol, abs_tol):
    if rel_tol < 0.0 or abs_tol < 0.0:
        raise ValueError("tolerances must be non-negative")
    if a == b:
        return True
    # One infinity is near nothing but itself.
    if abs(a) == math.inf or abs(b) == math.inf:
        return False
    difference = abs(b - a)
    return difference <= rel_tol * abs(b) or difference <= rel_tol * abs(a) or difference <= abs_tol


def fsum(values):
    return math.fsum([float(v) for v in values])


def prod(values, start):
    if isinstance(values, tuple) and len(values) == 0:
        return start
    result = start
    for v in values:
        result = result * v
    return result


def gcd_of(integers):
    r = 0
    for n in integers:
        r = math.gcd(r, n)
    return r


def hypot_of(coordinates):
    xs = [float(x) for x in coordinates]
    return math.dist(xs, [0.0] * len(xs))


def lcm_of(integers):
    r = 1
    for n in integers:
        r = math.lcm(r, n)
    return r
