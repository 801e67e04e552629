"""Text that is made of other text: conversions of ``%`` that are found out when the program runs."""

import operator


def converted_optional(x, how, width, precision):
    """A conversion of ``%`` of a value that may be None."""
    if x is None:
        return operator._converted(None, how, width, precision)
    return operator._converted(x, how, width, precision)


def star_optional(x):
    """A width or a precision that may be None."""
    if x is None:
        raise TypeError("* wants int")
    return operator._star(x)
