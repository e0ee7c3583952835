"""prove.py NAME...: measures each program (and its cured twin) and merges the figures into proof.json."""
import json, os, re, select, signal, subprocess, sys, time

HERE = os.path.dirname(os.path.abspath(__file__))
PY = {"tensorflow": os.path.expanduser("~/.cache/headway/interop-py3.11-de1addc0/bin/python"), "torch": "/usr/bin/python3",
      "plain": "/usr/bin/python3", "loops": os.path.expanduser("~/.cache/headway/loops/bin/python")}
SPY = os.path.expanduser("~/.cache/headway/loops/bin/py-spy")
SLOW = {"reviews_sentiment", "train_mushrooms", "train_birdcalls", "train_seismic", "ocr_captions", "train_moths",
        "hydrology_gru", "lit_coral", "hf_tickets", "jax_peptides", "recsys_features", "graph_embeddings"}
STUCK = {"train_smoke_detector", "train_sonar", "lit_transit", "train_spellchecker", "evolve_walkers",
         "cluster_phonemes", "buoys_regression"}
NUMERIC = {"train_diabetes", "finetune_orchids", "hf_poems", "jax_orbits"}
MEMORY = {"train_terrain_vae"}
COUNT = re.compile(r"^(?:epoch \d+ +)?(?:step|steps|tree|episode|generation|iteration|update) +(\d+)|^Epoch (\d+)/")
LOSS = re.compile(r"(?<!_)loss:? +(-?[\d.]+(?:e[-+]\d+)?|nan|inf)")


def header(path, key, default=""):
    m = re.search(rf"^# {key}: (.*)$", open(path).read(), re.M)
    return m.group(1).strip() if m else default


def rss(pid):
    try:
        return int(re.search(r"VmRSS:\s+(\d+)", open(f"/proc/{pid}/status").read()).group(1)) // 1024
    except Exception:
        return None


def cpu(pgid):
    """CPU seconds of the whole process group, ended children included."""
    total = 0
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            f = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
            if int(f[2]) == pgid:
                total += sum(map(int, f[11:15]))
        except (OSError, IndexError):
            pass
    return total / os.sysconf("SC_CLK_TCK")


def dump(pid):
    r = subprocess.run([SPY, "dump", "--pid", str(pid)], capture_output=True, text=True, timeout=30)
    m = re.split(r"\n(?=Thread )", r.stdout)
    main = [t for t in m if "MainThread" in t.split("\n")[0]] or m[-1:]
    return main[0].strip().split("\n")[:12] if main else [r.stderr[-200:]]


