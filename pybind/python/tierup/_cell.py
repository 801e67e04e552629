"""`%load_ext tierup` and its cell magic `%%tierup`: runs a cell, and shows who runs which line of the functions that it defines, and what became of each line."""

import ast
import functools
import html
import re
import types

from . import _jit, config
from ._report import _COLOURS, Explanation, ParallelReport, _Page, _tier_text, _title

# Of lines whose function nobody has called yet.
NOT_CALLED = "not called"
# What a line shows where functions do not agree: the first of these.
_ORDER = ("Python", "conversions", NOT_CALLED, "native")
_PLACE = re.compile(r"line (\d+), in ")


def load(shell):
    # A function around it would be a frame of its own in tracebacks.
    shell.register_magic_function(functools.partial(tierup, shell), "cell", "tierup")


def unload(shell):
    shell.magics_manager.magics["cell"].pop("tierup", None)


def tierup(shell, line, cell):
    """Runs the cell and shows it line by line. `-v` says in text, too, what there is to say of a line."""
    __tracebackhide__ = True
    words = line.split()
    if unknown := [w for w in words if w not in ("-v", "--verbose")]:
        from IPython.core.error import UsageError
        raise UsageError(f"%%tierup has no option {unknown[0]}; there is -v")
    # The line of the magic stays, so that lines have the numbers that they have in the cell.
    code = shell.transform_cell(f"# %%tierup {line}".rstrip() + "\n" + cell)
    name = shell.compile.cache(code, shell.displayhook.prompt_count, raw_code=cell)
    whole = ast.parse(code, name)
    last = whole.body.pop() if whole.body and isinstance(whole.body[-1], ast.Expr) else None
    parts = [shell.compile(whole, name, "exec")]
    if last is not None:
        parts.append(shell.compile(ast.Interactive([last]), name, "single"))
    for part in parts:
        exec(part, shell.user_global_ns, shell.user_ns)
    from IPython.display import display
    display(Annotated(name, code.splitlines(), _defined(parts), bool(words)))


def _defined(parts):
    """The dispatchers of functions that the cell has the code of."""
    codes, left = set(), list(parts)
    while left:
        code = left.pop()
        codes.add(code)
        left += [c for c in code.co_consts if isinstance(c, types.CodeType)]
    found = [d for d in (r() for r in list(_jit._live.values())) if d is not None and d.py_func.__code__ in codes]
    return sorted(found, key=lambda d: d.py_func.__code__.co_firstlineno)


class Annotated(_Page):
    """A cell line by line. `str()` is the text; notebooks show lines in colours, which a click opens. `lines` has for each line of a compiled function its mark, `flags` what else it is
    ("vectorised", "parallel"), `notes` what there is to say."""

    def __init__(self, file, source, dispatchers, verbose=False):
        self.file, self.source, self.verbose = file, source, verbose
        self.lines, self.flags, self.notes = {}, {}, {}
        for d in dispatchers:
            self._add(d)
        self.compiled = len(dispatchers)

    def _add(self, d):
        e, parallel, first = Explanation(d), ParallelReport(d), d.py_func.__code__.co_firstlineno
        marks = e.lines
        if not marks:
            from ._marks import _lines
            marks = dict.fromkeys(_lines(d.py_func.__code__), NOT_CALLED)
        # What stands between the first decorator and the body belongs to the head.
        body = min((line for line in marks if line > first), default=first + 1)
        for line, mark in {**dict.fromkeys(range(first, body), marks.get(first, NOT_CALLED)), **marks}.items():
            known = self.lines.get(line, mark)
            self.lines[line] = min(mark, known, key=_ORDER.index)
        for line in e.vectorised():
            self.flags.setdefault(line, []).append("vectorised")
        for line in parallel.lines():
            self.flags.setdefault(line, []).append("parallel")
        for o in e.overloads:
            self._note(first, _title(e.name, o) + (": run by Python" if o["python"] else f": tier {_tier_text(o)}"))
        for text in e.reasons():
            at = _PLACE.search(text)
            self._note(int(at[1]) if at and int(at[1]) in marks else first, f"run by Python: {text}")
        for line, found in parallel.notes().items():
            for text in found:
                self._note(line, text)
        for line, found in e.notes().items():
            for heading, text in found:
                self._note(line, text if heading in text else f"{heading}: {text}" if text else heading)

    def _note(self, line, text):
        notes = self.notes.setdefault(line, [])
        if text not in notes:
            notes.append(text)

    def _said(self):
        """What is said of the cell as a whole."""
        if config.tier == "off":
            return "Tierup is off (tierup.config.tier): Python runs all of it"
        return None if self.compiled else "no function of this cell is compiled"

    def _rows(self):
        """(line, mark, flags, notes, source)."""
        for line, text in enumerate(self.source, 1):
            yield line, self.lines.get(line, ""), self.flags.get(line, []), self.notes.get(line, []), text

    def __str__(self):
        lines = [self._said()] if self._said() else []
        width = max((len(" ".join(flags)) for flags in self.flags.values()), default=0)
        for line, mark, flags, notes, text in self._rows():
            lines.append(f"{line:4} {mark:11} {' '.join(flags):{width}} {text}".rstrip())
            if self.verbose:
                lines += [f"{'':16} {'':{width}} | {part}" for note in notes for part in note.splitlines()]
        return "\n".join(lines)

    __repr__ = __str__

    def _heading(self):
        return "a cell, line by line"

    def _repr_html_(self):
        legend = " ".join(f"<span style='background:{colour};color:#222;padding:0 0.5em'>{mark}</span>" for mark, colour in _ALL_COLOURS.items())
        said = f"<p>{html.escape(self._said())}</p>" if self._said() else ""
        rows = "".join(_line_as_html(*row) for row in self._rows())
        return f"<div style='font-family:monospace;line-height:1.4;text-align:left'>{said}<p>{legend}; a click on a line marked + says more</p>{rows}</div>"


_ALL_COLOURS = {**_COLOURS, NOT_CALLED: "#eeeeee"}


def _line_as_html(line, mark, flags, notes, text):
    style = f"background:{_ALL_COLOURS[mark]};color:#222;" if mark else ""
    badges = "".join(f" <span style='border:1px solid #888;border-radius:0.4em;padding:0 0.3em;font-size:85%'>{flag}</span>" for flag in flags)
    shown = f"{line:4} {'+' if notes else ' '} {html.escape(text)}"
    shown = f"<span style='white-space:pre'>{shown}</span>{badges}"
    if not notes:
        return f"<div title='{mark}' style='{style}'>{shown}</div>"
    more = "".join(f"<div style='white-space:pre-wrap;margin-left:6em'>{html.escape(note)}</div>" for note in notes)
    return f"<details title='{mark}' style='{style}'><summary style='list-style:none;cursor:pointer'>{shown}</summary>{more}</details>"
