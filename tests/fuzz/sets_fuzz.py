"""Random programs over sets: ones that start empty and get their types from use, that are passed, returned, aliased, copied, combined, changed while something goes through them, and that lie in lists and dicts.

    python tests/fuzz/sets_fuzz.py --seconds 600 --seed 1

Elements of one kind each in a program. The oracle is CPython. It does not define the order in which sets are gone through, so programs look at sorted elements. In the end every set gets one more element, so that sets that are one object in Python and two in compiled code differ.
"""

import random

from containers_driver import Fuzzer, Lines, exit_with

HELPERS = """
def empty():
    return set()

def given(s):
    return s

def put(s, x):
    s.add(x)

def filled(xs):
    s = set()
    for x in xs:
        s.add(x)
    return s

def countdown(s, xs):
    if xs:
        s.add(xs[0])
        countdown(s, xs[1:])

def maybe(s, c):
    if c:
        return None
    return s

def each(s):
    for x in s:
        yield x
"""

ELEMENTS = {
    "int": (["i", "n", "7", "-3", "len(s0)", "i % 3", "n * 2"], [1, 2, 7, -3, 100]),
    "str": (["str(i)", "'x'", "'é'", "'a' * n", "str(n)", "'c' if c else 'd'"], ["x", "0", "a", "é"]),
    "bool": (["c", "not c", "n > 1", "i > 0"], [True, False]),
    "float": (["i * 0.5", "0.0", "-0.0", "2.5", "n + 0.25"], [0.0, 0.5, 2.5]),
    "tuple": (["(i, 'x')", "(n, str(i))", "(7, 'y')", "(i % 2, 'x')"], [(1, "x"), (7, "y"), (0, "x")]),
}
OPERATORS = ["|", "&", "-", "^"]
METHODS = ["union", "intersection", "difference", "symmetric_difference"]
QUESTIONS = ["<=", "<", ">=", ">", "==", "!="]


