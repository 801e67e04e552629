"""`python -m tierup cache`: looks after the code cache, the directory that `tierup.config.cache_dir` names.

list     every entry: when it was last used, bytes, the function
size     how many entries there are, and how much they take
clear    removes all of them
verify   reads and checks every one; what is wrong with those that cannot be used
path     the directory
"""

import sys
import time
from collections import Counter
from typing import NamedTuple

from . import _tierup, config


class Stats(NamedTuple):
    """What the cache did for one function: for which argument types code came out of it, and for which it was made."""

    cache_path: str
    cache_hits: Counter
    cache_misses: Counter


def stats(dispatcher, signatures):
    """`signatures` are the argument types of its overloads, in order. Those that have no place in the cache are in neither table."""
    hits, misses = Counter(), Counter()
    for i, args in enumerate(signatures):
        found = _tierup.cache_key(dispatcher, i)
        if found is not None:
            (hits if found[1] else misses)[args] += 1
    return Stats(str(_tierup.cache_path(config.cache_dir)[0]), hits, misses)


def _entries():
    return _tierup.cache_entries(config.cache_dir)


def _megabytes(entries):
    return f"{sum(e[2] for e in entries) / 2**20:.1f} of {config.cache_mb} MB"


def _plain(label):
    """A label for a terminal: it comes out of a file."""
    return "".join(c if c.isprintable() else "?" for c in label)


def show_list():
    entries = _entries()
    for name, label, size, used, problem in entries:
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(used))
        print(f"{when}  {size:>9}  {name[:12]}  {f'({problem})' if problem else _plain(label)}")
    print(f"{len(entries)} entries, {_megabytes(entries)}")
    return 0


def show_size():
    entries = _entries()
    print(f"{len(entries)} entries, {_megabytes(entries)}")
    return 0


def clear():
    print(f"{_tierup.cache_clear(config.cache_dir)} entries removed")
    return 0


def verify():
    entries = _entries()
    bad = [e for e in entries if e[4]]
    for name, _, _, _, problem in bad:
        print(f"{name}: {problem}")
    print(f"{len(entries)} entries, {len(bad)} cannot be used" if bad else f"{len(entries)} entries, all sound")
    return 1 if bad else 0


def path():
    where, problem = _tierup.cache_path(config.cache_dir)
    print(where)
    if not config.cache:
        print("the code cache is off: TIERUP_CACHE=0", file=sys.stderr)
    if problem:
        print(f"it is not used: {problem}", file=sys.stderr)
    return 1 if problem else 0


COMMANDS = {"list": show_list, "size": show_size, "clear": clear, "verify": verify, "path": path}


def main(args):
    if len(args) != 1 or args[0] not in COMMANDS:
        print(f"usage: python -m tierup cache [{' | '.join(COMMANDS)}]\n\n{__doc__}", file=sys.stderr)
        return 0 if args in (["-h"], ["--help"]) else 2
    try:
        return COMMANDS[args[0]]()
    except OSError as e:
        print(e, file=sys.stderr)
        return 1
