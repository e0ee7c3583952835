"""Proves every program of this half without the tool. Usage: /usr/bin/python3 prove.py [NAME ...]; results go to proof.json."""
import fcntl
import glob
import json
import math
import os
import pty
import re
import select
import shutil
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import time

HERE = os.path.dirname(os.path.abspath(__file__))
LOOPS = os.path.expanduser("~/.cache/headway/loops-py3.11-be77dae8/bin/")
PYTHON = {"loops": LOOPS + "python", "plain": "/usr/bin/python3"}
NUM = r"([-+]?(?:nan|inf|[0-9.]+(?:e[-+]?[0-9]+)?))"
STEP = r"\bstep\s+(\d+)"
LOSS = r"\bloss[ =:']+\s*" + NUM
KINDS = {  # name: (kind, regex of the step, regex of the loss)
    "ticket_router": ("slow", r"(\d+)/15000 \[", LOSS), "recipe_writer": ("slow", r"(\d+)/9000 \[", LOSS),
    "enzyme_sites": ("slow", STEP, LOSS), "pump_alarms": ("slow", r"minute (\d+)", LOSS), "mole_photos": ("slow", STEP, LOSS),
    "drone_battery": ("memory", r"\[\s*(\d+)/", LOSS),
    "wine_aroma": ("learning", STEP, r"^epoch.*loss " + NUM), "city_distances": ("learning", STEP, LOSS),
    "tea_grades": ("learning", STEP, LOSS),
    "glacier_runoff": ("stuck", STEP, LOSS), "river_gauge": ("stuck", r"step (\d+)", r"step.* loss " + NUM),
    "crystal_growth": ("stuck", STEP, LOSS),
    "bird_calls": ("healthy", STEP, LOSS), "dune_shapes": ("healthy", r"\bit\s+(\d+)", r"mse " + NUM),
    "chess_openings": ("healthy", r"(\d+)/2000 \[", r"'loss': " + NUM), "leaf_spots": ("healthy", STEP, LOSS),
    "tank_levels": ("healthy", STEP, LOSS), "grid_load": ("healthy", r"day (\d+)", LOSS),
    "warehouse_robot": ("healthy", r"episode\s+(\d+)", LOSS), "glider_flights": ("healthy", r"generation (\d+)", LOSS),
}


def idle_share(seconds=2.0):
    def read():
        v = [int(x) for x in open("/proc/stat").readline().split()[1:9]]
        return v[3] + v[4], sum(v)
    a = read()
    time.sleep(seconds)
    b = read()
    return (b[0] - a[0]) / max(1, b[1] - a[1])


def quiet(patience=float(os.environ.get("PATIENCE", 60))):
    """Waits while the machine is reserved, and for a while until others leave it mostly idle."""
    began = time.time()
    while True:
        while os.path.exists("/tmp/quiet"):
            time.sleep(5)
        if idle_share() > 0.8 or time.time() - began > patience:
            if not os.path.exists("/tmp/quiet"):
                return


def header(path):
    out = {}
    for line in open(path):
        if not line.startswith("#"):
            break
        m = re.match(r"# (\w+): (.*)", line)
        if m:
            out[m.group(1)] = m.group(2).strip()
    return out


def session_pids(sid):
    found = []
    for d in glob.glob("/proc/[0-9]*"):
        try:
            f = open(d + "/stat").read().rpartition(")")[2].split()
            if int(f[3]) == sid and f[0] != "Z":
                found.append(int(d[6:]))
        except OSError:
            pass
    return sorted(found)


