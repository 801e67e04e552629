"""Sphinx's settings for the documentation: `sphinx-build -c scripts/site . target/docs` (`make docs`).

Pages lie where their sources do, so that links between them hold on GitHub as on the site. What is in the sidebar, and in which order, is what `docs/README.md` and the README of a
folder list: no other list has to be kept in step.
"""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

project = "Tierup"
version = release = re.search(r'__version__ = "(.+)"', (ROOT / "pybind/python/tierup/__init__.py").read_text(encoding="utf-8"))[1]
extensions = ["myst_parser"]
include_patterns = ["README.md", "ARCHITECTURE.md", "CHANGELOG.md", "docs/**"]
root_doc = "docs/README"

# Anchors as GitHub makes them; links to sources give the file.
myst_heading_anchors = 6
myst_enable_extensions = []

# Blocks show console sessions, IRs and messages beside Python.
highlight_language = "none"
suppress_warnings = ["misc.highlighting_failure", "myst.header"]

html_theme = "furo"
html_title = f"Tierup {version}"
html_show_copyright = False
html_copy_source = False

LINK = re.compile(r"\[([^\]]+)\]\(([^)#]+\.md)\)")


def contents(page, text):
    """Tables of contents for the sidebar, by the headings over the links of a page; each page once, where it is named first. Sphinx wants them as directives."""
    out, seen, heading = [], set(), ""
    for line in text.splitlines():
        if line.startswith("## "):
            heading = line[3:]
            out.append((heading, []))
        for title, path in LINK.findall(line):
            target = (ROOT / page.parent / path).resolve().relative_to(ROOT)
            if out and target not in seen and target != page:
                seen.add(target)
                out[-1][1].append((title, target.with_suffix("")))
    return "".join(_toctree(heading, [f"{title} </{target}>" for title, target in links]) for heading, links in out if links)


def _toctree(caption, entries):
    return f"\n```{{toctree}}\n:hidden:\n:caption: {caption}\n\n" + "\n".join(entries) + "\n```\n"


def add_contents(app, docname, source):
    if docname == root_doc:
        # The page's own README comes first.
        source[0] += _toctree("Tierup", ["About </README>"]) + contents(Path(docname + ".md"), source[0])
    elif docname.endswith("/README"):
        folder = ROOT / Path(docname).parent
        pages = sorted(p.stem for p in folder.glob("*.md") if p.stem != "README")
        source[0] += _toctree("", pages).replace(":caption: \n", "")


def add_start(app, error):
    """The site begins at its root."""
    if error is None:
        text = f'<!doctype html><meta charset=utf-8><title>Tierup</title><meta http-equiv=refresh content="0; url={root_doc}.html"><a href="{root_doc}.html">Tierup</a>\n'
        (Path(app.outdir) / "index.html").write_text(text, encoding="utf-8")


def setup(app):
    app.connect("source-read", add_contents)
    app.connect("build-finished", add_start)
    return {"parallel_read_safe": True}
