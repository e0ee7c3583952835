"""What a case of the proving ground needs around it: a cgroup, a slow or full disk, neighbours."""

import os
import subprocess
import sys
import time
from pathlib import Path

SLOW_DISK = {"small-files": (2000, 0), "slow-records": (0, 12000)}  # us per open, per read


class Refused(Exception):
    """This machine does not let us make the trouble."""


class Cgroup:
    """A group with one limit, version 2 or 1."""

    def __init__(self, controller, file_v2, value_v2, file_v1, value_v1):
        name = f"headway-score-{os.getpid()}-{controller}"
        self.folder = None
        for parent, file, value in ((Path("/sys/fs/cgroup"), file_v2, value_v2),
                                    (Path("/sys/fs/cgroup") / controller, file_v1, value_v1)):
            if not parent.is_dir():
                continue
            folder = parent / name
            try:
                folder.mkdir(exist_ok=True)
                if not (folder / file).exists():  # a plain folder, not a group
                    raise OSError
                (folder / file).write_text(value)
                self.folder = folder
                return
            except OSError:
                try:
                    folder.rmdir()
                except OSError:
                    pass
        raise Refused(f"no {controller} cgroup can be made here (read-only, or not root)")

    def enter(self):
        (self.folder / "cgroup.procs").write_text(str(os.getpid()))

    def close(self):
        for _ in range(50):
            try:
                return self.folder.rmdir()
            except OSError:
                time.sleep(0.1)


class SmallDisk:
    def __init__(self, folder):
        self.folder = Path(folder)
        self.folder.mkdir()
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(folder)],
                          capture_output=True).returncode:
            raise Refused("no tmpfs can be mounted here (not root?)")

    def close(self):
        subprocess.run(["umount", "-l", str(self.folder)], capture_output=True)


class Neighbours:
    def __init__(self, count):
        self.busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"])
                     for _ in range(count)]

    def close(self):
        for process in self.busy:
            process.kill()
            process.wait()


class Trouble:
    """What a case needs around it: an environment, a group to enter, things to take away again."""

    def __init__(self, case, folder, build):
        self.env = dict(os.environ)
        self.enter = None
        self.things = []
        need = case["needs"]
        if need == "cpu-quota":
            group = Cgroup("cpu", "cpu.max", "60000 100000", "cpu.cfs_quota_us", "60000")
            self.things.append(group)
            self.enter = group.enter
        elif need == "memory-limit":
            group = Cgroup("memory", "memory.max", "1000000000",
                           "memory.limit_in_bytes", "1000000000")
            self.things.append(group)
            self.enter = group.enter
        elif need == "slow-disk":
            opened, read = SLOW_DISK[case["name"]]
            self.env.update(LD_PRELOAD=str(build / "tests/proving/libslow_disk.so"),
                            SLOW_DISK_UNDER=str(folder / "images"),
                            SLOW_DISK_OPEN_US=str(opened), SLOW_DISK_READ_US=str(read))
        elif need == "small-disk":
            self.things.append(SmallDisk(folder / "small"))
        elif need == "neighbour":
            self.things.append(Neighbours(os.cpu_count()))

    def close(self):
        for thing in self.things:
            thing.close()
