"""Random programs over tuples whose length only the run knows: made of lists and ranges, grown, cut, compared, put into lists, dicts and sets beside tuples of fixed length, passed, returned, spread into calls.

    python tests/fuzz/tuples_fuzz.py --seconds 600 --seed 1

Members of one kind each in a program. The oracle is CPython.
"""

import random

from containers_driver import Fuzzer, Lines, exit_with

HELPERS = """
import itertools

def given(t):
    return t

def made(xs):
    return tuple(xs)

def rest(*xs):
    return len(xs), xs[1:]

def first_and(x, *xs):
    return x, len(xs)

def maybe(t, c):
    if c:
        return None
    return t

def each(t):
    for x in t:
        yield x

def halves(t):
    if len(t) < 2:
        return t
    return halves(t[len(t) // 2:]) + t[:1]
"""

MEMBERS = {
    "int": (["i", "n", "7", "-3", "len(t0)", "i % 3", "n * 2"], [1, 2, 7, -3, 100]),
    "str": (["str(i)", "'x'", "'é'", "'a' * n", "str(n)", "('c' if c else 'd')"], ["x", "0", "a", "é"]),
    "bool": (["c", "(not c)", "(n > 1)", "(i > 0)"], [True, False]),
    "float": (["i * 0.5", "0.0", "-0.0", "2.5", "n + 0.25"], [0.0, 0.5, 2.5]),
    "pair": (["(i, 'x')", "(n, str(i))", "(7, 'y')", "(i % 2, 'x')"], [(1, "x"), (7, "y"), (0, "x")]),
    "list": (["[i]", "[n, 7]", "[i, i]"], [[1], [2, 3], [7, 7]]),
}
COMPARISONS = ["<=", "<", ">=", ">", "==", "!="]


