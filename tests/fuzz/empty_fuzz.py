"""Random programs whose functions are given lists, dicts, sets, deques and objects that are empty, or hold empty ones: at the first call or at a later one, the same one twice, kept from call to call, and passed on to other functions.

    python tests/fuzz/empty_fuzz.py --seconds 600 --seed 1

The oracle is CPython: the same program without the compiler. What holds something holds one kind of element, so that values and their types are the very same, whatever calls came before. Everything that a call returns or raises is compared, and after each step all arguments as one graph: values, types, and what is one object.
"""

import collections
import random

import driver
import globals_fuzz
import tierup
from globals_fuzz import Refused, judge

# Of each kind of parameter: what is empty, what is not, statements that change it, expressions that read it, what may raise included.
# `{x}` is the parameter, `{v}` a value for it.
VALUES = {"int": ["1", "n", "len(str(n))", "7"], "float": ["0.5", "n * 0.25", "-1.5"], "str": ["'a'", "str(n)", "'bc'"], "pair": ["(n, 'q')", "(2, 'r')"]}
ZERO = {"int": "0", "float": "0.0", "str": "''", "pair": "(0, '')"}
LIST = {
    "empty": ["[]", "list()"],
    "full": ["[{v}]", "[{v}, {v}]"],
    "changes": ["{x}.append({v})", "{x}.insert(0, {v})", "{x}.extend([{v}, {v}])", "{x}[0] = {v}", "{x}.pop()", "{x}.clear()", "{x}.reverse()", "{x}.remove({v})", "{x}[:] = [{v}]", "del {x}[-1]", "{x}.sort()", "{x}.extend({x})", "for e in {x}[:]:\n    {x}.append(e)"],
    "reads": ["len({x})", "({v} in {x})", "{x}.count({v})", "{x}.index({v})", "len({x}[1:])", "({x} == [{v}])", "len([e for e in {x}])", "len(sorted({x}))", "len(str({x}[0]))", "len({x} + {x})", "len({x} + [{v}])", "(1 if {x} else 2)", "len(set({x}))", "len(list(enumerate({x})))", "len(max({x}, default={z}))" ],
    "gives": ["{x}", "{x}[:]", "[e for e in {x}]", "{x} + {x}", "({x}, n)", "sorted({x})", "[{x}]", "{{1: {x}}}", "set({x})", "list(zip({x}, {x}))", "{x}[0]", "max({x})", "{x} * 2"],
}  # fmt: skip
TABLE = {
    "empty": ["{{}}", "dict()"],
    "full": ["{{1: {v}}}", "{{2: {v}, 5: {v}}}"],
    "changes": ["{x}[n] = {v}", "{x}[1] = {v}", "{x}.setdefault(3, {v})", "{x}.pop(1)", "{x}.pop(2, {v})", "del {x}[n]", "{x}.clear()", "{x}.update({{7: {v}}})", "{x}.popitem()"],
    "reads": ["len({x})", "(n in {x})", "len(str({x}[1]))", "({x}.get(n, {v}) == {v})", "len(list({x}.items()))", "sum({x}.keys())", "sum([k for k in {x}])", "({x} == {{}})", "len([1 for k, e in {x}.items() if e == {v}])"],
    "gives": ["{x}", "{x}.copy()", "list({x}.values())", "list({x})", "{x}.get(1)", "{{k: e for k, e in {x}.items()}}", "sorted({x})", "({x}, [n])", "{x}[2]"],
}  # fmt: skip
SET = {
    "empty": ["set()"],
    "full": ["{{{v}}}", "{{{v}, {v}}}"],
    "changes": ["{x}.add({v})", "{x}.discard({v})", "{x}.remove({v})", "{x}.update([{v}])", "{x}.clear()"],
    "reads": ["len({x})", "({v} in {x})", "len({x} | {{{v}}})", "len({x} & {{{v}}})", "len({x} - {x})", "({x} == set())", "len([e for e in {x}])"],
    "gives": ["{x}", "{x}.copy()", "sorted({x})", "{x} | {{{v}}}", "({x}, 1)"],
}  # fmt: skip
DEQUE = {
    "empty": ["deque()", "deque(maxlen=2)"],
    "full": ["deque([{v}])", "deque([{v}, {v}], 3)"],
    "changes": ["{x}.append({v})", "{x}.appendleft({v})", "{x}.popleft()", "{x}.pop()", "{x}.rotate(1)", "{x}.extend([{v}])", "{x}.clear()", "{x}[0] = {v}"],
    "reads": ["len({x})", "({v} in {x})", "len(str({x}[0]))", "len([e for e in {x}])", "len(list({x}))"],
    "gives": ["{x}", "list({x})", "({x}, 'd')"],
}  # fmt: skip
ROWS = {
    "empty": ["[]", "[[]]", "[[], []]"],
    "full": ["[[{v}]]", "[[], [{v}]]"],
    "changes": ["{x}.append([{v}])", "{x}.append([])", "{x}[0].append({v})", "for r in {x}:\n    r.append({v})", "{x}[-1].pop()", "{x}[0] = {x}[-1]", "{x}.clear()"],
    "reads": ["len({x})", "len({x}[0])", "sum([len(r) for r in {x}])", "([{v}] in {x})"],
    "gives": ["{x}", "{x}[0]", "[e for r in {x} for e in r]", "{x}[:]"],
}  # fmt: skip
GROUPS = {
    "empty": ["{{}}", "{{1: []}}"],
    "full": ["{{1: [{v}]}}", "{{1: [], 4: [{v}]}}"],
    "changes": ["{x}.setdefault(n, []).append({v})", "{x}[1].append({v})", "{x}[n] = [{v}]", "{x}[n] = []", "for k in {x}:\n    {x}[k].append({v})"],
    "reads": ["len({x})", "sum([len(r) for r in {x}.values()])", "len({x}[1])", "(n in {x})"],
    "gives": ["{x}", "list({x}.values())", "{x}[1]", "{x}.get(n)"],
}  # fmt: skip
BOX = {
    "empty": ["Box([], {{}})"],
    "full": ["Box([{v}], {{}})", "Box([], {{3: {v}}})", "Box([{v}], {{1: {v}}})"],
    "changes": ["{x}.items.append({v})", "{x}.named[n] = {v}", "{x}.items.clear()", "{x}.items.pop()", "{x}.items = [{v}]", "{x}.put({v})"],
    "reads": ["len({x}.items)", "len({x}.named)", "(n in {x}.named)", "({v} in {x}.items)", "{x}.both()"],
    "gives": ["{x}", "{x}.items", "list({x}.named.values())", "({x}.items, {x}.named)"],
}  # fmt: skip
PAIR = {
    "empty": ["([], set())", "([], {{{v}}})"],
    "full": ["([{v}], set())", "([{v}], {{{v}}})"],
    "changes": ["{x}[0].append({v})", "{x}[1].add({v})", "{x}[0].extend(sorted({x}[1]))", "{x}[0].clear()"],
    "reads": ["len({x}[0])", "len({x}[1])", "({v} in {x}[1])"],
    "gives": ["{x}", "{x}[0]", "sorted({x}[1])"],
}  # fmt: skip
KINDS = {"list": LIST, "dict": TABLE, "set": SET, "deque": DEQUE, "rows": ROWS, "groups": GROUPS, "box": BOX, "tuple": PAIR}
WEIGHTS = [5, 3, 2, 2, 2, 2, 2, 2]

