"""`tierup.extending.intrinsic`: functions whose code a generator writes, once for each signature, on a builder that writes LIR (:mod:`tierup.llvm`)."""

import collections
import functools
import inspect
import weakref

from . import _tierup, types
from ._overloads import Overload


class Intrinsic:
    """A function that compiled code alone calls."""

    def __init__(self, name, defn, prefer_literal=False, **options):
        self._name, self._defn, self._prefer_literal, self._options = name, defn, prefer_literal, options
        functools.update_wrapper(self, defn)

    def _register(self):
        from ._overloads import of_function
        of_function(self, _Generated(self))

    def __call__(self, *args, **kwargs):
        raise NotImplementedError(f"{self} is not usable in pure-python")

    def __repr__(self):
        return f"<intrinsic {self._name}>"

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    # One that is pickled is itself in its own process.

    _memo = weakref.WeakValueDictionary()
    #: The last ones, which are found again though nobody else has them.
    _recent = collections.deque(maxlen=128)
    _uuid = None

    def __reduce__(self):
        from ._pickle import _function_of, _where
        found = _where(self, self._defn)
        if found:
            return found
        if self._uuid is None:
            import uuid
            self._remember(str(uuid.uuid1()))
        return _rebuilt, (self._uuid, self._name, _function_of(self, self._defn), self._prefer_literal)

    def _remember(self, uuid):
        self._uuid = uuid
        self._memo[uuid] = self
        self._recent.append(self)


def _rebuilt(uuid, name, defn, prefer_literal):
    found = Intrinsic._memo.get(uuid)
    if found is None:
        found = Intrinsic(name, defn.py_func, prefer_literal)
        found._register()
        found._remember(uuid)
    return found


def intrinsic(*args, **options):
    """Makes a function of a code generator: `@intrinsic def f(typingctx, a, b)` gives the signature for arguments of these types, and `codegen(context,
    builder, sig, args)`, which writes the code and gives its value; None where it is for others."""
    prefer_literal = options.pop("prefer_literal", False)

    def make(function):
        made = Intrinsic(getattr(function, "__name__", str(function)), function, prefer_literal, **options)
        made._register()
        return made

    return make(*args) if args else make


class _Generated(Overload):
    """The overload that an intrinsic is: what it answers is a function of generated code."""

    def __init__(self, intrinsic):
        super().__init__(intrinsic._defn, None, False, "never", intrinsic._prefer_literal, {}, "generic")
        self._intrinsic = intrinsic

    @property
    def where(self):
        return super().where.replace("the overload", "the intrinsic", 1)

    def _ask(self, given, names):
        from .llvm.context import typing_context
        split = len(given) - len(names)
        found = self.function(typing_context, *given[:split], **dict(zip(names, given[split:], strict=True)))
        if found is None:
            return None
        sig, codegen = _checked(found)
        return answered(self._intrinsic._name, codegen, sig, given, names, _places(self.function, given, names))


def answered(name, codegen, sig, given, names, places):
    """The function that stands for what a generator writes for operands of these types; what it cannot write is an error of its own."""
    try:
        return generated(name, codegen, sig, given, names, places)
    except Exception as e:
        e.generator_failed = _why(name, e, codegen)
        raise


def _why(name, e, codegen):
    """What went wrong while a generator wrote code, and in which line of its own."""
    import os

    from .errors import TierupError
    from .llvm import CannotCarry
    here = os.path.dirname(__file__)
    code = getattr(codegen, "__code__", None)
    place, at = (code.co_filename, code.co_firstlineno) if code else ("?", 0), e.__traceback__
    while at is not None:
        if not at.tb_frame.f_code.co_filename.startswith(here):
            place = at.tb_frame.f_code.co_filename, at.tb_lineno
        at = at.tb_next
    said = e.msg or e if isinstance(e, TierupError) else e if isinstance(e, CannotCarry) else f"{type(e).__name__}: {e}"
    does = "writes what LIR does not carry" if isinstance(e, CannotCarry) else "fails"
    return f"the code generator of {name}() {does} ({place[0]}:{place[1]}): {said}"


def _checked(found):
    if not isinstance(found, tuple) or len(found) != 2 or not isinstance(found[0], types.Signature) or not callable(found[1]):
        raise TypeError(f"an intrinsic gives a signature and a code generator, not {found!r}")
    return found


