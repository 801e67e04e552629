"""Differential fuzzing of vectors: random functions on `tierup.simd` by plain Python, whose vectors are NumPy's arrays, and compiled, in each tier.

    python tests/fuzz/simd_fuzz.py --seconds 600 --seed 1

Results and arrays afterwards must be the same to the bit, NaN apart; where plain Python raises, compiled code raises the same.
"""

import linecache
import random
import warnings

import driver

TIERS = {"tier 0": "0", "tier 1": "1"}
BATCH = 10
FLOATS = ("float64", "float32")
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
WIDTHS = (2, 4, 4, 8, 8, 16, 32)


class Case:
    """A function of two arrays and an index; a seed gives the same one everywhere."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.lanes = self.pick(*WIDTHS)
        self.dtype = self.pick(*FLOATS, *FLOATS, *INTEGERS)
        self.names = []  # vectors of the element type
        self.masks = []
        self.lines = []
        self.body()

    def pick(self, *choices):
        return self.rng.choice(choices)

    def chance(self, p):
        return self.rng.random() < p

    @property
    def is_float(self):
        return self.dtype in FLOATS

    def name(self, kind):
        return self.rng.choice(self.names if kind == "v" else self.masks)

    def add(self, kind, text):
        """A new variable; now and then one that is there changes, in a loop it goes round with."""
        known = self.names if kind == "v" else self.masks
        name = f"{kind}{len(known)}"
        known.append(name)
        self.lines.append(f"{name} = {text}")

    def constant(self):
        # NumPy warns of what does not fit, by its version.
        return self.pick("0", "1", "2", "3", *(("-1.5", "0.25", "-0.0") if self.is_float else ()))

    def operand(self):
        return self.name("v") if self.chance(0.8) else self.constant()

    def statement(self):
        n, v = self.lanes, self.name("v")
        form = self.rng.randrange(14)
        if form <= 2:
            self.add("v", f"{v} {self.pick('+', '-', '*')} {self.operand()}")
        elif form == 3:
            # A quotient of integers would be of floats.
            op = self.pick("/", "//", "%") if self.is_float else self.pick("//", "%", "&", "|", "^")
            self.add("v", f"{v} {op} {self.name('v')}")
        elif form == 4:
            self.add("m", f"{v} {self.pick('<', '<=', '>', '>=', '==', '!=')} {self.operand()}")
        elif form == 5:
            if len(self.masks) > 1 and self.chance(0.5):
                self.add("m", f"{self.name('m')} {self.pick('&', '|', '^')} {self.name('m')}")
            else:
                self.add("m", f"~{self.name('m')}")
        elif form == 6:
            self.add("v", f"simd.select({self.name('m')}, {v}, {self.operand()})")
        elif form == 7:
            places = tuple(self.rng.randrange(2 * n) for _ in range(n))
            self.add("v", f"simd.shuffle({v}, {self.name('v')}, {places})")
        elif form == 8:
            self.add("v", f"simd.permute({v}, k % {n})")
        elif form == 9:
            call = self.pick("np.minimum", "np.maximum", *(("np.fmin", "np.copysign") if self.is_float else ()))
            self.add("v", f"{call}({v}, {self.name('v')})")
        elif form == 10:
            call = self.pick("np.floor", "np.ceil", "np.trunc", "np.rint", "np.sqrt", "np.abs") if self.is_float else "np.abs"
            self.add("v", f"{call}({v})")
        elif form == 11:
            self.add("v", f"{v}.replace({self.rng.randrange(-n, n)}, {self.name('v')}[{self.pick('i % ' + str(n), str(self.rng.randrange(n)))}])")
        elif form == 12:
            what = self.pick(f"simd.load(a, i, {n}, {self.pick(1, 2)})", f"simd.load(a, i, {n}, mask={self.name('m')}, fill={self.constant()})",
                             "simd.gather(b, k)", f"simd.gather(a, k, mask={self.name('m')})", f"simd.splat({v}.max(), {n})")
            self.add("v", what)
        else:
            self.lines.append(self.pick(f"simd.store(a, i, {v})", f"simd.store(b, i, {v}, mask={self.name('m')})", f"simd.scatter(a, k, {v}, mask={self.name('m')})",
                                        f"simd.store(b, i, {v}, 2)", f"simd.store(a, i, {v}, mask=simd.arange({n}) < i)"))

    def body(self):
        n = self.lanes
        self.lines.append(f"k = simd.arange({n}) * {self.pick(1, 1, 3)} + i")
        self.add("v", f"simd.load(a, i, {n})")
        self.add("v", f"simd.load(b, 0, {n})")
        self.add("m", "v0 < v1")
        for _ in range(self.rng.randint(2, 8)):
            self.statement()
        if self.chance(0.6):
            # A loop that carries vectors: those that it changes stand in front of it.
            changed = self.rng.sample(self.names, min(len(self.names), self.rng.randint(1, 3)))
            mark = len(self.lines)
            for _ in range(self.rng.randint(1, 4)):
                self.statement()
            inner = self.lines[mark:] + [f"{v} = {self.pick(v, self.name('v'), self.name('v') + ' + ' + v)}" for v in changed]
            new = sorted({line.split(" = ")[0] for line in inner if " = " in line} - set(changed))
            # What a loop defines is defined before it too.
            first = [f"{x} = {'v0' if x[0] == 'v' else 'm0'}" for x in new]
            self.lines[mark:] = first + [f"for j in range({self.rng.randint(0, 5)}):"] + ["    " + line for line in inner]
        for _ in range(self.rng.randint(0, 3)):
            self.statement()

    def text(self):
        kept = ", ".join([*self.names[-3:], *self.masks[-2:], f"{self.name('v')}.sum()", f"{self.name('v')}.min()", f"{self.name('m')}.any()", f"{self.name('m')}.sum()"])
        self.kept = getattr(self, "kept", kept)
        body = "\n".join("    " + line for line in [*self.lines, f"return {self.kept}"])
        return f"def f(a, b, i):\n{body}\n"

    def arguments(self, np):
        for i in (0, 1, self.rng.randrange(2 * self.lanes), 6 * self.lanes):
            yield self.values(np), self.values(np), i

    def values(self, np):
        rng = np.random.default_rng(self.rng.randrange(1 << 30))
        count = 4 * self.lanes + 3
        if self.is_float:
            x = (rng.integers(-16, 17, count) / 4).astype(self.dtype)
            special = np.array([np.nan, np.inf, -np.inf, -0.0, 1e30, 1e-30], self.dtype)
            return np.where(rng.random(count) < 0.1, rng.choice(special, count), x)
        info = np.iinfo(self.dtype)
        x = rng.integers(-9 if info.min else 0, 10, count)
        x[rng.random(count) < 0.1] = self.pick(0, 1, -1 if info.min else 1)
        x = x.astype(self.dtype)
        x[rng.random(count) < 0.1] = self.pick(info.min, info.max)
        return np.repeat(x, 2)[::2] if self.chance(0.2) else x


def frozen(np, x):
    """Type and bits of results; all NaN are the same."""
    if isinstance(x, tuple):
        return tuple(frozen(np, y) for y in x)
    lanes = np.asarray(getattr(x, "_lanes", x))
    if lanes.dtype.kind == "f":
        lanes = np.where(np.isnan(lanes), np.nan, lanes).astype(lanes.dtype)
    if lanes.ndim:
        return str(lanes.dtype), lanes.tobytes()
    # A number of Python's and one of NumPy's are the same answer.
    return lanes.dtype.kind.replace("u", "i"), repr(lanes.item())


def outcome(np, f, args):
    """What comes out with what is in the arrays then, or what is raised."""
    import tierup
    args = tuple(x.copy() if isinstance(x, np.ndarray) else x for x in args)
    try:
        return frozen(np, f(*args)), frozen(np, args)
    except (IndexError, ValueError, OverflowError) as e:
        return type(e).__name__, str(e), frozen(np, args)
    except (tierup.errors.TierupError, TypeError) as e:
        return "refused", f"{type(e).__name__}: {e}"


def check(seed, text=None):
    """None, or what is wrong: a text that begins with `refused` where the compiler says no."""
    import numpy as np
    import tierup
    from tierup import simd
    case = Case(seed)
    text = case.text() if text is None else text
    name = f"<vectors {seed}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    space = {"np": np, "simd": simd}
    exec(compile(text, name, "exec"), space)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for args in list(case.arguments(np)):
            want = plain(np, space["f"], args)
            for label, tier in TIERS.items():
                tierup.config.tier = tier
                got = outcome(np, tierup.njit(space["f"]), args)
                if got[0] == "refused" and want[0] != "refused":
                    return f"refused: {got[1]}"[:1500]
                if got != want and "refused" not in (got[0], want[0]):
                    return f"{label}: i = {args[2]}: expected {difference(want, got)}"[:1500]
    return None


def difference(want, got):
    """What is not the same, as far inside as both are alike."""
    if isinstance(want, tuple) and isinstance(got, tuple) and len(want) == len(got):
        return "; ".join(f"[{k}] {difference(w, g)}" for k, (w, g) in enumerate(zip(want, got)) if w != g)
    return f"{want!r}, got {got!r}"


def plain(np, f, args):
    """By Python."""
    return outcome(np, f, args)


def run(first, last):
    """What is wrong with functions, by seed; each batch in a process of its own."""
    return driver.apart(__file__, first, last)


if __name__ == "__main__":
    driver.main(driver.Options(__doc__), lambda seed: Case(seed).text(), check, run, BATCH)
