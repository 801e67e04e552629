"""How memory grows while something runs again and again."""

import gc

WINDOWS = 4


def resident():
    """The memory that the process has, in KiB."""
    with open("/proc/self/status") as f:
        return next(int(line.split()[1]) for line in f if line.startswith("VmRSS"))


def growth(work, times):
    """KiB by which memory grows while `work` runs so often: the least of a few such windows. What leaks does so in each of them; what the background compiles, or what is made once, takes memory in one."""
    work()
    found = []
    for _ in range(WINDOWS):
        gc.collect()
        before = resident()
        for _ in range(times):
            work()
        gc.collect()
        found.append(resident() - before)
    return min(found)
