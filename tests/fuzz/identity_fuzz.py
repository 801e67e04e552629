"""Differential fuzzing of identities: programs that make functions, compiled functions, ufuncs, callbacks, stencils, classes, named tuples, exceptions, modules and dtypes, pass them to compiled
functions in every container, change them, drop them and make others where they lay; by plain Python and compiled.

    python tests/fuzz/identity_fuzz.py --seconds 600 --seed 1

Compiled callers that live as long as the process are shared by all programs of a batch; others live for one step. Results must be equal, and an object that comes back must be the very one.
With `--threads N` that many programs of a batch run at a time.
"""

import enum
import gc
import linecache
import random
import sys
import threading
import types
import typing
import warnings
from collections import namedtuple

import driver

TIERS = {"tier 0": "0", "tier 1": "1"}
BATCH = 20

# What programs make their objects with. `change` gives an object another meaning.
MAKERS = '''
def adder(k):
    @njit
    def f(x):
        return x + k

    def change(v):
        nonlocal k
        k = v
    f.change = change
    return f

def plain(k):
    def f(x):
        return x * 2 + k

    def change(v):
        nonlocal k
        k = v
    f.change = change
    return f

def coded(k):
    def f(x):
        return x

    def change(v):
        space = {}
        exec(f"def f(x, y={v}):\\n    return x * 3 + y + {v}", space)
        f.__code__, f.__defaults__ = space["f"].__code__, (v,)
    f.change = change
    change(k)
    return f

def recursive(k):
    @njit
    def f(x):
        return k if x <= 0 else f(x - 1) + 2
    return f

def mutual(k):
    @njit
    def even(x):
        return k if x <= 0 else odd(x - 1) + 1

    @njit
    def odd(x):
        return -k if x <= 0 else even(x - 1) + 1
    return even

def default(k):
    @njit
    def f(x, y=k, *, z=k):
        return x + y * z
    return f

def nested(k):
    g = plain(k) if k % 2 else adder(k)

    @njit
    def f(x):
        return g(x) * 2
    f.change = g.change
    return f

def spaced(k):
    space = {"njit": njit, "k": k, "np": np}
    exec("def h(x):\\n    return x + k\\n\\n@njit\\ndef f(x):\\n    return h(x) * int(np.sqrt(4.0))", space)
    f = space["f"]
    f.change = lambda v: space.__setitem__("k", v)
    return f

def generating(k):
    def g(n):
        for i in range(n):
            yield i + k

    @njit
    def f(x):
        s = 0
        for i in g(x):
            s += i
        return s
    return f

def ufunc(k):
    return vectorize(lambda x: x - k)

def declared(k):
    return vectorize(["int64(int64)"])(lambda x: x * k)

def callback(k):
    return cfunc("int64(int64)")(lambda x: x * 5 - k)

def class_(k):
    class C:
        v = k
        s = staticmethod(adder(k) if k % 2 else plain(k))

    def change(n):
        C.v = n
    C.change = staticmethod(change)
    return C

def subclass(k):
    class A:
        v = k
        s = staticmethod(plain(k))

    class C(A):
        w = k

    def change(n):
        if n % 2:
            C.v = n
        else:
            A.v = n
    C.change = staticmethod(change)
    return C

def tuple_class(k):
    fields = ["x", "y"] if k % 2 else ["y", "x"]
    return namedtuple("P", fields + ["z"] * (k % 3 == 0), defaults=[k] if k % 3 == 0 else None)

def exception(k):
    return type("E", (ValueError if k % 2 else KeyError,), {})

def derived(k):
    class E(ArithmeticError):
        def __init__(self, x):
            super().__init__(x, k)
    return E

def number_class(k):
    return enum.IntEnum("N", {"v": k, "w": k + 1})

def typed_class(k):
    class P(typing.NamedTuple):
        y: int
        x: int = k
    return P

def module(k):
    m = types.ModuleType("m")
    m.v = k

    def f(x):
        return x + k
    m.s = f if k % 2 else njit(f)

    def change(n):
        m.v = n
    m.change = change
    return m

def dtype(k):
    return np.dtype(("f8", "i4", "u1", "f4", "c16", "i8")[k % 6], metadata={"k": k})

def stenciled(k):
    return stencil(lambda a: a[0] * k + a[-1])
'''

FUNCTIONS = ("adder", "adder", "plain", "coded", "recursive", "mutual", "default", "nested", "spaced", "generating", "ufunc", "declared", "callback")
CLASSES = ("class_", "subclass", "module")
KINDS = {**dict.fromkeys(FUNCTIONS, "function"), **dict.fromkeys(CLASSES, "class"), "number_class": "enum", "tuple_class": "tuple", "typed_class": "tuple", "exception": "exception", "derived": "exception", "dtype": "dtype", "stenciled": "stencil"}

