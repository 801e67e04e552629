"""Writes the parts of `docs/` that are made of the sources: `generate_docs.py [--check]`.

A part stands between `<!-- generated: NAME -->` and `<!-- end -->` on a page; `PARTS` says what NAME is made of. With `--check`
nothing is written, and pages that are out of date are named (`tests/python/test_docs.py` asks the same). Tables of operations and
of LIR instructions are made by `tests/src/docs.rs`, which has the compiler at hand.
"""

import re
import sys
from pathlib import Path

from build_docs import slug

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
PART = re.compile(r"(<!-- generated: ([a-z-]+) -->\n).*?(<!-- end -->)", re.S)


def title(page):
    return next(line.lstrip("# ") for line in page.read_text().splitlines() if line.startswith("# "))


def decisions(page):
    """Every decision in one line, by subject."""
    out = []
    for subject in sorted(p for p in page.parent.glob("*.md") if p != page):
        name = title(subject).removeprefix("Decisions: ")
        out.append(f"\n### [{name[0].upper()}{name[1:]}]({subject.name})\n\n")
        out += [f"- [{line[3:]}]({subject.name}#{slug(line[3:])})\n" for line in subject.read_text().splitlines() if line.startswith("## ")]
    return "".join(out) + "\n"


PARTS = {"decisions": decisions}


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
