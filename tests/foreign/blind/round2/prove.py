"""Proves the 40 programs without any tool: python3 prove.py [names...]; results go to proof.json."""
import json
import os
import pty
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TMP = os.path.join(HERE, "tmp")
LOOPS = os.path.expanduser("~/.cache/headway/loops/bin/")
PYTHONS = {"tensorflow": os.path.expanduser("~/.cache/headway/interop-py3.11-de1addc0/bin/python"), "torch": "/usr/bin/python3",
           "plain": "/usr/bin/python3", "loops": LOOPS + "python"}
NUMERIC = ["loan_default", "leaf_finetune", "tweets_trainer", "faces_jax"]
RESOURCE = ["tick_forecast", "terrain_tiles"]
SLOW_SECONDS = {"tensorflow": 17, "torch": 13, "plain": 13, "loops": 20}
COUNTERS = [(re.compile(r"\b(?:step|rows|update|generation) (\d+)"), 1), (re.compile(r"\b'epoch': ([\d.]+)"), 1),
            (re.compile(r"'epoch': ([\d.]+)"), 1), (re.compile(r"\bepoch (\d+)"), 1)]
BAR = re.compile(r"Epoch (\d+)/\d+|(?<![\d/])(\d+)/(\d+)(?![\d/])")


def header(path):
    out = {}
    for line in open(path):
        if not line.startswith("# "):
            break
        key, _, value = line[2:].partition(":")
        out[key.strip()] = value.strip()
    return out


