#!/usr/bin/env python3
"""Do the stacks that headway reads agree with py-spy's, and does it ever read one that cannot be?

Two readers of a running program never look at the same moment. So it is asked in two ways, for every Python found:

frozen   The target (busy threads, or the adversary of stack_targets.py) runs for some milliseconds and is stopped by
         SIGSTOP at a moment of chance. Nothing moves now: py-spy and headway must read the same frames with the same
         lines, of every thread. One stop is one sample. At least 99% have to agree. Generators of 3.10 begin with
         an instruction that has no line, and py-spy counts wrongly behind it (a generator that sleeps in a line of a
         longer call shows it): there, where only lines differ, the Python itself is asked which line the instruction
         has. Such samples count, and are shown apart.
running  Only headway reads, while the target runs at full speed. Every frame must be a line that exists in its function,
         below a line that calls it, down to the thread's first frame. What is not so was torn. At most 0.5%, and the
         target must be alive afterwards. Stacks that headway itself calls incomplete are counted apart.

    stack_agreement.py [--samples 1000] [--headway PROGRAM] [--only 3.13] [--json FILE]

Pythons: this system's, those of pyenv, those of scripts/pythons_setup.sh. Exit status 0 only if all hold.
"""
import argparse
import glob
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import stack_check

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
AGREE, TORN = 0.99, 0.005


def pythons(work):
    """(label, command, folder outside, folder inside): how to start each, and where it finds the target."""
    found = []
    for path in ["/usr/bin/python3", *sorted(glob.glob(os.path.expanduser("~/.pyenv/versions/3.*/bin/python3")))]:
        if os.access(path, os.X_OK) and not re.search(r"/3\.[4-7]\.", path):  # older than what is promised
            found.append((path, [path], work, work))
    listed = subprocess.run([ROOT / "scripts/pythons_setup.sh", "--where"], capture_output=True, text=True).stdout
    for line in listed.splitlines():
        version, root = line.split()
        found.append((f"{root} {version}", ["chroot", root, f"/usr/bin/python{version}"], pathlib.Path(root, "tmp"),
                      pathlib.Path("/tmp")))
    return found


