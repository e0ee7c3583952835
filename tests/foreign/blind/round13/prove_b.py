"""Proves the programs of this folder without the tool.

python3 prove.py --torch PYTHON [--plain PYTHON] --py-spy PATH [--only NAME ...]
"""
import argparse
import fcntl
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
LOCK = os.path.join(tempfile.gettempdir(), "machine.lock")
NUMBER = r"(-?\d+\.?\d*(?:e-?\d+)?|nan)"

# name: kind, pattern of the step counter, pattern of the loss
PROGRAMS = {
    "insect_wings": ("slow", r"step +(\d+)", r"loss " + NUMBER),
    "jellyfish_pulse": ("slow", r"^ *(\d+) mse", r"mse " + NUMBER),
    "keystroke_users": ("learning", r"step (\d+)", r"step \d+ loss " + NUMBER),
    "perfume_notes": ("learning", r"step (\d+)", r"^step \d+ loss " + NUMBER),
    "pine_rings": ("stuck", r"step (\d+)", r"loss " + NUMBER),
    "metro_vibration": ("memory", r"^ *(\d+)  loss", r"loss " + NUMBER),
    "irrigation_valves": ("stuck", r"decision +(\d+)", r"cost " + NUMBER),
    "patent_citations": ("slow", r"batch +(\d+)", r"loss " + NUMBER),
    "northern_lights": ("healthy", r"step +(\d+)", r"loss " + NUMBER),
    "octopus_arm": ("healthy", r"iteration +(\d+)", r"distance " + NUMBER),
    "ocean_swell": ("healthy", r"it +(\d+)", r"loss " + NUMBER),
    "postal_zones": ("healthy", r"round +(\d+)", r"loss " + NUMBER),
    "marsh_methane": ("healthy", r"update +(\d+)", r"loss " + NUMBER),
}


def family(pid):
    found, wanted = [], [pid]
    children = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat") as f:
                    children.setdefault(int(f.read().rsplit(")", 1)[1].split()[1]), []).append(int(entry))
            except OSError:
                pass
    while wanted:
        one = wanted.pop()
        found.append(one)
        wanted += children.get(one, [])
    return found


def rss_mb(pid):
    """Resident memory of its own (without the mapped files of the libraries, which other programs share)."""
    total = 0
    for one in family(pid):
        try:
            with open(f"/proc/{one}/smaps_rollup") as f:
                total += sum(int(size) for size in re.findall(r"Pss_(?:Anon|Shmem): +(\d+)", f.read()))
        except OSError:
            pass
    return round(total / 1024, 1)


def stacks(py_spy, pid):
    """The places of all Python processes: the innermost two frames of each main thread."""
    places = {}
    for one in family(pid):
        run = subprocess.run([py_spy, "dump", "--pid", str(one)], capture_output=True, text=True, timeout=20)
        frames = re.findall(r'^Thread .*?"?MainThread"?\n((?:    .+\n?)+)', run.stdout, re.M)
        if frames:
            places[one] = [line.strip() for line in frames[0].splitlines()[:3]]
    return places


