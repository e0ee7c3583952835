"""Proves each program of this folder: python prove_m.py [NAME ...]; merges what it finds into proof.json."""
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
PY_SPY = os.environ.get("PY_SPY") or shutil.which("py-spy")
NUM = r"(nan|[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?)"

# name: (kind, pattern of a progress line with the groups step and loss)
PROGRAMS = {
    "reef_acoustics": ("memory", r"epoch \d+ batch +(?P<step>\d+) loss (?P<loss>%s)" % NUM),
    "orchard_yield": ("learning", r"step +(?P<step>\d+)  train_mse (?P<loss>%s)" % NUM),
    "recipe_writer": ("slow", r"\{'loss': (?P<loss>%s), .*'epoch'" % NUM),
    "ticket_router": ("stuck", r"\| (?P<step>[1-9]\d*)/6000 \[(?P<loss>\d+)"),    # the progress bar: its seconds, not a loss
    "owl_calls": ("slow", r"step +(?P<step>\d+)  loss (?P<loss>%s)" % NUM),
    "fossil_matching": ("nan", r"step +(?P<step>\d+) \| contrastive loss (?P<loss>%s)" % NUM),
    "dialect_speech": ("slow", r"step (?P<step>\d+) loss (?P<loss>%s)" % NUM),
    "double_pendulum": ("stuck", r"step +(?P<step>\d+)  mse (?P<loss>%s)" % NUM),
    "glacier_melt": ("healthy", r"batch (?P<step>\d+) train_loss (?P<loss>%s)" % NUM),
    "chess_openings": ("healthy", r"step (?P<step>\d+): loss (?P<loss>%s)" % NUM),
    "galaxy_diffusion": ("healthy", r"^ *(?P<step>\d+)  loss (?P<loss>%s)" % NUM),
    "tram_counts": ("healthy", r"step +(?P<step>\d+): loss (?P<loss>%s)" % NUM),
    "seabed_texture": ("healthy", r"line +(?P<step>\d+)  loss (?P<loss>%s)" % NUM),
}


def header(path):
    fields = {}
    for line in path.read_text().splitlines():
        m = re.match(r"# (python|seconds|expected|verdict): *(.*)", line)
        if m:
            fields[m[1]] = m[2].strip()
    return fields


def tree(root):
    """The process and its descendants."""
    parents = {}
    for d in os.listdir("/proc"):
        if d.isdigit():
            try:
                stat = Path("/proc", d, "stat").read_text()
            except OSError:
                continue
            parents[int(d)] = int(stat.rsplit(")", 1)[1].split()[1])
    found = [root]
    for pid in found:
        found += [p for p, q in parents.items() if q == pid]
    return found


def rss_mib(root):
    total = 0
    for pid in tree(root):
        try:
            total += int(Path("/proc", str(pid), "statm").read_text().split()[1])
        except (OSError, IndexError):
            pass
    return total * os.sysconf("SC_PAGE_SIZE") / 2 ** 20


def stacks(root):
    out = {}
    for n, pid in enumerate(tree(root)):
        got = subprocess.run([PY_SPY, "dump", "--pid", str(pid)], capture_output=True, text=True, timeout=20)
        main = re.search(r'^Thread \S+ \([^)]*\): "MainThread"\n((?:    .*\n?)+)', got.stdout, re.M)
        if main:
            out[f"process {n}"] = [re.sub(r"\(.*/", "(", l.strip()) for l in main[1].splitlines()[:8]]
    return out


