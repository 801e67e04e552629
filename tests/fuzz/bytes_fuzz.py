"""Random programs over bytes and bytearrays: that are cut, joined, searched, changed in place, passed, returned, aliased, used as keys, gone through, decoded and encoded.

    python tests/fuzz/bytes_fuzz.py --seconds 600 --seed 1

The oracle is CPython. In the end every bytearray gets one more byte, so that bytearrays that are one object in Python and two in compiled code differ.
"""

import random

from containers_driver import Fuzzer, Lines, exit_with

HELPERS = """
def given(x):
    return x

def put(a, x):
    a.append(x % 256)

def parts(b):
    out = []
    for k in range(0, len(b), 3):
        out.append(b[k:k + 3])
    return out

def each(b):
    for x in b:
        yield x

def maybe(a, c):
    if c:
        return None
    return a

"""

LITERALS = [b"", b"a", b"ab", b" ", b"\n", b"\r\n", b"a\tb", b"aB1 \xe9", b"\x00", b"\xff\xfe", b"aXbXc", b"  x y  ", b"0x1f", b"-12", b"\xc3\xa9", b"\xe2\x82", b"it's", b'"', b"--", b"AAaa", b"a,b,,c"]
CUTS = ["[1:]", "[:-1]", "[::2]", "[::-1]", "[i:]", "[:n]", "[n:i]", "[-3:]", "[i::3]", "[::-2]", "[:]", "[2:1]"]
PLACES = ["0", "-1", "n", "i", "-n", "3", "n // 2", "200"]
NUMBERS = ["97", "32", "0", "255", "(n * 31 % 256)", "(i % 256)", "120"]
ODD_NUMBERS = [*NUMBERS, "256", "-1", "n * 40"]
# What has no operands behind it, and what has bytes, a number, and so on.
TESTS = ["isalpha", "isdigit", "isalnum", "isspace", "isupper", "islower", "istitle", "isascii"]
TURNS = ["upper", "lower", "title", "capitalize", "swapcase", "strip", "lstrip", "rstrip", "expandtabs"]
CODECS = ["'utf-8'", "'ascii'", "'latin-1'"]
DECODE_ERRORS = ["'strict'", "'ignore'", "'replace'", "'backslashreplace'"]
ENCODE_ERRORS = [*DECODE_ERRORS, "'xmlcharrefreplace'"]
QUESTIONS = ["<=", "<", ">=", ">", "==", "!="]


