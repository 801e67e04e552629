"""The command line that fuzzers share, and seeds checked one after the other, here or in a process of their own.

`check(seed, **how)` says what is wrong with the program of a seed, None where nothing is. A text that begins with "refused" says that the program was not compiled, which is no mismatch.
"""

import argparse
import collections
import os
import re
import subprocess
import sys
import time
import traceback
import warnings


class Draws:
    """Programs that are written line by line (`lines`), by chance (`rng`)."""

    def pick(self, *choices):
        return self.rng.choice(choices)

    def chance(self, p):
        return self.rng.random() < p

    def put(self, depth, line):
        self.lines.append("    " * depth + line)


def here(check, first, last, **how):
    """What is wrong with programs, by seed."""
    found = {}
    for seed in range(first, last):
        try:
            what = check(seed, **how)
        except Exception:
            what = traceback.format_exc()
        if what:
            found[seed] = what
    return found


def apart(script, first, last, *options, **environment):
    """The same in a process of its own, which calls `report`: that it dies, or does not end, is a result as well."""
    try:
        done = subprocess.run([sys.executable, script, "--child", str(first), str(last), *options], capture_output=True, text=True, timeout=1800, env={**os.environ, "TIERUP_CACHE": "0", **environment})
        out, err, code = done.stdout, done.stderr, done.returncode
    except subprocess.TimeoutExpired as e:
        out, err, code = (e.stdout or b"").decode(), (e.stderr or b"").decode(), "it did not end"
    found = {}
    for part in out.split("\0")[1:]:
        seed, _, what = part.partition(" ")
        found[int(seed)] = what.strip()
    if code:
        begun = int(err.rsplit("begin ", 1)[1].split()[0]) if "begin " in err else first
        found[begun] = f"the process died: {code}\n{err[-1500:]}"
        if begun + 1 < last:
            found.update(apart(script, begun + 1, last, *options, **environment))
    return found


def report(seed, check, **how):
    """Checks a program and writes for `apart` what is wrong."""
    print(f"begin {seed}", file=sys.stderr, flush=True)
    for s, what in here(check, seed, seed + 1, **how).items():
        print(f"\0{s} {what}", flush=True)


def told_apart(found):
    """What is wrong with programs, and why others were refused."""
    refused = {seed: what for seed, what in found.items() if what.startswith("refused")}
    return {seed: what for seed, what in found.items() if seed not in refused}, refused


class Options(argparse.ArgumentParser):
    """What every fuzzer takes; those of one fuzzer are added to it and are what `check` and `run` are called with."""

    def __init__(self, description):
        super().__init__(description=description.splitlines()[0])
        self.add_argument("--seconds", type=float, default=60)
        self.add_argument("--seed", type=int, default=0)
        self.add_argument("--show", action="store_true", help="print the program of --seed and what is wrong with it, and stop")
        self.add_argument("--refused", action="store_true", help="print programs that are refused as well, and how many for what reason")
        self.add_argument("--child", nargs=2, type=int, help=argparse.SUPPRESS)

    def parsed(self):
        """The options of all fuzzers, and those of this one."""
        known = vars(self.parse_args())
        return argparse.Namespace(**{k: known.pop(k) for k in ("seconds", "seed", "show", "refused", "child")}), known


def main(options, text, check, run=None, batch=10, child=None, more=None):
    """Runs the command line and ends the process. `text(seed)` is a program; `run(first, last, **how)` is `here` where it is not given, `child` what a process of `apart` does where it is more than `report`; `more(seed)` says more of what is wrong."""
    known, how = options.parsed()
    warnings.simplefilter("ignore")
    if run is None:
        import tierup
        tierup.config.tier = "0"
        run = lambda first, last, **how: here(check, first, last, **how)
    if known.child:
        if child:
            child(*known.child, **how)
        else:
            for seed in range(*known.child):
                report(seed, check, **how)
        sys.exit()
    if known.show:
        print(text(known.seed))
        what = run(known.seed, known.seed + 1, **how).get(known.seed)
        print(what)
        if what and more:
            print(more(known.seed))
        sys.exit()
    begin, seed, refused, wrong = time.monotonic(), known.seed, collections.Counter(), 0
    while time.monotonic() - begin < known.seconds:
        for s, what in run(seed, seed + batch, **how).items():
            is_refusal = what.startswith("refused")
            if is_refusal:
                refused[re.sub(r"\d+|`.*?`", "_", what.split("\n")[0])] += 1
            else:
                wrong += 1
            if not is_refusal or known.refused:
                print(f"seed {s}: {what}\n{text(s)}", flush=True)
        seed += batch
    print(f"{seed - known.seed} programs from seed {known.seed} on, {sum(refused.values())} refused, {wrong} wrong")
    for reason, count in refused.most_common() if known.refused else ():
        print(f"  {count} {reason}")
    sys.exit(bool(wrong))
