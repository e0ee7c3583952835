"""Runs programs and their cured twins and measures the proof; merges what it finds into proof.json.

    python3 prove.py [name ...]        all programs without a holding proof, or the named ones
"""
import collections
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
CACHE = os.path.expanduser("~/.cache/headway")
DEBIAN = os.path.join(os.sep, "usr", "bin", "python3")
PYTHONS = {
    "tensorflow": os.path.join(CACHE, "interop-py3.11-de1addc0", "bin", "python"),
    "loops": os.path.join(CACHE, "loops-py3.11-be77dae8", "bin", "python"),
    "torch": DEBIAN,
    "plain": DEBIAN,
}
SPY = os.path.join(CACHE, "loops-py3.11-be77dae8", "bin", "py-spy")
KERAS = "keras"
# name: (kind of proof, how progress is read from the output, seconds per run)
PLAN = {
    "herbarium_leaves_n": ("rate", KERAS, 24),
    "plankton_camera_n": ("first", KERAS, 24),
    "tide_forecast_n": ("rate", KERAS, 22),
    "galaxy_vae_n": ("rate", r"^step +(\d+)", 24),
    "loan_default_n": ("losses", r"loss: ([\d.naninf+e-]+)", 20),
    "whale_calls_n": ("crash", r"^step +(\d+)", 25),
    "road_lanes_n": ("memory", r"step (\d+) loss", 25),
    "river_gauge_n": ("first", r"^step (\d+)", 24),
    "bird_song_n": ("losses", r"loss ([\d.naninf+e-]+)", 15),
    "recipe_vectors_n": ("rate", r"^step +(\d+)", 15),
    "seismic_stream_n": ("stuck", r"^step (\d+)", 25),
    "playlist_ranker_n": ("stuck", r"step (\d+)", 25),
    "coin_gan_n": ("healthy", r"step (\d+)", 25),
    "weld_inspection_n": ("healthy", r"^(\d+)/\d+ - ", 25),
    "court_minutes_n": ("healthy", r"^step (\d+)", 25),
    "kidney_scans_n": ("healthy", KERAS, 25),
    "lander_policy_n": ("healthy", r"iteration +(\d+)", 25),
    "snowflake_diffusion_n": ("healthy", r"^step (\d+)", 25),
    "solar_sweep_n": ("healthy", r"step (\d+)", 25),
    "old_letters_n": ("healthy", r"step (\d+)", 25),
}


def header(path):
    fields = {}
    for line in path.read_text().splitlines():
        if not line.startswith("#"):
            break
        found = re.match(r"# (\w+): (.*)", line)
        if found:
            fields[found[1]] = found[2].strip()
    return fields


def tree(pid):
    pids = [pid]
    for one in pids:
        try:
            for task in os.listdir(f"/proc/{one}/task"):
                pids += [int(p) for p in open(f"/proc/{one}/task/{task}/children").read().split()]
        except OSError:
            pass
    return pids


def memory(pid):
    total = 0
    for one in tree(pid):
        try:
            total += int(open(f"/proc/{one}/statm").read().split()[1]) * 4096
        except OSError:
            pass
    return round(total / 1e6)


def calm(limit=8):
    """Waits until others leave the two cores mostly idle, or until the limit."""
    def busy():
        fields = [int(v) for v in open("/proc/stat").readline().split()[1:]]
        return sum(fields) - fields[3] - fields[4], sum(fields)
    began = time.time()
    while True:
        first = busy()
        time.sleep(3)
        last = busy()
        share = (last[0] - first[0]) / max(1, last[1] - first[1])
        if share < 0.15 or time.time() - began > limit:
            return round(share, 2)


