"""Random functions that do not compile whole, since they write to a file object: their loops are cut out and compiled, and Python runs the rest.

    python tests/fuzz/lifting_fuzz.py --seconds 600 --seed 1

The oracle is CPython: the same function without the decorator. What it gives or raises is compared, with every variable that is set at the end, the arguments as they were left, and what was written.
"""

import contextlib
import io
import linecache
import random
import re
import warnings

import driver
import numpy as np
import tierup

SIMPLE = [
    "s += {i}", "s = s * 3 % 1000", "k = {i}", "k -= 1", "s -= int(b[{i} % 4])", "s += k * {i}", "s *= 7", "s = s * 1000003 + k", "k, s = s, k",
    "x += a[{i} % 4]", "y = x * 0.5", "x -= y", "y = float({i})", "x = max(x, y)", "z = a[{i} % 4]",
    "a[{i} % 4] = x", "b[({i} + 1) % 4] += 1", "a += 1.0", "b[{i}] = k", "c = a * 2.0", "x += c[0]", "a, c = c, a",
    "xs.append({i})", "xs[{i} % 3] = k % 100", "xs.pop()", "s += len(xs)", "xs = xs[-9:] + [k % 50]", "xs += [1]", "s += sum(xs)", "ys = [v + {i} for v in xs]",
    "d[{i} % 5] = k % 7", "s += d[{i}]", "s += d.get({i}, 2)", "d.pop({i})", "s += len(d)", "flag = {i} > 2", "s += 1 if flag else 2",
    "last = {i}", "s += last", "t = ({i}, y)", "s += t[0]", "text = text + 'a'", "s += len(text)", "s += 7 // (len(xs) - 4)", "best = {i} if best is None else max(best, {i})", "s += (w := {i} * 2)", "s += w",
    "s += sum({i} for _ in range(3))", "f = lambda v: v + k", "s += f({i})", "del last", "m = np.float32(x)", "m = m + 1",
]  # fmt: skip
HELD = [
    "s += o.n", "x += o.rate", "o.grid[{i} % 4] += x", "y = o.sub.alpha * 2", "s += o.sub.items[{i} % 3]", "k += cfg['k']", "x = cfg['rate'] + y", "s += len(o.grid)", "s += o.asked", "s += o.fixed",
    "s += cfg['more']['deep']", "x = o.grid[{i}] * o.rate", "s += o.double(k)", "o.sub.items.append(k % 9)",
]  # fmt: skip
CHANGING = ["o.n += 1", "cfg['k'] = {i}", "o.rate = y", "o.sub.alpha = 0.25", "cfg['new'] = {i}", "o.grid = o.grid + 1.0"]
OBJECTS = ["out.write(f'{{s}};')", "marks.append((k, 'x'))", "marks[-1] = {i}", "out.write(text)", "marks.extend([None, {i}])", "note = str(marks[0])"]
CONDITIONS = ["{i} % 2 == 0", "s > 40", "k < 3", "x > y", "flag", "{i} == 3", "len(xs) > 4", "best is not None", "last > 1", "not d", "text in 'aaa'"]
HANDLED = ["ZeroDivisionError", "(IndexError, KeyError)", "ValueError", "Exception", "NameError"]
VARIABLES = ["s", "k", "x", "y", "z", "flag", "last", "t", "text", "best", "w", "m", "note", "i0", "i1", "i2", "xs", "ys", "c"]


