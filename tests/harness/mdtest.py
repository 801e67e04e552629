"""mdtests: Python blocks in Markdown that mean the same under CPython and on every tier.

A file under `tests/mdtest/` or `docs/diagnostics/` is headings, sentences and blocks fenced as ```python. Each block is one test, named after the headings above
it, and runs on its own: first as plain Python (decorators replaced by identity), then once per tier. A block may use the names of
`prelude()`; the important ones:

    check(f, *args, **kwargs)     calls f on copies of the arguments and returns what it returned. The tiers must agree with CPython on the result (value,
                                  dtype, shape), the arguments afterwards, printed text, the exception (type, text, cause, user frames of the traceback; a compile error may stand for a TypeError),
                                  and on which arguments an array result shares memory with
    COMPILED                      whether this run is a compiled one; for what cannot be compared with CPython
    layouts(a)                    the array in every layout an argument can have
    raises(kind, f, *args)        the exception f raises, which must be of that kind; asserts only, nothing is compared
    reveal_type(x)                inside a compiled function, with `# revealed: TYPE` at the end of the line

A call that raises under CPython must say so at the end of its line, `# raises: ZeroDivisionError`, or `# raises: any` for a line that runs several
times; so a misspelt test cannot pass. `# raises: error or PatternError` is for a class that has another name in some versions of Python.
`# error: [code] "text"` at the end of a line inside a compiled function expects a compile error there.

Comments on lines of their own that hold for the block: `# tolerance: 1e-12`, `# message: any` (exception texts may differ), `# traceback: any`,
`# sharing: any`, `# tiers: tier0` (only these).

`TIERUP_BLESS=1` rewrites `# revealed:` and `# error:` comments. Lines of a block keep their numbers in the Markdown file, so tracebacks and diagnostics
point there.
"""

import builtins
import cmath
import contextlib
import math
import operator
import os
import re
import sys
import time
import types
from collections import namedtuple
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Optional

import numpy as np

from . import values

ROOTS = [Path(__file__).resolve().parents[1] / "mdtest", Path(__file__).resolve().parents[2] / "docs"]
COMPREHENSIONS = {"<listcomp>", "<genexpr>", "<dictcomp>", "<setcomp>"}
REVEALED = re.compile(r"#\s*revealed:\s*(.*?)\s*$")
ERROR = re.compile(r'#\s*error:\s*\[([a-z-]+)\](?:\s*"(.*)")?\s*$')
RAISES = re.compile(r"#\s*raises:\s*(\w+(?: or \w+)*)")
DIRECTIVE = re.compile(r"^\s*#\s*(tolerance|message|traceback|sharing|tiers):\s*(.*?)\s*$")


@dataclass
class Block:
    """One fenced block: `lines[0]` is line `start` of the file."""

    file: Path
    name: str
    start: int
    lines: list
    directives: dict = field(default_factory=dict)

    @property
    def id(self):
        """What `expect.toml` calls it."""
        root = next(r for r in ROOTS if r in self.file.parents)
        return f"{self.file.relative_to(root)}::{self.name}"

    @property
    def tolerance(self):
        return float(self.directives.get("tolerance", 0))

    def allows(self, tier):
        return "tiers" not in self.directives or tier in self.directives["tiers"].replace(",", " ").split()

    def comment(self, pattern, line):
        """The match of a comment pattern on a line of the file, if that line is in the block."""
        index = line - self.start
        return pattern.search(self.lines[index]) if 0 <= index < len(self.lines) else None


def parse(path):
    """All blocks of a file, in order."""
    blocks, headings, seen = [], [], {}
    lines = path.read_text().splitlines()
    number = 0
    while number < len(lines):
        line = lines[number]
        number += 1
        heading = re.match(r"(#+)\s+(.*)", line)
        if heading:
            level = len(heading[1])
            headings = headings[:level - 1] + [""] * (level - 1 - len(headings)) + [heading[2].strip()]
        elif line.startswith("```python"):
            begin = number
            while number < len(lines) and not lines[number].startswith("```"):
                number += 1
            if number == len(lines):
                raise ValueError(f"{path}:{begin}: this block has no end")
            title = " / ".join(h for h in headings[1:] if h) or (headings[0] if headings else "block")
            seen[title] = seen.get(title, 0) + 1
            name = title if seen[title] == 1 else f"{title} #{seen[title]}"
            body = lines[begin:number]
            directives = {m[1]: m[2] for m in map(DIRECTIVE.match, body) if m}
            blocks.append(Block(path, name, begin + 1, body, directives))
            number += 1
    return blocks


