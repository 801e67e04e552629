"""Random patterns of `re` on random texts: where matches and their groups lie, by the engine of the run-time and by Python's.

    python tests/fuzz/regexes_fuzz.py --seconds 600 --seed 1

One function is compiled for all patterns of str and one for those of bytes; for one pattern of `METHODS` another one knows it, and gives what the other methods give. The oracle is CPython.
"""

import random
import re
import warnings

from driver import Options, main

CHARACTERS = "aabbcABé1 _\nÿµ"
CLASSES = [r"\w", r"\d", r"\s", r"\W", r"\S", "[a-c]", "[^a]", "[aé]", r"[\w-]", ".", "ÿ", "µ", "K"]
PLACES = [r"\b", r"\B", "^", "$", r"\A", r"\Z"]
REPEATS = ["*", "+", "?", "{0,2}", "{2}", "{1,3}", "*?", "+?", "??", "{1,2}?"]
FLAGS = [0, 0, 0, re.I, re.M, re.S, re.A, re.I | re.M]
METHODS = 50


class Program:
    def __init__(self, seed):
        self.rng = random.Random(f"regexes {seed}")
        self.methods = seed % METHODS == 0
        of_bytes = self.rng.random() < 0.2
        while True:
            self.flags = int(self.rng.choice(FLAGS)) & ~(re.A if of_bytes else 0)
            self.pattern = self.alternatives(2)
            self.texts = 2 * ["".join(self.rng.choices(CHARACTERS, k=self.rng.randrange(14))) for _ in range(15)]
            if of_bytes:
                self.pattern, self.texts = self.pattern.encode("latin-1"), [t.encode("latin-1") for t in self.texts]
            try:
                self.groups = re.compile(self.pattern, self.flags).groups
                return
            except re.error:
                pass

    def text(self):
        return f"{self.pattern!r} {re.RegexFlag(self.flags)!r} {self.texts!r}"

    def alternatives(self, depth):
        return "|".join(self.sequence(depth) for _ in range(self.rng.choice([1, 1, 1, 2, 3])))

    def sequence(self, depth):
        return "".join(self.repeated(depth) for _ in range(self.rng.randrange(1, 4)))

    def repeated(self, depth):
        kind = self.rng.random()
        if kind < 0.12:
            return self.rng.choice(PLACES)
        if kind < 0.4 and depth:
            part = self.rng.choice(["({})", "({})", "(?:{})", "(?i:{})", "(?P<n%d>{})" % self.rng.randrange(10**9)]).format(self.alternatives(depth - 1))
        else:
            part = self.rng.choice(CLASSES) if self.rng.random() < 0.4 else self.rng.choice(CHARACTERS)
        return part + self.rng.choice(REPEATS) if self.rng.random() < 0.4 else part


def places(pattern, flags, groups, texts):
    """Where the groups of matches begin and end, and which group was last: a list of ints."""
    out = []
    p = re.compile(pattern, flags)
    for text in texts:
        found = [m for m in p.finditer(text)]
        for m in [p.match(text), p.fullmatch(text), p.search(text, 2, 7), p.match(text, 3)]:
            out.append(-2)
            if m is not None:
                found.append(m)
        for m in found:
            out.append(-1 if m.lastindex is None else m.lastindex)
            for k in range(groups + 1):
                out.append(m.start(k))
                out.append(m.end(k))
    return out


def methods(pattern, flags, of_bytes):
    """A function for one pattern, which is known when it is compiled."""
    p = re.compile(pattern, flags)
    put, template = (b"<>", rb"[\g<0>]") if of_bytes else ("<>", r"[\g<0>]")

    def all_of(texts):
        return [(p.findall(t), p.split(t), p.split(t, 1), p.subn(put, t), p.sub(template, t, 2)) for t in texts]
    return all_of


def compiled(f, _known={}):  # noqa: B006  (what is kept on purpose)
    from tierup import njit
    return _known.setdefault(f, njit(f))


def check(seed):
    program = Program(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        args = program.pattern, program.flags, program.groups, program.texts
        want, got = places(*args), compiled(places)(*args)
        if want == got and program.methods:
            from tierup import njit
            f = methods(program.pattern, program.flags, isinstance(program.pattern, bytes))
            want, got = f(program.texts), njit(f)(program.texts)
    return None if want == got else f"expected {want}, got {got}"


if __name__ == "__main__":
    main(Options(__doc__), lambda seed: Program(seed).text(), check, batch=50)
