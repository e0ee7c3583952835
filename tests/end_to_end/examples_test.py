"""The first example that --help shows for a verb works as it is typed, in a folder with the files that it names."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

from verbs import HEADWAY, VerbTest, verbs_of_the_program

SCENARIOS = pathlib.Path(__file__).resolve().parents[1] / "scenarios"
TRACES = {"run.trace": "healthy-train.live.trace", "before.trace": "serial-map.trace",
          "after.trace": "healthy-serial-but-fast.trace"}
TRAINING = """
import time
for step in range(1, 31):
    until = time.monotonic() + 0.05
    while time.monotonic() < until:
        sum(range(1000))
    print(f"step {step}/30 loss {1 / step:.4f}", flush=True)
"""
# Beside 0: the verb did its work and found something to say no to, on this machine or in these files.
FOUND = "3"


class Examples(VerbTest):
    def setUp(self):
        super().setUp()
        self.shapes("photos", 60, "--classes", 2)
        for name, scenario in TRACES.items():
            shutil.copy(SCENARIOS / scenario, self.folder / name)
        (self.folder / "train.py").write_text(TRAINING)

    def first_example(self, verb):
        said = self.headway(*verb, "--help").stdout
        example = re.search(r"^Examples?:\n  (.*?)(?:  +\S.*)?$", said, flags=re.M)
        self.assertTrue(example, f"{verb} has no example")
        statuses = re.findall(r"^  (\d+)  ", said.split("\nExit status:\n", 1)[-1], flags=re.M)
        return example[1], statuses

    def run_as_typed(self, line):
        return subprocess.run(["bash", "-c", line], cwd=self.folder, capture_output=True, text=True, timeout=250,
                              env={**os.environ, "PATH": f"{os.path.dirname(HEADWAY)}:{os.environ['PATH']}"})

    def test_the_first_example_of_every_verb_works_as_typed(self):
        verbs = verbs_of_the_program()
        self.assertGreaterEqual(len(verbs), 10)
        for verb in verbs:
            if verb == ["train"] and not (pathlib.Path(HEADWAY).parent / "headway-train").exists():
                continue
            with self.subTest(verb=" ".join(verb)):
                line, statuses = self.first_example(verb)
                self.assertIn("headway " + " ".join(verb), line)
                done = self.run_as_typed(line)
                if not (FOUND in statuses and done.returncode == int(FOUND)):
                    self.assertEqual(done.returncode, 0, f"{line}\n{done.stdout}{done.stderr}")
                print(f"  {line}", file=sys.stderr)


if __name__ == "__main__":
    unittest.main()
