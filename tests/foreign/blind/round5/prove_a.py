"""Runs programs and cured twins in turns and measures the proof. Usage: prove.py [name ...]; merges into proof.json."""
import collections
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
CACHE = os.path.expanduser("~/.cache/headway")
LOOPS = os.path.join(CACHE, "loops-py3.11-be77dae8", "bin")
PYTHONS = {"tensorflow": os.path.join(CACHE, "interop-py3.11-de1addc0", "bin", "python"),
           "loops": os.path.join(LOOPS, "python"), "torch": "/usr/bin/python3", "plain": "/usr/bin/python3"}
PYSPY = os.path.join(LOOPS, "py-spy")
BAR = r"(?:^|m|\| ) *(\d+)/\d+\b"
F = r"([-+]?(?:nan|inf|\d+\.?\d*(?:e[-+]?\d+)?))"

#  name: (kind, pattern of the step number, pattern of the loss)
TABLE = {
    "coffee_leaf_patches": ("slow", BAR, None),
    "seismic_vae": ("slow", r"step (\d+) loss", None),
    "frog_calls_spectrogram": ("first", BAR, None),
    "book_ratings_factorization": ("slow", r"step (\d+) ", None),
    "subscription_churn_mlp": ("learn", BAR, r" loss: " + F),
    "parcel_scans_tfrecord": ("stuck", BAR, None),
    "reaction_smiles_attention": ("slow", r"step +(\d+) ", None),
    "signature_pairs_siamese": ("learn", r"step=(\d+)", r"loss=" + F),
    "crop_soil_classifier_jax": ("learn", BAR, r"epoch \d+ loss " + F),
    "wind_farm_ridge_online": ("stuck", r"step +(\d+)", None),
    "glider_evolution_strategy": ("stuck", r"generation +(\d+)", None),
    "support_tickets_sgd": ("slow", r"batch (\d+):", None),
    "glyph_strokes_gan": ("healthy", BAR, r"g_loss: " + F),
    "pendulum_reinforce_jax": ("healthy", r"iter (\d+)", r"return " + F),
    "tram_ridership_gru": ("healthy", r"steps (\d+)", r" loss=" + F),
    "aerial_roads_segmentation": ("healthy", r"tile +(\d+)", r"loss " + F),
    "reactor_sweep_processes": ("healthy", r"lr=0.003 step (\d+)", r"loss " + F),
    "river_level_mixer_jax": ("healthy", r"step (\d+)", r"mae " + F),
    "warehouse_robot_dqn": ("healthy", r"step=(\d+)", r"td=" + F),
    "menu_reviews_transformer": ("healthy", BAR, r" loss: " + F),
}


def header(path):
    out = {}
    for line in open(path):
        if not line.startswith("#"):
            break
        key, _, value = line[1:].partition(":")
        out.setdefault(key.strip(), value.strip())
    return out


