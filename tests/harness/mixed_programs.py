"""Functions as programs have them, which mix objects of Python with loops over numbers: parsing then computing, records, tables, logs, callbacks. `PROGRAMS` holds each with calls of it.

A call is a function that gives fresh arguments. Some calls end in an exception, at a line in the middle of what the function does, so that the order of side effects shows.
"""

import asyncio
import bisect
import collections
import contextlib
import csv
import dataclasses
import datetime
import decimal
import enum
import fractions
import functools
import heapq
import io
import itertools
import json
import logging
import math
import operator
import random
import re
import string
import textwrap

import numpy as np

LOG = logging.Logger("tierup.tests.mixed")
PROGRAMS = []


def program(*calls):
    """Registers a function, with what makes the arguments of each call."""
    def register(f):
        PROGRAMS.append((f, calls))
        return f
    return register


class Journal(list):
    """Notes what is done, in its order."""

    def write(self, text):
        self.append(text)

    def note(self, *args):
        self.append(tuple((type(x).__name__, repr(x)) for x in args))


# ---------------------------------------------------------------- text and files

READINGS = "# station;value;weight\nA;1.5;2\nB;2.5;1\n\nA;-3.25;4\nC;0.0;1\n"


@program(lambda: (READINGS, Journal()), lambda: ("", Journal()), lambda: (READINGS + "D;x;1\n", Journal()), lambda: (READINGS + "E;1\n", Journal()))
def parsed_then_computed(text, out):
    rows = []
    for number, line in enumerate(text.splitlines(), 1):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        name, value, weight = line.split(";")
        try:
            rows.append((name, float(value), int(weight)))
        except ValueError as e:
            out.note(number, str(e))
            raise ValueError(f"line {number}: {e}") from None
    values = np.array([v for _, v, _ in rows])
    weights = np.array([w for *_, w in rows], dtype=np.int64)
    total, most = 0.0, 0
    for i in range(len(values)):
        total += values[i] * weights[i]
        if weights[i] > weights[most]:
            most = i
    out.note(len(rows), total)
    return {"total": total, "mean": total / weights.sum() if len(rows) else None, "most": rows[most][0] if rows else ""}


def records(n):
    return {name: [{"x": i * k, "y": 0.5 * i, "tag": "abc"[i % 3]} for i in range(n)] + [None] * (k % 2) for k, name in enumerate(("first", "second", "third"))}


@program(lambda: (records(5), "x"), lambda: (records(5), "y"), lambda: (records(0), "x"), lambda: (records(3), "tag"), lambda: (records(3), "z"))
def a_dict_of_lists_of_mixed_values(table, key):
    out = {}
    for name, rows in table.items():
        count, s, tags = 0, 0, set()
        for row in rows:
            if row is None:
                continue
            s = s + row[key]
            tags.add(row["tag"])
            count += 1
        squares = 0
        for k in range(count):
            squares += k * k
        out[name] = s, sorted(tags), squares
    return out


class Frame:
    """Columns by name, as a data frame has them."""

    def __init__(self, **columns):
        self._columns = columns

    def __getitem__(self, name):
        return Column(self._columns[name])

    def __setitem__(self, name, values):
        self._columns[name] = np.asarray(values)

    def __len__(self):
        return len(next(iter(self._columns.values())))

    def __repr__(self):
        return f"Frame({', '.join(f'{k}={v.dtype}:{v.tolist()}' for k, v in self._columns.items())})"


class Column:
    def __init__(self, values):
        self.values = values

    def to_numpy(self, dtype=None):
        return self.values if dtype is None else self.values.astype(dtype)

    def __gt__(self, other):
        return Column(self.values > other)


@program(lambda: (Frame(price=np.array([1.0, 3.0, 2.0, 5.0]), size=np.array([1, 2, 3, 4])), 2), lambda: (Frame(price=np.array([1, 3, 2, 5]), size=np.array([1, 2, 3, 4])), 3),
         lambda: (Frame(price=np.array([1.0])), 2), lambda: (Frame(price=np.array([1.0, 2.0]), size=np.array([1, 2])), 0))
