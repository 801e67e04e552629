"""One measurement in a process of its own; prints one JSON line. Started by `harness.py`, with `BENCH_SIDE` in the environment.

    child.py import                   milliseconds of `import numpy` and then of the side's package
    child.py first PROGRAM            first call of the program, then first call of a second small function, import left out
    child.py warm PROGRAM             the first of these, Tierup only; whether it ran code from the cache, and whether LLVM was opened
    child.py steady PROGRAM SECONDS   median time of a call once warm, and a check value
    child.py overhead EXTENSION       nanoseconds per call of three tiny functions
    child.py size COPIES              first call of a function that is a 30-line body COPIES times over
    child.py answers FOLDER           what every program of `programs` or `arrays` computes from its small arguments, one line each
    child.py amount PROGRAM S         total time of S times the least work that `amounts.py` gives the program, compilation included
    child.py switch TURNS             when the hot loop of a 30-line function runs in tier 1, from the beginning of its first call
    child.py promotion                processor time that one promotion and one switch take from the calling thread
    child.py expression NAME SECONDS  one of `expressions.py`, and NumPy's time for it beside ours
    child.py loop NAME N SECONDS LIB  one of its loops, or C's from a library
    child.py vectorised PROGRAM       whether Numba's code has packed arithmetic in it
    child.py region TURNS             microseconds of a loop over 1000 iterations: in series, in parallel, in parallel after pauses
    child.py small                    rows of `small.py` from the standard input until it ends, a line of figures for each
    child.py serve VIEW               measures the cases of a view of `ufuncs.py` whose names come in lines, and answers each with a line
"""

import importlib
import json
import os
import statistics
import sys
from pathlib import Path
from time import perf_counter, process_time, thread_time

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE / "programs"), str(HERE / "arrays")]
SIDE = os.environ["BENCH_SIDE"]


def measure_import():
    a = perf_counter()
    import numpy  # noqa: F401
    b = perf_counter()
    importlib.import_module(SIDE)
    return {"numpy_ms": (b - a) * 1e3, "ms": (perf_counter() - b) * 1e3}


def first(name):
    import numpy  # noqa: F401
    program = importlib.import_module(name)
    from peer import njit

    def second(a, b):
        return a * 2 + b

    second = njit(second)
    args = program.small()
    a = perf_counter()
    program.run(*args)
    b = perf_counter()
    second(3, 4)
    return {"ms": (b - a) * 1e3, "second_ms": (perf_counter() - b) * 1e3}


def warm(name):
    import numpy  # noqa: F401
    program = importlib.import_module(name)
    from tierup import _tierup
    args = program.small()
    a, cpu = perf_counter(), thread_time()
    program.run(*args)
    ms, cpu = (perf_counter() - a) * 1e3, (thread_time() - cpu) * 1e3
    f = program.run
    states = [(_tierup.cache_key(f, k), _tierup.history(f, k)[0]) for k in range(len(f.overloads))]
    hits, misses, _, refused = _tierup.cache_counts()
    with open("/proc/self/maps") as maps:
        llvm = "libtierup_tier1" in maps.read()
    phases = _tierup.compile_times(f, 0)[0]
    return {"ms": ms, "cpu_ms": cpu, "cached": bool(states) and all(key and key[1] and tier == 1 for key, tier in states), "hits": hits, "missed": misses + refused, "llvm": llvm,
            "phases_ms": [p * 1e3 for p in phases]}


def fingerprint(value):
    """A number that two sides can compare, near to independent of the order of additions."""
    import numpy as np
    if isinstance(value, tuple):
        return [fingerprint(v) for v in value]
    if isinstance(value, np.ndarray):
        flat = value.astype(np.float64).ravel()
        return [float(flat.sum()), float((flat * np.cos(np.arange(flat.size))).sum())]
    return len(value) if isinstance(value, str) else float(value)


def mapped(args):
    """Fresh arrays whose pages are there: whether a call would be the first to touch them depends on what the allocator has seen before, not on the code."""
    import numpy as np
    for x in args:
        if isinstance(x, np.ndarray) and x.flags.writeable:
            x[...] = x.copy()
    return args


def steady(name, seconds):
    program = importlib.import_module(name)
    function = getattr(program, "steady", program.run)
    value = fingerprint(function(*program.full()))
    times, begin = [], perf_counter()
    while len(times) < 3 or perf_counter() - begin < seconds:
        args = mapped(program.full())
        a = perf_counter()
        function(*args)
        times.append(perf_counter() - a)
    return {"ms": statistics.median(times) * 1e3, "calls": len(times), "value": value}


