"""Measure every program of programs/ against its twin in cured/ (the same program with an input
that costs nothing: two batches kept in memory), without any tool but timers.

    python prove_t.py [NAME ...]      one program at a time; merges into proof.json

The updates of the Keras optimizer are counted for 12 s after the first three, twice. Program and
twin take turns second by second (the other one is stopped meanwhile), so that the load of a shared
machine falls on both alike; where the result does not hold or is close, once more afresh.
"""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
PROGRAMS, CURED, PROOF = HERE / "programs", HERE / "cured", HERE / "proof.json"
WINDOW, SLICE, WARM, LIMIT = 12.0, 1.0, 3, 45.0
KEEP = "{0}{1} = {1}.take(2).cache().repeat().prefetch(2)\n"

# name: (a line, or its beginning, behind which the twin differs; the variable of the data set)
TWIN = {
    "orchard_leaves": ("    train = train.prefetch(", "train"),
    "seabird_calls": ("         .prefetch(4))", "calls"),
    "customs_declarations": ("declarations = declarations.map(", "declarations"),
    "sleep_spindles": ("    return ds.shuffle(24)", None),
    "glacier_tiles": ("ds = ds.batch(batch_size", "ds"),
    "court_rulings": ("    rulings = rulings.prefetch(2)", "rulings"),
    "mushroom_plates": ("    return ds.map(vary)", None),
    "ocean_buoys": ("    data = records.batch(48)", "data"),
    "traffic_crops": ("frames = frames.map(", "frames"),
    "handset_gestures": ("          .prefetch(1))", "ds"),
    "pottery_shards": ("    ds = ds.batch(16)", "ds"),
    "whale_songs": ("songs = songs.repeat()", "songs"),
    "grid_load": ("    hours = lines.batch(", "hours"),
    "ecg_strips": ("strips = strips.shuffle(600)", "strips"),
    "harbour_ships": ("ships = ships.shuffle(150)", "ships"),
    "recipe_titles": ("    return ds.prefetch(3)", None),
    "bearing_noise": ("windows = windows.repeat()", "windows"),
    "surname_origins": ("names = names.shuffle(1024)", "names"),
    "soil_spectra": ("    return ds.shuffle(500)", None),
    "river_gauges": ("    return ds.batch(24", None),
}


def twin(name):
    """Write cured/NAME.py."""
    anchor, variable = TWIN[name]
    out, done = [], 0
    for line in (PROGRAMS / f"{name}.py").read_text().splitlines(keepends=True):
        hit = line.startswith(anchor)
        done += hit
        if hit and variable is None:  # "return EXPRESSION"
            line = line.rstrip("\n") + ".take(2).cache().repeat().prefetch(2)\n"
        out.append(line)
        if hit and variable is not None:
            indent = anchor[: len(anchor) - len(anchor.lstrip())] if not anchor.lstrip().startswith(".") else \
                {"seabird_calls": "", "handset_gestures": "    "}.get(name, "")
            out.append(KEEP.format(indent, variable))
    if done != 1:
        raise SystemExit(f"{name}: {done} lines begin with {anchor!r}")
    CURED.mkdir(exist_ok=True)
    body = "".join(out)
    while body.startswith("#"):
        body = body.split("\n", 1)[1]
    (CURED / f"{name}.py").write_text(body)
    return CURED / f"{name}.py"


