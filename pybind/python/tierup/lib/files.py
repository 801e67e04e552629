"""Files that ``open`` gives. Python has them, by numbers; every operation asks it."""

import itertools

from .._calls import python_caller

_files = {}
_numbers = itertools.count(1)


def _opened(path, mode, encoding, errors, newline):
    file = open(path, mode, encoding=encoding, errors=errors, newline=newline)
    number = next(_numbers)
    _files[number] = file
    return number


def _file(number):
    file = _files.get(number)
    if file is None:
        raise ValueError("I/O operation on closed file.")
    return file


def _written(number, data):
    file = _file(number)
    count = file.write(data)
    # Nothing tells Python when compiled code drops a file that it did not close.
    file.flush()
    return count


def _closed(number):
    file = _files.pop(number, None)
    if file is not None:
        file.close()


def _is_closed(number):
    return number not in _files


_open = python_caller(_opened, "path, mode, encoding, errors, newline", "int", changes=True)
_write = python_caller(_written, "number, data", "int", changes=True)
_close = python_caller(_closed, "number", "none", changes=True)
_is_gone = python_caller(_is_closed, "number", "bool", changes=True)
_check = python_caller(lambda number: _file(number).flush(), "number", "none", changes=True)
_seek = python_caller(lambda number, offset, whence: _file(number).seek(offset, whence), "number, offset, whence", "int", changes=True)
_text = python_caller(lambda number, size: _file(number).read(size), "number, size", "str", changes=True)
_line = python_caller(lambda number, size: _file(number).readline(size), "number, size", "str", changes=True)
_next_line = python_caller(lambda number: next(_file(number), ""), "number", "str", changes=True)
_bytes = python_caller(lambda number, size: _file(number).read(size), "number, size", "bytes", changes=True)
_line_of_bytes = python_caller(lambda number, size: _file(number).readline(size), "number, size", "bytes", changes=True)
_next_of_bytes = python_caller(lambda number: next(_file(number), b""), "number", "bytes", changes=True)
_tell = python_caller(lambda number: _file(number).tell(), "number", "int", changes=True)


class File:
    def __init__(self, number, name, mode):
        self._number, self.name, self.mode = number, name, mode
        # A function that is made here is why this does not leave compiled code.
        self._stays = lambda: None

    def __enter__(self):
        _check(self._number)
        return self

    def __exit__(self, kind, value, traceback):
        _close(self._number)
        return None

    @property
    def closed(self):
        return _is_gone(self._number)

    def close(self):
        _close(self._number)

    def flush(self):
        _check(self._number)

    def seek(self, offset, whence=0):
        return _seek(self._number, offset, whence)

    def tell(self):
        return _tell(self._number)

    def write(self, data):
        return _write(self._number, data)

    def writelines(self, lines):
        for line in lines:
            _write(self._number, line)

    def __iter__(self):
        _check(self._number)
        return self

    def readlines(self):
        return [line for line in self]


class TextFile(File):
    def read(self, size=-1):
        return _text(self._number, -1 if size is None else size)

    def readline(self, size=-1):
        return _line(self._number, size)

    def __next__(self):
        line = _next_line(self._number)
        if len(line) == 0:
            raise StopIteration
        return line


class BinaryFile(File):
    def read(self, size=-1):
        return _bytes(self._number, -1 if size is None else size)

    def readline(self, size=-1):
        return _line_of_bytes(self._number, size)

    def __next__(self):
        line = _next_of_bytes(self._number)
        if len(line) == 0:
            raise StopIteration
        return line


def open_text(file, mode, buffering, encoding, errors, newline):
    return TextFile(_open(file, mode, encoding, errors, newline), file, mode)


def open_binary(file, mode, buffering, encoding, errors, newline):
    return BinaryFile(_open(file, mode, encoding, errors, newline), file, mode)
