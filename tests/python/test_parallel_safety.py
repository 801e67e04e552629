"""Programs whose iterations race for lists, generators and exceptions: what they compute is their own affair, but no memory is read after it was freed."""

import sys
from pathlib import Path

import pytest

pytest.importorskip("tierup")
sys.path.insert(0, str(Path(__file__).resolve().parent))
from test_parallel import run  # noqa: E402

# Each takes (iterations, rounds in each), and gives something to look at.
RACES = {
    "arrays": """
        xs = [np.full(5, 1.0), np.full(5000, 1.0), np.full(50, 1.0)]
        for i in prange(n):
            for k in range(m):
                j = (i + k) % 3
                if k % 3 == 0:
                    xs[j] = np.full(5 + 5000 * (k % 2), 1.0)
                a = xs[j]
                if a[len(a) - 1] != 1.0:
                    raise ValueError("torn")
        return len(xs)""",
    "strings": """
        xs = ["a" + str(n), "b" + str(n)]
        for i in prange(n):
            for k in range(m):
                j = (i + k) % 2
                xs[j] = "x" * (k % 40) + "y"
                if len(xs[1 - j]) > 100 or "y".join(xs)[0] == "z":
                    raise ValueError("torn")
        return len(xs)""",
    "rows that grow": """
        rows = [[0], [1]]
        for i in prange(n):
            for k in range(m):
                r = rows[(i + k) % 2]
                r.append(k)
                x = 0
                for y in r:
                    x += y
                if x < 0 or sum(r) < 0 or np.array(r + [1]).min() < 0 or min(r[:3] + [1]) < 0:
                    raise ValueError("torn")
                if len(r) > 20:
                    r.clear()
                    r.extend([3, 2, 1])
                    r.insert(1, 2)
                    r.sort()
                    r.reverse()
        return len(rows)""",
    "rows of strings": """
        rows = [["a"], ["b"]]
        for i in prange(n):
            for k in range(m):
                r = rows[(i + k) % 2]
                r.append("c" * (k % 9))
                r.sort()
                if "zz" in r or r == ["zz"] or len("".join(r)) > 10000 or rows == [["zz"]]:
                    raise ValueError("torn")
                if len(r) > 20:
                    r[2:] = ["d" + str(k)]
                    r += ["e" + str(k)] * 2
                    del r[0]
        return len(rows)""",
    "rows that are replaced": """
        rows = [["a"], ["b"], ["c"]]
        for i in prange(n):
            for k in range(m):
                rows[(i + k) % 3] = ["d" + str(k), "e"]
                for row in rows:
                    for x in row:
                        if len(x) > 30:
                            raise ValueError("torn")
                for a, b in zip(rows[0], rows[1]):
                    if len(a + b) > 60:
                        raise ValueError("torn")
        return len(rows)""",
    "optional members": """
        xs = [("a", np.zeros(3)) if k % 2 else None for k in range(4)]
        for i in prange(n):
            for k in range(m):
                j = (i + k) % 4
                if k % 3:
                    xs[j] = ("b" * (k % 30), np.zeros(k % 200))
                else:
                    xs[j] = None
                t = xs[(j + 1) % 4]
                if t is not None and (len(t[0]) > 40 or t[1].sum() != 0):
                    raise ValueError("torn")
        return len(xs)""",
    "a function's list": """
        xs = ["a", "b"]
        def put(k, x):
            xs[k % 2] = x
        def get(k):
            return xs[k % 2]
        for i in prange(n):
            for k in range(m):
                put(i + k, "c" * (k % 50))
                if len(get(i + k + 1)) > 60:
                    raise ValueError("torn")
        return len(xs)""",
    "exceptions": """
        e = ValueError("shared", "a" * n)
        for i in prange(n):
            for k in range(m // 10):
                try:
                    raise e
                except ValueError as f:
                    try:
                        raise KeyError(k) from f
                    except KeyError:
                        pass
        return len(e.args)""",
    "generators": """
        gens = [letters(10 * n * m), letters(10 * n * m)]
        for i in prange(n):
            for k in range(m):
                try:
                    x = next(gens[(i + k) % 2])
                    if len(x) > 100:
                        raise KeyError("torn")
                except ValueError as e:
                    if "executing" not in str(e):
                        raise KeyError("torn")
        return len(gens)""",
}


@pytest.mark.parametrize("level", ["0", "1"])
@pytest.mark.parametrize("name", RACES)
def test_a_race_corrupts_no_memory(name, level):
    body = RACES[name].replace("\n        ", "\n            ")
    run(f"""
        def letters(n):
            for i in range(n):
                yield "x" * (i % 90)
        @njit(parallel=True)
        def race(n, m):{body}
        expected = race(1, 10)
        for _ in range(3):
            assert race(24, 400) == expected
    """, threads=6, TIERUP_TIER=level, MALLOC_PERTURB_="165", MALLOC_CHECK_="3")


def test_printing_needs_the_gil_while_others_wait_for_the_list():
    out = run("""
        @njit(parallel=True)
        def f(n):
            rows = [["a"], ["b"]]
            for i in prange(n):
                for k in range(20):
                    rows[i % 2].append("c")
                    if k == 7:
                        print(rows[i % 2][:2], rows == [["z"]])
                    if len(rows[i % 2]) > 5:
                        rows[i % 2].clear()
            return len(rows)
        f(300)
    """)
    assert len(out.splitlines()) == 300


def test_locks_are_free_in_a_forked_child():
    run("""
        @njit(parallel=True, nogil=True)
        def f(n, m):
            rows = [[0], [0]]
            for i in prange(n):
                for k in range(m):
                    rows[(i + k) % 2].append(k)
                    if len(rows[k % 2]) > 50:
                        rows[k % 2].clear()
            return len(rows)
        f(4, 10)
        t = threading.Thread(target=f, args=(100, 20000))
        t.start()
        for _ in range(10):
            child = os.fork()
            if child == 0:
                os._exit(0 if f(4, 1000) == 2 else 1)
            assert os.waitpid(child, 0)[1] == 0
        t.join()
    """)
