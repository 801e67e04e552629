"""Runs one generated case over its inputs and compares with NumPy: value, dtype, shape, arguments afterwards, type of the exception."""

import linecache
import random
import warnings

import numpy as np

from . import sampling, values
from .inputs import Value

FIXED, FEW = 16, 5


class Case:
    """One expression over named arguments. `inputs` lists tuples of specs; `rtol` is for float64, `rtol32` for float32; `raises` says that it may
    raise for every input."""

    def __init__(self, name, parameters, expression, inputs, rtol=0.0, rtol32=None, body=None, raises=False):
        self.raises = raises
        self.name, self.parameters, self.inputs = name, parameters, inputs
        self.rtol, self.rtol32 = rtol, rtol * 5e8 if rtol32 is None else rtol32
        self.source = f"def case({parameters}):\n" + "".join(f"    {line}\n" for line in (body or [])) + f"    return {expression}\n"

    def function(self):
        file = f"<case {self.name}>"
        linecache.cache[file] = (len(self.source), None, self.source.splitlines(True), file)
        namespace = {"np": np}
        exec(compile(self.source, file, "exec"), namespace)
        return namespace["case"]

    def sample(self, tier):
        """Inputs to try: on tier 0 the same in every run, since what they once found must stay found; elsewhere, where each takes much longer, a few that change by the day."""
        every = list(self.inputs())
        if tier != "tier0":
            return sampling.choice(every, FEW, self.name, tier)
        return every if sampling.ALL or len(every) <= FIXED else random.Random(self.name).sample(every, FIXED)


def outcome(f, args):
    """(snapshot of the result, exception class, its text, snapshot of the arguments, whether the result is of single precision)."""
    args = [values.clone(a) for a in args]
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            raw = f(*args)
            result, kind, text = values.freeze(raw), None, ""
        except Exception as e:  # noqa: BLE001
            raw, result, kind, text = None, None, type(e), f"{type(e).__name__}: {e}"
    return result, kind, text, [values.freeze(a) for a in args], single(raw)


def same_kind_of_error(want, got):
    """The same class, or both of the family that says "these types do not go together"."""
    families = [TypeError, IndexError, ValueError, ZeroDivisionError, MemoryError, OverflowError]
    return want is got or any(issubclass(want, f) and issubclass(got, f) for f in families)


def single(value):
    """Whether a value, or a part of it, is of single precision."""
    if isinstance(value, (tuple, list)):
        return any(map(single, value))
    return getattr(value, "dtype", None) in (np.float32, np.complex64)


def run(case, decorate, tier):
    """The first few disagreements of a case, as texts."""
    plain, compiled = case.function(), decorate(case.function())
    failures, answers = [], 0
    for specs in case.sample(tier):
        args = [s.build() for s in specs]
        want, want_error, want_text, want_after, of_single = outcome(plain, args)
        got, got_error, got_text, got_after, _ = outcome(compiled, args)
        of_single = of_single or any(map(single, args))
        rtol = case.rtol32 if of_single else case.rtol
        problem = None
        answers += want_error is None
        if want_error or got_error:
            if not (want_error and got_error and same_kind_of_error(want_error, got_error)):
                problem = f"expected {want_text or values.show(want)}, got {got_text[:600] or values.show(got)}"
        else:
            problem = values.difference(want, got, rtol)
            for i, (a, b) in enumerate(zip(want_after, got_after)):
                problem = problem or values.difference(a, b, rtol, f"argument {i} afterwards")
        if problem:
            shown = ", ".join(repr(s.value) if isinstance(s, Value) else repr(s) for s in specs)
            failures.append(f"{case.source.strip()}\n  with {shown}\n  {problem}")
            if len(failures) >= 3:
                break
    # Of a few inputs all may raise; the fixed sample is large enough to tell.
    raises_always = not answers and not case.raises and tier == "tier0"
    return failures or ([f"{case.source.strip()}\n  raises in NumPy for every input: the last said {want_text}"] if raises_always else [])