class Run:
    def __init__(self, path):
        head = header(path)
        env = dict(os.environ, PYTHONUNBUFFERED="1")
        env.update(p.split("=", 1) for p in head.get("env", "").split())
        cmd = head.get("wrap", "").split() + [PYTHONS[head["python"]], path]
        self.chunks, self.t0 = [], time.time()
        self.proc = subprocess.Popen(cmd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                                     env=env, start_new_session=True, cwd=tempfile.gettempdir())
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        while True:
            data = os.read(self.proc.stdout.fileno(), 65536)
            if not data:
                return
            self.chunks.append((time.time() - self.t0, data))

    def lines(self):
        rest, out = "", []
        for t, data in list(self.chunks):
            parts = re.split(r"[\r\n]+", rest + data.decode(errors="replace").replace("\b", ""))
            rest = parts.pop()
            out += [(t, p) for p in parts]
        return out

    def found(self, pattern):
        rx = re.compile(pattern)
        out = []
        for t, line in self.lines():
            m = rx.search(line)
            if m:
                out.append((t, m.group(1)))
        return out

    def progress(self, pattern):
        """(seconds, steps so far), epochs joined"""
        total, last, out = 0, 0, []
        for t, v in self.found(pattern):
            v = int(v)
            total += v - last if v >= last else v
            last = v
            out.append((t, total))
        return out

    def rss(self):
        try:
            return int(re.search(r"VmRSS:\s+(\d+)", open(f"/proc/{self.proc.pid}/status").read()).group(1)) // 1024
        except (OSError, AttributeError):
            return None

    def stop(self):
        try:
            os.killpg(self.proc.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.proc.wait()
        time.sleep(0.3)


def rate(points, skip=0.0):
    late = [p for p in points if p[0] >= points[0][0] + skip]
    points = late if len(late) > 3 else points
    if len(points) < 2 or points[-1][0] - points[0][0] < 1:
        return None
    return round((points[-1][1] - points[0][1]) / (points[-1][0] - points[0][0]), 2)


def timed(path, seconds, pattern, until_first=False):
    run = Run(path)
    while time.time() - run.t0 < seconds and run.proc.poll() is None:
        time.sleep(0.25)
        if until_first and run.progress(pattern):
            break
    run.alive = run.proc.poll() is None
    run.memory = run.rss()
    run.stop()
    return run


def stack(pid):
    text = subprocess.run([PYSPY, "dump", "--pid", str(pid)], capture_output=True, text=True, timeout=20).stdout
    main = text.split("\n\n")
    keep = [b for b in re.split(r"\n(?=Thread )", text) if "MainThread" in b]
    return [l.strip() for l in (keep or main)[0].splitlines() if l.startswith("    ")]


def recorded(pid, path):
    with tempfile.NamedTemporaryFile(suffix=".raw") as f:
        subprocess.run([PYSPY, "record", "-s", "-i", "-d", "10", "-r", "50", "-f", "raw", "-o", f.name, "--pid", str(pid)],
                       capture_output=True, timeout=40)
        lines = open(f.name).read().splitlines()
    leaf, own, total = collections.Counter(), collections.Counter(), 0
    name = os.path.basename(path)
    for line in lines:
        frames, _, n = line.rpartition(" ")
        frames, n = frames.split(";"), int(n)
        if not any(name in f and not f.startswith("process ") for f in frames):
            continue  # threads of the framework
        total += n
        leaf[frames[-1]] += n
        for fr in {f for f in frames if name in f and not f.startswith("process ")}:
            own[fr] += n
    share = lambda c: {k: round(v / total, 3) for k, v in c.most_common(7)} if total else {}
    return {"samples": total, "leaf": share(leaf), "own_lines": share(own)}


def prove(name):
    kind, step, loss = TABLE[name]
    bad, good = (os.path.join(HERE, d, name + ".py") for d in ("programs", "cured"))
    out = {"expected": header(bad)["expected"], "kind": kind, "load": os.getloadavg()[0]}
    if kind == "slow":
        rates = {"faulty": [], "cured": []}
        series = {}
        for _ in range(2):
            for label, path in (("faulty", bad), ("cured", good)):
                run = timed(path, 20, step)
                pts = run.progress(step)
                rates[label].append(rate(pts, 3.0))
                series[label] = {"points": pts[::max(1, len(pts) // 8)], "rss": run.memory, "alive": run.alive,
                                 "second_half": rate(pts[-max(2, len(pts) // 3):]) }
        f, c = (sum(r or 0 for r in rates[k]) / 2 for k in ("faulty", "cured"))
        out.update(steps_per_second=rates, last_run=series, ratio=round(c / f, 2) if f else None)
        out["holds"] = bool(c and (f == 0 or c / f >= 1.3))
    elif kind == "first":
        first = {}
        for label, path in (("cured", good), ("faulty", bad)):
            run = timed(path, 25, step, until_first=True)
            pts = run.progress(step)
            first[label] = round(pts[0][0], 1) if pts else None
        out.update(seconds_to_first_step=first)
        out["holds"] = bool(first["cured"] and (first["faulty"] is None or first["faulty"] > 1.3 * first["cured"]))
    elif kind == "stuck":
        run = Run(bad)
        time.sleep(13)
        stacks, counts = [], []
        for k in range(3):
            stacks.append(stack(run.proc.pid))
            counts.append((run.progress(step) or [(0, 0)])[-1][1])
            if k < 2:
                time.sleep(5)
        alive = run.proc.poll() is None
        run.stop()
        twin = timed(good, 22, step)
        pts = twin.progress(step)
        late = [p for p in pts if p[0] > 16]
        out.update(stack=stacks[0], same=stacks[0] == stacks[1] == stacks[2] != [], steps=counts, alive=alive,
                   cured_steps=pts[-1][1] if pts else 0, cured_after_16s=len(late), cured_rate=rate(pts))
        out["holds"] = out["same"] and alive and len(set(counts)) == 1 and len(late) > 1
    elif kind == "learn":
        for label, path in (("faulty", bad), ("cured", good)):
            run = timed(path, 22, step)
            vals = run.found(loss)
            out[label] = {"loss": [(round(t, 1), v) for t, v in vals[::max(1, len(vals) // 8)]] + vals[-1:],
                          "rate": rate(run.progress(step)), "alive": run.alive}
        last = {k: float(out[k]["loss"][-1][1]) for k in ("faulty", "cured")}
        first = {k: float(out[k]["loss"][0][1]) for k in ("faulty", "cured")}
        frozen = last["faulty"] != last["faulty"] or abs(last["faulty"] - first["faulty"]) <= 0.15 * first["faulty"]
        out["holds"] = last["cured"] < 0.8 * first["cured"] and frozen
    elif kind == "healthy":
        run = Run(bad)
        time.sleep(11)
        out["profile"] = recorded(run.proc.pid, bad)
        out["rss"] = run.rss()
        time.sleep(max(0, 24 - (time.time() - run.t0)))
        alive = run.proc.poll() is None
        run.stop()
        pts, vals = run.progress(step), run.found(loss)
        out.update(rate=rate(pts), seconds_to_first_print=round(pts[0][0], 1) if pts else None, alive=alive,
                   points=pts[::max(1, len(pts) // 8)], loss=[v for _, v in vals[::max(1, len(vals) // 10)]])
        out["holds"] = bool(alive and out["rate"])
    if not out["holds"]:
        out["tail"] = [l for _, l in run.lines()[-6:]]
    return out


if __name__ == "__main__":
    target = os.path.join(HERE, "proof.json")
    for name in sys.argv[1:] or list(TABLE):
        result = prove(name)
        merged = json.load(open(target)) if os.path.exists(target) else {}
        merged[name] = result
        json.dump(merged, open(target, "w"), indent=1)
        print(name, json.dumps(result)[:1800], flush=True)