def rss_mb(sid):
    total = 0
    for pid in session_pids(sid):
        try:
            total += int(open(f"/proc/{pid}/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        except OSError:
            pass
    return total / 2 ** 20


def pss_mb(sid):
    total = 0
    for pid in session_pids(sid):
        try:
            m = re.search(r"^Pss:\s+(\d+)", open(f"/proc/{pid}/smaps_rollup").read(), re.M)
            total += int(m.group(1)) / 1024 if m else 0
        except OSError:
            pass
    return round(total, 1)


def stacks(sid):
    """What py-spy sees of the main thread of each process: its inner frames."""
    out = {}
    for pid in session_pids(sid):
        r = subprocess.run([LOOPS + "py-spy", "dump", "--pid", str(pid)], capture_output=True, text=True)
        main = [t for t in r.stdout.split("\nThread ") if "MainThread" in t.split("\n")[0]]
        if main:
            frames = [l.strip() for l in main[0].split("\n")[1:] if l.startswith("    ")]
            out[pid] = [re.sub(r"/\S*/", "", f) for f in frames if f]
    return out


def run(path, python, seconds, dumps=False):
    quiet()
    folder = tempfile.mkdtemp(prefix="prove-")
    lines = open(path).read().split("\n")
    while lines and lines[0].startswith("#"):
        lines.pop(0)
    copy = os.path.join(folder, os.path.basename(path))
    open(copy, "w").write("\n".join(lines))
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 160, 0, 0))
    env = dict(os.environ, PYTHONUNBUFFERED="1", TMPDIR=folder)
    if os.path.basename(path) != "recipe_writer.py":
        env["OMP_WAIT_POLICY"] = "passive"  # other work on this machine must not stretch every barrier
    began = time.time()
    child = subprocess.Popen([PYTHON[python], copy], stdin=slave, stdout=slave, stderr=slave, cwd=folder, env=env, start_new_session=True)
    os.close(slave)
    text, rss, seen, pss = [], [], [], 0.0
    todo = [seconds - 6, seconds - 2] if dumps else []
    pending, next_rss, ended = "", 0.0, None
    try:
        while time.time() - began < seconds:
            now = time.time() - began
            if select.select([master], [], [], 0.2)[0]:
                try:
                    pending += os.read(master, 65536).decode("utf-8", "replace")
                except OSError:
                    ended = child.wait()
                    break
                *whole, pending = re.split(r"[\r\n]+", pending)
                text += [(time.time() - began, w) for w in whole]
            if now >= next_rss:
                rss.append((round(now, 1), round(rss_mb(child.pid), 1)))
                next_rss = now + 1.0
            if todo and now >= todo[0]:
                todo.pop(0)
                seen.append(stacks(child.pid))
        if pending:
            text.append((time.time() - began, pending))
        pss = pss_mb(child.pid)
    finally:
        for _ in range(50):
            left = session_pids(child.pid)
            if not left:
                break
            for pid in left:
                try:
                    os.kill(pid, signal.SIGKILL)
                except OSError:
                    pass
            time.sleep(0.1)
        child.wait()
        os.close(master)
        shutil.rmtree(folder, ignore_errors=True)
    return {"text": text, "rss": rss, "stacks": seen, "ended": ended, "pss": pss}


