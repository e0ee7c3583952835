#!/usr/bin/env python3
"""The examination of the outside eye: each program of a set runs under `headway run` or is looked at by
`headway attach`, one at a time, and what was said is held against what is true.

    run_foreign.py                                the set `programs`, about 20 minutes
    run_foreign.py --set held_out blind/round1    others: here, or the path of a folder; `all`: every one that is here
    run_foreign.py --only 'train_p|learn_xor'
    run_foreign.py --beside 2                     beside two busy processes, the whole time
    run_foreign.py --as user                      watcher and program are an ordinary user's (root, user, user-without-perf)
    run_foreign.py --set blind/round1 --first-run the first run of a blind round, once: it is written down
    run_foreign.py --list                         names and expectations, nothing is run

Exit status: 0 if at least 90% of the faults are named first and no healthy program is accused (with --steady: and no
verdict changed more than once after 20 s, and what was named was named in time), 1 if not, 2 if it could not be
tried, 77 if every program was skipped.
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
import rounds
import who

GOAL = 0.9
NEIGHBOURS = "neighbours-take-cores"


def python_of(script):
    """The Python that one of scripts/*_setup.sh makes, or ""."""
    path = subprocess.run([rounds.ROOT / "scripts" / script, "--where"], capture_output=True, text=True).stdout.strip()
    return path if os.access(path, os.X_OK) else ""


def system_python_with(module):
    """The system's Python, or "" where it cannot import this."""
    python = "/usr/bin/python3"
    asked = subprocess.run([python, "-c", f"import importlib.util as i, sys; sys.exit(not i.find_spec('{module}'))"])
    return python if asked.returncode == 0 else ""


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_tools(parser)
    parser.add_argument("--set", nargs="+", default=["programs"], help="programs, held_out, blind/round1 ..., all")
    parser.add_argument("--only", default="", help="a regular expression for the names")
    parser.add_argument("--most-seconds", type=int, default=1 << 30, help="for each program, whatever its header says")
    parser.add_argument("--beside", type=int, default=0,
                        help="busy processes beside it: that they take the cores is true, and may be said first")
    parser.add_argument("--as", dest="watcher", choices=who.ALL, default="root",
                        help="who watches and is watched; user-without-perf: perf_event_open is refused")
    parser.add_argument("--shared-machine", action="store_true",
                        help="other work may run here: neighbours that are named do not count")
    parser.add_argument("--steady", action="store_true", help="changes and times count, too")
    parser.add_argument("--first-run", action="store_true", help="of a blind round")
    parser.add_argument("--carried", default="", metavar="PROGRAMS:CODE",
                        help="with --first-run on a machine without the repository: the commits of what was carried there")
    parser.add_argument("--json", help="write the cases there")
    parser.add_argument("--traces", help="a folder: keep there what was seen of each program")
    parser.add_argument("--list", action="store_true")
    return parser.parse_args()


def add_tools(parser):
    """Where headway is, and the Pythons."""
    parser.add_argument("--headway", default=os.environ.get("HEADWAY", str(rounds.ROOT / "build/release/headway")))
    parser.add_argument("--tensorflow", default=python_of("interop_setup.sh"), help="a Python that has TensorFlow")
    parser.add_argument("--torch", default=system_python_with("torch"), help="a Python that has PyTorch")
    parser.add_argument("--plain", default=system_python_with("numpy"), help="one that has NumPy")
    parser.add_argument("--loops", default=python_of("loops_setup.sh"), help="one with Lightning, transformers and JAX")
    parser.add_argument("--gpu", default="", help="one with PyTorch for a GPU, on a machine that has one")


def pythons_of(options):
    return {"tensorflow": options.tensorflow, "torch": options.torch, "plain": options.plain, "loops": options.loops,
            "gpu": options.gpu}


def begin():
    """Nobody is left behind, and an interrupt arrives: a shell's background jobs ignore it, and so would all we start."""
    processes.adopt_orphans()
    signal.signal(signal.SIGINT, signal.default_int_handler)


def say_load():
    load, cores = os.getloadavg()[0], len(os.sched_getaffinity(0))
    noisy = ": NOT A QUIET MACHINE, do not trust what follows" if load > cores / 2 else ""
    print(f"load {load:.1f} on {cores} cores{noisy}")


def make_files(options):
    """Once per machine; takes half a minute the first time."""
    for python in (options.tensorflow, options.torch):
        if python and subprocess.run([python, programs.FOLDER / "make_files.py"]).returncode == 0:
            return
    raise SystemExit("the programs' files could not be made: no Python with numpy and Pillow")


def refusal(case, pythons):
    """Why this case cannot be tried here, or ""."""
    if not pythons[case.python]:
        return f"no Python with {case.python} (scripts/interop_setup.sh, scripts/loops_setup.sh, scripts/setup.sh foreign)"
    if len(os.sched_getaffinity(0)) > case.most_cores:
        return f"no fault on more than {case.most_cores} cores"
    return ""


def try_case(case, options, pythons):
    why = refusal(case, pythons)
    if why:
        raise mechanisms.Refused(why)
    try:
        verdict = examine.examine(case, options.headway, pythons, who.ALL[options.watcher])
        if (options.shared_machine or options.beside) and case.expected != NEIGHBOURS:
            verdict["findings"] = [f for f in verdict.get("findings", []) if f["cause"] != NEIGHBOURS]
        return judge.judge(case, verdict, also_named=(NEIGHBOURS,) if options.beside else ())
    except examine.NoVerdict as problem:
        return judge.no_verdict(case, str(problem))


def seconds_text(seconds):
    return "-" if seconds is None else f"{seconds:.1f}"


def row(result):
    case = result.case
    changed = "-" if result.late_changes is None else str(result.late_changes)
    marks = [("ok" if result.ok else "top 3" if result.top3 else "WRONG"),
             "" if result.verdict_agrees else f"verdict, not {'|'.join(case.verdicts)}",
             "other line" if result.line_named is False and result.ok else "",
             "unsteady" if result.unsteady else "",
             "late" if result.ok and result.named_in_time is False else "", result.problem]
    return (f"{case.name:18} {case.expected:24} {', '.join(result.given[:3]) or '-':34} {result.verdict:12}"
            f" {seconds_text(result.named_s):>5} {changed:>3}  {'; '.join(mark for mark in marks if mark)}")


def summary(results, skipped):
    faulty = [r for r in results if not r.case.healthy]
    healthy = [r for r in results if r.case.healthy]
    alarms = [r for r in healthy if r.accused]
    asked = [r for r in faulty if r.line_named is not None and r.top1]
    told = [r for r in results if r.late_changes is not None]
    timed = [r for r in results if r.ok and r.named_in_time is not None]
    lines = [f"faults: {sum(r.top1 for r in faulty)}/{len(faulty)} named first, "
             f"{sum(r.top3 for r in faulty)}/{len(faulty)} among the first three",
             f"healthy: {len(alarms)} of {len(healthy)} accused"
             + "".join(f"\n  {r.case.name}: {', '.join(r.given)}" for r in alarms),
             f"verdict word agrees: {sum(r.verdict_agrees for r in results)}/{len(results)}",
             f"line named, of those named first: {sum(r.line_named for r in asked)}/{len(asked)}",
             f"changes after {judge.SETTLING_S} s: more than {judge.MOST_CHANGES} in {sum(r.unsteady for r in told)}"
             f" of {len(told)}" + "".join(f"\n  {r.case.name}: {r.late_changes}" for r in told if r.unsteady),
             f"named in time (stuck {judge.STUCK_NAMED_S} s, slow {judge.SLOW_NAMED_S} s), of those named first: "
             f"{sum(r.named_in_time for r in timed)}/{len(timed)}",
             f"no verdict: {sum(bool(r.problem) for r in results)}", f"skipped: {len(skipped)}"]
    lines += [f"  {name}: {why}" for name, why in skipped]
    return "\n".join(lines)


def passed(results, steady=False):
    faulty = [r for r in results if not r.case.healthy]
    enough = not faulty or sum(r.top1 for r in faulty) >= GOAL * len(faulty)
    calm = not any(r.unsteady or (r.ok and r.named_in_time is False) for r in results)
    return enough and all(r.top1 for r in results if r.case.healthy) and (calm or not steady)


def list_cases(cases):
    for case in cases:
        print(f"{case.set:12} {case.name:18} {case.python:11} {case.expected:24} {case.seconds:3} s  {case.seed}")
    print(f"{sum(not c.healthy for c in cases)} faults, {sum(c.healthy for c in cases)} healthy, "
          f"{sum(c.seconds for c in cases) / 60:.0f} minutes and more")


def chosen_sets(options):
    """Closed where a blind round would be looked at before its first run."""
    names = list(options.set)
    if names == ["all"]:
        waiting = [name for name in programs.all_sets() if not rounds.has_been_run(name)]
        for name in waiting:
            print(f"{name} waits for its first run and is left out")
        return [name for name in programs.all_sets() if name not in waiting]
    if not options.first_run and not options.list:
        for name in names:
            if not rounds.has_been_run(name):
                raise rounds.Closed(f"{name} had no first run yet; that one counts (--first-run)")
    return names


def first_run_of(options, names):
    """The record to write, or None where nothing is to be recorded."""
    if not options.first_run:
        return None
    limited = options.only or options.beside or options.most_seconds < 1 << 30
    if len(names) != 1 or not programs.round_of(names[0]) or limited:
        raise rounds.Closed("a first run is of one blind round, of all of it, with nobody beside it")
    if options.carried:
        return rounds.FirstRun(names[0], *options.carried.split(":"), options.watcher)
    rounds.check_built(options.headway)
    return rounds.FirstRun(names[0], *rounds.commits(names[0]), options.watcher)


def run_all(cases, options, record):
    results, skipped, pythons = [], [], pythons_of(options)
    print(f"{'program':18} {'expected':24} {'given':34} {'verdict':12} {'named':>5} {'chg':>3}")
    for case in cases:
        try:
            result = try_case(case, options, pythons)
            results.append(result)
            print(row(result), flush=True)
            if record:
                record.add(judge.as_json(result))
        except mechanisms.Refused as refused:
            skipped.append((case.name, str(refused)))
            print(f"{case.name:18} {case.expected:24} SKIPPED: {refused}", flush=True)
            if record:
                record.skip(case, str(refused))
    return results, skipped


def case_json(result, beside):
    case = judge.as_json(result)
    return {**case, "first_run": rounds.first_given(case["set"], case["name"]), "beside": beside}


def main():
    options = arguments()
    try:
        names = chosen_sets(options)
        cases = [case for name in names for case in programs.programs_of(name) if re.search(options.only, case.name)]
        for case in cases:
            case.seconds = min(case.seconds, options.most_seconds)
            case.trace = str(pathlib.Path(options.traces).resolve() / f"{case.name}.trace") if options.traces else ""
        if options.list:
            list_cases(cases)
            return 0
        if not cases or not os.access(options.headway, os.X_OK):
            raise rounds.Closed(f"{len(cases)} programs, headway at {options.headway}")
        record = first_run_of(options, names)
    except rounds.Closed as why:
        print(f"cannot begin: {why}", file=sys.stderr)
        return 2
    begin()
    if options.traces:
        pathlib.Path(options.traces).mkdir(parents=True, exist_ok=True)
    if any("import make_files" in case.path.read_text() for case in cases):
        make_files(options)
    started = time.monotonic()
    say_load()
    with mechanisms.neighbour(options.beside):
        results, skipped = run_all(record.open_cases(cases) if record else cases, options, record)
    if record:
        record.close()
    print(summary(results, skipped))
    print(f"{(time.monotonic() - started) / 60:.1f} minutes")
    if options.json:
        report = {"cases": [case_json(r, options.beside) for r in results],
                  "skipped": [{"name": n, "why": w} for n, w in skipped]}
        pathlib.Path(options.json).write_text(json.dumps(report, indent=1))
    if not results and skipped:
        print(f"skipped: {skipped[0][1]}")
        return 77
    return 0 if passed(results, options.steady) else 1


if __name__ == "__main__":
    sys.exit(main())
