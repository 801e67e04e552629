"""`overflow="raise"`: Python's own integers, which have no end, are the oracle: what does not fit in 64 bits raises, all else is the same."""

import itertools
import math
import operator
import traceback

import numpy as np
import pytest

tierup = pytest.importorskip("tierup")
from harness.tiers import on_tier  # noqa: F401
from tierup import jit, njit, prange

pytestmark = pytest.mark.isolated

MOST, LEAST = 2**63 - 1, -2**63
checked = njit(overflow="raise")
EDGES = [0, 1, -1, 2, -2, 3, 62, 63, 64, 3037000499, 3037000500, -3037000500, 2**31, 2**32, -2**32, 2**62, -2**62, MOST - 1, MOST, LEAST + 1, LEAST]


def outcome(f, *args):
    try:
        return f(*args)
    except (OverflowError, ZeroDivisionError, ValueError) as e:
        return type(e)


def wanted(f, low, high, *args):
    r = outcome(f, *args)
    return r if isinstance(r, type) or low <= r <= high else OverflowError


BINARY = {
    "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b, "//": lambda a, b: a // b, "%": lambda a, b: a % b, "<<": lambda a, b: a << b, ">>": lambda a, b: a >> b,
}


@pytest.mark.parametrize("op", BINARY)
def test_operators_on_two_numbers(tier, op):
    f = checked(BINARY[op])
    for a, b in itertools.product(EDGES, EDGES):
        if op == "<<" and b > 1000:
            assert f(0, b) == 0
            continue
        assert outcome(f, a, b) == wanted(BINARY[op], LEAST, MOST, a, b), (a, b)


def test_functions_of_integers(tier):
    pairs = {"divmod": divmod, "gcd": math.gcd, "lcm": math.lcm}
    for name, wide in pairs.items():
        f = checked({"divmod": lambda a, b: divmod(a, b), "gcd": lambda a, b: math.gcd(a, b), "lcm": lambda a, b: math.lcm(a, b)}[name])
        for a, b in itertools.product(EDGES, EDGES):
            r = outcome(wide, a, b)
            if name == "lcm" and (a, b) == (LEAST, 0):
                # The multiple so far counts, whatever comes then.
                r = 2**63
            fits = isinstance(r, type) or all(LEAST <= x <= MOST for x in (r if isinstance(r, tuple) else (r,)))
            assert outcome(f, a, b) == (r if fits else OverflowError), (name, a, b)
    # Of integers that have no sign.
    large = [np.uint64(x) for x in (0, 1, 6, 2**32, 2**63, 2**63 + 2, 2**64 - 1)]
    for f, name in ((checked(lambda a, b: math.gcd(a, b)), "gcd"), (checked(lambda a, b: math.lcm(a, b)), "lcm")):
        for a, b in [*itertools.product(large, large), (large[4], -6), (-4, large[5]), (large[6], LEAST)]:
            r = pairs[name](int(a), int(b))
            assert outcome(f, a, b) == (r if r < 2**64 else OverflowError), (name, a, b)
    three = checked(lambda a, b, c: (math.lcm(a, b, c), math.gcd(a, b, c)))
    assert three(4, 6, 10) == (60, 2) and outcome(three, 2**40, 3**20, 1) is OverflowError and three(0, LEAST + 1, 1) == (0, 1)


def test_powers(tier):
    power = lambda a, b: a ** b
    f = checked(power)
    for a, b in itertools.product([0, 1, -1, 2, -2, 3, -3, 7, 10, 2**31, -2**32, MOST, LEAST], [0, 1, 2, 3, 5, 18, 19, 39, 40, 62, 63, 64, 65, 500]):
        assert outcome(f, a, b) == wanted(power, LEAST, MOST, a, b), (a, b)
    assert f(1, MOST) == 1 and f(-1, MOST) == -1 and f(0, MOST) == 0 and outcome(f, 2, MOST) is OverflowError
    for n in range(9):
        constant = eval(f"lambda a: a ** {n}")
        g = checked(constant)
        for a in EDGES:
            assert outcome(g, a) == wanted(constant, LEAST, MOST, a), (a, n)


