"""What the library tells of compiled functions: explain, report, traces, the map for profilers."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from harness.build import LLVM, needs_cpu, needs_llvm
from harness.processes import HANG, until

tierup = pytest.importorskip("tierup")

pytestmark = pytest.mark.isolated


@tierup.njit
def square(x):
    return x * x + 1


@tierup.njit
def work(a, b, places):
    s = 0.0
    for i in range(a.shape[0]):
        a[i] = square(b[i])
    for i in range(a.shape[0]):
        s *= a[i]
    for i in range(len(places)):
        a[places[i]] += 1
    c = np.zeros(len(places) + 1)
    return s + c[0]


FIRST = work.__code__.co_firstlineno


def called():
    work(np.ones(100), np.ones(100), np.arange(10))
    return work.explain()


def test_nothing_is_compiled_yet():
    f = tierup.njit(lambda x: x)
    assert "not compiled yet" in str(f.explain()) and "not compiled yet" in f.explain()._repr_html_()


def test_facts_of_an_explanation():
    e = called()
    (o,) = e.overloads
    facts = o["facts"]
    assert ("square", FIRST + 4) in {(name, line) for _, line, name in facts["inlined"]}
    assert [line for _, line, name, _ in facts["allocations"] if name.startswith("mem_alloc")] == [FIRST + 9]
    checks = {line: slow for _, line, slow in facts["checks"]}
    # The first index is proved, or stands in the slow copy of its loop alone; the third cannot be known.
    assert checks.get(FIRST + 8) is False and checks.get(FIRST + 6, True) and checks.get(FIRST + 4, True), checks
    text = str(e)
    for word in ("work(array(float64, 1d, C)", "tier:", "infer", "inlined", f"line {FIRST + 4}: square", "indices that are checked", "allocations", f"line {FIRST + 9}: mem_alloc"):
        assert word in text, text
    assert repr(e) == text


def test_why_a_generator_keeps_its_frame():
    @tierup.njit
    def squares(a):
        for x in a:
            yield x * x

    @tierup.njit
    def nested(n):
        yield n
        if n > 0:
            for x in nested(n - 1):
                yield x

    def explained(f, *args):
        f = tierup.njit(f)
        f(*args)
        (o,) = f.explain().overloads
        return f.__code__.co_firstlineno, [(line, why) for _, line, why in o["facts"]["streams"]], str(f.explain())

    def vanishes(a):
        return sum(y + 1.0 for y in squares(a))

    def returned(a):
        return squares(a)

    def recursive(n):
        return sum(nested(n))

    def chosen(a, c):
        g = squares(a)
        if c:
            g = squares(a + 1.0)
        return sum(g)
    a = np.arange(3.0)
    first, found, text = explained(vanishes, a)
    assert found == [] and "fusion-boundary" not in text
    first, found, text = explained(returned, a)
    assert found == [(first + 1, "it is returned")] and f"fusion-boundary: line {first + 1}: a generator keeps its frame: it is returned" in text
    first, found, text = explained(recursive, 3)
    assert "`nested` is too large to be copied here, or calls itself" in [why for _, why in found]
    first, found, text = explained(chosen, a, True)
    assert (first + 1, "it may be another one where it is used") in found


@needs_llvm
def test_what_is_vectorised_and_why_not():
    loops = {line: text for (_, line), (text, _) in called().overloads[0]["loops"].items()}
    assert loops[FIRST + 3].startswith("vectorised, "), loops
    assert "reorder floating-point" in loops[FIRST + 5] and loops[FIRST + 5].startswith("not vectorised"), loops
    assert loops[FIRST + 7].startswith("not vectorised: "), loops


@needs_llvm
def test_sums_are_vectorised_where_it_pays():
    def quotients(a):
        s = 0.0
        for i in range(a.shape[0]):
            s += 1.0 / (a[i] + 2.0)
        return s

    def products(a):
        s = 0.0
        for i in range(a.shape[0]):
            s += a[i] * a[i]
        return s

    def said(f):
        f(np.ones(10))
        return " ".join(text for text, _ in f.explain().overloads[0]["loops"].values())

    assert "vectorised, " in said(tierup.njit(quotients))
    assert "not vectorised: floats are added up in order" in said(tierup.njit(products))


def of_every_second(f):
    f = tierup.njit(f)
    f(np.ones(20)[::2], np.ones(10))
    return f


@needs_llvm
def test_elements_that_do_not_lie_side_by_side_are_not_gathered_where_that_costs_more():
    @of_every_second
    def doubled(a, b):
        for i in range(a.shape[0]):
            b[i] = a[i] * 2.0

    assert "vectorised, " in " ".join(text for text, _ in doubled.explain().overloads[0]["loops"].values())
    assert "gather" not in doubled.inspect("llvm")


@needs_llvm
@needs_cpu("x86-64-v4")
def test_elements_that_do_not_lie_side_by_side_are_gathered_where_more_is_computed_of_them():
    @of_every_second
    def roots(a, b):
        for i in range(a.shape[0]):
            b[i] = np.sqrt(a[i])

    assert "gather" in roots.inspect("llvm")


@needs_llvm
@needs_cpu("x86-64-v4")
def test_what_is_left_of_a_vectorised_loop_is_not_unrolled():
    @tierup.njit
    def sweep(a, b):
        for i in range(1, a.shape[0] - 1):
            b[i] = a[i - 1] + a[i + 1]

    @tierup.njit
    def relax(d, k, i):
        for j in range(d.shape[0]):
            d[i, j] = min(d[i, j], d[i, k] + d[k, j])

    sweep(np.ones(10), np.ones(10))
    relax(np.ones((4, 4)), 1, 2)
    scalar_additions = lambda f: sum(" fadd double" in line for line in f.inspect("llvm").splitlines())
    assert "fadd <" in sweep.inspect("llvm") and scalar_additions(sweep) <= 2, "one in the loop that is left, one in the loop that checks its indices"
    assert scalar_additions(relax) > 4, "the array is compared with itself, so what is left is what runs"


@needs_llvm
def test_fastmath_changes_what_is_vectorised():
    @tierup.njit(fastmath=True)
    def total(a):
        s = 0.0
        for i in range(a.shape[0]):
            s += a[i]
        return s

    total(np.ones(10))
    texts = [text for text, _ in total.explain().overloads[0]["loops"].values()]
    assert any(t.startswith("vectorised") for t in texts), texts


@needs_llvm
def test_remarks_do_not_reach_the_terminal():
    program = """
