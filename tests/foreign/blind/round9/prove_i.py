#!/usr/bin/env python3
"""Runs every program and its cured twin and writes proof.json. Usage: prove.py [NAME ...] (all without names)."""
import glob
import json
import math
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
QUIET = "/tmp/quiet"


def cached(pattern):
    found = sorted(glob.glob(os.path.expanduser("~/.cache/headway/" + pattern)))
    return found[0] if found else None


PYTHONS = {"tensorflow": cached("interop-py3.11-*/bin/python"), "torch": "/usr/bin/python3"}
PY_SPY = cached("loops-py3.11-*/bin/py-spy") or shutil.which("py-spy")

NUMBER = r"([-+0-9.eE]+|nan|inf|-inf)"
# How to prove it, how to read the steps, and how to read the losses. A pair (regex, n) means: epochs of n steps each.
PLAN = {
    "glyph_vae": ("slow", r"step +(\d+) ", None),
    "leaf_scans": ("not-started", r"\b(\d+)/\d+ .*step", None),
    "pump_faults": ("slow", ("bar", 157), None),
    "harbour_tides": ("stuck", r"step (\d+):", None),
    "river_flow": ("nan", r"(loss)", r"loss " + NUMBER),
    "meter_windows": ("slow", r"step (\d+) ", None),
    "soil_moisture": ("slow", r"epoch +(\d+) ", None),
    "delta_forecast": ("stuck", r"step (\d+) loss", None),
    "birdsong_calls": ("memory", r"step +(\d+) ", None),
    "turbine_power": ("frozen", r"(batch) ", r"error " + NUMBER + r" MW"),
    "galaxy_shapes": ("slow", r"(\d+)/20000 ", None),
    "click_stream": ("slow", r"step (\d+) ", None),
    "cloud_types": ("healthy", ("bar", 100), r"- loss: " + NUMBER),
    "bearing_stream": ("healthy", r"batch (\d+):", r"error " + NUMBER),
    "phrase_mood": ("healthy", r"step (\d+) ", r"loss " + NUMBER),
    "kiln_control": ("healthy", ("bar", 100), r"\d+/100 loss " + NUMBER),
    "stamp_album": ("healthy", r"step (\d+) ", r"loss " + NUMBER),
    "grid_demand": ("healthy", r"step (\d+) ", r"loss " + NUMBER),
    "board_values": ("healthy", r"step (\d+) ", r"loss " + NUMBER),
    "tremor_cells": ("healthy", r"step (\d+) ", r"loss " + NUMBER),
}


def header(name):
    fields = {}
    for line in (HERE / "programs" / f"{name}.py").read_text().splitlines():
        if not line.startswith("#"):
            break
        key, colon, value = line[1:].partition(":")
        if colon:
            fields.setdefault(key.strip(), value.strip())
    return fields


def body(path):
    lines = path.read_text().splitlines(keepends=True)
    while lines and lines[0].startswith("#"):
        lines.pop(0)
    return "".join(lines)


