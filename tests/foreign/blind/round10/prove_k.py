"""Runs each program and its cured twin and writes proof.json. Usage: prove_k.py [name ...]"""
import fcntl
import json
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
PYTHONS = {"tensorflow": os.environ.get("PYTHON_TENSORFLOW", sys.executable)}
PY_SPY = os.environ.get("PY_SPY") or shutil.which("py-spy")
PAGE = os.sysconf("SC_PAGE_SIZE") / 1e6


def header(path):
    found = {}
    for line in path.read_text().splitlines():
        if not line.startswith("#"):
            break
        m = re.match(r"# (\w+): (.*)", line)
        if m:
            found[m[1]] = m[2].strip()
    return found


def without_header(path):
    lines = path.read_text().splitlines(keepends=True)
    while lines and lines[0].startswith("#"):
        lines.pop(0)
    return "".join(lines)


def group_rss(pgid):
    total = 0.0
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                if os.getpgid(int(entry)) == pgid:
                    total += int(Path(f"/proc/{entry}/statm").read_text().split()[1]) * PAGE
            except (OSError, ValueError):
                pass
    return total


def stack(pid):
    if not PY_SPY:
        return None
    got = subprocess.run([PY_SPY, "dump", "--pid", str(pid)], capture_output=True, text=True, timeout=20)
    lines = got.stdout.splitlines()
    at = next((i for i, l in enumerate(lines) if "MainThread" in l), None)
    if at is None:
        return got.stderr[-200:] or None
    place = []
    for line in lines[at + 1:]:
        if line.startswith("Thread"):
            break
        place.append(line.strip())
    return place[:6]


