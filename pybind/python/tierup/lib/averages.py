"""Python's module `statistics`, of floats and ints.

As in Python means, variances and deviations are those of the numbers themselves, rounded once at the end. What Python gives as an int where it happens to be one, is a float here.
"""

import bisect
import math
import sys
from statistics import LinearRegression, StatisticsError, _normal_dist_inv_cdf

from tierup._calls import python_caller
from tierup.lib import exact

# Integers in these functions are the caller's: where overflow is checked, it is checked here too.
_origin = "checked"

_ONE_POINT_HAS_QUANTILES = sys.version_info >= (3, 13)


def _collect(values, sums):
    """Adds all values; gives how many there are, and the sum of those that are not finite, or 0.0."""
    n, others = 0, 0.0
    for x in values:
        if isinstance(x, int) or x - x == 0.0:
            m, exponent = exact.whole(x)
            exact.add(sums, m, exponent + exact.BIAS)
        else:
            others += x
        n += 1
        if (n & 0xFFF) == 0:
            exact.carry(sums)
    return n, others


def _over(sums, bias, divisor):
    """A sum, divided by a natural number and rounded."""
    negative, total = exact.natural(sums)
    q, exponent = exact.quotient(total, divisor)
    x = exact.rounded(q, exponent - bias)
    return -x if negative else x


def mean(data):
    sums = exact.new_sum()
    n, others = _collect(data, sums)
    if n < 1:
        raise StatisticsError("mean requires at least one data point")
    if others != 0.0:
        return others / n
    return _over(sums, exact.BIAS, exact.of_int(n))


def fmean(data, weights):
    if weights is None:
        numbers = [float(x) for x in data]
        total = math.fsum(numbers)
        if len(numbers) == 0:
            raise StatisticsError("fmean requires at least one data point")
        return total / len(numbers)
    numbers, factors = [float(x) for x in data], [float(w) for w in weights]
    total = math.fsum([x * w for x, w in zip(numbers, factors)])
    if len(numbers) != len(factors):
        raise StatisticsError("data and weights must be the same length")
    weight = math.fsum(factors)
    if weight == 0.0:
        raise StatisticsError("sum of weights must be non-zero")
    return total / weight


_ZERO_HAS_GEOMETRIC_MEAN = sys.version_info >= (3, 13)
_NEGATIVE_IN_TEXT = sys.version_info >= (3, 15)
_NO_GEOMETRIC_MEAN = "geometric mean requires a non-empty dataset containing positive numbers"


def geometric_mean(data):
    logarithms, n, zero = [], 0, False
    for x in data:
        n += 1
        if x <= 0:
            if not _ZERO_HAS_GEOMETRIC_MEAN:
                raise StatisticsError(_NO_GEOMETRIC_MEAN)
            if x != 0:
                if _NEGATIVE_IN_TEXT:
                    raise StatisticsError(f"No negative inputs allowed: {x!r}")
                raise StatisticsError("No negative inputs allowed", x)
            zero = True
        else:
            logarithms.append(math.log(x))
    if n == 0:
        raise StatisticsError("Must have a non-empty dataset" if _ZERO_HAS_GEOMETRIC_MEAN else _NO_GEOMETRIC_MEAN)
    total = math.fsum(logarithms)
    if zero:
        return math.nan if total == math.inf or math.isnan(total) else 0.0
    return math.exp(total / n)


def harmonic_mean(data, weights):
    numbers = [float(x) for x in data]
    n = len(numbers)
    if n < 1:
        raise StatisticsError("harmonic_mean requires at least one data point")
    if weights is None:
        if n == 1:
            if numbers[0] < 0.0:
                raise StatisticsError("harmonic mean does not support negative values")
            return numbers[0]
        return _harmonic(numbers, [1.0] * n)
    return _harmonic(numbers, [float(w) for w in weights])


