"""Lines of source files. `linecache`, which knows those of notebooks and doctests, takes longer to load than compiling a small function: it is asked where it is there already, or a file cannot be
read without it."""

import sys


def lines(path, space=None):
    """The lines of a file, for a module with these globals where that is known; none where there is no such file."""
    known = sys.modules.get("linecache")
    if known is None:
        try:
            with open(path, "rb") as f:
                text = f.read()
            # Other codings are a matter of their own.
            if b"coding" not in b"".join(text.split(b"\n", 2)[:2]) and not text.startswith(b"\xef\xbb\xbf"):
                return _split(text.decode())
        except (OSError, ValueError):
            pass
        import linecache as known
    return known.getlines(path, space)


def line(path, number):
    """One of them; an empty text where there is none."""
    found = lines(path)
    return found[number - 1] if 0 < number <= len(found) else ""


def learn(path, first, text):
    """Lines of a file that this process does not have, from the first of them on."""
    import linecache
    known = linecache.getlines(path)
    if known and path not in _learnt:
        return
    _learnt.add(path)
    new = _split(text)
    lines = [*known, *["\n"] * (first - 1 + len(new) - len(known))]
    lines[first - 1:first - 1 + len(new)] = new
    # Without a time it is not looked for on disk again.
    linecache.cache[path] = sum(map(len, lines)), None, lines, path


_learnt = set()


def _split(text):
    """Lines as files have them."""
    found = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return [line + "\n" for line in found[:-1]] + [line + "\n" for line in found[-1:] if line]


def cell(path):
    """What IPython calls the cell that a file stands for, such as "Cell In[3]"; None for other files."""
    if "IPython" not in sys.modules:
        return None
    from IPython import get_ipython
    name = getattr(getattr(get_ipython(), "compile", None), "format_code_name", None)
    shown = name and name(path)
    return shown and " ".join(shown)


def cells(text):
    """A text of the compiler's in which cells have their names, for files that nobody knows."""
    import re
    return re.sub(r'^(  )File "([^"\n]*)"(?=, line \d)', lambda m: m[1] + (cell(m[2]) or f'File "{m[2]}"'), text, flags=re.M)
