"""Differential fuzzing of streams: random generators and what consumes them, by plain Python and compiled, in each tier.

    python tests/fuzz/streams_fuzz.py --seconds 600 --seed 1 --tiers 0 1

What is returned, what was written down on the way (in which order generators and consumers ran, which `finally` blocks did), exceptions with text and traceback, and how many references to what was
given are left must be the same.
"""

import linecache
import random
import sys

import driver

BATCH = 20


class Program(driver.Draws):
    """Generators `g0`, `g1`, … and a consumer `f(a, xs, n, log)`; a seed gives the same ones everywhere."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.count = 0
        self.mark = 0
        # Names of generators that take an iterable, and of those that take a number.
        self.stages, self.sources = [], []
        # Those that have a `finally`. Where a variable holds one, compiled code closes it after its last use; Python where the variable ends.
        self.closing = set()
        self.lines = []
        for _ in range(self.rng.randint(1, 4)):
            self.generator()
        self.consumer()

    def note(self, depth, value=None):
        """Something that shows in which order things happened."""
        self.mark += 1
        self.put(depth, f"log.append({self.mark * 1000}{f' + {value} % 7' if value else ''})")

    # -- expressions of ints

    def value(self, *names):
        form = self.rng.random()
        x = self.rng.choice(names)
        if form < 0.3:
            return x
        if form < 0.8:
            return f"({x} {self.pick('+', '-', '*', '^', '&', '|')} {self.pick(*names, '1', '3', '-2', '5')}) % {self.pick('97', '10', '7')}"
        if form < 0.9:
            return f"{x} // {self.pick('2', '3', '-4')}"
        # May raise.
        return f"{self.pick('60', '-17')} {self.pick('//', '%')} {x}"

    def test(self, *names):
        x = self.rng.choice(names)
        return self.pick(f"{x} > {self.rng.randint(-3, 6)}", f"{x} % 2 == {self.pick('0', '1')}", f"{x} != {self.rng.randint(-2, 4)}", f"{x} < {self.rng.randint(0, 9)}")

    # -- generators

    def generator(self):
        name, self.count = f"g{self.count}", self.count + 1
        stage = self.chance(0.65)
        self.put(0, f"def {name}({'it' if stage else 'm'}, n, log):")
        if self.chance(0.3):
            self.note(1)
        if self.chance(0.3):
            self.put(1, f"c = {self.pick('0', 'n', '1')}")
        else:
            self.put(1, "c = 1")
        kept = self.chance(0.2)
        if kept:
            self.put(1, "seen = [c]")
        if self.chance(0.15):
            self.put(1, f"yield {self.value('c', 'n')}")
        depth = 1
        form = self.pick("", "", "", "", "finally", "except")
        if form == "finally":
            self.closing.add(name)
        if form:
            self.put(1, "try:")
            depth = 2
        source = "it"
        if stage:
            wrapped = self.rng.random()
            if wrapped < 0.1 and self.stages:
                inner = self.rng.choice(self.stages)
                source = f"{inner}(it, n, log)"
                if inner in self.closing:
                    self.closing.add(name)
            elif wrapped < 0.15:
                source = f"({self.value('z')} for z in it)"
            if self.chance(0.06):
                self.put(depth, f"yield from {source}")
            else:
                self.put(depth, f"for x in {source}:")
                self.body(depth + 1, kept)
        else:
            loop = self.rng.random()
            if loop < 0.4:
                self.put(depth, f"for x in range({self.pick('m', 'm', 'm + 1', 'm, 0, -1', '0, m, 2')}):")
                self.body(depth + 1, kept)
            elif loop < 0.8:
                self.put(depth, "x = 0")
                self.put(depth, "while x < m:")
                self.put(depth + 1, "x += 1")
                self.body(depth + 1, kept)
            else:
                self.put(depth, "for y in range(3):")
                self.put(depth + 1, "for x in range(y, m):")
                self.body(depth + 2, kept)
        if form == "finally":
            self.put(1, "finally:")
            self.note(2, "c")
        elif form == "except":
            self.put(1, f"except {self.pick('ZeroDivisionError', 'ValueError')}:")
            self.note(2)
            if self.chance(0.5):
                self.put(2, f"yield {self.value('c', 'n')}")
        if self.chance(0.15):
            self.put(1, f"yield {self.value('c', 'n')}")
        (self.stages if stage else self.sources).append(name)

    def body(self, depth, kept):
        for _ in range(self.pick(1, 1, 1, 2, 2, 3)):
            form = self.rng.random()
            if form < 0.45:
                self.put(depth, f"yield {self.value('x', 'x', 'c')}")
            elif form < 0.65:
                self.put(depth, f"if {self.test('x', 'c')}:")
                self.put(depth + 1, self.pick(f"yield {self.value('x', 'c')}", f"yield {self.value('x', 'c')}", "continue", "break", "return", "c = x % 5"))
                if self.chance(0.3):
                    self.put(depth, "else:")
                    self.put(depth + 1, f"yield {self.value('x', 'c')}")
            elif form < 0.75:
                self.put(depth, f"c = {self.value('c', 'x')}")
            elif form < 0.85:
                self.note(depth, "x")
            elif form < 0.9:
                self.put(depth, f"for k in range({self.pick('2', 'c % 3', '3')}):")
                self.put(depth + 1, f"yield {self.value('x', 'k')}")
            elif form < 0.95 and kept:
                self.put(depth, "seen.append(x % 9)")
                self.put(depth, f"c = {self.pick('len(seen)', 'seen[-1]', 'sum(seen)')}")
            else:
                self.put(depth, f"if {self.test('x')}:")
                self.put(depth + 1, f"raise ValueError({self.pick('c', chr(39) + 'no' + chr(39))})")
        self.put(depth, f"yield {self.value('x', 'c')}")

    # -- streams

    def stream(self, depth=0):
        """An expression that gives ints."""
        form = self.rng.random()
        # When what holds one with a `finally` is dropped is its holder's business, and that of tracebacks.
        stages, sources = ([g for g in names if not depth or g not in self.closing] for names in (self.stages, self.sources))
        if depth > 3 or form < 0.18:
            return self.pick("a", "xs", "range(n)", "a", "(3, 1, 4, 0, 5)", *(f"{g}(n, n, log)" for g in sources))
        if form < 0.55 and stages:
            return f"{self.rng.choice(stages)}({self.stream(depth + 1)}, {self.pick('n', '2')}, log)"
        if form < 0.65 and sources:
            return f"{self.rng.choice(sources)}({self.pick('n', '4')}, n, log)"
        inner = self.stream(depth + 1)
        return self.pick(
            f"({self.value('u')} for u in {inner})",
            f"({self.value('u')} for u in {inner} if {self.test('u')})",
            f"map(lambda u: {self.value('u')}, {inner})",
            f"filter(lambda u: {self.test('u')}, {inner})",
            f"itertools.islice({inner}, {self.pick('3', 'n', '1, n', '0, n, 2')})",
            f"itertools.takewhile(lambda u: {self.test('u')}, {inner})",
            f"itertools.dropwhile(lambda u: {self.test('u')}, {inner})",
            f"itertools.accumulate({inner})",
            f"itertools.chain({inner}, {self.stream(depth + 2)})",
            f"itertools.compress({inner}, {self.stream(depth + 2)})",
            f"map(lambda u, v: (u - v) % 31, {inner}, {self.stream(depth + 2)})",
            f"(i - u for i, u in enumerate({inner}))",
            f"(u + v for u, v in zip({inner}, {self.stream(depth + 2)}))",
            f"(v - u for u, v in itertools.pairwise({inner}))",
        )

    def consumer(self):
        self.put(0, "def f(a, xs, n, log):")
        self.put(1, "s = 0")
        depth = 1
        form = self.pick("", "", "", "try", "loop")
        if form == "try":
            self.put(1, "try:")
            depth = 2
        elif form == "loop":
            self.put(1, "for n in range(3):")
            depth = 2
        for _ in range(self.pick(1, 1, 2, 3)):
            self.consume(depth)
        if form == "try":
            self.put(1, f"except {self.pick('ZeroDivisionError', 'ValueError')}:")
            self.note(2, "s")
        self.put(1, "return s")

    def consume(self, depth):
        form = self.rng.random()
        if form < 0.4:
            kind = self.rng.random()
            if kind < 0.15:
                self.put(depth, f"for w, v in zip({self.stream()}, {self.stream(2)}):")
                names = ("w", "v")
            elif kind < 0.25:
                self.put(depth, f"for w, v in enumerate({self.stream()}):")
                names = ("w", "v")
            elif kind < 0.3:
                self.put(depth, f"for w, v, t in zip({self.stream(1)}, {self.stream(2)}, {self.stream(2)}):")
                names = ("w", "v", "t")
            else:
                self.put(depth, f"for v in {self.stream()}:")
                names = ("v",)
            self.turn(depth + 1, names)
            if self.chance(0.15):
                self.put(depth, "else:")
                self.note(depth + 1)
        elif form < 0.6:
            self.put(depth, self.pick("s += sum({})", "s += sum({})", "s += len(list({}))", "s += max({})", "s += min({}, default=3)", "s += any({})", "s += all({})", "s += sum(sorted({}))",
                                      "s += sum([*{}])", "s += len(set({}))", "s += sum(list({})[:3])", "s += sum({{w: w for w in {}}})").format(self.stream()))
        elif form < 0.7:
            self.put(depth, f"for v in [{self.value('w')} for w in {self.stream()}]:")
            self.turn(depth + 1, ("v",))
        elif form < 0.85:
            # One that is left and gone on with.
            self.mark += 1
            g = f"h{self.mark}"
            self.put(depth, f"{g} = {self.kept() if self.chance(0.5) else f'iter({self.kept()})'}")
            self.put(depth, f"for v in {g}:")
            self.turn(depth + 1, ("v",))
            self.put(depth, f"s += {self.pick(f'sum({g})', f'len(list({g}))', f'next(iter({g}), 7)')}")
        else:
            self.put(depth, f"for v in {self.stream(2)}:")
            self.put(depth + 1, f"for w in {self.stream(2)}:")
            self.turn(depth + 2, ("v", "w"))
            self.note(depth + 1, "v")

    def kept(self):
        """One that a variable may hold."""
        while True:
            text = self.stream()
            # Others than generators may go on behind their end.
            if text[:1] in "g(" and not any(f"{g}(" in text for g in self.closing):
                return text

    def turn(self, depth, names):
        """What a loop does with each value, in handlers of its own or not."""
        form = self.pick("", "", "", "finally", "except")
        if not form:
            return self.statements(depth, names)
        self.put(depth, "try:")
        self.statements(depth + 1, names)
        self.put(depth, "finally:" if form == "finally" else f"except {self.pick('ZeroDivisionError', 'ValueError')}:")
        self.note(depth + 1, self.rng.choice(names))
        if form == "except" and self.chance(0.5):
            self.put(depth + 1, self.pick("raise", "raise KeyError(s)", "break", "return s"))

    def statements(self, depth, names):
        for _ in range(self.pick(1, 1, 2)):
            form = self.rng.random()
            if form < 0.5:
                self.put(depth, f"s = (s + {self.value(*names)}) % 100003")
            elif form < 0.65:
                self.note(depth, self.rng.choice(names))
            elif form < 0.9:
                self.put(depth, f"if {self.test(*names, 's')}:")
                if self.chance(0.3):
                    self.note(depth + 1)
                self.put(depth + 1, self.pick("break", "continue", "return s", "s += 1", "break"))
            else:
                self.put(depth, f"if {self.test(*names)}:")
                if self.chance(0.3):
                    self.note(depth + 1)
                self.put(depth + 1, f"raise ValueError({self.rng.choice(names)})")
        self.put(depth, f"s += {self.rng.choice(names)}")

    def text(self):
        return "\n".join(self.lines) + "\n"


def outcome(f, args, name):
    """Result or exception with its traceback, and what was written down."""
    a, xs, n = args
    log = [0]
    counts = sys.getrefcount(a), sys.getrefcount(xs)
    try:
        out = "gives", str(int(f(a, xs, n, log)))
    except Exception as e:
        if type(e).__module__.startswith("tierup"):
            raise
        at, places = e.__traceback__, []
        while at is not None:
            if at.tb_frame.f_code.co_filename == name:
                places.append((at.tb_frame.f_code.co_name, at.tb_lineno))
            at = at.tb_next
        out = type(e).__name__, str(e), places
        del e, at
    left = sys.getrefcount(a) - counts[0], sys.getrefcount(xs) - counts[1]
    return out, log, left


def check(seed, tiers, text=None):
    """None, or what is wrong: a text that begins with `refused` where the compiler says no."""
    import numpy as np
    import tierup
    text = Program(seed).text() if text is None else text
    name = f"<stream {seed}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    head = {"np": np, "itertools": __import__("itertools")}
    plain = dict(head)
    exec(compile(text, name, "exec"), plain)
    rng = random.Random(seed)
    cases = [([rng.randint(-5, 12) for _ in range(rng.choice((0, 1, 3, 8, 20)))], [rng.randint(-3, 9) for _ in range(rng.choice((1, 2, 7)))], rng.choice((0, 1, 3, 6, 9))) for _ in range(4)]
    given = [(np.array(a, np.int64), xs, n) for a, xs, n in cases]
    forms = {}
    for tier in tiers:
        space = dict(head)
        exec(compile(text, name, "exec"), space)
        forms[tier] = space
        for key in [k for k in space if k[0] == "g" and k[1:].isdigit()] + ["f"]:
            space[key] = tierup.njit(space[key])
    for (a, xs, n), (listed, _, _) in zip(given, cases):
        # Plain Python counts with its own ints.
        want = outcome(plain["f"], (listed, list(xs), n), name)
        for tier, space in forms.items():
            tierup.config.tier = tier
            try:
                got = outcome(space["f"], (a, list(xs), n), name)
            except tierup.errors.TierupError as e:
                return f"refused: {type(e).__name__}: {str(e)[:400]}"
            if got != want:
                return f"tier {tier}: {listed} {xs} {n}: expected {want}, got {got}"[:3000]
    return None


def run(first, last, tiers):
    """What is wrong with programs, by seed; each batch in a process of its own."""
    return driver.apart(__file__, first, last, "--tiers", *tiers, TIERUP_BACKGROUND="0")


if __name__ == "__main__":
    options = driver.Options(__doc__)
    options.add_argument("--tiers", nargs="+", default=["0", "1"])
    driver.main(options, lambda seed: Program(seed).text(), check, run, BATCH)
