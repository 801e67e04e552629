"""Random programs over `defaultdict`, `Counter` and `OrderedDict`: those of the fuzzer of dicts, with dicts of such a class, and what only these classes can do.

    python tests/fuzz/mappings_fuzz.py --seconds 600 --seed 1
"""

import collections
import copy
import random
import re

import dicts_fuzz
from containers_driver import Fuzzer, exit_with

# The class, what makes an empty one, what it makes of an expression, and of which values a program may be.
CLASSES = {
    "Counter": ("Counter()", "Counter({})", ("int",)),
    "OrderedDict": ("OrderedDict()", "OrderedDict({})", ("int", "float", "str", "list")),
    "defaultdict": ("defaultdict(FACTORY)", "defaultdict(FACTORY, {})", ("int", "float", "str", "list")),
}


class Program(dicts_fuzz.Program):
    def __init__(self, seed):
        r = random.Random(seed * 7 + 3)
        self.cls = r.choice(list(CLASSES))
        self.own = random.Random(seed * 11 + 5)
        while True:
            super().__init__(seed)
            # A KeyError of an ordered dict in C has the members of a tuple for arguments.
            if self.value in CLASSES[self.cls][2] and (self.cls, self.key) != ("OrderedDict", "tuple"):
                break
            seed += 1_000_003
        empty, _, _ = (x.replace("FACTORY", self.value) if isinstance(x, str) else x for x in CLASSES[self.cls])
        helpers = dicts_fuzz.HELPERS.replace("return {}", f"return {empty}").replace("d = {}", f"d = {empty}")
        self.source = "from collections import Counter, OrderedDict, defaultdict\n" + helpers + "\ndef main(d0, n, c):\n" + "\n".join(self.lines) + "\n"
        given, *rest = self.arguments
        factories = {"int": int, "float": float, "str": str, "list": list}
        given = {"Counter": collections.Counter, "OrderedDict": collections.OrderedDict, "defaultdict": lambda x: collections.defaultdict(factories[self.value], x)}[self.cls](given)
        if self.cls == "OrderedDict" and len(given) > 1 and r.random() < 0.5:
            given.move_to_end(next(iter(given)))
        self.arguments = (copy.deepcopy(given), *rest)

    def line(self, text):
        # The text of a view does not say whose it is.
        text = re.sub(r"repr\((d\d+)\.values\(\)\)", r"repr(list(\1.values()))", text)
        if self.cls == "Counter" and (".update(d" in text or " += d" in text or " = d" in text and " + d" in text):
            # What is added to itself in a loop becomes larger than 64 bits.
            text = re.sub(r"(d\d+)(?=[^d]*$)", r"Counter(list(\1))", text, count=1) if ".update(d" in text else "pass"
        # A counter counts the pairs.
        super().line(re.sub(r"\.update\(\[\((.*), (.*)\)\]\)", r".update({\1: \2})", text) if self.cls == "Counter" else text)

    def disturb(self):
        """Without a key that goes and comes again between two steps, which an ordered dict that makes room then does not notice."""
        if self.cls != "OrderedDict":
            return super().disturb()
        d, k = self.d(), self.k()
        ways = [f"log.append(repr({d}[{k}]))", f"del {d}[{k}]", f"log.append(repr({d}.pop({k})))", f"{d}.move_to_end({k})"]
        self.attempt(self.own.choice(ways), "KeyError")

    def of_class(self, text):
        empty, made, _ = CLASSES[self.cls]
        text = empty if text == "{}" else made.replace("{}", text)
        return text.replace("FACTORY", self.value)

    def fresh(self, value):
        super().fresh(self.of_class("{}") if value == "{}" else value)

    def made(self):
        text = super().made()
        is_plain = text.startswith(("{", "dict("))
        return self.of_class(text) if is_plain else text

    def statement(self):
        if self.own.random() < 0.25:
            self.line(self.own.choice(getattr(self, self.cls)()))
        else:
            super().statement()

    def Counter(self):
        d, e, k = self.d(), self.d(), self.k()
        op = self.own.choice("+-|&")
        return [
            f"{d}[{k}] += 1", f"{d}[{k}] -= 2", f"del {d}[{k}]", f"log.append(repr({d}[{k}]))", f"log.append(repr({d}.most_common()))", f"log.append(repr({d}.most_common({self.own.randrange(4)})))",
            f"log.append(repr({d} {op} {e}))", f"{d} = {d} {op} {e}", f"{d} {op}= {e.replace(d, 'Counter(' + d + ')')}", f"{d}.subtract({e})", f"{d}.update(list({e}))", f"{d}.subtract([{k}])", f"if {d}.total() > 10**6: {d}.clear()",
            f"log.append(repr((+{d}, -{d})))", f"log.append(repr(({d} <= {e}, {d} < {e}, {d} >= {e}, {d} > {e})))", f"log.append(repr({d}.total()))",
        ] + ([f"if len({d}) and max({d}.values()) < 50: log.append(repr(list({d}.elements())))"] if self.value == "int" else [])

    def OrderedDict(self):
        d, k = self.d(), self.k()
        last = self.own.choice(["", "last=True", "last=False", "c"])
        return [
            f"if {k} in {d}: {d}.move_to_end({k}{last and ', ' + last})", f"if {d}: log.append(repr({d}.popitem({last})))", f"for k in list({d})[::2]: {d}.move_to_end(k{last and ', ' + last})",
            f"log.append(repr({d} == OrderedDict(reversed(list({d}.items())))))", f"log.append(repr({d} == dict({self.d()})))", f"log.append(repr([k for k in reversed({d})]))",
        ]

    def defaultdict(self):
        d, k = self.d(), self.k()
        more = {"int": "+= i", "float": "+= 0.5", "str": "+= 'z'", "list": "+= [i]"}[self.value]
        return [f"{d}[{k}] {more}", f"{d}[{k}] {more}", f"log.append(repr({d}[{k}]))", f"log.append(repr(({k} in {d}, {d}.get({k}))))", f"log.append(repr(dict({d})))"]


def same(a, b):
    """As of dicts; of one class, with one factory, in one order."""
    if isinstance(a, dict) and getattr(a, "default_factory", None) is not getattr(b, "default_factory", None):
        return False
    return dicts_fuzz.same(a, b)


FUZZER = Fuzzer("mappings", Program, same, (KeyError, IndexError, ValueError, RuntimeError), repr)
check, run = FUZZER.check, FUZZER.run

if __name__ == "__main__":
    exit_with(FUZZER, __doc__)
