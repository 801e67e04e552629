"""What other processes are sent: functions, ufuncs and classes of notebooks and programs, which no module has; cloudpickle's way, as Dask, Ray and joblib send them."""

import linecache
import pickle
import struct
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from harness.build import needs

tierup = pytest.importorskip("tierup")

pytestmark = needs("cloudpickle")

WORKER = """
import pickle, struct, sys
while size := sys.stdin.buffer.read(4):
    f, args = pickle.loads(sys.stdin.buffer.read(struct.unpack("I", size)[0]))
    try:
        answer = f(*args)
    except Exception as e:
        answer = f"{type(e).__name__}: {e}"
    sent = pickle.dumps((answer, id(f)))
    sys.stdout.buffer.write(struct.pack("I", len(sent)) + sent)
    sys.stdout.buffer.flush()
"""


class Worker:
    """A process that calls what it is sent."""

    def __init__(self):
        self.process = subprocess.Popen([sys.executable, "-c", WORKER], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, f, *args):
        """The answer, and which object the function is there."""
        import cloudpickle
        sent = cloudpickle.dumps((f, args))
        self.process.stdin.write(struct.pack("I", len(sent)) + sent)
        self.process.stdin.flush()
        size, = struct.unpack("I", self.process.stdout.read(4))
        return pickle.loads(self.process.stdout.read(size))

    def __call__(self, f, *args):
        return self.ask(f, *args)[0]


@pytest.fixture(scope="module")
def worker():
    w = Worker()
    yield w
    w.process.stdin.close()
    w.process.stdout.close()
    w.process.wait()


class Program(dict):
    """A program's main module, cell by cell."""

    def __init__(self, *cells):
        super().__init__(__name__="__main__")
        self.run("import math\nfrom dataclasses import dataclass\nimport numpy as np\nimport tierup\nfrom tierup import guvectorize, jit, njit, struct, vectorize")
        for cell in cells:
            self.run(cell)

    def run(self, cell):
        # As in a notebook, whose cells have names that no file has.
        text = textwrap.dedent(cell)
        name = f"<cell {len(Program.cells)}>"
        Program.cells.append(name)
        linecache.cache[name] = len(text), None, text.splitlines(True), name
        exec(compile(text, name, "exec"), self)

    cells = []


# What a function sees, and that defined again; the function is `f`, its argument 5.
SEEN = {
    "a global number": ("K = 1\n@njit\ndef f(x): return x + K", "K = 2"),
    "a function": ("def g(x): return x + 1\n@njit\ndef f(x): return g(x)", "def g(x): return x + 100"),
    "a function of a function": ("def h(x): return x\ndef g(x): return h(x) + 1\n@njit\ndef f(x): return g(x)", "def h(x): return x * 50"),
    "a compiled function": ("@njit\ndef g(x): return x + 1\n@njit\ndef f(x): return g(x)", "@njit\ndef g(x): return x + 100"),
    "a function of a compiled function": ("def h(x): return x\n@njit\ndef g(x): return h(x) + 1\n@njit\ndef f(x): return g(x)", "def h(x): return x * 50"),
    "a lambda": ("g = lambda x: x * math.pi\n@njit\ndef f(x): return g(x)", "g = lambda x: -x"),
    "a class of values": (
        "@dataclass(frozen=True)\nclass Q:\n    k: int\n    def get(self): return self.k\n@njit\ndef f(x): return Q(x).get()",
        "@dataclass(frozen=True)\nclass Q:\n    k: int\n    def get(self): return self.k + 100"),
    "a ufunc": ("@vectorize(['float64(float64)'])\ndef g(x): return x + 1\n@njit\ndef f(x): return g(x)", "@vectorize(['float64(float64)'])\ndef g(x): return x + 100"),
    "a function that sees a class": (
        "@dataclass(frozen=True)\nclass Q:\n    k: int\ndef g(x): return Q(x + 1).k\n@njit\ndef f(x): return g(x)",
        "@dataclass(frozen=True)\nclass Q:\n    k: int\n    def __post_init__(self): pass\ndef g(x): return Q(x + 2).k"),
    "a default of a function": ("def g(x, y=1): return x + y\n@njit\ndef f(x): return g(x)", "g.__defaults__ = (7,)"),
    "an array": ("A = np.arange(9)\n@njit\ndef f(x): return A[x]", "A = np.arange(9) * 2"),
}