def watch(python, path, seconds, py_spy=None):
    """Runs a program for some seconds; lines with their times, memory once a second, stacks near the end."""
    env = {k: v for k, v in os.environ.items() if k not in ("OMP_NUM_THREADS", "PYTHONUNBUFFERED")}
    process = subprocess.Popen(
        [python, path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=env,
        stdin=subprocess.DEVNULL, start_new_session=True,
    )
    began = time.time()
    lines, memory, dumps = [], [], []

    def read():
        for line in process.stdout:
            lines.append((round(time.time() - began, 2), line.rstrip("\n")))

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    marks = [seconds - 7, seconds - 2] if py_spy else []
    ended = None
    while time.time() - began < seconds:
        time.sleep(0.5)
        if process.poll() is not None and ended is None:
            ended = process.returncode
            break
        memory.append((round(time.time() - began, 1), rss_mb(process.pid)))
        if marks and time.time() - began >= marks[0]:
            marks.pop(0)
            dumps.append(stacks(py_spy, process.pid))
    members = family(process.pid)
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    for one in members:
        try:
            os.kill(one, signal.SIGKILL)
        except ProcessLookupError:
            pass
    process.wait()
    reader.join(5)
    return {"lines": lines, "memory": memory, "dumps": dumps, "ended": ended, "seconds": seconds}


def series(result, pattern):
    return [(t, float(m.group(1))) for t, line in result["lines"] for m in [re.search(pattern, line)] if m]


def last(points):
    return points[-1][1] if points else 0


def slope(memory, after):
    """MB per second, least squares, once the start is over."""
    points = [(t, m) for t, m in memory if t >= after]
    n = len(points)
    if n < 5:
        return 0.0
    mt, mm = sum(t for t, _ in points) / n, sum(m for _, m in points) / n
    return round(sum((t - mt) * (m - mm) for t, m in points) / sum((t - mt) ** 2 for t, _ in points), 3)


def ends(losses):
    """Means of the first and of the last fifth."""
    values = [v for _, v in losses]
    k = max(1, len(values) // 5)
    if not values:
        return None, None
    return round(sum(values[:k]) / k, 5), round(sum(values[-k:]) / k, 5)


def summary(result, step, loss):
    steps, losses = series(result, step), series(result, loss)
    first, final = ends(losses)
    return {
        "steps": last(steps),
        "first_step_s": steps[0][0] if steps else None,
        "last_step_s": steps[-1][0] if steps else None,
        "loss_first": first,
        "loss_last": final,
        "rss_mb": max((m for _, m in result["memory"]), default=0),
        "rss_mb_per_s": slope(result["memory"], result["seconds"] * 0.4),
        "ended": result["ended"],
    }


def prove(name, pythons, py_spy):
    kind, step, loss = PROGRAMS[name]
    path = os.path.join(HERE, "programs", name + ".py")
    cured_path = os.path.join(HERE, "cured", name + ".py")
    with open(path) as f:
        text = f.read()
    python = pythons[re.search(r"# python: (\w+)", text).group(1)]
    seconds = int(re.search(r"# seconds: (\d+)", text).group(1))
    watch(python, path if kind == "healthy" else cured_path, 6)  # data into the temporary folder, files into the cache
    proof = {"kind": kind, "when": time.strftime("%Y-%m-%d %H:%M:%S"), "load": os.getloadavg()[0]}
    if kind == "slow":
        seconds = min(seconds, 25) if name != "jellyfish_pulse" else seconds
        pairs = []
        for _ in range(2):
            pairs.append([summary(watch(python, p, seconds), step, loss) for p in (path, cured_path)])
        proof["runs"] = [{"faulty": a, "cured": b} for a, b in pairs]
        proof["ratios"] = [round(b["steps"] / max(1, a["steps"]), 2) for a, b in pairs]
        proof["holds"] = all(
            ratio >= 1.3 and a["ended"] is None and b["ended"] is None
            for ratio, (a, b) in zip(proof["ratios"], pairs)
        )
        return proof
    spy = py_spy if kind == "stuck" else None
    faulty_run = watch(python, path, seconds, spy)
    faulty = summary(faulty_run, step, loss)
    if kind == "healthy":
        proof["run"] = faulty
        proof["holds"] = bool(
            faulty["ended"] is None
            and faulty["first_step_s"] is not None
            and faulty["first_step_s"] < 15
            and faulty["last_step_s"] > seconds - 4
            and faulty["rss_mb_per_s"] < 0.5
            and faulty["loss_last"] < 0.9 * faulty["loss_first"]
        )
        return proof
    cured = summary(watch(python, cured_path, seconds), step, loss)
    proof["faulty"], proof["cured"] = faulty, cured
    lives = faulty["ended"] is None and cured["ended"] is None
    goes_on = cured["last_step_s"] is not None and cured["last_step_s"] > seconds - 5
    if kind == "stuck":
        same = len(faulty_run["dumps"]) == 2 and faulty_run["dumps"][0] == faulty_run["dumps"][1]
        proof["places"] = sorted({" < ".join(frames) for frames in faulty_run["dumps"][-1].values()})
        proof["holds"] = bool(lives and goes_on and same and proof["places"] and faulty["last_step_s"] < seconds - 12)
    elif kind == "memory":
        proof["holds"] = bool(lives and faulty["rss_mb_per_s"] > 2 and cured["rss_mb_per_s"] < 0.3)
    else:
        proof["holds"] = bool(
            lives
            and goes_on
            and faulty["loss_last"] > 0.9 * faulty["loss_first"]
            and cured["loss_last"] < 0.6 * faulty["loss_last"]
        )
    return proof


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--torch", required=True)
    parser.add_argument("--plain")
    parser.add_argument("--tensorflow", help="not needed here")
    parser.add_argument("--loops", help="not needed here")
    parser.add_argument("--py-spy", default=shutil.which("py-spy"))
    parser.add_argument("--only", nargs="*")
    args = parser.parse_args()
    pythons = {"torch": args.torch, "plain": args.plain or args.torch}
    target = os.path.join(HERE, "proof.json")
    for name in args.only or PROGRAMS:
        with open(LOCK, "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            proof = prove(name, pythons, args.py_spy)
            proofs = {}
            if os.path.exists(target):
                with open(target) as f:
                    proofs = json.load(f)
            proofs[name] = proof
            with open(target + ".new", "w") as f:
                json.dump(dict(sorted(proofs.items())), f, indent=1)
            os.replace(target + ".new", target)
        print(name, proof["holds"], proof.get("ratios", ""), flush=True)


if __name__ == "__main__":
    main()
