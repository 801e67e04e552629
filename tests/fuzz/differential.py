"""What fuzzers of programs on arrays share: a program under NumPy and compiled, results compared bit by bit, batches of seeds in processes of their own."""

import argparse
import linecache
import os
import re
import subprocess
import sys
import time
import warnings

import numpy as np

MODES = ("tier0", "tier1", "parallel0", "parallel1")
BATCH = 20


def function(source, name):
    file = f"<array {name}>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    scope = {"np": np}
    exec(compile(source, file, "exec"), scope)
    return scope["program"]


COPY = re.compile(r"^(\s*\S*\[.*\]) = ([\w.]+(?:\[[^\[\]]*\])*)$", re.MULTILINE)


def for_numpy(source):
    """The program with views copied before they are assigned to others: NumPy only chooses the direction, so `x[::2] = x[:4]` reads what it has written."""
    return COPY.sub(r"\1 = np.copy(\2)", source)


def close(a, b, ulp):
    """Numbers of the same dtype that are at most so many units in the last place apart, of the larger part where they are complex."""
    size = np.maximum(np.abs(a), np.abs(b)).astype(np.float64)
    with np.errstate(all="ignore"):
        return (a == b) | (np.abs((a - b).astype(np.complex128)) <= ulp * np.finfo(a.dtype).eps * size + np.finfo(a.dtype).tiny)


def same(a, b, ulp=0, signs=True):
    """Bits are the same, but that any NaN is one; with `ulp` floats may be so far apart, without `signs` either zero is the other."""
    if isinstance(a, tuple) != isinstance(b, tuple):
        return False
    if isinstance(a, tuple):
        return len(a) == len(b) and all(same(x, y, ulp, signs) for x, y in zip(a, b))
    if isinstance(a, np.ndarray) != isinstance(b, np.ndarray):
        return False
    if isinstance(a, np.ndarray) and (a.dtype != b.dtype or a.shape != b.shape):
        return False
    a, b = np.atleast_1d(np.asarray(a)), np.atleast_1d(np.asarray(b))
    if a.dtype.kind not in "fc":
        return a.dtype.kind == b.dtype.kind and bool(np.array_equal(a, b)) or {a.dtype.kind, b.dtype.kind} == {"u", "i"} and a.tolist() == b.tolist()
    if a.dtype.kind != b.dtype.kind:
        return False
    b = b.astype(a.dtype)
    if ulp:
        finite = np.isfinite(a) & np.isfinite(b)
        if a.dtype.kind == "c" and not finite.all():
            return same(a[finite], b[finite], ulp, signs) and same(a.real[~finite], b.real[~finite], ulp, signs) and same(a.imag[~finite], b.imag[~finite], ulp, signs)
        if finite.any() and not close(a[finite], b[finite], ulp).all():
            return False
        a, b = np.where(finite, 0, a), np.where(finite, 0, b)
    if a.dtype.kind == "c":
        return same(a.real, b.real, 0, signs) and same(a.imag, b.imag, 0, signs)
    return bool(np.array_equal(a, b, equal_nan=True)) and (not signs or np.array_equal(np.signbit(a[a == a]), np.signbit(b[b == b])))