class Program:
    """One program; `source` is its text."""

    def __init__(self, seed):
        self.random = r = random.Random(seed)
        # How much of the program is about objects that compiled code does not hold.
        self.held = r.choice([0, 0, 3, 8])
        # What is set when the loops begin.
        first = ["s, k, x, y = n, 0, 1.5, 2.0", "flag, text, best = False, 'b', None", "marks = [None, 'm', n]"]
        first += [line for line in ("last = n", "z = a[0]", "t = (n, 0.5)", "w = 1", "c = a + 1.0", "m = np.float32(0.5)", "f = lambda v: v", "ys = [n]") if r.random() < 0.6]
        body = first + [line for _ in range(r.randint(2, 5)) for line in self.statement("n", 0, False)]
        if not any(line.lstrip().startswith(("for ", "while ")) for line in body):
            body += self.loop("n", 0)
        seen = r.sample(VARIABLES, r.randint(3, len(VARIABLES)))
        body.append("got = []")
        for name in seen:
            body += ["try:", f"    got.append(({name!r}, {name}))", "except NameError as e:", "    got.append(str(e))"]
        body.append("return got")
        if r.random() < 0.1:
            body = ["def inner():", "    nonlocal k", "    k += 1", *body]
        self.source = "\n".join(["def main(out, n, a, b, xs, d, o, cfg):", "    out.write('begin;')", *("    " + line for line in body)]) + "\n"

    def block(self, i, depth, in_loop):
        lines = [line for _ in range(self.random.randint(1, 3)) for line in self.statement(i, depth, in_loop)]
        return ["    " + line for line in lines]

    def statement(self, i, depth, in_loop):
        r, what = self.random, self.random.random()
        if what < 0.12:
            return [r.choice(OBJECTS).format(i=i)] if r.random() < 0.5 else [r.choice(SIMPLE).format(i=i)]
        if what < 0.5 or depth > 3:
            table = r.choices([SIMPLE, HELD, CHANGING], [12, self.held, self.held / 4])[0]
            return [r.choice(table).format(i=i)]
        if what < 0.62:
            lines = [f"if {r.choice(CONDITIONS).format(i=i)}:", *self.block(i, depth + 1, in_loop)]
            return lines + (["else:", *self.block(i, depth + 1, in_loop)] if r.random() < 0.4 else [])
        if what < 0.70 and in_loop:
            return [f"if {r.choice(CONDITIONS).format(i=i)}:", "    " + r.choice(["break", "continue", "return s", "raise ValueError(k)", "return None", "return (k, text)"])]
        if what < 0.78:
            lines = ["try:", *self.block(i, depth + 1, in_loop), f"except {r.choice(HANDLED)}{r.choice(['', ' as e'])}:", *self.block(i, depth + 1, in_loop)]
            return lines + (["finally:", "    k += 1"] if r.random() < 0.3 else [])
        if what < 0.82:
            return [f"with contextlib.suppress({r.choice(HANDLED)}):", *self.block(i, depth + 1, in_loop)]
        return self.loop(i, depth)

    def loop(self, i, depth):
        r = self.random
        j = f"i{depth}"
        kind = r.random()
        if self.held and kind < 0.3:
            lines = [f"for {j} in {r.choice(['range(o.n)', 'o.next()', 'range(1, o.next()[0])', 'o.sub.items[:5]', 'o.grid', 'range(o.none)'])}:"]
        elif kind < 0.5:
            lines = [f"for {j} in range({r.choice(['n', '4', f'{i} + 1', '0', 'min(len(xs), 5)'])}):"]
        elif kind < 0.62:
            lines = [f"for {j} in {r.choice(['xs[:7]', 'list(d)', 'b', 'sorted(xs[:6])'])}:"]
        elif kind < 0.74:
            lines = [f"for {j}, v in {r.choice(['enumerate(a)', 'list(d.items())', 'zip(xs, b)'])}:"]
        else:
            end = r.choice(["3", "n", "min(len(xs), 9)"])
            lines = [f"{j} = 0", f"while {j} < {end}:", f"    {j} += 1"]
        lines += self.block(j, depth + 1, True)
        return lines + (["else:", *self.block(i, depth + 1, False)] if r.random() < 0.15 else [])


class Sub:
    __slots__ = ("alpha", "items")

    def __init__(self):
        self.alpha, self.items = 0.5, [4, 5, 6]


class Owner:
    """An object that compiled code cannot hold, for its file."""

    fixed = 11

    def __init__(self, out, n):
        self.out, self.n, self.rate, self.grid, self.sub = out, n, 0.125, np.arange(4) * 0.5, Sub()

    @property
    def asked(self):
        self.out.write("asked;")
        return self.n * 2

    def double(self, k):
        return k * 2

    def next(self):
        self.out.write("next;")
        return [self.n, 2]


def shown(x):
    """A value as it is compared: numbers by kind and value, for a loop of no turns leaves Python's numbers where NumPy's would be."""
    if isinstance(x, (bool, np.bool_)):
        return ("bool", bool(x))
    if isinstance(x, (int, np.integer)):
        return ("int", int(x))
    if isinstance(x, (float, np.floating)):
        return ("float", float(x).hex())
    if isinstance(x, (list, tuple)):
        return (type(x).__name__, [shown(v) for v in x])
    if isinstance(x, dict):
        return ("dict", [(shown(k), shown(v)) for k, v in x.items()])
    if isinstance(x, np.ndarray):
        return ("array", x.dtype.str, [shown(v) for v in x.tolist()])
    return (type(x).__name__, repr(x))


def outcome(program, name, decorate):
    lines = program.source.splitlines(keepends=True)
    linecache.cache[name] = (len(program.source), None, lines, name)
    space = {"np": np, "contextlib": contextlib}
    exec(compile(program.source, name, "exec"), space)
    main, log = decorate(space["main"]), []
    for n in (0, 3, 5, 3):
        out, a, b, xs, d = io.StringIO(), np.arange(4) * 0.75, np.arange(4), [n, 2, 3], {0: 1, n: 2}
        o, cfg = Owner(out, n), {"k": 2, "rate": 0.5, "out": out, "more": {"deep": 3}}
        try:
            what = shown(main(out, n, a, b, xs, d, o, cfg))
        except Exception as e:
            # Keys are shown as numbers of Python's.
            what = (type(e).__name__, re.sub(r"np\.\w+\((.*?)\)", r"\1", str(e)))
        left = [a, b, xs, d, o.n, o.rate, o.grid, o.sub.alpha, o.sub.items, sorted((k, v) for k, v in cfg.items() if k in ("k", "new"))]
        log.append((what, shown(left), out.getvalue()))
    del linecache.cache[name]
    return log


def check(seed, decorate=tierup.jit):
    """What is wrong with a program. Refused is one with an integer that grew past 64 bits where that could not be taken back."""
    program, name = Program(seed), f"<lifting {seed}>"
    want = outcome(program, name, lambda f: f)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        got = outcome(program, name, decorate)
    for k, (a, b) in enumerate(zip(want, got)):
        if a != b:
            if b[0][0] == "OverflowError" and "64 bits" in b[0][1]:
                return "refused: an integer of more than 64 bits"
            return f"call {k}: expected {a}\n     got {b}"
    return None


def run(first, last, **how):
    """What is wrong with programs, by seed."""
    return driver.here(check, first, last, **how)


if __name__ == "__main__":
    driver.main(driver.Options(__doc__), lambda seed: Program(seed).source, check)
