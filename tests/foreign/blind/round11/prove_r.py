"""Proves each program against its cured twin; names on the command line choose, proof.json is merged."""
import json
import math
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
PYTHON = os.environ.get("PYTHON_LOOPS", sys.executable)
PY_SPY = os.environ.get("PY_SPY") or shutil.which("py-spy") or "py-spy"
STEP = r"\bstep\s+(\d+)"
LOSS = r"\bloss (\S+)"
HF_LOSS = r"\{'loss': ([^,]+),"
PLAN = {  # name: (kind, how progress is read, how losses are read)
    "orchard_census": ("memory", r"(\d+)/32 ", r"mean loss ([\d.naif]+)"),
    "viscosity_blend": ("slow", STEP, LOSS),
    "whale_calls": ("begun", HF_LOSS, HF_LOSS),
    "clinic_triage": ("learning", HF_LOSS, HF_LOSS),
    "peptide_retention": ("slow", STEP, LOSS),
    "glacier_runoff": ("stuck", STEP, r"mse (\S+)"),
    "bridge_strain": ("stuck", STEP, LOSS),
    "herbarium_tags": ("learning", STEP, r"step \d+ loss (\S+)"),
    "sonar_denoiser": ("healthy", r"(\d+)/72 ", r"val (\S+)"),
    "ledger_grammar": ("healthy", HF_LOSS, HF_LOSS),
    "kite_controller": ("healthy", STEP, r"cost (\S+)"),
    "vineyard_frost": ("healthy", STEP, r"step \d+ loss (\S+)"),
    "steel_grades": ("healthy", r"shift (\d+)", r"mean of 5: ([\d.]+)"),
}


def members(group):
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat") as f:
                if int(f.read().rpartition(")")[2].split()[2]) == group:
                    found.append(int(pid))
        except (OSError, IndexError, ValueError):
            pass
    return sorted(found)


def resident(group):
    total = 0
    for pid in members(group):
        try:
            with open(f"/proc/{pid}/statm") as f:
                total += int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        except (OSError, IndexError):
            pass
    return round(total / 2**20, 1)


def places(group, file):
    """For each Python process: the frames of its main thread, from py-spy."""
    seen = {}
    for pid in members(group):
        got = subprocess.run([PY_SPY, "dump", "--pid", str(pid)], capture_output=True, text=True, timeout=20)
        main = got.stdout.split("MainThread", 1)
        if len(main) == 2:
            frames = re.findall(r"^    (\S.*)$", main[1].split("\nThread ")[0], re.M)
            own = [f for f in frames if os.path.basename(file) in f]
            if frames:
                seen[str(pid)] = {"top": frames[0], "own": own[0] if own else "", "calls": own[-2:]}
    return list(seen.values())


