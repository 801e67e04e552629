"""What became of compiled functions: `f.explain()` for one, `tierup.report()` for all. Loaded at the first use.

The first part of an explanation is what happened in this process: overloads, their tier, times, loops that moved. The second is what tier 1 makes of the function,
read from a compilation on the side: from the optimised LIR (what was inlined, checks of indices, allocations), and from LLVM's own remarks about loops.
"""

import html
import os
import re

from . import _tierup

_REMARK = re.compile(r"^(.*?):(\d+):\d+: (.*)$")
_WIDTH = re.compile(r"vectorization width: (\d+)")


def _ms(seconds):
    return f"{seconds * 1e3:.1f} ms"


def _us(seconds):
    return f"{seconds * 1e6:.1f} us"


def _loops(facts):
    """What LLVM says of each innermost loop: `(file, line) -> (text, vectorised)`. A remark belongs to the shortest loop that has its line in it."""
    loops = {(file, first, last): [] for file, first, last in facts["loops"]}
    other = {}
    for text in facts["remarks"] or ():
        m = _REMARK.match(text)
        if not m:
            continue
        line = int(m[2])
        around = [loop for loop in loops if loop[0] == m[1] and loop[1] <= line <= loop[2]]
        # A remark that LLVM gives no line can only be told apart where there is one loop.
        around = around or (list(loops) if line == 0 and len(loops) == 1 else [])
        if around:
            loops[min(around, key=lambda loop: loop[2] - loop[1])].append(m[3])
        elif line:
            other.setdefault((m[1], line), []).append(m[3])
    out = {}
    for (file, first, _), lines in loops.items():
        if widths := _widths(lines):
            out[file, first] = f"vectorised, {widths} at a time", True
        else:
            # Where we told LLVM not to try, there is a remark of our own.
            reasons = [t.removeprefix("loop not vectorized: ") for t in lines if t.startswith(("loop not vectorized: ", "the cost-model")) and "explicitly disabled" not in t]
            why = "; ".join(dict.fromkeys(reasons[:2])) or ("LLVM gives no reason" if lines else "LLVM says nothing of it: it was unrolled, replaced or removed")
            out[file, first] = f"not vectorised: {why}", False
    for place, lines in other.items():
        if widths := _widths(lines):
            out[place] = f"vectorised, {widths} at a time", True
        elif any(t.startswith(("SLP vectorized", "Stores SLP vectorized", "Vectorized")) for t in lines):
            out[place] = "operations side by side became vector operations", True
    return dict(sorted(out.items()))


def _widths(lines):
    found = {int(w) for t in lines if t.startswith("vectorized loop") for w in _WIDTH.findall(t)}
    return " and ".join(map(str, sorted(found)))


class _Page:
    """A report that notebooks show, and that can be written as a page for a browser."""

    def save(self, path):
        """Writes it to the file `path` as an HTML page of its own, which needs nothing from elsewhere. OSError where that cannot be done."""
        style = "body { font-family: sans-serif; margin: 2em } td, th { padding: 0.1em 1em 0.1em 0; text-align: left; vertical-align: top }"
        with open(path, "w", encoding="utf-8") as f:
            f.write(f"<!DOCTYPE html>\n<html lang='en'><head><meta charset='utf-8'><title>{html.escape(self._heading())}</title><style>{style}</style></head>\n<body>{self._repr_html_()}</body></html>\n")


# Of lines, by who runs them.
_COLOURS = {"native": "#dff5df", "conversions": "#fff3cf", "Python": "#fbe0dc"}


