"""The least, the greatest and the best of all in parallel loops: what the plain loop gives, to the bit, with NaN, infinities and zeros of both signs, for any pieces and any number of threads."""

import linecache
import warnings

import numpy as np
import pytest

tierup = pytest.importorskip("tierup")
pytestmark = pytest.mark.filterwarnings("ignore")

KINDS = (0.0, -0.0, 1.0, -1.0, np.nan, np.inf, -np.inf, 0.5, 2.0, -3.0)


def inputs(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.choice([1, 2, 5, 17, 60, 130]))
    kinds = ((0.0, -0.0, np.nan, 1.0), (0.0, -0.0, -1.0, 1.0, 2.0, 3.0), KINDS)[seed % 3]
    p = rng.random(len(kinds))
    a, b = (rng.choice(kinds, n, p=p / p.sum()) for _ in "ab")
    a = {0: np.sort, 1: lambda x: np.sort(x)[::-1].copy()}.get(seed % 5, np.copy)(a)
    return a, b, rng.integers(0, 5, n), n, float(rng.choice(kinds))


def bits(x):
    if isinstance(x, (tuple, list, np.ndarray)):
        return [type(x).__name__, *map(bits, x)]
    return float(x).hex() if isinstance(x, (float, np.floating)) else int(x) if x is not None else x


def made(start, body, result, prange):
    name = f"<choice {start} {body}>"
    text = f"def f(a, b, k, n, s):\n    {start}\n    for i in prange(n):\n" + "".join(f"        {line}\n" for line in body.split("\n")) + f"    return {result}\n"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    space = {"np": np, "prange": prange}
    exec(compile(text, name, "exec"), space)
    return space["f"]


def same(start, body, result, seeds=12):
    plain, compiled = made(start, body, result, range), tierup.njit(parallel=True)(made(start, body, result, tierup.prange))
    most, before = tierup.config.num_threads, tierup.get_num_threads()
    try:
        for seed in range(seeds):
            args = inputs(seed)
            expected = bits(plain(*args))
            for threads in sorted({min(t, most) for t in (1, 2, 3, 8)}):
                tierup.set_num_threads(threads)
                for chunk in (0, 1, 7):
                    with tierup.parallel_chunksize(chunk):
                        assert bits(compiled(*args)) == expected, (seed, threads, chunk)
    finally:
        tierup.set_num_threads(before)


