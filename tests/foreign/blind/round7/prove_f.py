"""Proves the faults (and the health) of the programs without any other tool: python3 prove.py [name ...]; merges into proof.json."""
import collections
import json
import os
import re
import shlex
import signal
import statistics
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
CACHE = os.path.expanduser("~/.cache/headway")
LOOPS = os.path.join(CACHE, "loops-py3.11-be77dae8", "bin")
PYTHON = {"torch": "/usr/bin/python3", "plain": "/usr/bin/python3", "loops": os.path.join(LOOPS, "python")}
PYSPY = os.path.join(LOOPS, "py-spy")

STEP = r"step[ =|]+(\d+)"
BAR = r"\b(\d+)/\d+ \["
PLAN = {
    "reviews_ddp": ("slow", STEP, 20), "plankton": ("slow", r"seen (\d+)", 20), "protein_stability": ("slow", STEP, 24),
    "churn_lightning": ("slow", BAR, 22), "vibration_stream": ("slow", STEP, 20),
    "ticket_routing": ("first", r"'loss': ", 24),
    "crossval_folds": ("stuck", r"batch (\d+)", 24), "meter_shards": ("stuck", STEP, 24),
    "denoise_scans": ("leak", r"global step (\d+)", 24),
    "leaf_disease_two": ("loss", r"loss: ([\d.]+)", 24), "genre_tagger": ("loss", r"'loss': ([\d.]+)", 24),
    "birdsong": ("crash", STEP, 24),
    "sketch_gan": ("healthy", r"\[(\d+)\]", 24), "traffic_two_ranks": ("healthy", STEP, 24), "moths": ("healthy", BAR, 24),
    "cloud_cover": ("healthy", BAR, 24), "folk_melodies": ("healthy", r"'epoch': ([\d.]+)", 24),
    "balance_evolution": ("healthy", r"generation +(\d+)", 24), "river_levels": ("healthy", r"batch (\d+)", 24),
    "galaxy_mixture": ("healthy", r"iteration (\d+)", 24),
}


def header(path):
    out = {}
    for line in open(path):
        m = re.match(r"# (\w+): (.*)", line)
        if not m:
            break
        out[m[1]] = m[2].strip()
    return out


def children(pid):
    got = []
    for p in os.listdir("/proc"):
        if p.isdigit():
            try:
                if int(open(f"/proc/{p}/stat").read().rsplit(")", 1)[1].split()[1]) == pid:
                    got += [int(p)] + children(int(p))
            except OSError:
                pass
    return got


def rss(pid):
    try:
        return int(re.search(r"VmRSS:\s+(\d+)", open(f"/proc/{pid}/status").read())[1]) // 1024
    except (OSError, TypeError):
        return None


