"""Random programs over objects of ordinary classes: classes with random fields, bases, methods, properties and operators; objects that are made, passed in as graphs with aliases and rings, changed, linked, kept in containers, matched, captured, yielded, and left half-way by exceptions.

    python tests/fuzz/objects_fuzz.py --seconds 600 --seed 1

The oracle is CPython. What a call returns, what it raises and what its arguments have become are compared as one graph: values, types, and what is one object. Each program is called twice with the same arguments.
"""

import random
import sys

import numpy as np
import tierup
from containers_driver import REFUSALS, Fuzzer, exit_with

# Expressions of the kinds of fields, over what each function of a program has: n and i are ints, c is a bool.
PLAIN = {
    "int": ["n", "i", "7", "-3", "i % 3", "n * 2 - i", "(1 if c else 2)"],
    "float": ["0.5", "-0.0", "n * 0.25", "i + 0.5", "(1.5 if c else 2.5)"],
    "str": ["'x'", "str(i)", "'é' * n", "f'{n}-{i}'"],
    "bool": ["c", "not c", "n > i"],
    "tuple": ["(i, 'x')", "(n, str(i))"],
    "list": ["[i]", "[n, 1]", "[i] * 2"],
    "dict": ["{'a': i}", "{'b': n, 'a': 1}"],
    "set": ["{i}", "{n, 1}"],
    "array": ["np.zeros(3)", "np.arange(4) * 0.5", "np.ones(n + 1)"],
    "maybe": ["None", "n", "(i if c else None)"],
    "title": ["None", "str(n)", "('t' if c else None)"],
    "lists": ["[[i], [n, 2]]", "[[1]] * 2", "[[k] for k in range(n)]"],
    "pairs": ["{'a': (i, 0.5)}", "{}", "{str(k): (k, k * 0.5) for k in range(n)}"],
}
CHANGES = {
    "int": ["{x} += {int}", "{x} = {x} * 3 % 101", "{x} -= 1"],
    "float": ["{x} += {float}", "{x} *= 0.5", "{x} = {x} - {int}"],
    "str": ["{x} += {str}", "{x} = {x}[-3:]", "{x} = {x}.upper()"],
    "bool": ["{x} = not {x}", "{x} = {x} and c"],
    "tuple": ["{x} = ({x}[0] + 1, {x}[1])"],
    "list": ["{x}.append({int})", "{x} += [{int}]", "{x}[-1] = {int}", "{x} = {x}[:2] + [n]", "{x}.sort()", "{x}.reverse()", "{x}.extend({x}[:2])"],
    "dict": ["{x}['k'] = {int}", "{x}['a'] = {x}.get('a', 0) + 1", "{x}.update({{'z': n}})", "{x} = dict({x})"],
    "set": ["{x}.add({int})", "{x} = {x} | {{n, i}}", "{x}.discard(1)"],
    "array": ["{x}[0] += {float}", "{x}[:2] = {float}", "{x} = {x} + 1.0", "{x} *= 2.0", "{x}[-1] = {int}"],
    "maybe": ["{x} = ({x} or 0) + 1", "{x} = None", "{x} = n if {x} is None else None", "{x} = None if {x} is not None and {x} > 3 else i"],
    "title": ["{x} = ({x} or 'q') + 'r'", "{x} = None", "{x} = f'{{n}}' if {x} is None else {x}[:1]"],
    "lists": ["{x}.append([{int}])", "{x} = [y[:] for y in {x}]", "{x} = {x}[1:] + {x}[:1]", "{x}.append({x}[0] if {x} else [7])"],
    "pairs": ["{x}['k'] = ({int}, {float})", "{x} = {{**{x}, 'm': (n, 2.5)}}", "{x}.pop('a', (0, 0.0))"],
}
NUMBER = {"int": "{x}", "float": "int({x} * 4)", "str": "len({x})", "bool": "int({x})", "tuple": "{x}[0]", "list": "sum({x})", "dict": "len({x})", "set": "sum({x})", "array": "int({x}.sum() * 4)", "maybe": "(-1 if {x} is None else {x})", "title": "len({x} or '')", "lists": "sum(len(y) for y in {x})", "pairs": "sum(y[0] for y in {x}.values())"}

