#!/usr/bin/env python3
"""Neighbours: a healthy training runs alone, then beside two busy processes, then alone again.

    neighbours.py [--headway FILE] [--json FILE]        takes 75 s and wants a quiet machine

The verdict has to become slow because neighbours take the cores, and to name them; within 20 s of their end it has to be
healthy again and to stay so. Exit status: 0 if so, 1 if not, 2 if it could not be tried.
"""
import argparse
import contextlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import examine
import judge
import processes
import run_foreign

CAUSE = "neighbours-take-cores"
ALONE_S, BESIDE_S, AFTER_S = 20, 25, 30
RECOVERY_S = 20
TARGET = pathlib.Path(__file__).resolve().parent / "neighbours_target.py"
NEIGHBOUR = "count_primes"  # as their command line says


def said_at(changes, at_s):
    """The verdict's word as it stood at that second; "nothing" before the first."""
    before = [change for change in changes if change["at_s"] <= at_s]
    return before[-1]["verdict"] if before else "nothing"


def complaints(changes, began_s, ended_s, named):
    """What is wrong with the verdicts over time; [] if nothing. `named`: was a neighbour in the evidence?"""
    wrong = []
    if said_at(changes, began_s) != "healthy":
        wrong.append(f"before they came it was not healthy but {said_at(changes, began_s)}")
    found = [change["at_s"] for change in changes
             if began_s < change["at_s"] <= ended_s and (change["verdict"], change.get("cause")) == ("slow", CAUSE)]
    if not found:
        wrong.append(f"beside them it never was slow because of {CAUSE}")
    if not named:
        wrong.append("nobody was named")
    if said_at(changes, ended_s + RECOVERY_S) != "healthy":
        wrong.append(f"{RECOVERY_S} s after their end it was not healthy but {said_at(changes, ended_s + RECOVERY_S)}")
    later = [change for change in changes if change["at_s"] > ended_s + RECOVERY_S and change["verdict"] != "healthy"]
    if any(change["verdict"] not in judge.OVER for change in later):
        wrong.append(f"and then it was {later[0]['verdict']}")
    return wrong


def names_one(verdict, pids):
    """Does what is said about the neighbours hold the number or the name of one of them?"""
    about = json.dumps([finding for finding in verdict.get("findings", []) if finding.get("cause") == CAUSE])
    return NEIGHBOUR in about or any(str(pid) in about for pid in pids)


def read_now(path):
    return json.loads(path.read_text()) if path.is_file() else {}


@contextlib.contextmanager
def busy(count, folder):
    script = folder / f"{NEIGHBOUR}.py"
    script.write_text("n = 2\nwhile True:\n    n += all(n % i for i in range(2, 999))\n")
    others = [subprocess.Popen([sys.executable, str(script)]) for _ in range(count)]
    try:
        yield [other.pid for other in others]
    finally:
        for other in others:
            other.kill()
            other.wait()


def watch(headway, python, folder):
    """(changes, when they came, when they went, was one of them named), in seconds of the watch."""
    out, spared = folder / "verdict.json", set(processes.descendants(os.getpid()))
    environment = {**os.environ, "CUDA_VISIBLE_DEVICES": "", "PYTHONDONTWRITEBYTECODE": "1"}
    with open(folder / "said.txt", "w") as said, examine.start(
            [headway, "run", "--json-out", str(out), "--", python, str(TARGET)], cwd=folder, env=environment,
            stdout=said, stderr=subprocess.STDOUT) as process:
        start, named = time.monotonic(), False
        try:
            time.sleep(ALONE_S)
            with busy(2, folder) as pids:
                began = time.monotonic() - start
                while time.monotonic() - start < began + BESIDE_S:
                    time.sleep(1)
                    named = named or names_one(read_now(out), pids)
            ended = time.monotonic() - start
            time.sleep(AFTER_S)
        finally:
            examine.stop(process, spared)
    if not out.is_file():
        raise examine.NoVerdict((folder / "said.txt").read_text(errors="replace")[-400:])
    changes = read_now(out).get("changes")
    if changes is None:
        raise examine.NoVerdict("the verdict has no list of changes")
    return changes, began, ended, named


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    run_foreign.add_tools(parser)
    parser.add_argument("--json")
    options = parser.parse_args()
    run_foreign.begin()
    run_foreign.say_load()
    with tempfile.TemporaryDirectory(prefix="neighbours-") as folder:
        try:
            changes, began, ended, named = watch(options.headway, options.torch, pathlib.Path(folder))
        except (examine.NoVerdict, OSError) as problem:
            print(f"cannot say: {problem}", file=sys.stderr)
            return 2
    for change in changes:
        print(f"{change['at_s']:6.1f} s  {change['verdict']:12} {change.get('cause') or ''}")
    print(f"two neighbours from {began:.1f} s to {ended:.1f} s; named: {named}")
    wrong = complaints(changes, began, ended, named)
    print("\n".join(wrong) or "as it should be")
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(
            {"changes": changes, "began_s": began, "ended_s": ended, "named": named, "wrong": wrong}, indent=1))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
