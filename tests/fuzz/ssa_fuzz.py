"""Differential fuzzing of the front end alone: random control flow, exceptions and closures, as Python and as SSA on Python objects.

    python tests/fuzz/ssa_fuzz.py --seconds 600 --seed 1

Every function logs what it does, so that order counts. Programs stop by themselves: `tick` counts and raises at last.
Prints the programs whose SSA does not do what Python does.
"""

import argparse
import pathlib
import random
import resource
import subprocess
import sys
import tempfile
import time
import warnings

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "tools"))
import run_ssa  # noqa: E402

PRELUDE = """
LOG = []
FUEL = [0]

class Stop(BaseException):
    pass

def tick(x=0):
    FUEL[0] += 1
    if FUEL[0] > 300:
        raise Stop
    LOG.append(x if isinstance(x, int) else str(x).replace('UnboundLocal', 'Name') if isinstance(x, str) else str(type(x)))
    return x

def fail(x):
    LOG.append("fail")
    raise [ValueError, KeyError, ZeroDivisionError][x % 3](x)

class Manager:
    def __init__(self, x): self.x = x
    def __enter__(self): LOG.append("enter"); return self.x
    def __exit__(self, kind, value, tb): LOG.append(("exit", kind and kind.__name__.replace("UnboundLocal", "Name"))); return self.x % 2 == 0 and kind is not Stop
"""

CLASSES = ["ValueError", "KeyError", "ZeroDivisionError", "(ValueError, KeyError)", "LookupError", "Exception"]