import tierup, numpy as np, time
from tierup import _tierup
@tierup.njit
def f(a):
    for i in range(len(a)): a[i] += 1.0
f(np.ones(10)); f.explain()
@tierup.njit
def g(a):
    for i in range(len(a)): a[i] += 2.0
for _ in range(5000): g(np.ones(10))
while not _tierup.promotions(): time.sleep(0.01)
print(_tierup.history(g, 0)[0])
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=HANG)
    assert (done.stdout, done.stderr) == ("1\n", "")


@needs_llvm
def test_promotion_is_told():
    @tierup.njit
    def add(a, b):
        return a + b

    for k in range(5000):
        add(k, 1)
    until(lambda: add.explain().overloads[0]["tier"] == 1)
    o = add.explain().overloads[0]
    assert o["tier"] == 1 and o["promoted"][0] > 0 and "tier: 1, " in str(add.explain())
    row = [r for r in tierup.report().rows if "test_promotion_is_told" in r["function"]][0]
    assert row["tier"] == "1" and row["LLVM took"].endswith(" ms")


def test_html_escapes():
    @tierup.njit
    def f(x):
        return x + 1

    f(1)
    f(1.5)
    page = f.explain()._repr_html_()
    assert page.count("<table>") == page.count("</table>") == 3
    assert "<locals>" not in page and "&lt;locals&gt;" in page


def test_a_report_lists_what_is_alive():
    @tierup.jit
    def f(x):
        return eval("1") and x

    @tierup.njit
    def g(x):
        return x

    with pytest.warns(tierup.TierupWarning):
        f(1)
    g(1)
    g(2.5)
    text = str(tierup.report())
    rows = [r for r in tierup.report().rows if "test_a_report_lists_what_is_alive" in r["function"]]
    assert [r["tier"] for r in rows if "<locals>.f(" in r["function"]] == ["Python"] and "eval" in [r["note"] for r in rows if "<locals>.f(" in r["function"]][0]
    assert len([r for r in rows if "<locals>.g(" in r["function"]]) == 2 and "first compilation" in text
    del g, rows
    assert not [r for r in tierup.report().rows if "is_alive.<locals>.g(" in r["function"]]
    assert "<table>" in tierup.report()._repr_html_()


def test_reports_can_be_written_as_pages(tmp_path):
    import xml.dom.minidom

    @tierup.njit(parallel=True)
    def f(a, b):
        return (a * b + 1).sum(), a - b

    f(np.ones(10), np.ones(10))
    for name, report in (("explain", f.explain()), ("parallel", f.parallel_report()), ("all", tierup.report())):
        path = tmp_path / f"{name}.html"
        report.save(path)
        text = path.read_text(encoding="utf-8")
        assert text.startswith("<!DOCTYPE html>") and report._repr_html_() in text
        # As XML but for the tags that HTML leaves open.
        page = xml.dom.minidom.parseString(text.replace("<meta charset='utf-8'>", "").replace("<br>", ""))
        assert "f" in page.getElementsByTagName("title")[0].firstChild.data and page.getElementsByTagName("table")
    assert "<svg" in (tmp_path / "parallel.html").read_text(encoding="utf-8")
    with pytest.raises(OSError):
        f.explain().save(tmp_path / "missing" / "page.html")


