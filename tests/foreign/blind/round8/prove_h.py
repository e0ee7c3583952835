"""Runs programs and their cured twins and measures the proof; merges into proof.json.

    python3 prove.py              everything that has no proof yet
    python3 prove.py a_s b_s      only these
"""
import collections
import json
import os
import re
import select
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
CACHE = os.path.expanduser("~/.cache/headway")
LOOPS = os.path.join(CACHE, "loops-py3.11-be77dae8", "bin")
PYTHONS = {"torch": "/usr/bin/python3", "plain": "/usr/bin/python3", "loops": os.path.join(LOOPS, "python"),
           "tensorflow": os.path.join(CACHE, "interop-py3.11-de1addc0", "bin", "python")}
PYSPY = os.path.join(LOOPS, "py-spy")
PROOF = os.path.join(HERE, "proof.json")

BAR = r"Epoch (\d+):.*?\| *(\d+)/(\d+) \["        # Lightning's bar: epoch, batch, batches
# name: (kind, pattern of the step [, pattern of the loss])
PLAN = {
    "whale_calls_s": ("first-step", r" step (\d+) "),
    "leaf_spots_s": ("slow-late", r" step (\d+) "),
    "parcel_sorting_s": ("stuck", r"^step (\d+) "),
    "tide_levels_s": ("slow", r"step (\d+) "),
    "coin_grader_s": ("loss", r"step (\d+):", r"loss = ([\d.naif]+)"),
    "soil_moisture_s": ("slow", r"global step (\d+) "),
    "pollen_counts_s": ("slow", BAR),
    "recipe_words_s": ("slow", r"\| (\d+)/100000"),
    "ticket_routing_s": ("loss", r"^step (\d+):", r"loss=([\d.naif]+)"),
    "spelling_model_s": ("stuck", r"step (\d+) "),
    "treebank_labels_s": ("stuck", r" step (\d+) "),
    "bike_docks_s": ("leak", r"^(\d+),"),
    "elevator_calls_s": ("healthy", r"update +(\d+) "),
    "fabric_patterns_s": ("healthy", r"step=(\d+) "),
    "rain_radar_s": ("healthy", r"worker 0 .* step (\d+) "),
    "lung_volumes_s": ("healthy", r"scan (\d+)/400"),
    "ferry_delays_s": ("healthy", BAR),
    "poem_lines_s": ("healthy", r"\| (\d+)/20000"),
    "kite_steering_s": ("healthy", r"generation (\d+) "),
    "harbour_depths_s": ("healthy", r"^step (\d+):"),
}


def header(path):
    out = {}
    for line in open(path):
        if not line.startswith("# "):
            break
        key, sep, value = line[2:].partition(": ")
        if sep and key.isidentifier():
            out[key.lower()] = value.strip()
    return out


def tree(pid):
    """The process and all below it."""
    children = collections.defaultdict(list)
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat") as f:
                    children[int(f.read().rsplit(")", 1)[1].split()[1])].append(int(name))
            except OSError:
                pass
    out, todo = [], [pid]
    while todo:
        p = todo.pop()
        out.append(p)
        todo += children[p]
    return out


def rss(pid):
    total = 0
    for p in tree(pid):
        try:
            with open(f"/proc/{p}/status") as f:
                m = re.search(r"VmRSS:\s+(\d+)", f.read())
                total += int(m.group(1)) if m else 0
        except OSError:
            pass
    return total // 1024


def quiet(longest=25):
    """The machine is ours, and others leave it alone for a moment (not for ever: it is shared)."""

    def idle():
        with open("/proc/stat") as f:
            v = [int(x) for x in f.readline().split()[1:]]
        return v[3] + v[4], sum(v)
    end = time.time() + longest
    while time.time() < end:
        a = idle()
        time.sleep(1.5)
        b = idle()
        if (b[0] - a[0]) / (b[1] - a[1]) > 0.5:
            break


