"""Proves the programs of this folder without any tool: python prove_p.py [NAME ...] (all of them when none is named); updates proof.json."""
import shutil
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PY = os.environ.get("PYTHON_TENSORFLOW", sys.executable)
SPY = os.environ.get("PY_SPY") or shutil.which("py-spy")
STEP = r"step\s+(\d+)"
SPEC = {  # name: kind, step pattern, number that should fall (or rise)
    "lichen_survey": ("stuck", STEP, r"loss ([\d.naif+-]+)"),
    "knitting_charts": ("slow", None, r"loss ([\d.]+)"),
    "glaze_colours": ("slow", STEP, r"recon\s+([\d.]+)"),
    "spring_flow": ("learning", r"Epoch (\d+)/", r"- loss: ([\d.]+)"),
    "mosaic_tiles": ("learning", STEP, r"loss ([\d.]+)"),
    "carillon_tuning": ("stuck", STEP, r"mse ([\d.]+)"),
    "kelp_growth": ("memory", STEP, r"loss: ([\d.]+)"),
    "warbler_calls": ("slow", r"batch (\d+)", r"loss ([\d.]+)"),
    "scallop_rings": ("healthy", STEP, r"distance ([\d.]+)"),
    "hourglass_balance": ("healthy", r"update (\d+)", r"upright ([\d.]+)"),
    "peat_cores": ("healthy", STEP, r"loss ([\d.]+)"),
    "seed_catalogue": ("healthy", STEP, r"loss ([\d.]+)"),
    "woodgrain_boards": ("healthy", r"\[(\d+)\]", r"\] loss=([\d.]+)"),
    "cloud_ceiling": ("healthy", None, r"batch\s+\d+ loss ([\d.]+)"),
}
RISES = {"hourglass_balance"}


def header(name):
    text = open(f"{HERE}/programs/{name}.py").read()
    return dict(re.findall(r"^# (\w+): (.*)$", text, re.M))


def bare(path):
    """The program without its header, in a file of its own."""
    lines = open(path).read().split("\n")
    while lines and lines[0].startswith("#"):
        lines.pop(0)
    folder = tempfile.mkdtemp(prefix="proof_p_")
    out = os.path.join(folder, os.path.basename(path))
    open(out, "w").write("\n".join(lines))
    return out


def steps_of(name, text):
    pattern = SPEC[name][1]
    if pattern:
        found = re.findall(pattern, text)
        return int(found[-1]) if found else 0
    if name == "knitting_charts":
        epochs = re.findall(r"Epoch (\d+)/400", text)
        tail = re.findall(r"batch (\d+): loss", text.rsplit("Epoch ", 1)[-1])
        return (int(epochs[-1]) - 1) * 200 + (int(tail[-1]) if tail else 0) if epochs else 0
    epochs = len(re.findall(r"^epoch \d+:", text, re.M))
    tail = re.findall(r"batch\s+(\d+) loss", text.rsplit("epoch ", 1)[-1])
    return epochs * 125 + (int(tail[-1]) + 1 if tail else 0)


def tree(pid):
    todo, seen = [pid], []
    while todo:
        p = todo.pop()
        seen.append(p)
        try:
            for task in os.listdir(f"/proc/{p}/task"):
                todo += [int(c) for c in open(f"/proc/{p}/task/{task}/children").read().split()]
        except OSError:
            pass
    return seen


def rss_mb(pid):
    total = 0
    for p in tree(pid):
        try:
            # proportional: pages that a forked worker shares with its parent count once
            total += 1024 * int(re.search(r"^Pss:\s+(\d+)", open(f"/proc/{p}/smaps_rollup").read(), re.M)[1])
        except (OSError, TypeError):
            pass
    return total / 1e6


def cpu_s(pid):
    total = 0
    for p in tree(pid):
        try:
            fields = open(f"/proc/{p}/stat").read().rsplit(")", 1)[1].split()
            total += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        except (OSError, IndexError):
            pass
    return total


def main_stack(pid):
    out = subprocess.run([SPY, "dump", "--pid", str(pid)], capture_output=True, text=True, timeout=60).stdout
    block = next((b for b in out.split("\nThread ") if "MainThread" in b.split("\n")[0]), out)
    return [l.strip() for l in block.split("\n")[1:] if l.strip()][:6]


