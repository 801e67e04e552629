"""Random programs over lists whose elements inference has to find out: lists that start empty, meet in branches and loops, lie in other lists and in tuples, are captured, passed to functions that fill or return them, and returned by recursive functions.

    python tests/fuzz/lists_fuzz.py --seconds 600 --seed 1

Lists of numbers, of uint64 beside ints, of bools, of strings or of tuples, one kind in each program. The oracle is CPython; a float may stand for an int of the same value, as ints and floats that meet in a list are floats, and an int for a uint64. Elements of the other kinds are of the very same type. A negative number that becomes a uint64 may be refused when the program runs. In the end every list gets one more element, so that lists that are one object
in Python and two in compiled code differ. Programs may be refused for the types that meet, for nothing else; how many are is printed.
"""

import random

import numpy as np
from containers_driver import Fuzzer, Lines, exit_with

HELPERS = """
import numpy as np

def empty():
    return []

def empty_rows(n):
    out = []
    for i in range(n):
        out.append([])
    return out

def two():
    return [], []

def given(a):
    return a

def swapped(a, b):
    return b, a

def put(a, x):
    a.append(x)

def put_each(a, n):
    for i in range(n):
        a.append(i * 0.5)

def put_row(rows, row):
    rows.append(row)

def countdown(a, n):
    if n > 0:
        a.append(n)
        countdown(a, n - 1)

def up_to(n):
    if n == 0:
        return []
    a = up_to(n - 1)
    a.append(n)
    return a

def joined(n):
    if n == 0:
        return []
    return joined(n - 1) + [n]

def evens(a, n):
    if n > 0:
        a.append(n)
        odds(a, n - 1)

def odds(a, n):
    if n > 0:
        evens(a, n - 1)

def halves(n):
    for i in range(n):
        yield i * 0.5

def maybe(a, c):
    if c:
        return None
    return a

def copied(a):
    return a[:]

def both(a, b):
    return a + b

def each(a):
    for x in a:
        yield x

def first(a, x):
    return a[0] if a else x

def paired(a):
    return [(x, x) for x in a]

def turned(a):
    a.reverse()
    return len(a)
"""

# What elements are, by kind: expressions, and what the argument `p` may be. Helpers that put in numbers are for those alone.
KINDS = {
    "number": (["1", "n", "2.5", "n * 0.5", "n + 1", "-3", "len(p)"], [[4, 5], [2.5], [0.5, 3.0]]),
    "uint64": (["u", "n", "n - 1", "u + np.uint64(n)", "len(p)"], [[np.uint64(2**64 - 1), np.uint64(3)], [np.uint64(2**63)]]),
    "bool": (["True", "n > 1", "c", "len(p) > 1", "not c"], [[True, False], [False]]),
    "str": (["'x'", "str(n)", "'ab' * n", "'c' if c else 'd'"], [["p", "q"], ["é"]]),
    "tuple": (["('x', n)", "(str(n), 2)", "('y', len(p))"], [[("p", 1)], [("q", 2), ("r", 3)]]),
}


