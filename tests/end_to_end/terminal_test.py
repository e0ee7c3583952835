"""Names that steer a terminal, through every verb that prints names: they are shown, not obeyed."""
import json
import os
import signal
import subprocess
import sys
import time
import unittest

from verbs import HEADWAY, VerbTest

# A colour, a new title, CSI in one character, right-to-left, and a line that poses as ours.
NASTY = "cat\x1b[31m\x1b]0;owned\x07\u009b2J\u202e\nheadway: all is well"
BROKEN = b"dog\xff\x9b31m"  # no UTF-8


class Terminal(VerbTest):
    def run_verb(self, *arguments, status=(0, 1, 2, 3)):
        done = subprocess.run([os.fsencode(HEADWAY), *map(os.fsencode, map(str, arguments))], cwd=self.folder,
                              capture_output=True, timeout=60)
        self.assertIn(done.returncode, status, done.stderr)
        self.assert_shown(done.stdout, f"standard output of {arguments}")
        self.assert_shown(done.stderr, f"standard error of {arguments}")
        return (done.stdout + done.stderr).decode()

    def assert_shown(self, said, where):
        text = said.decode()  # broken UTF-8 would fail here
        for steering in "\x1b\x07\x7f\u009b\u202e\r":
            self.assertNotIn(steering, text, where)
        self.assertFalse([line for line in text.splitlines() if line.startswith("headway: all is well")], where)

    def photos(self):
        """A folder whose classes have such names."""
        self.shapes("photos", 12, "--classes", 2)
        first, second = sorted(p for p in (self.folder / "photos").iterdir() if p.is_dir())
        first.rename(self.folder / "photos" / NASTY)
        os.rename(os.fsencode(second), os.fsencode(self.folder / "photos") + b"/" + BROKEN)
        return "photos"

    def test_inspect_shows_names_of_classes(self):
        said = self.run_verb("inspect", self.photos(), status=(0,))
        self.assertIn("cat\\x1b[31m\\x1b]0;owned\\x07\\u009b2J\\u202e\\nheadway: all is well", said)
        self.assertIn("dog\\xff\\x9b31m", said)

    def test_json_is_json_and_steers_nothing(self):
        said = json.loads(self.run_verb("inspect", self.photos(), "--json", status=(0,)))
        self.assertIn("cat\x1b", json.dumps(said, ensure_ascii=False).replace("\\u001b", "\x1b"))

    def test_bench_feed_shows_the_name_of_its_data(self):
        os.rename(self.folder / self.photos(), self.folder / NASTY)
        self.assertIn("cat\\x1b", self.run_verb("bench", "feed", NASTY, "--seconds", 0.2, status=(0,)))

    def test_convert_shows_the_name_of_a_bad_image(self):
        folder = self.folder / self.photos() / NASTY
        (folder / f"{NASTY.split('/')[0]}.jpg").write_bytes(b"\xff\xd8\xff\xe0 no image")
        said = self.run_verb("convert", "photos", "packed", status=(1,))
        self.assertIn("\\x1b", said)

    def test_a_trace_of_a_neighbour_is_shown(self):
        lines = [{"kind": "headway-trace", "version": 2},
                 {"kind": "run", "program": NASTY, "dataset": NASTY, "model": NASTY, "eye": "outside"},
                 {"kind": "outside", "seen": True, "command": NASTY, "framework": "torch", "launched": True, "at_s": 9,
                  "exit": "exit status 1", "exit_status": 1,
                  "processes": [{"pid": 1, "role": "main", "name": NASTY, "state": "S",
                                 "stack": [{"file": NASTY, "function": NASTY, "line": 3, "users": True, "text": NASTY}]}],
                  "output": {"watched": True, "exception": NASTY, "traceback": True, "remarks": [{"kind": "out-of-memory", "text": "out of memory " + NASTY}],
                             "raised_at": {"file": NASTY, "function": NASTY, "line": 3, "users": True, "text": NASTY}}},
                 {"kind": "end", "ending": "failed: " + NASTY}]
        (self.folder / "run.trace").write_text("".join(json.dumps(line) + "\n" for line in lines))
        self.assertIn("\\x1b[31m", self.run_verb("doctor", "run.trace"))
        json.loads(self.run_verb("doctor", "run.trace", "--json"))
        self.run_verb("doctor", "run.trace", "--html", "report.html")
        self.assertNotIn(b"\x1b", (self.folder / "report.html").read_bytes())

    def test_a_damaged_trace_of_a_nasty_name_is_shown(self):
        (self.folder / NASTY).write_text('{"kind":"headway-trace","version":2}\n{"kind":"run","cpus":"\x1b[2J"}\n{}\n')
        self.assertIn("\\x1b", self.run_verb("doctor", NASTY, status=(1,)))

    def test_words_that_are_not_understood_are_shown(self):
        self.assertIn("\\x1b", self.run_verb("inspect", "photos", "--" + NASTY, status=(2,)))
        self.assertIn("\\x1b", self.run_verb("inspect", NASTY, status=(1, 2)))
        self.assertIn("\\x1b", self.run_verb("run", "--", NASTY, status=(1, 126, 127)))

    def test_attach_shows_processes_with_nasty_names(self):
        folder = self.folder / "code"
        folder.mkdir()
        (folder / f"{NASTY}.py").write_text("import os\nprint(os.getpid(), flush=True)\nwhile True: pass\n")
        # Behind a shell: a child of Python counts as a worker.
        shell = subprocess.Popen(["sh", "-c", '"$@"; true', "sh", sys.executable, f"{NASTY}.py", NASTY], cwd=folder,
                                 stdout=subprocess.PIPE)
        self.addCleanup(shell.wait)
        pid = int(shell.stdout.readline())
        self.addCleanup(os.kill, pid, signal.SIGKILL)
        shell.stdout.close()
        for _ in range(20):  # a busy machine may give it no core for a while
            said = self.run_verb("attach")
            if str(pid) in said:
                break
            time.sleep(0.2)
        self.assertIn(str(pid), said)
        self.run_verb("attach", "--json")
        self.run_verb("attach", pid, "--seconds", 2)
        self.run_verb("attach", pid, "--stacks")


if __name__ == "__main__":
    unittest.main()
