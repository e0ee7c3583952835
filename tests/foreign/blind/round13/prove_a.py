"""Prove the programs of this folder: run faulty and cured ones, count their steps, watch their memory and losses.

python3 prove.py --tensorflow PYTHON [--py-spy PY_SPY] [--only NAME ...]
"""

import argparse
import fcntl
import json
import os
import re
import signal
import subprocess
import threading
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
PAGE = os.sysconf("SC_PAGE_SIZE")
NUMBER = r"(-?\d+\.?\d*(?:e[-+]?\d+)?|-?nan|-?inf)"

# kind; how a line tells the step; which number is the loss (lowercase)
PROGRAMS = {
    "dam_vibrations": dict(kind="stuck", step="keras", seconds=30),
    "gene_promoters": dict(kind="slow", step="batch", per_epoch=475, seconds=27),
    "essay_authors": dict(kind="slow", step="count", each=10, seconds=24),
    "avalanche_risk": dict(kind="slow", step="step", seconds=30),
    "bat_echolocation": dict(kind="memory", step="keras", seconds=24),
    "concrete_strength": dict(kind="learning", step="step", loss="mse", seconds=25),
    "garment_fabrics": dict(kind="learning", step="keras", loss="loss", seconds=30),
    "cobblestone_roads": dict(kind="stuck", step="keras", seconds=30),
    "estuary_salinity": dict(kind="healthy", step="batch", per_epoch=235, loss="nll", seconds=30),
    "heat_plates": dict(kind="healthy", step="step", loss="loss", seconds=30),
    "brain_volumes": dict(kind="healthy", step="step", loss="loss", seconds=30),
    "folk_ballads": dict(kind="healthy", step="step", loss="loss", seconds=30),
    "exoplanet_dips": dict(kind="healthy", step="keras", loss="loss", seconds=30),
    "flute_timbres": dict(kind="healthy", step="step", loss="loss", seconds=30),
}


def processes_below(pid):
    found = [pid]
    for one in found:
        try:
            for task in Path(f"/proc/{one}/task").iterdir():
                found += [int(child) for child in (task / "children").read_text().split()]
        except OSError:
            pass
    return found


def resident_mb(pid):
    total = 0
    for one in processes_below(pid):
        try:
            total += int(Path(f"/proc/{one}/statm").read_text().split()[1]) * PAGE
        except (OSError, IndexError):
            pass
    return total / 2**20


def stacks(py_spy, pid):
    """The innermost frames of every thread of the program and its children."""
    places = {}
    for number, one in enumerate(processes_below(pid)):
        done = subprocess.run([py_spy, "dump", "--pid", str(one)], capture_output=True, text=True, timeout=20)
        thread = None
        for line in done.stdout.splitlines():
            if line.startswith("Thread"):
                thread = f"process {number} {line.split(':')[-1].strip()}"
                places[thread] = []
            elif thread and line.startswith("    ") and len(places[thread]) < 4:
                places[thread].append(line.strip())
    return places