def watch(path, seconds, pattern, spy_at=()):
    env = {**os.environ}
    env.setdefault("OMP_WAIT_POLICY", "passive")    # others compile on the same two cores: do not spin against them
    env.pop("PYTHONUNBUFFERED", None)
    python = os.environ.get("PYTHON_" + "LOOPS") or sys.executable
    with tempfile.TemporaryDirectory() as cwd:
        begun = time.time()
        proc = subprocess.Popen([python, str(path)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                                start_new_session=True, cwd=cwd, env=env, text=True, errors="replace")
        points, tail = [], []

        def read():
            for line in proc.stdout:
                tail.append(line.rstrip())
                m = re.search(pattern, line)
                if m:
                    points.append((time.time() - begun, m.groupdict().get("step"), float(m["loss"])))
        reader = threading.Thread(target=read, daemon=True)
        reader.start()
        memory, seen, spy_at = [], [], list(spy_at)
        while time.time() - begun < seconds and proc.poll() is None:
            memory.append((round(time.time() - begun, 1), round(rss_mib(proc.pid))))
            if spy_at and time.time() - begun >= spy_at[0]:
                spy_at.pop(0)
                seen.append(stacks(proc.pid))
            time.sleep(0.5)
        ended = proc.poll()
        try:
            os.killpg(proc.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        proc.wait()
        reader.join(5)
    return {"points": list(points), "memory": memory, "stacks": seen, "ended": ended, "tail": tail[-15:]}


def steps(run):
    """Steps made: the printed number, or how many progress lines where none is printed."""
    if not run["points"]:
        return 0
    last = run["points"][-1][1]
    return int(last) if last is not None else len(run["points"])


def mean(values):
    return sum(values) / max(1, len(values))


def brief(run):
    t = [p[0] for p in run["points"]]
    losses = [p[2] for p in run["points"]]
    k = max(1, len(losses) // 12)
    return {"steps": steps(run), "first progress s": round(t[0], 1) if t else None, "last progress s": round(t[-1], 1) if t else None,
            "losses": [losses[i] for i in range(0, len(losses), k)], "rss MiB": run["memory"][::8], "ended early": run["ended"]}


def prove(name):
    kind, pattern = PROGRAMS[name]
    program, cured = HERE / "programs" / f"{name}.py", HERE / "cured" / f"{name}.py"
    fields = header(program)
    seconds = min(int(fields["seconds"]), int(os.environ.get("PROOF_SECONDS", 99)))
    result = {"expected": fields["expected"], "kind": kind, "seconds": seconds, "load": os.getloadavg()[0]}
    if kind == "slow":
        turns = []
        for _ in range(2):
            a, b = watch(program, seconds, pattern), watch(cured, seconds, pattern)
            turns.append({"faulty": brief(a), "cured": brief(b), "ratio": round(steps(b) / max(1, steps(a)), 2),
                          **({} if steps(a) and steps(b) else {"tail": a["tail"] + b["tail"]})})
        result["turns"] = turns
        result["holds"] = all(t["ratio"] >= 1.3 and t["faulty"]["ended early"] is None and t["cured"]["ended early"] is None
                              for t in turns)
        return result
    spy = (seconds - 9, seconds - 2.5) if kind == "stuck" else ()
    a = watch(program, seconds, pattern, spy)
    result["faulty" if kind != "healthy" else "run"] = brief(a)
    if kind == "healthy":
        t, losses = [p[0] for p in a["points"]], [p[2] for p in a["points"]]
        rss = [m for s, m in a["memory"] if s > seconds * 0.55]
        q = max(1, len(losses) // 4)
        ok = a["ended"] is None and bool(t) and t[0] <= 15 and t[-1] > seconds - 4
        gaps = [y - x for x, y in zip(t, t[1:])]
        result["longest gap s"] = round(max(gaps), 2) if gaps else None
        result["memory steady"] = bool(rss) and max(rss[len(rss) // 2:]) <= 1.06 * max(rss[: len(rss) // 2])
        result["loss first quarter, last quarter"] = [round(mean(losses[:q]), 4), round(mean(losses[-q:]), 4)]
        result["holds"] = ok and result["memory steady"] and mean(losses[-q:]) < 0.97 * mean(losses[:q])
        if not result["holds"]:
            result["tail"] = a["tail"]
        return result
    b = watch(cured, seconds, pattern)
    result["cured"] = brief(b)
    alive = a["ended"] is None and b["ended"] is None
    if kind == "memory":
        def growth(run):
            late = [m for s, m in run["memory"] if s > 12]
            rising = [y >= x - 2 for x, y in zip(late[::4], late[4::4])]
            return late[-1] - late[0], mean(rising)
        result["growth after 12 s, share of samples rising"] = {"faulty": growth(a), "cured": growth(b)}
        result["holds"] = alive and growth(a)[0] > 120 and growth(a)[1] > 0.95 and growth(b)[0] < 25 and steps(b) > 0
    elif kind == "nan":
        la, lb = [p[2] for p in a["points"]], [p[2] for p in b["points"]]
        first = next((i for i, v in enumerate(la) if v != v), None)
        result["first nan line, lines"] = [first, len(la)]
        result["holds"] = alive and first is not None and all(v != v for v in la[first:]) and bool(lb) and all(v == v for v in lb) \
            and mean(lb[-5:]) < mean(lb[:5])
    elif kind == "learning":
        la, lb = [p[2] for p in a["points"]], [p[2] for p in b["points"]]
        result["last losses"] = {"faulty": mean(la[-8:]), "faulty at first": mean(la[:8]), "cured": mean(lb[-8:])}
        result["holds"] = alive and len(la) > 16 and mean(la[-8:]) > 0.9 * mean(la[:8]) and mean(la[-8:]) > 3 * mean(lb[-8:])
    else:
        result["stacks"] = a["stacks"]
        last = a["points"][-1][0] if a["points"] else 0
        same = len(a["stacks"]) == 2 and a["stacks"][0].get("process 0") == a["stacks"][1].get("process 0") is not None
        result["same place twice"] = same
        result["holds"] = alive and same and last < seconds - 10 and bool(b["points"]) and b["points"][-1][0] > seconds - 4
    if not result["holds"]:
        result["tails"] = {"faulty": a["tail"], "cured": b["tail"]}
    return result


def main():
    path = HERE / "proof.json"
    for name in sys.argv[1:] or PROGRAMS:
        found = prove(name)
        proof = json.loads(path.read_text()) if path.exists() else {}
        proof[name] = found
        path.write_text(json.dumps(proof, indent=1, sort_keys=True) + "\n")
        print(name, "holds" if found["holds"] else "DOES NOT HOLD", flush=True)


if __name__ == "__main__":
    main()
