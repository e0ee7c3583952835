"""Trouble that a program cannot make for itself: a small /dev/shm, a CPU quota, a slow disk, a busy neighbour.

Each is a context manager that gives a prefix for the command line. What the machine does not allow raises Refused.
"""
import contextlib
import os
import pathlib
import subprocess
import sys
import tempfile

CGROUPS = pathlib.Path("/sys/fs/cgroup")


class Refused(Exception):
    """This machine does not let us; the case is skipped by name."""


@contextlib.contextmanager
def small_shm(megabytes):
    script = f'mount -t tmpfs -o size={megabytes}m tmpfs /dev/shm && exec "$@"'
    prefix = ["unshare", "-m", "sh", "-c", script, "sh"]
    tried = subprocess.run([*prefix, "true"], capture_output=True, text=True)
    if tried.returncode != 0:
        raise Refused(f"no mount namespace with a small /dev/shm: {tried.stderr.strip()}")
    yield prefix


@contextlib.contextmanager
def cgroup(controller, version_1, version_2):
    """A group with one setting, as (file, value); the prefix moves the process into it before it becomes the program."""
    name = f"headway-foreign-{os.getpid()}"
    for parent, (file, value) in ((CGROUPS / controller, version_1), (CGROUPS, version_2)):
        group = parent / name
        try:
            group.mkdir()
        except OSError:
            continue
        # In a plain folder any file can be written; in a group only those that are there.
        try:
            if not (group / file).exists():
                raise FileNotFoundError(group / file)
            (group / file).write_text(value)
        except OSError:
            group.rmdir()
            continue
        try:
            yield ["sh", "-c", f'echo $$ > {group}/cgroup.procs && exec "$@"', "sh"]
        finally:
            group.rmdir()
        return
    raise Refused(f"no {controller} cgroup can be made (read-only, or not root)")


def cpu_quota(percent):
    return cgroup("cpu", ("cpu.cfs_quota_us", str(percent * 1000)), ("cpu.max", f"{percent * 1000} 100000"))


def disk_limit(megabytes_per_second):
    device = os.stat(tempfile.gettempdir()).st_dev
    block = pathlib.Path(f"/sys/dev/block/{os.major(device)}:{os.minor(device)}")
    if not block.exists():
        raise Refused("the temporary folder is on no block device")
    whole = block.resolve().parent if (block / "partition").exists() else block
    number = (whole / "dev").read_text().strip()
    rate = megabytes_per_second << 20
    return cgroup("blkio", ("blkio.throttle.read_bps_device", f"{number} {rate}"), ("io.max", f"{number} rbps={rate}"))


@contextlib.contextmanager
def neighbour(count):
    """Busy loops that have nothing to do with the program."""
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield []
    finally:
        for other in others:
            other.kill()
            other.wait()


MECHANISMS = {"small-shm": small_shm, "cpu-quota": cpu_quota, "disk-limit": disk_limit, "neighbour": neighbour}


def mechanism(setup):
    return MECHANISMS[setup[0]](setup[1]) if setup else contextlib.nullcontext([])
