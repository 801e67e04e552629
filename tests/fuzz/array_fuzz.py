"""Differential fuzzing of array expressions: programs on whole arrays, under NumPy and compiled, with identical bits. Targets overlap what they are computed of in every way
that views allow: the same array, shifted, reversed, transposed, broadcast, the real and imaginary parts of one array, halves of one element.

    python tests/fuzz/array_fuzz.py --seconds 600 --seed 1

Each program runs on several sizes (nothing, one element, a few, some thousand) in the given modes, which are tiers and numbers of threads of parallel functions.
"""

import random

import numpy as np
from differential import judge, main, quietly

# Lengths of vectors, shapes of matrices, sides of squares.
SIZES = [(0, (0, 3), 0), (2, (1, 4), 1), (8, (3, 4), 3), (24, (5, 2), 4), (6000, (90, 70), 80)]


def data(size, seed):
    """Arrays that share memory, by the names that programs use; those that are compared afterwards hold all the memory there is."""
    n, (r, c), s = size
    rng = np.random.default_rng(seed)

    def floats(*shape):
        a = rng.integers(-40, 40, shape) / 8.0
        for value in (np.nan, np.inf, -np.inf, -0.0):
            if a.size:
                a.flat[rng.integers(a.size, size=max(1, a.size // 40))] = value
        return a

    buffer = floats(2 * n + 8)
    z = np.empty(n, np.complex128)
    z.real[...], z.imag[...] = floats(n), floats(n)
    halves = rng.integers(-1000, 1000, 2 * n).astype(np.int32)
    return {
        "x": floats(n), "y": floats(n), "p": buffer[:n], "o": buffer[3 : n + 3], "u": buffer[: 2 * n : 2], "v": buffer[n + 2 : 2 : -1], "z": z, "w": floats(n).astype(np.float32),
        "k": rng.integers(-9, 9, n), "h": halves[::2], "g": halves[1::2], "l": halves.view(np.int64), "t": rng.integers(0, 250, n).astype(np.uint8), "b": rng.random(n) < 0.4,
        "m": floats(r, c), "f": np.asfortranarray(floats(r, c)), "d": rng.integers(-9, 9, (r, c)), "c": floats(c), "e": floats(r, 1), "n": rng.random((r, c)) < 0.5, "q": floats(s, s), "a": floats(s, s)[::-1],
        "i": rng.permutation(n), "buffer": buffer, "halves": halves,
    }


class Program:
    """A function of the arrays above; a seed gives the same one everywhere."""

    def __init__(self, seed):
        self.rng, self.lines, self.results, self.count = random.Random(seed), [], [], 0
        self.names = {"V": [], "M": [], "Q": []}
        for _ in range(self.rng.randint(2, 6)):
            self.lines += self.statement(0)

    def pick(self, *choices):
        return self.rng.choice(choices)

    def chance(self, p):
        return self.rng.random() < p

    # -- views, by shape: V has n elements, W n - 1, H half of them, M is a matrix, T its transpose, Q a square

    def base(self, shape, kind):
        """An array that is in memory, of a float, integer or bool type."""
        if shape == "V":
            if kind == "f":
                return self.pick("x", "y", "p", "o", "u", "v", "z.real", "z.imag", "w", "x", "p", *self.names["V"])
            return self.pick("k", "h", "g", "l", "t") if kind == "i" else "b"
        if shape == "M":
            return self.pick("m", "f", "m", *self.names["M"]) if kind == "f" else "d" if kind == "i" else "n"
        raise AssertionError(shape)

    def view(self, shape, kind):
        if shape == "V":
            b = self.base("V", kind)
            return self.pick(b, b, b, f"{b}[::-1]", f"{b}[:]", f"{b}[...]")
        if shape == "W":
            return self.base("V", kind) + self.pick("[1:]", "[:-1]", "[:0:-1]", "[-2::-1]", "[1:]", "[:-1]")
        if shape == "H":
            return self.base("V", kind) + self.pick("[::2]", "[1::2]", "[::-2]", "[:len(x) // 2]", "[len(x) // 2:]", "[1::2][::-1]")
        if shape == "M":
            b = self.base("M", kind)
            return self.pick(b, b, f"{b}[::-1]", f"{b}[:, ::-1]", f"{b}.T.T", f"{b}[...]")
        if shape == "T":
            return self.base("M", kind) + self.pick(".T", ".T[::-1]", ".T", ".transpose()")
        b = self.pick("q", "a", *self.names["Q"])
        return self.pick(b, f"{b}.T", f"{b}[::-1]", f"{b}[:, ::-1]", f"{b}[::-1, ::-1]", f"{b}.T[::-1]")

    def stretched(self, shape):
        """What broadcasts to the shape."""
        if shape in "VWH":
            return self.pick("x[:1]", "2", "0.5", "-0.0", "np.float32(1.5)")
        if shape == "M":
            return self.pick("c", "e", "m[:1]", "f[:, :1]", "c[::-1]", "3", "0.25", "m.sum(axis=0)", "m.max(axis=1, keepdims=True) if m.shape[1] else e", "f.mean(axis=1)[:, None]", "np.broadcast_to(c, m.shape)", "d[:1]")
        if shape == "T":
            return self.pick("c[:, None]", "e.T", "2", "e[:, 0]", "m.T[:1]")
        return self.pick("q[:1]", "q[:, :1]", "2", "a[:1].T", "q.sum(axis=0)", "q.sum(1, keepdims=True)", "q.diagonal()", "q.diagonal()[:, None]")

    # -- expressions

    def floats(self, shape, depth=0):
        if depth > 3 or self.chance(0.25):
            if self.chance(0.2):
                return self.stretched(shape) if depth else f"({self.view(shape, 'f')} + {self.stretched(shape)})"
            return self.view(shape, "f")
        form = self.rng.random()
        if form < 0.45:
            return f"({self.floats(shape, depth + 1)} {self.pick('+', '-', '*', '+', '-', '*', '/')} {self.floats(shape, depth + 1)})"
        if form < 0.6:
            return self.pick("np.abs($)", "-$", "np.sqrt(np.abs($))", "np.square($)", "np.floor($)", "np.sign($)", "np.rint($)", "np.nan_to_num($)", "np.clip($, -1.0, 2.0)", "$ ** 2", "np.trunc($)").replace("$", self.array(shape, depth))
        if form < 0.7:
            # Nobody defines the sign of a NaN that comes of two.
            name, of, sign = self.pick('maximum', 'minimum', 'fmax', 'fmin', 'copysign'), self.array(shape, depth), self.floats(shape, depth + 1)
            return f"np.{name}({of}, {f'np.nan_to_num({sign})' if name == 'copysign' else sign}) + 0"
        if form < 0.82:
            return f"np.where({self.bools(shape, depth + 1)}, {self.floats(shape, depth + 1)}, {self.floats(shape, depth + 1)})"
        if form < 0.88 and shape in "VM":
            return f"({self.ints(shape, depth + 1)} * {self.pick('0.5', '2', self.view(shape, 'f'))})"
        if form < 0.93:
            return f"{self.array(shape, depth)}.astype(np.{self.pick('float32', 'float64')})"
        if form < 0.97 and shape == "V":
            return self.pick("x[i]", "p[i]", "np.take(y, i)", "(x * 2)[i]", "(p + o)[::-1]", "np.abs(z.real)", "(z * 2).imag", "np.concatenate((x[1:], y[:1]))", "np.roll(p, 1)", "np.repeat(x[::2], 2)")
        return f"({self.floats(shape, depth + 1)} * {self.pick('0.5', '-1', '3', '1e3')})"

    def array(self, shape, depth):
        """An expression that is an array for certain."""
        return f"({self.view(shape, 'f')} + {self.floats(shape, depth + 1)})" if self.chance(0.5) else self.view(shape, "f")

    def ints(self, shape, depth=0):
        if depth > 3 or self.chance(0.35):
            return self.view(shape, "i")
        return self.pick(f"({self.ints(shape, depth + 1)} {self.pick('+', '-', '*', '&', '|', '^')} {self.ints(shape, depth + 1)})", f"(-{self.ints(shape, depth + 1)})", f"np.abs({self.ints(shape, depth + 1)})",
                         f"({self.ints(shape, depth + 1)} {self.pick('//', '%')} {self.pick('3', '7', '-5')})", f"np.where({self.bools(shape, depth + 1)}, {self.ints(shape, depth + 1)}, {self.pick('1', '-3')})",
                         f"{self.ints(shape, depth + 1)}.astype(np.{self.pick('int64', 'int32', 'int16', 'uint8')})", f"({self.ints(shape, depth + 1)} << 1)")

    def bools(self, shape, depth=0):
        if shape in "VWHM" and (depth > 3 or self.chance(0.25)):
            return self.view(shape, "b")
        form = self.rng.random()
        if form < 0.6 or depth > 3 or shape in "TQ":
            return f"({self.view(shape, 'f')} {self.pick('<', '<=', '>', '>=', '==', '!=')} {self.pick(self.view(shape, 'f'), '0', '0.5', self.view(shape, 'f'))})"
        if form < 0.8:
            return f"({self.bools(shape, depth + 1)} {self.pick('&', '|', '^')} {self.bools(shape, depth + 1)})"
        return self.pick(f"~{self.bools(shape, depth + 1)}", f"np.isnan({self.array(shape, depth + 1)})", f"np.isfinite({self.array(shape, depth + 1)})", f"np.signbit(np.nan_to_num({self.array(shape, depth + 1)}))")

    # -- statements

    def statement(self, depth):
        form = self.rng.random()
        shape = self.pick("V", "V", "W", "H", "M", "M", "T", "Q")
        if form < 0.17:
            return [f"{self.view(shape, 'f')}[...] = {self.floats(shape)}"] if self.chance(0.7) else self.sliced()
        if form < 0.34:
            return self.augmented(shape)
        if form < 0.44:
            t = self.view(shape, "f")
            return [f"np.{self.pick('add', 'subtract', 'multiply', 'maximum', 'divide')}({self.array(shape, 1)}, {self.floats(shape, 1)}, out={t})"]
        if form < 0.54:
            return self.masked()
        if form < 0.58:
            return [self.pick("x[i] = y * 2", "p[i] = o", "x[i] = x", "x[i] += 1", "y[i] -= x", "p[i[::-1]] = p", "m[:, [0, -1]] = e", "x[i[: len(i) // 2]] = 0.5", "k[i] = k[::-1]", "np.put(x, i, y)", "m[[0, -1]] *= 2 if len(m) > 1 else 1")]
        if form < 0.7:
            return self.named(shape, depth)
        if form < 0.9 or depth > 1:
            return self.reduction(shape)
        body = [line for _ in range(self.rng.randint(1, 2)) for line in self.statement(depth + 1)]
        j = f"j{depth}"
        return [f"for {j} in range({self.pick(2, 3)}):", *["    " + line for line in body]]

    def sliced(self):
        return [self.pick("p[1:] = ", "o[:-1] = ", "u[1:] = ", "x[1:] = ", "z.real[1:] = ", "v[:-1] = ") + self.floats("W")] if self.chance(0.6) else [self.pick("p[::2] = ", "u[1::2] = ", "x[::-2] = ", "z.imag[::2] = ", "o[len(o) // 2:] = ") + self.floats("H")]

    def augmented(self, shape):
        if self.chance(0.2) and shape in "VM":
            return [f"{self.pick('k', 'l') if shape == 'V' else 'd'} {self.pick('+=', '-=', '*=', '&=', '^=')} {self.ints(shape)}"]
        t = self.view(shape, "f")
        op = self.pick("+=", "-=", "*=", "+=", "/=")
        if "[" in t or "." in t and not t.endswith(".T.T"):
            return [f"{t}[...] {op} {self.floats(shape)}"] if not t.endswith("]") else [f"{t} {op} {self.floats(shape)}"]
        return [f"{t} {op} {self.floats(shape)}"] if t.isidentifier() else [f"{t}[...] {op} {self.floats(shape)}"]

    def masked(self):
        shape = self.pick("V", "V", "M")
        t = self.pick("x", "p", "o", "u", "z.imag", "w") if shape == "V" else self.pick("m", "f")
        mask = self.bools(shape)
        form = self.rng.randrange(6)
        if form == 0:
            return [f"{t}[{mask}] = {self.pick('0.5', '-0.0', '7')}"]
        if form == 1:
            other = self.view(shape, "f")
            return [f"mask = {mask}", f"{t}[mask] = {other}[mask] {self.pick('* 2', '+ 1', '')}"]
        if form == 2:
            return [f"{t}[{mask}] {self.pick('+=', '*=', '-=')} {self.pick('1', '0.5')}"]
        if form == 3:
            other = self.view(shape, "f")
            return [f"mask = {mask}", f"{t}[mask] {self.pick('+=', '-=')} {other}[mask]"]
        if form == 4:
            return [f"np.copyto({t}, {self.floats(shape)}, where={mask})"]
        self.results.append(self.fresh())
        return [f"{self.results[-1]} = {self.view(shape, 'f')}[{mask}]"]

    def fresh(self):
        self.count += 1
        return f"s{self.count}"

    def named(self, shape, depth):
        """A new array, or a view, that later statements use and write to."""
        name = self.fresh()
        self.results.append(name)
        lines = [f"{name} = {self.array(shape, 0)}"]
        # What is made in a loop may not be there behind it.
        if shape in self.names and depth == 0 and self.chance(0.7):
            self.names[shape].append(name)
        return lines

    def reduction(self, shape):
        name = self.fresh()
        self.results.append(name)
        what = self.array(shape, 0)
        axis = self.pick("", "", "axis=0", "axis=1", "axis=-1", "axis=(0, 1)", "axis=0, keepdims=True", "axis=1, keepdims=True", "keepdims=True") if shape in "MTQ" else self.pick("", "", "axis=0", "keepdims=True")
        f = self.pick("sum", "sum", "mean", "min", "max", "prod", "var", "std", "any", "all", "argmin", "argmax", "count_nonzero", "cumsum", "ptp", "nansum", "nanmax")
        if f in ("argmin", "argmax", "cumsum") and axis == "axis=(0, 1)":
            axis = "axis=0"
        if f == "cumsum":
            axis = axis.split(", keepdims")[0].replace("keepdims=True", "")
        if f == "prod":
            what = f"np.sign({what})"
        form = self.rng.random()
        if form < 0.15:
            return [f"{name} = ({self.bools(shape)}).{self.pick('sum', 'any', 'all', 'mean')}({axis})"]
        if form < 0.3 and shape in "VM":
            return [f"{name} = np.{self.pick('sum', 'min', 'max', 'prod', 'mean')}({self.ints(shape)}{', ' + axis if axis else ''})"]
        if form < 0.45:
            return [f"{name} = {what}", f"{name}_ = ({name} - {name}.{self.pick('min', 'max', 'mean', 'sum')}({axis if 'axis=(0' not in axis else ''}))" if axis in ("", "axis=0", "keepdims=True") or "keepdims" in axis else f"{name}_ = {name}.sum({axis})", f"{name} = {name}_ * 2"]
        return [f"{name} = np.{f}({what}{', ' + axis if axis else ''})"]

    def source(self):
        names = "x, y, p, o, u, v, z, w, k, h, g, l, t, b, m, f, d, c, e, n, q, a, i"
        return f"def program({names}):\n" + "\n".join("    " + line for line in self.lines) + f"\n    return {', '.join(dict.fromkeys(self.results)) or 'x'},\n"


# -- running


def outcome(f, size, seed):
    arrays = data(size, seed)
    kept = {n: arrays.pop(n) for n in ("buffer", "halves")}
    return *quietly(f, arrays), {**arrays, **kept}


def compare(seed, decorate):
    return judge(seed, Program(seed).source(), SIZES, lambda f, size: outcome(f, size, seed), decorate)


if __name__ == "__main__":
    main(__file__, lambda seed: Program(seed).source(), compare)
