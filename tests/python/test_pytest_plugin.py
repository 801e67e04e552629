"""The pytest plugin: suites of others, run on each tier with and without the code cache."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from harness.build import LLVM, needs_llvm

pytest.importorskip("tierup")

pytest_plugins = ["pytester"]

# Shows in what a function ran, and fails where that is not what the environment says.
SUITE = """
    import os

    import tierup

    @tierup.njit
    def total(n):
        s = 0
        for i in range(n):
            s += i
        return s

    def test_total():
        assert total(10) == 45
        kind = "plain" if not isinstance(total, tierup.Dispatcher) else total.explain().overloads[0]["tier"]
        print(f"<{tierup.config.tier} {kind} {'on' if tierup.config.cache else 'off'} {os.environ.get('TIERUP_TIER')}>")
"""


@pytest.fixture
def suite(pytester, monkeypatch):
    """Runs pytest on `SUITE` or a suite of the test's own, in a process of its own."""
    monkeypatch.delenv("TIERUP_TIER", raising=False)
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)

    def run(*options, text=SUITE, **files):
        pytester.makepyfile(test_it=text, **files)
        return pytester.runpytest_subprocess("-p", "tierup_pytest", "-s", *options)
    return run


@pytest.mark.parametrize("setting, kind", [("0", "0"), ("off", "plain"), ("interp", "0"), ("auto", "0"), pytest.param("1", "1", marks=needs_llvm)])
def test_one_tier(suite, setting, kind):
    ran = suite(f"--tierup-tier={setting}")
    ran.assert_outcomes(passed=1)
    ran.stdout.fnmatch_lines([f"tierup: tier {setting}", f"*<{setting} {kind} * {setting}>*"])


@pytest.mark.parametrize("cache", ["on", "off"])
def test_with_and_without_cache(suite, cache):
    ran = suite(f"--tierup-cache={cache}")
    ran.assert_outcomes(passed=1)
    ran.stdout.fnmatch_lines([f"tierup: cache {cache}", f"*<auto 0 {cache} None>*"])


def test_each_of_several_has_a_run_of_its_own(suite, pytester):
    ran = suite("--tierup-tier=0,off", "--tierup-cache=on,off", "--junitxml=report.xml")
    assert ran.ret == 0
    expected = []
    for tier, kind, cache in [("0", "0", "on"), ("0", "0", "off"), ("off", "plain", "on"), ("off", "plain", "off")]:
        expected += [f"######## tierup: tier {tier}, cache {cache}", f"*<{tier} {kind} {cache} {tier}>*"]
    ran.stdout.fnmatch_lines([*expected, "######## tierup", "tier 0, cache on: passed", "tier off, cache off: passed"])
    assert sorted(p.name for p in pytester.path.glob("*.xml")) == [f"report-tier-{t}-cache-{c}.xml" for t in ("0", "off") for c in ("off", "on")]


FAILS_OFF = """
    import tierup

    @tierup.njit
    def f():
        return 1

    def test_is_compiled():
        assert isinstance(f, tierup.Dispatcher) and f() == 1
"""


def test_a_failure_of_one_is_a_failure_of_all(suite):
    ran = suite("--tierup-tier=0,off,interp", text=FAILS_OFF)
    assert ran.ret == 1
    ran.stdout.fnmatch_lines(["tier 0: passed", "tier off: failed", "tier interp: passed"])


def test_no_tests_in_any_is_said(suite):
    assert suite("--tierup-tier=0,off", "-k", "nothing").ret == pytest.ExitCode.NO_TESTS_COLLECTED


