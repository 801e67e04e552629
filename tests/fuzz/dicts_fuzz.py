"""Random programs over dicts: ones that start empty and get their types from use, that are passed, returned, aliased, copied, merged, changed while something goes through them, and that lie in lists and in other dicts.

    python tests/fuzz/dicts_fuzz.py --seconds 600 --seed 1

Keys and values of one kind each in a program. The oracle is CPython: result, exceptions, order, and what became of the argument. In the end every dict gets one more entry, so that dicts that are one object in Python and two in compiled code differ. Programs may be refused for types that nothing says, for nothing else; how many are is printed.
"""

import copy
import random

from containers_driver import Fuzzer, Lines, exit_with

HELPERS = """
def empty():
    return {}

def given(d):
    return d

def put(d, k, v):
    d[k] = v

def put_all(d, ks, v):
    for k in ks:
        d[k] = v

def merged(a, b):
    c = a.copy()
    c.update(b)
    return c

def filled(ks, v):
    d = {}
    for k in ks:
        d[k] = v
    return d

def countdown(d, ks, v):
    if ks:
        d[ks[0]] = v
        countdown(d, ks[1:], v)

def maybe(d, c):
    if c:
        return None
    return d

def each(d):
    for k in d:
        yield k
"""

# Keys by kind: what they are made of, and those of the argument.
KEYS = {
    "int": (["i", "n", "7", "-3", "len(d0)", "i % 3", "n * 2"], [1, 2, 7, -3, 100]),
    "str": (["str(i)", "'x'", "'é'", "'a' * n", "str(n)", "'c' if c else 'd'"], ["x", "0", "a", "é"]),
    "bool": (["c", "not c", "n > 1", "i > 0"], [True, False]),
    "float": (["i * 0.5", "0.0", "-0.0", "2.5", "n + 0.25"], [0.0, 0.5, 2.5]),
    "tuple": (["(i, 'x')", "(n, str(i))", "(7, 'y')", "(i % 2, 'x')"], [(1, "x"), (7, "y"), (0, "x")]),
}
VALUES = {
    "int": (["i", "n", "1", "len(d0)", "-i"], [5, 6, -1]),
    "float": (["i * 0.5", "2.5", "n + 0.5"], [0.5, 1.5]),
    "str": (["str(i)", "'v'", "'w' * n", "'ü'"], ["v", "long enough"]),
    "list": (["[i]", "[i, n]", "[1]"], [[1], [2, 3]]),
}