class Explanation(_Page):
    """What became of a function. `str()` is the text; notebooks show a table. `overloads` holds the facts, one dict for each overload, `lines` who runs which line: "native" code,
    native code behind "conversions" (what the line is given is copied or becomes an object), or "Python"."""

    def __init__(self, dispatcher, signature=None):
        from ._jit import _same
        self.name = dispatcher.__qualname__
        self.file = dispatcher.__code__.co_filename
        self.overloads = []
        for i, (args, ret, why) in enumerate(_tierup.overloads(dispatcher)):
            if signature is None or _same(args, signature):
                self.overloads.append(_overload(dispatcher, i, args, ret, why, details=True))
        # Why Python ran it with arguments that there is no overload for, and the loops that were cut out of what Python runs, each with its explanation.
        self.refusal, self.loops = _tierup.refusal(dispatcher), []
        if self.refusal is not None or any(o["python"] for o in self.overloads):
            from ._lifting import loops_of
            self.loops = [(loop, Explanation(loop.dispatcher)) for loop in loops_of(_tierup.in_python(dispatcher))]
        self.lines = {}
        if self.overloads or self.refusal is not None:
            from ._marks import marked
            self.lines = marked(dispatcher, self.overloads, self.loops)

    def _at(self, place):
        return _at(place[0], place[1], self.file)

    def _rows(self, o):
        """(heading, texts) of one overload."""
        yield "tier", [_tier_text(o)]
        if o["python"]:
            return
        if o["compared"]:
            here, python, calls = o["compared"]
            answer = f"Python makes the next {calls} calls with such arguments" if calls else "compiled code makes the calls"
            yield "compared with Python", [f"a call took {_us(here)} with what is copied for it, and {_us(python)} in Python: {answer}"]
        yield "first compilation", [", ".join(f"{name} {_ms(t)}" for name, t in o["phases"].items()) + f"; {o['bytes']} bytes"]
        if o["moved"]:
            yield "loops that moved while running", [f"{function.rsplit('.', 1)[0]}, line {line}: after {_ms(at)}, compiled in {_ms(took)}" for function, line, at, took in o["moved"]]
        if o["failed"]:
            yield "tier 1 failed", [o["failed"]]
        for heading, found, otherwise in _placed(o):
            yield heading, [self._at(place) + (f": {text}" if text else "") for place, text in found] or [otherwise]

    def notes(self):
        """What there is to say of single lines: `line -> [(heading, text), ...]`. Loops that were cut out of what Python runs have theirs among them."""
        found = notes(self.overloads, self.file)
        for _, e in self.loops:
            for line, rows in e.notes().items():
                # What Python does in the middle of a loop is a function that nobody wrote.
                found[line] = list(dict.fromkeys([*found.get(line, []), *(r for r in rows if not r[1].endswith(".<locals>.aside"))]))
        return found

    def vectorised(self):
        """Lines of the loops that became vector code in tier 1."""
        own = vectorised(self.overloads, self.file)
        return own.union(*(e.vectorised() for _, e in self.loops))

    def reasons(self):
        """Why Python runs it, or did with some arguments."""
        return list(dict.fromkeys(text for text in (self.refusal, *(o["python"] for o in self.overloads)) if text))

    def _loop_rows(self):
        """(heading, texts) of the loops that were cut out: what any form of a loop was compiled for, and why the last one was left to Python."""
        forms = {}
        for loop, e in self.loops:
            forms.setdefault(loop.line, []).append((loop, e))
        for line, found in forms.items():
            texts = [f"compiled for ({', '.join(o['args'])}), tier {_tier_text(o)}" for _, e in found for o in e.overloads if not o["python"]]
            reasons = [e.refusal or next((o["python"].splitlines()[0] for o in e.overloads if o["python"]), None) for _, e in found]
            if reasons[-1] is not None or not texts and any(reasons):
                why = next(r for r in reversed(reasons) if r is not None)
                texts.append(("else " if texts else "") + f"run by Python: {why}")
            yield f"loop at line {line}", texts or ["not reached with all its variables set" if any(loop.doubtful for loop, _ in found) else "not reached yet"]

    def __str__(self):
        if not self.overloads and self.refusal is None:
            return f"{self.name}: not compiled yet"
        lines = []
        if not self.overloads:
            lines += [self.name, f"  tier: plain Python: {self.refusal}"]
        for o in self.overloads:
            lines.append(_title(self.name, o))
            for heading, texts in self._rows(o):
                if len(texts) == 1:
                    lines.append(f"  {heading}: {texts[0]}")
                else:
                    lines.append(f"  {heading}:")
                    lines += [f"    {t}" for t in texts]
        lines += [f"  {heading}: {t}" for heading, texts in self._loop_rows() for t in texts]
        if self._is_mixed():
            lines += ["  lines:", *(f"    {line:4} {mark:11} {source}".rstrip() for line, mark, source in self._marked())]
        return "\n".join(lines)

    def _is_mixed(self):
        """Whether lines are run by Python and others are not."""
        return len({mark for mark in self.lines.values() if mark != "conversions"}) > 1

    def _marked(self):
        """(line, mark, source) of all lines that the function has code for."""
        from ._lines import lines as lines_of
        source = lines_of(self.file)
        texts = {line: source[line - 1].rstrip() if line <= len(source) else "" for line in self.lines}
        margin = min((len(t) - len(t.lstrip()) for t in texts.values() if t), default=0)
        return [(line, mark, texts[line][margin:]) for line, mark in sorted(self.lines.items())]

    def _lines_as_html(self):
        if not self.lines:
            return ""
        row = "<tr style='background:{}'><td style='text-align:right'>{}</td><td>{}</td><td style='text-align:left'><pre style='margin:0'>{}</pre></td></tr>".format
        return "<table>" + "".join(row(_COLOURS[mark], line, mark, html.escape(source)) for line, mark, source in self._marked()) + "</table>"

    __repr__ = __str__

    def _heading(self):
        return f"explanation of {self.name}"

    def _repr_html_(self):
        if not self.overloads:
            return "".join(f"<p>{html.escape(line)}</p>" for line in str(self).split("\n  lines:\n")[0].splitlines()) + self._lines_as_html()
        parts = []
        for o in self.overloads:
            parts.append(f"<h4><code>{html.escape(_title(self.name, o))}</code></h4><table>")
            for heading, texts in self._rows(o):
                parts.append(_row(heading, texts))
            parts.append("</table>")
        if self.loops:
            parts += ["<table>", *(_row(heading, texts) for heading, texts in self._loop_rows()), "</table>"]
        return "".join(parts) + self._lines_as_html()