class Program(Lines):
    """`s0` is the argument, `f0` a frozen one, `s1 …` are others."""

    def __init__(self, seed):
        self.rng = r = random.Random(seed)
        self.kind = r.choice(list(ELEMENTS))
        self.sets, self.lines, self.depth, self.count = ["s0"], [], 1, 0
        self.line("log = ['']")
        self.line("i = 0")
        for _ in range(r.randrange(1, 3)):
            self.fresh("set()" if r.random() < 0.6 else self.made())
        for _ in range(r.randrange(4, 11)):
            self.statement()
        for k, s in enumerate(self.sets):
            self.line(f"i = {50 + k}")
            self.line(f"{s}.add({self.x()})")
        self.line(f"return ({', '.join(self.sets)}, f0 | s0, log)")
        self.source = HELPERS + "\ndef main(s0, f0, n, c):\n" + "\n".join(self.lines) + "\n"
        pool = ELEMENTS[self.kind][1]
        some = [r.sample(pool, r.randrange(1, len(pool) + 1)) for _ in range(2)]
        self.arguments = (set(some[0]), frozenset(some[1]), r.randrange(0, 12), r.random() < 0.5)

    def fresh(self, value):
        self.count += 1
        self.line(f"s{self.count} = {value}")
        self.sets.append(f"s{self.count}")

    def s(self):
        return self.rng.choice(self.sets)

    def any(self):
        """A set of either kind."""
        return self.rng.choice([self.s(), self.s(), "f0", f"frozenset({self.s()})"])

    def x(self):
        return self.rng.choice(ELEMENTS[self.kind][0])

    def iterable(self):
        s, x = self.s(), self.x()
        return self.rng.choice([self.any(), f"[{x}, {self.x()}]", f"({x},)", f"list({s})", f"sorted({s})", f"{{{x}: 1}}", f"list(each({s}))", f"[y for y in {s}]"])

    def made(self):
        r = self.rng
        return r.choice([
            lambda: f"{{{self.x()}}}", lambda: f"{{{self.x()}, {self.x()}}}", self.s, lambda: f"{self.s()}.copy()", lambda: f"set({self.iterable()})", lambda: f"{self.s()} {r.choice(OPERATORS)} {self.any()}",
            lambda: f"{self.s()}.{r.choice(METHODS)}({self.iterable()})", lambda: f"{self.s()}.{r.choice(METHODS[:3])}({self.iterable()}, {self.iterable()})", lambda: f"{{*{self.s()}, {self.x()}}}", lambda: "empty()",
            lambda: f"given({self.s()})", lambda: f"{{y for y in {self.s()}}}", lambda: f"{{{self.x()} for i in range(n)}}", lambda: f"({self.s()} if c else {self.s()})", lambda: f"filled({self.iterable()})",
            lambda: f"({self.s()} or {self.s()})", lambda: f"set(f0 {r.choice(OPERATORS)} {self.any()})",
        ])()

    def statement(self):
        r = self.rng
        kinds = [self.change, self.change, self.change, self.take, self.take, self.look, self.look, self.go_through, self.call, self.assign, self.inside, self.ask, self.disturb]
        if self.depth < 3:
            kinds += [self.branch, self.loop, self.loop]
        r.choice(kinds)()

    def change(self):
        s, x = self.s(), self.x()
        self.line(self.rng.choice([
            f"{s}.add({x})", f"{s}.add({x})", f"{s}.update({self.iterable()})", f"{s} |= {self.any()}", f"{s}.update([{x}], ({self.x()},))", f"if {x} not in {s}: {s}.add({x})", f"{s} ^= {self.any()}",
            f"{s}.symmetric_difference_update({self.iterable()})",
        ]))

    def take(self):
        s, x = self.s(), self.x()
        self.line(self.rng.choice([
            f"{s}.discard({x})", f"if {x} in {s}: {s}.remove({x})", f"if n > 7: {s}.clear()", f"for y in sorted({s})[::2]: {s}.discard(y)",
            f"{s} -= {self.any()}", f"{s} &= {self.any()}", f"{s}.difference_update({self.iterable()})", f"{s}.intersection_update({self.iterable()})",
        ]))

    def look(self):
        s = self.any()
        self.line(self.rng.choice([
            f"log.append(str({self.x()} in {s}))", f"log.append(str(len({s})))", f"log.append(repr(sorted({s})))", f"log.append(repr(max({s})) if {s} else '-')", f"log.append(repr({s}) if len({s}) < 2 else '-')",
            f"log.append(repr(sorted({{y: 1 for y in {s}}})))", f"log.append(repr(sorted(zip({s}, {s}))))",
        ]))

    def go_through(self):
        s = self.any()
        self.line(self.rng.choice([
            f"log += sorted([repr(y) for y in {s}])", f"for y in sorted({s}): log.append(repr(y))", f"for y in list({s}): {self.s()}.add(y)", f"for y in each({s}): log.append(str(y in {s}))",
            f"for j, y in enumerate(sorted({s})): log.append(str(j) + repr(y))",
        ]))

    def disturb(self):
        """Changes of what is gone through; and elements that are not there."""
        s, x = self.s(), self.x()
        self.line("try:")
        how = self.rng.randrange(3)
        if how == 0:
            self.line(f"    {s}.remove({x})")
            self.line("    log.append('removed')")
        elif how == 1:
            self.line(f"    t = {s}.copy()")
            self.line("    while True: t.pop()")
        else:
            self.line(f"    for y in {s}:")
            self.line(f"        {s}.add({x})")
        self.line("except (KeyError, RuntimeError) as e:")
        self.line("    log.append(repr(e))")

    def call(self):
        s = self.s()
        self.line(self.rng.choice([f"put({s}, {self.x()})", f"put(given({s}), {self.x()})", f"countdown({s}, [{self.x()}, {self.x()}])"]))

    def assign(self):
        if self.depth == 1 and self.rng.random() < 0.5:
            self.fresh(self.made())
        else:
            self.line(f"{self.s()} = {self.made()}")

    def inside(self):
        self.count += 1
        y, s = f"x{self.count}", self.s()
        for text in self.rng.choice([
            [f"{y} = [{s}, {self.made()}]", f"{y}[0].add({self.x()})", f"log.append(str([len(t) for t in {y}]))"],
            [f"{y} = {{}}", f"{y}['a'] = {s}", f"{y}['a'].add({self.x()})", f"log.append(repr(sorted({y}['a'])))"],
            [f"{y} = ({s}, i)", f"{y}[0].add({self.x()})"],
            [f"{y} = maybe({s}, c)", f"if {y} is not None: {y}.add({self.x()})"],
        ]):
            self.line(text)

    def ask(self):
        a, b = self.any(), self.any()
        self.line(self.rng.choice([
            f"log.append(str(({a} {self.rng.choice(QUESTIONS)} {b}, {a} {self.rng.choice(QUESTIONS)} {b})))", f"log.append(str(({self.s()} is {self.s()}, {self.s()}.isdisjoint({self.iterable()}))))",
            f"log.append(str(({self.s()}.issubset({self.iterable()}), {self.s()}.issuperset({self.iterable()}))))",
        ]))

    def branch(self):
        self.branch_if("c", "n > 1", f"len({self.s()}) > 1", self.s())

    def loop(self):
        self.line(self.rng.choice(["for i in range(n):", "for i in range(2):", "for i in range(20):"]))
        self.block()


def same(a, b):
    if type(a) is not type(b):
        return False
    if isinstance(a, (set, frozenset)):
        return a == b and sorted(map(repr, a)) == sorted(map(repr, b))
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(same, a, b))
    return a == b


FUZZER = Fuzzer("sets", Program, same, (KeyError, IndexError, ValueError, RuntimeError), repr)
check, run = FUZZER.check, FUZZER.run

if __name__ == "__main__":
    exit_with(FUZZER, __doc__)
