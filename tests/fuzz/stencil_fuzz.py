"""Differential fuzzing of stencils: random kernels by plain Python, element by element, and compiled: on its own, in compiled code, with `parallel=True`, and into `out=`, in each tier.

    python tests/fuzz/stencil_fuzz.py --seconds 600 --seed 1

Everything must be the same to the bit, and the type of results in all forms. What NumPy refuses must be refused.
"""

import itertools
import linecache
import random
import warnings

import driver

TIERS = {"tier 0": "0", "tier 1": "1"}
BATCH = 10
# Elements of other types are not what NumPy's scalars are: in compiled code a sum of two bytes does not wrap, and a sum of bools is an int.
TYPES = ("float64", "float64", "float64", "float32", "float32", "int64", "int64", "complex128")


class Case:
    """A kernel, the options of its stencil, and what its arguments are; a seed gives the same ones everywhere."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.ndim = self.pick(1, 1, 1, 2, 2, 2, 3, 4)
        self.reach = tuple((lo, self.rng.randint(lo, 2)) for lo in (self.rng.randint(-3, 1) for _ in range(self.ndim)))
        # Indices in variables, and slices, need a neighborhood that is declared.
        self.given = self.chance(0.35)
        self.relative = ["a", *(["b"] if self.chance(0.4) else []), *(["c"] if self.chance(0.15) else [])]
        self.standard = ["w"] if self.chance(0.25) else []
        self.number = self.chance(0.3)
        self.names = [*self.relative, *self.standard, *(["k"] if self.number else [])]
        self.types = {n: self.pick(*TYPES) for n in (*self.relative, *self.standard)}
        self.options = {}
        if self.chance(0.5):
            self.options["cval"] = self.pick("0", "3", "-1.5", "np.nan", "-np.inf", "True", "np.float32(2.5)", *(["2j"] if "complex128" in self.types.values() else []))
        if self.standard:
            self.options["standard_indexing"] = repr(tuple(self.standard))
        self.constants = {"GLOBAL": self.rng.randint(-2, 3), "SCALE": self.rng.randint(-8, 8) / 4}
        self.body = self.kernel()
        if self.given:
            self.options["neighborhood"] = repr(self.reach)

    def pick(self, *choices):
        return self.rng.choice(choices)

    def chance(self, p):
        return self.rng.random() < p

    # -- kernels

    def index(self, env):
        def one(lo, hi):
            n = self.rng.randint(lo, hi)
            loops = [v for v, (low, high) in env.items() if lo <= low and high <= hi]
            if loops and self.chance(0.7):
                return self.rng.choice(loops)
            if self.given and self.chance(0.2):
                return f"{n} + GLOBAL - {self.constants['GLOBAL']}" if self.constants["GLOBAL"] >= 0 else f"GLOBAL - ({self.constants['GLOBAL'] - n})"
            return str(n)
        return ", ".join(one(lo, hi) for lo, hi in self.reach)

    def atom(self, env):
        form = self.rng.random()
        if form < 0.72:
            return f"{self.rng.choice(self.relative)}[{self.index(env)}]"
        if form < 0.8 and self.standard:
            return f"w[{self.pick('0', '1', '-1', '2')}]"
        if form < 0.86 and self.number:
            return "k"
        if form < 0.9:
            return "SCALE"
        return self.pick("0.25", "2", "-1", "1.5", "3", *env)

    def expression(self, env, depth=0):
        form = self.rng.random()
        if depth > 2 or form < 0.25:
            return self.atom(env)
        if form < 0.8:
            return f"({self.expression(env, depth + 1)} {self.pick('+', '+', '-', '*')} {self.expression(env, depth + 1)})"
        if form < 0.9:
            return f"({self.expression(env, depth + 1)} if {self.condition(env)} else {self.expression(env, depth + 1)})"
        return f"abs({self.expression(env, depth + 1)})"

    def condition(self, env):
        # Complex numbers have no order.
        real = [n for n in self.relative if not self.types[n].startswith("complex")]
        if not real:
            return f"{self.atom(env)} {self.pick('==', '!=')} {self.atom(env)}"
        x = f"{self.rng.choice(real)}[{self.index(env)}]"
        return f"{x} {self.pick('<', '>=', '==', '!=', '>')} {self.pick('0', '1', '0.5', 'SCALE')}"

    def kernel(self):
        # The corners of the reach are read, so that it is what is found.
        corners = [" + ".join(f"a[{', '.join(str(r[side]) for r in self.reach)}]" for side in (0, 1))]
        form = self.pick("expression", "expression", "if", "loop", "loops", "early", "slice", "local")
        if form in ("loop", "loops", "slice"):
            self.given = True
        # Around what is real a complex number is refused; whether sums of a loop are complex nobody knows here.
        if self.options.get("cval") == "2j" and (form in ("loop", "loops") or self.types["a"] != "complex128"):
            del self.options["cval"]
        ret = f"return {self.expression({})}"
        if form == "expression":
            return [f"return {self.expression({})} + ({corners[0]})"]
        if form == "local":
            return [f"x = {corners[0]}", f"y = x * {self.expression({})}", f"return y - x + {self.expression({})}"]
        if form == "if":
            return [f"s = {corners[0]}", f"if {self.condition({})}:", f"    s = s + {self.expression({})}", "else:", f"    s = s * {self.atom({})}", "return s"]
        if form == "early":
            return [f"s = {corners[0]} + {self.atom({})}", f"if {self.condition({})}:", "    return s", f"return s - {self.expression({})}"]
        if form == "slice":
            return [f"return a[{', '.join(f'{lo}:{hi + 1}' for lo, hi in self.reach)}].sum()"]
        axes = self.rng.sample(range(self.ndim), 1 if form == "loop" or self.ndim == 1 else 2)
        lines, env, indent = ["s = 0.0" if self.chance(0.7) else f"s = {corners[0]}"], {}, ""
        for axis in axes:
            lo, hi = self.reach[axis]
            lines.append(f"{indent}for i{axis} in range({lo}, {hi + 1}):")
            env[f"i{axis}"] = (lo, hi)
            indent += "    "
        if self.chance(0.2):
            lines += [f"{indent}if {self.condition(env)}:", f"{indent}    {self.pick('continue', 'break')}"]
        return [*lines, f"{indent}s += {self.expression(env)}", self.pick("return s", "return s", ret.replace("return ", "return s + "))]

    def text(self):
        body = "\n".join("    " + line for line in self.body)
        options = ", ".join(f"{k}={v}" for k, v in self.options.items())
        constants = "\n".join(f"{k} = {v}" for k, v in self.constants.items())
        return f"{constants}\n\ndef kernel({', '.join(self.names)}):\n{body}\n\noptions = dict({options})\n"

    # -- arguments

    def arguments(self, np):
        for _ in range(3):
            span = [hi - lo for lo, hi in self.reach]
            most = (40, 12, 7, 6)[self.ndim - 1]
            shape = tuple(self.rng.choice((0, 1, 2, 3, s + 1, s + 2, most, most)) if self.chance(0.4) else self.rng.randint(s + 1, most + s) for s in span)
            yield tuple(self.argument(np, n, shape) for n in self.names)

    def argument(self, np, name, shape):
        if name == "k":
            return self.pick(3, -0.5, 0.25, 2)
        if name == "w":
            return self.values(np, (5,), self.types["w"])
        if name != "a" and self.chance(0.3):
            shape = tuple(n + self.rng.randint(0, 2) for n in shape)
        x = self.values(np, shape, self.types[name])
        form = self.pick("C", "C", "C", "F", "reversed", "every second", "transposed")
        if form == "F":
            return np.asfortranarray(x)
        if form == "reversed":
            return x[::-1]
        if form == "every second":
            return np.repeat(x, 2, axis=-1)[..., ::2]
        return x.T.copy().T if form == "transposed" else x

    def values(self, np, shape, dtype):
        rng = np.random.default_rng(self.rng.randrange(1 << 30))
        x = rng.integers(-8, 9, shape)
        if dtype == "int64":
            return x
        x = x / 4
        if self.chance(0.2):
            x[rng.random(shape) < 0.1] = self.pick(np.nan, np.inf, -0.0)
        return x.astype(dtype) * (1 + 0.5j) if dtype == "complex128" else x.astype(dtype)


class Near:
    """An array as the kernel sees it from one element."""

    def __init__(self, array, at):
        self.array, self.at = array, at

    def __getitem__(self, k):
        k = k if isinstance(k, tuple) else (k,)
        return self.array[tuple(slice(j.start + i, j.stop + i) if isinstance(j, slice) else j + i for i, j in zip(self.at, k))]


def slow(np, kernel, names, reach, options, args, out, dtype):
    """What a stencil gives."""
    standard = options.get("standard_indexing", ())
    places = itertools.product(*(range(max(0, -lo), n - max(0, hi)) for (lo, hi), n in zip(reach, args[0].shape)))
    if out is None:
        # An assignment refuses what `np.full` converts.
        out = np.empty(args[0].shape, dtype)
        out[...] = options.get("cval", 0)
    elif "cval" in options:
        out[...] = options["cval"]
    for at in places:
        out[at] = kernel(*(Near(x, at) if isinstance(x, np.ndarray) and n not in standard else x for x, n in zip(args, names)))
    return out


def natural(np, kernel, names, reach, options, args):
    """The type of what the kernel gives, which what stands around it has to fit: a NaN is no integer."""
    kept = {k: v for k, v in options.items() if k != "cval"}
    return np.array(slow(np, kernel, names, reach, kept, args, None, object).ravel().tolist() or [0]).dtype


def frozen(np, x):
    """Type, shape and bits; all NaN are the same."""
    x = np.ascontiguousarray(x)
    parts = x.reshape(-1).view(x.real.dtype)
    if x.dtype.kind in "fc":
        parts = np.where(np.isnan(parts), np.nan, parts).astype(parts.dtype)
    return str(x.dtype), x.shape, parts.tobytes()


def outcome(np, call):
    """What comes out, or what is raised."""
    import tierup
    try:
        return frozen(np, call())
    except (tierup.errors.TierupError, TypeError, ValueError, OverflowError, ZeroDivisionError) as e:
        return type(e).__name__, str(e)


def check(seed, text=None):
    """None, or what is wrong: a text that begins with `refused` where the compiler says no."""
    import numpy as np
    import tierup
    case = Case(seed)
    text = case.text() if text is None else text
    name = f"<stencil {seed}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    space = {"np": np}
    exec(compile(text, name, "exec"), space)
    kernel, options = space["kernel"], space["options"]
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        forms = {}
        for label, tier in TIERS.items():
            tierup.config.tier = tier
            s = tierup.stencil(**options)(kernel)
            forms[label] = (tier, s, both(tierup.njit, s, len(case.names)), both(tierup.njit(parallel=True), s, len(case.names)))
        reach = s.neighborhood
        for args in case.arguments(np):
            for into in (False, True):
                given = case.values(np, args[0].shape, "complex128" if "complex128" in case.types.values() else "float64") if into else None
                want = None
                for label, (tier, s, (plain, plain_out), (parallel, parallel_out)) in forms.items():
                    tierup.config.tier = tier
                    for what, call in (("alone", s), ("in compiled code", plain_out if into else plain), ("in parallel", parallel_out if into else parallel)):
                        out = given.copy() if into else None
                        got = outcome(np, lambda: call(*args, out=out) if into and call is s else call(*args, out) if into else call(*args))
                        if want is None:
                            dtype = np.dtype(got[0]) if len(got) == 3 else None
                            want = outcome(np, lambda: slow(np, kernel, case.names, reach, options, args, given.copy() if into else None, dtype or natural(np, kernel, case.names, reach, options, args)))
                        if got == want or len(got) == len(want) == 2:
                            continue
                        # What no element asks for is an error to the compiler only.
                        if len(got) == 2 and all(n + min(0, lo) > max(0, hi) for (lo, hi), n in zip(reach, args[0].shape)):
                            return f"refused: {got[0]}: {got[1]}"[:600]
                        if len(got) == 3:
                            shown = lambda x: x if len(x) == 2 else (x[0], np.frombuffer(x[2], x[0]).ravel()[:60].tolist())
                            return f"{label}, {what}{', out' if into else ''}: {[np.shape(x) for x in args]} {[getattr(x, 'dtype', x) for x in args]}: expected {shown(want)}, got {shown(got)}"[:3000]
    return None


def both(njit, s, count):
    """Compiled functions that call the stencil, without `out` and with it."""
    plain = {1: lambda a: s(a), 2: lambda a, b: s(a, b), 3: lambda a, b, c: s(a, b, c), 4: lambda a, b, c, d: s(a, b, c, d), 5: lambda a, b, c, d, e: s(a, b, c, d, e)}
    out = {1: lambda a, y: s(a, out=y), 2: lambda a, b, y: s(a, b, out=y), 3: lambda a, b, c, y: s(a, b, c, out=y), 4: lambda a, b, c, d, y: s(a, b, c, d, out=y),
           5: lambda a, b, c, d, e, y: s(a, b, c, d, e, out=y)}
    return njit(plain[count]), njit(out[count])


def run(first, last):
    """What is wrong with kernels, by seed; each batch in a process of its own."""
    return driver.apart(__file__, first, last, TIERUP_NUM_THREADS="2")


if __name__ == "__main__":
    driver.main(driver.Options(__doc__), lambda seed: Case(seed).text(), check, run, BATCH)
