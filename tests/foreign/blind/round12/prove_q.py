"""Proves the programs without any tool: python3 prove_q.py [NAME ...]   (all, where no name is given)"""
import shutil
import json, math, os, re, signal, subprocess, sys, threading, time

HERE = os.path.dirname(os.path.abspath(__file__))
PYTHON = "/usr/bin/python3"
SPY = os.environ.get("PY_SPY") or shutil.which("py-spy")
KIND = {"glacier_flowline": "stuck", "reef_transects": "memory", "beehive_keeper": "stuck", "kiln_glazes": "slow",
        "hurdy_gurdy": "learning", "spore_prints": "learning", "ferry_manifests": "stuck", "pollen_traps": "slow",
        "lighthouse_logs": "healthy", "humpback_phrases": "healthy", "marginalia": "healthy", "hermit_crab_gait": "healthy",
        "herbal_words": "healthy"}
STEP, LOSS = re.compile(r"step\s+(\d+)"), re.compile(r"loss\s+(-?(?:nan|inf|[\d.]+(?:e[+-]?\d+)?))", re.I)


def family(pid):
    out = [pid]
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            for child in open(f"/proc/{pid}/task/{task}/children").read().split():
                out += family(int(child))
    except OSError:
        pass
    return out


def rss(pid):
    total = 0
    for p in family(pid):
        try:
            total += int(open(f"/proc/{p}/statm").read().split()[1]) * 4096
        except OSError:
            pass
    return total / 2 ** 20


def frames(pid):
    """The innermost frames of every Python thread of the family, without line prefixes that change."""
    out = {}
    for p in family(pid):
        text = subprocess.run([SPY, "dump", "--pid", str(p)], capture_output=True, text=True).stdout
        for part in text.split("\nThread ")[1:]:
            lines = part.split("\n")
            own = [l.strip() for l in lines[1:] if "(" in l]
            if own:
                out[f"{p}/{lines[0].split()[0]}"] = own[:4]
    return out


def watch(path, seconds, spy=False):
    start = time.time()
    process = subprocess.Popen([PYTHON, path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
                               stdin=subprocess.DEVNULL, cwd=os.path.dirname(path))
    lines, memory, places = [], [], []

    def read():
        for line in process.stdout:
            lines.append((time.time() - start, line.rstrip()))
    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    while time.time() - start < seconds and process.poll() is None:
        memory.append((time.time() - start, rss(process.pid)))
        now = time.time() - start
        if spy and (not places and now > seconds - 8 or len(places) == 1 and now > seconds - 3):
            places.append(frames(process.pid))
        time.sleep(0.5)
    ended = process.poll()
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except OSError:
        pass
    process.wait()
    reader.join(3)
    steps = [(t, int(STEP.search(l).group(1))) for t, l in lines if STEP.search(l) and "loss" in l]
    losses = [float(LOSS.search(l).group(1)) for t, l in lines if STEP.search(l) and LOSS.search(l)] 
    mib = lambda share: round(min((abs(t - seconds * share), m) for t, m in memory)[1], 1)
    return {"ended": ended, "steps": steps[-1][1] if steps else 0, "first_line_s": round(steps[0][0], 1) if steps else None,
            "last_line_s": round(steps[-1][0], 1) if steps else None,
            "longest_gap_s": round(max([b[0] - a[0] for a, b in zip(steps, steps[1:])] + [0]), 1),
            "loss_first": losses[:3], "loss_last": losses[-3:],
            "loss_begin": mean(losses[:max(1, len(losses) // 5)]), "loss_end": mean(losses[-max(1, len(losses) // 5):]),
            "rss_mib": [mib(x) for x in (0.4, 0.55, 0.7, 0.85, 1)], "_places": places, "tail": lines[-1][1][:150] if lines else ""}


def mean(v):
    return round(sum(v) / len(v), 5) if v else None


def same_places(places):
    if len(places) < 2:
        return {}
    return {k: v[0] for k, v in places[0].items() if places[1].get(k) == v}


def prove(name):
    path, cured = f"{HERE}/programs/{name}.py", f"{HERE}/cured/{name}.py"
    seconds = int(re.search(r"# seconds: (\d+)", open(path).read()).group(1))
    kind = KIND[name]
    result = {"kind": kind, "seconds": seconds, "load": os.getloadavg()[0]}
    if kind == "healthy":
        r = watch(path, seconds)
        r.pop("_places")
        m = r["rss_mib"]
        result["run"] = r
        result["holds"] = bool(r["ended"] is None and r["first_line_s"] and r["first_line_s"] < 15 and seconds - r["last_line_s"] < 4
                               and r["longest_gap_s"] < 5 and m[-1] < m[1] * 1.08 + 10 and r["loss_end"] < r["loss_begin"] * 0.95)
        return result
    rounds = []
    for turn in range(2):
        a = watch(path, seconds, spy=kind == "stuck")
        b = watch(cured, seconds)
        stay = same_places(a.pop("_places"))
        b.pop("_places")
        if kind == "stuck":
            a["same_place_twice"] = stay
        ok = a["ended"] is None and b["ended"] is None
        if kind == "slow":
            ratio = b["steps"] / max(1, a["steps"])
            a["ratio"] = round(ratio, 2)
            ok = ok and ratio >= 1.3 and a["steps"] > 0
        elif kind == "stuck":
            ok = ok and len(stay) > 0 and seconds - a["last_line_s"] > 12 and seconds - b["last_line_s"] < 5
        elif kind == "memory":
            m, c = a["rss_mib"], b["rss_mib"]
            ok = ok and all(y > x + 3 for x, y in zip(m, m[1:])) and m[-1] > m[0] + 30 and abs(c[-1] - c[1]) < 12
        elif name == "hurdy_gurdy":
            ok = ok and abs(a["loss_end"] - a["loss_begin"]) < 0.03 and b["loss_end"] < 0.7 * a["loss_end"]
        elif name == "spore_prints":
            ok = ok and a["loss_end"] < -1000 and 0 < b["loss_end"] < b["loss_begin"]
        rounds.append({"faulty": a, "cured": b, "ok": bool(ok)})
        if kind in ("memory", "learning") and ok:
            break
    result["rounds"] = rounds
    result["holds"] = all(r["ok"] for r in rounds)
    return result


def main():
    file = f"{HERE}/proof.json"
    for name in sys.argv[1:] or sorted(KIND):
        result = prove(name)
        proof = json.load(open(file)) if os.path.exists(file) else {}
        proof[name] = result
        json.dump(dict(sorted(proof.items())), open(file, "w"), indent=1)
        print(name, "holds" if result["holds"] else "DOES NOT HOLD", flush=True)


if __name__ == "__main__":
    main()
