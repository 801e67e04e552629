"""One HTML page from a benchmark report: tables, and bars drawn as inline SVG, so that the page needs nothing else."""

import html
import math

STYLE = ("body{font:15px/1.5 system-ui,sans-serif;max-width:1000px;margin:2em auto;color:#222}table{border-collapse:collapse}td,th{padding:2px 10px;text-align:right;border-bottom:1px solid #ddd}"
         "td:first-child,th:first-child{text-align:left}h2{margin-top:2em}.bad{color:#b00}")
TITLES = {"import": "Import beside NumPy, milliseconds", "first": "First call in a fresh process, milliseconds", "warm": "First call in a second process, with and without the code cache, milliseconds", "steady": "Steady state of tier 0, milliseconds", "steady1": "Steady state of tier 1, milliseconds", "overhead": "Call overhead, nanoseconds",
          "size": "Compile time against function size, milliseconds", "bounds": "Bounds checks on and off, milliseconds", "package": "An open package's own tests, milliseconds", "switch": "A running loop goes over, cold, milliseconds after the beginning of the call",
          "promotion": "Longest gap on the calling thread because of a promotion, milliseconds of processor time", "c": "Steady state of tier 1 against C, milliseconds", "arrays": "Programs on whole arrays, serial and parallel, milliseconds", "arrays-first": "First calls of programs on whole arrays, serial and parallel, milliseconds",
          "expressions": "Expressions of a million elements, milliseconds", "memory": "Memory-bound expressions against C with OpenMP, milliseconds",
          "functions": "Elementary functions in loops, nanoseconds", "draws": "Random numbers, nanoseconds", "matrices": "Linear algebra of small matrices, nanoseconds",
          "weights": "C with the profile of a run before, milliseconds", "curve": "Total time against work, milliseconds", "curve1": "Total time against work on one core, milliseconds"}


def bars(rows, keys, unit):
    """Horizontal bars on a logarithmic axis, one group a row."""
    values = [row[k] for row in rows.values() for k in keys if (row.get(k) or 0) > 0]
    if not values:
        return ""
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    span, left, width, step = max(high - low, 1), 170, 760, 9 * len(keys) + 9
    x = lambda v: left + (math.log10(v) - low) / span * width
    parts = [f'<svg width="{left + width + 60}" height="{step * len(rows) + 40}" font-size="12" font-family="sans-serif">']
    for power in range(low, high + 1):
        at = x(10.0 ** power)
        parts.append(f'<line x1="{at:.1f}" y1="0" x2="{at:.1f}" y2="{step * len(rows) + 10}" stroke="#ddd"/><text x="{at:.1f}" y="{step * len(rows) + 26}" text-anchor="middle">{10.0 ** power:g} {unit}</text>')
    colours = ["#2563eb", "#f59e0b", "#64748b", "#16a34a", "#b45309", "#7c3aed"]
    for i, (name, row) in enumerate(rows.items()):
        y = i * step + 4
        parts.append(f'<text x="{left - 8}" y="{y + step / 2:.0f}" text-anchor="end">{html.escape(name)}</text>')
        for j, key in enumerate(keys):
            if (row.get(key) or 0) > 0:
                parts.append(f'<rect x="{left}" y="{y + 9 * j}" width="{max(x(row[key]) - left, 1):.1f}" height="8" fill="{colours[j % len(colours)]}"><title>{html.escape(name)} {key}: {row[key]:.4g}</title></rect>')
    legend = "".join(f'<tspan fill="{colours[j % len(colours)]}"> ■ {html.escape(k)}  </tspan>' for j, k in enumerate(keys))
    return "".join(parts) + f'<text x="{left}" y="{step * len(rows) + 39}">{legend}</text></svg>'


