"""What `tierup.extending.overload` and its like say of calls: what is compiled again, errors, options, types."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest
from tierup import TypingError, literal_unroll, njit, types
from tierup.extending import overload, overload_attribute, overload_classmethod, overload_method, register_jitable

WHERE = __file__


def line_of(text):
    """The number of the line of this file that ends so."""
    with open(WHERE) as f:
        return next(n for n, line in enumerate(f, 1) if line.rstrip().endswith(text))


# ---------------------------------------------------------------- what comes later


def test_an_overload_of_a_function_that_was_compiled_is_taken():
    def target(x):
        return x

    @njit
    def call(x):
        return target(x)

    @njit
    def outer(x):
        return call(x)

    assert outer(1) == 1
    overload(target)(lambda x: lambda x: x + 10)
    assert (outer(1), call(2)) == (11, 12)


def test_one_more_overload_is_asked_where_the_others_say_nothing():
    def target(x):
        raise NotImplementedError

    @njit
    def call(x):
        return target(x)

    @overload(target)
    def _(x):
        if isinstance(x, types.Integer):
            return lambda x: 1

    assert call(1) == 1
    with pytest.raises(TypingError, match="No implementation of function target"):
        call("a")

    @overload(target)
    def _(x):
        return lambda x: 2

    assert (call(1), call("a")) == (1, 2)


def test_a_method_and_an_operation_that_come_later_are_taken():
    @njit
    def call(a):
        return a.added_later()

    with pytest.raises(TypingError, match="no attribute 'added_later'"):
        call(np.ones(2))
    overload_method(types.Array, "added_later")(lambda a: lambda a: 5)
    assert call(np.ones(2)) == 5

    class Lengthy:
        def __init__(self):
            self.v = 3

    @njit
    def length(x):
        return len(x)

    assert length([1, 2]) == 2
    with pytest.raises(TypingError):
        length(Lengthy())

    @overload(len)
    def _(x):
        if isinstance(x, types.InstanceType) and x.instance_class is Lengthy:
            return lambda x: x.v

    assert (length(Lengthy()), length([1, 2])) == (3, 2)


def test_what_nobody_has_asked_for_ends_nothing():
    def used(x):
        return x

    @njit
    def call(x):
        return used(x)

    def unused(x):
        return x

    call(1)
    before = call.overloads[call.signatures[0]]
    overload(unused)(lambda x: lambda x: x)
    call(1)
    assert len(call.signatures) == 1 and before.signature == call.overloads[call.signatures[0]].signature
    from tierup import _tierup
    assert len(_tierup.overloads(call)) == 1


def test_python_runs_what_is_overloaded_itself():
    def target(x):
        return x

    overload(target)(lambda x: lambda x: -x)
    assert target(3) == 3


def test_nothing_is_compiled_when_the_tier_is_off():
    program = """
        from tierup import njit
        from tierup.extending import overload, register_jitable
        def target(x):
            return x
        overload(target)(lambda x: lambda x: -x)
        print(njit(lambda x: target(x))(3), register_jitable(target) is target)
    """
    run = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, env={**__import__("os").environ, "TIERUP_TIER": "off"}, check=True)
    assert run.stdout == "3 True\n"


# ---------------------------------------------------------------- errors


def refused(call, *args):
    with pytest.raises(TypingError) as e:
        call(*args)
    return e.value


def test_what_a_typing_function_raises_is_said_at_the_call():
    def target(x):
        raise NotImplementedError

    @overload(target)
    def of_target(x):
        if isinstance(x, types.Float):
            raise TypingError("no floats, please")
        return 1 / 0

    @njit
    def call(x):
        y = x
        return target(y)  # the call

    e = refused(call, 1.5)
    assert "No implementation of function target() takes (float)" in str(e) and "no floats, please" in str(e) and "of_target" in str(e)
    assert (e.line, e.file, e.code) == (line_of("# the call"), WHERE, "no-matching-operation")
    assert "ZeroDivisionError: division by zero" in str(refused(call, 1))


def test_the_error_of_an_implementation_is_at_its_line():
    def target(x):
        raise NotImplementedError

    @overload(target)
    def _(x):
        def impl(x):
            return x.nothing_of_that_name  # here
        return impl

    @njit
    def call(x):
        return target(x)  # the call of it

    e = refused(call, 1)
    assert e.line == line_of("# here") and f"{line_of('# the call of it')}" in str(e)


def test_what_is_no_function_is_refused():
    def target(x):
        raise NotImplementedError

    overload(target)(lambda x: 42)
    assert "unexpected type.  Got 42" in str(refused(njit(lambda x: target(x)), 1))


def of(implementation, strict=True):
    def target(a, b, kw=None):
        raise NotImplementedError

    @overload(target, strict=strict)
    def _(a, b, kw=None):
        return implementation

    @njit
    def call(a, b):
        return target(a, b, kw=3)

    return call


@pytest.mark.parametrize("implementation, said", [
    (lambda a, b, kw=12: 1, "keyword argument default values"),
    (lambda a, b, kwarg=None: 1, "keyword argument names"),
    (lambda z, b, kw=None: 1, "argument names"),
    (lambda a, kw=None: 1, "argument names"),
    (lambda a, b, c, kw=None: 1, "argument names"),
    (lambda a, b: 1, "keyword argument names"),
    (lambda a, z, *rest, kw=None: 1, "First difference: 'z'"),
    (lambda a, b, **kw: 1, "VAR_KEYWORD"),
])  # fmt: skip
def test_other_parameters_than_those_of_the_typing_function_are_refused(implementation, said):
    assert said in str(refused(of(implementation), 1, 2))


def test_other_parameters_are_taken_where_that_is_not_strict():
    assert of(lambda a, b, kw=12: kw, strict=False)(1, 2) == 3
    assert of(lambda a, *rest, kw=None: a)(1, 2) == 1


def test_arguments_that_do_not_fit_the_typing_function():
    def target(x):
        raise NotImplementedError

    overload(target)(lambda x: lambda x: x)
    assert "positional argument" in str(refused(njit(lambda x: target(x, x)), 1))


@pytest.mark.parametrize("options, kind", [({"inline": "sometimes"}, ValueError), ({"target": "abacus"}, ValueError), ({"jit_options": {"nonsense": 1}}, TypeError), ({"nonsense": 1}, TypeError)])
def test_options_that_do_not_exist_are_refused(options, kind):
    with pytest.raises(kind):
        overload(len, **options)
    with pytest.raises(kind):
        overload_method(types.Array, "nothing", **options)


def test_methods_are_added_to_types():
    for what in (np.ndarray, "array", 3):
        with pytest.raises(TypeError, match="a class of types"):
            overload_method(what, "nothing")


def test_a_typing_function_may_run_and_compile_code():
    helper = njit(lambda x: x + 1)

    def target(x):
        raise NotImplementedError

    @overload(target)
    def _(x):
        n = helper(41)
        if isinstance(x, types.Float):
            return lambda x: x
        v = njit(lambda x: target(x))(2.5)
        return lambda x: v + n

    assert njit(lambda x: target(x))(3) == 44.5


def test_a_typing_function_that_asks_itself_is_refused():
    def target(x):
        raise NotImplementedError

    overload(target)(lambda x: njit(lambda x: target(x))(3))
    assert "compiles a call that asks it again" in str(refused(njit(lambda x: target(x)), 3))

    def deeper(x):
        raise NotImplementedError

    @overload(deeper)
    def _(x):
        nested = ()
        for _ in range(len(x) + 1):
            nested = (*nested, 1)
        return njit(lambda x: deeper(x))(nested)

    assert "asks it again" in str(refused(njit(lambda x: deeper(x)), (1,)))


# ---------------------------------------------------------------- types


def seen(*args, call=None):
    """The types that a typing function is asked with for these arguments."""
    found = []

    def target(*args):
        raise NotImplementedError

    @overload(target)
    def _(*args):
        found.append(args)
        return lambda *args: 0

    (call or njit)(lambda *args: target(*args))(*args)
    return found[0]


class Plain:
    def __init__(self, v):
        self.v = v


@pytest.mark.parametrize("value, kind, holds", [
    (1, types.Integer, lambda t: t == types.int64 and t is types.int64 and t.signed and t.bitwidth == 64),
    (1.5, types.Float, lambda t: t is types.float64),
    (True, types.Boolean, lambda t: t is types.boolean),
    (1j, types.Complex, lambda t: t is types.complex128),
    (np.float32(1), types.Float, lambda t: t is types.float32),
    (None, types.NoneType, lambda t: t is types.none),
    ("a", types.UnicodeType, lambda t: t is types.unicode_type and isinstance(t, types.IterableType)),
    (b"a", types.Bytes, lambda t: t is types.bytes_type),
    (np.zeros((2, 3), np.float32), types.Array, lambda t: (t.dtype, t.ndim, t.layout, t.mutable) == (types.float32, 2, "C", True) and isinstance(t, types.Buffer)),
    ((1, 2), types.UniTuple, lambda t: t.dtype == types.int64 and t.count == 2 == len(t) and isinstance(t, types.Sequence)),
    ((1, 2.0), types.Tuple, lambda t: t.types == (types.int64, types.float64) and isinstance(t, types.BaseTuple)),
    ([1.0], types.List, lambda t: t.dtype is types.float64 and isinstance(t, types.MutableSequence)),
    ({1}, types.Set, lambda t: t.dtype is types.int64),
    ({"a": 1}, types.DictType, lambda t: (t.key_type, t.value_type) == (types.unicode_type, types.int64)),
    (range(3), types.RangeType, lambda t: t.dtype is types.int64),
    (slice(1, 2), types.SliceType, lambda t: not t.has_step),
    (np.dtype("f4"), types.DType, lambda t: t.dtype is types.float32),
    (np, types.Module, lambda t: t.pymod is np),
    (np.sin, types.Function, lambda t: t.typing_key is np.sin),
    (__import__("ctypes").CFUNCTYPE(__import__("ctypes").c_int)(lambda: 0), types.ExternalFunctionPointer, lambda t: isinstance(t, types.Callable)),
    (line_of, types.Dispatcher, lambda t: t.dispatcher.py_func is line_of and isinstance(t, types.Callable)),
    (Plain(1), types.InstanceType, lambda t: t.instance_class is Plain and t.fields == (("v", types.int64),)),
    (ValueError, types.ExceptionClass, lambda t: t.exc_class is ValueError),
    (np.random.default_rng(0), types.NumPyRandomGeneratorType, lambda t: t is types.npy_rng),
], ids=lambda v: getattr(v, "__name__", None) or type(v).__name__)  # fmt: skip
def test_typing_functions_see_types_as_numba_has_them(value, kind, holds):
    (t,) = seen(value)
    assert isinstance(t, kind) and holds(t) and types.unliteral(t) is t


def test_constants_are_literals():
    found = []

    def target(*args):
        raise NotImplementedError

    @overload(target, prefer_literal=True)
    def _(*args):
        found.append(args)
        return lambda *args: 0

    njit(lambda: target(3, True, "a", (1, "b"), None, 2.5))()
    n, flag, text, pair, none, x = found[0]
    assert isinstance(n, types.IntegerLiteral) and isinstance(n, types.Integer) and isinstance(n, types.Literal) and n.literal_value == 3 and types.unliteral(n) is types.int64
    assert isinstance(flag, types.BooleanLiteral) and flag.literal_value is True and flag != types.literal(1)
    assert isinstance(text, types.StringLiteral) and not isinstance(text, types.UnicodeType) and text.literal_value == "a"
    assert [t.literal_value for t in pair.types] == [1, "b"]
    assert none is types.none and x is types.float64
    assert types.maybe_literal(2.5) is None and types.literal(3) is n
    with pytest.raises(TypingError, match="no literal type"):
        types.literal(2.5)


def test_code_for_a_literal_is_for_that_value():
    def target(x):
        raise NotImplementedError

    @overload(target)
    def _(x):
        if isinstance(x, types.IntegerLiteral):
            n = x.literal_value
            return lambda x: n * 10

    @njit
    def call():
        return target(1), target(2), target(1)

    assert call() == (10, 20, 10)
    assert "No implementation" in str(refused(njit(lambda x: target(x)), 3))


def test_defaults_that_are_left_out_are_those_of_the_typing_function():
    found = []

    def target(a, axis=None, k=3):
        raise NotImplementedError

    @overload(target)
    def _(a, axis=None, k=3):
        found.append((axis, k))
        return lambda a, axis=None, k=3: (axis is None, k)

    assert njit(lambda: (target(1), target(1, k=4), target(1, 0)))() == ((True, 3), (True, 4), (False, 3))
    assert (None, 3) in found and (None, types.int64) in found and (types.int64, 3) in found


# ---------------------------------------------------------------- targets


def test_a_class_is_made_by_an_overload():
    class Box:
        def __new__(cls, *args):
            raise NotImplementedError

    @overload(Box)
    def _(x):
        if isinstance(x, types.Integer):
            return lambda x: (x, "made")

    @njit
    def call(x):
        return Box(x)

    assert call(3) == (3, "made")


def test_a_function_of_a_library_has_code_by_an_overload():
    special = pytest.importorskip("scipy.special")

    @overload(special.zeta)
    def _(x):
        if isinstance(x, types.Float):
            return lambda x: x * 2

    assert njit(lambda x: special.zeta(x))(1.5) == 3.0


def test_an_overloaded_function_that_is_passed():
    def target(x):
        raise NotImplementedError

    overload(target)(lambda x: lambda x: x + 1)

    @njit
    def apply(f, x):
        return f(x)

    assert apply(target, 1) == 2 and apply(target, 2) == 3 and len(apply.signatures) == 1


def test_an_implementation_may_be_a_function_of_the_module_with_options():
    @register_jitable
    def inner(x):
        return x + 1

    def target(x):
        raise NotImplementedError

    @overload(target, jit_options={"parallel": True}, inline="always")
    def _(x):
        return inner if False else lambda x: inner(x)

    assert njit(lambda x: target(x))(1) == 2


def test_a_registered_function_is_compiled_with_its_options():
    @register_jitable(parallel=True)
    def total(a):
        return a.sum()

    assert njit(lambda a: total(a))(np.arange(4.0)) == 6.0 and total(np.arange(4.0)) == 6.0
    with pytest.raises(TypeError):
        register_jitable(nonsense=True)


def test_a_class_of_types_has_methods_of_its_own():
    class Mine(types.Array):
        pass

    @overload_classmethod(Mine, "upto")
    def _(cls, n):
        return lambda cls, n: np.arange(n)

    assert njit(lambda n: Mine.upto(n))(3).tolist() == [0, 1, 2]
    assert "upto" in str(refused(njit(lambda n: types.Array.upto(n)), 3))


def test_one_type_alone_gets_a_method():
    overload_method(types.float64, "halved")(lambda x: lambda x: x / 2)
    overload_attribute(types.UniTuple(types.int64, 2), "area")(lambda t: lambda t: t[0] * t[1])

    @njit
    def call(x, t):
        return x.halved(), t.area

    assert call(3.0, (2, 5)) == (1.5, 10)
    assert "halved" in str(refused(njit(lambda x: x.halved()), 3))
    assert "area" in str(refused(njit(lambda x: x.area), (1, 2, 3)))


def test_the_typing_function_of_a_method_is_called_as_one():
    @overload_method(types.Array, "spread_of_it")
    def spread(a):
        return lambda a: a.max() - a.min()

    @overload_method(types.Array, "double_spread_of_it")
    def _(a):
        return lambda a: 2 * spread(a)

    assert njit(lambda a: a.double_spread_of_it())(np.array([1.0, 4.0])) == 6.0


def test_packages_that_extend_numba_are_loaded_with_the_first_decorator(tmp_path):
    info = tmp_path / "extends_numba-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: extends-numba\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[numba_extensions]\ninit = extends_numba:init\n")
    (tmp_path / "extends_numba.py").write_text(textwrap.dedent("""
        import math
        from numba.core.types import misc, Float
        from numba.extending import overload
        def target(x):
            raise NotImplementedError
        def init():
            print("loaded")
            overload(target)(lambda x: (lambda x: x * 2) if isinstance(x, Float) else None)
    """))
    program = tmp_path / "program.py"
    program.write_text(textwrap.dedent("""
        from numba import njit
        from extends_numba import target
        print("imported")
        @njit
        def f(x):
            return target(x)
        print(f(1.5))
        njit(lambda: 0)()
    """))
    env = {**__import__("os").environ, "PYTHONPATH": f"{tmp_path}{__import__('os').pathsep}{__import__('os').environ.get('PYTHONPATH', '')}"}
    run = subprocess.run([sys.executable, "-m", "tierup", "--as-numba", str(program)], capture_output=True, text=True, env=env, check=True)
    assert run.stdout == "imported\nloaded\n3.0\n", run.stdout + run.stderr
    # A package that decorates functions of its own is not looked into while it is being imported.
    source = (tmp_path / "extends_numba.py").read_text()
    (tmp_path / "extends_numba.py").write_text("import numba\nown = numba.njit(lambda x: x)\n" + source)
    run = subprocess.run([sys.executable, "-m", "tierup", "--as-numba", str(program)], capture_output=True, text=True, env=env, check=True)
    assert (run.stdout, run.stderr) == ("imported\nloaded\n3.0\n", "")
    # One that compiles a function while `cuda` is being imported, whose names are not all there yet.
    (tmp_path / "extends_numba.py").write_text("def init():\n    import numba\n    print(numba.njit(lambda x: abs(x))(-2))\n")
    kernel = tmp_path / "kernel.py"
    kernel.write_text("from numba import cuda\n@cuda.jit\ndef f(x):\n    x[cuda.grid(1)] = 1\nimport numpy as np\nx = np.zeros(2)\nf[1, 2](x)\nprint(x)\n")
    run = subprocess.run([sys.executable, "-m", "tierup", "--as-numba", str(kernel)], capture_output=True, text=True, env=env)
    assert run.stdout == "2\n[1. 1.]\n", run.stdout + run.stderr
    (tmp_path / "extends_numba.py").write_text("def init():\n    raise ValueError('broken')\ndef target(x):\n    return x\n")
    run = subprocess.run([sys.executable, "-m", "tierup", "--as-numba", str(program)], capture_output=True, text=True, env=env, check=True)
    assert run.stdout == "imported\n1.5\n" and "failed to load due to 'ValueError(broken)'" in run.stderr


def test_an_implementation_with_a_signature_gets_its_arguments_converted():
    def target(x, y=2):
        raise NotImplementedError

    @overload(target)
    def _(x, y=2):
        return types.float64(types.float64, types.int64), lambda x, y=2: x * y

    assert repr(njit(lambda x: (target(x), target(x, 3), target(x, y=4)))(2)) == repr((4.0, 6.0, 8.0))


def test_the_overloads_that_have_no_answer_are_named():
    def target(x):
        raise NotImplementedError

    @overload(target)
    def only_text(x):
        if isinstance(x, types.UnicodeType):
            return lambda x: x

    e = str(refused(njit(lambda x: target(x)), 1))
    assert "No implementation of function target() takes (int)" in e and "only_text" in e and "has no implementation for these types" in e


@pytest.mark.isolated  # what it says of math.floor stays in the process
def test_a_module_gets_an_attribute_and_a_function():
    import math
    overload_attribute(types.Module(math), "three")(lambda m: lambda m: 3)
    overload_method(types.Module(math), "thrice")(lambda m, x: lambda m, x: 3 * x)
    overload_method(types.Module(math), "floor")(lambda m, x: (lambda m, x: "text") if isinstance(x, types.UnicodeType) else None)
    assert njit(lambda x: (math.three, math.thrice(x), math.floor(x), math.floor("a")))(1.5) == (3, 4.5, 1, "text")
    assert "three" in str(refused(njit(lambda x: np.three), 1))


def test_overloads_that_do_not_answer_keep_nothing_apart():
    """A program's overloads for a class of its own leave expressions of arrays as they are: one loop each, and loops in parallel."""
    import operator

    from tierup import prange
    from tierup.extending import overload, overload_method

    def reduced(m, b):
        return (m * b + 1.0).sum() + np.sum(np.sqrt(m) * b)

    def looped(m, b):
        out = np.zeros(len(m))
        for i in prange(len(m)):
            out[i] = (m[i] * b + 1.0).sum() + np.sum(m[i] - b)
        return out

    def listed(m, b):
        found = [0.0]
        for i in prange(len(m)):
            x = np.zeros(3)
            x.fill(m[i, 0])
            found[0] += x.sum()
        return found[0]

    m, b = np.arange(12.0).reshape(3, 4), np.ones(4)

    def reports():
        found = []
        for f in reduced, looped, listed:
            f = njit(parallel=True)(f)
            found.append((np.asarray(f(m, b)).tolist(), str(f.parallel_report()), str(f.inspect("typed")).count("fused")))
        return found

    before = reports()

    class Scaled:
        def __init__(self, x):
            self.x = x

    def is_scaled(t):
        return isinstance(t, types.InstanceType) and t.instance_class is Scaled

    overload(np.sum)(lambda a: (lambda a: a.x) if is_scaled(a) else None)
    for op in operator.add, operator.mul, operator.sub, operator.getitem, operator.iadd:
        overload(op)(lambda a, b: (lambda a, b: a.x) if is_scaled(a) else None)
    for name in "sum", "fill":
        overload_method(types.Array, name)(lambda a, *args: None)
    assert reports() == before
    assert njit(lambda s: np.sum(s) + (s + 1) + s[0])(Scaled(2.5)) == 7.5


def test_members_of_a_slice_of_a_constant_tuple_are_literals():
    def name(x):
        pass

    @overload(name)
    def ol_name(x):
        if isinstance(x, types.IntegerLiteral):
            text = {10: "a", 20: "b", 30: "c"}[x.literal_value]
            return lambda x: text

    @njit
    def names():
        x = (10, 20, 30)
        out = ""
        for n in literal_unroll(x[::-2]):
            out += name(n)
        return out + name(x[1:][0])
    assert names() == "cab"
