"""Writes the parts of `docs/` that are made of the sources: `generate_docs.py [--check]`.

A part stands between `<!-- generated: NAME -->` and `<!-- end -->` on a page; `PARTS` says what NAME is made of. With `--check`
nothing is written, and pages that are out of date are named (`tests/python/test_docs.py` asks the same). Tables of operations and
of LIR instructions are made by `tests/src/docs.rs`, which has the compiler at hand. For the API reference (`api_docs.py`) Tierup must be built.
"""

import ast
import re
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
PART = re.compile(r"(<!-- generated: ([a-z-]+) -->\n).*?(<!-- end -->)", re.S)


def slug(heading):
    """The anchor of a heading, as GitHub and the site make it."""
    return re.sub(r"[^\w -]", "", re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", heading).lower()).replace(" ", "-")


def title(page):
    return next(line.lstrip("# ") for line in page.read_text().splitlines() if line.startswith("# "))


def assigned(path):
    """What a Python file assigns to names at its top, as syntax: nothing of it is run."""
    body = ast.parse((ROOT / path).read_text()).body
    return {target.id: node.value for node in body if isinstance(node, ast.Assign) for target in node.targets if isinstance(target, ast.Name)}


def decisions(page):
    """Every decision in one line, by subject."""
    out = []
    for subject in sorted(p for p in page.parent.glob("*.md") if p != page):
        name = title(subject).removeprefix("Decisions: ")
        out.append(f"\n### [{name[0].upper()}{name[1:]}]({subject.name})\n\n")
        out += [f"- [{line[3:]}]({subject.name}#{slug(line[3:])})\n" for line in subject.read_text().splitlines() if line.startswith("## ")]
    return "".join(out) + "\n"


def settings(page):
    """The table of `tierup.config`, read without importing it: name, variable, default, meaning, Numba's variable."""
    names = assigned("pybind/python/tierup/config.py")
    dumps = ast.literal_eval(names["_DUMPS"])
    out = ["| setting | variable | default | meaning | Numba's variable |\n|---|---|---|---|---|\n"]
    for name, row in zip(names["_TABLE"].keys, names["_TABLE"].values):
        variable, _, default, meaning, numba = row.elts
        default = "processors of the process" if isinstance(default, ast.Call) else ast.literal_eval(default)
        text = meaning.value if isinstance(meaning, ast.Constant) else meaning.left.value + ", ".join(dumps)
        shown = "none" if default is None or default in ("", ()) else default
        out.append(f"| `{name.value}` | `{variable.value}` | {shown} | {text} | {f'`{numba.value}`' if numba.value else ''} |\n")
    return "".join(out)


def diagnostics(page):
    """Codes that a program can meet, with the exception that reports them: those that have a page."""
    rows = re.findall(r'///\s*(.+)\n\s*\w+ = "([a-z-]+)", (\w+);', (ROOT / "core/src/diag.rs").read_text())
    return "| code | exception | what is wrong |\n|---|---|---|\n" + "".join(
        f"| [{code}]({code}.md) | `{exception}` | {summary} |\n" for summary, code, exception in rows if (page.parent / f"{code}.md").exists())


def listed(names):
    return textwrap.fill(", ".join(f"`{name}`" for name in names), 110) + "\n"


def options(page):
    """Options that `jit` and `njit` take beside those in the table of the page."""
    described = {line.split("`")[1] for line in page.read_text().splitlines() if line.startswith("| `")}
    known = ast.literal_eval(assigned("pybind/python/tierup/_jit.py")["_OPTIONS"])
    return listed(sorted(name for name in known - described if not name.startswith("_")))


def parallel_parts(page):
    """Names that a dictionary for `parallel=` may have."""
    return listed(ast.literal_eval(assigned("pybind/python/tierup/_jit.py")["_PARALLEL"]))


def api(page):
    """Everything public, by module, out of docstrings."""
    import api_docs
    return api_docs.text()


PARTS = {"api": api, "decisions": decisions, "settings": settings, "diagnostics": diagnostics, "options": options, "parallel-parts": parallel_parts}


def current(page):
    """The page as it should be."""
    return PART.sub(lambda m: m[1] + PARTS[m[2]](page) + m[3], page.read_text())


def outdated():
    """Pages that are not as they should be, with their new text."""
    pages = ((page, page.read_text(), current(page)) for page in sorted(DOCS.rglob("*.md")))
    return {page: want for page, have, want in pages if have != want}


if __name__ == "__main__":
    found = outdated()
    for page, text in found.items():
        print(page.relative_to(ROOT))
        if "--check" not in sys.argv:
            page.write_text(text)
    sys.exit("--check" in sys.argv and bool(found))
