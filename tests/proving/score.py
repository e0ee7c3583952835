#!/usr/bin/env python3
"""How often is the doctor right? Runs the proving ground and prints a table.

  score.py                     live cases and recorded traces
  score.py --only 'serial|leak'
  score.py --gain              also runs those that have a fix with and without it: was the gain foretold?
  score.py --part 0/7          one of seven shares of the live cases, for machines with many cores
  score.py --record DIR        keeps a short trace of every live case, mild ones too
  score.py --json FILE         {"cases": [{name, set, round, first_run, expected, given, seconds_to_verdict, live}]}

Live cases run one at a time, each a process of its own, put into trouble from outside where that
is possible: a cgroup, a slow disk (a preloaded library), a small file system, neighbours. What
this machine refuses is skipped by name and counted.
"""

import argparse
import json
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import zlib
from collections import Counter, defaultdict
from pathlib import Path

from trouble import Refused, Trouble

ROOT = Path(__file__).resolve().parents[2]
GRAVE = {"warning", "high", "critical"}
LIVE_S = 40          # a case that has not ended by then is stopped and judged
SLOW_S = 15          # a verdict that took longer is shown with what was said before
SETTLED_S = 3        # a verdict that has stood for so long, on a run that stands still, will do ...
STEADY_S = 10        # ... or for so long on one that goes on; sound runs are watched to the end
PREPARING_S = 60     # drawing a case's data
GAIN_PAIRS = 3       # runs with the fault and without; the same run differs from itself by a fifth here
ALONE_S = 10         # of steps in each of them
GAIN_WITHIN = 0.25   # of what the fix gave


# ---- judging ----

def judge(build, trace):
    """(state, causes worth a warning, all findings) of a trace; None when it cannot be read yet."""
    out = subprocess.run([str(build / "headway"), "doctor", str(trace), "--json"],
                         capture_output=True, text=True)
    if out.returncode not in (0, 3):
        return None
    said = json.loads(out.stdout)
    grave = [f["cause"] for f in said["findings"] if f["severity"] in GRAVE]
    return said["verdict"], grave, said["findings"]


class Run:
    """One case under way in a folder of its own, which goes when the run does."""

    def __init__(self, case, build, *words):
        self.folder = Path(tempfile.mkdtemp(prefix="headway-score-"))
        self.trace = self.folder / "run.trace"
        self.log = self.folder / "log"
        self.trouble = self.process = None
        try:
            self.trouble = Trouble(case, self.folder, build)
            command = [str(build / "tests/proving/prover"), case["name"], "--trace", str(self.trace),
                       "--folder", str(self.folder), *words]
            with open(self.log, "w") as log:
                self.process = subprocess.Popen(command, stdout=log, stderr=log, env=self.trouble.env,
                                                preexec_fn=self.trouble.enter)
        except BaseException:
            self.__exit__()
            raise

    def __enter__(self):
        return self

    def stop(self):
        self.process.kill()
        self.process.wait()

    def __exit__(self, *_):
        if self.process:
            self.stop()
        if self.trouble:
            self.trouble.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def run_live(case, build, keep, level=1.0, seed=0, whole=False):
    """Runs one case and judges it while it runs; `whole`: to its end, whatever is said."""
    began = time.monotonic()
    with Run(case, build, "--level", str(level), "--seed", str(seed)) as run:
        judged, since, first, course = None, None, None, []
        while True:
            ended = run.process.poll() is not None
            if first is None and run.trace.exists():
                first = time.monotonic()  # preparations do not count
            now = judge(build, run.trace) if run.trace.exists() else None
            top = now[1][0] if now and now[1] else None
            if now and (not judged or top != (judged[1][0] if judged[1] else None)):
                since = time.monotonic()
                course.append(f"{since - first:.0f} s {top or 'healthy'}")
            judged = now or judged
            stands = since is not None and time.monotonic() - since
            if ended or time.monotonic() - (first or began) > LIVE_S:
                break
            if judged and judged[0] == "stuck" and stands > SETTLED_S:
                break
            if judged and judged[1] and stands > STEADY_S and not whole:
                break
            time.sleep(0.5)
        run.stop()
        judged = judge(build, run.trace) or judged
        if keep and run.trace.exists():
            shutil.copy(run.trace, keep)
        seconds = max(0.0, since - first) if since and first and judged and judged[1] else None
        return judged, seconds, ", ".join(course), run.log.read_text()