class Program(Lines):
    """`d0` is the argument, `d1 …` are others."""

    def __init__(self, seed):
        self.rng = r = random.Random(seed)
        self.key, self.value = r.choice(list(KEYS)), r.choice(list(VALUES))
        self.dicts, self.lines, self.depth, self.count = ["d0"], [], 1, 0
        self.line("log = ['']")
        self.line("i = 0")
        for _ in range(r.randrange(1, 3)):
            self.fresh("{}" if r.random() < 0.6 else self.made())
        for _ in range(r.randrange(4, 11)):
            self.statement()
        for k, d in enumerate(self.dicts):
            self.line(f"i = {50 + k}")
            self.line(f"{d}[{self.k()}] = {self.v()}")
        self.line(f"return ({', '.join(self.dicts)}, log)")
        self.source = HELPERS + "\ndef main(d0, n, c):\n" + "\n".join(self.lines) + "\n"
        keys, values = KEYS[self.key][1], VALUES[self.value][1]
        argument = {k: copy.deepcopy(r.choice(values)) for k in r.sample(keys, r.randrange(1, len(keys) + 1))}
        self.arguments = (argument, r.randrange(0, 12), r.random() < 0.5)

    def fresh(self, value):
        self.count += 1
        self.line(f"d{self.count} = {value}")
        self.dicts.append(f"d{self.count}")

    def d(self):
        return self.rng.choice(self.dicts)

    def k(self):
        return self.rng.choice(KEYS[self.key][0])

    def v(self):
        return self.rng.choice(VALUES[self.value][0])

    def made(self):
        r = self.rng
        return r.choice([
            lambda: f"{{{self.k()}: {self.v()}}}", lambda: f"{{{self.k()}: {self.v()}, {self.k()}: {self.v()}}}", self.d, lambda: f"{self.d()}.copy()", lambda: f"dict({self.d()})",
            lambda: f"{self.d()} | {self.d()}", lambda: f"{{**{self.d()}, {self.k()}: {self.v()}}}", lambda: "empty()", lambda: f"given({self.d()})", lambda: f"merged({self.d()}, {self.d()})",
            lambda: f"{{k: v for k, v in {self.d()}.items()}}", lambda: f"{{{self.k()}: {self.v()} for i in range(n)}}", lambda: f"dict([({self.k()}, {self.v()})])", lambda: f"dict(zip({self.d()}, {self.d()}.values()))",
            lambda: f"({self.d()} if c else {self.d()})", lambda: f"filled(list({self.d()}), {self.v()})", lambda: f"dict({self.d()}.items())", lambda: f"({self.d()} or {self.d()})",
        ])()

    def statement(self):
        r = self.rng
        kinds = [self.set, self.set, self.set, self.take, self.take, self.look, self.look, self.go_through, self.go_through, self.call, self.assign, self.inside, self.compare, self.disturb]
        if self.depth < 3:
            kinds += [self.branch, self.loop, self.loop]
        r.choice(kinds)()

    def set(self):
        d, k, v = self.d(), self.k(), self.v()
        ways = [f"{d}[{k}] = {v}"] * 3 + [f"{d}.setdefault({k}, {v})", f"{d}.update({self.d()})", f"{d} |= {self.d()}", f"{d}.update({{{k}: {v}}})", f"{d}.update([({k}, {v})])"]
        if self.value in ("int", "float"):
            one = "1" if self.value == "int" else "1.0"
            ways += [f"{d}[{k}] = {d}.get({k}, {one}) + {one}", f"if {k} in {d}: {d}[{k}] += {one}"]
        if self.value == "list":
            ways += [f"{d}.setdefault({k}, []).append(i)", f"for x in {d}.values(): x.append(n)"]
        self.line(self.rng.choice(ways))

    def take(self):
        d, k = self.d(), self.k()
        self.line(self.rng.choice([
            f"log.append(repr({d}.pop({k}, {self.v()})))", f"if {k} in {d}: del {d}[{k}]", f"if {d}: log.append(repr({d}.popitem()))", f"if n > 7: {d}.clear()",
            f"for k in list({d})[::2]: del {d}[k]", f"if {d}: log.append(repr({d}.pop(list({d})[0])))",
        ]))

    def look(self):
        d, k = self.d(), self.k()
        self.line(self.rng.choice([
            f"log.append(repr({d}.get({k})))", f"log.append(repr({d}.get({k}, {self.v()})))", f"log.append(str({k} in {d}))", f"log.append(str(len({d})))", f"log.append(str({d}))",
            f"log.append(repr(list({d})))", f"log.append(repr(list({d}.items())))", f"log.append(repr([k for k in reversed({d})]))", f"log.append(repr({d}.values()))",
            f"log.append(str({k} in {d}.keys()))", f"log.append(str({self.v()} in {d}.values()))",
            f"log.append(str(({k}, {self.v()}) in {d}.items()))", f"log.append(str([p in {self.d()}.items() for p in {d}.items()]))",
        ] + ([f"log.append(repr(sorted({d})))", f"log.append(repr(max({d})) if {d} else '-')"])))

    def attempt(self, text, error):
        self.line("try:")
        self.line(f"    {text}")
        self.line(f"except {error} as e:")
        self.line("    log.append(repr(e))")

    def go_through(self):
        d = self.d()
        self.line(self.rng.choice([
            f"for k in {d}: log.append(repr(k))", f"for k, v in {d}.items(): log.append(repr(k) + repr(v))", f"for v in {d}.values(): log.append(repr(v))", f"for j, k in enumerate({d}): log.append(str(j) + repr(k))",
            f"for k, v in zip({d}, {self.d()}.values()): log.append(repr((k, v)))", f"for k in each({d}): log.append(repr(k))", f"for k in {d}: {d}[k] = {self.v()}",
        ]))

    def disturb(self):
        """Changes of what is gone through, in all ways; and keys that are not there."""
        d, k = self.d(), self.k()
        how = self.rng.randrange(5)
        if how == 0:
            return self.attempt(f"log.append(repr({d}[{k}]))", "KeyError")
        if how == 1:
            return self.attempt(f"del {d}[{k}]", "KeyError")
        if how == 2:
            return self.attempt(f"log.append(repr({d}.pop({k})))", "KeyError")
        self.line("try:")
        self.line(f"    for k in {d}:")
        self.line("        log.append(repr(k))")
        if how == 3:
            self.line(f"        {d}[{k}] = {self.v()}")
        else:
            # As many as before, at other places.
            self.line(f"        {d}[k] = {d}.pop(k)")
            self.line("        if len(log) > 60: break")
        self.line("except RuntimeError as e:")
        self.line("    log.append(repr(e))")

    def call(self):
        d = self.d()
        self.line(self.rng.choice([f"put({d}, {self.k()}, {self.v()})", f"put(given({d}), {self.k()}, {self.v()})", f"put_all({d}, list({self.d()}), {self.v()})", f"countdown({d}, [{self.k()}, {self.k()}], {self.v()})"]))

    def assign(self):
        if self.depth == 1 and self.rng.random() < 0.5:
            self.fresh(self.made())
        else:
            self.line(f"{self.d()} = {self.made()}")

    def inside(self):
        self.count += 1
        x, d = f"x{self.count}", self.d()
        for text in self.rng.choice([
            [f"{x} = [{d}, {self.made()}]", f"{x}[0][{self.k()}] = {self.v()}", f"log.append(repr({x}))"],
            [f"{x} = {{}}", f"{x}['a'] = {d}", f"{x}['a'][{self.k()}] = {self.v()}", f"log.append(repr({x}))"],
            [f"{x} = ({d}, i)", f"{x}[0][{self.k()}] = {self.v()}"],
            [f"{x} = maybe({d}, c)", f"if {x} is not None: {x}[{self.k()}] = {self.v()}"],
        ]):
            self.line(text)

    def compare(self):
        self.line(f"log.append(str(({self.d()} == {self.d()}, {self.d()} != {self.d()}, {self.d()} is {self.d()})))")

    def branch(self):
        self.branch_if("c", "n > 1", f"len({self.d()}) > 1", self.d())

    def loop(self):
        self.line(self.rng.choice(["for i in range(n):", "for i in range(2):", "for i in range(20):"]))
        self.block()


def same(a, b):
    if type(a) is not type(b):
        # Ints among floats are floats.
        return {type(a), type(b)} == {int, float} and a == b
    if isinstance(a, dict):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a.items(), b.items()))
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(same, a, b))
    return a == b and str(a) == str(b)


FUZZER = Fuzzer("dicts", Program, same, (KeyError, IndexError, ValueError, RuntimeError), repr)
check, run = FUZZER.check, FUZZER.run

if __name__ == "__main__":
    exit_with(FUZZER, __doc__)
