"""Differential fuzzing of `tierup.par`: random compositions of its functions, and random tasks with channels, by plain Python and compiled.

    python tests/fuzz/par_fuzz.py --seconds 600 --seed 1 --tiers 0 1

Values to the bit, kinds of containers and exceptions must be the same in plain Python, in each tier, in parallel and serial code, and on 1, 2 and 4 threads.
"""

import linecache
import random

import driver

BATCH = 20
THREADS = (1, 2, 4)


class Program:
    """A function `f(a, b, xs, n)` of an array of ints, one of floats, a list of ints and a number; a seed gives the same one everywhere."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.count = 0
        self.heads, self.lines = [], []
        if self.chance(0.7):
            for _ in range(self.pick(1, 2, 3)):
                self.statement()
        else:
            self.tasks()
        self.lines.append(f"    return ({', '.join(self.names())},)")

    def pick(self, *choices):
        return self.rng.choice(choices)

    def chance(self, p):
        return self.rng.random() < p

    def names(self):
        return [f"r{k}" for k in range(self.count)]

    def result(self, text, depth=1):
        self.lines.append(f"{'    ' * depth}r{self.count} = {text}")
        self.count += 1

    # -- functions over values

    def of_one(self):
        return self.pick("lambda x: x * 3 - 1", "lambda x: x + x", "lambda x: x * n", "twice", "refuse", "lambda x: -x", "lambda x: min(x, 5)", "lambda x: x if x > 2 else x + n")

    def of_two(self):
        return self.pick("operator.add", "lambda x, y: x + y * 2", "min", "max", "lambda x, y: x - y", "operator.mul")

    def associative(self):
        return self.pick("operator.add", "max", "min", "lambda x, y: x + y", "lambda x, y: y", "put_together")

    def test(self):
        return self.pick("lambda x: x > 2", "lambda x: x != n", "None", "lambda x: x < 6", "is_large")

    def values(self, depth=0):
        """An iterable of numbers."""
        if depth > 2 or self.chance(0.3):
            return self.pick("a", "b", "xs", "a", "b", "range(n)", "(3, 1, 4, 1, 5)", "a[::2]", "b[::-1]", "[x * 2 for x in xs]", *["(x + 1 for x in xs if x > 1)"] * (depth > 0))
        inner = self.values(depth + 1)
        return self.pick(
            f"par.map({self.of_one()}, {inner})",
            f"par.map({self.of_one()}, {inner})",
            f"par.map({self.of_two()}, {inner}, {self.values(depth + 1)})",
            f"par.scan({self.associative()}, {inner})",
            f"par.scan({self.associative()}, {inner}, {self.pick('1', 'n', '2.5')})",
            f"par.filter({self.test()}, {inner})",
            f"par.map(lambda p: p[0] + p[1], par.zip({inner}, {self.values(depth + 1)}))",
        )

    def statement(self):
        form = self.rng.random()
        if form < 0.35:
            self.result(self.values())
        elif form < 0.55:
            self.result(f"par.reduce({self.associative()}, {self.values()}, {self.pick('0', '1.5', 'n')})")
        elif form < 0.65:
            self.result(f"par.reduce({self.associative()}, {self.values()})")
        elif form < 0.75:
            self.result(f"par.zip({self.values()}, {self.values(1)})")
        elif form < 0.85:
            self.result(f"par.reduce(lambda p, q: p if p[0] >= q[0] else q, par.zip({self.values()}, range(1000)), (-99, -1))")
        elif form < 0.93:
            self.result(f"par.map(lambda k: par.reduce(operator.add, par.map({self.of_one()}, range(k)), 0), range({self.pick('n', '5')}))")
        else:
            self.result(f"par.vmap(lambda row, w: (row * w).sum(), ({self.pick('0', '1')}, None))(np.ones((3, 4)) * n, {self.pick('2', 'n')})")

    # -- tasks

    def tasks(self):
        """Stages one behind the other, each of several workers, with room for some values between them: what comes out is added up."""
        stages = self.pick(1, 1, 2, 3)
        put = self.lines.append
        put(f"    c0 = par.Channel[int]({self.room()})")
        for k in range(stages):
            put(f"    c{k + 1} = par.Channel[int]({self.room()})")
        put("    s, k = 0, 0")
        put("    with par.tasks() as t:")
        for k in range(stages):
            workers = self.pick(1, 1, 2, 4)
            put(f"        t.spawn(stage, c{k}, c{k + 1}, {self.pick('twice', 'refuse', 'lambda x: x + n', 'lambda x: x % 7')}, {workers})")
        put(f"        t.spawn(feed, {self.pick('par.borrow(xs)', 'par.move(xs + xs)', 'range(n)')}, c0)")
        put(f"        for x in c{stages}:")
        put("            s += x")
        put("            k += 1")
        # Which of two exceptions comes first is not said.
        if self.chance(0.2) and not any("refuse" in line for line in self.lines):
            put("            if k == 3:")
            put("                raise KeyError(0)")
        self.result("s")
        self.result("k")

    def room(self):
        return self.pick("1", "2", "7", "")

    def text(self):
        return HEAD + "\n".join(["def f(a, b, xs, n):", *self.lines]) + "\n"


HEAD = """
def twice(x):
    return x + x
