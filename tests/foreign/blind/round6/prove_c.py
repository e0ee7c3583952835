"""Runs programs and their twins one at a time and merges what is measured into proof.json.

prove.py [name ...]     without names: everything that is not yet proved
"""
import collections
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

HERE = os.path.dirname(os.path.abspath(__file__))
CACHE = os.path.expanduser("~/.cache/headway")
PYTHONS = {
    "tensorflow": os.path.join(CACHE, "interop-py3.11-de1addc0/bin/python"),
    "loops": os.path.join(CACHE, "loops-py3.11-be77dae8/bin/python"),
    "torch": "/usr/bin/python3",
    "plain": "/usr/bin/python3",
}
PYSPY = os.path.join(CACHE, "loops-py3.11-be77dae8/bin/py-spy")
LIMIT = 25
ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


def step_of(pattern):
    rx = re.compile(pattern)

    def read(line, memo):
        m = rx.search(line)
        return int(m.group(1)) if m else None
    return read


def keras_bar(line, memo):
    m = re.search(r"Epoch (\d+)/", line)
    if m:
        memo["epoch"] = int(m.group(1))
        return None
    m = re.match(r"\s*(\d+)/(\d+)\s", line)
    if m and "epoch" in memo:
        return (memo["epoch"] - 1) * int(m.group(2)) + int(m.group(1))
    return None


def keras_epochs(line, memo):
    m = re.search(r"Epoch (\d+)/", line)
    return int(m.group(1)) - 1 if m else None


def bpr(line, memo):
    m = re.search(r"epoch (\d+) batch (\d+)/(\d+)", line)
    return (int(m.group(1)) - 1) * int(m.group(3)) + int(m.group(2)) if m else None


def members(line, memo):
    m = re.search(r"member (\d+) epoch (\d+) steps (\d+)", line)
    if not m:
        return None
    memo[m.group(1)] = int(m.group(3))
    return sum(memo.values())


def loss_of(pattern=r"loss[ :=]+([-+]?[0-9.]+(?:e[-+]?\d+)?)"):
    rx = re.compile(pattern)
    return lambda line: (lambda m: float(m.group(1)) if m else None)(rx.search(line))


STEP = step_of(r"step +(\d+)")
# name: (kind, progress, seconds of the training that are left out of the rate)
SPEC = {
    "tulip_disease_warmup_cnn": ("slow", STEP, 2),
    "gene_expression_tissue_mlp": ("slow", keras_bar, 2),
    "rainfall_nowcast_tfrecord": ("stuck", keras_bar, 0),
    "mushroom_photo_pydataset": ("slow", keras_bar, 2),
    "loan_default_scorer_keras": ("learning", keras_bar, 1),
    "clinic_notes_gru_jax": ("slow", STEP, 0),
    "tide_gauge_lstm_jax": ("first-step", step_of(r"it (\d+) mse"), 0),
    "satellite_tile_autoencoder_jax": ("leak", step_of(r"(\d+)/200000"), 1),
    "crop_yield_feature_service": ("stuck", STEP, 0),
    "penguin_call_conv1d_jax": ("learning", STEP, 1),
    "board_game_bpr_recommender": ("stuck", bpr, 0),
    "elevator_dispatch_qlearning": ("slow", step_of(r"update (\d+)"), 1),
    "ceramic_glaze_gan_keras": ("healthy", step_of(r"step (\d+):"), 2),
    "coffee_leaf_rust_fit": ("healthy", keras_epochs, 0),
    "citation_gcn_fullgraph_jax": ("healthy", step_of(r"epoch +(\d+) \| loss"), 1),
    "pendulum_swingup_reinforce_jax": ("healthy", step_of(r"iteration (\d+)"), 1),
    "wind_farm_ensemble_mp": ("healthy", members, 1),
    "flat_rent_boosting_sklearn": ("healthy", step_of(r"^\s*(\d+)\s+\d+\.\d+\s"), 0),
    "river_ice_unet_memmap": ("healthy", keras_bar, 2),
    "recipe_char_transformer": ("healthy", STEP, 2),
}
LOSS = loss_of()


