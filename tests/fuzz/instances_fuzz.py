"""Random programs over frozen dataclasses and enumerations: classes with random fields, defaults, bases, methods and options; instances that are made, replaced, compared, hashed, shown, put into lists, dicts and sets, matched, caught in exceptions, captured and yielded.

    python tests/fuzz/instances_fuzz.py --seconds 600 --seed 1

The classes belong to the program, so each program has classes of its own. The oracle is CPython.
"""

import random

from containers_driver import Fuzzer, exit_with

FIELDS = {
    "int": ["i", "n", "7", "-3", "i % 3", "n * 2", "len(log)"],
    "float": ["i * 0.5", "0.0", "-0.0", "2.5", "n + 0.25"],
    "str": ["str(i)", "'x'", "'é'", "'a' * n", "f'{n}'"],
    "bool": ["c", "(not c)", "n > 1", "i > 0"],
    "tuple": ["(i, 'x')", "(n, str(i))", "(7, 'y')"],
    "list": ["[i]", "[n, 1]", "[i] * 2"],
    "member": ["Kind.A", "Kind.B", "(Kind.A if c else Kind.B)", "Kind(i % 2 + 1)", "list(Kind)[n % 2]"],
}
CONSTANT = {"int": "5", "float": "1.5", "str": "'d'", "bool": "True", "tuple": "(1, 'd')", "member": "Kind.B"}
OPTIONS = ["", "", "order=True", "slots=True", "kw_only=True", "order=True, slots=True", "repr=False", "eq=True"]

METHODS = {
    "__eq__": ["    def __eq__(self, other):", "        if not isinstance(other, {c}):", "            return NotImplemented", "        return self.{f} == other.{f}"],
    "__lt__": ["    def __lt__(self, other):", "        return self.rank() < other.rank()"],
    "__repr__": ["    def __repr__(self):", "        return f'<{c} {{self.{f}!r}}>'"],
    "__str__": ["    def __str__(self):", "        return 'a {c}'"],
    "__bool__": ["    def __bool__(self):", "        return self.rank() > 1"],
    "__len__": ["    def __len__(self):", "        return self.rank() % 4"],
    "__add__": ["    def __add__(self, other):", "        return self.rank() + (other if isinstance(other, int) else other.rank())"],
    "__radd__": ["    def __radd__(self, other):", "        return self.rank() * 10 + other"],
    "__call__": ["    def __call__(self, k=2):", "        return self.rank() * k"],
    "__getitem__": ["    def __getitem__(self, k):", "        return (self.rank(), k)"],
    "__contains__": ["    def __contains__(self, x):", "        return self.rank() == x"],
    "__hash__": ["    def __hash__(self):", "        return self.rank() % 5"],
}


