"""Four years of daily weather in Seattle, a real data set: dry spells, growing degree days, and how sure the mean is (bootstrap)."""

import numpy as np
from data import rows
from numpy.typing import NDArray
from tierup import njit

Floats = NDArray[np.float64]


@njit
def longest_dry_spell(rain: Floats) -> tuple[int, int]:
    longest = current = end = 0
    for day in range(len(rain)):
        current = current + 1 if rain[day] == 0 else 0
        if current > longest:
            longest, end = current, day
    return longest, end


@njit
def degree_days(high: Floats, low: Floats, base: float) -> float:
    total = 0.0
    for h, l in zip(high, low):
        total += max(0.0, (h + l) / 2 - base)
    return total


@njit
def bootstrap(values: Floats, rounds: int) -> tuple[float, float]:
    """The 95 % interval of the mean, from resampling with a generator of our own."""
    means = np.empty(rounds)
    state, n = 12345, len(values)
    for r in range(rounds):
        s = 0.0
        for _ in range(n):
            state = (state * 1103515245 + 12345) % 2147483648
            s += values[state % n]
        means[r] = s / n
    means.sort()
    return means[int(0.025 * rounds)], means[int(0.975 * rounds)]


@njit
def autocorrelation(values: Floats, lag: int) -> float:
    m = values.mean()
    top = bottom = 0.0
    for i in range(len(values)):
        d = values[i] - m
        bottom += d * d
        if i + lag < len(values):
            top += d * (values[i + lag] - m)
    return top / bottom


@njit
def run(rain: Floats, high: Floats, low: Floats) -> tuple[tuple[int, int], float, tuple[float, float], list[float]]:
    return longest_dry_spell(rain), degree_days(high, low, 10.0), bootstrap(rain, 200), [autocorrelation(high, lag) for lag in (1, 7, 30, 365)]


def arguments() -> tuple[Floats, ...]:
    days = rows("seattle-weather.csv")
    return tuple(np.array([float(day[name]) for day in days]) for name in ("precipitation", "temp_max", "temp_min"))
