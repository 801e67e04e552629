"""Whose code a function is: known from where the package lies, not from names in a path."""

import importlib.util
import traceback

import pytest

tierup = pytest.importorskip("tierup")

SOURCE = '''
def fails(x):
    if x > 2:
        raise ValueError("too much")
    return x

def grows(x):
    return x + 9223372036854775807
'''


@pytest.fixture(params=["builtin.py", "<stencil>", "mine.py"])
def module(request, tmp_path):
    """A user's module in a folder that is called like ours."""
    path = tmp_path / "tierup" / "lib" / request.param
    path.parent.mkdir(parents=True)
    path.write_text(SOURCE)
    spec = importlib.util.spec_from_loader("mine", importlib.machinery.SourceFileLoader("mine", str(path)))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_users_function_in_such_a_folder_has_a_frame(module):
    fails = tierup.njit(module.fails)

    @tierup.njit
    def outer(x):
        return fails(x)

    with pytest.raises(ValueError, match="too much") as caught:
        outer(3)
    frames = traceback.extract_tb(caught.value.__traceback__)
    assert [f.name for f in frames][-2:] == ["outer", "fails"] and frames[-1].filename == module.__file__


def test_its_integers_are_checked_as_the_users(module):
    grows = tierup.jit(overflow="raise")(module.grows)
    assert grows(0) == 9223372036854775807
    with pytest.raises(OverflowError):
        grows(1)


def test_a_type_error_in_it_is_shown_at_its_own_line(module):
    fails = tierup.njit(module.fails)

    @tierup.njit
    def outer(x):
        return fails(x)

    with pytest.raises(TypeError) as caught:
        outer("text")
    assert module.__file__ in str(caught.value) and "if x > 2" in str(caught.value)


def test_library_functions_have_no_frame():
    @tierup.njit
    def f(a):
        return sorted(a, key=lambda x: 1 // x)

    with pytest.raises(ZeroDivisionError) as caught:
        f([1, 0])
    assert all("lib" not in f.filename.split("/")[-2:-1] for f in traceback.extract_tb(caught.value.__traceback__))
