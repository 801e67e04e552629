"""Random programs over objects in native memory: structs that hold numbers, texts, tuples, arrays, lists, dicts, members, values and each other, changed in turn by compiled functions, by methods that Python calls and by Python itself.

    python tests/fuzz/structs_fuzz.py --seconds 600 --seed 1

The oracle is CPython: the same program with dataclasses in place of structs, and without the compiler. Everything that a step returns or raises is compared, and at the end all objects as one graph: values, types, and what is one object.
"""

import dataclasses
import enum
import random
import re

import numpy as np
import driver
import tierup

FIELDS = {
    "int": ("int", ["n", "7", "-3", "n * 2 - 5", "n % 3"]),
    "float": ("float", ["0.5", "-0.0", "n * 0.25", "1.5 if n > 2 else -2.5"]),
    "small": ("np.int16", ["n", "5", "n * 100"]),
    "bool": ("bool", ["n > 2", "True", "n % 2 == 0"]),
    "str": ("str", ["'x'", "str(n)", "'é' * n", "f'{n}-'"]),
    "tuple": ("tuple[int, float]", ["(n, 0.5)", "(1, n * 2.0)"]),
    "array": ("types.float64[:]", ["np.zeros(3)", "np.arange(n + 1) * 0.5", "np.ones(2)"]),
    "list": ("list[int]", ["[n]", "[n, 1, 2]", "[k for k in range(n + 1)]"]),
    "dict": ("dict[str, int]", ["{'a': n}", "{'b': n, 'a': 1}"]),
    "member": ("Mood", ["Mood.GOOD", "Mood.BAD", "Mood.GOOD if n > 2 else Mood.BAD"]),
    "value": ("Point", ["Point(n * 0.5, n)", "Point(1.0, 2)"]),
    "maybe": ("int | None", ["None", "n", "n if n > 2 else None"]),
    "title": ("str | None", ["None", "str(n)"]),
}
CHANGES = {
    "int": ["{x} += {v}", "{x} = {x} * 3 % 101", "{x} -= 1"],
    "float": ["{x} += {v}", "{x} *= 0.5", "{x} = {v}", "{x} = {x} - n"],
    "small": ["{x} = ({x} + {v}) % 1000", "{x} = 3"],
    "bool": ["{x} = not {x}", "{x} = {v}"],
    "str": ["{x} += {v}", "{x} = {x}[-3:]", "{x} = {x}.upper()"],
    "tuple": ["{x} = ({x}[0] + 1, {x}[1])", "{x} = {v}"],
    "array": ["{x}[0] += 1.5", "{x} = {x} + 1.0", "{x} = {v}", "{x}[-1] = n"],
    "list": ["{x}.append(n)", "{x} = {v}", "{x}[-1] = n + 1", "{x}.extend([1, n])", "{x}.reverse()", "{x} = {x}[:2] + [n]"],
    "dict": ["{x}['k'] = n", "{x}['a'] = {x}.get('a', 0) + 1", "{x} = {v}", "{x}.pop('b', 0)"],
    "member": ["{x} = {v}", "{x} = Mood.BAD if {x} is Mood.GOOD else Mood.GOOD"],
    "value": ["{x} = {v}", "{x} = Point({x}.x + 1.0, {x}.k)"],
    "maybe": ["{x} = {v}", "{x} = ({x} or 0) + 1", "{x} = n if {x} is None else None"],
    "title": ["{x} = {v}", "{x} = ({x} or 'q') + 'r'"],
}
NUMBER = {
    "int": "{x}", "float": "int({x} * 4)", "small": "int({x})", "bool": "int({x})", "str": "len({x})", "tuple": "{x}[0]", "array": "int({x}.sum() * 4)", "list": "sum({x})", "dict": "len({x})",
    "member": "len({x}.name)", "value": "{x}.k", "maybe": "(-1 if {x} is None else {x})", "title": "len({x} or '')",
}  # fmt: skip


class Mood(enum.Enum):
    GOOD = 1
    BAD = 2


@dataclasses.dataclass(frozen=True)
class Point:
    x: float
    k: int