def columns_then_a_kernel(frame, window):
    price, size = frame["price"].to_numpy(), frame["size"].to_numpy(np.float64)
    mean = np.full(len(frame), np.nan)
    for i in range(len(price)):
        if i + 1 >= window:
            s = w = 0.0
            for k in range(i + 1 - window, i + 1):
                s += price[k] * size[k]
                w += size[k]
            mean[i] = s / w
    frame["mean"] = mean
    large = frame["price"] > 2
    frame["large"] = large.values
    return frame, int(large.values.sum())


@program(lambda: (np.linspace(0.0, 1.0, 12) ** 2, 35, Journal()), lambda: (np.zeros(12), 5, Journal()), lambda: (np.zeros(0), 5, Journal()))
def logging_in_a_loop(x, steps, journal):
    handler = logging.StreamHandler(journal)
    handler.setFormatter(logging.Formatter("%(levelname)s %(funcName)s %(message)s"))
    LOG.addHandler(handler)
    LOG.setLevel(logging.INFO)
    try:
        for step in range(steps):
            for i in range(1, len(x) - 1):
                x[i] += 0.1 * (x[i - 1] - 2 * x[i] + x[i + 1])
            if step % 10 == 0:
                LOG.info("step %d: %.4f", step, x.max())
    except ValueError:
        LOG.error("no values")
        raise
    finally:
        LOG.removeHandler(handler)
    return x, step


@program(lambda: ('{"matrix": [[1, 2], [3, 4]], "names": ["a", "b"], "meta": {"n": 3, "ok": true, "none": null}}',), lambda: ('{"matrix": [], "names": [], "meta": {"n": 0, "ok": false}}',),
         lambda: ('{"matrix": [[1, "x"]], "names": ["a"], "meta": {"n": 1}}',), lambda: ("[1, 2",), lambda: ('{"matrix": [[1e400, 1]], "names": ["a"], "meta": {"n": 12345678901234567890}}',))
def json_in_and_out(text):
    data = json.loads(text)
    n = data["meta"]["n"]
    sums = []
    for row in data["matrix"]:
        s = 0
        for v in row:
            s += v
        sums.append(s)
    powers = []
    for k in range(min(n, 70)):
        powers.append(n ** k)
    return json.dumps({"sums": dict(zip(data["names"], sums)), "powers": powers, "n": n, "meta": data["meta"]}, sort_keys=True)


@program(lambda: ("name,x,y\na,1,2.5\nb,3,4\nc,,7\n", Journal()), lambda: ("name,x,y\n", Journal()), lambda: ("name,x\na,1\n", Journal()), lambda: ("name,x,y\na,one,2\n", Journal()))
def csv_in_and_out(text, out):
    reader = csv.DictReader(io.StringIO(text))
    writer = csv.writer(out, lineterminator="\n")
    total = 0.0
    best, best_name = -math.inf, None
    for row in reader:
        x = int(row["x"]) if row["x"] else 0
        y = float(row["y"])
        r = 0.0
        for k in range(4):
            r = (r + x * y) / (k + 1)
        writer.writerow([row["name"], f"{r:.3f}"])
        total += r
        if r > best:
            best, best_name = r, row["name"]
    return total, best, best_name, reader.line_num


@program(lambda: ("The cat sat; 12 cats sat on 3.5 mats, 7e2!", r"[a-z]+|\d+(?:\.\d+)?(?:e\d+)?"), lambda: ("", r"\w"), lambda: ("abc", "("), lambda: ("x" * 50, "x"))
def regular_expressions(text, pattern):
    found = collections.Counter()
    lengths = [0] * 8
    numbers = 0.0
    for m in re.finditer(pattern, text.lower()):
        word = m.group()
        found[word] += 1
        lengths[min(len(word), 7)] += 1
        if word[0].isdigit():
            numbers += float(word)
    h = 0
    for c in text:
        h = (h * 31 + ord(c)) % 1000003
    return found.most_common(3), lengths, numbers, h, re.sub(pattern, lambda m: m.group().upper(), text)


