import json
import os
import pty
import signal
import subprocess
import sys
import unittest

from verbs import HEADWAY, VerbTest


class Run(VerbTest):
    def program(self, text):
        (self.folder / "train.py").write_text(text)
        return [sys.executable, "train.py"]

    def verdict(self):
        return json.loads((self.folder / "out.json").read_text())

    def test_output_and_exit_status_are_the_commands_own(self):
        command = self.program("import sys\nprint('to out')\nprint('to err', file=sys.stderr)\nsys.exit(7)\n")
        done = self.headway("run", "--quiet", "--json-out", "out.json", "--", *command, status=7)
        self.assertEqual(done.stdout, "to out\n")
        self.assertEqual(done.stderr, "to err\n")
        self.assertEqual(self.verdict()["verdict"], "crashed")
        self.assertEqual(self.verdict()["exit_status"], 7)

    def test_a_crash_names_the_line_and_the_exception(self):
        command = self.program("def main():\n    raise ValueError('shapes differ')\nmain()\n")
        done = self.headway("run", "--json-out", "out.json", "--", *command, status=1)
        self.assertIn("crashed: exit status 1; ValueError: shapes differ", done.stderr)
        self.assertTrue(self.verdict()["where"].endswith("train.py:2"), self.verdict()["where"])

    def test_a_run_that_ends_well_is_finished(self):
        self.headway("run", "--json-out", "out.json", "--", *self.program("print('epoch 1 step 1 loss 0.5')\n"))
        self.assertEqual(self.verdict()["verdict"], "finished")
        self.assertEqual(self.verdict()["findings"], [])

    def test_a_killed_command_ends_as_a_shell_would_say(self):
        command = self.program("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n")
        self.headway("run", "--quiet", "--", *command, status=128 + signal.SIGKILL)

    def test_signals_are_passed_on_and_are_no_crash(self):
        command = self.program("import signal, sys, time\n"
                               "signal.signal(signal.SIGTERM, lambda *_: sys.exit(5))\n"
                               "print('ready', flush=True)\ntime.sleep(60)\n")
        process = subprocess.Popen([HEADWAY, "run", "--quiet", "--json-out", "out.json", "--", *command],
                                   cwd=self.folder, stdout=subprocess.PIPE, text=True)
        self.assertEqual(process.stdout.readline(), "ready\n")
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(30), 5)
        process.stdout.close()
        self.assertNotEqual(self.verdict()["verdict"], "crashed")

    def test_on_a_terminal_the_command_has_one(self):
        command = self.program("import sys\nprint(sys.stdout.isatty(), sys.stderr.isatty())\n")
        ours, theirs = pty.openpty()
        process = subprocess.Popen([HEADWAY, "run", "--", *command], cwd=self.folder, stdout=theirs,
                                   stderr=subprocess.PIPE)
        self.assertEqual(os.read(ours, 100).split(), [b"True", b"False"])
        self.assertEqual(process.wait(30), 0)
        process.stderr.close()
        os.close(ours), os.close(theirs)

    def test_what_cannot_be_started_is_said(self):
        self.assertIn("no-such-command", self.fails("run", "--", "no-such-command"))

    def test_attach_tells_where_a_process_stands(self):
        command = self.program("import time\ndef wait_here():\n    print('ready', flush=True)\n    time.sleep(60)\n"
                               "wait_here()\n")
        process = subprocess.Popen(command, cwd=self.folder, stdout=subprocess.PIPE, text=True)
        try:
            self.assertEqual(process.stdout.readline(), "ready\n")
            said = json.loads(self.headway("attach", process.pid, "--stacks").stdout)
            self.assertEqual([f["function"] for f in said["threads"][0]["frames"]], ["wait_here", "<module>"])
            self.assertTrue(said["threads"][0]["complete"])
            self.assertIsNone(process.poll())
        finally:
            process.kill()
            process.wait()
            process.stdout.close()

    def test_no_such_process(self):
        self.assertIn("no process", self.fails("attach", 2 ** 22 - 1))


if __name__ == "__main__":
    unittest.main()