class Run:
    def __init__(self, path):
        head = header(path)
        env = dict(os.environ, PYTHONUNBUFFERED="1")
        for item in head.get("env", "").split():
            k, v = item.split("=", 1)
            env[k] = v
        cmd = shlex.split(head.get("wrap", "")) + [PYTHON[head["python"]], path]
        self.t0 = time.time()
        self.proc = subprocess.Popen(cmd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=env,
                                     start_new_session=True, cwd=HERE)
        self.lines = []
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        rest = b""
        while True:
            data = os.read(self.proc.stdout.fileno(), 65536)
            if not data:
                break
            *full, rest = re.split(rb"[\r\n]+", rest + data)
            now = time.time() - self.t0
            self.lines += [(now, f.decode("utf8", "replace")) for f in full if f.strip()]
        if rest.strip():
            self.lines.append((time.time() - self.t0, rest.decode("utf8", "replace")))

    def sleep_until(self, t):
        while time.time() - self.t0 < t and self.proc.poll() is None:
            time.sleep(0.1)

    def kill(self):
        pids = children(self.proc.pid)
        try:
            os.killpg(self.proc.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        for pid in pids:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.code = self.proc.wait()
        self.reader.join(2)

    def hits(self, pattern):
        return [(t, float(m[1]) if m.groups() else None) for t, line in list(self.lines) for m in [re.search(pattern, line)] if m]

    def rate(self, pattern, end):
        """Units per second from the first printed value on (a counter that starts anew counts on)."""
        hits = self.hits(pattern)
        if len(hits) < 2:
            return 0.0
        total = sum(b - a for (_, a), (_, b) in zip(hits, hits[1:]) if b > a)
        until = hits[-1][0] if len(hits) > 4 else end
        return total / max(until - hits[0][0], 1e-3)

    def tail(self, n=6):
        return [line[-160:] for _, line in self.lines[-n:]]


def run(path, seconds):
    r = Run(path)
    try:
        r.sleep_until(seconds)
    finally:
        r.kill()
    return r


def slow(f, c, pattern, seconds):
    a, b = [], []
    for _ in range(2):
        r = run(f, seconds)
        a.append(r.rate(pattern, seconds))
        q = run(c, seconds)
        b.append(q.rate(pattern, seconds))
    ratio = min(b) / max(max(a), 1e-9)
    return {"rate": a, "rate cured": b, "ratio (worst)": round(ratio, 2), "tail": r.tail(3), "tail cured": q.tail(3), "holds": ratio > 1.3}


def first(f, c, pattern, seconds):
    out = {}
    for name, path in (("first", f), ("first cured", c)):
        r = run(path, seconds)
        hits = r.hits(pattern)
        out[name] = round(hits[0][0], 1) if hits else None
        out["tail " + name] = r.tail(3)
    bad = out["first"] or seconds
    out["holds"] = bool(out["first cured"]) and bad / out["first cured"] > 1.3
    return out


def dump(pid):
    text = subprocess.run([PYSPY, "dump", "--pid", str(pid)], capture_output=True, text=True).stdout
    lines = [line.strip() for line in text.splitlines() if line.startswith("    ")]
    return [re.sub(r"\(.*/", "(", x) for x in lines]


def stuck(f, c, pattern, seconds):
    r = Run(f)
    stacks = []
    try:
        r.sleep_until(11)
        pids = [r.proc.pid] + [p for p in children(r.proc.pid)]
        for i in range(3):
            stacks.append({str(p): dump(p) for p in pids})
            if i < 2:
                time.sleep(5)
        last = r.hits(pattern)[-1:] or None
    finally:
        r.kill()
    q = run(c, seconds)
    goes = [t for t, _ in q.hits(pattern)]
    same = stacks[0] == stacks[1] == stacks[2] and any(stacks[0].values())
    return {"same stack": same, "stacks": list(stacks[0].values()), "last step": last, "lines cured": len(goes),
            "last of cured at": round(goes[-1], 1) if goes else None, "tail": r.tail(3), "tail cured": q.tail(3),
            "holds": same and bool(goes) and goes[-1] > seconds - 6}


def leak(f, c, pattern, seconds):
    out = {}
    for name, path in (("rss", f), ("rss cured", c)):
        r = Run(path)
        series = []
        try:
            for t in range(8, seconds + 1, 2):
                r.sleep_until(t)
                series.append(rss(r.proc.pid))
        finally:
            r.kill()
        out[name] = series
        out["tail " + name] = r.tail(2)
    up, upc = out["rss"][-1] - out["rss"][1], out["rss cured"][-1] - out["rss cured"][1]
    out["holds"] = up > 80 and up > 3 * max(upc, 10)
    return out


def loss(f, c, pattern, seconds):
    out = {}
    for name, path in (("loss", f), ("loss cured", c)):
        r = run(path, seconds)
        out[name] = [v for _, v in r.hits(pattern)]
        out["tail " + name] = r.tail(2)
    a, b = out["loss"], out["loss cured"]
    out["holds"] = len(a) > 4 and len(b) > 4 and statistics.mean(b[-3:]) < 0.5 * statistics.mean(a[-3:])
    return out


def crash(f, c, pattern, seconds):
    r = run(f, seconds)
    q = run(c, seconds)
    return {"exit": r.code, "after": round(r.lines[-1][0], 1), "last": r.tail(1), "steps": r.hits(pattern)[-1:], "steps cured": q.hits(pattern)[-1:],
            "exit cured (killed)": q.code, "holds": r.code not in (0, -9) and q.code == -9 and len(q.hits(pattern)) > 5}


def healthy(f, _, pattern, seconds):
    r = Run(f)
    try:
        r.sleep_until(12)
        raw = os.path.join(HERE, ".record")
        subprocess.run([PYSPY, "record", "-d", "10", "-r", "60", "-f", "raw", "--subprocesses", "--threads", "-o", raw, "--pid", str(r.proc.pid)],
                       capture_output=True)
        r.sleep_until(seconds)
    finally:
        r.kill()
    leaf, own = collections.Counter(), collections.Counter()
    total = 0
    if os.path.exists(raw):
        for line in open(raw):
            stack, n = line.rsplit(" ", 1)
            frames = stack.split(";")
            total += int(n)
            leaf[frames[-1][-70:]] += int(n)
            for x in {x for x in frames if os.path.basename(f) in x}:
                own[x] += int(n)
        os.remove(raw)
    share = lambda cnt: {k: round(v / max(total, 1), 3) for k, v in cnt.most_common(9)}
    hits = r.hits(pattern)
    return {"rate": round(r.rate(pattern, seconds), 3), "lines": len(hits), "leaf": share(leaf), "own lines (inclusive)": share(own),
            "tail": r.tail(3), "holds": len(hits) > 2 and hits[-1][0] > seconds - 9}


def main():
    names = sys.argv[1:] or list(PLAN)
    book = os.path.join(HERE, "proof.json")
    for name in names:
        kind, pattern, seconds = PLAN[name]
        f, c = (os.path.join(HERE, d, name + ".py") for d in ("programs", "cured"))
        got = {"kind": kind, **globals()[kind](f, c, pattern, seconds)}
        proof = json.load(open(book)) if os.path.exists(book) else {}
        proof[name] = got
        json.dump(proof, open(book, "w"), indent=1)
        print(name, json.dumps(got, indent=1)[:3500], flush=True)


if __name__ == "__main__":
    main()
