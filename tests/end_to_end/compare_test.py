import json
import pathlib
import unittest

from verbs import VerbTest

SCENARIOS = pathlib.Path(__file__).resolve().parents[1] / "scenarios"
STARVED, FED = SCENARIOS / "serial-map.trace", SCENARIOS / "healthy-serial-but-fast.trace"
SEEN = SCENARIOS / "no-prefetch.train-cells.outside.trace"


class Compare(VerbTest):
    def verdict(self, trace, name, status):
        (self.folder / name).write_text(self.headway("doctor", trace, "--json", status=status).stdout)
        return name

    def test_the_first_line_says_how_much_and_why(self):
        said = self.headway("compare", STARVED, FED).stdout
        self.assertRegex(said.splitlines()[0], r"^B is [\d.]+x as fast as A \([\d.]+ -> [\d.]+ steps/s\): waits for data \d+% -> ")
        for word in ("ms/step", "cause gone    serial-map", "nothing got worse by more than noise"):
            self.assertIn(word, said)

    def test_scripts_are_told_by_the_status(self):
        out = json.loads(self.headway("compare", FED, STARVED, "--json", status=3).stdout)
        self.assertIn("B is slower", out["worse"])
        self.assertEqual(out["speed"]["change"], "less")
        self.assertEqual(self.json("compare", STARVED, FED)["worse"], [])

    def test_traces_and_verdicts_can_be_mixed(self):
        a, b = self.verdict(STARVED, "a.json", 3), self.verdict(FED, "b.json", 0)
        whole = self.json("compare", STARVED, FED)
        for pair in ((a, b), (STARVED, b), (a, FED)):
            self.assertEqual(self.json("compare", *pair), whole)

    def test_a_verdict_on_many_lines_is_read_too(self):
        told = json.loads(self.headway("doctor", STARVED, "--json", status=3).stdout)
        (self.folder / "a.json").write_text(json.dumps(told, indent=2))
        self.assertEqual(self.json("compare", "a.json", FED), self.json("compare", STARVED, FED))

    def test_what_a_watched_command_writes_is_understood(self):
        program = self.python("import time\nfor step in range(1, 60):\n    time.sleep(0.05)\n"
                              "    print(f'step {step}/60', flush=True)\n")
        self.headway("run", "--quiet", "--json-out", "seen.json", "--trace", "seen.trace", "--", *program)
        out = self.json("compare", "seen.json", "seen.trace")
        self.assertFalse(out["differs"], out["sentence"])

    def test_a_run_with_itself_does_not_differ_and_says_what_could_be_seen(self):
        for trace in (STARVED, SEEN):
            said = self.headway("compare", trace, trace).stdout
            self.assertTrue(said.startswith("no difference that is more than noise"), said)

    def test_what_cannot_be_compared_is_said(self):
        (self.folder / "notes.txt").write_text("hello\n")
        self.assertIn("notes.txt", self.fails("compare", "notes.txt", STARVED))
        (self.folder / "half.json").write_text('{"verdict": "slow"}')
        self.assertIn("half.json", self.fails("compare", "half.json", STARVED))
        (self.folder / "blind.json").write_text('{"verdict": "not-watched", "sentence": "not watched: no Python", '
                                                '"findings": [], "ledger": []}')
        self.assertIn("blind.json: nothing to compare", self.fails("compare", STARVED, "blind.json", status=4))
        self.fails("compare", STARVED, "missing.trace", status=2)


if __name__ == "__main__":
    unittest.main()
