"""Proves the faults without the tool: runs each program and its cured twin, reads what they print, dumps stacks.
usage: prove.py [NAME ...]   results are merged into proof.json"""
import json
import os
import pty
import re
import signal
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
CACHE = os.path.expanduser("~/.cache/headway")
LOOPS = os.path.join(CACHE, "loops-py3.11-be77dae8", "bin")
PYTHONS = {
    "tensorflow": os.path.join(CACHE, "interop-py3.11-de1addc0", "bin", "python"),
    "torch": "/usr/bin/python3", "plain": "/usr/bin/python3",
    "loops": os.path.join(LOOPS, "python"),
}
PYSPY = os.path.join(LOOPS, "py-spy")
PROGRESS = re.compile(r"(?:^|\s)(?:step|model|samples) (\d+)")
SPECIAL = {"intent_bert": re.compile(r"samples (\d+)"), "review_rater": re.compile(r"epoch (\d+)"),
           "sensor_autoencoder": re.compile(r"Epoch (\d+)"), "road_segments": re.compile(r"batch (\d+)"),
           "traffic_transformer": re.compile(r"epoch (\d+)")}
LOSS = re.compile(r"loss ([-+0-9.einfa]+)", re.I)
KINDS = {
    "slow": "translit_gru leaf_disease keyword_spotter energy_forecast fluor_cells corpus_tagger tabular_mixture "
            "contrastive_bank wafer_defects intent_bert enzyme_lengths feature_ranker",
    "stuck": "review_rater satellite_tiles causal_blocks voice_triplets cartpole_actors meter_pipeline",
    "numerical": "churn_model finetune_head depth_regressor orbit_surrogate",
    "memory": "click_ranker",
    "crash": "spectra_shards",
}
KIND = {n: k for k, names in KINDS.items() for n in names.split()}
SECONDS = {"keyword_spotter": 30, "contrastive_bank": 20, "enzyme_lengths": 20, "wafer_defects": 20, "leaf_disease": 22}


def header(name):
    fields = {}
    for line in open(os.path.join(HERE, "programs", name + ".py")):
        m = re.match(r"# (python|expected|verdict|seconds|where|Why|env|wrap|how): (.*)", line)
        if not m:
            break
        fields[m.group(1)] = m.group(2).strip()
    return fields


