"""`par.tasks`, `par.Channel`, `par.move` and `par.borrow` as Python runs them: `runtime/src/parallel/tasks.rs` in threads of Python's.

What is sent is checked when it is sent; that nobody uses what was moved, only compiled code finds out.
"""

import dataclasses
import enum
import functools
import threading
import types
from collections import deque
from typing import Generic, TypeVar

import numpy as np

T = TypeVar("T")

STUCK = "deadlock: all tasks wait, for values or room in channels that none of them is going to give"

# Guards who waits for what. Whoever changes something wakes all that wait, and they look for themselves.
_changed = threading.Condition()
_waiters = []
_here = threading.local()


class _Told(BaseException):
    """Ends a task that was told to stop; nobody sees it."""


class _Waiter:
    def __init__(self, ready, group, channel):
        self.ready, self.group, self.channel, self.stuck = ready, group, channel, False


class _Group:
    """Tasks that end together. `outer` is the group around it, `family` the outermost of those."""

    def __init__(self, outer):
        self.outer = outer
        self.family = self if outer is None else outer.family
        self.threads, self.live, self.started, self.cancelled, self.failure = 1, 0, 0, False, None

    def is_cancelled(self):
        return self.cancelled or self.outer is not None and self.outer.is_cancelled()


def _groups():
    """The groups that this thread is in, innermost last."""
    if not hasattr(_here, "groups"):
        _here.groups = []
    return _here.groups


def _wait(ready, group, channel):
    """Waits, with the lock, until something is ready; at a channel no longer than anybody of the family can go on."""
    if ready():
        return
    if group is None:
        raise RuntimeError(STUCK)
    me = _Waiter(ready, group, channel)
    _waiters.append(me)
    try:
        _look_for_deadlock(group.family)
        while True:
            if channel and group.is_cancelled():
                raise _Told
            if ready():
                return
            if me.stuck:
                raise RuntimeError(STUCK)
            _changed.wait()
    finally:
        _waiters.remove(me)


def _look_for_deadlock(family):
    all_ = [w for w in _waiters if w.group.family is family]
    if not all_ or len(all_) < family.threads or any(w.stuck or w.ready() or w.group.is_cancelled() for w in all_):
        return
    for w in all_:
        w.stuck = w.channel
    _changed.notify_all()


class Channel(Generic[T]):
    """A queue of values between tasks: `send` waits while there are `capacity` of them, `receive` while there are none.

    Whatever is sent is immutable, or it is moved or borrowed. `close()` says that no more will come: then `receive` raises EOFError where
    nothing is left, and a loop over the channel ends."""

    _tierup_of_python_ = True

    def __init__(self, capacity=None):
        if capacity is not None and capacity < 1:
            raise ValueError("a channel has room for one value at least")
        self._items, self._capacity, self._closed = deque(), capacity, False

    def send(self, value):
        """Puts a value in, once there is room; ValueError where the channel is closed."""
        value = _one_sent(value)
        with _changed:
            _wait(lambda: self._closed or self._capacity is None or len(self._items) < self._capacity, _innermost(), True)
            if self._closed:
                raise ValueError("send() on a channel that is closed")
            self._items.append(value)
            _changed.notify_all()

    def receive(self):
        """Takes the oldest value out, once there is one; EOFError where none is left and none will come."""
        with _changed:
            _wait(lambda: self._items or self._closed, _innermost(), True)
            if not self._items:
                raise EOFError("receive() from a channel that is closed and empty")
            value = self._items.popleft()
            _changed.notify_all()
        return value

    def close(self):
        """Says that no more values will come."""
        with _changed:
            self._closed = True
            _changed.notify_all()

    def __iter__(self):
        while True:
            try:
                value = self.receive()
            except EOFError:
                return
            yield value

    def __len__(self):
        return len(self._items)


def _innermost():
    groups = _groups()
    return groups[-1] if groups else None


