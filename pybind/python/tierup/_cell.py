"""`%load_ext tierup` and its cell magic `%%tierup`: runs a cell, and shows who runs which line of the functions that it defines, and what became of each line."""

import ast
import functools
import html
import re
import types

from . import _jit, config
from ._marks import lines_of
from ._report import _COLOURS, Explanation, ParallelReport, _Page, _tier_text, _title, functions, notes, overloads_of, vectorised

# Of lines whose function nobody has called yet.
NOT_CALLED = "not called"
# What a line shows where functions do not agree: the first of these.
_ORDER = ("Python", "conversions", "native", NOT_CALLED)
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
    codes = _codes(parts)
    display(Annotated(name, code.splitlines(), codes, _dispatchers(codes), _kernels(shell.user_ns, codes), bool(words)))


def _codes(parts):
    """All functions that the cell has the code of, by their qualified names."""
    found, left = {}, list(parts)
    while left:
        code = left.pop()
        left += (inner := [c for c in code.co_consts if isinstance(c, types.CodeType)])
        found.update((c.co_qualname, c) for c in inner)
    return found


def _dispatchers(codes):
    found = [d for d in (r() for r in list(_jit._live.values())) if d is not None and codes.get(d.py_func.__code__.co_qualname) is d.py_func.__code__]
    return sorted(found, key=lambda d: d.py_func.__code__.co_firstlineno)


def _kernels(space, codes):
    """Ufuncs and stencils of functions of the cell: (code, what it is, whether Python runs it, the dispatchers of its loops)."""
    found = []
    for x in list(space.values()):
        module = type(x).__module__
        if module == "tierup._ufunc":
            b = x._builder
            found.append((b.function.__code__, f"{b.what}: loops for {', '.join(x.types)}" if x.types else b.what, b.by_python, b.kept))
        elif module == "tierup._stencil":
            found.append((x.py_func.__code__, "stencil", False, [x._dispatcher]))
    return [k for k in found if codes.get(k[0].co_qualname) is k[0]]


class Annotated(_Page):
    """A cell line by line. `str()` is the text; notebooks show lines in colours, which a click opens. `lines` has for each line of a compiled function its mark, `flags` what else it is
    ("vectorised", "parallel"), `notes` what there is to say."""

    def __init__(self, file, source, codes, dispatchers, kernels, verbose=False):
        self.file, self.source, self.verbose, self._codes = file, source, verbose, codes
        self.lines, self.flags, self.notes = {}, {}, {}
        for d in dispatchers:
            self._add(d)
        for kernel in kernels:
            self._add_kernel(*kernel)
        self.compiled = len(dispatchers) + len(kernels)

    def _mark(self, code, marks):
        """Marks the lines of a function, its head with them."""
        first = code.co_firstlineno
        # What stands between the first decorator and the body belongs to the head.
        body = min((line for line in marks if line > first), default=first + 1)
        for line, mark in {**dict.fromkeys(range(first, body), marks.get(first, NOT_CALLED)), **marks}.items():
            known = self.lines.get(line, mark)
            self.lines[line] = min(mark, known, key=_ORDER.index)

    def _mark_called(self, overloads):
        """Functions of the cell that compiled code has in it are native, whether they are decorated or not."""
        for name in functions(overloads):
            code = self._codes.get(name)
            if code is not None:
                self._mark(code, dict.fromkeys(lines_of(code), "native"))

    def _add_kernel(self, code, what, by_python, dispatchers):
        found = [o for d in dispatchers for o in overloads_of(d)]
        self._mark(code, dict.fromkeys(lines_of(code), "Python" if by_python else "native" if found else NOT_CALLED))
        self._note(code.co_firstlineno, what)
        self._mark_called(found)
        self._flag_and_note(vectorised(found, self.file), notes(found, self.file))

    def _flag_and_note(self, vectorised, notes):
        for line in vectorised:
            self._flag(line, "vectorised")
        for line, found in notes.items():
            for heading, text in found:
                self._note(line, text if heading in text else f"{heading}: {text}" if text else heading)

    def _add(self, d):
        code, e, parallel = d.py_func.__code__, Explanation(d), ParallelReport(d)
        first, marks = code.co_firstlineno, e.lines or dict.fromkeys(lines_of(code), NOT_CALLED)
        self._mark(code, marks)
        self._mark_called([*e.overloads, *(o for _, inner in e.loops for o in inner.overloads)])
        for line in parallel.lines():
            self._flag(line, "parallel")
        for o in e.overloads:
            self._note(first, _title(e.name, o) + (": run by Python" if o["python"] else f": tier {_tier_text(o)}"))
        for text in e.reasons():
            at = _PLACE.search(text)
            self._note(int(at[1]) if at and int(at[1]) in marks else first, f"run by Python: {text}")
        for line, found in parallel.notes().items():
            for text in found:
                self._note(line, text)
        self._flag_and_note(e.vectorised(), e.notes())

    def _flag(self, line, flag):
        flags = self.flags.setdefault(line, [])
        if flag not in flags:
            flags.append(flag)

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
