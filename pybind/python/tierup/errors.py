"""Exceptions and warnings. The compiler's carry `code` (kebab-case), `msg`, and `file` and `line` of the user's source where they are known.

Numba's names stand for the class that reports the same thing here.
"""

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


class TierupWarning(UserWarning):
    """Something works, but not as fast as was asked for."""


# Numba's names.
NumbaError = TierupError
UnsupportedBytecodeError = UnsupportedRewriteError = UnsupportedError
LoweringError = CompilerError
ForceLiteralArg = RequireLiteralValue = NumbaTypeError = NumbaValueError = NumbaIndexError = NumbaAttributeError = NumbaAssertionError = NumbaNotImplementedError = TypingError
NumbaRuntimeError = ConstantInferenceError = InternalError = CompilerError
RedefinedError = NotDefinedError = VerificationError = TypingError
NumbaWarning = NumbaPerformanceWarning = NumbaDeprecationWarning = NumbaPendingDeprecationWarning = NumbaExperimentalFeatureWarning = NumbaTypeSafetyWarning = \
    NumbaParallelSafetyWarning = NumbaDebugInfoWarning = NumbaIRAssumptionWarning = NumbaInvalidConfigWarning = NumbaPedanticWarning = TierupWarning


def warn_doubt(text, file, line):
    """A note about code that is compiled but may not be meant, at its place."""
    warnings.warn_explicit(TierupWarning(text), TierupWarning, file or "tierup", line, "tierup")


def warn_fallback(function, text):
    """One note for a function that Python runs, at the place of its definition."""
    code = function.__code__
    message = f"{function.__qualname__}() runs as plain Python: {text}"
    warnings.warn_explicit(TierupWarning(message), TierupWarning, code.co_filename, code.co_firstlineno, function.__module__ or "tierup")