HOT = """
import tierup, numpy as np, time
from tierup import _tierup
@tierup.njit
def busy(a, n):
    s = 0.0
    for k in range(n):
        for i in range(a.shape[0]):
            a[i] = a[i] * 0.5 + k
        s += a[0]
    return s
for _ in range(20):
    busy(np.ones(1000), 600_000)
    if not LLVM or _tierup.history(busy, 0)[0] == 1 and _tierup.history(busy, 0)[2]: break
""".replace("LLVM", str(LLVM))


def run(program, **environment):
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=HANG, env={**os.environ, **environment})
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout


def test_a_trace_for_viewers(tmp_path):
    run(HOT, TIERUP_TRACE="json", TIERUP_TRACE_FILE=str(tmp_path / "trace-{pid}.json"))
    (file,) = tmp_path.iterdir()
    events = json.loads(file.read_text())["traceEvents"]
    spans = [e for e in events if e["ph"] == "X"]
    assert all(e["dur"] >= 0 and e["ts"] >= 0 and isinstance(e["tid"], int) and e["args"]["function"] for e in spans)
    front = {e["name"]: e for e in spans if e["args"]["function"].startswith("busy")}
    assert {"infer", "lower", "optimise", "tier 0"} <= front.keys(), front.keys()
    assert front["infer"]["ts"] + front["infer"]["dur"] <= front["lower"]["ts"] + 1 <= front["tier 0"]["ts"] + 1
    if LLVM:
        names = {e["args"]["name"]: e["tid"] for e in events if e["name"] == "thread_name"}
        assert {e["tid"] for e in spans if e["name"] == "LLVM"} == {names["tierup-compile"]}
        assert front["infer"]["tid"] != names["tierup-compile"]
        assert {"tier 1 takes over", "a running loop goes over"} <= {e["name"] for e in events if e["ph"] == "i"}


def test_the_file_of_the_trace_cannot_be_written(tmp_path):
    done = subprocess.run([sys.executable, "-c", "import tierup"], capture_output=True, text=True, timeout=HANG, env={**os.environ, "TIERUP_TRACE": "json", "TIERUP_TRACE_FILE": str(tmp_path / "no" / "where")})
    assert done.returncode == 0 and "the trace is not written" in done.stderr


def test_the_map_for_profilers():
    lines = run(HOT + """
import os
path = f"/tmp/perf-{os.getpid()}.map"
print(open(path).read())
os.remove(path)
""", TIERUP_PERF_MAP="1").splitlines()
    entries = [(int(a, 16), int(b, 16), name) for a, b, name in (line.split(" ", 2) for line in lines if line)]
    assert entries and all(at > 4096 and size > 0 for at, size, _ in entries)
    names = {name for _, _, name in entries}
    assert "busy (<string>:5) [tier 0]" in names or any(n.startswith("busy (<string>:") and n.endswith("[tier 0]") for n in names), names
    if LLVM:
        assert any(n.startswith("busy (") and "from a running loop on" in n and n.endswith("[tier 1]") for n in names), names


def test_nothing_is_written_by_default():
    out = run("import tierup, os\nf = tierup.njit(lambda x: x)\nf(1)\nprint(os.path.exists(f'/tmp/perf-{os.getpid()}.map'), len(tierup._tierup.trace_json()) < 60)")
    assert out == "False True\n"


def test_explain_says_what_fused():
    import numpy as np
    import tierup

    @tierup.njit
    def distance(a, b):
        d = a - b
        return (d * d).sum()

    distance(np.ones(3), np.zeros(3))
    (o,) = distance.explain().overloads
    line = distance.py_func.__code__.co_firstlineno + 3
    assert [(at, names) for _, at, names in o["facts"]["fused"]] == [(line, "sub, mul, sum")]
    assert f"array operations in one loop: line {line}: sub, mul, sum" in str(distance.explain())


@needs_llvm
def test_loops_that_divide_become_vectors():
    import numpy as np
    import tierup

    @tierup.njit
    def quotients(a, b):
        return (a + 1.0) / b

    @tierup.njit
    def loop(a, b):
        for i in range(len(a)):
            a[i] = np.sqrt(np.divide(a[i], b[i]))

    for f in (quotients, loop):
        f(np.ones(3), np.ones(3))
        texts = [text for o in f.explain().overloads for text, _ in o["loops"].values()]
        assert any(t.startswith("vectorised") for t in texts), texts