@pytest.mark.parametrize("op", ["<", "<=", ">", ">="])
@pytest.mark.parametrize("start, body, result", [
    ("m = s", "if a[i] OP m: m = a[i]", "m"),
    ("m = s", "if m OP a[i]: m = a[i]", "m"),
    ("m = s", "if not a[i] OP m: m = a[i]", "m"),
    ("m = s", "if abs(a[i]) OP abs(m): m = a[i]", "m"),
    ("m = 0", "if not abs(a[m]) OP abs(a[i]): m = i", "m"),
    ("m = -1", "if m == -1 or a[i] OP a[m]: m = i", "m"),
    ("m, w = -1, 0.5", "if not m >= 0 or not a[m] OP a[i]: m, w = i, b[i]", "m, w"),
    ("m = -1", "if 0 > m and b[i] OP 0: m = i", "m"),
    ("m = s", "if a[i] OP m: pass\nelse: m = a[i]", "m"),
    ("m, j = s, -1", "if a[i] OP m: m, j = a[i], i", "m, j"),
    ("m, j = s, -1", "if not a[i] OP m: m, j = a[i], i", "m, j"),
    ("m, j = s, -1", "if k[i] < 3 and not a[i] OP m: m, j = a[i], i", "m, j"),
    ("m = None", "if m is None or a[i] OP m: m = a[i]", "m"),
    ("m = None", "if m is None or not a[i] OP m: m = a[i]", "m"),
    ("m, j = None, -1", "if k[i] != 1:\n  if m is None or a[i] OP m: m, j = a[i], i", "m, j"),
    ("m, j = None, -1", "if m is None: m, j = a[i], i\nelif a[i] OP m: m, j = a[i], i", "m, j"),
    ("m = None", "if m is None or a[i] OP m[0]: m = (a[i], i)", "m"),
    ("m = None", "if m is None or not a[i] OP m[0]: m = (a[i], i)", "m"),
    ("m = (s, -1)", "if a[i] OP m[0]: m = (a[i], i)", "m"),
    ("m = (s, -1)", "if not a[i] OP m[0]: m = (a[i], i)", "m"),
    ("m = (s, s)", "if (a[i], b[i]) OP m: m = (a[i], b[i])", "m"),
    ("m = (s, s)", "if not (a[i], b[i]) OP m: m = (a[i], b[i])", "m"),
    ("j = 0", "if a[i] OP a[j]: j = i", "j"),
    ("j = 0", "if not a[i] OP a[j]: j = i", "j"),
    ("m = s", "if a[i] OP m: m = a[i]\nif b[i] OP m: m = b[i]", "m"),
    ("m = s", "if not a[i] OP m: m = a[i]\nif not b[i] OP m: m = b[i]", "m"),
    ("m = s", "for x in (a[i], b[i]):\n  if not x OP m: m = x", "m"),
    ("m = np.full(5, s)", "if a[i] OP m[k[i]]: m[k[i]] = a[i]", "m"),
    ("m = [s] * 5", "if a[i] OP m[k[i]]: m[k[i]] = a[i]", "m"),
    ("m, w = np.full(5, s), np.zeros(5)", "if a[i] OP m[k[i]]:\n  m[k[i]] = a[i]\n  w[k[i]] = i", "m, w"),
    ("m, w = [s] * 5, np.zeros(5)", "if a[i] OP m[k[i]]:\n  m[k[i]] = a[i]\n  w[k[i]] = i", "m, w"),
    ("m, w = np.full(5, s), [0.5] * 5", "if m[k[i]] OP a[i]:\n  w[k[i]] = b[i]\n  m[k[i]] = a[i]", "m, w"),
    ("m, w, v = np.full((5, 2), s), np.full((5, 2), -1), np.zeros((5, 2))", "if a[i] OP m[k[i], i % 2]:\n  m[k[i], i % 2], w[k[i], i % 2], v[k[i], i % 2] = a[i], i, b[i]", "m, w, v"),
    ("m, w = np.full(5, 2), np.zeros(5)", "if k[i] OP m[k[i]]:\n  m[k[i]] = k[i]\n  w[k[i]] = i", "m, w"),
    ("m, w = np.full(3, 2), np.full(3, -7)", "if k[i] OP m[i % 3]:\n  m[i % 3] = k[i]\n  w[i % 3] = i", "m, w"),
    ("m, j = s, -1", "for l in range(k[i]):\n  if b[i] * l OP m: m, j = b[i] * l, i * 5 + l", "m, j"),
    ("m, j = None, -1", "for l in range(k[i]):\n  if m is None or b[i] - l OP m: m, j = b[i] - l, i * 5 + l", "m, j"),
    ("m = None", "for l in range(k[i]):\n  if m is None or not b[i] - l OP m[0]: m = (b[i] - l, i, l)", "m"),
    ("m, j = s, -1", "for l in range(5):\n  if l == k[i]: break\n  if l == 1: continue\n  if not b[i] * l OP m: m, j = b[i] * l, i * 5 + l", "m, j"),
    # Longer loops stand once.
    ("m, j = None, -1", "x = a[i]" + " + b[i] * 0.0" * 40 + "\nif m is None or x OP m: m, j = x, i", "m, j"),
    ("m = 7", "if not k[i] OP m: m = k[i]", "m"),
    ("m, j = 7, -1", "if k[i] OP m: m, j = k[i], i", "m, j"),
])
def test_comparisons(start, body, result, op):
    body = body.replace("OP", op)
    same(start, body, result)


