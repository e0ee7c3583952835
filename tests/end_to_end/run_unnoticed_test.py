"""`headway run`: the command meets the terminal, the pipes and the signals it would meet without headway."""
import json
import os
import pathlib
import select
import signal
import subprocess
import sys
import termios
import time
import unittest

from terminal import PATIENCE_S, Terminal, children, status_of, wait_until
from verbs import HEADWAY, VerbTest


class Unnoticed(VerbTest):
    def command(self, text, *options):
        return [HEADWAY, "run", "--quiet", *options, "--", *self.python(text)]

    def terminal(self, command, **options):
        terminal = Terminal(command, cwd=self.folder, **options)
        self.addCleanup(terminal.close)
        return terminal

    def await_file(self, name):
        wait_until((self.folder / name).exists, f"{name} was not made")

    # Output

    ORDER = "import os\nfor i in range(1000):\n    os.write(1 + i % 2, b'%d\\n' % i)\n"

    def test_output_and_errors_that_go_to_one_place_keep_their_order(self):
        in_order = b"".join(b"%d\n" % i for i in range(1000))
        run = self.start(self.command(self.ORDER), stderr=subprocess.STDOUT)
        self.assertEqual(run.stdout.read(), in_order)
        self.assertEqual(self.terminal(self.command(self.ORDER)).read_to_end(), in_order)

    # Writes until it is held up; the file `written` grows as long as it is not.
    FLOOD = ("import os, signal, sys\n{}\nwith open('written', 'wb', 0) as written:\n"
             "    while True:\n        written.write(b'x' * os.write(1, b'y' * 1000))\n")

    def await_standstill(self):
        self.await_file("written")
        sizes = [-1]

        def stands():
            time.sleep(0.3)
            sizes.append((self.folder / "written").stat().st_size)
            return sizes[-1] == sizes[-2] > 60000
        wait_until(stands, "the command is not held up by a reader who does not read")

    def test_a_signal_reaches_a_command_whose_output_nobody_reads(self):
        handler = "signal.signal(signal.SIGTERM, lambda *_: os._exit(5))"
        run = self.start(self.command(self.FLOOD.format(handler)))
        self.await_standstill()
        run.send_signal(signal.SIGTERM)
        self.assertEqual(run.wait(PATIENCE_S), 5)

    def test_output_that_nobody_reads_does_not_hold_up_the_errors(self):
        run = self.start(self.command(
            "import os, threading\nthreading.Thread(target=lambda: os.write(1, b'y' * 10000000), daemon=True).start()\n"
            "input()\nos.write(2, b'still here')\nos._exit(0)\n"), stdin=subprocess.PIPE, stderr=subprocess.PIPE)
        wait_until(lambda: select.select([run.stdout], [], [], 0)[0], "no output")
        time.sleep(0.3)
        run.stdin.write(b"\n"), run.stdin.flush()
        self.assertTrue(select.select([run.stderr], [], [], PATIENCE_S)[0])
        self.assertEqual(os.read(run.stderr.fileno(), 100), b"still here")

    def test_a_reader_that_goes_away_is_felt_by_the_command(self):
        for command in (["yes"], [HEADWAY, "run", "--quiet", "--", "yes"]):
            run = self.start(command)
            self.assertEqual(run.stdout.readline(), b"y\n")
            run.stdout.close()
            status = run.wait(PATIENCE_S)
            self.assertEqual(128 - status if status < 0 else status, 128 + signal.SIGPIPE)

    def test_a_terminal_that_goes_away_is_felt_by_the_command(self):
        run = self.terminal(self.command("import os, pathlib, signal, time\n"
                                         "signal.signal(signal.SIGHUP, signal.SIG_IGN)\n"
                                         "print('ready', flush=True)\ntry:\n    while True:\n"
                                         "        os.write(1, b'y')\n        time.sleep(0.01)\n"
                                         "except OSError as e:\n    pathlib.Path('felt').write_text(e.strerror)\n"))
        run.wait_for(b"ready")
        run.hang_up()
        self.assertEqual(run.wait(), 0)
        self.assertEqual((self.folder / "felt").read_text(), "Input/output error")

    def test_a_slow_reader_gets_all_before_the_end_is_told(self):
        run = self.start(self.command("import os\nopen('pid', 'w').write(str(os.getpid()))\nprint('y' * 150000)\n"
                                      "raise SystemExit(4)\n"))
        wait_until(lambda: select.select([run.stdout], [], [], 0)[0], "no output")
        pid = (self.folder / "pid").read_text()
        wait_until(lambda: status_of(pid, "State").startswith("Z"), "it did not end")
        self.assertIsNone(run.poll(), "its end was told while there was something to read")
        self.assertEqual(len(run.stdout.read()), 150001)
        self.assertEqual(run.wait(PATIENCE_S), 4)

    def test_a_full_disk_is_said(self):
        with open("/dev/full", "wb") as full:
            run = self.start([HEADWAY, "run", "--", "yes"], stdout=full, stderr=subprocess.PIPE)
            self.assertEqual(run.wait(PATIENCE_S), 128 + signal.SIGPIPE)
        self.assertIn(b"standard output is lost from here on: No space left on device", run.stderr.read())

    # What the command leaves behind

    def leave_daemon(self):
        (self.folder / "leave.sh").write_text(
            "(while [ ! -e go ]; do sleep 0.05; done; echo later; echo again; touch alive) &\necho now\nexit 3\n")
        return [HEADWAY, "run", "--quiet", "--", "sh", "leave.sh"]

    def test_a_daemon_left_behind_goes_on_printing_into_a_pipe(self):
        run = self.start(self.leave_daemon())
        self.assertEqual(run.wait(PATIENCE_S), 3)
        (self.folder / "go").touch()
        self.assertEqual(run.stdout.read(), b"now\nlater\nagain\n")
        self.await_file("alive")

    def test_a_daemon_left_behind_goes_on_printing_to_a_terminal(self):
        shell = self.terminal(["bash", "--norc", "--noprofile", "-i"])
        shell.type(" ".join(map(str, self.leave_daemon())) + "; echo status=$?\n")
        shell.wait_for(rb"now\r\n[^$]*status=3\r\n")
        (self.folder / "go").touch()
        shell.wait_for(rb"later\r\nagain\r\n")
        self.await_file("alive")

    def test_a_daemon_that_never_stops_printing_does_not_delay_the_end(self):
        run = self.start([HEADWAY, "run", "--quiet", "--", "sh", "-c", "yes & echo $! >pid; exit 3"],
                         stdout=subprocess.DEVNULL)
        self.assertEqual(run.wait(PATIENCE_S), 3)
        os.kill(int((self.folder / "pid").read_text()), signal.SIGKILL)

    # Signals and the terminal

    def test_the_window_has_its_new_size_when_the_command_is_told(self):
        run = self.terminal(self.command(
            "import os, signal, time\nsignal.signal(signal.SIGWINCH, lambda *_: print('%dx%d' % os.get_terminal_size(1)))\n"
            "print('ready', flush=True)\nwhile True:\n    time.sleep(0.01)\n"))  # pause() may miss one that comes just before
        run.wait_for(b"ready")
        for rows in range(30, 60):
            run.resize(rows, 100 + rows)
            run.wait_for(b"%dx%d\r\n" % (100 + rows, rows))

    def test_ctrl_c_interrupts_once_and_what_was_seen_is_kept(self):
        run = self.terminal([HEADWAY, "run", "--json-out", "out.json", "--trace", "trace", "--", *self.python(
            "import time\ntry:\n    print('ready', flush=True)\n    time.sleep(60)\nexcept KeyboardInterrupt:\n"
            "    time.sleep(0.3)\n    raise SystemExit(6)\n")])
        run.wait_for(b"ready")
        run.type("\x03")
        self.assertEqual(run.wait(), 6)
        self.assertNotEqual(json.loads((self.folder / "out.json").read_text())["verdict"], "crashed")
        self.assertTrue((self.folder / "trace").stat().st_size)

    def test_ctrl_z_stops_the_job_and_fg_continues_it(self):
        command = self.command("import os\nprint('pid=%d.' % os.getpid(), flush=True)\nprint('got', input())\n",
                               "--json-out", "out.json")
        shell = self.terminal(["bash", "--norc", "--noprofile", "-i"])
        began = time.monotonic()
        shell.type(" ".join(map(str, command)) + "; echo status=$?\n")
        pid = int(shell.wait_for(rb"pid=(\d+)\.")[1])
        wait_until((self.folder / "out.json").exists, "nothing was judged")
        shell.type("\x1a")
        shell.wait_for(b"Stopped")
        wait_until(lambda: status_of(pid, "State").startswith("T"), "it was not stopped")
        stopped_s = 3.5
        time.sleep(stopped_s)
        shell.type("fg\n")
        wait_until(lambda: status_of(pid, "State").startswith("S"), "it was not continued")
        shell.type("hello\n")
        shell.wait_for(b"got hello")
        wait_until(lambda: status_of(pid, "State") is None, "it did not end")
        watched_s = json.loads((self.folder / "out.json").read_text())["watched_s"]
        self.assertLess(watched_s, time.monotonic() - began - stopped_s / 2, "the time it stood still was counted")

    def test_a_stop_sent_to_headway_alone_stops_the_command(self):
        # A group of its own, below ours: the kernel stops nobody in a group that no shell looks after.
        run = self.start(self.command("import os, sys\nprint(os.getpid(), flush=True)\nsys.stdin.read()\n"), stdin=subprocess.PIPE,
                         process_group=0)
        pid = int(run.stdout.readline())
        for number, state in ((signal.SIGTSTP, "T"), (signal.SIGCONT, "S")):
            run.send_signal(number)
            for each in (pid, run.pid):
                wait_until(lambda: status_of(each, "State").startswith(state), f"{each} is not in state {state}")
        run.stdin.close()

    def test_a_terminal_that_hangs_up_ends_the_command(self):
        run = self.terminal(self.command("import os, time\nprint('pid=%d.' % os.getpid(), flush=True)\ntime.sleep(60)\n"))
        pid = int(run.wait_for(rb"pid=(\d+)\.")[1])
        run.hang_up()
        self.assertEqual(run.wait(), 128 + signal.SIGHUP)
        self.assertIsNone(status_of(pid, "State"))

    def test_signals_that_are_ignored_stay_ignored(self):
        ask = ("import signal\nprint([signal.getsignal(s) == signal.SIG_IGN for s in "
               "(signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGUSR1)])\n")

        def ignore():
            for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
                signal.signal(number, signal.SIG_IGN)
        run = self.start(self.command(ask), preexec_fn=ignore)
        self.assertEqual(run.stdout.read(), b"[True, True, True, False, False]\n")

    def test_a_debugger_has_its_prompt_and_the_terminal_its_modes(self):
        run = self.terminal(self.command("x = 41\nbreakpoint()\nprint('x is', x)\n"))
        run.wait_for(rb"\(Pdb\) ")
        run.type("x = x + 1\n")
        run.wait_for(rb"\(Pdb\) ")
        run.type("c\n")
        run.wait_for(b"x is 42")
        modes = termios.tcgetattr(run.own)
        self.assertEqual(run.wait(), 0)
        self.assertEqual(modes, run.modes)

    # Files

    def test_the_command_has_the_files_it_was_given_and_no_others(self):
        listing = ("import os, sys\nprint(sorted(fd for fd in map(int, os.listdir('/proc/self/fd')) "
                   "if os.path.exists('/proc/self/fd/%d' % fd)), flush=True)\nos.close({0})\nsys.stdin.read()\n")
        given, lock = os.pipe()
        self.addCleanup(os.close, given)
        run = self.start(self.command(listing.format(lock)), pass_fds=[lock], stdin=subprocess.PIPE)
        os.close(lock)
        self.assertEqual(run.stdout.readline().decode(), f"{[0, 1, 2, lock]}\n")
        self.assertTrue(select.select([given], [], [], PATIENCE_S)[0], "headway holds a file that the command let go")
        self.assertEqual(os.read(given, 1), b"")
        run.stdin.close()

    def test_standard_output_that_the_command_lets_go_is_let_go(self):
        run = self.start(self.command("import os, sys\nos.write(1, b'all')\nos.close(1)\nsys.stdin.read()\n"), stdin=subprocess.PIPE)
        self.assertEqual(run.stdout.read(), b"all")  # to its end
        self.assertIsNone(run.poll())
        run.stdin.close()

    def test_standard_output_that_is_closed_stays_closed(self):
        command = self.command("import os, sys\ntry:\n    os.fstat(1)\nexcept OSError:\n    sys.exit(9)\n")
        run = self.start(command, stdout=None, preexec_fn=lambda: os.close(1))
        self.assertEqual(run.wait(PATIENCE_S), 9)

    def test_nobody_is_left_behind(self):
        run = self.start(self.command("import os, sys\nprint(os.getpid(), flush=True)\nsys.stdin.read()\n"), stdin=subprocess.PIPE)
        run.stdout.readline()
        ours = children(run.pid)
        self.assertEqual(len(ours), 3, "two copiers and a watcher")
        run.stdin.write(b"\n"), run.stdin.close()
        self.assertEqual(run.wait(PATIENCE_S), 0)
        wait_until(lambda: not any(pathlib.Path(f"/proc/{pid}").exists() for pid in ours), "somebody stays")


if __name__ == "__main__":
    unittest.main()
