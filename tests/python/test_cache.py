"""The code cache: the second process starts in tier 1 without LLVM, whatever changed gives other code, and nothing that happens to the files does harm."""

import json
import os
import re
import signal
import stat
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import pytest

from harness.build import needs_llvm
from harness.processes import HANG

tierup = pytest.importorskip("tierup")

pytestmark = needs_llvm

# What programs print at their end.
PRELUDE = """
import json, sys
import numpy as np
import tierup
from tierup import _tierup, njit

def out(*values, functions=()):
    tiers = [[bool(_tierup.cache_key(f, k) and _tierup.cache_key(f, k)[1]), _tierup.history(f, k)[0]] for f in functions for k in range(len(f.overloads))]
    with open("/proc/self/maps") as maps:
        llvm = "libtierup_tier1" in maps.read()
    print(json.dumps({"values": values, "functions": tiers, "counts": _tierup.cache_counts(), "llvm": llvm}))
"""


@pytest.fixture
def directory(tmp_path):
    return tmp_path / "cache"


def start(directory, program, tier="auto", cwd=None, **environment):
    env = {**os.environ, "TIERUP_CACHE": "1", "TIERUP_CACHE_DIR": str(directory), "TIERUP_TIER": tier, **environment}
    env = {k: v for k, v in env.items() if v is not None}
    return subprocess.Popen([sys.executable, "-c", PRELUDE + textwrap.dedent(program)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env, cwd=cwd)


def finish(process):
    stdout, stderr = process.communicate(timeout=HANG)
    assert process.returncode == 0, stderr
    return json.loads(stdout.splitlines()[-1]), stderr


def run(directory, program, tier="auto", **environment):
    answer, stderr = finish(start(directory, program, tier, **environment))
    assert stderr == ""
    return answer


def was_read(answer):
    """Whether its one function came from the cache. How often it was promoted since depends on the machine's speed."""
    ((read, _),) = answer["functions"]
    return read


def fill(directory, program, **environment):
    """Runs it with everything compiled by tier 1, and so stored."""
    return run(directory, program, "1", **environment)


def files(directory):
    return sorted(directory.glob("code-*/*.tierup"))


def command(directory, *args, **environment):
    env = {**os.environ, "TIERUP_CACHE": "1", "TIERUP_CACHE_DIR": str(directory), **environment}
    env = {k: v for k, v in env.items() if v is not None}
    return subprocess.run([sys.executable, "-m", "tierup", "cache", *args], capture_output=True, text=True, timeout=HANG, env=env)


SUM = """
@njit
def total(a):
    s = 0.0
    for i in range(a.shape[0]):
        s += a[i] * 0.5
    return s
out(total(np.arange(100.0)), functions=[total])
"""


def test_the_second_process_starts_in_tier_1_and_does_not_open_llvm(directory):
    first = run(directory, SUM + """
for _ in range(3000): total(np.arange(100.0))
import time
while _tierup.cache_counts()[2] == 0 or _tierup.history(total, 0)[0] == 0: time.sleep(0.005)
out(total(np.arange(100.0)), functions=[total])
""")
    assert first["values"] == [2475.0] and first["functions"] == [[False, 1]] and first["llvm"] and first["counts"][2] == 1
    second = run(directory, SUM)
    assert second == {"values": [2475.0], "functions": [[True, 1]], "counts": [1, 0, 0, 0], "llvm": False}


def test_nothing_is_read_or_written_where_it_is_off(directory):
    assert fill(directory, SUM, TIERUP_CACHE="0")["counts"] == [0, 0, 0, 0]
    assert not directory.exists()
    fill(directory, SUM)
    assert not was_read(run(directory, SUM, TIERUP_CACHE="0"))
    assert run(directory, SUM, "0")["counts"] == [0, 0, 0, 0]
    assert run(directory, SUM, "interp")["counts"] == [0, 0, 0, 0]


GENERAL = """
from collections import namedtuple
Point = namedtuple("Point", "x y")
TABLE = np.arange(8.0)
class Mine(ValueError):
    pass

@njit
def squares(n):
    for i in range(n):
        yield i * i

@njit
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)

@njit
def words(s, n):
    return [s + str(i) for i in range(n)]

@njit
def point(p):
    return Point(p.y, p.x + TABLE[3])

@njit
def fails(a, i):
    try:
        return a[i]
    except IndexError:
        raise ValueError("no such place")

@njit
def uses_the_generator(n):
    s = 0
    for x in squares(n):
        s += x
    return s

@njit
def records(n):
    xs = [(np.int8(i % 3), "r" * i, i * 0.5) for i in range(n)]
    xs.sort()
    ys = [(i % 2 == 0, xs) for i in range(2)]
    return [x[1] for x in xs], xs.index(xs[2]), len(ys[1][1])

square = njit(lambda x: x * x)
scope = {}
exec("def f(a, b):\\n    return a * 10 + b", scope)
f = njit(scope["f"])

def refused(call):
    try:
        call()
    except Exception as e:
        import traceback
        frames = [(t.name, t.lineno) for t in traceback.extract_tb(e.__traceback__)][1:]
        return [type(e).__name__, str(e), frames]

out(list(squares(5)), fib(15), words("a", 3), point(Point(1.0, 2.0)), refused(lambda: fails(np.ones(3), 7)), uses_the_generator(5), square(7), f(1, 2), records(5),
    functions=[squares, fib, words, point, fails, uses_the_generator, square, f, records])
"""


def test_every_kind_of_function_comes_back_the_same(directory):
    first = fill(directory, GENERAL)
    second = run(directory, GENERAL)
    plain = run(directory, GENERAL, TIERUP_CACHE="0")
    assert first["values"] == second["values"] == plain["values"]
    assert second["functions"] == [[True, 1]] * 9 and not second["llvm"], second
    # Hash seeds and addresses differ between processes; keys do not.
    for seed in "123":
        again = run(directory, GENERAL, PYTHONHASHSEED=seed)
        assert again["functions"] == [[True, 1]] * 9 and again["counts"][1] == 0


def test_a_traceback_names_the_line_also_where_the_file_is_another(directory, tmp_path):
    text = "from tierup import njit\n\n@njit\ndef f(a, i):\n    return a[i]\n"
    places = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "m.py").write_text(text)
        places.append(run(directory, """
        import m, traceback
        try:
            m.f(np.ones(3), 9)
        except IndexError as e:
            last = traceback.extract_tb(e.__traceback__)[-1]
            out(last.filename, last.lineno, last.name, functions=[m.f])
        """, "1", PYTHONPATH=str(tmp_path / name)))
    assert places[0]["values"] == [str(tmp_path / "one" / "m.py"), 5, "f"]
    # The code is the same; the names that it asks for are this process's.
    assert places[1]["values"] == [str(tmp_path / "two" / "m.py"), 5, "f"] and places[1]["functions"] == [[True, 1]]


