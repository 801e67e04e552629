"""Random programs over deques: ones that start empty and get their types from use, with and without a greatest length, that are passed, returned, aliased, copied, turned, changed while something goes through them, and that lie in lists and dicts.

    python tests/fuzz/deques_fuzz.py --seconds 600 --seed 1

Elements of one kind each in a program. The oracle is CPython. In the end every deque gets one more element, so that deques that are one object in Python and two in compiled code differ.
"""

import random
from collections import deque

from containers_driver import Fuzzer, Lines, exit_with

HELPERS = """
from collections import deque

def empty():
    return deque()

def given(d):
    return d

def put(d, x):
    d.append(x)

def filled(xs, m):
    d = deque(maxlen=m)
    for x in xs:
        d.appendleft(x)
    return d

def countdown(d, xs):
    if xs:
        d.append(xs[0])
        countdown(d, xs[1:])

def maybe(d, c):
    if c:
        return None
    return d

def each(d):
    for x in d:
        yield x
"""

ELEMENTS = {
    "int": (["i", "n", "7", "-3", "len(d0)", "i % 3", "n * 2"], [1, 2, 7, -3, 100]),
    "str": (["str(i)", "'x'", "'é'", "'a' * n", "str(n)", "'c' if c else 'd'"], ["x", "0", "a", "é"]),
    "bool": (["c", "(not c)", "n > 1", "i > 0"], [True, False]),
    "float": (["i * 0.5", "0.0", "-0.0", "2.5", "n + 0.25"], [0.0, 0.5, 2.5]),
    "tuple": (["(i, 'x')", "(n, str(i))", "(7, 'y')", "(i % 2, 'x')"], [(1, "x"), (7, "y"), (0, "x")]),
}
QUESTIONS = ["<=", "<", ">=", ">", "==", "!="]
LENGTHS = ["None", "None", "0", "1", "3", "n", "9", "64"]