HEAD = """
class Box:
    def __init__(self, items, named):
        self.items = items
        self.named = named

    def put(self, x):
        self.items.append(x)
        return len(self.items)

    def both(self):
        return len(self.items) * 10 + len(self.named)
"""


class Program:
    """One program; `source` is its text."""

    def __init__(self, seed):
        self.random = r = random.Random(seed)
        self.functions = []
        kinds = r.choices([(k, e) for k in KINDS for e in VALUES], [w for w in WEIGHTS for _ in VALUES], k=r.randint(1, 3))
        self.kept = {f"{kind[0]}_{k}": kind for k, kind in enumerate(kinds)}
        lines = [HEAD]
        for k in range(r.randint(1, 3)):
            lines += self.function(f"f{k}", kinds)
        body = ["n = 1"]
        body += [f"{name} = {self.given(kind)}" for name, kind in self.kept.items()]
        for _ in range(r.randint(3, 9)):
            body += self.step()
        lines += ["def main(step):", *("    " + line for line in body)]
        self.source = "\n".join(lines) + "\n"

    def text(self, kind, part, x=""):
        which, element = kind
        value = self.random.choice(VALUES[element])
        text = self.random.choice(KINDS[which][part])
        # `max` of tuples has a default of that type.
        if "{z}" in text and element in ("int", "float"):
            text = "len({x})"
        return text.format(x=x, v=value, z=ZERO[element])

    def given(self, kind):
        return self.text(kind, self.random.choice(["empty", "empty", "full"]))

    def statement(self, params, depth=0):
        r = self.random
        x, kind = r.choice(list(params.items()))
        what = r.random()
        if what < 0.4:
            return self.text(kind, "changes", x).split("\n")
        if what < 0.65:
            return [f"s += {self.text(kind, 'reads', x)}"]
        if what < 0.75 and depth < 2:
            return [f"if {self.text(kind, 'reads', x)} > n:", *("    " + t for t in self.statement(params, depth + 1))]
        if what < 0.82 and depth < 2:
            return ["for _ in range(n):", *("    " + t for t in self.statement(params, depth + 1))]
        if what < 0.87:
            return [f"y = {x}", *(t for t in self.text(kind, "changes", "y").split("\n"))]
        fitting = [(name, own) for name, own in self.functions if all(any(k == given for given in params.values()) for k in own.values())]
        if fitting:
            name, own = r.choice(fitting)
            args = [r.choice([p for p, given in params.items() if given == k]) for k in own.values()]
            return [f"{r.choice(['', 't = '])}{name}(n, {', '.join(args)})"]
        return ["s += n"]

    def function(self, name, kinds):
        r = self.random
        params = {f"x{k}": r.choice(kinds) for k in range(r.randint(1, 3))}
        body = ["s = 0"]
        for _ in range(r.randint(0, 4)):
            body += self.statement(params)
        if r.random() < 0.15:
            body = ["s = 0", "try:", *("    " + t for t in body[1:]), "    s += 1", "except (IndexError, KeyError, ValueError):", "    s += 1000"]
        if r.random() < 0.15:
            body += ["if n > 0:", f"    return {name}(n - 1, {', '.join(params)})"]
        if r.random() < 0.5:
            body.append("return s")
        else:
            x, kind = r.choice(list(params.items()))
            body.append(f"return {self.text(kind, 'gives', x)}")
        self.functions.append((name, params))
        return ["@njit", f"def {name}(n, {', '.join(params)}):", *("    " + t for t in body)]

    def step(self):
        r = self.random
        if r.random() < 0.15:
            name, kind = r.choice(list(self.kept.items()))
            return [f"{name} = {self.given(kind)}"]
        name, params = r.choice(self.functions)
        args = []
        for kind in params.values():
            same = [x for x, k in self.kept.items() if k == kind]
            args.append(r.choice([*same, *same, None]) or self.given(kind))
        n = r.randint(0, 3)
        return [f"n = {n}", f"step(lambda: {name}(n, {', '.join(args)}), {', '.join(self.kept)})"]


