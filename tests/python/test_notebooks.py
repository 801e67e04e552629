"""Cells: functions that are defined again, errors with the cell's line, the code cache, and `%%tierup`. In a shell of IPython's without a terminal, and in a notebook without a browser."""

import itertools
import json
import os
import re
import subprocess
import sys
import textwrap

import pytest

from harness.build import needs, needs_llvm

pytest.importorskip("tierup")

pytestmark = needs("IPython")

SHELL = """
import json, sys
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
shell, out = InteractiveShell.instance(), sys.stdout
shell.run_line_magic("colors", "nocolor")
for line in sys.stdin:
    with capture_output() as seen:
        ran = shell.run_cell(json.loads(line), store_history=True)
    shown = [(o.data.get("text/plain", ""), o.data.get("text/html", "")) for o in seen.outputs]
    print(json.dumps({"text": seen.stdout, "errors": seen.stderr, "shown": shown, "error": type(ran.error_in_exec or ran.error_before_exec).__name__, "cell": ran.execution_count}), file=out, flush=True)
"""


class Shell:
    """Cells are run by calling it."""

    def __init__(self, **environment):
        self.process = subprocess.Popen([sys.executable, "-c", SHELL], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, **environment})

    def __call__(self, cell):
        print(json.dumps(textwrap.dedent(cell).lstrip("\n")), file=self.process.stdin, flush=True)
        return json.loads(self.process.stdout.readline())

    def end(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


@pytest.fixture(scope="module")
def one_shell():
    shell = Shell(TIERUP_TIER="auto")
    shell("import tierup\nimport numpy as np\nfrom tierup import jit, njit, prange\n%load_ext tierup")
    yield shell
    shell.end()


@pytest.fixture
def run(one_shell):
    """Runs a cell that must succeed, and gives what it prints."""
    def run(cell):
        ran = one_shell(cell)
        assert ran["error"] == "NoneType", ran["text"]
        return ran["text"]
    return run


def test_a_function_that_is_defined_again(run):
    run("@njit\ndef f(x):\n    return x + 1\n@njit\ndef g(x):\n    return f(x) * 10")
    assert run("print(g(1))") == "20\n"
    run("@njit\ndef f(x):\n    return x + 2")
    assert run("print(g(1), f(1))") == "30 3\n"
    run("def f(x):\n    return x + 3")
    assert run("print(g(1))") == "40\n"


def test_a_class_that_is_defined_again(run):
    cell = "from dataclasses import dataclass\n@dataclass(frozen=True)\nclass P:\n    x: int\n    def get(self):\n        return self.x + {}\n"
    run(cell.format(1) + "@njit\ndef h(x):\n    return P(x).get()")
    assert run("print(h(1))") == "2\n"
    run(cell.format(2))
    assert run("print(h(1))") == "3\n"


def test_errors_name_the_cell_and_its_line(one_shell):
    ran = one_shell("""
        @njit
        def bad(x):
            y = x + 1
            return x.nothing + y

        bad(3)
    """)
    assert ran["error"] == "TypingError"
    assert f"  Cell In[{ran['cell']}], line 4, in bad\n    return x.nothing + y" in ran["text"] and "<ipython-input" not in ran["text"]


def test_tracebacks_show_the_line_of_the_cell(one_shell):
    defined = one_shell("""
        @njit
        def inverse(x):
            y = 1

            return y // x
    """)
    ran = one_shell("inverse(0)")
    assert ran["error"] == "ZeroDivisionError"
    shown = ran["text"].split(f"Cell In[{defined['cell']}], line 5")[1]
    assert "----> 5     return y // x" in shown and "2 def inverse(x):" in shown


def test_warnings_name_the_cell(one_shell):
    ran = one_shell("@jit\ndef later(x):\n    async def g(): pass\n    return x\nlater(1)")
    assert f"Cell In[{ran['cell']}], line 2, in later" in ran["errors"]


def test_reports_name_cells(run, one_shell):
    one_shell("@njit\ndef square(x):\n    return x * x + 1")
    second = one_shell("@njit(parallel=True)\ndef total(xs):\n    s = 0.0\n    for i in prange(len(xs)):\n        s += xs[i]\n    return s\n@njit\ndef work(x):\n    return square(x) - 1\nwork(2)")["cell"]
    run("total(np.ones(4))")
    assert f"Parallel code in total, Cell In[{second}]" in run("print(total.parallel_report())")
    assert "inlined: line 9: square" in run("print(work.explain())")
    one_shell("def inner(x):\n    return np.zeros(x).sum()")
    third = one_shell("@njit\ndef outer(x):\n    return inner(x)\nouter(3)")["cell"]
    assert f"Cell In[{third - 1}], line 2: " in run("print(outer.explain())")
    shown = one_shell("display(total.parallel_report(), work.explain())")["shown"]
    assert all(page.startswith(("<table>", "<h4>")) for _, page in shown) and len(shown) == 2


ANNOTATED = """
    %%tierup{}
    import io

    @njit(parallel=True)
    def summed(x):
        s = 0
        for i in prange(len(x)):
            s += x[i]
        return s

    @jit
    def mixed(out, n):
        s = 0
        for i in range(n):
            s += i
        out.write("x")
        return s

    @njit
    def listed(xs):
        return len(xs)

    @njit
    def never(x):
        return x

    summed(np.arange(100)), listed([1, 2]), mixed(io.StringIO(), 9)
"""


def marks(text):
    """Mark and flags by line of what `%%tierup` prints."""
    rows = [line for line in text.splitlines() if line[:4].strip().isdigit()]
    return {int(line[:4]): [*line[5:16].split(), *itertools.takewhile({"vectorised", "parallel"}.__contains__, line[17:].split())] for line in rows}


def test_a_cell_line_by_line(one_shell):
    ran = one_shell(ANNOTATED.format(""))
    assert ran["error"] == "NoneType", ran["text"]
    assert ", 2, 36)" in ran["text"]
    (text, page), = [(t, p) for t, p in ran["shown"] if "%%tierup" in t]
    found = marks(text)
    assert found[2] == found[3] == found[26] == []
    assert [found[n] for n in (4, 5, 6, 8, 9)] == [["native"]] * 5
    assert found[7] == ["native", "parallel"]
    assert [found[n] for n in range(11, 18)] == [["Python"], ["Python"], ["Python"], ["conversions"], ["native"], ["Python"], ["Python"]]
    assert found[19] == ["conversions"] and found[21] == ["native"] and found[23] == ["not", "called"]
    for words in ("#dff5df", "<details", "<summary", "parallel loop; its iterations share a sum", "run by Python: argument &#x27;out&#x27; of mixed()"):
        assert words in page
    assert page.count("<div") == page.count("</div>") and page.count("<details") == page.count("</details>")


def test_vector_code_is_marked(one_shell):
    ran = one_shell("%%tierup\n@njit\ndef doubled(x, y):\n    for i in range(len(x)):\n        x[i] = y[i] * 2\ndoubled(np.ones(9), np.ones(9))")
    (text, _), = ran["shown"]
    assert marks(text)[4][0] == "native"
    if one_shell("print(tierup._tierup.has_llvm())")["text"] == "True\n":
        assert "vectorised" in text.splitlines()[3]


def test_functions_that_others_call_are_native(one_shell):
    (text, _), = one_shell("""
        %%tierup
        def plain(x):
            s = 0
            for i in range(x):
                s += i * i
            return s
        @njit
        def inner(x):
            return plain(x) + 1
        @njit
        def first(x):
            return inner(x)
        @njit
        def second(x):
            return inner(x) + plain(x)
        first(4) + second(4)
        None
    """)["shown"]
    found = marks(text)
    assert all(found[line][0] == "native" for line in range(2, 16)) and found[16] == []
    assert "vectorised vectorised" not in text


def test_ufuncs_and_stencils_in_a_cell(one_shell):
    (text, page), = one_shell("""
        %%tierup
        @tierup.vectorize
        def more(x):
            return x + 1
        @tierup.stencil
        def pairs(a):
            return a[0] + a[1]
        @tierup.vectorize
        def waiting(x):
            return x
        @tierup.struct
        class P:
            x: float
            def twice(self):
                return self.x * 2
        more(np.ones(3)), pairs(np.ones(3)), P(1.0).twice()
        None
    """)["shown"]
    found = marks(text)
    assert [found[line] for line in range(2, 8)] == [["native"]] * 6 and found[8] == found[10] == ["not", "called"]
    assert found[14] == found[15] == ["native"] and found[12] == []
    assert "vectorize: loops for d-&gt;d" in page


def test_notes_in_text(one_shell):
    plain, told = (one_shell(ANNOTATED.format(option))["shown"][-1][0] for option in ("", " -v"))
    assert "| " not in plain and "| parallel loop; its iterations share a sum" in told and "| listed(list(int)) -> int: tier 0" in told


def test_a_cell_sees_and_leaves_variables(run, one_shell):
    run("scale = 3")
    ran = one_shell("%%tierup\n@njit\ndef scaled(x):\n    return x * scale\nanswer = scaled(2)")
    assert ran["error"] == "NoneType" and run("print(answer, scaled(3))") == "6 9\n"


def test_errors_in_a_shown_cell(one_shell):
    ran = one_shell("%%tierup\n@njit\ndef bad(x):\n    return x.nothing\nbad(3)")
    assert ran["error"] == "TypingError" and f"  Cell In[{ran['cell']}], line 4, in bad" in ran["text"] and "_cell.py" not in ran["text"]
    ran = one_shell("%%tierup\n@njit\ndef bad(x):\n    return 1 // x\nbad(0)")
    assert ran["error"] == "ZeroDivisionError" and "----> 4     return 1 // x" in ran["text"]
    assert one_shell("%%tierup\n1 +")["error"] == "SyntaxError"
    assert "%%tierup has no option --fast; there is -v" in one_shell("%%tierup --fast\n1")["errors"]


def test_cells_without_compiled_functions(one_shell):
    (text, page), = one_shell("%%tierup\nanswer = 1")["shown"]
    assert text.startswith("no function of this cell is compiled") and "no function" in page


def test_tierup_off_and_unloading():
    shell = Shell(TIERUP_TIER="off")
    try:
        shell("from tierup import njit\n%load_ext tierup")
        (text, _), = shell("%%tierup\n@njit\ndef f(x):\n    return x\nf(1)\nNone")["shown"]
        assert text.startswith("Tierup is off")
        shell("%unload_ext tierup")
        assert "not found" in shell("%%tierup\n1")["errors"]
    finally:
        shell.end()


@needs_llvm
def test_code_of_cells_is_kept(tmp_path):
    found = []
    for _ in range(2):
        shell = Shell(TIERUP_TIER="1", TIERUP_CACHE="1", TIERUP_CACHE_DIR=str(tmp_path))
        try:
            shell("from tierup import njit\n@njit(cache=True)\ndef f(x):\n    s = 0\n    for i in range(x):\n        s += i * i\n    return s")
            found.append(shell("f(9)\nprint(sum(f.stats.cache_hits.values()), sum(f.stats.cache_misses.values()))")["text"])
        finally:
            shell.end()
    assert found == ["0 1\n", "1 0\n"]


@needs("nbclient", "ipykernel")
def test_a_notebook_without_a_browser():
    import nbclient
    import nbformat
    cells = ["%load_ext tierup\nimport numpy as np\nfrom tierup import njit", "%%tierup\n@njit\ndef f(x):\n    s = 0.0\n    for v in x:\n        s += v\n    return s\nf(np.ones(9))",
             "f.explain()", "@njit\ndef inverse(x):\n    y = 1\n    return y // x\ninverse(0)", "@njit\ndef bad(x):\n    return x.nothing\nbad(1)"]
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    client = nbclient.NotebookClient(book, timeout=600, allow_errors=True, kernel_name="python3")
    client.create_kernel_manager()
    # The kernel of this environment, whatever is installed for the user.
    client.km.kernel_spec.argv[0] = sys.executable
    client.execute()
    _, shown, explained, divided, refused = (cell.outputs for cell in book.cells)
    page, = (o.data["text/html"] for o in shown if "text/html" in o.get("data", {}))
    assert "<details" in page and "for v in x:" in page and any(o.get("data", {}).get("text/plain") == "9.0" for o in shown)
    assert "<h4>" in explained[0].data["text/html"]
    divided, refused = (re.sub("\\x1b\\[[0-9;]*m", "", "\n".join(o[-1].traceback)) for o in (divided, refused))
    assert "ZeroDivisionError" in divided and "----> 4     return y // x" in divided
    assert "Cell In[5], line 3, in bad" in refused and "ipykernel_" not in refused