# ---------------------------------------------------------------- classes

class Body:
    __slots__ = ("name", "x", "v", "m", "__weakref__")

    def __init__(self, name, x, v, m):
        self.name, self.x, self.v, self.m = name, x, v, m

    def __repr__(self):
        return f"{self.name}({self.x!r}, {self.v!r}, {self.m!r})"


@program(lambda: ([Body("a", 0.0, 1.0, 2), Body("b", 1.0, 0.0, 1.0), Body("c", -2.0, 0.5, 3)], 5, 0.125), lambda: ([], 5, 0.1), lambda: ([Body("a", 0.0, 1.0, 2), Body("b", 0.0, "v", 1.0)], 2, 0.125),
         lambda: ([Body("a", 0.5, 1.5, 2), Body("b", 0.25, 1.0, 1)], 3, 1))
def classes_with_slots(bodies, steps, dt):
    for _ in range(steps):
        for b in bodies:
            for other in bodies:
                if other is not b:
                    d = other.x - b.x
                    b.v = b.v + dt * other.m * d / (abs(d) + 0.5) ** 3
        for b in bodies:
            b.x = b.x + b.v * dt
    energy = 0
    for b in bodies:
        energy += b.m * b.v * b.v / 2
    return bodies, energy


class Managed:
    def __init__(self, out, swallows=()):
        self.out, self.swallows = out, swallows

    def __enter__(self):
        self.out.note("enter")
        return self

    def __exit__(self, kind, value, traceback):
        self.out.note("exit", kind and kind.__name__, str(value))
        return kind is not None and issubclass(kind, self.swallows or ())


@program(lambda: (np.arange(6), 6, Journal(), ()), lambda: (np.arange(6), 8, Journal(), ()), lambda: (np.arange(6), 8, Journal(), (IndexError,)), lambda: (np.arange(6), 0, Journal(), ZeroDivisionError))
def context_managers(a, n, out, swallows):
    s = k = 0
    with Managed(out, swallows) as m, contextlib.ExitStack() as stack:
        stack.callback(out.note, "callback", s)
        for k in range(n):
            with m:
                s += 1
            if k % 2:
                stack.callback(out.note, "later", k)
        for i in range(n):
            s += a[i]
            if n == 0:
                s //= n
        out.note("end", s)
    return s, k, m.swallows