class Program(Lines):
    """`a0 …` are lists of numbers, `b0 …` lists of such lists."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.kind = self.rng.choice(["number", "number", "uint64", "bool", "str", "tuple"])
        self.flat, self.rows = ["p"], []
        self.lines = []
        self.depth = 1
        self.count = 0
        if self.kind == "uint64":
            self.line("u = np.uint64(2**63 + 5)")
        for _ in range(self.rng.randrange(1, 3)):
            self.fresh_flat("[]")
        if self.rng.random() < 0.6:
            self.fresh_rows("[]")
        for _ in range(self.rng.randrange(3, 9)):
            self.statement()
        names = self.flat + self.rows
        counts = self.kind in ("number", "uint64")
        for a in self.flat:
            self.line(f"{a}.append({self.rng.randrange(90, 99) if counts else self.element()})")
        self.line(f"return ({', '.join(names)},)")
        self.source = HELPERS + "\ndef main(p, n, c):\n" + "\n".join(self.lines) + "\n"
        self.arguments = (self.rng.choice(KINDS[self.kind][1]), self.rng.randrange(0, 4), self.rng.random() < 0.5)

    def fresh_flat(self, value):
        self.count += 1
        self.line(f"a{self.count} = {value}")
        self.flat.append(f"a{self.count}")

    def fresh_rows(self, value):
        self.count += 1
        self.line(f"b{self.count} = {value}")
        self.rows.append(f"b{self.count}")

    @property
    def numbers(self):
        return self.kind == "number"

    def element(self):
        return self.rng.choice(KINDS[self.kind][0])

    def a(self):
        return self.rng.choice(self.flat)

    def flat_value(self):
        """What gives a list of elements."""
        r = self.rng
        makers = [
            lambda: "[]", lambda: f"[{self.element()}]", lambda: f"[{self.element()}, {self.element()}]", self.a, lambda: f"{self.a()}[:]",
            lambda: f"{self.a()} + {self.a()}", lambda: "empty()", lambda: f"given({self.a()})", lambda: f"[x for x in {self.a()}]", lambda: f"sorted({self.a()})",
            lambda: f"({self.a()} if c else {self.a()})", lambda: f"({self.a()} or {self.a()})", lambda: f"{self.a()}.copy()", lambda: f"list({self.a()})",
            lambda: f"list(reversed({self.a()}))", lambda: f"copied({self.a()})", lambda: f"both({self.a()}, {self.a()})", lambda: f"list(each({self.a()}))",
            lambda: f"[first({self.a()}, {self.element()})]", lambda: f"[x for x, y in paired({self.a()})]", lambda: f"list(filter(None, {self.a()}))",
            lambda: f"[x for x, y in zip({self.a()}, sorted({self.a()}))]", lambda: f"sorted({self.a()}, key=lambda x: x, reverse=c)", lambda: f"{self.a()} * 2", lambda: f"n * {self.a()}",
            lambda: f"[max({self.a()}, default={self.element()})]",
        ]
        if self.numbers:
            makers += [lambda: "up_to(n)", lambda: "joined(n)", lambda: "[i * 0.5 for i in range(n)]", lambda: "list(halves(n))"]
        return r.choice(makers)()

    def rows_value(self):
        r = self.rng
        makers = [
            lambda: "[]", lambda: f"[{self.flat_value()}]", lambda: f"[[], {self.a()}]", lambda: "empty_rows(n)", lambda: "[[] for i in range(n)]",
            lambda: "[empty() for i in range(n)]", lambda: f"given({r.choice(self.rows)})" if self.rows else "[]", lambda: r.choice(self.rows) if self.rows else "[]",
        ]
        return r.choice(makers)()

    def statement(self):
        r = self.rng
        kinds = [self.append, self.append, self.assign, self.assign, self.fill, self.fill, self.exchange, self.captured, self.row, self.row, self.in_tuple, self.optional]
        if self.depth < 3:
            kinds += [self.branch, self.branch, self.loop]
        r.choice(kinds)()

    def append(self):
        self.line(f"{self.a()}.append({self.element()})")

    def assign(self):
        new = self.rng.random() < 0.4 and self.depth == 1
        if self.rng.random() < 0.7 or not self.rows:
            value = self.flat_value()
            if new:
                self.fresh_flat(value)
            else:
                self.line(f"{self.a()} = {value}")
        elif new:
            self.fresh_rows(self.rows_value())
        else:
            self.line(f"{self.rng.choice(self.rows)} = {self.rows_value()}")

    def fill(self):
        a = self.a()
        ways = [
            f"put({a}, {self.element()})", f"{a}.extend({self.a()}[:])", f"{a} += {self.flat_value()}", f"{a}.insert(0, {self.element()})", f"put(given({a}), {self.element()})",
            f"turned({a})", f"{a}.append(first({self.a()}, {self.element()}))", f"for x in each({self.a()}[:]): {a}.append(x)", f"{a}.append(max({self.a()}, default={self.element()}))",
            f"{a} = {a} if {a} == sorted({a}) else {self.a()}",
        ]
        if self.numbers:
            ways += [f"put_each({a}, n)", f"countdown({a}, n)", f"evens({a}, n)", f"{a}.extend(halves(n))"]
        self.line(self.rng.choice(ways))

    def exchange(self):
        a, b = self.a(), self.a()
        self.line(self.rng.choice([f"{a}, {b} = {b}, {a}", f"{a}, {b} = swapped({a}, {b})", f"{a}, {b} = two()"]))

    def captured(self):
        self.count += 1
        k, a = self.count, self.a()
        self.line(f"def f{k}(x):")
        if self.rng.random() < 0.3 and a != "p" and self.depth == 1:
            self.line(f"    nonlocal {a}")
            self.line(f"    {a} = {self.flat_value()}")
        self.line(f"    {a}.append(x)")
        self.line(f"f{k}({self.element()})")

    def row(self):
        if not self.rows:
            return self.append()
        b = self.rng.choice(self.rows)
        self.line(self.rng.choice([
            f"{b}.append({self.flat_value()})", f"put_row({b}, {self.flat_value()})", f"if len({b}) > 0: {b}[0].append({self.element()})", f"if {b}: {self.a()} = {b}[-1]",
            f"for row in {b}: row.append({self.element()})", f"for row in {b}: put(row, {self.element()})", f"{b}.append([])",
        ]))

    def in_tuple(self):
        self.count += 1
        t = f"t{self.count}"
        self.line(f"{t} = ({self.a()}, {self.element()}, {self.flat_value()})")
        self.line(f"{t}[{self.rng.choice([0, 2])}].append({self.element()})")
        if self.rng.random() < 0.5:
            self.line(f"{self.a()} = {t}[{self.rng.choice([0, 2])}]")

    def optional(self):
        self.count += 1
        m = f"m{self.count}"
        self.line(f"{m} = maybe({self.flat_value()}, c)")
        self.line(f"if {m} is not None: {m}.append({self.element()})")

    def branch(self):
        self.branch_if("c", "n > 1", f"len({self.a()}) > 1")

    def loop(self):
        self.line(self.rng.choice(["for i in range(n):", "for i in range(2):"]))
        self.block()


def same(a, b):
    if isinstance(a, (list, tuple)):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    numbers = (int, float, np.uint64)
    return a == b and (type(a) in numbers and type(b) in numbers or type(a) is type(b))


FUZZER = Fuzzer("lists", Program, same, (IndexError, ValueError, UnboundLocalError), type)
check, run = FUZZER.check, FUZZER.run

if __name__ == "__main__":
    exit_with(FUZZER, __doc__)
