"""Collects mdtests and holds what every Python test needs.

Where `tierup` is not built the mdtests still run under CPython, which checks the tests themselves; `make test` always builds it.
"""

import gc
import os
import select
import sys
import tempfile
import traceback
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

# Before anything imports tierup, and for the processes that tests start: what is in the user's code cache must not matter, nor may tests leave
# anything there. It is off; `TIERUP_CACHE=1` runs the suite with it, in a directory of its own.
os.environ.setdefault("TIERUP_CACHE", "0")
if not os.environ.get("TIERUP_CACHE_DIR"):
    CACHE = tempfile.TemporaryDirectory(prefix="tierup-test-cache-")
    os.environ["TIERUP_CACHE_DIR"] = CACHE.name

from harness import expect, guide, mdtest, processes, sampling  # noqa: E402
from harness.build import BUILT, LLVM  # noqa: E402
from harness.parent import Worker  # noqa: E402

processes.settle_signals()
# Under pytest-xdist the processes that run tests belong to the run of the one that started them.
RUNS_ALL = "PYTEST_XDIST_WORKER" not in os.environ
RUN = processes.watch() if RUNS_ALL else os.environ[processes.MARK]

# `osr` is tier 0 whose loops all go over to tier 1, each at a turn chosen at random.
TIERS = os.environ.get("TIERUP_TEST_TIERS", "interp tier0 tier1 osr" if LLVM else "interp tier0").split() if BUILT else []
BLESSED = {}


WORKER = Worker()


class MdFile(pytest.File):
    def collect(self):
        for index, block in enumerate(mdtest.parse(self.path)):
            for tier in ["cpython", *TIERS]:
                if tier == "cpython" or block.allows(tier):
                    yield MdItem.from_parent(self, name=f"{block.name} [{tier}]", block=block, index=index, tier=tier)


class MdItem(pytest.Item):
    def __init__(self, *, block, index, tier, **kwargs):
        super().__init__(**kwargs)
        self.block, self.index, self.tier = block, index, tier

    def runtest(self):
        compiled = None if self.tier == "cpython" else self.tier
        answer = WORKER.ask({"suite": "mdtest", "file": str(self.block.file), "index": self.index, "tier": compiled})
        if os.environ.get("TIERUP_BLESS") == "1" and answer["blessed"]:
            BLESSED.setdefault(self.block.file, {}).update({int(line): text for line, text in answer["blessed"].items()})
            return
        failure = "\n".join(answer["failures"]) or None
        if compiled:
            failure = expect.settle("mdtest", self.block.id, self.tier, failure)
        if failure:
            raise mdtest.Failure(failure)

    def repr_failure(self, excinfo):
        return str(excinfo.value) if isinstance(excinfo.value, mdtest.Failure) else super().repr_failure(excinfo)

    def reportinfo(self):
        return self.block.file, self.block.start - 1, self.name


class Guide(pytest.File):
    def collect(self):
        if guide.parse(self.path):
            for tier in [tier for tier in TIERS if tier in ("tier0", "tier1")]:
                yield GuideItem.from_parent(self, name=f"examples [{tier}]", tier=tier)


class GuideItem(pytest.Item):
    """A page for users, all of whose examples run on a tier."""

    def __init__(self, *, tier, **kwargs):
        super().__init__(**kwargs)
        self.tier = tier

    def runtest(self):
        failures = WORKER.ask({"suite": "guide", "file": str(self.path), "tier": self.tier})["failures"]
        if failures:
            raise mdtest.Failure("\n".join(failures))

    def repr_failure(self, excinfo):
        return str(excinfo.value) if isinstance(excinfo.value, mdtest.Failure) else super().repr_failure(excinfo)

    def reportinfo(self):
        return self.path, 0, self.name


@pytest.fixture
def ask():
    """Sends a job to the worker and gives what failed, a list of texts."""
    return lambda request: WORKER.ask(request)["failures"]


@pytest.fixture(autouse=True)
def settings_stay():
    """What a test sets in `tierup.config` is not left to the next one: tests of a process share it."""
    # A test may be there to find out what importing it does.
    config = sys.modules.get("tierup.config")
    before = {name: getattr(config, name) for name in config._TABLE} if config else {}
    yield
    for name, value in before.items():
        if getattr(config, name) != value:
            setattr(config, name, value)


