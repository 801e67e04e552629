"""`par.tasks` and `par.Channel`. `tierup/_tasks.py` is what Python runs in their place."""

from collections import deque
from dataclasses import dataclass

import numpy as np

from .. import par
from .._jit import unroll

# Integers in these functions are the caller's: where overflow is checked, it is checked here too.
_origin = "checked"


@dataclass(frozen=True)
class Channel:
    """Its fields never change, so it is a value: what tasks share are the deque and the words. The first one says to the compiler what it is
    (`ops/tasks.rs`), as in the other classes here."""

    kind: object
    items: deque
    # Values that are there, the most there may be, whether it is closed, and whether somebody is in it.
    words: np.ndarray

    def send(self, value):
        sent = _one_sent(value)
        par._room(self.words)
        try:
            self.items.append(sent)
        except MemoryError:
            par._leave(self.words, 0)
            raise
        par._leave(self.words, 1)

    def receive(self):
        if not par._value(self.words):
            raise EOFError("receive() from a channel that is closed and empty")
        value = self.items.popleft()
        par._leave(self.words, -1)
        return value

    def close(self):
        par._no_more(self.words)

    def __iter__(self):
        while par._value(self.words):
            value = self.items.popleft()
            par._leave(self.words, -1)
            yield value

    def __len__(self):
        return len(self.items)


def channel(capacity):
    words = np.zeros(4, np.int64)
    if capacity is None:
        words[1] = np.iinfo(np.int64).max
    else:
        if capacity < 1:
            raise ValueError("a channel has room for one value at least")
        words[1] = capacity
    return Channel(par.Channel, deque(), words)


@dataclass(frozen=True)
class Given:
    """What is given away, or meant to be shared."""

    kind: object
    value: object


def moved(x):
    return Given(par.move, x)


def borrowed(x):
    return Given(par.move, x)


@dataclass(frozen=True)
class Tasks:
    kind: object
    # The number of the group, while there is one.
    group: np.ndarray

    def __enter__(self):
        self.group[0] = par._group()
        return self

    def spawn(self, f, *args):
        par._check_sent(f)
        values = _sent(args)
        par._start(self.group[0], lambda: _run(f, values))

    def __exit__(self, kind, value, traceback):
        par._close(self.group[0], value is not None)
        return False


def tasks():
    return Tasks(par.tasks, np.zeros(1, np.int64))


def _run(f, args):
    f(*args)


def _sent(args):
    """Arguments of a task, those that are given away or shared as they are."""
    # Not by recursion: what an empty channel holds says a call that follows, and it would be the same for all.
    values = ()
    for x in unroll(args):
        values += (_one_sent(x),)
    return values


def _one_sent(x):
    if isinstance(x, Given):
        return x.value
    par._check_sent(x)
    return x
