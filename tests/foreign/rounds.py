"""Blind rounds: what was said when the programs of a round ran for the first time, which is the score.

    blind/round1/programs/*.py  cured/*.py  prove.py  proof.json     as their author left them
    blind/round1/first_run.json                                      written once, here
    blind/round1/first_run_user.json  first_run_user-without-perf.json   the same, watched by an ordinary user

A round is closed when every program of it has run. Until then it can be gone on with (a machine may fail), by the same
code only; a program that has run does not run again.
"""
import datetime
import json
import pathlib
import re
import subprocess

import program as programs
import who

ROOT = programs.HERE.parents[1]
# What decides what headway says, and what it is asked.
EXAMINED = ("headway", "cli", "cmake", "CMakeLists.txt", "tests/foreign")


class Closed(Exception):
    """This cannot be a first run, or not now; the text says why."""


def record_path(name, watcher=who.ROOT.name):
    return programs.HERE / name / ("first_run.json" if watcher == who.ROOT.name else f"first_run_{watcher}.json")


def first_run(name, watcher=who.ROOT.name):
    """What is kept of a set's first run; None where there was none, or where none is kept (not blind)."""
    path = record_path(name, watcher)
    return json.loads(path.read_text()) if programs.round_of(name) and path.is_file() else None


def first_given(name, case_name):
    """The causes that were given when this program ran for the first time, or None."""
    record = first_run(name)
    return next((case["given"] for case in (record or {}).get("cases", []) if case["name"] == case_name), None)


def has_been_run(name):
    """False for a blind set whose first run is still to come, or under way: nobody may look at it in another way."""
    record = first_run(name)
    return programs.round_of(name) is None or bool(record and record["ended"])


def git(*words):
    return subprocess.run(["git", "-C", ROOT, *words], capture_output=True, text=True, check=True).stdout.strip()


def commits(name):
    """Of the programs and of the code under test; Closed where either is not committed."""
    changed = [line for line in git("status", "--porcelain", "--", *EXAMINED).splitlines()
               if not re.search(r"/first_run[a-z_-]*\.json$", line)]
    if changed:
        raise Closed("not committed: " + ", ".join(line.split()[-1] for line in changed))
    of_programs = git("log", "-1", "--format=%H", "--", f"tests/foreign/{name}/programs")
    if not of_programs:
        raise Closed(f"the programs of {name} are in no commit")
    return of_programs, git("rev-parse", "HEAD")


def check_built(headway):
    """Closed unless headway is what the sources make: then its build tree has nothing to do."""
    tree = pathlib.Path(headway).resolve().parent
    asked = subprocess.run(["ninja", "-C", tree, "headway_cli"], capture_output=True, text=True)
    if asked.returncode != 0 or "no work to do" not in asked.stdout:
        raise Closed(f"{headway} is not built of these sources; build it first (make build)")


def now():
    return datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")


class FirstRun:
    """The record while it is being written, after every program, so that nothing that was said can be lost."""

    def __init__(self, name, of_programs, of_code, watcher=who.ROOT.name):
        self.path = record_path(name, watcher)
        self.record = {"set": name, "as": watcher, "programs_commit": of_programs, "code_commit": of_code, "began": now(),
                       "ended": None, "cases": [], "skipped": []}
        before = first_run(name, watcher)
        if before and before["ended"]:
            raise Closed(f"{name} had its first run as {watcher} on {before['ended'][:10]}; it stays as it is")
        for begun in filter(None, (first_run(name, other) for other in who.ALL)):
            if (begun["programs_commit"], begun["code_commit"]) != (of_programs, of_code):
                raise Closed(f"{name} was begun with code {begun['code_commit'][:10]} and programs "
                             f"{begun['programs_commit'][:10]}; go on with these")
        if before:
            self.record = before
        else:
            with open(self.path, "x") as file:
                json.dump(self.record, file, indent=1)

    def open_cases(self, cases):
        had = {case["name"] for case in self.record["cases"] + self.record["skipped"]}
        return [case for case in cases if case.name not in had]

    def add(self, case):
        self.record["cases"].append(case)
        self.write()

    def skip(self, case, why):
        self.record["skipped"].append({"name": case.name, "expected": case.expected, "why": why})
        self.write()

    def close(self):
        self.record["ended"] = now()
        self.write()

    def write(self):
        part = self.path.with_suffix(".part")
        part.write_text(json.dumps(self.record, indent=1) + "\n")
        part.replace(self.path)
