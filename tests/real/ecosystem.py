"""Tierup beside packages that its own tests do not need: pandas with `engine="numba"` under `--as-numba`, Arrow, Awkward, xarray, SciPy. `make test-ecosystem`.

    python tests/real/ecosystem.py [PYTEST'S ARGUMENTS]

The environment (`requirements/ecosystem.txt`) lies in the folder that ECOSYSTEM_DIR names (target/ecosystem). Run there are the programs in
`tests/real/ecosystem/`, those in `as_numba.py` with Tierup in Numba's place, and what the suite itself skips where a package is missing.
"""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ENV = Path(os.environ.get("ECOSYSTEM_DIR", ROOT / "target" / "ecosystem"))
REQUIREMENTS = ROOT / "requirements" / "ecosystem.txt"
HANG = 1800
SUITE = ["tests/python/test_array_likes.py", "tests/python/test_callbacks.py::test_callbacks_of_scipy", "tests/python/test_ufunc.py::test_xarray_and_pandas", "tests/python/test_pandas.py"]


def python():
    """The environment's Python; made, and made again when the versions change."""
    made, stamp = ENV / "bin" / "python", ENV / "requirements.txt"
    if not made.exists() or not stamp.exists() or stamp.read_text() != REQUIREMENTS.read_text():
        subprocess.run([sys.executable, "-m", "venv", str(ENV)], check=True)
        subprocess.run([str(made), "-m", "pip", "-q", "install", "--only-binary", ":all:", "-r", str(REQUIREMENTS)], check=True)
        stamp.write_text(REQUIREMENTS.read_text())
    return str(made)


def main():
    pytest = ["-m", "pytest", "-q", "-p", "no:cacheprovider", *sys.argv[1:]]
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'pybind' / 'python'}:{ROOT / 'tests'}"}
    runs = [
        ["-m", "tierup", "--as-numba", *pytest, "--noconftest", "tests/real/ecosystem/as_numba.py"],
        [*pytest, "--noconftest", "tests/real/ecosystem/beside.py"],
        [*pytest, *SUITE],
    ]
    failed = [run for run in runs if subprocess.run([python(), *run], cwd=ROOT, env=environment, timeout=HANG).returncode]
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