def overloads_of(dispatcher):
    """The facts of all overloads of a dispatcher."""
    return [_overload(dispatcher, i, *row, details=True) for i, row in enumerate(_tierup.overloads(dispatcher))]


def notes(overloads, file):
    """What there is to say of single lines of a file: `line -> [(heading, text), ...]`."""
    found = {}
    for o in overloads:
        for heading, rows, _ in _placed(o) if not o["python"] else ():
            for (of, line, *_), text in rows:
                if of == file and (heading, text) not in found.setdefault(line, []):
                    found[line].append((heading, text))
    return found


def vectorised(overloads, file):
    """Lines of a file whose loops became vector code in tier 1."""
    return {line for o in overloads if not o["python"] for (of, line), (_, yes) in o["loops"].items() if yes and of == file}


def functions(overloads):
    """Qualified names of the functions that compiled code has in it, or calls."""
    return {name for o in overloads if not o["python"] for facts in [o["facts"]] for name in (*(p[2] for p in facts["inlined"]), *(p[2].rsplit(".", 1)[0] for p in facts["calls"]))}


def _placed(o):
    """What tier 1 makes of an overload, by heading: pairs of a place and a text, and what is said where there are none."""
    facts = o["facts"]
    yield "inlined", [(p, p[2]) for p in facts["inlined"]], "nothing"
    if facts["calls"]:
        yield "called", [(p, p[2].rsplit(".", 1)[0]) for p in facts["calls"]], None
    if facts["fused"]:
        yield "array operations in one loop", [(p, p[2]) for p in facts["fused"]], None
    if facts["remarks"] is None:
        yield "vectorised", [], "unknown: this build has no LLVM"
    else:
        yield "vectorised", [(p, text) for p, (text, _) in o["loops"].items()], "there are no innermost loops"
    yield "indices that are checked", [(p, "only where the test in front of the loop fails" if p[2] else "") for p in facts["checks"]], "none"
    if facts["streams"]:
        yield "fusion-boundary", [(p, f"a generator keeps its frame: {p[2]}") for p in facts["streams"]], None
    yield "allocations", [(p, p[2] + (", in a loop" if p[3] else "")) for p in facts["allocations"]], "none"


def _row(heading, texts):
    return f"<tr><th style='text-align:left;vertical-align:top'>{html.escape(heading)}</th><td style='text-align:left'>{'<br>'.join(map(html.escape, texts))}</td></tr>"


def _title(name, o):
    return f"{name}({', '.join(o['args'])}) -> {o['ret']}"


def _tier_text(o):
    if o["python"]:
        return "plain Python: " + o["python"].splitlines()[0]
    if o["tier"] == 0:
        return "0"
    at, took = o["promoted"] or (0.0, 0.0)
    if o["cached"]:
        return f"1, from {'its package, made for ' + o['shipped'] if o['shipped'] else 'the code cache'}; loaded in {_ms(took)}"
    return f"1, {_ms(at)} after the first compilation; LLVM took {_ms(took)}"