class Run:
    def __init__(self, folder, name):
        self.fields = header(name)
        self.pattern = SPECIAL.get(name, PROGRESS)
        master, slave = pty.openpty()
        env = dict(os.environ, PYTHONUNBUFFERED="1")
        for pair in self.fields.get("env", "").split():
            key, value = pair.split("=", 1)
            env[key] = value
        command = self.fields.get("wrap", "").split()
        command += [PYTHONS[self.fields["python"]], os.path.join(HERE, folder, name + ".py")]
        self.process = subprocess.Popen(command, stdin=slave, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                        text=True, errors="replace", env=env, start_new_session=True)
        os.close(slave)
        self.master = master
        self.start = time.time()
        self.lines, self.points, self.losses, self.rss = [], [], [], []
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            now = time.time() - self.start
            self.lines.append(line.rstrip())
            m = self.pattern.search(line)
            if m:
                self.points.append((round(now, 2), int(m.group(1))))
            m = LOSS.search(line)
            if m:
                self.losses.append(m.group(1))

    def wait(self, seconds):
        end = self.start + seconds
        while time.time() < end and self.process.poll() is None:
            time.sleep(0.25)
            try:
                with open(f"/proc/{self.process.pid}/statm") as f:
                    self.rss.append((round(time.time() - self.start, 1), int(f.read().split()[1]) * 4096 >> 20))
            except (OSError, ValueError, IndexError):
                pass

    def rate(self):
        p = self.points
        if len(p) < 2 or p[-1][0] - p[0][0] < 0.5:
            return 0.0
        return (p[-1][1] - p[0][1]) / (p[-1][0] - p[0][0])

    def dump(self):
        out = subprocess.run([PYSPY, "dump", "--pid", str(self.process.pid)], capture_output=True, text=True).stdout
        return [l.strip() for l in out.splitlines() if l.strip()]

    def children(self):
        """Innermost frame of each child process."""
        found = []
        pids = subprocess.run(["pgrep", "-P", str(self.process.pid)], capture_output=True, text=True).stdout.split()
        for pid in pids:
            out = subprocess.run([PYSPY, "dump", "--pid", pid], capture_output=True, text=True).stdout
            frames = [l.strip() for l in out.splitlines() if l.startswith("    ")]
            found.append(frames[0] if frames else "no Python stack")
        return found

    def stop(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        code = self.process.wait()
        os.close(self.master)
        return code


def measure(folder, name, seconds):
    run = Run(folder, name)
    run.wait(seconds)
    alive = run.process.poll() is None
    code = run.stop()
    return run, alive, code


def places(dump):
    """Each thread's innermost frame of the program itself, and the innermost of all of the main thread."""
    found, thread, first = [], "", True
    for line in dump:
        if line.startswith("Thread"):
            thread, first = line.split('"')[-2] if '"' in line else line, True
        elif "(" in line and first:
            found.append(f"{thread}: {line}")
            first = False
    return sorted(f for f in found if "MainThread" in f or "actor" in f)


def prove_slow(name):
    seconds = SECONDS.get(name, 14)
    faulty, cured = [], []
    for _ in range(2):
        for folder, rates in (("programs", faulty), ("cured", cured)):
            run, _, _ = measure(folder, name, seconds)
            rates.append(round(run.points[-1][1] / seconds if name == "keyword_spotter" and run.points else run.rate(), 3))
    worst, best = max(faulty), min(cured)
    ratio = best / worst if worst else (float("inf") if best else 0)
    return {"per_second_faulty": faulty, "per_second_cured": cured, "seconds": seconds,
            "ratio": round(ratio, 2) if ratio != float("inf") else "no step at all against some",
            "holds": ratio >= 1.3}


def prove_stuck(name):
    limit = int(header(name)["seconds"])
    run = Run("programs", name)
    run.wait(limit - 12)
    last = (run.points or [(0, -1)])[-1]
    first, children_1 = run.dump(), run.children()
    run.wait(limit - 2)
    second, after = run.dump(), (run.points or [(0, -1)])[-1]
    children_2 = run.children()
    tail = run.lines[-3:]
    run.stop()
    cured, alive, _ = measure("cured", name, limit)
    points = cured.points
    going = bool(points) and points[-1][0] > limit - 8 and points[-1][1] > last[1]
    a, b = places(first), places(second)
    # a loop that never ends moves between its own few lines: the function counts
    strip = (lambda p: [re.sub(r":\d+\)", ")", x) for x in p]) if name == "voice_triplets" else (lambda p: p)
    if name == "voice_triplets":
        a = [l for l in first if "negative (" in l]
        b = [l for l in second if "negative (" in l]
    same = bool(a) and strip(a) == strip(b)
    return {"stack_1": a, "stack_2": b, "children_1": children_1, "children_2": children_2,
            "last_progress_s": last[0], "step_then": last[1], "step_10_s_later": after[1],
            "said_last": tail, "cured_progress": [points[0], points[-1]] if points else [],
            "holds": same and children_1 == children_2 and last == after and going}


def thin(values, count=12):
    step = max(1, len(values) // count)
    return values[::step]


def prove_numerical(name):
    seconds = 25
    run, _, _ = measure("programs", name, seconds)
    cured, _, _ = measure("cured", name, seconds)
    bad, good = [float(v) for v in run.losses], [float(v) for v in cured.losses]
    half = good[len(good) // 2:]
    mean = lambda v: sum(v) / max(1, len(v))
    if name == "depth_regressor":
        holds = bad[-1] != bad[-1] and all(v == v for v in good) and good[-1] < good[0] and len(good) > 5
    elif name == "orbit_surrogate":
        holds = mean(bad[len(bad) // 2:]) > 20 * mean(half)
    else:
        late = bad[len(bad) // 2:]
        holds = len(bad) > 5 and len(good) > 5 and abs(mean(late) - mean(bad[:3])) < 0.1 * mean(bad[:3]) and \
            mean(half) < 0.7 * mean(late)
    return {"losses": [str(v) for v in thin(run.losses) + run.losses[-1:]],
            "losses_cured": [str(v) for v in thin(cured.losses) + cured.losses[-1:]], "holds": bool(holds)}


def prove_memory(name):
    run, _, _ = measure("programs", name, 30)
    cured, _, _ = measure("cured", name, 30)
    def growth(r):
        m = [v for t, v in r.rss if t > 6]
        return (m[-1] - m[0]) / 24
    return {"rss_mb": thin(run.rss), "rss_mb_cured": thin(cured.rss), "mb_per_s": round(growth(run), 2),
            "mb_per_s_cured": round(growth(cured), 2), "holds": growth(run) > 5 and growth(cured) < 0.2 * growth(run)}


def prove_crash(name):
    limit = int(header(name)["seconds"])
    run, alive, code = measure("programs", name, limit)
    cured, alive2, _ = measure("cured", name, limit)
    return {"exit": code, "after_s": run.rss[-1][0], "last_lines": run.lines[-2:], "steps": run.points[-1][1],
            "cured_steps": cured.points[-1][1], "cured_alive": alive2,
            "holds": not alive and code == 1 and "Too many open files" in "".join(run.lines[-3:]) and alive2
            and cured.points[-1][1] > run.points[-1][1]}


def prove_healthy(name):
    limit = int(header(name)["seconds"])
    run, alive, code = measure("programs", name, limit)
    times = [t for t, _ in run.points]
    gaps = [b - a for a, b in zip(times, times[1:])]
    return {"seconds": limit, "alive": alive, "first_step_s": times[0] if times else None, "steps": run.points[-1][1] if times else 0,
            "lines": len(times), "longest_gap_s": round(max(gaps), 2) if gaps else None, "last_step_s": times[-1] if times else None,
            "losses": run.losses[:1] + run.losses[-1:], "peak_rss_mb": max(m for _, m in run.rss),
            "holds": (alive or code == 0) and len(times) >= 5 and times[-1] > limit - 8 and max(gaps) < 10}


PROVERS = {"slow": prove_slow, "stuck": prove_stuck, "numerical": prove_numerical, "memory": prove_memory,
           "crash": prove_crash, "healthy": prove_healthy}


def main():
    names = sys.argv[1:] or sorted(f[:-3] for f in os.listdir(os.path.join(HERE, "programs")) if f.endswith(".py"))
    path = os.path.join(HERE, "proof.json")
    for name in names:
        kind = KIND.get(name, "healthy")
        try:
            figures = PROVERS[kind](name)
        except Exception as error:
            figures = {"holds": False, "error": repr(error)}
        with open(path + ".lock", "w") as lock:
            import fcntl
            fcntl.flock(lock, fcntl.LOCK_EX)
            results = json.load(open(path)) if os.path.exists(path) else []
            results = [r for r in results if r["name"] != name] + [{"name": name, "kind": kind, **figures}]
            with open(path, "w") as f:
                json.dump(sorted(results, key=lambda r: r["name"]), f, indent=1)
        print(name, kind, json.dumps(figures), flush=True)


if __name__ == "__main__":
    main()