class Program(Lines):
    """`b0 …` are bytes, `a0 …` bytearrays; `b0` and `a0` are arguments."""

    def __init__(self, seed):
        self.rng = r = random.Random(seed)
        self.bytes, self.arrays, self.lines, self.depth, self.count = ["b0"], ["a0"], [], 1, 0
        self.line("log = ['']")
        self.line("i = 0")
        self.fresh_array()
        for _ in range(r.randrange(4, 12)):
            self.statement()
        for a in self.arrays:
            self.line(f"{a}.append(7)")
        self.line(f"return ({', '.join(self.arrays + self.bytes)}, log)")
        self.source = HELPERS + "def main(a0, b0, n, c, s):\n" + "\n".join(self.lines) + "\n"
        some = bytes(r.choice([97, 98, 65, 32, 10, 48, 255, 233, 0, 44]) for _ in range(r.randrange(0, 14)))
        text = "".join(r.choice("aB1 é\n€😀\ud800,") for _ in range(r.randrange(0, 9)))
        self.arguments = (bytearray(r.choice(LITERALS) + some), r.choice([some, r.choice(LITERALS)]), r.randrange(0, 12), r.random() < 0.5, text)

    def log(self, text):
        self.line(f"log.append({text})")

    def pick(self, *options):
        """One of several texts, made only where it is chosen."""
        return self.rng.choice(options)()

    def literal(self):
        return repr(self.rng.choice(LITERALS))

    def b(self):
        return self.rng.choice(self.bytes)

    def a(self):
        return self.rng.choice(self.arrays)

    def number(self):
        return self.rng.choice(NUMBERS)

    def place(self):
        return self.rng.choice(PLACES)

    def small(self):
        """Bytes of few."""
        return self.pick(self.literal, self.literal, lambda: f"bytes([{self.number()}])", lambda: f"{self.b()}[:2]", lambda: f"bytes({self.a()}[1:3])")

    def either(self):
        return self.pick(self.b, self.b, self.a, self.literal)

    def make(self):
        """An expression of bytes."""
        return self.pick(
            self.literal, self.b, lambda: f"({self.b()} + {self.either()})[:40]", lambda: f"({self.small()} * {self.rng.choice(['0', '2', 'n', '-1'])})[:40]", lambda: self.b() + self.rng.choice(CUTS),
            lambda: f"bytes({self.a()})", lambda: f"bytes({self.a()})" + self.rng.choice(CUTS), lambda: f"bytes([{self.number()}, {self.number()}])", lambda: "bytes(n)", lambda: f"bytes(x ^ 1 for x in {self.either()})", lambda: "bytes(range(i % 256, i % 256 + 1))",
            lambda: self.turned(self.b()), lambda: f"given({self.b()})", lambda: f"({self.b()} if c else {self.small()})", lambda: f"{self.small()}.join(parts({self.b()}))[:40]", lambda: f"{self.b()}.replace({self.small()}, {self.small()})[:40]",
            lambda: f"s.encode({self.rng.choice(CODECS)}, {self.rng.choice(ENCODE_ERRORS[1:])})", lambda: f"(n * 300 + {self.number()}).to_bytes(3, {self.order()})", lambda: f"max({self.b()}, {self.small()})", lambda: f"{self.b()}.translate(None, {self.small()})",
            lambda: f"bytes.fromhex({self.b()}.hex())", lambda: f"({self.b()} or {self.literal()})", lambda: f"{self.b()}.translate(bytes.maketrans({self.small()}[:1].ljust(1), b'#'))", lambda: f"{self.small()}.join([bytes({self.a()}), {self.b()}])[:40]",
        )

    def order(self):
        return self.rng.choice(["'big'", "'little'"])

    def turned(self, x):
        r = self.rng
        return self.pick(
            lambda: f"{x}.{r.choice(TURNS)}()", lambda: f"{x}.{r.choice(['strip', 'lstrip', 'rstrip'])}({self.small()})", lambda: f"{x}.{r.choice(['center', 'ljust', 'rjust'])}(n{r.choice(['', ', b' + repr('*')])})", lambda: f"{x}.zfill(n)", lambda: f"{x}.removeprefix({self.small()})",
            lambda: f"{x}.removesuffix({self.small()})", lambda: f"{x}.replace({self.small()}, {self.small()}, {r.choice(['1', '2', '-1', '0'])})[:40]",
        )

    def make_array(self):
        """An expression of bytearrays."""
        return self.pick(
            self.a, lambda: f"bytearray({self.make()})", lambda: f"bytearray({self.a()})", lambda: f"{self.a()}.copy()", lambda: self.a() + self.rng.choice(CUTS), lambda: f"({self.a()} + {self.either()})[:40]", lambda: f"given({self.a()})", lambda: f"({self.a()} if c else {self.a()})",
            lambda: "bytearray(n)", lambda: "bytearray()", lambda: f"bytearray([{self.number()}, {self.number()}])", lambda: f"bytearray(x | 1 for x in {self.either()})", lambda: f"({self.a()} * {self.rng.choice(['0', '2', '(n % 3)'])})[:40]", lambda: self.turned(self.a()),
            lambda: f"{self.a()}.split(b',')[-1]", lambda: f"bytearray.fromhex({self.a()}.hex())",
        )

    def iterable(self):
        return self.pick(self.either, self.either, lambda: f"[{self.number()}, {self.number()}]", lambda: f"({self.number()},)", lambda: "range(n)", lambda: f"[x // 2 for x in {self.either()}]", lambda: f"each({self.either()})", lambda: f"reversed({self.either()})", lambda: f"set({self.b()}[:1])")

    def fresh(self):
        value = self.make()
        self.count += 1
        self.line(f"b{self.count} = {value}")
        self.bytes.append(f"b{self.count}")

    def fresh_array(self):
        value = self.make_array()
        self.count += 1
        self.line(f"a{self.count} = {value}")
        self.arrays.append(f"a{self.count}")

    def statement(self):
        kinds = [self.assign, self.assign, self.change, self.change, self.change, self.take, self.look, self.look, self.search, self.search, self.split, self.test, self.go_through, self.ask, self.keys, self.inside, self.codec, self.wrong, self.wrong, self.wrong]
        if self.depth < 3:
            kinds += [self.branch, self.loop]
        self.rng.choice(kinds)()

    def assign(self):
        if self.depth == 1 and self.rng.random() < 0.6:
            self.pick(lambda: self.fresh, lambda: self.fresh_array)()
        elif self.rng.random() < 0.5:
            self.line(f"{self.b()} = {self.make()}")
        else:
            self.line(f"{self.a()} = {self.make_array()}")

    def change(self):
        a = self.a()
        self.line(self.pick(
            lambda: f"{a}.append({self.number()})", lambda: f"if len({a}) < 60: {a}.extend({self.iterable()})", lambda: f"if len({a}) < 60: {a} += {self.either()}", lambda: f"{a}.insert({self.place()}, {self.number()})", lambda: f"{a}.reverse()", lambda: f"if len({a}) < 40: {a} *= {self.rng.choice(['0', '1', '2', 'n % 3'])}",
            lambda: f"if {a}: {a}[0] = {self.number()}", lambda: f"if {a}: {a}[-1] = {self.number()}", lambda: f"{a}[{self.place()}:{self.place()}] = {self.iterable()}", lambda: f"{a}[:2] = {self.iterable()}", lambda: f"{a}[n:] = {self.a()}", lambda: f"put({a}, n)", lambda: f"for k in range(len({a})): {a}[k] ^= 1",
        ))

    def take(self):
        a = self.a()
        self.line(self.pick(
            lambda: f"if {a}: log.append(str({a}.pop()))", lambda: f"if {a}: log.append(str({a}.pop(0)))", lambda: f"if {self.number()} in {a}: {a}.remove({a}[0])", lambda: f"if n > 7: {a}.clear()", lambda: f"del {a}[{self.place()}:{self.place()}]", lambda: f"del {a}[::2]", lambda: f"if {a}: del {a}[n % len({a})]",
        ))

    def look(self):
        x = self.either()
        self.log(self.pick(
            lambda: f"repr({x})", lambda: f"str(len({x}))", lambda: f"f'{{{self.b()}!r:>30}}'", lambda: f"ascii({x})", lambda: f"str(list({x}))", lambda: f"str(sum({x}))", lambda: f"{x}.hex()", lambda: f"{x}.hex('-', {self.rng.choice(['1', '2', '-3', 'n'])})", lambda: f"str([x for x in {x} if x > 64])",
            lambda: f"str(sorted({x}))", lambda: f"str(list(zip({x}, reversed({x}))))", lambda: f"str(hash({self.b()}) == hash({self.b()}))", lambda: f"str(int.from_bytes({x}[:7], {self.order()}))", lambda: f"str(int.from_bytes({x}[:8], {self.order()}, signed=True))", lambda: f"str(({x}, [{self.b()}], {self.a()}))",
            lambda: f"'%s' % {self.b()}", lambda: f"str(bool({x}))",
        ))

    def search(self):
        x = self.either()
        what = self.pick(self.small, self.number, self.either)
        bounds = self.pick(lambda: "", lambda: f", {self.place()}", lambda: f", {self.place()}, {self.place()}")
        self.log(self.pick(
            lambda: f"str({x}.{self.rng.choice(['find', 'rfind', 'count'])}({what}{bounds}))", lambda: f"str({what} in {x})", lambda: f"str({x}.{self.rng.choice(['startswith', 'endswith'])}({self.small()}{bounds}))",
            lambda: f"str({x}.{self.rng.choice(['startswith', 'endswith'])}(({self.small()}, {self.small()}){bounds}))",
        ))

    def split(self):
        x = self.either()
        self.log(self.pick(
            lambda: f"str({x}.{self.rng.choice(['split', 'rsplit'])}())", lambda: f"str({x}.{self.rng.choice(['split', 'rsplit'])}(None, {self.rng.choice(['0', '1', '2'])}))", lambda: f"str({x}.split(b','))",
            lambda: f"str({x}.rsplit(b'a', {self.rng.choice(['1', '2', '-1'])}))", lambda: f"str({x}.splitlines({self.rng.choice(['', 'True', 'c'])}))", lambda: f"str({x}.{self.rng.choice(['partition', 'rpartition'])}(b','))", lambda: f"str({x}.{self.rng.choice(['partition', 'rpartition'])}(b'a'))",
        ))

    def test(self):
        self.log(f"str({self.either()}.{self.rng.choice(TESTS)}())")

    def go_through(self):
        x = self.either()
        self.line(self.pick(
            lambda: f"log += [str(y) for y in {x}]", lambda: f"for y in reversed({x}): log.append(str(y))", lambda: f"for j, y in enumerate({x}): log.append(str(j * y))", lambda: f"for y in list({x}): {self.a()}.append(y)", lambda: f"for y in parts({self.b()}): log.append(repr(y))",
        ))
        if self.rng.random() < 0.2:
            a = self.a()
            self.line(f"for y in {a}:")
            self.line(f"    if len({a}) > 50: break")
            self.line("    " + self.pick(lambda: f"{a}.append(y)", lambda: f"{a}.pop()", lambda: f"{a}[0] = 5", lambda: "log.append(str(y))", lambda: f"{a}.clear()"))

    def ask(self):
        x, y = self.either(), self.either()
        self.log(f"str(({x} {self.rng.choice(QUESTIONS)} {y}, {self.a()} is {self.a()}, {x} {self.rng.choice(QUESTIONS)} {self.small()}))")

    def keys(self):
        self.count += 1
        d = f"x{self.count}"
        for text in self.pick(
            lambda: [f"{d} = {{{self.b()}: 1, {self.small()}: 2}}", f"{d}[{self.make()}] = 3", f"log.append(repr({d}))", f"log.append(str({self.small()} in {d}))"],
            lambda: [f"{d} = {{{self.b()}, {self.small()}}}", f"{d}.add({self.small()})", f"log.append(repr(sorted({d})))"],
            lambda: [f"{d} = [{self.b()}, {self.small()}, {self.small()}]", f"{d}.sort()", f"log.append(repr({d}))", f"log.append(str({self.small()} in {d}))"],
        ):
            self.line(text)

    def inside(self):
        self.count += 1
        y, a = f"x{self.count}", self.a()
        for text in self.pick(
            lambda: [f"{y} = [{a}, {self.a()}]", f"{y}[0].append({self.number()})", f"log.append(str({y}))"], lambda: [f"{y} = {{}}", f"{y}[{self.small()}] = {a}", f"for v in {y}.values(): v.append(3)", f"log.append(repr({y}))"],
            lambda: [f"{y} = ({a}, {self.b()})", f"{y}[0].append({self.number()})", f"log.append(repr({y}))"], lambda: [f"{y} = maybe({a}, c)", f"if {y} is not None: {y}.append({self.number()})"],
        ):
            self.line(text)

    def codec(self):
        codec = self.rng.choice(CODECS)
        self.log(self.pick(lambda: f"ascii({self.either()}.decode({codec}, {self.rng.choice(DECODE_ERRORS[1:])}))", lambda: f"repr(s.encode({codec}, {self.rng.choice(ENCODE_ERRORS[1:])}))", lambda: f"ascii(str({self.either()}, {codec}, 'replace'))"))

    def wrong(self):
        """What may raise."""
        a, x = self.a(), self.either()
        odd = self.rng.choice(ODD_NUMBERS)
        self.line("try:")
        self.line("    " + self.pick(
            lambda: f"log.append(str({x}[{self.place()}]))", lambda: f"log.append(str({x}.{self.rng.choice(['index', 'rindex'])}({self.small()})))", lambda: f"log.append(str({x}.index({odd}, {self.place()})))", lambda: f"log.append(str({odd} in {x}))", lambda: f"{a}.append({odd})", lambda: f"{a}[{self.place()}] = {odd}",
            lambda: f"{a}.insert({self.place()}, {odd})", lambda: f"{a}.remove({odd})", lambda: f"log.append(str({a}.pop({self.place()})))", lambda: f"del {a}[{self.place()}]", lambda: f"{a}.extend([{self.number()}, {odd}])", lambda: f"{a}[::2] = {self.iterable()}", lambda: f"{a}[::-1] = {self.either()}",
            lambda: f"log.append(repr(bytes([{odd}])))", lambda: f"log.append(str(int({self.small()})))", lambda: f"log.append(str(int({x}, 16)))", lambda: f"log.append(str(float({x})))", lambda: f"log.append(repr({x}.split({self.small()})))", lambda: f"log.append(repr({x}.rpartition({self.small()})))",
            lambda: f"log.append(ascii({x}.decode({self.rng.choice(CODECS)})))", lambda: f"log.append(repr(s.encode({self.rng.choice(CODECS)})))", lambda: f"log.append(repr(({odd}).to_bytes(1, {self.order()}, signed=c)))", lambda: f"log.append(repr(bytes.fromhex(s)))", lambda: f"log.append(repr({x}.translate({self.small()})))",
            lambda: f"log.append(repr({x}.center(9, {self.small()})))", lambda: "log.append(repr(bytes(n - 4)))", lambda: f"log.append(str(ord({self.small()})))", lambda: f"{a}[n:2:-1] = {self.iterable()}",
        ))
        self.line("except (IndexError, ValueError, OverflowError) as e:")
        self.line("    log.append(ascii(repr(e)))")
        self.line("    log.append(ascii(str(e)))")
        self.line("except TypeError as e:")
        self.line("    log.append(str(e))")

    def branch(self):
        self.branch_if("c", "n > 4", f"len({self.b()}) > 3", self.a())

    def loop(self):
        self.line(self.rng.choice(["for i in range(n):", "for i in range(2):", "for i in range(5):"]))
        self.line(f"    if len(log) > 200 or len({self.a()}) > 60: break")
        self.block()


def same(a, b):
    if type(a) is not type(b):
        return False
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(same, a, b))
    return a == b


FUZZER = Fuzzer("bytes", Program, same, (IndexError, ValueError, OverflowError, BufferError), repr)
check, run = FUZZER.check, FUZZER.run

if __name__ == "__main__":
    exit_with(FUZZER, __doc__)