class Program:
    def __init__(self, seed):
        self.random, self.lines, self.names = random.Random(seed), [], 0

    def pick(self, *choices):
        return self.random.choice(choices)

    def fresh(self, kind="v"):
        self.names += 1
        return f"{kind}{self.names}"

    def expr(self, env, depth=2):
        r = self.random.random()
        if depth == 0 or r < 0.25:
            return self.pick(*env, *env, str(self.random.randrange(-2, 6)))
        if r < 0.4:
            return f"tick({self.expr(env, depth - 1)})"
        if r < 0.5:
            return f"({self.expr(env, depth - 1)} {self.pick('and', 'or')} {self.expr(env, depth - 1)})"
        if r < 0.58:
            return f"({self.expr(env, depth - 1)} if {self.condition(env, depth - 1)} else {self.expr(env, depth - 1)})"
        if r < 0.62:
            return f"sum([{self.expr(['q', *env], 1)} for q in range({self.random.randrange(4)}) if {self.condition(['q', *env], 1)}])"
        if r < 0.65:
            return f"sum({self.expr(['q', *env], 1)} for q in range({self.random.randrange(4)}))"
        if r < 0.68:
            return f"sum([sum([{self.expr(['p', 'q', *env], 1)} for p in range(q)]) for q in range(3)])"
        if r < 0.72:
            return f"(lambda z, w={self.expr(env, 1)}: {self.expr(['z', 'w', *env], 1)})({self.expr(env, 1)})"
        if r < 0.76:
            name = self.fresh("w")
            return f"(({name} := {self.expr(env, depth - 1)}) + {name})"
        if r < 0.8:
            return f"fail({self.expr(env, depth - 1)})"
        return f"({self.expr(env, depth - 1)} {self.pick('+', '-', '*', '//', '%')} {self.expr(env, depth - 1)}) % 1000"

    def condition(self, env, depth=1):
        r = self.random.random()
        if r < 0.2:
            return f"{self.expr(env, depth)} < {self.expr(env, depth)} <= {self.expr(env, depth)}"
        if r < 0.3:
            return f"not {self.expr(env, depth)}"
        if r < 0.4:
            return f"{self.expr(env, depth)} {self.pick('is None', 'is not None', 'in (1, 2)', 'not in (0, 3)')}"
        return f"{self.expr(env, depth)} {self.pick('<', '==', '>', '!=')} {self.expr(env, depth)}"

    def emit(self, indent, text):
        self.lines.append("    " * indent + text)

    def block(self, indent, env, depth, loop, outer):
        for _ in range(self.random.randrange(1, 4)):
            self.statement(indent, env, depth, loop, outer)

    def statement(self, indent, env, depth, loop, outer):
        """`env`: variables that may be read (some unbound); `outer`: variables of enclosing functions that may be rebound."""
        r = self.random.random()
        if depth == 0 or r < 0.25:
            self.simple(indent, env, loop)
        elif r < 0.37:
            self.emit(indent, f"if {self.condition(env)}:")
            self.block(indent + 1, env, depth - 1, loop, outer)
            if self.random.random() < 0.5:
                self.emit(indent, self.pick("else:", f"elif {self.condition(env)}:"))
                self.block(indent + 1, env, depth - 1, loop, outer)
        elif r < 0.52:
            name = self.pick(self.fresh(), *env)
            self.emit(indent, self.pick(f"for {name} in range({self.expr(env, 1)}):", f"while tick({self.expr(env, 1)}) > 0:", f"for {name}, _ in [(1, 2), (3, 4)]:", "while True:"))
            self.emit(indent + 1, "tick()")
            self.block(indent + 1, env, depth - 1, True, outer)
            env.append(name) if name not in env else None
            if self.random.random() < 0.3:
                self.emit(indent, "else:")
                self.block(indent + 1, env, depth - 1, loop, outer)
        elif r < 0.77:
            self.attempt(indent, env, depth, loop, outer)
        elif r < 0.82:
            self.emit(indent, f"with Manager({self.expr(env, 1)}) as {self.pick(*env)}:")
            self.block(indent + 1, env, depth - 1, loop, outer)
        elif r < 0.88:
            self.emit(indent, f"match {self.pick(self.expr(env), f'({self.expr(env, 1)}, {self.expr(env, 1)})')}:")
            self.emit(indent + 1, self.pick("case 1 | 2:", f"case (a_, b_) if {self.condition(['a_', 'b_', *env])}:", "case (0, *rest):", "case int(n_) if n_ > 3:"))
            self.block(indent + 2, env, depth - 1, loop, outer)
            if self.random.random() < 0.5:
                self.emit(indent + 1, "case _:")
                self.block(indent + 2, env, depth - 1, loop, outer)
        else:
            self.inner(indent, env, depth)

    def attempt(self, indent, env, depth, loop, outer):
        self.emit(indent, "try:")
        self.block(indent + 1, env, depth - 1, loop, outer)
        handlers = self.random.randrange(3)
        for _ in range(handlers):
            self.emit(indent, f"except {self.pick(*CLASSES)}{self.pick('', ' as e')}:")
            if self.random.random() < 0.3:
                self.emit(indent + 1, self.pick("raise", "raise KeyError(1) from None", "tick(str(type(e)))"))
            self.block(indent + 1, env, depth - 1, loop, outer)
        if handlers and self.random.random() < 0.3:
            self.emit(indent, "else:")
            self.block(indent + 1, env, depth - 1, loop, outer)
        if not handlers or self.random.random() < 0.4:
            # `continue` here would swallow the exception that ends the program.
            self.emit(indent, "finally:")
            self.block(indent + 1, env, depth - 1, loop and "break", outer)

    def inner(self, indent, env, depth):
        """A function with captured variables, some of them rebound; sometimes a generator, sometimes recursive."""
        name, params = self.fresh("f"), [self.fresh("p") for _ in range(self.random.randrange(1, 3))]
        generator = self.random.random() < 0.25
        default = f"={self.expr(env, 1)}" if self.random.random() < 0.3 else ""
        self.emit(indent, f"def {name}({', '.join(params)}{default}):")
        rebound = [v for v in self.captured if self.random.random() < 0.25]
        if rebound:
            self.emit(indent + 1, f"nonlocal {', '.join(rebound)}")
        saved, self.captured = self.captured, self.captured + params
        inside = [*params, *saved]
        self.block(indent + 1, inside, depth - 1, False, rebound)
        if generator:
            self.emit(indent + 1, self.pick(f"yield {self.expr(inside, 1)}", f"yield from [{self.expr(inside, 1)}, 2]", f"for g_ in range(3): yield g_ + {self.expr(inside, 1)}"))
            self.block(indent + 1, inside, 1, False, rebound)
        elif self.random.random() < 0.2:
            self.emit(indent + 1, f"if {params[0]} in (1, 2, 3): return {name}({params[0]} - 1, *(0, 0)[:{len(params) - 1}])")
        if not generator:
            self.emit(indent + 1, f"return {self.expr(inside)}")
        self.captured = saved
        call = f"{name}({', '.join(self.expr(env, 1) for _ in params)})"
        if self.random.random() < 0.5:
            self.simple(indent, env, False)
        target = self.pick(*env)
        self.emit(indent, f"{target} = {'sum' if generator else 'tick'}({call})")

    def simple(self, indent, env, loop):
        r = self.random.random()
        target = self.pick(self.fresh(), *env)
        if loop and r < 0.2:
            self.emit(indent, "break" if loop == "break" else self.pick("break", "continue"))
        elif r < 0.25:
            self.emit(indent, f"return {self.expr(env)}")
        elif r < 0.3:
            self.emit(indent, self.pick(f"raise ValueError({self.expr(env, 1)})", "raise", "raise ZeroDivisionError", f"assert {self.condition(env)}, {self.expr(env, 1)}"))
        elif r < 0.34 and env:
            self.emit(indent, f"del {self.pick(*env)}")
        elif r < 0.4 and len(env) > 1:
            a, b = self.pick(*env), self.pick(*env)
            self.emit(indent, self.pick(f"{a}, {b} = {b}, {a}", f"{a}, *{b} = {self.expr(env, 1)}, 2, 3", f"{a} = {b} = {self.expr(env)}"))
            if self.lines[-1].find("*") >= 0:
                self.emit(indent, f"{b} = tick(len({b}))")
        elif r < 0.5 and env:
            self.emit(indent, f"{self.pick(*env)} {self.pick('+=', '-=')} {self.expr(env)}")
        else:
            self.emit(indent, f"{target} = {self.expr(env)}")
            if target not in env:
                env.append(target)

    def source(self):
        self.captured = ["a", "b"]
        env = ["a", "b"]
        self.emit(0, "def main(a, b):")
        for _ in range(2):
            self.block(1, env, self.random.randrange(1, 4), False, [])
        self.emit(1, f"return {self.expr(env)}")
        return "\n".join(self.lines) + "\n"