def session_members(leader):
    members = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                fields = pathlib.Path(f"/proc/{entry}/stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[3]) == leader and fields[0] != "Z":
                members.append(int(entry))
    return members


def rss_mb(pids):
    total = 0
    for pid in pids:
        try:
            total += int(pathlib.Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        except (OSError, IndexError):
            pass
    return total / 2 ** 20


def stacks(pids):
    shown = {}
    for pid in pids:
        done = subprocess.run([PY_SPY, "dump", "--pid", str(pid)], capture_output=True, text=True)
        parts = re.split(r"\n(?=Thread )", done.stdout)
        main = [part for part in parts if "MainThread" in part.splitlines()[0]] if done.stdout else []
        if main:
            frames = [line.strip() for line in main[0].splitlines()[1:]]
            frames = [frame for frame in frames if frame and " (" in frame]
            if any("resource_tracker" in frame for frame in frames):
                continue
            shown[str(pid)] = frames
    return shown


def run_once(name, path, seconds, with_stacks):
    """One run; None when it was broken off because the machine has to be quiet."""
    while os.path.exists(QUIET):
        time.sleep(5)
    with tempfile.TemporaryDirectory(prefix="prove-", ignore_cleanup_errors=True) as folder:
        program = pathlib.Path(folder, f"{name}.py")
        program.write_text(body(path))
        env = dict(os.environ, PYTHONUNBUFFERED="1", TMPDIR=folder, TF_CPP_MIN_LOG_LEVEL="1")
        child = subprocess.Popen([PYTHONS[header(name)["python"]], str(program)], cwd=folder, env=env,
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                 start_new_session=True)
        began, chunks, memory, dumps, broken = time.time(), [], [], [], False

        def read():
            while True:
                data = os.read(child.stdout.fileno(), 65536)
                if not data:
                    return
                chunks.append((time.time() - began, data.decode(errors="replace")))

        reader = threading.Thread(target=read, daemon=True)
        reader.start()
        dump_at = [0.65 * seconds, 0.93 * seconds] if with_stacks else []
        load = os.getloadavg()[0]
        try:
            while time.time() - began < seconds and child.poll() is None:
                if os.path.exists(QUIET):
                    broken = True
                    break
                pids = session_members(child.pid)
                memory.append((round(time.time() - began, 1), round(rss_mb(pids), 1)))
                if dump_at and time.time() - began >= dump_at[0]:
                    dump_at.pop(0)
                    dumps.append(stacks(pids))
                time.sleep(0.5)
            ended = child.poll()
        finally:
            for pid in session_members(child.pid):
                try:
                    os.kill(pid, signal.SIGKILL)
                except OSError:
                    pass
            child.wait()
        reader.join(2)
        if broken:
            return None
        return {"chunks": chunks, "memory": memory, "dumps": dumps, "exit": ended, "load": load}


def run(name, path, seconds, with_stacks=False):
    while True:
        result = run_once(name, path, seconds, with_stacks)
        if result is not None:
            return result


def progress(result, how):
    """A list of (seconds, steps so far)."""
    points, text, best, epoch = [], "", 0, 0
    for at, piece in result["chunks"]:
        text += piece
        *whole, text = re.split(r"[\r\n]+", text)
        for line in whole + ([text] if text else []):
            line = re.sub(r"\x1b\[[0-9;]*m|\x08", "", line)
            if isinstance(how, tuple):
                match = re.search(r"(?i)\bepoch (\d+)", line)
                if match:
                    epoch = int(match.group(1))
                match = re.search(rf"\b(\d+)/{how[1]}\b", line)
                steps = (epoch - 1) * how[1] + int(match.group(1)) if match else 0
            else:
                match = re.search(how, line)
                steps = 0
                if match:
                    steps = int(match.group(1)) if match.group(1).isdigit() else best + 1
            if steps > best:
                best = steps
                points.append((round(at, 1), steps))
    return points


def losses(result, pattern):
    text = "".join(piece for _, piece in result["chunks"])
    text = re.sub(r"\x1b\[[0-9;]*m", "", text)
    return [float(value.rstrip(".")) for value in re.findall(pattern, text)]


def mean(values):
    return sum(values) / len(values) if values else math.nan


def spread(values, count=12):
    return [round(values[int(i * (len(values) - 1) / (count - 1))], 4) for i in range(count)] if len(values) > 1 else values


def growth(memory, after):
    late = [(t, m) for t, m in memory if t >= after]
    fifth = max(1, len(late) // 5)
    if not late:
        return 0.0, 0.0
    return mean([m for _, m in late[:fifth]]), mean([m for _, m in late[-fifth:]])


def prove(name):
    kind, how, pattern = PLAN[name]
    seconds = int(header(name)["seconds"])
    faulty, cured = HERE / "programs" / f"{name}.py", HERE / "cured" / f"{name}.py"
    proof = {"kind": kind, "seconds": seconds}

    if kind == "slow":
        counts = {"faulty": [], "cured": []}
        for _ in range(2):
            for label, path in (("faulty", faulty), ("cured", cured)):
                points = progress(run(name, path, seconds), how)
                counts[label].append(points[-1][1] if points else 0)
        ratios = [c / max(1, f) for f, c in zip(counts["faulty"], counts["cured"])]
        proof.update(steps=counts, ratios=[round(r, 2) for r in ratios],
                     holds=min(ratios) >= 1.3 and min(counts["faulty"]) > 0)
    elif kind in ("stuck", "not-started"):
        bad, good = run(name, faulty, seconds, True), run(name, cured, seconds)
        bad_points, good_points = progress(bad, how), progress(good, how)
        first, second = bad["dumps"] if len(bad["dumps"]) == 2 else ({}, {})
        same = bool(first) and first == second
        last = bad_points[-1] if bad_points else (0.0, 0)
        begun = bool(bad_points) == (kind == "stuck")
        goes_on = bool(good_points) and good_points[-1][0] > 0.8 * seconds
        proof.update(last_progress=last, same_place=same, exit=bad["exit"],
                     place={pid: frames[:4] for pid, frames in second.items()},
                     cured_first=good_points[0] if good_points else None,
                     cured_last=good_points[-1] if good_points else None,
                     holds=begun and same and bad["exit"] is None and last[0] <= 0.6 * seconds and goes_on)
    elif kind == "memory":
        bad, good = run(name, faulty, seconds), run(name, cured, seconds)
        b0, b1 = growth(bad["memory"], 8)
        g0, g1 = growth(good["memory"], 8)
        tail = [m for t, m in bad["memory"] if t >= 8]
        rising = mean([float(b >= a) for a, b in zip(tail, tail[8:])])
        proof.update(rss_faulty=[round(b0), round(b1)], rss_cured=[round(g0), round(g1)], rising=round(rising, 2),
                     steps=[progress(r, how)[-1][1] for r in (bad, good)],
                     holds=b1 - b0 > 60 and rising > 0.9 and g1 - g0 < 0.1 * (b1 - b0))
    elif kind in ("nan", "frozen"):
        bad, good = run(name, faulty, seconds), run(name, cured, seconds)
        b, g = losses(bad, pattern), losses(good, pattern)
        fifth_b, fifth_g = max(1, len(b) // 5), max(1, len(g) // 5)
        proof.update(losses_faulty=spread(b), losses_cured=spread(g))
        learned = bool(g) and all(map(math.isfinite, g)) and mean(g[-fifth_g:]) < 0.8 * mean(g[:2])
        if kind == "nan":
            first = next((i for i, v in enumerate(b) if not math.isfinite(v)), None)
            proof.update(first_bad=first, holds=learned and first is not None and math.isnan(b[-1]))
        else:
            proof.update(ratio_faulty=round(mean(b[-fifth_b:]) / mean(b[:fifth_b]), 3),
                         ratio_to_cured=round(mean(b[-fifth_b:]) / mean(g[-fifth_g:]), 2))
            proof["holds"] = learned and proof["ratio_faulty"] > 0.9 and proof["ratio_to_cured"] > 2
    else:
        result = run(name, faulty, seconds)
        points, values = progress(result, how), losses(result, pattern)
        fifth = max(1, len(values) // 5)
        before, after = growth(result["memory"], points[0][0] + 4 if points else 10)
        gaps = [b[0] - a[0] for a, b in zip(points, points[1:])]
        proof.update(first=points[0] if points else None, last=points[-1] if points else None,
                     longest_gap=round(max(gaps), 1) if gaps else None, rss=[round(before), round(after)],
                     losses=spread(values), early=round(mean(values[:fifth]), 4), late=round(mean(values[-fifth:]), 4))
        proof["holds"] = (bool(points) and result["exit"] is None and points[0][0] <= 15
                          and points[-1][0] > 0.9 * seconds and after < 1.05 * before + 10
                          and all(map(math.isfinite, values)) and proof["late"] < 0.9 * proof["early"])
        if not points:
            proof["output"] = "".join(p for _, p in result["chunks"])[-2000:]
    return proof


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    path = HERE / "proof.json"
    proofs = json.loads(path.read_text()) if path.exists() else {}
    for name in sys.argv[1:] or PLAN:
        proof = prove(name)
        proof["load"] = round(os.getloadavg()[0], 2)
        proofs[name] = proof
        path.write_text(json.dumps({key: proofs[key] for key in PLAN if key in proofs}, indent=1) + "\n")
        print(name, proof["holds"], {k: v for k, v in proof.items() if k != "holds"}, flush=True)
    print(sum(p["holds"] for p in proofs.values()), "of", len(proofs), "hold")


if __name__ == "__main__":
    main()
