"""The documentation: every link and every path leads somewhere, generated parts are current, pages are short. Examples of the guide run as mdtests."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from harness.build import needs

tierup = pytest.importorskip("tierup")

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import api_docs  # noqa: E402
import generate_docs  # noqa: E402

PAGES = [ROOT / "README.md", ROOT / "ARCHITECTURE.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]
TOP = ("core", "tier0-cranelift", "tier1-llvm", "runtime", "pybind", "tests", "benches", "docs", "scripts", "examples")
# Words of a page that a reader reads in five minutes, tables and code left out.
LONGEST = 1250
WIDEST = 110


def prose(page):
    """(number, line) of all that is neither code nor a table."""
    code = False
    for number, line in enumerate(page.read_text().splitlines(), 1):
        if line.startswith("```"):
            code = not code
        elif not code and not line.startswith("|"):
            yield number, line


def named(page):
    return str(page.relative_to(ROOT))


def missing(page, path):
    """Whether `path`, a file or a folder relative to the root, is not there. A pattern must match something."""
    return not (any(ROOT.glob(path)) if "*" in path else (ROOT / path).exists())


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_links_lead_somewhere(page):
    broken, is_code = [], False
    for number, line in enumerate(page.read_text().splitlines(), 1):
        # `Channel[int](4)` is no link.
        is_code ^= line.startswith("```")
        if is_code:
            continue
        for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`]*`", "", line)):
            if re.match(r"\w+:", target):
                continue
            path, _, anchor = target.partition("#")
            to = (page.parent / path).resolve() if path else page
            if not to.exists() or to.is_dir():
                broken.append(f"{number}: {target} is no page")
            elif anchor and anchor not in {generate_docs.slug(line.lstrip("# ")) for line in to.read_text().splitlines() if line.startswith("#")}:
                broken.append(f"{number}: {target} has no such heading")
    assert not broken, "\n".join(broken)


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_paths_that_pages_name_exist(page):
    found = re.findall(rf"`((?:{'|'.join(TOP)})/[\w./*-]*)(?:::[^`]*)?`", page.read_text())
    broken = sorted({path for path in found if missing(page, path)})
    assert not broken, broken


def test_names_that_pages_look_for_are_in_the_files():
    """`core/src/lir/osr.rs` (`set_levels`): the file has that name."""
    found = [(named(page), *m) for page in PAGES for m in re.findall(r"`([\w/.-]+\.(?:rs|py))`\s\(`(?:\w+::)*(\w+)`\)", page.read_text())]
    assert len(found) > 20
    assert not [place for place in found if place[2] not in (ROOT / place[1]).read_text()]


def test_pages_that_sources_name_exist():
    tracked = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True).stdout.split()
    if not tracked:
        pytest.skip("not a checkout")
    seen, broken = 0, []
    for name in tracked:
        if not name.endswith((".rs", ".py", ".pyi", ".toml", ".sh", ".md", "Makefile")) or not (ROOT / name).is_file():
            continue
        for path in re.findall(r"(?<![\w/.-])docs/[\w/-]+\.md|\b(?:ARCHITECTURE|README)\.md", (ROOT / name).read_text()):
            seen += 1
            if missing(ROOT / name, path) and not ((ROOT / name).parent / path).exists():
                broken.append(f"{name}: {path}")
    assert seen > 20 and not broken, broken


def test_variables_of_the_tests_are_described():
    found = set()
    for path in (ROOT / "Makefile", *(ROOT / "tests").rglob("*.py"), *(ROOT / "tests/src").rglob("*.rs")):
        found |= set(re.findall(r"\bTIERUP_(?:TEST\w+|BLESS)\b", path.read_text()))
    page = (ROOT / "docs/testing.md").read_text()
    assert len(found) >= 5 and not {name for name in found if f"| `{name}` |" not in page}


def test_generated_parts_are_current():
    outdated = {named(page) for page in generate_docs.outdated()}
    # Signatures and docstrings look a little different on each Python: that page is written by the oldest one.
    if sys.version_info[:2] != (3, 11):
        outdated.discard("docs/reference/api.md")
    assert not outdated, "python scripts/generate_docs.py writes them"
    used = {name for page in PAGES for _, name, _ in generate_docs.PART.findall(page.read_text())}
    assert used == set(generate_docs.PARTS)


def test_every_public_name_says_what_it_is():
    """And so has a row in the API reference, which is made of the same names."""
    assert not api_docs.undocumented()


def test_the_api_reference_has_what_programs_import():
    text = api_docs.text()
    assert {name for name in tierup.__all__ if f"| `{name}" not in text} == set()
    assert "| `explain(self, signature=None)` | What became of the function" in text and "](../../pybind/python/tierup/_cfunc.py)" in text


def test_what_says_nothing_of_itself_is_found():
    class Silent:
        def member(self): ...
    assert api_docs.said(Silent) is None and api_docs.said(lambda: 0) is None and api_docs.said(3.5) is None
    assert [name for name, _ in api_docs.members(Silent)] == ["member"]


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_rows_of_tables_have_as_many_cells_as_their_head(page):
    code, columns, broken = False, 0, []
    for number, line in enumerate(page.read_text().splitlines(), 1):
        code ^= line.startswith("```")
        cells = len(re.split(r"(?<!\\)\|", line.strip().strip("|"))) if line.startswith("|") and not code else 0
        if columns and cells and cells != columns:
            broken.append(number)
        columns = (columns or cells) if cells else 0
    assert not broken, f"lines {broken}: a | inside a cell is written \\|"


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_pages_are_short_and_narrow(page):
    lines = list(prose(page))
    # Nobody reads an index from its beginning to its end.
    words = sum(len(line.split()) for _, line in lines if not line.startswith("- ["))
    assert words <= LONGEST, f"{words} words"
    # A link or a generated line may be longer than a line should be.
    wide = [number for number, line in lines if len(line) > WIDEST and "](" not in line and not line.startswith(("#", "<!--"))]
    assert not wide, f"lines {wide} are wider than {WIDEST} columns: python scripts/wrap_docs.py {named(page)}"


def test_every_decision_says_what_was_decided():
    broken = []
    for page in sorted((ROOT / "docs/decisions").glob("*.md")):
        if page.name != "README.md":
            sections = re.split(r"^## ", page.read_text(), flags=re.M)[1:]
            broken += [f"{page.name}: {s.splitlines()[0]}" for s in sections if "**Decision.**" not in s]
    assert not broken, broken


def test_every_page_is_reached_from_the_first_one():
    waiting = [ROOT / "docs/README.md"]
    seen = {*waiting}
    for page in waiting:
        for target in re.findall(r"\]\(([^)\s#]+\.md)", page.read_text()):
            to = (page.parent / target).resolve()
            if to not in seen:
                seen.add(to)
                waiting.append(to)
    assert not {named(page) for page in PAGES} - {named(page) for page in seen}


def test_the_changelog_begins_with_this_version():
    first = next(line for line in (ROOT / "CHANGELOG.md").read_text().splitlines() if line.startswith("## "))
    assert first.split(",")[0] == f"## {tierup.__version__}"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site as `make docs` makes it, where a link that leads nowhere is an error."""
    out = tmp_path_factory.mktemp("site")
    done = subprocess.run([sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-d", str(out / "read"), "-c", "scripts/site", ".", str(out / "html")], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return out / "html"


@pytest.mark.slow
@needs("sphinx", "myst_parser", "furo")
def test_the_site_has_every_page_in_its_sidebar_and_in_its_search(site):
    pages = {named(page).removesuffix(".md") for page in PAGES}
    assert {str(p.relative_to(site).with_suffix("")) for p in site.rglob("*.html")} - {"index", "search", "genindex"} == pages
    first = (site / "docs/README.html").read_text(encoding="utf-8")
    sidebar = first[first.index('<div class="sidebar-tree">'):first.index('<div class="content">')]
    linked = {str((site / "docs" / target).resolve().relative_to(site.resolve()).with_suffix("")) for target in re.findall(r'href="([^":#]+\.html)"', sidebar)}
    # Pages of a folder stand below that folder's own.
    assert {page for page in pages if not re.match("docs/(decisions|diagnostics)/(?!README)", page)} - linked <= {"docs/README"}
    index = (site / "searchindex.js").read_text(encoding="utf-8")
    assert all(f'"{page}' in index for page in pages) and "precompil" in index
    assert "url=docs/README.html" in (site / "index.html").read_text(encoding="utf-8")


@pytest.mark.slow
@needs("sphinx", "myst_parser", "furo")
def test_links_of_the_site_lead_somewhere(site):
    texts = {page.resolve(): page.read_text(encoding="utf-8") for page in site.rglob("*.html")}
    broken = []
    for page, text in texts.items():
        for target in re.findall(r'href="([^"]+)"', text):
            path, _, anchor = target.partition("#")
            to = (page.parent / path.partition("?")[0]).resolve() if path else page
            if re.match(r"\w+:", target):
                continue
            if not to.exists() or anchor and to in texts and f'id="{anchor}"' not in texts[to]:
                broken.append(f"{page.relative_to(site.resolve())}: {target}")
    assert not broken, broken[:20]
