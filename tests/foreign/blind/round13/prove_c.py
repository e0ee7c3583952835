"""Proves the programs of this folder: python3 prove.py --loops PYTHON --py-spy PY_SPY [--only NAME ...]."""
import argparse
import fcntl
import json
import os
import re
import signal
import subprocess
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
LOGS = os.path.join(tempfile.gettempdir(), "r13c_logs")
STEP = r"step\s+(\d+)"
LOSS = r"loss\s+(-?[\d.]+|nan)"
BAR = r"\|\s*(\d+)/\d+ \["
KINDS = {
    "wetland_spectra": ("slow", STEP, LOSS),
    "yacht_polars": ("learning", STEP, r"mse (-?[\d.]+|nan)"),
    "quiz_questions": ("slow", STEP, LOSS),
    "sailing_logs": ("learning", BAR, r"'loss': '?(-?[\d.]+|nan)"),
    "zebra_stripes": ("slow", STEP, LOSS),
    "salt_marsh_masks": ("memory", STEP, LOSS),
    "xylophone_keys": ("slow", STEP, LOSS),
    "tapestry_motifs": ("stuck", STEP, LOSS),
    "vortex_tracers": ("healthy", STEP, LOSS),
    "village_names": ("healthy", STEP, LOSS),
    "radio_callsigns": ("healthy", STEP, LOSS),
    "turtle_tracks": ("healthy", STEP, r"nll\s+(-?[\d.]+|nan)"),
    "train_whistles": ("healthy", STEP, LOSS),
}


def family(pid):
    """The process and all that descend from it, by /proc."""
    children = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat") as stat:
                    parent = int(stat.read().rsplit(")", 1)[1].split()[1])
            except (OSError, IndexError):
                continue
            children.setdefault(parent, []).append(int(entry))
    found, queue = [], [pid]
    while queue:
        one = queue.pop()
        found.append(one)
        queue += children.get(one, [])
    return found


def rss_mb(pid):
    total = 0
    for one in family(pid):
        try:
            with open(f"/proc/{one}/statm") as statm:
                total += int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        except (OSError, IndexError):
            pass
    return round(total / 1e6, 1)


def dump(py_spy, pid):
    """The innermost frame of the Python thread that is the main one, per process of the family."""
    places = []
    for process in family(pid):
        done = subprocess.run([py_spy, "dump", "--pid", str(process)], capture_output=True, text=True)
        lines = done.stdout.splitlines()
        for at, line in enumerate(lines):
            if line.startswith("Thread") and "MainThread" in line and at + 1 < len(lines):
                places.append([frame.strip() for frame in lines[at + 1 : at + 4]])
    return places


def watch(python, path, seconds, step_re, loss_re, py_spy=None):
    began = time.time()
    process = subprocess.Popen(
        [python, path],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        cwd=os.path.dirname(path),
        # the machine is shared: idle threads shall not spin, in faulty and cured alike
        env=dict(os.environ, OMP_WAIT_POLICY="PASSIVE", PYTHONWARNINGS="ignore"),
    )
    steps, losses, text = [], [], []

    def read():
        rest = ""
        while True:
            piece = os.read(process.stdout.fileno(), 65536)
            if not piece:
                break
            parts = re.split(r"[\r\n]", rest + piece.decode(errors="replace"))
            rest = parts.pop()
            now = round(time.time() - began, 2)
            for line in parts:
                text.append(f"{now:6.2f} {line}")
                found = re.search(step_re, line)
                if found and (not steps or int(found[1]) > steps[-1][1]):
                    steps.append([now, int(found[1])])
                found = re.search(loss_re, line)
                if found:
                    losses.append(float(found[1]))

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    memory, dumps = [], []
    wanted = [0.65 * seconds, 0.93 * seconds] if py_spy else []
    while time.time() - began < seconds:
        time.sleep(0.5)
        now = time.time() - began
        memory.append([round(now, 1), rss_mb(process.pid)])
        if wanted and now > wanted[0]:
            wanted.pop(0)
            dumps.append(dump(py_spy, process.pid))
    exit_code = process.poll()
    everyone = family(process.pid)
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    for one in everyone:
        try:
            os.kill(one, signal.SIGKILL)
        except ProcessLookupError:
            pass
    process.wait()
    reader.join(5)
    return {
        "exited": exit_code,
        "first_step_line_s": steps[0][0] if steps else None,
        "last_step_line_s": steps[-1][0] if steps else None,
        "last_step": steps[-1][1] if steps else 0,
        "steps": steps,
        "losses": losses,
        "rss_mb": memory,
        "dumps": dumps,
        "text": text,
    }


