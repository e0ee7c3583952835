#!/usr/bin/env python3
"""What does being watched cost? Prints two numbers and does not judge: whoever reads them knows how quiet the machine was.

slowdown    Steps per second of a target with the probe attached over without it. Pairs in turn, the order of each pair
            drawn by lot, so that a machine that gets slower or faster in between does neither side a favour. Median of
            the pairs' ratios, and the spread of unwatched runs against one another (the noise one has to beat).
own CPU     The probe's CPU time over wall time while it watches a target of 60 threads and 8 children, as a share of
            one core. The claim is 2% at most.

    overhead.py [--headway PROGRAM] [--seconds 8] [--pairs 6] [--tensorflow PYTHON] [--json FILE]
"""
import argparse
import json
import os
import pathlib
import random
import signal
import statistics
import subprocess
import sys
import time

import processes
import run_foreign

HERE = pathlib.Path(__file__).resolve().parent


class Watcher:
    """`headway attach PID` until the target ends; counts its own CPU time, children of its own included."""

    def __init__(self, headway, pid):
        self.cpu = 0.0
        self.started = time.monotonic()
        self.process = subprocess.Popen([*headway, "attach", str(pid)], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def end(self):
        """(CPU seconds, seconds). Fails if it did not watch to the end."""
        if self.process.poll() is not None:
            raise SystemExit(f"headway attach ended early: {self.process.stderr.read().strip()[-300:]}")
        took = time.monotonic() - self.started
        cpu = sum(processes.cpu_seconds(pid) for pid in [self.process.pid, *processes.descendants(self.process.pid)])
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        return cpu, took


def one_run(command, seconds, headway=None):
    """(steps a second, probe's CPU share or None)"""
    target = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                              env={**os.environ, "CUDA_VISIBLE_DEVICES": ""})
    if target.stdout.readline() != "ready\n":
        raise SystemExit(f"{command} did not start")
    watcher = Watcher(headway, target.pid) if headway else None
    share = None
    if watcher:
        time.sleep(seconds - 0.5)
        cpu, took = watcher.end()
        share = cpu / took
    steps = int(target.stdout.readline())
    target.wait()
    return steps / seconds, share


def slowdown(name, command, options):
    ratios, alone, shares = [], [], []
    for _ in range(options.pairs):
        rates = {}
        for watched in random.sample((False, True), 2):
            rates[watched], share = one_run(command, options.seconds, options.headway if watched else None)
            if watched:
                shares.append(share)
        ratios.append(rates[True] / rates[False])
        alone.append(rates[False])
    noise = (max(alone) - min(alone)) / statistics.median(alone)
    result = {"target": name, "ratio": statistics.median(ratios), "ratios": ratios, "noise": noise,
              "probe_cpu": statistics.median(shares)}
    print(f"{name:24} watched/unwatched {result['ratio']:.3f} (pairs {min(ratios):.3f} to {max(ratios):.3f}; "
          f"unwatched runs differ by {100 * noise:.0f}%)  probe {100 * result['probe_cpu']:.2f}% of a core", flush=True)
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--headway", default=os.environ.get("HEADWAY", str(HERE.parents[1] / "build/release/headway")))
    parser.add_argument("--tensorflow", default=run_foreign.python_of("interop_setup.sh"))
    parser.add_argument("--python", default="/usr/bin/python3")
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--pairs", type=int, default=6)
    parser.add_argument("--json")
    options = parser.parse_args()
    options.headway = options.headway.split()
    seconds = str(options.seconds)
    plain = [options.python, str(HERE / "overhead_target.py"), seconds]
    targets = {"python, 1 thread": [*plain, "1", "0"], "60 threads, 8 children": [*plain, "60", "8"]}
    if options.tensorflow:
        targets["tensorflow"] = [options.tensorflow, str(HERE / "overhead_tensorflow.py"), seconds]
    else:
        print("skipped: tensorflow (scripts/interop_setup.sh installs it)")
    results = [slowdown(name, command, options) for name, command in targets.items()]
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps({"targets": results}, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