class Program:
    def __init__(self, seed):
        self.r = r = random.Random(seed)
        self.classes, self.lines, self.names, self.depth = [], [], 0, 1
        self.enumeration = r.choice(["Enum", "Enum", "IntEnum", "IntFlag"])
        head = ["from dataclasses import dataclass, field, replace, asdict, astuple", "from enum import Enum, IntEnum, IntFlag", "", f"class Kind({self.enumeration}):"]
        values = r.choice([("1", "2"), ("1", "2"), ("2", "1")])
        head += [f"    A = {values[0]}", f"    B = {values[1]}", "    def turned(self):", "        return Kind.B if self is Kind.A else Kind.A", "    @property", "    def low(self):", "        return self.name.lower()", ""]
        for _ in range(r.randint(1, 3)):
            head += self.make_class()
        head += ["def each(x, n):", "    for _ in range(n):", "        yield x", "", "def same(x):", "    return x", ""]
        self.variables = {}
        self.begin()
        for _ in range(r.randint(4, 14)):
            self.statement()
        self.source = "\n".join(head) + "\ndef main(n, i, c):\n    log = ['']\n" + "\n".join(self.lines) + "\n    return log\n"
        self.arguments = (r.randint(0, 4), r.randint(0, 6), r.random() < 0.5)

    # ---- classes

    def make_class(self):
        r, name = self.r, f"C{len(self.classes)}"
        base = r.choice([c for c in self.classes if not c["options"]] or [None]) if r.random() < 0.3 else None
        options = "" if base else r.choice(OPTIONS)
        own = [(f"{r.choice('abcd')}{len(self.classes)}{k}", r.choice(list(FIELDS))) for k in range(r.randint(0 if base else 1, 3))]
        lines, fields = [], list(base["fields"]) if base else []
        defaults = bool(base and any(d for _, _, d in base["fields"]))
        for f, kind in own:
            defaults = defaults or r.random() < 0.3
            default = None
            if defaults:
                default = "field(default_factory=list)" if kind == "list" else CONSTANT[kind]
            fields.append((f, kind, default))
            lines.append(f"    {f}: object" + (f" = {default}" if default else ""))
        fits = [m for m in METHODS if not (m == "__lt__" and "order" in options or m == "__repr__" and "repr=False" in options)]
        if any(kind == "member" for _, kind, _ in fields) and "order" in options:
            options = ""
        own_methods = r.sample(fits, r.choice([0, 0, 1, 2, 3]))
        if "repr=False" in options:
            own_methods.append("__repr__")
        c = {"name": name, "fields": fields, "options": options, "methods": set(own_methods) | (base["methods"] if base else set()), "base": base}
        # An own __eq__ takes the generated hash of a frozen class away only where it is written with one.
        f = fields[0][0]
        lines += ["    def rank(self):"] + [f"        return {self.rank_of(fields)}" + (" + super().rank()" if base and r.random() < 0.5 else "")]
        for m in own_methods:
            lines += [line.format(c=name, f=f) for line in METHODS[m]]
        if r.random() < 0.3:
            lines += ["    @property", "    def twice(self):", "        return self.rank() * 2"]
            c["twice"] = True
        if r.random() < 0.3:
            lines += ["    @classmethod", "    def make(cls, *given):", "        return cls(*given)"]
            c["make"] = "kw_only" not in options
        if r.random() < 0.2:
            lines += ["    def __post_init__(self):", "        if self.rank() > 12:", "            raise ValueError(self.rank())"]
        self.classes.append(c)
        return [f"@dataclass(frozen=True{', ' + options if options else ''})", f"class {name}" + (f"({base['name']})" if base else "") + ":", *lines, ""]

    def rank_of(self, fields):
        parts = []
        for f, kind, _ in fields:
            parts.append({"int": f"self.{f}", "bool": f"int(self.{f})", "float": f"int(self.{f})", "member": f"self.{f}.value"}.get(kind, f"len(self.{f})"))
        return " + ".join(parts)

    # ---- statements

    def line(self, text):
        self.lines.append("    " * self.depth + text)

    def new(self, prefix):
        self.names += 1
        return f"{prefix}{self.names}"

    def instance(self, c):
        """An expression that makes an instance."""
        r, given = self.r, []
        keyword = "kw_only" in c["options"]
        for f, kind, default in c["fields"]:
            if default and r.random() < 0.4:
                keyword = True
                continue
            value = r.choice(FIELDS[kind])
            given.append(f"{f}={value}" if keyword or r.random() < 0.2 else value)
            keyword = keyword or "=" in given[-1] and given[-1].startswith(f + "=")
        maker = f"{c['name']}.make" if c.get("make") and not any("=" in g and g.split("=")[0].isidentifier() for g in given) else c["name"]
        return f"{maker}({', '.join(given)})"

    def begin(self):
        for c in self.classes:
            for _ in range(2):
                v = self.new("x")
                self.attempt(f"{v} = {self.instance(c)}", f"{v} = None")
                self.variables[v] = c

    def attempt(self, line, otherwise):
        c = self.classes
        if any("__post_init__" in str(k) for k in c) or self.r.random() < 0.1:
            self.line("try:")
            self.line("    " + line)
            self.line("except ValueError as e:")
            self.line("    log.append(str(e))")
            self.line("    return log")
        else:
            self.line(line)

    def pair(self):
        c = self.r.choice(self.classes)
        of = [v for v, k in self.variables.items() if k is c]
        return c, self.r.choice(of), self.r.choice(of)

    def hashable(self, c):
        kinds = {kind for _, kind, _ in c["fields"]}
        own = {"__eq__", "__hash__"} & c["methods"]
        return "list" not in kinds and not own

    def shown(self, text):
        self.line(f"log.append(repr({text}))")

    def statement(self):
        r = self.r
        c, v, w = self.pair()
        f, kind, _ = r.choice(c["fields"])
        ways = ["eq", "text", "field", "replace", "list", "if", "loop", "match", "call", "tuple", "lambda", "generator", "isinstance", "raise", "member", "rank"]
        if self.hashable(c):
            ways += ["dict", "set", "hash"]
        if "order=True" in c["options"] or "__lt__" in c["methods"]:
            ways += ["order", "sorted"]
        ways += [m for m in ("__bool__", "__len__", "__add__", "__radd__", "__call__", "__getitem__", "__contains__") if m in c["methods"]]
        if len(self.classes) > 1:
            ways += ["union", "mixed"]
        way = r.choice(ways)
        getattr(self, "do_calls" if way == "__call__" else "do_" + way.strip("_"))(c, v, w, f, kind)

    def do_eq(self, c, v, w, f, kind):
        self.shown(f"({v} == {w}, {v} != {w}, {v} == {v}, {v} in [{w}, {v}], [{v}] == [{w}], {v} == 3)")

    def do_text(self, c, v, w, f, kind):
        self.shown(f"(repr({v}), str({v}), f'{{{v}}}', f'{{{v}!r:>30}}', str([{v}]))")

    def do_field(self, c, v, w, f, kind):
        self.shown(f"({v}.{f}, getattr({w}, '{f}'), hasattr({v}, 'none'))")
        if kind == "list":
            self.line(f"{v}.{f}.append(len({v}.{f}))")

    def do_replace(self, c, v, w, f, kind):
        self.attempt(f"{v} = replace({w}, {f}={self.r.choice(FIELDS[kind])})", "")
        self.shown(f"({v}.rank(), {v} == {w})")

    def do_list(self, c, v, w, f, kind):
        xs = self.new("xs")
        self.line(f"{xs} = [{v}, {w}, {v}]")
        self.line(f"{xs}.append({w})")
        self.line(f"{xs}[0] = {w}")
        self.shown(f"({xs}, {xs}[1].{f}, {xs}.index({w}), {xs}.count({v}), {xs}[::-1] == {xs}, [y.rank() for y in {xs}])")

    def do_if(self, c, v, w, f, kind):
        self.line(f"{v} = {w} if c else {v}")
        self.shown(f"{v}.rank()")

    def do_loop(self, c, v, w, f, kind):
        t = self.new("t")
        self.line(f"{t} = 0")
        self.line(f"for {t}k in range(n + 2):")
        self.line(f"    {v} = {w} if {t}k % 2 else {v}")
        self.line(f"    {t} += {v}.rank()")
        self.shown(f"({t}, {v})")

    def do_match(self, c, v, w, f, kind):
        value = {"int": "7", "float": "2.5", "str": "'x'", "bool": "True", "member": "Kind.A"}.get(kind)
        self.line(f"match {v}:")
        if value:
            self.line(f"    case {c['name']}({f}={value}):")
            self.line("        log.append('value')")
        self.line(f"    case {c['name']}({f}=got):")
        self.line("        log.append(repr(got))")

    def do_call(self, c, v, w, f, kind):
        self.shown(f"(same({v}), same(({v}, {w}))[1], same([{v}])[0].{f})")
        if c.get("twice"):
            self.shown(f"{v}.twice")

    def do_tuple(self, c, v, w, f, kind):
        self.shown(f"(({v}, n), ({v}, 1) == ({w}, 1), astuple({v}) == astuple({w}))" if kind != "list" and not any(k == "list" for _, k, _ in c["fields"]) else f"({v}, n)")

    def do_lambda(self, c, v, w, f, kind):
        g = self.new("g")
        self.line(f"{g} = lambda k: ({v}.{f}, k, {w})")
        self.shown(f"{g}(n)")

    def do_generator(self, c, v, w, f, kind):
        self.shown(f"([y.rank() for y in each({v}, 2)], list(each({w}, n)), sum(y.rank() for y in [{v}, {w}]))")

    def do_isinstance(self, c, v, w, f, kind):
        others = ", ".join(f"isinstance({v}, {k['name']})" for k in self.classes)
        self.shown(f"({others}, type({v}) is {c['name']}, type({v}).__name__, isinstance({v}, tuple))")

    def do_raise(self, c, v, w, f, kind):
        self.line("try:")
        self.line("    if n % 2:")
        self.line(f"        raise KeyError({v})")
        self.line(f"    raise ValueError('no', {w}, {v}.rank())")
        self.line("except (KeyError, ValueError) as e:")
        self.line("    log.append(repr(e) + str(e))")

    def do_member(self, c, v, w, f, kind):
        k = self.new("k")
        self.line(f"{k} = {self.r.choice(FIELDS['member'])}")
        self.shown(f"({k}, {k}.name, {k}.value, {k}.turned(), {k}.low, {k} is Kind.A, {k} == {k}.turned(), str({k}), f'{{{k}:>8}}', [y for y in Kind if y is not {k}], {{{k}: n}}[{k}], len(Kind), {k} in (Kind.A,), Kind[{k}.name])")
        if self.enumeration != "Enum":
            self.shown(f"({k} + n, {k} < 2, 2 >= {k}, [5, 6, 7][{k}], {k} == 1, {k} in {{1, 9}}, 1 in {{{k}}}, {{1: 'one'}}.get({k}), f'{{{k}:03d}}', '%d %s %r' % ({k}, {k}, {k}), [{k}] == [2], ({k}, 'b') < (2, 'a'), sorted(Kind), {k} | 1, ~{k}, {k}.bit_length(), 'ab' * {k})")

    def do_rank(self, c, v, w, f, kind):
        self.shown(f"({v}.rank(), max([{v}, {w}], key=lambda y: y.rank()).rank(), sorted([{v}, {w}], key=lambda y: -y.rank()))")

    def do_dict(self, c, v, w, f, kind):
        d = self.new("d")
        self.line(f"{d} = {{{v}: 1}}")
        self.line(f"{d}[{w}] = {d}.get({w}, 5) + 1")
        self.shown(f"({d}, len({d}), {w} in {d}, list({d}), {{y: k for k, y in enumerate([{v}, {w}])}}, {{({v}, n): 1}})")
        self.line("try:")
        self.line(f"    log.append(repr({d}[{self.r.choice([v, w, self.instance(c)])}]))")
        self.line("except KeyError as e:")
        self.line("    log.append(repr(e))")
        self.line("except ValueError as e:")
        self.line("    log.append(repr(e))")

    def do_set(self, c, v, w, f, kind):
        self.shown(f"(len({{{v}, {w}, {v}}}), {v} in {{{w}}})")

    def do_hash(self, c, v, w, f, kind):
        self.shown(f"(hash({v}) == hash({w}), hash(({v}, 1)) == hash(({w}, 1)), hash({v}) == hash(same({v})))")

    def do_order(self, c, v, w, f, kind):
        self.shown(f"({v} < {w}, {w} < {v})" if "order=True" not in c["options"] else f"({v} < {w}, {v} <= {w}, {v} > {w}, {v} >= {w})")

    def do_sorted(self, c, v, w, f, kind):
        self.shown(f"(sorted([{v}, {w}, {v}]), max({v}, {w}), min([{w}, {v}]))")

    def do_bool(self, c, v, w, f, kind):
        self.shown(f"(bool({v}), not {w}, 1 if {v} else 2, [1 for y in [{v}, {w}] if y], any([{w}]))")

    def do_len(self, c, v, w, f, kind):
        self.shown(f"(len({v}), bool({w}))")

    def do_add(self, c, v, w, f, kind):
        self.shown(f"({v} + {w}, {v} + n)")

    def do_radd(self, c, v, w, f, kind):
        self.shown(f"(n + {v}, sum([{w}, {v}]))")

    def do_calls(self, c, v, w, f, kind):
        self.shown(f"({v}(), {w}(k=n))")

    def do_getitem(self, c, v, w, f, kind):
        self.shown(f"({v}[n], {w}['k'])")

    def do_contains(self, c, v, w, f, kind):
        self.shown(f"(n in {v}, i not in {w})")

    def do_union(self, c, v, w, f, kind):
        k = self.r.choice([k for k in self.classes if k is not c])
        other = self.r.choice([u for u, of in self.variables.items() if of is k])
        u = self.new("u")
        self.line(f"{u} = {v} if c else {other}")
        self.shown(f"({u}.rank(), isinstance({u}, {c['name']}), {u}, {u} == {v}, type({u}).__name__)")

    def do_mixed(self, c, v, w, f, kind):
        k = self.r.choice([k for k in self.classes if k is not c])
        other = self.r.choice([u for u, of in self.variables.items() if of is k])
        xs = self.new("ms")
        self.line(f"{xs} = [{v}, {other}]")
        self.line(f"{xs}.append({w})")
        self.shown(f"({xs}, [y.rank() for y in {xs}], [y for y in {xs} if isinstance(y, {c['name']})], {xs}[n % 3].rank())")


def same(want, got):
    return repr(want) == repr(got)


FUZZER = Fuzzer("instances", Program, same, (ValueError, KeyError), lambda e: (type(e).__name__, str(e)))
check, run = FUZZER.check, FUZZER.run

if __name__ == "__main__":
    exit_with(FUZZER, __doc__)
