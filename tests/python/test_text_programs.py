"""Everyday programs over text: they compile whole, and give what Python gives."""

import array
import copy
import io
import re
import string
import struct
import warnings
from collections import Counter, defaultdict, namedtuple
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from enum import Enum

import pytest
from tierup import jit, njit

LOG = re.compile(r'(?P<ip>\d+(?:\.\d+){3}) - - \[(?P<when>[^\]]+)\] "(?P<verb>[A-Z]+) (?P<path>\S+)[^"]*" (?P<status>\d{3}) (?P<size>\d+|-)')


def parse_logs(lines):
    by_status = Counter()
    by_path = defaultdict(int)
    slowest = None
    first = last = None
    for line in lines:
        m = LOG.match(line)
        if m is None:
            continue
        when = datetime.strptime(m["when"], "%d/%b/%Y:%H:%M:%S")
        first = when if first is None or when < first else first
        last = when if last is None or when > last else last
        by_status[m["status"]] += 1
        size = 0 if m["size"] == "-" else int(m["size"])
        by_path[m["path"]] += size
        if slowest is None or size > slowest[1]:
            slowest = (m["path"], size)
    span = (last - first).total_seconds() if first is not None and last is not None else 0.0
    return by_status.most_common(), sorted(by_path.items()), slowest, span


LINES = ['127.0.0.1 - - [10/Oct/2023:13:55:36] "GET /a HTTP/1.1" 200 2326', 'bad', '10.0.0.7 - - [10/Oct/2023:13:55:39] "POST /b HTTP/1.1" 404 -', '10.0.0.7 - - [10/Oct/2023:13:50:00] "GET /a HTTP/1.1" 200 100']


def parse_csv(text, delimiter=","):
    rows = []
    row = []
    field = ""
    quoted = False
    i = 0
    while i < len(text):
        c = text[i]
        if quoted:
            if c == '"':
                if i + 1 < len(text) and text[i + 1] == '"':
                    field += '"'
                    i += 1
                else:
                    quoted = False
            else:
                field += c
        elif c == '"':
            quoted = True
        elif c == delimiter:
            row.append(field)
            field = ""
        elif c == "\n":
            row.append(field)
            rows.append(row)
            row, field = [], ""
        elif c != "\r":
            field += c
        i += 1
    if field or row:
        row.append(field)
        rows.append(row)
    header, *body = rows
    return [dict(zip(header, r)) for r in body]


CSV = 'name,age,note\r\n"Smith, J",42,"said ""hi"""\nDoe,7,\n'


TOKEN = re.compile(r"\s*(?:(?P<num>\d+\.?\d*)|(?P<name>[a-z_]\w*)|(?P<op>\*\*|[-+*/()=]))")
Token = namedtuple("Token", "kind text")


def tokenize(text):
    tokens = []
    pos = 0
    text = text.rstrip()
    while pos < len(text):
        m = TOKEN.match(text, pos)
        if not m:
            raise SyntaxError(f"unexpected {text[pos]!r} at {pos}")
        tokens.append(Token(m.lastgroup, m.group(m.lastgroup)))
        pos = m.end()
    return tokens


class Parser:
    def __init__(self, tokens, names):
        self.tokens = tokens
        self.i = 0
        self.names = names
    def peek(self):
        return self.tokens[self.i].text if self.i < len(self.tokens) else ""
    def take(self):
        t = self.tokens[self.i]
        self.i += 1
        return t
    def expr(self):
        x = self.term()
        while self.peek() in ("+", "-"):
            if self.take().text == "+":
                x += self.term()
            else:
                x -= self.term()
        return x
    def term(self):
        x = self.factor()
        while self.peek() in ("*", "/"):
            if self.take().text == "*":
                x *= self.factor()
            else:
                x /= self.factor()
        return x
    def factor(self):
        t = self.take()
        if t.text == "(":
            x = self.expr()
            self.take()
            return x
        if t.text == "-":
            return -self.factor()
        if t.kind == "name":
            return self.names[t.text]
        return float(t.text)


def evaluate(text):
    return Parser(tokenize(text), {"x": 2.0, "pi": 3.14}).expr()


def render(template, values):
    out = io.StringIO()
    pos = 0
    for m in re.finditer(r"\{\{\s*(\w+)(?:\|(\w+))?\s*\}\}", template):
        out.write(template[pos:m.start()])
        value = values.get(m[1], "")
        filter_ = m[2]
        if filter_ == "upper":
            value = value.upper()
        elif filter_ == "title":
            value = value.title()
        elif filter_ is not None:
            raise KeyError(filter_)
        out.write(value)
        pos = m.end()
    out.write(template[pos:])
    return out.getvalue()


