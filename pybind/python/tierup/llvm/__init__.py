"""What code generators for LLVM are written against, with LIR behind it: types, constants and a builder that answers to the names of llvmlite's,
and Numba's `cgutils` and target context.

:mod:`.types` holds types and constants, :mod:`.function` what a function in the making is and its text, :mod:`.builder` the builder, :mod:`.calls` what
a call of a function by name is, :mod:`.models` how values of `tierup.types` lie in those of LLVM, :mod:`.context` what generators ask beside the builder.
"""


class CannotCarry(NotImplementedError):
    """Something that LLVM has and LIR has not."""