def run_alone(case, build, word):
    """Runs one case to its end with nobody looking: what is said afterwards, and steps per second."""
    with Run(case, build, word, "--seconds", str(ALONE_S)) as run:
        try:
            run.process.wait(LIVE_S + PREPARING_S)
        except subprocess.TimeoutExpired:
            run.stop()
        return judge(build, run.trace) if run.trace.exists() else None, trace_rate(run.trace)


def trace_lines(trace):
    for line in Path(trace).read_text().splitlines():
        try:
            yield json.loads(line)
        except ValueError:
            return  # cut by kill -9


def trace_rate(trace):
    """Steps per second in the later half of a run, from its first step on."""
    lines = trace_lines(trace) if trace.exists() else []
    samples = [s for s in lines if s.get("kind") == "sample" and s.get("steps")]
    if len(samples) < 4:
        return None
    a, b = samples[len(samples) // 2], samples[-1]
    seconds = b["at_s"] - a["at_s"]
    return (b.get("steps", 0) - a.get("steps", 0)) / seconds if seconds > 0 else None


def shorten(trace, out, keep=16):
    """The same trace with few samples, small enough for a repository."""
    lines = list(trace_lines(trace))
    for kind in ("sample", "numbers"):
        places = [i for i, line in enumerate(lines) if line.get("kind") == kind]
        stride = max(1, len(places) / keep)
        wanted = {places[int(k * stride)] for k in range(int(len(places) / stride))}
        wanted.update(places[:2] + places[-2:])
        lines = [line for i, line in enumerate(lines) if line.get("kind") != kind or i in wanted]
    Path(out).write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines))


# ---- the table ----

def half(name):
    """Thresholds are tuned on one half of the recorded traces and reported on the other."""
    return "tuned on" if zlib.crc32(name.encode()) % 2 else "held out"


def is_right(row):
    accepted = row.get("accepted", [])
    if row["expected"] == "healthy":
        return not row.get("problem") and all(cause in accepted for cause in row["given"])
    return bool(row["given"]) and row["given"][0] in {row["expected"], row.get("also"), *accepted}


def print_table(rows):
    groups = defaultdict(list)
    for row in rows:
        groups[row["expected"]].append(row)
    print(f"\n{'cause':26} {'cases':>5} {'live':>5} {'top-1':>6} {'top-3':>6} {'time to verdict':>16}")
    for cause in sorted(groups, key=lambda c: (c == "healthy", c)):
        of = groups[cause]
        top3 = [r for r in of if is_right(r) or r["expected"] in r["given"][:3]]
        times = sorted(r["seconds_to_verdict"] for r in of if r["seconds_to_verdict"] is not None)
        when = f"{times[len(times) // 2]:.1f} s, {times[-1]:.1f} s" if times else "-"
        print(f"{cause:26} {len(of):5} {sum(r['live'] for r in of):5} "
              f"{sum(map(is_right, of)):6} {len(top3):6} {when if cause != 'healthy' else '-':>16}")
    confusion = Counter((r["expected"], r["given"][0] if r["given"] else "healthy")
                        for r in rows if not is_right(r))
    print("\nconfusions (expected -> said):" if confusion else "\nno confusions")
    for (expected, said), count in confusion.most_common():
        names = [r["name"] for r in rows if not is_right(r) and r["expected"] == expected]
        print(f"  {expected} -> {said}: {count}  ({', '.join(names)})")
    for title, part in (("live", [r for r in rows if r["live"]]),
                        ("recorded, tuned on", [r for r in rows if not r["live"] and half(r["name"]) == "tuned on"]),
                        ("recorded, held out", [r for r in rows if not r["live"] and half(r["name"]) == "held out"]),
                        ("all", rows)):
        if not part:
            continue
        sick = [r for r in part if r["expected"] != "healthy"]
        well = [r for r in part if r["expected"] == "healthy"]
        alarms = sum(not is_right(r) for r in well)
        share = 100 * sum(map(is_right, sick)) / len(sick) if sick else 100
        print(f"{title}: top-1 {sum(map(is_right, sick))} of {len(sick)} ({share:.0f}%), "
              f"false alarms {alarms} of {len(well)}")