class Outcome(NamedTuple):
    """What one `check` showed."""

    line: int
    result: Optional[tuple]
    error: Optional[tuple]
    arguments: tuple
    sharing: tuple
    printed: str


class Failure(Exception):
    """What is wrong with a block, for a person."""


class Run:
    """One run of a block, as plain Python (`tier` None) or on a tier."""

    def __init__(self, block, tier, capture):
        self.block, self.tier, self.capture = block, tier, capture
        self.outcomes, self.revealed, self.compile_errors = [], [], []

    def execute(self):
        name = f"mdtest_{self.block.file.stem}_{self.block.start}"
        module = types.ModuleType(name)
        module.__file__ = str(self.block.file)
        module.__dict__.update(prelude(self))
        sys.modules[name] = module
        source = "\n" * (self.block.start - 1) + "\n".join(self.block.lines) + "\n"
        try:
            with np.errstate(all="ignore"):
                exec(builtins.compile(source, str(self.block.file), "exec"), module.__dict__)
        finally:
            sys.modules.pop(name, None)
        return self

    def check(self, f, /, *args, **kwargs):
        line = sys._getframe(1).f_lineno
        memo = {}
        args = [values.clone(a, memo) for a in args]
        kwargs = {k: values.clone(v, memo) for k, v in kwargs.items()}
        result = error = frozen = None
        self.capture.take()
        try:
            result = f(*args, **kwargs)
            frozen = values.freeze(result)  # a generator runs here
        except Exception as e:  # noqa: BLE001  (whatever it raises is what is compared)
            error = self.describe(e)
            diagnostic = self.diagnostic(e)
            if diagnostic:
                self.compile_errors.append(diagnostic)
        arrays = [a for a in [*args, *kwargs.values()] if isinstance(a, np.ndarray)]
        outcome = Outcome(line, frozen if error is None else None, error, tuple(values.freeze(a) for a in [*args, *kwargs.values()]),
                          sharing(result, arrays), self.capture.take())
        self.outcomes.append(outcome)
        if self.tier is None:
            self.validate(outcome)
        return result

    def validate(self, outcome):
        """A test must say which of its calls raise."""
        says = self.block.comment(RAISES, outcome.line)
        says = says[1].split(" or ") if says else [None]
        raised = outcome.error[0] if outcome.error else None
        if raised not in says and says != ["any"] and not self.expects_errors():
            raise Failure(f"{self.block.file.name}:{outcome.line}: under CPython this raises {raised} ({outcome.error}), the line says {' or '.join(map(str, says))}")

    def expects_errors(self):
        return any(ERROR.search(text) for text in self.block.lines)

    def describe(self, e, depth=0):
        """(type, text, user frames, cause, context): all that a user sees of an exception."""
        if e is None or depth > 4:
            return None
        frames = []
        tb = e.__traceback__
        while tb:
            code = tb.tb_frame.f_code
            if code.co_filename == str(self.block.file) and code.co_name != "<module>" and code.co_name not in COMPREHENSIONS:
                frames.append((code.co_name, tb.tb_lineno))
            tb = tb.tb_next
        context = None if e.__suppress_context__ else self.describe(e.__context__, depth + 1)
        return (type(e).__name__, str(e), tuple(frames), self.describe(e.__cause__, depth + 1), context)

    def diagnostic(self, e):
        """(line, code, first line of the text) of a compile error."""
        text = str(e)
        first = text.split("\n", 1)[0]
        code = re.search(r"\[([a-z]+(?:-[a-z]+)+)\]\s*$", first)
        place = re.search(re.escape(f'File "{self.block.file}"') + r", line (\d+)", text)
        return (int(place[1]), code[1], first[:code.start()].strip()) if code and place else None


