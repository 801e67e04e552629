"""One example in a process of its own: first call, steady state, answer. Started by `run.py`.

    measure.py NAME python      plain Python: the decorators of Tierup and Numba are replaced by the identity
    measure.py NAME tierup      compiled; examples written for Numba are started with `python -m tierup --as-numba measure.py ...`
"""

import importlib
import json
import statistics
import sys
import types
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any, cast

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))


def identity(f: Any) -> Any:
    return f


def decorator(*args: Any, **kwargs: Any) -> Callable[..., Any]:
    return args[0] if len(args) == 1 and callable(args[0]) else identity


def plain(name: str) -> None:
    """A stand-in for a package whose decorators do nothing."""
    module = types.ModuleType(name)
    vars(module).update(njit=decorator, jit=decorator)
    sys.modules[name] = module


def answer(value: Any) -> Any:
    if isinstance(value, (np.ndarray, tuple, list)):
        return [answer(v) for v in cast("list[Any]", value)]
    return value if isinstance(value, str) else float(value)


def main(name: str, mode: str) -> None:
    if mode == "python":
        plain("tierup")
        plain("numba")
    module = importlib.import_module(name)
    times: list[float] = []
    result: Any = None
    begin = perf_counter()
    while not times or (mode != "python" and (len(times) < 4 or perf_counter() - begin < 0.5)):
        args = module.arguments()
        start = perf_counter()
        result = module.run(*args)
        times.append(perf_counter() - start)
    print(json.dumps({"first": times[0], "steady": statistics.median(times[1:] or times), "answer": answer(result)}))


main(*sys.argv[1:3])
