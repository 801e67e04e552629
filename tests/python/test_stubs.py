"""Stubs name what modules have, no more and no less, with the parameters that functions have. `make test-types` asks mypy and pyright about them."""

import ast
import importlib
import inspect
import sys
from pathlib import Path

import pytest

tierup = pytest.importorskip("tierup")
ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import api_docs  # noqa: E402
import generate_stubs  # noqa: E402

BY_HAND = ["tierup", "tierup.par", "tierup.rules", "tierup.simd", "tierup.typed", "tierup.experimental", "tierup.experimental.structref"]


def stub(module):
    source = Path(module.__file__)
    return ast.parse((source.with_suffix(".pyi") if source.name != "__init__.py" else source.with_name("__init__.pyi")).read_text(encoding="utf-8"))


def names(tree):
    """What a stub has for others."""
    found = set()
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, ast.AnnAssign):
            found.add(node.target.id)
        elif isinstance(node, ast.ImportFrom):
            found |= {a.asname for a in node.names if a.asname}
    return {n for n in found if not n.startswith("_")}


def test_generated_stubs_are_current():
    # Signatures of builtins look a little different on each Python.
    if sys.version_info[:2] == (3, 11):
        assert not generate_stubs.outdated(), "python scripts/generate_stubs.py writes them"


def test_every_public_module_has_a_stub():
    assert (ROOT / "pybind/python/tierup/py.typed").exists()
    assert {*api_docs.MODULES, "tierup.config"} == {*BY_HAND, *(f"tierup.{m}" for m in generate_stubs.MODULES)}


@pytest.mark.parametrize("module", BY_HAND)
def test_stubs_by_hand_have_the_names(module):
    found = importlib.import_module(module)
    public = {n for n, _ in api_docs.public(found)}
    assert public - names(stub(found)) == set()


@pytest.mark.parametrize("module", BY_HAND)
def test_parameters_of_functions_are_in_the_stub(module):
    found = importlib.import_module(module)
    declared, unnamed = {}, set()
    for node in stub(found).body:
        if isinstance(node, ast.FunctionDef):
            a = node.args
            declared.setdefault(node.name, set()).update(p.arg for p in (*a.posonlyargs, *a.args, *a.kwonlyargs) if p.arg)
            unnamed |= {node.name} if a.posonlyargs else set()
    missing = []
    for name, value in api_docs.public(found):
        if name in declared and inspect.isfunction(value):
            # What a decorator takes first has no name of its own.
            given = list(inspect.signature(value).parameters.values())[name in unnamed:]
            missing += [f"{name}({p.name})" for p in given if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY) and p.name not in declared[name]]
    assert not missing