class tasks:  # noqa: N801
    """A context manager: `spawn(f, *args)` starts a task, a thread that calls `f(*args)`, and the end of the block waits for all of them.

    A task that fails has the others stop where they wait, and the block raises what it raised: of several the one that was started first."""

    _tierup_of_python_ = True

    def __init__(self):
        self._group = None

    def __enter__(self):
        outer = _innermost()
        self._group = _Group(outer)
        _groups().append(self._group)
        return self

    def spawn(self, f, *args):
        """Starts a task. Its arguments are immutable, or they are moved or borrowed."""
        _check(f)
        values = [_one_sent(x) for x in args]
        group = self._group
        if group is None or group not in _groups():
            raise RuntimeError("spawn() behind the end of the block that its tasks belong to")
        with _changed:
            number = group.started
            group.started, group.live, group.family.threads = number + 1, group.live + 1, group.family.threads + 1
        try:
            threading.Thread(target=_run, args=(group, number, f, values), name="tierup-task", daemon=True).start()
        except RuntimeError:
            with _changed:
                _end(group)
            raise

    def __exit__(self, kind, value, traceback):
        group, interrupt = self._group, None
        with _changed:
            if value is not None:
                _cancel(group)
            while True:
                try:
                    _wait(lambda: group.live == 0, group, False)
                    break
                except BaseException as e:
                    interrupt = e
                    _cancel(group)
        _groups().remove(group)
        if interrupt is not None:
            raise interrupt
        if group.failure is not None and (value is None or isinstance(value, _Told)):
            raise group.failure[1] from None
        return False


def _cancel(group):
    group.cancelled = True
    _changed.notify_all()


def _end(group):
    group.live -= 1
    group.family.threads -= 1
    _changed.notify_all()
    _look_for_deadlock(group.family)


def _run(group, number, f, args):
    _groups().append(group)
    failure = None
    try:
        if not group.is_cancelled():
            f(*args)
    except BaseException as e:
        failure = e
    with _changed:
        if failure is not None and not isinstance(failure, _Told) and (group.failure is None or number < group.failure[0]):
            group.failure = number, failure
            _cancel(group)
        _end(group)


# Where users find them.
Channel.__module__ = tasks.__module__ = "tierup.par"


class _Given:
    """What is given away, or meant to be shared."""

    __slots__ = ("value",)

    def __init__(self, value):
        self.value = value


def move(x):
    """Says that a value is given away where it is sent: nobody uses it afterwards under the name that it had, which compiled code checks."""
    return _Given(x)


def borrow(x):
    """Says that a value which others may change is meant to be shared where it is sent: whoever sends it sees to it that they take turns."""
    return _Given(x)


_IMMUTABLE = (type(None), bool, int, float, complex, str, bytes, range, type, np.generic, np.dtype, enum.Enum, Channel,
              types.BuiltinFunctionType, types.ModuleType, type(...), np.ufunc)


def _one_sent(x):
    if isinstance(x, _Given):
        return x.value
    _check(x)
    return x


def _check(x):
    part = _shared(x)
    if part is not None:
        what = type(x).__name__ if part is x else f"{type(x).__name__}, which holds {type(part).__name__},"
        raise TypeError(f"{what} cannot be sent as it is: what may change has one owner; give it away with par.move(x), or share it with par.borrow(x)")


def _shared(x):
    """The part of a value that its owner may change; None where there is no such part."""
    if isinstance(x, (tuple, frozenset)):
        parts = x
    elif isinstance(x, _IMMUTABLE):
        parts = ()
    elif isinstance(x, types.FunctionType):
        parts = [c.cell_contents for c in x.__closure__ or () if _is_set(c)] + list(x.__defaults__ or ())
    elif isinstance(x, types.MethodType):
        parts = (x.__self__,)
    elif isinstance(x, functools.partial):
        parts = (x.func, *x.args, *x.keywords.values())
    elif dataclasses.is_dataclass(x) and x.__dataclass_params__.frozen:
        parts = [getattr(x, f.name) for f in dataclasses.fields(x)]
    elif hasattr(x, "py_func"):
        return _shared(x.py_func)
    else:
        return x
    return next((p for p in map(_shared, parts) if p is not None), None)


def _is_set(cell):
    try:
        cell.cell_contents
    except ValueError:
        return False
    return True