def graph(x, seen):
    """As of globals; tuples are what they hold."""
    if isinstance(x, tuple):
        return ("tuple", [graph(i, seen) for i in x])
    if isinstance(x, (list, collections.deque, dict)) and not any(known is x for known, _ in seen):
        seen.append((x, None))
        parts = [(graph(k, seen), graph(v, seen)) for k, v in x.items()] if isinstance(x, dict) else [graph(i, seen) for i in x]
        return (type(x).__name__, getattr(x, "maxlen", 0), parts)
    if type(x).__name__ == "Box" and not any(known is x for known, _ in seen):
        seen.append((x, None))
        return ("Box", [(k, graph(v, seen)) for k, v in sorted(vars(x).items())])
    return globals_fuzz.graph(x, seen)


def outcome(program, name, njit):
    space = {"njit": njit, "deque": collections.deque}
    exec(compile(program.source, name, "exec"), space)
    log = []

    def step(f, *kept):
        try:
            what = f()
            # Afterwards, with what was kept: what is one object is seen.
            seen = []
            what = graph(what, seen)
        except tierup.TypingError as e:
            raise Refused(str(e)) from None
        except (ValueError, IndexError, KeyError) as e:
            seen = []
            what = (type(e).__name__, str(e))
        log.append((what, [graph(x, seen) for x in kept]))

    space["main"](step)
    return log


def check(seed, compiled=tierup.njit):
    """What is wrong with a program."""
    return judge(outcome, Program(seed), f"<empty {seed}>", compiled)


def run(first, last):
    """What is wrong with programs, by seed."""
    return driver.here(check, first, last)


if __name__ == "__main__":
    driver.main(driver.Options(__doc__), lambda seed: Program(seed).source, check)