class Run:
    def __init__(self, folder, name, seconds, pattern, loss=None, during=None, stop_at_first=False):
        quiet()
        path = os.path.join(HERE, folder, name + ".py")
        head = header(path)
        env = dict(os.environ)
        env.update(kv.split("=", 1) for kv in head.get("env", "").split())
        self.folder = tempfile.mkdtemp(prefix="prove_")
        env["TMPDIR"] = self.folder
        command = shlex.split(head.get("wrap", "")) + [PYTHONS[head["python"]], path]
        self.began = time.time()
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                                        env=env, cwd=self.folder, start_new_session=True)
        self.lines, self.points, self.losses, self.memory = [], [], [], []
        self.extra = None
        rest, seen_rss = b"", 0.0
        try:
            while time.time() - self.began < seconds:
                ready, _, _ = select.select([self.process.stdout], [], [], 0.3)
                t = time.time() - self.began
                if ready:
                    chunk = os.read(self.process.stdout.fileno(), 65536)
                    if not chunk:
                        break
                    parts = re.split(rb"[\r\n]+", rest + chunk)
                    rest = parts.pop()
                    for part in parts:
                        line = part.decode(errors="replace")
                        self.lines.append((round(t, 2), line))
                        m = re.search(pattern, line)
                        if m:
                            g = [int(x) for x in m.groups()]
                            self.points.append((t, g[0] if len(g) == 1 else g[0] * g[2] + g[1]))
                        m = re.search(loss, line) if loss else None
                        if m:
                            self.losses.append(float(m.group(1)))
                if t - seen_rss > 1:
                    seen_rss = t
                    self.memory.append((round(t, 1), rss(self.process.pid)))
                if stop_at_first and self.points:
                    break
                still = self.points and t - self.lines[-1][0] > 4
                if during and (t > during[0] if during[0] else still):
                    self.extra, during = during[1](self), None
                    if self.extra and "same" in self.extra:
                        break
            self.exit = self.process.poll()
        finally:
            pids = tree(self.process.pid)
            try:
                os.killpg(self.process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            for p in pids:
                try:
                    os.kill(p, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            self.process.wait()
            self.process.stdout.close()
            shutil.rmtree(self.folder, ignore_errors=True)

    def rate(self, last=None):
        points = self.points
        if last and points:
            points = [p for p in points if p[0] > points[-1][0] - last] or points
        if len(points) < 2 or points[-1][0] <= points[0][0]:
            return 0.0
        return (points[-1][1] - points[0][1]) / (points[-1][0] - points[0][0])

    def tail(self, n=4):
        return [line[:200] for _, line in self.lines if line.strip()][-n:]


def dumps(run):
    """Three stacks of the whole tree, 5 s apart."""
    out = []
    for k in range(3):
        if k:
            time.sleep(5)
        stack = []
        for p in sorted(tree(run.process.pid)):
            text = subprocess.run([PYSPY, "dump", "-p", str(p)], capture_output=True, text=True).stdout
            main = re.search(r'^Thread .*"MainThread"\n((?: {4}.*\n?)+)', text, re.M)
            stack.append([s.strip() for s in main.group(1).splitlines()] if main else [])
        out.append(stack)
    return {"same": out[0] == out[1] == out[2], "stacks": [[s for s in st[:14]] for st in out[-1]]}


def record(run):
    path = os.path.join(run.folder, "raw.txt")
    subprocess.run([PYSPY, "record", "-d", "10", "-r", "50", "-f", "raw", "--subprocesses", "-t", "-o", path, "-p",
                    str(run.process.pid)], capture_output=True)
    leaf, inclusive, total = collections.Counter(), collections.Counter(), 0
    try:
        for line in open(path):
            stack, _, n = line.rpartition(" ")
            frames = stack.split(";")
            total += int(n)
            leaf[frames[-1]] += int(n)
            for f in set(frames):
                if "_s.py" in f:
                    inclusive[f] += int(n)
    except OSError as e:
        return {"error": str(e)}
    share = lambda c, k: {f: round(n / max(total, 1), 3) for f, n in c.most_common(k)}
    return {"samples": total, "leaf": share(leaf, 10), "own lines": share(inclusive, 14)}


def prove(name):
    kind, pattern, *loss = PLAN[name]
    loss = loss[0] if loss else None
    go = lambda folder, seconds, **kw: Run(folder, name, seconds, pattern, loss, **kw)
    out = {"kind": kind}
    if kind in ("slow", "slow-late"):
        rates = {"programs": [], "cured": []}
        for _ in range(2):
            for folder in rates:
                run = go(folder, 24 if kind == "slow-late" else 20)
                rates[folder].append(round(run.rate(8 if kind == "slow-late" else None), 3))
                out["tail " + folder] = run.tail(2)
        out["steps per second"] = rates
        out["times"] = round(min(rates["cured"]) / max(max(rates["programs"]), 1e-9), 2)
        out["holds"] = bool(min(rates["programs"]) > 0 and out["times"] >= 1.3)
    elif kind == "first-step":
        first = {"programs": [], "cured": []}
        for _ in range(2):
            for folder in first:
                run = go(folder, 25, stop_at_first=True)
                first[folder].append(round(run.points[0][0], 1) if run.points else None)
                out["tail " + folder] = run.tail(2)
        out["seconds to first step (null: more than 25)"] = first
        slow = [t or 25.0 for t in first["programs"]]
        out["holds"] = all(first["cured"]) and min(slow) > 1.3 * max(t or 99 for t in first["cured"])
    elif kind == "stuck":
        run = go("programs", 40, during=(None, dumps))
        out.update(dump=run.extra, tail=run.tail(), last_line_at=run.lines[-1][0] if run.lines else None, exit=run.exit)
        twin = go("cured", 20)
        out["twin"] = {"steps per second": round(twin.rate(), 2), "last point": twin.points[-1:], "tail": twin.tail()}
        out["holds"] = bool(run.extra and run.extra["same"] and run.exit is None and run.points
                            and twin.points and twin.points[-1][0] > 15 and twin.points[-1][1] > run.points[-1][1])
    elif kind == "loss":
        for folder in ("programs", "cured"):
            run = go(folder, 24)
            out[folder] = {"losses": run.losses[::max(1, len(run.losses) // 15)], "steps per second": round(run.rate(), 2),
                           "tail": run.tail(2)}
            out[folder]["end"] = round(sum(run.losses[-3:]) / max(1, len(run.losses[-3:])), 4)
        out["holds"] = bool(out["programs"]["losses"] and out["cured"]["losses"]
                            and not out["programs"]["end"] < 0.9 * out["programs"]["losses"][0]
                            and out["cured"]["end"] < 0.75 * out["cured"]["losses"][0])
    elif kind == "leak":
        for folder in ("programs", "cured"):
            run = go(folder, 24)
            at = [m for m in run.memory if m[0] > 5]
            out[folder] = {"MB": run.memory[::3], "MB per second": round((at[-1][1] - at[0][1]) / (at[-1][0] - at[0][0]), 2),
                           "steps per second": round(run.rate(), 2), "tail": run.tail(2)}
        out["holds"] = (out["programs"]["MB per second"] > 3
                        and out["programs"]["MB per second"] > 5 * max(0.1, out["cured"]["MB per second"]))
    else:
        run = go("programs", 25, during=(11, record))
        out.update({"steps per second": round(run.rate(), 3), "points": [(round(t, 1), s) for t, s in run.points[-3:]],
                    "profile": run.extra, "MB": run.memory[-1:], "tail": run.tail(3), "exit": run.exit})
        out["holds"] = bool(run.exit is None and len(run.points) > 2 and run.points[-1][0] > 18)
    return out


def merge(name, result):
    try:
        with open(PROOF) as f:
            proof = json.load(f)
    except FileNotFoundError:
        proof = {}
    proof[name] = result
    with open(PROOF + ".tmp", "w") as f:
        json.dump(proof, f, indent=1, sort_keys=True)
    os.replace(PROOF + ".tmp", PROOF)
    return proof


if __name__ == "__main__":
    have = {}
    if os.path.exists(PROOF):
        have = json.load(open(PROOF))
    names = [n.removesuffix(".py") for n in sys.argv[1:]] or [n for n in PLAN if not have.get(n, {}).get("holds")]
    for name in names:
        try:
            result = prove(name)
        except Exception as e:
            result = {"holds": False, "error": repr(e)}
        merge(name, result)
        print(name, "holds" if result["holds"] else "DOES NOT HOLD", flush=True)
