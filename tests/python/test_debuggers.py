"""What debuggers and profilers are told of compiled code: `debug=True`, the dump for perf. `tests/real/debuggers.py` asks gdb and perf themselves."""

import contextlib
import gc
import os
import struct

import numpy as np
import pytest

from harness.build import LLVM

tierup = pytest.importorskip("tierup")

pytestmark = pytest.mark.skipif(os.environ.get("TIERUP_TIER") == "off", reason="nothing is compiled")
TIERS = ["0", *["1"] * LLVM]


def twice(x):
    y = x * 2.0
    return y + np.sqrt(x)


called = tierup.njit(twice)


def total(a):
    s = 0.0
    for v in a:
        s += called(v)
    return s


FIRST = total.__code__.co_firstlineno


@contextlib.contextmanager
def setting(name, value):
    before = getattr(tierup.config, name)
    setattr(tierup.config, name, value)
    try:
        yield
    finally:
        setattr(tierup.config, name, before)


@pytest.fixture(params=TIERS)
def chosen(request):
    with setting("tier", request.param):
        yield request.param


class Elf:
    """What is asked of an ELF file: its sections, each with its address and contents, and its functions."""

    def __init__(self, data):
        assert data[:4] == b"\x7fELF"
        at, size, count, names = struct.unpack_from("<Q10xHHH", data, 0x28)
        assert size == 64
        rows = [struct.unpack_from("<IIQQQQIIQQ", data, at + k * size) for k in range(count)]
        text = lambda table, k: data[table[4] + k:].split(b"\0", 1)[0].decode()
        self.sections = {text(rows[names], r[0]): (r[3], r[5], b"" if r[1] == 8 else data[r[4]:r[4] + r[5]]) for r in rows[1:]}
        table = next(r for r in rows if r[1] == 2)
        symbols = [struct.unpack_from("<IBBHQQ", data, table[4] + k) for k in range(24, table[5], 24)]
        # In a relocatable file they count from the start of their section.
        self.functions = [(text(rows[table[6]], name), rows[section][3] + value, size) for name, _, _, section, value, size in symbols]


def made_since(before):
    return [Elf(o) for o in tierup._tierup.debug_objects() if o not in before]


def test_debuggers_are_told_of_code_with_its_lines_until_it_goes(chosen):
    before = tierup._tierup.debug_objects()
    f = tierup.njit(total, debug=True)
    assert f(np.arange(3.0)) == total(np.arange(3.0))
    found = made_since(before)
    assert found
    for elf in found:
        assert {".text", ".symtab", ".debug_info", ".debug_line", ".debug_frame"} <= elf.sections.keys()
        at, size, _ = elf.sections[".text"]
        assert "total" in {name for name, _, _ in elf.functions}
        assert all(at <= start and start + bytes <= at + size and bytes for _, start, bytes in elf.functions)
        everything = b"".join(contents for _, _, contents in elf.sections.values())
        # The file of the lines, and the function that was inlined.
        assert os.path.basename(__file__).encode() in everything and b"twice\0" in everything
    del f
    gc.collect()
    assert not made_since(before)


def test_no_lines_where_nobody_asks():
    before = tierup._tierup.debug_objects()
    assert tierup.njit(total)(np.arange(3.0)) == total(np.arange(3.0))
    assert not made_since(before)


def test_the_setting_is_for_all_functions():
    before = tierup._tierup.debug_objects()
    with setting("debug", True):
        f = tierup.vectorize(twice)
        assert f(np.arange(3.0)).tolist() == [twice(x) for x in range(3)]
    assert any(b"twice\0" in contents for elf in made_since(before) for _, _, contents in elf.sections.values())


def records(data):
    """Kind and contents of what a dump for perf holds."""
    magic, version, head, machine = struct.unpack_from("<4I", data)
    assert (magic, version, machine) == (0x4A695444, 1, 62)
    while head < len(data):
        kind, size = struct.unpack_from("<II", data, head)
        yield kind, data[head + 16:head + size]
        head += size
    assert head == len(data)


def test_a_dump_for_perf_has_code_with_its_lines(tmp_path, chosen):
    with setting("perf_dump", str(tmp_path)):
        f = tierup.njit(total)
        assert f(np.arange(3.0)) == total(np.arange(3.0))
    (file,) = tmp_path.iterdir()
    assert file.name == f"jit-{os.getpid()}.dump"
    lines, labels = {}, {}
    for kind, body in records(file.read_bytes()):
        if kind == 2:
            address, count = struct.unpack_from("<QQ", body)
            at, rows = 16, []
            for _ in range(count):
                place, line, _ = struct.unpack_from("<QII", body, at)
                name = body[at + 16:].split(b"\0", 1)[0].decode()
                at += 16 + len(name) + 1
                rows.append((place, name, line))
            assert at == len(body)
            lines[address] = rows
        else:
            assert kind == 0
            address, size = struct.unpack_from("<QQ", body, 16)
            label = body[40:].split(b"\0", 1)[0].decode()
            assert len(body) == 40 + len(label) + 1 + size
            labels[address] = label, size
    mine = [a for a, (label, _) in labels.items() if label.startswith(f"total ({__file__}:") and label.endswith(f"[tier {chosen}]")]
    assert mine
    found = {(name, line) for a in mine for _, name, line in lines[a]}
    assert {name for name, _ in found} == {__file__}
    # Lines of the loop and of the function that was inlined into it, and none of any other.
    inside = twice.__code__.co_firstlineno
    assert {FIRST + 2, inside + 2} <= {line for _, line in found} <= {*range(FIRST, FIRST + 5), *range(inside, inside + 3)}
    assert all(a <= place < a + labels[a][1] for a in mine for place, _, _ in lines[a])