def pytest_generate_tests(metafunc):
    if "tier" in metafunc.fixturenames:
        metafunc.parametrize("tier", TIERS or ["cpython"])


class Pages:
    """Collects Markdown. Registered for the whole run: hooks of this file itself hold below `tests/` only, and pages of `docs/` are tests too."""

    def pytest_collect_file(self, parent, file_path):
        if file_path.suffix != ".md":
            return None
        if guide.is_page(file_path):
            return Guide.from_parent(parent, path=file_path)
        return MdFile.from_parent(parent, path=file_path) if any(root in file_path.parents for root in mdtest.ROOTS) else None


    def pytest_runtest_teardown(self, item, nextitem):
        # What a page adds to the compiler (overloads, generators of code, types) stays in the process, and is no other page's.
        if item.path.suffix == ".md" and (nextitem is None or nextitem.path != item.path) and "extending" in item.path.read_text():
            WORKER.stop()


def pytest_configure(config):
    if os.environ.get("TIERUP_BLESS") == "1" and config.getoption("numprocesses", None):
        raise pytest.UsageError("TIERUP_BLESS=1 rewrites files, which one process must do: leave out -n")
    config.pluginmanager.register(Pages(), "tierup-pages")


def in_sample(item):
    """Whether a test runs today by its marker `daily`, which says for some tiers that one of so many does."""
    marker = item.get_closest_marker("daily")
    return marker is None or sampling.today(item.nodeid, marker.kwargs.get(item.callspec.params["tier"], 1))


def pytest_collection_modifyitems(config, items):
    every, left = list(items), []
    items.clear()
    for item in every:
        (items if sampling.in_share(item.nodeid) and in_sample(item) else left).append(item)
    if left:
        config.hook.pytest_deselected(items=left)
    if not sampling.ALL:
        for item in items:
            if item.get_closest_marker("slow"):
                item.add_marker(pytest.mark.skip(reason="runs where TIERUP_TESTS=all"))


class Isolated(Exception):
    """What went wrong in the child that ran a test."""


def pytest_collection_finish(session):
    """Tens of thousands of tests are objects that every collection of garbage would look through: those of the tests are quick without them."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    """A test marked `isolated` runs in a forked child, so that compiled code that crashes is one failed test."""
    if pyfuncitem.get_closest_marker("isolated") is None:
        return None
    arguments = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        text = ""
        processes.end_with_parent()
        try:
            pyfuncitem.obj(**arguments)
        except BaseException:  # noqa: BLE001  (reported by the parent)
            text = traceback.format_exc(limit=-6)
        os.write(writer, text.encode()[:60_000])
        os._exit(0)
    os.close(writer)
    text = b""
    with os.fdopen(reader, "rb", buffering=0) as pipe:
        while (ready := select.select([pipe], [], [], processes.HANG)[0]) and (part := pipe.read(1 << 16)):
            text += part
    if not ready:
        processes.kill([child])
    _, status = os.waitpid(child, 0)
    text = text.decode("utf-8", "replace")
    if not ready:
        text = f"it took longer than {processes.HANG} s"
    elif os.WIFSIGNALED(status):
        text = f"the process died of signal {os.WTERMSIG(status)}"
    if text:
        raise Isolated(text)
    return True


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_sessionfinish(session):
    WORKER.stop()
    for path, comments in BLESSED.items():
        mdtest.bless(path, comments)
    yield
    # Processes of pytest-xdist have been told to end by now.
    if RUNS_ALL:
        try:
            processes.until(lambda: not processes.of_run(RUN), seconds=30)
        except AssertionError:
            left = processes.of_run(RUN)
            processes.kill(left)
            print("\nThe tests left processes behind, which were killed:", *left.values(), sep="\n  ")
            session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_report_header(config):
    return [f"tierup: {'tiers ' + ' '.join(TIERS) if BUILT else 'not built, CPython only'}", f"sample: {sampling.described()}"]