def parse_ini(text):
    result = {}
    section = {}
    for n, line in enumerate(text.splitlines(), 1):
        line = line.split(";", 1)[0].strip()
        if not line:
            continue
        if line.startswith("[") and line.endswith("]"):
            section = result.setdefault(line[1:-1], {})
        elif "=" in line:
            key, _, value = line.partition("=")
            section[key.strip().lower()] = value.strip()
        else:
            raise ValueError(f"line {n}: {line!r}")
    return result


INI = "[a]\nX = 1 ; c\ny=two words\n\n[b]\nz =\n"


def inline(text):
    text = text.replace("&", "&amp;").replace("<", "&lt;")
    text = re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", text)
    text = re.sub(r"\*(.+?)\*", r"<i>\1</i>", text)
    text = re.sub(r"`(.+?)`", lambda m: "<code>" + m[1].upper() + "</code>", text)
    return re.sub(r"\[([^\]]+)\]\(([^)]+)\)", r'<a href="\2">\1</a>', text)


def markdown(text):
    out = []
    in_list = False
    for line in text.split("\n"):
        if m := re.match(r"(#{1,6}) (.*)", line):
            level = len(m[1])
            out.append(f"<h{level}>{inline(m[2])}</h{level}>")
            continue
        if m := re.match(r"[-*] (.*)", line):
            if not in_list:
                out.append("<ul>")
                in_list = True
            out.append(f"<li>{inline(m[1])}</li>")
            continue
        if in_list:
            out.append("</ul>")
            in_list = False
        if line.strip():
            out.append(f"<p>{inline(line)}</p>")
    if in_list:
        out.append("</ul>")
    return "\n".join(out)


MD = "# Title & more\n\nSome **bold** and *it* with `code` and [a link](http://x).\n- one\n- two\n\nend"


ROMAN = ((1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L"), (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I"))


def to_roman(n):
    out = ""
    for value, letters in ROMAN:
        while n >= value:
            out += letters
            n -= value
    return out


def from_roman(s):
    if not re.fullmatch(r"M{0,3}(CM|CD|D?C{0,3})(XC|XL|L?X{0,3})(IX|IV|V?I{0,3})", s):
        raise ValueError(f"no roman numeral: {s}")
    values = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}
    total = 0
    for a, b in zip(s, s[1:] + " "):
        v = values[a]
        total += -v if b != " " and values[b] > v else v
    return total


def roman(n):
    s = to_roman(n)
    return s, from_roman(s)


UNITS = {"m": 1.0, "km": 1000.0, "cm": 0.01, "in": 0.0254, "ft": 0.3048}


def convert(text):
    m = re.match(r"\s*([-+]?\d*\.?\d+(?:[eE][-+]?\d+)?)\s*([a-z]+)\s+(?:to|in)\s+([a-z]+)\s*$", text)
    if m is None:
        raise ValueError(f"cannot read {text!r}")
    amount, source, target = m.groups()
    return f"{float(amount) * UNITS[source] / UNITS[target]:.4g} {target}"


def frequencies(text, n):
    words = re.findall(r"[a-z']+", text.lower())
    counts = {}
    for w in words:
        counts[w] = counts.get(w, 0) + 1
    ranked = sorted(counts.items(), key=lambda kv: (-kv[1], kv[0]))
    return [f"{w:<6}|{c:>3}" for w, c in ranked[:n]]


def wrap(text, width):
    lines = []
    line = ""
    for word in text.split():
        if line and len(line) + 1 + len(word) > width:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}" if line else word
    if line:
        lines.append(line)
    return [l.ljust(width) + "|" for l in lines]


def texts(s, k):
    runs = "".join(f"{len(m[0])}{m[1]}" for m in re.finditer(r"(.)\1*", s))
    back = re.sub(r"(\d+)(\D)", lambda m: m[2] * int(m[1]), runs)
    table = str.maketrans(string.ascii_lowercase, string.ascii_lowercase[k:] + string.ascii_lowercase[:k])
    plain = "".join(c for c in s.lower() if c.isalnum())
    return runs, back == s, s.translate(table), plain == plain[::-1]


def query(url):
    path, _, rest = url.partition("?")
    params = defaultdict(list)
    for part in rest.split("&"):
        if part:
            key, _, value = part.partition("=")
            value = re.sub(r"%([0-9A-Fa-f]{2})", lambda m: chr(int(m[1], 16)), value.replace("+", " "))
            params[key].append(value)
    return path, dict(params)


