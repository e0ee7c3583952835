"""Runs programs and their twins, one at a time, and merges what was measured into proof.json.   python3 prove.py [name ...]"""
import glob
import json
import os
import re
import select
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
CACHE = os.path.expanduser("~/.cache/headway")


def newest(pattern):
    return sorted(glob.glob(os.path.join(CACHE, pattern)))[-1]


LOOPS = newest("loops-*/bin/python")
PYTHONS = {"torch": "/usr/bin/python3", "plain": "/usr/bin/python3", "loops": LOOPS}
PYSPY = os.path.join(os.path.dirname(LOOPS), "py-spy")
STEP = r"step[ =\"':]*(\d+)"
BAR = r"(\d+)/\d+ \["
LOSS = r"(?:loss|mse|contrastive|mae)[ '\"=:]+(-?[\d.]+|nan|inf)"
# name: (kind, pattern of the progress counter, seconds of a run)
SPEC = {
    "orchard_leaf_convnet": ("slow", STEP, 20),
    "tide_level_forecast_lit": ("slow", BAR, 22),
    "ticket_router_bert_hf": ("first", r"('loss'): ", 25),
    "harbor_ship_tiles": ("stuck", STEP, 25),
    "reef_fish_activations": ("slow", STEP, 22),
    "signature_siamese_pairs": ("learn", STEP, 20),
    "glacier_autoencoder_lit": ("leak", BAR, 25),
    "crop_yield_holdout_numpy": ("stuck", STEP, 25),
    "wind_turbine_tcn": ("slow", r'"step": (\d+)', 18),
    "bookshop_factors_numpy": ("slow", STEP, 18),
    "bike_demand_ddp": ("stuck", r"batch (\d+)", 25),
    "recipe_cuisine_tagger_hf": ("learn", STEP, 22),
    "moon_crater_gan": ("healthy", r"it +(\d+) ", 22),
    "lander_evolution_numpy": ("healthy", r"gen +(\d+)", 22),
    "river_gauge_gru_lit": ("healthy", r"Epoch.*?(\d+)/\d+ \[", 25),
    "soil_moisture_sweep": ("healthy", r"batch (\d+)", 25),
    "legal_longdoc_gpt_hf": ("healthy", BAR, 25),
    "cloud_cover_unet": ("healthy", STEP, 25),
    "seismic_autoencoder_numpy": ("healthy", r"(\d+) steps", 25),
    "phoneme_gru_buckets": ("healthy", STEP, 25),
}


def header(path):
    return dict(m.groups() for m in re.finditer(r"^# (\w+): (.*)$", open(path).read(), re.M))


def tree(pid):
    pids, todo = [], [pid]
    while todo:
        p = todo.pop()
        pids.append(p)
        try:
            for task in os.listdir(f"/proc/{p}/task"):
                todo += [int(c) for c in open(f"/proc/{p}/task/{task}/children").read().split()]
        except OSError:
            pass
    return pids


def rss_mb(pid):
    total = 0
    for p in tree(pid):
        try:
            total += int(open(f"/proc/{p}/statm").read().split()[1]) * 4096
        except (OSError, IndexError):
            pass
    return round(total / 2 ** 20)


def dump(pid):
    out = []
    for p in tree(pid):
        r = subprocess.run([PYSPY, "dump", "--pid", str(p)], capture_output=True, text=True)
        stack = [re.sub(r'^Thread \S+ \((\S+?)\)(.*)$', r'Thread\2', line) for line in r.stdout.splitlines()
                 if line.startswith("Thread") or line.startswith("    ")]
        out.append("\n".join(stack))
    return out


def run(path, seconds, at=None):
    """at: {second: function(pid)}; returns events (time, text), rss samples, results of the functions, exit status"""
    h = header(path)
    cmd = h.get("wrap", "").split() + [PYTHONS[h["python"]], path]
    env = dict(os.environ, **dict(kv.split("=", 1) for kv in h.get("env", "").split()))
    with tempfile.TemporaryDirectory() as cwd:
        env["TMPDIR"] = cwd
        proc = subprocess.Popen(cmd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=env, cwd=cwd, start_new_session=True)
        t0, events, rss, results, todo, next_rss = time.time(), [], [], [], sorted((at or {}).items()), 1.0
        try:
            while time.time() - t0 < seconds:
                if select.select([proc.stdout], [], [], 0.1)[0]:
                    data = os.read(proc.stdout.fileno(), 65536)
                    if not data:
                        break
                    now = time.time() - t0
                    events += [(now, piece) for piece in re.split(r"[\r\n]+", data.decode(errors="replace")) if piece.strip()]
                if time.time() - t0 > next_rss:
                    rss.append((round(next_rss), rss_mb(proc.pid)))
                    next_rss += 2.0
                while todo and time.time() - t0 > todo[0][0]:
                    results.append(todo.pop(0)[1](proc.pid))
            status = proc.poll()
        finally:
            for p in tree(proc.pid)[::-1]:
                try:
                    os.kill(p, signal.SIGKILL)
                except OSError:
                    pass
            proc.wait()
    return events, rss, results, status