@pytest.mark.parametrize("function", ["min", "max"])
@pytest.mark.parametrize("start, body", [
    *(("m = s", f"m = F({args})") for args in ("m, a[i]", "a[i], m", "m, a[i], b[i]", "a[i], b[i], m", "a[i], m, b[i]")),
    *(("m = s", f"if k[i] < 3: m = F({args})") for args in ("m, a[i]", "a[i], m", "a[i], b[i], m", "a[i], m, b[i]")),
    ("m = s", "m = F(m, a[i])\nif k[i] == 2: m = F(b[i], m)"),
    ("m = s", "for x in (a[i], b[i]): m = F(x, m)"),
    ("m = s", "t = m\nm = F(a[i], m)\nif k[i] == 2: m = t"),
    ("m = np.full(5, s)", "m[k[i]] = F(m[k[i]], a[i])"),
    ("m = np.full(5, s)", "m[k[i]] = F(a[i], m[k[i]])"),
    ("m = np.full(5, s)", "m[k[i]] = F(a[i], m[k[i]])\nm[k[i]] = F(m[k[i]], b[i])"),
    ("m = [s] * 5", "m[k[i]] = F(a[i], m[k[i]])"),
    ("m = [3] * 5", "m[k[i]] = F(i % 7, m[k[i]])"),
    ("m = np.full(5, 3)", "m[k[i]] = F(i % 7, m[k[i]])"),
    ("m = np.full((5, 2), s, np.float32)", "m[k[i], i % 2] = F(np.float32(a[i]), m[k[i], i % 2])"),
    ("m = 7", "m = F(k[i], m)"),
    ("m = 7", "m = F(k[i], m, i % 9)"),
    ("m = (s, -1)", "m = F(m, (a[i], i))"),
    ("m = (s, -1)", "m = F((a[i], i), m)"),
    ("m = (s, s)", "m = F(m, (a[i], b[i]))"),
    ("m = (s, s)", "m = F((a[i], b[i]), m)"),
])
def test_calls(start, body, function):
    same(start, body.replace("F(", function + "("), "m")


@pytest.mark.parametrize("start, body, result", [
    *(("m = s", f"{guard}m = m {word} {x}", "m") for word in ("and", "or") for guard in ("", "if k[i] < 2: ") for x in ("a[i]", "a[i] * 0.0")),
    ("m, j = 0.0, -1", "if not m:\n  m = a[i]\n  j = i", "m, j"),
    ("m, j = False, -1", "if not m and a[i] > 0.5: m, j = True, i", "m, j"),
    ("m = low = s", "x = a[i]\nif x > m: m = x\nif x < low: low = x", "m, low"),
    ("m = low = s", "x = a[i]\nif x > m: m = x\nelif x < low: low = x", "m, low"),
    ("m = low = a[0]; j = h = 0", "if low > a[i]: low, h = a[i], i\nelif a[i] > m: m, j = a[i], i", "m, low, j, h"),
])
def test_others(start, body, result):
    same(start, body, result)