@dataclass
class Person:
    name: str
    born: date
    tags: list[str]


def people(text):
    found = []
    for line in text.strip().splitlines():
        name, born, *tags = [p.strip() for p in line.split("|")]
        found.append(Person(name, date.fromisoformat(born), tags))
    found.sort(key=lambda p: p.born)
    return [(p.name, p.born.isoformat(), (date(2024, 1, 1) - p.born).days // 365, p.tags) for p in found]


PEOPLE = "Ann | 1990-05-17 | a | b\nBob|1985-01-01\n"


def diff(a, b):
    n, m = len(a), len(b)
    lcs = [[0] * (m + 1) for _ in range(n + 1)]
    for i in range(n - 1, -1, -1):
        for j in range(m - 1, -1, -1):
            lcs[i][j] = lcs[i + 1][j + 1] + 1 if a[i] == b[j] else max(lcs[i + 1][j], lcs[i][j + 1])
    i = j = 0
    while i < n or j < m:
        if i < n and j < m and a[i] == b[j]:
            yield "  " + a[i]
            i += 1
            j += 1
        elif j < m and (i == n or lcs[i][j + 1] >= lcs[i + 1][j]):
            yield "+ " + b[j]
            j += 1
        else:
            yield "- " + a[i]
            i += 1


def diffed(a, b):
    return "\n".join(diff(a.splitlines(), b.splitlines()))


def quote(s):
    def esc(m):
        c = m[0]
        return {'"': '\\"', "\\": "\\\\", "\n": "\\n"}.get(c) or f"\\u{ord(c):04x}"
    return '"' + re.sub(r'["\\\x00-\x1f]', esc, s) + '"'


def to_json(rows):
    out = io.StringIO()
    print("[", file=out)
    for k, row in enumerate(rows):
        items = ", ".join(f"{quote(a)}: {quote(b)}" for a, b in row.items())
        print("  {" + items + "}", end="" if k == len(rows) - 1 else ",\n", file=out)
    print("\n]", file=out)
    return out.getvalue()


NUM = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")


def read_numbers(text):
    values, i = [], text.index("[") + 1
    while True:
        while text[i] in " \n,":
            i += 1
        if text[i] == "]":
            return values
        m = NUM.match(text, i)
        if m is None:
            raise ValueError(f"Expecting value: char {i}")
        values.append(float(m.group()))
        i = m.end()


def header(data):
    magic, version, count = struct.unpack_from("<4sHI", data)
    if magic != b"TEST":
        raise ValueError("bad magic")
    offsets = array.array("I")
    for (o,) in struct.iter_unpack("<I", data[10:10 + 4 * count]):
        offsets.append(o)
    names = [data[o:data.index(b"\0", o)].decode() for o in offsets]
    return version, names


HEAD = struct.pack("<4sHI2I", b"TEST", 3, 2, 18, 21) + b"ab\0cd\0"


def month(year, number):
    first = date(year, number, 1)
    lines = [f"{first:%B %Y}".center(20).rstrip(), "Mo Tu We Th Fr Sa Su"]
    line = "   " * first.weekday()
    day = first
    while day.month == number:
        line += f"{day.day:2d} "
        if day.weekday() == 6:
            lines.append(line.rstrip())
            line = ""
        day += timedelta(days=1)
    if line.strip():
        lines.append(line.rstrip())
    return "\n".join(lines)


def versions(vs):
    def key(v):
        m = re.match(r"v?(\d+)\.(\d+)\.(\d+)(?:-(.+))?$", v)
        if not m:
            return (0, 0, 0, "")
        return (int(m[1]), int(m[2]), int(m[3]), m[4] or "~")
    natural = sorted(vs, key=lambda s: [int(p) if p.isdigit() else -1 for p in re.split(r"(\d+)", s)])
    return sorted(vs, key=key), natural


def matching(pattern, names):
    out = ""
    for c in pattern:
        out += {"*": ".*", "?": "."}.get(c, re.escape(c))
    rx = re.compile(out + r"\Z", re.I)
    return [n for n in names if rx.match(n)]


class Kind(Enum):
    NUM = 1
    ID = 2
    OP = 3
    STR = 4


@dataclass(frozen=True)
class Tok:
    kind: Kind
    text: str
    line: int


RULES = [(Kind.NUM, re.compile(r"\d+(?:\.\d+)?")), (Kind.ID, re.compile(r"[A-Za-z_]\w*")), (Kind.STR, re.compile(r'"(?:[^"\\]|\\.)*"')), (Kind.OP, re.compile(r"[-+*/=<>!]=?|[(){};,]"))]


def lex(src):
    toks = []
    pos, line = 0, 1
    while pos < len(src):
        if src[pos].isspace():
            line += src[pos] == "\n"
            pos += 1
            continue
        for kind, rx in RULES:
            m = rx.match(src, pos)
            if m:
                toks.append(Tok(kind, m.group(), line))
                pos = m.end()
                break
        else:
            raise SyntaxError(f"line {line}: {src[pos]!r}")
    return [(t.kind.name, t.text, t.line) for t in toks]


Lexeme = namedtuple("Lexeme", "type value line column")


def lexemes(code):
    keywords = {"IF", "THEN", "ENDIF", "FOR", "NEXT"}
    token_specification = [("NUMBER", r"\d+(\.\d*)?"), ("ASSIGN", r":="), ("END", r";"), ("ID", r"[A-Za-z]+"), ("OP", r"[+\-*/]"), ("NEWLINE", r"\n"), ("SKIP", r"[ \t]+"), ("MISMATCH", r".")]
    tok_regex = "|".join("(?P<%s>%s)" % pair for pair in token_specification)
    line_num = 1
    line_start = 0
    for mo in re.finditer(tok_regex, code):
        kind = mo.lastgroup
        value = mo.group()
        column = mo.start() - line_start
        if kind == "NUMBER":
            pass
        elif kind == "ID" and value in keywords:
            kind = value
        elif kind == "NEWLINE":
            line_start = mo.end()
            line_num += 1
            continue
        elif kind == "SKIP":
            continue
        elif kind == "MISMATCH":
            raise RuntimeError(f"{value!r} unexpected on line {line_num}")
        yield Lexeme(kind, value, line_num, column)


def docs(code):
    return [(t.type, t.value, t.line, t.column) for t in lexemes(code)]


def hexdump(data):
    lines = []
    for i in range(0, len(data), 16):
        chunk = data[i:i + 16]
        hexed = " ".join(f"{b:02x}" for b in chunk)
        shown = "".join(chr(b) if 32 <= b < 127 else "." for b in chunk)
        lines.append(f"{i:08x}  {hexed:<47}  |{shown}|")
    return "\n".join(lines)


ROUTES = {"home": re.compile(r"^/$"), "user": re.compile(r"^/user/(\d+)$"), "page": re.compile(r"^/(\w+)/(\w+)$")}


def route(path):
    for name, rx in ROUTES.items():
        m = rx.match(path)
        if m:
            return name, m.group(0)
    return None


def schedule(start, end, weekdays):
    d = datetime.strptime(start, "%Y-%m-%d").date()
    stop = date.fromisoformat(end)
    out = []
    while d <= stop:
        if d.strftime("%a") in weekdays:
            y, w, _ = d.isocalendar()
            out.append(f"{d:%d.%m.} KW{w:02d}/{y}")
        d += timedelta(days=1)
    return out


def duration(s):
    total = timedelta()
    for n, unit in re.findall(r"(\d+)\s*([dhms])", s):
        k = int(n)
        if unit == "d":
            total += timedelta(days=k)
        elif unit == "h":
            total += timedelta(hours=k)
        elif unit == "m":
            total += timedelta(minutes=k)
        else:
            total += timedelta(seconds=k)
    return str(total), total.total_seconds()


def tags(xml):
    stack, depth, seen = [], 0, []
    for m in re.finditer(r"<(/)?(\w+)((?:\s+\w+=\"[^\"]*\")*)\s*(/)?>|([^<]+)", xml):
        close, name, attrs, empty, text = m.groups()
        if text is not None:
            if text.strip():
                seen.append("  " * len(stack) + text.strip())
        elif close:
            if not stack or stack.pop() != name:
                raise ValueError(f"unexpected </{name}>")
        else:
            found = dict(re.findall(r'(\w+)="([^"]*)"', attrs))
            seen.append("  " * len(stack) + name + "".join(f" {k}:{v}" for k, v in found.items()))
            if not empty:
                stack.append(name)
    return seen


def redact(text, words):
    rx = re.compile("|".join(map(re.escape, sorted(words, key=len, reverse=True))), re.IGNORECASE)
    new, n = rx.subn(lambda m: m[0][0] + "*" * (len(m[0]) - 1), text)
    return new, n


def shift(srt, ms):
    def move(m):
        h, mi, s, f = (int(x) for x in m.groups())
        t = ((h * 60 + mi) * 60 + s) * 1000 + f + ms
        t, f = divmod(max(t, 0), 1000)
        t, s = divmod(t, 60)
        h, mi = divmod(t, 60)
        return f"{h:02d}:{mi:02d}:{s:02d},{f:03d}"
    return re.sub(r"(\d\d):(\d\d):(\d\d),(\d{3})", move, srt)


class Config:
    LINE = re.compile(r"^(?P<key>[\w.]+)\s*:\s*(?P<value>.+)$")
    def __init__(self, text):
        self.values = {}
        for line in text.splitlines():
            if m := self.LINE.match(line):
                self.values[m["key"]] = m["value"]
    def get(self, key, default=""):
        return self.values.get(key, default)


def config(text):
    c = Config(text)
    return c.get("a.b"), c.get("zz", "none"), len(c.values)


def frames(data):
    pos, out = 0, []
    S = struct.Struct(">BH")
    while pos + S.size <= len(data):
        kind, n = S.unpack_from(data, pos)
        pos += S.size
        body = data[pos:pos + n]
        pos += n
        out.append((kind, body.decode("utf-8", "replace") if kind == 1 else body.hex()))
    return out


WS = re.compile(r"""
   ^\s*(?P<name>\w+)   # name
   \s*=\s*
   (?P<val>"[^"]*"|\S+)
""", re.VERBOSE | re.MULTILINE)


def assignments(text):
    return {m["name"]: m["val"].strip('"') for m in WS.finditer(text)}


CASES = [
    (parse_logs, LINES),
    (parse_logs, ["x"]),
    (parse_csv, CSV),
    (evaluate, "-(1 + x) * 3 / pi - 2"),
    (render, "a {{x|upper}} {{ y }} {{z}}", {"x": "q", "y": "w"}),
    (render, "{{x|no}}", {"x": "q"}),
    (parse_ini, INI),
    (parse_ini, "[a]\nzz"),
    (markdown, MD),
    (roman, 1994),
    (from_roman, "IIX"),
    (convert, "3 km to ft"),
    (convert, "1e2cm in m"),
    (convert, "x"),
    (frequencies, "The cat and the dog and THE end", 3),
    (wrap, "the quick brown fox jumps over it", 10),
    (texts, "aaabccd", 3),
    (query, "/a?x=1&y=a%20b+c&x=2"),
    (people, PEOPLE),
    (diffed, "a\nb\nc", "a\nc\nd"),
    (to_json, [{"a": "x\n\"y"}, {"b": "\x01"}]),
    (read_numbers, "[1, -2.5,\n3e2]"),
    (read_numbers, "[x]"),
    (header, HEAD),
    (month, 2024, 2),
    (month, 2023, 1),
    (versions, ["v1.10.0", "1.2.0", "1.2.0-rc", "x"]),
    (matching, "a*.t?t", ["ab.txt", "a.TaT", "b.txt"]),
    (evaluate, "1 $ 2"),
    (lex, 'x = 1.5;\nprint("a\\"b");'),
    (lex, "a ? b"),
    (docs, "IF x := 3 THEN\n y := x * 2.5;\nENDIF"),
    (docs, "a $"),
    (hexdump, bytes(range(60, 90))),
    (route, "/user/12"),
    (route, "/a/b/c"),
    (schedule, "2024-12-25", "2025-01-08", {"Mon", "Wed"}),
    (duration, "1d 2h 30m 5 s"),
    (tags, '<a x="1"><b/>hi <c y="2" z="3">t</c></a>'),
    (tags, "<a></b>"),
    (redact, "The cat and the CATALOG", ["cat", "catalog"]),
    (shift, "00:00:01,500 --> 00:01:59,900", 200),
    (config, "a.b: 1\nbad\nc: x y"),
    (frames, b"\x01\x00\x02hi\x02\x00\x01\xff\x01"),
    (assignments, 'a = 1\n  b= "x y" z\n'),
]


def answer(f, args):
    try:
        return f(*copy.deepcopy(args))
    except Exception as e:
        return type(e), str(e)


@pytest.mark.parametrize("case", CASES, ids=[f"{k}-{c[0].__name__}" for k, c in enumerate(CASES)])
def test_programs_over_text(case):
    f, *args = case
    want = answer(f, args)
    assert repr(answer(njit(f), args)) == repr(want)


@pytest.mark.parametrize("case", CASES[::4], ids=[c[0].__name__ for c in CASES[::4]])
def test_they_compile_whole_under_jit(case):
    f, *args = case
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        got = answer(jit(f), args)
    assert repr(got) == repr(answer(f, args))