def measure(r, step_re, loss_re):
    steps, losses = [], []
    for t, line in r["text"]:
        for m in re.finditer(step_re, line):
            if not steps or int(m.group(1)) > steps[-1][1]:
                steps.append((round(t, 2), int(m.group(1))))
        m = re.search(loss_re, line)
        if m:
            losses.append(float(m.group(1)))
    steps = [s for s in steps if s[1] > 0]
    q = max(1, len(losses) // 4)
    return {"steps": steps[-1][1] if steps else 0, "first": steps[0][0] if steps else None, "last": steps[-1][0] if steps else None,
            "gap": round(max((b[0] - a[0] for a, b in zip(steps, steps[1:])), default=0), 2),
            "losses": losses, "early": statistics.fmean(losses[:q]) if losses else None,
            "late": statistics.fmean(losses[-q:]) if losses else None, "ended": r["ended"], "pss_mb": r["pss"]}


def short(m):
    out = {k: m[k] for k in ("steps", "first", "last", "gap", "ended", "pss_mb")}
    out["early_loss"], out["late_loss"] = (None if v is None else str(round(v, 5)) for v in (m["early"], m["late"]))
    return out


def growth(r, after):
    """MB per second over the time after `after`, in thirds, and in all."""
    pts = [p for p in r["rss"] if p[0] >= after]
    n = len(pts) // 3
    parts = [(pts[(i + 1) * n - 1][1] - pts[i * n][1]) / max(0.1, pts[(i + 1) * n - 1][0] - pts[i * n][0]) for i in range(3)] if n > 1 else []
    return [round(p, 2) for p in parts], round(pts[-1][1] - pts[0][1], 1), pts[-1][1]


def thirds(r, after):
    """The middle RSS (MB) of the first, second and last third of the time after `after`."""
    mb = [m for t, m in r["rss"] if t >= after]
    n = len(mb) // 3
    return [statistics.median(mb[i * n:(i + 1) * n]) for i in range(3)]


def prove(name):
    kind, step_re, loss_re = KINDS[name]
    path, cure = f"{HERE}/programs/{name}.py", f"{HERE}/cured/{name}.py"
    h = header(path)
    python, seconds = h["python"], int(h["seconds"])
    one = lambda p, **k: run(p, python, seconds, **k)
    res = {"kind": kind, "expected": h["expected"], "seconds": seconds}
    if kind == "slow":
        pairs = []
        for _ in range(2):
            pairs.append([measure(one(p), step_re, loss_re) for p in (path, cure)])
        res["faulty"], res["cured"] = [short(a) for a, _ in pairs], [short(b) for _, b in pairs]
        res["ratios"] = [round(b["steps"] / max(1, a["steps"]), 2) for a, b in pairs]
        res["holds"] = min(res["ratios"]) >= 1.3 and all(m["ended"] is None for p in pairs for m in p) and \
            all(m["first"] is not None and m["first"] < 16 for p in pairs for m in p)
    elif kind == "stuck":
        ra, rb = one(path, dumps=True), one(cure)
        a, b = measure(ra, step_re, loss_re), measure(rb, step_re, loss_re)
        s = ra["stacks"]
        res["faulty"], res["cured"] = short(a), short(b)
        res["places"] = {str(p): f[:4] for p, f in s[-1].items()} if s else {}
        same = len(s) == 2 and s[0].keys() == s[1].keys() and all(s[0][p][:1] == s[1][p][:1] for p in s[0])
        res["same_place_twice"] = same
        res["holds"] = bool(same and a["ended"] is None and b["ended"] is None and (a["last"] is None or a["last"] < seconds - 10)
                            and b["last"] is not None and b["last"] > seconds - 4 and b["steps"] > a["steps"])
    elif kind == "memory":
        ra, rb = one(path), one(cure)
        a, b = measure(ra, step_re, loss_re), measure(rb, step_re, loss_re)
        res["faulty"], res["cured"] = short(a), short(b)
        res["faulty_mb"], res["cured_mb"] = thirds(ra, a["first"] + 4), thirds(rb, b["first"] + 4)
        f, c = res["faulty_mb"], res["cured_mb"]
        res["holds"] = f[1] - f[0] > 15 and f[2] - f[1] > 15 and c[2] - c[0] < 0.25 * (f[2] - f[0]) and a["pss_mb"] < 2000
    elif kind == "learning":
        a, b = (measure(one(p), step_re, loss_re) for p in (path, cure))
        res["faulty"], res["cured"] = short(a), short(b)
        res["faulty_losses"] = [str(v) for v in a["losses"][:3] + a["losses"][-3:]]
        res["cured_losses"] = [str(v) for v in b["losses"][:3] + b["losses"][-3:]]
        fine = math.isfinite(b["late"]) and b["late"] < 0.6 * b["early"]
        if not math.isfinite(a["late"]):
            bad = True
        else:
            bad = a["late"] > 0.93 * a["early"] and a["late"] > 2 * b["late"]
        res["holds"] = bool(bad and fine and a["ended"] is None and b["ended"] is None and a["steps"] > 50)
    else:
        r = one(path)
        m = measure(r, step_re, loss_re)
        res["run"] = short(m)
        if m["first"] is not None:
            half = [p for p in r["rss"] if p[0] > max(m["first"] + 3, seconds / 2)]
            res["mb_per_s"], _, res["rss_mb"] = growth(r, m["first"] + 3)
            res["grown_in_second_half_mb"] = round(half[-1][1] - half[0][1], 1)
            res["holds"] = bool(m["ended"] is None and m["first"] < 15 and m["last"] > seconds - 4 and m["gap"] < 6
                                and res["grown_in_second_half_mb"] < 0.05 * res["rss_mb"] and m["pss_mb"] < 2000
                                and math.isfinite(m["late"]) and m["late"] < 0.97 * m["early"])
        else:
            res["holds"] = False
            res["tail"] = [l for _, l in r["text"][-15:]]
    res["load"] = os.getloadavg()[0]
    return res


def main():
    names = sys.argv[1:] or sorted(KINDS)
    out = f"{HERE}/proof.json"
    proof = json.load(open(out)) if os.path.exists(out) else {}
    for name in names:
        try:
            proof[name] = prove(name)
        except Exception as e:
            proof[name] = {"holds": False, "error": repr(e)}
        print(name, json.dumps(proof[name]), flush=True)
        with open(out, "w") as f:
            json.dump(proof, f, indent=1)
    print(f"{sum(p['holds'] for p in proof.values())} of {len(proof)} hold")


if __name__ == "__main__":
    main()