def run(name, which, seconds, spy=False, longest=None):
    """Runs for the header's seconds; with longest, until 20 s after a late first step (a busy machine)."""
    path = bare(f"{HERE}/{which}/{name}.py")
    log = path + ".out"
    env = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="2", PYTHONUNBUFFERED="1")
    start = time.time()
    with open(log, "wb") as sink:
        child = subprocess.Popen([PY, path], stdout=sink, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, env=env,
                                 cwd=os.path.dirname(path), start_new_session=True)
    series, stacks, marks = [], [], [0.6 * seconds, 0.93 * seconds]
    text, first, first_cpu = "", None, None
    while child.poll() is None and (time.time() - start < seconds or (
            longest and time.time() - start < min(longest, (first or longest) + 20))):
        time.sleep(1)
        text = re.sub(r"\x1b\[[0-9;]*m", "", open(log, "rb").read().decode("utf-8", "replace")).replace("\r", "\n")
        now = time.time() - start
        series.append((round(now, 1), steps_of(name, text), round(rss_mb(child.pid))))
        if first is None and series[-1][1] > 0:
            first, first_cpu = series[-1][0], round(cpu_s(child.pid), 1)
        if spy and marks and now >= marks[0]:
            marks.pop(0)
            stacks.append(main_stack(child.pid))
    ended = child.poll()
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    child.wait()
    numbers = [float(v) for v in re.findall(SPEC[name][2], text)]
    out = {"which": which, "ended_early_with": ended, "steps": series[-1][1], "first_step_seen_s": first, "first_step_cpu_s": first_cpu, "watched_s": series[-1][0],
           "steps_at_half": series[len(series) // 2][1], "steps_at_two_thirds": series[2 * len(series) // 3][1],
           "rss_mb_half_and_end": [series[len(series) // 2][2], series[-1][2]], "rss_mb_settled_and_end": [next((r for t, _, r in series if first and t >= first + 4), 0), series[-1][2]],
           "rss_mb": [r for _, _, r in series[::3]],
           "numbers_first": numbers[:4], "numbers_last": numbers[-4:], "load": round(os.getloadavg()[0], 1)}
    if ended is not None:
        out["tail"] = text[-600:]
    if spy:
        out["stacks"] = stacks
    return out


def mean(v):
    return sum(v) / max(1, len(v))


def prove(name):
    kind, seconds = SPEC[name][0], int(header(name)["seconds"])
    result = {"kind": kind, "expected": header(name)["expected"], "seconds": seconds}
    if kind == "healthy":
        r = run(name, "programs", seconds, longest=75)
        a, b = mean(r["numbers_first"]), mean(r["numbers_last"])
        half, end = r["rss_mb_settled_and_end"]
        learned = b > 1.3 * a if name in RISES else b < 0.9 * a
        checks = {# on a busy machine the CPU time up to the first step says how long it takes on an idle one
                  "begins": r["first_step_seen_s"] is not None and min(r["first_step_seen_s"], r["first_step_cpu_s"]) <= 15,
                  "progress": r["steps"] > r["steps_at_two_thirds"] > 0, "memory": end - half < max(40, 0.05 * half),
                  "learns": learned, "runs_on": r["ended_early_with"] is None}
        result.update(runs=[r], checks=checks, holds=all(checks.values()))
        return result
    turns = 2 if kind == "slow" else 1
    runs = [run(name, w, seconds, kind == "stuck" and w == "programs") for _ in range(turns) for w in ("programs", "cured")]
    bad, good = runs[0], runs[1]
    alive = all(r["ended_early_with"] is None for r in runs)
    if kind == "slow":
        factors = [round(runs[i + 1]["steps"] / max(1, runs[i]["steps"]), 2) for i in (0, 2)]
        result["factors"] = factors
        ok = min(factors) >= 1.3 and all(r["steps"] > 0 for r in runs)
    elif kind == "stuck":
        s = bad["stacks"]
        same = len(s) == 2 and bool(s[0]) and s[0] == s[1]
        result["same_place_twice"] = same
        ok = same and bad["steps"] == bad["steps_at_half"] and good["steps"] > good["steps_at_two_thirds"] > 0
    elif kind == "memory":
        grow = [r["rss_mb_settled_and_end"][1] - r["rss_mb_settled_and_end"][0] for r in (bad, good)]
        result["rss_growth_after_settling_mb"] = grow
        half = bad["rss_mb"][len(bad["rss_mb"]) // 2:]
        ok = grow[0] > 40 and grow[0] > 4 * max(grow[1], 1) and all(b > a for a, b in zip(half, half[1:]))
    else:
        a, b = mean(bad["numbers_last"]), mean(good["numbers_last"])
        result["last_losses"] = [a, b]
        ok = bool(good["numbers_last"]) and a > 3 * b and a > 0.9 * mean(bad["numbers_first"])
    result.update(runs=runs, holds=bool(ok and alive))
    return result


def main():
    path = f"{HERE}/proof.json"
    for name in sys.argv[1:] or list(SPEC):
        result = prove(name)
        book = json.load(open(path)) if os.path.exists(path) else {}
        book[name] = result
        json.dump(book, open(path, "w"), indent=1)
        print(name, result["holds"], {k: v for k, v in result.items() if k in
              ("factors", "same_place_twice", "rss_growth_after_settling_mb", "last_losses", "checks")}, flush=True)


if __name__ == "__main__":
    main()