def test_captured_values_are_part_of_what_is_compiled(directory):
    program = """
    def make(k):
        def f(x):
            return x + k
        return njit(f)
    fs = [make(k) for k in %s]
    out([f(1) for f in fs], functions=fs)
    """
    assert fill(directory, program % "(1, 2, 3)")["values"] == [[2, 3, 4]]
    second = run(directory, program % "(3, 4, 2.5)")
    assert second["values"] == [[4, 5, 3.5]] and [f[0] for f in second["functions"]] == [True, False, False]


def test_a_changed_global_gives_other_code(directory):
    program = """
    K = %s
    @njit
    def f(x):
        return x * K
    first = f(2)
    K = 10
    out(first, f(2))
    """
    assert fill(directory, program % "3")["values"] == [6, 20]
    for value, answer in (("3", 6), ("4", 8), ("2.5", 5.0)):
        assert run(directory, program % value)["values"] == [answer, 20]


def test_a_global_array_is_this_processes_own(directory):
    program = """
    A = np.full(%s, 2.0)
    @njit
    def f(i):
        return A[i]
    first = f(1)
    A[1] = 7.0
    out(first, f(1), functions=[f])
    """
    assert fill(directory, program % "4")["values"] == [2.0, 7.0]
    second = run(directory, program % "4")
    assert second["values"] == [2.0, 7.0] and second["functions"] == [[True, 1]]
    other = run(directory, program.replace("2.0", "3.0") % "4")
    assert other["values"] == [3.0, 7.0] and other["functions"] == [[True, 1]]


def test_an_edited_import_gives_other_code(directory, tmp_path):
    program = """
    import helper_module as m
    @njit
    def f(x):
        return m.g(x) + 1
    out(f(3))
    """
    for text, answer in (("x * 2", 7), ("x * 3", 10), ("x * 2", 7), ("x * 2.0", 7.0)):
        (tmp_path / "helper_module.py").write_text(f"def g(x):\n    return {text}\n")
        for tier in "1", "auto":
            values = run(directory, program, tier, PYTHONPATH=str(tmp_path), PYTHONDONTWRITEBYTECODE="1")["values"]
            assert values == [answer] and type(values[0]) is type(answer)


