"""Python's `datetime`: texts, weeks, what asks for the time zone of the machine, and dates beside NumPy's. All else is instructions and calls of the run-time."""

import datetime
import operator
import time
from collections import namedtuple

import numpy as np

from .._calls import python_caller


def _asked(function, names, result):
    """The function that asks Python for a value; None for one that compiled code has not."""
    def ask(*args):
        x = function(*args)
        return None if getattr(x, "tzinfo", None) is not None or getattr(x, "fold", 0) else x
    return python_caller(ask, names, f"optional({result})")


def _said(x):
    if x is None:
        operator._not_said("a time has a time zone, or is of an hour that comes twice, which compiled code does not have: convert it to UTC outside")
        raise ValueError("a time zone")
    return x


_date_of_text = python_caller(datetime.date.fromisoformat, "text", "datetime.date")
_moment_of_text = _asked(datetime.datetime.fromisoformat, "text", "datetime.datetime")
_clock_of_text = _asked(datetime.time.fromisoformat, "text", "datetime.time")
_moment_in_format = _asked(datetime.datetime.strptime, "text, format", "datetime.datetime")
_timestamp = python_caller(datetime.datetime.timestamp, "x", "float")
_date_of_timestamp = python_caller(datetime.date.fromtimestamp, "x", "datetime.date")
_moment_of_timestamp = _asked(datetime.datetime.fromtimestamp, "x", "datetime.datetime")
_moment_of_utc = python_caller(datetime.datetime.utcfromtimestamp, "x", "datetime.datetime")
_now_of_utc = python_caller(datetime.datetime.utcnow, "", "datetime.datetime", changes=True)
_date_of_week = python_caller(datetime.date.fromisocalendar, "year, week, day", "datetime.date")

IsoCalendarDate = namedtuple("IsoCalendarDate", "year week weekday")
IsoCalendarDate.__name__ = "datetime.IsoCalendarDate"
IsoCalendarDate._tierup_class_ = type(datetime.date.min.isocalendar())


struct_time = namedtuple("struct_time", "tm_year tm_mon tm_mday tm_hour tm_min tm_sec tm_wday tm_yday tm_isdst")
struct_time.__name__ = "time.struct_time"
struct_time._tierup_class_ = time.struct_time
# Python's is made of a tuple.
struct_time._tierup_of_tuple_ = time.struct_time


def format_value(x, conversion, spec):
    if conversion == 2 or conversion == 3:
        text = repr(x)
    elif conversion == 1 or spec is None:
        text = str(x)
    else:
        return formatted(x, spec)
    if spec is None:
        return text
    return format(text, spec)


def formatted(x, spec):
    if isinstance(x, datetime.timedelta):
        if spec != "":
            raise TypeError("unsupported format string passed to datetime.timedelta.__format__")
        return str(x)
    if spec == "":
        return str(x)
    return x.strftime(spec)


def item(x):
    """What `x.item()` is of units for which Python has dates or spans."""
    return None if np.isnat(x) else datetime._from_count(x)


def count_item(x):
    """The same of units for which it has none."""
    return None if np.isnat(x) else int(x.astype(np.int64))


def as_object(x, dtype):
    return x.item()


def tolist(a):
    if a.ndim == 0:
        return a[()].item()
    if a.ndim == 1:
        return [x.item() for x in a]
    return [tolist(row) for row in a]


# ---------------------------------------------------------------- texts

def _digits(text, start, stop):
    """The number that digits of ASCII are; -1 of anything else."""
    x = 0
    for k in range(start, stop):
        digit = ord(text[k]) - 48
        if not 0 <= digit <= 9:
            return -1
        x = 10 * x + digit
    return x


def _day(text):
    """The date of a text that begins with one as `isoformat` writes it, as its number; 0 of any other, and of what needs the calendar."""
    if text[4] != "-" or text[7] != "-":
        return 0
    year, month, day = _digits(text, 0, 4), _digits(text, 5, 7), _digits(text, 8, 10)
    if year < 1 or not 1 <= month <= 12 or not 1 <= day <= 28:
        return 0
    return datetime.date(year, month, day).toordinal()


def date_of_text(text):
    day = _day(text) if len(text) == 10 else 0
    return datetime.date.fromordinal(day) if day > 0 else _date_of_text(text)


def moment_of_text(text):
    n = len(text)
    if n == 10:
        day = _day(text)
        if day > 0:
            return datetime.datetime.fromordinal(day)
    elif n == 19 or n == 26 and text[19] == ".":
        day = _day(text)
        hour, minute, second = _digits(text, 11, 13), _digits(text, 14, 16), _digits(text, 17, 19)
        micros = _digits(text, 20, n)
        if day > 0 and (text[10] == "T" or text[10] == " ") and text[13] == ":" and text[16] == ":" and 0 <= hour <= 23 and 0 <= minute <= 59 and 0 <= second <= 59 and micros >= 0:
            return datetime.datetime.combine(datetime.date.fromordinal(day), datetime.time(hour, minute, second, micros))
    return _said(_moment_of_text(text))


def clock_of_text(text):
    return _said(_clock_of_text(text))


def moment_in_format(text, format):
    return _said(_moment_in_format(text, format))


_DAYS = "MonTueWedThuFriSatSun"
_MONTHS = "JanFebMarAprMayJunJulAugSepOctNovDec"


