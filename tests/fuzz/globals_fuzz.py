"""Random programs over global lists, dicts, sets, deques and objects, which compiled functions read and change by their names, call each other with, and give back, over global variables and attributes of classes that they assign to, all of which Python changes between the calls.

    python tests/fuzz/globals_fuzz.py --seconds 600 --seed 1

The oracle is CPython: the same program without the compiler. Everything that a call returns or raises is compared, and after each step all globals as one graph: values, types, and what is one object.
"""

import collections
import random

import driver
import tierup

KINDS = {
    "ints": ["[1, 2, 3]", "[]", "[5]", "list(range(7))"],
    "floats": ["[0.5, -1.5]", "[]", "[2.0] * 3"],
    "counts": ["{1: 10, 2: 20}", "{}", "{n: n * n for n in range(4)}"],
    "lists": ["{'a': [1], 'b': [2, 3]}", "{}", "{'c': []} | {'a': [4]}"],
    "seen": ["{1, 2}", "set()", "{3}"],
    "recent": ["deque([1, 2], 3)", "deque([4])", "deque()"],
    "total": ["Counter('aab')", "Counter({'z': 3})"],
    "grouped": ["defaultdict(list, {1: [1]})", "defaultdict(list)"],
    "box": ["Box(1, [2])", "Box(0, [])"],
    "pair": ["([1, 2], {3: 4})", "([0], {0: 0})"],
    "number": ["3", "0"],
    "label": ["'a'", "''"],
    "row": ["[1]", "[2, 3]"],
}
CHANGES = {
    "ints": ["{g}.append(n)", "{g}[0] += n", "{g}[n % 3] = n", "{g}.extend([n, 1])", "{g}.pop()", "{g}.reverse()", "{g}.insert(0, n)", "del {g}[-1]", "{g} += [n]", "{g}.sort()"],
    "floats": ["{g}.append(n * 0.5)", "{g}[-1] *= 2.0", "{g}.remove(0.5)", "{g}[:] = [1.5, n * 1.0]", "{g}.clear()"],
    "counts": ["{g}[n] = n + 1", "{g}[1] += n", "{g}.pop(2)", "{g}.setdefault(n, 7)", "{g}.update({{n: 3}})", "del {g}[n]"],
    "lists": ["{g}['a'].append(n)", "{g}['k'] = [n]", "{g}.setdefault('b', []).append(n)", "{g}['b'] = {g}['a']", "{g}.pop('a')"],
    "seen": ["{g}.add(n)", "{g}.discard(n)", "{g}.remove(n)", "{g} |= {{n, 8}}"],
    "recent": ["{g}.append(n)", "{g}.appendleft(n)", "{g}.popleft()", "{g}[0] = n", "{g}.rotate(1)"],
    "total": ["{g}['a'] += n", "{g}.update('xyz')", "{g}[str(n)] = n", "del {g}['b']"],
    "grouped": ["{g}[n].append(n)", "{g}[1].append(2)", "{g}[n % 2] = [n]"],
    "box": ["{g}.n += n", "{g}.items.append(n)", "{g}.items = [n]", "{g}.bump(n)", "{g}.other = None", "{g}.other = Box(n, [])"],
    "pair": ["{g}[0].append(n)", "{g}[1][n] = 1", "{g}[0][0] -= 1"],
    "number": ["{g} = n", "{g} += n", "{g} = {g} * 2 - n", "Box.made = {g}", "{g} = Box.up(n)"],
    "label": ["{g} = {g} + 'x'", "{g} = str(n)", "{g} += str(n)"],
    "row": ["{g} = [n, 1]", "{g}.append(n)", "{g} = {g} + [n]", "{g} = {g}[1:]"],
}  # fmt: skip
READS = {
    "ints": ["len({g})", "sum({g})", "{g}[n % 2]", "max({g})", "(n in {g})"],
    "floats": ["len({g})", "int(sum({g}) * 4)", "int({g}[0])"],
    "counts": ["len({g})", "{g}[n]", "{g}.get(n, -1)", "sum({g}.values())", "(n in {g})"],
    "lists": ["len({g})", "len({g}['a'])", "sum([len(v) for v in {g}.values()])"],
    "seen": ["len({g})", "(n in {g})", "sum({g})"],
    "recent": ["len({g})", "{g}[-1]", "sum({g})"],
    "total": ["{g}['a']", "{g}.total()", "len({g})"],
    "grouped": ["len({g})", "len({g}[1])"],
    "box": ["{g}.n", "len({g}.items)", "{g}.doubled()", "(0 if {g}.other is None else 1)"],
    "pair": ["len({g}[0])", "{g}[1].get(n, 0)", "sum({g}[0])"],
    "number": ["{g}", "({g} > n)", "Box.made"],
    "label": ["len({g})", "({g} == 'ax')"],
    "row": ["len({g})", "{g}[0]", "sum({g})"],
}
GIVEN = {"ints", "floats", "counts", "seen", "recent"}
ASSIGNED = {"number", "label", "row"}

HEAD = """
class Box:
    shared = [1]
    made = 0

    def __init__(self, n, items):
        self.n = n
        self.items = items
        self.other = None

    def bump(self, by):
        self.n += by
        Box.made += 1
        self.shared.append(by)
        return self

    @classmethod
    def up(cls, by):
        cls.made += by
        return cls.made

    def doubled(self):
        return self.n * 2 + len(Box.shared)
"""


