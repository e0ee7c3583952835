"""The report in a real browser: it draws itself without a word on the console."""
import json
import pathlib
import re
import unittest

from browser import Opened, needs_browser
from verbs import VerbTest

SCENARIOS = pathlib.Path(__file__).resolve().parents[1] / "scenarios"
EVIL = "</script><script>console.log('broken out')</script><b>bold</b>"


class Report(VerbTest):
    def browsed(self, trace, *switches, status=3):
        """The page behind its script; fails when its console said anything."""
        self.headway("doctor", trace, "--html", "report.html", status=status)
        page = Opened(f"file://{self.folder}/report.html", self.folder / "browser", *switches)
        self.assertEqual(page.console, [])
        return page

    def opened(self, trace, *switches, status=3):
        """Its elements, as the browser has them, without the data they were made from."""
        markup = self.browsed(trace, *switches, status=status).markup
        return markup[:markup.index('<script type="application/json"')]

    def test_says_what_the_doctor_says_with_the_same_numbers(self):
        said = json.loads(self.headway("doctor", SCENARIOS / "serial-map.trace", "--json", status=3).stdout)
        page = self.browsed(SCENARIOS / "serial-map.trace")
        self.assertGreater(len(said["findings"]), 0)
        for finding in said["findings"]:
            for words in (finding["summary"], finding["where"], finding["fix"], *finding["evidence"]):
                self.assertIn(" ".join(words.split()), page.text)

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
                line["stages"][0].update(name=EVIL, ops=[{"name": EVIL}])
            lines[i] = json.dumps(line)
        lines.append(json.dumps({"kind": "note", "note": "warning", "at_s": 1, "text": EVIL}))
        (self.folder / "evil.trace").write_text("\n".join(lines) + "\n")
        page = self.opened("evil.trace")
        self.assertNotIn("<b>bold", page)
        self.assertIn("&lt;b&gt;bold", page)


if __name__ == "__main__":
    needs_browser()
    unittest.main()