def score_gain(case, build):
    """Runs with the fault and without in turns, since the machine itself is now fast, now slow."""
    predicted, applied = [], []
    for _ in range(GAIN_PAIRS):
        judged, slow = run_alone(case, build, "--replay")
        _, quick = run_alone(case, build, "--cured")
        said = [f["predicted_gain"] for f in judged[2] if f["cause"] == case["expected"]] if judged else []
        if not said or not slow or not quick:
            return f"{case['name']:17} MISS no figure: {judged}, {slow} and {quick} steps/s"
        predicted.append(said[0])
        applied.append(quick / slow)
    off = statistics.median(predicted) / statistics.median(applied) - 1
    return (f"{case['name']:17} {'ok  ' if abs(off) <= GAIN_WITHIN else 'MISS'} off by {100 * off:+.0f}%: predicted "
            f"{' '.join(f'{p:.2f}' for p in predicted)}, applied {' '.join(f'{a:.2f}' for a in applied)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build/release")
    parser.add_argument("--only", default="")
    parser.add_argument("--part", default="0/1", help="of the live cases: 2/7 is the third of seven")
    parser.add_argument("--no-live", action="store_true", help="only the recorded traces")
    parser.add_argument("--gain", action="store_true")
    parser.add_argument("--record", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--more", type=Path, action="append", default=[],
                        help="cases judged elsewhere, in the form of --json")
    args = parser.parse_args()
    build = args.build.resolve()
    rows, skipped, gains = [], [], []
    listed = json.loads(subprocess.run([str(build / "tests/proving/prover"), "--list"],
                                       capture_output=True, text=True, check=True).stdout)
    live = [] if args.no_live else [c for c in listed if re.search(args.only, c["name"])]
    part, parts = map(int, args.part.split("/"))
    live = live[part::parts]
    kept = Path(tempfile.mkdtemp(prefix="headway-kept-")) if args.record else None
    if args.record:
        args.record.mkdir(parents=True, exist_ok=True)
    for case in live:
        variants = [(case, 1.0)]
        if args.record and case["mild"]:
            variants.append(({**case, "expected": "healthy"}, case["mild"]))
        for variant, level in variants:
            name = variant["name"] + ("" if level == 1.0 else ".mild")
            keep = kept / "run.trace" if kept else None
            try:
                judged, seconds, course, log = run_live(
                    variant, build, keep, level, args.seed,
                    whole=bool(args.record) or variant["expected"] == "healthy")
            except Refused as reason:
                skipped.append(name)
                print(f"SKIPPED {name}: {reason}", flush=True)
                continue
            row = {"name": name, "expected": variant["expected"], "also": variant["also"] or None,
                   "given": judged[1] if judged else [], "seconds_to_verdict": seconds, "live": True,
                   "set": "proving"}
            rows.append(row)
            took = f"{seconds:5.1f} s" if seconds is not None else "      -"
            print(f"{'ok  ' if is_right(row) else 'MISS'} {name:30} {row['expected']:24} {took}  "
                  f"{', '.join(row['given']) or 'healthy'}", flush=True)
            if not judged:
                print("     no trace: " + log[-300:])
            elif not is_right(row) or (seconds or 0) > SLOW_S:
                print("     " + course, flush=True)
            if args.record and keep.exists():
                stem = (f"healthy-{name}" if variant["expected"] == "healthy"
                        else f"{variant['expected']}.{name}")
                shorten(keep, args.record / f"{stem}.live.trace")
                keep.unlink()
            if args.gain and case["cure"] and level == 1.0:
                gains.append(score_gain(case, build))
                print("     " + gains[-1], flush=True)
    for trace in sorted((ROOT / "tests/scenarios").glob("*.trace")):
        if args.only and not re.search(args.only, trace.name):
            continue
        expected = trace.name.split(".")[0]
        judged = judge(build, trace)
        rows.append({"name": trace.name, "live": False, "seconds_to_verdict": None, "set": "scenarios",
                     "expected": "healthy" if expected.startswith("healthy") else expected,
                     "given": judged[1] if judged else []})
    for more in args.more:
        rows += json.loads(more.read_text())["cases"]
    print_table(rows)
    if gains:
        print(f"\npredicted gain against what the fix gave, medians of {GAIN_PAIRS}:")
        print("\n".join("  " + line for line in gains))
    if skipped:
        print(f"SKIPPED {len(skipped)}: {', '.join(skipped)}")
    if args.json:
        args.json.write_text(json.dumps({"cases": [
            {"round": None, "first_run": None, **row} for row in rows]}, indent=1))
    sick = [r for r in rows if r["expected"] != "healthy"]
    alarms = sum(not is_right(r) for r in rows if r["expected"] == "healthy")
    foretold = not any("MISS" in line for line in gains)
    return 0 if sick and sum(map(is_right, sick)) >= 0.95 * len(sick) and not alarms and foretold else 1


if __name__ == "__main__":
    sys.exit(main())
