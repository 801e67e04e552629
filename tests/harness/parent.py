"""The parent's end of the worker process: sends a job, waits with a time limit, starts a new process after a crash or a hang."""

import json
import selectors
import subprocess
import sys
import tempfile
from pathlib import Path

from .processes import HANG

WORKER = Path(__file__).resolve().parent / "worker.py"


class Worker:
    process = None

    def ask(self, request, timeout=HANG):
        """The answer, `{"failures": [...], "blessed": {...}}`; a death or a hang is a failure too."""
        if self.process is None or self.process.poll() is not None:
            self.start()
        self.process.stdin.write((json.dumps(request) + "\n").encode())
        self.process.stdin.flush()
        selector = selectors.DefaultSelector()
        selector.register(self.process.stdout, selectors.EVENT_READ)
        if not selector.select(timeout):
            self.process.kill()
            self.process.wait()
            return {"failures": [f"took longer than {timeout:.0f} s"], "blessed": {}}
        line = self.process.stdout.readline()
        if not line:
            code = self.process.wait()
            self.errors.seek(0)
            tail = self.errors.read()[-1500:].decode("utf-8", "replace")
            return {"failures": [f"the process died ({f'signal {-code}' if code < 0 else f'exit {code}'})\n{tail}"], "blessed": {}}
        return json.loads(line)

    def start(self):
        self.errors = tempfile.TemporaryFile()
        self.process = subprocess.Popen([sys.executable, str(WORKER)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors)

    def stop(self):
        if self.process is not None:
            self.process.stdin.close()
            self.process.wait(HANG)
            self.process = None
