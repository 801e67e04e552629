"""Who runs which line of a function, for `f.explain()`: native code, native code behind conversions, or Python. Loaded at the first use."""

import sys
import types

NATIVE, CONVERSIONS, PYTHON = "native", "conversions", "Python"
# How the texts of types begin whose values are copied in and out at each call.
_COPIED = ("list(", "dict(", "set(", "deque(", "Counter(", "OrderedDict(", "defaultdict(", "bytearray")


def marked(dispatcher, overloads, loops):
    """The mark of every line that a function has code for. `loops` are those that were cut out of what Python runs, each with its explanation."""
    code = dispatcher.__code__
    compiled = [o for o in overloads if not o["python"]]
    marks = dict.fromkeys(lines_of(code), NATIVE if compiled else PYTHON)
    if compiled:
        marks.update(_calls_of_python(dispatcher))
        if any(text.startswith(_COPIED) for o in compiled for text in (*o["args"], o["ret"])):
            marks[code.co_firstlineno] = CONVERSIONS
    found = [loop for loop, e in loops if any(not o["python"] for o in e.overloads)]
    for loop in found:
        marks.update((line, NATIVE) for line in marks if loop.line <= line <= loop.last)
        marks[loop.line] = CONVERSIONS
    marks.update((line, PYTHON) for loop in found for aside in loop.asides for line in marks if aside.first <= line <= aside.last)
    return marks


def lines_of(code):
    """Lines that there is code for, that of inner functions included."""
    found = {line for *_, line in code.co_lines() if line is not None}
    return found.union(*(lines_of(c) for c in code.co_consts if isinstance(c, types.CodeType)))


def _calls_of_python(dispatcher):
    """Marks of lines where compiled code calls Python: those of blocks, and calls of functions that are declared as Python."""
    calls = sys.modules.get("tierup._python_calls")
    if calls is None:
        return {}
    import ast

    from . import _tierup
    from ._source import definition
    function, found = dispatcher.py_func, {}
    space = {**function.__globals__, **{name: cell.cell_contents for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True) if calls.is_set(cell)}}
    for n in ast.walk(definition(function) or ast.Pass()):
        if isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and isinstance(space.get(n.func.id), calls.PythonFunction):
            found[n.lineno] = CONVERSIONS
    if any("objmode" in names for names in (function.__code__.co_names, function.__code__.co_freevars)):
        for cell in _tierup.in_python(dispatcher).__closure__ or ():
            block = cell.cell_contents if calls.is_set(cell) else None
            if isinstance(block, calls.PythonFunction) and block.__name__ == function.__name__:
                lines = lines_of(block.function.__code__)
                found.update(dict.fromkeys(lines, PYTHON))
                found[min(lines)] = CONVERSIONS
    return found
