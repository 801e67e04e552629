"""Code for values of arguments, seen from Python: overloads, options, plain Python. What such functions compute is for the mdtests."""

import os
import pickle
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from harness.processes import HANG

tierup = pytest.importorskip("tierup")
from tierup import jit, njit, static, unroll  # noqa: E402

SIZE = 3


@njit(specialize=("n",))
def module_level(n):
    return "two" if n == 2 else n


def run(program, **environment):
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=HANG, env={**os.environ, **environment})
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_each_value_has_an_overload_and_is_compiled_once():
    @njit
    def f(x, n):
        return x + static(n)
    for n in (1, 2, 1, 2, 1):
        assert f(2.5, n) == 2.5 + n
    assert len(f.signatures) == 2


def test_a_value_is_told_from_an_equal_one_of_another_type():
    @njit(specialize="n")
    def f(n):
        return (n,) if isinstance(n, bool) else n
    assert [f(1), f(True), f(1), f(0), f(False)] == [1, (True,), 1, 0, (False,)]


def test_many_values_share_code_where_they_need_not_have_their_own():
    @njit(specialize=("n",))
    def f(n):
        return n * 2
    assert [f(n) for n in range(200)] == [2 * n for n in range(200)]
    assert 10 < len(f.signatures) < 50


def test_every_value_has_code_where_the_function_asks_for_it():
    @njit
    def f(n):
        return static(n) * 2
    assert [f(n) for n in range(60)] == [2 * n for n in range(60)]
    assert len(f.signatures) == 60


def test_numpy_scalars_have_code_for_their_values():
    @njit
    def f(n):
        return static(n) + 1
    assert f(np.int8(3)) == 4 and f(np.int64(3)) == 4 and f(np.int8(4)) == 5


def test_a_changed_global_is_another_constant():
    global SIZE

    @njit
    def f():
        n = 0
        for i in unroll(range(SIZE)):
            n += i + 1
        return n, static(SIZE)
    assert f() == (6, 3)
    SIZE = 4
    try:
        assert f() == (10, 4)
    finally:
        SIZE = 3
    assert f() == (6, 3)


def test_a_callee_that_changes_is_specialised_anew(monkeypatch):
    module = sys.modules[__name__]

    @njit
    def one(x, n):
        return x + static(n)

    @njit
    def other(x, n):
        return (x, static(n))
    monkeypatch.setattr(module, "called", one, raising=False)

    @njit
    def f(x, n):
        return called(x, n)  # noqa: F821
    assert f(1, 2) == 3
    monkeypatch.setattr(module, "called", other)
    assert f(1, 2) == (1, 2)
    assert f(1, 3) == (1, 3)


def test_jit_compiles_for_the_value_before_it_gives_up():
    @jit
    def f(x, n):
        r = ()
        for i in unroll(range(static(n))):
            r += (x,)
        return r
    assert f(1.5, 2) == (1.5, 1.5)
    assert len(f.nopython_signatures) == 1


@pytest.mark.filterwarnings("ignore::tierup.TierupWarning")
def test_jit_runs_python_where_the_value_does_not_help():
    @jit
    def f(x, n):
        return [x, static(n), "a"]
    assert f(1, 2) == [1, 2, "a"]
    assert f.nopython_signatures == []


def test_a_signature_says_no_value():
    with pytest.raises(tierup.TypingError, match="the value of 'n' is not known"):
        @njit("int64(int64)")
        def f(n):
            return static(n) + 1


def test_a_signature_and_values_go_together_where_the_value_may_be_unknown():
    @njit("int64(int64)", specialize=("n",))
    def f(n):
        return n + 1
    assert f(3) == 4 and len(f.signatures) == 1


def test_disabling_compilation_leaves_the_values_that_are_compiled():
    @njit
    def f(x, n):
        return x + static(n)
    assert f(1, 2) == 3 and f(1, 3) == 4
    f.disable_compile()
    assert f(1, 2) == 3 and f(1, 3) == 4
    with pytest.raises(TypeError):
        f(1, 9)
    f.disable_compile(False)
    assert f(1, 9) == 10
    f.recompile()
    assert f(1, 9) == 10 and f(1, 2) == 3


def test_specialize_names_parameters():
    def f(n, *, k=1):
        return n + k
    assert njit(f, specialize="k")(1, k=2) == 3
    assert njit(specialize=["n", "k"])(f)(1) == 2
    with pytest.raises(ValueError, match=r"f\(\) has no parameter 'm' to be specialised by; it has 'n', 'k'"):
        njit(specialize=("m",))(f)
    with pytest.raises(TypeError, match="names of parameters, not 0"):
        njit(specialize=(0,))(f)


def test_a_specialised_function_is_pickled_with_what_it_is_specialised_by():
    f = pickle.loads(pickle.dumps(module_level))
    assert f(2) == "two" and f(3) == 3
    assert f.targetoptions["specialize"] == ("n",)


def test_texts_are_those_of_the_value():
    @njit(specialize="n")
    def f(n):
        return n + 1
    f(40)
    assert "const 41" in f.inspect("typed")
    f(50)
    assert "const 41" in f.inspect("typed") and "const 51" in f.inspect("typed")
    assert str(f.explain())


def test_a_known_number_of_turns_leaves_no_loop():
    @njit(specialize="n")
    def f(a, n):
        s = 0.0
        for i in range(n):
            s += a * i
        return s
    assert f(2.0, 3) == 6.0
    loops = [line for line in f.inspect("lir").splitlines() if "poll" in line]
    assert loops == []


def test_plain_python_gives_the_same():
    program = """
        from tierup import njit, static, unroll, config
        import tierup
        @njit(specialize=("n",))
        def f(t, n):
            r = ()
            for i, x in enumerate(unroll(t)):
                r += (x, static(n) + i)
            return r
        print(f((1, "a"), 2))
        print(tierup.literal_unroll is unroll, tierup.literally is static, type(f).__name__)
    """
    assert run(program, TIERUP_TIER="off") == "(1, 2, 'a', 3)\nTrue True function\n"


def test_plain_python_knows_the_names_of_parameters():
    program = """
        from tierup import njit
        try:
            njit(specialize="m")(lambda n: n)
        except ValueError as e:
            print(e)
    """
    assert run(program, TIERUP_TIER="off") == "<lambda>() has no parameter 'm' to be specialised by; it has 'n'\n"


def test_code_in_the_cache_is_for_its_value(tmp_path):
    program = """
        from tierup import njit, static
        @njit
        def f(x, n):
            s = 0.0
            for i in range(1000):
                s += x if static(n) == 2 else i
            return s
        print([f(1.0, n) for n in (1, 2, 3, 2, 1) for k in range(3)][::3])
    """
    expected = "[499500.0, 1000.0, 499500.0, 1000.0, 499500.0]\n"
    for tier in ("1", "1", "auto"):
        assert run(program, TIERUP_CACHE="1", TIERUP_CACHE_DIR=str(tmp_path), TIERUP_TIER=tier) == expected


def test_importing_the_package_loads_nothing_for_it():
    assert run("""
        import sys, tierup
        tierup.unroll, tierup.static
        print("tierup.extending" in sys.modules)
    """) == "False\n"
