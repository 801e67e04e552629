"""Runs a whole program, fuzzed or kept, as plain Python and on a tier, and compares.

A program defines `main`, decorated with `@njit` like its other functions, and `ARGUMENTS`, a list of argument tuples; `np`, `math` and `njit` are there.
"""

import linecache
import math
import warnings

import numpy as np

from . import values
from .mdtest import Failure, set_tier

# What a reduced program may not do under CPython: it would no longer be the program that failed.
BROKEN = (NameError, SyntaxError, AttributeError, TypeError)


def load(source, name, decorate):
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    namespace = {"np": np, "math": math, "njit": decorate, "__name__": "fuzzed"}
    exec(compile(source, name, "exec"), namespace)
    return namespace


def outcomes(source, name, decorate, capture):
    namespace = load(source, name, decorate)
    found = []
    for args in namespace["ARGUMENTS"]:
        args = values.clone(args)
        capture.take()
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                result, error, kind = values.freeze(namespace["main"](*args)), None, None
            except Exception as e:  # noqa: BLE001
                # How deep it was is said in several ways.
                result, error, kind = None, f"{type(e).__name__}: {e}" if not isinstance(e, RecursionError) else "RecursionError", type(e)
        found.append((result, error, kind, values.freeze(args), capture.take()))
    return found


def run(source, name, tier, capture):
    """The disagreements, as texts. With `tier` None the program is only checked to be a sound one."""
    plain = run_plain(source, name, capture)
    return [] if tier is None else differences(plain, source, name, tier, capture)


def run_many(source, name, tiers, capture):
    """The first tier that disagrees and the disagreements; plain Python runs once."""
    plain = run_plain(source, name, capture)
    for tier in tiers:
        failures = differences(plain, source, name, tier, capture)
        if failures:
            return [tier, *failures]
    return []


def run_plain(source, name, capture):
    try:
        plain = outcomes(source, name, lambda f: f, capture)
    except Exception as e:
        raise Failure(f"not a program: {type(e).__name__}: {e}") from e
    for _, error, kind, _, _ in plain:
        # A variable that is not bound yet is as good an error as any.
        if kind and issubclass(kind, BROKEN) and kind is not UnboundLocalError:
            raise Failure(f"not a program: {error}")
    return plain


def differences(plain, source, name, tier, capture):
    import tierup
    set_tier(tier)
    failures = []
    for i, (want, got) in enumerate(zip(plain, outcomes(source, name, tierup.njit, capture))):
        problem = None
        if want[1] != got[1]:
            problem = f"expected {want[1] or values.show(want[0])}, got {(got[1] or values.show(got[0]))[:1500]}"
        elif want[0] is not None:
            problem = values.difference(want[0], got[0])
        problem = problem or values.difference(want[3], got[3], 0.0, "arguments afterwards")
        if not problem and want[4] != got[4]:
            problem = f"printed: expected {want[4]!r}, got {got[4]!r}"
        if problem:
            failures.append(f"arguments {i}: {problem}")
    return failures