def version_of(command):
    code = "import sys; print('%d.%d.%d' % sys.version_info[:3])"
    return subprocess.run([*command, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


ASK_LINES = """
import dis, json, sys
found = {}
def collect(code):
    starts = list(dis.findlinestarts(code))
    table = list(code.co_lines()) if hasattr(code, "co_lines") else \\
        [(a, b, line) for (a, line), (b, _) in zip(starts, starts[1:] + [(len(code.co_code), 0)])]
    found.setdefault(code.co_name, []).append([code.co_firstlineno, table])
    for inner in code.co_consts:
        if hasattr(inner, "co_code"):
            collect(inner)
collect(compile(open(sys.argv[1]).read(), sys.argv[1], "exec"))
print(json.dumps(found))
"""


class Arbiter:
    """Which line an instruction of the target has, by the word of the Python that compiled it."""

    def __init__(self, python):
        _, command, outside, inside = python
        shutil.copy(HERE / "stack_targets.py", outside)
        said = subprocess.run([*command, "-c", ASK_LINES, str(inside / "stack_targets.py")], capture_output=True,
                              text=True, check=True)
        self.tables = json.loads(said.stdout)

    def line(self, function, offset):
        """None where two functions have that name, or none has."""
        tables = self.tables.get(function, [])
        if len(tables) != 1:
            return None
        first, table = tables[0]
        return next((line or first for a, b, line in table if a <= offset < b), first)

    def confirms(self, ours, theirs):
        """All frames are the same but for lines, and headway's lines are the Python's."""
        named = lambda threads: sorted([f[:2] for f in t["frames"]] for t in threads if t["frames"])
        if named(ours) != named(theirs) or not all(thread["complete"] for thread in ours):
            return False
        return all(self.line(function, offset) == line for thread in ours
                   for (function, file, line), offset in zip(thread["frames"], thread["offsets"])
                   if file == stack_check.NAME)


class Target:
    """stack_targets.py of one kind, running."""

    def __init__(self, python, kind):
        _, command, outside, inside = python
        shutil.copy(HERE / "stack_targets.py", outside)
        self.process = subprocess.Popen([*command, str(inside / "stack_targets.py"), kind], stdout=subprocess.PIPE,
                                        text=True)
        if self.process.stdout.readline() != "ready\n":
            raise RuntimeError(f"{command}: the target did not start")
        self.pid = self.process.pid

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def alive(self):
        return self.process.poll() is None

    def freeze(self):
        os.kill(self.pid, signal.SIGSTOP)
        while not all(state == "T" for state in self.states()):
            time.sleep(0.0005)

    def go(self):
        os.kill(self.pid, signal.SIGCONT)

    def states(self):
        for stat in glob.glob(f"/proc/{self.pid}/task/*/stat"):
            yield pathlib.Path(stat).read_text().rsplit(")", 1)[1].split()[0]


def by_pyspy(pyspy, pid):
    # A stopped target needs no second stop; and what the two see is the same memory.
    said = subprocess.run([pyspy, "dump", "--nonblocking", "--json", "--pid", str(pid)], capture_output=True, text=True)
    if said.returncode != 0:
        return None
    return [{"tid": thread.get("os_thread_id"), "complete": True,
             "frames": [(stack_check.plain(f["name"]), os.path.basename(f["filename"]), f["line"])
                        for f in thread["frames"]]} for thread in json.loads(said.stdout)]


def by_headway(headway, pid, count=1, interval_ms=5):
    said = subprocess.run([*headway, "attach", str(pid), "--stacks", "--count", str(count), "--interval-ms",
                           str(interval_ms)], capture_output=True, text=True)
    if said.returncode != 0:
        raise RuntimeError(f"headway attach --stacks: status {said.returncode}: {said.stderr.strip()[-300:]}")
    return [[{"tid": thread["tid"], "complete": thread.get("complete", True),
              "frames": [(stack_check.plain(f["function"]), os.path.basename(f["file"]), f["line"])
                         for f in thread["frames"]],
              "offsets": [f["offset"] for f in thread["frames"]]} for thread in json.loads(line)["threads"]]
            for line in said.stdout.splitlines() if line.strip()]


def frozen(python, kind, options):
    same = confirmed = refused = 0
    differing = []
    arbiter = Arbiter(python) if version_of(python[1]).startswith("3.10.") else None
    with Target(python, kind) as target:
        for _ in range(options.samples // 2):
            target.go()
            time.sleep(random.uniform(0.001, 0.012))
            target.freeze()
            theirs = by_pyspy(options.pyspy, target.pid)
            if theirs is None:
                refused += 1
                continue
            ours = by_headway(options.headway, target.pid)[0]
            if stack_check.agree(ours, theirs):
                same += 1
            elif arbiter and arbiter.confirms(ours, theirs):
                confirmed += 1
            elif len(differing) < 3:
                differing.append({"headway": ours, "py-spy": theirs})
    return {"samples": options.samples // 2 - refused, "agree": same, "py-spy wrong": confirmed,
            "py-spy could not": refused, "differing": differing}


def running(python, kind, options):
    wrong = incomplete = stacks = 0
    examples = []
    with Target(python, kind) as target:
        for sample in by_headway(options.headway, target.pid, count=options.samples):
            for thread in sample:
                stacks += 1
                if not thread["complete"]:
                    incomplete += 1
                    continue
                fault = stack_check.fault_in(thread["frames"])
                if fault:
                    wrong += 1
                    if len(examples) < 3:
                        examples.append({"fault": fault, "frames": thread["frames"]})
        alive = target.alive()
    return {"stacks": stacks, "wrong": wrong, "incomplete": incomplete, "target alive": alive, "examples": examples}


def examine(python, options):
    report = {"python": python[0], "version": version_of(python[1])}
    for kind in ("busy", "adversary"):
        report[f"frozen {kind}"] = frozen(python, kind, options)
        report[f"running {kind}"] = running(python, kind, options)
    halves = [report["frozen busy"], report["frozen adversary"]]
    samples, agree, confirmed, refused = (sum(h[what] for h in halves) for what in
                                          ("samples", "agree", "py-spy wrong", "py-spy could not"))
    torn = {kind: report[f"running {kind}"] for kind in ("busy", "adversary")}
    report["holds"] = (samples > 0 and agree + confirmed >= AGREE * samples and
                       all(t["target alive"] and t["wrong"] + t["incomplete"] <= TORN * t["stacks"] for t in torn.values()))
    words = ", ".join(f"{kind} {t['wrong']} wrong + {t['incomplete']} incomplete of {t['stacks']}"
                      for kind, t in torn.items())
    apart = f", {confirmed} where py-spy has the wrong line" * bool(confirmed) + \
        f", {refused} that py-spy could not read" * bool(refused)
    print(f"{report['version']:8} frozen: {agree}/{samples} agree{apart};"
          f" running: {words}  {'ok' if report['holds'] else 'FAILED'}  {python[0]}", flush=True)
    return report


def try_python(python, options):
    try:
        return examine(python, options)
    except (RuntimeError, subprocess.CalledProcessError) as problem:
        print(f"FAILED   {python[0]}: {problem}", flush=True)
        return {"python": python[0], "holds": False, "problem": str(problem)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--headway", default=os.environ.get("HEADWAY", str(ROOT / "build/release/headway")))
    parser.add_argument("--pyspy", default="")
    parser.add_argument("--samples", type=int, default=1000, help="per Python; half busy, half adversary")
    parser.add_argument("--only", default="", help="a regular expression for the Pythons")
    parser.add_argument("--json")
    options = parser.parse_args()
    options.headway = options.headway.split()
    where = subprocess.run([ROOT / "scripts/foreign_setup.sh", "--where"], capture_output=True, text=True).stdout.strip()
    options.pyspy = options.pyspy or str(pathlib.Path(where).parent / "py-spy")
    if not os.access(options.pyspy, os.X_OK):
        print("skipped: no py-spy here yet; scripts/foreign_setup.sh installs it")
        return 77
    with tempfile.TemporaryDirectory(prefix="stacks-") as work:
        reports = [try_python(python, options) for python in pythons(pathlib.Path(work))
                   if re.search(options.only, python[0])]
    failed = sum(not report["holds"] for report in reports)
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps({"pythons": reports}, indent=1))
    print(f"{len(reports) - failed} of {len(reports)} Pythons hold")
    return 1 if failed or not reports else 0


if __name__ == "__main__":
    sys.exit(main())
