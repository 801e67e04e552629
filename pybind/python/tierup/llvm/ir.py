"""Stands in for `llvmlite.ir`."""

from .builder import IRBuilder  # noqa: F401
from .function import Block, Function, GlobalVariable, Module  # noqa: F401
from .function import Phi as PhiInstr  # noqa: F401
from .types import (  # noqa: F401
    Aggregate,
    ArrayType,
    Constant,
    Context,
    DoubleType,
    FloatType,
    FunctionType,
    HalfType,
    IdentifiedStructType,
    IntType,
    LabelType,
    LiteralStructType,
    MetaDataType,
    NamedValue,
    PointerType,
    Type,
    Undefined,
    UndefinedType,
    Value,
    VectorType,
    VoidType,
    global_context,
)


def InlineAsm(*args, **kwargs):
    from . import CannotCarry
    raise CannotCarry("inline assembly is for one processor, and LIR is for all")
