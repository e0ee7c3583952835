#!/usr/bin/env python3
"""The examination of the outside eye: each program of programs/ runs under `headway run` or is looked at by
`headway attach`, one at a time, and what was said is held against what is true.

    run_foreign.py                      all of them, about 20 minutes
    run_foreign.py --only 'train_p|learn_xor'
    run_foreign.py --programs held_out  another folder: here, or a path
    run_foreign.py --list               names and expectations, nothing is run

Exit status: 0 if at least 90% of the faults are named first and no healthy program is accused, 1 if not, 2 if it
could not be tried at all.
"""
import argparse
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

import examine
import judge
import mechanisms
import processes
import program as programs

GOAL = 0.9


def interop_python():
    """The Python with TensorFlow that scripts/interop_setup.sh makes, or ""."""
    script = pathlib.Path(__file__).resolve().parents[2] / "scripts/interop_setup.sh"
    path = subprocess.run([script, "--where"], capture_output=True, text=True).stdout.strip()
    return path if os.access(path, os.X_OK) else ""


def arguments():
    root = pathlib.Path(__file__).resolve().parents[2]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--headway", default=os.environ.get("HEADWAY", str(root / "build/release/headway")))
    parser.add_argument("--tensorflow", default=interop_python(), help="a Python that has TensorFlow")
    parser.add_argument("--torch", default="/usr/bin/python3", help="a Python that has PyTorch")
    parser.add_argument("--programs", default="programs", help="a folder of programs, beside this file or a path")
    parser.add_argument("--only", default="", help="a regular expression for the names")
    parser.add_argument("--json", help="write the cases there")
    parser.add_argument("--list", action="store_true")
    return parser.parse_args()


def make_files(options):
    """Once per machine; takes half a minute the first time."""
    for python in (options.tensorflow, options.torch):
        if python and subprocess.run([python, programs.FOLDER / "make_files.py"]).returncode == 0:
            return
    raise SystemExit("the programs' files could not be made: no Python with numpy and Pillow")


def refusal(case, pythons):
    """Why this case cannot be tried here, or ""."""
    if not pythons[case.python]:
        return f"no Python with {case.python} (scripts/interop_setup.sh, scripts/setup.sh foreign)"
    if len(os.sched_getaffinity(0)) > case.most_cores:
        return f"no fault on more than {case.most_cores} cores"
    return ""


def try_case(case, options, pythons):
    try:
        return judge.judge(case, examine.examine(case, options.headway, pythons))
    except examine.NoVerdict as problem:
        return judge.no_verdict(case, str(problem))


def row(result):
    case = result.case
    seconds = result.seconds_to_verdict
    marks = [("ok" if result.ok else "top 3" if result.top3 else "WRONG"),
             "" if result.verdict_agrees else f"verdict, not {'|'.join(case.verdicts)}",
             "other line" if result.line_named is False and result.ok else "", result.problem]
    return (f"{case.name:18} {case.expected:24} {', '.join(result.given[:3]) or '-':34} {result.verdict:12}"
            f" {f'{seconds:.1f}' if seconds is not None else '-':>5}  {'; '.join(mark for mark in marks if mark)}")


def summary(results, skipped):
    faulty = [r for r in results if not r.case.healthy]
    healthy = [r for r in results if r.case.healthy]
    alarms = [r for r in healthy if r.given and not r.top1]
    asked = [r for r in faulty if r.line_named is not None and r.top1]
    lines = [f"faults: {sum(r.top1 for r in faulty)}/{len(faulty)} named first, "
             f"{sum(r.top3 for r in faulty)}/{len(faulty)} among the first three",
             f"healthy: {len(alarms)} of {len(healthy)} accused"
             + "".join(f"\n  {r.case.name}: {', '.join(r.given)}" for r in alarms),
             f"verdict word agrees: {sum(r.verdict_agrees for r in results)}/{len(results)}",
             f"line named, of those named first: {sum(r.line_named for r in asked)}/{len(asked)}",
             f"no verdict: {sum(bool(r.problem) for r in results)}", f"skipped: {len(skipped)}"]
    lines += [f"  {name}: {why}" for name, why in skipped]
    return "\n".join(lines)


def passed(results):
    faulty = [r for r in results if not r.case.healthy]
    enough = not faulty or sum(r.top1 for r in faulty) >= GOAL * len(faulty)
    return enough and all(r.top1 for r in results if r.case.healthy)


def main():
    options = arguments()
    folder = programs.FOLDER.parent / options.programs  # a path that begins at the root stays what it is
    cases = [case for case in programs.all_programs(folder) if re.search(options.only, case.name)]
    if options.list:
        for case in cases:
            print(f"{case.name:18} {case.python:11} {case.expected:24} {case.seconds:3} s  {case.seed}")
        print(f"{sum(not c.healthy for c in cases)} faults, {sum(c.healthy for c in cases)} healthy, "
              f"{sum(c.seconds for c in cases) / 60:.0f} minutes and more")
        return 0
    if not cases or not os.access(options.headway, os.X_OK):
        print(f"cannot begin: {len(cases)} programs, headway at {options.headway}", file=sys.stderr)
        return 2
    pythons = {"tensorflow": options.tensorflow, "torch": options.torch, "plain": options.torch}
    processes.adopt_orphans()
    # A shell's background jobs ignore the interrupt, and so would all that we start.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if any("import make_files" in case.path.read_text() for case in cases):
        make_files(options)
    results, skipped, started = [], [], time.monotonic()
    load, cores = os.getloadavg()[0], len(os.sched_getaffinity(0))
    noisy = ": NOT A QUIET MACHINE, do not trust what follows" if load > cores / 2 else ""
    print(f"load {load:.1f} on {cores} cores{noisy}")
    print(f"{'program':18} {'expected':24} {'given':34} {'verdict':12} {'s':>5}")
    for case in cases:
        why = refusal(case, pythons)
        try:
            if why:
                raise mechanisms.Refused(why)
            results.append(try_case(case, options, pythons))
            print(row(results[-1]), flush=True)
        except mechanisms.Refused as refused:
            skipped.append((case.name, str(refused)))
            print(f"{case.name:18} {case.expected:24} SKIPPED: {refused}", flush=True)
    print(summary(results, skipped))
    print(f"{(time.monotonic() - started) / 60:.1f} minutes")
    if options.json:
        report = {"cases": [judge.as_json(r) for r in results], "skipped": [{"name": n, "why": w} for n, w in skipped]}
        pathlib.Path(options.json).write_text(json.dumps(report, indent=1))
    return 0 if passed(results) else 1


if __name__ == "__main__":
    sys.exit(main())