def header(path):
    out = {}
    for line in open(path):
        m = re.match(r"# (\w+): (.*)", line)
        if not m:
            break
        out[m.group(1)] = m.group(2).strip()
    return out


def rss_mb(pid):
    try:
        m = re.search(r"VmRSS:\s+(\d+)", open(f"/proc/{pid}/status").read())
        return int(m.group(1)) / 1024 if m else None
    except OSError:
        return None


def dump_main(pid):
    r = subprocess.run([PYSPY, "dump", "--pid", str(pid)], capture_output=True, text=True, timeout=20)
    part, keep = [], False
    for line in r.stdout.splitlines():
        if line.startswith("Thread"):
            keep = "MainThread" in line
        elif keep and line.strip():
            part.append(line.strip())
    return part


def record(pid, here, name, subprocesses):
    raw = os.path.join(here, "raw.txt")
    cmd = [PYSPY, "record", "-d", "10", "--idle", "-f", "raw", "-o", raw, "-p", str(pid)] + (["-s"] if subprocesses else [])
    subprocess.run(cmd, capture_output=True, text=True, timeout=30)
    leaf, own, total = collections.Counter(), collections.Counter(), 0
    try:
        lines = open(raw).read().splitlines()
    except OSError:
        return {"error": "no samples"}
    for line in lines:
        stack, _, n = line.rpartition(" ")
        frames = stack.split(";")
        if not any("(" + name + ".py" in f for f in frames):      # helper threads of the libraries
            continue
        n = int(n)
        total += n
        leaf[frames[-1]] += n
        for f in {f for f in frames if "(" + name + ".py" in f or "/callbacks/" in f or "epoch_iterator" in f}:
            own[f] += n
    return {"samples": total,
            "leaf": {k: round(v / total, 3) for k, v in leaf.most_common(8)} if total else {},
            "inclusive": {k: round(v / total, 3) for k, v in own.most_common(14)} if total else {}}