METHODS = {
    "__eq__": ["    def __eq__(self, other):", "        return isinstance(other, {c}) and self.rank() == other.rank()", "    def __hash__(self):", "        return 5"],
    "__lt__": ["    def __lt__(self, other):", "        return self.rank() < other.rank()"],
    "__repr__": ["    def __repr__(self):", "        return f'<{c} {{self.rank()}}>'"],
    "__bool__": ["    def __bool__(self):", "        return self.rank() % 2 == 0"],
    "__len__": ["    def __len__(self):", "        return self.rank() % 4"],
    "__add__": ["    def __add__(self, other):", "        return self.rank() + (other if isinstance(other, int) else other.rank())"],
    "__iadd__": ["    def __iadd__(self, k):", "        self.bump(k, True)", "        return self"],
    "__call__": ["    def __call__(self, k=2):", "        self.bump(k, False)", "        return self"],
    "__getitem__": ["    def __getitem__(self, k):", "        return (self.rank(), k)"],
    "__setitem__": ["    def __setitem__(self, k, v):", "        self.bump(k + v, True)"],
    "__contains__": ["    def __contains__(self, x):", "        return self.rank() % 3 == x"],
    "__enter__": ["    def __enter__(self):", "        self.bump(1, True)", "        return self", "    def __exit__(self, kind, e, traceback):", "        self.bump(2, False)", "        return kind is not None and self.rank() % 2 == 0"],
    "__iter__": ["    def __iter__(self):", "        for k in range(self.rank() % 4):", "            self.bump(k, True)", "            yield k"],
    "__next__": ["    def __next__(self):", "        self.bump(1, True)", "        if self.rank() % 3 == 0:", "            raise StopIteration", "        return self.rank()"],
}