def sharing(result, arrays):
    """Which arguments an array result, or the members of a tuple result, share memory with."""
    members = result if isinstance(result, (tuple, list)) else [result]
    return tuple(tuple(bool(np.may_share_memory(m, a)) for a in arrays) for m in members if isinstance(m, np.ndarray))


def prelude(run):
    """The names a block starts with."""
    if run.tier is None:
        def decorate(*args, **kwargs):
            return args[0] if len(args) == 1 and callable(args[0]) and not kwargs else (lambda f: f)
        names = {"njit": decorate, "jit": decorate, "prange": range, "reveal_type": lambda x: x}
    else:
        import tierup
        names = {"njit": tierup.njit, "jit": tierup.jit, "prange": tierup.prange, "reveal_type": tierup.reveal_type}

    def raises(kind, f, /, *args, **kwargs):
        try:
            result = f(*args, **kwargs)
        except kind as e:
            return e
        raise AssertionError(f"{f} returned {result!r} instead of raising {kind}")

    return names | {"np": np, "math": math, "cmath": cmath, "operator": operator, "time": time, "namedtuple": namedtuple, "NamedTuple": NamedTuple,
                    "check": run.check, "raises": raises, "layouts": values.layouts, "COMPILED": run.tier is not None,
                    "INTS": [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64],
                    "FLOATS": [np.float32, np.float64], "COMPLEXES": [np.complex64, np.complex128]}


class Capture:
    """What was printed, at the level of the file descriptor: compiled code may not print through `sys.stdout`."""

    def __init__(self):
        import tempfile
        self.file = tempfile.TemporaryFile()
        os.dup2(self.file.fileno(), 1)
        sys.stdout = os.fdopen(os.dup(1), "w", buffering=1, encoding="utf-8")
        self.seen = 0

    def take(self):
        with contextlib.suppress(ValueError):
            sys.stdout.flush()
        text = os.pread(self.file.fileno(), 1 << 24, self.seen)
        self.seen += len(text)
        return text.decode("utf-8", "replace")


def run_plain(block, capture):
    """The CPython run; a Failure says what is wrong with the test itself."""
    run = Run(block, None, capture)
    try:
        run.execute()
    except Failure:
        raise
    except BaseException as e:
        raise Failure(f"under CPython: {where(block, e)}{type(e).__name__}: {e}") from e
    if not run.outcomes and not any(re.match(r"\s*assert\b|.*\braises\(", line) for line in block.lines):
        raise Failure(f"{block.file.name}:{block.start}: this block checks nothing")
    return run


def where(block, e):
    tb, line = e.__traceback__, None
    while tb:
        if tb.tb_frame.f_code.co_filename == str(block.file):
            line = tb.tb_lineno
        tb = tb.tb_next
    return f"{block.file.name}:{line}: " if line else ""


def run_block(block, tier, capture):
    """All that is wrong with a block on a tier (a list of texts), and the lines a blessing would write."""
    plain = run_plain(block, capture)
    if tier is None:
        return [], {}
    set_tier(tier)
    take_revealed()
    run = Run(block, tier, capture)
    failures = []
    try:
        run.execute()
    except BaseException as e:
        failures.append(f"{where(block, e)}{type(e).__name__}: {str(e)[:1500]}")
    expected_lines = {o.line for o in plain.outcomes}
    errors_at = {line for line, _, _ in run.compile_errors if block.comment(ERROR, line)}
    if not (failures and len(run.outcomes) < len(plain.outcomes)) and len(run.outcomes) != len(plain.outcomes):
        failures.append(f"{len(plain.outcomes)} checks under CPython, {len(run.outcomes)} here")
    for want, got in zip(plain.outcomes, run.outcomes):
        assert got.line in expected_lines
        if got.error and any(d[0] in errors_at and d[2] in got.error[1] for d in run.compile_errors):
            continue  # an expected compile error: judged by its comment below
        problem = compare(block, want, got)
        if problem:
            failures.append(f"{block.file.name}:{got.line}: {problem}")
    blessed = {}
    failures += judge_comments(block, run, take_revealed(), blessed)
    return failures, blessed