@pytest.mark.parametrize("f", [operator.neg, abs, lambda a: -a, lambda a: 3 - a * a, lambda a: a - -a], ids=lambda f: f"{f.__name__}{f.__code__.co_firstlineno if f.__name__ == '<lambda>' else ''}")
def test_one_number(tier, f):
    g = checked(lambda a: f(a))
    for a in EDGES:
        assert outcome(g, a) == wanted(f, LEAST, MOST, a), a


@pytest.mark.parametrize("op", ["+", "-", "*", "<<"])
def test_unsigned_numbers(tier, op):
    f = checked(BINARY[op])
    edges = [0, 1, 2, 63, 64, 2**31, 2**32, 2**33, 2**63, 2**64 - 1]
    for a, b in itertools.product(edges, edges):
        if op == "<<" and b > 1000:
            continue
        assert outcome(f, np.uint64(a), np.uint64(b)) == wanted(BINARY[op], 0, 2**64 - 1, a, b), (a, b)


def test_narrow_numbers_are_wide_first(tier):
    f = checked(lambda a, i: a[i] + a[i])
    for dtype in (np.int8, np.uint8, np.int32, np.uint32):
        most = np.iinfo(dtype).max
        assert f(np.array([most], dtype), 0) == 2 * int(most)
    negative = checked(lambda a, i: -a[i])
    assert negative(np.array([-127], np.int8), 0) == 127
    with pytest.raises(OverflowError, match="does not fit in 8 bits"):
        negative(np.array([-128], np.int8), 0)


def test_it_is_off_unless_asked_for(tier):
    assert njit(lambda a: a + 1)(MOST) == LEAST == njit(overflow="wrap")(lambda a: a + 1)(MOST)
    with pytest.raises(ValueError, match="overflow must be 'wrap', 'raise' or 'python'"):
        njit(overflow="saturate")(lambda a: a)


def test_arrays_and_floats_are_as_ever(tier):
    a = np.array([MOST, 1])
    assert checked(lambda a: a + a)(a).tolist() == [-2, 2] and checked(lambda a: a.sum())(a) == LEAST
    assert checked(lambda x: x * x)(1e300) == math.inf and checked(lambda x: x + 1)(2.5) == 3.5 and checked(lambda z: z * z)(1j) == -1


