"""Every exit status that a verb's help documents can be had, and is what is said: each is brought about here."""
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
import unittest

from verbs import HEADWAY, VerbTest, verbs_of_the_program

SCENARIOS = pathlib.Path(__file__).resolve().parents[1] / "scenarios"
TRAIN = pathlib.Path(HEADWAY).parent / "headway-train"
PYTHON = sys.executable
HEALTHY, SLOW = SCENARIOS / "healthy-train.live.trace", SCENARIOS / "serial-map.trace"
STUCK = SCENARIOS / "source-never-yields.trace"

# A verb's line for each status, in the folder that setUp makes. A line that ends in "&" is interrupted by Ctrl-C once it has
# run for a second; what begins with "of_" is a method below.
LINES = {
    "make-data": {"0": "make-data --out fresh --count 3", "1": "make-data --out notes",
                  "2": "make-data --out fresh --count -3", "130": "make-data --out many --count 200000 &"},
    "inspect": {"0": "inspect photos --take 2", "1": "inspect nowhere", "2": "inspect photos --resize 12y",
                "130": "inspect large --random-rotation 30 --resize 2000x2000 --take 100000 &"},
    "convert": {"0": "convert photos records", "1": "convert nowhere records", "2": "convert photos records --compress rar",
                "130": "convert large again --resize 3000x3000 &"},
    "bench feed": {"0": "bench feed photos --seconds 0.2", "1": "bench feed nowhere", "2": "bench feed photos --task t9",
                   "130": "bench feed photos --seconds 60 &"},
    "doctor": {"0": f"doctor {HEALTHY}", "3": f"doctor {SLOW}", "1": "doctor notes/hello.txt", "2": "doctor missing.trace",
               "130": "doctor half.trace --follow &"},
    "compare": {"0": f"compare {SLOW} {SLOW}", "3": f"compare {HEALTHY} {STUCK}", "4": "compare blind.json blind.json",
                "1": "compare notes/hello.txt notes/hello.txt", "2": "compare one.trace"},
    "check": {"0": "check --no-disk plain.py", "3": "check --no-disk --data nowhere", "2": "check --wrong"},
    "run": {"any": f"run --quiet -- {PYTHON} seven.py", "128 + N": "run --quiet -- sh killed.sh",
            "1": "run -- ./no-such-command", "2": "run"},
    "attach": {"0": "attach", "3": "of_a_slow_process", "4": "of_a_process_without_python", "5": "of_a_process_that_ends",
               "1": "attach 999999999", "2": "attach somebody"},
    "train": {"0": "train --data photos --epochs 1 --size 24 --batch 8", "1": "train --data nowhere", "2": "train --epochs 0",
              "130": "train --data photos --epochs 100000 --size 24 --batch 8 &"},
    "completion": {"0": "completion fish", "2": "completion tcsh"},
    "man": {"0": "man doctor", "1": "man dance", "2": "man --wrong"},
}
EXPECTED = {"any": 7, "128 + N": 128 + signal.SIGKILL}


class Statuses(VerbTest):
    def setUp(self):
        super().setUp()
        self.shapes("photos", 40, "--classes", 2)
        self.headway("make-data", "--out", "large", "--count", 200, "--width", 640, "--height", 480)
        (self.folder / "notes").mkdir()
        (self.folder / "notes/hello.txt").write_text("hello\n")
        lines = SLOW.read_text().splitlines(keepends=True)
        (self.folder / "half.trace").write_text("".join(lines[:-6]))
        (self.folder / "blind.json").write_text('{"verdict": "not-watched", "sentence": "not watched: no Python", '
                                                '"findings": [], "ledger": []}\n')
        (self.folder / "plain.py").write_text("import json\n")
        (self.folder / "seven.py").write_text("raise SystemExit(7)\n")
        (self.folder / "killed.sh").write_text("kill -9 $$\n")

    def documented(self, verb):
        said = self.headway(*verb, "--help").stdout
        self.assertIn("\nExit status:\n", said, verb)
        listed = said.split("\nExit status:\n", 1)[1]
        return re.findall(r"^  (\S.*?)  +\S", listed, flags=re.M)

    def interrupted(self, line):
        running = self.start([HEADWAY, *line.split()[:-1]], stderr=subprocess.PIPE, text=True)
        time.sleep(1)
        self.assertIsNone(running.poll(), f"{line}: ended by itself")
        running.send_signal(signal.SIGINT)
        running.communicate(timeout=60)
        return running.returncode

    def status_of(self, line):
        if line.endswith("&"):
            return self.interrupted(line)
        if line.startswith("of_"):
            return getattr(self, line)()
        done = subprocess.run([HEADWAY, *line.split()], cwd=self.folder, capture_output=True, text=True, timeout=200)
        return done.returncode

    def attach(self, process, *options):
        return subprocess.run([HEADWAY, "attach", str(process.pid), *options], capture_output=True, timeout=60).returncode

    def of_a_slow_process(self):
        return self.attach(self.start(self.python("input()\n"), stdin=subprocess.PIPE), "--once")

    def of_a_process_without_python(self):
        return self.attach(self.start(["sleep", "60"]), "--seconds", "2")

    def of_a_process_that_ends(self):
        return self.attach(self.start(self.python("import time\nend = time.time() + 4\nwhile time.time() < end:\n"
                                                  "    sum(range(1000))\n")), "--seconds", "30")

    def test_every_status_that_is_documented_can_be_had(self):
        for verb in verbs_of_the_program():
            name = " ".join(verb)
            if name == "train" and not TRAIN.exists():
                continue
            self.assertIn(name, LINES, "a new verb: how is each of its exit statuses had?")
            documented = self.documented(verb)
            self.assertEqual(sorted(documented), sorted(LINES[name]), name)
            for status in documented:
                with self.subTest(verb=name, status=status):
                    self.assertEqual(self.status_of(LINES[name][status]), EXPECTED.get(status) or int(status),
                                     LINES[name][status])

    def test_man_pages_list_the_same_statuses(self):
        for verb in verbs_of_the_program():
            page = self.headway("man", *verb).stdout.split(".SH EXIT STATUS\n", 1)[1].split("\n.SH")[0]
            self.assertEqual(re.findall(r"^\\fB(.*)\\fR$", page, flags=re.M), self.documented(verb))


if __name__ == "__main__":
    unittest.main()