class Program:
    """One program; `source` is its text."""

    def __init__(self, seed):
        self.random = r = random.Random(seed)
        self.globals = {f"{kind}_{k}": kind for k, kind in enumerate(r.choices(list(KINDS), k=r.randint(1, 4)))}
        self.functions = []
        lines = [HEAD]
        lines += [f"{g} = {r.choice(KINDS[kind])}" for g, kind in self.globals.items()]
        for k in range(r.randint(1, 4)):
            lines += self.function(f"f{k}")
        assigned = [g for g, kind in self.globals.items() if kind in ASSIGNED]
        lines += ["def main(step):", *(f"    global {g}" for g in assigned), *("    " + line for _ in range(r.randint(3, 9)) for line in self.step())]
        self.source = "\n".join(lines) + "\n"

    def pick(self, table, name=None):
        g = name or self.random.choice(list(self.globals))
        kind = self.globals[g]
        return self.random.choice(table[kind]).format(g=g), g

    def statement(self, depth=0):
        r = self.random
        what = r.random()
        if what < 0.45:
            text = self.pick(CHANGES)[0]
            # An augmented assignment to the name itself would make it a local variable, where it is not said to be none.
            return [text] if self.globals.get(text.split(" ")[0], "number") in ASSIGNED or " |= " not in text and " += " not in text else ["pass"]
        if what < 0.65:
            return [f"s += {self.pick(READS)[0]}"]
        if what < 0.75 and depth < 2:
            return [f"if {self.pick(READS)[0]} > n:", *("    " + x for x in self.statement(depth + 1))]
        if what < 0.85 and depth < 2:
            return ["for _ in range(n % 4):", *("    " + x for x in self.statement(depth + 1))]
        if self.functions and what < 0.97:
            name, given = r.choice(self.functions)
            g = [x for x, kind in self.globals.items() if kind == given]
            if given is None or g:
                return [f"s += {name}(n + 1{', ' + r.choice(g) if given else ''})"]
        return ["s += n"]

    def function(self, name):
        r = self.random
        kinds = sorted(set(self.globals.values()) & GIVEN)
        given = r.choice([None, None, *kinds])
        body = ["s = 0"]
        for _ in range(r.randint(1, 4)):
            body += self.statement()
        if given:
            self.globals["x"] = given
            body += self.statement()
            del self.globals["x"]
            same = [g for g, kind in self.globals.items() if kind == given]
            body.append(f"s += 100 * (x is {r.choice(same)})")
        wrap = r.random() < 0.2
        if wrap:
            body = ["s = 0", "try:", *("    " + x for x in body[1:]), "except (IndexError, KeyError, ValueError):", "    s += 1000"]
        body = [*(f"global {g}" for g, kind in self.globals.items() if kind in ASSIGNED), *body]
        body.append("return s")
        self.functions.append((name, given))
        return ["@njit", f"def {name}(n{', x' if given else ''}):", *("    " + x for x in body)]

    def step(self):
        r = self.random
        name, given = r.choice(self.functions)
        if r.random() < 0.3:
            text, g = self.pick(CHANGES)
            if text.split(" ")[0] == g and self.globals[g] not in ASSIGNED:
                return [f"step(lambda: len({g}))" if self.globals[g] != "box" else "pass"]
            n = r.randint(0, 5)
            return [f"n = {n}", "try:", "    " + text, "except (IndexError, KeyError, ValueError):", "    pass"]
        same = [g for g, kind in self.globals.items() if kind == given]
        arg = f", {r.choice([*same, *same, r.choice(KINDS[given])])}" if given else ""
        return [f"step(lambda: {name}({r.randint(0, 6)}{arg}))"]


def graph(x, seen):
    """A value with what it leads to: types, values, and where the same object comes again."""
    for k, (known, _) in enumerate(seen):
        if known is x:
            return ("seen", k)
    if isinstance(x, (list, tuple, collections.deque)):
        seen.append((x, None))
        return (type(x).__name__, getattr(x, "maxlen", 0), [graph(i, seen) for i in x])
    if isinstance(x, dict):
        seen.append((x, None))
        return (type(x).__name__, [(graph(k, seen), graph(v, seen)) for k, v in x.items()])
    if isinstance(x, set):
        seen.append((x, None))
        return ("set", sorted(x))
    if type(x).__name__ == "Box":
        seen.append((x, None))
        return ("Box", [(k, graph(v, seen)) for k, v in sorted(vars(x).items())])
    return (type(x).__name__, repr(x))


class Refused(Exception):
    pass


def outcome(program, name, njit):
    space = {"njit": njit, "deque": collections.deque, "Counter": collections.Counter, "defaultdict": collections.defaultdict}
    exec(compile(program.source, name, "exec"), space)
    log = []

    def step(f):
        try:
            what = graph(f(), [])
        except tierup.TypingError as e:
            raise Refused(str(e)) from None
        except (ValueError, IndexError, KeyError) as e:
            what = (type(e).__name__, str(e))
        seen = []
        log.append((what, [graph(space[g], seen) for g in program.globals], graph(space["Box"].shared, seen), space["Box"].made))

    space["main"](step)
    return log


def judge(outcome, program, name, compiled):
    """What is wrong with the steps of a program, by the interpreter and compiled."""
    want = outcome(program, name, lambda f: f)
    try:
        got = outcome(program, name, compiled)
    except Refused as e:
        return f"refused: {e}"
    return next((f"step {k}: expected {a}\n     got {b}" for k, (a, b) in enumerate(zip(want, got)) if a != b), None)


def check(seed, compiled=tierup.njit):
    """What is wrong with a program."""
    return judge(outcome, Program(seed), f"<globals {seed}>", compiled)


def run(first, last):
    """What is wrong with programs, by seed."""
    return driver.here(check, first, last)


if __name__ == "__main__":
    driver.main(driver.Options(__doc__), lambda seed: Program(seed).source, check)