class Program:
    def __init__(self, seed):
        self.r = r = random.Random(seed)
        self.classes, self.names, self.depth, self.lines = [], 0, 1, []
        count = r.randint(1, 3)
        for k in range(count):
            self.plan_class(k, count)
        head = ["import copy", "from dataclasses import dataclass, field", "import numpy as np", ""]
        for c in self.classes:
            head += self.make_class(c)
        head += ["def each(x, n):", "    for k in range(n):", "        x.bump(k, True)", "        yield x", "", "def same(x):", "    return x", "", "class Holder:", "    def __init__(self, held):", "        self.held = held", "        self.all = []", "    def go(self, k):", "        self.held.bump(k + 5, True)", "        for y in self.all:", "            y.bump(7, False)", "        return self.held.rank()", ""]
        self.derived = r.random() < 0.3
        self.passed = [("p" + str(k), r.choice(self.classes)) for k in range(r.randint(0, 3))]
        if self.passed and r.random() < 0.3:
            self.passed[-1] = ("ps", r.choice(self.classes))
        self.variables = {v: c for v, c in self.passed if v != "ps"}
        for v, c in self.passed:
            if v == "ps":
                self.line("q = ps[0]")
                self.variables["q"] = c
        for c in self.classes:
            if r.random() < 0.6 or not self.of(c):
                self.make_variable(c)
        for _ in range(r.randint(4, 14)):
            self.statement()
        left = r.sample(list(self.variables), r.randint(1, min(3, len(self.variables))))
        names = [v for v, _ in self.passed]
        main = [f"def main({', '.join([*names, 'n', 'i', 'c'])}):", "    log = ['']", *self.lines, f"    return log, {', '.join(left)}", ""]
        numbers = (r.randint(0, 4), r.randint(0, 6), r.random() < 0.5)
        self.arguments = "arguments()"
        self.source = "\n".join([*head, *main, *self.make_arguments(numbers)])

    # ---- classes

    def plan_class(self, k, count):
        """Fields of a class: objects of any class of the program may be in them."""
        r = self.r
        base = r.choice(self.classes) if self.classes and r.random() < 0.25 else None
        fields = []
        for j in range(r.randint(0 if base else 1, 3)):
            fields.append((f"{r.choice('abcd')}{k}{j}", r.choice(list(PLAIN))))
        for j in range(r.choice([0, 0, 1, 1, 2])):
            fields.append((f"o{k}{j}", r.choice(["object", "object", "objects", "named"]), r.randrange(count)))
        r.shuffle(fields)
        self.classes.append({"name": f"C{k}", "own": fields, "base": base, "fields": (base["fields"] if base else []) + fields})

    def plain(self, c):
        return [f for f in c["fields"] if len(f) == 2]

    def make_class(self, c):
        r, name, base = self.r, c["name"], c["base"]
        plain, objects = [f for f in c["own"] if len(f) == 2], [f for f in c["own"] if len(f) == 3]
        lines = []
        slots = base is None and r.random() < 0.2
        declared = base is None and not slots and r.random() < 0.25
        if slots:
            lines.append(f"    __slots__ = ({''.join(repr(f[0]) + ', ' for f in c['own'])}'late')")
        params = [f for f in plain if r.random() < 0.6] + [f for f in objects if f[1] == "object" and r.random() < 0.5]
        c["own_params"] = params
        before = base["params"] if base else []
        c["params"] = before + params
        texts = [f[0] if len(f) == 2 and base is None else f"{f[0]}=None" if len(f) == 3 else f[0] for f in c["params"]]
        required = [t for t in texts if "=" not in t]
        texts = required + [t for t in texts if "=" in t]
        order = {f[0]: f for f in c["params"]}
        c["params"] = [order[t.split("=")[0]] for t in texts]
        if declared:
            lines += self.declarations(c)
        else:
            lines += self.make_init(c, texts)
        if base is None:
            lines += ["    total = 3", "    label = 'of class'", "    def count(self):", f"        {'self.total += 1' if not slots else 'pass'}", "        return self.total"]
        link = next((f[0] for f in c["fields"] if f[1] == "object" and len(f) == 3), None)
        lines += ["    def deep(self, k):", f"        if k <= 0{f' or self.{link} is None' if link else ''}:", "            return self.rank() % 7", f"        return {'self.' + link if link else 'self'}.deep(k - 1) * 2 % 1009"]
        lines += ["    def rank(self):", f"        return ({self.rank_of(c)}) % 1009"]
        lines += self.make_bump(c)
        c["late"] = r.random() < 0.2
        if c["late"]:
            lines += ["    def later(self, n):", "        self.late = n", "        return self.late + 1"]
        c["twice"] = r.random() < 0.3
        if c["twice"]:
            f, kind = r.choice(self.plain(c))
            lines += ["    @property", "    def twice(self):", f"        return self.{f}", "    @twice.setter", "    def twice(self, value):", "        self.bump(1, True)", f"        self.{f} = value"]
            c["twice"] = kind
        c["methods"] = set(base["methods"]) if base else set()
        for m in r.sample(list(METHODS), r.choice([0, 0, 1, 2, 3])):
            c["methods"].add(m)
            lines += [line.format(c=name) for line in METHODS[m]]
        head = []
        if declared:
            # Equality of all fields goes round in rings, and arrays have none.
            plain = all(len(f) == 2 and f[1] != "array" for f in c["fields"])
            c["unhashable"] = plain and "__eq__" not in c["methods"] and r.random() < 0.5
            head = ["@dataclass" if c["unhashable"] else "@dataclass(eq=False, repr=False)"]
        return [*head, f"class {name}" + (f"({base['name']})" if base else "") + ":", *lines, ""]

    def declarations(self, c):
        """Fields of a dataclass, in the order of the parameters."""
        lines = [f"    {f[0]}: object" + (" = None" if len(f) == 3 else "") for f in c["params"]]
        for f in c["own"]:
            if f not in c["params"]:
                made = {"object": "None", "objects": "[]", "named": "{}"}[f[1]] if len(f) == 3 else self.constant(f[1])
                lines.append(f"    {f[0]}: object = field(init=False, default_factory=lambda: {made})")
        return lines

    def make_init(self, c, texts):
        lines, base = [f"    def __init__({', '.join(['self', *texts])}):"], c["base"]
        if base:
            lines.append(f"        super().__init__({', '.join(f[0] for f in base['params'])})")
        for f in c["own"]:
            value = f[0] if f in c["own_params"] else {"object": "None", "objects": "[]", "named": "{}"}[f[1]] if len(f) == 3 else self.constant(f[1])
            lines.append(f"        self.{f[0]} = {value}")
        return lines if len(lines) > 1 else [*lines, "        pass"]

    def constant(self, kind):
        return {"int": "1", "float": "2.5", "str": "'s'", "bool": "True", "tuple": "(3, 't')", "list": "[4]", "dict": "{'a': 5}", "set": "{6}", "array": "np.zeros(2)", "maybe": "None", "title": "None", "lists": "[[8]]", "pairs": "{'a': (9, 1.5)}"}[kind]

    def rank_of(self, c):
        parts = [NUMBER[kind].format(x=f"self.{f}") for f, kind in (f for f in c["own"] if len(f) == 2)]
        parts += [f"len(self.{f})" if kind != "object" else f"(3 if self.{f} is None else 4)" for f, kind, _ in (f for f in c["own"] if len(f) == 3)]
        if c["base"]:
            parts.append("super().rank()")
        return " + ".join(parts)

    def make_bump(self, c):
        """A method that changes fields, and may leave half-way."""
        r = self.r
        lines = ["    def bump(self, n, c):", "        i = n"]
        changed = r.sample(c["fields"], min(len(c["fields"]), r.randint(1, 3)))
        for k, f in enumerate(changed):
            if k and r.random() < 0.3:
                lines += [f"        if n == {r.randint(0, 4)}:", "            raise ValueError(f'at {n}')"]
            if len(f) == 2:
                lines.append("        " + self.change(f"self.{f[0]}", f[1]))
            elif f[1] == "objects":
                lines.append(r.choice([f"        for k in self.{f[0]}:\n            n += k.rank()", f"        self.{f[0]}.reverse()", f"        if len(self.{f[0]}) > 2:\n            self.{f[0]}.pop()"]))
            elif f[1] == "object":
                lines.append(r.choice([f"        if self.{f[0]} is not None and n > 3:\n            self.{f[0]} = None", f"        if self.{f[0]} is not None:\n            n += self.{f[0]}.rank()"]))
            else:
                lines.append(f"        self.{f[0]} = dict(self.{f[0]})")
        return [*lines, "        return self"]

    def change(self, x, kind):
        made = {k: self.r.choice(v) for k, v in PLAIN.items()}
        return self.r.choice(CHANGES[kind] + ["{x} = {made}"]).format(x=x, made=made[kind], **made)

    # ---- arguments

    def make_arguments(self, numbers):
        r, lines, pool = self.r, [], {c["name"]: [] for c in self.classes}
        for c in self.classes:
            for k in range(r.randint(1, 3)):
                v = f"v{c['name'][1:]}{k}"
                pool[c["name"]].append(v)
                lines.append(f"{v} = {c['name']}({', '.join(self.argument(f) for f in c['params'] if len(f) == 2)})")
        for c in self.classes:
            for v in pool[c["name"]]:
                for f in c["fields"]:
                    if len(f) == 3:
                        other = lambda: r.choice([v for k in self.kinds(self.classes[f[2]]) for v in pool[k["name"]]])
                        if f[1] == "object" and r.random() < 0.7:
                            lines.append(f"{v}.{f[0]} = {other()}")
                        elif f[1] == "objects":
                            lines += [f"{v}.{f[0]}.append({other()})" for _ in range(r.randint(0, 3))]
                        elif f[1] == "named" and r.random() < 0.7:
                            lines.append(f"{v}.{f[0]}[{r.choice('kab')!r}] = {other()}")
                    elif f[1] in ("list", "array", "dict", "set", "lists", "pairs") and r.random() < 0.2:
                        lines.append(f"{v}.{f[0]} = {r.choice(pool[c['name']])}.{f[0]}")
                if c["late"] and r.random() < 0.5:
                    lines.append(f"{v}.late = 1")
        given = []
        for v, c in self.passed:
            of = [r.choice(pool[c["name"]]) for _ in range(3)]
            given.append(f"[{', '.join(of)}]" if v == "ps" else of[0])
        between = [f"    for y in {'args[' + str(k) + ']' if v == 'ps' else '[args[' + str(k) + ']]'}:\n        i, n, c = 2, 1, False\n        {self.one_change(c, 'y')}" for k, (v, c) in enumerate(self.passed)]
        return ["def between(args):", *between, "    return args", "",
                "def arguments():", "    n, i, c = 1, 2, True", *("    " + line for line in lines), f"    return ({', '.join([*given, *map(repr, numbers)])})", ""]

    def argument(self, f):
        return self.r.choice(PLAIN[f[1]])

    # ---- statements

    def line(self, text):
        self.lines += ["    " * self.depth + line for line in text.split("\n")]

    def new(self, prefix):
        self.names += 1
        return f"{prefix}{self.names}"

    def shown(self, text):
        self.line(f"log.append(repr({text}))")

    def kinds(self, c):
        """The classes whose objects are put where one of a class is held."""
        return [k for k in self.classes if k is c or self.derived and k["base"] is c]

    def held_by(self, c):
        return [v for v, k in self.variables.items() if k in self.kinds(c)]

    def of(self, c):
        return [v for v, k in self.variables.items() if k is c]

    def some(self, c):
        return self.r.choice(self.of(c))

    def make_variable(self, c):
        v = self.new("x")
        self.line(f"{v} = {self.instance(c)}")
        self.variables[v] = c

    def instance(self, c):
        given = []
        for f in c["params"]:
            if len(f) == 2:
                given.append(self.r.choice(PLAIN[f[1]]))
            elif self.r.random() < 0.3 and self.of(self.classes[f[2]]):
                given.append(f"{f[0]}={self.r.choice(self.held_by(self.classes[f[2]]))}")
        return f"{c['name']}({', '.join(given)})"

    def statement(self):
        c = self.r.choice([c for c in self.classes if self.of(c)])
        v, w = self.some(c), self.some(c)
        ways = ["make", "change", "change", "change", "assign", "bump", "bump_all", "half", "identity", "list", "lambda", "generator", "call", "isinstance", "union", "match", "keys", "sort", "loop", "swap", "share", "raise", "best", "deep", "copy", "pause", "nested", "bound", "thrown", "counted", "mixed"]
        ways += ["link"] * 4 if any(len(f) == 3 for f in c["fields"]) else []
        if c.get("unhashable") or c["base"] and c["base"].get("unhashable"):
            ways.remove("keys")
        ways += ["late", "unset"] if c["late"] else []
        ways += ["twice"] if c["twice"] else []
        ways += [m for m in c["methods"] if m != "__hash__"] * 2
        way = self.r.choice(ways)
        name = {"__call__": "do_calls"}.get(way, "do_" + way.strip("_"))
        getattr(self, name)(c, v, w)

    def field(self, c):
        return self.r.choice(self.plain(c)) if self.plain(c) else (None, None)

    def seen(self, v, f, kind):
        """A field in an order that is the same everywhere."""
        return f"sorted({v}.{f})" if kind == "set" else f"{v}.{f}"

    def do_make(self, c, v, w):
        self.make_variable(c)

    def do_change(self, c, v, w):
        f, kind = self.field(c)
        if f:
            self.line(self.change(f"{v}.{f}", kind))

    def do_assign(self, c, v, w):
        f, kind = self.field(c)
        if f:
            self.line(f"{v}.{f} = {w}.{f}")
            self.shown(f"({self.seen(v, f, kind)}, {self.seen(w, f, kind)})")

    def do_swap(self, c, v, w):
        f, kind = self.field(c)
        if f:
            self.line(f"{v}.{f}, {w}.{f} = {w}.{f}, {v}.{f}")

    def do_share(self, c, v, w):
        """A container that stands in two objects, or outside as well."""
        f, kind = self.field(c)
        if kind in ("list", "dict", "set", "array", "lists", "pairs"):
            t = self.new("t")
            self.line(f"{t} = {v}.{f}")
            self.line(f"{w}.{f} = {t}")
            self.line(self.change(f"{v}.{f}", kind))
            self.shown(f"({self.seen(v, f, kind)}, {self.seen(w, f, kind)}, len({t}), {t} is {w}.{f})")

    def do_bump(self, c, v, w):
        self.line(f"{v}.bump({self.r.choice(['n', 'i', '2', '7'])}, c).bump(9, not c)")
        self.shown(f"({v}.rank(), {w}.rank())")

    def do_bump_all(self, c, v, w):
        xs = self.new("xs")
        self.line(f"{xs} = [{v}, {w}, {v}]\nfor k, y in enumerate({xs}):\n    y.bump(k + 5, c)")
        self.shown(f"[y.rank() for y in {xs}]")

    def do_half(self, c, v, w):
        k = self.r.choice(["n", "i", "1", "3"])
        end = self.r.choice(["", f"\nfinally:\n    {self.one_change(c, w)}", f"\nelse:\n    {self.one_change(c, w)}"])
        self.line(f"try:\n    {self.one_change(c, v)}\n    {v}.bump({k}, c)\n    {self.one_change(c, v)}\nexcept ValueError as e:\n    log.append(str(e)){end}")

    def one_change(self, c, v):
        f, kind = self.field(c)
        return self.change(f"{v}.{f}", kind) if f else "pass"

    def do_raise(self, c, v, w):
        if self.r.random() < 0.3:
            self.line(f"if {v}.rank() % 5 == {self.r.randint(0, 4)}:\n    raise KeyError({self.r.choice([repr('gone'), v + '.rank()'])})")

    def do_identity(self, c, v, w):
        self.shown(f"({v} is {w}, {v} is not {w}, same({v}) is {v}, {v} in [{w}], [{w}, {v}].index({v}), [{v}, {w}].count({w}), ({v}, 1)[0] is {v})")

    def do_list(self, c, v, w):
        xs = self.new("xs")
        self.line(f"{xs} = [{v}, {w}]\n{xs}.append({v})\n{xs}[0] = {w}")
        self.line(f"{xs}[n % 3].bump(6, c)")
        self.shown(f"([y is {v} for y in {xs}], [y.rank() for y in {xs}[::-1]], len({xs}))")
        if self.r.random() < 0.3:
            self.line(f"{v} = {xs}[i % 3]")

    def do_sort(self, c, v, w):
        self.shown(f"([y.rank() for y in sorted([{v}, {w}, {v}], key=lambda y: y.rank())], max([{v}, {w}], key=lambda y: y.rank()) is {v})")

    def do_lambda(self, c, v, w):
        g = self.new("g")
        self.line(f"def {g}(k):\n    {self.one_change(c, v)}\n    return {w}.rank() + k")
        self.shown(f"({g}(1), {g}(n), {v}.rank())")

    def do_generator(self, c, v, w):
        self.shown(f"([y.rank() for y in each({v}, 2)], [y is {v} for y in each({w}, n)], sum(y.rank() for y in [{v}, {w}]))")

    def do_call(self, c, v, w):
        u = self.new("x")
        self.line(f"{u} = same({v})" if self.r.random() < 0.5 else f"{u} = same([{v}, {w}])[n % 2]")
        self.variables[u] = c

    def do_loop(self, c, v, w):
        t = self.new("t")
        self.line(f"{t} = {v}\nfor k in range(n + 2):\n    {t}.bump(k + 5, c)\n    {t} = {w} if k % 2 else {v}")
        self.shown(f"({t} is {v}, {t}.rank())")

    def do_isinstance(self, c, v, w):
        asked = ", ".join(f"isinstance({v}, {k['name']})" for k in self.classes)
        self.shown(f"({asked}, type({v}) is {c['name']}, type({v}).__name__, hasattr({v}, 'rank'), hasattr({v}, 'no'))")

    def do_union(self, c, v, w):
        others = [u for u, k in self.variables.items() if k is not c]
        if others:
            u, other = self.new("u"), self.r.choice(others)
            self.line(f"{u} = {v} if c else {other}")
            self.line(f"{u}.bump(5, c)")
            self.shown(f"({u}.rank(), isinstance({u}, {c['name']}), {u} is {v}, type({u}).__name__)")
            self.line(f"for y in [{v}, {other}]:\n    y.bump(8, c)\n    if isinstance(y, {c['name']}):\n        {self.one_change(c, 'y')}")

    def do_match(self, c, v, w):
        f, kind = self.field(c)
        if f and kind != "set":
            self.line(f"match {v}:")
            if kind in ("int", "str", "bool"):
                value = {"int": "1", "str": "'x'", "bool": "True"}[kind]
                self.line(f"    case {c['name']}({f}={value}):\n        log.append('value')")
            self.line(f"    case {c['name']}({f}=got):\n        log.append(repr(got))")

    def do_keys(self, c, v, w):
        d = self.new("d")
        self.line(f"{d} = {{{v}: 1}}\n{d}[{w}] = {d}.get({w}, 5) + 1")
        self.shown(f"(len({d}), {w} in {d}, list({d}.values()), len({{{v}, {w}, {v}}}), {d}[{v}])")

    def do_late(self, c, v, w):
        self.shown(f"({v}.later(n), {v}.late)")

    def do_unset(self, c, v, w):
        self.line(f"try:\n    log.append(str({v}.late))\nexcept AttributeError as e:\n    log.append(str(e))")
        self.shown(f"hasattr({w}, 'late')")

    def do_twice(self, c, v, w):
        self.line(f"{v}.twice = {self.r.choice(PLAIN[c['twice']])}")
        self.shown(f"({self.seen(v, 'twice', c['twice'])}, {self.seen(w, 'twice', c['twice'])})")

    def do_link(self, c, v, w):
        r = self.r
        f, way, k = r.choice([f for f in c["fields"] if len(f) == 3])
        k = self.classes[k]
        x = f"{v}.{f}"
        if not self.of(k):
            return
        o, p = r.choice(self.held_by(k)), r.choice(self.held_by(k))
        if way == "object":
            forms = [f"{x} = {o}", f"{x} = {o} if c else None", f"{x} = {w}.{f}", f"{x} = {self.instance(k)}", f"{x} = None", f"if {x} is not None:\n    {x}.bump(6, c)\n    log.append(str({x}.rank()))\n    log.append(str({x} is {o}))"]
            if k is c:
                forms += [f"y = {v}\nfor k in range(5):\n    if y.{f} is None:\n        break\n    y = y.{f}\n    {self.one_change(c, 'y')}", f"{x} = {v}", f"{v}.{f}, {w}.{f} = {w}.{f}, {v}.{f}", f"if {x} is not None:\n    {x} = {x}.{f}", f"y = {v}\nk = 0\nwhile y is not None and k < 7:\n    k += y.rank() % 2 + 1\n    y = y.{f}\nlog.append(str(k))", f"{v} = {v} if {x} is None else {x}"]
            else:
                forms += [f"try:\n    {x}.bump(5, c)\nexcept AttributeError as e:\n    log.append(str(e))"]
        elif way == "objects":
            forms = [f"{x}.append({o})", f"{x} = [{o}, {p}]", f"for y in {x}:\n    y.bump(9, c)", f"{x}.insert(0, {self.instance(k)})", f"if {o} in {x}:\n    {x}.remove({o})", f"if {x}:\n    log.append(str({x}.pop() is {o}))", f"{x} += [{p}]", f"{w}.{f} = {x}", f"{w}.{f} = {x}[::-1]", f"{x}.sort(key=lambda y: y.rank())", f"log.append(str([y.rank() for y in {x} if y is not {p}]))", f"if {x}:\n    {x}[-1].bump(6, not c)\n    {self.one_change(k, x + '[0]')}"]
        else:
            forms = [f"{x}['k'] = {o}", f"{x} = {{'a': {o}, str(n): {p}}}", f"for key, y in {x}.items():\n    y.bump(8, c)\n    log.append(key)", f"log.append(str('k' in {x} and {x}['k'] is {o}))", f"{x}.pop('k', {p}).bump(6, c)", f"{x}.setdefault('z', {o}).bump(5, c)", f"{w}.{f} = {x}", f"log.append(str(sum(y.rank() for y in {x}.values())))", f"try:\n    {self.one_change(k, x + chr(91) + repr('k') + chr(93))}\nexcept KeyError as e:\n    log.append(str(e))"]
        self.line(r.choice(forms))

    def do_best(self, c, v, w):
        b = self.new("b")
        self.line(f"{b} = None\nfor y in [{v}, {w}, {self.instance(c)}]:\n    if {b} is None or y.rank() > {b}.rank():\n        {b} = y\nif {b} is not None:\n    {self.one_change(c, b)}")
        self.shown(f"({b} is {v}, {b} is {w})")

    def do_deep(self, c, v, w):
        self.shown(f"({v}.deep(3), {w}.deep(n))")

    def do_copy(self, c, v, w):
        u = self.new("x")
        self.line(f"{u} = copy.{self.r.choice(['copy', 'deepcopy'])}({v})")
        self.line(self.one_change(c, u))
        self.shown(f"({u} is {v}, {u}.rank(), {v}.rank())")
        self.variables[u] = c

    def do_pause(self, c, v, w):
        it = self.new("it")
        self.line(f"{it} = each({v}, n + 2)\nlog.append(str(next({it}) is {w}))\n{self.one_change(c, v)}\nfor y in {it}:\n    log.append(str(y.rank()))\n    if y.rank() % 3 == 0:\n        break")

    def do_nested(self, c, v, w):
        xs = self.new("xs")
        form = self.r.choice([f"{{'a': [{v}, {w}], 'b': [{w}]}}", f"{{'a': ({v}, {w}), 'b': ({w}, {w})}}", f"[[{v}, {w}], [{w}]]", f"[({v}, {w}), ({w}, {v})]"])
        at = ["'a'", "'b'"] if form[0] == "{" else ["0", "1"]
        self.line(f"{xs} = {form}\n{xs}[{at[0]}][0].bump(6, c)\n{self.one_change(c, f'{xs}[{at[1]}][0]')}")
        self.shown(f"({xs}[{at[0]}][1] is {w}, {xs}[{at[1]}][-1].rank(), len({xs}))")

    def do_bound(self, c, v, w):
        f = self.new("f")
        self.line(f"{f} = {v}.bump" if self.r.random() < 0.5 else f"{f} = [{v}.bump, {w}.bump][n % 2]")
        self.shown(f"({f}(5, c) is {v}, [y(6, not c).rank() for y in [{v}.bump, {w}.bump]], {w}.rank())")

    def do_thrown(self, c, v, w):
        self.line(f"try:\n    {self.one_change(c, v)}\n    if {v}.rank() % 2:\n        raise LookupError('odd', {v}.rank())\n    raise KeyError(n)\nexcept KeyError as e:\n    log.append(repr(e))\n    {self.one_change(c, w)}\nexcept LookupError as e:\n    log.append(str(e))")

    def do_counted(self, c, v, w):
        self.shown(f"({v}.count(), {w}.total, {c['name']}.total, {v}.count(), {v}.total, {v}.label)")

    def do_mixed(self, c, v, w):
        """A field or a list that holds objects of several classes."""
        u = self.r.choice(list(self.variables))
        h = self.new("h")
        self.line(f"{h} = Holder({v})\nif c:\n    {h}.held = {u}\n{h}.all.append({w})\n{h}.all.append({u})")
        self.shown(f"({h}.go(n), {h}.held is {v}, [y.rank() for y in {h}.all])")
        if self.r.random() < 0.3:
            self.line(f"{h}.held, {h}.all[0] = {h}.all[0], {h}.held")
            self.shown(f"({h}.go(5), [y is {u} for y in {h}.all])")

    def do_eq(self, c, v, w):
        self.shown(f"({v} == {w}, {v} != {w}, {v} == {v}, {v} in [{w}, {v}], [{v}] == [{w}], {v} == 3, hash({v}) == hash({w}))")

    def do_lt(self, c, v, w):
        self.shown(f"({v} < {w}, {w} > {v}, [y.rank() for y in sorted([{v}, {w}, {v}])], min({v}, {w}).rank(), max([{w}, {v}]).rank())")

    def do_repr(self, c, v, w):
        self.shown(f"({v}, str({w}), f'{{{v}}}', f'{{{v}!r:>30}}', [{v}])")

    def do_bool(self, c, v, w):
        self.shown(f"(bool({v}), not {w}, 1 if {v} else 2, [1 for y in [{v}, {w}] if y], any([{w}]), ({v} and {w}) is {v})")

    def do_len(self, c, v, w):
        self.shown(f"(len({v}), bool({w}))")

    def do_add(self, c, v, w):
        self.shown(f"({v} + {w}, {v} + n)")

    def do_iadd(self, c, v, w):
        u = self.new("u")
        self.line(f"{u} = {v}\n{u} += 6")
        self.shown(f"({u} is {v}, {v}.rank())")

    def do_calls(self, c, v, w):
        self.shown(f"({v}(9) is {v}, {w}(k=n + 5).rank())")

    def do_getitem(self, c, v, w):
        self.shown(f"({v}[n], {w}['k'])")

    def do_setitem(self, c, v, w):
        self.line(f"{v}[n + 5] = i")

    def do_contains(self, c, v, w):
        self.shown(f"(n in {v}, 1 not in {w})")

    def do_enter(self, c, v, w):
        self.line(f"with {v} as y:\n    log.append(str(y is {v}))\n    {self.one_change(c, 'y')}\n    if n == {self.r.randint(0, 4)}:\n        raise ValueError(str(y.rank()))\n    {self.one_change(c, v)}")

    def do_iter(self, c, v, w):
        self.shown(f"([k for k in {v}], list({w}), sum({v}))")

    def do_next(self, c, v, w):
        self.line(f"try:\n    log.append(str(next({v})))\nexcept StopIteration:\n    log.append('end')")


