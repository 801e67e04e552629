"""Known failures: `tests/expect.toml`, strict both ways.

A test listed there must fail, and a listed test that passes is an error, so the file cannot rot. Rust filetests read the same file.
"""

import fnmatch
import tomllib
from pathlib import Path

FILE = Path(__file__).resolve().parents[1] / "expect.toml"


class Known:
    """One entry: which tests of which suite are known to fail, and why."""

    def __init__(self, entry):
        extra = set(entry) - {"suite", "test", "tiers", "reason"}
        if extra or not {"suite", "test", "reason"} <= set(entry):
            raise ValueError(f"{FILE.name}: an entry has suite, test, reason and perhaps tiers; this one is {entry}")
        self.suite, self.test, self.reason = entry["suite"], entry["test"], entry["reason"]
        self.tiers = entry.get("tiers")
        self.used = 0

    def fits(self, suite, test, tier):
        return self.suite == suite and (self.tiers is None or tier in self.tiers) and (self.test == test or fnmatch.fnmatchcase(test, self.test))


def load():
    return [Known(entry) for entry in tomllib.loads(FILE.read_text()).get("known", [])]


_ENTRIES = None


def reason(suite, test, tier):
    """Why this test is known to fail, or None."""
    global _ENTRIES
    if _ENTRIES is None:
        _ENTRIES = load()
    for entry in _ENTRIES:
        if entry.fits(suite, test, tier):
            entry.used += 1
            return entry.reason
    return None


def settle(suite, test, tier, failure):
    """What a test that ended with `failure` (text, or None) amounts to: the text to report, or None when all is as expected."""
    known = reason(suite, test, tier)
    if known is None:
        return failure
    if failure is None:
        return f"passes, but tests/expect.toml lists it as a known failure ({known}): remove the entry"
    return None
