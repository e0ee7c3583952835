"""Runs the programs and their cured twins and writes proof.json: python prove_o.py [name ...]"""
import json
import math
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
PYTHONS = {"tensorflow": os.environ.get("PYTHON_TENSORFLOW", sys.executable), "loops": os.environ.get("PYTHON_LOOPS", sys.executable),
           "torch": os.environ.get("PYTHON_TORCH", sys.executable), "plain": os.environ.get("PYTHON_TORCH", sys.executable)}
PY_SPY = os.environ.get("PY_SPY") or shutil.which("py-spy")
STEP = re.compile(r"step (\d+) loss (\S+)")
KIND = {"orchard_yield": "stuck", "pottery_shards": "stuck", "tram_arrivals": "stuck", "wind_gusts": "slow", "folk_tunes": "slow",
        "reef_survey": "memory", "lichen_adapt": "learning", "glacier_sensors": "nan"}


def header(path):
    return dict(re.findall(r"^# (\w+): (.*)$", path.read_text(), re.M))


def group(pgid):
    """pid -> resident MB of every process of the group."""
    found = {}
    for d in Path("/proc").iterdir():
        if d.name.isdigit():
            try:
                stat = (d / "stat").read_text().rsplit(")", 1)[1].split()
                if int(stat[2]) == pgid and stat[0] != "Z":
                    found[int(d.name)] = int((d / "statm").read_text().split()[1]) * 4096 / 1e6
            except OSError:
                pass
    return found


def places(pgid):
    """Innermost frame of the main thread of every process."""
    out = {}
    for pid in group(pgid):
        done = subprocess.run([PY_SPY, "dump", "--pid", str(pid), "--nonblocking"], capture_output=True, text=True)
        frames = [line.strip() for line in done.stdout.splitlines() if line.startswith("    ")]
        if frames:
            out[pid] = " < ".join(re.sub(r"\((?:[^()]*/)?([^/()]*)\)", r"(\1)", f) for f in frames[:4])
    return out


def run(path, python, seconds, spy=False):
    text = "".join(line for line in path.read_text().splitlines(True) if not re.match(r"# (python|expected|verdict|seconds|where|how|Why)", line))
    folder = tempfile.mkdtemp(prefix="prove")
    copy = Path(folder) / path.name
    copy.write_text(text)
    child = subprocess.Popen([python, str(copy)], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             text=True, start_new_session=True, env={**os.environ, "TMPDIR": folder})
    began, lines, rss, seen = time.time(), [], [], []

    def read():
        for line in child.stdout:
            lines.append((round(time.time() - began, 2), line.rstrip()))

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    marks = [0.6 * seconds, 0.9 * seconds] if spy else []
    ended = None
    while time.time() - began < seconds:
        time.sleep(0.25)
        if child.poll() is not None:
            ended = child.returncode
            break
        now = time.time() - began
        rss.append((round(now, 1), round(sum(group(child.pid).values()), 1)))
        if marks and now > marks[0]:
            marks.pop(0)
            seen.append(places(child.pid))
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    child.wait()
    reader.join(5)
    shutil.rmtree(folder, ignore_errors=True)
    steps = [(t, int(m[1]), float(m[2])) for t, line in lines for m in [STEP.search(line)] if m]
    return {"steps": steps, "rss": rss, "places": seen, "ended": ended, "tail": [line for _, line in lines[-4:]]}


def mean(values):
    return sum(values) / max(1, len(values))


