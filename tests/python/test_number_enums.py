"""Members of enumerations that are numbers or texts beside: what their class says of them, and what numbers and texts do."""

import enum
from collections import Counter
from dataclasses import dataclass, replace

import numpy as np
import pytest
import tierup
from tierup import jit, njit


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2
    BELOW = -5
    TOP = 2


class Perm(enum.IntFlag):
    R = 4
    W = 2
    X = 1
    RW = 6


class Word(enum.StrEnum):
    A = enum.auto()
    B = enum.auto()


class Mixed(str, enum.Enum):
    A = "a"


class Plain(int, enum.Enum):
    ONE = 1
    TWO = 2


class Own(enum.IntEnum):
    A = 1
    B = 2

    def __str__(self):
        return "own " + self.name

    def __lt__(self, other):
        return int(self) > int(other)

    @property
    def next(self):
        return Own(self % 2 + 1)


class Planet(enum.IntEnum):
    def __new__(cls, value, label):
        made = int.__new__(cls, value)
        made._value_, made.label = value, label
        return made

    EARTH = (1, "earth")
    MARS = (2, "mars")


def shown(x):
    return x, x.name, x.value, str(x), repr(x), f"{x}", f"{x!r:>20}", "%s %r" % (x, x), "{0} {0!r}".format(x), [x], {x: x}, (x, 1)


def numbers(x):
    return x + 1, -x, abs(x), ~x, bool(x), x * 2.5, 3 - x, divmod(x, 2), x**2, hash(x), int(x), float(x), x & 3, round(x), x.bit_length(), x.real, f"{x:03d}", "%d %x" % (abs(x), abs(x))


def compared(x):
    return x == 1, 1 == x, x == 1.0, x != "a", x < 2, x >= Level.HIGH, [x] == [1], (x, 2) == (1, 2), x in (1, 2), x in [2], (x, "b") < (1, "c"), isinstance(x, int), x is Level.LOW


def indexed(x):
    return [10, 20, 30][x], (1, 2.5, "x")[x], {1: "one", 2: "two"}[x], list(range(x)), "ab" * x, np.zeros(x), np.arange(4)[x], np.array([x, x]), np.arange(3) + x, chr(x + 64)


def of_class():
    return list(Level), [x.name for x in Level], max(Level), min(Level), sorted(Level), sum(Level), len(Level), Level(2), Level["TOP"], Counter([Level.LOW, Level.LOW]), Own.A.next


def texts(x):
    return x, x.name, x.value, str(x), repr(x), f"{x:>4}", x + "!", "!" + x, x.upper(), x == "a", "a" in x, x < "b", len(x), x[0], {x: 1}, {"a": 5}.get(x), "-".join([x, x]), "%s" % x, x in ("a", "z"), hash(x) == hash("a")


def flags(p, q):
    return p | q, p & q, p ^ q, ~p, q in p, p | 8, 1 | q, len(p), list(p), p.name, repr(p), str(p), p == 6, p + 1, bool(p & q), Perm(0), (p | 16).name, Perm(-2), [x.name for x in Perm]


def own(a, b):
    return a < b, a > b, sorted([a, b]), max(a, b), f"{a}", f"{a:d}", a + b


def next_state(n):
    state, out = Level.LOW, []
    for _ in range(n):
        if state == Level.LOW:
            state = Level.HIGH
        else:
            state = Level.LOW
        out.append(state)
    return out


def matched(x):
    match x:
        case Level.LOW:
            return "low"
        case 2:
            return "two"
        case _:
            return "other"


def labels():
    return [p.label for p in Planet], Planet.MARS + 1


def no_member():
    return Level(7)


def carried():
    raise ValueError(Level.LOW, Word.A, Perm.RW)


def changed(xs):
    xs.append(Level.HIGH)
    return len(xs)


def looked_up(x):
    s, d = {Level.LOW, Level.HIGH}, {Level.LOW: 5}
    s.discard(x)
    return x in {Level.HIGH}, x in d, d.get(x), d.get(x + 0.5), s, d.pop(x, 0), {(Level.LOW, "a"): 1}.get((x, "a"))


def looked_up_text(x):
    return x in {Word.A}, {Word.A: 5}.get(x), x in [Word.A], {"a": 1}.get(Word.A)


@dataclass(frozen=True)
class Reading:
    size: float
    level: Level = Level.HIGH
    valid: bool = True


def beside_numbers(x):
    r = Reading(0.5)
    return r, repr(r), f"{r}", str((x, 0.5, True)), [repr(v) for v in (0.5, x, True)], (x, 2.5), replace(r, level=Level.LOW)


def key_error(x):
    return {Level.LOW: 1}[x]


CASES = [(shown, x) for x in (Level.LOW, Level.BELOW, Perm.RW, Perm.X, Word.B, Mixed.A, Plain.ONE, Own.A, Planet.EARTH)]
CASES += [(numbers, x) for x in (Level.HIGH, Level.BELOW, Plain.TWO)] + [(compared, x) for x in (Level.LOW, Level.BELOW)]
CASES += [(indexed, Level.HIGH), (of_class,), (texts, Word.A), (texts, Mixed.A), (flags, Perm.RW, Perm.X), (flags, Perm.R, Perm.R)]
CASES += [(beside_numbers, Level.LOW), (beside_numbers, Perm.RW), (looked_up, 1), (looked_up, 3), (looked_up, Level.LOW), (looked_up_text, "a"), (looked_up_text, Word.B), (key_error, 1), (key_error, 7)]
CASES += [(own, Own.A, Own.B), (next_state, 3), (labels,), (no_member,), (carried,)] + [(matched, x) for x in (Level.LOW, Level.TOP, Level.BELOW)]


def outcome(f, args):
    try:
        return repr(f(*args))
    except (ValueError, KeyError) as e:
        return repr(e)


def plain(text):
    """Numbers of NumPy's come back as Python's."""
    return text.replace("np.int64(2)", "2")


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0].__name__}-{len(case) > 1 and repr(case[1])}")
def test_as_python_has_it(case):
    f, *args = case
    assert outcome(njit(f), args) == plain(outcome(f, args))


def test_a_list_of_members_stays_one():
    xs, ys = [Level.LOW], [Level.LOW]
    assert jit(changed)(xs) == changed(ys) and repr(xs) == repr(ys)


def test_a_member_is_of_another_overload_than_its_number():
    f = njit(lambda x: x)
    assert f(1) == 1 and f(Level.LOW) is Level.LOW and f("a") == "a" and f(Word.A) is Word.A
    assert type(f(1)) is int and type(f("a")) is str and type(f(Word.A).value) is str and f.nopython_signatures.__len__() == 4


def test_a_declared_number_takes_a_member():
    assert njit("int64(int64)")(lambda x: x + 1)(Level.HIGH) == 3


def test_among_numbers_a_member_is_its_number():
    def f(n):
        grid = [[0] * 2 for _ in range(n)]
        grid[0][1] = Level.HIGH
        a = np.zeros(n, np.int64)
        a[0] = Level.HIGH
        return grid, a[0], grid[0][1] == Level.HIGH

    assert njit(f)(2) == f(2)


def test_what_no_number_and_no_class_has_is_refused():
    with pytest.raises(tierup.TypingError, match="a value of type Level has no attribute 'nope'"):
        njit(lambda x: x.nope)(Level.LOW)
