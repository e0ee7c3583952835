"""Proves the programs beside it without any tool: python prove_l.py [NAME ...]; merges what it finds into proof.json."""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PYTHON = os.environ.get("PYTHON_TORCH", sys.executable)
PY_SPY = os.environ.get("PY_SPY") or shutil.which("py-spy")
STEP, LOSS = r"\bstep (\d+) ", r"\bloss ([\d.naif+-]+)"
# name: kind, what counts progress, what is to fall
TABLE = {
    "kelp_canopy": ("stuck", STEP, LOSS),
    "violin_onsets": ("memory", STEP, LOSS),
    "ceramic_glaze": ("learning", r"batch +(\d+)/", r"train loss ([\d.]+)"),
    "glacier_calving": ("slow", STEP, LOSS),
    "truss_fatigue": ("slow", r"all steps (\d+)", r"nll ([\d.naif+-]+)"),
    "census_linkage": ("slow", STEP, LOSS),
    "pump_vibration": ("slow", STEP, LOSS),
    "orchard_frost": ("stuck", r"round (\d+) mse", r"mse ([\d.]+)"),
    "bridge_damping": ("healthy", r"generation (\d+) cost", r"\d cost ([\d.]+)"),
    "tram_headways": ("healthy", STEP, LOSS),
    "reef_mosaic": ("healthy", STEP, LOSS),
    "psalter_lines": ("healthy", STEP + "lr", r"e-\d+ loss ([\d.]+)"),
    "lichen_diffusion": ("healthy", STEP + "loss", LOSS),
}


def header_seconds(name):
    with open(os.path.join(HERE, "programs", name + ".py")) as f:
        return int(re.search(r"# seconds: (\d+)", f.read()).group(1))


def group_memory(group):
    """Resident megabytes of a process group."""
    total = 0
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.getpgid(int(pid)) == group:
                with open(f"/proc/{pid}/smaps_rollup") as f:
                    total += int(re.search(r"Pss:\s+(\d+)", f.read()).group(1))
        except (OSError, AttributeError):
            pass
    return total / 1024


def where_is(pid):
    out = subprocess.run([PY_SPY, "dump", "--pid", str(pid)], capture_output=True, text=True).stdout
    return [line.strip() for line in out.splitlines() if line.startswith("    ") and "(" in line][:12]