def _places(function, given, names):
    """Which operand is the argument at each place of the signature; None for one that is left out."""
    parameters = [*inspect.signature(function).parameters.values()][1:]
    split = len(given) - len(names)
    order, at = [], 0
    for p in parameters:
        if p.kind is p.VAR_POSITIONAL:
            order += range(at, split)
            at = split
        elif p.kind is not p.KEYWORD_ONLY and at < split:
            order.append(at)
            at += 1
        else:
            order.append(split + names.index(p.name) if p.name in names else None)
    return order


def generated(name, codegen, sig, given, names, places):
    """The function that stands for what a generator writes for operands of these types."""
    from .llvm import function as making
    from .llvm.builder import IRBuilder
    from .llvm.context import target_context
    from .llvm.models import Instance, leaves_of, model_of
    from .llvm.types import Constant, FunctionType, Value
    if len(sig.args) != len(places):
        raise TypeError(f"the signature {sig} of {name}() has {len(sig.args)} arguments, and the call has {len(places)}")
    module = making.Module(name)
    result = model_of(sig.return_type)
    f = making.Function(module, FunctionType(result.value_type, [model_of(t).value_type for t in sig.args]), f"intrinsic {name}")
    f.results = [ty for ty, _ in leaves_of(sig.return_type)]
    builder = IRBuilder(f.append_basic_block("entry"))
    operands = []
    for t in given:
        leaves = [f.leaf(ty) for ty, _ in leaves_of(t)]
        f.params += leaves
        operands.append((t, leaves))
    args = []
    for t, k in zip(sig.args, places, strict=True):
        if k is None:
            args.append(target_context.get_dummy_value())
            continue
        if isinstance(k, tuple):
            # What stands for `*args` is a tuple.
            parts = [model_of(operands[n][0]).from_leaves(builder, operands[n][1]) for n in k]
            args.append(target_context.make_tuple(builder, t, parts))
            continue
        of, leaves = operands[k]
        args.append(target_context.cast(builder, model_of(of).from_leaves(builder, leaves), of, t))
    value = codegen(target_context, builder, sig, args)
    if value is None:
        if result.value_type != target_context.get_dummy_type() or f.results:
            raise TypeError("non-void function returns None")
        value = Constant(result.value_type, None)
    if not isinstance(value, Value):
        raise TypeError(f"the code generator of {name}() gives a value of its builder, not {value!r}")
    if not builder.block.is_terminated:
        if value.type != result.value_type:
            if not (value.type.is_pointer and result.value_type.is_pointer):
                raise TypeError(f"the code generator of {name}() gives a value of type {value.type}, and its signature says {sig.return_type}, which is {result.value_type}")
            value = builder.bitcast(value, result.value_type)
        leaves = result.to_leaves(builder, value)
        if isinstance(result, Instance):
            builder._insert(making.Instruction("call_helper @obj_retain", leaves))
        making.give(builder, leaves)
    numbers = all(isinstance(t, types.Number | types.Boolean) for t in [*given, sig.return_type])
    text, plain = making.finish(f, numbers)
    return _stub(name, codegen, sig, given, names, (f, text, plain))


def _stub(name, codegen, sig, given, names, made):
    """The function that is the generated code's place in the compiler."""
    from .llvm.models import leaves_of
    f, text, plain = made
    split = len(given) - len(names)
    params = ", ".join([*(f"x{k}" for k in range(split)), *names])
    known = name if name.isidentifier() else "intrinsic"
    code = getattr(codegen, "__code__", None)
    scope = {}
    exec(compile(f"def {known}({params}):\n    raise NotImplementedError\n", code.co_filename if code else "<intrinsic>", "exec"), scope)
    stub = scope[known]
    if code:
        stub.__code__ = stub.__code__.replace(co_firstlineno=code.co_firstlineno)
    stub._tierup_lir_ = text
    if plain:
        _tierup.generated_number(stub, text, [_text(t) for t in given], _text(sig.return_type))
        return stub
    # The compiler knows functions as long as they live.
    stub._tierup_calls_ = [function for function, _, _ in f.calls]
    calls = [(function, [_text(t) for t in args], _text(ret)) for function, args, ret in f.calls]
    same = next((k for k, t in enumerate(given) if t == sig.return_type and not isinstance(t, types.Number)), None)
    gives = _text(sig.return_type) if same is None else same
    _tierup.generated_function(stub, text, ([ty for t in given for ty, _ in leaves_of(t)], f.results), gives, calls)
    return stub


def _text(t):
    from ._extensions import own_of
    own = own_of(t)
    if own is not None:
        return own.text
    return getattr(t, "literal_type", t)._tierup_type_
