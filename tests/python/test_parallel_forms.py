"""Parallel loops of many forms beside the plain loop, for any pieces and any number of threads: ranges, nests, reductions of numbers, arrays and tuples, lists in order, exceptions, functions."""

import linecache

import numpy as np
import pytest

tierup = pytest.importorskip("tierup")
pytestmark = pytest.mark.filterwarnings("ignore")
GLOBAL = np.arange(5.0)


def inputs(seed):
    r = np.random.default_rng(seed)
    n = int(r.choice([0, 1, 2, 3, 9, 40, 131]))
    a, b, k, m = r.integers(-16, 16, n) / 4, r.integers(0, 50, n), r.integers(0, 5, n), r.integers(-8, 8, (n, 3)).astype(float)
    return a, b, k, m, n, int(r.choice([1, 2, 3, 7]))


def plain(x):
    if isinstance(x, (tuple, list, np.ndarray)):
        return [type(x).__name__, *map(plain, x)]
    return float(x).hex() if isinstance(x, (float, np.floating)) else int(x) if isinstance(x, (bool, np.bool_, np.integer)) else x


def made(text, prange):
    name = f"<form {text}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    space = {"np": np, "prange": prange, "GLOBAL": GLOBAL, "jit": (lambda f: f) if prange is range else tierup.njit(parallel=True)}
    exec(compile(text, name, "exec"), space)
    return space["f"]


def outcome(f, args):
    try:
        return plain(f(*(x.copy() if isinstance(x, np.ndarray) else x for x in args)))
    except (ValueError, IndexError, KeyError, AssertionError, UnboundLocalError) as e:
        return type(e).__name__, str(e) if isinstance(e, ValueError) else ""


def same(text, seeds=8):
    by_python, compiled = made(text, range), tierup.njit(parallel=True)(made(text, tierup.prange))
    most, before = tierup.config.num_threads, tierup.get_num_threads()
    try:
        for seed in range(seeds):
            args = inputs(seed)
            expected = outcome(by_python, args)
            for threads in sorted({min(t, most) for t in (1, 2, 3, 8)}):
                tierup.set_num_threads(threads)
                for chunk in (0, 1, 7):
                    with tierup.parallel_chunksize(chunk):
                        assert outcome(compiled, args) == expected, (seed, threads, chunk)
    finally:
        tierup.set_num_threads(before)


def loop(start, body, result, over="n"):
    return f"def f(a, b, k, m, n, s):\n    {start}\n    for i in prange({over}):\n" + "".join(f"        {line}\n" for line in body.split("\n")) + f"    return {result}\n"


@pytest.mark.parametrize("over", ["n", "0", "-3", "n, 0, -1", "n - 1, -1, -1", "0, n, s", "n - 1, -1, -s", "5, 5", "5, 2", "2, 5, -1", "n * 3, n, -s", "np.uint8(n)", "np.int32(n)", "np.uint64(n)", "0, np.uint64(n)",
                                  "np.int8(3), n", "-n, n, s", "n, -n, -s", "True", "np.uint8(3), np.uint8(1)", "0, n, 10**18", "n, 0, -10**18", "m.shape[0]", "0, n, 0 * s"])
def test_ranges(over):
    same(loop("x = 0; q = -9; z = [0]", "x += i\nq = i\nz.append(i)", "x, q, z", over))


@pytest.mark.parametrize("start, body, result", [
    ("x = 0", "for j in prange(i % 5):\n    x += i * j", "x"),
    ("x = 0", "for j in prange(3):\n    for l in prange(j + 1):\n        x += i + l", "x"),
    ("x = np.zeros((n, 3))", "for j in prange(3):\n    x[i, j] = i * j", "x"),
    ("z = [0]", "for j in prange(3):\n    z.append(i * 10 + j)", "z"),
    ("x = 0.0; y = -99.0; w = (-1, -1)", "for j in prange(3):\n    if m[i, j] > y: y, w = m[i, j], (i, j)", "y, w"),
    ("x = 0", "y = 0\nfor j in prange(3):\n    y = max(j + i, y)\nx += y", "x"),
    ("x = 0; z = ['']", "for j in prange(2):\n    z.append(str(i) + '-' + str(j))", "''.join(z)"),
    ("t = (0, 0)", "for j in prange(k[i]): t = (t[0] + 1, t[1] + j)", "t"),
])
def test_nests(start, body, result):
    same(loop(start, body, result))