def run(path, seconds, spy=False):
    """Lines with their times, memory samples, and two stacks of the main process if asked."""
    with tempfile.TemporaryDirectory() as folder:
        out = open(os.path.join(folder, "out"), "wb")
        began = time.time()
        env = dict(os.environ, TMPDIR=folder)
        p = subprocess.Popen([PYTHON, "-u", path], stdout=out, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, env=env, start_new_session=True)
        lines, memory, stacks, at, rest = [], [], [], 0, b""
        looks = [seconds - 8, seconds - 1] if spy else []
        next_memory = 0
        reader = open(out.name, "rb")
        try:
            while time.time() - began < seconds and p.poll() is None:
                now = time.time() - began
                rest += reader.read()
                *whole, rest = rest.split(b"\n")
                lines += [(now, w.decode(errors="replace")) for w in whole]
                if now >= next_memory:
                    memory.append((round(now, 1), round(group_memory(p.pid), 1)))
                    next_memory = now + 2
                if looks and now >= looks[0]:
                    looks.pop(0)
                    stacks.append(where_is(p.pid))
                time.sleep(0.1)
            ended = p.poll()
        finally:
            try:
                os.killpg(p.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            p.wait()
    return {"lines": lines, "memory": memory, "stacks": stacks, "ended": ended}


def progress(r, pattern):
    """(time, count) of every line that counts."""
    return [(t, int(m.group(1))) for t, line in r["lines"] for m in [re.search(pattern, line)] if m]


def losses(r, pattern):
    return [float(m.group(1)) for _, line in r["lines"] for m in [re.search(pattern, line)] if m]


def mean(v):
    return round(sum(v) / len(v), 4) if v else None


def thirds(v):
    k = max(1, len(v) // 3)
    return mean(v[:k]), mean(v[-k:])


def growth(r):
    """Megabytes a second over each half of the run, its first 8 s left out."""
    m = [x for x in r["memory"] if x[0] >= 8]
    half = len(m) // 2
    rate = lambda a, b: round((b[1] - a[1]) / (b[0] - a[0]), 2)
    return rate(m[0], m[half]), rate(m[half], m[-1])


def summary(r, step, loss):
    p = progress(r, step)
    return {"first": round(p[0][0], 1) if p else None, "last": round(p[-1][0], 1) if p else None, "count": p[-1][1] if p else 0,
            "lines": len(p), "loss_begin_end": thirds(losses(r, loss)), "mb_last": r["memory"][-1][1], "ended": r["ended"]}


def prove(name):
    kind, step, loss = TABLE[name]
    seconds = header_seconds(name)
    faulty, cured = (os.path.join(HERE, d, name + ".py") for d in ("programs", "cured"))
    rec = {"kind": kind, "seconds": seconds}
    if kind == "slow":
        pairs = []
        for _ in range(2):
            a, b = run(faulty, seconds), run(cured, seconds)
            pairs.append((summary(a, step, loss), summary(b, step, loss)))
        rec["pairs"] = [{"faulty": a, "cured": b, "ratio": round(b["count"] / max(1, a["count"]), 2)} for a, b in pairs]
        rec["holds"] = all(x["ratio"] >= 1.3 and x["faulty"]["count"] > 0 and x["faulty"]["ended"] is None for x in rec["pairs"])
    elif kind == "stuck":
        a, b = run(faulty, seconds, spy=True), run(cured, seconds)
        rec["faulty"], rec["cured"], rec["stacks"] = summary(a, step, loss), summary(b, step, loss), a["stacks"]
        rec["holds"] = (a["ended"] is None and bool(a["stacks"][0]) and a["stacks"][0] == a["stacks"][1]
                        and rec["faulty"]["last"] < seconds - 10 and rec["cured"]["last"] > seconds - 4)
    elif kind == "memory":
        a, b = run(faulty, seconds), run(cured, seconds)
        rec["faulty"], rec["cured"] = summary(a, step, loss), summary(b, step, loss)
        rec["mb_per_s"] = {"faulty": growth(a), "cured": growth(b)}
        rec["holds"] = min(growth(a)) > 1.5 and max(growth(b)) < 0.5 * min(growth(a)) and growth(b)[1] < 0.6
    elif kind == "learning":
        a, b = run(faulty, seconds), run(cured, seconds)
        rec["faulty"], rec["cured"] = summary(a, step, loss), summary(b, step, loss)
        la, lb = losses(a, loss), losses(b, loss)
        rec["losses"] = {"faulty": la, "cured": lb}
        rec["holds"] = len(la) > 2 and len(lb) > 2 and max(la) - min(la) < 0.05 and lb[-1] < 0.7 * la[-1]
    else:
        a = run(faulty, seconds)
        rec["run"] = s = summary(a, step, loss)
        rec["mb_per_s"] = growth(a)
        begin, end = s["loss_begin_end"]
        rec["holds"] = (a["ended"] is None and s["first"] is not None and s["first"] < 15 and s["last"] > seconds - 4
                        and end < begin and growth(a)[1] < 1.5)
    return rec


def main():
    where = os.path.join(HERE, "proof.json")
    for name in sys.argv[1:] or TABLE:
        rec = prove(name)
        known = {}
        if os.path.exists(where):
            with open(where) as f:
                known = json.load(f)
        known[name] = rec
        with open(where, "w") as f:
            json.dump(dict(sorted(known.items())), f, indent=1)
        print(name, "holds" if rec["holds"] else "DOES NOT HOLD", json.dumps({k: v for k, v in rec.items() if k != "stacks"}))


if __name__ == "__main__":
    main()