def test_sums_and_products_of_the_library(tier):
    f, g = checked(lambda a: sum([a, a])), checked(lambda a: math.prod([a, a]))
    assert f(MOST // 2) == MOST - 1 and g(2**31) == 2**62
    assert outcome(f, MOST) is OverflowError and outcome(g, 2**32) is OverflowError


def test_it_is_raised_where_it_happens_and_can_be_caught(tier):
    @checked
    def grow(a):
        b = 3
        c = a + b
        return c

    @checked
    def caught(a):
        try:
            return a * 2
        except OverflowError:
            return -1
    with pytest.raises(OverflowError, match="the sum of integers does not fit in 64 bits") as e:
        grow(MOST)
    assert traceback.extract_tb(e.value.__traceback__)[-1].line == "c = a + b"
    assert caught(MOST) == -1 and caught(4) == 8


def test_loops(tier):
    @checked
    def total(a):
        s = 0
        for x in a:
            s += x
        return s

    @checked
    def factorial(n):
        r = 1
        i = 1
        while i <= n:
            r *= i
            i += 1
        return r
    assert total(np.full(1000, MOST // 1000)) == MOST // 1000 * 1000
    assert outcome(total, np.full(1001, MOST // 1000)) is OverflowError
    # On the way counts, whatever comes then.
    assert outcome(total, np.array([MOST, 1, -5])) is OverflowError and total(np.array([MOST, -5, 1])) == MOST - 4
    for n in range(25):
        assert outcome(factorial, n) == wanted(math.factorial, LEAST, MOST, n)

    @checked
    def callers(n):
        return [factorial(k) for k in range(n)]
    assert callers(20)[-1] == math.factorial(19) and outcome(callers, 22) is OverflowError


def test_parallel_loops_raise_what_plain_ones_do(tier):
    def total(a, k):
        s = 0
        for i in prange(len(a)):
            s += a[i] * k
        return s

    def product(a):
        p = 1
        for i in prange(len(a)):
            p *= a[i]
        return p

    def elements(a, k):
        out = np.zeros_like(a)
        for i in prange(len(a)):
            out[i] = a[i] * k + i
        return out
    for f in (total, elements):
        plain, parallel = njit(overflow="raise")(f), njit(overflow="raise", parallel=True)(f)
        for a, k in ((np.arange(5000), 3), (np.full(5000, MOST // 5000), 1), (np.full(5000, MOST // 5000), 2), (np.full(5000, MOST // 2), 2)):
            p, q = outcome(plain, a, k), outcome(parallel, a, k)
            assert np.array_equal(p, q) if isinstance(p, np.ndarray) else p == q, (f, k)
    # Sums and products are put together of those of pieces, each of which must fit: what comes out is exact, and what does not fit never comes out.
    for f, values in ((total, [MOST, -5, 1]), (total, [LEAST // 2, MOST // 2, MOST // 2]), (product, [2, 3, 0]), (product, [2**32, 2**32])):
        parallel = njit(overflow="raise", parallel=True)(f)
        for places in itertools.permutations((0, 1500, 3999), len(values)):
            b = np.full(4000, int(f is product))
            b[list(places)] = values
            exact = sum(values) if f is total else math.prod(values)
            got = outcome(parallel, *((b, 1) if f is total else (b,)))
            assert got is OverflowError or got == exact <= MOST, places
            if f is product and 0 not in values:
                assert got is OverflowError


# ---------------------------------------------------------------- jit: the answer of Python

@jit
def product(xs):
    p = 1
    for x in xs:
        p *= x
    return p


@jit
def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2) + n**7


@jit
def tables(n, *more, start=1):
    table, found, seen = np.zeros(n), [], {}
    for i in range(n):
        table[i] = i
        start *= 1000
        found.append(i)
        seen[i] = 1
    return start, table.sum(), found, len(seen), more


@pytest.mark.parametrize("call", [lambda f: f([2, 3]), lambda f: f([10**10] * 9), lambda f: f((3**30, 3**30))], ids=["small", "large", "a tuple"])
def test_jit_gives_pythons_integers(call, tier):
    assert call(product) == call(product.py_func)


def test_jit_runs_a_call_again_that_changed_only_what_it_made(tier):
    assert fibonacci(12) == fibonacci.py_func(12) and fibonacci(2000 // 100) == fibonacci.py_func(20)
    for n in (3, 30):
        assert tables(n, 7, start=2) == tables.py_func(n, 7, start=2)


def test_python_runs_again_what_fills_lists_of_its_own(tier):
    @jit
    def powers(n):
        x, found, more = 1, [], [0]
        for i in range(n):
            x *= 1000
            found.append(i)
            more.append(x)
        return x, found, len(more)

    assert powers(3) == powers.py_func(3) and powers(30) == powers.py_func(30)


def test_what_was_changed_by_then_is_told(tier):
    @jit
    def fill(a, n):
        x = 1
        for i in range(n):
            a[i] = i
            x *= 1000
        return x

    assert fill(np.zeros(5), 5) == 10**15
    with pytest.raises(OverflowError, match="64 bits") as e:
        fill(np.zeros(30), 30)
    assert "cannot be taken back" in e.value.__notes__[0] and "forceobj=True" in e.value.__notes__[0]
    # A list that a parameter brought in is a copy until the call has ended.
    xs = [1]

    @jit
    def grow(xs, n):
        x = 1
        for i in range(n):
            xs += [i]
            x *= 1000
        return x

    assert grow(xs, 30) == 1000**30 and xs == [1, *range(30)]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_integers_of_numpys_wrap_in_jit_as_in_numpy(tier):
    def powers(a):
        s = a[0]
        for x in a:
            s = s * x + x
        return s

    for dtype in (np.uint64, np.int64):
        a = np.full(100, 7, dtype)
        assert jit(powers)(a) == powers(a)


def test_jit_wraps_where_it_is_told_to(tier):
    assert jit(overflow="wrap")(lambda a: a + 1)(MOST) == LEAST
    with pytest.raises(OverflowError):
        jit(overflow="raise")(lambda a: a + 1)(MOST)
    assert jit(lambda a: a + 1)(MOST) == MOST + 1


def test_an_overflow_that_the_program_raises_is_its_own(tier):
    calls = []

    def raises(n):
        raise OverflowError("the sum of integers does not fit in 64 bits, says the program")

    with pytest.raises(OverflowError, match="says the program"):
        jit(raises)(1)
    assert not calls


def test_no_handler_of_the_program_is_for_it(tier):
    @jit
    def work(n):
        s, caught = 1, 0
        for i in range(n):
            try:
                s *= 1000
            except Exception:
                caught += 1
        return s, caught

    assert work(3) == (10**9, 0) and work(30) == (10**90, 0)

    @jit
    def writes(a, n):
        s = 1
        for i in range(n):
            try:
                a[i] = i
                s *= 1000
            except (OverflowError, ArithmeticError):
                a[0] = -1
        return s

    a = np.zeros(30)
    with pytest.raises(OverflowError, match="64 bits"):
        writes(a, 30)
    assert a[0] == 0


def test_ints_past_63_bits_are_not_taken_for_numpys(tier):
    @jit
    def double(x):
        return x * 2

    for x in (2**62 - 1, 2**63, 2**64 - 1, 2**64):
        assert double(x) == 2 * x and type(double(x)) is int
    assert double(np.uint64(3)) == 6 and double(2**63) == 2**64


def test_ints_of_any_size_are_arguments_of_jit(tier):
    @jit
    def shifted(n, xs):
        return (n << 3) + len(xs)

    assert shifted(2**70, [1]) == 2**73 + 1 and shifted(3, [2**70, 1]) == 26 and shifted(3, [1, 2]) == 26
    with pytest.raises(OverflowError, match="64 bits"):
        njit(shifted.py_func)(2**70, [1])


class Counter:
    def __init__(self):
        self.asked = 0

    def __add__(self, other):
        self.asked += 1
        return self.asked + other


def test_what_code_of_the_program_did_is_not_done_twice(tier):
    @jit
    def work(counter, n):
        x = 1
        for i in range(n):
            x = x * 1000 + (counter + 1)
        return x

    assert work(Counter(), 3) == work.py_func(Counter(), 3)
    # What it changes is a copy until the call has ended.
    here, there = Counter(), Counter()
    assert work(here, 30) == work.py_func(there, 30) and here.asked == there.asked == 30

    def abs(a):
        a[0] += 1
        return 1

    @jit
    def named(a, n):
        x = 1
        for i in range(n):
            x = x * 1000 + abs(a)
        return x

    with pytest.raises(OverflowError, match="64 bits"):
        named(np.zeros(1), 30)


def test_a_generator_raises_overflowerror(tier):
    @jit
    def powers(n):
        x = 1
        for i in range(n):
            x *= 1000
            yield x

    with pytest.raises(OverflowError, match="64 bits") as e:
        list(powers(30))
    assert "cannot be taken back" in e.value.__notes__[0]



def test_calls_whose_integers_outgrow_again_and_again_go_to_python():
    @jit
    def factorial(n):
        r = 1
        for i in range(1, n):
            r *= i
        return r

    for n in [5] + 40 * [30] + 40 * [6] + [30, 4, 30]:
        assert factorial(n) == factorial.py_func(n)