@pytest.mark.parametrize("start, body, line", [
    ("m = s", "if a[i] > m: m = a[i]\nelif b[i] > m: m = b[i]", "elif b[i] > m"),
    ("m = s", "if a[i] > m:\n  if b[i] > m: m = b[i]", "if b[i] > m"),
    ("m = s", "t = m\nif a[i] > t: m = a[i]\nif b[i] > t: m = b[i]", "if b[i] > t"),
    ("m = s", "t = m\nif a[i] > m: m = a[i]\nif k[i] == 1: m = t", "if a[i] > m"),
    ("m = s; c = a.copy()", "if c[i] > m:\n  c[i] = -c[i]\n  m = c[i]", "if c[i] > m"),
    ("m, q = s, 0", "if a[i] > m: m = a[i]\nelse: q = i", ""),
    ("m, q = s, 0", "if a[i] > m: m = a[i]\nelse: q += 1", "q += 1"),
    ("m, q = s, 0.0", "if a[i] > m:\n  m = a[i]\n  if b[i] > q: q = b[i]", "if b[i] > q"),
    ("m, q = s, -1", "if a[i] > m:\n  m = a[i]\n  if b[i] > 0: q = i", ""),
    ("m, q = s, 1.0", "if a[i] > m: m = a[i]\nelif a[i] < q: q = a[i]", "elif a[i] < q"),
    ("m = None; q = 0", "if m is None: m = a[i]\nelif k[i] < 2:\n  if a[i] > m: m = a[i]", "if a[i] > m"),
    ("m = None; q = 0", "if m is None or (k[i] < 2 and a[i] > m): m = a[i]", "a[i] > m"),
    ("m = s", "if a[i] > m:\n  m = a[i]\n  if k[i] == 4: raise ValueError(i)", "raise ValueError"),
    ("m = s", "if a[i] > m:\n  m = a[i]\n  print(i)", "print(i)"),
    ("m = s", "for l in range(3):\n  if a[i] - l > m:\n    m = a[i] - l\n    break", ""),
    ("m = s", "for l in range(3):\n  if a[i] * l > m: m = a[i] * l\n  else: break", ""),
    ("m = None", "for l in range(3):\n  if m is None or a[i] - l > m:\n    m = a[i] - l\n    break", ""),
    ("m, q = False, 0", "for l in range(3):\n  if not m and k[i] > l:\n    m = True\n    break\n  q += 1", ""),
])
def test_what_depends_on_what_was_found_before_is_a_race(start, body, line):
    with warnings.catch_warnings(), pytest.raises(TypeError) as e:
        warnings.simplefilter("ignore")
        tierup.njit(parallel=True)(made(start, body, "m, q" if "q" in start else "m", tierup.prange))(*inputs(2))
    assert "[parallel-race]" in str(e.value) and "help: " in str(e.value) and line in str(e.value)


@pytest.mark.parametrize("head, start, body", [
    ("prange(-2, n)", "-1", "if m == -1 or a[i] < a[m]: m = i"),
    ("prange(n - 1, -1, -1)", "-1", "if m < 0 or a[i] < a[m]: m = i"),
    ("prange(n)", "-1", "if m == -1 or a[i] < a[m]: m = i - 1"),
    ("prange(n)", "3", "if m == 3 or a[i] < a[m]: m = i"),
    ("prange(n)", "-1.0", "if m == -1 or a[i] < m: m = a[i]"),
    ("prange(n)", "-1", "if m == -1 or m == -2 or a[i] < a[m]: m = i"),
    ("prange(n)", "-1", "if m == -1:\n    if b[i] > 0: m = i\nelif a[i] < a[m]: m = i"),
])
def test_marks_that_the_variable_may_be_set_to_are_refused(head, start, body):
    space = {"prange": tierup.prange}
    exec(f"def f(a, b, n):\n    m = {start}\n    for i in {head}:\n" + "".join(f"        {line}\n" for line in body.split("\n")) + "    return m\n", space)
    with pytest.raises(tierup.TypingError, match="parallel-race"):
        tierup.njit(parallel=True)(space["f"])(np.ones(3), np.ones(3), 3)


@pytest.mark.parametrize("mark, asks", [("-1", "m == -1"), ("None", "m is None")])
def test_an_index_of_nothing_is_not_read_before_another_one_comes(mark, asks):
    f = tierup.njit(parallel=True)(made(f"m = {mark}", f"if {asks} or a[i] < a[m]: m = i", "m", tierup.prange))
    nothing, k = np.empty(0), np.empty(0, int)
    assert f(nothing, nothing, k, 1, 0.0) == 0 and str(f(nothing, nothing, k, 0, 0.0)) == mark
    with pytest.raises(IndexError):
        f(nothing, nothing, k, 2, 0.0)
