"""`python -m tierup info`: what an issue has to say about the machine and the installation."""

import os
import platform
import sys

from . import _tierup, config

_LEVELS = ("x86-64-v4", "x86-64-v3", "x86-64-v2")


def _version(package):
    import importlib.metadata
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def _processor():
    name = ""
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as f:
            name = next((line.split(":", 1)[1].strip() for line in f if line.startswith("model name")), "")
    except OSError:
        pass
    level = next((level for level in _LEVELS if _tierup.uses_cpu(level)), platform.machine())
    return f"{name or platform.processor() or 'unknown'}, code for {level}, {os.cpu_count()} of them"


def _library():
    if _tierup.has_llvm():
        return "there"
    return f"not there: everything runs on tier 0 (looked for {config._library})"


def _gpu():
    from . import cuda
    try:
        return ", ".join(str(d.name) for d in cuda.gpus) if cuda.is_available() else "none that CUDA's driver knows"
    except Exception as e:
        return f"{type(e).__name__}: {e}"


def rows():
    """(what, text) pairs."""
    from . import __version__
    entries = _tierup.cache_entries(config.cache_dir) if config.cache else []
    threads = "free-threaded" if not getattr(sys, "_is_gil_enabled", lambda: True)() else "with the GIL"
    return [
        ("tierup", __version__), ("Python", f"{sys.version.split()[0]}, {sys.implementation.name}, {threads}, {sys.executable}"), ("NumPy", _version("numpy")), ("SciPy", _version("scipy")),
        ("system", f"{platform.platform()}, {'-'.join(platform.libc_ver())}"), ("processor", _processor()), ("tier 1 (LLVM)", _library()), ("GPU", _gpu()),
        ("code cache", f"{_tierup.cache_path(config.cache_dir)[0]}, {len(entries)} entries" if config.cache else "off"),
        ("settings", ", ".join(f"{variable}={os.environ[variable]}" for variable in sorted(os.environ) if variable.startswith(("TIERUP_", "NUMBA_"))) or "as they come"),
    ]


def main(args):
    if args:
        print("usage: python -m tierup info", file=sys.stderr)
        return 2
    found = rows()
    width = max(len(what) for what, _ in found)
    for what, text in found:
        print(f"{what:{width}}  {text}")
    return 0