def progress(events, pattern):
    total, last, points = 0, 0, []
    for t, text in events:
        for m in re.finditer(pattern, text):
            n = int(m.group(1))
            if n == last and not points:
                continue
            total += n - last if n >= last else n
            last = n
            points.append((t, total))
    return points


def rate(points):
    if len(points) < 2 or points[-1][0] == points[0][0]:
        return 0.0
    return (points[-1][1] - points[0][1]) / (points[-1][0] - points[0][0])


def losses(events):
    found = [m for _, text in events for m in re.findall(LOSS, text)]
    return found[:4] + found[4:][-5:]


def prove(name):
    kind, pattern, seconds = SPEC[name]
    bad, good = os.path.join(HERE, "programs", name + ".py"), os.path.join(HERE, "cured", name + ".py")
    out = {"kind": kind}
    if kind == "slow":
        runs = {"program": [], "cured": []}
        for _ in range(2):
            for who, path in (("program", bad), ("cured", good)):
                runs[who].append(round(rate(progress(run(path, seconds)[0], pattern)), 2))
        ratio = min(runs["cured"]) / max(max(runs["program"]), 1e-9)
        out.update(steps_per_second=runs, worst_ratio=round(ratio, 2), holds=min(runs["program"]) > 0 and ratio >= 1.3)
    elif kind == "first":
        first = {}
        for who, path in (("program", bad), ("cured", good)):
            events = run(path, seconds)[0]
            first[who] = next((round(t, 1) for t, text in events if re.search(pattern, text)), None)
        out.update(seconds_to_first_report=first, watched=seconds,
                   holds=first["cured"] is not None and (first["program"] or seconds) >= 1.3 * first["cured"])
    elif kind == "stuck":
        events, _, dumps, status = run(bad, seconds, {seconds - 11: dump, seconds - 6: dump, seconds - 1: dump})
        points = progress(events, pattern)
        twin = progress(run(good, seconds)[0], pattern)
        out.update(last_progress=points[-1] if points else None, status=status, twin_last=twin[-1] if twin else None, stack=dumps[-1] if dumps else None,
                   same=len(dumps) == 3 and dumps[0] == dumps[1] == dumps[2])
        out["holds"] = bool(out["same"] and status is None and points and points[-1][0] < seconds - 11 and twin[-1][0] > seconds - 5)
    elif kind == "leak":
        rss = {}
        for who, path in (("program", bad), ("cured", good)):
            events, samples, _, _ = run(path, seconds)
            rss[who] = samples
            out[who + "_rate"] = round(rate(progress(events, pattern)), 2)
        half = {w: s[len(s) // 2][1] for w, s in rss.items()}
        growth = {w: s[-1][1] - half[w] for w, s in rss.items()}
        out.update(rss_mb=rss, growth_second_half=growth, holds=growth["program"] > 50 and growth["cured"] < growth["program"] / 4)
    elif kind == "learn":
        got = {}
        for who, path in (("program", bad), ("cured", good)):
            events = run(path, seconds)[0]
            got[who] = losses(events)
            out[who + "_rate"] = round(rate(progress(events, pattern)), 2)
        last, first, fixed = float(got["program"][-1]), float(got["program"][0]), float(got["cured"][-1])
        out.update(losses=got, holds=(last != last or last > 0.9 * first) and fixed < 0.6 * float(got["cured"][0]))
    else:
        profile = tempfile.NamedTemporaryFile(suffix=".raw", delete=False).name

        def record(pid):
            subprocess.Popen([PYSPY, "record", "-s", "-d", "10", "-r", "50", "-f", "raw", "-o", profile, "--pid", str(pid)],
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        events, rss, _, status = run(bad, seconds, {9: record})
        points = progress(events, pattern)
        lines, total = {}, 0
        base = os.path.basename(bad)
        for row in open(profile):
            stack, _, n = row.rpartition(" ")
            own = [f for f in stack.split(";") if base in f]
            key = own[-1] if own else "other: " + stack.split(";")[-1]
            lines[key] = lines.get(key, 0) + int(n)
            total += int(n)
        os.unlink(profile)
        top = sorted(lines.items(), key=lambda kv: -kv[1])[:14]
        out.update(rate=round(rate(points), 2), last=points[-1] if points else None, losses=losses(events), max_rss=max(m for _, m in rss),
                   share_by_own_line={k: round(n / max(total, 1), 3) for k, n in top}, status=status,
                   holds=status is None and bool(points) and points[-1][0] > seconds - 12)
    return out


if __name__ == "__main__":
    target = os.path.join(HERE, "proof.json")
    for name in sys.argv[1:] or list(SPEC):
        result = prove(name)
        proof = json.load(open(target)) if os.path.exists(target) else {}
        proof[name] = result
        with open(target, "w") as f:
            json.dump(proof, f, indent=1)
        print(name, json.dumps(result)[:1800], flush=True)
