import json
import os
import pathlib
import pty
import select
import signal
import subprocess
import threading
import time
import unittest

from verbs import HEADWAY, VerbTest

SCENARIOS = pathlib.Path(__file__).resolve().parents[1] / "scenarios"


TAKES_SCREEN, GIVES_BACK = "\033[?1049h\033[?25l", "\033[?25h\033[?1049l"


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

    def test_a_report_is_one_whole_file(self):
        self.headway("doctor", SCENARIOS / "serial-map.trace", "--html", "report.html", status=3)
        page = (self.folder / "report.html").read_text()
        self.assertTrue(page.startswith("<!doctype html>") and page.rstrip().endswith("</html>"))
        self.assertIn("one worker makes all samples", page)
        self.fails("doctor", SCENARIOS / "serial-map.trace", "--html", "missing/report.html")

    def test_scalars_lie_where_tensorboard_looks(self):
        self.headway("doctor", SCENARIOS / "serial-map.trace", "--tensorboard", "logs/run", status=3)
        file, = (self.folder / "logs/run").iterdir()
        self.assertTrue(file.name.startswith("events.out.tfevents."), file)
        for tag in (b"loss/training", b"share_of_step/waiting_for_data", b"cores/used"):
            self.assertIn(tag, file.read_bytes())

    def growing(self):
        """A trace of which the first half is there; gives the rest."""
        lines = (SCENARIOS / "serial-map.trace").read_text().splitlines(keepends=True)
        (self.folder / "run.trace").write_text("".join(lines[:-6]))
        return lines[-6:]

    def append(self, text):
        with open(self.folder / "run.trace", "a") as file:
            file.write(text)

    def on_a_terminal(self, **environment):
        """`--follow` with standard error on a terminal: the process, and all it writes there."""
        ours, theirs = pty.openpty()
        self.addCleanup(os.close, ours)
        run = subprocess.Popen([HEADWAY, "doctor", "run.trace", "--follow"], cwd=self.folder, stderr=theirs,
                               stdout=subprocess.PIPE, text=True,
                               env={**os.environ, "TERM": "xterm", "LC_ALL": "C.UTF-8", **environment})
        os.close(theirs)
        self.addCleanup(run.stdout.close)
        seen = bytearray()

        def read_until(words, seconds=30):
            until = time.monotonic() + seconds
            while words.encode() not in seen and time.monotonic() < until:
                if select.select([ours], [], [], 0.1)[0]:
                    try:
                        seen.extend(os.read(ours, 65536))
                    except OSError:  # closed at the other end
                        break
            self.assertIn(words, seen.decode(errors="replace"))
            return seen.decode(errors="replace")
        return run, read_until

    def test_a_growing_trace_is_followed_to_its_end(self):
        rest = self.growing()
        run, read_until = self.on_a_terminal()
        read_until("sets pace")
        for line in rest:  # in pieces, as a slow disk would
            self.append(line[:40])
            self.append(line[40:])
        seen = read_until(GIVES_BACK)
        said, _ = run.communicate(timeout=30)
        self.assertEqual(run.returncode, 3)
        self.assertTrue(said.startswith("slow: "), said)
        self.assertEqual((seen.count(TAKES_SCREEN), seen.count(GIVES_BACK)), (1, 1))

    def test_an_interrupt_leaves_the_terminal_as_it_was(self):
        self.growing()
        run, read_until = self.on_a_terminal(NO_COLOR="1")
        read_until("sets pace")
        run.send_signal(signal.SIGINT)
        seen = read_until(GIVES_BACK)
        self.assertEqual(run.wait(timeout=30), 130)
        self.assertNotIn("\033[1;3", seen, "NO_COLOR")

    def test_without_a_terminal_it_writes_lines(self):
        rest = self.growing()
        threading.Timer(0.5, self.append, ["".join(rest)]).start()
        done = self.headway("doctor", "run.trace", "--follow", status=3)
        self.assertRegex(done.stderr, r"^\d+ s  epoch 1/10  \d+/10000 .*slow: ")
        self.assertNotIn("\033", done.stderr)

    def test_what_is_no_trace_is_refused(self):
        (self.folder / "notes.txt").write_text("hello\n")
        self.assertIn("not a trace", self.fails("doctor", "notes.txt"))
        self.fails("doctor", "missing.trace", status=2)


if __name__ == "__main__":
    unittest.main()