class Program(Lines):
    """`xs` is a list, `ts` a list of tuples of several lengths; `t0 …` are tuples."""

    def __init__(self, seed):
        self.rng = r = random.Random(seed)
        self.kind = r.choice(list(MEMBERS))
        self.tuples, self.lines, self.depth, self.count = ["t0"], [], 1, 0
        self.line("log = ['']")
        self.line("i = 0")
        self.line(f"t0 = tuple({r.choice(['xs', 'xs[1:]', 'sorted(xs)', 'each(xs)', 'ts[0] + ts[-1]'])})")
        for _ in range(r.randrange(1, 3)):
            self.fresh("()" if r.random() < 0.4 else self.made())
        for _ in range(r.randrange(4, 11)):
            self.statement()
        self.line(f"return ([{', '.join(self.tuples)}], ts, log)")
        self.source = HELPERS + "\ndef main(xs, ts, n, c):\n" + "\n".join(self.lines) + "\n"
        pool = MEMBERS[self.kind][1]
        some = [r.choice(pool) for _ in range(r.randrange(1, 5))]
        lengths = r.sample(range(4), 3)
        if not any(lengths):
            lengths.append(2)
        self.arguments = (some, [tuple(r.choice(pool) for _ in range(k)) for k in lengths], r.randrange(0, 8), r.random() < 0.5)

    def fresh(self, value):
        self.count += 1
        self.line(f"t{self.count} = {value}")
        self.tuples.append(f"t{self.count}")

    def t(self):
        return self.rng.choice([*self.tuples, "t0"])

    def x(self):
        return self.rng.choice(MEMBERS[self.kind][0])

    def fixed(self):
        return self.rng.choice(["()", f"({self.x()},)", f"({self.x()}, {self.x()})", f"({self.x()}, {self.x()}, {self.x()})"])

    def any(self):
        return self.rng.choice([self.t(), self.t(), self.fixed(), "ts[i % len(ts)]", "ts[0]"])

    def bound(self):
        return self.rng.choice(["", "1", "-1", "n", "i", "n - 3", "2"])

    def made(self):
        r, t = self.rng, self.t()
        return r.choice([
            lambda: f"{t} + {self.any()}", lambda: f"{self.any()} + {t}", lambda: f"{t}[{self.bound()}:{self.bound()}]", lambda: f"{t}[::{r.choice(['-1', '2', '-2'])}]", lambda: f"({t} * {r.choice(['2', 'n', '0', '1'])})[:40]",
            lambda: f"({self.x()}, *{t})", lambda: f"(*{t}, {self.x()})", lambda: f"(*{t}, *{self.any()})", lambda: f"tuple([{self.x()} for i in range(n)])", lambda: f"tuple({self.x()} for i in range(n))",
            lambda: f"given({t})", lambda: f"made(list({t}))", lambda: f"made({t})", lambda: f"tuple(reversed({t}))", lambda: f"tuple(sorted({t}))", lambda: f"({self.any()} if c else {t})", lambda: f"({t} or {self.any()})",
            lambda: f"halves({t})", lambda: f"({self.x()}, {self.x()})[:n]", lambda: f"({self.x()},) * n", lambda: f"tuple([*{t}])", lambda: f"tuple(each({t}))",
        ])()

    def statement(self):
        r = self.rng
        kinds = [self.assign, self.assign, self.grow, self.look, self.look, self.look, self.go_through, self.inside, self.inside, self.ask, self.ask, self.fail, self.call]
        if self.depth < 3:
            kinds += [self.branch, self.loop, self.loop]
        r.choice(kinds)()

    def grow(self):
        self.line(self.rng.choice([f"{self.t()} += {self.any()}", f"{self.t()} += ({self.x()},)", f"{self.t()} *= {self.rng.choice(['1', '2', 'c + 1'])}"]))
        self.line(f"if len({self.tuples[-1]}) > 40: {self.tuples[-1]} = {self.tuples[-1]}[:3]")
        for t in self.tuples:
            self.line(f"{t} = {t}[:40]")

    def assign(self):
        if self.depth == 1 and self.rng.random() < 0.5:
            self.fresh(self.made())
        else:
            self.line(f"{self.t()} = {self.made()}")

    def look(self):
        t = self.t()
        self.line(self.rng.choice([
            f"log.append(repr({t}))", f"log.append(str(len({t})))", f"log.append(repr(({self.x()}) in {t}))", f"log.append(repr({t}[0]) if {t} else '-')", f"log.append(repr({t}[-1]) if len({t}) > 1 else '-')",
            f"log.append(str({t}.count({self.x()})))", f"log.append(f'{{{t}}} {{{t}!r:>9}}')", f"log.append('%s' % ({t},))", f"log.append(repr(max({t})) if {t} else '')", f"log.append(repr(sorted({t})))", f"log.append(repr([{t}, {t}]))",
            f"log.append(str(isinstance({t}, tuple)) + str(bool({t})))", f"log.append(repr(({t}, 1)))",
        ]))

    def go_through(self):
        t = self.t()
        self.line(self.rng.choice([
            f"for y in {t}: log.append(repr(y))", f"for j, y in enumerate({t}): log.append(str(j) + repr(y))", f"for y in reversed({t}): log.append(repr(y))", f"for y, z in zip({t}, {self.any()}): log.append(repr((y, z)))",
            f"log += [repr(y) for y in {t}[1:]]", f"for p in zip(*[list({t}), list({self.t()})]): log.append(repr(p))", f"for p in itertools.combinations({t}[:4], min(n, 3)): log.append(repr(p))",
            f"for p in itertools.permutations({t}[:3]): log.append(repr(p))", f"for p in itertools.product({t}[:2], repeat=n % 3): log.append(repr(p))",
        ]))

    def inside(self):
        self.count += 1
        y, t = f"v{self.count}", self.t()
        hashed = self.kind != "list"
        some = [
            [f"{y} = [{t}, {self.any()}]", f"{y}.append({self.any()})", f"log.append(repr({y}))"],
            [f"{y} = []", f"{y}.append({self.any()})", f"{y}.append({t})", f"{y}.insert(0, {self.fixed()})", f"log.append(repr(sorted({y})))"],
            [f"{y} = maybe({t}, c)", f"if {y} is not None: log.append(repr({y}))"],
            [f"{y} = {{'a': {t}}}", f"{y}['b'] = {self.any()}", f"log.append(repr({y}))", f"log.append(repr({y}.get('a', {t})))"],
            [f"{y} = ({t}, {self.x()})", f"log.append(repr({y}[0]))"],
            [f"ts.append({self.any()})", f"ts[0] = {t}"],
        ]
        if hashed:
            some += 3 * [
                [f"{y} = {{{t}: 1}}", f"{y}[{self.any()}] = 2", f"{y}[{t}] = {y}.get({t}, 0) + 1", f"log.append(repr({y}))", f"log.append(repr({self.fixed()} in {y}))"],
                [f"{y} = {{{t}}}", f"{y}.add({self.any()})", f"{y}.discard({self.any()})", f"log.append(repr(sorted({y})))", f"log.append(repr({self.any()} in {y}))"],
                [f"{y} = {{}}", f"for q in ts: {y}[q] = len(q)", f"{y}[{t}] = -1", f"log.append(repr({y}))", f"log.append(repr({y}.pop({t})))"],
                [f"log.append(repr(hash({t}) == hash(tuple(list({t})))))", f"log.append(repr(len({{{t}, {self.any()}}})))"],
            ]
        for text in self.rng.choice(some):
            self.line(text)

    def fail(self):
        t = self.t()
        self.line("try:")
        for text in self.rng.choice([
            [f"log.append(repr({t}[{self.rng.choice(['9', '-9', 'n', 'i'])}]))"], [f"log.append(str({t}.index({self.x()})))"], [f"y, z = {t}", "log.append(repr((y, z)))"], [f"y, *z = {t}", "log.append(repr((y, z)))"],
            [f"log.append('%s %s' % {t})"], [f"log.append('%r' % {t}[:n])"], [f"log.append(repr(first_and(*{t})))"], [f"log.append(repr({{{t if self.kind != 'list' else 'n'}: 1}}[{self.fixed() if self.kind != 'list' else 'n'}]))"], [f"log.append(repr(max({t}[n:])))"],
        ]):
            self.line("    " + text)
        self.line("except (KeyError, IndexError, ValueError, TypeError) as e:")
        self.line("    log.append(repr(e))")

    def call(self):
        t = self.t()
        self.line(self.rng.choice([f"log.append(repr(rest(*{t})))", f"log.append(repr(rest(*{t}[1:], *{self.any()})))", f"print(*{t}, sep=',', end='') if n > 90 else None", f"log.append(repr(halves({t})))"]))

    def ask(self):
        a, b = self.any(), self.t()
        if self.rng.random() < 0.5:
            a, b = b, a
        self.line(self.rng.choice([
            f"log.append(str(({a} {self.rng.choice(COMPARISONS)} {b}, {a} {self.rng.choice(COMPARISONS)} {b})))", f"log.append(str({a} == {b}) + str({b} != {a}))", f"log.append(repr(min({a}, {b})))", f"log.append(str(sorted([{a}, {b}]) == [{a}, {b}]))",
        ]))

    def branch(self):
        self.branch_if("c", "n > 1", f"len({self.t()}) > 1", self.t())

    def loop(self):
        self.line(self.rng.choice(["for i in range(n):", "for i in range(2):", "for i in range(3):"]))
        self.block()


def same(a, b):
    if type(a) is not type(b):
        return False
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(same, a, b))
    return a == b and repr(a) == repr(b)


# What a type says of a tuple of fixed length is an error at the line.
FUZZER = Fuzzer("tuples", Program, same, (KeyError, IndexError, ValueError, RuntimeError), repr)
check, run = FUZZER.check, FUZZER.run

if __name__ == "__main__":
    exit_with(FUZZER, __doc__)