def answers(folder):
    """One line a program, so that a crash shows where; the last line is the usual one."""
    for name in sorted(p.stem for p in (HERE / folder).glob("*.py")):
        print(name, end=" ", flush=True)
        program = importlib.import_module(name)
        try:
            print(json.dumps(fingerprint(program.run(*program.small()))), flush=True)
        except Exception as e:  # noqa: BLE001  (the caller compares the lines)
            print(json.dumps(f"{type(e).__name__}: {e}"), flush=True)
    return {}


LOOPS = '''
def loop(f, a, b, n, clock):
    it = range(n)
    start = clock()
    for _ in it: f(a, b); f(a, b); f(a, b); f(a, b); f(a, b); f(a, b); f(a, b); f(a, b); f(a, b); f(a, b)
    return clock() - start
def loop1(f, a, n, clock):
    it = range(n)
    start = clock()
    for _ in it: f(a); f(a); f(a); f(a); f(a); f(a); f(a); f(a); f(a); f(a)
    return clock() - start
'''


def overhead(extension):
    """Nanoseconds a call, the side and the C extension in turn in the same process and the same loop."""
    import importlib.util

    import numpy as np
    from peer import njit
    spec = importlib.util.spec_from_file_location("overhead", extension)
    c = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(c)
    space = {}
    exec(LOOPS, space)

    @njit
    def add(a, b):
        return a + b

    @njit
    def head(a):
        return a[0]

    array = np.arange(4.0)
    tasks = {"add ints": (add, c.add_int, (1, 2)), "add floats": (add, c.add_float, (1.0, 2.0)), "one 1-D array": (head, c.head, (array,))}
    result = {}
    for name, (ours, theirs, args) in tasks.items():
        loop = space["loop"] if len(args) == 2 else space["loop1"]
        for f in (ours, theirs):
            assert f(*args) == theirs(*args)
            loop(f, *args, 1000, perf_counter)
        times = ([], [])
        for _ in range(15):
            for f, out in zip((ours, theirs), times):
                out.append(loop(f, *args, 5000, perf_counter) / 5000 / 10 * 1e9)
        result[name] = {"ns": statistics.median(times[0]), "c_ns": statistics.median(times[1])}
    return result


BODY = '''
    for i in range(n):
        x = a[i]
        y = x * {k}.5 + s
        if y > {k}.0:
            y = y - s * 0.25
        elif y < -{k}.0:
            y = -y
        else:
            y = y * y
        z = y + i * 3
        if i % 7 == {m}:
            z = z / 2.0
        w = math.sqrt(abs(z)) + x
        if w > 1000.0:
            w = 1000.0
        s = s + w * 0.001
        a[i] = x + 0.5 * (y - w)
        c = c + i // 3
    while c > {k}00:
        c = c - {k} * 10 - 1
        s = s * 0.99 + 0.5
    t = (s, c, s + c)
    p, q, r = t
    if p > r:
        s = q + 1.5
    else:
        s = p - 0.5
    s = s + a[0] - a[n - 1]
    c = c + q % 5
'''


def size(copies):
    import math
    from peer import njit
    text = "def f(a, n):\n    s = 0.5\n    c = 1\n" + "".join(BODY.format(k=k + 1, m=k % 7) for k in range(copies)) + "    return s + c\n"
    import numpy as np
    space = {"math": math}
    exec(text, space)
    warm = {}
    exec("def g(a, n):\n    return a[0] + n\n", warm)
    array = np.arange(8.0)
    njit(warm["g"])(array, 2)
    f = njit(space["f"])
    a = perf_counter()
    f(array, 8)
    return {"ms": (perf_counter() - a) * 1e3}


def amount(name, s):
    from amounts import AMOUNTS
    function, args, calls = AMOUNTS[name](s)
    begin, cpu = perf_counter(), process_time()
    for _ in range(calls):
        value = function(*args)
    return {"ms": (perf_counter() - begin) * 1e3, "cpu_ms": (process_time() - cpu) * 1e3, "calls": calls, "value": fingerprint(value)}


SWITCH = """
def f(a, n):
    s = 0.5
    c = 1
    m = len(a)
    for i in range(n):
        x = a[i % m]
        y = x * 1.5 + s
        if y > 1.0:
            y = y - s * 0.25
        elif y < -1.0:
            y = -y
        else:
            y = y * y
        z = y + i * 3
        if i % 7 == 1:
            z = z / 2.0
        w = math.sqrt(abs(z)) + x
        if w > 1000.0:
            w = 1000.0
        s = s + w * 0.001
        a[i % m] = x + 0.5 * (y - w)
        c = c + i // 3
        if c > 100000:
            c = c - 99991
            s = s * 0.99 + 0.5
    t = (s, c, s + c)
    p, q, r = t
    if p > r:
        s = q + 1.5
    return s + a[0] - a[m - 1] + q % 5
"""