def date_as_c(d):
    k, m = 3 * d.weekday(), 3 * (d.month - 1)
    return f"{_DAYS[k:k + 3]} {_MONTHS[m:m + 3]} {d.day:2d} 00:00:00 {d.year:04d}"


def moment_as_c(x):
    k, m = 3 * x.weekday(), 3 * (x.month - 1)
    return f"{_DAYS[k:k + 3]} {_MONTHS[m:m + 3]} {x.day:2d} {x.hour:02d}:{x.minute:02d}:{x.second:02d} {x.year:04d}"


# ---------------------------------------------------------------- the time zone of the machine

def timestamp(x):
    return _timestamp(x)


def date_of_timestamp(timestamp):
    return _date_of_timestamp(timestamp)


def moment_of_timestamp(timestamp):
    return _said(_moment_of_timestamp(timestamp))


def moment_of_utc(timestamp):
    return _moment_of_utc(timestamp)


def now_of_utc():
    return _now_of_utc()


# ---------------------------------------------------------------- weeks

def _first_monday(year):
    """The Monday of the week that has the first Thursday of a year, as a number of days."""
    first = datetime.date(year, 1, 1).toordinal()
    weekday = (first + 6) % 7
    monday = first - weekday
    return monday + 7 if weekday > 3 else monday


def timetuple(d):
    return struct_time(d.year, d.month, d.day, 0, 0, 0, d.weekday(), d.toordinal() - datetime.date(d.year, 1, 1).toordinal() + 1, -1)


def timetuple_of_local(x):
    return _timetuple(x, -1)


def _timetuple(x, summer):
    return struct_time(x.year, x.month, x.day, x.hour, x.minute, x.second, x.weekday(), x.toordinal() - datetime.date(x.year, 1, 1).toordinal() + 1, summer)


def timetuple_of_utc(x):
    return _timetuple(x, 0)


def isocalendar(d):
    year, day = d.year, d.toordinal()
    week, weekday = divmod(day - _first_monday(year), 7)
    if week < 0:
        year -= 1
        # Of the year before the first one only the last week is asked for.
        start = -6 if year == 0 else _first_monday(year)
        week, weekday = divmod(day - start, 7)
    elif week >= 52 and year < 9999 and day >= _first_monday(year + 1):
        year += 1
        week = 0
    return IsoCalendarDate(year, week + 1, weekday + 1)


def date_of_week(year, week, day):
    return _date_of_week(year, week, day)


def moment_of_week(year, week, day):
    return datetime.datetime.combine(_date_of_week(year, week, day), datetime.time())


# ---------------------------------------------------------------- beside dates and spans of NumPy's

def _object(x):
    """What Python has for an operand: NumPy computes with that."""
    return x.item() if isinstance(x, np.generic) else x


def _there(x, text, a, b):
    """What Python has for an operand of a comparison, which is ordered."""
    y = _object(x)
    if y is None:
        raise TypeError("'" + text + "' not supported between instances of " + _class(a) + " and " + _class(b))
    return y


def _class(x):
    if isinstance(x, np.generic):
        return "'NoneType'"
    return "'datetime.datetime'" if isinstance(x, datetime.datetime) else "'datetime.date'" if isinstance(x, datetime.date) else "'datetime.timedelta'"


def _each(f, a, x):
    y = np.empty(a.shape, np.bool_)
    flat = y.reshape(-1)
    k = 0
    for element in a.flat:
        flat[k] = f(element, x)
        k += 1
    return y


def lt(a, b):
    if isinstance(a, np.ndarray):
        return _each(lt, a, b)
    if isinstance(b, np.ndarray):
        return _each(gt, b, a)
    return _there(a, "<", a, b) < _there(b, ">", b, a)


def le(a, b):
    if isinstance(a, np.ndarray):
        return _each(le, a, b)
    if isinstance(b, np.ndarray):
        return _each(ge, b, a)
    return _there(a, "<=", a, b) <= _there(b, ">=", b, a)


def gt(a, b):
    if isinstance(a, np.ndarray):
        return _each(gt, a, b)
    if isinstance(b, np.ndarray):
        return _each(lt, b, a)
    return _there(a, ">", a, b) > _there(b, "<", b, a)


def ge(a, b):
    if isinstance(a, np.ndarray):
        return _each(ge, a, b)
    if isinstance(b, np.ndarray):
        return _each(le, b, a)
    return _there(a, ">=", a, b) >= _there(b, "<=", b, a)


def eq(a, b):
    if isinstance(a, np.ndarray):
        return _each(eq, a, b)
    if isinstance(b, np.ndarray):
        return _each(eq, b, a)
    return _object(a) == _object(b)


def ne(a, b):
    if isinstance(a, np.ndarray):
        return _each(ne, a, b)
    if isinstance(b, np.ndarray):
        return _each(ne, b, a)
    return _object(a) != _object(b)


def _number(x, text, a, b):
    """The same of an operand of arithmetic."""
    y = _object(x)
    if y is None:
        raise TypeError("unsupported operand type(s) for " + text + ": " + _class(a) + " and " + _class(b))
    return y


def add(a, b):
    return _number(a, "+", a, b) + _number(b, "+", a, b)


def sub(a, b):
    return _number(a, "-", a, b) - _number(b, "-", a, b)


def truediv(a, b):
    return _number(a, "/", a, b) / _number(b, "/", a, b)


def floordiv(a, b):
    return _number(a, "//", a, b) // _number(b, "//", a, b)


def mod(a, b):
    return _number(a, "%", a, b) % _number(b, "%", a, b)