def refuse(x):
    if x == 11:
        raise ValueError("eleven")
    return x + 1
def is_large(x):
    return x * x > 9
def put_together(x, y):
    return x + y - 1
def feed(xs, out):
    for x in xs:
        out.send(x)
    out.close()
def stage(given, out, f, workers):
    with par.tasks() as t:
        for _ in range(workers):
            t.spawn(work, given, out, f)
    out.close()
def work(given, out, f):
    for x in given:
        out.send(f(x))
"""


def shown(x):
    """A value with its bits. A variable in which ints and floats meet holds floats in compiled code, so all numbers are shown as these."""
    import numpy as np
    if isinstance(x, np.ndarray):
        return f"array {x.astype(float).tolist()!r}"
    if isinstance(x, (list, tuple, range)):
        return f"{type(x).__name__}({', '.join(map(shown, x))})"
    return repr(float(x))


def outcome(f, args):
    import tierup
    try:
        return shown(f(*args))
    except (tierup.errors.TierupError, SystemError):
        raise
    except Exception as e:
        return f"{type(e).__name__}: {e}"


def check(seed, tiers, text=None):
    """None, or what is wrong: a text that begins with `refused` where the compiler says no."""
    import numpy as np
    import tierup
    text = Program(seed).text() if text is None else text
    name = f"<par {seed}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    head = {"np": np, "par": tierup.par, "operator": __import__("operator")}
    space = dict(head)
    exec(compile(text, name, "exec"), space)
    plain = space["f"]
    rng = random.Random(seed)
    cases = [(rng.choice((0, 1, 2, 5, 127, 128, 129, 400)), rng.choice((1, 3, 9))) for _ in range(3)]
    forms = {(tier, parallel): tierup.njit(parallel=parallel)(plain) for tier in tiers for parallel in (True, False)}
    for size, n in cases:
        a = np.array([rng.randint(-4, 9) for _ in range(size)], np.int64)
        b = np.array([rng.randint(-40, 90) / 8 + rng.random() for _ in range(size)])
        xs = [rng.randint(-2, 12) for _ in range(n)]
        want = outcome(plain, (a, b, list(xs), n))
        for (tier, parallel), f in forms.items():
            tierup.config.tier = tier
            for threads in THREADS if parallel else THREADS[:1]:
                tierup.set_num_threads(threads)
                try:
                    got = outcome(f, (a, b, list(xs), n))
                except tierup.errors.TierupError as e:
                    return f"refused: {type(e).__name__}: {str(e)[:600]}"
                if got != want:
                    return f"tier {tier}, parallel {parallel}, {threads} threads: {size} {xs} {n}: expected {want}, got {got}"[:3000]
    return None


def run(first, last, tiers):
    """What is wrong with programs, by seed; each batch in a process of its own."""
    return driver.apart(__file__, first, last, "--tiers", *tiers, TIERUP_BACKGROUND="0", TIERUP_NUM_THREADS=str(max(THREADS)))


if __name__ == "__main__":
    options = driver.Options(__doc__)
    options.add_argument("--tiers", nargs="+", default=["0", "1"])
    driver.main(options, lambda seed: Program(seed).text().removeprefix(HEAD), check, run, BATCH)