def child(path, report):
    """Run a program and write "time count" for every new count of updates."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    from keras.src.optimizers import base_optimizer
    made, original = [], base_optimizer.BaseOptimizer.__init__

    def recorded(self, *args, **kwargs):
        original(self, *args, **kwargs)
        made.append(self)

    base_optimizer.BaseOptimizer.__init__ = recorded

    def watch():
        last = 0
        with open(report, "a", buffering=1) as out:
            while True:
                time.sleep(0.005)
                try:
                    now = max([int(o.iterations.numpy()) for o in list(made)] or [0])
                except Exception:
                    continue
                if now > last:
                    last = now
                    out.write(f"{time.monotonic()} {now}\n")

    threading.Thread(target=watch, daemon=True).start()
    sys.argv = [path]
    import runpy
    runpy.run_path(path, run_name="__main__")


class Run:
    """One program, which runs only while it is let: the neighbours' load falls on both alike."""

    def __init__(self, path, folder):
        self.path, self.report = path, pathlib.Path(folder) / f"{path.parent.name}.marks"
        self.report.touch()
        self.out = open(pathlib.Path(folder) / f"{path.parent.name}.out", "w+", errors="replace")
        self.slices, self.begun = [], time.monotonic()
        self.process = subprocess.Popen(
            [sys.executable, str(HERE / "prove_t.py"), "--child", str(path), str(self.report)],
            stdin=subprocess.DEVNULL, stdout=self.out, stderr=subprocess.STDOUT)
        while self.count() < WARM:
            time.sleep(0.02)
            if self.process.poll() is not None or time.monotonic() - self.begun > LIMIT:
                text = self.text()
                self.end()
                raise RuntimeError(f"{path}: {text[-3000:]}")
        self.stop()
        self.first = self.marks()[0][0] - self.begun

    def text(self):
        self.out.flush()
        return pathlib.Path(self.out.name).read_text(errors="replace")

    def marks(self):
        lines = self.report.read_text().split("\n")[:-1]
        return [(float(a), int(b)) for a, b in (line.split() for line in lines)]

    def count(self):
        marks = self.marks()
        return marks[-1][1] if marks else 0

    def stop(self):
        if self.process.poll() is None:
            os.kill(self.process.pid, signal.SIGSTOP)

    def cpu(self):
        try:
            f = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
            return (int(f[11]) + int(f[12])) / os.sysconf("SC_CLK_TCK")
        except OSError:
            return float("nan")

    def let(self, seconds):
        if self.process.poll() is not None:
            return
        begin = time.monotonic()
        os.kill(self.process.pid, signal.SIGCONT)
        time.sleep(seconds)
        self.stop()
        self.slices.append((begin, time.monotonic()))

    def active(self, t):
        return sum(min(b, t) - a for a, b in self.slices if a < t)

    def rate(self, since):
        """Updates per second of the time it was let, from the slice number `since` on."""
        begin = self.slices[since][0]
        marks = [(self.active(t), n) for t, n in self.marks() if t >= begin]
        if len(marks) < 2:
            return 0.0
        return (marks[-1][1] - marks[0][1]) / (marks[-1][0] - marks[0][0])

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.out.close()


def compare(program, cured, turns):
    own, other, runs = [], [], []
    with tempfile.TemporaryDirectory() as folder:
        try:
            for path in (program, cured):
                runs.append(Run(path, folder))
            mine, twin_run = runs
            for turn in range(turns):
                since, used = [len(r.slices) for r in runs], [r.cpu() for r in runs]
                for k in range(int(WINDOW / SLICE)):
                    for r in runs[:: 1 if k % 2 == 0 else -1]:
                        r.let(SLICE)
                own.append(round(mine.rate(since[0]), 3))
                other.append(round(twin_run.rate(since[1]), 3) if len(twin_run.slices) > since[1] else other[-1])
                print(f"   {own[-1]:8.2f} against {other[-1]:8.2f} steps/s; cores "
                      + " and ".join(f"{(r.cpu() - u) / WINDOW:.2f}" for r, u in zip(runs, used))
                      + f"; first step {mine.first:.1f} and {twin_run.first:.1f} s; load {os.getloadavg()[0]:.1f}", flush=True)
            tail = [l for l in re.split(r"[\n\r\x08]+", mine.text()) if l.strip()]
            print("   ..." + tail[-1][-120:] if tail else "", flush=True)
        finally:
            for r in runs:
                r.end()
    return own, other


def verdict_of(name):
    for line in (PROGRAMS / f"{name}.py").read_text().splitlines():
        if line.startswith("# verdict:"):
            return line.split(":")[1].strip()
    raise SystemExit(f"{name}: no verdict")


def prove(name, turns):
    slow = verdict_of(name) == "slow"
    program, cured = PROGRAMS / f"{name}.py", twin(name)
    own, other = [], []

    def ratio():
        return sum(other) / max(sum(own), 1e-9)

    def holds():
        return ratio() >= 1.5 if slow else ratio() <= 1.08

    for again in range(2):
        a, b = compare(program, cured, turns if not again else 1)
        own += a
        other += b
        if turns < 2 or holds() and (ratio() >= 1.7 if slow else ratio() <= 1.05):
            break
    print(f"{name} ({'slow' if slow else 'healthy'}): {own} twin {other} ratio {ratio():.3f} holds {holds()}", flush=True)
    return {"holds": holds(), "steps_per_s": own, "twin_steps_per_s": other}


def main():
    turns = 2
    names = sys.argv[1:]
    if names and names[0] == "--once":  # a first look; does not write proof.json
        turns, names = 1, names[1:]
    for name in names or sorted(TWIN):
        try:
            result = prove(name, turns)
        except RuntimeError as e:
            print(name, "FAILED", e, flush=True)
            continue
        if turns > 1:
            proof = json.loads(PROOF.read_text()) if PROOF.exists() else {}
            proof[name] = result
            PROOF.write_text(json.dumps(dict(sorted(proof.items())), indent=1) + "\n")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(*sys.argv[2:4])
    else:
        main()
