import json
import os
import pathlib
import subprocess
import sys
import time
import unittest

from verbs import HEADWAY, VerbTest

NOBODY = 65534
NOT_WATCHED, ENDED = 4, 5
as_root = unittest.skipUnless(os.geteuid() == 0, "only root can become somebody else")


# Poses as Python 3.13; the address of its first interpreter lies in memory that nobody fills in.
MUTE = r"""
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
char _PyRuntime[4096] = {1};
int main(void) {
  char* mute = mmap(0, 16384, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  int fd = syscall(SYS_userfaultfd, O_CLOEXEC);
  struct uffdio_api api = {.api = UFFD_API};
  struct uffdio_register range = {{(uintptr_t)mute, 16384}, UFFDIO_REGISTER_MODE_MISSING, 0};
  if (fd < 0 || ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &range)) return 1;
  uint64_t version = 0x030d0000;
  memcpy(_PyRuntime, "xdebugpy", 8);
  memcpy(_PyRuntime + 8, &version, 8);
  memcpy(_PyRuntime + 632, &mute, 8);
  puts("ready");
  fflush(stdout);
  pause();
}
"""


class Attach(VerbTest):
    def setUp(self):
        super().setUp()
        self.folder.chmod(0o755)

    def start(self, text, *before, python=sys.executable):
        """A Python program that says "ready" first; behind another command if one is given."""
        file = self.folder / "train.py"
        file.write_text(text)
        process = subprocess.Popen([*before, python, "-u", str(file)], cwd=self.folder, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        if process.stdout.readline() != "ready\n":
            self.skipTest(f"{before} {python} cannot be started here")
        return process

    def start_as_nobody(self, text):
        return self.start(text, "setpriv", "--reuid", str(NOBODY), "--regid", str(NOBODY), "--clear-groups",
                          python="/usr/bin/python3")

    # ---- what it watches

    def test_the_end_of_a_process_is_noticed_and_said(self):
        process = self.start("import time\nprint('ready')\nstep = 0\nfor step in range(30): time.sleep(0.1)\n")
        done = self.headway("attach", process.pid, "--seconds", 50, "--json", status=ENDED)
        said = json.loads(done.stdout)
        self.assertEqual(said["verdict"], "ended")
        self.assertIn("gone after", said["sentence"])
        self.assertLess(said["watched_s"], 40)

    def test_how_a_process_was_killed_is_said_while_its_parent_has_not_asked(self):
        process = self.start("import os, time\nprint('ready')\ntime.sleep(2)\nos.kill(os.getpid(), 9)\n")
        said = json.loads(self.headway("attach", process.pid, "--seconds", 50, "--json", status=3).stdout)
        self.assertEqual(said["verdict"], "crashed")
        self.assertIn("killed by signal 9", said["sentence"])

    @as_root
    def test_another_process_with_the_same_number_is_another_one(self):
        (self.folder / "inside.py").write_text(
            "import os, subprocess, sys, time\n"
            "wait = [sys.executable, '-c', 'import time; time.sleep(60)']\n"
            "first = subprocess.Popen(wait)\n"
            "headway = subprocess.Popen([sys.argv[1], 'attach', str(first.pid), '--seconds', '40', '--json'])\n"
            "time.sleep(2)\n"
            "first.kill(), first.wait()\n"
            "open('/proc/sys/kernel/ns_last_pid', 'w').write(str(first.pid - 1))\n"
            "second = subprocess.Popen(wait)\n"
            "if second.pid != first.pid: sys.exit(77)\n"
            "status = headway.wait()\n"
            "second.kill()\n"
            "sys.exit(status)\n")
        done = subprocess.run(["unshare", "--pid", "--fork", "--kill-child", "--mount-proc", sys.executable, "inside.py",
                               os.path.abspath(HEADWAY)], cwd=self.folder, capture_output=True, text=True, timeout=60)
        if done.returncode in (1, 77):
            self.skipTest(f"process numbers cannot be chosen here: {done.stderr}")
        self.assertEqual(done.returncode, ENDED, done.stdout + done.stderr)
        self.assertEqual(json.loads(done.stdout)["verdict"], "ended")

    # ---- what it cannot watch

    def not_watched(self, pid, *before):
        done = subprocess.run([*before, HEADWAY, "attach", str(pid), "--once", "--json"], cwd=self.folder,
                              capture_output=True, text=True, timeout=60)
        if before and not done.stdout:
            self.skipTest(f"{before[0]}: headway cannot be run so here: {done.stderr}")
        self.assertEqual(done.returncode, NOT_WATCHED, done.stdout + done.stderr)
        said = json.loads(done.stdout)
        self.assertEqual(said["verdict"], "not-watched")
        self.assertEqual(said["findings"], [])
        return said["sentence"]

    def test_a_zombie_is_not_watched(self):
        process = self.start("import os, time\npid = os.fork()\nif pid == 0: os._exit(0)\n"
                             "time.sleep(0.3)\nprint('ready')\nprint(pid)\ntime.sleep(60)\n")
        zombie = int(process.stdout.readline())
        self.assertIn("has ended", self.not_watched(zombie))
        self.assertIn("has ended", self.fails("attach", zombie, "--stacks", status=NOT_WATCHED))

    def test_a_thread_of_the_kernel_is_not_watched(self):
        try:
            flags = int(pathlib.Path("/proc/2/stat").read_text().rpartition(")")[2].split()[6])
        except OSError:
            flags = 0
        if not flags & 0x00200000:
            self.skipTest("no thread of the kernel is to be seen here")
        self.assertIn("thread of the kernel", self.not_watched(2))

    @as_root
    def test_a_process_that_may_not_be_read_is_not_watched(self):
        process = self.start("import time\nprint('ready')\ntime.sleep(60)\n")
        said = self.not_watched(process.pid, "setpriv", "--reuid", str(NOBODY), "--clear-groups")
        self.assertIn("CAP_SYS_PTRACE", said)

    def test_a_process_without_python_is_not_watched(self):
        process = subprocess.Popen(["sleep", "60"])
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.assertIn("the process does not run Python", self.not_watched(process.pid))

    def test_the_statuses_are_in_the_help(self):
        self.assertIn("4  not watched", self.headway("attach", "--help").stdout)

    @as_root
    def test_memory_that_never_answers_does_not_hold_it(self):
        (self.folder / "mute.c").write_text(MUTE)
        if subprocess.run(["cc", "-o", "mute", "mute.c"], cwd=self.folder).returncode != 0:
            self.skipTest("no C compiler")
        process = subprocess.Popen([self.folder / "mute"], stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        if process.stdout.readline() != "ready\n":
            self.skipTest("no userfaultfd here")
        for how in (["--stacks"], ["--seconds", "2"]):
            said = self.fails("attach", process.pid, *how, status=NOT_WATCHED)
            self.assertIn("has not answered", said)

    # ---- files that it is told to read

    def watch_code_of(self, file, start=None, **options):
        """The trace of a process whose code claims to stand in the first lines of `file`."""
        process = (start or self.start)("import time\nprint('ready')\n"
                                        f"exec(compile('time.sleep(60)', {str(file)!r}, 'exec'))\n")
        done = subprocess.run([HEADWAY, "attach", str(process.pid), "--seconds", "2", "--trace", "out.trace", "--json"],
                              cwd=self.folder, capture_output=True, text=True, timeout=30, **options)
        self.assertIn(done.returncode, (0, 3), done.stderr)
        trace = (self.folder / "out.trace").read_text()
        self.assertIn(str(file), trace)
        return trace

    def test_the_users_own_source_is_shown(self):
        own = self.folder / "own.py"
        own.write_text("wait_for_the_marker()\n")
        self.assertIn("wait_for_the_marker", self.watch_code_of(own))

    def test_a_fifo_does_not_hold_it(self):
        os.mkfifo(self.folder / "fifo.py")
        self.watch_code_of(self.folder / "fifo.py")

    def test_a_device_without_end_does_not_hold_it(self):
        self.watch_code_of("/dev/zero")

    def test_its_own_input_is_left_alone(self):
        ours, theirs = os.pipe()
        os.write(theirs, b"typed by the user\n")
        trace = self.watch_code_of("/dev/stdin", stdin=ours)
        os.close(theirs)
        self.assertNotIn("typed by the user", trace)
        self.assertEqual(os.read(ours, 100), b"typed by the user\n")
        os.close(ours)

    def test_its_own_environment_is_not_shown(self):
        trace = self.watch_code_of("/proc/self/environ", env={**os.environ, "A": "marker-of-ours"})
        self.assertNotIn("marker-of-ours", trace)

    @as_root
    def test_what_the_targets_user_may_not_read_is_not_shown(self):
        secret = self.folder / "secret"
        secret.write_text("root:the-marker\n")
        secret.chmod(0o600)
        link = self.folder / "link.py"
        link.symlink_to(secret)
        for file in (secret, link):
            self.assertNotIn("the-marker", self.watch_code_of(file, start=self.start_as_nobody))
        shadow = pathlib.Path("/etc/shadow").read_text().splitlines()[0]
        self.assertNotIn(shadow, self.watch_code_of("/etc/shadow", start=self.start_as_nobody))

    @as_root
    def test_what_the_targets_user_wrote_is_shown_to_root(self):
        own = self.folder / "own.py"
        own.write_text("wait_for_the_marker()\n")
        os.chown(own, NOBODY, NOBODY)
        own.chmod(0o600)
        self.assertIn("wait_for_the_marker", self.watch_code_of(own, start=self.start_as_nobody))

    # ---- very many threads

    def test_of_a_thousand_threads_the_main_one_is_first_and_all_have_their_turn(self):
        process = self.start("import threading, time\n"
                             "threading.stack_size(256 * 1024)\n"
                             "def one_of_many(): time.sleep(60)\n"
                             "def the_main_one(): time.sleep(60)\n"
                             "for _ in range(1000): threading.Thread(target=one_of_many, daemon=True).start()\n"
                             "print('ready')\nthe_main_one()\n")
        time.sleep(0.2)
        seen = set()
        for line in self.headway("attach", process.pid, "--stacks", "--count", 6).stdout.splitlines():
            look = json.loads(line)
            self.assertEqual(look["threads_in_all"], 1001)
            self.assertLessEqual(len(look["threads"]), 512)
            self.assertEqual(look["threads"][0]["tid"], process.pid)
            self.assertEqual(look["threads"][0]["frames"][0]["function"], "the_main_one")
            seen |= {thread["tid"] for thread in look["threads"]}
        self.assertEqual(len(seen), 1001)
        said = self.headway("attach", process.pid, "--seconds", 3, "--trace", "out.trace").stdout
        self.assertIn("1001 Python threads: each look reads 512 of them", said)
        self.assertIn('"python_threads":1001', (self.folder / "out.trace").read_text())

    def test_native_stacks_of_threads_that_wait_are_shown(self):
        process = self.start("import threading, time\nlock = threading.Lock()\nlock.acquire()\n"
                             "threading.Thread(target=lock.acquire, daemon=True).start()\nprint('ready')\n"
                             "time.sleep(60)\n")
        time.sleep(0.3)
        threads = json.loads(self.headway("attach", process.pid, "--stacks", "--native").stdout)["threads"]
        self.assertEqual([thread["tid"] for thread in threads][0], process.pid)
        self.assertEqual(len(threads), 2)
        for thread in threads:
            self.assertFalse(thread["running"])
            functions = [frame["function"] for frame in thread["frames"]]
            self.assertIn("_PyEval_EvalFrameDefault", functions)
            self.assertTrue(thread["frames"][0]["library"].startswith("libc"), functions)


if __name__ == "__main__":
    unittest.main()
