"""Patterns and matches of `re` at the boundary, in threads and in functions that Python runs; what they do is in tests/mdtest/language/regexes.md."""

import random
import re
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from tierup import jit, njit, prange
from tierup.errors import TypingError

NUMBER = re.compile(r"(?P<digits>\d+)(?P<unit>[a-z]+)?")


def same(a, b):
    return (a.re, a.string, a.pos, a.endpos, a.regs, a.lastindex) == (b.re, b.string, b.pos, b.endpos, b.regs, b.lastindex)


def test_patterns_and_matches_cross_the_boundary():
    @njit
    def search(p, s):
        return p, p.search(s)

    @njit
    def group(m, k):
        return m, m.group(k), m.span()

    for p in (re.compile("b+"), NUMBER, re.compile("x", re.I | re.M), re.compile(rb"\d")):
        s = b"a12b" if isinstance(p.pattern, bytes) else "a12bbX"
        back, m = search(p, s)
        assert back == p and type(back) is re.Pattern
        assert same(m, p.search(s)) and type(m) is re.Match
        back, text, span = group(m, 0)
        assert same(back, m) and (text, span) == (m.group(), m.span())


def test_matches_that_python_is_given_are_those_of_the_same_places():
    @njit
    def matches(s):
        return [m for m in re.finditer(r"a|(b)?", s)], re.compile("b").search(s, 1, 3), NUMBER.fullmatch(s)

    got, want = matches("abab"), [*re.finditer(r"a|(b)?", "abab")]
    assert len(got[0]) == len(want) and all(map(same, got[0], want))
    assert same(got[1], re.compile("b").search("abab", 1, 3)) and got[2] is None


def test_flags_that_are_known_only_when_the_function_runs():
    @njit
    def search(s, flags):
        m = re.search("A", s, flags)
        return None if m is None else m.group()

    assert (search("xa", 0), search("xa", re.I), search("xa", 2)) == (None, "a", "a")


def test_what_needs_the_number_of_groups_is_refused_where_it_is_not_known():
    @njit
    def groups(p, s):
        return re.search(p, s).groups()

    with pytest.raises(TypingError, match="how many groups"):
        groups("a", "a")


def test_groups_of_computed_patterns_that_lists_of_texts_do_not_say():
    def findall(p, s):
        return re.findall(p, s)

    def split(p, s):
        return re.split(p, s)

    for f, fits, does_not in ((findall, ("a", "(a)b", "x"), ("(a)(b)",)), (split, ("b", "x"), ("(b)",))):
        compiled, promised = njit(f), jit(f)
        for p in fits:
            assert compiled(p, "abcab") == promised(p, "abcab") == f(p, "abcab")
        for p in does_not:
            assert promised(p, "abcab") == f(p, "abcab")
            with pytest.raises(ValueError, match="groups of a pattern that is computed"):
                compiled(p, "abcab")


def test_lists_of_patterns_and_patterns_in_objects():
    class Lexer:
        def __init__(self, rules):
            self.rules = rules

        def names(self, s):
            return [name for name, rule in self.rules if rule.search(s)]

    @njit
    def names(lexer, s):
        return lexer.names(s)

    lexer = Lexer([("digit", re.compile(r"\d")), ("letter", re.compile("[a-z]")), ("blank", re.compile(r"\s"))])
    assert names(lexer, "a b") == ["letter", "blank"]


def test_parallel_loops_and_threads_without_the_gil():
    @njit(parallel=True)
    def total(texts):
        out = np.zeros(len(texts), np.int64)
        for i in prange(len(texts)):
            m = NUMBER.search(texts[i])
            if m is not None:
                out[i] = int(m["digits"])
        return out.sum()

    @njit(nogil=True)
    def count(s):
        return len(NUMBER.findall(s)) + sum([1 for _ in re.finditer(r"\s", s)])

    assert total(["a12", "b7", "none"] * 50) == 950
    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(count, ["1 2x 3 " * 20] * 20)) == 20 * 120


def test_a_long_text_of_compiled_code_is_searched_from_place_to_place():
    @njit
    def numbers(n):
        found = []
        for k in range(3):
            s = str(k) + "ab 12 " * n
            i = 0
            while (m := NUMBER.search(s, i)) is not None:
                found.append(m.group("digits"))
                i = m.end()
        return found

    assert numbers(100) == ["0"] + ["12"] * 100 + ["1"] + ["12"] * 100 + ["2"] + ["12"] * 100


def test_a_changed_global_pattern_is_seen(tmp_path):
    space = {"re": re, "njit": njit}
    exec("P = re.compile('a')\n@njit\ndef f(s):\n    return P.findall(s)\n", space)
    assert space["f"]("abb") == ["a"]
    space["P"] = re.compile("(b)(b)")
    assert space["f"]("abb") == [("b", "b")]


def test_exceptions_of_functions_that_replace():
    @njit
    def replaced(s):
        return re.sub(r"\d", lambda m: str(10 // int(m[0])), s)

    assert replaced("a5b2") == "a2b5"
    with pytest.raises(ZeroDivisionError):
        replaced("a0")


@pytest.mark.parametrize("pattern, sure", [("(a)(b)", [True, True]), ("(a)|(b)", [False, False]), ("((a)b)?(c)", [False, False, True]), ("(?:(a))(?=(b))", [True, False]), ("(a)+(b)*", [False, False]), ("(?P<x>(a))(?(x)b)", [True, True])])
def test_groups_that_are_set_in_every_match(pattern, sure):
    from tierup import _regexes
    assert [member == () for member in _regexes.shape(re.compile(pattern))] == sure


PATTERNS = [r"a*", r"", r"\b", r"(a)|b", r"(?<=a)b*", r"(?=b)", r"a*?", r"(a*)(b*)", r"^|b", r"$", r"(?m)^", r"(?!a)", r"(a|ab)(c|bcd)?(d*)", r"(?P<x>a)(?P=x)?", r"x?b?", r"(?:a|(b))*", r"\B", r"[^a]?", r"(?s:.)|\n", r"(?i:É)*"]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_matches_follow_each_other_as_pythons_do(pattern):
    def everything(p, s):
        return p.findall(s), p.split(s), [m.span() for m in p.finditer(s)], p.sub(lambda m: "<" + m[0] + ">", s), p.subn(lambda m: "", s, 2), [m.lastindex for m in p.finditer(s, 1, 5)]

    compiled, p, draw = njit(everything), re.compile(pattern), random.Random(pattern)
    for _ in range(20):
        s = "".join(draw.choices("aabbcdx\nÉé", k=draw.randrange(9)))
        assert compiled(p, s) == everything(p, s), s


def test_words_of_long_texts_end_where_pythons_do():
    word = re.compile(r"\w+\b")

    @njit
    def words(text):
        return [m.span() for m in word.finditer(text)]

    @njit
    def joined(parts):
        text = " ".join(parts)
        return [m.span() for m in word.finditer(text)]

    # Texts that may lie at one address, one after the other; those of compiled code and of Python.
    for letters in ("ab", "a\u00e9", "ab", "\u00e9", "ab", "\u0436"):
        parts = [letters * k for k in range(1, 60)]
        text = " ".join(parts)
        assert words(text) == joined(parts) == [m.span() for m in word.finditer(text)]
