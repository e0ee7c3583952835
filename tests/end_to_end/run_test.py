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
        said = b""
        while b"\n" not in said:  # a terminal hands out a line in pieces
            said += os.read(ours, 100)
        self.assertEqual(said.split(), [b"True", b"False"])
        self.assertEqual(process.wait(30), 0)
        process.stderr.close()
        os.close(ours), os.close(theirs)

    def test_what_cannot_be_started_is_said(self):
        self.assertIn("no-such-command", self.fails("run", "--", "no-such-command"))

    def test_attach_tells_where_a_process_stands(self):
        process, ready = self.waiting()
        self.assertTrue(ready)
        said = json.loads(self.headway("attach", process.pid, "--stacks").stdout)
        self.assertEqual([f["function"] for f in said["threads"][0]["frames"]], ["wait_here", "<module>"])
        self.assertTrue(said["threads"][0]["complete"])
        self.assertIsNone(process.poll())

    def waiting(self, *before):
        """A program that stands in wait_here(), behind another command if one is given."""
        command = self.program("import time\ndef wait_here():\n    print('ready', flush=True)\n    time.sleep(60)\n"
                               "wait_here()\n")
        process = subprocess.Popen([*before, *command], cwd=self.folder, stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process, process.stdout.readline() == "ready\n"

    @unittest.skipUnless(os.geteuid() == 0, "only root can become somebody else")
    def test_who_may_not_look_is_told_what_would_allow_it(self):
        process, ready = self.waiting()
        self.assertTrue(ready)
        said = subprocess.run(["setpriv", "--reuid", "65534", "--clear-groups", HEADWAY, "attach", str(process.pid),
                               "--seconds", "2", "--json"], capture_output=True, text=True)
        if not said.stdout:
            self.skipTest(f"nobody cannot run headway here: {said.stderr}")
        self.assertIn("CAP_SYS_PTRACE", json.loads(said.stdout)["not_readable"])

    @unittest.skipUnless(os.geteuid() == 0, "a namespace of process numbers needs root")
    def test_a_process_with_other_numbers_inside_is_read(self):
        process, ready = self.waiting("unshare", "--pid", "--fork", "--kill-child", "--mount-proc")
        if not ready:
            self.skipTest("no namespace can be made here")
        with open(f"/proc/{process.pid}/task/{process.pid}/children") as children:
            inside = int(children.read().split()[0])
        said = json.loads(self.headway("attach", inside, "--stacks").stdout)
        self.assertEqual(said["threads"][0]["tid"], inside)
        self.assertEqual(said["threads"][0]["frames"][0]["function"], "wait_here")

    def test_no_such_process(self):
        self.assertIn("no process", self.fails("attach", 2 ** 22 - 1))


if __name__ == "__main__":
    unittest.main()