def run(path, limit, after_first=None, need=3, spies=(), quiet_spy=None):
    """Run; stop at `limit` s, or `after_first` s behind the first count line when `need` counts came."""
    cmd = header(path, "wrap").split() + [PY[header(path, "python")], "-u", path]
    env = dict(os.environ)
    for part in header(path, "env").split():
        k, v = part.split("=", 1); env[k] = v
    master, slave = os.openpty()
    t0 = time.time()
    p = subprocess.Popen(["nice"] + cmd, stdin=slave, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                         start_new_session=True, env=env)
    fd, buf, counts, losses, mem, dumps, tail = p.stdout.fileno(), b"", [], [], [], [], []
    os.set_blocking(fd, False)
    nextmem, rc = 0, None
    while True:
        now = time.time() - t0
        if select.select([fd], [], [], 0.2)[0]:
            chunk = os.read(fd, 65536)
            if not chunk:
                rc = p.wait(); break
            buf += chunk
            *lines, buf = buf.split(b"\n")
            now = time.time() - t0
            for line in lines:
                line = line.decode(errors="replace")
                tail = (tail + [line])[-5:]
                m = COUNT.match(line)
                if m:
                    counts.append((round(now, 2), int(m.group(1) or m.group(2)), cpu(p.pid)))
                l = LOSS.search(line)
                if l and not line.startswith("{"):
                    losses.append(float(l.group(1)))
        now = time.time() - t0
        if now > nextmem:
            mem.append((round(now), rss(p.pid))); nextmem = now + 2
        if len(dumps) < len(spies) and now > spies[len(dumps)]:
            dumps.append({"at": round(now, 1), "last_count": counts[-1] if counts else None, "stack": dump(p.pid)})
        if after_first and len(counts) >= need and now - counts[0][0] > after_first:
            break
        if now > limit:
            break
    alive = p.poll() is None
    try:
        os.killpg(p.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    p.wait(); p.stdout.close(); os.close(master); os.close(slave)
    return {"counts": counts, "losses": losses, "mem": mem, "dumps": dumps, "alive_at_end": alive, "rc": rc,
            "seconds": round(now, 1), "tail": tail}


def rate(r):
    c = r["counts"]
    return (c[-1][1] - c[0][1]) / (c[-1][0] - c[0][0]) if len(c) > 1 else None


def cpu_each(r):
    """CPU seconds for one step."""
    c = r["counts"]
    return round((c[-1][2] - c[0][2]) / (c[-1][1] - c[0][1]), 4) if len(c) > 1 else None


def thin(values, n=8):
    return values if len(values) <= n else [values[i * (len(values) - 1) // (n - 1)] for i in range(n)]


def prove(name):
    prog, cured = f"{HERE}/programs/{name}.py", f"{HERE}/cured/{name}.py"
    secs = float(header(prog, "seconds", "30"))
    out = {"name": name, "load": os.getloadavg()[0]}
    if name in SLOW:
        out["kind"] = "slow"
        span = 15 if name == "hydrology_gru" else 7
        bad, good, bad_cpu, good_cpu = [], [], [], []
        while len(bad) < 4:     # in turns; two rounds, two more where the machine was restless
            a, b = run(prog, secs, span, 2), run(cured, secs, span, 2)
            if rate(a) and rate(b):
                bad.append(rate(a)); good.append(rate(b)); bad_cpu.append(cpu_each(a)); good_cpu.append(cpu_each(b))
            else:
                out["unmeasured_rounds"] = out.get("unmeasured_rounds", 0) + 1
                if out["unmeasured_rounds"] > 1:
                    break
            if len(bad) == 2 and min(g / b for g, b in zip(good, bad)) >= 1.3:
                break
        out["per_second"], out["cured_per_second"] = [round(v, 3) for v in bad], [round(v, 3) for v in good]
        out["cpu_s_per_step"], out["cured_cpu_s_per_step"] = bad_cpu, good_cpu
        if bad:
            turns = sorted(g / b for g, b in zip(good, bad))
            out["ratio_in_turns"] = [round(v, 2) for v in turns]
            out["ratio"] = round((turns[(len(turns) - 1) // 2] + turns[len(turns) // 2]) / 2, 2)
        out["ok"] = bool(len(bad) >= 2 and out["ratio"] >= 1.3)
    elif name in STUCK:
        out["kind"] = "stuck"
        a = run(prog, secs, spies=(secs - 13, secs - 2))
        b = run(cured, 30, 6)
        reached = a["counts"][-1][1] if a["counts"] else 0
        if b["counts"] and b["counts"][-1][1] < 1.3 * reached:     # the twin must get past that point
            b = run(cured, 60, 40)
        out["stopped_at"], out["cured_reached"] = reached, b["counts"][-1][1] if b["counts"] else None
        place = [next((l.strip() for l in d["stack"] if name + ".py" in l), d["stack"][1:2]) for d in a["dumps"]]
        out.update(dumps=a["dumps"], place=place, cured_counts=thin(b["counts"]), cured_per_second=rate(b))
        # a loop that spins in user code: same function, the line within it may differ
        func = [re.sub(r" \(.*", "", p) if isinstance(p, str) else p for p in place]
        out["ok"] = (len(place) == 2 and func[0] == func[1] and a["alive_at_end"]
                     and a["dumps"][0]["last_count"] == a["dumps"][1]["last_count"] and bool(out["cured_per_second"]) and out["cured_reached"] > 1.3 * out["stopped_at"])
    elif name in NUMERIC:
        out["kind"] = "numerical"
        out["losses"] = thin(run(prog, secs, 8, 4)["losses"])
        out["cured_losses"] = thin(run(cured, secs, 8, 4)["losses"])
        a, b = out["losses"], out["cured_losses"]
        good = len(b) > 2 and b[-1] < 0.8 * b[0]
        out["ok"] = bool(good and len(a) > 2 and (not a[-1] < 0.9 * a[0] or a[-1] > b[0]))
    elif name in MEMORY:
        out["kind"] = "memory"
        a, b = run(prog, 25), run(cured, 12)
        out["rss_mb"], out["cured_rss_mb"] = thin(a["mem"], 10), thin(b["mem"], 6)
        grow = lambda m: m[-2][1] - m[2][1]
        out["growth_mb"], out["cured_growth_mb"] = grow(a["mem"]), grow(b["mem"])
        out["ok"] = out["growth_mb"] > 100 and out["cured_growth_mb"] < 20
    else:
        out["kind"] = "healthy"
        a = run(prog, secs)
        t = [c[0] for c in a["counts"]]
        gaps = [y - x for x, y in zip(t, t[1:])]
        out.update(first_line_s=t[0] if t else None, lines=len(t), counts=thin(a["counts"]), losses=thin(a["losses"]),
                   largest_gap_s=round(max(gaps), 1) if gaps else None, peak_rss_mb=max(m[1] or 0 for m in a["mem"]),
                   ran_s=a["seconds"], per_second=rate(a))
        out["ok"] = bool(len(t) >= 3 and (a["alive_at_end"] or a["rc"] == 0) and a["seconds"] - t[-1] < 2 * max(gaps) + 3)
        if not out["ok"]:
            out["tail"] = a["tail"]
    return out


def main():
    path = f"{HERE}/proof.json"
    for name in sys.argv[1:]:
        result = prove(name)
        known = {r["name"]: r for r in json.load(open(path))} if os.path.exists(path) else {}
        known[name] = result
        json.dump(sorted(known.values(), key=lambda r: r["name"]), open(path, "w"), indent=1)
        brief = {k: v for k, v in result.items() if k not in ("dumps",)}
        print(time.strftime("%H:%M:%S"), json.dumps(brief), flush=True)


main()
