"""Random Python programs for differential fuzzing: a seed gives the same program everywhere.

Every expression is made for a type it must have, from the templates of `templates.py`, so most programs are sound. Statements make variables of those
types, and functions, generators and closures around them. Exceptions are wanted: indices may be out of range, divisors zero, shapes not fit.
"""

import random
import re

from templates import (ARRAY_1, ARRAY_2, ARRAY_ANY, ARRAY_VALUES, ARRAYS, BY_DTYPE, DTYPES, ELEMENTS, EXPRESSIONS, LEAVES, LISTS, MEMBERS,
                       SCALARS, TUPLES)

HOLE = re.compile(r"\$name_(\w+?)(?=[:!}])|\$(\w+)(!?)|\{([^{}'\"]* [^{}]*|'[^{}]*)\}|(?<![.\w])T\b")
HEAD = "from collections import namedtuple\nPoint = namedtuple('Point', 'x y')\n"
INT_DTYPES, FLOAT_DTYPES = ["i8", "i4", "i1", "u1", "i2"], ["f8", "f4"]


def family(dtype):
    return {"b": "bool", "i": "int", "u": "int", "f": "float", "c": "complex"}[dtype[0]]


class Generator:
    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.lines, self.indent = [], 0
        self.functions, self.generators = [], []  # (name, how it is called: [(parameter, kind, form)], kind of the result)
        self.counter = 0
        self.theme = ['int', 'float', *(self.any_kind() for _ in range(self.rng.randint(2, 5)))]

    # -- text ---------------------------------------------------------------------------------------------------------------------------------

    def emit(self, text):
        self.lines.append("    " * self.indent + text)

    def fresh(self, kind):
        self.counter += 1
        return f"{kind}_{self.counter}"

    def pick(self, *choices):
        return self.rng.choice(choices)

    def chance(self, p):
        return self.rng.random() < p

    # -- expressions --------------------------------------------------------------------------------------------------------------------------

    def name_of(self, env, kind):
        names = [n for n, k in env.items() if k == kind]
        return self.rng.choice(names) if names else None

    def expr(self, env, kind, depth):
        """Text of an expression of this type, `depth` templates deep at most."""
        if kind == "index":
            return self.index(env, depth)
        if "_" in kind and kind.split("_")[0] in DTYPES:
            return self.array(env, kind, depth)
        if depth <= 0 or self.chance(0.2):
            return (self.name_of(env, kind) if self.chance(0.8) else None) or self.leaf(kind)
        if self.chance(0.1):
            called = self.call(env, kind, depth - 1)
            if called:
                return called
        if self.chance(0.05):
            return f"({self.expr(env, kind, depth - 1)} if {self.expr(env, 'bool', depth - 1)} else {self.expr(env, kind, depth - 1)})"
        return self.fill(self.rng.choice(EXPRESSIONS[kind]), env, depth - 1)

    def fill(self, template, env, depth, kinds=None):
        """The template with its holes filled; `kinds` says what the words for arrays stand for."""
        kinds = kinds or {}
        memo = {}

        def put(match):
            name, hole, shallow, words = match[1], match[2], match[3], match[4]
            if name:
                return self.name_of(env, name) or {"int": "1", "float": "2.5", "str": "7", "bool": "0"}[name]
            if hole == "N":
                if "N" not in memo:
                    memo["N"] = self.name_of(env, kinds["same"]) or self.leaf(kinds["same"])
                return memo["N"]
            if hole:
                return self.expr(env, kinds.get(hole, hole), 0 if shallow else depth)
            if words is not None:
                chosen = self.rng.choice(words.split(" "))
                return "" if chosen == "_" else chosen.replace("~", " ")
            return kinds["T"] if "T" in kinds else match[0]

        return HOLE.sub(put, template)

    def leaf(self, kind):
        if kind in LEAVES:
            return self.rng.choice(LEAVES[kind])
        return self.array_leaf(kind)

    def index(self, env, depth):
        if self.chance(0.75):
            return self.pick("0", "0", "-1", "1")
        return self.pick("2", "-2", "3", "-3") if depth <= 0 or self.chance(0.5) else f"{self.expr(env, 'int', depth - 1)}" if self.chance(0.5) else f"({self.expr(env, 'int', 0)} % 3)"

    # -- arrays -------------------------------------------------------------------------------------------------------------------------------

    def array_leaf(self, kind):
        """An array that is made on the spot: mostly four long, two times four, two times three times four."""
        dtype, ndim = kind.split("_")
        values = ARRAY_VALUES[dtype]
        row = lambda n: "[" + ", ".join(self.rng.choice(values) for _ in range(n)) + "]"
        length = self.pick(4, 4, 4, 4, 1, 3)
        text = row(length)
        if ndim == "2":
            text = "[" + ", ".join(row(length) for _ in range(self.pick(2, 2, 3, 1))) + "]"
        if ndim == "3":
            return f"np.zeros((2, {self.pick(3, 1)}, {self.pick(4, 1)}), {DTYPES[dtype]})"
        return f"np.array({text}, {DTYPES[dtype]})"

    def array(self, env, kind, depth):
        name = self.name_of(env, kind)
        if name and (depth <= 0 or self.chance(0.35)):
            return name
        if depth <= 0 or self.chance(0.1):
            return self.array_leaf(kind)
        if self.chance(0.05):
            called = self.call(env, kind, depth - 1)
            if called:
                return called
        dtype, ndim = kind.split("_")
        kinds = {d: f"{d}_{ndim}" for d in DTYPES}
        kinds.update(same=kind, mask=f"b1_{ndim}", mask2="b1_2", vec=f"{dtype}_1", mat=f"{dtype}_2", low=f"{dtype}_{max(int(ndim) - 1, 1)}", T=DTYPES[dtype], scalar=self.scalar(dtype),
                     integers=f"{self.rng.choice(INT_DTYPES)}_{ndim}", floats=f"{self.rng.choice(FLOAT_DTYPES)}_{ndim}", booleans=f"b1_{ndim}")
        shaping = {"1": ARRAY_1, "2": ARRAY_2, "3": []}[ndim]
        choices = self.pick(ARRAY_ANY, shaping, shaping, BY_DTYPE[family(dtype)], BY_DTYPE[family(dtype)], BY_DTYPE.get(dtype, []) if dtype in ("f8", "i8", "c16") else [], BY_DTYPE.get(kind, []))
        return self.fill(self.rng.choice(choices or ARRAY_ANY), env, depth - 1, kinds)

    def scalar(self, dtype):
        """The kind of Python number that keeps the dtype and fits it."""
        return {"int": "small", "float": "float", "complex": "complex", "bool": "bool"}[family(dtype)]

    # -- calls --------------------------------------------------------------------------------------------------------------------------------

    def call(self, env, kind, depth):
        fitting = [f for f in self.functions if f[2] == kind]
        return self.call_of(env, self.rng.choice(fitting), depth) if fitting else None

    def call_of(self, env, function, depth):
        name, parameters, _ = function
        positional, named, keyword = [], [], False
        for parameter, kind, form in parameters:
            value = self.expr(env, kind, depth)
            if form == "rest":
                positional += [] if keyword else [value] * self.rng.randint(0, 2)
            elif form == "named":
                named += [f"{k}={self.expr(env, kind, 0)}" for k in self.rng.sample(["one", "two", "three"], self.rng.randint(0, 2))]
            elif form == "default" and self.chance(0.5):
                keyword = True
            elif form == "only" or keyword or (form == "plain" and not any(f == "rest" for _, _, f in parameters) and self.chance(0.1)):
                keyword = keyword or form != "only"
                named.append(f"{parameter}={value}")
            else:
                positional.append(value)
        return f"{name}({', '.join(positional + named)})"

    # -- statements ---------------------------------------------------------------------------------------------------------------------------

    def block(self, env, budget, depth, in_loop, result):
        """A few statements; what they define stays inside, for it may not be defined outside."""
        env = dict(env)
        self.indent += 1
        for _ in range(self.rng.randint(1, max(1, budget))):
            self.statement(env, budget, depth, in_loop, result)
        self.indent -= 1

    def statement(self, env, budget, depth, in_loop, result):
        roll = self.rng.random()
        if roll < 0.3 or depth <= 0:
            self.assign(env, 3)
        elif roll < 0.42:
            self.mutate(env)
        elif roll < 0.53:
            self.branch(env, budget, depth, in_loop, result)
        elif roll < 0.64:
            self.loop(env, budget, depth, result)
        elif roll < 0.72:
            self.attempt(env, budget, depth, in_loop, result)
        elif roll < 0.9:
            self.rng.choice([self.closure, self.cell, self.matching, self.optional, self.unpacking, self.consume, self.walrus, self.forget, self.local_generator, self.late])(env, budget, depth, in_loop, result)
        elif roll < 0.94:
            self.emit(f"print({self.expr(env, self.rng.choice(SCALARS + ['ilist', 'pair', 'slist']), 1)}, {self.expr(env, 'int', 1)})")
        elif roll < 0.97:
            self.emit(f"if {self.expr(env, 'bool', 1)}:")
            self.emit("    " + self.pick(f"raise ValueError({self.expr(env, 'str', 1)})", f"raise KeyError({self.expr(env, 'int', 1)})", "raise RuntimeError", f"return {self.expr(env, result, 2)}", f"assert {self.expr(env, 'bool', 1)}, 'no'",
                                         "break" if in_loop else "pass", "continue" if in_loop else "pass", f"raise IndexError('at', {self.expr(env, 'int', 0)})"))
        elif in_loop:
            self.emit(f"if {self.expr(env, 'bool', 1)}:")
            self.emit("    " + self.pick("break", "continue"))
        else:
            self.assign(env, 2)

    def kind(self):
        """Mostly one of the few that this program is about, so that its variables meet."""
        if self.chance(0.85):
            return self.rng.choice(self.theme)
        return self.any_kind()

    def any_kind(self):
        return self.rng.choice(self.rng.choice([SCALARS, SCALARS, TUPLES, LISTS, ARRAYS, ARRAYS]))

    def assign(self, env, depth):
        kind = self.kind()
        name = self.name_of(env, kind) if self.chance(0.5) else None
        if name and kind in ("int", "float", "str") and self.chance(0.4):
            self.emit({"int": f"{name} = ({name} {self.pick('+', '-', '*', '^')} {self.expr(env, 'int', 2)}) % {self.pick(1009, 2147483629)}", "float": f"{name} {self.pick('+=', '-=', '*=', '/=', '//=', '%=')} {self.expr(env, 'float', 2)}",
                       "str": f"{name} = ({name} + {self.expr(env, 'str', 1)})[-16:]"}[kind])
            return
        if name is None:
            name = self.fresh(kind)
        self.emit(f"{name} = {self.expr(env, kind, depth)}")
        env[name] = kind

    def branch(self, env, budget, depth, in_loop, result):
        self.emit(f"if {self.expr(env, 'bool', 2)}:")
        self.block(env, budget - 1, depth - 1, in_loop, result)
        if self.chance(0.3):
            self.emit(f"elif {self.expr(env, 'bool', 2)}:")
            self.block(env, budget - 1, depth - 1, in_loop, result)
        if self.chance(0.5):
            self.emit("else:")
            self.block(env, budget - 1, depth - 1, in_loop, result)

    def loop(self, env, budget, depth, result):
        inner = dict(env)
        form = self.rng.random()
        if form < 0.35:
            name = self.fresh("int")
            self.emit(f"for {name} in {self.pick('', '', '', 'reversed')}(range({self.pick('3', '5', '1, 4', '4, 0, -1', '0, 6, 2', self.expr(env, 'int', 1) + ' % 5')})):")
            inner[name] = "int"
        elif form < 0.55:
            kind = self.pick("ilist", "flist", "str", "slist", "llist", "plist", "itup", "olist", "alist")
            name = self.fresh(ELEMENTS[kind])
            self.emit(f"for {name} in {self.name_of(env, kind) or self.expr(env, kind, 2)}:")
            inner[name] = ELEMENTS[kind]
        elif form < 0.62 and self.generators:
            made = self.rng.choice(self.generators)
            name = self.fresh(made[2])
            self.emit(f"for {name} in {self.call_of(env, made, 1)}:")
            inner[name] = made[2]
        elif form < 0.75:
            first, second = self.rng.choice(list(ELEMENTS)), self.rng.choice(list(ELEMENTS))
            a, b, i = self.fresh(ELEMENTS[first]), self.fresh(ELEMENTS[second]), self.fresh("int")
            inner.update({a: ELEMENTS[first], b: ELEMENTS[second], i: "int"})
            if self.chance(0.5):
                del inner[b]
                self.emit(f"for {i}, {a} in enumerate({self.expr(env, first, 1)}{self.pick('', ', 5', ', start=-1')}):")
            elif self.chance(0.6):
                del inner[i]
                self.emit(f"for {a}, {b} in zip({self.expr(env, first, 1)}, {self.expr(env, second, 1)}):")
            else:
                self.emit(f"for {i}, ({a}, {b}) in enumerate(zip({self.expr(env, first, 1)}, reversed({self.expr(env, second, 1)}))):")
        elif form < 0.82:
            kind = self.pick("f8_1", "i8_1", "b1_1", "f8_2", "i4_1")
            name = self.fresh("row")
            element = {"f8_1": "float", "i8_1": "int", "b1_1": "bool", "i4_1": "int", "f8_2": "f8_1"}[kind]
            self.emit(f"for {name} in {self.expr(env, kind, 1)}:")
            inner[name] = element
            if element != "f8_1":
                self.emit(f"    {name} = {element}({name})" + (" % 65537" if element == "int" else ""))
        elif form < 0.92:
            name = self.fresh("int")
            self.emit(f"{name} = {self.rng.randint(0, 4)}")
            self.emit(f"while {name} > 0{self.pick('', '', f' and {self.expr(env, chr(98) + chr(111) + chr(111) + chr(108), 1)}')}:")
            self.emit(f"    {name} -= 1")
        else:
            name = self.fresh("int")
            self.emit(f"{name} = 0")
            self.emit("while True:")
            self.emit(f"    {name} += 1")
            self.emit(f"    if {name} > {self.rng.randint(1, 4)}:")
            self.emit("        " + self.pick("break", "break", f"return {self.expr(env, result, 1)}"))
        # The counter of a `while` is not to be set back.
        counters = {n: k for n, k in inner.items() if not (form >= 0.82 and n == name)}
        self.block(counters, budget - 1, depth - 1, True, result)
        if self.chance(0.15):
            self.emit("else:")
            self.block(env, budget - 1, depth - 1, False, result)
        if form < 0.35 and self.chance(0.2) and self.chance(0.5):
            env[name] = "int"  # may be unbound after an empty range

    def attempt(self, env, budget, depth, in_loop, result):
        self.emit("try:")
        self.block(env, budget - 1, depth - 1, in_loop, result)
        handled = self.chance(0.85)
        for _ in range(self.pick(1, 1, 2) if handled else 0):
            caught = self.pick("ZeroDivisionError", "IndexError", "(ValueError, KeyError)", "Exception", "LookupError", "ArithmeticError", "ValueError", "OverflowError")
            named = self.chance(0.4)
            self.emit(f"except {caught}{' as e' if named else ''}:")
            if self.chance(0.15):
                self.emit("    raise")
                continue
            if named and self.chance(0.6):
                self.emit("    " + self.pick("print(str(e))", "raise", "raise RuntimeError('again') from e", f"raise ValueError({self.expr(env, 'str', 1)})", "raise e", "raise IndexError('hidden') from None"))
            self.block(env, budget - 1, depth - 1, in_loop, result)
        if handled and self.chance(0.2):
            self.emit("else:")
            self.block(env, budget - 1, depth - 1, in_loop, result)
        if not handled or self.chance(0.25):
            self.emit("finally:")
            self.indent += 1
            self.assign(dict(env), 1)
            # Leaving from a `finally` drops the exception on its way.
            if self.chance(0.1):
                self.emit(f"if {self.expr(env, 'bool', 1)}:")
                self.emit("    " + self.pick(f"return {self.expr(env, result, 1)}", "break" if in_loop else "pass", "continue" if in_loop else "pass"))
            self.indent -= 1

    def closure(self, env, budget, depth, in_loop, result):
        """An inner function or lambda that captures what it likes, called once or twice."""
        name, parameter, returns = self.fresh("inner"), self.rng.choice(["int", "float", "str", "ilist", "f8_1"]), self.kind()
        inside = {**{n: k for n, k in env.items() if self.chance(0.6)}, "q": parameter}
        if self.chance(0.4):
            self.emit(f"{name} = lambda q: {self.expr(inside, returns, 2)}")
        else:
            self.emit(f"def {name}(q, r={self.expr(env, 'int', 1)}):")
            self.indent += 1
            inside["r"] = "int"
            if self.chance(0.5):
                self.emit(f"if {self.expr(inside, 'bool', 1)}:")
                self.emit(f"    return {self.expr(inside, returns, 1)}")
            self.emit(f"return {self.expr(inside, returns, 2)}")
            self.indent -= 1
        for _ in range(self.rng.randint(1, 2)):
            target = self.fresh(returns)
            self.emit(f"{target} = {name}({self.expr(env, parameter, 1)})")
            env[target] = returns
            if self.chance(0.5):
                self.assign(env, 1)  # perhaps of a captured variable

    def cell(self, env, budget, depth, in_loop, result):
        """A captured variable that the inner function rebinds."""
        kind = self.rng.choice(["int", "float", "str", "ilist"])
        variable, name = self.fresh(kind), self.fresh("inner")
        self.emit(f"{variable} = {self.expr(env, kind, 1)}")
        env[variable] = kind
        self.emit(f"def {name}(q):")
        self.indent += 1
        self.emit(f"nonlocal {variable}")
        inside = {**env, "q": "int"}
        if self.chance(0.5):
            self.emit(f"if {self.expr(inside, 'bool', 1)}:")
            self.indent += 1
            self.emit(f"{variable} = {self.expr(inside, kind, 1)}")
            self.indent -= 1
        else:
            self.emit(f"{variable} = {self.expr(inside, kind, 2)}")
        self.emit(f"return {self.expr(inside, 'int', 1)}")
        self.indent -= 1
        if self.chance(0.5):
            self.emit(f"for _ in range({self.rng.randint(0, 3)}):")
            self.emit(f"    {name}({self.expr(env, 'int', 1)})")
        target = self.fresh("int")
        self.emit(f"{target} = {name}({self.expr(env, 'int', 1)})")
        env[target] = "int"

    def matching(self, env, budget, depth, in_loop, result):
        form = self.rng.random()
        kind = self.pick("int", "str") if form < 0.6 else self.pick("pair", "itup", "ilist", "point", "opt")
        self.emit(f"match {self.expr(env, kind, 2)}{' % 4' if kind == 'int' and self.chance(0.6) else ''}:")
        self.indent += 1
        a, b = self.fresh("int"), self.fresh("ilist" if kind == "ilist" else "float")
        cases = {
            "int": [("0", {}), ("1 | 2", {}), (f"{a} if {a} > 2", {a: "int"})], "str": [("'a'", {}), ("'' | 'xyz'", {}), (f"{b.replace('float', 'str')}", {b.replace("float", "str"): "str"})],
            "pair": [(f"(1, {b})", {b: "float"}), (f"({a}, 0.0)", {a: "int"}), (f"({a}, {b}) if {a} < {b}", {a: "int", b: "float"})], "itup": [(f"(1, {a}, _)", {a: "int"}), (f"({a}, _, _)", {a: "int"})],
            "ilist": [("[]", {}), (f"[{a}]", {a: "int"}), (f"[{a}, *{b}]", {a: "int", b: "ilist"})], "point": [(f"Point(x=0, y={b})", {b: "float"}), (f"Point({a}, {b})", {a: "int", b: "float"})], "opt": [("None", {}), ("3", {}), ("_", {})],
        }[kind]
        for pattern, bound in cases:
            self.emit(f"case {pattern}:")
            self.block({**env, **bound}, budget - 2, depth - 1, in_loop, result)
        if kind == "int" and self.chance(0.5):
            self.emit("case _:")
            self.block(env, budget - 2, depth - 1, in_loop, result)
        self.indent -= 1

    def optional(self, env, budget, depth, in_loop, result):
        """A value that may be None, used where it is not."""
        kind = self.rng.choice(["int", "float", "str", "bool", "ilist", "f8_1", "pair"])
        name, target = self.fresh("maybe"), self.fresh(kind)
        self.emit(f"{name} = {self.expr(env, kind, 1)} if {self.expr(env, 'bool', 1)} else None")
        form = self.rng.random()
        if form < 0.5:
            self.emit(f"{target} = {self.expr(env, kind, 1)}")
            self.emit(f"if {name} is not None:")
            self.emit(f"    {target} = {name}")
        elif form < 0.8:
            self.emit(f"{target} = {self.expr(env, kind, 1)} if {name} is None else {name}")
        else:
            self.emit(f"if {name} is None:")
            self.emit(f"    {name} = {self.expr(env, kind, 1)}")
            self.emit(f"{target} = {name}")
        env[target] = kind

    def unpacking(self, env, budget, depth, in_loop, result):
        a, b, rest, text = self.fresh("int"), self.fresh("float"), self.fresh("ilist"), self.fresh("str")
        e = lambda k: self.expr(env, k, 2)
        form, made = self.pick(
            (f"{a}, {b} = {e('pair')}", [a, b]), (f"{a}, *{rest} = {e('ilist')}", [a, rest]), (f"*{rest}, {a} = {e('ilist')}", [a, rest]), (f"{a}, *_, {b} = {e('int')}, {e('str')}, {e('float')}", [a, b]),
            (f"({a}, {b}), _ = {e('pair')}, {e('bool')}", [a, b]), (f"{text}, ({a}, {b}), _ = {e('triple')}", [a, b, text]), (f"{text}, {rest}, _ = {e('box')}", [rest, text]), (f"{a}, _, _ = {e('ilist')}", [a]),
            (f"({a}, {b}), _ = {e('nested')}", [a, b]), (f"{a} = _ = {e('int')}", [a]), (f"{text}, *_ = {e('str')}", [text]), (f"{a}, {b} = {e('int')}, {e('float')}", [a, b]))
        self.emit(form)
        env.update({n: n.split("_")[0] for n in made})
        kind = self.rng.choice(["ilist", "int", "str", "f8_1"])
        x, y = self.name_of(env, kind), self.name_of(env, kind)
        if x and y and self.chance(0.5):
            self.emit(f"{x}, {y} = {y}, {x}")

    def consume(self, env, budget, depth, in_loop, result):
        """A generator function of the program, or a generator expression, gone through in one of many ways."""
        fitting = [g for g in self.generators if g[2] == "int"]
        inside = {**env, "q": "int"}
        stream = self.call_of(env, self.rng.choice(fitting), 1) if fitting and self.chance(0.6) else f"({self.expr(inside, 'int', 1)} for q in {self.pick('range(4)', self.expr(env, 'ilist', 1))} if {self.expr(inside, 'bool', 1)})"
        target = self.fresh("int")
        form = self.rng.random()
        if form < 0.3:
            self.emit(f"{target} = {self.pick('sum', 'max', 'min')}({stream}) % 1009")
        elif form < 0.45:
            target = self.fresh("ilist")
            self.emit(f"{target} = {self.pick('list', 'sorted')}({stream})")
        elif form < 0.6:
            it = self.fresh("stream")
            self.emit(f"{it} = {stream}")
            self.emit(f"{target} = next({it}, -1)")
            self.emit(f"{target} = {target} % 1009 + {self.pick(f'sum({it}) % 1009', f'next({it}, 0) % 1009', f'next({it}) % 1009')}")
        elif form < 0.7:
            self.emit(f"{target} = sum([u % 9 * v for u, v in enumerate({stream})]) % 1009")
        else:
            self.emit(f"{target} = 0")
            self.emit(f"for y in {stream}:")
            self.emit(f"    {target} = ({target} * 3 + y) % 1009")
            if self.chance(0.3):
                self.emit(f"    if {self.expr({**env, 'y': 'int'}, 'bool', 1)}:")
                self.emit("        " + self.pick("break", f"return {self.expr(env, result, 1)}", "raise ValueError('stop')"))
        env[target] = target.split("_")[0]

    def walrus(self, env, budget, depth, in_loop, result):
        kind = self.pick("int", "float", "str", "ilist")
        name = self.fresh(kind)
        self.emit(f"if ({name} := {self.expr(env, kind, 2)}) {self.pick('>', '==', '<=')} {self.expr(env, kind, 1)}:")
        env[name] = kind
        self.block(env, budget - 1, depth - 1, in_loop, result)

    def forget(self, env, budget, depth, in_loop, result):
        """`del` of a variable, or of a part of a list."""
        kind = self.kind()
        name = self.fresh(kind)
        self.emit(f"{name} = {self.expr(env, kind, 2)}")
        self.emit(f"if {self.expr(env, 'bool', 1)}:")
        self.emit(f"    del {name}")
        if self.chance(0.5):
            env[name] = kind

    def late(self, env, budget, depth, in_loop, result):
        """A variable that only some paths bind."""
        kind = self.kind()
        name = self.fresh(kind)
        self.emit(f"if {self.expr(env, 'bool', 1)}:")
        self.emit(f"    {name} = {self.expr(env, kind, 2)}")
        env[name] = kind

    def local_generator(self, env, budget, depth, in_loop, result):
        """A generator function inside, which captures variables."""
        name, kind = self.fresh("made"), self.rng.choice(["int", "float", "pair", "f8_1"])
        inside = {**env, "g": "int"}
        self.emit(f"def {name}(count):")
        self.emit("    for g in range(count):")
        if self.chance(0.4):
            self.emit(f"        if {self.expr(inside, 'bool', 1)}:")
            self.emit("            " + self.pick("return", "continue", "break"))
        self.emit(f"        yield {self.expr(inside, kind, 2)}")
        target = self.fresh(kind)
        self.emit(f"{target} = {self.expr(env, kind, 1)}")
        self.emit(f"for {target} in {name}({self.rng.randint(0, 3)}):")
        env[target] = kind
        self.block(env, 1, depth - 1, True, result)

    # -- changes in place ---------------------------------------------------------------------------------------------------------------------

    def mutate(self, env):
        kind = self.rng.choice([*LISTS, *ARRAYS])
        name = self.name_of(env, kind)
        if not name:
            return self.assign(env, 2)
        if kind in LISTS:
            return self.mutate_list(env, kind, name)
        self.mutate_array(env, kind, name)

    def mutate_list(self, env, kind, name):
        value, other = self.expr(env, ELEMENTS[kind], 2), self.expr(env, kind, 1)
        if kind == "alist":
            value += ".copy()"  # of any layout, which a list of arrays is not
        at = self.index(env, 1)
        if self.chance(0.4):
            # What grows is bounded: the list may be the one that a loop goes through.
            self.emit(f"if len({name}) < 6:")
            return self.emit("    " + self.pick(f"{name}.append({value})", f"{name}.insert({at}, {value})", f"{name}.extend({other}[:2])", f"{name} += {other}[:2]", f"{name}[{at}:] = {other}[:3]", f"{name}[{at}:{at}] = [{value}]"))
        choices = [f"{name}[{at}] = {value}", f"{name}.pop()", f"{name}.pop({at})", f"{name}.reverse()", f"{name}.clear()", f"{name}[1:2] = []", f"del {name}[{at}]", f"del {name}[{self.pick(':1', '::2', '-1:', '1:3')}]", f"{name}[0], {name}[-1] = {name}[-1], {name}[0]"]
        if kind in ("ilist", "slist", "llist", "plist"):
            choices += [f"{name}.sort()", f"{name}.sort(reverse={self.expr(env, 'bool', 0)})", f"{name}.remove({value})"] if kind != "plist" else []
        if kind == "ilist":
            choices += [f"{name}[{at}] += 1", f"{name}[{at}] = -{name}[{at}] % 77", f"{name}.sort(key=lambda q: -q)"]
        if kind == "llist":
            choices += [f"{name}[{at}].append(1)", f"{name}[{at}][{at}] = 5", f"{name}[{at}].pop()", f"{name}[{at}] += [2]"]
        if kind == "alist":
            choices += [f"{name}[{at}][{at}] = 5.0", f"{name}[{at}] += 1.0", f"{name}[{at}][:] = 0.0"]
        self.emit(self.rng.choice(choices))

    def mutate_array(self, env, kind, name):
        dtype, ndim = kind.split("_")
        scalar = self.expr(env, self.scalar(dtype), 1) if self.scalar(dtype) != "small" else f"({self.expr(env, 'int', 1)} % 100)"
        same, mask = self.expr(env, kind, 1), self.expr(env, f"b1_{ndim}", 1)
        i, j = self.index(env, 0), self.index(env, 0)
        choices = [f"{name}[{i}] = {scalar}", f"{name}[...] = {scalar}", f"{name}[:] = {same}", f"{name}[{mask}] = {scalar}", f"{name}.fill({scalar})", f"{name}[{i}:] = {scalar}", f"{name}[::-1] = {same}"]
        if dtype != "b1":
            choices += [f"{name} {self.pick('+=', '-=', '*=')} {self.pick(same, scalar)}", f"{name}[{i}] += {scalar}", f"{name}[{i}:] *= {scalar}", f"np.add({name}, {same}, out={name})", f"{name}[{mask}] += {scalar}", f"{name}[::2] -= {scalar}"]
        else:
            choices += [f"{name} {self.pick('&=', '|=', '^=')} {same}"]
        if ndim == "1":
            choices += [f"{name}[[0, -1]] = {scalar}", f"{name}[1:] = {name}[:-1]", f"{name}[:-1] = {name}[1:]", f"{name}[::-1][0] = {scalar}", f"{name}[{name} == {name}] = {scalar}"]
            choices += [f"{name}.sort()"] if dtype[0] in "iub" else []
        if ndim == "2":
            choices += [f"{name}[{i}, {j}] = {scalar}", f"{name}[:, {j}] = {scalar}", f"{name}[{i}] = {self.expr(env, dtype + '_1', 1)}", f"{name}.T[{i}, {j}] = {scalar}", f"{name}[:, ::-1][{i}] = {self.expr(env, dtype + '_1', 1)}"]
        self.emit(self.rng.choice(choices))

    # -- functions ----------------------------------------------------------------------------------------------------------------------------

    def signature(self, parameters):
        parts, star = [], False
        for name, kind, form in parameters:
            if form == "only" and not star:
                parts.append("*")
            star = star or form in ("only", "rest")
            parts.append({"plain": name, "default": f"{name}={self.leaf(kind)}", "only": f"{name}={self.leaf(kind)}", "rest": f"*{name}", "named": f"**{name}"}[form])
        return ", ".join(parts)

    def parameters(self):
        """Plain ones first, then perhaps one of the other forms."""
        made = [(f"p{i}", self.kind(), "plain") for i in range(self.rng.randint(1, 3))]
        form = self.pick("none", "none", "default", "only", "rest", "named")
        if form in ("default", "only"):
            made.append(("d", self.rng.choice(["int", "float", "str", "bool"]), form))
        elif form in ("rest", "named"):
            made.append(("r", "int", form))
        return made

    def inside(self, parameters):
        """What the body sees, and a first line that uses what only reads as a tuple or mapping."""
        env = {n: k for n, k, form in parameters if form not in ("rest", "named")}
        if parameters[-1][2] == "rest":
            self.emit("    rest = len(r) + (r[0] if r else 0)" if self.chance(0.5) else "    rest = sum(r) % 1009")
            env["rest"] = "int"
        if parameters[-1][2] == "named":
            self.emit("    rest = len(r)")
            env["rest"] = "int"
        return env

    def function(self, name, parameters, result, budget, depth):
        self.emit("@njit" if name == "main" or self.chance(0.8) else "# plain")
        self.emit(f"def {name}({self.signature(parameters)}):")
        env = self.inside(parameters)
        self.block(env, budget, depth, False, result)
        self.emit(f"    return {self.expr(env, result, 2)}")
        self.emit("")

    def generator(self, name, parameters, yields):
        """A generator function, which callers may leave half way."""
        self.emit("@njit")
        self.emit(f"def {name}({self.signature(parameters)}):")
        env = self.inside(parameters)
        self.indent += 1
        for _ in range(self.rng.randint(1, 2)):
            self.assign(env, 1)
        self.emit(f"for g in range({self.rng.randint(1, 4)}):")
        self.indent += 1
        inner = {**env, "g": "int"}
        self.assign(inner, 2)
        if self.chance(0.3):
            self.emit("try:")
            self.emit(f"    yield {self.expr(inner, yields, 1)}")
            self.emit(f"    {self.fresh('int')} = {self.expr(inner, 'int', 1)}")
            self.emit("except (IndexError, ZeroDivisionError):")
            self.emit(f"    yield {self.expr(inner, yields, 1)}")
        else:
            self.emit(f"yield {self.expr(inner, yields, 2)}")
        if self.chance(0.4):
            self.emit(f"if {self.expr(inner, 'bool', 1)}:")
            self.emit("    " + self.pick("return", "continue", "break", "raise KeyError('inside')"))
        if self.chance(0.4):
            self.mutate(inner)
        self.indent -= 1
        if self.chance(0.4):
            self.emit(f"yield {self.expr(env, yields, 1)}")
        if yields == "int" and self.chance(0.3):
            self.emit(f"yield from {self.expr(env, 'ilist', 1)}")
        self.indent -= 1
        self.emit("")

    def recursive(self, name, parameters, result):
        """A function that calls itself a few times."""
        parameters = [("p0", "int", "plain"), *((n, k, "plain") for n, k, _ in parameters[1:3])]
        self.emit("@njit")
        self.emit(f"def {name}({self.signature(parameters)}):")
        env = {n: k for n, k, _ in parameters}
        self.indent += 1
        self.emit("if p0 <= 0 or p0 > 6:")
        self.emit(f"    return {self.expr(env, result, 1)}")
        self.assign(env, 2)
        inner = self.fresh(result)
        self.emit(f"{inner} = {name}({', '.join(['p0 - 1'] + [self.expr(env, k, 1) for _, k, _ in parameters[1:]])})")
        self.emit(f"return {self.expr({**env, inner: result}, result, 1)}")
        self.indent -= 1
        self.emit("")
        return parameters

    def program(self):
        self.lines.append(HEAD)
        for i in range(self.rng.randint(0, 4)):
            parameters, result, form = self.parameters(), self.kind(), self.rng.random()
            if form < 0.25:
                yields = self.rng.choice(["int", "int", "float", "str", "ilist", "pair", "f8_1"])
                self.generator(f"generator{i}", parameters, yields)
                self.generators.append((f"generator{i}", parameters, yields))
                continue
            if form < 0.4:
                parameters = self.recursive(f"helper{i}", parameters, result)
            else:
                self.function(f"helper{i}", parameters, result, 3, 2)
            self.functions.append((f"helper{i}", parameters, result))
        kinds = [self.kind() for _ in range(self.rng.randint(2, 6))]
        kinds = ["ilist" if k == "olist" else k for k in kinds]  # a list argument has elements of one type
        self.function("main", [(f"a{i}", k, "plain") for i, k in enumerate(kinds)], self.kind(), self.rng.randint(3, 6), self.rng.randint(1, 3))
        return "\n".join(self.lines) + "\n" + self.arguments(kinds)

    def arguments(self, kinds):
        rows = [f"    ({', '.join(self.argument(k) for k in kinds)},)," for _ in range(3)]
        return "ARGUMENTS = [\n" + "\n".join(rows) + "\n]\n"

    def argument(self, kind):
        """Leaves, arrays in other layouts now and then."""
        if kind in ("opt", "optf"):
            return self.pick("None", "4" if kind == "opt" else "2.5")
        text = self.leaf(kind)
        if kind[-2:] == "_1" and self.chance(0.25):
            return f"np.repeat({text}, 2)[::{self.pick(2, -2)}]"
        if kind[-2:] == "_2" and self.chance(0.3):
            return self.pick(f"np.asfortranarray({text})", f"{text}[:, ::-1]", f"{text}.T.copy().T")
        return text