def walked(root):
    """A graph as a value: equal where values, types and what is one object agree. A number that NumPy made is the number."""
    numbers, kept = {}, []

    def walk(x):
        if isinstance(x, (np.float64, np.int64, np.bool_)):
            x = x.item()
        t = type(x)
        if x is None or t in (int, float, bool, str):
            return t.__name__, repr(x)
        if t is tuple:
            return tuple(walk(y) for y in x)
        # An array comes back as a view of its memory each time.
        one = (x.ctypes.data, x.strides, x.shape) if t is np.ndarray else id(x)
        if one in numbers:
            return "again", numbers[one]
        numbers[one] = len(numbers)
        kept.append(x)
        if t is np.ndarray:
            return "array", x.dtype.name, repr(x.tolist())
        if t is list:
            return "list", [walk(y) for y in x]
        if t is dict:
            return "dict", [(walk(k), walk(y)) for k, y in x.items()]
        if t is set:
            return "set", sorted(map(repr, x))
        names = {*getattr(x, "__dict__", {}), *(n for k in t.__mro__ for n in getattr(k, "__slots__", ()))}
        return t.__name__, [(n, walk(getattr(x, n))) for n in sorted(names) if hasattr(x, n)]

    return walk(root)


def differs(want, got):
    """The first place where two walked graphs differ."""
    if type(want) is not type(got) or not isinstance(want, (tuple, list)) or len(want) != len(got):
        return f"expected {want}, got {got}"
    return next((f"[{k}]{differs(a, b)}" for k, (a, b) in enumerate(zip(want, got)) if a != b), None)