def brief(run):
    thin = max(1, len(run["losses"]) // 12)
    memory = run["rss_mb"]
    kept = {key: run[key] for key in ("exited", "first_step_line_s", "last_step_line_s", "last_step")}
    kept["losses"] = run["losses"][:3] + run["losses"][3:-3:thin] + run["losses"][-3:]
    kept["rss_mb"] = [memory[i][1] for i in range(0, len(memory), max(1, len(memory) // 10))]
    if run["dumps"]:
        kept["py_spy"] = run["dumps"]
    return kept


def growth(run, share=0.5):
    """Megabytes per second over the last part of the run."""
    begin = max(run["first_step_line_s"] or 0, run["rss_mb"][-1][0] * (1 - share))
    points = [(t, m) for t, m in run["rss_mb"] if t >= begin]
    t_mean = sum(t for t, _ in points) / len(points)
    m_mean = sum(m for _, m in points) / len(points)
    return sum((t - t_mean) * (m - m_mean) for t, m in points) / sum((t - t_mean) ** 2 for t, m in points)


def prove(name, python, py_spy):
    kind, step_re, loss_re = KINDS[name]
    faulty = os.path.join(HERE, "programs", name + ".py")
    cured = os.path.join(HERE, "cured", name + ".py")
    with open(faulty) as source:
        seconds = int(re.search(r"# seconds: (\d+)", source.read())[1])
    if kind == "slow":
        seconds = min(seconds, 26)

    def go(path, spy=None):
        run = watch(python, path, seconds, step_re, loss_re, spy)
        with open(os.path.join(LOGS, f"{name}.{'cured' if path == cured else 'program'}.txt"), "w") as out:
            out.write("\n".join(run["text"]))
        return run

    result = {"kind": kind, "seconds": seconds}
    if kind == "slow":
        runs = [go(path) for path in (faulty, cured, faulty, cured)]
        ratio = min(runs[1]["last_step"], runs[3]["last_step"]) / max(1, runs[0]["last_step"], runs[2]["last_step"])
        result["steps_faulty"] = [runs[0]["last_step"], runs[2]["last_step"]]
        result["steps_cured"] = [runs[1]["last_step"], runs[3]["last_step"]]
        result["worst_ratio"] = round(ratio, 2)
        result["holds"] = ratio >= 1.3 and all(run["exited"] is None and run["last_step"] > 0 for run in runs)
    elif kind == "stuck":
        runs = [go(faulty, py_spy), go(cured)]
        bad, good = runs
        same = len(bad["dumps"]) == 2 and bad["dumps"][0] == bad["dumps"][1] and bool(bad["dumps"][0])
        quiet = seconds - (bad["last_step_line_s"] or 0)
        result["quiet_at_the_end_s"] = round(quiet, 1)
        result["same_place"] = same
        result["holds"] = (
            same and bad["exited"] is None and quiet > 12 and seconds - (good["last_step_line_s"] or 0) < 5
        )
    elif kind == "memory":
        runs = [go(faulty), go(cured)]
        result["mb_per_s"] = [round(growth(run), 2) for run in runs]
        result["holds"] = result["mb_per_s"][0] > 1.5 and result["mb_per_s"][1] < 0.15 * result["mb_per_s"][0]
    elif kind == "learning":
        runs = [go(faulty), go(cured)]
        last = [sum(run["losses"][-5:]) / 5 for run in runs]
        result["last_losses"] = [round(value, 4) for value in last]
        # far above: at least 1.5 times what the cured one has come to
        result["holds"] = all(len(run["losses"]) >= 8 for run in runs) and not last[0] < 1.5 * last[1]
    else:
        runs = [go(faulty)]
        run = runs[0]
        first, last = run["losses"][:4], run["losses"][-4:]
        fall = sum(first) / max(1, len(first)) - sum(last) / max(1, len(last))
        rate = growth(run)
        result["mb_per_s"] = round(rate, 2)
        result["loss_fell_by"] = round(fall, 4)
        result["holds"] = (
            run["exited"] is None
            and run["first_step_line_s"] is not None
            and run["first_step_line_s"] < 17
            and seconds - run["last_step_line_s"] < 5
            and rate < 1.0
            and fall > 0.1 * abs(sum(first) / max(1, len(first)))
        )
    result["runs"] = [brief(run) for run in runs]
    return result


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--loops", required=True)
    parser.add_argument("--tensorflow")
    parser.add_argument("--torch")
    parser.add_argument("--py-spy", default="py-spy")
    parser.add_argument("--only", nargs="*")
    args = parser.parse_args()
    os.makedirs(LOGS, exist_ok=True)
    proof_path = os.path.join(HERE, "proof.json")
    for name in args.only or sorted(KINDS):
        with open("/tmp/machine.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            result = prove(name, args.loops, args.py_spy)
        proof = {}
        if os.path.exists(proof_path):
            with open(proof_path) as old:
                proof = json.load(old)
        proof[name] = result
        with open(proof_path + ".part", "w") as out:
            json.dump(proof, out, indent=1, sort_keys=True)
        os.replace(proof_path + ".part", proof_path)
        print(name, result["kind"], "holds" if result["holds"] else "DOES NOT HOLD", flush=True)


if __name__ == "__main__":
    main()