class Run:
    def __init__(self, path, seconds, dumps=False, record=False):
        self.others = calm()
        head = header(path)
        self.folder = tempfile.mkdtemp(prefix="prove_")
        env = dict(os.environ, TMPDIR=self.folder)
        for pair in head.get("env", "").split():
            key, value = pair.split("=", 1)
            env[key] = value
        command = head.get("wrap", "").split() + [PYTHONS[head["python"]], str(path)]
        self.lines, self.rss, self.dumps, self.raw = [], [], [], ""
        self.began = time.time()
        self.process = subprocess.Popen(command, env=env, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, start_new_session=True)
        reader = threading.Thread(target=self.read, daemon=True)
        reader.start()
        try:
            dump_at = [seconds - 12, seconds - 7, seconds - 2] if dumps else []
            while time.time() - self.began < seconds and self.process.poll() is None:
                past = time.time() - self.began
                if dump_at and past > dump_at[0]:
                    dump_at.pop(0)
                    self.dumps.append(self.spy("dump"))
                if record and not self.raw and past > seconds - 12:
                    self.raw = self.spy("record")
                self.rss.append((round(past, 1), memory(self.process.pid)))
                time.sleep(0.5)
            self.status = self.process.poll()
        finally:
            for sig in (signal.SIGTERM, signal.SIGKILL):
                left = tree(self.process.pid)
                try:
                    os.killpg(self.process.pid, sig)
                except OSError:
                    pass
                time.sleep(0.7)
                for pid in left[1:]:
                    try:
                        os.kill(pid, sig)
                    except OSError:
                        pass
            self.process.wait()
            shutil.rmtree(self.folder, ignore_errors=True)

    def read(self):
        rest, at = "", 0.0
        while True:
            chunk = os.read(self.process.stdout.fileno(), 65536)
            if not chunk:
                break
            if not rest:
                at = time.time() - self.began
            *whole, last = re.split(r"[\r\n]+", rest + chunk.decode("utf-8", "replace"))
            for part in whole:
                part = re.sub(r"\x1b\[[0-9;]*m|\x08", "", part)
                if part.strip():
                    self.lines.append((at, part))
                at = time.time() - self.began
            rest = last

    def spy(self, what):
        pids = tree(self.process.pid)
        if what == "dump":
            done = subprocess.run([SPY, "dump", "--pid", str(pids[0])], capture_output=True, text=True)
            frames = [l.strip() for l in done.stdout.splitlines() if l.startswith("    ")]
            return frames or [done.stderr[-200:]]
        out = os.path.join(self.folder, "raw.txt")
        subprocess.run([SPY, "record", "-d", "10", "-r", "50", "-f", "raw", "-s", "-t", "-o", out, "--pid", str(pids[0])],
                       capture_output=True, text=True)
        return open(out).read() if os.path.exists(out) else "none"

    def progress(self, pattern):
        points, epoch, total = [], 1, 0
        for when, line in self.lines:
            if pattern == KERAS:
                found = re.match(r"Epoch (\d+)/", line)
                if found:
                    epoch = int(found[1])
                    continue
                found = re.match(r" *(\d+)/(\d+) *\S*\s+\S*(?:s|:\d\d)", line)
                if found:
                    points.append((when, (epoch - 1) * int(found[2]) + int(found[1])))
            else:
                found = re.search(pattern, line.strip())
                if found:
                    value = float(found[1])
                    points.append((when, value))
        return points

    def rate(self, pattern):
        points = self.progress(pattern)
        if len(points) < 2:
            return None
        start = points[0][0] + 1.0 if len(points) > 4 else points[0][0]
        points = [p for p in points if p[0] >= start] or points
        if len(points) < 2 or points[-1][0] == points[0][0]:
            return None
        return (points[-1][1] - points[0][1]) / (points[-1][0] - points[0][0])

    def tail(self):
        return [f"{when:.1f} {line[:150]}" for when, line in self.lines[-2:]]


def own(frames):
    return [re.sub(r":\d+\)", ")", f) for f in frames if "_n.py" in f]


def shares(raw):
    inner, leaf, total = collections.Counter(), collections.Counter(), 0
    for line in raw.splitlines():
        stack, _, count = line.rpartition(" ")
        if not count.isdigit():
            continue
        total += int(count)
        frames = stack.split(";")
        leaf[frames[-1]] += int(count)
        for frame in set(f for f in frames if "_n.py" in f):
            inner[frame] += int(count)
    pick = lambda c: {k: round(v / total, 3) for k, v in c.most_common(8)} if total else {}
    return {"samples": total, "innermost": pick(leaf), "in the program": pick(inner)}


