"""Pages for users: `docs/guide/`, `docs/reference/`, README.md. Their Python blocks run in order, in one module, and must print what stands below them.

A block fenced as ```python may be followed by one fenced as ```text, which is all that the block prints; `...` stands for any text, as in doctest. What a
block raises is printed as a traceback's last lines are: the exception with its text. A block without a text below prints nothing and raises nothing. Each
block is a file `example.py` of its own to tracebacks and messages. Other fences (```console, ```sh) are for reading.
"""

import doctest
import linecache
import os
import sys
import traceback
import types
import warnings
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = [ROOT / "docs/guide", ROOT / "docs/reference"]
NAME = "example.py"


@dataclass
class Example:
    """A block of Python: `line` is that of its fence, `want` what it prints."""

    line: int
    source: str
    want: str


def is_page(path):
    return path == ROOT / "README.md" or any(folder in path.parents for folder in FOLDERS)


def parse(path):
    """The examples of a page, in order."""
    found, lines, number = [], path.read_text().splitlines(), 0
    after = None
    while number < len(lines):
        fence, begin = lines[number], number
        number += 1
        if not fence.startswith("```"):
            after = after if not fence.strip() else None
            continue
        while number < len(lines) and lines[number] != "```":
            number += 1
        if number == len(lines):
            raise ValueError(f"{path}:{begin + 1}: this block has no end")
        body = "".join(line + "\n" for line in lines[begin + 1:number])
        number += 1
        if fence == "```python":
            after = Example(begin + 1, body, "")
            found.append(after)
        elif fence == "```text" and after:
            after.want, after = body, None
        else:
            after = None
    return found


def run_page(path, tier, capture):
    """What is wrong with a page on a tier, as texts."""
    import tierup

    from .mdtest import set_tier
    set_tier(tier)
    module = types.ModuleType("example")
    module.__dict__.update(__name__="__main__", __file__=NAME)
    sys.modules["example"] = module
    failures = []
    directory = os.getcwd()
    try:
        for example in parse(path):
            # What defines nothing speaks of what stood before.
            if any(word in example.source for word in ("def ", "class ", "lambda")):
                linecache.cache[NAME] = (len(example.source), None, example.source.splitlines(True), NAME)
            got = run_example(example, module, capture)
            if not doctest.OutputChecker().check_output(example.want, got, doctest.ELLIPSIS):
                failures.append(f"{path.name}:{example.line}: expected\n{example.want}got\n{got}")
    finally:
        sys.modules.pop("example", None)
        os.chdir(directory)
        tierup.config.reload()
    return failures


def run_example(example, module, capture):
    """All that a block prints, what it raises included."""
    capture.take()
    raised = ""
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        warnings.showwarning = lambda message, category, *_: print(f"{category.__name__}: {message}")
        try:
            exec(compile(example.source, NAME, "exec"), module.__dict__)
        except Exception as e:  # noqa: BLE001  (what it raises is what is shown)
            raised = "".join(traceback.format_exception_only(e))
    return capture.take() + raised.replace("tierup.errors.", "")
