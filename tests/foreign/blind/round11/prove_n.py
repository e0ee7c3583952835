"""Proves the programs next to this file: python prove_n.py [NAME ...]; results are merged into proof.json."""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PYTHON = os.environ.get("PYTHON_TENSORFLOW", sys.executable)
PY_SPY = os.environ.get("PY_SPY") or shutil.which("py-spy")
NUMBER = r"([-+]?(?:nan|inf|\d+(?:\.\d+)?(?:e[-+]?\d+)?))"

# name: (kind, what counts progress, what shows the loss)
BAR = "bar"
PLAN = {
    "pollen_grains": ("never", BAR, None),
    "weir_turbines": ("slow", BAR, None),
    "glacier_radar": ("slow", r"step +(\d+)", None),
    "orchard_yield": ("memory", r"(epoch \d+ batch \d+)", None),
    "seabird_calls": ("learning", r"Epoch (\d+)/", r" - loss: " + NUMBER),
    "moss_spectra": ("learning", r"(epoch \d+ step \d+)", r"mean loss: " + NUMBER),
    "bakery_demand": ("stuck", BAR, None),
    "kiln_firing": ("slow", r"step (\d+)", None),
    "lichen_growth": ("healthy", r"update (\d+)", r"loss " + NUMBER),
    "ferry_wakes": ("healthy", BAR, r"- loss: " + NUMBER),
    "tram_announcements": ("healthy", r"step (\d+)", r"loss " + NUMBER),
    "quarry_dust": ("healthy", r"Epoch (\d+)/", r" - loss: " + NUMBER),
    "comet_tails": ("healthy", r"batch (\d+)", r"batch \d+ loss " + NUMBER),
    "vineyard_frost": ("healthy", r"step (\d+)", r"divergence " + NUMBER),
}


def clean(text):
    return re.sub(r"\x1b\[[0-9;]*m", "", text).replace("\x08", "\n").replace("\r", "\n")


def progress(text, how):
    """Steps so far. Of a Keras bar: whole epochs and the current one; of lines: the last number, or how many lines."""
    if how == BAR:
        total, last = 0, 0
        for line in text.split("\n"):
            if re.match(r"\s*Epoch \d+/\d+", line):
                total, last = total + last, 0
            found = re.match(r"\s*(\d+)/(\d+) ", line)
            if found:
                last = max(last, int(found.group(1)))
        return total + last
    found = re.findall(how, text)
    if not found:
        return 0
    return int(found[-1]) if found[-1].isdigit() else len(found)


def rss(pid):
    try:
        with open(f"/proc/{pid}/statm") as f:
            return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20
    except OSError:
        return None


def stack(pid):
    """What py-spy shows of the main thread: its functions, without what changes from call to call."""
    got = subprocess.run([PY_SPY, "dump", "--pid", str(pid)], capture_output=True, text=True).stdout
    for block in re.split(r"\n(?=Thread )", got):
        if block.startswith("Thread") and '"MainThread"' in block.split("\n")[0]:
            return [line.strip().replace(HERE, "") for line in block.split("\n")[1:] if line.strip()][:8]
    return []


def seconds_of(name):
    with open(os.path.join(HERE, "programs", name + ".py")) as f:
        return float(re.search(r"# seconds: (\d+)", f.read()).group(1))


