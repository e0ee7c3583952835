import json
import pathlib
import unittest

from verbs import VerbTest

SCENARIOS = pathlib.Path(__file__).resolve().parents[1] / "scenarios"


class Doctor(VerbTest):
    def test_a_slow_run_is_explained_and_the_exit_status_says_so(self):
        said = self.headway("doctor", SCENARIOS / "serial-map.trace", status=3).stdout
        self.assertTrue(said.startswith("slow: "), said)
        for word in ("where ", "evidence ", "fix ", "gain ", "more      docs/causes/serial-map.md"):
            self.assertIn("\n  " + word, said)

    def test_a_healthy_run_is_called_healthy(self):
        said = self.headway("doctor", SCENARIOS / "healthy-train.live.trace").stdout
        self.assertTrue(said.startswith("healthy: compute-bound"), said)

    def test_machines_get_one_object(self):
        done = self.headway("doctor", SCENARIOS / "source-never-yields.trace", "--json", status=3)
        out = json.loads(done.stdout)
        self.assertEqual(out["verdict"], "stuck")
        self.assertEqual(out["findings"][0]["cause"], "source-never-yields")

    def test_every_cause_has_its_page(self):
        for trace in SCENARIOS.glob("*.trace"):
            done = self.headway("doctor", trace, "--json", status=0 if trace.name.startswith("healthy") else 3)
            for finding in json.loads(done.stdout)["findings"]:
                self.assertTrue((SCENARIOS.parents[1] / finding["page"]).is_file(), finding["page"])

    def test_what_is_no_trace_is_refused(self):
        (self.folder / "notes.txt").write_text("hello\n")
        self.assertIn("not a trace", self.fails("doctor", "notes.txt"))
        self.fails("doctor", "missing.trace", status=2)


if __name__ == "__main__":
    unittest.main()
