"""Asks mypy and pyright about the stubs and the examples: `make test-types`. No errors are allowed, in either's strict mode.

The environment (`requirements/types.txt`) lies in the folder that TYPES_DIR names (target/types); the package is copied there without its binaries, so that both see what a
user's installation has. Of packages that examples need beside Tierup nothing is known.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ENV = Path(os.environ.get("TYPES_DIR", ROOT / "target" / "types"))
REQUIREMENTS = ROOT / "requirements" / "types.txt"
SETTINGS = {
    "include": ["tierup/**/*.pyi", "examples"], "typeCheckingMode": "strict", "pythonVersion": "3.11", "venvPath": str(ENV.parent), "venv": ENV.name,
    "reportMissingModuleSource": False, "reportMissingImports": False, "reportMissingTypeStubs": False,
}


def environment():
    made, stamp = ENV / "bin" / "python", ENV / "requirements.txt"
    if not made.exists() or not stamp.exists() or stamp.read_text() != REQUIREMENTS.read_text():
        subprocess.run([sys.executable, "-m", "venv", str(ENV)], check=True)
        subprocess.run([str(made), "-m", "pip", "-q", "install", "--only-binary", ":all:", "-r", str(REQUIREMENTS)], check=True)
        stamp.write_text(REQUIREMENTS.read_text())


def copied():
    """What is checked, in a folder of its own."""
    project = ENV / "project"
    shutil.rmtree(project, ignore_errors=True)
    shutil.copytree(ROOT / "pybind" / "python" / "tierup", project / "tierup", ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    shutil.copytree(ROOT / "examples", project / "examples", ignore=shutil.ignore_patterns("__pycache__"))
    (project / "pyrightconfig.json").write_text(json.dumps(SETTINGS))
    return project


def main():
    environment()
    project = copied()
    stubs = [str(p.relative_to(project)) for p in sorted((project / "tierup").rglob("*.pyi"))]
    examples = [str(p.relative_to(project)) for p in sorted((project / "examples").glob("*.py"))]
    python = str(ENV / "bin" / "python")
    quiet = {**os.environ, "PYRIGHT_PYTHON_IGNORE_WARNINGS": "1", "MYPYPATH": str(project)}
    runs = {
        "mypy, stubs": [python, "-m", "mypy", "--strict", "--no-error-summary", *stubs],
        # Their packages have no types, and what those give has none either.
        "mypy, examples": [python, "-m", "mypy", "--ignore-missing-imports", "--no-error-summary", *examples],
        "pyright": [python, "-m", "pyright"],
    }
    failed = []
    for name, command in runs.items():
        done = subprocess.run(command, cwd=project, env=quiet, capture_output=True, text=True, timeout=900)
        if done.returncode:
            failed.append(name)
            print(done.stdout + done.stderr)
    if failed:
        sys.exit(f"errors: {', '.join(failed)}")
    print(f"{len(stubs)} stubs and {len(examples)} examples: no errors")


if __name__ == "__main__":
    main()
