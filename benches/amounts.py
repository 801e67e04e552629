"""What the view `curve` runs: programs whose work can be chosen, from about 10 microseconds in tier 0 to about 10 seconds.

`AMOUNTS[name](s)` gives the function, its arguments and how often it is called, for s from 1 to a million. Most programs are one long call, as
numerical programs are; four are many short ones.
"""

import importlib

import numpy as np


def program(name):
    return importlib.import_module(name)


def once(name, arguments):
    """One call whose arguments grow."""
    return lambda s: (program(name).run, arguments(program(name), s), 1)


def often(name, arguments, rate):
    """Many calls of the same kind."""
    return lambda s: (program(name).run, arguments(program(name)), max(1, round(rate * s)))


def at_least(n, least=2):
    return max(least, round(n))


AMOUNTS = {
    "bubble_sort": once("bubble_sort", lambda p, s: ((np.arange(at_least(158 * s ** 0.5)) * 7919) % 1503,)),
    "collatz": once("collatz", lambda p, s: (at_least(100 * s ** 0.94),)),
    "fib": once("fib", lambda p, s: (round(17 + np.log(s) / np.log(1.618)),)),
    "floyd_warshall": once("floyd_warshall", lambda p, s: p.make(at_least(22 * s ** (1 / 3)))),
    "gcd_sum": once("gcd_sum", lambda p, s: (at_least(22 * s ** 0.5),)),
    "jacobi": once("jacobi", lambda p, s: (*p.make(50), at_least(2 * s))),
    "kmeans": once("kmeans", lambda p, s: (p.make(100), 8, at_least(7 * s))),
    "life": once("life", lambda p, s: (*p.make(20), at_least(2 * s))),
    "lorenz": once("lorenz", lambda p, s: (at_least(700 * s),)),
    "mandelbrot": once("mandelbrot", lambda p, s: (40, 30, at_least(28 * s))),
    "monte_carlo": once("monte_carlo", lambda p, s: (at_least(2000 * s),)),
    "nbody": once("nbody", lambda p, s: (*p.planets(), at_least(170 * s))),
    "spectral_norm": once("spectral_norm", lambda p, s: (at_least(20 * s ** 0.5),)),
    "trapezoid": once("trapezoid", lambda p, s: (0.0, 10.0, at_least(1100 * s))),
    "add": often("add", lambda p: (1, 2), 150),
    "black_scholes": often("black_scholes", lambda p: p.make(100), 2),
    "dot": often("dot", lambda p: p.make(1000), 15),
    "levenshtein": often("levenshtein", lambda p: p.make(30), 5),
}
