"""The report in a real browser: it draws itself without a word on the console."""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

from verbs import VerbTest

SCENARIOS = pathlib.Path(__file__).resolve().parents[1] / "scenarios"
BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
EVIL = "</script><script>console.log('broken out')</script><b>bold</b>"


class Report(VerbTest):
    def opened(self, trace, *switches, status=3):
        """The page behind its script, as the browser has it; fails when its console said anything."""
        self.headway("doctor", trace, "--html", "report.html", status=status)
        done = subprocess.run(
            [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={self.folder}/browser",
             "--virtual-time-budget=3000", "--enable-logging=stderr", "--v=0", *switches, "--dump-dom",
             f"file://{self.folder}/report.html"], capture_output=True, text=True, timeout=120)
        self.assertIn("<html", done.stdout, done.stderr[-2000:])
        self.assertEqual([line for line in done.stderr.splitlines() if "CONSOLE" in line], [])
        return done.stdout[:done.stdout.index('<script type="application/json"')]

    def test_a_slow_run(self):
        page = self.opened(SCENARIOS / "serial-map.trace")
        self.assertIn('class="card finding high" id="serial-map"', page)
        self.assertIn("sets the pace", page)
        self.assertGreater(len(re.findall("<svg", page)), 6)
        self.assertGreater(len(re.findall('class="line"', page)), 5)

    def test_a_recorded_run_by_dark(self):
        page = self.opened(SCENARIOS / "healthy-train.live.trace", "--blink-settings=preferredColorScheme=0", status=0)
        self.assertIn('class="card healthy"', page)
        self.assertIn("epoch 3", page)

    def test_a_run_without_a_step(self):
        self.assertIn("it hangs here", self.opened(SCENARIOS / "source-never-yields.trace"))

    def test_names_stay_text(self):
        lines = (SCENARIOS / "serial-map.trace").read_text().splitlines()
        for i, line in enumerate(lines):
            line = json.loads(line)
            if line["kind"] == "run":
                line["program"] = line["model"] = EVIL
            if line["kind"] == "stages":
                line["stages"][0].update(name=EVIL, ops=[EVIL])
            lines[i] = json.dumps(line)
        lines.append(json.dumps({"kind": "note", "note": "warning", "at_s": 1, "text": EVIL}))
        (self.folder / "evil.trace").write_text("\n".join(lines) + "\n")
        page = self.opened("evil.trace")
        self.assertNotIn("<b>bold", page)
        self.assertIn("&lt;b&gt;bold", page)


if __name__ == "__main__":
    if not BROWSER:
        print("skipped: no chromium here; apt-get install chromium opens the reports in a browser")
        sys.exit(77)
    unittest.main()
