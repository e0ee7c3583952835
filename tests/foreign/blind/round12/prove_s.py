"""Prove the programs of this folder without any tool: prove_s.py [NAME ...]; writes (updates) proof.json.

Every program is run without its header for the header's seconds, counted from its first progress line (the machine is shared, and
imports take longer when it is busy); the time and the CPU time until then are noted. Threads of OpenMP sleep instead of spinning
(both programs alike), because the neighbours' load would otherwise be measured."""
import shutil
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time

import numpy as np
import psutil

HERE = os.path.dirname(os.path.abspath(__file__))
PYTHON = os.environ.get("PYTHON_LOOPS", sys.executable)
SPY = os.environ.get("PY_SPY") or shutil.which("py-spy")
KIND = {"coral_bleaching": "memory", "beehive_hum": "slow", "limerick_metre": "learning", "knitting_charts": "slow",
        "pottery_shards": "slow", "geyser_waits": "stuck", "ferry_ballast": "stuck", "oyster_prices": "slow",
        "mushroom_gills": "healthy", "birdsong_syllables": "healthy", "bell_ringing": "healthy",
        "sewer_network": "healthy", "cork_taint": "healthy"}
STEP = re.compile(r"\b(?:step|iteration|day|batch) (\d+)")
LOSS = re.compile(r"\b(?:loss|squared error) ([-+]?(?:nan|inf|[\d.]+))")


def header(path):
    return int(re.search(r"^# seconds: (\d+)", open(path).read(), re.M).group(1))


def bare(path):
    lines = open(path).read().split("\n")
    while lines[0].startswith("#"):
        lines.pop(0)
    out = os.path.join(tempfile.mkdtemp(prefix="prove_"), os.path.basename(path))
    open(out, "w").write("\n".join(lines))
    return out


def tree(pid):
    try:
        p = psutil.Process(pid)
        return [p] + p.children(recursive=True)
    except psutil.Error:
        return []


def cpu_and_rss(pid):
    cpu = rss = 0
    for p in tree(pid):
        try:
            t = p.cpu_times()
            cpu += t.user + t.system
            rss += p.memory_info().rss
        except psutil.Error:
            pass
    return cpu, rss / 2**20


def places(pid):
    out = {}
    for p in tree(pid):
        text = subprocess.run([SPY, "dump", "--pid", str(p.pid)], capture_output=True, text=True).stdout
        frames = [l.strip() for l in text.split("\n") if l.startswith("    ")]
        out[p.pid] = frames[:3]
    return out


def run(path, seconds, spy_at=()):
    env = dict(os.environ, PYTHONUNBUFFERED="1", OMP_WAIT_POLICY="PASSIVE", GOMP_SPINCOUNT="0")
    began = time.time()
    cwd = tempfile.mkdtemp(prefix="prove_cwd_")
    err = open(os.path.join(cwd, "stderr"), "w+")
    proc = subprocess.Popen([PYTHON, bare(path)], stdout=subprocess.PIPE, stderr=err, text=True, cwd=cwd, env=env)
    lines, first = [], []

    def read():
        for line in proc.stdout:
            m = STEP.search(line)
            if m and not first:
                first.append((time.time() - began, cpu_and_rss(proc.pid)[0]))
            lines.append((time.time() - began, line.rstrip()))

    threading.Thread(target=read, daemon=True).start()
    rss, seen, todo = [], [], list(spy_at)
    while proc.poll() is None:
        now = time.time() - began
        if (first and now - first[0][0] >= seconds) or (not first and now > 90):
            break
        if first and todo and now - first[0][0] >= todo[0]:
            todo.pop(0)
            seen.append(places(proc.pid))
        rss.append((round(now, 1), round(cpu_and_rss(proc.pid)[1])))
        time.sleep(0.5)
    died = proc.poll()
    victims = tree(proc.pid)
    for p in victims:
        try:
            p.kill()
        except psutil.Error:
            pass
    proc.wait()
    err.seek(0)
    steps = [(t, int(STEP.search(l).group(1))) for t, l in lines if STEP.search(l)]
    losses = [float(LOSS.search(l).group(1)) for t, l in lines if LOSS.search(l) and "held-out" not in l]
    return {"rc_before_end": died, "first_s": round(first[0][0], 1) if first else None,
            "first_cpu_s": round(first[0][1], 1) if first else None, "steps": steps[-1][1] - steps[0][1] if steps else 0,
            "step_times": steps, "losses": losses, "rss": rss, "places": seen, "wall": round(time.time() - began, 1),
            "err": err.read()[-600:] if died is not None else ""}