def switch(turns):
    """From the trace, so what counts as the beginning is that of the first compilation; `TIERUP_TRACE=json` must be set."""
    import math

    import numpy as np
    from peer import njit
    from tierup import _tierup
    space = {"math": math}
    exec(SWITCH, space)
    f, array = njit(space["f"]), np.arange(1000.0)
    a = perf_counter()
    f(array, turns)
    total = (perf_counter() - a) * 1e3
    events = json.loads(_tierup.trace_json())["traceEvents"]
    begin = min(e["ts"] for e in events if e["name"] == "infer")
    over = [e["ts"] for e in events if e["name"] == "a running loop goes over"]
    spent = {}
    for e in events:
        if e.get("cat") == "tier 1" and e["ph"] == "X" and over and e["ts"] < over[0]:
            spent[e["name"]] = spent.get(e["name"], 0.0) + e["dur"] / 1e3
    return {"ms": (over[0] - begin) / 1e3 if over else None, "call_ms": total, "spent_ms": spent}


def tierup_stays(f):
    """Whether nothing more will become of a function: it is in tier 1, or nothing is promoted."""
    import tierup
    from tierup import _tierup
    return tierup.config.tier == "0" or _tierup.history(f, 0)[0] == 1


def promotion():
    """The longest that anything takes from a thread while its loop is sampled, queued and goes over, and while a function is promoted by calls. A system
    call that tells the time bounds each turn, so what else the thread does is known from runs that stay in tier 0."""
    import time

    from peer import njit

    @njit
    def turns(n):
        worst, s, last = 0, 0, time.thread_time_ns()
        for i in range(n):
            s += i % 7
            now = time.thread_time_ns()
            worst = max(worst, now - last)
            last = now
        return worst

    @njit
    def add(a, b):
        return a + b

    loop = turns(1_000_000)
    add(1, 2)
    worst, clock = 0, time.thread_time_ns
    clock()
    from tierup import _tierup
    end = perf_counter() + 10
    while True:
        for _ in range(10_000):
            a = clock()
            add(1, 2)
            worst = max(worst, clock() - a)
        if tierup_stays(add) or perf_counter() > end:
            break
    return {"loop_ms": loop * 1e-6, "calls_ms": worst * 1e-6, "loops": len(_tierup.history(turns, 0)[2]), "tier": _tierup.history(add, 0)[0]}


PACKED = (r"\bv(?:add|sub|mul|div|sqrt|fmadd\d+|fmsub\d+|fnmadd\d+|max|min)p[sd]\b"
          r"|\bvp(?:add|sub|mull|and|or|xor|max|min|cmpgt)[a-z]*\b.*[xyz]mm")


def vectorised(name):
    """Packed arithmetic in Numba's code of the steady-state function and of all that it calls."""
    import re
    program = importlib.import_module(name)
    function = getattr(program, "steady", program.run)
    function(*program.full())
    texts = [text for f in vars(program).values() if hasattr(f, "inspect_asm") for text in f.inspect_asm().values()]
    return {"packed": sum(len(re.findall(PACKED, text)) for text in texts)}


def expression(name, seconds):
    from expressions import one_expression
    return one_expression(name, seconds)


def expression_loop(name, n, seconds, library):
    from expressions import one_loop
    return one_loop(name, n, seconds, library)


def region(turns):
    from regions import one_region
    return one_region(turns)


def small():
    from small import serve
    serve()


def serve(view):
    from ufuncs import serve
    serve(view)


TASKS = {"import": measure_import, "first": first, "warm": warm, "steady": lambda name, seconds: steady(name, float(seconds)), "overhead": overhead, "size": lambda n: size(int(n)), "answers": answers,
         "amount": lambda name, s: amount(name, float(s)), "switch": lambda turns: switch(int(turns)), "promotion": promotion, "vectorised": vectorised,
         "expression": lambda name, seconds: expression(name, float(seconds)), "loop": lambda name, n, seconds, library: expression_loop(name, int(n), float(seconds), library),
         "region": lambda turns: region(int(turns)), "small": small, "serve": serve}
answer = TASKS[sys.argv[1]](*sys.argv[2:])
if answer is not None:
    print(json.dumps(answer))
