"""Wraps paragraphs and list items of Markdown pages at 110 columns: `wrap_docs.py PAGE …`. Code, tables, headings and generated parts stay as they are."""

import re
import sys
import textwrap
from pathlib import Path

WIDTH = 110


def whole(match):
    """A code span or a link, which no line break divides."""
    return match[0].replace(" ", "\0")


def fill(lines, first, rest):
    text = re.sub(r"\[[^\]]{0,60}\]\([^)]*\)", whole, re.sub(r"`[^`]+`", whole, " ".join(line.strip() for line in lines)))
    wrapped = textwrap.wrap(text, WIDTH, initial_indent=first, subsequent_indent=rest, break_long_words=False, break_on_hyphens=False)
    return [line.replace("\0", " ") for line in wrapped]


def wrap(text):
    out, held, first, rest, code, generated = [], [], "", "", False, False

    def flush():
        out.extend(fill(held, first, rest) if held else [])
        held.clear()

    for line in text.splitlines():
        item = re.match(r"(\s*)([*-]|\d+\.)\s+", line)
        code ^= line.startswith("```")
        generated = line.startswith("<!-- ") or generated and not out[-1].startswith("<!-- end")
        if line.startswith("```") or code or generated:
            flush()
            out.append(line)
        elif not line.strip() or line.startswith(("#", "|")):
            flush()
            out.append(line.rstrip())
        elif item:
            flush()
            first, rest = item[0], " " * len(item[0])
            held.append(line[len(first):])
        else:
            # A paragraph begins where nothing is held, or where a list item is left.
            if not held or rest and not line.startswith(" "):
                flush()
                first = rest = ""
            held.append(line)
    flush()
    return "\n".join(out) + "\n"


if __name__ == "__main__":
    for page in map(Path, sys.argv[1:]):
        page.write_text(wrap(page.read_text()))
