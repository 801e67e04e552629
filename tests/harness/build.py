"""What the build under test has in it."""

import importlib.util
from pathlib import Path

import pytest

_PACKAGE = importlib.util.find_spec("tierup")
BUILT = _PACKAGE is not None and importlib.util.find_spec("tierup._tierup") is not None
LLVM = BUILT and Path(_PACKAGE.origin).with_name("libtierup_tier1.so").exists()
needs_llvm = pytest.mark.skipif(not LLVM, reason="this build has no LLVM")


def needs_cpu(level):
    """For tests of code that a level of x86-64 is wanted for, such as "x86-64-v4" with AVX-512."""
    from tierup import _tierup
    return pytest.mark.skipif(not _tierup.uses_cpu(level), reason=f"code is not made for {level} here")


def needs(*packages):
    """For tests of what Tierup has to do with other packages, which requirements/test.txt names."""
    return pytest.mark.skipif(any(importlib.util.find_spec(p) is None for p in packages), reason=f"{' or '.join(packages)} is not installed")