def _harmonic(numbers, weights):
    if len(weights) != len(numbers):
        raise StatisticsError("Number of weights does not match data size")
    for w in weights:
        if w < 0.0:
            raise StatisticsError("harmonic mean does not support negative values")
    parts = []
    for x, w in zip(numbers, weights):
        if x < 0.0:
            raise StatisticsError("harmonic mean does not support negative values")
        if w == 0.0:
            parts.append(0.0)
        elif x == 0.0:
            return 0.0
        else:
            parts.append(w / x)
    weight, total = exact.new_sum(), exact.new_sum()
    _, infinite_weights = _collect(weights, weight)
    _, infinite_parts = _collect(parts, total)
    _, a = exact.natural(weight)
    _, b = exact.natural(total)
    if infinite_parts != 0.0 or infinite_weights != 0.0:
        above = infinite_weights if infinite_weights != 0.0 else exact.rounded(*_of(a))
        below = infinite_parts if infinite_parts != 0.0 else exact.rounded(*_of(b))
        if below <= 0.0:
            raise StatisticsError("Weighted sum must be positive")
        return above / below
    if len(b) == 0:
        raise StatisticsError("Weighted sum must be positive")
    q, exponent = exact.quotient(a, b)
    return exact.rounded(q, exponent)


def _of(a):
    q, exponent = exact.quotient(a, exact.of_int(1))
    return q, exponent - exact.BIAS


# -- medians and modes -------------------------------------------------------------------------------------------------------------------------


def _sorted(data):
    values = sorted(data)
    if len(values) == 0:
        raise StatisticsError("no median for empty data")
    return values


def median(data):
    values = _sorted(data)
    middle = len(values) // 2
    if len(values) % 2 == 1:
        return values[middle] / 1
    return (values[middle - 1] + values[middle]) / 2


