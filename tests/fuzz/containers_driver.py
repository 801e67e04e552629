"""Runs random programs over containers, compiled and by CPython, and compares: what fuzzers of lists, dicts, sets, deques, bytes and instances share.

A program is an object with `source`, which defines `main`, and `arguments`. Results, exceptions and what became of the arguments must agree. A program may be refused for types that nothing says, for nothing else.
"""

import copy

import driver
import tierup

REFUSALS = ("[cannot-unify]", "[no-matching-operation]", "[unknown-element-type]", "[unknown-attribute]", "[bad-call]", "[requires-constant]")
# Of negative numbers where all of one container have to be uint64.
NO_MEMBER = "this value is no uint64"


class Lines:
    """The lines of a program: `statement` writes one or several; `rng`, `lines` and `depth` are the program's."""

    def line(self, text):
        self.lines.append("    " * self.depth + text)

    def block(self):
        self.depth += 1
        for _ in range(self.rng.randrange(1, 3)):
            self.statement()
        self.depth -= 1

    def branch_if(self, *conditions):
        self.line(f"if {self.rng.choice(conditions)}:")
        self.block()
        if self.rng.random() < 0.6:
            self.line("else:")
            self.block()


class Fuzzer:
    """`make` makes the program of a seed, `same` compares two values, `raises` says which exceptions a program may raise and what of one is compared."""

    def __init__(self, name, make, same, raises, of_exception):
        self.name, self.make, self.same, self.raises, self.of_exception = name, make, same, raises, of_exception

    def check(self, seed, compiled=tierup.njit):
        """What is wrong with a program, None where nothing is; a text that begins with "refused" where it is not compiled."""
        program = self.make(seed)
        space = {}
        exec(compile(program.source, f"<{self.name} {seed}>", "exec"), space)
        results = []
        for f in (space["main"], compiled(space["main"])):
            arguments = copy.deepcopy(program.arguments)
            try:
                results.append((f(*arguments), arguments))
            except self.raises as e:
                results.append((self.of_exception(e), arguments))
            except TypeError as e:
                text = str(e).splitlines()[0]
                return f"refused: {text}" if any(r in text for r in REFUSALS) else f"{type(e).__name__}: {e}"
            except OverflowError as e:
                return f"refused: {e}" if NO_MEMBER in str(e) else f"OverflowError: {e}"
            except Exception as e:
                return f"{type(e).__name__}: {e}"
        (want, left), (got, changed) = results
        if not self.same(want, got):
            return f"expected {want}, got {got}"
        return None if self.same(list(left), list(changed)) else f"expected the arguments {left}, got {changed}"

    def run(self, first, last):
        """What is wrong with programs, by seed."""
        return driver.here(self.check, first, last)


def exit_with(fuzzer, description):
    def text(seed):
        program = fuzzer.make(seed)
        return f"{program.source}\n{getattr(program, 'arguments', '')}"
    driver.main(driver.Options(description), text, fuzzer.check)
