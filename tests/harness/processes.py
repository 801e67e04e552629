"""Processes that tests start: the signals they begin with, how they are interrupted, and that none outlives the tests.

Nothing a test finds out depends on how long something takes: what waits, waits for an event. `HANG` alone ends what would never end by itself; a machine that
does other work stays far below it.
"""

import ctypes
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

# Seconds.
HANG = 600

# In the environment of every process of a test run; the value tells runs apart.
MARK = "TIERUP_TEST_RUN"


def until(condition, seconds=HANG):
    """Waits for something that will happen."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.005)


# ---------------------------------------------------------------- signals

# Those that tests send. SIGHUP is left as it is: `nohup` asked for that.
_SENT = (signal.SIGINT, signal.SIGALRM, signal.SIGVTALRM, signal.SIGPROF, signal.SIGCHLD, signal.SIGUSR1, signal.SIGTERM)


def settle_signals():
    """Signals as a terminal's programs have them. A shell's background job starts with SIGINT ignored, which every process below it would inherit."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _SENT)
    for number in _SENT:
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)


def seconds_run(pid):
    """Processor time of all threads of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def asleep(pid):
    """Whether the main thread of a process waits for something."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "S"


def interrupted(program, *arguments, after=0.2, **environment):
    """What a program printed behind "ready", and on standard error, when SIGINT reached it after that many seconds of processor time, or (`after=None`) in its sleep."""
    child = subprocess.Popen([sys.executable, "-c", program, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, **environment})
    try:
        ready = child.stdout.readline()
        assert ready == "ready\n", ready + child.stderr.read()
        begin = seconds_run(child.pid)
        until(lambda: child.poll() is not None or (asleep(child.pid) if after is None else seconds_run(child.pid) - begin >= after))
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=HANG)
        return out.strip(), err.strip()
    finally:
        child.kill()
        child.wait()


# ---------------------------------------------------------------- the end


def end_with_parent():
    """For a forked child: it ends when its parent does, however that was."""
    PR_SET_PDEATHSIG = 1
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def of_run(token):
    """Processes below a test run, by number, with their command lines. Forked children of the runner itself have none of their own: see [`end_with_parent`]."""
    found, mark = {}, f"{MARK}={token}".encode()
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and int(entry.name) != os.getpid() and mark in (entry / "environ").read_bytes().split(b"\0"):
                command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
                # What has ended and waits to be asked for its status has no command line.
                if command:
                    found[int(entry.name)] = command
        except OSError:
            pass  # it has just ended, or is somebody else's
    return found


def kill(pids):
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except OSError:
            pass


def watch():
    """Marks this process as a test run, and starts a process that kills what is left of the run when it is gone, were it by SIGKILL."""
    token = os.environ[MARK] = f"{os.getpid()}-{time.time_ns()}"
    environment = {name: value for name, value in os.environ.items() if name != MARK}
    subprocess.Popen([sys.executable, "-E", "-S", __file__, str(os.getpid()), token], stdin=subprocess.DEVNULL, start_new_session=True, env=environment)
    return token


def main(pid, token):
    try:
        runner = os.pidfd_open(pid)
    except ProcessLookupError:
        runner = None  # it is gone already
    if runner is not None:
        select.select([runner], [], [])
    # What dies may have started something a moment before.
    while left := of_run(token):
        kill(left)
        time.sleep(0.05)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])


def as_numba(tmp_path, text, **environment):
    """Runs a program under `--as-numba`; its standard output."""
    program = tmp_path / "program.py"
    program.write_text(text)
    done = subprocess.run([sys.executable, "-m", "tierup", "--as-numba", str(program)], capture_output=True, text=True, timeout=HANG, env={**os.environ, **environment})
    assert done.returncode == 0, done.stderr
    return done.stdout
