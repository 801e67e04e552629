"""Business days of NumPy, by way of the numbers of days behind dates: day 0 is the first of 1970, a Thursday."""

import datetime

import numpy as np

_NAT = -9223372036854775808
_NAMES = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


def _mask(weekmask):
    """Which days of the week are business days."""
    mask = np.zeros(7, np.bool_)
    if isinstance(weekmask, str):
        _read_mask(weekmask, mask)
    else:
        if len(weekmask) != 7:
            raise ValueError("A business day weekmask array must have length 7")
        for k in range(7):
            mask[k] = weekmask[k] != 0
    if not mask.any():
        raise ValueError("the business day weekmask must have at least one valid business day")
    return mask


def _read_mask(text, mask):
    if len(text) == 7 and text.count("0") + text.count("1") == 7:
        for k in range(7):
            mask[k] = text[k] == "1"
        return
    at = 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        found = -1
        for k in range(7):
            if text[at:at + 3] == _NAMES[k]:
                found = k
        if found < 0:
            raise ValueError('Invalid business day weekmask string "' + text + '"')
        mask[found] = True
        at += 3


def _number(x):
    """The number of a day."""
    if isinstance(x, str):
        return np.datetime64(x, "D").astype(np.int64)
    if isinstance(x, datetime.date):
        return np.datetime64(x).astype(np.int64)
    return x.astype("M8[D]").astype(np.int64)


def _numbers(x):
    return np.asarray(_number(x))


def _holidays(holidays, mask):
    """The numbers of those holidays that are business days otherwise, in order."""
    if holidays is None:
        return np.zeros(0, np.int64)
    days = np.zeros(len(holidays), np.int64)
    n = 0
    for k in range(len(holidays)):
        day = _number(holidays[k])
        if day != _NAT and mask[(day + 3) % 7]:
            days[n] = day
            n += 1
    return np.unique(days[:n])


def _is_business(day, mask, holidays):
    if day == _NAT or not mask[(day + 3) % 7]:
        return False
    k = np.searchsorted(holidays, day)
    return k == len(holidays) or holidays[k] != day


def _between(holidays, begin, end):
    """How many holidays there are from one day up to another one."""
    return np.searchsorted(holidays, end) - np.searchsorted(holidays, begin)


def is_busday(dates, weekmask, holidays, busdaycal, out):
    mask = _mask(weekmask)
    off = _holidays(holidays, mask)
    days = _numbers(dates)
    found = np.empty(days.shape, np.bool_)
    for at in np.ndindex(days.shape):
        found[at] = _is_business(days[at], mask, off)
    return found[()]


def _count(begin, end, mask, per_week, holidays):
    if begin == _NAT or end == _NAT:
        raise ValueError("Cannot compute a business day count with a NaT (not-a-time) date")
    if begin > end:
        # What the first one is counted from is not counted, what the last one is, is.
        return -_count(end + 1, begin + 1, mask, per_week, holidays)
    weeks = (end - begin) // 7
    n = weeks * per_week - _between(holidays, begin, end)
    for day in range(begin + 7 * weeks, end):
        if mask[(day + 3) % 7]:
            n += 1
    return n


def count(begindates, enddates, weekmask, holidays, busdaycal, out):
    mask = _mask(weekmask)
    off = _holidays(holidays, mask)
    per_week = mask.sum()
    first, last = _numbers(begindates), _numbers(enddates)
    shape = np.broadcast_shapes(first.shape, last.shape)
    first, last = np.broadcast_to(first, shape), np.broadcast_to(last, shape)
    found = np.empty(shape, np.int64)
    for at in np.ndindex(shape):
        found[at] = _count(first[at], last[at], mask, per_week, off)
    return found[()]


def _month(day):
    return np.int64(day).astype("M8[D]").astype("M8[M]").astype(np.int64)


def _step(day, by, mask, holidays):
    """The next business day in a direction."""
    day += by
    while not _is_business(day, mask, holidays):
        day += by
    return day


def _rolled(day, roll, mask, holidays):
    if day == _NAT:
        if roll == "raise":
            raise ValueError("NaT input in busday_offset")
        return day
    if _is_business(day, mask, holidays):
        return day
    if roll == "raise":
        raise ValueError("Non-business day date in busday_offset")
    if roll == "nat":
        return _NAT
    forward = roll == "forward" or roll == "following" or roll == "modifiedfollowing"
    by = 1 if forward else -1
    found = _step(day, by, mask, holidays)
    if roll.startswith("modified") and _month(found) != _month(day):
        return _step(day, -by, mask, holidays)
    return found


def _moved(day, offset, mask, per_week, holidays):
    while offset > 0:
        weeks = offset // per_week
        if weeks > 0:
            new = day + 7 * weeks
            offset += _between(holidays, day + 1, new + 1) - weeks * per_week
            day = new
        else:
            day = _step(day, 1, mask, holidays)
            offset -= 1
    while offset < 0:
        weeks = -offset // per_week
        if weeks > 0:
            new = day - 7 * weeks
            offset += weeks * per_week - _between(holidays, new, day)
            day = new
        else:
            day = _step(day, -1, mask, holidays)
            offset += 1
    return day


def _check_roll(roll):
    if roll not in ("raise", "nat", "forward", "following", "backward", "preceding", "modifiedfollowing", "modifiedpreceding"):
        raise ValueError('Invalid business day roll parameter "' + roll + '"')


def offset(dates, offsets, roll, weekmask, holidays, busdaycal, out):
    _check_roll(roll)
    mask = _mask(weekmask)
    off = _holidays(holidays, mask)
    per_week = mask.sum()
    days, by = _numbers(dates), np.asarray(offsets)
    shape = np.broadcast_shapes(days.shape, by.shape)
    days, by = np.broadcast_to(days, shape), np.broadcast_to(by, shape)
    found = np.empty(shape, np.int64)
    for at in np.ndindex(shape):
        day = _rolled(days[at], roll, mask, off)
        found[at] = day if day == _NAT else _moved(day, by[at], mask, per_week, off)
    return found.astype("M8[D]")[()]
