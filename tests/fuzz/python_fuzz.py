"""Differential fuzzing: random Python programs under CPython and on every tier.

    python tests/fuzz/python_fuzz.py --seconds 3600 --seed 1

Every mismatch is reduced and written to `tests/fuzz/corpus/`, which pytest replays. A seed gives the same program everywhere.
"""

import argparse
import re
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE)]

from generator import Generator  # noqa: E402
from harness.parent import Worker  # noqa: E402
from reduce import reduce  # noqa: E402

TIMEOUT = 20
# The compiler says that it cannot do something.
REFUSED = ("TypingError", "UnsupportedError", "ModuleNotFoundError")


class Fuzzer:
    def __init__(self, tiers):
        self.tiers, self.worker = tiers, Worker()

    def sound(self, source, timeout=TIMEOUT):
        return not self.worker.ask({"suite": "program", "source": source, "name": "<fuzz>", "tier": None}, timeout)["failures"]

    def failures(self, source, tier, timeout=TIMEOUT):
        return self.worker.ask({"suite": "program", "source": source, "name": "<fuzz>", "tier": tier}, timeout)["failures"]

    def check(self, source):
        """(tier, failures), (None, []) where all agree, (None, None) where the program is not a sound one."""
        failures = self.failures(source, self.tiers)
        if not failures:
            return None, []
        if failures[0] in self.tiers:
            return failures[0], failures[1:]
        # It raised what a program may not raise, crashed or hung: on which tier, or in Python itself?
        if "not a program" in failures[0] or not self.sound(source):
            return None, None
        return next(((t, f) for t in self.tiers if (f := self.failures(source, t))), (None, []))

    def reduce(self, source, tier, kind):
        """The smallest program found that still fails in the same way."""
        return reduce(source, lambda text: self.sound(text, 2) and kind_of(self.failures(text, tier, TIMEOUT if kind == "took longer" else 5)) == kind)


def kind_of(failures):
    """What sort of failure, so that a reduction does not wander to another one."""
    if not failures:
        return None
    text = failures[0]
    for mark in ("the process died", "took longer", "not a program", "[internal-error]", "[verifier-error]", "[backend-error]"):
        if mark in text:
            return mark
    # What the compiler cannot do, in its words: another error is often easy to reach by leaving things out.
    refused = re.search(r"(?:" + "|".join(REFUSED) + r"): .*", text)
    if refused:
        return refused[0]
    # An error that Python does not raise: of what class.
    error = re.search(r"got (\w+): ", text)
    return f"mismatch, {error[1]}" if error else "mismatch"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, help="stop after this many programs")
    parser.add_argument("--tiers", default="interp tier0")
    parser.add_argument("--show", action="store_true", help="print the program of --seed and stop")
    parser.add_argument("--wrong-only", action="store_true", help="pass over what is refused by the compiler; wrong answers, crashes and hangs only")
    parser.add_argument("--ignore", default="$^", help="pass over failures whose text matches this regular expression")
    parser.add_argument("--keep", default=str(HERE / "corpus"), help="folder for reduced programs")
    parser.add_argument("--keep-going", action="store_true", help="go on after ten mismatches")
    options = parser.parse_args()
    if options.show:
        print(Generator(options.seed).program())
        return 0
    fuzzer = Fuzzer(options.tiers.split())
    begin, seed, unsound, refused, kept = time.monotonic(), options.seed, 0, 0, 0
    while time.monotonic() - begin < options.seconds and (options.count is None or seed - options.seed < options.count):
        source = Generator(seed).program()
        tier, failures = fuzzer.check(source)
        kind = kind_of(failures)
        if failures is None:
            unsound += 1
        elif failures and kind.startswith(REFUSED) and options.wrong_only:
            refused += 1
        elif failures and not re.search(options.ignore, failures[0]):
            reduced = fuzzer.reduce(source, tier, kind)
            says = (fuzzer.failures(reduced, tier) or failures)[0]
            path = Path(options.keep) / f"seed_{seed}.py"
            path.parent.mkdir(exist_ok=True)
            path.write_text(f"# Seed {seed}, {tier}, {kind}.\n{reduced}")
            print(f"seed {seed} on {tier}: {says[:1500]}\n{reduced}-> {path}", flush=True)
            kept += 1
        seed += 1
        if (seed - options.seed) % 500 == 0:
            print(f"{seed - options.seed} programs ({unsound} left out, {refused} refused), {kept} mismatches, {time.monotonic() - begin:.0f} s", flush=True)
            fuzzer.worker.stop()  # what it has compiled stays in its memory
        if kept >= 10 and not options.keep_going:
            break
    print(f"{seed - options.seed} programs ({unsound} left out, {refused} refused), tiers {options.tiers}: {kept} mismatches")
    fuzzer.worker.stop()
    return 1 if kept else 0


if __name__ == "__main__":
    sys.exit(main())