class Program:
    def __init__(self, seed):
        self.r = r = random.Random(seed)
        self.classes = []
        lines = []
        for k in range(r.randint(1, 3)):
            lines += self.make_class(k)
        variables = [(f"{v}", r.choice(self.classes)) for v in "abcd"[: r.randint(2, 4)]]
        steps = []
        for k in range(r.randint(2, 4)):
            params = r.sample(variables, r.randint(1, len(variables)))
            steps.append((f"step{k}", params))
            lines += ["@njit", f"def step{k}({', '.join(v for v, _ in params)}, n):", *self.body(params, 1, r.randint(2, 6)), f"    return {self.given(params)}", ""]
        lines += ["def main(run):"]
        lines += [f"    {v} = {self.made(c, str(r.randint(0, 4)))}" for v, c in variables]
        for _ in range(r.randint(4, 12)):
            lines += self.step(variables, steps)
        lines += [f"    return [{', '.join(v for v, _ in variables)}]", ""]
        self.source = "\n".join(lines)

    def make_class(self, k):
        r = self.r
        base = r.choice(self.classes) if self.classes and r.random() < 0.3 else None
        fields = [(f"{kind[0]}{k}{j}", kind) for j, kind in enumerate(r.choices(list(FIELDS), k=r.randint(1, 4)))]
        links = [(f"o{k}{j}", r.choice([*self.classes, None])) for j in range(r.choice([0, 1, 1, 2]))]
        own = {"name": f"C{k}", "fields": (base["fields"] if base else []) + fields}
        # None stands for the class itself.
        own["links"] = (base["links"] if base else []) + [(name, c or own) for name, c in links]
        self.classes.append(own)
        name, lines = own["name"], []
        written = not base and r.random() < 0.4
        for f, kind in fields:
            lines.append(f"    {f}: {FIELDS[kind][0]}")
        if base and base["links"]:
            lines = [f"{line} = field(default_factory=lambda: {self.constant(kind)})" for line, (_, kind) in zip(lines, fields)]
        for f, c in links:
            lines.append(f"    {f}: \"{(c or own)['name']} | None\" = None")
        if written:
            lines += [f"    def __init__(self, {', '.join(f for f, _ in fields)}{''.join(f', {f}=None' for f, _ in links)}):"]
            body = [f"        self.{f} = {f}" for f in [*(f for f, _ in fields), *(f for f, _ in links)]]
            if r.random() < 0.3:
                r.shuffle(body)
            lines += body
        rank = " + ".join([NUMBER[kind].format(x=f"self.{f}") for f, kind in own["fields"]] + [f"(0 if self.{f} is None else 3)" for f, _ in own["links"]])
        lines += ["    def rank(self):", f"        return ({rank}) % 1009"]
        lines += ["    def bump(self, n):", *self.changes("self", own, 2, r.randint(1, 3)), "        return self.rank()"]
        lines += ["    @property", "    def twice(self):", "        return 2 * self.rank()"]
        if r.random() < 0.5:
            lines += ["    def linked(self):", "        return self" if not own["links"] else f"        return self.{own['links'][0][0]}"]
        return ["@struct(eq=False)", f"class {name}" + (f"({base['name']})" if base else "") + ":", *lines, ""]

    def constant(self, kind):
        return self.with_n(self.r.choice(FIELDS[kind][1]), "2")

    def made(self, c, n):
        """An expression that makes an object."""
        given = [self.r.choice(FIELDS[kind][1]) for _, kind in c["fields"]]
        return f"{c['name']}({', '.join(f'{f}={self.with_n(v, n)}' for (f, _), v in zip(c['fields'], given))})"

    def with_n(self, text, n):
        return re.sub(r"\bn\b", n, text)

    def changes(self, x, c, depth, count):
        out, pad = [], "    " * depth
        for _ in range(count):
            f, kind = self.r.choice(c["fields"])
            change = self.r.choice(CHANGES[kind]).replace("{x}", f"{x}.{f}").replace("{v}", self.r.choice(FIELDS[kind][1]))
            if self.r.random() < 0.15:
                out += [f"{pad}if n == {self.r.randint(0, 4)}:", f"{pad}    raise ValueError('at ' + str(n))"]
            out.append(pad + change)
        return out

    def body(self, params, depth, count):
        r, out, pad = self.r, [], "    " * depth
        for _ in range(count):
            v, c = r.choice(params)
            what = r.random()
            same = [w for w, d in params if d is c]
            if what < 0.35:
                out += self.changes(v, c, depth, 1)
            elif what < 0.5:
                out.append(f"{pad}{v}.bump(n)")
            elif what < 0.65 and c["links"]:
                f, d = r.choice(c["links"])
                fits = [w for w, e in params if e is d]
                out.append(f"{pad}{v}.{f} = {r.choice([*fits, *fits, 'None', self.made(d, 'n')])}")
            elif what < 0.75 and c["links"]:
                f, d = r.choice(c["links"])
                out += [f"{pad}if {v}.{f} is not None:", *self.changes(f"{v}.{f}", d, depth + 1, 1)]
            elif what < 0.85 and depth < 3:
                out += [f"{pad}for k{depth} in range(n % 3 + 1):", *self.body(params, depth + 1, 2)]
            elif what < 0.92 and depth < 3:
                out += [f"{pad}try:", *self.body(params, depth + 1, 2), f"{pad}except ValueError:", f"{pad}    n += 1"]
            else:
                out.append(f"{pad}{r.choice(same)}.bump(n + 1)")
        return out

    def given(self, params):
        v, c = self.r.choice(params)
        ways = [v, f"{v}.rank()", f"({v}.twice, {v})", f"[{v}, {self.r.choice([w for w, d in params if d is c])}]", f"{v} is {self.r.choice([w for w, d in params if d is c])}", self.made(c, "n")]
        ways += [f"{v}.{f}" for f, _ in c["links"]] + [f"{v}.{f}" for f, kind in c["fields"] if kind not in ("small",)]
        return self.r.choice(ways)

    def step(self, variables, steps):
        """What the driver does: a call, a method, an assignment, a look."""
        r = self.r
        v, c = r.choice(variables)
        n, what = str(r.randint(0, 4)), r.random()
        if what < 0.5:
            name, params = r.choice(steps)
            given = []
            for w, d in params:
                given.append(r.choice([x for x, e in variables if e is d]) if r.random() < 0.4 else w)
            return [f"    run(lambda: {name}({', '.join(given)}, {n}))"]
        if what < 0.65:
            return [f"    run(lambda: {v}.bump({n}))"]
        if what < 0.8:
            f, kind = r.choice(c["fields"])
            change = r.choice(CHANGES[kind]).replace("{x}", f"{v}.{f}").replace("{v}", r.choice(FIELDS[kind][1]))
            return [f"    n = {n}", f"    {change}"]
        if what < 0.9 and c["links"]:
            f, d = r.choice(c["links"])
            fits = [w for w, e in variables if e is d]
            return [f"    {v}.{f} = {r.choice([*fits, 'None', self.made(d, n)])}"]
        f = r.choice([f for f, _ in c["fields"]] + [f for f, _ in c["links"]])
        return [f"    run(lambda: {v}.{f})"]


