from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar, overload

from . import structref as structref
from ..types import Type

T = TypeVar("T")
Spec = Mapping[str, Type] | Iterable[tuple[str, Type]]

@overload
def jitclass(cls: type[T], /, spec: Spec | None = None) -> type[T]: ...
@overload
def jitclass(spec: Spec | None = None, /) -> Callable[[type[T]], type[T]]: ...

class ClassType:
    @property
    def instance_type(self) -> Any: ...
