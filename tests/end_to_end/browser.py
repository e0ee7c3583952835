"""Pages in a real browser, without a window and without a network."""
import os
import re
import html
import shutil
import subprocess
import sys

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
SWITCHES = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
            "--disable-dev-shm-usage", "--virtual-time-budget=5000", "--enable-logging=stderr", "--v=0"]
PATIENCE_S = 120


def leave_without(what, remedy):
    """Ends a test whose tool is not here: skipped by name, but failed where CI=true."""
    failed = os.environ.get("CI") == "true"
    print(f"{'failed' if failed else 'skipped'}: no {what} here; {remedy}")
    sys.exit(1 if failed else 77)


def needs_browser():
    if not BROWSER:
        leave_without("chromium", "scripts/setup.sh browser installs it")


class Opened:
    """A page behind its scripts: `markup` as the browser has it, `console` what it complained about."""

    def __init__(self, url, profile, *switches):
        done = subprocess.run([BROWSER, *SWITCHES, f"--user-data-dir={profile}", *switches, "--dump-dom", str(url)],
                              capture_output=True, text=True, timeout=PATIENCE_S)
        self.markup = done.stdout
        self.console = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
        if "<html" not in self.markup:
            raise AssertionError(f"the browser gave no page for {url}: {done.stderr[-2000:]}")

    @property
    def text(self):
        """What can be read on it, without its scripts."""
        shown = re.sub(r"<(script|style)\b.*?</\1>", " ", self.markup, flags=re.S)
        return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", shown)).split())