def compare(block, want, got):
    rtol, loose = block.tolerance, block.directives
    if (want.error is None) != (got.error is None):
        expected = f"{want.error[0]}: {want.error[1]}" if want.error else values.show(want.result)
        actual = f"{got.error[0]}: {got.error[1][:1500]}" if got.error else values.show(got.result)
        return f"expected {expected}, got {actual}"
    if want.error:
        return error_difference(want.error, got.error, loose.get("message") == "any", loose.get("traceback") == "any")
    problem = values.difference(want.result, got.result, rtol)
    for i, (a, b) in enumerate(zip(want.arguments, got.arguments)):
        problem = problem or values.difference(a, b, rtol, f"argument {i} afterwards")
    if not problem and want.sharing != got.sharing and loose.get("sharing") != "any":
        problem = f"memory shared with arguments: expected {want.sharing}, got {got.sharing}"
    if not problem and want.printed != got.printed:
        problem = f"printed: expected {want.printed!r}, got {got.printed!r}"
    return problem


def error_difference(want, got, any_message, any_traceback, path="exception"):
    if want is None or got is None:
        return None if want is got else f"{path}: expected {want and want[:2]}, got {got and got[:2]}"
    if want[0] == "TypeError" and got[0] in ("TypingError", "UnsupportedError"):
        return None  # what Python finds when it runs, the compiler may find before
    if want[0] != got[0] or (want[1] != got[1] and not any_message):
        return f"{path}: expected {want[0]}: {want[1]}, got {got[0]}: {got[1][:1500]}"
    if want[2] != got[2] and not any_traceback:
        return f"{path}: expected frames {want[2]}, got {got[2]}"
    return error_difference(want[3], got[3], any_message, any_traceback, path + ".__cause__") or \
        error_difference(want[4], got[4], any_message, any_traceback, path + ".__context__")


def judge_comments(block, run, revealed, blessed):
    """`# revealed:` and `# error:` against what the compiler said."""
    failures, types_at = [], {}
    for file, line, text in revealed:
        if file == str(block.file):
            types_at.setdefault(line, [])
            if text not in types_at[line]:
                types_at[line].append(text)
    errors_at = {line: (code, text) for line, code, text in run.compile_errors}
    for offset, source in enumerate(block.lines):
        line = block.start + offset
        says, got = REVEALED.search(source), " | ".join(types_at.get(line, []))
        if (says[1] if says else "") != got:
            failures.append(f"{block.file.name}:{line}: revealed {got!r}, the comment says {says[1] if says else ''!r}")
            blessed[line] = f"# revealed: {got}"
        says = ERROR.search(source)
        code, text = errors_at.get(line, (None, ""))
        if says and (says[1] != code or (says[2] or "") not in text):
            failures.append(f"{block.file.name}:{line}: expected error [{says[1]}] {says[2]!r}, got [{code}] {text!r}")
            if code:
                blessed[line] = f'# error: [{code}] "{text}"'
    return failures


def bless(path, comments):
    """Rewrites the comments of some lines of a file."""
    lines = path.read_text().splitlines()
    for line, comment in comments.items():
        old = re.sub(r"\s*#\s*(revealed|error):.*$", "", lines[line - 1])
        lines[line - 1] = f"{old}  {comment}" if comment.split(": ", 1)[1] else old
    path.write_text("\n".join(lines) + "\n")


def set_tier(tier):
    """Chooses where compiled functions run from now on."""
    import tierup
    tierup.config.osr = "stress" if tier == "osr" else "on"
    tierup.config.tier = {"interp": "interp", "tier0": "0", "tier1": "1", "osr": "auto"}[tier]


def take_revealed():
    """(file, line, type) of every `reveal_type` compiled since the last call."""
    import tierup.testing
    return tierup.testing.take_revealed()
