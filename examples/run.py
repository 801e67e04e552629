"""`make demo`: every example under plain Python and under Tierup, each in a fresh process, with the answers compared."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, cast

HERE = Path(__file__).resolve().parent
sys.dont_write_bytecode = True
EXAMPLES = {
    "heat": "heat on a plate", "orbits": "planets, small arrays", "weather": "real data: Seattle weather", "airports": "real data: airports",
    "words": "strings and lists", "gravity": "choclo, written for Numba",
}


def measure(name: str, mode: str) -> dict[str, Any]:
    alias = ["-m", "tierup", "--as-numba"] if name == "gravity" and mode == "tierup" else []
    done = subprocess.run([sys.executable, *alias, str(HERE / "measure.py"), name, mode], capture_output=True, text=True, timeout=300)
    if done.returncode:
        raise RuntimeError(f"{name} under {mode} failed:\n{done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def same(a: Any, b: Any) -> bool:
    """Equal, or floats that differ by rounding: elementary functions may differ from the C library in the last place."""
    if isinstance(a, list):
        ours, others = cast("list[Any]", a), cast("list[Any]", b)
        return isinstance(b, list) and len(ours) == len(others) and all(map(same, ours, others))
    if isinstance(a, str):
        return a == b
    return a == b or (a != a and b != b) or abs(a - b) <= 1e-9 * max(abs(a), abs(b))


def main() -> int:
    print(f"{'program':<30} {'answer':<7} {'first call':>12} {'steady':>12} {'Python':>12} {'factor':>9}", flush=True)
    failed = False
    for name, title in EXAMPLES.items():
        try:
            ours, python = measure(name, "tierup"), measure(name, "python")
        except (RuntimeError, subprocess.TimeoutExpired) as e:
            print(f"{title:<30} failed  {e}", flush=True)
            failed = True
            continue
        right = same(ours["answer"], python["answer"])
        failed |= not right
        print(f"{title:<30} {'right' if right else 'WRONG':<7} {ours['first'] * 1e3:>9.1f} ms {ours['steady'] * 1e3:>9.2f} ms {python['steady'] * 1e3:>9.0f} ms "
              f"{python['steady'] / ours['steady']:>8.0f}x", flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
