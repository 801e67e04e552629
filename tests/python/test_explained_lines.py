"""What `explain()` says of functions that Python runs in part: who runs each line, and where Python was found to be quicker."""

import io
import re

import pytest
from tierup import jit, njit, objmode, python

pytestmark = pytest.mark.filterwarnings("ignore::tierup.errors.TierupWarning")


def marks(f):
    """Marks by line, counted from the `def` of the function."""
    first = f.py_func.__code__.co_firstlineno
    return {line - first: mark for line, mark in f.explain().lines.items()}


def test_explain_says_who_runs_each_line(tmp_path):
    @jit
    def mixed(out, n):
        text = out.getvalue()
        s = 0
        for i in range(n):
            s += i
            if i % 4 == 1:
                out.write("x")
        return s, text

    assert marks(mixed) == {}
    mixed(io.StringIO(), 9)
    assert marks(mixed) == {0: "Python", 2: "Python", 3: "Python", 4: "conversions", 5: "native", 6: "native", 7: "Python", 8: "Python"}
    text = str(mixed.explain())
    assert "conversions     for i in range(n):" in text and "Python                  out.write" in text
    page = tmp_path / "page.html"
    mixed.explain().save(page)
    assert "<td>native</td>" in page.read_text() and "#dff5df" in page.read_text()


def test_explain_says_which_lines_convert():
    @python
    def asked(k: int) -> int:
        return k + 1

    @njit
    def native(n):
        s = 0
        for i in range(n):
            s += i
        return s

    @njit
    def calling(xs):
        s = asked(len(xs))
        with objmode(t="int64"):
            t = len(str(s))
        return s + t

    native(3), calling([1, 2])
    assert {*marks(native).values()} == {"native"} and "lines:" not in str(native.explain())
    assert marks(calling) == {0: "conversions", 2: "conversions", 3: "conversions", 4: "Python", 5: "native"}


def test_explain_says_where_python_was_found_to_be_quicker():
    @jit
    def looked_up(d, k):
        return d[k]

    d = {i: i for i in range(20_000)}
    for _ in range(40):
        assert looked_up(d, 3) == 3
    text = str(looked_up.explain())
    assert re.search(r"compared with Python: a call took [\d.]+ us with what is copied for it, and [\d.]+ us in Python: Python makes the next \d+ calls", text)
