"""Random small typed Python programs for differential fuzzing.

Programs stay where CPython and Tierup must agree to the bit: ints never leave 64 bits (products and sums are reduced), floats are Python floats (an array
element is read through `float()` or `int()`, because NumPy's scalars divide by zero without raising), loops are short, and only operations that
both compute exactly are used. Exceptions are wanted: indices may be out of range and divisors zero.
"""

import random

SCALARS = ["int", "float", "bool", "str"]
CONTAINERS = ["ilist", "flist", "iarr", "farr", "pair", "slist", "arr2"]
PARAMETERS = [("n", "int"), ("x", "float"), ("b", "bool"), ("s", "str"), ("a", "farr"), ("k", "iarr"), ("xs", "ilist"), ("ys", "flist"), ("t", "pair"), ("m", "arr2")]
ARGUMENTS = '''ARGUMENTS = [
    (3, 1.5, True, "abc", np.array([1.0, -2.5, 3.0]), np.array([4, 0, -7, 2]), [5, -1], [0.5, 2.0], (2, 0.25), np.arange(6.0).reshape(2, 3)),
    (-2, -0.0, False, "", np.zeros(0), np.array([1]), [0], [1.0, -1.0, 3.5], (-1, -3.0), np.ones((3, 1))),
    (0, 1e10, True, "zé€", np.arange(8.0)[::2], np.arange(5)[::-1], [1, 2, 3, 4], [0.0], (7, 1.0), np.arange(4.0).reshape(2, 2).T),
]
'''