class Run:
    def __init__(self, path, seconds):
        head = header(path.replace("/cured/", "/programs/"))
        env = dict(os.environ, TMPDIR=TMP, PYTHONUNBUFFERED="1")
        env.pop("OMP_WAIT_POLICY", None)
        for pair in head.get("env", "").split():
            k, _, v = pair.partition("=")
            env[k] = v
        os.makedirs(TMP, exist_ok=True)
        self.master, slave = pty.openpty()
        cmd = ["nice", "timeout", "-s", "INT", "-k", "5", str(seconds)] + shlex.split(head.get("wrap", ""))
        self.start = time.time()
        self.proc = subprocess.Popen(cmd + [PYTHONS[head["python"]], "-u", path], stdin=slave, cwd=TMP, env=env,
                                     stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
        os.close(slave)
        self.text, self.events, self.epoch = "", [], 0
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        pending = ""
        while True:
            chunk = os.read(self.proc.stdout.fileno(), 65536)
            if not chunk:
                return
            now = time.time() - self.start
            piece = re.sub(r"\x1b\[[0-9;]*m", "", chunk.decode("utf8", "replace"))
            self.text += piece
            lines = re.split(r"[\r\n\b]+", pending + piece)
            pending = lines.pop()
            for line in lines:
                self.line(line, now)

    def line(self, line, now):
        m = BAR.search(line)
        if m and (m.group(1) or "ms/step" in line or "s/step" in line):
            if m.group(1):
                self.epoch = int(m.group(1))
            else:
                i, n = int(m.group(2)), int(m.group(3))
                self.events.append((now, (self.epoch - 1) * n + i))
            return
        if " sweep " in line:
            self.events.append((now, len(self.events) + 1))
            return
        for rx, _ in COUNTERS:
            m = rx.search(line)
            if m:
                self.events.append((now, float(m.group(1))))
                return

    def pids(self):
        """Python processes of this run, the main one first."""
        found = []
        for p in os.listdir("/proc"):
            if p.isdigit():
                try:
                    stat = open(f"/proc/{p}/stat").read().rsplit(")", 1)[1].split()
                    exe = os.readlink(f"/proc/{p}/exe")
                except OSError:
                    continue
                if int(stat[3]) == self.proc.pid and "python" in exe:
                    found.append(int(p))
        return sorted(found)

    def finish(self):
        rc = self.proc.wait()
        try:
            os.killpg(self.proc.pid, signal.SIGKILL)
        except OSError:
            pass
        self.reader.join(5)
        os.close(self.master)
        shutil.rmtree(TMP, ignore_errors=True)
        return rc

    def rate(self):
        ev = self.events
        if len(ev) < 2 or ev[-1][0] - ev[0][0] < 0.2:
            return None
        return (ev[-1][1] - ev[0][1]) / (ev[-1][0] - ev[0][0])


def losses(text, many=8):
    found = re.findall(r"(?<!val_)(?:'loss': |loss:? )([-+\d.e]+|nan|inf)", text)
    picked = [found[int(k * (len(found) - 1) / (many - 1))] for k in range(many)] if len(found) > many else found
    return [float(v) for v in picked]


def slow(name, head):
    rates = {"programs": [], "cured": []}
    for _ in range(2):
        for kind in rates:
            run = Run(f"{HERE}/{kind}/{name}.py", 26 if name == "clip_tagger" else SLOW_SECONDS[head["python"]])
            run.finish()
            rates[kind].append(run.rate())
    if None in rates["programs"] + rates["cured"]:
        return {"ok": False, **rates}
    ratio = sum(rates["cured"]) / sum(rates["programs"])
    worst = min(rates["cured"]) / max(rates["programs"])
    return {"ok": worst >= 1.3, "faulty_per_s": [round(r, 3) for r in rates["programs"]],
            "cured_per_s": [round(r, 3) for r in rates["cured"]], "ratio": round(ratio, 2), "worst_ratio": round(worst, 2)}


def dump(pids):
    out = {}
    for pid in pids:
        text = subprocess.run([LOOPS + "py-spy", "dump", "--pid", str(pid)], capture_output=True, text=True).stdout
        main = re.search(r"Thread[^\n]*MainThread[^\n]*\n((?:    .*\n)+)", text + "\n")
        out[pid] = [l.strip() for l in main.group(1).splitlines() if "(" in l][:12] if main else []
    return out


def stuck(name, head):
    run = Run(f"{HERE}/programs/{name}.py", 36)
    time.sleep(20)
    pids, n1 = run.pids(), len(run.events)
    first = dump(pids)
    time.sleep(10)
    second, n2 = dump(run.pids()), len(run.events)
    run.finish()
    cured = Run(f"{HERE}/cured/{name}.py", 22 if head["python"] in ("loops", "tensorflow") else 14)
    cured.finish()
    main = min(first) if first else None
    same = bool(first) and first[main] and first[main] == second.get(main)
    return {"ok": bool(same and n1 == n2 and len(cured.events) >= 3), "same_place": bool(same),
            "events_at_20s": n1, "events_at_30s": n2, "main_thread": first.get(main),
            "others_same": {str(p): first[p] == second.get(p) for p in first if p != main},
            "others_top": {str(p): first[p][:3] for p in first if p != main},
            "cured_events": len(cured.events), "cured_last": cured.events[-1:]}


def numeric(name, head):
    out = {}
    for kind in ("programs", "cured"):
        run = Run(f"{HERE}/{kind}/{name}.py", 28 if head["python"] == "loops" else 20)
        run.finish()
        out[kind] = losses(run.text)
    f, c = out["programs"], out["cured"]
    wrong = bool(f and c) and (f[-1] != f[-1] or f[-1] > 1.3 * c[-1] or f[-1] < -1)
    return {"ok": bool(wrong and c and c[-1] == c[-1] and c[-1] <= c[0]), "faulty_losses": f, "cured_losses": c}


def resource(name, head):
    out = {}
    for kind in ("programs", "cured"):
        run, rows = Run(f"{HERE}/{kind}/{name}.py", 30), []
        while run.proc.poll() is None:
            time.sleep(2)
            try:
                pid = run.pids()[0]
                rss = int(re.search(r"VmRSS:\s+(\d+)", open(f"/proc/{pid}/status").read()).group(1)) // 1024
                rows.append((round(time.time() - run.start), rss, len(os.listdir(f"/proc/{pid}/fd"))))
            except (OSError, IndexError, AttributeError):
                pass
        rc = run.finish()
        out[kind] = {"rc": rc, "s_rssMB_fds": rows[::2], "events": len(run.events),
                     "last_line": run.text.strip().splitlines()[-1][-160:] if run.text.strip() else ""}
        if name == "terrain_tiles" and kind == "programs":
            out[kind]["error"] = "Too many open files" in run.text
    p, c = out["programs"], out["cured"]
    if name == "terrain_tiles":
        ok = p["rc"] == 1 and p["error"] and c["rc"] in (124, 130, 137) and c["s_rssMB_fds"][-1][2] < 100
    else:
        ok = p["s_rssMB_fds"][-1][1] - p["s_rssMB_fds"][2][1] > 100 and c["s_rssMB_fds"][-1][1] - c["s_rssMB_fds"][2][1] < 30
    return {"ok": bool(ok), **out}


def healthy(name, head):
    run, peak = Run(f"{HERE}/programs/{name}.py", int(head["seconds"])), 0
    while run.proc.poll() is None:
        time.sleep(1)
        total = 0
        for pid in run.pids():
            try:
                total += int(re.search(r"VmRSS:\s+(\d+)", open(f"/proc/{pid}/status").read()).group(1)) // 1024
            except (OSError, AttributeError):
                pass
        peak = max(peak, total)
    rc = run.finish()
    ev, end = run.events, int(head["seconds"])
    gaps = [b[0] - a[0] for a, b in zip(ev, ev[1:])]
    late = [e for e in ev if e[0] > end * 2 / 3]
    return {"ok": bool(rc in (0, 124, 130, 137) and len(ev) >= 4 and late), "rc": rc, "events": len(ev),
            "first_event_s": round(ev[0][0], 1) if ev else None, "longest_gap_s": round(max(gaps), 1) if gaps else None,
            "counter_first_last": [ev[0][1], ev[-1][1]] if ev else None, "per_s": run.rate() and round(run.rate(), 3),
            "events_in_last_third": len(late), "losses": losses(run.text), "peak_rss_mb": peak}


def main():
    names = sys.argv[1:] or sorted(n[:-3] for n in os.listdir(f"{HERE}/programs") if n.endswith(".py"))
    path = f"{HERE}/proof.json"
    proof = json.load(open(path)) if os.path.exists(path) else {}
    for name in names:
        head = header(f"{HERE}/programs/{name}.py")
        verdicts = head["verdict"].split("|")
        if head["expected"] == "healthy":
            kind, how = "healthy", healthy
        elif name in NUMERIC:
            kind, how = "numerical", numeric
        elif name in RESOURCE:
            kind, how = "resource", resource
        elif verdicts[0] == "stuck":
            kind, how = "stuck", stuck
        else:
            kind, how = "slow", slow
        result = how(name, head)
        proof[name] = {"name": name, "kind": kind, "python": head["python"], "expected": head["expected"],
                       "load_average": os.getloadavg()[0], **result}
        with open(path, "w") as f:
            json.dump(proof, f, indent=1, sort_keys=True)
        print(time.strftime("%T"), name, kind, "OK" if result["ok"] else "FAILED",
              {k: v for k, v in result.items() if k not in ("main_thread", "others_top", "ok")}, flush=True)


if __name__ == "__main__":
    main()
