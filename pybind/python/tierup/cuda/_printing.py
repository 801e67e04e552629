"""What kernels print: threads leave words in a buffer, and the text is put together here."""

import struct
import sys
import warnings

import numpy as np

# The same as in core/src/lir/grid.rs.
_VALUE, _WORDS = "\x01", (1 << 17) - 1


def _number(letter, word):
    """What a word of that kind prints."""
    if letter == "i":
        return str(word - 2**64 if word >> 63 else word)
    if letter == "b":
        return str(bool(word))
    if letter == "d":
        return str(struct.unpack("<d", struct.pack("<Q", word))[0])
    if letter in "fh":
        kind = np.float32 if letter == "f" else np.float16
        return str(np.frombuffer(struct.pack("<Q", word), kind)[0])
    return str(word)


def _complex(letter, re, im):
    parts = [np.frombuffer(struct.pack("<Q", w), np.float32 if letter == "F" else np.float64)[0] for w in (re, im)]
    return str(np.complex64(complex(*parts)) if letter == "F" else complex(*parts))


def _text(form, words):
    """The text of a call by its form; takes its words from an iterator."""
    out, quoted = [], None
    parts = iter(form.split(_VALUE))
    out.append(next(parts))
    for part in parts:
        if part == "":
            # The mark itself.
            out.append(_VALUE + next(parts, ""))
            continue
        letter, rest = part[0], part[1:]
        if letter == "r":
            quoted = len(out)
        elif letter == "e":
            out[quoted:] = [repr("".join(out[quoted:]))]
        elif letter in "DF":
            out.append(_complex(letter, next(words), next(words)))
        else:
            out.append(_number(letter, next(words)))
        out.append(rest)
    return "".join(out)


def write(printed):
    """Writes what launches have left: pairs of forms and words, the first of which counts all that was to be left."""
    for forms, words in printed:
        count, left = words[0], iter(words[1:])
        # A number that is 0 begins what the last call had no room for.
        sys.stdout.write("".join(_text(forms[form - 1], left) for form in iter(lambda: next(left, 0), 0)))
        if count > _WORDS:
            warnings.warn(f"kernels have printed more than fits into their buffer: {count - _WORDS} of {count} words are lost", RuntimeWarning, stacklevel=3)
    sys.stdout.flush()