@program(lambda: (lambda i, s: s < 40, 20, Journal()), lambda: (lambda i, s: None, 20, Journal()), lambda: (lambda i, s: 1 // (5 - i), 20, Journal()), lambda: (None, 20, Journal()), lambda: (None, 100, Journal()))
def callbacks(progress, n, out):
    s, x = 0, 1
    for i in range(n):
        s += i
        x *= 3
        if i % 5 == 0 and progress is not None:
            out.note(i, s)
            if not progress(i, s):
                break
    else:
        return "done", s, x
    return "stopped", i, s, x


@program(lambda: ([("a", 3), ("c", 1), ("b", 2)], 1), lambda: ([("a", 3), ("c", 1), ("b", "x")], 1), lambda: ([("a", 3.0), ("c", 1.5), ("b", 2.0)], 0), lambda: ([], 0), lambda: ([("a",)], 3))
def sorting_with_a_key(rows, column):
    rows = sorted(rows, key=lambda r: r[column], reverse=True)
    rows.sort(key=operator.itemgetter(0))
    inversions = 0
    values = [r[1] for r in rows if len(r) > 1]
    for i in range(len(values)):
        for j in range(i + 1, len(values)):
            if values[i] > values[j]:
                inversions += 1
    return rows, inversions, max(rows, key=lambda r: r[0], default=None), [list(g) for _, g in itertools.groupby(values, lambda v: v > 1)]


@program(lambda: (6, "*", 3), lambda: (0, "*", 3), lambda: (3, "ab", 1), lambda: (3, "*", -1), lambda: (3, 5, 1))
def string_building(n, mark, width):
    lines = []
    for i in range(n):
        bar = ""
        for k in range(i * width):
            bar += mark
        lines.append(f"{i:>{width + 2}}|{bar:<10}|{i / 3:.2e}|{i!r:^4}|{'%05d' % i}")
    text = "\n".join(lines)
    digest = 0
    for c in text:
        digest = digest * 33 + ord(c)
    return text, digest, textwrap.shorten(text, 30), string.capwords(mark)


# ---------------------------------------------------------------- trees and recursion

class Node:
    def __init__(self, value, *children, **facts):
        self.value, self.children, self.facts = value, children, facts

    def __repr__(self):
        return f"Node({self.value!r}, {self.children!r}, {self.facts!r})"


def tree(depth, value=1):
    return Node(value, *(tree(depth - 1, value * 2 + k) for k in range(2) if depth), depth=depth)


@program(lambda: (tree(4), Journal()), lambda: (Node(2.5), Journal()), lambda: (Node(1, Node("x")), Journal()), lambda: (Node(2**62, Node(2**62), Node(2**62)), Journal()))
def recursion_over_trees(node, out):
    total, deepest = node.value, 0
    for child in node.children:
        s, d = recursion_over_trees(child, out)
        total += s
        deepest = max(deepest, d + 1)
    if "depth" in node.facts and node.facts["depth"] % 2:
        out.note(node.value, total)
    return total, deepest


class Axes:
    """What plots: it keeps what it was given."""

    def __init__(self):
        self.drawn = []

    def plot(self, x, y, style="-", *, label=None):
        self.drawn.append(([type(v).__name__ for v in (x, y)], np.asarray(y).tolist(), style, label))
        return self

    def set_title(self, text):
        if not isinstance(text, str):
            raise TypeError("a title is a text")
        self.drawn.append(text)

    def __repr__(self):
        return repr(self.drawn)


@program(lambda: (Axes(), 3, 20, "logistic"), lambda: (Axes(), 0, 20, "none"), lambda: (Axes(), 2, 5, None), lambda: (Axes(), 2, 0, "x"))
def plotting_around_a_loop(ax, curves, n, title):
    rates = [2.5 + 0.5 * k for k in range(curves)]
    for k, r in enumerate(rates):
        y = np.empty(n)
        x = 0.1
        for i in range(n):
            y[i] = x
            x = r * x * (1 - x)
        ax.plot(range(n), y, "-" if k % 2 else "--", label=f"r={r}")
    ax.set_title(title)
    return ax, x if curves else None


@dataclasses.dataclass
class Account:
    owner: str
    balance: int = 0
    history: list = dataclasses.field(default_factory=list)

    def post(self, amount, what=""):
        if self.balance + amount < 0:
            raise ValueError(f"{self.owner} has {self.balance}")
        self.balance += amount
        self.history.append((what, amount))


@program(lambda: (Account("x", 10), [5, -3, 2**40]), lambda: (Account("x", 10), [5, -30, 2]), lambda: (Account("x"), []), lambda: (Account("x"), [2**62, 2**62, 1]), lambda: (Account("x"), [1.5, "a"]))
def dataclasses_that_change(account, amounts):
    low = account.balance
    for k, amount in enumerate(amounts):
        account.post(amount, f"#{k}")
        low = min(low, account.balance)
    interest = account.balance
    for _ in range(8):
        interest = interest * 17 // 16 + 1
    return account, low, interest


class Kind(enum.Enum):
    ADD = "+"
    MUL = "*"
    NEG = "~"


@program(lambda: ("3 4 + 2 *", {}), lambda: ("3 ~ x *", {"x": 2.5}), lambda: ("3 +", {}), lambda: ("3 y +", {}), lambda: ("9999999999 9999999999 * 9999999999 *", {}), lambda: ("1 2", {}))
def a_stack_machine(source, names):
    stack, steps = [], 0
    for token in source.split():
        steps += 1
        try:
            kind = Kind(token)
        except ValueError:
            stack.append(names[token] if token.isidentifier() else int(token))
            continue
        if kind is Kind.NEG:
            stack.append(-stack.pop())
        else:
            b, a = stack.pop(), stack.pop()
            stack.append(a + b if kind is Kind.ADD else a * b)
    result, *rest = stack
    return result, rest, steps


@program(lambda: ([{"kind": "point", "at": (1, 2)}, {"kind": "line", "from": [0, 0], "to": [3, 4]}, "text", 5, 2.5, None, {"kind": "circle"}],), lambda: ([],), lambda: ([{"kind": "line", "from": [0], "to": [3]}],),
         lambda: ([{"kind": "line", "from": "ab", "to": "cd"}],))
def match_statements(shapes):
    length, seen = 0.0, []
    for shape in shapes:
        match shape:
            case {"kind": "point", "at": (x, y)}:
                seen.append((x, y))
            case {"kind": "line", "from": [x0, *_] as a, "to": [x1, *_] as b}:
                s = 0.0
                for k in range(len(a)):
                    s += (b[k] - a[k]) ** 2
                length += s ** 0.5
            case str(text) | {"kind": text}:
                seen.append(text)
            case int() | float() as number if number > 3:
                length += number
            case _:
                seen.append(shape)
    return length, seen, x if shapes else None


@program(lambda: (10, Journal()), lambda: (0, Journal()), lambda: (100, Journal()))
def closures_that_share_variables(n, out):
    total, steps = 0, 0

    def step(k):
        nonlocal steps
        steps += 1
        return k + total

    x = 1
    for i in range(n):
        total += i
        x = x * 7 + 1
    out.note(step(1), steps)
    for i in range(n):
        total = step(i)
    adders = [lambda y, k=k: y + k + total for k in range(3)]
    return total, steps, x, [f(1) for f in adders]


@program(lambda: (list(range(20)), 7), lambda: ([], 7), lambda: ([1.0, 2.5, 3.0], 2), lambda: ([1, "x"], 2), lambda: ([3], 0))
def generators_in_python(xs, m):
    def windows(values, size):
        held = collections.deque(maxlen=size or None)
        for v in values:
            held.append(v)
            if len(held) == size:
                yield tuple(held)

    def scaled(values):
        k = 0
        try:
            for v in values:
                s = 0
                for j in range(3):
                    s += v * j
                k += 1
                yield s
        finally:
            closed.append(k)

    closed = []
    out = []
    for w in windows(scaled(xs), 2):
        if w[0] % m == 3:
            break
        out.append(w)
    return out, closed, sum(scaled(xs[:4])), closed


@program(lambda: ("12.50", 5), lambda: ("1e3", 12), lambda: ("x", 3), lambda: ("-0", 2), lambda: ("1", 400))
def decimals_and_fractions(text, years):
    amount, rate = decimal.Decimal(text), fractions.Fraction(3, 100)
    f = fractions.Fraction(1)
    for _ in range(years):
        amount = (amount * decimal.Decimal("1.03")).quantize(decimal.Decimal("0.01"))
        f *= 1 + rate
    a, b = 0, 1
    for _ in range(years):
        a, b = b, a + b
    return amount, f.limit_denominator(10**6), a


@program(lambda: ("2024-02-27", 5), lambda: ("2023-12-31", 40), lambda: ("2024-13-01", 5), lambda: ("9999-12-30", 5))
def dates_in_a_loop(start, days):
    day = datetime.date.fromisoformat(start)
    weekend, ordinal = 0, 0
    for k in range(days):
        if day.weekday() >= 5:
            weekend += 1
        day += datetime.timedelta(days=1)
        ordinal ^= day.toordinal() * (k + 1)
    return day, weekend, ordinal, f"{day:%d.%m.%Y}"


@program(lambda: ({"a": ["b", "c"], "b": ["d"], "c": ["d"], "d": []}, "a", "d"), lambda: ({"a": []}, "a", "z"), lambda: ({"a": ["b"]}, "a", "z"), lambda: ({1: [2, 3], 2: [4], 3: [], 4: [1]}, 1, 4))
def a_graph_by_name(graph, start, goal):
    seen, queue, turns = {start: None}, collections.deque([start]), 0
    while queue:
        turns += 1
        node = queue.popleft()
        if node == goal:
            path = []
            while node is not None:
                path.append(node)
                node = seen[node]
            return path[::-1], turns
        for other in graph[node]:
            if other not in seen:
                seen[other] = node
                queue.append(other)
    return None, turns


@program(lambda: ([3, 1, 2],), lambda: ([],), lambda: ([2.5, float("nan"), 1.0],), lambda: (["b", "a"],), lambda: ([1, "a"],), lambda: ([2**70, 1, 2],))
def sorted_as_it_goes(values):
    held = []
    moves = 0
    for v in values:
        k = bisect.bisect(held, v)
        held.insert(k, v)
        moves += len(held) - k - 1
    s = 0
    for i, v in enumerate(held):
        s += v * i if not isinstance(v, str) else len(v)
    return held, moves, s


@program(lambda: (30, Journal()), lambda: (-1, Journal()), lambda: (200, Journal()))
def memoised(n, out):
    @functools.lru_cache(maxsize=None)
    def ways(k, coin):
        if k < 0:
            return 0
        if k == 0:
            out.note(coin)
            return 1
        return sum(ways(k - c, c) for c in (1, 5, 10, 25) if c <= coin)

    total = 0
    for k in range(0, n, 10):
        total += ways(k, 25)
    return total, ways.cache_info()


@program(lambda: (b"\x00\x02AB\x00\x03xyz",), lambda: (b"",), lambda: (b"\x00\x05ab",), lambda: (b"\x01",), lambda: (b"\x00\x01\xff",))
def bytes_in_frames(data):
    at, frames, check = 0, [], 0
    while at < len(data):
        size = int.from_bytes(data[at:at + 2], "big")
        body = data[at + 2:at + 2 + size]
        if len(body) != size:
            raise EOFError(f"{size} bytes wanted at {at}, {len(body)} there")
        for b in body:
            check = (check << 1 ^ b) & 0xFFFF
        frames.append(body.decode("ascii"))
        at += 2 + size
    return frames, check


class Matrix:
    """A class with operators and items of its own."""

    def __init__(self, rows):
        self.rows = [list(r) for r in rows]

    def __getitem__(self, at):
        i, j = at
        return self.rows[i][j]

    def __setitem__(self, at, value):
        i, j = at
        self.rows[i][j] = value

    def __matmul__(self, other):
        return Matrix([[sum(a * b for a, b in zip(r, c)) for c in zip(*other.rows)] for r in self.rows])

    def __len__(self):
        return len(self.rows)

    def __repr__(self):
        return f"Matrix({self.rows})"


@program(lambda: (Matrix([[2, 1], [1, 3]]), 3), lambda: (Matrix([[2.0, 1], [1, 3]]), 60), lambda: (Matrix([[2, 1], [1, 3]]), 60), lambda: (Matrix([]), 2), lambda: (Matrix([[1.0, 2.0]]), 2), lambda: (Matrix([[0.0, 1.0], [1.0, 0.0]]), 1))
def operators_of_classes(m, n):
    power = m
    for _ in range(n):
        power = power @ m
    for i in range(len(m)):
        pivot = m[i, i]
        for j in range(len(m)):
            m[i, j] = m[i, j] / pivot
    trace = 0
    for i in range(len(power)):
        trace += power[i, i]
    return power, m, trace


@program(lambda: (["a=1", "b = 2.5", "[part]", "c=x", "a=7"], Journal()), lambda: (["=", "a"], Journal()), lambda: ([], Journal()), lambda: ([1], Journal()))
def settings_with_defaults(lines, out):
    settings = collections.ChainMap({}, {"a": 0, "limit": 3})
    section, bad = "", 0
    for number, line in enumerate(lines):
        if m := re.fullmatch(r"\[(\w+)\]", line):
            section = m[1] + "."
            continue
        try:
            key, value = map(str.strip, line.split("="))
        except ValueError:
            bad += 1
            out.note(number, line)
            continue
        for kind in (int, float, str):
            try:
                settings[section + key] = kind(value)
                break
            except ValueError:
                pass
    score = 0
    for k in range(settings["limit"]):
        score += (settings["a"] + k) ** 2
    return dict(settings), bad, score, m if lines and m is None else None


@program(lambda: (50, 7), lambda: (3, 0), lambda: (0, 1), lambda: (40, 2**40))
def numbers_that_outgrow_in_the_middle(n, seed):
    names = {"seed": seed, "label": object.__name__}
    state, seen = seed, []
    for i in range(n):
        state = state * 6364136223846793005 + 1
        seen.append(state % 97)
    small = state % 2**31
    bits = 0
    for i in range(n):
        if small >> (i % 31) & 1:
            bits += 1
    return names, state, seen, bits


@program(lambda: ({"x": np.arange(4.0), "label": "a"}, [0, 3, 1]), lambda: ({"x": np.arange(4), "label": "a"}, [0, 3, -1]), lambda: ({"x": np.arange(4), "label": "a"}, [0, 9]), lambda: ({"x": [1, 2], "label": None}, [1, 0]),
         lambda: ({"label": "a"}, [0]))
def bare_except_and_reraise(config, order):
    done, s, first = [], 0, None
    try:
        for k in order:
            try:
                s += config["x"][k]
                done.append(k)
            except:  # noqa: E722
                first = first or (k, config["label"])
                if config["label"] is not None:
                    raise
            else:
                s *= 2
    finally:
        config["done"] = done
    return s, first


@program(lambda: (4, 10, Journal()), lambda: (0, 10, Journal()), lambda: (3, -1, Journal()), lambda: (2, 90, Journal()))
def coroutines_around_loops(tasks, n, out):
    async def work(k):
        x = 1
        for i in range(n):
            x = x * 3 + k
        await asyncio.sleep(0)
        out.note(k, x)
        if n < 0:
            raise ValueError(k)
        return x

    async def every():
        s = 0
        for x in await asyncio.gather(*(work(k) for k in range(tasks))):
            s ^= x
        return s

    loop = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(every())
    finally:
        loop.close()
        out.note("closed")


@program(lambda: (20, 3), lambda: (0, 3), lambda: (5, "x"), lambda: (5, None))
def a_simulation_of_events(customers, seed):
    rng = random.Random(seed) if seed is not None else random.Random(0)
    events, waits, clock, busy = [], [], 0.0, 0
    for k in range(customers):
        clock += rng.expovariate(1.0)
        heapq.heappush(events, (clock, k, "arrives"))
    queue = collections.deque()
    while events:
        now, k, what = heapq.heappop(events)
        if what == "arrives":
            queue.append((k, now))
        else:
            busy -= 1
        while queue and busy < 2:
            k, since = queue.popleft()
            waits.append(now - since)
            busy += 1
            heapq.heappush(events, (now + rng.random(), k, "leaves"))
    s = squares = 0.0
    for w in waits:
        s += w
        squares += w * w
    return len(waits), s, squares, rng.random()


@program(lambda: ([1, 2, 3], [("a", 2), ("b", 3)]), lambda: ([], []), lambda: ([1, 2], [("a", "x")]), lambda: ([1.5], [("a", 2**40)]))
def walrus_and_comprehensions(xs, pairs):
    total = sum(y for x in xs if (y := x * 2) > 2)
    names = {name: [x * k for x in xs] for name, k in pairs}
    k = len(xs)
    steps = []
    while (k := k // 2) > 0:
        steps.append(k)
    flat = [(name, v) for name, values in names.items() for v in values if v != 4]
    text = ",".join(f"{name}{v}" for name, v in flat)
    checks = 0
    for c in text:
        if (n := ord(c)) % 2:
            checks += n
    return total, flat, steps, checks, k, n if text else None, any(v == 3 for _, v in flat)