@pytest.mark.parametrize("cells", SEEN.values(), ids=SEEN)
def test_what_is_defined_again_is_sent_again(worker, cells):
    space = Program(cells[0])
    f = space["f"]
    expected = f.py_func(5)
    first, known = worker.ask(f, 5)
    assert first == expected
    # Every task brings the function along; it is compiled once.
    assert worker.ask(f, 5) == (expected, known)
    space.run(cells[1])
    assert f.py_func(5) != expected and worker(f, 5) == f.py_func(5) == f(5)


LEADING_BACK = {
    "itself": "@njit\ndef f(n): return 1 if n < 2 else n * f(n - 1)",
    "itself, captured": "def make():\n    @njit\n    def f(n): return 1 if n < 2 else n * f(n - 1)\n    return f\nf = make()",
    "a function that leads back to itself": "def g(n): return 1 if n < 2 else n * g(n - 1)\n@njit\ndef f(n): return g(n)",
    "functions that lead back": "def even(n): return True if n == 0 else odd(n - 1)\ndef odd(n): return False if n == 0 else even(n - 1)\n@njit\ndef f(n): return even(n)",
    "a list in itself": "L = [1]\nL.append(L)\ndef g(x): return L\n@tierup.jit\ndef f(n): return n if n else g(n)",
    "itself in a tuple": "@njit\ndef f(n): return 1 if n < 2 else n * F[0](n - 1)\nF = (f,)",
    "functions in a list of captured ones": "def make():\n    fs = []\n    def g(n): return 3 if n == 0 else fs[0](n - 1)\n    @jit\n    def f(n): return 1 if n == 0 else g(n - 1) + 1\n    fs.append(f)\n    return f\nf = make()",
    "blocks that Python runs": "from tierup import objmode\n@njit\ndef f(n):\n    if n == 0:\n        return 1\n    with objmode(y='int64'):\n        y = int(str(n))\n    return g(y - 1) + 1\n@njit('int64(int64)')\ndef g(n): return 2 if n == 0 else f(n - 1)",
    "compiled functions that lead back": "@njit\ndef f(n): return 1 if n == 0 else g(n - 1)\n@njit\ndef g(n): return 2 if n == 0 else f(n - 1)",
}


@pytest.mark.parametrize("cell", LEADING_BACK.values(), ids=LEADING_BACK)
def test_functions_that_lead_back_to_themselves(worker, cell):
    f = Program(cell)["f"]
    answer, known = worker.ask(f, 5)
    assert answer == f(5)
    assert worker.ask(f, 5) == (answer, known)


def test_functions_that_a_function_has_made(worker):
    space = Program("""
        def make(k):
            def add(x):
                return x + k
            @njit
            def f(x):
                return add(x) * k
            return f
    """)
    two, three = space["make"](2), space["make"](3)
    assert [worker(two, 5), worker(three, 5), worker(two, 6)] == [14, 24, 16]


def test_options_and_declared_types_go_along(worker):
    space = Program("""
        @njit("int64(int64)", overflow="raise")
        def f(x):
            return x * x
    """)
    assert worker(space["f"], 3) == 9
    assert worker(space["f"], 2**62).startswith("OverflowError")
    assert worker(space["f"], "a").startswith("TypeError")


def test_source_goes_along_where_code_is_cut_out_of_it(worker):
    space = Program("""
        import io
        from tierup import objmode
        def plain(x):
            return x + 1
        @njit
        def blocks(x):
            y = x * 2
            with objmode(y="int64"):
                y = plain(y)
            return y


        @jit
        def loops(out, n):
            s = 0
            for i in range(n):
                s += i
            out.write("x" * s)
            return s, out.getvalue()

        def cut(n):
            import tierup
            answer = loops(io.StringIO(), n)
            return answer, [loop.line for loop, _ in loops.explain().loops], str(loops.explain()).count("native")
    """)
    assert worker(space["blocks"], 4) == space["blocks"](4) == 9
    space.run("def plain(x):\n    return x + 100")
    assert worker(space["blocks"], 4) == space["blocks"](4) == 108
    answer, lines, native = worker(space["cut"], 4)
    assert answer == (6, "xxxxxx") and lines == space["cut"](4)[1] and native >= 1


def test_ufuncs(worker):
    space = Program("""
        @vectorize(["float64(float64, float64)"])
        def declared(a, b):
            return a + 2 * b

        @vectorize
        def open(a, b):
            return a + 2 * b

        @guvectorize(["void(float64[:], float64[:])"], "(n)->(n)")
        def sums(x, out):
            s = 0.0
            for i in range(len(x)):
                s += x[i]
                out[i] = s
    """)
    a = np.arange(4.0)
    for name in ("declared", "open"):
        assert worker(space[name], a, a).tolist() == [0, 3, 6, 9]
    assert worker(space["sums"], a).tolist() == [0, 1, 3, 6]