def drive(file, seconds, progress, spy=False):
    env = dict(os.environ, PYTHONUNBUFFERED="1", CUDA_VISIBLE_DEVICES="")
    with tempfile.TemporaryDirectory() as scratch:
        env["TMPDIR"] = scratch
        p = subprocess.Popen([PYTHON, file], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=env, cwd=scratch,
                             stdin=subprocess.DEVNULL, start_new_session=True)
        text, first, last, rss, spied = bytearray(), [], [], [], []

        def listen():
            while chunk := p.stdout.read1(65536):
                text.extend(chunk)
                if re.search(progress, chunk.decode(errors="replace")):
                    last[:] = [time.time() - began]
                    if not first:
                        first[:] = last

        began = time.time()
        thread = threading.Thread(target=listen, daemon=True)
        thread.start()
        while time.time() - began < seconds and p.poll() is None:
            time.sleep(1)
            rss.append(resident(p.pid))
            if spy and time.time() - began > (0.65, 0.9)[min(len(spied), 1)] * seconds and len(spied) < 2:
                spied.append(places(p.pid, file))
        ended = p.poll()
        try:
            os.killpg(p.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        p.wait()
        thread.join(5)
    out = text.decode(errors="replace")
    return {"out": out, "ended_early": ended, "first_s": round(first[0], 1) if first else None,
            "last_s": round(last[0], 1) if last else None, "rss_mb": rss, "spied": spied}


def numbers(pattern, out):
    found = []
    for n in re.findall(pattern, out):
        try:
            found.append(float(n.strip("'")))
        except ValueError:
            pass
    return found


def steps(name, out):
    kind, progress, _ = PLAN[name]
    if progress is HF_LOSS:
        return len(re.findall(progress, out))
    if "/" in progress:  # a bar that begins again each epoch
        count, before = 0, 0
        for n in map(int, re.findall(progress, out)):
            count += n - before if n > before else (n if n < before else 0)
            before = n
        return count
    return int(max(numbers(progress, out), default=0))


def thirds(values):
    k = max(1, len(values) // 3)
    if not values:
        return None
    return [round(sum(values[:k]) / k, 5), round(sum(values[-k:]) / k, 5)]


def brief(name, run):
    return {"steps": steps(name, run["out"]), "first_s": run["first_s"], "last_s": run["last_s"],
            "losses_first_and_last_third": thirds(numbers(PLAN[name][2], run["out"])), "rss_mb": run["rss_mb"][::5],
            "ended_early": run["ended_early"]}


def growth(run):
    """MB per second after the first 12 s, and the share of the seconds in which it grew."""
    r = run["rss_mb"][12:]
    if len(r) < 6:
        return 0.0, 0.0
    return round((r[-1] - r[0]) / (len(r) - 1), 2), round(sum(b > a for a, b in zip(r, r[1:])) / (len(r) - 1), 2)


def prove(name):
    kind, progress, loss = PLAN[name]
    faulty, cured = os.path.join(HERE, "programs", name + ".py"), os.path.join(HERE, "cured", name + ".py")
    with open(faulty) as f:
        seconds = int(re.search(r"^# seconds: (\d+)", f.read(), re.M).group(1))
    seconds = min(seconds, {"stuck": 25, "slow": 22, "learning": 26}.get(kind, 21))
    result = {"kind": kind, "seconds": seconds}
    if kind == "healthy":
        run = drive(faulty, seconds, progress)
        b = result["run"] = brief(name, run)
        l, (mb, _) = b["losses_first_and_last_third"], growth(run)
        result["growth_mb_s"] = mb
        result["holds"] = bool(run["ended_early"] is None and b["first_s"] and b["first_s"] <= 15 and b["last_s"] > seconds - 5
                               and abs(mb) < 3 and l and l[1] < l[0])
    elif kind == "slow":
        pairs = []
        for _ in range(2):
            a, c = drive(faulty, seconds, progress), drive(cured, seconds, progress)
            pairs.append((brief(name, a), brief(name, c)))
        result["pairs"] = pairs
        result["ratios"] = [round(c["steps"] / max(1, a["steps"]), 2) for a, c in pairs]
        result["holds"] = all(r >= 1.3 for r in result["ratios"]) and all(
            x["ended_early"] is None and x["first_s"] and x["first_s"] <= 15 for pair in pairs for x in pair)
    else:
        a, c = drive(faulty, seconds, progress, spy=kind in ("stuck", "begun")), drive(cured, seconds, progress)
        fa, cu = brief(name, a), brief(name, c)
        result.update(faulty=fa, cured=cu)
        alive = a["ended_early"] is None and c["ended_early"] is None and cu["first_s"] is not None and cu["last_s"] > seconds - 5
        if kind == "memory":
            result["growth"], result["growth_cured"] = growth(a), growth(c)
            result["holds"] = alive and result["growth"][0] > 0.8 and result["growth"][1] > 0.5 and result["growth_cured"][0] < 0.25 * result["growth"][0]
        elif kind == "learning":
            x, y = numbers(loss, a["out"]), numbers(loss, c["out"])
            result["losses"] = [x[::max(1, len(x) // 12)], y[::max(1, len(y) // 12)]]
            tx, ty = thirds(x), thirds(y)
            result["holds"] = bool(alive and tx and ty and (math.isnan(tx[1]) or tx[1] > 1.5 * ty[1]))
        else:
            result["places"] = s = a["spied"]
            which = "calls" if kind == "begun" else "top"
            same = len(s) == 2 and bool(s[0]) and all([p[which] for p in s[0]]) and [p[which] for p in s[0]] == [p[which] for p in s[1]]
            quiet = fa["first_s"] is None if kind == "begun" else fa["last_s"] is not None and fa["last_s"] < 0.65 * seconds
            result["same_place"] = same
            result["holds"] = bool(alive and same and quiet)
    return result


def main():
    path = os.path.join(HERE, "proof.json")
    proof = json.load(open(path)) if os.path.exists(path) else {n: {"holds": False} for n in PLAN}
    for name in sys.argv[1:] or PLAN:
        proof[name] = prove(name)
        with open(path, "w") as f:
            json.dump(proof, f, indent=1)
        print(name, proof[name]["holds"], flush=True)


if __name__ == "__main__":
    main()
