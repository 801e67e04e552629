"""The test harness itself: copies keep layout, comparisons see what they must, known failures are strict both ways."""

import numpy as np
import pytest
from harness import expect, guide, mdtest, values
from harness.build import BUILT
from harness.values import clone, difference, freeze


@pytest.mark.parametrize("a", [*values.layouts(np.arange(12.0).reshape(3, 4)), np.zeros((0, 3)), np.array(5), np.broadcast_to(np.arange(3), (2, 3)), np.arange(10)[::-3]], ids=str)
def test_clone_keeps_layout(a):
    b = clone(a)
    assert b.strides == a.strides and b.flags.writeable == a.flags.writeable and b.flags.aligned == a.flags.aligned and b.dtype == a.dtype
    assert np.array_equal(a, b) and not np.may_share_memory(a, b)


def test_clone_keeps_sharing():
    base = np.arange(6)
    a, b, xs = clone([base[1:], base[:3], base])
    a[0] = 99
    assert b[1] == 99 and xs[1] == 99 and base[1] == 1
    same = [1]
    x, y = clone((same, same))
    assert x is y and x is not same


@pytest.mark.parametrize("want, got", [
    (1, 1.0), (True, 1), (1, "1"), ((1, 2), [1, 2]), ((1,), (1, 2)), (0.0, -0.0), (1.0, 1.0 + 2**-52), (None, 0), ("a", "b"), ([1, [2]], [1, [3]]),
    (np.zeros(2), np.zeros(2, np.float32)), (np.zeros(2), np.zeros((2, 1))), (np.zeros(2), np.array([0.0, -0.0])), (np.array(1), 1), (np.zeros(0), np.zeros((0, 2))),
    (1 + 2j, 1 - 2j), (np.array([1j]), np.array([-1j])),
])
def test_difference_is_seen(want, got):
    assert difference(freeze(want), freeze(got))
    assert not difference(freeze(want), freeze(want)) and not difference(freeze(got), freeze(got))


@pytest.mark.parametrize("want, got", [(np.int8(1), 1), (np.float64(0.5), 0.5), (np.bool_(True), True), (float("nan"), -float("nan")), (np.complex64(1j), 1j)])
def test_the_same_answer_in_another_scalar_type(want, got):
    assert not difference(freeze(want), freeze(got))


def test_tolerance():
    assert not difference(freeze(1.0), freeze(1.0 + 2**-52), 1e-15)
    assert difference(freeze(1.0), freeze(1.0 + 1e-9), 1e-12)
    assert difference(freeze(float("inf")), freeze(1e308), 1e-3)
    assert not difference(freeze(np.array([1.0])), freeze(np.array([1.0 + 2**-52])), 1e-15)


def test_known_failures_are_strict(monkeypatch):
    monkeypatch.setattr(expect, "_ENTRIES", [expect.Known({"suite": "mdtest", "test": "x.md::*", "tiers": ["tier0"], "reason": "because"})])
    assert expect.settle("mdtest", "x.md::one", "tier0", "wrong") is None
    assert "remove the entry" in expect.settle("mdtest", "x.md::one", "tier0", None)
    assert expect.settle("mdtest", "x.md::one", "interp", "wrong") == "wrong"
    assert expect.settle("numpy", "x.md::one", "tier0", "wrong") == "wrong"


def block(tmp_path, text):
    path = tmp_path / "t.md"
    path.write_text(f"# T\n\n```python\n{text}\n```\n")
    return mdtest.parse(path)[0]


class Silent:
    def take(self):
        return ""


@pytest.mark.parametrize("text, says", [
    ("x = 1", "checks nothing"),
    ("@njit\ndef f(x):\n    return 1 // x\ncheck(f, 0)", "raises ZeroDivisionError"),
    ("@njit\ndef f(x):\n    return x\ncheck(f, 0)  # raises: ValueError", "the line says ValueError"),
    ("@njit\ndef f(x):\n    return y\ncheck(f, 0)", "NameError"),
])
def test_a_wrong_mdtest_is_refused(tmp_path, text, says):
    with pytest.raises(mdtest.Failure, match=says):
        mdtest.run_plain(block(tmp_path, text), Silent())


def test_frames_causes_and_lines_of_an_exception(tmp_path):
    run = mdtest.run_plain(block(tmp_path, "@njit\ndef f(x):\n    try:\n        return 1 / x\n    except ZeroDivisionError as e:\n        raise ValueError('v') from e\ncheck(f, 0)  # raises: ValueError"), Silent())
    error = run.outcomes[0].error
    assert error[:3] == ("ValueError", "v", (("f", 9),)) and error[3][:3] == ("ZeroDivisionError", "division by zero", (("f", 7),))


def test_known_failures_name_tests_that_exist():
    from numpy_cases import CASES
    corpus = (mdtest.ROOTS[0].parent / "fuzz" / "corpus").glob("*.py")
    names = {"mdtest": [b.id for root in mdtest.ROOTS for path in root.rglob("*.md") for b in mdtest.parse(path)], "numpy": [c.name for c in CASES],
             "fuzz": [p.stem for p in corpus] + [f"fresh_{i}" for i in range(100)]}
    for entry in expect.load():
        assert entry.suite not in names or any(entry.fits(entry.suite, name, t) for name in names[entry.suite] for t in ("interp", "tier0", "tier1")), vars(entry)


GUIDE = """# Page

```python
from tierup import njit

@njit
def f(x):
    return 1 / x

print(f(1))
f(0)
```

```text
1.0
ZeroDivisionError: division by zero
```

Between.

```python
print(f(-1), __name__)
```
"""


def guide_failures(page, text, ask):
    page.write_text(text)
    return ask({"suite": "guide", "file": str(page), "tier": "tier0"})


@pytest.mark.skipif(not BUILT, reason="needs tierup")
def test_examples_of_pages_must_print_what_stands_below(tmp_path, ask):
    page = tmp_path / "page.md"
    fine = GUIDE.replace("print(f(-1), __name__)", "assert f(-1) == -1")
    assert guide_failures(page, fine, ask) == []
    assert guide_failures(page, fine.replace("division by zero", "..."), ask) == []
    assert len(guide_failures(page, fine.replace("```text\n1", "```text\n2"), ask)) == 1
    [failure] = guide_failures(page, GUIDE, ask)  # what is printed must be shown
    assert failure.startswith("page.md:21: expected\ngot\n-1.0 __main__")
    assert len(guide_failures(page, fine.replace("assert f(-1) == -1", "g()"), ask)) == 1
    with pytest.raises(ValueError):
        page.write_text(GUIDE.rstrip().removesuffix("```"))
        guide.parse(page)
