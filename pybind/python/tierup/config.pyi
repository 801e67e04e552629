# Written by scripts/generate_stubs.py.
from typing import Any

tier: Any
calls: int
time_ms: int
osr: Any
background: bool
compile_threads: int
opt: int
cpu: Any
cache: bool
cache_dir: Any
cache_mb: int
precompiled: bool
num_threads: int
boundscheck: bool
boundscheck_forced: Any
cudasim: bool
dump: Any
fuel: Any
trace: Any
trace_file: Any
debug: bool
perf_map: bool
perf_dump: Any

def reload() -> None: ...
def describe() -> str: ...