# What is done with an object U (and another one, W), and the number x.
USES = {
    "function": ("return U(x)", "return U(x) + U(x + 1)", "return U", "return U, U(x)", "return [U, U][1](x)", "g = U\n    return g(g(x) % 7)", "return (lambda y: U(y))(x)", "f = [U]\n    return f[0](x), f"),
    "functions": ("return U(x) - W(x)", "return (U if x > 2 else W)(x)", "return U is W, U is U, U == W", "s = 0\n    for f in (U, W, U):\n        s = s * 3 + f(x)\n    return s", "return W if x % 2 else U",
                  "return U(W(x) % 5)"),
    "class": ("return U.v", "return U.s(x) + U.v", "return U", "return (U, (U.v, x))", "return U.s"),
    "enum": ("return U.v + x", "return U", "return U.w - U.v"),
    "tuple": ("return U(x, 1)", "return U(x=x, y=2).x", "return U", "p = U(y=3, x=x)\n    return p.y, p", "return isinstance(U(x, x), U)"),
    "instance": ("return U.x * 10 + U.y", "return U", "return (U.y, (U,))", "return U[0] - U[1]", "return U._replace(x=x)"),
    "exception": ("raise U(x)", "try:\n        raise U(x)\n    except U as e:\n        return type(e), x", "try:\n        raise U(x)\n    except LookupError:\n        return 1\n    except (ValueError, ArithmeticError):\n        return 2", "return U",
                  "try:\n        raise ValueError('v')\n    except ValueError as e:\n        raise U(x) from e"),
    "dtype": ("return np.zeros(x, U)", "return np.array([1, 2], dtype=U)", "return U == np.float64", "return np.ones(3).astype(U)"),
    "stencil": ("return U(np.arange(x + 4))", "return U"),
}

# How a caller gets it: its parameters, what U is in it, and how it is called.
CONTAINERS = {
    "alone": ("u, x", "u", "c(o, x)"), "tuple": ("t, x", "t[0]", "c((o, 1), x)"), "nested": ("t, x", "t[1][0]", "c((1.5, (o, o)), x)"), "list": ("z, x", "z[0]", "c([o], x)"),
    "named": ("h, x", "h.f", "c(Holder(o, 1), x)"), "args": ("*a", "a[0]", "c(o, x)"), "keywords": ("**k", "k['u']", "c(u=o, x=x)"), "keyword": ("x, *, u", "u", "c(x, u=o)"),
    "tuples in a list": ("z, x", "z[0][0]", "c([(o, 1)], x)"), "rest": ("x, *a", "a[1]", "c(x, 1, o)"), "optional": ("u, x", "u", "(c(o, x), c(o, x))[1]"),
}
PAIRS = {
    "alone": ("u, w, x", "u", "w", "c(o, p, x)"), "tuple": ("t, x", "t[0]", "t[1]", "c((o, p), x)"), "named": ("h, x", "h.f", "h.n", "c(Holder(o, p), x)"), "args": ("*a", "a[0]", "a[1]", "c(o, p, x)"),
}
# Callers that live for one step find the object elsewhere as well.
PLACES = {
    "captured": "def make(u):\n    @njit\n    def c(x):\n        BODY\n    return c\nc = make(o)\n", "default": "@njit\ndef c(x, u=o):\n    BODY\n", "global": "u = o\n@njit\ndef c(x):\n    BODY\n",
    "attribute": "class H:\n    f = [0]\nH.f = staticmethod(o) if callable(o) and not isinstance(o, type) else o\n@njit\ndef c(x):\n    u = H.f\n    BODY\n",
    "of a module": "m = types.ModuleType('holder')\nm.u = o\n@njit\ndef c(x):\n    u = m.u\n    BODY\n", "in a global tuple": "t = (o, 1)\n@njit\ndef c(x):\n    u = t[0]\n    BODY\n",
    "through an inner function": "@njit\ndef c(x):\n    def inner(u):\n        BODY\n    return inner(o)\n",
}


