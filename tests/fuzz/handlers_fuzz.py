"""Random `try` statements in loops, with every way to raise, to handle and to leave them: results, exceptions, their contexts, causes and lines, in compiled code and in Python.

    python tests/fuzz/handlers_fuzz.py --seconds 600 --seed 1

The oracle is CPython.
"""

import linecache
import random
import traceback

from driver import Options, main

CLASSES = ["ValueError", "KeyError", "IndexError", "ZeroDivisionError", "Mine", "Other", "ArithmeticError", "LookupError", "RuntimeError"]
CAUGHT = [*CLASSES, "Exception", "BaseException", "(ValueError, KeyError)", "(Mine, IndexError)"]
NUMBERS = ["i", "s", "k", "i * 3 + s", "s - k", "a[i % len(a)]", "i % 7"]
ARGUMENTS = [(a, n) for a in ([3, 1, 4, 1, 5, 9, 2, 6], [0, 0, 7]) for n in (0, 3, 11)]
HELPER = """
def g{q}(x):
    if x % {m} == 0:
        raise {what}
    return x % 9
"""
FRAME = """
def h(x, a):
    try:
        return a[x % 30] // (x % 3)
    except ZeroDivisionError:
        return -1

def f(a, n):
    s = 1
    k = 0
    for i in range(n):
{body}
    return s, k
"""


class Mine(Exception):
    pass


class Other(Mine):
    pass


class Program:
    def __init__(self, seed):
        self.rng = random.Random(f"handlers {seed}")
        self.name = f"<handlers {seed}>"
        helpers = [HELPER.format(q=q, m=self.rng.randint(2, 6), what=self.rng.choice(CLASSES) + self.rng.choice(["", "(x)"])) for q in range(3)]
        self.text = "".join(helpers) + FRAME.format(body="\n".join(self.block(2, 0, False, True)))

    def number(self):
        return self.rng.choice(NUMBERS)

    def raising(self):
        c, x = self.rng.choice(CLASSES), self.number()
        return self.rng.choice([
            f"raise {c}", f"raise {c}({x})", f"raise {c}('t')", "assert s % 3",
            *(f"s = (s + {y}) % 10007" for y in (f"a[{x} % 40]", f"({x}) // ({self.number()} % 4)", f"g{self.rng.randint(0, 2)}({x})", f"h({x}, a)")),
        ])

    def when(self, indent, what):
        return [f"{indent}if {self.number()} % {self.rng.randint(2, 5)} == {self.rng.randint(0, 1)}:", f"{indent}    {what}"]

    def block(self, level, depth, handling, looping):
        return [line for _ in range(self.rng.randint(1, 3)) for line in self.statement(level, depth, handling, looping)]

    def statement(self, level, depth, handling, looping):
        kind, indent = self.rng.random(), "    " * level
        if kind < 0.3:
            name = self.rng.choice("sk")
            # Numbers stay below 64 bits, which `njit` has.
            return [f"{indent}{name} = ({name} {self.rng.choice('+-^')} ({self.number()})) % 10007"]
        if kind < 0.5:
            return self.when(indent, self.raising())
        if kind < 0.56 and handling:
            c = self.rng.choice(CLASSES)
            return self.when(indent, self.rng.choice(["raise", f"raise {c}", f"raise {c} from None"]))
        if kind < 0.62 and looping:
            return self.when(indent, self.rng.choice(["continue", "break", "return s, k"]))
        if depth == 3:
            return [f"{indent}k = (k + 1) % 10007"]
        if kind < 0.85:
            return self.handled(level, depth, handling, looping)
        return [f"{indent}for j{depth} in range({self.number()} % 4):", *self.block(level + 1, depth + 1, handling, True)]

    def handled(self, level, depth, handling, looping):
        indent, handlers = "    " * level, self.rng.randint(0, 3)
        lines = [f"{indent}try:", *self.block(level + 1, depth + 1, handling, looping)]
        for _ in range(handlers):
            bound = self.rng.random() < 0.25
            lines.append(f"{indent}except {self.rng.choice(CAUGHT)}{' as e' * bound}:")
            if bound:
                lines.append(f"{indent}    {self.rng.choice(['s += len(str(e))', 'k += len(e.args)'])}")
            lines += self.block(level + 1, depth + 1, True, looping)
        if handlers and self.rng.random() < 0.2:
            lines += [f"{indent}else:", *self.block(level + 1, depth + 1, handling, looping)]
        if not handlers or self.rng.random() < 0.2:
            lines += [f"{indent}finally:", *self.block(level + 1, depth + 1, handling, False)]
        return lines

    def function(self, jit=None):
        """The program's function and those that it calls, compiled by `jit`."""
        linecache.cache[self.name] = len(self.text), None, self.text.splitlines(True), self.name
        space = {"Mine": Mine, "Other": Other}
        exec(compile(self.text, self.name, "exec"), space)
        if jit is not None:
            space.update({name: jit(space[name]) for name in ("g0", "g1", "g2", "h", "f")})
        return space["f"]

    def told(self, f, a, n):
        """What a call gives: a result, or each exception on the way back along contexts."""
        try:
            return f(list(a), n)
        except Exception as e:
            chain, at = [], e
            while at is not None:
                lines = [(frame.name, frame.lineno) for frame in traceback.extract_tb(at.__traceback__) if frame.filename == self.name]
                chain.append((type(at).__name__, str(at), at.__suppress_context__, at.__cause__ is None, lines))
                at = at.__context__
            return chain


def check(seed):
    from tierup import njit
    program = Program(seed)
    python, compiled = program.function(), program.function(njit)
    for a, n in ARGUMENTS:
        want, got = program.told(python, a, n), program.told(compiled, a, n)
        if want != got:
            return f"f({a}, {n}): expected {want}, got {got}"
    return None


if __name__ == "__main__":
    main(Options(__doc__), lambda seed: Program(seed).text, check)
