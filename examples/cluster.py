"""One job on many processes: a Monte-Carlo valuation, and an image in strips, on local clusters of Dask and Ray. Prints how they scale; the answers must be those of one process.

    python examples/cluster.py                       what is installed of Dask and Ray, up to all processors
    python examples/cluster.py --on dask --workers 1 2 --small

Functions are sent as they are: a worker compiles them once, and finds what was hot elsewhere in the code cache that all share.
"""

import argparse
import importlib
import importlib.util
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from tierup import njit, vectorize

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
#: The arguments of one call.
Task = tuple[Any, ...]


# ---------------------------------------------------------------- a valuation

@dataclass(frozen=True)
class Option:
    """The right to buy at `strike` what cost its mean over the days until then."""

    spot: float = 100.0
    strike: float = 105.0
    rate: float = 0.03
    volatility: float = 0.25
    days: int = 60


@njit
def payoffs(option: Option, seed: int, paths: int) -> tuple[float, float]:
    """The sum of what paths pay, and of its squares."""
    np.random.seed(seed)
    dt = 1 / 365
    drift = (option.rate - option.volatility**2 / 2) * dt
    step = option.volatility * np.sqrt(dt)
    total = squares = 0.0
    for _ in range(paths):
        log = mean = 0.0
        for _ in range(option.days):
            log += drift + step * np.random.standard_normal()
            mean += np.exp(log)
        pays = max(option.spot * mean / option.days - option.strike, 0.0)
        total += pays
        squares += pays * pays
    return total, squares


def price(option: Option, parts: Sequence[tuple[float, float]], paths: int) -> tuple[float, float]:
    """Price and standard error, in cents."""
    n = len(parts) * paths
    total, squares = sum(total for total, _ in parts), sum(squares for _, squares in parts)
    discount = 100 * np.exp(-option.rate * option.days / 365)
    return discount * total / n, discount * np.sqrt((squares / n - (total / n) ** 2) / n)


# ---------------------------------------------------------------- an image

HALO = 3
BINS = 32


@njit
def picture(top: int, bottom: int, height: int, width: int) -> Floats:
    """Rows of an image; beyond its edges they repeat."""
    rows = np.empty((bottom - top, width))
    for i in range(top, bottom):
        y = min(max(i, 0), height - 1) / height
        for j in range(width):
            x = j / width
            rows[i - top, j] = 0.5 + 0.3 * np.sin(40 * x * y) * np.cos(25 * y) + 0.2 * np.sin(900 * x + 300 * y)
    return rows


@njit
def blurred(a: Floats) -> Floats:
    """A mean over five by five; two rows less above and below."""
    height, width = a.shape
    out = np.empty((height - 4, width))
    for i in range(height - 4):
        for j in range(width):
            s = 0.0
            for di in range(5):
                for dj in range(-2, 3):
                    s += a[i + di, min(max(j + dj, 0), width - 1)]
            out[i, j] = s / 25
    return out


@njit
def edges(a: Floats) -> Floats:
    """How steep it is; a row less above and below."""
    height, width = a.shape
    out = np.empty((height - 2, width))
    for i in range(height - 2):
        for j in range(width):
            down = a[i + 2, j] - a[i, j]
            right = a[i + 1, min(j + 1, width - 1)] - a[i + 1, max(j - 1, 0)]
            out[i, j] = np.sqrt(down * down + right * right)
    return out


@vectorize
def tone(x: float) -> float:
    return x / (x + 0.05)


@njit
def counted(a: Floats) -> Counts:
    counts = np.zeros(BINS, np.int64)
    for v in a.flat:
        counts[min(int(v * BINS), BINS - 1)] += 1
    return counts


def strip(top: int, bottom: int, height: int, width: int) -> Counts:
    """How often each tone is in rows of the image."""
    return counted(tone(edges(blurred(picture(top - HALO, bottom + HALO, height, width)))))


# ---------------------------------------------------------------- where it runs

class Place(Protocol):
    name: str
    workers: int

    def each(self, f: Callable[..., Any], tasks: Sequence[Task]) -> Iterator[tuple[int, Any]]: ...
    def close(self) -> None: ...


class Here:
    name, workers = "here", 1

    def each(self, f: Callable[..., Any], tasks: Sequence[Task]) -> Iterator[tuple[int, Any]]:
        for k, task in enumerate(tasks):
            yield k, f(*task)

    def close(self) -> None:
        pass


class Dask:
    name = "dask"

    def __init__(self, workers: int):
        distributed: Any = importlib.import_module("distributed")
        self.as_completed = distributed.as_completed
        self.workers = workers
        self.cluster = distributed.LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None)
        self.client = distributed.Client(self.cluster)

    def each(self, f: Callable[..., Any], tasks: Sequence[Task]) -> Iterator[tuple[int, Any]]:
        number: dict[str, tuple[int, Any]] = {future.key: (k, future) for k, future in enumerate(self.client.map(f, *zip(*tasks, strict=True), pure=False))}
        for future in self.as_completed([future for _, future in number.values()]):
            yield number[future.key][0], future.result()

    def close(self) -> None:
        self.client.close()
        self.cluster.close()