def run(path, name, watch):
    """One run; watch: '', 'dumps' or 'record'."""
    head = header(os.path.join(HERE, "programs", name + ".py"))
    kind, progress, skip = SPEC[name]
    scratch = tempfile.mkdtemp(prefix="scratch_", dir=HERE)
    env = dict(os.environ, TMPDIR=scratch)
    for pair in head.get("env", "").split():
        k, _, v = pair.partition("=")
        env[k] = v
    cmd = head.get("wrap", "").split() + [PYTHONS[head["python"].split()[0]], path]
    began = time.time()
    p = subprocess.Popen(cmd, cwd=scratch, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, start_new_session=True)
    seen, losses, tail, memo = [], [], collections.deque(maxlen=12), {}

    def reader():
        rest = ""
        while True:
            chunk = os.read(p.stdout.fileno(), 65536)
            if not chunk:
                return
            now = time.time() - began
            parts = re.split(r"[\r\n\b]+", rest + ANSI.sub("", chunk.decode("utf-8", "replace")))
            rest = parts.pop()
            for line in parts:
                if not line.strip():
                    continue
                tail.append(line[:200])
                n = progress(line, memo)
                if n is not None and (not seen or n > seen[-1][1]):
                    seen.append((round(now, 2), n))
                    v = LOSS(line)
                    if v is not None:
                        losses.append((n, v))
    t = threading.Thread(target=reader, daemon=True)
    t.start()
    out = {}
    rss, dumps = [], []
    recorded = False
    try:
        while time.time() - began < LIMIT and p.poll() is None:
            time.sleep(0.5)
            now = time.time() - began
            m = rss_mb(p.pid)
            if m:
                rss.append((round(now, 1), round(m)))
            if watch == "dumps" and len(dumps) < 3 and now > 13 + 5 * len(dumps):
                dumps.append(dump_main(p.pid))
            if watch == "record" and not recorded and now > 12.5:
                recorded = True
                out["profile"] = record(p.pid, scratch, name, name == "wind_farm_ensemble_mp")
        out["rc"] = p.poll()
    finally:
        try:
            os.killpg(p.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        p.wait()
        t.join(2)
        shutil.rmtree(scratch, ignore_errors=True)
    if seen:
        first = seen[0][0]
        later = [s for s in seen if s[0] >= first + skip]
        out["first_progress_s"] = first
        out["last_progress"] = seen[-1]
        if len(later) >= 2 and later[-1][0] > later[0][0]:
            out["rate"] = round((later[-1][1] - later[0][1]) / (later[-1][0] - later[0][0]), 3)
    if losses:
        pick = losses[:: max(1, len(losses) // 8)]
        out["losses"] = pick + ([losses[-1]] if losses[-1] != pick[-1] else [])
    out["rss_mb"] = rss[:: max(1, len(rss) // 8)] + rss[-1:]
    if dumps:
        out["dumps"] = dumps
    out["tail"] = list(tail)[-4:]
    return out


def prove(name):
    kind = SPEC[name][0]
    prog = os.path.join(HERE, "programs", name + ".py")
    cure = os.path.join(HERE, "cured", name + ".py")
    res = {"kind": kind}
    if kind == "healthy":
        r = run(prog, name, "record")
        res["program"] = r
        res["holds"] = bool(r.get("rate")) and r["rc"] is None
        return res
    f = run(prog, name, "dumps" if kind == "stuck" else "")
    c = run(cure, name, "")
    res["program"], res["twin"] = f, c
    if kind == "slow":
        ratio = c.get("rate", 0) / f["rate"] if f.get("rate") else None
        if ratio is not None and ratio < 1.8:          # close: a second turn
            f2, c2 = run(prog, name, ""), run(cure, name, "")
            res["program2"], res["twin2"] = f2, c2
            ratio = min(ratio, c2.get("rate", 0) / f2["rate"]) if f2.get("rate") else ratio
        res["ratio"] = ratio and round(ratio, 2)
        res["holds"] = bool(ratio) and ratio >= 1.3 and f["rc"] is None and c["rc"] is None
    elif kind == "first-step":
        late = f.get("first_progress_s", LIMIT)
        res["ratio"] = round(late / c["first_progress_s"], 2) if "first_progress_s" in c else None
        res["holds"] = res["ratio"] is not None and res["ratio"] >= 1.3
    elif kind == "stuck":
        d = f.get("dumps", [])
        # a loop that never ends moves inside one or two lines; compare the function names then
        strip = [[re.sub(r":\d+\)$", ")", x) for x in s] for s in d]
        same = len(d) == 3 and (d[0] == d[1] == d[2])
        common = len(d) == 3 and bool(d[0]) and len({tuple(s[-3:]) for s in strip}) == 1
        res["same_stack"], res["same_functions"] = same, common
        res["holds"] = (same or common) and f["rc"] is None and c["rc"] is None and \
            c.get("last_progress", (0, 0))[0] > LIMIT - 6 and f.get("last_progress", (0, 0))[0] < 14
    elif kind == "leak":
        grow = [r["rss_mb"][-1][1] - next(m for t, m in r["rss_mb"] if t >= r.get("first_progress_s", 0) + 1) for r in (f, c)]
        res["grown_mb"] = grow
        res["holds"] = grow[0] > 100 and grow[1] < 0.2 * grow[0]
    elif kind == "learning":
        res["holds"] = bool(f.get("losses") and c.get("losses")) and \
            abs(f["losses"][-1][1] - f["losses"][1][1]) < 0.1 * f["losses"][1][1] and \
            c["losses"][-1][1] < 0.8 * c["losses"][0][1]
    return res


def main():
    path = os.path.join(HERE, "proof.json")
    proof = json.load(open(path)) if os.path.exists(path) else {}
    names = sys.argv[1:] or [n for n in SPEC if not proof.get(n, {}).get("holds")]
    for name in names:
        t = time.time()
        try:
            proof[name] = prove(name)
        except Exception as e:          # keep the others
            proof[name] = {"holds": False, "error": repr(e)}
        with open(path + ".new", "w") as out:
            json.dump(proof, out, indent=1)
        os.replace(path + ".new", path)
        r = proof[name]
        print(name, "holds" if r.get("holds") else "FAILS", r.get("ratio", ""), r.get("grown_mb", ""),
              r.get("program", {}).get("rate", ""), r.get("twin", {}).get("rate", ""), r.get("error", ""),
              f"{time.time() - t:.0f}s", flush=True)


if __name__ == "__main__":
    main()