class Generator:
    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.lines, self.indent = [], 0
        self.functions = []  # (name, parameter types, result type)
        self.generators = []
        self.counter = 0

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

    # -- expressions: each method gives source text of the type in its name -------------------------------------------------------------------

    def name_of(self, env, kind):
        names = [n for n, k in env.items() if k == kind]
        return self.rng.choice(names) if names else None

    def expr(self, env, kind, depth):
        if kind in SCALARS and depth > 0 and self.chance(0.12):
            called = self.call(env, kind, depth - 1)
            if called:
                return called
        if depth <= 0 or self.chance(0.2):
            return self.name_of(env, kind) or self.leaf(env, kind)
        if kind in SCALARS and self.chance(0.08):
            return f"({self.expr(env, kind, depth - 1)} if {self.expr(env, 'bool', depth - 1)} else {self.expr(env, kind, depth - 1)})"
        return getattr(self, "expr_" + kind)(env, depth - 1)

    def leaf(self, env, kind):
        if kind == "int":
            return str(self.pick(0, 1, 2, 3, 5, 7, -1, -4, 100))
        if kind == "float":
            return self.pick("0.0", "1.0", "0.5", "-2.25", "3.0", "1e-3", "float('inf')", "-0.0")
        if kind == "bool":
            return self.pick("True", "False")
        if kind == "str":
            return self.pick("''", "'a'", "'xyz'", "'é€'")
        if kind == "pair":
            return f"({self.leaf(env, 'int')}, {self.leaf(env, 'float')})"
        if kind in ("ilist", "flist", "slist"):
            inner = {"i": "int", "f": "float", "s": "str"}[kind[0]]
            return f"[{', '.join(self.leaf(env, inner) for _ in range(self.rng.randint(1, 3)))}]"
        if kind == "farr":
            return self.pick("np.zeros(3)", "np.arange(4.0)", "np.ones(2)", "np.array([1.5, -0.5, 2.0])")
        if kind == "iarr":
            return self.pick("np.arange(4)", "np.zeros(2, np.int64)", "np.array([3, 1, 2])")
        return self.pick("np.zeros((2, 2))", "np.ones((2, 3))")

    def small(self, env, depth):
        return f"({self.expr(env, 'int', depth)} % 8)"

    def item(self, env, source, d):
        """An element, mostly one that exists."""
        if self.chance(0.85):
            return f"{source}[({self.expr(env, 'int', d)}) % max(len({source}), 1)]"
        return f"{source}[{self.index(env, d)}]"

    def expr_int(self, env, d):
        e = lambda k="int": self.expr(env, k, d)
        return self.pick(
            lambda: f"(({e()} {self.pick('+', '-', '*')} {e()}) % {self.pick(1009, 65537, -97)})",
            lambda: f"({e()} {self.pick('//', '%')} {e()})",
            lambda: f"({e()} {self.pick('&', '|', '^')} {e()})",
            lambda: f"(({e()} % 1000) << {self.small(env, d)})",
            lambda: f"({e()} >> {self.small(env, d)})",
            lambda: f"abs({e()})", lambda: f"(-{e()})", lambda: f"(~{e()})",
            lambda: f"{self.pick('min', 'max')}({e()}, {e()})",
            lambda: f"len({e(self.pick('ilist', 'flist', 'farr', 'iarr', 'str', 'slist', 'pair'))})",
            lambda: self.item(env, self.expr(env, 'ilist', 0), d),
            lambda: f"int({self.item(env, self.expr(env, 'iarr', 0), d)})",
            lambda: f"{e('pair')}[0]",
            lambda: f"int({e('bool')})",
            lambda: f"({e()} ** 2 % 1009)",
            lambda: f"(sum({self.expr(env, 'ilist', d)}) % 1009)",
            lambda: f"sum([q * 2 % 101 for q in {self.expr(env, 'ilist', 0)} if q {self.pick('<', '>', '!=')} {e()}])",
            lambda: f"{self.expr(env, 'arr2', 0)}.shape[{self.pick(0, 1, -1)}]",
            lambda: f"{self.expr(env, 'ilist', 0)}.count({e()})",
            lambda: f"({e()} or {e()})",
            lambda: f"({e()} and {e()})",
            lambda: f"divmod({e()}, {e()})[{self.pick(0, 1)}]",
            lambda: f"int(np.sum({self.expr(env, 'iarr', 0)} % 1000))",
            lambda: f"ord(({e('str')} + 'q')[0])",
        )()

    def index(self, env, d):
        return self.pick(lambda: str(self.pick(0, 1, -1, 2, -2, 3)), lambda: self.small(env, d), lambda: self.expr(env, "int", d))()

    def expr_float(self, env, d):
        e = lambda k="float": self.expr(env, k, d)
        return self.pick(
            lambda: f"({e()} {self.pick('+', '-', '*')} {e()})",
            lambda: f"({e()} {self.pick('/', '//', '%')} {e()})",
            lambda: f"({e()} {self.pick('+', '-', '*')} {e('int')})",
            lambda: f"({e('int')} / {e('int')})",
            lambda: f"abs({e()})", lambda: f"(-{e()})", lambda: f"float({e('int')})",
            lambda: f"{self.pick('min', 'max')}({e()}, {e()})",
            lambda: f"math.sqrt(abs({e()}))",
            lambda: f"math.copysign({e()}, {e()})",
            lambda: f"float({self.item(env, self.expr(env, 'farr', 0), d)})",
            lambda: f"float({self.expr(env, 'arr2', 0)}[{self.index(env, d)}, {self.index(env, d)}])",
            lambda: self.item(env, self.expr(env, 'flist', 0), d),
            lambda: f"{e('pair')}[1]",
            lambda: f"float(np.sum({self.expr(env, 'farr', 0)}))",
            lambda: f"float(np.max({self.expr(env, 'farr', 0)}))",
            lambda: f"sum({self.expr(env, 'flist', 0)}, 0.0)",
        )()

    def expr_bool(self, env, d):
        e = lambda k: self.expr(env, k, d)
        compare = ("<", "<=", "==", "!=", ">", ">=")
        kind = self.pick("int", "float", "str", "bool", "pair")
        return self.pick(
            lambda: f"({e(kind)} {self.pick(*compare)} {e(kind)})",
            lambda: f"({e('int')} {self.pick('<', '<=')} {e('int')} {self.pick('<', '!=')} {e('int')})",
            lambda: f"({e('bool')} {self.pick('and', 'or')} {e('bool')})",
            lambda: f"(not {e('bool')})",
            lambda: f"({e('int')} in {self.expr(env, 'ilist', 0)})",
            lambda: f"({e('str')} in {e('str')})",
            lambda: f"({self.expr(env, 'ilist', 0)} == {self.expr(env, 'ilist', 0)})",
            lambda: f"bool({e(self.pick('int', 'float', 'str'))})",
            lambda: f"{self.pick('any', 'all')}([q > {e('int')} for q in {self.expr(env, 'ilist', 0)}])",
        )()

    def expr_str(self, env, d):
        e = lambda k="str": self.expr(env, k, d)
        return self.pick(
            lambda: f"({e()} + {e()})[:12]",
            lambda: f"str({e(self.pick('int', 'bool', 'float'))})",
            lambda: f"(str({e('int')}) + '-')",
            lambda: self.item(env, self.expr(env, 'str', 0), d),
            lambda: f"{e()}[{self.index(env, d)}:{self.index(env, d)}]",
            lambda: f"{e()}[::{self.pick(-1, 2, -2)}]",
            lambda: f"({e()} * ({e('int')} % 3))",
            lambda: self.item(env, self.expr(env, 'slist', 0), d),
        )()

    def expr_pair(self, env, d):
        return f"({self.expr(env, 'int', d)}, {self.expr(env, 'float', d)})"

    def list_expr(self, env, d, kind, inner):
        e = lambda k: self.expr(env, k, d)
        return self.pick(
            lambda: f"[{', '.join(e(inner) for _ in range(self.rng.randint(1, 3)))}]",
            lambda: f"({e(kind)} + {e(kind)})[:6]",
            lambda: f"{e(kind)}[{self.index(env, d)}:{self.index(env, d)}]",
            lambda: f"{e(kind)}[::{self.pick(-1, 2)}]",
            # NaN has no place in an order, so lists of floats are not sorted.
            lambda: f"{'sorted' if kind != 'flist' else 'list'}({e(kind)})",
            lambda: f"{e(kind)}.copy()",
        )()

    def expr_ilist(self, env, d):
        if self.chance(0.3):
            inner = {**env, "q": "int"}
            return f"[{self.expr(inner, 'int', d)} for q in range({self.rng.randint(0, 4)})]"
        return self.list_expr(env, d, "ilist", "int")

    def expr_flist(self, env, d):
        if self.chance(0.3):
            return f"[q * 0.5 for q in {self.expr(env, self.pick('ilist', 'flist'), d)}]"
        return self.list_expr(env, d, "flist", "float")

    def expr_slist(self, env, d):
        return f"[c + '.' for c in {self.expr(env, 'str', d)}]" if self.chance(0.3) else self.list_expr(env, d, "slist", "str")

    def expr_farr(self, env, d):
        e = lambda k="farr": self.expr(env, k, d)
        return self.pick(
            lambda: f"({e()} {self.pick('+', '-', '*')} {e('float')})",
            lambda: f"({e()} {self.pick('+', '*')} {e('farr')})",
            lambda: f"{e()}[{self.index(env, d)}:]", lambda: f"{e()}[::{self.pick(-1, 2)}]",
            lambda: f"{e()}.copy()", lambda: f"np.abs({e()})",
            lambda: f"np.maximum({e()}, {e('float')})",
            lambda: self.item(env, self.expr(env, 'arr2', 0), d),
            lambda: f"np.where({e()} > {e('float')}, 1.0, 2.0)",
            lambda: f"np.full({self.rng.randint(0, 4)}, {e('float')})",
        )()

    def expr_iarr(self, env, d):
        e = lambda k="iarr": self.expr(env, k, d)
        return self.pick(
            lambda: f"(({e()} {self.pick('+', '-', '&', '|')} {e('int')}) % 1000)", lambda: f"{e()}[{self.index(env, d)}:]", lambda: f"{e()}.copy()",
            lambda: f"np.arange({self.rng.randint(0, 5)})", lambda: f"np.sort({e()})", lambda: f"(-{e()})",
        )()

    def expr_arr2(self, env, d):
        return self.pick(lambda: f"({self.expr(env, 'arr2', d)} + {self.expr(env, 'float', d)})", lambda: f"{self.expr(env, 'arr2', d)}.T",
                         lambda: f"{self.expr(env, 'arr2', d)}.copy()", lambda: f"{self.expr(env, 'arr2', 0)}[{self.index(env, d)}:, ::-1]")()

    def call(self, env, kind, depth):
        fitting = [f for f in self.functions if f[2] == kind]
        if not fitting:
            return None
        name, parameters, _ = self.rng.choice(fitting)
        return f"{name}({', '.join(self.expr(env, k, depth) for k in parameters)})"

    # -- statements ---------------------------------------------------------------------------------------------------------------------------

    def block(self, env, budget, depth, in_loop, result):
        """Statements in a scope of their own: names assigned first inside are not seen outside."""
        env = dict(env)
        self.indent += 1
        before = len(self.lines)
        for _ in range(self.rng.randint(1, max(budget, 1))):
            self.statement(env, budget, depth, in_loop, result)
        if len(self.lines) == before:
            self.emit("pass")
        self.indent -= 1

    def statement(self, env, budget, depth, in_loop, result):
        roll = self.rng.random()
        if roll < 0.34 or depth <= 0:
            self.assign(env, depth)
        elif roll < 0.48:
            self.emit(f"if {self.expr(env, 'bool', 2)}:")
            self.block(env, budget - 1, depth - 1, in_loop, result)
            if self.chance(0.4):
                self.emit("else:")
                self.block(env, budget - 1, depth - 1, in_loop, result)
        elif roll < 0.62:
            self.loop(env, budget, depth, result)
        elif roll < 0.71:
            self.attempt(env, budget, depth, in_loop, result)
        elif roll < 0.75 and in_loop:
            self.emit(f"if {self.expr(env, 'bool', 1)}:")
            self.emit("    " + self.pick("break", "continue"))
        elif roll < 0.78:
            self.emit(f"if {self.expr(env, 'bool', 1)}:")
            self.emit(f"    return {self.expr(env, result, 1)}")
        elif roll < 0.81:
            self.emit(f"if {self.expr(env, 'bool', 1)}:")
            self.emit(f"    raise {self.pick('ValueError', 'KeyError', 'RuntimeError')}({self.pick(repr('text'), self.expr(env, 'int', 1))})")
        elif roll < 0.92:
            self.pick(self.closure, self.matching, self.optional, self.unpacking, self.consume)(env, budget, depth, in_loop, result)
        elif roll < 0.94:
            self.emit(f"print({self.expr(env, self.rng.choice(SCALARS), 1)}, {self.expr(env, 'int', 1)})")
        else:
            self.mutate(env)

    def assign(self, env, depth):
        kind = self.rng.choice(SCALARS + ["int", "float"] + CONTAINERS)
        name = self.name_of(env, kind) if self.chance(0.5) else None
        if name and kind in ("int", "float") and self.chance(0.4):
            if kind == "int":
                self.emit(f"{name} = ({name} {self.pick('+', '-', '*')} {self.expr(env, 'int', 1)}) % 10007")
            else:
                self.emit(f"{name} {self.pick('+=', '-=', '*=')} {self.expr(env, 'float', 1)}")
            return
        if name is None:
            name = self.fresh(kind)
        self.emit(f"{name} = {self.expr(env, kind, 3)}")
        env[name] = kind

    def loop(self, env, budget, depth, result):
        form = self.rng.random()
        inner = dict(env)
        if form < 0.4:
            name = self.fresh("int")
            self.emit(f"for {name} in range({self.pick('3', '5', '1, 4', '4, 0, -1', '0, 6, 2')}):")
            inner[name] = "int"
        elif form < 0.7:
            kind, element = self.pick(("ilist", "int"), ("flist", "float"), ("str", "str"), ("slist", "str"))
            name = self.fresh(element)
            self.emit(f"for {name} in {self.expr(env, kind, 1)}[:4]:")
            inner[name] = element
        elif form < 0.85:
            i, name = self.fresh("int"), self.fresh("int")
            self.emit(f"for {i}, {name} in enumerate({self.expr(env, 'ilist', 1)}[:4]):")
            inner[i] = inner[name] = "int"
        else:
            name = self.fresh("int")
            self.emit(f"{name} = {self.rng.randint(0, 4)}")
            self.emit(f"while {name} > 0:")
            self.emit(f"    {name} -= 1")
        self.block(inner, budget - 1, depth - 1, True, result)
        if self.chance(0.15):
            self.emit("else:")
            self.block(env, budget - 1, depth - 1, False, result)

    def attempt(self, env, budget, depth, in_loop, result):
        self.emit("try:")
        self.block(env, budget - 1, depth - 1, in_loop, result)
        handled = self.chance(0.85)
        if handled:
            caught = self.pick("ZeroDivisionError", "IndexError", "(ValueError, KeyError)", "Exception", "LookupError", "ArithmeticError")
            self.emit(f"except {caught}:")
            self.block(env, budget - 1, depth - 1, in_loop, result)
            if self.chance(0.2):
                self.emit("else:")
                self.block(env, budget - 1, depth - 1, in_loop, result)
        if not handled or self.chance(0.25):
            self.emit("finally:")
            self.indent += 1
            self.assign(dict(env), 1)
            self.indent -= 1

    def closure(self, env, budget, depth, in_loop, result):
        """An inner function that reads variables around it, called once or twice."""
        name, kind, returns = self.fresh("inner"), self.rng.choice(["int", "float", "str"]), self.rng.choice(["int", "float", "bool"])
        inner = {**{n: k for n, k in env.items() if k in SCALARS or self.chance(0.3)}, "q": kind}
        if self.chance(0.5):
            self.emit(f"{name} = lambda q: {self.expr(inner, returns, 2)}")
        else:
            self.emit(f"def {name}(q, r={self.leaf(env, 'int')}):")
            self.emit(f"    return {self.expr({**inner, 'r': 'int'}, returns, 2)}")
        target = self.fresh(returns)
        self.emit(f"{target} = {name}({self.expr(env, kind, 1)})")
        if self.chance(0.5):
            self.emit(f"{target} = {name}({self.expr(env, kind, 1)})")
        env[target] = returns

    def matching(self, env, budget, depth, in_loop, result):
        kind = self.pick("int", "str")
        self.emit(f"match {self.expr(env, kind, 1)}:")
        self.indent += 1
        self.emit(f"case {self.leaf(env, kind)}:")
        self.block(env, budget - 2, depth - 1, in_loop, result)
        self.emit(f"case {self.leaf(env, kind)} | {self.leaf(env, kind)}:")
        self.block(env, budget - 2, depth - 1, in_loop, result)
        name = self.fresh(kind)
        self.emit(f"case {name} if {self.expr({**env, name: kind}, 'bool', 1)}:")
        self.block({**env, name: kind}, budget - 2, depth - 1, in_loop, result)
        if self.chance(0.5):
            self.emit("case _:")
            self.block(env, budget - 2, depth - 1, in_loop, result)
        self.indent -= 1

    def optional(self, env, budget, depth, in_loop, result):
        """A value that may be None, used where it is not."""
        kind = self.rng.choice(SCALARS)
        name, target = self.fresh("maybe"), self.fresh(kind)
        self.emit(f"{name} = {self.expr(env, kind, 1)} if {self.expr(env, 'bool', 1)} else None")
        self.emit(f"{target} = {self.leaf(env, kind)}")
        self.emit(f"if {name} is not None:")
        self.emit(f"    {target} = {name}")
        env[target] = kind

    def unpacking(self, env, budget, depth, in_loop, result):
        first, second = self.fresh("int"), self.fresh("float")
        self.emit(self.pick(
            f"{first}, {second} = {self.expr(env, 'pair', 1)}", f"{first}, *_, {second} = {self.expr(env, 'int', 1)}, {self.expr(env, 'str', 1)}, {self.expr(env, 'float', 1)}",
            f"({first}, {second}), _ = {self.expr(env, 'pair', 1)}, {self.expr(env, 'bool', 1)}"))
        env[first], env[second] = "int", "float"

    def consume(self, env, budget, depth, in_loop, result):
        """A generator function of the program, or a generator expression, in a loop or a reduction."""
        target = self.fresh("int")
        if self.generators and self.chance(0.6):
            call = f"{self.rng.choice(self.generators)}({self.small(env, 1)}, {self.expr(env, 'int', 1)})"
        else:
            call = f"({self.expr({**env, 'q': 'int'}, 'int', 1)} for q in range({self.rng.randint(0, 5)}))"
        if self.chance(0.5):
            self.emit(f"{target} = sum({call}) % 1009")
        else:
            self.emit(f"{target} = 0")
            self.emit(f"for y in {call}:")
            self.emit(f"    {target} = ({target} * 3 + y) % 1009")
        env[target] = "int"

    def generator(self, name):
        """`name(count, x)`: yields ints."""
        self.emit("@njit")
        self.emit(f"def {name}(count, x):")
        self.indent += 1
        env = {"count": "int", "x": "int", "i": "int"}
        self.emit("for i in range(count):")
        self.emit(f"    if {self.expr(env, 'bool', 1)}:")
        self.emit("        " + self.pick("continue", "return", "x = (x + i) % 100", "raise ValueError('in a generator')"))
        self.emit(f"    yield {self.expr(env, 'int', 2)}")
        if self.chance(0.3):
            self.emit("yield x")
        self.indent -= 1
        self.lines += ["", ""]
        self.generators.append(name)

    def mutate(self, env):
        kind = self.rng.choice(["ilist", "flist", "farr", "iarr", "arr2"])
        name = self.name_of(env, kind)
        if not name:
            return self.assign(env, 1)
        element = "int" if kind[0] == "i" else "float"
        value = self.expr(env, element, 1)
        if kind == "arr2":
            return self.emit(f"{name}[{self.index(env, 1)}, {self.index(env, 1)}] = {value}")
        if kind in ("ilist", "flist") and self.chance(0.6):
            return self.emit(self.pick(f"if len({name}) < 8: {name}.append({value})", f"{name}.pop()", f"{name}.reverse()", f"{name}.sort()" if kind == "ilist" else f"{name}.clear()",
                                       f"{name}.insert({self.index(env, 0)}, {value})", f"{name}[1:2] = []", f"del {name}[{self.index(env, 0)}]"))
        if kind in ("farr", "iarr") and self.chance(0.4):
            return self.emit(self.pick(f"{name}[{self.index(env, 0)}:] = {value}", f"{name} += 1", f"{name}[::2] *= 2"))
        self.emit(f"{self.item(env, name, 1)} = {value}")

    # -- functions ----------------------------------------------------------------------------------------------------------------------------

    def function(self, name, parameters, result, budget, depth):
        self.emit("@njit")
        self.emit(f"def {name}({', '.join(p for p, _ in parameters)}):")
        env = dict(parameters)
        self.indent += 1
        for _ in range(self.rng.randint(2, budget)):
            self.statement(env, budget, depth, False, result)
        self.emit(f"return {self.expr(env, result, 2)}")
        self.indent -= 1
        self.emit("")
        self.emit("")

    def program(self):
        if self.chance(0.3):
            self.generator("numbers")
        for i in range(self.rng.randint(0, 3)):
            kinds = [self.rng.choice(SCALARS) for _ in range(self.rng.randint(1, 3))]
            result = self.rng.choice(SCALARS)
            parameters = [(f"p{j}", k) for j, k in enumerate(kinds)]
            self.function(f"helper{i}", parameters, result, 3, 2)
            self.functions.append((f"helper{i}", kinds, result))
        self.function("main", PARAMETERS, self.rng.choice(SCALARS + CONTAINERS), 7, 3)
        return "\n".join(self.lines) + ARGUMENTS