@pytest.mark.parametrize("options, words", [
    (["--tierup-tier=2"], "--tierup-tier cannot be '2': known values are auto, 0, 1, interp, off"),
    (["--tierup-tier=0,fast"], "--tierup-tier cannot be 'fast'"),
    (["--tierup-tier=0,0"], "--tierup-tier=0,0: a value is given twice"),
    (["--tierup-tier="], "--tierup-tier cannot be ''"),
    (["--tierup-cache=maybe"], "--tierup-cache cannot be 'maybe'"),
    (["--tierup-tier=0,off", "--pdb"], "--pdb needs the terminal"),
    *([] if LLVM else [(["--tierup-tier=1"], "this Tierup has no LLVM")]),
])
def test_usage_errors(suite, options, words):
    ran = suite(*options)
    assert ran.ret == pytest.ExitCode.USAGE_ERROR
    ran.stderr.fnmatch_lines([f"*{words}*"])


def test_settings_hold_before_a_conftest_decorates(suite):
    ran = suite("--tierup-tier=off", conftest="import tierup\n@tierup.njit\ndef early():\n    return 1\n", text="""
        import conftest

        def test_plain():
            assert type(conftest.early).__name__ == "function"
    """)
    ran.assert_outcomes(passed=1)


def test_a_plugin_that_decorates_before_is_told(suite):
    ran = suite("-p", "early", "--tierup-tier=off", early="import tierup\n@tierup.njit\ndef f():\n    return 1\n")
    assert ran.ret == pytest.ExitCode.USAGE_ERROR
    ran.stderr.fnmatch_lines(["*a plugin decorated functions before pytest read its options; set TIERUP_TIER=off instead*"])


def test_settings_end_with_the_run(pytester):
    script = pytester.makepyfile(script="""
        import os, pytest, sys
        os.environ["TIERUP_TIER"] = "interp"
        pytest.main(["-p", "tierup_pytest", "--tierup-tier=0", "--tierup-cache=off", "-q", "nothing.py"])
        assert os.environ["TIERUP_TIER"] == "interp", os.environ["TIERUP_TIER"]
        print("restored")
    """)
    assert "restored" in pytester.runpython(script).stdout.str()


def test_the_setting_reaches_processes_of_xdist(suite):
    pytest.importorskip("xdist")
    ran = suite("-n", "1", "--tierup-tier=off", text="""
        import tierup

        def test_plain():
            assert tierup.config.tier == "off"
    """)
    ran.assert_outcomes(passed=1)


def test_without_options_nothing_is_loaded(suite):
    ran = suite(text="""
        import sys

        def test_not_loaded():
            assert "tierup" not in sys.modules and "numpy" not in sys.modules
    """)
    ran.assert_outcomes(passed=1)
    assert "tierup: " not in ran.stdout.str()


def test_an_installed_tierup_is_loaded_as_it_is(suite, tmp_path, monkeypatch):
    import tierup
    package = Path(tierup.__file__).parent
    site, about = tmp_path / "site", tmp_path / "site" / "tierup-0.dist-info"
    about.mkdir(parents=True)
    for name in ("tierup", "tierup_pytest"):
        (site / name).symlink_to(package.with_name(name))
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: tierup\nVersion: 0\n")
    (about / "RECORD").write_text("tierup/__init__.py,,\ntierup/config.py,,\ntierup_pytest/__init__.py,,\n")
    (about / "entry_points.txt").write_text("[pytest11]\ntierup_pytest = tierup_pytest\n")
    monkeypatch.setenv("PYTHONPATH", str(site))
    ran = suite(text="""
        import tierup

        def test_it():
            assert "site" in tierup.__file__
            assert type(tierup.__spec__.loader).__name__ == type(tierup.config.__spec__.loader).__name__ == "SourceFileLoader"
    """)
    ran.assert_outcomes(passed=1)


def test_the_entry_point_names_the_module():
    # Under one name with `-p tierup_pytest`, so that both may be there.
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
    assert project["project"]["entry-points"]["pytest11"] == {"tierup_pytest": "tierup_pytest"} and "tierup_pytest" in project["tool"]["maturin"]["python-packages"]
    assert subprocess.run([sys.executable, "-c", "import tierup_pytest"]).returncode == 0
