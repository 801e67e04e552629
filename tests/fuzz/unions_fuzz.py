"""Differential fuzzing of values of several types: what is in lists, dicts, fields and variables, given by functions, asked what it is, and done something to that some of it does not take.

    python tests/fuzz/unions_fuzz.py --seconds 600 --seed 1

What is returned, written down on the way, raised (with its text), and what arguments are afterwards must be the same, types of numbers included.
"""

import copy
import linecache
import random

import driver

CONSTANTS = ("1", "2.5", "'ab'", "None", "True", "0", "''", "-3", "(1, 'p')", "('q', 2.5)", "[1, 2]", "b'xy'", "False", "7.0", "'c'", "0.0")
CLASSES = ("int", "float", "str", "bool", "(int, str)", "tuple", "list", "(float, bool)", "bytes")
KEYS = ("'a'", "'b'", "'c'")
HEAD = """
class Box:
    def __init__(self, v):
        self.v = v
        self.all = [v]

    def put(self, v):
        self.v = v
        self.all.append(v)
        return self

"""


class Program(driver.Draws):
    """Functions `p0`, `p1`, … that give values of several types, and `f(i, j, xs, log)`; a seed gives the same ones everywhere."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.lines = []
        self.givers, self.count = [], 0
        for _ in range(self.rng.randint(1, 3)):
            self.giver()
        self.consumer()

    def giver(self):
        name = f"p{len(self.givers)}"
        kinds = self.rng.sample(CONSTANTS, self.rng.randint(2, 5))
        # Numbers by themselves, or beside None, are one type.
        if not any(k[0] == "'" for k in kinds):
            kinds.append("'ab'")
        self.put(0, f"def {name}(i):")
        for at, kind in enumerate(kinds[:-1]):
            self.put(1, f"if i % {len(kinds)} == {at}:")
            if self.chance(0.1) and self.givers:
                kind = f"{self.rng.choice(self.givers)}(i + 1)"
            self.put(2, f"return {kind}")
        self.put(1, f"return {kinds[-1]}")
        self.put(0, "")
        self.givers.append(name)

    # -- expressions

    def value(self, depth=0):
        """One of several types."""
        form = self.rng.random()
        if form < 0.45 or depth > 2:
            return self.rng.choice(self.names)
        if form < 0.7:
            return f"{self.rng.choice(self.givers)}({self.pick('i', 'j', 'i + j', '3 * i + 1', 'n')})"
        if form < 0.78:
            return f"({self.value(depth + 1)} if {self.test(depth + 1)} else {self.value(depth + 1)})"
        if form < 0.84:
            return self.pick("box.v", "box.all[-1]", "box.all[0]")
        if form < 0.9:
            return self.pick(f"d[{self.pick(*KEYS[:2])}]", f"d.get({self.pick(*KEYS)})", f"d.get({self.pick(*KEYS)}, {self.rng.choice(self.names)})")
        if form < 0.95:
            return self.pick("ys[n % len(ys)]", "ys[-1]", "pair[0]", "pair[1]")
        return self.pick("same({})", "({}, 1)[0]", "[{}][0]").format(self.rng.choice(self.names))

    def test(self, depth=0):
        x = self.value(depth + 1)
        return self.pick(f"{x} is None", f"isinstance({x}, {self.rng.choice(CLASSES)})", f"{x} == {self.value(depth + 1)}", f"{x}", f"not {x}", f"{x} != {self.rng.choice(CONSTANTS[:8])}",
                         f"type({x}) is {self.pick('int', 'str', 'float', 'bool')}", f"{x} in ys", f"{x} is not None and n > 0", "n % 2 == 0")

    def shown(self):
        """A text that says what something is."""
        x, y = self.value(), self.value()
        return self.pick(f"str({x})", f"repr({x})", f"f'{{{x.replace(chr(39), chr(34))}}}'", f"type({x}).__name__", f"str({x} == {y})", f"str(bool({x}))", f"str([{x}, {y}])", f"str(({x}, {y}))",
                         "str(ys)", "repr(box.all)", "str(d)", f"str(ys.count({x}))", f"str(isinstance({x}, {self.rng.choice(CLASSES)}))", f"'%s %r' % ({x}, {y})", f"'{{}}:{{!r}}'.format({x}, {y})",
                         f"str({x} or {y})", f"str({x} and {y})", "str(sorted(ys, key=str))", "str(pair)", "str(len(ys))", "str([type(y).__name__ for y in ys])")

    def raising(self):
        """What some values do not take."""
        x, y = self.value(), self.value()
        return self.pick(f"{x} {self.pick('+', '-', '*', '//', '<', '>=', '&', '/')} {y}", f"{x} {self.pick('+', '-', '*', '<', '%')} {self.pick('1', '2.5', chr(39) + 's' + chr(39), '2')}",
                         f"{self.pick('1', '2.5', chr(39) + 's' + chr(39))} {self.pick('+', '-', '*', '>')} {x}", f"-{x}", f"abs({x})", f"len({x})", f"{x}[0]", f"ys.index({x})", f"{x}.upper()")

    # -- statements

    def consumer(self):
        self.put(0, "def same(x):")
        self.put(1, "return x")
        self.put(0, "")
        self.put(0, "def f(i, j, xs, log):")
        self.put(1, "n = i - j")
        self.put(1, "tally = 0")
        self.put(1, f"a = {self.givers[0]}(i)")
        self.put(1, f"b = {self.givers[-1]}(j)")
        self.names = ["a", "b"]
        self.put(1, f"ys = [a, b, 'ab']")
        self.put(1, "pair = (a, b)")
        self.put(1, "box = Box(a)")
        self.put(1, f"d = {{'a': a, 'b': {self.pick('b', *CONSTANTS[:4])}}}")
        self.put(1, self.pick("d['c'] = b", "d['b'] = b", "d.update(c=a)"))
        if self.chance(0.5):
            self.put(1, "for x in xs:")
            self.names.append("x")
            self.statements(2, self.rng.randint(1, 3))
            self.names.pop()
        self.statements(1, self.rng.randint(2, 6))
        self.put(1, "log.append(str(tally))")
        self.put(1, f"return {self.pick('a', 'b', 'ys', 'box.v', 'pair', 'box.all', 'd', '[a, b]', '(a, ys)', 'None')}")

    def statements(self, depth, count):
        for _ in range(count):
            self.statement(depth)

    def statement(self, depth):
        form = self.rng.random()
        if form < 0.25:
            self.put(depth, f"log.append({self.shown()})")
        elif form < 0.35:
            self.put(depth, f"{self.pick('a', 'b')} = {self.value()}")
        elif form < 0.45:
            self.put(depth, self.pick(f"ys.append({self.value()})", f"box.v = {self.value()}", f"box.put({self.value()})", f"d[{self.pick(*KEYS)}] = {self.value()}", f"ys[n % len(ys)] = {self.value()}",
                                      f"ys.insert({self.pick('0', '1')}, {self.value()})", f"pair = ({self.value()}, {self.value()})", "ys += [a]", "a = ys.pop()", "a, b = pair", "ys = ys[::-1]"))
            if "pop" in self.lines[-1]:
                self.put(depth, "ys.append(b)")
        elif form < 0.65 and depth < 4:
            self.put(depth, "try:")
            self.put(depth + 1, f"log.append(str({self.raising()}))")
            self.put(depth, f"except {self.pick('(TypeError, ValueError, AttributeError, IndexError, ZeroDivisionError)', 'Exception')} as e:")
            self.put(depth + 1, "log.append(type(e).__name__ + str(e))")
        elif form < 0.8 and depth < 3:
            x = self.pick("a", "b")
            self.put(depth, f"if {self.pick(self.test(), f'isinstance({x}, {self.rng.choice(CLASSES)})')}:")
            self.statements(depth + 1, self.rng.randint(1, 2))
            if self.chance(0.5):
                self.put(depth, self.pick("else:", f"elif {self.test()}:"))
                self.statements(depth + 1, 1)
        elif form < 0.88 and depth < 3:
            self.put(depth, "for y in ys[:4]:" if self.chance(0.7) else "for y in pair:")
            self.names.append("y")
            self.statements(depth + 1, self.rng.randint(1, 2))
            self.names.pop()
        elif form < 0.94 and depth < 3:
            x = self.pick("a", "b")
            self.put(depth, f"match {x}:")
            for case in self.rng.sample(["case True:", "case int():", "case str() as s:", "case None:", "case (p, q):", "case float():", "case 0 | 1:", "case 'ab':", "case list():", f"case _ if {self.test()}:"], 3):
                self.put(depth + 1, case)
                self.statements(depth + 2, 1)
        elif form < 0.955:
            self.put(depth, "try:")
            self.put(depth + 1, f"if {self.test()}:")
            self.put(depth + 2, self.pick("raise ValueError(n, 'carried')", "raise KeyError", "raise ValueError('q', i)"))
            self.put(depth, "except (ValueError, KeyError) as e:")
            self.put(depth + 1, "log.append(str(e.args[0]) if e.args else 'nothing')")
            self.put(depth + 1, self.pick("tally += 1 if not e.args else e.args[-1] if isinstance(e, KeyError) else 2", "tally -= len(e.args)", "log.append(str(e.args == ('q', i)))"))
        elif form < 0.97:
            self.put(depth, f"if {self.test()}:")
            self.put(depth + 1, f"return {self.value()}")
        else:
            self.put(depth, f"log.append(str({self.raising()}))")

    def text(self):
        return HEAD + "\n".join(self.lines) + "\n"


def outcome(f, i, j, xs):
    xs, log = copy.copy(xs), ["begin"]
    try:
        out = "gives", shown(f(i, j, xs, log))
    except Exception as e:
        if type(e).__module__.startswith("tierup"):
            raise
        out = type(e).__name__, str(e)
    return out, log, shown(xs)


def shown(x):
    if isinstance(x, dict):
        return {k: shown(v) for k, v in x.items()}
    if isinstance(x, (list, tuple)):
        return type(x).__name__, [shown(y) for y in x]
    return type(x).__name__, repr(x)


def check(seed, text=None):
    """None, or what is wrong: a text that begins with `refused` where the compiler says no."""
    import tierup
    text = Program(seed).text() if text is None else text
    name = f"<union {seed}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    plain, compiled = {"__name__": name}, {"__name__": name}
    exec(compile(text, name, "exec"), plain)
    exec(compile(text, name, "exec"), compiled)
    f = tierup.njit(compiled["f"])
    for i in range(6):
        for j, xs in ((0, [1, "a"]), (1, ["z", None, 2.5]), (4, [None, "q", True, 3])):
            want = outcome(plain["f"], i, j, xs)
            try:
                got = outcome(f, i, j, xs)
            except tierup.errors.TierupError as e:
                return f"refused: {str(e)[:400]}"
            if got != want:
                return f"{i} {j} {xs}: expected {want}, got {got}"[:3000]
    return None


def run(first, last):
    """What is wrong with programs, by seed; each batch in a process of its own."""
    return driver.apart(__file__, first, last, TIERUP_TIER="0")


if __name__ == "__main__":
    driver.main(driver.Options(__doc__), lambda seed: Program(seed).text(), check, run, 20)