def run(path, seconds, spy_at=()):
    work = tempfile.mkdtemp()
    program = Path(work) / path.name
    program.write_text(without_header(path))
    env = dict(os.environ, PYTHONUNBUFFERED="1", TMPDIR=work)
    began = time.time()
    proc = subprocess.Popen([PYTHONS[header(path).get("python", "tensorflow")], str(program)], stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=env, cwd=work, start_new_session=True)
    chunks, rss, stacks = [], [], []

    def read():
        while True:
            got = os.read(proc.stdout.fileno(), 65536)
            if not got:
                return
            chunks.append((time.time() - began, got.decode(errors="replace")))

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    pending = list(spy_at)
    while time.time() - began < seconds and proc.poll() is None:
        time.sleep(0.5)
        now = time.time() - began
        rss.append((round(now, 1), round(group_rss(proc.pid))))
        if pending and now >= pending[0]:
            pending.pop(0)
            stacks.append(stack(proc.pid))
    code = proc.poll()
    try:
        os.killpg(proc.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    proc.wait()
    reader.join(5)
    shutil.rmtree(work, ignore_errors=True)
    return {"chunks": chunks, "rss": rss, "stacks": stacks, "code": code, "text": "".join(c for _, c in chunks)}


def bar_steps(text):
    """Steps that a Keras progress bar (verbose=1 or 2) has shown."""
    text = re.sub(r"\x1b\[[0-9;]*m|\x08+", " ", text)
    epoch, best, total = 0, 0, 0
    for m in re.finditer(r"Epoch (\d+)/\d+|(?<![\w/])(\d+)/(\d+) (?=[━ \-]|\d)", text):
        if m[1]:
            epoch = int(m[1])
        else:
            total = int(m[3])
            best = max(best, (max(epoch, 1) - 1) * total + int(m[2]))
    return best


def step_lines(text):
    return max((int(n) for n in re.findall(r"\bstep[ =:]+(\d+)", text)), default=0)


def losses(text):
    return [float(v) for v in re.findall(r"(?<![\w_])loss[ =:]+(-?nan|-?inf|-?\d[\d.e+-]*)", text)]


SPECS = {}


def mean(values):
    return sum(values) / max(len(values), 1)


def prove(name):
    spec = SPECS[name]
    path, cured = HERE / "programs" / f"{name}.py", HERE / "cured" / f"{name}.py"
    seconds = int(header(path)["seconds"])
    kind, steps = spec["kind"], spec.get("steps", step_lines)
    out = {"expected": header(path)["expected"], "kind": kind, "seconds": seconds}
    if kind == "slow":
        bad, good = [], []
        for _ in range(2):
            bad.append(steps(run(path, seconds)["text"]))
            good.append(steps(run(cured, seconds)["text"]))
        out.update(steps_faulty=bad, steps_cured=good, ratios=[round(g / max(b, 1), 2) for b, g in zip(bad, good)])
        out["holds"] = min(out["ratios"]) >= 1.3 and min(bad) > 0
    elif kind in ("stuck", "not-started"):
        rows = []
        for _ in range(2):
            one = run(path, seconds, spy_at=(seconds - 9, seconds - 3))
            text = one["text"]
            last = max((t for t, c in one["chunks"] if step_lines(c)), default=0.0)
            rows.append({"steps": steps(text), "last_step_at": round(last, 1), "stacks": one["stacks"],
                         "same_place": len(one["stacks"]) == 2 and one["stacks"][0] == one["stacks"][1], "exit": one["code"]})
        two = run(cured, seconds)
        last = max((t for t, c in two["chunks"] if step_lines(c)), default=0.0)
        out.update(faulty=rows, steps_cured=steps(two["text"]), cured_last_step_at=round(last, 1))
        quiet = all(r["same_place"] and r["exit"] is None and r["last_step_at"] < seconds - 12 for r in rows)
        none = all(r["steps"] == 0 for r in rows) if kind == "not-started" else all(r["steps"] > 0 for r in rows)
        out["holds"] = bool(quiet and none and out["steps_cured"] > max(r["steps"] for r in rows) and last > seconds - 5)
    elif kind == "memory":
        one, two = run(path, seconds), run(cured, seconds)

        def tail(r):
            points = [m for t, m in r["rss"] if t > seconds * 0.45]
            quarter = max(len(points) // 4, 1)
            means = [round(mean(points[i * quarter:(i + 1) * quarter])) for i in range(4)]
            return means
        a, b = tail(one), tail(two)
        out.update(rss_faulty_mb=a, rss_cured_mb=b, steps_faulty=steps(one["text"]), steps_cured=steps(two["text"]))
        grows = all(y > x + 5 for x, y in zip(a, a[1:]))
        out["holds"] = grows and a[-1] - a[0] > 40 and b[-1] - b[0] < 0.2 * (a[-1] - a[0])
    elif kind == "learning":
        one, two = run(path, seconds), run(cured, seconds)
        a, b = losses(one["text"]), losses(two["text"])
        out.update(losses_faulty=[str(v) for v in a[:5] + a[-5:]], losses_cured=[str(v) for v in b[:5] + b[-5:]],
                   steps_faulty=steps(one["text"]), steps_cured=steps(two["text"]))
        nan = len(a) > 4 and all(v != v for v in a[-3:])
        frozen = len(a) > 8 and abs(mean(a[-5:]) / mean(a[:5]) - 1) < 0.25
        well = len(b) > 8 and all(v == v for v in b) and mean(b[-3:]) < 0.5 * b[0]
        out["holds"] = bool(well and (nan if spec["how"] == "nan" else frozen and mean(a[-5:]) > 2 * mean(b[-5:])))
    else:
        one = run(path, seconds)
        moments = [t for t, c in one["chunks"] if spec.get("steps", step_lines)(c) or re.search(r"loss", c)]
        values = losses(one["text"])
        half = [m for t, m in one["rss"] if t > seconds * 0.6]
        third = max(len(values) // 3, 1)
        early, late = mean(values[:third]), mean(values[-third:])
        gaps = [round(y - x, 1) for x, y in zip(moments, moments[1:])]
        out.update(first_progress_at=round(moments[0], 1) if moments else None, last_progress_at=round(moments[-1], 1) if moments else None,
                   longest_gap=max(gaps, default=None), steps=steps(one["text"]), losses_early=early, losses_late=late,
                   first_last=[values[0], values[-1]] if values else None, rss_mb=half[:: max(len(half) // 6, 1)], exit=one["code"])
        out["holds"] = bool(moments and moments[0] < 17 and moments[-1] > seconds - 6 and out["steps"] > 0 and one["code"] is None
                            and len(half) > 8 and mean(half[-len(half) // 3:]) < 1.04 * mean(half[:len(half) // 3]) and len(values) >= 3 and late < early
                            and values[-1] == values[-1] and max(r for _, r in one["rss"]) < 2000)
    return out


SPECS.update({
    "reef_survey": {"kind": "slow", "steps": bar_steps},
    "parcel_scans": {"kind": "slow", "steps": bar_steps},
    "birdsong_clips": {"kind": "slow"},
    "glacier_tiles": {"kind": "memory", "steps": bar_steps},
    "signature_pairs": {"kind": "learning", "how": "nan"},
    "tide_gauge": {"kind": "learning", "how": "frozen"},
    "sonar_echoes": {"kind": "stuck"},
    "olive_grove": {"kind": "not-started"},
    "dune_patterns": {"kind": "healthy"},
    "alpine_flora": {"kind": "healthy", "steps": bar_steps},
    "freight_demand": {"kind": "healthy", "steps": bar_steps},
    "river_sediment": {"kind": "healthy"},
    "ferry_arrivals": {"kind": "healthy"},
    "kelp_forest": {"kind": "healthy"},
})


def main():
    target = HERE / "proof.json"
    for name in sys.argv[1:] or sorted(SPECS):
        result = prove(name)
        with open(HERE / ".proof.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            known = json.loads(target.read_text()) if target.exists() else {}
            known[name] = result
            target.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n")
        print(name, json.dumps(result, indent=1))
    (HERE / ".proof.lock").unlink(missing_ok=True)


if __name__ == "__main__":
    main()