def test_options_are_part_of_what_is_compiled(directory):
    program = """
    def f(a, b):
        return a // b
    checked, numpy, raises = njit(f), njit(f, error_model="numpy"), njit(f, overflow="raise")
    def call(f, *args):
        try:
            return f(*args)
        except Exception as e:
            return type(e).__name__
    out([call(f, 1, 0) for f in (checked, numpy, raises)], [call(f, -2**63, -1) for f in (checked, numpy, raises)])
    """
    first = fill(directory, program)
    assert first["values"][0] == ["ZeroDivisionError", 0, "ZeroDivisionError"]
    assert run(directory, program)["values"] == first["values"] == run(directory, program, TIERUP_CACHE="0")["values"]


def test_damaged_entries_are_misses(directory):
    want = fill(directory, SUM)["values"]
    (path,) = files(directory)
    whole = path.read_bytes()
    damaged = [b"", whole[:100], whole[:-1], whole + b"\0", os.urandom(len(whole)), b"\x7fELF" + whole[4:]]
    damaged += [whole[:k] + bytes([whole[k] ^ 0x10]) + whole[k + 1:] for k in range(0, len(whole), len(whole) // 12)]
    for text in damaged:
        path.write_bytes(text)
        answer = run(directory, SUM)
        hits, _, _, bad = answer["counts"]
        assert answer["values"] == want and answer["functions"][0][0] is False and (hits, bad) == (0, 1)
        assert not path.exists() or path.read_bytes() == whole, "gone, or written again behind the count"
    assert fill(directory, SUM)["counts"][2] == 1 and path.read_bytes() == whole, "the same object again"


def test_missing_and_read_only_directories(directory, tmp_path):
    assert run(tmp_path / "a" / "b" / "c", SUM)["values"] == [2475.0]
    fill(directory, SUM)
    own = files(directory)[0].parent
    assert stat.S_IMODE(own.stat().st_mode) == 0o700
    own.chmod(0o500)
    try:
        assert run(directory, SUM)["functions"] == [[True, 1]]
        assert run(directory, SUM.replace("0.5", "0.25"), "1")["values"] == [1237.5]
    finally:
        own.chmod(0o700)
    nowhere = run("/proc/nowhere", SUM, "1")
    assert nowhere["values"] == [2475.0] and nowhere["counts"][2] == 0
    without = fill("", SUM, HOME=None, XDG_CACHE_HOME=None)
    assert without["values"] == [2475.0] and without["counts"] == [0, 0, 0, 0]
    home = tmp_path / "home"
    assert fill("", SUM, HOME=str(home), XDG_CACHE_HOME=None)["counts"][2] == 1
    assert len(list((home / ".cache" / "tierup").glob("code-*/*"))) == 1


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_files_and_directories_of_other_users_are_not_used(directory):
    fill(directory, SUM)
    (path,) = files(directory)
    os.chown(path, 12345, -1)
    assert not was_read(run(directory, SUM))
    os.chown(path, 0, -1)
    assert run(directory, SUM)["functions"] == [[True, 1]]
    os.chown(path.parent, 12345, -1)
    assert not was_read(run(directory, SUM))
    done = command(directory, "path")
    assert done.returncode == 1 and "belongs to user 12345" in done.stderr


def test_files_that_others_may_write_and_links_are_not_used(directory, tmp_path):
    fill(directory, SUM)
    (path,) = files(directory)
    path.chmod(0o666)
    assert not was_read(run(directory, SUM))
    path.chmod(0o600)
    elsewhere = tmp_path / "elsewhere"
    path.rename(elsewhere)
    path.symlink_to(elsewhere)
    assert not was_read(run(directory, SUM))
    path.unlink()
    elsewhere.rename(path)
    path.parent.chmod(0o777)
    assert not was_read(run(directory, SUM))
    path.parent.chmod(0o700)
    assert run(directory, SUM)["functions"] == [[True, 1]]


MANY = """
def make(k):
    scope = {}
    exec(f"def f(n):\\n    s = 0.0\\n    for i in range(n):\\n        s += i * {k}.5\\n    return s", scope)
    return njit(scope["f"])
fs = [make(k) for k in range(16)]
out([f(10) for f in fs], functions=fs)
"""


def test_eight_processes_at_once(directory):
    want = [45 * (k + 0.5) for k in range(16)]
    # Two of them die in the middle of it.
    running = [start(directory, MANY, "1") for _ in range(10)]
    threading.Timer(1.5, lambda: [p.send_signal(signal.SIGKILL) for p in running[8:]]).start()
    for p in running[:8]:
        assert finish(p)[0]["values"] == [want]
    for p in running[8:]:
        p.communicate(timeout=HANG)
    assert command(directory, "verify").returncode == 0 or all(".new-" in line for line in command(directory, "verify").stdout.splitlines()[:-1])
    assert len(files(directory)) == 16
    assert run(directory, MANY)["functions"] == [[True, 1]] * 16


def test_threads_compile_and_store_at_once(directory):
    program = MANY.replace("out([f(10) for f in fs], functions=fs)", """
    import threading
    answers = {}
    def work(t):
        for k in range(16):
            answers[t, k] = fs[(k + t) % 16](10)
    threads = [threading.Thread(target=work, args=(t,)) for t in range(8)]
    for t in threads: t.start()
    for t in threads: t.join()
    assert all(answers[t, k] == 45 * ((k + t) % 16 + 0.5) for t in range(8) for k in range(16))
    out(len(answers), functions=fs)
    """.replace("\n    ", "\n"))
    assert fill(directory, program)["values"] == [128]
    again = run(directory, program)
    assert again["values"] == [128] and again["functions"] == [[True, 1]] * 16


def test_the_size_is_kept(directory):
    program = """
    big = "def f(a):\\n    s = 0.0\\n" + "".join(f"    for i in range(a.shape[0]):\\n        s += a[i] * {{k}}.5 + {j}\\n" for j in range(30)) + "    return s"
    for k in range(80):
        scope = {}
        exec(big.format(k=k), scope)
        f = njit(scope["f"])
        f(np.ones(3))
        if _tierup.cache_counts()[2] and sum(e[2] for e in _tierup.cache_entries(tierup.config.cache_dir)) > 2**20:
            out(False)
            break
    else:
        out(True)
    """
    assert fill(directory, program, TIERUP_CACHE_MB="1", TIERUP_OPT="0")["values"] == [True]
    assert 2 ** 19 < sum(p.stat().st_size for p in files(directory)) <= 2 ** 20


def test_keys_are_the_same_in_every_process():
    """All programs of the benchmarks, with other hash seeds and other addresses: nothing may depend on the order of a hash table or on where something lies."""
    benches = Path(__file__).resolve().parents[2] / "benches"
    program = """
    import importlib, pathlib
    keys = {}
    for path in sorted(pathlib.Path("programs").glob("*.py")):
        module = importlib.import_module(path.stem)
        module.run(*module.small())
        for name, f in vars(module).items():
            if isinstance(f, type(module.run)):
                keys.update({f"{path.stem}.{name}.{k}": _tierup.cache_key(f, k)[0] for k in range(len(f.overloads))})
    out(keys)
    """
    path = os.pathsep.join([str(benches), str(benches / "programs")])
    running = [start("/proc/nowhere", program, cwd=benches, PYTHONPATH=path, BENCH_SIDE="tierup", PYTHONHASHSEED=seed) for seed in "01"]
    (one,), (other,) = (finish(p)[0]["values"] for p in running)
    assert len(one) > 30 and all(re.fullmatch("[0-9a-f]{64}", k) for k in one.values())
    assert {name for name in one if one[name] != other.get(name)} == set()
    assert len(set(one.values())) > 25


def test_the_command(directory):
    assert command(directory, "size").stdout == "0 entries, 0.0 of 512 MB\n"
    fill(directory, MANY)
    shown = command(directory, "list").stdout
    assert shown.count("f (<string>:") == 16 and shown.splitlines()[-1].startswith("16 entries"), shown
    assert command(directory, "verify").stdout == "16 entries, all sound\n"
    assert command(directory, "path").stdout.strip() == str(files(directory)[0].parent)
    path = files(directory)[0]
    path.write_bytes(path.read_bytes()[:-1])
    done = command(directory, "verify")
    assert done.returncode == 1 and "checksum is wrong" in done.stdout and "16 entries, 1 cannot be used" in done.stdout
    assert command(directory, "clear").stdout == "16 entries removed\n"
    assert not files(directory)
    assert command(directory, "nonsense").returncode == 2
    assert command("", "path", HOME=None, XDG_CACHE_HOME=None).returncode == 1
