"""Looks at the site and at a cell under `%%tierup` in a real browser, at two widths: `make test-site`.

    python tests/real/site.py SITE SHOTS

SITE is what `make docs` makes; pictures go to the folder SHOTS. Nothing is compared with pictures of another day: facts are. No page is wider than its window, none is empty, code
scrolls in its box, the search finds pages, and a click opens what a line of a cell has to say. Needs Chromium (Debian: `apt-get install chromium`; another by CHROMIUM=PATH) and IPython.
"""

import base64
import contextlib
import functools
import http.server
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

WIDTHS = {390: 844, 1280: 800}
HANG = 60
SHOWN = ["docs/README.html", "docs/guide/first-steps.html", "docs/guide/debugging.html", "docs/reference/numpy.html", "docs/decisions/arrays.html"]
SEARCHES = {"prange": "parallel-loops", "cloudpickle": "clusters", "gdb": "debugging"}

# What does not fit: elements that end right of the window and are not in a box that scrolls.
WIDE = """
(() => {
    const scrolls = e => { for (; e; e = e.parentElement) if (['auto', 'scroll', 'hidden', 'clip'].includes(getComputedStyle(e).overflowX)) return true; return false; };
    const shown = e => { const s = getComputedStyle(e); return s.visibility != 'hidden' && s.display != 'none' && s.position != 'fixed'; };
    const out = [];
    for (const e of document.querySelectorAll('body *')) {
        const r = e.getBoundingClientRect();
        if (r.width && r.right > innerWidth + 1 && shown(e) && !scrolls(e.parentElement) && out.length < 3) out.push(e.tagName + '.' + e.className + ' ' + Math.round(r.right));
    }
    return {page: document.documentElement.scrollWidth, out, text: document.body.innerText.length, title: document.title};
})()
"""

CELL = '''%%tierup
@njit(parallel=True)
def total(x, a_parameter_with_a_long_name, another_parameter_with_a_long_name):
    s = 0.0
    for i in prange(len(x)):
        s += x[i] * a_parameter_with_a_long_name + another_parameter_with_a_long_name + a_parameter_with_a_long_name
    return s

@jit
def slow(x):
    return [type(v).__name__ for v in x]

total(np.ones(1000), 1.0, 2.0), slow([1, "a"])
'''

IN_A_NOTEBOOK = f"""
import sys
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
shell = InteractiveShell.instance()
shell.run_cell("import numpy as np\\nfrom tierup import jit, njit, prange\\n%load_ext tierup")
with capture_output() as seen:
    shell.run_cell({CELL!r})
print("".join(o.data.get("text/html", "") for o in seen.outputs))
"""