def _overload(dispatcher, index, args, ret, why, details):
    o = {"args": args, "ret": ret, "python": why, "tier": None, "promoted": None, "moved": [], "failed": None, "cached": False, "shipped": None, "phases": {}, "bytes": 0, "compared": None}
    if why is not None:
        return o
    phases, o["bytes"] = _tierup.compile_times(dispatcher, index)
    o["phases"] = dict(zip(("infer", "lower", "optimise", "back end"), phases))
    o["compared"] = _tierup.compared(dispatcher, index)
    o["tier"], o["promoted"], o["moved"], o["failed"], o["cached"], o["shipped"] = _tierup.history(dispatcher, index)
    if details:
        o["facts"] = _tierup.explain(dispatcher, index)
        o["loops"] = _loops(o["facts"])
    return o


class ParallelReport(_Page):
    """What of a function runs in parallel. `str()` is the text; notebooks show tables, with the operations that became one loop as a graph. `loops` holds the loops over
    `prange`, `arrays` the operations on arrays of all overloads so far, one dict for each."""

    def __init__(self, dispatcher, signature=None):
        from ._jit import _same
        self.name, self.file = dispatcher.__name__, dispatcher.__code__.co_filename
        self.parallel = bool(dispatcher.targetoptions.get("parallel"))
        self.loops = [{"file": file, "line": line, "parallel": serial is None, "why": serial, "shares": shares, "doubts": doubts, "into": into, "apart": apart}
                      for file, line, serial, shares, doubts, into, apart in _tierup.parallel_loops(dispatcher)]
        # What keeps a loop from being part of the one before it is told of the loop itself.
        for note in [loop for loop in self.loops if loop["apart"]]:
            self.loops.remove(note)
            for loop in self.loops:
                if (loop["file"], loop["line"]) == (note["file"], note["line"]):
                    loop["apart"] = note["apart"]
        found = {}
        overloads = _tierup.overloads(dispatcher) if self.parallel else []
        for i in range(len(overloads)):
            if signature is not None and not _same(overloads[i][0], signature):
                continue
            for file, line, steps, serial, region, only in _tierup.parallel_arrays(dispatcher, i):
                found[file, line, repr(steps), serial, region] = {"file": file, "line": line, "parallel": serial is None, "why": serial, "steps": steps, "with": region, "only": only}
        self.arrays = sorted(found.values(), key=lambda a: (a["file"], a["line"], not a["parallel"]))
        self.compiled = bool(overloads)
        self._dispatcher = dispatcher
        self._indices = [i for i, o in enumerate(overloads) if o[2] is None and (signature is None or _same(o[0], signature))]

    def _rows(self):
        for loop in self.loops:
            what = "parallel loop" if loop["parallel"] else f"a loop that is not parallel: {loop['why']}"
            if loop["into"] is not None:
                what = f"part of the loop of line {loop['into']}"
            if loop["shares"]:
                what += "; its iterations share " + ", ".join(loop["shares"])
            yield loop["file"], loop["line"], what
            if loop["apart"]:
                yield loop["file"], loop["line"], f"not part of the loop of line {loop['apart'][0]}: {loop['apart'][1]}"
            for line, why in loop["doubts"]:
                yield loop["file"], line, f"doubtful: {why}"
        for a in self.arrays:
            names = [name for name, _ in a["steps"]]
            what = "in parallel: " + ", ".join(names) if a["parallel"] else f"{', '.join(names)}: not in parallel, {a['why']}"
            if a["only"]:
                what += f", {a['only']}"
            if a["with"] is not None:
                what += f", in the pass of line {a['with']}"
            yield a["file"], a["line"], what + (f" (one loop over {len(names)} operations)" if len(names) > 1 else "")

    def _sorted(self):
        rows = sorted(self._rows(), key=lambda r: (r[0] != self.file, r[0], r[1]))
        return [(self._place(file, line), _source(file, line), what) for file, line, what in rows]

    def __str__(self):
        if not self.parallel:
            return f"{self.name} was made without parallel=True: its loops over prange are plain loops"
        rows = self._sorted()
        later = "" if self.compiled else "; operations on arrays are known once it has been called"
        if not rows:
            return f"{self.name} has no loop over prange" + (later or ", and no operation on arrays that could be parallel")
        from ._lines import cell
        return "\n".join([f"Parallel code in {self.name}, {cell(self.file) or self.file}{later}", *_listed(rows)])

    __repr__ = __str__

    def diagnostics(self, level):
        """The report in Numba's levels: 1 what is parallel; 2 also what there would be without fusion; 3 also what was fused, and what is allocated where; 4 also which operation
        reads which."""
        if level not in (1, 2, 3, 4):
            raise ValueError("Report level unknown, should be one of 1, 2, 3, 4")
        parts = [str(self)]
        regions = [a for a in self.arrays if a["parallel"] and a["with"] is None]
        if level >= 2:
            single = [(a["file"], a["line"], name) for a in regions for name, _ in a["steps"]]
            parts += ["", f"Before fusion: {_count(len(single), 'loop')} over arrays; after it {len(regions)}"]
            if any(loop["into"] is not None for loop in self.loops):
                parts += [f"Before fusion: {_count(len(self.loops), 'loop')} over prange; after it {sum(loop['into'] is None for loop in self.loops)}"]
            parts += _listed([(self._place(file, line), *rest) for file, line, *rest in ((file, line, _source(file, line), name) for file, line, name in single)])
        if level >= 3:
            fused = [a for a in regions if len(a["steps"]) > 1]
            parts += ["", f"Fused: {_count(len(fused), 'loop')}"]
            parts += [f"  {self._place(a['file'], a['line'])}: {', '.join(n for n, _ in a['steps'])}" for a in fused]
            parts += ["", "Allocations:"]
            parts += [f"  {self._place(*p[:2])}: {p[2]}" + (", in a loop: it could not be hoisted" if p[3] else "") for p in self._allocations()] or ["  none"]
        if level == 4:
            parts += ["", "What operations read:"]
            for a in regions:
                parts.append(f"  {self._place(a['file'], a['line'])}")
                parts += [f"    {k}: {name}" + (f", reads {', '.join(map(str, reads))}" if reads else "") for k, (name, reads) in enumerate(a["steps"])]
        return "\n".join(parts)

    def _place(self, file, line):
        return _at(file, line, self.file)

    def notes(self):
        """What there is to say of lines of its file: `line -> [text, ...]`."""
        found = {}
        for file, line, what in self._rows() if self.parallel else ():
            if file == self.file:
                found.setdefault(line, []).append(what)
        return found

    def lines(self):
        """Lines of its file that run in parallel: those of loops, and of operations on arrays."""
        return {found["line"] for found in (*self.loops, *self.arrays) if found["parallel"] and found["file"] == self.file} if self.parallel else set()

    def _allocations(self):
        return sorted({tuple(p) for i in self._indices for p in _tierup.explain(self._dispatcher, i)["allocations"]})

    def _heading(self):
        return f"parallel code in {self.name}"

    def _repr_html_(self):
        rows = self._sorted() if self.parallel else []
        if not rows:
            return f"<p>{html.escape(str(self))}</p>"
        body = "".join(f"<tr><td>{html.escape(place)}</td><td><code>{html.escape(source)}</code></td><td>{html.escape(what)}</td></tr>" for place, source, what in rows)
        graphs = "".join(_graph(_at(a["file"], a["line"], None), a["steps"]) for a in self.arrays if a["parallel"] and len(a["steps"]) > 1)
        return f"<table><caption>Parallel code in <code>{html.escape(self.name)}</code></caption>{body}</table>{self._loop_graph()}{graphs}"

    def _loop_graph(self):
        """Loops over `prange` that follow each other as a drawing: a line where the lower one has become part of the upper one, a dashed one with the reason where it has not."""
        loops = sorted((loop for loop in self.loops if loop["file"] == self.file), key=lambda loop: loop["line"])
        edges = [(loop["into"], loop["line"], None) for loop in loops if loop["into"] is not None] + [(*loop["apart"][:1], loop["line"], loop["apart"][1]) for loop in loops if loop["apart"]]
        shown = sorted({line for a, b, _ in edges for line in (a, b)})
        if not shown:
            return ""
        y = {line: 20 + 60 * k for k, line in enumerate(shown)}
        parts = [f"<rect x='20' y='{y[line]}' width='420' height='26' rx='5' fill='white' stroke='black'/><text x='30' y='{y[line] + 17}' font-size='12'>{line}: {html.escape(_source(self.file, line)[:56])}</text>" for line in shown]
        for a, b, why in edges:
            x, dash = (40, "") if why is None else (60, " stroke-dasharray='4'")
            parts.append(f"<line x1='{x}' y1='{y[a] + 26}' x2='{x}' y2='{y[b]}' stroke='gray'{dash}/><text x='{x + 10}' y='{y[b] - 12}' font-size='11'>{html.escape(why or 'one loop')}</text>")
        return f"<p>loops over prange</p><svg width='900' height='{40 + 60 * len(shown)}'>{''.join(parts)}</svg>"