class Program(Lines):
    """`d0` is the argument, `d1 …` are others."""

    def __init__(self, seed):
        self.rng = r = random.Random(seed)
        self.kind = r.choice(list(ELEMENTS))
        self.deques, self.lines, self.depth, self.count = ["d0"], [], 1, 0
        self.line("log = ['']")
        self.line("i = 0")
        for _ in range(r.randrange(1, 3)):
            self.fresh(r.choice(["deque()", f"deque(maxlen={r.choice(LENGTHS)})"]) if r.random() < 0.6 else self.made())
        for _ in range(r.randrange(4, 11)):
            self.statement()
        for k, d in enumerate(self.deques):
            self.line(f"i = {50 + k}")
            self.line(f"{d}.append({self.x()})")
        self.line(f"return ({', '.join(self.deques)}, log)")
        self.source = HELPERS + "\ndef main(d0, n, c):\n" + "\n".join(self.lines) + "\n"
        pool = ELEMENTS[self.kind][1]
        some = [r.choice(pool) for _ in range(r.randrange(1, 12))]
        self.arguments = (deque(some, r.choice([None, None, 1, 5, 12])), r.randrange(0, 12), r.random() < 0.5)

    def fresh(self, value):
        self.count += 1
        self.line(f"d{self.count} = {value}")
        self.deques.append(f"d{self.count}")

    def d(self):
        return self.rng.choice(self.deques)

    def x(self):
        return self.rng.choice(ELEMENTS[self.kind][0])

    def iterable(self):
        d, x = self.d(), self.x()
        return self.rng.choice([self.d(), f"[{x}, {self.x()}]", f"({x},)", f"list({d})", f"sorted({d})", f"{{{x}: 1}}", f"list(each({d}))", f"[y for y in {d}]", f"list(reversed({d}))"])

    def made(self):
        r = self.rng
        return r.choice([
            lambda: f"deque([{self.x()}])", lambda: f"deque(({self.x()}, {self.x()}), {r.choice(LENGTHS)})", self.d, lambda: f"{self.d()}.copy()", lambda: f"deque({self.iterable()})",
            lambda: f"deque({self.iterable()}, {r.choice(LENGTHS)})", lambda: f"{self.d()} + {self.d()}", lambda: f"{self.d()} * {r.choice(['0', '2', '(n % 4)', '-1'])}", lambda: f"2 * {self.d()}", lambda: "empty()",
            lambda: f"given({self.d()})", lambda: f"deque({self.x()} for i in range(n))", lambda: f"({self.d()} if c else {self.d()})", lambda: f"filled({self.iterable()}, {r.choice(LENGTHS)})",
            lambda: f"({self.d()} or {self.d()})", lambda: f"deque({self.d()}, {self.d()}.maxlen)",
        ])()

    def statement(self):
        r = self.rng
        kinds = [self.change, self.change, self.change, self.change, self.take, self.take, self.look, self.look, self.go_through, self.call, self.assign, self.inside, self.ask, self.disturb, self.disturb]
        if self.depth < 3:
            kinds += [self.branch, self.loop, self.loop]
        r.choice(kinds)()

    def place(self):
        return self.rng.choice(["0", "-1", "n", "i", "-n", "3", "n // 2"])

    def change(self):
        d, x = self.d(), self.x()
        self.line(self.rng.choice([
            f"{d}.append({x})", f"{d}.appendleft({x})", f"if len({d}) < 100: {d}.extend({self.iterable()})", f"if len({d}) < 100: {d}.extendleft({self.iterable()})", f"if len({d}) < 100: {d} += {self.iterable()}", f"{d}.rotate({self.place()})", f"{d}.rotate()", f"{d}.reverse()",
            f"if {x} not in {d}: {d}.append({x})", f"if {d}: {d}[0] = {x}", f"if {d}: {d}[-1] = {x}", f"if len({d}) < 40: {d} *= {self.rng.choice(['0', '1', '2', 'n % 3'])}",
            f"if {d}.maxlen is None: {d}.insert({self.place()}, {x})",
        ]))

    def take(self):
        d, x = self.d(), self.x()
        self.line(self.rng.choice([
            f"if {d}: log.append(repr({d}.pop()))", f"if {d}: log.append(repr({d}.popleft()))", f"while len({d}) > 5: {d}.popleft()", f"if {x} in {d}: {d}.remove({x})", f"if n > 7: {d}.clear()", f"if {d}: del {d}[n % len({d})]",
            f"while {d} and {d}[-1] == ({x}): {d}.pop()",
        ]))

    def look(self):
        d = self.d()
        self.line(self.rng.choice([
            f"log.append(str({self.x()} in {d}))", f"log.append(str(len({d})) + str({d}.maxlen))", f"log.append(repr({d}))", f"log.append(repr(max({d})) if {d} else '-')", f"log.append(f'{{{d}}}')", f"log.append(str({d}.count({self.x()})))",
            f"log.append(repr(list(zip({d}, reversed({d})))))", f"log.append(repr([{d}[k] for k in range(len({d}))]))", f"log.append(repr([{d}[-k - 1] for k in range(len({d}))]))",
        ]))

    def go_through(self):
        d = self.d()
        self.line(self.rng.choice([
            f"log += [repr(y) for y in {d}]", f"for y in reversed({d}): log.append(repr(y))", f"for y in list({d}): {self.d()}.append(y)", f"for y in each({d}): log.append(str(y in {d}))",
            f"for j, y in enumerate({d}): log.append(str(j) + repr(y))",
        ]))

    def disturb(self):
        """Changes of what is gone through; and what is not there."""
        d, x = self.d(), self.x()
        self.line("try:")
        self.line("    " + self.rng.choice([
            f"{d}.remove({x})", f"log.append(str({d}.index({x})))", f"log.append(str({d}.index({x}, {self.place()}, {self.place()})))", f"log.append(repr({d}[{self.place()}]))", f"{d}[{self.place()}] = {x}", f"del {d}[{self.place()}]",
            f"{d}.insert({self.place()}, {x})", f"while True: {d}.popleft()", f"log.append(repr(filled([{x}], n - 3)))",
        ]))
        if self.rng.random() < 0.5:
            self.line(f"    for y in {self.rng.choice([d, f'reversed({d})'])}:")
            self.line("        log.append(repr(y))")
            self.line("        if len(log) > 300: break")
            self.line("        " + self.rng.choice([f"{d}.append({x})", f"{d}.rotate(1)", f"{d}[0] = {x}", f"{d}.reverse()", f"{d}.clear()", f"{self.d()}.extend([])", f"{self.d()}.appendleft({d}.pop())"]))
        self.line("except (IndexError, ValueError, RuntimeError) as e:")
        self.line("    log.append(repr(e))")

    def call(self):
        d = self.d()
        self.line(self.rng.choice([f"put({d}, {self.x()})", f"put(given({d}), {self.x()})", f"countdown({d}, [{self.x()}, {self.x()}])"]))

    def assign(self):
        if self.depth == 1 and self.rng.random() < 0.5:
            self.fresh(self.made())
        else:
            self.line(f"{self.d()} = {self.made()}")

    def inside(self):
        self.count += 1
        y, d = f"x{self.count}", self.d()
        for text in self.rng.choice([
            [f"{y} = [{d}, {self.made()}]", f"{y}[0].append({self.x()})", f"log.append(str({y}))"],
            [f"{y} = {{}}", f"{y}['a'] = {d}", f"{y}['a'].appendleft({self.x()})", f"log.append(repr({y}))"],
            [f"{y} = deque([{d}, {self.d()}], 2)", f"{y}.append({self.d()})", f"{y}[0].append({self.x()})", f"log.append(repr({y}))"],
            [f"{y} = ({d}, i)", f"{y}[0].append({self.x()})"],
            [f"{y} = maybe({d}, c)", f"if {y} is not None: {y}.append({self.x()})"],
        ]):
            self.line(text)

    def ask(self):
        a, b = self.d(), self.d()
        self.line(f"log.append(str(({a} {self.rng.choice(QUESTIONS)} {b}, {a} {self.rng.choice(QUESTIONS)} {b}.copy(), {a} is {b})))")

    def branch(self):
        self.branch_if("c", "n > 1", f"len({self.d()}) > 1", self.d())

    def loop(self):
        self.line(self.rng.choice(["for i in range(n):", "for i in range(2):", "for i in range(5):"]))
        # Lengths would multiply.
        self.line(f"    if len({self.d()}) > 60: break")
        self.block()


def same(a, b):
    if type(a) is not type(b):
        return False
    if isinstance(a, deque):
        return a.maxlen == b.maxlen and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(same, a, b))
    return a == b


FUZZER = Fuzzer("deques", Program, same, (IndexError, ValueError, RuntimeError), repr)
check, run = FUZZER.check, FUZZER.run

if __name__ == "__main__":
    exit_with(FUZZER, __doc__)
