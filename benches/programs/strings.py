"""Words counted and joined: strings and lists."""
from peer import njit

ARRAYS = False


def small():
    return "a few words",


def full():
    return "the quick brown fox jumps over the lazy dog and goes home " * 300,


@njit
def words(text):
    out = []
    start = 0
    for i in range(len(text) + 1):
        if i == len(text) or text[i] == " ":
            if i > start:
                out.append(text[start:i])
            start = i + 1
    return out


@njit
def run(text):
    found = words(text)
    total, longest = 0, ""
    for w in found:
        total += len(w)
        if len(w) > len(longest):
            longest = w
    return len(found), total, longest
