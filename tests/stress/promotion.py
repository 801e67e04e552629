"""Sixteen threads call, compile, promote and drop a thousand functions; every answer is checked, and memory must stay flat.

    python tests/stress/promotion.py --seconds 600

Functions are small and of many kinds (loops, recursion, generators, exceptions, lists, functions that call functions, with and without the GIL). Each has a constant of
its own, so that its code is its own; a few calls make it hot. Prints one line every now and then and ends with status 1 if an answer was wrong or
the process grew.
"""

import argparse
import gc
import os
import random
import sys
import tempfile
import threading
import time

# How much the process may grow between a third of the time and its end, besides `--slack`.
GROWTH = 0.05

KINDS = {
    "loop": ("def f(n):\n    s = 0\n    for i in range(n):\n        s += i * K\n    return s\n", {}),
    "loop_without_gil": ("def f(n):\n    s = 0\n    for i in range(n):\n        s += i * K + (i & 3)\n    return s\n", {"nogil": True}),
    "nest": ("def f(n):\n    s = 0\n    for i in range(n // 16):\n        for j in range(16):\n            s += (i ^ j) + K\n    return s\n", {}),
    "array": ("def f(n):\n    a = np.zeros(16)\n    for i in range(n):\n        a[i % 16] = a[i % 16] * 0.5 + K\n    return a.sum(), a.max()\n", {}),
    "recursion": ("def f(n):\n    return fib(n % 14)\n\n@jit\ndef fib(n):\n    return n + K if n < 2 else fib(n - 1) + fib(n - 2)\n", {}),
    "callee": ("def f(n):\n    s = 0\n    for i in range(1 + n // 64):\n        s += part(i, 64)\n    return s\n\n@jit\ndef part(i, n):\n    s = K\n    for j in range(n):\n        s += i ^ j\n    return s\n", {}),
    "generator": ("def f(n):\n    s = 0\n    for x in gen(n):\n        s += x\n    return s\n\n@jit\ndef gen(n):\n    for i in range(n):\n        yield i + K\n", {}),
    "raises": ("def f(n):\n    for i in range(n + 1):\n        if i == n:\n            raise ValueError(i + K)\n", {}),
    "caught": ("def f(n):\n    a = np.arange(8)\n    s = 0\n    for i in range(n):\n        try:\n            s += a[i % 10] + K\n        except IndexError:\n            s -= 1\n    return s\n", {}),
    "list": ("def f(n):\n    xs = [K]\n    for i in range(n % 500):\n        xs.append(xs[-1] ^ i)\n    return xs\n", {}),
    "text": ("def f(n):\n    t = str(K)\n    c = 0\n    for i in range(n % 300):\n        c += len(t) if t[i % len(t)] == '7' else 1\n    return c, t\n", {}),
}


def make(decorate, kind, constant):
    """A function of a kind and the same for Python."""
    import numpy as np
    text, options = KINDS[kind]
    text = text.replace("K", str(constant))
    compiled = {"np": np, "jit": decorate()}
    plain = {"np": np, "jit": lambda f: f}
    code = compile(text, f"<{kind}>", "exec")
    exec(code, compiled)
    exec(code, plain)
    return decorate(**options)(compiled["f"]), plain["f"]


def outcome(f, n):
    try:
        return f(n)
    except ValueError as e:
        return repr(e)


def resident():
    """Megabytes."""
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


class Stress:
    def __init__(self, options):
        import tierup
        self.options, self.tierup = options, tierup
        self.slots, self.end = [None] * options.functions, time.monotonic() + options.seconds
        self.wrong, self.calls, self.made, self.constants, self.lock = [], 0, 0, iter(range(10, 1 << 60)), threading.Lock()

    def work(self, seed):
        rng = random.Random(seed)
        decorate = lambda **options: self.tierup.njit(**options)
        while time.monotonic() < self.end and not self.wrong:
            slot = rng.randrange(len(self.slots))
            entry = self.slots[slot]
            if entry is None or rng.random() < 0.02:
                with self.lock:
                    constant = next(self.constants)
                # Now and then the code of an old one, which the cache may hold.
                kind, constant = rng.choice(list(KINDS)), constant if rng.random() < 0.8 else rng.randrange(10, constant + 1)
                entry = self.slots[slot] = (kind, constant, *make(decorate, kind, constant))
                self.made += 1
            kind, constant, f, plain = entry
            n = rng.choice((rng.randrange(20), rng.randrange(200), rng.randrange(200), 2000))
            want = outcome(plain, n)
            for _ in range(rng.choice((1, 3, 40))):
                got = outcome(f, n)
                self.calls += 1
                if got != want:
                    self.wrong.append(f"{kind} with {constant} of {n}: {got} instead of {want}")
                    return
            if kind.startswith("loop") and rng.random() < 0.01:
                n = 3_000_000  # long enough to go over while it runs
                want = n * (n - 1) // 2 * constant + (n // 4 * 6 if kind == "loop_without_gil" else 0)
                got = f(n)
                if got != want: self.wrong.append(f"{kind} with {constant} of {n}: {got} instead of {want}")

    def guarded(self, seed):
        try:
            self.work(seed)
        except BaseException as e:  # noqa: BLE001  (a thread's failure is the test's)
            self.wrong.append(f"{type(e).__name__}: {e}")

    def run(self):
        from tierup import _tierup
        threads = [threading.Thread(target=self.guarded, args=(self.options.seed + k,)) for k in range(self.options.threads)]
        begin = shown = time.monotonic()
        base, highest = None, 0.0
        for t in threads: t.start()
        while any(t.is_alive() for t in threads):
            time.sleep(0.2)
            now = time.monotonic()
            if base is None and now - begin > self.options.seconds / 3:
                base = resident()
            if base is not None: highest = max(highest, resident())
            if now - shown > max(5, self.options.seconds / 20):
                shown = now
                print(f"{now - begin:6.0f} s   {self.calls} calls   {self.made} functions made   {_tierup.promotions()} promotions   {resident():.0f} MB", flush=True)
            if now > self.end + 60:
                print("threads do not end", flush=True)
                os._exit(2)
        for t in threads: t.join()
        self.slots.clear()
        gc.collect()
        base = base or resident()
        print(f"{self.calls} calls, {self.made} functions made, {_tierup.promotions()} promotions, memory {base:.0f} MB at a third of the time, {highest:.0f} MB at most after that", flush=True)
        for w in self.wrong: print(f"WRONG: {w}", flush=True)
        if highest > base * (1 + GROWTH) + self.options.slack:
            self.wrong.append("it grew")
            print("the process grew", flush=True)
        return 1 if self.wrong else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--threads", type=int, default=16)
    parser.add_argument("--functions", type=int, default=1000)
    parser.add_argument("--slack", type=float, default=24, help="megabytes that the process may grow after a third of the time")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cache", action=argparse.BooleanOptionalAction, default=True, help="a code cache in a temporary directory of 16 MB")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="tierup-stress-", ignore_cleanup_errors=True) as directory:
        os.environ.update(TIERUP_CALLS="30", TIERUP_CACHE=str(int(options.cache)), TIERUP_CACHE_DIR=directory, TIERUP_CACHE_MB="16", TIERUP_COMPILE_THREADS="2")
        # Without this nobody else runs while a thread computes.
        sys.setswitchinterval(0.0005)
        status = Stress(options).run()
    # Threads of ours may be compiling: nothing is torn down.
    sys.stdout.flush()
    os._exit(status)


if __name__ == "__main__":
    main()