ARGUMENTS = [(0, 0), (1, 2), (3, -1), (2, 5)]


def outcome(function, names, args):
    names["LOG"].clear()
    names["FUEL"][0] = 0
    try:
        result = repr(function(*args))
    except BaseException as e:
        # Which of the two it is depends on whose variable a cell is, which SSA does not say.
        result = "NameError" if isinstance(e, NameError) else type(e).__name__, type(e.__cause__).__name__
    return result, list(names["LOG"])


def translate(path):
    tools = ROOT / "tests" / "tools"
    dump = subprocess.run([sys.executable, tools / "dump_bytecode.py", path], capture_output=True, text=True, check=True).stdout
    raw = path.with_suffix(".raw")
    raw.write_text(dump)
    return subprocess.run([JITC, "ssa", raw], capture_output=True, text=True)


def check(seed, path):
    """None, or what is wrong."""
    source = Program(seed).source()
    try:
        compiled = compile(source, "program", "exec")
    except SyntaxError:
        return None
    path.write_text(source)
    translated = translate(path)
    if translated.returncode:
        # Uses of the value of `yield from` are refused, everything else must pass.
        return translated.stderr + source
    names = {}
    exec(PRELUDE, names)
    exec(compiled, names)
    functions = run_ssa.load(translated.stdout, names)
    for args in ARGUMENTS:
        want, got = outcome(names["main"], names, args), outcome(functions["main"], names, args)
        if want != got:
            return f"{source}\n# arguments {args}\n# python {want}\n# ssa    {got}"
    return None


def main():
    global JITC
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    subprocess.run(["cargo", "build", "-q", "-p", "tierup-tests", "--bin", "jitc"], cwd=ROOT, check=True)
    JITC = ROOT / "target" / "debug" / "jitc"
    warnings.simplefilter("ignore", SyntaxWarning)
    sys.setrecursionlimit(5000)
    # A program may multiply strings; it shall run out of memory before the machine does.
    resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
    begin, seed, wrong = time.monotonic(), options.seed, 0
    with tempfile.TemporaryDirectory() as folder:
        while time.monotonic() - begin < options.seconds and wrong < 5:
            failure = check(seed, pathlib.Path(folder) / "program.py")
            if failure:
                wrong += 1
                print(f"# seed {seed}\n{failure}\n", flush=True)
            seed += 1
    print(f"{seed - options.seed} programs from seed {options.seed} on, {wrong} mismatches")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