def _at(file, line, own):
    """A place, for a report on a function of the file `own`."""
    from ._lines import cell
    if file == own:
        return f"line {line}"
    return f"{shown}, line {line}" if (shown := cell(file)) else f"{os.path.basename(file)}:{line}"


def _source(file, line):
    from ._lines import line as line_of
    return line_of(file, line).strip()


def _count(n, what):
    return f"{n} {what}{'' if n == 1 else 's'}"


def _listed(rows):
    """Lines of `(place, source, text)`, the source once for those that follow each other."""
    lines, before = [], None
    for place, source, what in rows:
        if place != before:
            lines.append(f"  {place}: {source}")
        lines.append(f"    {what}")
        before = place
    return lines


def _graph(title, steps):
    """The operations of one loop as a drawing: each below those that it reads."""
    depth = []
    for _, reads in steps:
        depth.append(1 + max((depth[k] for k in reads), default=-1))
    place, width = {}, {}
    for k, d in enumerate(depth):
        place[k] = (20 + 130 * width.get(d, 0), 20 + 55 * d)
        width[d] = width.get(d, 0) + 1
    lines = "".join(f"<line x1='{place[r][0] + 55}' y1='{place[r][1] + 26}' x2='{place[k][0] + 55}' y2='{place[k][1]}' stroke='gray'/>" for k, (_, reads) in enumerate(steps) for r in reads)
    boxes = "".join(f"<rect x='{x}' y='{y}' width='110' height='26' rx='5' fill='white' stroke='black'/><text x='{x + 55}' y='{y + 17}' text-anchor='middle' font-size='12'>{html.escape(steps[k][0])}</text>"
                    for k, (x, y) in place.items())
    size = f"width='{40 + 130 * max(width.values())}' height='{60 + 55 * max(depth)}'"
    return f"<p>one loop at {html.escape(title)}</p><svg {size}>{lines}{boxes}</svg>"


