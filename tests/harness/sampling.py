"""Which of the generated tests run: everything where `TIERUP_TESTS=all`, else a sample that changes by the day, so that many days together cover all of it.

`TIERUP_TEST_SEED` is the seed of the sample, the date where it is not given; the head of every run prints it, and giving it runs the same sample again.
`TIERUP_TEST_SHARE=K` runs one of K tests of every kind, chosen by the same seed: what a second run of the same code, without LLVM say, has to show.
"""

import datetime
import os
import random
import zlib

ALL = os.environ.get("TIERUP_TESTS") == "all"
# Into the environment, so that the processes of one run agree, also past midnight.
SEED = int(os.environ.setdefault("TIERUP_TEST_SEED", datetime.date.today().strftime("%Y%m%d")))
SHARE = int(os.environ.get("TIERUP_TEST_SHARE", "1"))


def choice(every, count, *name):
    """So many members of a list, others every day; all of them where `count` is None or everything runs."""
    every = list(every)
    if ALL or count is None or count >= len(every):
        return every
    return random.Random(f"{SEED} {name}").sample(every, count)


def first_seed(*name):
    """Where a fuzzer starts today."""
    return random.Random(f"{SEED} {name}").randrange(1 << 30)


def batches(count, part, *name):
    """First seeds of the batches of a fuzzer: half of them the same every day, for the others [`first_seed`] says where to start. (id, first seed) of each."""
    first, half = first_seed(*name), count // 2 // part * part
    return [(str(at), at if at < half else first + at) for at in range(0, count, part)]


def in_share(name):
    return SHARE == 1 or zlib.crc32(f"{SEED} {name}".encode()) % SHARE == 0


def today(name, one_of):
    """Whether a test of which one of so many runs is in the sample of the day."""
    return ALL or zlib.crc32(f"today {SEED} {name}".encode()) % one_of == 0


def described():
    if ALL:
        return "everything that is generated"
    return f"a sample of what is generated, TIERUP_TEST_SEED={SEED}" + (f", one test of {SHARE}" if SHARE > 1 else "")