def run(python, path, seconds, py_spy=None):
    environment = dict(os.environ, PYTHONUNBUFFERED="1", TF_CPP_MIN_LOG_LEVEL="2")
    began = time.time()
    child = subprocess.Popen([python, str(path)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             stdin=subprocess.DEVNULL, env=environment, start_new_session=True)
    pieces, memory, dumps = [], [], []

    def read():
        while True:
            piece = os.read(child.stdout.fileno(), 65536)
            if not piece:
                return
            pieces.append((time.time() - began, piece.decode("utf-8", "replace")))

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    dump_at = [seconds * 0.6, seconds * 0.9] if py_spy else []
    while time.time() - began < seconds and child.poll() is None:
        memory.append((round(time.time() - began, 1), round(resident_mb(child.pid), 1)))
        if dump_at and time.time() - began > dump_at[0]:
            dump_at.pop(0)
            dumps.append(stacks(py_spy, child.pid))
        time.sleep(0.5)
    ended = child.poll()
    usage = None
    try:
        fields = Path(f"/proc/{child.pid}/stat").read_text().rsplit(")", 1)[1].split()
        usage = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except OSError:
        pass
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    child.wait()
    reader.join(3)
    return dict(pieces=pieces, memory=memory, ended=ended, dumps=dumps, cpu_s=usage)


def lines_of(pieces):
    """(time, line) with colours, carriage returns and backspaces taken out."""
    rest = ""
    for when, text in pieces:
        text = re.sub(r"\x1b\[[0-9;]*m", "", rest + text)
        parts = re.split(r"[\r\n\x08]+", text)
        rest = parts.pop()
        for part in parts:
            if part.strip():
                yield when, part.strip()
    if rest.strip():
        yield pieces[-1][0], rest.strip()


def progress(result, spec):
    """[(time, step)], [(time, loss)]"""
    steps, losses = [], []
    epoch, best, done = 1, 0, 0
    name = spec.get("loss")
    for when, line in lines_of(result["pieces"]):
        line = line.lower()
        if spec["step"] == "keras":
            match = re.match(r"epoch (\d+)/\d+", line)
            if match:
                epoch, done = int(match[1]), best
            match = re.match(r"(\d+)/(\d+)\s", line)
            if match and (int(match[1]) or 0) and "val_" not in line.split(" - ")[0]:
                best = max(best, (epoch - 1) * int(match[2]) + int(match[1]))
                steps.append((when, best))
        elif spec["step"] == "step":
            match = re.search(r"\bstep\s+(\d+)", line)
            if match:
                steps.append((when, int(match[1])))
        elif spec["step"] == "batch":
            match = re.match(r"epoch (\d+)/\d+", line)
            if match:
                epoch = int(match[1])
            match = re.match(r"batch\s+(\d+)", line)
            if match:
                steps.append((when, (epoch - 1) * spec["per_epoch"] + int(match[1]) + 1))
        elif spec["step"] == "count":
            if re.search(r"\bstep\s+(\d+)", line):
                done += spec["each"]
                steps.append((when, done))
        if name:
            match = re.search(rf"(?<![_a-z]){name}[ :=]+{NUMBER}", line)
            if match and (spec["step"] != "keras" or "val_" in line or not spec.get("val")):
                losses.append((round(when, 1), float(match[1])))
    return steps, losses


def growth(memory, share):
    """MB per second over the last share of the run, by least squares."""
    points = memory[int(len(memory) * (1 - share)):]
    mean_t = sum(t for t, _ in points) / len(points)
    mean_m = sum(m for _, m in points) / len(points)
    above = sum((t - mean_t) * (m - mean_m) for t, m in points)
    return round(above / sum((t - mean_t) ** 2 for t, _ in points), 3)


def summary(result, spec):
    steps, losses = progress(result, spec)
    return dict(
        ended=result["ended"],
        steps=steps[-1][1] if steps else 0,
        first_step_s=round(steps[0][0], 1) if steps else None,
        last_step_s=round(steps[-1][0], 1) if steps else None,
        rss_mb=[m for _, m in result["memory"][:: max(1, len(result["memory"]) // 12)]] + [result["memory"][-1][1]],
        rss_mb_per_s=growth(result["memory"], 0.5),
        cpu_s=result["cpu_s"],
        losses=losses[:: max(1, len(losses) // 14)],
        last_loss=losses[-1][1] if losses else None,
    )


def prove(name, spec, options):
    faulty, cured = HERE / "programs" / f"{name}.py", HERE / "cured" / f"{name}.py"
    python, seconds, kind = options.tensorflow, spec["seconds"], spec["kind"]
    proof = dict(kind=kind, seconds=seconds)
    if kind == "slow":
        pairs = []
        for _ in range(2):
            pairs.append([summary(run(python, path, seconds), spec) for path in (faulty, cured)])
        proof["pairs"] = pairs
        proof["ratios"] = [round(c["steps"] / max(1, f["steps"]), 2) for f, c in pairs]
        proof["holds"] = all(c["steps"] >= 1.3 * f["steps"] and c["steps"] > 0 for f, c in pairs)
        proof["holds"] &= all(one["ended"] is None for pair in pairs for one in pair)
    elif kind in ("memory", "learning"):
        bad, good = [summary(run(python, path, seconds), spec) for path in (faulty, cured)]
        proof.update(faulty=bad, cured=good)
        alive = bad["ended"] is None and good["ended"] is None and bad["steps"] > 0 and good["steps"] > 0
        if kind == "memory":
            proof["holds"] = alive and bad["rss_mb_per_s"] > 2.0 and good["rss_mb_per_s"] < 0.5
        else:
            proof["holds"] = alive and not bad["last_loss"] < 2.0 * good["last_loss"]
    elif kind == "stuck":
        seen = run(python, faulty, seconds, options.py_spy)
        bad, good = summary(seen, spec), summary(run(python, cured, seconds), spec)
        proof.update(faulty=bad, cured=good, stacks=seen["dumps"])
        same = len(seen["dumps"]) == 2 and seen["dumps"][0] == seen["dumps"][1] and bool(seen["dumps"][0])
        proof["same_place_twice"] = same
        quiet = bad["last_step_s"] is None or bad["last_step_s"] < seconds * 0.5
        proof["holds"] = bad["ended"] is None and quiet and same and (good["last_step_s"] or 0) > seconds * 0.8
    else:
        one = summary(run(python, faulty, seconds), spec)
        proof["run"] = one
        losses = [value for _, value in progress_losses(one)]
        third = max(1, len(losses) // 3)
        falls = sum(losses[-third:]) / third < sum(losses[:third]) / third if losses else False
        proof["loss_falls"] = falls
        proof["holds"] = bool(
            one["ended"] is None and one["first_step_s"] is not None and one["first_step_s"] < 20
            and one["last_step_s"] > seconds * 0.85 and abs(one["rss_mb_per_s"]) < 1.0 and falls
        )
    return proof


def progress_losses(one):
    return [pair for pair in one["losses"] if pair[1] == pair[1]]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tensorflow", required=True)
    parser.add_argument("--py-spy", default="py-spy")
    parser.add_argument("--torch")
    parser.add_argument("--loops")
    parser.add_argument("--only", nargs="*")
    options = parser.parse_args()
    book = HERE / "proof.json"
    for name, spec in PROGRAMS.items():
        if options.only and name not in options.only:
            continue
        with open("/tmp/machine.lock", "a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            proof = prove(name, spec, options)
            fcntl.flock(lock, fcntl.LOCK_UN)
        proofs = json.loads(book.read_text()) if book.exists() else {}
        proofs[name] = proof
        book.write_text(json.dumps(proofs, indent=1, sort_keys=True) + "\n")
        print(name, proof["holds"], proof.get("ratios", ""), flush=True)


if __name__ == "__main__":
    main()