@pytest.mark.parametrize("start, body", [
    *(("x = np.zeros(3)", body) for body in ("x += m[i]", "x = x + m[i]", "x -= m[i]")), ("x = np.ones(3)", "x *= np.sign(m[i])"), ("x = np.zeros((2, 3))", "x += m[i]"),
    ("x = np.zeros((3, 3))", "x += np.outer(m[i], m[i])"), ("x = np.zeros((3, 2)).T[:2]", "x += m[i, :2]"), ("x = np.zeros(6)[::2]", "x += m[i]"), ("x = np.full(3, -9.0)", "x = np.maximum(x, m[i])"),
    ("x = np.zeros(3, np.complex128)", "x += m[i] * 1j"), ("x = np.zeros(3, np.bool_)", "x |= m[i] > 2"), ("x = np.ones(3, np.bool_)", "x &= m[i] < 6"), ("x = np.zeros(3, np.uint8)", "x += np.uint8(b[i])"),
    ("x = np.zeros((5, 3))", "x[k[i]] += m[i]"), ("x = np.zeros((5, 3))", "x[:, i % 3] += a[i]"), ("x = np.zeros(5)", "x[k[i]:] += a[i]"), ("x = np.zeros(5)", "x[-1 - k[i]] -= a[i]"),
    ("x = np.zeros(5)", "x[k[i]] += 1\nx[0] += 2"), ("x = np.zeros(5, np.uint8)", "x[k[i]] += 200"), ("x = np.zeros(5); y = x[1:]", "x[k[i]] += 1\ny[k[i] % 4] += 2"), ("x = np.zeros(3)", "x[k[i]] += 1"),
    ("x = 1", "x *= b[i] | 1 if i < 9 else 1"), ("x = -1", "x &= b[i] | 8"), ("x = True", "x &= b[i] > 1"), ("x = '<'", "x = x + str(i)"), ("x = [1]", "x += [i, i]"),
    ("x = 1", "x = -x"), ("x = 0.0", "x = -x"), ("x = 2", "if k[i] > 2: x = -x"), ("x = True", "x = -x"), ("x = np.arange(3.0)", "x = -x"), ("x = 3", "x <<= 1 if i % 9 == 1 else 0"), ("x = 3", "x = x << (i == 3)\nx *= -1"), ("x = 5", "x <<= min(i - 3, 0)"),
    ("x = (0.0, 0)", "x = (x[0] + a[i], x[1] + 1)"), ("x = (0.0, 0)", "if k[i]: x = (x[0] + a[i], x[1] + 1)"), ("x = (0, 0)", "for j in range(k[i]): x = (x[0] + j, x[-1] + 1)"),
    ("x = (0, -9.0, 7)", "x = (x[0] + b[i], max(x[1], a[i]), x[2])"), ("x = (s, b.sum())", "x = (x[0] + b[i], x[1] - 1)"), ("x = (0.0, 0)", "x = (x[0] + a[i], x[1] + 1)\nif i == 20: raise ValueError(3)"),
])
def test_reductions(start, body):
    same(loop(start, body, "x"))