class Report(_Page):
    """All compiled functions that are alive: one row for each overload, in `rows` (dicts)."""

    _COLUMNS = ("function", "tier", "first compilation", "tier 1 after", "LLVM took", "loops moved", "note")

    def __init__(self, dispatchers):
        self.rows = []
        for d in dispatchers:
            for i, (args, ret, why) in enumerate(_tierup.overloads(d)):
                o = _overload(d, i, args, ret, why, details=False)
                promoted = o["promoted"]
                self.rows.append({
                    "function": _title(d.__qualname__, o), "tier": "Python" if why else str(o["tier"]) + (", cached" if o["cached"] else ""), "first compilation": "" if why else _ms(sum(o["phases"].values())),
                    "tier 1 after": _ms(promoted[0]) if promoted else "", "LLVM took": _ms(promoted[1]) if promoted else "", "loops moved": str(len(o["moved"]) or ""),
                    "note": (why or o["failed"] or "").split("\n")[0],
                })

    def __str__(self):
        if not self.rows:
            return "nothing is compiled"
        table = [dict(zip(self._COLUMNS, self._COLUMNS)), *self.rows]
        widths = {c: max(len(r[c]) for r in table) for c in self._COLUMNS}
        return "\n".join("  ".join(r[c].ljust(widths[c]) for c in self._COLUMNS).rstrip() for r in table)

    __repr__ = __str__

    def _heading(self):
        return "compiled functions"

    def _repr_html_(self):
        cells = "".join(f"<th style='text-align:left'>{html.escape(c)}</th>" for c in self._COLUMNS)
        body = "".join("<tr>" + "".join(f"<td style='text-align:left'>{html.escape(r[c])}</td>" for c in self._COLUMNS) + "</tr>" for r in self.rows)
        return f"<table><tr>{cells}</tr>{body}</table>"