NATIVE = {
    "struct": """
        @struct
        class P:
            x: float
            y: float = 2.0
            def norm(self):
                return self.x * self.x + self.y * self.y
            def moved(self, by):
                return P(self.x + by, self.y)
            @staticmethod
            def twice(x):
                return 2 * x
        p = P(3.0)
    """,
    "struct that leads to itself": """
        @struct
        class P:
            x: float
            rest: "P | None" = None
            def norm(self):
                return self.x + (self.rest.x if self.rest is not None else 0.0)
            def moved(self, by):
                return P(self.x + by, self)
            @staticmethod
            def twice(x):
                return 2 * x
        p = P(3.0, P(10.0))
    """,
    "below another": """
        @struct
        class Base:
            x: float
            def norm(self):
                return self.x
        @struct
        class P(Base):
            y: float = 1.0
            def norm(self):
                return super().norm() + self.y
            def moved(self, by):
                return P(self.x + by, self.y)
            @staticmethod
            def twice(x):
                return 2 * x
        p = P(3.0)
    """,
    "jitclass": """
        from tierup.experimental import jitclass
        @jitclass([("x", tierup.types.float64)])
        class P:
            def __init__(self, x):
                self.x = x
            def norm(self):
                return self.x * self.x
            def moved(self, by):
                return P(self.x + by)
            @staticmethod
            def twice(x):
                return 2 * x
        p = P(3.0)
    """,
}


@pytest.mark.parametrize("cell", NATIVE.values(), ids=NATIVE)
def test_classes_in_native_memory(worker, cell):
    space = Program(cell, "@njit\ndef f(p): return p.norm() + p.moved(2.0).x + P.twice(p.x)\ndef call(p, name, *a): return getattr(p, name)(*a)\n")
    p = space["p"]
    assert worker(space["call"], p, "norm") == p.norm()
    assert worker(space["call"], p, "twice", 4) == 8
    assert worker(space["f"], p) == space["f"](p)
    space.run("def moved(p): return p.moved(1.0).x, p.moved(1.0).norm(), type(p.moved(1.0)) is type(p) is P")
    assert worker(space["moved"], p) == space["moved"](p)
    space.run("def refused(p):\n    p.x = 'a'")
    assert worker(space["refused"], p).startswith("TypeError: the field 'x' of P is float")


@pytest.mark.parametrize("cell", NATIVE.values(), ids=NATIVE)
def test_objects_that_come_back_are_of_their_class(cell):
    import cloudpickle
    space = Program(cell)
    again = pickle.loads(cloudpickle.dumps(space["p"]))
    assert type(again) is space["P"] and again.norm() == space["p"].norm()


def test_pickles_are_small():
    import cloudpickle
    space = Program("""
        def g(x):
            return x + 1
        @njit(parallel=True)
        def f(x):
            s = 0.0
            for i in tierup.prange(len(x)):
                s += g(x[i])
            return s
        @vectorize(["float64(float64, float64)"])
        def u(a, b):
            return a + 2 * b
    """, NATIVE["struct"])
    space["f"](np.ones(3)), space["u"](1.0, 2.0), space["p"].norm()
    assert len(cloudpickle.dumps(space["f"])) <= 4096 and len(cloudpickle.dumps(space["u"])) <= 4096
    # What Python itself needs for such a class.
    plain = Program(NATIVE["struct"].replace("@struct", "@dataclass"))
    assert len(cloudpickle.dumps(space["p"])) <= len(cloudpickle.dumps(plain["p"])) + 1024


def test_what_was_found_out_about_a_class_stays_behind(worker):
    import cloudpickle
    space = Program("""
        import dataclasses
        import enum
        @dataclass(frozen=True)
        class Value:
            k: int
            j: int = 2
        @dataclass
        class Changing:
            k: int
            parts: list = dataclasses.field(default_factory=list)
        class Colour(enum.Enum):
            RED = 1
            BLUE = 2
        def used(x):
            v = Value(x)
            v = dataclasses.replace(v, k=x + 1)
            c = Changing(x)
            return v.k + v.j + c.k + len(c.parts), str(Colour.RED), v == Value(x + 1)
    """)
    classes = [space[name] for name in ("Value", "Changing", "Colour")]
    before = [len(cloudpickle.dumps(c)) for c in classes]
    f = tierup.njit(space["used"])
    assert f(5) == space["used"](5)
    assert [len(cloudpickle.dumps(c)) - size for c, size in zip(classes, before, strict=True)] == pytest.approx([0, 0, 0], abs=150)
    assert worker(f, 5) == f(5)
