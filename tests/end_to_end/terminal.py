"""A terminal with somebody at it: what he types and what he sees."""
import errno
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time

PATIENCE_S = 60


class Terminal:
    """A command in the foreground of a terminal of its own, as after login."""

    def __init__(self, command, **options):
        self.own, theirs = pty.openpty()
        self.resize(24, 80)
        self.process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
                                        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0), **options)
        self.modes = termios.tcgetattr(theirs)
        os.close(theirs)
        self.seen = b""

    def resize(self, rows, columns):
        fcntl.ioctl(self.own, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def type(self, text):
        os.write(self.own, text.encode())

    def read(self):
        """More of what is shown; False once nobody can write any more."""
        if not select.select([self.own], [], [], PATIENCE_S)[0]:
            raise TimeoutError(f"nothing came for {PATIENCE_S} s behind: {self.seen[-500:]}")
        try:
            more = os.read(self.own, 65536)
        except OSError as problem:
            if problem.errno != errno.EIO:
                raise
            return False
        self.seen += more
        return bool(more)

    def wait_for(self, pattern):
        """Reads until the pattern is shown; takes away what was shown so far, and gives the match."""
        while not (found := re.search(pattern, self.seen)):
            if not self.read():
                raise EOFError(f"{pattern} was not shown: {self.seen[-500:]}")
        self.seen = self.seen[found.end():]
        return found

    def read_to_end(self):
        while self.read():
            pass
        return self.seen.replace(b"\r\n", b"\n")

    def wait(self):
        return self.process.wait(PATIENCE_S)

    def hang_up(self):
        if self.own >= 0:
            os.close(self.own)
        self.own = -1

    def close(self):
        self.hang_up()
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


def wait_until(true, what):
    until = time.monotonic() + PATIENCE_S
    while not true():
        if time.monotonic() > until:
            raise TimeoutError(what)
        time.sleep(0.005)


def status_of(pid, field):
    """A field of /proc/PID/status, or None for one that is gone."""
    try:
        with open(f"/proc/{pid}/status") as status:
            return re.search(rf"^{field}:\s*(.*)$", status.read(), re.MULTILINE)[1]
    except (FileNotFoundError, ProcessLookupError):
        return None


def children(pid):
    try:
        with open(f"/proc/{pid}/task/{pid}/children") as listed:  # quick, where the kernel has it
            return [int(child) for child in listed.read().split()]
    except FileNotFoundError:
        pass
    return [int(entry) for entry in os.listdir("/proc")
            if entry.isdigit() and status_of(entry, "PPid") == str(pid)]


def watcher_of(relay):
    """The watcher's process number, or None."""
    for child in children(relay):
        if status_of(child, "Name") == "headway-watcher" and not (status_of(child, "State") or "Z").startswith("Z"):
            return child
    return None


def await_watcher(relay):
    wait_until(lambda: watcher_of(relay), "no watcher was started")
    return watcher_of(relay)


def kill(pid, number=signal.SIGKILL):
    try:
        os.kill(pid, number)
        return True
    except ProcessLookupError:
        return False
