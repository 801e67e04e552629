"""Runs the test suites of packages that are written for Numba, unchanged, under Numba and under Tierup, and counts what passes.

    python tests/real/packages.py make [NAME ...]              # an environment with Numba and the packages, and their sources
    python tests/real/packages.py run [--numba] [NAME ...]     # under Tierup of this checkout (or Numba), one report for each
    python tests/real/packages.py table                        # passes of both, and what failed under Tierup alone

Environment, sources and reports lie in the folder that PACKAGES_DIR names (target/real); nothing of the packages is kept here. Versions
are pinned below, those of what they need are what pip finds. TIERUP_TIER and the like hold as everywhere; HANG is the limit for one package.
"""

import argparse
import os
import subprocess
import sys
import tarfile
import xml.etree.ElementTree as xml
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
REAL = Path(os.environ.get("PACKAGES_DIR", ROOT / "target" / "real"))
NUMBA = "numba==0.68.0"
#: Seconds for the suite of one package.
HANG = 3600


class Package(NamedTuple):
    version: str
    #: Where the tests are: in the source distribution, or in the package that is installed.
    in_source: bool
    tests: tuple
    needs: tuple = ()


PACKAGES = {
    "quantecon": Package("0.11.4", True, ("quantecon",)),
    "numba-stats": Package("1.14.0", True, ("tests",), ("pytest-benchmark",)),
    "sparse": Package("0.19.3", True, ("sparse/numba_backend/tests",), ("hypothesis",)),
    "stumpy": Package("1.14.1", True, ("tests",), ("pandas", "polars", "dask[distributed]")),
    "pynndescent": Package("0.7.0", True, ("pynndescent",)),
    "quaternionic": Package("1.0.18", True, ("tests",)),
    "hdbscan": Package("0.8.44", False, ("hdbscan.tests",), ("pandas", "networkx", "matplotlib")),
    "xarray-spatial": Package("0.5.3", False, ("xrspatial.tests",), ("dask[dataframe]", "noise")),
    "datashader": Package("0.19.1", False, ("datashader.tests.test_pandas",)),
    "clifford": Package("1.5.1", False, ("clifford.test",), ("ipython",)),
}


def python():
    return REAL / "env" / "bin" / "python"


def make(names):
    if not python().exists():
        subprocess.run([sys.executable, "-m", "venv", str(REAL / "env")], check=True)
    pip = [str(python()), "-m", "pip", "-q"]
    # Each pin is told each time: what one package needs must not move another.
    pins = [NUMBA, *(f"{n}=={PACKAGES[n].version}" for n in names)]
    subprocess.run([*pip, "install", "pytest", "pytest-timeout", *pins, *(need for n in names for need in PACKAGES[n].needs)], check=True)
    for name in names:
        if PACKAGES[name].in_source and not source(name):
            folder = REAL / "sources" / name
            subprocess.run([*pip, "download", "--no-deps", "--no-binary", name, "-d", str(folder), f"{name}=={PACKAGES[name].version}"], check=True)
            for archive in folder.glob("*.tar.gz"):
                with tarfile.open(archive) as f:
                    f.extractall(folder, filter="data")


def source(name):
    """The folder of a package's sources; None before they are there."""
    return next((p for p in (REAL / "sources" / name).glob("*") if p.is_dir()), None)


def report(name, under):
    return REAL / "reports" / f"{name}.{under}.xml"


def run(name, under):
    """Runs the suite of a package; the report says how it went, and the text beside it why."""
    package, out = PACKAGES[name], report(name, under)
    out.parent.mkdir(parents=True, exist_ok=True)
    out.unlink(missing_ok=True)
    command = ["-m", "pytest", "-q", "-o", "addopts=", "-p", "no:cacheprovider", "--timeout=300", f"--junitxml={out}"]
    command += package.tests if package.in_source else ["--pyargs", *package.tests]
    environment = dict(os.environ)
    if under == "tierup":
        command = ["-m", "tierup", "--as-numba", *command]
        environment["PYTHONPATH"] = str(ROOT / "pybind" / "python")
    folder = source(name) if package.in_source else REAL
    with open(out.with_suffix(".txt"), "w") as text:
        try:
            subprocess.run([str(python()), *command], cwd=folder, env=environment, stdout=text, stderr=subprocess.STDOUT, timeout=HANG)
        except subprocess.TimeoutExpired:
            print(f"{name}: {HANG} seconds were not enough", file=sys.stderr)


def outcomes(name, under):
    """What became of each test, by its name; None without a report."""
    if not report(name, under).exists():
        return None
    found = {}
    for case in xml.parse(report(name, under)).iter("testcase"):
        kinds = [child.tag for child in case if child.tag in ("failure", "error", "skipped")]
        found[f"{case.get('classname')}.{case.get('name')}"] = kinds[0] if kinds else "passed"
    return found


def passed(found):
    if found is None:
        return "?"
    return f"{sum(how == 'passed' for how in found.values())}/{sum(how != 'skipped' for how in found.values())}"


def table():
    print("| package | Numba | Tierup |\n|---|---|---|")
    worse = {}
    for name, package in PACKAGES.items():
        numba, tierup = outcomes(name, "numba"), outcomes(name, "tierup")
        if numba is not None or tierup is not None:
            print(f"| {name} {package.version} | {passed(numba)} | {passed(tierup)} |")
        worse[name] = [t for t, how in (tierup or {}).items() if how in ("failure", "error") and (numba or {}).get(t, "passed") == "passed"]
    for name, tests in worse.items():
        for test in tests:
            print(f"{name}: {test}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("what", choices=["make", "run", "table"])
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--numba", action="store_true")
    args = parser.parse_args()
    names = args.names or list(PACKAGES)
    unknown = [n for n in names if n not in PACKAGES]
    if unknown:
        parser.error(f"no such package: {', '.join(unknown)}; there are {', '.join(PACKAGES)}")
    if args.what == "make":
        make(names)
    elif args.what == "run":
        for name in names:
            run(name, "numba" if args.numba else "tierup")
    if args.what != "make":
        table()


if __name__ == "__main__":
    main()
