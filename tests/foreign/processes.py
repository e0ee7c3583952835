"""Process trees: every process that comes of a case is found again and ended, whatever it did in between."""
import ctypes
import os
import signal
import time

PR_SET_CHILD_SUBREAPER = 36


def adopt_orphans():
    """Grandchildren whose parent dies become our children, so that none escapes the cleaning up."""
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_CHILD_SUBREAPER)")


def children():
    """parent -> [child], for all processes."""
    found = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat") as stat:
                    parent = int(stat.read().rsplit(")", 1)[1].split()[1])
            except OSError:
                continue
            found.setdefault(parent, []).append(int(entry))
    return found


def descendants(pid):
    tree, found = children(), []
    waiting = list(tree.get(pid, []))
    while waiting:
        child = waiting.pop()
        found.append(child)
        waiting += tree.get(child, [])
    return found


def end_all_but(spared):
    """Ends every descendant of this process except those of `spared`, and buries them."""
    for _ in range(50):
        others = [pid for pid in descendants(os.getpid()) if pid not in spared]
        if not others:
            return
        for pid in others:
            try:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, os.WNOHANG)
            except (ProcessLookupError, ChildProcessError):
                pass
        time.sleep(0.1)
    raise RuntimeError(f"processes {others} do not end")


def cpu_seconds(pid):
    """User and system time of one process, without its children."""
    with open(f"/proc/{pid}/stat") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
