"""Every diagnostic that a program can meet has a page, and every page has its diagnostic. The pages themselves run as mdtests."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Reported by no program: a bug in Tierup, an IR text that does not parse, or a Python version that it does not know.
WITHOUT_PAGE = {"parse-error", "verifier-error", "backend-error", "internal-error", "unsupported-bytecode"}


def test_pages_and_codes_agree():
    codes = set(re.findall(r'= "([a-z-]+)", \w+;', (ROOT / "core/src/diag.rs").read_text()))
    pages = {path.stem for path in (ROOT / "docs/diagnostics").glob("*.md")} - {"README"}
    assert len(codes) > 10
    assert pages == codes - WITHOUT_PAGE