def prove(name):
    kind, pattern, seconds = PLAN[name]
    program, twin = HERE / "programs" / (name + ".py"), HERE / "cured" / (name + ".py")
    result = {"kind": kind}
    if kind == "healthy":
        run = Run(program, seconds, record=True)
        points = run.progress(pattern)
        result.update(points=len(points), rate=run.rate(pattern), spread=[round(p[0], 1) for p in points][:3] + [round(p[0], 1) for p in points][-2:],
                      memory=run.rss[-1:], shares=shares(run.raw), status=run.status, tail=run.tail())
        result["holds"] = run.status is None and len(points) >= 2 and points[-1][0] > seconds - 10
    elif kind == "stuck":
        run, other = Run(program, seconds, dumps=True), Run(twin, seconds)
        a, b = run.progress(pattern), other.progress(pattern)
        same = len(run.dumps) == 3 and all(own(d) == own(run.dumps[0]) for d in run.dumps)
        result.update(last_progress=[round(a[-1][0], 1), a[-1][1]] if a else None, dumps=[d[:4] for d in run.dumps], same=same,
                      twin_last=[round(b[-1][0], 1), b[-1][1]] if b else None, tail=run.tail(), twin_tail=other.tail())
        result["holds"] = bool(same and a and b and a[-1][0] < seconds - 12 and b[-1][0] > seconds - 6)
    else:
        run, other = Run(program, seconds), Run(twin, seconds)
        result.update(status=run.status, twin_status=other.status, tail=run.tail(), twin_tail=other.tail())
        if kind == "rate":
            result.update(rate=run.rate(pattern), twin_rate=other.rate(pattern))
            if result["rate"] and result["twin_rate"]:
                result["ratio"] = round(result["twin_rate"] / result["rate"], 2)
            result["holds"] = result.get("ratio", 0) >= 1.3
        elif kind == "first":
            a, b = run.progress(pattern), other.progress(pattern)
            result.update(first=round(a[0][0], 1) if a else f"none in {seconds} s", twin_first=round(b[0][0], 1) if b else None)
            result["holds"] = bool(b) and b[0][0] * 1.3 < (a[0][0] if a else seconds)
        elif kind == "memory":
            result.update(memory=run.rss[::4], twin_memory=other.rss[::4], steps=run.progress(pattern)[-1:], twin_steps=other.progress(pattern)[-1:])
            late = lambda r: r.rss[-1][1] - [m for t, m in r.rss if t > seconds - 10][0]
            result.update(last_10_s=late(run), twin_last_10_s=late(other))
            result["holds"] = late(run) > 60 and late(other) < 0.25 * late(run)
        elif kind == "crash":
            a, b = run.progress(pattern), other.progress(pattern)
            result.update(steps=a[-1:], twin_steps=b[-1:], lived=run.rss[-1][0])
            result["holds"] = bool(a and b and run.status not in (None, 0) and other.status is None and b[-1][1] > a[-1][1])
        elif kind == "losses":
            a, b = [p[1] for p in run.progress(pattern)], [p[1] for p in other.progress(pattern)]
            thin = lambda v: v[:3] + v[3::max(1, len(v) // 6)]
            result.update(losses=thin(a), twin_losses=thin(b))
            bad = bool(a) and (a[-1] != a[-1] or a[-1] > 0.95 * a[0])
            result["holds"] = bool(bad and b and b[-1] == b[-1] and b[-1] < 0.9 * b[0])
    result["cores taken by others at the start"] = run.others
    return result


def main():
    path = HERE / "proof.json"
    done = json.loads(path.read_text()) if path.exists() else {}
    names = sys.argv[1:] or [n for n in PLAN if not done.get(n, {}).get("holds")]
    for name in names:
        found = prove(name)
        done = json.loads(path.read_text()) if path.exists() else {}
        done[name] = found
        path.write_text(json.dumps(done, indent=1, sort_keys=True))
        print(name, found["kind"], "holds" if found["holds"] else "DOES NOT HOLD", found.get("ratio", ""), flush=True)


if __name__ == "__main__":
    main()
