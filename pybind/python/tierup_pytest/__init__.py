"""The pytest plugin: `pytest --tierup-tier=0,1,off --tierup-cache=on,off` runs a suite under these settings.

A package beside `tierup`, since pytest loads plugins at every start: without these options neither this module nor pytest loads Tierup.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

# option: (the setting of `tierup.config`, its environment variable)
_SETTINGS = {"--tierup-tier": ("tier", "TIERUP_TIER"), "--tierup-cache": ("cache", "TIERUP_CACHE")}


def pytest_addoption(parser):
    group = parser.getgroup("tierup", "compiled functions (Tierup)")
    group.addoption("--tierup-tier", metavar="TIER[,TIER...]",
                    help="where functions that Tierup compiles run: auto, 0, 1, interp, or off for plain Python; with several, one run for each, in a process of its own")
    group.addoption("--tierup-cache", metavar="on|off[,...]", help="with or without the code cache on disk; with both, one run for each")


def _given(options):
    """What the options ask for, a list of values for each option that was given."""
    return {name: [v.strip() for v in text.split(",")] for name in _SETTINGS if (text := getattr(options, name[2:].replace("-", "_"), None)) is not None}


def _refuse_unknown(given):
    """A usage error for values that there are not, and for what this build cannot do."""
    from tierup import _tierup, config
    for name, values in given.items():
        for value in values:
            try:
                config._read(_SETTINGS[name][0], value, name)
            except ValueError as e:
                raise pytest.UsageError(str(e)) from None
        if len({*values}) < len(values):
            raise pytest.UsageError(f"{name}={','.join(values)}: a value is given twice")
    if "1" in given.get("--tierup-tier", ()) and not _tierup.has_llvm():
        raise pytest.UsageError("--tierup-tier=1: this Tierup has no LLVM")


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config):
    """Settings of this run, before a conftest.py imports anything: what decorators do depends on them. By the environment, so that they hold in processes that tests start."""
    # pytest takes all packages that are installed with a plugin for parts of it, and would compile each of their modules anew.
    getattr(early_config.pluginmanager.rewrite_hook, "_must_rewrite", set()).discard("tierup")
    given = _given(early_config.known_args_namespace)
    if not given:
        return
    several = any(len(values) > 1 for values in given.values())
    if not several:
        before = {variable: os.environ.get(variable) for _, variable in _SETTINGS.values()}
        early_config.add_cleanup(lambda: _restore(before))
    loaded = "tierup" in sys.modules
    _refuse_unknown(given)
    if several:
        return
    for name, (value,) in given.items():
        setting, variable = _SETTINGS[name]
        os.environ[variable] = value
        _settle(name, setting, value, loaded)


def _restore(before):
    for variable, text in before.items():
        os.environ.pop(variable, None)
        if text is not None:
            os.environ[variable] = text


def _settle(name, setting, value, loaded):
    from tierup import _jit, config
    before = getattr(config, setting)
    setattr(config, setting, value)
    # Where a plugin has loaded Tierup, functions may have been made by other settings.
    if loaded and setting == "tier" and before != value and _jit._live:
        raise pytest.UsageError(f"{name}={value}: a plugin decorated functions before pytest read its options; set {_SETTINGS[name][1]}={value} instead")


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config):
    """Several settings: a run for each, in a process of its own, since what a module is made of is settled when it is imported."""
    given = _given(config.option)
    if all(len(values) == 1 for values in given.values()):
        return None
    if getattr(config.option, "usepdb", False):
        raise pytest.UsageError("--pdb needs the terminal to itself: give one value of --tierup-tier and --tierup-cache")
    runs = [[]]
    for name, values in given.items():
        runs = [[*run, (name, value)] for run in runs for value in values]
    ends = {}
    for run in runs:
        title = ", ".join(f"{name.removeprefix('--tierup-')} {value}" for name, value in run)
        print(f"\n######## tierup: {title}", flush=True)
        ends[title] = _run(config, run)
    print("\n######## tierup")
    for title, code in ends.items():
        print(f"{title}: {_said(code)}")
    sys.stdout.flush()
    codes = [code for code in ends.values() if code]
    # A run without tests is no failure of others.
    serious = [code for code in codes if code != pytest.ExitCode.NO_TESTS_COLLECTED]
    return (serious or codes or [0])[0] if serious or len(codes) == len(ends) else 0


def _run(config, run):
    # The last option wins, so these take the place of those that were given.
    args = [*config.invocation_params.args, *(f"{name}={value}" for name, value in run)]
    # Each run writes a report of its own.
    if report := getattr(config.option, "xmlpath", None):
        path = Path(report)
        args.append(f"--junitxml={path.with_stem('-'.join([path.stem, *(f'{name[9:]}-{value}' for name, value in run)]))}")
    plugins = [arg for plugin in config.invocation_params.plugins or () if isinstance(plugin, str) for arg in ("-p", plugin)]
    return subprocess.run([sys.executable, "-m", "pytest", *plugins, *map(str, args)], cwd=config.invocation_params.dir).returncode


def _said(code):
    known = {0: "passed", 1: "failed", 2: "interrupted", 3: "internal error", 4: "usage error", 5: "no tests"}
    return known.get(code, f"ended by signal {-code}" if code < 0 else f"exit status {code}")


def pytest_report_header(config):
    given = _given(config.option)
    if not given:
        return None
    return "tierup: " + ", ".join(f"{name.removeprefix('--tierup-')} {values[0]}" for name, values in given.items())
