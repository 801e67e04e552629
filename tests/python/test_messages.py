"""Whole error messages, as a user reads them: those of `tests/mdtest/errors/mistakes.md`, block by block, and what holds for all of them."""

import linecache
import math
import os
import re
import sys
from pathlib import Path

import numpy as np
import pytest

tierup = pytest.importorskip("tierup")
pytestmark = pytest.mark.isolated

PAGE = Path(__file__).resolve().parents[1] / "mdtest" / "errors" / "mistakes.md"
ENTRY = re.compile(r"^## ([^\n]*)\n\n```python\n(.*?)```\n\n```text\n(.*?)```$", re.S | re.M)
ENTRIES = {m[1]: (m[2], m[3]) for m in ENTRY.finditer(PAGE.read_text())}
# Names that only this code base knows, and signs of a crash.
INTERNAL = re.compile(r"\?\d|variant\(|\.build\b|core/src|\.rs\b|panick|unwrap|Kind::|MaybeUndef|operator\.|builtins\.|_tierup|\bnone\b|internal")

CARETS = re.compile(r"^ +\^+$", re.M)


def message(source):
    """The message of the error that the block's call raises, in a file of its own."""
    source = re.sub(r"  # error: .*", "", source)
    name = "program.py"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    found = []

    def check(f, *args):
        with pytest.raises(tierup.TierupError) as caught:
            f(*args)
        found.append(f"{type(caught.value).__name__}: {caught.value}\n")
    exec(compile(source, name, "exec"), {"np": np, "math": math, "njit": tierup.njit, "check": check, "__name__": "program"})
    return "".join(found)


@pytest.mark.parametrize("title", ENTRIES)
def test_message(title):
    source, expected = ENTRIES[title]
    got = message(source)
    if os.environ.get("TIERUP_BLESS") == "1":
        PAGE.write_text(ENTRY.sub(lambda m: m[0] if m[1] != title else f"## {title}\n\n```python\n{m[2]}```\n\n```text\n{got}```", PAGE.read_text()))
        return
    if sys.version_info[:2] != (3, 11):
        # Later Pythons know places in the source more exactly.
        got, expected = CARETS.sub("^", got), CARETS.sub("^", expected)
    assert got == expected


@pytest.mark.parametrize("title", ENTRIES)
def test_every_message_is_short_and_points_at_the_line(title):
    source, text = ENTRIES[title]
    lines = text.splitlines()
    assert 4 <= len(lines) <= 14
    assert re.fullmatch(r"(TypingError|UnsupportedError): .* \[[a-z-]+\]", lines[0])
    assert not INTERNAL.search(text), INTERNAL.search(text)
    marked = next(line for line in source.splitlines() if "# error:" in line)
    shown = re.sub(r"  # error: .*", "", marked).strip()
    # Errors about an argument point at the function.
    if "argument '" not in lines[0]:
        assert lines[2].strip() == shown
    # The caret stands under code, not beside it.
    carets = lines[3]
    assert set(carets.strip()) == {"^"} and len(carets) <= len(lines[2])


def test_there_are_enough():
    assert len(ENTRIES) >= 40
