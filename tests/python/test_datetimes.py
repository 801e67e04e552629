"""What of `datetime` depends on the time zone of the machine, and times with a zone, which compiled code has not; all else is in tests/mdtest/language/datetime.md."""

import os
import time
import warnings
from datetime import datetime, timezone

import pytest
from tierup import jit, njit


@pytest.fixture
def berlin():
    before = os.environ.get("TZ")
    os.environ["TZ"] = "Europe/Berlin"
    time.tzset()
    yield
    os.environ.pop("TZ")
    if before is not None:
        os.environ["TZ"] = before
    time.tzset()


def test_the_time_zone_of_the_machine_holds(berlin):
    @njit
    def there_and_back(x):
        return x.timestamp(), datetime.fromtimestamp(x.timestamp())

    for month in (1, 7):
        x = datetime(2024, month, 1, 5)
        assert there_and_back(x) == (x.timestamp(), x)


def test_python_runs_what_gives_a_time_with_a_zone_or_a_fold(berlin):
    def iso(s):
        return datetime.fromisoformat(s)

    def in_format(s):
        return datetime.strptime(s, "%Y-%m-%d %z")

    def of_seconds(x):
        return datetime.fromtimestamp(x)

    for f, x in ((iso, "2024-02-29T01:02:03Z"), (in_format, "2024-01-01 +0100"), (of_seconds, 1698543900)):
        got, want = jit(f)(x), f(x)
        assert (got, got.tzinfo, got.fold) == (want, want.tzinfo, want.fold)
        with pytest.raises(ValueError, match="time zone"):
            njit(f)(x)


def test_utc():
    @njit
    def utc(x):
        return datetime.utcfromtimestamp(x), datetime.utcnow()

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        before, (then, now), after = datetime.utcnow(), utc(1e9), datetime.utcnow()
    assert then == datetime.fromtimestamp(1e9, timezone.utc).replace(tzinfo=None) and before <= now <= after