class Ray:
    name = "ray"

    def __init__(self, workers: int):
        self.workers = workers
        self.ray: Any = importlib.import_module("ray")
        self.ray.init(num_cpus=workers, include_dashboard=False, log_to_driver=False, logging_level="ERROR")

    def each(self, f: Callable[..., Any], tasks: Sequence[Task]) -> Iterator[tuple[int, Any]]:
        def plain(*task: Any) -> Any:
            return f(*task)

        remote = self.ray.remote(plain if hasattr(f, "py_func") else f)
        number: dict[Any, int] = {remote.remote(*task): k for k, task in enumerate(tasks)}
        left = list(number)
        while left:
            done, left = self.ray.wait(left)
            for ref in done:
                yield number[ref], self.ray.get(ref)

    def close(self) -> None:
        self.ray.shutdown()


def bar(done: int, total: int, width: int = 30) -> None:
    if sys.stderr.isatty():
        full = width * done // total
        print(f"\r  [{'#' * full}{'.' * (width - full)}] {done}/{total} ", end="" if done < total else "\r" + " " * (width + 20) + "\r", file=sys.stderr, flush=True)


def run(place: Place, f: Callable[..., Any], tasks: Sequence[Task]) -> tuple[list[Any], float]:
    """Results in the order of the tasks, and how long they took."""
    found: list[Any] = [None] * len(tasks)
    start = perf_counter()
    bar(0, len(tasks))
    for done, (k, result) in enumerate(place.each(f, tasks), 1):
        found[k] = result
        bar(done, len(tasks))
    return found, perf_counter() - start


Job = tuple[str, Callable[..., Any], Sequence[Task], Callable[[list[Any]], Any], Callable[[Any], str]]


def summed(parts: Iterable[Counts]) -> list[int]:
    return np.sum(list(parts), axis=0).tolist()


def said(counts: list[int]) -> str:
    return f"{sum(counts)} points, {max(counts)} of tone {counts.index(max(counts))}"


def jobs(small: bool) -> Iterator[Job]:
    """(title, function, tasks, what the results come to, that as a text)."""
    option, paths = Option(), 200 if small else 20_000
    seeds = range(8 if small else 64)
    yield "Monte-Carlo valuation", payoffs, [(option, seed, paths) for seed in seeds], lambda parts: price(option, parts, paths), "{0[0]:.4f} cents, give or take {0[1]:.4f}".format
    height, width, rows = (64, 48, 16) if small else (6000, 4000, 100)
    strips = [(top, min(top + rows, height), height, width) for top in range(0, height, rows)]
    yield "image in strips", strip, strips, summed, said


def main(arguments: list[str]) -> int:
    installed = [name for name, package in [("dask", "distributed"), ("ray", "ray")] if importlib.util.find_spec(package)]
    parser = argparse.ArgumentParser(description="One job on many processes.")
    parser.add_argument("--on", nargs="+", choices=["dask", "ray"], default=installed, help="local clusters; those that are installed")
    parser.add_argument("--workers", nargs="+", type=int, help="how many processes, one run for each")
    parser.add_argument("--small", action="store_true", help="a job of a moment")
    given = parser.parse_args(arguments)
    if missing := [name for name in given.on if name not in installed]:
        parser.error(f"{missing[0]} is not installed")
    processors = len(os.sched_getaffinity(0))
    workers = given.workers or sorted({1, 2, processors // 2, processors} - {0})
    answers: dict[str, Any] = {}
    times: dict[str, float] = {}
    wrong = False
    clusters: dict[str, Callable[[int], Place]] = {"dask": Dask, "ray": Ray}
    for kind, many in [(None, 1), *((clusters[name], n) for name in given.on for n in workers)]:
        place = Here() if kind is None else kind(many)
        try:
            for title, f, tasks, whole, shown in jobs(given.small):
                if kind is not None:
                    # Workers start, import and compile once; that is not what is to be shown here.
                    run(place, f, tasks[: place.workers])
                parts, took = run(place, f, tasks)
                answer = whole(parts)
                times.setdefault(title, took)
                same = answers.setdefault(title, answer) == answer
                wrong |= not same
                print(f"{title:<22} {place.name:<5} {place.workers:>3} {'process' if place.workers == 1 else 'processes':<10} {took:>8.2f} s {times[title] / took:>6.1f}x  {shown(answer)}{'' if same else '  WRONG'}", flush=True)
        finally:
            place.close()
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
