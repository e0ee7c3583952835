"""Runs the programs and their twins and measures whether each one does what its header says.

    python3 prove.py                 all that are not in proof.json yet
    python3 prove.py NAME [NAME..]   these (again)
Results are merged into proof.json.
"""
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
CACHE = os.path.expanduser("~/.cache/headway")
LOOPS = os.path.join(CACHE, "loops-py3.11-be77dae8", "bin")
SYSTEM = shutil.which("python3", path=os.defpath)
PYTHONS = {"tensorflow": os.path.join(CACHE, "interop-py3.11-de1addc0", "bin", "python"), "torch": SYSTEM, "plain": SYSTEM,
           "loops": os.path.join(LOOPS, "python")}
PYSPY = os.path.join(LOOPS, "py-spy")

BAR = r"(\d+)/\d+ \[\d"
LBAR = r"Epoch (\d+):[^|]*\|[^|]*\|\s*(\d+)/(\d+) \["
# name: (kind of proof, pattern of the step, pattern of the loss)
SPEC = {
    "leaf_spot_patches": ("rate", r"^epoch +(\d+)", None),
    "recipe_bpr_recommender": ("rate", r"^\[ *(\d+)\]", None),
    "ticket_router_distilbert": ("rate", BAR, None),
    "clickstream_logistic_numpy": ("rate", r"step=(\d+)", None),
    "traffic_flow_conv_lightning": ("grows", LBAR, None),
    "satellite_landuse_tiles": ("stuck", r"step (\d+)", None),
    "news_topics_ddp": ("stuck", r"step (\d+)", None),
    "energy_demand_service_mlp": ("stuck", r"^step +(\d+)", None),
    "roof_solar_unet": ("leak", r"step (\d+)", None),
    "garden_bird_transfer": ("loss", r"step +(\d+)", r"loss ([\d.naif]+)"),
    "signature_triplet_lightning": ("loss", r"^step (\d+)", r"triplet loss ([\d.naif]+)"),
    "keyword_spotting_lightning": ("epochs", r"Epoch (\d+): [^\[]*?(\d+)(?:it|/\S+) \[", None),
    "glyph_dcgan": ("healthy", r"^\[\d+/(\d+)\]", r"Loss_G: ([\d.naif]+)"),
    "pendulum_ppo": ("healthy", r"^update (\d+)", r"reward ([-+][\d.naif]+)"),
    "housing_crossval_numpy": ("healthy", r"^fold 0 epoch +(\d+)", r"train ([\d.naif]+)"),
    "commit_message_gpt2_trainer": ("healthy", "count", r"'loss': ([\d.naif]+)"),
    "river_level_tcn_lightning": ("healthy", LBAR, r"train_huber=([\d.naif]+)"),
    "ct_liver_volumes": ("healthy", r"step (\d+)", r"loss ([\d.naif]+)"),
    "orchard_pest_vit": ("healthy", r"epoch (\d+):[^|]*\|[^|]*\|\s*(\d+)/(\d+) \[", r"loss=([\d.naif]+)"),
    "telescope_denoiser_numpy": ("healthy", r"step (\d+)", r"mse ([\d.naif]+)"),
}


def header(path):
    out = {}
    for line in open(path):
        found = re.match(r"# (python|expected|verdict|seconds|env|wrap|how): *(.*)", line)
        if found:
            out[found[1]] = found[2].strip()
        elif not line.startswith("#"):
            break
    return out


def tree(pid):
    todo, seen = [pid], []
    while todo:
        p = todo.pop()
        seen.append(p)
        try:
            for task in os.listdir(f"/proc/{p}/task"):
                todo += [int(c) for c in open(f"/proc/{p}/task/{task}/children").read().split()]
        except OSError:
            pass
    return seen


def calm():
    """Returns when the machine is ours, and mostly idle if that happens soon."""

    def times():
        t = [int(v) for v in open("/proc/stat").readline().split()[1:]]
        return sum(t), t[3] + t[4]
    patience = time.time() + float(os.environ.get("PATIENCE", 60))
    while time.time() < patience:
        a = times()
        time.sleep(2)
        b = times()
        if (b[1] - a[1]) > 0.8 * (b[0] - a[0]):
            break