@pytest.mark.parametrize("text", [
    loop("z = [0]", "if i == n // 2: raise ValueError(i)\nz.append(i)", "z"),
    loop("x = 0; y = np.zeros(n)", "y[i + (i == 5) * n] = 1\nx += i", "y, x"),
    loop("x = 0", "assert i != 50, i\nx += 1", "x"),
    loop("x = 0", "if b[i] == 3: continue\nx += 1", "x"),
    loop("x = 0", "for j in range(5):\n    if j == b[i] % 5: break\n    x += j", "x"),
    loop("x = 0; i = 3", "i = i * 2\nx += i", "x, i"),
    loop("x = None", "if k[i] == 2: x = i", "x"),
    loop("x = None", "if k[i] == 2:\n    if x is None: x = i", "x"),
    loop("pass", "if k[i] == 4: q = a[i]", "q"),
    loop("z = [(0, 0.0)]", "if k[i]: z.append((i, a[i]))", "z"),
    loop("y = [0]; z = ['']", "if k[i] > 2: y.append(i)\nelse: z.append(str(i))", "y, z"),
    loop("z = [np.zeros(2)]", "z.append(np.array([i, a[i]]))", "z"),
    loop("x = GLOBAL.copy()", "x[k[i]] += GLOBAL[k[i]]", "x"),
    "def f(a, b, k, m, n, s):\n    def g(i): return a[i] * 2 + s\n    x = 0.0\n    for i in prange(n): x += g(i)\n    return x\n",
    "def f(a, b, k, m, n, s):\n    out = np.zeros(n)\n    def g(i): out[i] = a[i]\n    for i in prange(n): g(i)\n    return out\n",
    "@jit\ndef fib(n):\n    if n < 2: return n\n    x = 0\n    for j in prange(2): x += fib(n - 1 - j)\n    return x\ndef f(a, b, k, m, n, s):\n    x = 0\n    for i in prange(n % 9): x += fib(i)\n    return x\n",
    *("@jit\ndef g(v):\n    x = 0.0\n    for i in prange(len(v)):\n        if v[i] == 7: raise ValueError(i)\n        x += v[i]\n    return x\ndef f(a, b, k, m, n, s):\n    z = [0.0]\n    for i in prange(n):\n" + body + "    return z\n"
      for body in ("        z.append(g(m[i]))\n", "        try: z.append(g(m[i]))\n        except ValueError: z.append(-1.5)\n")),
])
def test_others(text):
    same(text)


@pytest.mark.parametrize("body, what", [
    ("if a[i] > x or (a[i] == x and i < q): x, q = a[i], i", "ties need no condition"), ("x >>= 1", "shift once behind the loop"), ("x //= 2", "divide once behind the loop"), ("x **= 2", "multiply up the exponents"),
    ("q = not q", "write s ^= True"), ("q = ~q", "write s ^= -1"), ("q %= 7", "remainder behind the loop"), ("t = (t[1] + 1, t[0])", "use range"), ("t = (t[0] + t[1], t[1] + 1)", "use range"),
])
def test_what_is_refused_says_what_to_write(body, what):
    with pytest.raises(TypeError) as e:
        tierup.njit(parallel=True)(made(loop("x = 7; q = 3; t = (0, 0)", body, "x, q, t"), tierup.prange))(*inputs(3))
    assert "[parallel-race]" in str(e.value) and what in str(e.value).split("help: ")[1], str(e.value)


def test_a_loop_in_a_generator_has_a_reason():
    space = {}
    text = "from tierup import njit, prange\n@njit(parallel=True)\ndef f(n):\n    s = 0\n    for i in prange(n): s += i\n    yield s\n"
    linecache.cache["<generator>"] = (len(text), None, text.splitlines(True), "<generator>")
    exec(compile(text, "<generator>", "exec"), space)
    assert list(space["f"](5)) == [10] and "it is in a generator, whose loops run in order" in str(space["f"].parallel_report())


@pytest.mark.parametrize("update, start", [("x += a[i]", "0.0"), ("x *= 2", "1"), ("x = max(x, a[i])", "0.0"), ("x = min(a[i], x)", "0.0"), ("x = np.maximum(x, a[i])", "0.0"), ("if a[i] > x: x = a[i]", "0.0"),
                                           ("x = x or a[i] > 2", "False"), ("x += v", "np.zeros(2)")])
def test_a_variable_without_a_value_in_front_of_the_loop_is_named_as_the_reason(update, start):
    text = f"def f(a, n):\n    v = np.ones(2)\n    if n > 3:\n        x = {start}\n    for i in prange(n):\n        {update}\n    return n\n"
    space = {"np": np, "prange": tierup.prange}
    linecache.cache["<unbound>"] = (len(text), None, text.splitlines(True), "<unbound>")
    exec(compile(text, "<unbound>", "exec"), space)
    with pytest.raises(TypeError) as e:
        tierup.njit(parallel=True)(space["f"])(np.ones(5), 5)
    assert "may have no value before it [parallel-race]" in str(e.value) and "line 5" in str(e.value) and "give it one on every way to the loop" in str(e.value), str(e.value)