def slim(r):
    n = max(1, len(r["losses"]) // 8)
    since = r["step_times"][-1][0] if r["step_times"] else None
    late = [m for t, m in r["rss"] if r["first_s"] and t > r["first_s"] + 4] or [0]
    return {"rc_before_end": r["rc_before_end"], "first_s": r["first_s"], "first_cpu_s": r["first_cpu_s"], "steps": r["steps"],
            "last_progress_s": round(since, 1) if since else None, "wall_s": r["wall"],
            "loss_begin": round(float(np.mean(r["losses"][:n])), 4) if r["losses"] else None,
            "loss_end": round(float(np.mean(r["losses"][-n:])), 4) if r["losses"] else None,
            "rss_mb": [late[0], late[len(late) // 2], late[-1]], **({"err": r["err"]} if r["err"] else {})}


def prove(name):
    kind = KIND[name]
    a, b = os.path.join(HERE, "programs", name + ".py"), os.path.join(HERE, "cured", name + ".py")
    s = header(a)
    out = {"kind": kind, "seconds": s, "load": os.getloadavg()[0]}
    if kind == "slow":
        runs = [(run(a, s), run(b, s)) for _ in range(2)]
        out["faulty"], out["cured"] = [slim(x) for x, _ in runs], [slim(y) for _, y in runs]
        out["ratio"] = [round(y["steps"] / max(1, x["steps"]), 2) for x, y in runs]
        out["holds"] = all(r >= 1.3 for r in out["ratio"]) and all(
            x["rc_before_end"] is None and y["rc_before_end"] is None for x, y in runs)
        return out
    if kind == "healthy":
        r = run(a, s)
        h = out["program"] = slim(r)
        gap = max(np.diff([t for t, _ in r["step_times"]] + [r["wall"]])) if len(r["step_times"]) > 1 else 99
        h["longest_gap_s"] = round(float(gap), 1)
        out["holds"] = bool(h["rc_before_end"] is None and h["first_s"] is not None and min(h["first_s"], h["first_cpu_s"]) <= 15
                            and gap < 6 and h["rss_mb"][2] - h["rss_mb"][1] < 30 and h["loss_end"] < 0.8 * h["loss_begin"])
        return out
    spy = (s - 8, s - 2) if kind == "stuck" else ()
    x, y = run(a, s, spy), run(b, s)
    f, c = out["faulty"], out["cured"] = slim(x), slim(y)
    alive = x["rc_before_end"] is None and y["rc_before_end"] is None
    if kind == "stuck":
        f["py_spy"] = [list(p.values()) for p in x["places"]]
        quiet = f["wall_s"] - f["last_progress_s"]
        f["quiet_s"] = round(quiet, 1)
        same = len(x["places"]) == 2 and x["places"][0] == x["places"][1]
        out["holds"] = bool(alive and same and quiet >= 10 and c["wall_s"] - c["last_progress_s"] < 4 and c["steps"] > f["steps"])
    elif kind == "memory":
        def growth(r):
            return r["rss_mb"][2] - r["rss_mb"][0], r["rss_mb"][2] - r["rss_mb"][1]
        f["growth_mb"], c["growth_mb"] = growth(f), growth(c)
        late = np.array([q for q in x["rss"] if q[0] > x["first_s"] + 4])
        f["steady"] = round(float(np.corrcoef(late[:, 0], late[:, 1])[0, 1]), 3)
        f["mb_per_step"] = round(f["growth_mb"][0] / max(1, f["steps"]), 2)
        out["holds"] = bool(alive and f["steady"] > 0.9 and f["growth_mb"][0] > 40 and f["growth_mb"][1] > 10
                            and max(c["growth_mb"]) < f["growth_mb"][0] / 3)
    else:
        out["holds"] = bool(alive and f["loss_end"] > 0.95 * f["loss_begin"] and c["loss_end"] < 0.6 * f["loss_end"])
    return out


if __name__ == "__main__":
    names = sys.argv[1:] or list(KIND)
    path = os.path.join(HERE, "proof.json")
    for name in names:
        result = prove(name)
        proof = json.load(open(path)) if os.path.exists(path) else {}
        proof[name] = result
        json.dump(proof, open(path, "w"), indent=1)
        print(name, result["holds"], flush=True)
