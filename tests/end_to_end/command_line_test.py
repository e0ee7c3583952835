import os
import pty
import signal
import subprocess
import time
import unittest

from verbs import HEADWAY, VerbTest

VERBS = (["make-data"], ["inspect"], ["convert"], ["bench", "feed"], ["doctor"], ["compare"], ["check"])


class CommandLine(VerbTest):
    def test_alone_it_lists_its_verbs(self):
        said = self.headway().stdout
        for verb in VERBS:
            self.assertIn(verb[0], said)

    def test_every_verb_helps_with_an_example_and_speaks_json(self):
        for verb in VERBS:
            said = self.headway(*verb, "--help").stdout
            self.assertIn("Example", said)
            self.assertIn("headway " + " ".join(verb), said)
            self.assertIn("--json", said)

    def test_what_is_not_understood_is_a_usage_error(self):
        for line in (["dance"], ["inspect"], ["make-data", "--out"], ["make-data", "--out", "x", "--count", "-3"],
                     ["inspect", "x", "--resize", "12y"], ["bench"], ["convert", "a", "b", "--compress", "rar"]):
            self.fails(*line, status=2)

    def test_ctrl_c_ends_it_cleanly(self):
        for signal_number, status in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            out = self.folder / str(status)
            running = subprocess.Popen([HEADWAY, "make-data", "--out", out, "--count", "100000"],
                                       stderr=subprocess.PIPE, text=True)
            wait_for(lambda: list(out.rglob("*.jpg")))
            running.send_signal(signal_number)
            self.assertEqual(running.communicate(timeout=20)[1], "headway: interrupted\n")
            self.assertEqual(running.returncode, status)
            self.assertEqual(list(self.folder.rglob(".*.partial")), [])

    def test_a_terminal_gets_a_bar_and_a_log_does_not(self):
        line = ["make-data", "--count", 300, "--out"]
        self.assertEqual(self.headway(*line, "quiet").stderr, "")
        try:
            ours, theirs = pty.openpty()
        except OSError as error:
            self.skipTest(f"no terminal to be had here: {error}")
        running = subprocess.Popen([HEADWAY, *map(str, line), "shown"], cwd=self.folder, stdout=subprocess.DEVNULL,
                                   stderr=theirs)
        os.close(theirs)
        shown = read_all(ours)
        self.assertEqual(running.wait(), 0)
        self.assertIn("images", shown)
        self.assertTrue(shown.endswith("\r\x1b[K"), "the bar is taken away")


def wait_for(condition):
    deadline = time.monotonic() + 20
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.01)


def read_all(descriptor):
    text = b""
    while True:
        try:
            block = os.read(descriptor, 4096)
        except OSError:  # what Linux says when the other side is closed
            block = b""
        if not block:
            os.close(descriptor)
            return text.decode()
        text += block


if __name__ == "__main__":
    unittest.main()
