"""Turns `docs/**/*.md`, README.md and ARCHITECTURE.md into HTML pages with an index: `build_docs.py OUT`. Pages lie as their sources do, so links between them hold.

The Markdown that the pages use is small (headings, paragraphs, lists, tables, fenced code, `code`, links, emphasis), so no package is needed for it.
"""

import html
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
STYLE = ("body{font:16px/1.6 system-ui,sans-serif;max-width:900px;margin:2em auto;padding:0 1em;color:#222}pre{background:#f6f8fa;padding:12px;overflow:auto}"
         "code{background:#f6f8fa}td,th{border-bottom:1px solid #ddd;padding:2px 12px 2px 0;text-align:left;vertical-align:top}")


def inline(text):
    """Spans within a line; code first, so that nothing inside it is touched."""
    parts = re.split(r"(`[^`]+`)", text)
    for i, part in enumerate(parts):
        if part.startswith("`") and len(part) > 2:
            parts[i] = f"<code>{html.escape(part[1:-1])}</code>"
            continue
        part = html.escape(part, quote=False)
        part = re.sub(r"\[([^\]]+)\]\(([^)]+)\)", lambda m: f'<a href="{re.sub(r"[.]md(#|$)", r".html" + chr(92) + "1", m[2])}">{m[1]}</a>', part)
        part = re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", part)
        parts[i] = re.sub(r"(?<![\w*])\*(?!\s)(.+?)(?<!\s)\*(?![\w*])", r"<i>\1</i>", part)
    return "".join(parts)


def slug(heading):
    """The anchor of a heading, as GitHub makes it."""
    return re.sub(r"[^\w -]", "", re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", heading).lower()).replace(" ", "-")


def table_row(line, tag):
    cells = [cell.replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))]
    return "<tr>" + "".join(f"<{tag}>{inline(c.strip())}</{tag}>" for c in cells) + "</tr>"


def to_html(text):
    out, lines, i = [], text.splitlines(), 0
    while i < len(lines):
        line = lines[i]
        if line.startswith("```"):
            end = next((k for k in range(i + 1, len(lines)) if lines[k].startswith("```")), len(lines))
            out.append(f"<pre>{html.escape(chr(10).join(lines[i + 1:end]))}</pre>")
            i = end + 1
        elif m := re.match(r"(#{1,6})\s+(.*)", line):
            out.append(f'<h{len(m[1])} id="{slug(m[2])}">{inline(m[2])}</h{len(m[1])}>')
            i += 1
        elif line.startswith("|") and i + 1 < len(lines) and re.match(r"\|[\s:|-]+\|?$", lines[i + 1]):
            end = next((k for k in range(i, len(lines)) if not lines[k].startswith("|")), len(lines))
            out.append("<table>" + table_row(line, "th") + "".join(table_row(row, "td") for row in lines[i + 2:end]) + "</table>")
            i = end
        elif m := re.match(r"\s*([*-]|\d+\.)\s+", line):
            kind = "ol" if m[1][0].isdigit() else "ul"
            items = []
            while i < len(lines) and lines[i].strip() and (re.match(r"\s*([*-]|\d+\.)\s+", lines[i]) or lines[i].startswith(" ")):
                start = re.match(r"\s*([*-]|\d+\.)\s+(.*)", lines[i])
                if start:
                    items.append(start[2])
                else:
                    items[-1] += " " + lines[i].strip()
                i += 1
            out.append(f"<{kind}>" + "".join(f"<li>{inline(item)}</li>" for item in items) + f"</{kind}>")
        elif not line.strip() or line.startswith("<!--"):
            i += 1
        else:
            paragraph = []
            while i < len(lines) and lines[i].strip() and not re.match(r"```|<!--|#{1,6}\s|\||\s*([*-]|\d+\.)\s", lines[i]):
                paragraph.append(lines[i])
                i += 1
            out.append(f"<p>{inline(' '.join(paragraph or [lines[i]]))}</p>")
            i += not paragraph
    return "\n".join(out)


def main(out):
    out.mkdir(parents=True, exist_ok=True)
    pages = [ROOT / "README.md", ROOT / "ARCHITECTURE.md", *sorted((ROOT / "docs").rglob("*.md"))]
    index = []
    for page in filter(Path.exists, pages):
        text = page.read_text()
        title = next((line.lstrip("# ") for line in text.splitlines() if line.startswith("#")), page.stem)
        relative = page.relative_to(ROOT).with_suffix(".html")
        target = out / relative
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(f"<!doctype html><meta charset=utf-8><title>{html.escape(title)}</title><style>{STYLE}</style>{to_html(text)}\n")
        index.append(f'<li><a href="{relative}">{inline(title)}</a></li>')
    (out / "index.html").write_text(f"<!doctype html><meta charset=utf-8><title>Tierup</title><style>{STYLE}</style><h1>Tierup</h1><ul>{''.join(index)}</ul>\n")
    print(f"{len(index)} pages in {out}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