def run(name, folder, seconds, how, spy=False):
    """One run: the text, [t, progress, rss] every second, and with spy two stacks five seconds apart at its end."""
    with tempfile.TemporaryDirectory() as scratch:
        out = os.path.join(scratch, "out.txt")
        env = dict(os.environ, TMPDIR=scratch)
        with open(out, "w") as sink:
            child = subprocess.Popen([PYTHON, os.path.join(HERE, folder, name + ".py")], stdout=sink,
                                     stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, env=env,
                                     start_new_session=True)
            points, stacks, began = [], [], time.time()
            try:
                while time.time() - began < seconds and child.poll() is None:
                    time.sleep(1)
                    with open(out, errors="replace") as f:
                        points.append([round(time.time() - began, 1), progress(clean(f.read()), how), rss(child.pid)])
                    if spy and len(stacks) < 2 and time.time() - began > seconds - 8 + 6 * len(stacks):
                        stacks.append(stack(child.pid))
                alive = child.poll() is None
            finally:
                try:
                    os.killpg(child.pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
                child.wait()
        with open(out, errors="replace") as f:
            text = clean(f.read())
    return {"text": text, "points": points, "stacks": stacks, "alive": alive}


def rate(result):
    """Steps per second between the first progress and the end."""
    moving = [p for p in result["points"] if p[1] > 0]
    if len(moving) < 2:
        return 0.0
    return (moving[-1][1] - moving[0][1]) / (moving[-1][0] - moving[0][0])


def brief(result):
    moving = [p for p in result["points"] if p[1] > 0]
    return {"alive": result["alive"], "first_progress_s": moving[0][0] if moving else None,
            "progress": result["points"][-1][1] if result["points"] else 0}


def half_growth(result):
    """MiB gained in the last half of the run, and how many of its seconds saw growth."""
    sizes = [p[2] for p in result["points"] if p[2]]
    late = sizes[len(sizes) // 2:]
    rising = sum(b - a > 1 for a, b in zip(late, late[1:]))
    return round(late[-1] - late[0], 1), round(rising / max(1, len(late) - 1), 2)


def losses(result, pattern):
    return [float(v) for v in re.findall(pattern, result["text"])]


def prove(name):
    kind, how, shown = PLAN[name]
    seconds = seconds_of(name)
    if kind in ("slow", "learning", "healthy", "memory"):
        seconds = min(seconds, 25)
    if kind == "slow":
        rows = []
        for _ in range(2):
            bad, good = run(name, "programs", seconds, how), run(name, "cured", seconds, how)
            rows.append({"faulty": bad["points"][-1][1], "cured": good["points"][-1][1],
                         "faulty_rate": round(rate(bad), 2), "cured_rate": round(rate(good), 2),
                         "alive": bad["alive"] and good["alive"]})
        holds = all(r["alive"] and r["faulty"] > 0 and r["cured"] >= 1.3 * r["faulty"]
                    and r["cured_rate"] >= 1.3 * r["faulty_rate"] for r in rows)
        return {"kind": kind, "holds": holds, "turns": rows}
    if kind in ("never", "stuck"):
        bad, good = run(name, "programs", seconds, how, spy=True), run(name, "cured", seconds, how)
        same = len(bad["stacks"]) == 2 and bad["stacks"][0] == bad["stacks"][1] != []
        tail = [p[1] for p in bad["points"] if p[0] > seconds - 12]
        good_tail = [p[1] for p in good["points"] if p[0] > seconds - 12]
        holds = (bad["alive"] and same and len(set(tail)) == 1 and good["alive"] and good_tail[-1] > good_tail[0]
                 and (bad["points"][-1][1] == 0) == (kind == "never"))
        return {"kind": kind, "holds": holds, "faulty": brief(bad), "cured": brief(good), "same_stack": same,
                "stack": bad["stacks"][0] if bad["stacks"] else [], "cured_last_12_s": [good_tail[0], good_tail[-1]]}
    if kind == "memory":
        bad, good = run(name, "programs", seconds, how), run(name, "cured", seconds, how)
        (up, share), (other, _) = half_growth(bad), half_growth(good)
        holds = bad["alive"] and good["alive"] and up > 50 and share > 0.8 and other < 0.15 * up
        return {"kind": kind, "holds": holds, "faulty_mib_last_half": up, "rising_share": share,
                "cured_mib_last_half": other, "faulty": brief(bad), "cured": brief(good)}
    if kind == "learning":
        bad, good = run(name, "programs", seconds, how), run(name, "cured", seconds, how)
        a, b = losses(bad, shown), losses(good, shown)
        n = min(len(a), len(b))
        holds = bad["alive"] and good["alive"] and n >= 3 and b[n - 1] < 0.5 * b[0] and not a[n - 1] < 2 * b[n - 1]
        return {"kind": kind, "holds": holds, "faulty_losses": a[:12] + a[-1:], "cured_losses": b[:12] + b[-1:]}
    result = run(name, "programs", seconds, how)
    seen = losses(result, shown)
    moving = [p for p in result["points"] if p[1] > 0]
    grown, share = half_growth(result)
    k = max(1, len(seen) // 5)
    first, last = sum(seen[:k]) / k if seen else 0, sum(seen[-k:]) / k if seen else 0
    late = [p[1] for p in result["points"] if p[0] > seconds - 12]
    holds = (result["alive"] and bool(moving) and moving[0][0] <= 17 and late[-1] > late[0]
             and grown < 60 and last < 0.9 * first)
    return {"kind": kind, "holds": holds, **brief(result), "rate": round(rate(result), 2), "first_losses": round(first, 4),
            "last_losses": round(last, 4), "mib_last_half": grown, "last_12_s": [late[0], late[-1]]}


def main():
    path = os.path.join(HERE, "proof.json")
    for name in sys.argv[1:] or list(PLAN):
        try:
            found = prove(name)
        except Exception as e:  # noqa: BLE001 - a proof that fails is a proof that does not hold
            found = {"holds": False, "error": repr(e)}
        known = {}
        if os.path.exists(path):
            with open(path) as f:
                known = json.load(f)
        known[name] = found
        with open(path, "w") as f:
            json.dump(known, f, indent=1, sort_keys=True)
        print(name, json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