def rss(pids):
    total = 0
    for p in pids:
        try:
            total += int(open(f"/proc/{p}/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        except OSError:
            pass
    return total / 1e6


class Run:
    """One run of a program: what it printed and when."""

    def __init__(self, path, seconds, visits=()):
        calm()
        head = header(path)
        env = dict(os.environ, PYTHONUNBUFFERED="1")
        env.update(pair.split("=", 1) for pair in head.get("env", "").split())
        command = shlex.split(head.get("wrap", "")) + [PYTHONS[head["python"]], path]
        self.lines, self.memory, self.notes = [], [], []
        began = time.time()
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=env, start_new_session=True,
                                        cwd=HERE)
        reader = threading.Thread(target=self.read, args=(began,), daemon=True)
        reader.start()
        visits = list(visits)
        try:
            while time.time() - began < seconds and self.process.poll() is None:
                now = time.time() - began
                if visits and visits[0][0] == "still":
                    quiet = now - max([at for at, text in self.lines if re.search(visits[0][2], text)] or [now])
                    if quiet > 8 or now > 26 or (now > 14 and not self.lines):
                        visits = [(now, dump), (now + 5, dump), (now + 10, dump)]
                        seconds = now + 11.5
                if visits and visits[0][0] != "still" and now >= visits[0][0]:
                    self.notes.append(visits.pop(0)[1](self.process.pid))
                self.memory.append((round(now, 1), round(rss(tree(self.process.pid)))))
                time.sleep(0.5)
        finally:
            self.ended = self.process.poll()
            for pid in tree(self.process.pid):
                try:
                    os.kill(pid, signal.SIGKILL)
                except OSError:
                    pass
            try:
                os.killpg(self.process.pid, signal.SIGKILL)
            except OSError:
                pass
            self.process.wait()
            reader.join(3)
        self.seconds = seconds

    def read(self, began):
        piece = b""
        while True:
            data = os.read(self.process.stdout.fileno(), 65536)
            if not data:
                break
            parts = re.split(rb"[\r\n]", piece + data)
            piece = parts.pop()
            now = time.time() - began
            self.lines += [(now, p.decode(errors="replace").strip()) for p in parts if p.strip()]

    def steps(self, pattern, loss=None):
        out = []
        for at, text in self.lines:
            if pattern == "count":
                if re.search(loss, text):
                    out.append((at, len(out) + 1))
                continue
            found = re.search(pattern, text)
            if found:
                g = [int(v) for v in found.groups()]
                n = g[0] if len(g) == 1 else g[0] * g[2] + g[1] if len(g) == 3 else g[1]
                if not out or n > out[-1][1]:
                    out.append((at, n))
        return out

    def losses(self, pattern):
        return [float(m[1]) for _, text in self.lines for m in [re.search(pattern, text)] if m]


def rate(steps, first=0.0, last=1e9):
    part = [s for s in steps if first <= s[0] <= last]
    if len(part) < 2 or part[-1][0] - part[0][0] < 0.5:
        return 0.0
    return (part[-1][1] - part[0][1]) / (part[-1][0] - part[0][0])


def dump(pid):
    """Stacks of the whole tree, without what changes by itself."""
    out = []
    for p in tree(pid):
        text = subprocess.run([PYSPY, "dump", "--pid", str(p)], capture_output=True, text=True).stdout
        rows = [re.sub(r'Thread 0x\w+|Thread \d+|\(active[^)]*\)|\(idle[^)]*\)', "", r).rstrip() for r in text.splitlines()
                if not r.startswith(("Process", "Python v"))]
        if any(rows):
            out.append("\n".join(rows).strip())
    return out


def record(pid):
    """Ten seconds of samples, waiting threads too; the share of lines, per process' main thread."""
    target = os.path.join(HERE, f".record{os.getpid()}")
    subprocess.run([PYSPY, "record", "--pid", str(pid), "-d", "10", "-r", "50", "-f", "raw", "--idle", "--subprocesses", "-o", target],
                   capture_output=True)
    leaf, total = {}, {}
    for row in open(target):
        stack, count = row.rsplit(" ", 1)
        frames = stack.split(";")
        if not any("<module>" in f for f in frames):
            continue
        who = "worker" if "_worker_loop" in stack else "child" if "_bootstrap (multiprocessing" in stack else str(pid)
        total[who] = total.get(who, 0) + int(count)
        name = " > ".join(frames[-2:])
        leaf[who, name] = leaf.get((who, name), 0) + int(count)
    os.remove(target)
    ranked = sorted(leaf.items(), key=lambda kv: -kv[1])[:18]
    return {("" if who == str(pid) else who + ": ") + name: round(count / total[who], 3) for (who, name), count in ranked}


def ends(run):
    return {"status": run.ended, "last": [t for _, t in run.lines[-6:]]}


def prove(name):
    kind, pattern, loss = SPEC[name]
    bad, good = (os.path.join(HERE, where, name + ".py") for where in ("programs", "cured"))
    result = {"kind": kind, "expected": header(bad)["expected"]}
    if kind == "healthy":
        run = Run(bad, 25, [(11, record)])
        s = run.steps(pattern, loss)
        l = run.losses(loss)
        result.update(steps_per_second=round(rate(s), 3), first_step_s=round(s[0][0], 1) if s else None, losses=l[:3] + l[-3:],
                      lines=run.notes[0] if run.notes else {}, peak_mb=max(m for _, m in run.memory),
                      holds=run.ended is None and rate(s) > 0)
    elif kind == "rate":
        pairs = []
        for _ in range(2):
            a, b = Run(bad, 20), Run(good, 20)
            pairs.append([round(rate(r.steps(pattern)), 3) for r in (a, b)])
        result.update(steps_per_second=pairs, ratio=round(min(q / p if p else 0 for p, q in pairs), 2))
        result["holds"] = result["ratio"] >= 1.3 and a.ended is None and b.ended is None
    elif kind == "grows":
        a, b = Run(bad, 25), Run(good, 25)
        sa, sb = a.steps(pattern), b.steps(pattern)
        start_a, start_b = (s[0][0] if s else 0 for s in (sa, sb))
        early, late = rate(sa, start_a, start_a + 4), rate(sa, 20)
        result.update(early=round(early, 2), late=round(late, 2), twin_early=round(rate(sb, start_b, start_b + 4), 2),
                      twin_late=round(rate(sb, 20), 2), first_step_s=round(start_a, 1))
        result["holds"] = 0 < late < 0.6 * early and rate(sb, 20) > 1.3 * late
    elif kind == "stuck":
        a = Run(bad, 40, [("still", None, pattern + "|tiles,")])
        b = Run(good, 22)
        sa, sb = a.steps(pattern), b.steps(pattern)
        same = len(a.notes) == 3 and a.notes[0] == a.notes[1] == a.notes[2] and bool(a.notes[0])
        result.update(same_stacks=same, stacks=a.notes[0] if a.notes else None, last_step=sa[-1] if sa else None, twin_last_step=sb[-1] if sb else None)
        result["holds"] = same and (not sa or sa[-1][0] < 26) and bool(sb) and sb[-1][0] > 19 and a.ended is None
    elif kind == "leak":
        # RSS swings by some 30 MB within a few seconds even without growth: a short window would take a swing for a slope
        length, skipped = 45, 12
        a, b = Run(bad, length), Run(good, length)

        def growth(run):
            part = [m for m in run.memory if m[0] > skipped]
            t, m = (sum(v) / len(part) for v in zip(*part))
            return round(sum((a - t) * (b - m) for a, b in part) / sum((a - t) ** 2 for a, _ in part), 2)
        result.update(window_s=[skipped, length], mb_per_s=growth(a), twin_mb_per_s=growth(b), rss=a.memory[::5], twin_rss=b.memory[::5],
                      steps_per_second=[round(rate(r.steps(pattern)), 2) for r in (a, b)])
        result["holds"] = growth(a) > 5 and growth(b) < 0.2 * growth(a)
    elif kind == "loss":
        a, b = Run(bad, 20), Run(good, 20)
        la, lb = a.losses(loss), b.losses(loss)
        result.update(losses=la[:4] + la[-4:], twin_losses=lb[:4] + lb[-4:])
        tail_a, tail_b = (sum(v[-4:]) / max(len(v[-4:]), 1) for v in (la, lb))
        frozen = tail_a != tail_a or (len(la) > 4 and tail_a > 0.93 * la[0])
        result["holds"] = bool(frozen and len(lb) > 4 and tail_b < 0.7 * lb[0])
    elif kind == "epochs":
        a, b = Run(bad, 25), Run(good, 25)
        count = [max([int(m[1]) for _, t in r.lines for m in [re.search(r"Epoch (\d+):", t)] if m] or [-1]) for r in (a, b)]
        checks = [sum("val_loss" in t for _, t in r.lines) for r in (a, b)]
        result.update(last_epoch=count, lines_with_validation=checks, last_step=[r.steps(pattern)[-1:] for r in (a, b)])
        result["holds"] = count[0] == 0 and checks[0] == 0 and count[1] >= 2 and checks[1] > 0
    if not result["holds"]:
        result["ends"] = [ends(r) for r in ([run] if kind == "healthy" else [a, b])]
    return result


def main():
    path = os.path.join(HERE, "proof.json")
    known = json.load(open(path)) if os.path.exists(path) else {}
    names = sys.argv[1:] or [n for n in SPEC if not known.get(n, {}).get("holds")]
    for name in names:
        known[name] = prove(name)
        with open(path, "w") as f:
            json.dump(known, f, indent=1)
        print(name, json.dumps(known[name], indent=1) if not known[name]["holds"] or SPEC[name][0] == "healthy" else "holds "
              + json.dumps({k: v for k, v in known[name].items() if k not in ("stacks", "rss", "twin_rss")}), flush=True)


if __name__ == "__main__":
    main()
