"""Who watches, and whom: root, an ordinary user, or an ordinary user to whom a seccomp filter refuses perf_event_open.

An ordinary user's program and watcher run as NUMBER, which no account has, with a temporary folder of their own: files
that root's runs left behind cannot be written by anybody else.
"""
import dataclasses
import os
import pathlib
import subprocess
import tempfile

import mechanisms
import program as programs

NUMBER = 64_321


@dataclasses.dataclass(frozen=True)
class Who:
    name: str
    ordinary: bool
    may_sample: bool

    def prefix(self):
        """Before every command that is run as this one."""
        if not self.ordinary:
            return []
        filtered = [] if self.may_sample else ["/usr/bin/python3", "-B", str(programs.HERE / "without_perf.py")]
        return ["setpriv", f"--reuid={NUMBER}", f"--regid={NUMBER}", "--clear-groups", "--no-new-privs", *filtered]

    def environment(self):
        if not self.ordinary:
            return {}
        folder = pathlib.Path(tempfile.gettempdir()) / f"foreign-user-{NUMBER}"
        folder.mkdir(mode=0o700, exist_ok=True)
        self.own(folder)
        return {"TMPDIR": str(folder), "HOME": str(folder)}

    def own(self, *paths):
        if self.ordinary:
            for path in paths:
                os.chown(path, NUMBER, NUMBER)

    def check(self, case, *commands):
        """Raises Refused where this one cannot do it."""
        if not self.ordinary:
            return
        if os.geteuid() != 0:
            raise mechanisms.Refused("only root can become another user")
        if case.setup:
            raise mechanisms.Refused(f"an ordinary user cannot make a {case.setup[0]}")
        for command in commands:
            tried = subprocess.run([*self.prefix(), "test", "-x", command], capture_output=True, text=True)
            if tried.returncode != 0:
                raise mechanisms.Refused(f"an ordinary user cannot run {command}; HEADWAY_CACHE and the checkout must lie "
                                         "where all may read")


ROOT = Who("root", ordinary=False, may_sample=True)
ALL = {who.name: who for who in (ROOT, Who("user", ordinary=True, may_sample=True),
                                 Who("user-without-perf", ordinary=True, may_sample=False))}