def median_low(data):
    values = _sorted(data)
    return values[(len(values) - 1) // 2]


def median_high(data):
    values = _sorted(data)
    return values[len(values) // 2]


def median_grouped(data, interval):
    values = _sorted(data)
    n = len(values)
    x = values[n // 2]
    first = bisect.bisect_left(values, x)
    behind = bisect.bisect_right(values, x, lo=first)
    width, middle = float(interval), float(x)
    lower = middle - width / 2.0
    return lower + width * (n / 2 - first) / (behind - first)


def _counts(data):
    counts = {}
    for x in data:
        counts[x] = counts.get(x, 0) + 1
    return counts


def mode(data):
    values = [x for x in data]
    if len(values) == 0:
        raise StatisticsError("no mode for empty data")
    best, most = values[0], 0
    for x, n in _counts(values).items():
        if n > most:
            best, most = x, n
    return best


def multimode(data):
    counts = _counts(data)
    most = 0
    for n in counts.values():
        most = max(most, n)
    return [x for x, n in counts.items() if n == most]


def quantiles(data, n, method):
    if n < 1:
        raise StatisticsError("n must be at least 1")
    values = sorted(data)
    count = len(values)
    if count < 2:
        if _ONE_POINT_HAS_QUANTILES and count == 1:
            return [values[0] / 1] * (n - 1)
        raise StatisticsError("must have at least one data point" if _ONE_POINT_HAS_QUANTILES else "must have at least two data points")
    if method == "inclusive":
        result = []
        for i in range(1, n):
            j, delta = divmod(i * (count - 1), n)
            result.append((values[j] * (n - delta) + values[j + 1] * delta) / n)
        return result
    if method == "exclusive":
        result = []
        for i in range(1, n):
            j = min(max(i * (count + 1) // n, 1), count - 1)
            delta = i * (count + 1) - j * n
            result.append((values[j - 1] * (n - delta) + values[j] * delta) / n)
        return result
    raise ValueError("Unknown method: " + repr(method))


# -- deviations --------------------------------------------------------------------------------------------------------------------------------


def _squares(data):
    """The sum of the squares of deviations times the count, exactly, and the count; and the sum of what is not finite, or 0.0."""
    sums, squares = exact.new_sum(), exact.new_squares()
    n, others = 0, 0.0
    for x in data:
        if isinstance(x, int) or x - x == 0.0:
            m, exponent = exact.whole(x)
            exact.add(sums, m, exponent + exact.BIAS)
            exact.add_square(squares, m, exponent)
        else:
            others += x
        n += 1
        if (n & 0xFFF) == 0:
            exact.carry(sums)
            exact.carry(squares)
    _, total = exact.natural(sums)
    _, square = exact.natural(squares)
    return exact.difference(exact.product(square, exact.of_int(n)), exact.product(total, total)), n, others


def _deviations(data, center):
    """The same where the mean is given, not times the count: differences of floats and their squares are rounded as Python's are."""
    squares = exact.new_squares()
    n, others = 0, 0.0
    for x in data:
        d = x - center
        if isinstance(d, int):
            exact.add_square(squares, d, 0)
        elif d * d - d * d == 0.0:
            m, exponent = exact.whole(d * d)
            exact.add(squares, m, exponent + exact.BIAS_OF_SQUARES)
        else:
            others += d * d
        n += 1
        if (n & 0xFFF) == 0:
            exact.carry(squares)
    _, total = exact.natural(squares)
    return total, n, others


def _need(n, least, name):
    if n < least:
        raise StatisticsError(name + (" requires at least one data point" if least == 1 else " requires at least two data points"))


def _spread(data, center, less, name, take_root):
    """Variances and deviations; what is divided by is the count, less 1 for a sample."""
    if center is None:
        total, n, others = _squares(data)
        _need(n, less + 1, name)
        divisor = exact.product(exact.of_int(n), exact.of_int(n - less))
    else:
        total, n, others = _deviations(data, center)
        _need(n, less + 1, name)
        divisor = exact.of_int(n - less)
    if others != 0.0:
        if take_root:
            raise AttributeError("'float' object has no attribute 'numerator'")
        return others / (n - less)
    if take_root:
        r, exponent = exact.root(total, divisor)
        return exact.rounded(r, exponent - exact.BIAS_OF_SQUARES // 2)
    q, exponent = exact.quotient(total, divisor)
    return exact.rounded(q, exponent - exact.BIAS_OF_SQUARES)


def variance(data, xbar):
    return _spread(data, xbar, 1, "variance", False)


def pvariance(data, mu):
    return _spread(data, mu, 0, "pvariance", False)


def stdev(data, xbar):
    return _spread(data, xbar, 1, "stdev", True)


def pstdev(data, mu):
    return _spread(data, mu, 0, "pstdev", True)


# -- two variables -----------------------------------------------------------------------------------------------------------------------------


def _check_pairs(x, y, name):
    if len(y) != len(x):
        raise StatisticsError(name + " requires that both inputs have same number of data points")
    if len(x) < 2:
        raise StatisticsError(name + " requires at least two data points")


def _products(x, x_center, y, y_center):
    return math.fsum([(a - x_center) * (b - y_center) for a, b in zip(x, y)])


def covariance(x, y):
    _check_pairs(x, y, "covariance")
    n = len(x)
    return _products(x, math.fsum(x) / n, y, math.fsum(y) / n) / (n - 1)


def correlation(x, y):
    _check_pairs(x, y, "correlation")
    n = len(x)
    x_center, y_center = math.fsum(x) / n, math.fsum(y) / n
    both = _products(x, x_center, y, y_center)
    size = math.sqrt(_products(x, x_center, x, x_center) * _products(y, y_center, y, y_center))
    try:
        return both / size
    except ZeroDivisionError:
        raise StatisticsError("at least one of the inputs is constant")


def linear_regression(x, y, proportional):
    _check_pairs(x, y, "linear regression")
    n = len(x)
    if proportional:
        x_center, y_center = 0.0, 0.0
    else:
        x_center, y_center = math.fsum(x) / n, math.fsum(y) / n
    both = _products(x, x_center, y, y_center)
    square = _products(x, x_center, x, x_center)
    try:
        slope = both / square
    except ZeroDivisionError:
        raise StatisticsError("x is constant")
    if proportional:
        return LinearRegression(slope, 0.0)
    return LinearRegression(slope, y_center - slope * x_center)


normal_quantile = python_caller(_normal_dist_inv_cdf, "p, mu, sigma", "float")
