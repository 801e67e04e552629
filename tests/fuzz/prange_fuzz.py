"""Differential fuzzing of parallel loops: random loops over `prange` as plain Python loops, and compiled on 1, 2 and 4 threads, with identical bits.

    python tests/fuzz/prange_fuzz.py --seconds 600 --seed 1

All floats are sums of few powers of two, so that the order of additions does not matter, but for some that are NaN, infinite or a zero of either sign. A program that is refused as a race is counted, and shown with `--refused`: all are free of races.
"""

import linecache
import random
import warnings

import driver

THREADS = (1, 2, 4)
BATCH = 25


class Program:
    """One function with a parallel loop or two; a seed gives the same one everywhere."""

    def __init__(self, seed):
        self.rng, self.lines, self.count = random.Random(seed), [], 0
        self.before, self.results = [], []
        # What the iterations of a loop inside may share as well.
        self.nestable = []

    def pick(self, *choices):
        return self.rng.choice(choices)

    def chance(self, p):
        return self.rng.random() < p

    def fresh(self, stem):
        self.count += 1
        return f"{stem}{self.count}"

    # -- values of one iteration

    def number(self, env):
        """A float that is exact, of the iteration."""
        names = [n for n, kind in env.items() if kind == "f"]
        return self.pick("a[i]", "a[i] * 2", "0.25 * i", "m[i, 1]", "m[i, i % 3] - a[i]", "a[b[i]]", "float(b[i])", "abs(a[i])", "-a[i]", "1.5", *names, *names)

    def whole(self, env):
        names = [n for n, kind in env.items() if kind == "i"]
        return self.pick("i", "b[i]", "i % 7", "b[i] * 3 - i", "i // 3", "1", "len(a) - i", "int(a[i])", "(b[i] & 3)", *names, *names)

    def condition(self, env):
        names = [n for n, kind in env.items() if kind == "i"]
        simple = self.pick("a[i] > 0.5", "i % 3 == 1", "b[i] < 4", f"{self.number(env)} <= {self.number(env)}", "i != 5", f"{self.whole(env)} > 2", "m[i, 0] > a[i]", *[f"{n} % 2 == 0" for n in names])
        return f"{simple} {self.pick('and', 'or')} {self.condition(env)}" if self.chance(0.2) else f"not {simple}" if self.chance(0.1) else simple

    # -- what iterations share: a list of lines that change it, to be put anywhere in the body

    def shared(self, env):
        kind = self.pick(*[n for n in dir(self) if n.startswith("share_")])
        write = getattr(self, kind)(env)
        if kind in ("share_sum", "share_count", "share_product", "share_bits", "share_extreme", "share_row", "share_list"):
            self.nestable.append(write)
        return write

    def variable(self, start, stem="s"):
        name = self.fresh(stem)
        self.before.append(f"{name} = {start}")
        self.results.append(name)
        return name

    def share_sum(self, env):
        if self.chance(0.5):
            s, x = self.variable(self.pick("0", "10", "-3")), self.whole
        else:
            s, x = self.variable(self.pick("0.0", "0.5", "-0.0")), self.number
        return lambda e: [self.pick(f"{s} += {x(e)}", f"{s} -= {x(e)}", f"{s} = {s} + {x(e)}", f"{s} = {x(e)} + {s}", f"{s} = {s} + {x(e)} - {x(e)}", f"{s} += {x(e)} if {self.condition(e)} else {x(e)}")]

    def share_count(self, env):
        s = self.variable("0")
        return lambda e: [self.pick(f"{s} += {self.condition(e)}", f"{s} += 1")]

    def share_product(self, env):
        s = self.variable(self.pick("1.0", "4.0"), "p")
        return lambda e: [self.pick(f"{s} *= 1.0 if {self.condition(e)} else -1.0", f"{s} = {s} * (2.0 if i == 3 else 1.0)", f"{s} /= 2.0 if i % 16 == 1 else 1.0", f"{s} *= -1.0")]

    def share_bits(self, env):
        op = self.pick("&", "|", "^")
        s = self.variable({"&": "1023", "|": "0", "^": "5"}[op], "q")
        return lambda e: [self.pick(f"{s} {op}= {self.whole(e)} & 127 | 8", f"{s} = {s} {op} ({self.whole(e)} & 63)", f"{s} = (b[i] | 16) {op} {s}")]

    def share_truth(self, env):
        s, op = self.variable(self.pick("True", "False"), "t"), self.pick("and", "or", "&", "|", "if")
        if op in "&|":
            return lambda e: [f"{s} {op}= bool({self.condition(e)})"]
        if op == "if":
            value = self.pick("True", "False")
            return lambda e: [f"if {self.condition(e)}:", f"    {s} = {value}"]
        if self.chance(0.2):
            return lambda e: [f"{s} = {s} {op} ({self.condition(e)} and 12 // int(b[i]) > 2)"]
        if self.chance(0.5):
            return lambda e: [f"{s} = {s} {op} bool({self.condition(e)})"]
        return lambda e: [f"{s} = bool({self.condition(e)}) {op} {s}"]

    def share_extreme(self, env):
        x = self.pick(self.number, self.whole)
        s, which = self.variable("1000000" if x == self.whole else "1e6", "x"), "min"
        if self.chance(0.5):
            self.before[-1], which = f"{s} = -1000000" if x == self.whole else f"{s} = -1e6", "max"
        form = self.pick("call", "call", "if")
        if form == "call":
            return lambda e: [self.pick(f"{s} = {which}({s}, {x(e)})", f"{s} = {which}({x(e)}, {s})", f"{s} = {which}({s}, {x(e)}, {x(e)})")]
        return lambda e: (lambda v: [f"if {v} {'<' if which == 'min' else '>'} {s}:", f"    {s} = {v}"])(x(e))

    def share_best(self, env):
        """Once in the body: the value, and what belongs to it."""
        compare, start = self.pick(("<", "1e6"), (">", "-1e6"), ("<=", "1e6"), (">=", "-1e6"))
        form = self.pick("pair", "pair", "three", "tuple", "none", "none tuple", "none not", "index", "continue", "swapped", "else", "max tuple", "tuple max", "not tuple", "not index", "inner", "inner none", "mark", "first mark", "absolute", "absolute index", "converted")
        more = ""
        if form in ("pair", "three", "continue", "swapped", "else"):
            best, at = self.variable(start, "best"), self.variable("-1", "at")
            also = self.variable("0.0", "also") if form == "three" else None
            more = [f"    {at} = {self.pick('i', 'i', 'i', '12 // int(b[i])', 'int(a[b[i] * 2])')}"] + ([f"    {also} = m[i, 2]"] if also else [])
        done = []

        def write(e):
            if done:
                return ["pass"]
            done.append(1)
            v = self.number({k: t for k, t in e.items() if "inner" not in k})
            flipped = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}[compare]
            opposite = {"<": ">=", ">": "<=", "<=": ">", ">=": "<"}[compare]
            guard = f"({self.condition(e)}) and " if self.chance(0.3) and form in ("pair", "three", "swapped") else ""
            if form in ("pair", "three"):
                return [f"if {guard}{v} {compare} {best}:", *([f"    {best} = {v}"] + more if self.chance(0.5) else more + [f"    {best} = {v}"])]
            if form == "swapped":
                return [f"if {guard}{best} {flipped} {v}:", f"    {best}, {at} = {v}, i"]
            if form == "else":
                return [f"if {v} {opposite} {best}:", "    pass", "else:", f"    {best} = {v}", *more]
            if form == "continue":
                return [f"w = {v}", f"if not w {opposite} {best}:", f"    {best} = w", *more]
            if form == "tuple":
                best_ = self.variable(f"({start}, -1)", "best")
                return [f"if {v} {compare} {best_}[0]:", f"    {best_} = ({v}, i)"]
            if form == "max tuple":
                which = "min" if "<" in compare else "max"
                best_ = self.variable(f"({start}, -1)", "best")
                return [f"{best_} = {which}({best_}, ({v}, i))"]
            if form == "tuple max":
                which = "min" if "<" in compare else "max"
                best_ = self.variable(f"({start}, 0.5)", "best")
                return [f"{best_} = {which}({self.pick(f'({v}, m[i, 2]), {best_}', f'{best_}, ({v}, m[i, 2])')})"]
            if form in ("inner", "inner none"):
                best_, at_ = self.variable("None" if "none" in form else start, "best"), self.variable("-1", "at")
                none = f"{best_} is None or " if "none" in form else ""
                test = self.pick(f"m[i, z] {compare} {best_}", f"not m[i, z] {opposite} {best_}")
                skip = self.pick([], [], [f"    if {self.condition({})}:", "        continue"], ["    if z == b[i]:", "        break"])
                return [f"for z in range({self.pick('3', 'b[i] % 3')}):", *skip, f"    if {none}{test}:", f"        {best_}, {at_} = m[i, z], i * 3 + z"]
            if form == "not tuple":
                best_ = self.variable(f"({start}, -1)", "best")
                return [f"if not {v} {opposite} {best_}[0]:", f"    {best_} = ({v}, i)"]
            if form == "not index":
                best_ = self.variable("0", "at")
                return [f"if not a[i] {opposite} a[{best_}]:", f"    {best_} = i"]
            if form in ("mark", "first mark"):
                best_ = self.variable("-1", "at")
                mark = self.pick(f"{best_} == -1", f"{best_} < 0", f"not {best_} >= 0", f"-1 >= {best_}")
                return [f"if {mark} {f'and {self.condition(e)}' if 'first' in form else f'or a[i] {compare} a[{best_}]'}:", f"    {best_} = i"]
            if form == "absolute":
                best_ = self.variable("0.25", "best")
                return [f"if abs({v}) {compare} abs({best_}):", f"    {best_} = {v}"]
            if form == "absolute index":
                best_ = self.variable("0", "at")
                return [f"if abs(a[i]) {compare} abs(a[{best_}]):", f"    {best_} = i"]
            if form == "converted":
                best_ = self.variable("0", "best")
                return [f"{best_} = int({'min' if '<' in compare else 'max'}({best_}, {v}))"]
            if form == "none not":
                best_ = self.variable("None", "best")
                return [f"if {best_} is None or not {v} {opposite} {best_}:", f"    {best_} = {v}"]
            if form == "none":
                best_ = self.variable("None", "best")
                return [f"if {best_} is None or {v} {compare} {best_}:", f"    {best_} = {v}"]
            if form == "none tuple":
                best_ = self.variable("None", "best")
                return [f"if {best_} is None or {v} {compare} {best_}[0]:", f"    {best_} = ({v}, i)"]
            best_ = self.variable("0", "at")
            return [f"if a[i] {compare} a[{best_}]:", f"    {best_} = i"]
        return write

    def share_last(self, env):
        s, x = self.variable("0.5", "l"), self.number
        return lambda e: [f"{s} = {x({k: t for k, t in e.items()})}"]

    def share_list(self, env):
        s, x = self.variable("[0.0]", "xs"), self.number
        return lambda e: [self.pick(f"{s}.append({x(e)})", f"{s}.append({x(e)} + 1)", f"{s}.extend([{x(e)}, 0.5])")]

    def share_text(self, env):
        s = self.variable("'>'", "text")
        return lambda e: [f"{s} += str({self.whole(e)})"]

    def share_row(self, env):
        s = self.variable("np.zeros(3)", "acc")
        return lambda e: [self.pick(f"{s} += m[i]", f"{s} -= m[i] * 2", f"{s} = {s} + m[i]")]

    def index(self):
        return self.pick("b[i]", "i % 8", "b[i]", "i // 2 % 8", "(i + b[i]) % 8", "3")

    def share_bins(self, env):
        form = self.pick("sum", "sum", "list", "matrix", "min", "max", "bits", "neighbours")
        if form == "list":
            h = self.variable("[0] * 8", "h")
            return lambda e: [f"{h}[{self.index()}] += {self.whole(e)}"]
        if form == "matrix":
            h = self.variable("np.zeros((8, 3))", "h")
            return lambda e: [self.pick(f"{h}[{self.index()}, i % 3] += {self.number(e)}", f"{h}[{self.index()}] += m[i]", f"{h}[b[i], 1] -= {self.number(e)}")]
        if form in ("min", "max"):
            h = self.variable("np.full(8, 2.0)", "h")
            return lambda e: (lambda k: [self.pick(f"{h}[{k}] = {form}({h}[{k}], {self.number(e)})", f"{h}[{k}] = {form}({self.number(e)}, {h}[{k}])")])(self.index())
        if form == "bits":
            h = self.variable("np.zeros(8, np.int64)", "h")
            return lambda e: [f"{h}[{self.index()}] ^= {self.whole(e)} & 31"]
        if form == "neighbours":
            h = self.variable("np.zeros(len(a) + 2)", "h")
            return lambda e: [f"{h}[i] += {self.number(e)}", f"{h}[i + {self.pick(1, 2)}] -= {self.number(e)}"]
        h = self.variable("np.zeros(8)", "h")
        return lambda e: [self.pick(f"{h}[{self.index()}] += {self.number(e)}", f"{h}[{self.index()}] -= 0.5")]

    def share_best_bins(self, env):
        compare = self.pick("<", ">", "<", ">", "<=", ">=")
        h = self.variable("np.full(8, 0.5)", "h")
        w = self.variable("np.full(8, -1)", "w") if self.chance(0.5) else None
        done = []

        def write(e):
            if done:
                return ["pass"]
            done.append(1)
            k, v = self.index(), self.number({})
            return [f"if {v} {compare} {h}[{k}]:", f"    {h}[{k}] = {v}", *([f"    {w}[{k}] = {self.pick('i', 'i', '12 // int(b[i])')}"] if w else [])]
        return write

    def share_out(self, env):
        form = self.pick("vector", "matrix", "row", "pairs", "strided")
        if form == "vector":
            out = self.variable("np.zeros(len(a))", "out")
            return lambda e: [self.pick(f"out_[i] = {self.number(e)}", f"out_[i] += {self.number(e)}", "out_[i] = out_[i] * 0.5 + i").replace("out_", out)]
        if form == "matrix":
            out = self.variable("np.zeros((len(a), 3))", "out")
            return lambda e: [f"{out}[i, {self.pick('i % 3', '0', 'b[i] % 3')}] = {self.number(e)}"]
        if form == "row":
            out = self.variable("np.zeros((len(a), 3))", "out")
            return lambda e: [self.pick(f"{out}[i] = m[i] * 2", f"{out}[i, :] = {self.number(e)}", f"{out}[i, 1:] += m[i, 1:]")]
        if form == "pairs":
            out = self.variable("np.zeros(2 * len(a))", "out")
            return lambda e: [f"{out}[2 * i] += {self.number(e)}", f"{out}[2 * i + 1] = {self.number(e)}"]
        out = self.variable("[[0] for _ in range(len(a))]", "rows")
        return lambda e: [self.pick(f"{out}[i].append({self.whole(e)})", f"{out}[i] = [{self.whole(e)}]")]

    # -- the body

    def block(self, env, writers, depth):
        lines = []
        env = dict(env)
        for _ in range(self.rng.randint(1, 4 if depth == 0 else 2)):
            lines += self.statement(env, writers, depth)
        return lines

    def statement(self, env, writers, depth):
        indent = lambda lines: ["    " + x for x in lines]
        form = self.rng.random()
        if form < 0.45 or depth >= 3:
            return self.rng.choice(writers)(env)
        if form < 0.6:
            name, kind = self.fresh("v"), self.pick("f", "i")
            value = self.number(env) if kind == "f" else self.whole(env)
            env[name] = kind
            if depth == 0 and self.chance(0.3):
                self.results.append(name)  # what the last iteration leaves, or nothing
            return [f"{name} = {value}"]
        if form < 0.75:
            lines = [f"if {self.condition(env)}:", *indent(self.block(env, writers, depth + 1))]
            if self.chance(0.4):
                lines += ["else:", *indent(self.block(env, writers, depth + 1))]
            return lines
        if form < 0.85:
            j = self.fresh("j")
            if self.nestable and self.chance(0.3):
                body = self.block({**env, j: "i"}, self.nestable, 3)
                return [f"for {j} in prange({self.pick('3', 'b[i]', 'i % 4', '40')}):", *indent(body)]
            body = self.block({**env, j: "i"}, writers, depth + 1)
            if self.chance(0.3):
                body = [f"if {j} == b[i]:", f"    {self.pick('continue', 'break')}"] + body
            return [f"for {j} in range({self.pick('3', 'b[i]', 'i % 4', '2')}):", *indent(body)]
        if form < 0.9:
            t = self.fresh("tmp")
            env[t] = "f"
            return [f"arr = m[i] * {self.pick('2', '0.5')}", f"{t} = 0.0", "for q in range(3):", f"    {t} += arr[q]"]
        if form < 0.96:
            t = self.fresh("d")
            lines = ["try:", f"    {t} = 12 // (int(b[i]) - {self.pick(0, 3, 9)})", "except ZeroDivisionError:", f"    {t} = {self.pick(-1, 7)}"]
            env[t] = "i"
            return lines
        if depth == 0:
            return [f"if {self.condition(env)}:", "    continue"]
        return ["pass"]

    def loop(self):
        env, self.before, self.nestable = {}, [], []
        writers = [self.shared(env) for _ in range(self.rng.randint(1, 4))]
        header = self.pick("prange(n)", "prange(n)", "prange(len(a))", "prange(1, n)", "prange(n - 1, -1, -1)", "prange(0, n, s)", "prange(s, n)", "prange(0, n, 2)", "prange(n - 1, 0, -s)", "prange(m.shape[0])")
        body = self.block(env, writers, 0)
        for w in writers:
            body += w(env)
        raises = self.pick(None, None, None, None, "raise", "divide")
        if raises == "raise":
            body.insert(self.rng.randint(0, 1) and len(body), f"if i == {self.pick('n // 2', 'n - 2', 'n + 5')}:\n            raise ValueError(i)".replace("\n            ", "\n        "))
        if raises == "divide":
            body.append(f"1 // (i - {self.pick('n // 3', 'n + 1')})")
        text = [f"for i in {header}:", *("    " + line for piece in body for line in piece.split("\n"))]
        if raises and self.chance(0.5):
            text = ["try:", *("    " + x for x in text), f"except {self.pick('ValueError', 'Exception')}:", "    raise KeyError(1)"]
        return [*self.before, *text]

    def neighbours(self):
        """Two or three loops that follow each other, with arrays that they share; some become one loop."""
        self.before = []
        c, d = (self.variable(self.pick("np.zeros(n)", "np.zeros(len(a))", "np.zeros_like(a)"), stem) for stem in "cd")
        s = self.variable("0.5")
        over = self.pick("n", "len(a)", "0, n", "n - 1, -1, -1")
        lines, later = list(self.before), []
        for k in range(self.pick(2, 2, 3)):
            old = self.pick(f"{c}[i]", f"{c}[i]", f"{d}[i]") if k else "1.0"
            forms = [f"{c}[i] = {old} + {self.number({})}", f"{d}[i] = {old} * 2 - {self.number({})}", f"{s} += {old}" if k == 1 else f"{d}[i] = {self.number({})}", f"{d}[i] = {c}[i - 1]" if k and self.chance(0.2) else f"{c}[i] = float(i)"]
            body = [self.pick(*forms) for _ in range(self.pick(1, 1, 2))]
            if self.chance(0.25):
                body.insert(0, f"if {self.condition({})}:\n        continue")
            if self.chance(0.25):
                body.insert(self.pick(0, len(body)), self.pick("1 // (i - n // 3)", "a[i + n // 2]", f"{c}[i] = 12 // int(b[i])", "a[2 * i]"))
            if k and self.chance(0.15):
                later.append(self.pick(f"{c}[0] = 7.0", f"{s} *= 2", "t = np.zeros(n)", "t = len(a)"))
                lines.append(later[-1])
            lines += [f"for i in prange({over if self.chance(0.9) else 'n - 1'}):", *("    " + x for part in body for x in part.split("\n"))]
        if self.chance(0.15):
            lines = [*self.before, "try:", *("    " + x for x in lines[len(self.before):]), f"except {self.pick('IndexError', 'Exception')}:", "    raise KeyError(1)"]
        return lines

    def text(self):
        if self.chance(0.15):
            lines = self.neighbours()
            return "def main(a, b, m, n, s):\n" + "\n".join("    " + x for x in lines) + f"\n    return ({', '.join(self.results)},)\n"
        lines = self.loop()
        if self.chance(0.3):
            lines += self.loop()
        if self.chance(0.2):
            lines = [*(f"    {x}" for x in lines)]
            lines = ["for outer in range(2):", *lines]
        return "def main(a, b, m, n, s):\n" + "\n".join("    " + x for x in lines) + f"\n    return ({', '.join(self.results)},)\n"


