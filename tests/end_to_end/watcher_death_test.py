"""`headway run`: whatever happens to the watcher, the training and its output go on.

`watcher_death_test.py --kills 50` kills it that often on a pipe and that often on a terminal; 10 if not said.
"""
import hashlib
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
import unittest

from terminal import PATIENCE_S, Terminal, await_watcher, kill, status_of, wait_until, watcher_of
from verbs import HEADWAY, VerbTest

KILLS = 10
LINES = 1500
STATUS = 7

# Lines of every length, now and then a pause, buffered and flushed, on both ways out.
TRAINING = f"""
import sys, time
for step in range({LINES}):
    print('step', step, 'loss', 1 / (step + 1), 'x' * (step * 37 % 301), flush=step % 7 == 0)
    if step % 5 == 0:
        sys.stderr.write('note %d\\n' % step)
    if step % 50 == 0:
        sys.stdout.flush()
        time.sleep(0.015)
sys.stdout.flush()
sys.exit({STATUS})
"""
REPORT = re.compile(rb"\n--- headway\n.*?\n---\n", re.DOTALL)
OUR_LINE = re.compile(rb"headway: watching has ended[^\n]*\n")


def checksum(output):
    return hashlib.sha256(output).hexdigest()


class WatcherDeath(VerbTest):
    def watched(self, text, *options, **streams):
        return self.start([HEADWAY, "run", *options, "--", *self.python(text)],
                          **{"stderr": subprocess.PIPE, **streams})

    def moments(self, lasts_s):
        """From the very first to shortly before the end, and some behind it."""
        chance = random.Random()
        return [0] + sorted(chance.uniform(0, lasts_s) for _ in range(KILLS - 1))

    def unwatched(self, **streams):
        began = time.monotonic()
        done = subprocess.run(self.python(TRAINING), cwd=self.folder, **streams)
        self.assertEqual(done.returncode, STATUS)
        return done, time.monotonic() - began

    def kill_after(self, relay, moment_s):
        """Kills the watcher some time after it is there; False if it had ended before."""
        while (watcher := watcher_of(relay.pid)) is None:
            if relay.poll() is not None:
                return False
        time.sleep(moment_s)
        return kill(watcher)

    def test_killed_at_any_moment_on_a_pipe(self):
        expected, lasts_s = self.unwatched(capture_output=True)
        killed = 0
        for moment_s in self.moments(lasts_s):
            with self.subTest(moment_s=moment_s):
                with open(self.folder / "errors", "wb") as errors:  # so that both are read at once
                    run = self.watched(TRAINING, stderr=errors)
                    killed += self.kill_after(run, moment_s)
                    out = run.stdout.read()
                self.assertEqual(run.wait(PATIENCE_S), STATUS)
                said = (self.folder / "errors").read_bytes()
                self.assertEqual(checksum(out), checksum(expected.stdout))
                self.assertLessEqual(len(OUR_LINE.findall(said)), 1)
                self.assertEqual(OUR_LINE.sub(b"", REPORT.sub(b"", said)), expected.stderr)
        print(f"pipe: {killed} of {KILLS} watchers were killed before they ended", file=sys.stderr)
        self.assertGreater(killed, KILLS // 2)

    def test_killed_at_any_moment_on_a_terminal(self):
        plain = Terminal(self.python(TRAINING), cwd=self.folder)
        self.addCleanup(plain.close)
        began = time.monotonic()
        expected = plain.read_to_end()
        lasts_s = time.monotonic() - began
        killed = 0
        for moment_s in self.moments(lasts_s):
            with self.subTest(moment_s=moment_s):
                run = Terminal([HEADWAY, "run", "--quiet", "--", *self.python(TRAINING)], cwd=self.folder)
                self.addCleanup(run.close)
                killed += self.kill_after(run.process, moment_s)
                self.assertEqual(checksum(run.read_to_end()), checksum(expected))
                self.assertEqual(run.wait(), STATUS)
        print(f"terminal: {killed} of {KILLS} watchers were killed before they ended", file=sys.stderr)
        self.assertGreater(killed, KILLS // 2)

    def test_the_watcher_is_the_commands_parent_and_the_relays_child(self):
        run = self.watched("import os\nprint(os.getpid(), os.getppid(), flush=True)\ninput()\n", stdin=subprocess.PIPE)
        command, watcher = map(int, run.stdout.readline().split())
        self.assertEqual(status_of(watcher, "Name"), "headway-watcher")
        self.assertEqual(status_of(watcher, "PPid"), str(run.pid))
        kill(watcher)
        wait_until(lambda: status_of(command, "PPid") == str(run.pid), "the relay did not adopt the command")
        run.stdin.write(b"\n"), run.stdin.close()
        self.assertEqual(run.wait(PATIENCE_S), 0)

    @unittest.skipUnless(shutil.which("cc"), "no C compiler to build a fault with")
    def test_one_that_dies_before_it_could_start_the_command_leaves_that_to_the_relay(self):
        (self.folder / "fault.c").write_text(
            "#include <signal.h>\n#include <stdarg.h>\n#include <string.h>\n#include <sys/syscall.h>\n"
            "#include <unistd.h>\n"
            "int prctl(int what, ...) {\n  va_list a;\n  va_start(a, what);\n"
            "  const unsigned long x = va_arg(a, unsigned long);\n"
            "  if (what == 15 && !strcmp((const char*)x, \"headway-watcher\")) kill(getpid(), SIGKILL);\n"
            "  return syscall(SYS_prctl, what, x, 0L, 0L, 0L);\n}\n")
        subprocess.run(["cc", "-shared", "-fPIC", "-o", "fault.so", "fault.c"], cwd=self.folder, check=True)
        run = self.watched("print('whole')\nraise SystemExit(4)\n",
                         env={**os.environ, "LD_PRELOAD": str(self.folder / "fault.so")})
        out, said = run.communicate(timeout=PATIENCE_S)
        self.assertEqual((run.returncode, out), (4, b"whole\n"))
        self.assertEqual(len(OUR_LINE.findall(said)), 1, said)

    def survives(self, harm):
        """What is said when `harm(watcher)` befalls a run that waits for its watcher to be gone."""
        run = self.watched("import os, threading, time\nwatcher = os.getppid()\nprint('ready', flush=True)\n"
                         "while os.getppid() == watcher:\n    time.sleep(0.01)\n"
                         "    threading.Thread(target=time.sleep, args=(10,), daemon=True).start()\n"
                         "print('x' * 500000)\nraise SystemExit(5)\n")
        self.assertEqual(run.stdout.readline(), b"ready\n")
        harm(await_watcher(run.pid))
        out, said = run.communicate(timeout=PATIENCE_S)
        self.assertEqual((run.returncode, len(out)), (5, 500001))
        said = REPORT.sub(b"", said)
        self.assertEqual(said.count(b"\n"), 1, said)
        return said.decode()

    def test_one_that_crashes_leaves_the_command_alone_and_it_is_said(self):
        self.assertIn("watching has ended: the watcher was killed by signal 11 (Segmentation fault); "
                      "the command goes on", self.survives(lambda watcher: kill(watcher, signal.SIGSEGV)))

    def test_one_without_memory_leaves_the_command_alone_and_it_is_said(self):
        self.assertIn("watching has ended", self.survives(
            lambda watcher: resource.prlimit(watcher, resource.RLIMIT_AS, (1 << 20, 1 << 20))))

    def test_one_that_does_not_read_holds_nobody_up_and_knows_what_it_missed(self):
        run = self.watched("import pathlib\nprint('ready', flush=True)\ninput()\nfor _ in range(500):\n"
                         "    print('y' * 9999)\nprint('over', flush=True)\npathlib.Path('done').touch()\n",
                         "--trace", "trace", stdin=subprocess.PIPE)
        self.assertEqual(run.stdout.readline(), b"ready\n")
        watcher = await_watcher(run.pid)
        kill(watcher, signal.SIGSTOP)
        run.stdin.write(b"\n"), run.stdin.close()
        self.assertEqual(sum(len(run.stdout.readline()) for _ in range(501)), 5_000_005)
        wait_until((self.folder / "done").exists, "the command was held up")
        kill(watcher, signal.SIGCONT)
        self.assertEqual(run.wait(PATIENCE_S), 0)
        self.assertIn('"bytes":5000011', (self.folder / "trace").read_text().replace(" ", ""))

    def test_one_that_is_asked_for_by_the_kernel_goes_before_the_training(self):
        run = self.watched("import os\nprint(open('/proc/self/oom_score_adj').read().strip(), flush=True)\ninput()\n",
                         stdin=subprocess.PIPE)
        with open("/proc/self/oom_score_adj") as own:
            self.assertEqual(run.stdout.readline().decode(), own.read())
        watcher = await_watcher(run.pid)

        def first():
            with open(f"/proc/{watcher}/oom_score_adj") as score:
                return score.read() == "1000\n"
        wait_until(first, "the watcher is no better a choice than the training")
        run.stdin.close()

    def test_a_killed_relay_leaves_the_command_and_its_output_alone(self):
        run = self.watched("import pathlib\nprint('ready', flush=True)\ninput()\nprint('still here', flush=True)\n"
                         "pathlib.Path('done').touch()\n", stdin=subprocess.PIPE)
        self.assertEqual(run.stdout.readline(), b"ready\n")
        run.kill()
        run.wait(PATIENCE_S)
        run.stdin.write(b"\n"), run.stdin.close()
        self.assertEqual(run.stdout.read(), b"still here\n")
        wait_until((self.folder / "done").exists, "the command died")


if __name__ == "__main__":
    if "--kills" in sys.argv:
        at = sys.argv.index("--kills")
        KILLS = int(sys.argv[at + 1])
        del sys.argv[at:at + 2]
    unittest.main()
