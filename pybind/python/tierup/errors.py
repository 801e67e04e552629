"""Exceptions and warnings. The compiler's carry `code` (kebab-case), `msg`, and `file` and `line` of the user's source where they are known.

Numba's names stand for the class that reports the same thing here.
"""

import contextlib
import warnings

from .config import _ConfigError as ConfigError  # noqa: F401


class TierupError(Exception):
    """Base of everything that Tierup itself raises."""

    code = msg = file = line = None


class TypingError(TierupError, TypeError):
    """The types do not go together, or a name or value cannot be typed."""


class UnsupportedError(TierupError, TypeError):
    """A construct of Python that is not compiled."""


class CompilerError(TierupError, RuntimeError):
    """A bug in Tierup."""


# Classes of errors about operands, by the class that Python or NumPy has for them.
_both = {}


def _also(reports, name):
    """The class of errors that the compiler reports where Python would raise the one of that name when the program runs: an exception of both."""
    if (reports, name) not in _both:
        if name == "AxisError":
            from numpy.exceptions import AxisError as raised
        else:
            import builtins
            raised = getattr(builtins, name)
        both = reports if issubclass(reports, raised) else type(reports.__name__, (_Of, reports, raised), {"__module__": __name__, "__doc__": reports.__doc__, "_of": (reports, name)})
        _both[reports, name] = both
    return _both[reports, name]


class _Of:
    """Exceptions of a class that is made here come out of a pickle by it."""

    __init__, __str__ = Exception.__init__, Exception.__str__

    def __reduce__(self):
        return _again, (*self._of, self.args, self.__dict__)


def _again(reports, name, args, state):
    made = _also(reports, name)(*args)
    made.__dict__.update(state)
    return made


class OptionError(TypeError, KeyError):
    """An option of a decorator that does not exist. Python's own functions raise TypeError, Numba's decorators KeyError."""

    __str__ = Exception.__str__

    def __init__(self, what, unknown, known):
        super().__init__(f"Unrecognized options: {', '.join(map(repr, sorted(unknown)))}. {what}() takes {', '.join(sorted(o for o in known if o[0] != '_'))}")


class TierupWarning(UserWarning):
    """Something works, but not as fast as was asked for, or may not be meant."""


# Numba's names. Each stands for the class that reports here what that one reports there: all about types and names is TypingError, all that is not compiled UnsupportedError.
NumbaError = TierupError
UnsupportedBytecodeError = UnsupportedRewriteError = UnsupportedParforsError = ByteCodeSupportError = ForbiddenConstruct = UnsupportedError
ForceLiteralArg = RequireLiteralValue = LiteralTypingError = UntypedAttributeError = TypingError
NumbaTypeError = NumbaValueError = NumbaKeyError = NumbaIndexError = NumbaAttributeError = NumbaAssertionError = NumbaNotImplementedError = TypingError
RedefinedError = NotDefinedError = TypingError
LoweringError = IRError = VerificationError = NumbaRuntimeError = ConstantInferenceError = InternalError = InternalTargetMismatchError = NonexistentTargetError = CompilerError



def deprecated(instead):
    """Numba's decorator for functions that will go away: each call says what to call in their place."""
    def decorate(function):
        import functools

        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            warnings.warn(f"Call to deprecated function \"{function.__name__}\"\n  in favour of: {instead}", DeprecationWarning, stacklevel=2)
            return function(*args, **kwargs)

        return wrapper
    return decorate


class WarningsFixer:
    """Numba's way to gather warnings of a class while something is compiled, and to show each once, where it belongs: `catch_warnings(file, line)` gathers, `flush()` shows."""

    def __init__(self, category):
        self._category, self._found = category, {}

    @contextlib.contextmanager
    def catch_warnings(self, filename=None, lineno=None):
        """Gathers what is warned of inside, at this place; warnings of other classes go on."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", self._category)
            yield
        for w in caught:
            if issubclass(w.category, self._category):
                place = w.filename if filename is None else filename, w.lineno if lineno is None else lineno
                self._found.setdefault((*place, w.category), set()).add(str(w.message))
            else:
                warnings.warn_explicit(w.message, w.category, w.filename, w.lineno)

    def flush(self):
        """Shows what was gathered, and forgets it."""
        for filename, lineno, category in sorted(self._found, key=str):
            for text in sorted(self._found[filename, lineno, category]):
                warnings.warn_explicit(text, category, filename, lineno)
        self._found.clear()


# Warnings have classes of their own, since programs choose by them which ones they want to see.
NumbaWarning = TierupWarning


class NumbaPerformanceWarning(TierupWarning):
    """Something is slower than it could be."""


class NumbaDeprecationWarning(TierupWarning, DeprecationWarning):
    """Something will go away."""


class NumbaPendingDeprecationWarning(TierupWarning, PendingDeprecationWarning):
    """Something will be deprecated."""


class NumbaParallelSafetyWarning(TierupWarning):
    """Iterations of a parallel loop may get in each other's way."""


class NumbaTypeSafetyWarning(TierupWarning):
    """A conversion may lose something."""


class NumbaExperimentalFeatureWarning(TierupWarning):
    """Something may still change."""


class NumbaInvalidConfigWarning(TierupWarning):
    """A setting does not go with the others."""


class NumbaPedanticWarning(TierupWarning):
    """Something is unusual and harmless."""


class NumbaIRAssumptionWarning(NumbaPedanticWarning):
    """A transformation of code left it in an unusual form."""


class NumbaDebugInfoWarning(TierupWarning):
    """Debuggers will see less than was asked for."""


class NumbaSystemWarning(TierupWarning):
    """The machine or its libraries are not what was expected."""


class IntegerOverflow(BaseException):
    """An integer outgrew 64 bits in a loop of a function that Python runs. It passes by the handlers of the program, which Python would not have come to, and leaves the function as
    an OverflowError, unless Python can run the loop again."""

    # Whether the code that raised it has changed nothing by then.
    _untouched = False


def warn_doubt(text, file, line):
    """A note about code that is compiled but may not be meant, at its place."""
    warnings.warn_explicit(TierupWarning(text), TierupWarning, file or "tierup", line, "tierup")


def warn_of_performance(text, file, line):
    """A note about code that is slower than was asked for, as Numba gives one."""
    from .config import numba_setting
    if not numba_setting("DISABLE_PERFORMANCE_WARNINGS", 0):
        warnings.warn_explicit(NumbaPerformanceWarning(text), NumbaPerformanceWarning, file or "tierup", line, "tierup")


def warn_fallback(function, text, instead):
    """One note for a function that Python runs, at the place of its definition; `instead` is what Python runs in its place."""
    from ._lifting import loops_of
    code, lines = function.__code__, list(dict.fromkeys(str(loop.line) for loop in loops_of(instead)))
    s = "s" * (len(lines) > 1)
    loops = f", its loop{s} at line{s} {', '.join(lines)} compiled where types allow" if lines else ""
    message = f"{function.__qualname__}() runs as plain Python{loops}: {text}"
    warnings.warn_explicit(TierupWarning(message), TierupWarning, code.co_filename, code.co_firstlineno, function.__module__ or "tierup")