def quietly(f, arguments):
    """What a call gives and what it raises."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return f(**arguments), None
        except Exception as e:  # noqa: BLE001
            return None, e


def judge(seed, source, sizes, outcome, decorate, **loose):
    """What differs for a program: None, ("refused", text) or ("wrong", text). `outcome(f, size)` gives a result, an exception, and the arguments afterwards by name;
    `loose` is what `same` is not to ask for."""
    import tierup

    plain, compiled = function(for_numpy(source), f"{seed}"), decorate(function(source, f"{seed} compiled"))
    for size in sizes:
        want, error, after = outcome(plain, size)
        got, other, after_compiled = outcome(compiled, size)
        head = f"seed {seed}, size {size}\n{source}\n"
        if isinstance(other, tierup.TierupError):
            if isinstance(error, TypeError):
                continue
            return "refused", f"{head}{other}"
        if (error is None) != (other is None) or error is not None and type(error) is not type(other) and not (isinstance(error, type(other)) or isinstance(other, type(error))):
            return "wrong", f"{head}want {error!r}\ngot {other!r}"
        # What an expression has written before it raised is its own affair.
        if error is not None:
            continue
        for k, (x, y) in enumerate(zip(want, got)):
            if not same(x, y, **loose):
                return "wrong", f"{head}result {k}:\n{shown(x, y, loose)}"
        for name in after:
            if not same(after[name], after_compiled[name], **loose):
                return "wrong", f"{head}argument {name} afterwards:\n{shown(after[name], after_compiled[name], loose)}"
    return None


def shown(want, got, loose):
    """Both values, and of arrays of the same shape and dtype the first elements that differ."""
    if isinstance(want, np.ndarray) and isinstance(got, np.ndarray) and want.shape == got.shape and want.dtype == got.dtype and want.size > 8:
        places = [i for i in np.ndindex(want.shape) if not same(want[i], got[i], **loose)]
        return f"{len(places)} of {want.size} differ, {want.dtype}\n" + "\n".join(f"  {i}: want {want[i]!r}, got {got[i]!r}" for i in places[:4])
    return f"want {want!r}\ngot {got!r}"


def decorator(mode):
    import tierup

    warnings.filterwarnings("ignore", category=tierup.TierupWarning)
    return tierup.njit(parallel=True) if mode.startswith("parallel") else tierup.njit


def batch(script, mode, first, count, timeout=600):
    """Runs seeds in a process of its own, since a crash is a result too: what is wrong, and what is refused."""
    env = {**os.environ, "TIERUP_TIER": mode[-1], "TIERUP_NUM_THREADS": "3", "TIERUP_CACHE": "0"}
    wrong, refused, end = [], [], first + count
    while first < end:
        r = subprocess.run([sys.executable, script, "--work", mode, "--seed", str(first), "--count", str(end - first)], env=env, capture_output=True, text=True, timeout=timeout)
        for part in r.stdout.split("\n!")[1:]:
            text = f"{mode}: " + part.split("\n@")[0]
            (refused if part.startswith("refused") else wrong).append(text)
        if not r.returncode:
            break
        begun = [int(line[1:]) for line in r.stdout.splitlines() if line.startswith("@")]
        wrong.append(f"{mode}: crashed at {begun[-1:]}: {r.stderr[-2000:]}")
        first = begun[-1] + 1 if begun else end
    return wrong, refused


def main(script, source, compare):
    """The command line: `source(seed)` gives a program's text, `compare(seed, decorate)` what differs."""
    p = argparse.ArgumentParser()
    p.add_argument("--seconds", type=float, default=60)
    p.add_argument("--seed", type=int, default=0)
    p.add_argument("--count", type=int, default=BATCH)
    p.add_argument("--modes", default=" ".join(MODES))
    p.add_argument("--work", help=argparse.SUPPRESS)
    p.add_argument("--show", action="store_true", help="print the program of --seed and stop")
    p.add_argument("--refused", action="store_true", help="print programs that are refused too")
    args = p.parse_args()
    if args.show:
        return print(source(args.seed))
    if args.work:
        decorate = decorator(args.work)
        for seed in range(args.seed, args.seed + args.count):
            print(f"@{seed}", flush=True)
            found = compare(seed, decorate)
            if found:
                print(f"!{found[0]}", found[1].replace("\n", "\n "), sep="\n ", flush=True)
        return None
    until, seed, refusals, found = time.monotonic() + args.seconds, args.seed, 0, 0
    while time.monotonic() < until:
        for mode in args.modes.split():
            wrong, refused = batch(script, mode, seed, args.count)
            for text in wrong + (refused if args.refused else []):
                print(text, "\n", flush=True)
            found, refusals = found + len(wrong), refusals + len(refused)
        seed += args.count
    print(f"{seed - args.seed} programs from seed {args.seed}, {refusals} refused, {found} wrong")
    sys.exit(bool(found))