class Browser:
    """Chromium, by its protocol over a pair of pipes."""

    def __init__(self, folder):
        path = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
        if path is None:
            sys.exit("no Chromium: apt-get install chromium, or CHROMIUM=PATH")
        to_browser, self.out = os.pipe()
        self.into, from_browser = os.pipe()

        def ends():
            # The browser reads from 3 and writes to 4.
            kept = [os.dup2(fd, 20 + k, inheritable=False) for k, fd in enumerate((to_browser, from_browser))]
            for k, fd in enumerate(kept):
                os.dup2(fd, 3 + k)

        command = [path, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--remote-debugging-pipe", f"--user-data-dir={folder}", "about:blank"]
        self.process = subprocess.Popen(command, preexec_fn=ends, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser), os.close(from_browser)
        self.number, self.rest, self.events = 0, b"", []
        # A browser that hangs is ended, and reads end with it.
        self.watch = None
        target = self("Target.createTarget", url="about:blank")["targetId"]
        self.session = self("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self("Page.enable"), self("Runtime.enable"), self("Log.enable")

    session = None

    def _read(self):
        while b"\0" not in self.rest:
            chunk = os.read(self.into, 1 << 20)
            if not chunk:
                sys.exit("the browser has ended")
            self.rest += chunk
        message, _, self.rest = self.rest.partition(b"\0")
        return json.loads(message)

    def _guarded(self, wanted):
        watch = threading.Timer(HANG, self.process.kill)
        watch.start()
        try:
            while True:
                message = self._read()
                if wanted(message):
                    return message
                self.events.append(message)
        finally:
            watch.cancel()

    def __call__(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session is not None:
            message["sessionId"] = self.session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        answer = self._guarded(lambda m: m.get("id") == self.number)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        return answer["result"]

    def open(self, url, width):
        self("Emulation.setDeviceMetricsOverride", width=width, height=WIDTHS[width], deviceScaleFactor=1, mobile=width < 600)
        self.events.clear()
        self("Page.navigate", url=url)
        if not any(e.get("method") == "Page.loadEventFired" for e in self.events):
            self._guarded(lambda m: m.get("method") == "Page.loadEventFired")

    def ask(self, script):
        answer = self("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(str(answer["exceptionDetails"]))
        return answer["result"].get("value")

    def until(self, script):
        """Waits until a script gives something that holds."""
        return self.ask(f"new Promise((done, no) => {{ const end = Date.now() + {HANG * 500}; const look = () => {{ const x = {script}; if (x || Date.now() > end) done(x); else setTimeout(look, 50); }}; look(); }})")

    def shoot(self, path):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(base64.b64decode(self("Page.captureScreenshot", format="png")["data"]))

    def end(self):
        # It takes its own processes along.
        os.write(self.out, json.dumps({"id": 0, "method": "Browser.close"}).encode() + b"\0")
        try:
            self.process.wait(HANG)
        finally:
            self.process.kill()
            self.process.wait()
            os.close(self.out), os.close(self.into)


@contextlib.contextmanager
def served(folder):
    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *args):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def notebook(folder):
    """The cell as a notebook's page shows it: its output in a column with margins."""
    done = subprocess.run([sys.executable, "-c", IN_A_NOTEBOOK], capture_output=True, text=True, timeout=600)
    if done.returncode or "<" not in done.stdout:
        sys.exit(f"the cell does not run: {done.stderr}")
    head = '<!doctype html><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>A cell</title>'
    style = "<style>body { margin: 8px } .cell { max-width: 960px; margin: auto; overflow-x: auto }</style>"
    (folder / "cell.html").write_text(f'{head}{style}<div class="cell">{done.stdout}</div>', encoding="utf-8")


class Checks:
    def __init__(self):
        self.wrong = []

    def that(self, fact, what):
        if not fact:
            self.wrong.append(what)

    def fits(self, browser, name, width):
        facts = browser.ask(WIDE)
        self.that(facts["page"] <= width and not facts["out"], f"{name} at {width}: {facts['page']} pixels wide; {facts['out']}")
        self.that(facts["text"] > 100 and facts["title"], f"{name} at {width}: nothing to read")


def look_at_site(browser, url, site, shots, checks):
    pages = sorted(str(p.relative_to(site)) for p in site.rglob("*.html") if "_" not in p.parts[0])
    for width in WIDTHS:
        for page in pages:
            if page == "index.html":
                continue
            browser.open(f"{url}/{page}", width)
            checks.fits(browser, page, width)
            if page in SHOWN:
                browser.shoot(shots / f"{width}" / f"{page.removesuffix('.html').replace('/', '-')}.png")
        for word, page in SEARCHES.items():
            browser.open(f"{url}/search.html?q={word}", width)
            browser.until(r"/found \d+|did not match/.test(document.querySelector('#search-results').innerText)")
            found = browser.ask("[...document.querySelectorAll('#search-results li a')].map(a => a.getAttribute('href')).join(' ')")
            checks.that(page in (found or ""), f"the search for {word!r} at {width} does not find {page}: {(found or '')[:200]}")
            checks.fits(browser, f"search for {word}", width)
        browser.shoot(shots / f"{width}" / "search.png")
    # The sidebar is there on a wide window, and opens on a narrow one.
    for width in WIDTHS:
        browser.open(f"{url}/docs/README.html", width)
        at = browser.ask("document.querySelector('.sidebar-drawer').getBoundingClientRect().right")
        checks.that((at > 0) == (width > 1000), f"the sidebar at {width} ends at {at}")
    return len(pages)


def look_at_cell(browser, url, shots, checks):
    for width in WIDTHS:
        browser.open(f"{url}/cell.html", width)
        checks.fits(browser, "the cell", width)
        colours = browser.ask("new Set([...document.querySelectorAll('.cell *')].map(e => getComputedStyle(e).backgroundColor)).size")
        checks.that(colours >= 3, f"the cell at {width} has {colours} colours")
        text = browser.ask("document.querySelector('.cell').innerText")
        checks.that("total" in text and "parallel" in text, f"the cell at {width} says nothing: {text[:200]}")
        closed = browser.ask("document.querySelectorAll('details').length && document.querySelector('.cell').offsetHeight")
        checks.that(closed, f"the cell at {width} has nothing to open")
        browser.shoot(shots / f"{width}" / "cell.png")
        browser.ask("document.querySelectorAll('summary').forEach(s => s.click())")
        checks.that(browser.ask("document.querySelector('.cell').offsetHeight") > (closed or 0), f"a click on a line of the cell at {width} opens nothing")
        checks.fits(browser, "the open cell", width)
        browser.shoot(shots / f"{width}" / "cell-open.png")


def main():
    site, shots = (Path(a).resolve() for a in sys.argv[1:])
    checks = Checks()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as own, tempfile.TemporaryDirectory() as cell:
        notebook(Path(cell))
        browser = Browser(own)
        try:
            with served(site) as url:
                pages = look_at_site(browser, url, site, shots, checks)
            with served(cell) as url:
                look_at_cell(browser, url, shots, checks)
        finally:
            browser.end()
    for wrong in checks.wrong:
        print(wrong)
    if checks.wrong:
        sys.exit(f"{len(checks.wrong)} things are not as they should be")
    print(f"{pages} pages and a cell at {' and '.join(map(str, WIDTHS))} pixels: as they should be; pictures in {shots}")


if __name__ == "__main__":
    main()
