#!/usr/bin/env python3
"""What `headway attach PID --stacks --native --samples S` says of the functions that run, against `perf record` on the
same process at the same time.

    perf_agreement.py PROGRAM.py                       with the Python that its header asks for
    perf_agreement.py PROGRAM.py --seconds 30 --warm 15

Prints the 20 functions in which perf saw most samples, with both shares. Exit status: 0 if they are within 3 points in
each, 1 if not, 2 if it could not be tried.
"""
import argparse
import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

import program as programs
import run_foreign

POINTS = 0.03
MOST = 20


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    run_foreign.add_tools(parser)
    parser.add_argument("program")
    parser.add_argument("--seconds", type=int, default=25)
    parser.add_argument("--warm", type=int, default=15, help="seconds before the first sample")
    parser.add_argument("--perf", default=shutil.which("perf") or "", help="Debian's package linux-perf")
    return parser.parse_args()


def by_perf(perf, pid, seconds, folder):
    """[library, symbol] -> samples, of the program's own code."""
    data = folder / "perf.data"
    subprocess.run([perf, "record", "-q", "-e", "cpu-clock:u", "-F", "99", "-p", str(pid), "-o", data, "--", "sleep",
                    str(seconds)], check=True, capture_output=True)
    said = subprocess.run([perf, "script", "-i", data, "--no-demangle", "-F", "ip,sym,dso"], check=True,
                          capture_output=True, text=True).stdout
    counts = collections.Counter()
    for line in said.splitlines():
        match = re.match(r"\s*[0-9a-f]+\s+(.*?)\s+\((.*)\)\s*$", line)
        if match:
            of_a_file = match[2].startswith("/") and not match[2].endswith(".map")  # which is code made while it runs
            symbol = "" if match[1] == "[unknown]" else match[1]
            counts[pathlib.Path(match[2]).name if of_a_file else "", symbol] += 1
    return counts


def by_headway(process):
    said = json.loads(process.communicate()[0])
    print(f"headway: {said['samples']} samples, {said['lost']} lost")
    return collections.Counter({(each["library"], each["symbol"]): each["samples"] for each in said["functions"]})


def shares(counts):
    whole = max(1, sum(counts.values()))
    return {key: count / whole for key, count in counts.items()}


def compare(perf, headway):
    """[(library, symbol, perf's share, headway's share)], the largest first."""
    ours = shares(headway)
    largest = sorted(shares(perf).items(), key=lambda pair: -pair[1])[:MOST]
    return [(*key, share, ours.get(key, 0.0)) for key, share in largest]


def main():
    options = arguments()
    path = pathlib.Path(options.program).resolve()
    python = run_foreign.pythons_of(options)[programs.fields_of(programs.header_lines(path.read_text()))["python"]]
    if not options.perf or not python:
        print("cannot be tried: no perf (Debian's linux-perf), or not the Python it needs")
        return 2
    with tempfile.TemporaryDirectory() as folder:
        target = subprocess.Popen([python, path], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                  env={**os.environ, "CUDA_VISIBLE_DEVICES": "", "PYTHONPATH": str(programs.HERE / "truth")})
        try:
            time.sleep(options.warm)
            watcher = subprocess.Popen([options.headway, "attach", str(target.pid), "--stacks", "--native", "--samples",
                                        str(options.seconds)], stdout=subprocess.PIPE, text=True)
            perf = by_perf(options.perf, target.pid, options.seconds, pathlib.Path(folder))
            headway = by_headway(watcher)
        finally:
            target.kill()
            target.wait()
    print(f"perf: {sum(perf.values())} samples\n{'perf':>6} {'headway':>7}")
    worst = 0.0
    for library, symbol, by, ours in compare(perf, headway):
        worst = max(worst, abs(by - ours))
        print(f"{by:6.3f} {ours:7.3f}  {'' if abs(by - ours) <= POINTS else 'APART '}{library} {symbol[:90]}")
    print(f"largest difference: {100 * worst:.1f} points")
    return 0 if perf and worst <= POINTS else 1


if __name__ == "__main__":
    sys.exit(main())
