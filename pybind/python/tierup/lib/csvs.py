"""Python's module ``csv``, in the dialect "excel" with other delimiters and quotes."""

import csv
import io
import operator
from _csv import Error


def _said_of_line_ends():
    try:
        return str(next(csv.reader(["a\rb"])))
    except Error as e:
        return str(e)


def _quotes_all_line_ends():
    """Whether a line end is quoted that is not the writer's own: from 3.13 on."""
    out = io.StringIO()
    csv.writer(out, lineterminator="x").writerow(["a\nb"])
    return out.getvalue().startswith('"')


_LINE_ENDS = _said_of_line_ends()
_ALL_LINE_ENDS = _quotes_all_line_ends()


class Reader:
    """What ``csv.reader`` gives."""

    def __init__(self, lines, delimiter, quotechar, doublequote, skipinitialspace):
        self._lines, self._delimiter, self._quote = lines, delimiter, quotechar
        self._double, self._skips = doublequote, skipinitialspace
        self.line_num = 0
        # A function that is made here is why this does not leave compiled code.
        self._stays = lambda: None

    def __iter__(self):
        return self

    def __next__(self):
        row, field = [], []
        # 0: a record begins, 1: a field begins, 2: in a field, 3: in quotes, 4: behind a quote in quotes, 5: the line
        # ends.
        state = 0
        while True:
            if state == 3:
                line = next(self._lines, None)
                if line is None:
                    row.append("".join(field))
                    return row
            else:
                line = next(self._lines)
            self.line_num += 1
            for c in line:
                state = self._take(c, state, field, row)
            state = self._end(state, field, row)
            if state != 3:
                return row

    def _take(self, c, state, field, row):
        line_ends = c == "\n" or c == "\r"
        if state == 5:
            if line_ends:
                return 5
            raise Error(_LINE_ENDS)
        if state == 3:
            if c == self._quote:
                return 4 if self._double else 2
            field.append(c)
            return 3
        if state == 4 and c == self._quote:
            field.append(c)
            return 3
        if state == 0 and line_ends:
            return 5
        if line_ends or c == self._delimiter:
            row.append("".join(field))
            field.clear()
            return 5 if line_ends else 1
        if state < 2:
            if c == self._quote:
                return 3
            if c == " " and self._skips:
                return 1
        field.append(c)
        return 2

    def _end(self, state, field, row):
        """The line is over, with or without a character that says so."""
        if state == 3:
            return 3
        if state == 1 or state == 2 or state == 4:
            row.append("".join(field))
            field.clear()
        return 0


def _character(name, value, default):
    if value is ...:
        return default
    if len(value) != 1:
        raise TypeError(f'"{name}" must be a 1-character string')
    return value


def reader(csvfile, dialect, delimiter, quotechar, doublequote, skipinitialspace):
    delimiter, quotechar = _character("delimiter", delimiter, ","), _character("quotechar", quotechar, '"')
    return Reader(iter(csvfile), delimiter, quotechar, bool(doublequote), bool(skipinitialspace))


class DictReader:
    """What ``csv.DictReader`` gives."""

    def __init__(self, rows, fieldnames, restval):
        self._rows, self._names, self.restval = rows, fieldnames, restval

    @property
    def line_num(self):
        return self._rows.line_num

    @property
    def fieldnames(self):
        if self._names is None:
            for row in self._rows:
                self._names = row
                break
        return self._names

    def __iter__(self):
        return self

    def __next__(self):
        if self._rows.line_num == 0:
            self.fieldnames
        row = next(self._rows)
        while len(row) == 0:
            row = next(self._rows)
        names = self.fieldnames
        if len(row) > len(names):
            operator._not_said("a row has more fields than names, which Python keeps in a list under None")
        found = dict(zip(names, row))
        if len(row) < len(names):
            rest = self.restval
            if rest is None:
                operator._not_said("a row has fewer fields than names, for which Python has None: give restval=''")
            else:
                for name in names[len(row) :]:
                    found[name] = rest
        return found


def dict_reader(f, fieldnames, restval, delimiter, quotechar):
    rows = reader(f, "excel", delimiter, quotechar, True, False)
    return DictReader(rows, None if fieldnames is None else [name for name in fieldnames], restval)


class Writer:
    """What ``csv.writer`` gives."""

    def __init__(self, file, delimiter, quotechar, lineterminator):
        self._file, self._delimiter, self._quote, self._end = file, delimiter, quotechar, lineterminator
        # A function that is made here is why this does not leave compiled code.
        self._stays = lambda: None

    def writerow(self, row):
        fields = [self._field(x) for x in row]
        if len(fields) == 1 and fields[0] == "":
            fields[0] = self._quote + self._quote
        return self._file.write(self._delimiter.join(fields) + self._end)

    def writerows(self, rows):
        for row in rows:
            self.writerow(row)

    def _field(self, x):
        if x is None:
            return ""
        text = repr(x) if isinstance(x, float) else str(x)
        for c in text:
            if c == self._delimiter or c == self._quote or c in self._end or _ALL_LINE_ENDS and c in "\r\n":
                return self._quote + text.replace(self._quote, self._quote + self._quote) + self._quote
        return text


def writer(csvfile, dialect, delimiter, quotechar, lineterminator):
    delimiter, quotechar = _character("delimiter", delimiter, ","), _character("quotechar", quotechar, '"')
    return Writer(csvfile, delimiter, quotechar, "\r\n" if lineterminator is ... else lineterminator)