def brief(r):
    s, n = r["steps"], max(1, len(r["steps"]) // 6)
    return {"first_step_s": s[0][0] if s else None, "last_step_s": s[-1][0] if s else None, "last_step": s[-1][1] if s else 0,
            "reports": len(s), "loss_first": mean([v for *_, v in s[:n]]) if s else None, "loss_last": mean([v for *_, v in s[-n:]]) if s else None,
            "rss_mb": [m for _, m in r["rss"]][::16], "ended": r["ended"], "tail": r["tail"]}


def growth(r):
    """MB gained between the middle and the end, and in each of the three thirds of that part."""
    values = [m for t, m in r["rss"] if t > 0.4 * r["rss"][-1][0]]
    k = len(values) // 3
    thirds = [values[min(len(values) - 1, (i + 1) * k)] - values[i * k] for i in range(3)]
    return round(values[-1] - values[0], 1), [round(x, 1) for x in thirds]


def prove(name):
    path, twin = HERE / "programs" / f"{name}.py", HERE / "cured" / f"{name}.py"
    head = header(path)
    python, kind = PYTHONS[head["python"]], KIND.get(name, "healthy")
    seconds = min(int(head["seconds"]), int(os.environ.get("PROOF_SECONDS", "25")))
    result = {"kind": kind, "expected": head["expected"], "seconds": seconds}
    if kind == "healthy":
        r = run(path, python, seconds)
        b = brief(r)
        up, thirds = growth(r)
        result.update(run=b, memory_gain_mb=up, memory_thirds_mb=thirds)
        result["holds"] = bool(r["ended"] is None and b["first_step_s"] and b["first_step_s"] < 15 and b["last_step_s"] > 0.93 * seconds
                               and up < 40 and b["loss_last"] < 0.95 * b["loss_first"])
        return result
    if kind == "slow":
        pairs = []
        for _ in range(2):
            a, b = brief(run(path, python, seconds)), brief(run(twin, python, seconds))
            pairs.append((a, b))
        result.update(runs=[{"faulty": a, "cured": b, "ratio": round(b["last_step"] / max(1, a["last_step"]), 2)} for a, b in pairs])
        result["holds"] = all(x["ratio"] >= 1.3 and x["faulty"]["ended"] is None and x["cured"]["ended"] is None for x in result["runs"])
        return result
    f, c = run(path, python, seconds, spy=kind == "stuck"), run(twin, python, seconds)
    a, b = brief(f), brief(c)
    result.update(faulty=a, cured=b)
    alive = f["ended"] is None and c["ended"] is None
    goes_on = bool(b["last_step_s"] and b["last_step_s"] > 0.85 * seconds)
    if kind == "stuck":
        result["places"] = [list(p.values()) for p in f["places"]]
        same = len(f["places"]) == 2 and f["places"][0] and f["places"][0] == f["places"][1]
        result["holds"] = bool(alive and goes_on and same and (a["last_step_s"] or 0) < 0.5 * seconds)
    elif kind == "memory":
        (up, thirds), (up_c, thirds_c) = growth(f), growth(c)
        result.update(gain_mb=[up, thirds], gain_cured_mb=[up_c, thirds_c])
        result["holds"] = alive and goes_on and min(thirds) > 10 and up > 60 and up_c < 15
    elif kind == "nan":
        bad = [n for _, n, v in f["steps"] if not math.isfinite(v)]
        result["first_nan_step"] = bad[0] if bad else None
        result["holds"] = bool(alive and goes_on and bad and not math.isfinite(f["steps"][-1][2])
                               and all(math.isfinite(v) for *_, v in c["steps"]) and b["loss_last"] < 0.7 * b["loss_first"])
    else:
        result["losses"] = [[v for *_, v in r["steps"]][2::8] for r in (f, c)]
        late = [v for *_, v in f["steps"]][4:]
        n = max(1, len(late) // 4)
        result["holds"] = bool(alive and goes_on and mean(late[-n:]) > 0.93 * mean(late[:n]) and a["loss_last"] > 2 * b["loss_last"])
    return result


def main():
    names = sys.argv[1:] or sorted(p.stem for p in (HERE / "programs").glob("*.py"))
    target = HERE / "proof.json"
    for name in names:
        result = prove(name)
        proof = json.loads(target.read_text()) if target.exists() else {}
        proof[name] = result
        target.write_text(json.dumps(dict(sorted(proof.items())), indent=1) + "\n")
        print(name, result["kind"], "holds" if result["holds"] else "DOES NOT HOLD", flush=True)


if __name__ == "__main__":
    main()
