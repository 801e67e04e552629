"""Random classes and rows: what `singledispatch` and `tierup.dispatch` call in compiled code is what they call in Python, also after rows, abstract classes and bases have changed.

    python tests/fuzz/dispatch_fuzz.py --seconds 600 --seed 1

A program is a text that makes classes (several bases, abstract ones that others join), a function of each kind with rows, and functions that call them with each of several objects, with
constants and with what may be None. Between the calls something changes. Calls that no row fits may be refused when they are compiled; `singledispatch` itself remembers what it chose for a class
whose bases change later, so what it is asked about then is not compared.
"""

import random

from differential import main

CALLS = """
def single(xs):
    out = []
    for x in xs:
        try:
            out.append(s(x))
        except RuntimeError:
            out.append(-5)
    return out

def several(xs):
    out = []
    for x in xs:
        for y in xs:
            z = x if y is xs[0] else None
            try:
                out.append(m({arguments}))
            except TypeError:
                out.append(-9)
    return out

def constants(xs):
    x = xs[0]
    return s(1), s(True), s("a"), s(None), s(2.5), t(1, x), t(x, 2.5), t("a", None)
"""


class Program:
    """The text of a program: what it makes, and the lines that change something, one for each step."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        rnd = self.random
        self.classes = []
        lines = ["import abc, functools", "from tierup import dispatch", "class A0(abc.ABC): pass", "class A1(abc.ABC): pass"]
        for k in range(rnd.randint(2, 6)):
            bases = rnd.sample(self.classes, min(len(self.classes), rnd.choice([0, 0, 1, 1, 2])))
            text = f"class C{k}({', '.join(bases)}):\n    def __init__(self, v):\n        self.v = v"
            # Two bases may contradict each other.
            lines.append(f"try:\n    {text.replace(chr(10), chr(10) + '    ')}\nexcept TypeError:\n    class C{k}:\n        def __init__(self, v):\n            self.v = v")
            self.classes.append(f"C{k}")
        self.pool = [*self.classes, "A0", "A1", "int", "float", "str", "bool", "object", "None"]
        lines += [f"{a}.register({c})" for a in ("A0", "A1") for c in self.classes if rnd.random() < 0.15]
        self.names = "abc"[:rnd.choice([1, 2, 2, 3])]
        lines.append("@functools.singledispatch\ndef s(x):\n    return -1")
        lines += [self.single_row(k) for k in range(rnd.randint(1, 5))]
        lines.append(f"@dispatch\n{self.row('m', -1)}")
        lines += [f"@m.register\n{self.row('_', k)}" for k in range(rnd.randint(1, 6))]
        lines.append("@dispatch\ndef t(a, b):\n    return -1")
        lines += [f"@t.register\ndef _(a: {self.annotation()}, b: object):\n    return {k}" for k in range(2)]
        lines.append(CALLS.format(arguments=", ".join("xyz"[:len(self.names)])))
        lines.append(f"objects = [{', '.join(f'{rnd.choice(self.classes)}({k})' for k in range(4))}]")
        self.text = "\n".join(lines)
        self.changes = [self.change(step) for step in range(3)]

    def annotation(self):
        if self.random.random() < 0.2:
            return " | ".join(sorted({*self.random.sample(self.classes + ["int", "str"], 2)}))
        return self.random.choice(self.pool)

    def row(self, name, value):
        parameters = (f"{n}: {self.annotation()}" if self.random.random() < 0.75 else n for n in self.names)
        return f"def {name}({', '.join(parameters)}):\n    return {value}"

    def single_row(self, value):
        return f"s.register({self.random.choice(self.pool).replace('None', 'type(None)')}, lambda x: {value})"

    def change(self, step):
        what = self.random.random()
        if what < 0.45:
            return f"@m.register\n{self.row('_', 70 + step)}"
        if what < 0.7:
            return self.single_row(80 + step)
        if what < 0.85:
            return f"{self.random.choice(['A0', 'A1'])}.register({self.random.choice(self.classes)})"
        c, base = self.random.sample(self.classes, 2)
        return f"try:\n    {c}.__bases__ = ({base},)\n    bases_changed = True\nexcept TypeError:\n    pass"

    def source(self):
        return "\n\n".join([self.text, *self.changes])


def outcome(f, *args):
    try:
        return f(*args), None
    except Exception as e:  # noqa: BLE001
        return None, e


def compare(seed, decorate):
    """What differs for a program: None, or ("wrong", text)."""
    import tierup

    program, space = Program(seed), {"__name__": "fuzzed"}
    exec(compile(program.text, f"<dispatch {seed}>", "exec"), space)
    compiled = {name: decorate(space[name]) for name in ("single", "several", "constants")}
    for change in ["", *program.changes]:
        exec(change, space)
        for name, f in compiled.items():
            if name != "several" and space.get("bases_changed"):
                continue
            (want, error), (got, other) = outcome(space[name], space["objects"]), outcome(f, space["objects"])
            # A call that no row fits is refused also where Python catches what it raises.
            if isinstance(other, tierup.TypingError) and other.code in ("no-matching-operation", "ambiguous-dispatch"):
                if isinstance(error, TypeError) or want is not None and name == "several" and -9 in want:
                    continue
            if want != got or type(error) is not type(other):
                return "wrong", f"seed {seed}, {name} after {change!r}\n{program.source()}\nwant {want} {error!r}\ngot {got} {other!r}"
    return None


if __name__ == "__main__":
    main(__file__, lambda seed: Program(seed).source(), compare)