def curves(rows):
    """One small plot a program, both axes logarithmic: work across, total time up."""
    sides = {"tierup_ms": "#2563eb", "tier0_ms": "#64748b", "tier1_ms": "#16a34a", "numba_ms": "#f59e0b"}
    programs = {}
    for name, row in rows.items():
        program, _, amount = name.partition(" x ")
        programs.setdefault(program, []).append((math.log10(float(amount)), row))
    width, height, left, top = 300, 200, 40, 18
    parts = ["<p>" + "".join(f'<span style="color:{c}">■ {k.removesuffix("_ms")} </span>' for k, c in sides.items()) + "(total in ms, against work in units of about 10 µs of tier 0)</p>"]
    for program, points in programs.items():
        logs = [math.log10(max(row[k], 1e-3)) for _, row in points for k in sides]
        low, high = math.floor(min(logs)), math.ceil(max(logs))
        x = lambda v: left + v / 6 * (width - left - 10)
        y = lambda v: top + (high - v) / max(high - low, 1) * (height - top - 24)
        plot = [f'<svg width="{width}" height="{height}" font-size="11" font-family="sans-serif"><text x="{left}" y="12">{html.escape(program)}</text>']
        plot += [f'<line x1="{left}" x2="{width - 10}" y1="{y(p):.1f}" y2="{y(p):.1f}" stroke="#ddd"/><text x="{left - 4}" y="{y(p) + 4:.1f}" text-anchor="end">{10.0 ** p:g}</text>' for p in range(low, high + 1)]
        plot += [f'<text x="{x(p):.1f}" y="{height - 6}" text-anchor="middle">1e{p}</text>' for p in range(0, 7, 2)]
        for key, colour in sides.items():
            line = " ".join(f"{x(s):.1f},{y(math.log10(max(row[key], 1e-3))):.1f}" for s, row in points)
            plot.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
        plot += [f'<circle cx="{x(s):.1f}" cy="{y(math.log10(max(row["tierup_ms"], 1e-3))):.1f}" r="3" fill="#b00"><title>{html.escape(program)} x {10 ** s:.3g}: {row["tierup_ms"]:.4g} ms</title></circle>'
                 for s, row in points if not (row["good"] and row["ahead"])]
        parts.append("".join(plot) + "</svg>")
    return "".join(parts)


def table(rows):
    keys = list(dict.fromkeys(k for row in rows.values() for k in row))
    shown = lambda v: ("yes" if v else "no") if isinstance(v, bool) else f"{v:.4g}" if isinstance(v, (int, float)) else html.escape(str(v))
    body = "".join(f"<tr><td>{html.escape(name)}</td>" + "".join(f"<td>{shown(row[k]) if k in row else ''}</td>" for k in keys) + "</tr>" for name, row in rows.items())
    return f"<table><tr><th></th>{''.join(f'<th>{html.escape(k)}</th>' for k in keys)}</tr>{body}</table>"


def write_html(report, path):
    machine = report["machine"]
    page = [f"<!doctype html><meta charset=utf-8><title>Tierup benchmarks</title><style>{STYLE}</style><h1>Tierup benchmarks</h1>",
            f"<p>{html.escape(', '.join(f'{k}: {v}' for k, v in machine.items()))}</p>"]
    if "summary" in report:
        page.append("<h2>Summary</h2>" + table({name: row for name, row in report["summary"].items()}))
    for view, title in TITLES.items():
        rows = report.get(view)
        if not rows:
            continue
        if view == "overhead":
            rows = rows.get("overhead", rows)
        keys = [k for k in next(iter(rows.values())) if k.endswith(("_ms", "_ns")) and "second" not in k and k != "numpy_ms"]
        if view.startswith("curve"):
            page.append(f"<h2>{title}</h2>{curves(rows)}{table(rows)}")
            continue
        page.append(f"<h2>{title}</h2>{bars(rows, keys, 'ns' if view == 'overhead' else 'ms')}{table(rows)}")
    if report["failures"]:
        page.append("<h2>Failed</h2>" + "".join(f"<p class=bad>{html.escape(f)}</p>" for f in report["failures"]))
    path.write_text("".join(page) + "\n")
