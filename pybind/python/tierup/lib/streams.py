"""Python's `io.StringIO` as compiled code has it, and `print` into an object that is written to."""

import io
import sys
from dataclasses import dataclass

from .._calls import python_caller
from .._jit import unroll


@dataclass(frozen=True, eq=False, repr=False)
class StringIO:
    # Pieces of the text, one behind the other.
    _parts: list
    # The position, the length of the text, and whether it is closed.
    _state: list

    _tierup_class_ = io.StringIO

    def _tierup_python_(self):
        stream = io.StringIO("".join(self._parts))
        stream.seek(self._state[0])
        if self._state[2]:
            stream.close()
        return stream

    @property
    def closed(self):
        return self._state[2] != 0

    @property
    def newlines(self):
        _check(self)
        return None

    @property
    def line_buffering(self):
        _check(self)
        return False

    def close(self):
        self._state[2] = 1

    def flush(self):
        _check_base(self)

    def isatty(self):
        _check_base(self)
        return False

    def readable(self):
        _check(self)
        return True

    def writable(self):
        _check(self)
        return True

    def seekable(self):
        _check(self)
        return True

    def tell(self):
        _check(self)
        return self._state[0]

    def getvalue(self):
        _check(self)
        return _whole(self)

    def write(self, s):
        _check(self)
        if not isinstance(s, str):
            raise TypeError("string argument expected, got '" + type(s).__name__ + "'")
        at, length = self._state[0], self._state[1]
        n = len(s)
        if n == 0:
            return 0
        if at == length:
            self._parts.append(s)
        else:
            text = _whole(self)
            self._parts[0] = text[:at] + "\0" * (at - length) + s + text[at + n:]
        self._state[0] = at + n
        self._state[1] = max(length, at + n)
        return n

    def writelines(self, lines):
        _check_base(self)
        for line in lines:
            self.write(line)

    def read(self, size=-1):
        _check(self)
        text, at = _whole(self), self._state[0]
        end = len(text) if size is None or size < 0 else min(at + size, len(text))
        self._state[0] = max(at, end)
        return text[at:end]

    def readline(self, size=-1):
        _check(self)
        text, at = _whole(self), self._state[0]
        end = text.find("\n", at) + 1
        if end == 0:
            end = len(text)
        if size is not None and 0 <= size < end - at:
            end = at + size
        self._state[0] = max(at, end)
        return text[at:end]

    def readlines(self, hint=-1):
        _check_base(self)
        lines = []
        n = 0
        while True:
            line = self.readline()
            if line == "":
                return lines
            lines.append(line)
            n += len(line)
            if hint is not None and 0 < hint < n:
                return lines

    def seek(self, pos, whence=0):
        _check(self)
        if whence < 0 or whence > 2:
            raise ValueError("Invalid whence (" + str(whence) + ", should be 0, 1 or 2)")
        if pos < 0 and whence == 0:
            raise ValueError("Negative seek position " + str(pos))
        if whence != 0 and pos != 0:
            raise OSError("Can't do nonzero cur-relative seeks")
        if whence == 0:
            self._state[0] = pos
        elif whence == 2:
            self._state[0] = self._state[1]
        return self._state[0]

    def truncate(self, pos=None):
        _check(self)
        size = self._state[0] if pos is None else pos
        if size < 0:
            raise ValueError("Negative size value " + str(size))
        if size < self._state[1]:
            text = _whole(self)
            self._parts[0] = text[:size]
            self._state[1] = size
        return size

    def __iter__(self):
        _check_base(self)
        while True:
            line = self.readline()
            if line == "":
                return
            yield line

    def __next__(self):
        line = self.readline()
        if line == "":
            raise StopIteration
        return line

    def __enter__(self):
        _check_base(self)
        return self

    def __exit__(self, kind, value, traceback):
        self.close()


def _check(stream):
    if stream._state[2] != 0:
        raise ValueError("I/O operation on closed file")


def _check_base(stream):
    """The same of what all streams of Python's have."""
    if stream._state[2] != 0:
        raise ValueError("I/O operation on closed file.")


def _whole(stream):
    parts = stream._parts
    if len(parts) != 1:
        text = "".join(parts)
        parts.clear()
        parts.append(text)
    return parts[0]


@dataclass(frozen=True, eq=False, repr=False)
class SystemStream:
    """`sys.stdout` or `sys.stderr`, whatever it is when it is written to."""

    _number: int

    def _tierup_python_(self):
        return sys.stderr if self._number == 2 else sys.stdout

    def write(self, s):
        if not isinstance(s, str):
            raise TypeError("write() argument must be str, not " + type(s).__name__)
        return _write(self._number, s)

    def writelines(self, lines):
        for line in lines:
            self.write(line)

    def flush(self):
        _flush(self._number)


def _written(number, text):
    (sys.stderr if number == 2 else sys.stdout).write(text)
    return len(text)


def _flushed(number):
    (sys.stderr if number == 2 else sys.stdout).flush()


_write = python_caller(_written, "number, text", "int", changes=True)
_flush = python_caller(_flushed, "number", "none", changes=True)


def system(name):
    """What compiled code has of `sys.stdout` and `sys.stderr`, which are named where they are used."""
    return SystemStream(2 if name == "stderr" else 1)


def string_io(initial_value="", newline="\n"):
    text = "" if initial_value is None else initial_value
    return StringIO([text], [0, len(text), 0])


def print_to(sep, end, flush, file, *values):
    """``print`` of values, each written by itself."""
    first = True
    for v in unroll(values):
        text = str(v)
        if not first:
            file.write(" " if sep is None else sep)
        first = False
        file.write(text)
    file.write("\n" if end is None else end)
    if flush:
        file.flush()