def graph(x, seen):
    """A value as plain data, objects by the order in which they were met."""
    if hasattr(x, "__dataclass_fields__") and not isinstance(x, Point):
        for k, other in enumerate(seen):
            if other is x:
                return ("again", k)
        seen.append(x)
        return (type(x).__name__, [(f, graph(getattr(x, f, "unset"), seen)) for f in x.__dataclass_fields__])
    if isinstance(x, np.ndarray):
        return ("array", x.dtype.str, x.tolist())
    if isinstance(x, (list, tierup.typed.List)):
        return ["list", *(graph(y, seen) for y in x)]
    if isinstance(x, tuple):
        return tuple(graph(y, seen) for y in x)
    if isinstance(x, (dict, tierup.typed.Dict)):
        return {"dict": [(graph(k, seen), graph(v, seen)) for k, v in x.items()]}
    return (type(x).__name__, repr(x))


def outcome(source, name, **scope):
    space = {"np": np, "types": tierup.types, "Mood": Mood, "Point": Point, "field": dataclasses.field, **scope}
    exec(compile(source, name, "exec"), space)
    log = []

    def run(f):
        try:
            log.append(graph(f(), []))
        except (ValueError, AttributeError, ZeroDivisionError, IndexError, KeyError, OverflowError) as e:
            log.append((type(e).__name__, str(e)))

    left = space["main"](run)
    seen = []
    return log, [graph(x, seen) for x in left]


def plain_struct(cls=None, **options):
    if cls is None:
        return lambda cls: plain_struct(cls, **options)
    return dataclasses.dataclass(cls, init="__init__" not in cls.__dict__, **options)


def check(seed, compiled=tierup.njit):
    """What is wrong with a program; None where nothing is."""
    source = Program(seed).source
    name = f"<structs {seed}>"
    want = outcome(source, name, struct=plain_struct, njit=lambda f: f)
    got = outcome(source, name, struct=tierup.struct, njit=compiled)
    return None if want == got else f"expected {want}\n     got {got}"


def run(first, last):
    """What is wrong with programs, by seed."""
    return driver.here(check, first, last)


if __name__ == "__main__":
    driver.main(driver.Options(__doc__), lambda seed: Program(seed).source, check)