class Program:
    """Steps of a program: texts, each of which is run and may give a result. A seed gives the same ones everywhere."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.live, self.count, self.steps = {}, 0, []
        for _ in range(self.rng.randint(15, 40)):
            self.step()

    def pick(self, choices):
        return self.rng.choice(list(choices))

    def make(self, maker=None, keep=None):
        maker = maker or self.pick((*FUNCTIONS, *FUNCTIONS, *KINDS))
        # In memory that has just been given back.
        alike = [n for n, m in self.live.items() if KINDS[m] == KINDS[maker] and n != keep]
        if alike and self.rng.random() < 0.5:
            old = self.pick(alike)
            before = self.live.pop(old)
            maker = before if self.rng.random() < 0.7 else maker
            self.steps.append(f"del {old}" if self.rng.random() < 0.8 else f"del {old}; gc.collect()")
        self.count += 1
        name = f"o{self.count}"
        self.steps.append(f"{name} = {maker}({self.rng.randint(1, 12)})")
        self.live[name] = maker
        return name

    def object(self, kind=None, keep=None):
        found = [n for n, m in self.live.items() if kind is None or KINDS[m] == kind]
        if found and self.rng.random() < 0.4:
            return self.pick(found)
        return self.make(self.pick([m for m, k in KINDS.items() if kind in (None, k)]), keep)

    def step(self):
        form = self.rng.random()
        changing = [n for n, m in self.live.items() if m in ("adder", "plain", "coded", "nested", "spaced", *CLASSES)]
        if form < 0.12 and changing:
            self.steps.append(f"{self.pick(changing)}.change({self.rng.randint(20, 40)})")
        elif form < 0.2 and len(self.live) > 4:
            gone = self.rng.sample(sorted(self.live), 3)
            for n in gone:
                del self.live[n]
            self.steps.append(f"del {', '.join(gone)}; gc.collect()")
        elif form < 0.35:
            self.pair()
        else:
            self.call()

    def call(self):
        name = self.object()
        kind = KINDS[self.live[name]]
        o = name
        if kind == "tuple" and self.rng.random() < 0.6:
            kind, o = "instance", f"{name}({self.rng.randint(1, 9)}, {self.rng.choice(('2', '2.5'))})"
        use, x = self.pick(USES[kind]), self.rng.randint(0, 5)
        if self.rng.random() < 0.35:
            place = PLACES[self.pick(PLACES)]
            if kind not in ("function", "class") and "H.f" in place:
                place = PLACES["captured"]
            self.steps.append(f"result(once({place.replace('BODY', indented(use.replace('U', 'u'), place))!r}, {o}, {x}))")
            return
        params, u, how = CONTAINERS[self.pick(CONTAINERS)]
        self.steps.append(f"result(using({caller(params, u, 'W', use)!r}, lambda c, o, x: {how}, {o}, None, {x}))")
        # Twice, the second time by another path.
        if self.rng.random() < 0.4:
            self.steps.append(self.steps[-1])

    def pair(self):
        a, x = self.object("function"), self.rng.randint(0, 5)
        b = self.object("function", keep=a)
        params, u, w, how = PAIRS[self.pick(PAIRS)]
        self.steps.append(f"result(using({caller(params, u, w, self.pick(USES['functions']))!r}, lambda c, o, p, x: {how}, {a}, {b}, {x}))")

    def text(self):
        return "\n".join(self.steps)


def caller(params, u, w, use):
    x = {"*a": "    x = a[len(a) - 1]\n", "**k": "    x = k['x']\n"}.get(params, "")
    return f"def c({params}):\n{x}    {use.replace('U', u).replace('W', w)}\n"


def indented(use, place):
    line = next(line for line in place.splitlines() if "BODY" in line)
    return use.replace("\n    ", "\n" + line[:len(line) - len(line.lstrip())])


Holder = namedtuple("Holder", "f n")


class Run:
    """A program that runs, by plain Python or compiled."""

    shared = {}
    lock = threading.Lock()

    def __init__(self, compiled):
        import numpy as np
        self.compiled, self.results = compiled, []
        self.space = {"np": np, "gc": gc, "types": types, "typing": typing, "enum": enum, "namedtuple": namedtuple, "Holder": Holder, "__name__": __name__, "result": self.result, "once": self.once, "using": self.using}
        self.space.update(decorators() if compiled else plain_decorators(np))
        exec(code(MAKERS, "<makers>"), self.space)

    def using(self, text, call, o, p, x):
        """Calls a caller of this text that all programs share."""
        c = self.caller(text)
        return lambda: call(c, o, x) if p is None else call(c, o, p, x)

    def caller(self, text):
        key = self.compiled, text
        if key not in Run.shared:
            space = {"np": self.space["np"], "__name__": __name__}
            exec(code(text, "<caller>"), space)
            # Another thread may have made it.
            with Run.lock:
                Run.shared.setdefault(key, self.space["njit"](space["c"]))
        return Run.shared[key]

    def once(self, text, o, x):
        """Calls a caller that is made for this alone."""
        space = {**{k: self.space[k] for k in ("np", "types", "njit")}, "o": o, "__name__": __name__}
        exec(code(text, "<once>"), space)
        return lambda: space["c"](x)

    def result(self, call):
        try:
            self.results.append(("gives", self.shown(call())))
        except Exception as e:
            if e.__class__.__module__.startswith("tierup") and "unsupported" not in str(e)[-100:]:
                self.results.append(("refused", str(e)))
            else:
                links = [self.shown(type(link)) if link is not None else None for link in (e.__cause__, e.__context__)]
                self.results.append(("raised", self.shown(type(e)), repr(e.args), links))

    def shown(self, r):
        """What a result is, in words that do not depend on who ran the program."""
        np = self.space["np"]
        for name, o in list(self.space.items()):
            if o is r and name[0] == "o" and name[1:].isdigit():
                return ("the object", name)
        if isinstance(r, np.ndarray):
            return "array", str(r.dtype), r.tolist()
        if isinstance(r, tuple):
            return "tuple" if type(r) is tuple else self.shown(type(r)), *map(self.shown, r)
        if isinstance(r, list):
            return "list", *map(self.shown, r)
        if isinstance(r, type):
            return "class", r.__name__
        if isinstance(r, (bool, str)) or r is None:
            return r
        if isinstance(r, (int, float, complex, np.generic)):
            return complex(r)
        return type(r).__name__ if isinstance(r, types.ModuleType) else "function"

    def step(self, text):
        exec(code(text, "<step>"), self.space)


def code(text, name):
    name = f"{name[:-1]} {hash(text) & 0xffffff}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    return compile(text, name, "exec")


def decorators():
    import tierup
    return {"njit": tierup.njit, "vectorize": tierup.vectorize, "cfunc": tierup.cfunc, "stencil": tierup.stencil}


def plain_decorators(np):
    def vectorize(what):
        return what if callable(what) else lambda f: f

    def stencil(kernel):
        def f(a):
            y = np.zeros(a.shape, np.int64)
            for i in range(1, len(a)):
                y[i] = kernel({0: a[i], -1: a[i - 1]})
            return y
        return f
    return {"njit": lambda f: f, "vectorize": vectorize, "cfunc": lambda sig: lambda f: f, "stencil": stencil}


def check(seed, steps=None):
    """None, or the first step that gave something else and what; a text that begins with `refused` where the compiler says no."""
    import tierup
    steps = Program(seed).steps if steps is None else steps
    tiers = TIERS if tierup._tierup.has_llvm() and seed % 8 == 0 else {"tier 0": "0"}
    refused = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for label, tier in tiers.items():
            if tierup.config.tier != tier:
                tierup.config.tier = tier
                Run.shared.clear()
            python, compiled = Run(False), Run(True)
            for number, text in enumerate(steps):
                python.step(text)
                compiled.step(text)
                if python.results[-1:] == compiled.results[-1:]:
                    continue
                what = f"{label}, step {number}: {text}\nexpected {python.results[-1:]}\ngot      {compiled.results[-1:]}"
                if compiled.results[-1][0] != "refused":
                    return what
                # The rest is looked at all the same.
                refused = f"refused: {what}"
                python.results.pop(), compiled.results.pop()
    return refused


def reduced(seed):
    """The steps that are needed for what is wrong."""
    steps = Program(seed).steps
    found = check(seed, steps)
    if found is None or found.startswith("refused"):
        return steps

    def fails(some):
        try:
            what = check(seed, some)
        except NameError:
            return False
        return what is not None and not what.startswith("refused")
    for size in (8, 4, 2, 1):
        at = 0
        while at < len(steps):
            fewer = steps[:at] + steps[at + size:]
            if fails(fewer):
                steps = fewer
            else:
                at += size
    return steps


def run(first, last, threads=1):
    """What is wrong with programs, by seed; each batch in a process of its own."""
    return driver.apart(__file__, first, last, "--threads", str(threads), TIERUP_NUM_THREADS="2")


def child(first, last, threads):
    """Checks programs, so many at a time; several at a time in tier 0 alone."""
    import queue

    import tierup
    if threads > 1:
        TIERS.pop("tier 1")
    tierup.config.tier = "0"
    todo = queue.SimpleQueue()
    for seed in range(first, last):
        todo.put(seed)

    def work():
        while True:
            try:
                seed = todo.get_nowait()
            except queue.Empty:
                return
            driver.report(seed, check)
    if threads == 1:
        return work()
    sys.setswitchinterval(1e-5)
    all = [threading.Thread(target=work) for _ in range(threads)]
    [t.start() for t in all]
    [t.join() for t in all]


if __name__ == "__main__":
    options = driver.Options(__doc__)
    options.add_argument("--threads", type=int, default=1, help="programs that run at a time; then in tier 0 alone")
    driver.main(options, lambda seed: Program(seed).text(), check, run, BATCH, child, lambda seed: "\n".join(["Needed are:", *reduced(seed)]))