def arguments(np, seed):
    rng = random.Random(seed)
    for n in (rng.choice((1, 2, 3)), rng.choice((9, 40, 129)), 300):
        a = np.array([rng.choice((0.0, 0.25, 0.5, 1.0, 1.5, -2.0, 3.25, -0.75, rng.randint(-64, 64) / 8)) for _ in range(n)])
        b = np.array([rng.randrange(min(n, 8)) for _ in range(n)])
        m = np.array([[rng.randint(-16, 16) / 4 for _ in range(3)] for _ in range(n)])
        yield a, b, m, n, rng.choice((1, 2, 3, 7))
    hostile = lambda: rng.choice((np.nan, np.nan, 0.0, -0.0, np.inf, -np.inf, 1.0, -2.0, 0.25)) if rng.random() < share else rng.choice((0.5, -1.5, 2.0))
    share, n = rng.choice((0.1, 0.5, 1.0)), rng.choice((7, 60, 200))
    yield np.array([hostile() for _ in range(n)]), np.array([rng.randrange(min(n, 8)) for _ in range(n)]), np.array([[hostile() for _ in range(3)] for _ in range(n)]), n, rng.choice((1, 3))


def frozen(np, x):
    if isinstance(x, (list, tuple)):
        return [type(x).__name__, *(frozen(np, y) for y in x)]
    if isinstance(x, np.ndarray):
        return frozen(np, x.tolist())
    if isinstance(x, (bool, np.bool_)):
        return int(x)
    return float(x).hex() if isinstance(x, (float, np.floating)) else int(x) if isinstance(x, np.integer) else x