class Objects(Fuzzer):
    def check(self, seed, compiled=tierup.njit):
        return self.look_at(self.make(seed).source, seed, compiled)

    def look_at(self, source, seed, compiled=tierup.njit):
        space = {}
        exec(compile(source, f"<objects {seed}>", "exec"), space)
        oracle, main = space["main"], compiled(space["main"])
        wanted, given = space["arguments"](), space["arguments"]()
        for call in ("first", "second"):
            if call == "second":
                space["between"](wanted)
                space["between"](given)
            outcomes = []
            for f, arguments in ((oracle, wanted), (main, given)):
                try:
                    outcomes.append(("returned", f(*arguments)))
                except RecursionError as e:
                    outcomes.append(("raised", "RecursionError"))
                except Exception as e:
                    if isinstance(e, self.raises) and not isinstance(e, TypeError):
                        outcomes.append(("raised", *self.of_exception(e)))
                        continue
                    if not isinstance(e, TypeError):
                        return f"{type(e).__name__}: {e}"
                    text = str(e).splitlines()[0]
                    return f"refused: {text}" if any(r in text for r in (*REFUSALS, *OWN_REFUSALS)) else f"{type(e).__name__}: {e}"
            want, got = walked((outcomes[0], wanted)), walked((outcomes[1], given))
            if want != got:
                return f"{call} call, {differs(want, got)}"
        return None


OWN_REFUSALS = ("[unsupported-argument]",)
FUZZER = Objects("objects", Program, None, (ValueError, KeyError, AttributeError, IndexError), lambda e: (type(e).__name__, str(e)))
check, run = FUZZER.check, FUZZER.run

if __name__ == "__main__":
    sys.setrecursionlimit(5000)
    exit_with(FUZZER, __doc__)
