"""`sys.stdout` and `sys.stderr` in compiled code: whatever they are when they are written to."""

import contextlib
import io
import sys

import pytest
from tierup import njit
from tierup.errors import TierupError

KEPT = sys.stderr


@njit
def logged(x):
    print("value", x, 1.5, sep="|", file=sys.stderr)
    sys.stderr.write("end\n")
    sys.stdout.write("out\n")
    sys.stderr.flush()


def test_each_is_what_it_is_at_the_time():
    for _ in range(2):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            logged(3)
        assert (out.getvalue(), err.getvalue()) == ("out\n", "value|3|1.5\nend\n")


def test_what_they_raise_is_raised():
    class Broken(io.StringIO):
        def write(self, text):
            raise OSError("full")

    with contextlib.redirect_stderr(Broken()), pytest.raises(OSError, match="full"):
        logged(3)


def test_a_stream_under_another_name_is_refused():
    @njit
    def kept(x):
        print(x, file=KEPT)

    with pytest.raises(TierupError, match="KEPT"):
        kept(1)