def outcome(np, function, args):
    try:
        return frozen(np, function(*args))
    except (ValueError, ZeroDivisionError, UnboundLocalError, IndexError, KeyError, OverflowError) as e:
        return type(e).__name__, str(e) if isinstance(e, ValueError) else ""


def load(seed, text, prange):
    import numpy as np
    name = f"<prange {seed}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    space = {"np": np, "prange": prange}
    exec(compile(text, name, "exec"), space)
    return space["main"]


def check(seed, text=None):
    """None, or what is wrong: a text that begins with `refused` where the compiler says no."""
    import numpy as np
    import tierup
    text = Program(seed).text() if text is None else text
    plain = load(seed, text, range)
    compiled = tierup.njit(parallel=True)(load(seed, text, tierup.prange))
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for args in arguments(np, seed):
            want = outcome(np, plain, args)
            for threads in THREADS:
                tierup.set_num_threads(min(threads, tierup.config.num_threads))
                try:
                    got = outcome(np, compiled, args)
                except TypeError as e:
                    return f"refused: {e}"
                if got != want:
                    return f"n = {args[3]}, s = {args[4]}, {threads} threads: expected {want}, got {got}"[:1500]
    return None


def run(first, last):
    """What is wrong with programs, by seed; each batch in a process of its own."""
    return driver.apart(__file__, first, last, TIERUP_NUM_THREADS=str(max(THREADS)))


if __name__ == "__main__":
    driver.main(driver.Options(__doc__), lambda seed: Program(seed).text(), check, run, BATCH)
